"""Which statements belong together: those that share a stream, a variable or a table, directly or through others, are one component.

A statement over a pattern that reads only what comes from outside, and that nothing else depends on, is a component of its own: the row
tier runs it beside others that have the same rows in columns.
"""
from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression, VariableValue
from epl.plan.patterns.pattern import stream_pattern
from epl.plan.statements import (
    BodyPlan,
    CreateExpressionPlan,
    CreateSchemaPlan,
    CreateTablePlan,
    CreateVariablePlan,
    InsertPlan,
    SelectPlan,
    SelectRowPlan,
)
from epl.plan.stores.indexes import CreateIndexPlan
from epl.plan.stores.tables import Table, TableKeys, TableValue
from epl.plan.streams import types_read
from epl.plan.walk import walk_plan

if TYPE_CHECKING:
    from runtime.statements.statement_output import StatementOutput

PASSIVE = (CreateSchemaPlan, CreateExpressionPlan, CreateIndexPlan, CreateTablePlan, CreateVariablePlan, SelectRowPlan)
"""Bodies that no event reaches."""


def statement_groups(statements: Iterable[StatementOutput]) -> list[tuple[StatementOutput, ...]]:
    """Return the statements that events reach, by component, each in the order given."""
    leader: dict[Hashable, Hashable] = {}

    def find(token: Hashable) -> Hashable:
        while leader.setdefault(token, token) != token:
            leader[token] = leader[leader[token]]
            token = leader[token]
        return token

    active = [s for s in statements if not isinstance(s.plan.body, PASSIVE)]
    filled = [part.target for s in active for part in walk_plan(s.plan.body) if isinstance(part, InsertPlan)]
    for statement in active:
        tokens = shareable_parts(statement.plan.body)
        if is_apart(statement, filled):
            tokens = (token for token in tokens if not isinstance(token, EventType))
        for token in tokens:
            leader[find(token)] = find(statement)
    groups: dict[Hashable, list[StatementOutput]] = {}
    for statement in active:
        groups.setdefault(find(statement), []).append(statement)
    return [tuple(group) for group in groups.values()]


def is_apart(statement: StatementOutput, filled: Sequence[EventType]) -> bool:
    """Return whether the statement, over a pattern, may have the events that come from outside after all others have had a whole batch of
    them. ``filled``: the types that statements insert into."""
    plan = statement.plan
    body = plan.body
    if not isinstance(body, SelectPlan) or len(body.streams) != 1 or stream_pattern(body.streams[0]) is None:
        return False
    bound = plan.drop or plan.priority or plan.context is not None
    if bound or body.insert is not None or body.subqueries or body.result_set.into is not None:
        return False
    read = list(types_read(body))
    return not any(one.is_a(other) or other.is_a(one) for one in read for other in filled)


def shareable_parts(body: BodyPlan) -> Iterator[Hashable]:
    """Yield what a statement may share with others: its event types with their super-types, variables and tables."""
    for value in walk_plan(body):
        if isinstance(value, EventType):
            yield from value.lineage()
        elif isinstance(value, Table):
            yield value
        elif isinstance(value, TypedExpression):
            yield from (node.table for node in value.walk() if isinstance(node, (TableValue, TableKeys)))
            yield from (("variable", node.name) for node in value.walk() if isinstance(node, VariableValue))


__all__ = ["is_apart", "shareable_parts", "statement_groups"]
