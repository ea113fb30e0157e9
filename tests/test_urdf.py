"""Robot descriptions: the same torques and poses as Pinocchio's own reader, and the message for every bad input."""

import itertools
import re
import warnings

import numpy as np
import pinocchio as pin
import pytest

from dynlib import check, newton_euler
from dynlib.model import Robot
from dynlib.robotfile import urdf
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
  <link name="upper" type="laser">
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
        UserWarning,
        match=r"arm.urdf, line 43: joint 'wheel_joint' moves beside the chain; what hangs on it \(0.7 kg\) is left",
    ):
        arm = read(tip="lamp")
    assert [float(link.mass) for link in arm.links] == [2.5, pytest.approx(1.9)]


def test_impossible_data_warn_only_if_asked():
    text = ARM.replace('ixx="0.01" iyy="0.01" izz="0.015"', 'ixx="0.01" iyy="0.01" izz="0.03"')
    with pytest.raises(
        ValueError, match=r"arm.urdf, line 48: no real body has the data of link 'wheel':.*triangle rule.*=True"
    ):
        read(text)
    with pytest.warns(UserWarning, match="data of link 'wheel'.*they are kept") as found:
        arm = read(text, allow_impossible=True)
    assert arm.links[2].body.allow_impossible
    assert found[0].filename == __file__


@pytest.mark.parametrize("faulty", ['<mass value="-9"/>', '<mass value="9"/><inertia ixx="9" iyy="0" izz="0"'])
def test_data_of_what_never_moves_are_not_needed(faulty, state):
    text = ARM.replace('<mass value="9"/>' + ('<inertia ixx="1" iyy="1" izz="1"' if "ixx" in faulty else ""), faulty)
    assert text != ARM
    assert check.same(joint_torques(read(text), *state), joint_torques(read(), *state))


# ---- Bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<robot", "<robo", "arm.urdf, line 55: this is no XML: mismatched tag"),
        (ARM, "<model/>", "arm.urdf is a <model>; expected a robot description, <robot>"),
        ('<link name="tool"/>', "<xacro:tool/>", "arm.urdf is a xacro; make a URDF of it first"),
        ('type="prismatic"', 'type="sliding"', "line 24: joint 'slide' is 'sliding'; expected revolute, continuous"),
        ('type="prismatic"', 'type="Prismatic"', "joint 'slide' is 'Prismatic'.*Did you mean 'prismatic'?"),
        ('type="prismatic"', 'type="floating"', "line 24: joint 'slide' is floating; an arm has revolute"),
        ('type="prismatic"', 'type="planar"', "line 24: joint 'slide' is planar; an arm has revolute"),
        ('mass value="2.5"', 'mass value="heavy"', "line 20: value of <mass> of link 'upper' is 'heavy'; expected 1"),
        ('mass value="2.5"', 'mass value="nan"', "line 20: value of <mass> of link 'upper' is 'nan'; expected 1"),
        ('mass value="2.5"', 'mass value="-1"', "line 19: no real body has the data of link 'upper': the mass is -1"),
        ('xyz="1 2 -3"', 'xyz="0 0 0"', "line 14: the axis of joint 'hinge' is 0 0 0; expected a direction"),
        ('xyz="1 2 -3"', 'xyz="1 2"', "line 14: xyz of <axis> of joint 'hinge' is '1 2'; expected 3 finite numbers."),
        ('child link="tool"', 'child link="tol"', "line 50: joint 'tool_joint' joins the link 'tol', which is "
                                                  "not there. Did you mean 'tool'?"),
        ('<link name="tool"/>', '<link name="tool"/><link name="tool"/>', "line 53: a second link is called 'tool'"),
        ('name="slide"', 'name="hinge"', "line 24: a second joint is called 'hinge', as in line 13; names must differ"),
        ('<link name="tool"/>', '<link name="tool"/><link name="moon"/>', "the root; found world, moon"),
        ('child link="plate"', 'child link="tool"', "link 'tool' hangs on 2 joints; a URDF is a tree"),
        ('parent link="world"', 'parent link="tool"', "joint '.*' closes a circle of joints; a URDF is a tree"),
        ('<axis xyz="0 0 -1"/>', '<mimic joint="hinge"/>', "line 24: joint 'slide' follows the joint 'hinge' .mimic"),
        ('<axis xyz="0 0 -1"/>', '<mimic joint="hing"/>', "line 24: joint 'slide' follows the joint 'hing', which is "
                                                          "not there. Did you mean 'hinge'?"),
        ('<mass value="0.7"/><inertia ixx="0.01" iyy="0.01" izz="0.015" ixy="0" ixz="0" iyz="0"/>',
         '<mass value="0.7"/>', "line 48: link 'wheel' has a mass but no inertia"),
    ],
)  # fmt: skip
def test_bad_descriptions(old, new, message):
    assert old in ARM
    with pytest.raises(ValueError, match=message):
        read(ARM.replace(old, new, 1))


