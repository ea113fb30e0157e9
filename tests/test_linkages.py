"""Closed forms of linkages: modes, reach, and the numbers that the makers put into the chains."""

from itertools import product

import mpmath
import numpy as np
import pytest
import sympy
from linkages_at_random import (
    DIGITS,
    KINDS,
    ByHand,
    OutOfReachError,
    difference,
    for_seeds,
    random_sketch,
    random_state,
)

from dynlib import closed_chains, linkages
from dynlib.closed_chains import ClosureError, gap
from dynlib.linkages import five_bar, four_bar, slider_crank, three_legged, two_link_angles
from dynlib.model import Body, Point
from dynlib.velocity import Wrench

LEGS = three_legged(
    bases=[[0, 0], [0.5, 0], [0.3, 0.55]],
    lengths=[[0.3, 0.35], [0.25, 0.3], [0.25, 0.3]],
    masses=[[1, 0.8], [1.2, 0.9], [1.1, 0.7]],
    l_pc=0.15,
    m_pc=0.4,
)
FIVE_BAR = five_bar(bases=[[0, 0], [1, 0]], lengths=[[0.2, 0.9], [0.25, 1]], masses=[[1, 1], [1, 1]])
FOUR_BAR = four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[1, 2, 3])
ENGINE = slider_crank(crank=0.5, rod=2, offset=0.3, masses=[1, 2, 3])


def left_of(A, B, point):
    """Return +1 if a point lies on the left of the line from A to B, and -1 on its right."""
    (x, y), (px, py) = np.subtract(B, A), np.subtract(point, A)
    return int(np.sign(x * py - y * px))


def points_of(linkage, q):
    """Return the origins of the links and the tip of each chain in the plane."""
    places = [[*range(1, chain.n + 1), None] for chain in linkage.chains]
    return [
        [closed_chains.pose(linkage, q, Point(number, link))[:2, 3] for link in links]
        for number, links in enumerate(places, start=1)
    ]


# ---- Assembly modes --------------------------------------------------------------------------------


def test_the_arm_with_three_legs_has_four_modes_and_each_is_where_it_says():
    modes = LEGS.assembly_modes([2.5, -1.5])
    assert set(modes) == set(product((1, -1), repeat=2))
    for (at_C, at_elbow), q in modes.items():
        assert q[[2, 4]].tolist() == [2.5, -1.5]
        assert np.abs(gap(LEGS, q)).max() < 1e-14
        (O1, B1, C), (_, B2, _), (_, B3, _) = points_of(LEGS, q)
        assert left_of(B2, B3, C) == at_C
        assert left_of(O1, C, B1) == at_elbow
    places = np.array(list(modes.values()))
    assert min(np.abs(a - b).max() for i, a in enumerate(places) for b in places[:i]) > 0.1


@pytest.mark.parametrize("side", [1, -1])
def test_modes_of_the_others_are_where_they_say(side):
    q = FIVE_BAR.positions([2.0, 1.0], [side])
    (_, B1, P), (_, B2, _) = points_of(FIVE_BAR, q)
    assert left_of(B1, B2, P) == side
    q = FOUR_BAR.positions([2.0], [side])
    (_, B, C), (D, _) = points_of(FOUR_BAR, q)
    assert left_of(B, D, C) == side
    q = ENGINE.positions([2.0], [side])
    (_, B, C), _ = points_of(ENGINE, q)
    assert left_of(B, B + np.array([0, 1]), C) == side
    assert (C[0] < B[0]) == (side == 1)
    assert C[0] == q[2]


@for_seeds(15)
def test_random_linkages_close_in_all_modes_as_by_hand(seed):
    rng = np.random.default_rng(seed)
    sketch = random_sketch(rng, KINDS[seed % 4])
    u = rng.uniform(-3, 3, len(sketch.inputs))
    try:
        linkage = sketch.linkage
    except ClosureError:
        return
    found = linkage.assembly_modes(u)
    for mode in product((1, -1), repeat=len(linkage.assembly_sides)):
        try:
            with mpmath.workdps(DIGITS):
                expected = ByHand(sketch, mode).coordinates([mpmath.mpf(float(value)) for value in u])
        except OutOfReachError:
            assert mode not in found
        else:
            assert np.abs(found[mode] - np.array(expected, dtype=float)).max() < 1e-11
            assert np.abs(gap(linkage, found[mode])).max() < 1e-14
            assert all(condition.margin > 0 for condition in linkage.conditions(u, mode))


