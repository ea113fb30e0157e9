"""Exact arms: right angles that are stated as decimals, decimals that stay, rotations that stay rotations."""

import pickle
import re
import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import sympy

from dynlib import derivation, frames, lagrange, linkages, newton_euler, robotfile, robots, structure
from dynlib.algebra import notation
from dynlib.algebra.arrays import exact_array
from dynlib.closed_chains import constraints
from dynlib.model import Body, Link, Motor, Robot
from dynlib.model.exact import Exactly, exact_angle
from dynlib.motion import closed_equations, equations
from dynlib.robotfile import urdf
from tests.arms import pinocchio_torques, random_body, random_pose

GRAVITY = [0, 0, -9.81]
PI = sympy.pi

# ---- Angles --------------------------------------------------------------------------------------------

STATED = {
    "1.57": PI / 2, "1.571": PI / 2, "1.5708": PI / 2, "1.570796": PI / 2, "1.5707963": PI / 2,
    "1.57079632679": PI / 2, "1.5707963267949": PI / 2, "1.5707963267948966": PI / 2, "1.5707963267948974": PI / 2,
    "1.5707": PI / 2, "1.57079": PI / 2, "-1.5707": -PI / 2, "-1.5708": -PI / 2, "3.14": PI, "3.1415": PI,
    "3.1416": PI, "3.14159": PI, "-3.14159265359": -PI, "6.2832": 2 * PI, "4.71": 3 * PI / 2, "4.7124": 3 * PI / 2,
    "0.785": PI / 4, "0.7854": PI / 4, "0.7853": PI / 4, "2.356": 3 * PI / 4, "2.36": 3 * PI / 4,
    "-2.3562": -3 * PI / 4, "1.05": PI / 3, "1.0472": PI / 3, "2.0944": 2 * PI / 3, "0.524": PI / 6,
    "0.5236": PI / 6, "0.2618": PI / 12, "1.309": 5 * PI / 12, "0.959931": 11 * PI / 36, "0.392699": PI / 8,
    "0.4487989505128276": PI / 7, "0": sympy.S.Zero, "-0.0": sympy.S.Zero, "1.2e-16": sympy.S.Zero,
}  # fmt: skip
DECIMALS = [
    "0.3", "0.5", "0.52", "1.6", "1.58", "1.572", "1.5709", "1.5706", "1.5718", "2", "3.15", "3.2", "100", "123",
    "12.6", "0.9599", "0.95993", "0.262001", "1e-05", "-0.0007", "1e-10", "1.57179", "0.785001",
]  # fmt: skip


@pytest.mark.parametrize(("text", "part"), STATED.items())
def test_an_angle_that_states_a_part_of_pi_is_that_part(text, part):
    assert exact_angle(float(text)) == part
    assert exact_angle(-float(text)) == -part


@pytest.mark.parametrize("text", DECIMALS)
def test_another_angle_has_fractions_for_sine_and_cosine(text):
    angle = float(text)
    c, s = frames.rotation_x(np.asarray(exact_angle(angle)))[1:, 1]
    assert c.is_Rational
    assert s.is_Rational
    assert c**2 + s**2 == 1
    assert float(exact_angle(angle)) == pytest.approx(angle, rel=4e-16, abs=0)
    assert abs(float(c) - np.cos(angle)) < 2e-16
    assert abs(float(s) - np.sin(angle)) < 2e-16 * max(1, abs(angle))


@pytest.mark.parametrize("text", STATED)
def test_without_rounding_only_the_last_digits_count(text):
    angle, read = float(text), exact_angle(float(text), round_angles=False)
    assert abs(float(read) - angle) < 1e-14
    assert read.has(sympy.atan) == (1e-14 < abs(angle - float(STATED[text])))


# ---- One arm, told in many ways ------------------------------------------------------------------------