def test_several_tips_are_listed():
    with pytest.raises(ValueError, match="arm.urdf: expected one tip; found lamp, tool. Say which is meant, with tip="):
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


def test_nothing_is_fetched_and_no_entity_is_read(tmp_path):
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    text = f'<!DOCTYPE robot [<!ENTITY s SYSTEM "{(tmp_path / "secret").as_uri()}">]><robot name="&s;"/>'
    with pytest.raises(ValueError, match="URDF text") as error:
        urdf.loads(text, gravity=GRAVITY)
    assert "secret" not in str(error.value).replace(tmp_path.as_uri(), "")


@pytest.mark.parametrize("entity", ['m "2"', 'm "22222"><!ENTITY n "&m;&m;&m;"', '% m "2"', 'm SYSTEM "none.xml"'])
def test_entities_are_refused_in_words(entity):
    text = f'<?xml version="1.0"?>\n<!DOCTYPE robot [<!ENTITY {entity}>]>\n' + urdf.EXAMPLE
    with pytest.raises(ValueError, match=r"URDF text, line 2: <!ENTITY ...> is not read; write its text where it is"):
        urdf.loads(text, gravity=GRAVITY)
    assert urdf.loads("<!DOCTYPE robot>" + urdf.EXAMPLE, gravity=GRAVITY).n == 1


# Names that URDF defines, misspelt; what is expected there; how the message calls the joint or link.
MISSPELT = [
    ("<axis", "<Axis", "line 14: joint 'hinge' has the element <Axis>;.*Did you mean 'axis'?"),
    (
        '<origin xyz="0.1 0.2',
        '<orgin xyz="0.1 0.2',
        "line 8: joint 'foot' has the element <orgin>;.*Did you mean 'origin'?",
    ),
    ("inertial>", "intertial>", "line 11: link 'plate' has the element <intertial>;.*Did you mean 'inertial'?"),
    ("<mass", "<Mass", "line 11: <inertial> of link 'plate' has the element <Mass>;.*Did you mean 'mass'?"),
    ("<inertia ", "<inertias ", "line 11: <inertial> of link 'plate' has the element <inertias>;.*'inertia'?"),
    ("<dynamics", "<dynamic", "line 15: joint 'hinge' has the element <dynamic>;.*'dynamics'?"),
    ("visual>", "visuals>", "line 18: link 'upper' has the element <visuals>"),
    ("<link", "<lnk", "line 6: the robot has the element <lnk>; expected link, joint. Did you mean 'link'?"),
    ("joint", "Joint", "line 7: the robot has the element <Joint>; expected link, joint. Did you mean 'joint'?"),
    (
        "rpy=",
        "RPY=",
        "line 8: <origin> of joint 'foot' has the attribute 'RPY'; expected xyz, rpy. Did you mean 'rpy'?",
    ),
    ("xyz=", "xzy=", "line 8: <origin> of joint 'foot' has the attribute 'xzy';.*'xyz'?"),
    ('axis xyz="1', 'axis xzy="1', "line 14: <axis> of joint 'hinge' has the attribute 'xzy'; expected xyz. Did"),
    ("damping=", "dampin=", "line 15: <dynamics> of joint 'hinge' has the attribute 'dampin';.*'damping'?"),
    ("ixx=", "Ixx=", "line 11: <inertia> of link 'plate' has the attribute 'Ixx';.*'ixx'?"),
    ("value=", "valeu=", "line 11: <mass> of link 'plate' has the attribute 'valeu';.*'value'?"),
    ("lower=", "low=", "line 15: <limit> of joint 'hinge' has the attribute 'low';.*'lower'?"),
    ("<parent link=", "<parent lnk=", "line 8: <parent> of joint 'foot' has the attribute 'lnk';.*'link'?"),
    ("type=", "tpye=", "line 7: joint 'foot' has the attribute 'tpye'; expected name, type. Did you mean 'type'?"),
    ('link name="world"', 'link nme="world"', "line 6: a link has the attribute 'nme'; expected name. Did"),
    ("robot name=", "robot nmae=", "line 3: the robot has the attribute 'nmae';.*'name'?"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISSPELT)
def test_misspelt_names_are_errors_with_line_and_the_nearest_right_name(old, new, message):
    assert old in ARM
    ends_later = old.rstrip(">") in ("joint", "inertial", "visual")
    text = ARM.replace(old, new, 2 if ends_later else 1)
    with pytest.raises(ValueError, match="arm.urdf, " + message):
        read(text)


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ('<parent link="upper"/>', "line 24: joint 'slide' has no <parent>"),
        ('<child link="fore"/>', "line 24: joint 'slide' has no <child>"),
        (' link="fore"/><origin', "line 25: <child> of joint 'slide' has no link; expected <child link"),
        (' type="prismatic"', "line 24: joint 'slide' has no type; expected <joint name"),
        (' name="slide"', "line 24: a joint has no name"),
        (' value="2.5"', "line 20: <mass> of link 'upper' has no value; expected <mass value"),
        ('<mass value="2.5"/>', "line 19: <inertial> of link 'upper' has no <mass>"),
        (' iyy="0.3"', "line 21: <inertia> of link 'upper' has no iyy; expected <inertia ixx"),
        (' xyz="1 2 -3"', "line 14: <axis> of joint 'hinge' has no xyz; expected <axis xyz"),
    ],
)
def test_missing_fields_are_named_with_line_and_joint(old, message):
    assert ARM.count(old) == 1
    with pytest.raises(ValueError, match="arm.urdf, " + message):
        read(ARM.replace(old, "/><origin" if old.endswith("<origin") else ""))


