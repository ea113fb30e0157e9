r"""Closed chains: which coordinates of a mechanism follow from the others, and how.

Closures say :math:`\phi(q)=0`; once differentiated :math:`J\dot q=0`, twice :math:`J\ddot q+\dot J\dot q=0`. Of the
coordinates some are chosen as inputs :math:`u`; the others, :math:`v`, depend on them:

.. math:: \dot q = \Gamma\,\dot u, \qquad \Gamma = \begin{bmatrix} 1 \\ -J_v^{-1}J_u \end{bmatrix}

All vectors are written in world axes.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import sympy

from dynlib import acceleration, velocity
from dynlib.algebra.arrays import Array, as_exact, batches_together, finite, is_symbolic
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.frames import compose, transform
from dynlib.integration import Watch
from dynlib.model.closures import Carried, Point
from dynlib.model.links import exact_identity
from dynlib.model.mechanism import Input, Mechanism, refuse_no_mechanism

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


class SingularPosition(ValueError):
    """A position in which the inputs do not determine the motion, or in which closures lose their grip.

    Attributes:
        q: the position, shape (n,).
    """

    def __init__(self, message: str, q: Array):
        self.q = q
        super().__init__(message)


# ---- Points and closures in a position -------------------------------------------------------------


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
    here = transform(exact_identity(mechanism.gravity)[:3, :3], point.at)
    if not point.chain:
        return np.broadcast_to(here, (*q.shape[:-1], 4, 4))
    chain = mechanism.chains[point.chain - 1]
    return compose(compose(chain.base, chain.pose(mechanism.parts(q)[point.chain - 1], point.link)), here)


def _carried(mechanism: Mechanism, q: Array, dq: Array | None, point: Point, jacobian: bool = True) -> Carried:
    """Return what is known of a point; of rates and accelerations only if rates are given."""
    here = pose(mechanism, q, point)
    zero = 0 * q[..., None, :] + np.zeros((6, 1), dtype=int) if jacobian else None
    if not point.chain:
        still = None if dq is None else np.concatenate([0 * dq[..., :1]] * 6, axis=-1)
        return Carried(here, zero, still, still)
    chain, at = mechanism.chains[point.chain - 1], {"link": point.link, "point": point.at}
    mine = slice(mechanism.first[point.chain - 1], mechanism.first[point.chain - 1] + chain.n)
    J = zero
    if J is not None:
        J = J.copy()
        J[..., mine] = velocity.jacobian(chain, q[..., mine], **at)
    if dq is None:
        return Carried(here, J)
    v = np.concatenate(velocity.point_velocity(chain, q[..., mine], dq[..., mine], **at), axis=-1)
    a = acceleration.point_acceleration(chain, q[..., mine], dq[..., mine], 0 * dq[..., mine], **at)
    return Carried(here, J, v, np.concatenate(a, axis=-1))


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
    parts = [
        c.gap(*(_carried(mechanism, q, None, at, jacobian=False) for at in (c.a, c.b))) for c in mechanism.closures
    ]
    return _joined(parts, q, -1)


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
    parts = [c.jacobian(*(_carried(mechanism, q, None, at) for at in (c.a, c.b))) for c in mechanism.closures]
    return _joined(parts, q[..., None, :], -2)


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
    parts = [c.bias(*(_carried(mechanism, q, dq, at, jacobian=False) for at in (c.a, c.b))) for c in mechanism.closures]
    return _joined(parts, q, -1)


def _joined(parts: Sequence[Array], q: Array, axis: int) -> Array:
    """Join the equations of all closures; without any, an array of no rows."""
    nothing = (0 * q)[..., :0] if axis == -1 else (0 * q)[..., :0, :]
    return np.concatenate([nothing, *parts], axis=axis)


# ---- Dependent rates -------------------------------------------------------------------------------


@equation("Gamma", r"\Gamma_v", r"-J_v^{-1} J_u", source="B3.12c")
def dependent_rates(J_u: Array, J_v: Array) -> Array:
    """Rates of the dependent coordinates by the rates of the inputs."""
    return -solved(J_v, J_u)


@equation("ddv", r"\ddot{v}", r"-J_v^{-1}\left(J_u\,\ddot{u} + \dot{J}\dot{q}\right)", source="B3.12c")
def dependent_accelerations(J_u: Array, J_v: Array, ddu: Array, bias: Array) -> Array:
    """Accelerations of the dependent coordinates."""
    return -solved(J_v, (J_u @ ddu[..., None]) + bias[..., None])[..., 0]


@equation("J_P", r"J_P", r"\frac{\partial p_P}{\partial q}\,\Gamma", source="E34")
def input_jacobian(J: Array, Gamma: Array) -> Array:
    """Velocity of a point by the rates of the inputs, with all that these drag along."""
    return J @ Gamma


@dataclass(frozen=True)
class Steps:
    """The equations of the two chapters on closed chains; a misconception is one of them replaced."""

    dependent_rates: Equation = dependent_rates
    dependent_accelerations: Equation = dependent_accelerations
    input_jacobian: Equation = input_jacobian


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


def gamma(mechanism: Mechanism, q: Any, *, steps: Steps = Steps()) -> Array:
    r"""Return the matrix that turns the rates of the inputs into those of all coordinates, :math:`\dot q=\Gamma\dot u`.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        steps: the equations, for trying a wrong one.

    Returns:
        :math:`\Gamma`, shape (..., n, m); the rows of the inputs are those of the unit matrix.

    Raises:
        ClosureError: q does not close the chains.
        SingularPosition: the inputs do not determine the motion there.
        ValueError: a wrong length, shape or number; or the number of inputs is not the mobility.
    """
    refuse_other_steps(steps, Steps)
    refuse_no_mechanism(mechanism)
    (q,) = mechanism.state(q=q)
    return _gamma(mechanism, q, regular_jacobian(mechanism, q), steps)


def _gamma(mechanism: Mechanism, q: Array, J: Array, steps: Steps) -> Array:
    found = np.zeros((*q.shape[:-1], mechanism.n, mechanism.m), dtype=J.dtype)
    if is_symbolic(found):
        found = as_exact(np.zeros(found.shape)).copy()
    found[..., mechanism.u, :] = as_exact(np.eye(mechanism.m)) if is_symbolic(J) else np.eye(mechanism.m)
    if mechanism.v:
        found[..., mechanism.v, :] = steps.dependent_rates(J[..., mechanism.u], J[..., mechanism.v])
    return found


def rates(mechanism: Mechanism, q: Any, du: Any, *, steps: Steps = Steps()) -> Array:
    r"""Return the rates of all coordinates.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        du: rates of the inputs, shape (..., m), in rad/s or m/s.
        steps: the equations, for trying a wrong one.

    Returns:
        :math:`\dot q=\Gamma\dot u`, shape (..., n), in rad/s or m/s.

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`gamma`.
    """
    refuse_other_steps(steps, Steps)
    refuse_no_mechanism(mechanism)
    du = mechanism.input_values("du", du)
    return (gamma(mechanism, q, steps=steps) @ du[..., None])[..., 0]


def accelerations(mechanism: Mechanism, q: Any, du: Any, ddu: Any, *, steps: Steps = Steps()) -> Array:
    r"""Return the accelerations of all coordinates.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        du: rates of the inputs, shape (..., m), in rad/s or m/s.
        ddu: accelerations of the inputs, shape (..., m), in rad/s² or m/s².
        steps: the equations, for trying a wrong one.

    Returns:
        :math:`\ddot q`, shape (..., n), in rad/s² or m/s².

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`gamma`.
    """
    refuse_other_steps(steps, Steps)
    return motion_of(mechanism, q, du, ddu, steps=steps)[2]


def motion_of(
    mechanism: Mechanism, q: Any, du: Any, ddu: Any, *, steps: Steps = Steps()
) -> tuple[Array, Array, Array, Array]:
    r"""Return the whole motion that belongs to a motion of the inputs.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        du: rates of the inputs, shape (..., m), in rad/s or m/s.
        ddu: accelerations of the inputs, shape (..., m), in rad/s² or m/s².
        steps: the equations, for trying a wrong one.

    Returns:
        q, :math:`\dot q` and :math:`\ddot q`, each of shape (..., n), and :math:`\Gamma`, shape (..., n, m).

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`gamma`.
    """
    refuse_other_steps(steps, Steps)
    refuse_no_mechanism(mechanism)
    (q,), du, ddu = mechanism.state(q=q), *(mechanism.input_values(*pair) for pair in (("du", du), ("ddu", ddu)))
    _, du, ddu = batches_together(q=q, du=du, ddu=ddu)  # q stays as it came: its Jacobian is found once
    J = regular_jacobian(mechanism, q)
    Gamma = _gamma(mechanism, q, J, steps)
    inputs = {"q": q, "du": du, "ddu": ddu}
    dq = finite((Gamma @ du[..., None])[..., 0], "the rate of a dependent joint", mechanism, **inputs)
    q, dq = np.broadcast_arrays(q, dq)
    ddq = np.zeros(dq.shape, dtype=dq.dtype)
    ddq[..., mechanism.u] = ddu
    if mechanism.v:
        with np.errstate(over="ignore", invalid="ignore"):
            bias = constraint_bias(mechanism, q, dq)
            ddq[..., mechanism.v] = steps.dependent_accelerations(J[..., mechanism.u], J[..., mechanism.v], ddu, bias)
    return q, dq, finite(ddq, "the acceleration of a dependent joint", mechanism, **inputs), Gamma


def point_jacobian(mechanism: Mechanism, q: Any, point: Point, *, steps: Steps = Steps()) -> Array:
    r"""Return the Jacobian of a point: its velocity by the rates of the inputs (E34).

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        point: carried by any link.
        steps: the equations, for trying a wrong one.

    Returns:
        :math:`J_P`, shape (..., 6, m): rows 1 to 3 the velocity (m/s per rate), rows 4 to 6 the angular velocity of
        the link.

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`gamma`.
    """
    refuse_other_steps(steps, Steps)
    refuse_no_mechanism(mechanism)
    Gamma = gamma(mechanism, q, steps=steps)
    (q,) = mechanism.state(q=q)
    return np.asarray(steps.input_jacobian(_carried(mechanism, q, None, point).J, Gamma))


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
    (q,) = mechanism.state(q=q)
    return np.asarray(_carried(mechanism, q, None, point).J)


# ---- Rank, mobility and singular positions ---------------------------------------------------------


def regular_jacobian(mechanism: Mechanism, q: Array) -> Array:
    """Return J for positions that close the chains and in which the inputs determine the motion.

    Args:
        mechanism: chains and closures.
        q: positions, shape (..., n); symbols are taken as they are.

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`gamma`.
    """
    J = constraint_jacobian(mechanism, q)
    if is_symbolic(J):
        return J
    refuse_open(mechanism, q)
    scaled = mechanism.in_metres(J)
    J_u, J_v = scaled[..., mechanism.u], scaled[..., mechanism.v]
    bad = _least(mechanism, J_v, scaled) <= SINGULAR
    if J.shape[-2] > J_v.shape[-1]:  # more equations than unknowns: they must agree whatever the inputs do
        rest = J_u - J_v @ (np.linalg.pinv(J_v) @ J_u)
        bad |= np.abs(rest).max(axis=(-1, -2), initial=0.0) > SINGULAR * _largest(mechanism, scaled)
    if bad.any():
        _explain(mechanism, q[tuple(np.argwhere(bad)[0])])
    return J


def refuse_open(mechanism: Mechanism, q: Array) -> None:
    """Raise an error for the first position that does not close the chains.

    Args:
        mechanism: chains and closures.
        q: positions of numbers, shape (..., n).

    Raises:
        ClosureError: with the largest gap.
    """
    phi = gap(mechanism, q)
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
    here = mechanism.in_metres(constraint_jacobian(mechanism, q))
    rank_here, best = _rank(mechanism, here, here), here
    if rank_here < len(here):
        best = max([here, *_jacobians_nearby(mechanism, q)], key=lambda J: _rank(mechanism, J, J))
    kept: list[int] = []
    for row in range(len(best)):
        if _rank(mechanism, best[[*kept, row]], best) > len(kept):
            kept.append(row)
    redundant = tuple(name for row, name in enumerate(mechanism.rows) if row not in kept)
    return Mobility(mechanism.n, len(here), len(kept), rank_here, redundant)


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


def _one_position(mechanism: Mechanism, q: Any, what: str) -> Array:
    """Read one closed position of numbers."""
    refuse_symbols(mechanism, what)
    (q,) = mechanism.state(q=q)
    if q.ndim != 1:
        raise ValueError(f"{what} takes one position, shape ({mechanism.n},); got the shape {q.shape}.")
    refuse_open(mechanism, q)
    return np.asarray(q)


def _jacobians_nearby(mechanism: Mechanism, q: Array) -> list[Array]:
    """Return the constraint Jacobians of a few closed positions near one, in metres."""
    found, random = [], np.random.default_rng(0)
    J = mechanism.in_metres(constraint_jacobian(mechanism, q))
    free = free_motions(mechanism, q, _rank(mechanism, J, J))
    for _ in range(4):
        step = free @ random.normal(size=free.shape[1]) if free.shape[1] else random.normal(size=mechanism.n)
        try:
            near, _ = nearest(mechanism, q + 0.02 * step / max(float(np.linalg.norm(step)), 1e-300))
        except ClosureError:
            continue
        found.append(mechanism.in_metres(constraint_jacobian(mechanism, near)))
    return found


def _explain(mechanism: Mechanism, q: Array) -> None:
    """Raise the error that says why the inputs do not determine the motion in a position."""
    found = mobility(mechanism, q)
    if found.mobility != mechanism.m:
        _refuse_number_of_inputs(mechanism, found)
    dependent = max(
        (_rank(mechanism, near[:, mechanism.v], near) for near in _jacobians_nearby(mechanism, q)), default=0
    )
    _, values, directions = np.linalg.svd(mechanism.in_metres(constraint_jacobian(mechanism, q))[:, mechanism.v])
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


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


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
    refuse_open(mechanism, q)
    J = mechanism.in_metres(constraint_jacobian(mechanism, q))
    moved = mechanism.in_metres(tree_jacobian(mechanism, q, point))
    held = np.concatenate([J, moved[..., ["xyz".index(axis) for axis in axes], :]], axis=-2)
    return Singularity(*(_signed(mechanism, A, J) for A in (J[..., mechanism.v], held)))


def _signed(mechanism: Mechanism, A: Array, J: Array) -> Array:
    """Return the least singular value of a part of a Jacobian, with the sign of its determinant if it is square."""
    least = _least(mechanism, A, J)
    return least * np.sign(np.linalg.det(A)) if A.shape[-1] == A.shape[-2] else least


# ---- Positions -------------------------------------------------------------------------------------


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
    >>> from dynlib.model import Pin
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
        return lambda q: (gap(mechanism, q), constraint_jacobian(mechanism, q))
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
    regular_jacobian(mechanism, q)
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