BODIES = """mass = 3
com = [0.1, 0, 0.2]
inertia = [0.01, 0.06, 0.06]
"""
LAST = """mass = 2
com = [0.3, 0, 0]
inertia = [0.01, 0.06, 0.06]
"""
POSES = 'convention = "poses"\ngravity = [0, 0, -9.81]\n[[link]]\n' + BODIES + "[[link]]\nPLACE\n" + LAST
DH = 'convention = "modified"\ngravity = [0, 0, -9.81]\n[[link]]\n' + BODIES + "[[link]]\na = 0.3\nPLACE\n" + LAST
URDF = """<robot name="rp"><link name="w"/>
<joint name="j1" type="revolute"><parent link="w"/><child link="a"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
<link name="a"><inertial><origin xyz="0.1 0 0.2"/><mass value="3"/>
<inertia ixx="0.01" iyy="0.06" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.3 0 0" rpy="TURN 0 0"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
<link name="b"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.06" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""

SECOND_AXIS = '<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>\n<link name="b">'


def by_pose(turn: str) -> Robot:
    return robotfile.loads(POSES.replace("PLACE", f"pose = {{position = [0.3, 0, 0], rpy = [{turn}, 0, 0]}}"))


def by_urdf(turn: str) -> Robot:
    arm = urdf.loads(URDF.replace("TURN", turn.strip('"')), gravity=GRAVITY)
    return arm


def by_table(turn: str) -> Robot:
    return robotfile.loads(DH.replace("PLACE", f"alpha = {turn}"))


def by_rows(turn: str) -> Robot:
    first = dict(mass=3, com=[0.1, 0, 0.2], inertia=[0.01, 0.06, 0.06])
    last = dict(a=0.3, alpha=float(turn), mass=2, com=[0.3, 0, 0], inertia=[0.01, 0.06, 0.06])
    return Robot.from_dh([first, last], convention="modified", gravity=GRAVITY)


def by_links(turn: str) -> Robot:
    fixed = frames.transform(frames.rotation_x(np.array(float(turn))), np.array([0.3, 0, 0]))
    bodies = Body(3, [0.1, 0, 0.2], [0.01, 0.06, 0.06]), Body(2, [0.3, 0, 0], [0.01, 0.06, 0.06])
    return Robot([Link("revolute", np.eye(4), bodies[0]), Link("revolute", fixed, bodies[1])], GRAVITY)


WAYS = {"poses": by_pose, "urdf": by_urdf, "table": by_table, "rows": by_rows, "links": by_links}
RIGHT = ["1.57", "1.5708", "1.5707", "1.570796", "1.5707963267949", "1.5707963267948966", "1.5707963267948974"]


def torques(arm: Robot) -> list[sympy.Expr]:
    return [notation.tidy(tau) for tau in newton_euler.inverse_dynamics(arm, *arm.motion_symbols())]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("turn", RIGHT)
@pytest.mark.filterwarnings("ignore:.*angles that state a part of pi")
def test_a_right_angle_stated_as_a_decimal_gives_the_torques_of_a_right_angle(way, turn):
    theta2, dtheta1, dtheta2, ddtheta1, ddtheta2 = sympy.symbols("theta2 dtheta1 dtheta2 ddtheta1 ddtheta2")
    n, c, s = sympy.Rational, sympy.cos, sympy.sin
    expected = [  # Pinocchio has these coefficients, too
        n("0.395") * ddtheta1 + n("0.115") * ddtheta1 * c(2 * theta2) + n("0.36") * ddtheta1 * c(theta2)
        - n("0.23") * dtheta1 * dtheta2 * s(2 * theta2) - n("0.36") * dtheta1 * dtheta2 * s(theta2),
        n("0.24") * ddtheta2 + n("0.115") * dtheta1**2 * s(2 * theta2) + n("0.18") * dtheta1**2 * s(theta2)
        + n("5.886") * c(theta2),
    ]  # fmt: skip
    assert torques(WAYS[way](turn).exact()) == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("turn", "part"), [("1.0472", "pi/3"), ("-2.356", "-3*pi/4"), ("0.2618", "pi/12")])
@pytest.mark.filterwarnings("ignore:.*angles that state a part of pi")
def test_other_parts_of_pi_are_as_in_a_table(way, turn, part):
    assert torques(WAYS[way](turn).exact()) == torques(by_table(f'"{part}"').exact())


def test_the_printed_torque_has_the_decimals_of_the_file():
    tau = notation.text(notation.latex(torques(by_pose("1.5707963267948966").exact())[0]))
    assert tau == ("0.395 θ̈₁ + 0.115 θ̈₁ c(2 θ₂) + 0.36 θ̈₁ cθ₂ - 0.23 θ̇₁ θ̇₂ s(2 θ₂) - 0.36 θ̇₁ θ̇₂ sθ₂")


@pytest.mark.parametrize("way", WAYS)
def test_what_was_rounded_is_said_with_its_place_and_size(way):
    place = {"urdf": "origin of joint 'j2'", "poses": "rpy of pose of link 2", "table": "alpha of link 2",
             "rows": "alpha of row 2", "links": "fixed of link 2"}[way]  # fmt: skip
    with pytest.warns(
        UserWarning, match=re.escape(f"1.5708 as pi/2 ({place}). The largest change is 4e-06 rad")
    ) as seen:
        WAYS[way]("1.5708").exact()
    assert len(seen) == 1
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WAYS[way]("1.5707963267948966").exact()
        WAYS[way]("0.3").exact()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("turn", ["1.5708", "1.57", "0.3", "1.9", "0.52"])
def test_without_rounding_the_arm_is_that_of_its_floats(way, turn):
    arm = WAYS[way](turn)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = arm.exact(round_angles=False)
        M, h = equations.formulas(arm)[2:]
    q, dq, ddq = [0.3, -0.7], [1.1, -0.6], [2, 1.5]
    right = pinocchio_torques(arm, *map(np.array, (q, dq, ddq)))
    assert newton_euler.inverse_dynamics(exact.subs({}), q, dq, ddq) == pytest.approx(right, rel=1e-13)
    names = dict(zip(map(sympy.Symbol, ("theta1", "theta2", "dtheta1", "dtheta2")), q + dq, strict=True))
    tau = M @ np.array(ddq) + h
    assert [float(each.subs(names)) for each in tau] == pytest.approx(right, rel=1e-13)
    assert lagrange.torques(arm, q, dq, ddq) == pytest.approx(right, rel=1e-13)


@pytest.mark.parametrize(("turn", "size"), [("1.57", 8e-4), ("1.5708", 4e-6), ("0.785", 4e-4), ("2.0944", 5e-6)])
@pytest.mark.parametrize("way", WAYS)
def test_rounding_changes_no_torque_by_more_than_it_says(way, turn, size):
    arm, state = WAYS[way](turn), ([0.3, -0.7], [1.1, -0.6], [2, 1.5])
    with pytest.warns(UserWarning, match=f"The largest change is {size:.1g} rad"):
        exact = arm.exact()
    change = newton_euler.inverse_dynamics(exact.subs({}), *state) - pinocchio_torques(arm, *map(np.array, state))
    assert 0 < np.abs(change).max() < 20 * size  # torques of some ten N m


PLACES = {
    "base": "base = {position = [0.1, 0, 0], rpy = [ANGLE, 0, 0]}\n",
    "tool": "tool = {position = [0.1, 0, 0], rpy = [0, ANGLE, 0]}\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", [POSES, DH.replace("modified", "standard"), DH])
def test_base_and_tool_are_read_as_links_are(place, text):
    arm = robotfile.loads((PLACES[place] + text).replace("ANGLE", "1.5708").replace("PLACE", ""))
    with pytest.warns(UserWarning, match=re.escape(f"1.5708 as pi/2 (rpy of {place})")):
        T = getattr(arm.exact(), place)
    exactly = {
        "base": frames.rotation_x,
        "tool": lambda a: frames.rotation_of_rpy([sympy.S.Zero, a.item(), sympy.S.Zero]),
    }
    assert T[:3, :3].tolist() == exactly[place](np.asarray(PI / 2)).tolist()


def test_a_standard_table_is_as_exact_as_a_modified_one():
    rows = [dict(a=0.3, alpha=1.5708, theta=0.785, mass=2, com=[-0.1, 0.02, 0.03], inertia=[0.01, 0.02, 0.025]),
            dict(d=0.1, a=0.2, alpha=-1.571, offset=3.1416, mass=1, com=[0.04, 0, 0])]  # fmt: skip
    right = [dict(rows[0], alpha=np.pi / 2, theta=np.pi / 4), dict(rows[1], alpha=-np.pi / 2, offset=np.pi)]
    for convention in ("standard", "modified"):
        arm, other = (Robot.from_dh(each, convention=convention, gravity=GRAVITY) for each in (rows, right))
        with pytest.warns(UserWarning, match="alpha of row 1.*theta of row 1.*alpha of row 2.*offset of row 2"):
            exact = arm.exact()
        assert torques(exact) == torques(other.exact())
        assert str(exact.table.rows[0]["alpha"]) == "pi/2"


def test_the_offset_of_a_hinge_is_an_angle_and_that_of_a_slider_a_length():
    rows = [dict(offset=1.5708, mass=1), dict(joint="prismatic", offset=0.785, mass=1)]
    text = 'convention = "modified"\ngravity = [0, 0, -9.81]\n' + "\n".join(
        "[[link]]\n" + "\n".join(f"{key} = {value!r}".replace("'", '"') for key, value in row.items()) for row in rows
    )
    for arm in (Robot.from_dh(rows, convention="modified", gravity=GRAVITY), robotfile.loads(text)):
        with pytest.warns(UserWarning, match=r"1.5708 as pi/2 \(offset of (row|link) 1\)"):
            hinge, slider = arm.exact().links
        assert hinge.fixed[0].tolist() == [0, -1, 0, 0]
        assert slider.fixed[:3, 3].tolist() == [0, 0, sympy.Rational("0.785")]


# ---- Axes and matrices ---------------------------------------------------------------------------------

AXES = {
    "0.7071 0.7071 0": (sympy.sqrt(2) / 2, sympy.sqrt(2) / 2, 0), "0 0.5 0.866": (0, sympy.S.Half, sympy.sqrt(3) / 2),
    "0 -0.5 0.866": (0, -sympy.S.Half, sympy.sqrt(3) / 2), "-0.707 0 0.707": (-sympy.sqrt(2) / 2, 0, sympy.sqrt(2) / 2),
    "1 1 0": (sympy.sqrt(2) / 2, sympy.sqrt(2) / 2, 0), "0 0 -1": (0, 0, -1), "1e-16 1 0": (0, 1, 0),
    "0 1.2e-16 -1": (0, 0, -1), "0 2 0": (0, 1, 0), "0.8660 0.5 0": (sympy.sqrt(3) / 2, sympy.S.Half, 0),
    "0.353553 0.353553 0.866025": (sympy.sqrt(2) / 4, sympy.sqrt(2) / 4, sympy.sqrt(3) / 2),
}  # fmt: skip


def is_rotation(R: np.ndarray) -> bool:
    return all(sympy.expand(a - b) == 0 for a, b in zip((R @ R.T).flat, np.eye(3, dtype=int).flat, strict=True))


@pytest.mark.parametrize("axis", AXES)
def test_an_axis_is_exact_within_the_digits_that_it_states(axis):
    vector = np.array([float(word) for word in axis.split()])
    T = Exactly().turned_to(vector, "axis")
    assert [sympy.expand(each) for each in T[:3, 2]] == list(AXES[axis])
    assert is_rotation(T[:3, :3])
    assert T[:3, :3].astype(float) == pytest.approx(frames.turned_to(vector)[:3, :3], abs=3e-4)


@pytest.mark.parametrize("axis", ["0 0.5 0.87", "0 0.501 0.866", "1 0.0001 0", "0 0.0003 1", "1 2 3", "0.0001 1 0"])
def test_another_axis_keeps_its_direction(axis):
    vector, reading = np.array([float(word) for word in axis.split()]), Exactly()
    T = reading.turned_to(vector, "axis")
    assert not reading.rounded
    assert is_rotation(T[:3, :3])
    assert T.astype(float) == pytest.approx(frames.turned_to(vector), abs=1e-15)


def test_axes_in_files_are_exact():
    text = URDF.replace("TURN", "0").replace(SECOND_AXIS, SECOND_AXIS.replace("0 0 1", "0 0.7071 0.7071"))
    poses = POSES.replace("PLACE", "pose = {position = [0.3, 0, 0]}\naxis = [0, 0.7071, 0.7071]")
    arms = urdf.loads(text, gravity=GRAVITY), robotfile.loads(poses)
    exact = [arm.exact() for arm in arms]
    assert torques(exact[0]) == torques(exact[1])
    assert exact[0].links[1].fixed[:3, 2].tolist() == [0, sympy.sqrt(2) / 2, sympy.sqrt(2) / 2]


def test_an_oblique_axis_that_is_rounded_is_said():
    arm = robotfile.loads(POSES.replace("PLACE", "axis = [0, 0.5, 0.866]"))
    with pytest.warns(UserWarning, match=r"as pi/6 \(axis of link 2\)"):
        assert arm.exact().links[1].fixed[:3, 2].tolist() == [0, sympy.S.Half, sympy.sqrt(3) / 2]


def test_the_way_of_a_small_tilt_is_stated_less_precisely():
    x, y, _ = Exactly().turned_to(np.array([0.0524, 0.0302, 0.9982]), "axis")[:3, 2]
    assert sympy.simplify(y / x) == sympy.sqrt(3) / 3


def test_axes_and_matrices_of_few_digits_are_their_floats_if_nothing_is_rounded():
    reading = Exactly(round_angles=False)
    R = np.array([[0.5, -0.8660254, 0], [0.8660254, 0.5, 0], [0, 0, 1]])
    axis = np.array([0, 0.5, 0.866])
    for exact, near in ((reading.rotation(R, "R"), R), (reading.turned_to(axis, "axis"), frames.turned_to(axis))):
        assert all(entry.is_Rational for entry in exact.flat)
        assert np.abs(exact.astype(float) - near).max() < 3e-9
    assert reading.turned_to(axis, "axis").astype(float) == pytest.approx(frames.turned_to(axis), abs=1e-15)
    assert not reading.rounded


def test_a_matrix_that_is_no_rotation_to_the_last_digit_is_said_to_be_made_one():
    c = 0.70710678
    fixed = [[c, -c, 0, 0.1], [c, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    arm = Robot([Link("revolute", fixed, Body(1, [0.1, 0, 0]))], GRAVITY)
    note = "robot: to the last digits, this is no rotation: fixed of link 1; the nearest angles are taken. "
    for round_angles in (True, False):
        with pytest.warns(UserWarning, match=re.escape(note + "The largest change of an entry is 1e-09.")) as seen:
            exact = arm.exact(round_angles=round_angles)
        assert len(seen) == 1
        assert exact.links[0].fixed[0].tolist() == [sympy.sqrt(2) / 2, -sympy.sqrt(2) / 2, 0, sympy.Rational(1, 10)]


def test_a_note_lists_each_place_once_and_the_largest_change():
    place = "pose = {rpy = [1.5708, 0, 1.5708]}"
    more = "[[link]]\npose = {rpy = [1.5708, 0.785, 0]}\nmass = 1\n" * 5
    arm = robotfile.loads(POSES.replace("PLACE", place) + more)
    names = [f"rpy of pose of link {i}" for i in range(2, 8)]
    note = (
        f"robot file: angles that state a part of pi within their digits are read as that: 1.5708 as pi/2 "
        f"({', '.join(names[:3])} and 3 more); 0.785 as pi/4 ({', '.join(names[1:4])} and 2 more). "
        "The largest change is 0.0004 rad."
    )
    for text in (note, note):  # also when it is said again
        with pytest.warns(UserWarning, match=re.escape(text)):
            arm.exact()
    first = robotfile.loads(POSES.replace("PLACE", "pose = {rpy = [0.785, 0, 1.5708]}"))
    with pytest.warns(UserWarning, match="The largest change is 0.0004 rad"):
        first.exact()


ANGLES = [0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 4, -np.pi / 3, np.pi / 12, 0.3, 1.5708, 0.785, 2.2]


def test_every_rotation_stays_a_rotation_and_near_its_floats():
    rng = np.random.default_rng(4)
    for rpy in rng.choice(ANGLES, (60, 3)):
        R, reading = frames.rotation_of_rpy(rpy), Exactly()
        exact = reading.rotation(R, "fixed")
        assert is_rotation(exact)
        assert np.abs(exact.astype(float) - R).max() < max(2e-15, 3 * reading.largest)
        near = Exactly(round_angles=False).rotation(R, "fixed")
        assert is_rotation(near)
        assert np.abs(near.astype(float) - R).max() < 2e-15


def test_a_matrix_of_few_digits_states_its_angles_with_these():
    c, s = 0.70710678, 0.8660254
    for R, angle in (([[c, -c, 0], [c, c, 0], [0, 0, 1]], PI / 4), ([[0.5, -s, 0], [s, 0.5, 0], [0, 0, 1]], PI / 3)):
        exact = Exactly().rotation(np.array(R, dtype=float), "fixed")
        assert exact.tolist() == frames.rotation_z(np.asarray(angle)).tolist()
    R = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    assert np.abs(Exactly().rotation(R, "fixed").astype(float) - R).max() < 2e-16


@pytest.mark.parametrize("seed", range(4))
def test_random_arms_of_links_are_exact_up_to_rounding(seed):
    rng = np.random.default_rng(seed)
    links = [Link("revolute", random_pose(rng), random_body(rng)) for _ in range(3)]
    arm = Robot(links, rng.uniform(-10, 10, 3), random_pose(rng), random_pose(rng)).with_payload(0.7, [0.1, 0.2, 0.3])
    state = rng.uniform(-2, 2, (3, 3))
    exact = arm.exact()
    assert all(is_rotation(T[:3, :3]) for T in (exact.base, exact.tool, *(link.fixed for link in exact.links)))
    right = pinocchio_torques(arm, *state)
    assert newton_euler.inverse_dynamics(exact.subs({}), *state) == pytest.approx(right, rel=1e-11, abs=1e-11)


# ---- Sums ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*angles that state a part of pi")
def test_bolted_links_and_parts_are_summed_exactly():
    head = 'convention = "poses"\ngravity = [0, 0, -9.81]\n[[link]]\n'
    pose = '[[link]]\njoint = "fixed"\npose = {position = [0.1, 0, 0], rpy = [0, 1.5708, 0]}\n'
    arm = robotfile.loads(head + "mass = 1\n" + pose + "mass = 2\ncom = [0, 0, 0.3]\n")
    parts = robotfile.loads(head + "[[link.part]]\nmass = 1\n[[link.part]]\nmass = 2\ncom = [0.4, 0, 0]\n")
    first = Link("revolute", np.eye(4), Body(1))
    place = frames.transform(frames.rotation_of_rpy(np.array([0, 1.5708, 0])), np.array([0.1, 0, 0]))
    links = Robot([first, Link("fixed", place, Body(2, [0, 0, 0.3]))], GRAVITY)
    description = """<robot name="r"><link name="w"/><link name="a"><inertial><mass value="1"/>
        <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="j" type="revolute"><parent link="w"/><child link="a"/><axis xyz="0 0 1"/></joint>
        <joint name="f" type="fixed"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0" rpy="0 1.5708 0"/></joint>
        <link name="b"><inertial><origin xyz="0 0 0.3"/><mass value="2"/>
        <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    for each in (arm, parts, links, urdf.loads(description, gravity=GRAVITY)):
        body = each.exact().links[0].body
        assert body.mass == 3
        assert body.com.tolist() == [sympy.Rational(4, 15), 0, 0]
        assert body.inertia.tolist() == [[0, 0, 0], [0, sympy.Rational(8, 75), 0], [0, 0, sympy.Rational(8, 75)]]


