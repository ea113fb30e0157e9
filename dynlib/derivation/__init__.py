"""Printed derivations, and documents made of them.

Each step has its equation, its number in the source and its value.
"""

from dynlib.derivation.document import render, write
from dynlib.derivation.size import count_operations, count_terms
from dynlib.derivation.steps import Derivation, PrintedStep, derive, show

__all__ = [
    "Derivation",
    "PrintedStep",
    "count_operations",
    "count_terms",
    "derive",
    "render",
    "show",
    "write",
]
