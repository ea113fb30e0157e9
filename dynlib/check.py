"""Are these two derivations the same?

Small expressions are compared exactly: their difference, written as a sum of sines and cosines of sums of angles, must
vanish term by term. Larger ones, and those with roots or quotients, are compared at random points with a fixed seed;
numbers are compared relative to the larger of the two. A failing check names the worst entry and the worst term.

The points have both signs: only a symbol that the caller calls positive is taken to be so. A point at which one of the
sides is no finite number is drawn again. What has no finite value anywhere is never equal to anything.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

from dynlib.algebra import notation
from dynlib.algebra.arrays import Array

TOLERANCE = 1e-12
"""Largest relative difference of two numbers that count as the same (dimensionless)."""

Positive = Collection[str | sympy.Symbol]
"""Names or symbols of data that are positive, such as lengths."""

_POINTS, _DRAWS, _SEED, _EXACT_OPERATIONS, _SHOWN_OPERATIONS = 8, 1000, 20260, 4000, 500


@dataclass(frozen=True)
class Difference:
    """What two values differ by.

    Attributes:
        same: True if they do not differ.
        how: how this was found: ``"exact"``, ``"points"`` (at random points) or ``"numbers"``; or why nothing can be
            compared: ``"shape"`` (other shapes, or nothing there) or ``"undecided"`` (no finite values).
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


def difference(computed: Any, expected: Any, tolerance: float = TOLERANCE, *, positive: Positive = ()) -> Difference:
    """Compare two values and tell what they differ by.

    Args:
        computed: number, expression, vector or matrix (lists, NumPy arrays or SymPy matrices).
        expected: the same kind of value, same shape and unit.
        tolerance: for numbers, the largest difference relative to the largest entry of both (dimensionless).
        positive: symbols, or their names, that stand for positive numbers; all others may have either sign.

    Returns:
        A :class:`Difference`; ``bool(...)`` of it is False when the values are the same.

    Raises:
        TypeError: an entry is neither a real number nor an expression (text is never read as a formula).
        ValueError: ``positive`` names a symbol that is in neither value, or two different symbols have one name.

    >>> L1, theta1 = sympy.symbols("L1 theta1")
    >>> print(difference(L1 * sympy.sin(theta1) ** 2, L1 - L1 * sympy.cos(theta1) ** 2))
    no difference
    >>> print(difference([1.0, 2.0], [1.0, 2.5]))
    entry [1] is 2, expected 2.5 (difference -0.5)
    >>> print(difference(sympy.sqrt(L1**2), L1, positive=[L1]))
    no difference
    """
    left, right = _entries(computed), _entries(expected)
    if left.shape != right.shape:
        return Difference(False, "shape", f"the computed value has the shape {left.shape}, the expected {right.shape}")
    if not left.size:
        return Difference(False, "shape", f"both values are empty, of the shape {left.shape}: nothing is compared")
    entries = [*left.flat, *right.flat]
    symbols = {symbol for entry in entries if isinstance(entry, sympy.Expr) for symbol in entry.free_symbols}
    if not symbols and any(isinstance(entry, float) for entry in entries):
        return _compare_numbers(left.astype(float), right.astype(float), tolerance)
    signs = _signs(symbols, positive)
    how = "exact"
    for index in np.ndindex(left.shape):
        found = _compare_expressions(sympy.sympify(left[index]), sympy.sympify(right[index]), signs)
        if found:
            where = f"entry {list(index)}" if index else "the value"
            return Difference(False, found.how, f"{where}: {found.message}")
        how = found.how if found.how == "points" else how
    return Difference(True, how)


def same(computed: Any, expected: Any, tolerance: float = TOLERANCE, *, positive: Positive = ()) -> bool:
    """Say whether two values are the same; see :func:`difference` for the arguments.

    >>> theta1, theta2 = sympy.symbols("theta1 theta2")
    >>> same(sympy.cos(theta1) * sympy.cos(theta2) - sympy.sin(theta1) * sympy.sin(theta2), sympy.cos(theta1 + theta2))
    True
    """
    return difference(computed, expected, tolerance, positive=positive).same


