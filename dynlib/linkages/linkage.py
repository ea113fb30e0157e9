r"""What all linkages in the plane share whose positions have closed forms.

Two links that meet in a pin reach it in two ways: the pin lies on the left or on the right of the line between their
far ends. A *mode* is a tuple of such sides, ``+1`` for left and ``-1`` for right. An **assembly mode** says how the
mechanism is put together when the inputs are known, a **working mode** how it reaches a wanted output.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
import sympy

from dynlib import hints
from dynlib.algebra.arrays import (
    Array,
    arctan2,
    as_array,
    as_exact,
    as_floats,
    cos,
    free_symbols,
    is_symbolic,
    one_kind,
    sin,
    sqrt,
)
from dynlib.algebra.equation import equation
from dynlib.closed_chains.constraints import ClosureError, refuse_symbols
from dynlib.frames import position
from dynlib.given import shown
from dynlib.model.closures import Point
from dynlib.model.links import Body, Link
from dynlib.model.mechanism import Mechanism
from dynlib.model.robot import Robot

Mode = tuple[int, ...]
"""Sides, each +1 (left) or -1 (right)."""
TOUCHING = 2e-11
"""Circles that miss touching by less than this share of their radii count as touching (dimensionless)."""
_WORDS = {1: "left", -1: "right"}


# ---- Where circles and lines meet ------------------------------------------------------------------


@equation(
    "C",
    r"C",
    r"A + s\,(B - A) \pm \sqrt{\frac{((a+b)^2 - d^2)(d^2 - (a-b)^2)}{4 d^4}}\;\hat{z} \times (B - A), \quad "
    r"s = \frac{d^2 + a^2 - b^2}{2 d^2}, \quad d = \lvert AB \rvert",
    source="2.5",
)
def circles_meet(A: Array, a: Array, B: Array, b: Array, side: int) -> Array:
    """Point at the distance a from A and b from B, on the left (side +1) or right (-1) of the line from A to B."""
    along = B - A
    d2 = np.asarray((along * along).sum(axis=-1))
    if not is_symbolic(d2):
        d2 = np.where(d2 == 0, 1.0, d2)  # circles about one point meet nowhere, or everywhere
    s = np.asarray((d2 + a**2 - b**2) / (2 * d2))
    square = np.asarray(((a + b) ** 2 - d2) * (d2 - (a - b) ** 2) / (4 * d2**2))
    if not is_symbolic(square):  # the square root would make much of a little rounding
        inner, outer = np.abs(d2 - (a - b) ** 2), np.abs((a + b) ** 2 - d2)
        square = np.where(np.minimum(inner, outer) <= 2 * TOUCHING * (a + b) ** 2, 0.0, np.maximum(square, 0.0))
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    return A + s[..., None] * along + side * sqrt(square)[..., None] * across


@equation("C", r"C", r"\left(A_x \pm \sqrt{a^2 - (A_y - e)^2},\ e\right)", source="2.5")
def circle_meets_line(A: Array, a: Array, e: Array, side: int) -> Array:
    """Point of the line y = e at the distance a from A, on the side of growing (+1) or falling (-1) x."""
    square = np.asarray(a**2 - (A[..., 1] - e) ** 2)
    if not is_symbolic(square):
        square = np.where(np.abs(square) <= 2 * TOUCHING * a**2, 0.0, np.maximum(square, 0.0))
    return np.stack(np.broadcast_arrays(A[..., 0] + side * sqrt(square), e), axis=-1)


@dataclass(frozen=True)
class Condition:
    """A length that must lie between two others, or the linkage does not close (E33).

    Attributes:
        words: which length and which bounds.
        low: how much longer it is than the lower bound, shape (...,), in m; infinite if there is none.
        high: how much shorter than the upper bound, shape (...,), in m.
    """

    words: str
    low: Array
    high: Array

    @property
    def margin(self) -> Array:
        """Return how far the length is from its nearer bound, shape (...,), in m; negative beyond it."""
        return np.minimum(self.low, self.high)


def _reach(words: str, A: Array, a: Array, B: Array, b: Array) -> Condition:
    """Return the condition that circles about A and B meet; the slack of touching counts as meeting."""
    d = np.sqrt(((B - A) ** 2).sum(axis=-1))
    slack = TOUCHING * (a + b)
    low = np.where(d <= slack, -np.maximum(np.abs(a - b), slack), _snapped(d - np.abs(a - b), slack))
    return Condition(words, low, _snapped(a + b - d, slack))


def _snapped(margin: Array, slack: Array) -> Array:
    return np.where(np.abs(margin) <= slack, 0.0, margin)


def _refuse(name: str, conditions: Sequence[Condition], what: str, value: Array) -> None:
    """Raise an error for the first value for which a condition does not hold."""
    for condition in conditions:
        bad = np.broadcast_to(condition.margin < 0, value.shape[:-1])
        if bad.any():
            index = tuple(np.argwhere(bad)[0])
            low, high = (np.broadcast_to(each, bad.shape)[index] for each in (condition.low, condition.high))
            how = f"too short by {-low:.4g} m" if low < 0 else f"too long by {-high:.4g} m"
            raise ClosureError(
                f"{name} does not close for the {what} {value[index].tolist()}: {condition.words} does not hold "
                f"here, so the links cannot meet: the distance is {how}.",
                float(max(-low, -high)),
            )


# ---- What all linkages share -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Linkage(Mechanism):
    """A mechanism whose positions have closed forms; made by the functions below.

    Attributes:
        assembly_sides: what each side of an assembly mode is about.
        working_sides: what each side of a working mode is about.
    """

    assembly_sides: ClassVar[tuple[str, ...]] = ()
    working_sides: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if hints.is_made_anew():
            hints.give(hints.gravity_across(self.gravity))

    def _doubts(self) -> Iterator[str]:
        """Yield what looks like another unit, sign or axis in its gravity."""
        yield from [*hints.gravity_across(self.gravity)] or super()._doubts()

    @property
    def output(self) -> Point:
        """Return the point that the linkage is there to move."""
        raise NotImplementedError

    def conditions(self, inputs: Any, mode: Sequence[int]) -> tuple[Condition, ...]:
        """Return what must hold so that the linkage closes (E33).

        Args:
            inputs: values of the inputs, numbers of shape (..., m), in rad or m.
            mode: an assembly mode.

        Returns:
            One :class:`Condition` after the other; NaN where the point that it is about does not exist.

        Raises:
            ValueError: no such mode, symbols, or a wrong length, shape or number.
        """
        refuse_symbols(self, "conditions")
        return self._conditions(self.input_values("inputs", inputs), self._checked(mode, self.assembly_sides))

    def _conditions(self, u: Array, mode: Mode) -> tuple[Condition, ...]:
        """Return the conditions for inputs."""
        raise NotImplementedError

    def _closed(self, inputs: Array, mode: Mode) -> Array:
        """Return all coordinates for inputs for which the conditions hold."""
        raise NotImplementedError

    def positions(self, inputs: Any, mode: Sequence[int]) -> Array:
        r"""Return the position of one assembly mode, in closed form (2.5, B1.14).

        Args:
            inputs: values of the inputs, shape (..., m), in rad or m; numbers or symbols.
            mode: an assembly mode: a side, +1 (left) or -1 (right), for each of ``assembly_sides``.

        Returns:
            q, shape (..., n), in rad or m; dependent angles between :math:`-\pi` and :math:`\pi`.

        Raises:
            ClosureError: the linkage does not close; the message names the condition that does not hold (E33).
            ValueError: no such mode, or a wrong length, shape or number.
        """
        u, mode = self.input_values("inputs", inputs), self._checked(mode, self.assembly_sides)
        turning = [self.chains[chain - 1].links[joint - 1].joint == "revolute" for chain, joint in self.inputs]
        hints.give(hints.joint_angles(u, turning, lambda i: self.joint_name(self.u[i])))
        if not is_symbolic(u):
            _refuse(self.name, self._conditions(u, mode), "inputs", u)
        return self._closed(u, mode)

    def assembly_modes(self, inputs: Any) -> dict[Mode, Array]:
        """Return the positions of all assembly modes that exist.

        Args:
            inputs: values of the inputs, shape (m,), in rad or m.

        Returns:
            Positions, each (n,), by mode; none if the linkage does not close at all.
        """
        return self._existing(self.positions, inputs, self.assembly_sides)

    def working_position(self, output: Any, mode: Sequence[int]) -> Array:
        """Return the position in which the output has a wanted value, in one working mode.

        Along a path of the output the assembly mode may change, where the inputs do not determine the motion; look at
        the sign of ``forward`` of :func:`dynlib.closed_chains.singular.singularity`.

        Args:
            output: where the output point is to be, shape (..., 2), in m; for a four-bar the angle of the rocker, for a
                slider-crank the place of the slider, each of shape (..., 1).
            mode: a working mode: a side, +1 (left) or -1 (right), for each of ``working_sides``.

        Returns:
            q, shape (..., n), in rad or m.

        Raises:
            ClosureError: out of reach; the message names the condition that does not hold.
            ValueError: no such mode, or a wrong length, shape or number.
        """
        wanted = self._wanted(output)
        q, conditions = self._worked(wanted, self._checked(mode, self.working_sides))
        if not is_symbolic(wanted):
            _refuse(self.name, conditions, "output", wanted)
        return q

    def working_conditions(self, output: Any, mode: Sequence[int]) -> tuple[Condition, ...]:
        """Return what must hold so that the linkage reaches an output, one chain after the other.

        Args:
            output: as for :meth:`working_position`.
            mode: a working mode.
        """
        refuse_symbols(self, "working_conditions")
        return self._worked(self._wanted(output), self._checked(mode, self.working_sides))[1]

    def _wanted(self, output: Any) -> Array:
        wanted, width = as_array(output, "output", (None,), batch=True), 2 if self.m == 2 else 1
        if wanted.shape[-1] != width:
            raise ValueError(f"output has {wanted.shape[-1]} entries; {self.name} needs {width}.")
        return (as_exact if self.is_symbolic else as_floats)(wanted)

    def _worked(self, output: Array, mode: Mode) -> tuple[Array, tuple[Condition, ...]]:
        """Return all coordinates for an output, and the conditions under which they are right."""
        raise NotImplementedError

    def working_modes(self, output: Any) -> dict[Mode, Array]:
        """Return the positions of all working modes that reach an output; see :meth:`working_position`.

        Returns:
            Positions, each (n,), by mode; none if it is out of reach.
        """
        return self._existing(self.working_position, output, self.working_sides)

    def _existing(self, find: Any, value: Any, sides: tuple[str, ...]) -> dict[Mode, Array]:
        found = {}
        for mode in product((1, -1), repeat=len(sides)):
            try:
                found[mode] = find(value, mode)
            except ClosureError:
                continue
        return found

    def _checked(self, mode: Sequence[int], sides: tuple[str, ...]) -> Mode:
        about = "; ".join(sides) or "nothing"
        count = f"{len(sides)} side{'s' if len(sides) != 1 else ''}, each +1 (left) or -1 (right): {about}."
        if isinstance(mode, str | dict) or not isinstance(mode, Iterable):
            raise TypeError(f"mode is {shown(mode)}; expected a list, such as {[1] * len(sides)}, of {count}")
        mode = tuple(mode)
        if len(mode) != len(sides) or any(side not in (1, -1) for side in mode):
            raise ValueError(f"mode {mode} does not exist; expected {count}")
        return tuple(int(side) for side in mode)

    def describe(self, mode: Sequence[int], working: bool = False) -> str:
        """Return an assembly or a working mode in words.

        Args:
            mode: the sides.
            working: whether it is a working mode.
        """
        sides = self.working_sides if working else self.assembly_sides
        mode = self._checked(mode, sides)
        return ", ".join(f"{side} on the {_WORDS[sign]}" for side, sign in zip(sides, mode, strict=True))

    # -- Pieces of chains; all points have the shape (..., 2)

    def _base(self, chain: int) -> Array:
        return np.asarray(position(self.chains[chain - 1].base)[:2])

    def _lengths(self, chain: int) -> tuple[Array, Array]:
        """Return the two lengths of a chain of two links along their x axes."""
        leg = self.chains[chain - 1]
        return np.asarray(position(leg.links[1].fixed)[0]), np.asarray(position(leg.tool)[0])

    def _elbow(self, chain: int, angle: Array) -> Array:
        """Return the far end of the first link of a chain."""
        return self._base(chain) + self._lengths(chain)[0] * _direction(angle)

    def _leg(self, chain: int, elbow: Array, end: Array) -> list[Array]:
        """Return both angles of a chain of two links."""
        first, second = _angle(elbow - self._base(chain)), _angle(end - elbow)
        return [first, _wrapped(second - first)]

    def _leg_to(self, chain: int, end: Array, side: int, beyond: Array | None = None) -> tuple[list[Array], Condition]:
        """Return both angles of a chain that reaches a point with its end, or beyond it, and the condition for it."""
        O, (l1, l2) = self._base(chain), self._lengths(chain)
        l2 = l2 if beyond is None else l2 + beyond
        elbow = circles_meet(O, l1, end, l2, side)
        l = f"l{chain}"
        words = f"|{l}1 - {l}2| <= the distance of its end from O{chain} <= {l}1 + {l}2, for chain {chain},"
        condition = Condition(words, l1, l1) if is_symbolic(end) else _reach(words, O, l1, end, l2)
        return self._leg(chain, elbow, end), condition


def _direction(angle: Array) -> Array:
    angle = np.asarray(angle)
    return np.stack([cos(angle), sin(angle)], axis=-1)


def _angle(direction: Array) -> Array:
    return arctan2(direction[..., 1], direction[..., 0])


def _wrapped(angle: Array) -> Array:
    """Return an angle between -pi and pi."""
    return angle if is_symbolic(np.asarray(angle)) else np.pi - np.remainder(np.pi - angle, 2 * np.pi)


def _together(*coordinates: Array) -> Array:
    return np.stack(np.broadcast_arrays(*map(np.asarray, coordinates)), axis=-1)


# ---- Two links, and what stands on them ------------------------------------------------------------


def two_link_angles(l1: Any, l2: Any, target: Any, side: int) -> Array:
    """Return the angles with which two links reach a point: inverse positions of the planar 2R.

    Args:
        l1: length of the first link, in m.
        l2: length of the second link, in m.
        target: the point, seen from the base, shape (..., 2), in m.
        side: +1 if the elbow lies on the left of the line from the base to the point, -1 on the right.

    Returns:
        Both joint angles, the second relative, shape (..., 2), in rad.

    Raises:
        ClosureError: the point is out of reach, or it is the base itself and both links are equally long.
        ValueError: a wrong shape or side, or a length that is not positive.

    >>> two_link_angles(0.3, 0.2, [0.5, 0], 1)  # at full stretch
    array([0., 0.])
    """
    lengths = [as_array(value, name, ()) for name, value in (("l1", l1), ("l2", l2))]
    point = as_array(target, "target", (2,), batch=True)
    for name, length in zip(("l1", "l2"), lengths, strict=True):
        if not free_symbols(length) and not length > 0:
            raise ValueError(f"{name} is {length} m; expected more than 0.")
    if side not in (1, -1):
        raise ValueError(f"side is {side}; expected +1 (elbow on the left) or -1 (on the right).")
    first, second = lengths
    if not is_symbolic(point):
        centre = np.sqrt((point**2).sum(axis=-1)) <= TOUCHING * (first + second)
        if first == second and centre.any():
            raise ClosureError("the target is the base itself: the folded chain reaches it with any first angle.")
        reach = _reach("|l1 - l2| <= the distance of the target <= l1 + l2", 0 * point, first, point, second)
        _refuse("the chain", [reach], "target", point)
    elbow = circles_meet(0 * point, first, point, second, side)
    angle = _angle(elbow)
    return _together(angle, _wrapped(_angle(point - elbow) - angle))


def _chain(base: Any, lengths: Sequence[Any], bodies: Sequence[Body], gravity: Any, name: str = "chain") -> Robot:
    """Return a chain of two links along their x axes."""
    l1, l2 = lengths
    links = [Link("revolute", _moved(0), bodies[0]), Link("revolute", _moved(l1), bodies[1])]
    return Robot(links, gravity, _moved(*base), _moved(l2), name=name)


def _moved(x: Any, y: Any = 0) -> list[list[Any]]:
    return [[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, 0], [0, 0, 0, 1]]


def _read(left_out: Sequence[str] = (), **given: tuple[Any, tuple[int, ...]]) -> dict[str, Array]:
    """Read data of a linkage by name, each with its shape, and make them all exact or all floats."""
    read = {name: as_array(value, name, shape) for name, (value, shape) in given.items()}
    try:
        return one_kind(read)
    except TypeError as error:
        if left_out:
            raise TypeError(f"{error} Symbols stand for what was left out: {', '.join(left_out)}.") from None
        raise


def _refuse_lengths(lengths: dict[str, Array], least: float = 1e-300) -> None:
    """Raise an error for a length that is negative, or 0."""
    for name, array in lengths.items():
        for length in array.flat:
            if not getattr(length, "free_symbols", None) and length < least:
                expected = "more than 0" if least else "at least 0"
                raise ValueError(f"{name} holds the length {float(length):g} m; expected {expected}.")


def _refuse_too_short(name: str, bases: Array, lengths: Array) -> None:
    """Raise an error if two chains of two links cannot meet, wherever their links point."""
    if free_symbols(bases) or free_symbols(lengths):
        return
    bases, lengths = as_floats(bases), as_floats(lengths)
    for i, j in combinations(range(len(bases)), 2):
        apart = float(np.linalg.norm(bases[j] - bases[i]))
        bars = [apart, *lengths[i].tolist(), *lengths[j].tolist()]
        if 2 * max(bars) > sum(bars) * (1 + TOUCHING):
            what = "distance of their bases" if max(bars) == apart else "longest link"
            raise ClosureError(
                f"{name} closes for no inputs: of chains {i + 1} and {j + 1} the {what}, {max(bars):g} m, is longer "
                f"than the rest together, {sum(bars) - max(bars):g} m."
            )


def _plain(entries: Array) -> list[Any]:
    return [entry if isinstance(entry, sympy.Basic) else float(entry) for entry in entries]
