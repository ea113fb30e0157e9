"""Which mistake is behind an answer: what an answer is compared with, how closely, and what is said of it."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from dynlib import newton_euler
from dynlib.algebra.arrays import Array, as_array, as_floats
from dynlib.closed_chains import dynamics, velocities
from dynlib.closed_chains.constraints import ClosureError
from dynlib.closed_chains.singular import SingularPosition
from dynlib.closed_chains.walk import Walk
from dynlib.misconceptions.closed_chains import CLOSED
from dynlib.misconceptions.lagrange import LAGRANGE
from dynlib.misconceptions.misconception import Misconception, NotHere, right_torques
from dynlib.misconceptions.newton_euler import AT_JOINT, RECURSION
from dynlib.misconceptions.slips import SLIPS, SLIPS_AT
from dynlib.misconceptions.structure import STRUCTURE
from dynlib.model.mechanism import Mechanism, System
from dynlib.model.robot import Robot

ALL: Mapping[str, Misconception] = {**RECURSION, **LAGRANGE, **STRUCTURE, **CLOSED}
"""Every mistake that can be made everywhere, by key."""

RIGHT, MISTAKE, SLIP, UNKNOWN = "right", "known mistake", "sign or unit", "not recognised"

SENTENCES: Mapping[str, Mapping[str, str]] = {
    "en": {
        RIGHT: "Right.",
        MISTAKE: "A known mistake:",
        SLIP: "Right but for a sign, a unit, the order or the value of g:",
        UNKNOWN: "Not recognised: neither right nor one of the mistakes that are known here.",
        "several": "These give the same numbers here:",
        "coarse": "Give three significant digits or more: with fewer, a mistake cannot be told from another, nor from "
        "a right answer that is rounded.",
        "coarsely right": "Right to the digits given, but too coarse to tell more: give three significant digits.",
    }
}
"""What is said of an answer, by language and verdict."""

_DIGITS = 3
"""Significant digits that every answer is taken to have."""

_COARSE_DIGITS = 2
"""Significant digits of a coarse answer, such as 1.0. With one, 1 would stand for 1.5 as well, and 10 for 14."""

_ROUNDING = 1e-11
"""What computing leaves of a sum that vanishes, relative to its terms (dimensionless)."""


@dataclass(frozen=True)
class Diagnosis:
    """What an answer is: right, a known mistake, right but for a sign or a unit, or not recognised.

    Attributes:
        verdict: ``"right"``, ``"known mistake"``, ``"sign or unit"`` or ``"not recognised"``.
        found: every mistake that gives the answer, those in a sign or a unit last; () for the first and last verdict.
        coarse: whether the answer has fewer than three significant digits, and is not right to three.
    """

    verdict: str
    found: tuple[Misconception, ...] = ()
    coarse: bool = False

    def __iter__(self) -> Iterator[Misconception]:
        return iter(self.found)

    def feedback(self, language: str = "en") -> str:
        """Return what to tell whoever gave the answer, in lines of at most 84 letters."""
        said = SENTENCES[language]
        coarsely_right = self.coarse and self.verdict == RIGHT
        paragraphs = [said["coarsely right" if coarsely_right else self.verdict]]
        told = [f"{each.name(language)}. {each.feedback(language)}" for each in self.found]
        if len(told) == 1:
            paragraphs = [f"{paragraphs[0]} {told[0]}"]
        elif told:
            paragraphs = [f"{paragraphs[0]} {said['several']}", *(f"- {each}" for each in told)]
        if self.coarse and not coarsely_right:
            paragraphs.append(said["coarse"])
        indents = ("  " if each.startswith("- ") else "" for each in paragraphs)
        return "\n".join(
            textwrap.fill(each, 84, subsequent_indent=indent) for each, indent in zip(paragraphs, indents, strict=True)
        )

    def __repr__(self) -> str:
        return self.feedback()


def diagnose(system: System, q: Any, dq: Any, ddq: Any, answer: Any, **loads: Any) -> Diagnosis:
    """Say what an answer is: right, a known mistake, right but for a sign or a unit, or not recognised.

    An answer counts as given to its last digit, and to three significant digits at least: -16.91 stands for all from
    -16.915 to -16.905. Trailing zeros of a number cannot be seen, so 2.0 beside -16.9 has one decimal place, too.
    An answer with fewer digits that is right to two of them is right, but coarse.

    Args:
        system: an arm or a mechanism, of numbers.
        q: joint values, shape (N,), in rad or m; of a mechanism those of all coordinates, closed.
        dq: joint rates, shape (N,), in rad/s or m/s; of a mechanism those of its inputs.
        ddq: accelerations, of the same shape, in rad/s² or m/s².
        answer: the torques that somebody found, shape (N,) or one for each input, in N m or N; numbers.
        **loads: for an arm ``tip_force``, ``tip_moment``, ``loads`` and ``base``, as in
            :func:`dynlib.newton_euler.recursion`; for a mechanism ``loads``, as in
            :func:`dynlib.closed_chains.dynamics.inverse_dynamics`.

    Returns:
        The :class:`Diagnosis`. Mistakes that give the same numbers in this state are all named; one that gives the
        right numbers is none here.

    Raises:
        TypeError: an answer that is no number, a system that is none, or an unknown kind of load.
        ValueError: a wrong length, shape or number, more states than one, a system that holds symbols, or what the
            right derivation refuses.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=0.5, L2=0.4, m1=2, m2=1, g=9.81)
    >>> diagnose(arm, [0.3, 0.7], [1, 2], [0.5, -1], [12.2, 1.99]).verdict
    'not recognised'
    """
    _refuse_other_systems(system, loads)
    motion = q, dq, ddq
    right = as_floats(right_torques(system, *motion, **loads))
    if right.ndim != 1:
        raise ValueError(f"q, dq and ddq hold {right.shape[:-1]} states; an answer belongs to one state.")
    values = _read(answer, right, system)
    rounding = _ROUNDING * _sizes(system, *motion, **loads)

    def gives(torques: Array, digits: int = _DIGITS) -> bool:
        return bool((np.abs(torques - values) <= _half_a_unit(values, digits) + rounding).all())

    if gives(right):
        return Diagnosis(RIGHT)
    coarse = _is_coarse(values)
    if coarse and gives(right, _COARSE_DIGITS):
        return Diagnosis(RIGHT, coarse=True)
    mistakes, slips = (
        [each for each in kind if (wrong := _made(each, system, *motion, **loads)) is not None and gives(wrong)]
        for kind in _kinds(system, right.size)
    )
    verdict = MISTAKE if mistakes else SLIP if slips else UNKNOWN
    return Diagnosis(verdict, (*mistakes, *slips), coarse)


def _kinds(system: System, count: int) -> tuple[list[Misconception], list[Misconception]]:
    """Return every mistake, and every slip in a sign or a unit, for a system with a number of torques."""
    joints = max(chain.n for chain in system.chains) if isinstance(system, Mechanism) else system.n
    mistakes = [*ALL.values(), *(make(joint) for make in AT_JOINT.values() for joint in range(1, joints + 1))]
    return mistakes, [*SLIPS.values(), *(make(place) for make in SLIPS_AT.values() for place in range(1, count + 1))]


def _made(mistake: Misconception, system: System, *motion: Any, **loads: Any) -> Array | None:
    """Return the torques of a mistake; None where it cannot be made, or leads to where there is no answer."""
    try:
        return as_floats(mistake.torques(system, *motion, **loads))
    except (NotHere, SingularPosition, ClosureError):
        return None


def _refuse_other_systems(system: System, loads: Mapping[str, Any]) -> None:
    if not isinstance(system, Robot | Mechanism):
        raise TypeError(f"system is {system!r}; expected a Robot or a Mechanism, such as a linkage.")
    if system.symbols:
        raise ValueError(f"{system.name} holds symbols; give them numbers with subs(...) first.")
    known = ("loads",) if isinstance(system, Mechanism) else ("tip_force", "tip_moment", "loads", "base")
    for name in loads:
        if name not in known:
            raise TypeError(f"unknown load {name!r}; {system.name} takes {', '.join(known)}.")


# ---- How an answer is read -------------------------------------------------------------------------


def _read(answer: Any, right: Array, system: System) -> Array:
    """Return an answer as floats of the shape of the right torques."""
    count = right.size
    wanted = f"{count} number{'s' if count != 1 else ''}, one for each {_what(system)}, such as {_example(right)}"
    if isinstance(answer, str | bytes):
        raise TypeError(f"answer is the text {answer!r}; expected {wanted}.")
    if count == 1 and np.ndim(answer) == 0:
        answer = [answer]
    values = as_array(answer, "answer", (None,) * np.ndim(answer))
    if values.dtype == object and any(entry.free_symbols for entry in values.flat):
        raise TypeError(f"answer holds symbols; expected {wanted}.")
    if values.shape != right.shape:
        raise ValueError(f"answer has the shape {values.shape}; expected {wanted}.")
    return as_floats(values)


def _what(system: System) -> str:
    return "input" if isinstance(system, Mechanism) else "joint"


def _example(right: Array) -> list[float]:
    """Return numbers that only show the form of an answer."""
    return [round(1.5 * number, 2) for number in range(1, right.size + 1)]


def _last_place(number: float) -> int:
    """Return the place of the last digit of a number that is not 0, as it is written: -2 for 16.91."""
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def _place(number: float, digits: int) -> int:
    """Return the place of one of the significant digits of a number that is not 0: -1 for the third of 16.91."""
    return Decimal(repr(number)).adjusted() - (digits - 1)


def _half_a_unit(values: Array, digits: int) -> Array:
    """Return half a unit of the last place to which each entry of an answer is given.

    An entry is given to its last digit, and to a number of significant digits at least. Who rounds all entries to the
    same decimal place gives the small ones to this place; but then the largest entry has that many significant digits.
    """
    given = [float(value) for value in values if value]
    if not given:
        return np.zeros(values.shape)
    common, coarsest = min(map(_last_place, given)), max(_place(value, digits) for value in given)
    own = [min(_last_place(value), _place(value, digits)) if value else common for value in map(float, values)]
    return 0.5 * 10.0 ** np.array([min(max(place, common), coarsest) for place in own])


def _is_coarse(values: Array) -> bool:
    """Say whether no entry of an answer has three significant digits."""
    given = [float(value) for value in values if value]
    return bool(given) and all(_last_place(value) > _place(value, _DIGITS) for value in given)


# ---- What counts as rounding -----------------------------------------------------------------------


def _sizes(system: System, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
    """Return how large the terms are of which each torque is the sum, in its own unit."""
    if isinstance(system, Robot):
        return newton_euler.sizes_of_terms(system, q, dq, ddq, **loads)
    q, dq, ddq, Gamma = velocities.motion_of(system, q, dq, ddq)
    parts = [
        newton_euler.sizes_of_terms(chain, *motion) if dynamics.has_inertia(chain) else np.zeros(chain.n)
        for chain, *motion in zip(system.chains, *map(system.parts, (q, dq, ddq)), strict=True)
    ]
    sizes, walk = np.concatenate(parts), Walk(system, q)
    for load in loads.get("loads", ()):
        sizes = sizes + np.abs(walk.point_jacobian(load.place)).T @ np.abs(walk.push(load))
    return np.asarray(np.abs(Gamma).T @ sizes)
