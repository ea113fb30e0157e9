"""Where torques do not determine accelerations: positions that people type, in which a zero is only rounding."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf

from dynlib import closed_chains, linkages, robots, structure
from dynlib.closed_chains import SingularPosition, dynamics
from dynlib.frames import transform
from dynlib.model import Body, Link, Mechanism, Motor, Point, Robot, Rod
from dynlib.motion import SimulationError, closed_equations, forward, forward_dynamics, simulate
from dynlib.motion.closed_chains import _Run
from dynlib.newton_euler import inverse_dynamics
from dynlib.velocity import jacobian

PI = 3.141592653589793
IN_LINE = [0.0, PI, -PI, np.radians(180), np.radians(-180), 2 * np.pi, -3 * np.pi, np.radians(540), 6 * (np.pi / 6)]
TWELFTHS = [k * np.pi / 6 for k in range(-6, 7)]
BENT = [angle for k, angle in zip(range(-6, 7), TWELFTHS, strict=True) if k % 6]


def rotation(axis: int, angle: float) -> np.ndarray:
    """A turn about x, y or z as a transform."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T = np.eye(4)
    T[i, i] = T[j, j] = np.cos(angle)
    T[j, i] = np.sin(angle)
    T[i, j] = -T[j, i]
    return T


def light_elbow(convention, alpha=0.0, offsets=(0.0, 0.0), upper=0.0, tip=1.0, size=1.0):
    """Two links of one length with point masses at their ends; both tables describe the same arm, but for a twist."""
    if convention == "modified":
        rows = [
            dict(alpha=alpha, a=0.3, offset=offsets[0], mass=upper, com=[size, 0, 0]),
            dict(a=size, offset=offsets[1], mass=tip, com=[size, 0, 0]),
        ]
    else:
        rows = [
            dict(a=size, offset=offsets[0], mass=upper),
            dict(a=size, alpha=alpha, offset=offsets[1], mass=tip),
        ]
    return Robot.from_dh(rows, convention=convention, gravity=[0, 0, 0])


# ---- Serial arms: what has no inertia --------------------------------------------------------------


@pytest.mark.parametrize("convention", ["modified", "standard"])
@pytest.mark.parametrize("folded", IN_LINE)
def test_a_light_elbow_in_line_is_refused_wherever_it_points(convention, folded):
    for alpha, offset in zip([0.0, np.pi / 2, -np.pi / 6, PI, 0.0], TWELFTHS[::3], strict=True):
        arm = light_elbow(convention, alpha, (offset, offset))
        states = np.array([[first, folded - offset] for first in TWELFTHS])
        for q in states[::3]:
            with pytest.raises(ValueError, match=r"is singular at q = .* link 1 has neither mass nor inertia"):
                forward_dynamics(arm, q, [0, 0], [1, 1])
        with pytest.raises(ValueError, match="is singular at q = "):
            simulate(arm, states[1], [0, 0], [0, 1])
        with pytest.raises(ValueError, match="is singular at q = "):
            structure.operational_inertia(arm, states[2], rows=[0])
        bent = states + np.array([0, 1.0])
        forward_dynamics(arm, bent, [0, 0], [1, 1])
        bent[3] = states[3]
        with pytest.raises(ValueError, match=re.escape(f"at q = {states[3].tolist()} (state 3 of the batch)")):
            forward_dynamics(arm, bent, [0, 0], [1, 1])


def elbow_accelerations(angle, tau, upper, tip):
    """Accelerations of the elbow arm at rest, with 60 digits."""
    with mp.workdps(60):
        c, m1, m2 = mp.cos(mpf(angle)), mpf(upper), mpf(tip)
        M = mp.matrix([[m1 + m2 * (2 + 2 * c), m2 * (1 + c)], [m2 * (1 + c), m2]])
        return [float(each) for each in mp.lu_solve(M, mp.matrix([mpf(each) for each in tau]))]


