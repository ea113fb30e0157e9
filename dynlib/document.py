r"""The whole derivation of an arm as one document, in Markdown, LaTeX or HTML.

:func:`write` makes a file, :func:`render` its text. The document tells the method from the base to the torques in words
and shows every step of the printed derivation (:mod:`dynlib.derivation`) with its equation, source number and value. It
is written in two stages: :func:`_blocks` says *what* stands in it, and one writer a format says *how* it looks there.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sympy

from dynlib import derivation
from dynlib.algebra import lines, notation
from dynlib.algebra.lines import COLUMN, Row
from dynlib.derivation import Derivation, count_terms
from dynlib.files import refuse_to_write, write_text
from dynlib.model.links import Body
from dynlib.model.mechanism import Mechanism
from dynlib.model.robot import Robot
from dynlib.velocity import BaseMotion, Wrench

Format = Literal["markdown", "latex", "html"]

ENDINGS: dict[str, Format] = {".md": "markdown", ".tex": "latex", ".html": "html", ".htm": "html"}
"""The format that the ending of a file's name stands for."""

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "language": "en",
        "title": "Joint torques of {name}",
        "contents": "Contents",
        "intro": "This document derives what the joints of the arm must supply for a motion. First the motion goes "
        "outward, link by link: where each link is, how fast it moves, how it accelerates. Then the forces come "
        "inward: what each link needs, and what it must pass on to the link before it. A number such as (A5.2.4-1) "
        "says where the equation stands in the course's documents; (E7) and the like are entries in its list of "
        "corrections.",
        "notation": "The superscript on the left says in whose axes a vector is written: ${}^{2}\\omega_{2}$ is the "
        "angular velocity of link 2, written in the axes of frame {{2}}. $\\mathrm{s}\\theta_{1}$ and "
        "$\\mathrm{c}\\theta_{1}$ are the sine and the cosine of $\\theta_{1}$, and $\\hat{z}_{i}$ is the axis of "
        "joint i. Angles are in radians, everything else in SI units.",
        "named": "To keep the lines short, every component that is not a number or a single symbol gets a name when it "
        "is computed, and the next steps are written with these names: $s_{2}$ and $c_{2}$ are the sine and the cosine "
        "of $\\theta_{2}$, $\\omega_{2x}$ is the first component of ${}^{2}\\omega_{2}$, $v_{c2x}$ that of "
        "${}^{2}v_{c_{2}}$, and $p_{2x}$ and $R_{2xy}$ belong to the transform of link 2. Read from top to bottom, the "
        "lines are a program: each uses only names that stand above it.",
        "barred": "A bar marks a name that looks like a symbol of the arm.",
        "arm": "The arm",
        "dh_modified": "The Denavit–Hartenberg table, modified convention: frame {{i}} sits at the near end of link i, "
        "on the axis of joint i; a and α lead from the axis before to this one.",
        "dh_standard": "The Denavit–Hartenberg table, standard convention: the table's frame sits at the far end of "
        "link i; a and α lead from this axis to the next one. In what follows frame {{i}} sits on the axis of joint i "
        "all the same; the mass data below are given in these axes.",
        "no_dh": "The joints are given by their poses; the section on frames shows each of them.",
        "masses": "Mass, mass centre (m) and inertia about the mass centre (kg m²), in the axes of the link. Products "
        "of inertia carry the minus sign, $I_{xy} = -\\int xy\\,\\mathrm{d}m$; what is not shown is zero.",
        "payload": "The load at the tip is counted with the last link.",
        "motors": "The motors, on their own side of the gear: inertia of the rotor J, gear ratio G, viscous friction "
        "B, dry friction forward and backward.",
        "gravity": "Gravity, the vector along which things fall, in world axes (m/s²):",
        "base": "Pose of frame {{0}} in the world:",
        "tool": "Pose of the tip frame {{{tip}}} in frame {{{n}}}:",
        "state": "The state",
        "state_text": "The derivation is done with numbers, for this one state of the joints.",
        "loads": "Loads",
        "loads_text": "The surroundings put these forces and moments on the arm; a force acts at the given point.",
        "base_motion": "The base moves; its motion, written in frame {{0}}:",
        "frames": "Frames",
        "T": "Frame {{i}} moves with link i, and its z axis is the axis of joint i. The transform from frame {{i}} to "
        "the frame before is the fixed pose that the joint has at 0, followed by the motion of the joint: a turn about "
        "z, or a slide along z. Its upper left part is the rotation ${}^{i-1}_{i}R$, its last column the position "
        "${}^{i-1}p_{i}$ of the origin.",
        "velocities": "Velocities",
        "omega": "Angular velocity, outward from the base: a link turns as the link before it does, and a revolute "
        "joint adds its own rate about its axis. The vector of the link before is first turned into the axes of this "
        "link.",
        "v": "Velocity of the origin of each frame, outward: the link before carries this point with it, and a "
        "prismatic joint adds its own rate along its axis.",
        "v_c": "Velocity of the centre of mass, a fixed point of the link. The forces do not need it; energies do.",
        "accelerations": "Accelerations",
        "domega": "Angular acceleration, outward: what the link before has, the turning of the joint axis itself, and "
        "the acceleration of the joint.",
        "dv": "Acceleration of the origin of each frame, outward: the point is carried by the link before, with its "
        "tangential and its centripetal part; a prismatic joint adds the Coriolis term and its own acceleration. The "
        "dot means the derivative that someone at rest sees, written in the axes of the link.",
        "dv_c": "Acceleration of the centre of mass, in the same way. This is what Newton's law needs.",
        "resultants": "Resultant forces and moments",
        "F": "Newton's law gives the sum of all forces on a link: mass times acceleration of the centre of mass.",
        "N": "Euler's law gives the sum of all moments about the centre of mass. The second term is there because the "
        "link's inertia turns with it.",
        "balances": "Forces and moments at the joints",
        "g": "Gravity, turned into the axes of each link, outward. It enters only here.",
        "f": "Force of the link before on link i, now inward from the tip: it must supply the resultant, what the "
        "link passes on to the next one, and it must carry the weight.",
        "n": "Moment of the link before on link i, about the origin of frame {{i}}, inward: the same for moments, "
        "where every force counts with its lever arm.",
        "torques": "Torques of the joints",
        "tau": "The bearings of a joint carry all components but one; along the axis the drive must do it. A revolute "
        "joint supplies the z component of the moment, a prismatic joint that of the force.",
        "tau_m": "The motor also accelerates its own rotor and overcomes friction, seen through the gear.",
        "result": "Result",
        "result_closed": "The torques (N m) of the revolute joints and the forces (N) of the prismatic joints, written "
        "out in the symbols of the arm.",
        "result_named": "The last lines above are the torques. All {lines} named lines take {operations:,} operations "
        "together. Without the names and multiplied out, the torques would have up to {terms:,} terms, too long to "
        "be read.",
        "result_numbers": "What the joints must supply in this state:",
        "joint": "joint",
        "kind": "kind",
        "revolute": "revolute",
        "prismatic": "prismatic",
        "fixed": "fixed",
        "link": "link",
        "mass": "mass (kg)",
        "force": "force (N)",
        "moment": "moment (N m)",
        "point": "point (m)",
        "axes": "axes",
        "axes_link": "of the link",
        "axes_base": "of the base",
        "axes_world": "of the world",
        "tip": "tip",
        "value": "value",
        "rate": "rate",
        "acceleration": "acceleration",
        "unit": "unit",
    }
}
"""Every word that stands in a document, by language and key; between dollar signs stands TeX.

:meta hide-value:
"""

