"""Random arms, and the same arm in Pinocchio, for tests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pinocchio as pin

from dynlib.frames import position, rotation
from dynlib.model import Body, Link, Motor, Robot
from dynlib.velocity import BaseMotion, Wrench


def random_pose(rng: np.random.Generator, size: float = 0.5) -> np.ndarray:
    """A random rotation and position as a transform."""
    matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose = np.eye(4)
    pose[:3, :3] = matrix * np.linalg.det(matrix)
    pose[:3, 3] = rng.uniform(-size, size, 3)
    return pose


def random_arm(rng: np.random.Generator, joints: int) -> Robot:
    """An arm with random joints, poses, masses and full inertia tensors, on a turned base, with any gravity."""
    links = []
    for _ in range(joints):
        spread = rng.normal(size=(3, 6)) * 0.2  # the inertia of six unit masses is always possible
        inertia = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        kind = "revolute" if rng.random() < 0.7 else "prismatic"
        body = Body(rng.uniform(0.1, 5), rng.uniform(-0.3, 0.3, 3), inertia)
        links.append(Link(kind, random_pose(rng), body))
    return Robot(links, rng.uniform(-10, 10, 3), random_pose(rng), random_pose(rng), name=f"random arm of {joints}")


def random_motion(rng: np.random.Generator, *shape: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random joint values, rates and accelerations of a shape (..., joints)."""
    q, dq, ddq = rng.uniform(-3, 3, (3, *shape))
    return q, dq, ddq


def _add_links(model: pin.Model, robot: Robot, parent: int, place: np.ndarray) -> None:
    for i, link in enumerate(robot.links):
        joint = pin.JointModelRZ() if link.joint == "revolute" else pin.JointModelPZ()
        before = place @ link.fixed if i == 0 else link.fixed
        parent = model.addJoint(parent, joint, pin.SE3(rotation(before), position(before)), f"joint{i + 1}")
        model.appendBodyToJoint(parent, pin.Inertia(float(link.mass), link.com, link.inertia), pin.SE3.Identity())
    if (load := robot.payload) is not None:
        body = pin.Inertia(float(load.mass), load.com, load.inertia)
        model.appendBodyToJoint(parent, body, pin.SE3(rotation(robot.tool), position(robot.tool)))


def pinocchio_torques(robot, q, dq, ddq, tip_force=(0, 0, 0), tip_moment=(0, 0, 0)) -> np.ndarray:
    """Inverse dynamics by Pinocchio, with the wrench that the surroundings put on the tip."""
    model = pin.Model()
    _add_links(model, robot, 0, robot.base)
    model.gravity.linear = robot.gravity
    R, p = rotation(robot.tool), position(robot.tool)
    force = R @ np.asarray(tip_force, float)
    loads = [pin.Force.Zero() for _ in range(model.njoints)]
    loads[-1] = pin.Force(force, R @ np.asarray(tip_moment, float) + np.cross(p, force))
    return pin.rnea(model, model.createData(), q, dq, ddq, loads)


def pinocchio_torques_on_moving_base(robot, q, dq, ddq, base: BaseMotion) -> np.ndarray:
    """Inverse dynamics by Pinocchio on a free-flying base that moves as told."""
    model = pin.Model()
    floating = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    _add_links(model, robot, floating, np.eye(4))
    model.gravity.linear = robot.gravity
    orientation = pin.Quaternion(rotation(robot.base)).coeffs()
    spatial = base.dv - np.cross(base.omega, base.v)  # Pinocchio's base acceleration is the derivative of the column
    full_q = np.concatenate([position(robot.base), orientation, q])
    full_v = np.concatenate([base.v, base.omega, dq])
    full_a = np.concatenate([spatial, base.domega, ddq])
    return pin.rnea(model, model.createData(), full_q, full_v, full_a)[6:]


# ---- Arms from tables, with everything that an arm can have ----------------------------------------


def random_body(rng: np.random.Generator) -> Body:
    """A body of six random particles of different mass."""
    masses, places = rng.uniform(0.1, 1, 6), rng.uniform(-0.3, 0.3, (6, 3))
    return body_of_particles(masses, places)


def body_of_particles(masses: np.ndarray, places: np.ndarray) -> Body:
    """Mass, mass centre and inertia about it as sums over particles, by their definition."""
    com = masses @ places / masses.sum()
    inertia = np.zeros((3, 3))
    for mass, (x, y, z) in zip(masses, places - com, strict=True):
        inertia += mass * np.array(
            [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]]
        )
    return Body(masses.sum(), com, inertia)


