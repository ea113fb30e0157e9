"""Formulas in lines: nothing that fits is broken, nothing broken is too wide, and no term is lost or changed."""

import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
import sympy

from dynlib import derivation, robots, structure
from dynlib.algebra import lines, notation
from dynlib.algebra.lines import COLUMN, TERMINAL, Room, Row

A, B, C, D = sympy.symbols("a b c d")
LONG = sum(sympy.Symbol(f"x{k}") * sympy.cos(sympy.Symbol(f"theta{k}")) for k in range(1, 20))


def joined(rows):
    """The right side of broken lines as one, with its brackets as they were."""
    whole = " ".join(re.sub(r"^(\\quad)+\{\} ", "", row.right) for row in rows)
    return whole.replace(r"\bigl(", r"\left(").replace(r"\bigr)", r"\right)")


@pytest.mark.parametrize("room", [COLUMN, TERMINAL], ids=["column", "terminal"])
@pytest.mark.parametrize(
    "value",
    [
        A,
        A + B,
        LONG,
        -LONG,
        A * LONG,
        A * LONG + B - C * LONG,
        sympy.sin(A) * (B - LONG),
        (A + LONG) * (B + C),
        LONG**2,
    ],
)
def test_what_is_broken_is_the_same_formula(value, room):
    tex = notation.latex(value)
    assert joined(lines.broken("x", tex, room)) == "= " + tex


@pytest.mark.parametrize("room", [COLUMN, TERMINAL], ids=["column", "terminal"])
@pytest.mark.parametrize("value", [LONG, -LONG, A * LONG, A * LONG + B - C * LONG, sympy.sin(A) * (B - LONG)])
def test_no_line_of_a_sum_is_wider_than_its_room(value, room):
    rows = list(lines.broken("x", notation.latex(value), room))
    assert len(rows) > 1
    assert all(room.holds(row.left, row.right) for row in rows)
    for first, second in pairwise(rows):  # and each is as full as it can be
        term = re.match(r"(?:\\quad)+\{\} [+-] \S+ \S+", second.right)[0]
        assert not room.holds(first.left or rows[0].left, first.right, term + r"\,\cos\theta_{19}")


def test_only_what_begins_with_a_sign_goes_on_below():
    rows = list(lines.broken("x", notation.latex(A * LONG - B), COLUMN))
    assert rows[0].left == "x"
    assert {row.left for row in rows[1:]} == {""}
    assert all(re.match(r"(\\quad)+\{\} [+-] ", row.right) for row in rows[1:])


@pytest.mark.parametrize("room", [COLUMN, TERMINAL], ids=["column", "terminal"])
def test_what_fits_is_not_broken(room):
    short = sum(sympy.Symbol(f"x{k}") for k in range(1, 8))
    for value in (short, A * short + B, np.array([short, 0, 0], dtype=object)[:2]):
        assert len(list(lines.rows("x", np.asarray(value, dtype=object), room))) == 1


def test_a_wide_bracket_is_opened_and_closed_with_the_same_letters_in_every_line():
    rows = list(lines.broken("x", notation.latex(A * LONG + B), COLUMN))
    whole = "".join(row.right for row in rows)
    assert whole.count(r"\bigl(") == whole.count(r"\bigr)") == 1
    assert all(row.right.count(r"\left") == row.right.count(r"\right") for row in rows)
    assert [row.right.startswith(r"\quad\quad{} ") for row in rows[1:]] == [True] * (len(rows) - 1)


def test_of_two_brackets_the_wider_one_is_broken():
    rows = list(lines.broken("x", notation.latex((A + LONG) * (B + C)), COLUMN))
    assert len(rows) > 1
    assert all(COLUMN.holds(row.left, row.right) for row in rows)


def test_two_indices_of_a_letter_stand_one_above_the_other():
    assert lines.ems("x_{1}^{23}") == lines.ems("x^{23}") > lines.ems("x_{1}") > lines.ems("x")


def test_a_wide_bracket_of_a_wider_sum_is_broken_only_if_it_has_no_line_of_its_own():
    narrow = notation.latex(A * (B + C + D))
    rows = list(lines.broken("x", " + ".join([narrow] * 30), COLUMN))
    assert not any(r"\bigl" in row.right for row in rows)


