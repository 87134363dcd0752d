"""``create context``: keyed, hash, category, lifetime and nested contexts."""

from __future__ import annotations

from typing import Any

from pyparsing import Opt, ParserElement

from epl import syntax as S
from epl.grammar.clauses import Clauses
from epl.grammar.elements import Kit, Nothing, NumberLiteral
from epl.grammar.lexis import Token
from epl.spans import Span


class ContextGrammar:
    """``statement`` is ``context Name [as] …``, after ``create``."""

    def __init__(self, kit: Kit, clauses: Clauses, pattern: ParserElement) -> None:
        self.kit = kit
        self.clauses = clauses
        self.pattern = pattern
        self.filter = kit.node(S.TypeFilter, clauses.filtered)
        self.tag = Opt(kit.key("as") + kit.field("tag", kit.name) | kit.field("tag", kit.name))
        self.condition = self._condition()
        self.now = kit.value("now", True, kit.key("@") + self.kit.word("now", "Expected 'now' keyword after '@', found '{}' instead"))
        specs = {
            "start": self._start_end(),
            "initiated": self._initiation(),
            "partition": self._keys(),
            "coalesce": self._hash(),
            "group": self._category(),
        }
        spec = kit.dispatch(specs)
        inner = kit.convert(lambda parts, span: (parts[0], parts[1]), kit.key("context") + kit.name + Opt(kit.key("as")) + spec)
        nested = kit.node(S.NestedContext, kit.fields("contexts", kit.item_list(inner, least=2)))
        body = kit.dispatch({**specs, "context": nested})
        self.statement = kit.node(
            S.CreateContext, kit.key("context") + kit.field("name", kit.name) + Opt(kit.key("as")) + kit.field("context", body)
        )

    def _condition(self) -> ParserElement:
        """Return a filter, a pattern, crontabs or ``after`` a time."""
        kit, expressions = self.kit, self.clauses.expressions
        inclusive = Opt(
            kit.value(
                "inclusive", True, kit.key("@") + self.kit.word("inclusive", "Expected 'inclusive' keyword after '@', found '{}' instead")
            )
        )
        source = kit.convert(lambda parts, span: parts[0].pattern, self.clauses.pattern_source)
        by_pattern = kit.value("kind", "pattern", Nothing(kit.source)) + kit.field("pattern", source) + inclusive + self.tag
        crontab = kit.convert(lambda parts, span: tuple(parts), expressions.crontab)
        by_crontab = kit.value("kind", "crontab", Nothing(kit.source)) + kit.fields(
            "crontabs", kit.item_list(crontab, onward=lambda token, _: token.key == "(")
        )
        after = kit.value("kind", "after", "after") + kit.field("after", expressions.time_period)
        filtered = kit.value("kind", "filter", Nothing(kit.source)) + kit.field("filter", self.filter) + self.tag
        return kit.dispatch({"pattern": by_pattern, "(": by_crontab, "after": after}, filtered)

    def _start_end(self) -> ParserElement:
        kit = self.kit
        start = kit.node(S.ContextCondition, kit.dispatch({"@": self.now + kit.value("kind", "now", Nothing(kit.source))}, self.condition))
        end = Opt(kit.key("end") + kit.field("end", kit.node(S.ContextCondition, self.condition)))
        return kit.node(_lifetime(kit, overlapping=False), kit.key("start") + kit.field("start", start) + end)

    def _initiation(self) -> ParserElement:
        kit = self.kit
        distinct = Opt(kit.key("distinct (") + kit.fields("distinct", Opt(self.clauses.expressions.item_list)) + kit.key(")"))
        by = Opt(kit.key("by"))
        start = kit.node(S.ContextCondition, kit.dispatch({"@": self.now + kit.key("and") + self.condition}, self.condition))
        end = Opt(kit.key("terminated") + by + kit.field("end", kit.node(S.ContextCondition, self.condition)))
        return kit.node(_lifetime(kit, overlapping=True), kit.key("initiated") + by + distinct + kit.field("start", start) + end)

    def _keys(self) -> ParserElement:
        kit = self.kit
        by = Opt(kit.key("by"))
        alias = Opt(kit.key("as") + kit.field("alias", kit.name) | kit.field("alias", kit.name))
        keys = kit.fields("keys", kit.item_list(kit.item_list(self.clauses.expressions.chain, "and")))
        item = kit.node(S.KeyedItem, keys + kit.key("from") + kit.field("source", self.filter) + alias)
        starting = kit.node(
            S.ContextCondition, kit.value("kind", "filter", Nothing(kit.source)) + kit.field("filter", self.filter) + self.tag
        )
        initiated = Opt(kit.key("initiated") + by + kit.fields("initiated_by", kit.item_list(starting, onward=_same_context)))
        terminated = Opt(kit.key("terminated") + by + kit.field("terminated_by", kit.node(S.ContextCondition, self.condition)))
        items = kit.fields("items", kit.item_list(item, onward=_same_context))
        return kit.node(S.KeyedContext, kit.key("partition") + by + items + initiated + terminated)

    def _hash(self) -> ParserElement:
        kit = self.kit
        item = kit.node(
            S.HashItem, kit.field("function", self.clauses.expressions.chain) + kit.key("from") + kit.field("source", self.filter)
        )
        granularity = self.kit.word("granularity", "Expected 'granularity' keyword after list of coalesce items, found '{}' instead")
        preallocate = self.kit.word("preallocate", "Expected 'preallocate' keyword after list of coalesce items, found '{}' instead")
        size = kit.value("kind", "", granularity) + kit.field("granularity", NumberLiteral(kit.source))

        def build(kind: str, span: Span, **fields: Any) -> S.HashContext:
            return S.HashContext(**fields, span=span)

        items = kit.fields("items", kit.item_list(item, onward=_same_context))
        return kit.node(build, kit.key("coalesce") + Opt(kit.key("by")) + items + size + Opt(kit.value("preallocate", True, preallocate)))

    def _category(self) -> ParserElement:
        kit = self.kit
        label = kit.key("as") + kit.name
        category = kit.convert(
            lambda parts, span: (parts[0], parts[1]), kit.key("group") + Opt(kit.key("by")) + self.clauses.expression + label
        )
        return kit.node(
            S.CategoryContext, kit.fields("categories", kit.item_list(category)) + kit.key("from") + kit.field("source", self.filter)
        )


def _same_context(token: Token, _: Token) -> bool:
    """Return whether what follows a comma goes on with this context, and is not the next of a nested context."""
    return token.key != "context"


def _lifetime(kit: Kit, overlapping: bool) -> Any:
    def build(
        start: S.ContextCondition, span: Span, end: S.ContextCondition | None = None, distinct: tuple[S.Expression, ...] | None = None
    ) -> S.LifetimeContext:
        if distinct == ():
            kit.source.refuse("Distinct-expressions have not been provided", span)
        return S.LifetimeContext(start, end or S.ContextCondition("never"), overlapping, distinct or (), span=span)

    return build
