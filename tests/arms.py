"""Random arms, and the same arm in Pinocchio, for tests."""

import numpy as np
import pinocchio as pin

from dynlib.frames import position, rotation
from dynlib.links import Body, Link
from dynlib.robot import Robot
from dynlib.velocity import BaseMotion


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


def pinocchio_torques(robot, q, dq, ddq, tip_force=(0, 0, 0), tip_moment=(0, 0, 0)) -> np.ndarray:
    """Inverse dynamics by Pinocchio, with the wrench that the surroundings put on the tip."""
    model = pin.Model()
    _add_links(model, robot, 0, robot.base)
    model.gravity.linear = robot.gravity
    R, p = rotation(robot.tool), position(robot.tool)
    force = R @ np.asarray(tip_force, float)
    wrenches = [pin.Force.Zero() for _ in range(model.njoints)]
    wrenches[-1] = pin.Force(force, R @ np.asarray(tip_moment, float) + np.cross(p, force))
    return pin.rnea(model, model.createData(), q, dq, ddq, wrenches)


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
