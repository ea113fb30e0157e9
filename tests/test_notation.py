"""Formulas: unique sums of sines and cosines, the documents' order and symbols, and plain text."""

import random

import pytest
import sympy

from dynlib import derivation, notation, robots
from dynlib.notation import latex, text, tidy

A, B, C, K = sympy.symbols("theta1 theta2 theta3 k")


@pytest.mark.parametrize("seed", range(30))
def test_tidy_keeps_the_value_and_is_unique(seed):
    rng = random.Random(seed)
    angles = [A, B, C, A + B, A - B, 2 * C - A, B + sympy.pi / 3]

    def term():
        waves = [rng.choice([sympy.sin, sympy.cos])(rng.choice(angles)) for _ in range(rng.randint(0, 4))]
        return sympy.Mul(rng.randint(-3, 3), K ** rng.randint(0, 2), *waves)

    expression = sum(term() for _ in range(4))
    point = {A: 0.3, B: 1.1, C: -0.7, K: 2.0}
    assert abs(float((tidy(expression) - expression).subs(point))) < 1e-12
    assert tidy(tidy(expression) - expression) == 0


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sympy.sin(A) ** 2 + sympy.cos(A) ** 2, 1),
        (sympy.sin(A) * sympy.cos(B) + sympy.cos(A) * sympy.sin(B), sympy.sin(A + B)),
        (sympy.sin(A - B) + sympy.sin(B - A), 0),
        (sympy.sin(A) / sympy.cos(A), sympy.sin(A) / sympy.cos(A)),  # a quotient is left alone
        (2, 2),
    ],
)
def test_tidy_of_known_forms(expression, expected):
    assert tidy(expression) == expected


@pytest.mark.parametrize(
    ("name", "tex", "plain"),
    [
        ("theta1", r"\theta_{1}", "θ₁"),
        ("dtheta1", r"\dot{\theta}_{1}", "θ̇₁"),
        ("ddtheta12", r"\ddot{\theta}_{12}", "θ̈₁₂"),
        ("d2", "d_{2}", "d₂"),
        ("dd2", r"\dot{d}_{2}", "ḋ₂"),
        ("ddd2", r"\ddot{d}_{2}", "d̈₂"),
        ("dphi1", r"\dot{\phi}_{1}", "φ̇₁"),
        ("L1", "L_{1}", "L₁"),
        ("m12", "m_{12}", "m₁₂"),
        ("g", "g", "g"),
        ("Ixx", "I_{xx}", "Iₓₓ"),
        ("c_2", "c_{2}", "c₂"),
        ("omega_2x", r"\omega_{2x}", "ω₂x"),
        ("domega_2y", r"\dot{\omega}_{2y}", "ω̇₂y"),
        ("dv_c12z", r"\dot{v}_{c12z}", "v̇_c12z"),
        ("cbar_2", r"\bar{c}_{2}", "c̄₂"),
        ("R_2xy", "R_{2xy}", "R₂xy"),
    ],
)
def test_names_of_symbols(name, tex, plain):
    assert latex(sympy.Symbol(name)) == tex
    assert text(tex) == plain


def test_order_of_factors_and_terms_is_that_of_the_document():
    m, g, L, ddt, dt = sympy.symbols("m2 g L2 ddtheta1 dtheta1")
    shown = text(latex(m * g * L * sympy.cos(A + B) + L * m * dt**2 * sympy.sin(B) + L**2 * ddt * m))
    assert shown == "m₂ L₂² θ̈₁ + m₂ L₂ θ̇₁² sθ₂ + m₂ g L₂ c(θ₁ + θ₂)"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, "0.5"),
        (-0.0, "0"),
        (1.5e-9, "1.5 · 10⁻⁹"),
        (sympy.Rational(-1, 2) * K, "-1/2 k"),
        (sympy.Rational("0.4318") * K, "0.4318 k"),
        (sympy.Rational("-0.06799999999999995"), "-0.068"),
        (sympy.Rational("1e-5") * K, "1 · 10⁻⁵ k"),
        (K * sympy.sign(A), "k sgn(θ₁)"),
        (K * sympy.sign(A) ** 2, "k sgn²(θ₁)"),
        (sympy.Rational(1, 3), "1/3"),
        (K / (A + 1), "k/(1 + θ₁)"),
        (-(K + A) * B, "-θ₂ (k + θ₁)"),
        (sympy.sqrt(K), "√k"),
        ([1, K], "[1, k]ᵀ"),
        ([[1, 0], [0, K]], "[1, 0; 0, k]"),
        (sympy.pi / 2, "1/2 π"),
    ],
)
def test_values_as_text(value, expected):
    assert text(latex(value)) == expected


@pytest.mark.parametrize("make", [robots.planar_2r, robots.rp])
def test_plain_text_has_no_tex_left(make):
    assert not set("\\{}") & set(repr(derivation.derive(make())))


def test_collect_rates_keeps_the_value():
    expression = sympy.expand((K + 1) * (sympy.Symbol("dtheta1") + sympy.Symbol("dtheta2")) ** 2 * sympy.sin(A))
    assert sympy.expand(notation.collect_rates(expression) - expression) == 0
    assert notation.collect_rates(expression).count_ops() < expression.count_ops()
