"""A fire-and-forget query: run once or, prepared, any number of times with other parameters."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from epl.plan.statements import BodyPlan
from epl.plan.stores.queries import DeleteQueryPlan, InsertQueryPlan, QueryPlan, SelectQueryPlan, UpdateQueryPlan
from runtime.event_loop.loop import EventLoop
from runtime.expressions import Environment
from runtime.result_set.projection import distinct
from runtime.statements.queries.changes import Change, DeleteQuery, InsertQuery, UpdateQuery, together
from runtime.statements.queries.rows import QueriedSubquery, Stores
from runtime.statements.queries.selects import SelectQuery
from runtime.stores.by_partition import OfPartition
from windows.event import Event


class ParameterCell:
    """The value of a substitution parameter during a run."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = None


class Changing(Protocol):
    def change(self, environment: Environment, stores: Stores) -> Change:
        """Return what the query does, evaluated as a whole."""


class Partitions(Protocol):
    """The partitions of the named window or table that a query is about."""

    def numbers(self, selectors: Any) -> Sequence[int] | None:
        """Return the ids of those that are selected; None where nothing is of a context."""

    def properties(self, number: int) -> Mapping[str, Any]:
        """Return what ``context.`` gives in a partition."""


CHANGES: Mapping[type[BodyPlan], Callable[..., Changing]] = {
    InsertQueryPlan: InsertQuery,
    UpdateQueryPlan: UpdateQuery,
    DeleteQueryPlan: DeleteQuery,
}


class Query:
    """A query that is compiled once. ``cells``: of its parameters, which its expressions read by ``environment``."""

    def __init__(
        self, plan: QueryPlan, core: EventLoop, environment: Environment, cells: Mapping[str | int, ParameterCell], partitions: Partitions,
        stores: Stores, *, prepared: bool,
    ) -> None:
        self.plan = plan
        self._core = core
        self._environment = environment
        self._cells = cells
        self._partitions, self._stores = partitions, stores
        body = plan.body
        self._select = SelectQuery(body, prepared=prepared) if isinstance(body, SelectQueryPlan) else None
        self._changing = None if self._select is not None else CHANGES[type(body)](body, prepared=prepared)

    def run(self, parameters: Mapping[str | int, Any], partitions: object) -> Sequence[Event]:
        """Run it at this moment; consumers and listeners have had what it changes when it returns.

        What is of a context is read and changed in the partitions that are selected: all rows together, or where the query names the
        context, in each partition by itself.
        """
        numbers = self._partitions.numbers(partitions)
        for key, cell in self._cells.items():
            cell.value = parameters[key]
        parts = [self._stores] if numbers is None else [self._stores.of(number) for number in numbers]
        if numbers is not None and self.plan.context is not None:
            runs = [(self._instance(part, number), [part]) for part, number in zip(parts, numbers)]
        else:
            runs = [(self._instance(self._stores, None), parts)]
        if self._changing is not None:
            change = self._changing.change
            return together([change(environment, part) for environment, each in runs for part in each]).make(self._core)
        assert self._select is not None
        if len(runs) == 1:
            return self._select.run(*runs[0])
        body = self.plan.body
        assert isinstance(body, SelectQueryPlan)
        rows = [row for environment, each in runs for row in self._select.run(environment, each)]
        return distinct(rows) if body.result_set.distinct else rows

    def _instance(self, stores: Stores, number: int | None) -> Environment:
        """Return what the expressions of one run may touch: sub-queries over the rows as they are now, and what a partition has of its
        own."""
        subqueries = self.plan.body.subqueries
        if not subqueries and number is None:
            return self._environment
        environment = self._environment.of_instance(None if number is None else self._partitions.properties(number))
        if number is not None:
            environment.variables = OfPartition(environment.variables, number)
            environment.tables = OfPartition(environment.tables, number)
        environment.subqueries.extend(
            (plan, QueriedSubquery(plan, stores, environment, counts_null=plan not in self.plan.indexed)) for plan in subqueries)
        return environment


__all__ = ["ParameterCell", "Query"]