def test_turns_one_after_another_are_multiplied_out():
    turned = frames.transform(frames.rotation_z(np.array(np.pi / 12)), np.zeros(3))
    arm = Robot([Link("fixed", turned), Link("revolute", turned, Body(1))], GRAVITY).exact()
    assert arm.links[0].fixed[0].tolist() == [sympy.sqrt(3) / 2, -sympy.S.Half, 0, 0]


def test_a_joint_that_is_locked_at_a_right_angle_is_bolted_exactly():
    arm = urdf.loads(URDF.replace("TURN", "0"), gravity=GRAVITY, lock={"j2": 1.5708})
    with pytest.warns(UserWarning, match=re.escape("1.5708 as pi/2 (value of the locked joint 'j2')")):
        body = arm.exact().links[0].body
    assert body.com.tolist() == [sympy.Rational(9, 50), sympy.Rational(3, 25), sympy.Rational(3, 25)]


@pytest.mark.parametrize("turn", ["1.5707963267948966", "2.0943951023931953", "0.3"])
def test_a_written_and_read_arm_is_as_exact_as_before(turn):
    arm = by_urdf(turn)
    assert torques(robotfile.loads(robotfile.dumps(arm)).exact()) == torques(arm.exact())


def test_what_was_changed_after_reading_is_exact_as_changed_and_the_rest_as_typed():
    arm = by_pose("1.5707963267948966")
    heavy = replace(arm.links[1], body=Body(0.7, [0.2, 0, 0]))
    changed = replace(arm, links=[arm.links[0], heavy], gravity=[0, -9.5, 0]).with_payload(0.25, [0, 0.1, 0])
    exact = changed.exact()
    assert exact.links[1].body.mass == sympy.Rational(7, 10)
    assert exact.links[1].fixed.tolist() == arm.exact().links[1].fixed.tolist()
    assert exact.gravity.tolist() == [0, sympy.Rational(-19, 2), 0]
    assert exact.payload.com.tolist() == [0, sympy.Rational(1, 10), 0]
    turned = replace(arm.links[1], fixed=arm.links[0].fixed)
    assert replace(arm, links=[arm.links[0], turned]).exact().links[1].fixed.tolist() == np.eye(4, dtype=int).tolist()
    fewer = replace(arm, links=arm.links[:1])
    assert fewer.exact().n == 1


