r"""The planar arm with three legs, its energies and torques as document B derives them, with its mistakes put right.

The document writes the kinetic energy in six angles and differentiates it by the two inputs. Lagrange's equations of
all six angles, projected onto the inputs, give the same as first replacing the four dependent angles (B3.12c): so the
energies may be derived in six angles, and only the last step knows that the arm is closed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import sympy

from dynlib import lagrange
from dynlib.acceleration import column_derivative
from dynlib.algebra.arrays import Array, as_array, as_floats
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.closed_chains import dynamics, velocities
from dynlib.frames import position
from dynlib.linkages.linkage import (
    Condition,
    Linkage,
    Mode,
    _angle,
    _chain,
    _direction,
    _plain,
    _reach,
    _read,
    _refuse_lengths,
    _refuse_too_short,
    _together,
    _wrapped,
    circles_meet,
)
from dynlib.model.closures import Pin, Point
from dynlib.model.links import Body


@dataclass(frozen=True, eq=False, repr=False)
class ThreeLegged(Linkage):
    r"""The arm of document B: three chains of two links meet in C; P lies on the extension of link 12.

    Coordinates: :math:`\theta_{11},\theta_{12},\theta_{21},\theta_{22},\theta_{31},\theta_{32}`, the second of a chain
    relative to the first. Inputs: :math:`\theta_{21},\theta_{31}`.

    Attributes:
        l_pc: distance from C to P, in m.
    """

    l_pc: Any = 0
    assembly_sides: ClassVar[tuple[str, ...]] = ("C of the line from B2 to B3", "elbow B1 of the line from O1 to C")
    working_sides: ClassVar[tuple[str, ...]] = (
        "elbow B1 of the line from O1 to P",
        "elbow B2 of the line from O2 to C",
        "elbow B3 of the line from O3 to C",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "l_pc", as_array(self.l_pc, "l_pc", ()))
        super().__post_init__()

    @property
    def C(self) -> Point:
        """Return the point in which the chains meet, as a point of chain 1."""
        return Point(1)

    @property
    def P(self) -> Point:
        """Return the output point, on link 12 beyond C."""
        return Point(1, at=[self.l_pc.item(), 0, 0])

    @property
    def output(self) -> Point:
        """Return P."""
        return self.P

    def _meeting_point(self, u: Array, side: int) -> tuple[Array, Array, Array]:
        """Return the elbows of chains 2 and 3, and C."""
        B2, B3 = self._elbow(2, u[..., 0]), self._elbow(3, u[..., 1])
        return B2, B3, circles_meet(B2, self._lengths(2)[1], B3, self._lengths(3)[1], side)

    def _conditions(self, u: Array, mode: Mode) -> tuple[Condition, ...]:
        B2, B3, C = self._meeting_point(u, mode[0])
        words = "|l22 - l32| <= |B2 B3| <= l22 + l32"
        first = _reach(words, B2, self._lengths(2)[1], B3, self._lengths(3)[1])
        words = "|l11 - l12| <= |O1 C| <= l11 + l12"
        second = _reach(words, self._base(1), self._lengths(1)[0], C, self._lengths(1)[1])
        low, high = (np.where(first.margin < 0, np.nan, each) for each in (second.low, second.high))
        return first, Condition(words, low, high)

    def _closed(self, u: Array, mode: Mode) -> Array:
        B2, B3, C = self._meeting_point(u, mode[0])
        leg1, _ = self._leg_to(1, C, mode[1])
        second, third = (_wrapped(_angle(C - B) - u[..., k]) for k, B in enumerate((B2, B3)))
        return _together(*leg1, u[..., 0], second, u[..., 1], third)

    def _worked(self, output: Array, mode: Mode) -> tuple[Array, tuple[Condition, ...]]:
        leg1, first = self._leg_to(1, output, mode[0], beyond=self.l_pc)
        l11, l12 = self._lengths(1)
        C = self._base(1) + l11 * _direction(leg1[0]) + l12 * _direction(leg1[0] + leg1[1])
        leg2, second = self._leg_to(2, C, mode[1])
        leg3, third = self._leg_to(3, C, mode[2])
        return _together(*leg1, *leg2, *leg3), (first, second, third)


def three_legged(
    bases: Any = None,
    lengths: Any = None,
    masses: Any = None,
    inertias: Any = None,
    l_pc: Any = None,
    m_pc: Any = None,
    *,
    end: Literal["rod", "point"] = "rod",
    gravity: Any = (0, 0, 0),
    name: str = "three-legged arm",
) -> ThreeLegged:
    r"""Return the arm of document B; what is left out is a symbol of the document.

    Args:
        bases: :math:`O_{10},O_{20},O_{30}`, shape (3, 2), in m; the document has :math:`O_{10}=(0,0)`.
        lengths: :math:`l_{i1},l_{i2}`, shape (3, 2), in m.
        masses: :math:`m_{i1},m_{i2}`, shape (3, 2), in kg; mass centres in the middle of the links.
        inertias: :math:`I_{i1}` about the *base pin* and :math:`I_{i2}` about the *mass centre* (E25, E26), shape
            (3, 2), in kg m². Left out: symbols if the masses are left out too, else those of uniform rods.
        l_pc: length from C to P, in m.
        m_pc: mass of what is between C and P, in kg.
        end: how the document's "rod l_pc" is read (E27): a uniform rod from C to P, or a point mass at P.
        gravity: the vector along which things fall, in m/s²; none for an arm in a horizontal plane (E28).
        name: shown in messages.

    Returns:
        The :class:`ThreeLegged` arm.

    Raises:
        ValueError: a wrong shape, or mass data that no body can have.

    >>> three_legged()
    three-legged arm: 6 coordinates, 4 closure equations, inputs joint 1 of chain 2, joint 1 of chain 3
    """
    if end not in ("rod", "point"):
        raise ValueError(f'end is {end!r}; expected "rod" (uniform, from C to P) or "point" (a mass at P).')

    def symbols(letter: str) -> list[list[sympy.Symbol]]:
        return [[sympy.Symbol(f"{letter}{i}{j}") for j in (1, 2)] for i in (1, 2, 3)]

    if bases is None:
        bases = [[0, 0], *([sympy.Symbol(f"x{i}0"), sympy.Symbol(f"y{i}0")] for i in (2, 3))]
    if inertias is None and masses is None:
        inertias = symbols("I")
    left_out = [
        key
        for key, value in (("lengths", lengths), ("masses", masses), ("l_pc", l_pc), ("m_pc", m_pc))
        if value is None
    ]
    read = _read(
        left_out,
        bases=(bases, (3, 2)),
        lengths=(symbols("l") if lengths is None else lengths, (3, 2)),
        masses=(symbols("m") if masses is None else masses, (3, 2)),
        l_pc=(sympy.Symbol("l_pc") if l_pc is None else l_pc, ()),
        m_pc=(sympy.Symbol("m_pc") if m_pc is None else m_pc, ()),
        inertias=([[0, 0]] * 3 if inertias is None else inertias, (3, 2)),
    )
    _refuse_lengths({"lengths": read["lengths"]})
    _refuse_lengths({"l_pc": read["l_pc"]}, least=0)
    _refuse_too_short(name, read["bases"], read["lengths"])
    l_pc, m_pc = read["l_pc"].item(), read["m_pc"].item()
    about = None if inertias is None else read["inertias"]
    chains = []
    for i in range(3):
        (l1, l2), (m1, m2) = (_plain(read[key][i]) for key in ("lengths", "masses"))
        bodies = [Body.rod(m1, l1), Body.rod(m2, l2)]
        if about is not None:
            I1, I2 = _plain(about[i])
            at_pin = I1 - m1 * l1**2 / 4
            bodies = [Body(m1, [l1 / 2, 0, 0], [0, at_pin, at_pin]), Body(m2, [l2 / 2, 0, 0], [0, I2, I2])]
        chains.append(_chain(_plain(read["bases"][i]), (l1, l2), bodies, gravity, f"chain {i + 1}"))
    payload = Body(m_pc, [l_pc, 0, 0]) if end == "point" else Body.rod(m_pc, l_pc)
    chains[0] = replace(chains[0], payload=payload)
    closures = [Pin(Point(1), Point(2)), Pin(Point(1), Point(3))]
    return ThreeLegged(chains, closures, [(2, 1), (3, 1)], name, l_pc)


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
        arm: with exact data; see :func:`dynlib.linkages.three_legs.three_legged` and ``arm.exact()``.
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
