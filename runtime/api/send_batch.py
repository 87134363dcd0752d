"""Many rows in one call: the work of ``Runtime.send_batch``.

A batch is one ordered sequence of (time, sequence, type, row) over all of its types. Everything is checked before anything is done: a
batch that is refused has moved no clock and reached no statement. Then, row by row, time moves by span to the row's time and the event is
processed, so that the output is that of ``advance_time_span(time); send(type, event)`` for each row: how rows are cut into batches, and
time moved in between, never shows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.generated_code import field_name
from runtime.conversion.batch_order import BatchOptions, BatchOrder, TypeRows, read_part, unread_types
from runtime.conversion.columns import read_columns
from runtime.conversion.from_columns import property_column, read_events
from runtime.event_loop.cause import ProcessingPosition
from runtime.event_loop.loop import EventLoop
from windows.event import Event

if TYPE_CHECKING:
    from epl.plan.statements import StatementPlan
    from runtime.api.properties_read import PropertiesRead
    from runtime.batch.tier.column_batch import ColumnBatch
    from runtime.batch.tier.tier import BatchTier

Placed = tuple[int, int, "Event | None"]
"""(place, time, event) of a row; None for one that no statement of the row tier reads."""


def send_batch(
    core: EventLoop, type_of: Callable[[str | EventType], EventType], tier: BatchTier | None, target: str | EventType | Mapping[str, Any],
    table: Any, chosen: BatchOptions, read: PropertiesRead,
) -> None:
    """Do what ``Runtime.send_batch`` says, under the runtime's lock. ``type_of``: the type that takes events from outside; ``read``: what
    statements read of them."""
    tables = list(target.items()) if isinstance(target, Mapping) else [(target, table)]
    if isinstance(target, Mapping) and table is not None:
        raise EplRuntimeError("send_batch takes a type and a table, or one mapping of types to tables")
    try:
        now, units = core.clock.now, core.settings.units_per_second
        types = [(type_of(name), each) for name, each in tables]
        parts = [read_part(each, rows, chosen, now, units, read.of(each)) for each, rows in types]
        order = BatchOrder(parts, chosen, now)
        batch = None if tier is None or core.updates.active else _column_batch(tier, order, core)
    except (pa.ArrowException, UnicodeError) as error:
        raise EplRuntimeError(f"the batch cannot be read: {error}") from error
    if tier is None or not tier.is_used:
        _feed_row_tier(parts, order, core, chosen, read)
    elif batch is None:
        _feed_row_tier(parts, order, core, chosen, read)
        tier.advance(core.clock.now, jump=False)
    elif chosen.counts_stops and tier.may_stop(order.times, order.end, chosen.max_stops, beside=batch.leaves_rows):
        with tier.in_rows():
            _feed_row_tier(parts, order, core, chosen, read)
    else:
        _feed_both(batch, order, core, chosen, read)


def _column_batch(tier: BatchTier, order: BatchOrder, core: EventLoop) -> ColumnBatch:
    """Return what of the batch runs in the batch tier; everything is checked, nothing done."""
    from runtime.batch.tier.column_batch import ColumnBatch  # numba, without which there is no batch tier

    return ColumnBatch(tier, order, core.settings.units_per_second)


def _feed_row_tier(parts: Sequence[TypeRows], order: BatchOrder, core: EventLoop, options: BatchOptions, read: PropertiesRead) -> None:
    """Feed the row tier alone."""
    streams = [_stream(part, core) for part in parts]
    rows = _merge_rows(streams, order)
    core.begun += 1
    with read.watch(partial(_add_properties, streams, read, core.settings.units_per_second)):
        _feed(core, rows, order, options)


def _add_properties(
    streams: Sequence[tuple[TypeRows, list[Event]]], read: PropertiesRead, units_per_second: int, added: Iterable[StatementPlan]
) -> None:
    """Give the events of a batch under way the properties that statements read which a listener deploys; raise EplRuntimeError for values
    that do not fit."""
    for part, events in streams:
        event_type = part.event_type
        names = {name for plan in added for name in plan.reads.of(event_type)} - read.of(event_type)
        if not names:
            continue
        columns = read_columns(part.table, event_type.name, unread_types(event_type, frozenset(names)))
        for name in names:
            field = field_name(name)
            for event, value in zip(events, property_column(event_type, name, columns, units_per_second)):
                setattr(event, field, value)


def _feed_both(batch: ColumnBatch, order: BatchOrder, core: EventLoop, options: BatchOptions, read: PropertiesRead) -> None:
    """Feed what ``batch`` takes to the batch tier, and the other rows to the row tier, whose time advances by all of them."""
    rest = batch.left
    streams = [_stream(part, core) for part in rest]
    rows: Iterable[Placed] = list(_merge_rows(streams, order))
    core.begun += 1
    jump = options.time_mode == "jump"
    batch.feed(order.end, jump=jump)
    if options.time is not None and (rest or core.schedule.heap):
        if jump or (options.counts_stops and order.widest_gap() > options.max_stops):
            rows = _with_others(rows, order)
        else:
            options = attrs.evolve(options, max_stops=sys.maxsize)  # between two rows of all there are not so many
    placed = list(rows)
    with batch.beside(placed), read.watch(partial(_add_properties, streams, read, core.settings.units_per_second)):
        _feed(core, placed, order, options)
    if options.time is not None and core.clock.now < order.end:
        core.advance_span(order.end)


def _with_others(rows: Iterable[Placed], order: BatchOrder) -> Iterator[Placed]:
    """Return the rows, and between them the places of the others, at which time stops too: the event is None there."""
    events = {place: event for place, _, event in rows}
    return ((place, time, events.get(place)) for place, time in enumerate(order.times.tolist()))


def _stream(part: TypeRows, core: EventLoop) -> tuple[TypeRows, list[Event]]:
    return part, read_events(part.event_type, part.columns, core.settings.units_per_second)


def _merge_rows(streams: Sequence[tuple[TypeRows, list[Event]]], order: BatchOrder) -> Iterable[tuple[int, int, Event]]:
    """(place, time, event) of the rows, in order."""
    if order.is_plain:
        return zip(count(), order.times.tolist(), streams[0][1]) if streams else ()
    rows: list[tuple[int, int, Event]] = []
    for part, events in streams:
        places = order.places[part]
        assert places is not None
        rows += zip(places.tolist(), order.times[places].tolist(), events)
    rows.sort(key=itemgetter(0))
    return rows


def _feed(core: EventLoop, rows: Iterable[Placed], order: BatchOrder, options: BatchOptions) -> None:
    # What a listener sends has the cause of that listener's call.
    at = ProcessingPosition() if core.busy else core.position
    at.row_of = order.row_of
    try:
        _feed_rows(core, rows, at, options)
    finally:
        at.place, at.row_of = 0, None


def _feed_rows(core: EventLoop, rows: Iterable[Placed], at: ProcessingPosition, options: BatchOptions) -> None:
    if options.time is None:
        for at.place, _, event in rows:
            if event is not None:
                core.process(event)
        return
    clock, jump, max_stops = core.clock, options.time_mode == "jump", options.max_stops
    for place, row_time, event in rows:
        time = row_time if row_time > clock.now else clock.now
        if jump:
            core.advance(time)
        else:
            core.advance_span(time, None, max_stops)
        if event is not None:
            at.place = place
            core.process(event)


__all__ = ["send_batch"]
