"""Robot descriptions: the same torques and poses as Pinocchio's own reader, and the message for every bad input."""

import builtins
import re

import numpy as np
import pinocchio as pin
import pytest

from dynlib import check, newton_euler, urdf
from dynlib.robot import Robot
from tests.arms import random_motion

GRAVITY = [0, 0, -9.81]

# A fixed foot, a hinge about an oblique axis, a slide along -z, a wheel about x (the axis that URDF takes when none
# is given), a tool and a lamp bolted on, inertias in turned axes, and what other programs need and dynlib does not.
ARM = """<?xml version="1.0" encoding="utf-8"?>
<!-- an arm for this test: θ -->
<robot name="test arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <material name="grey"/>
  <gazebo><plugin name="p"/></gazebo>
  <link name="world"/>
  <joint name="foot" type="fixed">
    <parent link="world"/><child link="plate"/><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.1"/>
  </joint>
  <link name="plate">
    <inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="plate"/><child link="upper"/><origin xyz="0 0 0.4" rpy="0.1 0.2 0.3"/><axis xyz="1 2 -3"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="0.3" friction="0.7" D="1"/>
  </joint>
  <link name="upper" type="x">
    <visual><geometry><mesh filename="package://none/none.stl"/></geometry></visual>
    <inertial>
      <origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/><mass value="2.5"/>
      <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0.01" ixz="-0.02" iyz="0.03"/>
    </inertial>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="upper"/><child link="fore"/><origin xyz="0.5 0 0" rpy="-0.7 0 0"/><axis xyz="0 0 -1"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/>
  </joint>
  <link name="fore">
    <inertial>
      <origin xyz="0 0.3 0"/><mass value="1.5"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="lamp_joint" type="fixed">
    <parent link="fore"/><child link="lamp"/><origin xyz="0 0 0.2" rpy="1 0 0"/>
  </joint>
  <link name="lamp">
    <inertial>
      <origin xyz="0.1 0 0"/><mass value="0.4"/>
      <inertia ixx="0.001" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="wheel_joint" type="continuous">
    <parent link="fore"/><child link="wheel"/><origin xyz="0 0.6 0" rpy="0 0 0.8"/>
    <dynamics damping="0.1"/>
  </joint>
  <link name="wheel">
    <inertial><mass value="0.7"/><inertia ixx="0.01" iyy="0.01" izz="0.015" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="tool_joint" type="fixed">
    <parent link="wheel"/><child link="tool"/><origin xyz="0.2 0 0" rpy="0 0.9 0"/>
  </joint>
  <link name="tool"/>
  <transmission name="incomplete"/>
</robot>
"""


def pinocchio_model(text: str) -> pin.Model:
    return pin.buildModelFromXML(text)


def read(text: str = ARM, **options) -> Robot:
    return urdf.loads(text, **({"gravity": GRAVITY, "tip": "tool", "name": "arm.urdf"} | options))


def joint_torques(robot: Robot, *state) -> np.ndarray:
    return np.array([link.tau for link in newton_euler.recursion(robot, *state)])


@pytest.fixture
def state() -> tuple[np.ndarray, ...]:
    return random_motion(np.random.default_rng(3), 3)


def in_pinocchio(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """The joint values as Pinocchio wants them: cosine and sine for a continuous joint, the third here."""
    return np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2])]) if model.nq == 4 else q


def test_torques_are_those_of_pinocchios_reader(state):
    model = pinocchio_model(ARM)
    right = pin.rnea(model, model.createData(), in_pinocchio(model, state[0]), *state[1:])
    assert np.abs(joint_torques(read(), *state) - right).max() <= 1e-10 * np.abs(right).max()


@pytest.mark.filterwarnings("ignore:.*moves beside the chain")
def test_poses_are_those_of_pinocchios_reader(state):
    model = pinocchio_model(ARM)
    data = model.createData()
    pin.framesForwardKinematics(model, data, in_pinocchio(model, state[0]))
    for tip in ("tool", "wheel", "lamp", "fore", "upper"):
        arm = read(tip=tip)
        assert check.same(arm.pose(state[0][: arm.n]), data.oMf[model.getFrameId(tip)].homogeneous)


def test_damping_and_friction_belong_to_the_motor(state):
    arm, (q, dq, ddq) = read(), state
    lost = newton_euler.inverse_dynamics(arm, q, dq, ddq) - joint_torques(arm, q, dq, ddq)
    assert check.same(lost, [0.3 * dq[0] + 0.7 * np.sign(dq[0]), 0, 0.1 * dq[2]])
    assert [link.motor is None for link in arm.links] == [False, True, False]


def test_joints_and_bolted_bodies():
    arm = read()
    assert arm.name == "test arm"
    assert [link.joint for link in arm.links] == ["revolute", "prismatic", "revolute"]
    assert [float(link.mass) for link in arm.links] == [2.5, pytest.approx(1.9), 0.7]


def test_the_chain_may_begin_above_the_root(state):
    model, q = pinocchio_model(ARM), state[0]
    arm = read(base="upper")
    data = model.createData()
    pin.framesForwardKinematics(model, data, in_pinocchio(model, q))
    upper, tool = (data.oMf[model.getFrameId(name)].homogeneous for name in ("upper", "tool"))
    assert arm.n == 2
    assert check.same(arm.pose(q[1:]), np.linalg.inv(upper) @ tool)


def test_a_link_without_inertial_has_no_known_mass():
    arm = urdf.loads(re.sub(r"<inertial>.*</inertial>", "", urdf.EXAMPLE, flags=re.DOTALL), gravity=GRAVITY)
    assert arm.links[0].body is None
    with pytest.raises(ValueError, match="link 1 of one joint has no mass data"):
        newton_euler.inverse_dynamics(arm, [0.0], [0], [0])


