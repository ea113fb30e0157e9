"""Forward dynamics and simulation, against Pinocchio, closed formulas and conservation laws."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import sympy
from arms import Arm, random_arm
from scipy.special import ellipk

from benchmarks import simulate as benchmark
from dynlib import linkages, progress, robots
from dynlib.model import Body, Link, Motor, Robot
from dynlib.motion import (
    SimulationError,
    SimulationInterrupted,
    computed_torque,
    forward_dynamics,
    quintic,
    simulate,
)
from dynlib.motion.equations import _by_recursion, _closed_form, equations_of, in_pieces
from dynlib.newton_euler import inverse_dynamics
from dynlib.structure import mass_matrix
from dynlib.velocity import Wrench

TWO_R = robots.planar_2r(L1=0.8, L2=0.6, m1=3, m2=2, g=9.81)


def slider(mass=2.0, fall=0.0, **motor):
    """Return one sliding joint; weight acts along its axis, as on an incline."""
    drive = Motor(**motor) if motor else None
    return Robot([Link("prismatic", np.eye(4), Body(mass), drive)], gravity=[0, 0, fall], name="slider")


def pendulum(length=0.5, mass=2.0):
    """Return a point mass that hangs at q = 0, turning about a level axis."""
    return Robot([Link("revolute", np.eye(4), Body(mass, [length, 0, 0]))], gravity=[9.81, 0, 0], name="pendulum")


# ---- Forward dynamics ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_forward_dynamics_is_that_of_pinocchio(seed):
    rng = np.random.default_rng(seed)
    joints = tuple(rng.choice(["revolute", "prismatic", "fixed"], p=[0.6, 0.3, 0.1], size=rng.integers(1, 7)))
    joints = (*joints, "revolute")
    arm = Arm(joints, ["standard", "modified", "poses"][seed % 3], seed, motors=seed % 2 == 0, payload=seed % 4 == 1)
    q, dq, tau = arm.motion()
    reference = arm.reference
    friction = reference.torques(q, dq, 0 * q) - pin.rnea(reference.model, reference.data, q, dq, 0 * q)
    expected = pin.aba(reference.model, reference.data, q, dq, 20 * tau - friction)
    found = forward_dynamics(arm.robot, q, dq, 20 * tau)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(6))
def test_forward_dynamics_is_the_inverse_of_inverse_dynamics_with_loads(seed):
    arm = Arm(("revolute", "prismatic", "revolute", "revolute"), "poses", seed, motors=True, payload=True)
    q, dq, ddq = arm.motion(5)
    loads = arm.wrenches(3)
    tau = inverse_dynamics(arm.robot, q, dq, ddq, loads=loads)
    found = forward_dynamics(arm.robot, q, dq, tau, loads=loads)
    assert np.abs(found - ddq).max() < 1e-9 * np.abs(ddq).max()


def test_a_batch_is_a_loop_also_for_joints_that_stick():
    robot = replace(TWO_R, links=[replace(link, motor=Motor(coulomb=4.0)) for link in TWO_R.links])
    rng = np.random.default_rng(3)
    q, dq, tau = rng.uniform(-3, 3, (2, 4, 2)), rng.choice([-1.0, 0.0, 1.0], (2, 4, 2)), rng.uniform(-30, 30, (4, 2))
    together = forward_dynamics(robot, q, dq, tau, stick=True)
    one_by_one = [
        [forward_dynamics(robot, *each, stick=True) for each in zip(*rows, tau, strict=True)]
        for rows in zip(q, dq, strict=True)
    ]
    assert np.array(one_by_one).shape == together.shape == (2, 4, 2)
    assert np.abs(together - one_by_one).max() < 1e-9
    wrench = [Wrench([1.0, 2.0, 0.0], axes="tip")]
    assert forward_dynamics(robot, q[0, 0], dq, tau, loads=wrench).shape == (2, 4, 2)


def test_a_joint_at_rest_moves_only_if_dry_friction_cannot_hold_it():
    block = slider(mass=2.0, coulomb=(3.0, -1.0))
    torques = np.array([[-5.0], [-1.0], [0.5], [3.0], [5.0]])
    found = forward_dynamics(block, [0.0], [0.0], torques, stick=True)
    assert found[:, 0] == pytest.approx([-2.0, 0, 0, 0, 1.0])
    assert forward_dynamics(block, [0.0], [0.0], torques) == pytest.approx(torques / 2)  # as inverse_dynamics has it


@pytest.mark.parametrize("joints", [1, 2, 3])
def test_compiled_equations_are_those_of_the_recursion(joints):
    rng = np.random.default_rng(joints)
    robot = random_arm(rng, joints)
    robot = replace(robot, links=[replace(link, motor=Motor(1e-3, 20)) for link in robot.links])
    for _ in range(4):
        q, dq = rng.uniform(-3, 3, (2, joints)).tolist()
        compiled, expected = _closed_form(robot)(q, dq), _by_recursion(robot)(q, dq)
        for one, other in zip(compiled, expected, strict=True):
            assert np.abs(np.array(one) - other).max() < 1e-12 * np.abs(other).max()


def test_singular_mass_matrix_names_link_joint_and_state():
    robot = replace(TWO_R, links=[TWO_R.links[0], replace(TWO_R.links[1], body=Body(0))])
    with pytest.raises(ValueError, match=r"singular at q = \[0.1, 0.2\]: joint 2 can move .* link 2 has neither mass"):
        forward_dynamics(robot, [0.1, 0.2], [0, 0], [0, 0])
    with pytest.raises(ValueError, match=r"q = \[0.0, 0.0\] \(state 0 of the batch\)"):
        forward_dynamics(robot, np.zeros((3, 2)), [0, 0], [0, 0])
    with pytest.raises(ValueError, match="link 2 has neither mass nor inertia"):
        simulate(robot, [0, 0], [0, 0], [0, 1])
    with pytest.raises(ValueError, match="joint 1 can move without resistance"):
        simulate(slider(mass=0.0), [0], [0], [0, 1])
    turning = Robot([Link("revolute", np.eye(4), Body(1))], gravity=[0, 0, 0])
    with pytest.raises(ValueError, match="link 1 has no inertia about an axis through its mass centre"):
        forward_dynamics(turning, [0], [0], [1])
    assert forward_dynamics(slider(mass=0.0, inertia=2.0), [0], [0.0], [1]) == pytest.approx([0.5])


# ---- Free motion -----------------------------------------------------------------------------------


def test_free_2r_keeps_its_energy_for_100_seconds():
    motion = simulate(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81), [0, 0], [0, 0], np.linspace(0, 100, 501))
    assert np.abs(motion.imbalance).max() < 1e-11 * 29.43  # the weight, as far as it can fall
    assert motion.events == ()
    assert not motion.work.any()


@pytest.mark.parametrize("degrees", [0.01, 20, 90, 170])
def test_pendulum_has_the_period_of_the_elliptic_integral(degrees):
    angle = np.radians(degrees)
    period = 4 * np.sqrt(0.5 / 9.81) * ellipk(np.sin(angle / 2) ** 2)
    motion = simulate(pendulum(), [angle], [0], [0, period / 4, period / 2, period])
    assert np.abs(motion.q[:, 0] - np.array([1, 0, -1, 1]) * angle).max() < 1e-10 * angle
    if degrees < 1:
        assert period == pytest.approx(2 * np.pi * np.sqrt(0.5 / 9.81), rel=1e-8)


def test_motion_satisfies_the_equations_that_it_was_computed_from():
    robot = random_arm(np.random.default_rng(5), 3)
    motion = simulate(robot, [0.1, 0.2, 0.3], [1, -1, 0.5], np.linspace(0, 1, 7), [1.0, 2.0, -1.0])
    needed = inverse_dynamics(robot, motion.q, motion.dq, motion.ddq)
    assert np.abs(needed - [1.0, 2.0, -1.0]).max() < 1e-9
    assert (motion.tau == [1.0, 2.0, -1.0]).all()


def test_recursion_and_closed_form_give_the_same_motion():
    t = np.linspace(0, 0.5, 6)
    start = [0.3, -0.4], [1.0, 2.0], t
    fast, slow = (simulate(TWO_R, *start, compiled=compiled) for compiled in (True, False))
    assert np.abs(fast.q - slow.q).max() < 1e-11


def test_power_balance_of_a_six_joint_arm_with_friction_and_torque():
    robot = random_arm(np.random.default_rng(8), 4)
    robot = replace(robot, links=[replace(link, motor=Motor(1e-3, 10, 2e-3, 0.05)) for link in robot.links])
    weight = Wrench([0, 0, -3.0], axes="world")
    motion = simulate(robot, np.zeros(4), np.full(4, 0.5), [0, 0.05, 0.1], lambda t, q, dq: -q, loads=[weight])
    assert motion.lost[-1] > 1e-3
    assert np.abs(motion.work).max() > 1e-3
    assert np.abs(motion.imbalance).max() < 1e-11 * np.abs(motion.energy).max()


def test_many_turns_are_no_mistake_for_degrees():
    wheel = replace(pendulum(), gravity=[0, 0, 0])
    motion = simulate(wheel, [0], [100.0], [0, 1, 2])
    assert motion.q[:, 0] == pytest.approx([0, 100, 200])


# ---- Dry friction ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fall", [0.0, 1.0, -1.0])
def test_block_stops_at_the_time_and_place_of_the_formula_and_stays(fall):
    gear = -3.0
    block = slider(mass=2.0, fall=fall, gear=gear, coulomb=(2.0, -1.5))
    dry, speed = 2.0 * abs(gear), 1.2
    braking = dry / 2.0 - fall
    time, way = speed / braking, speed**2 / (2 * braking)
    t = np.linspace(0, 3 * time, 61)
    motion = simulate(block, [0.1], [speed], t)
    (event,) = motion.events
    assert (event.joint, event.kind) == (1, "sticks")
    assert event.t == pytest.approx(time, rel=1e-12)
    assert motion.q[-1, 0] == pytest.approx(0.1 + way, rel=1e-12)
    assert (motion.dq[t > time + 1e-9] == 0.0).all()
    assert (motion.ddq[t > time + 1e-9] == 0.0).all()
    assert motion.lost[-1] == pytest.approx(dry * way, rel=1e-12)
    assert np.abs(motion.imbalance).max() < 1e-13


def test_block_that_cannot_be_held_turns_back_with_the_other_friction():
    block = slider(mass=2.0, fall=-4.0, coulomb=(3.0, -5.0))
    motion = simulate(block, [0], [1.0], [0, 1.0])
    up, down = 4.0 + 1.5, 4.0 - 2.5
    top, rest = 1 / (2 * up), 1.0 - 1 / up
    assert [event.kind for event in motion.events] == ["slides"]
    assert motion.q[-1, 0] == pytest.approx(top - down * rest**2 / 2, rel=1e-11)


def test_block_breaks_away_when_a_growing_force_reaches_the_friction():
    block = slider(mass=1.0, coulomb=2.0)
    motion = simulate(block, [0], [0], [0, 1, 3.0], lambda t, q, dq: [t])
    (event,) = motion.events
    assert event.kind == "slides"
    assert event.t == pytest.approx(2.0, rel=1e-8)
    assert motion.q[-1, 0] == pytest.approx(1 / 6, rel=1e-7)  # x'' = t - 2
    assert motion.q[1, 0] == 0.0


def test_shaken_block_sticks_and_slips_in_a_rhythm():
    block = slider(mass=1.0, coulomb=1.0)
    motion = simulate(block, [0], [0], np.linspace(0, 20, 401), lambda t, q, dq: [1.3 * np.sin(2 * t)])
    kinds = [event.kind for event in motion.events]
    assert kinds == ["slides", "sticks"] * (len(kinds) // 2) + ["slides"] * (len(kinds) % 2)
    assert 12 <= len(kinds) <= 26
    assert np.abs(motion.imbalance).max() < 1e-11


def test_arm_with_dry_friction_comes_to_rest_without_chattering():
    robot = replace(TWO_R, links=[replace(link, motor=Motor(coulomb=2.0)) for link in TWO_R.links])
    motion = simulate(robot, [-0.5, 0.3], [0, 0], np.linspace(0, 30, 301))
    assert (motion.dq[-1] == 0.0).all()
    assert len(motion.events) < 60
    assert np.abs(motion.imbalance).max() < 1e-9
    held = inverse_dynamics(TWO_R, motion.q[-1], [0, 0], [0, 0])
    assert (np.abs(held) <= 2.0).all()


# ---- Joint stops -----------------------------------------------------------------------------------


def test_falling_mass_bounces_as_in_the_textbook_and_comes_to_rest():
    ball, e = slider(mass=0.5, fall=-9.81), 0.6
    motion = simulate(ball, [1.0], [0], np.linspace(0, 3, 301), stops=[[0, np.inf]], restitution=e)
    hits = [event for event in motion.events if event.kind == "hits"]
    first = np.sqrt(2 / 9.81)
    assert hits[0].t == pytest.approx(first, rel=1e-12)
    assert hits[1].t == pytest.approx(first * (1 + 2 * e), rel=1e-11)
    assert hits[0].lost == pytest.approx(0.5 * 9.81 * (1 - e**2), rel=1e-11)
    rests = motion.events[-1]
    assert rests.kind == "rests"
    assert rests.t == pytest.approx(first * (1 + e) / (1 - e), abs=1e-6)  # the sum of all bounces
    assert motion.q[-1, 0] == 0
    assert motion.q.min() > -1e-12
    assert np.abs(motion.imbalance).max() < 1e-10


def test_elastic_stops_take_no_energy_and_plastic_ones_all_of_it():
    puck = slider(mass=1.0)
    elastic = simulate(puck, [0], [1.0], [0, 10.0], stops=[[-1, 1]], restitution=1)
    assert elastic.q[-1, 0] == pytest.approx(0, abs=1e-12)
    assert [event.t for event in elastic.events] == pytest.approx([1, 3, 5, 7, 9])
    plastic = simulate(puck, [0], [1.0], [0, 10.0], stops=[[-1, 1]])
    assert [event.kind for event in plastic.events] == ["hits", "rests"]
    assert plastic.lost[-1] == pytest.approx(0.5)
    assert plastic.q[-1, 0] == 1


def test_joint_leaves_its_stop_when_it_is_pulled_off():
    block = slider(mass=1.0, fall=-10.0)
    motion = simulate(block, [0], [0], [0, 1, 3], lambda t, q, dq: [5 * t], stops=[[0, 5]])
    (event,) = motion.events
    assert event.kind == "leaves"
    assert event.t == pytest.approx(2, rel=1e-8)
    assert motion.q[-1, 0] == pytest.approx(5 / 6, rel=1e-7)


def test_impact_at_one_joint_changes_the_rates_of_all_by_one_impulse():
    motion = simulate(TWO_R, [0, 0], [0, 3.0], np.linspace(0, 0.5, 2001), stops=[[-9, 9], [-1, 0.5]], restitution=0.4)
    hit = motion.events[0]
    assert (hit.joint, hit.kind) == (2, "hits")
    k = int(np.searchsorted(motion.t, hit.t))
    near = motion.t[k - 1], hit.t, motion.t[k]
    before = motion.dq[k - 1] + (near[1] - near[0]) * motion.ddq[k - 1]
    after = motion.dq[k] - (near[2] - near[1]) * motion.ddq[k]
    impulse = mass_matrix(TWO_R, motion.q[k]) @ (after - before)
    assert abs(impulse[0]) < 1e-3 * abs(impulse[1])
    assert after[1] == pytest.approx(-0.4 * before[1], rel=1e-3)
    assert np.abs(motion.imbalance).max() < 1e-9


def test_both_joints_at_stops_hold_a_hanging_arm():
    motion = simulate(TWO_R, [0.5, 0.4], [0, 0], np.linspace(0, 5, 51), stops=[[-0.2, 3], [-0.3, 3]])
    assert motion.q[-1] == pytest.approx([-0.2, -0.3])
    assert (motion.dq[-1] == 0).all()
    assert motion.energy[-1] == pytest.approx(motion.energy[0] - motion.lost[-1])


@pytest.mark.parametrize("seed", [2, 13, 28, 33, 98, 124, 162, 314])
def test_friction_stops_and_impacts_together_keep_the_power_balance(seed):
    """Random arms between stops that are hit often, at several joints, with rebounds that die out."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    robot = TWO_R if n == 2 else random_arm(rng, n)
    dry = [(rng.uniform(0, 4), -rng.uniform(0, 4)) for _ in robot.links]
    drives = [Motor(rng.uniform(0, 0.1), -2, rng.uniform(0, 0.2), coulomb) for coulomb in dry]
    robot = replace(robot, links=[replace(link, motor=m) for link, m in zip(robot.links, drives, strict=True)])
    stops, start, rates = np.tile([-0.6, 0.6], (n, 1)), rng.uniform(-0.5, 0.5, n), rng.uniform(-2, 2, n)
    push, bounce = rng.uniform(0, 8, n), float(rng.choice([0, 0.3, 0.7]))
    motion = simulate(
        robot,
        start,
        rates,
        np.linspace(0, 1.5, 101),
        lambda t, q, dq: push * np.sin(3 * t),
        stops=stops,
        restitution=bounce,
    )
    assert np.abs(motion.q).max() < 0.6 + 1e-9
    assert np.abs(motion.imbalance).max() < 1e-6 * max(1.0, motion.kinetic.max(), np.abs(motion.work).max())
    assert motion.events


