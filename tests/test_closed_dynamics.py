"""Dynamics of closed chains: two ways against each other, energies with many digits, Pinocchio and obvious answers."""

import re
from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest
import sympy

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")

import pinocchio as pin
from arms import _add_links, random_arm
from linkages_at_random import DIGITS, KINDS, ByHand, Sketch, difference, for_seeds, random_state, rod

from dynlib import check, closed_chains, linkages
from dynlib.closed_chains import (
    ClosureError,
    SingularPosition,
    forward_dynamics,
    inverse_dynamics,
    pin_forces,
    project,
    reduced_mass_matrix,
    tree_mass_matrix,
    tree_torques,
    with_multipliers,
)
from dynlib.frames import position, rotation, rotation_z, transform
from dynlib.linkages import three_legs
from dynlib.misconceptions import CLOSED, NotHere, diagnose
from dynlib.model import Body, Link, Mechanism, Motor, Pin, Point, Robot, Rod, Slot
from dynlib.velocity import Wrench

RELATIVE = 1e-10
LEGS = Sketch(
    "three legs",
    bases=[[0, 0], [0.5, 0], [0.3, 0.55]],
    lengths=[[0.3, 0.35], [0.25, 0.3], [0.25, 0.3]],
    bodies=[[rod(1, 0.3), rod(0.8, 0.35)], [rod(1.2, 0.25), rod(0.9, 0.3)], [rod(1.1, 0.25), rod(0.7, 0.3)]],
    motors=[[Motor()] * 2] * 3,
    gravity=(0, -9.81),
    end=(0.4, 0.075, 0.4 * 0.15**2 / 12),
    l_pc=0.15,
)
POINT_AT_P = replace(LEGS, end=(0.4, 0.15, 0.0))
MOTION = [2.5, -1.5], [1.5, -2.0], [3.0, 1.0]
MODES = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
FLAT = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1], gravity=[0, -10, 0])


def friction_at(state, dq):
    """What friction takes at each joint."""
    return np.array([law(rate) for law, rate in zip(state.sketch.friction, dq, strict=True)])


# ---- Projection against multipliers ----------------------------------------------------------------


@for_seeds(12)
def test_projection_and_multipliers_need_the_same_torques(seed):
    state = random_state(seed)
    motion = state.linkage, state.q, state.du, state.ddu
    tau, found = inverse_dynamics(*motion, loads=state.loads), pin_forces(*motion, loads=state.loads)
    size = np.abs(tree_torques(state.linkage, state.q, *state.moving[1:], loads=state.loads)).max()
    assert difference(found.tau, tau, size) < RELATIVE
    assert difference(found.ddq, state.moving[2]) < RELATIVE
    assert found.redundant == ()


@for_seeds(12)
def test_projection_and_multipliers_cause_the_same_motion(seed):
    state = random_state(seed)
    linkage, q, du, loads = state.linkage, state.q, state.du, state.loads
    tau = np.random.default_rng(seed).uniform(-10, 10, linkage.m)
    ddu = forward_dynamics(linkage, q, du, tau, loads=loads)
    dq = closed_chains.rates(linkage, q, du)
    found = with_multipliers(linkage, q, dq, tau, loads=loads)
    assert difference(found.ddq[linkage.u], ddu) < RELATIVE
    assert difference(found.ddq, closed_chains.accelerations(linkage, q, du, ddu)) < RELATIVE
    back = pin_forces(linkage, q, du, ddu, loads=loads)
    assert difference(back.lam, found.lam) < RELATIVE
    size = np.abs(tree_torques(linkage, q, dq, found.ddq, loads=loads)).max()
    assert difference(inverse_dynamics(linkage, q, du, ddu, loads=loads), tau, size) < RELATIVE
    J = closed_chains.constraint_jacobian(linkage, q)
    opening = J @ found.ddq + closed_chains.constraint_bias(linkage, q, dq)
    assert np.abs(opening).max() < 1e-12 * np.abs(found.ddq).max()


@for_seeds(5)
def test_the_way_of_the_document_gives_the_same_torques(seed):
    state = random_state(seed, "three legs", uniform=True)
    motion = state.linkage, state.q, state.du, state.ddu
    tau = three_legs.torques(*motion)
    assert difference(inverse_dynamics(*motion), tau) < RELATIVE
    assert difference(pin_forces(*motion).tau, tau) < RELATIVE


# ---- Against energies with many digits -------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@for_seeds(4)
def test_torques_are_those_of_lagrange_with_all_dependent_angles_replaced(kind, seed):
    state = random_state(seed, kind)
    dq = state.moving[1]
    with mpmath.workdps(DIGITS):
        by_input = [_slopes(state.by_hand.coordinates, state.u, k) for k in range(len(state.u))]
        felt = np.array(by_input, dtype=float) @ friction_at(state, dq)
    expected = state.by_hand.torques(state.u, state.du, state.ddu) + felt
    found = inverse_dynamics(state.linkage, state.q, state.du, state.ddu)
    assert difference(found, expected, size=1.0) < 1e-11


def _slopes(function, u, k):
    """The derivatives of all results by one input."""
    u = [mpmath.mpf(float(value)) for value in u]
    many = range(len(function(u)))
    shifted = [lambda s, j=j: function([v + s * (i == k) for i, v in enumerate(u)])[j] for j in many]
    return [mpmath.diff(each, 0) for each in shifted]


