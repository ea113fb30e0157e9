r"""Formulas in lines: what is wider than a column of text goes on below, before a plus or a minus.

A formula is broken between the terms of its sum, within a bracket only where a single term is too wide. A vector or
matrix that is too wide is written entry by entry. :data:`COLUMN` says how much room a page has, :data:`TERMINAL` how
much there is for plain text.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dynlib.algebra import notation
from dynlib.algebra.arrays import Array


@dataclass(frozen=True)
class Row:
    r"""A line of a formula.

    Attributes:
        left: TeX of the left side; empty in a line that goes on with the one before.
        right: TeX of the right side, from its relation sign on; it begins with ``\quad{}`` in a line that goes on.
        source: number of the equation in its source.
    """

    left: str
    right: str
    source: str = ""


@dataclass(frozen=True)
class Room:
    """How wide a line may be, and how that is measured.

    Attributes:
        width: the greatest width.
        of: returns the width of TeX.
        numbers_in_a_column: the number of an equation takes room from all its lines, not from its first alone.
    """

    width: float
    of: Callable[[str], float]
    numbers_in_a_column: bool = False

    def holds(self, *parts: str) -> bool:
        """Say whether parts of a line have room side by side."""
        return sum(map(self.of, parts)) <= self.width

    def beside(self, source: str) -> "Room":
        """Return the room beside the number of an equation."""
        return replace(self, width=self.width - self.of(f"({source})") - 1)

    def below(self, source: str) -> "Room":
        """Return the room in the lines below one with a number."""
        return self.beside(source) if self.numbers_in_a_column else self


def rows(left: str, value: Array, room: Room, decimals: bool = False) -> Iterator[Row]:
    r"""Yield a value in as many lines as it needs.

    Args:
        left: TeX of its symbol.
        value: number, expression, vector or matrix, shape (), (n,) or (n, m), written out.
        room: that there is for the whole line.
        decimals: show 0.5 and not 1/2 (:func:`dynlib.algebra.notation.latex`).

    Yields:
        The lines. A vector or matrix that does not fit is given entry by entry.

    >>> import sympy
    >>> a, b = sympy.symbols("a b")
    >>> [row.left for row in rows("v", np.array([a + b, b, 0]), Room(40, len))]
    ['\\left(v\\right)_{x}', '\\left(v\\right)_{y}', '\\left(v\\right)_{z}']
    """
    decimals = decimals or notation.has_decimals(value)
    whole = notation.latex(value, decimals)
    if not value.ndim or room.holds(left, "= " + whole):
        yield from broken(left, whole, room)
        return
    for place in np.ndindex(value.shape):
        name = rf"\left({left}\right)_{{{_component(place, value.shape)}}}"
        yield from broken(name, notation.latex(value[place], decimals), room)


def _component(place: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return the name of an entry: x, y, z of a vector of three, numbers from 1 of all others."""
    return "xyz"[place[0]] if shape == (3,) else "".join(str(k + 1) for k in place)


def broken(left: str, right: str, room: Room, source: str = "") -> Iterator[Row]:
    r"""Yield an equation in as many lines as it needs, broken before plus and minus signs.

    Args:
        left: TeX of the left side.
        right: TeX of the right side.
        room: that there is for the whole line.
        source: number of the equation, to stand in the first line, beside the room.

    Yields:
        The lines.

    >>> [row.right for row in broken("x", "a + b - c", Room(8, len))]
    ['= a + b', '\\quad{} - c']
    """
    line, first = "=", True
    for piece, deep in _pieces(right, room):
        if line not in ("=", _DEEPER[deep]) and not room.holds(left, f"{line} {piece}"):
            yield Row(left if first else "", line, source if first else "")
            line, first = _DEEPER[deep], False
        line = f"{line} {piece}"
    yield Row(left if first else "", line, source if first else "")


_DEEPER = (r"\quad{}", r"\quad\quad{}")
"""What a line that goes on begins with, outside and within a bracket; a sign after nothing at all has no space."""


