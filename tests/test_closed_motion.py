"""Motion of closed chains: it stays closed, keeps its energy, and ends where theory or other tools say."""

import re
from dataclasses import replace

import numpy as np
import pytest
from linkages_at_random import difference, for_seeds, random_state
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from dynlib import closed_chains, linkages, progress
from dynlib.closed_chains import (
    ClosureError,
    SingularPosition,
    gap,
    inverse_dynamics,
    pin_forces,
    with_multipliers,
)
from dynlib.model import Body, Link, Mechanism, Motor, Pin, Point, Robot, Rod
from dynlib.motion import SimulationError, closed_equations, energy_of, simulate
from dynlib.velocity import Wrench

DOWN = [0, -9.81, 0]
LEGS = linkages.three_legged(
    bases=[[0, 0], [0.5, 0], [0.3, 0.55]],
    lengths=[[0.3, 0.35], [0.25, 0.3], [0.25, 0.3]],
    masses=[[1, 0.8], [1.2, 0.9], [1.1, 0.7]],
    l_pc=0.15,
    m_pc=0.4,
    gravity=DOWN,
)
FIVE_BAR = linkages.five_bar(
    bases=[[0, 0], [1, 0]], lengths=[[0.2, 0.9], [0.25, 1]], masses=[[1, 1], [1, 1]], gravity=DOWN
)
FOUR_BAR = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[1, 2, 3], gravity=DOWN)
FLAT = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1], gravity=[0, -10, 0])
STARTS = {
    "legs": (LEGS, LEGS.positions([2.5, -1.5], (1, 1)), [0, 0]),
    "five-bar": (FIVE_BAR, FIVE_BAR.positions([0.5, 1.0], (1,)), [0, 0]),
    "four-bar": (FOUR_BAR, FOUR_BAR.positions([1.0], (1,)), [0]),
}


def with_friction(mechanism, **motor):
    """Give every joint a motor."""
    chains = [
        replace(chain, links=[replace(link, motor=Motor(**motor)) for link in chain.links])
        for chain in mechanism.chains
    ]
    return replace(mechanism, chains=chains)


# ---- Against theory --------------------------------------------------------------------------------


