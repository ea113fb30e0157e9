"""What was given to a function, where that is something else than was expected: said in words, with what to do."""

import difflib
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def refuse_other(value: Any, kind: type, name: str, instead: str) -> None:
    """Raise an error for a value that is not of the kind that is expected.

    Args:
        value: what was given.
        kind: the class that is expected.
        name: what the value is, for the message.
        instead: what to do, a sentence.

    Raises:
        TypeError: it is of another kind.

    >>> refuse_other("ur5", dict, "robot", "Load it.")
    Traceback (most recent call last):
    TypeError: robot is 'ur5'; expected a dict. Load it.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {shown(value)}; expected {'an' if kind.__name__[0] in 'AEIO' else 'a'} "
                        f"{kind.__name__}. {instead}")  # fmt: skip


def refuse_other_arguments(function: Callable[..., Any], name: str, *arguments: str) -> None:
    """Raise an error for a function that does not take the arguments with which it will be called.

    Args:
        function: what was given.
        name: what it is, for the message.
        *arguments: names of the arguments that it must take, in order.

    Raises:
        TypeError: it takes more or fewer.

    >>> refuse_other_arguments(lambda t: [0, 0], "torque", "t", "q", "dq")
    Traceback (most recent call last):
    TypeError: torque is a function of (t); expected one of (t, q, dq).
    """
    try:
        taken = inspect.signature(function)
    except (TypeError, ValueError):  # some functions that are not written in Python do not say what they take
        return
    try:
        taken.bind(*arguments)
    except TypeError:
        raise TypeError(f"{name} is a function of {taken}; expected one of ({', '.join(arguments)}).") from None


def listed(values: Any, kind: type, one: str, many: str, instead: str) -> tuple[Any, ...]:
    """Return several values as a tuple; refuse a single one, and what is of another kind.

    Args:
        values: what was given.
        kind: the class that each must be of.
        one: what each value is, for the message.
        many: what they are together.
        instead: what to do, a sentence.

    Raises:
        TypeError: no list, or an entry of another kind.

    >>> listed([1, 2], int, "number", "numbers", "Count.")
    (1, 2)
    >>> listed(1, int, "number", "numbers", "Count.")
    Traceback (most recent call last):
    TypeError: numbers is one int; expected a list of them, such as [int(...)].
    """
    if isinstance(values, kind):
        raise TypeError(f"{many} is one {kind.__name__}; expected a list of them, such as [{kind.__name__}(...)].")
    if isinstance(values, str | dict) or not isinstance(values, Iterable):
        raise TypeError(f"{many} is {shown(values)}; expected a list, such as [{kind.__name__}(...)]. {instead}")
    found = tuple(values)
    for number, value in enumerate(found, start=1):
        refuse_other(value, kind, f"{one} {number}", instead)
    return found


def refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise an error for the first option that a function does not have.

    Args:
        given: names of the options that were given beyond those.
        known: names of the options that it has.

    Raises:
        TypeError: with the name that is closest.

    >>> refuse_unknown(["load"], ["steps", "loads"])
    Traceback (most recent call last):
    TypeError: there is no option 'load'; did you mean 'loads'? The options are steps and loads.
    """
    for name in given:
        *others, last = known
        close = difflib.get_close_matches(name, [*others, last], n=1)
        meant = f"; did you mean {close[0]!r}?" if close else "."
        options = f"The options are {', '.join(others)} and {last}." if others else f"The only option is {last}."
        raise TypeError(f"there is no option {name!r}{meant} {options}")


def shown(value: Any) -> str:
    """Return a value in one short line, for a message.

    >>> shown("ur5"), shown([0.0] * 100)
    ("'ur5'", '[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0... (list)')
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}... ({type(value).__name__})"
