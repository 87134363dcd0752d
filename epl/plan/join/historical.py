"""Historical streams: their rows come from a call, asked for each row of the other streams."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

import attrs

from epl.event_types import EventType
from epl.plan.checks import check
from epl.plan.expression_text import PropertyText, expression_text
from epl.plan.expressions import TypedExpression
from epl.plan.stores.tables import Table
from epl.plan.streams import SourcePlan, StreamPlan


@attrs.frozen(kw_only=True)
class HistoricalPlan(SourcePlan):
    """Rows of ``row_type`` that a call with ``arguments`` gives. The arguments are read over all streams of the statement."""

    row_type: EventType
    arguments: tuple[TypedExpression, ...] = ()

    @property
    def reads(self) -> frozenset[int]:
        """The streams whose events the arguments need."""
        return frozenset(stream for argument in self.arguments for stream in argument.streams)

    def text(self, streams: Sequence[PropertyText] = ()) -> str:
        """Return the call as ``explain()`` prints it."""
        raise NotImplementedError


@attrs.frozen(kw_only=True)
class MethodPlan(HistoricalPlan):
    """``method:name(…)``: a Python function that was registered. ``steps``: how each argument is converted for its type hint."""

    title: ClassVar[str] = "a method invocation"
    name: str
    steps: tuple[str, ...] = ()

    def text(self, streams: Sequence[PropertyText] = ()) -> str:
        return f"{self.name}({', '.join(expression_text(argument, streams) for argument in self.arguments)})"


@attrs.frozen(kw_only=True)
class SqlPlan(HistoricalPlan):
    """``sql:database ["…"]``. ``query``: the text around the parameters, one part more than there are arguments."""

    title: ClassVar[str] = "a database query"
    database: str
    query: tuple[str, ...]

    def __attrs_post_init__(self) -> None:
        check(not self.arguments or len(self.query) == len(self.arguments) + 1, "a query with other parameters than arguments")

    def text(self, streams: Sequence[PropertyText] = ()) -> str:
        arguments = [f"${{{expression_text(argument, streams)}}}" for argument in self.arguments]
        return f"{self.database}: {''.join(part for pair in zip_longest(self.query, arguments, fillvalue='') for part in pair)}"


@attrs.frozen(kw_only=True)
class TablePlan(HistoricalPlan):
    """A static table, by the name that it was registered with."""

    title: ClassVar[str] = "a static table"
    name: str

    def text(self, streams: Sequence[PropertyText] = ()) -> str:
        return self.name


@attrs.frozen(kw_only=True)
class StoredTablePlan(HistoricalPlan):
    """Rows of a table of ``create table`` that satisfy ``conditions``: they are looked up, none of them drives anything."""

    title: ClassVar[str] = "a table"
    retains: ClassVar[bool] = True
    table: Table
    conditions: tuple[TypedExpression, ...] = ()

    def text(self, streams: Sequence[PropertyText] = ()) -> str:
        return self.table.name


def historical_plan(stream: StreamPlan) -> HistoricalPlan | None:
    """Return the plan of a historical stream; None for a stream that has events of its own."""
    return stream.source if isinstance(stream.source, HistoricalPlan) else None


def table_stream_plan(stream: StreamPlan) -> StoredTablePlan | None:
    """Return the plan of a stream over a table; None for any other stream."""
    return stream.source if isinstance(stream.source, StoredTablePlan) else None


def look_up_order(streams: Sequence[StreamPlan]) -> tuple[int, ...] | None:
    """Return the historical streams, each after all that its arguments read; None where they read one another in a circle.

    Streams with events of their own are known from the beginning.
    """
    plans = {number: plan for number, stream in enumerate(streams) if (plan := historical_plan(stream)) is not None}
    order: list[int] = []
    while len(order) < len(plans):
        ready = [n for n, plan in plans.items() if n not in order and plan.reads.isdisjoint(plans.keys() - set(order))]
        if not ready:
            return None
        order += ready
    return tuple(order)


__all__ = ["HistoricalPlan", "MethodPlan", "SqlPlan", "StoredTablePlan", "TablePlan", "historical_plan", "look_up_order",
           "table_stream_plan"]
