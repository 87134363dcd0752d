"""on T merge W …: plan and refusals."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.assignments import set_scope
from epl.analysis.clauses.inserts import insert_columns, plan_insert
from epl.analysis.clauses.property_assignments import analyse_property_assignment
from epl.analysis.clauses.selection import Target, analyse_selection
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.statements.on_window import WindowTarget, bind_match, window_target
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.expressions import TypedExpression
from epl.plan.on_statements import MergeActionPlan, MergeBranchPlan, OnMergePlan
from epl.syntax import Expression, InsertInto, OnMerge, Select, Statement, StreamWildcard, Wildcard
from epl.syntax.statements import MergeAction, MergeBranch
from epl.value_types import is_boolean, is_null


def analyse_on_merge(statement: Statement, catalog: Catalog, name: str) -> OnMergePlan:
    """Return the plan; streams that an action brings into being are there for the next ones."""
    body = statement.body
    assert isinstance(body, OnMerge)
    target = window_target(body.target, body.alias, body.trigger, statement, catalog)
    match = bind_match(body.where, target, statement, catalog)
    analysis = _Merge(target, statement, catalog, name)
    branches = tuple(analysis.branch(branch, number) for number, branch in enumerate(body.branches, 1))
    return OnMergePlan(
        output_type=target.window.event_type, trigger=target.trigger, match=match, branches=branches,
        always=any(branch.matched is None for branch in body.branches))


class _Merge:
    def __init__(self, target: WindowTarget, statement: Statement, catalog: Catalog, name: str) -> None:
        row, event = target.scopes
        self._target = target
        self._statement = statement
        self._catalog = catalog
        self._name = name
        self._whole = (row, event, ScopeStream("initial", row.event_type, outer=True))
        self._event = (event,)

    def branch(self, branch: MergeBranch, number: int) -> MergeBranchPlan:
        matched = bool(branch.matched)
        streams = self._whole if matched else self._event
        condition = None if branch.condition is None else self._test(branch.condition, streams, "match condition")
        place = f"Validation failed in when-{'' if matched else 'not-'}matched (clause {number})"
        actions = tuple(self._action(action, streams, place) for action in branch.actions)
        return MergeBranchPlan(matched=matched, condition=condition, actions=actions)

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
        where = None if action.where is None else self._test(action.where, streams, "match where-clause")
        if action.kind == "insert":
            return self._insert(action, streams, where, place)
        if action.kind == "delete":
            return MergeActionPlan(kind="delete", where=where)
        row = self._whole[0]
        scope = attrs.evolve(set_scope(self._catalog, row, self._statement.declarations), streams=streams)
        names = {name for name in (self._target.window.name, row.alias) if name is not None}
        try:
            assignments = tuple(analyse_property_assignment(each, row.event_type, scope, names) for each in action.assignments)
        except EplValidationError as error:
            if not error.message.startswith("Failed to validate"):
                raise
            raise EplValidationError(f"{place}: {error.message}", span=error.span, hint=error.hint) from error
        return MergeActionPlan(kind="update", where=where, assignments=assignments)

    def _insert(
        self, action: MergeAction, streams: tuple[ScopeStream, ...], where: TypedExpression | None, place: str
    ) -> MergeActionPlan:
        into = InsertInto(
            target=action.target or self._target.window.name, columns=action.columns, precedence=action.precedence, span=action.span)
        wild = any(isinstance(item.expression, (Wildcard, StreamWildcard)) for item in action.items)
        if wild and len(streams) > 1 and any(isinstance(item.expression, Wildcard) for item in action.items):
            raise EplUnsupportedError("A wildcard in the insert of a matched branch is not supported", span=action.span)
        selection = analyse_selection(action.items, self._scope(streams), f"{self._name}_out", Target.of(into, self._catalog))
        select = Select(action.items, insert_into=into, span=action.span)
        columns = insert_columns(select, selection.output_type, wild)
        try:
            insert = plan_insert(into, selection.output_type, columns, self._catalog, own_event=selection.forward is not None)
        except EplValidationError as error:
            raise EplValidationError(f"{place}: {error.message}", span=error.span, hint=error.hint) from error
        if selection.forward not in (None, 0):
            raise EplUnsupportedError("Inserting the event itself in a matched branch is not supported", span=action.span)
        self._catalog = attrs.evolve(self._catalog, event_types={**self._catalog.event_types, insert.target.name: insert.target})
        return MergeActionPlan(
            kind="insert", where=where, insert=insert, row_type=selection.output_type,
            columns=None if selection.forward is not None else selection.columns)


__all__ = ["analyse_on_merge"]
