"""Closures, mechanisms, and which coordinates follow from which: differences, many digits and obvious answers."""

import re
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import sympy

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")

from arms import random_arm
from linkages_at_random import DIGITS, KINDS, difference, for_seeds, random_state

from dynlib import linkages, progress
from dynlib.closed_chains import (
    ClosureError,
    SingularPosition,
    close,
    constraint_bias,
    constraint_jacobian,
    constraints,
    follow,
    gamma,
    gap,
    mobility,
    positions,
    singularity,
    velocities,
)
from dynlib.frames import transform
from dynlib.model import Body, Link, Mechanism, Pin, Point, Robot, Rod, Slot

DOWN = [0, -9.81, 0]
FOUR_BAR = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[1, 2, 3], gravity=DOWN)
ROCKING = linkages.four_bar(ground=4, crank=3, coupler=2, rocker=2.5, masses=[1, 2, 3])  # its crank cannot turn round
FLAT = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
FIVE_BAR = linkages.five_bar(
    bases=[[0, 0], [1, 0]], lengths=[[0.2, 0.9], [0.25, 1]], masses=[[1, 1], [1, 1]], gravity=DOWN
)
LEGS = linkages.three_legged(
    bases=[[0, 0], [0.5, 0], [0.3, 0.55]],
    lengths=[[0.3, 0.35], [0.25, 0.3], [0.25, 0.3]],
    masses=[[1, 0.8], [1.2, 0.9], [1.1, 0.7]],
    l_pc=0.15,
    m_pc=0.4,
)


def planar_chain(*lengths, base=(0, 0), gravity=DOWN, kinds=None):
    """Uniform rods of 1 kg, one pinned to the other; a length of 0 is a body that only has a mass."""
    links, place = [], 0.0
    for kind, length in zip(kinds or ["revolute"] * len(lengths), lengths, strict=True):
        links.append(Link(kind, transform(np.eye(3), np.array([place, 0, 0])), Body.rod(1, length)))
        place = length
    tip, foot = (transform(np.eye(3), np.array([*each, 0.0])) for each in ((place, 0), base))
    return Robot(links, gravity, foot, tip)


def parallelogram_with_a_third_crank(**options):
    """The coupler of a parallelogram, carried in its middle by a third crank that is not needed."""
    chains = [planar_chain(1, 2, **options), planar_chain(1, base=(2, 0), **options)]
    third = planar_chain(1, base=(1, 0), **options)
    closures = [Pin(Point(1), Point(2)), Pin(Point(1, link=2, at=[1, 0, 0]), Point(3))]
    return Mechanism([*chains, third], closures, [(1, 1)], "parallelogram")


def slope(function, h=1e-3):
    """The derivative at 0, by differences of fourth order."""
    return (8 * (function(h) - function(-h)) - function(2 * h) + function(-2 * h)) / (12 * h)


# ---- Closures --------------------------------------------------------------------------------------


def assert_rates_of_gaps(mechanism, rng):
    q, dq = rng.uniform(-1, 1, (2, mechanism.n))
    J = constraint_jacobian(mechanism, q)
    columns = [slope(lambda t, k=k: gap(mechanism, q + t * np.eye(len(q))[k])) for k in range(len(q))]
    assert difference(J, np.transpose(columns)) < 1e-9
    turned = slope(lambda t: constraint_jacobian(mechanism, q + t * dq) @ dq)
    assert difference(constraint_bias(mechanism, q, dq), turned, size=1.0) < 1e-9


@for_seeds(4)
def test_closures_in_space_against_differences(seed):
    rng = np.random.default_rng(seed)
    arms = [replace(random_arm(rng, count), gravity=[0, 0, -9.81]) for count in (3, 2)]

    def anywhere():
        chain = int(rng.integers(3))
        link = [None, 1, 2][rng.integers(3)]
        return Point(chain, link if chain else None, rng.uniform(-1, 1, 3))

    closures = [
        Pin(Point(1), anywhere(), "xyz"),
        Pin(anywhere(), Point(2, 1, rng.uniform(-1, 1, 3)), "zx"),
        Rod(Point(2, 2, rng.uniform(1, 2, 3)), anywhere(), 0.7),
        Rod(Point(0, at=rng.uniform(3, 4, 3)), Point(1, 2), 0.2),
    ]
    mechanism = Mechanism(arms, [closures[0], closures[2], closures[3]], [])
    assert_rates_of_gaps(mechanism, rng)
    with_two_axes = Pin(Point(1, 1, rng.uniform(-1, 1, 3)), Point(2), "xz")
    assert_rates_of_gaps(Mechanism(arms, [with_two_axes, closures[1]], []), rng)


@for_seeds(4)
def test_closures_in_the_plane_against_differences(seed):
    rng = np.random.default_rng(seed)
    arms = [planar_chain(*rng.uniform(0.2, 1, 2), base=rng.uniform(-1, 1, 2)) for _ in range(2)]

    def somewhere(chain):
        return Point(chain, [None, 1, 2][rng.integers(3)] if chain else None, [*rng.uniform(-1, 1, 2), 0])

    closures = [
        Slot(somewhere(1), somewhere(2), [*rng.uniform(-1, 1, 2), 0]),
        Slot(somewhere(0), somewhere(1), [*rng.uniform(-1, 1, 2), 0]),
        Slot(somewhere(2), somewhere(0), [*rng.uniform(-1, 1, 2), 0]),
        Pin(somewhere(1), somewhere(2)),
        Rod(somewhere(1), somewhere(2), 1),
    ]
    assert_rates_of_gaps(Mechanism(arms, closures, []), rng)


