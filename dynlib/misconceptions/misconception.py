"""What a mistake is: a right derivation with one step, or one piece of data, wrong.

It takes what the right derivation takes, a system, a motion and the loads, and gives the torques that follow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynlib import newton_euler
from dynlib.algebra.arrays import Array
from dynlib.closed_chains import dynamics, velocities
from dynlib.misconceptions.words import WORDS
from dynlib.model.mechanism import Mechanism, System
from dynlib.model.robot import Robot

Torques = Callable[..., Array]
"""Takes a system, a motion and the loads by their names, as :meth:`Misconception.torques` does."""


class NotHere(ValueError):
    """A mistake cannot be made with this system or without such loads."""


@dataclass(frozen=True)
class Misconception:
    """A right derivation with one thing wrong.

    Attributes:
        key: short name for programs.
        arm: computes the torques of an arm that follow; None for a mistake about closed chains.
        mechanism: computes those of a mechanism; None if each of its chains is computed with the mistake of an arm.
        steps: makes the steps of the derivation, one of them replaced; None where the data are misread.
        joint: number of the only joint or link where the mistake is made; None if it is made everywhere.
    """

    key: str
    arm: Torques | None = None
    mechanism: Torques | None = None
    steps: Callable[[], Any] | None = None
    joint: int | None = None

    def name(self, language: str = "en") -> str:
        """Return what the mistake is called."""
        return WORDS[language][self.key][0].format(joint=self.joint)

    def feedback(self, language: str = "en") -> str:
        """Return one or two sentences that say what is wrong and what belongs there."""
        return WORDS[language][self.key][1].format(joint=self.joint)

    def torques(self, system: System, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
        r"""Return the torques that follow from the mistake.

        Args:
            system: an arm or a mechanism, of numbers.
            q: joint values, shape (..., N), in rad or m; of a mechanism those of all coordinates.
            dq: joint rates, shape (..., N), in rad/s or m/s; of a mechanism those of its inputs.
            ddq: accelerations, of the same shape, in rad/s² or m/s².
            **loads: as :func:`dynlib.newton_euler.recursion` takes them (loads and base motion), or
                :func:`dynlib.closed_chains.dynamics.inverse_dynamics` (``loads``).

        Returns:
            The wrong :math:`\tau`, shape (..., N) or one for each input, in N m (revolute) or N (prismatic).

        Raises:
            NotHere: the mistake cannot be made with this system (no DH table, say).
            ValueError: what the right derivation refuses.

        >>> from dynlib import misconceptions, robots
        >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
        >>> misconceptions.ALL["gravity_added"].torques(arm, [0, 0], [0, 0], [0, 0])  # right: 30 and 10
        array([-30., -10.])
        """
        if isinstance(system, Mechanism):
            return (self.mechanism or self._in_each_chain)(system, q, dq, ddq, **loads)
        if self.arm is None:
            raise NotHere(f'"{self.name()}" is a mistake about closed chains; {system.name} has none.')
        if self.joint is not None and self.joint > system.n:
            raise NotHere(f"{system.name} has no joint {self.joint}.")
        return self.arm(system, q, dq, ddq, **loads)

    def _in_each_chain(self, mechanism: Mechanism, q: Any, du: Any, ddu: Any, **loads: Any) -> Array:
        """Compute each chain of the cut mechanism with the mistake; motion, loads and projection are right."""
        if self.arm is None:
            raise NotHere(f'"{self.name()}" is a mistake about open arms; {mechanism.name} is a mechanism.')
        q, dq, ddq, Gamma = velocities.motion_of(mechanism, q, du, ddu)
        forces = dynamics.tree_torques(mechanism, q, dq, ddq, **loads)
        pieces = zip(mechanism.chains, *map(mechanism.parts, (q, dq, ddq)), strict=True)
        errors = [self._error(*piece) for piece in pieces]
        return np.asarray(dynamics.projection(Gamma, forces + np.concatenate(errors, axis=-1), mechanism.u))

    def _error(self, chain: Robot, q: Array, dq: Array, ddq: Array) -> Array:
        if not dynamics.has_inertia(chain) or (self.joint or 0) > chain.n:
            return np.zeros(q.shape)
        return self.torques(chain, q, dq, ddq) - newton_euler.inverse_dynamics(chain, q, dq, ddq)


def right_torques(system: System, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
    """Return the right torques of an arm or of a mechanism; arguments as in :meth:`Misconception.torques`."""
    if isinstance(system, Mechanism):
        return dynamics.inverse_dynamics(system, q, dq, ddq, **loads)
    return newton_euler.inverse_dynamics(system, q, dq, ddq, **loads)
