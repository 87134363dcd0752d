"""on T insert into A select … where … insert into B …: plan and refusals."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.from_clause.contained import analyse_contained
from epl.analysis.clauses.from_clause.streams import analyse_trigger
from epl.analysis.clauses.inserts import insert_columns, is_whole, plan_insert
from epl.analysis.clauses.selection import InsertTarget, analyse_selection
from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.contained import ContainedPlan
from epl.plan.expressions import TypedExpression
from epl.plan.stores.splitting import OnSplitPlan, SplitBranchPlan
from epl.syntax import Expression, OnSplit, Select, Statement, StreamWildcard, TypeFilter, Wildcard
from epl.value_types import is_boolean

NO_AGGREGATION = "An aggregate function may not appear in a WHERE clause (use the HAVING clause)"


def analyse_on_split(statement: Statement, catalog: Catalog, name: str) -> OnSplitPlan:
    """Return the plan; streams that a branch brings into being are there for the next ones."""
    body = statement.body
    assert isinstance(body, OnSplit)
    for branch in body.branches:
        _check_clauses(branch.select)
    stream, seen = analyse_trigger(body.trigger.source, catalog, statement.declarations)
    scope = Scope(
        catalog, (attrs.evolve(seen, has_window=False),), allow_previous=False, declarations=statement.declarations,
        aggregation_refusal="Aggregation functions are not allowed in this context",
    )
    branches = []
    for number, branch in enumerate(body.branches):
        plan = _branch(branch.select, scope, f"{name}_out_{number}")
        branches.append(plan)
        target = plan.insert.target
        scope = attrs.evolve(scope, catalog=attrs.evolve(scope.catalog, event_types={**scope.catalog.event_types, target.name: target}))
    return OnSplitPlan(stream.event_type, stream, tuple(branches), all=body.output == "all")


def _check_clauses(select: Select) -> None:
    if select.insert_into is None:
        raise StatementRefusal(
            "Required insert-into clause is not provided, the clause is required for split-stream syntax", span=select.span
        )
    if select.group_by or select.having is not None or select.order_by:
        raise StatementRefusal(
            "A group-by clause, having-clause or order-by clause is not allowed for the split stream syntax", span=select.span
        )
    if select.distinct or select.limit is not None:
        raise EplUnsupportedError("distinct and limit are not supported in the split stream syntax", span=select.span)


def _branch(select: Select, scope: Scope, name: str) -> SplitBranchPlan:
    assert select.insert_into is not None
    contained, scope = _bind_contained(select, scope, name)
    selection = analyse_selection(select.items, scope, name, InsertTarget.of(select.insert_into, scope.catalog)).accepted()
    where = None if select.where is None else _where(select.where, scope)
    wild = any(isinstance(i.expression, (Wildcard, StreamWildcard)) for i in select.items)
    columns = insert_columns(select, selection.output_type, wild)
    insert = plan_insert(
        select.insert_into, selection.output_type, columns, scope.catalog, own_event=wild and len(select.items) == 1,
        expressions=selection.columns, whole=is_whole(select))
    return SplitBranchPlan(insert, selection.output_type, None if selection.forward is not None else selection.columns, where, contained)


def _bind_contained(select: Select, scope: Scope, name: str) -> tuple[ContainedPlan | None, Scope]:
    """Bind ``from [items]``: the branch sees the contained events in place of the triggering one."""
    if select.from_ is None:
        return None, scope
    (source,) = select.from_.streams
    if not isinstance(source.source, TypeFilter) or not source.source.contained:
        raise EplUnsupportedError("A branch of a split-stream selects from contained events only", span=source.span)
    plan = analyse_contained(source.source.contained, scope.streams[0], scope.catalog, scope.declarations, f"{name}_contained")
    return plan, attrs.evolve(scope, streams=(ScopeStream(source.alias, plan.output_type),))


def _where(expression: Expression, scope: Scope) -> TypedExpression:
    try:
        bound = bind_in_clause(expression, attrs.evolve(scope, clause="filter", aggregation_refusal=NO_AGGREGATION))
    except StatementRefusal as refusal:
        if refusal.message == NO_AGGREGATION:
            raise EplValidationError(f"Failed to validate expression: {refusal.message}", span=refusal.span) from refusal
        raise
    except EplValidationError as error:
        raise EplValidationError(f"Failed to validate expression: {error.message}", span=error.span, hint=error.hint) from error
    if not is_boolean(bound.type):
        raise EplValidationError(
            "Failed to validate expression: The where-clause filter expression must return a boolean value", span=expression.span
        )
    return bound


__all__ = ["analyse_on_split"]
