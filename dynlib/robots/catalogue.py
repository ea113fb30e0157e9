"""The catalogue: arms in data files beside this module, each with the source, unit and frame of its numbers."""

import difflib
from importlib import resources

from dynlib.model.robot import Robot
from dynlib.robotfile import toml

_ENDING = ".toml"


def names() -> tuple[str, ...]:
    """Return the names of the arms in the catalogue, in alphabetical order.

    >>> "ur5" in names()
    True
    """
    files = resources.files("dynlib.robots").iterdir()
    return tuple(sorted(file.name.removesuffix(_ENDING) for file in files if file.name.endswith(_ENDING)))


def load(name: str) -> Robot:
    """Return an arm of the catalogue.

    Args:
        name: one of :func:`names`.

    Returns:
        The :class:`~dynlib.model.robot.Robot`. A warning says so if its published numbers break a physical rule.

    Raises:
        ValueError: there is no such arm; the message lists those there are.

    >>> load("panda").n
    7
    """
    return toml.loads(text(name), name + _ENDING)


def source(name: str) -> str:
    """Return where the numbers of an arm of the catalogue come from.

    Args:
        name: one of :func:`names`.

    Returns:
        The citation.

    Raises:
        ValueError: there is no such arm.

    >>> source("scara")
    'Example of this course with round numbers; not the data of any machine'
    """
    return toml.details(text(name), name + _ENDING)["source"]


def text(name: str) -> str:
    """Return the data file of an arm: a model for an own one.

    Args:
        name: one of :func:`names`.

    Returns:
        TOML, as :func:`dynlib.robotfile.toml.loads` reads it.

    Raises:
        ValueError: there is no such arm.

    >>> print(text("planar_2r")[:47])
    # The planar 2R of document A, section 5.2.6: t
    """
    if name not in names():
        close = difflib.get_close_matches(str(name).lower(), names(), n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"the catalogue has no arm {name!r}; it has {', '.join(names())}.{hint} "
            "A file of your own is read by robotfile.read(path)."
        )
    return (resources.files("dynlib.robots") / (name + _ENDING)).read_text(encoding="utf-8")
