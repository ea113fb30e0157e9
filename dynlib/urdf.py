r"""Robot descriptions (URDF): the chain of joints from one link of the description to another, as an arm.

The XML is read by ``urdfdom_py``, the parser of ROS, which the extra ``dynlib[urdf]`` installs. In a description the
axis of a joint may point anywhere in the joint's frame; the frames of dynlib are turned so that z lies along it, and
the body with them. Joint values keep their meaning.
"""

import contextlib
import io
import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dynlib import frames
from dynlib.arrays import Array, as_array, level_of_caller
from dynlib.links import Body, Link, Motor
from dynlib.robot import Robot
from dynlib.robotfile import rotation_of_rpy, turned_to

_JOINTS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
_NOT_NEEDED = (
    "visual", "collision", "material", "transmission", "gazebo", "limit", "safety_controller", "calibration",
)  # fmt: skip

_NUMBERS = {"xyz": 3, "rpy": 3} | dict.fromkeys(
    ("value", "ixx", "iyy", "izz", "ixy", "ixz", "iyz", "damping", "friction"), 1
)


def read(
    path: str | Path, *, gravity: Any, tip: str | None = None, base: str | None = None, allow_impossible: bool = False
) -> Robot:
    """Read the chain of joints of a robot description.

    Args:
        path: of a URDF file (not a xacro).
        gravity: the vector along which things fall, in the axes of the base link, shape (3,), in m/s².
        tip: name of the link whose frame is the tip; may be left out if only one link has no child.
        base: name of the link whose frame is {0}; the root of the description if left out.
        allow_impossible: take mass data that no real body can have, with a warning.

    Returns:
        The :class:`~dynlib.robot.Robot`, as :func:`loads` describes.

    Raises:
        ValueError: the file is no URDF, has no such chain, or has impossible data.
        ImportError: the parser is not installed.
        OSError: the file cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "arm.urdf").write_text(EXAMPLE, encoding="utf-8")
    ...     read(Path(folder) / "arm.urdf", gravity=[0, 0, -9.81]).n
    1
    """
    path = Path(path)
    options = dict(gravity=gravity, tip=tip, base=base, allow_impossible=allow_impossible)
    return _read(path.read_bytes(), path.name, **options)


EXAMPLE = """\
<robot name="one joint">
  <link name="floor"/>
  <joint name="hinge" type="revolute">
    <parent link="floor"/> <child link="rod"/>
    <origin xyz="0 0 0.5"/> <axis xyz="0 1 0"/>
    <limit effort="10" velocity="1" lower="-1" upper="1"/> <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <link name="rod">
    <inertial>
      <origin xyz="0.3 0 0"/> <mass value="2"/>
      <inertia ixx="0" iyy="0.06" izz="0.06" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
</robot>
"""
"""A small robot description, for trying things."""


def loads(
    text: str,
    *,
    gravity: Any,
    tip: str | None = None,
    base: str | None = None,
    allow_impossible: bool = False,
    name: str = "URDF text",
) -> Robot:
    """Read the chain of joints from the text of a robot description.

    Fixed joints are bolted; what is bolted to the chain beside it comes along. A link without ``inertial`` has unknown
    mass. Damping and friction of a joint become those of its motor.

    Args:
        text: URDF.
        gravity: the vector along which things fall, in the axes of the base link, shape (3,), in m/s².
        tip: name of the link whose frame is the tip; may be left out if only one link has no child.
        base: name of the link whose frame is {0}; the root of the description if left out.
        allow_impossible: take mass data that no real body can have, with a warning.
        name: of the text, for messages.

    Returns:
        The :class:`~dynlib.robot.Robot`. A warning names what was left out because it moves beside the chain.

    Raises:
        ValueError: the text is no URDF, has no such chain, or has impossible data.
        ImportError: the parser is not installed.

    >>> arm = loads(EXAMPLE, gravity=[0, 0, -9.81])
    >>> arm.links[0].fixed[:3, 2], arm.links[0].com
    (array([0., 1., 0.]), array([0.3, 0. , 0. ]))
    """
    options = dict(gravity=gravity, tip=tip, base=base, allow_impossible=allow_impossible)
    return _read(text.encode("utf-8"), name, **options)


