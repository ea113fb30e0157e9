r"""Floats read exactly: decimals as they were typed, angles as parts of pi, rotations that stay rotations.

Symbols for a motion need exact data beside them. A decimal becomes the fraction that it is. An angle such as 1.5708 is
the decimal of a right angle; as the fraction 1.5708 it would give :math:`\cos 1.5708 = -3.7\cdot10^{-6}`, which spoils
every formula. So an angle is read as a part of pi where it states one. Every other angle gets a sine and a cosine that
are fractions, equal to the decimal's to the last digit of a float: these keep formulas short, print as decimals, and
:math:`RR^T=1` holds exactly.

A file or table is read twice by the same lines, once with :class:`AsFloats` and once with :class:`Exactly`.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from dynlib import frames
from dynlib.algebra.arrays import Array, as_array, as_floats, exact_array, is_symbolic, level_of_caller

_PARTS = ((12, 3), (360, 6))
"""Parts of pi that an angle may state, as denominators, and how many digits it must state for them.

Multiples of 15 degrees are taken from 3 digits on (1.57, 0.785), those of half a degree from 6 on: fewer digits would
find one in nearly every number.
"""

_LARGEST_DENOMINATOR = 360
"""Parts of pi down to half a degree are taken from an angle that is one to the last digits of a float."""

_ROUNDING = 1e-14
"""Rounding of a float that went through a few sines and products (dimensionless, or in rad)."""


def exact_angle(angle: Any, round_angles: bool = True) -> Any:
    r"""Return an angle of floats as the part of pi that it states, else as an angle with a fraction for its tangent.

    Args:
        angle: in rad, a number or an expression.
        round_angles: take 1.5708, which states a right angle to 5 digits, as pi/2; if False, only what is a part of pi
            to the last digits of a float.

    Returns:
        The angle in rad as an exact expression: a part of pi, or :math:`2\arctan t`, whose sine and cosine are
        fractions; it differs from the decimal by rounding only.

    >>> exact_angle(1.5707963267948966), exact_angle(1.5708), exact_angle(-0.785)
    (pi/2, pi/2, -pi/4)
    >>> float(exact_angle(0.3)), sympy.expand_trig(sympy.cos(exact_angle(0.3))).is_Rational
    (0.3, True)
    """
    if isinstance(angle, sympy.Expr):
        return angle
    angle = float(angle)
    decimals = _decimals(angle)
    digits = len(Decimal(repr(angle)).normalize().as_tuple().digits) if round_angles and decimals >= 2 else 0
    return _exact_angle(angle, lambda part: _states(angle, part, decimals), digits)


def _exact_angle(angle: float, is_stated: Callable[[float], bool], digits: int) -> sympy.Expr:
    share = Fraction(angle / math.pi).limit_denominator(_LARGEST_DENOMINATOR)
    if abs(float(share) * math.pi - angle) <= _ROUNDING * max(1.0, abs(angle)):
        return _part_of_pi(share)
    for denominator, needed in _PARTS:
        share = Fraction(round(angle / math.pi * denominator), denominator)
        if digits >= needed and is_stated(float(share) * math.pi):
            return _part_of_pi(share)
    turns = round(angle / (2 * math.pi))
    return 2 * sympy.atan(_fraction(math.tan(angle / 2))) + 2 * turns * sympy.pi


def _part_of_pi(share: Fraction) -> sympy.Expr:
    return sympy.pi * sympy.Rational(share.numerator, share.denominator)


def _decimals(number: float) -> int:
    """Return how many decimals a float shows: 2 for 1.57."""
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def _states(decimal: float, value: float, decimals: int) -> bool:
    """Say whether a decimal is a value, rounded or cut off at its last decimal."""
    unit = Decimal(1).scaleb(-decimals)
    return Decimal(repr(decimal)) in [Decimal(value).quantize(unit, way) for way in (ROUND_HALF_EVEN, ROUND_DOWN)]


def _fraction(number: float) -> sympy.Rational:
    """Return the fraction of fewest digits that is a float to its last digit."""
    exactly = Fraction(number)
    for digits in range(1, 18):
        share = exactly.limit_denominator(10**digits)
        if abs(share - exactly) <= abs(exactly) * Fraction(1, 10**16):
            return sympy.Rational(share.numerator, share.denominator)
    return sympy.Rational(exactly.numerator, exactly.denominator)


class AsFloats:
    """Leaves numbers as they are read; the counterpart of :class:`Exactly`."""

    def numbers(self, array: Array) -> Array:
        """Return numbers of any unit and shape."""
        return as_floats(array)

    def angle(self, angle: Any, name: str) -> Any:
        """Return one angle, in rad.

        Args:
            angle: number or expression.
            name: whose angle it is, for a note.
        """
        return angle

    def angles(self, angles: Array, name: str) -> Array:
        """Return angles, in rad, shape (n,)."""
        return as_array([self.angle(angle, name) for angle in angles], name, angles.shape)

    def rotation(self, R: Array, name: str) -> Array:
        """Return a rotation, shape (3, 3)."""
        return R

    def pose(self, T: Array, name: str) -> Array:
        """Return a pose, shape (4, 4), in m."""
        return T

    def turned_to(self, axis: Array, name: str) -> Array:
        """Return the shortest turn that brings z onto an axis, shape (4, 4); the axis has the shape (3,)."""
        return frames.turned_to(axis)


AS_FLOATS = AsFloats()
"""The way in which files are read first."""


@dataclass(eq=False)
class Exactly(AsFloats):
    """Reads the floats of one arm exactly, and remembers which angles it rounded.

    Attributes:
        round_angles: take angles that state a part of pi to 3 digits or more as that; if False, only those that are
            one to the last digits of a float.
        rounded: where an angle was rounded, by what was stated and what was read.
        largest: the largest change of an angle, in rad.
        straightened: largest change of an entry of each matrix that was no rotation to the last digits of a float.

    >>> reading = Exactly()
    >>> reading.pose(frames.transform(frames.rotation_x(np.array(1.5708)), np.array([0.5, 0, 0])), "tool")[:3].tolist()
    [[1, 0, 0, 1/2], [0, 0, -1, 0], [0, 1, 0, 0]]
    >>> reading.rounded
    {'1.5708 as pi/2': ['tool']}
    """

    round_angles: bool = True
    rounded: dict[str, list[str]] = field(default_factory=dict)
    largest: float = 0.0
    straightened: dict[str, float] = field(default_factory=dict)

    def numbers(self, array: Array) -> Array:
        """Return decimals as fractions; expressions stay."""
        return exact_array(array)

    def angle(self, angle: Any, name: str) -> sympy.Expr:
        """Return one angle, in rad, as a part of pi if it states one; expressions stay."""
        read = exact_angle(angle, self.round_angles)
        if not isinstance(angle, sympy.Expr):
            self._note(float(angle), read, name)
        return read

    def rotation(self, R: Array, name: str) -> Array:
        """Return a rotation of floats, shape (3, 3), as one of exact angles about x, y and z.

        How precisely a matrix of rounded entries states its angles is seen from how far it is from a rotation.
        """
        if is_symbolic(R):
            return R
        precision = 2 * float(np.abs(R @ R.T - np.eye(3)).max())
        ways = [[self._measured(angle, precision) for angle in way] for way in _roll_pitch_yaw(R)]
        angles = min(ways, key=lambda way: sum(read.has(sympy.atan) for _, read in way))
        for shown, read in angles:
            self._note(shown, read, name)
        exact = frames.rotation_of_rpy(as_array([read for _, read in angles] + [sympy.S.Zero], name, (4,))[:3])
        if precision > 100 * _ROUNDING:
            self.straightened[name] = float(np.abs(exact.astype(float) - R).max())
        return exact

    def pose(self, T: Array, name: str) -> Array:
        """Return a pose of floats, shape (4, 4), in m, with an exact rotation."""
        if is_symbolic(T):
            return T
        return frames.transform(self.rotation(frames.rotation(T), name), exact_array(frames.position(T)))

    def turned_to(self, axis: Array, name: str) -> Array:
        """Return the shortest turn that brings z onto an axis, shape (4, 4), from its direction in two exact angles."""
        x, y, z = map(float, frames.turned_to(axis)[:3, 2])
        length = abs(float(axis[np.abs(axis).argmax()])) / max(abs(x), abs(y), abs(z))
        if z <= -1 + 1e-12:  # as the turn of floats
            half = frames.transform(frames.rotation_x(np.asarray(sympy.pi)), exact_array(np.zeros(3)))
            return frames.compose(half, self.turned_to(axis * [1, -1, -1], name))
        precision = 0.71 * 10.0 ** -max(map(_decimals, axis.tolist())) / length  # half a unit in each of two entries
        precision = 0.0 if precision > 1e-3 else precision
        both = (math.atan2(math.hypot(x, y), z), precision), (math.atan2(y, x), precision / max(math.hypot(x, y), 1e-3))
        (tilt_shown, tilt), (way_shown, way) = (self._measured(*each) for each in both)
        self._note(tilt_shown, tilt, name)
        self._note(way_shown, way, name)
        R = frames.rotation_of_rpy(as_array([sympy.S.Zero, tilt, way], name, (3,)))
        return frames.transform(R @ frames.rotation_z(np.asarray(-way)), exact_array(np.zeros(3)))

    def _measured(self, angle: float, precision: float) -> tuple[float, sympy.Expr]:
        """Return an angle that was computed from entries of a precision, in rad, as a decimal and exactly."""
        shown = float(exact_array(np.array([angle]))[0])
        if precision <= _ROUNDING or not self.round_angles:
            return shown, exact_angle(shown, self.round_angles)
        digits = int(math.log10(math.pi / precision)) + 1
        return shown, _exact_angle(shown, lambda part: abs(part - shown) <= precision, digits)

    def _note(self, angle: float, read: sympy.Expr, name: str) -> None:
        change = abs(float(read) - angle)
        if change > _ROUNDING * max(1.0, abs(angle)):
            places = self.rounded.setdefault(f"{angle:.10g} as {read}", [])
            places += [name] if name not in places else []
            self.largest = max(self.largest, change)

    def tell(self, name: str) -> None:
        """Warn what was rounded, if anything was.

        Args:
            name: of the arm.
        """
        notes = []
        if self.rounded:
            each = [f"{what} ({_listed(places)})" for what, places in self.rounded.items()]
            notes.append(
                f"{name}: angles that state a part of pi within their digits are read as that: {'; '.join(each)}. "
                f"The largest change is {self.largest:.1g} rad."
            )
        if self.straightened:
            notes.append(
                f"{name}: to the last digits, this is no rotation: {_listed(list(self.straightened))}; the nearest "
                f"angles are taken. The largest change of an entry is {max(self.straightened.values()):.1g}."
            )
        for note in notes:
            warnings.warn(note, stacklevel=level_of_caller())


def _roll_pitch_yaw(R: Array) -> list[tuple[float, float, float]]:
    """Return both sets of angles about the fixed axes x, y and z that give a rotation of floats, in rad."""
    length = float(np.hypot(R[0, 0], R[1, 0]))
    if length < 1e-12:  # roll and yaw turn about the same axis
        return [(math.atan2(-R[1, 2], R[1, 1]), math.atan2(-R[2, 0], length), 0.0)]
    return [
        (math.atan2(s * R[2, 1], s * R[2, 2]), math.atan2(-R[2, 0], s * length), math.atan2(s * R[1, 0], s * R[0, 0]))
        for s in (1, -1)
    ]


def _listed(places: list[str]) -> str:
    return ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
