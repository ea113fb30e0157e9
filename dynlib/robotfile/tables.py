"""Tables of a TOML file: their numbers, texts and keys, with errors that name file, line and field."""

import difflib
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from dynlib.algebra.arrays import Array, as_array, as_exact, first_fraction
from dynlib.algebra.notation import ascii_name, printable
from dynlib.model.exact import AS_FLOATS, AsFloats

Place = tuple[str | int, ...]
"""Where a value stands in a file, such as ``("link", 2, "motor", "gear")``; ``()`` is the whole file."""
_TEXT = ("name", "source", "convention", "joint", "inertia_about")
_SHORT_JOINTS = {"r": "revolute", "p": "prismatic", "continuous": "revolute", "rotational": "revolute"}


# ---- Tables and their lines ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """One table of a file, with what its messages need."""

    file: str
    lines: Mapping[Place, int]
    symbols: Mapping[sympy.Symbol, Place]  # where each stands first; if there are any, the whole file is exact
    place: Place
    data: Mapping[str, Any]
    reading: AsFloats

    @property
    def symbol(self) -> sympy.Symbol | None:
        return next(iter(self.symbols), None)

    @property
    def words(self) -> str:
        """Name the table: ``link 2``, ``motor of link 2``."""
        words: list[str] = []
        for part in self.place:
            if isinstance(part, int):
                words[0] += f" {part}"
            else:
                words.insert(0, part)
        return " of ".join(words) or "the file"

    def name(self, key: str) -> str:
        """Name a field: ``com of link 2``."""
        return f"{key} of {self.words}" if self.place else key

    def at(self, *keys: str) -> str:
        """Return the beginning of a message: file and line of the first of the keys that is there, or of the table."""
        for place in [(*self.place, key) for key in keys if key in self.data] + [self.place]:
            while place and place not in self.lines:
                place = place[:-1]
            if place:
                break
        return f"{printable(self.file)}, line {self.lines.get(place, 1)}: "

    def error(self, message: str, *keys: str) -> ValueError:
        return ValueError(self.at(*keys) + printable(message))

    def check_keys(self, expected: Sequence[str], note: str = "") -> None:
        for key in self.data:
            if key not in expected:
                raise self.error(
                    f'{self.words} has the key "{key}"; expected {", ".join(expected)}{note}.{_meant(key, expected)}',
                    key,
                )

    def require(self, key: str, why: str) -> None:
        if key not in self.data:
            raise self.error(f"{self.words} has no {key}; {why}")

    def text(self, key: str, default: str) -> str:
        value = self.data.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"{self.name(key)} is {_shown(value)}; expected text in quotes.", key)
        return value

    def choice(self, key: str, expected: Sequence[str], default: str, note: str = "") -> str:
        value = self.data.get(key, default)
        if value not in expected:
            listed = ", ".join(f'"{each}"' for each in expected[:-1]) + f' or "{expected[-1]}"'
            meant = _meant(value, expected) if isinstance(value, str) else ""
            raise self.error(f"{self.name(key)} is {_shown(value)}; expected {listed}{note}.{meant}", key)
        return str(value)

    def flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self.error(f"{self.name(key)} is {_shown(value)}; expected true or false.", key)
        return value

    def table(self, key: str) -> "_Table | None":
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            header = ".".join(str(part) for part in (*self.place, key) if isinstance(part, str))
            raise self.error(f"{self.name(key)} is {_shown(value)}; expected one table, [{header}].", key)
        return replace(self, place=(*self.place, key), data=value)

    def tables(self, key: str) -> list["_Table"]:
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            header = ".".join(str(part) for part in (*self.place, key) if isinstance(part, str))
            raise self.error(
                f"{self.name(key)} is {_shown(value)}; expected a list of tables, each under its own [[{header}]].", key
            )
        return [replace(self, place=(*self.place, key, i), data=each) for i, each in enumerate(value, start=1)]

    def exact(self, key: str, shape: tuple[int, ...] = (), default: Any = 0) -> Array:
        """Read numbers; those given as text stay exact, whatever the rest of the file holds."""
        value = self.data.get(key, default)
        if _shape(value) != shape:
            raise self.error(f"{self.name(key)} is {_shown(value)}; expected {_SHAPES[shape]}.", key)
        entries = self._entries(key, value)
        try:
            array = as_array(entries, self.name(key), shape)
        except ValueError as error:
            raise self.error(str(error), key) from None
        except TypeError:  # a float beside a symbol
            floats = [entry for entry in np.ravel(np.array(entries, dtype=object)) if isinstance(entry, float)]
            raise self._mixed(key, floats[0]) from None
        if self.symbol is not None and (found := first_fraction({key: array})):
            raise self._mixed(key, found[1])
        return array if self.symbol is None else as_exact(array)

    def _mixed(self, key: str, number: float) -> TypeError:
        return TypeError(
            f"{self.at(key)}{self.name(key)} holds the float {number} beside the symbolic {self.symbol} of this file; "
            "a float would make exact results inexact. "
            f'Write the number exactly, as "{sympy.Rational(repr(number))}" (or "pi/2" for a right angle), '
            "or use numbers everywhere."
        )

    def array(self, key: str, shape: tuple[int, ...] = (), default: Any = 0) -> Array:
        """Read numbers of the file's kind: exact if the file holds symbols, else floats."""
        return self.kind(self.exact(key, shape, default))

    def kind(self, array: Array) -> Array:
        return self.reading.numbers(array) if self.symbol is None else as_exact(array)

    def _entries(self, key: str, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._entries(key, entry) for entry in value]
        number = _number(value)
        if number is not None and not _is_finite(number):
            raise self.error(f"{self.name(key)} holds {_shown(value)}; expected finite numbers.", key)
        if number is None:
            raise self.error(
                f"{self.name(key)} holds {_shown(value)}; expected a number, a fraction or an angle in quotes, such as "
                f'"1/3", "-3*pi/4" or "30deg", or a symbol, such as "L1" or "-g".{_meant_number(value)}',
                key,
            )
        if isinstance(value, str) and _DEGREES.search(value) and key not in _ANGLES:
            raise self.error(f"{self.name(key)} holds {_shown(value)}, an angle; expected SI units.", key)
        return number


