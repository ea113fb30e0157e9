r"""Simulation: the motion of an arm or of a closed chain from a state at the start."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dynlib.given import shown
from dynlib.model.mechanism import Mechanism, System, refuse_no_system
from dynlib.motion.closed_chains import simulate_mechanism
from dynlib.motion.open_chains import simulate_arm
from dynlib.motion.record import Motion, Torque
from dynlib.velocity import Wrench


def simulate(
    system: System,
    q0: Any,
    dq0: Any,
    t: Any,
    torque: Torque | Any = None,
    *,
    loads: Sequence[Wrench] = (),
    stops: Any = None,
    restitution: Any = 0.0,
    method: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float = math.inf,
    dt: float | None = None,
    project: bool = True,
    baumgarte: float = 0.0,
    compiled: bool | None = None,
    progress: Callable[[float], Any] | None = None,
) -> Motion:
    r"""Let an arm or a closed chain move, from a state at the first of some times to the last.

    Between events the equations are integrated by DOP853, a Runge-Kutta method of order 8 with tolerances of 1e-13 (a
    closed chain: 1e-10). If viscous friction brakes a joint within a fiftieth of a second (the largest eigenvalue of
    :math:`M^{-1}B` at the start is above 50 1/s) that would take very many steps; then Radau is taken, an implicit
    method of order 5, with tolerances of 1e-8. The motion says which it was, and :attr:`~.Motion.imbalance` how good
    its steps were. Dry friction of the motors of an arm sticks and slips; a joint at a stop rests there or bounces.

    A run of more than some seconds shows on the standard error stream how far it is and how long it will take (in a
    notebook after a minute). Ctrl-C ends it and keeps the motion up to there.

    Args:
        system: a :class:`~dynlib.model.robot.Robot` or a :class:`~dynlib.model.mechanism.Mechanism`, of floats; every
            link needs mass data. The inertia and friction of motors count, but no dry friction in a closed chain.
        q0: joint values at the start, shape (N,), in rad or m; of a mechanism all of them, a closed position.
        dq0: joint rates at the start, shape (N,), in rad/s or m/s; of a mechanism those of its inputs, shape (m,), or
            of all joints, shape (n,), for a start in which the inputs do not determine them.
        t: times at which the motion is wanted, ascending, shape (K,), in s; it starts at the first.
        torque: what the motors or inputs supply, in N m or N: None for nothing, an array (N,) or (m,), or a function
            ``torque(t, q, dq)`` of the time and of all joint values and rates.
        loads: what the surroundings put *on* the system all the time.
        stops: of an arm: lowest and highest joint value of each joint, shape (N, 2), in rad or m; ``None`` in place of
            a number or of both for a joint that has none there.
        restitution: rate after the impact at a stop divided by rate before it, 0 to 1, one number or shape (N,).
        method: ``"DOP853"`` or ``"Radau"``, if the choice is not to be made by the friction. A controller that brakes a
            light link hard makes the equations stiff, too.
        rtol: of an arm: error allowed in a step, relative; by default that of the method.
        atol: of an arm: error allowed in a step, absolute, in units of the state; by default that of the method.
        max_step: of an arm: longest step, in s; for a torque with pulses that long steps would miss.
        dt: of a mechanism: length of equal steps of the classical Runge-Kutta method, in s; then nothing controls
            their error.
        project: of a mechanism: move position and rates back after each step until they fit the closures. Without it
            they drift.
        baumgarte: of a mechanism: :math:`\omega`, in 1/s: pull the gaps back like a spring with critical damping,
            :math:`\ddot\phi+2\omega\dot\phi+\omega^2\phi=0`. It makes the drift smaller, and is for comparison.
        compiled: whether the equations are derived and compiled first, which makes each call a hundred times as fast;
            by default for arms of up to 7 joints and for chains of up to 3.
        progress: is called with the share done, 0 to 1, at most about a hundred times (it jumps where the solver
            takes long steps), such as ``lambda share: print(f"\r{share:4.0%}", end="")``; then nothing is shown by
            itself.

    Returns:
        The :class:`~dynlib.motion.record.Motion`; of a mechanism a :class:`~dynlib.motion.record.ClosedMotion`.

    Raises:
        ValueError: times that do not ascend, wrong shapes or numbers, a start beyond a stop, symbols, a link without
            mass data or a singular mass matrix at the start, dry friction in a mechanism.
        TypeError: something that is no number where one is expected, or an option that is for the other kind of system.
        ClosureError: q0 does not close the chains; nothing is simulated from there.
        SingularPosition: the inputs do not determine the rates at the start.
        SimulationError: the motion cannot be continued; it says at which time and state, and holds the motion so far.
            Closures can tear in a step that is too long, or lose rank, as when all bars of a parallelogram come into
            line. There the mechanism can change into another way of moving.
        SimulationInterrupted: Ctrl-C (it is a :class:`KeyboardInterrupt`); it holds the motion so far, too.

    >>> import numpy as np
    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> motion = simulate(arm, [0, 0], [0, 0], np.linspace(0, 2, 21))  # falls from the level
    >>> motion.q.shape, abs(motion.imbalance).max() < 1e-11
    ((21, 2), np.True_)
    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1], gravity=[0, -9.81, 0])
    >>> bool(simulate(bars, bars.positions([-0.5], mode=[1]), [0], [0, 1]).gap.max() < 1e-14)
    True
    """
    refuse_no_system(system)
    if isinstance(system, Mechanism):
        given = {"stops": stops, "restitution": restitution, "rtol": rtol, "atol": atol,
                 "max_step": max_step}  # fmt: skip
        _refuse_others(given, system, "arms")
        return simulate_mechanism(
            system, q0, dq0, t, torque, loads=loads, dt=dt, method=method, project=project, baumgarte=baumgarte,
            compiled=compiled, progress=progress,
        )  # fmt: skip
    _refuse_others({"dt": dt, "project": project, "baumgarte": baumgarte}, system, "mechanisms")
    return simulate_arm(
        system, q0, dq0, t, torque, loads=loads, stops=stops, restitution=restitution, method=method, rtol=rtol,
        atol=atol, max_step=max_step, progress=progress, compiled=compiled,
    )  # fmt: skip


def _refuse_others(given: Mapping[str, Any], system: System, whose: str) -> None:
    """Raise an error for an option that was given and is for the other kind of system."""
    defaults = inspect.signature(simulate).parameters
    for name, value in given.items():
        if value is not defaults[name].default:
            kind = type(system).__name__
            raise TypeError(f"{name} is {shown(value)}, but it is for {whose}, and {system.name} is a {kind}.")
