"""Checks must fail when they should, and say what is wrong."""

import numpy as np
import pytest
import sympy

from dynlib import check

A, B, L = sympy.symbols("theta1 theta2 L1")
EMPTY, NAN = np.zeros(0), float("nan")


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
        (L * sympy.cos(A) + A / 1000, 0, "leaves L₁ cθ₁ and 1 more term$"),
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
    assert check.same([1.0, np.array(2.0), np.array(L)], [1.0, 2.0, L])


def test_a_small_term_is_not_lost_beside_a_large_one():
    assert not check.same(L + sympy.Rational(1, 10**9) * A / (1 + B**2), L)


def test_erratum_needs_a_right_correction_and_a_wrong_print():
    assert check.erratum("E4", L, corrected=L, printed=2 * L).number == "E4"
    assert check.erratum("E7", L, corrected=L).number == "E7"
    with pytest.raises(AssertionError, match="E4: the correction does not hold"):
        check.erratum("E4", L, corrected=2 * L, printed=3 * L)
    with pytest.raises(AssertionError, match="E4: what the document prints holds as well"):
        check.erratum("E4", L, corrected=L, printed=L)


# ---- What is no number is equal to nothing ---------------------------------------------------------


@pytest.mark.parametrize(
    ("computed", "expected"),
    [
        (sympy.sqrt(-1 - A**2), 5),
        (5, sympy.sqrt(-1 - A**2)),
        (sympy.sqrt(-1 - A**2), sympy.sqrt(-1 - A**2)),
        (sympy.log(-(A**2)), 0),
        (sympy.acos(2 + A**2), 0),
        (sympy.nan, sympy.nan),
        (sympy.oo, sympy.oo),
        (sympy.zoo * A, sympy.zoo * A),
        ([A, NAN], [A, NAN]),
        (NAN, NAN),
        ([1.0, NAN], [1.0, NAN]),
        ([1.0, np.inf], [1.0, np.inf]),
        (sympy.I, sympy.I),
        (sympy.I * A, sympy.I * A),
        (sympy.Function("f")(A), sympy.Function("f")(A)),
        (A / sympy.Integer(10) ** -400, A),
    ],
)
def test_what_has_no_finite_value_is_equal_to_nothing(computed, expected):
    found = check.difference(computed, expected)
    assert (found.same, found.how) == (False, "undecided")
    with pytest.raises(AssertionError, match="x does not hold"):
        check.equation("x", computed, expected)
    with pytest.raises(AssertionError, match="x: the correction does not hold"):
        check.erratum("x", computed, corrected=expected, printed=1)


def test_a_domain_that_is_small_is_found():
    assert check.same(sympy.log(A - B - 2), sympy.log(A - B - 2))
    assert check.same(sympy.sqrt(A - B - 1) ** 2, A - B - 1)
    assert not check.same(sympy.sqrt(A - B - 1), A - B)
    assert not check.same(sympy.sqrt(-1 - A), 5)


@pytest.mark.parametrize("empty", [[], EMPTY, np.zeros((3, 0)), sympy.zeros(0, 0)])
def test_empty_values_are_not_the_same(empty):
    found = check.difference(empty, empty)
    assert (found.same, found.how) == (False, "shape")
    with pytest.raises(AssertionError, match="nothing is compared"):
        check.equation("x", empty, empty)


@pytest.mark.parametrize(
    ("computed", "expected"),
    [([A, B], [[A, B]]), ([A], A), ([[1.0, 2.0]], [1.0, 2.0]), ([1.0], 1.0), ([], [1]), ([[A], [B]], [A, B])],
)
def test_values_of_other_shapes_are_not_the_same(computed, expected):
    assert check.difference(computed, expected).how == "shape"
    assert check.difference(expected, computed).how == "shape"


@pytest.mark.parametrize("value", ["theta1", "5", ["1.0", "2.0"], None, True, np.True_, 1j, [A, "theta2"], sympy.true])
def test_text_and_truth_values_are_refused(value):
    for pair in ((value, value), (value, A), (1.0, value)):
        with pytest.raises(TypeError, match="expected real numbers or expressions"):
            check.difference(*pair)


# ---- Points of both signs --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sympy.sqrt(A**2), A),
        (sympy.Abs(A), A),
        (sympy.Abs(A), -A),
        (sympy.sign(A), 1),
        (sympy.atan2(A, B), sympy.atan(A / B)),
        (sympy.sqrt(A**2 * B**2), A * B),
        (sympy.sqrt(A**4 * B**2), A**2 * B),
        (sympy.sqrt(sympy.sin(A) ** 2), sympy.sin(A)),
        (sympy.acos(sympy.cos(A)), A),
        (sympy.Max(A, -5), A + sympy.Heaviside(-A)),
    ],
)
def test_what_holds_on_one_side_of_zero_only_does_not_hold(left, right):
    assert not check.same(left, right)


def test_each_of_many_symbols_is_seen_on_both_sides():
    symbols = sympy.symbols("x:40")
    for symbol in symbols:
        assert not check.same(sympy.Abs(symbol) + sum(symbols), symbol + sum(symbols))


