"""Formulas: unique sums of sines and cosines, the documents' order and symbols, and plain text."""

import itertools
import random
import re
import string
import unicodedata

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from latex2mathml.converter import convert
from lxml import etree

from dynlib import check, derivation, robots
from dynlib.algebra import notation
from dynlib.algebra.notation import SymbolError, check_names, latex, printable, text, tidy
from dynlib.model import Body, Link, Mechanism, Robot

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
        ("dphi1", r"\dot{\phi}_{1}", "ϕ̇₁"),
        ("L1", "L_{1}", "L₁"),
        ("m12", "m_{12}", "m₁₂"),
        ("g", "g", "g"),
        ("Ixx", "I_{xx}", "Iₓₓ"),
        ("c_2", "c_{2}", "c₂"),
        ("omega_2x", r"\omega_{2x}", "ω₂x"),
        ("domega_2y", r"\dot{\omega}_{2y}", "ω̇₂y"),
        ("dv_c12z", r"\dot{v}_{c12z}", "v̇_c12z"),
        ("cbar_2", r"\bar{c}_{2}", "c̄₂"),
        ("cbarbar_2", r"\bar{\bar{c}}_{2}", "c̄̄₂"),
        ("domegabar_2x", r"\dot{\bar{\omega}}_{2x}", "ω̄̇₂x"),
        ("R_2xy", "R_{2xy}", "R₂xy"),
        ("tau_m2", r"\tau_{m2}", "τₘ₂"),
        ("lambda", r"\lambda", "λ"),
        ("rho_12", r"\rho_{12}", "ρ₁₂"),
        ("Omega", r"\Omega", "Ω"),
        ("Lambda3", r"\Lambda_{3}", "Λ₃"),
        ("Alpha", r"\mathrm{A}", "A"),
        ("omicron", "o", "o"),
        ("phi", r"\phi", "ϕ"),
        ("varphi", r"\varphi", "φ"),
        ("epsilon", r"\epsilon", "ϵ"),
        ("varepsilon", r"\varepsilon", "ε"),
        ("vartheta2", r"\vartheta_{2}", "ϑ₂"),
        ("ell1", r"\ell_{1}", "ℓ₁"),
        ("θ1", r"\theta_{1}", "θ₁"),
        ("Ω", r"\Omega", "Ω"),
        ("load", r"\mathrm{load}", "load"),
        ("mass", r"\mathrm{mass}", "mass"),
        ("lc1", r"\mathrm{lc}_{1}", "lc₁"),
        ("mL2", r"\mathrm{mL}_{2}", "mL₂"),
        ("thetadot", r"\mathrm{thetadot}", "thetadot"),
        ("alphabeta", r"\mathrm{alphabeta}", "alphabeta"),
        ("pi", r"\mathrm{pi}", "pi"),  # a datum, not the number
        ("pi1", r"\pi_{1}", "π₁"),
        ("m_load", r"m_{\mathrm{load}}", "m_load"),
        ("load_2", r"\mathrm{load}_{2}", "load₂"),
        ("k_alpha", r"k_{\alpha}", "k_α"),
        ("m_pc", "m_{pc}", "m_pc"),
        ("m_max_2", r"m_{\mathrm{max},2}", "m_max,2"),
        ("I_xx", "I_{xx}", "Iₓₓ"),
        ("I_xy", "I_{xy}", "I_xy"),
        ("Ixx2", "I_{xx2}", "Iₓₓ₂"),
        ("I1xy", "I_{1xy}", "I₁xy"),
        ("gx", "g_{x}", "gₓ"),
        ("p2y", "p_{2y}", "p₂y"),
        ("xy", r"\mathrm{xy}", "xy"),
        ("oxy", r"\mathrm{oxy}", "oxy"),
        ("da", r"\mathrm{da}", "da"),
        ("dda", r"\mathrm{dda}", "dda"),
        ("L2dot", r"\mathrm{L2dot}", "L2dot"),
        ("xhat", r"\mathrm{xhat}", "xhat"),
        ("m_", r"\mathrm{m\_}", "m_"),
        ("_m", r"\mathrm{\_m}", "_m"),
        ("m__1", r"\mathrm{m\_\_1}", "m__1"),
        ("x^2", r"\mathrm{x\wedge 2}", "x^2"),
        ("a_{b}$<script>", r"\mathrm{a\_\lbrace b\rbrace \${<}script{>}}", "a_{b}$<script>"),
        (r"\input{x}", r"\mathrm{\backslash input\lbrace x\rbrace }", r"\input{x}"),
        (r"\theta", r"\mathrm{\backslash theta}", r"\theta"),
        ("a|b*c`d&e#f%g~h", r"\mathrm{a\vert b\ast c\grave{}d\&e\#f\%g\sim h}", "a|b*c`d&e#f%g~h"),
        ("m 1", r"\mathrm{m\ 1}", "m 1"),
        ("a\nb", r"\mathrm{a\backslash nb}", r"a\nb"),
        ("\x1b[31m", r"\mathrm{\backslash x1b[31m}", r"\x1b[31m"),
        ("a\u202eb", r"\mathrm{a\backslash u202eb}", r"a\u202eb"),
        ("é1", r"\mathrm{\text{é}1}", "é1"),
    ],
)
def test_names_of_symbols(name, tex, plain):
    assert latex(sympy.Symbol(name)) == tex
    assert text(tex) == plain