SECTIONS: dict[str, tuple[str, ...]] = {
    "frames": ("T",),
    "velocities": ("omega", "v", "v_c"),
    "accelerations": ("domega", "dv", "dv_c"),
    "resultants": ("F", "N"),
    "balances": ("g", "f", "n"),
    "torques": ("tau", "tau_m"),
}
"""The sections of the derivation with the quantities that each of them computes.

:meta hide-value:
"""


class Math(str):
    """TeX, among text."""


Text = tuple[str | Math, ...]


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    level: int
    text: Text
    key: str


@dataclass(frozen=True)
class Paragraph:
    """Sentences with formulas among them."""

    text: Text


@dataclass(frozen=True)
class Formula:
    """Lines of a formula, aligned at the relation sign."""

    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Grid:
    """A table of text and formulas."""

    head: tuple[str | Math, ...]
    rows: tuple[tuple[str | Math, ...], ...]


Block = Heading | Paragraph | Formula | Grid


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
        named: name the intermediate values, see :func:`dynlib.derivation.derive`; None for doing so if the arm has
            more than three joints or a value is too long to be written out.
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
        raise ValueError(f"{path.name} ends with {path.suffix or 'nothing'!r}; expected {', '.join(ENDINGS)}.")
    refuse_to_write(path)  # rather before the derivation than after it
    write_text(path, render(robot, chosen, *state, **options))
    return path


