r"""Motion: the equations of motion run forward in time.

.. math:: \ddot q = M^{-1}\,\big(\tau - C\dot q - g - \text{friction} + J^\top F\big)

Inverse dynamics asks which torques a motion needs; here the torques are known and the motion is wanted. Dry friction
and joint stops switch the equations: a joint slides, sticks, rests at a stop or bounces off it. Each switch is found as
an event, and after it the equations are set up anew, so that a stuck joint really stands still.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import sympy

from dynlib import lagrange, newton_euler, structure
from dynlib.algebra.arrays import Array, apply, as_array, as_floats, batches_together, exact_array, finite, transpose
from dynlib.algebra.notation import tidy
from dynlib.frames import rotation
from dynlib.given import refuse_other_arguments, refuse_unknown
from dynlib.integration import (
    TOO_SHORT,
    SimulationError,
    Solver,
    Watch,
    chosen,
    fastest_decay,
    one_number,
    refuse_large,
    supplier,
    torques,
    with_its_cause,
)
from dynlib.integration import SimulationInterrupted as SimulationInterrupted
from dynlib.model.robot import Robot, refuse_no_robot
from dynlib.velocity import BaseMotion, Wrench, listed_wrenches, static_torques

Torque = Callable[[float, Array, Array], Any]
"""Torques as a function of time (s), joint values (N,) and rates (N,)."""

Wanted = Callable[[float], tuple[Array, Array, Array]]
"""A wanted motion, as a function of time (s); it gives joint values, rates and accelerations, each (N,)."""

RTOL, ATOL = 1e-13, 1e-13
"""Error that a step of the explicit method may make, relative and absolute; tight, so that the energy of a free arm
stays what it is."""

SLOWEST_REBOUND = 1e-6
"""A joint that leaves a stop after an impact more slowly than this, in rad/s or m/s, counts as resting there."""

EXPANDED_UP_TO = 3
"""Joints of an arm up to which its formulas are expanded; those of larger arms have many times as many terms then."""

_COMPILED_UP_TO = 7  # joints; the formulas of larger arms take long to derive
_LONGEST, _DEEPEST = 50, 20  # of an expression that Python's compiler is given; it is recursive
_ENOUGH = 1e-12  # relative error of the torques at rest with which a combination of joints that move off fits
_SLACK = 1e-9  # of the torques at work: so much more than dry friction can hold sets a joint free
_UNMOVED = 1e-12  # of the largest change of rate in an impact, in the measure of the masses: less is rounding
_LOOKS = 8  # places in each step where events are looked for
_MOST_SWITCHES = 50  # without time going on


# ---- Forward dynamics ------------------------------------------------------------------------------


def forward_dynamics(
    robot: Robot, q: Any, dq: Any, tau: Any, *, wrenches: Sequence[Wrench] = (), stick: bool = False, **unknown: Any
) -> Array:
    r"""Return the accelerations that torques cause: inverse dynamics read backwards.

    Mass matrix and all other torques come from one call of the recursion for N+1 motions: the true rates without
    acceleration, and each joint's unit acceleration at rest and without weight.

    Args:
        robot: the arm, of floats; every link needs a mass (0 is allowed if the mass matrix stays regular).
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        tau: torques or forces of the motors, seen at the joints, shape (..., N), in N m or N.
        wrenches: loads that the surroundings put *on* the arm.
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
    refuse_unknown(unknown, ("wrenches", "stick"))
    q, dq, tau = robot.state(q=q, dq=dq, tau=tau)
    inputs, wrenches = {"q": q, "dq": dq, "tau": tau}, listed_wrenches(wrenches)
    with np.errstate(over="ignore", invalid="ignore"):
        M, h = (finite(part, "the torque", robot, **inputs) for part in _mass_and_bias(robot, q, dq))
    if wrenches:
        h = h + static_torques(robot, _wrapped(robot, q), wrenches)
        q, dq, tau, h = batches_together(q=q, dq=dq, tau=tau, h=h)
        M = np.broadcast_to(M, (*h.shape, robot.n))
    structure.refuse_singular(robot, q, M)
    drive = _Drive.of(robot)
    right = tau - h - drive.viscous * dq - np.where(dq > 0, drive.forward, np.where(dq < 0, drive.backward, 0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        found = finite(
            np.linalg.solve(M, right[..., None])[..., 0], "the acceleration", robot, **inputs, wrenches=wrenches
        )
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


# ---- The equations of an arm, ready for many calls -------------------------------------------------

Equations = Callable[[list[float], list[float]], tuple[Sequence[list[float]], list[float]]]
"""M, by rows, and C dq + g as lists of floats, for lists of joint values and rates."""


def equations_of(robot: Robot, *, compiled: bool | None = None) -> Equations:
    r"""Return the equations of motion of an arm as a function of floats that is fast to call many times.

    Args:
        robot: the arm, of floats; rotors count, friction does not.
        compiled: whether closed formulas are derived and compiled once, so that a call takes microseconds; otherwise
            each call runs the recursion, which takes milliseconds. By default for up to 7 joints: deriving takes
            seconds for the arms of the catalogue, and with each joint more twice as long.

    Returns:
        A function of the joint values and rates, lists of N floats, that gives the rows of M, each a list, and
        :math:`C\dot q+g`, a list.

    Raises:
        ValueError: symbols, or a link without mass data.

    >>> from dynlib import robots
    >>> equations_of(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10))([0.0, 0.0], [0.0, 0.0])
    (([5.0, 2.0], [2.0, 1]), [30.0, 10.0])
    """
    _refuse_symbols(robot)
    robot.known_bodies()
    if compiled not in (None, True, False):
        raise TypeError(f"compiled is {compiled!r}; expected True, False or None, for what fits the size of the arm.")
    return _equations(robot, robot.n <= _COMPILED_UP_TO if compiled is None else compiled)


@lru_cache(maxsize=64)
def _equations(robot: Robot, compiled: bool) -> Equations:
    """Return M and C dq + g of an arm, as a compiled closed form or by the recursion."""
    return _closed_form(robot) if compiled else _by_recursion(robot)


def _by_recursion(robot: Robot) -> Equations:
    def equations(q: list[float], dq: list[float]) -> tuple[Sequence[list[float]], list[float]]:
        M, h = _mass_and_bias(robot, np.array(q), np.array(dq))
        return M.tolist(), h.tolist()

    return equations


def _closed_form(robot: Robot) -> Equations:
    """Derive M and C dq + g once, and turn them into a function of floats."""
    q, dq, M, h = formulas(robot)
    lines, found = in_pieces([*M.flat, *h])
    results = np.array(found[: M.size], dtype=object).reshape(M.shape).tolist(), found[M.size :]
    results = tuple(results[0]), results[1]
    evaluate = sympy.lambdify([*q, *dq], results, modules="math", cse=lambda _: (lines, results))
    return lambda q, dq: evaluate(*q, *dq)


def formulas(robot: Robot, symbols: tuple[Array, Array] | None = None) -> tuple[Array, Array, Array, Array]:
    r"""Derive the equations of motion of an arm of numbers as closed formulas, floats read as the decimals they show.

    Args:
        robot: the arm, of floats; rotors count, friction does not.
        symbols: of the joint values and of the rates, each (N,), if they are not to be those of the arm.

    Returns:
        The symbols of the joint values and rates, each (N,); M, shape (N, N); and :math:`C\dot q+g`, shape (N,). For up
        to 3 joints they are sums of products, with sines and cosines of sums of angles; for more as the recursion
        gives them, in brackets.

    >>> from dynlib import robots
    >>> formulas(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10))[3][1]
    dtheta1**2*sin(theta2) + 10*cos(theta1 + theta2)
    """
    without_motors = replace(robot, links=[replace(link, motor=None) for link in robot.links])
    exact = without_motors.exact(round_angles=False)
    q, dq = symbols or exact.motion_symbols()[:2]
    M = structure.mass_matrix(exact, q) + np.diag(exact_array(_bare(robot)[1]))
    h = structure.velocity_torque(exact, q, dq) + structure.gravity_torque(exact, q)
    if robot.n > EXPANDED_UP_TO:
        return q, dq, M, h
    tidied = np.frompyfunc(tidy, 1, 1)
    return q, dq, tidied(M), tidied(h)


def in_pieces(
    formulas: Sequence[sympy.Expr],
) -> tuple[list[tuple[sympy.Symbol, sympy.Expr]], list[sympy.Expr]]:
    """Cut formulas into short assignments, each of what occurs more than once, is long or is deep.

    Every part is looked at once, so that this takes a time proportional to the different parts, however often they
    occur; and no assignment is so long or deep that Python's compiler, which is recursive, could not read it.

    Args:
        formulas: expressions without names that begin with ``p_``.

    Returns:
        Names with their values, in the order in which they can be computed; and the formulas in these names.

    >>> a, b = sympy.symbols("a b")
    >>> in_pieces([sympy.sin(a + b), (a + b) ** 2])
    ([(p_0, a + b)], [sin(p_0), p_0**2])
    """
    parts = _parts(formulas)
    uses = Counter(argument for part in parts for argument in part.args)
    lines: list[tuple[sympy.Symbol, sympy.Expr]] = []
    short: dict[sympy.Expr, tuple[sympy.Expr, int]] = {}  # each part in names, and how deep that is

    def named(value: sympy.Expr) -> sympy.Symbol:
        lines.append((sympy.Symbol(f"p_{len(lines)}"), value))
        return lines[-1][0]

    for part in parts:
        if part.is_Atom:
            short[part] = part, 0
            continue
        arguments = [short[argument][0] for argument in part.args]
        depth = 1 + max(short[argument][1] for argument in part.args)
        while len(arguments) > _LONGEST:
            groups = [arguments[k : k + _LONGEST] for k in range(0, len(arguments), _LONGEST)]
            arguments = [named(part.func(*group, evaluate=False)) for group in groups]
        value = part.func(*arguments, evaluate=False)
        short[part] = (named(value), 0) if uses[part] > 1 or depth >= _DEEPEST else (value, depth)
    return lines, [short[formula][0] for formula in formulas]


def _parts(formulas: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    """Return all different parts of formulas, each after its own parts."""
    found: dict[sympy.Expr, bool] = {}  # whether all parts of a part stand before it
    waiting = list(reversed(formulas))
    while waiting:
        part = waiting[-1]
        if found.get(part):
            waiting.pop()
        elif part in found:
            del found[part]
            found[part] = True
        else:
            found[part] = False
            waiting.extend(argument for argument in part.args if not found.get(argument))
    return list(found)


# ---- Simulation ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """A switch of the equations of motion.

    Attributes:
        t: time, in s.
        joint: number of the joint, from 1.
        kind: ``"sticks"``, ``"slides"`` (breaks away or turns back), ``"hits"`` (a stop), ``"rests"`` (at a stop) or
            ``"leaves"`` (a stop, from rest).
        lost: energy that an impact took, in J; 0 for the others.
    """

    t: float
    joint: int
    kind: str
    lost: float = 0.0


@dataclass(frozen=True, eq=False)
class Motion:
    r"""A motion of an arm, at K times.

    Attributes:
        t: times, shape (K,), in s.
        q: joint values, shape (K, N), in rad or m; not wrapped after full turns.
        dq: joint rates, shape (K, N), in rad/s or m/s.
        ddq: joint accelerations, shape (K, N), in rad/s² or m/s².
        tau: what the motors supply, shape (K, N), in N m or N.
        kinetic: kinetic energy with the rotors, shape (K,), in J.
        potential: potential energy, zero at the origin of {0}, shape (K,), in J.
        work: what the motors and loads have put in since the start, shape (K,), in J.
        lost: what friction and impacts have taken since the start, shape (K,), in J.
        events: switches of the equations, in order.
        method: by which it was integrated, ``"DOP853"`` or ``"Radau"``.
        rtol: error that a step was allowed to make, relative.
        atol: error that a step was allowed to make, absolute, in units of the state.
    """

    t: Array
    q: Array
    dq: Array
    ddq: Array
    tau: Array
    kinetic: Array
    potential: Array
    work: Array
    lost: Array
    events: tuple[Event, ...]
    method: str
    rtol: float
    atol: float

    @property
    def energy(self) -> Array:
        """Return kinetic plus potential energy, shape (K,), in J."""
        return self.kinetic + self.potential

    @property
    def imbalance(self) -> Array:
        """Return what the power balance misses since the start, shape (K,), in J; exactly 0 if nothing were rounded."""
        return self.energy - self.energy[:1] - self.work + self.lost

    def __repr__(self) -> str:
        if not len(self.t):
            return "motion without any state"
        joints, events = self.q.shape[1], len(self.events)
        return (
            f"motion over {self.t[-1] - self.t[0]:g} s at {_counted(len(self.t), 'time')}: "
            f"{_counted(joints, 'joint')}, {self.method}, lost {self.lost[-1]:.4g} J, {_counted(events, 'event')}"
        )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def simulate(
    robot: Robot,
    q0: Any,
    dq0: Any,
    t: Any,
    torque: Torque | Any = None,
    *,
    wrenches: Sequence[Wrench] = (),
    stops: Any = None,
    restitution: Any = 0.0,
    method: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float = math.inf,
    progress: Callable[[float], Any] | None = None,
    compiled: bool | None = None,
) -> Motion:
    r"""Let an arm move, from a state at the first of some times to the last.

    Between events the equations are integrated by DOP853, a Runge-Kutta method of order 8 with tolerances of 1e-13. If
    viscous friction brakes a joint within a fiftieth of a second (the largest eigenvalue of :math:`M^{-1}B` at the
    start is above 50 1/s) that would take very many steps; then Radau is taken, an implicit method of order 5, with
    tolerances of 1e-8. The motion says which it was. Dry friction of the motors sticks and slips; a joint at a stop
    rests there or bounces.

    A run of more than some seconds shows on the standard error stream how far it is and how long it will take (in a
    notebook after a minute). Ctrl-C ends it and keeps the motion up to there.

    Args:
        robot: the arm, of floats; the inertia and friction of its motors count.
        q0: joint values at the start, shape (N,), in rad or m.
        dq0: joint rates at the start, shape (N,), in rad/s or m/s.
        t: times at which the motion is wanted, ascending, shape (K,), K >= 2, in s; it starts at the first.
        torque: what the motors supply, seen at the joints, in N m or N: None for nothing, an array (N,), or a function
            ``torque(t, q, dq)``.
        wrenches: loads that the surroundings put *on* the arm all the time.
        stops: lowest and highest joint value of each joint, shape (N, 2), in rad or m; ``None`` in place of a number or
            of both for a joint that has none there.
        restitution: rate after the impact divided by rate before it, 0 to 1, one number or shape (N,).
        method: ``"DOP853"`` or ``"Radau"``, if the choice is not to be made by the friction. A controller that brakes a
            light link hard makes the equations stiff, too.
        rtol: error allowed in a step, relative; by default that of the method.
        atol: error allowed in a step, absolute, in units of the state; by default that of the method.
        max_step: longest step, in s; for a torque with pulses that long steps would miss.
        progress: is called with the share done, 0 to 1, at most about a hundred times (it jumps where the solver
            takes long steps), such as ``lambda share: print(f"\r{share:4.0%}", end="")``; then nothing is shown by
            itself.
        compiled: whether the equations are derived and compiled first, which makes each call a hundred times as fast;
            by default for up to 7 joints (see :func:`equations_of`).

    Returns:
        :class:`Motion`.

    Raises:
        ValueError: times that do not ascend, wrong shapes or numbers, a start beyond a stop, symbols, a link without
            mass data or a singular mass matrix at the start.
        TypeError: something that is no number where one is expected.
        SimulationError: the motion cannot be continued; it says at which time and state, and holds the motion so far.
        SimulationInterrupted: Ctrl-C (it is a :class:`KeyboardInterrupt`); it holds the motion so far, too.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> motion = simulate(arm, [0, 0], [0, 0], np.linspace(0, 2, 21))  # falls from the level
    >>> motion.q.shape, abs(motion.imbalance).max() < 1e-11
    ((21, 2), np.True_)
    """
    _refuse_symbols(robot)
    q, dq = _start(robot, q0, dq0)
    times = _times(t)
    limits, bounce = _stops(robot, stops, restitution, q)
    wrenches = listed_wrenches(wrenches)
    with np.errstate(over="ignore", invalid="ignore"):
        M = _mass_and_bias(robot, q, np.zeros(robot.n))[0]
        structure.refuse_singular(robot, q, M)
    decay, span = fastest_decay(M, np.diag(_Drive.of(robot).viscous)), float(times[-1] - times[0])
    run = _Run(
        robot=robot,
        equations=equations_of(robot, compiled=compiled),
        torque=_torque(robot, torque),
        wrenches=wrenches,
        limits=limits,
        bounce=bounce,
        solver=chosen(decay, span, RTOL, method=method, rtol=rtol, atol=atol, max_step=max_step),
    )
    return run.through(q, dq, times, progress)


def _start(robot: Robot, q0: Any, dq0: Any) -> tuple[Array, Array]:
    q, dq = robot.state(q0=q0, dq0=dq0)
    if q.ndim != 1:
        raise ValueError(
            f"q0 and dq0 have the shape {q.shape}; expected ({robot.n},): one start. For several, call simulate in a "
            "loop, since each has steps and events of its own."
        )
    return q, dq


def _times(t: Any) -> Array:
    times = as_floats(as_array(t, "t", (), batch=True))
    if times.ndim != 1 or len(times) < 2:
        raise ValueError(
            f"t has the shape {times.shape}; expected at least two times, such as numpy.linspace(0, 10, 501): the "
            "motion starts at the first and is given at all of them."
        )
    steps = np.diff(times)
    if (steps <= 0).any():
        k = int(np.argmax(steps <= 0))
        what = "a time span of length zero" if steps[k] == 0 else "time would run backwards"
        raise ValueError(
            f"t[{k}] = {times[k]:g} s is followed by {times[k + 1]:g} s: {what}; expected ascending times."
        )
    return times


def _stops(robot: Robot, stops: Any, restitution: Any, q: Array) -> tuple[Array, Array]:
    limits = np.tile([-np.inf, np.inf], (robot.n, 1)) if stops is None else _limits(robot, stops)
    for i, (low, high) in enumerate(limits):
        if not low < high:
            raise ValueError(f"the stops of joint {i + 1} are {low:g} and {high:g}; expected the lower one first.")
        if not low <= q[i] <= high:
            raise ValueError(f"joint {i + 1} starts at {q[i]:g}, beyond its stops {low:g} and {high:g}.")
    bounce = as_floats(as_array(restitution, "restitution", (), batch=True))
    if bounce.shape not in ((), (robot.n,)) or not ((bounce >= 0) & (bounce <= 1)).all():
        raise ValueError(
            f"restitution is {bounce.tolist()}; expected one number or {robot.n} numbers from 0 (no rebound) to 1 (no "
            "loss)."
        )
    return limits, np.broadcast_to(bounce, (robot.n,))


def _limits(robot: Robot, stops: Any) -> Array:
    """Read the stops of each joint, a pair or None; None in a pair is a side without a stop."""
    pairs = list(stops) if isinstance(stops, Iterable) and not isinstance(stops, str) else stops
    if not isinstance(pairs, list) or len(pairs) != robot.n:
        came = f"has the shape {np.array(pairs, dtype=object).shape}" if isinstance(pairs, list) else f"is {stops!r}"
        raise ValueError(
            f"stops {came}; expected ({robot.n}, 2): lowest and highest value of each joint, None for a joint without "
            "stops."
        )
    found = []
    for i, pair in enumerate(pairs):
        bounds = [None, None] if pair is None else list(pair) if isinstance(pair, Iterable) else [pair]
        if len(bounds) != 2 or isinstance(pair, str):
            raise ValueError(
                f"the stops of joint {i + 1} are {pair!r}; expected the lowest and the highest value, or None."
            )
        ends = zip(bounds, (-math.inf, math.inf), strict=True)
        found.append([end if each is None else one_number(f"a stop of joint {i + 1}", each) for each, end in ends])
    return np.array(found)


def _torque(robot: Robot, torque: Any) -> Callable[[float, list[float], list[float]], list[float]] | None:
    if torque is None:
        return None
    if not callable(torque):
        if isinstance(torque, np.ndarray) and torque.ndim > 1:
            raise ValueError(
                f"torque has the shape {torque.shape}; expected ({robot.n},), or a function torque(t, q, dq) if it "
                "changes in time."
            )
        constant = torques([torque] if robot.n == 1 and np.ndim(torque) == 0 else torque, robot.n, "torque")
        return lambda t, q, dq: constant
    return supplier(torque, robot.n)


class _Run:
    """One simulation: the equations between events, the events, and what happens at them."""

    def __init__(
        self,
        robot: Robot,
        equations: Equations,
        torque: Callable[[float, list[float], list[float]], list[float]] | None,
        wrenches: Sequence[Wrench],
        limits: Array,
        bounce: Array,
        solver: Solver,
    ):
        self.solver = solver
        self.robot, self.equations, self.torque = robot, equations, torque
        self.wrenches, self.limits, self.bounce = tuple(wrenches), limits.tolist(), bounce.tolist()
        self.n, self.drive, self.least = robot.n, _Drive.of(robot), _least(robot)
        self.viscous = self.drive.viscous.tolist()
        self.rubs = [bool(f or b) for f, b in zip(self.drive.forward, self.drive.backward, strict=True)]
        self.sense = [0] * self.n  # in which a joint slides; 0 without dry friction
        self.held: list[tuple[float, float] | None] = [None] * self.n  # range of the torque that holds a joint at rest
        self.at_stop = [0] * self.n  # the stop at which a joint rests: -1 the lower, 1 the upper
        self.energies = bool(torque or wrenches or any(self.viscous) or any(self.rubs))
        self.impact_loss = 0.0
        self.slack = 0.0  # torque beyond what holds a joint that is needed to set it free
        self.events: list[Event] = []

    # -- The equations between two events

    def supplied(self, t: float, q: list[float], dq: list[float]) -> list[float]:
        """Return the torques of motors and loads."""
        tau = [0.0] * self.n if self.torque is None else self.torque(t, q, dq)
        if not self.wrenches:
            return tau
        loads = static_torques(self.robot, _wrapped(self.robot, np.array(q)), self.wrenches)
        return [mine - load for mine, load in zip(tau, loads.tolist(), strict=True)]

    def friction(self, dq: list[float]) -> list[float]:
        """Return the friction of the joints that move."""
        found = [viscous * rate for viscous, rate in zip(self.viscous, dq, strict=True)]
        for i, sense in enumerate(self.sense):
            if sense:
                found[i] += float(self.drive.forward[i] if sense > 0 else self.drive.backward[i])
        return found

    def terms(self, t: float, y: list[float]) -> tuple[Sequence[list[float]], list[float], list[float], list[float]]:
        """Return M, all torques but those that hold joints at rest, the supplied torques, and the friction."""
        q, dq = y[: self.n], y[self.n : 2 * self.n]
        refuse_large(t, y, self.n)
        M, h = self.equations(q, dq)
        if not self.energies:  # nothing but weight and inertia: the usual case where many steps are needed
            return M, [-other for other in h], [0.0] * self.n, [0.0] * self.n
        tau, friction = self.supplied(t, q, dq), self.friction(dq)
        return M, [mine - other - lost for mine, other, lost in zip(tau, h, friction, strict=True)], tau, friction

    def acceleration(self, t: float, y: list[float], M: Sequence[list[float]], right: list[float]) -> list[float]:
        """Return the accelerations; joints that are held have none."""
        try:
            return _solve(M, right, [held is None for held in self.held], self.least(y[: self.n]))
        except ZeroDivisionError:
            raise self.singular(t, y) from None

    def singular(self, t: float, y: list[float]) -> SimulationError:
        """Return the error of a mass matrix that is not positive definite, or not a number."""
        q, dq = np.array(y[: self.n]), np.array(y[self.n : 2 * self.n])
        why = "the mass matrix is not positive definite."
        try:
            structure.refuse_singular(self.robot, q, _mass_and_bias(self.robot, q, dq)[0])
        except ValueError as error:
            why = str(error)
        return SimulationError(why, t, q.tolist(), dq.tolist())

    def rates(self, t: float, state: Array) -> list[float]:
        """Return the derivative of the state: joint values, rates and, if they change, work and loss."""
        y = state.tolist()
        M, right, tau, friction = self.terms(t, y)
        dq = y[self.n : 2 * self.n]
        found = dq + self.acceleration(t, y, M, right)
        if self.energies:
            found.append(sum(torque * rate for torque, rate in zip(tau, dq, strict=True)))
            found.append(sum(torque * rate for torque, rate in zip(friction, dq, strict=True)))
        return found

    # -- Events: each is a number that falls below zero

    def watched(self) -> list[tuple[str, int]]:
        """Return which events can happen now: a kind and a joint."""
        found = []
        for i in range(self.n):
            if self.held[i] is not None:
                found.append(("slips", i))
                continue
            if self.sense[i]:
                found.append(("stands", i))
            low, high = self.limits[i]
            found += [("low", i)] * math.isfinite(low) + [("high", i)] * math.isfinite(high)
        return found

    def reserves(self, t: float, state: Array, watched: Iterable[tuple[str, int]]) -> list[float]:
        """Return how far each event is away; below 0 it has happened."""
        y = state.tolist()
        needed: list[float] | None = None
        found = []
        for kind, i in watched:
            if kind == "stands":
                found.append(self.sense[i] * y[self.n + i])
            elif kind in ("low", "high"):
                way, rate = (1, y[self.n + i]) if kind == "low" else (-1, -y[self.n + i])
                stop = self.limits[i][kind == "high"]
                gap = way * (y[i] - stop)
                leaves = rate >= 0 and abs(gap) < 1e-12 * max(1.0, abs(stop))  # only rounding puts it beyond
                found.append(max(gap, 0.0) if leaves else gap)
            else:
                if needed is None:
                    M, right, _, _ = self.terms(t, y)
                    a = self.acceleration(t, y, M, right)
                    needed = [sum(m * b for m, b in zip(row, a, strict=True)) for row in M]
                    needed = [need - other for need, other in zip(needed, right, strict=True)]
                held = self.held[i]
                assert held is not None
                low, high = held
                slack = self.slack + _SLACK * max((abs(each) for each in held if math.isfinite(each)), default=0.0)
                found.append(min(needed[i] - low, high - needed[i]) + slack)
        return found

    def reserve(self, state: Any, watched: tuple[str, int], t: float) -> float:
        """Return how far one event is away at a time within a step."""
        return self.reserves(t, state(t), [watched])[0]

    def first_event(
        self, start: float, end: float, state: Any, watched: list[tuple[str, int]]
    ) -> tuple[float, int] | None:
        """Return time and number of the first event in a step, if there is one."""
        from scipy.optimize import brentq

        before, earlier = self.reserves(start, state(start), watched), start
        for look in np.linspace(start, end, _LOOKS + 1)[1:].tolist():
            now = self.reserves(look, state(look), watched)
            fell = [k for k in range(len(watched)) if now[k] < 0]
            if fell:
                roots = []
                for k in fell:
                    reserve, near = partial(self.reserve, state, watched[k]), earlier
                    if before[k] <= 0:  # it has left the place of the event only now: look for it beyond
                        tries = (earlier + (look - earlier) * 0.5**halved for halved in range(1, 40))
                        near = next((at for at in tries if reserve(at) > 0), earlier)
                    roots.append((brentq(reserve, near, look, xtol=1e-15) if reserve(near) > 0 else near, k))
                return min(roots)
            before, earlier = now, look
        return None

    def happen(self, t: float, y: list[float], kind: str, i: int) -> None:
        """Change the state at an event, then decide anew which joints move."""
        if kind == "stands":
            y[self.n + i] = 0.0
        elif kind in ("low", "high"):
            y[i] = self.limits[i][kind == "high"]
            self.hit(t, y, i)
        self.decide(t, y)

    def touching(self, y: list[float], i: int) -> int:
        """Return -1 for a joint at its lower stop, 1 at its upper one, else 0."""
        return (y[i] >= self.limits[i][1]) - (y[i] <= self.limits[i][0])

    def hit(self, t: float, y: list[float], i: int) -> None:
        """Let joint i hit its stop: the impulse changes all rates at once, and stops that are touched hold."""
        n = self.n
        M, _ = self.equations(y[:n], y[n : 2 * n])
        before = y[n : 2 * n]
        stops = [self.touching(y, k) for k in range(n)]
        least = [-stops[k] * max(0.0, self.bounce[k] * stops[k] * before[k]) for k in range(n)]
        least = [0.0 if abs(rate) < SLOWEST_REBOUND else rate for rate in least]
        best: tuple[float, list[float]] = (math.inf, list(before))
        touched = [k for k in range(n) if stops[k]]
        for pushed in product((True, False), repeat=len(touched)):
            fixed = {k: least[k] for k, active in zip(touched, pushed, strict=True) if active}
            jump = [least[k] - before[k] if k in fixed else 0.0 for k in range(n)]
            right = [-sum(M[r][c] * jump[c] for c in range(n)) for r in range(n)]
            free = _solve(M, right, [k not in fixed for k in range(n)], self.least(y[:n]))
            jump = [jump[k] + free[k] for k in range(n)]
            push = [sum(M[r][c] * jump[c] for c in range(n)) for r in range(n)]
            wrong = [stops[k] * push[k] / M[k][k] for k in fixed]
            wrong += [stops[k] * (before[k] + jump[k] - least[k]) for k in touched if k not in fixed]
            if (worst := max(wrong, default=0.0)) < best[0]:
                best = (worst, [fixed.get(k, before[k] + jump[k]) for k in range(n)])
            if worst <= 0:
                break
        for k in touched:
            if abs(best[1][k]) < SLOWEST_REBOUND:
                best[1][k] = 0.0
        strongest = max(M[k][k] * (best[1][k] - before[k]) ** 2 for k in range(n))
        for k in range(n):  # an impact that does not reach a joint at rest leaves it there, whatever is rounded
            if before[k] == 0 and M[k][k] * best[1][k] ** 2 < _UNMOVED**2 * strongest:
                best[1][k] = 0.0
        y[n : 2 * n] = best[1]
        loss = self.kinetic(M, before) - self.kinetic(M, best[1])
        self.impact_loss += loss
        if abs(before[i]) > SLOWEST_REBOUND or best[1][i]:
            self.events.append(Event(t, i + 1, "hits", loss))

    def kinetic(self, M: Sequence[list[float]], rates: list[float]) -> float:
        """Return the kinetic energy."""
        return sum(M[r][c] * rates[r] * rates[c] for r in range(self.n) for c in range(self.n)) / 2

    def decide(self, t: float, y: list[float], first: bool = False) -> None:
        """Decide for every joint at rest whether friction or a stop holds it, and note what has changed."""
        n, old_sense, old_held = self.n, self.sense, self.held
        rates = y[n : 2 * n]
        touching = [self.touching(y, i) for i in range(n)]
        resting = [rates[i] == 0 and bool(self.rubs[i] or touching[i]) for i in range(n)]
        self.sense = [0 if resting[i] or not self.rubs[i] else (rates[i] > 0) - (rates[i] < 0) for i in range(n)]
        self.held = [None] * n
        M, right, tau, _ = self.terms(t, y)
        ranges: list[tuple[float, float] | None] = [None] * n
        for i in range(n):
            if resting[i]:
                low, high = self.drive.range(i)
                ranges[i] = (-math.inf if touching[i] > 0 else low, math.inf if touching[i] < 0 else high)
        ways = [(-1 if touching[i] >= 0 else 0, 1 if touching[i] <= 0 else 0) for i in range(n)]
        try:
            _, modes = _switch(M, right, ranges, ways, self.least(y[:n]))
        except ZeroDivisionError:
            raise self.singular(t, y) from None
        self.slack = _SLACK * max(map(abs, [*right, *tau]))
        for i, mode in enumerate(modes):
            if mode == 0:
                self.held[i] = ranges[i]
            elif mode and self.rubs[i]:
                self.sense[i] = mode
        if first:
            return
        for i in range(n):
            if self.held[i] is not None and old_held[i] is None:
                self.events.append(Event(t, i + 1, "rests" if touching[i] else "sticks"))
            elif self.held[i] is None and old_held[i] is not None:
                self.events.append(Event(t, i + 1, "leaves" if touching[i] else "slides"))
            elif self.sense[i] * old_sense[i] < 0 and modes[i]:
                self.events.append(Event(t, i + 1, "slides"))

    # -- The loop

    def through(self, q: Array, dq: Array, times: Array, progress: Callable[[float], Any] | None) -> Motion:
        """Integrate from the first time to the last; what was computed before an error stands in the error."""
        self.t, self.y = float(times[0]), [*q.tolist(), *dq.tolist(), *[0.0, 0.0] * self.energies]
        self.rows: list[list[float]] = []
        try:
            with Watch(self.t, float(times[-1]), progress) as watch:
                self.integrate(times, watch)
        except SimulationError as error:
            error = with_its_cause(error, q, self.least_inertia)
            error.motion = self.so_far()
            raise error from None
        except KeyboardInterrupt:
            raise SimulationInterrupted(self.t, self.so_far()) from None
        return self.record()

    def least_inertia(self, q: Array) -> Array:
        """Return the least inertia that a motion feels in a position, relative to the reference inertias."""
        q = _wrapped(self.robot, q)
        return structure.least_inertia(self.robot, q, structure.mass_matrix(self.robot, q))

    def integrate(self, times: Array, watch: Watch) -> None:
        """Integrate between the events, and keep a row for each time."""
        t, y, n, rows, end = self.t, self.y, self.n, self.rows, float(times[-1])
        refuse_large(t, y, n)
        for i in range(n):
            if self.touching(y, i) * y[n + i] > 0:
                self.hit(t, y, i)
        self.decide(t, y, first=True)
        rows.append(self.row(t, y))
        switches, last_switch = 0, -math.inf
        while t < end:
            watched, event = self.watched(), None
            step = self.solver.start(self.rates, t, y, end)
            while step.status == "running" and event is None:
                if step.step():
                    raise SimulationError(TOO_SHORT, step.t, step.y[:n].tolist(), step.y[n : 2 * n].tolist())
                t, state = step.t, step.y
                wanted = len(rows) < len(times) and times[len(rows)] <= t
                between: Any = step.dense_output() if watched or wanted else None
                if watched and (event := self.first_event(step.t_old, t, between, watched)):
                    t = event[0]
                    state = between(t)
                while len(rows) < len(times) and times[len(rows)] <= t:
                    sample = float(times[len(rows)])
                    rows.append(self.row(sample, (state if sample == t else between(sample)).tolist()))
                self.t, self.y = t, (y := state.tolist())
                if why := watch.stalled(t):
                    raise SimulationError(why, t, y[:n], y[n : 2 * n])
                watch.tell(t)
            if event is not None:
                switches = switches + 1 if t - last_switch <= 1e-12 * max(abs(t), 1.0) else 0
                last_switch = t
                if switches > _MOST_SWITCHES:
                    why = f"joint {watched[event[1]][1] + 1} switches again and again without time going on."
                    raise SimulationError(why, t, y[:n], y[n : 2 * n])
                self.happen(t, y, *watched[event[1]])

    def row(self, t: float, y: list[float]) -> list[float]:
        """Return one line of the record."""
        q, dq = y[: self.n], y[self.n : 2 * self.n]
        M, right, _, _ = self.terms(t, y)
        motors = self.torque(t, q, dq) if self.torque else [0.0] * self.n
        work, lost = y[2 * self.n :] if self.energies else (0.0, 0.0)
        return [t, *q, *dq, *self.acceleration(t, y, M, right), *motors, work, lost + self.impact_loss]

    def so_far(self) -> Motion:
        """Return the motion up to the last state, after an error."""
        if self.rows and self.t > self.rows[-1][0]:
            with suppress(SimulationError):  # of this state nothing may be known but that it was reached
                self.rows.append(self.row(self.t, self.y))
        return self.record()

    def record(self) -> Motion:
        """Return the motion; its energies come from the recursion, whatever has integrated it."""
        rows = np.array(self.rows).reshape(len(self.rows), 4 * self.n + 3)
        q, dq, ddq, tau = np.moveaxis(rows[:, 1:-2].reshape(len(rows), 4, self.n), 1, 0)
        ideal, rotors, _ = _bare(self.robot)
        found = lagrange.energies(replace(ideal, gravity=self.robot.gravity), _wrapped(self.robot, q), dq)
        kinetic = found.kinetic + (rotors * dq**2).sum(axis=-1) / 2
        motion = Motion(
            t=rows[:, 0], q=q, dq=dq, ddq=ddq, tau=tau, kinetic=kinetic, potential=found.potential.copy(),
            work=rows[:, -2], lost=rows[:, -1], events=tuple(self.events), method=self.solver.method,
            rtol=self.solver.rtol, atol=self.solver.atol,
        )  # fmt: skip
        for part in vars(motion).values():
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
        return motion


# ---- Wanted motions and a controller ---------------------------------------------------------------


def quintic(start: Any, end: Any, duration: float, t: Any) -> tuple[Array, Array, Array]:
    r"""Return a motion from one position to another that starts and ends at rest, without a jump of acceleration.

    With :math:`s=t/T`, each joint has gone the share :math:`10s^3-15s^4+6s^5` of its way.

    Args:
        start: joint values at time 0, shape (..., N), in rad or m.
        end: joint values at the end, shape (..., N).
        duration: T, in s.
        t: time or times, shape () or (K,), in s; before 0 and after T the arm stands still.

    Returns:
        Joint values, rates and accelerations, each of shape (..., N) for one time, (..., K, N) for K times.

    Raises:
        ValueError: a duration that is not positive, or ends of different shapes.

    >>> q, dq, ddq = quintic([0.0, 1.0], [2.0, 1.0], 4.0, 2.0)  # halfway
    >>> q, dq, ddq
    (array([1., 1.]), array([0.9375, 0.    ]), array([0., 0.]))
    """
    first, last, times = (np.asarray(value, dtype=float) for value in (start, end, t))
    if not duration > 0:
        raise ValueError(f"duration is {duration} s; expected more than 0.")
    if first.ndim == 0 or last.ndim == 0 or first.shape[-1] != last.shape[-1] or times.ndim > 1:
        raise ValueError(
            f"start, end and t have the shapes {first.shape}, {last.shape} and {times.shape}; expected (..., N), "
            "(..., N) and () or (K,)."
        )
    way = last - first
    if times.ndim:
        first, way = first[..., None, :], way[..., None, :]
    s = np.clip(times / duration, 0.0, 1.0)[..., None]
    q = first + way * (s**3 * (10 - 15 * s + 6 * s**2))
    dq = way * (30 * s**2 * (1 - s) ** 2) / duration
    ddq = way * (60 * s * (1 - s) * (1 - 2 * s)) / duration**2
    return q, dq, ddq


def computed_torque(
    model: Robot, wanted: Wanted, *, kp: Any = 0.0, kd: Any = 0.0, compiled: bool | None = None
) -> Torque:
    r"""Return a controller that computes the torque of the wanted motion, corrected by the error.

    .. math:: \tau = M(q)\,\big(\ddot q_d + K_d(\dot q_d-\dot q) + K_p(q_d-q)\big) + C\dot q + g + \text{friction}

    If the model is exact, the error obeys :math:`\ddot e + K_d\dot e + K_pe = 0`, whatever the arm.

    Args:
        model: what the controller believes the arm to be; its friction is compensated, the dry one in the sense of
            the wanted rate.
        wanted: the wanted motion, a function of time, such as ``lambda t: quintic(start, end, T, t)``.
        kp: gain of the position error, one number or shape (N,), in 1/s².
        kd: gain of the rate error, one number or shape (N,), in 1/s.
        compiled: as in :func:`simulate`.

    Returns:
        A function ``torque(t, q, dq)`` for :func:`simulate`.

    Raises:
        ValueError: a model of symbols or without mass data, or gains that are negative or of a wrong shape.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> hold = computed_torque(arm, lambda t: (np.zeros(2), np.zeros(2), np.zeros(2)))
    >>> hold(0.0, np.zeros(2), np.zeros(2))
    array([30., 10.])
    """
    _refuse_symbols(model)
    refuse_other_arguments(wanted, "wanted", "t")
    gains = []
    for name, value in (("kp", kp), ("kd", kd)):
        gain = np.asarray(value, dtype=float)
        if gain.shape not in ((), (model.n,)) or not (gain >= 0).all():
            raise ValueError(
                f"{name} is {gain.tolist()}; expected one number or {model.n} numbers, at least 0: a negative gain "
                "drives the arm away."
            )
        gains.append(np.broadcast_to(gain, (model.n,)))
    equations = equations_of(model, compiled=compiled)
    drive = _Drive.of(model)

    def torque(t: float, q: Array, dq: Array) -> Array:
        q_d, dq_d, ddq_d = wanted(t)
        asked = ddq_d + gains[1] * (dq_d - dq) + gains[0] * (q_d - q)
        M, h = equations(q.tolist(), dq.tolist())
        dry = np.where(dq_d > 0, drive.forward, np.where(dq_d < 0, drive.backward, 0.0))
        return np.array(M) @ asked + h + drive.viscous * dq + dry

    return torque
