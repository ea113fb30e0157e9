"""What is given to a function and cannot be meant: said in words, with what to do; and results beyond all floats."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from typer.testing import CliRunner

from dynlib import (
    acceleration,
    cli,
    closed_chains,
    lagrange,
    linkages,
    motion,
    newton_euler,
    robots,
    structure,
    velocity,
)
from dynlib.algebra import as_array
from dynlib.model import Body, Link, Mechanism, Motor, Pin, Point, Robot
from dynlib.motion import control, equations, forward, simulate
from dynlib.velocity import Wrench

ARM = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
ONE = Robot([Link("revolute", np.eye(4), Body(1, [1, 0, 0]))], [0, -10, 0])
BARS = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
Q = BARS.positions([0.5], [1])
Z = [0, 0]
PUSH, LOAD = Wrench(force=[0, -1, 0]), {"force": [0, 1, 0]}


# ---- Loads -----------------------------------------------------------------------------------------

OF_ARMS = {
    "inverse": lambda given: newton_euler.inverse_dynamics(ARM, Z, Z, Z, loads=given),
    "forward": lambda given: forward.forward_dynamics(ARM, Z, Z, Z, loads=given),
    "simulate": lambda given: simulate(ARM, Z, Z, [0, 0.1], loads=given),
    "static": lambda given: velocity.static_torques(ARM, Z, given),
}
OF_MECHANISMS = {
    "inverse": lambda given: closed_chains.inverse_dynamics(BARS, Q, [0], [0], loads=given),
    "forward": lambda given: closed_chains.forward_dynamics(BARS, Q, [0], [0], loads=given),
    "multipliers": lambda given: closed_chains.with_multipliers(BARS, Q, [0] * 3, [0], loads=given),
    "pins": lambda given: closed_chains.pin_forces(BARS, Q, [0], [0], loads=given),
    "simulate": lambda given: motion.simulate(BARS, Q, [0], [0, 0.1], loads=given),
}


@pytest.mark.parametrize("ask", [*OF_ARMS.values(), *OF_MECHANISMS.values()], ids=[*OF_ARMS, *OF_MECHANISMS])
def test_loads_that_are_none(ask):
    for given, message in [
        (PUSH, r"loads is one Wrench; expected a list of them, such as \[Wrench\(...\)\]"),
        ([0, 1, 0], r"load 1 is 0; expected a Wrench. Make each with Wrench\(force="),
        ([PUSH, LOAD], r"load 2 is {.*}; expected a Wrench"),
        (LOAD, r"loads is {.*}; expected a list"),
        (3.0, r"loads is 3.0; expected a list, such as \[Wrench\(...\)\]"),
        (None, "loads is None; expected a list"),
        ("tip", "loads is 'tip'; expected a list"),
    ]:
        with pytest.raises(TypeError, match=message):
            ask(given)


@pytest.mark.parametrize("ask", OF_ARMS.values(), ids=OF_ARMS)
def test_a_load_on_another_chain_is_none_of_an_arm(ask):
    with pytest.raises(ValueError, match="load 1 names chain 2; planar 2R is an arm, with one chain"):
        ask([Wrench(chain=2)])


def test_a_generator_of_wrenches_is_used_once_and_counts():
    expected = newton_euler.inverse_dynamics(ARM, Z, Z, Z, loads=[PUSH])
    assert newton_euler.inverse_dynamics(ARM, Z, Z, Z, loads=(each for each in [PUSH])).tolist() == expected.tolist()


def test_a_base_motion_that_is_none():
    for ask in (newton_euler.inverse_dynamics, acceleration.outward):
        with pytest.raises(TypeError, match=r"base is \[1, 0, 0\]; expected a BaseMotion. Give BaseMotion\(v="):
            ask(ARM, Z, Z, Z, base=[1, 0, 0])


# ---- Options, arms and mechanisms ------------------------------------------------------------------


def test_options_that_do_not_exist():
    with pytest.raises(TypeError, match="no option 'load'; did you mean 'loads'. The options are tip_force, "):
        newton_euler.inverse_dynamics(ARM, Z, Z, Z, load=[PUSH])
    with pytest.raises(TypeError, match="no option 'load'; did you mean 'loads'. The options are loads and st"):
        forward.forward_dynamics(ARM, Z, Z, Z, load=[PUSH])
    with pytest.raises(TypeError, match=r"no option 'weather'\. The options are loads and steps"):
        closed_chains.inverse_dynamics(BARS, Q, [0], [0], weather=1)
    with pytest.raises(TypeError, match="no option 'load'; did you mean 'loads'"):
        closed_chains.forward_dynamics(BARS, Q, [0], [0], load=[LOAD])


OPEN = [
    *(lambda r, f=f: f(r, Z) for f in (structure.mass_matrix, structure.gravity_torque, structure.operational_inertia)),
    *(lambda r, f=f: f(r, Z, Z) for f in (structure.velocity_torque, structure.coriolis_matrix, lagrange.energies)),
    *(lambda r, f=f: f(r, Z, Z, Z) for f in (newton_euler.inverse_dynamics, newton_euler.recursion, lagrange.torques)),
    *(lambda r, f=f: f(r, Z, Z, Z) for f in (structure.regressor, forward.forward_dynamics, acceleration.outward)),
    *(lambda r, f=f: f(r) for f in (structure.parameters, structure.base_parameters, lagrange.of_robot)),
    *(lambda r, f=f: f(r, Z) for f in (velocity.jacobian,)),
    *(lambda r, f=f: f(r, Z, Z) for f in (velocity.outward, velocity.point_velocity)),
    lambda r: acceleration.point_acceleration(r, Z, Z, Z),
    lambda r: velocity.static_torques(r, Z, []),
    lambda r: equations.equations_of(r),
    lambda r: control.computed_torque(r, lambda t: (Z, Z, Z)),
]
CLOSED = [
    *(lambda m, f=f: f(m, Q) for f in (closed_chains.gap, closed_chains.constraint_jacobian, closed_chains.gamma)),
    *(lambda m, f=f: f(m, Q) for f in (closed_chains.mobility, closed_chains.close, closed_chains.project)),
    *(lambda m, f=f: f(m, Q) for f in (closed_chains.reduced_mass_matrix, closed_chains.tree_mass_matrix)),
    *(lambda m, f=f: f(m, Q, [0]) for f in (closed_chains.rates, closed_chains.follow)),
    *(lambda m, f=f: f(m, Q, [0], [0]) for f in (closed_chains.accelerations, closed_chains.inverse_dynamics)),
    *(lambda m, f=f: f(m, Q, [0], [0]) for f in (closed_chains.forward_dynamics, closed_chains.pin_forces)),
    *(lambda m, f=f: f(m, Q, Point(1)) for f in (closed_chains.pose, closed_chains.point_jacobian)),
    lambda m: closed_chains.singularity(m, Q, Point(1)),
    lambda m: closed_chains.with_multipliers(m, Q, [0] * 3, [0]),
]


@pytest.mark.parametrize("ask", OPEN)
def test_what_is_no_robot(ask):
    with pytest.raises(TypeError, match=r"robot is 'ur5'; expected a Robot. Load it: robots.load\('ur5'\)"):
        ask("ur5")
    with pytest.raises(TypeError, match=r"robot is four-bar.*\(FourBar\); expected a Robot. Mechanisms have functions"):
        ask(BARS)
    with pytest.raises(TypeError, match=r"robot is None; expected a Robot. Make one with Robot"):
        ask(None)


@pytest.mark.parametrize("ask", CLOSED)
def test_what_is_no_mechanism(ask):
    with pytest.raises(
        TypeError, match=r"mechanism is 'four_bar'; expected a Mechanism. Make one with dynlib.linkages"
    ):
        ask("four_bar")
    with pytest.raises(TypeError, match=r"mechanism is planar 2R.*; expected a Mechanism. Open arms have functions"):
        ask(ARM)


@pytest.mark.parametrize("given", ["ur5", None, BARS.chains, ARM.links[0]])
def test_what_is_neither_an_arm_nor_a_mechanism(given):
    with pytest.raises(TypeError, match=r"system is .*; expected a Robot or a Mechanism. Load an arm: robots.load\("):
        simulate(given, Z, Z, [0, 1])


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        (ARM, {"dt": 0.1}, "dt is 0.1, but it is for mechanisms, and planar 2R is a Robot"),
        (ARM, {"project": False}, "project is False, but it is for mechanisms"),
        (BARS, {"stops": [[0, 1]] * 3}, "stops is .*, but it is for arms, and four-bar is a FourBar"),
        (BARS, {"rtol": 1e-3}, "rtol is 0.001, but it is for arms"),
    ],
)
def test_options_of_the_other_kind_of_system(system, options, message):
    with pytest.raises(TypeError, match=message):
        simulate(system, Z, Z, [0, 1], **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Robot(ARM.links, [0, 0, 0], payload=1), r"payload is 1; expected a Body. Give Body\(mass"),
        (lambda: Robot(ARM.links, [0, 0, 0], payload={"mass": 1}), r"payload is {'mass': 1}; expected a Body"),
        (lambda: Link("revolute", np.eye(4), body=1), "body of a link is 1; expected a Body"),
        (lambda: Link("revolute", np.eye(4), Motor()), "body of a link is Motor.*; expected a Body"),
        (lambda: Link("revolute", np.eye(4), motor=1), "motor of a link is 1; expected a Motor"),
        (lambda: Robot(ARM.links[0], [0, 0, 0]), r"links is one Link; expected a list of them, such as \[Link"),
        (lambda: Robot(None, [0, 0, 0]), "links is None; expected a list"),
        (lambda: Robot("ur5", [0, 0, 0]), "links is 'ur5'; expected a list"),
        (lambda: Robot(3, [0, 0, 0]), "links is 3; expected a list"),
        (lambda: Robot([Body(1)], [0, 0, 0]), r"link 1 is Body\(.*; expected a Link"),
        (
            lambda: Robot([{"a": 1}], [0, 0, 0]),
            "link 1 is {'a': 1}; expected a Link.* For a DH table use Robot.from_dh",
        ),
        (lambda: Mechanism(ARM, [], []), "chains is one Robot; expected a list"),
        (lambda: Mechanism([ARM], Pin(Point(1), Point(0)), []), r"closures is Pin\(.*; expected a list of closures"),
        (lambda: Mechanism([ARM], None, []), "closures is None; expected a list of closures"),
        (lambda: Mechanism([ARM], [], 1), r"inputs is 1; expected a list of pairs, such as \[\(1, 2\)\]"),
    ],
)
def test_parts_of_another_kind(make, message):
    with pytest.raises(TypeError, match=message):
        make()


@pytest.mark.parametrize("inertia", [[1, 2, 3, 0, 0, 0], 1, [1, 2], np.eye(6)])
def test_an_inertia_of_another_shape(inertia):
    with pytest.raises(ValueError, match=r"expected the matrix \[\[Ixx, .*or its diagonal \[Ixx, Iyy, Izz\], in kg m²"):
        Body(1, inertia=inertia)
    six = np.shape(inertia) == (6,)
    with pytest.raises(ValueError, match=r"kg m²\. Six numbers have no common order" if six else r"kg m²\.$"):
        Body(1, inertia=inertia)


@pytest.mark.parametrize("mode", ["up", None, 1, 1.0, {}])
def test_a_mode_that_is_no_list(mode):
    for ask in (lambda: BARS.positions([0.5], mode), lambda: BARS.describe(mode), lambda: BARS.conditions([0.5], mode)):
        with pytest.raises(
            TypeError, match=r"mode is .*; expected a list, such as \[1\], of 1 side, each \+1 \(left\)"
        ):
            ask()
    with pytest.raises(ValueError, match=r"mode \('left',\) does not exist; expected 1 side, each \+1 \(left\)"):
        BARS.positions([0.5], ["left"])


def test_links_and_rows_that_are_no_numbers():
    for ask in (lambda: velocity.jacobian(ARM, Z, link="2"), lambda: velocity.jacobian(ARM, Z, link=3)):
        with pytest.raises(ValueError, match="planar 2R has the links 1 to 2, or None for the tip"):
            ask()
    for rows in (["x", "y"], [6], "xy"):
        with pytest.raises(ValueError, match=r"rows is .*; expected some of 0 to 5"):
            structure.operational_inertia(ARM, [0, 1], rows=rows)


# ---- Numbers ---------------------------------------------------------------------------------------


def test_plain_numbers_for_one_joint():
    assert newton_euler.inverse_dynamics(ONE, 0.5, 0, 0) == pytest.approx([10 * np.cos(0.5)])
    assert forward.forward_dynamics(ONE, 0.5, 0, 1.0) == pytest.approx([1 - 10 * np.cos(0.5)])
    assert structure.mass_matrix(ONE, np.float64(0.5)).shape == (1, 1)
    assert simulate(ONE, 0.5, 0, [0, 0.1], 1.0).q.shape == (2, 1)
    theta = sympy.Symbol("theta1")
    assert newton_euler.inverse_dynamics(ONE.exact(), theta, 0, 0).tolist() == [10 * sympy.cos(theta)]
    assert BARS.positions(0.5, [1]).tolist() == Q.tolist()
    assert closed_chains.inverse_dynamics(BARS, Q, 0, 2) == pytest.approx([2 * 5 / 3])
    with pytest.raises(ValueError, match=r"q has the shape \(\); expected \(n,\)"):
        newton_euler.inverse_dynamics(ARM, 0.5, 0, 0)
    with pytest.raises(TypeError, match="q holds 'level'"):
        newton_euler.inverse_dynamics(ONE, "level", 0, 0)


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize("given", [MASKED, [MASKED, MASKED], np.ma.array([1, 2], mask=[True, False]), [[MASKED]]])
def test_masked_entries_are_refused(given):
    for ask in (
        lambda: newton_euler.inverse_dynamics(ARM, given, Z, Z),
        lambda: newton_euler.inverse_dynamics(ARM, Z, Z, given),
        lambda: forward.forward_dynamics(ARM, Z, Z, given),
        lambda: as_array(given, "q", (2,), batch=True),
    ):
        with pytest.raises(ValueError, match="has masked entries, .*; expected numbers in all places"):
            ask()
    with pytest.raises(ValueError, match="mass has masked entries, --;"):
        Body(np.ma.masked)


def test_arrays_without_masked_entries_and_matrices_are_read_as_arrays():
    for given in (np.ma.array([1.0, 2.0]), np.ma.array([1.0, 2.0], mask=[False, False])):
        assert type(as_array(given, "q", (2,))) is np.ndarray


@pytest.mark.parametrize(
    ("tau", "message"),
    [
        (["1", "2"], "tau holds '1'"),
        ([True, False], "tau holds True"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), r"tau holds times \(datetime64\[D\]\)"),
        (np.array([1, 2], dtype="datetime64[ns]"), r"tau holds times \(datetime64\[ns\]\)"),
        ([1j, 0], "tau holds 1j"),
        ([sympy.Symbol("a"), 0], "tau holds the symbol a, but planar 2R holds floats"),
        (None, "tau holds None"),
    ],
)
def test_torques_are_read_as_carefully_as_positions(tau, message):
    with pytest.raises(TypeError, match=message):
        forward.forward_dynamics(ARM, Z, Z, tau)
    with pytest.raises(TypeError, match=message.replace("tau", "torque")[:13]):
        simulate(ARM, Z, Z, [0, 0.1], tau if tau is not None else [None, None])


def test_torques_of_a_wrong_length_or_size():
    with pytest.raises(ValueError, match=r"tau has 3 entries; planar 2R has 2 joints"):
        forward.forward_dynamics(ARM, Z, Z, [1, 2, 3])
    with pytest.raises(ValueError, match="tau holds nan"):
        forward.forward_dynamics(ARM, Z, Z, [1, np.nan])


# ---- Beyond all floats -----------------------------------------------------------------------------


def test_whole_and_exact_numbers_that_are_too_large():
    for ask in (lambda: Body(10**400), lambda: newton_euler.inverse_dynamics(ARM, [10**400, 0.5], Z, Z)):
        with pytest.raises(ValueError, match="holds a whole number too large for a float, which ends at 1.8e308"):
            ask()
    for size in (sympy.Integer(10) ** 400, -(sympy.Integer(10) ** 400)):
        with pytest.raises(ValueError, match=r"the exact number -?1.00E\+400 is too large for a float"):
            newton_euler.inverse_dynamics(ARM, Z, Z, [size, 0])


def test_an_inertia_near_the_end_of_the_floats_is_judged():
    assert Body(1, inertia=[1e308] * 3).inertia[0, 0] == 1e308
    with pytest.raises(ValueError, match="break the triangle rule"):
        Body(1, inertia=[1e308, 1e307, 1e307])
    with pytest.raises(ValueError, match="break the triangle rule"):
        Body(1, inertia=[1e-308, 1e-309, 1e-309])


HEAVY = Robot([Link("revolute", np.eye(4), Body(1e308, [10, 0, 0]))], [0, -10, 0])
FAST = ([0, 1], [1e200, 1])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: newton_euler.inverse_dynamics(HEAVY, [0], [0], [0]), "torque .*: mass of link 1 holds 1e.308, .*larg"),
        (lambda: newton_euler.inverse_dynamics(ARM, *FAST, Z), "torque .*: dq holds 1e.200, which is too large"),
        (lambda: newton_euler.inverse_dynamics(ARM, [0, 1], Z, [1e308, 1e308]), "torque .*: ddq holds 1e.308"),
        (lambda: newton_euler.inverse_dynamics(ARM, Z, Z, Z, tip_force=[0, 1e308, 0], tip_moment=[0, 0, 1.7e308]),
         "torque .*: tip_moment holds 1.7e.308"),
        (lambda: newton_euler.inverse_dynamics(ARM, Z, Z, Z, loads=[Wrench([0, 1.7e308, 0], [0, 0, 1e308])]),
         "torque .*: force of loads 1 holds 1.7e.308"),
        (lambda: structure.mass_matrix(HEAVY, [0]), "mass matrix .*: mass of link 1 holds 1e.308"),
        (lambda: structure.coriolis_matrix(ARM, *FAST), "torque .*: dq holds"),
        (lambda: structure.regressor(ARM, *FAST, Z), "regressor .*: dq holds 1e.200"),
        (lambda: lagrange.energies(ARM, *FAST), "kinetic energy .*: dq holds 1e.200"),
        (lambda: lagrange.energies(HEAVY, [1], [0]), "potential energy .*: mass of link 1 holds 1e.308"),
        (lambda: lagrange.torques(ARM, *FAST, Z), "kinetic energy .*: dq holds 3e.200"),
        (lambda: forward.forward_dynamics(ARM, *FAST, Z), "torque .*: dq holds 1e.200"),
        (lambda: forward.forward_dynamics(replace(ONE, links=[Link("revolute", np.eye(4), Body(1e-200, [1, 0, 0]))]),
                                           [0], [0], [1e150]), "acceleration .*: mass of link 1 holds 1e-200, .*smal"),
        (lambda: simulate(HEAVY, [0], [0], [0, 1]), "mass matrix .*: mass of link 1 holds 1e.308"),
        (lambda: closed_chains.inverse_dynamics(BARS, Q, [1e200], [0]), "acceleration of a .*: du holds 1e.200"),
        (lambda: closed_chains.forward_dynamics(BARS, Q, [1e200], [0]), "acceleration of a .*: du holds 1e.200"),
        (lambda: closed_chains.inverse_dynamics(BARS, Q, [0], [0], loads=[Wrench.at(Point(1), [1e308, 1.5e308, 0])]),
         "torque .*: force of loads 1 holds 1.5e.308"),
    ],
)  # fmt: skip
def test_results_that_are_no_numbers_name_the_input(ask, message):
    with pytest.raises(ValueError, match=rf"the {message}"):
        ask()


def test_the_command_says_so_too():
    told = CliRunner().invoke(cli.app, ["torques", "puma560", "--q", "0,1,0,0,0,0", "--dq", "1e200,1,0,0,0,0"])
    assert told.exit_code == 1
    assert "nan" not in told.output
    assert "dq holds 1e+200, which is too large" in told.output