# ---- Wanted motions and the controller -------------------------------------------------------------


def test_quintic_rests_at_both_ends_and_its_rates_are_derivatives():
    t = np.linspace(-1, 3, 4001)
    q, dq, ddq = quintic([0, 1], [1, -1], 2, t)
    assert np.abs(np.gradient(q, t, axis=0) - dq)[1:-1].max() < 1e-5
    assert np.abs(np.gradient(dq, t, axis=0) - ddq)[1:-1].max() < 1e-2
    assert (q[t <= 0] == [0, 1]).all()
    assert np.abs(q[t >= 2] - [1, -1]).max() < 1e-15
    assert (dq[(t <= 0) | (t >= 2)] == 0).all()
    batch = quintic(np.zeros((5, 3, 2)), np.ones(2), 2.0, t)
    assert [each.shape for each in batch] == [(5, 3, 4001, 2)] * 3
    assert (quintic([0], [1], 2, 0.7)[0] == quintic([0], [1], 2, [0.7])[0][0]).all()


def path(t):
    return quintic([0.2, 0.3], [1.2, -0.9], 1.5, t)


def test_exact_model_tracks_exactly_also_with_friction():
    drives = [replace(link, motor=Motor(2e-3, 10, 1e-3, 0.1)) for link in TWO_R.links]
    for robot in (TWO_R, replace(TWO_R, links=drives)):
        t = np.linspace(0, 1.5, 16)
        motion = simulate(robot, [0.2, 0.3], [0, 0], t, computed_torque(robot, path, kp=100, kd=20))
        assert np.abs(motion.q - path(t)[0]).max() < 1e-7