def pendulum(mass=1.0, length=1.0, g=9.81):
    """A point mass in Cartesian coordinates, a slide along x that carries one along y, on a rod to the origin."""
    along_x = np.array([[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    along_y = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    links = [Link("prismatic", along_x, Body(0)), Link("prismatic", np.linalg.inv(along_x) @ along_y, Body(mass))]
    chain = Robot(links, [0, -g, 0], tool=np.linalg.inv(along_y), name="weight")
    return Mechanism([chain], [Rod(Point(1), Point(0), length)], [(1, 1)], "pendulum")


def at_angle(theta, length=1.0):
    return [length * np.sin(theta), -length * np.cos(theta)]


def test_a_pendulum_in_cartesian_coordinates_over_fifty_seconds():
    motion = simulate(pendulum(), at_angle(np.pi / 3), [0], [0, 5, 10, 50])
    found = np.arctan2(motion.q[:, 0], -motion.q[:, 1])
    assert found == pytest.approx([np.pi / 3, -0.469701385429, -0.651863046742, 0.169366217896], abs=2e-8)
    assert motion.gap.max() < 1e-14
    assert np.abs(motion.imbalance).max() < 1e-8


@pytest.mark.parametrize("compiled", [True, False])
def test_a_pendulum_has_the_period_and_the_tension_of_theory(compiled):
    theta, mass, length, g = 1.2, 0.7, 0.4, 5.0
    quarter = np.sqrt(length / g) * ellipk(np.sin(theta / 2) ** 2)
    motion = simulate(
        pendulum(mass, length, g), at_angle(theta, length), [0], quarter * np.arange(5), compiled=compiled
    )
    angles = np.arctan2(motion.q[:, 0], -motion.q[:, 1])
    assert angles == pytest.approx([theta, 0, -theta, 0, theta], abs=1e-8)
    at_rest, below = -mass * g * np.cos(theta), -mass * g * (3 - 2 * np.cos(theta))
    assert motion.lam[:, 0] == pytest.approx([at_rest, below, at_rest, below, at_rest], rel=1e-7)


def test_a_parallelogram_falls_like_the_pendulum_that_it_is():
    """Uniform rods of 1 kg and 1 m: inertia 5/3, moment of the weight 20 cos."""
    times = np.linspace(0, 2, 5)
    motion = simulate(FLAT, FLAT.positions([-1.0], [-1]), [0.5], times)
    options = {"rtol": 1e-12, "atol": 1e-12, "method": "DOP853", "t_eval": times}
    expected = solve_ivp(lambda t, y: [y[1], -20 * np.cos(y[0]) * 3 / 5], (0, 2), [-1.0, 0.5], **options)
    assert motion.q[:, 0] == pytest.approx(expected.y[0], abs=1e-8)
    assert motion.dq[:, 0] == pytest.approx(expected.y[1], abs=1e-8)
    assert motion.ddq[:, 0] == pytest.approx(-12 * np.cos(expected.y[0]), abs=1e-7)


def test_the_motion_is_that_of_the_reduced_equations():
    """The inputs alone, with positions in closed form and projection: nothing is shared but the chains."""
    bars, mode = FOUR_BAR, (1,)

    def derivative(t, y):
        q = bars.positions(y[:1], mode)
        zero = inverse_dynamics(bars, q, y[1:], [0])
        inertia = inverse_dynamics(bars, q, y[1:], [1]) - zero
        return [y[1], (3 - zero[0]) / inertia[0]]

    times = np.linspace(0, 0.6, 4)
    options = {"rtol": 1e-9, "atol": 1e-9, "method": "DOP853", "t_eval": times}
    expected = solve_ivp(derivative, (0, 0.6), [1.0, 0.5], **options)
    motion = simulate(bars, bars.positions([1.0], mode), [0.5], times, [3.0])
    assert motion.q[:, 0] == pytest.approx(expected.y[0], abs=1e-7)
    assert motion.dq[:, 0] == pytest.approx(expected.y[1], abs=1e-7)


# ---- Closure and energy over long times ------------------------------------------------------------


@pytest.mark.parametrize("name", ["legs", "five-bar"])
def test_it_stays_closed_and_keeps_its_energy_for_ten_seconds(name):
    motion = simulate(*STARTS[name], np.linspace(0, 10, 101))
    assert motion.gap.max() < 1e-13
    assert np.abs(motion.imbalance).max() < 1e-8 * np.abs(motion.kinetic).max()
    assert motion.kinetic.max() > 0.1
    assert np.abs(motion.q[-1] - motion.q[0]).max() > 0.1


@pytest.mark.parametrize("name", ["legs", "five-bar"])
def test_equal_steps_stay_closed_and_long_ones_do_not_tear(name):
    t = np.linspace(0, 10, 11)
    fine = simulate(*STARTS[name], t, dt=1e-3)
    assert fine.gap.max() < 1e-13
    assert np.abs(fine.imbalance).max() < 1e-4
    coarse = simulate(*STARTS[name], t, dt=1e-2)
    assert coarse.gap.max() < 1e-13
    mechanism = STARTS[name][0]
    for motion in (fine, coarse):
        for q, dq in zip(motion.q, motion.dq, strict=True):
            assert np.abs(closed_chains.constraint_jacobian(mechanism, q) @ dq).max() < 1e-12 * np.abs(motion.dq).max()


@pytest.mark.parametrize("name", ["legs", "five-bar"])
def test_without_projection_it_drifts_and_springs_only_help(name):
    t = np.linspace(0, 3, 4)
    drifting = simulate(*STARTS[name], t, dt=5e-3, project=False)
    pulled = simulate(*STARTS[name], t, dt=5e-3, project=False, baumgarte=20)
    projected = simulate(*STARTS[name], t, dt=5e-3)
    assert projected.gap.max() < 1e-13
    assert pulled.gap[-1] > 1e3 * projected.gap.max()
    assert drifting.gap[-1] > 10 * pulled.gap[-1]


def test_equal_steps_have_the_order_of_runge_and_kutta():
    exact = simulate(*STARTS["four-bar"], [0, 1])
    errors = [np.abs(simulate(*STARTS["four-bar"], [0, 1], dt=dt).q[-1] - exact.q[-1]).max() for dt in (0.02, 0.01)]
    assert 3.5 < np.log2(errors[0] / errors[1]) < 4.5


@pytest.mark.parametrize("compiled", [True, False])
def test_many_turns_are_no_trouble(compiled):
    q0, turns = FOUR_BAR.positions([0.5], [1]), np.array([40 * np.pi, 0, 0])
    options = {"compiled": compiled, "dt": 0.005}
    expected = simulate(FOUR_BAR, q0, [3.0], [0, 0.02], **options)
    with pytest.warns(UserWarning, match="more than ten turns"):  # about the start, which somebody typed
        motion = simulate(FOUR_BAR, q0 + turns, [3.0], [0, 0.02], **options)
    assert motion.q == pytest.approx(expected.q + turns, abs=1e-12)
    assert motion.energy == pytest.approx(expected.energy, abs=1e-12)
    assert motion.gap.max() < 1e-12


@pytest.mark.parametrize("dt", [None, 1e-2, 1e-3])
@pytest.mark.parametrize("end", [0.515, 0.525, 0.58])
def test_a_fork_stops_the_motion(dt, end):
    """All bars of a parallelogram come into line: it may go on as a parallelogram or crossed."""
    with pytest.raises(SimulationError, match="lose rank here. The mechanism can change into another way") as error:
        simulate(FLAT, FLAT.positions([1.0], [1]), [0], [0, end], dt=dt)
    assert error.value.t == pytest.approx(0.5072, abs=0.06)


@pytest.mark.parametrize(("end", "energy"), [(0.45, 1e-6), (0.5, 1e-2), (0.55, 1e-6)])  # at 0.5 s it is 0.014 rad away
def test_a_redundant_mechanism_stops_at_a_fork_or_goes_on_rightly(end, energy):
    along = np.eye(4)
    along[0, 3] = 1.0
    crank = Robot([Link("revolute", np.eye(4), Body.rod(1.0, 1.0))], [0, -10, 0], along, along)
    three = Mechanism([*FLAT.chains, crank], [*FLAT.closures, Pin(Point(1, 2, at=[1, 0, 0]), Point(3))], [(1, 1)])
    stopped = ""
    try:
        motion = simulate(three, [1, -1, 1, 1], [0], np.linspace(0, end, 4))
    except SimulationError as error:
        stopped = str(error)
    if stopped:
        assert end > 0.45, "the bars are not in line yet"
        assert "another way" in stopped or "nearly lose their grip" in stopped
    else:
        assert motion.q == pytest.approx(motion.q[:, :1] * [1, -1, 1, 1], abs=1e-9)
        assert motion.gap.max() < 1e-12
        assert np.abs(motion.imbalance).max() < energy


# ---- Two ways of computing -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["legs", "four-bar"])
def test_recursion_and_closed_form_give_the_same_motion(name):
    mechanism, q, du = STARTS[name]
    load = [Wrench.at(Point(1), force=[1, 2, 0], moment=[0, 0, 0.5])]
    mechanism = with_friction(mechanism, inertia=1e-3, gear=3, viscous=1e-2)

    def run(compiled):
        return simulate(
            mechanism,
            q,
            du,
            [0, 0.01, 0.02],
            lambda t, q, dq: np.cos(t) - dq[mechanism.u],
            loads=load,
            compiled=compiled,
        )

    fast, slow = run(True), run(False)
    for one, other in ((fast.q, slow.q), (fast.ddq, slow.ddq), (fast.lam, slow.lam), (fast.tau, slow.tau)):
        assert difference(one, other) < 1e-9
    for one, other in ((fast.work, slow.work), (fast.lost, slow.lost)):
        assert difference(one, other) < 1e-8


@for_seeds(3)
def test_the_record_fits_the_equations_of_the_other_module(seed):
    state = random_state(seed, dry=False)
    mechanism, tau = state.linkage, np.random.default_rng(seed).uniform(-3, 3, state.linkage.m)
    motion = simulate(mechanism, state.q, state.du, [0, 0.005, 0.01], tau, loads=state.loads)
    for k in range(3):
        expected = with_multipliers(mechanism, motion.q[k], motion.dq[k], tau, loads=state.loads)
        assert difference(motion.lam[k], expected.lam) < 1e-9
        assert difference(motion.ddq[k], expected.ddq) < 1e-9
        needed = inverse_dynamics(
            mechanism, motion.q[k], motion.dq[k, mechanism.u], motion.ddq[k, mechanism.u], loads=state.loads
        )
        assert difference(needed, tau, size=np.abs(motion.lam[k]).max()) < 1e-9
    assert (motion.tau == tau).all()
    assert np.abs(motion.imbalance).max() < 1e-7 * np.abs(motion.energy).max()


# ---- What drives and what brakes -------------------------------------------------------------------


def test_work_and_losses_balance():
    mechanism, q, du = STARTS["legs"]
    mechanism = with_friction(mechanism, viscous=0.05, gear=2, inertia=1e-3)
    loads = [Wrench.at(mechanism.P, force=[2, 1, 0]), Wrench.at(Point(2, 1), moment=[0, 0, 0.3])]
    motion = simulate(mechanism, q, du, np.linspace(0, 3, 31), lambda t, q, dq: [np.sin(3 * t), -dq[4]], loads=loads)
    assert np.abs(motion.imbalance).max() < 1e-8
    assert motion.lost[-1] > 0.1
    assert (np.diff(motion.lost) > 0).all()
    assert motion.tau[:, 0] == pytest.approx(np.sin(3 * motion.t))
    assert motion.tau[:, 1] == pytest.approx(-motion.dq[:, 4])
    assert "largest imbalance of energy" in repr(motion)


def test_a_constant_torque_does_its_work():
    bars = FLAT.with_gravity([0, 0, 0])
    motion = simulate(bars, bars.positions([0.5], [1]), [0], np.linspace(0, 0.5, 6), [4.0])
    assert motion.q[:, 0] == pytest.approx(0.5 + 4 / (5 / 3) * motion.t**2 / 2, abs=1e-8)
    assert motion.work == pytest.approx(4 * (motion.q[:, 0] - 0.5), abs=1e-8)
    assert motion.kinetic == pytest.approx(motion.work, abs=1e-8)
    assert not motion.lost.any()


def test_friction_slows_down_as_it_must():
    bars = with_friction(FLAT.with_gravity([0, 0, 0]), viscous=0.1, gear=2)  # three joints turn at one rate
    motion = simulate(bars, bars.positions([0.5], [1]), [3.0], np.linspace(0, 1, 5))
    assert motion.dq[:, 0] == pytest.approx(3 * np.exp(-3 * 0.4 / (5 / 3) * motion.t), rel=1e-8)
    assert motion.lost == pytest.approx(motion.kinetic[0] - motion.kinetic, abs=1e-8)


def test_a_load_does_the_work_of_its_way():
    bars = FLAT.with_gravity([0, 0, 0])
    load = [Wrench.at(Point(2), force=[0, 5, 0])]
    motion = simulate(bars, bars.positions([0.5], [1]), [0], np.linspace(0, 0.5, 6), loads=load)
    assert motion.work == pytest.approx(5 * (np.sin(motion.q[:, 2]) - np.sin(0.5)), abs=1e-8)
    assert motion.kinetic == pytest.approx(motion.work, abs=1e-8)


def test_energies_of_a_state():
    q, rate = FLAT.positions([0.5], [1]), 3.0
    kinetic, potential = energy_of(FLAT, q, [rate, -rate, rate])
    assert kinetic == pytest.approx(5 / 3 * rate**2 / 2)
    assert potential == pytest.approx(10 * 2 * np.sin(0.5))
    both = energy_of(FLAT, [q, q], np.zeros(3))
    assert both[0].tolist() == [0, 0]


# ---- Friction that makes the equations stiff -------------------------------------------------------


def test_heavy_friction_slows_down_by_its_formula_in_few_evaluations():
    bars = with_friction(FLAT.with_gravity([0, 0, 0]), viscous=3000.0)  # three joints turn at one rate
    asked = []

    def torque(t, q, dq):
        asked.append(t)
        return [7.0]

    decay, times = 3 * 3000 / (5 / 3), np.linspace(0, 1, 11)
    motion = simulate(bars, bars.positions([0.5], [1]), [3.0], times, torque)
    end = 7.0 / 9000  # rate at which friction and torque balance
    assert (motion.method, motion.rtol, motion.atol) == ("Radau", 1e-8, 1e-8)
    assert len(asked) < 3000  # the explicit method needs more than 10 000
    assert motion.dq[:, 0] == pytest.approx(end + (3 - end) * np.exp(-decay * times), abs=1e-7)
    assert motion.q[:, 0] == pytest.approx(
        0.5 + end * times + (3 - end) / decay * (1 - np.exp(-decay * times)), abs=1e-7
    )
    assert motion.gap.max() < 1e-13
    assert motion.work == pytest.approx(7.0 * (motion.q[:, 0] - 0.5), abs=1e-7)
    assert np.abs(motion.imbalance).max() < 1e-6


@pytest.mark.parametrize("name", ["legs", "five-bar"])
def test_passive_joints_with_heavy_friction_move_as_by_the_explicit_method(name):
    mechanism, q, du = STARTS[name]
    mechanism = with_friction(mechanism, viscous=30.0)
    asked = []

    def run(**options):
        asked.append(0)

        def torque(t, q, dq):
            asked[-1] += 1
            return np.sin(5 * t) * np.ones(mechanism.m)

        return simulate(mechanism, q, du, np.linspace(0, 0.1, 5), torque, **options)

    implicit, explicit = run(), run(method="DOP853")
    assert (implicit.method, explicit.method) == ("Radau", "DOP853")
    assert (implicit.rtol, explicit.atol) == (1e-8, 1e-10)
    assert asked[0] < asked[1]
    for part, size in (("q", 1e-8), ("dq", 1e-7), ("lam", 1e-4), ("work", 1e-8), ("lost", 1e-8)):
        assert np.abs(getattr(implicit, part) - getattr(explicit, part)).max() < size, part
    assert implicit.gap.max() < 1e-13
    assert np.abs(implicit.imbalance).max() < 1e-7


def test_the_method_follows_from_the_friction_that_the_closures_leave():
    bars = FLAT.with_gravity([0, 0, 0])
    for viscous, method in ((0.0, "DOP853"), (27.0, "DOP853"), (28.5, "Radau")):  # 3 B / (5/3) is 48.6, and 51.3
        motion = simulate(with_friction(bars, viscous=viscous), bars.positions([0.5], [1]), [0], [0, 1])
        assert motion.method == method
    equal = simulate(with_friction(bars, viscous=0.1), bars.positions([0.5], [1]), [0], [0, 1], dt=0.1)
    assert (equal.method, equal.rtol, equal.atol) == ("RK4", None, None)


# ---- Runs that are stopped or get nowhere ----------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"dt": 1e-2}, {"method": "Radau"}])
def test_an_interrupted_run_keeps_the_motion_up_to_there(options):
    def torque(t, q, dq):
        if t > 0.25:
            raise KeyboardInterrupt
        return [0, 0]

    times = [0, 0.1, 0.2, 0.3, 1.0]
    whole = simulate(*STARTS["five-bar"], times, **options)
    with pytest.raises(KeyboardInterrupt, match=r"stopped by you at t = 0\.2\d* s of the motion") as stopped:
        simulate(*STARTS["five-bar"], times, torque, **options)
    motion = stopped.value.motion
    assert (motion.t[:3] == times[:3]).all()
    assert motion.t[-1] == stopped.value.t <= 0.26
    assert motion.q[:3] == pytest.approx(whole.q[:3], abs=1e-6)
    assert motion.method == whole.method


def test_a_fork_keeps_the_motion_up_to_there():
    times = np.linspace(0, 0.58, 30)
    with pytest.raises(SimulationError, match="another way") as error:
        simulate(FLAT, FLAT.positions([1.0], [1]), [0], times)
    motion = error.value.motion
    assert len(motion.t) > 20
    assert np.abs(motion.q - motion.q[:, :1] * [1, -1, 1]).max() < 1e-6
    assert np.abs(motion.imbalance).max() < 1e-6
    assert motion.t[-1] <= error.value.t


@pytest.mark.filterwarnings("error")
def test_runs_that_get_nowhere_end_in_words():
    mechanism, q, du = STARTS["five-bar"]
    random, asked = np.random.default_rng(1), []

    def noise(t, q, dq):
        asked.append(t)
        return random.normal(size=2)

    with pytest.raises(SimulationError, match="time hardly goes on.*like noise") as error:
        simulate(mechanism, q, du, [0, 1], noise)
    assert len(asked) < 30_000
    assert len(error.value.motion.t) == 2
    with pytest.raises(SimulationError, match="time hardly goes on.*very fast rates"):
        simulate(mechanism, q, [1e10, 1e10], [0, 1])
    for options in ({}, {"dt": 0.01}):
        with pytest.raises(SimulationError, match="beyond all bounds, above 1e.100") as error:
            simulate(mechanism, q, [1e160, 0], [0, 1], **options)
        assert error.value.motion.q.shape == (0, 4)
        assert error.value.motion.imbalance.shape == (0,)
        assert repr(error.value.motion) == "motion without any state"


def test_a_long_run_tells_how_far_it_is(monkeypatch, capsys):
    seconds = iter(range(10**9))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds))
    for options in ({}, {"dt": 1e-2}):
        simulate(*STARTS["legs"], [0, 1], **options)
        out, lines = capsys.readouterr()
        assert out == ""
        assert "% done after 3 s, about" in lines
        simulate(*STARTS["legs"], [0, 1], progress=lambda share: None, **options)
        assert capsys.readouterr() == ("", "")


# ---- Starts and redundant closures -----------------------------------------------------------------


def test_redundant_closures_simulate_as_if_they_were_not_there():
    mechanism, q, du = STARTS["four-bar"]
    twice = replace(mechanism, closures=[*mechanism.closures, Pin(Point(2), Point(1))])
    t = np.linspace(0, 1, 5)
    once, doubled = (simulate(each, q, du, t) for each in (mechanism, twice))
    assert difference(doubled.q, once.q) < 1e-10
    assert difference(doubled.lam[:, :2], once.lam) < 1e-9
    assert not doubled.lam[:, 2:].any()
    assert doubled.gap.max() < 1e-13


def test_a_parallelogram_with_a_third_crank_falls():
    third = linkages.four_bar(ground=1, crank=1, coupler=1, rocker=1, masses=[1, 1, 1], gravity=[0, -10, 0]).chains[1]
    closures = [*FLAT.closures, Pin(Point(1, 2, at=[1, 0, 0]), Point(3))]
    bars = Mechanism([*FLAT.chains, third], closures, [(1, 1)])
    motion = simulate(bars, [1.0, -1.0, 1.0, 1.0], [0], np.linspace(0, 0.4, 4))
    assert motion.q == pytest.approx(motion.q[:, :1] * [1, -1, 1, 1], abs=1e-9)
    assert motion.ddq[:, 0] == pytest.approx(-25 * np.cos(motion.q[:, 0]) / 2, abs=1e-7)
    assert motion.gap.max() < 1e-13


def test_it_passes_positions_in_which_the_inputs_do_not_determine_it():
    """A pendulum passes its lowest point, where the height does not tell the rates, and turns over."""
    swinging = replace(pendulum(), inputs=[(1, 2)])
    motion = simulate(swinging, at_angle(1.0), [0], np.linspace(0, 4, 41))
    assert motion.q[:, 0].min() < -0.8
    assert np.abs(motion.imbalance).max() < 1e-8
    over = simulate(pendulum(), at_angle(0), [8.0], np.linspace(0, 2, 21))
    assert over.q[:, 1].max() > 0.9
    assert over.gap.max() < 1e-14


def test_starts_that_are_singular_or_open_are_refused():
    with pytest.raises(SingularPosition, match="is a singular position of four-bar"):
        simulate(FLAT, FLAT.positions([0], [1]), [0], [0, 1])
    q = FLAT.positions([0.5], [1]) + np.array([0, 0, 1e-3])
    with pytest.raises(ClosureError, match="does not close four-bar: the gap of closure 1"):
        simulate(FLAT, q, [0], [0, 1])
    with pytest.raises(SingularPosition, match="singular position of pendulum"):
        simulate(replace(pendulum(), inputs=[(1, 2)]), at_angle(0), [0], [0, 1])


def test_all_rates_may_be_given_where_the_inputs_do_not_determine_them():
    lowest, t = replace(pendulum(), inputs=[(1, 2)]), np.linspace(0, 2, 9)
    by_height = simulate(lowest, at_angle(0), [3.0, 0], t)
    by_side = simulate(pendulum(), at_angle(0), [3.0], t)
    assert difference(by_height.q, by_side.q) < 1e-8
    with pytest.raises(ValueError, match="opens pendulum"):
        simulate(lowest, at_angle(0), [3.0, 0.1], t)
    for given in (None, [], [1.0, 0, 0], [None], 3.0, [[3.0]]):
        with pytest.raises(ValueError, match=r"expected the rates of the inputs of pendulum, shape \(1,\), or of all"):
            simulate(lowest, at_angle(0), given, t)


# ---- Input that cannot be meant --------------------------------------------------------------------


def test_dry_friction_is_refused_by_name():
    dry = with_friction(FIVE_BAR, coulomb=0.1)
    with pytest.raises(ValueError, match="joint 1 of chain 1 has dry friction.*viscous friction only"):
        simulate(dry, *STARTS["five-bar"][1:], [0, 1])


@pytest.mark.parametrize("t", [[0, 0], [1, 0], [], [[0, 1]], [0, np.nan], 3.0])
def test_times_that_do_not_grow_are_refused(t):
    with pytest.raises(ValueError, match="expected growing times"):
        simulate(*STARTS["four-bar"], t)


def test_other_input_that_cannot_be_meant():
    start = STARTS["five-bar"]
    with pytest.raises(ValueError, match=r"dt is 0 s and baumgarte 0.0 1/s; expected dt > 0"):
        simulate(*start, [0, 1], dt=0)
    with pytest.raises(ValueError, match="baumgarte -1 1/s"):
        simulate(*start, [0, 1], baumgarte=-1)
    with pytest.raises(ValueError, match="torque has 1 entries; five-bar has 2 inputs"):
        simulate(*start, [0, 1], [1.0])
    with pytest.raises(ValueError, match=r"torque has the shape \(3, 2\); expected \(2,\), or a function"):
        simulate(*start, [0, 1], np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"give dt = 0.1 s for equal steps, or the method 'Radau'"):
        simulate(*start, [0, 1], dt=0.1, method="Radau")
    with pytest.raises(ValueError, match="method is 'RK4'; expected 'DOP853' or 'Radau', or None"):
        simulate(*start, [0, 1], method="RK4")
    for name, given in (("dt", "0.1"), ("dt", True), ("dt", [0.1, 0.2]), ("baumgarte", None), ("baumgarte", "a"),
                        ("progress", 5)):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=f"^{name} (holds|is|has)"):
            simulate(*start, [0, 1], **{name: given})
    for t in ("01", [False, True], [0, 1j], None):
        with pytest.raises(TypeError, match="^t holds"):
            simulate(*start, t)
    with pytest.raises(ValueError, match=r"dq0 is \[0, 0, 0\]; expected the rates of the inputs .* shape \(2,\)"):
        simulate(start[0], start[1], [0] * 3, [0, 1])
    with pytest.raises(ValueError, match=r"q0 has the shape \(2, 4\); expected \(4,\)"):
        simulate(start[0], [start[1]] * 2, [0, 0], [0, 1])
    with pytest.raises(ValueError, match="simulate computes with floats, and three-legged arm is exact"):
        simulate(linkages.three_legged(), [0] * 6, [0, 0], [0, 1])
    with pytest.raises(ValueError, match="names chain 7"):
        simulate(*start, [0, 1], loads=[Wrench.at(Point(7), [1, 0, 0])])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["1.5", "2"], "holds '1.5' (str)"),
        ([True, False], "holds True (bool)"),
        (np.array([1 + 0j, 2]), "(complex"),
        (np.array([1, 2], dtype="datetime64[D]"), "holds times (datetime64[D])"),
        ([np.nan, 1.0], "holds nan"),
        ([1.0], "(1,)"),
        ([[1.0, 2.0]], "(1, 2)"),
        (None, "gave None; does the function return its torques?"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"dt": 1e-2}, {"method": "Radau"}])