@pytest.mark.parametrize("sketch", [LEGS, POINT_AT_P], ids=["rod", "point"])
@pytest.mark.parametrize("gravity", [(0, 0), (0, -9.81)], ids=["level", "upright"])
@pytest.mark.parametrize("mode", [(1, 1), (-1, 1)])
def test_the_arm_of_the_document_by_lagrange(sketch, gravity, mode):
    sketch = replace(sketch, gravity=gravity)
    end = "rod" if sketch.end[1] == 0.075 else "point"
    masses = [[body[0] for body in chain] for chain in sketch.bodies]
    arm = linkages.three_legged(
        sketch.bases, sketch.lengths, masses, l_pc=0.15, m_pc=0.4, end=end, gravity=[*gravity, 0]
    )
    motion = arm.positions(MOTION[0], mode), *MOTION[1:]
    expected = ByHand(sketch, mode).torques(*MOTION)
    assert difference(inverse_dynamics(arm, *motion), expected) < 1e-12
    assert difference(three_legs.torques(arm, *motion), expected) < 1e-12
    assert difference(pin_forces(arm, *motion).tau, expected) < 1e-12


@pytest.mark.parametrize("mode", [(1,), (-1,)])
def test_a_five_bar_by_lagrange(mode):
    bars = linkages.five_bar(
        bases=[[0, 0], [1, 0.1]], lengths=[[0.2, 0.9], [0.25, 1]], masses=[[1, 2], [3, 4]], gravity=[1, -9.81, 0]
    )
    bodies = [[rod(1, 0.2), rod(2, 0.9)], [rod(3, 0.25), rod(4, 1)]]
    sketch = Sketch(
        "five-bar", [[0, 0], [1, 0.1]], [[0.2, 0.9], [0.25, 1]], bodies, [[Motor()] * 2] * 2, gravity=(1, -9.81)
    )
    expected = ByHand(sketch, mode).torques(*MOTION)
    assert difference(inverse_dynamics(bars, bars.positions(MOTION[0], mode), *MOTION[1:]), expected) < 1e-12


@for_seeds(3)
def test_power_goes_into_energy_and_friction(seed):
    state = random_state(seed)
    linkage, by_hand = state.linkage, state.by_hand
    tau = inverse_dynamics(linkage, state.q, state.du, state.ddu, loads=state.loads)
    with mpmath.workdps(DIGITS):
        at = by_hand.path(state.u, state.du, state.ddu)
        places = range(linkage.n)

        def energy(t):
            return by_hand.kinetic(at(t), [mpmath.diff(lambda s, k=k: at(s)[k], t) for k in places]) + (
                by_hand.potential(at(t))
            )

        gained, put_in = float(mpmath.diff(energy, 0)), float(tau @ state.du)
        for load in state.loads:
            chain, link = load.chain - 1, None if load.link is None else load.link - 1
            v = [
                mpmath.diff(lambda t, k=k, c=chain, l=link, p=load.point: by_hand.point(at(t), c, l, *p[:2])[k], 0)
                for k in range(2)
            ]
            spin = mpmath.diff(lambda t, c=chain, l=link: by_hand.place(at(t), c, l)[2], 0)
            put_in += float(load.force[0] * v[0] + load.force[1] * v[1] + load.moment[2] * spin)
    dq = state.moving[1]
    lost = friction_at(state, dq) @ dq
    assert lost > 0
    assert put_in == pytest.approx(gained + lost, abs=1e-11 * (abs(gained) + lost))


@for_seeds(3)
def test_the_mass_matrix_of_the_inputs_is_that_of_the_kinetic_energy(seed):
    state = random_state(seed)
    M = reduced_mass_matrix(state.linkage, state.q)
    with mpmath.workdps(DIGITS):
        q, dq = state.by_hand.coordinates([mpmath.mpf(float(value)) for value in state.u]), state.moving[1]
        assert state.du @ M @ state.du / 2 == pytest.approx(float(state.by_hand.kinetic(q, dq)), rel=1e-12)
    assert difference(M, M.T) < 1e-14
    faster = [forward_dynamics(state.linkage, state.q, state.du, tau) for tau in (np.eye(len(M)), 0 * np.eye(len(M)))]
    assert difference((faster[0] - faster[1]) @ M, np.eye(len(M))) < 1e-9


# ---- Against Pinocchio -----------------------------------------------------------------------------


class Referee:
    """The cut mechanism in Pinocchio, all chains on the universe, with a contact of points for each pin."""

    def __init__(self, mechanism):
        self.model, last = pin.Model(), []
        self.model.gravity.linear = mechanism.gravity
        for chain in mechanism.chains:
            _add_links(self.model, chain, 0, chain.base)
            last.append(self.model.njoints - 1)
        motors = [link.motor or Motor() for chain in mechanism.chains for link in chain.links]
        self.model.armature = np.array([float(motor.inertia * motor.gear**2) for motor in motors])
        self.contacts = pin.StdVec_RigidConstraintModel()
        for closure in mechanism.closures:
            ends = [self._end(mechanism, last, point) for point in (closure.a, closure.b)]
            self.contacts.append(
                pin.RigidConstraintModel(
                    pin.ContactType.CONTACT_3D, self.model, *ends[0], *ends[1], pin.ReferenceFrame.LOCAL
                )
            )

    @staticmethod
    def _end(mechanism, last, point):
        """The joint that carries a point, and the point in its axes."""
        if not point.chain:
            return 0, pin.SE3(np.eye(3), point.at)
        chain = mechanism.chains[point.chain - 1]
        if point.link is not None:
            return last[point.chain - 1] - chain.n + point.link, pin.SE3(np.eye(3), point.at)
        return last[point.chain - 1], pin.SE3(np.eye(3), position(chain.tool) + rotation(chain.tool) @ point.at)

    def motion(self, q, dq, torques):
        """Accelerations, and for each contact the force on the first point in world axes."""
        data, held = self.model.createData(), pin.StdVec_RigidConstraintData()
        for contact in self.contacts:
            held.append(contact.createData())
        pin.initConstraintDynamics(self.model, data, self.contacts, held)
        settings = pin.ProximalSettings(1e-14, 1e-14, 1e-10, 50)  # in the plane one row of each contact is empty
        ddq = pin.constraintDynamics(self.model, data, q, dq, torques, self.contacts, held, settings)
        pairs = zip(self.contacts, held, strict=True)
        return ddq, [data.oMi[model.joint1_id].rotation @ each.contact_force.linear for model, each in pairs]