@pytest.mark.parametrize("convention", ["modified", "standard"])
@pytest.mark.parametrize(("upper", "tip"), [(0.0, 1.0), (1.0, 1e6), (1e6, 1.0), (1e-6, 1e-6), (1e7, 1e7)])
def test_a_bent_elbow_is_computed_and_right(convention, upper, tip):
    for q, alpha in product(BENT, TWELFTHS[::3]):
        arm = light_elbow(convention, alpha, upper=upper, tip=tip)
        expected = np.array(elbow_accelerations(q, [1, 2], upper, tip))
        found = forward_dynamics(arm, [0.3, q], [0, 0], [1, 2])
        assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


@pytest.mark.parametrize("convention", ["modified", "standard"])
@pytest.mark.parametrize("beside", [1e-5, -1e-5, 1e-4, np.pi - 1e-5, -np.pi + 1e-5, 2 * np.pi + 1e-5])
def test_beside_a_singular_position_the_elbow_is_computed(convention, beside):
    arm = light_elbow(convention)
    expected = elbow_accelerations(beside, [1, 2], 0, 1)
    assert forward_dynamics(arm, [0.3, beside], [0, 0], [1, 2]) == pytest.approx(expected, rel=1e-4)
    motion = simulate(arm, [0.3, beside], [0, 0], [0, 1e-12], [1, 2], rtol=1e-3, atol=1e-3)
    assert motion.ddq[0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 10.0])
@pytest.mark.parametrize("upper", [0.0, 1.0])
def test_arms_of_any_size_are_computed(size, upper):
    arm = light_elbow("modified", upper=upper, size=size)
    for q in BENT:
        expected = np.array(elbow_accelerations(q, [1, 2], upper, 1.0)) / size**2
        found = forward_dynamics(arm, [0.3, q], [0, 0], [1, 2])
        assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    if not upper:
        for q in IN_LINE:
            with pytest.raises(ValueError, match="is singular at q = "):
                forward_dynamics(arm, [0.3, q], [0, 0], [1, 2])


def rod_along_joint_axis(convention, alpha, turned):
    """A rod of 1 kg and 0.4 m that lies along the axis of joint 2, however its axes are turned."""
    upright = rotation(1, -np.pi / 2)  # takes x to z
    rod = Body.rod(1, 0.4).moved(rotation(2, turned) @ upright)
    first = dict(mass=1, com=[0.2, 0, 0], inertia=[0.01] * 3)
    if convention == "modified":
        rows = [first, dict(a=0.5, alpha=alpha, body=rod)]
    else:  # the far axes of link 2 are turned by alpha about x against its joint
        rows = [first | dict(alpha=0.7), dict(alpha=alpha, body=rod.moved(rotation(0, -alpha)))]
    return Robot.from_dh(rows, convention=convention, gravity=[0, 0, -9.81])


@pytest.mark.parametrize("convention", ["modified", "standard"])
@pytest.mark.parametrize("alpha", TWELFTHS)
def test_a_thin_rod_along_its_joint_axis_is_refused(convention, alpha):
    for turned in TWELFTHS[::3]:
        arm = rod_along_joint_axis(convention, alpha, turned)
        for q in ([0.3, 0.2], [PI, -PI], [np.pi / 2, np.pi / 6]):
            with pytest.raises(
                ValueError, match="joint 2 can move without resistance, for link 2 has no inertia about an axis"
            ):
                forward_dynamics(arm, q, [0, 0], [0, 1.0])
        with pytest.raises(ValueError, match="joint 2 can move without resistance"):
            simulate(arm, [0.3, 0.2], [0, 0], [0, 1])
    driven = replace(arm.links[1], motor=Motor(inertia=1e-6))
    tau = [0.1, 0.2]
    arm = replace(arm, links=[arm.links[0], driven])
    ddq = forward_dynamics(arm, [0.3, 0.2], [0, 0], tau)
    assert inverse_dynamics(arm, [0.3, 0.2], [0, 0], ddq) == pytest.approx(tau, rel=1e-6)


