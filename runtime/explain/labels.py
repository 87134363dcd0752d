"""Text in pictures: EPL and names come from users, so each format escapes what would be syntax there."""
from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

LONGEST = 160
"""Characters of a label's line; what is longer is shortened."""

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def clean(text: str, longest: int = LONGEST) -> str:
    """Return a text without characters that no picture can show or that would turn its direction, shortened.

    >>> clean("a\\x00b\\n" + "x" * 9, 8)
    'a�b�xxx…'
    """
    text = _UNPRINTABLE.sub("�", text.replace("\t", " "))
    return text if len(text) <= longest else f"{text[:longest - 1]}…"


def wrap_lines(lines: Iterable[str], width: int, most: int) -> list[str]:
    """Return the lines broken at spaces, at most so many of them."""
    rows = [row for line in lines for row in _rows(clean(line, 4 * LONGEST), width)]
    return rows if len(rows) <= most else [*rows[:most - 1], "…"]


def _rows(line: str, width: int) -> Iterator[str]:
    yield from textwrap.wrap(line, width, break_long_words=True, break_on_hyphens=False) or [""]


__all__ = ["LONGEST", "clean", "wrap_lines"]
