r"""A serial arm: its links, base, tool, payload and gravity, and the states it can be in.

For every link a :class:`Robot` holds the fixed pose of its joint in the parent frame, the kind of joint, and the mass
data about the mass centre, all in link axes. The equations of the chapters know nothing of Denavit-Hartenberg tables:
these are only read into this form.
"""

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import sympy

from dynlib import frames, hints
from dynlib.algebra.arrays import (
    Array,
    Data,
    as_array,
    as_exact,
    as_floats,
    as_vectors,
    batches_together,
    first_fraction,
    free_symbols,
    is_symbolic,
    one_kind,
    refuse_mixture,
    zeros,
)
from dynlib.algebra.notation import check_names, printable
from dynlib.given import listed, refuse_other
from dynlib.model.dh import Convention, Table, links_of
from dynlib.model.exact import Exactly
from dynlib.model.links import Body, Link, as_pose, exact_identity


@dataclass(frozen=True, eq=False)
class Typed:
    """What a robot was read from, so that it can be read again, exactly.

    Attributes:
        robot: the robot as it was read first.
        again: reads it again: takes an :class:`~dynlib.model.exact.Exactly` and returns an exact robot.
    """

    robot: "Robot"
    again: Callable[[Exactly], "Robot"]

    def exactly(self, reading: Exactly) -> "Robot":
        """Read the robot again, without a word on its data: that was said the first time."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.again(reading)


_IDENTITY = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))


@dataclass(frozen=True, eq=False, repr=False)
class Robot(Data):
    r"""A serial arm. It never changes; methods return a new one.

    Attributes:
        links: the links in order. Fixed ones are bolted to the link before them, so that links 1 to N all have a joint.
        gravity: the vector along which things fall, in world axes, shape (3,), in m/s². One of 9.81 upward, along z or
            y, draws a hint (:mod:`dynlib.hints`), as do lengths and inertias that look like millimetres.
        base: pose of frame {0} in the world, shape (4, 4), in m.
        tool: pose of the tip frame {N+1} in frame {N}, shape (4, 4), in m.
        payload: a body that the tip carries, in tip axes; None for an empty tip.
        name: shown when the robot is printed.
        table: the Denavit-Hartenberg table that the robot was read from, if any.
        typed: what else it was read from, for :meth:`exact`; set by those who read.

    Raises:
        ValueError: no moving links, a wrong shape, a number that is not finite, or a matrix that is no pose.
        TypeError: floats and symbols are mixed.
        SymbolError: a datum is printed like another symbol of the arm, such as m1 and m_1, or dx.

    >>> arm = Robot([Link("revolute", np.eye(4), Body(1, com=[0.5, 0, 0]))], gravity=[0, -9.81, 0])
    >>> arm.n
    1
    """

    links: Sequence[Link]
    gravity: Any
    base: Any = _IDENTITY
    tool: Any = _IDENTITY
    payload: Body | None = None
    name: str = "robot"
    table: Table | None = field(default=None, repr=False)
    typed: Typed | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        for_rows = "Make it with Link(...) of dynlib.model.links. For a DH table use Robot.from_dh."
        set_field(self, "links", listed(self.links, Link, "link", "links", for_rows))
        if self.payload is not None:
            refuse_other(self.payload, Body, "payload", "Give Body(mass, com=...), or use robot.with_payload(mass).")
        if not self.links:
            raise ValueError("the robot has no links; give at least one Link, or one row of the DH table.")
        set_field(self, "gravity", as_array(self.gravity, "gravity", (3,)))
        set_field(self, "base", as_pose(self.base, "base"))
        set_field(self, "tool", as_pose(self.tool, "tool"))
        named = self.named_arrays()
        refuse_mixture(named)
        symbols = set().union(*map(free_symbols, named.values()))
        exact = bool(symbols) or all(map(is_symbolic, named.values()))
        for name, value in self.changed_fields(as_exact if exact else as_floats).items():
            set_field(self, name, value)
        set_field(self, "name", printable(self.name))
        if any(link.joint == "fixed" for link in self.links):
            given = {entry.name: getattr(self, entry.name) for entry in fields(self)}
            self._bolt_fixed_links()
            if self.typed is None:
                set_field(self, "typed", Typed(self, partial(_bolted_again, given)))
        if self.typed is not None and not _are_same(self.links, self.typed.robot.links):
            set_field(self, "table", None)  # the links have been changed since
        if symbols:
            check_names(symbols, itertools.chain(*self.motion_symbols()))
        if hints.is_made_anew():
            hints.give(self._doubts())

    def _doubts(self) -> Iterator[str]:
        """Yield what looks like other units, or like the other sign, in the data."""
        origins = {f"origin of link {i}": frames.position(link.fixed) for i, link in enumerate(self.links, start=1)}
        bodies = {f"link {i}": link.body for i, link in enumerate(self.links, start=1)} | {"the payload": self.payload}
        known = {what: body for what, body in bodies.items() if body is not None}
        yield from hints.lengths(
            origins
            | {"tool": frames.position(self.tool)}
            | {f"com of {what}": body.com for what, body in known.items()}
        )
        yield from hints.inertias({what: (body.mass, body.inertia) for what, body in known.items()})
        yield from hints.gravity(self.gravity)

    def _bolt_fixed_links(self) -> None:
        """Bolt each fixed link to the moving link before it, or to the base."""
        base, moving = self.base, []
        between = exact_identity(self.gravity)  # pose of the last frame met in the last moving one
        for link in self.links:
            placed = replace(link, fixed=frames.compose(between, link.fixed))
            if link.joint != "fixed":
                moving.append(placed)
                between = exact_identity(self.gravity)
                continue
            between = placed.fixed
            if moving:
                moving[-1] = moving[-1].bolted_on(placed)
        if not moving:
            raise ValueError(f"{self.name} has only fixed links; expected at least one revolute or prismatic joint.")
        object.__setattr__(self, "links", tuple(moving))
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "tool", frames.compose(between, self.tool))

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        gravity: Any,
        convention: Convention | None = None,
        base: Any = _IDENTITY,
        tool: Any = _IDENTITY,
        name: str = "robot",
        allow_impossible: bool = False,
    ) -> "Robot":
        r"""Read a Denavit-Hartenberg table (A5.2.6-1 to -3, or B1.1).

        Args:
            rows: one mapping a link, with the keys ``a`` (m), ``alpha`` (rad), ``d`` (m), ``theta`` (rad) and
                ``offset`` (added to the joint value), each 0 if left out; ``joint`` (``"revolute"`` if left out);
                ``mass`` (kg), ``com`` (m) and ``inertia`` (kg m², about the mass centre) in the axes of *the table's*
                link frame, or a ``body``; and a ``motor``. The joint value is added to ``theta`` (revolute) or to
                ``d`` (prismatic).
            gravity: the vector along which things fall, in world axes, shape (3,), in m/s².
            convention: ``"modified"`` (frame i at the near end of link i: document A, Craig) or ``"standard"`` (at the
                far end: document B). There is no default, since most tables do not say which they are.
            base: pose of frame {0} in the world, shape (4, 4).
            tool: pose of the tip in the table's last frame, shape (4, 4).
            name: shown when the robot is printed.
            allow_impossible: take mass data that no real body can have, such as some published tables.

        Returns:
            The :class:`Robot`. Its frames sit on the joint axes in either convention.

        Raises:
            ValueError: no convention, no rows, an unknown key, or data that no body or pose can have.
            TypeError: floats beside symbols.

        >>> rows = [dict(a=0.5, mass=1, com=[-0.25, 0, 0])]
        >>> arm = Robot.from_dh(rows, convention="standard", gravity=[0, -9.81, 0])
        >>> arm.links[0].com  # from the near end of the link
        array([0.25, 0.  , 0.  ])
        """
        table = Table(convention, tuple(rows), allow_impossible, tool)  # type: ignore[arg-type]
        links, end = links_of(table)
        hints.give(hints.constant_angles(table.constant_angles()))
        last = one_kind({"tool": as_pose(tool, "tool"), "end": end})
        robot = cls(links, gravity, base, frames.compose(last["end"], last["tool"]), None, name, table)
        return replace(robot, typed=Typed(robot, partial(_table_again, table, robot)))

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
        return tuple(sorted(set().union(*map(free_symbols, self.named_arrays().values())), key=str))

    @cached_property
    def bodies(self) -> tuple[Body | None, ...]:
        """Return the mass data of the links 1 to N in link axes, the payload added to the last."""
        bodies = [link.body for link in self.links]
        if self.payload is not None and bodies[-1] is not None:
            bodies[-1] = bodies[-1] + self.payload.moved(self.tool)
        return tuple(bodies)

    @cached_property
    def coms(self) -> tuple[Array, ...]:
        """Return the mass centres of the links 1 to N with the payload, in link axes, each (3,), in m; 0 where unknown.

        >>> arm = Robot([Link("revolute", np.eye(4), Body(1, com=[2, 0, 0]))], gravity=[0, 0, 0])
        >>> arm.coms[0]
        array([2., 0., 0.])
        """
        return tuple(body.com if body else zeros(like=self.gravity) for body in self.bodies)

    def known_bodies(self) -> list[Body]:
        """Return the mass data of all links, with the payload.

        Raises:
            ValueError: a link has none; the message names it.
        """
        bodies: list[Body] = []
        for number, body in enumerate(self.bodies, start=1):
            if body is None:
                raise ValueError(
                    f"link {number} of {self.name} has no mass data; forces need mass, com and inertia of every link. "
                    "Give them, or mass=0 for a link whose mass does not matter."
                )
            bodies.append(body)
        return bodies

    def with_payload(self, mass: Any, com: Any = (0, 0, 0), inertia: Any = (0, 0, 0)) -> "Robot":
        """Return the robot with a load at its tip; it takes the place of a load that was there.

        Args:
            mass: in kg.
            com: mass centre in tip axes {N+1}, shape (3,), in m.
            inertia: about the mass centre in tip axes, shape (3, 3) or its diagonal, in kg m².

        Returns:
            The loaded robot; the data of its links are untouched.

        Raises:
            ValueError: an impossible body.

        >>> arm = Robot([Link("revolute", np.eye(4), Body(1))], gravity=[0, 0, -9.81])
        >>> arm.with_payload(2).bodies[0].mass, arm.bodies[0].mass
        (array(3.), array(1.))
        """
        return replace(self, payload=Body(mass, com, inertia))

    def without_payload(self) -> "Robot":
        """Return the robot with an empty tip.

        >>> arm = Robot([Link("revolute", np.eye(4), Body(1))], gravity=[0, 0, -9.81])
        >>> arm.with_payload(2).without_payload().bodies[0].mass
        array(1.)
        """
        return replace(self, payload=None)

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
        self._refuse_other_kind(arrays)
        arrays = {name: (as_exact if self.is_symbolic else as_floats)(array) for name, array in arrays.items()}
        if "q" in arrays:
            turning = [link.joint == "revolute" for link in self.links]
            hints.give(hints.joint_angles(arrays["q"], turning, lambda i: f"joint {i + 1}"))
        return batches_together(**arrays)

    def matched(self, data: Data, what: str) -> Any:
        """Return other data, such as a load, as exact expressions or floats, whichever this robot holds.

        Args:
            data: a record of arrays.
            what: what it is, for the message.

        Returns:
            The record, with arrays of the robot's kind.

        Raises:
            TypeError: floats beside symbols.
        """
        self._refuse_other_kind(data.named_arrays(what))
        return data.mapped(as_exact if self.is_symbolic else as_floats)

    def _refuse_other_kind(self, arrays: Mapping[str, Array]) -> None:
        """Refuse symbols beside floats, within some arrays and between them and the robot."""
        refuse_mixture(arrays)
        if self.is_symbolic and (found := first_fraction(arrays)):
            raise TypeError(
                f"{found[0]} holds the float {found[1]}, but {self.name} is exact"
                + (f" (symbols {printable(', '.join(map(str, self.symbols)))})" if self.symbols else "")
                + ". Give it numbers first, with robot.subs(...), or write the number exactly, "
                "with sympy.Rational or sympy.pi."
            )
        symbols = {str(s): name for name, array in arrays.items() for s in free_symbols(array)}
        if symbols and not self.is_symbolic:
            raise TypeError(
                f"{symbols[min(symbols)]} holds the symbol {printable(min(symbols))}, but {self.name} holds floats, "
                "which would make the result inexact. Use robot.exact(), which reads every float as the decimal that "
                "it shows."
            )

    def _joint_array(self, name: str, value: Any) -> Array:
        array = as_vectors(value, name, self.n)
        if array.shape[-1] != self.n:
            joints = ", ".join(link.joint for link in self.links)
            raise ValueError(
                f"{name} has {array.shape[-1]} entries; {self.name} has {self.n} joints ({joints}), "
                f"so {name} needs the shape ({self.n},) or (..., {self.n})."
            )
        return array

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
        return self.transforms_at(q)

    def transforms_at(self, q: Array) -> list[Array]:
        """Return the transforms of :meth:`transforms` for joint values that were read.

        Args:
            q: shape (..., N), in rad or m.
        """
        moving = [frames.joint_transform(link.fixed, *link.split(q[..., i])) for i, link in enumerate(self.links)]
        return [*moving, self.tool]

    def pose(self, q: Any, link: int | None = None) -> Array:
        r"""Return the pose of a link, or of the tip, in frame {0}, A5.2.6-4.

        Args:
            q: joint values, shape (..., N), in rad (revolute) or m (prismatic).
            link: number of the link, 0 to N; None for the tip frame {N+1}.

        Returns:
            :math:`{}^{0}_{i}T`, shape (..., 4, 4).

        Raises:
            ValueError: there is no such link, or what :meth:`state` refuses.

        >>> Robot([Link("revolute", np.eye(4))], gravity=[0, 0, 0]).pose([0.0]).shape
        (4, 4)
        """
        if link is not None and link not in range(self.n + 1):
            raise ValueError(f"link is {link!r}; expected 0 to {self.n}, or None for the tip of {self.name}.")
        pose = exact_identity(self.gravity)
        for T in self.transforms(q)[: link if link is not None else self.n + 1]:
            pose = frames.compose(pose, T)
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
        >>> arm = Robot([Link("revolute", np.eye(4), Body(m1))], gravity=[0, 0, 0])
        >>> arm.subs({"m1": 2.5}).bodies[0].mass
        array(2.5)
        """
        known = {str(symbol): symbol for symbol in self.symbols}
        for key in map(str, values):
            if key not in known:
                raise ValueError(f"{self.name} has no symbol {key!r}; it has {printable(', '.join(known)) or 'none'}.")
        for key, value in values.items():
            if not isinstance(value, int | float | sympy.Expr):
                raise TypeError(f"the value for {key} is {value!r}; expected a number or a SymPy expression.")
        pairs = {known[str(key)]: value for key, value in values.items()}
        numbers = all(isinstance(value, int | float) for value in pairs.values()) and set(pairs) == set(known.values())

        def put_in(array: Array) -> Array:
            if not is_symbolic(array):
                return array
            entries = [entry.subs(pairs) for entry in array.flat]
            return np.array(entries, dtype=float if numbers else object).reshape(array.shape)

        return replace(self.mapped(put_in), name=name or self.name, table=None, typed=None)

    def exact(self, *, round_angles: bool = True) -> "Robot":
        """Return the robot with exact numbers, which symbols for a motion need: every decimal as it was typed.

        A robot from a table or a file is read from it again, so that sums and turned bodies are exact, too. Angles are
        read as parts of pi where they are such: multiples of 15 degrees that are stated to 3 digits or more (1.57,
        0.785), of half a degree from 6 digits on, other parts to the last digits of a float. Other angles get a sine
        and a cosine that are fractions; a rotation stays one exactly. What has been changed since it was read, and the
        poses of a robot made of links, are read from their floats in the same way.

        Args:
            round_angles: if False, angles are read as parts of pi only where they are such to the last digits of a
                float, so that no result changes by more than rounding. (A matrix typed with a few digits, which is no
                rotation to the last one, is made one all the same, with a warning.)

        Returns:
            The exact robot. A warning says which angles were rounded, and by how much.

        >>> arm = Robot([Link("revolute", np.eye(4), Body(0.5))], gravity=[0, 0, -9.81])
        >>> arm.exact().gravity
        array([0, 0, -981/100], dtype=object)
        """
        if self.is_symbolic:
            return self
        reading = Exactly(round_angles)
        was, typed = (self.typed.robot, self.typed.exactly(reading)) if self.typed else (None, None)
        changed = {
            name: _exactly(getattr(self, name), getattr(was, name, None), getattr(typed, name, None), reading, name)
            for name in ("links", "gravity", "base", "tool", "payload")
        }
        reading.tell(self.name)
        return replace(typed or self, **changed, name=self.name)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.n} joint{'s' if self.n > 1 else ''}, gravity {_plain(self.gravity)} m/s²"]
        if self.table is not None:
            lines.append(str(self.table))
            if self.table.convention == "standard":
                lines.append("  Below, frame i sits on the axis of joint i, not at the far end, and so are the data.")
        rows = [("i", "joint", "origin (m)", "mass (kg)", "mass centre (m)", "Ixx Iyy Izz (kg m²)")]
        for i, link in enumerate(self.links, start=1):
            vectors = (frames.position(link.fixed), link.com, np.diagonal(link.inertia))
            origin, com, moments = (_listed(vector) for vector in vectors)
            mass = "unknown" if link.mass is None else _plain(link.mass)
            rows.append((str(i), link.joint, origin, mass, com, moments))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append(("  " + "  ".join(cells)).rstrip())
        lines += [line for i, link in enumerate(self.links, start=1) for line in _particulars(i, link)]
        if self.payload is not None:
            lines.append(f"  payload {_plain(self.payload.mass)} kg at {_plain(self.payload.com)} m in tip axes")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def _exactly(mine: Any, was: Any, typed: Any, reading: Exactly, name: str) -> Any:
    """Return a part of a robot exactly: as it was typed where it is the same still, else from its floats.

    Args:
        mine: array, record of arrays, or several records.
        was: the same part when the robot was read; None if there was none.
        typed: the same part as read exactly.
        reading: reads floats, and notes what it rounds.
        name: of the part, for the notes.
    """
    if isinstance(mine, np.ndarray):
        if was is not None and np.array_equal(mine, was):
            return _expanded(typed)
        return _expanded(reading.pose(mine, name) if mine.shape == (4, 4) else reading.numbers(mine))
    if isinstance(mine, Data):
        return replace(mine, **{
            entry.name: _exactly(
                getattr(mine, entry.name), getattr(was, entry.name, None), getattr(typed, entry.name, None),
                reading, f"{entry.name} of {name}",
            )
            for entry in fields(mine) if entry.init
        })  # fmt: skip
    if isinstance(mine, tuple):
        same_number = was is not None and len(was) == len(mine)
        before = zip(was, typed, strict=True) if same_number else [(None, None)] * len(mine)
        pairs = enumerate(zip(mine, before, strict=True), start=1)
        word = name.removesuffix("s")
        return tuple(_exactly(part, *pair, reading, f"{word} {i}") for i, (part, pair) in pairs)
    return mine