def test_error_decays_as_the_gains_say_whatever_the_arm():
    t, offset = np.linspace(0, 1, 11), np.array([0.1, -0.2])
    motion = simulate(TWO_R, path(0)[0] + offset, [0, 0], t, computed_torque(TWO_R, path, kp=25, kd=10))
    expected = offset * ((1 + 5 * t) * np.exp(-5 * t))[:, None]
    assert np.abs(motion.q - path(t)[0] - expected).max() < 1e-10


def test_unknown_payload_leaves_an_error_that_gains_make_smaller():
    t = np.linspace(0, 3, 61)
    errors = []
    for kp in (100, 400):
        control = computed_torque(TWO_R, path, kp=kp, kd=2 * np.sqrt(kp))
        motion = simulate(TWO_R.with_payload(1), [0.2, 0.3], [0, 0], t, control)
        last = path(3)[0] - motion.q[-1]
        # at rest: M kp e = what the load weighs
        load = inverse_dynamics(TWO_R.with_payload(1), motion.q[-1], [0, 0], [0, 0])
        load = load - inverse_dynamics(TWO_R, motion.q[-1], [0, 0], [0, 0])
        assert mass_matrix(TWO_R, motion.q[-1]) @ last * kp == pytest.approx(load, rel=1e-3)
        errors.append(np.abs(last).max())
    assert errors[0] == pytest.approx(4 * errors[1], rel=0.1)


def test_torque_of_the_controller_is_recorded():
    control = computed_torque(TWO_R, path, kp=100, kd=20)
    motion = simulate(TWO_R, [0.2, 0.3], [0, 0], [0, 0.5, 1], control)
    assert motion.tau == pytest.approx(inverse_dynamics(TWO_R, *path(motion.t)), rel=1e-6)
    assert np.abs(motion.imbalance).max() < 1e-9


