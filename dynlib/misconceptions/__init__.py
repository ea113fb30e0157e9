"""Misconceptions: a right derivation with one step, or one piece of data, wrong.

A wrong result is hardly ever chaos. It is the right derivation with one step replaced, so it can be computed, explained
and recognised by its number: :func:`diagnose` names the mistake behind an answer, for arms and for closed chains.
"""

from dynlib.misconceptions.closed_chains import CLOSED
from dynlib.misconceptions.diagnosis import ALL, Diagnosis, diagnose
from dynlib.misconceptions.lagrange import LAGRANGE
from dynlib.misconceptions.misconception import Misconception, NotHere
from dynlib.misconceptions.newton_euler import AT_JOINT, RECURSION
from dynlib.misconceptions.slips import SLIPS, SLIPS_AT
from dynlib.misconceptions.structure import STRUCTURE

__all__ = [
    "ALL",
    "AT_JOINT",
    "CLOSED",
    "LAGRANGE",
    "RECURSION",
    "SLIPS",
    "SLIPS_AT",
    "STRUCTURE",
    "Diagnosis",
    "Misconception",
    "NotHere",
    "diagnose",
]
