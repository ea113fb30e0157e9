"""A planar five-bar: its accelerations, and what stays of closure and energy after 10 s, in dynlib and in its peers.

Run it as `python -m benchmarks.closed_chain`. The accelerations of all are compared first. MuJoCo's closure is a stiff
spring with damping, so it only comes near; all others must agree. Rounds alternate, so that a busy machine slows all;
shown are medians of the CPU time. Gap and energy of every motion are computed by the same functions. MuJoCo takes part
if it is installed.

The arm hangs below its motors and gets a push too weak to lift it to their level. There, and only there, all four links
can lie on one line, cranks outwards: the elbows are 0.7 m apart, as far as the couplers reach. In that position the
closure loses rank, and how the motion goes on is not determined. An arm let go above its motors falls through it or
close by; accelerations of thousands of rad/s² follow, and errors that tell more of the start than of the methods. Here
they stay below 220 rad/s², although cranks and couplers fold and stretch many times, and half the step divides the
error of the energy by sixteen and more.

SymPy gives the multipliers with two signs: `mass_matrix_full` and `forcing_full` those of dynlib, the force of the
closure on the first tip; `form_lagranges_equations` and `solve_multipliers` the opposite ones.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import sympy
from sympy.physics import mechanics

from benchmarks import versions
from benchmarks.simulate import installed
from dynlib import closed_chains
from dynlib.algebra import Array
from dynlib.linkages import FiveBar, five_bar
from dynlib.motion import energy_of, simulate
from dynlib.motion.closed_equations import equations_of

SECONDS, STEP, EVERY, STIFFNESS = 10.0, 0.001, 10, 20.0  # s, s, steps from one state that is kept to the next, 1/s
CALLS, CALL_ROUNDS, ROUNDS = 200, 15, 3
SAME, SOFT = 1e-9, 1e-4  # how far accelerations may differ, of the largest one: exact closures, and MuJoCo's

Accelerate = Callable[[Any, Any, Any], Any]
"""Accelerations for joint values, rates and joint torques, each (4,)."""

States = tuple[Array, Array]
"""Joint values and rates, each (K, 4)."""


@dataclass(frozen=True)
class Call:
    """What one way of computing accelerations has given.

    Attributes:
        name: of the way.
        seconds: median CPU time of one call, in s.
        difference: largest difference from dynlib, relative to the largest acceleration (dimensionless).
    """

    name: str
    seconds: float
    difference: float


@dataclass(frozen=True)
class Result:
    """What one way of computing the motion has given.

    Attributes:
        name: of the way.
        gap: largest gap of the loop, in m.
        error: largest error of the energy, in J.
        seconds: median CPU time, in s.
    """

    name: str
    gap: float
    error: float
    seconds: float


def arm() -> FiveBar:
    """Return the five-bar, in a vertical plane."""
    return five_bar(
        bases=[[-0.1, 0], [0.1, 0]],
        lengths=[[0.25, 0.35], [0.25, 0.35]],
        masses=[[0.5, 0.4], [0.5, 0.4]],
        gravity=[0, -9.81, 0],
    )


def start(bars: FiveBar) -> tuple[Array, Array]:
    """Return the position from which the motion starts, (4,), in rad, and the rates of the cranks, (2,), in rad/s."""
    return bars.working_position([0.05, -0.55], (-1, 1)), np.array([1.0, -0.5])


def random_states(bars: FiveBar, count: int) -> tuple[Array, Array, Array]:
    """Return closed positions, rates that fit and torques of the cranks, each (count, 4), the same on every run."""
    random = np.random.default_rng(5)
    q = bars.working_position(random.uniform([-0.1, -0.5], [0.1, -0.35], (count, 2)), (-1, 1))
    tau = np.zeros((count, 4))
    tau[:, bars.u] = random.uniform(-2, 2, (count, 2))
    return q, closed_chains.rates(bars, q, random.uniform(-3, 3, (count, 2))), tau


# ---- Accelerations ---------------------------------------------------------------------------------


def by_dynlib(bars: FiveBar) -> Accelerate:
    """Return dynlib's accelerations, for lists of floats."""
    accelerate = equations_of(bars).accelerate
    return lambda q, dq, tau: accelerate(q, dq, tau)[0]