@pytest.mark.parametrize(
    ("linkage", "u"),
    [(LEGS, [2.5, -1.5]), (FIVE_BAR, [2.0, 1.0]), (FOUR_BAR, [2.0]), (ENGINE, [2.0])],
    ids=["legs", "five-bar", "four-bar", "slider-crank"],
)
def test_a_batch_is_its_single_calls(linkage, u):
    inputs = np.random.default_rng(0).uniform(-0.04, 0.04, (3, 4, len(u))) + u
    for mode in product((1, -1), repeat=len(linkage.assembly_sides)):
        together = linkage.positions(inputs, mode)
        assert together.shape == (3, 4, linkage.n)
        assert np.abs(gap(linkage, together)).max() < 1e-13
        for index in np.ndindex(3, 4):
            assert (together[index] == linkage.positions(inputs[index], mode)).all()
    width = 2 if linkage.m == 2 else 1
    wanted = together[..., -1:] if width == 1 else closed_chains.pose(linkage, together, linkage.output)[..., :2, 3]
    mode = next(iter(linkage.working_modes(wanted[0, 0])))
    back = linkage.working_position(wanted, mode)
    assert back.shape == (3, 4, linkage.n)
    assert difference(back[2, 3], linkage.working_position(wanted[2, 3], mode)) < 1e-15


def test_conditions_say_how_far_it_is_to_the_end_of_reach():
    (condition,) = FIVE_BAR.conditions([[0, 0], [np.pi, 0]], [1])  # the elbows are 1.05 and 1.45 m apart
    assert condition.low == pytest.approx([0.95, 1.35])
    assert condition.high == pytest.approx([0.85, 0.45])
    assert condition.margin == pytest.approx([0.85, 0.45])


# ---- Out of reach ----------------------------------------------------------------------------------

TALL = [[0, 0], [3, 0]]


def test_errors_of_reach_name_the_condition_and_the_distance():
    short = five_bar(bases=TALL, lengths=[[1, 0.8], [1, 1]], masses=[[1, 1], [1, 1]])
    message = (
        r"five-bar does not close for the inputs \[3.14.*, 0.0\]: \|l12 - l22\| <= \|B1 B2\| <= l12 \+ l22 does not"
    )
    with pytest.raises(
        ClosureError, match=message + " hold here, so the links cannot meet: the distance is too long by 3.2 m."
    ) as e:
        short.positions([np.pi, 0], [1])
    assert e.value.gap == pytest.approx(3.2)
    near = five_bar(bases=[[0, 0], [0.1, 0]], lengths=[[1, 0.8], [1, 1]], masses=[[1, 1], [1, 1]])
    with pytest.raises(ClosureError, match="too short by 0.1 m"):
        near.positions([0, 0], [1])
    with pytest.raises(ClosureError, match=r"\|coupler - rocker\| <= the distance from the crank's end .* by 0.5 m"):
        four_bar(ground=4, crank=1, coupler=2.5, rocker=2, masses=[1, 1, 1]).positions([[0], [np.pi]], [1])
    message = "height of the crank's end over the slider's line <= rod does not hold .* too long by 0.5 m"
    with pytest.raises(ClosureError, match=message):
        slider_crank(crank=1, rod=0.5, masses=[1, 1, 1]).positions([np.pi / 2], [1])


def test_both_conditions_of_three_legs_are_named():
    with pytest.raises(
        ClosureError, match=r"\|l22 - l32\| <= \|B2 B3\| <= l22 \+ l32 does not hold here, so the links cannot meet"
    ):
        LEGS.positions([0, np.pi], (1, 1))
    arm = three_legged(
        bases=[[0, 0], [1.3, 0], [1.0, 0.9]],
        lengths=[[0.1, 0.2], [0.5, 0.6], [0.5, 0.6]],
        masses=[[1, 1]] * 3,
        l_pc=0,
        m_pc=0,
    )
    with pytest.raises(ClosureError, match=r"\|l11 - l12\| <= \|O1 C\| <= l11 \+ l12 does not hold"):
        arm.positions([np.pi, np.pi], (1, 1))
    assert arm.assembly_modes([np.pi, np.pi]) == {}


