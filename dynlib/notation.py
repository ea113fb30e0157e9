r"""The documents' notation for symbols, as TeX and as plain text.

A coordinate is a plain SymPy symbol: ``theta1`` with the rates ``dtheta1`` and ``ddtheta1`` is shown as
:math:`\theta_1, \dot\theta_1, \ddot\theta_1`; sine and cosine are shown as s and c, masses stand before lengths, and
accelerations before velocities. All formulas that dynlib shows go through :func:`latex`; :func:`text` turns TeX into
what a terminal can show.
"""

import re
import unicodedata
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

from dynlib.fourier import Space

_GREEK = "alpha beta gamma delta epsilon theta lambda mu rho sigma tau phi varphi psi omega".split()
_COORDINATES = "theta|varphi|phi|psi|alpha|beta|gamma|q|d|x|y|z"
_RATE = re.compile(rf"(d{{0,2}}?)({_COORDINATES})(\d*)")
_NAME = re.compile(r"([A-Za-z]+?)_?(\d*|[a-z]{2})")
_NAMED_WAVE = re.compile(r"[cs](bar)?_\d+")  # in a derivation with names: c_2 is the cosine of theta2
_DOTTED_PART = re.compile(r"(d)(omega|v)_(c?\d+[xyz])")  # there too: domega_2x, dv_c2x


def rate_order(symbol: sympy.Basic) -> int | None:
    """Return 0, 1 or 2 for a coordinate, its rate or its acceleration, and None for any other symbol.

    >>> [rate_order(sympy.Symbol(name)) for name in ("theta1", "dtheta1", "ddtheta1", "L1")]
    [0, 1, 2, None]
    """
    found = _RATE.fullmatch(str(symbol))
    return len(found[1]) if found else None


def tidy(expression: Any) -> Any:
    """Expand into a sum of products, products of sines and cosines into sines and cosines of sums.

    For polynomials in the sines and cosines of sums of angles the result is unique, so that equal expressions become
    the same: ``cos(a)*cos(b) - sin(a)*sin(b)`` is shown as ``cos(a + b)``. Nothing else is simplified.

    Args:
        expression: a SymPy expression (or a number, which is returned as it is).

    Returns:
        An equal expression.

    >>> a, b = sympy.symbols("theta1 theta2")
    >>> tidy(sympy.cos(a) * sympy.cos(b) - sympy.sin(a) * sympy.sin(b))
    cos(theta1 + theta2)
    """
    expression = sympy.sympify(expression)
    return Space.of([expression]).read(expression).expression()


def collect_rates(expression: Any) -> Any:
    """Gather the terms of a sum that differ only in the rates: m2*L2*ddtheta1 + m2*L2*ddtheta2 has one bracket then.

    Args:
        expression: a sum of products, as :func:`tidy` gives it.

    Returns:
        An equal expression, usually shorter.

    >>> m2, ddtheta1, ddtheta2 = sympy.symbols("m2 ddtheta1 ddtheta2")
    >>> collect_rates(m2 * ddtheta1 + m2 * ddtheta2)
    m2*(ddtheta1 + ddtheta2)
    """
    rates = [symbol for symbol in expression.free_symbols if rate_order(symbol)]
    groups: dict[sympy.Expr, list[sympy.Expr]] = {}
    for term in sympy.Add.make_args(expression):
        fixed, moving = term.as_independent(*rates, as_Add=False)
        number, fixed = fixed.as_coeff_Mul()
        groups.setdefault(fixed, []).append(number * moving)
    return sympy.Add(*(fixed * _factored(sympy.Add(*moving)) for fixed, moving in groups.items()))


def _factored(rates: sympy.Expr) -> sympy.Expr:
    """Factor a polynomial in the rates, unless only a number would come out that the terms do not share."""
    factored = sympy.factor(rates)
    number, rest = factored.as_coeff_Mul()
    shared = not rest.is_Add or all(abs(term.as_coeff_Mul()[0]) == 1 for term in rest.args)
    return factored if shared or number == 1 else rates


def _rank(factor: sympy.Expr) -> tuple[int, str]:
    """Return where a factor stands in a product: number, mass, inertia, gravity, length, rates, sines and cosines."""
    base = factor.as_base_exp()[0]
    name = str(base)
    if base.is_number:
        rank = 0
    elif isinstance(base, sympy.Function):
        rank = 8
    elif isinstance(base, sympy.Add):
        rank = 7
    elif isinstance(base, sympy.Symbol):
        order = rate_order(base)
        rank = 4 + order if order is not None else {"m": 1, "I": 2, "g": 3}.get(name[0], 4)
        rank = 8 if _NAMED_WAVE.fullmatch(name) else rank
    else:
        rank = 9
    return rank, name


