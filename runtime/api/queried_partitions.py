"""Which partitions of a context a query is run on."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from epl.errors import EplRuntimeError
from epl.plan.context.contexts import Context, store_context
from epl.plan.stores.queries import DeleteQueryPlan, InsertQueryPlan, QueryPlan, SelectQueryPlan, UpdateQueryPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from runtime.context.selectors import AllPartitions, select
from runtime.context.tree import ContextTree
from runtime.event_loop.loop import EventLoop
from runtime.statements.queries.rows import Stores, stream_source
from runtime.statements.running import EVERY_PARTITION, Selector

Selectors = Selector | Sequence[Selector | None] | None
"""A selector for each named window or table of a query's from clause; alone where there is one. None in a sequence: all partitions."""


class QueriedPartitions:
    """The partitions of the named window or table that a query reads or changes; without one, those of the context that it names.

    Raise EplRuntimeError for a query that names a context, where the window or table is of none.
    """

    def __init__(self, plan: QueryPlan, core: EventLoop, stores: Stores) -> None:
        self._core, self._stores = core, stores
        self._target = _target(plan)
        body = plan.body
        self._streams = max(1, len(body.streams)) if isinstance(body, SelectQueryPlan) else 1
        self._context: Context | None = plan.context
        if self._target is not None:
            self._context = store_context(self._target)
            if self._context is None and plan.context is not None:
                raise EplRuntimeError(
                    "Query target is unpartitioned", hint=f"'{self._target.name}' belongs to no context: omit context …")

    def numbers(self, selectors: Selectors) -> list[int] | None:
        """Return the ids of those that are selected; None where nothing is of a context. Raise EplRuntimeError for selectors of another
        number or another kind of context."""
        if selectors is EVERY_PARTITION:
            selectors = [None] * self._streams
        if selectors is None:
            raise EplRuntimeError("No context partition selectors provided", hint="without an argument all partitions are selected")
        if not isinstance(selectors, Sequence):
            selectors = [selectors]
        if len(selectors) != self._streams:
            raise EplRuntimeError(
                "The number of context partition selectors does not match the number of named windows or tables in the from-clause")
        if self._context is None:
            return None
        tree = self._tree()
        numbers = select(selectors[0] or AllPartitions(), tree.context, tree.in_order())
        if self._target is None:
            return numbers
        held = self._stores.any(self._target).partitions
        return [number for number in numbers if number in held]

    def properties(self, number: int) -> Mapping[str, Any]:
        """Return what ``context.`` gives in a partition."""
        return self._tree().partitions[number].properties

    def _tree(self) -> ContextTree:
        tree: ContextTree | None = self._core.contexts.get(self._context)
        if tree is None:
            assert self._context is not None
            raise EplRuntimeError(f"Context by name '{self._context.name}' could not be found", hint="prepare the query again")
        return tree


def _target(plan: QueryPlan) -> NamedWindow | Table | None:
    """Return the named window or table that a query reads or changes; None of a join, of which none is of a context, or without one."""
    body = plan.body
    if isinstance(body, (InsertQueryPlan, UpdateQueryPlan, DeleteQueryPlan)):
        return body.store
    assert isinstance(body, SelectQueryPlan)
    source = stream_source(body.streams[0]) if len(body.streams) == 1 else None
    return None if source is None else source[0]


__all__ = ["QueriedPartitions", "Selectors"]
