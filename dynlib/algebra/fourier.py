r"""Fourier form: expressions as sums of cosines and sines of sums of angles.

Every polynomial in the sines and cosines of sums of angles can be written in one way as

.. math:: \sum_k a_k \cos(k\cdot\theta) + b_k \sin(k\cdot\theta)

with coefficients that are polynomials in all other symbols. Equal expressions become the same, so nothing has to be
simplified: the form is reached while multiplying, by the product formulas of trigonometry.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.polys.domains import QQ
from sympy.polys.rings import PolyElement, PolyRing

Key = tuple[bool, tuple[Any, ...]]
"""Which wave (True for a sine), and the factors of the angles."""


@dataclass(frozen=True, eq=False)
class Space:
    """The angles and the other symbols that a set of expressions is made of.

    Attributes:
        angles: what stands in sines and cosines, in order.
        ring: polynomials in everything else.
    """

    angles: tuple[sympy.Expr, ...]
    ring: PolyRing

    @classmethod
    def of(cls, expressions: Iterable[sympy.Expr], extra: Iterable[sympy.Symbol] = ()) -> "Space":
        """Return the smallest space that holds some expressions.

        Args:
            expressions: SymPy expressions.
            extra: symbols that derivatives will bring in.

        >>> theta1, L1 = sympy.symbols("theta1 L1")
        >>> Space.of([L1 * sympy.cos(theta1)]).angles
        (theta1,)
        """
        angles: set[sympy.Expr] = set()
        others: set[sympy.Expr] = set(extra)
        for expression in expressions:
            _collect(expression, angles, others)
        return cls(tuple(sorted(angles, key=str)), PolyRing(sorted(others, key=str) or [sympy.Dummy("none")], QQ))

    def read(self, expression: sympy.Expr) -> "Fourier":
        """Return an expression of this space in Fourier form.

        >>> a = sympy.Symbol("theta1")
        >>> square = sympy.sin(a) ** 2
        >>> Space.of([square]).read(square).expression()
        1/2 - cos(2*theta1)/2
        """
        if expression.is_Rational:
            return self._constant(self.ring.ground_new(QQ(expression.p, expression.q)))
        if expression.is_Add:
            terms: dict[Key, PolyElement] = {}
            for argument in expression.args:
                _add_to(terms, self.read(argument).terms)
            return Fourier(self, terms)
        if expression.is_Mul:
            first, *rest = (self.read(argument) for argument in expression.args)
            for factor in rest:
                first = first * factor
            return first
        if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
            base = power = self.read(expression.base)
            for _ in range(int(expression.exp) - 1):
                power = power * base
            return power
        if isinstance(expression, sympy.sin | sympy.cos) and not expression.args[0].has(sympy.sin, sympy.cos):
            parts = expression.args[0].as_coefficients_dict()
            return self._wave(isinstance(expression, sympy.sin), tuple(parts.get(angle, 0) for angle in self.angles))
        return self._constant(self.ring.gens[self.ring.symbols.index(expression)])

    def _constant(self, coefficient: PolyElement) -> "Fourier":
        return Fourier(self, {(False, (0,) * len(self.angles)): coefficient} if coefficient else {})

    def _wave(self, sine: bool, factors: tuple[Any, ...]) -> "Fourier":
        sign, key = _normal(sine, factors)
        return Fourier(self, {key: self.ring.ground_new(QQ(sign))})


@dataclass(frozen=True, eq=False)
class Fourier:
    """An expression in Fourier form.

    Attributes:
        space: the angles and symbols it is made of.
        terms: coefficient of each wave; none is zero.
    """

    space: Space
    terms: dict[Key, PolyElement]

    def __add__(self, other: "Fourier") -> "Fourier":
        terms = dict(self.terms)
        _add_to(terms, other.terms)
        return Fourier(self.space, terms)

    def __sub__(self, other: "Fourier") -> "Fourier":
        terms = dict(self.terms)
        _add_to(terms, {key: -coefficient for key, coefficient in other.terms.items()})
        return Fourier(self.space, terms)

    def __neg__(self) -> "Fourier":
        return Fourier(self.space, {key: -coefficient for key, coefficient in self.terms.items()})

    def __truediv__(self, number: int) -> "Fourier":
        return Fourier(self.space, {key: coefficient * QQ(1, number) for key, coefficient in self.terms.items()})

    def __mul__(self, other: "Fourier") -> "Fourier":
        terms: dict[Key, PolyElement] = {}
        half = QQ(1, 2)
        for (sine_a, a), left in self.terms.items():
            for (sine_b, b), right in other.terms.items():
                product = left * right
                if not any(a) and not sine_a:
                    _add_to(terms, {(sine_b, b): product})
                elif not any(b) and not sine_b:
                    _add_to(terms, {(sine_a, a): product})
                else:  # cos cos and sin sin give cosines, the mixed products sines
                    sine = sine_a != sine_b
                    together = tuple(x + y for x, y in zip(a, b, strict=True))
                    apart = tuple(x - y for x, y in zip(a, b, strict=True))
                    signs = -1 if sine_a and sine_b else 1, -1 if sine_b and not sine_a else 1
                    for factors, sign in zip((together, apart), signs, strict=True):
                        if any(factors) or not sine:  # sin 0 is nothing
                            turned, key = _normal(sine, factors)
                            _add_to(terms, {key: product * (half * sign * turned)})
        return Fourier(self.space, terms)

    def diff(self, symbol: sympy.Symbol) -> "Fourier":
        """Return the partial derivative by a symbol, an angle or another one.

        Args:
            symbol: what to differentiate by.

        >>> a = sympy.Symbol("theta1")
        >>> space = Space.of([sympy.sin(a)])
        >>> space.read(sympy.sin(a)).diff(a).expression()
        cos(theta1)
        """
        terms: dict[Key, PolyElement] = {}
        angles, symbols = self.space.angles, self.space.ring.symbols
        place = angles.index(symbol) if symbol in angles else None
        generator = self.space.ring.gens[symbols.index(symbol)] if symbol in symbols else None
        for (sine, factors), coefficient in self.terms.items():
            if place is not None and factors[place]:
                change = sympy.Rational(factors[place] if sine else -factors[place])
                _add_to(terms, {(not sine, factors): coefficient * QQ(change.p, change.q)})
            if generator is not None and (derivative := coefficient.diff(generator)):
                _add_to(terms, {(sine, factors): derivative})
        return Fourier(self.space, terms)

    def expression(self) -> sympy.Expr:
        """Return the SymPy expression, a sum of products."""
        symbols, parts = self.space.ring.symbols, []
        for (sine, factors), coefficient in self.terms.items():
            angles = zip(factors, self.space.angles, strict=True)
            angle = sympy.Add(*(factor * angle for factor, angle in angles if factor))
            wave = sympy.sin(angle) if sine else sympy.cos(angle)
            for powers, number in coefficient.terms():
                product = [symbol**power for symbol, power in zip(symbols, powers, strict=True) if power]
                parts.append(sympy.Mul(sympy.Rational(number.numerator, number.denominator), *product, wave))
        return sympy.Add(*parts)


def _collect(expression: sympy.Expr, angles: set[sympy.Expr], others: set[sympy.Expr]) -> None:
    """Find the angles and the other symbols of an expression; what is no polynomial in them counts as a symbol."""
    if expression.is_Rational:
        return
    if expression.is_Add or expression.is_Mul:
        for argument in expression.args:
            _collect(argument, angles, others)
    elif expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
        _collect(expression.base, angles, others)
    elif isinstance(expression, sympy.sin | sympy.cos) and not expression.args[0].has(sympy.sin, sympy.cos):
        angles.update(expression.args[0].as_coefficients_dict())
    else:
        others.add(expression)


def _normal(sine: bool, factors: tuple[Any, ...]) -> tuple[int, Key]:
    """Return the sign and the key of a wave whose first factor is positive; sin(-x) = -sin x."""
    for factor in factors:
        if factor:
            if factor > 0:
                break
            return (-1 if sine else 1), (sine, tuple(-each for each in factors))
    return 1, (sine, factors)


def _add_to(terms: dict[Key, PolyElement], more: dict[Key, PolyElement]) -> None:
    """Add terms to terms, in place; what becomes zero is dropped."""
    for key, coefficient in more.items():
        total = terms[key] + coefficient if key in terms else coefficient
        if total:
            terms[key] = total
        else:
            terms.pop(key, None)