def random_motor(rng: np.random.Generator) -> Motor:
    """A motor with rotor, gear of either sign, viscous friction and dry friction that depends on the sense."""
    gear = rng.choice([-1, 1]) * rng.uniform(1, 120)
    return Motor(rng.uniform(0, 1e-3), gear, rng.uniform(0, 1e-3), (rng.uniform(0, 0.5), -rng.uniform(0, 0.5)))


@dataclass(frozen=True)
class Arm:
    """A random arm in the form in which a user would give it: a table in either convention, or poses.

    Attributes:
        joints: "revolute", "prismatic" or "fixed", in order.
        reading: "standard", "modified" or "poses".
        seed: of all numbers.
        light: how many of the first links have neither mass nor inertia.
        motors: whether every joint has a motor.
        payload: whether the tip carries a body.
    """

    joints: tuple[str, ...]
    reading: str
    seed: int
    light: int = 0
    motors: bool = False
    payload: bool = False

    @property
    def n(self) -> int:
        return sum(joint != "fixed" for joint in self.joints)

    @cached_property
    def rows(self) -> list[dict]:
        """Rows of a table, or `fixed` poses, with a body and perhaps a motor."""
        rng, rows = np.random.default_rng([self.seed, 0]), []
        for number, joint in enumerate(self.joints):
            row = {"joint": joint, "body": random_body(rng) if number >= self.light else Body(0)}
            if self.motors and joint != "fixed":
                row["motor"] = random_motor(rng)
            if self.reading == "poses":
                row["fixed"] = random_pose(rng)
            else:
                row |= {key: some_length(rng) for key in ("a", "d")} | {
                    key: some_angle(rng) for key in ("alpha", "theta")
                }
                row["offset"] = some_length(rng) if joint == "prismatic" else some_angle(rng)
            rows.append(row)
        return rows

    @cached_property
    def around(self) -> dict[str, np.ndarray]:
        """Gravity, base and tool."""
        rng = np.random.default_rng([self.seed, 1])
        return {"gravity": rng.uniform(-10, 10, 3), "base": random_pose(rng), "tool": random_pose(rng)}

    @cached_property
    def load(self) -> Body | None:
        """The payload in tip axes."""
        return random_body(np.random.default_rng([self.seed, 2])) if self.payload else None

    @cached_property
    def robot(self) -> Robot:
        """The arm in dynlib."""
        if self.reading == "poses":
            around = self.around
            robot = Robot([Link(**row) for row in self.rows], around["gravity"], around["base"], around["tool"])
        else:
            robot = Robot.from_dh(self.rows, convention=self.reading, **self.around)
        return replace(robot, payload=self.load, name="random arm")

    @cached_property
    def reference(self) -> "Reference":
        """The arm in Pinocchio, built from the rows and not from dynlib's links."""
        return Reference(self)

    def motion(self, *batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Joint values, rates and accelerations, some of them 0 or a right angle, each (*batch, n)."""
        rng = np.random.default_rng([self.seed, 3])
        q, dq, ddq = random_motion(rng, *batch, self.n)
        q = np.where(rng.random(q.shape) < 0.1, np.pi / 2, q)
        resting = rng.random(q.shape) < 0.1
        return q, np.where(resting, 0, dq), ddq

    def wrenches(self, number: int) -> list[Wrench]:
        """Loads on any links and the tip, at any points, in all kinds of axes."""
        rng = np.random.default_rng([self.seed, 4])
        links = [None, *range(1, self.n + 1)]
        return [
            Wrench(
                force=rng.uniform(-5, 5, 3),
                moment=rng.uniform(-5, 5, 3),
                link=links[rng.integers(len(links))],
                point=rng.uniform(-0.5, 0.5, 3),
                axes=("link", "base", "world", "tip")[rng.integers(4)],
            )
            for _ in range(number)
        ]


def some_angle(rng: np.random.Generator) -> float:
    """Any angle, or one of the multiples of a right angle that most tables have."""
    return float(rng.choice([-np.pi / 2, 0, np.pi / 2, np.pi]) if rng.random() < 0.5 else rng.uniform(-np.pi, np.pi))


def some_length(rng: np.random.Generator) -> float:
    """Any length, or 0."""
    return float(0 if rng.random() < 0.3 else rng.uniform(-0.6, 0.6))


def _along(axis: str, length: float, angle: float) -> pin.SE3:
    return pin.SE3(pin.utils.rotate(axis, angle), length * np.eye(3)["xyz".index(axis)])


class Reference:
    """An :class:`Arm` in Pinocchio. Frame i of dynlib is found by its definition: on the axis of joint i."""

    def __init__(self, arm: Arm):
        self.model = pin.Model()
        self.model.gravity.linear = arm.around["gravity"]
        self.base, tool = (pin.SE3(rotation(T), position(T)) for T in (arm.around["base"], arm.around["tool"]))
        self.frames: list[tuple[int, pin.SE3]] = []  # joint, and frame i of dynlib in the frame of that joint
        parent, place, motors = 0, self.base, []
        for row in arm.rows:
            before, on_axis, after = self._parts(arm.reading, row)
            if row["joint"] == "fixed":
                place = place * before * on_axis * after
                self._append(parent, row["body"], place)
                continue
            joint = pin.JointModelRZ() if row["joint"] == "revolute" else pin.JointModelPZ()
            parent = self.model.addJoint(parent, joint, place * before, f"joint{len(self.frames) + 1}")
            place = on_axis * after
            self.frames.append((parent, on_axis))
            self._append(parent, row["body"], place)
            motors.append(row.get("motor") or Motor())
        self.frames.append((parent, place * tool))
        if arm.load is not None:
            self._append(parent, arm.load, place * tool)
        self.motors = motors
        self.model.armature = np.array([float(motor.gear**2 * motor.inertia) for motor in motors])
        self.data = self.model.createData()

    @staticmethod
    def _parts(reading: str, row: dict) -> tuple[pin.SE3, pin.SE3, pin.SE3]:
        """What stands before the joint's motion, what commutes with it, and what comes after."""
        if reading == "poses":
            return pin.SE3(rotation(row["fixed"]), position(row["fixed"])), pin.SE3.Identity(), pin.SE3.Identity()
        slides = row["joint"] == "prismatic"
        on_axis = _along("z", row["d"] + row["offset"] * slides, row["theta"] + row["offset"] * (not slides))
        across = _along("x", row["a"], row["alpha"])
        identity = pin.SE3.Identity()
        return (across, on_axis, identity) if reading == "modified" else (identity, on_axis, across)

    def _append(self, joint: int, body: Body, place: pin.SE3) -> None:
        self.model.appendBodyToJoint(joint, pin.Inertia(float(body.mass), body.com, body.inertia), place)

    def turned(self, link: int | None, axes: str) -> np.ndarray:
        """The rotation from the named axes into those of the joint that carries a link or the tip."""
        joint, frame = self.frames[-1 if link is None else link - 1]
        if axes == "link":
            return frame.rotation
        to_joint = self.data.oMi[joint].rotation.T
        if axes == "tip":
            last, tip = self.frames[-1]
            return to_joint @ self.data.oMi[last].rotation @ tip.rotation
        return to_joint if axes == "world" else to_joint @ self.base.rotation

    def torques(self, q, dq, ddq, loads: Sequence[Wrench] = ()) -> np.ndarray:
        """Inverse dynamics with rotor inertia, friction and loads."""
        pin.forwardKinematics(self.model, self.data, q)
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for wrench in loads:
            joint, frame = self.frames[-1 if wrench.link is None else wrench.link - 1]
            R = self.turned(wrench.link, wrench.axes)
            force, lever = R @ wrench.force, frame.act(wrench.point)
            forces[joint] += pin.Force(force, R @ wrench.moment + np.cross(lever, force))
        tau = pin.rnea(self.model, self.model.createData(), q, dq, ddq, forces)
        for i, motor in enumerate(self.motors):
            gear, dry = abs(float(motor.gear)), {1: motor.coulomb[0], -1: motor.coulomb[1], 0: 0.0}[int(np.sign(dq[i]))]
            tau[i] += gear * (float(motor.viscous) * gear * dq[i] + dry)
        return tau

    def jacobian(self, q, link: int | None, point, axes: str) -> np.ndarray:
        """Jacobian of a point of a link or of the tip frame, in any axes, from Pinocchio's frame Jacobian."""
        pin.forwardKinematics(self.model, self.data, q)
        joint, frame = self.frames[-1 if link is None else link - 1]
        model = self.model.copy()
        at = pin.SE3(np.eye(3), frame.act(np.asarray(point, float)))
        number = model.addFrame(pin.Frame("point", joint, 0, at, pin.FrameType.OP_FRAME))
        J = pin.computeFrameJacobian(model, model.createData(), q, number, pin.ReferenceFrame.LOCAL).reshape(6, -1)
        R = self.turned(link, axes).T
        return np.vstack([R @ J[:3], R @ J[3:]])

    def pose(self, q) -> np.ndarray:
        """Pose of the tip in the world."""
        pin.forwardKinematics(self.model, self.data, q)
        joint, frame = self.frames[-1]
        return (self.data.oMi[joint] * frame).homogeneous
