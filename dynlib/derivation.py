r"""The printed derivation: every step of a recursion with its equation, its source number and its value.

A printed step is a view of the record that the recursion returned, so nothing can be printed that was not computed. In
a notebook it is shown as formulas, in a terminal as text, both in the documents' notation.

How long may an arm be? Each joint makes the torque of joint 1, multiplied out, many times longer. In symbols and with
full inertias it has some 80 000 terms for an arm as simple as the PUMA 560, and 80 million for a general arm of six
joints. To compute such an expression takes a fraction of a second, because its parts are shared; to write it out does
not end. So a closed form of that size is good for being handed on as it is, with its parts still shared: to put numbers
in, or to make a program of it that computes each part once. It is not good for being read, expanded or simplified. What
can be read is the recursion with a name for every intermediate value, ``derive(robot, named=True)``: fewer than 250
short lines for six joints. Of longer values than :data:`LONGEST` only the size is shown.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import sympy

from dynlib import newton_euler
from dynlib.algebra import lines, notation
from dynlib.algebra.arrays import Array, is_symbolic
from dynlib.algebra.equation import Equation
from dynlib.algebra.lines import COLUMN, TERMINAL, Room, Row
from dynlib.model.links import Joint
from dynlib.model.robot import Robot
from dynlib.newton_euler import Steps
from dynlib.velocity import BaseMotion, Wrench

_INWARD = ("f", "n")  # these run from the last link to the first
_ORDER = {name: place for place, name in enumerate("T omega v v_c domega dv dv_c g F N f n tau tau_m".split())}
_COMPUTED_INWARD = ("F", "N", "f", "n", "tau", "tau_m")

LONGEST = 1500
"""Number of terms of the longest value that is written out, over all its components.

A product of k sines and cosines counts as the :math:`2^{k-1}` terms that it becomes, before anything cancels.
"""

WORDS = {
    "en": {
        "too_long": "up to {terms:,} terms, too long to be shown: see derive(robot, named=True)",
    }
}
"""The sentences of this module, by language.

:meta hide-value:
"""


@dataclass(frozen=True, eq=False)
class PrintedStep:
    """One step of a derivation: an equation, for one link, and the value that was computed.

    Attributes:
        link: number of the link, from 1.
        joint: kind of its joint, which decides the terms that are shown.
        equation: what was computed.
        value: the field of the link's record, an expression, vector or matrix.
        loaded: the surroundings load the link, so that the terms for this are shown.
        names: what the names that this step introduces stand for, in the order in which they are computed.
    """

    link: int
    joint: Joint
    equation: Equation
    value: Array
    loaded: bool = False
    names: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Return the number of the equation in its source."""
        return self.equation.number(self.joint)

    def sides(self) -> tuple[str, str]:
        """Return the TeX of the left and of the right side of the equation, with this link's numbers."""
        return self.equation.sides(self.link, self.joint, self.loaded)

    @property
    def is_too_long(self) -> bool:
        """Say whether the value has so many terms (:data:`LONGEST`) that only its size is shown."""
        return is_too_long(self.value)

    def rows(self, room: Room = COLUMN) -> list[Row]:
        """Return equation, value and the meaning of each name in as many lines as there must be."""
        left, right = self.sides()
        first = list(lines.broken(left, right, room.beside(self.source), self.source))
        if self.is_too_long:
            return [*first, Row("", "= " + _size_of(self.value))]
        value = written_out(self.value, collect=True)
        below = (
            replace(row, left="") if row.left == left else row
            for row in lines.rows(left, value, room.below(self.source))
        )
        return [*first, *below]

    def meanings(self, room: Room = COLUMN) -> list[Row]:
        """Return what each name stands for in as many lines as there must be."""
        named = ((notation.latex(name), notation.latex(meaning)) for name, meaning in self.names.items())
        return [row for name, meaning in named for row in lines.broken(name, meaning, room.below(self.source))]

    def tex(self) -> str:
        """Return symbol, equation, source number and value as one TeX display."""
        return lines.aligned([*self.rows(), *self.meanings()])

    def _repr_markdown_(self) -> str:
        return self.tex()

    def __repr__(self) -> str:
        shown = lines.plain(self.rows(TERMINAL))
        return shown + "".join(f"\n  {line}" for line in lines.plain(self.meanings(TERMINAL)).splitlines())


