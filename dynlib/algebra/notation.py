r"""The documents' notation for symbols, as TeX and as plain text.

A coordinate is a plain SymPy symbol: ``theta1`` with the rates ``dtheta1`` and ``ddtheta1`` is shown as
:math:`\theta_1, \dot\theta_1, \ddot\theta_1`; sine and cosine are shown as s and c, masses stand before lengths, and
accelerations before velocities. All formulas that dynlib shows go through :func:`latex`; :func:`text` turns TeX into
what a terminal can show.

A name is a letter or a word with an index: ``m1``, ``L_12``, ``Ixx``, ``rho``, ``load``, ``m_max``. A single letter and
the name of a Greek letter become that letter, a longer word stands upright and whole, and a name of another kind stands
as it is, letter for letter, whatever it holds. Only the rate of a coordinate gets a dot.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

from dynlib.algebra.fourier import Space

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega varepsilon vartheta varpi varrho varsigma varphi Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
).split()
_LIKE_LATIN = dict(
    zip("Alpha Beta Epsilon Zeta Eta Iota Kappa Mu Nu Omicron Rho Tau Chi".split(), "ABEZHIKMNOPTX", strict=True)
)
_LETTERS = (
    {name: "\\" + name for name in [*_GREEK, "ell"]}
    | {name: rf"\mathrm{{{letter}}}" for name, letter in _LIKE_LATIN.items()}
    | {"omicron": "o"}
)
_VARIANTS = {  # the plain letters of TeX's variants; those of all others follow from their names
    "epsilon": "ϵ",
    "varepsilon": "ε",
    "vartheta": "ϑ",
    "varpi": "ϖ",
    "varrho": "ϱ",
    "varsigma": "ς",
    "phi": "ϕ",
    "varphi": "φ",
    "ell": "ℓ",
}


def _plain_greek(name: str) -> str:
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {size} LETTER {name.replace('ambda', 'amda').upper()}")


_PLAIN_LETTERS = {name: _VARIANTS.get(name) or _plain_greek(name) for name in [*_GREEK, "ell"]}
_NAMES_OF_LETTERS = {letter: name for name, letter in _PLAIN_LETTERS.items()} | {
    _plain_greek(name): name for name in (*_LIKE_LATIN, "omicron")
}
_COORDINATES = "theta|varphi|phi|psi|alpha|beta|gamma|q|d|x|y|z"
_RATE = re.compile(rf"(d{{0,2}}?)({_COORDINATES})(\d*)")
_COMPONENT = re.compile(r"([A-Z](?=\d*[xyz]{2})|[A-Za-w](?=\d*[xyz]\d*$))(\d*[xyz]{1,2}\d*)")  # Ixx, I1xy, gx, p2z
_NAME = re.compile(rf"([A-Za-z]+|[{''.join(_NAMES_OF_LETTERS)}])(\d*)((?:_[A-Za-z0-9]+)*)", re.ASCII)
_BARRED = re.compile(r"(d?)([A-Za-z]+?)((?:bar)+)_(\w+)", re.ASCII)  # in a derivation with names: another c_2
_NAMED_WAVE = re.compile(r"[cs](bar)*_\d+")  # there too: c_2 is the cosine of theta2
_DOTTED_PART = re.compile(r"(d)(omega|v)_(c?\d+[xyz])")  # there too: domega_2x, dv_c2x
_STEM = re.compile("[A-Z]|[a-z]*")  # the first letter or word of a name
_DOTTED = re.compile(r"\\d?dot\{")
_RANKS = {"m": 1, "mass": 1, "I": 2, "g": 3, "gx": 3, "gy": 3, "gz": 3}


def rate_order(symbol: sympy.Basic) -> int | None:
    """Return 0, 1 or 2 for a coordinate, its rate or its acceleration, and None for any other symbol.

    >>> [rate_order(sympy.Symbol(name)) for name in ("theta1", "dtheta1", "ddtheta1", "L1")]
    [0, 1, 2, None]
    """
    found = _RATE.fullmatch(str(symbol))
    return len(found[1]) if found else None


_LONGEST = 10**5
"""Fractions and brackets with whole numbers as large as this are shown in decimals instead."""


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
    """Factor a polynomial in the rates, unless only a number would come out that the terms do not share.

    Decimals become whole numbers in the brackets; where these are so long that nobody typed them, nothing is factored.
    """
    factored = sympy.factor(rates)
    if any(abs(number.p) >= _LONGEST for number in factored.atoms(sympy.Integer)):
        return rates
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
        rank = 4 + order if order is not None else _RANKS.get(_STEM.findall(name)[0], 4)
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


@functools.lru_cache(maxsize=4096)
def _tex_of_name(name: str) -> str:
    """Return the TeX of the name of a symbol."""
    if found := _RATE.fullmatch(name) or _DOTTED_PART.fullmatch(name):
        dots, letter, index = found.groups()
        return _with_index(_with_dots(dots, _letter(letter)), [index])
    if found := _BARRED.fullmatch(name):
        dots, letter, bars, index = found.groups()
        tex = _letter(letter)
        for _ in range(len(bars) // len("bar")):
            tex = rf"\bar{{{tex}}}"
        return _with_index(_with_dots(dots, tex), index.split("_"))
    if found := _COMPONENT.fullmatch(name):
        return _with_index(found[1], [found[2]])
    if (found := _NAME.fullmatch(name)) and name != "pi":  # a datum of that name is not the number
        return _with_index(_letter(found[1]), [found[2], *found[3].split("_")])
    return _as_it_is(name)


def _letter(word: str) -> str:
    word = _NAMES_OF_LETTERS.get(word, word)
    return _LETTERS.get(word) or (word if len(word) == 1 else rf"\mathrm{{{word}}}")


def _with_dots(dots: str, tex: str) -> str:
    return rf"\{dots}ot{{{tex}}}" if dots else tex


def _with_index(tex: str, parts: Iterable[str]) -> str:
    index = ",".join(_LETTERS.get(part) or _whole_words(part) for part in parts if part)
    return f"{tex}_{{{index}}}" if index else tex


def _whole_words(part: str) -> str:
    return rf"\mathrm{{{part}}}" if re.search("[A-Za-z]{3}", part) else part


_ESCAPES = {
    "\\": r"\backslash ",
    "{": r"\lbrace ",
    "}": r"\rbrace ",
    "^": r"\wedge ",
    "~": r"\sim ",
    "|": r"\vert ",
    "*": r"\ast ",
    "`": r"\grave{}",
    "'": r"\prime ",
    "<": "{<}",  # so that no reader of HTML takes it for a tag
    ">": "{>}",
} | {letter: "\\" + letter for letter in "_&%#$ "}
"""What stands for a letter that means something in TeX, Markdown or HTML; no entry is the beginning of another."""


def _as_it_is(name: str) -> str:
    """Return the TeX that shows a name upright and letter for letter."""
    shown = printable(name.replace("\\", "\\\\") if printable(name) != name else name)
    letters = (_ESCAPES.get(each) or (each if each.isascii() else _not_ascii(each)) for each in shown)
    return rf"\mathrm{{{''.join(letters)}}}"


def _not_ascii(letter: str) -> str:
    name = _NAMES_OF_LETTERS.get(letter)
    return _LETTERS[name] + "{}" if name else rf"\text{{{letter}}}"


def ascii_name(text: str) -> str:
    """Return a text with its Greek letters spelt and with plain digits, letters and signs, as far as there are such.

    Args:
        text: such as a number or a symbol in a file.

    >>> ascii_name("−θ₁/2")
    '-theta1/2'
    """
    spelt = "".join(_NAMES_OF_LETTERS.get(each, each) for each in text.replace("−", "-").replace("·", "*"))
    return unicodedata.normalize("NFKC", spelt).replace("⁄", "/")


def printable(text: str) -> str:
    r"""Return a text that does nothing when it is printed: characters that steer a terminal are written as escapes.

    Args:
        text: a text from outside, such as a name in a file.

    Returns:
        The same text, with line ends, escape characters, marks that turn the direction of writing and all others that
        have no shape of their own written as in a Python string.

    >>> print(printable("arm" + chr(27) + "[31m"))
    arm\x1b[31m
    """
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


class SymbolError(ValueError):
    """A datum has a name that is printed as something else.

    Attributes:
        symbol: the symbol that needs another name.
    """

    def __init__(self, symbol: sympy.Symbol, message: str) -> None:
        super().__init__(message)
        self.symbol = symbol


def check_names(data: Iterable[sympy.Symbol], motion: Iterable[sympy.Symbol]) -> None:
    """Raise an error if a symbol in the data of a system is, or looks like, another symbol of it.

    Args:
        data: the symbols of lengths, masses and so on.
        motion: those of the joint values, rates and accelerations.

    Raises:
        SymbolError: a datum has the name of a joint value, is printed as the rate of something, or is printed like
            another symbol.

    >>> check_names(sympy.symbols("m1 L1"), sympy.symbols("theta1 dtheta1"))
    """
    moving = {symbol.name for symbol in motion}
    seen = {_look(name): name for name in sorted(moving)}
    for symbol in sorted(data, key=lambda each: each.name):
        name, shown = printable(symbol.name), _look(symbol.name)
        if symbol.name in moving:
            fault = "names a joint value, rate or acceleration of this arm; call the datum otherwise."
        elif _DOTTED.search(_tex_of_name(symbol.name)):
            fault = f"is printed as the rate {shown}; call the datum otherwise, such as {name}_0."
        elif shown in seen:
            fault = f"is printed as {shown}, and so is {printable(seen[shown])}, another symbol; call one otherwise."
        else:
            seen[shown] = symbol.name
            continue
        raise SymbolError(symbol, f"the symbol {name} {fault}")


@functools.lru_cache(maxsize=4096)
def _look(name: str) -> str:
    """Return a name as a reader sees it in plain text, where upright and slanted letters are the same."""
    return text(_tex_of_name(name))


class _Printer(LatexPrinter):
    """SymPy's TeX printer with the symbols and the order of the documents."""

    def __init__(self, decimals: bool) -> None:
        super().__init__()
        self.decimals = decimals

    def _print_Symbol(self, symbol: sympy.Symbol, style: str = "plain") -> str:
        return _tex_of_name(symbol.name)

    def _hprint_Function(self, func: str) -> str:
        return str(super()._hprint_Function(func)) if func.isascii() and func.isidentifier() else _as_it_is(func)

    def _print_Rational(self, number: sympy.Rational) -> str:
        # 1/3 stays, 1/2 where nothing beside it is a decimal; a fraction of 16 digits shows its first six
        value = float(number)
        beyond_floats = value in (0, float("inf"), float("-inf"))
        if beyond_floats or (not _is_decimal(number) and not (self.decimals and _could_be_decimal(number))):
            return str(super()._print_Rational(number))
        exact = sympy.Rational(f"{value:.10g}") == number
        return _number(value, digits=10 if exact else 6)

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


def _is_decimal(number: sympy.Rational) -> bool:
    """Say whether a number is printed as a decimal: an exact arm shows 0.4318, not 2159/5000, but 1/2 and 1/3."""
    simple = number.q < 10 and number.q != 5
    return max(abs(number.p), number.q) >= _LONGEST or not (simple or 10**60 % number.q)


def _could_be_decimal(number: sympy.Rational) -> bool:
    return number.q != 1 and 10**60 % number.q == 0


def has_decimals(value: Any) -> bool:
    """Say whether exact numbers in a value are printed as decimals, so that 0.5 suits it better than 1/2.

    Args:
        value: number, SymPy expression, vector or matrix.

    >>> has_decimals([sympy.Rational("0.4318"), sympy.Rational(1, 2)]), has_decimals(sympy.Rational(1, 2))
    (True, False)
    """
    entries = [each for each in np.asarray(value, dtype=object).flat if isinstance(each, sympy.Basic)]
    return any(map(_is_decimal, set().union(*(entry.atoms(sympy.Rational) for entry in entries))))


def _number(value: float, digits: int = 6) -> str:
    """Return a float with at most so many digits, powers of ten in TeX."""
    shown = f"{value + 0.0:.{digits}g}"  # adding 0.0 turns -0.0 into 0.0
    mantissa, _, exponent = shown.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else shown


def latex(value: Any, decimals: bool = False) -> str:
    r"""Return a value as TeX, in the documents' notation.

    Args:
        value: number, SymPy expression, vector ``(n,)`` (shown as a column) or matrix ``(n, m)``.
        decimals: show 0.5 and not 1/2, as beside other decimals (:func:`has_decimals`); those of the value count, too.

    Returns:
        TeX without dollar signs; expressions are shown as they are (see :func:`tidy`), floats with six digits.

    >>> L1, ddtheta1, theta2 = sympy.symbols("L1 ddtheta1 theta2")
    >>> latex(ddtheta1 * L1 * sympy.sin(theta2))
    'L_{1} \\ddot{\\theta}_{1} \\mathrm{s}\\theta_{2}'
    """
    array = np.asarray(value, dtype=object)
    decimals = decimals or has_decimals(array)
    if array.ndim == 0:
        entry = array.item()
        return _number(entry) if isinstance(entry, float) else _Printer(decimals).doprint(sympy.sympify(entry))
    rows = [" & ".join(latex(entry, decimals) for entry in np.atleast_1d(row)) for row in array]
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
    r"\bigl": "",
    r"\bigr": "",
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
} | {"\\" + name: letter for name, letter in _PLAIN_LETTERS.items()}
_MARKS = {tex: chr(0xE000 + place) for place, tex in enumerate(_ESCAPES.values())}
_MARKS |= {"\\" + name + "{}": letter for name, letter in _PLAIN_LETTERS.items()}
_MARKED = re.compile(r"(?<!\\)(?:" + "|".join(map(re.escape, _MARKS)) + ")")
_UNMARKED = str.maketrans(dict(zip(_MARKS.values(), _ESCAPES, strict=False)))
_ACCENTS = {"dot": "\u0307", "ddot": "\u0308", "hat": "\u0302", "bar": "\u0304"}
_ACCENTED = re.compile(rf"\\({'|'.join(_ACCENTS)})\s*(?:\{{([^{{}}]*)\}}|(\w))")