def _read(xml: bytes, name: str, *, gravity: Any, tip: str | None, base: str | None, allow_impossible: bool) -> Robot:
    description = _Description(name, _parsed(xml, name), allow_impossible)
    description.check()
    base = description.known_link("base", base) if base else description.root
    tip = description.known_link("tip", tip) if tip else description.only_tip(base)
    joints = description.chain(base, tip)
    links, turned = [], np.eye(4)  # the parent's frame, as dynlib turns it, in the frame of the description
    for joint in joints:
        turn = description.turn(joint)
        fixed = frames.compose(frames.inverse(turned), frames.compose(description.pose(joint), turn))
        body = description.body(joint.child, joints)
        body = body.moved(frames.inverse(turn)) if body else None
        links.append(Link(_JOINTS[joint.type], fixed, body, _motor(joint)))  # type: ignore[arg-type]
        turned = turn
    for message in description.warned:
        warnings.warn(message, stacklevel=level_of_caller())
    return Robot(links, gravity, tool=frames.inverse(turned), name=str(description.model.name))


def _parsed(xml: bytes, name: str) -> Any:
    """Return the description as the parser gives it, without shapes and simulator settings, which it may dislike."""
    try:
        from lxml import etree
        from urdf_parser_py.urdf import URDF
    except ImportError as error:
        raise ImportError(
            "reading a URDF needs the parser urdfdom_py; install it: python -m pip install urdfdom_py "
            "(or dynlib with its extra, dynlib[urdf])."
        ) from error
    safe = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(xml, safe)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"{name}, line {error.lineno}: this is no XML: {error.msg}.") from None
    if root.tag != "robot":
        raise ValueError(f"{name} is a <{root.tag}>; expected a robot description, <robot>.")
    etree.strip_elements(root, *_NOT_NEEDED, with_tail=False)
    if root.xpath("//*[contains(namespace-uri(), 'xacro')]"):
        raise ValueError(f"{name} is a xacro; make a URDF of it first: xacro {name} > arm.urdf")
    _check_numbers(root, name)
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # it reports attributes that only some simulator knows
            return URDF.from_xml_string(etree.tostring(root))
    except Exception as error:  # it raises bare exceptions
        raise ValueError(f"{name} is no URDF: {' '.join(str(error).split())}") from None


def _check_numbers(root: Any, name: str) -> None:
    for element in root.iter():
        for key, count in _NUMBERS.items():
            text = element.get(key)
            if text is not None and not _are_numbers(text.split(), count):
                raise ValueError(
                    f"{name}, line {element.sourceline}: {key} of <{element.tag}> is {text!r}; "
                    f"expected {count} finite number{'s' * (count > 1)}."
                )


def _are_numbers(words: Sequence[str], count: int) -> bool:
    try:
        return len(words) == count and all(math.isfinite(float(word)) for word in words)
    except ValueError:
        return False


