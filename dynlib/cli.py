"""The command ``dynlib``: print an arm, write its derivation, compute its torques.

It needs the package typer, which ``pip install typer`` brings. Each command explains itself: ``dynlib derive --help``.
"""

import functools
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape

from dynlib import newton_euler, robots
from dynlib.algebra import notation
from dynlib.algebra.arrays import as_array, exact_array
from dynlib.derivation import document, steps
from dynlib.files import refuse_to_write
from dynlib.model.robot import Robot
from dynlib.robotfile import tables, toml, urdf

app = typer.Typer(
    help="Dynamics of robot arms: the equations of motion of an arm, step by step or as numbers. An arm is a robot "
    "file (.toml), a robot description (.urdf) or a name of the catalogue. Begin with: dynlib show ur5",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Ending(StrEnum):
    """The formats of a document, as endings of a file's name."""

    HTML = "html"
    MD = "md"
    TEX = "tex"


_FOR_THE_COMMAND = {
    r"allow_impossible=True": "--allow-impossible",
    r"tip=\.\.\.": "--tip NAME",
    r"lock={\.\.\.}": "--lock JOINT=VALUE",
    r"robot\.subs\(\.\.\.\)": "--set NAME=VALUE",
    r"robotfile\.read\(path\)": "its path, such as ./my_arm.toml",
    r"derive\(robot, named=True\)": "dynlib derive ARM --named",
    r"numpy\.radians\(([^()]*)\)": r"\1deg",
}
"""What the command calls that which the library's messages advise to do in Python."""

Arm = Annotated[
    str, typer.Argument(metavar="ARM", help="A robot file (.toml or .urdf), or the name of an arm of the catalogue.")
]
Values = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A number for a symbol of the arm; repeatable.")
]
_URDF = "For a .urdf"
Gravity = Annotated[
    str | None,
    typer.Option(metavar="X,Y,Z", help="Gravity in m/s², which no URDF states: 0,0,-9.81", rich_help_panel=_URDF),
]
Tip = Annotated[
    str | None, typer.Option(metavar="NAME", help="The link whose frame is the tip.", rich_help_panel=_URDF)
]
Base = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The link whose frame is {0}, if not the root.", rich_help_panel=_URDF),
]
Locks = Annotated[
    list[str] | None,
    typer.Option(
        "--lock",
        metavar="JOINT=VALUE",
        help="A joint to hold at a value in rad (or 30deg) or m, such as that of a gripper; repeatable.",
        rich_help_panel=_URDF,
    ),
]
AllowImpossible = Annotated[
    bool, typer.Option("--allow-impossible", help="Take masses that no real body can have.", rich_help_panel=_URDF)
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


_ROUNDING = 1e-13
"""A torque that is smaller than this, relative to the terms of which it is the sum, is printed as 0 (dimensionless)."""


def number(text: str) -> float:
    """Read a number as a robot file does: a decimal, a fraction, an angle in degrees, or a part of pi.

    Args:
        text: such as ``0.5``, ``1e-3``, ``1/3``, ``30deg``, ``pi/2``, ``-3*pi/4``.

    Returns:
        The number; angles in rad.

    Raises:
        ValueError: the text is nothing of that, or too large.

    >>> number("180deg") == number("pi")
    True
    """
    value = tables.exact_number(text)
    if value is None or value.free_symbols:
        raise ValueError(f"{text!r} is no number; expected one such as 0.5, 30deg or -pi/2.")
    if abs(value) > sys.float_info.max:
        raise ValueError(f"{text!r} is too large a number; the largest one is about 1e308.")
    return float(value)


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
        read = [number(word) for word in re.split(r"[,\s]+", text.strip())] if text.strip() else []
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if len(read) != count:
        raise typer.BadParameter(f"got {len(read)} numbers, expected {count}: {_harmless(text)}", param_hint=option)
    return read


def load(
    arm: Arm,
    values: Values = None,
    gravity: Gravity = None,
    tip: Tip = None,
    base: Base = None,
    locks: Locks = None,
    allow_impossible: AllowImpossible = False,
) -> Robot:
    """Return the arm of a file or of the catalogue, with numbers put in for its symbols.

    Args:
        arm: path of a robot file or of a URDF, or a name of the catalogue.
        values: ``NAME=VALUE`` for symbols of the arm, in SI units.
        gravity: of a URDF, three numbers in m/s².
        tip: of a URDF, the link whose frame is the tip.
        base: of a URDF, the link whose frame is {0}.
        locks: of a URDF, ``JOINT=VALUE`` for joints that are held, in rad or m.
        allow_impossible: of a URDF, take mass data that no real body can have.

    Returns:
        The :class:`~dynlib.model.robot.Robot`.

    Raises:
        typer.BadParameter: unreadable numbers, a URDF without gravity, or an option of a URDF for another arm.
        ValueError: the file describes no arm, there is no such arm or no such symbol.
        OSError: the file cannot be read.

    >>> load("planar_2r", ["L1=0.5", "L2=0.5", "m1=1", "m2=1", "g=9.81"]).is_symbolic
    False
    """
    path = Path(arm)
    is_urdf = path.suffix.lower() in (".urdf", ".xml", ".xacro")
    of_urdf = {
        "--gravity": gravity,
        "--tip": tip,
        "--base": base,
        "--lock": locks,
        "--allow-impossible": allow_impossible or None,
    }
    given = [option for option, value in of_urdf.items() if value is not None]
    if is_urdf and gravity is None:
        raise typer.BadParameter("a URDF says nothing of gravity; give it: 0,0,-9.81", param_hint="--gravity")
    if given and not is_urdf:
        raise typer.BadParameter("only a URDF needs it; a robot file says such things itself", param_hint=given[0])
    if is_urdf:
        robot = urdf.read(
            path,
            gravity=numbers(gravity, "--gravity", 3),
            tip=tip,
            base=base,
            lock=_pairs(locks, "--lock"),
            allow_impossible=allow_impossible,
        )
    elif path.suffix or path.exists():
        robot = toml.read(path)
    else:
        robot = robots.load(arm)
    return robot.subs(_pairs(values, "--set")) if values else robot


def _pairs(texts: Sequence[str] | None, option: str) -> dict[str, float]:
    """Read NAME=VALUE as often as it is given after an option."""
    pairs: dict[str, float] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            missing = "name" if equals else "equals sign"
            raise typer.BadParameter(
                f"{text!r} has no {missing}; expected NAME=VALUE, such as m1=2.5.", param_hint=option
            )
        if name in pairs:
            raise typer.BadParameter(f"{name!r} is given twice; expected one value for each name.", param_hint=option)
        try:
            pairs[name] = number(value)
        except ValueError as error:
            raise typer.BadParameter(f"{name!r}: {error}", param_hint=option) from None
    return pairs


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
    """Show warnings as notes, and errors of data and files as one sentence with exit code 1; 130 if interrupted."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except (ValueError, TypeError, ImportError, ArithmeticError) as error:
            _stop(str(error))
        except BrokenPipeError:  # whoever reads the output has seen enough
            raise
        except OSError as error:
            _stop(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except KeyboardInterrupt:
            _stop("interrupted.", code=130)
        finally:
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                _say(f"note: {message}")


def _stop(message: str, code: int = 1) -> None:
    _say(f"dynlib: {message}")
    raise typer.Exit(code)


def _say(message: str) -> None:
    """Print a message of the library beside the output."""
    typer.echo(_harmless(_for_the_command(message)), err=True)


def _for_the_command(text: str) -> str:
    """Return a text of the library with its advice as the command says it."""
    for in_python, here in _FOR_THE_COMMAND.items():
        text = re.sub(in_python, here, text)
    return text


def _harmless(text: str) -> str:
    """Return a text of several lines whose names cannot steer a terminal."""
    return "\n".join(notation.printable(line) for line in text.split("\n"))


def _refuse_output(out: Path, arm: str) -> None:
    """Refuse to write where no file can be written, or over the arm, before anything is computed."""
    refuse_to_write(out)
    if out.exists() and Path(arm).exists() and out.samefile(arm):
        raise ValueError(f"{out} is the file of the arm, which would be lost; choose another name for -o.")


def _of_an_arm(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as the terminal calls it: with the arguments of :func:`load` in the place of a robot.

    The command itself takes ``make_robot``, which loads the arm, and ``arm``, its file or name; then its own options.
    """
    (_, _, *own), (arm, *others) = (inspect.signature(each).parameters.values() for each in (command, load))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        of_arm = {each.name: given.pop(each.name) for each in (arm, *others)}
        with _told_in_words():
            command(functools.partial(load, **of_arm), of_arm["arm"], **given)

    del run.__wrapped__  # the arguments do not stand in the source of the command
    run.__signature__ = inspect.Signature([arm, *own, *others])  # type: ignore[attr-defined]
    return run


@app.command()
@_of_an_arm
def show(make_robot: Callable[[], Robot], arm: str) -> None:
    """Print the tables of an arm: joints, masses, gravity.

    Example: dynlib show puma560
    """
    typer.echo(_harmless(str(make_robot())))


@app.command()
@_of_an_arm
def derive(
    make_robot: Callable[[], Robot],
    arm: str,
    to: Annotated[Ending | None, typer.Option(help="The format; that of -o, or md, if left out.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The file to write; printed if left out, or if it is -.")
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
) -> None:
    """Write the whole derivation of an arm's joint torques, in symbols or for one state.

    Example: dynlib derive planar_2r -o arm.html

    Example: dynlib derive my_arm.toml --to tex --q 0.3,30deg -o arm.tex
    """
    out = None if out == Path("-") else out
    if out is not None:
        _refuse_output(out, arm)
    load_at_tip = _tip_load(tip_force, tip_moment, exact=q is None)
    robot, state = _state(make_robot(), q, dq, ddq)
    if q is not None:
        newton_euler.inverse_dynamics(robot, *state, **load_at_tip)  # a document would print what is no number
    chosen = document.ENDINGS[f".{to}"] if to else None
    with Console(stderr=True).status(escape(f"deriving the torques of {_harmless(robot.name)}")):
        if out is None:
            text = document.render(robot, chosen or "markdown", *state, named=named, **load_at_tip)
        else:
            document.write(robot, out, *state, to=chosen, named=named, **load_at_tip)
    typer.echo(_harmless(f"{out} is written.") if out else text, err=bool(out), nl=bool(out))


@app.command()
@_of_an_arm
def torques(
    make_robot: Callable[[], Robot],
    arm: str,
    q: Positions = None,
    dq: Rates = None,
    ddq: Accelerations = None,
    tip_force: TipForce = None,
    tip_moment: TipMoment = None,
) -> None:
    """Print what the joints must supply for a state; without --q, in symbols.

    Example: dynlib torques puma560 --q 0,pi/4,pi,0,pi/4,0 --dq 0.1,0,0,0,0,0

    Example: dynlib torques planar_2r --set L1=0.5 --set L2=0.4 --set m1=1 --set m2=1 --set g=9.81 --q 0,0

    Example: dynlib torques puma560 --q 0,pi/4,pi,0,pi/4,0 --tip-force 0,0,-10
    """
    load_at_tip = _tip_load(tip_force, tip_moment, exact=q is None)
    robot, state = _state(make_robot(), q, dq, ddq)
    if q is None:
        robot = robot.exact()
        for i, value in enumerate(newton_euler.inverse_dynamics(robot, *robot.motion_symbols(), **load_at_tip), 1):
            typer.echo(_for_the_command(repr(steps.show(rf"\tau_{{{i}}}", value))))
        return
    tau = newton_euler.inverse_dynamics(robot, *state, **load_at_tip)
    small = np.abs(tau) <= _ROUNDING * newton_euler.sizes_of_terms(robot, *state, **load_at_tip)
    for i, (link, value) in enumerate(zip(robot.links, np.where(small, 0.0, tau), strict=True), 1):
        symbol = notation.text(rf"\tau_{{{i}}}")
        typer.echo(f"{symbol} = {value:.10g} {'N m' if link.turn else 'N'}")


def main() -> None:
    """Run the command with the words that stand after it."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")  # some consoles of Windows would refuse a τ
    app(prog_name="dynlib")
