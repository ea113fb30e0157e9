r"""The parts of an arm: rigid bodies, motors, and links with the joint before them.

The inertia of a body is taken about its mass centre, in the axes of its link; products of inertia carry the minus sign,
:math:`I_{xy} = -\int xy\,dm`.
"""

import difflib
import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import sympy

from dynlib import frames
from dynlib.algebra.arrays import (
    Array,
    Data,
    apply,
    as_array,
    as_exact,
    is_symbolic,
    level_of_caller,
    nought,
    one_kind,
    sign,
)
from dynlib.given import refuse_other, shown

Joint = Literal["revolute", "prismatic", "fixed"]

_ROUNDING = 1e-9
"""Largest violation of a physical rule that counts as rounding, relative to the largest moment (dimensionless)."""


_PUBLISHED = 1e-2
"""Largest difference of two halves of a published tensor, relative to the largest moment (dimensionless)."""


@dataclass(frozen=True, eq=False)
class Body(Data):
    r"""Mass, mass centre and inertia of a rigid body, in the axes of the link that carries it.

    Attributes:
        mass: in kg.
        com: mass centre :math:`{}^{i}p_{c_i}`, shape (3,), in m.
        inertia: :math:`{}^{c_i}I_i` about the mass centre, shape (3, 3), in kg m²; or its diagonal, shape (3,). Left
            out it is 0: all mass is at one point. For a uniform rod see :meth:`rod`.
        allow_impossible: take data that no real body can have, such as some published tables. Where the halves of the
            inertia differ a little, their mean is taken, with a warning.

    Raises:
        ValueError: a wrong shape, a number that is not finite, or an impossible body (the message says why); a tensor
            whose halves differ by more than published numbers are rounded, whatever is allowed.

    >>> rod = Body(mass=2, com=[0.5, 0, 0], inertia=[0, 1 / 6, 1 / 6])
    >>> (rod + rod).mass
    array(4.)
    """

    mass: Any
    com: Any = (0, 0, 0)
    inertia: Any = (0, 0, 0)
    allow_impossible: bool = False

    def __post_init__(self) -> None:
        inertia = _inertia(self.inertia)
        if inertia.ndim == 1:
            inertia = as_array([[inertia[i] if i == j else 0 for j in range(3)] for i in range(3)], "inertia", (3, 3))
        inertia, gap = mean_of_halves(inertia)
        if gap and not self.allow_impossible:
            raise ValueError(
                f"No real body has these data: {gap}. Correct them, or take the mean of both halves with "
                "allow_impossible=True."
            )
        if gap:
            warnings.warn(f"{gap}; the mean of both halves is taken.", stacklevel=level_of_caller())
        data = {"mass": as_array(self.mass, "mass", ()), "com": as_array(self.com, "com", (3,)), "inertia": inertia}
        for name, array in one_kind(data).items():
            object.__setattr__(self, name, array)
        if self.faults and not self.allow_impossible:
            raise ValueError(
                f"No real body has these data: {'; '.join(self.faults)}. "
                "Check signs, units and axes; allow_impossible=True takes published data as they are."
            )

    @property
    def faults(self) -> tuple[str, ...]:
        """Return what is physically impossible about the data, one sentence each; () if nothing is, or for symbols."""
        I = self.inertia
        if is_symbolic(self.mass) and not all(entry.is_number for entry in [self.mass.item(), *I.flat]):
            return ()
        size = float(np.abs(I).max()) or 1.0
        mass, moments = float(self.mass), np.linalg.eigvalsh(I.astype(float) / size) * size
        slack, found = _ROUNDING * np.abs(moments).max(), []
        if mass < 0:
            found.append(f"the mass is {mass:g} kg")
        if moments[0] < -slack:
            found.append(f"the principal moment {moments[0]:.6g} kg m² is negative")
        elif moments[0] < moments[2] - moments[1] - slack:
            found.append(
                f"the principal moments {', '.join(f'{m:.6g}' for m in moments)} kg m² break the triangle rule "
                "(none may exceed the sum of the others; a planar arm feels only Izz, but give it a possible body, "
                "such as [0, Izz, Izz] for a thin rod along x)"
            )
        return tuple(found)

    @classmethod
    def about_origin(cls, mass: Any, first_moment: Any, inertia: Any, allow_impossible: bool = False) -> "Body":
        """Make a body from its first moment and its inertia about the *origin* of the link frame.

        Args:
            mass: in kg; 0 only with a first moment of 0.
            first_moment: mass times mass centre, shape (3,), in kg m.
            inertia: about the origin of the link frame, in link axes, shape (3, 3), in kg m².
            allow_impossible: take data that no real body can have, such as combined parameters.

        Returns:
            The :class:`Body`, with its inertia about the mass centre.

        Raises:
            ValueError: a first moment without a mass, or an impossible body.

        >>> Body.about_origin(2, first_moment=[1, 0, 0], inertia=[[0, 0, 0], [0, 0.5, 0], [0, 0, 0.5]]).inertia[1, 1]
        np.float64(0.0)
        """
        given = {
            "mass": as_array(mass, "mass", ()),
            "first moment": as_array(first_moment, "first_moment", (3,)),
            "inertia": as_array(inertia, "inertia", (3, 3)),
        }
        m, moment, I = one_kind(given).values()
        if m == 0 and moment.any():
            raise ValueError(
                f"mass is 0 and first_moment {moment.tolist()}; a first moment gives the mass centre only if there is "
                "a mass."
            )
        com = moment if m == 0 else np.asarray(moment / m)
        return cls(m, com, I - _of_point(m, com), allow_impossible)

    @classmethod
    def rod(cls, mass: Any, length: Any) -> "Body":
        """Make a thin uniform rod that lies along x, from the origin on.

        Args:
            mass: in kg.
            length: in m.

        Returns:
            The :class:`Body`, with its mass centre in the middle.

        >>> Body.rod(3, 2).inertia[2, 2]  # m l^2 / 12 about the middle
        np.float64(1.0)
        """
        exact = any(isinstance(value, sympy.Basic) for value in (mass, length))
        two, twelve = (sympy.Integer(2), sympy.Integer(12)) if exact else (2, 12)
        about = mass * length**2 / twelve
        return cls(mass, [length / two, 0, 0], [0, about, about])

    @classmethod
    def box(cls, mass: Any, sides: Any, com: Any = (0, 0, 0)) -> "Body":
        """Make a uniform block whose sides are parallel to the axes.

        Args:
            mass: in kg.
            sides: lengths along x, y and z, shape (3,), in m.
            com: its middle, shape (3,), in m.

        Returns:
            The :class:`Body`.

        Raises:
            ValueError: a wrong shape, or a side shorter than 0.

        >>> Body.box(12, [1, 2, 3]).inertia.diagonal()  # m (b^2 + c^2) / 12
        array([13., 10.,  5.])
        """
        data = {"mass": as_array(mass, "mass", ()), "sides": as_array(sides, "sides", (3,))}
        if any(side.is_negative if isinstance(side, sympy.Basic) else side < 0 for side in data["sides"]):
            raise ValueError(f"sides is {data['sides'].tolist()}; expected three lengths, in m.")
        m, (a, b, c) = one_kind(data).values()
        return cls(m, com, [(b**2 + c**2) * m / 12, (a**2 + c**2) * m / 12, (a**2 + b**2) * m / 12])

    def moved(self, T: Array) -> "Body":
        r"""Return the same body in the axes of another frame.

        Args:
            T: pose of the axes in which the body is given, in the new axes, shape (4, 4), in m.

        Returns:
            The :class:`Body` in the new axes.

        >>> T = frames.transform(np.eye(3), np.array([1.0, 0.0, 0.0]))
        >>> Body(1, com=[0.5, 0, 0]).moved(T).com
        array([1.5, 0. , 0. ])
        """
        R, p = frames.rotation(T), frames.position(T)
        turned = R @ self.inertia @ R.T
        symmetric = np.triu(turned) + np.triu(turned, 1).T  # also where rounding or the form of a term differs
        return Body(self.mass, apply(R, self.com) + p, symmetric, self.allow_impossible)

    def of_its_mass_at(self, r: Array) -> Array:
        """Return the inertia that the whole mass would have as a point at r, about the origin, shape (3, 3), in kg m².

        Args:
            r: shape (3,), in m.
        """
        return _of_point(self.mass, r)

    def __add__(self, other: "Body") -> "Body":
        """Return both bodies as one, by the parallel-axis theorem; both in the same axes."""
        mass = np.asarray(self.mass + other.mass)
        if mass == 0:
            com = self.com
        else:
            com = np.asarray((self.com * self.mass + other.com * other.mass) / mass)
        parts = [each.inertia + _of_point(each.mass, each.com - com) for each in (self, other)]
        return Body(mass, com, parts[0] + parts[1], self.allow_impossible or other.allow_impossible)