@dataclass(frozen=True)
class Verdict:
    """A check that held: the number of the equation or erratum, how it was compared, and the errata put right in it."""

    number: str
    how: str
    corrected: str = ""

    def __repr__(self) -> str:
        sign = {"exact": "=", "points": f"= ({_POINTS} points)", "numbers": f"≈ ({TOLERANCE:.0e})"}[self.how]
        words = f" corrected, {self.corrected}" if self.corrected else ""
        return f"✓ {self.number}{words} {sign}"


def equation(number: str, computed: Any, printed: Any, *, positive: Positive = (), corrected: str = "") -> Verdict:
    """Assert that an equation of the documents holds.

    Args:
        number: its number in the registry of the book, such as ``"A5.2.6-26"``.
        computed: the value that dynlib computed.
        printed: the value as the document prints it, typed by hand.
        positive: symbols, or their names, that stand for positive numbers.
        corrected: the errata that were put right in the printed form, such as ``"E22"`` or ``"E23, E24"``; none if it
            holds as it stands.

    Returns:
        A :class:`Verdict`, shown as ``✓ number`` with ``=`` (exact) or ``≈`` (numbers), and with the errata.

    Raises:
        AssertionError: they differ, or have no finite values to compare; the message names the worst term.
        TypeError: an entry is neither a real number nor an expression.

    >>> equation("A5.2.6-9", [0, 2 * sympy.Symbol("L1")], [0, sympy.Symbol("L1") + sympy.Symbol("L1")])
    ✓ A5.2.6-9 =
    >>> equation("B3.10", 3, 1 + 2, corrected="E27")
    ✓ B3.10 corrected, E27 =
    """
    found = difference(computed, printed, positive=positive)
    if found:
        raise AssertionError(f"{number} does not hold: {found}")
    return Verdict(number, found.how, corrected)


def erratum(number: str, computed: Any, corrected: Any, printed: Any = None, *, positive: Positive = ()) -> Verdict:
    """Assert that the correction of an erratum is right and that what the document prints is not.

    Args:
        number: its number in the list of errata, such as ``"E4"``.
        computed: the true value, found by another route.
        corrected: what follows from the corrected or completed formula.
        printed: what follows from the document as it stands; None if it prints nothing (an omission).
        positive: symbols, or their names, that stand for positive numbers.

    Returns:
        A :class:`Verdict`, shown as ``✓ number``.

    Raises:
        AssertionError: the correction does not give the true value, or the printed form gives it too, or cannot be
            compared with it.
        TypeError: an entry is neither a real number nor an expression.

    >>> erratum("E4", computed=2.0, corrected=2.0, printed=3.0)
    ✓ E4 ≈ (1e-12)
    """
    found = difference(computed, corrected, positive=positive)
    if found:
        raise AssertionError(f"{number}: the correction does not hold: {found}")
    if printed is not None:
        wrong = difference(computed, printed, positive=positive)
        if wrong.same:
            raise AssertionError(f"{number}: what the document prints holds as well, so there is nothing to correct.")
        if wrong.how in ("shape", "undecided"):
            raise AssertionError(
                f"{number}: this does not show that the printed form is wrong: {wrong}. Give the values that follow "
                "from it, in the shape of the computed value."
            )
    return Verdict(number, found.how)


def _entries(value: Any) -> Array:
    """Return a value as an object array; a column vector becomes a vector."""
    array = np.array(value, dtype=object)
    for place, entry in enumerate(array.flat):
        if isinstance(entry, np.ndarray) and entry.shape == ():  # NumPy leaves these as they are in a list
            array.flat[place] = entry = entry.item()
        if isinstance(entry, bool | np.bool_) or not isinstance(entry, Real | sympy.Expr):
            raise TypeError(
                f"expected real numbers or expressions to compare, got {entry!r} ({type(entry).__name__}). "
                + _what_to_give(entry)
            )
    return array[:, 0] if isinstance(value, sympy.MatrixBase) and array.ndim == 2 and array.shape[1] == 1 else array


