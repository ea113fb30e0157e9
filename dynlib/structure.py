r"""Structure: what the equations of motion of every arm have in common.

.. math:: \tau = M(q)\,\ddot q + C(q,\dot q)\,\dot q + g(q) + \text{friction} - J^\top F

The mass matrix is symmetric and positive definite; with C from the Christoffel symbols :math:`\dot M-2C` is
skew-symmetric; and the torques are linear in the inertial parameters. Everything is read off the recursion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dynlib import newton_euler
from dynlib.acceleration import jacobian_derivative, outward
from dynlib.algebra.arrays import (
    Array,
    apply,
    as_array,
    as_exact,
    cross,
    dot,
    finite,
    is_symbolic,
    matrix,
    nought,
    transpose,
    zeros,
)
from dynlib.frames import Z, position, rotation
from dynlib.given import shown
from dynlib.model.links import Body, exact_identity
from dynlib.model.robot import Robot, refuse_no_robot
from dynlib.newton_euler import LinkForces
from dynlib.velocity import Axes, at_rest, jacobian, no_load


def _motion_alone(robot: Robot, q: Array, dq: Array, ddq: Array) -> tuple[LinkForces, ...]:
    """Run the recursion without weight and without loads."""
    newton_euler.refuse_only_zeros(robot, robot.known_bodies(), [])
    exact = robot.is_symbolic
    weightless = zeros(like=robot.gravity)
    return newton_euler.propagate(
        robot, q, dq, ddq, weightless, no_load(exact), (), at_rest(exact), newton_euler.Steps()
    )


def _units(robot: Robot) -> Array:
    """Return one row for each joint: 1 for the joint itself, 0 for the others."""
    return as_exact(np.eye(robot.n)) if robot.is_symbolic else np.eye(robot.n)


def mass_matrix(robot: Robot, q: Any) -> Array:
    r"""Return the mass matrix: its column k holds the torques of a unit acceleration of joint k, at rest.

    Then the links from k on move as one rigid body, and those before it stand still. So the column asks for the force
    that accelerates this composite body, and for its moments about the joint axes before it.

    Args:
        robot: the arm; every link needs a mass (0 is allowed). Rotors count with :math:`G^2J`.
        q: joint values, shape (..., N), in rad or m.

    Returns:
        :math:`M(q)`, shape (..., N, N), in kg m² (kg, kg m).

    Raises:
        ValueError: a wrong length, shape or number, or a link without mass data.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> mass_matrix(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10), [0, 0])
    array([[5., 2.],
           [2., 1.]])
    """
    refuse_no_robot(robot)
    (q,) = robot.state(q=q)
    bodies = robot.known_bodies()
    newton_euler.refuse_only_zeros(robot, bodies, [])
    with np.errstate(over="ignore", invalid="ignore"):
        return finite(_mass_matrix(robot, bodies, robot.transforms_at(q)), "the mass matrix", robot, q=q)


def _mass_matrix(robot: Robot, bodies: Sequence[Body], transforms: Sequence[Array]) -> Array:
    """Go from the last link inward; m, h and I are mass, first moment and inertia of what is beyond, about {k}."""
    M: list[list[Any]] = [[None] * robot.n for _ in bodies]
    m, h, I = nought(bodies[0].mass), nought(bodies[0].com), nought(bodies[0].inertia)
    for k in reversed(range(robot.n)):
        body, link = bodies[k], robot.links[k]
        m, h, I = _carried(m, h, I, transforms[k + 1] if k + 1 < robot.n else exact_identity(robot.gravity))
        m, h, I = m + body.mass, h + body.com * body.mass, I + body.inertia + body.of_its_mass_at(body.com)
        alpha, a = Z * link.turn, Z * link.slide  # of the unit acceleration of joint k
        f, n = cross(alpha, h) + a * m, apply(I, alpha) + cross(h, a)  # Newton and Euler, about the origin of {k}
        for j in range(k, -1, -1):
            M[j][k] = M[k][j] = dot(n, Z * robot.links[j].turn) + dot(f, Z * robot.links[j].slide)
            R, p = rotation(transforms[j]), position(transforms[j])
            f = apply(R, f)
            n = apply(R, n) + cross(p, f)
        if link.motor is not None:
            M[k][k] = M[k][k] + link.motor.inertia * link.motor.gear**2
    return matrix(M)


def _carried(m: Array, h: Array, I: Array, T: Array) -> tuple[Array, Array, Array]:
    """Return mass, first moment and inertia about the origin, of the same body in the parent frame."""
    R, p = rotation(T), position(T)
    h_turned = apply(R, h)
    unit = as_exact(np.eye(3)) if is_symbolic(I) else np.eye(3)
    about = np.asarray(2 * dot(p, h_turned) + dot(p, p) * m)  # Steiner, with the first moment about the old origin
    mixed = p[..., :, None] * (h_turned + p * m)[..., None, :] + h_turned[..., :, None] * p[..., None, :]
    return m, h_turned + p * m, R @ I @ transpose(R) + about[..., None, None] * unit - mixed


def velocity_torque(robot: Robot, q: Any, dq: Any) -> Array:
    r"""Return the torques of the velocity products alone, :math:`C(q,\dot q)\dot q`.

    Args:
        robot: the arm; every link needs a mass (0 is allowed).
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.

    Returns:
        :math:`C\dot q`, shape (..., N), in N m or N; the same for every C.

    Raises:
        ValueError: a wrong length, shape or number, or a link without mass data.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> velocity_torque(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10), [0, np.pi / 2], [1, 0]).round(12)
    array([0., 1.])
    """
    refuse_no_robot(robot)
    q, dq = robot.state(q=q, dq=dq)
    return _velocity_torque(robot, q, dq)


def _velocity_torque(robot: Robot, q: Array, dq: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        links = _motion_alone(robot, q, dq, nought(dq))
        return finite(np.stack([link.tau for link in links], axis=-1), "the torque", robot, q=q, dq=dq)


def coriolis_matrix(robot: Robot, q: Any, dq: Any) -> Array:
    r"""Return the matrix C of Christoffel symbols, of all C with the same :math:`C\dot q` the one with skew
    :math:`\dot M-2C`.

    With :math:`h(\dot q)=C\dot q`, a quadratic form, its column j is
    :math:`\tfrac14[h(\dot q+e_j)-h(\dot q-e_j)]`: no derivative is needed.

    Args:
        robot: the arm; every link needs a mass (0 is allowed).
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.

    Returns:
        :math:`C(q,\dot q)`, shape (..., N, N), in kg m²/s.

    Raises:
        ValueError: a wrong length, shape or number, or a link without mass data.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> C = coriolis_matrix(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10), [0, np.pi / 2], [1, 2])
    >>> C.round(12)
    array([[-2., -3.],
           [ 1.,  0.]])
    """
    refuse_no_robot(robot)
    q, dq = robot.state(q=q, dq=dq)
    q, dq = q[..., None, :], dq[..., None, :]
    size = _size_of(dq)  # steps as large as the rates themselves lose no digits
    step = size * _units(robot)
    h = _velocity_torque(robot, q, np.concatenate([dq + step, dq - step], axis=-2))
    return transpose((h[..., : robot.n, :] - h[..., robot.n :, :]) / (4 * size))


def _size_of(rates: Array) -> Any:
    """Return the largest rate of each state, shape (..., 1, 1); 1 at rest and for symbols."""
    if is_symbolic(rates):
        return 1
    largest = np.abs(rates).max(axis=-1, keepdims=True)
    return np.where(largest > 0, largest, 1.0)


def gravity_torque(robot: Robot, q: Any) -> Array:
    r"""Return the torques that hold an arm at rest against its weight.

    Args:
        robot: the arm; every link needs a mass (0 is allowed).
        q: joint values, shape (..., N), in rad or m.

    Returns:
        :math:`g(q)`, shape (..., N), in N m or N.

    Raises:
        ValueError: a wrong length, shape or number, or a link without mass data.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> gravity_torque(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10), [0, 0])
    array([30., 10.])
    """
    refuse_no_robot(robot)
    (q,) = robot.state(q=q)
    return newton_euler.inverse_dynamics(robot, q, 0 * q, 0 * q)


PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
"""Inertial parameters of a link, which are mass, first moment, and inertia about the *origin* of the link frame."""


def parameters(robot: Robot) -> Array:
    r"""Return the inertial parameters of all links, in which the torques are linear.

    Args:
        robot: the arm; every link needs a mass (0 is allowed).

    Returns:
        :math:`\pi`, shape (10 N,): for each link :data:`PARAMETERS`, in kg, kg m and kg m²; the inertia is taken about
        the origin of the link frame, in its axes.

    Raises:
        ValueError: a link without mass data.

    >>> from dynlib import robots
    >>> parameters(robots.planar_2r(L1=1, L2=2, m1=3, m2=1, g=10))[:7]
    array([3., 3., 0., 0., 0., 3., 3.])
    """
    refuse_no_robot(robot)
    found: list[Any] = []
    for body in robot.known_bodies():
        about_origin = body.inertia + body.of_its_mass_at(body.com)
        found += [body.mass.item(), *(body.com * body.mass)]
        found += [about_origin[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return np.array(found, dtype=robot.gravity.dtype)


ORDERS = {
    "dynlib": PARAMETERS,
    "pinocchio": ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"),
    "symoro": ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "mx", "my", "mz", "m"),
}
"""The ten parameters of a link in the order of others, by name; the inertia is always about the origin of the link
frame, and the products are the entries of its matrix, such as minus the integral of x y."""


def reordered(values: Any, given: str, wanted: str) -> Array:
    r"""Return inertial parameters, or columns of a regressor, in the order of another program.

    Args:
        values: shape (..., 10 N).
        given: the order in which they come, one of :data:`ORDERS`.
        wanted: the order that is wanted.

    Returns:
        The same shape.

    Raises:
        ValueError: an unknown order, or a number of values that is no multiple of ten.

    >>> reordered(np.arange(10), "dynlib", "pinocchio")  # m, first moment, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
    array([0, 1, 2, 3, 4, 7, 5, 8, 9, 6])
    """
    for order in (given, wanted):
        if order not in ORDERS:
            raise ValueError(f"there is no order {order!r}; expected one of {', '.join(ORDERS)}.")
    values = np.asarray(values)
    if values.ndim < 1 or values.shape[-1] % 10:
        raise ValueError(f"the parameters have the shape {values.shape}; expected ten for each link, (..., 10 N).")
    places = [ORDERS[given].index(name) for name in ORDERS[wanted]]
    links = values.reshape(*values.shape[:-1], -1, 10)
    return np.asarray(links[..., places].reshape(values.shape))


def with_parameters(robot: Robot, values: Any) -> Robot:
    r"""Return the arm with other inertial parameters, such as identified ones; its motors and its payload are left out.

    Args:
        robot: the arm; its joints, gravity, base and tool count.
        values: :math:`\pi`, shape (10 N,), in the order of :func:`parameters`. No real body need have them: what an
            identification finds are often combinations.

    Returns:
        The arm whose torques are :math:`Y\pi`.

    Raises:
        ValueError: a wrong length, a number that is not finite, or a first moment without a mass.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> heavier = with_parameters(arm, 2 * parameters(arm))
    >>> newton_euler.inverse_dynamics(heavier, [0, 0], [0, 0], [0, 0])
    array([60., 20.])
    """
    refuse_no_robot(robot)
    pi = as_array(values, "values", (None,))
    if len(pi) != 10 * robot.n:
        raise ValueError(f"values has {len(pi)} entries; {robot.name} has {robot.n} links, with ten parameters each.")
    links = []
    for link, (m, mx, my, mz, xx, yy, zz, xy, xz, yz) in zip(robot.links, pi.reshape(-1, 10), strict=True):
        body = Body.about_origin(m, [mx, my, mz], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], allow_impossible=True)
        links.append(replace(link, body=body, motor=None))
    return replace(robot, links=links, payload=None)


def parameters_of_base(robot: Robot, B: Any, values: Any) -> Array:
    r"""Return inertial parameters that have given base parameters, :math:`B\pi`: those nearest to masses of 1 kg.

    Many arms have the same base parameters and the same torques; :func:`with_parameters` makes one of them.

    Args:
        robot: the arm.
        B: shape (b, 10 N), as :func:`base_parameters` returns it.
        values: the base parameters, shape (b,).

    Returns:
        :math:`\pi`, shape (10 N,).

    Raises:
        ValueError: a wrong shape.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> B = base_parameters(arm)
    >>> again = with_parameters(arm, parameters_of_base(arm, B, B @ parameters(arm)))
    >>> newton_euler.inverse_dynamics(again, [0, 0], [0, 0], [0, 0]).round(9)
    array([30., 10.])
    """
    refuse_no_robot(robot)
    B, beta = as_array(B, "B", (None, 10 * robot.n)), as_array(values, "values", (None,))
    if len(B) != len(beta):
        raise ValueError(f"B has {len(B)} rows and values {len(beta)} entries; expected as many.")
    near = np.tile([1.0] + [0.0] * 9, robot.n)
    return near + np.linalg.pinv(B) @ (beta - B @ near)


def regressor(robot: Robot, q: Any, dq: Any, ddq: Any) -> Array:
    r"""Return the regressor: the torques of every inertial parameter alone, :math:`\tau=Y(q,\dot q,\ddot q)\,\pi`.

    Args:
        robot: the arm; only its joints and gravity count, no masses and no motors.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        ddq: joint accelerations, shape (..., N), in rad/s² or m/s².

    Returns:
        Y, shape (..., N, 10 N); its columns go with :func:`parameters`.

    Raises:
        ValueError: a wrong length, shape or number.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> regressor(arm, [0, 0], [0, 0], [0, 0]) @ parameters(arm)
    array([30., 10.])
    """
    refuse_no_robot(robot)
    q, dq, ddq = robot.state(q=q, dq=dq, ddq=ddq)
    with np.errstate(over="ignore", invalid="ignore"):
        return finite(_regressor(robot, q, dq, ddq), "the regressor", robot, q=q, dq=dq, ddq=ddq)


def _regressor(robot: Robot, q: Array, dq: Array, ddq: Array) -> Array:
    moving = outward(robot, q, dq, ddq)
    g = apply(transpose(rotation(robot.base)), robot.gravity)
    felt = [g := apply(transpose(rotation(motion.T)), g) for motion in moving]
    columns: list[Array] = []
    for i, (motion, g) in enumerate(zip(moving, felt, strict=True)):
        for force, moment in _unit_loads(motion.omega, motion.domega, motion.dv - g):
            f, n, rows = force, moment, [0 * q[..., 0]] * robot.n
            for j in range(i, -1, -1):
                link, T = robot.links[j], moving[j].T
                rows[j] = (n * link.turn + f * link.slide) @ Z
                f = apply(rotation(T), f)
                n = apply(rotation(T), n) + cross(position(T), f)
            columns.append(np.stack(np.broadcast_arrays(*map(np.asarray, rows)), axis=-1))
    return np.stack(columns, axis=-1)


def _unit_loads(omega: Array, domega: Array, a: Array) -> list[tuple[Array, Array]]:
    """Return force and moment about the origin that each unit parameter of a link asks for; ``a`` is felt there."""
    zero, loads = 0 * a, [(a, 0 * a)]
    for k in range(3):
        e = np.array([int(k == i) for i in range(3)]) + zero
        loads.append((cross(domega, e) + cross(omega, cross(omega, e)), cross(e, a)))
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        unit = np.zeros((3, 3), dtype=int)
        unit[i, j] = unit[j, i] = 1
        unit = unit.astype(a.dtype) if is_symbolic(a) else unit.astype(float)
        loads.append((zero, apply(unit, domega) + cross(omega, apply(unit, omega))))
    return loads


def base_parameters(robot: Robot, *, samples: int = 200, seed: int = 1) -> Array:
    r"""Find which combinations of the inertial parameters can be told from torques at all.

    One column of the regressor after the other is asked whether it brings anything that the ones before it do not.

    Args:
        robot: the arm, of floats; only its joints and gravity count.
        samples: number of random states.
        seed: of the random states.

    Returns:
        B, shape (b, 10 N), in reduced row echelon form: :math:`B\pi` are the base parameters, and
        :math:`\tau=Y_bB\pi` with the columns of Y that go with the first entry 1 of each row, which are
        ``Y[..., (B != 0).argmax(axis=1)]``.

    Raises:
        ValueError: the robot holds symbols, or too few samples.

    >>> from dynlib import robots
    >>> base_parameters(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)).shape  # six combinations matter in the plane
    (6, 20)
    """
    refuse_no_robot(robot)
    if robot.is_symbolic:
        raise ValueError(f"{robot.name} holds symbols; give them numbers with robot.subs(...) first.")
    if samples < 10:
        raise ValueError(f"samples is {samples}; expected at least 10, as many as a link has parameters.")
    states = np.random.default_rng(seed).uniform(-1, 1, (3, samples, robot.n)) * np.array([np.pi, 2, 4])[:, None, None]
    Y = np.linalg.qr(regressor(robot, *states).reshape(-1, 10 * robot.n)).R  # fewer rows, the same dependences
    kept, known = [], np.zeros((len(Y), 0))  # columns that bring something new, and unit vectors that span them
    for k, column in enumerate(Y.T):
        new = column - known @ (known.T @ column)
        new = new - known @ (known.T @ new)  # again, for the digits
        if np.linalg.norm(new) > _NOTHING_NEW * np.linalg.norm(Y, axis=0).max():
            kept.append(k)
            known = np.column_stack([known, new / np.linalg.norm(new)])
    B = np.linalg.lstsq(Y[:, kept], Y, rcond=None)[0]
    B[:, kept] = np.eye(len(kept))
    B[np.abs(B) < _NOTHING_NEW] = 0
    return B


_NOTHING_NEW = 1e-9
"""What is left of a column that depends on others, relative to the largest column (dimensionless)."""


def operational_inertia(robot: Robot, q: Any, *, rows: Any = slice(None), axes: Axes = "world") -> Array:
    r"""Return the inertia that somebody feels who pushes at the tip, :math:`\Lambda=(JM^{-1}J^\top)^{-1}`.

    Args:
        robot: the arm, of floats, not in a singular position.
        q: joint values, shape (..., N), in rad or m.
        rows: which rows of the Jacobian count, such as ``[0, 1]`` for the plane or ``0`` for one direction.
        axes: in which axes the tip is described, as in :func:`dynlib.velocity.jacobian`.

    Returns:
        :math:`\Lambda`, shape (..., r, r), in kg (kg m, kg m²).

    Raises:
        ValueError: the robot holds symbols, the arm cannot move the tip in all these directions here, or something
            moves without any inertia.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> operational_inertia(arm, [0, np.pi / 2], rows=[0, 1]).round(12) + 0.0
    array([[1., 0.],
           [0., 2.]])
    """
    refuse_no_robot(robot)
    if robot.is_symbolic:
        raise ValueError(f"{robot.name} holds symbols; give them numbers with robot.subs(...) first.")
    (q,) = robot.state(q=q)
    M = mass_matrix(robot, q)
    refuse_singular(robot, q, M)
    lengths = _Sizes.of(robot).length(q)[..., None, None]
    unit = np.concatenate([np.broadcast_to(lengths, (*q.shape[:-1], 3, 1)), np.ones((*q.shape[:-1], 3, 1))], axis=-2)
    scale = 1 / np.sqrt(reference_inertia(robot, q))[..., None, :]
    J = jacobian(robot, q, axes=axes) / unit * scale  # all rows in rad, for joint rates of equal kinetic energy
    root = np.linalg.cholesky(M * scale * transpose(scale))
    every = transpose(np.linalg.solve(root, transpose(J)))  # J M^(-1/2): its rank is that of the motions of the tip
    try:
        chosen = np.atleast_1d(np.arange(6)[rows])
    except (IndexError, TypeError):
        raise ValueError(f"rows is {shown(rows)}; expected some of 0 to 5, such as [0, 1] for the x-y plane.") from None
    moved, unit = every[..., chosen, :], unit[..., chosen, :]
    if len(chosen) > robot.n:
        stuck = np.ones(q.shape[:-1], dtype=bool)
    else:
        least = np.linalg.svd(moved, compute_uv=False)[..., -1]
        stuck = ~(least > _STUCK * np.linalg.norm(every, 2, axis=(-2, -1)))
    if stuck.any():
        raise ValueError(
            f"{robot.name} cannot move its tip in all {len(chosen)} directions at q = {q[stuck][0].tolist()}: a "
            f"singular position, or more than {robot.n} joints can do; leave out directions, with rows=[0, 1] say."
        )
    R = np.linalg.qr(transpose(moved)).R
    half = np.linalg.solve(transpose(R), np.eye(len(chosen)) / unit)  # J M^-1 J^T = R^T R
    return transpose(half) @ half


def operational_bias(
    robot: Robot, q: Any, dq: Any, *, rows: Any = slice(None), axes: Axes = "world"
) -> tuple[Array, Array]:
    r"""Return what the tip needs beside its acceleration, :math:`F=\Lambda\ddot x+\mu+p`: the Cartesian C and g.

    .. math:: \mu = \Lambda\,(J M^{-1} C\dot q - \dot J\dot q),\qquad p = \Lambda J M^{-1} g

    Args:
        robot: the arm, of floats, not in a singular position.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        rows: which rows of the Jacobian count, as in :func:`operational_inertia`.
        axes: ``"world"`` or ``"base"``.

    Returns:
        :math:`\mu` and p, each of shape (..., r), in N (N m).

    Raises:
        ValueError: as :func:`operational_inertia`, or other axes.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> mu, p = operational_bias(arm, [0, np.pi / 2], [0, 0], rows=[0, 1])
    >>> p.round(12) + 0.0  # links of point masses: the upright one hangs on the tip, the level one needs 10 N more
    array([ 0., 20.])
    """
    Lambda = operational_inertia(robot, q, rows=rows, axes=axes)
    dJ = jacobian_derivative(robot, q, dq, axes=axes)[..., rows, :]
    q, dq = robot.state(q=q, dq=dq)
    J, M = jacobian(robot, q, axes=axes)[..., rows, :], mass_matrix(robot, q)
    if J.ndim == Lambda.ndim - 1:  # a single row
        J, dJ = J[..., None, :], dJ[..., None, :]

    def felt(torque: Array) -> Array:
        return J @ np.linalg.solve(M, torque[..., None])

    mu = Lambda @ (felt(velocity_torque(robot, q, dq)) - dJ @ dq[..., None])
    return mu[..., 0], (Lambda @ felt(gravity_torque(robot, q)))[..., 0]


_STUCK = 1e-12
"""Least singular value of the tip's motions, relative to the largest, all in rad (dimensionless)."""


