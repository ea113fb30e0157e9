r"""Robot files: an arm as a TOML text, checked while it is read; every message names the file, the line and the field.

A file looks like this; SI units and radians throughout:

.. code-block:: toml

    name = "planar 2R"
    source = "where the numbers come from"
    convention = "modified"            # the DH convention of the rows, or "standard", or "poses"
    gravity = [0, -9.81, 0]            # world axes

    [[link]]
    joint = "revolute"                 # or "prismatic", "fixed"
    mass = 3
    com = [0.8, 0, 0]                  # axes of the table's link frame

    [[link]]
    a = 0.8
    alpha = "pi/2"
    mass = 2
    com = [0.6, 0, 0]
    inertia = {xx = 0, yy = 0.06, zz = 0.06}
    motor = {inertia = 2e-4, gear = 100, viscous = 1e-3, coulomb = [0.1, -0.2]}

**At the top**: ``convention``, ``gravity``; if wanted ``name``, ``source``, ``base`` and ``tool`` (poses),
``allow_impossible = true`` (published data that no real body can have draw a warning instead of an error) and
``[payload]`` (a body at the tip, in tip axes).

**A link**: ``joint`` (revolute if left out), the DH numbers ``a``, ``alpha``, ``d``, ``theta``, ``offset`` (0 if left
out), or, with ``convention = "poses"``, ``pose`` (of the joint in the parent's frame) and ``axis`` (of the joint, z if
left out; the frame is then turned so that z lies along it). Then its body, or several ``[[link.part]]``, and a
``motor``, as in :class:`dynlib.model.links.Motor`.

**A body**: ``mass``; ``com``; ``inertia`` as a matrix, as its diagonal ``[Ixx, Iyy, Izz]`` or by name
``{xx=, yy=, zz=, xy=, xz=, yz=}`` with :math:`I_{xy} = -\int xy\,dm`, about the mass centre or, with
``inertia_about = "origin"``, about the origin of the frame; ``first_moment`` (mass times mass centre) in the place of
``com``; ``axes``, a rotation matrix whose columns are the axes in which the inertia is given, in link axes.

**A pose** is a matrix of 4 rows or ``{position = [x, y, z], rpy = [roll, pitch, yaw]}``, turned about the fixed axes x,
then y, then z.

**A number** may be text: ``"pi/2"``, ``"-3*pi/4"``, ``"1/3"``, an angle in degrees, ``"-90deg"``, or a symbol such as
``"L1"`` or ``"-g"``, which makes the arm symbolic. Nothing in a file is ever evaluated. An angle such as 1.5708 is that
decimal in every number; beside symbols it is the right angle that it states, see :meth:`.Robot.exact`.
"""

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dynlib import frames, hints
from dynlib.algebra.arrays import Array, as_floats, first_fraction, free_symbols, is_symbolic, level_of_caller, matrix
from dynlib.algebra.notation import SymbolError, ascii_name
from dynlib.files import read_bytes, write_text
from dynlib.model.exact import Exactly
from dynlib.model.links import Body, Link, Motor, as_pose, mean_of_halves
from dynlib.model.robot import Robot, Typed
from dynlib.robotfile.tables import _OWN_TABLE, _SHAPES, _file, _shape, _shown, _Table, exact_number

_DH = ("a", "alpha", "d", "theta", "offset")
_BODY = ("mass", "com", "first_moment", "inertia", "inertia_about", "axes")
_LINK = ("joint", *_BODY, "part", "motor")
_TOP = ("name", "source", "convention", "gravity", "base", "tool", "allow_impossible", "payload", "link")
_MOTOR = ("inertia", "gear", "viscous", "coulomb")
_MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
_JOINTS = ("revolute", "prismatic", "fixed")


def read(path: str | Path) -> Robot:
    """Read a robot file.

    Args:
        path: of a TOML file in UTF-8.

    Returns:
        The :class:`Robot`, named as the file says, or after the file.

    Raises:
        ValueError: the file is no TOML or describes no arm; the message names file, line and field.
        TypeError: floats beside symbols.
        OSError: the file cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(loads(EXAMPLE), Path(folder) / "arm.toml")
    ...     read(Path(folder) / "arm.toml").n
    2
    """
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ValueError(f"{path.name}, line {line}: this is not UTF-8; save the file in the encoding UTF-8.") from None
    return loads(text, path.name)


