"""What a call returned → rows: events of one type, every value checked."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from runtime.conversion.from_python import to_event
from runtime.conversion.python_types import class_fields
from windows.event import Event

MAX_ROWS = 1_000_000
"""How many rows one look-up may return unless its registration says otherwise."""


@attrs.frozen
class ResultRows:
    """Makes events of ``event_type`` of what a look-up returns: at most ``max_rows``."""

    event_type: EventType
    units_per_second: int
    max_rows: int = MAX_ROWS

    def of(self, result: Any) -> tuple[Event, ...]:
        """Return the rows of a result in its order.

        A result is None (no rows), one row, an iterable of rows, a pyarrow table or batch, a pandas frame, or anything with
        ``__arrow_c_stream__``. A row is a mapping, a tuple or list in the order of the properties, an object with attributes, an event of
        the type; rows that are None are dropped. Raise EplRuntimeError where a row does not fit or there are too many.
        """
        if result is None:
            return ()
        if _is_table(result):
            return self._of_table(result)
        if _is_one_row(result):
            return (self._row(result),)
        if not isinstance(result, Iterable):
            return (self._row(result),)
        rows = tuple(islice((self._row(row) for row in result if row is not None), self.max_rows + 1))
        self._check(len(rows))
        return rows

    def of_tuples(self, rows: Iterator[Any]) -> tuple[Event, ...]:
        """Return the rows of a database cursor: sequences in the order of the properties."""
        events = tuple(islice((self._row(tuple(row)) for row in rows), self.max_rows + 1))
        self._check(len(events))
        return events

    def _row(self, row: Any) -> Event:
        if isinstance(row, Event):
            if row.type.is_a(self.event_type):
                return row
            raise EplRuntimeError(f"an event of type '{row.type.name}' is not a row of type '{self.event_type.name}'")
        return to_event(self.event_type, row)

    def _of_table(self, table: Any) -> tuple[Event, ...]:
        from runtime.conversion.columns import read_columns
        from runtime.conversion.from_columns import read_events

        columns = read_columns(table, self.event_type.name)
        self._check(columns.rows)
        missing = [name for name in self.event_type.properties if name not in columns.data]
        if missing:
            raise EplRuntimeError(f"Event type '{self.event_type.name}': the table has no column '{missing[0]}'")
        return tuple(read_events(self.event_type, columns, self.units_per_second))

    def _check(self, count: int) -> None:
        if count > self.max_rows:
            raise EplRuntimeError(f"more than {self.max_rows} rows", hint="max_rows=… where the source is registered")


def _is_table(result: Any) -> bool:
    return hasattr(result, "__arrow_c_stream__") or (
        type(result).__module__.split(".")[0] in ("pyarrow", "pandas") and hasattr(result, "columns")
    )


def _is_one_row(result: Any) -> bool:
    """Return whether the whole result is one row; a plain tuple or list holds rows."""
    kind: Any = type(result)
    return isinstance(result, (Mapping, Event, str, bytes)) or _is_row_class(kind)


@lru_cache(maxsize=256)
def _is_row_class(kind: type) -> bool:
    """Return whether the class declares fields: a dataclass, an attrs or pydantic class, a NamedTuple."""
    return class_fields(kind) is not None


__all__ = ["MAX_ROWS", "ResultRows"]
