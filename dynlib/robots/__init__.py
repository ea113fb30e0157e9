"""A catalogue of arms."""

from dynlib.robots.planar import free_link, planar_2r, rp

__all__ = ["free_link", "planar_2r", "rp"]
