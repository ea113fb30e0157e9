"""Rates and accelerations of closed chains: what the inputs do, the other joints follow."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynlib.algebra.arrays import Array, as_exact, batches_together, finite, is_symbolic
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.closed_chains.constraints import solved
from dynlib.closed_chains.singular import regular_jacobian
from dynlib.closed_chains.walk import Walk
from dynlib.model.closures import Point
from dynlib.model.mechanism import Mechanism, refuse_no_mechanism


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
    return _gamma(mechanism, q, regular_jacobian(Walk(mechanism, q)), steps)


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
    walk = Walk(mechanism, q)
    J = regular_jacobian(walk)
    Gamma = _gamma(mechanism, q, J, steps)
    inputs = {"q": q, "du": du, "ddu": ddu}
    dq = finite((Gamma @ du[..., None])[..., 0], "the rate of a dependent joint", mechanism, **inputs)
    q, dq = np.broadcast_arrays(q, dq)
    ddq = np.zeros(dq.shape, dtype=dq.dtype)
    ddq[..., mechanism.u] = ddu
    if mechanism.v:
        with np.errstate(over="ignore", invalid="ignore"):
            bias = walk.bias(dq)
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
    mechanism.check_point(point, "the point")
    (q,) = mechanism.state(q=q)
    walk = Walk(mechanism, q)
    Gamma = _gamma(mechanism, q, regular_jacobian(walk), steps)
    return np.asarray(steps.input_jacobian(walk.point_jacobian(point), Gamma))


def point_velocity(
    mechanism: Mechanism, q: Any, du: Any, point: Point, *, steps: Steps = Steps()
) -> tuple[Array, Array]:
    r"""Return the velocity of a point of a mechanism, :math:`J_P\dot u`.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        du: rates of the inputs, shape (..., m), in rad/s or m/s.
        point: carried by any link.
        steps: the equations, for trying a wrong one.

    Returns:
        v in m/s and the angular velocity of the link in rad/s, each of shape (..., 3), in world axes.

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`gamma`.

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])  # a parallelogram
    >>> upright = bars.positions([np.pi / 2], mode=[1])
    >>> [each.round(12) + 0.0 for each in point_velocity(bars, upright, [2], Point(1))]  # the coupler does not turn
    [array([-2.,  0.,  0.]), array([0., 0., 0.])]
    """
    refuse_no_mechanism(mechanism)
    du = mechanism.input_values("du", du)
    moved = (point_jacobian(mechanism, q, point, steps=steps) @ du[..., None])[..., 0]
    return moved[..., :3], moved[..., 3:]


def point_acceleration(
    mechanism: Mechanism, q: Any, du: Any, ddu: Any, point: Point, *, steps: Steps = Steps()
) -> tuple[Array, Array]:
    r"""Return the acceleration of a point of a mechanism, :math:`J\ddot q+\dot J\dot q` of the cut one.

    Args:
        mechanism: chains and closures.
        q: a closed position, shape (..., n), in rad or m.
        du: rates of the inputs, shape (..., m), in rad/s or m/s.
        ddu: accelerations of the inputs, shape (..., m), in rad/s² or m/s².
        point: carried by any link.
        steps: the equations, for trying a wrong one.

    Returns:
        The acceleration in m/s² and the angular acceleration of the link in rad/s², each of shape (..., 3), in world
        axes.

    Raises:
        ClosureError, SingularPosition, ValueError: as :func:`gamma`.

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])  # a parallelogram
    >>> upright = bars.positions([np.pi / 2], mode=[1])
    >>> point_acceleration(bars, upright, [2], [0], Point(1))[0].round(12) + 0.0  # its coupler moves on a circle
    array([ 0., -4.,  0.])
    """
    refuse_no_mechanism(mechanism)
    mechanism.check_point(point, "the point")
    q, dq, ddq, _ = motion_of(mechanism, q, du, ddu, steps=steps)
    walk = Walk(mechanism, q)
    carried = walk.moving(dq)(point)
    assert carried.a is not None
    found = (walk.point_jacobian(point) @ ddq[..., None])[..., 0] + carried.a
    return found[..., :3], found[..., 3:]
