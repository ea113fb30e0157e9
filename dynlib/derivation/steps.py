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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import sympy

from dynlib import newton_euler
from dynlib.algebra import lines, notation
from dynlib.algebra.arrays import Array, is_symbolic
from dynlib.algebra.equation import Equation
from dynlib.algebra.lines import COLUMN, TERMINAL, Room, Row
from dynlib.derivation.names import _INWARD, _Namer, _symbols_in
from dynlib.derivation.size import count_operations, count_terms, is_too_long
from dynlib.model.links import Joint
from dynlib.model.robot import Robot
from dynlib.newton_euler import Steps

_ORDER = {name: place for place, name in enumerate("T omega v v_c domega dv dv_c g F N f n tau tau_m".split())}
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
        decimals: the data of the arm are decimals, so that 0.5 is shown and not 1/2.
    """

    link: int
    joint: Joint
    equation: Equation
    value: Array
    loaded: bool = False
    names: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    decimals: bool = False

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
            for row in lines.rows(left, value, room.below(self.source), self.decimals)
        )
        return [*first, *below]

    def meanings(self, room: Room = COLUMN) -> list[Row]:
        """Return what each name stands for in as many lines as there must be."""
        named = ((name, notation.latex(meaning, self.decimals)) for name, meaning in self.names.items())
        return [
            row
            for name, meaning in named
            for row in lines.broken(notation.latex(name), meaning, room.below(self.source))
        ]

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
    decimals = any(map(notation.has_decimals, robot.named_arrays().values()))
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
            printed.append(PrintedStep(i + 1, link.joint, equation, value, loaded, names, decimals))
    return Derivation(tuple(printed))


def show(symbol: str, value: Any) -> "Shown":
    r"""Show a value with its symbol, as a formula in a notebook and as text in a terminal.

    Args:
        symbol: TeX of the left side.
        value: number, expression, vector or matrix; expressions are written out as sums (:func:`.tidy`).

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
