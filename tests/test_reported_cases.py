"""Faults reported of other packages: each case of `cases/share.json` is answered rightly, or counted as open.

Cases of open chains, closed chains, textbook results and real arms (kinds 1 to 4) are answered by
`reported_cases.solve`; where the right thing is a behaviour rather than a number, it has a test below.
"""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import sympy
from case_fields import UnknownField
from reported_cases import body_of, forward_dynamics, motor_of, robot_of, solve
from reported_linkages import loop_of, pendulum, swing
from test_notebooks import run_nbval

import dynlib
from dynlib import closed_chains, derivation, newton_euler, robots
from dynlib.closed_chains import ClosureError, SingularPosition, constraints, positions, singular, velocities
from dynlib.linkages import two_link_angles
from dynlib.model import Body, Mechanism, Point, Robot
from dynlib.motion import simulate
from dynlib.velocity import Wrench, jacobian
from tools.files import ROOT, notebooks_in_toc
from tools.notebooks import tidy

FOLDER = Path(__file__).parent / "cases"
CASES = {case["id"]: case for case in json.loads((FOLDER / "share.json").read_text(encoding="utf-8"))["cases"]}
ANSWERED = "1234"  # kinds with numbers that dynlib computes today
ANGLES = ("alpha", "a", "d", "theta", "offset")
OPEN = {"6": 2, "7": 7}  # how many cases of the other kinds are not solved yet; these only go down

# Cases without numbers to compute, and the tests that hold what is right in them.
GUARDS = {
    "NB01": ["test_reported_cases.py::test_objects_show_no_address", "test_reported_cases.py::test_faulty_notebooks"],
    "NB03": ["test_reported_cases.py::test_faulty_notebooks"],
    "NB05": [
        "test_reported_cases.py::test_faulty_notebooks",
        "test_reported_cases.py::test_stored_outputs_of_chapters",
    ],
    "NB07": [
        "test_notebooks.py::test_notebook_has_the_usual_kernel_and_stable_metadata",
        "test_reported_cases.py::test_a_private_kernel_name_is_put_right",
    ],
    "NB09": ["test_notebooks.py::test_nbval_passes_a_correct_notebook_and_fails_each_mistake"],
    "NB11": [
        "test_notebooks.py::test_notebook_has_output_and_no_unexpected_error",
        "test_reported_cases.py::test_stored_outputs_of_chapters",
    ],
    "BK02": [
        "test_binder.py::test_binder_uses_the_python_of_runtime_txt",
        "test_binder.py::test_binder_installs_the_pinned_packages_and_the_course",
        "test_binder.py::test_the_files_of_binder_are_where_it_looks",
        "test_repository.py::test_requirements_are_exact_and_end_with_the_course_itself",
    ],
    "BK03": ["test_reported_cases.py::test_every_file_is_opened_as_utf8"],
    "BK09": ["test_reported_cases.py::test_no_environment_inside_dollar_signs"],
}


def same(expected, got, tol):
    """Compare as the cases' own `compare.py` does; expressions may be written in any way."""
    if isinstance(expected, dict):
        return isinstance(got, dict) and all(key in got and same(expected[key], got[key], tol) for key in expected)
    if isinstance(got, dict):
        return False
    if isinstance(expected, str):
        return expected == got or (isinstance(got, str) and sympy.expand(sympy.sympify(f"({expected}) - ({got})")) == 0)
    a, b = np.array(expected, dtype=float), np.array(got, dtype=float)
    if a.shape != b.shape:
        return False
    allowed = tol.get("atol", 0) + tol.get("rtol", 0) * max(1.0, np.abs(a).max(initial=0))
    return bool((np.abs(a - b) <= allowed).all())


def wrong_values_like(case, got):
    """Return the names of the wrong values that a result matches."""
    close = {"rtol": 1e-6, "atol": 1e-6}
    return [name for name, value in (case["wrong_values"] or {}).items() if same(value, got, close)]


NUMBERS = [(name, key) for name, case in CASES.items() if case["kind"][0] in ANSWERED for key in case["expected"] or {}]


@pytest.fixture(scope="module")
def answers():
    """Every case with numbers answered once, from its model and input alone."""
    asked = {name: case for name, case in CASES.items() if case["kind"][0] in ANSWERED}
    return {name: solve({key: case[key] for key in ("model", "input")}) for name, case in asked.items()}


