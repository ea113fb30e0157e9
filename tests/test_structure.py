"""Mass matrix, velocity products, gravity, regressor and operational inertia: against Pinocchio and by other routes."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")

import pinocchio as pin
from arms import Arm, Reference

from dynlib import robotfile, robots, structure
from dynlib.acceleration import jacobian_derivative, point_acceleration
from dynlib.lagrange import energies
from dynlib.model import Body, Link, Motor, Robot
from dynlib.newton_euler import inverse_dynamics
from dynlib.velocity import jacobian
from tools.files import ROOT

READINGS = ("standard", "modified", "poses")
RELATIVE = 1e-10


def equal(computed, expected, relative=RELATIVE, size=0.0):
    """Assert equality relative to the largest entry, or to the `size` of the terms that were summed."""
    computed, expected = np.asarray(computed, dtype=float), np.asarray(expected, dtype=float)
    assert computed.shape == expected.shape
    worst = np.abs(computed - expected).max(initial=0) / max(np.abs(expected).max(initial=0), size, 1e-9)
    assert worst <= relative, f"relative difference {worst:.2e}\ncomputed {computed}\nexpected {expected}"


def some_arm(seed):
    """An arm of 1 to 8 joints, every third one with motors, every second one with a payload."""
    rng = np.random.default_rng([11, seed])
    joints = tuple(rng.choice(["revolute", "prismatic"], 1 + seed % 8, p=[0.65, 0.35]))
    return Arm(joints, READINGS[seed % 3], seed, motors=seed % 3 == 1, payload=seed % 2 == 0)


some_arms = pytest.mark.parametrize(
    "arm", [some_arm(seed) for seed in range(24)], ids=lambda arm: f"{arm.n}-{arm.seed}"
)


def symmetric(M):
    """Fill the half that Pinocchio leaves empty."""
    return np.triu(M) + np.triu(M, 1).T


def rate_of(function, q, dq, step=1e-3):
    """The derivative of a function of q along dq, by differences of sixth order."""
    steps = [function(q + k * step * dq) for k in (1, 2, 3, -1, -2, -3)]
    return (45 * (steps[0] - steps[3]) - 9 * (steps[1] - steps[4]) + (steps[2] - steps[5])) / (60 * step)


# ---- Against Pinocchio -----------------------------------------------------------------------------


@some_arms
def test_mass_matrix_velocity_products_and_gravity_equal_pinocchio(arm):
    (q, dq, _), model = arm.motion(), arm.reference.model
    M, g = structure.mass_matrix(arm.robot, q), structure.gravity_torque(arm.robot, q)
    equal(M, symmetric(pin.crba(model, model.createData(), q)))
    equal(g, pin.computeGeneralizedGravity(model, model.createData(), q))
    both = pin.nonLinearEffects(model, model.createData(), q, dq)
    h = structure.velocity_torque(arm.robot, q, dq)
    equal(h + g, both)
    equal(structure.coriolis_matrix(arm.robot, q, dq) @ dq, h, size=np.abs(both).max())
    theirs = pin.computeCoriolisMatrix(model, model.createData(), q, dq)
    equal(h, theirs @ dq, size=np.abs(both).max())


@some_arms
def test_the_symmetric_part_of_c_is_half_the_rate_of_m(arm):
    """Then dM/dt - 2C is skew. Pinocchio's C has the same symmetric part and C dq, but is another matrix."""
    (q, dq, _), model = arm.motion(), arm.reference.model
    C = structure.coriolis_matrix(arm.robot, q, dq)
    theirs = pin.computeCoriolisMatrix(model, model.createData(), q, dq)
    size = np.abs(structure.mass_matrix(arm.robot, q)).max() * np.abs(dq).max()
    equal(C + C.T, theirs + theirs.T, size=size)
    x = np.random.default_rng(arm.seed).uniform(-1, 1, arm.n)
    dM = rate_of(lambda at: structure.mass_matrix(arm.robot, at), q, dq)
    equal(C + C.T, dM, 1e-9, size=size)  # differences lose digits
    equal(x @ (C + C.T - theirs - theirs.T) @ x, 0, size=size)