_EXPANDED = np.frompyfunc(lambda entry: entry if entry.is_Rational else sympy.expand(entry), 1, 1)


def _expanded(array: Array) -> Array:
    """Return an array of exact numbers with products of roots multiplied out."""
    return as_array(_EXPANDED(array), "numbers", array.shape)


def _are_same(links: Sequence[Link], others: Sequence[Link]) -> bool:
    """Say whether two lists of links hold the same numbers."""
    pairs = [[array for link in each for array in link.named_arrays().values()] for each in (links, others)]
    return len(pairs[0]) == len(pairs[1]) and all(map(np.array_equal, *pairs))


def _table_again(table: Table, robot: Robot, reading: Exactly) -> Robot:
    """Read a DH table again, exactly."""
    exact = table.exact(reading)
    tool = reading.pose(as_floats(as_array(table.tool, "tool", (4, 4))), "tool")
    return Robot.from_dh(
        exact.rows, convention=table.convention, gravity=reading.numbers(robot.gravity),
        base=reading.pose(robot.base, "base"), tool=tool, name=robot.name, allow_impossible=table.allow_impossible,
    )  # fmt: skip


def _bolted_again(given: Mapping[str, Any], reading: Exactly) -> Robot:
    """Bolt fixed links again, exactly."""
    names = ("links", "gravity", "base", "tool", "payload")
    return Robot(name=given["name"], **{name: _exactly(given[name], None, None, reading, name) for name in names})


