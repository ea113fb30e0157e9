"""The printed derivation is a view of what was computed."""

import re
import time
from dataclasses import fields

import numpy as np
import pytest
import sympy

from dynlib import newton_euler, robots
from dynlib.algebra import Equation, notation
from dynlib.algebra.equation import equation
from dynlib.derivation import Derivation, derive, show, size
from dynlib.model import Motor, Robot
from dynlib.velocity import Wrench
from tools import appendices

ARM = robots.planar_2r()


def test_every_printed_value_is_the_field_of_the_record():
    records = newton_euler.recursion(ARM, *ARM.motion_symbols())
    steps = list(derive(ARM))
    assert len(steps) == 2 * (len(fields(newton_euler.Steps)) - 1)  # no motors
    for step in steps:
        assert np.all(step.value == getattr(records[step.link - 1], step.equation.quantity))


def test_every_field_of_the_record_is_printed():
    printed = {step.equation.quantity for step in derive(ARM)}
    assert printed | {"f_e", "n_e", "tau_m"} == {field.name for field in fields(newton_euler.LinkForces)}


def test_a_replaced_step_prints_its_own_equation_and_value():
    @equation("F", "{}^{i}F_{i}", "2 m_{i}", "wrong on purpose")
    def wrong(m, dv_c):
        return 2 * dv_c * m

    steps = newton_euler.Steps(resultant_force=wrong)
    shown = repr(derive(ARM, steps=steps).of("F", link=1))
    assert "wrong on purpose" in shown
    assert "2 m₁ L₁ θ̈₁" in shown


def test_order_is_that_of_the_document():
    shown = [(step.equation.quantity, step.link) for step in derive(ARM)]
    assert shown[:4] == [("T", 1), ("T", 2), ("omega", 1), ("omega", 2)]
    assert shown[-6:] == [("f", 2), ("f", 1), ("n", 2), ("n", 1), ("tau", 1), ("tau", 2)]


def test_a_prismatic_joint_shows_only_its_own_terms():
    step = repr(derive(robots.rp()).of("dv", link=2))
    assert "ḋ₂ ²ẑ₂" in step
    assert "θ̇₂" not in step


@pytest.mark.parametrize("make", [robots.planar_2r, robots.rp])
def test_sources_are_numbers_of_the_registry(make):
    registry = appendices.load_registry()
    known = {each.number for each in registry.equations} | {each.id for each in registry.errata}
    for step in derive(make()):
        source = step.equation.number(step.joint)
        first, *others = re.split(", ", source)
        numbers = [first, *(first.rsplit("-", 1)[0] + other for other in others)]
        assert set(numbers) <= known


@pytest.mark.parametrize("name", [field.name for field in fields(newton_euler.Steps)])
@pytest.mark.parametrize("joint", ["revolute", "prismatic"])
def test_tex_of_every_step_is_balanced_and_has_no_index_left(name, joint):
    step: Equation = getattr(newton_euler.Steps(), name)
    for side in step.sides(2, joint):
        assert side.count("{") == side.count("}")
        assert side.count(r"\left") == side.count(r"\right")
        assert not re.search(r"\{i", side)


def test_numbers_are_printed_with_six_digits():
    arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
    assert "τ₂ = ²n₂ᵀ ²ẑ₂    (A5.2.5-2)\n   = 9.56535" in repr(
        derive(arm, [0.1, 0.1238], [0, 0], [0, 0]).of("tau", link=2)
    )


def test_bad_requests():
    derived = derive(ARM)
    with pytest.raises(ValueError, match="the derivation has no quantity 'w'; it has F, N, T, domega"):
        derived.of("w")
    with pytest.raises(ValueError, match="the derivation has no link 3; it has 1 to 2"):
        derived.of(link=3)
    with pytest.raises(ValueError, match=r"one state; the state is a batch of shape \(3,\)"):
        derive(robots.planar_2r(1, 1, 1, 1, 10), np.zeros((3, 2)), [0, 0], [0, 0])


