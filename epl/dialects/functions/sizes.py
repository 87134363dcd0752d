"""How large the values of queries may become: a text of a query is short, what it asks for may be without end."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from epl.dialects.errors import QueryFailed
from epl.java import MAX_TEXT

MOST_ELEMENTS = 10_000_000
"""Of an array or a map, those of arrays within it among them; 32 characters of a text count as one."""
CHARACTERS = 32
MOST_CALLS = 1_000_000
"""Calls of a lambda, and of those within it, to compute one value."""


def too_large(what: str) -> QueryFailed:
    """Return the error of a value that is not computed."""
    return QueryFailed("EXCEEDED_FUNCTION_MEMORY_LIMIT", what)


def check_length(length: int) -> None:
    """Refuse to make a text of more characters than ``MAX_TEXT``."""
    if length > MAX_TEXT:
        raise too_large(f"a text of {length} characters is longer than {MAX_TEXT}")


def check_count(count: int) -> None:
    """Refuse to make an array of so many elements."""
    if count > MOST_ELEMENTS:
        raise too_large(f"an array of {count} elements is longer than {MOST_ELEMENTS}")


def join_texts(between: str, texts: Iterable[str]) -> str:
    """Return the texts as one, with a text between them."""
    listed = list(texts)
    check_length(sum(map(len, listed)) + len(between) * max(0, len(listed) - 1))
    return between.join(listed)


def total_size(value: Any) -> int:
    """Return how many elements a value has, itself included."""
    if isinstance(value, str):
        return 1 + len(value) // CHARACTERS
    if isinstance(value, dict):
        return 1 + _sum(value) + _sum(value.values())
    return 1 + _sum(value) if isinstance(value, (list, tuple)) else 1


def _sum(values: Iterable[Any]) -> int:
    size = 0
    for each in values:
        size += total_size(each)
        check_count(size)
    return size


def check_size(values: Iterable[Any]) -> list[Any]:
    """Return a list of values that may be arrays; raises as soon as it is too large."""
    listed: list[Any] = []
    size = 0
    for each in values:
        size += total_size(each)
        check_count(size)
        listed.append(each)
    return listed


__all__ = ["MOST_CALLS", "check_count", "check_length", "check_size", "join_texts", "too_large", "total_size"]
