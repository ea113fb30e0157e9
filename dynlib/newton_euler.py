r"""Newton-Euler: the forces between the links, from the tip inward.

:math:`{}^{i}f_i, {}^{i}n_i` are the force and the moment of link i-1 *on* link i; the joint supplies their component
along its own axis. Gravity is the vector along which things fall; it is subtracted, and it enters only here (E10). The
wrench at the tip is what the surroundings put *on* the arm, so that the arm puts its opposite on the surroundings:
:math:`{}^{N+1}f_{N+1} = -\text{tip force}` (E12).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynlib import acceleration
from dynlib.acceleration import LinkAcceleration
from dynlib.algebra.arrays import Array, apply, as_floats, cross, dot, finite, transpose
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.frames import Z, position, rotation
from dynlib.given import refuse_unknown
from dynlib.model.links import Body
from dynlib.model.robot import Robot, refuse_no_robot
from dynlib.velocity import AT_REST, BaseMotion, Wrench, at_rest, listed_loads, loads_on_links, no_load, read_base

NOTHING = (0, 0, 0)
"""No force and no moment."""


@equation("g", r"{}^{i}g", r"{}^{i}_{i-1}R\,{}^{i-1}g", "E10")
def gravity(R: Array, g: Array) -> Array:
    """Gravity, written in the axes of link i."""
    return apply(transpose(R), g)


@equation("F", r"{}^{i}F_{i}", r"m_{i}\,{}^{i}\dot{v}_{c_{i}}", "A5.2.4-1")
def resultant_force(m: Array, dv_c: Array) -> Array:
    """Resultant of all forces on link i, by Newton's law; the documents call it the inertia force (E9)."""
    return dv_c * m


@equation(
    "N",
    r"{}^{i}N_{i}",
    r"{}^{c_{i}}I_{i}\,{}^{i}\dot{\omega}_{i} + {}^{i}\omega_{i} \times {}^{c_{i}}I_{i}\,{}^{i}\omega_{i}",
    source="A5.2.4-2",
)
def resultant_moment(I: Array, domega: Array, omega: Array) -> Array:
    """Resultant moment on link i about its centre of mass, by Euler's law."""
    return apply(I, domega) + cross(omega, apply(I, omega))


@equation(
    "f",
    r"{}^{i}f_{i}",
    r"{}^{i}F_{i} + {}^{i}_{i+1}R\,{}^{i+1}f_{i+1} - m_{i}\,{}^{i}g",
    source="A5.2.4-3",
    loaded=r" - {}^{i}f_{\mathrm{e},{i}}",
)
def force_balance(F: Array, R_next: Array, f_next: Array, m: Array, g: Array, f_e: Array) -> Array:
    """Force of link i-1 on link i; the surroundings help with f_e."""
    return F + apply(R_next, f_next) - g * m - f_e


@equation(
    "n",
    r"{}^{i}n_{i}",
    r"{}^{i}N_{i} + {}^{i}p_{c_{i}} \times {}^{i}F_{i} + {}^{i}_{i+1}R\,{}^{i+1}n_{i+1} + "
    r"{}^{i}p_{i+1} \times {}^{i}_{i+1}R\,{}^{i+1}f_{i+1} - {}^{i}p_{c_{i}} \times m_{i}\,{}^{i}g",
    source="A5.2.4-4",
    loaded=r" - {}^{i}n_{\mathrm{e},{i}}",
)
def moment_balance(
    N: Array,
    p_c: Array,
    F: Array,
    R_next: Array,
    n_next: Array,
    p_next: Array,
    f_next: Array,
    m: Array,
    g: Array,
    n_e: Array,
) -> Array:
    """Moment of link i-1 on link i, about the origin of frame i; the surroundings help with n_e."""
    carried = apply(R_next, n_next) + cross(p_next, apply(R_next, f_next))
    return N + cross(p_c, F) + carried - cross(p_c, g * m) - n_e