def test_gaps_with_obvious_values():
    arm = planar_chain(1, 1)

    def found(closure, q=(0, np.pi / 2)):  # the tip is at (1, 1)
        return gap(Mechanism([arm], [closure], []), q).round(12).tolist()

    assert found(Pin(Point(1), Point(0))) == [1, 1]
    assert found(Pin(Point(0), Point(1), "xyz")) == [-1, -1, 0]
    assert found(Pin(Point(1), Point(0), "y")) == [1]
    assert found(Rod(Point(1), Point(0, at=[1, -2, 0]), 2.5)) == [0.5]  # too long
    assert found(Slot(Point(1), Point(0), [3, 0, 0])) == [1]  # above a level line
    assert found(Slot(Point(1), Point(0), [0, 1, 0])) == [-1]  # right of an upright one
    assert found(Slot(Point(0), Point(1, 2), [1, 0, 0])) == [1]  # the line stands upright at x = 1, and 0 lies left


def test_a_slot_on_a_slider_lies_in_the_plane():
    """A Scotch yoke: a crank whose end slides in an upright slot of a slider."""
    yoke = linkages.slider_crank(crank=1, rod=2, masses=[1, 1, 1]).chains[1]
    upright = np.linalg.inv(constraints.pose(Mechanism([yoke], [], []), [0], Point(1)))[:3, 1]
    yoke = Mechanism([planar_chain(1, gravity=[0, 0, 0]), yoke], [Slot(Point(1), Point(2, 1), upright)], [(1, 1)])
    q = close(yoke, [0.5, 0.7])
    assert q[1] == pytest.approx(np.cos(0.5))
    assert velocities.rates(yoke, q, [3]) == pytest.approx([3, -3 * np.sin(0.5)])
    assert velocities.accelerations(yoke, q, [3], [0]) == pytest.approx([0, -9 * np.cos(0.5)])


def test_gaps_of_a_batch_are_those_one_by_one():
    mechanism = Mechanism(
        [planar_chain(1, 1), planar_chain(2, base=(3, 0))],
        [Pin(Point(1), Point(2)), Rod(Point(1, 1), Point(2), 1), Slot(Point(2), Point(1, 2), [1, 1, 0])],
        [],
    )
    q, dq = np.random.default_rng(0).uniform(-2, 2, (2, 3, 4, 3))
    together = gap(mechanism, q), constraint_jacobian(mechanism, q), constraint_bias(mechanism, q, dq)
    assert [each.shape for each in together] == [(3, 4, 4), (3, 4, 4, 3), (3, 4, 4)]
    for index in np.ndindex(3, 4):
        one = (
            gap(mechanism, q[index]),
            constraint_jacobian(mechanism, q[index]),
            constraint_bias(mechanism, q[index], dq[index]),
        )
        for all_, each in zip(together, one, strict=True):
            assert difference(all_[index], each) < 1e-14


def test_symbols_give_the_gaps_of_numbers():
    l, a = sympy.symbols("l a")
    arm = linkages.three_legged()
    q, dq, _ = arm.motion_symbols()
    assert [str(each) for each in (*q[:2], *dq[2:4])] == ["theta11", "theta12", "dtheta21", "dtheta22"]
    exact = replace(arm, closures=[*arm.closures, Rod(Point(1), Point(0), l), Slot(Point(2), Point(3, 1), [1, a, 0])])
    rng = np.random.default_rng(1)
    values = {str(each): float(value) for each, value in zip(exact.symbols, rng.uniform(0.5, 1, 99), strict=False)}
    state = dict(zip([*q, *dq], rng.uniform(-2, 2, 12).tolist(), strict=True))
    numbers = exact.subs(values)
    assert not numbers.is_symbolic
    at, rates = ([state[each] for each in group] for group in (q, dq))
    both = [(gap(exact, q), gap(numbers, at)), (constraint_jacobian(exact, q), constraint_jacobian(numbers, at))]
    both.append((constraint_bias(exact, q, dq), constraint_bias(numbers, at, rates)))
    for symbolic, numeric in both:
        put_in = [entry.subs(values).subs(state) for entry in symbolic.flat]
        assert difference(np.array(put_in, dtype=float).reshape(numeric.shape), numeric) < 1e-13


def test_the_determinant_of_three_legs_is_that_of_b3_14c():
    """B3.14c: the determinant that is 0 where the inputs do not determine the position."""
    arm = linkages.three_legged()
    (q, _, _), l = arm.motion_symbols(), {ij: sympy.Symbol(f"l{ij}") for ij in (11, 12, 22, 32)}
    theta = dict(zip((11, 12, 21, 22, 31, 32), q, strict=True))
    columns = [list(theta).index(ij) for ij in (11, 12, 22, 32)]
    assert arm.v == columns
    J_v = sympy.Matrix(constraint_jacobian(arm, q)[:, columns])
    psi = {i: theta[10 * i + 1] + theta[10 * i + 2] for i in (2, 3)}
    printed = -l[11] * l[12] * l[22] * l[32] * sympy.sin(theta[12]) * sympy.sin(psi[3] - psi[2])
    assert sympy.expand(sympy.expand_trig(J_v.det() - printed)).equals(0)


