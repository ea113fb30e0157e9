"""What must hold for every arm: random arms of 1 to 8 joints from both kinds of table, against Pinocchio and itself.

Every property is tried on a few arms here and on many under the mark `slow`. The draws are the same on every run.
"""

from dataclasses import dataclass, replace

import hypothesis
import numpy as np
import pytest
import sympy
from hypothesis import strategies as st

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")

from arms import Arm, body_of_particles, random_body, random_motor, random_pose

from dynlib.frames import along_x, compose, inverse, position, rotation
from dynlib.model import Body, Link, Motor, Robot
from dynlib.newton_euler import inverse_dynamics
from dynlib.velocity import BaseMotion, Wrench, jacobian, point_velocity, static_torques

RELATIVE = 1e-10
OFTEN = 20  # how many times as many arms under the mark `slow`
READINGS = ("standard", "modified", "poses")
AXES = ("link", "tip", "base", "world")
SEEDS = st.integers(0, 2**32 - 1)

# ---- Drawing arms ----------------------------------------------------------------------------------


@st.composite
def arms(draw, most=8, kinds=("revolute", "prismatic"), fixed=True, readings=READINGS, light=True):
    """An arm of 1 to `most` moving joints, perhaps with bolted-on links, massless ones, motors and a payload."""
    joints = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=most))
    if fixed:
        for place in draw(st.lists(st.integers(0, len(joints)), max_size=2)):
            joints.insert(place, "fixed")
    massless = draw(st.integers(0, len(joints) - 1)) if light and draw(st.booleans()) else 0
    if all(joint == "fixed" for joint in joints[massless:]):
        massless = 0
    return Arm(
        tuple(joints), draw(st.sampled_from(readings)), draw(SEEDS), massless, draw(st.booleans()), draw(st.booleans())
    )


@dataclass(frozen=True)
class Property:
    """A property, what it is tried on, and how often."""

    check: object
    strategies: tuple
    few: int


PROPERTIES: dict[str, Property] = {}


def holds_for(*strategies, few=40):
    """Register a function as a property of what the strategies draw."""

    def register(check):
        PROPERTIES[check.__name__] = Property(check, strategies, few)
        return check

    return register