# ---- Bad input, and motions that cannot go on ------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": [1.0, 1.0]}, "a time span of length zero"),
        ({"t": [1.0, 0.0]}, "time would run backwards"),
        ({"t": 5.0}, "at least two times"),
        ({"t": [0.0]}, "at least two times"),
        ({"t": [0.0, np.nan]}, "t holds nan"),
        ({"q0": [0, 0, 0]}, "q0 has 3 entries"),
        ({"q0": [[0, 0]]}, "one start"),
        ({"dq0": [0, np.inf]}, "dq0"),
        ({"torque": [1.0]}, r"torque has the shape \(1,\)"),
        ({"torque": [1.0, np.nan]}, "torque holds nan"),
        ({"torque": np.zeros((3, 2))}, "or a function torque"),
        ({"stops": [[0, 1]]}, r"stops has the shape \(1, 2\)"),
        ({"stops": [[0, 1], [1, 0]]}, "the stops of joint 2 are 1 and 0"),
        ({"stops": [[1, 2], [0, 1]]}, "joint 1 starts at 0, beyond its stops 1 and 2"),
        ({"restitution": 1.5}, "restitution is 1.5"),
        ({"restitution": [0.1, 0.2, 0.3]}, "restitution"),
        ({"system": robots.planar_2r()}, "symbols L1, L2, g, m1, m2"),
        (
            {"system": replace(TWO_R, links=[replace(TWO_R.links[0], body=None), TWO_R.links[1]])},
            "link 1 .* no mass data",
        ),
    ],
)
def test_bad_input_is_refused_with_a_reason(change, message):
    given = {"system": TWO_R, "q0": [0, 0], "dq0": [0, 0], "t": [0, 1]} | change
    with pytest.raises(ValueError, match=message):
        simulate(**given)


def test_other_bad_input():
    with pytest.raises(ValueError, match="motor coulomb"):
        Motor(coulomb=-1)
    with pytest.raises(ValueError, match="motor viscous is -1"):
        Motor(viscous=-1)
    with pytest.raises(ValueError, match="duration is 0"):
        quintic([0], [1], 0, 0.5)
    with pytest.raises(ValueError, match="kp is -1"):
        computed_torque(TWO_R, path, kp=-1)
    with pytest.raises(ValueError, match="tau has 3 entries; "):
        forward_dynamics(TWO_R, [0, 0], [0, 0], [0, 0, 0])
    with pytest.raises(ValueError, match="do not fit together"):
        forward_dynamics(TWO_R, np.zeros((3, 2)), [0, 0], np.zeros((4, 2)))


def test_torque_of_a_wrong_shape_or_value_is_told_with_time_and_state():
    with pytest.raises(SimulationError, match=r"at t = 0 s, q = \[0.0, 0.0\].*has the shape \(3,\); expected \(2,\)"):
        simulate(TWO_R, [0, 0], [0, 0], [0, 1], lambda t, q, dq: [0, 0, 0])
    with pytest.raises(SimulationError, match=r"at t = 0\.[5-9].*holds nan") as caught:
        simulate(TWO_R, [0, 0], [0, 0], [0, 1], lambda t, q, dq: [np.nan if t > 0.5 else 0, 0])
    assert caught.value.t > 0.5
    assert caught.value.q.shape == caught.value.dq.shape == (2,)


def test_motion_that_grows_beyond_all_bounds_is_told_with_its_time():
    with pytest.raises(SimulationError, match=re.escape("cannot go on at t = 1")) as caught:
        simulate(slider(mass=1.0), [1.0], [1.0], [0, 5.0], lambda t, q, dq: 2 * q**3)  # q = 1 / (1 - t)
    assert caught.value.t == pytest.approx(1.0, abs=1e-3)


def test_mass_matrix_that_becomes_singular_on_the_way_is_told_with_time_state_and_link():
    impossible = Body(0, inertia=[0, 0, -0.01], allow_impossible=True)
    robot = robots.rp(I1=1, m1=0, m2=1, g=0)
    robot = replace(robot, links=[replace(robot.links[0], body=impossible), robot.links[1]])
    with pytest.raises(SimulationError, match=r"at t = 0\.[89].*singular.*joint 1 .* link 1 has no inertia") as caught:
        simulate(robot, [0, 0.5], [0, -0.5], [0, 2.0], max_step=0.05)  # M = d² - 0.01: zero at t = 0.8
    assert caught.value.t == pytest.approx(0.8, abs=0.06)


