"""Robot files: what they can say, what comes back when they are written, and the message for every bad input."""

import collections
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from dynlib import check, cli, newton_euler, robots
from dynlib.frames import turned_to
from dynlib.model import Body, Motor, Robot
from dynlib.robotfile import dumps, loads, read, tables, toml, write
from dynlib.robotfile.tables import key_lines
from tests.arms import random_arm, random_pose

HEAD = 'convention = "modified"\ngravity = [0, 0, -9.81]\n'
ARM = HEAD + "[[link]]\n"


def link(*lines: str) -> Robot:
    """An arm of one link that holds these lines."""
    return loads(ARM + "\n".join(lines), "arm.toml")


# ---- What a file can say -------------------------------------------------------------------------------


def test_a_file_is_the_table_it_holds():
    text = (
        HEAD
        + """
    name = "two joints"
    base = {position = [0, 0, 0.5]}
    tool = {position = [0.1, 0, 0], rpy = [0, "pi/2", 0]}
    [[link]]
    d = 0.4
    mass = 2
    com = [0, 0, 0.1]
    inertia = [0.1, 0.2, 0.3]
    [[link]]
    joint = "prismatic"
    a = 0.3
    alpha = "-pi/2"
    theta = "pi"
    offset = 0.05
    mass = 1
    [link.motor]
    inertia = 1e-4
    gear = 50
    viscous = 0.01
    coulomb = 0.3
    """
    )
    rows = [
        dict(d=0.4, mass=2, com=[0, 0, 0.1], inertia=[0.1, 0.2, 0.3]),
        dict(
            joint="prismatic", a=0.3, alpha=-np.pi / 2, theta=np.pi, offset=0.05, mass=1,
            motor=Motor(inertia=1e-4, gear=50, viscous=0.01, coulomb=0.3),
        ),
    ]  # fmt: skip
    tool = [[0, 0, 1, 0.1], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]]
    base = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 1]]
    gravity = [0, 0, -9.81]
    by_hand = Robot.from_dh(rows, convention="modified", gravity=gravity, base=base, tool=tool)
    assert same_data(loads(text), by_hand)
    assert loads(text).name == "two joints"
    assert "-pi/2" in str(loads(text))  # printed as it was written


def same_data(one: Robot, other: Robot) -> bool:
    """Say whether two robots hold the same numbers, bit for bit."""
    first, second = one.named_arrays(), other.named_arrays()
    motors = [[link.motor and [x.tolist() for x in link.motor.named_arrays().values()] for link in robot.links]
              for robot in (one, other)]  # fmt: skip
    joints = [[link.joint for link in robot.links] for robot in (one, other)]
    return (
        first.keys() == second.keys()
        and all(first[key].tolist() == second[key].tolist() for key in first)
        and motors[0] == motors[1]
        and joints[0] == joints[1]
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"pi"', np.pi),
        ('"-pi/2"', -np.pi / 2),
        ('"3*pi/4"', 0.75 * np.pi),
        ('"- 0.5 * pi"', -np.pi / 2),
        ('"+1/8"', 0.125),
        ('"-0.5"', -0.5),
        ("1e-3", 0.001),
        ("2", 2.0),
        ('"90deg"', np.pi / 2),
        ('"-90deg"', -np.pi / 2),
        ('"30°"', np.pi / 6),
        ('"22.5deg"', np.pi / 8),
        ('"1e-3"', 0.001),
        ('".5"', 0.5),
        ('"5."', 5.0),
        ('" pi/3 "', np.pi / 3),
    ],
)
def test_numbers_and_angles(text, value):
    assert check.same(link(f"theta = {text}", "d = 0.5").pose([0.0]), link(f"theta = {value!r}", "d = 0.5").pose([0.0]))


@pytest.mark.parametrize("key", ["alpha", "theta", "offset"])
def test_degrees_are_exact_beside_symbols(key):
    arm = loads(f'convention="standard"\ngravity=[0,"-g",0]\n[[link]]\n{key}="-60deg"', "arm.toml")
    assert arm.table.rows[0][key] == -sympy.pi / 3
    base = loads('convention="standard"\ngravity=[0,"-g",0]\nbase={rpy=["90deg",0,"45°"]}\n[[link]]').base
    assert base[0, 0] == sympy.sqrt(2) / 2
    assert base[2, 1] == 1


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="0123456789.eE+-*/pidegL1 °n", max_size=12))
def test_the_command_reads_numbers_as_files_do(text):
    exact = tables.exact_number(text)
    if exact is None or exact.free_symbols:
        with pytest.raises(ValueError, match="is no number"):
            cli.number(text)
    elif abs(exact) > sys.float_info.max:
        with pytest.raises(ValueError, match="is too large a number"):
            cli.number(text)
    else:
        assert cli.number(text) == float(exact)


