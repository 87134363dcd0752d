"""What callers pass to selectors of partitions: collections, or one value; anything else raises TypeError."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from enum import Enum
from operator import index
from typing import Any, SupportsIndex, cast

from epl.reprs import brief
from windows.event import Event
from windows.keys import freeze


def _each(values: object) -> Iterable[Any]:
    """Return the values of a collection; a scalar is one, None is none (as Esper has it)."""
    return () if values is None else [values] if _is_scalar(values) else cast("Iterable[Any]", values)


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, bytes, Mapping, Enum, Event)) or not isinstance(value, Iterable)


def read_ids(ids: object) -> tuple[int, ...]:
    """Return ids."""
    return _numbers("ids of PartitionsById", ids)


def read_hashes(hashes: object) -> tuple[int, ...]:
    """Return hash numbers."""
    return _numbers("hash numbers of PartitionsByHash", hashes)


def _numbers(what: str, values: object) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_number(what, value) for value in _each(values)))


def _number(what: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{what} are ints, one or a collection, not {brief(value)} ({type(value).__name__})")
    return index(value)


def read_keys(keys: object) -> tuple[tuple[Any, ...], ...]:
    """Return keys, each with the values of its properties, as they are compared."""
    if keys is None:
        raise TypeError("keys of PartitionsByKey are expected, not None: [[None]] is the key whose value is null")
    return tuple(dict.fromkeys(tuple(freeze(value) for value in _key(key)) for key in _each(keys)))


def _key(key: object) -> Iterable[Any]:
    """Return the values of one key."""
    if isinstance(key, (Mapping, Set)) or callable(key):
        raise TypeError(f"a key of PartitionsByKey is a value, or a sequence with a value for each property, not {brief(key)}")
    return [key] if _is_scalar(key) else cast("Iterable[Any]", key)


def read_labels(labels: object) -> tuple[str, ...]:
    """Return labels."""
    return tuple(dict.fromkeys(_label(value) for value in _each(labels)))


def _label(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"labels of PartitionsByCategory are strings, one or a collection, not {brief(value)} ({type(value).__name__})")
    return value


__all__ = ["read_hashes", "read_ids", "read_keys", "read_labels"]