def by_pinocchio(bars: FiveBar, omega: float = 0.0) -> Accelerate:
    """Return Pinocchio's accelerations, with its correction of gaps if omega, in 1/s, is not 0."""
    model, tips = pin.Model(), []
    model.gravity.linear = bars.gravity
    for number, chain in enumerate(bars.chains, start=1):
        parent, before = 0, chain.base
        for joint, (link, body) in enumerate(zip(chain.links, chain.known_bodies(), strict=True), start=1):
            place = pin.SE3(before @ link.fixed)
            parent, before = model.addJoint(parent, pin.JointModelRZ(), place, f"joint{number}{joint}"), np.eye(4)
            model.appendBodyToJoint(parent, pin.Inertia(float(body.mass), body.com, body.inertia), pin.SE3.Identity())
        tips += [parent, pin.SE3(chain.tool)]
    pinned = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *tips, pin.ReferenceFrame.LOCAL)
    pinned.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(omega**2, 2 * omega))
    models, datas, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData(), model.createData()
    models.append(pinned)
    datas.append(pinned.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-12, 1e-12, 10)  # the equation across the plane is 0 = 0: without mu it fails
    dynamics = pin.constraintDynamics
    return lambda q, dq, tau: dynamics(model, data, q, dq, tau, models, datas, settings)


def sympy_method(bars: FiveBar) -> tuple[mechanics.LagrangesMethod, list[sympy.Expr]]:
    """Return SymPy's equations of the five-bar, derived, and its arguments: 4 angles, 4 rates and 4 torques."""
    q = mechanics.dynamicsymbols("q1:5")
    tau = sympy.symbols("tau1:5")
    fixed, origin = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    origin.set_vel(fixed, 0)
    bodies, torques, tips, k = [], [], [], 0
    for chain in bars.exact().chains:
        frame, place = fixed, origin.locatenew("B", chain.base[0, 3] * fixed.x + chain.base[1, 3] * fixed.y)
        place.set_vel(fixed, 0)
        lengths = [chain.links[1].fixed[0, 3], chain.tool[0, 3]]
        for length, body in zip(lengths, chain.known_bodies(), strict=True):
            before, frame = frame, frame.orientnew(f"A{k}", "Axis", [q[k], frame.z])
            torques += [(frame, tau[k] * frame.z), (before, -tau[k] * frame.z)]
            centre = place.locatenew(f"C{k}", body.com[0] * frame.x)
            centre.v2pt_theory(place, fixed, frame)
            far = place.locatenew(f"E{k}", length * frame.x)
            far.v2pt_theory(place, fixed, frame)
            inertia = (mechanics.inertia(frame, *body.inertia.diagonal()), centre)
            bodies.append(mechanics.RigidBody(f"body{k}", centre, frame, body.mass.item(), inertia))
            bodies[-1].potential_energy = -body.mass.item() * chain.gravity[1] * centre.pos_from(origin).dot(fixed.y)
            place, k = far, k + 1
        tips.append(place.pos_from(origin))
    gaps = [(tips[0] - tips[1]).dot(axis) for axis in (fixed.x, fixed.y)]
    torques = [(frame, torque) for frame, torque in torques if frame is not fixed]
    L = mechanics.Lagrangian(fixed, *bodies)
    method = mechanics.LagrangesMethod(L, q, hol_coneqs=gaps, forcelist=torques, frame=fixed)
    method.form_lagranges_equations()
    return method, [*q, *(angle.diff() for angle in q), *tau]


def by_sympy(bars: FiveBar) -> Accelerate:
    """Return the accelerations of SymPy's equations, compiled by `lambdify` and solved by NumPy."""
    method, arguments = sympy_method(bars)
    matrices = sympy.lambdify(arguments, (method.mass_matrix_full, method.forcing_full), cse=True)
    solve = np.linalg.solve

    def accelerate(q: Array, dq: Array, tau: Array) -> Array:
        M, right = matrices(*q, *dq, *tau)
        return solve(M, right)[4:8, 0]

    return accelerate


MUJOCO = """
<mujoco><compiler angle="radian" inertiafromgeom="false"/>
<option timestep="{step}" integrator="RK4" gravity="0 -9.81 0"/>
<worldbody>{legs}</worldbody>
<equality><connect site1="tip1" site2="tip2" solref="{time} 1" solimp="0.9999 0.9999 0.001"/></equality></mujoco>
"""

LEG = """
<body pos="{x} 0 0"><joint type="hinge" axis="0 0 1"/>{crank}
<body pos="{length} 0 0"><joint type="hinge" axis="0 0 1"/>{coupler}<site name="tip{number}" pos="{reach} 0 0"/>
</body></body>
"""