@pytest.mark.parametrize(
    "part",
    [
        '<mass value="2.5"/>',
        '<axis xyz="1 2 -3"/>',
        '<origin xyz="0.5 0 0" rpy="-0.7 0 0"/>',
        '<child link="fore"/>',
        '<dynamics damping="0.1"/>',
        '<inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0.01" ixz="-0.02" iyz="0.03"/>',
    ],
)
def test_what_is_there_twice_is_refused(part):
    assert ARM.count(part) == 1
    tag = part[1:].split()[0]
    with pytest.raises(ValueError, match=rf"arm.urdf, line \d+: .* has a second <{tag}>; expected one"):
        read(ARM.replace(part, part + part))


@pytest.mark.parametrize("number", ["1_0", "\u0663", "0x10", "1e400", "-inf", "1,5", "", "1d0", "1.5f", "--1", "${m}"])
def test_what_is_no_plain_number_is_refused(number):
    for old, new in (('value="2.5"', f'value="{number}"'), ('xyz="1 2 -3"', f'xyz="{number} 0 0.5"')):
        with pytest.raises(ValueError, match=r"arm.urdf, line \d+: (value of <mass>|xyz of <axis>) of .* is '.*'; exp"):
            read(ARM.replace(old, new))


@pytest.mark.parametrize(("number", "value"), [("+2.", 2), (".5", 0.5), ("1E-1", 0.1), ("0001e+1", 10), ("-0", 0)])
def test_plain_numbers_are_read(number, value):
    arm = read(ARM.replace('xyz="0.2 0 0" rpy="0 0.9 0"', f'xyz="{number} 0 0" rpy="0 0 0"'))
    assert check.same(
        arm.tool[:3, 3], read(ARM.replace('xyz="0.2 0 0" rpy="0 0.9 0"', "")).tool[:3, 3] + [0, 0, 0]
    ) == (value == 0)
    assert np.linalg.norm(arm.tool[:3, 3]) == pytest.approx(abs(value))


@pytest.mark.parametrize("key", ["damping", "friction"])
def test_what_would_drive_a_joint_is_refused(key):
    with pytest.raises(ValueError, match=f"arm.urdf, line 15: {key} of joint 'hinge' is -0.5; expected at least 0"):
        read(ARM.replace(f'{key}="', f'{key}="-0.5" was="', 1).replace(' was="0.3"', "").replace(' was="0.7"', ""))


def test_text_in_the_place_of_an_attribute_is_refused():
    with pytest.raises(ValueError, match="line 14: <origin> of joint 'hinge' holds the text '0 0 0.4'; its values are"):
        read(ARM.replace('<origin xyz="0 0 0.4" rpy="0.1 0.2 0.3"/>', "<origin>0 0 0.4</origin>"))