def test_a_vector_that_is_too_wide_is_given_by_its_components():
    vector = np.array([LONG, 0, -LONG], dtype=object)
    rows = list(lines.rows("v", vector, COLUMN))
    assert [row.left for row in rows if row.left] == [rf"\left(v\right)_{{{letter}}}" for letter in "xyz"]
    assert [row.right for row in rows if row.left == r"\left(v\right)_{y}"] == ["= 0"]


def test_entries_of_matrices_and_of_other_vectors_have_numbers():
    matrix = np.array([[LONG, A], [B, LONG]], dtype=object)
    names = [row.left for row in lines.rows("M", matrix, COLUMN) if row.left]
    assert names == [rf"\left(M\right)_{{{place}}}" for place in ("11", "12", "21", "22")]
    names = [row.left for row in lines.rows("g", np.array([LONG, LONG], dtype=object), COLUMN) if row.left]
    assert names == [r"\left(g\right)_{1}", r"\left(g\right)_{2}"]


def test_a_vector_is_as_wide_as_its_widest_component_on_a_page_and_as_all_of_them_in_a_terminal():
    half = sum(sympy.Symbol(f"x{k}") for k in range(1, 9))
    vector = np.array([half, half, half], dtype=object)
    assert len(list(lines.rows("v", vector, COLUMN))) == 1
    assert len(list(lines.rows("v", vector, TERMINAL))) == 3


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r", "rp", "rrp", "furuta", "stanford"])
def test_every_line_of_a_derivation_fits(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = robots.load(name)
    derived = derivation.derive(arm, named=arm.n > 3)
    assert max(map(len, repr(derived).splitlines())) <= 84
    for step in derived:
        for row in (*step.rows(), *step.meanings()):
            assert COLUMN.holds(row.left, row.right, f"({step.source})"), row


def test_matrices_are_shown_in_lines_that_fit():
    arm = robots.load("planar_3r")
    q, _, _ = arm.motion_symbols()
    shown = derivation.show("M", structure.mass_matrix(arm, q))
    assert max(map(len, repr(shown).splitlines())) <= 84
    assert len({row.left for row in shown.rows()} - {""}) == 9
    assert all(COLUMN.holds(row.left, row.right) for row in shown.rows())


def test_plain_lines_that_go_on_stand_under_the_right_side():
    rows = [Row("x", "= a", "B2.1"), Row("", r"\quad{} - b"), Row("", r"\quad\quad{} + c"), Row("yyy", "= d")]
    assert lines.plain(rows).splitlines() == ["x = a    (B2.1)", "      - b", "          + c", "yyy = d"]


def test_a_wide_matrix_has_a_line_for_each_row():
    half = sum(sympy.Symbol(f"x{k}") for k in range(1, 9))
    shown = repr(derivation.show("M", np.array([[half, A], [B, half]], dtype=object))).splitlines()
    assert [line.index("x₁") for line in shown] == [5, 8]
    assert shown[0].endswith("x₈, a;")
    assert shown[1].endswith("x₈]")
    assert repr(derivation.show("M", np.array([[A, B], [C, D]], dtype=object))) == "M = [a, b; c, d]"


def test_a_formula_of_one_line_needs_no_environment():
    assert lines.formula([Row("x", "= a")]) == "x = a"
    assert lines.formula([Row("x", "= a"), Row("", r"\quad{} + b")]).startswith(r"\begin{aligned}")


@pytest.mark.parametrize(
    ("tex", "real"),  # measured in Chromium with the fonts of the site, in em
    [
        (r"\det J = L_{1} L_{2} \mathrm{s}\theta_{2}", 7.0),
        (r"\tau = m l^{2} \ddot{\theta} + m g l \mathrm{s}\theta", 7.66),
        (r"{}^{i}v_{i} = {}^{i}_{i-1}R\left({}^{i-1}v_{i-1} + {}^{i-1}\omega_{i-1} \times {}^{i-1}p_{i}\right)", 16.03),
        (r"\mathcal{P} = m_{1} g L_{1} \mathrm{s}\theta_{1} + m_{2} g L_{1} \mathrm{s}\theta_{1}", 11.9),
    ],
)
def test_widths_on_a_page(tex, real):
    assert lines.ems(tex) == pytest.approx(real, rel=0.12)


def test_room_counts_what_stands_side_by_side():
    assert Room(3, len).holds("a", "bc")
    assert not Room(3, len).holds("ab", "cd")
