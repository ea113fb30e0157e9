"""The motion of an arm in time.

Dry friction and joint stops switch the equations: a joint slides, sticks, rests at a stop or bounces off it. Each
switch is found as an event, and after it the equations are set up anew, so that a stuck joint really stands still.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dynlib import lagrange, structure
from dynlib.algebra.arrays import Array, as_array, as_floats
from dynlib.model.robot import Robot
from dynlib.motion.equations import Equations, equations_of
from dynlib.motion.forward import (
    _LOOKS,
    _MOST_SWITCHES,
    _SLACK,
    _UNMOVED,
    SLOWEST_REBOUND,
    _bare,
    _Drive,
    _least,
    _mass_and_bias,
    _refuse_symbols,
    _solve,
    _switch,
    _wrapped,
)
from dynlib.motion.integration import (
    TOO_SHORT,
    Solver,
    chosen,
    fastest_decay,
    one_number,
    refuse_large,
    supplier,
    torques,
    with_its_cause,
)
from dynlib.motion.record import Event, Motion, Torque
from dynlib.progress import SimulationError, Watch
from dynlib.progress import SimulationInterrupted as SimulationInterrupted
from dynlib.velocity import Wrench, listed_loads, static_torques

RTOL, ATOL = 1e-13, 1e-13
"""Error that a step of the explicit method may make, relative and absolute; tight, so that the energy of a free arm
stays what it is."""


def simulate_arm(
    robot: Robot,
    q0: Any,
    dq0: Any,
    t: Any,
    torque: Torque | Any,
    *,
    loads: Sequence[Wrench],
    stops: Any,
    restitution: Any,
    method: str | None,
    rtol: float | None,
    atol: float | None,
    max_step: float,
    progress: Callable[[float], Any] | None,
    compiled: bool | None,
) -> Motion:
    """Let an arm move; arguments as of :func:`dynlib.motion.simulation.simulate`."""
    _refuse_symbols(robot)
    q, dq = _start(robot, q0, dq0)
    times = _times(t)
    limits, bounce = _stops(robot, stops, restitution, q)
    loads = listed_loads(loads)
    with np.errstate(over="ignore", invalid="ignore"):
        M = _mass_and_bias(robot, q, np.zeros(robot.n))[0]
        structure.refuse_singular(robot, q, M)
    decay, span = fastest_decay(M, np.diag(_Drive.of(robot).viscous)), float(times[-1] - times[0])
    run = _Run(
        robot=robot,
        equations=equations_of(robot, compiled=compiled),
        torque=_torque(robot, torque),
        loads=loads,
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
        loads: Sequence[Wrench],
        limits: Array,
        bounce: Array,
        solver: Solver,
    ):
        self.solver = solver
        self.robot, self.equations, self.torque = robot, equations, torque
        self.wrenches, self.limits, self.bounce = tuple(loads), limits.tolist(), bounce.tolist()
        self.n, self.drive, self.least = robot.n, _Drive.of(robot), _least(robot)
        self.viscous = self.drive.viscous.tolist()
        self.rubs = [bool(f or b) for f, b in zip(self.drive.forward, self.drive.backward, strict=True)]
        self.sense = [0] * self.n  # in which a joint slides; 0 without dry friction
        self.held: list[tuple[float, float] | None] = [None] * self.n  # range of the torque that holds a joint at rest
        self.at_stop = [0] * self.n  # the stop at which a joint rests: -1 the lower, 1 the upper
        self.energies = bool(torque or loads or any(self.viscous) or any(self.rubs))
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