def test_the_referee_speaks_of_the_force_on_the_first_point():
    """A weight on a rail that is held by the ground: the ground pushes it up."""
    for a, b, expected in ((Point(1), Point(0), 20), (Point(0), Point(1), -20)):
        falling = Mechanism([upright_rail(2.0)], [Pin(a, b, "xyz")], [])
        ddq, (force,) = Referee(falling).motion(np.zeros(1), np.zeros(1), np.zeros(1))
        assert ddq == pytest.approx([0])
        assert force == pytest.approx([0, 0, expected])


def upright_rail(mass):
    return Robot([Link("prismatic", np.eye(4), Body(mass))], gravity=[0, 0, -10])


@pytest.mark.parametrize("kind", KINDS)
@for_seeds(3)
def test_motion_and_forces_are_those_of_pinocchio(kind, seed):
    state = random_state(seed, kind)
    linkage, q, du = state.linkage, state.q, state.du
    tau, dq = np.random.default_rng(seed).uniform(-10, 10, linkage.m), closed_chains.rates(linkage, q, du)
    torques = -friction_at(state, dq)
    torques[linkage.u] += tau
    ddq, forces = Referee(linkage).motion(q, dq, torques)
    found = with_multipliers(linkage, q, dq, tau)
    assert difference(found.ddq, ddq) < RELATIVE
    assert difference(found.lam, np.concatenate([force[:2] for force in forces])) < RELATIVE
    assert difference(forward_dynamics(linkage, q, du, tau), ddq[linkage.u]) < RELATIVE


@for_seeds(5)
def test_ball_joints_in_space_are_those_of_pinocchio(seed):
    """Two random arms whose tips are one point, and which hang on the ground by a link."""
    rng = np.random.default_rng(seed)
    one, two = (replace(random_arm(rng, count), gravity=[1, -2, -9.81]) for count in (4, 5))
    q = rng.uniform(-2, 2, 9)
    apart = [position(arm.base @ arm.pose(values)) for arm, values in ((one, q[:4]), (two, q[4:]))]
    base = two.base.copy()
    base[:3, 3] += apart[0] - apart[1]
    arms, held = [one, replace(two, base=base)], rng.uniform(-0.5, 0.5, 3)
    anywhere = closed_chains.pose(Mechanism(arms, [], []), q, Point(2, 3, held))[:3, 3]
    closures = [Pin(Point(1), Point(2), "xyz"), Pin(Point(0, at=anywhere), Point(2, 3, held), "xyz")]
    mechanism = Mechanism(arms, closures, [(1, 2), (2, 1)])
    J = closed_chains.constraint_jacobian(mechanism, q)
    if np.linalg.cond(J) > 1e3:
        return
    free = rng.uniform(-2, 2, 9)
    dq, tau, torques = free - np.linalg.pinv(J) @ J @ free, rng.uniform(-9, 9, 2), np.zeros(9)
    torques[[1, 4]] = tau
    ddq, forces = Referee(mechanism).motion(q, dq, torques)
    found = with_multipliers(mechanism, q, dq, tau)
    assert difference(found.ddq, ddq) < 1e-9
    assert difference(found.lam, np.concatenate(forces)) < 1e-9


# ---- Signs with obvious answers --------------------------------------------------------------------

ALONG_X = [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]


def weight(mass=2.0):
    """A point mass that may be anywhere in the plane: a slide along x that carries one along y; g is 10."""
    along_y = [[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]]
    links = [Link("prismatic", ALONG_X, Body(0)), Link("prismatic", np.linalg.inv(ALONG_X) @ along_y, Body(mass))]
    return Robot(links, [0, -10, 0], tool=np.linalg.inv(along_y), name="weight")


def held_by(closure, q, dq=(0, 0), inputs=((1, 1),)):
    mechanism = Mechanism([weight()], [closure], inputs)
    return with_multipliers(mechanism, q, dq, [0] * len(inputs))


def test_the_weight_falls_down():
    free = Mechanism([weight()], [], [(1, 1), (1, 2)])
    assert closed_chains.pose(free, [3, 4], Point(1))[:2, 3].tolist() == [3, 4]
    assert forward_dynamics(free, [3, 4], [0, 0], [0, 0]).tolist() == [0, -10]


def test_a_rod_that_pulls_is_negative_and_one_that_pushes_positive():
    for a, b in ((Point(1), Point(0)), (Point(0), Point(1))):
        hanging = held_by(Rod(a, b, 3), [0, -3])
        assert hanging.lam.tolist() == pytest.approx([-20])
        assert hanging.ddq == pytest.approx([0, 0])
        assert held_by(Rod(a, b, 3), [0, 3]).lam.tolist() == pytest.approx([20])
        assert held_by(Rod(a, b, 3), [0, -3], [6, 0]).lam.tolist() == pytest.approx([-20 - 2 * 6**2 / 3])
        assert held_by(Rod(a, b, 3), [3, 0], inputs=[(1, 2)]).ddq == pytest.approx([0, -10])


def test_a_slot_holds_along_its_direction_turned_to_the_left():
    assert held_by(Slot(Point(1), Point(0), [1, 0, 0]), [7, 0]).lam.tolist() == pytest.approx([20])
    assert held_by(Slot(Point(1), Point(0), [-1, 0, 0]), [7, 0]).lam.tolist() == pytest.approx([-20])
    assert held_by(Slot(Point(0), Point(1), [1, 0, 0]), [7, 0]).lam.tolist() == pytest.approx([-20])
    angle = 0.5
    incline = held_by(Slot(Point(1), Point(0), [np.cos(angle), np.sin(angle), 0]), [0, 0])
    assert incline.lam.tolist() == pytest.approx([20 * np.cos(angle)])
    assert np.hypot(*incline.ddq) == pytest.approx(10 * np.sin(angle))
    assert incline.ddq[0] < 0


