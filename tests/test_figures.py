"""Figures are the same every time, carry their alternative text, and can be read on white and dark pages.

Those of the book are looked at one by one, as they are stored in the notebooks.
"""

import itertools
import re
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache

import nbformat
import numpy as np
import pytest
from lxml import etree
from PIL import Image, ImageSequence

from dynlib import linkages, robots
from dynlib.figures import (
    INK,
    LINK,
    MASS,
    PALETTE,
    PAPER,
    TURNS,
    X_AXIS,
    arms,
    axes,
    label,
    linkage,
    moving_linkage,
    save,
    show,
    svg,
)
from dynlib.figures.style import _Label
from dynlib.model import Point
from tools.files import ROOT, notebooks_in_toc

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from page_figures import colours_of

ARM = robots.planar_2r(L1=0.8, L2=0.6, m1=3, m2=2, g=9.81)
RAIL = robots.rp(I1=1, m1=1, m2=1, g=10)
STATES = [[0.2, 0.3], [0.4, 0.35], [0.6, 0.4]]
ALT = "An arm that turns."


def test_the_same_input_gives_the_same_file():
    first, second = (svg(arms.planar_arm(ARM, [0.5, 0.5]), "An arm.") for _ in range(2))
    assert first == second
    assert first != svg(arms.planar_arm(ARM, [0.5, 0.51]), "An arm.")


def test_the_last_digits_of_a_processor_change_nothing():
    """Another processor rounds another way; neither places nor the names of shapes may tell."""

    def drawn(nudge):
        figure, ax = axes()
        x = np.linspace(0, 1, 50)
        ax.plot(x + nudge, np.sin(7 * x) * (1 + nudge), "o-", label="$a$")
        ax.contourf(x, x, np.add.outer(x, x**2) + nudge, levels=[0.513, 1.027])
        return svg(figure, ALT)

    assert drawn(0) == drawn(1e-11)
    assert drawn(0) != drawn(1e-3)


def test_alternative_text_is_in_the_file_and_demanded():
    root = etree.fromstring(svg(axes()[0], "A <b> & a line.").encode())
    assert root.findtext("{*}title") == "A <b> & a line."
    with pytest.raises(ValueError, match="alt is empty; say in one or two sentences"):
        svg(axes()[0], " ")


def test_ground_is_white_and_can_be_taken_away():
    root = etree.fromstring(svg(arms.planar_arm(ARM, [0.5, 0.5]), "An arm.").encode())
    (ground,) = root.findall(".//{*}g[@class='ground']/{*}path")
    assert f"fill: {PAPER}" in ground.get("style")


def luminance(colour):
    channels = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(*colours):
    dark, bright = sorted(map(luminance, colours))
    return (bright + 0.05) / (dark + 0.05)


def test_contrast_of_black_and_white():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)  # a known one


@pytest.mark.parametrize("ground", [0, 1])
@pytest.mark.parametrize("name", sorted(set(PALETTE) - {"paper"}))
def test_contrast_of_the_palette(name, ground):
    needed = 3 if name == "link" else 4.5
    assert contrast(PALETTE[name][ground], PALETTE["paper"][ground]) >= needed


def test_the_colours_of_the_palette_differ():
    for ground in (0, 1):
        assert len({pair[ground] for pair in PALETTE.values()}) == len(PALETTE)


# ---- The figures of the book -------------------------------------------------------------------------


