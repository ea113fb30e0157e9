r"""A serial arm: its links, and the readers that make one from a table.

For every link a :class:`Robot` holds the fixed pose of its joint in the parent frame, the kind of joint, and the mass,
the centre of mass and the inertia about the centre of mass, all in link axes. The equations of the chapters know
nothing of Denavit-Hartenberg tables: these are only read into this form.
"""

import difflib
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import sympy

from dynlib import frames
from dynlib.arrays import (
    Array,
    as_array,
    as_exact,
    as_floats,
    fractions,
    free_symbols,
    is_symbolic,
    one_kind,
    refuse_mixture,
)

Joint = Literal["revolute", "prismatic"]

_LARGEST_ANGLE = 20 * np.pi  # ten turns: beyond, degrees are likelier than radians


@dataclass(frozen=True, eq=False)
class Link:
    r"""One link and the joint before it.

    Attributes:
        joint: ``"revolute"`` (turns about z) or ``"prismatic"`` (slides along z).
        fixed: pose of the link frame in the parent frame at joint value 0, :math:`{}^{i-1}_{i}T`, shape (4, 4), m.
        mass: in kg; None if nothing is known about the mass of this link.
        com: centre of mass :math:`{}^{i}p_{c_i}` in link axes, shape (3,), in m.
        inertia: :math:`{}^{c_i}I_i` about the centre of mass in link axes, shape (3, 3), in kg m²;
            products of inertia as :math:`I_{xy} = -\int xy\,dm`.

    Raises:
        ValueError: an unknown kind of joint, a wrong shape, a number that is not finite, a negative mass or an inertia
            that is not symmetric.

    >>> link = Link("revolute", np.eye(4), mass=2, com=[0.5, 0, 0])
    >>> float(link.mass), link.inertia.shape
    (2.0, (3, 3))
    """

    joint: Joint
    fixed: Array
    mass: Any = None
    com: Any = (0, 0, 0)
    inertia: Any = ((0, 0, 0), (0, 0, 0), (0, 0, 0))

    def __post_init__(self) -> None:
        if self.joint not in ("revolute", "prismatic"):
            raise ValueError(f'joint is {self.joint!r}; expected "revolute" or "prismatic".')
        set_field = object.__setattr__
        set_field(self, "fixed", as_array(self.fixed, "fixed", (4, 4)))
        set_field(self, "com", as_array(self.com, "com", (3,)))
        set_field(self, "inertia", as_array(self.inertia, "inertia", (3, 3)))
        if self.mass is not None:
            mass = as_array(self.mass, "mass", ())
            set_field(self, "mass", mass)
            if not is_symbolic(mass) and mass < 0:
                raise ValueError(f"mass is {mass}; expected a mass of at least 0 kg.")
        if any(a != b for a, b in zip(self.inertia.flat, self.inertia.T.flat, strict=True)):
            raise ValueError(f"inertia is not symmetric: {self.inertia.tolist()}; expected I[i][j] = I[j][i].")

    @property
    def turn(self) -> int:
        """Return 1 if the joint turns about z, else 0."""
        return int(self.joint == "revolute")

    @property
    def slide(self) -> int:
        """Return 1 if the joint slides along z, else 0."""
        return int(self.joint == "prismatic")

    def split(self, value: Array) -> tuple[Array, Array]:
        """Return a joint value or rate, shape (...,), as its turning and its sliding part, one of them zero."""
        return np.asarray(value * self.turn), np.asarray(value * self.slide)

    def arrays(self) -> dict[str, Array]:
        """Return all numbers of the link by name."""
        known = {"fixed": self.fixed, "com": self.com, "inertia": self.inertia}
        return known if self.mass is None else known | {"mass": self.mass}

    def with_arrays(self, arrays: Mapping[str, Any]) -> "Link":
        """Return a link with the same joint and other numbers, by name."""
        return replace(self, **arrays)