def _what_to_give(entry: Any) -> str:
    """Return what to give in place of an entry that cannot be compared."""
    if entry is None:
        return "Nothing was given: does the function that made it return its result?"
    if isinstance(entry, complex | np.complexfloating):
        return "Complex numbers are not compared: give the real and the imaginary part, each by itself."
    if isinstance(entry, sympy.core.relational.Relational):
        return "Give the two sides of an equation as the two values, not the equation itself."
    if isinstance(entry, str):
        return "Text is not read as a formula: build it from symbols."
    return "Truth values need no check: use assert."


def _compare_numbers(left: Array, right: Array, tolerance: float) -> Difference:
    with np.errstate(invalid="ignore"):  # infinity less infinity: reported below
        gap = np.abs(left - right)
    scale = max(np.abs(left).max(), np.abs(right).max())
    finite = np.isfinite(left) & np.isfinite(right)
    if finite.all() and (gap <= tolerance * scale).all():
        return Difference(True, "numbers")
    index = np.unravel_index(np.argmax(np.where(finite, gap, np.inf)), gap.shape) if gap.shape else ()
    where = f"entry {[int(i) for i in index]}" if index else "the value"
    left_number, right_number = float(left[index]), float(right[index])
    return Difference(
        False,
        "numbers" if finite.all() else "undecided",
        f"{where} is {left_number:.10g}, expected {right_number:.10g} (difference {left_number - right_number:.3g})",
    )


def _signs(symbols: Collection[sympy.Symbol], positive: Positive) -> dict[sympy.Symbol, int]:
    """Return the sign of the values that each symbol may have: 1, -1, or 0 for both; the symbols in a fixed order."""
    _refuse_two_of_a_name(symbols)
    names = {str(each) for each in positive}
    if unknown := names - {str(symbol) for symbol in symbols}:
        raise ValueError(f"positive names {', '.join(sorted(unknown))}, which is in neither of the two values.")
    return {
        symbol: 1 if str(symbol) in names or symbol.is_nonnegative else -1 if symbol.is_nonpositive else 0
        for symbol in sorted(symbols, key=str)
    }


def _refuse_two_of_a_name(symbols: Collection[sympy.Symbol]) -> None:
    names = [symbol.name for symbol in symbols if not isinstance(symbol, sympy.Dummy)]
    for name in sorted(set(names)):
        if names.count(name) > 1:
            raise ValueError(
                f"two different symbols are called {name}, made with different assumptions (such as positive=True). "
                f"Use the same symbol in both values, made once; for a positive one say positive=[{name!r}]."
            )


def _compare_expressions(left: sympy.Expr, right: sympy.Expr, signs: Mapping[sympy.Symbol, int]) -> Difference:
    """Say whether two expressions are the same wherever both have a finite value, and by which route this was found."""
    gap = left - right
    if functions := gap.atoms(AppliedUndef) | left.atoms(AppliedUndef):
        names = ", ".join(sorted(map(str, functions)))
        return Difference(False, "undecided", f"{names} has no value: put a symbol in its place")
    terms = sympy.Add.make_args(gap)
    infinite = any(side.has(sympy.nan, sympy.oo, -sympy.oo, sympy.zoo) for side in (left, right))
    found = None if infinite else _at_random_points([left, right, gap, *terms], signs)
    if found is None:
        return Difference(False, "undecided", _why_no_point(left, right, signs))
    points, table = found
    gaps = _relative_gaps(table)
    if (gaps > TOLERANCE).any():
        point = points[np.argmax(gaps)]
        return Difference(False, "points", _worst_term(gap, point) + _where_it_would_hold(left, right, signs, point))
    exact = gap == 0 or (gap.count_ops() <= _EXACT_OPERATIONS and notation.tidy(gap) == 0)
    return Difference(True, "exact" if exact else "points")


def _relative_gaps(table: Array) -> Array:
    """Return how far two sides are apart at each point, relative to the largest term.

    A row holds the two sides, their difference and its terms.
    """
    return np.asarray(np.abs(table[:, 2]) / np.abs(table[:, 3:]).max(axis=1).clip(min=1.0))


