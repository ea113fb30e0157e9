"""Forward dynamics and simulation, against Pinocchio, closed formulas and conservation laws."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from arms import Arm, random_arm
from scipy.special import ellipk

from benchmarks import simulate as benchmark
from dynlib import robots, simulate
from dynlib.links import Body, Link, Motor
from dynlib.newton_euler import inverse_dynamics
from dynlib.robot import Robot
from dynlib.simulate import SimulationError, computed_torque, forward_dynamics, quintic
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
    wrenches = arm.wrenches(3)
    tau = inverse_dynamics(arm.robot, q, dq, ddq, wrenches=wrenches)
    found = forward_dynamics(arm.robot, q, dq, tau, wrenches=wrenches)
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
    wrench = [Wrench([1.0, 2.0, 0.0])]
    assert forward_dynamics(robot, q[0, 0], dq, tau, wrenches=wrench).shape == (2, 4, 2)


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
        compiled, expected = simulate._closed_form(robot)(q, dq), simulate._by_recursion(robot)(q, dq)
        for one, other in zip(compiled, expected, strict=True):
            assert np.abs(np.array(one) - other).max() < 1e-12 * np.abs(other).max()


def test_singular_mass_matrix_names_link_joint_and_state():
    robot = replace(TWO_R, links=[TWO_R.links[0], replace(TWO_R.links[1], body=Body(0))])
    with pytest.raises(ValueError, match=r"singular at q = \[0.1, 0.2\]: joint 2 can move .* link 2 has neither mass"):
        forward_dynamics(robot, [0.1, 0.2], [0, 0], [0, 0])
    with pytest.raises(ValueError, match=r"q = \[0.0, 0.0\] \(state 0 of the batch\)"):
        forward_dynamics(robot, np.zeros((3, 2)), [0, 0], [0, 0])
    with pytest.raises(ValueError, match="link 2 has neither mass nor inertia"):
        simulate.simulate(robot, [0, 0], [0, 0], [0, 1])
    with pytest.raises(ValueError, match="joint 1 can move without resistance"):
        simulate.simulate(slider(mass=0.0), [0], [0], [0, 1])
    turning = Robot([Link("revolute", np.eye(4), Body(1))], gravity=[0, 0, 0])
    with pytest.raises(ValueError, match="link 1 has no inertia about an axis through its mass centre"):
        forward_dynamics(turning, [0], [0], [1])
    assert forward_dynamics(slider(mass=0.0, inertia=2.0), [0], [0.0], [1]) == pytest.approx([0.5])


# ---- Free motion -----------------------------------------------------------------------------------


def test_free_2r_keeps_its_energy_for_100_seconds():
    motion = simulate.simulate(
        robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81), [0, 0], [0, 0], np.linspace(0, 100, 501)
    )
    assert np.abs(motion.imbalance).max() < 1e-11 * 29.43  # the weight, as far as it can fall
    assert motion.events == ()
    assert not motion.work.any()


@pytest.mark.parametrize("degrees", [0.01, 20, 90, 170])
def test_pendulum_has_the_period_of_the_elliptic_integral(degrees):
    angle = np.radians(degrees)
    period = 4 * np.sqrt(0.5 / 9.81) * ellipk(np.sin(angle / 2) ** 2)
    motion = simulate.simulate(pendulum(), [angle], [0], [0, period / 4, period / 2, period])
    assert np.abs(motion.q[:, 0] - np.array([1, 0, -1, 1]) * angle).max() < 1e-10 * angle
    if degrees < 1:
        assert period == pytest.approx(2 * np.pi * np.sqrt(0.5 / 9.81), rel=1e-8)


def test_motion_satisfies_the_equations_that_it_was_computed_from():
    robot = random_arm(np.random.default_rng(5), 3)
    motion = simulate.simulate(robot, [0.1, 0.2, 0.3], [1, -1, 0.5], np.linspace(0, 1, 7), [1.0, 2.0, -1.0])
    needed = inverse_dynamics(robot, motion.q, motion.dq, motion.ddq)
    assert np.abs(needed - [1.0, 2.0, -1.0]).max() < 1e-9
    assert (motion.tau == [1.0, 2.0, -1.0]).all()


def test_recursion_and_closed_form_give_the_same_motion():
    t = np.linspace(0, 0.5, 6)
    start = [0.3, -0.4], [1.0, 2.0], t
    fast, slow = (simulate.simulate(TWO_R, *start, compiled=compiled) for compiled in (True, False))
    assert np.abs(fast.q - slow.q).max() < 1e-11


def test_power_balance_of_a_six_joint_arm_with_friction_and_torque():
    robot = random_arm(np.random.default_rng(8), 4)
    robot = replace(robot, links=[replace(link, motor=Motor(1e-3, 10, 2e-3, 0.05)) for link in robot.links])
    weight = Wrench([0, 0, -3.0], axes="world")
    motion = simulate.simulate(
        robot, np.zeros(4), np.full(4, 0.5), [0, 0.05, 0.1], lambda t, q, dq: -q, wrenches=[weight]
    )
    assert motion.lost[-1] > 1e-3
    assert np.abs(motion.work).max() > 1e-3
    assert np.abs(motion.imbalance).max() < 1e-11 * np.abs(motion.energy).max()


def test_many_turns_are_no_mistake_for_degrees():
    wheel = replace(pendulum(), gravity=[0, 0, 0])
    motion = simulate.simulate(wheel, [0], [100.0], [0, 1, 2])
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
    motion = simulate.simulate(block, [0.1], [speed], t)
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
    motion = simulate.simulate(block, [0], [1.0], [0, 1.0])
    up, down = 4.0 + 1.5, 4.0 - 2.5
    top, rest = 1 / (2 * up), 1.0 - 1 / up
    assert [event.kind for event in motion.events] == ["slides"]
    assert motion.q[-1, 0] == pytest.approx(top - down * rest**2 / 2, rel=1e-11)


def test_block_breaks_away_when_a_growing_force_reaches_the_friction():
    block = slider(mass=1.0, coulomb=2.0)
    motion = simulate.simulate(block, [0], [0], [0, 1, 3.0], lambda t, q, dq: [t])
    (event,) = motion.events
    assert event.kind == "slides"
    assert event.t == pytest.approx(2.0, rel=1e-8)
    assert motion.q[-1, 0] == pytest.approx(1 / 6, rel=1e-7)  # x'' = t - 2
    assert motion.q[1, 0] == 0.0


def test_shaken_block_sticks_and_slips_in_a_rhythm():
    block = slider(mass=1.0, coulomb=1.0)
    motion = simulate.simulate(block, [0], [0], np.linspace(0, 20, 401), lambda t, q, dq: [1.3 * np.sin(2 * t)])
    kinds = [event.kind for event in motion.events]
    assert kinds == ["slides", "sticks"] * (len(kinds) // 2) + ["slides"] * (len(kinds) % 2)
    assert 12 <= len(kinds) <= 26
    assert np.abs(motion.imbalance).max() < 1e-11


def test_arm_with_dry_friction_comes_to_rest_without_chattering():
    robot = replace(TWO_R, links=[replace(link, motor=Motor(coulomb=2.0)) for link in TWO_R.links])
    motion = simulate.simulate(robot, [-0.5, 0.3], [0, 0], np.linspace(0, 30, 301))
    assert (motion.dq[-1] == 0.0).all()
    assert len(motion.events) < 60
    assert np.abs(motion.imbalance).max() < 1e-9
    held = inverse_dynamics(TWO_R, motion.q[-1], [0, 0], [0, 0])
    assert (np.abs(held) <= 2.0).all()


# ---- Joint stops -----------------------------------------------------------------------------------


def test_falling_mass_bounces_as_in_the_textbook_and_comes_to_rest():
    ball, e = slider(mass=0.5, fall=-9.81), 0.6
    motion = simulate.simulate(ball, [1.0], [0], np.linspace(0, 3, 301), stops=[[0, np.inf]], restitution=e)
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
    elastic = simulate.simulate(puck, [0], [1.0], [0, 10.0], stops=[[-1, 1]], restitution=1)
    assert elastic.q[-1, 0] == pytest.approx(0, abs=1e-12)
    assert [event.t for event in elastic.events] == pytest.approx([1, 3, 5, 7, 9])
    plastic = simulate.simulate(puck, [0], [1.0], [0, 10.0], stops=[[-1, 1]])
    assert [event.kind for event in plastic.events] == ["hits", "rests"]
    assert plastic.lost[-1] == pytest.approx(0.5)
    assert plastic.q[-1, 0] == 1


def test_joint_leaves_its_stop_when_it_is_pulled_off():
    block = slider(mass=1.0, fall=-10.0)
    motion = simulate.simulate(block, [0], [0], [0, 1, 3], lambda t, q, dq: [5 * t], stops=[[0, 5]])
    (event,) = motion.events
    assert event.kind == "leaves"
    assert event.t == pytest.approx(2, rel=1e-8)
    assert motion.q[-1, 0] == pytest.approx(5 / 6, rel=1e-7)


def test_impact_at_one_joint_changes_the_rates_of_all_by_one_impulse():
    motion = simulate.simulate(
        TWO_R, [0, 0], [0, 3.0], np.linspace(0, 0.5, 2001), stops=[[-9, 9], [-1, 0.5]], restitution=0.4
    )
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
    motion = simulate.simulate(TWO_R, [0.5, 0.4], [0, 0], np.linspace(0, 5, 51), stops=[[-0.2, 3], [-0.3, 3]])
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
    motion = simulate.simulate(
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
        motion = simulate.simulate(robot, [0.2, 0.3], [0, 0], t, computed_torque(robot, path, kp=100, kd=20))
        assert np.abs(motion.q - path(t)[0]).max() < 1e-7


def test_error_decays_as_the_gains_say_whatever_the_arm():
    t, offset = np.linspace(0, 1, 11), np.array([0.1, -0.2])
    motion = simulate.simulate(TWO_R, path(0)[0] + offset, [0, 0], t, computed_torque(TWO_R, path, kp=25, kd=10))
    expected = offset * ((1 + 5 * t) * np.exp(-5 * t))[:, None]
    assert np.abs(motion.q - path(t)[0] - expected).max() < 1e-10


def test_unknown_payload_leaves_an_error_that_gains_make_smaller():
    t = np.linspace(0, 3, 61)
    errors = []
    for kp in (100, 400):
        control = computed_torque(TWO_R, path, kp=kp, kd=2 * np.sqrt(kp))
        motion = simulate.simulate(TWO_R.with_payload(1), [0.2, 0.3], [0, 0], t, control)
        last = path(3)[0] - motion.q[-1]
        # at rest: M kp e = what the load weighs
        load = inverse_dynamics(TWO_R.with_payload(1), motion.q[-1], [0, 0], [0, 0])
        load = load - inverse_dynamics(TWO_R, motion.q[-1], [0, 0], [0, 0])
        assert mass_matrix(TWO_R, motion.q[-1]) @ last * kp == pytest.approx(load, rel=1e-3)
        errors.append(np.abs(last).max())
    assert errors[0] == pytest.approx(4 * errors[1], rel=0.1)


def test_torque_of_the_controller_is_recorded():
    control = computed_torque(TWO_R, path, kp=100, kd=20)
    motion = simulate.simulate(TWO_R, [0.2, 0.3], [0, 0], [0, 0.5, 1], control)
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
        ({"robot": robots.planar_2r()}, "symbols L1, L2, g, m1, m2"),
        (
            {"robot": replace(TWO_R, links=[replace(TWO_R.links[0], body=None), TWO_R.links[1]])},
            "link 1 .* no mass data",
        ),
    ],
)
def test_bad_input_is_refused_with_a_reason(change, message):
    given = {"robot": TWO_R, "q0": [0, 0], "dq0": [0, 0], "t": [0, 1]} | change
    with pytest.raises(ValueError, match=message):
        simulate.simulate(**given)


def test_other_bad_input():
    with pytest.raises(ValueError, match="motor coulomb"):
        Motor(coulomb=-1)
    with pytest.raises(ValueError, match="motor viscous is -1"):
        Motor(viscous=-1)
    with pytest.raises(ValueError, match="duration is 0"):
        quintic([0], [1], 0, 0.5)
    with pytest.raises(ValueError, match="kp is -1"):
        computed_torque(TWO_R, path, kp=-1)
    with pytest.raises(ValueError, match=r"tau has the shape \(3,\)"):
        forward_dynamics(TWO_R, [0, 0], [0, 0], [0, 0, 0])
    with pytest.raises(ValueError, match="do not fit together"):
        forward_dynamics(TWO_R, np.zeros((3, 2)), [0, 0], np.zeros((4, 2)))


def test_torque_of_a_wrong_shape_or_value_is_told_with_time_and_state():
    with pytest.raises(SimulationError, match=r"at t = 0 s, q = \[0.0, 0.0\].*gave the shape \(3,\)"):
        simulate.simulate(TWO_R, [0, 0], [0, 0], [0, 1], lambda t, q, dq: [0, 0, 0])
    with pytest.raises(SimulationError, match=r"at t = 0\.[5-9].*gave \[nan, 0.0\]") as caught:
        simulate.simulate(TWO_R, [0, 0], [0, 0], [0, 1], lambda t, q, dq: [np.nan if t > 0.5 else 0, 0])
    assert caught.value.t > 0.5
    assert caught.value.q.shape == caught.value.dq.shape == (2,)


def test_motion_that_grows_beyond_all_bounds_is_told_with_its_time():
    with pytest.raises(SimulationError, match=re.escape("cannot go on at t = 1")) as caught:
        simulate.simulate(slider(mass=1.0), [1.0], [1.0], [0, 5.0], lambda t, q, dq: 2 * q**3)  # q = 1 / (1 - t)
    assert caught.value.t == pytest.approx(1.0, abs=1e-3)


def test_mass_matrix_that_becomes_singular_on_the_way_is_told_with_time_state_and_link():
    impossible = Body(0, inertia=[0, 0, -0.01], allow_impossible=True)
    robot = robots.rp(I1=1, m1=0, m2=1, g=0)
    robot = replace(robot, links=[replace(robot.links[0], body=impossible), robot.links[1]])
    with pytest.raises(SimulationError, match=r"at t = 0\.[89].*singular.*joint 1 .* link 1 has no inertia") as caught:
        simulate.simulate(robot, [0, 0.5], [0, -0.5], [0, 2.0], max_step=0.05)  # M = d² - 0.01: zero at t = 0.8
    assert caught.value.t == pytest.approx(0.8, abs=0.06)


def test_progress_is_told_about_a_hundred_times_and_nothing_is_printed(capsys):
    told = []
    simulate.simulate(TWO_R, [0, 0], [0, 0], [0, 5], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert 50 <= len(told) <= 101
    assert capsys.readouterr() == ("", "")


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
