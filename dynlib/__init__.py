"""Dynamics of robot manipulators: the library of the course, one module a chapter.

The modules, from the ground up: :mod:`dynlib.algebra.arrays`, :mod:`dynlib.algebra.notation`, :mod:`dynlib.algebra.equation` and
:mod:`dynlib.check` carry numbers, symbols, formulas and comparisons; :mod:`dynlib.frames` and :mod:`dynlib.model.robot`
describe an arm and :mod:`dynlib.robots` is a catalogue of them; :mod:`dynlib.velocity`, :mod:`dynlib.acceleration` and
:mod:`dynlib.newton_euler` are the mechanics; :mod:`dynlib.derivation` and :mod:`dynlib.figures` show it.

SI units and radians everywhere. One recursion serves floats (single states or batches) and SymPy expressions alike.
"""

__version__ = "0.1.0"
