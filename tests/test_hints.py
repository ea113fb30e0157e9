"""Hints at degrees, millimetres and gravity upward: given where they are likely, silent where numbers are meant."""

import ast
import itertools
import re
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy

from dynlib import hints, newton_euler, robotfile, robots
from dynlib.hints import Hint
from dynlib.linkages import five_bar, four_bar, slider_crank, three_legged
from dynlib.model import Body, Link, Robot
from dynlib.robotfile import urdf

DOWN = [0, 0, -9.81]
ROWS = [dict(alpha=np.pi / 2, mass=1), dict(a=0.5, mass=2), dict(a=0.3, mass=1)]


@contextmanager
def hinted(*patterns):
    """Expect one hint for each pattern, in this order, at the line of the test; no pattern: no hint."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    found = [str(each.message) for each in caught if issubclass(each.category, Hint)]
    assert len(found) == len(patterns), found
    assert all(re.search(pattern, said) for pattern, said in zip(patterns, found, strict=True)), found
    assert {each.filename for each in caught} <= {__file__}


def arm_of(joints, gravity=(0, 0, 0)):
    return Robot([Link(joint, np.eye(4), Body(1)) for joint in joints], gravity=gravity)


# ---- Constant angles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("convention", ["modified", "standard"])
@pytest.mark.parametrize("key", ["alpha", "theta", "offset"])
@pytest.mark.parametrize("degrees", [-90, 90, 45.0, 30, 180, -360, 7, sympy.Integer(90)])
def test_constant_angles_beyond_a_turn_draw_one_hint(convention, key, degrees):
    value = re.escape(f"{float(degrees):g}")
    with hinted(rf"{key} of row 2 is {value} rad, more than a full turn.*use numpy.radians\({value}\) = "):
        Robot.from_dh([ROWS[0], dict(ROWS[1], **{key: degrees})], convention=convention, gravity=DOWN)


@pytest.mark.parametrize("key", ["alpha", "theta", "offset"])
@pytest.mark.parametrize("angle", [np.pi, -np.pi / 2, 2 * np.pi, -2 * np.pi, np.radians(360), 6, 0, sympy.pi])
def test_constant_angles_up_to_a_turn_draw_none(key, angle):
    with hinted():
        Robot.from_dh([{key: angle, "mass": 1}], convention="modified", gravity=DOWN)


def test_a_slide_may_be_offset_far_and_a_slide_turned_in_degrees_is_hinted_at():
    with hinted():
        Robot.from_dh([dict(joint="prismatic", offset=7, mass=1)], convention="standard", gravity=DOWN)
    with hinted("theta of row 1 is 90 rad"):
        Robot.from_dh([dict(joint="prismatic", theta=90, mass=1)], convention="standard", gravity=DOWN)


def test_degrees_beside_symbols_are_hinted_at():
    m = sympy.Symbol("m")
    with hinted("alpha of row 1 is 90 rad", "offset of row 2 is -90 rad"):
        Robot.from_dh([dict(alpha=90, mass=m), dict(offset=-90, mass=m)], convention="modified", gravity=[0, 0, -10])


def test_degrees_in_robot_files():
    text = 'convention = "standard"\ngravity = [0, 0, -9.81]\n'
    with hinted("alpha of row 1 is 90 rad"):
        robotfile.loads(text + "[[link]]\nalpha = 90\nmass = 1")
    with hinted("offset of row 1 is -90 rad"):
        robotfile.loads(text + "[[link]]\noffset = -90\nmass = 1")
    with hinted("arm.toml, line 3: rpy of base is 90 rad, more", "arm.toml, line 4: rpy of tool is -45 rad, more"):
        robotfile.loads(text + "base = {rpy = [0, 90, 0]}\ntool = {rpy = [0, 0, -45]}\n[[link]]\nmass = 1", "arm.toml")
    with hinted("arm.toml, line 4: rpy of pose of link 1 is 90 rad"):
        poses = text.replace("standard", "poses")
        robotfile.loads(poses + "[[link]]\npose = {rpy = [90, 0, 0]}\nmass = 1", "arm.toml")
    with hinted():
        robotfile.loads(
            text + 'base = {rpy = [0, "90deg", 0]}\n[[link]]\nalpha = "-90deg"\noffset = "-360deg"\nmass = 1'
        )


def test_degrees_in_a_description():
    with hinted("line 3: rpy of the origin of joint 'hinge' is 90 rad, more than a full turn"):
        urdf.loads(urdf.EXAMPLE.replace('xyz="0 0 0.5"', 'xyz="0 0 0.5" rpy="0 0 90"'), gravity=DOWN)


# ---- Joint values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("joints", "q", "joint"),
    [
        ("R", [45], "joint 1 is at 45 rad, more than a full turn and a round number"),
        ("R", [-90], "joint 1 is at -90 rad, more than ten turns"),
        ("R", [30.0], "joint 1 is at 30 rad"),
        ("RR", [45, 30], "joint 1 is at 45 rad"),
        ("RR", [0, 30], "joint 2 is at 30 rad"),
        ("RRR", [10, 0.3, -45], "joint 3 is at -45 rad"),
        ("RRRRRR", [0, -60, 0, 0, 45, 0], "joint 2 is at -60 rad"),
        ("RPR", [30, 0.25, 60], "joint 3 is at 60 rad"),
        ("PR", [0.25, 45], "joint 2 is at 45 rad"),
        ("RR", [100.1, 0.2], "joint 1 is at 100.1 rad, more than ten turns"),
        ("RR", [[0.1, 0.2], [45, 30]], "joint 1 is at 45 rad"),
        ("R", [[5], [10], [15], [20], [45]], "joint 1 is at 45 rad"),
        ("RR", [sympy.Integer(45), 0], "joint 1 is at 45 rad"),
    ],
)
def test_typed_degrees_draw_one_hint(joints, q, joint):
    kinds = {"R": "revolute", "P": "prismatic"}
    with hinted(rf"{joint}.*use numpy.radians"):
        arm_of([kinds[each] for each in joints]).state(q=q, dq=np.zeros(len(joints)))


@pytest.mark.parametrize(
    ("joints", "q"),
    [
        ("R", [5]),  # less than a turn
        ("R", [2 * np.pi]),
        ("R", [7]),
        ("R", [31.4159]),
        ("RR", [10, 0.3]),  # one round number among others
        ("RR", [45.1, 30.2]),
        ("P", [90]),
        ("PR", [90, 0.1]),
        ("R", [[7], [8], [9], [10]]),
        ("R", np.arange(11.0)[:, None]),
        ("R", np.linspace(0, 8 * np.pi, 500)[:, None]),
        ("RR", np.random.default_rng(3).uniform(-60, 60, (1000, 2))),
        ("RR", np.zeros((0, 2))),
        ("RR", np.concatenate([[[45.0, 30.0]], np.random.default_rng(3).uniform(-60, 60, (1000, 2))])),
    ],
)
def test_angles_that_are_meant_draw_none(joints, q):
    kinds = {"R": "revolute", "P": "prismatic"}
    with hinted():
        arm_of([kinds[each] for each in joints]).state(q=q)


def test_rates_are_not_hinted_at():
    with hinted():
        newton_euler.inverse_dynamics(arm_of(["revolute"]), [0.1], [90], [-45])


def test_a_thousand_typed_positions_in_radians_are_silent():
    """All that people type of pi: its parts, and numpy.radians of round degrees."""
    arm = arm_of(["revolute"] * 2)
    typed = [k * np.pi / n for k in range(-40, 41) for n in (1, 2, 3, 4, 6)] + list(
        np.radians(np.arange(-3600, 3601, 15))
    )
    with hinted():
        for first, second in zip(typed, reversed(typed), strict=True):
            arm.state(q=[first, second] if max(abs(first), abs(second)) < hints.LARGEST_ANGLE else [0, 0])


def test_inputs_of_linkages():
    bars = five_bar(bases=[[0, 0], [0.1, 0]], lengths=[[1, 1]] * 2, masses=[[1, 1]] * 2)
    with hinted("joint 1 of chain 2 is at 30 rad"):
        bars.positions([10, 30], [1])
    with hinted():
        bars.positions([10.1, 8.3], [1])


# ---- Millimetres -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (dict(a=431.8, mass=1), "origin of link [12] holds 431.8 m. Lengths are in metres: .* divide it by 1000"),
        (dict(d=-149.09, mass=1), "holds -149.09 m"),
        (dict(a=0.4318, mass=1, com=[0, 68, 0]), "com of link 1 holds 68 m"),
        (dict(mass=sympy.Symbol("m"), a=432), "holds 432 m"),
    ],
)
@pytest.mark.parametrize("convention", ["modified", "standard"])
def test_millimetres_draw_one_hint(row, said, convention):
    with hinted(said):
        Robot.from_dh([row, dict(a=row.get("a", 0), mass=1)], convention=convention, gravity=[0, 0, -10])


@pytest.mark.parametrize(
    ("mass", "inertia", "said"),
    [
        (2, [5e4, 5e4, 1e3], "inertia of link 1 is 50000 kg m², that of 2 kg at a distance of 158 m.*kg mm².*1e-6"),
        (2, [5e7, 5e7, 1e6], "inertia of link 1 is 5e.07 kg m²"),  # in g mm²
        (0.3, [200, 200, 150], "that of 0.3 kg at a distance of 25.8 m"),
    ],
)
def test_inertias_in_other_units_draw_one_hint(mass, inertia, said):
    with hinted(said):
        Robot([Link("revolute", np.eye(4), Body(mass, [0.1, 0, 0], inertia))], gravity=DOWN)


def test_payload_and_pose_in_millimetres():
    far = np.eye(4)
    far[0, 3] = 250
    with hinted("tool holds 250 m"):
        Robot([Link("revolute", np.eye(4))], gravity=DOWN, tool=far)
    with hinted("com of the payload holds 80 m"):
        Robot([Link("revolute", np.eye(4))], gravity=DOWN, payload=Body(1, [0, 0, 80]))


def test_large_but_real_arms_draw_none():
    with hinted():  # the arm of a space station: links of 7 m
        Robot.from_dh([dict(a=7.1, mass=300, com=[3.5, 0, 0], inertia=[1, 2000, 2000])] * 2, convention="modified",
                      gravity=[0, 0, 0])  # fmt: skip
        Robot([Link("revolute", np.eye(4), Body(0, inertia=[1, 1, 1]))], gravity=DOWN)  # no mass: no size follows
        Robot([Link("revolute", np.eye(4))], gravity=DOWN, base=np.diag([1, 1, 1, 1]) + 500 * np.eye(4, k=3))


# ---- Gravity -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "up", [[0, 0, 9.81], [0, 9.81, 0], [0, 0, 9.80665], [0, 0, 10], [0, 0, sympy.Rational("9.81")]]
)
def test_gravity_upward_draws_one_hint(up):
    down = re.escape(str([-float(each) or 0 for each in up]).replace("0.0", "0").replace("-10.0", "-10")[:9])
    with hinted(rf"gravity is \[.*this is the vector along which things fall, and it points up. Is {down}"):
        arm_of(["revolute"], gravity=up)
    with hinted("gravity is"):
        four_bar(ground=2, crank=1, coupler=2, rocker=1.5, masses=[1, 1, 1]).with_gravity(up)


@pytest.mark.parametrize("down", [[0, -981, 0], [0, 0, -980.665], [0, -1000, 0], [693.7, -693.7, 0]])
def test_gravity_in_other_units_draws_one_hint(down):
    for factor, unit in ((1, "cm/s²"), (10, "mm/s²")):
        with hinted(rf"gravity has the size .* m/s², .*if this is in {unit}, divide it by {100 * factor}\."):
            arm_of(["revolute"], gravity=factor * np.array(down))


ROW = dict(masses=[1, 1, 1], gravity=DOWN)
PAIR = dict(lengths=[[1, 1]] * 2, masses=[[1, 1]] * 2, bases=[[0, 0], [1, 0]], gravity=DOWN)


@pytest.mark.parametrize(
    "make",
    [
        lambda: four_bar(ground=2, crank=1, coupler=2, rocker=1.5, **ROW),
        lambda: slider_crank(crank=1, rod=2, **ROW),
        lambda: five_bar(**PAIR),
        lambda: three_legged(
            bases=[[0, 0], [1, 0], [0, 1]], lengths=[[1, 1]] * 3, masses=[[1, 1]] * 3, l_pc=1, m_pc=1, gravity=DOWN
        ),
        lambda: four_bar(ground=2, crank=1, coupler=2, rocker=1.5, masses=[1, 1, 1]).with_gravity(DOWN),
        lambda: four_bar(ground=2, crank=1, coupler=2, rocker=1.5, masses=[1, 1, 1]).with_gravity([0, 0, 1.62]),
    ],
)
def test_gravity_across_the_plane_of_a_linkage_draws_one_hint(make):
    with hinted(r"gravity is \[0, 0, .* square to the x-y plane .* Is \[0, -.*, 0\] meant"):
        linkage = make()
    with hinted():
        replace(linkage, name="other").with_gravity([0, -9.81, 0]).with_gravity([0, 0, 0])


LINES = {  # hint: lines of a robot file, from line 3 on
    "line 4: alpha of row 1 is 90 rad": ["[[link]]", "alpha = 90", "mass = 1"],
    "line 7: offset of row 2 is -90 rad": ["[[link]]", "mass = 1", "[[link]]", "mass = 1", "offset = -90"],
    "line 6: com of link 1 holds 250 m": ["[[link]]", "mass = 1", "a = 0.1", "com = [0, 250, 0]"],
    "line 9: com of link 2 holds 90 m": [
        *("[[link]]", "mass = 1", "[[link]]", 'joint = "fixed"'),
        *("[[link]]", "mass = 1", "com = [0, 90, 0]"),
    ],
    "line 5: the inertia of link 1 is 50000 kg m²": ["[[link]]", "mass = 2", "inertia = [5e4, 5e4, 5e4]"],
    "line 3: tool holds 300 m": ["tool = {position = [300, 0, 0]}", "[[link]]", "mass = 1"],
}


def test_a_hint_at_the_payload_of_a_robot_file_names_the_line():
    text = 'convention = "poses"\ngravity = [0, 0, 0]\n[payload]\nmass = 1\ncom = [100, 0, 0]\n[[link]]\nmass = 1'
    with hinted("^arm.toml, line 5: com of the payload holds 100 m"):
        robotfile.loads(text, "arm.toml")


@pytest.mark.parametrize("convention", ["modified", "standard"])
@pytest.mark.parametrize("hint", LINES)
def test_hints_at_a_robot_file_name_the_line(hint, convention):
    with hinted(f"^arm.toml, {re.escape(hint)}"):
        head = [f'convention = "{convention}"', "gravity = [0, 0, -9.81]"]
        robotfile.loads("\n".join([*head, *LINES[hint]]), "arm.toml")


@pytest.mark.parametrize(
    "gravity",
    [DOWN, [0, -9.81, 0], [9.81, 0, 0], [0, 0, 0], [0, 0, 1.62], [3, -7.8, 0], [0, 3, 9.34], [0, 0, 1], [0, 0, 100]],
)
def test_other_gravity_draws_none(gravity):
    with hinted():
        arm_of(["revolute"], gravity=gravity)
    with hinted():
        arm_of(["revolute"], gravity=[sympy.Symbol("g") * int(each != 0) for each in gravity])


def test_files_with_gravity_upward():
    with hinted("^robot file, line 2: gravity is .0, 0, 9.81. m/s²"):
        robotfile.loads('convention = "modified"\ngravity = [0, 0, 9.81]\n[[link]]\nmass = 1\n[payload]\nmass = 1')
    with hinted("gravity is"):
        urdf.loads(urdf.EXAMPLE, gravity=[0, 0, 9.81])


# ---- All hints ---------------------------------------------------------------------------------------


def test_a_change_of_an_arm_that_was_looked_at_draws_no_second_hint():
    with hinted("holds 250 m"):
        arm = Robot.from_dh([dict(a=250, mass=1), dict(mass=1)], convention="modified", gravity=DOWN)
    with hinted():
        replace(arm.with_payload(1), name="other").without_payload()
        arm.exact()


def test_hints_are_silenced_by_their_kind():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", Hint)
        Robot.from_dh([dict(alpha=90, a=250, mass=1)] * 2, convention="modified", gravity=[0, 0, 9.81]).state(q=[45, 0])


def test_arms_of_the_catalogue_draw_none():
    for name in robots.names():
        with hinted(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", Hint)
            robots.load(name)


# ---- Messages are for those who read no list of equations --------------------------------------------


def test_no_message_of_an_error_asks_for_a_list_of_equations():
    """A number such as (E33) stands for nothing to somebody who uses a four-bar."""
    root = Path(hints.__file__).parent
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
        texts = itertools.chain.from_iterable(map(ast.walk, raised))
        said = "".join(each.value for each in texts if isinstance(each, ast.Constant) and isinstance(each.value, str))
        assert not re.search(r"\((E\d|A5|B\d)", said), path.name
