"""The command ``dynlib``: print an arm, write its derivation, compute its torques.

It needs the package typer, which ``pip install typer`` brings. Each command explains itself: ``dynlib derive --help``.
"""

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from dynlib import derivation, document, newton_euler, notation, robotfile, robots, urdf
from dynlib.arrays import Array, as_array, exact_array
from dynlib.robot import Robot

app = typer.Typer(
    help="Dynamics of robot arms: the equations of motion of an arm, step by step or as numbers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Ending(StrEnum):
    """The formats of a document, as endings of a file's name."""

    HTML = "html"
    MD = "md"
    TEX = "tex"


_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(deg)?")
_PART_OF_PI = re.compile(r"([+-]?)(?:(\d+(?:\.\d+)?)\*)?pi(?:/(\d+))?")

Arm = Annotated[
    str, typer.Argument(metavar="ARM", help="A robot file (.toml or .urdf), or the name of an arm of the catalogue.")
]
Values = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A number for a symbol of the arm; repeatable.")
]
Gravity = Annotated[
    str | None, typer.Option(metavar="X,Y,Z", help="Gravity in m/s², for a .urdf, which has none: 0,0,-9.81")
]
Positions = Annotated[
    str | None, typer.Option("--q", metavar="Q1,Q2,...", help="Joint values in rad (or 30deg, pi/2) and m.")
]
Rates = Annotated[
    str | None, typer.Option("--dq", metavar="R1,R2,...", help="Joint rates in rad/s and m/s; 0 if only --q is given.")
]
Accelerations = Annotated[
    str | None,
    typer.Option("--ddq", metavar="A1,A2,...", help="Joint accelerations in rad/s² and m/s²; 0 if only --q is given."),
]
TipForce = Annotated[
    str | None, typer.Option(metavar="X,Y,Z", help="Force of the surroundings on the tip in N, in the axes of the tip.")
]
TipMoment = Annotated[
    str | None,
    typer.Option(metavar="X,Y,Z", help="Moment of the surroundings on the tip in N m, in the axes of the tip."),
]


def number(text: str) -> float:
    """Read a number: a decimal, an angle in degrees, or a part of pi.

    Args:
        text: such as ``0.5``, ``1e-3``, ``30deg``, ``pi/2``, ``-3*pi/4``.

    Returns:
        The number; angles in rad.

    Raises:
        ValueError: the text is nothing of that.

    >>> number("180deg") == number("pi")
    True
    """
    word = text.strip()
    if found := _NUMBER.fullmatch(word):
        return float(np.radians(float(found[1])) if found[2] else float(found[1]))
    if (found := _PART_OF_PI.fullmatch(word)) and found[3] != "0":
        return float(found[1] + "1") * float(found[2] or 1) * float(np.pi) / float(found[3] or 1)
    raise ValueError(f"{text!r} is no number; expected one such as 0.5, 30deg or -pi/2.")


def numbers(text: str | None, option: str, count: int) -> list[float] | None:
    """Read numbers that stand after an option, separated by commas or blanks.

    Args:
        text: the numbers; None if the option is not given.
        option: its name, for messages.
        count: how many are expected.

    Returns:
        The numbers, or None.

    Raises:
        typer.BadParameter: a word is no number, or there are more or fewer.

    >>> numbers("0.5, 1", "--q", 2)
    [0.5, 1.0]
    """
    if text is None:
        return None
    try:
        read = [number(word) for word in re.split(r"[,\s]+", text.strip())]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if len(read) != count:
        raise typer.BadParameter(f"got {len(read)} numbers, expected {count}: {text}", param_hint=option)
    return read


def load(arm: str, values: Sequence[str] | None = None, gravity: str | None = None) -> Robot:
    """Return the arm of a file or of the catalogue, with numbers put in for its symbols.

    Args:
        arm: path of a robot file or of a URDF, or a name of the catalogue.
        values: ``NAME=VALUE`` for symbols of the arm, in SI units.
        gravity: of a URDF, three numbers in m/s².

    Returns:
        The :class:`~dynlib.robot.Robot`.

    Raises:
        typer.BadParameter: unreadable numbers, a URDF without gravity, or gravity for another file.
        ValueError: the file describes no arm, there is no such arm or no such symbol.
        OSError: the file cannot be read.

    >>> load("planar_2r", ["L1=0.5", "L2=0.5", "m1=1", "m2=1", "g=9.81"]).is_symbolic
    False
    """
    path = Path(arm)
    is_urdf = path.suffix.lower() in (".urdf", ".xml")
    along = numbers(gravity, "--gravity", 3)
    if is_urdf != (along is not None):
        wrong = "a URDF says nothing of gravity; give it" if is_urdf else "only a URDF needs it; the arm has its own"
        raise typer.BadParameter(wrong, param_hint="--gravity")
    if is_urdf:
        robot = urdf.read(path, gravity=along)
    elif path.suffix or path.exists():
        robot = robotfile.read(path)
    else:
        robot = robots.load(arm)
    return robot.subs(dict(_pair(each) for each in values)) if values else robot