# ---- Is there inertia at all? ----------------------------------------------------------------------

REGULAR = 1e-13
"""Least inertia against which torques determine accelerations, relative to the reference inertias (dimensionless).
Rounding leaves some 1e-15 where there is none; 1e-5 rad beside a position without inertia there is some 1e-11."""

_SMALLEST = 1e-6  # m; no arm is smaller, so that a length of 1e-17, left by lengths that cancel, is not taken for one


@dataclass(frozen=True)
class _Sizes:
    """What the reference inertias of an arm are made of.

    Attributes:
        own: traces of inertia beyond each joint, which only turning ones feel, and its rotor, shape (N,), in kg m²
            (kg).
        mass: beyond each joint, shape (N,), in kg.
        turning: 1 for a revolute joint, shape (N,).
        fixed: lengths of the arm from joint 1 on, in m.
    """

    own: Array
    mass: Array
    turning: Array
    fixed: float

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, robot: Robot) -> "_Sizes":
        """Read them off the data of an arm of floats."""
        bodies, motors = robot.known_bodies(), [link.motor for link in robot.links]
        turning = np.array([float(link.turn) for link in robot.links])
        rotors = [0.0 if motor is None else float(motor.inertia * motor.gear**2) for motor in motors]
        masses, traces = ([float(np.abs(part).sum()) for part in parts] for parts in (
            [body.mass for body in bodies], [np.diagonal(body.inertia) for body in bodies]))  # fmt: skip
        beyond = np.cumsum(np.array([masses, traces])[:, ::-1], axis=-1)[:, ::-1]
        lengths = [*(position(link.fixed) for link in robot.links[1:]), position(robot.tool)]
        lengths += [body.com for body in bodies]
        fixed = _SMALLEST + float(sum(map(np.linalg.norm, lengths)))
        return cls(turning * beyond[1] + rotors, beyond[0], turning, fixed)

    def length(self, q: Array) -> Array:
        """Return the sum of all lengths of the arm, with those of the sliding joints after the first, shape (...,)."""
        return np.asarray(self.fixed + (np.abs(q) * (1 - self.turning))[..., 1:].sum(axis=-1))


