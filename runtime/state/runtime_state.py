"""What snapshots, pages and their restoring see of a runtime."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import attrs

from epl.event_types import EventType
from epl.plan.statements import ModulePlan
from epl.plan.stores.tables import Table
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from runtime.event_loop.loop import EventLoop
from runtime.expressions.environment import HistoricalSources
from runtime.statements.statement_output import StatementOutput
from runtime.stores.by_partition import PartitionedTable
from runtime.stores.table import TableStore
from runtime.stores.variables import VariableCells


@attrs.define
class Counts:
    """How many ids of deployments have been counted through, and how many statements have been built."""

    deployments: int = 0
    statements: int = 0


class Deployed(Protocol):
    """A deployed module: its statements in order."""

    @property
    def id(self) -> str: ...

    @property
    def plan(self) -> ModulePlan: ...

    @property
    def parameters(self) -> dict[str | int, Any]: ...

    def __iter__(self) -> Iterator[StatementOutput]: ...


@attrs.frozen
class RuntimeState:
    """A runtime's own objects, not copies: what is read here is as it is at the time of reading.

    ``types``: the registered ones; ``functions``, ``aggregations``, ``windows``: the application's own, by name; ``enums``: constants by
    name; ``variables``: all, those of deployments included; ``core``: clock, timers, and which statements have been touched;
    ``historical``: what historical streams ask; ``tables``: their rows.
    """

    settings: Settings
    types: Mapping[str, EventType]
    functions: Mapping[str, Callable[..., Any]]
    aggregations: Mapping[str, Callable[[], Any]]
    windows: Mapping[str, type[WindowConfig]]
    enums: Mapping[str, tuple[str, ...]]
    variables: VariableCells
    deployments: Mapping[str, Deployed]
    counts: Counts
    core: EventLoop
    historical: HistoricalSources
    tables: Mapping[Table, TableStore | PartitionedTable]

    @property
    def tables_by_type(self) -> dict[EventType, TableStore | PartitionedTable]:
        """The stores of tables, by the type of their rows."""
        return {table.event_type: store for table, store in self.tables.items()}


__all__ = ["Counts", "Deployed", "RuntimeState"]
