r"""Closures: what joins open chains to closed ones, and what each condition asks of positions, rates and accelerations.

All vectors are written in world axes. The multipliers of a closure are forces on the link that carries its point ``a``.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from dynlib.algebra.arrays import Array, Data, apply, as_array, cross, dot, free_symbols, sqrt
from dynlib.algebra.equation import equation
from dynlib.frames import Z, position, rotation


@dataclass(frozen=True, eq=False)
class Point(Data):
    """A point that a link carries, or the ground.

    Attributes:
        chain: number of the chain, from 1; 0 for the ground.
        link: number of the link in it, from 1; None for the tip of the chain.
        at: the point in the axes of that link (or of the tip, or of the world), shape (3,), in m.

    >>> Point(1).at  # the tip of chain 1
    array([0., 0., 0.])
    """

    chain: int
    link: int | None = None
    at: Any = (0, 0, 0)

    def __post_init__(self) -> None:
        numbers: dict[str, Any] = {"chain": self.chain, "link": self.link}
        for name, number in numbers.items():
            if number is not None and (isinstance(number, bool) or not isinstance(number, Integral)):
                raise TypeError(f"{name} of a point is {number!r}; expected a whole number, such as 1.")
        object.__setattr__(self, "at", as_array(self.at, "at", (3,)))

    def __str__(self) -> str:
        where = "the ground" if not self.chain else f"chain {self.chain}"
        part = "" if not self.chain else "the tip of " if self.link is None else f"link {self.link} of "
        return part + where


@dataclass(frozen=True, eq=False)
class Carried:
    r"""What is known of a point and of the link that carries it, in world axes; of motion only what was asked for.

    Attributes:
        pose: the link's axes at the point, shape (..., 4, 4), in m.
        J: velocity and angular velocity by joint rates, shape (..., 6, n).
        v: velocity and angular velocity, shape (..., 6), in m/s and rad/s.
        a: acceleration and angular acceleration while all joint accelerations are 0, shape (..., 6).
    """

    pose: Array
    J: Array | None = None
    v: Array | None = None
    a: Array | None = None


class Closure(Protocol):
    """A condition between two points; the multipliers are forces on what carries the first of them."""

    a: Point
    b: Point

    @property
    def rows(self) -> tuple[str, ...]:
        """Return a name of each equation."""

    def gap(self, a: Carried, b: Carried) -> Array:
        r"""Return :math:`\phi`, shape (..., rows), in m."""

    def jacobian(self, a: Carried, b: Carried) -> Array:
        r"""Return :math:`J=\partial\phi/\partial q`, shape (..., rows, n)."""

    def bias(self, a: Carried, b: Carried) -> Array:
        r"""Return :math:`\dot J\dot q`, shape (..., rows), in m/s²."""


@equation("phi", r"\phi", r"p_a - p_b", source="B1.11")
def pin_gap(p_a: Array, p_b: Array) -> Array:
    """Gap of a pin: two points are one."""
    return p_a - p_b


@equation("phi", r"\phi", r"\lvert p_a - p_b\rvert - l", source="E33")
def rod_gap(p_a: Array, p_b: Array, length: Array) -> Array:
    """Gap of a rod: two points keep their distance."""
    return sqrt(dot(p_a - p_b, p_a - p_b)) - length


@equation("phi", r"\phi", r"\hat{n}_b^{\top}(p_a - p_b)", source="E33")
def slot_gap(p_a: Array, p_b: Array, normal: Array) -> Array:
    """Gap of a slot: a point stays on a line that another link carries."""
    return dot(normal, p_a - p_b)


@dataclass(frozen=True, eq=False)
class Pin(Data):
    r"""Two points are one: a pin in the plane, or a ball joint in space.

    The multipliers are the components of the force *on* the link of ``a``, exerted by the link of ``b``, in world axes.

    Attributes:
        a: a point.
        b: the point that is to coincide with it.
        axes: in which directions; ``"xy"`` for a mechanism in the plane, ``"xyz"`` in space.

    Raises:
        ValueError: unknown axes.

    >>> Pin(Point(1), Point(2)).rows
    ('x', 'y')
    """

    a: Point
    b: Point
    axes: str = "xy"

    def __post_init__(self) -> None:
        if not self.axes or set(self.axes) - set("xyz") or len(set(self.axes)) < len(self.axes):
            raise ValueError(f'axes is {self.axes!r}; expected "xy" (in the plane) or "xyz" (in space).')

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the name of each equation: its direction."""
        return tuple(self.axes)

    @property
    def _chosen(self) -> list[int]:
        return ["xyz".index(axis) for axis in self.axes]

    def gap(self, a: Carried, b: Carried) -> Array:
        """Return the distances along the axes, in m."""
        return np.asarray(pin_gap(position(a.pose), position(b.pose)))[..., self._chosen]

    def jacobian(self, a: Carried, b: Carried) -> Array:
        """Return the velocity of a against b by joint rates."""
        assert a.J is not None
        assert b.J is not None
        return (a.J - b.J)[..., self._chosen, :]

    def bias(self, a: Carried, b: Carried) -> Array:
        """Return the acceleration of a against b while no joint is accelerated, in m/s²."""
        assert a.a is not None
        assert b.a is not None
        return (a.a - b.a)[..., self._chosen]

    def __str__(self) -> str:
        return f"pin of {self.a} to {self.b}"