GREEK = [
    unicodedata.name(chr(code)).split()[-1].lower().replace("lamda", "lambda")
    for code in range(0x3B1, 0x3CA)
    if "FINAL" not in unicodedata.name(chr(code))
]
INDICES = ["", "1", "12", "_1", "_xy", "_c2x", "_pc", "_max", "_alpha", "_1_2"]


def test_every_greek_letter_is_a_letter():
    assert len(GREEK) == 24
    for name in GREEK:
        small, capital = (text(latex(sympy.Symbol(each))) for each in (name, name.capitalize()))
        assert len(latex(sympy.Symbol(name)).removeprefix("\\")) in (1, len(name)) or name == "pi"
        assert len(capital) == 1
        assert len(small) == 1 or name == "pi"


def test_a_name_is_never_cut_within_a_word():
    """Whatever the index: the word stands whole, or is one letter."""
    words = [*GREEK, "load", "mass", "arm", "lc", "Jm", "rotor", "dam", "zeta", "ss", "tip", "q", "M"]
    for word, index in itertools.product(words, INDICES):
        tex = latex(sympy.Symbol(word + index))
        head = tex.split("_")[0]
        assert head in (word, rf"\mathrm{{{word}}}", f"\\{word}", "o"), (word, index, tex)


def test_only_rates_of_coordinates_have_dots():
    for name in ["L2dot", "da", "dda", "dL1", "ddm", "dload", "ddot", "dot", "dI", "ddr2", "qddot1", "xdot", "d_1"]:
        assert "dot{" not in latex(sympy.Symbol(name)), name
    for name in ["dtheta1", "ddq12", "dx", "ddd3", "dvarphi2", "dd"]:
        assert latex(sympy.Symbol(name)).startswith((r"\dot{", r"\ddot{")), name


NAMES = st.one_of(
    st.text(alphabet="mdq_12xyzI", min_size=1, max_size=6),
    st.text(min_size=1, max_size=6),
    st.text(alphabet="\\{}_^$&%#~*|`<>'\" ab1", min_size=1, max_size=6),
    st.builds(lambda word, index: word + index, st.sampled_from(GREEK), st.sampled_from(INDICES)),
    st.builds(
        lambda word, index: word + index, st.sampled_from(string.ascii_letters + "θΩφϕο"), st.sampled_from(INDICES)
    ),
)


@settings(max_examples=400, deadline=None)
@given(names=st.lists(NAMES, min_size=2, max_size=6, unique=True))
def test_two_names_of_one_arm_never_print_alike(names):
    """An arm has both names and shows them apart, or is refused with the reason."""
    motion = sympy.symbols("theta1 dtheta1 ddtheta1")
    try:
        check_names(map(sympy.Symbol, names), motion)
    except SymbolError:
        return
    symbols = [*map(sympy.Symbol, names), *motion]
    for view in (latex, lambda symbol: text(latex(symbol))):
        assert len({view(symbol) for symbol in symbols}) == len(symbols)


