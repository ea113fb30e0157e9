r"""Motion of closed chains in time.

The accelerations follow from all equations at once, with the multipliers; so inputs that do not determine the motion in
some position do no harm. But a solution of :math:`J\ddot q=-\dot J\dot q` only keeps the gaps straight in time,
:math:`\ddot\phi=0`, and every rounding makes them grow. So after each step the position is moved back until it closes,
and then the rates, both by as little as possible in the measure of the masses.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np

from dynlib import lagrange, structure
from dynlib.algebra.arrays import Array, as_array, as_floats
from dynlib.closed_chains import constraints, dynamics, velocities
from dynlib.closed_chains.dynamics import tree_mass_matrix
from dynlib.given import shown
from dynlib.model.mechanism import Mechanism
from dynlib.model.robot import Robot
from dynlib.motion.closed_equations import equations_of, independent_rows, less_turns_of, refuse_unfit, viscous_friction
from dynlib.motion.integration import (
    TOO_SHORT,
    WEIGHTLESS,
    Solver,
    chosen,
    fastest_decay,
    one_number,
    refuse_large,
    supplier,
    with_its_cause,
)
from dynlib.motion.record import ClosedMotion, Torque
from dynlib.progress import SimulationError, SimulationInterrupted, Watch
from dynlib.velocity import Wrench

_TOLERANCE = 1e-10  # error of one step of the explicit method, relative and absolute
_A_FEW_TURNS = 20.0  # rad or m in one step; a step that is longer is wrong in itself
_LARGEST_JUMP = 0.3  # of the rates, in a projection; more would take or give energy without anybody's noticing
_LEAST_GRIP = 1e-6  # volume that the rows of J, the longest of length 1, and the free directions before span
_ROUNDS = 8  # of the projection; Newton's method needs two


def simulate_mechanism(
    mechanism: Mechanism,
    q0: Any,
    dq0: Any,
    t: Any,
    torque: Torque | Any,
    *,
    loads: Sequence[Wrench],
    dt: float | None,
    method: str | None,
    project: bool,
    baumgarte: float,
    compiled: bool | None,
    progress: Callable[[float], Any] | None,
) -> ClosedMotion:
    """Compute the motion of a closed chain; arguments as of :func:`dynlib.motion.simulation.simulate`."""
    times = _times(t)
    fits = dt is None or (one_number("dt", dt) > 0 and math.isfinite(dt))
    if not fits or not (one_number("baumgarte", baumgarte) >= 0 and math.isfinite(baumgarte)):
        raise ValueError(f"dt is {dt} s and baumgarte {baumgarte} 1/s; expected dt > 0 and baumgarte >= 0.")
    if dt is not None and method is not None:
        raise ValueError(f"give dt = {dt} s for equal steps, or the method {method!r}, which chooses its steps itself.")
    refuse_unfit(mechanism)
    (q0,) = mechanism.state(q=q0)
    if q0.ndim != 1:
        raise ValueError(f"q0 has the shape {q0.shape}; expected ({mechanism.n},).")
    dq = _rates(mechanism, q0, dq0)
    run = _Run(mechanism, dynamics.read_loads(mechanism, loads), torque, baumgarte, project, compiled, q0)
    dynamics.refuse_weightless(mechanism, q0, run.free_motions(q0))
    return run.through(q0.tolist(), dq.tolist(), times, dt, method, progress)


def _rates(mechanism: Mechanism, q0: Array, dq0: Any) -> Array:
    """Read the rates at the start: those of the inputs, or of all coordinates."""
    if np.shape(dq0) not in {(mechanism.m,), (mechanism.n,)} or None in np.atleast_1d(np.asarray(dq0, dtype=object)):
        raise ValueError(
            f"dq0 is {shown(dq0)}; expected the rates of the inputs of {mechanism.name}, shape ({mechanism.m},), or of "
            f"all its coordinates, shape ({mechanism.n},)."
        )
    if np.shape(dq0) == (mechanism.m,):
        return np.asarray(velocities.rates(mechanism, q0, dq0))
    (dq,) = mechanism.state(dq=dq0)
    dynamics.refuse_opening(mechanism, q0, dq)
    return np.asarray(dq)


def _times(t: Any) -> Array:
    try:
        times = as_floats(as_array(t, "t", (None,)))
    except ValueError:
        times = np.zeros(0)
    if len(times) < 1 or (np.diff(times) <= 0).any():
        raise ValueError(f"t is {t!r}; expected growing times, shape (K,), in s.")
    return times


class _Run:
    """One simulation."""

    def __init__(
        self,
        mechanism: Mechanism,
        loads: tuple[Wrench, ...],
        torque: Any,
        baumgarte: float,
        project: bool,
        compiled: bool | None,
        q0: Array,
    ):
        self.mechanism, self.n, self.project = mechanism, mechanism.n, project
        self.options: dict[str, Any] = {"loads": loads, "baumgarte": baumgarte, "compiled": compiled}
        self.equations = equations_of(mechanism, q0=q0, **self.options)
        self.asks_state = callable(torque)
        self.torque: Callable[[float, list[float], list[float]], list[float]] | None = None
        if callable(torque):
            self.torque = supplier(torque, mechanism.m)
        elif torque is not None:
            given = mechanism.input_values("torque", torque)
            if given.ndim != 1:
                raise ValueError(f"torque has the shape {given.shape}; expected ({mechanism.m},), or a function.")
            constant: list[float] = given.tolist()
            self.torque = lambda t, q, dq: constant
        self.viscous = viscous_friction(mechanism).tolist()
        self.energies = torque is not None or bool(loads) or any(self.viscous)
        self.free: Array | None = None
        self.before, self.volume = np.zeros((len(self.equations.kept), self.n)), 0.0

    def forces(self, t: float, q: list[float], dq: list[float]) -> list[float]:
        """Return what the inputs supply, in all n places.

        Within a step a state is a little open; whoever computes the torques is asked about the nearest closed one.
        """
        found = [0.0] * self.n
        if self.torque is not None:
            if self.asks_state:
                for _ in range(2):
                    q = [a + b for a, b in zip(q, self.equations.closing(q)[0], strict=True)]
                dq = [a + b for a, b in zip(dq, self.equations.steadying(q, dq), strict=True)]
            for place, value in zip(self.mechanism.u, self.torque(t, q, dq), strict=True):
                found[place] = value
        return found

    def derivative(self, t: float, y: list[float]) -> list[float]:
        """Return the rates of the state: positions, rates, work and loss."""
        n = self.n
        q, dq = y[:n], y[n : 2 * n]
        self.refuse_large(t, y)
        forces = self.forces(t, q, dq)
        try:
            ddq, _, power = self.equations.accelerate(q, dq, forces)
        except (ZeroDivisionError, OverflowError, np.linalg.LinAlgError):
            raise self.stuck(t, q, dq) from None
        if not self.energies:
            return [*dq, *ddq, 0.0, 0.0]
        work = power + sum(f * rate for f, rate in zip(forces, dq, strict=True))
        return [*dq, *ddq, work, sum(b * rate * rate for b, rate in zip(self.viscous, dq, strict=True))]

    def refuse_large(self, t: float, y: list[float]) -> None:
        """Stop if the numbers of a state are beyond all bounds."""
        refuse_large(t, y, self.n, " Use a smaller dt." if self.solver.method == "RK4" else "")

    def stuck(self, t: float, q: list[float], dq: list[float]) -> SimulationError:
        """Return the error for a position in which the accelerations do not follow."""
        why = "the closure equations lose rank here, or something moves without inertia; try smaller steps."
        return SimulationError(why, t, q, dq)

    def refuse_fork(self, t: float, q: list[float], dq: list[float]) -> None:
        """Stop where the closures have lost rank since the last step: there the mechanism may go on in another way.

        The rows of J and the directions that were free before span the space, and with one orientation, as long as the
        free directions only turn a little; where rank is lost the orientation changes. Far from such a place, where the
        rows span a good part of the largest volume so far, nobody need look so closely.
        """
        J = np.array(self.equations.closing(q)[2]).reshape(-1, self.n)
        volume = float(np.linalg.det(J @ J.T))  # squared
        self.volume = max(self.volume, volume)
        if volume > 0.2 * self.volume:
            self.free, self.before = None, J
            return
        if len(self.equations.kept) < len(self.mechanism.rows) and self.other_rows(q):
            return
        if self.free is None:
            self.free = self.free_directions(self.before)
        scale = max(np.linalg.norm(J, axis=1).max(initial=0.0), 1e-300)
        if np.linalg.det(np.vstack([J / scale, self.free.T])) < _LEAST_GRIP:
            why = (
                "the closure equations lose rank here. The mechanism can change into another way of moving, and which "
                "one it takes does not follow from the equations."
            )
            raise SimulationError(why, t, q, dq)
        self.free = self.free_directions(J)

    def other_rows(self, q: list[float]) -> bool:
        """Go on with other closure equations where those that were left out as redundant hold better; say if so."""
        near = less_turns_of(self.mechanism, np.array(q))
        if independent_rows(self.mechanism, near) == self.equations.kept:
            return False
        self.equations = equations_of(self.mechanism, q0=near, **self.options)
        self.free, self.volume = None, 0.0
        return True

    def free_directions(self, J: Array) -> Array:
        """Return directions that keep the chains closed, (n, m), so that J and they have positive orientation."""
        free = np.linalg.qr(J.T, mode="complete")[0][:, len(J) :]
        if free.size and np.linalg.det(np.vstack([J, free.T])) < 0:
            free[:, 0] *= -1
        return free

    def step(self, t: float, y: list[float], h: float) -> list[float]:
        """Return the state after one step of the classical Runge-Kutta method."""
        k1 = self.derivative(t, y)
        k2 = self.derivative(t + h / 2, [a + h / 2 * b for a, b in zip(y, k1, strict=True)])
        k3 = self.derivative(t + h / 2, [a + h / 2 * b for a, b in zip(y, k2, strict=True)])
        k4 = self.derivative(t + h, [a + h * b for a, b in zip(y, k3, strict=True)])
        pieces = zip(y, k1, k2, k3, k4, strict=True)
        return [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in pieces]

    def fitted(self, t: float, y: list[float]) -> list[float]:
        """Return the state moved back until it fits the closures."""
        n, tolerance = self.n, 1e-15 * self.mechanism.size
        q, dq = y[:n], y[n : 2 * n]
        widest, before = math.inf, math.inf
        for _ in range(_ROUNDS):
            try:
                change, phi, _ = self.equations.closing(q)
            except (ZeroDivisionError, OverflowError, np.linalg.LinAlgError):
                raise self.stuck(t, q, dq) from None
            before, widest = widest, max(map(abs, phi), default=0.0)
            if widest <= tolerance or (widest < 1e-13 * self.mechanism.size and widest >= before):
                break
            q = [a + b for a, b in zip(q, change, strict=True)]
        else:
            if not widest < 1e-10 * self.mechanism.size:
                raise SimulationError(
                    f"the closures tore, with a gap of {widest:.3g} m; use a smaller dt, or none.", t, q, dq
                )
        rates = [a + b for a, b in zip(dq, self.equations.steadying(q, dq), strict=True)]
        if len(self.equations.kept) < len(self.mechanism.rows):
            q, rates = self.fitted_to_all(q, rates)
        share = max(abs(a - b) for a, b in zip(rates, dq, strict=True)) / (max(map(abs, dq)) + 1e-6)
        if share > _LARGEST_JUMP:
            why = (
                f"to fit the closures the rates had to jump by {100 * share:.0f} percent. The closures nearly lose "
                "their grip here, or the steps are too long."
            )
            raise SimulationError(why, t, q, dq)
        return [*q, *rates, *y[2 * n :]]

    def fitted_to_all(self, q: list[float], dq: list[float]) -> tuple[list[float], list[float]]:
        """Return a state that fits the redundant equations as well; they tell more where the others hold badly."""
        phi, J = constraints.quick_closure(self.mechanism)(np.array(q))
        changes = np.linalg.lstsq(J, np.column_stack([phi, J @ dq]), rcond=1e-12)[0]
        return (np.array(q) - changes[:, 0]).tolist(), (np.array(dq) - changes[:, 1]).tolist()

    def through(
        self,
        q: list[float],
        dq: list[float],
        times: Array,
        dt: float | None,
        method: str | None,
        progress: Callable[[float], Any] | None,
    ) -> ClosedMotion:
        """Integrate from the first time to the last; what was computed before an error stands in the error."""
        self.t, self.y = float(times[0]), [*q, *dq, 0.0, 0.0]
        self.solver = Solver("RK4" if dt else "DOP853", math.nan, math.nan)
        self.taken: list[float] = []
        self.rows: list[tuple[Array, ...]] = []
        try:
            with Watch(self.t, float(times[-1]), progress) as watch:
                self.integrate(times, dt, method, watch)
            self.refuse_weightless()
            return self.record()
        except SimulationError as error:
            error = with_its_cause(error, np.array(q), self.least_inertia)
            error = self.met_by_shorter_steps(error, dt) if dt and self.project else error
            error.motion = self.so_far()
            raise error from None
        except KeyboardInterrupt:
            raise SimulationInterrupted(self.t, self.so_far()) from None

    def met_by_shorter_steps(self, error: SimulationError, dt: float) -> SimulationError:
        """Return the lack of inertia that a controlled run meets on the way of the last equal step; else the error."""
        q, dq = self.y[: self.n], self.y[self.n : 2 * self.n]
        if max(map(abs, dq)) * dt < _A_FEW_TURNS:
            try:
                copy(self).through(q, dq, np.array([self.t, self.t + 2 * dt]), None, None, None)
            except SimulationError as met:
                return met if met.why == WEIGHTLESS else error
        return error

    def integrate(self, times: Array, dt: float | None, method: str | None, watch: Watch) -> None:
        """Integrate, and keep what is wanted."""
        y, n = self.y, self.n
        self.keep(self.t, y)
        if dt is None:
            span, decay = float(times[-1] - times[0]), self.fastest_decay(y[:n])
            self.solver = chosen(decay, span, _TOLERANCE, method=method, rtol=None, atol=None, max_step=math.inf)
        states = self.controlled(y, times, watch) if dt is None else self.equal(y, times, dt)
        for t, y, wanted in states:
            self.refuse_large(t, y)
            if self.project:
                self.refuse_fork(t, y[:n], y[n : 2 * n])
            if wanted:
                self.keep(t, y)
            self.t, self.y = t, y
            watch.tell(t)

    def keep(self, t: float, y: list[float]) -> None:
        """Keep a line of the record."""
        self.rows.append(self.row(t, y))
        self.taken.append(t)

    def fastest_decay(self, q: list[float]) -> float:
        """Return how fast friction takes the speed of the motion that it brakes most, in 1/s."""
        if not any(self.viscous):
            return 0.0
        free = self.free_directions(np.array(self.equations.closing(q)[2]).reshape(-1, self.n))
        M = tree_mass_matrix(self.mechanism, less_turns_of(self.mechanism, np.array(q)))
        return fastest_decay(free.T @ M @ free, free.T @ np.diag(self.viscous) @ free)

    def equal(self, y: list[float], times: Array, dt: float) -> Iterator[tuple[float, list[float], bool]]:
        """Yield time and state after each of equal steps, and whether the state is one that is wanted."""
        for start, end in pairwise(times.tolist()):
            count = max(1, math.ceil((end - start) / dt - 1e-9))
            h = (end - start) / count
            for k in range(1, count + 1):
                y = self.step(start + (k - 1) * h, y, h)
                t = end if k == count else start + k * h
                y = self.fitted(t, y) if self.project else y
                yield t, y, k == count

    def controlled(self, y: list[float], times: Array, watch: Watch) -> Iterator[tuple[float, list[float], bool]]:
        """Yield the same with steps whose error is controlled."""

        def derivative(t: float, state: Array) -> Array:
            return np.array(self.derivative(t, state.tolist()))

        if len(times) < 2:
            return
        n, left = self.n, times[1:].tolist()
        solver = self.solver.start(derivative, float(times[0]), y, left[-1])
        while left:
            if why := TOO_SHORT if solver.step() else watch.stalled(solver.t):
                raise SimulationError(why, solver.t, solver.y[:n].tolist(), solver.y[n : 2 * n].tolist())
            between: Any = solver.dense_output() if left[0] < solver.t else None
            while left and left[0] < solver.t:
                t = left.pop(0)
                state = between(t).tolist()
                yield t, self.fitted(t, state) if self.project else state, True
            if self.project:
                fitted = self.fitted(solver.t, solver.y.tolist())
                solver.y, solver.f = np.array(fitted), derivative(solver.t, np.array(fitted))
            wanted = bool(left) and left[0] <= solver.t
            if wanted:
                left.pop(0)
            yield solver.t, solver.y.tolist(), wanted

    def refuse_weightless(self) -> None:
        """Raise an error if something can move without inertia in a state that was kept."""
        least = self.least_inertia(np.array([row[0] for row in self.rows]))
        for k in np.flatnonzero(~(least > structure.REGULAR))[:1]:
            raise self.stuck(self.taken[k], self.rows[k][0].tolist(), self.rows[k][1].tolist())

    def least_inertia(self, q: Array) -> Array:
        """Return the least inertia that a motion feels in positions (..., n), relative to the reference inertias."""
        q = less_turns_of(self.mechanism, q)
        return dynamics.least_inertia(self.mechanism, q, self.free_motions(q))

    def free_motions(self, q: Array) -> Array:
        """Return rates that keep the chains closed in positions (..., n), as columns (..., n, m)."""
        return constraints.free_motions(self.mechanism, q, len(self.equations.kept))

    def refuse_others(self, t: float, q: list[float], dq: list[float]) -> None:
        """Stop if equations that were left out as redundant do not hold any more."""
        if not self.project or len(self.equations.kept) == len(self.mechanism.rows):
            return
        phi = constraints.gap(self.mechanism, less_turns_of(self.mechanism, np.array(q)))
        if np.abs(phi).max() > constraints.CLOSED * self.mechanism.size:
            row = int(np.abs(phi).argmax())
            why = (
                f"{self.mechanism.rows[row]}, was redundant at the start and left out; now its gap is "
                f"{phi[row]:.3g} m. The mechanism has passed a position in which it can change into another way of "
                "moving."
            )
            raise SimulationError(why, t, q, dq)

    def row(self, t: float, y: list[float]) -> tuple[Array, ...]:
        """Return one line of the record."""
        n = self.n
        q, dq = y[:n], y[n : 2 * n]
        self.refuse_large(t, y)
        self.refuse_others(t, q, dq)
        forces = self.forces(t, q, dq)
        try:
            ddq, lam, _ = self.equations.accelerate(q, dq, forces)
        except (ZeroDivisionError, OverflowError, np.linalg.LinAlgError):
            raise self.stuck(t, q, dq) from None
        every = np.zeros(len(self.mechanism.rows))
        every[list(self.equations.kept)] = lam
        return np.array(q), np.array(dq), np.array(ddq), np.array(forces)[self.mechanism.u], every, np.array(y[2 * n :])

    def so_far(self) -> ClosedMotion:
        """Return the motion up to the last state, after an error."""
        if self.taken and self.t > self.taken[-1]:
            with suppress(SimulationError):  # of this state nothing may be known but that it was reached
                self.keep(self.t, self.y)
        return self.record()

    def record(self) -> ClosedMotion:
        """Return the motion; its energies come from the recursion, whatever has integrated it."""
        n, m, r = self.n, self.mechanism.m, len(self.mechanism.rows)
        shapes = (n, n, n, m, r, 2)
        columns = zip(*self.rows, strict=True) if self.rows else [[]] * len(shapes)
        parts = zip(columns, shapes, strict=True)
        q, dq, ddq, tau, lam, balance = (np.array(column).reshape(len(self.rows), size) for column, size in parts)
        kinetic, potential = energy_of(self.mechanism, q, dq)
        phi = constraints.gap(self.mechanism, less_turns_of(self.mechanism, q))
        widest = np.abs(phi).max(axis=-1, initial=0.0)
        method, tolerance = self.solver.method, None if math.isnan(self.solver.rtol) else self.solver.rtol
        return ClosedMotion(
            t=np.array(self.taken), q=q, dq=dq, ddq=ddq, tau=tau, kinetic=kinetic, potential=potential,
            work=balance[:, 0], lost=balance[:, 1], events=(), method=method, rtol=tolerance, atol=tolerance,
            lam=lam, gap=widest,
        )  # fmt: skip


def energy_of(mechanism: Mechanism, q: Any, dq: Any) -> tuple[Array, Array]:
    """Return the kinetic energy, with the rotors, and the potential energy of all chains.

    Args:
        mechanism: chains and closures, of numbers.
        q: all joint values, shape (..., n), in rad or m.
        dq: all joint rates, shape (..., n), in rad/s or m/s.

    Returns:
        Both, each of shape (...,), in J; the potential energy is 0 at the height of each chain's own base.

    Raises:
        ValueError: a wrong length, shape or number, or a link without mass data.
    """
    q, dq = mechanism.state(q=less_turns_of(mechanism, np.asarray(q, dtype=float)), dq=dq)
    kinetic, potential = np.zeros(q.shape[:-1]), np.zeros(q.shape[:-1])
    pieces = zip(mechanism.chains, mechanism.parts(q), mechanism.parts(dq), strict=True)
    for chain, values, rates in pieces:
        found = lagrange.energies(chain, values, rates)
        kinetic = kinetic + found.kinetic + (_rotors(chain) * rates**2).sum(axis=-1) / 2
        potential = potential + found.potential
    return kinetic, potential


def _rotors(chain: Robot) -> Array:
    motors = [link.motor for link in chain.links]
    return np.array([0.0 if motor is None else float(motor.inertia * motor.gear**2) for motor in motors])
