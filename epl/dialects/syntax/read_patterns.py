"""Tokens → row patterns."""
from __future__ import annotations

from epl.dialects.errors import DialectError
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.reader import Reader

MOST = 2147483647
PRIMARIES = "'$', '(', 'PERMUTE', '^', '{-', <identifier>"
"""What an element of a pattern may begin with, as messages list it."""
CALCITE = ("flink", "alibaba")
"""Dialects in which brackets around one variable mean nothing, and an empty pattern is not written."""


class PatternReader:
    """Reads what stands between the brackets of ``pattern (…)``."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def pattern(self, *closing: str) -> t.SqlPattern:
        """Read alternatives. ``closing``: the signs that may end them; ``)`` where there is none."""
        reader = self.reader
        reader.deeper()
        at = reader.at
        closing = closing or (")",)
        choices = [self._sequence(closing)]
        while reader.take("|"):
            choices.append(self._sequence(closing))
        reader.depth -= 1
        return choices[0] if len(choices) == 1 else t.PatternAlternation(at, tuple(choices))

    def _sequence(self, closing: tuple[str, ...]) -> t.SqlPattern:
        reader, at = self.reader, self.reader.at
        if not self._begins():
            raise reader.wrong(PRIMARIES)
        parts = [self._quantification()]
        while not any(reader.sees(sign) for sign in ("|", *closing)) and reader.token.kind != "end":
            if not self._begins():
                raise reader.wrong(_first_signs(PRIMARIES, "|", *closing, *self._more(parts[-1])))
            parts.append(self._quantification())
        return parts[0] if len(parts) == 1 else t.Sequence(at, tuple(parts))

    def _begins(self) -> bool:
        """Return whether an element comes."""
        reader = self.reader
        extended = reader.dialect.name == "alibaba" and reader.sees("[", "^")
        return extended or reader.is_name() or any(reader.sees(sign) for sign in ("(", "{-", "^", "$"))

    @staticmethod
    def _more(part: t.SqlPattern) -> tuple[str, ...]:
        """Return the signs that may follow an element as its own."""
        if not isinstance(part, t.QuantifiedPattern):
            return ("*", "+", "?", "{")
        return () if part.marks else ("?",)

    def _quantification(self) -> t.SqlPattern:
        pattern = self._primary()
        reader, at = self.reader, self.reader.at
        while reader.dialect.name in CALCITE and isinstance(pattern, t.PatternGroup) and isinstance(pattern.pattern,
            t.PatternVariable | t.PatternGroup):
            pattern = pattern.pattern
        start = reader.place
        bounds = self._bounds()
        if bounds is None:
            return pattern
        marks = 0
        while reader.take("?"):
            marks += 1
        if marks > 1 and reader.dialect.name != "alibaba":
            reader.place -= marks - 1
            raise reader.wrong(_first_signs(PRIMARIES, ")", "|"))
        until = None
        if reader.dialect.name == "alibaba" and reader.sees("{") and reader.is_name(1):
            reader.expect("{")
            until = reader.name()
            reader.expect("}")
        least, most = bounds
        written = reader.text[at : reader.peek(-1).end]
        braces = reader.tokens[start].word == "{"
        if reader.dialect.name in ("sql", "ydb"):
            self._check(at, least, most)
        return t.QuantifiedPattern(at, pattern, least, most, marks, braces, written, until)

    def _bounds(self) -> tuple[int, int | None] | None:
        reader = self.reader
        sign = reader.take_any("*", "+", "?")
        if sign is not None:
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        if not reader.sees("{"):
            return None
        if reader.dialect.name == "alibaba" and reader.is_name(1):
            return None
        reader.expect("{")
        if reader.token.kind != "integer" and not reader.sees(","):
            raise reader.wrong("',', <integer>")
        least = reader.whole_number() if reader.token.kind == "integer" else None
        if reader.take("}"):
            assert least is not None
            return least, least
        reader.expect(",")
        most = reader.whole_number() if reader.token.kind == "integer" else None
        reader.expect("}")
        return least or 0, most

    @staticmethod
    def _check(at: int, least: int, most: int | None) -> None:
        code = "NUMERIC_VALUE_OUT_OF_RANGE"
        if least > MOST:
            raise DialectError(code, f"Pattern quantifier lower bound must not exceed {MOST}", at)
        if most is not None and most < 1:
            raise DialectError(code, "Pattern quantifier upper bound must be greater than or equal to 1", at)
        if most is not None and most > MOST:
            raise DialectError(code, f"Pattern quantifier upper bound must not exceed {MOST}", at)
        if most is not None and least > most:
            raise DialectError("INVALID_RANGE", "Pattern quantifier lower bound must not exceed upper bound", at)

    def _primary(self) -> t.SqlPattern:
        reader, at = self.reader, self.reader.at
        if reader.take("("):
            if reader.sees(")") and reader.dialect.name in CALCITE:
                raise reader.wrong(PRIMARIES)
            if reader.take(")"):
                return t.Sequence(at, ())
            inner = self.pattern()
            reader.expect(")")
            return t.PatternGroup(at, inner)
        if reader.take("{-"):
            inner = self.pattern("-}")
            reader.expect("-}")
            return t.Exclusion(at, inner)
        for sign in ("^", "$"):
            if reader.take(sign):
                return t.Anchor(at, sign)
        if reader.dialect.name == "alibaba" and reader.sees("[", "^"):
            reader.place += 2
            name = reader.name()
            reader.expect("]")
            return t.NotNext(at, name)
        if reader.sees("PERMUTE", "(") and (reader.dialect.name != "sql" or self._has_several_parts()):
            return self._permutation(at)
        return t.PatternVariable(at, reader.name())

    def _has_several_parts(self) -> bool:
        """Return whether a comma stands between the brackets of PERMUTE; without one it is a variable before a group."""
        reader = self.reader
        place, depth = reader.place + 1, 0
        while place < len(reader.tokens):
            word = reader.tokens[place].word
            depth += (word in ("(", "{")) - (word in (")", "}"))
            if depth == 0 or (word == "," and depth == 1):
                return depth == 1
            place += 1
        return False

    def _permutation(self, at: int) -> t.SqlPattern:
        reader = self.reader
        reader.next()
        reader.expect("(")
        parts = [self.pattern(",", ")")]
        while reader.take(","):
            parts.append(self.pattern(",", ")"))
        reader.expect(")")
        return t.Permutation(at, tuple(parts))


def _first_signs(primaries: str, *signs: str) -> str:
    """Return the signs among what an element may begin with, as messages list them."""
    *begin, name = primaries.split(", ")
    return ", ".join([*sorted([*begin, *(f"'{sign}'" for sign in signs)]), name])


__all__ = ["CALCITE", "PRIMARIES", "PatternReader"]
