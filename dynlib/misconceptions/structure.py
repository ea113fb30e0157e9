r"""Mistakes in :math:`\tau = M\ddot q + C\dot q + g`: one matrix wrong."""

from collections.abc import Mapping
from typing import Any

from dynlib import newton_euler, structure
from dynlib.algebra.arrays import Array, transpose
from dynlib.misconceptions.lagrange import refuse_moving_base
from dynlib.misconceptions.misconception import Misconception
from dynlib.model.robot import Robot


def _christoffel_order(robot: Robot, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
    refuse_moving_base(loads, "christoffel_order")
    C = structure.coriolis_matrix(robot, q, dq)
    _, rates = robot.state(q=q, dq=dq)
    error = ((transpose(C) - C) @ rates[..., None])[..., 0]
    return newton_euler.inverse_dynamics(robot, q, dq, ddq, **loads) + error


STRUCTURE: Mapping[str, Misconception] = {"christoffel_order": Misconception("christoffel_order", _christoffel_order)}
"""Every mistake in the matrices, by key."""