# ---- Dependent rates -------------------------------------------------------------------------------


@for_seeds(8)
def test_rates_and_accelerations_are_derivatives_of_the_closed_form(seed):
    state = random_state(seed)
    q, dq, ddq = state.moving
    assert difference(state.q, q) < 1e-13
    assert difference(velocities.rates(state.linkage, state.q, state.du), dq) < 1e-12
    assert difference(velocities.accelerations(state.linkage, state.q, state.du, state.ddu), ddq) < 1e-12
    assert np.abs(gamma(state.linkage, state.q) @ state.du - dq).max() < 1e-12 * np.abs(dq).max()
    J = constraint_jacobian(state.linkage, state.q)
    assert np.abs(J @ gamma(state.linkage, state.q)).max() < 1e-13 * state.linkage.size * np.abs(dq).max()
    assert (gamma(state.linkage, state.q)[state.sketch.inputs] == np.eye(len(state.u))).all()


@for_seeds(6)
def test_point_jacobian_is_the_derivative_of_the_point(seed):
    """Virtual work: what a force does on a small motion is what the torques do that it is felt as."""
    state = random_state(seed)
    rng = np.random.default_rng(seed)
    chain, (along, across) = int(rng.integers(len(state.sketch.bases))), rng.uniform(-1, 1, 2)
    if state.sketch.kind == "slider-crank" and chain == 1:
        along = across = 0.0
    J = velocities.point_jacobian(state.linkage, state.q, Point(chain + 1, 1, [along, across, 0]))
    force, moment = np.array([*rng.uniform(-5, 5, 2), 0]), np.array([0, 0, 2.0])
    with mpmath.workdps(DIGITS):
        at = state.by_hand.path(state.u, state.du, state.ddu)
        x, y = (mpmath.diff(lambda t, k=k: state.by_hand.point(at(t), chain, 0, along, across)[k], 0) for k in range(2))
        spin = mpmath.diff(lambda t: state.by_hand.place(at(t), chain, 0)[2], 0)
        work = force[0] * x + force[1] * y + moment[2] * spin
    assert float(work) == pytest.approx(J.T @ [*force, *moment] @ state.du, rel=1e-11, abs=1e-11)


def test_rates_of_a_batch_are_those_one_by_one():
    u = np.random.default_rng(0).uniform(-0.3, 0.3, (3, 4, 2)) + np.array([2.5, -1.5])
    q, du, ddu = LEGS.positions(u, (1, 1)), u + 1, u - 2
    _, dq, ddq, Gamma = velocities.motion_of(LEGS, q, du, ddu)
    assert [each.shape for each in (dq, ddq, Gamma)] == [(3, 4, 6), (3, 4, 6), (3, 4, 6, 2)]
    J = velocities.point_jacobian(LEGS, q, LEGS.P)
    for index in np.ndindex(3, 4):
        one = velocities.motion_of(LEGS, q[index], du[index], ddu[index])
        for together, alone in zip((dq, ddq, Gamma), one[1:], strict=True):
            assert difference(together[index], alone) < 1e-12
        assert difference(J[index], velocities.point_jacobian(LEGS, q[index], LEGS.P)) < 1e-12
    many_rates = velocities.rates(LEGS, q[0, 0], du)
    assert difference(many_rates[2, 3], velocities.rates(LEGS, q[0, 0], du[2, 3])) < 1e-13


def test_rates_of_symbols_are_those_of_numbers():
    l1, l2 = sympy.symbols("l1 l2")
    exact = linkages.slider_crank(crank=l1, rod=l2, masses=sympy.symbols("m1:4"))
    theta, du, ddu = sympy.symbols("theta dtheta ddtheta")
    q = exact.positions([theta], [-1])
    assert not velocities.rates(exact, q, [du])[2].has(sympy.Float)
    values = {l1: 0.5, l2: 1.25, theta: 0.75, du: 2.0, ddu: -3.0}
    slider = l1 * sympy.cos(theta) + sympy.sqrt(l2**2 - l1**2 * sympy.sin(theta) ** 2)  # of every textbook
    first = slider.diff(theta) * du
    second = first.diff(theta) * du + slider.diff(theta) * ddu
    found = [velocities.rates(exact, q, [du])[2], velocities.accelerations(exact, q, [du], [ddu])[2]]
    for computed, expected in zip(found, (first, second), strict=True):
        assert float(computed.subs(values)) == pytest.approx(float(expected.subs(values)), rel=1e-13)


# ---- Mobility --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("linkage", "inputs", "expected"), [(FOUR_BAR, [0.5], 1), (FIVE_BAR, [2, 1], 2), (LEGS, [2.5, -1.5], 2)]
)
def test_mobility_of_well_known_linkages(linkage, inputs, expected):
    found = mobility(linkage, next(iter(linkage.assembly_modes(inputs).values())))
    assert found.mobility == expected
    assert found.rank == found.rank_here == found.equations == linkage.n - expected
    assert found.redundant == ()
    assert str(found).startswith(f"mobility {expected}: {linkage.n} coordinates")