def _term_key(term: sympy.Expr) -> tuple[Any, ...]:
    """Return where a term stands in a sum: accelerations, then products of velocities, then gravity and the rest."""
    orders = {symbol: rate_order(symbol) or 0 for symbol in term.free_symbols}
    waves = sorted(map(str, term.atoms(sympy.sin, sympy.cos)))
    rates = sorted(str(symbol) for symbol, order in orders.items() if order)
    return -max(orders.values(), default=0), rates, bool(waves), sorted(map(str, term.free_symbols)), waves


class _Printer(LatexPrinter):
    """SymPy's TeX printer with the symbols and the order of the documents."""

    def _print_Symbol(self, symbol: sympy.Symbol, style: str = "plain") -> str:
        name = symbol.name
        found = _RATE.fullmatch(name) or _NAME.fullmatch(name) or _DOTTED_PART.fullmatch(name)
        if found is None or "bar_" in name:
            return str(super()._print_Symbol(symbol, style))
        *dots, letter, index = found.groups()
        letter = "\\" + letter if letter in _GREEK else letter
        if dots and dots[0]:
            letter = r"\dot" + f"{{{letter}}}" if dots[0] == "d" else r"\ddot" + f"{{{letter}}}"
        return letter + (f"_{{{index}}}" if index else "")

    def _print_Rational(self, number: sympy.Rational) -> str:
        # 1/3 stays; an exact arm of decimals shows 0.4318, not 2159/5000
        if (number.q < 10 and number.q != 5) or 10**60 % number.q:
            return str(super()._print_Rational(number))
        exact = sympy.Rational(f"{float(number):.10g}") == number
        return _number(float(number), digits=10 if exact else 6)

    def _print_sign(self, expr: sympy.sign, exp: str | None = None) -> str:
        power = f"^{{{exp}}}" if exp else ""
        return rf"\mathrm{{sgn}}{power}({self._print(expr.args[0])})"

    def _print_Float(self, number: sympy.Float) -> str:
        return _number(float(number))

    def _print_Add(self, expr: sympy.Add, order: str | None = None) -> str:
        terms = sorted(expr.args, key=_term_key)
        shown = ""
        for term in terms:
            tex = self._print(term)
            if self._needs_add_brackets(term):
                tex = rf"\left({tex}\right)"
            shown += (" " if shown else "") + (tex if not shown or tex.startswith("-") else "+ " + tex)
        return re.sub(r"(?<=\S )-(?=\S)", "- ", shown)

    def _print_Mul(self, expr: sympy.Mul) -> str:
        coefficient, product = expr.as_coeff_Mul()
        numerator, denominator = product.as_numer_denom()
        if not denominator.is_number and coefficient.is_Rational:
            top, bottom = abs(coefficient.p) * numerator, coefficient.q * denominator
            return rf"{'-' if coefficient.is_negative else ''}\frac{{{self._print(top)}}}{{{self._print(bottom)}}}"
        factors = []
        for factor in sorted(sympy.Mul.make_args(product), key=_rank):
            turned = factor.is_Add and all(term.could_extract_minus_sign() for term in factor.args)
            factors.append(-factor if turned else factor)
            coefficient = -coefficient if turned else coefficient
        shown = [self.parenthesize(factor, PRECEDENCE["Mul"]) for factor in factors]
        sign = "-" if coefficient.is_negative else ""
        if abs(coefficient) != 1:
            shown.insert(0, self._print(abs(coefficient)))
        return sign + r"\,".join(shown) if any(isinstance(f, sympy.Add) for f in factors) else sign + " ".join(shown)

    def _wave(self, letter: str, angle: sympy.Expr, exp: str | None) -> str:
        power = f"^{{{exp}}}" if exp else ""
        shown = self._print(angle)
        if not angle.is_Symbol:
            shown = rf"({shown})"
        return rf"\mathrm{{{letter}}}{power}{shown}"

    def _print_sin(self, expr: sympy.sin, exp: str | None = None) -> str:
        return self._wave("s", expr.args[0], exp)

    def _print_cos(self, expr: sympy.cos, exp: str | None = None) -> str:
        return self._wave("c", expr.args[0], exp)

    def _print_Derivative(self, expr: sympy.Derivative) -> str:
        function, (variable, count) = expr.expr, expr.variable_count[0]
        if isinstance(function, AppliedUndef) and str(variable) == "t" and count <= 2 and len(expr.variables) == count:
            return rf"\{'d' * int(count)}ot{{{self._print(sympy.Symbol(function.func.__name__))}}}"
        return str(super()._print_Derivative(expr))


def _number(value: float, digits: int = 6) -> str:
    """Return a float with at most so many digits, powers of ten in TeX."""
    shown = f"{value + 0.0:.{digits}g}"  # adding 0.0 turns -0.0 into 0.0
    mantissa, _, exponent = shown.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else shown


