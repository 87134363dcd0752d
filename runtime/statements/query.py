"""A fire-and-forget query: run once or, prepared, any number of times with other parameters."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from epl.plan.queries import DeleteQueryPlan, InsertQueryPlan, QueryPlan, SelectQueryPlan, UpdateQueryPlan
from epl.plan.statements import BodyPlan
from runtime.event_loop.loop import EventLoop
from runtime.expressions import Environment
from runtime.statements.query_changes import DeleteQuery, InsertQuery, UpdateQuery
from runtime.statements.query_rows import QueriedSubquery, Stores
from runtime.statements.query_select import SelectQuery
from windows.event import Event


class ParameterCell:
    """The value of a substitution parameter during a run."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = None


class QueryBody(Protocol):
    def run(self, environment: Environment) -> Sequence[Event]:
        """Do it; return the rows of the result."""


BODIES: Mapping[type[BodyPlan], Callable[..., QueryBody]] = {
    SelectQueryPlan: SelectQuery,
    InsertQueryPlan: InsertQuery,
    UpdateQueryPlan: UpdateQuery,
    DeleteQueryPlan: DeleteQuery,
}


class Query:
    """A query that is compiled once. ``cells``: of its parameters, which its expressions read by ``environment``."""

    def __init__(
        self, plan: QueryPlan, core: EventLoop, environment: Environment, cells: Mapping[str | int, ParameterCell], *, prepared: bool
    ) -> None:
        self.plan = plan
        self._core = core
        self._environment = environment
        self._cells = cells
        self._body = BODIES[type(plan.body)](plan.body, core.stores, prepared=prepared)

    def run(self, parameters: Mapping[str | int, Any]) -> Sequence[Event]:
        """Run it at this moment; consumers and listeners have had what it changes when it returns."""
        for key, cell in self._cells.items():
            cell.value = parameters[key]
        if not self.plan.changes:
            return self._body.run(self._instance())
        core = self._core
        outer, core.busy = core.busy, True
        try:
            rows = self._body.run(self._instance())
            core.flush()
            core.work()
        finally:
            core.busy = outer
        return rows

    def _instance(self) -> Environment:
        """Return what the expressions of this run may touch: with the sub-queries over the rows as they are now."""
        subqueries = self.plan.body.subqueries
        if not subqueries:
            return self._environment
        environment = self._environment.of_instance()
        stores: Stores = self._core.stores
        environment.subqueries.extend((plan, QueriedSubquery(plan, stores, environment)) for plan in subqueries)
        return environment


__all__ = ["ParameterCell", "Query"]
