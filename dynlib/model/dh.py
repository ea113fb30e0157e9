r"""Denavit-Hartenberg tables: reading the rows of a table, in either convention, into links.

In both conventions the link frames of dynlib sit on the joint axes. The mass data of a row are given in the axes of the
*table's* link frame, which a standard table puts at the far end of the link.
"""

import difflib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import sympy

from dynlib import frames
from dynlib.algebra.arrays import Array, Data, as_array, as_exact, as_floats, is_symbolic, level_of_caller, one_kind
from dynlib.algebra.notation import printable
from dynlib.model.exact import Exactly
from dynlib.model.links import Body, Link, Motor

Convention = Literal["modified", "standard"]

_NUMBERS = ("a", "alpha", "d", "theta", "offset")
_KEYS = (*_NUMBERS, "joint", "mass", "com", "inertia", "body", "motor")


@dataclass(frozen=True, eq=False)
class Table:
    """A Denavit-Hartenberg table as it was given.

    Attributes:
        convention: ``"modified"`` or ``"standard"``.
        rows: one mapping a link, see :func:`links_of`.
        allow_impossible: take mass data that no real body can have.
        tool: pose of the tip in the table's last frame, shape (4, 4), in m.
    """

    convention: Convention
    rows: tuple[Mapping[str, Any], ...]
    allow_impossible: bool = False
    tool: Any = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))

    def __post_init__(self) -> None:
        if self.convention not in ("modified", "standard"):
            raise ValueError(
                f'convention is {self.convention!r}; expected "modified" (frame i at the near end of link i, as in '
                'document A and Craig) or "standard" (at the far end, as in document B, Spong and Siciliano). '
                "The same numbers mean different arms in the two."
            )
        if isinstance(self.rows, Mapping) or not all(isinstance(row, Mapping) for row in self.rows):
            raise TypeError(
                f"the rows of the DH table are {self.rows!r}; expected a list of mappings, one a link, such as "
                "[dict(a=0.5, mass=1, com=[0.25, 0, 0])]."
            )

    def exact(self, reading: Exactly) -> "Table":
        """Return the table with exact numbers.

        Args:
            reading: reads the decimals and angles, and notes what it rounds.
        """
        return replace(self, rows=tuple(_exact_row(row, i, reading) for i, row in enumerate(self.rows, start=1)))

    def constant_angles(self) -> dict[str, Any]:
        """Return alpha, theta and offset of each row, as far as they are angles, in rad, by what they are."""
        return {
            f"{key} of row {number}": row.get(key, 0)
            for number, row in enumerate(self.rows, start=1)
            for key in ("alpha", "theta", "offset")
            if key != "offset" or row.get("joint") != "prismatic"
        }

    def __str__(self) -> str:
        lines = [f"{self.convention} DH", f"  {'i':>2}  {'joint':<9}" + "".join(f"{key:>10}" for key in _NUMBERS)]
        for number, row in enumerate(self.rows, start=1):
            values = "".join(f"{_short(row.get(key, 0)):>10}" for key in _NUMBERS)
            lines.append(f"  {number:>2}  {row.get('joint', 'revolute'):<9}{values}")
        return "\n".join(lines)


def _exact_row(row: Mapping[str, Any], number: int, reading: Exactly) -> dict[str, Any]:
    nothing: dict[str, Any] = dict.fromkeys(_NUMBERS, 0)
    if row.get("mass") is not None:
        nothing |= {"com": (0, 0, 0), "inertia": (0, 0, 0)}
    exact: dict[str, Any] = nothing | dict(row)
    for key, value in tuple(exact.items()):
        if isinstance(value, Data):
            exact[key] = value.mapped(reading.numbers)
        elif key in ("alpha", "theta") or (key == "offset" and row.get("joint", "revolute") == "revolute"):
            exact[key] = reading.angle(value, f"{key} of row {number}")
        elif value is not None and key != "joint":
            exact[key] = reading.numbers(as_array(value, key, np.shape(value)))
    return exact


def _short(value: Any) -> str:
    plain = isinstance(value, int | float) or (isinstance(value, sympy.Expr) and value.has(sympy.atan))
    return f"{float(value):.6g}" if plain else printable(str(value))


