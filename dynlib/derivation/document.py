r"""The whole derivation of an arm as one document, in Markdown, LaTeX or HTML.

:func:`write` makes a file, :func:`render` its text. The document tells the method from the base to the torques in words
and shows every step of the printed derivation (:mod:`dynlib.derivation`) with its equation, source number and value. It
is written in two stages: :func:`_blocks` says *what* stands in it, and one writer a format says *how* it looks there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sympy

from dynlib.algebra import lines, notation
from dynlib.algebra.lines import COLUMN, Row
from dynlib.derivation import size
from dynlib.derivation.html import _html
from dynlib.derivation.latex import _latex
from dynlib.derivation.markdown import _markdown
from dynlib.derivation.parts import SECTIONS, WORDS, Block, Formula, Grid, Heading, Math, Paragraph, _Words
from dynlib.derivation.size import count_terms
from dynlib.derivation.steps import Derivation, derive, written_out
from dynlib.files import refuse_to_write, write_text
from dynlib.model.links import Body
from dynlib.model.mechanism import Mechanism
from dynlib.model.robot import Robot
from dynlib.velocity import BaseMotion, Wrench

Format = Literal["markdown", "latex", "html"]
ENDINGS: dict[str, Format] = {".md": "markdown", ".tex": "latex", ".html": "html", ".htm": "html"}
"""The format that the ending of a file's name stands for."""


def render(
    robot: Robot,
    to: Format = "markdown",
    q: Any = None,
    dq: Any = None,
    ddq: Any = None,
    *,
    named: bool | None = None,
    language: str = "en",
    **options: Any,
) -> str:
    """Return the whole derivation of an arm's joint torques as a document.

    Args:
        robot: the arm. Without a state, an arm of numbers is taken as exact decimals.
        to: ``"markdown"``, ``"latex"`` (article class with amsmath) or ``"html"`` (one file that needs no network).
        q: joint values, shape (N,), in rad or m; symbols if left out.
        dq: joint rates, shape (N,), in rad/s or m/s; symbols if left out, or 0 if q is given.
        ddq: joint accelerations, shape (N,), in rad/s² or m/s²; symbols if left out, or 0 if q is given.
        named: name the intermediate values, see :func:`~dynlib.derivation.steps.derive`; None for doing so if the arm
            has more than three joints or a value is too long to be written out.
        language: which column of :data:`WORDS`.
        **options: loads, base motion and steps, as in :func:`dynlib.newton_euler.recursion`.

    Returns:
        The text of the document.

    Raises:
        ValueError: an unknown format or language, or what the derivation refuses.
        TypeError: floats beside symbols, or a linkage.
        ImportError: HTML was asked for and the package latex2mathml is not installed.

    >>> from dynlib import robots
    >>> print(render(robots.planar_2r()).splitlines()[0])
    # Joint torques of planar 2R
    """
    if to not in _WRITERS:
        raise ValueError(f"the format is {to!r}; expected {', '.join(map(repr, _WRITERS))}.")
    if language not in WORDS:
        raise ValueError(f"there are no words for the language {language!r}; there are {', '.join(WORDS)}.")
    _refuse_other_systems(robot)
    state = _at_rest_if_left_out(q, dq, ddq)
    shown = robot.exact() if all(value is None for value in state) else robot
    derived = _derived(shown, state, named, options)
    blocks = list(_blocks(robot, derived, state, options, _Words(WORDS[language])))
    return _WRITERS[to](blocks, WORDS[language])