def test_a_point_mass_on_the_axis_is_refused_where_lengths_cancel():
    shift = transform(np.eye(3), np.array([-0.3, 0, 0]))
    on_axis = Body(2, com=[0.1 + 0.2, 0, 0]).moved(shift)  # 0.1 + 0.2 - 0.3 is 5.6e-17
    assert on_axis.com[0] != 0
    for tool in (0.0, 0.5):
        arm = Robot(
            [Link("revolute", np.eye(4), on_axis)], [0, 0, 0], tool=transform(np.eye(3), np.array([tool, 0, 0]))
        )
        with pytest.raises(ValueError, match="joint 1 can move without resistance"):
            forward_dynamics(arm, [0.2], [0], [1])
    for alpha, offset in product(TWELFTHS[::2], TWELFTHS):
        rows = [dict(a=0.7, alpha=alpha, offset=offset, mass=3, com=[-0.7, 0, 0])]
        arm = Robot.from_dh(rows, convention="standard", gravity=[0, 0, 0])
        with pytest.raises(ValueError, match="joint 1 can move without resistance"):
            forward_dynamics(arm, [0.2], [0], [1])


def test_a_point_mass_that_slides_onto_the_axis():
    arm = robots.rp(I1=0, m1=0, m2=2, g=0)
    lifted = Link("prismatic", transform(np.eye(3), np.array([0, 0, 0.3])), arm.links[1].body)
    for q in ([0.4, 0.0], [PI, 1e-16], [0.0, -1e-17]):
        with pytest.raises(ValueError, match="joint 1 can move without resistance"):
            forward_dynamics(arm, q, [0, 0], [1, 1])
    assert forward_dynamics(arm, [0.4, 1e-5], [0, 0], [1, 1]) == pytest.approx([0.5e10, 0.5], rel=1e-9)
    far = Robot([Link("revolute", np.eye(4), Body(0)), replace(lifted, fixed=rotation(0, np.pi / 2) @ lifted.fixed)],
                gravity=[0, 0, 0])  # fmt: skip
    with pytest.raises(ValueError, match="joint 1 can move without resistance"):
        forward_dynamics(far, [0.4, 0.1 - 0.4], [0, 0], [1, 1])
    assert forward_dynamics(far, [0.4, 0.2], [0, 0], [1, 1]) == pytest.approx([1 / (2 * 0.5**2), 0.5])


def big_arm(wrist: float) -> Robot:
    """A large robot with a light last link."""
    heavy = dict(mass=400, com=[0.5, 0.1, 0.2], inertia=[10, 20, 25])
    rows = [
        dict(**heavy),
        dict(a=0.5, alpha=-np.pi / 2, **heavy),
        dict(a=1.3, **heavy),
        dict(d=1.5, alpha=-np.pi / 2, mass=50, inertia=[1, 1, 1]),
        dict(alpha=np.pi / 2, mass=20, inertia=[0.1] * 3),
        dict(alpha=-np.pi / 2, mass=0.1, inertia=[wrist] * 3),
    ]
    return Robot.from_dh(rows, convention="modified", gravity=[0, 0, -9.81])


@pytest.mark.parametrize("wrist", [1e-4, 1e-8])
def test_a_light_wrist_on_a_large_robot_is_computed(wrist):
    arm = big_arm(wrist)
    for q in product([0, PI], [0, np.pi / 2], [np.pi / 6], [0, PI], [np.pi / 2, 1.0], [0.0]):
        asked = np.array([1, -2, 3, 40, -50, 60.0])
        tau = inverse_dynamics(arm, q, [0] * 6, asked)
        bias = inverse_dynamics(arm, q, [0] * 6, [0] * 6)
        found = forward_dynamics(arm, q, [0] * 6, tau)
        assert structure.mass_matrix(arm, q) @ found == pytest.approx(tau - bias, rel=1e-9, abs=1e-12 * wrist)
        assert found[:5] == pytest.approx(asked[:5], rel=1e-6)
    with pytest.raises(ValueError, match="joint 6 can move without resistance, for link 6 has no inertia"):
        forward_dynamics(big_arm(0.0), [0, 0, 0, PI, PI, 0], [0] * 6, [0] * 6)


