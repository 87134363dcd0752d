"""Which statements belong together: those that share a stream, a variable or a table, directly or through others, are one component."""
from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression, VariableValue
from epl.plan.indexes import CreateIndexPlan
from epl.plan.statements import BodyPlan, CreateExpressionPlan, CreateSchemaPlan, CreateTablePlan, CreateVariablePlan, SelectRowPlan
from epl.plan.tables import Table, TableKeys, TableValue
from epl.plan.walk import plans_of

if TYPE_CHECKING:
    from runtime.statements.statement import Statement

PASSIVE = (CreateSchemaPlan, CreateExpressionPlan, CreateIndexPlan, CreateTablePlan, CreateVariablePlan, SelectRowPlan)
"""Bodies that no event reaches."""


def statement_groups(statements: Iterable[Statement]) -> list[tuple[Statement, ...]]:
    """Return the statements that events reach, by component, each in the order given."""
    leader: dict[Hashable, Hashable] = {}

    def find(token: Hashable) -> Hashable:
        while leader.setdefault(token, token) != token:
            leader[token] = leader[leader[token]]
            token = leader[token]
        return token

    active = [s for s in statements if not isinstance(s.plan.body, PASSIVE)]
    for statement in active:
        for token in shared(statement.plan.body):
            leader[find(token)] = find(statement)
    groups: dict[Hashable, list[Statement]] = {}
    for statement in active:
        groups.setdefault(find(statement), []).append(statement)
    return [tuple(group) for group in groups.values()]


def shared(body: BodyPlan) -> Iterator[Hashable]:
    """Yield what a statement may share with others: its event types with their super-types, variables and tables."""
    for value in plans_of(body):
        if isinstance(value, EventType):
            yield from value.lineage()
        elif isinstance(value, Table):
            yield value
        elif isinstance(value, TypedExpression):
            yield from (node.table for node in value.walk() if isinstance(node, (TableValue, TableKeys)))
            yield from (("variable", node.name) for node in value.walk() if isinstance(node, VariableValue))


__all__ = ["shared", "statement_groups"]