def mean_of_halves(I: Array) -> tuple[Array, str]:
    """Return a tensor that is symmetric, from one whose halves may differ as published data do.

    Args:
        I: inertia, shape (3, 3), in kg m².

    Returns:
        The mean of both halves, and what differed by more than the rounding of floats; "" if nothing did.

    Raises:
        ValueError: the halves differ by more than published numbers are rounded, so that their mean would be another
            body: one half is left out, has the other sign, or differs by more than a hundredth of the largest moment.

    >>> mean_of_halves(np.array([[2, 0.02, 0], [0.01, 2, 0], [0, 0, 2]]))
    (array([[2.   , 0.015, 0.   ],
           [0.015, 2.   , 0.   ],
           [0.   , 0.   , 2.   ]]), 'the inertia is not symmetric, Ixy = 0.02 but Iyx = 0.01')
    """
    mean, gaps = I.copy(), []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        one, other = I[i, j], I[j, i]
        if one == other or (is_symbolic(I) and sympy.expand(one - other) == 0):
            mean[j, i] = one
            continue
        names = "xyz"[i] + "xyz"[j], "xyz"[j] + "xyz"[i]
        gap = f"the inertia is not symmetric, I{names[0]} = {one} but I{names[1]} = {other}"
        if is_symbolic(I) and not all(entry.is_number for entry in I.flat):
            raise ValueError(f"{gap}; write the same product in both places.")
        difference, largest = abs(float(one - other)), float(np.abs(I).max())
        if difference > _ROUNDING * largest:
            if not one * other:
                raise ValueError(
                    f"{gap}; if only one half was typed, type each product twice, in its row and in its column."
                )
            if one == -other or difference > _PUBLISHED * largest:
                raise ValueError(f"{gap}; the halves are two different bodies. Say which is right, in both.")
            gaps.append(gap)
        mean[i, j] = mean[j, i] = (one + other) / 2
    mean.flags.writeable = False
    return mean, "; ".join(gaps)


