"""Each mistake gives the torques that follow from it by hand, and is recognised by them; the right ones are right."""

import cmath
import itertools
import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import hypothesis
import nbformat
import numpy as np
import pytest
import sympy
from hypothesis import strategies as st

from dynlib import acceleration, check, closed_chains, derivation, lagrange, linkages, newton_euler, robots, velocity
from dynlib.closed_chains import constraints, singular, velocities
from dynlib.linkages import three_legs
from dynlib.misconceptions import (
    ALL,
    AT_JOINT,
    CLOSED,
    LAGRANGE,
    RECURSION,
    SLIPS,
    SLIPS_AT,
    STRUCTURE,
    Diagnosis,
    NotHere,
    diagnose,
)
from dynlib.misconceptions.words import WORDS
from dynlib.model import Body, Motor, Robot
from dynlib.velocity import BaseMotion, Wrench
from tools.files import notebooks_in_toc

# ---- A planar arm of two rods, by hand -------------------------------------------------------------

L1, L2, M1, M2, R1, R2, I1, I2, G = 0.8, 0.6, 3.0, 2.0, 0.35, 0.25, 0.2, 0.09, 9.81
B1, B2 = 0.7, 0.4
PUSH = complex(3.0, -2.0)  # on the tip, in axes of link 2
STATE = (0.5, 1.0), (2.0, -3.0), (1.0, 0.5)
RODS = Robot.from_dh(
    [
        dict(body=Body(M1, [R1, 0, 0], [0, I1, I1]), motor=Motor(viscous=B1)),
        dict(a=L1, body=Body(M2, [R2, 0, 0], [0, I2, I2]), motor=Motor(viscous=B2)),
    ],
    convention="modified",
    gravity=[0, -G, 0],
    tool=[[1, 0, 0, L2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    name="two rods",
)
PUSHED = {"tip_force": [PUSH.real, PUSH.imag, 0.0]}


def by_hand(
    centripetal=1,
    centripetal_c=1,
    turning=0,
    g=G,
    lever_F=1,
    lever_f=1,
    lever_g=1,
    back=0,
    I=(I1, I2),
    sizes=(L1, R1, R2),
    out=(-1, -1),
    g_out=(-1, -1),
    in_force=1,
    in_moment=1,
    friction=1,
    push=1,
):
    """Torques of the arm in link axes, a vector in the plane as a complex number; each term can be left out."""
    (a, b), (da, db), (dda, ddb) = STATE
    l1, r1, r2 = sizes
    turn = cmath.exp(1j * b)
    g1 = -1j * g * cmath.exp(1j * g_out[0] * a)
    g2 = g1 * cmath.exp(1j * g_out[1] * b)
    w, dw = da + db, dda + ddb
    elbow = l1 * (1j * dda - centripetal * da**2) * cmath.exp(1j * out[1] * b)
    elbow -= turning * 1j * w * (1j * l1 * da / turn)  # omega x v of the elbow, in axes of link 2
    F1 = M1 * r1 * (1j * dda - centripetal_c * da**2)
    F2 = M2 * (elbow + r2 * (1j * dw - centripetal_c * w**2))
    tip = push * PUSH
    f2 = F2 - M2 * g2 - tip
    n2 = I[1] * dw + ((lever_F * r2 - back * L2) * F2 - lever_g * r2 * M2 * g2).imag - (lever_f * L2 * tip).imag
    f2_in_1 = f2 * cmath.exp(1j * in_moment * b)
    n1 = (
        I[0] * dda
        + ((lever_F * r1 - back * L1) * F1 - lever_g * r1 * M1 * g1).imag
        + n2
        + (lever_f * l1 * f2_in_1).imag
    )
    return np.array([n1 + friction * B1 * da, n2 + friction * B2 * db])


ELSEWHERE = {"axis_held_still", "coriolis_missing", "rotation_transposed_in_force"}
"""Mistakes of the recursion that the planar arm does not show; each has a test of its own below."""
ABOUT_ORIGIN = I1 + M1 * R1**2, I2 + M2 * R2**2
NOT_MOVED = I1 - M1 * R1**2, I2 - M2 * R2**2
PLANAR = {
    ("column_differentiated", None): dict(turning=1),
    ("centripetal_missing", None): dict(centripetal=0, centripetal_c=0),
    ("centripetal_of_com_missing", None): dict(centripetal_c=0),
    ("rotation_transposed", None): dict(out=(1, 1), g_out=(1, 1)),
    ("gravity_added", None): dict(g=-G),
    ("gravity_omitted", None): dict(g=0),
    ("gravity_twice", None): dict(g=2 * G),
    ("lever_of_force_missing", None): dict(lever_F=0),
    ("lever_of_next_force_missing", None): dict(lever_f=0),
    ("lever_of_weight_missing", None): dict(lever_g=0),
    ("moment_about_next_joint", None): dict(back=1),
    ("friction_reversed", None): dict(friction=-1),
    ("inertia_about_origin", None): dict(I=ABOUT_ORIGIN),
    ("inertia_not_moved", None): dict(I=NOT_MOVED),
    ("other_dh_convention", None): dict(sizes=(0.0, R1, L1 + R2)),
    ("load_reversed", None): dict(push=-1),
    ("rotation_transposed_at", 1): dict(g_out=(1, -1)),
    ("rotation_transposed_at", 2): dict(out=(-1, 1), g_out=(-1, 1)),
    ("rotation_transposed_in_moment", 2): dict(in_moment=-1),
    ("inertia_about_origin_at", 1): dict(I=(ABOUT_ORIGIN[0], I2)),
    ("inertia_about_origin_at", 2): dict(I=(I1, ABOUT_ORIGIN[1])),
    ("inertia_not_moved_at", 1): dict(I=(NOT_MOVED[0], I2)),
    ("inertia_not_moved_at", 2): dict(I=(I1, NOT_MOVED[1])),
}


def to_digits(values, digits):
    """Round each value to significant digits."""
    return [float(f"{value:.{digits - 1}e}") for value in values]


def mistake(key, joint=None):
    return ALL[key] if joint is None else AT_JOINT[key](joint)


def keys(found):
    return {(each.key, each.joint) for each in found}


def test_the_arm_by_hand_is_right():
    assert by_hand() == pytest.approx(newton_euler.inverse_dynamics(RODS, *STATE, **PUSHED), rel=1e-13)


@pytest.mark.parametrize("of", PLANAR, ids=str)
def test_torques_of_a_mistake_by_hand(of):
    if of == ("other_dh_convention", None):  # the point of the tip moves as well: the tip is pushed further out
        arm, loads = replace(RODS, tool=np.eye(4)), {}
        expected = by_hand(**PLANAR[of], push=0)
    else:
        arm, loads, expected = RODS, PUSHED, by_hand(**PLANAR[of])
    assert mistake(*of).torques(arm, *STATE, **loads) == pytest.approx(expected, rel=1e-12)
    right = newton_euler.inverse_dynamics(arm, *STATE, **loads)
    assert np.abs(expected / right - 1).max() > 0.01
    assert of in keys(diagnose(arm, *STATE, to_digits(expected, 3), **loads))


def test_the_rotation_in_the_balance_of_forces_shows_one_joint_further_in():
    """Planar, three links: the force on link 3 is turned wrongly into link 2, and felt by joint 1."""
    rows = [dict(body=Body(1, [0.3, 0, 0])), dict(a=0.5, body=Body(1, [0.3, 0, 0])), dict(a=0.4, body=Body(2))]
    arm = Robot.from_dh(rows, convention="modified", gravity=[0, 0, 0])
    q, dq, ddq = np.array([0.3, 0.5, 0.8]), np.array([1.0, 2.0, -1.0]), np.array([0.5, -1.0, 2.0])

    def turned(angle):
        return np.exp(1j * angle)

    w, dw = np.cumsum(dq), np.cumsum(ddq)
    spin = 1j * dw - w**2
    elbow = 0.5 * spin[0] * turned(-q[1])  # in axes of link 2
    wrist = elbow + 0.4 * spin[1]
    f3 = 2 * wrist * turned(-q[2])
    F2, F1 = elbow + 0.3 * spin[1], 0.3 * spin[0]
    n2 = (0.3 * F2 + 0.4 * f3 * turned(q[2])).imag
    wrong_f2 = F2 + f3 * turned(-q[2])
    n1 = n2 + (0.3 * F1 + 0.5 * wrong_f2 * turned(q[1])).imag
    found = mistake("rotation_transposed_in_force", 3).torques(arm, q, dq, ddq)
    assert found == pytest.approx([n1, n2, 0], rel=1e-12, abs=1e-12)
    right = newton_euler.inverse_dynamics(arm, q, dq, ddq)
    assert right[1:] == pytest.approx([n2, 0], rel=1e-12, abs=1e-12)
    assert abs(right[0] - n1) > 0.1


def test_the_axis_of_a_head_held_still():
    """A head on a post: body with moments A, B, C about its centre, which does not move; Euler's law by hand."""
    A, B, C = 0.02, 0.05, 0.04
    head = Robot.from_dh(
        [dict(mass=0), dict(alpha=np.pi / 2, mass=1, inertia=[A, B, C])], convention="modified", gravity=[0, 0, -G]
    )
    (_, b), (da, db), (dda, ddb) = motion = (0.4, 0.7), (2.0, -3.0), (1.0, 4.0)
    s, c = math.sin(b), math.cos(b)
    omega = np.array([da * s, da * c, db])
    alpha = np.array([dda * s, dda * c, ddb])  # without d(s)/dt and d(c)/dt
    N = np.array([A, B, C]) * alpha + np.cross(omega, np.array([A, B, C]) * omega)
    expected = [N @ [s, c, 0], N[2]]
    assert mistake("axis_held_still").torques(head, *motion) == pytest.approx(expected, rel=1e-12)
    assert keys(diagnose(head, *motion, to_digits(expected, 3))) == {("axis_held_still", None)}


def test_the_coriolis_term_of_a_sliding_mass():
    m2, motion = 1.5, ([0.5, 1.2], [2.0, -3.0], [1.0, 0.5])
    rail = robots.rp(I1=0.4, m1=2, m2=m2, g=9.81)
    lost = 2 * m2 * 1.2 * 2.0 * -3.0
    expected = newton_euler.inverse_dynamics(rail, *motion) - [lost, 0]
    assert mistake("coriolis_missing").torques(rail, *motion) == pytest.approx(expected, rel=1e-13)
    assert ("coriolis_missing", None) in keys(diagnose(rail, *motion, to_digits(expected, 3)))


# ---- The same arm by SymPy, with a term of Lagrange's equations dropped ----------------------------


def by_sympy(key):
    """Torques of the two rods from typed energies, without friction and load."""
    t1, t2, d1, d2, dd1, dd2 = sympy.symbols("t1 t2 d1 d2 dd1 dd2")
    w = d2 if key == "relative_rate" else d1 + d2
    K = (M1 * R1**2 + I1) * d1**2 / 2 + I2 * w**2 / 2
    K += M2 * (L1**2 * d1**2 + R2**2 * w**2 + 2 * L1 * R2 * d1 * w * sympy.cos(t2)) / 2
    carried = 0 if key == "height_from_own_joint" else L1 * sympy.sin(t1)
    P = M1 * G * R1 * sympy.sin(t1) + M2 * G * (carried + R2 * sympy.sin(t1 + t2))
    K = 2 * K if key == "half_lost" else K
    P = -P if key == "potential_sign" else P
    q, dq, ddq, taus = (t1, t2), (d1, d2), (dd1, dd2), []
    for a, da in zip(q, dq, strict=True):
        p = K.diff(da)
        tau = sum(p.diff(b) * c for b, c in zip(dq, ddq, strict=True))
        if key != "wave_not_differentiated":
            tau += sum(p.diff(b) * c for b, c in zip(q, dq, strict=True))
        if key != "kinetic_slope_dropped":
            tau -= K.diff(a)
        taus.append(tau + P.diff(a))
    if key == "christoffel_order":
        M = sympy.hessian(K, dq)
        for k, j, i in itertools.product(range(2), repeat=3):
            c = (M[k, j].diff(q[i]) + M[k, i].diff(q[j]) - M[i, j].diff(q[k])) / 2 * dq[i]
            taus[k] -= c * dq[j]
            taus[j] += c * dq[k]
    numbers = dict(zip((*q, *dq, *ddq), itertools.chain(*STATE), strict=True))
    return np.array([float(tau.subs(numbers)) for tau in taus])


ENERGIES = [*LAGRANGE, *STRUCTURE]
DRIVES = np.array([B1 * STATE[1][0], B2 * STATE[1][1]])
HELP = by_hand(push=1) - by_hand(push=0)  # what the load changes


def test_lagrange_by_sympy_is_right():
    assert by_sympy(None) + DRIVES + HELP == pytest.approx(by_hand(), rel=1e-13)


@pytest.mark.parametrize("key", ENERGIES)
def test_torques_of_a_mistake_by_sympy(key):
    expected = by_sympy(key) + DRIVES + HELP  # friction and load are right
    assert ALL[key].torques(RODS, *STATE, **PUSHED) == pytest.approx(expected, rel=1e-12)
    assert np.abs(expected / by_hand() - 1).max() > 0.01
    assert key in [each.key for each in diagnose(RODS, *STATE, to_digits(expected, 3), **PUSHED)]


def test_lagrange_knows_no_moving_base():
    motion = BaseMotion(dv=[1, 0, 0])
    for key in ENERGIES:
        with pytest.raises(
            NotHere, match=f'{re.escape(ALL[key].name())}" is a mistake about an arm whose base stands still'
        ):
            ALL[key].torques(RODS, *STATE, base=motion)
        still = ALL[key].torques(RODS, *STATE, base=BaseMotion())
        assert check.same(still, ALL[key].torques(RODS, *STATE))
    right = newton_euler.inverse_dynamics(RODS, *STATE, base=motion)
    assert diagnose(RODS, *STATE, right, base=motion).verdict == "right"
    assert diagnose(RODS, *STATE, -right, base=motion).verdict == "sign or unit"


# ---- Closed chains ---------------------------------------------------------------------------------

BARS = linkages.four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1], gravity=[0, -10, 0])
LEGS = linkages.three_legged(
    bases=[[0, 0], [0.5, 0], [0.25, 0.45]],
    lengths=[[0.3, 0.35], [0.28, 0.33], [0.31, 0.27]],
    masses=[[1.0, 0.8], [0.9, 0.7], [1.1, 0.6]],
    l_pc=0.1,
    m_pc=0.3,
    gravity=[0, -9.81, 0],
)
AT = LEGS.positions([1.8, 3.6], mode=(1, 1))
MOVE = [2.0, -1.5], [3.0, 4.0]