def try_on(name, times):
    kept = PROPERTIES[name]
    settings = hypothesis.settings(
        max_examples=times,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    settings(hypothesis.given(*kept.strategies)(kept.check))()


def equal(computed, expected, relative=RELATIVE, size=0.0):
    """Assert equality relative to the largest entry, or to the `size` of the terms that were summed."""
    computed, expected = np.asarray(computed), np.asarray(expected)
    assert computed.shape == expected.shape
    scale = max(np.abs(expected).max(), size, 1e-6)
    worst = np.abs(computed - expected).max() / scale
    assert worst <= relative, f"relative difference {worst:.2e}\ncomputed {computed}\nexpected {expected}"


# ---- Against Pinocchio -----------------------------------------------------------------------------


@holds_for(arms(), st.integers(0, 4), few=150)
def torques_equal_pinocchio(arm, loads):
    loads, motion = arm.wrenches(loads), arm.motion()
    expected = arm.reference.torques(*motion, loads)
    equal(inverse_dynamics(arm.robot, *motion, loads=loads), expected)


@holds_for(arms(), SEEDS, few=40)
def tip_wrench_equals_pinocchio(arm, seed):
    force, moment = np.random.default_rng(seed).uniform(-5, 5, (2, 3))
    motion = arm.motion()
    expected = arm.reference.torques(*motion, [Wrench(force, moment, axes="link")])
    equal(inverse_dynamics(arm.robot, *motion, tip_force=force, tip_moment=moment), expected)


@holds_for(arms(most=1), few=40)
def one_joint_arms_equal_pinocchio(arm):
    torques_equal_pinocchio(arm, 2)


@holds_for(arms(kinds=("prismatic",)), few=40)
def sliding_arms_equal_pinocchio(arm):
    torques_equal_pinocchio(arm, 2)


PARAMETERS = ("m", "cx", "cy", "cz", "xx", "yy", "zz", "xy", "xz", "yz")


def body_with_one(parameter):
    """A body in which one of the ten parameters is 1 unit; a mass centre is felt only with a mass of 1."""
    if parameter == "m":
        return Body(1)
    if parameter.startswith("c"):
        return Body(1, com=np.eye(3)["xyz".index(parameter[1])])
    inertia, (i, j) = np.zeros((3, 3)), ("xyz".index(letter) for letter in parameter)
    inertia[i, j] = inertia[j, i] = 1
    return Body(0, inertia=inertia, allow_impossible=True)


@holds_for(arms(light=False), SEEDS, few=100)
def one_inertial_parameter_equals_pinocchio(arm, seed):
    rng = np.random.default_rng(seed)
    parameter, place = rng.choice(PARAMETERS), rng.integers(len(arm.joints))
    if arm.joints[place] == "fixed" and not any(joint != "fixed" for joint in arm.joints[:place]):
        return  # bolted to the ground
    single = replace(arm, motors=False, payload=False)
    rows = [row | {"body": body_with_one(parameter) if i == place else Body(0)} for i, row in enumerate(single.rows)]
    object.__setattr__(single, "rows", rows)
    motion = single.motion()
    expected = single.reference.torques(*motion)
    equal(inverse_dynamics(single.robot, *motion), expected, size=1.0)


@holds_for(arms(), SEEDS, st.sampled_from(AXES), few=80)
def jacobian_equals_pinocchio(arm, seed, axes):
    rng, (q, _, _) = np.random.default_rng(seed), arm.motion()
    link, point = [None, *range(1, arm.n + 1)][rng.integers(arm.n + 1)], rng.uniform(-0.5, 0.5, 3)
    J = jacobian(arm.robot, q, link=link, point=point, axes=axes)
    equal(J, arm.reference.jacobian(q, link, point, axes), size=1.0)


@holds_for(arms(), few=40)
def pose_equals_pinocchio(arm):
    q, _, _ = arm.motion()
    equal(arm.robot.base @ arm.robot.pose(q), arm.reference.pose(q))


# ---- Velocities, statics and power -----------------------------------------------------------------


@holds_for(arms(), SEEDS, st.sampled_from(AXES), few=60)
def jacobian_times_rates_is_the_velocity(arm, seed, axes):
    rng, (q, dq, _) = np.random.default_rng(seed), arm.motion()
    link, point = [None, *range(1, arm.n + 1)][rng.integers(arm.n + 1)], rng.uniform(-0.5, 0.5, 3)
    velocity = point_velocity(arm.robot, q, dq, link=link, point=point, axes=axes)
    equal(jacobian(arm.robot, q, link=link, point=point, axes=axes) @ dq, np.concatenate(velocity), size=1.0)


@holds_for(arms(), few=30)
def jacobian_is_the_derivative_of_the_pose(arm):
    """By differences of fourth order; the angular part from the derivative of R times its transpose."""
    robot, (q, _, _) = arm.robot, arm.motion()
    J, h = jacobian(robot, q, axes="base"), 1e-3
    for j, unit in enumerate(np.eye(arm.n)):
        steps = [robot.pose(q + k * h * unit) for k in (-2, -1, 1, 2)]
        slope = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / (12 * h)
        turning = rotation(slope) @ rotation(robot.pose(q)).T
        equal(J[:3, j], position(slope), 1e-9, size=1.0)
        equal(J[3:, j], [turning[2, 1], turning[0, 2], turning[1, 0]], 1e-9, size=1.0)


@holds_for(arms(), st.integers(1, 4), few=50)
def static_torques_are_those_of_an_arm_at_rest_without_weight(arm, loads):
    loads, (q, _, _) = arm.wrenches(loads), arm.motion()
    rest = np.zeros(arm.n)
    expected = inverse_dynamics(replace(arm.robot, gravity=[0, 0, 0]), q, rest, rest, loads=loads)
    equal(static_torques(arm.robot, q, loads), expected, size=1.0)


@holds_for(arms(), st.integers(1, 4), few=50)
def static_torques_do_the_opposite_work_of_the_loads(arm, loads):
    loads, (q, dq, _) = arm.wrenches(loads), arm.motion()
    power = 0.0
    for wrench in loads:
        v, omega = point_velocity(arm.robot, q, dq, link=wrench.link, point=wrench.point, axes=wrench.axes)
        power += wrench.force @ v + wrench.moment @ omega
    equal(static_torques(arm.robot, q, loads) @ dq, -power, size=10.0)


@holds_for(arms(most=4), few=20)
def power_of_the_motors_is_the_rate_of_energy(arm):
    """tau qd = d/dt (kinetic + potential energy), the latter by differences along the motion; no friction, no loads."""
    arm = replace(arm, motors=False)
    robot, (q, dq, ddq), h = arm.robot, arm.motion(), 1e-3

    def energy(t):
        at, rate = q + t * dq + t * t / 2 * ddq, dq + t * ddq
        total = 0.0
        for number, body in enumerate(robot.bodies, start=1):
            v, omega = point_velocity(robot, at, rate, link=number, point=body.com, axes="link")
            place = robot.base @ robot.pose(at, link=number) @ [*body.com, 1]
            total += body.mass * v @ v / 2 + omega @ body.inertia @ omega / 2 - body.mass * robot.gravity @ place[:3]
        return total

    slope = (energy(-2 * h) - 8 * energy(-h) + 8 * energy(h) - energy(2 * h)) / (12 * h)
    tau = inverse_dynamics(robot, q, dq, ddq)
    equal(tau @ dq, slope, 1e-7, size=max(1.0, np.abs(tau).max()))


@holds_for(arms(), SEEDS, few=30)
def an_accelerating_base_is_felt_as_gravity(arm, seed):
    dv, motion = np.random.default_rng(seed).uniform(-5, 5, 3), arm.motion()
    lighter = replace(arm.robot, gravity=arm.robot.gravity - rotation(arm.robot.base) @ dv)
    moving = inverse_dynamics(arm.robot, *motion, base=BaseMotion(dv=dv))
    equal(moving, inverse_dynamics(lighter, *motion))


# ---- One result in several readings ----------------------------------------------------------------


@holds_for(arms(), st.sampled_from([(0,), (1,), (3,), (2, 3)]), st.integers(0, 3), few=40)
def batch_equals_loop(arm, shape, loads):
    robot, motion, loads = arm.robot, arm.motion(*shape), arm.wrenches(loads)
    rng = np.random.default_rng(arm.seed)
    many = [replace(wrench, force=rng.uniform(-1, 1, (*shape, 3))) for wrench in loads]
    tip = rng.uniform(-1, 1, (*shape, 3))
    q, dq, _ = motion
    batch = {
        "tau": inverse_dynamics(robot, *motion, loads=many, tip_force=tip),
        "static": static_torques(robot, q, many),
        "J": jacobian(robot, q, axes="link"),
        "T": robot.pose(q),
        "v": point_velocity(robot, q, dq, axes="base")[0],
    }
    n = arm.n
    shapes = {"tau": (n,), "static": (n,), "J": (6, n), "T": (4, 4), "v": (3,)}
    assert {name: value.shape for name, value in batch.items()} == {name: shape + s for name, s in shapes.items()}
    for index in np.ndindex(*shape):
        one = [replace(wrench, force=wrench.force[index]) for wrench in many]
        q, dq, _ = state = [each[index] for each in motion]
        equal(batch["tau"][index], inverse_dynamics(robot, *state, loads=one, tip_force=tip[index]), 1e-13)
        equal(batch["static"][index], static_torques(robot, q, one), 1e-13, size=1.0)
        equal(batch["J"][index], jacobian(robot, q, axes="link"), 1e-13)
        equal(batch["T"][index], robot.pose(q), 1e-13)
        equal(batch["v"][index], point_velocity(robot, q, dq, axes="base")[0], 1e-13, size=1.0)


class Lettering:
    """Symbols in the place of numbers, and the numbers that belong to them."""

    def __init__(self):
        self.values = {}

    def __call__(self, value):
        """Put symbols for all numbers of a list but 0, which stays; a right angle stays exact."""
        if np.ndim(value):
            return [self(entry) for entry in value]
        quarters = float(value) / (np.pi / 2)
        if quarters == round(quarters):
            return sympy.Rational(round(quarters), 2) * sympy.pi
        symbol = sympy.Symbol(f"x{len(self.values)}")
        self.values[symbol] = float(value)
        return symbol

    def body(self, body):
        """Put symbols for the ten parameters of a body."""
        upper = np.triu(np.arange(9).reshape(3, 3))
        numbers = {int(place): self(body.inertia.flat[place]) for place in upper[np.triu_indices(3)]}
        inertia = [[numbers[min(3 * i + j, 3 * j + i)] for j in range(3)] for i in range(3)]
        return Body(self(body.mass), self(body.com), inertia)

    def motor(self, motor):
        """Put symbols for the data of a motor."""
        return Motor(self(motor.inertia), self(motor.gear), self(motor.viscous), self(motor.coulomb))

    def wrench(self, wrench):
        """Put symbols for a load."""
        return replace(wrench, force=self(wrench.force), moment=self(wrench.moment), point=self(wrench.point))


@holds_for(arms(most=2, readings=("standard", "modified")), st.integers(0, 2), few=10)
def symbols_at_random_points_equal_numbers(arm, loads):
    put, rows = Lettering(), []
    for row in arm.rows:
        lettered = {key: put(row[key]) for key in ("a", "alpha", "d", "theta", "offset")}
        lettered |= {"joint": row["joint"], "body": put.body(row["body"])}
        rows.append(lettered | ({"motor": put.motor(row["motor"])} if "motor" in row else {}))
    tool = [[1, 0, 0, put(0.3)], [0, 0, -1, 0], [0, 1, 0, put(-0.2)], [0, 0, 0, 1]]
    symbolic = Robot.from_dh(rows, convention=arm.reading, gravity=put(arm.around["gravity"]), base=tool, tool=tool)
    symbolic = replace(symbolic, payload=put.body(arm.load) if arm.load else None)
    robot = symbolic.subs({symbol: put.values[symbol] for symbol in symbolic.symbols})
    loads, motion = arm.wrenches(loads), arm.motion()
    symbols = symbolic.motion_symbols()
    letters = [put.wrench(wrench) for wrench in loads]
    tau = inverse_dynamics(symbolic, *symbols, loads=letters)
    values = put.values | dict(zip(np.concatenate(symbols), np.concatenate(motion), strict=True))
    evaluate = sympy.lambdify(list(values), list(tau), "numpy", cse=True)
    at_point = [float(entry) for entry in evaluate(*values.values())]
    equal(at_point, inverse_dynamics(robot, *motion, loads=loads), size=1.0)


@holds_for(arms(most=3, readings=READINGS), st.integers(0, 2), few=12)
def exact_arms_equal_numbers(arm, loads):
    robot, loads, motion = arm.robot, arm.wrenches(loads), arm.motion()
    rational = np.frompyfunc(lambda number: sympy.Rational(repr(float(number))), 1, 1)
    exact = [
        replace(wrench, force=rational(wrench.force), moment=rational(wrench.moment), point=rational(wrench.point))
        for wrench in loads
    ]
    symbols = robot.motion_symbols()
    tau = inverse_dynamics(robot.exact(), *symbols, loads=exact)
    assert not any(entry.has(sympy.Float) for entry in tau)
    evaluate = sympy.lambdify(list(np.concatenate(symbols)), list(tau), "numpy", cse=True)
    expected = inverse_dynamics(robot, *motion, loads=loads)
    equal([float(entry) for entry in evaluate(*np.concatenate(motion))], expected, size=1.0)


@holds_for(arms(), few=15)
def exact_and_back_is_the_same_arm(arm):
    exact = arm.robot.exact()
    assert exact.is_symbolic
    assert exact.exact() is exact
    back = exact.subs({})
    assert not back.is_symbolic
    numbers, again = arm.robot.named_arrays(), back.named_arrays()
    assert numbers.keys() == again.keys()
    for name, array in numbers.items():
        equal(again[name], array, 1e-14, size=1.0)  # an angle of a table comes back as a fraction of pi


# ---- The same arm, put together in another way -----------------------------------------------------


@holds_for(arms(readings=("modified",), fixed=False), few=40)
def both_conventions_describe_the_same_arm(arm):
    """A modified table written as a standard one: a and alpha move up one row, the first into the base."""
    rows, around = arm.rows, arm.around
    across = [along_x(np.array(row["a"]), np.array(row["alpha"])) for row in rows] + [np.eye(4)]
    standard = []
    for i, row in enumerate(rows):
        following = rows[i + 1] if i + 1 < len(rows) else {"a": 0, "alpha": 0}
        moved = row["body"].moved(inverse(across[i + 1]))
        standard.append(row | {"a": following["a"], "alpha": following["alpha"], "body": moved})
    base = compose(around["base"], across[0])
    other = Robot.from_dh(standard, convention="standard", **(around | {"base": base}))
    other = replace(other, payload=arm.load)
    motion, loads = arm.motion(), [replace(wrench, axes="world") for wrench in arm.wrenches(2)]
    equal(base @ other.pose(motion[0]), arm.robot.base @ arm.robot.pose(motion[0]))
    expected = inverse_dynamics(arm.robot, *motion, loads=loads)
    equal(inverse_dynamics(other, *motion, loads=loads), expected)


@holds_for(arms(fixed=False, readings=("poses",)), SEEDS, st.integers(1, 3), few=40)
def links_bolted_on_equal_the_merged_body(arm, seed, parts):
    rng = np.random.default_rng(seed)
    robot, place = arm.robot, int(rng.integers(arm.n))
    poses, bodies = [random_pose(rng) for _ in range(parts)], [random_body(rng) for _ in range(parts)]
    merged, at = robot.links[place].body, np.eye(4)
    for pose, body in zip(poses, bodies, strict=True):
        at = at @ pose
        merged = merged + body.moved(at)
    one = [replace(link, body=merged) if i == place else link for i, link in enumerate(robot.links)]
    bolted = [Link("fixed", pose, body) for pose, body in zip(poses, bodies, strict=True)]
    after = list(robot.links[place + 1 :])
    if after:
        after[0] = replace(after[0], fixed=inverse(at) @ after[0].fixed)
        tool = robot.tool
    else:
        tool = inverse(at) @ robot.tool
    many = replace(robot, links=[*robot.links[: place + 1], *bolted, *after], tool=tool)
    motion = arm.motion()
    assert many.n == robot.n
    equal(inverse_dynamics(many, *motion), inverse_dynamics(replace(robot, links=one), *motion))
    equal(many.pose(motion[0]), robot.pose(motion[0]))


@holds_for(arms(light=False), SEEDS, few=40)
def a_payload_comes_and_goes(arm, seed):
    empty, load, motion = replace(arm, payload=False).robot, random_body(np.random.default_rng(seed)), arm.motion()
    before = inverse_dynamics(empty, *motion)
    loaded = empty.with_payload(load.mass, load.com, load.inertia)
    assert (inverse_dynamics(loaded.without_payload(), *motion) == before).all()
    assert (inverse_dynamics(loaded.with_payload(0).without_payload(), *motion) == before).all()
    equal(inverse_dynamics(empty.with_payload(0), *motion), before, 1e-13)
    nothing = [replace(link, body=Body(0), motor=None) for link in empty.links]
    alone = replace(empty, links=nothing).with_payload(load.mass, load.com, load.inertia)
    total = inverse_dynamics(loaded, *motion)
    equal(total - before, inverse_dynamics(alone, *motion), size=np.abs(total).max())


@holds_for(SEEDS, st.integers(1, 8), few=60)
def bodies_equal_sums_over_particles(seed, parts):
    rng = np.random.default_rng(seed)
    clouds = [(rng.uniform(0.1, 1, 5), rng.uniform(-1, 1, (5, 3))) for _ in range(parts)]
    bodies = [body_of_particles(*cloud) for cloud in clouds]
    masses, places = (np.concatenate(each) for each in zip(*clouds, strict=True))
    whole = sum(bodies[1:], start=bodies[0])

    T = random_pose(rng)
    moved, expected = whole.moved(T), body_of_particles(masses, places @ rotation(T).T + position(T))
    alone = body_of_particles(masses, places)
    about_origin = np.einsum("n,nij->ij", masses, [(r @ r) * np.eye(3) - np.outer(r, r) for r in places])
    by_moments = Body.about_origin(masses.sum(), masses @ places, about_origin)
    for got, wanted in ((whole, alone), (moved, expected), (by_moments, alone), (moved.moved(inverse(T)), alone)):
        for name in ("mass", "com", "inertia"):
            equal(getattr(got, name), getattr(wanted, name), 1e-12, size=1.0)


# ---- Trying them -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROPERTIES)
def test_property(name):
    try_on(name, PROPERTIES[name].few)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROPERTIES)
