"""Methods that integrate equations of motion, what they are given, and what stops them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynlib.algebra.arrays import Array, as_array, as_floats
from dynlib.given import refuse_other_arguments
from dynlib.progress import _CAUSES, SimulationError

METHODS = ("DOP853", "Radau")
"""SciPy's explicit Runge-Kutta method of order 8, and its implicit one of order 5 for stiff equations."""
STIFF_TOLERANCE = 1e-8
"""Error that a step of Radau may make; being of order 5, it takes three times as many steps for each two digits."""
LARGEST = 1e100
"""Of a joint value, rate or energy in SI units; squares of larger numbers, and products of those, leave the floats."""
WEIGHTLESS = (
    "something can move here with hardly any inertia (a massless crank at a dead centre, a link without mass in line "
    "with the next one), and its acceleration grows beyond all bounds. Give the links masses, or the joints motors "
    "with inertia."
)
"""Why a motion ends where something loses its inertia."""
_SCANT = 1e-3  # of the least inertia that a motion feels at the start: below it, that is why no step is short enough
TOO_SHORT = f"no step is short enough to keep the error that is allowed. {_CAUSES}"
"""Why a motion ends where the solver gives up."""
_STIFF = 50.0  # decay within a fiftieth of a second: from there on Radau needs fewer evaluations than DOP853 at 1e-13


def with_its_cause(error: SimulationError, start: Array, least_inertia: Callable[[Array], Any]) -> SimulationError:
    """Return an error that lists what may be the cause with the cause itself, if that is a lack of inertia.

    Args:
        error: what ended a motion.
        start: joint values at the start, shape (N,).
        least_inertia: gives the least inertia that a motion feels in a position, relative to some reference.

    >>> error = SimulationError(TOO_SHORT, 0.5, [0.0], [9.0])
    >>> print(with_its_cause(error, np.array([1.0]), lambda q: float(q[0])))
    the simulation cannot go on at t = 0.5 s, q = [0.0], dq = [9.0]: something can move here with hardly any inertia ...
    """
    if error.why.endswith(_CAUSES) and least_inertia(error.q) < _SCANT * least_inertia(start):
        return SimulationError(WEIGHTLESS, error.t, error.q.tolist(), error.dq.tolist())
    return error


# ---- The method ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solver:
    """A method of SciPy and how exact its steps are.

    Attributes:
        method: one of :data:`METHODS`.
        rtol: error allowed in a step, relative.
        atol: error allowed in a step, absolute, in units of the state.
        max_step: longest step, in s.
    """

    method: str
    rtol: float
    atol: float
    max_step: float = math.inf

    def start(self, derivative: Callable[[float, Array], Any], t: float, y: Sequence[float], end: float) -> Any:
        """Return a solver of SciPy at the start of an integration.

        Args:
            derivative: of the state, as a function of time and state.
            t: time of the start, in s.
            y: state at the start.
            end: time up to which it will go, in s.
        """
        from scipy import integrate

        options = {"rtol": self.rtol, "atol": self.atol, "max_step": self.max_step}
        return getattr(integrate, self.method)(derivative, t, np.array(y), end, **options)


def fastest_decay(M: Array, viscous: Array) -> float:
    r"""Return how fast viscous friction takes the speed of the motion that it brakes most, in 1/s.

    It is the largest eigenvalue of :math:`M^{-1}B`. The explicit method needs steps of a fraction of its inverse.

    Args:
        M: mass matrix, regular, shape (N, N).
        viscous: B, shape (N, N).

    >>> round(fastest_decay(np.diag([2.0, 0.001]), np.diag([0.5, 0.5])), 6)
    500.0
    """
    from scipy.linalg import eigh

    return float(eigh(viscous, M, eigvals_only=True)[-1]) if np.any(viscous) else 0.0


