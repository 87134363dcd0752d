"""on T delete, select, update … of a named window or table: plans and refusals. Its row is stream 0, the triggering event stream 1."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.clauses import result_set
from epl.analysis.clauses.assignments import set_scope
from epl.analysis.clauses.from_clause.streams import analyse_trigger
from epl.analysis.clauses.inserts import insert_columns, plan_insert
from epl.analysis.clauses.property_assignments import analyse_property_assignment
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.lookups.conditions import is_computed
from epl.analysis.lookups.named_indexes import catalog_indexes, in_order_of_store
from epl.analysis.lookups.planner import conjuncts, key_property, lookup_keys, plan_lookup
from epl.analysis.statements.hints import index_hints, read_hints
from epl.analysis.statements.stored_rows import ever_of
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.context.contexts import store_context
from epl.plan.expressions import TypedExpression
from epl.plan.join.lookups import LookupPlan
from epl.plan.stores.on_statements import MatchPlan, Offered, OnDeletePlan, OnSelectPlan, OnUpdatePlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow, StreamPlan
from epl.spans import Span
from epl.syntax import Expression, OnDelete, OnSelect, OnTrigger, OnUpdate, Statement, StreamWildcard, TypeFilter, Wildcard
from epl.syntax.nodes import Body
from epl.value_types import is_boolean

NO_AGGREGATION = "Failed to validate expression: An aggregate function may not appear in a WHERE clause (use the HAVING clause)"


@attrs.frozen
class WindowTarget:
    """What a statement acts on. ``scopes``: of the window's row and the triggering event."""

    store: NamedWindow | Table
    trigger: StreamPlan
    scopes: tuple[ScopeStream, ScopeStream]


def analyse_on_delete(statement: Statement, catalog: Catalog, name: str) -> OnDeletePlan:
    """Return the plan; listeners get the rows that it deletes."""
    body = statement.body
    assert isinstance(body, OnDelete)
    target = window_target(body.target, body.alias, body.trigger, statement, catalog)
    match = bind_match(body.where, target, statement, catalog)
    silent = "silent_delete" in read_hints(statement)
    return OnDeletePlan(output_type=target.store.event_type, trigger=target.trigger, match=match, silent=silent)


def analyse_on_update(statement: Statement, catalog: Catalog, name: str) -> OnUpdatePlan:
    """Return the plan. Assignments also see the row as it was, as ``initial``, which is stream 2."""
    body = statement.body
    assert isinstance(body, OnUpdate)
    target = window_target(body.target, body.alias, body.trigger, statement, catalog)
    row, event = target.scopes
    scope = set_scope(catalog, row, statement.declarations)
    scope = attrs.evolve(scope, streams=(row, event, ScopeStream("initial", row.event_type, outer=True)), prefers_first=True)
    names = {name for name in (target.store.name, row.alias) if name is not None}
    assignments = tuple(analyse_property_assignment(each, row.event_type, scope, names) for each in body.assignments)
    match = bind_match(body.where, target, statement, catalog)
    return OnUpdatePlan(output_type=target.store.event_type, trigger=target.trigger, match=match, assignments=assignments)


def analyse_on_select(statement: Statement, catalog: Catalog, name: str) -> OnSelectPlan:
    """Return the plan: a join of the triggering event with the rows, whose aggregations begin again with each."""
    body = statement.body
    assert isinstance(body, OnSelect)
    select = body.select
    assert select.from_ is not None
    source = select.from_.streams[0]
    if len(select.from_.streams) != 1 or not isinstance(source.source, TypeFilter) or source.source.contained:
        raise EplUnsupportedError("On-select reads one named window", span=body.span)
    if source.source.filters or source.views:
        raise EplUnsupportedError("Filters and views of the window of an on-select are not supported", span=body.span)
    if select.into_table:
        raise EplUnsupportedError("Into-table is not supported yet", span=body.span)
    target = window_target(source.source.type_name, source.alias, body.trigger, statement, catalog)
    match = bind_match(select.where, target, statement, catalog)
    scopes = tuple(attrs.evolve(each, without_window=ever_of(target.store)) for each in target.scopes)
    rows = result_set.analyse(
        select, scopes, catalog, output_name=f"{name}_out", has_remove_stream=True, is_unbound=False,
        declarations=statement.declarations, unidirectional=True, allow_previous=False)
    insert = None
    if select.insert_into is not None:
        wild = any(isinstance(item.expression, (Wildcard, StreamWildcard)) for item in select.items)
        columns = insert_columns(select, rows.output_type, wild)
        insert = plan_insert(
            select.insert_into, rows.output_type, columns, catalog, own_event=rows.forward is not None, expressions=rows.columns)
    return OnSelectPlan(
        output_type=rows.output_type if insert is None else insert.target, trigger=target.trigger, match=match, result_set=rows,
        insert=insert, delete=body.delete)