def test_property_often(name):
    try_on(name, OFTEN * PROPERTIES[name].few)


@pytest.mark.parametrize("parameter", PARAMETERS)
@pytest.mark.parametrize("reading", READINGS)
def test_each_inertial_parameter_is_felt(parameter, reading):
    """A spatial arm turning about every axis: Pinocchio agrees on the effect of each parameter, and it is not zero."""
    arm = Arm(("revolute", "revolute", "prismatic", "revolute", "revolute"), reading, seed=7)
    rows = [row | {"body": Body(0)} for row in arm.rows[:-1]] + [arm.rows[-1] | {"body": body_with_one(parameter)}]
    object.__setattr__(arm, "rows", rows)
    motion = arm.motion()
    expected = arm.reference.torques(*motion)
    assert np.abs(expected).max() > 1e-3
    equal(inverse_dynamics(arm.robot, *motion), expected)


def test_a_difference_would_be_noticed():
    """The comparison fails if a motor, a load or the last digits of a tensor differ."""
    arm = Arm(("revolute", "prismatic", "revolute"), "standard", seed=3, motors=True)
    motion, loads = arm.motion(), arm.wrenches(2)
    expected = arm.reference.torques(*motion, loads)
    equal(inverse_dynamics(arm.robot, *motion, loads=loads), expected)
    body = arm.robot.links[-1].body
    heavier = replace(arm.robot.links[-1], body=replace(body, mass=body.mass * (1 + 1e-6)))
    others = [
        (arm.robot, loads[:1]),
        (replace(arm.robot, links=[replace(link, motor=None) for link in arm.robot.links]), loads),
        (replace(arm.robot, links=[*arm.robot.links[:-1], heavier]), loads),
    ]
    for robot, loads in others:
        with pytest.raises(AssertionError, match="relative difference"):
            equal(inverse_dynamics(robot, *motion, loads=loads), expected)


