"""Text of a dialect → tokens."""
from __future__ import annotations

import re

import attrs

from epl.dialects.errors import DialectError


@attrs.frozen
class Dialect:
    """How the words of a dialect are written, and whose rules hold."""

    name: str
    folds_case: bool
    """Names without quotes are equal in any case."""
    name_quotes: str
    text_quotes: str
    backslashes: bool = False
    """Texts have backslash escapes."""
    streaming: bool = False
    """Tables are streams: Flink's refusals differ."""

    def canonical(self, name: str, quoted: bool) -> str:
        """Return the name as it is compared."""
        return name if quoted or not self.folds_case else name.upper()


SQL = Dialect("sql", True, '"', "'")
FLINK = Dialect("flink", False, "`", "'")
ALIBABA = Dialect("alibaba", False, "`", "'")
YDB = Dialect("ydb", False, "`", "'\"", backslashes=True)
DIALECTS = {dialect.name: dialect for dialect in (SQL, FLINK, ALIBABA, YDB)}


@attrs.frozen(slots=True)
class SqlToken:
    """``kind``: name, quoted, text, integer, decimal, double, sign or end; ``text``: without quotes; ``word``: of a name, in upper case."""

    kind: str
    text: str
    at: int
    end: int
    word: str


SPACE = re.compile(r"(?:\s+|--[^\n]*|/\*.*?\*/)+", re.DOTALL)
NUMBER = re.compile(r"0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.\d*|\.\d+|\d[\d_]*)(?:[eE][+-]?\d+)?")
BASED = ("0x", "0o", "0b")
NAME = re.compile(r"[^\W\d]\w*")
NAME_OF_CALCITE = re.compile(r"[^\W\d][\w$]*")
SIGNS = re.compile(r"\{-|-\}|<>|!=|<=|>=|==|\|\||->|=>|[-+*/%(),.;:<>=\[\]{}?|^$~@]")
LONGEST_NUMBER = 1_000
"""Characters; a DECIMAL has 38 digits, a double 17 that matter."""
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


def tokens(text: str, dialect: Dialect) -> list[SqlToken]:
    """Return the tokens of the text, the last of kind ``end``."""
    taken: list[SqlToken] = []
    at = 0
    while at < len(text):
        space = SPACE.match(text, at)
        if space is not None:
            at = space.end()
            continue
        token = _token(text, at, dialect)
        taken.append(token)
        at = token.end
    taken.append(SqlToken("end", "<EOF>", len(text), len(text), ""))
    return taken


def next_token(text: str, at: int, dialect: Dialect) -> SqlToken | None:
    """Return the token that starts at the offset or, past space and comments, next after it; None at the end of the text."""
    space = SPACE.match(text, at)
    at = at if space is None else space.end()
    return _token(text, at, dialect) if at < len(text) else None


def _token(text: str, at: int, dialect: Dialect) -> SqlToken:
    sign = text[at]
    if sign in dialect.text_quotes:
        return _quotation(text, at, "text", dialect)
    if sign in dialect.name_quotes:
        return _quotation(text, at, "quoted", dialect)
    number = NUMBER.match(text, at)
    if number is not None:
        written = number.group().replace("_", "")
        if len(written) > LONGEST_NUMBER:
            raise DialectError("INVALID_LITERAL", f"Invalid numeric literal: {written[:40]}…", at)
        if written[:2].lower() in BASED:
            return SqlToken("integer", str(int(written, 0)), at, number.end(), "")
        kind = "double" if "e" in written.lower() else "decimal" if "." in written else "integer"
        return SqlToken(kind, written, at, number.end(), "")
    name = (NAME if dialect.name_quotes == '"' or dialect.backslashes else NAME_OF_CALCITE).match(text, at)
    if name is not None:
        return SqlToken("name", name.group(), at, name.end(), name.group().upper())
    known = SIGNS.match(text, at)
    if text.startswith("/*", at):  # each of many would be sought to the end of the text
        raise DialectError("SYNTAX_ERROR", "mismatched input '/'", at, hint="the comment has no end")
    if known is None:
        raise DialectError("SYNTAX_ERROR", f"mismatched input '{sign}'", at)
    return SqlToken("sign", known.group(), at, known.end(), known.group())


def _quotation(text: str, at: int, kind: str, dialect: Dialect) -> SqlToken:
    quote, here = text[at], at + 1
    stop = re.compile(rf"[{quote}\\]" if dialect.backslashes else quote)
    taken: list[str] = []
    while (sign := stop.search(text, here)) is not None:
        taken.append(text[here : sign.start()])
        here, following = sign.end(), text[sign.end() : sign.end() + 1]
        if sign.group() == quote and following != quote:
            return SqlToken(kind, "".join(taken), at, here, "")
        if sign.group() == quote:
            taken.append(quote)
        else:
            taken.append(ESCAPES.get(following, following) if following else "\\")
        here += 1
    raise DialectError("SYNTAX_ERROR", f"mismatched input '{quote}'", at, hint="the quote is not closed")


__all__ = ["ALIBABA", "DIALECTS", "FLINK", "SQL", "YDB", "Dialect", "SqlToken", "next_token", "tokens"]