def test_a_pin_pushes_up_what_would_fall():
    held = held_by(Pin(Point(1), Point(0, at=[1, 2, 0])), [1, 2], inputs=[])
    assert held.lam == pytest.approx([0, 20])
    assert held_by(Pin(Point(0), Point(1)), [0, 0], inputs=[]).lam == pytest.approx([0, -20])


def test_a_slider_is_pushed_by_the_rod():
    engine = linkages.slider_crank(crank=1, rod=2, masses=[0, 0, 3])
    q = engine.positions([0], [-1])  # stretched out to the right, at the dead centre
    found = pin_forces(engine, q, [4], [0])
    assert found.lam == pytest.approx([3 * 4**2 * (1 + 1 / 2), 0])  # the slider is drawn to the left, the rod outwards
    assert found.tau == pytest.approx([0])


def test_loads_are_put_on_the_mechanism():
    q = FLAT.positions([0.5], [1])
    up = Wrench.at(Point(1, 2, at=[1, 0, 0]), force=[0, 10, 0])  # bears the coupler in its middle
    weightless = inverse_dynamics(FLAT, q, [0], [0]) - 10 * np.cos(0.5)
    assert inverse_dynamics(FLAT, q, [0], [0], loads=[up]) == pytest.approx(weightless)
    turned = Wrench.at(Point(2), moment=[0, 0, 3])  # a crank, which turns with the input
    assert inverse_dynamics(FLAT, q, [0], [0], loads=[turned, up]) == pytest.approx(weightless - 3)
    assert inverse_dynamics(FLAT, q, [0], [0], loads=[Wrench.at(Point(0), force=[9, 9, 0])]) == pytest.approx(
        weightless + 10 * np.cos(0.5)
    )


def test_repr_shows_what_was_found():
    assert "lam = [20.]" in repr(held_by(Slot(Point(1), Point(0), [1, 0, 0]), [0, 0]))


# ---- Closures that say the same, or lose their grip ------------------------------------------------


@for_seeds(3)
def test_closures_given_twice_change_nothing(seed):
    state = random_state(seed)
    once = state.linkage
    twice = replace(once, closures=[*once.closures, *(Pin(each.b, each.a) for each in once.closures)])
    q, du, ddu = state.q, state.du, state.ddu
    dq, tau = closed_chains.rates(once, q, du), np.ones(once.m)
    assert difference(inverse_dynamics(twice, q, du, ddu), inverse_dynamics(once, q, du, ddu), size=1.0) < RELATIVE
    assert difference(forward_dynamics(twice, q, du, tau), forward_dynamics(once, q, du, tau)) < 1e-9
    for found, expected in (
        (with_multipliers(twice, q, dq, tau), with_multipliers(once, q, dq, tau)),
        (pin_forces(twice, q, du, ddu), pin_forces(once, q, du, ddu)),
    ):
        rows = len(once.rows)
        assert difference(found.ddq, expected.ddq) < 1e-9
        assert difference(found.lam[:rows] - found.lam[rows:], expected.lam) < 1e-9
        assert difference(found.lam[:rows], -found.lam[rows:]) < 1e-9  # the least forces: both carry half
        assert found.redundant == twice.rows[rows:]
        assert "redundant, so that lam is not unique: closure" in repr(found)


def third_crank():
    """A parallelogram of uniform rods of 1 kg, cranks of 1 m, whose coupler a third crank carries in its middle."""
    base = linkages.four_bar(ground=1, crank=1, coupler=1, rocker=1, masses=[1, 1, 1], gravity=[0, -10, 0]).chains[1]
    closures = [*FLAT.closures, Pin(Point(1, 2, at=[1, 0, 0]), Point(3))]
    return Mechanism([*FLAT.chains, base], closures, [(1, 1)], "parallelogram")


@pytest.mark.parametrize("angle", [0.5, 1.2, -2.0])
def test_a_third_parallel_crank_has_its_obvious_torque(angle):
    bars, q = third_crank(), np.array([angle, -angle, angle, angle])
    inertia, moment = 3 * 1 / 3 + 1, (3 * 1 / 2 + 1) * 10 * np.cos(angle)
    assert inverse_dynamics(bars, q, [0.7], [2]) == pytest.approx([2 * inertia + moment])
    found = pin_forces(bars, q, [0.7], [2])
    assert found.tau == pytest.approx([2 * inertia + moment])
    assert len(found.redundant) == 1
    moving = with_multipliers(bars, q, [0.7, -0.7, 0.7, 0.7], [5])
    assert moving.ddq == pytest.approx(np.array([1, -1, 1, 1]) * (5 - moment) / inertia)
    assert moving.redundant == found.redundant
    assert moving.redundant[0].startswith("closure 2")
    assert forward_dynamics(bars, q, [0.7], [5]) == pytest.approx([(5 - moment) / inertia])


def test_a_flat_parallelogram_is_refused():
    q = FLAT.positions([0], [1])
    with pytest.raises(SingularPosition, match="have rank 2 nearby and only 1 at q = .*another way of moving") as e:
        with_multipliers(FLAT, q, [0, 0, 0], [1])
    assert e.value.q == pytest.approx(q)
    for call in (inverse_dynamics, forward_dynamics, pin_forces):
        with pytest.raises(SingularPosition, match="is a singular position of four-bar"):
            call(FLAT, q, [0], [1])


