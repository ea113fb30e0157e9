r"""Forward dynamics: the torques are known and the motion is wanted.

.. math:: \ddot q = M^{-1}\,\big(\tau - C\dot q - g - \text{friction} + J^\top F\big)

Dry friction switches the equations: a joint slides or sticks, and one that sticks stands still.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from dynlib import newton_euler, structure
from dynlib.algebra.arrays import Array, apply, batches_together, finite, transpose
from dynlib.frames import rotation
from dynlib.given import refuse_unknown
from dynlib.model.robot import Robot, refuse_no_robot
from dynlib.velocity import BaseMotion, Wrench, listed_loads, static_torques

SLOWEST_REBOUND = 1e-6
"""A joint that leaves a stop after an impact more slowly than this, in rad/s or m/s, counts as resting there."""
_ENOUGH = 1e-12  # relative error of the torques at rest with which a combination of joints that move off fits
_SLACK = 1e-9  # of the torques at work: so much more than dry friction can hold sets a joint free
_UNMOVED = 1e-12  # of the largest change of rate in an impact, in the measure of the masses: less is rounding
_LOOKS = 8  # places in each step where events are looked for
_MOST_SWITCHES = 50  # without time going on


def forward_dynamics(
    robot: Robot, q: Any, dq: Any, tau: Any, *, loads: Sequence[Wrench] = (), stick: bool = False, **unknown: Any
) -> Array:
    r"""Return the accelerations that torques cause: inverse dynamics read backwards.

    Mass matrix and all other torques come from one call of the recursion for N+1 motions: the true rates without
    acceleration, and each joint's unit acceleration at rest and without weight.

    Args:
        robot: the arm, of floats; every link needs a mass (0 is allowed if the mass matrix stays regular).
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        tau: torques or forces of the motors, seen at the joints, shape (..., N), in N m or N.
        loads: loads that the surroundings put *on* the arm.
        stick: what dry friction does at rest. False: nothing, as in :func:`dynlib.newton_euler.inverse_dynamics`, of
            which this function is then the exact inverse. True: it holds a joint at rest as long as it can, and acts
            against its start if it cannot, as in :func:`simulate`.
        **unknown: nothing; other names are refused.

    Returns:
        :math:`\ddot q`, shape (..., N), in rad/s² or m/s².

    Raises:
        ValueError: a wrong length, shape or number; symbols; a link without mass data; or a mass matrix that is not
            positive definite (the message names the joints that nothing resists, the links at fault and the state).

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> forward_dynamics(arm, [0, 0], [0, 0], [30, 10]).round(12)  # held level: the torques that carry its weight
    array([0., 0.])
    """
    _refuse_symbols(robot)
    refuse_unknown(unknown, ("loads", "stick"))
    q, dq, tau = robot.state(q=q, dq=dq, tau=tau)
    inputs, loads = {"q": q, "dq": dq, "tau": tau}, listed_loads(loads)
    with np.errstate(over="ignore", invalid="ignore"):
        M, h = (finite(part, "the torque", robot, **inputs) for part in _mass_and_bias(robot, q, dq))
    if loads:
        h = h + static_torques(robot, _wrapped(robot, q), loads)
        q, dq, tau, h = batches_together(q=q, dq=dq, tau=tau, h=h)
        M = np.broadcast_to(M, (*h.shape, robot.n))
    structure.refuse_singular(robot, q, M)
    drive = _Drive.of(robot)
    right = tau - h - drive.viscous * dq - np.where(dq > 0, drive.forward, np.where(dq < 0, drive.backward, 0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        found = finite(np.linalg.solve(M, right[..., None])[..., 0], "the acceleration", robot, **inputs, loads=loads)
    if not stick:
        return found
    least = _least(robot)
    resting = (dq == 0) & ((drive.forward > 0) | (drive.backward < 0))
    for index in map(tuple, np.argwhere(resting.any(axis=-1))):
        ranges = [drive.range(i) if resting[index][i] else None for i in range(robot.n)]
        found[index], _ = _switch(
            M[index].tolist(), right[index].tolist(), ranges, [(-1, 1)] * robot.n, least(q[index])
        )
    return found


def _refuse_symbols(robot: Robot) -> None:
    refuse_no_robot(robot)
    if robot.is_symbolic:
        held = f" {', '.join(map(str, robot.symbols))}" if robot.symbols else ""
        raise ValueError(
            f"{robot.name} holds exact data or symbols{held}; motion is computed with floats. Give it numbers with "
            "robot.subs(...)."
        )


def _wrapped(robot: Robot, q: Array) -> Array:
    """Return joint values with full turns taken off; after many turns they are large, and no mistake for degrees."""
    turning = np.array([link.turn for link in robot.links], dtype=bool)
    return np.where(turning, np.remainder(q, 2 * np.pi), q)


@lru_cache(maxsize=64)
def _bare(robot: Robot) -> tuple[Robot, Array, Array]:
    """Return the arm without motors and gravity, its rotor inertias (N,), and gravity in base axes (3,)."""
    ideal = replace(robot, links=[replace(link, motor=None) for link in robot.links], gravity=[0, 0, 0])
    motors = [link.motor for link in robot.links]
    rotors = np.array([0.0 if motor is None else float(motor.inertia * motor.gear**2) for motor in motors])
    return ideal, rotors, apply(transpose(rotation(robot.base)), robot.gravity)


def _mass_and_bias(robot: Robot, q: Array, dq: Array) -> tuple[Array, Array]:
    """Return M (..., N, N) with rotors and C dq + g (..., N), from one call of the recursion for N+1 motions.

    Weight is felt in the first motion alone, where the base is accelerated upward instead; so the columns of M carry
    no rounding errors of the weight.
    """
    ideal, rotors, g = _bare(robot)
    n = robot.n
    rates = np.zeros((*dq.shape[:-1], n + 1, n))
    rates[..., 0, :] = dq
    units = np.vstack([np.zeros(n), np.eye(n)])
    upward = np.zeros((n + 1, 3))
    upward[0] = -g
    if not any(np.any(body.mass) or np.any(body.inertia) for body in ideal.known_bodies()):
        return np.zeros((*q.shape, n)) + np.diag(rotors), np.zeros(q.shape)
    links = newton_euler.recursion(ideal, _wrapped(robot, q)[..., None, :], rates, units, base=BaseMotion(dv=upward))
    tau = np.stack([link.tau for link in links], axis=-1)
    columns = tau[..., 1:, :]
    return (columns + transpose(columns)) / 2 + np.diag(rotors), tau[..., 0, :]


def _least(robot: Robot) -> Callable[[Sequence[float]], list[float]]:
    """Return the least pivot of each row of M that is no rounding, as a function of the joint values."""

    def at(q: Sequence[float]) -> list[float]:
        return (structure.REGULAR * structure.reference_inertia(robot, np.asarray(q))).tolist()

    if any(link.slide for link in robot.links[1:]):
        return at
    always = at([0.0] * robot.n)
    return lambda q: always


@dataclass(frozen=True)
class _Drive:
    """Friction of all joints, seen at the joints, each (N,)."""

    viscous: Array
    forward: Array
    backward: Array

    @classmethod
    def of(cls, robot: Robot) -> "_Drive":
        """Return the friction of the motors of an arm."""
        rows = [
            (0.0, 0.0, 0.0)
            if (motor := link.motor) is None
            else (float(motor.viscous * motor.gear**2), *(abs(float(motor.gear)) * motor.coulomb).tolist())
            for link in robot.links
        ]
        return cls(*np.array(rows).T)

    def range(self, i: int) -> tuple[float, float]:
        """Return what dry friction can add to the torque of a joint at rest: at least, and at most."""
        return -float(self.forward[i]), -float(self.backward[i])


def _switch(
    M: Sequence[list[float]],
    right: list[float],
    ranges: list[tuple[float, float] | None],
    ways: list[tuple[int, int]],
    least: Sequence[float],
) -> tuple[list[float], list[int | None]]:
    """Decide which of the joints at rest stay there.

    A joint at rest gets from friction and stop what it needs, within a range; if that is not enough it moves off, and
    the friction then has the value at the end of the range. The accelerations that fit are unique, for they minimize
    a convex function. The few combinations are tried, all at rest first.

    Args:
        M: mass matrix.
        right: all other torques.
        ranges: of each joint at rest, least and most that may be added; None for a joint that moves.
        ways: of each joint, the senses into which it can move off, (-1, 1), (0, 1) or (-1, 0).
        least: of each joint, the least pivot that is no rounding.

    Returns:
        The accelerations; and for each joint 0 (stays at rest), 1 or -1 (moves off), None (was not at rest).
    """
    options = [(None,) if each is None else (0, *filter(None, ways[i])) for i, each in enumerate(ranges)]
    best: tuple[float, list[float], list[int | None]] = (math.inf, [], [])
    for modes in product(*options):
        given = list(right)
        for i, (mode, each) in enumerate(zip(modes, ranges, strict=True)):
            if mode and each is not None:
                given[i] += each[0] if mode > 0 else each[1]
        a = _solve(M, given, [mode != 0 for mode in modes], least)
        worst = 0.0
        scale = max(map(abs, given)) or 1.0
        for i, (mode, each) in enumerate(zip(modes, ranges, strict=True)):
            if each is None or mode is None:
                continue
            if mode:
                worst = max(worst, -mode * a[i] * M[i][i] / scale)
            else:
                needed = sum(M[i][j] * a[j] for j in range(len(a))) - right[i]
                worst = max(worst, (each[0] - needed) / scale, (needed - each[1]) / scale)
        if worst < best[0]:
            best = (worst, a, list(modes))
        if worst <= _ENOUGH:
            break
    return best[1], best[2]


def _solve(M: Sequence[list[float]], right: list[float], free: Sequence[bool], least: Sequence[float]) -> list[float]:
    """Solve for the free joints' accelerations by Gauss's elimination; the others have none.

    Raises:
        ZeroDivisionError: a pivot that is not positive, or less than the least that is no rounding.
    """
    if len(free) == 2 and all(free):  # written out: the planar 2R of the chapters is called often
        (m11, m12), (m21, m22) = M
        if not (m11 > least[0] and (pivot := m22 - m21 / m11 * m12) > least[1]):
            raise ZeroDivisionError
        second = (right[1] - m21 / m11 * right[0]) / pivot
        return [(right[0] - m12 * second) / m11, second]
    chosen = [i for i, moves in enumerate(free) if moves]
    rows = [[M[i][j] for j in chosen] + [right[i]] for i in chosen]
    size = len(chosen)
    for k in range(size):
        row, pivot = rows[k], rows[k][k]
        if not pivot > least[chosen[k]]:
            raise ZeroDivisionError
        for lower in rows[k + 1 :]:
            if factor := lower[k] / pivot:
                for j in range(k + 1, size + 1):
                    lower[j] -= factor * row[j]
    found = [0.0] * len(free)
    for k in reversed(range(size)):
        rest = rows[k][size] - sum(rows[k][j] * found[chosen[j]] for j in range(k + 1, size))
        found[chosen[k]] = rest / rows[k][k]
    return found
