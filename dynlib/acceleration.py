r"""Acceleration: how the accelerations of the links follow from one another, from the base outward.

A dotted vector with a leading superscript, :math:`{}^{i}\dot v_i`, is the *inertial* derivative of the vector, written
in the axes of :math:`\{i\}`; it is not the derivative of the column :math:`{}^{i}v_i` (erratum E8).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from dynlib import velocity
from dynlib.algebra.arrays import Array, apply, as_array, cross, transpose
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.frames import Z, compose, position, rotation
from dynlib.model.links import exact_identity
from dynlib.model.robot import Robot, refuse_no_robot
from dynlib.velocity import AT_REST, Axes, BaseMotion, LinkVelocity

_CARRIED = (
    r"{}^{i}_{i-1}R\left({}^{i-1}\dot{\omega}_{i-1} \times {}^{i-1}p_{i} + {}^{i-1}\omega_{i-1} \times "
    r"\left({}^{i-1}\omega_{i-1} \times {}^{i-1}p_{i}\right) + {}^{i-1}\dot{v}_{i-1}\right)"
)


@equation(
    "domega",
    r"{}^{i}\dot{\omega}_{i}",
    r"{}^{i}_{i-1}R\,{}^{i-1}\dot{\omega}_{i-1} + {}^{i}_{i-1}R\,{}^{i-1}\omega_{i-1} \times "
    r"\dot{\theta}_{i}\,{}^{i}\hat{z}_{i} + \ddot{\theta}_{i}\,{}^{i}\hat{z}_{i}",
    source="A5.2.6-11, -12",
    prismatic=r"{}^{i}_{i-1}R\,{}^{i-1}\dot{\omega}_{i-1}",
    prismatic_source="E7",
)
def angular_acceleration(R: Array, domega: Array, omega: Array, turning: Array, dturning: Array) -> Array:
    """Angular acceleration of link i; the middle term is the turning of the joint axis itself."""
    return apply(transpose(R), domega) + cross(apply(transpose(R), omega), turning) + dturning


@equation(
    "dv",
    r"{}^{i}\dot{v}_{i}",
    _CARRIED,
    source="A5.2.6-13, -15",
    prismatic=_CARRIED
    + r" + 2\,{}^{i}\omega_{i} \times \dot{d}_{i}\,{}^{i}\hat{z}_{i} + \ddot{d}_{i}\,{}^{i}\hat{z}_{i}",
    prismatic_source="E7",
)
def linear_acceleration(
    R: Array, domega: Array, omega: Array, p: Array, dv: Array, omega_i: Array, sliding: Array, dsliding: Array
) -> Array:
    """Acceleration of the origin of frame i: of that point carried by the parent, Coriolis, and its own sliding."""
    carried = cross(domega, p) + cross(omega, cross(omega, p)) + dv
    return apply(transpose(R), carried) + cross(omega_i, sliding) * 2 + dsliding


@equation(
    "dv_c",
    r"{}^{i}\dot{v}_{c_{i}}",
    r"{}^{i}\dot{\omega}_{i} \times {}^{i}p_{c_{i}} + "
    r"{}^{i}\omega_{i} \times \left({}^{i}\omega_{i} \times {}^{i}p_{c_{i}}\right) + {}^{i}\dot{v}_{i}",
    source="A5.2.3-2",
)
def com_acceleration(domega: Array, omega: Array, p_c: Array, dv: Array) -> Array:
    """Acceleration of the centre of mass, a fixed point of link i."""
    return cross(domega, p_c) + cross(omega, cross(omega, p_c)) + dv


@dataclass(frozen=True)
class Steps(velocity.Steps):
    """The equations up to the acceleration chapter; a misconception is one of them replaced."""

    angular_acceleration: Equation = angular_acceleration
    linear_acceleration: Equation = linear_acceleration
    com_acceleration: Equation = com_acceleration


@dataclass(frozen=True, eq=False)
class LinkAcceleration(LinkVelocity):
    r"""What the acceleration chapter knows of link i; vectors in the axes of {i}.

    Attributes:
        domega: :math:`{}^{i}\dot\omega_i`, shape (..., 3), in rad/s².
        dv: :math:`{}^{i}\dot v_i` of the origin of frame i, shape (..., 3), in m/s².
        dv_c: :math:`{}^{i}\dot v_{c_i}` of the centre of mass, shape (..., 3), in m/s².
    """

    domega: Array
    dv: Array
    dv_c: Array


def outward(
    robot: Robot, q: Any, dq: Any, ddq: Any, *, steps: Steps = Steps(), base: BaseMotion = AT_REST
) -> tuple[LinkAcceleration, ...]:
    r"""Propagate velocities and accelerations from the base to the last link (A5.2.6-5 to -16 for any arm; E7).

    Args:
        robot: the arm.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        ddq: joint accelerations, shape (..., N), in rad/s² or m/s².
        steps: the equations, for trying a wrong one.
        base: motion of the base.

    Returns:
        One :class:`LinkAcceleration` a link.

    Raises:
        ValueError: a wrong length, shape or number.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> outward(arm, [0, 0], [1, 2], [0, 0])[0].dv_c  # towards the axis: -L1 dtheta1^2
    array([-1.,  0.,  0.])
    """
    refuse_other_steps(steps, Steps)
    refuse_no_robot(robot)
    q, dq, ddq = robot.state(q=q, dq=dq, ddq=ddq)
    return propagate(robot, q, dq, ddq, steps, velocity.read_base(robot, base))


def propagate(
    robot: Robot, q: Array, dq: Array, ddq: Array, steps: Steps, base: BaseMotion
) -> tuple[LinkAcceleration, ...]:
    """Propagate velocities and accelerations as :func:`outward`, from a state that was read."""
    parent: Any = base
    links: list[LinkAcceleration] = []
    coms = robot.coms
    velocities = velocity.propagate(robot, q, dq, steps, base)
    for i, (link, moving) in enumerate(zip(robot.links, velocities, strict=True)):
        turning, sliding = (Z * rate[..., None] for rate in link.split(dq[..., i]))
        dturning, dsliding = (Z * rate[..., None] for rate in link.split(ddq[..., i]))
        R, p = rotation(moving.T), position(moving.T)
        domega = steps.angular_acceleration(R, parent.domega, parent.omega, turning, dturning)
        dv = steps.linear_acceleration(R, parent.domega, parent.omega, p, parent.dv, moving.omega, sliding, dsliding)
        dv_c = steps.com_acceleration(domega, moving.omega, coms[i], dv)
        parent = LinkAcceleration(**vars(moving), domega=domega, dv=dv, dv_c=dv_c)
        links.append(parent)
    return tuple(links)


def point_acceleration(
    robot: Robot,
    q: Any,
    dq: Any,
    ddq: Any,
    *,
    link: int | None = None,
    point: Any = (0, 0, 0),
    axes: Axes = "world",
) -> tuple[Array, Array]:
    r"""Return the acceleration of any point of the arm, by outward propagation (A5.2.3-2 for any point).

    Args:
        robot: the arm.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        ddq: joint accelerations, shape (..., N), in rad/s² or m/s².
        link: number of the link that carries the point, 1 to N; None for the tip frame {N+1}.
        point: the point in the axes of that link (or of the tip), shape (3,), in m.
        axes: in which axes the result is written: ``"world"``, ``"base"``, ``"tip"`` or ``"link"``.

    Returns:
        The acceleration in m/s² and the angular acceleration in rad/s², each of shape (..., 3).

    Raises:
        ValueError: a wrong length, shape, number, link or axes.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> point_acceleration(arm, [0, 0], [1, 0], [0, 0])[0]  # on a circle of 2 m, towards its centre
    array([-2.,  0.,  0.])
    """
    refuse_no_robot(robot)
    velocity.check_axes(axes)
    links = outward(robot, q, dq, ddq)
    number, at, R_out = velocity.locate(robot, link, axes, [each.T for each in links])
    moving = links[number - 1]
    r = apply(rotation(at), as_array(point, "point", (3,))) + position(at)
    a = com_acceleration(moving.domega, moving.omega, r, moving.dv)
    return apply(R_out, a), apply(R_out, moving.domega)


def jacobian_derivative(
    robot: Robot, q: Any, dq: Any, *, link: int | None = None, point: Any = (0, 0, 0), axes: Axes = "world"
) -> Array:
    r"""Return the time derivative of the Jacobian of a point, so that :math:`\ddot p=J\ddot q+\dot J\dot q`.

    Column j holds :math:`(\omega_j\times\hat z_j)\times(p-p_j)+\hat z_j\times(v-v_j)` and
    :math:`\omega_j\times\hat z_j` for a revolute joint, :math:`\omega_j\times\hat z_j` and 0 for a prismatic one.

    Args:
        robot: the arm.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        link: number of the link that carries the point, 1 to N; None for the tip frame {N+1}.
        point: the point in the axes of that link (or of the tip), shape (3,), in m.
        axes: ``"world"`` or ``"base"``, which stand still; in axes that turn the derivative of the components is not
            that of the vectors.

    Returns:
        :math:`\dot J`, shape (..., 6, N), rows as in :func:`dynlib.velocity.jacobian`, in the same units per second.

    Raises:
        ValueError: a wrong length, shape, number, link or axes.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> jacobian_derivative(arm, [0, 0], [1, 0])[:2]  # the whole arm turns: the columns turn with it
    array([[-2., -1.],
           [ 0.,  0.]])
    """
    refuse_no_robot(robot)
    if axes not in ("world", "base"):
        raise ValueError(f'axes is {axes!r}; expected "world" or "base", which stand still.')
    q, dq = robot.state(q=q, dq=dq)
    links = velocity.propagate(robot, q, dq, Steps(), velocity.at_rest(robot.is_symbolic))
    number, at, _ = velocity.locate(robot, link, "base", [each.T for each in links])
    r = apply(rotation(at), as_array(point, "point", (3,))) + position(at)
    pose = exact_identity(robot.gravity) if axes == "base" else robot.base
    found = []
    for moving in links:
        pose = compose(pose, moving.T)
        R = rotation(pose)
        found.append((position(pose), R[..., 2], apply(R, moving.v), apply(R, moving.omega)))
        if len(found) == number:
            p, v = position(pose) + apply(R, r), apply(R, moving.v + cross(moving.omega, r))
    columns = []
    for j, (joint, (p_j, z, v_j, omega)) in enumerate(zip(robot.links, found, strict=True), start=1):
        turned = cross(omega, z) * int(j <= number)
        swept = cross(turned, p - p_j) + cross(z, v - v_j) * int(j <= number)
        columns.append(np.concatenate([swept * joint.turn + turned * joint.slide, turned * joint.turn], axis=-1))
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def column_derivative(column: Any, q: Any, dq: Any, ddq: Any = ()) -> Array:
    r"""Differentiate the *components* of a vector by time, as if the frame stood still.

    In the fixed frame this is the inertial derivative. In a turning frame it is only the first part of A5.2.6-17;
    the second, :math:`\omega \times a`, has to be added.

    Args:
        column: expression, vector or matrix of expressions in the joint values and rates.
        q: symbols of the joint values, shape (N,), or one symbol.
        dq: their rates, shape (N,).
        ddq: their accelerations, shape (N,); needed if the column holds rates.

    Returns:
        The derivatives, in the shape of the column; unit of the column per second.

    >>> L1, theta1, dtheta1 = sympy.symbols("L1 theta1 dtheta1")
    >>> column_derivative([L1 * sympy.cos(theta1)], [theta1], [dtheta1])
    array([-L1*dtheta1*sin(theta1)], dtype=object)
    """
    q, dq, ddq = (np.atleast_1d(np.asarray(symbols, dtype=object)) for symbols in (q, dq, ddq))
    pairs = [*zip(q, dq, strict=True), *(zip(dq, ddq, strict=True) if ddq.size else ())]
    entries = as_array(column, "column", (None,) * getattr(column, "ndim", 1 if isinstance(column, list) else 0))
    derivatives = [sum((sympy.diff(entry, s) * ds for s, ds in pairs), start=sympy.S.Zero) for entry in entries.flat]
    result: Array = entries.copy()
    result.flat[:] = derivatives
    return result
