"""Java's regular expressions, matched within a bounded number of steps.

Python's engine tries one way after another and cannot be interrupted: ``(a+)+$`` over forty characters takes days. So it is used only
where the pattern's shape and the text's length say that it cannot take long (``Cost``). Everything else is matched by RE2, in time linear
in the text. What RE2 does not have (look-around, back-references, possessive quantifiers, atomic groups, intersections of classes) has a
longest text, beyond which it is an error.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from epl.errors import EplRuntimeError
from epl.functions.java_regex import LONGEST_PATTERN, UnsupportedPattern, translate
from epl.functions.linear_regex import LinearPattern, NotLinear, linear

QUICK_STEPS = 100_000
"""Up to so many steps Python's engine is taken, since a call of it takes less than one of RE2."""
MOST_STEPS = 20_000_000
"""Up to so many, some seconds, where RE2 cannot be taken."""


class JavaPattern:
    """A compiled pattern. Its matches are those of Python's ``re`` or of RE2, which have the same methods."""

    __slots__ = ("pattern", "_python", "_cost", "_linear", "_quick", "_quick_find")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._python, self._cost = translate(pattern)
        self._quick, self._quick_find = (longest(steps, QUICK_STEPS) for steps in (self._cost.whole, self._cost.anywhere))
        self._linear: LinearPattern | bool | None = False  # made when it is needed first

    def matches(self, text: str) -> bool:
        """Return whether the whole text matches."""
        if len(text) <= self._quick:
            return self._python.fullmatch(text) is not None
        linear = self._by_re2(text)
        if linear is not None:
            return linear.matches(text)
        self._check(self._cost.whole(len(text)), text)
        return self._python.fullmatch(text) is not None

    @property
    def groups(self) -> int:
        """The number of groups that keep what they match."""
        return self._python.groups

    def finditer(self, text: str, start: int = 0) -> Iterator[Any]:
        """Return the matches one after another, from a place in the text on."""
        if len(text) <= self._quick_find:
            return find_successive(self._python, text, start)
        linear = self._by_re2(text)
        if linear is not None and linear.finds_alike:
            return linear.finditer(text, start)
        self._check(self._cost.anywhere(len(text)), text)
        return find_successive(self._python, text, start)

    def _by_re2(self, text: str) -> LinearPattern | None:
        """Return the pattern for RE2, if it says the same there for such a text."""
        if self._linear is False:
            try:
                self._linear = linear(self.pattern)
            except NotLinear:
                self._linear = None
        compiled = self._linear
        return compiled if isinstance(compiled, LinearPattern) and compiled.takes(text) else None

    def _check(self, steps: float, text: str) -> None:
        if steps > MOST_STEPS:
            raise EplRuntimeError(
                f"The regular expression '{show_pattern(self.pattern)}' over a string of {len(text)} characters may take more than "
                f"{MOST_STEPS} steps",
                hint="write it without look-around, back-references, possessive quantifiers and intersections of classes, "
                     "or with fewer repetitions, none within another")


def longest(steps: Callable[[int], float], most: int) -> int:
    """Return the longest text that takes so many steps at most; -1 if there is none."""
    low, high = -1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if steps(middle) <= most else (low, middle - 1)
    return low


def find_successive(pattern: re.Pattern[str], text: str, place: int = 0) -> Iterator[re.Match[str]]:
    """Yield the matches as ``Matcher.find`` has it: after a match of no length it goes on at the next character (``finditer`` tries there
    again). ``place``: where to begin."""
    while place <= len(text):
        match = pattern.search(text, place)
        if match is None:
            return
        yield match
        place = max(match.end(), match.start() + 1)


def show_pattern(pattern: str) -> str:
    return pattern if len(pattern) <= 100 else pattern[:100] + "…"


def java_pattern(pattern: str) -> JavaPattern:
    """Return the compiled pattern.

    Raises UnsupportedPattern for what cannot be translated, JavaException (a PatternSyntaxException) for what Java refuses too.

    >>> java_pattern("(a+)+$").matches("a" * 1000 + "!"), [m[0] for m in java_pattern("\\\\d+").finditer("1 and 22")]
    (False, ['1', '22'])
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UnsupportedPattern(f"A regular expression of {len(pattern)} characters: {LONGEST_PATTERN} are the most")
    return _java_pattern(pattern)


@lru_cache(maxsize=1024)
def _java_pattern(pattern: str) -> JavaPattern:
    return JavaPattern(pattern)


__all__ = ["JavaPattern", "java_pattern"]