def test_a_table_is_kept_only_while_it_describes_the_links():
    arm = by_rows("1.5707963267948966")
    assert arm.exact().table is not None
    other = replace(arm, links=[replace(arm.links[0], body=Body(1)), arm.links[1]])
    assert other.table is None
    assert other.exact().table is None
    assert replace(arm.exact(), links=arm.exact().links[:1]).table is None


def test_decimals_of_motors_loads_and_payloads_stay():
    motor = "motor = {inertia = 2e-4, gear = 100.5, viscous = 1.3e-3, coulomb = [0.1, -0.2]}\n"
    payload = "[payload]\nmass = 0.35\ncom = [0, 0, 0.04]\n"
    place = "pose = {rpy = [1.5707963267948966, 0, 0]}\n"
    exact = robotfile.loads(POSES.replace("PLACE", place + motor) + payload).exact()
    n = sympy.Rational
    kept = exact.links[1].motor
    assert [kept.inertia, kept.gear, kept.viscous] == [n("2e-4"), n("100.5"), n("1.3e-3")]
    assert kept.coulomb.tolist() == [n("0.1"), n("-0.2")]
    assert (exact.payload.mass, exact.payload.com[2]) == (n("0.35"), n("0.04"))
    assert exact.bodies[1].mass == n("2.35")


