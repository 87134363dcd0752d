"""A cursor over tokens."""
from __future__ import annotations

from epl.dialects.errors import DialectError
from epl.dialects.hints import of_place
from epl.dialects.syntax.lexis import Dialect, SqlToken, tokens
from epl.dialects.syntax.tree import Name

RESERVED = frozenset((
    "ALTER", "AND", "AS", "BETWEEN", "BY", "CASE", "CAST", "CONSTRAINT", "CREATE", "CROSS", "CUBE", "CURRENT_DATE", "CURRENT_TIME",
    "CURRENT_TIMESTAMP", "DEALLOCATE", "DELETE", "DESCRIBE", "DISTINCT", "DROP", "ELSE", "END", "ESCAPE", "EXCEPT", "EXECUTE", "EXISTS",
    "EXTRACT", "FALSE", "FOR", "FROM", "FULL", "GROUP", "GROUPING", "HAVING", "IN", "INNER", "INSERT", "INTERSECT", "INTO", "IS",
    "JOIN", "LEFT", "LIKE", "LISTAGG", "LOCALTIME", "LOCALTIMESTAMP", "NATURAL", "NORMALIZE", "NOT", "NULL", "ON", "OR", "ORDER",
    "OUTER", "PREPARE", "RECURSIVE", "RIGHT", "ROLLUP", "SELECT", "SKIP", "TABLE", "THEN", "TRIM", "TRUE", "UNION", "UNNEST", "USING",
    "VALUES", "WHEN", "WHERE", "WITH",
))  # fmt: skip
"""Words that are not names without quotes."""
DEEPEST = 200
"""How deep expressions and patterns may be nested."""


class Reader:
    """The tokens of one text and the place where reading is."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.tokens = tokens(text, dialect)
        self.place = 0
        self.depth = 0

    @property
    def token(self) -> SqlToken:
        """The next token."""
        return self.tokens[self.place]

    @property
    def at(self) -> int:
        """The offset of the next token."""
        return self.tokens[self.place].at

    def peek(self, ahead: int = 1) -> SqlToken:
        """Return a token further on."""
        return self.tokens[min(self.place + ahead, len(self.tokens) - 1)]

    def sees(self, *words: str) -> bool:
        """Return whether these words or signs come next, one after the other."""
        return all(self.peek(k).word == word and self.peek(k).kind in ("name", "sign") for k, word in enumerate(words))

    def take(self, *words: str) -> bool:
        """Skip these words where they come next."""
        if not self.sees(*words):
            return False
        self.place += len(words)
        return True

    def take_any(self, *words: str) -> str | None:
        """Skip one of these words and return it; None where none of them comes."""
        for word in words:
            if self.take(word):
                return word
        return None

    def expect(self, *words: str, expected: str | None = None) -> int:
        """Skip these words, which have to come; return where they are. ``expected``: what a message says that may come."""
        at = self.at
        for word in words:
            if not self.take(word):
                raise self.wrong(expected or f"'{word}'")
        return at

    def next(self) -> SqlToken:
        """Return the next token and go on."""
        token = self.token
        self.place += 1
        return token

    def wrong(self, expected: str) -> DialectError:
        """Return the error that the next token is not what has to be there."""
        token = self.token
        written = self.text[token.at : token.end] or "<EOF>"
        if self.dialect.name in ("flink", "alibaba"):
            return self._not_of_calcite(written)
        hint = of_place(written, self.text[: token.at])
        return DialectError("SYNTAX_ERROR", f"mismatched input '{written}'. Expecting: {expected}", token.at, hint=hint)

    def _not_of_calcite(self, written: str) -> DialectError:
        at = self.at
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        message = f'ParseException: Encountered "{written}" at line {line}, column {column}.'
        return DialectError("SYNTAX_ERROR", message, at, hint=of_place(written, self.text[:at]))

    def is_name(self, ahead: int = 0) -> bool:
        """Return whether a name comes."""
        token = self.peek(ahead)
        return token.kind == "quoted" or (token.kind == "name" and token.word not in RESERVED)

    def name(self) -> Name:
        """Read a name."""
        if not self.is_name():
            raise self.wrong("<identifier>")
        token = self.next()
        quoted = token.kind == "quoted"
        return Name(token.at, token.text, quoted, self.dialect.canonical(token.text, quoted))

    def names_in_brackets(self) -> tuple[Name, ...]:
        """Read ``(a, b)``."""
        self.expect("(")
        names = [self.name()]
        while self.take(","):
            names.append(self.name())
        self.expect(")")
        return tuple(names)

    def whole_number(self, expected: str = "<integer>") -> int:
        """Read digits. ``expected``: what a message says that may come."""
        if self.token.kind != "integer":
            raise self.wrong(expected)
        digits, at = self.token.text, self.at
        if len(digits) > 19 or int(digits) >= 1 << 63:
            raise DialectError("INVALID_LITERAL", f"Invalid numeric literal: {digits}", at)
        self.place += 1
        return int(digits)

    def deeper(self) -> None:
        """Count a level of nesting; raises where there are too many."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise DialectError("STACK_OVERFLOW", f"statement is too large: more than {DEEPEST} levels of nesting", self.at)


__all__ = ["RESERVED", "Reader"]
