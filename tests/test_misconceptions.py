"""Each misconception gives another torque where it should, the right one where it cannot matter, and is recognised."""

import numpy as np
import pytest

from dynlib import check, derivation, newton_euler, robots
from dynlib.misconceptions import ALL, LAGRANGE, STRUCTURE, WORDS, diagnose
from dynlib.robot import Robot
from dynlib.velocity import Wrench

NUMBERS = {"L1": 0.8, "L2": 0.6, "m1": 3, "m2": 2, "g": 9.81}
ELBOW = robots.planar_2r(**NUMBERS)
RAIL = robots.rp(I1=0.4, m1=2, m2=1.5, g=9.81)
SPATIAL = Robot.from_dh(
    [
        dict(d=0.4, mass=2, com=[0.01, 0.02, -0.1], inertia=[0.02, 0.03, 0.02]),
        dict(alpha=np.pi / 2, d=0.1, mass=3, com=[0.2, 0.01, 0.03], inertia=[0.01, 0.05, 0.05]),
        dict(a=0.5, d=-0.05, mass=1, com=[0.15, 0.05, 0.02], inertia=[0.01, 0.02, 0.02]),
    ],
    convention="modified",
    gravity=[0, 0, -9.81],
    name="spatial 3R",
)
MOVING = {2: ([0.5, 1.0], [2.0, -3.0], [1.0, 0.5]), 3: ([0.5, 1.0, -0.7], [1.0, -2.0, 1.5], [0.5, 1.0, -1.0])}
LOAD = {"tip_force": [3.0, -2.0, 1.0], "wrenches": [Wrench(moment=[0, 0, 1.0], link=1)]}

SHOWS_ON = {
    "column_differentiated": ELBOW,
    "axis_held_still": SPATIAL,
    "centripetal_missing": ELBOW,
    "coriolis_missing": RAIL,
    "rotation_transposed": ELBOW,
    "gravity_added": ELBOW,
    "gravity_twice": ELBOW,
    "lever_of_force_missing": ELBOW,
    "moment_about_next_joint": ELBOW,
    "inertia_about_origin": SPATIAL,
    "other_dh_convention": SPATIAL,
    "load_reversed": ELBOW,
}


def options_for(key):
    return LOAD if key == "load_reversed" else {}


def test_every_misconception_is_tested_and_has_words():
    assert set(SHOWS_ON) == set(ALL)
    assert set(ALL) | set(LAGRANGE) | set(STRUCTURE) == set(WORDS["en"])
    for each in ALL.values():
        assert each.name()
        assert each.feedback().endswith(".")


@pytest.mark.parametrize("key", ALL)
def test_it_differs_from_the_right_torques(key):
    arm, options = SHOWS_ON[key], options_for(key)
    motion = MOVING[arm.n]
    right = newton_euler.inverse_dynamics(arm, *motion, **options)
    wrong = ALL[key].inverse_dynamics(arm, *motion, **options)
    assert np.abs(right - wrong).max() > 1e-3 * np.abs(right).max()


@pytest.mark.parametrize("key", ALL)
def test_it_is_recognised_by_its_torques(key):
    arm, options = SHOWS_ON[key], options_for(key)
    motion = MOVING[arm.n]
    answer = ALL[key].inverse_dynamics(arm, *motion, **options)
    assert key in [each.key for each in diagnose(arm, *motion, answer.round(6), **options)]


def test_the_right_answer_is_no_misconception():
    right = newton_euler.inverse_dynamics(ELBOW, *MOVING[2])
    assert diagnose(ELBOW, *MOVING[2], right) == []
    assert diagnose(ELBOW, *MOVING[2], right + 1) == []


def test_at_rest_only_gravity_and_data_can_go_wrong():
    rest = [0.5, 1.0], [0, 0], [0, 0]
    right = newton_euler.inverse_dynamics(ELBOW, *rest)
    for key in ("column_differentiated", "axis_held_still", "centripetal_missing", "coriolis_missing"):
        assert check.same(ALL[key].inverse_dynamics(ELBOW, *rest), right)


def test_the_column_is_really_differentiated():
    """The replaced step must give d/dt of the components of v, for any arm."""
    from dynlib.acceleration import column_derivative

    arm = robots.free_link()
    q, dq, ddq = arm.motion_symbols()
    links = newton_euler.recursion(arm, q, dq, ddq, steps=ALL["column_differentiated"].steps())
    first = newton_euler.recursion(arm, q, dq, ddq)
    assert check.same(links[3].dv, column_derivative(first[3].v, q, dq, ddq))
    assert not check.same(links[4].dv_c, first[4].dv_c)


def test_gravity_added_is_gravity_reversed():
    upside_down = robots.planar_2r(**NUMBERS | {"g": -9.81})
    wrong = ALL["gravity_added"].inverse_dynamics(ELBOW, *MOVING[2])
    assert check.same(wrong, newton_euler.inverse_dynamics(upside_down, *MOVING[2]))


def test_reported_zero_torque_of_the_last_joint():
    """Point masses at the tips: the lever from the next joint is zero, so the second torque vanishes."""
    weightless = robots.planar_2r(**NUMBERS | {"g": 0})
    wrong = ALL["moment_about_next_joint"].inverse_dynamics(weightless, *MOVING[2])
    # the tip frame stands at mass 2, so that F has no lever there
    assert abs(wrong[1]) < 1e-12


def test_the_wrong_step_prints_its_own_equation():
    steps = ALL["lever_of_force_missing"].steps()
    shown = repr(derivation.derive(robots.planar_2r(), steps=steps).of("n", link=2))
    assert shown.startswith("²n₂ = ²N₂ + ²₃R ³n₃")
    steps = ALL["gravity_added"].steps()
    assert "²₃R ³f₃ + m₂ ²g" in repr(derivation.derive(robots.planar_2r(), steps=steps).of("f", link=2))


def test_an_arm_without_table_cannot_be_misread():
    with pytest.raises(ValueError, match="was not read from a DH table"):
        ALL["other_dh_convention"].robot(robots.planar_2r().subs(NUMBERS))


@pytest.mark.parametrize("key", STRUCTURE)
def test_a_wrong_matrix_differs_only_in_motion(key):
    wrong = STRUCTURE[key]
    for arm in (ELBOW, SPATIAL):
        right = newton_euler.inverse_dynamics(arm, *MOVING[arm.n])
        assert np.abs(wrong.torques(arm, *MOVING[arm.n]) - right).max() > 1e-3 * np.abs(right).max()
        rest = MOVING[arm.n][0], np.zeros(arm.n), MOVING[arm.n][2]
        assert check.same(wrong.torques(arm, *rest), newton_euler.inverse_dynamics(arm, *rest), tolerance=1e-10)
    assert wrong.name()
    assert wrong.feedback().endswith(".")