def latex(value: Any) -> str:
    r"""Return a value as TeX, in the documents' notation.

    Args:
        value: number, SymPy expression, vector ``(n,)`` (shown as a column) or matrix ``(n, m)``.

    Returns:
        TeX without dollar signs; expressions are shown as they are (see :func:`tidy`), floats with six digits.

    >>> L1, ddtheta1, theta2 = sympy.symbols("L1 ddtheta1 theta2")
    >>> latex(ddtheta1 * L1 * sympy.sin(theta2))
    'L_{1} \\ddot{\\theta}_{1} \\mathrm{s}\\theta_{2}'
    """
    array = np.asarray(value, dtype=object)
    if array.ndim == 0:
        entry = array.item()
        return _number(entry) if isinstance(entry, float) else _Printer().doprint(sympy.sympify(entry))
    rows = [" & ".join(latex(entry) for entry in np.atleast_1d(row)) for row in array]
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


_SUPERSCRIPTS = str.maketrans("0123456789+-=()in", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿ")
_SUBSCRIPTS = str.maketrans("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
_SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"
_COMMANDS = {
    r"\cdot": "·",
    r"\pm": "±",
    r"\quad": " ",
    r"\;": " ",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\big": "",
    r"\Gamma": "Γ",
    r"\times": "×",
    r"\,": " ",
    r"\top": "T",
    r"\left": "",
    r"\right": "",
    r"\mathbf": "",
    r"\mathrm": "",
    r"\mathcal": "",
    r"\text": "",
    r"\partial": "∂",
    r"\sum": "Σ",
    r"\sqrt": "√",
    r"\pi": "π",
    r"\varphi": "φ",
} | {
    "\\" + name: unicodedata.lookup(f"GREEK SMALL LETTER {name.replace('lambda', 'lamda').upper()}")
    for name in _GREEK
    if name != "varphi"
}
_ACCENTS = {r"\dot": "\u0307", r"\ddot": "\u0308", r"\hat": "\u0302", r"\bar": "\u0304"}


def text(tex: str) -> str:
    r"""Return TeX in the documents' notation as plain text with Unicode accents, superscripts and subscripts.

    Args:
        tex: TeX as :func:`latex` and the equations of dynlib write it.

    Returns:
        One line, or one line a row for a matrix of several columns.

    >>> text(r"{}^{1}\dot{\omega}_{1} = \begin{bmatrix} 0 \\ 0 \\ \ddot{\theta}_{1} \end{bmatrix}")
    '¹ω̇₁ = [0, 0, θ̈₁]ᵀ'
    """
    tex = re.sub(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", _plain_matrix, tex)
    tex = re.sub(r"\\mathrm\{(\w+)\}", r"\1", tex).replace(r"\tfrac", r"\frac")
    for command in sorted(_COMMANDS, key=len, reverse=True):
        tex = re.sub(re.escape(command) + ("(?![a-zA-Z])" if command[-1].isalpha() else ""), _COMMANDS[command], tex)
    for command, accent in _ACCENTS.items():
        tex = re.sub(re.escape(command) + r"\s*(?:\{([^{}]*)\}|(\w))", rf"\g<1>\g<2>{accent}", tex)
    tex = re.sub(r"\\frac\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", _plain_fraction, tex)
    while True:  # innermost scripts first
        shorter = re.sub(r"([_^])\{([^{}]*)\}", _plain_script, tex)
        shorter = re.sub(r"([_^])([^{}\s_^])", _plain_script, shorter)
        if shorter == tex:
            break
        tex = shorter
    plain = re.sub(r" {2,}", " ", tex.replace("{", "").replace("}", "")).strip()
    return unicodedata.normalize("NFC", plain)


def _plain_script(found: re.Match[str]) -> str:
    raised, inner = found[1] == "^", found[2]
    table = _SUPERSCRIPTS | {ord("T"): "ᵀ"} if raised else _SUBSCRIPTS
    if part := re.fullmatch(r"(\d+)([xyz]+)", inner):  # there is a small x, but no small y or z
        return part[1].translate(table) + part[2]
    if all(ord(letter) in table or letter in _SMALL for letter in inner):
        return inner.translate(table)
    return ("^" if raised else "_") + (f"({inner})" if re.search(r"[ +-]", inner) else inner)


def _plain_fraction(found: re.Match[str]) -> str:
    top, bottom = (f"({part})" if re.search(r"[ +-]", part.strip("- ")) else part for part in found.groups())
    return f"{top}/{bottom}"


def _plain_matrix(found: re.Match[str]) -> str:
    rows = [[cell.strip() for cell in row.split("&")] for row in found[1].split(r"\\")]
    if all(len(row) == 1 for row in rows):
        return "[" + ", ".join(row[0] for row in rows) + "]^{T}"
    return "[" + "; ".join(", ".join(row) for row in rows) + "]"