def test_an_open_chain_has_all_its_coordinates():
    chain = Mechanism([planar_chain(1, 1)], [], [(1, 1), (1, 2)])
    assert mobility(chain, [1, 2]).mobility == 2
    assert (gamma(chain, [1, 2]) == np.eye(2)).all()
    assert gap(chain, [[1, 2]] * 3).shape == (3, 0)


def test_a_structure_cannot_move():
    triangle = Mechanism([planar_chain(1, 1)], [Pin(Point(1), Point(0, at=[1, 0, 0]))], [])
    q = close(triangle, [1, -2])
    assert q == pytest.approx([np.pi / 3, -2 * np.pi / 3])
    assert mobility(triangle, q).mobility == 0
    assert velocities.rates(triangle, q, []).tolist() == [0, 0]


def test_closures_given_twice_are_named_as_redundant():
    twice = replace(FOUR_BAR, closures=[*FOUR_BAR.closures, Pin(Point(2), Point(1))])
    q = FOUR_BAR.positions([0.7], [1])
    found = mobility(twice, q)
    assert (found.equations, found.rank, found.rank_here, found.mobility) == (4, 2, 2, 1)
    assert [name[:9] for name in found.redundant] == ["closure 2"] * 2
    assert "redundant: closure 2" in str(found)
    assert difference(gamma(twice, q), gamma(FOUR_BAR, q)) < 1e-13
    assert difference(velocities.accelerations(twice, q, [1], [2]), velocities.accelerations(FOUR_BAR, q, [1], [2])) < (
        1e-13
    )


def test_a_third_parallel_crank_is_redundant_wherever_it_closes():
    bars = parallelogram_with_a_third_crank()
    for angle in (0.5, 1.5, -2.0):
        q = close(bars, [angle + 0.01, -angle, angle, angle], hold=[(1, 1)])
        assert q - q[0] == pytest.approx([0, -2 * q[0], 0, 0], abs=1e-12)
        found = mobility(bars, q)
        assert (found.equations, found.rank, found.rank_here, found.mobility) == (4, 3, 3, 1)
        assert len(found.redundant) == 1
        assert found.redundant[0].startswith("closure 2")
        assert gamma(bars, q)[:, 0] == pytest.approx([1, -1, 1, 1])


def test_a_flat_parallelogram_loses_rank():
    q = FLAT.positions([0], [1])
    found = mobility(FLAT, q)
    assert (found.rank, found.rank_here) == (2, 1)
    assert found.redundant == ()
    assert "in this position only of rank 1: it is singular" in str(found)


# ---- Singular positions ----------------------------------------------------------------------------


def five_bar_with(**q):
    """A five-bar built around its position, from the absolute directions of its four bars."""
    c1, c2, d1, d2 = (np.array([np.cos(q[key]), np.sin(q[key])]) for key in ("crank1", "crank2", "bar1", "bar2"))
    base2 = c1 + 1.5 * d1 - 2 * d2 - 0.5 * c2
    bars = linkages.five_bar(bases=[[0, 0], base2], lengths=[[1, 1.5], [0.5, 2]], masses=[[1, 1], [1, 1]])
    return bars, [q["crank1"], q["bar1"] - q["crank1"], q["crank2"], q["bar2"] - q["crank2"]]


@pytest.mark.parametrize(
    ("directions", "kind"),
    [
        ({"crank1": 2.0, "crank2": 1.0, "bar1": 0.4, "bar2": 2.2}, 0),
        ({"crank1": 0.4, "crank2": 1.0, "bar1": 0.4, "bar2": 2.2}, 1),  # leg 1 is stretched
        ({"crank1": 2.0, "crank2": 2.2 + np.pi, "bar1": 0.4, "bar2": 2.2}, 1),  # leg 2 is folded
        ({"crank1": 2.0, "crank2": 1.0, "bar1": 0.4, "bar2": 0.4 + np.pi}, 2),  # the couplers are in line
        ({"crank1": 0.4, "crank2": 1.0, "bar1": 0.4, "bar2": 0.4 + np.pi}, 3),
    ],
)
def test_kinds_of_singular_positions(directions, kind):
    bars, q = five_bar_with(**directions)
    found = singularity(bars, q, bars.output)
    assert found.kind == kind
    assert max(abs(found.forward), abs(found.inverse)) <= 1
    assert (abs(found.inverse) < 1e-9) == (kind in (1, 3))
    if kind < 2:
        assert gamma(bars, q).shape == (4, 2)
    else:
        with pytest.raises(SingularPosition, match="joint 2 of chain 1 and joint 2 of chain 2, which can move a lit"):
            gamma(bars, q)


def test_the_arm_with_three_legs_is_singular_where_b3_14c_says():
    arm = LEGS
    stretched = linkages.three_legged(
        bases=[[0, 0], [1.5, 0.5], [0, 1]],
        lengths=[[0.5, 0.5], [0.5, 0.5], [0.8, np.hypot(1, 0.2)]],  # C is at (1, 0)
        masses=[[1, 1]] * 3,
        l_pc=0.1,
        m_pc=1,
    )
    q = [0, 0, -np.pi / 2, -np.pi / 2, -np.pi / 2, np.pi / 2 - np.arctan(0.2)]
    assert singularity(stretched, q, stretched.P).kind >= 2  # chain 1 is straight
    with pytest.raises(SingularPosition, match="rates of joint 1 of chain 1 and joint 2 of chain 1, which"):
        gamma(stretched, q)
    assert singularity(arm, arm.positions([2.5, -1.5], (1, 1)), arm.P).kind == 0