def test_a_symbol_is_positive_where_the_caller_says_so():
    assert check.same(sympy.sqrt(A**2), A, positive=[A])
    assert check.same(sympy.sqrt(A**2 * B**2), A * B, positive=["theta1", B])
    assert check.equation("x", sympy.atan2(A, B), sympy.atan(A / B), positive=["theta2"]).how == "points"
    assert check.erratum("x", sympy.Abs(A), corrected=A, printed=-A, positive=[A])
    assert not check.same(sympy.sqrt(A**2 * B**2), A * B, positive=["theta1"])
    with pytest.raises(ValueError, match="positive names theta3, which is in neither"):
        check.same(A, A, positive=["theta3"])


def test_what_a_symbol_assumes_of_itself_counts():
    for assumed, sign in (({"positive": True}, 1), ({"negative": True}, -1)):
        x, y = sympy.symbols("x y", **assumed)
        root = sympy.sqrt(x**2 + 2 * x * y + y**2)
        assert check.same(root, sign * (x + y))
        assert not check.same(root, -sign * (x + y))


def test_the_term_that_is_named_is_the_worst_at_a_point_where_both_sides_are_finite():
    message = check.difference(sympy.sqrt(A - 1) + 100 * B, sympy.sqrt(A - 1)).message
    assert "100 θ₂" in message
    for side in (A, -A):  # one of them is zero at the first point
        assert "100" in check.difference(100 * sympy.Max(0, side) + B, 0).message


def test_a_factor_that_is_zero_up_to_rounding_is_zero():
    assert check.same(L * (sympy.sin(A) ** 2 + sympy.cos(A) ** 2 - 1), 0)


# ---- Errata ----------------------------------------------------------------------------------------


def test_the_printed_form_of_an_erratum_must_be_evaluated_and_differ():
    for printed in ([L, L], [[L]], [], sympy.sqrt(-1 - L**2), sympy.nan, NAN):
        with pytest.raises(AssertionError, match="E4: this does not show that the printed form is wrong"):
            check.erratum("E4", L, corrected=L, printed=printed)
    with pytest.raises(AssertionError, match="E4: what the document prints holds as well"):
        check.erratum("E4", L, corrected=L, printed=sympy.sqrt(L**2), positive=[L])
    for printed in ([NAN, 2.0], [1.0, np.inf], [1.0]):
        with pytest.raises(AssertionError, match="E4: this does not show that the printed form is wrong"):
            check.erratum("E4", [1.0, 2.0], corrected=[1.0, 2.0], printed=printed)
    with pytest.raises(TypeError, match="expected real numbers or expressions"):
        check.erratum("E4", L, corrected=L, printed="2*L1")


def test_two_symbols_of_one_name_are_refused_in_words():
    for other in (sympy.Symbol("L1", positive=True), sympy.Symbol("L1", real=True)):
        for values in ((L, 2 * other), (L + A, other + A), ([L, 0], [0, other])):
            with pytest.raises(ValueError, match=r"two different symbols are called L1, .* positive=\['L1'\]"):
                check.equation("x", *values)
    assert check.same(sympy.Symbol("L1"), L)


def test_sides_that_differ_for_negative_values_only_hint_at_positive():
    message = check.difference(sympy.sqrt(L**2) * A + B, L * A + B).message
    assert "at L1 = -" in message
    assert "say positive=['L1']" in message
    assert check.same(sympy.sqrt(L**2) * A + B, L * A + B, positive=["L1"])
    assert "say positive=['L1', 'theta1']" in check.difference(sympy.sqrt(L**2 * A**4) * abs(A), L * A**3).message
    for values in ((L, 2 * L), (abs(L), -L)):
        assert "positive" not in check.difference(*values).message


@pytest.mark.parametrize(
    ("values", "positive", "message"),
    [
        ((sympy.sqrt(-2), 1), (), "the computed value, i √2, is not a real number"),
        ((1, sympy.I * L / L), (), "the expected value, i, is not a real number"),
        ((sympy.oo, 1), (), "the computed value is infinite"),
        ((sympy.sqrt(-L), 1), ["L1"], "no point with positive L1 was found at which"),
        ((sympy.sqrt(-1 - L**2), 1), (), "no point was found at which"),
    ],
)
def test_why_nothing_can_be_compared(values, positive, message):
    found = check.difference(*values, positive=positive)
    assert found.how == "undecided"
    assert message in found.message


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (None, "Nothing was given"),
        (1j, "Complex numbers are not compared"),
        (np.complex128(1j), "Complex numbers are not compared"),
        (sympy.Eq(A, B), "the two sides of an equation"),
        ("a + b", "Text is not read as a formula"),
        (True, "use assert"),
    ],
)
def test_what_cannot_be_compared_gets_fitting_advice(value, advice):
    for values in ((value, 1), (1, value), ([1, value], [1, 1])):
        with pytest.raises(TypeError, match=advice):
            check.difference(*values)