BLOCKS = """
  <ros2_control name="s" type="system"><joint name="hinge"><command_interface name="position"/></joint></ros2_control>
  <sensor name="imu" type="imu"><parent link="upper"/><origin xyz="0 0 0"/></sensor>
  <mujoco><compiler angle="radian"/></mujoco>
  <drake:declare_convex/>
  <plugin filename="p"/>
  <drake:joint name="hinge"/>
  <disable_collisions link1="upper" link2="fore"/>
  <gazebo reference="fore"><mu1>0.2</mu1><link name="fore"/></gazebo>
"""


def test_blocks_of_other_programs_are_passed_over(state):
    text = ARM.replace("<transmission", BLOCKS + "<transmission")
    for tag, more in {
        'name="fore"': "><contact><lateral_friction value='1'/></contact><self_collision_checking/><gravity>1</gravity",
        'type="prismatic"': " dont_collapse='true'><drake:note/",
        'effort="5" velocity="2"/><dynamics': "acceleration='3' drake:jerk='4'",
    }.items():
        tag, _, rest = tag.partition("/><")
        text = text.replace(tag, f"{tag} {more}" if more[0] not in "> " else tag + more, 1)
        assert rest in text
    assert check.same(joint_torques(read(text), *state), joint_torques(read(), *state))


def test_what_changes_the_motion_but_is_no_urdf_is_noted():
    with pytest.warns(UserWarning, match="arm.urdf: left out of <dynamics>, since URDF does not define it: armature."):
        read(ARM.replace('damping="0.1"', 'damping="0.1" armature="0.5"'))


@pytest.mark.parametrize("tag", ["loop_joint", "drake:loop_joint"])
def test_closed_chains_are_refused(tag):
    with pytest.raises(ValueError, match=f"arm.urdf, line 54: <{tag}> closes a chain; dynlib reads trees"):
        read(ARM.replace('<transmission name="incomplete"/>', f"<{tag}/>"))


@pytest.mark.parametrize("part", ["mass", "inertial", "axis", "origin"])
def test_a_part_at_the_top_is_refused(part):
    with pytest.raises(
        ValueError, match=f"arm.urdf, line 54: the robot has the element <{part}>; expected link, joint"
    ):
        read(ARM.replace('<transmission name="incomplete"/>', f"<{part}/>"))


def test_a_link_may_have_an_origin_that_means_nothing(state):
    link = '<link name="fore">'
    same = read(ARM.replace(link, link + '<origin xyz="0 0 0" rpy="0 -0 0"/>'))
    assert check.same(joint_torques(same, *state), joint_torques(read(), *state))
    with pytest.raises(ValueError, match="line 28: link 'fore' has an <origin>, which URDF does not know; put it into"):
        read(ARM.replace(link, link + '<origin xyz="0 0 0.1"/>'))


def test_axes_of_any_length_mean_the_same(state):
    right = joint_torques(read(), *state)
    for factor in ("e-200", "e200", "e-5"):
        axis = " ".join(number + factor for number in ("1", "2", "-3"))
        assert check.same(joint_torques(read(ARM.replace("1 2 -3", axis)), *state), right)


# ---- Encodings -----------------------------------------------------------------------------------------

ENCODINGS = [
    "UTF-8",
    "utf-8-sig",
    "GBK",
    "Shift_JIS",
    "UTF-16",
    "utf-16-le",
    "utf-16-be",
    "UTF-32",
    "ISO-8859-1",
    "cp1252",
]


def declared(encoding: str, name: str) -> str:
    """The example under a name, with a first line that declares an encoding."""
    return f'<?xml version="1.0" encoding="{encoding}"?>\n' + urdf.EXAMPLE.replace("one joint", name)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["bras é", "机械臂", "腕 ロボット", "плечо"])