def mujoco_model(bars: FiveBar) -> Any:
    """Return the five-bar for MuJoCo, with the hardest closure that it allows."""
    legs = []
    for number, chain in enumerate(bars.chains, start=1):
        crank, coupler = (
            f'<inertial pos="{body.com[0]} 0 0" mass="{body.mass}" '
            f'diaginertia="1e-12 {body.inertia[1, 1]} {body.inertia[2, 2]}"/>'
            for body in chain.known_bodies()
        )
        x, length, reach = chain.base[0, 3], chain.links[1].fixed[0, 3], chain.tool[0, 3]
        legs.append(LEG.format(x=x, length=length, reach=reach, number=number, crank=crank, coupler=coupler))
    text = MUJOCO.format(step=STEP, time=2 * STEP, legs="".join(legs))
    return installed("mujoco").MjModel.from_xml_string(text)


def by_mujoco(bars: FiveBar) -> Accelerate:
    """Return MuJoCo's accelerations."""
    mujoco, model = installed("mujoco"), mujoco_model(bars)
    data, forward = mujoco.MjData(model), mujoco.mj_forward

    def accelerate(q: Array, dq: Array, tau: Array) -> Array:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, dq, tau
        forward(model, data)
        return data.qacc

    return accelerate


def peers(bars: FiveBar) -> dict[str, Accelerate]:
    """Return every way of computing accelerations, by name, dynlib first."""
    found = {
        "dynlib": by_dynlib(bars),
        "Pinocchio": by_pinocchio(bars),
        "SymPy, solved by NumPy": by_sympy(bars),
    }
    if installed("mujoco"):
        found["MuJoCo"] = by_mujoco(bars)
    return found


def compare_calls(calls: int = CALLS, rounds: int = CALL_ROUNDS) -> list[Call]:
    """Measure the accelerations of all ways in turns.

    Raises:
        AssertionError: the accelerations differ, by more than SAME of the largest one, for MuJoCo by more than SOFT.
    """
    bars = arm()
    ways, arrays = peers(bars), random_states(bars, calls)
    states = {name: list(zip(*arrays, strict=True)) for name in ways}
    states["dynlib"] = [tuple(each.tolist() for each in state) for state in states["dynlib"]]
    found = {name: np.array([np.array(way(*state)) for state in states[name]]) for name, way in ways.items()}
    right, differences = found["dynlib"], {}
    for name, each in found.items():
        differences[name] = float(np.abs(each - right).max() / np.abs(right).max())
        message = f"{name}: the accelerations differ by {differences[name]:.1e} of the largest"
        assert differences[name] < (SOFT if name == "MuJoCo" else SAME), message

    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            mine = states[name]
            begin = time.process_time()
            for q, dq, tau in mine:
                way(q, dq, tau)
            times[name].append((time.process_time() - begin) / calls)
    return [Call(name, statistics.median(times[name]), differences[name]) for name in ways]


# ---- Motions ---------------------------------------------------------------------------------------


def simulated(bars: FiveBar, t: Array, **options: Any) -> States:
    """Return the motion by `dynlib.motion.simulate`."""
    motion = simulate(bars, *start(bars), t, **options)
    return motion.q, motion.dq