def test_a_description_with_damping_is_as_exact_as_one_without():
    text = URDF.replace("TURN", "2.0943951023931953")
    damped = text.replace(
        SECOND_AXIS, SECOND_AXIS.replace("</joint>", '<dynamics damping="0.1" friction="0.25"/></joint>')
    )
    arm, other = (urdf.loads(each, gravity=GRAVITY).exact() for each in (damped, text))
    assert arm.links[1].motor.viscous == sympy.Rational(1, 10)
    assert arm.links[1].fixed.tolist() == other.links[1].fixed.tolist()
    assert arm.is_symbolic


def test_an_arm_with_motors_keeps_its_right_angles_in_a_simulation():
    rows = [dict(alpha=np.pi / 2, mass=1, com=[0.1, 0.2, 0], motor=Motor(inertia=2e-4, gear=100, viscous=0.1)),
            dict(a=0.4, alpha=-np.pi / 2, mass=2, com=[0.3, 0, 0.1])]  # fmt: skip
    with_motor = Robot.from_dh(rows, convention="modified", gravity=GRAVITY)
    without = Robot.from_dh([dict(rows[0], motor=None), rows[1]], convention="modified", gravity=GRAVITY)
    (M, h), (M_bare, h_bare) = (equations.formulas(each)[2:] for each in (with_motor, without))
    assert h.tolist() == h_bare.tolist()
    assert (M - M_bare).tolist() == [[2, 0], [0, 0]]


