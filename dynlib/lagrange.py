r"""Lagrange: the equations of motion from two energies.

:math:`\mathcal L=\mathcal K-\mathcal P`, and for every coordinate

.. math:: \frac{\mathrm d}{\mathrm dt}\frac{\partial\mathcal L}{\partial\dot q_k}
    - \frac{\partial\mathcal L}{\partial q_k} = \tau_k.

The energies may come from a robot or be typed; the coordinates may be any that fix the configuration, if they are
independent (E14). Expressions are kept in Fourier form, so that the textbook's form comes out without simplification.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from dynlib import velocity
from dynlib.algebra.arrays import Array, apply, as_floats, dot, finite, transpose
from dynlib.algebra.equation import Equation, equation, refuse_other_steps
from dynlib.algebra.fourier import Fourier, Space
from dynlib.frames import compose, position, rotation
from dynlib.model.links import exact_identity
from dynlib.model.robot import Robot, refuse_no_robot


@equation(
    "K",
    r"\mathcal{K}_{i}",
    r"\tfrac{1}{2} m_{i}\,{}^{i}v_{c_{i}}^{\top}\,{}^{i}v_{c_{i}} + "
    r"\tfrac{1}{2}\,{}^{i}\omega_{i}^{\top}\,{}^{c_{i}}I_{i}\,{}^{i}\omega_{i}",
    source="A5.3.2-7",
)
def kinetic_energy(m: Array, v_c: Array, I: Array, omega: Array) -> Array:
    """Kinetic energy of link i: of its mass centre, and of its turning about it."""
    return dot(v_c, v_c) * m / 2 + dot(omega, apply(I, omega)) / 2


@equation("p_c", r"{}^{0}p_{c_{i}}", r"{}^{0}p_{i} + {}^{0}_{i}R\,{}^{i}p_{c_{i}}", source="A5.3.2-3")
def com_position(R: Array, p: Array, p_c: Array) -> Array:
    """Position of the mass centre of link i in frame {0}."""
    return apply(R, p_c) + p


@equation("P", r"\mathcal{P}_{i}", r"-m_{i}\,{}^{0}g^{\top}\,{}^{0}p_{c_{i}}", source="A5.3.2-8")
def potential_energy(m: Array, g: Array, p_c: Array) -> Array:
    """Potential energy of link i: it grows against the direction of fall; zero at the origin of frame {0}."""
    return -dot(g, p_c) * m


@equation("L", r"\mathcal{L}", r"\mathcal{K} - \mathcal{P}", source="A5.3.2-1")
def lagrangian(K: Any, P: Any) -> Any:
    """Lagrangian: kinetic energy less potential energy."""
    return K - P


@equation("p", r"p_{i}", r"\frac{\partial\mathcal{L}}{\partial\dot{q}_{i}}", source="A5.3.2-2")
def momentum(L: Any, rate: sympy.Symbol) -> Any:
    """Momentum that belongs to a coordinate."""
    return L.diff(rate)


@equation("force", r"\frac{\partial\mathcal{L}}{\partial q_{i}}", r"\frac{\partial\mathcal{K}}{\partial q_{i}} - "
          r"\frac{\partial\mathcal{P}}{\partial q_{i}}", source="A5.3.2-2")  # fmt: skip
def coordinate_force(K: Any, P: Any, coordinate: sympy.Symbol) -> Any:
    """What a change of the coordinate alone does to the Lagrangian."""
    return K.diff(coordinate) - P.diff(coordinate)


@equation("dp", r"\dot{p}_{i}", r"\sum_{j} \frac{\partial p_{i}}{\partial q_{j}}\,\dot{q}_{j} + "
          r"\frac{\partial p_{i}}{\partial\dot{q}_{j}}\,\ddot{q}_{j}", source="A5.3.2-2")  # fmt: skip
def momentum_rate(p: Any, q: Sequence[Any], dq: Sequence[Any], ddq: Sequence[Any], by: Sequence[Any]) -> Any:
    """Rate of a momentum: through the coordinates, and through the rates; ``by`` holds both lists of symbols."""
    coordinates, rates = by
    through_q = [p.diff(symbol) * rate for symbol, rate in zip(coordinates, dq, strict=True)]
    through_dq = [p.diff(symbol) * acceleration for symbol, acceleration in zip(rates, ddq, strict=True)]
    first, *others = [*through_q, *through_dq]
    for each in others:
        first = first + each
    return first


@equation("tau", r"\tau_{i}", r"\dot{p}_{i} - \frac{\partial\mathcal{L}}{\partial q_{i}}", source="A5.3.2-2")
def lagrange_equation(dp: Any, force: Any) -> Any:
    """Generalized force that belongs to a coordinate."""
    return dp - force


@dataclass(frozen=True)
class Steps(velocity.Steps):
    """The equations of the Lagrange chapter; a misconception is one of them replaced."""

    kinetic_energy: Equation = kinetic_energy
    com_position: Equation = com_position
    potential_energy: Equation = potential_energy
    lagrangian: Equation = lagrangian
    momentum: Equation = momentum
    coordinate_force: Equation = coordinate_force
    momentum_rate: Equation = momentum_rate
    lagrange_equation: Equation = lagrange_equation


@dataclass(frozen=True, eq=False)
class Energies:
    r"""Kinetic and potential energy of an arm.

    Attributes:
        K: kinetic energy of each link, shape (..., N), in J.
        P: potential energy of each link, zero at the origin of {0}, shape (..., N), in J.
    """

    K: Array
    P: Array

    @property
    def kinetic(self) -> Array:
        """Return the kinetic energy of the arm, shape (...,), in J."""
        return np.asarray(self.K.sum(axis=-1))

    @property
    def potential(self) -> Array:
        """Return the potential energy of the arm, shape (...,), in J."""
        return np.asarray(self.P.sum(axis=-1))


def energies(robot: Robot, q: Any, dq: Any, *, steps: Steps = Steps()) -> Energies:
    r"""Return the energies of every link, from the velocity recursion (A5.3.2-7, -8 for any arm).

    Args:
        robot: the arm; every link needs a mass (0 is allowed). Its payload counts, its motors do not.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        steps: the equations, for trying a wrong one.

    Returns:
        :class:`Energies`.

    Raises:
        ValueError: a wrong length, shape or number, or a link without mass data.
        TypeError: floats beside symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> found = energies(arm, [0, 0], [1, 0])  # speeds 1 and 2 m/s
    >>> found.K
    array([0.5, 2. ])
    """
    refuse_other_steps(steps, Steps)
    refuse_no_robot(robot)
    q, dq = robot.state(q=q, dq=dq)
    with np.errstate(over="ignore", invalid="ignore"):
        found = _energies(robot, q, dq, steps)
    for name, energy in (("kinetic", found.K), ("potential", found.P)):
        finite(energy, f"the {name} energy", robot, q=q, dq=dq)
    return found


def _energies(robot: Robot, q: Array, dq: Array, steps: Steps) -> Energies:
    terms = _terms(robot, q, dq, steps)
    kinetic = [steps.kinetic_energy(m, v_c, I, omega) for m, v_c, I, omega, *_ in terms]
    potential = [steps.potential_energy(m, g, p_c) for m, *_, g, p_c in terms]
    return Energies(*(np.stack(np.broadcast_arrays(*map(np.asarray, each)), axis=-1) for each in (kinetic, potential)))


def _terms(robot: Robot, q: Array, dq: Array, steps: Steps) -> list[tuple[Array, ...]]:
    """Return what the energies of each link are made of: m, v_c, I and omega in its axes; g and p_c in those of {0}."""
    terms: list[tuple[Array, ...]] = []
    g = apply(transpose(rotation(robot.base)), robot.gravity)
    pose = exact_identity(robot.gravity)
    for body, motion in zip(robot.known_bodies(), velocity.outward(robot, q, dq, steps=steps), strict=True):
        pose = compose(pose, motion.T)
        p_c = steps.com_position(rotation(pose), position(pose), body.com)
        terms.append((body.mass, motion.v_c, body.inertia, motion.omega, g, p_c))
    return terms


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate:
    r"""What Lagrange's equation of one coordinate is made of; written out as sums of products when asked for.

    Attributes:
        found: the five quantities below as they were derived, by name.
        write: turns one of them into an expression.
    """

    found: Mapping[str, Any]
    write: Callable[[Any], sympy.Expr]

    @cached_property
    def L(self) -> sympy.Expr:
        r"""Return :math:`\mathcal L`, in J."""
        return self.write(self.found["L"])

    @cached_property
    def p(self) -> sympy.Expr:
        r"""Return the momentum :math:`\partial\mathcal L/\partial\dot q_k`, in N m s (turning) or N s (sliding)."""
        return self.write(self.found["p"])

    @cached_property
    def force(self) -> sympy.Expr:
        r"""Return :math:`\partial\mathcal L/\partial q_k`, in N m or N."""
        return self.write(self.found["force"])

    @cached_property
    def dp(self) -> sympy.Expr:
        r"""Return the rate of the momentum :math:`\dot p_k`, in N m or N."""
        return self.write(self.found["dp"])

    @cached_property
    def tau(self) -> sympy.Expr:
        r"""Return the generalized force :math:`\tau_k`, in N m or N."""
        return self.write(self.found["tau"])

    def __repr__(self) -> str:
        return f"tau = {self.tau}"


def equations(
    kinetic: Any, potential: Any, q: Sequence[Any], dq: Sequence[Any], ddq: Sequence[Any], *, steps: Steps = Steps()
) -> tuple[Coordinate, ...]:
    r"""Derive Lagrange's equations from two energies and any independent coordinates (A5.3.2-2).

    Args:
        kinetic: :math:`\mathcal K`, an expression in the coordinates and rates, in J; floats are read as the decimal
            numbers that they show.
        potential: :math:`\mathcal P`, an expression in the coordinates, any zero, in J.
        q: symbols of the coordinates, shape (n,), in rad or m.
        dq: symbols of their rates, shape (n,).
        ddq: symbols of their accelerations, shape (n,).
        steps: the equations, for trying a wrong one.

    Returns:
        A :class:`Coordinate` for each coordinate.

    Raises:
        ValueError: a list of another length, a symbol that occurs twice, a coordinate without inertia, or an energy
            that depends on what it cannot depend on.
        TypeError: a coordinate is no symbol.

    >>> m, g, x, dx, ddx = sympy.symbols("m g x dx ddx")
    >>> equations(m * dx**2 / 2, m * g * x, [x], [dx], [ddx])[0].tau  # a mass that is lifted
    ddx*m + g*m
    """
    refuse_other_steps(steps, Steps)
    K, P = _exact(kinetic), _exact(potential)
    q, dq, ddq = (_symbols(name, given) for name, given in (("q", q), ("dq", dq), ("ddq", ddq)))
    _check_coordinates(q, dq, ddq)
    _check_energies(K, P, q, dq, ddq)
    space = Space.of([K, P], extra=[*dq, *ddq])
    moving = {*q, *dq}
    if any(not other.is_Symbol and other.free_symbols & moving for other in space.ring.symbols):
        return _derived(K, P, q, dq, dq, ddq, sympy.expand, steps)  # a root or a quotient: SymPy differentiates it
    K, P, rates, accelerations = space.read(K), space.read(P), map(space.read, dq), map(space.read, ddq)
    return _derived(K, P, q, dq, list(rates), list(accelerations), Fourier.expression, steps)


def _derived(
    K: Any,
    P: Any,
    q: Sequence[sympy.Symbol],
    dq: Sequence[sympy.Symbol],
    rates: Sequence[Any],
    accelerations: Sequence[Any],
    write: Callable[[Any], sympy.Expr],
    steps: Steps,
) -> tuple[Coordinate, ...]:
    """Derive the equations; energies, rates and accelerations are all expressions or all in Fourier form."""
    L = steps.lagrangian(K, P)
    found = []
    for coordinate, rate in zip(q, dq, strict=True):
        p = steps.momentum(L, rate)
        force = steps.coordinate_force(K, P, coordinate)
        dp = steps.momentum_rate(p, q, rates, accelerations, (q, dq))
        tau = steps.lagrange_equation(dp, force)
        found.append(Coordinate({"L": L, "p": p, "force": force, "dp": dp, "tau": tau}, write))
    return tuple(found)


def of_robot(robot: Robot, *, steps: Steps = Steps()) -> tuple[Coordinate, ...]:
    """Derive Lagrange's equations of an arm, in its joint values.

    Args:
        robot: the arm, with exact data; its motors do not count.
        steps: the equations, for trying a wrong one.

    Returns:
        A :class:`Coordinate` for each joint; ``tau`` is what the joint supplies.

    Raises:
        ValueError: a link without mass data.
        TypeError: the arm holds floats (use ``robot.exact()``).

    >>> from dynlib import robots
    >>> of_robot(robots.rp())[1].force
    d2*dtheta1**2*m2 - g*m2*sin(theta1)
    """
    refuse_other_steps(steps, Steps)
    refuse_no_robot(robot)
    q, dq, ddq = robot.motion_symbols()
    terms = _terms(robot, q, dq, steps)
    space = Space.of({entry for term in terms for array in term for entry in array.flat}, extra=[*dq, *ddq])
    read = np.frompyfunc(space.read, 1, 1)  # squares are then formed in Fourier form
    K = P = space.read(sympy.S.Zero)
    for m, v_c, I, omega, g, p_c in (map(read, term) for term in terms):
        K += steps.kinetic_energy(m, v_c, I, omega)
        P += steps.potential_energy(m, g, p_c)
    return _derived(K, P, list(q), list(dq), list(read(dq)), list(read(ddq)), Fourier.expression, steps)


@dataclass(frozen=True, eq=False)
class Local:
    """A function of coordinates and rates near one state: what it is there, and how it changes.

    Attributes:
        value: shape (...,).
        slopes: its derivatives by symbols, functions of the same kind.
    """

    value: Array
    slopes: Mapping[sympy.Symbol, "Local"]

    def diff(self, symbol: sympy.Symbol) -> "Local":
        """Return the partial derivative by a symbol.

        Args:
            symbol: what to differentiate by.
        """
        return self.slopes[symbol]

    def __add__(self, other: "Local") -> "Local":
        slopes = {symbol: slope + other.slopes[symbol] for symbol, slope in self.slopes.items()}
        return Local(self.value + other.value, slopes)

    def __mul__(self, number: Array) -> "Local":
        return Local(self.value * number, {symbol: slope * number for symbol, slope in self.slopes.items()})

    def __neg__(self) -> "Local":
        return self * np.array(-1.0)

    def __sub__(self, other: "Local") -> "Local":
        return self + -other


_AROUND = 2 * np.pi / 5 * np.array([1, 2, 3, 4])
_TURNING = 2 / 5 * (np.sin(_AROUND) + 2 * np.sin(2 * _AROUND))


def _samples(robot: Robot, dq: Array) -> list[list[tuple[float, Array]]]:
    """Return for each coordinate and each rate the weights and the steps that give the derivative by it.

    They are exact: an energy is a quadratic function of a rate and of a sliding coordinate, and of an angle a sum of
    the sines and cosines of the angle and of twice the angle.
    """
    h = float(np.abs(dq).max(initial=0.0)) or 1.0
    turning = list(zip(_TURNING, _AROUND, strict=True))
    along = [turning if link.turn else [(0.5, 1.0), (-0.5, -1.0)] for link in robot.links]
    along += [[(0.5 / h, h), (-0.5 / h, -h)]] * robot.n
    return [
        [(weight, step * unit) for weight, step in each] for each, unit in zip(along, np.eye(2 * robot.n), strict=True)
    ]


def _near(robot: Robot, q: Array, dq: Array, steps: Steps) -> tuple[Local, Local]:
    """Return both energies of an arm near a state, with all derivatives that Lagrange's equations ask for."""
    n, symbols = robot.n, [symbol for group in robot.motion_symbols()[:2] for symbol in group]
    once = _samples(robot, dq)
    twice = [[(a * b, s + t) for a, s in by_rate for b, t in other] for by_rate in once[n:] for other in once]
    plans = [[(1.0, np.zeros(2 * n))], *once, *twice]
    weights = np.zeros((len(plans), sum(map(len, plans))))
    weights[np.repeat(np.arange(len(plans)), list(map(len, plans))), np.arange(weights.shape[1])] = [
        weight for plan in plans for weight, _ in plan
    ]
    states = np.concatenate([q, dq], axis=-1)[..., None, :] + np.stack([step for plan in plans for _, step in plan])
    found = energies(robot, states[..., :n], states[..., n:], steps=steps)

    def local(energy: Array) -> Local:
        columns = np.moveaxis(energy @ weights.T, -1, 0)
        value, first, second = columns[0], columns[1 : 2 * n + 1], columns[2 * n + 1 :].reshape(n, 2 * n, *q.shape[:-1])
        leaves = [{s: Local(v, {}) for s, v in zip(symbols, row, strict=True)} for row in second]
        slopes = [Local(v, more) for v, more in zip(first, [{}] * n + leaves, strict=True)]
        return Local(value, dict(zip(symbols, slopes, strict=True)))

    return local(found.kinetic), local(found.potential)