def test_pivots_are_measured_by_the_arm_not_by_their_own_rounding():
    M = [[2.0, 1e-17, 0.0], [1e-17, 1e-32, 0.0], [0.0, 0.0, 1.0]]
    for free in ([True] * 3, [False, True, True]):
        with pytest.raises(ZeroDivisionError):
            forward._solve(M, [1.0, 1.0, 1.0], free, [1e-13] * 3)
    with pytest.raises(ZeroDivisionError):
        forward._solve([row[:2] for row in M[:2]], [1.0, 1.0], [True, True], [1e-13] * 2)
    with pytest.raises(ZeroDivisionError):
        forward._solve([[1e-32, 0.0], [0.0, 1.0]], [1.0, 1.0], [True, True], [1e-13] * 2)
    assert forward._solve(M, [1.0, 1.0, 1.0], [True, False, True], [1e-13] * 3) == [0.5, 0.0, 1.0]


def test_a_motion_into_a_singular_position_ends_in_words():
    arm = light_elbow("modified")
    with pytest.raises(SimulationError, match="cannot go on at t = "):
        simulate(arm, [0, 0.5], [0, -1.0], [0, 5.0], rtol=1e-6, atol=1e-6)


def test_a_sliding_joint_makes_the_arm_larger():
    rows = [{}, dict(joint="prismatic", alpha=np.pi / 2), dict(alpha=-np.pi / 2, a=0.0), dict(a=0.001)]
    masses = [dict(mass=0), dict(mass=0), dict(mass=0), dict(mass=1, com=[0.001, 0, 0])]
    arm = Robot.from_dh([row | mass for row, mass in zip(rows, masses, strict=True)], convention="modified",
                        gravity=[0, 0, 0])  # fmt: skip
    short, long = (structure.reference_inertia(arm, np.array([0, d, 0, 0]))[0] for d in (0.0, 2.0))
    assert short == pytest.approx(0.002**2, rel=1e-2)
    assert long == pytest.approx(2.002**2, rel=1e-5)
    assert forward._least(arm)([0, 2.0, 0, 0])[0] == structure.REGULAR * long


def test_the_reference_inertias_by_hand():
    """A turning, a sliding and a turning joint: masses 2, 3 and 4 kg; 0.5 m and 0.3 m long, the slide out by 0.2 m."""
    T = transform(np.eye(3), np.array([0.5, 0, 0]))
    links = [
        Link("revolute", transform(np.eye(3), np.array([9.0, 0, 0])), Body(2, [0, 0.1, 0], [0.5, 0.25, 0.25])),
        Link("prismatic", T, Body(3, inertia=[1, 1, 1]), Motor(inertia=2, gear=3)),
        Link("revolute", T, Body(4, inertia=[0.5, 0.5, 1]), Motor(inertia=1, gear=2)),
    ]
    arm = Robot(links, [0, 0, 0], tool=transform(np.eye(3), np.array([0, 0.3, 0])))
    size = 0.5 + 0.5 + 0.3 + 0.1 + 0.2
    expected = [9 * size**2 + 1 + 3 + 2, 7 + 18, 4 * size**2 + 2 + 4]
    assert structure.reference_inertia(arm, np.array([0.4, -0.2, 1.0])) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("share", "singular"), [(0.0, True), (1e-15, True), (3e-14, True), (3e-13, False)])
def test_what_is_rounding_is_measured_by_the_reference(share, singular):
    arm, q = light_elbow("modified"), np.array([0.3, 0.4])
    M = np.diag(structure.reference_inertia(arm, q) * [share, 0.5])
    if singular:
        with pytest.raises(ValueError, match="joint 1 can move without resistance"):
            structure.refuse_singular(arm, q, M)
    else:
        structure.refuse_singular(arm, q, M)


