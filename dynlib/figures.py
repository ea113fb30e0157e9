"""Pictures: an arm with its frames, standing or moving, and axes for curves.

Every picture has a white ground and an alternative text that is written into the file. The same input gives the same
file, byte for byte. On the page it is an SVG, which the site recolours on dark pages: each colour of ``PALETTE`` has a
value for either ground. :func:`save` writes other formats, too.
"""

import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zlib import crc32

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import AxLine, Line2D
from matplotlib.patches import Arc, Patch, Polygon
from matplotlib.path import Path as Outline
from matplotlib.text import Annotation, Text

from dynlib.algebra.arrays import Array
from dynlib.closed_chains import constraints
from dynlib.files import write_bytes
from dynlib.frames import position, rotation
from dynlib.model.closures import Point, Rod, Slot
from dynlib.model.mechanism import Mechanism
from dynlib.model.robot import Robot

PALETTE: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "ink": ("#4d4d4d", "#c8c8c8"),
        "link": ("#8a8a8a", "#8b8b8b"),
        "red": ("#c42f3c", "#f0727b"),
        "green": ("#1d7a41", "#4cc27a"),
        "blue": ("#2666ab", "#6fb1f2"),
        "ochre": ("#8f5a0c", "#dba04a"),
        "paper": ("#ffffff", "#121212"),
    }
)
"""Every colour of a picture, by name: on a white ground and on a dark one.

On each ground letters have a contrast of at least 4.5 to 1; links, which hold no letters, of at least 3 to 1.
"""

INK, LINK, X_AXIS, Y_AXIS, MASS, GRAVITY, PAPER = (light for light, _ in PALETTE.values())
"""Colours of letters and thin lines, links, x axes, y axes, masses, gravity and the ground."""

Z_AXIS = MASS
"""Colour of z axes, which only pictures without masses show."""

WIDTH = 4.5
"""Of a picture, in inches. On the screen of a phone, 358 dots wide, an index of a letter is then 9 dots high."""

TURNS = 3
"""How often a film goes round before it stops."""

_DOTS_PER_INCH = 200
"""Of pictures that are made of dots."""

_STYLE = {
    "svg.hashsalt": "dynlib",
    "font.size": 12,
    "axes.labelsize": "medium",
    "xtick.labelsize": "medium",
    "ytick.labelsize": "medium",
    "legend.fontsize": "medium",
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "path.simplify_threshold": 0.05,
    "lines.solid_capstyle": "round",
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.prop_cycle": matplotlib.cycler(color=[MASS, X_AXIS, Y_AXIS, GRAVITY]),
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "legend.frameon": False,
}