@equation(
    "tau",
    r"\tau_{i}",
    r"{}^{i}n_{i}^{\top}\,{}^{i}\hat{z}_{i}",
    source="A5.2.5-2",
    prismatic=r"{}^{i}f_{i}^{\top}\,{}^{i}\hat{z}_{i}",
    prismatic_source="A5.2.5-1",
)
def joint_torque(f: Array, n: Array, turn: Array, slide: Array) -> Array:
    """Torque of a revolute joint or force of a prismatic one: the component along the joint axis."""
    return dot(n, turn) + dot(f, slide)


@equation(
    "tau_m",
    r"\tau_{\mathrm{m},{i}}",
    r"\tau_{i} + G_{i}^2 J_{i}\,\ddot{\theta}_{i} + |G_{i}|\left(B_{i}|G_{i}|\,\dot{\theta}_{i} + T_{\mathrm{c},{i}}"
    r"\right)",
    source="E12",
    prismatic=r"\tau_{i} + G_{i}^2 J_{i}\,\ddot{d}_{i} + |G_{i}|\left(B_{i}|G_{i}|\,\dot{d}_{i} + T_{\mathrm{c},{i}}"
    r"\right)",
)
def motor_torque(tau: Array, J: Array, G: Array, B: Array, dry: Array, rate: Array, drate: Array) -> Array:
    """Torque that the motor must supply, seen at the joint: with rotor, gear and friction."""
    return tau + drate * (G * G * J) + (rate * (B * abs(G)) + dry) * abs(G)


@dataclass(frozen=True)
class Steps(acceleration.Steps):
    """The equations of the whole recursion; a misconception is ``dataclasses.replace(Steps(), name=wrong)``."""

    gravity: Equation = gravity
    resultant_force: Equation = resultant_force
    resultant_moment: Equation = resultant_moment
    force_balance: Equation = force_balance
    moment_balance: Equation = moment_balance
    joint_torque: Equation = joint_torque
    motor_torque: Equation = motor_torque


@dataclass(frozen=True, eq=False)
class LinkForces(LinkAcceleration):
    r"""Everything the recursion knows of link i; vectors in the axes of {i}.

    Attributes:
        g: :math:`{}^{i}g`, shape (3,) or (..., 3), in m/s².
        f_e: external force on link i (not the load at the tip), shape (..., 3), in N.
        n_e: its moment about the origin of {i}, shape (..., 3), in N m.
        F: :math:`{}^{i}F_i`, resultant force, shape (..., 3), in N.
        N: :math:`{}^{i}N_i`, resultant moment about the centre of mass, shape (..., 3), in N m.
        f: :math:`{}^{i}f_i`, force of link i-1 on link i, shape (..., 3), in N.
        n: :math:`{}^{i}n_i`, moment of link i-1 on link i about the origin of {i}, shape (..., 3), in N m.
        tau: :math:`\tau_i`, what the joint supplies, shape (...,), in N m (revolute) or N (prismatic).
        tau_m: what the motor supplies, with rotor and friction; tau if the link has no motor data.
    """

    g: Array
    f_e: Array
    n_e: Array
    F: Array
    N: Array
    f: Array
    n: Array
    tau: Array
    tau_m: Array


