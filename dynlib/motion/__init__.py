"""Motion: forward dynamics, simulation of arms and closed chains, and control."""

from dynlib.motion.closed_chains import LinkageMotion, energy_of, simulate
from dynlib.motion.control import computed_torque, quintic
from dynlib.motion.forward import forward_dynamics
from dynlib.motion.open_chains import simulate
from dynlib.motion.record import Event, Motion

__all__ = [
    "Event",
    "LinkageMotion",
    "Motion",
    "computed_torque",
    "energy_of",
    "forward_dynamics",
    "quintic",
    "simulate",
]