@some_arms
def test_c_is_made_of_the_christoffel_symbols_of_m(arm):
    q, dq, _ = arm.motion()
    slopes = [rate_of(lambda at: structure.mass_matrix(arm.robot, at), q, unit) for unit in np.eye(arm.n)]
    D = np.stack(slopes, axis=-1)  # D[i, j, k]: of M_ij by q_k
    symbols = (D + D.transpose(0, 2, 1) - D.transpose(2, 1, 0)) / 2
    equal(
        structure.coriolis_matrix(arm.robot, q, dq),
        symbols @ dq,
        1e-9,
        size=np.abs(structure.mass_matrix(arm.robot, q)).max(),
    )


@pytest.mark.parametrize("size", [1e-8, 1e-3, 1.0, 1e3, 1e8])
def test_c_keeps_its_digits_for_slow_and_fast_motion(size):
    arm = some_arm(5)
    q, dq, _ = arm.motion()
    C = structure.coriolis_matrix(arm.robot, q, dq)
    equal(structure.coriolis_matrix(arm.robot, q, size * dq) / size, C, 1e-13)
    assert not structure.coriolis_matrix(arm.robot, q, 0 * dq).any()


ORDER = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Pinocchio's order of the ten parameters, about the origin of the joint."""


@pytest.mark.parametrize("seed", range(12))
def test_each_column_of_the_regressor_equals_pinocchio(seed):
    """Arms from poses, whose link frames are Pinocchio's joint frames."""
    arm = replace(some_arm(seed), reading="poses", payload=False, motors=False)
    motion, model = arm.motion(), arm.reference.model
    Y = structure.regressor(arm.robot, *motion)
    theirs = pin.computeJointTorqueRegressor(model, model.createData(), *motion).reshape(arm.n, -1)
    places = [10 * link + ORDER.index(name) for link in range(arm.n) for name in structure.PARAMETERS]
    for k, place in enumerate(places):
        equal(Y[:, k], theirs[:, place], 1e-12, size=np.abs(theirs).max())
    pi = np.concatenate([np.asarray(inertia.toDynamicParameters()) for inertia in list(model.inertias)[1:]])
    equal(structure.parameters(arm.robot), pi[places])


@pytest.mark.parametrize("seed", range(6))
def test_operational_inertia_equals_pinocchio(seed):
    """Arms of 6 to 8 joints; Pinocchio inverts its own mass matrix."""
    rng = np.random.default_rng(seed)
    arm = Arm(tuple(["revolute"] * 4 + list(rng.choice(["revolute", "prismatic"], 2 + seed % 3))), "poses", seed)
    q, model = arm.motion()[0], arm.reference.model
    W = symmetric(pin.computeMinverse(model, model.createData(), q))
    J = arm.reference.jacobian(q, None, [0, 0, 0], "world")
    equal(structure.operational_inertia(arm.robot, q) @ (J @ W @ J.T), np.eye(6), 1e-8)


# ---- What must hold for every arm ------------------------------------------------------------------


@some_arms
def test_the_parts_make_up_the_torque(arm):
    q, dq, ddq = arm.motion()
    robot = arm.robot
    parts = structure.mass_matrix(robot, q) @ ddq + structure.velocity_torque(robot, q, dq)
    friction = inverse_dynamics(robot, q, dq, 0 * ddq) - inverse_dynamics(without_friction(robot), q, dq, 0 * ddq)
    equal(parts + structure.gravity_torque(robot, q) + friction, inverse_dynamics(robot, q, dq, ddq))
    assert np.any(friction != 0) == (arm.motors and np.any(dq != 0))


def without_friction(robot):
    return replace(robot, links=[replace(link, motor=None) for link in robot.links])


@some_arms
def test_the_mass_matrix_is_symmetric_positive_and_gives_the_kinetic_energy(arm):
    q, dq, _ = arm.motion()
    M = structure.mass_matrix(arm.robot, q)
    equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0
    rotors = sum(motor.inertia * motor.gear**2 * rate**2 for motor, rate in zip(arm.reference.motors, dq, strict=True))
    equal(dq @ M @ dq / 2, energies(arm.robot, q, dq).kinetic + rotors / 2)


@some_arms
def test_gravity_torques_are_the_slope_of_the_potential_energy(arm):
    q, dq, _ = arm.motion()
    slope = rate_of(lambda at: energies(arm.robot, at, 0 * dq).potential, q, dq)
    equal(structure.gravity_torque(arm.robot, q) @ dq, slope, 1e-9, size=1.0)