def in_poses(arm: Robot, digits: int) -> str:
    """Return an arm as a file of poses, its angles with so many digits."""
    lines = ['convention = "poses"', f"gravity = {arm.gravity.tolist()}", "allow_impossible = true"]
    for link in arm.links:
        R, p = frames.rotation(link.fixed), frames.position(link.fixed)
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
        rpy = [roll, np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])), yaw]
        if abs(R[2, 0]) > 0.999:
            rpy = [np.arctan2(-R[1, 2], R[1, 1]), rpy[1], 0]
        rpy = [float(f"{angle:.{digits}g}") for angle in rpy]
        (position, com, inertia) = (np.round(array, 15).tolist() for array in (p, link.com, link.inertia))
        lines += ["[[link]]", f'joint = "{link.joint}"', f"pose = {{position = {position}, rpy = {rpy}}}"]
        lines += [f"mass = {float(link.mass)}", f"com = {com}", f"inertia = {inertia}"]
    return "\n".join(lines)


SQUARE = ["cart_pole", "kr210", "panda", "puma560", "puma560_modified", "rp", "rrp", "scara", "stanford", "ur5"]
"""Arms of numbers in the catalogue whose axes are all parallel or at right angles, which four digits can state."""


@pytest.mark.parametrize("name", SQUARE)
@pytest.mark.parametrize("digits", [4, 5, 17])
@pytest.mark.filterwarnings("ignore:.*(angles that state a part of pi|no real body)")
def test_real_arms_by_poses_have_the_mass_matrix_of_their_tables(name, digits):
    arm = robots.load(name)
    arm = replace(arm, links=[replace(link, motor=None) for link in arm.links])
    exact = [each.exact() for each in (arm, robotfile.loads(in_poses(arm, digits)))]
    q = exact[0].motion_symbols()[0][:2]
    identity = exact_array(np.eye(4))
    short = [replace(each, links=each.links[:2], tool=identity) for each in exact]
    by_rows_, by_poses = ([notation.tidy(entry) for entry in structure.mass_matrix(each, q).flat] for each in short)
    assert by_rows_ == by_poses
    terms = [term for entry in by_poses for term in sympy.Add.make_args(entry) if term != 0]
    assert min(abs(float(term.as_coeff_Mul()[0])) for term in terms) > 1e-7