def test_modes_that_exist_are_listed_and_no_others():
    arm = three_legged(  # chain 1 reaches one of the two places of C
        bases=[[0, 0], [1, 0], [1, 1]],
        lengths=[[0.4, 0.5], [0.3, 0.6], [0.3, 0.6]],
        masses=[[1, 1]] * 3,
        l_pc=0,
        m_pc=0,
    )
    modes = arm.assembly_modes([np.pi / 2, -np.pi / 2])
    assert set(modes) == {(1, 1), (1, -1)}


@pytest.mark.parametrize("mode", [(1,), (1, 0), (1, 1, 1), (2, 1), ()])
def test_modes_that_do_not_exist_are_refused(mode):
    with pytest.raises(
        ValueError,
        match="does not exist; expected 2 sides, each .1 .left. or -1 .right.: C of the line from B2 to B3; ",
    ):
        LEGS.positions([2.5, -1.5], mode)
    with pytest.raises(ValueError, match=r"expected 3 sides"):
        LEGS.working_position([0.3, 0.3], (0, *mode))


def test_modes_in_words():
    assert LEGS.describe((1, -1)) == (
        "C of the line from B2 to B3 on the left, elbow B1 of the line from O1 to C on the right"
    )
    assert FOUR_BAR.describe((-1,), working=True).endswith("on the right")


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="inputs has 1 entries; three-legged arm has 2 inputs"):
        LEGS.positions([1], (1, 1))
    with pytest.raises(ValueError, match="output has 1 entries; three-legged arm needs 2"):
        LEGS.working_position([1], (1, 1, 1))
    with pytest.raises(ValueError, match="output has 2 entries; four-bar needs 1"):
        FOUR_BAR.working_position([1, 1], (1,))
    with pytest.raises(ValueError, match="masses"):
        five_bar(bases=TALL, lengths=[[1, 1], [1, 1]], masses=[1, 1])
    with pytest.raises(ValueError, match="lengths"):
        three_legged(lengths=[[1, 1]])
    with pytest.raises(ValueError, match='end is "?\'ball\'"?; expected "rod"'):
        three_legged(end="ball")


# ---- At the very end of reach ----------------------------------------------------------------------


@pytest.mark.parametrize("length", [1.0, 0.1, 1 / 3, 7e3, 1e-4])
@pytest.mark.filterwarnings("ignore::dynlib.hints.Hint")  # 7 km are meant
def test_where_circles_touch_the_modes_are_one(length):
    l = length
    bars = five_bar(bases=[[0, 0], [2.5 * l, 0]], lengths=[[l, 0.7 * l], [l, 1.8 * l]], masses=[[1, 1], [1, 1]])
    folded = five_bar(bases=[[0, 0], [1.1 * l, 0]], lengths=[[l, 0.7 * l], [l, 1.8 * l]], masses=[[1, 1], [1, 1]])
    for linkage in (bars, folded):
        modes = linkage.assembly_modes([np.pi / 3, np.pi / 3])
        assert set(modes) == {(1,), (-1,)}
        assert (modes[1,] == modes[-1,]).all()
        assert np.abs(gap(linkage, modes[1,])).max() < 1e-10 * l
        assert np.sin(modes[1,][1] + modes[1,][0]) == pytest.approx(0, abs=1e-10)
    engine = slider_crank(crank=l, rod=0.5 * l, offset=0.5 * l, masses=[1, 1, 1])
    modes = engine.assembly_modes([np.pi / 2])
    assert (modes[1,] == modes[-1,]).all()
    assert modes[1,][2] == pytest.approx(0, abs=1e-10 * l)


@for_seeds(15)
def test_stretched_links_reach_their_end_in_any_direction(seed):
    rng = np.random.default_rng(seed)
    l1, l2, angle = *rng.uniform(0.1, 2, 2), rng.uniform(-np.pi, np.pi)
    for reach, bend in ((l1 + l2, 0), (abs(l1 - l2), np.pi)):
        end = reach * np.array([np.cos(angle), np.sin(angle)])
        both = [two_link_angles(l1, l2, end, side) for side in (1, -1)]
        assert (both[0] == both[1]).all()
        assert np.cos(both[0][1] - bend) == pytest.approx(1, abs=1e-14)
    with pytest.raises(ClosureError, match="too long by"):
        two_link_angles(l1, l2, end / reach * (l1 + l2) * (1 + 1e-9), 1)