def test_progress_is_told_about_a_hundred_times_and_nothing_is_printed(capsys):
    told = []
    simulate(TWO_R, [0, 0], [0, 0], [0, 5], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert 50 <= len(told) <= 101
    assert capsys.readouterr() == ("", "")


# ---- Light joints with damping ---------------------------------------------------------------------


def counted(function):
    """Return a function of torques and the list of times at which it was asked."""
    asked = []

    def torque(t, q, dq):
        asked.append(t)
        return function(t, q, dq)

    return torque, asked


def wrist(inertia, viscous=0.5):
    """Return one light turning joint with damping; its axis stands upright."""
    link = Link("revolute", np.eye(4), Body(0, inertia=inertia * np.eye(3)), Motor(viscous=viscous))
    return Robot([link], gravity=[0, 0, 0], name="wrist")


def wrist_under_sine(inertia, viscous, rate, t, push=0.1, omega=6.0):
    """Return angle and rate of the wrist from angle 0 under push sin(omega t), by the formula."""
    decay = viscous / inertia
    swing = push / inertia / (decay**2 + omega**2)
    start = rate + swing * omega
    fading = np.exp(-decay * t)
    dq = swing * (decay * np.sin(omega * t) - omega * np.cos(omega * t)) + start * fading
    q = swing * (decay / omega * (1 - np.cos(omega * t)) - np.sin(omega * t)) + start / decay * (1 - fading)
    return q, dq


@pytest.mark.parametrize("inertia", [0.00095, 1e-5, 1e-7])
def test_a_light_damped_wrist_follows_its_formula_in_few_evaluations(inertia):
    torque, asked = counted(lambda t, q, dq: [0.1 * np.sin(6 * t)])
    t = np.linspace(0, 1, 201)
    motion = simulate(wrist(inertia), [0], [3.0], t, torque)
    q, dq = wrist_under_sine(inertia, 0.5, 3.0, t)
    assert (motion.method, motion.rtol, motion.atol) == ("Radau", 1e-8, 1e-8)
    assert len(asked) < 4000  # the explicit method needs 20 000, 2 and 200 millions
    assert np.abs(motion.q[:, 0] - q).max() < 2e-8
    assert np.abs(motion.dq[:, 0] - dq).max() < 3e-7
    kinetic = inertia / 2 * 9.0
    assert np.abs(motion.imbalance).max() < 1e-7 * max(kinetic, motion.lost[-1])
    assert motion.lost[-1] > 0.01


@pytest.mark.parametrize(("viscous", "span", "method"), [
    (0.0, 1.0, "DOP853"), (49.0, 1.0, "DOP853"), (51.0, 1.0, "Radau"), (51.0, 9.0, "Radau"),
    (49.0, 9.0, "DOP853"), (51.0, 0.5, "DOP853"), (1000.0, 0.04, "DOP853"), (1000.0, 0.06, "Radau"),
])  # fmt: skip
def test_the_method_is_chosen_by_the_friction_and_said(viscous, span, method):
    motion = simulate(wrist(1.0, viscous), [0], [1.0], [0, span])
    tolerance = 1e-13 if method == "DOP853" else 1e-8
    assert (motion.method, motion.rtol, motion.atol) == (method, tolerance, tolerance)
    if viscous:
        assert motion.dq[-1, 0] == pytest.approx(np.exp(-viscous * span), abs=1e-8)
    else:
        assert motion.dq[-1, 0] == 1.0


def test_method_and_tolerances_can_be_asked_for():
    arm = wrist(1.0, 100.0)
    motion = simulate(arm, [0], [1.0], [0, 1], method="DOP853", rtol=1e-9)
    assert (motion.method, motion.rtol, motion.atol) == ("DOP853", 1e-9, 1e-13)
    motion = simulate(arm, [0], [1.0], [0, 1], atol=1e-7)
    assert (motion.method, motion.rtol, motion.atol) == ("Radau", 1e-8, 1e-7)
    fine = simulate(TWO_R, [0, 0], [0, 0], [0, 1])
    implicit = simulate(TWO_R, [0, 0], [0, 0], [0, 1], method="Radau")
    assert 0 < np.abs(implicit.q - fine.q).max() < 1e-6


def test_gear_and_coupling_count_where_the_method_is_chosen():
    """The decay is that of M^-1 B: seen through the gear, and of the lightest motion, not of one joint alone."""
    geared = replace(wrist(1.0), links=[replace(wrist(1.0).links[0], motor=Motor(viscous=0.51, gear=10))])
    assert simulate(geared, [0], [0], [0, 1]).method == "Radau"
    heavy, light = TWO_R.links[0], replace(TWO_R.links[1], motor=Motor(viscous=20.0))
    chain = replace(TWO_R, links=[heavy, light])
    M = mass_matrix(chain, [0, 0])
    assert 20 / M[1, 1] < 50 < 20 * np.linalg.inv(M)[1, 1]
    assert simulate(chain, [0, 0], [0, 0], [0, 1]).method == "Radau"


def test_plan_of_a_damped_seven_joint_arm_is_played_back():
    """Torques of inverse dynamics, with a damping of 2 N m s on each joint, bring the arm to the end of the plan."""
    arm = robots.load("panda")
    arm = replace(arm, links=[replace(link, motor=Motor(viscous=2.0)) for link in arm.links])
    start, end = np.zeros(7), np.array([0.1, 0.15, -0.1, -0.2, 0.05, 0.1, 0.2])
    equations = equations_of(arm)  # faster than inverse_dynamics, with which the torques are compared below

    def planned(t, q, dq):
        q, dq, ddq = quintic(start, end, 0.2, t)
        M, h = equations(q.tolist(), dq.tolist())
        return np.array(M) @ ddq + h + 2.0 * dq

    torque, asked = counted(planned)
    t = np.linspace(0, 0.2, 5)
    motion = simulate(arm, start, start, t, torque)
    q, dq, ddq = quintic(start, end, 0.2, t)
    assert motion.method == "Radau"
    assert len(asked) < 1500
    assert np.abs(motion.q - q).max() < 1e-8
    assert np.abs(motion.dq - dq).max() < 1e-7
    assert np.abs(motion.ddq - ddq).max() < 1e-5
    assert motion.tau == pytest.approx(inverse_dynamics(arm, q, dq, ddq), abs=1e-9)
    assert np.abs(motion.imbalance).max() < 1e-6


def test_stiff_arm_is_that_of_the_explicit_method():
    drives = [Motor(viscous=v) for v in (3.0, 20.0)]
    arm = replace(TWO_R, links=[replace(link, motor=m) for link, m in zip(TWO_R.links, drives, strict=True)])
    t = np.linspace(0, 2, 21)
    explicit = simulate(arm, [0, 0], [1.0, -2.0], t, method="DOP853")
    motion = simulate(arm, [0, 0], [1.0, -2.0], t)
    assert motion.method == "Radau"
    for name in ("q", "dq", "ddq", "work", "lost", "energy"):
        assert np.abs(getattr(motion, name) - getattr(explicit, name)).max() < 2e-6, name


def test_events_are_found_by_the_implicit_method_too():
    """A light damped joint breaks away from dry friction, hits a stop, rests there and comes off again."""
    link = Link("revolute", np.eye(4), Body(0, inertia=0.001 * np.eye(3)), Motor(viscous=0.5, coulomb=0.2))
    arm = Robot([link], gravity=[0, 0, 0])
    t = np.linspace(0, 4, 401)
    motion = simulate(arm, [0], [0], t, lambda t, q, dq: [np.sin(np.pi / 2 * t)], stops=[[None, 0.5]])
    assert motion.method == "Radau"
    assert [event.kind for event in motion.events] == ["slides", "hits", "rests", "leaves", "sticks"]
    away, hit, rests, leaves, sticks = (event.t for event in motion.events)
    slow = 2 / np.pi * np.arcsin(0.2)
    assert away == pytest.approx(slow, abs=1e-6)
    assert hit == rests
    assert leaves == pytest.approx(2 + slow, abs=1e-6)
    assert sticks == pytest.approx(4 - slow, abs=0.01)
    assert motion.q.max() <= 0.5 + 1e-9
    assert (motion.q[(t > rests + 1e-6) & (t < leaves - 1e-6)] == 0.5).all()
    assert (motion.dq[t > sticks + 1e-6] == 0).all()
    assert np.abs(motion.imbalance).max() < 1e-7


# ---- Equations of arms with many joints ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*break the triangle rule")
@pytest.mark.parametrize("name", robots.names())
def test_every_arm_of_the_catalogue_can_be_compiled(name):
    robot = robots.load(name)
    if robot.symbols:
        robot = robot.subs({symbol: 0.5 + 0.1 * k for k, symbol in enumerate(robot.symbols)})
    compiled, expected = equations_of(robot, compiled=True), equations_of(robot, compiled=False)
    for q, dq in np.random.default_rng(7).uniform(-3, 3, (3, 2, robot.n)):
        for one, other in zip(compiled(q.tolist(), dq.tolist()), expected(q.tolist(), dq.tolist()), strict=True):
            assert np.abs(np.array(one) - other).max() <= 1e-12 * np.abs(other).max()


def test_an_arm_of_five_joints_in_general_position_can_be_compiled():
    robot = random_arm(np.random.default_rng(1), 5)
    q, dq = np.random.default_rng(2).uniform(-3, 3, (2, 5)).tolist()
    pairs = zip(
        equations_of(robot, compiled=True)(q, dq),
        equations_of(robot, compiled=False)(q, dq),
        strict=True,
    )
    for one, other in pairs:
        assert np.abs(np.array(one) - other).max() < 1e-11 * np.abs(other).max()


def test_formulas_are_cut_so_that_the_compiler_can_read_them():
    x, y = sympy.symbols("x y")
    long = sympy.Add(*(sympy.sin(k * x) for k in range(1, 4000)))
    deep = y
    for _ in range(400):
        deep = sympy.sin(deep + 1, evaluate=False)
    lines, found = in_pieces([long, deep, long + deep])
    evaluate = sympy.lambdify([x, y], found, "math", cse=lambda _: (lines, found))
    values = evaluate(0.5, 0.25)
    expected = 0.25
    for _ in range(400):
        expected = np.sin(expected + 1)
    total = np.sin(0.5 * np.arange(1, 4000)).sum()
    assert values == pytest.approx([total, expected, total + expected])
    assert len({name for name, _ in lines}) == len(lines)


# ---- Runs that take long, are stopped, or get nowhere ----------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """Let every look at the clock be one second later than the last."""
    seconds = iter(range(10**9))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds))