def test_the_formulas_of_a_simulation_are_as_short_by_poses_as_by_a_table():
    (_, _, *poses), (_, _, *table) = map(equations.formulas, (by_pose("1.5707963267948966"), by_table('"pi/2"')))
    assert [each.tolist() for each in poses] == [each.tolist() for each in table]


def test_the_torques_of_an_exact_description_are_those_of_pinocchios_reader():
    text = URDF.replace("TURN", "1.5708").replace(SECOND_AXIS, SECOND_AXIS.replace("0 0 1", "0 1 0"))
    model = pin.buildModelFromXML(text.replace("1.5708", "1.5707963267948966"))
    state = [np.array(each) for each in ([0.3, -0.7], [1.1, -0.6], [2, 1.5])]
    with pytest.warns(UserWarning, match="1.5708 as pi/2"):
        exact = urdf.loads(text, gravity=GRAVITY).exact()
    right = pin.rnea(model, model.createData(), *state)
    assert newton_euler.inverse_dynamics(exact.subs({}), *state) == pytest.approx(right, rel=1e-13)


def test_the_fractions_of_other_angles_print_as_decimals():
    tau = notation.latex(torques(by_pose("0.3").exact())[0])
    assert max(map(len, re.findall(r"\d+", tau))) <= 10
    assert "frac" not in tau
    shown = repr(derivation.derive(by_pose("0.3")))
    assert max(map(len, re.findall(r"\d+", shown))) <= 10