def write(robot: Robot, path: str | Path, *state: Any, to: Format | None = None, **options: Any) -> Path:
    """Write the whole derivation of an arm's joint torques into a file, whole or not at all.

    Args:
        robot: the arm.
        path: where to; a file that is there already is replaced.
        *state: q, dq, ddq, as in :func:`render`; rates and accelerations are 0 if only q is given.
        to: the format; None for the one that the ending says (``.md``, ``.tex``, ``.html``).
        **options: as in :func:`render`.

    Returns:
        The path.

    Raises:
        ValueError: the ending says no format, or what :func:`render` refuses.
        TypeError: floats beside symbols, or a linkage.
        OSError: the file cannot be written.

    >>> import tempfile
    >>> from dynlib import robots
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(robots.planar_2r(), Path(folder) / "arm.tex").name
    'arm.tex'
    """
    _refuse_other_systems(robot)
    path = Path(path)
    chosen = to or ENDINGS.get(path.suffix.lower())
    if chosen is None:
        pdf = " For a PDF print the .html from a browser, or give the .tex to LaTeX." * (path.suffix.lower() == ".pdf")
        raise ValueError(f"{path.name} ends with {path.suffix or 'nothing'!r}; expected {', '.join(ENDINGS)}.{pdf}")
    refuse_to_write(path)  # rather before the derivation than after it
    write_text(path, render(robot, chosen, *state, **options))
    return path


def _refuse_other_systems(robot: Any) -> None:
    if isinstance(robot, Mechanism):
        raise TypeError(
            f"{robot.name} is a linkage; a document tells how the torques of a single arm are derived. For a linkage "
            "see closed_chains, and structure for its chains one by one."
        )
    if not isinstance(robot, Robot):
        raise TypeError(f"expected an arm, a Robot; got {type(robot).__name__}. robots.load(name) gives one.")


def _at_rest_if_left_out(q: Any, dq: Any, ddq: Any) -> tuple[Any, Any, Any]:
    """Return the state; where only a position is given, the arm is at rest."""
    rest = None if q is None else np.zeros(np.shape(q), dtype=int)
    return q, rest if dq is None else dq, rest if ddq is None else ddq


def _derived(robot: Robot, state: tuple[Any, Any, Any], named: bool | None, options: Mapping[str, Any]) -> Derivation:
    """Return the derivation, with names if they are asked for or needed."""
    if named is None and robot.n <= 3:
        plain = derive(robot, *state, **options)
        if not any(step.is_too_long for step in plain):
            return plain
    return derive(robot, *state, named=named is not False, **options)


def _blocks(
    robot: Robot, derived: Derivation, state: tuple[Any, Any, Any], options: Mapping[str, Any], words: _Words
) -> Iterator[Block]:
    yield Heading(1, words.say("title", name=robot.name), "title")
    yield Paragraph(words.say("intro"))
    yield Paragraph(words.say("notation"))
    if derived.names:
        barred = any("bar_" in str(name) for name in derived.names)
        yield Paragraph((*words.say("named"), *((" ", *words.say("barred")) if barred else ())))
    yield Heading(2, words.say("arm"), "arm")
    yield from _arm(robot, words)
    if any(value is not None for value in state):
        yield Heading(2, words.say("state"), "state")
        yield from _state(robot, state, words)
    if options.keys() & {"tip_force", "tip_moment", "loads", "base"}:
        yield Heading(2, words.say("loads"), "loads")
        yield from _loads(options, words)
    for section, quantities in SECTIONS.items():
        yield Heading(2, words.say(section), section)
        for quantity in quantities:
            steps = [step for step in derived if step.equation.quantity == quantity]
            if steps:
                yield Paragraph(words.say(quantity))
            yield from (Formula((*step.rows(), *step.meanings())) for step in steps)
    yield Heading(2, words.say("result"), "result")
    yield from _result(robot, derived, words)


def _arm(robot: Robot, words: _Words) -> Iterator[Block]:
    if robot.table is None:
        yield Paragraph(words.say("no_dh"))
    else:
        yield Paragraph(words.say(f"dh_{robot.table.convention}"))
        yield _dh_grid(robot.table.rows, words)
    yield Paragraph((*words.say("masses"), *((" ", *words.say("payload")) if robot.payload is not None else ())))
    yield from _mass_grids(robot, words)
    if any(link.motor is not None for link in robot.links):
        yield Paragraph(words.say("motors"))
        yield _motor_grid(robot, words)
    yield Paragraph(words.say("gravity"))
    yield Formula((Row("g", "= " + notation.latex(robot.gravity)),))
    for key, symbol, pose in (
        ("base", "{}^{w}_{0}T", robot.base),
        ("tool", rf"{{}}^{{{robot.n}}}_{{{robot.n + 1}}}T", robot.tool),
    ):
        if any(entry != wanted for entry, wanted in zip(pose.flat, np.eye(4, dtype=int).flat, strict=True)):
            yield Paragraph(words.say(key, n=robot.n, tip=robot.n + 1))
            yield Formula((Row(symbol, "= " + notation.latex(pose)),))