def test_a_singular_position_is_named_with_its_coordinates():
    with pytest.raises(
        SingularPosition, match=r"q = \[.*\] is a singular position of four-bar \(forward, type 2\)"
    ) as e:
        gamma(ROCKING, _dead_centre())
    assert e.value.q == pytest.approx(_dead_centre())


def _dead_centre():
    """ROCKING where coupler and rocker are in line: a triangle of 3, 4 and 4.5."""
    crank = np.arccos((9 + 16 - 4.5**2) / 24)
    rocker = np.pi - np.arccos((4.5**2 + 16 - 9) / (2 * 4.5 * 4))
    return np.array([crank, rocker - np.pi - crank, rocker])


# ---- Finding closed positions ----------------------------------------------------------------------


@for_seeds(6)
def test_close_finds_the_mode_near_the_guess(seed):
    state = random_state(seed)
    rng = np.random.default_rng(seed)
    guess = state.q + rng.uniform(-0.02, 0.02, len(state.q))
    guess[state.sketch.inputs] = state.u
    found = close(state.linkage, guess)
    assert found == pytest.approx(state.q, abs=1e-12)
    free = close(state.linkage, state.q + rng.uniform(-0.02, 0.02, len(state.q)), hold=())
    assert np.abs(gap(state.linkage, free)).max() < 1e-14 * state.linkage.size
    assert np.abs(free - state.q).max() < 0.3


def test_close_can_hold_any_coordinates():
    q = FOUR_BAR.positions([1.0], [1])
    guess = q + np.array([0.1, -0.1, 0])
    found = close(FOUR_BAR, guess, hold=[(2, 1)])
    assert found[2] == q[2]
    assert found == pytest.approx(q, abs=1e-12)


def test_close_from_far_away_or_not_at_all():
    found = close(FOUR_BAR, [0.5, 3, -3])
    assert np.abs(gap(FOUR_BAR, found)).max() < 1e-14
    rest = linkages.four_bar(ground=4, crank=3, coupler=2, rocker=2, masses=[1, 1, 1])
    with pytest.raises(ClosureError, match="does not close near this guess with joint 1 of chain 1 held.*gap of") as e:
        close(rest, [np.pi / 2, 0, 0.0])  # the bars would have to span 5 m with 4 m
    assert e.value.gap == pytest.approx(1 * 4 / 5, rel=0.02)  # the larger component of the missing metre


@pytest.mark.parametrize(("mode", "points"), [([1], 2), ([-1], 4), ([1], 40)])
def test_follow_keeps_the_mode_over_a_full_turn(mode, points):
    path = np.linspace(0, 2 * np.pi, points)[:, None]
    found = follow(FOUR_BAR, FOUR_BAR.positions([0], mode), path)
    expected = FOUR_BAR.positions(path, mode)
    assert np.abs(np.exp(1j * found) - np.exp(1j * expected)).max() < 1e-12
    assert np.abs(gap(FOUR_BAR, found[1])).max() < 1e-13
    turn = np.linspace(0, 2 * np.pi, 24 * (points - 1) + 1)[:, None]
    fine = np.unwrap(FOUR_BAR.positions(turn, mode), axis=0)[::24]
    assert found[:, 2] == pytest.approx(fine[:, 2], abs=1e-12)
    assert found[:, 1] - found[0, 1] == pytest.approx(fine[:, 1] - fine[0, 1], abs=1e-12)


@for_seeds(2)
def test_follow_does_not_jump_on_coarse_paths(seed):
    path = np.random.default_rng(seed).uniform(-2, 2, (3, 2))
    found = follow(FIVE_BAR, FIVE_BAR.positions(path[0], [-1]), path)
    assert found[:, [0, 2]] == pytest.approx(path)
    assert np.abs(np.exp(1j * found) - np.exp(1j * FIVE_BAR.positions(path, [-1]))).max() < 1e-12


def test_follow_through_a_singular_position_says_where():
    dead = float(_dead_centre()[0])
    with pytest.raises(SingularPosition, match="cannot be followed beyond the inputs") as e:
        follow(ROCKING, ROCKING.positions([0.8], [1]), [[0.8], [1.0], [2.0], [0.5]])
    assert "between its points 2 and 3" in str(e.value)
    assert float(re.search(r"beyond the inputs \[(.*?)\]", str(e.value))[1]) == pytest.approx(dead, abs=2e-6)
    assert e.value.q[0] == pytest.approx(dead, abs=2e-6)


def test_follow_takes_paths_of_one_point_and_of_points_twice():
    q = FOUR_BAR.positions([0.5], [1])
    assert follow(FOUR_BAR, q, [[0.5]]).tolist() == [q.tolist()]
    assert follow(FOUR_BAR, q, [[0.5], [0.5], [0.6]])[1] == pytest.approx(q, abs=1e-14)


# ---- Input that cannot be meant --------------------------------------------------------------------


def test_follow_refuses_paths_that_do_not_fit():
    q = FOUR_BAR.positions([0.5], [1])
    with pytest.raises(ValueError, match=r"the path starts at \[0.6\], q at \[0.5\]; expected the same inputs"):
        follow(FOUR_BAR, q, [[0.6], [0.7]])
    with pytest.raises(ValueError, match=r"expected \(K, 1\) and \(3,\)"):
        follow(FOUR_BAR, q, [0.5])
    with pytest.raises(ValueError, match="path has 2 entries; four-bar has 1 input"):
        follow(FOUR_BAR, q, [[0.5, 1]])
    with pytest.raises(ClosureError, match="does not close four-bar"):
        follow(FOUR_BAR, q + np.array([0, 0.1, 0]), [[0.5], [0.7]])


