"""Motion: forward dynamics, simulation of arms and closed chains, and control.

:func:`~dynlib.motion.simulation.simulate` takes both kinds of systems;
:func:`~dynlib.motion.forward.forward_dynamics` is that of an arm, a closed chain's is in :mod:`dynlib.closed_chains`.
"""

from dynlib.motion.closed_chains import energy_of
from dynlib.motion.control import computed_torque, quintic
from dynlib.motion.forward import forward_dynamics
from dynlib.motion.record import ClosedMotion, Event, Motion
from dynlib.motion.simulation import simulate
from dynlib.progress import SimulationError, SimulationInterrupted

__all__ = [
    "ClosedMotion",
    "Event",
    "Motion",
    "SimulationError",
    "SimulationInterrupted",
    "computed_torque",
    "energy_of",
    "forward_dynamics",
    "quintic",
    "simulate",
]