def _dh_grid(rows: Sequence[Mapping[str, Any]], words: _Words) -> Grid:
    """Return the table with the joint variable where it belongs."""
    head = ("i", words["joint"], Math("a"), Math(r"\alpha"), Math("d"), Math(r"\theta"))
    shown, moving = [], 0
    for number, row in enumerate(rows, start=1):
        joint = row.get("joint", "revolute")
        moving += joint != "fixed"
        cells = {key: row.get(key, 0) for key in ("a", "alpha", "d", "theta")}
        variable = {"revolute": ("theta", rf"\theta_{{{moving}}}"), "prismatic": ("d", f"d_{{{moving}}}")}.get(joint)
        tex = {key: _entry(value, angle=key in ("alpha", "theta")) for key, value in cells.items()}
        if variable is not None:
            key, symbol = variable
            constant = cells[key] + row.get("offset", 0)
            tex[key] = symbol if constant == 0 else _joined_sum(symbol, _entry(constant, angle=key == "theta"))
        shown.append((str(number), words[joint], *(Math(tex[key]) for key in ("a", "alpha", "d", "theta"))))
    return Grid(head, tuple(shown))


def _joined_sum(first: str, second: str) -> str:
    return f"{first} - {second[1:].lstrip()}" if second.startswith("-") else f"{first} + {second}"


def _entry(value: Any, angle: bool = False) -> str:
    """Return the TeX of a number or symbol of the arm; an angle that is a simple part of π is shown as that."""
    if not angle or not sympy.sympify(value).is_number:
        return notation.latex(value if isinstance(value, sympy.Expr | np.ndarray) else float(value))
    share = Fraction(float(value) / np.pi).limit_denominator(12)
    if share and abs(float(share) * np.pi - float(value)) < 1e-12:
        top = {1: r"\pi", -1: r"-\pi"}.get(share.numerator, rf"{share.numerator}\pi")
        return top if share.denominator == 1 else f"{top}/{share.denominator}"
    return notation.latex(float(value))


def _mass_grids(robot: Robot, words: _Words) -> Iterator[Grid]:
    """Yield masses and mass centres, then inertias; products of inertia only if some are not zero."""
    products = [(0, 1), (0, 2), (1, 2)]
    bodies = [body for body in robot.bodies if body is not None]
    shown = [pair for pair in products if any(body.inertia[pair] != 0 for body in bodies)]
    places = [(0, 0), (1, 1), (2, 2), *shown]
    centre = tuple(Math(f"p_{{c,{axis}}}") for axis in "xyz")
    yield Grid(("i", words["mass"], *centre), _data_rows(robot, 4, lambda body: [body.mass, *body.com]))
    names = tuple(Math(f"I_{{{'xyz'[i]}{'xyz'[j]}}}") for i, j in places)
    yield Grid(("i", *names), _data_rows(robot, len(places), lambda body: [body.inertia[place] for place in places]))


def _data_rows(robot: Robot, width: int, data: Callable[[Body], list[Any]]) -> tuple[tuple[str, ...], ...]:
    """Return one row a link with its number and what is asked of its body; dashes if its mass is not known."""
    rows: list[tuple[str, ...]] = []
    for number, body in enumerate(robot.bodies, start=1):
        cells = ("–",) * width if body is None else tuple(Math(_entry(np.asarray(each))) for each in data(body))
        rows.append((str(number), *cells))
    return tuple(rows)