@some_arms
def test_power_balance(arm):
    """Power of the motors = rate of the energy + losses, for the rate by M, C and g, to 1e-10."""
    (q, dq, ddq), robot = arm.motion(), arm.robot
    tau = inverse_dynamics(robot, q, dq, ddq)
    losses = sum(
        (g := abs(m.gear)) * (m.viscous * g * rate + m.dry(rate)) * rate
        for m, rate in zip(arm.reference.motors, dq, strict=True)
    )
    M, C = structure.mass_matrix(robot, q), structure.coriolis_matrix(robot, q, dq)
    rate = dq @ M @ ddq + dq @ (C + C.T) @ dq / 2 + dq @ structure.gravity_torque(robot, q)
    equal(tau @ dq, rate + losses, size=np.abs(tau * dq).max())


def test_power_balance_along_a_motion():
    """The energy by the velocity recursion, differentiated in time: nothing of M, C and g in it."""
    arm = some_arm(4)
    amplitude, speed, _ = arm.motion()

    def state(t):
        wave = amplitude * np.sin(speed * t)
        return wave, amplitude * speed * np.cos(speed * t), -(speed**2) * wave

    def energy(t):
        found = energies(without_friction(arm.robot), *state(t)[:2])
        return found.kinetic + found.potential

    q, dq, ddq = state(0.4)
    power = inverse_dynamics(without_friction(arm.robot), q, dq, ddq) @ dq
    equal(power, rate_of(energy, 0.4, 1.0), 1e-8, size=1.0)


@some_arms
def test_torques_are_linear_in_the_parameters(arm):
    bare = without_friction(arm.robot)
    motion = arm.motion()
    Y = structure.regressor(bare, *motion)
    equal(Y @ structure.parameters(bare), inverse_dynamics(bare, *motion))
    equal(Y, structure.regressor(arm.robot, *motion))  # motors do not count


def test_the_regressor_needs_no_masses():
    arm = some_arm(6)
    unknown = replace(arm.robot, links=[replace(link, body=None) for link in arm.robot.links], payload=None)
    equal(structure.regressor(unknown, *arm.motion()), structure.regressor(arm.robot, *arm.motion()), 1e-15)


# ---- Base parameters -------------------------------------------------------------------------------


@some_arms
def test_base_parameters_give_the_torques(arm):
    bare = without_friction(arm.robot)
    B = structure.base_parameters(bare)
    other = structure.base_parameters(bare, seed=arm.seed + 100, samples=90)
    equal(other, B, 1e-9)
    pivots = (B != 0).argmax(axis=1)
    equal(B[:, pivots], np.eye(len(B)), 1e-15)
    assert (np.diff(pivots) > 0).all()
    motion = arm.motion(7)
    Y = structure.regressor(bare, *motion)
    equal(Y[..., pivots] @ B @ structure.parameters(bare), inverse_dynamics(bare, *motion))
    stacked = structure.regressor(bare, *arm.motion(120)).reshape(-1, 10 * arm.n)
    assert len(B) == np.linalg.matrix_rank(stacked, tol=1e-9 * np.linalg.norm(stacked, 2))


def planar_2r(gravity):
    return replace(robots.planar_2r(L1=0.8, L2=0.6, m1=3, m2=2, g=9.81), gravity=gravity)


@pytest.mark.parametrize(
    ("robot", "count"),
    [
        (planar_2r([0, -9.81, 0]), 6),
        (planar_2r([0, 0, -9.81]), 4),  # a level plane
        (planar_2r([0, 0, 0]), 4),
        (robots.rp(I1=1, m1=1, m2=2, g=9.81), 6),  # mx1, my1, Izz1 + Iyy2, m2, mx2, mz2
        (Robot([Link("revolute", np.eye(4), Body(1))], [0, 0, -9.81]), 1),  # Izz about its own axis
        (Robot([Link("revolute", np.eye(4), Body(1))], [0, -9.81, 0]), 3),  # and mx, my
        (Robot([Link("prismatic", np.eye(4), Body(1))], [0, 0, -9.81]), 1),  # its mass
    ],
    ids=["2R upright", "2R level", "2R weightless", "RP", "turntable", "pendulum", "lift"],
)
def test_number_of_base_parameters(robot, count):
    assert len(structure.base_parameters(robot)) == count


@pytest.mark.filterwarnings("ignore:.*no real body has these data")
@pytest.mark.parametrize("name", ["puma560", "puma560_modified"])
def test_a_puma_560_has_36_base_parameters(name):
    """The count of the literature (Mayeda, Yoshida and Osuka 1990; Gautier and Khalil 1990)."""
    assert len(structure.base_parameters(robots.load(name))) == 36


