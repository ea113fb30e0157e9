"""The catalogue: every arm loads, says where it comes from, and moves as its source or the hand says."""

import re
import warnings

import numpy as np
import pytest
import sympy

from dynlib import check, newton_euler, robotfile, robots
from dynlib.model import Robot
from tests.arms import pinocchio_torques, random_motion

IMPOSSIBLE = {"puma560": (1, 3), "puma560_modified": (1, 3), "stanford": (5,)}
G = 9.81


def load(name: str) -> Robot:
    """An arm without the warning that its numbers may deserve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return robots.load(name)


def torques(robot: Robot, q, dq, ddq) -> np.ndarray:
    """What the joints supply, motors off."""
    return np.stack([link.tau for link in newton_euler.recursion(robot, q, dq, ddq)], axis=-1)


def gravity_torques(name: str, q) -> np.ndarray:
    return torques(load(name), q, 0 * np.array(q), 0 * np.array(q))


@pytest.mark.parametrize("name", robots.names())
def test_every_arm_has_a_source_and_prints(name):
    assert robots.source(name).strip(), f'{name}.toml says nothing of where its numbers come from: source = "..."'
    lines = str(load(name)).splitlines()
    assert lines[0].endswith("m/s²")
    assert len(lines) >= 2 + load(name).n


@pytest.mark.parametrize("name", robots.names())
def test_every_arm_agrees_with_pinocchio(name):
    rng, arm = np.random.default_rng(560), load(name)
    arm = arm.subs({symbol: float(rng.uniform(1, 2)) for symbol in arm.symbols}) if arm.is_symbolic else arm
    q, dq, ddq = random_motion(rng, arm.n)
    right = pinocchio_torques(arm, q, dq, ddq)
    assert np.abs(torques(arm, q, dq, ddq) - right).max() <= 1e-10 * np.abs(right).max()


@pytest.mark.parametrize("name", robots.names())
def test_published_numbers_that_break_a_rule_warn(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robots.load(name)
    links = [int(re.search(r"link (\d+): no real body", str(each.message))[1]) for each in caught]
    assert (links != []) == ("allow_impossible = true" in robots.text(name))
    assert tuple(links) == IMPOSSIBLE.get(name, tuple(links))
    assert all(each.filename == __file__ and "triangle rule" in str(each.message) for each in caught)


# ---- One value by hand, or from the source, for each arm -----------------------------------------------


def test_planar_2r_is_the_arm_of_the_chapters():
    arm, chapter = robots.load("planar_2r"), robots.planar_2r()
    state = chapter.motion_symbols()
    assert check.same(newton_euler.inverse_dynamics(arm, *state), newton_euler.inverse_dynamics(chapter, *state))
    assert check.same(arm.pose(state[0]), chapter.pose(state[0]))


def test_planar_3r_held_level():
    L1, L2, c1, c2, c3, m1, m2, m3, g = sympy.symbols("L1 L2 c1 c2 c3 m1 m2 m3 g")
    tau = newton_euler.inverse_dynamics(robots.load("planar_3r"), [0, 0, 0], [0, 0, 0], [0, 0, 0])
    carried = [m1 * c1 + m2 * (L1 + c2) + m3 * (L1 + L2 + c3), m2 * c2 + m3 * (L2 + c3), m3 * c3]
    assert [sympy.expand(t - g * moment) for t, moment in zip(tau, carried, strict=True)] == [0, 0, 0]


def test_rp_has_craigs_closed_form():
    (t, d), (dt, dd), (ddt, ddd) = [0.5, 0.8], [1.2, -0.7], [0.9, 1.6]
    tau1 = (4 * 0.3**2 + 0.06 + 0.034 + 2.5 * d**2) * ddt + 2 * 2.5 * d * dt * dd + (4 * 0.3 + 2.5 * d) * G * np.cos(t)
    tau2 = 2.5 * ddd - 2.5 * d * dt**2 + 2.5 * G * np.sin(t)
    assert check.same(torques(load("rp"), [t, d], [dt, dd], [ddt, ddd]), [tau1, tau2])


def test_cart_pole_has_its_textbook_form():
    (t, dt, ddt), ddx, ml = (0.4, 1.3, -2.0), 1.0, 0.3 * 0.5
    force = 1.5 * ddx + ml * (np.cos(t) * ddt - np.sin(t) * dt**2)
    torque = (0.01 + ml * 0.5) * ddt + ml * np.cos(t) * ddx + ml * G * np.sin(t)
    assert check.same(torques(load("cart_pole"), [0.2, t], [0.5, dt], [ddx, ddt]), [force, torque])


def test_rrp_lifts_its_boom():
    """Along the boom, at 0.8 rad from the vertical, gravity pulls m g cos; across it, m g (d - 0.2) sin."""
    expected = [0, -3 * G * (0.7 - 0.2) * np.sin(0.8), 3 * G * np.cos(0.8)]
    assert check.same(gravity_torques("rrp", [0.3, 0.8, 0.7]), expected)


def test_scara_feels_gravity_only_in_its_quill():
    assert check.same(gravity_torques("scara", [0.3, -0.8, 0.1, 2.0]), [0, 0, -1.5 * G, 0])


def test_scara_reaches_down():
    assert check.same(load("scara").pose([0, 0, 0.1, 0])[:3, 3], [0.55, 0, 0.3])


def test_stanford_boom_hangs_level():
    """With the boom level, gravity acts across the slide; d3 = 1 m puts the tip 1 m ahead and 0.154 m aside."""
    assert abs(gravity_torques("stanford", [0, np.pi / 2, 1, 0, 0, 0])[2]) < 1e-12
    assert check.same(load("stanford").pose([0, 0, 1, 0, 0, 0])[:3, 3], [0, 0.154 - 0.0203, 1.412])


def test_stanford_moving_state():
    state = [0.3, -0.8, 0.6, 0.5, 1.0, -0.4], [0.2, 0.4, -0.3, 1.0, -0.6, 0.8], [0.5, -0.5, 0.2, 1.0, 2.0, -1.0]
    right = [31.1030903809, -231.115817449, 48.6399859173, 3.51504502688, -0.958661484174, 0.000355505878376]
    assert np.allclose(torques(load("stanford"), *state), right, rtol=1e-8, atol=1e-9)


def test_puma_gravity_at_the_nominal_pose_is_the_published_one():
    q = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])
    assert gravity_torques("puma560", q).round(4).tolist() == [0, 31.6399, 6.0351, 0, 0.0283, 0]


def test_puma_with_motors():
    """The state of a reported case: gears, rotors and friction of both senses."""
    q, dq = [0.3, -0.7, 1.1, 0.4, -0.6, 0.9], [0.5, -0.3, 0.8, 1.0, -1.2, 0.7]
    right = [31.1359787034, 23.0907804966, 6.14297721557, 1.35836658807, -1.49732720665, 0.299464721357]
    tau = newton_euler.inverse_dynamics(load("puma560"), q, dq, [1.0, 2.0, -1.0, 0.5, 0.3, -0.8])
    assert np.allclose(tau, right, rtol=1e-8)


def test_puma_is_one_arm_in_both_conventions():
    standard, modified = load("puma560"), load("puma560_modified")
    assert (standard.table.convention, modified.table.convention) == ("standard", "modified")
    motion = random_motion(np.random.default_rng(1), 5, 6)
    assert check.same(standard.pose(motion[0]), modified.pose(motion[0]))
    assert check.same(
        newton_euler.inverse_dynamics(standard, *motion), newton_euler.inverse_dynamics(modified, *motion)
    )


def test_ur5_stretched_out_level():
    moment = G * (8.393 * 0.28 + 2.275 * (0.425 + 0.25) + (2 * 1.219 + 0.1879) * (0.425 + 0.39225))
    assert check.same(gravity_torques("ur5", np.zeros(6))[1], -moment)
    assert check.same(load("ur5").pose(np.zeros(6))[:3, 3], [0.81725, 0.10915 + 0.0823, 0.089159 - 0.09465])


def test_ur5_moving_state():
    """A state computed by Pinocchio from the robot description itself."""
    q, dq = [0.375, 1.192, 0.827, -0.824, -0.6, 1.121], [-1.484, 0.964, 0.891, -0.096, -0.591, -0.665]
    right = [-0.268388215288, -11.4411871646, 6.95513523836, 0.166018686085, 0.27359074147, -0.0424316457678]
    tau = torques(load("ur5"), q, dq, [-1.471, -0.33, 0.027, 0.321, 2.973, 1.756])
    assert np.allclose(tau, right, rtol=1e-8, atol=1e-9)


def test_panda_stretched_up():
    """Upright, joint 1 feels no gravity; the flange stands above the sum of the lengths, 0.088 m ahead, upside down."""
    arm = load("panda")
    assert gravity_torques("panda", np.zeros(7))[0] == pytest.approx(0, abs=1e-12)
    assert check.same(arm.pose(np.zeros(7))[:3, 3], [0.088, 0, 0.333 + 0.316 + 0.384 - 0.107])
    assert float(sum(link.mass for link in arm.links)) == pytest.approx(16.062132)


def test_kr210_moving_state():
    """A state computed by Pinocchio from the robot description itself: heavy links, torques of 10⁴ N m."""
    q, dq = [0.807, -1.297, -0.08, -1.402, -0.559, -0.563], [0.659, -0.135, -1.33, 1.486, 1.166, 1.249]
    right = [-848.497829506, 10516.695566, -2484.0030695, 3.49245321841, 15.0794173103, -0.0378270793414]
    tau = torques(load("kr210"), q, dq, [-1.521, -0.635, -1.637, -2.251, -2.802, 0.02])
    assert np.allclose(tau, right, rtol=1e-8, atol=1e-8)
    along = [-0.00262 + 0.35277 - 9.8483e-5 + 0.95795 + 0.542 + 0.1925 + 0.0375]
    assert check.same(load("kr210").pose(np.zeros(6))[:1, 3], along)


def test_furuta_has_the_published_equations():
    arm = robots.load("furuta")
    (_, t), (da, dt), (dda, ddt) = arm.motion_symbols()
    g, L1, l1, l2, m1, m2, J1, J2, b1, b2 = sympy.symbols("g L1 l1 l2 m1 m2 J1 J2 b1 b2")
    arm_inertia, pendulum, coupling = J1 + m1 * l1**2 + m2 * L1**2, J2 + m2 * l2**2, m2 * L1 * l2
    s, c, s2 = sympy.sin(t), sympy.cos(t), sympy.sin(2 * t)
    printed = [
        dda * (arm_inertia + pendulum * s**2) + ddt * coupling * c - coupling * s * dt**2 + da * dt * s2 * pendulum,
        dda * coupling * c + ddt * pendulum - da**2 * s2 * pendulum / 2 + g * m2 * l2 * s,
    ]
    friction = [b1 * da, b2 * dt]
    tau = newton_euler.inverse_dynamics(arm, *arm.motion_symbols())
    assert [sympy.simplify(x - y - z) for x, y, z in zip(tau, printed, friction, strict=True)] == [0, 0]


# ---- Messages ------------------------------------------------------------------------------------------


def test_unknown_arm_lists_the_known_ones():
    with pytest.raises(
        ValueError, match=r"no arm 'Puma650'; it has .*cart_pole, .*Did you mean 'puma560'\?.*read\(path"
    ):
        robots.load("Puma650")
    with pytest.raises(ValueError, match="no arm '../planar'"):
        robots.source("../planar")


def test_the_text_of_an_arm_is_a_model_for_an_own_one():
    own = robots.text("scara").replace("mass = 0.5 ", "mass = 0.7 ")
    assert float(robotfile.loads(own).links[3].mass) == 0.7