def test_circles_about_one_point_do_not_meet():
    same = five_bar(bases=[[0, 0], [1, 0]], lengths=[[1, 1], [1, 1]], masses=[[1, 1], [1, 1]])
    with pytest.raises(ClosureError, match="does not hold"):  # both elbows at (0.5, 0.866): P may be anywhere around
        same.positions([np.pi / 3, 2 * np.pi / 3], [1])
    with pytest.raises(ClosureError, match="the target is the base itself"):
        two_link_angles(1, 1, [0, 0], 1)


# ---- Lengths that never close ----------------------------------------------------------------------


@pytest.mark.parametrize("long", ["ground", "crank", "coupler", "rocker"])
def test_a_four_bar_with_one_bar_too_long_is_refused(long):
    bars = {"ground": 1, "crank": 1, "coupler": 1, "rocker": 1}
    with pytest.raises(ClosureError, match=f"four-bar closes for no crank angle: the {long}, 3.1 m, .* together, 3 m"):
        four_bar(**bars | {long: 3.1}, masses=[1, 1, 1])
    assert four_bar(**bars | {long: 3}, masses=[1, 1, 1]).m == 1


def test_a_slider_crank_that_does_not_reach_its_line_is_refused():
    with pytest.raises(ClosureError, match="closes for no crank angle: offset -1.6 m, crank and rod together 1.5 m"):
        slider_crank(crank=1, rod=0.5, offset=-1.6, masses=[1, 1, 1])
    assert slider_crank(crank=1, rod=0.5, offset=1.5, masses=[1, 1, 1]).positions([np.pi / 2], [1])[2] == pytest.approx(
        0
    )


# ---- Working modes ---------------------------------------------------------------------------------


def test_all_working_modes_of_three_legs_reach_P():
    arm = three_legged(
        bases=[[0, 0], [0.5, 0], [0.3, 0.55]], lengths=[[0.3, 0.4]] * 3, masses=[[1, 1]] * 3, l_pc=0.15, m_pc=0.4
    )
    wanted = [0.35, 0.3]
    modes = arm.working_modes(wanted)
    assert set(modes) == set(product((1, -1), repeat=3))
    for sides, q in modes.items():
        assert np.abs(gap(arm, q)).max() < 1e-14
        assert closed_chains.pose(arm, q, arm.P)[:2, 3] == pytest.approx(wanted, abs=1e-14)
        (O1, B1, _), (O2, B2, C), (O3, B3, _) = points_of(arm, q)
        assert (left_of(O1, wanted, B1), left_of(O2, C, B2), left_of(O3, C, B3)) == sides
        there = arm.assembly_modes(q[arm.u])
        assert min(np.abs(np.exp(1j * each) - np.exp(1j * q)).max() for each in there.values()) < 1e-12


@for_seeds(8)
def test_working_modes_lead_back_to_the_position_they_came_from(seed):
    state = random_state(seed)
    linkage, q = state.linkage, state.q
    reached = closed_chains.pose(linkage, q, linkage.output)[:2, 3]
    wanted = reached if linkage.m == 2 else q[-1:]
    modes = linkage.working_modes(wanted)
    turned = [np.abs(np.exp(1j * each) - np.exp(1j * q)).max() for each in modes.values()]
    assert min(turned) < 1e-7
    for found in modes.values():
        assert closed_chains.pose(linkage, found, linkage.output)[:2, 3] == pytest.approx(reached, abs=1e-12)
        assert np.abs(gap(linkage, found)).max() < 1e-13


def test_errors_of_reach_of_working_positions():
    with pytest.raises(
        ClosureError, match=r"for the output \[2.0, 0.0\]: .* for chain 1, does not hold .* long by 1.2 m"
    ):
        LEGS.working_position([2, 0], (1, 1, 1))  # 0.3 + 0.35 + 0.15
    with pytest.raises(ClosureError, match=r"distance of its end from O2 <= l21 \+ l22, for chain 2, does not hold"):
        LEGS.working_position([-0.79, 0], (1, 1, 1))
    with pytest.raises(ClosureError, match="for chain 1, does not hold"):
        ENGINE.working_position([2.6], (1,))
    assert LEGS.working_modes([2, 0]) == {}