def test_show_writes_text_and_tex():
    shown = show(r"\tau_1", ARM.pose(ARM.motion_symbols()[0]))
    assert shown._repr_markdown_().startswith("$$\n\\tau_1 = \\begin{bmatrix} \\mathrm{c}(")
    assert notation.text(r"\tau_1") == "τ₁"


def general_arm(joints: int) -> Robot:
    """An arm of revolute joints with every number of its DH table, masses and full inertias as symbols."""
    rows = []
    for i in range(1, joints + 1):
        inertia = [[sympy.Symbol(f"I{i}" + "".join(sorted(row + column))) for column in "xyz"] for row in "xyz"]
        a, alpha, d, m = sympy.symbols(f"a{i - 1} alpha{i - 1} h{i} m{i}")
        com = sympy.symbols(f"x_{i} y_{i} z_{i}")
        rows.append(dict(a=a, alpha=alpha, d=d, mass=m, com=com, inertia=inertia))
    return Robot.from_dh(rows, convention="modified", gravity=sympy.symbols("gx gy gz"), name=f"general {joints}R")


NAMED = {
    "2R": ARM,
    "RP": robots.rp(),
    "motor": Robot.from_dh(
        [dict(mass=1), dict(a=sympy.Symbol("L"), mass=1, motor=Motor(sympy.Symbol("J"), 3, sympy.Symbol("B")))],
        convention="modified",
        gravity=[0, -sympy.Symbol("g"), 0],
    ),
}


@pytest.mark.parametrize("arm", NAMED.values(), ids=NAMED)
def test_names_put_back_give_the_ordinary_recursion(arm):
    named = list(derive(arm, named=True))
    for step, ordinary in zip(named, derive(arm), strict=True):
        assert (step.link, step.equation) == (ordinary.link, ordinary.equation)
        back = Derivation(tuple(named)).without_names(step.value)
        for entry, wanted in zip(back.flat, ordinary.value.flat, strict=True):
            assert notation.tidy(entry) == notation.tidy(wanted)


@pytest.mark.parametrize("arm", [*NAMED.values(), general_arm(3)], ids=[*NAMED, "general 3R"])
def test_values_with_names_hold_single_symbols_and_numbers_only(arm):
    for step in derive(arm, named=True):
        for entry in step.value.flat:
            assert entry.is_number or entry.is_Symbol or (-entry).is_Symbol


@pytest.mark.parametrize("arm", [*NAMED.values(), general_arm(6)], ids=[*NAMED, "general 6R"])
def test_a_name_stands_only_for_names_before_it(arm):
    derived = derive(arm, named=True)
    lines = [(name, meaning) for step in derived for name, meaning in step.names.items()]
    names = [name for name, _ in lines]
    assert len(set(names)) == len(names) == len(derived.names)
    later = set(names)
    for name, meaning in lines:
        assert not meaning.free_symbols & later
        later.remove(name)


def test_names_of_a_general_arm_of_six_joints_have_the_values_of_its_recursion():
    arm, rng = general_arm(6), np.random.default_rng(3)
    derived = derive(arm, named=True)
    numbers = {str(symbol): float(rng.uniform(0.5, 1.5)) for symbol in arm.symbols}
    numbers |= {name: value + 3 for name, value in numbers.items() if name[-2:] in ("xx", "yy", "zz")}  # real bodies
    state = rng.uniform(-2, 2, (3, 6))
    point = {sympy.Symbol(name): value for name, value in numbers.items()}
    for symbols, values in zip(arm.motion_symbols(), state, strict=True):
        point |= dict(zip(symbols, map(float, values), strict=True))
    for name, meaning in derived.names.items():
        point[name] = float(meaning.xreplace(point))
    records = newton_euler.recursion(arm.subs(numbers), *state)
    for step in derived:
        found = [float(entry.xreplace(point)) for entry in step.value.flat]
        expected = getattr(records[step.link - 1], step.equation.quantity)
        assert found == pytest.approx(expected.ravel().tolist(), rel=1e-9, abs=1e-9)


