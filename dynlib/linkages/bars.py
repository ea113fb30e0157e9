"""Linkages of bars with closed forms: five-bar, four-bar and slider-crank."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dynlib.algebra.arrays import Array, free_symbols
from dynlib.closed_chains.constraints import ClosureError
from dynlib.frames import position
from dynlib.linkages.linkage import (
    TOUCHING,
    Condition,
    Linkage,
    Mode,
    _angle,
    _chain,
    _direction,
    _moved,
    _plain,
    _reach,
    _read,
    _refuse_lengths,
    _refuse_too_short,
    _snapped,
    _together,
    _wrapped,
    circle_meets_line,
    circles_meet,
)
from dynlib.model.closures import Pin, Point
from dynlib.model.links import Body, Link
from dynlib.model.robot import Robot


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