def _why_no_point(left: sympy.Expr, right: sympy.Expr, signs: Mapping[sympy.Symbol, int]) -> str:
    """Return why two sides cannot be compared: a constant that is no finite real number, or no such point found."""
    shown = [notation.text(notation.latex(side)) for side in (left, right)]
    for which, side, text in zip(("computed", "expected"), (left, right), shown, strict=True):
        if not side.free_symbols and not (side.is_real and side.is_finite):
            if side.is_infinite:
                return f"the {which} value is infinite"
            return f"the {which} value, {text}, is not a real number"
    positive = ", ".join(str(symbol) for symbol, sign in signs.items() if sign == 1)
    point = f"point with positive {positive}" if positive else "point"
    return f"no {point} was found at which {' and '.join(shown)} are finite real numbers"


def _where_it_would_hold(
    left: sympy.Expr, right: sympy.Expr, signs: Mapping[sympy.Symbol, int], point: Mapping[sympy.Symbol, float]
) -> str:
    """Return a hint at the symbols that must be positive for two sides to be the same; empty if that does not help."""

    def holds(positive: Collection[sympy.Symbol]) -> bool:
        chosen = {symbol: 1 if symbol in positive else sign for symbol, sign in signs.items()}
        found = _at_random_points([left, right, left - right, *sympy.Add.make_args(left - right)], chosen)
        return found is not None and not (_relative_gaps(found[1]) > TOLERANCE).any()

    needed = [symbol for symbol, sign in signs.items() if sign == 0]
    if not needed or not holds(needed):
        return ""
    for symbol in list(needed):
        if holds([each for each in needed if each != symbol]):
            needed.remove(symbol)
    place = ", ".join(f"{symbol} = {point[symbol]:.3g}" for symbol in needed)
    names = [str(symbol) for symbol in needed]
    return f" at {place}; for positive {', '.join(names)} they are the same: if that is meant, say positive={names}"


def _at_random_points(
    expressions: list[sympy.Expr], signs: Mapping[sympy.Symbol, int]
) -> tuple[list[dict[sympy.Symbol, float]], Array] | None:
    """Return fixed random points at which all expressions are finite, and their values; None if there are too few."""
    symbols = [symbol for symbol in signs if any(each.has(symbol) for each in expressions)]
    given = np.array([signs[symbol] for symbol in symbols])
    rng = np.random.default_rng(_SEED)
    evaluate = sympy.lambdify(symbols, expressions, "numpy", cse=True)
    points, rows = [], []
    for draw in range(_DRAWS if symbols else 1):
        if draw % 2 == 0:  # points come in pairs of opposite signs, so that no symbol has one sign only
            sizes, sides = rng.uniform(0.5, 1.5, (2, len(symbols))), rng.choice([-1, 1], len(symbols))
        point = sizes[draw % 2] * np.where(given == 0, sides * (-1) ** draw, given)
        row = _finite(evaluate, point)
        if row is not None:
            points.append(dict(zip(symbols, point.tolist(), strict=True)))
            rows.append(row)
        if len(rows) == _POINTS or (rows and not symbols):
            return points, np.array(rows)
    return None


def _finite(evaluate: Any, point: Array) -> list[float] | None:
    """Return the values at a point, or None if one of them is no finite real number."""
    with np.errstate(all="ignore"):
        try:
            values = [complex(value) for value in evaluate(*point.tolist())]
        except (ZeroDivisionError, OverflowError):
            return None
    good = all(np.isfinite(value) and value.imag == 0 for value in values)
    return [value.real for value in values] if good else None


def _worst_term(gap: sympy.Expr, point: Mapping[sympy.Symbol, float]) -> str:
    """Return one sentence that names the term of a difference that is largest at a point."""
    terms = sympy.Add.make_args(notation.tidy(gap) if gap.count_ops() <= _SHOWN_OPERATIONS else gap)
    worst = max(terms, key=lambda term: abs(complex(term.subs(point))))
    shown = notation.text(notation.latex(worst))
    more = len(terms) - 1
    return f"computed minus expected leaves {shown}" + f" and {more} more term{'s' * (more > 1)}" * bool(more)