def _inertia(value: Any) -> Array:
    """Read an inertia, (3, 3) or its diagonal (3,)."""
    if np.shape(value) in ((3,), (3, 3)):
        return as_array(value, "inertia", np.shape(value))
    six = " Six numbers have no common order: write them out as rows." if np.shape(value) == (6,) else ""
    raise ValueError(
        f"inertia is {shown(value)}, of the shape {np.shape(value)}; expected the matrix [[Ixx, Ixy, Ixz], "
        f"[Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]] or its diagonal [Ixx, Iyy, Izz], in kg m².{six}"
    )


def _of_point(mass: Array, r: Array) -> Array:
    """Return the inertia of a point mass at r about the origin, shape (3, 3)."""
    rows = [[sum(r * r) * int(i == j) - r[i] * r[j] for j in range(3)] for i in range(3)]
    return np.array(rows, dtype=r.dtype) * mass


@dataclass(frozen=True, eq=False)
class Motor(Data):
    r"""What the drive of a joint takes for itself, on the motor side of the gear.

    At the joint it costs :math:`G^2J\ddot\theta + |G|(B|G|\dot\theta + T_c)`; with ``gear=1`` all data are there.

    Attributes:
        inertia: of the rotor, J, in kg m² (kg for a prismatic joint).
        gear: motor turns per joint turn, G (dimensionless; its sign does not matter).
        viscous: friction per rate, B, in N m s (N s/m).
        coulomb: dry friction :math:`T_c` when turning forward and backward, (positive, negative) in N m (N); one
            number stands for both senses.

    Raises:
        ValueError: a negative inertia or viscous coefficient, or dry friction that would push.

    >>> Motor(gear=100, inertia=2e-4, coulomb=0.1).coulomb
    array([ 0.1, -0.1])
    """

    inertia: Any = 0
    gear: Any = 1
    viscous: Any = 0
    coulomb: Any = (0, 0)

    def __post_init__(self) -> None:
        dry = self.coulomb if np.ndim(self.coulomb) else (self.coulomb, -self.coulomb)
        data = {name: as_array(getattr(self, name), f"motor {name}", ()) for name in ("inertia", "gear", "viscous")}
        data["coulomb"] = as_array(dry, "motor coulomb", (2,))
        for name, array in one_kind(data).items():
            object.__setattr__(self, name, array)
        for name in ("inertia", "viscous"):
            value = getattr(self, name)
            if not is_symbolic(value) and value < 0:
                raise ValueError(f"motor {name} is {value}; expected at least 0, or it would drive the joint.")
        if not is_symbolic(self.coulomb) and not self.coulomb[0] >= 0 >= self.coulomb[1]:
            raise ValueError(
                f"motor coulomb is {self.coulomb.tolist()}; expected (forward, backward) with forward >= 0 >= "
                "backward: dry friction acts against the motion."
            )

    def dry(self, rate: Array) -> Array:
        """Return the dry friction at the motor for a rate of the joint, shape (...,); 0 at rest.

        >>> Motor(coulomb=(0.4, -0.3)).dry(np.array([2.0, 0.0, -1.0]))
        array([ 0.4,  0. , -0.3])
        """
        forward, backward = self.coulomb
        sense = sign(rate)
        return np.asarray(sense * (forward - backward) / 2 + sense * sense * (forward + backward) / 2)


