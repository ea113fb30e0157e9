"""Reading numbers and symbols: what is accepted, and what the messages say."""

import numpy as np
import pytest
import sympy

from dynlib.algebra import as_array
from dynlib.algebra.arrays import first_fraction, is_symbolic, one_kind

THETA, HALF = sympy.Symbol("theta1"), sympy.Rational(1, 2)


@pytest.mark.parametrize(
    "value",
    [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3]), np.array([1, 2, 3], dtype=np.float32), sympy.Matrix([1, 2, 3])],
)
def test_numbers_of_any_kind(value):
    array = as_array(value, "p", (3,))
    assert array.shape == (3,)
    assert array.astype(float).tolist() == [1, 2, 3]


def test_ints_become_floats_so_that_division_and_overflow_are_those_of_floats():
    array = as_array([10**10, 7], "q", (2,))
    assert array.dtype == float
    assert (array * 10**10)[0] == 1e20


def test_ints_beside_symbols_become_exact():
    array = as_array([THETA, 1], "q", (2,))
    assert is_symbolic(array)
    assert isinstance(array[1], sympy.Integer)


def test_exact_numbers_beside_floats_become_floats():
    assert as_array([sympy.pi, 0.5], "q", (2,)).dtype == float


def test_result_is_a_read_only_copy():
    mine = np.zeros(3)
    array = as_array(mine, "p", (3,))
    mine[0] = 1
    assert array[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 2


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([1, 2], ValueError, r"p has the shape \(2,\); expected \(3,\)\.$"),
        (5, ValueError, r"p has the shape \(\); expected \(3,\)"),
        ([[1, 2], [3]], TypeError, r"p holds \[1, 2\] \(list\).*Is one row longer than another\?"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], ValueError, "p has rows of different length"),
        ([1, 2, float("nan")], ValueError, "p holds nan; expected finite numbers"),
        ([1, 2, float("inf")], ValueError, "p holds inf; expected finite numbers"),
        ([1, 2, sympy.oo], ValueError, "p holds oo; expected finite numbers"),
        ([1, 2, sympy.nan], ValueError, "p holds nan; expected finite numbers"),
        ([1, "2", 3], TypeError, r"p holds '2' \(str\); expected real numbers or SymPy expressions"),
        ([1, None, 3], TypeError, r"p holds None \(NoneType\)"),
        ([1, True, 3], TypeError, r"p holds True \(bool\)"),
        ([1, 2j, 3], TypeError, r"p holds 2j \(complex\)"),
        ([1, THETA, 0.5], TypeError, r"p holds the float 0.5 beside the symbolic theta1.*sympy.Rational\('0.5'\)"),
        ([1, 0.5 * THETA, 3], TypeError, r"p holds the float 0.5 beside the symbolic 0.5\*theta1"),
    ],
)
def test_messages_say_what_came_and_what_was_expected(value, error, message):
    with pytest.raises(error, match=message):
        as_array(value, "p", (3,))


def test_one_kind_makes_whole_floats_exact_beside_symbols():
    read = one_kind({"a": as_array([THETA], "a", (1,)), "b": np.array([2.0])})
    assert all(map(is_symbolic, read.values()))


def test_one_kind_turns_exact_numbers_into_floats_beside_a_fraction():
    read = one_kind({"a": as_array([sympy.pi], "a", (1,)), "b": np.array([0.5])})
    assert not any(map(is_symbolic, read.values()))


def test_one_kind_names_the_float_that_disturbs():
    with pytest.raises(TypeError, match="mass of link 2 holds the float 0.5 beside the symbolic theta1"):
        one_kind({"com of link 1": as_array([THETA], "a", (1,)), "mass of link 2": np.array(0.5)})


def test_exact_fractions_are_not_floats():
    assert first_fraction({"a": as_array([HALF], "a", (1,))}) is None