def test_symbols_make_a_symbolic_arm():
    m, L, g = sympy.symbols("m L g")
    arm = loads('convention="standard"\ngravity=[0,"-g",0]\n[[link]]\na="L"\nmass="m"\ncom=["-L/2",0,0]\n'
                'inertia={xx=0, yy="I", zz="I", xy="-Ixy"}\ntheta="pi/2"')  # fmt: skip
    assert list(map(str, arm.symbols)) == ["I", "Ixy", "L", "g", "m"]
    theta = arm.motion_symbols()[0]
    tau = newton_euler.inverse_dynamics(arm, theta, [0], [0])[0]
    assert sympy.simplify(tau + m * g * L / 2 * sympy.sin(theta[0])) == 0
    assert arm.links[0].inertia[0, 1] == -sympy.Symbol("Ixy")


def test_whole_numbers_turned_by_rpy_stay_exact_beside_symbols():
    text = 'convention="poses"\ngravity=[0,0,"-g"]\n[[link]]\nmass="m"\npose={rpy=[1, 0, 0]}'
    assert loads(text).links[0].fixed[1, 1] == sympy.cos(1)


@pytest.mark.parametrize(
    "inertia",
    [
        "[[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.4]]",
        "{xx = 0.2, yy = 0.3, zz = 0.4, xy = 0.01, xz = 0.02, yz = 0.03}",
    ],
)
def test_inertia_as_a_matrix_or_by_name(inertia):
    expected = [[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.4]]
    assert link("mass = 1", f"inertia = {inertia}").links[0].inertia.tolist() == expected


def test_inertia_as_a_diagonal():
    assert link("mass = 1", "inertia = [1, 2, 3]").links[0].inertia.tolist() == np.diag([1.0, 2, 3]).tolist()


def test_inertia_about_the_origin_and_first_moment():
    """A point of 2 kg at x = 0.5 m: 0.5 kg m² about the origin, nothing about itself."""
    about_origin = 'inertia_about = "origin"', "mass = 2", "inertia = [0, 0.5, 0.5]"
    for place in ("com = [0.5, 0, 0]", "first_moment = [1, 0, 0]"):
        body = link(*about_origin, place).links[0].body
        assert check.same(body.com, [0.5, 0, 0])
        assert np.abs(body.inertia).max() < 1e-15
    moved = link('inertia_about = "com"', "mass = 2", "inertia = [0, 0.5, 0.5]", "first_moment = [1, 0, 0]").links[0]
    assert check.same(moved.inertia, np.diag([0, 0.5, 0.5]))


def test_inertia_in_turned_axes():
    """The columns are the axes: here x' = y, y' = -x of the link."""
    body = link("mass = 1", "inertia = [1, 2, 2.5]", "axes = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]").links[0].body
    assert check.same(body.inertia, np.diag([2, 1, 2.5]))


def test_parts_of_a_link_are_added():
    text = "[[link.part]]\nmass = 1\ncom = [0.2, 0, 0]\n[[link.part]]\nmass = 3\ncom = [0.6, 0, 0]\ninertia = [0, 1, 1]"
    body, expected = link(text).links[0].body, Body(1, [0.2, 0, 0]) + Body(3, [0.6, 0, 0], [0, 1, 1])
    assert check.same(body.com, [0.5, 0, 0])
    assert check.same(body.inertia, expected.inertia)


def test_fixed_joints_and_payload():
    arm = link("mass = 1", "[[link]]", 'joint = "fixed"', "a = 0.5", "mass = 1", "[payload]", "mass = 2")
    assert (arm.n, float(arm.links[0].mass), float(arm.payload.mass)) == (1, 2.0, 2.0)
    assert check.same(arm.tool[:3, 3], [0.5, 0, 0])


