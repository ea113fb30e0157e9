"""Mistakes in Lagrange's equations: one step replaced."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dynlib import lagrange, newton_euler
from dynlib.algebra.arrays import Array, apply
from dynlib.misconceptions.misconception import Misconception, NotHere
from dynlib.misconceptions.newton_euler import wrong_step
from dynlib.model.robot import Robot


def refuse_moving_base(loads: Mapping[str, Any], key: str) -> None:
    """Raise an error if the base moves: then its motion would have to be among the coordinates.

    Args:
        loads: loads and base motion, by name.
        key: the mistake.

    Raises:
        NotHere: it moves.
    """
    base = loads.get("base")
    if base is not None and any(np.any(motion != 0) for motion in vars(base).values()):
        raise NotHere(
            f'"{Misconception(key).name()}" is a mistake about an arm whose base stands still; here it moves.'
        )


def _with_step(key: str, name: str, tex: str, function: Callable[..., Any]) -> Misconception:
    right = lagrange.Steps()
    steps = replace(right, **{name: wrong_step(getattr(right, name), tex, function)})

    def wrong(robot: Robot, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
        refuse_moving_base(loads, key)
        error = lagrange.torques(robot, q, dq, ddq, steps=steps) - lagrange.torques(robot, q, dq, ddq)
        return (
            newton_euler.inverse_dynamics(robot, q, dq, ddq, **loads) + error
        )  # with loads and motors, which are right

    return Misconception(key, wrong, steps=lambda: steps)


def _only_through_rates(p: Any, q: Any, dq: Any, ddq: Any, by: Any) -> Any:
    standing_still = [rate - rate for rate in dq]
    return lagrange.momentum_rate(p, q, standing_still, ddq, by)


def _without_halves(m: Array, v_c: Array, I: Array, omega: Array) -> Array:
    half_of_it = lagrange.kinetic_energy(m, v_c, I, omega)
    return half_of_it + half_of_it


_THROUGH_RATES = r"\sum_{j} \frac{\partial p_{i}}{\partial\dot{q}_{j}}\,\ddot{q}_{j}"
_WITHOUT_HALVES = lagrange.kinetic_energy.tex.replace(r"\tfrac{1}{2} ", "").replace(r"\tfrac{1}{2}\,", "")

LAGRANGE: Mapping[str, Misconception] = {
    each.key: each
    for each in (
        _with_step("wave_not_differentiated", "momentum_rate", _THROUGH_RATES, _only_through_rates),
        _with_step(
            "kinetic_slope_dropped",
            "coordinate_force",
            r"-\frac{\partial\mathcal{P}}{\partial q_{i}}",
            lambda K, P, coordinate: -P.diff(coordinate),
        ),
        _with_step("half_lost", "kinetic_energy", _WITHOUT_HALVES, _without_halves),
        _with_step(
            "relative_rate",
            "angular_velocity",
            r"\dot{\theta}_{i}\,{}^{i}\hat{z}_{i}",
            lambda R, omega, turning: turning,
        ),
        _with_step(
            "potential_sign",
            "potential_energy",
            lagrange.potential_energy.tex.lstrip("-"),
            lambda m, g, p_c: -lagrange.potential_energy(m, g, p_c),
        ),
        _with_step(
            "height_from_own_joint",
            "com_position",
            r"{}^{0}_{i}R\,{}^{i}p_{c_{i}}",
            lambda R, p, p_c: apply(R, p_c),
        ),
    )
}
"""Every mistake in Lagrange's equations, by key."""
