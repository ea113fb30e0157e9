"""Figures are the same every time, carry their alternative text, and can be read on white and dark pages."""

import itertools

import numpy as np
import pytest
from lxml import etree
from PIL import Image, ImageSequence

from dynlib import figures, linkages, robots

ARM = robots.planar_2r(L1=0.8, L2=0.6, m1=3, m2=2, g=9.81)
RAIL = robots.rp(I1=1, m1=1, m2=1, g=10)
STATES = [[0.2, 0.3], [0.4, 0.35], [0.6, 0.4]]
ALT = "An arm that turns."


def test_the_same_input_gives_the_same_file():
    first, second = (figures.svg(figures.planar_arm(ARM, [0.5, 0.5]), "An arm.") for _ in range(2))
    assert first == second
    assert first != figures.svg(figures.planar_arm(ARM, [0.5, 0.51]), "An arm.")


def test_the_last_digits_of_a_processor_change_nothing():
    """Another processor rounds another way; neither places nor the names of shapes may tell."""

    def drawn(nudge):
        figure, ax = figures.axes()
        x = np.linspace(0, 1, 50)
        ax.plot(x + nudge, np.sin(7 * x) * (1 + nudge), "o-", label="$a$")
        ax.contourf(x, x, np.add.outer(x, x**2) + nudge, levels=[0.513, 1.027])
        return figures.svg(figure, ALT)

    assert drawn(0) == drawn(1e-11)
    assert drawn(0) != drawn(1e-3)


def test_alternative_text_is_in_the_file_and_demanded():
    root = etree.fromstring(figures.svg(figures.axes()[0], "A <b> & a line.").encode())
    assert root.findtext(".//{http://purl.org/dc/elements/1.1/}title") == "A <b> & a line."
    with pytest.raises(ValueError, match="alt is empty; say in one or two sentences"):
        figures.svg(figures.axes()[0], " ")


def test_ground_is_transparent():
    root = etree.fromstring(figures.svg(figures.planar_arm(ARM, [0.5, 0.5]), "An arm.").encode())
    patch = root.find(".//{*}g[@id='patch_1']/{*}path")
    assert "fill: none" in patch.get("style")


@pytest.mark.parametrize("page", ["#ffffff", "#121212"])
@pytest.mark.parametrize("name", ["INK", "X_AXIS", "Y_AXIS", "MASS", "GRAVITY"])
def test_contrast_on_both_pages(name, page):
    def luminance(colour):
        channels = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    bright, dark = sorted([luminance(getattr(figures, name)), luminance(page)], reverse=True)
    assert (bright + 0.05) / (dark + 0.05) >= 3


def test_arms_that_cannot_be_drawn():
    with pytest.raises(ValueError, match="planar 2R holds symbols; give them numbers with robot.subs"):
        figures.planar_arm(robots.planar_2r(), [0, 0])
    with pytest.raises(ValueError, match="RP arm has a joint axis that is not along z"):
        figures.planar_arm(robots.rp(I1=1, m1=1, m2=1, g=10), [0.0, 0.1])


def test_a_figure_is_shown_as_svg_with_its_text(capsys):
    figures.show(figures.axes()[0], alt="Two axes.")
    assert "Two axes." in capsys.readouterr().out


# ---- Files ---------------------------------------------------------------------------------------------


def pictures(path):
    """The frames of a file of dots as arrays of colours with transparency, and their times in ms."""
    with Image.open(path) as image:
        frames = [np.asarray(frame.convert("RGBA")) for frame in ImageSequence.Iterator(image)]
        times = [frame.info.get("duration") for frame in ImageSequence.Iterator(image)]
    return frames, times


BEGINNINGS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "gif": b"GIF89a"}


