"""The words of a module with their places, statement by statement: comments are no words, strings and quoted names are."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from epl.spans import Span
from runtime.tools.modules import pieces

WORDS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<string>'[^'\\]*(?:\\.[^'\\]*)*(?:'|\Z)|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))
    |(?P<name>`[^`]*`|[A-Za-z_$][\w$]*)
    |(?P<sign>->|\d[\w.]*|[^\s\w])""",
    re.DOTALL | re.VERBOSE,
)


@attrs.frozen
class SourceWord:
    """``kind``: name, string or sign. ``name``: without the quotes of a quoted name."""

    text: str
    start: int
    kind: str

    @property
    def name(self) -> str:
        return self.text.strip("`")

    @property
    def span(self) -> Span:
        return Span(self.start, self.start + len(self.text))


Words = Sequence[SourceWord]
"""Of one statement."""


def split_statements(text: str) -> list[Words]:
    """Return the words of each statement.

    >>> [[word.text for word in words] for words in split_statements("select a /* b */ from `c`; // end")]
    [['select', 'a', 'from', '`c`']]
    """
    return [read_words(piece.text, piece.start) for piece in pieces(text)]


def read_words(text: str, start: int = 0) -> Words:
    """Return the words of a text that begins at the offset ``start`` of its module."""
    return [
        SourceWord(match.group(), start + match.start(), match.lastgroup or "")
        for match in WORDS.finditer(text) if match.lastgroup != "comment"
    ]  # fmt: skip


def lower(words: Words, index: int) -> str:
    """Return a word in lower case, nothing where there is none."""
    return words[index].text.lower() if 0 <= index < len(words) else ""


def closing(words: Words, index: int) -> int:
    """Return the index of the bracket that closes the one at ``index``, or of the end."""
    depth = 0
    for at in range(index, len(words)):
        if words[at].kind == "sign":
            depth += (words[at].text in "([{") - (words[at].text in ")]}")
            if depth == 0:
                return at
    return len(words)


__all__ = ["SourceWord", "Words", "closing", "lower", "read_words", "split_statements"]