def test_gravity_of_a_parallelogram():
    """The middle of every bar is lifted by cos(angle): 20 N m at rest when it lies."""
    for angle in (0.5, 1.2, 2.0):
        q = BARS.positions([angle], mode=[1])
        held = 20 * math.cos(angle)
        for key, factor in {"gravity_added": -1, "gravity_omitted": 0, "gravity_twice": 2}.items():
            assert ALL[key].torques(BARS, q, [0], [0]) == pytest.approx([factor * held], abs=1e-12)
        found = diagnose(BARS, q, [0], [0], to_digits([-held], 3))
        assert found.verdict == "known mistake"
        assert {"gravity_added", "potential_sign", "all_signs"} <= {each.key for each in found}


def test_inertial_torques_doubled_in_all_chains():
    q = np.asarray(AT)
    light = closed_chains.inverse_dynamics(LEGS.with_gravity([0, 0, 0]), q, *MOVE)
    right = closed_chains.inverse_dynamics(LEGS, q, *MOVE)
    assert ALL["half_lost"].torques(LEGS, q, *MOVE) == pytest.approx(right + light, rel=1e-10)
    assert ALL["potential_sign"].torques(LEGS, q, *MOVE) == pytest.approx(2 * light - right, rel=1e-10)


@pytest.mark.parametrize(
    ("key", "joint", "factors"),
    [
        ("inertia_not_moved_at", 1, (0.25, 1)),  # E25: m l^2/12 where m l^2/3 belongs
        ("inertia_about_origin_at", 2, (1, 4)),  # E26: m l^2/3 where m l^2/12 belongs
        ("inertia_about_origin_at", 1, (1.75, 1)),
        ("inertia_not_moved_at", 2, (1, -2)),
    ],
)
def test_inertia_of_a_leg_about_another_point_by_energies(key, joint, factors):
    """Uniform rods: about the end m l^2/3, about the middle m l^2/12; document B adds the energies up."""

    def wrong(first, second, *others):
        return three_legs.leg_energy(factors[0] * first, factors[1] * second, *others)

    steps = three_legs.Steps(leg_energy=replace(three_legs.leg_energy, function=wrong))
    expected = three_legs.torques(LEGS, AT, *MOVE, steps=steps)
    assert AT_JOINT[key](joint).torques(LEGS, AT, *MOVE) == pytest.approx(expected, rel=1e-10)
    assert (key, joint) in keys(diagnose(LEGS, AT, *MOVE, to_digits(expected, 3)))


