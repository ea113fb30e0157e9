r"""Velocity: how the velocities of the links follow from one another, from the base outward.

A velocity with a leading superscript, :math:`{}^{i}v_i`, is the velocity relative to the *fixed* frame, written in the
axes of :math:`\{i\}` (erratum E3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from dynlib import frames
from dynlib.algebra.arrays import Array, Data, apply, as_array, as_exact, as_floats, cross, transpose, zeros
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.frames import Z, compose, position, rotation
from dynlib.given import listed, refuse_other
from dynlib.model.closures import Point
from dynlib.model.links import Link, exact_identity
from dynlib.model.robot import Robot, refuse_no_robot

Axes = Literal["link", "tip", "base", "world"]

_CARRIED = r"{}^{i}_{i-1}R\left({}^{i-1}v_{i-1} + {}^{i-1}\omega_{i-1} \times {}^{i-1}p_{i}\right)"


@equation(
    "omega",
    r"{}^{i}\omega_{i}",
    r"{}^{i}_{i-1}R\,{}^{i-1}\omega_{i-1} + \dot{\theta}_{i}\,{}^{i}\hat{z}_{i}",
    source="A5.2.6-5, -6",
    prismatic=r"{}^{i}_{i-1}R\,{}^{i-1}\omega_{i-1}",
    prismatic_source="E7",
)
def angular_velocity(R: Array, omega: Array, turning: Array) -> Array:
    """Angular velocity of link i: that of its parent, and its own turning about the joint axis."""
    return apply(transpose(R), omega) + turning


@equation(
    "v",
    r"{}^{i}v_{i}",
    _CARRIED,
    source="A5.2.6-7, -8",
    prismatic=_CARRIED + r" + \dot{d}_{i}\,{}^{i}\hat{z}_{i}",
    prismatic_source="E7",
)
def linear_velocity(R: Array, v: Array, omega: Array, p: Array, sliding: Array) -> Array:
    """Velocity of the origin of frame i: of that point carried by the parent, and its own sliding."""
    return apply(transpose(R), v + cross(omega, p)) + sliding


@equation("v_c", r"{}^{i}v_{c_{i}}", r"{}^{i}v_{i} + {}^{i}\omega_{i} \times {}^{i}p_{c_{i}}", "A5.2.3-1")
def com_velocity(v: Array, omega: Array, p_c: Array) -> Array:
    """Velocity of the centre of mass, a fixed point of link i."""
    return v + cross(omega, p_c)


@dataclass(frozen=True)
class Steps:
    """The equations of the velocity chapter; a misconception is one of them replaced."""

    joint_transform: Equation = frames.joint_transform
    angular_velocity: Equation = angular_velocity
    linear_velocity: Equation = linear_velocity
    com_velocity: Equation = com_velocity


@dataclass(frozen=True, eq=False)
class BaseMotion(Data):
    r"""Motion of the base, relative to a fixed frame, written in {0}. All zero for a base at rest.

    Attributes:
        omega: :math:`{}^{0}\omega_0`, shape (..., 3), in rad/s.
        v: :math:`{}^{0}v_0`, shape (..., 3), in m/s.
        domega: :math:`{}^{0}\dot\omega_0`, shape (..., 3), in rad/s².
        dv: :math:`{}^{0}\dot v_0`, shape (..., 3), in m/s². Gravity is *not* put in here as well (E10).

    >>> BaseMotion(v=[1, 0, 0]).v
    array([1., 0., 0.])
    """

    omega: Any = (0, 0, 0)
    v: Any = (0, 0, 0)
    domega: Any = (0, 0, 0)
    dv: Any = (0, 0, 0)

    def __post_init__(self) -> None:
        for name in ("omega", "v", "domega", "dv"):
            object.__setattr__(self, name, as_array(getattr(self, name), f"{name} of the base", (3,), batch=True))


AT_REST = BaseMotion()
"""A base that stands still."""


@dataclass(frozen=True, eq=False)
class LinkVelocity:
    r"""What the velocity chapter knows of link i; vectors in the axes of {i}.

    Attributes:
        T: :math:`{}^{i-1}_{i}T`, shape (..., 4, 4), lengths in m.
        omega: :math:`{}^{i}\omega_i`, shape (..., 3), in rad/s.
        v: :math:`{}^{i}v_i` of the origin of frame i, shape (..., 3), in m/s.
        v_c: :math:`{}^{i}v_{c_i}` of the centre of mass, shape (..., 3), in m/s.
    """

    T: Array
    omega: Array
    v: Array
    v_c: Array


def outward(
    robot: Robot, q: Any, dq: Any, *, steps: Steps = Steps(), base: BaseMotion = AT_REST
) -> tuple[LinkVelocity, ...]:
    r"""Propagate the velocities from the base to the last link (A5.2.6-5 to -10 for any arm; E7).

    Args:
        robot: the arm.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        steps: the equations, for trying a wrong one.
        base: motion of the base.

    Returns:
        One :class:`LinkVelocity` a link.

    Raises:
        ValueError: a wrong length, shape or number.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> outward(arm, [0, 0], [1, 2])[1].v_c  # both links level: L1 dtheta1 + L2 (dtheta1 + dtheta2)
    array([0., 4., 0.])
    """
    refuse_other_steps(steps, Steps)
    refuse_no_robot(robot)
    q, dq = robot.state(q=q, dq=dq)
    return propagate(robot, q, dq, steps, read_base(robot, base))


def read_base(robot: Robot, base: BaseMotion) -> BaseMotion:
    """Return the motion of the base in the robot's kind of numbers, or say what was given instead."""
    refuse_other(base, BaseMotion, "base", "Give BaseMotion(v=[x, y, z], omega=[x, y, z]).")
    return at_rest(robot.is_symbolic) if base is AT_REST else robot.matched(base, "the base motion")