def _file(text: str, name: str) -> _Table:
    text, name = text.removeprefix("\ufeff"), printable(name)
    try:
        data = tomllib.loads(text)
    except RecursionError:
        line = next((line for line, depth, _ in _tokens(text) if depth > _DEEPEST), 1)
        raise ValueError(f"{name}, line {line}: {_TOO_DEEP}") from None
    except ValueError as error:
        found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), flags=re.DOTALL)
        line = int(found[2]) if found else text.count("\n") + 1
        said = f"{found[1]} (column {found[3]})" if found else str(error)
        if found and _SINGLE_LINK.match(text.split("\n")[line - 1]):
            raise ValueError(f"{name}, line {line}: {_OWN_TABLE}") from None
        raise ValueError(
            f"{name}, line {line}: this is no TOML: {printable(said)}. Text stands in quotes, a list in brackets with "
            "commas; a number needs a digit on both sides of its point."
        ) from None
    file = _Table(name, key_lines(text), {}, (), data, AS_FLOATS)
    if place := _too_deep(data):
        raise replace(file, place=place).error(_TOO_DEEP)
    return replace(file, symbols=dict(_symbols(data, ())))


_SINGLE_LINK = re.compile(r"\s*\[\s*(link|joint)s?\s*\]", re.IGNORECASE)
_OWN_TABLE = "each link, together with its joint, is a table of its own under [[link]], in double brackets."
_DEEPEST = 20  # levels of tables and lists in each other; an arm needs six
_TOO_DEEP = (
    f"more than {_DEEPEST} tables or lists lie in each other, by brackets or by dots in a key; no part of an arm needs "
    "that."
)


