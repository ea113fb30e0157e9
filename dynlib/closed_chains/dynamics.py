r"""Dynamics of closed chains, in two independent ways.

The cut mechanism obeys :math:`M\ddot q+h=S\tau+J^\top\lambda`: its chains know only their own masses, and the closures
push with the multipliers :math:`\lambda`.

- **Projection** never sees :math:`\lambda`: since :math:`J\Gamma=0`, :math:`\tau=\Gamma^\top(M\ddot q+h)`.
- **Multipliers** solve for everything at once, from :math:`J\ddot q=-\dot J\dot q`. They are the forces of the closures
  *on* the links that carry their points ``a``; the links of ``b`` feel the opposite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dynlib import newton_euler, structure
from dynlib.algebra.arrays import Array, finite, transpose
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.closed_chains import constraints, positions, velocities
from dynlib.closed_chains.constraints import constraint_bias, constraint_jacobian, refuse_open
from dynlib.closed_chains.singular import SingularPosition, mobility
from dynlib.closed_chains.walk import Walk
from dynlib.given import refuse_unknown
from dynlib.model.mechanism import Mechanism, refuse_no_mechanism
from dynlib.model.robot import Robot
from dynlib.velocity import Wrench, listed_loads

_RANK = 1e-9  # least singular value, relative to the largest
_SLIGHT = 1e-9  # reference inertia of a coordinate that has none, relative to the largest


@equation("tau", r"\tau", r"\Gamma^{\top}(M\ddot{q} + h)", source="B3.12c")
def projection(Gamma: Array, forces: Array, inputs: Sequence[int]) -> Array:
    """Torques of the inputs: each feels all that it drags along. Gamma knows already which they are."""
    return (transpose(Gamma) @ forces[..., None])[..., 0]


@equation("lambda", r"J^{\top}\lambda", r"M\ddot{q} + h - S\tau", source="B3.12c")
def closure_forces(J: Array, passive: Sequence[int], forces: Array) -> Array:
    """Multipliers: what the dependent coordinates need comes from the closures; the least, if there are several."""
    return (np.linalg.pinv(transpose(J[..., passive]), rcond=_RANK) @ forces[..., passive, None])[..., 0]


@dataclass(frozen=True)
class Steps(velocities.Steps):
    """The equations of the two chapters; a misconception is one of them replaced."""

    projection: Equation = projection
    closure_forces: Equation = closure_forces


# ---- The cut mechanism -----------------------------------------------------------------------------


def read_loads(mechanism: Mechanism, loads: Any) -> tuple[Wrench, ...]:
    """Return loads on a mechanism as a tuple, or say what was given instead.

    Args:
        mechanism: chains and closures.
        loads: a list of them.

    Raises:
        TypeError: no list, or an entry that is no :class:`~dynlib.velocity.Wrench`.
        ValueError: there is no such chain or link.
    """
    found = listed_loads(loads)
    for number, load in enumerate(found, start=1):
        mechanism.check_point(load.place, f"load {number}")
    return found


def tree_torques(mechanism: Mechanism, q: Any, dq: Any, ddq: Any, *, loads: Sequence[Wrench] = ()) -> Array:
    r"""Return what all joints of the cut mechanism would have to supply for a motion, :math:`M\ddot q+h`.

    Each chain is computed alone, by the recursion; friction of all joints counts.

    Args:
        mechanism: chains and closures; every link needs a mass (0 is allowed, but not for all).
        q: all joint values, shape (..., n), in rad or m.
        dq: all joint rates, shape (..., n), in rad/s or m/s.
        ddq: all joint accelerations, shape (..., n), in rad/s² or m/s².
        loads: what the surroundings put *on* the mechanism.

    Returns:
        Shape (..., n), in N m or N.

    Raises:
        ValueError: a wrong length, shape or number, a link without mass data, or nothing that has mass.
        TypeError: floats beside symbols.
    """
    refuse_no_mechanism(mechanism)
    q, dq, ddq = mechanism.state(q=q, dq=dq, ddq=ddq)
    loads = read_loads(mechanism, loads)
    if not any(map(has_inertia, mechanism.chains)) and not loads:
        raise ValueError(f"no link of {mechanism.name} has a mass or an inertia; dynamics would only give zeros.")
    pieces = zip(mechanism.chains, *map(mechanism.parts, (q, dq, ddq)), strict=True)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [newton_euler.torques(*piece) if has_inertia(piece[0]) else 0 * piece[1] for piece in pieces]
    found = np.concatenate(parts, axis=-1)
    walk = Walk(mechanism, q)
    for load in loads:
        with np.errstate(over="ignore", invalid="ignore"):
            found = found - walk.joint_forces(load)
    return finite(found, "the torque of the cut mechanism", mechanism, q=q, dq=dq, ddq=ddq, loads=loads)


@lru_cache(maxsize=64)
def has_inertia(chain: Robot) -> bool:
    """Say whether anything of a chain has a mass or a motor; a massless one asks for nothing.

    Args:
        chain: an open chain whose links have mass data.
    """
    motors = [link.motor for link in chain.links if link.motor is not None]
    arrays = [array for body in chain.known_bodies() for array in (body.mass, body.inertia)]
    arrays += [array for motor in motors for array in (motor.inertia, motor.viscous, motor.coulomb)]
    return any(bool(np.any(array != 0)) for array in arrays)


def tree_mass_matrix(mechanism: Mechanism, q: Any) -> Array:
    """Return the mass matrix of the cut mechanism: one block for each chain.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m.

    Returns:
        M, shape (..., n, n).

    Raises:
        ValueError: a wrong length, shape or number, or a link without mass data.
    """
    refuse_no_mechanism(mechanism)
    (q,) = mechanism.state(q=q)
    M = 0 * q[..., None, :] * np.ones((mechanism.n, 1), dtype=int)
    for first, chain, part in zip(mechanism.first, mechanism.chains, mechanism.parts(q), strict=True):
        if has_inertia(chain):
            M[..., first : first + chain.n, first : first + chain.n] = structure.mass_matrix(chain, part)
    return M


# ---- Projection ------------------------------------------------------------------------------------


def inverse_dynamics(
    mechanism: Mechanism,
    q: Any,
    du: Any,
    ddu: Any,
    *,
    loads: Sequence[Wrench] = (),
    steps: Steps = Steps(),
    **unknown: Any,
) -> Array:
    r"""Return the torques and forces that the inputs must supply for a motion (B3.12c), by projection.

    Args:
        mechanism: chains and closures; every link needs a mass (0 is allowed, but not for all).
        q: a closed position, shape (..., n), in rad or m.
        du: rates of the inputs, shape (..., m), in rad/s or m/s.
        ddu: accelerations of the inputs, shape (..., m), in rad/s² or m/s².
        loads: what the surroundings put *on* the mechanism.
        steps: the equations, for trying a wrong one.
        **unknown: nothing; other names are refused.

    Returns:
        :math:`\tau=\Gamma^\top(M\ddot q+h)`, shape (..., m), in N m (revolute) or N (prismatic).

    Raises:
        ClosureError: q does not close the chains.
        SingularPosition: the inputs do not determine the motion there, and their torques cannot hold every load.
        ValueError: a wrong length, shape or number, a link without mass data; or the number of inputs is not the
            mobility.

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1], gravity=[0, -10, 0])
    >>> q = bars.positions([0.5], mode=[1])  # a parallelogram: the middle of every bar is lifted by cos 0.5
    >>> inverse_dynamics(bars, q, [0], [0]) / np.cos(0.5)
    array([20.])
    """
    refuse_other_steps(steps, Steps)
    refuse_unknown(unknown, ("loads", "steps"))
    q, dq, ddq, Gamma = velocities.motion_of(mechanism, q, du, ddu, steps=steps)
    forces = tree_torques(mechanism, q, dq, ddq, loads=loads)
    tau = np.asarray(steps.projection(Gamma, forces, mechanism.u))
    return finite(tau, "the torque", mechanism, q=q, du=du, ddu=ddu, loads=loads)


def forward_dynamics(
    mechanism: Mechanism,
    q: Any,
    du: Any,
    tau: Any,
    *,
    loads: Sequence[Wrench] = (),
    steps: Steps = Steps(),
    **unknown: Any,
) -> Array:
    r"""Return the accelerations of the inputs that torques cause, by projection.

    .. math:: \Gamma^\top M\Gamma\,\ddot u = \tau - \Gamma^\top(M\ddot q_0+h),

    where :math:`\ddot q_0` are the accelerations while the inputs are not accelerated.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        du: rates of the inputs, shape (..., m), in rad/s or m/s.
        tau: torques or forces of the inputs, shape (..., m), in N m or N.
        loads: what the surroundings put *on* the mechanism.
        steps: the equations, for trying a wrong one.
        **unknown: nothing; other names are refused.

    Returns:
        :math:`\ddot u`, shape (..., m), in rad/s² or m/s².

    Raises:
        ClosureError, SingularPosition: as :func:`inverse_dynamics`.
        ValueError: as there, or an input that moves without any inertia.

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
    >>> q = bars.positions([0.5], mode=[1])  # crank and rocker turn, the coupler shifts: 1/3 + 1/3 + 1 kg m^2
    >>> forward_dynamics(bars, q, [0], [5]).round(12)
    array([3.])
    """
    refuse_other_steps(steps, Steps)
    constraints.refuse_symbols(mechanism, "forward_dynamics")
    refuse_unknown(unknown, ("loads", "steps"))
    tau = mechanism.input_values("tau", tau)
    q, dq, ddq, Gamma = velocities.motion_of(mechanism, q, du, 0 * np.asarray(tau), steps=steps)
    bias = steps.projection(Gamma, tree_torques(mechanism, q, dq, ddq, loads=loads), mechanism.u)
    refuse_weightless(mechanism, q, Gamma)
    M = transpose(Gamma) @ tree_mass_matrix(mechanism, q) @ Gamma
    found = np.asarray(np.linalg.solve(M, (tau - bias)[..., None])[..., 0])
    return finite(found, "the acceleration", mechanism, q=q, du=du, tau=tau, loads=loads)


def reduced_mass_matrix(mechanism: Mechanism, q: Any) -> Array:
    r"""Return the mass matrix that the inputs feel, :math:`\Gamma^\top M\Gamma`.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.

    Returns:
        Shape (..., m, m), in kg m² (kg, kg m).

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`inverse_dynamics`.
    """
    refuse_no_mechanism(mechanism)
    Gamma = velocities.gamma(mechanism, q)
    return transpose(Gamma) @ tree_mass_matrix(mechanism, q) @ Gamma


def tree_reference(mechanism: Mechanism, q: Array) -> Array:
    """Return an inertia for each coordinate against which what it feels can be measured; none is 0.

    What a chain has none of counts as a billionth of the largest: a heavy slider stands still at a dead centre, and
    only rounding moves it; its share is then measured against the massless crank's, which does move.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m.

    Returns:
        Shape (..., n), in kg m² (revolute) or kg (prismatic); see :func:`dynlib.structure.reference_inertia`.

    Raises:
        ValueError: a link without mass data.
    """
    pieces = zip(mechanism.chains, mechanism.parts(q), strict=True)
    found = np.concatenate([structure.reference_inertia(*piece) for piece in pieces], axis=-1)
    unit = mechanism.in_metres(np.ones(mechanism.n))
    largest = (found * unit**2).max(axis=-1, keepdims=True)
    return np.maximum(found, np.where(largest > 0, _SLIGHT * largest, 1.0) / unit**2)


def least_inertia(mechanism: Mechanism, q: Array, motions: Array) -> Array:
    """Return the least inertia that a combination of motions feels, relative to the reference inertias.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m.
        motions: columns of rates that are possible, of full rank, shape (..., n, k).

    Returns:
        Shape (...,), dimensionless; 1 if there are no motions.
    """
    if not motions.shape[-1]:
        return np.ones(q.shape[:-1])
    size = np.sqrt(tree_reference(mechanism, q))
    M = tree_mass_matrix(mechanism, q) / (size[..., :, None] * size[..., None, :])
    directions = np.linalg.qr(size[..., :, None] * motions).Q
    return np.asarray(np.linalg.eigvalsh(transpose(directions) @ M @ directions)[..., 0])


def refuse_weightless(mechanism: Mechanism, q: Array, motions: Array) -> None:
    """Raise an error for the first position in which something can move without inertia, exactly or but for rounding.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n), in rad or m.
        motions: as in :func:`least_inertia`.

    Raises:
        ValueError: the least inertia is below :data:`dynlib.structure.REGULAR`.
    """
    if (bad := ~(least_inertia(mechanism, q, motions) > structure.REGULAR)).any():
        raise ValueError(
            f"{mechanism.name} can move without any inertia at q = {q[bad][0].tolist()}; accelerations do not follow "
            "from torques. Give its links masses, or its joints motors with inertia."
        )


# ---- Multipliers -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Constrained:
    r"""A motion and the forces of the closures.

    Attributes:
        ddq: accelerations of all coordinates, shape (..., n), in rad/s² or m/s².
        tau: torques of the inputs, shape (..., m), in N m or N.
        lam: multipliers :math:`\lambda`, shape (..., rows), in N: forces on the links of the points ``a``.
        redundant: names of equations that follow from the others. If there are any, ``lam`` is not unique: it is the
            smallest that does it, and only its sums over equal equations mean something.
    """

    ddq: Array
    tau: Array
    lam: Array
    redundant: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [f"{name} = {np.array2string(getattr(self, name), precision=6)}" for name in ("ddq", "tau", "lam")]
        lines += [f"redundant, so that lam is not unique: {row}" for row in self.redundant]
        return "\n".join(lines)


def with_multipliers(mechanism: Mechanism, q: Any, dq: Any, tau: Any, *, loads: Sequence[Wrench] = ()) -> Constrained:
    r"""Return accelerations and closure forces that torques cause, from all equations at once.

    .. math:: \begin{bmatrix} M & J^\top \\ J & 0 \end{bmatrix}\begin{bmatrix} \ddot q \\ -\lambda \end{bmatrix}
        = \begin{bmatrix} S\tau - h \\ -\dot J\dot q \end{bmatrix}

    No coordinate is independent here, so that it also works where the inputs do not determine the motion.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (n,), in rad or m.
        dq: rates of all coordinates that keep it closed, shape (n,); see :func:`dynlib.closed_chains.velocities.rates`.
        tau: torques or forces of the inputs, shape (m,), in N m or N.
        loads: what the surroundings put *on* the mechanism.

    Returns:
        The :class:`Constrained` motion.

    Raises:
        ClosureError: q does not close the chains.
        SingularPosition: closures lose their grip in this position.
        ValueError: rates that open the chains, a wrong length, shape or number, or a motion that nothing resists.

    >>> from dynlib.linkages import slider_crank
    >>> from dynlib.model import Point
    >>> engine = slider_crank(crank=1, rod=2, masses=[0, 0, 1])
    >>> q = engine.positions([np.pi / 2], mode=[-1])
    >>> with_multipliers(engine, q, [0, 0, 0], [1]).tau
    array([1.])
    """
    constraints.refuse_symbols(mechanism, "with_multipliers")
    (q, dq), tau = mechanism.state(q=q, dq=dq), mechanism.input_values("tau", tau)
    refuse_batched(loads)
    if q.ndim != 1 or tau.ndim != 1:
        raise ValueError(f"with_multipliers takes one state, q of shape ({mechanism.n},); got the shape {q.shape}.")
    J, redundant = _grip(mechanism, q)
    refuse_opening(mechanism, q, dq)
    refuse_weightless(mechanism, q, constraints.free_motions(mechanism, q, len(J) - len(redundant)))
    h = tree_torques(mechanism, q, dq, 0 * q, loads=loads)
    S = np.zeros((mechanism.n, mechanism.m))
    S[mechanism.u, np.arange(mechanism.m)] = 1
    M, rows = tree_mass_matrix(mechanism, q), len(J)
    matrix = np.block([[M, transpose(J)], [J, np.zeros((rows, rows))]])
    right = np.concatenate([S @ tau - h, -constraint_bias(mechanism, q, dq)])
    size = np.sqrt(tree_reference(mechanism, q))
    scale = np.concatenate([1 / size, np.full(rows, size.mean())])
    found = np.linalg.lstsq(matrix * scale[:, None] * scale, right * scale, rcond=structure.REGULAR)[0]
    return Constrained(found[: mechanism.n] * scale[: mechanism.n], tau, -(found * scale)[mechanism.n :], redundant)


def pin_forces(
    mechanism: Mechanism, q: Any, du: Any, ddu: Any, *, loads: Sequence[Wrench] = (), steps: Steps = Steps()
) -> Constrained:
    r"""Return torques and closure forces that a motion needs: :math:`M\ddot q+h=S\tau+J^\top\lambda` for
    :math:`\tau` and :math:`\lambda`.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        du: rates of the inputs, shape (..., m), in rad/s or m/s.
        ddu: accelerations of the inputs, shape (..., m), in rad/s² or m/s².
        loads: what the surroundings put *on* the mechanism.
        steps: the equations, for trying a wrong one.

    Returns:
        The :class:`Constrained` motion. ``lam`` of a :class:`~dynlib.model.closures.Pin` is the force *on* the link of
        its point ``a``.

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`inverse_dynamics`.

    >>> from dynlib.linkages import slider_crank
    >>> from dynlib.model import Point
    >>> engine = slider_crank(crank=1, rod=2, masses=[0, 0, 1])  # only the slider has a mass
    >>> q = engine.positions([0], mode=[-1])
    >>> at_rest = pin_forces(engine, q, [0], [0], loads=[Wrench.at(Point(2), force=[-5, 0, 0])])
    >>> at_rest.lam.round(12) + 0.0  # pushed to the left, the slider pushes the rod to the left
    array([-5.,  0.])
    """
    refuse_other_steps(steps, Steps)
    constraints.refuse_symbols(mechanism, "pin_forces")
    q, dq, ddq, _ = velocities.motion_of(mechanism, q, du, ddu, steps=steps)
    J = constraint_jacobian(mechanism, q)
    forces = tree_torques(mechanism, q, dq, ddq, loads=loads)
    lam = np.asarray(steps.closure_forces(J, mechanism.v, forces))
    tau = (forces - (transpose(J) @ lam[..., None])[..., 0])[..., mechanism.u]
    first = q[(0,) * (q.ndim - 1)]
    redundant = mobility(mechanism, first).redundant if J.shape[-2] > len(mechanism.v) else ()
    return Constrained(ddq, tau, lam, redundant)


def refuse_batched(loads: Sequence[Wrench]) -> None:
    """Raise an error if a load is a batch.

    Args:
        loads: for functions that take one state.

    Raises:
        ValueError: a force or moment has leading axes.
    """
    for number, load in enumerate(listed_loads(loads), start=1):
        if load.force.ndim != 1 or load.moment.ndim != 1:
            raise ValueError(f"load {number} has a batch of forces; expected one force and one moment, each (3,).")


def _grip(mechanism: Mechanism, q: Array) -> tuple[Array, tuple[str, ...]]:
    """Return J and the names of its redundant rows; refuse a position in which it loses rank."""
    walk = Walk(mechanism, q)
    refuse_open(walk)
    J = walk.J
    found = mobility(mechanism, q)
    if found.rank_here < found.rank:
        raise SingularPosition(
            f"the closure equations of {mechanism.name} have rank {found.rank} nearby and only {found.rank_here} at "
            f"q = {q.tolist()}: there the mechanism can change into another way of moving, and accelerations do not "
            "follow from torques.",
            q,
        )
    return J, found.redundant


def refuse_opening(mechanism: Mechanism, q: Any, dq: Any) -> None:
    """Raise an error if rates open the chains.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (n,), in rad or m.
        dq: rates of all coordinates, shape (n,).

    Raises:
        ClosureError: q does not close the chains.
        ValueError: the rate of a gap is not 0.
    """
    q, dq = mechanism.state(q=q, dq=dq)
    walk = Walk(mechanism, q)
    refuse_open(walk)
    opening = walk.J @ dq
    fastest = max(float(np.abs(dq).max(initial=0.0)), 1e-300)
    if np.abs(opening).max(initial=0.0) > 1e-7 * mechanism.size * fastest:
        row = int(np.abs(opening).argmax())
        raise ValueError(
            f"dq = {dq.tolist()} opens {mechanism.name}: the rate of the gap of {mechanism.rows[row]}, is "
            f"{opening[row]:.6g} m/s. Find all rates from those of the inputs with rates(mechanism, q, du)."
        )


# ---- Starts that do not fit ------------------------------------------------------------------------


def project(mechanism: Mechanism, q: Any, dq: Any = None) -> tuple[Array, Array]:
    r"""Return the nearest state that fits the closures, nearest in the measure of the masses.

    Positions are moved by :math:`-M^{-1}J^\top(JM^{-1}J^\top)^{-1}\phi` until they close, rates by the same with
    :math:`J\dot q`. Heavy links move less than light ones.

    Args:
        mechanism: chains and closures.
        q: a position that may not close, shape (n,), in rad or m.
        dq: rates that may not fit, shape (n,); 0 if left out.

    Returns:
        q and dq that fit, each (n,).

    Raises:
        ClosureError: no closed position was found near q.
        ValueError: a wrong length, shape or number, or a motion that nothing resists.
    """
    refuse_no_mechanism(mechanism)
    q, dq = mechanism.state(q=q, dq=np.zeros(mechanism.n) if dq is None else dq)
    for _ in range(20):
        phi = constraints.gap(mechanism, q)
        if np.abs(phi).max(initial=0.0) <= 1e-15 * mechanism.size:
            break
        q = q - _weighted(mechanism, q) @ phi
    if np.abs(phi).max(initial=0.0) > 1e-12 * mechanism.size:
        q = positions.close(mechanism, q, hold=())
    J = constraint_jacobian(mechanism, q)
    return q, dq - _weighted(mechanism, q) @ (J @ dq)


def _weighted(mechanism: Mechanism, q: Array) -> Array:
    """Return the matrix that turns gaps into the smallest change that closes them, in the measure of the masses."""
    M, J = tree_mass_matrix(mechanism, q), constraint_jacobian(mechanism, q)
    try:
        refuse_weightless(mechanism, q, np.eye(mechanism.n))
    except ValueError:
        raise ValueError(
            f"the mass matrix of the cut {mechanism.name} is singular; masses cannot measure which change is the "
            "smallest. Use close(mechanism, q)."
        ) from None
    across = np.linalg.solve(M, transpose(J))
    return np.asarray(across @ np.linalg.pinv(J @ across, rcond=_RANK))