@dataclass(frozen=True)
class _Description:
    """A description as the parser gives it, with the questions that are put to it."""

    name: str
    model: Any
    allow_impossible: bool
    warned: list[str] = field(default_factory=list)

    def error(self, message: str) -> ValueError:
        return ValueError(f"{self.name}: {message}")

    def check(self) -> None:
        """Refuse a description that is no tree, or has a joint that no arm has."""
        for kind, parts in (("link", self.model.links), ("joint", self.model.joints)):
            for word, count in Counter(part.name for part in parts).items():
                if count > 1:
                    raise self.error(f"{count} {kind}s are called {word!r}; names must differ.")
        links = {link.name for link in self.model.links}
        for joint in self.model.joints:
            for link in (joint.parent, joint.child):
                if link not in links:
                    raise self.error(f"joint {joint.name!r} joins the link {link!r}, which is not there.")
        for word, count in Counter(joint.child for joint in self.model.joints).items():
            if count > 1:
                raise self.error(f"link {word!r} hangs on {count} joints; a URDF is a tree, without closed chains.")

    @property
    def root(self) -> str:
        children = {joint.child for joint in self.model.joints}
        roots = [link.name for link in self.model.links if link.name not in children]
        if len(roots) != 1:
            raise self.error(f"expected one link that hangs on no joint, the root; found {_listed(roots)}.")
        return str(roots[0])

    def known_link(self, word: str, name: str) -> str:
        links = [link.name for link in self.model.links]
        if name not in links:
            raise self.error(f"there is no link {name!r} for {word}; the links are {_listed(links)}.")
        return name

    def only_tip(self, base: str) -> str:
        """Return the only link without a child that hangs on the base."""
        parents = {joint.parent for joint in self.model.joints}
        tips = [link.name for link in self.model.links if link.name not in parents]
        tips = [tip for tip in tips if tip != base and self._joints_up(tip, base) is not None]
        if len(tips) != 1:
            raise self.error(f"expected one tip; found {_listed(tips)}. Say which is meant, with tip=...")
        return str(tips[0])

    def chain(self, base: str, tip: str) -> list[Any]:
        """Return the joints from one link to another."""
        joints = self._joints_up(tip, base)
        if not joints:
            raise self.error(f"no joints lead from the link {base!r} to the link {tip!r}.")
        for joint in joints:
            if joint.type not in _JOINTS:
                raise self.error(f"joint {joint.name!r} is {joint.type}; an arm has {', '.join(_JOINTS)} joints only.")
            if joint.mimic is not None:
                raise self.error(
                    f"joint {joint.name!r} follows the joint {joint.mimic.joint!r} (mimic); dynlib's joints move "
                    "independently. Make it fixed, or choose another tip."
                )
        if all(joint.type == "fixed" for joint in joints):
            raise self.error(f"only fixed joints lead from the link {base!r} to the link {tip!r}.")
        return joints[::-1]

    def _joints_up(self, tip: str, base: str) -> list[Any] | None:
        """Return the joints from a link up to another one; None if it is not above."""
        above = {joint.child: joint for joint in self.model.joints}
        joints: list[Any] = []
        while tip != base:
            if tip not in above or above[tip] in joints:
                return None
            joints.append(above[tip])
            tip = above[tip].parent
        return joints

    def pose(self, joint: Any) -> Array:
        return _pose(joint.origin, f"{self.name}: origin of joint {joint.name!r}")

    def turn(self, joint: Any) -> Array:
        """Return the turn that brings z onto the joint axis, shape (4, 4)."""
        if _JOINTS[joint.type] == "fixed":
            return np.eye(4)
        axis = as_array(joint.axis or [1, 0, 0], f"{self.name}: axis of joint {joint.name!r}", (3,))  # URDF: x
        if not axis.any():
            raise self.error(f"the axis of joint {joint.name!r} is 0 0 0; expected a direction.")
        return turned_to(axis)

    def body(self, link: str, chain: Sequence[Any]) -> Body | None:
        """Return the body of a link with all that is bolted to it beside the chain, in the link's own axes."""
        body = self._own_body(link)
        for joint in self.model.joints:
            if joint.parent != link or joint in chain:
                continue
            if joint.type != "fixed":
                if mass := self._mass_beyond(joint):
                    self.warned.append(
                        f"{self.name}: joint {joint.name!r} moves beside the chain; what hangs on it ({mass:g} kg) is "
                        "left out."
                    )
                continue
            if other := self.body(joint.child, chain):
                moved = other.moved(self.pose(joint))
                body = body + moved if body else moved
        return body

    def _mass_beyond(self, joint: Any) -> float:
        """Return the mass of everything that hangs on a joint, in kg."""
        inertial = self.model.link_map[joint.child].inertial
        beyond = sum(self._mass_beyond(other) for other in self.model.joints if other.parent == joint.child)
        return beyond + (inertial.mass if inertial else 0.0)

    def _own_body(self, link: str) -> Body | None:
        inertial = self.model.link_map[link].inertial
        if inertial is None:
            return None
        if inertial.inertia is None:
            raise self.error(f"link {link!r} has a mass but no inertia.")
        body = Body(inertial.mass, inertia=inertial.inertia.to_matrix(), allow_impossible=True)
        if body.faults:
            message = f"{self.name}: no real body has the data of link {link!r}: {'; '.join(body.faults)}"
            if not self.allow_impossible:
                raise ValueError(f"{message}. Correct them, or take them as they are with allow_impossible=True.")
            self.warned.append(f"{message}; they are kept (allow_impossible=True).")
        body = replace(body, allow_impossible=bool(body.faults))
        return body.moved(_pose(inertial.origin, f"{self.name}: origin of the inertial of link {link!r}"))


def _pose(origin: Any, name: str) -> Array:
    if origin is None:
        return np.eye(4)
    rpy, xyz = (as_array(value or [0, 0, 0], name, (3,)) for value in (origin.rpy, origin.xyz))
    return frames.transform(rotation_of_rpy(rpy), xyz)


def _motor(joint: Any) -> Motor | None:
    damping = joint.dynamics and joint.dynamics.damping
    friction = joint.dynamics and joint.dynamics.friction
    return Motor(viscous=damping or 0, coulomb=friction or 0) if damping or friction else None


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "none"
