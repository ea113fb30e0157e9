"""A free planar 2R over 100 seconds: what energy error costs how much time, in dynlib and in its peers.

Run it as `python -m benchmarks.simulate`. The motion is chaotic, so that positions can be compared in the first second
only; they are. The energy of every result is computed by the same function. MuJoCo takes part if it is installed.
"""

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from benchmarks import versions
from benchmarks.recursion import pinocchio_model
from dynlib import lagrange, robots
from dynlib.algebra import Array
from dynlib.model import Robot
from dynlib.motion import simulate
from dynlib.motion.equations import equations_of
from dynlib.motion.open_chains import ATOL, RTOL

SECONDS, ROUNDS, STEP = 100.0, 3, 0.001
States = tuple[Array, Array]
"""Joint values and rates, each (K, 2)."""


@dataclass(frozen=True)
class Result:
    """What one way of computing the motion has given.

    Attributes:
        name: of the way.
        error: largest error of the energy, relative to the weight times the largest fall (dimensionless).
        seconds: median CPU time, in s.
    """

    name: str
    error: float
    seconds: float


def arm() -> Robot:
    """Return the planar 2R with unit lengths and masses."""
    return robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)


def by_dynlib(robot: Robot, t: Array) -> States:
    """Return the motion by `dynlib.motion`, with its own tolerances."""
    motion = simulate(robot, [0, 0], [0, 0], t)
    return motion.q, motion.dq


def by_defaults(robot: Robot, t: Array) -> States:
    """Return the motion by SciPy's `solve_ivp` with its defaults, on the same equations as dynlib."""
    return _solved(_accelerations(robot), t)


def by_pinocchio(robot: Robot, t: Array) -> States:
    """Return the motion by SciPy's DOP853 with dynlib's tolerances, on Pinocchio's articulated-body algorithm."""
    model = pinocchio_model(robot)
    data, rest = model.createData(), np.zeros(2)
    aba = pin.aba
    return _solved(lambda q, dq: aba(model, data, q, dq, rest), t, method="DOP853", rtol=RTOL, atol=ATOL)


def _accelerations(robot: Robot) -> Callable[[Array, Array], Array]:
    equations = equations_of(robot)

    def accelerations(q: Array, dq: Array) -> Array:
        M, h = equations(q.tolist(), dq.tolist())
        (a, b), (_, c) = M
        determinant = a * c - b * b
        return np.array([(b * h[1] - c * h[0]) / determinant, (b * h[0] - a * h[1]) / determinant])

    return accelerations


def _solved(accelerations: Callable[[Array, Array], Array], t: Array, **options: Any) -> States:
    def rates(_: float, state: Array) -> Array:
        return np.concatenate([state[2:], accelerations(state[:2], state[2:])])

    found = solve_ivp(rates, (t[0], t[-1]), np.zeros(4), t_eval=t, **options)
    return found.y[:2].T, found.y[2:].T


MUJOCO = """
<mujoco><compiler angle="radian" inertiafromgeom="false"/>
<option timestep="{step}" integrator="{integrator}" gravity="0 -9.81 0"/>
<worldbody><body><joint type="hinge" axis="0 0 1"/><inertial pos="1 0 0" mass="1" diaginertia="1e-12 1e-12 1e-12"/>
<body pos="1 0 0"><joint type="hinge" axis="0 0 1"/><inertial pos="1 0 0" mass="1" diaginertia="1e-12 1e-12 1e-12"/>
</body></body></worldbody></mujoco>
"""


def installed(name: str) -> Any:
    """Return a package that need not be there, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def by_mujoco(t: Array, integrator: str) -> States:
    """Return the motion by MuJoCo in steps of 1 ms; the times must be such steps."""
    mujoco = installed("mujoco")
    model = mujoco.MjModel.from_xml_string(MUJOCO.format(step=STEP, integrator=integrator))
    data = mujoco.MjData(model)
    every, rows = round((t[1] - t[0]) / STEP), [np.zeros(4)]
    for _ in t[1:]:
        mujoco.mj_step(model, data, every)
        rows.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(rows)[:, :2], np.array(rows)[:, 2:]


def energy_error(robot: Robot, states: States) -> float:
    """Return the largest error of the energy, relative to the weight times the largest fall; the start has energy 0."""
    q, dq = states
    found = lagrange.energies(robot, np.remainder(q, 2 * np.pi), dq)
    return float(np.abs(found.kinetic + found.potential).max() / (3 * 9.81))


def ways(robot: Robot) -> dict[str, Callable[[Array], States]]:
    """Return every way of computing the motion, by name, dynlib first."""
    found: dict[str, Callable[[Array], States]] = {
        "dynlib": lambda t: by_dynlib(robot, t),
        "SciPy's defaults": lambda t: by_defaults(robot, t),
        "Pinocchio in DOP853": lambda t: by_pinocchio(robot, t),
    }
    if installed("mujoco"):
        found["MuJoCo, Euler 1 ms"] = lambda t: by_mujoco(t, "Euler")
        found["MuJoCo, RK4 1 ms"] = lambda t: by_mujoco(t, "RK4")
    return found


def compare(seconds: float = SECONDS, rounds: int = ROUNDS) -> list[Result]:
    """Measure all ways in turns.

    Raises:
        AssertionError: the motions differ in the first second by more than 0.05 rad.
    """
    robot = arm()
    t = np.linspace(0, seconds, round(10 * seconds) + 1)
    all_ways = ways(robot)
    right = all_ways["dynlib"](t[:11])[0]
    for name, way in all_ways.items():
        worst = np.abs(way(t[:11])[0] - right).max()
        assert worst < 0.05, f"{name}: the motion differs by {worst:.1e} rad in the first second"

    times: dict[str, list[float]] = {name: [] for name in all_ways}
    errors: dict[str, float] = {}
    for _ in range(rounds):
        for name, way in all_ways.items():
            start = time.process_time()
            states = way(t)
            times[name].append(time.process_time() - start)
            errors[name] = energy_error(robot, states)
    return [Result(name, errors[name], statistics.median(times[name])) for name in all_ways]


def table(results: list[Result]) -> str:
    """Return the results as a Markdown table; ratios to dynlib."""
    first = results[0]
    lines = [
        "| Way | Energy error | CPU time, s | Time, ratio | Error, ratio |",
        "| :--- | ---: | ---: | ---: | ---: |",
    ]
    for r in results:
        ratios = f"{r.seconds / first.seconds:.2f} | {r.error / first.error:.1e}"
        lines.append(f"| {r.name} | {r.error:.1e} | {r.seconds:.2f} | {ratios} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulate", description="A free 2R over 100 s.")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="length of the motion, at least 1")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds, of which the median counts")
    options = parser.parse_args(arguments)
    print(table(compare(options.seconds, options.rounds)))
    print("\n" + versions("numpy", "scipy", "pin", *["mujoco"] * bool(installed("mujoco"))))


if __name__ == "__main__":
    main(sys.argv[1:])
