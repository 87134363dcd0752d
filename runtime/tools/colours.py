"""How EPL text is coloured: one list of rules, of which the Pygments lexer and the TextMate grammar consist."""

from __future__ import annotations

import re
from functools import cache

import attrs

from epl.aggregations.functions import AGGREGATIONS
from runtime.tools.vocabulary import vocabulary

NAME = r"[A-Za-z_$][\w$]*"
AMBIGUOUS_TYPES = frozenset({"date", "calendar", "number", "object", "null", "decimal"})
"""Types whose names are more often those of properties."""


@attrs.frozen
class ColourRule:
    """The text that has one colour. ``pattern`` is read by Python's and by editors' regular expressions; the first rule that matches
    wins."""

    kind: str
    pattern: str


@cache
def rules() -> tuple[ColourRule, ...]:
    """Return the rules, in order; words match without regard to case."""
    words = vocabulary()
    plain = set(words.keywords) - (AGGREGATIONS.keys() - {"first", "last"}) - {"prev", "prior", "cast", "coalesce", "typeof", "instanceof"}
    types = set(words.types) - AMBIGUOUS_TYPES - plain
    return (
        ColourRule("comment", r"//[^\r\n]*"),
        ColourRule("block comment", r"/\*[\s\S]*?\*/"),
        ColourRule("class text", r'"""[\s\S]*?"""'),
        ColourRule("string", r"'[^'\\]*(?:\\[\s\S][^'\\]*)*'"),
        ColourRule("string", r'"[^"\\]*(?:\\[\s\S][^"\\]*)*"'),
        ColourRule("quoted name", r"`[^`]*`"),
        ColourRule("annotation", rf"@{NAME}(?:\.{NAME})*"),
        ColourRule("namespace", rf"(?:\b|(?<=[.#])){_any(words.namespaces)}(?=:)"),
        ColourRule("window", rf"(?<=[#:]){_any(words.windows)}(?![\w$])"),
        ColourRule("number", r"0[xX][0-9a-fA-F]+[lL]?|0[bB][01]+[lL]?|(?:\d+\.\d*|\.\d+|\d[\d_]*)(?:[eE][+-]?\d+)?[lLfFdD]?(?![\w$])"),
        ColourRule("method", rf"(?<=[.:]){NAME}(?=\s*\()"),
        ColourRule("property", rf"(?<=\.){NAME}"),
        ColourRule("function", rf"(?<![\w$]){_any(words.functions)}(?=\s*\()"),
        ColourRule("constant", rf"(?<![\w$]){_any(words.constants)}(?![\w$])"),
        ColourRule("operator word", rf"(?<![\w$]){_any(words.operators)}(?![\w$])"),
        ColourRule("keyword", rf"(?<![\w$]){_any(plain)}(?![\w$])"),
        ColourRule("type", rf"(?<![\w$]){_any(types)}(?![\w$(])"),
        ColourRule("name", NAME),
        ColourRule("operator", r"->|=>|<=|>=|<>|!=|==|\|\||[-+*/%&|^~=<>?]"),
        ColourRule("punctuation", r"[()\[\]{},.;:#@!\\]"),
    )


def _any(words: object) -> str:
    """Match one of the words; of two with the same beginning the longer one."""
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))})"  # type: ignore[call-overload]


__all__ = ["ColourRule", "rules"]