@pytest.mark.parametrize(
    ("linkage", "mode", "u"),
    [
        (LEGS, (1, 1), [1.8, 3.6]),
        (BARS, (1,), [0.5]),
        (linkages.slider_crank(crank=0.3, rod=0.8, masses=[1, 2, 3], gravity=[0, -9.81, 0]), (1,), [0.9]),
        (
            linkages.five_bar(
                bases=[[0, 0], [1, 0]], lengths=[[0.2, 0.9], [0.25, 1]], masses=[[1, 1], [1, 1]], gravity=[0, -9.81, 0]
            ),
            (1,),
            [2.0, 1.0],
        ),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_torque_of_the_cut_mechanism_of_every_linkage(linkage, mode, u):
    """Each chain by itself, as an open arm: what its recursion says about the joints that are driven."""
    q, du, ddu = linkage.positions(u, mode), [1.5, -2.0][: len(u)], [3.0, 1.0][: len(u)]
    _, dq, ddq, _ = velocities.motion_of(linkage, q, du, ddu)
    pieces = zip(linkage.chains, *map(linkage.parts, (q, dq, ddq)), strict=True)
    alone = [newton_euler.inverse_dynamics(*piece) for piece in pieces]
    expected = [alone[chain - 1][joint - 1] for chain, joint in linkage.inputs]
    assert CLOSED["dependent_angles_held"].torques(linkage, q, du, ddu) == pytest.approx(expected, rel=1e-12)
    right = closed_chains.inverse_dynamics(linkage, q, du, ddu)
    assert np.abs(right - expected).max() > 0.01 * np.abs(right).max()
    assert "dependent_angles_held" in [each.key for each in diagnose(linkage, q, du, ddu, to_digits(expected, 3))]


def test_a_load_on_a_linkage_with_the_wrong_sense():
    loads = [Wrench.at(LEGS.P, force=[5, -8, 0], moment=[0, 0, 1])]
    right, bare = (closed_chains.inverse_dynamics(LEGS, AT, *MOVE, loads=each) for each in (loads, []))
    expected = 2 * bare - right
    assert ALL["load_reversed"].torques(LEGS, AT, *MOVE, loads=loads) == pytest.approx(expected, rel=1e-12)
    found = diagnose(LEGS, AT, *MOVE, to_digits(expected, 3), loads=loads)
    assert [each.key for each in found] == ["load_reversed"]


def test_mistakes_of_the_document_count_motors_rightly():
    """Rotors and friction are not in the document's energies; whoever adds them rightly makes no mistake there."""
    drive = Motor(inertia=2e-4, gear=30, viscous=1e-3, coulomb=0.05)
    chains = [replace(chain, links=[replace(link, motor=drive) for link in chain.links]) for chain in LEGS.chains]
    driven = replace(LEGS, chains=chains)
    with_drives, without = (closed_chains.inverse_dynamics(arm, AT, *MOVE) for arm in (driven, LEGS))
    for key in ("rates_squared_alone", "relative_angle_in_centre", "copied_index", "energies_as_printed"):
        bare = CLOSED[key].torques(LEGS, AT, *MOVE)
        assert CLOSED[key].torques(driven, AT, *MOVE) == pytest.approx(bare + with_drives - without, rel=1e-10)


def test_a_mistake_belongs_to_arms_or_to_closed_chains():
    with pytest.raises(
        NotHere, match='velocity term of the closure forgotten" is a mistake about closed chains; two rods has none'
    ):
        ALL["closure_velocity_term"].torques(RODS, *STATE)
    with pytest.raises(NotHere, match="two rods has no joint 3"):
        AT_JOINT["rotation_transposed_at"](3).torques(RODS, *STATE)
    with pytest.raises(NotHere, match="with other angles four-bar does not close"):
        SLIPS["angles_in_degrees"].torques(BARS, BARS.positions([0.5], mode=[1]), [0], [0])
    with pytest.raises(NotHere, match="was not read from a DH table"):
        ALL["other_dh_convention"].torques(replace(RODS, links=RODS.links[:1] * 2), *STATE)


# ---- What is said of an answer ---------------------------------------------------------------------

POINTS = robots.planar_2r(L1=0.5, L2=0.4, m1=2, m2=1, g=9.81)
MOVING = [0.3, 0.7], [1, 2], [0.5, -1]
LEVEL = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
RESTING = [0, 0], [0, 0], [0, 0]  # holds 30 and 10 N m
EVERY = [*ALL.values(), *(make(joint) for make in AT_JOINT.values() for joint in (1, 2, 3))]


def test_every_mistake_has_words_and_is_tested():
    families = {**AT_JOINT, **SLIPS_AT}
    assert set(ALL) | set(families) | set(SLIPS) == set(WORDS["en"])
    assert len(ALL) == len(RECURSION) + len(LAGRANGE) + len(STRUCTURE) + len(CLOSED)
    tested = {key for key, _ in PLANAR} | ELSEWHERE
    assert tested == set(RECURSION) | set(AT_JOINT), "each needs a line in PLANAR, or a test and its key in ELSEWHERE"
    for each in [*EVERY, *SLIPS.values(), SLIPS_AT["sign_at"](2)]:
        assert each.key in WORDS["en"]
        assert each.name()
        assert not each.name().endswith(".")
        assert each.feedback().endswith(".")
        assert "{" not in each.name() + each.feedback()
        assert (each.joint is None) == ("{joint}" not in WORDS["en"][each.key][0])


def test_no_chapter_shows_a_key_where_there_is_a_name():
    for path in notebooks_in_toc():
        cells = nbformat.read(path, as_version=4).cells
        shown = json.dumps([cell.outputs for cell in cells if cell.cell_type == "code"])
        assert [key for key in WORDS["en"] if key in shown] == [], path.stem


@pytest.mark.parametrize("answer", [[-16.91, -1.995], [-16.9, -1.99], (-16.914, -1.9948), np.array([-16.9, -2.0])])
def test_gravity_added_is_recognised_as_a_person_writes_it(answer):
    found = diagnose(POINTS, *MOVING, answer)
    assert found.verdict == "known mistake"
    assert [each.key for each in found] == ["gravity_added", "potential_sign"]


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ([-30, -10, 0], ValueError, r"answer has the shape \(3,\); expected 2 numbers, one for each joint"),
        ([-30], ValueError, r"answer has the shape \(1,\); expected 2 numbers"),
        (-30, ValueError, r"answer has the shape \(\); expected 2 numbers, one for each joint, such as \[1.5, 3.0\]"),
        ([], ValueError, r"answer has the shape \(0,\)"),
        ([[-30, -10]], ValueError, r"answer has the shape \(1, 2\)"),
        ("-30, -10", TypeError, "answer is the text '-30, -10'; expected 2 numbers"),
        (["-30", "-10"], TypeError, "answer holds '-30'"),
        ([True, False], TypeError, "answer holds True"),
        ([1j, 2], TypeError, "answer holds 1j"),
        (None, TypeError, "answer holds None"),
        ([math.nan, 1], ValueError, "answer holds nan; expected finite numbers"),
        ([1, math.inf], ValueError, "answer holds inf"),
        (sympy.symbols("a b"), TypeError, "answer holds symbols; expected 2 numbers"),
    ],
)
def test_what_is_no_answer_is_refused(answer, error, message):
    with pytest.raises(error, match=message):
        diagnose(LEVEL, *RESTING, answer)


