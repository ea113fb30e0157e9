"""Linkages with closed forms: five-bar, four-bar, slider-crank, and the planar arm with three legs."""

from dynlib.linkages.bars import FiveBar, FourBar, SliderCrank, five_bar, four_bar, slider_crank
from dynlib.linkages.linkage import Linkage, circle_meets_line, circles_meet, two_link_angles
from dynlib.linkages.three_legs import ThreeLegged, three_legged

__all__ = [
    "FiveBar",
    "FourBar",
    "Linkage",
    "SliderCrank",
    "ThreeLegged",
    "circle_meets_line",
    "circles_meet",
    "five_bar",
    "four_bar",
    "slider_crank",
    "three_legged",
    "two_link_angles",
]