def recursion(
    robot: Robot,
    q: Any,
    dq: Any,
    ddq: Any,
    *,
    tip_force: Any = NOTHING,
    tip_moment: Any = NOTHING,
    loads: Sequence[Wrench] = (),
    base: BaseMotion = AT_REST,
    steps: Steps = Steps(),
    **unknown: Any,
) -> tuple[LinkForces, ...]:
    r"""Run the whole recursion, outward for the motion and inward for the forces (A5.2.3-1 to A5.2.5-2).

    Args:
        robot: the arm; every link needs a mass (0 is allowed, but not for all if there is no load and no motor).
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        ddq: joint accelerations, shape (..., N), in rad/s² or m/s².
        tip_force: force of the surroundings *on* the arm at the tip, in tip axes {N+1}, shape (..., 3), in N.
        tip_moment: moment of the surroundings *on* the arm about the tip, in tip axes, shape (..., 3), in N m.
        loads: more of them, each a :class:`~dynlib.velocity.Wrench` *on* the arm, at any link and in any axes.
        base: motion of the base.
        steps: the equations, for trying a wrong one.
        **unknown: nothing; other names are refused.

    Returns:
        One :class:`LinkForces` a link.

    Raises:
        ValueError: a wrong length, shape or number, a link without mass data, or nothing that has mass.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> recursion(arm, [0, 0], [0, 0], [0, 0])[0].n  # held level: m1 g L1 + m2 g (L1 + L2)
    array([ 0.,  0., 30.])
    """
    refuse_other_steps(steps, Steps)
    refuse_no_robot(robot)
    refuse_unknown(unknown, ("tip_force", "tip_moment", "loads", "base", "steps"))
    bodies, loads = robot.known_bodies(), listed_loads(loads)
    tip = no_load(robot.is_symbolic)
    if not tip_force is tip_moment is NOTHING:
        tip = robot.matched(Wrench(tip_force, tip_moment, axes="tip"), "the load at the tip")
    refuse_only_zeros(robot, bodies, [tip, *loads])
    q, dq, ddq = robot.state(q=q, dq=dq, ddq=ddq)
    g = apply(transpose(rotation(robot.base)), robot.gravity)
    return propagate(robot, q, dq, ddq, g, tip, loads, read_base(robot, base), steps)


def propagate(
    robot: Robot,
    q: Array,
    dq: Array,
    ddq: Array,
    g: Array,
    tip: Wrench,
    loads: Sequence[Wrench],
    base: BaseMotion,
    steps: Steps,
) -> tuple[LinkForces, ...]:
    """Run the recursion as :func:`recursion`, from what was read, with gravity ``g`` in the axes of the base."""
    bodies = robot.known_bodies()
    moving = acceleration.propagate(robot, q, dq, ddq, steps, base)
    felt = [g := steps.gravity(rotation(motion.T), g) for motion in moving]

    pushes = loads_on_links(robot, loads, [motion.T for motion in moving])

    T_next, f_next, n_next = robot.tool, -tip.force, -tip.moment
    links: list[LinkForces] = []
    for i in reversed(range(robot.n)):
        link, body, motion, g, (f_e, n_e) = robot.links[i], bodies[i], moving[i], felt[i], pushes[i]
        R_next, p_next = rotation(T_next), position(T_next)
        F = steps.resultant_force(body.mass, motion.dv_c)
        N = steps.resultant_moment(body.inertia, motion.domega, motion.omega)
        f = steps.force_balance(F, R_next, f_next, body.mass, g, f_e)
        n = steps.moment_balance(N, body.com, F, R_next, n_next, p_next, f_next, body.mass, g, n_e)
        tau = tau_m = np.asarray(steps.joint_torque(f, n, Z * link.turn, Z * link.slide))
        if (motor := link.motor) is not None:
            rate, drate = dq[..., i], ddq[..., i]
            dry = motor.dry(rate)
            tau_m = np.asarray(steps.motor_torque(tau, motor.inertia, motor.gear, motor.viscous, dry, rate, drate))
        links.append(LinkForces(**vars(motion), g=g, f_e=f_e, n_e=n_e, F=F, N=N, f=f, n=n, tau=tau, tau_m=tau_m))
        T_next, f_next, n_next = motion.T, f, n
    return tuple(reversed(links))


