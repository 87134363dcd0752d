"""EPL patterns: ``every a=A -> (b=B(id = a.id) where timer:within(10 sec))``."""

from __future__ import annotations

from functools import partial
from typing import Any

from pyparsing import Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.grammar.clauses import Clauses
from epl.grammar.elements import Element, FieldValue, Kit, NumberLiteral, Parsed, SourceText
from epl.spans import Span
from epl.syntax import patterns as P


def pattern_source(kit: Kit, clauses: Clauses, pattern: ParserElement) -> ParserElement:
    """Return the element of ``pattern @SuppressOverlappingMatches [ … ]``."""
    annotations = kit.fields("annotations", ZeroOrMore(clauses.annotation))
    return kit.node(S.PatternSource, kit.key("pattern") + annotations + kit.key("[") + kit.field("pattern", pattern) + kit.key("]"))


def event_pattern(kit: Kit, clauses: Clauses) -> ParserElement:
    """Return the element of patterns, from loose to tight: ``->``, ``or``, ``and``, ``until`` with ``[n:m]``, ``every not every-distinct``,
    guards, atoms."""
    pattern = kit.reference()
    expressions = clauses.expressions
    parameters = kit.fields("arguments", expressions.parameters)
    level = Opt(kit.key("(") + NumberLiteral(kit.source) + kit.key(")"))
    consume = kit.fields("annotations", kit.convert(partial(_consume, kit.source), kit.key("@") + kit.name + level))
    named_tag = kit.field("tag", kit.name) + kit.key("=")
    tag = Opt(kit.ahead(lambda token, after: after.key == "=" and token.kind != "quoted", named_tag, "a tag"))
    filters = Opt(kit.key("(") + kit.fields("filters", Opt(expressions.item_list)) + kit.key(")"))
    contained = kit.fields("contained", ZeroOrMore(clauses.contained))
    filtered = kit.node(P.FilterAtom, tag + kit.field("type_name", kit.type_name) + filters + contained + Opt(consume))
    observer = kit.node(
        P.Observer,
        kit.field("namespace", kit.name)
        + kit.key(":")
        + kit.field("name", kit.observer_name)
        + kit.fields("arguments", expressions.observer_parameters),
    )
    group = kit.key("(") + pattern + kit.key(")")
    atom = kit.ahead(lambda token, after: after.key == ":" and token.key != "(", observer, "an observer") | kit.dispatch(
        {"(": group}, filtered
    )
    condition = kit.value("name", "while", "while") + kit.fields("arguments", kit.key("(") + expressions.expression + kit.key(")"))
    named = kit.key("where") + kit.field("namespace", kit.name) + kit.key(":") + kit.field("name", kit.name) + parameters
    guarded = kit.convert(_build_guard, atom + Opt(kit.dispatch({"where": named, "while": condition})))
    distinct = kit.convert(lambda parts, span: FieldValue("distinct", tuple(parts)),
        kit.key("every-distinct") + expressions.some_parameters)
    word = kit.convert(lambda parts, span: FieldValue(parts[0], None), kit.choice("every not"))
    prefix = kit.dispatch({"every-distinct": distinct}, word)
    bounds = _Bounds(kit.source, expressions.expression)
    until = _Until(kit.source, _Qualified(kit.source, prefix, guarded, bounds), bounds)
    both = kit.convert(lambda parts, span: parts[0] if len(parts) == 1 else P.And(tuple(parts), span=span), kit.item_list(until, "and"))
    either = kit.convert(lambda parts, span: parts[0] if len(parts) == 1 else P.Or(tuple(parts), span=span), kit.item_list(both, "or"))
    limited = kit.key("-[") + expressions.expression + kit.key("]") + kit.key(">")
    arrow = kit.convert(lambda parts, span: FieldValue("limit", parts[0] if parts else None),
        kit.dispatch({"->": kit.key("->"), "-[": limited}))
    pattern.define(kit.convert(_build_sequence, either + ZeroOrMore(arrow + either)))
    return pattern