def test_torques_are_read_as_carefully_as_positions(given, message, options):
    times = [0, 0.1, 0.2, 0.3, 1.0]
    with pytest.raises(SimulationError) as error:
        simulate(*STARTS["five-bar"], times, lambda t, q, dq: given if t > 0.25 else [0, 0], **options)
    assert re.search(r"at t = 0\.\d+ s, q = .*: torque\(t, q, dq\) .*" + re.escape(message), str(error.value))
    motion = error.value.motion
    assert (motion.t[:3] == times[:3]).all()
    assert len(motion.t) in (3, 4)
    assert motion.t[-1] <= error.value.t
    if given is not None:
        with pytest.raises((TypeError, ValueError), match="^torque (holds|has)"):
            simulate(*STARTS["five-bar"], times, given)


def test_links_without_inertia_or_mass_data():
    nothing = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[0, 0, 0])
    q = nothing.positions([1.0], [1])
    with pytest.raises((ValueError, SimulationError), match="inertia|mass"):
        simulate(nothing, q, [0], [0, 1])
    light = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[0, 0, 3], gravity=[0, -10, 0])
    motion = simulate(light, light.positions([0.5], [1]), [0], [0, 0.1])
    assert motion.ddq[:, 2] == pytest.approx(-15 * np.cos(motion.q[:, 2]), abs=1e-7)
    first = FLAT.chains[0]
    unknown = replace(first, links=[first.links[0], replace(first.links[1], body=None)])
    with pytest.raises(ValueError, match="has no mass data"):
        simulate(replace(FLAT, chains=[unknown, FLAT.chains[1]]), FLAT.positions([0.5], [1]), [0], [0, 1])