def _pieces(tex: str, room: Room) -> Iterator[tuple[str, bool]]:
    """Yield where a sum can be broken: its terms, those that are too wide bracket term by bracket term.

    With each piece comes whether it begins within a bracket.
    """
    for term in _terms(tex):
        bracket = _widest_bracket(term, room)
        if bracket is None or room.holds(_DEEPER[0], term):
            yield term, False
            continue
        before, inner, after = bracket
        first, *others = _terms(inner)
        opened = [rf"{before}\bigl({first}", *others]
        opened[-1] += rf"\bigr){after}"
        yield from ((piece, place > 0) for place, piece in enumerate(opened))


def _widest_bracket(term: str, room: Room) -> tuple[str, str, str] | None:
    """Return what stands before, in and after the widest bracket of a product; None if it holds no sum."""
    found = [
        (term[:start], term[start + len(r"\left(") : end], term[end + len(r"\right)") :])
        for start, end in _brackets(term)
    ]
    sums = [each for each in found if len(_terms(each[1])) > 1]
    return max(sums, key=lambda each: room.of(each[1]), default=None)


def _brackets(tex: str) -> Iterator[tuple[int, int]]:
    r"""Yield where the outermost ``\left( ... \right)`` outside of braces begin and end."""
    start, depth = 0, 0
    for found in re.finditer(r"\\left\(|\\right\)|\\[{}]|[{}]", tex):
        mark = found[0]
        if mark == r"\left(" and not depth:
            start = found.start()
        if mark == r"\right)" and depth == 1:
            yield start, found.start()
        depth += {r"\left(": 1, "{": 1, r"\right)": -1, "}": -1}.get(mark, 0)


def _terms(tex: str) -> list[str]:
    """Split TeX before the signs of its sum, and before what is set off by a space; at the top level only."""
    terms, depth, start = [], 0, 0
    for found in re.finditer(r"\\begin|\\end|[{(\[]|[})\]]| (?=[+-] |\\pm|\\quad)", tex):
        mark = found[0]
        if mark == " ":
            if depth == 0:
                terms.append(tex[start : found.start()])
                start = found.end()
        else:
            depth += 1 if mark in ("\\begin", "{", "(", "[") else -1
    return [*terms, tex[start:]]


def plain(lines: Iterable[Row]) -> str:
    r"""Return lines as plain text; what goes on below stands under the right side.

    >>> print(plain([Row("x", "= a", "B2"), Row("", r"\quad{} + b")]))
    x = a    (B2)
          + b
    """
    shown, left = [], ""
    for row in lines:
        left = notation.text(row.left) or " " * len(left)
        deeper = " " * _DEEPER_BY * row.right.count(r"\quad") if row.right.startswith(r"\quad") else ""
        number = f"    ({row.source})" if row.source else ""
        shown.append(_row_by_row(f"{left} {deeper}{notation.text(row.right)}{number}"))
    return "\n".join(shown)


def _row_by_row(line: str) -> str:
    """Return a line that is too wide with each row of its matrix on a line of its own."""
    if len(line) <= _LETTERS or "[" not in line:
        return line
    return line.replace("; ", ";\n" + " " * (line.index("[") + 1))


def aligned(lines: Iterable[Row], environment: str = "align*") -> str:
    r"""Return lines in an environment of amsmath that aligns them.

    Args:
        lines: what to write.
        environment: ``align*`` has numbers of its own; in another, such as ``aligned``, they stand beside the line.

    >>> print(aligned([Row("x", "= a", "B2"), Row("", r"\quad{} + b")]))
    \begin{align*}
    x &= a \tag{B2} \\
    &\quad{} + b
    \end{align*}
    """
    shown = []
    for row in lines:
        number = rf" \tag{{{row.source}}}" if environment == "align*" else rf" \qquad \text{{({row.source})}}"
        shown.append(f"{row.left} &{row.right}{number if row.source else ''}".strip())
    return f"\\begin{{{environment}}}\n" + " \\\\\n".join(shown) + f"\n\\end{{{environment}}}"


def formula(lines: Iterable[Row]) -> str:
    r"""Return lines without numbers as one formula, to be put between dollar signs.

    >>> formula([Row("x", "= a")])
    'x = a'
    """
    first, *others = rows = list(lines)
    return aligned(rows, "aligned") if others else f"{first.left} {first.right}"