@pytest.mark.parametrize("ending", BEGINNINGS)
@pytest.mark.parametrize("moving", [False, True])
def test_a_file_is_what_its_name_says_and_always_the_same(ending, moving, tmp_path):
    for name in ("a", "b"):
        figure = figures.moving_arm(RAIL, STATES) if moving else figures.planar_arm(ARM, [0.5, 0.5])
        figures.save(figure, tmp_path / f"{name}.{ending.upper() if name == 'b' else ending}", ALT)
    first, second = (path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert first == second
    assert first.startswith(BEGINNINGS[ending])
    assert ALT.encode() in first or "".join(f"\\{c}" for c in ALT).encode() in first


@pytest.mark.parametrize("name", ["arm.jpg", "arm.svgz", "arm", "arm.gif.txt", ".gif"])
def test_other_endings_are_refused(name, tmp_path):
    with pytest.raises(ValueError, match=r"ends with '.*'; expected .svg, .png, .pdf, .gif."):
        figures.save(figures.axes()[0], tmp_path / name, ALT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_a_file_needs_alternative_text(ending, tmp_path):
    with pytest.raises(ValueError, match="alt is empty"):
        figures.save(figures.axes()[0], tmp_path / f"a.{ending}", " ")
    assert list(tmp_path.iterdir()) == []


def test_a_gif_shows_each_pose_of_a_film_for_its_time(tmp_path):
    film = figures.moving_arm(RAIL, STATES, seconds=3, still=1)
    before = figures.svg(film, ALT)
    figures.save(film, tmp_path / "a.gif", ALT)
    frames, times = pictures(tmp_path / "a.gif")
    assert times == [1000, 1000, 1000]
    assert {frame.shape for frame in frames} == {(*frames[0].shape[:2], 4)}
    assert all((a != b).any() for a, b in itertools.combinations(frames, 2))
    for still, frame in enumerate(frames):
        figures.save(figures.moving_arm(RAIL, STATES, still=still), tmp_path / "a.png", ALT)
        (dots,), _ = pictures(tmp_path / "a.png")
        assert not ((frame[..., 3] > 0) & (dots[..., 3] == 0)).any(), "no other pose is seen"
        assert (frame[..., 3] > 0).sum() > 0.8 * (dots[..., 3] > 127).sum()
    assert figures.svg(film, ALT) == before


@pytest.mark.parametrize("still", [0, 2])
def test_a_picture_of_a_film_holds_the_pose_at_rest(still, tmp_path):
    film = figures.moving_arm(RAIL, STATES, still=still)
    figures.save(film, tmp_path / "a.png", ALT)
    figures.save(film, tmp_path / "a.gif", ALT)
    (dots,), _ = pictures(tmp_path / "a.png")
    frames, _ = pictures(tmp_path / "a.gif")
    opaque = [(frame[..., 3] > 0) & (dots[..., 3] > 127) for frame in frames]
    assert np.argmax([each.sum() for each in opaque]) == still


def test_dots_have_a_transparent_ground(tmp_path):
    for ending in ("png", "gif"):
        figures.save(figures.planar_arm(ARM, [0.5, 0.5]), tmp_path / f"a.{ending}", ALT)
        (dots,), _ = pictures(tmp_path / f"a.{ending}")
        assert (dots[[0, 0, -1, -1], [0, -1, 0, -1], 3] == 0).all()


# ---- Arms in space, standing and moving ------------------------------------------------------------


def test_the_same_arm_in_space_gives_the_same_file():
    first, second = (figures.svg(figures.spatial_arm(RAIL, [0.5, 0.3]), ALT) for _ in range(2))
    assert first == second
    assert first != figures.svg(figures.spatial_arm(RAIL, [0.51, 0.3]), ALT)
    assert first != figures.svg(figures.spatial_arm(RAIL, [0.5, 0.3], view=(30, 20)), ALT)
    assert first != figures.svg(figures.spatial_arm(RAIL, [0.5, 0.3], frames=[RAIL.base]), ALT)


def test_points_of_space_fall_where_the_eye_sees_them():
    from_x = figures._projection((0, 0))  # the eye on the x axis: y to the right, z up
    assert np.allclose(from_x @ [5, 1, 0], [1, 0])
    assert np.allclose(from_x @ [5, 0, 1], [0, 1])
    from_above = figures._projection((-90, 90))  # x to the right, y up
    assert np.allclose(from_above @ [1, 2, 5], [1, 2])


def test_a_film_is_one_small_file_that_is_always_the_same():
    first, second = (figures.svg(figures.moving_arm(RAIL, STATES), ALT) for _ in range(2))
    assert first == second
    assert etree.fromstring(first.encode()).findtext(".//{http://purl.org/dc/elements/1.1/}title") == ALT
    assert "http" not in first.split("</metadata>")[1].replace("http://www.w3.org/", "")
    assert len(figures.svg(figures.moving_arm(RAIL, STATES * 10), ALT)) < 300_000


def test_a_film_shows_every_pose_for_an_equal_time_and_stands_still_on_demand():
    text = figures.svg(figures.moving_arm(RAIL, STATES, seconds=3, still=1), ALT)
    root = etree.fromstring(text.encode())
    counts = [len(root.findall(f".//{{*}}g[@class='pose pose{k}']")) for k in range(3)]
    assert counts[0] == counts[1] == counts[2] > 10
    style = root.findtext(".//{*}style")
    assert "@keyframes turn { 0% { visibility: visible } 33.3333%, 100% { visibility: hidden } }" in style
    delays = [f".pose{k} {{ animation-delay: {k - 3}s }}" for k in range(3)]
    assert [line for line in style.splitlines() if "delay" in line] == delays
    rules = style.splitlines()
    hidden, shown = rules.index(".pose { visibility: hidden }"), rules.index(".pose1 { visibility: visible }")
    assert hidden < shown, "the later rule wins"
    assert "@media (prefers-reduced-motion: reduce) { .pose { animation: none } }" in style


def test_the_frame_at_rest_is_in_every_pose():
    root = etree.fromstring(figures.svg(figures.moving_arm(RAIL, STATES), ALT).encode())
    assert root.findall(".//{*}g[@class='pose pose0']")
    always = [g.get("id") for g in root.iter("{*}g") if (g.get("id") or "").startswith("text_")]
    assert len(always) == 2  # x and z of {0}; the others carry the number of their pose


def test_films_that_cannot_be_made():
    with pytest.raises(ValueError, match="RP arm holds symbols"):
        figures.moving_arm(robots.rp(), STATES)
    with pytest.raises(ValueError, match="still is 3; expected the number of one of the 3 states, from 0"):
        figures.moving_arm(RAIL, STATES, still=3)
    with pytest.raises(ValueError, match="RP arm holds symbols"):
        figures.spatial_arm(robots.rp(), STATES[0])


def test_a_legend_has_no_box_and_can_be_read_on_dark_pages():
    figure, ax = figures.axes()
    ax.plot([0, 1], [0, 1], label="$a$")
    ax.legend()
    shown = figures.svg(figure, "A line with a legend.")
    legend = etree.fromstring(shown.encode()).find(".//{*}g[@id='legend_1']")
    assert not [each for each in legend.iter() if "#ffffff" in (each.get("style") or "")]
    assert figures.INK in etree.tostring(legend).decode()


# ---- Linkages --------------------------------------------------------------------------------------

BARS = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[1, 1, 1])
ENGINE = linkages.slider_crank(crank=1, rod=3, masses=[1, 1, 1])
TURN = BARS.positions(np.linspace(0.1, 1.1, 4)[:, None], [1])


def test_the_same_linkage_gives_the_same_file():
    first, second = (figures.svg(figures.linkage(BARS, TURN[0], {"C": BARS.output}), ALT) for _ in range(2))
    assert first == second
    assert first != figures.svg(figures.linkage(BARS, TURN[1], {"C": BARS.output}), ALT)
    assert first != figures.svg(figures.linkage(BARS, TURN[0], {"C": BARS.output}, angles=True), ALT)


def test_links_lie_where_the_positions_say_and_driven_ones_are_blue():
    lines = figures.linkage(BARS, TURN[0]).axes[0].get_lines()
    bars = [line for line in lines if line.get_linewidth() == 4.5]
    assert [line.get_color() for line in bars] == [figures.MASS, figures.INK, figures.INK]
    ends = [np.column_stack(line.get_data()) for line in bars]
    lengths = [np.linalg.norm(each[1] - each[0]) for each in ends]
    assert lengths == pytest.approx([1, 3.5, 2.5])
    assert ends[0][0] == pytest.approx([0, 0])
    assert ends[0][1] == pytest.approx([np.cos(0.1), np.sin(0.1)])
    assert ends[1][1] == pytest.approx(ends[2][1], abs=1e-12)  # closed


def test_a_gap_is_seen():
    open_position = TURN[0] + np.array([0, 0.2, 0])
    bars = [line for line in figures.linkage(BARS, open_position).axes[0].get_lines() if line.get_linewidth() == 4.5]
    ends = [np.column_stack(line.get_data())[1] for line in bars]
    assert np.linalg.norm(ends[1] - ends[2]) > 0.1


def test_a_slider_has_a_block_on_its_line():
    ax = figures.linkage(ENGINE, ENGINE.positions([0.0], [-1])).axes[0]
    blocks = [line for line in ax.get_lines() if line.get_marker() == "s"]
    assert [np.ravel(each.get_data()).tolist() for each in blocks] == [[4, 0]]
    assert ax.get_xlim()[1] < 6, "the line of the slider does not stretch the picture"


def test_a_film_of_a_linkage_is_always_the_same_and_holds_every_position():
    first, second = (figures.svg(figures.moving_linkage(BARS, TURN, {"C": BARS.output}), ALT) for _ in range(2))
    assert first == second
    root = etree.fromstring(first.encode())
    counts = [len(root.findall(f".//{{*}}g[@class='pose pose{k}']")) for k in range(4)]
    assert counts[0] == counts[1] == counts[2] == counts[3] > 4


def test_linkages_that_cannot_be_drawn():
    with pytest.raises(ValueError, match="linkage computes with floats, and three-legged arm is exact"):
        figures.linkage(linkages.three_legged(), [0] * 6)
    with pytest.raises(ValueError, match="q has 1 entries .these are only the inputs"):
        figures.linkage(BARS, [0.1])
    with pytest.raises(ValueError, match="still is 4; expected the number of one of the 4 states, from 0"):
        figures.moving_linkage(BARS, TURN, still=4)
