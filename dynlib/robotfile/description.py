"""What a robot description (URDF) says: its links and joints, read strictly.

A misspelt name would silently make another robot. So within what URDF defines, a name that it does not know, one that
is there twice and one that is missing are errors, with line and joint. What simulators and drivers add (``gazebo``,
``transmission``, ``drake:...`` and the like) is passed over.
:mod:`dynlib.robotfile.urdf` makes an arm of what is read here.
"""

import codecs
import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn, cast
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from dynlib import frames, hints
from dynlib.algebra.arrays import Array
from dynlib.algebra.notation import printable
from dynlib.model.exact import AS_FLOATS, AsFloats
from dynlib.model.links import Motor

ARM_JOINTS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
"""The joints of an arm, from the word of URDF to that of dynlib."""

_JOINTS = (*ARM_JOINTS, "planar", "floating")


class Leader(NamedTuple):
    """The joint that another one follows (mimic): the follower stands at factor times its value plus offset."""

    joint: str
    factor: float
    offset: float


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a description.

    Attributes:
        name: of the joint.
        at: how a message about it begins: file, line and name.
        type: one of :data:`ARM_JOINTS`, or ``"planar"`` or ``"floating"``.
        parent: name of the link before it.
        child: name of the link behind it.
        pose: in the frame of the parent at joint value 0, shape (4, 4), in m.
        turn: brings z onto the axis, in the frame of the joint, shape (4, 4); the identity if it does not move.
        motor: damping and friction; None if there is none.
        limits: least and greatest joint value, in rad or m; None if the description states none.
        follows: the joint that it follows (mimic); None if it moves by itself.
        reading: how its numbers are read.
    """

    name: str
    at: str
    type: str
    parent: str
    child: str
    pose: Array
    turn: Array
    motor: Motor | None
    limits: tuple[float, float] | None
    follows: Leader | None
    reading: AsFloats

    @property
    def moves(self) -> bool:
        """Return whether the joint can move."""
        return self.type != "fixed"

    def held_at(self, value: float) -> "Joint":
        """Return the joint as it stands at a value, in rad or m, bolted."""
        slides = self.type == "prismatic"
        angle = self.reading.angle(0.0 if slides else value, f"value of the locked joint {self.name!r}")
        distance = self.reading.numbers(np.asarray(value * slides))
        moved = frames.joint_transform(frames.compose(self.pose, self.turn), np.asarray(angle), distance)
        pose = frames.compose(moved, frames.inverse(self.turn))
        return replace(self, type="fixed", pose=pose, turn=self.reading.numbers(np.eye(4)), motor=None, follows=None)


@dataclass(frozen=True, eq=False)
class Inertial:
    """The mass data of a link of a description.

    Attributes:
        at: where it stands: file and line.
        link: what it belongs to, as messages call it.
        mass: in kg.
        inertia: about the mass centre, in the axes of the pose, shape (3, 3), in kg m²; None if it is not stated.
        pose: of the mass centre and the axes of the inertia in the axes of the link, shape (4, 4), in m.
    """

    at: str
    link: str
    mass: float
    inertia: Sequence[Sequence[float]] | None
    pose: Array


@dataclass(frozen=True)
class Description:
    """The links and joints of a description, a tree.

    Attributes:
        file: the name of the file, for messages.
        robot: the name of the robot, or that of the file if it has none.
        links: by name, with the mass data of each, None if there are none.
        joints: by name.
        notes: what was left out.
        reading: how the numbers are read.
    """

    file: str
    robot: str
    links: Mapping[str, Inertial | None]
    joints: Mapping[str, Joint]
    notes: Sequence[str]
    reading: AsFloats

    def error(self, message: str) -> ValueError:
        """Return an error that names the file."""
        return ValueError(f"{self.file}: {message}")

    @property
    def root(self) -> str:
        """Return the name of the link that hangs on no joint."""
        children = {joint.child for joint in self.joints.values()}
        roots = [link for link in self.links if link not in children]
        if len(roots) != 1:
            raise self.error(f"expected one link that hangs on no joint, the root; found {listed(roots)}.")
        return roots[0]

    def known_link(self, word: str, name: str) -> str:
        """Return the name of a link; refuse one that is not there."""
        if name not in self.links:
            raise self.error(
                f"there is no link {name!r} for {word}; the links are {listed(self.links)}.{meant(name, self.links)}"
            )
        return name


def listed(words: Iterable[str], most: int = 12) -> str:
    """Return words as a list for a message, printable.

    >>> listed(["arm", "hand"]), listed("abc", most=2)
    ('arm, hand', 'a, b and 1 more')
    """
    shown = [printable(word) for word in words]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more or "none"


def meant(word: str, expected: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a question that names the nearest right word, to be put behind a message; "" if none is near.

    >>> meant("Axsi", ["axis", "origin"])
    " Did you mean 'axis'?"
    """
    by_lower = {each.lower(): each for each in expected}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=cutoff)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