def test_held_level():
    """The rod of the example: 2 kg at 0.3 m; a turn about +y lowers it, so the joint's torque is negative."""
    arm = urdf.loads(urdf.EXAMPLE, gravity=GRAVITY)
    assert check.same(newton_euler.inverse_dynamics(arm, [0.0], [0.0], [0.0]), [-2 * 9.81 * 0.3])


def test_file_with_any_name(tmp_path, state):
    path = tmp_path / "θ.urdf"
    path.write_bytes(ARM.encode())
    arm = urdf.read(path, gravity=GRAVITY, tip="tool")
    assert check.same(joint_torques(arm, *state), joint_torques(read(), *state))


def test_what_moves_beside_the_chain_is_left_out_with_a_warning():
    with pytest.warns(
        UserWarning, match=r"joint 'wheel_joint' moves beside the chain; what hangs on it \(0.7 kg\) is left"
    ):
        arm = read(tip="lamp")
    assert [float(link.mass) for link in arm.links] == [2.5, pytest.approx(1.9)]


def test_impossible_data_warn_only_if_asked():
    text = ARM.replace('ixx="0.01" iyy="0.01" izz="0.015"', 'ixx="0.01" iyy="0.01" izz="0.03"')
    with pytest.raises(ValueError, match=r"arm.urdf: no real body has the data of link 'wheel':.*triangle rule.*=True"):
        read(text)
    with pytest.warns(UserWarning, match="data of link 'wheel'.*they are kept") as found:
        arm = read(text, allow_impossible=True)
    assert arm.links[2].body.allow_impossible
    assert found[0].filename == __file__


# ---- Bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<robot", "<robo", "arm.urdf, line 55: this is no XML: Opening and ending tag mismatch"),
        (ARM, "<model/>", "arm.urdf is a <model>; expected a robot description, <robot>"),
        ('<link name="tool"/>', "<xacro:tool/>", "arm.urdf is a xacro; make a URDF of it first"),
        ('type="prismatic"', 'type="sliding"', "arm.urdf is no URDF: .*slide.*Invalid joint type: sliding"),
        ('type="prismatic"', 'type="floating"', "joint 'slide' is floating; an arm has revolute"),
        ('mass value="2.5"', 'mass value="heavy"', "line 20: value of <mass> is 'heavy'; expected 1 finite number."),
        ('mass value="2.5"', 'mass value="nan"', "line 20: value of <mass> is 'nan'; expected 1 finite number."),
        ('mass value="2.5"', 'mass value="-1"', "no real body has the data of link 'upper': the mass is -1 kg"),
        ('xyz="1 2 -3"', 'xyz="0 0 0"', "the axis of joint 'hinge' is 0 0 0; expected a direction"),
        ('xyz="1 2 -3"', 'xyz="1 2"', "arm.urdf, line 14: xyz of <axis> is '1 2'; expected 3 finite numbers."),
        ('child link="tool"', 'child link="tol"', "joint 'tool_joint' joins the link 'tol', which is not there"),
        ('<link name="tool"/>', '<link name="tool"/><link name="tool"/>', "2 links are called 'tool'; names"),
        ('name="slide"', 'name="hinge"', "2 joints are called 'hinge'; names must differ"),
        ('<link name="tool"/>', '<link name="tool"/><link name="moon"/>', "the root; found world, moon"),
        ('child link="plate"', 'child link="tool"', "link 'tool' hangs on 2 joints; a URDF is a tree"),
        ('parent link="world"', 'parent link="tool"', "no joints lead from the link 'world' to the link 'tool'"),
        ('<axis xyz="0 0 -1"/>', '<mimic joint="hinge"/>', "joint 'slide' follows the joint 'hinge' .mimic"),
        ('<mass value="0.7"/><inertia ixx="0.01" iyy="0.01" izz="0.015" ixy="0" ixz="0" iyz="0"/>',
         '<mass value="0.7"/>', "link 'wheel' has a mass but no inertia"),
    ],
)  # fmt: skip
def test_bad_descriptions(old, new, message):
    assert old in ARM
    with pytest.raises(ValueError, match=message):
        read(ARM.replace(old, new, 1))


def test_several_tips_are_listed():
    with pytest.raises(
        ValueError, match=r"arm.urdf: expected one tip; found lamp, tool. Say which is meant, with tip="
    ):
        read(tip=None)


def test_unknown_links_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="there is no link 'hand' for tip; the links are world, plate, upper, fore"):
        read(tip="hand")
    with pytest.raises(ValueError, match="no joints lead from the link 'tool' to the link 'tool'"):
        read(base="tool")
    with pytest.raises(ValueError, match="no joints lead from the link 'tool' to the link 'upper'"):
        read(base="tool", tip="upper")
    with pytest.raises(ValueError, match="only fixed joints lead from the link 'world' to the link 'plate'"):
        read(tip="plate")


def test_the_parser_is_missing(monkeypatch):
    really = builtins.__import__

    def fails(name, *args, **kwargs):
        if name.startswith("urdf_parser_py"):
            raise ImportError(name)
        return really(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fails)
    with pytest.raises(ImportError, match="needs the parser urdfdom_py; install it: python -m pip install urdfdom_py"):
        read()


def test_nothing_is_fetched_and_no_entity_is_read(tmp_path):
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    text = f'<!DOCTYPE robot [<!ENTITY s SYSTEM "{(tmp_path / "secret").as_uri()}">]><robot name="&s;"/>'
    with pytest.raises(ValueError, match="URDF text") as error:
        urdf.loads(text, gravity=GRAVITY)
    assert "secret" not in str(error.value).replace(tmp_path.as_uri(), "")
