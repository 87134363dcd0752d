"""The rows of a batch as one sequence over all of its types: read and checked, nothing done."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from runtime.clock.instants import FIRST, LAST
from runtime.clock.schedule import MAX_STOPS, Late, TimeMode
from runtime.conversion.arrow import value_arrow_type
from runtime.conversion.columns import Columns, Times, WrongCell, read_columns, sequence_values, time_values


@attrs.frozen
class BatchOptions:
    """How a batch is ordered and how time moves; the keyword arguments of ``Runtime.send_batch``, checked.

    ``time``: the column of each row's time (integers are engine time, timestamps are converted), one name or one a type; None: no clock
    moves. ``sequence``: the column that orders rows of equal time. ``late="keep"``: rows without a time or below the clock are processed at
    the current time, before the others; ``"refuse"``: they refuse the batch. ``time_mode="jump"``: a timer that is due several times on the
    way runs once, as with ``advance_time``. ``max_stops``: how many timers may be due between two rows.
    """

    time: str | Mapping[str, str] | None = attrs.field(default=None)
    sequence: str | Mapping[str, str] | None = attrs.field(default=None)
    late: Late = attrs.field(default="refuse")
    time_mode: TimeMode = attrs.field(default="span")
    max_stops: int = attrs.field(default=MAX_STOPS)

    @time.validator
    @sequence.validator
    def _check_column(self, setting: attrs.Attribute[Any], value: object) -> None:
        if not (value is None or isinstance(value, (str, Mapping))):
            raise EplRuntimeError(f"{setting.name} is the name of a column, or one by event type, not {value!r}")

    @max_stops.validator
    def _check_count(self, _: Any, value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise EplRuntimeError(f"max_stops is a number of timers, not {value!r}")

    @late.validator
    def _check_late(self, _: Any, value: str) -> None:
        if value not in ("refuse", "keep"):
            raise EplRuntimeError(f"late is 'refuse' or 'keep', not {value!r}")

    @time_mode.validator
    def _check_time_mode(self, _: Any, value: str) -> None:
        if value not in ("span", "jump"):
            raise EplRuntimeError(f"time_mode is 'span' or 'jump', not {value!r}")

    @property
    def counts_stops(self) -> bool:
        return self.time is not None and self.time_mode == "span"


@attrs.frozen(eq=False)
class TypeRows:
    """One type's rows as columns; ``times`` and ``sequence`` by row, None where rows are ordered by the table's order; ``ascends``:
    whether no row's time is below that of the row in front of it; ``table``: as it came, with the columns that no statement reads."""

    event_type: EventType
    columns: Columns
    times: Times | None
    sequence: Sequence[Any] | None
    ascends: bool
    table: Any = None

    def is_ordered(self) -> bool:
        """Return whether the rows are in order as they are."""
        return self.sequence is None and self.ascends

    def end(self, now: int) -> int:
        """Return the time of the last row."""
        return now if self.times is None or not len(self.times) else max(now, int(self.times[-1] if self.ascends else self.times.max()))


@lru_cache(maxsize=4)
def _standing(now: int, rows: int) -> Times:
    """Return the time of rows that move no clock."""
    times = np.full(rows, now)
    times.flags.writeable = False
    return times


class BatchOrder:
    """All rows of a batch in order of (time, sequence, type, row). ``start``: engine time; ``times``: by place, none below it;
    ``places``: by part and row, None where the rows of the only part are in order as they are.
    """

    def __init__(self, parts: Sequence[TypeRows], options: BatchOptions, now: int) -> None:
        self.parts = tuple(parts)
        self.start = now
        self.places: dict[TypeRows, Times | None] = {}
        self.is_plain = len(parts) == 1 and parts[0].is_ordered()
        if self.is_plain:
            self.places[parts[0]] = None
            rows, times_of_part = parts[0].columns.rows, parts[0].times
            times = _standing(now, 1 << rows.bit_length())[:rows] if times_of_part is None else times_of_part
            self.times: Times = times if not len(times) or times[0] >= now else np.maximum(times, now)
            return
        times = np.concatenate([np.full(p.columns.rows, now) if p.times is None else p.times for p in parts] or [np.zeros(0, np.int64)])
        if not (options.time or options.sequence):
            order = np.arange(len(times))
        elif options.sequence is None:
            order = np.argsort(times, kind="stable")
        else:
            order = _order_times(times, [s for p in parts for s in (p.sequence if p.sequence is not None else [0] * p.columns.rows)])
        self.times = np.maximum(times[order], now)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        bounds = np.cumsum([0, *(p.columns.rows for p in parts)])
        self.places.update({p: places[low:high] for p, low, high in zip(parts, bounds, bounds[1:])})

    @property
    def end(self) -> int:
        """The time of the last row."""
        return int(self.times[-1]) if len(self.times) else self.start

    def widest_gap(self) -> int:
        """Return the longest time between two rows, or before the first."""
        return int(np.diff(self.times, prepend=self.start).max(initial=0))

    def row_of(self, place: int) -> tuple[str, int]:
        """Return which row is at a place: (type, row in its table)."""
        for part, places in self.places.items():
            if places is None:
                return part.event_type.name, place
            rows = np.flatnonzero(places == place)
            if len(rows):
                return part.event_type.name, int(rows[0])
        raise LookupError(f"no row at place {place}")