def test_other_questions_are_refused():
    with pytest.raises(TypeError, match="system is 'ur5'; expected a Robot or a Mechanism"):
        diagnose("ur5", *RESTING, [1, 2])
    with pytest.raises(ValueError, match="planar 2R holds symbols; give them numbers with subs"):
        diagnose(robots.planar_2r(), *RESTING, [1, 2])
    with pytest.raises(TypeError, match="unknown load 'wrenches'; planar 2R takes tip_force, tip_moment, loads, base"):
        diagnose(LEVEL, *RESTING, [1, 2], wrenches=[])
    with pytest.raises(TypeError, match="unknown load 'steps'"):
        diagnose(LEVEL, *RESTING, [1, 2], steps=newton_euler.Steps())
    with pytest.raises(TypeError, match="unknown load 'tip_force'; four-bar takes loads"):
        diagnose(BARS, BARS.positions([0.5], mode=[1]), [0], [0], [20], tip_force=[0, 0, 0])
    with pytest.raises(ValueError, match=r"q, dq and ddq hold \(3,\) states; an answer belongs to one state"):
        diagnose(LEVEL, [[0, 0]] * 3, [0, 0], [0, 0], [[30, 10]] * 3)
    with pytest.raises(ValueError, match=r"answer has the shape \(3,\); expected 2 numbers, one for each input"):
        diagnose(LEGS, AT, *MOVE, [1, 2, 3])
    with pytest.raises(ValueError, match="q has 3 entries"):
        diagnose(LEVEL, [0, 0, 0], [0, 0], [0, 0], [1, 2])


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ([30, 10], "right"),
        ([30.0, 10.0], "right"),
        ([Fraction(30), sympy.Integer(10)], "right"),
        ([30.04, 10], "not recognised"),
        ([30.4, 10], "not recognised"),
        ([30, 10.04], "not recognised"),
        ([30, 10.4], "not recognised"),
        ([-30, -10], "known mistake"),
        ([30, -10], "sign or unit"),
        ([-30, 10], "sign or unit"),
        ([30e3, 10e3], "sign or unit"),
        ([0.03, 0.01], "sign or unit"),
        ([31, 12], "not recognised"),
        ([10, 30], "sign or unit"),
        ([29.4, 9.8], "sign or unit"),
        ([29.43, 9.81], "sign or unit"),
        ([29.5, 9.83], "not recognised"),
        ([0, 10], "not recognised"),
        ([0, 0], "known mistake"),
        ([60, 20], "known mistake"),
    ],
)
def test_verdicts(answer, verdict):
    assert diagnose(LEVEL, *RESTING, answer).verdict == verdict