def reference_inertia(robot: Robot, q: Array) -> Array:
    r"""Return an inertia for each joint against which what it feels can be measured: with all mass beyond it far out.

    For a revolute joint that is the mass beyond it times the square of the arm's size, the sum of its lengths, and
    the traces of inertia beyond it; for a prismatic one the mass beyond it; and the rotor. It is 0 if nothing beyond
    the joint has mass or inertia. The mass matrix has no entry :math:`M_{ij}` larger than the root of the product of
    those of joints i and j, and its rounding errors are as many times smaller as floats allow.

    Args:
        robot: the arm, of floats; every link needs a mass (0 is allowed).
        q: joint values, shape (..., N), in rad or m.

    Returns:
        Shape (..., N), in kg m² (revolute) or kg (prismatic).

    Raises:
        ValueError: a link without mass data.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)  # the sum of lengths, with the mass centres, is 4 m
    >>> reference_inertia(arm, np.zeros(2)).round(3)
    array([32., 16.])
    """
    sizes = _Sizes.of(robot)
    arm = np.where(sizes.turning, sizes.length(q)[..., None], 1.0)
    return np.asarray(sizes.own + sizes.mass * arm**2)


def refuse_singular(robot: Robot, q: Array, M: Array) -> None:
    """Raise an error for the first state in which something can move without inertia, exactly or but for rounding.

    Args:
        robot: the arm, of floats.
        q: joint values, shape (..., N), in rad or m.
        M: mass matrices of these states, shape (..., N, N).

    Raises:
        ValueError: the least inertia is less than :data:`REGULAR` of the reference inertias; the message names the
            joints that nothing resists, the links at fault and the state.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=0, m2=1, g=10)
    >>> bent, folded = np.array([[0, np.pi / 2], [0, np.pi]])
    >>> refuse_singular(arm, bent, mass_matrix(arm, bent))
    >>> refuse_singular(arm, folded, mass_matrix(arm, folded))
    Traceback (most recent call last):
    ValueError: the mass matrix of planar 2R is singular at q = [0.0, 3.141592653589793]: joint 1 can move without...
    """
    values, motions, size = _relative_inertias(robot, q, M)
    bad = ~(values[..., 0] > REGULAR)
    if bad.any():
        index = tuple(np.argwhere(bad)[0])
        turning = np.array([link.turn for link in robot.links], dtype=bool)
        motion = motions[index][:, 0] / size[index] / np.where(turning, 1.0, _Sizes.of(robot).length(q[index]))
        raise ValueError(_why_singular(robot, q[index], motion, index))


