"""What a simulation returns: a motion with its energies, its events or the forces of its closures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynlib.algebra.arrays import Array

Torque = Callable[[float, Array, Array], Any]
"""Torques as a function of time (s), joint values (N,) and rates (N,)."""
Wanted = Callable[[float], tuple[Array, Array, Array]]
"""A wanted motion, as a function of time (s); it gives joint values, rates and accelerations, each (N,)."""


@dataclass(frozen=True)
class Event:
    """A switch of the equations of motion.

    Attributes:
        t: time, in s.
        joint: number of the joint, from 1.
        kind: ``"sticks"``, ``"slides"`` (breaks away or turns back), ``"hits"`` (a stop), ``"rests"`` (at a stop) or
            ``"leaves"`` (a stop, from rest).
        lost: energy that an impact took, in J; 0 for the others.
    """

    t: float
    joint: int
    kind: str
    lost: float = 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Motion:
    r"""A motion of an arm, at K times.

    Attributes:
        t: times, shape (K,), in s.
        q: joint values, shape (K, N), in rad or m; not wrapped after full turns.
        dq: joint rates, shape (K, N), in rad/s or m/s.
        ddq: joint accelerations, shape (K, N), in rad/s² or m/s².
        tau: what the motors supply, shape (K, N), in N m or N.
        kinetic: kinetic energy with the rotors, shape (K,), in J.
        potential: potential energy, zero at the origin of {0}, shape (K,), in J.
        work: what the motors and loads have put in since the start, shape (K,), in J.
        lost: what friction and impacts have taken since the start, shape (K,), in J.
        events: switches of the equations, in order.
        method: by which it was integrated, ``"DOP853"`` or ``"Radau"``, or ``"RK4"`` in equal steps.
        rtol: error that a step was allowed to make, relative; None in equal steps.
        atol: error that a step was allowed to make, absolute, in units of the state; None in equal steps.
    """

    t: Array
    q: Array
    dq: Array
    ddq: Array
    tau: Array
    kinetic: Array
    potential: Array
    work: Array
    lost: Array
    events: tuple[Event, ...]
    method: str
    rtol: float | None
    atol: float | None

    @property
    def energy(self) -> Array:
        """Return kinetic plus potential energy, shape (K,), in J."""
        return self.kinetic + self.potential

    @property
    def imbalance(self) -> Array:
        """Return what the power balance misses since the start, shape (K,), in J; exactly 0 if nothing were rounded."""
        return self.energy - self.energy[:1] - self.work + self.lost

    def __repr__(self) -> str:
        if not len(self.t):
            return "motion without any state"
        joints, events = self.q.shape[1], len(self.events)
        return (
            f"motion over {self.t[-1] - self.t[0]:g} s at {_counted(len(self.t), 'time')}: "
            f"{_counted(joints, 'joint')}, {self.method}, lost {self.lost[-1]:.4g} J, {_counted(events, 'event')}"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ClosedMotion(Motion):
    r"""A motion of a closed chain, at K times: a :class:`Motion` of all its joints, with what the closures do.

    Its ``q``, ``dq`` and ``ddq`` have a column for each joint, (K, n), its ``tau`` one for each input, (K, m). The
    potential energy is 0 at the height of each chain's own base; there are no events.

    Attributes:
        lam: forces of the closures on the links of their points ``a``, shape (K, rows), in N; 0 for redundant
            equations, whose share the others carry.
        gap: largest gap, shape (K,), in m.
    """

    lam: Array
    gap: Array

    def __repr__(self) -> str:
        if not len(self.t):
            return "motion without any state"
        return (
            f"motion over {self.t[-1] - self.t[0]:g} s at {len(self.t)} times: largest gap {self.gap.max():.1e} m, "
            f"largest imbalance of energy {np.abs(self.imbalance).max():.1e} J"
        )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