EXAMPLE = """\
convention = "modified"
gravity = [0, -9.81, 0]

[[link]]
mass = 3
com = [0.8, 0, 0]

[[link]]
a = 0.8
mass = 2
com = [0.6, 0, 0]
"""
"""A small robot file, for trying things."""


def loads(text: str, name: str = "robot file") -> Robot:
    """Read the text of a robot file.

    Args:
        text: TOML.
        name: of the file, for messages; without its ending also the robot's name if the text gives none.

    Returns:
        The :class:`Robot`.

    Raises:
        ValueError: the text is no TOML or describes no arm; the message names file, line and field.
        TypeError: floats beside symbols.

    >>> loads(EXAMPLE).links[1].com
    array([0.6, 0. , 0. ])
    """
    file = _file(text, name)
    robot = _robot(file)
    return replace(robot, typed=Typed(robot, partial(_again, file)))


def details(text: str, name: str = "robot file") -> dict[str, str]:
    """Return the name and the source that the text of a robot file states, "" for what it does not state.

    >>> details('name = "my arm"')
    {'name': 'my arm', 'source': ''}
    """
    file = _file(text, name)
    return {key: file.text(key, "") for key in ("name", "source")}


# ---- The parts of an arm ---------------------------------------------------------------------------


def _again(file: _Table, reading: Exactly) -> Robot:
    return _robot(replace(file, reading=reading))


def _robot(file: _Table) -> Robot:
    convention, links, allow = _checked(file)
    warned: list[str] = []
    options: dict[str, Any] = {key: _pose(file, key) for key in ("base", "tool")}
    options["gravity"] = file.array("gravity", (3,))
    file.text("source", "")
    options["name"] = file.text("name", file.file.removesuffix(".toml"))
    payload = _payload(file, allow, warned)
    bodies = [_link_body(link, allow, warned) for link in links]
    parts: Any = (_placed if convention == "poses" else _rows)(links, bodies, options)
    impossible = any(body.allow_impossible for body in bodies if body)
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            if convention == "poses":
                robot = Robot(parts, payload=payload, **options)
            else:
                robot = Robot.from_dh(parts, convention=convention, allow_impossible=impossible, **options)  # type: ignore[arg-type]
                robot = replace(robot, payload=payload) if payload else robot
    except SymbolError as error:
        raise replace(file, place=file.symbols[error.symbol]).error(str(error)) from None
    except ValueError as error:
        raise file.error(str(error)) from None
    for message in warned:
        warnings.warn(message, stacklevel=level_of_caller())
    for note in notes:
        said = str(note.message)
        said = _with_line(said, file, links) if issubclass(note.category, hints.Hint) else said
        warnings.warn(said, note.category, stacklevel=level_of_caller())
    return robot


_SUBJECT = re.compile(r"(?:the )?(?P<key>\w+)(?: of (?:the )?(?P<what>link|row|payload)(?: (?P<number>\d+))?)?")
_KEYS = {"origin": ("pose", "a", "d"), "com": ("com", "first_moment"), "inertia": ("inertia", "mass")}


def _with_line(hint: str, file: _Table, links: Sequence[_Table]) -> str:
    """Return a hint, which begins with what it is about, with the line of that before it."""
    if not (found := _SUBJECT.match(hint)):
        return hint
    moving = [link for link in links if _joint(link) != "fixed"]
    tables = {"link": moving, "row": links, "payload": [file.table("payload")]}.get(found["what"], [file])
    table = tables[int(found["number"] or 1) - 1]
    assert table is not None
    return table.at(*_KEYS.get(found["key"], (found["key"],))) + hint


def _checked(file: _Table) -> tuple[str, list[_Table], bool]:
    """Return the convention, the tables of the links, and whether impossible data are taken."""
    for key in file.data:
        if key != "link" and re.fullmatch(r"(link|joint)s?[_-]?\d*", key, re.IGNORECASE):
            raise file.error(f'the file has the key "{key}"; {_OWN_TABLE}', key)
    file.check_keys(_TOP)
    dh = "the DH rows of most tables do not say which they are, and dynlib does not guess."
    file.require("convention", f'write convention = "modified" or "standard" (or "poses"): {dh}')
    convention = file.choice("convention", ("modified", "standard", "poses"), "")
    file.require("gravity", "write the vector along which things fall, in world axes, such as [0, 0, -9.81] (m/s²).")
    links = file.tables("link")
    if not links:
        raise file.error("the file has no link; write at least one [[link]].", "link")
    keys = (*_LINK, *(("pose", "axis") if convention == "poses" else _DH))
    for link in links:
        link.check_keys(keys, f' with convention = "{convention}"')
        _refuse_joint_value(link)
    return convention, links, file.flag("allow_impossible")


