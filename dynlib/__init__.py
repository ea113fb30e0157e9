"""Dynamics of robot manipulators: the library of the course, one module a chapter.

The modules, from the ground up: :mod:`dynlib.algebra` and :mod:`dynlib.check` carry numbers, symbols, formulas
and comparisons; :mod:`dynlib.frames` and :mod:`dynlib.model` describe arms and linkages, :mod:`dynlib.robotfile` reads
them and :mod:`dynlib.robots` is a catalogue; :mod:`dynlib.velocity`, :mod:`dynlib.acceleration`,
:mod:`dynlib.newton_euler`, :mod:`dynlib.lagrange` and :mod:`dynlib.structure` are the mechanics of open chains,
:mod:`dynlib.closed_chains` and :mod:`dynlib.linkages` those of closed ones; :mod:`dynlib.motion` lets both move;
:mod:`dynlib.misconceptions` computes what goes wrong; :mod:`dynlib.derivation` and :mod:`dynlib.figures` show it.

SI units and radians everywhere. One recursion serves floats (single states or batches) and SymPy expressions alike.
"""

__version__ = "0.1.0"
