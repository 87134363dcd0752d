"""The kinds of contexts, as written → levels, each with the properties that it brings."""
from __future__ import annotations

import attrs

from epl.analysis.context.conditions import Declaring, Tagged, analyse_condition, refuse_subqueries
from epl.analysis.context.partition_keys import MOST_PREALLOCATED, analyse_hash, analyse_keyed, initial_branches
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.rewriting import syntax_nodes
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.context.contexts import CategoryLevel, ContextCondition, ContextLevel, LifetimeLevel
from epl.plan.expressions import TypedExpression
from epl.syntax import CategoryContext, ContextSpec, Expression, HashContext, KeyedContext, LifetimeContext
from epl.syntax.expressions import Call, Chain, Subquery
from epl.unparse import expression_text, quote_expression
from epl.value_types import BOXED_LONG, STRING, is_boolean

NOT_PLAIN = "Aggregation, sub-select, previous or prior functions are not supported in this context"


def analyse_level(spec: ContextSpec, name: str, where: Declaring) -> tuple[ContextLevel, Tagged]:
    """Return one level and its properties but ``name`` and ``id``."""
    if isinstance(spec, KeyedContext):
        return analyse_keyed(spec, name, where)
    if isinstance(spec, HashContext):
        return analyse_hash(spec, name, where), ()
    if isinstance(spec, CategoryContext):
        return _category(spec, name, where), (("label", STRING),)
    assert isinstance(spec, LifetimeContext)
    return _lifetime(spec, name, where)


# ------------------------------------------------------------------ categories


def _category(spec: CategoryContext, name: str, where: Declaring) -> CategoryLevel:
    event_type = where.event_type(spec.source)
    own = ScopeStream(None, event_type)
    count = len(spec.categories) * initial_branches(where.outer)
    if count > MOST_PREALLOCATED:
        raise EplUnsupportedError(
            f"{count} partitions of categories, those of each branch of the levels around it, are not supported",
            span=spec.categories[0][0].span, hint=f"at most {MOST_PREALLOCATED}; a level of keys begins a partition with its first event")
    conditions = where.conditions(spec.source.filters, own)
    tests = tuple(_test(written, own, where) for written, _ in spec.categories)
    return CategoryLevel(
        name=name, prefix=where.prefix, event_type=event_type, conditions=conditions, labels=tuple(label for _, label in spec.categories),
        tests=tests)


def _test(written: Expression, own: ScopeStream, where: Declaring) -> TypedExpression:
    refuse_subqueries(written)
    test = bind_in_clause(written, where.scope(own))
    if not is_boolean(test.type):
        raise EplValidationError(f"Filter expression not returning a boolean value: {quote_expression(written)}", span=written.span)
    return test


# ------------------------------------------------------------------ lifetimes


def _lifetime(spec: LifetimeContext, name: str, where: Declaring) -> tuple[LifetimeLevel, Tagged]:
    written = spec.start
    _check_distinct(spec)
    start: ContextCondition | None = None
    tagged: Tagged = ()
    after = where
    if written.kind != "now":
        start, tagged, after = analyse_condition(written, where)
    distinct = tuple(_distinct(each, after) for each in spec.distinct)
    end, end_tags, _ = analyse_condition(spec.end, after, is_end=True)
    level = LifetimeLevel(
        name=name, prefix=where.prefix, start=start, end=end, now=written.kind == "now" or written.now, overlapping=spec.overlapping,
        distinct=distinct)
    return level, (("startTime", BOXED_LONG), ("endTime", BOXED_LONG), *tagged, *end_tags)


def _check_distinct(spec: LifetimeContext) -> None:
    start = spec.start
    if start.kind == "filter" and start.now:
        raise EplValidationError("Invalid use of 'now' with initiated-by stream, this combination is not supported", span=start.span)
    if not spec.distinct:
        return
    if start.kind != "filter":
        raise EplValidationError("Distinct-expressions require a stream as the initiated-by condition", span=start.span)
    if start.tag is None:
        raise EplValidationError(
            "Distinct-expressions require that a stream name is assigned to the stream using 'as'", span=start.span)


def _distinct(written: Expression, where: Declaring) -> TypedExpression:
    """Return a value of the start's event."""
    calls = {name.lower() for node in syntax_nodes(written) if isinstance(node, Chain) and isinstance(node.links[0], Call)
             for name in (node.links[0].name,)}
    aggregates = any(name in where.catalog.aggregations for name in calls)
    has_subquery = any(isinstance(node, Subquery) for node in syntax_nodes(written))
    if aggregates or calls & {"prev", "prior"} or has_subquery:
        text = "subselect_0" if isinstance(written, Subquery) else expression_text(written)
        raise EplValidationError(f"Invalid context distinct-clause expression '{text}': {NOT_PLAIN}", span=written.span)
    seen = tuple(attrs.evolve(stream, outer=False) for stream in where.known)
    scope = Scope(
        where.catalog, seen, clause="context distinct-clause", declarations=where.declarations, allow_previous=False,
        aggregation_refusal=NOT_PLAIN)
    return bind_in_clause(written, scope)


__all__ = ["analyse_level"]
