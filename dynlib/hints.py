"""Hints: numbers that are taken as they are, but are likelier to be in other units, or with the other sign.

Everything is in SI units and radians, and gravity is the vector along which things fall. A number that can hardly be
meant so is not refused, since a simulation may turn a hundred times and a crane may be long; it draws a warning of the
kind :class:`Hint`, which points at the line of the caller. ``warnings.simplefilter("ignore", Hint)`` silences them all.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dynlib.algebra.arrays import Array, is_symbolic, level_of_caller

FULL_TURN = 2 * np.pi * (1 + 1e-9)
"""A larger constant angle, in rad, is likelier to be in degrees."""

LARGEST_ANGLE = 20 * np.pi
"""Ten turns, in rad; a joint that has turned farther is likelier to be given in degrees."""

LARGEST_LENGTH = 20.0
"""In m; the links of arms are shorter, so that a larger length is likelier to be in millimetres."""

_STEP = 5  # typed angles in degrees are multiples of it


class Hint(UserWarning):
    """A number that is likelier to be in another unit, or to have the other sign."""


def is_made_anew() -> bool:
    """Say whether the record whose ``__post_init__`` asks is made of data, and not by a change of another record."""
    made_by = sys._getframe(1)
    while made_by.f_back is not None and made_by.f_code.co_name in ("__post_init__", "__init__"):
        made_by = made_by.f_back
    return str(made_by.f_globals["__name__"]) != "dataclasses"


def give(sentences: Iterable[str]) -> None:
    """Warn with each sentence once; the warnings point at the first line outside dynlib.

    Args:
        sentences: what the functions below yield.
    """
    for sentence in dict.fromkeys(sentences):
        warnings.warn(sentence, Hint, stacklevel=level_of_caller())


def constant_angles(angles: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each constant angle beyond a full turn.

    Args:
        angles: in rad, by what they are, such as ``"alpha of row 1"``; numbers or expressions, of any shape.

    >>> print(*constant_angles({"alpha of row 1": -90, "theta of row 1": 1.5}))
    alpha of row 1 is -90 rad, more than a full turn. Angles are in radians: if this is in degrees, use
    numpy.radians(-90) = -1.571.
    """
    for what, angle in angles.items():
        value = _largest(_numbers(angle))
        if abs(value) > FULL_TURN:
            yield _in_degrees(f"{what} is", value, "more than a full turn")


def joint_angles(q: Array, turning: Sequence[bool], name: Callable[[int], str]) -> Iterator[str]:
    """Yield a sentence if joint values look like degrees.

    They do if one is beyond ten turns, or if in at least half of the states that go beyond a full turn several values
    there are whole multiples of 5, or one is and so are all others (such as 0, 45, 0). A motion that has turned often
    does not come upon such numbers.

    Args:
        q: joint values, shape (..., n), in rad or m; numbers or expressions.
        turning: which joints are revolute, n entries.
        name: gives the name of a joint, from its place.

    >>> print(*joint_angles(np.array([0.0, -90.0]), [True, True], lambda i: f"joint {i + 1}"))
    joint 2 is at -90 rad, more than ten turns. Angles are in radians: if this is in degrees, use
    numpy.radians(-90) = -1.571.
    """
    places = np.flatnonzero(turning)
    values = _numbers(q).reshape(-1, len(turning))[:, places]
    sizes = np.abs(values)
    if not sizes.size or sizes.max() <= FULL_TURN:
        return
    why, looking = "more than ten turns", sizes > LARGEST_ANGLE
    if not looking.any():
        why, looking = "more than a full turn and a round number", _like_degrees(sizes)
    if looking.any():
        state, joint = np.unravel_index(np.argmax(np.where(looking, sizes, 0)), sizes.shape)
        yield _in_degrees(f"{name(int(places[joint]))} is at", values[state, joint], why)


def _like_degrees(sizes: Array) -> Array:
    """Return which of the angles, one row a state, are typed numbers of degrees; none if they are few among others."""
    beyond = sizes > FULL_TURN
    round_ones = sizes % _STEP == 0
    found = beyond & round_ones
    states = (found.sum(axis=1) > 1) | (found.any(axis=1) & round_ones.all(axis=1))
    return found & states[:, None] & (2 * states.sum() >= beyond.any(axis=1).sum())


def lengths(given: Mapping[str, Array]) -> Iterator[str]:
    """Yield a sentence about the largest length, if it is longer than arms are.

    Args:
        given: lengths or positions in m, by what they are; numbers or expressions, of any shape.

    >>> print(*lengths({"mass centre of link 1": np.array([0.0, 250.0, 0.0])}))
    mass centre of link 1 holds 250 m. Lengths are in metres: if this is in millimetres, divide it by 1000.
    """
    sizes = {what: _largest(_numbers(value)) for what, value in given.items()}
    what = max(sizes, key=lambda each: abs(sizes[each]), default="")
    if what and abs(sizes[what]) > LARGEST_LENGTH:
        yield f"{what} holds {sizes[what]:g} m. Lengths are in metres: if this is in millimetres, divide it by 1000."