def stored_figures():
    """Return each figure that a notebook of the book holds, by notebook and number."""
    found = {}
    for path in notebooks_in_toc():
        outputs = [output for cell in nbformat.read(path, 4).cells for output in cell.get("outputs", [])]
        drawn = [output.data["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]
        found |= {f"{path.stem} {number}": text for number, text in enumerate(drawn, start=1)}
    return found


BOOK = stored_figures()


@cache
def parsed(name):
    return etree.fromstring(BOOK[name].encode())


LETTERS = {light for name, (light, _) in PALETTE.items() if name not in ("link", "paper")}


def style_of(element, key, default=""):
    found = re.search(rf"(?:^|[;\s]){key}: ([^;]+)", element.get("style", ""))
    return found[1] if found else default


def moved(transform):
    """Return the matrix (3, 3) of an SVG's attribute."""
    matrix = np.eye(3)
    for kind, values in re.findall(r"(\w+)\(([^)]*)\)", transform or ""):
        numbers = [float(each) for each in re.split(r"[ ,]+", values.strip())]
        step = np.eye(3)
        if kind == "translate":
            step[: len(numbers), 2] = numbers
        elif kind == "scale":
            step[0, 0], step[1, 1] = numbers[0], numbers[-1]
        elif kind == "rotate":
            turn = np.radians(numbers[0])
            step[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        else:
            raise ValueError(f"unknown: {kind}")
        matrix = matrix @ step
    return matrix


def place_of(element):
    """Return the matrix from an element's own axes to those of the picture (of the strip, for a pose of a film)."""
    matrix = np.eye(3)
    while element is not None and element.get("class") != "strip":
        matrix = moved(element.get("transform")) @ matrix
        element = element.getparent()
    return matrix


def letters_of(root):
    """Yield each text of a figure: its pose, its box ((left, top), (right, bottom)), and the sizes of its letters."""
    outlines = {path.get("id"): path for path in root.iter("{*}path") if path.get("id")}
    for text in root.iter("{*}g"):
        if text.get("class") != "text":
            continue
        boxes, sizes = [], []
        for use in text.iter("{*}use"):
            outline = outlines[use.get("{http://www.w3.org/1999/xlink}href")[1:]]
            points = np.array([float(each) for each in re.findall(r"-?\d+\.?\d*", outline.get("d", ""))])
            if not len(points):
                continue  # a space
            points = points.reshape(-1, 2)
            matrix = place_of(use) @ moved(outline.get("transform"))
            inside = points @ matrix[:2, :2].T + matrix[:2, 2]
            boxes += [inside.min(axis=0), inside.max(axis=0)]
            sizes.append(np.linalg.norm(matrix[:2, 0]) * 64 * 100)  # outlines are drawn 6400 units high
        if boxes:
            pose = next(iter(text.xpath("ancestor::*[parent::*[@class='strip']]")), None)
            yield pose, np.array([np.min(boxes, axis=0), np.max(boxes, axis=0)]), sizes


def test_the_book_has_its_figures():
    assert len(BOOK) >= 56


@pytest.mark.parametrize("name", BOOK)
def test_colours_are_those_of_the_palette(name):
    assert colours_of(ElementTree.fromstring(BOOK[name])) <= {light for light, _ in PALETTE.values()}


@pytest.mark.parametrize("name", BOOK)
def test_letters_have_colours_for_letters_and_lines_hide_nothing(name):
    for text in parsed(name).xpath("//*[@class='text']//*[@style]"):
        assert style_of(text, "fill") in LETTERS
    drawn = list(parsed(name).iter("{*}path", "{*}use"))
    lines = {style_of(element, "stroke") for element in drawn}
    for element in drawn:
        assert not re.search(r"(^|; )(stroke-)?opacity", element.get("style", "")), "lines are not pale"
        if style_of(element, "fill-opacity", "0") != "0":
            assert style_of(element, "fill") in lines, "a pale region has a line around it"


@pytest.mark.parametrize("name", BOOK)
def test_the_smallest_letter_is_nine_dots_high_on_a_phone(name):
    root = parsed(name)
    scale = 358 / float(root.get("viewBox").split()[2])
    sizes = [size for _, _, letters in letters_of(root) for size in letters]
    assert not sizes or min(sizes) * min(scale, 4 / 3) >= 9


@pytest.mark.parametrize("name", BOOK)
def test_no_text_covers_another_or_is_cut_off(name):
    root = parsed(name)
    width, height = (float(each) for each in root.get("viewBox").split()[2:])
    texts = list(letters_of(root))
    poses = list(root.xpath("//*[@class='strip']/*"))
    for pose, box, _ in texts:
        shift = 0 if pose is None else poses.index(pose) * width
        assert (box - [shift, 0] >= -0.5).all(), "left or top"
        assert (box - [shift, 0] <= [width + 0.5, height + 0.5]).all(), "right or bottom"
    for shown in poses or [None]:
        shift = np.array([0 if shown is None else poses.index(shown) * width, 0])
        boxes = [box if pose is None else box - shift for pose, box, _ in texts if pose in (None, shown)]
        for one, other in itertools.combinations(boxes, 2):
            assert (one[0] >= other[1] - 0.3).any() or (other[0] >= one[1] - 0.3).any(), "two texts overlap"


@pytest.mark.parametrize("name", BOOK)
def test_curves_differ_not_only_in_colour(name):
    for legend in parsed(name).xpath("//*[@class='legend']"):
        entries = [path for path in legend.iter("{*}path", "{*}use") if not path.xpath("ancestor::*[@class='text']")]
        kinds = [
            re.sub(r"#[0-9a-f]{6}", "", path.get("style", "")) + path.get("{http://www.w3.org/1999/xlink}href", "")
            for path in entries
            if not path.xpath("ancestor::*[local-name()='defs']")
        ]
        assert len(set(kinds)) == len(kinds) > 0 or name == "motion 7", kinds  # there two of the four share each


def test_paths_are_smooth():
    for name, text in BOOK.items():
        if 'class="strip"' in text:
            for path in parsed(name).xpath("//*[@class='strip']/preceding-sibling::*/*[local-name()='path']"):
                if style_of(path, "stroke") == X_AXIS and style_of(path, "fill") == "none":
                    assert sharpest(path.get("d")) < 25, name


def sharpest(d):
    """Return the largest turn between two pieces of a line that are long enough to be seen, in degrees."""
    points = np.array([float(each) for each in re.findall(r"-?\d+\.?\d*", d)]).reshape(-1, 2)
    steps = np.diff(points, axis=0)
    long = np.linalg.norm(steps, axis=1) > 5
    turns = np.diff(np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])))
    return float(np.degrees(np.abs(turns[long[1:] & long[:-1]]).max(initial=0)))