def text(tex: str) -> str:
    r"""Return TeX in the documents' notation as plain text with Unicode accents, superscripts and subscripts.

    Args:
        tex: TeX as :func:`latex` and the equations of dynlib write it.

    Returns:
        One line, or one line a row for a matrix of several columns.

    >>> text(r"{}^{1}\dot{\omega}_{1} = \begin{bmatrix} 0 \\ 0 \\ \ddot{\theta}_{1} \end{bmatrix}")
    '¹ω̇₁ = [0, 0, θ̈₁]ᵀ'
    """
    tex = _MARKED.sub(lambda found: _MARKS[found[0]], tex)  # letters of names; nothing below shall read them as TeX
    tex = re.sub(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", _plain_matrix, tex)
    tex = re.sub(r"\\text\{(.)\}", r"\1", tex).replace(r"\tfrac", r"\frac")
    tex = re.sub(r"\\mathrm\{([^{}]*)\}", r"\1", tex)
    tex = re.sub(r"\\(?:[a-zA-Z]+|[;,])", lambda found: _COMMANDS.get(found[0], found[0]), tex)
    while (inner := _ACCENTED.sub(_plain_accent, tex)) != tex:  # a bar may have a bar
        tex = inner
    tex = re.sub(r"\\frac\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", _plain_fraction, tex)
    while True:  # innermost scripts first
        shorter = re.sub(r"([_^])\{([^{}]*)\}", _plain_script, tex)
        shorter = re.sub(r"([_^])([^{}\s_^])", _plain_script, shorter)
        if shorter == tex:
            break
        tex = shorter
    plain = re.sub(r" {2,}", " ", tex.replace("{", "").replace("}", "")).strip()
    return unicodedata.normalize("NFC", plain).translate(_UNMARKED)


def _plain_accent(found: re.Match[str]) -> str:
    return (found[2] or found[3] or "") + _ACCENTS[found[1]]


def _plain_script(found: re.Match[str]) -> str:
    raised, inner = found[1] == "^", found[2]
    table = _SUPERSCRIPTS | {ord("T"): "ᵀ"} if raised else _SUBSCRIPTS
    if part := re.fullmatch(r"(\d+)([xyz]+)", inner):  # there is a small x, but no small y or z
        return part[1].translate(table) + part[2]
    if all(ord(letter) in table or letter in _SMALL for letter in inner):
        return inner.translate(table)
    mark = _MARKS[_ESCAPES["^" if raised else "_"]]  # so that it is not taken for the script of one letter
    following = found.string[found.end() :][:1]
    runs_on = (
        not raised and following.isalpha() and unicodedata.category(following) != "Lm"
    )  # Lm: a small raised letter
    return mark + (f"({inner})" if re.search(r"[ +-]", inner) else inner) + " " * runs_on


def _plain_fraction(found: re.Match[str]) -> str:
    top, bottom = (f"({part})" if re.search(r"[ +-]", part.strip("- ")) else part for part in found.groups())
    return f"{top}/{bottom}"


def _plain_matrix(found: re.Match[str]) -> str:
    rows = [[cell.strip() for cell in row.split("&")] for row in found[1].split(r"\\")]
    if all(len(row) == 1 for row in rows):
        return "[" + ", ".join(row[0] for row in rows) + "]^{T}"
    return "[" + "; ".join(", ".join(row) for row in rows) + "]"