def inertias(given: Mapping[str, tuple[Any, Any]]) -> Iterator[str]:
    """Yield a sentence about the inertia that fits its mass least, if the body would have to be larger than arms are.

    Args:
        given: mass in kg and inertia in kg m², by whose they are, such as ``"link 1"``.

    >>> print(*inertias({"link 1": (2, np.diag([5e4, 5e4, 5e4]))}))
    the inertia of link 1 is 50000 kg m², that of 2 kg at a distance of 158 m. Inertias are in kg m²: if this is in
    kg mm², multiply it by 1e-6, if in g mm², by 1e-9.
    """
    found = {what: (float(_numbers(mass)), abs(_largest(_numbers(inertia)))) for what, (mass, inertia) in given.items()}
    radii = {what: np.sqrt(inertia / mass) for what, (mass, inertia) in found.items() if mass > 0}
    what = max(radii, key=lambda each: radii[each], default="")
    if what and radii[what] > LARGEST_LENGTH:
        mass, inertia = found[what]
        yield (
            f"the inertia of {what} is {inertia:g} kg m², that of {mass:g} kg at a distance of {radii[what]:.3g} m. "
            "Inertias are in kg m²: if this is in kg mm², multiply it by 1e-6, if in g mm², by 1e-9."
        )


def gravity(vector: Any) -> Iterator[str]:
    """Yield a sentence if gravity points straight up, along z or, for arms in the x-y plane, along y.

    Along x it may point either way: many drawings of pendulums have x downward. Another sentence tells of a size that
    is that of the earth in cm/s² or mm/s².

    Args:
        vector: the vector along which things fall, shape (3,), in m/s²; numbers or expressions.

    >>> print(*gravity([0, 0, 9.81]))
    gravity is [0, 0, 9.81] m/s²: this is the vector along which things fall, and it points up. Is [0, 0, -9.81] meant?
    An arm that hangs from a ceiling has a turned base.
    """
    g = _numbers(vector)
    for unit, factor in (("cm/s²", 100), ("mm/s²", 1000)):
        if _is_earths(size := float(np.linalg.norm(g)) / factor):
            yield (
                f"gravity has the size {size * factor:g} m/s², {factor} times that of the earth. It is given in m/s²: "
                f"if this is in {unit}, divide it by {factor}."
            )
    if np.count_nonzero(g) == 1 and _is_earths(max(g[1], g[2])):
        yield (
            f"gravity is {_listed(g)} m/s²: this is the vector along which things fall, and it points up. Is "
            f"{_listed(-g)} meant? An arm that hangs from a ceiling has a turned base."
        )


def gravity_across(vector: Any) -> Iterator[str]:
    """Yield a sentence if gravity is square to the x-y plane, in which a linkage moves: it would have no effect.

    Args:
        vector: the vector along which things fall, shape (3,), in m/s²; numbers or expressions.

    >>> print(*gravity_across([0, 0, -9.81]))
    gravity is [0, 0, -9.81] m/s², square to the x-y plane in which the linkage moves, so that no weight is felt. Is
    [0, -9.81, 0] meant? For a linkage that lies on a table leave gravity out.
    """
    g = _numbers(vector)
    if g[2] and np.abs(g[:2]).max() <= 1e-9 * abs(g[2]):
        yield (
            f"gravity is {_listed(g)} m/s², square to the x-y plane in which the linkage moves, so that no weight is "
            f"felt. Is {_listed([0, -abs(g[2]), 0])} meant? For a linkage that lies on a table leave gravity out."
        )


def _is_earths(size: float) -> bool:
    return 9.5 < size < 10.1


def _listed(vector: Iterable[float]) -> str:
    return "[" + ", ".join(f"{each + 0.0:g}" for each in vector) + "]"


def _in_degrees(what: str, value: float, why: str) -> str:
    return (
        f"{what} {value:g} rad, {why}. Angles are in radians: if this is in degrees, use "
        f"numpy.radians({value:g}) = {np.radians(value):.4g}."
    )


def _largest(numbers: Array) -> float:
    return float(numbers.flat[np.abs(numbers).argmax()]) if numbers.size else 0.0


def _numbers(value: Any) -> Array:
    """Return numbers as floats, with 1 in the place of what holds symbols; of either sign, it is nothing to hint at."""
    array = np.asarray(value)
    if not is_symbolic(array):
        return array.astype(float)
    entries = [float(each) if getattr(each, "is_number", True) else 1.0 for each in array.flat]
    return np.array(entries).reshape(array.shape)
