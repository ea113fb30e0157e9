r"""Equations that carry their name, their TeX and their number in the source.

Every step of a recursion is a small function with an :class:`Equation` around it. Called, it computes; asked, it tells
what it computes and where it is written. In its TeX the indices ``{i}``, ``{i-1}`` and ``{i+1}`` stand for the links.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dynlib.algebra import lines
from dynlib.given import refuse_other


@dataclass(frozen=True, repr=False)
class Equation:
    """One equation of a derivation: a function, the quantity it gives, its TeX and its source number.

    Attributes:
        quantity: name of the field of the link's record that holds the value.
        symbol: TeX of the left side.
        tex: TeX of the right side, for a revolute joint.
        source: where the documents state it: an equation number, or the erratum that supplies it.
        function: computes the right side.
        prismatic: TeX of the right side for a prismatic joint, when it differs.
        prismatic_source: its source, when it differs.
        loaded: TeX that is added to the right side when the surroundings load the link.
    """

    quantity: str
    symbol: str
    tex: str
    source: str
    function: Callable[..., Any]
    prismatic: str | None = None
    prismatic_source: str | None = None
    loaded: str = ""

    def __call__(self, *arguments: Any) -> Any:
        """Compute the right side."""
        return self.function(*arguments)

    def sides(self, link: int, joint: str = "revolute", loaded: bool = False) -> tuple[str, str]:
        """Return the TeX of the left and of the right side for one link, by its number (from 1) and kind of joint."""
        right = self.prismatic if joint == "prismatic" and self.prismatic is not None else self.tex
        right += self.loaded if loaded else ""
        return _with_indices(self.symbol, link), _with_indices(right, link)

    def number(self, joint: str = "revolute") -> str:
        """Return the source number for a kind of joint."""
        return self.prismatic_source if joint == "prismatic" and self.prismatic_source else self.source

    def __repr__(self) -> str:
        return lines.plain(lines.broken(self.symbol, self.tex, lines.TERMINAL.beside(self.source), self.source))

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {lines.formula(lines.broken(self.symbol, self.tex, lines.COLUMN))}$"


def _with_indices(tex: str, link: int) -> str:
    return re.sub(r"\{i([+-]1)?\}", lambda found: f"{{{link + int(found[1] or 0)}}}", tex)


def equation(
    quantity: str,
    symbol: str,
    tex: str,
    source: str,
    prismatic: str | None = None,
    prismatic_source: str | None = None,
    loaded: str = "",
) -> Callable[[Callable[..., Any]], Equation]:
    r"""Make a step function an :class:`Equation` (a decorator).

    >>> @equation("F", r"{}^{i}F_{i}", r"m_{i}\,{}^{i}\dot{v}_{c_{i}}", source="A5.2.4-1")
    ... def resultant_force(m, dv_c):
    ...     return dv_c * m
    >>> resultant_force.sides(link=2)
    ('{}^{2}F_{2}', 'm_{2}\\,{}^{2}\\dot{v}_{c_{2}}')
    >>> resultant_force(2.0, 3.0)
    6.0
    """

    def wrap(function: Callable[..., Any]) -> Equation:
        made = Equation(quantity, symbol, tex, source, function, prismatic, prismatic_source, loaded)
        object.__setattr__(made, "__doc__", function.__doc__)
        object.__setattr__(made, "__name__", function.__name__)
        object.__setattr__(made, "__module__", function.__module__)
        return made

    return wrap


def refuse_other_steps(steps: Any, kind: type) -> None:
    """Raise an error for steps that are not those of a chapter.

    Args:
        steps: what was given.
        kind: the class of the chapter's steps.

    Raises:
        TypeError: it is something else; the message says how wrong steps are made.

    >>> from dynlib import velocity
    >>> refuse_other_steps("x", velocity.Steps)
    Traceback (most recent call last):
    TypeError: steps is 'x'; expected a Steps. Leave it out for the right equations...
    """
    wing = kind.__module__.rpartition(".")[0]
    handed_on = getattr(sys.modules[wing], "Steps", object)  # by a wing: those of all its modules
    where = (wing if issubclass(handed_on, kind) else kind.__module__).removeprefix("dynlib.")
    refuse_other(
        steps,
        kind,
        "steps",
        f"Leave it out for the right equations; a wrong one is put in by "
        f"dataclasses.replace({where}.Steps(), name=wrong), or comes from the steps() of a misconception.",
    )