def test_base_parameters_of_the_2r_are_those_found_by_hand():
    B = structure.base_parameters(planar_2r([0, -9.81, 0]))
    names = [name + str(link) for link in (1, 2) for name in structure.PARAMETERS]
    found = [{names[k]: round(row[k], 9) for k in np.flatnonzero(row)} for row in B]
    L1 = 0.8
    assert found == [
        {"mx1": 1, "m2": L1},
        {"my1": 1},
        {"Izz1": 1, "m2": round(L1**2, 9)},
        {"mx2": 1},
        {"my2": 1},
        {"Izz2": 1},
    ]


# ---- Symbols ---------------------------------------------------------------------------------------


def spatial_3r():
    """A column, a shoulder and an elbow, with full symbols for lengths, masses and inertias."""
    a, m1, m2, m3, L2, L3, g = sympy.symbols("a m1 m2 m3 L2 L3 g")
    I = sympy.symbols("I1:10")
    rows = [
        dict(mass=m1, inertia=I[:3]),
        dict(a=a, alpha=sympy.pi / 2, mass=m2, com=[L2 / 2, 0, 0], inertia=I[3:6]),
        dict(a=L2, mass=m3, com=[L3 / 2, 0, a], inertia=I[6:9]),
    ]
    return Robot.from_dh(rows, convention="modified", gravity=[0, 0, -g], name="spatial 3R")


def expanded(entries):
    """Sums of products; equal expressions in sines and cosines then differ by 0."""
    from dynlib.algebra.notation import tidy

    return np.array([tidy(sympy.sympify(entry)) for entry in np.asarray(entries).flat], dtype=object)


SYMBOLIC = pytest.mark.parametrize(
    "robot", [robots.planar_2r(), robots.rp(), spatial_3r()], ids=lambda robot: robot.name
)


@SYMBOLIC
def test_c_and_g_equal_christoffel_symbols_and_slopes_exactly(robot):
    q, dq, _ = robot.motion_symbols()
    n, M = robot.n, structure.mass_matrix(robot, q)
    C = [
        [
            sum((M[i, j].diff(q[k]) + M[i, k].diff(q[j]) - M[j, k].diff(q[i])) * dq[k] for k in range(n)) / 2
            for j in range(n)
        ]
        for i in range(n)
    ]
    assert not any(expanded(structure.coriolis_matrix(robot, q, dq) - np.array(C)))
    potential = energies(robot, q, dq).potential.item()
    assert not any(expanded(structure.gravity_torque(robot, q) - np.array([potential.diff(angle) for angle in q])))
    kinetic = energies(robot, q, dq).kinetic.item()
    hessian = [[kinetic.diff(a, b) for a in dq] for b in dq]
    assert not any(expanded(M - np.array(hessian)))


@SYMBOLIC
def test_symbols_at_random_points_equal_numbers(robot):
    rng = np.random.default_rng(3)
    values = {symbol: float(rng.uniform(0.5, 1.5)) for symbol in robot.symbols}
    numbers = replace(robot, name="numbers", links=[loose(link) for link in robot.links]).subs(values)
    motion = rng.uniform(-2, 2, (3, robot.n))
    symbols = robot.motion_symbols()
    at = list(values.items()) + list(zip(np.concatenate(symbols), np.concatenate(motion), strict=True))
    readings = {
        "M": lambda arm, q, dq, ddq: structure.mass_matrix(arm, q),
        "C": lambda arm, q, dq, ddq: structure.coriolis_matrix(arm, q, dq),
        "h": lambda arm, q, dq, ddq: structure.velocity_torque(arm, q, dq),
        "g": lambda arm, q, dq, ddq: structure.gravity_torque(arm, q),
        "Y": structure.regressor,
        "pi": lambda arm, *motion: structure.parameters(arm),
    }
    for name, read in readings.items():
        found = read(robot, *symbols)
        flat = sympy.lambdify([symbol for symbol, _ in at], list(found.flat), "numpy")(*(value for _, value in at))
        equal(np.reshape(np.array(flat, dtype=float), found.shape), read(numbers, *motion), 1e-12, size=1.0), name


def loose(link):
    return replace(link, body=replace(link.body, allow_impossible=True))


def test_the_regressor_of_the_2r_is_exact():
    arm = robots.planar_2r()
    motion = arm.motion_symbols()
    Y = structure.regressor(arm, *motion)
    assert not any(entry.has(sympy.Float) for entry in Y.flat if isinstance(entry, sympy.Basic))
    assert not any(expanded(Y @ structure.parameters(arm) - inverse_dynamics(arm, *motion)))


