r"""The energies and torques of the three-legged arm as document B derives them, with its mistakes put right.

The document writes the kinetic energy in six angles and differentiates it by the two inputs. Lagrange's equations of
all six angles, projected onto the inputs, give the same as first replacing the four dependent angles (B3.12c): so the
energies may be derived in six angles, and only the last step knows that the arm is closed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from dynlib import lagrange
from dynlib.acceleration import column_derivative
from dynlib.algebra.arrays import Array, as_floats
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.closed_chains import dynamics, velocities
from dynlib.frames import position
from dynlib.linkages import ThreeLegged
from dynlib.model.links import Body

Three = Sequence[Any]
"""One value for each chain."""


@equation(
    "p_2",
    r"\begin{bmatrix} x_{i2} \\ y_{i2} \end{bmatrix}",
    r"\begin{bmatrix} x_{i0} + l_{i1} C_{i1} + r_{i2} C_{i1+i2} \\ "
    r"y_{i0} + l_{i1} S_{i1} + r_{i2} S_{i1+i2} \end{bmatrix}",
    source="B3.3c",
)
def mass_centre(i: int, O: Three, l: Three, r: Three, first: Three, second: Three) -> Array:
    """Mass centre of link i2 (chain i counts from 0): its angle is measured from link i1, so that angles add up."""
    one, both = first[i], first[i] + second[i]
    x = O[i][0] + l[i] * sympy.cos(one) + r[i] * sympy.cos(both)
    y = O[i][1] + l[i] * sympy.sin(one) + r[i] * sympy.sin(both)
    return np.array([x, y])


@equation(
    "K",
    r"K_i",
    r"\tfrac{1}{2} I_{i1}\dot\theta_{i1}^2 + \tfrac{1}{2} I_{i2}\big(\dot\theta_{i1} + \dot\theta_{i2}\big)^2 + "
    r"\tfrac{1}{2} m_{i2} v_{i2}^2",
    source="B3.1c",
)
def leg_energy(I1: Any, I2: Any, m2: Any, dfirst: Any, dsecond: Any, v2: Any) -> Any:
    """Kinetic energy of a leg: I1 about the base pin, I2 about the mass centre, v2 the square of its speed."""
    return I1 * dfirst**2 / 2 + I2 * (dfirst + dsecond) ** 2 / 2 + m2 * v2 / 2


@equation("K_4", r"K_4", r"\tfrac{1}{2} m_{pc} v_Q^2 + \tfrac{1}{2} I_{pc}\dot\psi_1^2", source="B3.10c")
def end_energy(m: Any, I: Any, v2: Any, dpsi: Any) -> Any:
    """Kinetic energy of what is between C and P: of its mass centre Q, and of its turning about it."""
    return m * v2 / 2 + I * dpsi**2 / 2


_RIGHT = lagrange.Steps()  # of the derivatives


@dataclass(frozen=True)
class Steps:
    """The equations of the derivation; a misconception is one of them replaced."""

    mass_centre: Equation = mass_centre
    leg_energy: Equation = leg_energy
    end_energy: Equation = end_energy
    derivatives: lagrange.Steps = _RIGHT
    projection: Equation = dynamics.projection


@dataclass(frozen=True, eq=False)
class Energies:
    r"""Energies of the arm in six angles and their rates, as expressions.

    Attributes:
        K: :math:`K_1,K_2,K_3` of the chains and :math:`K_4` of what is between C and P, in J.
        P: potential energy, in J, counted for each chain from the height of its own base; 0 without gravity (B3.11,
            E28).
    """

    K: tuple[sympy.Expr, ...]
    P: sympy.Expr

    @property
    def kinetic(self) -> sympy.Expr:
        """Return the kinetic energy of the arm."""
        return sympy.Add(*self.K)


def energies(arm: ThreeLegged, *, steps: Steps = Steps()) -> Energies:
    r"""Return the energies of the arm in six angles (B3.1 to B3.11, corrected).

    Args:
        arm: with exact data; see :func:`dynlib.linkages.three_legged` and ``arm.exact()``.
        steps: the equations, for trying a wrong one.

    Returns:
        The :class:`Energies`, in the symbols of ``arm.motion_symbols()``.

    Raises:
        TypeError: the arm holds floats.

    >>> from dynlib.linkages import three_legged
    >>> energies(three_legged(m_pc=0)).K[3]
    0
    """
    refuse_other_steps(steps, Steps)
    if not arm.is_symbolic:
        raise TypeError(f"{arm.name} holds floats; energies are derived from exact data. Use arm.exact().")
    q, dq, _ = arm.motion_symbols()
    O, first, second = [position(chain.base)[:2] for chain in arm.chains], q[::2], q[1::2]
    l = [position(chain.links[1].fixed)[0] for chain in arm.chains]
    bodies = [[link.body or Body(0) for link in chain.links] for chain in arm.chains]
    r = [pair[1].com[0] for pair in bodies]
    K = []
    for i, (one, two) in enumerate(bodies):
        v = column_derivative(steps.mass_centre(i, O, l, r, first, second), q, dq)
        about_pin = one.inertia[2, 2] + one.mass * one.com[0] ** 2
        K.append(steps.leg_energy(about_pin, two.inertia[2, 2], two.mass.item(), dq[2 * i], dq[2 * i + 1], v @ v))
    end = arm.chains[0].payload or Body(0)
    beyond = [position(arm.chains[0].tool)[0] + end.com[0]] * 3
    v = column_derivative(mass_centre(0, O, l, beyond, first, second), q, dq)
    K.append(steps.end_energy(end.mass.item(), end.inertia[2, 2], v @ v, dq[0] + dq[1]))
    P = sympy.S.Zero
    for chain, coordinates in zip(arm.chains, arm.parts(q), strict=True):
        P += lagrange.energies(chain, coordinates, 0 * coordinates).potential.item() if chain.gravity.any() else 0
    return Energies(tuple(sympy.sympify(each) for each in K), P)


def equations(arm: ThreeLegged, *, steps: Steps = Steps()) -> tuple[lagrange.Coordinate, ...]:
    """Derive Lagrange's equations of the six angles, as if the arm were not closed.

    Args:
        arm: with exact data.
        steps: the equations, for trying a wrong one.

    Returns:
        A :class:`dynlib.lagrange.Coordinate` for each angle.

    Raises:
        TypeError: the arm holds floats.
    """
    refuse_other_steps(steps, Steps)
    found = energies(arm, steps=steps)
    return lagrange.equations(found.kinetic, found.P, *map(list, arm.motion_symbols()), steps=steps.derivatives)


def torques(arm: ThreeLegged, q: Any, du: Any, ddu: Any, *, steps: Steps = Steps()) -> Array:
    r"""Return the torques of the inputs by the document's way: energies, Lagrange's equations, projection (B3.12c).

    Args:
        arm: of numbers; its motors do not count.
        q: a closed position, shape (..., 6), in rad.
        du: :math:`\dot\theta_{21},\dot\theta_{31}`, shape (..., 2), in rad/s.
        ddu: :math:`\ddot\theta_{21},\ddot\theta_{31}`, shape (..., 2), in rad/s².
        steps: the equations, for trying a wrong one.

    Returns:
        :math:`T_{21},T_{31}`, shape (..., 2), in N m.

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`dynlib.closed_chains.dynamics.inverse_dynamics`.
    """
    refuse_other_steps(steps, Steps)
    q, dq, ddq, Gamma = velocities.motion_of(arm, q, du, ddu)
    values = _evaluator(arm, steps)(*(np.moveaxis(as_floats(each), -1, 0) for each in (q, dq, ddq)))
    forces = np.stack(np.broadcast_arrays(*values, q[..., 0])[:-1], axis=-1)
    return np.asarray(steps.projection(Gamma, forces, arm.u))


@lru_cache(maxsize=32)
def _evaluator(arm: ThreeLegged, steps: Steps) -> Callable[..., Any]:
    """Return Lagrange's equations of the six angles as one function of numbers."""
    exact = arm.exact(round_angles=False)
    formulas = [each.tau for each in equations(exact, steps=steps)]
    return sympy.lambdify([list(group) for group in exact.motion_symbols()], formulas, "numpy", cse=True)