def refuse_only_zeros(robot: Robot, bodies: Sequence[Body], loads: Sequence[Wrench]) -> None:
    """Raise an error if nothing has mass and nothing else asks for a torque: a table without mass data, most likely."""
    motors = [link.motor for link in robot.links if link.motor is not None]
    asking = [array for body in bodies for array in (body.mass, body.inertia)]
    asking += [array for motor in motors for array in (motor.inertia, motor.viscous, motor.coulomb)]
    asking += [array for load in loads for array in (load.force, load.moment)]
    if not any(np.any(array != 0) for array in asking):
        raise ValueError(
            f"no link of {robot.name} has a mass or an inertia; dynamics would only give zeros. Give the links their "
            "mass, com and inertia, or load the arm: a payload, a tip force, loads or motors."
        )


def inverse_dynamics(robot: Robot, q: Any, dq: Any, ddq: Any, **options: Any) -> Array:
    r"""Return the torques and forces that the joints must supply for a motion (A5.2.5-1, -2).

    Args:
        robot: the arm; every link needs a mass (0 is allowed).
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        ddq: joint accelerations, shape (..., N), in rad/s² or m/s².
        **options: loads, base motion and steps, as in :func:`recursion`.

    Returns:
        :math:`\tau`, what the motors supply, shape (..., N), in N m (revolute) or N (prismatic). For a link without
        motor data that is what the joint supplies.

    Raises:
        ValueError: a wrong length, shape or number, a link without mass data, or nothing that has mass.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> inverse_dynamics(arm, [0, 0], [0, 0], [0, 0])
    array([30., 10.])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        tau = np.stack([link.tau_m for link in recursion(robot, q, dq, ddq, **options)], axis=-1)
    return finite(tau, "the torque", robot, q=q, dq=dq, ddq=ddq, **options)


def torques(robot: Robot, q: Array, dq: Array, ddq: Array) -> Array:
    """Return the torques of :func:`inverse_dynamics` without loads, for a state that was read, shape (..., N)."""
    exact = robot.is_symbolic
    g = apply(transpose(rotation(robot.base)), robot.gravity)
    links = propagate(robot, q, dq, ddq, g, no_load(exact), (), at_rest(exact), Steps())
    return np.stack([link.tau_m for link in links], axis=-1)


def sizes_of_terms(robot: Robot, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
    """Return how large the terms are of which each torque is the sum; what is tiny beside them is rounding.

    Args:
        robot: the arm, of numbers.
        q: joint values of one state, shape (N,), in rad or m.
        dq: joint rates, shape (N,), in rad/s or m/s.
        ddq: joint accelerations, shape (N,), in rad/s² or m/s².
        **loads: loads and base motion, as in :func:`recursion`.

    Returns:
        Shape (N,), in N m (revolute) or N (prismatic); an upper bound, not an estimate.

    Raises:
        ValueError: as :func:`recursion` does, or terms that no float can hold.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> upright = [np.pi / 2, 0], [0, 0], [0, 0]  # 10 cos(pi/2) is 6e-16 in floats
    >>> bool((np.abs(inverse_dynamics(arm, *upright)) < 1e-13 * sizes_of_terms(arm, *upright)).all())
    True
    """
    links, bodies = recursion(robot, q, dq, ddq, **loads), robot.known_bodies()

    def total(*vectors: Array) -> float:
        return float(sum(np.linalg.norm(as_floats(np.asarray(vector))) for vector in vectors))

    weights = [body.mass * link.g for link, body in zip(links, bodies, strict=True)]
    with np.errstate(over="ignore", invalid="ignore"):
        force = total(links[-1].f, *(link.F for link in links), *weights, *(link.f_e for link in links))
        reach = total(position(robot.tool), *(position(link.T) for link in links), *(body.com for body in bodies))
        moment = total(links[-1].n, *(link.N for link in links), *(link.n_e for link in links)) + force * reach
    drives = [total(link.tau_m - link.tau) for link in links]
    sizes = [(moment if link.turn else force) + drive for link, drive in zip(robot.links, drives, strict=True)]
    return finite(np.array(sizes), "the size of the terms", robot, q=q, dq=dq, ddq=ddq, **loads)
