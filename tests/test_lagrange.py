"""Lagrange's equations give what the recursion gives, for arms and for what is typed; wrong input is refused."""

import re
import warnings
from dataclasses import replace
from functools import cache

import hypothesis
import numpy as np
import pytest
import sympy
from hypothesis import strategies as st

from dynlib import check, lagrange, newton_euler, robots
from dynlib.acceleration import column_derivative
from dynlib.algebra import notation
from dynlib.frames import rotation
from dynlib.misconceptions import LAGRANGE
from dynlib.model import Body, Link, Robot

NUMBERS = {"L1": 0.8, "L2": 0.6, "m1": 3, "m2": 2, "g": 9.81}
ELBOW = robots.planar_2r(**NUMBERS)
MOVING = [0.5, 1.0], [2.0, -3.0], [1.0, 0.5]

m, k, l, g = sympy.symbols("m k l g")
x, dx, ddx = sympy.symbols("x dx ddx")
theta, dtheta, ddtheta = sympy.symbols("theta dtheta ddtheta")


@cache
def without_motors(name):
    """Return an arm of the catalogue whose joints have no motors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some published tensors break the triangle rule, which is said elsewhere
        arm = robots.load(name)
    return replace(arm, links=[replace(link, motor=None) for link in arm.links])


def taus(found):
    return [coordinate.tau for coordinate in found]


# ---- The same equations as Newton-Euler ------------------------------------------------------------

EXACT = {
    "2R": robots.planar_2r(),
    "RP": robots.rp(),
    "cart-pole": without_motors("cart_pole").exact(),
    "Furuta": without_motors("furuta"),
    "RRP": without_motors("rrp").exact(),
    "planar 3R": without_motors("planar_3r").exact(),
}


@pytest.mark.parametrize("name", EXACT)
def test_newton_euler_and_lagrange_are_exactly_equal(name):
    arm = EXACT[name]
    found = taus(lagrange.of_robot(arm))
    expected = newton_euler.inverse_dynamics(arm, *arm.motion_symbols())
    assert all(notation.tidy(a - b) == 0 for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", ["scara", "stanford", "puma560", "puma560_modified", "ur5"])
def test_arms_of_the_catalogue_at_random_points(name):
    arm = without_motors(name)
    motion = np.random.default_rng(3).uniform(-2, 2, (3, 4, arm.n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = lagrange.torques(arm, *motion)
    assert check.same(found, newton_euler.inverse_dynamics(arm, *motion), tolerance=1e-10)


@hypothesis.settings(max_examples=12, derandomize=True, deadline=None, database=None)
@hypothesis.given(st.integers(1, 3), st.integers(0, 2**32 - 1), st.booleans())
def test_random_arms(joints, seed, payload):
    arms = pytest.importorskip("arms", reason="Pinocchio has no wheel for this system")
    rng = np.random.default_rng(seed)
    arm = arms.random_arm(rng, joints)
    arm = replace(arm, payload=arms.random_body(rng) if payload else None)
    motion = arms.random_motion(rng, 3, joints)
    found, expected = lagrange.torques(arm, *motion), newton_euler.inverse_dynamics(arm, *motion)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("key", [None, *LAGRANGE])
@pytest.mark.parametrize("name", ["planar 2R", "scara", "stanford"])
def test_formulas_and_sampled_derivatives_agree(name, key):
    """Two ways to differentiate: term by term, and by samples around a state; for every wrong step, too."""
    steps = LAGRANGE[key].steps() if key else lagrange.Steps()
    arm = ELBOW if name == "planar 2R" else without_motors(name)
    motion = np.random.default_rng(4).uniform(-3, 3, (3, arm.n)) * np.array([[1], [5], [20]])
    exact = arm.exact(round_angles=False)
    symbols = np.concatenate(exact.motion_symbols())
    numbers = dict(zip(symbols, np.concatenate(motion), strict=True))
    formulas = [each.tau.evalf(30, subs=numbers) for each in lagrange.of_robot(exact, steps=steps)]
    assert check.same(lagrange.torques(arm, *motion, steps=steps), np.array(formulas, dtype=float), tolerance=1e-12)


def test_torques_of_one_state_and_of_a_batch():
    one = lagrange.torques(ELBOW, *MOVING)
    assert one.shape == (2,)
    batch = lagrange.torques(ELBOW, np.tile(MOVING[0], (3, 2, 1)), MOVING[1], MOVING[2])
    assert batch.shape == (3, 2, 2)
    assert np.abs(batch - one).max() < 1e-12


def test_a_motor_does_not_count():
    arm = robots.load("furuta")
    friction = newton_euler.inverse_dynamics(arm, *arm.motion_symbols()) - taus(lagrange.of_robot(arm))
    b1, b2, dtheta1, dtheta2 = sympy.symbols("b1 b2 dtheta1 dtheta2")
    assert [notation.tidy(each) for each in friction] == [b1 * dtheta1, b2 * dtheta2]


def test_a_base_that_is_turned_turns_gravity():
    turned = replace(ELBOW, base=[[0, -1, 0, 3], [1, 0, 0, 2], [0, 0, 1, 1], [0, 0, 0, 1]])
    assert check.same(lagrange.torques(turned, *MOVING), newton_euler.inverse_dynamics(turned, *MOVING))


def test_a_massless_link_gives_no_torque():
    arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=0, g=10)
    assert lagrange.of_robot(arm.exact())[1].tau == 0
    assert lagrange.torques(arm, *MOVING)[1] == pytest.approx(0, abs=1e-14)


# ---- Energies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("joints", [1, 3, 6])
@pytest.mark.parametrize("seed", range(3))
def test_energies_equal_pinocchio(joints, seed):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")
    arms = pytest.importorskip("arms")
    kinds = tuple(np.random.default_rng(seed).choice(["revolute", "prismatic"], joints))
    arm = arms.Arm(kinds, ("standard", "modified", "poses")[seed], seed, payload=bool(seed))
    q, dq, _ = arm.motion()
    model, data = arm.reference.model, arm.reference.data
    model.armature = np.zeros(joints)
    found = lagrange.energies(arm.robot, q, dq)
    assert check.same(found.kinetic, pin.computeKineticEnergy(model, data, q, dq), tolerance=1e-12)
    g, base = arm.robot.gravity, arm.robot.base  # Pinocchio's zero is the origin of the world
    of_base = -sum(body.mass for body in arm.robot.known_bodies()) * (g @ base[:3, 3])
    expected = pin.computePotentialEnergy(model, data, q)
    size = max(np.abs(found.P).max(), abs(of_base), abs(expected))
    assert abs(found.potential + of_base - expected) < 1e-12 * size


def test_energies_of_a_batch_equal_a_loop():
    arm = without_motors("puma560")
    q, dq = np.random.default_rng(1).uniform(-2, 2, (2, 2, 3, arm.n))
    batch = lagrange.energies(arm, q, dq)
    assert batch.K.shape == batch.P.shape == (2, 3, arm.n)
    assert batch.kinetic.shape == (2, 3)
    for place in np.ndindex(2, 3):
        single = lagrange.energies(arm, q[place], dq[place])
        assert check.same(batch.K[place], single.K)
        assert check.same(batch.P[place], single.P)


def test_energies_of_one_position_and_many_rates():
    found = lagrange.energies(ELBOW, [0, 0], [[0, 0], [1, 0]])
    assert found.K == pytest.approx(np.array([[0, 0], [0.96, 1.96]]))
    assert found.P.shape == (2, 2)


def test_energies_of_symbols():
    arm = robots.planar_2r()
    L1, m1, theta1, dtheta1 = sympy.symbols("L1 m1 theta1 dtheta1")
    found = lagrange.energies(arm, *arm.motion_symbols()[:2])
    assert check.same(found.K[0], m1 * L1**2 * dtheta1**2 / 2)
    assert check.same(found.P[0], m1 * sympy.Symbol("g") * L1 * sympy.sin(theta1))


def test_power_is_the_rate_of_energy():
    """The rate of K + P by differences, against torque times rate."""
    arm, step = without_motors("scara"), 1e-5
    q, dq, ddq = np.random.default_rng(2).uniform(-1, 1, (3, arm.n))
    rates = []
    for t in (step, -step):
        found = lagrange.energies(arm, q + t * dq + t * t / 2 * ddq, dq + t * ddq)
        rates.append(found.kinetic + found.potential)
    power = newton_euler.inverse_dynamics(arm, q, dq, ddq) @ dq
    assert check.same((rates[0] - rates[1]) / (2 * step), power, tolerance=1e-8)


def test_a_link_without_mass_data_is_named():
    arm = Robot([Link("revolute", np.eye(4), Body(1)), Link("revolute", np.eye(4))], gravity=[0, 0, 0])
    with pytest.raises(ValueError, match="link 2 of robot has no mass data"):
        lagrange.energies(arm, [0, 0], [0, 0])
    with pytest.raises(ValueError, match="link 2 of robot has no mass data"):
        lagrange.torques(arm, [0, 0], [0, 0], [0, 0])


def test_energies_refuse_what_the_recursion_refuses():
    with pytest.raises(ValueError, match="q has 3 entries; planar 2R has 2 joints"):
        lagrange.energies(ELBOW, [0, 0, 0], [0, 0])
    with pytest.raises(TypeError, match="holds the float 0.5, but planar 2R is exact"):
        lagrange.energies(robots.planar_2r(), [0.5, 0], [0, 0])


# ---- What each coordinate is made of ----------------------------------------------------------------


def test_lagrange_equation_is_made_of_its_parts():
    for each in lagrange.of_robot(robots.planar_2r()):
        assert sympy.expand(each.dp - each.force - each.tau) == 0
    first, second = lagrange.of_robot(robots.planar_2r())
    assert first.L == second.L
    assert first.p == sympy.expand(sympy.diff(first.L, sympy.Symbol("dtheta1")))
    assert repr(second).startswith("tau = L1*L2*ddtheta1*m2*cos(theta2)")


def test_closed_form_is_a_sum_of_products_without_simplification():
    tau1, tau2 = taus(lagrange.of_robot(robots.planar_2r()))
    assert (len(tau1.args), len(tau2.args)) == (11, 5)
    for term in (*tau1.args, *tau2.args):
        assert not term.has(sympy.Add) or term.atoms(sympy.cos) == {
            sympy.cos(sympy.Symbol("theta1") + sympy.Symbol("theta2"))
        }
        assert len(term.atoms(sympy.sin, sympy.cos)) <= 1


def test_momentum_rate_is_the_derivative_along_a_motion():
    """Against a numeric derivative along theta = a + b t + c t²/2."""
    arm = robots.planar_2r()
    motion = arm.motion_symbols()
    symbols = [*motion[0], *motion[1], *motion[2], *arm.symbols]
    first = lagrange.of_robot(arm)[0]
    p, dp = (sympy.lambdify(symbols, each) for each in (first.p, first.dp))
    data = [NUMBERS[str(symbol)] for symbol in arm.symbols]
    q, dq, ddq = np.array(MOVING)
    step = 1e-5
    after, before = (p(*(q + t * dq + t * t / 2 * ddq), *(dq + t * ddq), *ddq, *data) for t in (step, -step))
    assert check.same((after - before) / (2 * step), dp(*q, *dq, *ddq, *data), tolerance=1e-8)


def test_momentum_of_an_arm_that_turns_freely_is_constant():
    """Without gravity nothing depends on the angle of joint 1: no force, and tau1 is the rate of p1 alone."""
    first = lagrange.of_robot(robots.planar_2r(g=0))[0]
    assert first.force == 0
    assert first.tau == first.dp


# ---- Typed energies ---------------------------------------------------------------------------------


def test_a_spring_and_a_mass():
    found = lagrange.equations(m * dx**2 / 2, k * x**2 / 2, [x], [dx], [ddx])
    assert taus(found) == [m * ddx + k * x]


def test_double_pendulum_in_absolute_angles_is_the_2r():
    L1, L2, m1, m2 = sympy.symbols("L1 L2 m1 m2")
    phi, dphi, ddphi = (sympy.symbols(f"{dots}varphi1 {dots}varphi2") for dots in ("", "d", "dd"))
    s, c = [sympy.sin(angle) for angle in phi], [sympy.cos(angle) for angle in phi]
    places = [[L1 * s[0], L1 * c[0]], [L1 * s[0] + L2 * s[1], L1 * c[0] + L2 * c[1]]]
    speeds = [column_derivative(place, phi, dphi) for place in places]
    kinetic = sum(mass * (v @ v) / 2 for mass, v in zip((m1, m2), speeds, strict=True))
    potential = -m1 * g * places[0][1] - m2 * g * places[1][1]
    Q = taus(lagrange.equations(kinetic, potential, phi, dphi, ddphi))
    q = [phi[0] - sympy.pi / 2, phi[1] - phi[0]]
    motion = q, [dphi[0], dphi[1] - dphi[0]], [ddphi[0], ddphi[1] - ddphi[0]]
    tau = newton_euler.inverse_dynamics(robots.planar_2r(), *motion)
    assert check.difference(Q, [tau[0] - tau[1], tau[1]]).how == "exact"
    assert check.same(Q, [tau[0] - tau[1], tau[1]])


@pytest.mark.parametrize(
    ("kinetic", "potential"),
    [
        (m * dx**2 * (1 + x**2 / (l**2 - x**2)) / 2, -m * g * sympy.sqrt(l**2 - x**2)),
        (m * dx**2 / 2, k * (sympy.sqrt(x**2 + l**2) - l) ** 2 / 2),
        (m * dx**2 / (2 * x), m * g * sympy.exp(-x / l)),
        (m * dx**2 / 2 + m * dx**2 * sympy.sin(x**2) ** 2, sympy.tan(x)),
        (m * dx**2 * sympy.sin(sympy.cos(x)) ** 2 / 2, 0),
    ],
    ids=["pendulum by its deflection", "spring at an angle", "quotient", "sine of a square", "sine of a cosine"],
)
def test_roots_and_quotients_are_differentiated(kinetic, potential):
    tau = lagrange.equations(kinetic, potential, [x], [dx], [ddx])[0].tau
    t = sympy.Symbol("t")
    way = sympy.Function("x")(t)
    along = {ddx: way.diff(t, 2), dx: way.diff(t), x: way}
    L = (kinetic - sympy.sympify(potential)).subs(along)
    expected = L.diff(way.diff(t)).diff(t) - L.diff(way)
    values = {way.diff(t, 2): 0.7, way.diff(t): -1.3, way: 0.4, m: 2, k: 30, l: 1.5, g: 9.81}
    given = {ddx: 0.7, dx: -1.3, x: 0.4, m: 2, k: 30, l: 1.5, g: 9.81}
    assert float(tau.subs(given)) == pytest.approx(float(expected.subs(values)), rel=1e-12)


def test_roots_of_constants_need_no_fallback():
    found = lagrange.equations(sympy.sqrt(m) * dx**2 / 2, m * g * sympy.sin(x) / l, [x], [dx], [ddx])
    assert taus(found) == [sympy.sqrt(m) * ddx + m * g * sympy.cos(x) / l]


def test_the_zero_of_the_potential_does_not_matter():
    h = sympy.Symbol("h")
    kinetic, potential = m * l**2 * dtheta**2 / 2, -m * g * l * sympy.cos(theta)
    states = [theta], [dtheta], [ddtheta]
    shifted = lagrange.equations(kinetic, potential + m * g * h, *states)
    assert taus(shifted) == taus(lagrange.equations(kinetic, potential, *states))


def test_floats_in_energies_are_read_as_the_decimals_they_show():
    found = lagrange.equations(0.5 * m * dx**2, m * 9.81 * sympy.sin(0.1 * x), [x], [dx], [ddx])
    tenth = sympy.Rational(1, 10)
    assert taus(found) == [m * ddx + sympy.Rational(981, 1000) * m * sympy.cos(tenth * x)]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([x, theta], [dx], [ddx]), ValueError, "q, dq and ddq have 2, 1 and 1 entries"),
        (([x], [x], [ddx]), ValueError, "x occurs twice"),
        (([x, x], [dx, dtheta], [ddx, ddtheta]), ValueError, "x occurs twice"),
        (([x + 1], [dx], [ddx]), TypeError, r"q holds x \+ 1, which is no symbol"),
        (([x], ["dx"], [ddx]), TypeError, "dq holds 'dx', which is no symbol"),
        (([x, theta], [dx, dtheta], [ddx, ddtheta]), ValueError, "does not depend on dtheta; theta has no inertia"),
    ],
)
def test_bad_coordinates_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        lagrange.equations(m * dx**2 / 2, k * x**2 / 2, *arguments)


def test_rates_in_the_potential_are_refused():
    with pytest.raises(ValueError, match="the potential energy depends on dx"):
        lagrange.equations(m * dx**2 / 2, k * dx**2 / 2, [x], [dx], [ddx])


@pytest.mark.parametrize("name", ["kinetic", "potential"])
def test_accelerations_in_energies_are_refused(name):
    energies = {"kinetic": m * dx**2 / 2, "potential": k * x**2 / 2}
    energies[name] += m * ddx
    with pytest.raises(ValueError, match=f"the {name} energy depends on ddx"):
        lagrange.equations(energies["kinetic"], energies["potential"], [x], [dx], [ddx])


def test_one_symbol_instead_of_a_list_is_refused():
    with pytest.raises(TypeError, match=r"q is x; expected a list of symbols, such as \[x\]"):
        lagrange.equations(m * dx**2 / 2, 0, x, dx, ddx)


def test_functions_of_time_are_refused_with_advice():
    t = sympy.Symbol("t")
    way = sympy.Function("x")(t)
    with pytest.raises(TypeError, match="which is no symbol; coordinates, rates and accelerations are SymPy symbols"):
        lagrange.equations(m * way.diff(t) ** 2 / 2, 0, [way], [way.diff(t)], [way.diff(t, 2)])


def test_arms_of_floats_and_of_symbols_are_told_apart():
    with pytest.raises(TypeError, match=re.escape("robot.exact()")):
        lagrange.of_robot(ELBOW)
    with pytest.raises(ValueError, match="planar 2R holds symbols"):
        lagrange.torques(robots.planar_2r(), *MOVING)


# ---- Misconceptions ---------------------------------------------------------------------------------

REST = [0.5, 1.0], [0, 0], [0, 0]
WEIGHTLESS = replace(ELBOW, gravity=[0, 0, 0])
RIGHT_AT_REST = {"wave_not_differentiated", "kinetic_slope_dropped", "half_lost", "relative_rate"}
RIGHT_WITHOUT_WEIGHT = {"potential_sign", "height_from_own_joint"}


@pytest.mark.parametrize("key", LAGRANGE)
def test_a_misconception_differs_from_the_right_torques(key):
    right, wrong = lagrange.torques(ELBOW, *MOVING), LAGRANGE[key].torques(ELBOW, *MOVING)
    assert np.abs(right - wrong).max() > 1e-2 * np.abs(right).max()


@pytest.mark.parametrize("key", LAGRANGE)
def test_a_misconception_leaves_alone_what_it_should(key):
    at_rest = check.same(LAGRANGE[key].torques(ELBOW, *REST), lagrange.torques(ELBOW, *REST))
    weightless = check.same(LAGRANGE[key].torques(WEIGHTLESS, *MOVING), lagrange.torques(WEIGHTLESS, *MOVING))
    assert at_rest == (key in RIGHT_AT_REST)
    assert weightless == (key in RIGHT_WITHOUT_WEIGHT)


def test_no_two_misconceptions_give_the_same():
    found = [LAGRANGE[key].torques(ELBOW, *MOVING) for key in LAGRANGE]
    distances = [np.abs(a - b).max() for i, a in enumerate(found) for b in found[:i]]
    assert min(distances) > 1e-2


def test_a_misconception_has_a_name_a_sentence_and_a_formula():
    right = vars(lagrange.Steps())
    for key, each in LAGRANGE.items():
        assert each.key == key
        assert each.name()
        assert each.feedback().endswith(".")
        (changed,) = [step for name, step in vars(each.steps()).items() if step is not right[name]]
        assert changed.tex not in {step.tex for step in right.values()}


def test_what_is_lost_with_the_derivative_of_the_cosine():
    L1, L2, m2, dtheta1, dtheta2, theta2 = sympy.symbols("L1 L2 m2 dtheta1 dtheta2 theta2")
    arm = robots.planar_2r()
    wrong, right = (
        taus(lagrange.of_robot(arm, steps=LAGRANGE["wave_not_differentiated"].steps())),
        taus(lagrange.of_robot(arm)),
    )
    lost = -m2 * L1 * L2 * sympy.sin(theta2) * dtheta2 * np.array([2 * dtheta1 + dtheta2, dtheta1])
    assert check.same(np.array(right) - np.array(wrong), lost)


def test_relative_rate_shows_in_the_kinetic_energy():
    found = lagrange.energies(ELBOW, [0, 0], [1, 0], steps=LAGRANGE["relative_rate"].steps())
    assert found.K[1] == pytest.approx(2 * 0.8**2 / 2)  # as if link 2 did not turn with link 1


def test_rotation_of_a_pose_is_what_the_step_gets():
    """The wrong height keeps the direction of the link and loses where its joint is."""
    found = lagrange.energies(ELBOW, [np.pi / 2, 0], [0, 0], steps=LAGRANGE["height_from_own_joint"].steps())
    assert found.P[1] == pytest.approx(2 * 9.81 * 0.6)
    assert rotation(ELBOW.pose([np.pi / 2, 0]))[1, 0] == pytest.approx(1)


def test_steps_can_be_read_in_a_terminal():
    assert repr(lagrange.lagrangian) == "L = K - P    (A5.3.2-1)"
    assert repr(lagrange.momentum) == "pᵢ = ∂L/∂q̇ᵢ    (A5.3.2-2)"
