"""A catalogue of arms."""

from dynlib.robots.catalogue import load, names, source, text
from dynlib.robots.planar import free_link, planar_2r, rp

__all__ = ["free_link", "load", "names", "planar_2r", "rp", "source", "text"]