# ---- The record ------------------------------------------------------------------------------------


def test_times_and_shapes_of_the_record():
    t = np.array([0.5, 0.6, 1.0])
    motion = simulate(*STARTS["legs"], t)
    assert (motion.t == t).all()
    shapes = {name: getattr(motion, name).shape for name in ("q", "dq", "ddq", "tau", "lam", "gap", "kinetic", "work")}
    assert shapes == {
        **dict.fromkeys(("q", "dq", "ddq"), (3, 6)),
        "tau": (3, 2),
        "lam": (3, 4),
        **dict.fromkeys(("gap", "kinetic", "work"), (3,)),
    }
    assert (motion.q[0] == STARTS["legs"][1]).all()
    one = simulate(*STARTS["legs"], [0.5])
    assert one.q.shape == (1, 6)
    assert (one.ddq[0] == motion.ddq[0]).all()
    dense = simulate(*STARTS["legs"], np.linspace(0.5, 1, 301))
    assert dense.q[60] == pytest.approx(motion.q[1], abs=1e-8)  # between the steps as at their ends
    assert dense.q[-1] == pytest.approx(motion.q[-1], abs=1e-8)
    for values, slopes in ((dense.q, dense.dq), (dense.dq, dense.ddq)):
        change = np.cumsum((slopes[1:-1:2] * 4 + slopes[:-2:2] + slopes[2::2]) / 1800, axis=0)  # by Simpson's rule
        assert values[2::2] - values[0] == pytest.approx(change, abs=1e-5 * np.abs(slopes).max())