def test_multipliers_work_where_the_inputs_do_not_determine_the_motion():
    """A four-bar with coupler and rocker in line: they are free to move, as a massless crank shows."""
    bars = linkages.four_bar(ground=4, crank=3, coupler=2, rocker=2.5, masses=[1, 2, 3], gravity=[0, -10, 0])
    crank = np.arccos((9 + 16 - 4.5**2) / 24)
    q = [crank, np.pi - np.arccos((4.5**2 + 16 - 9) / 36) - np.pi - crank, np.pi - np.arccos((4.5**2 + 16 - 9) / 36)]
    with pytest.raises(SingularPosition, match="forward, type 2"):
        inverse_dynamics(bars, q, [0], [0])
    torque = 7.0
    ddq, (force,) = Referee(bars).motion(np.array(q), np.zeros(3), np.array([torque, 0, 0]))
    found = with_multipliers(bars, q, [0, 0, 0], [torque])
    assert difference(found.ddq, ddq) < 1e-9
    assert difference(found.lam, force[:2]) < 1e-9


# ---- Batches and symbols ---------------------------------------------------------------------------


def test_a_batch_is_a_loop():
    arm = LEGS.linkage
    rng = np.random.default_rng(0)
    u, du, ddu = rng.uniform(-0.04, 0.04, (3, 4, 2)) + np.array([2.5, -1.5]), *rng.uniform(-3, 3, (2, 3, 4, 2))
    q = arm.positions(u, (1, 1))
    loads = [Wrench.at(arm.P, force=rng.uniform(-5, 5, (3, 4, 3)) * [1, 1, 0])]
    tau, forces = inverse_dynamics(arm, q, du, ddu, loads=loads), pin_forces(arm, q, du, ddu, loads=loads)
    back = forward_dynamics(arm, q, du, tau, loads=loads)
    assert difference(back, ddu) < 1e-9
    by_energies = three_legs.torques(arm, q, du, ddu)
    assert [each.shape for each in (tau, forces.tau, forces.lam, forces.ddq)] == [(3, 4, k) for k in (2, 2, 4, 6)]
    for index in np.ndindex(3, 4):
        alone = arm, q[index], du[index], ddu[index]
        load = [Wrench.at(arm.P, force=loads[0].force[index])]
        assert difference(tau[index], inverse_dynamics(*alone, loads=load)) < 1e-12
        assert difference(forces.lam[index], pin_forces(*alone, loads=load).lam) < 1e-12
        assert difference(by_energies[index], inverse_dynamics(*alone)) < 1e-10
    assert inverse_dynamics(arm, q[0, 0], du, ddu).shape == (3, 4, 2)
    assert forward_dynamics(arm, q[0, 0], [0, 0], tau).shape == (3, 4, 2)


def test_symbols_give_the_torque_of_numbers():
    sizes = {"ground": 4, "crank": 1, "coupler": 3.5, "rocker": 2.5}
    numbers = linkages.four_bar(**sizes, masses=[2, 3, 5], gravity=[0, -10, 0])
    exact = {name: sympy.Rational(str(size)) for name, size in sizes.items()}
    exact = linkages.four_bar(**exact, masses=sympy.symbols("m1:4"), gravity=[0, -sympy.Symbol("g"), 0])
    angles, du, ddu = exact.motion_symbols()[0], *sympy.symbols("du ddu")
    (tau,) = inverse_dynamics(exact, angles, [du], [ddu])
    assert not tau.has(sympy.Float)
    q = numbers.positions([0.7], [1])
    at = {"g": 10, "m1": 2, "m2": 3, "m3": 5, du: 1.5, ddu: -2.0} | dict(zip(angles, q.tolist(), strict=True))
    assert float(tau.subs(at)) == pytest.approx(inverse_dynamics(numbers, q, [1.5], [-2]).item(), rel=1e-11)


def test_energies_of_symbols():
    arm = linkages.three_legged(gravity=[0, -sympy.Symbol("g"), 0])
    found = three_legs.energies(arm)
    q, dq, _ = arm.motion_symbols()
    l1, l2, m1, m2, I1, I2 = sympy.symbols("l21 l22 m21 m22 I21 I22")
    psi = dq[2] + dq[3]
    square = l1**2 * dq[2] ** 2 + l2**2 * psi**2 / 4 + l1 * l2 * dq[2] * psi * sympy.cos(q[3])
    assert check.same(found.K[1], I1 * dq[2] ** 2 / 2 + I2 * psi**2 / 2 + m2 * square / 2)  # B3.1c
    g, s = sympy.Symbol("g"), sympy.sin  # heights over the chain's own base, which does not move
    lifted = g * m1 * l1 / 2 * s(q[2]) + g * m2 * (l1 * s(q[2]) + l2 / 2 * s(q[2] + q[3]))
    for mass in (m1, m2):
        assert check.same(found.P.diff(mass), lifted.diff(mass))
    assert three_legs.energies(linkages.three_legged()).P == 0
    with pytest.raises(TypeError, match="holds floats; energies are derived from exact data"):
        three_legs.energies(LEGS.linkage)


# ---- Input that cannot be meant --------------------------------------------------------------------


def test_states_that_do_not_fit_are_refused():
    arm = LEGS.linkage
    q = arm.positions(MOTION[0], (1, 1))
    dq, opened = closed_chains.rates(arm, q, MOTION[1]), q + 0.1 * np.eye(6)[1]
    for call in (inverse_dynamics, forward_dynamics, pin_forces):
        with pytest.raises(ClosureError, match="does not close three-legged arm: the gap of closure"):
            call(arm, opened, [0, 0], [0, 0])
        with pytest.raises(ValueError, match="du has 6 entries; three-legged arm has 2 inputs"):
            call(arm, q, dq, [0, 0])
        with pytest.raises(ValueError, match="q has 2 entries .these are only the inputs"):
            call(arm, MOTION[0], [0, 0], [0, 0])
    with pytest.raises(ClosureError, match="does not close"):
        with_multipliers(arm, opened, dq, [0, 0])
    with pytest.raises(
        ValueError, match=r"opens three-legged arm: the rate of the gap of closure .*rates\(mechanism, q"
    ):
        with_multipliers(arm, q, dq + np.eye(6)[3], [0, 0])
    with pytest.raises(
        ValueError, match=r"with_multipliers takes one state, q of shape \(6,\); got the shape \(2, 6\)"
    ):
        with_multipliers(arm, [q, q], dq, [0, 0])
    with pytest.raises(ValueError, match="tau has 6 entries"):
        with_multipliers(arm, q, dq, [0] * 6)
    with pytest.raises(ValueError, match="load 1 names chain 5"):
        inverse_dynamics(arm, q, [0, 0], [0, 0], loads=[Wrench.at(Point(5), [1, 0, 0])])
    with pytest.raises(ValueError, match="force"):
        Wrench.at(Point(1), force=[1, 2])


