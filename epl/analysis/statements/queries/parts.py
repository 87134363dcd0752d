"""What the queries have in common: the named window or table that one reads or changes, and which of its rows it is about."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from epl.analysis.clauses.from_clause.historical import is_historical
from epl.analysis.clauses.from_clause.streams import source_type
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.binding import SubqueryRefusal
from epl.analysis.expressions.context_values import subquery_mismatch
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.lookups.named_indexes import NO_INDEXES, NamedIndexes, catalog_indexes
from epl.analysis.lookups.planner import conjuncts, key_property, lookup_keys, plan_lookup
from epl.analysis.statements.hints import index_hints
from epl.analysis.statements.subquery_numbers import outer_subqueries
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.expressions import Equality, Logic, Previous, Prior, StreamProperty, SubqueryValue, TypedExpression
from epl.plan.join.historical import table_stream_plan
from epl.plan.join.subqueries import SubqueryPlan
from epl.plan.stores.queries import RowsPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow, StreamPlan, stream_store_plan
from epl.plan.walk import plan_expressions
from epl.spans import Span
from epl.syntax import Expression, Select, Source, Statement, TypeFilter, Wildcard
from epl.unparse import subquery_title
from epl.value_types import BOXED_BOOLEAN, is_boolean

NO_EVENTS = "On-demand queries require tables or named windows and do not allow event streams or patterns"
NO_SUBQUERY_OF_EVENTS = "Fire-and-forget queries only allow subqueries against named windows and tables"
NO_AGGREGATION = "An aggregate function may not appear in a WHERE clause (use the HAVING clause)"


def store_named(name: str, catalog: Catalog, span: Span | None) -> NamedWindow | Table:
    """Return the named window or table of that name; refuse what is none."""
    store = catalog.named_windows.get(name) or catalog.tables.get(name)
    if store is None:
        source_type(TypeFilter(name, span=span), catalog)
        raise EplValidationError(NO_EVENTS, span=span)
    return store


def stream_store(stream: StreamPlan) -> NamedWindow | Table | None:
    """Return the named window or table that a stream reads; None for any other source."""
    window, table = stream_store_plan(stream), table_stream_plan(stream)
    return window.window if window is not None else None if table is None else table.table


def bind_where(where: Expression, streams: Sequence[ScopeStream], statement: Statement, catalog: Catalog) -> TypedExpression:
    """Return the condition, in Esper's words where it is refused."""
    scope = Scope(
        catalog, tuple(streams), clause="filter", declarations=statement.declarations, allow_previous=False,
        aggregation_refusal=NO_AGGREGATION)
    try:
        condition = bind_in_clause(where, scope)
    except SubqueryRefusal:
        raise
    except EplValidationError as error:
        cause = NO_AGGREGATION if error.message.endswith(NO_AGGREGATION) else error.message
        raise EplValidationError(f"Failed to validate expression: {cause}", span=error.span, hint=error.hint) from error
    if not is_boolean(condition.type):
        raise EplValidationError(
            "Failed to validate expression: The where-clause filter expression must return a boolean value", span=where.span)
    return condition


def plan_rows(condition: TypedExpression | None, named: NamedIndexes = NO_INDEXES) -> RowsPlan:
    """Return how the rows of stream 0 for which the condition holds are found: by an index that was created, else by one over what must be
    equal to something known.

    Without the former, ranges and in-lists are evaluated, since an index would give the rows in another order; they are in its order where
    an on-statement has an index that Esper uses. Sub-queries are evaluated in any case, as in Esper.
    """
    conditions = conjuncts(condition)
    known = [each for each in conditions if not any(isinstance(node, SubqueryValue) for node in each.walk())]
    lookup = plan_lookup(known, 0, (), named)
    ranges: list[str] = []
    equal: frozenset[str] = frozenset()
    if lookup.named is None:
        keys = lookup_keys(known, 0)
        ranges = sorted(filter(None, map(key_property, keys.ranges)))
        equal = frozenset(filter(None, map(key_property, keys.equal)))
        lookup = plan_lookup([each for each in known if isinstance(each, Equality)], 0)
    elif lookup.listed:  # so does Esper
        lookup = attrs.evolve(lookup, in_order=True)
    if lookup.index is None:
        return RowsPlan(lookup=attrs.evolve(lookup, conditions=(), applied=()), where=condition, ranges=tuple(ranges), equal=equal)
    whole = all(each in lookup.applied for each in conditions)
    return RowsPlan(lookup=lookup, where=None if whole else condition, ranges=tuple(ranges), equal=equal)


