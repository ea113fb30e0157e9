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
from matplotlib.patches import Patch, Polygon
from matplotlib.text import Annotation, Text

from dynlib.algebra.arrays import Array
from dynlib.files import write_bytes

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


@contextmanager
def _pose(ax: Axes, number: int) -> Iterator[None]:
    """Mark what is drawn meanwhile as one pose of a film."""
    before = set(ax.get_children())
    yield
    for artist in set(ax.get_children()) - before:
        artist.set_gid(f"pose{number}")
        if isinstance(artist, Annotation) and artist.arrow_patch is not None:
            artist.arrow_patch.set_gid(f"pose{number}")


def _fit(figure: Figure, ax: Axes) -> None:
    """Make a figure as high as its drawing, so that no empty bands are left, and cut nothing but endless lines."""
    for artist in ax.get_children():
        artist.set_clip_on(isinstance(artist, AxLine))
    ax.autoscale_view()
    width, height = (np.ptp(limits) for limits in (ax.get_xlim(), ax.get_ylim()))
    figure.set_figheight(float(np.clip(WIDTH * height / width, 1.6, WIDTH)))


def _picture() -> tuple[Figure, Axes]:
    """Return a figure for a drawing to scale, without scales."""
    figure, ax = axes(WIDTH, WIDTH)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(0.08)
    return figure, ax


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


def _draw_gravity(ax: Axes, gravity: Array, points: Array, size: float) -> None:
    start = np.array([points[:, 0].min() - 0.17 * size, points[:, 1].max()])
    end = start + 0.22 * size * gravity / np.linalg.norm(gravity)
    _arrow(ax, start, end, GRAVITY)
    label(ax, (start + end) / 2, "$g$", GRAVITY, (-11, 0))
