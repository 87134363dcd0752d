"""on T merge W …: plan and refusals."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.assignments import set_scope
from epl.analysis.clauses.inserts import insert_columns, plan_insert
from epl.analysis.clauses.property_assignments import analyse_property_assignment, analyse_reset
from epl.analysis.clauses.selection import InsertTarget, analyse_selection
from epl.analysis.clauses.transpose import plan_transposed, without_transpose
from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.binding import SubqueryRefusal
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.statements.on_window import WindowTarget, bind_match, window_target
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.stores.on_statements import MergeActionPlan, MergeBranchPlan, OnMergePlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from epl.syntax import Expression, InsertInto, OnMerge, Select, SelectItem, Statement, StreamWildcard, Wildcard
from epl.syntax.statements import MergeAction, MergeBranch
from epl.value_types import is_boolean, is_null


def analyse_on_merge(statement: Statement, catalog: Catalog, name: str) -> OnMergePlan:
    """Return the plan; streams that an action brings into being are there for the next ones."""
    body = statement.body
    assert isinstance(body, OnMerge)
    target = window_target(body.target, body.alias, body.trigger, statement, catalog)
    analysis = _Merge(target, statement, catalog, name)
    branches = tuple(map(analysis.branch, body.branches))
    match = bind_match(body.where, target, statement, catalog)
    return OnMergePlan(
        output_type=target.store.event_type, trigger=target.trigger, match=match, branches=branches,
        always=any(branch.matched is None for branch in body.branches))


class _Merge:
    def __init__(self, target: WindowTarget, statement: Statement, catalog: Catalog, name: str) -> None:
        row, event = target.scopes
        self._target = target
        self._statement = statement
        self._catalog = catalog
        self._name = name
        self._actions = 0
        self._unique = _unique_columns(target.store, catalog)
        self._whole = (row, event, ScopeStream("initial", row.event_type, outer=True))
        self._event = (event,)

    def branch(self, branch: MergeBranch) -> MergeBranchPlan:
        matched = bool(branch.matched)
        streams = self._whole[:2] if matched else self._event
        condition = None if branch.condition is None else self._condition(branch.condition, streams, matched)
        actions = tuple(self._action(action, streams, self._place(matched)) for action in branch.actions)
        return MergeBranchPlan(matched=matched, condition=condition, actions=actions)

    def _place(self, matched: bool) -> str:
        """Return where the next action is: Esper counts those of all branches."""
        self._actions += 1
        return f"Validation failed in when-{'' if matched else 'not-'}matched (clause {self._actions})"

    def _condition(self, written: Expression, streams: tuple[ScopeStream, ...], matched: bool) -> TypedExpression:
        """Bind the condition of a branch; raise where one for what is not matched reads the row."""
        try:
            return self._test(written, streams, "match condition")
        except SubqueryRefusal:
            if matched:
                raise
            self._test(written, self._whole[:2], "match condition")
            raise StatementRefusal(
                "On-Merge not-matched filter expression may not use properties that are provided by the named window event",
                span=written.span) from None

    def _test(self, written: Expression, streams: tuple[ScopeStream, ...], clause: str) -> TypedExpression:
        test = bind_in_clause(written, attrs.evolve(self._scope(streams), clause=clause))
        if not (is_boolean(test.type) or is_null(test.type)):
            raise EplUnsupportedError("A condition of a merge that is not a boolean is not supported", span=written.span)
        return test

    def _scope(self, streams: tuple[ScopeStream, ...]) -> Scope:
        return Scope(
            self._catalog, streams, declarations=self._statement.declarations, allow_previous=False,
            aggregation_refusal="Aggregation functions may not be used within an merge-clause")

    def _action(self, action: MergeAction, streams: tuple[ScopeStream, ...], place: str) -> MergeActionPlan:
        if action.kind == "insert":
            return self._insert(action, streams, place)
        where = self._where(action, streams)
        if action.kind == "delete":
            return MergeActionPlan(kind="delete", where=where)
        row = self._whole[0]
        scope = attrs.evolve(set_scope(self._catalog, row, self._statement.declarations), streams=self._whole, prefers_first=True)
        names = {name for name in (self._target.store.name, row.alias) if name is not None}
        try:
            assignments = tuple(
                analyse_reset(each, row.event_type, scope, names) or analyse_property_assignment(each, row.event_type, scope, names)
                for each in action.assignments)
        except EplValidationError as error:
            if not error.message.startswith("Failed to validate assignment"):
                raise
            raise EplValidationError(f"{place}: {error.message}", span=error.span, hint=error.hint) from error
        if any(assignment.property in self._unique for assignment in assignments):
            raise EplValidationError(f"{place}: On-merge statements may not update unique keys of tables", span=action.span)
        return MergeActionPlan(kind="update", where=where, assignments=assignments)

    def _where(self, action: MergeAction, streams: tuple[ScopeStream, ...]) -> TypedExpression | None:
        return None if action.where is None else self._test(action.where, streams, "match where-clause")

    def _insert(self, action: MergeAction, streams: tuple[ScopeStream, ...], place: str) -> MergeActionPlan:
        into = InsertInto(
            target=action.target or self._target.store.name, columns=action.columns, precedence=action.precedence, span=action.span)
        into_itself = into.target == self._target.store.name
        streams = streams[-1:] if into_itself else streams
        where = self._where(action, streams)
        streams, items = _wildcards_of_event(streams, action.items)
        wild = any(isinstance(item.expression, (Wildcard, StreamWildcard)) for item in items)
        scope = attrs.evolve(
            self._scope(streams),
            aggregation_refusal="Expression in a merge-selection may not utilize aggregation functions")
        _check_streams(items, streams)
        select, transposed = without_transpose(Select(items, insert_into=into, span=action.span))
        selection = analyse_selection(select.items, scope, f"{self._name}_out", InsertTarget.of(into, self._catalog)).accepted()
        try:
            columns = insert_columns(select, selection.output_type, wild)
            if transposed is None:
                insert = plan_insert(
                    into, selection.output_type, columns, self._catalog, own_event=selection.forward is not None,
                    expressions=selection.columns)
            else:
                insert = plan_transposed(into, selection.output_type, transposed, self._catalog)
        except EplValidationError as error:
            raise EplValidationError(f"{place}: {error.message}", span=error.span, hint=error.hint) from error
        if insert.table is None:
            self._catalog = attrs.evolve(self._catalog, event_types={**self._catalog.event_types, insert.target.name: insert.target})
        return MergeActionPlan(
            kind="insert", where=where, insert=insert, row_type=selection.output_type, of_event=into_itself, forward=selection.forward,
            columns=selection.columns)


def _check_streams(items: tuple[SelectItem, ...], streams: tuple[ScopeStream, ...]) -> None:
    """Refuse ``s.*`` of no stream."""
    for item in items:
        if isinstance(item.expression, StreamWildcard) and item.expression.stream not in {stream.alias for stream in streams}:
            raise StatementRefusal(f"Stream by name '{item.expression.stream}' was not found", span=item.span)


def _wildcards_of_event(
    streams: tuple[ScopeStream, ...], items: tuple[SelectItem, ...]
) -> tuple[tuple[ScopeStream, ...], tuple[SelectItem, ...]]:
    """``*`` is the triggering event, of row and event too: return streams and items that say so."""
    event = streams[-1]
    name = event.alias or event.event_type.name
    if len(streams) == 1 or not any(isinstance(item.expression, Wildcard) for item in items):
        return streams, items
    whole = StreamWildcard(name, span=items[0].span)
    replaced = tuple(attrs.evolve(item, expression=whole) if isinstance(item.expression, Wildcard) else item for item in items)
    return (*streams[:-1], attrs.evolve(event, alias=name)), replaced


def _unique_columns(store: NamedWindow | Table, catalog: Catalog) -> set[str]:
    """Return the columns of a table that are in a unique key."""
    if not isinstance(store, Table):
        return set()
    hashed = [key for index in catalog.store_indexes(store) if index.plan.unique for key in index.plan.hash]
    return {column.name for column in store.keys} | {key.name for key in hashed if isinstance(key, StreamProperty)}


__all__ = ["analyse_on_merge"]
