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
class Rule:
    """What looks like this. ``pattern`` is read by Python's and by editors' regular expressions; the first rule that matches wins."""

    kind: str
    pattern: str


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules, in order; words match without regard to case."""
    words = vocabulary()
    plain = set(words.keywords) - (AGGREGATIONS.keys() - {"first", "last"}) - {"prev", "prior", "cast", "coalesce", "typeof", "instanceof"}
    types = set(words.types) - AMBIGUOUS_TYPES - plain
    return (
        Rule("comment", r"//[^\r\n]*"),
        Rule("block comment", r"/\*[\s\S]*?\*/"),
        Rule("class text", r'"""[\s\S]*?"""'),
        Rule("string", r"'[^'\\]*(?:\\[\s\S][^'\\]*)*'"),
        Rule("string", r'"[^"\\]*(?:\\[\s\S][^"\\]*)*"'),
        Rule("quoted name", r"`[^`]*`"),
        Rule("annotation", rf"@{NAME}(?:\.{NAME})*"),
        Rule("namespace", rf"(?:\b|(?<=[.#])){_any(words.namespaces)}(?=:)"),
        Rule("window", rf"(?<=[#:]){_any(words.windows)}(?![\w$])"),
        Rule("number", r"0[xX][0-9a-fA-F]+[lL]?|0[bB][01]+[lL]?|(?:\d+\.\d*|\.\d+|\d[\d_]*)(?:[eE][+-]?\d+)?[lLfFdD]?(?![\w$])"),
        Rule("method", rf"(?<=[.:]){NAME}(?=\s*\()"),
        Rule("property", rf"(?<=\.){NAME}"),
        Rule("function", rf"(?<![\w$]){_any(words.functions)}(?=\s*\()"),
        Rule("constant", rf"(?<![\w$]){_any(words.constants)}(?![\w$])"),
        Rule("operator word", rf"(?<![\w$]){_any(words.operators)}(?![\w$])"),
        Rule("keyword", rf"(?<![\w$]){_any(plain)}(?![\w$])"),
        Rule("type", rf"(?<![\w$]){_any(types)}(?![\w$(])"),
        Rule("name", NAME),
        Rule("operator", r"->|=>|<=|>=|<>|!=|==|\|\||[-+*/%&|^~=<>?]"),
        Rule("punctuation", r"[()\[\]{},.;:#@!\\]"),
    )


def _any(words: object) -> str:
    """Match one of the words; of two with the same beginning the longer one."""
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))})"  # type: ignore[call-overload]


__all__ = ["Rule", "rules"]