# ---- Inertia at the tip ----------------------------------------------------------------------------


def two_links(alpha=0.0):
    """The 2R with point masses of 3 kg and 2 kg, on a base that is turned."""
    arm = robots.planar_2r(L1=1, L2=1, m1=3, m2=2, g=0)
    return replace(arm, base=rotation(0, alpha))


@pytest.mark.parametrize("folded", IN_LINE)
def test_the_tip_of_an_arm_in_line_has_no_inertia_in_the_plane(folded):
    for first, alpha in zip(TWELFTHS[::2], TWELFTHS[3:10], strict=True):
        q = [first, folded]
        for axes in ("link", "base"):
            with pytest.raises(ValueError, match="cannot move its tip in all 2 directions"):
                structure.operational_inertia(two_links(alpha), [[0.3, 0.4], q], rows=[0, 1], axes=axes)
        with pytest.raises(ValueError, match="cannot move its tip in all 1 directions"):
            structure.operational_inertia(two_links(alpha), q, rows=0, axes="link")  # along the last link
        across = structure.operational_inertia(two_links(alpha), q, rows=1, axes="link")
        assert across == pytest.approx(2.0)


@pytest.mark.parametrize("beside", [1e-5, 1e-7, np.pi - 1e-5, -np.pi + 1e-4, *BENT])
def test_beside_it_the_inertia_at_the_tip_is_right(beside):
    with mp.workdps(40):
        along = float(2 + 3 / mp.sin(mpf(beside)) ** 2)
    found = structure.operational_inertia(two_links(), [0.3, beside], rows=[0, 1], axes="link")
    size = np.sqrt([along, 2.0])
    assert found / np.outer(size, size) == pytest.approx(np.eye(2), abs=3e-9)


def test_an_arm_in_space_is_refused_at_elbow_and_shoulder():
    arm = light_elbow_in_space()
    for first, upper in zip(TWELFTHS, TWELFTHS[::-1], strict=True):
        for q in ([first, upper, 0.0], [first, upper, PI], [first, np.pi / 2 - np.pi / 6, np.pi / 3]):
            with pytest.raises(ValueError, match="cannot move its tip in all 3 directions"):
                structure.operational_inertia(arm, q, rows=[0, 1, 2])
    q = [0.3, 0.2, 1.0]
    M, J = structure.mass_matrix(arm, q), robots_jacobian(arm, q)
    expected = np.linalg.inv(J @ np.linalg.inv(M) @ J.T)
    assert structure.operational_inertia(arm, q, rows=[0, 1, 2]) == pytest.approx(expected, rel=1e-7)


def light_elbow_in_space() -> Robot:
    """A turning column, shoulder and elbow, with links of 1 m that are no point masses."""
    solid = dict(mass=2, com=[0.4, 0, 0], inertia=[0.1, 0.2, 0.25])
    rows = [dict(**solid), dict(alpha=np.pi / 2, **solid), dict(a=1, **solid)]
    return Robot.from_dh(
        rows, convention="modified", gravity=[0, 0, 0], tool=transform(np.eye(3), np.array([1.0, 0, 0]))
    )


def robots_jacobian(arm, q):
    """Velocity of the tip by joint rates, by differences of its place."""
    step = 1e-6
    ahead, back = (np.array([arm.pose(q + sense * step * e)[:3, 3] for e in np.eye(arm.n)]).T for sense in (1, -1))
    return (ahead - back) / (2 * step)


def test_directions_that_a_light_wrist_cannot_take():
    arm = big_arm(1e-8)
    q = np.array([0.3, 0.2, 0.4, 0.5, 0.7, 0.1])
    Lambda = structure.operational_inertia(arm, q)
    M = structure.mass_matrix(arm, q)
    J = jacobian(arm, q)
    assert J.T @ Lambda @ J == pytest.approx(M, rel=1e-7, abs=1e-9 * np.abs(M).max())
    beside = q.copy()
    beside[4] = 1e-5
    structure.operational_inertia(arm, beside)
    for wrist in (0.0, PI, -PI, np.radians(180)):
        q[4] = wrist
        with pytest.raises(ValueError, match="cannot move its tip in all 6 directions"):
            structure.operational_inertia(arm, q)