@lru_cache(maxsize=2)
def at_rest(exact: bool) -> BaseMotion:
    """Return :data:`AT_REST` as floats or as exact numbers."""
    return AT_REST.mapped(as_exact) if exact else AT_REST


def propagate(robot: Robot, q: Array, dq: Array, steps: Steps, base: BaseMotion) -> tuple[LinkVelocity, ...]:
    """Propagate velocities as :func:`outward`, from a state that was read."""
    parent: Any = base
    links: list[LinkVelocity] = []
    coms = robot.coms
    for i, link in enumerate(robot.links):
        turning, sliding = (Z * rate[..., None] for rate in link.split(dq[..., i]))
        T = steps.joint_transform(link.fixed, *link.split(q[..., i]))
        R, p = rotation(T), position(T)
        omega = steps.angular_velocity(R, parent.omega, turning)
        v = steps.linear_velocity(R, parent.v, parent.omega, p, sliding)
        v_c = steps.com_velocity(v, omega, coms[i])
        parent = LinkVelocity(T, omega, v, v_c)
        links.append(parent)
    return tuple(links)


@dataclass(frozen=True, eq=False)
class Wrench(Data):
    """A load: a force and a moment that the surroundings put *on* the arm, or on a mechanism.

    Attributes:
        force: shape (..., 3), in N.
        moment: about the point, shape (..., 3), in N m.
        link: number of the link that is loaded, 1 to N; None for the tip.
        point: where the force acts, in the axes of the link (or of the tip), shape (3,), in m.
        axes: in which axes force and moment are given: ``"link"`` (of the point's own link; for the tip those of the
            tip), ``"tip"``, ``"base"`` or ``"world"``.
        chain: of a mechanism: number of the chain, from 1; 0 for the ground, which bears every load.

    Raises:
        ValueError: a wrong shape or unknown axes.

    >>> Wrench(force=[0, 0, -10]).moment
    array([0., 0., 0.])
    """

    force: Any = (0, 0, 0)
    moment: Any = (0, 0, 0)
    link: int | None = None
    point: Any = (0, 0, 0)
    axes: Axes = "world"
    chain: int = 1

    def __post_init__(self) -> None:
        for name in ("force", "moment"):
            object.__setattr__(self, name, as_array(getattr(self, name), name, (3,), batch=True))
        object.__setattr__(self, "point", as_array(self.point, "point", (3,)))
        check_axes(self.axes)

    @classmethod
    def at(cls, place: Point, force: Any = (0, 0, 0), moment: Any = (0, 0, 0), axes: Axes = "world") -> "Wrench":
        """Return the load at a point of a mechanism.

        Args:
            place: where the force acts, and which link feels the moment, such as ``Point(1)`` or ``arm.P``.
            force: shape (..., 3), in N.
            moment: shape (..., 3), in N m.
            axes: in which axes both are given.

        Raises:
            TypeError: the place is no :class:`~dynlib.model.closures.Point`.

        >>> Wrench.at(Point(2), force=[0, -10, 0]).chain
        2
        """
        refuse_other(place, Point, "place of a load", "Give a Point, such as Point(1) for the tip of chain 1.")
        return cls(force, moment, place.link, place.at, axes, place.chain)

    @property
    def place(self) -> Point:
        """Return the point of a mechanism where the force acts."""
        return Point(self.chain, self.link, self.point)


@lru_cache(maxsize=2)
def no_load(exact: bool) -> Wrench:
    """Return a wrench of zeros, as floats or as exact numbers."""
    return Wrench(axes="tip").mapped(as_exact if exact else as_floats)