# ---- From bytes to elements ------------------------------------------------------------------------

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark begins the same
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
"""First bytes that tell the encoding of a text."""

_DECLARED = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]*)["']""")


def decoded(data: bytes, name: str) -> str:
    """Return the text of a file in the encoding that its first bytes tell, or that it declares, or else in UTF-8.

    Args:
        data: what the file holds.
        name: of the file, for messages.

    Returns:
        The text.

    Raises:
        ValueError: the encoding is not known, or the file is not written in it.

    >>> decoded('<?xml version="1.0" encoding="GBK"?><robot name="臂"/>'.encode("gbk"), "arm.urdf")[-17:]
    '<robot name="臂"/>'
    """
    encoding = next((encoding for mark, encoding in _MARKS.items() if data.startswith(mark)), None)
    if encoding is None:
        declared = _DECLARED.match(data)
        encoding = declared[1].decode("ascii", "replace") if declared else "utf-8"
    try:
        text = data.decode(encoding)
    except (LookupError, ValueError) as error:
        if not isinstance(error, UnicodeError):
            raise ValueError(
                f"{name}, line 1: the encoding {encoding!r} is not known; save the file in UTF-8 and declare that."
            ) from None
        line = data.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise ValueError(
            f"{name}, line {line}: this is not {encoding}, which should be the encoding of the file; save it in UTF-8."
        ) from None
    if data.startswith(b"<") and not text.startswith("<"):
        raise ValueError(f"{name}, line 1: the file declares the encoding {encoding}, but is not written in it.")
    return text


class _Element(ElementTree.Element):
    """An element that knows the line where it begins."""

    line: int


def _parsed(text: str, name: str) -> _Element:
    """Return the root of an XML text; nothing is fetched, and no entity is read that the text declares."""
    parser = expat.ParserCreate()

    def element(tag: str, attributes: dict[str, str]) -> _Element:
        made = _Element(tag, attributes)
        made.line = parser.CurrentLineNumber
        return made

    def refuse(*_: Any) -> NoReturn:
        raise ValueError(
            f"{name}, line {parser.CurrentLineNumber}: <!ENTITY ...> is not read; write its text where it is used."
        )

    builder = ElementTree.TreeBuilder(element_factory=cast(Any, element))
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    try:
        # In a str, the encoding that the text declares means nothing; the parser knows that.
        parser.Parse(text.removeprefix("\ufeff"), True)
    except expat.ExpatError as error:
        raise ValueError(f"{name}, line {error.lineno}: this is no XML: {expat.ErrorString(error.code)}.") from None
    except UnicodeEncodeError:
        raise ValueError(f"{name}: the text holds a character that no text can hold (a lone surrogate).") from None
    return cast(_Element, builder.close())


# ---- What URDF defines -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kind:
    """What URDF defines within one kind of element."""

    required: Sequence[str] = ()
    optional: Sequence[str] = ()
    parts: Sequence[str] = ()  # elements; each may be there once
    needed: Sequence[str] = ()  # those of the parts that must be there
    others: Sequence[str] = ()  # what simulators and drivers put there, as published files show

    @property
    def attributes(self) -> list[str]:
        return [*self.required, *self.optional]

    def passes_over(self, name: str) -> bool:
        return ":" in name or name == "xmlns" or name in self.others