@pytest.mark.parametrize(
    ("right", "answer", "accepted"),
    [
        (-16.9133, -16.91, True),  # the digits given decide
        (-16.9151, -16.91, False),
        (-16.9049, -16.91, False),
        (-16.9133, -16.9, True),
        (-16.9133, -16.92, False),
        (-16.9133, -17, "coarse"),  # two digits are few
        (1234.5, 1230, True),  # zeros before the point may be rounded
        (1234.5, 1240, False),
        (1234.5, 1234, True),
        (1234.5, 1233, False),
        (1200.4, 1200, True),
        (1195.4, 1200, True),
        (1194.0, 1200, "coarse"),
        (1149.0, 1200, False),
        (5.0049, 5, True),  # 5.00 looks like 5
        (5.0051, 5, "coarse"),
        (5.0501, 5, False),
        (0.0012345, 0.00123, True),
        (0.0012345, 0.00124, False),
        (1 / 3, 1 / 3, True),  # as many digits as a computer has
        (1 / 3, 0.333, True),
        (1 / 3, 0.3334, False),
    ],
)
def test_an_answer_is_read_to_its_digits(right, answer, accepted):
    mass = replace(LEVEL, links=[replace(LEVEL.links[0], body=Body(abs(right) / 10, [1, 0, 0]))])
    upright = replace(mass, gravity=[0, -math.copysign(10, right), 0])
    found = diagnose(upright, [0], [0], [0], answer)  # one number stands for one joint
    assert (found.verdict == "right") == bool(accepted)
    assert ("too coarse to tell more" in repr(found)) == found.coarse == (accepted == "coarse") or not accepted
    wrong = diagnose(upright, [0], [0], [0], [-answer]).verdict
    assert wrong == ("known mistake" if accepted is True else "not recognised")


def test_entries_rounded_to_the_same_place():
    """16.9 and 2.0: the zero after the point is a digit that a float does not show."""
    right = newton_euler.inverse_dynamics(POINTS, *MOVING)
    for digits in (1, 2, 3, 8):
        assert diagnose(POINTS, *MOVING, right.round(digits)).verdict == "right"
    near = 16.9133, 1.9549
    masses = [(near[0] - 2 * near[1]) / 10, near[1] / 10]
    links = [replace(link, body=Body(m, [1, 0, 0])) for link, m in zip(LEVEL.links, masses, strict=True)]
    arm = replace(LEVEL, links=links)
    assert newton_euler.inverse_dynamics(arm, *RESTING) == pytest.approx(near)
    for answer in ([16.9, 2.0], [16.91, 1.95], [16.913, 1.955], [16.9, 1.95], [16.9, 1.9549]):
        assert diagnose(arm, *RESTING, answer).verdict == "right"
    for answer in ([16.9, 1.9], [16.91, 2.0], [18, 2], [16.8, 2.0], [16.913, 1.953]):
        assert diagnose(arm, *RESTING, answer).verdict == "not recognised"


@pytest.mark.parametrize("turn", np.radians([0, 90, -90, 180, -180, 270, 360]))
@pytest.mark.parametrize("convention", ["modified", "standard"])
def test_a_zero_that_is_rounding_is_zero(turn, convention):
    """Hanging, upright or horizontal, by typed angles: 6e-17 is 0, in the right answer and in the wrong one."""
    rows = [dict(a=0.5 if convention == "standard" else 0, mass=2), dict(a=0.5, mass=1, com=[0.2, 0, 0])]
    arm = Robot.from_dh(rows, convention=convention, gravity=[0, -9.81, 0])
    for second in (0, math.pi / 2, math.pi, -math.pi):
        motion = [turn, second], [0, 0], [0, 0]
        right = newton_euler.inverse_dynamics(arm, *motion)
        exact = np.where(np.abs(right) < 1e-12, 0, right)
        for digits in (3, 4, 6):
            assert diagnose(arm, *motion, to_digits(exact, digits)).verdict == "right"
            assert diagnose(arm, *motion, to_digits(right, digits)).verdict == "right"
        if exact.any():
            assert "gravity_added" in [each.key for each in diagnose(arm, *motion, to_digits(-exact, 3))]
            assert diagnose(arm, *motion, np.where(exact == 0, 0.1, exact)).verdict == (
                "not recognised" if (exact == 0).any() else "right"
            )