def test_a_text_is_read_alike_whatever_encoding_it_declares(encoding, mark, name):
    arm = urdf.loads(mark + declared(encoding, name), gravity=GRAVITY)
    assert arm.name == name
    assert check.same(newton_euler.inverse_dynamics(arm, [0.0], [0], [0]), [-5.886])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_file_is_read_in_the_encoding_that_it_declares(encoding, tmp_path):
    name = {"GBK": "机械臂", "Shift_JIS": "腕"}.get(encoding, "bras é")
    path = tmp_path / "arm.urdf"
    path.write_bytes(declared(encoding.removesuffix("-sig"), name).encode(encoding))
    assert urdf.read(path, gravity=GRAVITY).name == name


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (declared("UTF-8", "é").encode("latin-1"), "arm.urdf, line 2: this is not UTF-8, which should be the encoding"),
        (urdf.EXAMPLE.replace("one", "é").encode("latin-1"), "arm.urdf, line 1: this is not utf-8"),
        (declared("ASCII", "é").encode(), "arm.urdf, line 2: this is not ASCII"),
        (
            declared("utf-9", "e").encode(),
            "arm.urdf, line 1: the encoding 'utf-9' is not known; save the file in UTF-8",
        ),
        (declared("rot13", "e").encode(), "arm.urdf, line 1: the encoding 'rot13' is not known"),
        (declared("UTF-16", "even").encode(), r"arm.urdf, line \d+: (the file declares|this is not) .*UTF-16"),
        (declared("UTF-16", "even ").encode(), r"arm.urdf, line \d+: (the file declares|this is not) .*UTF-16"),
    ],
)
def test_files_in_another_encoding_than_they_declare(data, message, tmp_path):
    (tmp_path / "arm.urdf").write_bytes(data)
    with pytest.raises(ValueError, match=message):
        urdf.read(tmp_path / "arm.urdf", gravity=GRAVITY)


def test_a_text_with_half_a_character():
    with pytest.raises(ValueError, match="URDF text: the text holds a character that no text can hold"):
        urdf.loads(urdf.EXAMPLE.replace("one", "\ud800"), gravity=GRAVITY)


# ---- Several ends, and joints that are held --------------------------------------------------------------

INERTIA = '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="-0.002"/>'


def link(name: str, mass: float = 0) -> str:
    inertial = f'<inertial><origin xyz="0.1 0.05 -0.02"/><mass value="{mass}"/>{INERTIA}</inertial>' if mass else ""
    return f'<link name="{name}">{inertial}</link>'


def joint(name: str, kind: str, parent: str, child: str, axis: str = "0 0 1", more: str = "") -> str:
    limit = '<limit lower="-2" upper="2" effort="9" velocity="9"/>' if kind in ("revolute", "prismatic") else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.1"/><axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def robot(*parts: str) -> str:
    return f'<robot name="r">{"".join(parts)}</robot>'


# As makers publish an arm: a frame of the controller on the base, a flange and a tool frame without mass.
MADE_LIKE_UR = [
    link("base_link", 4), link("base"), joint("to_base", "fixed", "base_link", "base"),
    link("shoulder", 3), joint("pan", "revolute", "base_link", "shoulder"),
    link("forearm", 2), joint("lift", "revolute", "shoulder", "forearm", "0 1 0"),
    link("tool0"), joint("to_tool", "fixed", "forearm", "tool0"),
    link("ft_frame"), joint("to_ft", "fixed", "forearm", "ft_frame"),
]  # fmt: skip
# A hand with two fingers, of which one follows the other, as on Franka's arm.
FOLLOWS = '<mimic joint="finger1" multiplier="-0.5" offset="0.01"/>'
HAND = [
    link("hand", 0.7), joint("to_hand", "fixed", "forearm", "hand"),
    link("left", 0.2), joint("finger1", "prismatic", "hand", "left", "0 2 1"),
    link("right", 0.3), joint("finger2", "prismatic", "hand", "right", "0 -1 0", FOLLOWS),
    link("pad", 0.1), joint("to_pad", "fixed", "right", "pad"),
]  # fmt: skip
WITH_HAND = robot(*MADE_LIKE_UR, *HAND)


def quiet(text: str, **options) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return read(text, **({"tip": None} | options))


def pinocchio_torques(text: str, locked: dict[str, float], *state) -> np.ndarray:
    model = pin.buildModelFromXML(text)
    held = pin.neutral(model)
    for name, value in locked.items():
        held[model.joints[model.getJointId(name)].idx_q] = value
    reduced = pin.buildReducedModel(model, [model.getJointId(name) for name in locked], held)
    return pin.rnea(reduced, reduced.createData(), *state)


