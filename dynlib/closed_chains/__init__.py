"""Closed chains: positions, rates, singular positions and dynamics of a mechanism with loops.

The order is that of the chapters: :mod:`~dynlib.closed_chains.constraints` states the closures,
:mod:`~dynlib.closed_chains.singular` counts the free motions, :mod:`~dynlib.closed_chains.velocities` finds the
dependent rates and accelerations, :mod:`~dynlib.closed_chains.positions` the positions and
:mod:`~dynlib.closed_chains.dynamics` the forces.
"""

from dynlib.closed_chains.constraints import ClosureError, constraint_bias, constraint_jacobian, gap, pose
from dynlib.closed_chains.dynamics import (
    Constrained,
    Steps,
    closure_forces,
    forward_dynamics,
    inverse_dynamics,
    pin_forces,
    project,
    projection,
    reduced_mass_matrix,
    tree_mass_matrix,
    tree_torques,
    with_multipliers,
)
from dynlib.closed_chains.positions import close, follow
from dynlib.closed_chains.singular import Mobility, Singularity, SingularPosition, mobility, singularity
from dynlib.closed_chains.velocities import (
    accelerations,
    dependent_accelerations,
    dependent_rates,
    gamma,
    input_jacobian,
    motion_of,
    point_acceleration,
    point_jacobian,
    point_velocity,
    rates,
)

__all__ = [
    "ClosureError",
    "Constrained",
    "Mobility",
    "SingularPosition",
    "Singularity",
    "Steps",
    "accelerations",
    "close",
    "closure_forces",
    "constraint_bias",
    "constraint_jacobian",
    "dependent_accelerations",
    "dependent_rates",
    "follow",
    "forward_dynamics",
    "gamma",
    "gap",
    "input_jacobian",
    "inverse_dynamics",
    "mobility",
    "motion_of",
    "pin_forces",
    "point_acceleration",
    "point_jacobian",
    "point_velocity",
    "pose",
    "project",
    "projection",
    "rates",
    "reduced_mass_matrix",
    "singularity",
    "tree_mass_matrix",
    "tree_torques",
    "with_multipliers",
]