def refuse_no_robot(robot: Any) -> None:
    """Raise an error, with what to do, for what is no robot.

    Args:
        robot: what was given as one.

    Raises:
        TypeError: it is a name, a mechanism or something else.

    >>> refuse_no_robot("ur5")
    Traceback (most recent call last):
    TypeError: robot is 'ur5'; expected a Robot. Load it: robots.load('ur5').
    """
    if isinstance(robot, str):
        instead = f"Load it: robots.load({robot!r})."
    elif hasattr(robot, "closures"):
        instead = "Mechanisms have functions of their own, in dynlib.closed_chains."
    else:
        instead = "Make one with Robot(...) or Robot.from_dh(...), or load one with robots.load(...)."
    refuse_other(robot, Robot, "robot", instead)


def _particulars(i: int, link: Link) -> list[str]:
    """Return what few links have, a line each: products of inertia, and a motor that is not ideal."""
    lines = []
    products = link.inertia[[0, 0, 1], [1, 2, 2]]
    if np.any(products != 0):
        lines.append(f"  link {i}: entries Ixy Ixz Iyz of the inertia matrix {_listed(products)} kg m²")
    motor = link.motor
    if motor is not None and (motor.inertia != 0 or motor.viscous != 0 or np.any(motor.coulomb != 0)):
        force, inertia, per_rate = ("N", "kg", "N s/m") if link.slide else ("N m", "kg m²", "N m s")
        lines.append(f"  motor {i}: gear {_plain(motor.gear)}, rotor inertia {_plain(motor.inertia)} {inertia},")
        dry = _listed(motor.coulomb)
        lines.append(f"    viscous friction {_plain(motor.viscous)} {per_rate}, dry friction {dry} {force}")
    return lines


def _listed(vector: Array) -> str:
    entries = [_plain(np.asarray(entry)) for entry in vector]
    return (", " if any(" " in entry for entry in entries) else " ").join(entries)


def _plain(array: Array) -> str:
    if array.ndim:
        return "[" + ", ".join(_plain(np.asarray(entry)) for entry in array) + "]"
    return f"{array + 0.0:.4g}" if not is_symbolic(array) else printable(str(array))