def test_poses_and_axes():
    """A hinge about y at height 0.5; turned by theta, the tip at x = 1 goes down by sin(theta)."""
    text = 'convention = "poses"\ngravity = [0, 0, -9.81]\ntool = {position = [1, 0, 0]}\n[[link]]\n'
    text += "pose = {position = [0, 0, 0.5]}\naxis = [0, 2, 0]\nmass = 2\ncom = [0.5, 0, 0]"
    arm = loads(text)
    assert check.same(arm.pose([0.3])[:3, 3], [np.cos(0.3), 0, 0.5 - np.sin(0.3)])
    assert check.same(newton_euler.inverse_dynamics(arm, [0.0], [0], [0]), [-2 * 9.81 * 0.5])


def test_the_frame_of_a_link_is_turned_onto_any_axis():
    rng = np.random.default_rng(5)
    for axis in [*rng.normal(size=(20, 3)), *np.eye(3), *-np.eye(3), [1e-9, 0, -1.0]]:
        R = turned_to(np.array(axis))[:3, :3]
        assert np.abs(R @ R.T - np.eye(3)).max() < 1e-12
        assert np.linalg.det(R) == pytest.approx(1)
        assert np.abs(R[:, 2] - axis / np.linalg.norm(axis)).max() < 1e-12


def test_the_axes_of_a_chain_may_be_turned_at_every_link():
    """The same arm: once with axes in the file's frames, once with the frames turned by hand."""
    turned = """
    pose = [[0, 0, 1, 0.1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    mass = 2
    com = [0, 0, 0.3]
    [[link]]
    pose = [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0.6], [0, 0, 0, 1]]
    mass = 1
    com = [0.2, 0, 0]
    """
    plain = """
    pose = {position = [0.1, 0, 0]}
    axis = [1, 0, 0]
    mass = 2
    com = [0.3, 0, 0]
    [[link]]
    pose = {position = [0.6, 0, 0]}
    axis = [0, 1, 0]
    mass = 1
    com = [0, 0, 0.2]
    """
    one, other = (loads('convention="poses"\ngravity=[1, 2, -9]\n[[link]]\n' + text) for text in (turned, plain))
    q, dq, ddq = [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]
    assert check.same(newton_euler.inverse_dynamics(one, q, dq, ddq), newton_euler.inverse_dynamics(other, q, dq, ddq))
    assert check.same(one.pose(q)[:3, 3], other.pose(q)[:3, 3])


def test_published_impossible_data_warn_and_stay():
    text = "allow_impossible = true\n" + ARM + "mass = 1\ninertia = [0, 0, 3]"
    with pytest.warns(
        UserWarning, match=r"arm.toml, line 6: link 1: .*break the triangle rule; they are kept"
    ) as found:
        arm = loads(text, "arm.toml")
    assert found[0].filename == __file__
    assert arm.links[0].inertia[2, 2] == 3
    assert arm.links[0].body.allow_impossible


def test_a_file_may_have_windows_line_ends_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "drei θ.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (ARM + 'mass = "1/2" # θ').replace("\n", "\r\n").encode())
    assert read(path).name == "drei θ"
    assert float(read(path).links[0].mass) == 0.5


def test_a_motor_beside_an_inertia():
    arm = link("mass = 1", "inertia = [1, 1, 1]", "motor = {gear = -50, inertia = 1e-4, coulomb = [0.4, -0.3]}")
    assert newton_euler.inverse_dynamics(arm, [0.0], [1.0], [2.0])[0] == pytest.approx(2 * (1 + 0.25) + 50 * 0.4)


# ---- Writing -------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), joints=st.integers(1, 8))
def test_a_written_arm_is_read_back_bit_for_bit(seed, joints):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, joints)
    links = list(arm.links)
    motor = Motor(*rng.uniform(0, 2, 3), coulomb=[rng.uniform(0, 1), -rng.uniform(0, 1)])
    links[0] = replace(links[0], motor=motor)
    links[-1] = replace(links[-1], body=None) if seed % 3 == 0 else links[-1]
    payload = Body(*rng.uniform(0, 2, 1), com=rng.normal(size=3), inertia=[1, 1, 1]) if seed % 2 else None
    arm = Robot(links, arm.gravity, arm.base, random_pose(rng), payload, name='a "b" \\ \n θ \x7f')
    again = loads(dumps(arm))
    assert again.name == arm.name
    assert same_data(again, arm)
    assert dumps(again) == dumps(arm)