def listed_loads(loads: Any) -> tuple[Wrench, ...]:
    """Return loads as a tuple, or say what was given instead.

    Args:
        loads: a list of loads.

    Raises:
        TypeError: no list, or an entry that is no :class:`Wrench`.

    >>> listed_loads(Wrench(force=[0, 0, -10]))
    Traceback (most recent call last):
    TypeError: loads is one Wrench; expected a list of them, such as [Wrench(...)].
    """
    return listed(loads, Wrench, "load", "loads", "Make each with Wrench(force=[x, y, z], link=...).")


def loads_on_links(robot: Robot, loads: Sequence[Wrench], transforms: Sequence[Array]) -> list[tuple[Array, Array]]:
    """Sum the loads on each link, in link axes and about the link's origin.

    Args:
        robot: the arm.
        loads: loads on any links.
        transforms: pose of each link in the one before, N arrays of shape (..., 4, 4), in m.

    Returns:
        For each link the force (..., 3) in N and the moment (..., 3) in N m.

    Raises:
        ValueError: there is no such link.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=2, m1=1, m2=1, g=9.81)
    >>> loads_on_links(arm, [Wrench(force=[0, -10, 0])], arm.transforms([0, 0])[:2])[1][1]
    array([  0.,   0., -20.])
    """
    zero = zeros(like=robot.gravity)
    sums = [(zero, zero)] * robot.n
    for number, given in enumerate(listed_loads(loads), start=1):
        load = read_load(robot, given, number)
        link, at, R = locate(robot, load.link, load.axes, transforms)
        force, moment = apply(transpose(R), load.force), apply(transpose(R), load.moment)
        lever = apply(rotation(at), load.point) + position(at)
        f_e, n_e = sums[link - 1]
        sums[link - 1] = (f_e + force, n_e + moment + cross(lever, force))
    return sums


def read_load(robot: Robot, load: Wrench, number: int) -> Wrench:
    """Return a load in the robot's kind of numbers.

    Args:
        robot: the arm.
        load: on one of its links.
        number: of the load, from 1, for a message.

    Raises:
        ValueError: it is on another chain.
    """
    if load.chain != 1:
        raise ValueError(f"load {number} names chain {load.chain}; {robot.name} is an arm, with one chain.")
    read: Wrench = robot.matched(load, f"load {number}")
    return read


def locate(robot: Robot, link: int | None, axes: Axes, transforms: Sequence[Array]) -> tuple[int, Array, Array]:
    """Return where a point is carried, and how to turn what is known there.

    Args:
        robot: the arm.
        link: number of the link, 1 to N; None for the tip frame {N+1}.
        axes: the axes that are wanted: ``"link"`` (for the tip: its own), ``"tip"``, ``"base"`` or ``"world"``.
        transforms: pose of each link in the one before, arrays of shape (..., 4, 4), in m.

    Returns:
        The number of the link, the pose of the point's frame in it (4, 4), and the rotation from the axes of the link
        to the wanted ones (..., 3, 3).

    Raises:
        ValueError: there is no such link.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=2, m1=1, m2=1, g=9.81)
    >>> locate(arm, None, "link", arm.transforms([0, 0]))[1][:3, 3]
    array([2., 0., 0.])
    """
    if link is not None and link not in range(1, robot.n + 1):
        raise ValueError(f"link is {link!r}; {robot.name} has the links 1 to {robot.n}, or None for the tip.")
    at = robot.tool if link is None else exact_identity(robot.gravity)
    number = robot.n if link is None else link
    if axes == "link":
        return number, at, transpose(rotation(at))
    if axes == "tip":
        tip = robot.tool
        for T in reversed(transforms[number : robot.n]):
            tip = compose(T, tip)
        return number, at, transpose(rotation(tip))
    pose = robot.base if axes == "world" else exact_identity(robot.gravity)
    for T in transforms[:number]:
        pose = compose(pose, T)
    return number, at, rotation(pose)


def check_axes(axes: str) -> None:
    """Raise an error if there are no such axes."""
    if axes not in ("link", "tip", "base", "world"):
        raise ValueError(f'axes is {axes!r}; expected "link" (for the tip: its own axes), "tip", "base" or "world".')