@pytest.mark.parametrize("side", [1, -1])
def test_two_links_reach_a_point(side):
    targets = np.random.default_rng(0).uniform(-0.25, 0.25, (4, 5, 2)) + np.array([0.4, 0.1])
    first, second = np.moveaxis(two_link_angles(0.5, 0.4, targets, side), -1, 0)
    assert 0.5 * np.cos(first) + 0.4 * np.cos(first + second) == pytest.approx(targets[..., 0], abs=1e-14)
    assert 0.5 * np.sin(first) + 0.4 * np.sin(first + second) == pytest.approx(targets[..., 1], abs=1e-14)
    assert (np.sign(second) == -side).all()


def test_two_links_out_of_reach():
    with pytest.raises(ClosureError, match=r"the chain does not close for the target \[1.0, 0.0\].* too long by 0.5 m"):
        two_link_angles(0.3, 0.2, [1, 0], 1)
    with pytest.raises(ValueError, match="l2 is -0.2 m; expected more than 0"):
        two_link_angles(0.3, -0.2, [1, 0], 1)
    with pytest.raises(ValueError, match="side is 0; expected .1"):
        two_link_angles(0.3, 0.2, [0.4, 0], 0)


# ---- Symbols ---------------------------------------------------------------------------------------


def made_of_symbols(kind):
    S = sympy.symbols
    if kind == "three legs":
        return three_legged(gravity=[0, -S("g"), 0])
    if kind == "five-bar":
        return five_bar(bases=[[0, 0], S("x y")], lengths=[S("a b"), S("c d")], masses=[S("m1 m2"), S("m3 m4")])
    if kind == "four-bar":
        return four_bar(ground=S("a"), crank=S("b"), coupler=S("c"), rocker=S("d"), masses=S("m1:4"))
    return slider_crank(crank=S("a"), rod=S("b"), offset=S("c"), masses=S("m1:4"))


SIZES = {"three legs": (LEGS, [2.5, -1.5]), "five-bar": (FIVE_BAR, [2.0, 1.0]), "four-bar": (FOUR_BAR, [2.0])}
SIZES["slider-crank"] = ENGINE, [2.0]
LETTERS = {
    "three legs": {"x20": 0.5, "y20": 0.0, "x30": 0.3, "y30": 0.55, "l_pc": 0.15, "l11": 0.3, "l12": 0.35}
    | dict.fromkeys(("l21", "l31"), 0.25)
    | dict.fromkeys(("l22", "l32"), 0.3),
    "five-bar": {"x": 1.0, "y": 0.0, "a": 0.2, "b": 0.9, "c": 0.25, "d": 1.0},
    "four-bar": {"a": 4.0, "b": 1.0, "c": 3.5, "d": 2.5},
    "slider-crank": {"a": 0.5, "b": 2.0, "c": 0.3},
}


def put_in(formulas, values, symbols, numbers):
    """Return what formulas are with numbers for the letters in them."""
    evaluate = sympy.lambdify([*values, *symbols], list(formulas), "math", cse=True)
    return np.array(evaluate(*values.values(), *numbers))


@pytest.mark.parametrize("kind", KINDS)
def test_symbols_at_numbers_equal_numbers(kind):
    exact, (numbers, u), values = made_of_symbols(kind), SIZES[kind], LETTERS[kind]
    inputs = sympy.symbols("u1:3")[: len(u)]
    for mode in product((1, -1), repeat=len(exact.assembly_sides)):
        found = put_in(exact.positions(inputs, mode), values, inputs, u)
        turned = np.exp(1j * found) - np.exp(1j * numbers.positions(u, mode))
        assert np.abs(turned).max() < 1e-13


@pytest.mark.parametrize("kind", KINDS)
def test_working_positions_of_symbols_at_numbers_equal_numbers(kind):
    exact, (numbers, u), values = made_of_symbols(kind), SIZES[kind], LETTERS[kind]
    q = next(iter(numbers.assembly_modes(u).values()))
    wanted = q[-1:] if numbers.m == 1 else closed_chains.pose(numbers, q, numbers.output)[:2, 3]
    output = sympy.symbols("p1:3")[: len(wanted)]
    for mode, expected in list(numbers.working_modes(wanted).items())[:2]:
        symbolic = exact.working_position(output, mode)
        found = put_in(symbolic, values, output, wanted)
        assert np.abs(np.exp(1j * found) - np.exp(1j * expected)).max() < 1e-7