def test_inputs_must_fit_the_mobility():
    arm = LEGS.linkage
    q = arm.positions(MOTION[0], (1, 1))
    with pytest.raises(ValueError, match="has the mobility 2 .* and 1 input; choose 1 more"):
        inverse_dynamics(replace(arm, inputs=[(2, 1)]), q, [0], [0])
    with pytest.raises(ValueError, match="and 3 inputs; choose 1 fewer"):
        forward_dynamics(replace(arm, inputs=[(2, 1), (3, 1), (1, 1)]), q, [0] * 3, [0] * 3)


def test_any_two_angles_may_be_the_inputs():
    """The power that a motion needs does not depend on where the motors are."""
    arm = LEGS.linkage
    q, du, ddu = arm.positions(MOTION[0], (1, 1)), *MOTION[1:]
    _, dq, ddq, _ = closed_chains.motion_of(arm, q, du, ddu)
    power = inverse_dynamics(arm, q, du, ddu) @ du
    for inputs in ([(1, 1), (1, 2)], [(2, 2), (3, 1)], [(3, 2), (1, 1)]):
        other = replace(arm, inputs=inputs)
        tau = inverse_dynamics(other, q, dq[other.u], ddq[other.u])
        assert tau @ dq[other.u] == pytest.approx(power, rel=1e-10)
        assert with_multipliers(other, q, dq, tau).ddq == pytest.approx(ddq, rel=1e-8)


def test_mechanisms_without_mass():
    massless = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[0, 0, 0], gravity=[0, -10, 0])
    q = massless.positions([1.0], [1])
    with pytest.raises(
        ValueError, match="no link of four-bar has a mass or an inertia; dynamics would only give zeros"
    ):
        inverse_dynamics(massless, q, [1], [1])
    load = Wrench.at(massless.output, [3, 4, 0])
    J = closed_chains.point_jacobian(massless, q, massless.output)
    assert inverse_dynamics(massless, q, [1], [1], loads=[load]) == pytest.approx(-J[:2].T @ [3, 4])
    with pytest.raises(ValueError, match="four-bar can move without any inertia at q = "):
        forward_dynamics(massless, q, [0], [1], loads=[load])
    with pytest.raises(ValueError, match="can move without any inertia at q = "):
        with_multipliers(massless, q, [0, 0, 0], [1], loads=[load])
    links = [replace(link, body=None) for link in FLAT.chains[0].links]
    unknown = replace(FLAT, chains=[replace(FLAT.chains[0], links=links), FLAT.chains[1]])
    with pytest.raises(ValueError, match="has no mass data"):
        inverse_dynamics(unknown, FLAT.positions([1.0], [1]), [1], [1])


def test_a_massless_chain_among_heavy_ones():
    bars = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[0, 0, 3], gravity=[0, -10, 0])
    q = bars.positions([0.5], [1])
    assert inverse_dynamics(bars, q, [2], [4]) == pytest.approx([4 * 1 + 3 * 10 * np.cos(0.5) / 2])
    assert forward_dynamics(bars, q, [2], [1]) == pytest.approx([1 - 15 * np.cos(0.5)])
    found = with_multipliers(bars, q, closed_chains.rates(bars, q, [2]), [1])
    assert found.ddq[0] == pytest.approx(1 - 15 * np.cos(0.5))
    assert pin_forces(bars, q, [2], [4]).tau == pytest.approx([4 + 15 * np.cos(0.5)])


def test_a_motor_gives_inertia_to_a_massless_mechanism():
    bars = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[0, 0, 0])
    driven = replace(bars.chains[1].links[0], motor=Motor(inertia=0.5, gear=2, viscous=0.1, coulomb=0.3))
    bars = replace(bars, chains=[bars.chains[0], replace(bars.chains[1], links=[driven])])
    q = bars.positions([0.5], [1])
    tau = 0.5 * 4 * 3 + 2 * (0.1 * 2 * 7 + 0.3)
    assert inverse_dynamics(bars, q, [7], [3]) == pytest.approx([tau])
    assert forward_dynamics(bars, q, [7], [tau]) == pytest.approx([3])


# ---- The nearest state that fits -------------------------------------------------------------------


@for_seeds(3)
def test_project_finds_the_nearest_rates_in_the_measure_of_the_masses(seed):
    state = random_state(seed)
    linkage, rng = state.linkage, np.random.default_rng(seed)
    q, loose = state.q + rng.uniform(-1e-3, 1e-3, linkage.n), rng.uniform(-2, 2, linkage.n)
    at, dq = project(linkage, q, loose)
    assert np.abs(closed_chains.gap(linkage, at)).max() < 1e-14
    J, M = closed_chains.constraint_jacobian(linkage, at), tree_mass_matrix(linkage, at)
    assert np.abs(J @ dq).max() < 1e-12

    def cost(rates):
        return (rates - loose) @ M @ (rates - loose)

    for _ in range(5):
        other = dq + 0.1 * closed_chains.gamma(linkage, at) @ rng.uniform(-1, 1, linkage.m)
        assert cost(other) > cost(dq)
    again = project(linkage, at, dq)
    assert again[0] == pytest.approx(at, abs=1e-14)
    assert again[1] == pytest.approx(dq, abs=1e-12)