# ---- Linkages --------------------------------------------------------------------------------------

ANGLES = sorted({*IN_LINE, *TWELFTHS[::2]})


def routes_agree(linkage, q, tau, ddu, rel=1e-8):
    """Compare the accelerations with those from multipliers and from the equations for many calls."""
    du = [0.0] * linkage.m
    dq = closed_chains.rates(linkage, q, du)
    found = dynamics.with_multipliers(linkage, q, dq, tau).ddq[linkage.u]
    assert found == pytest.approx(ddu, rel=rel)
    for compiled in (True, False):
        forces = np.zeros(linkage.n)
        forces[linkage.u] = tau
        run = closed_equations.equations_of(linkage, q0=q, compiled=compiled)
        assert np.array(run.accelerate(q.tolist(), dq.tolist(), forces.tolist())[0])[linkage.u] == pytest.approx(
            ddu, rel=rel
        )


def refused(linkage, q):
    """Say whether every route refuses a position, or none."""
    asked = [
        lambda: dynamics.forward_dynamics(linkage, q, [0.0] * linkage.m, [1.0] * linkage.m),
        lambda: dynamics.with_multipliers(linkage, q, [0.0] * linkage.n, [1.0] * linkage.m),
        lambda: simulate(linkage, q, [0.0] * linkage.m, [0, 1e-9]),
    ]
    found = []
    for ask in asked:
        try:
            ask()
        except ValueError as error:
            found.append("can move without any inertia at q = " in str(error) or str(error))
        else:
            found.append(False)
    assert len(set(found)) == 1, found
    return found[0]


@pytest.mark.parametrize("masses", [m for m in product([0, 1], repeat=3) if any(m)])
def test_a_slider_crank_with_massless_links_in_turn(masses):
    engine = linkages.slider_crank(crank=1, rod=2, masses=masses)
    for angle, side in product(ANGLES, (1, -1)):
        q = engine.positions([angle], [side])
        dead = bool(np.isclose(np.sin(angle), 0, atol=1e-9))
        if dead and masses == (0, 0, 1):
            with pytest.raises(ValueError, match="can move without any inertia at q = "):
                dynamics.forward_dynamics(engine, q, [0], [1])
            with pytest.raises(ValueError, match="can move without any inertia at q = "):
                dynamics.with_multipliers(engine, q, [0, 0, 0], [1])
        else:  # virtual work: crank and slider alone; the slider's speed by the turning of the crank
            found = dynamics.forward_dynamics(engine, q, [0], [1])
            if masses[1] == 0:
                speed = -np.sin(angle) * (1 - side * np.cos(angle) / np.sqrt(4 - np.sin(angle) ** 2))
                assert found == pytest.approx([1 / (masses[0] / 3 + masses[2] * speed**2)], rel=1e-9)
            assert dynamics.with_multipliers(engine, q, [0, 0, 0], [1]).ddq[0] == pytest.approx(found[0], rel=1e-8)


@pytest.mark.parametrize("angle", [0.0, PI, -PI, np.radians(180), 2 * np.pi])
def test_a_dead_centre_is_refused_by_every_route(angle):
    engine = linkages.slider_crank(crank=1, rod=2, masses=[0, 0, 1])
    for side in (1, -1):
        assert refused(engine, engine.positions([angle], [side]))
    batch = engine.positions([[0.5], [angle]], [-1])
    with pytest.raises(ValueError, match=re.escape(f"at q = {batch[1].tolist()}")):
        dynamics.forward_dynamics(engine, batch, [0], [1])
    assert not refused(linkages.slider_crank(crank=1, rod=2, masses=[0, 1e-6, 1]), batch[1])