@pytest.mark.parametrize(("name", "key"), NUMBERS, ids=lambda value: value)
def test_expected_value(name, key, answers):
    case, found = CASES[name], answers[name]
    assert key in found, f"{name} asks for {key}; solve gave {', '.join(found)}"
    expected, got = case["expected"][key], found[key]
    looks = wrong_values_like(case, got)
    hint = f"\nlooks like {', '.join(looks)}: {case['fault']}" if looks else ""
    right = same(expected, got, case["tol"] or {"rtol": 1e-8, "atol": 1e-8})
    assert right, f"{name} ({case['title']}), {key}:\nexpected {expected}\ngot      {got}{hint}"


def test_a_wrong_value_is_recognised():
    case = CASES["OC07"]
    assert wrong_values_like(case, case["wrong_values"]["tau_com_plus_half"]) == ["tau_com_plus_half"]
    assert not same(case["expected"]["tau"], case["wrong_values"]["tau_com_plus_half"], case["tol"])


def test_every_case_is_answered_guarded_or_counted_as_open():
    counted = dict.fromkeys(OPEN, 0)
    for name, case in CASES.items():
        kind = case["kind"][0]
        if kind not in ANSWERED and name not in GUARDS:
            counted[kind] = counted.get(kind, 0) + 1
        assert kind not in ANSWERED or case["expected"], name
    assert counted == OPEN, "lower the count when a case is solved; it never rises"
    assert set(GUARDS) <= set(CASES)


def test_guards_exist():
    for place in (place for places in GUARDS.values() for place in places):
        file, name = place.split("::")
        text = (Path(__file__).parent / file).read_text(encoding="utf-8")
        assert f"\ndef {name}(" in text, place


def test_solve_reads_model_and_input_only():
    """No id and no title occurs in the code that solves, and other words around a case change nothing."""
    files = inspect.getfile(solve), inspect.getfile(loop_of)
    source = "".join(Path(file).read_text(encoding="utf-8") for file in files)
    assert [name for name, case in CASES.items() if name in source or case["title"] in source] == []
    for case in (CASES["OC11"], CASES["CC08"]):
        assert solve(case) == solve({"id": "another", "model": case["model"], "input": case["input"]})


def test_a_case_with_some_inputs_only():
    model = CASES["OC22"]["model"]
    assert {"T", "M", "g"} <= set(solve({"model": model, "input": {"q": [0.1, 0.2, 0.3]}}))
    kinematics = {key: value for key, value in model.items() if key != "links"}
    found = solve({"model": kinematics, "input": {"q": [0.1, 0.2, 0.3]}})
    assert "M" not in found
    assert "link 1 of the arm has no mass data" in found["refused"]


