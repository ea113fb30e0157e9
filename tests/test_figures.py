"""Figures are the same every time, carry their alternative text, and can be read on white and dark pages."""

import numpy as np
import pytest
from lxml import etree

from dynlib import figures, robots

ARM = robots.planar_2r(L1=0.8, L2=0.6, m1=3, m2=2, g=9.81)


def test_the_same_input_gives_the_same_file():
    first, second = (figures.svg(figures.planar_arm(ARM, [0.5, 0.5]), "An arm.") for _ in range(2))
    assert first == second
    assert first != figures.svg(figures.planar_arm(ARM, [0.5, 0.51]), "An arm.")


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