# ---- Arms ----------------------------------------------------------------------------------------------


def test_arms_that_cannot_be_drawn():
    with pytest.raises(ValueError, match="planar 2R holds symbols; give them numbers with robot.subs"):
        arms.planar_arm(robots.planar_2r(), [0, 0])
    with pytest.raises(ValueError, match="RP arm has a joint axis that is not along z"):
        arms.planar_arm(robots.rp(I1=1, m1=1, m2=1, g=10), [0.0, 0.1])


def test_a_figure_is_shown_as_svg_with_its_text(capsys):
    show(axes()[0], alt="Two axes.")
    assert "Two axes." in capsys.readouterr().out


# ---- Files ---------------------------------------------------------------------------------------------


def pictures(path):
    """The frames of a file of dots as arrays of colours with transparency, and their times in ms."""
    with Image.open(path) as image:
        frames = [np.asarray(frame.convert("RGBA")) for frame in ImageSequence.Iterator(image)]
        times = [frame.info.get("duration") for frame in ImageSequence.Iterator(image)]
    return frames, times


def inked(dots):
    """Tell of each dot whether it is much darker than the ground."""
    return dots[..., :3].min(axis=-1) < 190


BEGINNINGS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "gif": b"GIF89a"}


@pytest.mark.parametrize("ending", BEGINNINGS)
@pytest.mark.parametrize("moving", [False, True])
def test_a_file_is_what_its_name_says_and_always_the_same(ending, moving, tmp_path):
    for name in ("a", "b"):
        figure = arms.moving_arm(RAIL, STATES) if moving else arms.planar_arm(ARM, [0.5, 0.5])
        save(figure, tmp_path / f"{name}.{ending.upper() if name == 'b' else ending}", ALT)
    first, second = (path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert first == second
    assert first.startswith(BEGINNINGS[ending])
    assert ALT.encode() in first or "".join(f"\\{c}" for c in ALT).encode() in first


@pytest.mark.parametrize("name", ["arm.jpg", "arm.svgz", "arm", "arm.gif.txt", ".gif"])
def test_other_endings_are_refused(name, tmp_path):
    with pytest.raises(ValueError, match=r"ends with '.*'; expected .svg, .png, .pdf, .gif."):
        save(axes()[0], tmp_path / name, ALT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_a_file_needs_alternative_text(ending, tmp_path):
    with pytest.raises(ValueError, match="alt is empty"):
        save(axes()[0], tmp_path / f"a.{ending}", " ")
    assert list(tmp_path.iterdir()) == []


def test_a_gif_shows_each_pose_of_a_film_for_its_time(tmp_path):
    film = arms.moving_arm(RAIL, STATES, seconds=3, still=1)
    before = svg(film, ALT)
    save(film, tmp_path / "a.gif", ALT)
    frames, times = pictures(tmp_path / "a.gif")
    assert times == [1000, 1000, 1000]
    assert {frame.shape for frame in frames} == {(*frames[0].shape[:2], 4)}
    assert all((a != b).any() for a, b in itertools.combinations(frames, 2))
    for still, frame in enumerate(frames):
        save(arms.moving_arm(RAIL, STATES, still=still), tmp_path / "a.png", ALT)
        (dots,), _ = pictures(tmp_path / "a.png")
        assert not (inked(frame) & (dots > 250).all(axis=-1)).any(), "no other pose is seen"
        assert inked(frame).sum() > 0.8 * inked(dots).sum()
    assert svg(film, ALT) == before


@pytest.mark.parametrize("still", [0, 2])
def test_a_picture_of_a_film_holds_the_pose_at_rest(still, tmp_path):
    film = arms.moving_arm(RAIL, STATES, still=still)
    save(film, tmp_path / "a.png", ALT)
    save(film, tmp_path / "a.gif", ALT)
    (dots,), _ = pictures(tmp_path / "a.png")
    frames, _ = pictures(tmp_path / "a.gif")
    same = [inked(frame) & inked(dots) for frame in frames]
    assert np.argmax([each.sum() for each in same]) == still


def test_dots_have_a_white_ground(tmp_path):
    for ending in ("png", "gif"):
        save(arms.planar_arm(ARM, [0.5, 0.5]), tmp_path / f"a.{ending}", ALT)
        (dots,), _ = pictures(tmp_path / f"a.{ending}")
        assert (dots[[0, 0, -1, -1], [0, -1, 0, -1]] > 250).all()


# ---- Arms in space, standing and moving ------------------------------------------------------------


def test_the_same_arm_in_space_gives_the_same_file():
    first, second = (svg(arms.spatial_arm(RAIL, [0.5, 0.3]), ALT) for _ in range(2))
    assert first == second
    assert first != svg(arms.spatial_arm(RAIL, [0.51, 0.3]), ALT)
    assert first != svg(arms.spatial_arm(RAIL, [0.5, 0.3], view=(30, 20)), ALT)
    assert first != svg(arms.spatial_arm(RAIL, [0.5, 0.3], frames=[RAIL.base]), ALT)


def test_points_of_space_fall_where_the_eye_sees_them():
    from_x = arms._projection((0, 0))  # the eye on the x axis: y to the right, z up
    assert np.allclose(from_x @ [5, 1, 0], [1, 0])
    assert np.allclose(from_x @ [5, 0, 1], [0, 1])
    from_above = arms._projection((-90, 90))  # x to the right, y up
    assert np.allclose(from_above @ [1, 2, 5], [1, 2])


def test_a_film_is_one_small_file_that_is_always_the_same():
    first, second = (svg(arms.moving_arm(RAIL, STATES), ALT) for _ in range(2))
    assert first == second
    assert etree.fromstring(first.encode()).findtext("{*}title") == ALT
    assert "http" not in first.replace("http://www.w3.org/", "")
    assert len(svg(arms.moving_arm(RAIL, STATES * 10), ALT)) < 150_000


def test_a_film_shows_every_pose_for_an_equal_time_and_stops_by_itself():
    text = svg(arms.moving_arm(RAIL, STATES, seconds=3, still=1), ALT)
    root = etree.fromstring(text.encode())
    width = float(root.get("viewBox").split()[2])
    (strip,) = root.findall(".//{*}g[@class='strip']")
    assert [pose.get("transform") for pose in strip] == [f"translate({k * width:g} 0)" for k in range(3)]
    counts = [len(pose.xpath("*[local-name()!='defs']")) for pose in strip]
    assert counts[0] == counts[1] == counts[2] > 10
    assert strip.get("style") == f"--way: {-3 * width:g}px; animation: turn 3s steps(3) {TURNS}"
    assert strip.get("transform") == f"translate({-width:g} 0)", "pose 1 is shown where nothing moves, and at the end"
    style = root.findtext(".//{*}style")
    assert "@keyframes turn { from { transform: none } to { transform: translateX(var(--way)) } }" in style
    rest = "@media (prefers-reduced-motion: reduce) { svg:not(.asked) .strip { animation: none !important } }"
    assert rest in style


def test_the_frame_at_rest_is_in_every_pose():
    root = etree.fromstring(svg(arms.moving_arm(RAIL, STATES), ALT).encode())
    texts = root.xpath("//*[@class='text']")
    always = [each for each in texts if not each.xpath("ancestor::*[@class='strip']")]
    assert len(always) == 2  # x and z of {0}; the others belong to their poses
    assert len(texts) == 2 + 3 * 6
    assert not root.xpath("//*[starts-with(@class, 'pose')]"), "every pose was taken up"


def test_a_falling_arm_shows_masses_and_gravity():
    film = arms.moving_planar_arm(ARM, [[0, 0], [-0.5, -0.2], [-1.5, 0.4]], still=2)
    texts = [each.get_text() for each in film.figure.findobj(_Label)]
    assert sorted(texts) == sorted(["$g$", *["$m_1$", "$m_2$"] * 3])
    ends = [line.get_xydata() for line in film.figure.axes[0].get_lines() if line.get_linewidth() == 5]
    assert ends[1][-1] == pytest.approx(ARM.pose([-0.5, -0.2])[:2, 3])
    with pytest.raises(ValueError, match="moving_planar_arm draws arms in the x-y plane only"):
        arms.moving_planar_arm(RAIL, STATES)
    with pytest.raises(ValueError, match="still is 3; expected the number of one of the 3 states"):
        arms.moving_planar_arm(ARM, [[0, 0]] * 3, still=3)


def test_letters_make_room_for_letters():
    figure, ax = axes()
    ax.plot([0, 1], [0, 1])
    for letter in "ABCDE":
        label(ax, (0.5, 0.5), f"${letter}$", beside=(0, 12))
    svg(figure, ALT)
    boxes = [each.get_window_extent().get_points() for each in figure.findobj(_Label)]
    for one, other in itertools.combinations(boxes, 2):
        assert (one[0] > other[1]).any() or (other[0] > one[1]).any()
    assert svg(figure, ALT) == svg(figure, ALT)


def test_films_that_cannot_be_made():
    with pytest.raises(ValueError, match="RP arm holds symbols"):
        arms.moving_arm(robots.rp(), STATES)
    with pytest.raises(ValueError, match="still is 3; expected the number of one of the 3 states, from 0"):
        arms.moving_arm(RAIL, STATES, still=3)
    with pytest.raises(ValueError, match="RP arm holds symbols"):
        arms.spatial_arm(robots.rp(), STATES[0])


def test_a_legend_has_no_box_and_can_be_read_on_dark_pages():
    figure, ax = axes()
    ax.plot([0, 1], [0, 1], label="$a$")
    ax.legend()
    shown = svg(figure, "A line with a legend.")
    legend = etree.fromstring(shown.encode()).find(".//{*}g[@class='legend']")
    assert not [each for each in legend.iter() if "#ffffff" in (each.get("style") or "")]
    assert INK in etree.tostring(legend).decode()


# ---- Linkages --------------------------------------------------------------------------------------

BARS = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[1, 1, 1])
ENGINE = linkages.slider_crank(crank=1, rod=3, masses=[1, 1, 1])
TURN = BARS.positions(np.linspace(0.1, 1.1, 4)[:, None], [1])


def test_the_same_linkage_gives_the_same_file():
    first, second = (svg(linkage(BARS, TURN[0], {"C": BARS.output}), ALT) for _ in range(2))
    assert first == second
    assert first != svg(linkage(BARS, TURN[1], {"C": BARS.output}), ALT)
    assert first != svg(linkage(BARS, TURN[0], {"C": BARS.output}, angles=True), ALT)


def test_links_lie_where_the_positions_say_and_driven_ones_are_blue():
    lines = linkage(BARS, TURN[0]).axes[0].get_lines()
    bars = [line for line in lines if line.get_linewidth() == 4.5]
    assert [line.get_color() for line in bars] == [MASS, LINK, LINK]
    ends = [np.column_stack(line.get_data()) for line in bars]
    lengths = [np.linalg.norm(each[1] - each[0]) for each in ends]
    assert lengths == pytest.approx([1, 3.5, 2.5])
    assert ends[0][0] == pytest.approx([0, 0])
    assert ends[0][1] == pytest.approx([np.cos(0.1), np.sin(0.1)])
    assert ends[1][1] == pytest.approx(ends[2][1], abs=1e-12)  # closed


def test_a_gap_is_seen():
    open_position = TURN[0] + np.array([0, 0.2, 0])
    bars = [line for line in linkage(BARS, open_position).axes[0].get_lines() if line.get_linewidth() == 4.5]
    ends = [np.column_stack(line.get_data())[1] for line in bars]
    assert np.linalg.norm(ends[1] - ends[2]) > 0.1


def test_a_slider_has_a_block_on_its_line():
    ax = linkage(ENGINE, ENGINE.positions([0.0], [-1])).axes[0]
    blocks = [line for line in ax.get_lines() if line.get_marker() == "s"]
    assert [np.ravel(each.get_data()).tolist() for each in blocks] == [[4, 0]]
    assert ax.get_xlim()[1] < 6, "the line of the slider does not stretch the picture"


def test_a_film_of_a_linkage_is_always_the_same_and_holds_every_position():
    first, second = (svg(moving_linkage(BARS, TURN, {"C": BARS.output}), ALT) for _ in range(2))
    assert first == second
    (strip,) = etree.fromstring(first.encode()).findall(".//{*}g[@class='strip']")
    counts = [len(pose.xpath("*[local-name()!='defs']")) for pose in strip]
    assert len(counts) == 4
    assert counts[0] == counts[1] == counts[2] == counts[3] > 4


def test_the_path_of_a_point_is_as_fine_as_asked():
    fine = BARS.positions(np.linspace(0.1, 1.1, 50)[:, None], [1])
    for paths, points in ((None, 4), (fine, 50)):
        film = moving_linkage(BARS, TURN, {"C": BARS.output, "B": Point(1, 2)}, paths=paths)
        courses = [line for line in film.figure.axes[0].get_lines() if line.get_linewidth() == 1.2]
        assert [len(line.get_xdata()) for line in courses] == [points], "a pin inside a chain has none"


def test_a_pin_inside_a_chain_is_only_named():
    plain = linkage(BARS, TURN[0]).axes[0]
    named = linkage(BARS, TURN[0], {"B": Point(1, 2)}).axes[0]
    assert len(named.get_lines()) == len(plain.get_lines())
    assert [each.get_text() for each in named.texts if each.get_text() == "$B$"] == ["$B$"]


def test_linkages_that_cannot_be_drawn():
    with pytest.raises(ValueError, match="linkage computes with floats, and three-legged arm is exact"):
        linkage(linkages.three_legged(), [0] * 6)
    with pytest.raises(ValueError, match="q has 1 entries .these are only the inputs"):
        linkage(BARS, [0.1])
    with pytest.raises(ValueError, match="still is 4; expected the number of one of the 4 states, from 0"):
        moving_linkage(BARS, TURN, still=4)