def test_work_is_counted_from_the_first_time_and_gaps_are_those_of_the_positions():
    motion = simulate(*STARTS["five-bar"], [0, 0.1, 0.3], [1.0, -1.0], dt=0.01, project=False)
    assert motion.work[0] == motion.lost[0] == motion.imbalance[0] == 0
    assert motion.gap == pytest.approx(np.abs(gap(FIVE_BAR, motion.q)).max(axis=-1), abs=1e-15)
    expected = energy_of(FIVE_BAR, motion.q, motion.dq)
    assert (motion.kinetic == expected[0]).all()
    assert (motion.potential == expected[1]).all()


@pytest.mark.parametrize("dt", [None, 1e-3])
def test_progress_is_told(dt):
    shares = []
    simulate(*STARTS["legs"], [0, 1], dt=dt, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert 5 < len(shares) <= 101


def test_forces_at_the_start_are_those_of_pin_forces():
    mechanism, q, _ = STARTS["legs"]
    motion = simulate(mechanism, q, [1.0, -0.5], [0, 0.1])
    needed = pin_forces(mechanism, q, [1.0, -0.5], motion.ddq[0, mechanism.u])
    assert difference(motion.lam[0], needed.lam) < 1e-9
    assert np.abs(needed.tau).max() < 1e-9


def test_tearing_is_reported_with_time_and_state():
    with pytest.raises(SimulationError, match="tore|lose rank|beyond all bounds") as e:
        simulate(FIVE_BAR, STARTS["five-bar"][1], [80.0, -70.0], [0, 5], dt=0.5)
    assert e.value.q.shape == (4,)
    assert e.value.t >= 0


def test_closed_formulas_are_derived_once():
    before = closed_equations._compiled.cache_info().hits
    for _ in range(2):
        simulate(*STARTS["four-bar"], [0, 0.01])
    assert closed_equations._compiled.cache_info().hits > before


# ---- Links without mass ----------------------------------------------------------------------------


def test_links_without_mass_move_with_the_others():
    """A point mass at P, everything else without mass, against a heavier set of links that becomes lighter."""

    def run(mass, **options):
        bars = linkages.five_bar(
            bases=[[0, 0], [1, 0]], lengths=[[0.4, 0.9], [0.5, 0.8]], masses=[[mass, mass]] * 2, payload=1, gravity=DOWN
        )
        return simulate(bars, bars.positions([1.5, 1.2], [1]), [0, 0], [0, 0.1, 0.2], **options)

    none = run(0)
    assert none.gap.max() < 1e-13
    assert np.abs(none.imbalance).max() < 1e-7
    small, smaller = (run(mass).q - none.q for mass in (1e-3, 1e-4))
    assert np.abs(small).max() == pytest.approx(10 * np.abs(smaller).max(), rel=0.05)
    slow = run(0, compiled=False, dt=0.01)
    assert slow.q == pytest.approx(run(0, dt=0.01).q, abs=1e-10)


def test_nothing_moves_without_any_mass():
    bars = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[0, 0, 0])
    with pytest.raises(ValueError, match="no link of four-bar has a mass or an inertia; no motion follows"):
        simulate(bars, bars.positions([1.0], [1]), [0], [0, 1])


# ---- Two pins that weld two links ------------------------------------------------------------------


def test_links_welded_by_two_pins_turn_as_one_body():
    """Two coaxial rods with a pin at their ends: one of its equations is redundant, and not always the same one."""
    reach = np.eye(4)
    reach[0, 3] = 1.0
    rods = [Robot([Link("revolute", np.eye(4), Body.rod(m, 1.0))], [0, -10, 0], tool=reach) for m in (1, 3)]
    both = Mechanism(rods, [Pin(Point(1), Point(2))], [(1, 1)], "two rods")
    times = np.linspace(0, 3, 7)
    motion = simulate(both, [0, 0], [9.0], times)
    options = {"rtol": 1e-12, "atol": 1e-12, "method": "DOP853", "t_eval": times}
    expected = solve_ivp(lambda t, y: [y[1], -15 * np.cos(y[0])], (0, 3), [0.0, 9.0], **options)
    assert expected.y[0, -1] > 4 * np.pi  # it goes round
    assert motion.q == pytest.approx(np.array([expected.y[0]] * 2).T, abs=1e-7)
    assert motion.gap.max() < 1e-13
    assert np.abs(motion.imbalance).max() < 1e-7
