"""Outputs → the calls that row listeners would get in the row tier: one a delta, in order over all statements of a component."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pyarrow as pa

from runtime.batch.runs.run import BatchOutput, Causes
from runtime.batch.storage.arrays import Array
from runtime.conversion.columns import read_columns
from runtime.conversion.from_columns import read_events
from runtime.event_loop.handle_order import HandleOrder

if TYPE_CHECKING:
    from runtime.statements.statement_output import StatementOutput


@attrs.frozen
class CallMoment:
    """When something happened in a batch: after the row at ``place`` (-1: before the first), by a ``timer`` or by the row, at ``time``."""

    place: int
    timer: bool
    time: int


@attrs.frozen
class RowOrigin:
    """Where the rows of a statement's input come from. ``places``: after which row of the batch's sequence each of them comes, None
    where they are the sequence;
    ``timers``: whether a timer brought it there. ``depth``: 0 for rows of the batch, 1 for what statements insert because of them, and so
    on; ``producer``: number of the statement that inserts them.
    """

    places: Array | None
    timers: Array | None = None
    depth: int = 0
    producer: int = 0

    def row_places(self, rows: Array) -> Array:
        """Return the places of some rows."""
        return rows if self.places is None else self.places[rows]


@attrs.frozen
class ListenerCall:
    """One call of a statement's listeners. ``route``: by what ways the event came, since what is inserted is processed after what is
    there: (depth, producer, row). Rows are made for row listeners only; else they are just counted."""

    moment: CallMoment
    route: tuple[int, int, int]
    statement: StatementOutput
    new: Any
    old: Any

    def cause(self) -> tuple[int, bool, int, tuple[int, int, int]]:
        """Return what orders the calls, but for those of several statements that have one cause."""
        return self.moment.place, self.moment.timer, self.moment.time, self.route


def in_order(calls: Iterable[ListenerCall], handles: HandleOrder) -> list[ListenerCall]:
    """Return the calls in order: those of one cause by the numbers of their statements; of timers as the row tier runs them."""
    ordered: list[ListenerCall] = []
    for (_, timer, _, _), group in groupby(sorted(calls, key=ListenerCall.cause), key=ListenerCall.cause):
        of_one = list(group)
        if len(of_one) > 1:
            numbers = sorted({call.statement.number for call in of_one})
            place = {number: at for at, number in enumerate(handles.statements(numbers) if timer else numbers)}
            of_one.sort(key=lambda call: place[call.statement.number])
        ordered += of_one
    return ordered


@attrs.frozen
class Timeline:
    """The batch as one sequence over all of its types: ``times`` by place. Ascending."""

    times: Array

    def moments(self, causes: Causes, source: RowOrigin) -> tuple[Array, Array]:
        """Return (place, whether a timer was at work) of each output row."""
        by_time = np.searchsorted(self.times, causes.time, side="left") - 1
        if source.places is not None and not len(source.places):
            return by_time, np.ones(len(by_time), np.bool_)
        places = np.where(causes.timer, by_time, source.row_places(causes.row))
        return places, causes.timer if source.timers is None else causes.timer | source.timers[causes.row]


def output_calls(statement: StatementOutput, output: BatchOutput, timeline: Timeline, source: RowOrigin) -> Iterator[ListenerCall]:
    """Yield the calls that one statement's output stands for, in order."""
    parts: dict[int, tuple[CallMoment, tuple[int, int, int], dict[bool | None, slice]]] = {}
    for causes, is_new in ((output.new_causes, True), (output.old_causes, False), (output.nothing, None)):
        if causes is None:
            continue
        places, timers = timeline.moments(causes, source)
        bounds = [0, *(np.flatnonzero(np.diff(causes.delta)) + 1).tolist(), len(causes.delta)]
        for low, high in zip(bounds, bounds[1:]):  # noqa: RUF007
            moment = CallMoment(int(places[low]), bool(timers[low]), int(causes.time[low]))
            route = (0, 0, 0) if causes.timer[low] else (source.depth, source.producer, int(causes.row[low]))
            parts.setdefault(int(causes.delta[low]), (moment, route, {}))[2][is_new] = slice(low, high)
    new, old = (_rows(b, statement) for b in (output.new, output.old))
    nothing = slice(0)
    for delta in sorted(parts):
        moment, route, spans = parts[delta]
        yield ListenerCall(moment, route, statement, new[spans.get(True, nothing)], old[spans.get(False, nothing)])


def _rows(batch: pa.RecordBatch | None, statement: StatementOutput) -> Any:
    if batch is None:
        return ()
    if not statement.listeners:
        return range(batch.num_rows)
    event_type = statement.event_type
    return read_events(event_type, read_columns(batch, event_type.name), 1000, made_here=True)


__all__ = ["CallMoment", "ListenerCall", "RowOrigin", "Timeline", "in_order", "output_calls"]