@dataclass(frozen=True, eq=False)
class Rod(Data):
    """Two points keep their distance, as if a massless rod with a pin at either end joined them.

    The multiplier is the force *on* the link of ``a`` along the rod, in N, positive if the rod pushes the points apart.

    Attributes:
        a: a point.
        b: another one.
        length: their distance, in m.

    Raises:
        ValueError: a length that is not positive.

    >>> Rod(Point(1), Point(0), length=2).length
    array(2.)
    """

    a: Point
    b: Point
    length: Any

    def __post_init__(self) -> None:
        length = as_array(self.length, "length of the rod", ())
        if not free_symbols(length) and not length > 0:
            raise ValueError(
                f"length of the rod is {length} m; expected more than 0. For two points in one, use a Pin."
            )
        object.__setattr__(self, "length", length)

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the name of the equation."""
        return ("length",)

    def gap(self, a: Carried, b: Carried) -> Array:
        """Return how much too long the distance is, in m."""
        return np.asarray(rod_gap(position(a.pose), position(b.pose), self.length))[..., None]

    def jacobian(self, a: Carried, b: Carried) -> Array:
        """Return the rate of the distance by joint rates."""
        assert a.J is not None
        assert b.J is not None
        along = _unit(position(a.pose) - position(b.pose))
        return along[..., None, :] @ (a.J - b.J)[..., :3, :]

    def bias(self, a: Carried, b: Carried) -> Array:
        """Return the second rate of the distance while no joint is accelerated, in m/s²."""
        assert a.a is not None
        assert b.a is not None
        assert a.v is not None
        assert b.v is not None
        d, v = position(a.pose) - position(b.pose), (a.v - b.v)[..., :3]
        along, distance = _unit(d), sqrt(dot(d, d))
        return np.asarray(dot(along, (a.a - b.a)[..., :3]) + (dot(v, v) - dot(along, v) ** 2) / distance)[..., None]

    def __str__(self) -> str:
        return f"rod between {self.a} and {self.b}"


@dataclass(frozen=True, eq=False)
class Slot(Data):
    r"""A point slides along a straight line that another link, or the ground, carries, in the plane.

    The line has no ends, and there is no friction between point and line. For friction, or for the place of the point
    on the line as a coordinate, take a chain with a prismatic joint instead, and a pin.

    The multiplier is the force *on* the link of ``a`` across the slot, in N, along :math:`\hat n`, which is the
    direction of the slot turned by +90 degrees.

    Attributes:
        a: the point that slides.
        b: a point of the slot.
        direction: of the slot, in the axes of the link of ``b`` (or of the world), shape (3,), of any length.

    Raises:
        ValueError: a direction of length 0.

    >>> Slot(Point(1), Point(0), direction=[2, 0, 0]).direction
    array([1., 0., 0.])
    """

    a: Point
    b: Point
    direction: Any

    def __post_init__(self) -> None:
        direction = as_array(self.direction, "direction of the slot", (3,))
        if not free_symbols(direction) and not direction.any():
            raise ValueError(
                "direction of the slot is [0, 0, 0]; expected a direction in the plane, such as [1, 0, 0]."
            )
        object.__setattr__(self, "direction", _unit(direction))

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the name of the equation."""
        return ("across the slot",)

    def _normal(self, b: Carried) -> Array:
        along = apply(rotation(b.pose), self.direction)
        return cross(Z + 0 * along, along)

    def gap(self, a: Carried, b: Carried) -> Array:
        """Return the distance from the line, in m."""
        return np.asarray(slot_gap(position(a.pose), position(b.pose), self._normal(b)))[..., None]

    def jacobian(self, a: Carried, b: Carried) -> Array:
        """Return the rate of the distance by joint rates; the line may turn."""
        assert a.J is not None
        assert b.J is not None
        n, d = self._normal(b), position(a.pose) - position(b.pose)
        straight = n[..., None, :] @ (a.J - b.J)[..., :3, :]
        return straight + cross(n, d)[..., None, :] @ b.J[..., 3:, :]

    def bias(self, a: Carried, b: Carried) -> Array:
        """Return the second rate of the distance while no joint is accelerated, in m/s²."""
        assert a.a is not None
        assert b.a is not None
        assert a.v is not None
        assert b.v is not None
        n, d, v = self._normal(b), position(a.pose) - position(b.pose), (a.v - b.v)[..., :3]
        omega, domega = b.v[..., 3:], b.a[..., 3:]
        turned = cross(domega, n) + cross(omega, cross(omega, n))
        found = dot(n, (a.a - b.a)[..., :3]) + 2 * dot(cross(omega, n), v) + dot(turned, d)
        return np.asarray(found)[..., None]

    def __str__(self) -> str:
        return f"slot of {self.b} for {self.a}"


def _unit(vector: Array) -> Array:
    return vector / sqrt(np.asarray(dot(vector, vector)))[..., None]