@dataclass(frozen=True, eq=False)
class Derivation:
    """A printed derivation, or a part of it, in the order of document A: quantity by quantity."""

    steps: tuple[PrintedStep, ...]

    def of(self, *quantities: str, link: int | None = None) -> "Derivation":
        """Return the steps of some quantities, of one link, or both.

        Args:
            *quantities: names of fields of :class:`dynlib.newton_euler.LinkForces`, such as ``"omega"``; all if none.
            link: number of the link, from 1; all links if left out.

        Returns:
            The part of the derivation, in the same order.

        Raises:
            ValueError: no step has such a quantity or link.

        >>> from dynlib import robots
        >>> derive(robots.planar_2r()).of("omega", link=2)
        ²ω₂ = ²₁R ¹ω₁ + θ̇₂ ²ẑ₂    (A5.2.6-5, -6)
            = [0, 0, θ̇₁ + θ̇₂]ᵀ
        """
        known = {step.equation.quantity for step in self.steps}
        if unknown := [name for name in quantities if name not in known]:
            raise ValueError(f"the derivation has no quantity {unknown[0]!r}; it has {', '.join(sorted(known))}.")
        wanted = tuple(
            step
            for step in self.steps
            if (not quantities or step.equation.quantity in quantities) and link in (None, step.link)
        )
        if not wanted:
            raise ValueError(f"the derivation has no link {link}; it has 1 to {max(s.link for s in self.steps)}.")
        return Derivation(wanted)

    @property
    def names(self) -> dict[sympy.Symbol, sympy.Expr]:
        """Return what every name stands for; a name stands only for names before it. {} if nothing was named."""
        return {name: meaning for step in self.steps for name, meaning in step.names.items()}

    @property
    def operations(self) -> int:
        """Return the number of additions, multiplications and functions that the named lines take together."""
        return sum(count_operations(meaning) for meaning in self.names.values())

    def without_names(self, value: Any) -> Any:
        """Return a value with what they stand for in place of the names.

        Args:
            value: an expression, or an array of them, in the names of this derivation.

        Returns:
            The same in the arm's own symbols, neither expanded nor simplified.

        >>> from dynlib import robots
        >>> derived = derive(robots.planar_2r(), named=True)
        >>> derived.without_names(sympy.Symbol("v_2x"))
        L1*dtheta1*sin(theta2)
        """
        meanings: dict[sympy.Symbol, sympy.Expr] = {}
        for name, meaning in self.names.items():
            meanings[name] = meaning.xreplace(meanings)
        if not isinstance(value, np.ndarray):
            return sympy.sympify(value).xreplace(meanings)
        entries = [entry.xreplace(meanings) for entry in value.flat] if is_symbolic(value) else value
        return np.array(entries, dtype=value.dtype).reshape(value.shape)

    def __iter__(self) -> Iterator[PrintedStep]:
        return iter(self.steps)

    def _repr_markdown_(self) -> str:
        return "\n\n".join(step.tex() for step in self.steps)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.steps))