def window_target(name: str, alias: str | None, trigger: OnTrigger, statement: Statement, catalog: Catalog) -> WindowTarget:
    """Return the window of that name and the stream of triggering events."""
    body: Body = statement.body
    stream, event = analyse_trigger(trigger.source, catalog, statement.declarations)
    store = catalog.named_windows.get(name) or catalog.tables.get(name)
    if store is None:
        raise EplValidationError(f"A named window or table '{name}' has not been declared", span=body.span)
    _check_context(store, catalog, body.span)
    row = ScopeStream(alias, store.event_type, has_window=True)
    return WindowTarget(store, stream, (row, event))


def _check_context(store: NamedWindow | Table, catalog: Catalog, span: Span | None) -> None:
    """Refuse what another context, or none, has partitions of."""
    own, declared = catalog.statement_context, store_context(store)
    if own is declared:
        return
    title = f"Cannot create on-trigger expression: {'Table' if isinstance(store, Table) else 'Named window'} '{store.name}' was declared"
    if declared is None:
        raise EplValidationError(f"{title} without a context", span=span)
    rest = "declare the same context name" if own is None else "use the same context instead"
    raise EplValidationError(f"{title} with context '{declared.name}', please {rest}", span=span, hint=f"write context {declared.name}")


def bind_match(where: Expression | None, target: WindowTarget, statement: Statement, catalog: Catalog) -> MatchPlan:
    """Return how the rows that the condition holds for are found."""
    if where is None:
        return MatchPlan(store=target.store, lookup=LookupPlan(sought=0))
    condition = _where(where, target.scopes, statement, catalog)
    conditions = conjuncts(condition)
    named = catalog_indexes(target.store, catalog, index_hints(statement))
    lookup = plan_lookup(conditions, 0, {1}, named)
    if isinstance(target.store, Table) or _by_computed_keys(lookup):
        lookup = in_order_of_store(lookup, named)
    whole = all(each in lookup.applied for each in conditions)
    offered = None if lookup.named is not None or isinstance(target.store, Table) else _index_property(conditions)
    return MatchPlan(store=target.store, lookup=lookup, where=None if whole else condition, offered=offered)


def _by_computed_keys(lookup: LookupPlan) -> bool:
    """Return whether rows are found by expressions alone: Esper reads all of them."""
    return lookup.of_one_key and lookup.index is not None and all(is_computed(key) for key in lookup.index.hash)


def _index_property(conditions: Sequence[TypedExpression]) -> Offered | None:
    """Return the property, if there is a single one that is looked up, and by a range; those that are equal to something, without one.

    Esper's index over both kinds has rows in an order of its own.
    """
    keys = lookup_keys(conditions, 0, {1})
    if keys.equal:
        return None if keys.ranges else frozenset(filter(None, map(key_property, keys.equal))) or None
    names = {key_property(key) for key in keys.ranges}
    return names.pop() if len(names) == 1 else None


def _where(
    where: Expression, scopes: tuple[ScopeStream, ...], statement: Statement, catalog: Catalog
) -> TypedExpression:
    scope = Scope(
        catalog, scopes, clause="where-clause", declarations=statement.declarations, allow_previous=False,
        aggregation_refusal=NO_AGGREGATION)
    condition = bind_in_clause(where, scope)
    if not is_boolean(condition.type):
        raise EplValidationError(
            "Failed to validate expression: The where-clause filter expression must return a boolean value", span=where.span)
    return condition


__all__ = ["WindowTarget", "analyse_on_delete", "analyse_on_select", "analyse_on_update", "bind_match", "window_target"]