def test_an_arm_of_seven_joints_is_derived_with_names_in_seconds_and_in_short_lines():
    start = time.perf_counter()
    derived = derive(general_arm(7), named=True)
    lines = repr(derived).splitlines()
    assert time.perf_counter() - start < 5
    assert len(derived.names) < 300
    assert derived.operations < 4000
    assert max(map(len, lines)) < 300


def test_what_is_too_long_is_measured_instead_of_written_out():
    arm = general_arm(6)
    start = time.perf_counter()
    tau = newton_euler.inverse_dynamics(arm, *arm.motion_symbols())
    shown = repr(show(r"\tau_1", tau[0]))
    assert time.perf_counter() - start < 5
    assert re.fullmatch(r"τ₁ = up to [\d,]{9,} terms, too long to be shown: see derive\(.*named=True\).*", shown)
    assert size.count_operations(tau[0]) > 10_000_000
    assert "too long" not in repr(derive(ARM))


@pytest.mark.parametrize("expression", ["(a + b)**3", "sin(a)*(cos(b) + sin(a)*b)", "a/(b + 1)", "sin(a)**2*cos(b)**2"])
def test_count_of_terms_is_not_less_than_what_is_written_out(expression):
    a, b = sympy.symbols("a b")
    read = sympy.lambdify([a, b], expression, modules="sympy")(a, b)
    assert size._count_written_terms(read) >= len(sympy.Add.make_args(notation.tidy(read)))


def test_names_of_numbers_are_not_needed():
    arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    derived = derive(arm, [0.1, 0.2], [0, 0], [0, 0], named=True)
    assert derived.names == {}
    assert repr(derived) == repr(derive(arm, [0.1, 0.2], [0, 0], [0, 0]))


@pytest.mark.parametrize(("taken", "barred"), [("c_2", "c̄₂"), ("c2", "c̄₂"), ("v_2x", "v̄₂x"), ("F_1x", "F̄₁x")])
def test_a_name_that_looks_like_a_symbol_of_the_arm_gets_a_bar(taken, barred):
    symbol = sympy.Symbol(taken)
    force = [Wrench([symbol, 0, 0], axes="tip")]
    for arm, loads in ((ARM.subs({"L1": symbol}), []), (ARM, force)):
        derived = derive(arm, loads=loads, named=True)
        assert barred in [notation.text(notation.latex(name)) for name in derived.names]
        assert symbol not in derived.names
        tau = derived.of("tau", link=1).steps[0].value.item()
        wanted = newton_euler.inverse_dynamics(arm, *arm.motion_symbols(), loads=loads)[0]
        assert notation.tidy(derived.without_names(tau) - wanted) == 0


def test_a_replaced_step_is_named_too():
    @equation("F", "{}^{i}F_{i}", "2 m_{i}", "wrong on purpose")
    def wrong(m, dv_c):
        return 2 * dv_c * m

    steps = newton_euler.Steps(resultant_force=wrong)
    derived = derive(ARM, steps=steps, named=True).of("F", link=1)
    assert repr(derived).startswith("¹F₁ = 2 m₁    (wrong on purpose)\n    = [F₁x, F₁y, 0]ᵀ\n  F₁x = 2 m₁ v̇_c1x")


def test_no_tex_is_left_in_the_text_of_a_derivation():
    for arm in (ARM, robots.rp(), general_arm(4)):
        assert not re.search(r"[\\{}&$]", repr(derive(arm, named=True)))


def test_an_arm_of_floats_needs_no_preparation():
    arm = robots.planar_2r(L1=0.8, L2=0.6, m1=3, m2=2, g=9.81)
    assert "(1.92 θ̈₁ + 0.96 θ̈₂) cθ₂" in repr(derive(arm).of("tau", link=1))
