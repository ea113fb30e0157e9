"""Pictures of arms: in their plane or in space, standing or moving."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Polygon

from dynlib.algebra.arrays import Array
from dynlib.figures.style import (
    _STYLE,
    INK,
    LINK,
    MASS,
    PAPER,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    Film,
    _arrow,
    _arrow_head,
    _draw_gravity,
    _fit,
    _indexed,
    _picture,
    _pose,
    label,
)
from dynlib.frames import position, rotation
from dynlib.model.robot import Robot


def planar_arm(robot: Robot, q: Any, lengths: Sequence[str] = ()) -> Figure:
    """Draw an arm that moves in the x-y plane of the world: links, frames, angles, masses and gravity.

    Args:
        robot: an arm of numbers whose joint axes are all along z of the world.
        q: joint values, shape (N,), in rad or m.
        lengths: TeX of the link lengths, written beside the links.

    Returns:
        The figure; show it with :func:`show`.

    Raises:
        ValueError: the robot holds symbols, or a joint axis is not along z.

    >>> from dynlib import robots
    >>> len(planar_arm(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81), [0.5, 0.5]).axes)
    1
    """
    *poses, tip = _poses_in_plane(robot, q, "planar_arm")
    figure, ax = _picture()
    points = np.array([position(pose)[:2] for pose in (*poses, tip)])
    size = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    with matplotlib.rc_context(_STYLE):
        for i, pose in enumerate(poses):
            _draw_frame(ax, pose, str(i), 0.2 * size)
        for i, (link, pose) in enumerate(zip(robot.links, poses[1:], strict=True), start=1):
            if link.turn:
                _draw_angle(ax, poses[i - 1], pose, i, 0.13 * size)
        _draw_masses(ax, robot, poses, points)
        for near, far, length in zip(points[1:], points[2:], lengths, strict=False):
            along = (far - near) / np.linalg.norm(far - near)
            label(ax, 0.4 * near + 0.6 * far, rf"${length}$", INK, (15 * along[1], -15 * along[0]))
        if robot.gravity[:2].any():
            _draw_gravity(ax, robot.gravity[:2], points, size)
    _fit(figure, ax)
    return figure


def moving_planar_arm(robot: Robot, states: Any, *, seconds: float = 6.0, still: int = 0) -> Film:
    """Draw an arm that moves in the x-y plane in several states, as a film: links, masses and gravity.

    Args:
        robot: an arm of numbers whose joint axes are all along z of the world.
        states: joint values, shape (K, N), in rad or m; the film starts again after the last one.
        seconds: how long one round takes.
        still: number of the state, from 0, that is shown at the end, and to readers who asked their system for less
            motion.

    Returns:
        The film; show it with :func:`show`.

    Raises:
        ValueError: the robot holds symbols, a joint axis is not along z, or there is no such state.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    >>> moving_planar_arm(arm, [[0.5, 0.3], [0.6, 0.3]]).poses
    2
    """
    every = [_poses_in_plane(robot, q, "moving_planar_arm") for q in states]
    _demand_state(still, len(every))
    figure, ax = _picture()
    points = [np.array([position(pose)[:2] for pose in poses]) for poses in every]
    size = max(float(np.linalg.norm(np.diff(each, axis=0), axis=1).sum()) for each in points)
    with matplotlib.rc_context(_STYLE):
        if robot.gravity[:2].any():
            _draw_gravity(ax, robot.gravity[:2], np.concatenate(points), size)
        for k, (poses, joints) in enumerate(zip(every, points, strict=True)):
            with _pose(ax, k):
                _draw_masses(ax, robot, poses[:-1], joints)
    _fit(figure, ax)
    return Film(figure, len(every), seconds, still)


def _demand_state(still: int, states: int) -> None:
    if not 0 <= still < states:
        raise ValueError(f"still is {still}; expected the number of one of the {states} states, from 0.")


def _poses_in_plane(robot: Robot, q: Any, function: str) -> list[Array]:
    """Return the poses of the frames {0} to {N+1} of an arm that moves in the x-y plane."""
    poses = _poses_in_world(robot, q)
    if any(abs(rotation(pose)[2, 2]) < 1 - 1e-9 for pose in poses[:-1]):
        raise ValueError(
            f"{robot.name} has a joint axis that is not along z; {function} draws arms in the x-y plane only."
        )
    return poses


def _draw_masses(ax: Axes, robot: Robot, poses: Sequence[Array], points: Array) -> None:
    """Draw the links, joints and masses of an arm in the plane."""
    ax.plot(*points.T, color=LINK, lw=5, zorder=1)
    for i, (link, pose) in enumerate(zip(robot.links, poses[1:], strict=True), start=1):
        ax.plot(*position(pose)[:2], "o", ms=8, mfc=PAPER, mec=INK, mew=2, zorder=4)
        if link.mass is not None and link.mass > 0:
            centre = (pose @ np.append(link.com, 1))[:2]
            ax.plot(*centre, "o", ms=12, color=MASS, zorder=3)
            label(ax, centre, _indexed("m", i), MASS, (15, -13))


def spatial_arm(
    robot: Robot, q: Any, *, frames: Sequence[Array] | None = None, view: tuple[float, float] = (-55.0, 20.0)
) -> Figure:
    """Draw any arm in space with its frames: x red, y green, z blue; its shadow lies on the floor z = 0 of the world.

    A disc across the axis stands for a revolute joint, a stroke along it for a prismatic one.

    Args:
        robot: an arm of numbers.
        q: joint values, shape (N,), in rad or m.
        frames: poses of the frames to draw, in the world, each (4, 4), in m; the robot's frames {0} to {N+1} if left
            out.
        view: azimuth and elevation of the eye, in degrees.

    Returns:
        The figure; show it with :func:`show`.

    Raises:
        ValueError: the robot holds symbols.

    >>> from dynlib import robots
    >>> len(spatial_arm(robots.rp(I1=1, m1=1, m2=1, g=10), [0.5, 0.3]).axes)
    1
    """
    poses = _poses_in_world(robot, q)
    figure, ax = _picture()
    size = _length_of(poses)
    with matplotlib.rc_context(_STYLE):
        _draw_links(ax, robot, poses, _projection(view), size)
        _draw_frames(ax, poses if frames is None else frames, 0, _projection(view), 0.14 * size)
    _fit(figure, ax)
    return figure


def moving_arm(
    robot: Robot, states: Any, *, seconds: float = 6.0, still: int = 0, view: tuple[float, float] = (-55.0, 20.0)
) -> Film:
    """Draw an arm with its frames in several states, to be shown one after the other as a film.

    Args:
        robot: an arm of numbers.
        states: joint values, shape (K, N), in rad or m; the film starts again after the last one.
        seconds: how long one round takes.
        still: number of the state, from 0, that is shown at the end, and to readers who asked their system for less
            motion.
        view: azimuth and elevation of the eye, in degrees.

    Returns:
        The film; show it with :func:`show`.

    Raises:
        ValueError: the robot holds symbols, or there is no such state.

    >>> from dynlib import robots
    >>> moving_arm(robots.rp(I1=1, m1=1, m2=1, g=10), [[0.5, 0.3], [0.6, 0.3]]).poses
    2
    """
    every = [_poses_in_world(robot, q) for q in states]
    _demand_state(still, len(every))
    figure, ax = _picture()
    size = max(map(_length_of, every))
    with matplotlib.rc_context(_STYLE):
        _draw_frames(ax, every[0][:1], 0, _projection(view), 0.14 * size)
        for k, poses in enumerate(every):
            with _pose(ax, k):
                _draw_links(ax, robot, poses, _projection(view), size)
                _draw_frames(ax, poses[1:], 1, _projection(view), 0.14 * size)
    _fit(figure, ax)
    return Film(figure, len(every), seconds, still)


def _poses_in_world(robot: Robot, q: Any) -> list[Array]:
    """Return the poses of the frames {0} to {N+1}."""
    if robot.is_symbolic:
        raise ValueError(f"{robot.name} holds symbols; give them numbers with robot.subs(...) before drawing it.")
    poses = [robot.base]
    for T in robot.transforms(q):
        poses.append(poses[-1] @ T)
    return poses


def _length_of(poses: Sequence[Array]) -> float:
    """Return the length of the line through all origins; 1 for an arm without length."""
    points = np.array([position(pose) for pose in poses])
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) or 1.0


def _projection(view: tuple[float, float]) -> Array:
    """Return the matrix (2, 3) that lays a point of space on the paper, seen from far away."""
    azimuth, elevation = np.radians(view)
    right = [-np.sin(azimuth), np.cos(azimuth), 0.0]
    up = [-np.sin(elevation) * np.cos(azimuth), -np.sin(elevation) * np.sin(azimuth), np.cos(elevation)]
    return np.array([right, up])


def _draw_links(ax: Axes, robot: Robot, poses: Sequence[Array], project: Array, size: float) -> None:
    points = np.array([position(pose) for pose in poses])
    floor = points * [1, 1, 0]
    ax.plot(*(project @ floor.T), color=LINK, lw=1.2, zorder=0)
    ax.plot(*(project @ np.array([points[-1], floor[-1]]).T), color=LINK, lw=1.2, ls=":", zorder=0)
    ax.plot(*(project @ points.T), color=LINK, lw=5, zorder=1)
    for link, pose in zip(robot.links, poses[1:], strict=False):
        if link.turn:
            angle = np.linspace(0, 2 * np.pi, 17)[:-1]
            rim = 0.035 * size * np.array([np.cos(angle), np.sin(angle), 0 * angle])
        else:
            rim = 0.05 * size * np.array([[0.3, 0.3, -0.3, -0.3], [0, 0, 0, 0], [-1, 1, 1, -1]])
        outline = project @ (position(pose)[:, None] + rotation(pose) @ rim)
        ax.add_patch(Polygon(outline.T, closed=True, fc=LINK, ec=INK, lw=1.2, zorder=2))


def _draw_frames(ax: Axes, poses: Sequence[Array], first: int, project: Array, length: float) -> None:
    origins: list[Array] = []
    for index, pose in enumerate(poses, start=first):
        origin, R = position(pose), rotation(pose)
        shared = sum(np.linalg.norm(origin - other) < 0.1 * length for other in origins)
        origins.append(origin)
        reach = length * (1 + 0.45 * shared)  # frames at one place: the later ones are longer
        for axis, letter, colour in ((0, "x", X_AXIS), (1, "y", Y_AXIS), (2, "z", Z_AXIS)):
            start, end = project @ origin, project @ (origin + reach * R[:, axis])
            _arrow_head(ax, start, end, colour, 0.16 * length)
            if letter != "y":  # it follows from the other two
                beyond = project @ (origin + (reach + 0.2 * length) * R[:, axis])
                label(ax, beyond, _indexed(letter, index), colour, (0, 0))


def _draw_frame(ax: Axes, pose: Array, index: str, length: float) -> None:
    origin, R = position(pose)[:2], rotation(pose)[:2, :2]
    reach = length * (1.25 if index == "0" else 1.0)  # {0} and {1} share their origin
    for axis, letter, colour in ((0, "x", X_AXIS), (1, "y", Y_AXIS)):
        end = origin + reach * R[:, axis]
        _arrow(ax, origin, end, colour)
        # beside the axis, which may lie on a link or on another axis; of two in line, the longer one is {0}
        ahead = 8 if index == "0" else -3
        offset = R @ ([ahead, 12] if axis == 0 else [-11, ahead])
        label(ax, end, _indexed(letter, index), colour, (float(offset[0]), float(offset[1])))


def _draw_angle(ax: Axes, parent: Array, pose: Array, index: int | str, radius: float) -> None:
    start, end = (np.degrees(np.arctan2(R[1, 0], R[0, 0])) for R in (rotation(parent), rotation(pose)))
    turn = (end - start + 180) % 360 - 180
    if abs(turn) < 1:
        return
    origin = position(pose)[:2]
    ax.add_patch(Arc(origin, 2 * radius, 2 * radius, angle=0, theta1=min(start, start + turn),
                     theta2=max(start, start + turn), ec=INK, lw=1.4, zorder=2))  # fmt: skip
    near, tip = (np.radians(start + share * turn) for share in (0.9, 1.0))
    rim = [origin + radius * np.array([np.cos(angle), np.sin(angle)]) for angle in (near, tip)]
    _arrow(ax, rim[0], rim[1], INK, 1.2)
    middle = np.radians(start + turn / 2)
    place = origin + 1.45 * radius * np.array([np.cos(middle), np.sin(middle)])
    label(ax, place, _indexed(r"\theta", index), INK, (2 * np.cos(middle), 2 * np.sin(middle)))
    ray = np.array([origin, origin + 1.6 * radius * rotation(parent)[:2, 0]])
    ax.plot(*ray.T, color=INK, lw=1, ls=":", zorder=2)
