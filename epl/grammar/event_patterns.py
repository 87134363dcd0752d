"""EPL patterns: ``every a=A -> (b=B(id = a.id) where timer:within(10 sec))``."""
from __future__ import annotations

from typing import Any

from pyparsing import Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.grammar.clauses import Clauses
from epl.grammar.elements import Bound, Element, Kit, Parsed, Source
from epl.spans import Span
from epl.syntax import patterns as P


def pattern_source(kit: Kit, clauses: Clauses, pattern: ParserElement) -> ParserElement:
    """``pattern @SuppressOverlappingMatches [ … ]``."""
    annotations = kit.fields("annotations", ZeroOrMore(clauses.annotation))
    return kit.node(S.PatternSource, kit.key("pattern") + annotations + kit.key("[") + kit.field("pattern", pattern) + kit.key("]"))


def event_pattern(kit: Kit, clauses: Clauses) -> ParserElement:
    """From loose to tight: ``->``, ``or``, ``and``, ``until`` with ``[n:m]``, ``every not every-distinct``, guards, atoms."""
    pattern = kit.reference()
    expressions = clauses.expressions
    parameters = kit.fields("arguments", expressions.parameters)
    observer_parameters = kit.fields("arguments", kit.key("(") + Opt(_observer_arguments(kit, clauses)) + kit.key(")"))
    consume = kit.fields("annotations", kit.convert(_consume, kit.key("@") + kit.any_name + Opt(kit.key("(") + expressions.expression + kit.key(")"))))
    tag = Opt(kit.ahead(lambda _, after: after.key == "=", kit.field("tag", kit.name) + kit.key("="), "a tag"))
    filters = Opt(kit.key("(") + kit.fields("filters", Opt(expressions.listed)) + kit.key(")"))
    contained = kit.fields("contained", ZeroOrMore(clauses.contained))
    filtered = kit.node(P.FilterAtom, tag + kit.field("type_name", kit.type_name) + filters + contained + Opt(consume))
    observer = kit.node(P.Observer, kit.field("namespace", kit.name) + kit.key(":") + kit.field("name", kit.name) + observer_parameters)
    group = kit.key("(") + pattern + kit.key(")")
    atom = kit.ahead(lambda token, after: after.key == ":" and token.key != "(", observer, "an observer") | kit.dispatch({"(": group}, filtered)
    condition = kit.given("name", "while", "while") + kit.fields("arguments", kit.key("(") + expressions.expression + kit.key(")"))
    named = kit.key("where") + kit.field("namespace", kit.name) + kit.key(":") + kit.field("name", kit.name) + parameters
    guard = kit.convert(lambda found, span: (dict(found), span), kit.dispatch({"where": named, "while": condition}))
    distinct = kit.convert(lambda found, span: Bound("distinct", tuple(found)), kit.key("every-distinct") + expressions.parameters)
    word = kit.convert(lambda found, span: Bound(found[0], None), kit.any_of("every not"))
    prefix = kit.dispatch({"every-distinct": distinct}, word)
    qualified = _Prefixed(kit.source, prefix, atom, guard)
    until = _Until(kit, expressions.expression, qualified)
    both = kit.convert(lambda found, span: found[0] if len(found) == 1 else P.And(tuple(found), span=span), kit.listed(until, "and"))
    either = kit.convert(lambda found, span: found[0] if len(found) == 1 else P.Or(tuple(found), span=span), kit.listed(both, "or"))
    limited = kit.key("-[") + expressions.expression + kit.key("]") + kit.key(">")
    arrow = kit.convert(lambda found, span: Bound("limit", found[0] if found else None), kit.dispatch({"->": kit.key("->"), "-[": limited}))
    pattern.define(kit.convert(_followed_by, either + ZeroOrMore(arrow + either)))
    return pattern


def _observer_arguments(kit: Kit, clauses: Clauses) -> ParserElement:
    from epl.grammar.chains import Argument

    return kit.listed(Argument(kit.source, clauses.expression, lambdas=False, cron_star=True))


def _consume(found: list[Any], span: Span) -> S.Annotation:
    value = found[1] if len(found) > 1 else None
    return S.Annotation(found[0], () if value is None else (("value", value.value if isinstance(value, S.Literal) else value),), span=span)


def _followed_by(found: list[Any], span: Span) -> P.Pattern:
    if len(found) == 1:
        return found[0]  # type: ignore[no-any-return]
    limits = tuple(bound.value for bound in found[1::2])
    return P.FollowedBy(tuple(found[::2]), limits, span=span)


class _Prefixed(Element):
    """``every not every-distinct(…) atom guard guard``: guards bind tighter than the words in front."""

    def __init__(self, source: Source, prefix: ParserElement, atom: ParserElement, guard: ParserElement) -> None:
        super().__init__(source)
        self.prefix, self.atom, self.guard = prefix, atom, guard

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:  # noqa: N802
        at = self.source.at
        prefixes: list[tuple[int, Bound]] = []
        while at[loc].key in ("every", "not", "every-distinct"):
            start = at[loc].start
            loc, tokens = self.prefix._parse(instring, loc, do_actions)
            prefixes.append((start, tokens[0]))
        start = at[loc].start
        loc, tokens = self.atom._parse(instring, loc, do_actions)
        item: P.Pattern = tokens[0]
        while at[loc].key in ("where", "while"):
            loc, tokens = self.guard._parse(instring, loc, do_actions)
            item = P.Guard(item, **tokens[0][0], span=Span(start, loc))
        for start, bound in reversed(prefixes):
            span = Span(start, loc)
            if bound.field == "distinct":
                item = P.EveryDistinct(bound.value, item, span=span)  # type: ignore[arg-type]
            else:
                item = P.Every(item, span=span) if bound.field == "every" else P.Not(item, span=span)
        return loc, [item]


class _Until(Element):
    """``[low:high] item until item``."""

    def __init__(self, kit: Kit, expression: ParserElement, item: ParserElement) -> None:
        super().__init__(kit.source)
        self.expression = expression
        self.item = item

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:  # noqa: N802
        at = self.source.at
        start = at[loc].start
        fields: dict[str, Any] = {}
        if at[loc].key == "[":
            loc = self._bounds(instring, at[loc].end, fields)
        loc, tokens = self.item._parse(instring, loc, do_actions)
        item: P.Pattern = tokens[0]
        if at[loc].key == "until":
            loc, tokens = self.item._parse(instring, at[loc].end, do_actions)
            fields["until"] = tokens[0]
        return loc, [P.MatchUntil(item, **fields, span=Span(start, loc)) if fields else item]

    def _bounds(self, text: str, loc: int, fields: dict[str, Any]) -> int:
        at = self.source.at
        if at[loc].key != ":":
            loc, tokens = self.expression._parse(text, loc, True)
            fields["low"] = tokens[0]
        if at[loc].key == ":":
            loc = at[loc].end
            if at[loc].key != "]":
                loc, tokens = self.expression._parse(text, loc, True)
                fields["high"] = tokens[0]
            fields["bounds"] = "both" if {"low", "high"} <= fields.keys() else "low" if "low" in fields else "high"
        else:
            fields["bounds"] = "exact"
        if at[loc].key != "]":
            self.source.fail(loc, at[loc], "]", self)
        return at[loc].end