@dataclass(frozen=True, eq=False)
class Link(Data):
    r"""One link and the joint before it.

    Attributes:
        joint: ``"revolute"`` (turns about z), ``"prismatic"`` (slides along z) or ``"fixed"`` (bolted on).
        fixed: pose of the link frame in the parent frame at joint value 0, :math:`{}^{i-1}_{i}T`, shape (4, 4), m.
        body: mass data in link axes; None if nothing is known about the mass of this link.
        motor: rotor inertia and friction of the joint; None for an ideal drive.

    Raises:
        ValueError: an unknown kind of joint or a pose that is no pose.

    >>> Link("revolute", np.eye(4), Body(2, com=[0.5, 0, 0])).com
    array([0.5, 0. , 0. ])
    """

    joint: Joint
    fixed: Any
    body: Body | None = None
    motor: Motor | None = None
    turn: int = field(init=False)
    slide: int = field(init=False)

    def __post_init__(self) -> None:
        if self.joint not in ("revolute", "prismatic", "fixed"):
            close = difflib.get_close_matches(str(self.joint).strip().lower(), ("revolute", "prismatic", "fixed"), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f'joint is {self.joint!r}; expected "revolute", "prismatic" or "fixed".{hint}')
        object.__setattr__(self, "fixed", as_pose(self.fixed, "fixed"))
        if self.body is not None:
            refuse_other(self.body, Body, "body of a link", "Give Body(mass, com=..., inertia=...), or None.")
        if self.motor is not None:
            refuse_other(self.motor, Motor, "motor of a link", "Give Motor(inertia=..., gear=...), or None.")
        object.__setattr__(self, "turn", int(self.joint == "revolute"))
        object.__setattr__(self, "slide", int(self.joint == "prismatic"))

    @property
    def mass(self) -> Array | None:
        """Return the mass in kg, or None if it is not known."""
        return self.body.mass if self.body else None

    @property
    def com(self) -> Array:
        """Return the mass centre in link axes, shape (3,), in m."""
        return self.body.com if self.body else np.zeros(3)

    @property
    def inertia(self) -> Array:
        """Return the inertia about the mass centre in link axes, shape (3, 3), in kg m²."""
        return self.body.inertia if self.body else np.zeros((3, 3))

    def split(self, value: Array) -> tuple[Array, Array]:
        """Return a joint value or rate, shape (...,), as its turning and its sliding part, one of them zero."""
        turning, sliding = (value if moves else nought(value) for moves in (self.turn, self.slide))
        return np.asarray(turning), np.asarray(sliding)

    def bolted_on(self, other: "Link") -> "Link":
        """Return this link with another one bolted on at ``other.fixed``."""
        if other.body is None:
            return self
        moved = other.body.moved(other.fixed)
        return replace(self, body=self.body + moved if self.body else moved)


def as_pose(value: Any, name: str) -> Array:
    """Read a transform and check that it is one.

    Args:
        value: matrix, shape (4, 4), lengths in m.
        name: what it is, for the message.

    Returns:
        The transform as an array.

    Raises:
        ValueError: a wrong shape, a last row other than 0 0 0 1, or a part that is no rotation.

    >>> as_pose(np.diag([1, -1, -1, 1]), "base").shape
    (4, 4)
    """
    T = as_array(value, name, (4, 4))
    if any(entry != wanted for entry, wanted in zip(T[3], (0, 0, 0, 1), strict=True)):
        raise ValueError(f"{name} is no pose: its last row is {T[3].tolist()}; expected [0, 0, 0, 1].")
    if not is_symbolic(T):
        R = frames.rotation(T)
        if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
            raise ValueError(f"{name} is no pose: its upper left part is not a rotation (R R^T = 1 and det R = +1).")
    return T


def exact_identity(like: Array) -> Array:
    """Return the identity pose, exact beside symbols and floats beside floats.

    >>> exact_identity(np.zeros(1))[0, 0]
    np.float64(1.0)
    """
    return as_exact(np.eye(4)) if is_symbolic(like) else np.eye(4)