def _pair(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        if not equals:
            raise ValueError(f"{text!r} has no equals sign; expected NAME=VALUE, such as m1=2.5.")
        return name.strip(), number(value)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from None


def _state(robot: Robot, q: str | None, dq: str | None, ddq: str | None) -> tuple[Robot, tuple[Any, ...]]:
    """Return the robot and its state: both of numbers if a state is given, else the state is None."""
    texts = {"--q": q, "--dq": dq, "--ddq": ddq}
    if q is None:
        if given := [option for option, text in texts.items() if text is not None]:
            raise typer.BadParameter("give --q, too", param_hint=given[0])
        return robot, (None, None, None)
    state = tuple(numbers(text, option, robot.n) or [0.0] * robot.n for option, text in texts.items())
    if robot.symbols:
        wanted = " ".join(f"--set {symbol}=..." for symbol in robot.symbols)
        raise typer.BadParameter(f"{robot.name} has symbols; give them numbers: {wanted}", param_hint="--q")
    return robot.subs({}) if robot.is_symbolic else robot, state


def _tip_load(force: str | None, moment: str | None, exact: bool) -> dict[str, Any]:
    """Return the load at the tip as far as it is given; ``exact`` reads decimals as fractions, beside symbols."""
    given = {"tip_force": numbers(force, "--tip-force", 3), "tip_moment": numbers(moment, "--tip-moment", 3)}
    arrays = {name: as_array(value, name, (3,)) for name, value in given.items() if value is not None}
    return {name: exact_array(array) if exact else array for name, array in arrays.items()}


@contextmanager
def _told_in_words() -> Iterator[None]:
    """Show warnings as notes, and errors of data and files as one sentence with exit code 1."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except (ValueError, TypeError, ImportError) as error:
            _stop(str(error))
        except OSError as error:
            _stop(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        finally:
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                typer.echo(f"note: {message}", err=True)


def _stop(message: str) -> None:
    typer.echo(f"dynlib: {message}", err=True)
    raise typer.Exit(1)


@app.command()
def show(arm: Arm, values: Values = None, gravity: Gravity = None) -> None:
    """Print the tables of an arm: joints, masses, gravity.

    Example: dynlib show puma560
    """
    with _told_in_words():
        typer.echo(str(load(arm, values, gravity)))


@app.command()
def derive(
    arm: Arm,
    to: Annotated[Ending | None, typer.Option(help="The format; that of -o, or md, if left out.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The file to write; printed if left out.", dir_okay=False)
    ] = None,
    q: Positions = None,
    dq: Rates = None,
    ddq: Accelerations = None,
    named: Annotated[
        bool | None,
        typer.Option(help="Names for intermediate values; without either, if the arm has more than three joints."),
    ] = None,
    tip_force: TipForce = None,
    tip_moment: TipMoment = None,
    values: Values = None,
    gravity: Gravity = None,
) -> None:
    """Write the whole derivation of an arm's joint torques, in symbols or for one state.

    Example: dynlib derive planar_2r -o arm.html

    Example: dynlib derive my_arm.toml --to tex --q 0.3,30deg -o arm.tex
    """
    with _told_in_words():
        load_at_tip = _tip_load(tip_force, tip_moment, exact=q is None)
        robot, state = _state(load(arm, values, gravity), q, dq, ddq)
        chosen = document.ENDINGS[f".{to}"] if to else None
        with Console(stderr=True).status(f"deriving the torques of {robot.name}"):
            if out is None:
                text = document.render(robot, chosen or "markdown", *state, named=named, **load_at_tip)
            else:
                document.write(robot, out, *state, to=chosen, named=named, **load_at_tip)
        typer.echo(f"{out} is written." if out else text, err=bool(out), nl=bool(out))


@app.command()
def torques(
    arm: Arm,
    q: Positions = None,
    dq: Rates = None,
    ddq: Accelerations = None,
    tip_force: TipForce = None,
    tip_moment: TipMoment = None,
    values: Values = None,
    gravity: Gravity = None,
) -> None:
    """Print what the joints must supply for a state; without --q, in symbols.

    Example: dynlib torques puma560 --q 0,pi/4,pi,0,pi/4,0 --dq 0.1,0,0,0,0,0

    Example: dynlib torques planar_2r --set L1=0.5 --set L2=0.4 --set m1=1 --set m2=1 --set g=9.81 --q 0,0

    Example: dynlib torques puma560 --q 0,pi/4,pi,0,pi/4,0 --tip-force 0,0,-10
    """
    with _told_in_words():
        load_at_tip = _tip_load(tip_force, tip_moment, exact=q is None)
        robot, state = _state(load(arm, values, gravity), q, dq, ddq)
        if q is None:
            robot = robot.exact()
            state = robot.motion_symbols()
        _print_torques(robot, newton_euler.inverse_dynamics(robot, *state, **load_at_tip))


def _print_torques(robot: Robot, tau: Array) -> None:
    for i, (link, value) in enumerate(zip(robot.links, tau, strict=True), start=1):
        symbol = rf"\tau_{{{i}}}"
        if isinstance(value, float):
            typer.echo(f"{notation.text(symbol)} = {value + 0.0:.10g} {'N m' if link.turn else 'N'}")
        else:
            typer.echo(repr(derivation.show(symbol, value)))


def main() -> None:
    """Run the command with the words that stand after it."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")  # some consoles of Windows would refuse a τ
    app(prog_name="dynlib")