def torques(robot: Robot, q: Any, dq: Any, ddq: Any, *, steps: Steps = Steps()) -> Array:
    r"""Return the torques and forces of a motion from Lagrange's equations, without writing these out.

    The energies are sampled at states around the given ones, at so many that their derivatives are exact.

    Args:
        robot: the arm, of numbers; its motors do not count.
        q: joint values, shape (..., N), in rad or m.
        dq: joint rates, shape (..., N), in rad/s or m/s.
        ddq: joint accelerations, shape (..., N), in rad/s² or m/s².
        steps: the equations, for trying a wrong one.

    Returns:
        :math:`\tau`, shape (..., N), in N m (revolute) or N (prismatic).

    Raises:
        ValueError: a wrong length, shape or number, a link without mass data, or an arm that holds symbols.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> torques(arm, [0, 0], [0, 0], [0, 0]).round(12)
    array([30., 10.])
    """
    refuse_other_steps(steps, Steps)
    refuse_no_robot(robot)
    if robot.symbols:
        raise ValueError(f"{robot.name} holds symbols; give them numbers with robot.subs(...), or use of_robot.")
    robot = robot.mapped(as_floats)
    q, dq, ddq = map(as_floats, robot.state(q=q, dq=dq, ddq=ddq))
    q = q - 2 * np.pi * np.round(q / (2 * np.pi)) * [link.turn for link in robot.links]  # steps around stay small
    with np.errstate(over="ignore", invalid="ignore"):
        K, P = _near(robot, q, dq, steps)
        coordinates, rates, _ = map(list, robot.motion_symbols())
        given = list(np.moveaxis(dq, -1, 0)), list(np.moveaxis(ddq, -1, 0))
        found = _derived(K, P, coordinates, rates, *given, lambda each: each, steps)
        tau = np.stack([each.found["tau"].value for each in found], axis=-1)
    return finite(tau, "the torque", robot, q=q, dq=dq, ddq=ddq)


