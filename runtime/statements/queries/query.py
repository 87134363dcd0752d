"""A fire-and-forget query: run once or, prepared, any number of times with other parameters."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from epl.plan.queries import DeleteQueryPlan, InsertQueryPlan, QueryPlan, SelectQueryPlan, UpdateQueryPlan
from epl.plan.statements import BodyPlan
from runtime.event_loop.loop import EventLoop
from runtime.expressions import Environment
from runtime.statements.queries.changes import Change, DeleteQuery, InsertQuery, UpdateQuery
from runtime.statements.queries.rows import QueriedSubquery, Stores
from runtime.statements.queries.selects import SelectQuery
from windows.event import Event


class ParameterCell:
    """The value of a substitution parameter during a run."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = None


class Changing(Protocol):
    def change(self, environment: Environment) -> Change:
        """Return what the query does, evaluated as a whole."""


CHANGES: Mapping[type[BodyPlan], Callable[..., Changing]] = {
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
        body, self._stores = plan.body, Stores(core.stores, environment.tables)
        self._select = SelectQuery(body, self._stores, prepared=prepared) if isinstance(body, SelectQueryPlan) else None
        self._changing = None if self._select is not None else CHANGES[type(body)](body, self._stores, prepared=prepared)

    def run(self, parameters: Mapping[str | int, Any]) -> Sequence[Event]:
        """Run it at this moment; consumers and listeners have had what it changes when it returns."""
        for key, cell in self._cells.items():
            cell.value = parameters[key]
        environment = self._instance()
        if self._select is not None:
            return self._select.run(environment)
        assert self._changing is not None
        return self._changing.change(environment).make(self._core)

    def _instance(self) -> Environment:
        """Return what the expressions of this run may touch: with the sub-queries over the rows as they are now."""
        subqueries = self.plan.body.subqueries
        if not subqueries:
            return self._environment
        environment = self._environment.of_instance()
        environment.subqueries.extend(
            (plan, QueriedSubquery(plan, self._stores, environment, counts_null=plan not in self.plan.indexed)) for plan in subqueries)
        return environment


__all__ = ["ParameterCell", "Query"]
