"""What partitioning finds: by which key the rows of each event type may be split over engines, or what prevents it."""
from __future__ import annotations

from collections.abc import Mapping

import attrs

from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.value_types import ValueType

Path = tuple[str, ...]
"""A property of an event: its name, then those of the properties of nested events."""


@attrs.frozen
class HashedKey:
    """The number of a hash partition of a context: ``function`` of the values at ``paths``, which are of ``types``, below
    ``granularity``."""

    function: str
    paths: tuple[Path, ...]
    types: tuple[ValueType, ...]
    granularity: int


Key = Path | HashedKey
"""What rows are split by."""


def key_paths(key: Key) -> tuple[Path, ...]:
    """Return the properties that a key reads."""
    return (key,) if isinstance(key, tuple) else key.paths


def key_text(key: Key) -> str:
    """Return the key as one would write it in EPL.

    >>> key_text(("place", "city"))
    'place.city'
    >>> key_text(HashedKey("hash_code", (("place", "city"), ("user",)), (), 16))
    'hash_code(place.city, user) granularity 16'
    """
    texts = [".".join(path) for path in key_paths(key)]
    return texts[0] if isinstance(key, tuple) else f"{key.function}({', '.join(texts)}) granularity {key.granularity}"


@attrs.frozen
class Verdict:
    """``statements``: the statements that it is about, those asked for and all that their rows come through, in the order given."""

    statements: tuple[str, ...]

    def describe(self) -> str:
        """Return one line for people."""
        raise NotImplementedError


@attrs.frozen
class SplitBy(Verdict):
    """Rows may be split, as long as all rows with equal values of their type's ``keys`` meet in one engine.

    ``keys``: by name of each event type that comes in from outside, the properties; without any, rows of that type may go anywhere. Where
    several types have keys, they correspond by place: rows of equal values meet, whatever their types. Null is a value like
    the others, and so is NaN.
    """

    keys: Mapping[str, tuple[Key, ...]]

    def key_of(self, event_type: EventType) -> tuple[Key, ...]:
        """Return by which properties rows of a type, perhaps a sub-type of those in ``keys``, are to be split; empty: in any way.

        Raises EplValidationError where no statement reads the type from outside, and where it is a sub-type of types with different keys.
        """
        if event_type.name in self.keys:
            return self.keys[event_type.name]
        keys = {self.keys[t.name] for t in event_type.lineage() if t.name in self.keys}
        if not keys:
            raise EplValidationError(f"Rows of event type '{event_type.name}' are not read from outside by {', '.join(self.statements)}")
        keyed = keys - {()}
        if len(keyed) > 1:
            raise EplValidationError(f"Event type '{event_type.name}' has super-types that are split by different keys")
        return next(iter(keyed), ())

    def reads(self, event_type: EventType) -> bool:
        """Return whether the statements read rows of the type from outside."""
        return any(t.name in self.keys for t in event_type.lineage())

    def describe(self) -> str:
        parts = [
            f"{name} by {', '.join(map(key_text, paths))}" if paths else f"{name} any" for name, paths in self.keys.items()
        ]
        return " and ".join(parts)


@attrs.frozen
class AnySplit(Verdict):
    """Every row is on its own: any split will do. ``stateless``: nothing is kept at all (else windows whose events do not touch one
    another).
    """

    stateless: bool

    def describe(self) -> str:
        return "any (stateless)" if self.stateless else "any (each row is independent)"


@attrs.frozen
class Whole(Verdict):
    """The rows have to stay together: ``operator`` of ``statement`` prevents it, for ``reason``."""

    statement: str
    operator: str
    reason: str

    def describe(self) -> str:
        return f"not at all: {self.operator} of statement '{self.statement}': {self.reason}"


__all__ = ["AnySplit", "HashedKey", "Key", "Path", "SplitBy", "Verdict", "Whole", "key_paths", "key_text"]