def _rows(links: Sequence[_Table], bodies: Sequence[Body | None], _: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a DH table; numbers given as text stay as they are, so that the printed table shows them."""
    rows: list[dict[str, Any]] = []
    for link, body in zip(links, bodies, strict=True):
        numbers = {key: _dh_number(link, key) for key in _DH}
        rows.append({"joint": _joint(link), **numbers, "body": body, "motor": _motor(link)})
    return rows


_JOINT_VALUES = {"revolute": re.compile(r"(?:theta|th|q)_?\d*"), "prismatic": re.compile(r"[dq]_?\d*")}


def _refuse_joint_value(link: _Table) -> None:
    """Refuse the joint value where a constant stands: it would count twice."""
    joint = _joint(link)
    if joint == "fixed":
        return
    pose = link.data.get("pose")
    rpy = pose.get("rpy") if isinstance(pose, dict) else None
    places = {"offset": link.data.get("offset"), "pose": rpy}
    places |= {"d": link.data.get("d")} if joint == "prismatic" else {"theta": link.data.get("theta")}
    for place, value in places.items():
        for text in value if isinstance(value, list) else [value]:
            number = exact_number(ascii_name(text)) if isinstance(text, str) else None
            names = [symbol.name for symbol in number.free_symbols] if number is not None else []
            if any(map(_JOINT_VALUES[joint].fullmatch, names)):
                raise link.error(
                    f"{link.name(place)} holds {_shown(text)}. Leave it out: the joint value is added by itself. A "
                    f'constant needs a name of another kind, such as "{"h1" if joint == "prismatic" else "beta1"}".',
                    place,
                )


def _dh_number(link: _Table, key: str) -> Any:
    number = link.exact(key)
    turns = key in ("alpha", "theta") or (key == "offset" and _joint(link) != "prismatic")
    if turns:
        return link.reading.angle(number.item(), link.name(key))
    return (number if is_symbolic(number) else link.reading.numbers(number)).item()


def _placed(links: Sequence[_Table], bodies: Sequence[Body | None], options: dict[str, Any]) -> list[Link]:
    """Return links given by poses, their frames turned so that z lies along the joint; turn the tool likewise."""
    placed = []
    back = None  # from the parent's frame of the file to that of dynlib
    for link, body in zip(links, bodies, strict=True):
        pose, turn = _pose(link, "pose"), _axis(link)
        pose = pose if back is None else frames.compose(back, pose)
        back = None
        if turn is not None:
            back = frames.inverse(turn)
            pose = frames.compose(pose, turn)
            body = body.moved(back) if body else None
        placed.append(Link(_joint(link), pose, body, _motor(link)))  # type: ignore[arg-type]
    if back is not None:
        options["tool"] = frames.compose(back, options["tool"])
    return placed


def _axis(link: _Table) -> Array | None:
    """Return the turn of the link's frame that brings z onto the joint axis, shape (4, 4); None if z is the axis."""
    if "axis" not in link.data:
        return None
    axis = link.exact("axis", (3,))
    if free_symbols(axis) or not axis.any():
        raise link.error(
            f"{link.name('axis')} is {_shown(link.data['axis'])}; expected a direction in numbers.", "axis"
        )
    turn = link.reading.turned_to(as_floats(axis), link.name("axis"))
    if link.symbol is not None and first_fraction({"axis": turn}):
        raise link.error(f"{link.name('axis')} is oblique; in a symbolic arm, turn the frame by its pose.", "axis")
    return link.kind(turn)


def _joint(link: _Table) -> str:
    return link.choice("joint", _JOINTS, "revolute")


def _pose(table: _Table, key: str) -> Array:
    """Read a pose, a matrix or a table of position and rpy; the identity if it is not there."""
    value = table.data.get(key)
    if value is None:
        return table.kind(np.eye(4))
    if not isinstance(value, dict):
        if _shape(value) != (4, 4):
            raise table.error(
                f"{table.name(key)} is {_shown(value)}; expected {_SHAPES[4, 4]}, or "
                "{position = [x, y, z], rpy = [roll, pitch, yaw]}.",
                key,
            )
        T = table.exact(key, (4, 4))
        T = table.reading.pose(as_floats(T), table.name(key)) if table.symbol is None else T
    else:
        parts = table.table(key)
        assert parts is not None
        parts.check_keys(("position", "rpy"))
        rpy = parts.reading.angles(parts.exact("rpy", (3,), (0, 0, 0)), parts.name("rpy"))
        hints.give(parts.at("rpy") + said for said in hints.constant_angles({parts.name("rpy"): rpy}))
        R = frames.rotation_of_rpy(rpy)
        T = frames.transform(table.kind(R), parts.array("position", (3,), (0, 0, 0)))
    try:
        return as_pose(T, table.name(key))
    except ValueError as error:
        raise table.error(str(error), key) from None


def _motor(link: _Table) -> Motor | None:
    motor = link.table("motor")
    if motor is None:
        return None
    motor.check_keys(_MOTOR)
    both = isinstance(motor.data.get("coulomb"), list)
    shapes = {key: (2,) if both and key == "coulomb" else () for key in _MOTOR if key in motor.data}
    data = {key: motor.exact(key, shape).tolist() for key, shape in shapes.items()}
    try:
        return Motor(**data).mapped(motor.kind)
    except ValueError as error:
        key = next(key for key in ("inertia", "viscous", "coulomb") if key in str(error))
        raise motor.error(f"{link.words}: {error}", key) from None


def _payload(file: _Table, allow: bool, warned: list[str]) -> Body | None:
    payload = file.table("payload")
    if payload is None:
        return None
    payload.check_keys(_BODY)
    return _body(payload, allow, warned)


def _link_body(link: _Table, allow: bool, warned: list[str]) -> Body | None:
    parts = link.tables("part")
    if not parts:
        return _body(link, allow, warned)
    for key in _BODY:
        if key in link.data:
            raise link.error(f"{link.words} has parts and also {key}; give each body as a [[link.part]].", key)
    bodies = []
    for part in parts:
        part.check_keys(_BODY)
        part.require("mass", "give it (0 is allowed).")
        bodies.append(_body(part, allow, warned))
    total = bodies[0]
    for body in bodies[1:]:
        assert total is not None
        assert body is not None
        total = total + body
    return total


def _body(table: _Table, allow: bool, warned: list[str]) -> Body | None:
    """Read a body; None if the table says nothing about one."""
    given = [key for key in _BODY if key in table.data]
    if not given:
        return None
    if "mass" not in given:
        raise table.error(f"{table.words} has {given[0]} but no mass; give the mass too (0 is allowed).", given[0])
    mass = table.array("mass")
    try:
        with np.errstate(all="ignore"):  # what overflows is found afterwards
            com = _mass_centre(table)
            inertia, gap = _inertia(table, mass, com)
            body = Body(mass, com, inertia, allow_impossible=True)
    except ValueError as error:
        if str(error).startswith(f"{table.file}, line "):
            raise
        raise table.error(f"{table.words}: {error}") from None
    keys = ("mass",) if body.faults and body.faults[0].startswith("the mass") else ("inertia", "mass")
    for faults, takes, kept in (
        (gap, "the mean of both halves", "the mean of both halves is taken"),
        ("; ".join(body.faults), "published data as they are", "they are kept"),
    ):
        message = f"{table.words}: no real body has these data: {faults}"
        if faults and not allow:
            advice = f"Check signs, units and axes; allow_impossible = true at the top takes {takes}."
            raise table.error(f"{message}. {advice}", *keys)
        if faults:
            without_advice = re.sub(r" \(.*", "", message)
            warned.append(f"{table.at(*keys)}{without_advice}; {kept} (allow_impossible = true).")
    return replace(body, allow_impossible=bool(body.faults))


def _mass_centre(table: _Table) -> Array:
    if "first_moment" not in table.data:
        return table.array("com", (3,), (0, 0, 0))
    if "com" in table.data:
        raise table.error(f"{table.words} has first_moment and com; give one of them.", "first_moment")
    if "inertia_about" not in table.data:
        raise table.error(
            f'{table.words} has first_moment; say also inertia_about = "origin", or "com" if the inertia is about '
            "the mass centre.",
            "first_moment",
        )
    mass = table.array("mass")
    if mass == 0:
        raise table.error(f"{table.words} has first_moment and the mass 0; write com = [x, y, z].", "first_moment")
    return np.asarray(table.array("first_moment", (3,)) / mass)


def _inertia(table: _Table, mass: Array, com: Array) -> tuple[Array, str]:
    """Read the inertia, turn it into link axes and move it to the mass centre; also what is not symmetric about it."""
    try:
        I, gap = mean_of_halves(_inertia_as_given(table))
    except ValueError as error:
        named = "Or name them: inertia = {xx = , yy = , zz = , xy = , xz = , yz = }."
        raise table.error(f"{table.words}: {error} {named}", "inertia") from None
    if "axes" in table.data:
        R = table.exact("axes", (3, 3))
        R = R if table.symbol is not None else table.reading.rotation(as_floats(R), table.name("axes"))
        if not is_symbolic(R) and (np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0):
            raise table.error(
                f"{table.name('axes')} is no rotation (R R^T = 1 and det R = +1); its columns are the axes in which "
                "the inertia is given, each of length 1, in link axes.",
                "axes",
            )
        I = R @ I @ R.T
    if table.choice("inertia_about", ("com", "origin"), "com") == "origin":
        squares = [[sum(com * com) * (i == j) - com[i] * com[j] for j in range(3)] for i in range(3)]
        I = I - np.array(squares, dtype=com.dtype) * mass
    return np.asarray(I), gap


def _inertia_as_given(table: _Table) -> Array:
    value = table.data.get("inertia", [0, 0, 0])
    if isinstance(value, dict):
        moments = table.table("inertia")
        assert moments is not None
        moments.check_keys(_MOMENTS)
        for key in _MOMENTS[:3]:
            moments.require(key, "give xx, yy and zz; products left out are 0.")
        xx, yy, zz, xy, xz, yz = (moments.array(key) for key in _MOMENTS)
        return matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if _shape(value) == (3,):
        Ixx, Iyy, Izz = table.array("inertia", (3,), value)
        zero = 0 * Ixx
        return matrix([[Ixx, zero, zero], [zero, Iyy, zero], [zero, zero, Izz]])
    if _shape(value) != (3, 3):
        six = " Six numbers in a row have no common order: name them." if _shape(value) == (6,) else ""
        raise table.error(
            f"{table.name('inertia')} is {_shown(value)}; expected {_SHAPES[3, 3]}, the diagonal [Ixx, Iyy, Izz] or "
            f"{{xx = , yy = , zz = , xy = , xz = , yz = }}.{six}",
            "inertia",
        )
    return table.array("inertia", (3, 3))


# ---- Writing ---------------------------------------------------------------------------------------


def dumps(robot: Robot) -> str:
    """Return the text of a robot file from which the same robot is read, number for number.

    Args:
        robot: an arm of numbers.

    Returns:
        TOML with ``convention = "poses"``: the frames as dynlib holds them, on the joint axes.

    Raises:
        TypeError: the robot is symbolic.

    >>> print(dumps(loads(EXAMPLE))[:60])
    name = "robot file"
    convention = "poses"
    gravity = [0.0, -9.
    """
    if robot.is_symbolic:
        raise TypeError(
            f"{robot.name} is exact; a file is written of numbers only. Put numbers in, with robot.subs(...)."
        )
    quoted = json.dumps(robot.name, ensure_ascii=False)
    lines = [f"name = {quoted}", 'convention = "poses"', f"gravity = {robot.gravity.tolist()}"]
    lines += _matrix_lines("base", robot.base) + _matrix_lines("tool", robot.tool)
    carried = [link.body for link in robot.links] + [robot.payload]
    if any(body.faults for body in carried if body):
        lines.append("allow_impossible = true")
    for link in robot.links:
        lines += ["", "[[link]]", f'joint = "{link.joint}"', *_matrix_lines("pose", link.fixed)]
        lines += _body_lines(link.body)
        if link.motor is not None:
            lines += ["[link.motor]", *(f"{key} = {getattr(link.motor, key).tolist()}" for key in _MOTOR)]
    if robot.payload is not None:
        lines += ["", "[payload]", *_body_lines(robot.payload)]
    return "\n".join([*lines, ""])


def _body_lines(body: Body | None) -> list[str]:
    if body is None:
        return []
    return [f"mass = {float(body.mass)!r}", f"com = {body.com.tolist()}", *_matrix_lines("inertia", body.inertia)]


def _matrix_lines(key: str, rows: Array) -> list[str]:
    return [f"{key} = [", *(f"    {row}," for row in rows.tolist()), "]"]


def write(robot: Robot, path: str | Path) -> None:
    """Write a robot file, whole or not at all.

    Args:
        robot: an arm of numbers.
        path: where to; a file that is there already is replaced.

    Raises:
        TypeError: the robot is symbolic.
        OSError: the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(loads(EXAMPLE), Path(folder) / "arm.toml")
    """
    write_text(Path(path), dumps(robot))