def store_indexes(store: NamedWindow | Table, statement: Statement, catalog: Catalog) -> NamedIndexes:
    """Return the indexes that were created on a named window or table."""
    return catalog_indexes(store, catalog, index_hints(statement))


def together(conditions: Iterable[TypedExpression]) -> TypedExpression | None:
    """Return the condition that all of them are; None of none."""
    all_of = tuple(conditions)
    return Logic(type=BOXED_BOOLEAN, operator="and", operands=all_of) if len(all_of) > 1 else all_of[0] if all_of else None


def check_sources(statement: Statement, catalog: Catalog) -> None:
    """Refuse filters of sub-queries, and those that do not see what their named window or table has in partitions, as Esper does."""
    for each in outer_subqueries(statement):
        from_ = each.select.from_ if isinstance(each.select, Select) else None
        for stream in () if from_ is None else from_.streams:
            name = stream.source.type_name if isinstance(stream.source, TypeFilter) else ""
            store = catalog.named_windows.get(name) or catalog.tables.get(name)
            mismatch = None if store is None else subquery_mismatch(store, catalog)
            if mismatch is not None:
                raise EplValidationError(f"Failed to plan {subquery_title(each)}: {mismatch}", span=each.span)
        if from_ is not None and any(isinstance(stream.source, TypeFilter) and stream.source.filters for stream in from_.streams):
            raise EplValidationError(
                f"Failed to plan {subquery_title(each)}: Subqueries in fire-and-forget queries do not allow filter expressions",
                span=each.span, hint="write the condition in its where clause")
        for stream in () if from_ is None else from_.streams:
            _refuse_events(stream.source, catalog, each.span)


def _refuse_events(source: Source, catalog: Catalog, span: Span | None) -> None:
    """Refuse a sub-query over an event type: nothing of its events is kept between queries."""
    if not isinstance(source, TypeFilter) or is_historical(source, catalog):
        return
    if source.type_name not in catalog.named_windows and source.type_name not in catalog.tables:
        source_type(source, catalog)
        raise EplValidationError(NO_SUBQUERY_OF_EVENTS, span=span)


def is_indexed(plan: SubqueryPlan, catalog: Catalog) -> bool:
    """Return whether an index that was created, or the primary key of a table, answers what correlates a sub-query with its query."""
    lookup, store = plan.lookup, stream_store(plan.stream)
    if lookup is None or lookup.index is None or store is None:
        return False
    pairs = zip(lookup.index.hash, lookup.keys)
    correlated = {key.name for key, value in pairs if isinstance(key, StreamProperty) and value.streams}
    indexes = [index.plan.hash for index in catalog.store_indexes(store) if not index.ranges and index.plan.hash]
    columns = [[key.name for key in keys if isinstance(key, StreamProperty)] for keys in indexes]
    if isinstance(store, Table) and store.keys:
        columns.append([column.name for column in store.keys])
    return any(correlated.issuperset(names) for names in columns)


def refuse_wildcard(select: Select) -> None:
    """Refuse the wildcard of a select without from clause."""
    wild = next((item for item in select.items if isinstance(item.expression, Wildcard)), None)
    if wild is not None:
        raise EplValidationError("Wildcard cannot be used when the from-clause is not provided", span=wild.expression.span or select.span)


def check_subqueries(subqueries: Sequence[SubqueryPlan], span: Span | None) -> None:
    """Refuse sub-queries over events: nothing of them is kept between queries."""
    for each in subqueries:
        if not each.stream.source.retains:
            raise EplValidationError(NO_SUBQUERY_OF_EVENTS, span=span)
        if any(isinstance(node, (Previous, Prior)) for e in plan_expressions(each) for node in e.walk()):
            raise EplUnsupportedError("Prev and prior are not supported in fire-and-forget queries", span=span)
        if each.stream.contained is not None or each.stream.windows:
            raise EplUnsupportedError(
                "Contained events and views of a sub-query are not supported in fire-and-forget queries", span=span)


__all__ = [
    "NO_EVENTS",
    "bind_where",
    "check_sources",
    "check_subqueries",
    "is_indexed",
    "plan_rows",
    "store_indexes",
    "store_named",
    "stream_store",
    "together",
]
