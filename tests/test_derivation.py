"""The printed derivation is a view of what was computed."""

import re
from dataclasses import fields

import numpy as np
import pytest

from dynlib import derivation, newton_euler, notation, robots
from dynlib.equation import Equation, equation
from tools import appendices

ARM = robots.planar_2r()


def test_every_printed_value_is_the_field_of_the_record():
    records = newton_euler.recursion(ARM, *ARM.motion_symbols())
    steps = list(derivation.derive(ARM))
    assert len(steps) == 2 * (len(fields(newton_euler.Steps)) - 1)  # no motors
    for step in steps:
        assert np.all(step.value == getattr(records[step.link - 1], step.equation.quantity))


def test_every_field_of_the_record_is_printed():
    printed = {step.equation.quantity for step in derivation.derive(ARM)}
    assert printed | {"f_e", "n_e", "tau_m"} == {field.name for field in fields(newton_euler.LinkForces)}


def test_a_replaced_step_prints_its_own_equation_and_value():
    @equation("F", "{}^{i}F_{i}", "2 m_{i}", "wrong on purpose")
    def wrong(m, dv_c):
        return 2 * dv_c * m

    steps = newton_euler.Steps(resultant_force=wrong)
    shown = repr(derivation.derive(ARM, steps=steps).of("F", link=1))
    assert "wrong on purpose" in shown
    assert "2 m₁ L₁ θ̈₁" in shown


def test_order_is_that_of_the_document():
    shown = [(step.equation.quantity, step.link) for step in derivation.derive(ARM)]
    assert shown[:4] == [("T", 1), ("T", 2), ("omega", 1), ("omega", 2)]
    assert shown[-6:] == [("f", 2), ("f", 1), ("n", 2), ("n", 1), ("tau", 1), ("tau", 2)]


def test_a_prismatic_joint_shows_only_its_own_terms():
    step = repr(derivation.derive(robots.rp()).of("dv", link=2))
    assert "ḋ₂ ²ẑ₂" in step
    assert "θ̇₂" not in step


@pytest.mark.parametrize("make", [robots.planar_2r, robots.rp])
def test_sources_are_numbers_of_the_registry(make):
    registry = appendices.load_registry()
    known = {each.number for each in registry.equations} | {each.id for each in registry.errata}
    for step in derivation.derive(make()):
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
        derivation.derive(arm, [0.1, 0.1238], [0, 0], [0, 0]).of("tau", link=2)
    )


def test_bad_requests():
    derived = derivation.derive(ARM)
    with pytest.raises(ValueError, match="the derivation has no quantity 'w'; it has F, N, T, domega"):
        derived.of("w")
    with pytest.raises(ValueError, match="the derivation has no link 3; it has 1 to 2"):
        derived.of(link=3)
    with pytest.raises(ValueError, match=r"one state; the state is a batch of shape \(3,\)"):
        derivation.derive(robots.planar_2r(1, 1, 1, 1, 10), np.zeros((3, 2)), [0, 0], [0, 0])


def test_show_writes_text_and_tex():
    shown = derivation.show(r"\tau_1", ARM.pose(ARM.motion_symbols()[0]))
    assert shown._repr_markdown_().startswith("$$\n\\tau_1 = \\begin{bmatrix} \\mathrm{c}(")
    assert notation.text(r"\tau_1") == "τ₁"
