"""``create context``: keyed, hash, category, lifetime and nested contexts."""
from __future__ import annotations

from typing import Any

from pyparsing import Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.grammar.clauses import Clauses
from epl.grammar.elements import Kit
from epl.spans import Span


def context_statement(kit: Kit, clauses: Clauses, pattern: ParserElement) -> ParserElement:
    """``context Name [as] …``, behind ``create``."""
    spec = _spec(kit, clauses, pattern)
    inner = kit.convert(lambda found, span: (found[0], found[1]), kit.key("context") + kit.name + Opt(kit.key("as")) + spec)
    nested = kit.node(S.NestedContext, kit.fields("contexts", kit.listed(inner, least=2)))
    body = kit.dispatch({"context": nested}, spec)
    return kit.node(S.CreateContext, kit.key("context") + kit.field("name", kit.name) + Opt(kit.key("as")) + kit.field("context", body))


def _spec(kit: Kit, clauses: Clauses, pattern: ParserElement) -> ParserElement:
    condition = _condition(kit, clauses, pattern)
    return kit.dispatch(
        {
            "start": _start_end(kit, condition),
            "initiated": _initiated(kit, clauses, condition),
            "partition": _keyed(kit, clauses, condition),
            "coalesce": _hash(kit, clauses),
            "group": _category(kit, clauses),
        }
    )


def _condition(kit: Kit, clauses: Clauses, pattern: ParserElement) -> ParserElement:
    """A filter, a pattern, crontabs, ``after`` a time, each perhaps behind ``@now and``; or ``@now`` alone."""
    expressions = clauses.expressions
    alias = Opt(kit.key("as") + kit.field("tag", kit.name) | kit.field("tag", kit.name))
    inclusive = Opt(kit.given("inclusive", True, kit.key("@") + kit.any_of("inclusive")))
    by_pattern = kit.given("kind", "pattern", "pattern") + kit.key("[") + kit.field("pattern", pattern) + kit.key("]") + inclusive + alias
    crontab = kit.convert(lambda found, span: tuple(found), expressions.crontab)
    by_crontab = kit.given("kind", "crontab", _lookahead(kit, "(")) + kit.fields("crontabs", kit.listed(crontab)) + alias
    after = kit.given("kind", "after", "after") + kit.field("after", expressions.time_period)
    filtered = kit.given("kind", "filter", _lookahead(kit, "")) + kit.field("filter", kit.node(S.TypeFilter, clauses.filtered)) + alias
    plain = kit.dispatch({"pattern": by_pattern, "(": by_crontab, "after": after}, filtered)
    now = kit.given("now", True, kit.key("@") + kit.any_of("now"))

    def made(span: Span, **fields: Any) -> S.ContextCondition:
        return S.ContextCondition(**{"kind": "now", **fields}, span=span)

    return kit.node(made, kit.dispatch({"@": now + Opt(kit.key("and") + plain)}, plain))


def _lookahead(kit: Kit, key: str) -> ParserElement:
    """Matches without consuming where the key stands next (anywhere for the empty key)."""
    from pyparsing import FollowedBy

    from epl.grammar.clauses import _Nothing

    return FollowedBy(kit.key(key)) if key else _Nothing(kit.source)


def _start_end(kit: Kit, condition: ParserElement) -> ParserElement:
    end = kit.key("end") + kit.field("end", condition)

    def made(start: S.ContextCondition, span: Span, end: S.ContextCondition | None = None) -> S.LifetimeContext:
        return S.LifetimeContext(start, end or S.ContextCondition("never"), span=span)

    return kit.node(made, kit.key("start") + kit.field("start", condition) + Opt(end))


def _initiated(kit: Kit, clauses: Clauses, condition: ParserElement) -> ParserElement:
    distinct = Opt(kit.key("distinct (") + kit.fields("distinct", Opt(clauses.expressions.listed)) + kit.key(")"))
    end = kit.key("terminated") + Opt(kit.key("by")) + kit.field("end", condition)

    def made(start: S.ContextCondition, span: Span, end: S.ContextCondition | None = None, distinct: tuple[S.Expression, ...] = ()) -> S.LifetimeContext:
        return S.LifetimeContext(start, end or S.ContextCondition("never"), True, distinct, span=span)

    return kit.node(made, kit.key("initiated") + Opt(kit.key("by")) + distinct + kit.field("start", condition) + Opt(end))


def _source(kit: Kit, clauses: Clauses) -> ParserElement:
    return kit.key("from") + kit.field("source", kit.node(S.TypeFilter, clauses.filtered))


def _keyed(kit: Kit, clauses: Clauses, condition: ParserElement) -> ParserElement:
    keys = kit.fields("keys", _keys(kit, clauses))
    alias = Opt(kit.key("as") + kit.field("alias", kit.name) | kit.field("alias", kit.name))
    item = kit.node(S.KeyedItem, keys + _source(kit, clauses) + alias)
    initiated = Opt(kit.key("initiated") + Opt(kit.key("by")) + kit.fields("initiated_by", kit.listed(condition)))
    terminated = Opt(kit.key("terminated") + Opt(kit.key("by")) + kit.field("terminated_by", condition))
    return kit.node(S.KeyedContext, kit.key("partition") + Opt(kit.key("by")) + kit.fields("items", kit.listed(item)) + initiated + terminated)


def _keys(kit: Kit, clauses: Clauses) -> ParserElement:
    """``a and b`` or ``a, b``: properties."""
    chain = clauses.expressions.chain
    return chain + ZeroOrMore((kit.key("and") | kit.key(",")) + chain)


def _hash(kit: Kit, clauses: Clauses) -> ParserElement:
    alias = Opt(kit.key("as") + kit.field("alias", kit.name) | kit.field("alias", kit.name))
    function = kit.field("function", clauses.expressions.chain)
    item = kit.node(S.HashItem, function + _source(kit, clauses) + _unless_granularity(kit, alias))
    granularity = kit.any_of({"granularity": None})
    return kit.node(
        S.HashContext,
        kit.key("coalesce")
        + Opt(kit.key("by"))
        + kit.fields("items", kit.listed(item))
        + _bound(kit, granularity, "granularity", clauses)
        + Opt(kit.given("preallocate", True, kit.any_of("preallocate"))),
    )


def _unless_granularity(kit: Kit, alias: ParserElement) -> ParserElement:
    return Opt(kit.ahead(lambda token, _: token.key != "granularity", alias, "an alias"))


def _bound(kit: Kit, word: ParserElement, field: str, clauses: Clauses) -> ParserElement:
    from epl.grammar.clauses import _LimitNumber

    return kit.key("granularity") + kit.field(field, _LimitNumber(kit.source, clauses.expressions))


def _category(kit: Kit, clauses: Clauses) -> ParserElement:
    category = kit.convert(lambda found, span: (found[0], found[1]), kit.key("group") + Opt(kit.key("by")) + clauses.expression + kit.key("as") + kit.name)
    return kit.node(S.CategoryContext, kit.fields("categories", kit.listed(category)) + _source(kit, clauses))
