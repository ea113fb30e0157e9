"""Pictures of linkages and closed chains, standing or moving."""

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path as Outline

from dynlib.closed_chains import constraints
from dynlib.figures.arms import _demand_state, _draw_angle
from dynlib.figures.style import _STYLE, INK, LINK, MASS, X_AXIS, Film, _fit, _indexed, _picture, _pose, label
from dynlib.frames import position, rotation
from dynlib.model.closures import Point, Rod, Slot
from dynlib.model.mechanism import Mechanism


def linkage(
    mechanism: Mechanism, q: Any, points: Mapping[str, Point] = MappingProxyType({}), *, angles: bool = False
) -> Figure:
    """Draw a mechanism that moves in the x-y plane of the world: chains, pins, bases and named points.

    Links that are driven are blue, the others grey.

    Args:
        mechanism: of numbers.
        q: all joint values, shape (n,), in rad or m; if they do not close the chains, the gap is seen.
        points: points to mark, by their TeX; a line joins each to the tip of its chain. A point on a pin inside a
            chain, such as ``Point(1, 2)``, is only named.
        angles: whether joint angles are drawn with their symbols.

    Returns:
        The figure; show it with :func:`show`.

    Raises:
        ValueError: the mechanism holds symbols, or q has a wrong shape.

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
    >>> len(linkage(bars, bars.positions([1], mode=[1]), {"C": bars.output}).axes)
    1
    """
    constraints.refuse_symbols(mechanism, "linkage")
    figure, ax = _picture()
    with matplotlib.rc_context(_STYLE):
        _draw_ground(ax, mechanism)
        _draw_mechanism(ax, mechanism, q, points)
        if angles:
            _draw_joint_angles(ax, mechanism, q)
    _fit(figure, ax)
    return figure


def moving_linkage(
    mechanism: Mechanism,
    states: Any,
    points: Mapping[str, Point] = MappingProxyType({}),
    *,
    paths: Any = None,
    seconds: float = 6.0,
    still: int = 0,
) -> Film:
    """Draw a mechanism in several positions, to be shown one after the other as a film, with the paths of named points.

    Args:
        mechanism: of numbers.
        states: all joint values, shape (K, n), in rad or m; the film starts again after the last one.
        points: points to mark, by their TeX, as in :func:`linkage`.
        paths: joint values through which the paths of the points are drawn, shape (J, n); those of the poses if left
            out, which gives paths with corners.
        seconds: how long one round takes.
        still: number of the state, from 0, that is shown at the end, and to readers who asked their system for less
            motion.

    Returns:
        The film; show it with :func:`show`.

    Raises:
        ValueError: the mechanism holds symbols, q has a wrong shape, or there is no such state.

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
    >>> moving_linkage(bars, bars.positions([[1.0], [1.1]], mode=[1])).poses
    2
    """
    constraints.refuse_symbols(mechanism, "moving_linkage")
    every = np.asarray(states, dtype=float)
    _demand_state(still, len(every))
    figure, ax = _picture()
    with matplotlib.rc_context(_STYLE):
        course = every if paths is None else np.asarray(paths, dtype=float)
        for point in (each for each in points.values() if not _on_pin(each)):
            ax.plot(*position(constraints.pose(mechanism, course, point))[:, :2].T, color=X_AXIS, lw=1.2, zorder=0)
        _draw_ground(ax, mechanism)
        for k, q in enumerate(every):
            with _pose(ax, k):
                _draw_mechanism(ax, mechanism, q, points)
    _fit(figure, ax)
    return Film(figure, len(every), seconds, still)


def _on_pin(point: Point) -> bool:
    return point.link is not None and not np.any(point.at)


_FOOT = Outline([(0, 0), (-0.6, -1), (0.6, -1), (0, 0)], closed=True)


def _draw_ground(ax: Axes, mechanism: Mechanism) -> None:
    """Mark the bases by triangles, and the lines on which sliders go."""
    for number, chain in enumerate(mechanism.chains, start=1):
        base = position(chain.base)[:2]
        if chain.links[0].slide:
            ax.axline(
                base,
                base + 1e-3 * mechanism.size * rotation(chain.base)[:2, 2],
                color=INK,
                lw=1,
                ls=":",
                zorder=0,
            )
            continue
        ax.plot(*base, marker=_FOOT, ms=26, mfc="none", mec=INK, mew=1.4, zorder=1)
        label(ax, base, _indexed("O", number), INK, (0, -24))


def _draw_mechanism(ax: Axes, mechanism: Mechanism, q: Any, points: Mapping[str, Point]) -> None:
    for number, chain in enumerate(mechanism.chains, start=1):
        places = [
            position(constraints.pose(mechanism, q, Point(number, link)))[:2] for link in [*range(1, chain.n + 1), None]
        ]
        if chain.links[0].slide:
            margin = 0.1 * mechanism.size * rotation(chain.base)[:2, 2]
            ax.update_datalim([places[0] - margin, places[0] + margin])  # a part of the line on which it goes
            ax.plot(*places[0], "s", ms=20, color=LINK, mew=0, zorder=2)
        for joint, (near, far) in enumerate(pairwise(places), start=1):
            colour = MASS if (number, joint) in mechanism.inputs else LINK
            ax.plot(*np.array([near, far]).T, color=colour, lw=4.5, zorder=1)
        ax.plot(*np.array(places).T, "o", ms=6, mfc="white", mec=INK, mew=1.6, zorder=4)
    _draw_closures(ax, mechanism, q)
    for name, point in points.items():
        here = position(constraints.pose(mechanism, q, point))[:2]
        if _on_pin(point):
            label(ax, here, f"${name}$", INK, (-12, 12))
            continue
        if point.chain:
            tip = position(constraints.pose(mechanism, q, Point(point.chain)))[:2]
            if np.linalg.norm(here - tip) > 1e-9:
                ax.plot(*np.array([tip, here]).T, color=LINK, lw=4.5, zorder=1)
        ax.plot(*here, "o", ms=7, color=X_AXIS, zorder=5)
        label(ax, here, f"${name}$", X_AXIS, (12, 10))


def _draw_closures(ax: Axes, mechanism: Mechanism, q: Any) -> None:
    """Draw rods, and of every slot a part on both sides of the point in it."""
    for closure in mechanism.closures:
        a, b = (constraints.pose(mechanism, q, point) for point in (closure.a, closure.b))
        if isinstance(closure, Rod):
            ax.plot(*np.array([position(a)[:2], position(b)[:2]]).T, color=LINK, lw=2.5, zorder=1)
        if isinstance(closure, Slot):
            along = 0.08 * mechanism.size * (rotation(b) @ closure.direction)[:2]
            line = np.array([position(a)[:2] - along, position(a)[:2] + along])
            ax.plot(*line.T, color=LINK, lw=9, zorder=0)


def _draw_joint_angles(ax: Axes, mechanism: Mechanism, q: Any) -> None:
    for number, chain in enumerate(mechanism.chains, start=1):
        parent = chain.base
        for joint, link in enumerate(chain.links, start=1):
            pose = constraints.pose(mechanism, q, Point(number, joint))
            if link.turn:
                _draw_angle(ax, parent, pose, f"{{{number}{joint}}}", 0.04 * mechanism.size)
            parent = pose
