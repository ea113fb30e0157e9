"""Checks must fail when they should, and say what is wrong."""

import numpy as np
import pytest
import sympy

from dynlib import check

A, B, L = sympy.symbols("theta1 theta2 L1")


def test_exact_equality_of_trigonometric_forms():
    verdict = check.equation("x", sympy.cos(A) * sympy.cos(B) - sympy.sin(A) * sympy.sin(B), sympy.cos(A + B))
    assert verdict.how == "exact"


def test_quotients_are_compared_at_points():
    found = check.difference(sympy.tan(A), sympy.sin(A) / sympy.cos(A))
    assert (found.same, found.how) == (True, "points")


def test_numbers_are_compared_relative_to_the_largest():
    assert check.same([1e9, 1.0], [1e9, 1.0 + 1e-6])
    assert not check.same([1.0, 1.0], [1.0, 1.0 + 1e-6])
    assert not check.same(0.0, 1e-300)


@pytest.mark.parametrize(
    ("computed", "expected", "message"),
    [
        ([0, L * sympy.sin(A)], [0, -L * sympy.sin(A)], r"entry \[1\]: computed minus expected leaves 2 L₁ sθ₁"),
        (L * sympy.cos(A) + A / 1000, 0, "leaves L₁ cθ₁ and 1 more terms"),
        ([1.0, 2.0], [1.0, 2.1], r"entry \[1\] is 2, expected 2.1 \(difference -0.1\)"),
        ([1.0, 2.0], [1.0], r"the computed value has the shape \(2,\), the expected \(1,\)"),
        (np.array([1.0, np.nan]), [1.0, 2.0], r"entry \[1\] is nan"),
        (1, 2, "leaves -1"),
    ],
)
def test_a_difference_is_described(computed, expected, message):
    with pytest.raises(AssertionError, match=message):
        check.equation("A5.2.6-8", computed, expected)


def test_the_message_begins_with_the_number():
    with pytest.raises(AssertionError, match=r"^A5\.2\.6-8 does not hold: "):
        check.equation("A5.2.6-8", 1, 2)


def test_vectors_may_be_lists_arrays_or_matrices():
    assert check.same(sympy.Matrix([L, A]), [L, A])
    assert check.same(np.array([L, A]), sympy.Matrix([L, A]))
    assert check.same(sympy.eye(2), [[1, 0], [0, 1]])


def test_a_small_term_is_not_lost_beside_a_large_one():
    assert not check.same(L + sympy.Rational(1, 10**9) * A / (1 + B**2), L)


def test_erratum_needs_a_right_correction_and_a_wrong_print():
    assert check.erratum("E4", L, corrected=L, printed=2 * L).number == "E4"
    assert check.erratum("E7", L, corrected=L).number == "E7"
    with pytest.raises(AssertionError, match="E4: the correction does not hold"):
        check.erratum("E4", L, corrected=2 * L, printed=3 * L)
    with pytest.raises(AssertionError, match="E4: what the document prints holds as well"):
        check.erratum("E4", L, corrected=L, printed=L)