def _refuse_other_systems(robot: Any) -> None:
    if isinstance(robot, Mechanism):
        raise TypeError(
            f"{robot.name} is a linkage; a document tells how the torques of a single arm are derived. For a linkage "
            "see closed_dynamics, and structure for its chains one by one."
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
        plain = derivation.derive(robot, *state, **options)
        if not any(step.is_too_long for step in plain):
            return plain
    return derivation.derive(robot, *state, named=named is not False, **options)


# What stands in the document ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Words:
    """The words of one language."""

    table: Mapping[str, str]

    def __getitem__(self, key: str) -> str:
        return self.table[key]

    def say(self, key: str, **values: Any) -> Text:
        """Return a sentence: values are put into its words, its formulas stand as they are."""
        parts = self.table[key].split("$")
        return tuple(Math(part) if place % 2 else part.format(**values) for place, part in enumerate(parts) if part)


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
    if options.keys() & {"tip_force", "tip_moment", "wrenches", "base"}:
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
    loads += options.get("wrenches", ())
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
    if derivation.is_too_long(torques):
        counts = dict(lines=len(derived.names), operations=derived.operations, terms=sum(map(count_terms, torques)))
        yield Paragraph(words.say("result_named", **counts))
        return
    yield Paragraph(words.say("result_closed"))
    for left, torque in zip(lefts, derivation.written_out(torques, collect=True), strict=True):
        yield Formula(tuple(lines.broken(left, notation.latex(torque), COLUMN)))


# How it looks ---------------------------------------------------------------------------------------------------------


def _markdown(blocks: Iterable[Block], words: Mapping[str, str]) -> str:
    """Return the document in Markdown with formulas between dollar signs."""
    return "\n\n".join(_markdown_block(block) for block in blocks) + "\n"


def _markdown_block(block: Block) -> str:
    match block:
        case Heading(level, text, _):
            return "#" * level + " " + _markdown_text(text)
        case Paragraph(text):
            return _markdown_text(text)
        case Formula(rows):
            return "$$\n" + lines.aligned(rows, "aligned") + "\n$$"
        case Grid(head, rows):
            first, *others = ("| " + " | ".join(_markdown_text((c,)) for c in line) + " |" for line in (head, *rows))
            return "\n".join([first, "|" + " --- |" * len(head), *others])


def _markdown_text(text: Text) -> str:
    escaped = (
        f"${part}$" if isinstance(part, Math) else re.sub(r"([\\`*_{}\[\]<>|$#])", r"\\\1", part) for part in text
    )
    return "".join(escaped)


_LATEX = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage{textcomp}
\setlength{\textwidth}{170mm}
\setlength{\oddsidemargin}{-5mm}
\setlength{\textheight}{247mm}
\setlength{\topmargin}{-15mm}
\setlength{\parindent}{0pt}
\setlength{\parskip}{1ex}
\setcounter{MaxMatrixCols}{20}
\allowdisplaybreaks
"""


def _latex(blocks: Iterable[Block], words: Mapping[str, str]) -> str:
    """Return the document as LaTeX of the article class; of packages it needs amsmath only."""
    body = "\n\n".join(_latex_block(block) for block in blocks)
    return f"{_LATEX}\\begin{{document}}\n\n{body}\n\n\\end{{document}}\n"


def _latex_block(block: Block) -> str:
    match block:
        case Heading(1, text, _):
            return rf"\begin{{center}}\LARGE {_latex_text(text)}\end{{center}}"
        case Heading(_, text, _):
            return rf"\section{{{_latex_text(text)}}}"
        case Paragraph(text):
            return _latex_text(text)
        case Formula(rows):
            return lines.aligned(rows)
        case Grid(head, rows):
            printed = [" & ".join(_latex_text((cell,)) for cell in line) + r" \\" for line in (head, *rows)]
            body = "\n".join([r"\hline", printed[0], r"\hline", *printed[1:], r"\hline"])
            size = r"\footnotesize" if len(head) > 6 else r"\small"
            table = rf"\begin{{tabular}}{{{'l' * len(head)}}}" + f"\n{body}\n" + r"\end{tabular}"
            return rf"\begin{{center}}{size}\setlength{{\tabcolsep}}{{3pt}}" + f"\n{table}\n" + r"\end{center}"


_LATEX_LETTERS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
_LATEX_LETTERS |= {
    letter: f"${letter_tex}$" for letter, letter_tex in {"α": r"\alpha", "²": "^2", "<": "<", ">": ">"}.items()
}
_LATEX_LETTERS |= {letter: "\\" + letter for letter in "{}_&%$#"}


def _latex_text(text: Text) -> str:
    escaped = (
        f"${part}$" if isinstance(part, Math) else "".join(_LATEX_LETTERS.get(c, c) for c in part) for part in text
    )
    return "".join(escaped)


_STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --paper: #fff; --soft: #5b6475; --line: #d9dde5; --accent: #1f5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ee; --paper: #14171d; --soft: #a2abbb; --line: #343a46; --accent: #8ab8f0; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.25; margin: 0.5rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 0.75rem; padding-top: 0.75rem; border-top: 1px solid var(--line); }
p { max-width: 46rem; }
a { color: var(--accent); }
nav ol { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 0; list-style: none; }
math { font-size: 1.08em; }
p math { font-size: 1em; }
.scroll { overflow-x: auto; margin: 0.75rem 0; padding: 0.25rem 0; }
.step { display: grid; grid-template-columns: max-content max-content minmax(max-content, 1fr); align-items: center;
  gap: 0.35rem 0.4rem; }
.step > :nth-child(3n + 1) { text-align: right; }
.step > :nth-child(3n) { text-align: right; color: var(--soft); font-size: 0.9rem; padding-left: 1.25rem; }
table { border-collapse: collapse; }
th, td { padding: 0.3rem 0.75rem 0.3rem 0; text-align: left; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
@media print { .scroll { overflow: visible; } }
"""


def _html(blocks: Iterable[Block], words: Mapping[str, str]) -> str:
    """Return the document as one HTML file with MathML."""
    blocks = list(blocks)
    title = next(block for block in blocks if isinstance(block, Heading))
    sections = [block for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = "".join(f'<li><a href="#{each.key}">{_html_text(each.text)}</a></li>' for each in sections)
    contents = f'<nav aria-label="{html.escape(words["contents"])}"><ol>{links}</ol></nav>'
    body = "\n".join(_html_block(block) + ("\n" + contents if block is title else "") for block in blocks)
    return (
        f'<!DOCTYPE html>\n<html lang="{words["language"]}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_plain(title.text)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _plain(text: Text) -> str:
    return html.escape("".join(notation.text(part) if isinstance(part, Math) else part for part in text))


def _html_block(block: Block) -> str:
    match block:
        case Heading(level, text, key):
            return f'<h{level} id="{key}">{_html_text(text)}</h{level}>'
        case Paragraph(text):
            return f"<p>{_html_text(text)}</p>"
        case Formula(rows):
            cells = "\n".join(_html_row(row) for row in rows)
            return f'<div class="scroll" tabindex="0"><div class="step">\n{cells}\n</div></div>'
        case Grid(head, rows):
            top = "".join(f'<th scope="col">{_html_text((cell,))}</th>' for cell in head)
            body = "\n".join("<tr>" + "".join(f"<td>{_html_text((c,))}</td>" for c in row) + "</tr>" for row in rows)
            table = f"<table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
            return f'<div class="scroll" tabindex="0">{table}</div>'


def _html_row(row: Row) -> str:
    number = f"<span>({html.escape(row.source)})</span>" if row.source else "<span></span>"
    return f"<div>{_mathml(row.left)}</div><div>{_mathml(row.right)}</div>{number}"


def _html_text(text: Text) -> str:
    return "".join(_mathml(part) if isinstance(part, Math) else html.escape(part) for part in text)


def _mathml(tex: str) -> str:
    """Return MathML of TeX; what stands upright in TeX does so here, too."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        raise ImportError("HTML needs the package latex2mathml for its formulas: pip install latex2mathml") from None
    if not tex:
        return ""
    upright = re.sub(r"\\mathrm\{((?:\w|\\,)+)\}", lambda found: rf"\text{{{found[1]}}}".replace(r"\,", " "), tex)
    shown: str = convert(upright.replace(r"\quad ", r"\quad{}"))
    return shown.replace(
        '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">', '<math displaystyle="true">'
    )


_WRITERS: dict[str, Callable[[Iterable[Block], Mapping[str, str]], str]] = {
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
}
