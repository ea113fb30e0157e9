r"""A mechanism: open chains, the closures between them, and the coordinates that are chosen as inputs.

All joint values of all chains, one chain after the other, are its coordinates :math:`q`. It is a record of data, as a
:class:`dynlib.model.robot.Robot` is; what they mean stands in :mod:`dynlib.closed_chains.constraints`.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from dynlib import hints
from dynlib.algebra.arrays import (
    Array,
    Data,
    as_array,
    as_exact,
    as_floats,
    as_vectors,
    batches_together,
    exact_array,
    free_symbols,
    is_symbolic,
    refuse_mixture,
)
from dynlib.algebra.notation import check_names, printable
from dynlib.frames import compose, position, rotation
from dynlib.given import listed, refuse_other, shown
from dynlib.model.closures import Pin, Point, Rod, Slot
from dynlib.model.robot import Robot

Input = tuple[int, int]
"""Number of a chain and of a joint in it, both from 1."""


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(Data):
    r"""Open chains, the closures between them, and the coordinates that are chosen as inputs. It never changes.

    Attributes:
        chains: the open chains, each standing on its own base.
        closures: what joins them.
        inputs: the independent coordinates, each by its chain and joint, from 1; the motors sit there.
        name: shown in messages.

    Raises:
        ValueError: no chains, a chain, link or joint that does not exist, an input named twice, chains with different
            gravity, or closures in the plane for chains that leave it.
        TypeError: floats and symbols are mixed.
        SymbolError: a datum is printed like another symbol, such as m1 and m_1, or dx.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> Mechanism([arm], [Pin(Point(1), Point(0, at=[1, 1, 0]))], inputs=[])
    mechanism: 2 coordinates, 2 closure equations, no inputs
    """

    chains: Sequence[Robot]
    closures: Sequence[Any]
    inputs: Sequence[Input]
    name: str = "mechanism"

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "chains", listed(self.chains, Robot, "chain", "chains", "Each chain is an open arm."))
        for field, several in (("closures", "closures, such as [Pin(...)]"), ("inputs", "pairs, such as [(1, 2)]")):
            if hasattr(value := getattr(self, field), "gap") or not isinstance(value, Iterable):
                raise TypeError(f"{field} is {shown(value)}; expected a list of {several}.")
            set_field(self, field, tuple(value))
        for pair in self.inputs:
            if np.shape(pair) != (2,):
                raise ValueError(f"input {pair!r}: expected a chain and a joint, such as (1, 2), both from 1.")
        set_field(self, "inputs", tuple((int(chain), int(joint)) for chain, joint in self.inputs))
        self._check_parts()
        named = self.named_arrays()
        refuse_mixture(named)
        symbols = set().union(*map(free_symbols, named.values()))
        exact = bool(symbols) or all(map(is_symbolic, named.values()))
        for name, value in self.changed_fields(as_exact if exact else as_floats).items():
            set_field(self, name, value)
        set_field(self, "name", printable(self.name))
        if symbols:
            check_names(symbols, itertools.chain(*self.motion_symbols()))
        first = self.chains[0].gravity
        for number, chain in enumerate(self.chains, start=1):
            if any(a != b for a, b in zip(chain.gravity, first, strict=True)):
                raise ValueError(
                    f"chain {number} has the gravity {chain.gravity.tolist()}, chain 1 {first.tolist()}; things fall "
                    "in one direction. Use with_gravity(...)."
                )
        if not exact:
            self._check_plane()

    def named_arrays(self, of: str = "") -> dict[str, Array]:
        """Return every array in the record by the words that name it in a message.

        Args:
            of: what the record is.
        """
        parts = {f"chain {number}": chain for number, chain in enumerate(self.chains, start=1)}
        parts |= {f"closure {number}": closure for number, closure in enumerate(self.closures, start=1)}
        named = {
            f"{name} of {part}": array for part, data in parts.items() for name, array in data.named_arrays().items()
        }
        return named | {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    def _check_parts(self) -> None:
        if not self.chains:
            raise ValueError(f"{self.name} has no chains; give at least one Robot.")
        for number, closure in enumerate(self.closures, start=1):
            if not all(hasattr(closure, name) for name in ("a", "b", "rows", "gap")):
                raise TypeError(
                    f"closure {number} is {closure!r}; expected a Pin, Rod or Slot of dynlib.model.closures."
                )
            for point in (closure.a, closure.b):
                if not isinstance(point, Point):
                    raise TypeError(
                        f"closure {number} joins {point!r}; expected a Point, such as Point(1, 2, at=[0.1, 0, 0])."
                    )
                self.check_point(point, f"closure {number}")
        for place, (number, joint) in enumerate(self.inputs):
            self._check_joint(number, joint, "input")
            if (number, joint) in self.inputs[:place]:
                raise ValueError(f"input ({number}, {joint}) is named twice; the inputs must be different coordinates.")

    def _check_joint(self, chain: int, joint: int, what: str) -> None:
        if not (1 <= chain <= len(self.chains) and 1 <= joint <= self.chains[chain - 1].n):
            raise ValueError(f"{what} ({chain}, {joint}): {self.name} has no joint {joint} in chain {chain}.")

    def place(self, chain: int, joint: int, what: str = "joint") -> int:
        """Return where a joint stands among the coordinates, from 0.

        Args:
            chain: number of the chain, from 1.
            joint: number of the joint in it, from 1.
            what: what the pair is, for the message.

        Raises:
            ValueError: there is no such joint.
        """
        self._check_joint(chain, joint, what)
        return self.first[chain - 1] + joint - 1

    def check_point(self, point: Point, what: str) -> None:
        """Raise an error if there is no such chain or link.

        Args:
            point: the point.
            what: what it belongs to, for the message.
        """
        if not 0 <= point.chain <= len(self.chains):
            chains = f"the chains 1 to {len(self.chains)}, and 0 for the ground"
            raise ValueError(f"{what} names chain {point.chain}; {self.name} has {chains}.")
        if point.chain and point.link is not None and not 1 <= point.link <= self.chains[point.chain - 1].n:
            n = self.chains[point.chain - 1].n
            raise ValueError(
                f"{what} names link {point.link} of chain {point.chain}, which has the links 1 to {n}, or "
                "None for the tip."
            )

    def _check_plane(self) -> None:
        """Refuse closures in the plane for chains that leave it."""
        if all(
            "z" in closure.axes if isinstance(closure, Pin) else isinstance(closure, Rod) for closure in self.closures
        ):
            return
        for number, chain in enumerate(self.chains, start=1):
            for joint in range(1, chain.n + 1):
                axis = rotation(compose(chain.base, chain.pose(np.zeros(chain.n), joint)))[2, 2]
                if abs(abs(axis) - chain.links[joint - 1].turn) > 1e-9:
                    raise ValueError(
                        f"joint {joint} of chain {number} leaves the x-y plane; a Slot or a Pin in the axes xy suits "
                        'mechanisms in that plane only. For a ball joint in space use Pin(..., axes="xyz").'
                    )
        for number, closure in enumerate(self.closures, start=1):
            if isinstance(closure, Slot) and abs(self._axes_of(closure.b) @ closure.direction)[2] > 1e-9:
                raise ValueError(
                    f"direction {closure.direction.tolist()} of closure {number} leaves the x-y plane; expected a "
                    "direction in the plane, in the axes of the link that carries the slot."
                )

    def _axes_of(self, point: Point) -> Array:
        """Return the axes of a point's link in the world, (3, 3), while all coordinates are 0."""
        if not point.chain:
            return np.eye(3)
        chain = self.chains[point.chain - 1]
        return rotation(compose(chain.base, chain.pose(np.zeros(chain.n), point.link)))

    @property
    def n(self) -> int:
        """Return the number of coordinates, those of all chains together."""
        return sum(chain.n for chain in self.chains)

    @property
    def m(self) -> int:
        """Return the number of inputs."""
        return len(self.inputs)

    @cached_property
    def first(self) -> tuple[int, ...]:
        """Return where the coordinates of each chain begin."""
        ends = np.cumsum([chain.n for chain in self.chains])
        return tuple(int(end) - chain.n for end, chain in zip(ends, self.chains, strict=True))

    @cached_property
    def u(self) -> list[int]:
        """Return the places of the inputs among the coordinates."""
        return [self.place(chain, joint) for chain, joint in self.inputs]

    @cached_property
    def v(self) -> list[int]:
        """Return the places of the dependent coordinates."""
        return [k for k in range(self.n) if k not in self.u]

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Return a name of each closure equation."""
        named = enumerate(self.closures, start=1)
        return tuple(f"closure {number} ({closure}), {row}" for number, closure in named for row in closure.rows)

    def joint_name(self, place: int) -> str:
        """Return what the coordinate at a place is called.

        Args:
            place: from 0.
        """
        chain = max(number for number, first in enumerate(self.first, start=1) if first <= place)
        return f"joint {place - self.first[chain - 1] + 1} of chain {chain}"

    def parts(self, values: Array) -> list[Array]:
        """Return values of all coordinates, shape (..., n), chain by chain.

        Args:
            values: joint values, rates or forces.
        """
        return [values[..., first : first + chain.n] for first, chain in zip(self.first, self.chains, strict=True)]

    @property
    def is_symbolic(self) -> bool:
        """Return True if the data are exact expressions, False if they are floats."""
        return self.chains[0].is_symbolic

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """Return the symbols that the data hold, sorted by name."""
        return tuple(sorted(set().union(*map(free_symbols, self.named_arrays().values())), key=str))

    @property
    def gravity(self) -> Array:
        """Return the vector along which things fall, shape (3,), in m/s²."""
        return self.chains[0].gravity

    @cached_property
    def size(self) -> float:
        """Return the sum of all lengths, in m, against which gaps are judged."""
        lengths: list[Any] = [
            np.linalg.norm(position(T)) for chain in self.chains for T in (*(x.fixed for x in chain.links), chain.tool)
        ]
        lengths += [np.linalg.norm(point.at) for closure in self.closures for point in (closure.a, closure.b)]
        lengths += [float(closure.length) for closure in self.closures if isinstance(closure, Rod)]
        lengths += [np.linalg.norm(position(chain.base) - position(self.chains[0].base)) for chain in self.chains]
        return float(sum(lengths)) or 1.0

    def in_metres(self, J: Array) -> Array:
        """Return a Jacobian with the columns of sliding joints times the size, so that all columns are in metres.

        Args:
            J: of velocities, in m/s per rate, shape (..., n); or rates in 1/s, of which those that slide become m/s.
        """
        turning = np.array([link.turn for chain in self.chains for link in chain.links], dtype=bool)
        return J * np.where(turning, 1.0, self.size)

    def with_gravity(self, gravity: Any) -> "Mechanism":
        """Return the mechanism with another gravity; ``[0, 0, 0]`` if it lies in a horizontal plane (E28).

        Args:
            gravity: the vector along which things fall, shape (3,), in m/s².
        """
        changed = replace(self, chains=[replace(chain, gravity=gravity) for chain in self.chains])
        hints.give(changed._doubts())
        return changed

    def _doubts(self) -> Iterator[str]:
        """Yield what looks like another unit, sign or axis in its gravity."""
        yield from hints.gravity(self.gravity)

    def subs(self, values: Mapping[Any, Any]) -> Any:
        """Return the mechanism with numbers or expressions put in for its symbols.

        Args:
            values: what to put in, by symbol or by its name; SI units.

        Returns:
            A mechanism of floats if every symbol has got a number, else of exact expressions.

        Raises:
            ValueError: a key is not a symbol of this mechanism.
        """
        known = {str(symbol): symbol for symbol in self.symbols}
        for key in map(str, values):
            if key not in known:
                raise ValueError(f"{self.name} has no symbol {key!r}; it has {', '.join(known) or 'none'}.")
        pairs = {known[str(key)]: value for key, value in values.items()}
        numbers = all(isinstance(value, int | float) for value in pairs.values()) and set(pairs) == set(known.values())

        def put_in(array: Array) -> Array:
            entries = [entry.subs(pairs) for entry in array.flat]
            return np.array(entries, dtype=float if numbers else object).reshape(array.shape)

        return self.mapped(put_in) if self.is_symbolic else self

    def exact(self, *, round_angles: bool = True) -> Any:
        """Return the mechanism with exact numbers; see :meth:`dynlib.model.robot.Robot.exact`.

        Args:
            round_angles: as there.
        """
        chains = [chain.exact(round_angles=round_angles) for chain in self.chains]
        changed = self.changed_fields(exact_array) | {"chains": chains}
        return replace(self, **changed)

    def motion_symbols(self) -> tuple[Array, Array, Array]:
        r"""Return symbols for all joint values, rates and accelerations.

        Returns:
            ``q, dq, ddq``, each of shape (n,): theta12, dtheta12, ddtheta12 for the revolute joint 2 of chain 1, d12
            and so on for a prismatic one.
        """
        pairs = [(i, j, link) for i, chain in enumerate(self.chains, 1) for j, link in enumerate(chain.links, 1)]
        names = [f"{'theta' if link.turn else 'd'}{i}{j}" for i, j, link in pairs]
        q, dq, ddq = (as_array([sympy.Symbol(dots + name) for name in names], "q", (None,)) for dots in ("", "d", "dd"))
        return q, dq, ddq

    def state(self, **values: Any) -> tuple[Array, ...]:
        """Read values of all coordinates, each of shape (..., n), and check that they suit this mechanism.

        Args:
            **values: any of ``q`` (rad or m), ``dq`` (rad/s or m/s) and ``ddq`` (rad/s² or m/s²).

        Returns:
            The values as arrays of one common shape (..., n), in the order given.

        Raises:
            ValueError: a wrong length, shape or number.
            TypeError: floats beside symbols.
        """
        arrays = {}
        for name, value in values.items():
            array = as_vectors(value, name, self.n)
            if array.shape[-1] != self.n:
                chains = ", ".join(str(chain.n) for chain in self.chains)
                hint = (
                    " (these are only the inputs; see positions, close, rates and accelerations)"
                    if array.shape[-1] == self.m
                    else ""
                )
                raise ValueError(
                    f"{name} has {array.shape[-1]} entries{hint}; the chains of {self.name} have {chains} joints, so "
                    f"{name} needs the shape ({self.n},) or (..., {self.n})."
                )
            parts = [chain.state(**{name: part})[0] for chain, part in zip(self.chains, self.parts(array), strict=True)]
            arrays[name] = np.concatenate(parts, axis=-1)
        return batches_together(**arrays)

    def input_values(self, name: str, value: Any) -> Array:
        """Read values of the inputs, shape (..., m).

        Args:
            name: what they are, for the message.
            value: positions, rates, accelerations or torques of the inputs.

        Raises:
            ValueError: a wrong length, shape or number.
        """
        array = as_vectors(value, name, self.m)
        if array.shape[-1] != self.m:
            inputs = ", ".join(map(self.joint_name, self.u)) or "none"
            many = f" For many at once give the shape (..., {self.m})." if self.m else ""
            raise ValueError(
                f"{name} has {array.shape[-1]} entries; {self.name} has {self.m} input{'s' if self.m != 1 else ''} "
                f"({inputs}).{many}"
            )
        return (as_exact if self.is_symbolic else as_floats)(array)

    def __str__(self) -> str:
        equations = f"{len(self.rows)} closure equation" + ("s" if len(self.rows) != 1 else "")
        inputs = ", ".join(map(self.joint_name, self.u)) or "none"
        driven = f"input{'s' if self.m > 1 else ''} {inputs}" if self.m else "no inputs"
        return f"{self.name}: {self.n} coordinates, {equations}, {driven}"

    def __repr__(self) -> str:
        return str(self)


def refuse_no_mechanism(mechanism: Any) -> None:
    """Raise an error, with what to do, for what is no mechanism.

    Args:
        mechanism: what was given as one.

    Raises:
        TypeError: it is a name, an open arm or something else.

    >>> refuse_no_mechanism("four_bar")
    Traceback (most recent call last):
    TypeError: mechanism is 'four_bar'; expected a Mechanism. Make one with dynlib.linkages or Mechanism(...).
    """
    instead = "Make one with dynlib.linkages or Mechanism(...)."
    if isinstance(mechanism, Robot):
        instead = "Open arms have functions of their own, in newton_euler, structure, lagrange and motion."
    refuse_other(mechanism, Mechanism, "mechanism", instead)


System = Robot | Mechanism
"""An open arm, or chains with closures."""


def refuse_no_system(system: Any) -> None:
    """Raise an error, with what to do, for what is neither an arm nor a mechanism.

    Args:
        system: what was given as one.

    Raises:
        TypeError: it is something else.

    >>> refuse_no_system("ur5")
    Traceback (most recent call last):
    TypeError: system is 'ur5'; expected a Robot or a Mechanism. Load an arm: robots.load('ur5'), or make a linkage with
    dynlib.linkages.
    """
    if not isinstance(system, System):
        load = f"robots.load({system!r})" if isinstance(system, str) else "robots.load(...)"
        raise TypeError(
            f"system is {shown(system)}; expected a Robot or a Mechanism. Load an arm: {load}, or make a linkage with "
            "dynlib.linkages."
        )