def test_a_long_run_tells_how_far_it_is(clock, capsys):
    simulate(TWO_R, [0, 0], [0, 0], [0, 1])
    out, lines = capsys.readouterr()
    assert out == ""
    first, *others = lines.splitlines()
    assert re.fullmatch(
        r"simulation: \d+\.\d% done after 3 s, about \d+ (s|min) left; "
        r"Ctrl-C stops it and tells where the motion so far is kept",
        first,
    )
    assert 1 <= len(others) <= 5  # each after twice the time
    shares = [float(re.search(r"([\d.]+)%", line)[1]) for line in lines.splitlines()]
    assert shares == sorted(shares)


def test_in_a_terminal_one_line_is_shown_and_taken_away(clock, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    simulate(TWO_R, [0, 0], [0, 0], [0, 1])
    text = capsys.readouterr().err
    assert "\n" not in text
    assert text.count("% done") > 10
    *_, blank, nothing = text.split("\r")
    assert blank.isspace()
    assert nothing == ""


def test_a_short_run_and_one_with_a_function_for_progress_show_nothing(clock, capsys, monkeypatch):
    simulate(TWO_R, [0, 0], [0, 0], [0, 1], progress=lambda share: None)
    monkeypatch.setattr(progress.time, "monotonic", lambda: 0.0)
    simulate(TWO_R, [0, 0], [0, 0], [0, 1])
    assert capsys.readouterr() == ("", "")


def test_in_a_notebook_a_run_is_silent_for_a_minute(clock, capsys, monkeypatch):
    monkeypatch.setattr(type(sys.stderr), "__module__", "ipykernel.iostream")
    simulate(TWO_R, [0, 0], [0, 0], [0, 0.5])
    assert capsys.readouterr() == ("", "")
    simulate(TWO_R, [0, 0], [0, 0], [0, 3])
    assert "done after 60 s" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["DOP853", "Radau"])
def test_an_interrupted_run_keeps_the_motion_up_to_there(method):
    def torque(t, q, dq):
        if t > 0.55:
            raise KeyboardInterrupt
        return [0.0, 0.0]

    t = np.linspace(0, 1, 11)
    whole = simulate(TWO_R, [0, 0], [0, 0], t, method=method)
    with pytest.raises(KeyboardInterrupt, match=r"stopped by you at t = 0\.[45]\d+ s of the motion") as stopped:
        simulate(TWO_R, [0, 0], [0, 0], t, torque, method=method)
    assert isinstance(stopped.value, SimulationInterrupted)
    assert not isinstance(stopped.value, Exception)  # a loop that goes on after errors ends, too
    motion = stopped.value.motion
    rows = len(motion.t) - 1
    assert 4 <= rows <= 6
    assert (motion.t[:rows] == t[:rows]).all()
    assert motion.t[-1] == stopped.value.t > motion.t[rows - 1]
    assert np.abs(motion.q[:rows] - whole.q[:rows]).max() < 1e-7
    assert np.abs(motion.imbalance).max() < 1e-6
    assert motion.method == method


def test_every_error_carries_the_motion_so_far():
    t = np.linspace(0, 1, 11)
    whole = simulate(TWO_R, [0, 0], [0, 0], t, [1.0, 0.0])
    with pytest.raises(SimulationError) as error:
        simulate(TWO_R, [0, 0], [0, 0], t, lambda t, q, dq: [1.0, 0.0] if t < 0.75 else [np.nan, 0.0])
    motion = error.value.motion
    assert len(motion.t) == 9
    assert 0.7 < motion.t[-1] <= error.value.t
    for name in ("q", "dq", "ddq", "tau", "kinetic", "potential", "work", "lost"):
        assert np.abs(getattr(motion, name)[:8] - getattr(whole, name)[:8]).max() < 1e-9, name
    with pytest.raises(SimulationError) as error:
        simulate(TWO_R, [0, 0], [0, 0], t, lambda t, q, dq: [np.nan, 0.0])
    empty = error.value.motion
    assert empty.q.shape == empty.tau.shape == (0, 2)
    assert empty.kinetic.shape == empty.lost.shape == empty.imbalance.shape == (0,)


def test_events_before_an_error_are_kept():
    with pytest.raises(SimulationError) as error:
        simulate(slider(), [0], [1.0], [0, 4], lambda t, q, dq: [0.0] if t < 3 else [], stops=[[-1, 1]],
                          restitution=1)  # fmt: skip
    assert [event.kind for event in error.value.motion.events] == ["hits"]
    assert error.value.motion.dq[-1, 0] == -1.0


GET_NOWHERE = {
    "noise": (TWO_R, [0, 0], [0, 0], {"torque": lambda t, q, dq: np.random.default_rng(int(t * 1e18)).normal(size=2)}),
    "sign": (slider(), [0], [1.0], {"torque": lambda t, q, dq: -3 * np.sign(dq)}),
    "rates of 1e10": (TWO_R, [0, 0], [1e10, 0], {}),
    "stops a nanometre apart": (slider(), [0], [1.0], {"stops": [[0, 1e-9]], "restitution": 1}),
    "growth": (slider(mass=1.0), [1.0], [1.0], {"torque": lambda t, q, dq: 2 * q**3}),
    "growth, damped": (slider(mass=1.0, viscous=60.0), [9.0], [1.0], {"torque": lambda t, q, dq: 2 * q**3}),
}


@pytest.mark.parametrize("name", GET_NOWHERE)
def test_a_run_that_gets_nowhere_ends_in_words_after_few_steps(name):
    robot, q, dq, options = GET_NOWHERE[name]
    torque, asked = counted(options.get("torque", lambda t, q, dq: np.zeros(robot.n)))
    with pytest.raises(SimulationError, match="time hardly goes on|no step is short enough") as error:
        simulate(robot, q, dq, [0, 2.0], **(options | {"torque": torque}))
    assert "The cause may be a torque that jumps" in str(error.value)
    assert len(asked) < 60_000
    assert len(error.value.motion.t) == 2
    assert 0 < error.value.motion.t[-1] <= error.value.t