def test_short_fractions_and_brackets_stay():
    a, b = sympy.symbols("dtheta1 dtheta2")
    assert notation.latex(sympy.Rational(49, 1201)) == r"\frac{49}{1201}"
    assert notation.latex(sympy.Rational(49, 300007)) == "0.00016333"
    assert notation.text(notation.latex(notation.collect_rates(sympy.Rational(3, 8) * a**2 + a * b / 30))) == (
        "1/120 θ̇₁ (45 θ̇₁ + 4 θ̇₂)"
    )
    assert notation.text(notation.latex(notation.collect_rates(sympy.Rational(3000017, 8) * a**2 + a * b / 30))) == (
        "375002.125 θ̇₁² + 1/30 θ̇₁ θ̇₂"
    )


def test_a_read_arm_can_be_pickled():
    for arm in (by_pose("1.5707963267948966"), by_urdf("1.5707963267948966"), by_rows("1.5707963267948966")):
        copy = pickle.loads(pickle.dumps(arm))
        assert torques(copy.exact()) == torques(arm.exact())


def test_computed_floats_are_read_as_what_was_meant():
    assert exact_array(np.array([0.1 + 0.2, 1 / 3, 0.4318, 6e-17, -1 / 12])).tolist() == [
        sympy.Rational(3, 10), sympy.Rational(1, 3), sympy.Rational(2159, 5000), 0, sympy.Rational(-1, 12)
    ]  # fmt: skip
    assert exact_array(np.array([1e-17])).tolist() == [sympy.Rational(1, 10**17)]
    beside = [1000.0, 0.1234567890123, 0.333333333333333, 1 / 7]  # typed with up to 15 digits; the last was computed
    assert exact_array(np.array(beside))[1:].tolist() == [
        sympy.Rational("0.1234567890123"), sympy.Rational("0.333333333333333"), sympy.Rational(1, 7)
    ]  # fmt: skip
    assert exact_array(np.array([0.4318 + 1e-16])).tolist() == [sympy.Rational("0.4318")]
    odd = np.sqrt(2)
    assert exact_array(np.array([odd])).tolist() == [sympy.Rational(repr(float(odd)))]
    assert exact_array(np.array([0.3000000001])).tolist() == [sympy.Rational("0.3000000001")]


def test_quick_equations_of_a_linkage_are_those_of_its_floats():
    """A four-bar that is turned by an angle of 1.5708: its motion is not that of a right angle."""
    turned = frames.transform(frames.rotation_z(np.array(1.5708)), np.zeros(3))
    bars = linkages.four_bar(ground=2, crank=0.5, coupler=2, rocker=1.5, masses=[1, 2, 3], gravity=[0, -9.81, 0])
    bars = replace(bars, chains=[replace(chain, base=turned @ chain.base) for chain in bars.chains])
    q = bars.positions([0.4], mode=[1])
    state = q.tolist(), [0.0] * 3, [0.5, 0.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick, slow = (closed_equations.equations_of(bars, compiled=way) for way in (True, False))
        phi, J = constraints.quick_closure(bars)(q + 0.1)
    assert quick.accelerate(*state)[0] == pytest.approx(slow.accelerate(*state)[0], rel=1e-10)
    assert phi == pytest.approx(constraints.gap(bars, q + 0.1), abs=1e-14)
    assert J == pytest.approx(constraints.constraint_jacobian(bars, q + 0.1), abs=1e-14)
    with pytest.warns(UserWarning, match="1.5708 as pi/2"):
        assert bars.exact().chains[0].base[:3, 0].tolist() == [0, 1, 0]