def links_of(table: Table) -> tuple[list[Link], Array]:
    r"""Read a table into links.

    Args:
        table: rows with the keys ``a`` (m), ``alpha`` (rad), ``d`` (m), ``theta`` (rad) and ``offset`` (added to the
            joint value, rad or m), each 0 if left out; ``joint`` (``"revolute"`` if left out); the mass data ``mass``
            (kg), ``com`` (m) and ``inertia`` (kg m², about the mass centre) or a ``body``, in the axes of the table's
            link frame; and a ``motor``.

    Returns:
        The links, and the pose of the table's last frame in the last link frame, shape (4, 4).

    Raises:
        ValueError: an unknown key or impossible data; the message names the row.
        TypeError: floats beside symbols.

    >>> links, end = links_of(Table("standard", (dict(a=0.5, mass=1, com=[-0.25, 0, 0]),)))
    >>> links[0].com, end[0, 3]
    (array([0.25, 0.  , 0.  ]), np.float64(0.5))
    """
    numbers: dict[str, Array] = {}
    bodies = [_body(row, number, table.allow_impossible) for number, row in enumerate(table.rows, start=1)]
    for number, (row, body) in enumerate(zip(table.rows, bodies, strict=True), start=1):
        names = {key: f"{key} of row {number}" for key in _NUMBERS}
        numbers |= {name: as_array(row.get(key, 0), name, ()) for key, name in names.items()}
        numbers |= body.named_arrays(f"row {number}") if body else {}
    numbers = one_kind(numbers)
    read = as_exact if any(map(is_symbolic, numbers.values())) else as_floats

    links, before = [], read(np.eye(4))  # what a standard table's previous link adds beyond its own joint axis
    for number, (row, given) in enumerate(zip(table.rows, bodies, strict=True), start=1):
        a, alpha, d, theta, offset = (numbers[f"{key} of row {number}"] for key in _NUMBERS)
        body = given.mapped(read) if given else None
        slides = int(row.get("joint") == "prismatic")
        along_x = frames.along_x(a, alpha)
        along_z = frames.along_z(np.asarray(d + offset * slides), np.asarray(theta + offset * (1 - slides)))
        joint, motor = row.get("joint", "revolute"), row.get("motor")
        if table.convention == "modified":
            links.append(_link(number, joint, frames.compose(along_x, along_z), body, motor))
        else:
            far = body.moved(along_x) if body else None
            links.append(_link(number, joint, frames.compose(before, along_z), far, motor))
            before = along_x
    return links, before


def _check_keys(row: Mapping[str, Any], number: int) -> None:
    for key in row:
        if key not in _KEYS:
            close = difflib.get_close_matches(str(key), _KEYS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"row {number} of the DH table has the key {key!r}; expected {', '.join(_KEYS)}.{hint}")
    if row.get("body") is not None and any(key in row for key in ("mass", "com", "inertia")):
        raise ValueError(f"row {number} has a body and also mass, com or inertia; give one or the other.")
    if "mass" not in row and ("com" in row or "inertia" in row):
        raise ValueError(f"row {number} has a com or an inertia but no mass; give the mass too (0 is allowed).")
    if not isinstance(row.get("motor"), Motor | None):
        raise ValueError(f"the motor of row {number} is {row['motor']!r}; expected a dynlib.model.Motor.")


def _body(row: Mapping[str, Any], number: int, allow_impossible: bool) -> Body | None:
    _check_keys(row, number)
    if row.get("mass") is None:
        return row.get("body")
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            body = Body(row["mass"], row.get("com", (0, 0, 0)), row.get("inertia", (0, 0, 0)), allow_impossible)
    except (TypeError, ValueError) as error:
        raise type(error)(f"row {number}: {error}") from None
    for note in notes:
        warnings.warn(f"row {number}: {note.message}", stacklevel=level_of_caller())
    return body


def _link(number: int, joint: Any, fixed: Array, body: Body | None, motor: Motor | None) -> Link:
    try:
        return Link(joint, fixed, body, motor)
    except ValueError as error:
        raise ValueError(f"row {number}: {error}") from None


def from_pose(T: Array) -> dict[str, float]:
    r"""Return a, alpha, d and theta of the modified DH row that is equal to a pose.

    Args:
        T: pose :math:`{}^{i-1}_{i}T` of floats whose x axes allow it, shape (4, 4), in m.

    Returns:
        ``a`` (m), ``alpha`` (rad), ``d`` (m) and ``theta`` (rad).

    Raises:
        ValueError: the pose needs more than four numbers.

    >>> T = frames.dh_modified(*np.array([0.5, 0.3, 0.2, 0.1]))
    >>> [round(value, 6) for value in from_pose(T).values()]
    [0.5, 0.3, 0.2, 0.1]
    """
    R, p = frames.rotation(T), frames.position(T)
    alpha, theta = np.arctan2(-R[1, 2], R[2, 2]), np.arctan2(-R[0, 1], R[0, 0])
    d = -p[1] * np.sin(alpha) + p[2] * np.cos(alpha)
    row = {"a": float(p[0]), "alpha": float(alpha), "d": float(d), "theta": float(theta)}
    if np.abs(frames.dh_modified(*map(np.asarray, row.values())) - T).max() > 1e-9 * (1 + np.abs(p).max()):
        raise ValueError("the pose is no DH row: with these x axes it needs more than the four numbers of a row.")
    return row