def test_several_ends_on_the_same_joints_are_no_reason_to_refuse():
    text = robot(*MADE_LIKE_UR)
    with pytest.warns(
        UserWarning,
        match=r"arm.urdf: no tip is given; tool0 is taken. The torques are the same for "
        r"ft_frame. No joint moves base. Choose another one with tip=",
    ) as found:
        arm = read(text, tip=None)
    assert len(found) == 1
    assert found[0].filename == __file__
    state = random_motion(np.random.default_rng(2), 2)
    assert check.same(joint_torques(arm, *state), pinocchio_torques(text, {}, *state))
    for tip in ("tool0", "ft_frame", "forearm"):
        assert check.same(joint_torques(read(text, tip=tip), *state), joint_torques(arm, *state))
    assert check.same(arm.pose(state[0]), read(text, tip="tool0").pose(state[0]))


@pytest.mark.parametrize(
    ("ends", "tip"),
    [
        (["camera", "tool0", "ee_link"], "tool0"),
        (["ee_link", "camera"], "ee_link"),
        (["hand-tcp", "camera"], "hand-tcp"),
        (["Left.Tool", "camera"], "Left.Tool"),
        (["a", "b"], "b"),
        (["teeth", "b"], "b"),  # only whole words count
    ],
)
def test_the_tip_is_chosen_by_its_name_or_the_last_one_is(ends, tip):
    bolted = [part for end in ends for part in (link(end), joint(f"to {end}", "fixed", "forearm", end))]
    with pytest.warns(UserWarning, match=f"no tip is given; {tip} is taken"):
        read(robot(*MADE_LIKE_UR[:7], *bolted), tip=None)


def test_the_farthest_end_is_taken_if_no_name_is_usual():
    far = [link("a1"), joint("to a1", "fixed", "forearm", "a1"), link("a2"), joint("to a2", "fixed", "a1", "a2")]
    with pytest.warns(UserWarning, match="no tip is given; a2 is taken"):
        read(robot(*MADE_LIKE_UR[:7], *far, link("b"), joint("to b", "fixed", "forearm", "b")), tip=None)


def test_a_single_end_needs_no_note():
    read(robot(*MADE_LIKE_UR[:1], *MADE_LIKE_UR[3:9]), tip=None)


def test_ends_on_different_joints_are_refused_with_advice():
    with pytest.raises(
        ValueError,
        match=r"expected one tip; found tool0, ft_frame, left, pad. Say which is meant, with "
        r"tip=.*fingers of a gripper, hold their joints at a value with lock=",
    ):
        read(WITH_HAND, tip=None)


def test_no_joint_that_moves():
    with pytest.raises(ValueError, match="arm.urdf: no joint moves that hangs on the link 'base_link'"):
        read(robot(*MADE_LIKE_UR[:3], link("x"), joint("to x", "fixed", "base", "x")), tip=None)


@pytest.mark.parametrize("value", [0.0, 0.04, -1.5])
def test_a_gripper_held_at_a_value_counts_with_its_mass(value):
    arm = quiet(WITH_HAND, lock={"finger1": value})
    state = random_motion(np.random.default_rng(4), 2)
    held = {"finger1": value, "finger2": -0.5 * value + 0.01}
    assert check.same(joint_torques(arm, *state), pinocchio_torques(WITH_HAND.replace(FOLLOWS, ""), held, *state))
    assert float(arm.links[-1].mass + arm.links[0].mass) == pytest.approx(3 + 2 + 0.7 + 0.2 + 0.3 + 0.1)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
@pytest.mark.parametrize("axis", ["0 0 1", "1 0 0", "0 0 -1", "1 -2 3"])
def test_a_joint_of_the_chain_can_be_held(kind, axis):
    text = WITH_HAND.replace(
        joint("lift", "revolute", "shoulder", "forearm", "0 1 0"), joint("lift", kind, "shoulder", "forearm", axis)
    )
    arm = quiet(text, lock={"lift": 0.7, "finger1": 0.02}, tip="tool0")
    state = random_motion(np.random.default_rng(5), 1)
    turning = text.replace(
        joint("lift", "continuous", "shoulder", "forearm", axis), joint("lift", "revolute", "shoulder", "forearm", axis)
    ).replace(FOLLOWS, "")
    right = pinocchio_torques(turning, {"lift": 0.7, "finger1": 0.02, "finger2": 0.0}, *state)
    assert arm.n == 1
    assert check.same(joint_torques(arm, *state), right)


