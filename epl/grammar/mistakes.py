"""What to tell people about text that is not EPL."""

from __future__ import annotations

import difflib

from epl.errors import EplSyntaxError
from epl.grammar.elements import Source
from epl.grammar.lexis import KEYWORDS, RESERVED_FOR_NAMES, Token

_NAMES = {
    ")": "a closing parenthesis ')'", "(": "an opening parenthesis '('", "]": "a right angle bracket ']'", "[": "a left angle bracket '['",
    "}": "a right curly bracket '}'", "{": "a left curly bracket '{'", ",": "a comma ','", ":": "a colon ':'", ";": "a semicolon ';'",
    "=": "an equals '='",
    "<": "a lesser then '<'", ">": "a greater then '>'", "<=": "a less equals '<='", ">=": "a greater equals '>='", "*": "a star '*'",
    "-": "a minus '-'",
    "+": "a plus operator '+'", ".": "a dot '.'", "->": "an followed-by '->'", "#": "a hash '#'", "@": "an at '@'",
}  # fmt: skip


def incorrect_syntax(source: Source) -> EplSyntaxError:
    """The error at the furthest place that the grammar reached."""
    token = source.at.get(source.furthest, source.tokens.end)
    expected = list(dict.fromkeys(source.expected))
    if token.kind == "end":
        near, found = "end-of-input", "end-of-input"
    else:
        near, found = f"'{token.text}'", _described(token)
    message = f"Incorrect syntax near {near}"
    if token.kind == "word" and token.key in RESERVED_FOR_NAMES:
        message += " (a reserved keyword)"
    if len(expected) == 1:
        message += f" expecting {_expectation(expected[0])} but found {found}"
    return EplSyntaxError(message, span=token.span, text=source.tokens.text, hint=_hint(source, token, expected))


def _expectation(expected: str) -> str:
    if expected in _NAMES:
        return _NAMES[expected]
    return f"'{expected}'" if expected.isidentifier() or "-" in expected else expected


def _described(token: Token) -> str:
    if token.kind == "symbol":
        return _NAMES.get(token.key, f"'{token.text}'")
    if token.kind == "word":
        return f"'{token.text}'" if token.key in RESERVED_FOR_NAMES else "an identifier"
    return {"quoted": "an identifier", "integer": "IntegerLiteral", "float": "FloatingPointLiteral"}.get(token.kind, "a string literal")


def _hint(source: Source, token: Token, expected: list[str]) -> str | None:
    """A near-miss keyword, an open bracket, or what could have stood there."""
    words = sorted({word for choice in expected for word in choice.split("|") if word.isidentifier()})
    for candidate in (token, source.tokens.preceding(token.start)):
        if candidate is not None and candidate.kind == "word" and candidate.key not in KEYWORDS:
            known = words if candidate is token and words else sorted(KEYWORDS)
            near = difflib.get_close_matches(candidate.key, known, n=3, cutoff=0.75)
            if near:
                letters = sorted(candidate.key)
                return f"did you mean '{min(near, key=lambda word: sorted(word) != letters)}'?"
    if token.kind == "word" and token.key in RESERVED_FOR_NAMES and "an identifier" in expected:
        return f"'{token.text}' is a reserved word; write `{token.text}` to use it as a name"
    choices = [word for choice in dict.fromkeys(expected) for word in choice.split("|")]
    if 1 < len(choices) <= 8:
        return "expected one of: " + ", ".join(choices)
    return None