# ---- Batches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (0,)])
def test_a_batch_equals_a_loop(shape):
    arm = Arm(("revolute", "prismatic", "revolute", "revolute"), "standard", seed=9, motors=True, payload=True)
    motion = arm.motion(*shape)
    many = everything(arm.robot, *motion)
    n, b = arm.n, 10 * arm.n
    shapes = {"M": (n, n), "C": (n, n), "h": (n,), "g": (n,), "Y": (n, b), "Lambda": (2, 2)}
    assert {name: value.shape for name, value in many.items()} == {name: shape + s for name, s in shapes.items()}
    for index in np.ndindex(*shape):
        for name, value in everything(arm.robot, *(each[index] for each in motion)).items():
            equal(many[name][index], value, 1e-12, size=1.0)


def everything(robot, q, dq, ddq):
    return {
        "M": structure.mass_matrix(robot, q),
        "C": structure.coriolis_matrix(robot, q, dq),
        "h": structure.velocity_torque(robot, q, dq),
        "g": structure.gravity_torque(robot, q),
        "Y": structure.regressor(robot, q, dq, ddq),
        "Lambda": structure.operational_inertia(robot, q, rows=[0, 2]),
    }


def test_one_position_with_many_rates_and_the_other_way_round():
    arm = planar_2r([0, -9.81, 0])
    q, dq = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), [1.0, -2.0]
    many = structure.coriolis_matrix(arm, q, dq)
    equal(many, [structure.coriolis_matrix(arm, each, dq) for each in q], 1e-14)
    other = structure.coriolis_matrix(arm, dq, q)
    equal(other, [structure.coriolis_matrix(arm, dq, each) for each in q], 1e-14)


# ---- Operational inertia ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("axes", ["world", "base", "link"])
def test_a_push_accelerates_the_tip_with_the_operational_inertia(seed, axes):
    """By its definition: at rest, weightless, a force at the tip gives the acceleration inv(Lambda) F there."""
    arm = Arm(("revolute", "revolute", "prismatic", "revolute"), READINGS[seed % 3], seed, motors=seed % 2 == 1)
    robot, (q, _, _) = replace(arm.robot, gravity=[0, 0, 0]), arm.motion()
    F = np.random.default_rng(seed).uniform(-5, 5, 3)
    J = jacobian(robot, q, axes=axes)[:3]
    columns = [inverse_dynamics(robot, q, 0 * q, unit) for unit in np.eye(arm.n)]
    ddq = np.linalg.solve(np.transpose(columns), J.T @ F)
    Lambda = structure.operational_inertia(robot, q, rows=[0, 1, 2], axes=axes)
    equal(Lambda @ (J @ ddq), F, 1e-8)
    along = structure.operational_inertia(robot, q, rows=0, axes=axes)
    equal(along, structure.operational_inertia(robot, q, rows=[0], axes=axes), 1e-15)


@pytest.mark.parametrize("degrees", [5, 20, 90, 160])
def test_the_operational_inertia_of_the_2r_is_the_one_by_hand(degrees):
    q = [0.3, np.radians(degrees)]
    found = structure.operational_inertia(planar_2r([0, -9.81, 0]), q, rows=[0, 1], axes="link")
    equal(found, np.diag([2 + 3 / np.sin(q[1]) ** 2, 2]), 1e-11)


# ---- Limits and messages ---------------------------------------------------------------------------


def test_rotors_alone_have_inertia():
    arm = Robot([Link("revolute", np.eye(4), Body(0), Motor(inertia=2, gear=3, viscous=1))] * 2, [0, 0, 0])
    assert structure.mass_matrix(arm, [0, 0]).tolist() == [[18, 0], [0, 18]]
    assert structure.velocity_torque(arm, [0, 0], [1, 2]).tolist() == [0, 0]
    assert structure.gravity_torque(arm, [0, 0]).tolist() == [0, 0]


def test_a_massless_last_link_leaves_an_eigenvalue_of_zero():
    M = structure.mass_matrix(robots.planar_2r(L1=1, L2=1, m1=1, m2=0, g=9.81), [0.3, 0.4])
    assert np.linalg.eigvalsh(M).round(15).tolist() == [0, 1]


