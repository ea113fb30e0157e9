"""Robots: the two DH conventions, exact and float data, states, and the messages for bad input."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import sympy

from dynlib import check, newton_euler, robots
from dynlib.model import Body, Link, Motor, Robot

NUMBERS = {"L1": 0.8, "L2": 0.6, "m1": 3, "m2": 2, "g": 9.81}
ARM = robots.planar_2r(**NUMBERS)
STATE = [0.3, -0.5], [1.0, 2.0], [0.5, -1.0]


def test_both_conventions_describe_the_same_arm():
    """The spatial 3R of this test is written once in each convention, by hand."""
    inertia = np.diag([0.1, 0.2, 0.3])
    turn = np.pi / 2
    modified = [
        dict(d=0.4, mass=2, com=[0, 0, 0.1], inertia=inertia),
        dict(alpha=turn, mass=3, com=[0.2, 0, 0], inertia=inertia),
        dict(a=0.5, mass=1, com=[0.15, 0.05, 0], inertia=inertia),
    ]
    tool = np.eye(4)
    tool[0, 3] = 0.3
    standard = [
        # link 1's table frame is turned by alpha about x, so (x, y, z) in it is (x, z, -y) of the frame on the axis
        dict(d=0.4, alpha=turn, mass=2, com=[0, 0.1, 0], inertia=np.diag([0.1, 0.3, 0.2])),
        dict(a=0.5, mass=3, com=[-0.3, 0, 0], inertia=inertia),
        dict(a=0.3, mass=1, com=[-0.15, 0.05, 0], inertia=inertia),
    ]
    gravity = [0, 0, -9.81]
    near = Robot.from_dh(modified, convention="modified", gravity=gravity, tool=tool)
    far = Robot.from_dh(standard, convention="standard", gravity=gravity)
    q, dq, ddq = np.random.default_rng(1).uniform(-2, 2, (3, 3))
    assert check.same(near.pose(q), far.pose(q))
    assert check.same(newton_euler.inverse_dynamics(near, q, dq, ddq), newton_euler.inverse_dynamics(far, q, dq, ddq))


def test_modified_row_is_the_product_of_its_four_motions():
    robot = Robot.from_dh([dict(a=1, alpha=np.pi / 2, d=2, theta=0.3)], convention="modified", gravity=[0, 0, 0])
    c, s = np.cos(0.3 + 0.2), np.sin(0.3 + 0.2)
    expected = [[c, -s, 0, 1], [0, 0, -1, -2], [s, c, 0, 0], [0, 0, 0, 1]]
    assert check.same(robot.pose([0.2]), expected)


def test_standard_row_is_the_product_of_its_four_motions():
    robot = Robot.from_dh([dict(a=1, alpha=np.pi / 2, d=2, theta=0.3)], convention="standard", gravity=[0, 0, 0])
    c, s = np.cos(0.3 + 0.2), np.sin(0.3 + 0.2)
    expected = [[c, 0, s, c], [s, 0, -c, s], [0, 1, 0, 2], [0, 0, 0, 1]]
    assert check.same(robot.pose([0.2]), expected)


def test_prismatic_row_slides_along_z_and_keeps_its_theta():
    row = dict(joint="prismatic", theta=np.pi / 2, d=0.1)
    pose = Robot.from_dh([row], convention="modified", gravity=[0, 0, 0]).pose([0.4])
    assert check.same(pose, [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 1]])


def test_a_right_angle_in_a_table_is_exact():
    robot = Robot.from_dh([dict(alpha=-np.pi / 2)], convention="modified", gravity=[0, 0, 0])
    assert robot.links[0].fixed.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]]


def test_subs_gives_the_robot_of_numbers():
    by_subs = robots.planar_2r().subs(NUMBERS)
    assert not by_subs.is_symbolic
    assert check.same(newton_euler.inverse_dynamics(by_subs, *STATE), newton_euler.inverse_dynamics(ARM, *STATE))


def test_subs_with_some_values_stays_exact():
    arm = robots.planar_2r().subs({"L1": 1, sympy.Symbol("m2"): sympy.Rational(1, 2)})
    assert arm.is_symbolic
    assert list(map(str, arm.symbols)) == ["L2", "g", "m1"]


def test_subs_of_an_unknown_symbol_lists_the_known_ones():
    with pytest.raises(ValueError, match="planar 2R has no symbol 'L3'; it has L1, L2, g, m1, m2"):
        robots.planar_2r().subs({"L3": 1})


def test_exact_robot_takes_symbols():
    q, dq, ddq = ARM.motion_symbols()
    tau = newton_euler.inverse_dynamics(ARM.exact(), q, dq, ddq)
    assert not any(entry.has(sympy.Float) for entry in tau)


def test_robot_with_symbols_takes_whole_numbers_as_a_state():
    assert newton_euler.inverse_dynamics(robots.planar_2r(), [0, 0], [0, 0], [0, 0])[1] == sympy.sympify("m2*g*L2")


def test_whole_numbers_and_exact_angles_make_a_robot_of_floats():
    arm = robots.rp(I1=1, m1=1, m2=1, g=10)
    assert not arm.is_symbolic
    assert newton_euler.inverse_dynamics(arm, [0, 0.5], [0, 0], [0, 0])[0] == 5


def test_exact_angles_as_a_state():
    arm = robots.planar_2r()
    assert newton_euler.inverse_dynamics(arm, [sympy.pi / 2, 0], [0, 0], [0, 0]).tolist() == [0, 0]
    assert check.same(newton_euler.inverse_dynamics(ARM, [sympy.pi / 2, 0], [0, 0], [0, 0]).round(9), [0.0, 0.0])


def test_robot_is_immutable():
    with pytest.raises(AttributeError):
        ARM.gravity = [0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        ARM.links[0].com[0] = 1


def test_printed_robot_is_a_table():
    assert str(ARM).splitlines()[0] == "planar 2R: 2 joints, gravity [0, -9.81, 0] m/s²"
    assert str(ARM).splitlines()[1] == "modified DH"
    assert [len(line.split()) for line in str(ARM).splitlines()[2:5]] == [7, 7, 7]


def test_printed_robot_shows_products_of_inertia_and_motors():
    inertia = [[2.0, 0.1, -0.2], [0.1, 3.0, 0.3], [-0.2, 0.3, 4.0]]
    turning = Link("revolute", np.eye(4), Body(1, inertia=inertia), Motor(0.01, gear=-50, viscous=0.2, coulomb=(3, -4)))
    sliding = Link("prismatic", np.eye(4), Body(1), Motor(viscous=0.5))
    ideal = Link("revolute", np.eye(4), Body(1), Motor(gear=7))
    lines = str(Robot([turning, sliding, ideal], gravity=[0, 0, 0])).splitlines()
    assert lines[5:] == [
        "  link 1: entries Ixy Ixz Iyz of the inertia matrix 0.1 -0.2 0.3 kg m²",
        "  motor 1: gear -50, rotor inertia 0.01 kg m²,",
        "    viscous friction 0.2 N m s, dry friction 3 -4 N m",
        "  motor 2: gear 1, rotor inertia 0 kg,",
        "    viscous friction 0.5 N s/m, dry friction 0 0 N",
    ]


def test_products_of_inertia_in_symbols_are_shown():
    product = sympy.Symbol("I_xy")
    body = Body(sympy.Symbol("m"), inertia=[[2, product, 0], [product, 2, 0], [0, 0, 2]])
    arm = Robot([Link("revolute", np.eye(4), body)], gravity=[0, 0, 0])
    assert "link 1: entries Ixy Ixz Iyz of the inertia matrix I_xy 0 0" in str(arm)


# ---- Bad input -------------------------------------------------------------------------------------


def test_dh_table_without_convention():
    with pytest.raises(ValueError, match=r'convention is None; expected "modified".*"standard"') as error:
        Robot.from_dh([dict(a=1)], gravity=[0, 0, 0])
    assert "document A and Craig" in str(error.value)


def test_unknown_convention():
    with pytest.raises(ValueError, match="convention is 'craig'"):
        Robot.from_dh([dict(a=1)], gravity=[0, 0, 0], convention="craig")


def test_empty_robot():
    with pytest.raises(ValueError, match="the robot has no links; give at least one"):
        Robot([], gravity=[0, 0, 0])
    with pytest.raises(ValueError, match="the robot has no links"):
        Robot.from_dh([], gravity=[0, 0, 0], convention="modified")


def test_unknown_key_of_a_row_suggests_the_right_one():
    with pytest.raises(ValueError, match=r"row 2 of the DH table has the key 'aplha'.*Did you mean 'alpha'\?"):
        Robot.from_dh([dict(a=1), dict(aplha=0)], gravity=[0, 0, 0], convention="modified")


def test_unknown_kind_of_joint():
    with pytest.raises(ValueError, match=r"row 1: joint is 'R'; expected \"revolute\", \"prismatic\" or \"fixed\""):
        Robot.from_dh([dict(joint="R")], gravity=[0, 0, 0], convention="modified")


def test_wrong_number_in_a_row_is_located():
    with pytest.raises(ValueError, match="d of row 1 holds nan"):
        Robot.from_dh([dict(d=float("nan"))], gravity=[0, 0, 0], convention="modified")
    with pytest.raises(ValueError, match=r"row 1: com has the shape \(2,\); expected \(3,\)"):
        Robot.from_dh([dict(mass=1, com=[0, 0])], gravity=[0, 0, 0], convention="modified")


def test_floats_and_symbols_in_a_table():
    with pytest.raises(TypeError, match="a of row 1 holds the float 0.5 beside the symbolic m"):
        Robot.from_dh([dict(a=0.5, mass=sympy.Symbol("m"))], gravity=[0, 0, 0], convention="modified")


def test_impossible_links():
    with pytest.raises(ValueError, match="No real body has these data: the mass is -1 kg"):
        Body(-1)
    with pytest.raises(ValueError, match="the inertia is not symmetric, Ixy = 2.0 but Iyx = 0.0"):
        Body(1, inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="row 2: No real body.*break the triangle rule"):
        Robot.from_dh([{}, dict(mass=1, inertia=[1, 1, 3])], gravity=[0, 0, 0], convention="modified")
    with pytest.raises(ValueError, match="the principal moment -1 kg m² is negative"):
        Body(1, inertia=[-1, 1, 1])
    assert Body(1, inertia=[1, 1, 3], allow_impossible=True).faults


@pytest.mark.parametrize("name", ["q", "dq", "ddq"])
def test_state_of_the_wrong_length(name):
    state = dict(q=[0, 0], dq=[0, 0], ddq=[0, 0]) | {name: [0, 0, 0]}
    message = rf"{name} has 3 entries; planar 2R has 2 joints \(revolute, revolute\), so {name} needs the shape \(2,\)"
    with pytest.raises(ValueError, match=message):
        newton_euler.inverse_dynamics(ARM, *state.values())


def test_state_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"q has the shape \(\); expected \(n,\)"):
        newton_euler.inverse_dynamics(ARM, 0.5, [0, 0], [0, 0])


def test_batches_that_do_not_fit():
    with pytest.raises(ValueError, match=r"the batches do not fit together: q \(3, 2\), dq \(4, 2\)"):
        ARM.state(q=np.zeros((3, 2)), dq=np.zeros((4, 2)))


def test_state_that_is_not_finite():
    with pytest.raises(ValueError, match="dq holds inf; expected finite numbers"):
        newton_euler.inverse_dynamics(ARM, [0, 0], [0, np.inf], [0, 0])


def test_degrees_draw_a_hint():
    with pytest.warns(UserWarning, match=r"joint 2 is at 90 rad.*use numpy.radians\(90\) = 1.571"):
        ARM.state(q=[0, 90])


def test_the_hint_points_at_the_callers_line():
    with pytest.warns(UserWarning, match="joint 2 is at 90 rad") as hints:
        newton_euler.inverse_dynamics(ARM, [0, 90], [0, 0], [0, 0])
    assert hints[0].filename == __file__


def test_ten_turns_fast_rates_and_long_slides_draw_no_hint():
    slider = Robot([Link("prismatic", np.eye(4))], gravity=[0, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ARM.state(q=[62.8, -62.8], dq=[500, 0])
        slider.state(q=[90])


def test_float_state_on_a_robot_with_symbols():
    with pytest.raises(TypeError, match=r"q holds the float 0.5, but planar 2R is exact \(symbols L1.*robot.subs"):
        newton_euler.inverse_dynamics(robots.planar_2r(), [0.5, 0], [0, 0], [0, 0])


def test_symbols_on_a_robot_with_floats():
    with pytest.raises(TypeError, match=r"q holds the symbol theta1, but planar 2R holds floats.*robot.exact()"):
        newton_euler.inverse_dynamics(ARM, ARM.motion_symbols()[0], [0, 0], [0, 0])


def test_symbols_and_floats_in_one_state():
    q, _, _ = ARM.motion_symbols()
    with pytest.raises(TypeError, match="dq holds the float 0.5 beside the symbolic theta1"):
        newton_euler.inverse_dynamics(robots.planar_2r(), q, [0.5, 0], [0, 0])


def test_wrong_shape_of_tip_force():
    with pytest.raises(ValueError, match=r"force has the shape \(2,\); expected \(3,\)"):
        newton_euler.inverse_dynamics(ARM, *STATE, tip_force=[1, 2])


def test_gravity_and_tool_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"gravity has the shape \(\); expected \(3,\)"):
        replace(ARM, gravity=-9.81)
    with pytest.raises(ValueError, match=r"tool has the shape \(3,\); expected \(4, 4\)"):
        replace(ARM, tool=[0, 0, 1])
