"""The fields of a reported case, read so that none is passed over in silence."""

import math
from collections.abc import Iterator, Mapping
from typing import Any


class UnknownField(ValueError):
    """A case says something that nobody here knows; its answer could be wrong."""


class Fields(dict):
    """A mapping that remembers which of its entries were read, also in mappings and lists inside it."""

    def __init__(self, data: Mapping[str, Any], path: str = "") -> None:
        super().__init__({key: _wrapped(value, f"{path}{key}") for key, value in _in_radians(data).items()})
        self.path = path
        self.seen: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.seen.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401

    def items(self):
        return [(key, self[key]) for key in self]

    def values(self):
        return [self[key] for key in self]

    def unseen(self) -> dict[str, Any]:
        """Return all entries, without counting them as read."""
        return dict(dict.items(self))

    def __or__(self, other: Mapping[str, Any]) -> "Fields":
        """Return these entries and others; what is read there counts as read here."""
        both = Fields({}, self.path)
        both.update(dict.items(self))
        both.update(dict.items(other) if isinstance(other, dict) else other)
        both.seen = self.seen
        return both

    def unread(self) -> Iterator[str]:
        """Yield the places of all entries that nobody has read."""
        for key, value in dict.items(self):
            if key not in self.seen:
                yield f"{self.path}{key}"
                continue
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, Fields):
                    yield from inner.unread()


def _wrapped(value: Any, path: str) -> Any:
    if isinstance(value, Mapping):
        return Fields(value, f"{path}.")
    if isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        return [_wrapped(entry, f"{path}[{number}]") for number, entry in enumerate(value, start=1)]
    return value


def _in_radians(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries with `..._deg` in radians, under the names without the ending."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        name = key.removesuffix("_deg")
        if name != key and (name in data or not _is_numbers(value)):
            raise UnknownField(f"{key} stands beside {name}, or is no number")
        found[name] = _radians(value) if name != key else value
    return found


def _is_numbers(value: Any) -> bool:
    entries = value if isinstance(value, list) else [value]
    return all(isinstance(entry, int | float) or (isinstance(entry, list) and _is_numbers(entry)) for entry in entries)


def _radians(value: Any) -> Any:
    return [_radians(entry) for entry in value] if isinstance(value, list) else math.radians(value)