def stepped(bars: FiveBar, t: Array, accelerate: Accelerate) -> States:
    """Return the motion by the classical Runge-Kutta method in steps of 1 ms, a loop as one writes it with NumPy."""
    q0, du0 = start(bars)
    y, h, free = np.concatenate([q0, closed_chains.rates(bars, q0, du0)]), STEP, np.zeros(4)

    def rates(y: Array) -> Array:
        return np.concatenate([y[4:], accelerate(y[:4], y[4:], free)])

    rows = [y]
    for _ in t[1:]:
        for _ in range(EVERY):
            k1 = rates(y)
            k2 = rates(y + h / 2 * k1)
            k3 = rates(y + h / 2 * k2)
            k4 = rates(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        rows.append(y)
    return np.array(rows)[:, :4], np.array(rows)[:, 4:]


def stepped_by_mujoco(bars: FiveBar, t: Array) -> States:
    """Return the motion by MuJoCo's own Runge-Kutta method in steps of 1 ms."""
    mujoco, model = installed("mujoco"), mujoco_model(bars)
    data, (q0, du0) = mujoco.MjData(model), start(bars)
    data.qpos[:], data.qvel[:] = q0, closed_chains.rates(bars, q0, du0)
    rows = [np.concatenate([data.qpos, data.qvel])]
    for _ in t[1:]:
        mujoco.mj_step(model, data, EVERY)
        rows.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(rows)[:, :4], np.array(rows)[:, 4:]


def ways(bars: FiveBar) -> dict[str, Callable[[Array], States]]:
    """Return every way of computing the motion, by name, dynlib as it is first."""
    exact, pulled, derived = by_pinocchio(bars), by_pinocchio(bars, STIFFNESS), by_sympy(bars)
    found: dict[str, Callable[[Array], States]] = {
        "dynlib": lambda t: simulated(bars, t),
        "dynlib, 1 ms": lambda t: simulated(bars, t, dt=STEP),
        "dynlib, 1 ms, Baumgarte": lambda t: simulated(bars, t, dt=STEP, project=False, baumgarte=STIFFNESS),
        "dynlib, 1 ms, uncorrected": lambda t: simulated(bars, t, dt=STEP, project=False),
        "Pinocchio, 1 ms, Baumgarte": lambda t: stepped(bars, t, pulled),
        "Pinocchio, 1 ms, uncorrected": lambda t: stepped(bars, t, exact),
        "SymPy, 1 ms, uncorrected": lambda t: stepped(bars, t, derived),
    }
    if installed("mujoco"):
        found["MuJoCo, 1 ms"] = lambda t: stepped_by_mujoco(bars, t)
    return found


def gap_and_error(bars: FiveBar, states: States) -> tuple[float, float]:
    """Return the largest gap, in m, and the largest error of the energy, in J, of a motion."""
    q, dq = states
    gap = closed_chains.gap(bars, np.remainder(q, 2 * np.pi))
    energy = np.add(*energy_of(bars, q, dq))
    return float(np.abs(gap).max()), float(np.abs(energy - energy[0]).max())


def compare_motions(seconds: float = SECONDS, rounds: int = ROUNDS) -> list[Result]:
    """Measure all ways in turns.

    Raises:
        AssertionError: the motions differ in the first second by more than 0.001 rad.
    """
    bars = arm()
    count = round(seconds / (EVERY * STEP))
    t = np.arange(count + 1) * (EVERY * STEP)
    first = t[t <= 1]
    all_ways = ways(bars)
    right = all_ways["dynlib"](first)[0]
    for name, way in all_ways.items():
        worst = np.abs(way(first)[0] - right).max()
        assert worst < 0.001, f"{name}: the motion differs by {worst:.1e} rad in the first second"

    times: dict[str, list[float]] = {name: [] for name in all_ways}
    quality: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):
        for name, way in all_ways.items():
            begin = time.process_time()
            states = way(t)
            times[name].append(time.process_time() - begin)
            quality[name] = gap_and_error(bars, states)
    return [Result(name, *quality[name], statistics.median(times[name])) for name in all_ways]


# ---- Both ------------------------------------------------------------------------------------------


def call_table(calls: list[Call]) -> str:
    """Return the accelerations as a Markdown table; ratios to dynlib."""
    lines = ["| Way | µs a call | Time, ratio | Difference |", "| :--- | ---: | ---: | ---: |"]
    for c in calls:
        lines.append(f"| {c.name} | {c.seconds * 1e6:.2f} | {c.seconds / calls[0].seconds:.2f} | {c.difference:.0e} |")
    return "\n".join(lines)


def table(results: list[Result]) -> str:
    """Return the motions as a Markdown table; ratios to dynlib."""
    lines = ["| Way | Largest gap, m | Energy error, J | CPU time, s | Time, ratio |"]
    lines += ["| :--- | ---: | ---: | ---: | ---: |"]
    for r in results:
        ratio = r.seconds / results[0].seconds
        lines.append(f"| {r.name} | {r.gap:.1e} | {r.error:.1e} | {r.seconds:.2f} | {ratio:.2f} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.closed_chain", description="A five-bar over 10 s.")
    parser.add_argument("--calls", type=int, default=CALLS, help="states of which the accelerations are computed")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="length of the motion")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="rounds, of which the median counts; 5 times for calls"
    )
    options = parser.parse_args(arguments)
    print(call_table(compare_calls(options.calls, 5 * options.rounds)) + "\n")
    print(table(compare_motions(options.seconds, options.rounds)))
    print("\n" + versions("numpy", "scipy", "sympy", "pin", *["mujoco"] * bool(installed("mujoco"))))


if __name__ == "__main__":
    main(sys.argv[1:])