def _motor_grid(robot: Robot, words: _Words) -> Grid:
    head = (words["joint"], Math("J"), Math("G"), Math("B"), Math(r"T_{\mathrm{c}}^{+}"), Math(r"T_{\mathrm{c}}^{-}"))
    rows = []
    for number, link in enumerate(robot.links, start=1):
        if (motor := link.motor) is not None:
            data = (motor.inertia, motor.gear, motor.viscous, *motor.coulomb)
            rows.append((str(number), *(Math(_entry(np.asarray(entry))) for entry in data)))
    return Grid(head, tuple(rows))


def _state(robot: Robot, state: tuple[Any, Any, Any], words: _Words) -> Iterator[Block]:
    symbols = robot.motion_symbols()
    given = [names if value is None else np.asarray(value) for value, names in zip(state, symbols, strict=True)]
    yield Paragraph(words.say("state_text"))
    head = (words["joint"], words["kind"], words["value"], words["rate"], words["acceleration"], words["unit"])
    rows = []
    for i, link in enumerate(robot.links):
        cells = (
            Math(f"{notation.latex(names[i])} = {_entry(value[i])}")
            for names, value in zip(symbols, given, strict=True)
        )
        rows.append((str(i + 1), words[link.joint], *cells, "rad, s" if link.turn else "m, s"))
    yield Grid(head, tuple(rows))


def _loads(options: Mapping[str, Any], words: _Words) -> Iterator[Block]:
    loads = [Wrench(options.get("tip_force", (0, 0, 0)), options.get("tip_moment", (0, 0, 0)))]
    loads += options.get("loads", ())
    acting = [load for load in loads if any(entry != 0 for entry in (*load.force, *load.moment))]
    if acting:
        yield Paragraph(words.say("loads_text"))
        head = tuple(words[key] for key in ("link", "force", "moment", "point", "axes"))
        rows = [
            (
                words["tip"] if load.link is None else str(load.link),
                *(Math(notation.latex(vector)) for vector in (load.force, load.moment, load.point)),
                words[f"axes_{load.axes}"],
            )
            for load in acting
        ]
        yield Grid(head, tuple(rows))
    if (base := options.get("base")) is not None:
        yield Paragraph(words.say("base_motion"))
        yield Formula(tuple(_base_rows(base)))


def _base_rows(base: BaseMotion) -> Iterator[Row]:
    for symbol, value in (
        (r"\omega", base.omega),
        ("v", base.v),
        (r"\dot{\omega}", base.domega),
        (r"\dot{v}", base.dv),
    ):
        yield Row(f"{{}}^{{0}}{symbol}_{{0}}", "= " + notation.latex(value))


def _result(robot: Robot, derived: Derivation, words: _Words) -> Iterator[Block]:
    last = {step.link: step for step in derived if step.equation.quantity in ("tau", "tau_m")}  # tau_m comes later
    torques = np.array([derived.without_names(last[link].value).item() for link in sorted(last)], dtype=object)
    lefts = [last[link].sides()[0] for link in sorted(last)]
    if all(isinstance(torque, float) for torque in torques):
        yield Paragraph(words.say("result_numbers"))
        units = [r"\mathrm{N\,m}" if link.turn else r"\mathrm{N}" for link in robot.links]
        rows = [f"= {_entry(torque)}\\,{unit}" for torque, unit in zip(torques, units, strict=True)]
        yield Formula(tuple(Row(left, row) for left, row in zip(lefts, rows, strict=True)))
        return
    if size.is_too_long(torques):
        counts = dict(lines=len(derived.names), operations=derived.operations, terms=sum(map(count_terms, torques)))
        yield Paragraph(words.say("result_named", **counts))
        return
    yield Paragraph(words.say("result_closed"))
    decimals = any(step.decimals for step in last.values())
    for left, torque in zip(lefts, written_out(torques, collect=True), strict=True):
        yield Formula(tuple(lines.broken(left, notation.latex(torque, decimals), COLUMN)))


_WRITERS: dict[str, Callable[[Iterable[Block], Mapping[str, str]], str]] = {
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
}
