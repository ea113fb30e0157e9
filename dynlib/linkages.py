r"""Linkages in the plane whose positions have closed forms: the three-legged arm of document B, five-bar, four-bar and
slider-crank.

Two links that meet in a pin reach it in two ways: the pin lies on the left or on the right of the line between their
far ends. A *mode* is a tuple of such sides, ``+1`` for left and ``-1`` for right. An **assembly mode** says how the
mechanism is put together when the inputs are known, a **working mode** how it reaches a wanted output.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, ClassVar, Literal

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
from dynlib.model.closures import Pin, Point
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


# ---- The three-legged arm of document B ------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ThreeLegged(Linkage):
    r"""The arm of document B: three chains of two links meet in C; P lies on the extension of link 12.

    Coordinates: :math:`\theta_{11},\theta_{12},\theta_{21},\theta_{22},\theta_{31},\theta_{32}`, the second of a chain
    relative to the first. Inputs: :math:`\theta_{21},\theta_{31}`.

    Attributes:
        l_pc: distance from C to P, in m.
    """

    l_pc: Any = 0
    assembly_sides: ClassVar[tuple[str, ...]] = ("C of the line from B2 to B3", "elbow B1 of the line from O1 to C")
    working_sides: ClassVar[tuple[str, ...]] = (
        "elbow B1 of the line from O1 to P",
        "elbow B2 of the line from O2 to C",
        "elbow B3 of the line from O3 to C",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "l_pc", as_array(self.l_pc, "l_pc", ()))
        super().__post_init__()

    @property
    def C(self) -> Point:
        """Return the point in which the chains meet, as a point of chain 1."""
        return Point(1)

    @property
    def P(self) -> Point:
        """Return the output point, on link 12 beyond C."""
        return Point(1, at=[self.l_pc.item(), 0, 0])

    @property
    def output(self) -> Point:
        """Return P."""
        return self.P

    def _meeting_point(self, u: Array, side: int) -> tuple[Array, Array, Array]:
        """Return the elbows of chains 2 and 3, and C."""
        B2, B3 = self._elbow(2, u[..., 0]), self._elbow(3, u[..., 1])
        return B2, B3, circles_meet(B2, self._lengths(2)[1], B3, self._lengths(3)[1], side)

    def _conditions(self, u: Array, mode: Mode) -> tuple[Condition, ...]:
        B2, B3, C = self._meeting_point(u, mode[0])
        words = "|l22 - l32| <= |B2 B3| <= l22 + l32"
        first = _reach(words, B2, self._lengths(2)[1], B3, self._lengths(3)[1])
        words = "|l11 - l12| <= |O1 C| <= l11 + l12"
        second = _reach(words, self._base(1), self._lengths(1)[0], C, self._lengths(1)[1])
        low, high = (np.where(first.margin < 0, np.nan, each) for each in (second.low, second.high))
        return first, Condition(words, low, high)

    def _closed(self, u: Array, mode: Mode) -> Array:
        B2, B3, C = self._meeting_point(u, mode[0])
        leg1, _ = self._leg_to(1, C, mode[1])
        second, third = (_wrapped(_angle(C - B) - u[..., k]) for k, B in enumerate((B2, B3)))
        return _together(*leg1, u[..., 0], second, u[..., 1], third)

    def _worked(self, output: Array, mode: Mode) -> tuple[Array, tuple[Condition, ...]]:
        leg1, first = self._leg_to(1, output, mode[0], beyond=self.l_pc)
        l11, l12 = self._lengths(1)
        C = self._base(1) + l11 * _direction(leg1[0]) + l12 * _direction(leg1[0] + leg1[1])
        leg2, second = self._leg_to(2, C, mode[1])
        leg3, third = self._leg_to(3, C, mode[2])
        return _together(*leg1, *leg2, *leg3), (first, second, third)


def three_legged(
    bases: Any = None,
    lengths: Any = None,
    masses: Any = None,
    inertias: Any = None,
    l_pc: Any = None,
    m_pc: Any = None,
    *,
    end: Literal["rod", "point"] = "rod",
    gravity: Any = (0, 0, 0),
    name: str = "three-legged arm",
) -> ThreeLegged:
    r"""Return the arm of document B; what is left out is a symbol of the document.

    Args:
        bases: :math:`O_{10},O_{20},O_{30}`, shape (3, 2), in m; the document has :math:`O_{10}=(0,0)`.
        lengths: :math:`l_{i1},l_{i2}`, shape (3, 2), in m.
        masses: :math:`m_{i1},m_{i2}`, shape (3, 2), in kg; mass centres in the middle of the links.
        inertias: :math:`I_{i1}` about the *base pin* and :math:`I_{i2}` about the *mass centre* (E25, E26), shape
            (3, 2), in kg m². Left out: symbols if the masses are left out too, else those of uniform rods.
        l_pc: length from C to P, in m.
        m_pc: mass of what is between C and P, in kg.
        end: how the document's "rod l_pc" is read (E27): a uniform rod from C to P, or a point mass at P.
        gravity: the vector along which things fall, in m/s²; none for an arm in a horizontal plane (E28).
        name: shown in messages.

    Returns:
        The :class:`ThreeLegged` arm.

    Raises:
        ValueError: a wrong shape, or mass data that no body can have.

    >>> three_legged()
    three-legged arm: 6 coordinates, 4 closure equations, inputs joint 1 of chain 2, joint 1 of chain 3
    """
    if end not in ("rod", "point"):
        raise ValueError(f'end is {end!r}; expected "rod" (uniform, from C to P) or "point" (a mass at P).')

    def symbols(letter: str) -> list[list[sympy.Symbol]]:
        return [[sympy.Symbol(f"{letter}{i}{j}") for j in (1, 2)] for i in (1, 2, 3)]

    if bases is None:
        bases = [[0, 0], *([sympy.Symbol(f"x{i}0"), sympy.Symbol(f"y{i}0")] for i in (2, 3))]
    if inertias is None and masses is None:
        inertias = symbols("I")
    left_out = [
        key
        for key, value in (("lengths", lengths), ("masses", masses), ("l_pc", l_pc), ("m_pc", m_pc))
        if value is None
    ]
    read = _read(
        left_out,
        bases=(bases, (3, 2)),
        lengths=(symbols("l") if lengths is None else lengths, (3, 2)),
        masses=(symbols("m") if masses is None else masses, (3, 2)),
        l_pc=(sympy.Symbol("l_pc") if l_pc is None else l_pc, ()),
        m_pc=(sympy.Symbol("m_pc") if m_pc is None else m_pc, ()),
        inertias=([[0, 0]] * 3 if inertias is None else inertias, (3, 2)),
    )
    _refuse_lengths({"lengths": read["lengths"]})
    _refuse_lengths({"l_pc": read["l_pc"]}, least=0)
    _refuse_too_short(name, read["bases"], read["lengths"])
    l_pc, m_pc = read["l_pc"].item(), read["m_pc"].item()
    about = None if inertias is None else read["inertias"]
    chains = []
    for i in range(3):
        (l1, l2), (m1, m2) = (_plain(read[key][i]) for key in ("lengths", "masses"))
        bodies = [Body.rod(m1, l1), Body.rod(m2, l2)]
        if about is not None:
            I1, I2 = _plain(about[i])
            at_pin = I1 - m1 * l1**2 / 4
            bodies = [Body(m1, [l1 / 2, 0, 0], [0, at_pin, at_pin]), Body(m2, [l2 / 2, 0, 0], [0, I2, I2])]
        chains.append(_chain(_plain(read["bases"][i]), (l1, l2), bodies, gravity, f"chain {i + 1}"))
    payload = Body(m_pc, [l_pc, 0, 0]) if end == "point" else Body.rod(m_pc, l_pc)
    chains[0] = replace(chains[0], payload=payload)
    closures = [Pin(Point(1), Point(2)), Pin(Point(1), Point(3))]
    return ThreeLegged(chains, closures, [(2, 1), (3, 1)], name, l_pc)


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


# ---- Five-bar, four-bar, slider-crank --------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class FiveBar(Linkage):
    r"""Two chains of two links meet in P; both cranks are driven.

    Coordinates: crank and coupler of chain 1, then of chain 2, the couplers relative to their cranks.
    """

    assembly_sides: ClassVar[tuple[str, ...]] = ("P of the line from elbow B1 to elbow B2",)
    working_sides: ClassVar[tuple[str, ...]] = (
        "elbow B1 of the line from O1 to P",
        "elbow B2 of the line from O2 to P",
    )

    @property
    def output(self) -> Point:
        """Return P, as a point of chain 1."""
        return Point(1)

    def _meeting_point(self, u: Array, side: int) -> tuple[Array, Array, Array]:
        B1, B2 = self._elbow(1, u[..., 0]), self._elbow(2, u[..., 1])
        return B1, B2, circles_meet(B1, self._lengths(1)[1], B2, self._lengths(2)[1], side)

    def _conditions(self, u: Array, mode: Mode) -> tuple[Condition, ...]:
        B1, B2, _ = self._meeting_point(u, mode[0])
        words = "|l12 - l22| <= |B1 B2| <= l12 + l22"
        return (_reach(words, B1, self._lengths(1)[1], B2, self._lengths(2)[1]),)

    def _closed(self, u: Array, mode: Mode) -> Array:
        B1, B2, P = self._meeting_point(u, mode[0])
        first, second = (_wrapped(_angle(P - B) - u[..., k]) for k, B in enumerate((B1, B2)))
        return _together(u[..., 0], first, u[..., 1], second)

    def _worked(self, output: Array, mode: Mode) -> tuple[Array, tuple[Condition, ...]]:
        (leg1, first), (leg2, second) = (self._leg_to(chain, output, side) for chain, side in enumerate(mode, start=1))
        return _together(*leg1, *leg2), (first, second)


def five_bar(
    *,
    bases: Any,
    lengths: Any,
    masses: Any,
    payload: Any = 0,
    gravity: Any = (0, 0, 0),
    name: str = "five-bar",
) -> FiveBar:
    """Return a five-bar linkage of uniform rods.

    Args:
        bases: the two motors, shape (2, 2), in m.
        lengths: crank and coupler of each chain, shape (2, 2), in m.
        masses: of crank and coupler of each chain, shape (2, 2), in kg.
        payload: mass of a point that sits at P, in kg.
        gravity: the vector along which things fall, in m/s².
        name: shown in messages.

    Raises:
        ValueError: a wrong shape, or mass data that no body can have.

    >>> arm = five_bar(bases=[[0, 0], [1, 0]], lengths=[[1, 1], [1, 1]], masses=[[1, 1], [1, 1]])
    >>> arm.positions([np.pi / 2, np.pi / 2], mode=[1]).round(4)  # on top of a square
    array([ 1.5708, -0.5236,  1.5708,  0.5236])
    """
    read = _read(bases=(bases, (2, 2)), lengths=(lengths, (2, 2)), masses=(masses, (2, 2)), payload=(payload, ()))
    _refuse_lengths({"lengths": read["lengths"]})
    _refuse_too_short(name, read["bases"], read["lengths"])
    load = read.pop("payload").item()
    chains = []
    for number, (base, length, mass) in enumerate(zip(*map(list, read.values()), strict=True), start=1):
        rods = [Body.rod(m, l) for m, l in zip(_plain(mass), _plain(length), strict=True)]
        chains.append(_chain(_plain(base), _plain(length), rods, gravity, f"chain {number}"))
    if load != 0:
        chains[0] = replace(chains[0], payload=Body(load))
    return FiveBar(chains, [Pin(Point(1), Point(2))], [(1, 1), (2, 1)], name)


@dataclass(frozen=True, eq=False, repr=False)
class FourBar(Linkage):
    """A driven crank, a coupler, and a rocker on the other side.

    Coordinates: the crank, the coupler relative to it, and the rocker. The crank turns about the origin, the rocker
    about a point on the x axis.
    """

    assembly_sides: ClassVar[tuple[str, ...]] = (
        "the pin of coupler and rocker, of the line from crank end to rocker base",
    )
    working_sides: ClassVar[tuple[str, ...]] = ("crank end of the line from its base to the pin of coupler and rocker",)

    @property
    def output(self) -> Point:
        """Return the pin of coupler and rocker, as a point of the rocker."""
        return Point(2)

    @property
    def _rocker(self) -> Array:
        return np.asarray(position(self.chains[1].tool)[0])

    def _conditions(self, u: Array, mode: Mode) -> tuple[Condition, ...]:
        B = self._elbow(1, u[..., 0])
        words = "|coupler - rocker| <= the distance from the crank's end to the base of the rocker <= coupler + rocker"
        return (_reach(words, B, self._lengths(1)[1], self._base(2), self._rocker),)

    def _closed(self, u: Array, mode: Mode) -> Array:
        B = self._elbow(1, u[..., 0])
        C = circles_meet(B, self._lengths(1)[1], self._base(2), self._rocker, mode[0])
        return _together(u[..., 0], _wrapped(_angle(C - B) - u[..., 0]), _angle(C - self._base(2)))

    def _worked(self, output: Array, mode: Mode) -> tuple[Array, tuple[Condition, ...]]:
        C = self._base(2) + self._rocker * _direction(output[..., 0])
        leg, reach = self._leg_to(1, C, mode[0])
        return _together(*leg, output[..., 0]), (reach,)


def four_bar(
    *,
    ground: Any,
    crank: Any,
    coupler: Any,
    rocker: Any,
    masses: Any,
    gravity: Any = (0, 0, 0),
    name: str = "four-bar",
) -> FourBar:
    """Return a four-bar linkage of uniform rods, driven at the crank.

    Args:
        ground: distance of the two bases along x, in m.
        crank: length, in m.
        coupler: length, in m.
        rocker: length, in m.
        masses: of crank, coupler and rocker, shape (3,), in kg.
        gravity: the vector along which things fall, in m/s².
        name: shown in messages.

    Raises:
        ValueError: a wrong shape, mass data that no body can have, or lengths that close for no crank angle.

    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
    >>> bars.positions([np.pi / 2], mode=[1]).round(4)  # a parallelogram
    array([ 1.5708, -1.5708,  1.5708])
    """
    names = ("ground", "crank", "coupler", "rocker")
    read = _read(
        ground=(ground, ()), crank=(crank, ()), coupler=(coupler, ()), rocker=(rocker, ()), masses=(masses, (3,))
    )
    _refuse_lengths({key: read[key] for key in names})
    g, a, b, c = (read[key].item() for key in names)
    m1, m2, m3 = _plain(read["masses"])
    if not any(map(free_symbols, read.values())) and 2 * max(g, a, b, c) > (g + a + b + c) * (1 + TOUCHING):
        longest = names[[g, a, b, c].index(max(g, a, b, c))]
        raise ClosureError(
            f"{name} closes for no crank angle: the {longest}, {max(g, a, b, c):g} m, is longer than the other three "
            f"together, {g + a + b + c - max(g, a, b, c):g} m."
        )
    chain = _chain((0, 0), (a, b), [Body.rod(m1, a), Body.rod(m2, b)], gravity, "crank and coupler")
    other = Robot([Link("revolute", _moved(0), Body.rod(m3, c))], gravity, _moved(g), _moved(c), name="rocker")
    return FourBar([chain, other], [Pin(Point(1), Point(2))], [(1, 1)], name)


@dataclass(frozen=True, eq=False, repr=False)
class SliderCrank(Linkage):
    """A driven crank, a rod, and a slider on a line parallel to the x axis.

    Coordinates: the crank, the rod relative to it, and the slider's place along x. The crank turns about the origin.
    """

    assembly_sides: ClassVar[tuple[str, ...]] = ("slider, seen along +y from the crank's end (left is -x),",)
    working_sides: ClassVar[tuple[str, ...]] = ("crank end of the line from its base to the slider",)

    @property
    def output(self) -> Point:
        """Return the pin of rod and slider, as a point of the slider."""
        return Point(2)

    @property
    def _offset(self) -> Array:
        return np.asarray(self._base(2)[1])

    def _conditions(self, u: Array, mode: Mode) -> tuple[Condition, ...]:
        B, rod = self._elbow(1, u[..., 0]), self._lengths(1)[1]
        high = _snapped(rod - np.abs(B[..., 1] - self._offset), TOUCHING * rod)
        no_bound = np.full_like(high, np.inf)
        return (Condition("the height of the crank's end over the slider's line <= rod", no_bound, high),)

    def _closed(self, u: Array, mode: Mode) -> Array:
        B = self._elbow(1, u[..., 0])
        C = circle_meets_line(B, self._lengths(1)[1], self._offset, -mode[0])
        return _together(u[..., 0], _wrapped(_angle(C - B) - u[..., 0]), C[..., 0])

    def _worked(self, output: Array, mode: Mode) -> tuple[Array, tuple[Condition, ...]]:
        C = np.stack(np.broadcast_arrays(output[..., 0], self._offset), axis=-1)
        leg, reach = self._leg_to(1, C, mode[0])
        return _together(*leg, output[..., 0]), (reach,)


def slider_crank(
    *,
    crank: Any,
    rod: Any,
    masses: Any,
    offset: Any = 0,
    gravity: Any = (0, 0, 0),
    name: str = "slider-crank",
) -> SliderCrank:
    """Return a slider-crank of uniform rods, driven at the crank.

    Args:
        crank: length, in m.
        rod: length, in m.
        masses: of crank, rod and slider, shape (3,), in kg.
        offset: height of the slider's line over the base of the crank, in m.
        gravity: the vector along which things fall, in m/s².
        name: shown in messages.

    Raises:
        ValueError: a wrong shape, mass data that no body can have, or lengths that close for no crank angle.

    >>> slider_crank(crank=1, rod=2, masses=[1, 1, 1]).positions([0], mode=[-1])  # stretched out to the right
    array([0., 0., 3.])
    """
    read = _read(crank=(crank, ()), rod=(rod, ()), offset=(offset, ()), masses=(masses, (3,)))
    _refuse_lengths({key: read[key] for key in ("crank", "rod")})
    a, b, e = (read[key].item() for key in ("crank", "rod", "offset"))
    m1, m2, m3 = _plain(read["masses"])
    if not any(map(free_symbols, read.values())) and abs(e) > (a + b) * (1 + TOUCHING):
        raise ClosureError(f"{name} closes for no crank angle: offset {e:g} m, crank and rod together {a + b:g} m.")
    chain = _chain((0, 0), (a, b), [Body.rod(m1, a), Body.rod(m2, b)], gravity, "crank and rod")
    along_x = [[0, 0, 1, 0], [1, 0, 0, e], [0, 1, 0, 0], [0, 0, 0, 1]]
    other = Robot([Link("prismatic", _moved(0), Body(m3))], gravity, along_x, name="slider")
    return SliderCrank([chain, other], [Pin(Point(1), Point(2))], [(1, 1)], name)