def test_what_moves_beside_is_left_out_with_advice_unless_it_is_held():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        read(WITH_HAND, tip="tool0")
    beside = "joint '{}' moves beside the chain; what hangs on it ({} kg) is left out. Held at a value with lock="
    for warning, joint_and_mass in zip(found, [("finger1", 0.2), ("finger2", 0.4)], strict=True):
        assert beside.format(*joint_and_mass) in str(warning.message)
    read(WITH_HAND, tip="tool0", lock={"finger1": 0.01})


def test_followers_of_followers_are_held_too():
    third = [
        link("thumb", 0.5),
        joint("finger3", "revolute", "hand", "thumb", "1 0 0", '<mimic joint="finger2" offset="0.2"/>'),
    ]
    text = robot(*MADE_LIKE_UR, *third, *HAND)
    arm, state = quiet(text, lock={"finger1": 0.1}), random_motion(np.random.default_rng(6), 2)
    free = text.replace(FOLLOWS, "").replace('<mimic joint="finger2" offset="0.2"/>', "")
    held = {"finger1": 0.1, "finger2": -0.04, "finger3": 0.16}
    assert check.same(joint_torques(arm, *state), pinocchio_torques(free, held, *state))


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        (
            {"finger": 0},
            "there is no joint 'finger' to lock; the joints that move are pan, lift, finger1, finger2. Did",
        ),
        ({"to_pad": 0}, "joint 'to_pad' is fixed; there is nothing to lock"),
        ({"finger2": 0}, "joint 'finger2' follows the joint 'finger1' .mimic.; lock that one instead"),
        ({"finger1": float("nan")}, "the value of the locked joint 'finger1'"),
        ({"finger1": [0, 1]}, "the value of the locked joint 'finger1'"),
        ({"finger1": "x"}, "the value of the locked joint 'finger1'"),
    ],
)
def test_locks_that_mean_nothing(lock, message):
    with pytest.raises((ValueError, TypeError), match=message):
        read(WITH_HAND, tip="tool0", lock=lock)


def test_a_value_outside_the_limits_is_noted():
    with pytest.warns(UserWarning, match="joint 'lift' is locked at 90, outside its limits -2 and 2 .rad."):
        read(robot(*MADE_LIKE_UR), tip="tool0", lock={"lift": 90})


# Two arms on a body that stands still, as on a humanoid torso; and one that rides on a joint.
ARMS = [
    part
    for side, mass in (("left", 5), ("right", 2))
    for part in (link(side, mass), joint(f"j_{side}", "revolute", "body", side, "0 1 0"))
]
TWO_ARMS = robot(link("world"), link("body", 9), joint("stand", "fixed", "world", "body"), *ARMS)


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_arm_beside_it_on_an_unmoving_base_is_no_reason_for_a_warning(side):
    arm, state = read(TWO_ARMS, tip=side), random_motion(np.random.default_rng(7), 1)
    both = [np.array([0.3, 0.4]) for _ in range(3)]
    for whole, one in zip(both, state, strict=True):
        whole[["left", "right"].index(side)] = one[0]
    right = pinocchio_torques(TWO_ARMS, {}, *both)[["left", "right"].index(side)]
    assert check.same(joint_torques(arm, *state), [right])


def test_an_arm_beside_it_on_a_moving_base_is_left_out_with_a_warning():
    with pytest.warns(
        UserWarning, match=r"joint 'j_left' moves beside the chain; what hangs on it \(5 kg\) is left out"
    ):
        arm = read(TWO_ARMS.replace('name="stand" type="fixed"', 'name="stand" type="continuous"'), tip="right")
    assert arm.n == 2


def test_long_chains_and_deep_texts_are_read():
    names = [f"l{i}" for i in range(3000)]
    bolted = [joint(f"j{i}", "fixed", a, b) for i, (a, b) in enumerate(itertools.pairwise(names))]
    arm = read(
        robot(*MADE_LIKE_UR[3:7], *map(link, names), *bolted, joint("x", "fixed", "forearm", "l0"), link("base_link")),
        tip="forearm",
    )
    assert arm.n == 2
    deep = "<gazebo>" + "<a>" * 100_000 + "</a>" * 100_000 + "</gazebo>"
    assert urdf.loads(urdf.EXAMPLE.replace("</robot>", deep + "</robot>"), gravity=GRAVITY).n == 1


def test_a_robot_without_a_name_is_called_after_its_file():
    assert (
        urdf.loads(urdf.EXAMPLE.replace(' name="one joint"', ""), gravity=GRAVITY, name="my.arm.urdf").name == "my.arm"
    )