def test_friction_is_in_none_of_the_parts():
    arm = planar_2r([0, -9.81, 0])
    dry = [replace(link, motor=Motor(viscous=3, coulomb=(2, -1), gear=5)) for link in arm.links]
    rough, q, dq = replace(arm, links=dry), [0.2, 0.3], [1.0, -2.0]
    equal(structure.velocity_torque(rough, q, dq), structure.velocity_torque(arm, q, dq), 1e-15)
    equal(structure.gravity_torque(rough, q), structure.gravity_torque(arm, q), 1e-15)
    equal(structure.mass_matrix(rough, q), structure.mass_matrix(arm, q), 1e-15)


def test_an_arm_of_exact_numbers_with_motors_has_all_its_parts():
    arm = robotfile.read(ROOT / "book" / "crane.toml")
    assert any(link.motor is not None for link in arm.links)
    motion = np.random.default_rng(4).uniform(-1, 1, (2, arm.n))
    symbols = arm.motion_symbols()[:2]
    at = dict(zip(np.concatenate(symbols), np.concatenate(motion), strict=True))
    for part in (structure.coriolis_matrix, structure.velocity_torque):
        exact = [float(sympy.sympify(entry).subs(at)) for entry in part(arm.exact(), *symbols).flat]
        equal(exact, part(arm, *motion).ravel(), 1e-12, size=1.0)


UNKNOWN = Robot([Link("revolute", np.eye(4), Body(1)), Link("revolute", np.eye(4))], [0, 0, -9.81], name="the arm")


@pytest.mark.parametrize("name", ["mass_matrix", "gravity_torque", "operational_inertia"])
def test_a_link_without_mass_data_is_named(name):
    with pytest.raises(ValueError, match="link 2 of the arm has no mass data"):
        getattr(structure, name)(UNKNOWN, [0, 0])


@pytest.mark.parametrize("name", ["velocity_torque", "coriolis_matrix"])
def test_a_link_without_mass_data_is_named_in_motion(name):
    with pytest.raises(ValueError, match="link 2 of the arm has no mass data"):
        getattr(structure, name)(UNKNOWN, [0, 0], [1, 1])
    with pytest.raises(ValueError, match="link 2 of the arm has no mass data"):
        structure.parameters(UNKNOWN)


def test_symbols_where_floats_are_needed():
    arm = robots.planar_2r()
    for ask in (lambda: structure.base_parameters(arm), lambda: structure.operational_inertia(arm, [0, 0])):
        with pytest.raises(ValueError, match=r"planar 2R holds symbols; give them numbers with robot\.subs"):
            ask()
    with pytest.raises(TypeError, match="q holds the symbol theta1"):
        structure.mass_matrix(planar_2r([0, 0, 0]), arm.motion_symbols()[0])


def test_singular_positions_are_named():
    arm = planar_2r([0, 0, 0])
    with pytest.raises(ValueError, match=r"cannot move its tip in all 2 directions at q = \[0.5, 0.0\]: a singular"):
        structure.operational_inertia(arm, [[0.5, 1.0], [0.5, 0.0]], rows=[0, 1])
    with pytest.raises(ValueError, match=r"in all 6 directions .* than 2 joints can do; leave out"):
        structure.operational_inertia(arm, [0.5, 1.0])
    massless = robots.planar_2r(L1=1, L2=1, m1=1, m2=0, g=0)
    with pytest.raises(ValueError, match=r"singular at q = \[0.5, 1.0\]: joint 2 can move .* link 2 has neither mass"):
        structure.operational_inertia(massless, [0.5, 1.0], rows=[0, 1])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda arm: structure.mass_matrix(arm, [0, 0, 0]), "q has 3 entries; planar 2R has 2 joints"),
        (lambda arm: structure.velocity_torque(arm, [0, 0], [1]), "dq has 1 entries; planar 2R has 2 joints"),
        (lambda arm: structure.regressor(arm, [0, 0], [0, 0], [np.nan, 0]), "ddq holds nan; expected finite numbers"),
        (lambda arm: structure.operational_inertia(arm, [0, 1], rows=0, axes="tool"), "axes is 'tool'"),
        (lambda arm: structure.base_parameters(arm, samples=3), "samples is 3; expected at least 10"),
    ],
    ids=["q", "dq", "nan", "axes", "samples"],
)
def test_bad_input_is_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(planar_2r([0, 0, 0]))


def test_reference_is_pinocchio():
    """The comparison would notice: another mass gives another matrix."""
    arm = some_arm(3)
    heavier = replace(arm.robot, payload=Body(1e-3))
    model = Reference(arm).model
    with pytest.raises(AssertionError, match="relative difference"):
        equal(
            structure.mass_matrix(heavier, arm.motion()[0]),
            symmetric(pin.crba(model, model.createData(), arm.motion()[0])),
        )


