"""Literals of EPL: what numbers, words and strings stand for."""

from __future__ import annotations

from epl.errors import EplValidationError
from epl.grammar.lexis import Token, string_value
from epl.spans import Span
from epl.syntax import Literal

_BYTE_MAX = 2**7
_INT_MAX = 2**31
_LONG_MAX = 2**63
_LONG_DIGITS = 19
_MOST_SHOWN = 100
WORDS: dict[str, tuple[bool | None, str]] = {"null": (None, "null"), "true": (True, "boolean"), "false": (False, "boolean")}


def string_literal(token: Token) -> Literal:
    return Literal(value=string_value(token), kind="string", double_quotes=token.text.startswith('"'), span=token.span)


def _too_large(text: str, span: Span) -> EplValidationError:
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    return EplValidationError(
        f'For input string: "{shown}"', span=span, hint="the number is too large for a long; write it as a string and cast it"
    )


def number(token: Token, sign: str = "", start: int | None = None) -> Literal:
    """Return the literal of a number token, with the sign before it.

    A whole number too large for int is a long, hexadecimal ones are bytes (and a sign before them is lost, as in Esper). Numbers that
    Java's parser does
    not read (``0b1``, ``1_000``, ``0xFF``, beyond long) are refused, as Esper refuses them.
    """
    span = Span(token.start if start is None else start, token.end)
    text = token.text
    value: int | float
    if token.kind == "float":
        if text[-1] in "fF":
            return Literal(value=float(sign + text[:-1]), kind="float", span=span)
        return Literal(value=float(sign + text.rstrip("dD")), kind="double", span=span)
    digits = text.rstrip("lL")
    hexadecimal = digits[:2] in ("0x", "0X")
    if "_" in text or digits[:2] in ("0b", "0B") or (hexadecimal and (digits != text or int(digits, 16) >= _BYTE_MAX)):
        raise EplValidationError(f'For input string: "{text}"', span=span, hint="write the number with plain digits")
    if hexadecimal:
        return Literal(value=int(digits, 16), kind="byte", span=span)
    if len(digits.lstrip("0")) > _LONG_DIGITS:
        raise _too_large(text, span)
    value = int(sign + (digits.lstrip("0") or "0"))
    if digits != text or abs(value) >= _INT_MAX:
        if not -_LONG_MAX <= value < _LONG_MAX:
            raise _too_large(text, span)
        return Literal(value=value, kind="long", span=span)
    return Literal(value=value, kind="int", span=span)