def test_an_arm_that_needs_nothing():
    flat = replace(LEVEL, gravity=[0, 0, -10], base=[[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    flat = replace(flat, gravity=flat.base[:3, 2] * -10 + 1e-16)
    assert diagnose(flat, [0.3, math.pi], [0, 0], [0, 0], [0, 0]).verdict == "right"
    assert diagnose(flat, [0.3, math.pi], [0, 0], [0, 0], [0.001, 0]).verdict == "not recognised"


def test_mistakes_that_give_the_same_number_are_both_named():
    found = diagnose(LEVEL, *RESTING, [0, 0])
    assert {"gravity_omitted", "thousandth"} & {each.key for each in found} == {"gravity_omitted"}
    weightless = replace(POINTS, gravity=[0, 0, 0])
    turning = [0.3, 0.7], [1, 0], [0, 0]  # only joint 1 turns: all that moves is the centripetal term of the elbow
    wrong = ALL["centripetal_missing"].torques(weightless, *turning)
    assert np.abs(wrong).max() < 1e-15
    named = {each.key for each in diagnose(weightless, *turning, wrong)}
    assert {"centripetal_missing", "kinetic_slope_dropped"} <= named
    for key in named & set(ALL):
        assert np.abs(ALL[key].torques(weightless, *turning) - wrong).max() < 1e-12


def test_a_mistake_that_changes_nothing_here_is_none():
    for motion in (RESTING, ([0.3, 0.7], [0, 0], [0, 0])):
        found = diagnose(POINTS, *motion, newton_euler.inverse_dynamics(POINTS, *motion).round(3))
        assert (found.verdict, found.found) == ("right", ())


@pytest.mark.parametrize("key", ["column_differentiated", "axis_held_still", "centripetal_missing", "coriolis_missing"])
def test_at_rest_only_gravity_and_data_can_go_wrong(key):
    rest = [0.5, 1.0], [0, 0], [0, 0]
    assert check.same(ALL[key].torques(RODS, *rest), newton_euler.inverse_dynamics(RODS, *rest))


# ---- Signs and units -------------------------------------------------------------------------------


def planar_points(q, dq, ddq):
    """Torques of the arm of point masses, typed from A5.2.6-26 and -27."""
    l1, l2, m1, m2, g = 0.5, 0.4, 2, 1, 9.81
    (a, b), (da, db), (dda, ddb) = q, dq, ddq
    c, s = math.cos(b), math.sin(b)
    n2 = m2 * l2 * (l2 * (dda + ddb) + l1 * dda * c + l1 * da**2 * s + g * math.cos(a + b))
    n1 = n2 + (m1 + m2) * l1 * (l1 * dda + g * math.cos(a))
    return np.array([n1 + m2 * l1 * l2 * ((dda + ddb) * c - (da + db) ** 2 * s), n2])


SLIPPED = {
    "thousandfold": 1000 * planar_points(*MOVING),
    "thousandth": planar_points(*MOVING) / 1000,
    "all_signs": -planar_points(*MOVING),
    "sines_of_degrees": planar_points(np.radians(MOVING[0]), *MOVING[1:]),
    "angles_in_degrees": planar_points(np.degrees(MOVING[0]), *MOVING[1:]),
    "rates_in_degrees": planar_points(MOVING[0], *np.degrees(MOVING[1:])),
    "from_the_tip": planar_points(*MOVING)[::-1],
}


@pytest.mark.parametrize("key", SLIPPED)
def test_right_but_for_a_sign_or_a_unit(key):
    assert SLIPS[key].torques(POINTS, *MOVING) == pytest.approx(SLIPPED[key], rel=1e-12)
    found = diagnose(POINTS, *MOVING, to_digits(SLIPPED[key], 3))
    assert (found.verdict, [each.key for each in found]) == ("sign or unit", [key])


@pytest.mark.parametrize(("g", "size"), [(9.81, 9.8), (9.81, 10), (9.8, 9.81), (9.8, 10), (10, 9.81), (9.80665, 9.81)])
def test_right_but_for_the_value_of_g(g, size):
    arm, other = (robots.planar_2r(L1=0.5, L2=0.4, m1=2, m2=1, g=each) for each in (g, size))
    found = diagnose(arm, *MOVING, newton_euler.inverse_dynamics(other, *MOVING).round(4))
    assert (found.verdict, [each.name() for each in found]) == ("sign or unit", [f"g = {size:g} m/s²"])
    bars = [BARS.with_gravity([0, -each, 0]) for each in (g, size)]
    q = BARS.positions([0.5], mode=[1])
    found = diagnose(bars[0], q, [2], [1], closed_chains.inverse_dynamics(bars[1], q, [2], [1]).round(4))
    assert [each.name() for each in found] == [f"g = {size:g} m/s²"]


def test_the_value_of_g_is_no_slip_elsewhere():
    for gravity in ([0, 0, 0], [0, -1.62, 0]):
        with pytest.raises(NotHere, match="gravity of planar 2R is"):
            SLIPS["gravity_10"].torques(replace(POINTS, gravity=gravity), *MOVING)


def test_one_sign():
    right = planar_points(*MOVING)
    for joint in (1, 2):
        answer = right * np.where(np.arange(1, 3) == joint, -1, 1)
        found = diagnose(POINTS, *MOVING, answer.round(2))
        assert (found.verdict, keys(found)) == ("sign or unit", {("sign_at", joint)})
        assert f"number {joint}" in repr(found)
    with pytest.raises(NotHere, match="planar 2R has no torque number 3"):
        SLIPS_AT["sign_at"](3).arm(POINTS, *MOVING)


def test_sliding_joints_know_no_degrees():
    rail = robots.rp(I1=0.4, m1=2, m2=1.5, g=9.81)
    motion = [0.5, 1.2], [2.0, -3.0], [1.0, 0.5]
    in_degrees = [math.degrees(0.5), 1.2], [math.degrees(2.0), -3.0], [math.degrees(1.0), 0.5]
    for key, (q, dq, ddq) in {
        "angles_in_degrees": (in_degrees[0], *motion[1:]),
        "rates_in_degrees": (motion[0], *in_degrees[1:]),
    }.items():
        expected = newton_euler.inverse_dynamics(rail, q, dq, ddq)
        assert SLIPS[key].torques(rail, *motion) == pytest.approx(expected, rel=1e-12)
    crank = linkages.slider_crank(crank=0.3, rod=0.8, masses=[1, 2, 3])
    q = crank.positions([0.9], (1,))
    expected = closed_chains.inverse_dynamics(crank, q, [math.degrees(2.0)], [math.degrees(-1.0)])
    found = diagnose(crank, q, [2.0], [-1.0], to_digits(expected, 4))
    assert (found.verdict, [each.key for each in found]) == ("sign or unit", ["rates_in_degrees"])


# ---- How it reads ----------------------------------------------------------------------------------


def test_feedback_fits_the_page():
    assert repr(diagnose(POINTS, *MOVING, [16.9, 5.43])).startswith("Not recognised")
    for each in [*EVERY, *SLIPS.values(), SLIPS_AT["sign_at"](2)]:
        for found in ((each,), (each, ALL["gravity_added"])):
            lines = Diagnosis("known mistake", found).feedback().splitlines()
            assert max(map(len, lines)) <= 84
            assert lines[0].startswith("A known mistake:")
            assert each.feedback() in " ".join(line.strip() for line in lines)
    assert repr(diagnose(LEVEL, *RESTING, [30, 10])) == "Right."
    both = repr(diagnose(POINTS, *MOVING, [-16.9, -1.99]))
    assert both.startswith("A known mistake: These give the same numbers here:\n- gravity added instead of subtracted.")
    assert "\n- potential energy with the wrong sign. " in both
    assert "\n  " in both


def test_an_answer_with_few_digits_is_asked_for_more():
    for answer in ([31, 12], [3, 1], [31.0, 12.0]):
        assert "Give three significant digits or more" in repr(diagnose(LEVEL, *RESTING, answer))
    for answer in ([30, 10], [-30, -10]):  # right, and a mistake that coarse numbers also allow
        found = diagnose(LEVEL, *RESTING, answer)
        assert ("digits" in repr(found)) == (found.verdict != "right")
    for answer in ([31.4, 12], [0, 10.4]):
        assert "digits" not in repr(diagnose(LEVEL, *RESTING, answer))


def test_a_right_answer_with_few_digits_is_not_called_a_mistake():
    bars = linkages.four_bar(
        ground=0.4, crank=0.15, coupler=0.35, rocker=0.3, masses=[0.5, 1, 0.8], gravity=[0, -9.81, 0]
    )
    state = bars.positions([1.0], [1]), [5.0], [10.0]
    assert closed_chains.inverse_dynamics(bars, *state) == pytest.approx([1.04757], abs=5e-6)
    for answer in ([1.0], 1, [1.05], [1.0476]):
        assert diagnose(bars, *state, answer).verdict == "right"
    assert "too coarse to tell more: give three significant digits" in " ".join(repr(diagnose(bars, *state, 1)).split())
    for answer in (1.1, 0.9, 2, -1):
        assert diagnose(bars, *state, answer).verdict != "right"
        assert "right answer that is rounded" in " ".join(repr(diagnose(bars, *state, answer)).split())


# ---- Random arms and linkages ----------------------------------------------------------------------

MEASURED = 0.03  # a mistake shows if it changes a torque by this part of the largest


def some(mistakes, seed):
    """Return four mistakes; to ask for all of them takes long."""
    return [mistakes[k] for k in np.random.default_rng(seed).choice(len(mistakes), 4, replace=False)]


def telling(mistakes, system, motion, loads, right):
    """Yield the mistakes that can be made here and show, with their torques."""
    for each in mistakes:
        try:
            wrong = each.torques(system, *motion, **loads)
        except (NotHere, constraints.ClosureError, singular.SingularPosition):
            continue
        if np.abs(wrong - right).max() > MEASURED * np.abs(right).max():
            yield each, wrong


@hypothesis.settings(max_examples=12, derandomize=True, deadline=None, database=None)
@hypothesis.given(
    st.lists(st.sampled_from(["revolute", "prismatic"]), min_size=2, max_size=4),
    st.sampled_from(["standard", "modified", "poses"]),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_mistakes_on_random_arms_are_recognised(joints, reading, seed, loaded):
    arms = pytest.importorskip("arms", reason="Pinocchio has no wheel for this system")
    given = arms.Arm(tuple(joints), reading, seed, motors=loaded, payload=loaded)
    arm, motion = given.robot, given.motion()
    loads = {"loads": given.wrenches(2), "tip_force": [1.0, 2.0, -3.0]} if loaded else {}
    right = newton_euler.inverse_dynamics(arm, *motion, **loads)
    for digits in (3, 4, 6):
        assert diagnose(arm, *motion, to_digits(right, digits), **loads).verdict == "right"
        assert diagnose(arm, *motion, right.round(digits), **loads).verdict == "right"
    joints_of = range(1, arm.n + 1)
    mistakes = [*ALL.values(), *(make(joint) for make in AT_JOINT.values() for joint in joints_of)]
    for number, (each, wrong) in enumerate(telling(some(mistakes, seed), arm, motion, loads, right)):
        found = diagnose(arm, *motion, to_digits(wrong, 3 + number % 4), **loads)
        assert found.verdict == "known mistake"
        assert (each.key, each.joint) in keys(found)
        for other in found:
            assert check.same(other.torques(arm, *motion, **loads), wrong, tolerance=0.01)


@pytest.mark.parametrize("seed", [0, 2, 3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 30))])
def test_mistakes_on_random_linkages_are_recognised(seed):
    states = pytest.importorskip("linkages_at_random")
    state = states.random_state(seed)
    system, motion, loads = state.linkage, (state.q, state.du, state.ddu), {"loads": state.loads}
    right = closed_chains.inverse_dynamics(system, *motion, **loads)
    for digits in (3, 6):
        assert diagnose(system, *motion, to_digits(right, digits), **loads).verdict == "right"
    mistakes = [*ALL.values(), *(make(joint) for make in AT_JOINT.values() for joint in (1, 2))]
    for number, (each, wrong) in enumerate(telling(some(mistakes, seed), system, motion, loads, right)):
        found = diagnose(system, *motion, to_digits(wrong, 3 + number % 4), **loads)
        assert found.verdict == "known mistake"
        assert (each.key, each.joint) in keys(found)


@pytest.mark.parametrize("seed", range(12))
def test_wrong_numbers_are_no_known_mistake(seed):
    arms = pytest.importorskip("arms", reason="Pinocchio has no wheel for this system")
    rng = np.random.default_rng([seed, 7])
    arm, motion = arms.random_arm(rng, 3), arms.random_motion(rng, 3)
    right = newton_euler.inverse_dynamics(arm, *motion)
    for _ in range(3):
        answer = right * rng.uniform(-2, 3, 3)
        assert diagnose(arm, *motion, to_digits(answer, 3)).verdict == "not recognised"


# ---- Steps -----------------------------------------------------------------------------------------


def test_the_column_is_really_differentiated():
    """The replaced step must give d/dt of the components of v, for any arm."""
    from dynlib.acceleration import column_derivative

    arm = robots.free_link()
    q, dq, ddq = arm.motion_symbols()
    links = newton_euler.recursion(arm, q, dq, ddq, steps=ALL["column_differentiated"].steps())
    first = newton_euler.recursion(arm, q, dq, ddq)
    assert check.same(links[3].dv, column_derivative(first[3].v, q, dq, ddq))
    assert not check.same(links[4].dv_c, first[4].dv_c)


@pytest.mark.parametrize(
    ("key", "joint", "step", "shown", "gone"),
    [
        ("lever_of_force_missing", None, "n", "²n₂ = ²N₂ + ²₃R ³n₃", None),
        ("gravity_added", None, "f", "²₃R ³f₃ + m₂ ²g", None),
        ("gravity_omitted", None, "g", "²g = 0", None),
        ("lever_of_next_force_missing", None, "n", "²₃R ³n₃ - ²p_c₂", "²p₃"),
        ("lever_of_weight_missing", None, "n", "²p₃ × ²₃R ³f₃", "m₂"),
        ("centripetal_of_com_missing", None, "dv_c", "²v̇_c₂ = ²ω̇₂ × ²p_c₂ + ²v̇₂", "(²ω₂"),
        ("rotation_transposed_in_force", 3, "f", "³₂R ³f₃", "²₃R"),
        ("rotation_transposed_in_moment", 3, "n", "³₂R ³n₃", "²₃R"),
    ],
)
def test_the_wrong_step_prints_its_own_equation(key, joint, step, shown, gone):
    first, *_ = repr(
        derivation.derive(robots.planar_2r(), steps=mistake(key, joint).steps()).of(step, link=2)
    ).splitlines()
    assert shown in first
    assert gone is None or gone not in first


def test_a_wrong_step_at_one_joint_may_be_used_again():
    """Counting begins anew with every run, also after one that was broken off."""
    each = AT_JOINT["rotation_transposed_in_moment"](2)
    first = each.torques(RODS, *STATE)
    with pytest.raises(ValueError, match="link is 9; two rods has the links 1 to 2"):
        each.torques(RODS, *STATE, loads=[Wrench(force=[1, 0, 0], link=9, axes="link")])
    assert check.same(each.torques(RODS, *STATE), first)


# ---- Steps that are none ---------------------------------------------------------------------------


STEPS_OF_LEGS = linkages.three_legged(
    bases=[[0, 0], [0.7, 0], [0.3, 0.7]], lengths=[[0.4, 0.38], [0.3, 0.36], [0.28, 0.42]],
    masses=[[1, 1]] * 3, l_pc=0.1, m_pc=0.1,
)  # fmt: skip
Q = STEPS_OF_LEGS.positions([2.4, -2.6], (1, -1))
TWO = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
REST = [0.1, 0.2], [0, 0], [0, 0]
TAKE_STEPS = {
    "velocity": lambda steps: velocity.outward(TWO, *REST[:2], steps=steps),
    "acceleration": lambda steps: acceleration.outward(TWO, *REST, steps=steps),
    "recursion": lambda steps: newton_euler.recursion(TWO, *REST, steps=steps),
    "newton_euler": lambda steps: newton_euler.inverse_dynamics(TWO, *REST, steps=steps),
    "derivation": lambda steps: derivation.derive(robots.planar_2r(), steps=steps),
    "energies": lambda steps: lagrange.energies(TWO, *REST[:2], steps=steps),
    "of_robot": lambda steps: lagrange.of_robot(robots.planar_2r(), steps=steps),
    "lagrange": lambda steps: lagrange.torques(TWO, *REST, steps=steps),
    "gamma": lambda steps: velocities.gamma(STEPS_OF_LEGS, Q, steps=steps),
    "rates": lambda steps: velocities.rates(STEPS_OF_LEGS, Q, [0, 0], steps=steps),
    "accelerations": lambda steps: velocities.accelerations(STEPS_OF_LEGS, Q, [0, 0], [0, 0], steps=steps),
    "point_jacobian": lambda steps: velocities.point_jacobian(STEPS_OF_LEGS, Q, STEPS_OF_LEGS.P, steps=steps),
    "inverse": lambda steps: closed_chains.inverse_dynamics(STEPS_OF_LEGS, Q, [0, 0], [0, 0], steps=steps),
    "forward": lambda steps: closed_chains.forward_dynamics(STEPS_OF_LEGS, Q, [0, 0], [0, 0], steps=steps),
    "pin_forces": lambda steps: closed_chains.pin_forces(STEPS_OF_LEGS, Q, [0, 0], [0, 0], steps=steps),
    "three_legs": lambda steps: three_legs.torques(STEPS_OF_LEGS, Q, [0, 0], [0, 0], steps=steps),
}


@pytest.mark.parametrize("given", ["x", None, ALL["gravity_added"], newton_euler.Steps])
@pytest.mark.parametrize("function", TAKE_STEPS)
def test_steps_that_are_none_are_refused(function, given):
    with pytest.raises(
        TypeError, match=r"^steps is .*; expected a Steps\. Leave it out .* dataclasses.replace\([\w.]+.Steps"
    ):
        TAKE_STEPS[function](given)


@pytest.mark.parametrize(
    ("function", "given", "wanted"),
    [
        ("acceleration", velocity.Steps(), "acceleration"),
        ("recursion", acceleration.Steps(), "newton_euler"),
        ("newton_euler", lagrange.Steps(), "newton_euler"),
        ("lagrange", velocity.Steps(), "lagrange"),
        ("inverse", velocities.Steps(), "closed_chains"),
        ("three_legs", lagrange.Steps(), "linkages.three_legs"),
    ],
)
def test_steps_of_another_chapter_are_refused(function, given, wanted):
    with pytest.raises(TypeError, match=rf"^steps is .*; expected a Steps.*replace\({wanted}.Steps\(\)"):
        TAKE_STEPS[function](given)
