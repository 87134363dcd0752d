"""Functions of regular expressions. Like those of EPL they take a bounded number of steps (``epl.functions.patterns``)."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from epl.dialects.functions.scalar import wrong_argument
from epl.dialects.functions.sizes import check_count
from epl.errors import EplError
from epl.functions.java_strings import replace_all
from epl.functions.patterns import JavaPattern, java_pattern


@contextmanager
def _failing() -> Iterator[None]:
    """Raise what Java refuses as an argument that the function does not take."""
    try:
        yield
    except EplError as error:
        raise wrong_argument(error.message) from error


def _compile_pattern(pattern: str) -> JavaPattern:
    with _failing():
        return java_pattern(pattern)


def _matches(text: str, pattern: str) -> Iterator[Any]:
    with _failing():
        yield from _compile_pattern(pattern).finditer(text)


def like(text: str, pattern: str) -> bool:
    """Return whether the pattern matches anywhere in the text."""
    return any(True for _ in _matches(text, pattern))


def replace(text: str, pattern: str, new: str = "") -> str:
    """Return the text with each match replaced; ``$1`` in ``new`` is a group."""
    with _failing():
        return replace_all(text, pattern, new)


def extract(text: str, pattern: str, group: int = 0) -> str | None:
    """Return a group of the first match, null where there is none."""
    _check_group(pattern, group)
    hit = next(_matches(text, pattern), None)
    return None if hit is None else hit.group(group)


def _check_group(pattern: str, group: int) -> None:
    most = _compile_pattern(pattern).groups
    if group < 0:
        raise wrong_argument("Group cannot be negative")
    if group > most:
        raise wrong_argument(f"Pattern has {most} groups. Cannot access group {group}")


def _list_matches(text: str, pattern: str, part: Callable[[Any], str | None]) -> list[str | None]:
    hits: list[str | None] = []
    for hit in _matches(text, pattern):
        hits.append(part(hit))
        check_count(len(hits))
    return hits


def extract_all(text: str, pattern: str, group: int = 0) -> list[str | None]:
    """Return a group of every match."""
    _check_group(pattern, group)
    return _list_matches(text, pattern, lambda hit: hit.group(group))


def split(text: str, pattern: str) -> list[str | None]:
    """Return what is before, between and after the matches."""
    begin = 0

    def before(hit: Any) -> str:
        nonlocal begin
        start, begin = begin, hit.end()
        return text[start : hit.start()]

    parts = _list_matches(text, pattern, before)
    return [*parts, text[begin:]]


def count(text: str, pattern: str) -> int:
    """Return the number of matches."""
    return sum(1 for _ in _matches(text, pattern))


def position(text: str, pattern: str, start: int = 1, occurrence: int = 1) -> int:
    """Return where a match begins, from 1, of those that begin at ``start`` or later; -1 where there are fewer."""
    if start < 1:
        raise wrong_argument("start position cannot be smaller than 1")
    if occurrence < 1:
        raise wrong_argument("occurrence cannot be smaller than 1")
    with _failing():
        hits = _compile_pattern(pattern).finditer(text, start - 1)
        hit = next(islice(hits, occurrence - 1, None), None) if occurrence <= len(text) + 1 else None
    return -1 if hit is None else int(hit.start()) + 1


__all__ = ["count", "extract", "extract_all", "like", "position", "replace", "split"]
