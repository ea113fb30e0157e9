"""How many motions a mechanism has, which inputs determine them, and the positions in which they do not."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynlib.algebra.arrays import Array, is_symbolic
from dynlib.closed_chains.constraints import (
    SINGULAR,
    ClosureError,
    _largest,
    _least,
    _listed,
    _rank,
    free_motions,
    nearest,
    refuse_open,
    refuse_symbols,
)
from dynlib.closed_chains.walk import Walk
from dynlib.model.closures import Point
from dynlib.model.mechanism import Mechanism


class SingularPosition(ValueError):
    """A position in which the inputs do not determine the motion, or in which closures lose their grip.

    Attributes:
        q: the position, shape (n,).
    """

    def __init__(self, message: str, q: Array):
        self.q = q
        super().__init__(message)


def regular_jacobian(walk: Walk) -> Array:
    """Return J for positions that close the chains and in which the inputs determine the motion.

    Args:
        walk: a mechanism in positions of shape (..., n); symbols are taken as they are.

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`gamma`.
    """
    mechanism, q, J = walk.mechanism, walk.q, walk.J
    if is_symbolic(J):
        return J
    refuse_open(walk)
    scaled = mechanism.in_metres(J)
    J_u, J_v = scaled[..., mechanism.u], scaled[..., mechanism.v]
    bad = _least(mechanism, J_v, scaled) <= SINGULAR
    if J.shape[-2] > J_v.shape[-1]:  # more equations than unknowns: they must agree whatever the inputs do
        rest = J_u - J_v @ (np.linalg.pinv(J_v) @ J_u)
        bad |= np.abs(rest).max(axis=(-1, -2), initial=0.0) > SINGULAR * _largest(mechanism, scaled)
    if bad.any():
        _explain(mechanism, q[tuple(np.argwhere(bad)[0])])
    return J


@dataclass(frozen=True)
class Mobility:
    """How many independent coordinates a mechanism has.

    Attributes:
        coordinates: number of all coordinates n.
        equations: number of closure equations.
        rank: how many of them are independent, in positions nearby.
        rank_here: how many are in this very position; fewer than ``rank`` in a singular one.
        redundant: names of equations that follow from those before them; they may be left out.
    """

    coordinates: int
    equations: int
    rank: int
    rank_here: int
    redundant: tuple[str, ...]

    @property
    def mobility(self) -> int:
        """Return the number of independent coordinates."""
        return self.coordinates - self.rank

    def __repr__(self) -> str:
        lines = [
            f"mobility {self.mobility}: {self.coordinates} coordinates, {self.equations} closure equation"
            f"{'s' if self.equations != 1 else ''} of rank {self.rank}"
        ]
        if self.rank_here < self.rank:
            lines.append(f"  in this position only of rank {self.rank_here}: it is singular")
        lines += [f"  redundant: {row}" for row in self.redundant]
        return "\n".join(lines)


def mobility(mechanism: Mechanism, q: Any) -> Mobility:
    """Count the independent coordinates by the rank of the constraint Jacobian.

    Args:
        mechanism: chains and closures, of numbers.
        q: a closed position, shape (n,), in rad or m; a singular one is compared with positions nearby.

    Returns:
        The :class:`Mobility`, with the equations that are redundant.

    Raises:
        ClosureError: q does not close the chains.
        ValueError: a wrong length, shape or number.
    """
    q = _one_position(mechanism, q, "mobility")
    here = mechanism.in_metres(Walk(mechanism, q).J)
    rank_here, best = _rank(mechanism, here, here), here
    if rank_here < len(here):
        best = max([here, *_jacobians_nearby(mechanism, q)], key=lambda J: _rank(mechanism, J, J))
    kept: list[int] = []
    for row in range(len(best)):
        if _rank(mechanism, best[[*kept, row]], best) > len(kept):
            kept.append(row)
    redundant = tuple(name for row, name in enumerate(mechanism.rows) if row not in kept)
    return Mobility(mechanism.n, len(here), len(kept), rank_here, redundant)


def _one_position(mechanism: Mechanism, q: Any, what: str) -> Array:
    """Read one closed position of numbers."""
    refuse_symbols(mechanism, what)
    (q,) = mechanism.state(q=q)
    if q.ndim != 1:
        raise ValueError(f"{what} takes one position, shape ({mechanism.n},); got the shape {q.shape}.")
    refuse_open(Walk(mechanism, q))
    return np.asarray(q)


def _jacobians_nearby(mechanism: Mechanism, q: Array) -> list[Array]:
    """Return the constraint Jacobians of a few closed positions near one, in metres."""
    found, random = [], np.random.default_rng(0)
    J = mechanism.in_metres(Walk(mechanism, q).J)
    free = free_motions(mechanism, q, _rank(mechanism, J, J))
    for _ in range(4):
        step = free @ random.normal(size=free.shape[1]) if free.shape[1] else random.normal(size=mechanism.n)
        try:
            near, _ = nearest(mechanism, q + 0.02 * step / max(float(np.linalg.norm(step)), 1e-300))
        except ClosureError:
            continue
        found.append(mechanism.in_metres(Walk(mechanism, near).J))
    return found


def _explain(mechanism: Mechanism, q: Array) -> None:
    """Raise the error that says why the inputs do not determine the motion in a position."""
    found = mobility(mechanism, q)
    if found.mobility != mechanism.m:
        _refuse_number_of_inputs(mechanism, found)
    dependent = max(
        (_rank(mechanism, near[:, mechanism.v], near) for near in _jacobians_nearby(mechanism, q)), default=0
    )
    _, values, directions = np.linalg.svd(mechanism.in_metres(Walk(mechanism, q).J)[:, mechanism.v])
    loose = directions[-1] if len(values) == len(mechanism.v) else directions[len(values)]
    names = [mechanism.joint_name(k) for k, share in zip(mechanism.v, loose, strict=True) if abs(share) > 1e-3]
    inputs = _listed(list(map(mechanism.joint_name, mechanism.u)))
    if dependent < len(mechanism.v):
        raise ValueError(
            f"{inputs} cannot be the inputs of {mechanism.name}: they depend on each other in every position, and "
            f"{_listed(names)} would not follow from them. Choose other inputs."
        )
    verb = "does" if mechanism.m == 1 else "do"
    raise SingularPosition(
        f"q = {np.round(q, 6).tolist()} is a singular position of {mechanism.name} (forward, type 2), to within "
        f"{SINGULAR:g}: {inputs} {verb} not determine the rates of {_listed(names)}, which can move a little "
        "while the inputs stand still. Torques of the inputs cannot hold such a motion.",
        q,
    )


def _refuse_number_of_inputs(mechanism: Mechanism, found: Mobility) -> None:
    kind = "more" if found.mobility > mechanism.m else "fewer"
    raise ValueError(
        f"{mechanism.name} has the mobility {found.mobility} ({found.coordinates} coordinates, closure equations of "
        f"rank {found.rank}) and {mechanism.m} input{'s' if mechanism.m != 1 else ''}; choose "
        f"{abs(found.mobility - mechanism.m)} {kind}."
    )


@dataclass(frozen=True, eq=False)
class Singularity:
    """Of which kind a position is, by two numbers that are 0 in a singular position and at most 1 in size.

    Their signs change where a singular position of that kind is passed, if there are as many equations as unknowns.

    Attributes:
        forward: 0 if dependent coordinates can move while the inputs stand still (type 2), shape (...,).
        inverse: 0 if the inputs can move while the point stands still (type 1), shape (...,).
    """

    forward: Array
    inverse: Array

    @property
    def kind(self) -> Array:
        """Return 0 (regular), 1 (inverse), 2 (forward) or 3 (both), shape (...,)."""
        return (np.abs(self.inverse) <= SINGULAR) + 2 * (np.abs(self.forward) <= SINGULAR)

    def __repr__(self) -> str:
        return f"type {self.kind}, forward {np.round(self.forward, 6)}, inverse {np.round(self.inverse, 6)}"


def singularity(mechanism: Mechanism, q: Any, point: Point, axes: str = "xy") -> Singularity:
    """Find out of which kind positions are (E32), for the point that the mechanism is to move.

    Along a path, look for a change of sign: a position that is singular to the last digit is hardly ever met.

    Args:
        mechanism: chains and closures, of numbers.
        q: closed positions, shape (..., n), in rad or m.
        point: the point that is moved.
        axes: the directions in which it is to be moved, of ``"x"``, ``"y"`` and ``"z"``.

    Returns:
        The :class:`Singularity`.

    Raises:
        ClosureError: q does not close the chains.
        ValueError: a wrong length, shape or number.

    >>> from dynlib.linkages import five_bar
    >>> arm = five_bar(bases=[[0, 0], [2, 0]], lengths=[[1, 1], [1, 1]], masses=[[1, 1], [1, 1]])
    >>> flat = arm.positions([np.pi / 2, np.pi / 2], mode=[1])  # both couplers in one line
    >>> int(singularity(arm, flat, arm.output).kind)
    2
    """
    if not axes or set(axes) - set("xyz"):
        raise ValueError(f'axes is {axes!r}; expected some of "x", "y" and "z".')
    refuse_symbols(mechanism, "singularity")
    (q,) = mechanism.state(q=q)
    mechanism.check_point(point, "the point")
    walk = Walk(mechanism, q)
    refuse_open(walk)
    J = mechanism.in_metres(walk.J)
    moved = mechanism.in_metres(walk.point_jacobian(point))
    held = np.concatenate([J, moved[..., ["xyz".index(axis) for axis in axes], :]], axis=-2)
    return Singularity(*(_signed(mechanism, A, J) for A in (J[..., mechanism.v], held)))


def _signed(mechanism: Mechanism, A: Array, J: Array) -> Array:
    """Return the least singular value of a part of a Jacobian, with the sign of its determinant if it is square."""
    least = _least(mechanism, A, J)
    return least * np.sign(np.linalg.det(A)) if A.shape[-1] == A.shape[-2] else least
