"""What an arm or a linkage consists of: links, joints, bodies and closures.

A :class:`~dynlib.model.robot.Robot` is an open chain, a :class:`~dynlib.model.mechanism.Mechanism` several of them,
joined by closures. Frame {i} sits on the axis of joint i, z along the axis; Denavit–Hartenberg tables are read into
this form by :mod:`~dynlib.model.dh`.
"""

from dynlib.model.closures import Closure, Pin, Point, Rod, Slot
from dynlib.model.links import Body, Link, Motor
from dynlib.model.mechanism import Mechanism
from dynlib.model.robot import Robot

__all__ = [
    "Body",
    "Closure",
    "Link",
    "Mechanism",
    "Motor",
    "Pin",
    "Point",
    "Robot",
    "Rod",
    "Slot",
]