# ---- What the tip needs beside its inertia ---------------------------------------------------------


@some_arms
@pytest.mark.parametrize("axes", ["world", "base"])
def test_the_rate_of_the_jacobian_equals_pinocchio_and_the_acceleration_of_the_point(arm, axes):
    q, dq, _ = arm.motion()
    rng = np.random.default_rng(arm.seed)
    link, point = [None, *range(1, arm.n + 1)][rng.integers(arm.n + 1)], rng.uniform(-0.5, 0.5, 3)
    at = {"link": link, "point": point, "axes": axes}
    found = jacobian_derivative(arm.robot, q, dq, **at)
    equal(found @ dq, np.concatenate(point_acceleration(arm.robot, q, dq, 0 * q, **at)), size=1.0)
    equal(found, rate_of(lambda q: jacobian(arm.robot, q, **at), q, dq), 1e-8, size=1.0)
    if axes == "world":
        reference = arm.reference
        joint, frame = reference.frames[-1 if link is None else link - 1]
        model = reference.model.copy()
        place = pin.SE3(np.eye(3), frame.act(point))
        number = model.addFrame(pin.Frame("point", joint, 0, place, pin.FrameType.OP_FRAME))
        data = model.createData()
        pin.computeJointJacobiansTimeVariation(model, data, q, dq)
        pin.updateFramePlacements(model, data)
        theirs = pin.getFrameJacobianTimeVariation(model, data, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        equal(found, theirs.reshape(6, -1), size=1.0)


def test_the_rate_of_the_jacobian_in_axes_that_turn_is_refused():
    with pytest.raises(ValueError, match='axes is \'link\'; expected "world" or "base", which stand still'):
        jacobian_derivative(robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10), [0, 0], [0, 0], axes="link")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rows", [[0, 1, 2], 2, [2, 0]])
def test_the_cartesian_equation_gives_the_force_that_was_there(seed, rows):
    """A force at the tip and no torques: Lambda a + mu + p is that force again; a by Pinocchio's forward dynamics."""
    arm = Arm(("revolute", "revolute", "prismatic", "revolute"), READINGS[seed % 3], seed, motors=False)
    robot, (q, dq, _) = arm.robot, arm.motion()
    chosen = np.atleast_1d(rows)
    J = arm.reference.jacobian(q, None, [0, 0, 0], "world")[chosen]
    F = np.random.default_rng(seed).uniform(-5, 5, len(chosen))
    model = arm.reference.model
    ddq = pin.aba(model, model.createData(), q, dq, J.T @ F)
    a = np.concatenate(point_acceleration(robot, q, dq, ddq))[chosen]
    mu, p = structure.operational_bias(robot, q, dq, rows=rows)
    Lambda = structure.operational_inertia(robot, q, rows=rows)
    equal(np.atleast_2d(Lambda) @ a + mu + p, F, 1e-8)
    many = structure.operational_bias(robot, [q, q], [dq, 0 * dq], rows=rows)
    equal(many[0], [mu, 0 * mu], 1e-9, size=1.0)
    equal(many[1], [p, p], 1e-9)


# ---- Parameters back into an arm -------------------------------------------------------------------


@some_arms
def test_parameters_in_pinocchios_order_are_its_own(arm):
    model = arm.reference.model
    theirs = np.concatenate([inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]])
    in_joints = structure.parameters(Robot(arm.robot.links, [0, 0, 0], payload=arm.robot.payload, tool=arm.robot.tool))
    assert structure.reordered(in_joints, "dynlib", "pinocchio").shape == theirs.shape
    again = structure.reordered(structure.reordered(in_joints, "dynlib", "symoro"), "symoro", "dynlib")
    assert (again == in_joints).all()


def test_each_place_of_an_order_holds_what_its_name_says():
    body = Body(2, [0.1, 0.2, 0.3], [[0.9, 0.01, 0.02], [0.01, 0.8, 0.03], [0.02, 0.03, 0.7]])
    arm = Robot([Link("revolute", np.eye(4), body)], [0, 0, 0])
    theirs = pin.Inertia(2.0, body.com, body.inertia).toDynamicParameters()
    equal(structure.reordered(structure.parameters(arm), "dynlib", "pinocchio"), theirs, 1e-15)
    c = body.com
    about = body.inertia + 2 * (c @ c * np.eye(3) - np.outer(c, c))
    symoro = [about[0, 0], about[0, 1], about[0, 2], about[1, 1], about[1, 2], about[2, 2], *(2 * c), 2]
    equal(structure.reordered(structure.parameters(arm), "dynlib", "symoro"), symoro, 1e-15)


