r"""Misconceptions about closed chains: a right derivation with one step wrong.

Some are mistakes of document B, with the number of the erratum; they are about the three-legged arm. The others can be
made with every linkage.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import sympy

from dynlib import check, closed_chain, closed_dynamics, lagrange, three_legs, velocity
from dynlib.acceleration import point_acceleration
from dynlib.arrays import Array
from dynlib.closed_dynamics import Load, Steps
from dynlib.equation import Equation
from dynlib.frames import inverse, position
from dynlib.linkages import Linkage, ThreeLegged
from dynlib.mechanism import Mechanism
from dynlib.misconceptions import Named

WORDS: dict[str, dict[str, tuple[str, str]]] = {
    "en": {
        "rates_squared_alone": (
            "rates squared one by one (E22)",
            "The second link turns at the sum of both rates: its energy holds (θ̇₁ + θ̇₂)², with the mixed term, not "
            "θ̇₁² + θ̇₂².",
        ),
        "relative_angle_in_centre": (
            "relative angle used for a direction (E23)",
            "θ₂ is measured from the first link. The direction of the second link, and so its mass centre, holds the "
            "sum θ₁ + θ₂.",
        ),
        "copied_index": (
            "index of another chain copied (E24)",
            "Link 22 is carried by link 21: its height begins with l₂₁ sin θ₂₁, not with the line of chain 1.",
        ),
        "partial_time_derivative": (
            "partial instead of total derivative by time (E29)",
            "A momentum depends on time through angles and rates; its partial derivative by time alone is zero, and "
            "every acceleration is lost.",
        ),
        "dependent_angles_held": (
            "dependent angles held still (E30)",
            "When an input moves, the dependent angles move with it. What the passive links cost is felt at the "
            "inputs: replace the dependent angles first, or project with Γᵀ.",
        ),
        "one_leg_alone": (
            "one leg taken as if it were open",
            "A force at the common point is felt through the Jacobian of the closed mechanism. The Jacobian of one leg "
            "alone holds its own second joint still.",
        ),
        "wrong_branch": (
            "another assembly mode",
            "The inputs leave more than one position open. The angles belong to another assembly mode than that of the "
            "mechanism.",
        ),
        "multiplier_sign": (
            "closure force with the wrong sense",
            "With M q̈ + h = S τ + Jᵀ λ the multiplier is the force on the link that carries point a; on the other "
            "link it is the opposite.",
        ),
        "closure_velocity_term": (
            "velocity term of the closure forgotten",
            "Differentiated twice, a closure gives J q̈ + J̇ q̇ = 0. Without J̇ q̇ the dependent accelerations are wrong as "
            "soon as anything moves.",
        ),
        "meeting_point_held": (
            "common point held still",
            "The point in which the chains meet moves with the inputs; its derivative by them is not zero.",
        ),
    }
}
"""Name and feedback of each misconception, by language and key."""

Wrong = Callable[[Any, Array, Array, Array, Sequence[Load]], Array]
"""Torques of a mechanism for position, rates and accelerations of the inputs, and loads."""


@dataclass(frozen=True)
class ClosedMisconception(Named):
    """A right derivation with one step wrong.

    Attributes:
        key: short name for programs.
        wrong: computes the torques that follow.
        legs_only: whether it is a mistake about the three-legged arm of document B.
    """

    words: ClassVar[Mapping[str, Mapping[str, tuple[str, str]]]] = WORDS
    wrong: Wrong
    legs_only: bool = False

    def torques(self, mechanism: Mechanism, q: Any, du: Any, ddu: Any, *, loads: Sequence[Load] = ()) -> Array:
        r"""Return the torques of the inputs that follow from the mistake.

        Args:
            mechanism: of numbers; the three-legged arm for the mistakes of document B.
            q: a closed position, shape (n,), in rad or m.
            du: rates of the inputs, shape (m,), in rad/s or m/s.
            ddu: accelerations of the inputs, shape (m,), in rad/s² or m/s².
            loads: what the surroundings put *on* the mechanism.

        Returns:
            The wrong :math:`\tau`, shape (m,), in N m or N.

        Raises:
            ValueError: the mistake cannot be made with this mechanism.
        """
        if self.legs_only and not isinstance(mechanism, ThreeLegged):
            raise ValueError(
                f"{self.key} is a mistake about the three-legged arm; {mechanism.name} is another mechanism."
            )
        (q,) = mechanism.state(q=q)
        return self.wrong(mechanism, q, mechanism.input_values("du", du), mechanism.input_values("ddu", ddu), loads)


def diagnose(
    mechanism: Mechanism, q: Any, du: Any, ddu: Any, answer: Any, *, loads: Sequence[Load] = (), tolerance: float = 1e-3
) -> list[ClosedMisconception]:
    """Find the misconceptions that give an answer.

    Args:
        mechanism: of numbers.
        q: a closed position, shape (n,), in rad or m.
        du: rates of the inputs, shape (m,), in rad/s or m/s.
        ddu: accelerations of the inputs, shape (m,), in rad/s² or m/s².
        answer: torques of the inputs that somebody found, shape (m,), in N m or N.
        loads: what the surroundings put *on* the mechanism.
        tolerance: largest difference relative to the largest torque (dimensionless).

    Returns:
        Every :class:`ClosedMisconception` that gives the answer and can be made here; none if the answer is right, or
        wrong in another way.
    """
    right = closed_dynamics.inverse_dynamics(mechanism, q, du, ddu, loads=loads)
    found: list[ClosedMisconception] = []
    if check.same(answer, right, tolerance):
        return found
    for each in CLOSED.values():
        try:
            wrong = each.torques(mechanism, q, du, ddu, loads=loads)
        except ValueError:
            continue
        if check.same(answer, wrong, tolerance) and not check.same(wrong, right, tolerance):
            found.append(each)
    return found


# ---- Mistakes of document B ------------------------------------------------------------------------


def _wrong(right: Equation, function: Callable[..., Any], tex: str) -> Equation:
    return replace(right, function=function, tex=tex)


def _by_energies(steps: three_legs.Steps) -> Wrong:
    def wrong(arm: ThreeLegged, q: Array, du: Array, ddu: Array, loads: Sequence[Load]) -> Array:
        found = three_legs.torques(arm, q, du, ddu, steps=steps)
        for load in loads:
            J = closed_chain.point_jacobian(arm, q, load.point)
            found = found - J.T @ np.concatenate([load.force, load.moment])
        return found

    return wrong


def _rates_squared_alone() -> three_legs.Steps:
    right = three_legs.leg_energy

    def wrong(I1: Any, I2: Any, m2: Any, dfirst: Any, dsecond: Any, v2: Any) -> Any:
        return right(I1, I2, m2, dfirst, dsecond, v2) - I2 * dfirst * dsecond

    tex = (
        r"\tfrac{1}{2} I_{i1}\dot\theta_{i1}^2 + \tfrac{1}{2} I_{i2}\big(\dot\theta_{i1}^2 + \dot\theta_{i2}^2\big) + "
    )
    return three_legs.Steps(leg_energy=_wrong(right, wrong, tex + r"\tfrac{1}{2} m_{i2} v_{i2}^2"))


def _relative_angle_in_centre() -> three_legs.Steps:
    right = three_legs.mass_centre

    def wrong(i: int, O: Any, l: Any, r: Any, first: Any, second: Any) -> Array:
        return np.array(
            [
                O[i][0] + l[i] * sympy.cos(first[i]) + r[i] * sympy.cos(second[i]),
                O[i][1] + l[i] * sympy.sin(first[i]) + r[i] * sympy.sin(second[i]),
            ]
        )

    tex = right.tex.replace("i1+i2", "i2")
    return three_legs.Steps(mass_centre=_wrong(right, wrong, tex))


def _copied_index() -> three_legs.Steps:
    right = three_legs.mass_centre

    def wrong(i: int, O: Any, l: Any, r: Any, first: Any, second: Any) -> Array:
        x, y = right(i, O, l, r, first, second)
        return np.array([x, y + l[0] * sympy.sin(first[0]) - l[1] * sympy.sin(first[1]) if i == 1 else y])

    return three_legs.Steps(mass_centre=_wrong(right, wrong, right.tex))


def _partial_time_derivative() -> three_legs.Steps:
    def wrong(p: Any, q: Any, dq: Any, ddq: Any, by: Any) -> Any:
        return p - p

    step = _wrong(lagrange.momentum_rate, wrong, "0")
    return three_legs.Steps(derivatives=replace(lagrange.Steps(), momentum_rate=step))


def _dependent_angles_held() -> three_legs.Steps:
    def wrong(Gamma: Array, forces: Array, inputs: Sequence[int]) -> Array:
        return forces[..., list(inputs)]

    return three_legs.Steps(projection=_wrong(closed_dynamics.projection, wrong, r"S^{\top}(M\ddot{q} + h)"))


# ---- Mistakes with any linkage ---------------------------------------------------------------------


def _by_steps(steps: Steps) -> Wrong:
    def wrong(mechanism: Mechanism, q: Array, du: Array, ddu: Array, loads: Sequence[Load]) -> Array:
        return closed_dynamics.pin_forces(mechanism, q, du, ddu, loads=loads, steps=steps).tau

    return wrong


def _closure_velocity_term() -> Steps:
    right = closed_chain.dependent_accelerations

    def wrong(J_u: Array, J_v: Array, ddu: Array, bias: Array) -> Array:
        return np.asarray(right(J_u, J_v, ddu, 0 * bias))

    return Steps(dependent_accelerations=_wrong(right, wrong, r"-J_v^{-1} J_u\,\ddot{u}"))


def _multiplier_sign() -> Steps:
    right = closed_dynamics.closure_forces

    def wrong(J: Array, passive: Sequence[int], forces: Array) -> Array:
        return -np.asarray(right(J, passive, forces))

    return Steps(closure_forces=_wrong(right, wrong, r"-(M\ddot{q} + h - S\tau)"))


def _one_leg_alone(mechanism: Mechanism, q: Array, du: Array, ddu: Array, loads: Sequence[Load]) -> Array:
    """Add to the torques without load what each input's own chain, taken as open, says about the loads."""
    if not loads:
        raise ValueError("one_leg_alone is a mistake about loads; without any there is nothing to get wrong.")
    found = closed_dynamics.inverse_dynamics(mechanism, q, du, ddu)
    for load in loads:
        here = closed_chain.pose(mechanism, q, load.point)
        for place, (number, joint) in enumerate(mechanism.inputs):
            chain, values = mechanism.chains[number - 1], mechanism.parts(q)[number - 1]
            tip = chain.base @ chain.pose(values)
            reached = inverse(tip) @ here
            J = velocity.jacobian(chain, values, point=position(reached))
            found[place] -= J[:3, joint - 1] @ load.force
    return found


