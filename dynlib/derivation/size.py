"""How long expressions are, and when one is too long to be printed."""

import itertools
from collections.abc import Callable
from typing import Any

import sympy

from dynlib.algebra.arrays import Array, is_symbolic

LONGEST = 1500
"""Number of terms of the longest value that is written out, over all its components.

A product of k sines and cosines counts as the :math:`2^{k-1}` terms that it becomes, before anything cancels.
"""


def count_operations(expression: Any) -> int:
    """Return the number of additions, multiplications, powers and functions in an expression as it is.

    Args:
        expression: a SymPy expression or a number; parts that occur twice are counted twice.

    Returns:
        The number of operations; at once even if the expression is far too long to be printed.

    >>> a, b = sympy.symbols("a b")
    >>> count_operations(a * b + sympy.sin(a))
    3
    """
    return _measured(expression, lambda each, parts: sum(parts) + max(len(parts) - 1, int(bool(parts))))


def count_terms(expression: Any) -> int:
    """Return how many terms an expression has at most when it is multiplied out.

    Args:
        expression: a SymPy expression or a number.

    Returns:
        The number of terms, counted without multiplying out; what cancels is counted too.

    >>> a, b = sympy.symbols("a b")
    >>> count_terms((a + b) * (a - b))
    4
    """
    return sum(_measured(expression, _terms_by_waves).values())


def _count_written_terms(expression: Any) -> int:
    """Return the terms when, besides, each product of k sines and cosines becomes a sum of 2**(k-1) of them."""
    by_waves = _measured(expression, _terms_by_waves)
    return sum(terms * 2 ** max(waves - 1, 0) for waves, terms in by_waves.items())


def _terms_by_waves(each: sympy.Basic, parts: list[dict[int, int]]) -> dict[int, int]:
    """Return the number of terms by how many sines and cosines are multiplied in them."""
    if each.is_Add:
        return {waves: sum(part.get(waves, 0) for part in parts) for waves in sorted(set().union(*parts))}
    if each.is_Pow and each.exp.is_Integer and each.exp > 0:
        parts = [parts[0]] * int(each.exp)
    elif not each.is_Mul:
        return {int(isinstance(each, sympy.sin | sympy.cos)): 1}
    product = {0: 1}
    for part in parts:
        longer: dict[int, int] = {}
        for (first, m), (second, n) in itertools.product(product.items(), part.items()):
            longer[first + second] = longer.get(first + second, 0) + m * n
        product = longer
    return product


def _measured(expression: Any, combine: Callable[[sympy.Basic, list[Any]], Any]) -> Any:
    """Return a measure that is combined from those of the parts; each part that is shared is visited once."""
    known: dict[sympy.Basic, Any] = {}

    def visit(each: sympy.Basic) -> Any:
        if each not in known:
            known[each] = combine(each, [visit(part) for part in each.args])
        return known[each]

    return visit(sympy.sympify(expression))


def is_too_long(array: Array) -> bool:
    """Say whether a value has so many terms (:data:`LONGEST`) that only its size is shown.

    >>> a, b = sympy.symbols("a b")
    >>> import numpy as np
    >>> is_too_long(np.array([(a + b) ** 9, (a - b) ** 20]))
    True
    """
    return is_symbolic(array) and sum(map(_count_written_terms, array.flat)) > LONGEST
