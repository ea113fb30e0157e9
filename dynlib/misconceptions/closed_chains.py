"""Mistakes about closed chains.

Some are mistakes of document B, with the number of the erratum; they are about the three-legged arm. The others can be
made with every linkage.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from dynlib import lagrange, velocity
from dynlib.acceleration import point_acceleration
from dynlib.algebra.arrays import Array
from dynlib.algebra.equation import Equation
from dynlib.closed_chains import dynamics, velocities
from dynlib.closed_chains.dynamics import Steps
from dynlib.closed_chains.walk import Walk
from dynlib.frames import inverse, position
from dynlib.linkages import three_legs
from dynlib.linkages.linkage import Linkage
from dynlib.linkages.three_legs import ThreeLegged
from dynlib.misconceptions.misconception import Misconception, NotHere
from dynlib.model.mechanism import Mechanism
from dynlib.velocity import Wrench

Wrong = Callable[..., Array]
"""Torques of a mechanism for position, rates and accelerations of the inputs, and loads."""

# ---- Mistakes of document B ------------------------------------------------------------------------


def _wrong(right: Equation, function: Callable[..., Any], tex: str) -> Equation:
    return replace(right, function=function, tex=tex)


def _with_energies(key: str, steps: three_legs.Steps) -> Misconception:
    def wrong(arm: Mechanism, q: Any, du: Any, ddu: Any, **loads: Any) -> Array:
        if not isinstance(arm, ThreeLegged):
            raise NotHere(
                f'"{Misconception(key).name()}" is a mistake about the three-legged arm; '
                f"{arm.name} is another mechanism."
            )
        error = three_legs.torques(arm, q, du, ddu, steps=steps) - three_legs.torques(arm, q, du, ddu)
        return dynamics.inverse_dynamics(arm, q, du, ddu, **loads) + error  # loads and motors are right

    return Misconception(key, mechanism=wrong, steps=lambda: steps)


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


def _copied(i: int, l: Any, first: Any) -> Any:
    """Return by how much the height of a second link changes when that of chain 2 begins with the line of chain 1."""
    return l[0] * sympy.sin(first[0]) - l[1] * sympy.sin(first[1]) if i == 1 else 0


def _copied_index() -> three_legs.Steps:
    right = three_legs.mass_centre

    def wrong(i: int, O: Any, l: Any, r: Any, first: Any, second: Any) -> Array:
        x, y = right(i, O, l, r, first, second)
        return np.array([x, y + _copied(i, l, first)])

    return three_legs.Steps(mass_centre=_wrong(right, wrong, right.tex))


def _partial_time_derivative() -> three_legs.Steps:
    def wrong(p: Any, q: Any, dq: Any, ddq: Any, by: Any) -> Any:
        return p - p

    step = _wrong(lagrange.momentum_rate, wrong, "0")
    return three_legs.Steps(derivatives=replace(lagrange.Steps(), momentum_rate=step))


def _as_printed() -> three_legs.Steps:
    """Make all three slips of the document at once: E22 in the energy, E23 and E24 in the mass centres."""
    right = three_legs.mass_centre
    centre = _relative_angle_in_centre().mass_centre

    def wrong(i: int, O: Any, l: Any, r: Any, first: Any, second: Any) -> Array:
        x, y = centre(i, O, l, r, first, second)
        return np.array([x, y + _copied(i, l, first)])

    return three_legs.Steps(mass_centre=_wrong(right, wrong, centre.tex), leg_energy=_rates_squared_alone().leg_energy)


# ---- Mistakes with any linkage ---------------------------------------------------------------------


def _with_steps(key: str, steps: Steps, route: Wrong) -> Misconception:
    def wrong(mechanism: Mechanism, q: Any, du: Any, ddu: Any, **loads: Any) -> Array:
        return route(mechanism, q, du, ddu, steps=steps, **loads)

    return Misconception(key, mechanism=wrong, steps=lambda: steps)


def _by_multipliers(mechanism: Mechanism, q: Any, du: Any, ddu: Any, **options: Any) -> Array:
    return dynamics.pin_forces(mechanism, q, du, ddu, **options).tau


def _dependent_angles_held() -> Steps:
    def wrong(Gamma: Array, forces: Array, inputs: Sequence[int]) -> Array:
        return forces[..., list(inputs)]

    return Steps(projection=_wrong(dynamics.projection, wrong, r"S^{\top}(M\ddot{q} + h)"))


def _closure_velocity_term() -> Steps:
    right = velocities.dependent_accelerations

    def wrong(J_u: Array, J_v: Array, ddu: Array, bias: Array) -> Array:
        return np.asarray(right(J_u, J_v, ddu, 0 * bias))

    return Steps(dependent_accelerations=_wrong(right, wrong, r"-J_v^{-1} J_u\,\ddot{u}"))


def _multiplier_sign() -> Steps:
    right = dynamics.closure_forces

    def wrong(J: Array, passive: Sequence[int], forces: Array) -> Array:
        return -np.asarray(right(J, passive, forces))

    return Steps(closure_forces=_wrong(right, wrong, r"-(M\ddot{q} + h - S\tau)"))


def _one_leg_alone(mechanism: Mechanism, q: Any, du: Any, ddu: Any, *, loads: Sequence[Wrench] = ()) -> Array:
    """Add to the torques without load what each input's own chain, taken as open, says about the loads."""
    if not loads:
        raise NotHere("this is a mistake about loads; without any there is nothing to get wrong.")
    (q,) = mechanism.state(q=q)
    found, walk = dynamics.inverse_dynamics(mechanism, q, du, ddu), Walk(mechanism, q)
    for load in loads:
        here, force = walk.pose(load.place), walk.push(load)[:3]
        for place, (number, joint) in enumerate(mechanism.inputs):
            chain, values = mechanism.chains[number - 1], mechanism.parts(q)[number - 1]
            tip = chain.base @ chain.pose(values)
            reached = inverse(tip) @ here
            J = velocity.jacobian(chain, values, point=position(reached))
            found[place] -= J[:3, joint - 1] @ force
    return found


