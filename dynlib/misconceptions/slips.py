"""Right but for a sign, a unit, the order of the joints or the value of g."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dynlib.algebra.arrays import Array, as_floats
from dynlib.misconceptions.misconception import Misconception, NotHere, right_torques
from dynlib.model.mechanism import Mechanism, System
from dynlib.model.robot import Robot


def _times(key: str, factor: float) -> Misconception:
    def wrong(system: System, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
        return factor * right_torques(system, q, dq, ddq, **loads)

    return Misconception(key, wrong, wrong)


def _sign_at(joint: int) -> Misconception:
    def wrong(system: System, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
        found = right_torques(system, q, dq, ddq, **loads)
        if joint > found.shape[-1]:
            raise NotHere(f"{system.name} has no torque number {joint}.")
        found = found.copy()
        found[..., joint - 1] *= -1
        return found

    return Misconception("sign_at", wrong, wrong, joint=joint)


def _angles(key: str, change: Callable[[Array], Array]) -> Misconception:
    def wrong(robot: Robot, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
        (q,) = robot.state(q=q)
        turning = np.array([bool(link.turn) for link in robot.links])
        other = np.mod(change(q), 2 * np.pi)  # many turns would be taken for degrees, and hinted at
        return right_torques(robot, np.where(turning, other, q), dq, ddq, **loads)

    def opened(mechanism: Mechanism, *motion: Any, **loads: Any) -> Array:
        raise NotHere(f"with other angles {mechanism.name} does not close.")

    return Misconception(key, wrong, opened)


def _rates_in_degrees(system: System, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
    if isinstance(system, Mechanism):
        links = [system.chains[chain - 1].links[joint - 1] for chain, joint in system.inputs]
    else:
        links = list(system.links)
    factors = np.where([bool(link.turn) for link in links], np.degrees(1.0), 1.0)
    return right_torques(system, q, factors * np.asarray(dq), factors * np.asarray(ddq), **loads)


def _from_the_tip(system: System, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
    return right_torques(system, q, dq, ddq, **loads)[..., ::-1]


def _gravity(key: str, size: float) -> Misconception:
    def wrong(system: System, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
        own = float(np.linalg.norm(as_floats(system.gravity)))
        if not 9.7 < own < 10.1 or abs(own - size) < 1e-9:
            raise NotHere(f"gravity of {system.name} is {own:g} m/s².")
        scaled = system.gravity * (size / own)
        other = system.with_gravity(scaled) if isinstance(system, Mechanism) else replace(system, gravity=scaled)
        return right_torques(other, q, dq, ddq, **loads)

    return Misconception(key, wrong, wrong)


SLIPS: Mapping[str, Misconception] = {
    each.key: each
    for each in (
        _times("all_signs", -1.0),
        _times("thousandfold", 1e3),
        _times("thousandth", 1e-3),
        _angles("sines_of_degrees", np.radians),
        _angles("angles_in_degrees", np.degrees),
        Misconception("rates_in_degrees", _rates_in_degrees, _rates_in_degrees),
        Misconception("from_the_tip", _from_the_tip, _from_the_tip),
        _gravity("gravity_9_8", 9.8),
        _gravity("gravity_9_81", 9.81),
        _gravity("gravity_10", 10.0),
    )
}
"""Every way to be right but for a sign, a unit, the order of the joints or the value of g, by key."""

SLIPS_AT: Mapping[str, Callable[[int], Misconception]] = {"sign_at": _sign_at}
"""Those about one torque, by key; each takes its number, from 1."""