def test_project_moves_the_light_more_than_the_heavy():
    bars = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1000, 1, 1])
    q = bars.positions([0.5], [1]) + np.array([1e-3, 0, 0])
    found, dq = project(bars, q)
    assert abs(found[0] - q[0]) < 1e-5
    assert dq.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match=r"the mass matrix of the cut four-bar is singular.*Use close"):
        project(linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[0, 0, 1]), q)


# ---- Misconceptions --------------------------------------------------------------------------------

OF_THE_DOCUMENT = {
    "rates_squared_alone",
    "relative_angle_in_centre",
    "copied_index",
    "energies_as_printed",
    "partial_time_derivative",
}


def case(loaded=True):
    arm = LEGS.linkage
    loads = [Wrench.at(arm.P, force=[3.0, -7.0, 0])] if loaded else []
    return (arm, arm.positions(MOTION[0], (1, 1)), *map(np.array, MOTION[1:])), {"loads": loads}


@pytest.mark.parametrize("key", CLOSED)
def test_each_misconception_is_wrong_and_recognised(key):
    motion, loads = case()
    right, wrong = inverse_dynamics(*motion, **loads), CLOSED[key].torques(*motion, **loads)
    assert wrong.shape == right.shape
    assert difference(wrong, right) > 0.01
    assert [each.key for each in diagnose(*motion, wrong, **loads)] == [key]


def test_mistakes_of_the_document_are_about_its_arm():
    bars = linkages.five_bar(bases=[[0, 0], [1, 0]], lengths=[[0.2, 0.9], [0.25, 1]], masses=[[1, 1], [1, 1]])
    motion = bars, bars.positions([2, 1], [1]), [1, 2], [3, 4]
    for key in OF_THE_DOCUMENT:
        with pytest.raises(
            NotHere,
            match=f'{re.escape(CLOSED[key].name())}" is a mistake about the three-legged arm; five-bar is another',
        ):
            CLOSED[key].torques(*motion)
    right = inverse_dynamics(*motion)
    loads = [Wrench.at(Point(1), force=[10, 20, 0])]
    for key in set(CLOSED) - OF_THE_DOCUMENT:
        with_load = loads if key == "one_leg_alone" else []
        wrong = CLOSED[key].torques(*motion, loads=with_load)
        assert key in [each.key for each in diagnose(*motion, wrong, loads=with_load)]
        assert difference(wrong, right) > 1e-3
    with pytest.raises(NotHere, match="a mistake about loads; without any there is nothing to get wrong"):
        CLOSED["one_leg_alone"].torques(*motion)
    plain = Mechanism(bars.chains, bars.closures, bars.inputs)
    with pytest.raises(NotHere, match="assembly modes of mechanism are not known"):
        CLOSED["wrong_branch"].torques(plain, *motion[1:])


def test_right_and_other_torques_are_no_misconception():
    motion, loads = case()
    right = inverse_dynamics(*motion, **loads)
    assert diagnose(*motion, right.round(2), **loads).verdict == "right"
    assert diagnose(*motion, right + np.array([0.5, 0.1]), **loads).verdict == "not recognised"


@pytest.mark.parametrize("key", sorted(OF_THE_DOCUMENT - {"partial_time_derivative"}))
def test_loads_are_felt_rightly_with_wrong_energies(key):
    (motion, loads), (_, none) = case(), case(loaded=False)
    felt = inverse_dynamics(*motion, **loads) - inverse_dynamics(*motion, **none)
    assert CLOSED[key].torques(*motion, **loads) - CLOSED[key].torques(*motion, **none) == pytest.approx(felt)


class Printed(ByHand):
    """The energies of the document in six angles, as printed, with gravity added; each mistake by its number."""

    def __init__(self, *mistakes):
        super().__init__(LEGS, (1, 1))
        self.mistakes = mistakes

    def centre(self, q, i):
        (x, y), (l1, l2) = self.sketch.bases[i], self.sketch.lengths[i]
        one, two = q[2 * i], q[2 * i + 1] if "E23" in self.mistakes else q[2 * i] + q[2 * i + 1]
        carried = 0 if i == 1 and "E24" in self.mistakes else i
        return (
            x + l1 * mpmath.cos(one) + l2 / 2 * mpmath.cos(two),
            y + self.sketch.lengths[carried][0] * mpmath.sin(q[2 * carried]) + l2 / 2 * mpmath.sin(two),
        )

    def kinetic(self, q, dq):
        total = mpmath.mpf(0)
        for i in range(3):
            (m1, m2), (l1, l2) = (body[0] for body in self.sketch.bodies[i]), self.sketch.lengths[i]
            one, two = dq[2 * i : 2 * i + 2]
            spin = one**2 + two**2 if "E22" in self.mistakes else (one + two) ** 2
            vx, vy = (
                mpmath.diff(lambda s, k=k, i=i: self.centre([a + s * b for a, b in zip(q, dq, strict=True)], i)[k], 0)
                for k in range(2)
            )
            total += m1 * l1**2 / 3 * one**2 / 2 + m2 * l2**2 / 12 * spin / 2 + m2 * (vx**2 + vy**2) / 2
        mass, beyond, moment = self.sketch.end
        l1, reach, one, both = self.sketch.lengths[0][0], self.sketch.lengths[0][1] + beyond, dq[0], dq[0] + dq[1]
        square = (l1 * one) ** 2 + (reach * both) ** 2 + 2 * l1 * reach * one * both * mpmath.cos(q[1])
        return total + mass * square / 2 + moment * both**2 / 2

    # -- Lagrange's equations of all six angles, as if the arm were not closed

    def slopes(self, q, dq):
        return [mpmath.diff(lambda s, k=k: self.lagrangian(_moved(q, k, s), dq), 0) for k in range(6)]

    def six(self, q, dq, ddq):
        def momentum(k, t):
            there = [a + t * b + t * t * c / 2 for a, b, c in zip(q, dq, ddq, strict=True)]
            rates = [b + t * c for b, c in zip(dq, ddq, strict=True)]
            return mpmath.diff(lambda s: self.lagrangian(there, _moved(rates, k, s)), 0)

        moved = [mpmath.diff(lambda t, k=k: momentum(k, t), 0) for k in range(6)]
        return np.array([a - b for a, b in zip(moved, self.slopes(q, dq), strict=True)], dtype=float)


