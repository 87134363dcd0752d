"""The words of EPL: tokens with their offsets, which words are reserved where, and what literals hold.

Keywords are words without regard to case; what a word means is decided by where it occurs. Comments are ``// …`` and ``/* … */`` only.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Literal

from epl.dialects.front_door import DialectText
from epl.errors import EplSyntaxError
from epl.spans import Span

Kind = Literal["word", "quoted", "string", "class text", "integer", "float", "symbol", "end"]

MAX_DEPTH = 100
"""How deep brackets may nest. The tree, and all that walks over it, stays as shallow as this times a small factor."""

_RESERVED = """all and any as asc by case create cube current_timestamp dataflow day days delete desc distinct else end
event-precedence every-distinct exists
expression false from group grouping grouping_id having hour hours in initiated inlined_class inner insert into irstream is istream
like limit match_recognize
match_recognize_permute measures microsecond microseconds millisecond milliseconds minute minutes month months msec new not null offset
on or order output
prevcount prevwindow regexp rollup rstream sec second seconds select sets some start terminated then true update usec values week weeks
when year years"""
_RESERVED_FOR_TYPES = """after at avedev avg between cast coalesce context count define escape every first for full index instanceof
join last lastweekday left
matched matches max median merge metadatasql min outer partition pattern prev prevtail prior retain-intersection retain-union right
schema set snapshot sql
stddev sum table typeof unidirectional until using variable weekday where while window"""

RESERVED = frozenset(_RESERVED.split())
"""Not usable as property names, column names and select aliases."""
RESERVED_FOR_TYPES = RESERVED | frozenset(_RESERVED_FOR_TYPES.split())
"""Not usable in the names of event types and classes."""
RESERVED_FOR_NAMES = RESERVED_FOR_TYPES | {"events"}
"""Not usable as names that a statement gives: streams, variables, windows, tables, contexts, tags."""
RESERVED_FOR_VIEWS = RESERVED_FOR_NAMES - {"merge"}
KEYWORDS = RESERVED_FOR_NAMES | frozenset(
    ["escape", "variant", "map", "union", "intersection", "next", "row", "past", "skip", "to", "current"]
)
READ_AS_NAMES = frozenset(
    ["match", "primary", "key", "inherits", "copyfrom", "starttimestamp", "endtimestamp", "granularity", "preallocate", "now", "inclusive"]
)
"""Words that the grammar reads as any name, and then checks."""

UNITS: dict[str, str] = {
    "year": "year", "years": "year", "month": "month", "months": "month", "week": "week", "weeks": "week", "day": "day", "days": "day",
    "hour": "hour", "hours": "hour", "minute": "minute", "minutes": "minute", "min": "minute", "sec": "second", "second": "second",
    "seconds": "second",
    "msec": "millisecond", "millisecond": "millisecond", "milliseconds": "millisecond",
    "usec": "microsecond", "microsecond": "microsecond", "microseconds": "microsecond",
}  # fmt: skip
"""Words of time periods → the unit."""

_TOKEN = re.compile(
    r"""
      (?P<space>(?:\s+|//[^\r\n]*|/\*.*?\*/)+)
    | (?P<word>(?:every-distinct|retain-union|retain-intersection|event-precedence)(?![\w$]) | [A-Za-z_$](?:[\w$]|\\\.)*)
    | (?P<float>(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[fFdD]?|\d+[fFdD])
    | (?P<integer>0[xX][0-9a-fA-F]+[lL]?|0[bB][01]+[lL]?|\d(?:[\d_]*\d)?[lL]?)
    | (?P<classtext>\"{3}.*?\"{3})
    | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<quoted>`(?:[^`])*`)
    | (?P<symbol>->|-\[|=>|<=|>=|<>|!=|==|\|\||--|\+\+|[-+*/%&|^~=<>()\[\]{},.;:?\#@!\\])
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)
_KINDS: dict[str, Kind] = {"classtext": "class text"}
_OPENING, _CLOSING = frozenset({"(", "[", "{", "-["}), frozenset(")]}")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: no character, and nothing that a file, a table or a terminal takes."""


class Token:
    """One token. ``key`` is what grammar compares: a word in lower case, a symbol as it is, else ``''``."""

    __slots__ = ("end", "key", "kind", "start", "text")

    def __init__(self, kind: Kind, text: str, start: int, end: int) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end
        self.key = text.lower() if kind == "word" else text if kind == "symbol" else ""

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


class Tokens:
    """The tokens of a text. ``at[offset]`` is the token that starts at the offset or, past space and comments, next after it.

    ``clauses``: those of SQL dialects, by their opening brackets; of what they hold there are no tokens.
    """

    def __init__(self, text: str, clauses: Mapping[int, DialectText] | None = None) -> None:
        self.text = text
        self.clauses = clauses or {}
        self.at: dict[int, Token] = {}
        self.all: list[Token] = []
        half = _HALF.search(text)
        if half is not None:
            raise _half_character(half.group(), Span(*half.span()), text)
        depth = position = after = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise _unknown(text, position)
            position = match.end()
            group = match.lastgroup or ""
            if group == "space":
                continue
            token = Token(_KINDS.get(group, group), match.group(), match.start(), position)  # type: ignore[arg-type]
            self.at[after] = self.at[token.start] = token
            after = position
            self.all.append(token)
            if token.kind == "string" and (half := _HALF.search(string_value(token))):
                raise _half_character(half.group(), token.span, text)
            if token.kind == "symbol":
                if token.key == "/" and text.startswith("*", position):
                    raise _unknown(text, token.start)  # each of many would be sought to the end of the text
                depth += (token.key in _OPENING) - (token.key in _CLOSING)
                if depth > MAX_DEPTH:
                    raise EplSyntaxError(
                        f"Incorrect syntax near '{token.text}', nested too deeply (more than {MAX_DEPTH} levels)",
                        span=token.span,
                        text=text,
                    )
                if token.start in self.clauses:
                    position = self.clauses[token.start].end - 1
        self.end = Token("end", "", len(text), len(text))
        self.at[after] = self.at[len(text)] = self.end
        self.all.append(self.end)

    def following(self, token: Token) -> Token:
        return self.at[token.end]

    def preceding(self, offset: int) -> Token | None:
        """Return the last token that ends at or before the offset."""
        index = bisect_left(self.all, offset, key=lambda token: token.start)
        return self.all[index - 1] if index else None


def _unknown(text: str, position: int) -> EplSyntaxError:
    character = text[position]
    if character < " " or "\x7f" <= character <= "\x9f":
        return EplSyntaxError(
            "Failed to parse: Unrecognized control characters found in text, failed to parse text",
            span=Span(position, position + 1),
            text=text,
        )
    if character in "'\"`":
        kind = "backtick" if character == "`" else "string"
        line = text[text.rfind("\n", 0, position) + 1 : position]
        hint = COMMENTS if "--" in line or line.lstrip().startswith("#") else None
        return EplSyntaxError(
            f"Incorrect syntax near {character}: the {kind} has no end", span=Span(position, position + 1), text=text, hint=hint
        )
    if text.startswith("/*", position):
        return EplSyntaxError("Incorrect syntax near '/*': the comment has no end", span=Span(position, position + 2), text=text)
    return EplSyntaxError(f"Incorrect syntax near '{character}': not a character of EPL", span=Span(position, position + 1), text=text)


def _half_character(half: str, span: Span, text: str) -> EplSyntaxError:
    return EplSyntaxError(
        f"Incorrect syntax near '\\u{ord(half):04x}': half of a surrogate pair is not a character", span=span, text=text.replace(half, "?"),
        hint="read EPL files as UTF-8; write characters beyond \\uffff as they are, or as both halves",
    )


def first_token_end(text: str) -> int:
    """Return where the first token of a text ends, which begins with one.

    >>> first_token_end("a=b"), first_token_end("->b")
    (1, 2)
    """
    match = _TOKEN.match(text)
    return match.end() if match else 0


COMMENTS = "a comment begins with // and ends with its line, or is between /* and */"


def begins_line(text: str, offset: int) -> bool:
    """Return whether nothing but space is before the offset in its line."""
    return not text[text.rfind("\n", 0, offset) + 1 : offset].strip()


def read_name(token: Token) -> str:
    """Return the name that a word or a backtick-quoted name stands for: quotes and backslashes before dots are taken off."""
    text = token.text[1:-1] if token.kind == "quoted" else token.text
    return text.replace("\\.", ".") if "\\" in text else text


def string_value(token: Token) -> str:
    r"""Return what a string literal holds. ``\uXXXX`` is read; before any other character the backslash is dropped, so that ``\n`` is
    ``n``, as in Esper; two halves of a surrogate pair are one character."""
    inner = token.text[1:-1]
    if "\\" not in inner:
        return inner
    text = _ESCAPE.sub(_unescape, inner)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") if _HALF.search(text) else text


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) == 5 and code[0] == "u":
        return chr(int(code[1:], 16))
    return code