def jacobian(robot: Robot, q: Any, *, link: int | None = None, point: Any = (0, 0, 0), axes: Axes = "world") -> Array:
    r"""Return the Jacobian of a point of the arm: what each joint rate alone does to it.

    :math:`v = J_v\dot q,\ \omega = J_\omega\dot q`; column j holds :math:`\hat z_j\times(p-p_j)` and :math:`\hat z_j`
    for a revolute joint, :math:`\hat z_j` and 0 for a prismatic one.

    Args:
        robot: the arm.
        q: joint values, shape (..., N), in rad or m.
        link: number of the link that carries the point, 1 to N; None for the tip frame {N+1}.
        point: the point in the axes of that link (or of the tip), shape (3,), in m.
        axes: in which axes the result is written: ``"world"``, ``"base"``, ``"tip"`` or ``"link"``.

    Returns:
        J, shape (..., 6, N): rows 1 to 3 the velocity (m/s per rate), rows 4 to 6 the angular velocity.

    Raises:
        ValueError: a wrong length, shape, number, link or axes.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> jacobian(arm, [0, 0])[:2]  # both links along x: the tip moves along y
    array([[0., 0.],
           [2., 1.]])
    """
    refuse_no_robot(robot)
    check_axes(axes)
    transforms = robot.transforms(q)[:-1]
    number, at, _ = locate(robot, link, axes, transforms)
    poses = [transforms[0]]
    for T in transforms[1:]:
        poses.append(compose(poses[-1], T))
    place = as_array(point, "point", (3,))
    last = poses[number - 1]
    p = position(last) + apply(rotation(last), apply(rotation(at), place) + position(at))
    out = None if axes == "base" else rotation(robot.base)
    if axes in ("link", "tip"):
        out = transpose(rotation(compose(last, at) if axes == "link" else compose(poses[-1], robot.tool)))
    found = columns(robot.links, poses, number, p)
    if out is not None:
        found = [np.concatenate([apply(out, each[..., :3]), apply(out, each[..., 3:])], axis=-1) for each in found]
    return np.stack(np.broadcast_arrays(*found), axis=-1)


def columns(links: Sequence[Link], poses: Sequence[Array], number: int, p: Array) -> list[Array]:
    """Return what each joint rate alone does to a point of a link, in the axes in which poses and point are given.

    Args:
        links: of the arm.
        poses: of its links, arrays of shape (..., 4, 4), in m.
        number: of the link that carries the point; the joints after it do not move it.
        p: the point, shape (..., 3), in m.

    Returns:
        For each joint velocity and angular velocity, shape (..., 6).
    """
    found = []
    for j, (link, pose) in enumerate(zip(links, poses, strict=True), start=1):
        z = rotation(pose)[..., 2] * int(j <= number)
        swept = cross(z, p - position(pose))
        found.append(np.concatenate([swept * link.turn + z * link.slide, z * link.turn], axis=-1))
    return found


def point_velocity(
    robot: Robot, q: Any, dq: Any, *, link: int | None = None, point: Any = (0, 0, 0), axes: Axes = "world"
) -> tuple[Array, Array]:
    r"""Return the velocity of any point of the arm, by outward propagation (A5.2.3-1 for any point).

    Args:
        robot: the arm.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        link: number of the link that carries the point, 1 to N; None for the tip frame {N+1}.
        point: the point in the axes of that link (or of the tip), shape (3,), in m.
        axes: in which axes the result is written: ``"world"``, ``"base"``, ``"tip"`` or ``"link"``.

    Returns:
        v in m/s and omega in rad/s, each of shape (..., 3).

    Raises:
        ValueError: a wrong length, shape, number, link or axes.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> point_velocity(arm, [0, 0], [1, 0])[0]
    array([0., 2., 0.])
    """
    refuse_no_robot(robot)
    check_axes(axes)
    links = outward(robot, q, dq)
    number, at, R_out = locate(robot, link, axes, [each.T for each in links])
    moving = links[number - 1]
    r = apply(rotation(at), as_array(point, "point", (3,))) + position(at)
    v = moving.v + cross(moving.omega, r)
    return apply(R_out, v), apply(R_out, moving.omega)


def static_torques(robot: Robot, q: Any, loads: Sequence[Wrench]) -> Array:
    r"""Return the torques that hold loads on an arm at rest, without its own weight: :math:`\tau = -J^\top F`.

    Args:
        robot: the arm.
        q: joint values, shape (..., N), in rad or m.
        loads: loads that the surroundings put *on* the arm.

    Returns:
        :math:`\tau`, shape (..., N), in N m (revolute) or N (prismatic).

    Raises:
        ValueError: a wrong length, shape, number or link.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> static_torques(arm, [0, 0], [Wrench(force=[0, -10, 0])])  # a weight of 10 N at the tip
    array([20., 10.])
    """
    refuse_no_robot(robot)
    (q,) = robot.state(q=q)
    total = 0 * q
    for number, given in enumerate(listed_loads(loads), start=1):
        load = read_load(robot, given, number)
        J = jacobian(robot, q, link=load.link, point=load.point, axes=load.axes)
        push = np.concatenate(np.broadcast_arrays(load.force, load.moment), axis=-1)
        total = total - (transpose(J) @ push[..., None])[..., 0]
    return total