def test_positions_that_do_not_close_are_refused_with_the_gap():
    q = FOUR_BAR.positions([0.5], [1]) + np.array([0, 0, 0.1])
    message = r"does not close four-bar: the gap of closure 1 \(pin of the tip of chain 1 to the tip of chain 2\), [xy]"
    for call in (
        lambda: gamma(FOUR_BAR, q),
        lambda: velocities.rates(FOUR_BAR, q, [1]),
        lambda: velocities.accelerations(FOUR_BAR, q, [1], [1]),
        lambda: velocities.point_jacobian(FOUR_BAR, q, Point(1)),
        lambda: mobility(FOUR_BAR, q),
        lambda: singularity(FOUR_BAR, q, Point(1)),
        lambda: gamma(FOUR_BAR, [FOUR_BAR.positions([0.5], [1]), q]),
    ):
        with pytest.raises(ClosureError, match=message) as e:
            call()
        assert e.value.gap == pytest.approx(np.abs(gap(FOUR_BAR, q)).max())


def test_inputs_must_be_as_many_as_the_mobility_and_independent():
    q = LEGS.positions([2.5, -1.5], (1, 1))
    with pytest.raises(ValueError, match="has the mobility 2 .* and 1 input; choose 1 more"):
        gamma(replace(LEGS, inputs=[(2, 1)]), q)
    with pytest.raises(ValueError, match="has the mobility 2 .* and 3 inputs; choose 1 fewer"):
        gamma(replace(LEGS, inputs=[(1, 1), (2, 1), (3, 1)]), q)
    with pytest.raises(ValueError, match="has the mobility 1 .* and 0 inputs; choose 1 more"):
        gamma(replace(FOUR_BAR, inputs=[]), FOUR_BAR.positions([0.5], [1]))
    beam = Mechanism([planar_chain(1, 1), planar_chain(1, base=(2, 0))], [Pin(Point(1), Point(0, at=[1, 1, 0]))], [])
    q = [*close(replace(beam, chains=beam.chains[:1]), [0, 1.5], hold=()), 0.3]
    with pytest.raises(ValueError, match="joint 1 of chain 1 cannot be the inputs of mechanism: they depend on each"):
        gamma(replace(beam, inputs=[(1, 1)]), q)  # chain 1 is a triangle with the ground and cannot move


def test_values_of_wrong_shape_are_refused():
    q = LEGS.positions([2.5, -1.5], (1, 1))
    with pytest.raises(
        ValueError, match=r"q has 2 entries \(these are only the inputs; see positions, close, .*\).*\(6,\)"
    ):
        gap(LEGS, [2.5, -1.5])
    with pytest.raises(ValueError, match=r"dq has 5 entries; the chains of three-legged arm have 2, 2, 2 joints"):
        constraint_bias(LEGS, q, [0] * 5)
    with pytest.raises(
        ValueError, match="du has 6 entries; three-legged arm has 2 inputs .joint 1 of chain 2, joint 1"
    ):
        velocities.rates(LEGS, q, [0] * 6)
    with pytest.raises(ValueError, match="the batches do not fit together"):
        constraint_bias(LEGS, [q] * 3, np.zeros((2, 6)))
    with pytest.raises(ValueError, match="q"):
        gap(LEGS, [np.nan] * 6)
    with pytest.raises(TypeError, match="theta"):
        gap(LEGS, linkages.three_legged().motion_symbols()[0])
    with pytest.raises(ValueError, match=r"close takes one position, shape \(6,\)"):
        close(LEGS, [q, q])


def test_parts_that_do_not_exist_are_refused():
    chain = planar_chain(1, 1)
    with pytest.raises(ValueError, match="closure 1 names chain 2; mechanism has the chains 1 to 1, and 0 for the gr"):
        Mechanism([chain], [Pin(Point(1), Point(2))], [])
    with pytest.raises(ValueError, match="closure 1 names link 3 of chain 1, which has the links 1 to 2, or None"):
        Mechanism([chain], [Pin(Point(1, 3), Point(0))], [])
    with pytest.raises(ValueError, match=r"input \(1, 3\): mechanism has no joint 3 in chain 1"):
        Mechanism([chain], [], [(1, 3)])
    with pytest.raises(ValueError, match=r"input \(0, 1\): mechanism has no joint 1 in chain 0"):
        Mechanism([chain], [], [(0, 1)])
    with pytest.raises(ValueError, match=r"input \(1, 1\) is named twice"):
        Mechanism([chain], [], [(1, 1), (1, 1)])
    with pytest.raises(ValueError, match="has no chains"):
        Mechanism([], [], [])
    with pytest.raises(TypeError, match="chain 1 is 'arm'; expected a Robot"):
        Mechanism(["arm"], [], [])
    with pytest.raises(ValueError, match="the point names chain 4; four-bar has the chains 1 to 2"):
        constraints.pose(FOUR_BAR, [0, 0, 0], Point(4))