def _too_deep(data: Any) -> Place:
    """Return a place below which tables and lists lie too deep; () if none does. A loop, since a file may be deep."""
    waiting: list[tuple[Any, Place, int]] = [(data, (), 0)]
    while waiting:
        value, place, depth = waiting.pop()
        if depth > _DEEPEST:
            return place
        if isinstance(value, dict):
            waiting += [(each, (*place, key) if depth < 4 else place, depth + 1) for key, each in value.items()]
        elif isinstance(value, list):
            waiting += [(each, (*place, i) if depth < 4 else place, depth + 1) for i, each in enumerate(value, start=1)]
    return ()


_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|' + r"'''.*?'''" + r'|"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'|#[^\n]*|[\[\]{}\n]", re.DOTALL
)
_WORD = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_HEAD = re.compile(rf"[ \t]*(?P<open>\[?\[?)[ \t]*(?P<key>{_WORD}(?:[ \t]*\.[ \t]*{_WORD})*)[ \t]*(?P<end>=|\])")


def key_lines(text: str) -> dict[Place, int]:
    """Return the line of every table and key of a TOML text, apart from those inside braces.

    Args:
        text: valid TOML.

    Returns:
        The lines, from 1, by place: ``("link", 2)`` is the second table ``[[link]]``.

    >>> key_lines("a = 1" + chr(10) + "[[link]]" + chr(10) + "mass = 2")
    {('a',): 1, ('link',): 2, ('link', 1): 2, ('link', 1, 'mass'): 3}
    """
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    text = text.replace("\r\n", "\n")
    for line, start in _statements(text):
        head = _HEAD.match(text, start)
        if head is None or (head["end"] == "=") == bool(head["open"]):
            continue
        keys = [_unquoted(word) for word in re.findall(_WORD, head["key"])]
        if head["end"] == "=":
            for end in range(1, min(len(keys), _DEEPEST) + 1):
                lines.setdefault((*table, *keys[:end]), line)
            continue
        table = ()
        for place, key in enumerate(keys[:_DEEPEST], start=1):
            table = (*table, key)
            if head["open"] == "[[" and place == len(keys):
                counts[table] = counts.get(table, 0) + 1
            lines.setdefault(table, line)
            if table in counts:
                table = (*table, counts[table])
                lines.setdefault(table, line)
    return lines


def _unquoted(word: str) -> str:
    return str(next(iter(tomllib.loads(f"{word} = 0")))) if word[0] in "\"'" else word


def _statements(text: str) -> Iterable[tuple[int, int]]:
    """Yield line and offset of each line of a TOML text that does not continue a string, a list or a table."""
    yield 1, 0
    for line, depth, token in _tokens(text):
        if token[0] == "\n" and depth == 0:
            yield line, token.end()


def _tokens(text: str) -> Iterable[tuple[int, int, re.Match[str]]]:
    """Yield each string, comment, bracket and line end of a TOML text, with the line and the depth behind it."""
    line, depth = 1, 0
    for token in _TOKEN.finditer(text):
        line += token[0].count("\n")
        depth += (token[0] in "[{") - (token[0] in "]}")
        yield line, depth, token


def _meant(word: str, expected: Sequence[str]) -> str:
    plain = word.strip().lower()
    close = difflib.get_close_matches(plain, expected, n=1)
    if not close and "revolute" in expected and plain in _SHORT_JOINTS:
        close = [_SHORT_JOINTS[plain]]
    return f' Did you mean "{close[0]}"?' if close else ""


def _shown(value: Any) -> str:
    """Return a value as it stands in a file, shortened."""
    if isinstance(value, str | bool):
        shown = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        shown = "a table with " + (", ".join(value) or "nothing in it")
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        shown = f"a list of {len(value)} table" + "s" * (len(value) > 1)
    else:
        shown = str(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


# ---- Numbers ---------------------------------------------------------------------------------------

_DECIMAL = r"(?P<factor>(?:\d{1,999}\.?\d{0,999}|\.\d{1,999})(?:[eE][+-]?\d{1,3})?)"
_DIVISOR = r"(?:\s*/\s*(?P<divisor>[1-9]\d{0,99}))?"
_SIGN = r"(?P<sign>[+-]?)\s*"
_NAME = r"(?!(?:nan|inf|deg|P[iI]|pI)\b)[A-Za-z]\w{0,39}"  # PI is no symbol: pi is meant
_NUMBERS = tuple(
    re.compile(_SIGN + kind, re.ASCII)
    for kind in (
        _DECIMAL + _DIVISOR,
        _DECIMAL + "(?P<unit>deg|°)",
        rf"(?:{_DECIMAL}\s*\*\s*)?(?P<name>{_NAME})" + _DIVISOR,
    )
)
_DEGREES = re.compile("deg|°")
_ANGLES = ("alpha", "theta", "offset", "rpy")
_SHAPES = {
    (): "one number",
    (2,): "a list of 2 numbers",
    (3,): "a list of 3 numbers",
    (3, 3): "a matrix of 3 rows with 3 numbers each",
    (4, 4): "a matrix of 4 rows with 4 numbers each",
}


def exact_number(text: str) -> sympy.Expr | None:
    """Read a number that stands as text, without any rounding.

    Args:
        text: a decimal, a fraction, a part of pi, an angle in degrees, or a symbol with a factor: ``"0.5"``, ``"1/3"``,
            ``"-3*pi/4"``, ``"-90deg"`` (or ``"-90°"``), ``"L1"``, ``"2*L1/3"``.

    Returns:
        The exact expression, degrees in rad; None if the text is nothing of that. Nothing is evaluated.

    >>> exact_number("-90deg"), exact_number("0.1"), exact_number("2*L1/3"), exact_number("__import__('os')")
    (-pi/2, 1/10, 2*L1/3, None)
    """
    found = next(filter(None, (kind.fullmatch(text.strip()) for kind in _NUMBERS)), None)
    if found is None:
        return None
    parts = found.groupdict()
    number = sympy.Rational(parts.get("factor") or 1) / sympy.Integer(parts.get("divisor") or 1)
    if name := parts.get("name"):
        number *= sympy.pi if name == "pi" else sympy.Symbol(name)
    if parts.get("unit"):
        number *= sympy.pi / 180
    return -number if parts["sign"] == "-" else number


def _number(value: Any) -> Any:
    """Return a number, or the exact value of a text; None if it is neither."""
    if isinstance(value, str):
        return exact_number(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _meant_number(value: Any) -> str:
    """Return advice for a text with Greek or capital letters, with what was meant if that can be seen; else nothing."""
    if not isinstance(value, str):
        return ""
    plain = re.sub(r"\bpi\b", "pi", ascii_name(value), flags=re.IGNORECASE)
    meant = f' Did you mean "{plain}"?' if plain != value and exact_number(plain) is not None else ""
    if value.isascii():
        return meant
    return f" A number or symbol is written with the letters A to Z, digits and _; Greek letters are spelt.{meant}"


def _is_finite(number: Any) -> bool:
    try:
        return bool(getattr(number, "free_symbols", None)) or math.isfinite(float(number))
    except OverflowError:
        return False


def _symbols(data: Any, place: Place) -> Iterator[tuple[sympy.Symbol, Place]]:
    """Yield the symbols in the numbers of a file, each with the place where it stands; the first place comes last."""
    if isinstance(data, dict):
        for key, value in reversed(data.items()):
            if key not in _TEXT:
                yield from _symbols(value, (*place, key))
    elif isinstance(data, list):
        numbered = data and isinstance(data[0], dict)
        for i, value in reversed([*enumerate(data, start=1)]):
            yield from _symbols(value, (*place, i) if numbered else place)
    elif isinstance(number := _number(data), sympy.Expr):
        yield from ((symbol, place) for symbol in number.free_symbols)


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of nested lists, or None if a row is longer than another."""
    if not isinstance(value, list | tuple):
        return ()
    inner = {_shape(entry) for entry in value}
    first = inner.pop() if len(inner) == 1 else None
    return None if first is None else (len(value), *first)