def chosen(decay: float, span: float, exact: float, *, method: Any, rtol: Any, atol: Any, max_step: Any) -> Solver:
    """Return the method that fits the equations, and its tolerances.

    Args:
        decay: of speed by friction, in 1/s, as :func:`fastest_decay` gives it.
        span: the whole time, in s.
        exact: tolerance of the explicit method if none is given.
        method: one of :data:`METHODS`, or None for the one that fits.
        rtol: error allowed in a step, relative; None for that of the method.
        atol: error allowed in a step, absolute; None for that of the method.
        max_step: longest step, in s.

    Raises:
        ValueError: another method, or a tolerance or longest step that is not positive.
        TypeError: something that is no number.

    >>> chosen(500.0, 1.0, 1e-13, method=None, rtol=None, atol=None, max_step=math.inf).method
    'Radau'
    """
    if method is None:
        method = "Radau" if decay * min(span, 1.0) > _STIFF else "DOP853"
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; expected {' or '.join(map(repr, METHODS))}, or None for what fits.")
    usual = exact if method == "DOP853" else STIFF_TOLERANCE
    return Solver(
        method,
        max(usual if rtol is None else positive("rtol", rtol), 100 * float(np.finfo(float).eps)),
        usual if atol is None else positive("atol", atol),
        positive("max_step", max_step),
    )


# ---- What is given to a simulation -----------------------------------------------------------------


def one_number(name: str, value: Any) -> float:
    """Read one number, which may be infinite.

    Args:
        name: what it is, for the message.
        value: what came.

    Raises:
        TypeError: no real number.
        ValueError: a wrong shape, or not a number.

    >>> one_number("max_step", math.inf)
    inf
    """
    if isinstance(value, float | np.floating) and math.isinf(value):
        return float(value)
    return float(as_floats(as_array(value, name, ())))


def positive(name: str, value: Any) -> float:
    """Read one positive number, which may be infinite.

    Args:
        name: what it is, for the message.
        value: what came.

    Raises:
        TypeError: no real number.
        ValueError: it is not positive.

    >>> positive("dt", 0.01)
    0.01
    """
    if not (found := one_number(name, value)) > 0:
        raise ValueError(f"{name} is {found:g}; expected more than 0.")
    return found


def torques(given: Any, count: int, name: str = "torque(t, q, dq)") -> list[float]:
    """Read the torques that a function has given.

    Args:
        given: what came.
        count: how many are expected.
        name: what it is, for the message.

    Raises:
        TypeError: something that is no real number.
        ValueError: another number of torques, or one that is not finite.

    >>> torques([1, 2.5], 2)
    [1.0, 2.5]
    """
    if given is None:
        raise TypeError(f"{name} gave None; does the function return its torques?")
    array = as_array(given, name, (count,))
    if array.dtype == object and any(entry.free_symbols for entry in array):
        raise TypeError(f"{name} holds {array.tolist()}, with symbols; expected numbers.")
    found: list[float] = as_floats(array).tolist()
    return found


def refuse_large(t: float, y: list[float], n: int, advice: str = "") -> None:
    """Stop if a state is beyond all bounds.

    Args:
        t: time, in s.
        y: joint values, rates and whatever else is integrated.
        n: number of joints.
        advice: what to do, for the message.

    Raises:
        SimulationError: it is.

    >>> refuse_large(0.0, [1.0, 2.0], 1)
    """
    if not sum(map(abs, y)) < LARGEST:
        why = f"the numbers are beyond all bounds, above {LARGEST:g}.{advice}"
        raise SimulationError(why, t, y[:n], y[n : 2 * n])


def supplier(
    torque: Callable[[float, Array, Array], Any], count: int
) -> Callable[[float, list[float], list[float]], list[float]]:
    """Return a function of torques that reads what it gives, and says when and where that was wrong.

    Args:
        torque: as it was given to a simulation.
        count: how many torques are expected.

    >>> supplier(lambda t, q, dq: [t], 1)(0.5, [0.0], [0.0])
    [0.5]
    """
    refuse_other_arguments(torque, "torque", "t", "q", "dq")
    usual = np.geterr()

    def supplied(t: float, q: list[float], dq: list[float]) -> list[float]:
        with np.errstate(**usual):  # what is left out of account while integrating is not left out here
            given = torque(t, np.array(q), np.array(dq))
        try:
            return torques(given, count)
        except (TypeError, ValueError) as error:
            raise SimulationError(str(error), t, q, dq) from None

    return supplied
