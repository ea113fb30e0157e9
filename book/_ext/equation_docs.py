"""Sphinx extension: in the library reference, an equation of dynlib shows its formula and its source number.

`dynlib.algebra.Equation` objects are called like functions. Autodoc would list them as plain data; here
they appear as functions, with the equation as TeX between the signature and the description. Array types
are written `Array`, as in the code.
"""

import inspect
from typing import Any

from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.ext.autodoc import FunctionDocumenter
from sphinx.util.typing import stringify_annotation

from dynlib.algebra import Array, Equation, lines


class EquationDocumenter(FunctionDocumenter):
    """Document an `Equation` as the function that it wraps."""

    objtype = "equation"
    directivetype = "function"
    priority = 100

    @classmethod
    def can_document_member(cls, member: Any, membername: str, isattr: bool, parent: Any) -> bool:
        """Tell whether a member of a module is an equation."""
        return isinstance(member, Equation)

    def format_args(self, **kwargs: Any) -> str:
        """Return the signature of the wrapped function."""
        return self.plain(str(inspect.signature(self.object.function)))

    @staticmethod
    def plain(signature: str) -> str:
        """Shorten the names of types in a signature."""
        return signature.replace("numpy.ndarray[typing.Any, typing.Any]", "Array").replace("typing.", "")

    def add_content(self, more_content: StringList | None) -> None:
        """Write the formula, then the docstring."""
        source = self.get_sourcename()
        equation = self.object
        rows = [(equation.tex, equation.source)]
        if equation.prismatic is not None:
            rows.append((equation.prismatic, equation.prismatic_source or equation.source))
        for tex, number in rows:
            broken = lines.broken(equation.symbol, tex, lines.COLUMN.beside(number), number)
            formula = lines.aligned(broken, "aligned").splitlines()
            for line in (".. math::", "", *(f"   {each}" for each in formula), ""):
                self.add_line(line, source)
        super().add_content(more_content)


def shorten_types(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Write `Array` for array types in the signatures of ordinary functions; a set of equations shows no defaults."""
    if what == "class" and any(isinstance(value, Equation) for value in vars(obj).values()):
        return "()", None
    long = {stringify_annotation(Array, mode) for mode in ("fully-qualified-except-typing", "smart")}
    for text in sorted(long, key=len, reverse=True):
        signature = signature.replace(text, "Array") if signature else signature
        returns = returns.replace(text, "Array") if returns else returns
    return signature, returns


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_autodocumenter(EquationDocumenter)
    app.connect("autodoc-process-signature", shorten_types)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