def least_inertia(robot: Robot, q: Array, M: Array) -> Array:
    """Return the least inertia that a motion of an arm feels, relative to the reference inertias.

    Args:
        robot: the arm, of floats.
        q: joint values, shape (..., N), in rad or m.
        M: mass matrices of these states, shape (..., N, N).

    Returns:
        Shape (...,), dimensionless.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=0, m2=1, g=10)
    >>> places = np.array([[0, np.pi / 2], [0, 1e-3]])
    >>> least_inertia(arm, places, mass_matrix(arm, places)) > 1e-6
    array([ True, False])
    """
    return np.asarray(_relative_inertias(robot, q, M)[0][..., 0])


def _relative_inertias(robot: Robot, q: Array, M: Array) -> tuple[Array, Array, Array]:
    """Return the inertias of an arm relative to the reference, from the least on, with their motions and the sizes."""
    finite(M, "the mass matrix", robot, q=q)
    reference = reference_inertia(robot, q)
    size = np.sqrt(np.where(reference > 0, reference, 1.0))
    values, motions = np.linalg.eigh(M / (size[..., :, None] * size[..., None, :]))
    return values, motions, size


def _why_singular(robot: Robot, q: Array, motion: Array, index: tuple[int, ...]) -> str:
    """Say which joints nothing resists, from their motion in rad, and why."""
    free = np.flatnonzero(np.abs(motion) > 1e-6 * np.abs(motion).max())
    joints = " and ".join(f"joint {i + 1}" for i in free)
    reasons = []
    for number, body in enumerate(robot.known_bodies()[free[0] :], start=int(free[0]) + 1):
        if not body.mass and not body.inertia.any():
            reasons.append(f"link {number} has neither mass nor inertia")
        elif np.linalg.eigvalsh(body.inertia)[0] <= REGULAR * np.trace(body.inertia):
            reasons.append(f"link {number} has no inertia about an axis through its mass centre")
    which = f" (state {', '.join(map(str, index))} of the batch)" if index else ""
    return (
        f"the mass matrix of {robot.name} is singular at q = {q.tolist()}{which}: {joints} can move without "
        f"resistance, for {', '.join(reasons) or 'the rotor moves against the link'}. Accelerations do not follow from "
        "torques; give the link its inertia, or the joint a motor with inertia."
    )