def derive(
    robot: Robot, q: Any = None, dq: Any = None, ddq: Any = None, *, named: bool = False, **options: Any
) -> Derivation:
    r"""Return the printed derivation of the joint torques of an arm.

    Args:
        robot: the arm, with symbols or with numbers; without a state, its numbers are read exactly
            (:meth:`dynlib.model.robot.Robot.exact`).
        q: joint values, shape (N,), in rad or m; symbols if left out. One state, not a batch.
        dq: joint rates, shape (N,), in rad/s or m/s; symbols if left out.
        ddq: joint accelerations, shape (N,), in rad/s² or m/s²; symbols if left out.
        named: give every component that is neither a number nor a single symbol a name, such as
            :math:`c_2, \omega_{2x}, f_{3z}`, and go on with the names, so that every line stays short. For arms of
            more than three joints. A name that looks like a symbol of the arm gets a bar.
        **options: tip wrench, base motion and steps, as in :func:`dynlib.newton_euler.recursion`.

    Returns:
        The :class:`Derivation`: a :class:`PrintedStep` for each equation and link.

    Raises:
        ValueError: a batch of states, or what the recursion refuses.

    >>> from dynlib import robots
    >>> derive(robots.planar_2r(), named=True).of("v", link=2)
    ²v₂ = ²₁R(¹v₁ + ¹ω₁ × ¹p₂)    (A5.2.6-7, -8)
        = [v₂x, v₂y, 0]ᵀ
      v₂x = L₁ θ̇₁ s₂
      v₂y = L₁ θ̇₁ c₂
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> derive(arm, [0, 0], [0, 0], [0, 0]).of("tau")
    τ₁ = ¹n₁ᵀ ¹ẑ₁    (A5.2.5-2)
       = 30
    τ₂ = ²n₂ᵀ ²ẑ₂    (A5.2.5-2)
       = 10
    """
    if q is None and dq is None and ddq is None:
        robot = robot.exact()  # symbols for the motion need exact data
    symbols = robot.motion_symbols()
    q, dq, ddq = (symbol if value is None else value for symbol, value in zip(symbols, (q, dq, ddq), strict=True))
    given: Steps = options.pop("steps", Steps())
    namer = _Namer(robot, q, taken=_symbols_in((robot.symbols, q, dq, ddq, options)))
    records = newton_euler.recursion(robot, q, dq, ddq, steps=namer.wrap(given) if named else given, **options)
    if records[0].tau.ndim:
        raise ValueError(
            f"a derivation is printed for one state; the state is a batch of shape {records[0].tau.shape}."
        )
    equations: list[Equation] = [getattr(given, step.name) for step in fields(given)]
    printed: list[PrintedStep] = []
    for equation in sorted(equations, key=lambda each: _ORDER[each.quantity]):
        outward = list(range(robot.n))
        for i in reversed(outward) if equation.quantity in _INWARD else outward:
            link, record = robot.links[i], records[i]
            if equation.quantity == "tau_m" and link.motor is None:
                continue
            loaded = any(entry != 0 for entry in (*record.f_e, *record.n_e))
            value = getattr(record, equation.quantity)
            names = namer.names.get((equation.quantity, i + 1), {})
            printed.append(PrintedStep(i + 1, link.joint, equation, value, loaded, names))
    return Derivation(tuple(printed))


