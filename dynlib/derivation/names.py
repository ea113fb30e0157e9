"""Names for the intermediate results of a derivation, so that what follows stays short."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import sympy

from dynlib.algebra import notation
from dynlib.algebra.arrays import Array, is_symbolic
from dynlib.algebra.equation import Equation
from dynlib.derivation.size import LONGEST, _count_written_terms, count_operations
from dynlib.model.robot import Robot
from dynlib.newton_euler import Steps
from dynlib.velocity import BaseMotion, Wrench

_INWARD = ("f", "n")  # these run from the last link to the first
_COMPUTED_INWARD = ("F", "N", "f", "n", "tau", "tau_m")


class _Namer:
    """Wraps steps so that what they give is put into names, and keeps what each name stands for."""

    def __init__(self, robot: Robot, q: Any, taken: Iterable[sympy.Symbol]) -> None:
        self.robot, self.q = robot, q
        self.taken = {notation.latex(symbol) for symbol in taken}
        self.names: dict[tuple[str, int], dict[sympy.Symbol, sympy.Expr]] = {}

    def wrap(self, steps: Steps) -> Steps:
        """Return the same steps, each followed by the naming of its value."""
        return replace(steps, **{step.name: self._named(getattr(steps, step.name)) for step in fields(steps)})

    def _named(self, equation: Equation) -> Equation:
        links = iter(self._links_in_the_order_of_calls(equation.quantity))

        def then_name(*arguments: Any) -> Array:
            return self._put_into_names(equation.quantity, next(links), np.asarray(equation(*arguments)))

        return replace(equation, function=then_name)

    def _links_in_the_order_of_calls(self, quantity: str) -> Iterable[int]:
        numbers = range(1, self.robot.n + 1)
        if quantity == "tau_m":
            numbers = [i for i in numbers if self.robot.links[i - 1].motor is not None]  # type: ignore[assignment]
        return reversed(numbers) if quantity in _COMPUTED_INWARD else numbers

    def _put_into_names(self, quantity: str, link: int, value: Array) -> Array:
        if not is_symbolic(value):
            return value
        known = self.names.setdefault((quantity, link), {})
        waves = self._waves(link, value) if quantity == "T" else {}
        known |= {name: wave for wave, name in waves.items()}
        named = value.copy()
        for place, name in _component_names(quantity, link, value.shape):
            entry = _shorter(sympy.sympify(value[place]).xreplace(waves))
            if not (entry.is_number or entry.is_Symbol or (-entry).is_Symbol):
                symbol = self._symbol(name)
                known[symbol], entry = entry, symbol
            named[place] = entry
        return named

    def _symbol(self, name: str) -> sympy.Symbol:
        """Return the symbol of a name, with a bar if a symbol of the arm looks the same."""
        symbol = sympy.Symbol(name)
        while notation.latex(symbol) in self.taken:
            stem, _, index = symbol.name.partition("_")
            symbol = sympy.Symbol(f"{stem}bar_{index}")
        return symbol

    def _waves(self, link: int, value: Array) -> dict[sympy.Expr, sympy.Symbol]:
        """Return the names of cosine and sine of the joint angle, as far as they occur."""
        symbols = sympy.sympify(self.q[link - 1]).free_symbols
        waves = {}
        for letter, kind in (("c", sympy.cos), ("s", sympy.sin)):
            found = {wave for entry in value.flat for wave in entry.atoms(kind) if wave.free_symbols & symbols}
            if len(found) == 1:
                waves[found.pop()] = self._symbol(f"{letter}_{link}")
        return waves


def _component_names(quantity: str, link: int, shape: tuple[int, ...]) -> list[tuple[tuple[int, ...], str]]:
    """Return each place in a value with the name for it: R_2xy is row x, column y of the rotation to link 2."""
    stem = quantity if quantity.endswith(("_c", "_m")) else quantity + "_"
    if not shape:
        return [((), f"{stem}{link}")]
    if len(shape) == 1:
        return [((row,), f"{stem}{link}{'xyz'[row]}") for row in range(3)]
    places = [(row, column) for row in range(3) for column in range(4)]
    return [((i, j), f"R_{link}{'xyz'[i]}{'xyz'[j]}" if j < 3 else f"p_{link}{'xyz'[i]}") for i, j in places]


def _shorter(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression as it is or expanded, whichever has fewer operations; what cancels is gone then."""
    if _count_written_terms(expression) > LONGEST:
        return expression
    return min(expression, sympy.expand(expression), key=count_operations)


def _symbols_in(given: Any) -> set[sympy.Symbol]:
    """Return the symbols in arrays, records, lists and dictionaries, however nested."""
    if isinstance(given, sympy.Basic):
        return set(given.free_symbols)
    if isinstance(given, Mapping):
        given = list(given.values())
    elif isinstance(given, Wrench | BaseMotion):
        given = list(vars(given).values())
    elif isinstance(given, np.ndarray):
        given = list(given.flat)
    return set().union(*map(_symbols_in, given)) if isinstance(given, list | tuple) else set()
