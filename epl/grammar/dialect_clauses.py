"""``match_recognize (…)`` of a SQL dialect: a part of what a stream reads from. What its brackets hold is the dialect's."""
from __future__ import annotations

from typing import Any

from pyparsing import ParserElement, ZeroOrMore

from epl import syntax as S
from epl.dialects.front_door import DialectText
from epl.grammar.elements import Element, Kit, Parsed, SourceText
from epl.spans import Span


def recognition_source(kit: Kit, source: ParserElement) -> ParserElement:
    """Return the element of a source with, perhaps, clauses, each of which reads the rows of the one before it."""
    return kit.convert(lambda parts, span: _build_source(kit.source, parts, span), source + ZeroOrMore(_Clause(kit.source)))


def _build_source(source: SourceText, parts: list[Any], span: Span) -> S.Source:
    read: S.Source = parts[0]
    clauses: list[DialectText] = parts[1:]
    for clause in clauses:
        text = source.tokens.text[clause.opening : clause.end]
        read = S.RecognitionSource(read, text, clause.dialect, clause.opening, clause.reason, span=span)
    return read


class _Clause(Element):
    """Yields the ``DialectText`` of a clause."""

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        opening = self.source.at[token.end]
        clause = self.source.tokens.clauses.get(opening.start) if token.key == "match_recognize" else None
        if clause is None:
            self.source.fail(loc, token, "match_recognize", self)
        return clause.end, [clause]


class RefusedClause(_Clause):
    """A clause where none is supported, which is refused: it yields nothing. ``place``: where that is."""

    def __init__(self, source: SourceText, place: str, hint: str) -> None:
        super().__init__(source)
        self.place = place
        self.hint = hint

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        after, (clause,) = super().parseImpl(instring, loc, do_actions)
        words = f"{self.place} match_recognize in dialect '{clause.dialect}' is not supported"
        self.source.refuse(words, Span(self.source.at[loc].start, after), self.hint)
        return after, []


def window_before_clause(kit: Kit) -> RefusedClause:
    """Return what refuses a data window in front of a clause."""
    return RefusedClause(kit.source, "A data window in front of", "a data window after its bracket keeps the rows of its table")


def alias_before_clause(kit: Kit) -> RefusedClause:
    """Return what refuses a stream's alias in front of a clause."""
    return RefusedClause(kit.source, "An alias in front of", "write the alias after its bracket: it is the name of the clause's rows")