# How wide TeX is ------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S")
_SCRIPT = 0.7
_NARROW, _WIDE = frozenset("ijlI1,.;:!|'"), frozenset("mwMW")
_SIGNS = {"+": 1.22, "-": 1.22, "=": 1.33, "<": 1.33, ">": 1.33, r"\times": 1.22, r"\cdot": 0.72, r"\pm": 1.22}
_SPACES = {r"\quad": 1.0, r"\qquad": 2.0, r"\,": 0.17, r"\;": 0.28, r"\ ": 0.33, r"\!": -0.17}
_NOTHING = {r"\left", r"\right", r"\bigl", r"\bigr", r"\big", r"\displaystyle", "."}
_FUNCTIONS = {r"\sin", r"\cos", r"\tan", r"\arctan", r"\det"}
_TAKES_ONE = {r"\dot", r"\ddot", r"\hat", r"\bar", r"\vec", r"\mathrm", r"\mathbf", r"\mathcal", r"\text", r"\sqrt"}


def ems(tex: str) -> float:
    r"""Return about how wide TeX stands on a page, in em of its font: within 5 % for the formulas of the book.

    >>> ems(r"m_{1} L_{1}^{2}") < ems(r"m_{1} L_{1}^{2} + 1") < ems(r"\frac{m_{1} L_{1}^{2} + 1 + x}{2}")
    True
    """
    return _Measure(_TOKEN.findall(tex)).line()


class _Measure:
    """Reads TeX once, from left to right, and adds up how wide it is."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 0

    def line(self) -> float:
        """Return the width up to the end of the group, the cell or the row."""
        total, scripts = 0.0, 0.0
        while self._at < len(self._tokens) and self._tokens[self._at] not in ("}", "&", r"\\", r"\end"):
            token = self._next()
            if token in "^_":
                scripts = max(scripts, _SCRIPT * self._one())  # one above the other
                continue
            total, scripts = total + scripts, 0.0
            total += 0.78 if token in "+-" and not total else self._symbol(token)
        return total + scripts

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _one(self) -> float:
        """Return the width of a group or of the one symbol that stands in its place."""
        return self._symbol(self._next())

    def _symbol(self, token: str) -> float:
        if token == "{":
            inner = self.line()
            self._next()
            return inner
        if token in (r"\frac", r"\tfrac"):
            return (0.24 + max(self._one(), self._one())) * (_SCRIPT if token == r"\tfrac" else 1)
        if token == r"\begin":
            return self._matrix()
        if token in _TAKES_ONE:
            return self._one() + (0.85 if token == r"\sqrt" else 0)
        if token in _NOTHING:
            return 0.0
        if token in _SIGNS or token in _SPACES:
            return (_SIGNS | _SPACES)[token]
        if token in _NARROW:
            return 0.36
        if token in _WIDE:
            return 0.92
        if token in "()[]":
            return 0.43
        if token in _FUNCTIONS:
            return 0.2 + 0.48 * (len(token) - 1)
        return 0.75 if token.isupper() else 0.54

    def _matrix(self) -> float:
        """Return the width of the columns of an environment, with brackets."""
        self._one()  # its name
        columns: dict[int, float] = {}
        column = 0
        while True:
            columns[column] = max(columns.get(column, 0.0), self.line())
            mark = self._next()
            if mark == r"\end":
                self._one()
                return sum(columns.values()) + len(columns) - 1 + 1.4
            column = column + 1 if mark == "&" else 0


COLUMN = Room(31.0, ems, numbers_in_a_column=True)
"""The column of text on a page of the book at its widest, in em of a formula's font."""

_LETTERS = 84
_DEEPER_BY = 4
_GAPS = 4  # between the left and the right side, and before a number


def _letters(tex: str) -> int:
    return max(map(len, notation.text(tex).split("; "))) + _DEEPER_BY * tex.count(r"\quad")


TERMINAL = Room(_LETTERS - _GAPS, _letters)
"""A line of 84 letters in a terminal or a printed output; a matrix has a line for each row."""
