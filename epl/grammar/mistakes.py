"""Errors for text that is not EPL: what is wrong and what was probably meant."""

from __future__ import annotations

import difflib

from epl.errors import EplSyntaxError
from epl.foreign_words import phrase_hint
from epl.grammar.elements import SourceText
from epl.grammar.lexis import COMMENTS, KEYWORDS, RESERVED_FOR_NAMES, Token, begins_line

_NAMES = {
    ")": "a closing parenthesis ')'", "(": "an opening parenthesis '('", "]": "a right angle bracket ']'", "[": "a left angle bracket '['",
    "}": "a right curly bracket '}'", "{": "a left curly bracket '{'", ",": "a comma ','", ":": "a colon ':'", ";": "a semicolon ';'",
    "=": "an equals '='",
    "<": "a lesser then '<'", ">": "a greater then '>'", "<=": "a less equals '<='", ">=": "a greater equals '>='", "*": "a star '*'",
    "-": "a minus '-'",
    "+": "a plus operator '+'", ".": "a dot '.'", "->": "an followed-by '->'", "#": "a hash '#'", "@": "an at '@'",
}  # fmt: skip


def incorrect_syntax(source: SourceText) -> EplSyntaxError:
    """Return the error at the furthest place that the grammar reached."""
    token = source.at.get(source.furthest, source.tokens.end)
    expected = list(dict.fromkeys(source.expected))
    if token.kind == "end":
        message = _at_the_end(source, token, expected)
        return EplSyntaxError(message, span=token.span, text=source.tokens.text, hint=_hint(source, token, expected))
    token_text = _describe_token(token)
    message = f"Incorrect syntax near '{token.text}'"
    if token.kind == "word" and token.key in RESERVED_FOR_NAMES:
        message += " (a reserved keyword)"
    if len(expected) == 1:
        message += f" expecting {_expectation(expected[0])} but found {token_text}"
    return EplSyntaxError(message, span=token.span, text=source.tokens.text, hint=_hint(source, token, expected))


def _at_the_end(source: SourceText, token: Token, expected: list[str]) -> str:
    """Text that stops too early: what alone could have followed, or that it stops."""
    before = source.tokens.preceding(token.start)
    near = ""
    if before is not None and before.kind == "word" and before.key in RESERVED_FOR_NAMES:
        near = f"near end-of-input ('{before.text.lower()}' is a reserved keyword)"
    only = _only_choice(before, expected)
    if only is not None:
        return f"Incorrect syntax {near or 'near end-of-input'} expecting {_expectation(only)} but found end-of-input"
    line, column = token.span.line_column(source.tokens.text)
    return f"Unexpected end-of-input {near + ' ' if near else ''}at line {line} column {column - 1}"


_BRACKETS = (")", "]", "}", "{")
_AFTER = {"an identifier": ("schema", "window", "context", "define", "merge", "for", "from"), "(": ("pattern",)}
"""What Esper names as the only choice after these words alone; elsewhere there are several to it."""
_BEYOND_OPTIONS = {"matched": "then", "insert": "select"}
"""Word → what Esper names after it, though something optional may come before that."""


def _only_choice(before: Token | None, expected: list[str]) -> str | None:
    """Return what Esper says must follow where text ends: a single keyword or symbol, or the bracket after a finished phrase."""
    if len(expected) == 1:
        only = expected[0]
        if only in _AFTER:
            return only if before is not None and before.key in _AFTER[only] else None
        return only if only in _NAMES or only.isidentifier() else None
    beyond = _BEYOND_OPTIONS.get("" if before is None else before.key)
    if beyond in expected:
        return beyond
    if set(expected) <= {"as", "an identifier", "set"} and "set" in expected:
        return "set"
    brackets = [e for e in expected if e in _BRACKETS]
    finished = before is not None and (before.kind != "symbol" or before.key in ("(", ")")) and before.key not in RESERVED_FOR_NAMES
    return brackets[0] if finished and len(brackets) == 1 else None


def _expectation(expected: str) -> str:
    if expected in _NAMES:
        return _NAMES[expected]
    return f"'{expected}'" if expected.isidentifier() or "-" in expected else expected


def punctuation(token: Token) -> str | None:
    """Return what a token of punctuation is called, such as ``a comma ','``; None for any other."""
    return _NAMES.get(token.key)


def _describe_token(token: Token) -> str:
    if token.kind == "symbol":
        return _NAMES.get(token.key, f"'{token.text}'")
    if token.kind == "word":
        return f"'{token.text}'" if token.key in RESERVED_FOR_NAMES else "an identifier"
    return {"quoted": "an identifier", "integer": "IntegerLiteral", "float": "FloatingPointLiteral"}.get(token.kind, "a string literal")


STATEMENT_STARTS = frozenset({"select", "create", "insert", "on", "update", "expression", "context", "@"})
"""What a statement may begin with."""
_FOREIGN = {
    "--": COMMENTS, "#": COMMENTS, "==": "equality is written with one sign: =", "&&": "write and", "!": "write not",
}  # fmt: skip
"""What other languages write here."""


def _foreign(source: SourceText, token: Token) -> str | None:
    text = source.tokens.text
    before = source.tokens.preceding(token.start)
    if token.key == "#" and not begins_line(text, token.start) and before is not None and before.key != ";":
        return None
    pair = text[token.start - 1 : token.end] if token.key == "&" else token.key
    return _FOREIGN.get(pair)


def _of_other_languages(source: SourceText, token: Token) -> str | None:
    """Return the hint for a construct of SQL or another language, which the grammar left at this token or just before it."""
    text, begin = source.tokens.text, source.tokens.text.rfind(";", 0, token.start) + 1
    before = source.tokens.preceding(token.start)
    hint = phrase_hint(text[begin : token.start], text[token.start :])
    if hint is None and before is not None and before.start >= begin:
        hint = phrase_hint(text[begin : before.start], text[before.start :])
    return hint


def _starts_another(source: SourceText, token: Token, expected: list[str]) -> bool:
    """Return whether a finished statement is before the token, and the token begins the next one."""
    if token.key not in STATEMENT_STARTS or source.tokens.preceding(token.start) is None:
        return False
    return "end of input" in expected


def _hint(source: SourceText, token: Token, expected: list[str]) -> str | None:
    """Return a missing semicolon, a sign of another language, a near-miss keyword, an open bracket, or what could be there."""
    foreign = _foreign(source, token) or _of_other_languages(source, token)
    if foreign is not None:
        return foreign
    if _starts_another(source, token, expected):
        return f"'{token.text}' begins another statement: write a semicolon between the two"
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