def _order_times(times: Times, numbers: list[Any]) -> Times:
    keys = list(zip(times.tolist(), numbers))
    try:
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    except TypeError as error:
        raise EplRuntimeError(f"The sequence columns cannot be compared: {error}") from error


def read_part(event_type: EventType, table: Any, options: BatchOptions, now: int, units_per_second: int, read: frozenset[str]) -> TypeRows:
    """Return one type's table, checked. ``now``: where the clock is; ``read``: the properties that any statement reads: the columns of
    others are not looked at, and null."""
    time, sequence = _column(options.time, event_type, "time"), _column(options.sequence, event_type, "sequence")
    columns = read_columns(table, event_type.name, unread_types(event_type, read.union(c for c in (time, sequence) if c is not None)))
    _check_names(event_type, columns, {c for c in (time, sequence) if c is not None})
    times, ascends = (None, True) if time is None else _times(event_type, columns, time, options.late, now, units_per_second)
    order = None
    if sequence is not None:
        try:
            order = sequence_values(columns, sequence)
        except WrongCell as wrong:
            where = f"the sequence of row {wrong.row}, column '{sequence}'"
            raise EplRuntimeError(f"Event type '{event_type.name}': {where}, is null") from wrong
    return TypeRows(event_type, columns, times, order, ascends, table)


@lru_cache(maxsize=64)
def unread_types(event_type: EventType, read: frozenset[str]) -> Mapping[str, pa.DataType]:
    """Return the columns that are not among those read, with the types of their properties."""
    return {name: value_arrow_type(prop.whole_type) for name, prop in event_type.properties.items() if name not in read}


def _column(option: str | Mapping[str, str] | None, event_type: EventType, what: str) -> str | None:
    if option is None or isinstance(option, str):
        return option
    if event_type.name not in option:
        raise EplRuntimeError(f"Event type '{event_type.name}' has no {what} column; there are columns for {', '.join(option)}")
    return option[event_type.name]


def _check_names(event_type: EventType, columns: Columns, beside: set[str]) -> None:
    """Check that every declared property has a column, and that there is no other one."""
    for name in (*event_type.properties, *sorted(beside)):
        if name not in columns.data:
            present = ", ".join(columns.data) or "no columns"
            raise EplRuntimeError(f"Event type '{event_type.name}': the table has no column '{name}'", hint=f"it has {present}")
    for name in columns.data:
        if name not in event_type.properties and name not in beside:
            close = get_close_matches(name, event_type.properties, 1)
            raise EplRuntimeError(
                f"Event type '{event_type.name}' has no property '{name}': the table's column belongs to none",
                hint=f"did you mean '{close[0]}'?" if close else "declare the property, or leave the column out",
            )


def _times(
    event_type: EventType, columns: Columns, name: str, late: Late, now: int, units_per_second: int
) -> tuple[Times, bool]:
    """Return every row's time, none below the clock, and whether they ascend."""
    try:
        values, there = time_values(columns, name, units_per_second)
    except pa.ArrowException as error:
        raise EplRuntimeError(f"Event type '{event_type.name}': the time column '{name}' cannot be read: {error}") from error
    except WrongCell as wrong:
        raise EplRuntimeError(
            f"Event type '{event_type.name}': the time of row {wrong.row}, column '{name}', "
            f"is {wrong.value!r} ({type(wrong.value).__name__})",
            hint="times are integers in engine time or timestamps",
        ) from wrong
    ascends = _ascends(values)
    _check_range(event_type, name, values, ascends)
    if there is None and (not len(values) or (values[0] if ascends else values.min()) >= now):
        return values, ascends
    missing = np.zeros(len(values), np.bool_) if there is None else ~there
    wrong_rows = np.flatnonzero(missing | (values < now))
    if late == "refuse":
        row = int(wrong_rows[0])
        what = "is null" if missing[row] else f"is {values[row]}, below the engine time {now}"
        raise EplRuntimeError(
            f"Event type '{event_type.name}': the time of row {row}, column '{name}', {what}",
            hint="late='keep' processes such rows at the engine time",
        )
    values = np.where(missing, now, values)
    return values, _ascends(values)


def _check_range(event_type: EventType, name: str, times: Times, ascends: bool) -> None:
    if not len(times):
        return
    first, last = (times[0], times[-1]) if ascends else (times.min(), times.max())
    if first < FIRST or last > LAST:
        row = int(np.flatnonzero((times < FIRST) | (times > LAST))[0])
        raise EplRuntimeError(
            f"Event type '{event_type.name}': the time of row {row}, column '{name}', is {times[row]}, beyond the range of engine time "
            "(62 bits)")


def _ascends(times: Times) -> bool:
    return bool((times[1:] >= times[:-1]).all())


__all__ = ["BatchOptions", "BatchOrder", "TypeRows", "read_part", "unread_types"]