def _wrong_branch(mechanism: Mechanism, q: Array, du: Array, ddu: Array, loads: Sequence[Load]) -> Array:
    if not isinstance(mechanism, Linkage):
        raise ValueError(f"the assembly modes of {mechanism.name} are not known in closed form.")
    apart = {
        mode: float(np.abs(np.exp(1j * other) - np.exp(1j * q)).max())
        for mode, other in mechanism.assembly_modes(q[mechanism.u]).items()
    }
    others = {mode: far for mode, far in apart.items() if far > 1e-6}
    if not others:
        raise ValueError(f"{mechanism.name} has only one assembly mode here.")
    branch = mechanism.positions(q[mechanism.u], min(others, key=lambda mode: others[tuple(mode)]))
    return closed_dynamics.inverse_dynamics(mechanism, branch, du, ddu, loads=loads)


def _meeting_point_held(mechanism: Mechanism, q: Array, du: Array, ddu: Array, loads: Sequence[Load]) -> Array:
    """Let each chain's end stand still as well as its passive joints can; then all goes on as usual."""
    Gamma = np.zeros((mechanism.n, mechanism.m))
    Gamma[mechanism.u, np.arange(mechanism.m)] = 1
    bias = np.zeros(mechanism.n)
    dq = np.zeros(mechanism.n)
    pieces = list(zip(mechanism.first, mechanism.chains, mechanism.parts(q), strict=True))
    ends = []
    for first, chain, values in pieces:
        own = list(range(first, first + chain.n))
        passive = [k for k in own if k in mechanism.v]
        J = velocity.jacobian(chain, values)[:2]
        pull = -np.linalg.pinv(J[:, [k - first for k in passive]])
        Gamma[passive] = pull @ J @ Gamma[own]
        ends.append((own, passive, pull))
    dq = Gamma @ du
    for (own, passive, pull), (_, chain, values) in zip(ends, pieces, strict=True):
        a, _ = point_acceleration(chain, values, dq[own], 0 * dq[own])
        bias[passive] = pull @ a[:2]
    forces = closed_dynamics.tree_torques(mechanism, q, dq, Gamma @ ddu + bias, loads=loads)
    return np.asarray(closed_dynamics.projection(Gamma, forces, mechanism.u))


CLOSED: Mapping[str, ClosedMisconception] = {
    each.key: each
    for each in (
        ClosedMisconception("rates_squared_alone", _by_energies(_rates_squared_alone()), legs_only=True),
        ClosedMisconception("relative_angle_in_centre", _by_energies(_relative_angle_in_centre()), legs_only=True),
        ClosedMisconception("copied_index", _by_energies(_copied_index()), legs_only=True),
        ClosedMisconception("partial_time_derivative", _by_energies(_partial_time_derivative()), legs_only=True),
        ClosedMisconception("dependent_angles_held", _by_energies(_dependent_angles_held()), legs_only=True),
        ClosedMisconception("one_leg_alone", _one_leg_alone),
        ClosedMisconception("wrong_branch", _wrong_branch),
        ClosedMisconception("multiplier_sign", _by_steps(_multiplier_sign())),
        ClosedMisconception("closure_velocity_term", _by_steps(_closure_velocity_term())),
        ClosedMisconception("meeting_point_held", _meeting_point_held),
    )
}
"""Every misconception about closed chains, by key."""