def axes(width: float = WIDTH, height: float = 3.0) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes in the style of the book.

    Args:
        width: in inches.
        height: in inches.

    Returns:
        Figure and axes, to be drawn on and then given to :func:`show`.

    >>> figure, ax = axes()
    >>> ax.get_xlabel()
    ''
    """
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.patch.set_gid("ground")
        return figure, figure.add_subplot()


def legend(figure: Figure, columns: int | None = None) -> None:
    """Write above a picture what its curves are, so that no letter lies on a curve.

    Args:
        figure: whose curves have labels.
        columns: how many stand side by side; all of them if left out.

    >>> figure, ax = axes()
    >>> curve = ax.plot([0, 1], [0, 1], label="$a$")
    >>> legend(figure)
    """
    count = sum(len(ax.get_legend_handles_labels()[1]) for ax in figure.axes)
    with matplotlib.rc_context(_STYLE):
        figure.legend(loc="outside upper center", ncols=columns or max(count, 1))


def label(ax: Axes, point: Any, letters: str, colour: str = INK, beside: Any = (0, 0)) -> None:
    """Write letters beside a point; where other letters or lines are in the way, they move aside.

    Args:
        ax: axes to write on.
        point: the point, shape (2,), in units of the axes.
        letters: what to write, such as ``"$P$"``.
        colour: one of the palette.
        beside: from the point to the middle of the letters, to the right and up, shape (2,), in points of 1/72 inch.

    >>> label(axes()[1], (0, 0), "$O$", beside=(0, -12))
    """
    ax.add_artist(_Label(point, letters, colour, beside))


@dataclass(frozen=True, eq=False)
class Film:
    """A figure that holds several poses at once; as an SVG it shows one after the other, a few times.

    Attributes:
        figure: all poses, each artist marked with the number of its pose.
        poses: how many there are.
        seconds: how long one round takes.
        still: number of the pose, from 0, that is shown at the end, and to readers who asked their system for less
            motion.
    """

    figure: Figure
    poses: int
    seconds: float
    still: int = 0


def svg(figure: Figure | Film, alt: str) -> str:
    """Return a figure or a film as SVG text that carries its alternative text.

    Args:
        figure: what to write.
        alt: one or two sentences for a reader who does not see the picture.

    Returns:
        The SVG file's text; the alternative text stands in its title.

    Raises:
        ValueError: no alternative text.

    >>> "A line." in svg(axes()[0], alt="A line.")
    True
    """
    _demand(alt)
    _finish(_drawing(figure))
    drawn = _drawn(_drawing(figure), "svg", dict.fromkeys(("Date", "Creator", "Format", "Type")))
    root = ElementTree.fromstring(drawn)
    for part in (root.find(f"{_SVG}metadata"), root.find(f"{_SVG}defs/{_SVG}style/..")):
        if part is not None:
            root.remove(part)  # the style would hold for all of a page
    title = ElementTree.Element(f"{_SVG}title")
    title.text = alt
    root.insert(0, title)
    root.set("stroke-linejoin", "round")
    _settle(root, f"{crc32(alt.encode()):x}")
    if isinstance(figure, Film):
        _set_in_motion(root, figure)
    for prefix, space in (("", _SVG), ("xlink", _LINK)):
        ElementTree.register_namespace(prefix, space.strip("{}"))
    ElementTree.indent(root, "")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"


def _demand(alt: str) -> None:
    if not alt.strip():
        raise ValueError("alt is empty; say in one or two sentences what the picture shows.")


def _drawing(figure: Figure | Film) -> Figure:
    return figure.figure if isinstance(figure, Film) else figure


def _finish(drawing: Figure) -> None:
    """Give a drawing the colours of the palette and its labels their places."""
    # What was drawn outside this module has Matplotlib's own black letters and boxes.
    for text in drawing.findobj(Text):
        if same_color(text.get_color(), "black"):
            text.set_color(INK)
    for box in drawing.findobj(Legend):
        box.set_frame_on(False)
    with matplotlib.rc_context(_STYLE):
        _make_room_for_labels(drawing)


def _drawn(drawing: Figure, kind: str, metadata: Mapping[str, str | None], **options: Any) -> bytes:
    """Return a figure as a file of some kind."""
    file = io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        drawing.savefig(file, format=kind, metadata=metadata, **options)
    return file.getvalue()


def _settle(root: ElementTree.Element, apart: str) -> None:
    """Make an SVG independent of the last digits of a processor, and small.

    Places are given to a hundredth of a point. Names that Matplotlib makes from the digits of a shape become numbers in
    the order in which they occur, behind a word that tells pictures apart; names that nothing refers to go.
    """
    elements = list(root.iter())
    used = {name for element in elements for value in element.attrib.values() for name in _REFERENCE.findall(value)}
    names: dict[str, str] = {}

    def renamed(name: str) -> str:
        if not re.fullmatch("[a-z][0-9a-f]{10}", name):
            return name
        return names.setdefault(name, f"s{apart}-{len(names) + 1}")

    for element in elements:
        name = element.attrib.pop("id", "")
        if name in used:
            element.set("id", renamed(name))
        if name.startswith(("text_", "pose", "ground", "legend_")):
            element.set("class", name.partition("_")[0])
        for key, value in list(element.attrib.items()):
            if key == "d":
                value = " ".join(re.sub(r"-?\d+\.\d+", _rounded, value).split())
            elif key != "style":  # nor are sizes of letters touched
                value = re.sub(r"(scale\([^)]*\))|-?\d+\.\d{3,}", lambda found: found[1] or _rounded(found), value)
                value = _REFERENCE.sub(lambda found: "#" + renamed(found[1]), value)
            element.set(key, value)


_REFERENCE = re.compile(r"(?:(?<=url\()|^)#([\w-]+)")


def _rounded(found: re.Match[str]) -> str:
    text = f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _set_in_motion(root: ElementTree.Element, film: Film) -> None:
    """Lay the poses of a film side by side, as on a strip that passes behind a window, by CSS alone."""
    ((parent, artists),) = (
        (parent, marked)
        for parent in root.iter(f"{_SVG}g")
        if (marked := [each for each in parent if each.get("class", "").startswith("pose")])
    )
    width = float(root.attrib["viewBox"].split()[2])
    strip = ElementTree.SubElement(parent, f"{_SVG}g", {"class": "strip"})
    strip.set("transform", f"translate({-film.still * width:g} 0)")
    strip.set(
        "style", f"--way: {-film.poses * width:g}px; animation: turn {film.seconds:g}s steps({film.poses}) {TURNS}"
    )
    for k in range(film.poses):
        pose = ElementTree.SubElement(strip, f"{_SVG}g", {"transform": f"translate({k * width:g} 0)"})
        for artist in [each for each in artists if each.get("class") == f"pose{k}"]:
            parent.remove(artist)
            holds_letters = artist.find(f"{_SVG}g[@transform]") is not None
            (ElementTree.SubElement(pose, f"{_SVG}g", {"class": "text"}) if holds_letters else pose).extend(artist)
    for standing in [each for each in parent if each.get("class") == "text"]:
        parent.remove(standing)
        parent.append(standing)  # no link goes over letters
    style = ElementTree.Element(f"{_SVG}style")
    style.text = _MOTION
    root.insert(1, style)


_MOTION = (
    "@keyframes turn { from { transform: none } to { transform: translateX(var(--way)) } } "
    "@media (prefers-reduced-motion: reduce) { svg:not(.asked) .strip { animation: none !important } }"
)


def show(figure: Figure | Film, alt: str) -> None:
    """Show a figure or a film in a notebook; elsewhere its alternative text is printed. See also :func:`save`.

    Args:
        figure: what to show.
        alt: one or two sentences for a reader who does not see the picture.

    Raises:
        ValueError: no alternative text.
    """
    written = svg(figure, alt)
    try:
        from IPython import get_ipython  # not needed to draw; a browser or a script may lack it
        from IPython.display import display
    except ImportError:
        print(alt)
        return
    if get_ipython() is None:
        print(alt)
        return
    display({"image/svg+xml": written, "text/plain": alt}, raw=True)


def save(figure: Figure | Film, path: str | Path, alt: str) -> None:
    """Write a figure or a film into a file, whole or not at all.

    Args:
        figure: what to write.
        path: of the file. Its ending says the format: ``.svg``, ``.png`` or ``.pdf`` (of a film they hold the pose for
            readers who asked their system for less motion; an SVG moves for the others) or ``.gif``.
        alt: one or two sentences for a reader who does not see the picture; the file carries them.

    Raises:
        ValueError: no alternative text, or another ending.
        OSError: the file cannot be written.

    >>> save(axes()[0], "arm.jpg", alt="A line.")
    Traceback (most recent call last):
    ValueError: arm.jpg ends with '.jpg'; expected .svg, .png, .pdf, .gif.
    """
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ValueError(f"{path.name} ends with {path.suffix or 'nothing'!r}; expected {', '.join(_WRITERS)}.")
    _demand(alt)
    write_bytes(path, writer(figure, alt))


def _png(figure: Figure | Film, alt: str, pose: int | None = None) -> bytes:
    with _one_pose(figure, pose):
        return _drawn(_drawing(figure), "png", {"Title": alt, "Software": None}, dpi=_DOTS_PER_INCH)


def _pdf(figure: Figure | Film, alt: str) -> bytes:
    with _one_pose(figure):
        nobody = dict.fromkeys(("CreationDate", "Creator", "Producer"))
        return _drawn(_drawing(figure), "pdf", {"Title": alt, **nobody})


def _gif(figure: Figure | Film, alt: str) -> bytes:
    from PIL import Image  # which Matplotlib brings

    poses, seconds = (figure.poses, figure.seconds) if isinstance(figure, Film) else (1, 1.0)
    pictures = [Image.open(io.BytesIO(_png(figure, alt, pose))) for pose in range(poses)]
    file = io.BytesIO()
    pictures[0].save(
        file,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=1000 * seconds / poses,  # in ms
        loop=0,
        comment=alt.encode("utf-8"),
    )
    return file.getvalue()


@contextmanager
def _one_pose(figure: Figure | Film, pose: int | None = None) -> Iterator[None]:
    """Hide all poses of a film but one, the one at rest if none is named, without moving anything else."""
    _finish(_drawing(figure))
    if not isinstance(figure, Film):
        yield
        return
    kept = f"pose{figure.still if pose is None else pose}"
    hidden = [each for each in figure.figure.findobj() if (each.get_gid() or "").startswith("pose")]
    hidden = [each for each in hidden if each.get_visible() and each.get_gid() != kept]
    layout = figure.figure.get_layout_engine()
    figure.figure.draw_without_rendering()  # the margins suit all poses
    figure.figure.set_layout_engine("none")
    for artist in hidden:
        artist.set_visible(False)
    try:
        yield
    finally:
        for artist in hidden:
            artist.set_visible(True)
        figure.figure.set_layout_engine(layout)


_WRITERS: dict[str, Callable[[Figure | Film, str], bytes]] = {
    ".svg": lambda figure, alt: svg(figure, alt).encode("utf-8"),
    ".png": _png,
    ".pdf": _pdf,
    ".gif": _gif,
}
"""How a figure is written, by the ending of the file."""


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


@contextmanager
def _pose(ax: Axes, number: int) -> Iterator[None]:
    """Mark what is drawn meanwhile as one pose of a film."""
    before = set(ax.get_children())
    yield
    for artist in set(ax.get_children()) - before:
        artist.set_gid(f"pose{number}")
        if isinstance(artist, Annotation) and artist.arrow_patch is not None:
            artist.arrow_patch.set_gid(f"pose{number}")


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


def _fit(figure: Figure, ax: Axes) -> None:
    """Make a figure as high as its drawing, so that no empty bands are left, and cut nothing but endless lines."""
    for artist in ax.get_children():
        artist.set_clip_on(isinstance(artist, AxLine))
    ax.autoscale_view()
    width, height = (np.ptp(limits) for limits in (ax.get_xlim(), ax.get_ylim()))
    figure.set_figheight(float(np.clip(WIDTH * height / width, 1.6, WIDTH)))


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


def _picture() -> tuple[Figure, Axes]:
    """Return a figure for a drawing to scale, without scales."""
    figure, ax = axes(WIDTH, WIDTH)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(0.08)
    return figure, ax


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


def _arrow_head(ax: Axes, start: Array, end: Array, colour: str, head: float) -> None:
    """Draw an arrow as one outline, which takes little room in a file; an axis that points at the eye has no head."""
    along = end - start
    seen = float(np.linalg.norm(along))
    outline = [start, end]
    if seen > 1.2 * head:
        neck, across = end - head * along / seen, 0.4 * head * np.array([-along[1], along[0]]) / seen
        outline = [start, neck, neck + across, end, neck - across, neck]
    ax.add_patch(Polygon(outline, closed=False, fc=colour, ec=colour, lw=1.8, joinstyle="miter", zorder=5))


def _indexed(letter: str, index: Any) -> str:
    """Return the label of a letter with an index: a number, or TeX that stands as it is."""
    return f"${letter}_{{{index}}}$" if str(index).isdigit() and len(str(index)) > 1 else f"${letter}_{index}$"


class _Label(Annotation):
    """Letters beside a point, which make room for others; see :func:`_make_room_for_labels`."""

    def __init__(self, point: Any, letters: str, colour: str, beside: Any) -> None:
        beside = (float(beside[0]), float(beside[1]))
        super().__init__(
            letters,
            point,
            beside,
            textcoords="offset points",
            color=colour,
            size=_STYLE["font.size"],
            ha="center",
            va="center",
            zorder=6,
        )
        self.beside = beside
        self.set_clip_on(False)

    def places(self) -> Iterable[tuple[float, float]]:
        """Yield the place where the letters are meant to be, then others around the point, ever farther away."""
        yield self.beside
        wanted = np.hypot(*self.beside)
        start = np.arctan2(self.beside[1], self.beside[0])
        for distance in (max(wanted, 12.0), max(wanted, 12.0) + 7, max(wanted, 12.0) + 14):
            for turn in np.radians((0, 30, -30, 60, -60, 90, -90, 120, -120, 150, -150, 180)):
                yield (float(distance * np.cos(start + turn)), float(distance * np.sin(start + turn)))


def _make_room_for_labels(drawing: Figure) -> None:
    """Move each label to the first place around its point where it covers no other label and the fewest lines."""
    labels = drawing.findobj(_Label)
    if not labels:
        return
    for each in labels:
        each.set_position(each.beside)
    for _ in range(2):  # the drawing gives way to letters at its edge, so everything moves a little
        drawing.draw_without_rendering()
        everything = _Paper([each for ax in drawing.axes for each in (*ax.lines, *ax.patches, *ax.texts)])
        for standing in (each for each in labels if each.get_gid() is None):
            everything.put(standing)  # in a film it stands beside every pose
        for pose in sorted({each.get_gid() for each in labels} - {None}):
            paper = _Paper([each for each in everything.parts if each.get_gid() in (None, pose)], everything.boxes)
            for moving in (each for each in labels if each.get_gid() == pose):
                paper.put(moving)


class _Paper:
    """What stands on the paper already: dots along lines, shape (D, 2), and boxes of letters, all in dots."""

    def __init__(self, parts: Sequence[Artist], boxes: Sequence[Array] = ()) -> None:
        self.parts = parts
        self.dots = np.concatenate([np.empty((0, 2)), *map(_dots_along, parts)])
        letters = [each for each in parts if isinstance(each, Text) and each.get_text()]
        others = [each.get_window_extent().get_points() for each in letters if not isinstance(each, _Label)]
        self.boxes = [*boxes, *others]

    def put(self, label: _Label) -> None:
        """Put a label at the best place, and keep its box free from now on."""
        box = label.get_window_extent().get_points()
        unit = label.figure.dpi / 72 if label.figure else 1.0
        places = list(label.places())
        boxes = [box + unit * (np.array(place) - label.xyann) for place in places]
        costs = [rank + self._cost(each, unit) for rank, each in enumerate(boxes)]
        best = costs.index(min(costs))
        label.set_position(places[best])
        self.boxes.append(boxes[best])

    def _cost(self, box: Array, unit: float) -> int:
        """Return a number for what a box covers: a letter weighs more than any line, a line more than a far place."""
        margin = unit * np.array([[-2.0], [2.0]])
        low, high = box + margin / 2
        covered = np.all((self.dots > low) & (self.dots < high), axis=1).sum()
        low, high = box + margin
        others = sum(bool(np.all((low < each[1]) & (each[0] < high))) for each in self.boxes)
        return 15 * int(covered) + 100_000 * others


def _dots_along(artist: Artist) -> Array:
    """Return dots along what a line or a patch draws, no farther apart than 3 dots of the paper, shape (D, 2)."""
    if isinstance(artist, Annotation) and artist.arrow_patch is not None:
        artist = artist.arrow_patch
    if not isinstance(artist, Line2D | Patch):
        return np.empty((0, 2))
    path = artist.get_transform().transform_path(artist.get_path())
    if isinstance(artist, Line2D) and len(path.vertices) == 1:  # a marker
        turn = np.linspace(0, 2 * np.pi, 13)
        radius = min(artist.get_markersize() / 2, 7.0)
        return np.asarray(path.vertices + radius * np.column_stack([np.cos(turn), np.sin(turn)]), dtype=float)
    pieces = [
        np.linspace(start, end, max(2, int(np.ceil(np.linalg.norm(end - start) / 3))))
        for corners in path.to_polygons(closed_only=False)
        for start, end in pairwise(np.asarray(corners, dtype=float))
    ]
    return np.concatenate([np.empty((0, 2)), *pieces])


def _arrow(ax: Axes, start: Array, end: Array, colour: str, width: float = 1.8) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
    ax.annotate("", end, start, arrowprops=style, zorder=5)
    ax.update_datalim([start, end])


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


def _draw_gravity(ax: Axes, gravity: Array, points: Array, size: float) -> None:
    start = np.array([points[:, 0].min() - 0.17 * size, points[:, 1].max()])
    end = start + 0.22 * size * gravity / np.linalg.norm(gravity)
    _arrow(ax, start, end, GRAVITY)
    label(ax, (start + end) / 2, "$g$", GRAVITY, (-11, 0))