@pytest.mark.filterwarnings("ignore:.*no real body")
@pytest.mark.parametrize("name", robots.names())
def test_arms_of_the_catalogue_are_read_back(name):
    arm = robots.load(name)
    if arm.is_symbolic:
        pytest.skip("a file is written of numbers only")
    assert same_data(loads(dumps(arm)), arm)


def test_a_symbolic_arm_is_not_written(tmp_path):
    path = tmp_path / "arm.toml"
    write(robots.load("scara"), path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match=r"planar 2R is exact; a file is written of numbers only.*robot.subs"):
        write(robots.planar_2r(), path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["arm.toml"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    (tmp_path / "arm.toml").write_text("old", encoding="utf-8")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write(robots.load("scara"), tmp_path / "arm.toml")
    assert [(each.name, each.read_text(encoding="utf-8")) for each in tmp_path.iterdir()] == [("arm.toml", "old")]


# ---- Lines ---------------------------------------------------------------------------------------------


def test_lines_of_keys_are_found_past_strings_lists_comments_and_dots():
    text = '''# mass = 0
source = """
mass = 1
[[link]]
"""
name = "a # [["  # [[link]]
base = [
    [1, 0],  # mass = 3
    [2],
]
[[link]]
"mass" = 2
motor."ge\\u0061r" = 3
'a.b' = 1
[[link]]
mass = 1
  [ link.motor ]
  gear = 1
  [[link.part]]
  [[link.part]]
  mass = 4
'''
    lines = key_lines(text)
    assert lines["source",] == 2
    assert lines["name",] == 6
    assert lines["base",] == 7
    assert lines["link", 1] == 11
    assert lines["link", 1, "mass"] == 12
    assert lines["link", 1, "motor", "gear"] == 13
    assert lines["link", 1, "a.b"] == 14
    assert lines["link", 2, "mass"] == 16
    assert lines["link", 2, "motor", "gear"] == 18
    assert lines["link", 2, "part", 2, "mass"] == 21
    assert ("mass",) not in lines


# ---- Bad input -----------------------------------------------------------------------------------------

MESSAGES = {
    "line 5: link 1 has the key \"aplha\"; expected joint, mass,.*offset with convention = \"modified\"."
    " Did you mean \"alpha\"?": (ARM, "d = 1\naplha = 2"),
    'line 1: the file has the key "gravitiy".*Did you mean "gravity"?': ("gravitiy = 1\n", ARM),
    'line 1: the file has no convention; write convention = "modified" or "standard"': ("gravity = [0, 0, 0]", ""),
    "line 1: the file has no gravity; write the vector along which things fall": ('convention = "modified"', ""),
    "line 1: the file has no link; write at least one [[link]]": (HEAD, ""),
    "line 5: each link, together with its joint, is a table of its own under [[link]], in double brackets.": (
        HEAD, "[link]\nmass = 1\n[link]\nmass = 2"),
    "line 5: each link, together with its joint, is a table of its own": (ARM, "mass = 1\n[ link ]\nmass = 2"),
    "line 5: each link, together with its joint, is": (HEAD, "[joint]\nmass = 1\n[joint]\nmass = 2"),
    'line 3: the file has the key "joint"; each link, together with its joint, is a table of its own': (
        HEAD, "[joint]\nmass = 1"),
    'line 3: the file has the key "joints"; each link, together with its joint,': (HEAD, "[[joints]]\nmass = 1"),
    'line 3: the file has the key "links"; each link, together with its joint,': (HEAD, "[[links]]\nmass = 1"),
    'line 3: the file has the key "Link"; each link, together with its joint,': (HEAD, "[[Link]]\nmass = 1"),
    'line 3: the file has the key "link1"; each link, together with its joint,': (HEAD, "[link1]\nmass = 1"),
    'line 1: convention is "craig"; expected "modified", "standard" or "poses".': ('convention = "craig"', ""),
    'line 4: joint of link 1 is "R "; expected "revolute", "prismatic" or "fixed". Did you mean "revolute"?': (
        ARM, 'joint = "R "'),
    'line 4: joint of link 1 is "Revolute"; .*Did you mean "revolute"?': (ARM, 'joint = "Revolute"'),
    'line 5: joint of link 2 is "P"; .*Did you mean "prismatic"?': (ARM, '[[link]]\njoint = "P"'),
    "line 4: joint of link 1 is 1; expected": (ARM, "joint = 1"),
    "line 3: this is no TOML: Invalid value.*Text stands in quotes": (HEAD, "joint = revolute"),
    "line 4: this is no TOML: ": (ARM, "com = [0, 0 0]"),
    "line 3: this is no TOML: Unclosed array (at end of document)": (HEAD, "base = [1, 2"),
    "line 5: this is no TOML: Cannot overwrite a value": (ARM, "mass = 1\nmass = 2"),
    "line 3: link is a table with mass; expected a list of tables, each under its own [[link]]": (
        HEAD, "[link]\nmass = 1"),
    "line 4: motor of link 1 is a list of 1 table; expected one table, [link.motor]": (ARM, "[[link.motor]]\ngear = 1"),
    "line 4: part of link 1 is a table with mass; expected a list.*[[link.part]]": (ARM, "[link.part]\nmass = 1"),
    'line 5: motor of link 1 has the key "gears"; expected inertia, gear, viscous, coulomb. Did you mean "gear"?': (
        ARM, "[link.motor]\ngears = 1"),
    "line 6: link 1: motor viscous is -1.0; expected at least 0": (ARM, "[link.motor]\ngear = 1\nviscous = -1"),
    "line 4: link 1: motor coulomb is [1.0, 1.0]; expected (forward, backward)": (ARM, "motor = {coulomb = [1, 1]}"),
    "line 4: mass of link 1 is [1]; expected one number": (ARM, "mass = [1]"),
    "line 4: mass of link 1 holds true; expected a number, a fraction or an angle in quotes": (ARM, "mass = true"),
    'line 4: mass of link 1 holds "2 kg"; expected a number': (ARM, 'mass = "2 kg"'),
    'line 4: mass of link 1 holds "__import__(\'os\')"; expected a number': (ARM, "mass = \"__import__('os')\""),
    'line 4: mass of link 1 holds "m*L**2"; expected a number': (ARM, 'mass = "m*L**2"'),
    'line 4: mass of link 1 holds "pi/0"; expected a number': (ARM, 'mass = "pi/0"'),
    'line 4: mass of link 1 holds "nan"; expected a number': (ARM, 'mass = "nan"'),
    "line 4: mass of link 1 holds nan; expected finite numbers": (ARM, "mass = nan"),
    "line 4: mass of link 1 holds 1000.*...; expected finite numbers": (ARM, "mass = 1" + 400 * "0"),
    "line 4: this is no TOML: Exceeds the limit": (ARM, "mass = 1" + 5000 * "0"),
    "line 4: more than 20 tables or lists lie in each other": (HEAD, "\nbase = " + 10**5 * "["),
    "line 4: more than 20 tables or lists lie in each other, by brackets or by dots in a key;": (
        ARM, "mass = " + 60 * "[" + 60 * "]"),
    "line 5: more than 20 tables or lists": (ARM, "mass = 1\n" + ".".join(5000 * "a") + " = 1"),
    "line 4: more than 20 tables or lists lie in each": (ARM, "mass = {" + ".".join(5000 * "a") + " = 1}"),
    "line 5: more than 20 tables or lists lie in each other": (ARM, "mass = 1\n[" + ".".join(5000 * "a") + "]"),
    "line 5: more than 20 tables or lists lie in": (ARM, "mass = 1\n[[" + ".".join(5000 * "a") + "]]"),
    'line 5: alpha of link 1 holds "Pi/2"; .* Did you mean "pi/2"?': (ARM, 'mass = 1\nalpha = "Pi/2"'),
    'line 5: theta of link 1 holds "-3*PI/4"; .* Did you mean "-3*pi/4"?': (ARM, 'mass = 1\ntheta = "-3*PI/4"'),
    'line 4: rpy of pose of link 1 holds "pI"; .* Did you mean "pi"?': (
        HEAD.replace("modified", "poses"), '[[link]]\npose = {rpy = [0, "pI", 0]}\nmass = 1'),
    "line 4: mass of link 1 holds 2026-01-01; expected a number": (ARM, "mass = 2026-01-01"),
    "line 4: mass of link 1 holds a table with kg; expected a number": (ARM, "mass = {kg = 1}"),
    "line 5: com of link 1 is [0, 0]; expected a list of 3 numbers": (ARM, "mass = 1\ncom = [0, 0]"),
    "line 5: com of link 1 is [[0, 0, 0], [1, 1, 1]]; expected": (ARM, "mass = 1\ncom = [[0, 0, 0], [1, 1, 1]]"),
    "line 5: com of link 1 is 0.5; expected a list of 3 numbers": (ARM, "mass = 1\ncom = 0.5"),
    "line 2: gravity is -9.81; expected a list of 3 numbers": (
        'convention = "modified"\ngravity = -9.81\n', "[[link]]"),
    "line 4: link 1 has com but no mass; give the mass too (0 is allowed)": (ARM, "com = [0, 0, 0]"),
    "line 5: inertia of link 1 is [1, 2, 3, 0, 0, 0]; expected a matrix.*Six numbers in a row have no common order": (
        ARM, "mass = 1\ninertia = [1, 2, 3, 0, 0, 0]"),
    'line 5: inertia of link 1 has the key "yx"; expected xx, yy, zz, xy, xz, yz.': (
        ARM, "mass = 1\ninertia = {xx = 1, yy = 1, zz = 1, yx = 0}"),
    "line 5: inertia of link 1 has no zz; give xx, yy and zz": (ARM, "mass = 1\ninertia = {xx = 1, yy = 1}"),
    "line 5: link 1: the inertia is not symmetric, Ixy = 2.0 but Iyx = 0.0; if only one half was typed": (
        ARM, "mass = 1\ninertia = [[5, 2, 0], [0, 5, 0], [0, 0, 5]]"),
    "line 7: link 2: no real body.*break the triangle rule.*allow_impossible = true at the top": (
        ARM, "d = 1\n[[link]]\nmass = 1\ninertia = [1, 1, 3]"),
    "line 4: link 1: no real body has these data: the mass is -1 kg": (ARM, "mass = -1"),
    "line 6: part 1 of link 1: no real body has these data: the principal moment -1 kg m² is negative": (
        ARM, "[[link.part]]\nmass = 1\ninertia = [-1, 1, 1]"),
    "line 5: part 1 of link 1 has the key \"masss\"": (ARM, "[[link.part]]\nmasss = 1"),
    "line 4: part 1 of link 1 has no mass; give it": (ARM, "[[link.part]]\ncom = [0, 0, 0]"),
    "line 4: link 1 has parts and also mass; give each body as a [[link.part]]": (
        ARM, "mass = 1\n[[link.part]]\nmass = 1"),
    'line 4: inertia_about of link 1 is "tip"; expected "com" or "origin"': (ARM, 'inertia_about = "tip"\nmass = 1'),
    "line 5: link 1 has first_moment and com; give one": (ARM, "mass = 1\nfirst_moment = [0, 0, 0]\ncom = [0, 0, 0]"),
    'line 5: link 1 has first_moment; say also inertia_about = "origin"': (ARM, "mass = 1\nfirst_moment = [0, 0, 0]"),
    "line 5: link 1 has first_moment and the mass 0; write com": (
        ARM, 'mass = 0\nfirst_moment = [0, 0, 0]\ninertia_about = "com"'),
    "line 5: axes of link 1 is no rotation.*its columns are the axes": (
        ARM, "mass = 1\naxes = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]"),
    "line 3: base is no pose: its last row is": (HEAD, f"base = {np.zeros((4, 4)).tolist()}\n[[link]]"),
    "line 3: base is [0, 0, 1]; expected a matrix of 4 rows with 4 numbers each, or {position": (
        HEAD, "base = [0, 0, 1]\n[[link]]"),
    'line 3: tool has the key "xyz"; expected position, rpy': (HEAD, "tool = {xyz = [0, 0, 1]}\n[[link]]"),
    'line 3: allow_impossible is "yes"; expected true or false': (HEAD, 'allow_impossible = "yes"\n[[link]]'),
    "line 3: name is 3; expected text in quotes": (HEAD, "name = 3\n[[link]]"),
    'line 4: link 1 has the key "axis"; expected joint,.*with convention = "modified"': (ARM, "axis = [0, 0, 1]"),
    'line 4: link 1 has the key "d"; expected .*pose, axis with convention = "poses"': (
        ARM.replace("modified", "poses"), "d = 1"),
    "line 4: axis of link 1 is [0, 0, 0]; expected a direction in numbers": (
        ARM.replace("modified", "poses"), "axis = [0, 0, 0]"),
    "line 4: axis of link 1 is oblique; in a symbolic arm, turn the frame by its pose": (
        ARM.replace("modified", "poses").replace("-9.81", '"-g"'), "axis = [1, 1, 0]"),
    'line 4: theta of link 1 holds "theta2". Leave it out: the joint value is added by itself.': (
        ARM, 'theta = "theta2"'),
    'line 4: theta of link 1 holds "-q1". Leave it out: .* such as "beta1"': (ARM, 'theta = "-q1"'),
    'line 4: theta of link 1 holds "θ1". Leave it out': (ARM, 'theta = "θ1"'),
    'line 4: offset of link 1 holds "th_1". Leave it out': (ARM, 'offset = "th_1"'),
    'line 5: d of link 1 holds "d1". Leave it out: .* such as "h1"': (ARM, 'joint = "prismatic"\nd = "d1"'),
    'line 5: d of link 1 holds "q". Leave it out': (ARM, 'joint = "prismatic"\nd = "q"'),
    'line 4: pose of link 1 holds "q1". Leave it out': (
        ARM.replace("modified", "poses"), 'pose = {rpy = [0, 0, "q1"]}'),
    'line 4: mass of link 1 holds "90deg", an angle; expected SI units': (ARM, 'mass = "90deg"'),
    'line 4: mass of link 1 holds "λ₁/2"; .*the letters A to Z, digits and _; Greek letters are spelt. Did you mean'
    ' "lambda1/2"?': (ARM, 'mass = "λ₁/2"'),
    'line 4: theta of link 1 holds "−π/2"; .*Did you mean "-pi/2"?': (ARM, 'theta = "−π/2"'),
    'line 4: mass of link 1 holds "質量"; .*the letters A to Z, digits and _; Greek letters are spelt.': (
        ARM, 'mass = "質量"'),
    'line 4: mass of link 1 holds "1e400"; expected finite numbers': (ARM, 'mass = "1e400"'),
    "line 4: mass of link 1 holds inf; expected finite numbers": (ARM, "mass = 1e400"),
    'line 4: mass of link 1 holds "1e9999"; expected a number': (ARM, 'mass = "1e9999"'),
    'line 4: mass of link 1 holds "1_000"; expected a number': (ARM, 'mass = "1_000"'),
    'line 4: mass of link 1 holds "LLLLL.*...; expected a number': (ARM, 'mass = "' + 5000 * "L" + '"'),
    "line 3: link 1: inertia holds nan; expected finite numbers": (
        ARM, 'mass = 1e308\ninertia = [1e308, 1e308, 1e307]\ncom = [1e200, 0, 0]\ninertia_about = "origin"'),
    "line 3: link 1: com holds inf; expected finite numbers": (
        ARM, 'mass = 1e-320\nfirst_moment = [1, 0, 0]\ninertia_about = "com"'),
    "line 1: the file has no link; write at least one [[link]].": (HEAD, ""),
    "line 3: the file has no link; write at least one": (HEAD, "link = []"),
    "line 3: source is 1; expected text in quotes": (HEAD, "source = 1\n[[link]]"),
    r'line 3: the file has the key "a\x1b[31m\u202e"; expected': (HEAD, r'"a\u001b[31m\u202e" = 1' + "\n[[link]]"),
    r'line 4: link 1 has the key "\x9b2J\x7f"': (ARM, r'"\u009b2J\u007f" = 1'),
    'line 4: joint of link 1 is ".*u001b[31m"; expected': (ARM, r'joint = "\u001b[31m"'),
    "line 5: the symbol m_1 is printed as m₁, and so is m1, another symbol; call one otherwise": (
        ARM.replace("-9.81", '"-g"'), 'a = "m1"\nmass = "m_1"'),
    "line 4: the symbol dx is printed as the rate ẋ; call the datum otherwise": (
        ARM.replace("-9.81", '"-g"'), 'a = "dx"'),
    "line 1: arm has only fixed links": (ARM, 'joint = "fixed"'),
    "line 4: the symbol theta1 names a joint value, rate or acceleration of this arm": (
        ARM.replace("-9.81", '"-g"'), 'mass = "theta1"'),
}  # fmt: skip


@pytest.mark.parametrize(("message", "text"), MESSAGES.items(), ids=range(len(MESSAGES)))
def test_bad_input(message, text):
    pattern = ".*".join(map(re.escape, f"arm.toml, {message}".split(".*")))
    with pytest.raises(ValueError, match=pattern) as caught:
        loads("".join(text), "arm.toml")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("axis", ["[1e308, 1e308, 0]", "[1e-320, 1e-320, 0]", "[1, 1, 0]"])
def test_the_length_of_an_axis_does_not_matter(axis):
    text = f'convention = "poses"\ngravity = [0, 0, 0]\n[[link]]\naxis = {axis}'
    assert np.abs(loads(text).links[0].fixed[:3, 2] - np.sqrt([0.5, 0.5, 0])).max() < 1e-3


def test_a_text_may_have_a_byte_order_mark(tmp_path):
    assert same_data(loads("\ufeff" + ARM, "arm.toml"), loads(ARM, "arm.toml"))
    with pytest.raises(ValueError, match=r"arm.toml, line 4: mass of link 1 holds true"):
        loads("\ufeff" + ARM + "mass = true", "arm.toml")


def test_names_that_steer_a_terminal_are_shown_as_text(tmp_path):
    arm = loads(r'name = "\u001b[31mred\u202e"' + "\n" + ARM, "arm.toml")
    assert arm.name == r"\x1b[31mred\u202e"
    assert str(arm).replace("\n", "").isprintable()
    with pytest.raises(ValueError, match=r"^a\\x1b\[2Jrm.toml, line 1: the file has no convention") as caught:
        loads("", "a\x1b[2Jrm.toml")
    assert str(caught.value).isprintable()


def test_reading_takes_twice_as_long_for_twice_the_links():
    """Count every call, and every letter that is copied by the slow ones; no clock."""

    def cost(links):
        counts = collections.Counter()

        def count(frame, event, function):
            name = function.__name__ if event == "c_call" else frame.f_code.co_name
            counts["calls"] += event in ("call", "c_call")
            counts["replace"] += event == "c_call" and name == "replace"

        text = HEAD.replace("-9.81", '"-g"') + "".join(
            f'[[link]]\na = "a{i}"\nmass = "m{i}"\ncom = [1, 0, 0]\n' for i in range(links)
        )
        sys.setprofile(count)
        try:
            loads(text)
        finally:
            sys.setprofile(None)
        return counts

    few, many = cost(40), cost(80)
    assert many["calls"] < 2.1 * few["calls"]
    assert few["replace"] > 0
    whole_text = many["replace"] - 2 * few["replace"]
    assert whole_text < 0  # what does not grow with the links is counted twice


def test_floats_beside_symbols():
    message = (
        'arm.toml, line 5: a of link 1 holds the float 0.5 beside the symbolic m.*Write the number exactly, as "1/2"'
    )
    text = 'convention = "modified"\ngravity = [0, 0, -10]\n[[link]]\nmass = "m"\na = 0.5'
    with pytest.raises(TypeError, match=message):
        loads(text, "arm.toml")
    with pytest.raises(TypeError, match="line 2: gravity holds the float -9.81 beside the symbolic m"):
        loads(text.replace("-10", '"g", -9.81').replace("[0, ", "["), "arm.toml")


def test_a_file_that_is_not_there_or_not_utf8(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.toml")
    (tmp_path / "arm.toml").write_bytes(ARM.encode() + b"# \xe9\n")
    with pytest.raises(ValueError, match="arm.toml, line 4: this is not UTF-8; save the file in the encoding UTF-8"):
        read(tmp_path / "arm.toml")


@pytest.mark.filterwarnings("ignore::dynlib.hints.Hint")  # a point lost from a number
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_damaged_file_ends_in_another_error(data):
    """Cut a piece out of a file or put one in: an arm comes out, or an error that names the file and the line."""
    text = robots.text(data.draw(st.sampled_from(["scara", "kr210", "planar_3r"])))
    start = data.draw(st.integers(0, len(text)))
    end = min(len(text), start + data.draw(st.integers(0, 12)))
    piece = data.draw(
        st.sampled_from(["", "[", "]", '"', "x", "-1", "{}", "true", "[1]", "\n", '"pi"', "nan", "=", "'"])
    )
    try:
        message = str(loads(text[:start] + piece + text[end:], "arm.toml"))
    except (ValueError, TypeError) as error:
        message = str(error)
    assert re.match(r"arm\.toml, line \d+: |.*\d joints?, gravity ", message), message


def test_details_of_a_file():
    assert toml.details(HEAD + 'source = "a book"') == {"name": "", "source": "a book"}