def _moved(values, k, s):
    return [value + s * (i == k) for i, value in enumerate(values)]


@cache
def by_hand():
    """Of the right arm: angles, rates, accelerations, their slopes by the inputs, and the torques."""
    right = Printed()
    with mpmath.workdps(DIGITS):
        at = right.path(*MOTION)
        q, dq, ddq = ([mpmath.diff(lambda t, k=k: at(t)[k], 0, order) for k in range(6)] for order in (0, 1, 2))
        Gamma = np.array([_slopes(right.coordinates, MOTION[0], k) for k in range(2)], dtype=float).T
    return right, q, dq, ddq, Gamma, right.torques(*MOTION)


def wrong_torques(key):
    motion, loads = case(loaded=False)
    return CLOSED[key].torques(*motion, **loads)


def test_the_printed_energies_put_right_are_right():
    motion, _ = case(loaded=False)
    assert difference(inverse_dynamics(*motion), by_hand()[-1]) < 1e-12
    assert difference(ByHand(LEGS, (1, 1)).torques(*MOTION), by_hand()[-1]) < 1e-12


@pytest.mark.parametrize(
    ("erratum", "key"),
    [
        ("E22", "rates_squared_alone"),
        ("E23", "relative_angle_in_centre"),
        ("E24", "copied_index"),
        ("E22, E23, E24", "energies_as_printed"),
    ],
)
def test_wrong_energies_by_hand(erratum, key):
    assert f"({erratum})" in CLOSED[key].name()
    wrong = Printed(*erratum.split(", ")).torques(*MOTION)
    assert difference(wrong, by_hand()[-1]) > 0.01
    assert difference(wrong_torques(key), wrong) < 1e-11


def test_partial_derivative_by_time_by_hand():
    right, q, dq, _, Gamma, _ = by_hand()
    with mpmath.workdps(DIGITS):
        expected = -Gamma.T @ np.array(right.slopes(q, dq), dtype=float)
    assert difference(wrong_torques("partial_time_derivative"), expected) < 1e-11


def test_dependent_angles_held_by_hand():
    right, q, dq, ddq, Gamma, tau = by_hand()
    with mpmath.workdps(DIGITS):
        forces = right.six(q, dq, ddq)
    assert difference(Gamma.T @ forces, tau) < 1e-12
    assert difference(wrong_torques("dependent_angles_held"), forces[[2, 4]]) < 1e-11
    assert difference(wrong_torques("multiplier_sign"), 2 * forces[[2, 4]] - tau) < 1e-11


def test_velocity_term_forgotten_by_hand():
    right, q, dq, _, Gamma, _ = by_hand()
    with mpmath.workdps(DIGITS):
        forces = right.six(q, dq, (Gamma @ MOTION[2]).tolist())
    assert difference(wrong_torques("closure_velocity_term"), Gamma.T @ forces) < 1e-11


def test_one_leg_alone_by_hand():
    motion, loads = case()
    right, q, *_, tau = by_hand()
    x, y = (float(value) for value in right.point(q, 0, None, 0.15, 0))
    arms = [(x - bx, y - by) for bx, by in LEGS.bases[1:]]
    moments = [rx * -7.0 - ry * 3.0 for rx, ry in arms]
    assert difference(CLOSED["one_leg_alone"].torques(*motion, **loads), tau - moments) < 1e-11


def test_another_branch_by_hand():
    found = wrong_torques("wrong_branch")
    others = [ByHand(LEGS, mode).torques(*MOTION) for mode in MODES[1:]]
    assert min(difference(found, each) for each in others) < 1e-11


# ---- Loads in other axes ---------------------------------------------------------------------------


@pytest.mark.parametrize("place", [Point(1), Point(2, 1, at=[0.1, -0.2, 0]), Point(3, 2), Point(0, at=[1, 0, 0])])
@pytest.mark.parametrize("axes", ["link", "tip", "base"])
def test_a_load_in_other_axes_is_that_of_the_world_turned(place, axes):
    """The axes are turned by the angles of the chain, counted by hand; its base is turned, too."""
    arm = LEGS.linkage
    tilt = 0.3
    turned = [replace(chain, base=transform(rotation_z(np.array(tilt)), chain.base[:3, 3])) for chain in arm.chains]
    legs = Mechanism(turned, arm.closures, arm.inputs)
    q = arm.positions(MOTION[0], (1, 1))
    q[[legs.first[k] for k in range(3)]] -= tilt
    force, moment = np.array([3.0, -2.0, 0.0]), np.array([0, 0, 0.7])
    angle = 0.0
    if place.chain:
        joints = {"base": 0, "link": place.link or 2, "tip": 2}[axes]
        angle = tilt + q[legs.first[place.chain - 1] :][:joints].sum()
    c, s = np.cos(angle), np.sin(angle)
    in_world = Wrench.at(place, [c * 3 + s * 2, s * 3 - c * 2, 0], moment)
    given, expected = (
        inverse_dynamics(legs, q, *MOTION[1:], loads=[load])
        for load in (Wrench.at(place, force, moment, axes), in_world)
    )
    assert given == pytest.approx(expected, abs=1e-12)


def test_a_load_needs_a_place_on_the_mechanism():
    with pytest.raises(TypeError, match=r"place of a load is 1; expected a Point. Give a Point, such as Point\(1\)"):
        Wrench.at(1, [1, 0, 0])
    with pytest.raises(ValueError, match="load 2 names link 7 of chain 1"):
        inverse_dynamics(FLAT, FLAT.positions([0.5], [1]), [0], [0], loads=[Wrench(), Wrench(link=7)])