def test_two_links_of_symbols():
    l1, l2, x, y = sympy.symbols("l1 l2 x y")
    found = two_link_angles(l1, l2, [x, y], 1)
    values = {l1: 0.5, l2: 0.4, x: 0.3, y: 0.6}
    expected = two_link_angles(0.5, 0.4, [0.3, 0.6], 1)
    assert [float(entry.subs(values)) for entry in found] == pytest.approx(expected, abs=1e-14)


# ---- What the makers put in ------------------------------------------------------------------------


def test_symbols_of_the_document():
    arm = three_legged()
    assert set(map(str, arm.symbols)) == {
        *(f"{letter}{i}{j}" for letter in "lmI" for i in (1, 2, 3) for j in (1, 2)),
        *("x20", "y20", "x30", "y30", "l_pc", "m_pc"),
    }
    assert [arm.joint_name(k) for k in arm.u] == ["joint 1 of chain 2", "joint 1 of chain 3"]
    assert arm.P.at[0] == sympy.Symbol("l_pc")
    numbers = arm.subs({str(symbol): 0.5 for symbol in arm.symbols} | {"I11": 1.0, "I21": 1.0, "I31": 1.0})
    assert float(numbers.P.at[0]) == 0.5
    assert not numbers.is_symbolic


def test_inertias_are_about_the_base_pin_and_about_the_mass_centre():
    arm = three_legged(
        bases=[[0, 0], [1, 0], [0, 1]],
        lengths=[[2, 4]] * 3,
        masses=[[3, 5]] * 3,
        inertias=[[7, 11]] * 3,
        l_pc=6,
        m_pc=2,
    )
    first, second = (link.body for link in arm.chains[1].links)
    assert first.inertia[2, 2] == 7 - 3 * 1**2
    assert (second.inertia[2, 2], second.com[0]) == (11, 2)
    assert (arm.chains[0].payload.com[0], arm.chains[0].payload.inertia[2, 2]) == (3, 2 * 6**2 / 12)
    assert arm.chains[1].payload is None
    uniform = three_legged(bases=[[0, 0]] * 3, lengths=[[2, 4]] * 3, masses=[[3, 5]] * 3, l_pc=6, m_pc=2, end="point")
    assert [link.inertia[2, 2] for link in uniform.chains[2].links] == [3 * 4 / 12, 5 * 16 / 12]
    assert (uniform.chains[0].payload.com[0], uniform.chains[0].payload.inertia[2, 2]) == (6, 0)


def test_rods_are_uniform():
    half, whole = Body.rod(1, 0.5), Body.rod(2, 1)
    moved = np.eye(4)
    moved[0, 3] = 0.5
    assert difference((half + half.moved(moved)).inertia, whole.inertia) < 1e-15
    m, l = sympy.symbols("m l")
    assert Body.rod(m, l).inertia[2, 2] == m * l**2 / 12
    assert Body.rod(m, l).com[0] == l / 2


@for_seeds(12)
def test_the_chains_hold_the_rods_that_were_asked_for(seed):
    sketch = random_sketch(np.random.default_rng(seed), KINDS[seed % 4], uniform=True)
    masses = [[body[0] for body in chain] for chain in sketch.bodies]
    try:
        if sketch.kind == "three legs":
            made = three_legged(bases=sketch.bases, lengths=sketch.lengths, masses=masses, l_pc=1, m_pc=0)
        elif sketch.kind == "five-bar":
            made = five_bar(bases=sketch.bases, lengths=sketch.lengths, masses=masses)
        elif sketch.kind == "four-bar":
            (crank, coupler), (rocker,) = sketch.lengths
            sizes = {"ground": sketch.bases[1][0], "crank": crank, "coupler": coupler, "rocker": rocker}
            made = four_bar(**sizes, masses=[*masses[0], *masses[1]])
        else:
            crank, rod = sketch.lengths[0]
            made = slider_crank(crank=crank, rod=rod, offset=sketch.bases[1][1], masses=[*masses[0], *masses[1]])
    except ClosureError:
        return
    for chain, base, bodies in zip(made.chains, sketch.bases, sketch.bodies, strict=True):
        assert chain.base[:2, 3].tolist() == pytest.approx(base)
        for link, (mass, along, across, about) in zip(chain.links, bodies, strict=True):
            assert link.mass == mass
            assert link.com == pytest.approx([along, across, 0])
            assert link.inertia[2, 2] == pytest.approx(about)


