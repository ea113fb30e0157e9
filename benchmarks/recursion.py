"""The plain batched recursion of dynlib beside one call of Pinocchio's `rnea` a state, for the PUMA 560.

Run it as `python -m benchmarks.recursion`. Both compute the same torques of the same states, which is checked first.
Their rounds alternate, so that a busy machine slows both; shown are the medians of the CPU time.
"""

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks import versions
from dynlib import robots
from dynlib.model import Robot
from dynlib.newton_euler import inverse_dynamics

STATES = (1, 1_000, 100_000)
ROUNDS = 7
SMALLEST = 2_000  # states a round: fewer than these are computed several times


@dataclass(frozen=True)
class Comparison:
    """CPU time for one number of states.

    Attributes:
        states: in one call of dynlib, and in one loop over Pinocchio.
        dynlib: median CPU time a state, in s.
        pinocchio: the same for Pinocchio.
    """

    states: int
    dynlib: float
    pinocchio: float

    @property
    def ratio(self) -> float:
        """Return how many times as long dynlib takes."""
        return self.dynlib / self.pinocchio


def arm() -> Robot:
    """Return the PUMA 560 of the catalogue without its motors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its published tensors break the triangle rule, which it says
        puma = robots.load("puma560")
    return replace(puma, links=[replace(link, motor=None) for link in puma.links])


def pinocchio_model(robot: Robot) -> Any:
    """Return an arm with revolute joints as a model of Pinocchio."""
    model = pin.Model()
    model.gravity.linear = robot.gravity
    parent, before = 0, robot.base
    for number, link in enumerate(robot.links, start=1):
        place = pin.SE3(before @ link.fixed)
        parent, before = model.addJoint(parent, pin.JointModelRZ(), place, f"joint{number}"), np.eye(4)
        body = robot.bodies[number - 1]
        assert body is not None
        model.appendBodyToJoint(parent, pin.Inertia(float(body.mass), body.com, body.inertia), pin.SE3.Identity())
    return model


def random_states(states: int, joints: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return joint values, rates and accelerations, each (states, joints), the same on every run."""
    q, dq, ddq = np.random.default_rng(560).uniform(-3, 3, (3, states, joints))
    return q, dq, ddq


def by_dynlib(robot: Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    """Return the torques of all states by one call."""
    return inverse_dynamics(robot, q, dq, ddq)


def by_pinocchio(model: Any, data: Any, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    """Return the torques of all states by one call for each."""
    tau = np.empty_like(q)
    for i in range(len(q)):
        tau[i] = pin.rnea(model, data, q[i], dq[i], ddq[i])
    return tau


def cpu_time(compute: Callable[[], object], repetitions: int) -> float:
    """Return the CPU time of a computation, in s, averaged over repetitions in a row."""
    start = time.process_time()
    for _ in range(repetitions):
        compute()
    return (time.process_time() - start) / repetitions


def compare(states: int, rounds: int = ROUNDS) -> Comparison:
    """Measure both on the same states, in turns.

    Raises:
        AssertionError: the torques differ by more than 1e-10 of the largest one.
    """
    robot = arm()
    model = pinocchio_model(robot)
    data = model.createData()
    motion = random_states(states, robot.n)
    # A single state goes in as a user would give it, without a leading axis.
    single = [each[0] for each in motion] if states == 1 else list(motion)

    def ours() -> np.ndarray:
        return by_dynlib(robot, *single)

    def theirs() -> np.ndarray:
        return by_pinocchio(model, data, *motion)

    expected = theirs()
    worst = np.abs(ours().reshape(expected.shape) - expected).max() / np.abs(expected).max()
    assert worst < 1e-10, f"the torques differ by {worst:.1e} of the largest"

    repetitions = max(1, SMALLEST // states) if rounds > 1 else 1
    dynlib, pinocchio = [], []
    for _ in range(rounds):
        dynlib.append(cpu_time(ours, max(1, repetitions // 10)) / states)  # a single state takes longer here
        pinocchio.append(cpu_time(theirs, repetitions) / states)
    return Comparison(states, statistics.median(dynlib), statistics.median(pinocchio))


def table(comparisons: list[Comparison]) -> str:
    """Return the comparisons as a Markdown table."""
    lines = ["| States | dynlib, µs a state | Pinocchio, µs a state | Ratio |", "| ---: | ---: | ---: | ---: |"]
    lines += [f"| {c.states} | {c.dynlib * 1e6:.2f} | {c.pinocchio * 1e6:.2f} | {c.ratio:.1f} |" for c in comparisons]
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recursion", description="Inverse dynamics of PUMA 560.")
    parser.add_argument("--states", type=int, nargs="+", default=STATES, help="numbers of states")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds, of which the median counts")
    options = parser.parse_args(arguments)
    print(table([compare(states, options.rounds) for states in options.states]))
    print("\n" + versions("numpy", "pin"))


if __name__ == "__main__":
    main(sys.argv[1:])
