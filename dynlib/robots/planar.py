r"""The arms of document A: the planar 2R of its example, and two arms that the chapters need beside it."""

from typing import Any

import sympy

from dynlib.model.robot import Robot


def planar_2r(L1: Any = None, L2: Any = None, m1: Any = None, m2: Any = None, g: Any = None) -> Robot:
    r"""Return the planar 2R of document A: two links in a vertical plane, each with its mass at the far end (5.2.6).

    Args:
        L1: length of link 1, in m; a symbol if left out.
        L2: length of link 2, in m; a symbol if left out.
        m1: mass at the end of link 1, in kg; a symbol if left out.
        m2: mass at the end of link 2, in kg; a symbol if left out.
        g: magnitude of gravity, which acts along -y of {0}, in m/s²; a symbol if left out.

    Returns:
        The arm, with the tip frame {3} at the end of link 2.

    Raises:
        TypeError: some values are floats and others are left out (floats and symbols do not mix).

    >>> planar_2r().symbols
    (L1, L2, g, m1, m2)
    >>> planar_2r(L1=0.8, L2=0.6, m1=3, m2=2, g=9.81).links[1].com
    array([0.6, 0. , 0. ])
    """
    given = {"L1": L1, "L2": L2, "m1": m1, "m2": m2, "g": g}
    L1, L2, m1, m2, g = (sympy.Symbol(name) if value is None else value for name, value in given.items())
    rows = [dict(mass=m1, com=[L1, 0, 0]), dict(a=L1, mass=m2, com=[L2, 0, 0])]
    tip = [[1, 0, 0, L2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    return Robot.from_dh(rows, convention="modified", gravity=[0, -g, 0], tool=tip, name="planar 2R")


def rp(I1: Any = None, m1: Any = None, m2: Any = None, g: Any = None) -> Robot:
    r"""Return an RP arm: a rail that turns in a vertical plane and a mass that slides along it.

    Frame {2} is turned so that :math:`\hat z_2`, the sliding axis, lies along the rail; at ``d2 = 0`` the sliding mass
    is on the axis of joint 1.

    Args:
        I1: inertia of the rail about its centre of mass and the axis of joint 1, in kg m²; a symbol if left out.
        m1: mass of the rail, in kg, centre of mass on the axis of joint 1; a symbol if left out.
        m2: sliding mass (a point), in kg; a symbol if left out.
        g: magnitude of gravity, which acts along -y of {0}, in m/s²; a symbol if left out.

    Returns:
        The arm.

    >>> [link.joint for link in rp().links]
    ['revolute', 'prismatic']
    """
    given = {"I1": I1, "m1": m1, "m2": m2, "g": g}
    I1, m1, m2, g = (sympy.Symbol(name) if value is None else value for name, value in given.items())
    rows = [
        dict(mass=m1, inertia=[I1, 0, I1], theta=sympy.pi / 2),
        dict(joint="prismatic", alpha=sympy.pi / 2, mass=m2),
    ]
    return Robot.from_dh(rows, convention="modified", gravity=[0, -g, 0], name="RP arm")


def free_link() -> Robot:
    r"""Return one general body on three massless sliders and three massless pivots: a link that moves in any way.

    Joints 1 to 3 slide along perpendicular axes and joints 4 to 6 turn about axes through one point, so that frame {6}
    has any position, orientation, velocity and acceleration. Formulas for "a link" are tried on this one.

    Returns:
        The arm, all symbolic: mass m, centre of mass (px, py, pz), inertia Ixx ... Izz about it, and the next joint
        {7} at (lx, ly, lz) of the link.

    >>> free_link().n
    6
    """
    turn, symbol = sympy.pi / 2, sympy.Symbol
    inertia = [[symbol("I" + "".join(sorted(row + column))) for column in "xyz"] for row in "xyz"]
    body = dict(mass=symbol("m"), com=sympy.symbols("px py pz"), inertia=inertia)
    rows = [
        dict(joint="prismatic", mass=0),
        dict(joint="prismatic", mass=0, alpha=-turn, theta=turn),
        dict(joint="prismatic", mass=0, alpha=turn),
        dict(mass=0),
        dict(mass=0, alpha=turn),
        dict(alpha=-turn, **body),
    ]
    lx, ly, lz = sympy.symbols("lx ly lz")
    next_joint = [[1, 0, 0, lx], [0, 1, 0, ly], [0, 0, 1, lz], [0, 0, 0, 1]]
    return Robot.from_dh(rows, convention="modified", gravity=[0, 0, -symbol("g")], tool=next_joint, name="free link")