def test_stops_a_nanometre_apart_hold_a_joint_that_does_not_rebound():
    motion = simulate(slider(), [0], [1.0], [0, 1], stops=[[0, 1e-9]], restitution=0.5)
    assert motion.dq[-1, 0] == 0
    assert 0 <= motion.q[-1, 0] <= 1e-9


@pytest.mark.parametrize("rate", [1e101, 1e160, 1e308])
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("viscous", [0.0, 200.0])
@pytest.mark.filterwarnings("error")
def test_numbers_that_overflow_end_in_words(rate, compiled, viscous):
    arm = replace(TWO_R, links=[replace(link, motor=Motor(viscous=viscous)) for link in TWO_R.links])
    with pytest.raises(SimulationError, match="beyond all bounds, above 1e.100") as error:
        simulate(arm, [0, 0.3], [rate, 0], [0, 1], compiled=compiled)
    assert len(error.value.motion.t) == 0
    with pytest.raises(SimulationError, match="beyond all bounds") as error:
        simulate(slider(mass=1e-9), [0], [0], [0, 1, 2], lambda t, q, dq: [1e95 * (t > 0.5)])
    assert len(error.value.motion.t) >= 1


def test_warnings_of_the_torque_are_not_hidden():
    def torque(t, q, dq):
        return np.array([np.inf]) * 0 if t > 0.5 else [0.0]

    with pytest.warns(RuntimeWarning, match="invalid value"), pytest.raises(SimulationError, match="holds nan"):
        simulate(slider(), [0], [0], [0, 1], torque)


# ---- What is given is read carefully ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["1.5", "2"], "holds '1.5' (str)"),
        ("12", "holds '12' (str)"),
        ([True, False], "holds True (bool)"),
        ([1 + 0j, 2], "holds (1+0j) (complex)"),
        (np.array([1 + 0j, 2]), "(complex"),
        ([None, 1.0], "holds None (NoneType)"),
        (np.array([1, 2], dtype="datetime64[D]"), "holds times (datetime64[D])"),
        (np.array([1, 2], dtype="datetime64[ns]"), "holds times (datetime64[ns])"),
        (np.array([1, 2], dtype="timedelta64[s]"), "holds times (timedelta64[s])"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "has masked entries, [1.0 --]"),
        ([np.nan, 1.0], "holds nan"),
        ([1.0, np.inf], "holds inf"),
        ([1.0, 2.0, 3.0], "has the shape (3,); expected (2,)"),
        ([[1.0, 2.0]], "has the shape (1, 2); expected (2,)"),
        (3.0, "has the shape (); expected (2,)"),
        ([[1.0], [2.0, 3.0]], "holds"),
        ([sympy.Symbol("a"), 1], "with symbols"),
        ({1.0, 2.0}, "(set)"),
    ],
)
def test_torques_are_read_as_carefully_as_positions(given, message):
    with pytest.raises((TypeError, ValueError), match=r"^torque\b.*" + re.escape(message)):
        simulate(TWO_R, [0, 0], [0, 0], [0, 1], given)
    expected = r"at t = 0\.[5-9]\d* s, q = .*: torque\(t, q, dq\) .*" + re.escape(message)
    with pytest.raises(SimulationError, match=expected) as error:
        simulate(TWO_R, [0, 0], [0, 0], [0, 1], lambda t, q, dq: given if t > 0.5 else [0, 0])
    assert len(error.value.motion.t) >= 1


def test_a_torque_function_without_return_is_recognised():
    with pytest.raises(SimulationError, match=r"gave None; does the function return its torques\?"):
        simulate(TWO_R, [0, 0], [0, 0], [0, 1], lambda t, q, dq: None)


def test_exact_numbers_are_torques():
    motion = simulate(TWO_R, [0, 0], [0, 0], [0, 0.1], lambda t, q, dq: [sympy.Rational(1, 2), 2])
    assert (motion.tau == [0.5, 2.0]).all()


@pytest.mark.parametrize("stops", [
    [None, [-1, 0.5]], [(None, None), (-1, 0.5)], [[-np.inf, np.inf], [-1.0, 0.5]],
    np.array([[-np.inf, np.inf], [-1.0, 0.5]]), np.array([[None, None], [-1, 0.5]]), (None, (-1, sympy.Rational(1, 2))),
])  # fmt: skip
def test_none_is_no_stop(stops):
    options = {"stops": stops, "restitution": 0.4}
    motion = simulate(TWO_R, [0, 0], [0, 3.0], [0, 0.5], **options)
    expected = simulate(TWO_R, [0, 0], [0, 3.0], [0, 0.5], **(options | {"stops": [[-9, 9], [-1, 0.5]]}))
    assert [(event.kind, event.joint) for event in motion.events][:1] == [("hits", 2)]
    assert motion.events == expected.events
    assert (motion.q == expected.q).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": "01"}, "t holds '01' (str)"),
        ({"t": [False, True]}, "t holds False (bool)"),
        ({"t": ["0", "1"]}, "t holds '0' (str)"),
        ({"t": [0, 1j]}, "t holds 1j (complex)"),
        ({"t": None}, "t holds None"),
        ({"stops": "ab"}, "stops is 'ab'; expected (2, 2)"),
        ({"stops": 3.0}, "stops is 3.0; expected (2, 2)"),
        ({"stops": [None]}, "stops has the shape (1,); expected (2, 2)"),
        ({"stops": [None, 3.0]}, "the stops of joint 2 are 3.0; expected the lowest and the highest value, or None"),
        ({"stops": [None, "ab"]}, "the stops of joint 2 are 'ab'"),
        ({"stops": [[0, 1, 2], None]}, "the stops of joint 1 are [0, 1, 2]"),
        ({"stops": [["a", "b"], None]}, "a stop of joint 1 holds 'a' (str)"),
        ({"stops": [[True, 2], None]}, "a stop of joint 1 holds True (bool)"),
        ({"stops": [[np.nan, 2], None]}, "a stop of joint 1 holds nan"),
        ({"stops": [[-1, 1j], None]}, "a stop of joint 1 holds 1j (complex)"),
        ({"restitution": "high"}, "restitution holds 'high' (str)"),
        ({"restitution": True}, "restitution holds True (bool)"),
        ({"restitution": None}, "restitution holds None"),
        ({"restitution": np.nan}, "restitution holds nan"),
        ({"rtol": "small"}, "rtol holds 'small' (str)"),
        ({"rtol": -1e-9}, "rtol is -1e-09; expected more than 0"),
        ({"atol": 0}, "atol is 0; expected more than 0"),
        ({"atol": [1e-9, 1e-9]}, "atol has the shape (2,); expected one number"),
        ({"max_step": 0}, "max_step is 0; expected more than 0"),
        ({"max_step": None}, "max_step holds None"),
        ({"method": "RK45"}, "method is 'RK45'; expected 'DOP853' or 'Radau', or None"),
        ({"method": 5}, "method is 5; expected"),
        ({"progress": 3}, "progress is 3; expected a function of the share done"),
        ({"compiled": "yes"}, "compiled is 'yes'; expected True, False or None"),
    ],
)
def test_options_of_a_wrong_kind_are_refused_in_words(change, message):
    given = {"system": TWO_R, "q0": [0, 0], "dq0": [0, 0], "t": [0, 1]} | change
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        simulate(**given)