def test_forward_dynamics_inverts_inverse_dynamics():
    model, rates = CASES["RB01"]["model"], {"q": [0.3, -0.7, 1.1, 0.4, -0.6, 0.9], "qd": [0.5, -0.3, 0.8, 1, -1.2, 0.7]}
    qdd = [1, 2, -1, 0.5, 0.3, -0.8]
    tau = solve({"model": model, "input": rates | {"qdd": qdd}})["tau"]
    assert np.allclose(solve({"model": model, "input": rates | {"tau": tau}})["qdd"], qdd, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_cases_of_any_other_arm_equal_pinocchio(seed):
    """A random arm in the file's own form, with everything that a case may hold."""
    arms, pin = pytest.importorskip("arms"), pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    joints = tuple(rng.choice(["revolute", "prismatic"], rng.integers(1, 8)))
    arm = arms.Arm(joints, ("standard", "modified")[seed % 2], seed, motors=seed % 3 == 0)
    motors = [row["motor"] for row in arm.rows if "motor" in row]
    model = {
        "convention": {"standard": "DH", "modified": "MDH"}[arm.reading],
        "joints": [{"type": row["joint"][0].upper()} | {key: row[key] for key in ANGLES} for row in arm.rows],
        "links": [{"m": float(b.mass), "com": b.com, "I_com": b.inertia} for b in (row["body"] for row in arm.rows)],
        "motors": [{"Jm": m.inertia, "G": m.gear, "B": m.viscous, "Tc": m.coulomb} for m in motors],
    }
    q, qd, qdd = arm.motion()
    force, moment = rng.uniform(-5, 5, (2, 3))
    given = {"q": q, "qd": qd, "qdd": qdd, "force": force, "moment": moment}
    found = solve({"model": model | arm.around, "input": given})

    ours, theirs = arm.reference, arm.reference.model
    expected = {
        f"tau_{name}_axes_{who}": ours.torques(q, qd, qdd, [Wrench(sense * force, sense * moment, axes=axes)])
        for name, axes in (("world", "world"), ("tip", "link"))
        for who, sense in (("on_arm", 1), ("by_arm", -1))
    }
    M = pin.crba(theirs, theirs.createData(), q)
    expected["M"] = np.triu(M) + np.triu(M, 1).T
    expected["g"] = pin.computeGeneralizedGravity(theirs, theirs.createData(), q)
    C = pin.computeCoriolisMatrix(theirs, theirs.createData(), q, qd)
    expected |= {"C_qd": C @ qd, "T": ours.pose(q), "J_tip_world": ours.jacobian(q, None, [0, 0, 0], "world")}
    for key, value in expected.items():
        assert same(value, found[key], {"rtol": 1e-10}), key
    got = np.array(found["C_christoffel"])
    assert same(got @ qd, C @ qd, {"rtol": 1e-10})
    assert same(got + got.T, C + C.T, {"rtol": 1e-10}), "dM/dt - 2C is not skew"
    again = solve({"model": model | arm.around, "input": {"q": q, "qd": qd, "tau": ours.torques(q, qd, qdd)}})
    assert same(qdd, again["qdd"], {"rtol": 1e-6}), "forward dynamics"


# ---- Cases of kinds 1, 3 and 4 whose right answer is a behaviour -----------------------------------


def test_oc06_the_entries_of_a_tensor_are_named_by_their_place():
    """There is no order of six numbers to mix up: an inertia is a matrix or its diagonal."""
    case = CASES["OC06"]
    robot = robot_of(case["model"])
    I = robot.links[1].inertia
    named = dict(zip(case["input"]["order"], case["input"]["vector"], strict=True))
    assert {name: I["xyz".index(name[0]), "xyz".index(name[1])] for name in named} == named
    with pytest.raises(
        ValueError, match=r"of the shape \(6,\); expected the matrix .* Six numbers have no common order"
    ):
        Body(1, inertia=case["input"]["vector"])
    with pytest.raises(ValueError, match="the inertia is not symmetric, Ixz = 0.5 but Izx = 0.0"):
        Body(1, inertia=[[1, 0, 0.5], [0, 1, 0], [0, 0, 1]])


def test_oc14_the_convention_must_be_given_and_is_printed():
    rows = [{key: row[key] for key in ("alpha", "a", "d", "offset")} for row in CASES["OC14"]["model"]["rows"]]
    with pytest.raises(ValueError, match=r'convention is None; expected "modified"'):
        Robot.from_dh(rows, gravity=[0, 0, 0])
    for convention in ("standard", "modified"):
        assert f"{convention} DH\n" in str(Robot.from_dh(rows, gravity=[0, 0, 0], convention=convention))


def test_oc16_a_singular_mass_matrix_names_joint_and_link():
    case = CASES["OC16"]
    with pytest.raises(
        ValueError, match=r"joint 6 can move without resistance, for link 6 has no inertia about an axis"
    ):
        forward_dynamics(robot_of(case["model"]), case["input"]["q"], np.zeros(6), np.zeros(6))
    assert np.isfinite(solve(case)["tau"]).all()


def test_oc28_whole_numbers_give_floats():
    case = CASES["OC28"]
    state = [np.array(case["input"][key]) for key in ("q", "qd", "qdd")]
    assert [each.dtype.kind for each in state] == ["i"] * 3
    robot = robot_of(case["model"])
    for result in (newton_euler.inverse_dynamics(robot, *state), robot.pose(state[0]), jacobian(robot, state[0])):
        assert result.dtype == np.float64
    floats = newton_euler.inverse_dynamics(robot, *(each.astype(float) for each in state))
    assert (newton_euler.inverse_dynamics(robot, *state) == floats).all()


def test_oc29_no_float_where_none_was_put_in():
    half = sympy.Rational(1, 2)
    arm = robots.planar_2r().subs({"L1": half})
    tau = newton_euler.inverse_dynamics(arm, *arm.motion_symbols())
    assert not any(entry.has(sympy.Float) for entry in tau)
    turned = Robot.from_dh([dict(alpha=sympy.pi / 2)], convention="modified", gravity=[0, 0, sympy.Symbol("g")])
    assert turned.links[0].fixed.tolist() == [[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    with pytest.raises(TypeError, match="holds the float 0.5 beside the symbolic"):
        robots.planar_2r(L1=0.5)


def test_oc33_shapes():
    case = CASES["OC33"]
    robot, rows = robot_of(case["model"]), np.array(case["input"]["q_rows"])
    rates, expected = (case["input"]["qd"], case["input"]["qdd"]), np.array(case["expected"]["tau_rows"])
    for q, tau in ((rows[0], expected[0]), (rows[:1], expected[:1]), (rows, expected), (rows[:2], expected[:2])):
        got = newton_euler.inverse_dynamics(robot, q, *rates)
        assert got.shape == q.shape
        assert np.allclose(got, tau, rtol=1e-8, atol=1e-8)
    for wrong in (rows[:, 0], rows.T):
        with pytest.raises(ValueError, match=r"q has 4 entries; the arm has 2 joints .*\(2,\) or \(\.\.\., 2\)"):
            newton_euler.inverse_dynamics(robot, wrong, *rates)


def test_oc24_frame_and_sense_of_a_wrench_are_documented():
    assert "put *on* the arm" in Wrench.__doc__
    assert "*on* the arm at the tip, in tip axes" in newton_euler.recursion.__doc__


def test_oc35_a_singular_pose_is_refused_and_a_regular_one_is_not():
    case = CASES["OC35"]
    robot = robot_of(case["model"])
    assert np.isfinite(forward_dynamics(robot, case["input"]["qA"], [0, 0], [1, 1])).all()
    with pytest.raises(ValueError, match="joint 1 and joint 2 can move.*link 1 has neither mass nor inertia"):
        forward_dynamics(robot, case["input"]["qB"], [0, 0], [1, 1])


def test_oc37_turning_a_tensor_leaves_the_mass_centre_to_the_position():
    quarter = np.array([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    moved = Body(1, com=[0.1, 0, 0], inertia=[1, 2, 2.5]).moved(quarter)
    assert np.allclose(moved.inertia, np.diag([2, 1, 2.5]))
    assert np.allclose(moved.com, [0, 0.1, 0])


def test_oc43_the_two_forms_of_mass_data_are_not_mixed():
    with pytest.raises(ValueError, match="mixes data about the mass centre and about the origin"):
        body_of({"m": 1, "first_moment": [1, 0, 0], "I_com": [1, 1, 1]})


def test_a_motor_of_a_case_has_friction_that_depends_on_the_sense():
    motor = motor_of({"Jm": 1, "G": -2, "B": 0.5, "Tc": [0.5, -0.25]})
    assert motor.dry(np.array([1.0, -1.0, 0.0])).tolist() == [0.5, -0.25, 0]


def test_rb08_an_arm_without_any_mass_has_kinematics_but_no_dynamics():
    case = CASES["RB08"]
    robot = robot_of(case["model"])
    assert robot.pose(case["input"]["q"]).shape == (4, 4)
    with pytest.raises(ValueError, match="no link of the arm has a mass or an inertia; dynamics would only give zeros"):
        newton_euler.inverse_dynamics(robot, case["input"]["q"], np.zeros(7), np.zeros(7))
    found = solve(case)
    assert "no link of the arm has a mass" in found["refused"]
    assert not {"tau", "M", "g"} & set(found)


# ---- Cases of kind 2 whose right answer is a behaviour ---------------------------------------------


def linkage_and_q(name):
    """Return the linkage of a case and its position, in dynlib's coordinates and closed."""
    case = CASES[name]
    loop = loop_of(case["model"])
    guess = case["input"].get("q", case["input"].get("q_guess"))
    return loop.linkage, positions.close(loop.linkage, loop.relative(guess))


def test_cc01_a_mode_says_which_it_is_and_none_is_out_of_reach():
    case = CASES["CC01"]
    arm = loop_of(case["model"]).linkage
    words = "elbow B1 of the line from O1 to P on the left, elbow B2 of the line from O2 to P on the right"
    assert arm.describe((1, -1), working=True) == words
    assert solve({"model": case["model"], "input": {"P": [0, 2]}})["refused"].endswith("is too long by 1.402 m.")


def test_cc03_out_of_reach_is_refused_and_full_stretch_is_one_solution():
    model = CASES["CC03"]["model"]
    with pytest.raises(ClosureError, match=r"target \[0.6, 0.0\].*the distance is too long by 0.1 m"):
        two_link_angles(model["L1"], model["L2"], [0.6, 0], 1)
    with pytest.raises(ClosureError, match="the distance is too short by 0.05 m"):
        two_link_angles(model["L1"], model["L2"], [0, 0.05], 1)
    for side in (1, -1):
        for stretched in (0.5, 0.2 + 0.3, 0.5 * (1 + 1e-15)):
            assert two_link_angles(model["L1"], model["L2"], [stretched, 0], side).tolist() == [0, 0]
    found = solve({"model": model, "input": {"target": [0.5, 0], "target_far": [0.6, 0]}})
    assert found["solutions"] == [[0, 0]]
    assert "does not close for the target [0.6, 0.0]" in found["refused_far"]


def test_cc05_the_force_is_felt_through_the_jacobian_of_the_loop():
    found = solve(CASES["CC05"])
    change = np.subtract(found["tau_with_force"], found["tau_weight_only"])
    assert np.allclose(change, -np.transpose(found["J_tip"]) @ CASES["CC05"]["input"]["F_on_tip"], rtol=1e-12)
    arm, q = linkage_and_q("CC05")
    one_leg = constraints.tree_jacobian(arm, q, Point(1))[:2, arm.u]
    assert not np.allclose(one_leg, found["J_tip"], atol=0.01)


def test_cc07_redundant_equations_are_named_and_share_the_force():
    case = CASES["CC07"]
    arm, q = linkage_and_q("CC07")
    dq = velocities.rates(arm, q, case["input"]["qd_cranks"])
    twice = Mechanism(arm.chains, [*arm.closures, *arm.closures], arm.inputs)
    once, found = (closed_chains.with_multipliers(each, q, dq, case["input"]["tau"]) for each in (arm, twice))
    assert np.allclose(found.ddq, once.ddq, rtol=1e-10)
    assert np.allclose(found.lam, np.tile(once.lam / 2, 2), rtol=1e-10)
    assert once.redundant == ()
    assert found.redundant == twice.rows[2:]
    assert "redundant, so that lam is not unique: closure 2 (pin of the tip of chain 1" in repr(found)
    needed = closed_chains.pin_forces(twice, q, case["input"]["qd_cranks"], once.ddq[arm.u])
    assert np.allclose(needed.tau, case["input"]["tau"], rtol=1e-8)
    assert np.allclose(needed.lam, found.lam, rtol=1e-8)


def test_cc08_the_torque_of_the_cut_tree_is_another_one():
    case = CASES["CC08"]
    loop, found = loop_of(case["model"]), solve(case)["open"]
    linkage = loop.linkage
    q = linkage.positions([case["input"]["crank"]], (1,))
    _, dq, ddq, _ = velocities.motion_of(linkage, q, [case["input"]["qd"]], [case["input"]["qdd"]])
    cut = closed_chains.tree_torques(linkage, q, dq, ddq)
    of_absolute_angles = np.linalg.solve(loop.turn.T, cut)
    assert wrong_values_like(case, of_absolute_angles[0]) == ["cut_tree_torque_open"]
    assert np.abs(cut[linkage.v]).min() > 0.1, "the cut tree leaves passive joints with a torque"
    assert np.abs(cut[0] - found["tau"][0]) > 0.1
    assert wrong_values_like(case, found["tau"][0]) == []


def test_cc10_nothing_is_simulated_from_an_open_state():
    case = CASES["CC10"]
    loop = loop_of(case["model"])
    q, expected = loop.relative(case["input"]["q"]), case["expected"]
    with pytest.raises(ClosureError, match=r"does not close four-bar: the gap of .*, y, is 0.0236496 m") as refused:
        simulate(loop.linkage, q, [5], [0, 1])
    assert refused.value.gap == pytest.approx(np.abs(expected["residual"]).max(), rel=1e-8)
    with pytest.raises(ClosureError, match="Find a position that does with close"):
        closed_chains.inverse_dynamics(loop.linkage, q, [5], [0])
    closed = positions.close(loop.linkage, q)
    with pytest.raises(ValueError, match=r"opens four-bar: the rate of the gap .* Find all rates from those of the"):
        closed_chains.with_multipliers(loop.linkage, closed, loop.relative(case["input"]["qd"]), [0])
    found = solve(case | {"input": case["input"] | {"t_end": 1, "tau": 0}})
    assert set(case["expected"]) <= set(found)
    assert "0.0236496 m" in found["refused"]
    assert not {"qdd", "lam", "q_end"} & set(found)


def test_cc12_a_forward_singularity_is_named_and_no_torque_is_returned():
    case = CASES["CC12"]
    model = case["model"] | {"m_crank": 0.5, "m_coupler": 0.4, "gravity": [0, -9.81]}
    arm = loop_of(model).linkage
    up, down = (arm.positions(case["input"]["q"], (side,)) for side in (1, -1))
    assert np.allclose(up, down, rtol=0, atol=1e-12), "both assemblies coincide"
    assert singular.singularity(arm, up, arm.output).kind == 2
    loads = [Wrench.at(arm.output, force=[0, 10, 0])]
    for torques in (closed_chains.inverse_dynamics, closed_chains.pin_forces):
        with pytest.raises(SingularPosition, match=r"singular position of five-bar \(forward, type 2\)"):
            torques(arm, up, [0, 0], [0, 0], loads=loads)
    angles = [*case["input"]["q"], 0, np.pi]
    for given in (case["input"], {"q": angles}, {"q_guess": [angle + 1e-9 for angle in angles]}):
        found = solve({"model": model, "input": given | {"F_on_tip": [0, 10]}})
        assert found["singularity"] == "forward (type 2)"
        assert "Torques of the inputs cannot hold such a motion" in found["refused"]
        assert not {"tau", "qdd", "lam"} & set(found)


def test_cc14_the_pendulum_keeps_its_length_and_its_energy():
    case = CASES["CC14"]
    t = np.linspace(0, 50, 501)
    motion = swing(case["model"], case["input"], t)
    assert np.abs(np.hypot(*motion.q.T) - case["model"]["L"]).max() < 1e-6
    assert motion.gap.max() < 1e-14
    assert np.abs(motion.energy - case["expected"]["energy"]).max() < 1e-5
    steps = {"dt": 0.02, "project": False}  # the classical Runge-Kutta method, as in the case
    drift, spring = (swing(case["model"], case["input"], t, **steps, **more).gap for more in ({}, {"baumgarte": 10}))
    assert drift[-1] > 1e-3
    assert drift[250] < drift[-1], "it grows"
    assert 1e-7 < spring.max() < 1e-5
    assert swing(case["model"], case["input"], t, dt=0.02).gap.max() < 1e-14


def test_cc14_either_of_x_and_y_may_be_the_input():
    case, t = CASES["CC14"], np.linspace(0, 2, 5)
    start = np.sin(case["input"]["theta0"]), -np.cos(case["input"]["theta0"])
    first, second = (simulate(pendulum(1, 1, 9.81, joint), start, [0], t) for joint in (1, 2))
    assert np.allclose(first.q, second.q, rtol=0, atol=1e-9)


def test_cc16_the_joint_force_is_that_on_the_rod():
    """Of the slider: m a = what the rod does to it, the opposite; across the line the ground holds it."""
    found, masses = solve(CASES["CC16"]), CASES["CC16"]["model"]["m"]
    assert found["lam"][0] == pytest.approx(-masses[2] * found["qdd"][2], rel=1e-12)


def test_forward_dynamics_of_linkages_inverts_inverse_dynamics():
    for name, given in (
        ("CC05", {"q": [2.0, 0.8], "qd": [1, -2], "qdd": [3, 4], "F_on_tip": [2, -5]}),
        ("CC08", {"crank": 0.4, "qd": 3, "qdd": -2}),
        ("CC16", {"crank": -2.0, "qd": 10, "qdd": 7, "F_on_slider": -50}),
    ):
        model = CASES[name]["model"]
        needed = solve({"model": model, "input": given})
        for mode in (key for key, value in needed.items() if isinstance(value, dict)):
            tau = needed[mode]["tau"]
            caused = solve({"model": model, "input": given | {"tau": tau}})[mode]
            for key in ("qdd", "lam", "lam_sum"):
                assert np.allclose(caused[key], needed[mode][key.removesuffix("_sum")], rtol=1e-8), (name, mode, key)


@pytest.mark.parametrize(
    ("lengths", "turns", "limits"),
    [((0.5, 0.2, 0.5, 0.4), True, (0, 180)), ((2, 2, 1, 1), False, (0, 60)), ((3, 4, 1, 1), False, (0, 28.955))],
)
def test_the_range_of_a_crank(lengths, turns, limits):
    model = dict(zip(("ground", "crank", "coupler", "rocker"), lengths, strict=True))
    found = solve({"model": model, "input": {}})
    assert bool(found["crank_turns_fully"]) is turns
    assert np.allclose(np.degrees(found["crank_limits"]), limits, atol=1e-3)
    for angle in np.radians([limits[0] + 0.1, limits[1] - 0.1]):
        assert "open" in solve({"model": model, "input": {"crank": angle}})
    if not turns:
        refused = solve({"model": model, "input": {"crank": np.radians(limits[1] + 0.1)}})
        assert "does not close" in refused["refused"]
        assert "crank_range" in refused


# ---- Cases of notebooks and of the book ------------------------------------------------------------


def notebook(path):
    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def texts_of_outputs(path):
    """Yield every text that a notebook stores as an output."""
    for cell in notebook(path).cells:
        for output in cell.get("outputs", []):
            yield output.get("text", "")
            yield "\n".join(output.get("traceback", []))
            yield from (text for kind, text in output.get("data", {}).items() if not kind.startswith("image/"))


# ---- What the answers above do not know, they say ---------------------------------------------------

ARM = {
    "convention": "MDH",
    "gravity": [0, -10, 0],
    "joints": [{"type": "R"}, {"type": "R", "a": 1.0}],
    "links": [{"m": 1.0, "com": [1, 0, 0]}, {"m": 1.0, "com": [1, 0, 0]}],
}
TIP = {"tool": [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}


@pytest.mark.parametrize(
    ("model", "given", "field"),
    [
        ({}, {"q": [0, 0], "spring": [1, 1]}, "input.spring"),
        ({"damping": 2}, {"q": [0, 0]}, "model.damping"),
        ({"units": "mm"}, {"q": [0, 0]}, "model.units"),
        ({"joints": [{"type": "R"}, {"type": "R", "a": 1.0, "lead": 2}]}, {"q": [0, 0]}, "model.joints[2].lead"),
        ({"links": [{"m": 1.0}, {"m": 1.0, "radius": 1}]}, {"q": [0, 0]}, "model.links[2].radius"),
        ({}, {"q": [0, 0], "payload": {"m": 1, "frame": "tip"}}, "input.payload.frame"),
        ({}, {"q": [0, 0], "q_deg": [0, 90]}, "q_deg"),
        ({"joints": [{"type": "R"}, {"type": "P"}]}, {"q_deg": [90, 0.5]}, "input.q_deg"),
        ({}, {"q": [0, 0], "wrench_in_no_axes": [0] * 6}, "input.wrench_in_no_axes"),
        ({}, {"question": "How many degrees of freedom?"}, "input.question"),
    ],
)
def test_a_field_that_nobody_reads_is_named(model, given, field):
    with pytest.raises(UnknownField, match=re.escape(field)):
        solve({"model": ARM | model, "input": given})


def test_a_statement_that_is_meant_otherwise_is_not_passed_over():
    five_bar = {"base_half_distance": 0.1, "crank": 0.25, "coupler": 0.35, "m_crank": 0.5, "m_coupler": 0.4}
    for name, words in {"coordinates": "angles relative to the crank", "rods": "hollow", "joints": "balls"}.items():
        with pytest.raises(UnknownField, match=name):
            solve({"model": five_bar | {name: words}, "input": {"P": [0.05, 0.42]}})


@pytest.mark.parametrize(
    ("axes", "sense", "tau"),  # both links level, held: 30 and 10; a weight of 5 N at the end, 2 m and 1 m away
    [
        ("world", "on", [40, 15]),
        ("base", "on", [40, 15]),
        ("tip", "on", [40, 15]),
        ("tool", "by", [20, 5]),
        ("world", "by", [20, 5]),
    ],
)
def test_a_wrench_is_read_under_each_name(axes, sense, tau):
    wrench = [0, -5, 0, 0, 0, 0]
    for value in (wrench, {"force": wrench[:3]}):
        given = {"q": [0, 0], f"wrench_{axes}_{sense}_arm": value}
        found = solve({"model": ARM | TIP, "input": given})
        assert same(tau, found["tau"], {"atol": 1e-9})
        assert same([30, 10], found["tau_no_wrench"], {"atol": 1e-9})


def test_a_wrench_in_the_axes_of_the_tip_turns_with_it():
    upright = {"q": [np.pi / 2, 0]}
    found = [solve({"model": ARM | TIP, "input": upright | {name: [0, -5, 0, 0, 0, 0]}})["tau"]
             for name in ("wrench_world_on_arm", "wrench_tip_on_arm")]  # fmt: skip
    assert same([[0, 0], [10, 5]], found, {"atol": 1e-9})


def test_degrees_are_degrees():
    found = solve({"model": ARM | {"joints": [{"type": "R", "offset_deg": 90}, {"type": "R", "a": 1.0}]},
                   "input": {"q_deg": [-90, 90]}})  # fmt: skip
    assert same([20, 0], found["g"], {"atol": 1e-9})


def test_power_is_that_of_the_torques_that_are_given():
    found = solve({"model": ARM, "input": {"q": [0, 0], "qd": [2, -1], "tau": [31, 12]}})
    assert found["power"] == 31 * 2 - 12
    assert "tau" not in found
    again = solve({"model": ARM, "input": {"q": [0, 0], "qd": [2, -1], "qdd": found["qdd"]}})
    assert same([31, 12], again["tau"], {"atol": 1e-9})


def test_faulty_notebooks(tmp_path):
    """An address, a time and a scalar of another NumPy in a stored output each stop the strict comparison."""
    names = ["nb_address", "nb_time", "nb_numpy_scalar"]
    for name in names:
        (tmp_path / f"{name}.ipynb").write_bytes((FOLDER / "data" / f"{name}.ipynb").read_bytes())
    done, failures = run_nbval(tmp_path)
    assert sorted(failures) == sorted(names), done.stdout
    assert all(failures.values()), f"passed: {failures}"


def test_objects_show_no_address():
    arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    shown = [arm, arm.table, arm.links[0], arm.links[0].body, motor_of({"Jm": 1}), Wrench(), newton_euler.Steps()]
    shown += [newton_euler.force_balance, newton_euler.recursion(arm, [0, 0], [0, 0], [0, 0])[0]]
    assert [text for text in map(repr, shown) if re.search(r"0x[0-9a-f]{4}", text)] == []


@pytest.mark.parametrize("path", notebooks_in_toc(), ids=lambda path: path.stem)
def test_stored_outputs_of_chapters(path):
    bad = re.compile(r"\bat 0x[0-9a-f]+|np\.(float|int)\d+\(|File [\"']?/|ipykernel_\d+")
    assert [text for text in texts_of_outputs(path) if bad.search(text)] == []


def test_a_private_kernel_name_is_put_right():
    """`make notebooks` writes the kernel that everybody has, which a test of the chapters asks for."""
    saved = notebook(FOLDER / "data" / "nb_kernel_name.ipynb")
    assert saved.metadata.kernelspec.name != "python3"
    tidy(saved)
    assert saved.metadata.kernelspec.name == "python3"


def in_dollars(text):
    return bool(re.search(r"\$\$?\s*\\begin\{(equation|align|gather|multline)\*?\}", text))


def test_no_environment_inside_dollar_signs():
    faulty = FOLDER / "data" / "nb_latex_env.ipynb"
    assert any(map(in_dollars, texts_of_outputs(faulty)))
    for path in notebooks_in_toc():
        assert [text for text in texts_of_outputs(path) if in_dollars(text)] == [], path.name
    written = [derivation.derive(make())._repr_markdown_() for make in (robots.planar_2r, robots.rp)]
    assert not any(map(in_dollars, written))
    assert not any(in_dollars(step._repr_latex_()) for step in vars(newton_euler.Steps()).values())


def test_every_file_is_opened_as_utf8(tmp_path):
    """Python, told to complain where no encoding is named, imports dynlib and copies the Chinese text."""
    files = Path(dynlib.__file__).parent.rglob("*.py")
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files]
    source, copy = FOLDER / "data" / "utf8_chinese.md", tmp_path / "copy.md"
    code = [
        f"import pathlib, tools.files, {', '.join(name for name in names if not name.endswith('__main__'))}",
        f"text = pathlib.Path({str(source)!r}).read_text(encoding='utf-8')",
        f"tools.files.write_text(pathlib.Path({str(copy)!r}), text)",
        f"open({str(copy)!r}).close()  # this must be noticed",
    ]
    command = [sys.executable, "-X", "warn_default_encoding", "-W", "always::EncodingWarning", "-c", "\n".join(code)]
    environ = os.environ | {"PYTHONUTF8": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    places = re.findall(r"^(.+):\d+: EncodingWarning", done.stderr, flags=re.MULTILINE)
    assert "<string>" in places
    own = [str(ROOT / folder) for folder in ("dynlib", "tools")]
    assert [place for place in places if place.startswith(tuple(own))] == []
    assert copy.read_bytes() == source.read_bytes()
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"PLW1514"' in settings, "the rule by which ruff refuses a file opened without an encoding"
