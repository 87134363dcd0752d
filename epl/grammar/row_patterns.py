"""``match_recognize ( … )``."""

from __future__ import annotations

from typing import Any

from pyparsing import Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.grammar.clauses import Clauses
from epl.grammar.elements import Element, Kit, Parsed, SourceText
from epl.spans import Span

_SKIPS = {"past last row", "to next row", "to current row"}


def match_recognize(kit: Kit, clauses: Clauses) -> ParserElement:
    """Return the clause as a whole; its parts are in fixed order."""
    expression = clauses.expression
    measure = kit.node(S.SelectItem, kit.field("expression", expression) + Opt(kit.key("as") + kit.field("alias", kit.name)))
    partition = Opt(kit.key("partition by") + kit.fields("partition_by", kit.item_list(expression)))
    skip = Opt(kit.key("after") + kit.field("skip", _skip(kit)))
    interval = (
        kit.key("interval")
        + kit.field("interval", clauses.expressions.time_period)
        + Opt(kit.value("or_terminated", True, "or terminated"))
    )
    definition = kit.convert(lambda parts, span: tuple(parts), kit.name + kit.key("as") + expression)
    define = Opt(kit.key("define") + kit.fields("defines", kit.item_list(definition)))
    measures = kit.key("measures") + kit.fields(
        "measures", Opt(kit.ahead(lambda token, _: token.key != "pattern", kit.item_list(measure), "a measure"))
    )
    pattern = kit.key("pattern (") + kit.field("pattern", row_pattern(kit, expression)) + kit.key(")")
    matches = Opt(kit.value("all_matches", True, "all matches"))
    return kit.node(
        S.MatchRecognize,
        kit.key("match_recognize (") + partition + measures + matches + skip + pattern + Opt(interval) + define + kit.key(")"),
    )


def _skip(kit: Kit) -> ParserElement:
    """Five words, which Esper reads whatever they are, and then refuses most."""

    def build(parts: list[Any], span: Span) -> str:
        match, skip, *rest = " ".join(parts).lower().split()
        words = " ".join(rest)
        if (match, skip) != ("match", "skip") or words not in _SKIPS:
            skips = " or ".join(f"AFTER MATCH SKIP TO {row} ROW" for row in ("LAST", "NEXT", "CURRENT"))
            message = f"Match-recognize AFTER clause must be either {skips}"
            kit.source.refuse(message, span, "past last row, to next row or to current row")
        return words

    return kit.convert(build, kit.any_name + kit.any_name + kit.any_name + kit.any_name + kit.any_name)


def row_pattern(kit: Kit, expression: ParserElement) -> ParserElement:
    """Return the element of a row pattern: alternation of concatenations of repeated atoms."""
    pattern = kit.reference()
    permute_items = kit.item_list(pattern)
    permutation = kit.convert(
        lambda parts, span: S.RowPermutation(tuple(parts), span=span), kit.key("match_recognize_permute (") + permute_items + kit.key(")")
    )
    variable = kit.convert(lambda parts, span: S.RowVariable(parts[0], span=span), kit.name)
    group = kit.key("(") + pattern + kit.key(")")
    atom = kit.dispatch({"(": group, "match_recognize_permute": permutation}, variable)
    repeated = _Repeated(kit.source, atom, expression)
    concatenation = kit.convert(
        lambda parts, span: parts[0] if len(parts) == 1 else S.RowConcatenation(tuple(parts), span=span), repeated + ZeroOrMore(repeated)
    )
    pattern.define(
        kit.convert(
            lambda parts, span: parts[0] if len(parts) == 1 else S.RowAlternation(tuple(parts), span=span),
            kit.item_list(concatenation, "|")
        )
    )
    return pattern


class _Repeated(Element):
    """An atom, its quantifier and its braces: ``A``, ``A*?``, ``A{2,3}``, ``(A B)+``."""

    def __init__(self, source: SourceText, atom: ParserElement, expression: ParserElement) -> None:
        super().__init__(source)
        self.atom = atom
        self.expression = expression

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        start = at[loc].start
        single = at[loc].key != "("
        permutation = at[loc].key == "match_recognize_permute"
        loc, tokens = self.atom._parse(instring, loc, do_actions)
        item = tokens[0]
        if permutation:
            return loc, [item]
        if not single:
            item = _build_group(item, at[loc].key)
        quantifier = ""
        if at[loc].key in ("*", "+", "?"):
            quantifier, loc = at[loc].key, at[loc].end
            if single and at[loc].key == "?":
                quantifier, loc = quantifier + "?", at[loc].end
        if at[loc].key == "{":
            loc, low, high, exact = self._braces(at[loc].end)
        elif not quantifier:
            return loc, [item]
        else:
            low, high, exact = None, None, False
        return loc, [S.RowRepetition(item, quantifier, low, high, exact, span=Span(start, loc))]  # type: ignore[arg-type]

    def _braces(self, loc: int) -> tuple[int, S.Expression | None, S.Expression | None, bool]:
        at = self.source.at
        start = loc
        low = high = None
        exact = False
        if at[loc].key not in (",", "}"):
            loc, low = self._limit(loc)
            exact = at[loc].key == "}"
        if at[loc].key == ",":
            loc = at[loc].end
            if at[loc].key != "}":
                loc, high = self._limit(loc)
        if low is high is None and at[loc].key == "}":
            braces = self.source.tokens.text[start - 1 : at[loc].end]
            self.source.refuse(f"Invalid match-recognize quantifier '{braces}', expecting an expression", Span(start - 1, at[loc].end))
        if at[loc].key != "}":
            self.source.fail(loc, at[loc], "}", self)
        return at[loc].end, low, (low if exact else high), exact

    def _limit(self, loc: int) -> tuple[int, S.Expression]:
        loc, tokens = self.expression._parse(self.source.tokens.text, loc, True)
        return loc, tokens[0]


def _build_group(item: S.RowPattern, following: str) -> S.RowPattern:
    """Return a single item in parentheses: kept as a group where that makes a difference, ``(A)*`` and ``(A{2})``."""
    repeated = following in ("*", "+", "?", "{")
    if (isinstance(item, S.RowVariable) and repeated) or (isinstance(item, S.RowRepetition) and (repeated or item.low or item.high)):
        return S.RowConcatenation((item,), span=item.span)
    return item