def _wrong_branch(mechanism: Mechanism, q: Any, du: Any, ddu: Any, *, loads: Sequence[Wrench] = ()) -> Array:
    if not isinstance(mechanism, Linkage):
        raise NotHere(f"the assembly modes of {mechanism.name} are not known in closed form.")
    (q,) = mechanism.state(q=q)
    apart = {
        mode: float(np.abs(np.exp(1j * other) - np.exp(1j * q)).max())
        for mode, other in mechanism.assembly_modes(q[mechanism.u]).items()
    }
    others = {mode: far for mode, far in apart.items() if far > 1e-6}
    if not others:
        raise NotHere(f"{mechanism.name} has only one assembly mode here.")
    branch = mechanism.positions(q[mechanism.u], min(others, key=lambda mode: others[tuple(mode)]))
    return dynamics.inverse_dynamics(mechanism, branch, du, ddu, loads=loads)


def _meeting_point_held(mechanism: Mechanism, q: Any, du: Any, ddu: Any, *, loads: Sequence[Wrench] = ()) -> Array:
    """Let each chain's end stand still as well as its passive joints can; then all goes on as usual."""
    (q,), du, ddu = mechanism.state(q=q), mechanism.input_values("du", du), mechanism.input_values("ddu", ddu)
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
    forces = dynamics.tree_torques(mechanism, q, dq, Gamma @ ddu + bias, loads=loads)
    return np.asarray(dynamics.projection(Gamma, forces, mechanism.u))


CLOSED: Mapping[str, Misconception] = {
    each.key: each
    for each in (
        _with_energies("rates_squared_alone", _rates_squared_alone()),
        _with_energies("relative_angle_in_centre", _relative_angle_in_centre()),
        _with_energies("copied_index", _copied_index()),
        _with_energies("energies_as_printed", _as_printed()),
        _with_energies("partial_time_derivative", _partial_time_derivative()),
        _with_steps("dependent_angles_held", _dependent_angles_held(), dynamics.inverse_dynamics),
        Misconception("one_leg_alone", mechanism=_one_leg_alone),
        Misconception("wrong_branch", mechanism=_wrong_branch),
        _with_steps("multiplier_sign", _multiplier_sign(), _by_multipliers),
        _with_steps("closure_velocity_term", _closure_velocity_term(), dynamics.inverse_dynamics),
        Misconception("meeting_point_held", mechanism=_meeting_point_held),
    )
}
"""Every mistake about closed chains, by key."""