_KINDS = {
    "robot": _Kind(optional=["name", "version"]),
    "link": _Kind(
        ["name"],
        parts=["inertial", "origin"],
        others=[
            "type", "visual", "collision", "material", "contact", "surface", "sensor", "gazebo", "audio_source",
            "collision_checking", "self_collision_checking", "self_filter", "kinematic", "gravity", "velocity_decay",
        ],
    ),
    "joint": _Kind(
        ["name", "type"],
        parts=["parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"],
        needed=["parent", "child"],
        others=["dont_collapse", "hardwareInterface", "gazebo"],
    ),
    "inertial": _Kind(parts=["origin", "mass", "inertia"], needed=["mass"]),
    "origin": _Kind(optional=["xyz", "rpy"]),
    "mass": _Kind(["value"]),
    "inertia": _Kind(["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]),
    "parent": _Kind(["link"]),
    "child": _Kind(["link"]),
    "axis": _Kind(["xyz"]),
    "limit": _Kind(
        optional=["lower", "upper", "effort", "velocity"],
        others=["acceleration", "deceleration", "jerk", "command_effort", "current", "gear_velocity"],
    ),
    "dynamics": _Kind(
        optional=["damping", "friction"],
        others=["D", "K", "mu_coulomb", "mu_viscous", "armature", "spring_stiffness", "spring_reference"],
    ),
    "mimic": _Kind(["joint"], ["multiplier", "offset"]),
    "calibration": _Kind(optional=["rising", "falling", "reference_position"]),
    "safety_controller": _Kind(optional=["soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"]),
}  # fmt: skip

_COUNTS = {
    "xyz": 3, "rpy": 3, "value": 1, "ixx": 1, "iyy": 1, "izz": 1, "ixy": 1, "ixz": 1, "iyz": 1, "damping": 1,
    "friction": 1, "multiplier": 1, "offset": 1, "lower": 1, "upper": 1,
}  # fmt: skip
"""How many numbers an attribute holds; the others are not used."""

_NOTED = ("armature", "spring_stiffness", "spring_reference")
"""Attributes that URDF does not define, but that mean another motion where they are read."""

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class _File:
    """The elements of one file, with what is said of them."""

    name: str
    reading: AsFloats = AS_FLOATS
    left_out: dict[str, None] = field(default_factory=dict)  # those of _NOTED that are there

    def at(self, element: _Element) -> str:
        return f"{self.name}, line {element.line}"

    def error(self, element: _Element, message: str) -> ValueError:
        return ValueError(f"{self.at(element)}: {message}")

    def check_top(self, root: _Element) -> None:
        """Refuse what is no description; beside links and joints, blocks of other programs may stand at the top."""
        if root.tag != "robot":
            raise ValueError(f"{self.name} is a <{root.tag}>; expected a robot description, <robot>.")
        if any(element.tag.startswith("xacro:") for element in root.iter()):
            raise ValueError(f"{self.name} is a xacro; make a URDF of it first: xacro {self.name} > arm.urdf")
        self.check_attributes(root, "the robot")
        inner = {part for kind in _KINDS.values() for part in kind.parts} | {"robot", "visual", "collision"}
        for part in cast(Iterable[_Element], root):
            if part.tag in ("link", "joint", "material"):
                continue
            if part.tag.endswith("loop_joint"):
                raise self.error(part, f"<{part.tag}> closes a chain; dynlib reads trees of joints only.")
            if part.tag in inner or (":" not in part.tag and meant(part.tag, ["link", "joint"], cutoff=0.75)):
                raise self.error(
                    part, f"the robot has the element <{part.tag}>; expected link, joint.{meant(part.tag, _KINDS)}"
                )

    def check(self, element: _Element, owner: str) -> None:
        """Refuse names that URDF does not define, names that are there twice, and missing ones, in a link or joint."""
        kind, words = _KINDS[element.tag], _words(element, owner)
        self.check_attributes(element, words)
        found: set[str] = set()
        for part in cast(Iterable[_Element], element):
            if part.tag in found:
                raise self.error(part, f"{words} has a second <{part.tag}>; expected one.")
            if part.tag in kind.parts:
                found.add(part.tag)
                self.check(part, owner)
            elif not kind.passes_over(part.tag):
                raise self.error(
                    part,
                    f"{words} has the element <{part.tag}>; expected {listed(kind.parts) if kind.parts else 'none'}."
                    f"{meant(part.tag, kind.parts)}",
                )
        for tag in kind.needed:
            if tag not in found:
                raise self.error(element, f"{words} has no <{tag}>.")
        if not kind.parts and (element.text or "").strip():
            raise self.error(
                element, f"{words} holds the text {element.text!r}; its values are attributes: {_form(element.tag)}."
            )

    def check_attributes(self, element: _Element, words: str) -> None:
        kind = _KINDS[element.tag]
        for key, value in element.items():
            if key in kind.attributes:
                self.check_number(element, words, key, value)
            elif not kind.passes_over(key):
                raise self.error(
                    element,
                    f"{words} has the attribute {key!r}; expected {listed(kind.attributes)}."
                    f"{meant(key, kind.attributes)}",
                )
            elif key in _NOTED:
                self.left_out[key] = None
        for key in kind.required:
            if not element.get(key):
                raise self.error(element, f"{words} has no {key}; expected {_form(element.tag)}.")

    def check_number(self, element: _Element, words: str, key: str, text: str) -> None:
        count = _COUNTS.get(key)
        if count is None or _are_numbers(text.split(), count):
            return
        xacro = " This is a xacro; make a URDF of it first." if "${" in text else ""
        raise self.error(
            element, f"{key} of {words} is {text!r}; expected {count} finite number{'s' * (count > 1)}.{xacro}"
        )

    def links(self, root: _Element) -> dict[str, Inertial | None]:
        return {owner.get("name", ""): self.inertial(owner) for owner in self.named(root, "link")}

    def joints(self, root: _Element) -> dict[str, Joint]:
        return {owner.get("name", ""): self.joint(owner) for owner in self.named(root, "joint")}

    def named(self, root: _Element, tag: str) -> list[_Element]:
        """Return the elements of a kind; refuse a name that is there twice."""
        found: dict[str, _Element] = {}
        for element in cast(list[_Element], root.findall(tag)):
            name = element.get("name", "")
            self.check(element, f"{tag} {name!r}" if name else f"a {tag}")
            if name in found:
                raise self.error(
                    element, f"a second {tag} is called {name!r}, as in line {found[name].line}; names must differ."
                )
            found[name] = element
        return list(found.values())

    def inertial(self, link: _Element) -> Inertial | None:
        origin, inertial = link.find("origin"), cast(_Element | None, link.find("inertial"))
        words = f"link {link.get('name')!r}"
        if origin is not None and any(_numbers(origin, "xyz") + _numbers(origin, "rpy")):
            raise self.error(
                cast(_Element, origin), f"{words} has an <origin>, which URDF does not know; put it into the joint."
            )
        if inertial is None:
            return None
        at, mass = self.at(inertial), _number(inertial.find("mass"), "value")
        inertia, pose = inertial.find("inertia"), self.pose(inertial, f"inertial of {words}")
        if inertia is None:
            return Inertial(at, words, mass, None, pose)
        moment = {key: _number(inertia, key) for key in _KINDS["inertia"].required}
        matrix = [[moment["i" + "".join(sorted(row + column))] for column in "xyz"] for row in "xyz"]
        return Inertial(at, words, mass, matrix, pose)

    def joint(self, element: _Element) -> Joint:
        name, kind = element.get("name", ""), element.get("type", "")
        at = f"{self.at(element)}: joint {name!r}"
        if kind not in _JOINTS:
            raise ValueError(f"{at} is {kind!r}; expected {listed(_JOINTS)}.{meant(kind, _JOINTS)}")
        parent, child = (cast(_Element, element.find(tag)).get("link", "") for tag in ("parent", "child"))
        limit, mimic = element.find("limit"), element.find("mimic")
        lower, upper = (_number(limit, key) for key in ("lower", "upper"))
        leader = mimic is not None and Leader(
            mimic.get("joint", ""), _number(mimic, "multiplier", "1"), _number(mimic, "offset")
        )
        return Joint(
            name=name,
            at=at,
            type=kind,
            parent=parent,
            child=child,
            pose=self.pose(element, f"joint {name!r}"),
            turn=self.turn(element),
            motor=self.motor(element),
            limits=(lower, upper) if lower < upper else None,
            follows=leader or None,
            reading=self.reading,
        )

    def pose(self, owner: _Element, words: str) -> Array:
        origin = owner.find("origin")
        rpy, xyz = (np.array(_numbers(origin, key, "0 0 0")) for key in ("rpy", "xyz"))
        hints.give(hints.constant_angles({f"{self.at(owner)}: rpy of the origin of {words}": rpy}))
        R = frames.rotation_of_rpy(self.reading.angles(rpy, f"origin of {words}"))
        return frames.transform(R, self.reading.numbers(xyz))

    def turn(self, joint: _Element) -> Array:
        name = joint.get("name")
        axis = cast(_Element | None, joint.find("axis"))
        direction = np.array(_numbers(axis, "xyz", "1 0 0"))  # where none is given, URDF takes x
        if not direction.any():
            if joint.get("type") == "fixed":
                return self.reading.numbers(np.eye(4))
            raise self.error(
                joint if axis is None else axis, f"the axis of joint {name!r} is 0 0 0; expected a direction."
            )
        if joint.get("type") == "fixed":
            return self.reading.numbers(np.eye(4))
        return self.reading.turned_to(direction, f"axis of joint {name!r}")

    def motor(self, joint: _Element) -> Motor | None:
        dynamics = cast(_Element | None, joint.find("dynamics"))
        if dynamics is None:
            return None
        lost = {key: _number(dynamics, key) for key in ("damping", "friction")}
        for key, value in lost.items():
            if value < 0:
                raise self.error(
                    dynamics,
                    f"{key} of joint {joint.get('name')!r} is {value:g}; expected at least 0, or it would drive the "
                    "joint.",
                )
        motor = Motor(viscous=lost["damping"], coulomb=lost["friction"])
        return motor.mapped(self.reading.numbers) if any(lost.values()) else None

    def notes(self) -> list[str]:
        if not self.left_out:
            return []
        return [f"{self.name}: left out of <dynamics>, since URDF does not define it: {listed(self.left_out)}."]


def _words(element: _Element, owner: str) -> str:
    return owner if element.tag in ("link", "joint") else f"<{element.tag}> of {owner}"


def _form(tag: str) -> str:
    """Return how an element is written: ``<axis xyz="..."/>``."""
    return f"<{tag} " + " ".join(f'{key}="..."' for key in _KINDS[tag].attributes) + "/>"


def _are_numbers(words: Sequence[str], count: int) -> bool:
    return len(words) == count and all(_DECIMAL.fullmatch(word) and math.isfinite(float(word)) for word in words)


def _numbers(element: ElementTree.Element | None, key: str, default: str = "0") -> list[float]:
    """Return the numbers of an attribute that was checked before."""
    text = default if element is None else element.get(key, default)
    return [float(word) for word in text.split()]


def _number(element: ElementTree.Element | None, key: str, default: str = "0") -> float:
    return _numbers(element, key, default)[0]


def described(text: str, name: str, reading: AsFloats = AS_FLOATS) -> Description:
    """Read the links and joints of a description.

    Args:
        text: URDF; an encoding that it declares means nothing, since it is a text already.
        name: of the text, for messages.
        reading: how the numbers of poses, axes and motors are read.

    Returns:
        The :class:`Description`.

    Raises:
        ValueError: the text is no URDF, has a name that URDF does not define, or is no tree.

    >>> described('<robot name="r"><link name="floor"/></robot>', "arm.urdf").root
    'floor'
    """
    root, file = _parsed(text, name), _File(name, reading)
    file.check_top(root)
    links, joints = file.links(root), file.joints(root)
    for joint in joints.values():
        for link in (joint.parent, joint.child):
            if link not in links:
                raise ValueError(f"{joint.at} joins the link {link!r}, which is not there.{meant(link, links)}")
        if joint.follows and joint.follows.joint not in joints:
            raise ValueError(
                f"{joint.at} follows the joint {joint.follows.joint!r}, which is not there."
                f"{meant(joint.follows.joint, joints)}"
            )
    for word, count in Counter(joint.child for joint in joints.values()).items():
        if count > 1:
            raise ValueError(f"{name}: link {word!r} hangs on {count} joints; a URDF is a tree, without closed chains.")
    _refuse_circles(joints)
    return Description(name, root.get("name") or name.rpartition(".")[0] or name, links, joints, file.notes(), reading)


def _refuse_circles(joints: Mapping[str, Joint]) -> None:
    above = {joint.child: joint for joint in joints.values()}
    to_root: set[str] = set()
    for joint in joints.values():
        path: dict[str, None] = {}
        link = joint.child
        while link in above and link not in to_root:
            if link in path:
                raise ValueError(
                    f"{above[link].at} closes a circle of joints; a URDF is a tree, without closed chains."
                )
            path[link] = None
            link = above[link].parent
        to_root |= path.keys()
