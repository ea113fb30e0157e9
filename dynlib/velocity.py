r"""Velocity: how the velocities of the links follow from one another, from the base outward.

A velocity with a leading superscript, :math:`{}^{i}v_i`, is the velocity relative to the *fixed* frame, written in the
axes of :math:`\{i\}` (erratum E3).
"""

from dataclasses import dataclass
from typing import Any

from dynlib import frames
from dynlib.arrays import Array, apply, as_array, cross, transpose
from dynlib.equation import Equation, equation
from dynlib.frames import Z, position, rotation
from dynlib.robot import Robot

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
class BaseMotion:
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
            object.__setattr__(self, name, as_array(getattr(self, name), f"{name} of the base", (3,)))


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
    robot: Robot, q: Any, dq: Any, *, steps: Steps = Steps(), base: BaseMotion = BaseMotion()
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
    q, dq = robot.state(q=q, dq=dq)
    parent: Any = base
    links: list[LinkVelocity] = []
    for i, link in enumerate(robot.links):
        turning, sliding = (Z * rate[..., None] for rate in link.split(dq[..., i]))
        T = steps.joint_transform(link.fixed, *link.split(q[..., i]))
        R, p = rotation(T), position(T)
        omega = steps.angular_velocity(R, parent.omega, turning)
        v = steps.linear_velocity(R, parent.v, parent.omega, p, sliding)
        v_c = steps.com_velocity(v, omega, link.com)
        parent = LinkVelocity(T, omega, v, v_c)
        links.append(parent)
    return tuple(links)
