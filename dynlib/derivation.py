r"""The printed derivation: every step of a recursion with its equation, its source number and its value.

A printed step is a view of the record that the recursion returned, so nothing can be printed that was not computed. In
a notebook it is shown as formulas, in a terminal as text, both in the documents' notation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dynlib import newton_euler, notation
from dynlib.arrays import Array, is_symbolic
from dynlib.equation import Equation
from dynlib.links import Joint
from dynlib.newton_euler import Steps
from dynlib.robot import Robot

_INWARD = ("f", "n")  # these run from the last link to the first
_ORDER = {name: place for place, name in enumerate("T omega v v_c domega dv dv_c g F N f n tau tau_m".split())}


@dataclass(frozen=True, eq=False)
class PrintedStep:
    """One step of a derivation: an equation, for one link, and the value that was computed.

    Attributes:
        link: number of the link, from 1.
        joint: kind of its joint, which decides the terms that are shown.
        equation: what was computed.
        value: the field of the link's record, an expression, vector or matrix.
        loaded: the surroundings load the link, so that the terms for this are shown.
    """

    link: int
    joint: Joint
    equation: Equation
    value: Array
    loaded: bool = False

    def tex(self) -> str:
        """Return symbol, equation, source number and value as one TeX display."""
        left, right = self.equation.sides(self.link, self.joint, self.loaded)
        tag = rf"\tag{{{self.equation.number(self.joint)}}}"
        value = notation.latex(_written_out(self.value, collect=True))
        return f"\\begin{{align*}}\n{left} &= {right} {tag} \\\\\n&= {value}\n\\end{{align*}}"

    def _repr_markdown_(self) -> str:
        return self.tex()

    def __repr__(self) -> str:
        left, right = map(notation.text, self.equation.sides(self.link, self.joint, self.loaded))
        value = notation.text(notation.latex(_written_out(self.value, collect=True)))
        return f"{left} = {right}    ({self.equation.number(self.joint)})\n{' ' * len(left)} = {value}"


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

    def __iter__(self) -> Iterator[PrintedStep]:
        return iter(self.steps)

    def _repr_markdown_(self) -> str:
        return "\n\n".join(step.tex() for step in self.steps)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.steps))


def derive(robot: Robot, q: Any = None, dq: Any = None, ddq: Any = None, **options: Any) -> Derivation:
    """Return the printed derivation of the joint torques of an arm.

    Args:
        robot: the arm, with symbols or with numbers.
        q: joint values, shape (N,), in rad or m; symbols if left out. One state, not a batch.
        dq: joint rates, shape (N,), in rad/s or m/s; symbols if left out.
        ddq: joint accelerations, shape (N,), in rad/s² or m/s²; symbols if left out.
        **options: tip wrench, base motion and steps, as in :func:`dynlib.newton_euler.recursion`.

    Returns:
        The :class:`Derivation`: a :class:`PrintedStep` for each equation and link.

    Raises:
        ValueError: a batch of states, or what the recursion refuses.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> derive(arm, [0, 0], [0, 0], [0, 0]).of("tau")
    τ₁ = ¹n₁ᵀ ¹ẑ₁    (A5.2.5-2)
       = 30
    τ₂ = ²n₂ᵀ ²ẑ₂    (A5.2.5-2)
       = 10
    """
    symbols = robot.motion_symbols()
    q, dq, ddq = (symbol if value is None else value for symbol, value in zip(symbols, (q, dq, ddq), strict=True))
    records = newton_euler.recursion(robot, q, dq, ddq, **options)
    if records[0].tau.ndim:
        raise ValueError(
            f"a derivation is printed for one state; the state is a batch of shape {records[0].tau.shape}."
        )
    equations: list[Equation] = [getattr(options.get("steps", Steps()), field.name) for field in fields(Steps)]
    printed: list[PrintedStep] = []
    for equation in sorted(equations, key=lambda each: _ORDER[each.quantity]):
        outward = list(range(robot.n))
        for i in reversed(outward) if equation.quantity in _INWARD else outward:
            link, record = robot.links[i], records[i]
            if equation.quantity == "tau_m" and link.motor is None:
                continue
            loaded = any(entry != 0 for entry in (*record.f_e, *record.n_e))
            value = getattr(record, equation.quantity)
            printed.append(PrintedStep(i + 1, link.joint, equation, value, loaded))
    return Derivation(tuple(printed))


def show(symbol: str, value: Any) -> "Shown":
    r"""Show a value with its symbol, as a formula in a notebook and as text in a terminal.

    Args:
        symbol: TeX of the left side.
        value: number, expression, vector or matrix; expressions are written out as sums (:func:`dynlib.notation.tidy`).

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

    def _repr_markdown_(self) -> str:
        return f"$$\n{self.symbol} = {notation.latex(_written_out(self.value))}\n$$"

    def __repr__(self) -> str:
        return f"{notation.text(self.symbol)} = {notation.text(notation.latex(_written_out(self.value)))}"


def _written_out(value: Any, collect: bool = False) -> Array:
    """Return a value as it is printed: sums of sines and cosines of sums of angles, rates gathered if that is asked."""
    array = np.asarray(value, dtype=object) if not isinstance(value, np.ndarray) else value
    if not is_symbolic(array):
        return array
    tidied = [notation.tidy(entry) for entry in array.flat]
    written: Array = np.array([notation.collect_rates(e) for e in tidied] if collect else tidied, dtype=object)
    return written.reshape(array.shape)
