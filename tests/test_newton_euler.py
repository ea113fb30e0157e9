"""The recursion against Pinocchio, against itself in other readings, and against obvious answers."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")

from arms import pinocchio_torques, pinocchio_torques_on_moving_base, random_arm, random_motion

from dynlib import check, newton_euler, robots
from dynlib.algebra.equation import equation
from dynlib.model import Body, Link, Motor, Robot
from dynlib.velocity import BaseMotion, Wrench

NUMBERS = {"L1": 0.8, "L2": 0.6, "m1": 3, "m2": 2, "g": 9.81}


def relative_error(computed, expected):
    return np.abs(computed - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("seed", range(20))
def test_planar_2r_equals_pinocchio(seed):
    rng = np.random.default_rng(seed)
    motion = random_motion(rng, 2)
    arm = robots.planar_2r(**NUMBERS)
    assert relative_error(newton_euler.inverse_dynamics(arm, *motion), pinocchio_torques(arm, *motion)) < 1e-12


@pytest.mark.parametrize("joints", range(1, 9))
@pytest.mark.parametrize("seed", range(5))
def test_random_arms_with_tip_wrench_equal_pinocchio(joints, seed):
    rng = np.random.default_rng([seed, joints])
    arm, motion, (force, moment) = random_arm(rng, joints), random_motion(rng, joints), rng.uniform(-5, 5, (2, 3))
    computed = newton_euler.inverse_dynamics(arm, *motion, tip_force=force, tip_moment=moment)
    assert relative_error(computed, pinocchio_torques(arm, *motion, force, moment)) < 1e-11


@pytest.mark.parametrize("joints", [1, 3, 6])
def test_moving_base_equals_pinocchio(joints):
    rng = np.random.default_rng(joints)
    arm, motion, base = random_arm(rng, joints), random_motion(rng, joints), BaseMotion(*rng.uniform(-2, 2, (4, 3)))
    computed = newton_euler.inverse_dynamics(arm, *motion, base=base)
    assert relative_error(computed, pinocchio_torques_on_moving_base(arm, *motion, base)) < 1e-11


@pytest.mark.parametrize("joints", [1, 2, 7])
def test_batch_equals_loop(joints):
    rng = np.random.default_rng(joints)
    arm, motion = random_arm(rng, joints), random_motion(rng, 3, 4, joints)
    wrench = {"tip_force": rng.uniform(-1, 1, (3, 4, 3)), "tip_moment": [1, 2, 3]}
    batch = newton_euler.inverse_dynamics(arm, *motion, **wrench)
    assert batch.shape == (3, 4, joints)
    for index in np.ndindex(3, 4):
        one = newton_euler.inverse_dynamics(
            arm, *(each[index] for each in motion), tip_force=wrench["tip_force"][index], tip_moment=[1, 2, 3]
        )
        assert check.same(batch[index], one)


def test_state_may_be_one_configuration_and_many_rates():
    arm = robots.planar_2r(**NUMBERS)
    rates = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    assert newton_euler.inverse_dynamics(arm, [0.1, 0.2], rates, [0, 0]).shape == (5, 2)


@pytest.mark.parametrize("make", [robots.planar_2r, robots.rp, robots.free_link])
def test_symbols_at_random_points_equal_numbers(make):
    arm = make()
    motion = arm.motion_symbols()
    symbolic = newton_euler.inverse_dynamics(arm, *motion)
    rng = np.random.default_rng(3)
    symbols = (*arm.symbols, *np.concatenate(motion))
    small = {"Ixy", "Ixz", "Iyz"}  # a possible body
    values = {symbol: float(rng.uniform(0.6, 1.0)) * (0.1 if str(symbol) in small else 1) for symbol in symbols}
    state = [[values[symbol] for symbol in column] for column in motion]
    numbers = newton_euler.inverse_dynamics(arm.subs({s: values[s] for s in arm.symbols}), *state)
    assert check.same([float(entry.subs(values)) for entry in symbolic], numbers)


def test_symbolic_result_is_exact():
    tau = newton_euler.inverse_dynamics(robots.planar_2r(), *robots.planar_2r().motion_symbols())
    assert not any(entry.has(sympy.Float) for entry in tau)


def test_ints_behave_like_floats():
    ints = newton_euler.inverse_dynamics(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10), [1, 2], [3, 4], [5, 6])
    floats = newton_euler.inverse_dynamics(
        robots.planar_2r(L1=1.0, L2=1.0, m1=1.0, m2=1.0, g=10.0), [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]
    )
    assert ints.dtype == float
    assert (ints == floats).all()


def test_gravity_is_the_direction_of_fall():
    arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=0, g=10)
    assert newton_euler.inverse_dynamics(arm, [0, 0], [0, 0], [0, 0])[0] == 10  # held up, by a positive torque


def test_tip_wrench_acts_on_the_arm():
    arm = robots.planar_2r(L1=1, L2=1, m1=0, m2=0, g=10)
    assert newton_euler.inverse_dynamics(arm, [0, 0], [0, 0], [0, 0], tip_force=[0, -1, 0]).tolist() == [2, 1]
    assert newton_euler.inverse_dynamics(arm, [0, 0], [0, 0], [0, 0], tip_moment=[0, 0, -1]).tolist() == [1, 1]


def test_a_replaced_step_changes_the_result_and_nothing_else():
    @equation("f", "f", "F", "none")
    def forgets_gravity(F, R_next, f_next, m, g, f_e):
        return newton_euler.force_balance(F, R_next, f_next, m, 0 * g, f_e)

    arm = robots.planar_2r(**NUMBERS)
    motion = [0.3, 0.4], [1, 2], [3, 4]
    right = newton_euler.recursion(arm, *motion)
    wrong = newton_euler.recursion(arm, *motion, steps=replace(newton_euler.Steps(), force_balance=forgets_gravity))
    assert check.same(right[1].F, wrong[1].F)
    assert not check.same(right[1].f, wrong[1].f)


def test_a_link_without_mass_data_is_named():
    arm = robots.planar_2r(**NUMBERS)
    arm = replace(arm, links=[arm.links[0], replace(arm.links[1], body=None)])
    with pytest.raises(ValueError, match=r"link 2 of planar 2R has no mass data.*mass=0"):
        newton_euler.inverse_dynamics(arm, [0, 0], [0, 0], [0, 0])


def test_records_cannot_be_changed():
    link = newton_euler.recursion(robots.planar_2r(**NUMBERS), [0, 0], [0, 0], [0, 0])[0]
    with pytest.raises(AttributeError):
        link.f = 0


def massless_chain(**options):
    return Robot([Link("revolute", np.eye(4), Body(0))] * 3, gravity=[0, -10, 0], name="chain", **options)


def test_an_arm_in_which_nothing_has_mass_is_refused():
    state = [0, 0, 0], [1, 2, 3], [1, 2, 3]
    message = "no link of chain has a mass or an inertia; dynamics would only give zeros. Give the links"
    for arm in (massless_chain(), massless_chain().exact()):
        with pytest.raises(ValueError, match=message):
            newton_euler.inverse_dynamics(arm, *state)
    with pytest.raises(ValueError, match=message):
        newton_euler.inverse_dynamics(massless_chain(), *state, tip_force=[0, 0, 0])


def test_an_arm_without_mass_carries_loads_and_drives_its_motors():
    state = [0, 0, 0], [1, 2, 3], [1, 2, 3]
    tool = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    arm = massless_chain(tool=tool)
    down = Wrench(force=[0, -1, 0], axes="tip")
    assert newton_euler.inverse_dynamics(arm, *state, tip_force=[0, -1, 0]).tolist() == [1, 1, 1]
    assert newton_euler.inverse_dynamics(arm, *state, loads=[down]).tolist() == [1, 1, 1]
    assert newton_euler.inverse_dynamics(arm.with_payload(2), *state)[2] == 20 + 2 * (1 + 2 + 3)
    driven = replace(arm, links=[*arm.links[:2], replace(arm.links[2], motor=Motor(inertia=2, viscous=1))])
    assert newton_euler.inverse_dynamics(driven, *state).tolist() == [0, 0, 9]