def _exact(energy: Any) -> sympy.Expr:
    """Return an energy with every float read as the decimal number that it shows."""
    expression = sympy.sympify(energy)
    return expression.xreplace({each: sympy.Rational(repr(float(each))) for each in expression.atoms(sympy.Float)})


def _symbols(name: str, given: Any) -> list[sympy.Symbol]:
    """Return a list of symbols, or say what else it is."""
    if isinstance(given, sympy.Expr | str):
        raise TypeError(f"{name} is {given}; expected a list of symbols, such as [{given}].")
    for symbol in given:
        if not isinstance(symbol, sympy.Symbol):
            raise TypeError(
                f"{name} holds {symbol!r}, which is no symbol; coordinates, rates and accelerations are SymPy symbols, "
                'such as sympy.Symbol("x"), sympy.Symbol("dx") and sympy.Symbol("ddx").'
            )
    return list(given)


def _check_coordinates(q: list[sympy.Symbol], dq: list[sympy.Symbol], ddq: list[sympy.Symbol]) -> None:
    if not len(q) == len(dq) == len(ddq):
        raise ValueError(f"q, dq and ddq have {len(q)}, {len(dq)} and {len(ddq)} entries; expected equally many.")
    seen: set[sympy.Symbol] = set()
    for symbol in (*q, *dq, *ddq):
        if symbol in seen:
            raise ValueError(f"{symbol} occurs twice; the coordinates must be independent of each other.")
        seen.add(symbol)


def _check_energies(
    K: sympy.Expr, P: sympy.Expr, q: list[sympy.Symbol], dq: list[sympy.Symbol], ddq: list[sympy.Symbol]
) -> None:
    for name, energy, wrong in (("kinetic", K, ddq), ("potential", P, [*dq, *ddq])):
        if found := energy.free_symbols & set(wrong):
            allowed = "coordinates and rates" if name == "kinetic" else "coordinates"
            raise ValueError(f"the {name} energy depends on {min(found, key=str)}; it may depend on {allowed} only.")
    for coordinate, rate in zip(q, dq, strict=True):
        if rate not in K.free_symbols:
            raise ValueError(
                f"the kinetic energy does not depend on {rate}; {coordinate} has no inertia, or it is no independent "
                "coordinate of this system."
            )