class _Namer:
    """Wraps steps so that what they give is put into names, and keeps what each name stands for."""

    def __init__(self, robot: Robot, q: Any, taken: Iterable[sympy.Symbol]) -> None:
        self.robot, self.q = robot, q
        self.taken = {notation.latex(symbol) for symbol in taken}
        self.names: dict[tuple[str, int], dict[sympy.Symbol, sympy.Expr]] = {}

    def wrap(self, steps: Steps) -> Steps:
        """Return the same steps, each followed by the naming of its value."""
        return replace(steps, **{step.name: self._named(getattr(steps, step.name)) for step in fields(steps)})

    def _named(self, equation: Equation) -> Equation:
        links = iter(self._links_in_the_order_of_calls(equation.quantity))

        def then_name(*arguments: Any) -> Array:
            return self._put_into_names(equation.quantity, next(links), np.asarray(equation(*arguments)))

        return replace(equation, function=then_name)

    def _links_in_the_order_of_calls(self, quantity: str) -> Iterable[int]:
        numbers = range(1, self.robot.n + 1)
        if quantity == "tau_m":
            numbers = [i for i in numbers if self.robot.links[i - 1].motor is not None]  # type: ignore[assignment]
        return reversed(numbers) if quantity in _COMPUTED_INWARD else numbers

    def _put_into_names(self, quantity: str, link: int, value: Array) -> Array:
        if not is_symbolic(value):
            return value
        known = self.names.setdefault((quantity, link), {})
        waves = self._waves(link, value) if quantity == "T" else {}
        known |= {name: wave for wave, name in waves.items()}
        named = value.copy()
        for place, name in _component_names(quantity, link, value.shape):
            entry = _shorter(sympy.sympify(value[place]).xreplace(waves))
            if not (entry.is_number or entry.is_Symbol or (-entry).is_Symbol):
                symbol = self._symbol(name)
                known[symbol], entry = entry, symbol
            named[place] = entry
        return named

    def _symbol(self, name: str) -> sympy.Symbol:
        """Return the symbol of a name, with a bar if a symbol of the arm looks the same."""
        symbol = sympy.Symbol(name)
        while notation.latex(symbol) in self.taken:
            stem, _, index = symbol.name.partition("_")
            symbol = sympy.Symbol(f"{stem}bar_{index}")
        return symbol

    def _waves(self, link: int, value: Array) -> dict[sympy.Expr, sympy.Symbol]:
        """Return the names of cosine and sine of the joint angle, as far as they occur."""
        symbols = sympy.sympify(self.q[link - 1]).free_symbols
        waves = {}
        for letter, kind in (("c", sympy.cos), ("s", sympy.sin)):
            found = {wave for entry in value.flat for wave in entry.atoms(kind) if wave.free_symbols & symbols}
            if len(found) == 1:
                waves[found.pop()] = self._symbol(f"{letter}_{link}")
        return waves


def _component_names(quantity: str, link: int, shape: tuple[int, ...]) -> list[tuple[tuple[int, ...], str]]:
    """Return each place in a value with the name for it: R_2xy is row x, column y of the rotation to link 2."""
    stem = quantity if quantity.endswith(("_c", "_m")) else quantity + "_"
    if not shape:
        return [((), f"{stem}{link}")]
    if len(shape) == 1:
        return [((row,), f"{stem}{link}{'xyz'[row]}") for row in range(3)]
    places = [(row, column) for row in range(3) for column in range(4)]
    return [((i, j), f"R_{link}{'xyz'[i]}{'xyz'[j]}" if j < 3 else f"p_{link}{'xyz'[i]}") for i, j in places]