@pytest.mark.parametrize("size", [1e-3, 1.0, 10.0])
@pytest.mark.parametrize("beside", [1e-5, np.pi - 1e-5, -1e-5])
def test_beside_a_dead_centre_the_crank_is_computed(beside, size):
    engine = linkages.slider_crank(crank=size, rod=2 * size, masses=[0, 0, 1])
    q = engine.positions([beside], [-1])
    with mp.workdps(40):
        s, c = mp.sin(mpf(beside)), mp.cos(mpf(beside))
        speed = float(-s * (1 + c / mp.sqrt(4 - s**2)) * size)
    found = dynamics.forward_dynamics(engine, q, [0], [1])
    assert found == pytest.approx([1 / speed**2], rel=1e-6)
    routes_agree(engine, q, [1.0], found, rel=1e-4)


@pytest.mark.parametrize("masses", [m for m in product([0, 1], repeat=3) if any(m)])
def test_a_four_bar_with_massless_links_in_turn(masses):
    bars = linkages.four_bar(ground=3, crank=1, coupler=2, rocker=3, masses=masses)
    for angle in (np.pi / 3, np.radians(60), 2 * np.pi / 6, -np.pi / 3, np.pi / 3 + 2 * np.pi):
        q = bars.positions([angle], [1 if angle > 0 else -1])  # crank and coupler in line: the rocker stands still
        assert abs(closed_chains.gamma(bars, q)[2, 0]) < 1e-14
        assert refused(bars, q) == (masses == (0, 0, 1))
    for angle in (np.pi / 6, np.pi / 2, -np.pi / 6, PI, -PI):
        q = bars.positions([angle], [1])
        assert not refused(bars, q)
        routes_agree(bars, q, [1.0], dynamics.forward_dynamics(bars, q, [0], [1]))


def test_a_five_bar_that_carries_all_its_mass_at_the_tip():
    arm = linkages.five_bar(bases=[[0, 0], [1, 0]], lengths=[[1, 1], [1, 1.5]], masses=[[0, 0], [0, 0]], payload=2)
    for angle in TWELFTHS[4:10:3]:
        P = np.array([2 * np.cos(angle), 2 * np.sin(angle)])  # leg 1 is stretched out
        for mode, q in arm.working_modes(P).items():
            assert refused(arm, q), mode
        for mode, q in arm.working_modes(0.8 * P).items():
            assert not refused(arm, q), mode
    near = arm.working_position([2.0, 0.0], (1, 1)) + np.array([0, 1e-5, 0, 0])
    near = closed_chains.close(arm, near, hold=[(1, 1), (1, 2)])  # the elbow is bent by 1e-5
    found = dynamics.forward_dynamics(arm, near, [0, 0], [1.0, 2.0])
    tau = dynamics.inverse_dynamics(arm, near, [0, 0], found)
    assert tau == pytest.approx([1.0, 2.0], rel=1e-5)


def test_a_leg_of_massless_links_and_one_point_mass_is_solved_in_line_too():
    arm = linkages.five_bar(bases=[[0, 0], [2, 0]], lengths=[[1, 1], [1, 1.5]], masses=[[0, 1], [1, 1]])
    first = arm.chains[0]
    half = replace(first, links=[first.links[0], replace(first.links[1], body=Body(1, [0.5, 0, 0]))])
    arm = replace(arm, chains=[half, arm.chains[1]])
    kept = closed_equations.independent_rows(arm, arm.positions([1.0, 2.0], (1,)))
    quick = closed_equations._compiled(arm, kept, (), 0.0)
    for bend in (0.0, 1e-4, 3e-4, 1e-3):
        q = arm.working_position(2 * np.cos(bend / 2) * np.array([np.cos(0.4), np.sin(0.4)]), (1, 1))
        ddu = dynamics.forward_dynamics(arm, q, [0, 0], [1.0, 2.0])
        found = quick.accelerate(q.tolist(), [0.0] * 4, [1.0, 0.0, 2.0, 0.0])[0]
        assert np.array(found)[arm.u] == pytest.approx(ddu, rel=1e-10)
        gap = closed_chains.gap(arm, q + 1e-6)
        moved = q + 1e-6 + quick.closing((q + 1e-6).tolist())[0]
        assert np.abs(closed_chains.gap(arm, moved)).max() < 1e-4 * np.abs(gap).max()
        rates = np.array([1.0, 2.0, 3.0, 4.0])
        J = closed_chains.constraint_jacobian(arm, q)
        assert np.abs(J @ (rates + quick.steadying(q.tolist(), rates.tolist()))).max() < 1e-9