# ---- The benchmark ---------------------------------------------------------------------------------


def test_benchmark_runs_and_the_error_of_dynlib_is_small(capsys):
    benchmark.main(["--seconds", "1", "--rounds", "1"])
    head, rule, *rows = capsys.readouterr().out.splitlines()
    text = (Path(benchmark.__file__).parent / "README.md").read_text(encoding="utf-8")
    assert f"{head}\n{rule}\n" in text
    assert [row.split(" | ")[0] for row in rows[:3]] == ["| dynlib", "| SciPy's defaults", "| Pinocchio in DOP853"]
    assert float(rows[0].split(" | ")[1]) < 1e-11


def test_benchmark_stops_if_a_motion_differs(monkeypatch):
    monkeypatch.setattr(benchmark, "by_defaults", lambda robot, t: (np.ones((len(t), 2)), np.ones((len(t), 2))))
    with pytest.raises(AssertionError, match="SciPy's defaults: the motion differs"):
        benchmark.compare(1.0, 1)


# ---- What is printed -------------------------------------------------------------------------------


def test_a_printed_motion_is_one_short_line():
    arm = slider(coulomb=1.0)
    motion = simulate(arm, [0], [1], np.linspace(0, 2, 201))
    assert repr(motion) == "motion over 2 s at 201 times: 1 joint, DOP853, lost 1 J, 1 event"
    still = simulate(TWO_R, [0, 0], [0, 0], [0, 0.5])
    assert repr(still) == "motion over 0.5 s at 2 times: 2 joints, DOP853, lost 0 J, 0 events"


def test_a_motion_without_a_row_is_printed():
    with pytest.raises(SimulationError) as error:
        simulate(TWO_R, [0, 0], [0, 0], [0, 1], lambda t, q, dq: [np.nan, 0])
    assert repr(error.value.motion) == "motion without any state"


PROMPT = """
from dynlib import motion, robots
def torque(t, q, dq):
    raise KeyboardInterrupt

arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
motion.simulate(arm, [0, 0], [0, 0], [0, 1], lambda t, q, dq: [0, 0] if t < 0.5 else torque(t, q, dq))
import sys
print("kept:", sys.last_value.motion)
"""


def test_at_the_prompt_an_interrupted_motion_is_where_the_message_says():
    done = subprocess.run([sys.executable, "-q", "-i", "-"], input=PROMPT, capture_output=True, text=True, timeout=120)
    assert "take sys.last_value.motion" in done.stderr
    assert "kept: motion over" in done.stdout


def test_in_a_notebook_an_interrupted_motion_is_where_the_message_says():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_cell(PROMPT.partition("import sys")[0])
    assert repr(sys.last_value.motion).startswith("motion over")


# ---- Impacts that do not reach a joint -------------------------------------------------------------


@pytest.mark.parametrize("turn", [2 * np.pi / 3, -2 * np.pi / 3, 4 * np.pi / 3, np.deg2rad(120), np.deg2rad(-240)])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_joint_that_an_impact_does_not_reach_stays_stuck(turn, restitution):
    """At 120 degrees the point mass of a link half as long as the first one is decoupled: M12 is rounding."""
    arm = robots.planar_2r(L1=1, L2=0.5, m1=1, m2=1, g=0)
    arm = replace(arm, links=[arm.links[0], replace(arm.links[1], motor=Motor(coulomb=5.0))])
    times = np.linspace(0, 1, 11)
    motion = simulate(arm, [0, turn], [1, 0], times, stops=[(-0.5, 0.5), None], restitution=restitution)
    assert {event.joint for event in motion.events} == {1}
    assert (motion.dq[:, 1] == 0).all()


@pytest.mark.parametrize(
    ("torque", "taken"),
    [
        (lambda: [0, 0], "()"),
        (lambda t: [0, 0], "(t)"),
        (lambda t, q: [0, 0], "(t, q)"),
        (lambda t, q, dq, ddq: [0, 0], "(t, q, dq, ddq)"),
    ],
)
def test_a_torque_of_other_arguments_is_refused_before_anything_is_computed(torque, taken):
    said = re.escape(f"torque is a function of {taken}; expected one of (t, q, dq).")
    with pytest.raises(TypeError, match=said):
        simulate(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10), [0, 0], [0, 0], [0, 1], torque)
    bars = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1.5, masses=[1, 1, 1])
    with pytest.raises(TypeError, match=said):
        simulate(bars, bars.positions([0.5], [1]), [0], [0, 1], torque)


def test_a_wanted_motion_of_other_arguments_is_refused():
    arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    with pytest.raises(TypeError, match=r"wanted is a function of \(t, q\); expected one of \(t\)"):
        computed_torque(arm, lambda t, q: (0, 0, 0))


def test_torques_that_take_more_than_they_must_are_taken():
    arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    for torque in (
        lambda *state: [30, 10],
        lambda t, q, dq, gain=1: [30, 10],
        partial(lambda a, t, q, dq: a, [30, 10]),
    ):
        assert simulate(arm, [0, 0], [0, 0], [0, 0.1], torque).q[-1] == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize("rates", [[0, -3], [1, 5]])
def test_a_motion_into_a_position_without_inertia_ends_with_that_cause(rates):
    arm = robots.planar_2r(L1=1, L2=1, m1=0, m2=1, g=9.81)  # stretched, mass 2 stands still while both joints turn
    with pytest.raises(SimulationError, match=r"something can move here with hardly any inertia") as caught:
        simulate(arm, [0, 0.5], rates, np.linspace(0, 3, 31))
    assert abs(np.sin(caught.value.q[1])) < 1e-2
    assert "Give the links masses" in str(caught.value)
    assert "noise" not in str(caught.value)
    assert len(caught.value.motion.t)


@pytest.mark.parametrize("rate", [3.0, -3.0])
def test_a_closed_motion_into_a_dead_centre_without_inertia_ends_with_that_cause(rate):
    engine = linkages.slider_crank(crank=0.3, rod=0.8, masses=[0, 0, 1], gravity=[0, -9.81, 0])
    with pytest.raises(SimulationError, match="hardly any inertia .a massless crank at a dead centre") as caught:
        simulate(engine, engine.positions([0.5], [1]), [rate], np.linspace(0, 3, 31))
    assert abs(np.sin(caught.value.q[0])) < 1e-4
    assert "noise" not in str(caught.value)


@pytest.mark.parametrize("dt", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("rate", [3.0, -3.0, -30.0])
def test_equal_steps_into_a_dead_centre_without_inertia_end_with_that_cause_too(rate, dt):
    engine = linkages.slider_crank(crank=0.04, rod=0.13, masses=[0, 0, 0.4], gravity=[0, -9.81, 0])
    with pytest.raises(SimulationError, match="hardly any inertia .a massless crank at a dead centre") as caught:
        simulate(engine, engine.positions([1.0], [-1]), [rate], [0, 3], dt=dt)
    assert "tore" not in str(caught.value)