# ---- Small cases of what these properties have found -----------------------------------------------


@pytest.mark.parametrize("joint", ["revolute", "prismatic"])
@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_symbolic_offset_is_added_to_the_joint_value(joint, convention):
    b = sympy.Symbol("b")
    robot = Robot.from_dh([dict(joint=joint, offset=b)], convention=convention, gravity=[0, 0, 0])
    (q,), _, _ = robot.motion_symbols()
    pose = robot.pose([q])
    expected = pose[0, 0] - sympy.cos(q + b) if joint == "revolute" else pose[2, 3] - (q + b)
    assert sympy.expand(expected, trig=True) == 0


def test_symbolic_bodies_are_added_and_moved():
    m, a, alpha, I = sympy.symbols("m a alpha I")
    arm = Robot([Link("revolute", np.eye(4), Body(m)), Link("fixed", np.eye(4), Body(m))], gravity=[0, 0, 0])
    assert arm.with_payload(m).bodies[0].mass == 3 * m
    assert Body.about_origin(m, [m * a, 0, 0], np.diag([0, m * a**2, m * a**2])).inertia.tolist() == [[0] * 3] * 3
    row = dict(a=a, alpha=alpha, mass=m, com=[-a, 0, 0], inertia=[I, 2 * I, 3 * I])
    inertia = Robot.from_dh([row], convention="standard", gravity=[0, 0, 0]).links[0].inertia
    assert (inertia == inertia.T).all()