def test_orders_and_numbers_of_parameters_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="there is no order 'khalil'; expected one of dynlib, pinocchio, symoro"):
        structure.reordered(np.zeros(10), "khalil", "dynlib")
    with pytest.raises(ValueError, match=r"the parameters have the shape \(12,\); expected ten for each link"):
        structure.reordered(np.zeros(12), "dynlib", "symoro")
    arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    with pytest.raises(ValueError, match="values has 10 entries; planar 2R has 2 links, with ten parameters each"):
        structure.with_parameters(arm, np.zeros(10))
    with pytest.raises(ValueError, match=r"mass is 0 and first_moment \[1.0, 0.0, 0.0\]; a first moment gives"):
        structure.with_parameters(arm, [0, 1] + [0] * 18)
    with pytest.raises(ValueError, match="B has 6 rows and values 2 entries"):
        structure.parameters_of_base(arm, structure.base_parameters(arm), [1, 2])


@some_arms
def test_any_parameters_make_an_arm_with_their_torques(arm):
    motion = arm.motion()
    pi = np.random.default_rng(arm.seed).uniform(-2, 2, 10 * arm.n)
    found = structure.with_parameters(arm.robot, pi)
    equal(structure.parameters(found), pi)
    equal(inverse_dynamics(found, *motion), structure.regressor(arm.robot, *motion) @ pi, size=1.0)


@pytest.mark.parametrize("seed", range(8))
def test_base_parameters_make_an_arm_with_the_same_torques(seed):
    arm = some_arm(seed)
    ideal = replace(arm.robot, links=[replace(link, motor=None) for link in arm.robot.links])
    B = structure.base_parameters(ideal)
    pi = structure.parameters_of_base(ideal, B, B @ structure.parameters(ideal))
    again = structure.with_parameters(ideal, pi)
    equal(inverse_dynamics(again, *arm.motion()), inverse_dynamics(ideal, *arm.motion()), 1e-7)


def test_a_body_without_mass_can_have_an_inertia():
    body = Body.about_origin(0, [0, 0, 0], np.diag([1.0, 2.0, 3.0]))
    assert (float(body.mass), body.com.tolist(), body.inertia.diagonal().tolist()) == (0, [0, 0, 0], [1, 2, 3])
    with pytest.raises(ValueError, match="triangle rule"):
        Body.about_origin(0, [0, 0, 0], np.diag([1.0, 1.0, 3.0]))


def test_a_block_is_made_of_rods_and_plates():
    """A block without thickness and height is a rod; four quarters of a block are the block."""
    assert Body.box(3, [2, 0, 0], [1, 0, 0]).inertia == pytest.approx(Body.rod(3, 2).inertia)
    whole = Body.box(8, [1.0, 0.6, 0.4], [0.1, 0.2, 0.3])
    quarters = [Body.box(2, [0.5, 0.3, 0.4], [0.1 + x, 0.2 + y, 0.3]) for x in (-0.25, 0.25) for y in (-0.15, 0.15)]
    together = quarters[0] + quarters[1] + quarters[2] + quarters[3]
    assert together.inertia == pytest.approx(whole.inertia, abs=1e-15)
    assert together.com == pytest.approx(whole.com)
    m, a, b, c = sympy.symbols("m a b c", positive=True)
    assert Body.box(m, [a, b, c]).inertia[2, 2] == m * (a**2 + b**2) / 12
    with pytest.raises(ValueError, match=r"sides is \[1.0, -1.0, 1.0\]; expected three lengths"):
        Body.box(1, [1, -1, 1])


@pytest.mark.parametrize("part", ["mass_matrix", "velocity_torque", "coriolis_matrix", "gravity_torque"])
def test_an_arm_without_any_mass_is_refused(part):
    bare = Robot([Link("revolute", np.eye(4), Body(0))] * 2, [0, 0, -9.81], name="table")
    state = [[0.1, 0.2]] * (1 if part in ("mass_matrix", "gravity_torque") else 2)
    with pytest.raises(ValueError, match="no link of table has a mass or an inertia"):
        getattr(structure, part)(bare, *state)