def test_circles_meet_knows_left_from_right():
    A, B = np.array([0.0, 0.0]), np.array([2.0, 0.0])
    assert linkages.circles_meet(A, np.array(1.0), B, np.array(np.sqrt(3)), 1) == pytest.approx([0.5, np.sqrt(0.75)])
    assert linkages.circles_meet(A, np.array(1.0), B, np.array(np.sqrt(3)), -1)[1] < 0


# ---- Data that no linkage can have -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: four_bar(ground=2, crank=-1, coupler=2, rocker=1, masses=[1, 1, 1]), "crank holds the length -1 m"),
        (lambda: four_bar(ground=2, crank=1, coupler=0, rocker=1, masses=[1, 1, 1]), "coupler holds the length 0 m"),
        (lambda: slider_crank(crank=1, rod=-2, masses=[1, 1, 1]), "rod holds the length -2 m; expected more than 0"),
        (
            lambda: five_bar(bases=[[0, 0], [1, 0]], lengths=[[1, 1], [1, -1]], masses=[[1, 1]] * 2),
            "lengths holds the length -1 m",
        ),
        (
            lambda: three_legged(LEGS_BASES, [[1, 1]] * 3, [[1, 1]] * 3, l_pc=-0.1, m_pc=1),
            "l_pc holds the length -0.1 m; expected at least 0",
        ),
    ],
)
def test_lengths_are_positive(make, message):
    with pytest.raises(ValueError, match=message):
        make()


LEGS_BASES = [[0, 0], [1, 0], [0, 1]]


def test_whole_numbers_go_with_symbols():
    m = sympy.Symbol("m")
    bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[m, m, m])
    assert bars.symbols == (m,)
    assert bars.chains[0].links[0].inertia[2, 2] == m / 12


def test_inputs_of_ten_turns_get_a_hint_at_degrees():
    with pytest.warns(UserWarning, match="joint 1 of chain 1 is at 90 rad, more than ten turns"):
        five_bar(bases=[[0, 0], [0.1, 0]], lengths=[[1, 1]] * 2, masses=[[1, 1]] * 2).positions([90, 1.4], [1])


def test_conditions_need_numbers():
    with pytest.raises(ValueError, match="conditions computes with floats, and three-legged arm is exact .symbols I11"):
        three_legged().conditions([0, 0], (1, 1))


def test_linkages_that_close_nowhere():
    with pytest.raises(
        ClosureError, match="closes for no inputs: of chains 1 and 2 the distance of their bases, 1 m, is"
    ):
        five_bar(bases=[[0, 0], [1, 0]], lengths=[[0.1, 0.1]] * 2, masses=[[1, 1]] * 2)
    with pytest.raises(ClosureError, match="of chains 1 and 3 the longest link, 5 m, is longer than the rest together"):
        three_legged(LEGS_BASES, [[1, 1], [1, 1], [5, 1]], [[1, 1]] * 3, l_pc=0.1, m_pc=1)


def test_what_was_left_out_is_named():
    with pytest.raises(TypeError, match="Symbols stand for what was left out: masses, m_pc."):
        three_legged(LEGS_BASES, [[1.5, 1]] * 3, l_pc=0.1)
    with pytest.raises(TypeError, match=r"mode is 1; expected a list, such as .1., of 1 side, each"):
        FOUR_BAR.positions([0.5], 1)


def test_a_payload_sits_at_p():
    light, heavy = (
        five_bar(bases=[[0, 0], [1, 0]], lengths=[[1, 1]] * 2, masses=[[0, 0]] * 2, payload=m, gravity=[0, -10, 0])
        for m in (0, 2)
    )
    assert light.chains[0].payload is None
    q = heavy.positions([np.pi / 2, np.pi / 2], [1])
    pushed = Wrench.at(light.output, force=[0, -20, 0])
    assert closed_chains.inverse_dynamics(heavy, q, [0, 0], [0, 0]) == pytest.approx(
        closed_chains.inverse_dynamics(light, q, [0, 0], [0, 0], loads=[pushed])
    )