def test_gravity_must_be_one():
    chains = [planar_chain(1), planar_chain(1, gravity=[0, 0, 0])]
    with pytest.raises(ValueError, match=r"chain 2 has the gravity \[0.0, 0.0, 0.0\], chain 1 \[0.0, -9.81, 0.0\]"):
        Mechanism(chains, [], [])
    assert Mechanism([chain.__class__(chain.links, DOWN) for chain in chains], [], []).gravity.tolist() == DOWN
    assert FOUR_BAR.with_gravity([0, 0, 0]).chains[1].gravity.tolist() == [0, 0, 0]


def test_closures_of_the_plane_are_refused_in_space():
    arms = [random_arm(np.random.default_rng(seed), 2) for seed in (0, 0)]
    for closure in (Pin(Point(1), Point(2)), Slot(Point(1), Point(2), [1, 0, 0])):
        with pytest.raises(ValueError, match='joint 1 of chain 1 leaves the x-y plane.*axes="xyz"'):
            Mechanism(arms, [closure], [])
    rail = replace(planar_chain(1), links=[Link("prismatic", np.eye(4), Body(1))])  # it slides out of the plane
    with pytest.raises(ValueError, match="joint 1 of chain 2 leaves the x-y plane"):
        Mechanism([planar_chain(1), rail], [Pin(Point(1), Point(2))], [])
    assert Mechanism(arms, [Pin(Point(1), Point(2), "xyz"), Rod(Point(1), Point(2), 1)], []).n == 4


def test_closures_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match='axes is "?\'xw\'"?; expected "xy"'):
        Pin(Point(1), Point(2), "xw")
    with pytest.raises(ValueError, match="axes is 'xx'"):
        Pin(Point(1), Point(2), "xx")
    with pytest.raises(ValueError, match="axes is ''"):
        Pin(Point(1), Point(2), "")
    for length in (0, -1):
        with pytest.raises(ValueError, match="expected more than 0. For two points in one, use a Pin"):
            Rod(Point(1), Point(2), length)
    with pytest.raises(ValueError, match=r"direction of the slot is \[0, 0, 0\]"):
        Slot(Point(1), Point(2), [0, 0, 0])
    with pytest.raises(ValueError, match="at"):
        Point(1, at=[1, 2])


def test_symbols_of_a_mechanism():
    arm = linkages.three_legged()
    with pytest.raises(ValueError, match="three-legged arm has no symbol 'l99'; it has .*l11, .*l_pc"):
        arm.subs({"l99": 1})
    some = arm.subs({"l11": 2})
    assert some.is_symbolic
    assert "l11" not in map(str, some.symbols)
    assert LEGS.exact().is_symbolic
    assert LEGS.exact().subs({}).symbols == ()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_description(kind):
    state = random_state(0, kind)
    assert str(state.linkage).startswith(state.linkage.name + ": ")
    assert state.linkage.joint_name(state.linkage.u[0]).startswith("joint 1 of chain ")


# ---- Data that mean nothing ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Point(1.5), TypeError, "chain of a point is 1.5; expected a whole number"),
        (lambda: Point(1, 1.5), TypeError, "link of a point is 1.5; expected a whole number"),
        (lambda: replace(FOUR_BAR, closures=["pin"]), TypeError, "closure 1 is 'pin'; expected a Pin, Rod or Slot"),
        (lambda: replace(FOUR_BAR, inputs=[1]), ValueError, "input 1: expected a chain and a joint, such as .1, 2."),
        (
            lambda: replace(FOUR_BAR, closures=[Slot(Point(1), Point(2), [0, 0, 1])]),
            ValueError,
            "direction .0.0, 0.0, 1.0. of closure 1 leaves the x-y plane",
        ),
        (
            lambda: close(FOUR_BAR, FOUR_BAR.positions([0.5], [1]), hold=[(1, 9)]),
            ValueError,
            "hold .1, 9.: four-bar has no joint 9 in chain 1",
        ),
        (
            lambda: singularity(FOUR_BAR, FOUR_BAR.positions([0.5], [1]), Point(1), axes="xw"),
            ValueError,
            "axes is 'xw'",
        ),
        (
            lambda: mobility(FOUR_BAR, FOUR_BAR.positions([[0.5], [0.6]], [1])),
            ValueError,
            "mobility takes one position, shape .3,.; got the shape .2, 3.",
        ),
        (
            lambda: close(FOUR_BAR.exact(), [1, 1, 1]),
            ValueError,
            "close computes with floats, and four-bar is exact",
        ),
    ],
)
def test_data_that_mean_nothing_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_symbolic_gamma_needs_no_lucky_pivot():
    """The coupler of a parallelogram stays level, where l sin(theta11 + theta12) = 0 is no singular position."""
    bars = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1]).exact()
    q = [sympy.Rational(7, 10), -sympy.Rational(7, 10), sympy.Rational(7, 10)]
    assert gamma(bars, q)[:, 0].astype(float) == pytest.approx([1, -1, 1], abs=1e-14)


# ---- One equation alone, and positions to rounding --------------------------------------------------


