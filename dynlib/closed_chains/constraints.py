r"""The closures of a mechanism: gaps, constraint Jacobian, bias, and which coordinates follow from which.

Closures say :math:`\phi(q)=0`; once differentiated :math:`J\dot q=0`, twice :math:`J\ddot q+\dot J\dot q=0`. Of the
coordinates some are chosen as inputs :math:`u`; the others, :math:`v`, depend on them:

.. math:: \dot q = \Gamma\,\dot u, \qquad \Gamma = \begin{bmatrix} 1 \\ -J_v^{-1}J_u \end{bmatrix}

All vectors are written in world axes.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from dynlib.algebra.arrays import Array, is_symbolic
from dynlib.closed_chains.walk import Walk
from dynlib.model.closures import Point
from dynlib.model.mechanism import Mechanism, refuse_no_mechanism

CLOSED = 1e-7
"""Largest gap of a closed position, relative to the size of the mechanism (dimensionless)."""
SINGULAR = 1e-5
"""A position counts as singular if a matrix of columns of equal length has a singular value less than this share of the
largest (dimensionless). Inputs typed to 11 digits come no nearer: the root of 1e-11 is 3e-6."""
_QUICK_UP_TO = 3  # joints of a chain; the formulas of longer ones take long to derive
_ITERATIONS = 60
_ROUNDING = 1e-15


class ClosureError(ValueError):
    """A mechanism that cannot be closed, or a position that does not close it.

    Attributes:
        gap: length of the largest gap, in m, if one is known.
    """

    def __init__(self, message: str, gap: float = math.nan):
        self.gap = gap
        super().__init__(message)


def pose(mechanism: Mechanism, q: Any, point: Point) -> Array:
    """Return the pose of the axes of a point's link at that point, in the world.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m; they need not close the chains.
        point: carried by any link.

    Returns:
        T, shape (..., 4, 4), in m.

    Raises:
        ValueError: a wrong length, shape or number, or no such point.
    """
    refuse_no_mechanism(mechanism)
    mechanism.check_point(point, "the point")
    (q,) = mechanism.state(q=q)
    return Walk(mechanism, q).pose(point)


def gap(mechanism: Mechanism, q: Any) -> Array:
    r"""Return how far a position is from closing the chains (B1.11, 2.1, 2.2 for any mechanism).

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m.

    Returns:
        :math:`\phi(q)`, shape (..., rows), in m; :attr:`Mechanism.rows` names its entries.

    Raises:
        ValueError: a wrong length, shape or number.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> from dynlib.model import Pin
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> gap(Mechanism([arm], [Pin(Point(1), Point(0, at=[1, 1, 0]))], []), [0, 0])  # the tip is at (2, 0)
    array([ 1., -1.])
    """
    refuse_no_mechanism(mechanism)
    (q,) = mechanism.state(q=q)
    return Walk(mechanism, q).gap


def constraint_jacobian(mechanism: Mechanism, q: Any) -> Array:
    r"""Return the constraint Jacobian: the rates of the gaps are :math:`\dot\phi=J\dot q`.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m.

    Returns:
        J, shape (..., rows, n).

    Raises:
        ValueError: a wrong length, shape or number.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> from dynlib.model import Pin
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> constraint_jacobian(Mechanism([arm], [Pin(Point(1), Point(0, at=[2, 0, 0]))], []), [0, 0])
    array([[0., 0.],
           [2., 1.]])
    """
    refuse_no_mechanism(mechanism)
    (q,) = mechanism.state(q=q)
    return Walk(mechanism, q).J


def constraint_bias(mechanism: Mechanism, q: Any, dq: Any) -> Array:
    r"""Return what the closures ask for beside the joint accelerations: :math:`\ddot\phi=J\ddot q+\dot J\dot q`.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m.
        dq: all joint rates, shape (..., n), in rad/s or m/s.

    Returns:
        :math:`\dot J\dot q`, shape (..., rows), in m/s².

    Raises:
        ValueError: a wrong length, shape or number.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> from dynlib.model import Pin
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> constraint_bias(Mechanism([arm], [Pin(Point(1), Point(0, at=[2, 0, 0]))], []), [0, 0], [1, 0])
    array([-2.,  0.])
    """
    refuse_no_mechanism(mechanism)
    q, dq = mechanism.state(q=q, dq=dq)
    return Walk(mechanism, q).bias(dq)


def solved(A: Array, B: Array) -> Array:
    """Return X with A X = B, for matrices of full column rank; more rows than columns must agree with each other.

    Args:
        A: shape (..., r, k).
        B: shape (..., r, c).

    Returns:
        X, shape (..., k, c).

    >>> solved(np.array([[2.0], [4.0]]), np.array([[1.0], [2.0]]))
    array([[0.5]])
    """
    if is_symbolic(A) or is_symbolic(B):
        a, b = sympy.Matrix(A), sympy.Matrix(B)  # without pivots: one of them may vanish where the determinant does not
        return np.array((a.adjugate() * b / a.det()).tolist(), dtype=object)
    if A.shape[-1] == A.shape[-2]:
        return np.linalg.solve(A, B)
    return np.linalg.pinv(A) @ B


def tree_jacobian(mechanism: Mechanism, q: Any, point: Point) -> Array:
    r"""Return the Jacobian of a point of the cut mechanism: its velocity by the rates of all coordinates.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m.
        point: carried by any link.

    Returns:
        :math:`\partial p/\partial q`, shape (..., 6, n): velocity, then angular velocity; only joints before the point
        in its own chain count.

    Raises:
        ValueError: a wrong length, shape or number, or no such point.
    """
    refuse_no_mechanism(mechanism)
    mechanism.check_point(point, "the point")
    (q,) = mechanism.state(q=q)
    return Walk(mechanism, q).point_jacobian(point)


def refuse_open(walk: Walk) -> None:
    """Raise an error for the first position that does not close the chains.

    Args:
        walk: a mechanism of numbers in positions of shape (..., n).

    Raises:
        ClosureError: with the largest gap.
    """
    mechanism, q, phi = walk.mechanism, walk.q, walk.gap
    widest = np.abs(phi).max(axis=-1, initial=0.0)
    if (widest > CLOSED * mechanism.size).any():
        index = tuple(np.argwhere(widest > CLOSED * mechanism.size)[0])
        row = int(np.abs(phi[index]).argmax())
        raise ClosureError(
            f"q = {np.round(q[index], 6).tolist()} does not close {mechanism.name}: the gap of {mechanism.rows[row]}, "
            f"is {phi[index][row]:.6g} m, more than {CLOSED * mechanism.size:.2g} m. Find a position that does with "
            "close(mechanism, q).",
            float(widest[index]),
        )


def _least(mechanism: Mechanism, A: Array, J: Array) -> Array:
    """Return the least singular value of a part of a Jacobian, one for each column, relative to the largest of all."""
    if A.shape[-1] == 0:
        return np.ones(A.shape[:-2])
    if A.shape[-2] < A.shape[-1]:
        return np.zeros(A.shape[:-2])
    return np.asarray(np.linalg.svd(A, compute_uv=False)[..., -1] / _largest(mechanism, J))


def _largest(mechanism: Mechanism, J: Array) -> Array:
    """Return the largest singular value of a Jacobian in metres; where all of it is rounding, more than that."""
    found = np.linalg.norm(J, 2, axis=(-2, -1)) if J.size else np.zeros(J.shape[:-2])
    return np.maximum(found, SINGULAR * mechanism.size)


def _rank(mechanism: Mechanism, A: Array, J: Array) -> int:
    """Return the rank of a part of a Jacobian; what is small against all of it does not count."""
    values = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    return int((values > SINGULAR * float(_largest(mechanism, J))).sum())


def free_motions(mechanism: Mechanism, q: Array, rank: int) -> Array:
    """Return rates that keep the chains closed, to first order: a basis of the null space of J.

    Args:
        mechanism: chains and closures, of numbers.
        q: closed positions, shape (..., n), in rad or m.
        rank: number of independent equations.

    Returns:
        Shape (..., n, n - rank).
    """
    J = mechanism.in_metres(constraint_jacobian(mechanism, q))
    directions = np.linalg.svd(J).Vh if J.size else np.broadcast_to(np.eye(mechanism.n), (*q.shape, mechanism.n))
    return np.asarray(mechanism.in_metres(directions[..., rank:, :]).swapaxes(-1, -2))


def refuse_symbols(mechanism: Mechanism, what: str) -> None:
    """Raise an error for a mechanism of symbols or exact numbers.

    Args:
        mechanism: chains and closures.
        what: the function that needs floats.

    Raises:
        ValueError: it is exact.
    """
    refuse_no_mechanism(mechanism)
    if mechanism.is_symbolic:
        held = f" (symbols {', '.join(map(str, mechanism.symbols))})" if mechanism.symbols else ""
        raise ValueError(
            f"{what} computes with floats, and {mechanism.name} is exact{held}. Give it numbers, with subs(...) or as "
            "floats."
        )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


@lru_cache(maxsize=64)
def quick_closure(mechanism: Mechanism) -> Callable[[Array], tuple[Array, Array]]:
    r"""Return the gaps and their Jacobian as a function of one position that is fast to call many times.

    Args:
        mechanism: chains and closures, of numbers.

    Returns:
        A function of q, shape (n,), that gives :math:`\phi`, shape (rows,), and J, shape (rows, n).

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
    >>> quick_closure(bars)(np.zeros(3))[0]  # all bars along x: both pins are at 3 m
    array([0., 0.])
    """
    if any(chain.n > _QUICK_UP_TO for chain in mechanism.chains):

        def walked(q: Array) -> tuple[Array, Array]:
            walk = Walk(mechanism, q)
            return walk.gap, walk.J

        return walked
    exact = mechanism.exact(round_angles=False)
    q, _, _ = exact.motion_symbols()
    formulas = [gap(exact, q).tolist(), constraint_jacobian(exact, q).tolist()]
    evaluate = sympy.lambdify(list(q), formulas, modules="math", cse=True)

    def closure(values: Array) -> tuple[Array, Array]:
        phi, J = evaluate(*values.tolist())
        return np.array(phi, dtype=float), np.array(J, dtype=float).reshape(len(phi), len(values))

    return closure


def nearest(mechanism: Mechanism, q: Array, held: Sequence[int] = ()) -> tuple[Array, int]:
    """Go from a position to a closed one nearby, by Newton's method.

    Args:
        mechanism: chains and closures, of numbers.
        q: the guess, shape (n,).
        held: places of the coordinates that keep their values.

    Returns:
        The closed position, shape (n,), and how many of the closure equations are independent there.

    Raises:
        ClosureError: none was found.
    """
    free = [k for k in range(mechanism.n) if k not in held]
    q, closure = q.copy(), quick_closure(mechanism)
    phi, J = closure(q)
    for _ in range(_ITERATIONS):
        if float(np.abs(phi).max(initial=0.0)) <= _ROUNDING * mechanism.size or not free:
            break
        step = -np.linalg.lstsq(J[:, free], phi, rcond=1e-12)[0]
        step *= min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))  # half a radian at most
        for _ in range(12):
            trial = q.copy()
            trial[free] += step
            there = closure(trial)
            if np.linalg.norm(there[0]) < np.linalg.norm(phi):
                break
            step = step / 4
        else:
            break  # nothing nearer, also for rounding
        q, (phi, J) = trial, there
    widest, rank = float(np.abs(phi).max(initial=0.0)), _rank(mechanism, scaled := mechanism.in_metres(J), scaled)
    if widest > 1e-12 * mechanism.size:
        why = "Either its lengths do not reach, or another guess is needed."
        if len(free) < rank:
            why = f"Only {len(free)} coordinates are free for {rank} independent equations; hold fewer."
        raise ClosureError(
            f"{mechanism.name} does not close near this guess"
            + (f" with {_listed([mechanism.joint_name(k) for k in held])} held" if held else "")
            + f": the nearest position found leaves a gap of {widest:.3g} m. {why}",
            widest,
        )
    return q, rank