@settings(max_examples=300, deadline=None)
@given(name=NAMES)
def test_the_print_of_a_name_cannot_leave_its_formula(name):
    tex = latex(sympy.Symbol(name))
    letters = re.sub(r"\\(?:[A-Za-z]+|.)", "", tex)  # what is neither a command nor escaped
    assert not set("\\$&#%~^|*`\n\r") & set(letters)
    assert not re.search(r"<[A-Za-z/!?]", tex)
    depths = list(itertools.accumulate({"{": 1, "}": -1}.get(letter, 0) for letter in letters))
    assert min(depths, default=0) >= 0
    assert not depths or depths[-1] == 0
    assert tex.isprintable()
    assert set(re.findall(r"\\([A-Za-z]+)", tex)) <= {
        "mathrm", "text", "dot", "ddot", "bar", "backslash", "lbrace", "rbrace", "wedge", "sim", "vert", "ast", "grave",
        "prime", "ell", *GREEK, *map(str.capitalize, GREEK), *("var" + each for each in GREEK),
    }  # fmt: skip
    tags = {etree.QName(each).localname for each in etree.fromstring(convert(tex)).iter()}
    assert tags <= {"math", "mrow", "mi", "mn", "mo", "mtext", "mover", "msub"}


@pytest.mark.parametrize("name", [r"a\b", "a{b", "a}b", "a_b_", "x^2", "a&b", "a b", "<b>", "é", "θθ", "|*`"])
@pytest.mark.parametrize(
    ("value", "times"),
    [
        (lambda x: x, 1),
        (lambda x: [x, 1], 1),
        (lambda x: [[x, 1], [1, 2 * x]], 2),
        (lambda x: sympy.Symbol("u") * x / sympy.Symbol("v"), 1),
        (lambda x: (x + 1) / x**2, 2),
        (lambda x: sympy.sqrt(x), 1),
        (lambda x: sympy.sin(x), 1),
    ],
)
def test_odd_names_are_whole_in_text_wherever_they_stand(name, value, times):
    shown = text(latex(value(sympy.Symbol(name))))
    assert shown.count(name) == times
    assert not set("\\{}") & set(shown.replace(name, ""))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("m1 m_1", "the symbol m_1 is printed as m₁, and so is m1, another symbol; call one otherwise"),
        ("A Alpha", "the symbol Alpha is printed as A, and so is A, another symbol"),
        ("lambda2 λ2", "the symbol λ2 is printed as λ₂, and so is lambda2"),
        ("dx m", "the symbol dx is printed as the rate ẋ; call the datum otherwise, such as dx_0"),
        ("dd1 m", "the symbol dd1 is printed as the rate ḋ₁"),
        ("theta_1 m", "the symbol theta_1 is printed as θ₁, and so is theta1, another symbol"),
        ("theta1 m", "the symbol theta1 names a joint value, rate or acceleration of this arm; call the datum"),
        ("ddtheta1 m", "the symbol ddtheta1 names a joint value"),
    ],
)
def test_data_that_look_like_something_else_are_refused(data, message):
    first, second = sympy.symbols(data)
    body = Body(first, [second, 0, 0])
    with pytest.raises(SymbolError, match=message):
        Robot([Link("revolute", sympy.eye(4), body)], gravity=[0, 0, 0])
    with pytest.raises(SymbolError):
        Robot.from_dh([dict(a=second, mass=first)], convention="standard", gravity=[0, 0, 0])


def test_data_of_a_mechanism_that_look_like_its_joint_values_are_refused():
    arm = Robot([Link("revolute", sympy.eye(4), Body(sympy.Symbol("theta11")))], gravity=[0, 0, 0])
    with pytest.raises(SymbolError, match="theta11 names a joint value"):
        Mechanism([arm], [], inputs=[(1, 1)])