def shaper(inputs):
    """A crank whose pin slides in a slot of a rocking lever: one closure equation."""
    at = np.eye(4)
    at[:3, 3] = [0, -0.3, 0]
    reach = np.eye(4)
    reach[0, 3] = 0.08
    crank = Robot([Link("revolute", np.eye(4), Body.rod(1, 0.08))], DOWN, tool=reach, name="crank")
    lever = Robot([Link("revolute", np.eye(4), Body.rod(5, 0.5))], DOWN, at, name="lever")
    return Mechanism([crank, lever], [Slot(Point(1), Point(2, 1), [1, 0, 0])], inputs, "shaper")


def test_the_lever_swings_as_far_as_the_tangent():
    by_crank = shaper([(1, 1)])
    path = np.linspace(0, 2 * np.pi, 361)[:, None]
    q = follow(by_crank, close(by_crank, [0.0, 1.3]), path)
    assert np.ptp(q[:, 1]) == pytest.approx(2 * np.arcsin(0.08 / 0.3), rel=1e-4)


@pytest.mark.parametrize("side", [1, -1])
def test_the_end_of_the_swing_is_singular_for_the_lever(side):
    by_lever = shaper([(2, 1)])
    tangent = np.arcsin(0.08 / 0.3)
    q = close(by_lever, [-side * tangent + (np.pi if side < 0 else 0), np.pi / 2 - side * tangent], hold=[(1, 1)])
    assert int(singularity(by_lever, q, Point(1), axes="x").kind) & 2
    with pytest.raises(SingularPosition, match="joint 1 of chain 2 does not determine the rates of joint 1 of chain 1"):
        gamma(by_lever, q)
    q = close(by_lever, [q[0] + 0.1, q[1]], hold=[(1, 1)])
    assert abs(gamma(by_lever, q)[0, 0]) > 10


def test_signs_change_where_a_singular_position_is_passed():
    arm = LEGS
    way = np.linspace([0.25, 0.45], [0.36, 0.45], 201)
    q = arm.working_position(way, (1, 1, -1))
    found = singularity(arm, q, arm.P)
    assert found.forward.shape == (201,)
    factors = np.sin(q[:, 1]) * np.sin(q[:, 5] + q[:, 4] - q[:, 3] - q[:, 2])
    assert (np.sign(found.forward) == -np.sign(factors)).all()


def test_a_path_of_many_turns_shows_how_far_it_is(monkeypatch, capsys):
    seconds = iter(range(10**9))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds))
    crank = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[1, 1, 1])
    start = crank.positions([0.5], [1])
    end = positions.follow(crank, start, [[0.5], [0.5 + 10 * np.pi]])[-1]
    assert end - start == pytest.approx([10 * np.pi, -10 * np.pi, 0], abs=1e-9)
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "follow: 0.0% done after 3 s, no estimate yet"
    assert re.fullmatch(r"follow: \d+\.\d% done after .*, about \d+ (s|min) left", shown[-1])


def test_a_long_path_is_not_taken_for_one_that_cannot_be_followed(monkeypatch):
    """From one point to the next it is so far that a step is less than 1e-7 of the way."""
    crank = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[1, 1, 1])
    start = crank.positions([0.5], [1])
    steps = []

    def stepped(mechanism, q, change, side):
        if abs(change[0]) > 0.25:
            return None
        steps.append(change[0])
        if len(steps) > 3:
            raise KeyboardInterrupt
        return q + np.array([change[0], 0, 0])

    monkeypatch.setattr(positions, "_stepped", stepped)
    with pytest.raises(KeyboardInterrupt):
        positions.follow(crank, start, [[0.5], [1e7]])
    assert steps[0] == pytest.approx(1e7 * 0.5**26)


# ---- Points that are carried -----------------------------------------------------------------------


@for_seeds(4)
def test_points_move_as_their_positions_do(seed):
    """Velocity and acceleration by differences of positions along a closed motion of the inputs."""
    state = random_state(seed)
    linkage, h = state.linkage, 1e-3
    chain = linkage.chains[-1]
    for point in (Point(len(linkage.chains), chain.n, at=[0.2, -0.1, 0]), Point(1), Point(0, at=[1, 2, 0])):
        times = np.arange(-3, 4) * h
        u = state.u + np.outer(times, state.du) + np.outer(times**2 / 2, state.ddu)
        places = positions.follow(linkage, linkage.positions(u[0], state.mode), u)
        along = np.array([constraints.pose(linkage, q, point)[:3, 3] for q in places])
        first = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * h)
        second = np.array([2, -27, 270, -490, 270, -27, 2]) / (180 * h**2)
        v, omega = velocities.point_velocity(linkage, state.q, state.du, point)
        a, domega = velocities.point_acceleration(linkage, state.q, state.du, state.ddu, point)
        size = 1 + np.abs(a).max()
        assert v == pytest.approx(first @ along, abs=1e-7 * size)
        assert a == pytest.approx(second @ along, abs=1e-5 * size)
        if point.chain:
            spin = np.array([velocities.rates(linkage, q, state.du) for q in places[3:4]])[0]
            first_joint = linkage.first[point.chain - 1]
            turning = [link.turn for link in linkage.chains[point.chain - 1].links]
            carried = linkage.chains[point.chain - 1].n if point.link is None else point.link
            assert omega[2] == pytest.approx(spin[first_joint:][:carried] @ turning[:carried], abs=1e-9)
            many = velocities.point_acceleration(linkage, [state.q] * 2, state.du, [state.ddu, 0 * state.ddu], point)
            assert many[0][0] == pytest.approx(a)
        assert np.shape(domega) == (3,)
