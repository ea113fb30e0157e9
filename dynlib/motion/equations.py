"""The equations of motion of an arm as functions of floats that are fast to call many times."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import sympy

from dynlib import structure
from dynlib.algebra.arrays import Array, exact_array
from dynlib.algebra.notation import tidy
from dynlib.model.robot import Robot
from dynlib.motion.forward import _bare, _mass_and_bias, _refuse_symbols

EXPANDED_UP_TO = 3
"""Joints of an arm up to which its formulas are expanded; those of larger arms have many times as many terms then."""
_COMPILED_UP_TO = 7  # joints; the formulas of larger arms take long to derive
_LONGEST, _DEEPEST = 50, 20  # of an expression that Python's compiler is given; it is recursive


Equations = Callable[[list[float], list[float]], tuple[Sequence[list[float]], list[float]]]
"""M, by rows, and C dq + g as lists of floats, for lists of joint values and rates."""


def equations_of(robot: Robot, *, compiled: bool | None = None) -> Equations:
    r"""Return the equations of motion of an arm as a function of floats that is fast to call many times.

    Args:
        robot: the arm, of floats; rotors count, friction does not.
        compiled: whether closed formulas are derived and compiled once, so that a call takes microseconds; otherwise
            each call runs the recursion, which takes milliseconds. By default for up to 7 joints: deriving takes
            seconds for the arms of the catalogue, and with each joint more twice as long.

    Returns:
        A function of the joint values and rates, lists of N floats, that gives the rows of M, each a list, and
        :math:`C\dot q+g`, a list.

    Raises:
        ValueError: symbols, or a link without mass data.

    >>> from dynlib import robots
    >>> equations_of(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10))([0.0, 0.0], [0.0, 0.0])
    (([5.0, 2.0], [2.0, 1]), [30.0, 10.0])
    """
    _refuse_symbols(robot)
    robot.known_bodies()
    if compiled not in (None, True, False):
        raise TypeError(f"compiled is {compiled!r}; expected True, False or None, for what fits the size of the arm.")
    return _equations(robot, robot.n <= _COMPILED_UP_TO if compiled is None else compiled)


@lru_cache(maxsize=64)
def _equations(robot: Robot, compiled: bool) -> Equations:
    """Return M and C dq + g of an arm, as a compiled closed form or by the recursion."""
    return _closed_form(robot) if compiled else _by_recursion(robot)


def _by_recursion(robot: Robot) -> Equations:
    def equations(q: list[float], dq: list[float]) -> tuple[Sequence[list[float]], list[float]]:
        M, h = _mass_and_bias(robot, np.array(q), np.array(dq))
        return M.tolist(), h.tolist()

    return equations


def _closed_form(robot: Robot) -> Equations:
    """Derive M and C dq + g once, and turn them into a function of floats."""
    q, dq, M, h = formulas(robot)
    lines, found = in_pieces([*M.flat, *h])
    results = np.array(found[: M.size], dtype=object).reshape(M.shape).tolist(), found[M.size :]
    results = tuple(results[0]), results[1]
    evaluate = sympy.lambdify([*q, *dq], results, modules="math", cse=lambda _: (lines, results))
    return lambda q, dq: evaluate(*q, *dq)


def formulas(robot: Robot, symbols: tuple[Array, Array] | None = None) -> tuple[Array, Array, Array, Array]:
    r"""Derive the equations of motion of an arm of numbers as closed formulas, floats read as the decimals they show.

    Args:
        robot: the arm, of floats; rotors count, friction does not.
        symbols: of the joint values and of the rates, each (N,), if they are not to be those of the arm.

    Returns:
        The symbols of the joint values and rates, each (N,); M, shape (N, N); and :math:`C\dot q+g`, shape (N,). For up
        to 3 joints they are sums of products, with sines and cosines of sums of angles; for more as the recursion
        gives them, in brackets.

    >>> from dynlib import robots
    >>> formulas(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10))[3][1]
    dtheta1**2*sin(theta2) + 10*cos(theta1 + theta2)
    """
    without_motors = replace(robot, links=[replace(link, motor=None) for link in robot.links])
    exact = without_motors.exact(round_angles=False)
    q, dq = symbols or exact.motion_symbols()[:2]
    M = structure.mass_matrix(exact, q) + np.diag(exact_array(_bare(robot)[1]))
    h = structure.velocity_torque(exact, q, dq) + structure.gravity_torque(exact, q)
    if robot.n > EXPANDED_UP_TO:
        return q, dq, M, h
    tidied = np.frompyfunc(tidy, 1, 1)
    return q, dq, tidied(M), tidied(h)


def in_pieces(
    formulas: Sequence[sympy.Expr],
) -> tuple[list[tuple[sympy.Symbol, sympy.Expr]], list[sympy.Expr]]:
    """Cut formulas into short assignments, each of what occurs more than once, is long or is deep.

    Every part is looked at once, so that this takes a time proportional to the different parts, however often they
    occur; and no assignment is so long or deep that Python's compiler, which is recursive, could not read it.

    Args:
        formulas: expressions without names that begin with ``p_``.

    Returns:
        Names with their values, in the order in which they can be computed; and the formulas in these names.

    >>> a, b = sympy.symbols("a b")
    >>> in_pieces([sympy.sin(a + b), (a + b) ** 2])
    ([(p_0, a + b)], [sin(p_0), p_0**2])
    """
    parts = _parts(formulas)
    uses = Counter(argument for part in parts for argument in part.args)
    lines: list[tuple[sympy.Symbol, sympy.Expr]] = []
    short: dict[sympy.Expr, tuple[sympy.Expr, int]] = {}  # each part in names, and how deep that is

    def named(value: sympy.Expr) -> sympy.Symbol:
        lines.append((sympy.Symbol(f"p_{len(lines)}"), value))
        return lines[-1][0]

    for part in parts:
        if part.is_Atom:
            short[part] = part, 0
            continue
        arguments = [short[argument][0] for argument in part.args]
        depth = 1 + max(short[argument][1] for argument in part.args)
        while len(arguments) > _LONGEST:
            groups = [arguments[k : k + _LONGEST] for k in range(0, len(arguments), _LONGEST)]
            arguments = [named(part.func(*group, evaluate=False)) for group in groups]
        value = part.func(*arguments, evaluate=False)
        short[part] = (named(value), 0) if uses[part] > 1 or depth >= _DEEPEST else (value, depth)
    return lines, [short[formula][0] for formula in formulas]


def _parts(formulas: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    """Return all different parts of formulas, each after its own parts."""
    found: dict[sympy.Expr, bool] = {}  # whether all parts of a part stand before it
    waiting = list(reversed(formulas))
    while waiting:
        part = waiting[-1]
        if found.get(part):
            waiting.pop()
        elif part in found:
            del found[part]
            found[part] = True
        else:
            found[part] = False
            waiting.extend(argument for argument in part.args if not found.get(argument))
    return list(found)
