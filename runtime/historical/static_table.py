"""Static tables: frames of an application as historical streams, indexed once for all statements that look rows up in them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventType
from epl.reprs import brief
from runtime.conversion.python_types import Known, describe_event_type
from runtime.stores.indexes import IndexedRows
from windows.event import Event
from windows.keys import freeze


@attrs.define
class StaticTable:
    """``rows``: those of the frame that was registered or refreshed last. ``keys``: the columns of which each row has other values."""

    name: str
    row_type: EventType
    keys: tuple[str, ...]
    rows: IndexedRows

    def refresh(self, frame: Any, units_per_second: int) -> IndexedRows:
        """Return the rows of another frame, which has the columns of the first; raises EplRuntimeError where it has not."""
        return _rows(self.name, to_arrow(frame, self.name), self.row_type, self.keys, units_per_second)


def static_table(name: str, frame: Any, keys: Iterable[str], known: Known, units_per_second: int) -> StaticTable:
    """Return the table of a pyarrow table or batch, a pandas, Polars or Spark frame; raises EplDeploymentError where it cannot be one."""
    keys = (keys,) if isinstance(keys, str) else tuple(keys)
    try:
        table = to_arrow(frame, name)
        row_type = describe_event_type(name, table.schema, known)
        unknown = [key for key in keys if key not in row_type.properties]
        if unknown:
            raise EplRuntimeError(
                f"Static table '{name}' has no column '{unknown[0]}'", hint=f"its columns are {', '.join(row_type.properties)}"
            )
        return StaticTable(name, row_type, keys, _rows(name, table, row_type, keys, units_per_second))
    except EplRuntimeError as error:
        raise EplDeploymentError(error.message, hint=error.hint) from error


def to_arrow(frame: Any, name: str) -> Any:
    """Return a frame as a pyarrow table. A Spark frame is collected."""
    import pyarrow as pa

    package = type(frame).__module__.split(".")[0]
    try:
        if package == "pyspark" and hasattr(frame, "toArrow"):
            return frame.toArrow()
        if isinstance(frame, pa.Table):
            return frame
        if isinstance(frame, pa.RecordBatch):
            return pa.Table.from_batches([frame])
        if package == "pandas" and hasattr(frame, "columns"):
            return pa.Table.from_pandas(frame, preserve_index=False)
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
    except pa.ArrowException as error:
        raise EplRuntimeError(f"Static table '{name}' cannot be read: {error}") from error
    raise EplRuntimeError(
        f"Static table '{name}' cannot be built from {type(frame).__name__}", hint="give a pyarrow, pandas, Polars or Spark frame"
    )


def _rows(name: str, table: Any, row_type: EventType, keys: tuple[str, ...], units_per_second: int) -> IndexedRows:
    from runtime.conversion.columns import read_columns
    from runtime.conversion.from_columns import read_events

    missing = [column for column in row_type.properties if column not in table.schema.names]
    if missing:
        raise EplRuntimeError(f"Static table '{name}': the frame has no column '{missing[0]}'")
    rows = read_events(row_type, read_columns(table, name), units_per_second)
    if keys:
        _check_unique(name, rows, keys)
    return IndexedRows(rows)


def _check_unique(name: str, rows: list[Event], keys: tuple[str, ...]) -> None:
    """Refuse a second row of a key, which would double what is joined with it. Null is not a key: it is never found."""
    seen: set[Any] = set()
    for row in rows:
        key = tuple(freeze(row.get(column)) for column in keys)
        if key in seen and None not in key:
            shown = ", ".join(f"{column}={brief(row.get(column))}" for column in keys)
            raise EplRuntimeError(f"Static table '{name}' has several rows of the key {shown}", hint="leave keys out, or keep one of them")
        seen.add(key)


__all__ = ["StaticTable", "static_table", "to_arrow"]