def _shorter(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression as it is or expanded, whichever has fewer operations; what cancels is gone then."""
    if _count_written_terms(expression) > LONGEST:
        return expression
    return min(expression, sympy.expand(expression), key=count_operations)


def _symbols_in(given: Any) -> set[sympy.Symbol]:
    """Return the symbols in arrays, records, lists and dictionaries, however nested."""
    if isinstance(given, sympy.Basic):
        return set(given.free_symbols)
    if isinstance(given, Mapping):
        given = list(given.values())
    elif isinstance(given, Wrench | BaseMotion):
        given = list(vars(given).values())
    elif isinstance(given, np.ndarray):
        given = list(given.flat)
    return set().union(*map(_symbols_in, given)) if isinstance(given, list | tuple) else set()


def count_operations(expression: Any) -> int:
    """Return the number of additions, multiplications, powers and functions in an expression as it is.

    Args:
        expression: a SymPy expression or a number; parts that occur twice are counted twice.

    Returns:
        The number of operations; at once even if the expression is far too long to be printed.

    >>> a, b = sympy.symbols("a b")
    >>> count_operations(a * b + sympy.sin(a))
    3
    """
    return _measured(expression, lambda each, parts: sum(parts) + max(len(parts) - 1, int(bool(parts))))


def count_terms(expression: Any) -> int:
    """Return how many terms an expression has at most when it is multiplied out.

    Args:
        expression: a SymPy expression or a number.

    Returns:
        The number of terms, counted without multiplying out; what cancels is counted too.

    >>> a, b = sympy.symbols("a b")
    >>> count_terms((a + b) * (a - b))
    4
    """
    return sum(_measured(expression, _terms_by_waves).values())


def _count_written_terms(expression: Any) -> int:
    """Return the terms when, besides, each product of k sines and cosines becomes a sum of 2**(k-1) of them."""
    by_waves = _measured(expression, _terms_by_waves)
    return sum(terms * 2 ** max(waves - 1, 0) for waves, terms in by_waves.items())


def _terms_by_waves(each: sympy.Basic, parts: list[dict[int, int]]) -> dict[int, int]:
    """Return the number of terms by how many sines and cosines are multiplied in them."""
    if each.is_Add:
        return {waves: sum(part.get(waves, 0) for part in parts) for waves in sorted(set().union(*parts))}
    if each.is_Pow and each.exp.is_Integer and each.exp > 0:
        parts = [parts[0]] * int(each.exp)
    elif not each.is_Mul:
        return {int(isinstance(each, sympy.sin | sympy.cos)): 1}
    product = {0: 1}
    for part in parts:
        longer: dict[int, int] = {}
        for (first, m), (second, n) in itertools.product(product.items(), part.items()):
            longer[first + second] = longer.get(first + second, 0) + m * n
        product = longer
    return product


def _measured(expression: Any, combine: Callable[[sympy.Basic, list[Any]], Any]) -> Any:
    """Return a measure that is combined from those of the parts; each part that is shared is visited once."""
    known: dict[sympy.Basic, Any] = {}

    def visit(each: sympy.Basic) -> Any:
        if each not in known:
            known[each] = combine(each, [visit(part) for part in each.args])
        return known[each]

    return visit(sympy.sympify(expression))


def show(symbol: str, value: Any) -> "Shown":
    r"""Show a value with its symbol, as a formula in a notebook and as text in a terminal.

    Args:
        symbol: TeX of the left side.
        value: number, expression, vector or matrix; expressions are written out as sums (:func:`dynlib.algebra.notation.tidy`).

    Returns:
        What is shown, to be the last line of a cell.

    >>> show(r"\tau_{1}", 2.5)
    τ₁ = 2.5
    """
    return Shown(symbol, value)


@dataclass(frozen=True, eq=False)
class Shown:
    """A value with its symbol, for display."""

    symbol: str
    value: Any

    def rows(self, room: Room = COLUMN) -> list[Row]:
        """Return the formula in as many lines as there must be."""
        value = np.asarray(self.value, dtype=object) if not isinstance(self.value, np.ndarray) else self.value
        if is_too_long(value):
            return [Row(self.symbol, "= " + _size_of(value))]
        return list(lines.rows(self.symbol, written_out(value), room))

    def _repr_markdown_(self) -> str:
        return f"$$\n{lines.formula(self.rows())}\n$$"

    def __repr__(self) -> str:
        return lines.plain(self.rows(TERMINAL))


def is_too_long(array: Array) -> bool:
    """Say whether a value has so many terms (:data:`LONGEST`) that only its size is shown.

    >>> a, b = sympy.symbols("a b")
    >>> is_too_long(np.array([(a + b) ** 9, (a - b) ** 20]))
    True
    """
    return is_symbolic(array) and sum(map(_count_written_terms, array.flat)) > LONGEST


def _size_of(value: Array) -> str:
    """Return the TeX that stands for a value that is too long to be written out."""
    return rf"\text{{{WORDS['en']['too_long'].format(terms=sum(map(count_terms, value.flat)))}}}"


def written_out(value: Any, collect: bool = False) -> Array:
    """Return a value as it is printed: as sums of products of sines and cosines of sums of angles.

    Args:
        value: number, expression, vector or matrix.
        collect: gather the terms that differ only in the rates.

    Returns:
        The same value as an array; numbers as they are.

    >>> a, b = sympy.symbols("a b")
    >>> written_out(a * (a + b))
    array(a**2 + a*b, dtype=object)
    """
    array = np.asarray(value, dtype=object) if not isinstance(value, np.ndarray) else value
    if not is_symbolic(array):
        return array
    tidied = [notation.tidy(entry) for entry in array.flat]
    written: Array = np.array([notation.collect_rates(e) for e in tidied] if collect else tidied, dtype=object)
    return written.reshape(array.shape)
