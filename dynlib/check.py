"""Are these two derivations the same?

Small expressions are compared exactly: their difference, written as a sum of sines and cosines of sums of angles, must
vanish term by term. Larger ones, and those with roots or quotients, are compared at random points with a fixed seed;
numbers are compared relative to the larger of the two. A failing check names the worst entry and the worst term.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from dynlib import notation
from dynlib.arrays import Array

TOLERANCE = 1e-12
"""Largest relative difference of two numbers that count as the same (dimensionless)."""

_POINTS, _SEED, _EXACT_OPERATIONS, _SHOWN_OPERATIONS = 8, 20260, 4000, 500


@dataclass(frozen=True)
class Difference:
    """What two values differ by.

    Attributes:
        same: True if they do not differ.
        how: ``"exact"``, ``"points"`` (equal at random points) or ``"numbers"``.
        message: empty, or one sentence that names the worst entry and the worst term.
    """

    same: bool
    how: str
    message: str = ""

    def __bool__(self) -> bool:
        """Return True if there *is* a difference."""
        return not self.same

    def __repr__(self) -> str:
        return self.message or "no difference"


def difference(computed: Any, expected: Any, tolerance: float = TOLERANCE) -> Difference:
    """Compare two values and tell what they differ by.

    Args:
        computed: number, expression, vector or matrix (lists, NumPy arrays or SymPy matrices).
        expected: the same kind of value, same shape and unit.
        tolerance: for numbers, the largest difference relative to the largest entry of both (dimensionless).

    Returns:
        A :class:`Difference`; ``bool(...)`` of it is False when the values are the same.

    >>> L1, theta1 = sympy.symbols("L1 theta1")
    >>> print(difference(L1 * sympy.sin(theta1) ** 2, L1 - L1 * sympy.cos(theta1) ** 2))
    no difference
    >>> print(difference([1.0, 2.0], [1.0, 2.5]))
    entry [1] is 2, expected 2.5 (difference -0.5)
    """
    left, right = _entries(computed), _entries(expected)
    if left.shape != right.shape:
        return Difference(False, "shape", f"the computed value has the shape {left.shape}, the expected {right.shape}")
    entries = [*left.flat, *right.flat]
    symbolic = any(isinstance(entry, sympy.Expr) and entry.free_symbols for entry in entries)
    if not symbolic and any(isinstance(entry, float) for entry in entries):
        return _compare_numbers(left.astype(float), right.astype(float), tolerance)
    how = "exact"
    for index in np.ndindex(left.shape):
        gap = sympy.sympify(left[index]) - sympy.sympify(right[index])
        found, route = _vanishes(gap)
        how = "points" if route == "points" else how
        if not found:
            where = f"entry {list(index)}" if index else "the value"
            return Difference(False, route, f"{where}: {_worst_term(gap)}")
    return Difference(True, how)


def same(computed: Any, expected: Any, tolerance: float = TOLERANCE) -> bool:
    """Say whether two values are the same; see :func:`difference` for the arguments.

    >>> theta1, theta2 = sympy.symbols("theta1 theta2")
    >>> same(sympy.cos(theta1) * sympy.cos(theta2) - sympy.sin(theta1) * sympy.sin(theta2), sympy.cos(theta1 + theta2))
    True
    """
    return difference(computed, expected, tolerance).same


@dataclass(frozen=True)
class Verdict:
    """A check that held: the number of the equation or erratum, and how it was compared."""

    number: str
    how: str

    def __repr__(self) -> str:
        sign = {"exact": "=", "points": f"= ({_POINTS} points)", "numbers": f"≈ ({TOLERANCE:.0e})"}[self.how]
        return f"✓ {self.number} {sign}"


def equation(number: str, computed: Any, printed: Any) -> Verdict:
    """Assert that an equation of the documents holds.

    Args:
        number: its number in the registry of the book, such as ``"A5.2.6-26"``.
        computed: the value that dynlib computed.
        printed: the value as the document prints it, typed by hand.

    Returns:
        A :class:`Verdict`, shown as ``✓ number`` with ``=`` (exact) or ``≈`` (numbers).

    Raises:
        AssertionError: they differ; the message names the worst term.

    >>> equation("A5.2.6-9", [0, 2 * sympy.Symbol("L1")], [0, sympy.Symbol("L1") + sympy.Symbol("L1")])
    ✓ A5.2.6-9 =
    """
    found = difference(computed, printed)
    if found:
        raise AssertionError(f"{number} does not hold: {found}")
    return Verdict(number, found.how)


def erratum(number: str, computed: Any, corrected: Any, printed: Any = None) -> Verdict:
    """Assert that the correction of an erratum is right and that what the document prints is not.

    Args:
        number: its number in the list of errata, such as ``"E4"``.
        computed: the true value, found by another route.
        corrected: what follows from the corrected or completed formula.
        printed: what follows from the document as it stands; None if it prints nothing (an omission).

    Returns:
        A :class:`Verdict`, shown as ``✓ number``.

    Raises:
        AssertionError: the correction does not give the true value, or the printed form gives it too.

    >>> erratum("E4", computed=2.0, corrected=2.0, printed=3.0)
    ✓ E4 ≈ (1e-12)
    """
    found = difference(computed, corrected)
    if found:
        raise AssertionError(f"{number}: the correction does not hold: {found}")
    if printed is not None and same(computed, printed):
        raise AssertionError(f"{number}: what the document prints holds as well, so there is nothing to correct.")
    return Verdict(number, found.how)


def _entries(value: Any) -> Array:
    """Return a value as an object array; a column vector becomes a vector."""
    array = np.array(value, dtype=object)
    return array[:, 0] if isinstance(value, sympy.MatrixBase) and array.ndim == 2 and array.shape[1] == 1 else array


def _compare_numbers(left: Array, right: Array, tolerance: float) -> Difference:
    gap = np.abs(left - right)
    scale = max(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0))
    if np.isfinite(gap).all() and (gap <= tolerance * scale).all():
        return Difference(True, "numbers")
    index = np.unravel_index(np.argmax(np.where(np.isfinite(gap), gap, np.inf)), gap.shape) if gap.shape else ()
    where = f"entry {[int(i) for i in index]}" if index else "the value"
    left_number, right_number = float(left[index]), float(right[index])
    return Difference(
        False,
        "numbers",
        f"{where} is {left_number:.10g}, expected {right_number:.10g} (difference {left_number - right_number:.3g})",
    )


def _vanishes(gap: sympy.Expr) -> tuple[bool, str]:
    """Say whether an expression is zero everywhere, and by which route this was found."""
    if gap == 0:
        return True, "exact"
    values, scales = _at_random_points(gap)
    if (np.abs(values) > TOLERANCE * scales).any():
        return False, "points"
    return True, "exact" if gap.count_ops() <= _EXACT_OPERATIONS and notation.tidy(gap) == 0 else "points"


def _at_random_points(gap: sympy.Expr) -> tuple[Array, Array]:
    """Return the values of an expression at fixed random points, and the size of its largest term there."""
    symbols = sorted(gap.free_symbols, key=str)
    points = np.random.default_rng(_SEED).uniform(0.5, 1.5, (_POINTS, len(symbols)))
    terms = sympy.Add.make_args(gap)
    evaluate = sympy.lambdify(symbols, [gap, *terms], "numpy", cse=True)
    table = np.array([[float(entry) for entry in evaluate(*point)] for point in points])
    return table[:, 0], np.abs(table[:, 1:]).max(axis=1).clip(min=1.0)


def _worst_term(gap: sympy.Expr) -> str:
    """Return one sentence that names the largest term of a difference and its value at a random point."""
    terms = sympy.Add.make_args(notation.tidy(gap) if gap.count_ops() <= _SHOWN_OPERATIONS else gap)
    symbols = sorted(gap.free_symbols, key=str)
    point = dict(zip(symbols, np.random.default_rng(_SEED).uniform(0.5, 1.5, len(symbols)), strict=True))
    worst = max(terms, key=lambda term: abs(float(term.subs(point))))
    shown = notation.text(notation.latex(worst))
    return f"computed minus expected leaves {shown}" + (f" and {len(terms) - 1} more terms" if len(terms) > 1 else "")
