"""Planned motions, and torques that follow them."""

from typing import Any

import numpy as np

from dynlib.algebra.arrays import Array
from dynlib.given import refuse_other_arguments
from dynlib.model.robot import Robot
from dynlib.motion.equations import equations_of
from dynlib.motion.forward import _Drive, _refuse_symbols
from dynlib.motion.record import Torque, Wanted


def quintic(start: Any, end: Any, duration: float, t: Any) -> tuple[Array, Array, Array]:
    r"""Return a motion from one position to another that starts and ends at rest, without a jump of acceleration.

    With :math:`s=t/T`, each joint has gone the share :math:`10s^3-15s^4+6s^5` of its way.

    Args:
        start: joint values at time 0, shape (..., N), in rad or m.
        end: joint values at the end, shape (..., N).
        duration: T, in s.
        t: time or times, shape () or (K,), in s; before 0 and after T the arm stands still.

    Returns:
        Joint values, rates and accelerations, each of shape (..., N) for one time, (..., K, N) for K times.

    Raises:
        ValueError: a duration that is not positive, or ends of different shapes.

    >>> q, dq, ddq = quintic([0.0, 1.0], [2.0, 1.0], 4.0, 2.0)  # halfway
    >>> q, dq, ddq
    (array([1., 1.]), array([0.9375, 0.    ]), array([0., 0.]))
    """
    first, last, times = (np.asarray(value, dtype=float) for value in (start, end, t))
    if not duration > 0:
        raise ValueError(f"duration is {duration} s; expected more than 0.")
    if first.ndim == 0 or last.ndim == 0 or first.shape[-1] != last.shape[-1] or times.ndim > 1:
        raise ValueError(
            f"start, end and t have the shapes {first.shape}, {last.shape} and {times.shape}; expected (..., N), "
            "(..., N) and () or (K,)."
        )
    way = last - first
    if times.ndim:
        first, way = first[..., None, :], way[..., None, :]
    s = np.clip(times / duration, 0.0, 1.0)[..., None]
    q = first + way * (s**3 * (10 - 15 * s + 6 * s**2))
    dq = way * (30 * s**2 * (1 - s) ** 2) / duration
    ddq = way * (60 * s * (1 - s) * (1 - 2 * s)) / duration**2
    return q, dq, ddq


def computed_torque(
    model: Robot, wanted: Wanted, *, kp: Any = 0.0, kd: Any = 0.0, compiled: bool | None = None
) -> Torque:
    r"""Return a controller that computes the torque of the wanted motion, corrected by the error.

    .. math:: \tau = M(q)\,\big(\ddot q_d + K_d(\dot q_d-\dot q) + K_p(q_d-q)\big) + C\dot q + g + \text{friction}

    If the model is exact, the error obeys :math:`\ddot e + K_d\dot e + K_pe = 0`, whatever the arm.

    Args:
        model: what the controller believes the arm to be; its friction is compensated, the dry one in the sense of
            the wanted rate.
        wanted: the wanted motion, a function of time, such as ``lambda t: quintic(start, end, T, t)``.
        kp: gain of the position error, one number or shape (N,), in 1/s².
        kd: gain of the rate error, one number or shape (N,), in 1/s.
        compiled: as in :func:`simulate`.

    Returns:
        A function ``torque(t, q, dq)`` for :func:`simulate`.

    Raises:
        ValueError: a model of symbols or without mass data, or gains that are negative or of a wrong shape.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> hold = computed_torque(arm, lambda t: (np.zeros(2), np.zeros(2), np.zeros(2)))
    >>> hold(0.0, np.zeros(2), np.zeros(2))
    array([30., 10.])
    """
    _refuse_symbols(model)
    refuse_other_arguments(wanted, "wanted", "t")
    gains = []
    for name, value in (("kp", kp), ("kd", kd)):
        gain = np.asarray(value, dtype=float)
        if gain.shape not in ((), (model.n,)) or not (gain >= 0).all():
            raise ValueError(
                f"{name} is {gain.tolist()}; expected one number or {model.n} numbers, at least 0: a negative gain "
                "drives the arm away."
            )
        gains.append(np.broadcast_to(gain, (model.n,)))
    equations = equations_of(model, compiled=compiled)
    drive = _Drive.of(model)

    def torque(t: float, q: Array, dq: Array) -> Array:
        q_d, dq_d, ddq_d = wanted(t)
        asked = ddq_d + gains[1] * (dq_d - dq) + gains[0] * (q_d - q)
        M, h = equations(q.tolist(), dq.tolist())
        dry = np.where(dq_d > 0, drive.forward, np.where(dq_d < 0, drive.backward, 0.0))
        return np.array(M) @ asked + h + drive.viscous * dq + dry

    return torque