def _build_guard(parts: list[Any], span: Span) -> P.Pattern:
    item: P.Pattern = parts[0]
    return P.Guard(item, **dict(parts[1:]), span=span) if len(parts) > 1 else item


def _consume(source: SourceText, parts: list[Any], span: Span) -> S.Annotation:
    if parts[0].lower() != "consume":
        source.refuse(f"Unexpected pattern filter @ annotation, expecting 'consume' but received '{parts[0]}'", span)
    return S.Annotation(parts[0], (("value", parts[1].value),) if len(parts) > 1 else (), span=span)


def _build_sequence(parts: list[Any], span: Span) -> P.Pattern:
    if len(parts) == 1:
        return parts[0]  # type: ignore[no-any-return]
    limits = tuple(bound.value for bound in parts[1::2])
    return P.FollowedBy(tuple(parts[::2]), limits, span=span)


class _Qualified(Element):
    """``every [n:m] atom guard``: one word in front at most, one guard at most; the guard binds tighter than bounds and words."""

    def __init__(self, source: SourceText, prefix: ParserElement, guarded: ParserElement, bounds: _Bounds) -> None:
        super().__init__(source)
        self.prefix, self.guarded, self.bounds = prefix, guarded, bounds

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        start = at[loc].start
        if at[loc].key not in ("every", "not", "every-distinct"):
            return self.guarded._parse(instring, loc, do_actions)
        loc, tokens = self.prefix._parse(instring, loc, do_actions)
        word: FieldValue = tokens[0]
        inner = at[loc].start
        loc, bounds = self.bounds.read(instring, loc)
        loc, tokens = self.guarded._parse(instring, loc, do_actions)
        item: P.Pattern = tokens[0]
        if bounds:
            item = P.MatchUntil(item, **bounds, span=Span(inner, loc))
        span = Span(start, loc)
        if word.field == "distinct":
            return loc, [P.EveryDistinct(word.value, item, span=span)]  # type: ignore[arg-type]
        return loc, [P.Every(item, span=span) if word.field == "every" else P.Not(item, span=span)]


class _Until(Element):
    """``[low:high] item until item``."""

    def __init__(self, source: SourceText, item: ParserElement, bounds: _Bounds) -> None:
        super().__init__(source)
        self.item = item
        self.bounds = bounds

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        start = at[loc].start
        loc, fields = self.bounds.read(instring, loc)
        loc, tokens = self.item._parse(instring, loc, do_actions)
        item: P.Pattern = tokens[0]
        if at[loc].key == "until":
            loc, tokens = self.item._parse(instring, at[loc].end, do_actions)
            fields["until"] = tokens[0]
        return loc, [P.MatchUntil(item, **fields, span=Span(start, loc)) if fields else item]


class _Bounds:
    """``[n]``, ``[n:]``, ``[:m]``, ``[n:m]``, or nothing: the fields of a MatchUntil."""

    def __init__(self, source: SourceText, expression: ParserElement) -> None:
        self.source = source
        self.expression = expression

    def read(self, text: str, loc: int) -> tuple[int, dict[str, Any]]:
        at = self.source.at
        fields: dict[str, Any] = {}
        if at[loc].key != "[":
            return loc, fields
        loc = at[loc].end
        if at[loc].key != ":":
            loc, tokens = self.expression._parse(text, loc, True)
            fields["low"] = tokens[0]
        if at[loc].key == ":":
            loc = at[loc].end
            if at[loc].key != "]" or "low" not in fields:
                loc, tokens = self.expression._parse(text, loc, True)
                fields["high"] = tokens[0]
            fields["bounds"] = "both" if {"low", "high"} <= fields.keys() else "low" if "low" in fields else "high"
        else:
            fields["bounds"] = "exact"
        if at[loc].key != "]":
            self.source.fail(loc, at[loc], "]", self.expression)
        return at[loc].end, fields