@pytest.mark.parametrize("turned", TWELFTHS)
def test_a_rod_in_one_line_with_both_arms_holds_nothing(turned):
    """The Jacobian of the closure is 0 there, but for rounding."""

    def arm(x: float) -> Robot:
        base = rotation(2, turned) @ transform(np.eye(3), np.array([x, 0, 0]))
        tool = transform(np.eye(3), np.array([1.0, 0, 0]))
        return Robot([Link("revolute", np.eye(4), Body.rod(1, 1))], [0, 0, 0], base, tool)

    bars = Mechanism([arm(0), arm(2)], [Rod(Point(1), Point(2), 2.0)], [(1, 1)])
    for q in ([0.0, 0.0], [PI, -PI], [2 * np.pi, 0.0]):
        assert closed_chains.mobility(bars, q).rank_here == 0
        with pytest.raises(SingularPosition, match="singular position"):
            closed_chains.gamma(bars, q)
        with pytest.raises(SingularPosition, match="rank 1 nearby and only 0"):
            dynamics.with_multipliers(bars, q, [0, 0], [1])
    assert closed_chains.gamma(bars, [0.5, 0.5]) == pytest.approx(np.ones((2, 1)))


def test_masses_that_measure_nothing_do_not_measure_the_nearest_position():
    upright = Body.rod(1, 0.4).moved(rotation(1, np.pi / 2))
    bars = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
    first = bars.chains[0]
    thin = replace(first, links=[replace(first.links[0], body=upright), replace(first.links[1], body=upright)])
    q = bars.positions([0.5], [1])
    with pytest.raises(ValueError, match="the mass matrix of the cut four-bar is singular"):
        dynamics.project(replace(bars, chains=[thin, bars.chains[1]]), q + 1e-4)


def test_a_state_without_inertia_that_was_reached_ends_the_simulation_in_words():
    engine = linkages.slider_crank(crank=1, rod=2, masses=[0, 0, 1])
    assert engine.in_metres(np.ones(3)).tolist() == [1, 1, engine.size]
    start, dead = engine.positions([[1.0], [PI]], [-1])
    run = _Run(engine, (), None, 0.0, True, None, start)
    run.taken, run.rows = [0.0, 0.5], [(start, np.zeros(3)), (start, np.zeros(3))]
    run.refuse_weightless()
    run.rows[1] = (dead, np.zeros(3))
    with pytest.raises(SimulationError, match=r"at t = 0\.5 s.*something moves without inertia"):
        run.refuse_weightless()


def test_all_states_of_a_motion_are_looked_at(monkeypatch):
    engine = linkages.slider_crank(crank=1, rod=2, masses=[1, 1, 1])
    start = engine.positions([1.0], [-1])

    def none_in_the_last(mechanism, q, motions):
        return np.ones(q.shape[:-1]) if q.ndim == 1 else np.array([1.0] * (len(q) - 1) + [0.0])

    monkeypatch.setattr(dynamics, "least_inertia", none_in_the_last)
    with pytest.raises(SimulationError, match=r"at t = 0\.02 s.*something moves without inertia") as caught:
        simulate(engine, start, [0], [0, 0.01, 0.02])
    assert len(caught.value.motion.t) == 3