def test_symbols_that_steer_a_terminal_are_printed_as_text():
    red, turned = sympy.symbols(["\x1b[31m", "a\u202eb"], cls=sympy.Symbol)
    rows = [dict(a=red, mass=1), dict(a=1, mass=turned, com=[red, 0, 0])]
    arm = Robot.from_dh(rows, convention="standard", gravity=[0, -10, 0])
    lines = [str(arm), repr(derivation.derive(arm)), repr(derivation.derive(arm, named=True))]
    lines += [check.difference(red, turned).message, repr(derivation.show("x", red * turned))]
    with pytest.raises(TypeError) as mixed:
        arm.state(q=[0.5, 0])
    with pytest.raises(ValueError, match="has no symbol 'm'") as unknown:
        arm.subs({"m": 1})
    lines += [str(mixed.value), str(unknown.value)]
    for shown in lines:
        assert r"\x1b" in shown
        assert shown.replace("\n", "").isprintable()


def test_names_of_arms_are_printable():
    arm = Robot([Link("revolute", sympy.eye(4))], gravity=[0, 0, 0], name="a\x1b[31m\u202eb\nc")
    assert arm.name == r"a\x1b[31m\u202eb\nc"
    assert Mechanism([arm], [], inputs=[(1, 1)], name="\x07").name == r"\x07"


@given(st.text())
def test_printable_text_is_printable_and_stays_as_it_is(shown):
    assert printable(shown).isprintable()
    assert printable(printable(shown)) == printable(shown)
    assert printable(shown) == shown or not shown.isprintable()


def test_a_long_index_does_not_run_into_the_next_letter():
    assert text(r"\tfrac{1}{2} I_{pc}\dot\psi_1^2 + x^{-1/2}") == "1/2 I_pc ψ̇₁² + x^(-1/2)"


def test_masses_inertias_and_gravity_stand_first():
    product = sympy.prod(sympy.symbols("L g Ixx mass mu gx load m_1"))
    assert latex(product) == r"m_{1} \mathrm{mass} I_{xx} g g_{x} L \mathrm{load} \mu"


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


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (K / 2 + A * sympy.Rational("0.3"), "0.5 k + 0.3 θ₁"),
        ([K / 4, A * sympy.Rational("0.15")], "[0.25 k, 0.15 θ₁]ᵀ"),
        (K / 3 + A * sympy.Rational("0.3"), "1/3 k + 0.3 θ₁"),
        (2 * K + A * sympy.Rational("0.3"), "2 k + 0.3 θ₁"),
        (K / 2 + A / 4, "1/2 k + 1/4 θ₁"),
    ],
)
def test_a_fraction_beside_a_decimal_is_a_decimal_too(value, expected):
    assert text(latex(value)) == expected
    assert notation.has_decimals(value) == ("." in expected)


def test_decimals_can_be_asked_for_and_leave_thirds_and_whole_numbers_alone():
    assert latex(sympy.Rational(1, 2) * K, decimals=True) == "0.5 k"
    assert latex(sympy.Rational(1, 3) * K, decimals=True) == latex(sympy.Rational(1, 3) * K)
    assert latex(3 * K, decimals=True) == "3 k"
    assert not notation.has_decimals([0.25, 1])  # numbers, always printed as decimals


def test_fractions_beyond_floats_are_printed_exactly():
    large = sympy.Rational(10**400, 3)
    for value in (large, -large, 1 / large):
        assert "0" * 400 in notation.latex(value)


@pytest.mark.parametrize("make", [robots.planar_2r, robots.rp])
def test_plain_text_has_no_tex_left(make):
    assert not set("\\{}") & set(repr(derivation.derive(make())))


def test_collect_rates_keeps_the_value():
    expression = sympy.expand((K + 1) * (sympy.Symbol("dtheta1") + sympy.Symbol("dtheta2")) ** 2 * sympy.sin(A))
    assert sympy.expand(notation.collect_rates(expression) - expression) == 0
    assert notation.collect_rates(expression).count_ops() < expression.count_ops()
