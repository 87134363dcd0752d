"""SQL's ``like`` in time that grows with the text's length, whatever the pattern.

A pattern is cut at its ``%``. The first run of characters is at the text's beginning, the last at its end, and each one between at
its leftmost place after the one before: a later place could never help, so nothing is tried twice.
"""
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache

from epl.errors import EplRuntimeError

MAX_STEPS = 1_000_000_000
"""Characters compared at most for one run that holds ``_``: its length times the text's."""
MAX_LENGTH = 20_000
"""Characters of a pattern that holds ``_``."""
_HAS_ATOMIC = sys.version_info >= (3, 11)
QUICK_STEPS = 1_000_000
"""Characters compared at most by one call of Python's engine, where nothing is tried twice either: groups are atomic (Python 3.11)."""
LONGEST_KEPT = 10_000
"""Longer patterns, which come from events, are not kept for the next use."""


def like_pattern(pattern: str, escape: str | None = "\\") -> Callable[[str], bool]:
    """Return the test of a whole text: ``%`` is any text, ``_`` any character, ``escape`` takes the next one as it is.

    >>> like_pattern("a%_")("abc"), like_pattern("5!%", "!")("5%"), like_pattern("5!%", "!")("50")
    (True, True, False)
    """
    return (_like_pattern if len(pattern) <= LONGEST_KEPT else _like_pattern.__wrapped__)(pattern, escape)


@lru_cache(maxsize=1024)
def _like_pattern(pattern: str, escape: str | None) -> Callable[[str], bool]:
    if "_" in pattern and len(pattern) > MAX_LENGTH:
        raise EplRuntimeError(f"A like pattern with '_' has {len(pattern)} characters; {MAX_LENGTH} are the most")
    runs = _runs(pattern, escape)
    first, *others = map(_Run, runs)
    if not others:
        return first.is_all
    matches = _matcher(first, others[:-1], others[-1])
    if not _HAS_ATOMIC or len(pattern) > LONGEST_KEPT:
        return matches
    begin, *between, end = ("".join("." if c is None else re.escape(c) for c in run) for run in runs)
    at_once = re.compile(f"{begin}{''.join(f'(?>.*?{run})' for run in between)}.*{end}", re.DOTALL).fullmatch  # the same, by one call
    longest = QUICK_STEPS // max(len(pattern), 1)
    return lambda text: at_once(text) is not None if len(text) <= longest else matches(text)


def _runs(pattern: str, escape: str | None) -> list[list[str | None]]:
    """Return the characters between the ``%``; None for ``_``."""
    runs: list[list[str | None]] = [[]]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == escape and position + 1 < len(pattern):
            position += 1
            runs[-1].append(pattern[position])
        elif character == "%":
            if runs[-1] or len(runs) == 1:
                runs.append([])
        else:
            runs[-1].append(None if character == "_" else character)
        position += 1
    return runs


class _Run:
    """Characters without ``%`` among them: all of one length, so that nothing is tried twice at one place."""

    __slots__ = ("length", "literal", "search")

    def __init__(self, characters: Sequence[str | None]) -> None:
        self.length = len(characters)
        self.literal = None if None in characters else "".join(c for c in characters if c is not None)
        self.search = None
        if self.literal is None:
            self.search = re.compile("".join("." if c is None else re.escape(c) for c in characters), re.DOTALL)

    def is_at_place(self, text: str, place: int) -> bool:
        if self.search is None:
            return text.startswith(self.literal or "", place)
        return self.search.match(text, place) is not None

    def is_all(self, text: str) -> bool:
        return len(text) == self.length and self.is_at_place(text, 0)

    def find(self, text: str, place: int, end: int) -> int:
        """Return the leftmost place from ``place`` on, before ``end``; -1 if there is none."""
        if self.search is None:
            return text.find(self.literal or "", place, end)
        if self.length * (end - place) > MAX_STEPS:
            raise EplRuntimeError(
                f"Like compares a string of {len(text)} characters with {self.length} characters that hold '_': "
                f"more than {MAX_STEPS} steps", hint="shorten the text or the pattern")
        match = self.search.search(text, place, end)
        return -1 if match is None else match.start()


def _matcher(first: _Run, between: Sequence[_Run], last: _Run) -> Callable[[str], bool]:
    shortest = first.length + sum(r.length for r in between) + last.length

    def matches(text: str) -> bool:
        end = len(text) - last.length
        if len(text) < shortest or not first.is_at_place(text, 0) or not last.is_at_place(text, end):
            return False
        place = first.length
        for run in between:
            place = run.find(text, place, end)
            if place < 0:
                return False
            place += run.length
        return True

    return matches