@dataclass(frozen=True, eq=False)
class Robot:
    r"""A serial arm: base, links, tool and gravity. It never changes; methods return a new one.

    Attributes:
        links: the links 1 to N, in order.
        gravity: the vector along which things fall, in world axes, shape (3,), in m/s².
        base: pose of frame {0} in the world, shape (4, 4).
        tool: pose of the tip frame {N+1} in frame {N}, shape (4, 4).
        name: shown when the robot is printed.

    Raises:
        ValueError: no links, a wrong shape or a number that is not finite.
        TypeError: floats and symbols are mixed.

    >>> arm = Robot([Link("revolute", np.eye(4), mass=1, com=[0.5, 0, 0])], gravity=[0, -9.81, 0])
    >>> arm.n
    1
    """

    links: Sequence[Link]
    gravity: Any
    base: Any = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    tool: Any = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    name: str = "robot"

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "links", tuple(self.links))
        if not self.links:
            raise ValueError("the robot has no links; give at least one Link, or one row of the DH table.")
        set_field(self, "gravity", as_array(self.gravity, "gravity", (3,)))
        set_field(self, "base", as_array(self.base, "base", (4, 4)))
        set_field(self, "tool", as_array(self.tool, "tool", (4, 4)))
        self._set_arrays(one_kind(self._arrays()))

    def _arrays(self) -> dict[str, Array]:
        """Return every array of the robot by the words that name it in a message."""
        named = {"gravity": self.gravity, "base": self.base, "tool": self.tool}
        for number, link in enumerate(self.links, start=1):
            named |= {f"{name} of link {number}": array for name, array in link.arrays().items()}
        return named

    def _set_arrays(self, named: Mapping[str, Array]) -> None:
        links = [
            link.with_arrays({name: named[f"{name} of link {number}"] for name in link.arrays()})
            for number, link in enumerate(self.links, start=1)
        ]
        object.__setattr__(self, "links", tuple(links))
        for name in ("gravity", "base", "tool"):
            object.__setattr__(self, name, named[name])

    @property
    def n(self) -> int:
        """Return the number of joints N."""
        return len(self.links)

    @property
    def is_symbolic(self) -> bool:
        """Return True if the robot's data are exact expressions, False if they are floats."""
        return is_symbolic(self.gravity)

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """Return the symbols that the robot's own data hold, sorted by name; () for a robot of numbers."""
        return tuple(sorted(set().union(*map(free_symbols, self._arrays().values())), key=str))

    def motion_symbols(self) -> tuple[Array, Array, Array]:
        r"""Return symbols for the joint values, rates and accelerations.

        Returns:
            ``q, dq, ddq``, each of shape (N,): theta1, dtheta1, ddtheta1 for a revolute joint 1, d1, dd1, ddd1 for a
            prismatic one.

        >>> Robot([Link("revolute", np.eye(4))], gravity=[0, 0, 0]).motion_symbols()[2]
        array([ddtheta1], dtype=object)
        """
        names = [("theta" if link.turn else "d") + str(i) for i, link in enumerate(self.links, start=1)]
        q, dq, ddq = (as_array([sympy.Symbol(dots + name) for name in names], "q", (None,)) for dots in ("", "d", "dd"))
        return q, dq, ddq

    def state(self, **values: Any) -> tuple[Array, ...]:
        """Read joint values, rates and accelerations, each of shape (..., N), and check that they suit this robot.

        Args:
            **values: any of ``q`` (rad or m), ``dq`` (rad/s or m/s) and ``ddq`` (rad/s² or m/s²).

        Returns:
            The values as arrays of one common shape (..., N), in the order given.

        Raises:
            ValueError: a wrong length, shape or number.
            TypeError: floats beside symbols, in the state or between state and robot.

        >>> arm = Robot([Link("revolute", np.eye(4))], gravity=[0, 0, 0])
        >>> arm.state(q=[1], dq=[2])
        (array([1.]), array([2.]))
        """
        arrays = {name: self._joint_array(name, value) for name, value in values.items()}
        refuse_mixture(arrays)
        broken = [(name, fractions(array)[0]) for name, array in arrays.items() if fractions(array)]
        if broken and self.is_symbolic:
            raise TypeError(
                f"{broken[0][0]} holds the float {broken[0][1]}, but {self.name} is exact"
                + (f" (symbols {', '.join(map(str, self.symbols))})" if self.symbols else "")
                + ". Give it numbers first, with robot.subs(...), or write the state exactly, "
                "with sympy.Rational or sympy.pi."
            )
        symbols = set().union(*map(free_symbols, arrays.values()))
        if symbols and not self.is_symbolic:
            raise TypeError(
                f"the state holds the symbol {min(symbols, key=str)}, but {self.name} holds floats, which would make "
                "the result inexact. Use robot.exact(), which reads every float as the decimal that it shows."
            )
        arrays = {name: (as_exact if self.is_symbolic else as_floats)(array) for name, array in arrays.items()}
        self._hint_at_degrees(arrays.get("q"))
        try:
            return tuple(np.broadcast_arrays(*arrays.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ValueError(f"the batches do not fit together: {shapes}; expected equal leading axes.") from None

    def _joint_array(self, name: str, value: Any) -> Array:
        array = as_array(value, name, (None,))
        if array.shape[-1] != self.n:
            joints = ", ".join(link.joint for link in self.links)
            raise ValueError(
                f"{name} has {array.shape[-1]} entries; {self.name} has {self.n} joints ({joints}), "
                f"so {name} needs the shape ({self.n},) or (..., {self.n})."
            )
        return array

    def _hint_at_degrees(self, q: Array | None) -> None:
        if q is None or is_symbolic(q):
            return
        turning = np.array([link.joint == "revolute" for link in self.links])
        large = turning & (np.abs(q).reshape(-1, self.n).max(axis=0, initial=0) > _LARGEST_ANGLE)
        for i in np.flatnonzero(large):
            value = q.reshape(-1, self.n)[np.abs(q.reshape(-1, self.n)[:, i]).argmax(), i]
            warnings.warn(
                f"joint {i + 1} is at {value:g} rad, more than ten turns. Angles are in radians: if this is in "
                f"degrees, use numpy.radians({value:g}) = {np.radians(value):.4g}.",
                stacklevel=_level_of_caller(),
            )

    def transforms(self, q: Any) -> list[Array]:
        r"""Return the transforms from each frame to the next, A5.2.6-1 to -3.

        Args:
            q: joint values, shape (..., N), in rad (revolute) or m (prismatic).

        Returns:
            :math:`{}^{0}_{1}T, \dots, {}^{N-1}_{N}T, {}^{N}_{N+1}T` (the tool), each of shape (..., 4, 4).

        >>> arm = Robot([Link("revolute", np.eye(4))], gravity=[0, 0, 0])
        >>> [T.shape for T in arm.transforms([0.5])]
        [(4, 4), (4, 4)]
        """
        (q,) = self.state(q=q)
        moving = [frames.joint_transform(link.fixed, *link.split(q[..., i])) for i, link in enumerate(self.links)]
        return [*moving, self.tool]

    def pose(self, q: Any, link: int | None = None) -> Array:
        r"""Return the pose of a link, or of the tip, in frame {0}, A5.2.6-4.

        Args:
            q: joint values, shape (..., N), in rad (revolute) or m (prismatic).
            link: number of the link, 0 to N; None for the tip frame {N+1}.

        Returns:
            :math:`{}^{0}_{i}T`, shape (..., 4, 4).

        >>> Robot([Link("revolute", np.eye(4))], gravity=[0, 0, 0]).pose([0.0]).shape
        (4, 4)
        """
        pose = as_exact(np.eye(4)) if self.is_symbolic else np.eye(4)
        for T in self.transforms(q)[: link if link is not None else self.n + 1]:
            pose = pose @ T
        return pose

    def subs(self, values: Mapping[Any, Any], name: str | None = None) -> "Robot":
        """Return the robot with numbers or expressions put in for its symbols.

        Args:
            values: what to put in, by symbol or by the symbol's name; SI units.
            name: name of the new robot.

        Returns:
            A robot of floats if every symbol has got a number, else of exact expressions.

        Raises:
            ValueError: a key is not a symbol of this robot.

        >>> m1 = sympy.Symbol("m1")
        >>> arm = Robot([Link("revolute", np.eye(4, dtype=int), mass=m1)], gravity=[0, 0, 0])
        >>> arm.subs({"m1": 2.5}).links[0].mass
        array(2.5)
        """
        known = {str(symbol): symbol for symbol in self.symbols}
        for key in map(str, values):
            if key not in known:
                raise ValueError(f"{self.name} has no symbol {key!r}; it has {', '.join(known) or 'none'}.")
        pairs = {known[str(key)]: value for key, value in values.items()}
        numbers = all(isinstance(value, int | float) for value in pairs.values()) and set(pairs) == set(known.values())

        def put_in(array: Array) -> Array:
            if not is_symbolic(array):
                return array
            entries = [entry.subs(pairs) for entry in array.flat]
            return np.array(entries, dtype=float if numbers else object).reshape(array.shape)

        return self._map(put_in, name or self.name)

    def exact(self) -> "Robot":
        """Return the robot with every float read as the decimal number that it shows: 0.4318 as 2159/5000.

        >>> Robot([Link("revolute", np.eye(4), mass=0.5)], gravity=[0, 0, -9.81]).exact().gravity
        array([0, 0, -981/100], dtype=object)
        """
        read = np.frompyfunc(lambda number: sympy.Rational(repr(float(number))), 1, 1)
        return self if self.is_symbolic else self._map(lambda array: np.asarray(read(array), dtype=object), self.name)

    def _map(self, change: Any, name: str) -> "Robot":
        links = [link.with_arrays({key: change(array) for key, array in link.arrays().items()}) for link in self.links]
        return Robot(links, change(self.gravity), change(self.base), change(self.tool), name)

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        gravity: Any,
        convention: Literal["modified", "standard"] | None = None,
        base: Any = None,
        tool: Any = None,
        name: str = "robot",
    ) -> "Robot":
        r"""Read a Denavit-Hartenberg table.

        Args:
            rows: one mapping a link, with the keys ``a`` (m), ``alpha`` (rad), ``d`` (m) and ``theta`` (rad), each 0 if
                left out; ``joint`` (``"revolute"`` if left out); ``mass`` (kg), ``com`` (m) and ``inertia`` (kg m²,
                about the centre of mass) in the axes of *the table's* link frame. The joint value is added to
                ``theta`` (revolute) or to ``d`` (prismatic).
            gravity: the vector along which things fall, in world axes, shape (3,), in m/s².
            convention: ``"modified"`` (frame i at the near end of link i: document A, Craig) or ``"standard"`` (at the
                far end: document B). There is no default, since most tables do not say which they are.
            base: pose of frame {0} in the world, shape (4, 4).
            tool: pose of the tip in the table's last frame, shape (4, 4).
            name: shown when the robot is printed.

        Returns:
            The :class:`Robot`. Its frames sit on the joint axes in either convention.

        Raises:
            ValueError: no convention, no rows, an unknown key, or data that :class:`Link` refuses.

        >>> rows = [dict(a=0.5, mass=1, com=[-0.25, 0, 0])]
        >>> arm = Robot.from_dh(rows, convention="standard", gravity=[0, -9.81, 0])
        >>> arm.links[0].com  # from the near end of the link
        array([0.25, 0.  , 0.  ])
        """
        if convention not in ("modified", "standard"):
            raise ValueError(
                f'convention is {convention!r}; expected "modified" (frame i at the near end of link i, as in document '
                'A and Craig) or "standard" (at the far end, as in document B, Spong and Siciliano). '
                "The same numbers mean different arms in the two."
            )
        table = [_read_row(row, number) for number, row in enumerate(rows, start=1)]
        unit = np.eye(4)
        outside = {"gravity": gravity, "base": unit if base is None else base, "tool": unit if tool is None else tool}
        named = {name: as_array(value, name, (3,) if name == "gravity" else (4, 4)) for name, value in outside.items()}
        for number, row in enumerate(table, start=1):
            named |= {f"{key} of row {number}": value for key, value in row.items() if isinstance(value, np.ndarray)}
        named = one_kind(named)

        links, before = [], (as_exact if is_symbolic(named["base"]) else as_floats)(unit)
        for number, row in enumerate(table, start=1):
            data = row | {key: named[f"{key} of row {number}"] for key in row if f"{key} of row {number}" in named}
            along_x = frames.along_x(data["a"], data["alpha"])
            along_z = frames.along_z(data["d"], data["theta"])
            if convention == "modified":
                links.append(_link(data, along_x @ along_z, as_floats(unit)))
            else:  # the table's frame stands at the far end: beyond the link's own a and alpha
                links.append(_link(data, before @ along_z, along_x))
                before = along_x
        return cls(links, named["gravity"], named["base"], before @ named["tool"], name)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.n} joint{'s' if self.n > 1 else ''}, gravity {_plain(self.gravity)} m/s²"]
        lines += ["  i  joint      origin in parent (m)  mass (kg)  mass centre (m)     Ixx, Iyy, Izz (kg m²)"]
        for i, link in enumerate(self.links, start=1):
            mass = "unknown" if link.mass is None else _plain(link.mass)
            origin, moments = _plain(frames.position(link.fixed)), _plain(np.diagonal(link.inertia))
            lines += [f"  {i}  {link.joint:<9}  {origin:<20}  {mass:<9}  {_plain(link.com):<18}  {moments}"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Robot {self.name}: {', '.join(link.joint for link in self.links)}>"


def _level_of_caller() -> int:
    """Return how many calls above its own caller the first line outside dynlib is, so that a hint points there."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == "dynlib":
        frame, level = frame.f_back, level + 1
    return level


_SHAPES: dict[str, tuple[int, ...]] = {
    "a": (), "alpha": (), "d": (), "theta": (), "mass": (), "com": (3,), "inertia": (3, 3)
}  # fmt: skip
_ROW_KEYS = (*_SHAPES, "joint")


def _read_row(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a row of a DH table with every number as an array and the lengths and angles that were left out."""
    for key in row:
        if key not in _ROW_KEYS:
            close = difflib.get_close_matches(str(key), _ROW_KEYS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"row {number} of the DH table has the key {key!r}; expected {', '.join(_ROW_KEYS)}.{hint}"
            )
    complete = {"joint": "revolute", "a": 0, "alpha": 0, "d": 0, "theta": 0} | dict(row)
    return {
        key: as_array(value, f"{key} of row {number}", _SHAPES[key]) if key in _SHAPES and value is not None else value
        for key, value in complete.items()
    }


def _link(row: Mapping[str, Any], fixed: Array, data: Array) -> Link:
    """Make a link from a row; ``data`` is the pose of the table's link frame in the frame on the joint axis."""
    R, p = frames.rotation(data), frames.position(data)
    com, inertia = row.get("com", np.zeros(3)), row.get("inertia", np.zeros((3, 3)))
    if not is_symbolic(R) and (R == np.eye(3)).all():
        return Link(row["joint"], fixed, row.get("mass"), com + p, inertia)
    turned = R @ inertia @ R.T
    symmetric = (turned + turned.T) / 2  # to the last digit
    return Link(row["joint"], fixed, row.get("mass"), R @ com + p, symmetric)


def _plain(array: Array) -> str:
    if array.ndim:
        return "[" + ", ".join(_plain(np.asarray(entry)) for entry in array) + "]"
    return f"{array + 0.0:.4g}" if not is_symbolic(array) else str(array)
