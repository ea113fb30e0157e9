"""Closed positions: found near a guess, and followed along a path of the inputs."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dynlib.algebra.arrays import Array
from dynlib.closed_chains.constraints import (
    CLOSED,
    SINGULAR,
    ClosureError,
    _least,
    nearest,
    quick_closure,
    refuse_symbols,
    solved,
)
from dynlib.closed_chains.singular import SingularPosition, _refuse_number_of_inputs, mobility, regular_jacobian
from dynlib.closed_chains.walk import Walk
from dynlib.model.mechanism import Input, Mechanism
from dynlib.progress import Watch


def close(mechanism: Mechanism, q: Any, *, hold: Sequence[Input] | None = None) -> Array:
    r"""Find the closed position near a guess, by Newton's method.

    Args:
        mechanism: chains and closures, of numbers.
        q: a guess, shape (n,), in rad or m.
        hold: coordinates that keep their values, each by chain and joint; the inputs if left out. If more are free
            than the equations tie, the change of their values is the smallest; ``()`` holds none.

    Returns:
        The closed position, shape (n,), to the last digits.

    Raises:
        ClosureError: none was found; the message says how near the search came.
        ValueError: a wrong length, shape or number.

    >>> from dynlib import robots
    >>> from dynlib.model import Pin, Point
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> close(Mechanism([arm], [Pin(Point(1), Point(0, at=[1, 1, 0]))], []), [0.1, 1.4]).round(6) + 0.0
    array([0.      , 1.570796])
    """
    refuse_symbols(mechanism, "close")
    (q,) = mechanism.state(q=q)
    if q.ndim != 1:
        raise ValueError(f"close takes one position, shape ({mechanism.n},); got the shape {q.shape}.")
    held = mechanism.u if hold is None else [mechanism.place(chain, joint, "hold") for chain, joint in hold]
    q, rank = nearest(mechanism, q, held)
    if hold is None and mechanism.n - len(held) > rank and (found := mobility(mechanism, q)).mobility > mechanism.m:
        _refuse_number_of_inputs(mechanism, found)
    return q


def follow(mechanism: Mechanism, q: Any, path: Any) -> Array:
    r"""Follow one assembly mode while the inputs move along a path, without jumping to another mode.

    Between the points of the path the inputs go straight, in steps so short that Newton's method only has to correct
    a little: less than 0.3 rad or m each. A path of many turns takes long; then it is shown how far it is.

    Args:
        mechanism: chains and closures, of numbers.
        q: the closed position at the start, shape (n,); its inputs are the first point of the path.
        path: values of the inputs, shape (K, m), in rad or m.

    Returns:
        The closed positions along the path, shape (K, n); angles go on without jumps.

    Raises:
        SingularPosition: modes meet on the path (or it leaves what can be reached); the message says where.
        ClosureError: q does not close the chains.
        ValueError: a wrong length, shape or number.
    """
    refuse_symbols(mechanism, "follow")
    (q,), path = mechanism.state(q=q), mechanism.input_values("path", path)
    if path.ndim != 2 or q.ndim != 1:
        raise ValueError(
            f"path and q have the shapes {path.shape} and {q.shape}; expected (K, {mechanism.m}) and ({mechanism.n},)."
        )
    if len(path) and np.abs(path[0] - q[mechanism.u]).max(initial=0.0) > CLOSED:
        raise ValueError(
            f"the path starts at {path[0].tolist()}, q at {q[mechanism.u].tolist()}; expected the same inputs."
        )
    regular_jacobian(Walk(mechanism, q))
    side, found = _side(mechanism, q) or 1.0, [q]
    watch = Watch(0.0, len(path) - 1.0, what="follow", stop="")
    for number, (start, end) in enumerate(pairwise(path), start=1):
        share, step = 0.0, 1.0
        shortest = 1e-7 / max(1.0, np.abs(end - start).max(initial=0.0))
        while share < 1.0:
            watch.tell(number - 1 + share)
            step = min(step, 1.0 - share)
            moved = _stepped(mechanism, q, step * (end - start), side)
            if moved is None:
                step /= 2
                if step < shortest:
                    at = (start + share * (end - start)).tolist()
                    raise SingularPosition(
                        f"the path cannot be followed beyond the inputs {[round(value, 6) for value in at]}, between "
                        f"its points {number} and {number + 1}: there assembly modes meet, and the inputs no longer "
                        "determine the position. End the path before, or lead it past this point.",
                        q,
                    )
                continue
            q, share, step = moved, share + step, 2 * step
        found.append(q)
    return np.array(found)


def _side(mechanism: Mechanism, q: Array) -> float | None:
    """Return a sign that changes where modes meet: that of det J_v if it is square; None if they meet here."""
    J = mechanism.in_metres(quick_closure(mechanism)(q)[1])
    J_v = J[:, mechanism.v]
    if _least(mechanism, J_v, J) <= SINGULAR:
        return None
    return float(np.sign(np.linalg.det(J_v))) if J_v.shape[0] == J_v.shape[1] else 1.0


def _stepped(mechanism: Mechanism, q: Array, change: Array, side: float) -> Array | None:
    """Return the position after a small change of the inputs; None if the step is too long to be sure of the mode."""
    J = quick_closure(mechanism)(q)[1]
    predicted = q.copy()
    predicted[mechanism.u] += change
    predicted[mechanism.v] -= solved(J[:, mechanism.v], J[:, mechanism.u] @ change[:, None])[:, 0]
    try:
        found = close(mechanism, predicted)
    except ClosureError:
        return None
    moved, corrected = np.abs(predicted - q).max(), np.abs(found - predicted).max()
    near = corrected <= 0.1 * moved + 1e-12 and moved < 0.3
    return found if near and _side(mechanism, found) == side else None
