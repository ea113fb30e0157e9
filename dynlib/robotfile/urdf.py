r"""Robot descriptions (URDF): the chain of joints from one link of the description to another, as an arm.

In a description the axis of a joint may point anywhere in the joint's frame; the frames of dynlib are turned so that z
lies along it, and the body with them. Joint values keep their meaning. What a description may say is written in
:mod:`dynlib.robotfile.description`.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dynlib import frames
from dynlib.algebra.arrays import Array, as_array, level_of_caller
from dynlib.files import read_bytes
from dynlib.model.exact import AS_FLOATS, AsFloats
from dynlib.model.links import Body, Link
from dynlib.model.robot import Robot, Typed
from dynlib.robotfile.description import ARM_JOINTS, Description, Joint, decoded, described, listed, meant


def read(
    path: str | Path,
    *,
    gravity: Any,
    tip: str | None = None,
    base: str | None = None,
    lock: Mapping[str, Any] | None = None,
    allow_impossible: bool = False,
) -> Robot:
    """Read the chain of joints of a robot description.

    Args:
        path: of a URDF file (not a xacro), in the encoding that it declares.
        gravity: the vector along which things fall, in the axes of the base link, shape (3,), in m/s².
        tip: name of the link whose frame is the tip; may be left out as :func:`loads` describes.
        base: name of the link whose frame is {0}; the root of the description if left out.
        lock: values at which joints are held, by name, in rad or m.
        allow_impossible: take mass data that no real body can have, with a warning.

    Returns:
        The :class:`~dynlib.model.robot.Robot`, as :func:`loads` describes.

    Raises:
        ValueError: the file is no URDF, has no such chain, or has impossible data.
        OSError: the file cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "arm.urdf").write_text(EXAMPLE, encoding="utf-8")
    ...     read(Path(folder) / "arm.urdf", gravity=[0, 0, -9.81]).n
    1
    """
    name = Path(path).name
    text = decoded(read_bytes(path), name)
    return loads(text, gravity=gravity, tip=tip, base=base, lock=lock, allow_impossible=allow_impossible, name=name)


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
    lock: Mapping[str, Any] | None = None,
    allow_impossible: bool = False,
    name: str = "URDF text",
) -> Robot:
    """Read the chain of joints from the text of a robot description.

    Fixed joints are bolted; what is bolted to the chain beside it comes along. A link without ``inertial`` has unknown
    mass. Damping and friction of a joint become those of its motor. A locked joint is bolted at its value, and so is a
    joint that follows it (mimic): thus a closed gripper counts with its mass.

    Without a tip, the chain ends at a link without children to which *all* joints lead that move. If there are several,
    the torques do not depend on the choice: one with a usual name such as ``tool0`` is taken, or else the farthest, and
    a warning says which.

    Args:
        text: URDF; an encoding that it declares means nothing, since it is a text already.
        gravity: the vector along which things fall, in the axes of the base link, shape (3,), in m/s².
        tip: name of the link whose frame is the tip.
        base: name of the link whose frame is {0}; the root of the description if left out.
        lock: values at which joints are held, by name, in rad or m.
        allow_impossible: take mass data that no real body can have, with a warning.
        name: of the text, for messages.

    Returns:
        The :class:`~dynlib.model.robot.Robot`. A warning names what was left out because it moves beside the chain.

    Raises:
        ValueError: the text is no URDF, has no such chain, or has impossible data.

    >>> arm = loads(EXAMPLE, gravity=[0, 0, -9.81])
    >>> arm.links[0].fixed[:3, 2], arm.links[0].com
    (array([0., 1., 0.]), array([0.3, 0. , 0. ]))
    """
    arm = partial(
        _chain, text=text, name=name, gravity=gravity, tip=tip, base=base, lock=lock, allow_impossible=allow_impossible
    )
    robot = arm(AS_FLOATS)
    return replace(robot, typed=Typed(robot, arm))


def _chain(
    reading: AsFloats,
    *,
    text: str,
    name: str,
    gravity: Any,
    tip: str | None,
    base: str | None,
    lock: Mapping[str, Any] | None,
    allow_impossible: bool,
) -> Robot:
    """Read the chain as :func:`loads` does, in one of the two ways to read numbers."""
    tree = _Tree(described(text, name, reading), allow_impossible)
    tree.lock({} if lock is None else lock)
    base = tree.description.known_link("base", base) if base else tree.description.root
    tip = tree.description.known_link("tip", tip) if tip else tree.tip(base)
    joints = tree.chain(base, tip)
    first = _first_that_moves(joints)
    links = []
    turned = identity = reading.numbers(np.eye(4))  # the parent's frame, as dynlib turns it, in that of the description
    for place, joint in enumerate(joints):
        fixed = frames.compose(frames.inverse(turned), frames.compose(joint.pose, joint.turn))
        body = tree.body(joint.child, joints) if place >= first else None  # what never moves burdens no joint
        body = body.moved(frames.inverse(joint.turn)) if body else None
        links.append(Link(ARM_JOINTS[joint.type], fixed, body, joint.motor))  # type: ignore[arg-type]
        turned = joint.turn
    tree.note_what_moves_beside(joints)
    for message in tree.notes:
        warnings.warn(message, stacklevel=level_of_caller())
    gravity = reading.numbers(as_array(gravity, "gravity", (3,)))
    return Robot(links, gravity, identity, frames.inverse(turned), name=tree.description.robot)


_TIP_NAMES = ("tool0", "tcp", "tip", "tool", "ee", "eef", "effector", "grasp")
"""Usual words in the name of the frame at the end of an arm, the most usual first."""


class _Tree:
    """The joints of a description, as they are locked, with the questions that are put to them."""

    def __init__(self, description: Description, allow_impossible: bool) -> None:
        self.description = description
        self.allow_impossible = allow_impossible
        self.notes = list(description.notes)
        self._arrange(description.joints)

    def _arrange(self, joints: Mapping[str, Joint]) -> None:
        self.joints = dict(joints)
        self.above = {joint.child: joint for joint in joints.values()}
        self.below: dict[str, list[Joint]] = {link: [] for link in self.description.links}
        for joint in joints.values():
            self.below[joint.parent].append(joint)

    # -- Locked joints --

    def lock(self, lock: Mapping[str, Any]) -> None:
        """Bolt joints at given values, and those that follow them."""
        values = {name: self._value(name, value) for name, value in lock.items()}
        followers = [(joint.name, joint.follows) for joint in self.joints.values() if joint.follows and joint.moves]
        while found := [pair for pair in followers if pair[0] not in values and pair[1].joint in values]:
            for name, leader in found:
                values[name] = leader.factor * values[leader.joint] + leader.offset
        self._arrange(
            {name: joint.held_at(values[name]) if name in values else joint for name, joint in self.joints.items()}
        )

    def _value(self, name: str, value: Any) -> float:
        """Read the value at which a joint is locked."""
        if name not in self.joints:
            moving = [joint.name for joint in self.joints.values() if joint.moves]
            raise self.description.error(
                f"there is no joint {name!r} to lock; the joints that move are {listed(moving)}.{meant(name, moving)}"
            )
        joint = self.joints[name]
        if not joint.moves:
            raise ValueError(f"{joint.at} is fixed; there is nothing to lock.")
        self._refuse_other_kinds(joint)
        if joint.follows:
            raise ValueError(f"{joint.at} follows the joint {joint.follows.joint!r} (mimic); lock that one instead.")
        read = as_array(value, f"the value of the locked joint {name!r}", ())
        if read.dtype == object:
            raise ValueError(f"the value of the locked joint {name!r} is {value!r}; expected a number.")
        if joint.limits and not joint.limits[0] <= read <= joint.limits[1]:
            self.notes.append(
                f"{joint.at} is locked at {read:g}, outside its limits {joint.limits[0]:g} and {joint.limits[1]:g} "
                f"({'m' if joint.type == 'prismatic' else 'rad'})."
            )
        return float(read)

    # -- The chain --

    def tip(self, base: str) -> str:
        """Return the link at the end of the chain that has all joints which move."""
        ends = {link: self._path(base, link) for link in self.description.links if not self.below[link]}
        moving = {end: tuple(joint.name for joint in path or () if joint.moves) for end, path in ends.items()}
        moving = {end: joints for end, joints in moving.items() if joints}
        if not moving:
            raise self.description.error(f"no joint moves that hangs on the link {base!r}.")
        if len(set(moving.values())) > 1:
            raise self.description.error(
                f"expected one tip; found {listed(moving)}. Say which is meant, with tip=...; they hang on different "
                "joints that move. If some are fingers of a gripper, hold their joints at a value with lock={...}."
            )
        # The farthest, and of several the last one in the file, if no name is a usual one.
        tip = min(reversed(moving), key=lambda end: (_rank(end), -len(ends[end] or ())))
        same = [end for end in moving if end != tip]
        still = [end for end, path in ends.items() if end not in moving and path is not None]
        if same or still:
            self.notes.append(
                f"{self.description.file}: no tip is given; {tip} is taken."
                + (f" The torques are the same for {listed(same)}." if same else "")
                + (f" No joint moves {listed(still)}." if still else "")
                + " Choose another one with tip=... if you like."
            )
        return tip

    def chain(self, base: str, tip: str) -> list[Joint]:
        """Return the joints from one link to another."""
        joints = self._path(base, tip)
        if not joints:
            raise self.description.error(f"no joints lead from the link {base!r} to the link {tip!r}.")
        for joint in joints:
            self._refuse_other_kinds(joint)
            if joint.follows and joint.moves:
                leader = f"the joint {joint.follows.joint!r}"
                raise ValueError(
                    f"{joint.at} follows {leader} (mimic); dynlib's joints move independently. Hold {leader} at a "
                    "value with lock={...}, or choose another tip with tip=... instead."
                )
        if not any(joint.moves for joint in joints):
            raise self.description.error(f"only fixed joints lead from the link {base!r} to the link {tip!r}.")
        return joints

    def _path(self, base: str, tip: str) -> list[Joint] | None:
        """Return the joints from a link to one below it; None if it is not below."""
        joints: list[Joint] = []
        while tip != base:
            if tip not in self.above:
                return None
            joints.append(self.above[tip])
            tip = joints[-1].parent
        return joints[::-1]

    @staticmethod
    def _refuse_other_kinds(joint: Joint) -> None:
        if joint.type not in ARM_JOINTS:
            raise ValueError(f"{joint.at} is {joint.type}; an arm has {listed(ARM_JOINTS)} joints only.")

    # -- Bodies --

    def body(self, link: str, chain: Sequence[Joint]) -> Body | None:
        """Return the body of a link with all that is bolted to it beside the chain, in the link's own axes."""
        whole = None
        for other, pose in self._bolted(link, chain):
            if own := self._own_body(other):
                moved = own.moved(pose)
                whole = whole + moved if whole else moved
        return whole

    def note_what_moves_beside(self, chain: Sequence[Joint]) -> None:
        """Note masses that move against the link that carries them; on links that never move they burden no joint."""
        for carrier in chain[_first_that_moves(chain) :]:
            for link, _ in self._bolted(carrier.child, chain):
                for joint in self.below[link]:
                    if joint.moves and joint not in chain and (mass := self._mass_beyond(joint)):
                        self.notes.append(
                            f"{joint.at} moves beside the chain; what hangs on it ({mass:g} kg) is left out. Held at a "
                            "value with lock={...}, it would count."
                        )

    def _bolted(self, link: str, chain: Sequence[Joint]) -> Iterator[tuple[str, Array]]:
        """Yield a link and all that is bolted to it beside the chain, each with its pose in the axes of the link."""
        found = [(link, self.description.reading.numbers(np.eye(4)))]
        while found:
            link, pose = found.pop()
            yield link, pose
            beside = [joint for joint in self.below[link] if not joint.moves and joint not in chain]
            found += [(joint.child, frames.compose(pose, joint.pose)) for joint in reversed(beside)]

    def _mass_beyond(self, joint: Joint) -> float:
        """Return the mass of everything that hangs on a joint, in kg."""
        mass, found = 0.0, [joint.child]
        while found:
            link = found.pop()
            inertial = self.description.links[link]
            mass += inertial.mass if inertial else 0.0
            found += [other.child for other in self.below[link]]
        return mass

    def _own_body(self, link: str) -> Body | None:
        inertial = self.description.links[link]
        if inertial is None:
            return None
        if inertial.inertia is None:
            raise ValueError(f"{inertial.at}: {inertial.link} has a mass but no inertia.")
        body = Body(inertial.mass, inertia=inertial.inertia, allow_impossible=True)
        if body.faults:
            message = f"{inertial.at}: no real body has the data of {inertial.link}: {'; '.join(body.faults)}"
            if not self.allow_impossible:
                raise ValueError(f"{message}. Correct them, or take them as they are with allow_impossible=True.")
            self.notes.append(f"{message}; they are kept.")
        body = replace(body, allow_impossible=bool(body.faults)).mapped(self.description.reading.numbers)
        return body.moved(inertial.pose)


def _first_that_moves(chain: Sequence[Joint]) -> int:
    return next(place for place, joint in enumerate(chain) if joint.moves)


def _rank(link: str) -> int:
    """Return how usual the name of a link is for the end of an arm, 0 for the most usual."""
    words = re.split(r"[^a-z0-9]+", link.lower())
    return next((rank for rank, name in enumerate(_TIP_NAMES) if name in words), len(_TIP_NAMES))
