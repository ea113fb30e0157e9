"""Numbers or symbols in arrays, and how they are written: the arithmetic below all mechanics.

:mod:`~dynlib.algebra.arrays` reads numbers or exact expressions and computes with both alike,
:mod:`~dynlib.algebra.notation` and :mod:`~dynlib.algebra.lines` write them, and :mod:`~dynlib.algebra.equation` joins a
function to the number of its equation in the source.
"""

from dynlib.algebra.arrays import Array, apply, as_array, cos, cross, dot, matrix, sin, sqrt, transpose, vector
from dynlib.algebra.equation import Equation

__all__ = [
    "Array",
    "Equation",
    "apply",
    "as_array",
    "cos",
    "cross",
    "dot",
    "matrix",
    "sin",
    "sqrt",
    "transpose",
    "vector",
]