def test_symbols_of_a_motor_and_of_a_body_are_both_known():
    I, J = sympy.symbols("I J")
    arm = Robot([Link("revolute", np.eye(4), Body(1, inertia=[I, I, I]), Motor(inertia=J))], gravity=[0, 0, 0])
    assert arm.symbols == (I, J)
    assert inverse_dynamics(arm.subs({"I": 2.0, "J": 3.0}), [0], [0], [1]).tolist() == [5]
    with pytest.raises(TypeError, match="motor inertia of link 1 holds the float 0.5 beside the symbolic I"):
        replace(arm, links=[replace(arm.links[0], motor=Motor(inertia=0.5))])


@pytest.mark.parametrize("changed", ["gravity", "base", "tool", "body", "motor", "payload", "name"])
@pytest.mark.parametrize("reading", ["standard", "modified"])
def test_an_arm_that_was_changed_after_reading_its_table_is_exact_as_changed(changed, reading):
    rng, arm = np.random.default_rng(1), Arm(("revolute", "prismatic", "revolute"), reading, seed=5)
    robot, motion = arm.robot, arm.motion()
    assert robot.table is not None
    last = robot.links[-1]
    other = {
        "gravity": {"gravity": [1, 2, 3]},
        "base": {"base": random_pose(rng)},
        "tool": {"tool": random_pose(rng)},
        "body": {"links": [*robot.links[:-1], replace(last, body=random_body(rng))]},
        "motor": {"links": [*robot.links[:-1], replace(last, motor=random_motor(rng))]},
        "payload": {"payload": random_body(rng)},
        "name": {"name": "another"},
    }[changed]
    robot = replace(robot, **other)
    back = robot.exact().subs({})
    load = {"tip_force": [1, 2, 3]}
    equal(inverse_dynamics(back, *motion, **load), inverse_dynamics(robot, *motion, **load), 1e-13)
    equal(back.base @ back.pose(motion[0]), robot.base @ robot.pose(motion[0]), 1e-13)
    assert back.name == robot.name


def test_an_arm_without_loads_and_an_empty_batch_keep_their_shapes():
    arm = Robot([Link("revolute", np.eye(4), Body(1))], gravity=[0, 0, 0])
    assert static_torques(arm, [[0.1], [0.2]], []).tolist() == [[0], [0]]
    empty = np.zeros((0, 1))
    assert inverse_dynamics(arm, empty, empty, empty).shape == (0, 1)
    assert arm.pose(empty).shape == (0, 4, 4)
