"""Rows of columns that are not looked at before they are asked for: what no statement reads is neither converted nor refused."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from epl.errors import EplRuntimeError

Convert = Callable[[str, Any], list[Any]]


class ColumnRow(Mapping[str, Any]):
    """A row of columns. Looking at a value that cannot be read raises EplRuntimeError."""

    __slots__ = ("_place", "_rows")

    def __init__(self, rows: ColumnRows, place: int) -> None:
        self._rows, self._place = rows, place

    def __getitem__(self, name: str) -> Any:
        value = self._rows.values(name)[self._place]
        if isinstance(value, EplRuntimeError):
            raise value
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a column, or the default where there is none of that name."""
        return self[name] if name in self._rows.columns else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows.columns)

    def __len__(self) -> int:
        return len(self._rows.columns)

    def without(self, skipped: frozenset[str]) -> Iterable[tuple[str, Any]]:
        """Return name and value of the columns that are not skipped, fastest where the same set is given for the next row."""
        columns, has_faults = self._rows.without(skipped)
        if has_faults:
            return [(name, self[name]) for name, _ in columns]
        place = self._place
        return [(name, values[place]) for name, values in columns]


class ColumnRows:
    """The rows of a batch. A column is converted when the first of its values is asked for. ``convert``: makes the values of a column, by
    its name, with the error in place of one that cannot be read."""

    def __init__(self, batch: pa.RecordBatch, convert: Convert) -> None:
        self.columns = dict(zip(batch.schema.names, batch.columns))
        self._count, self._convert = len(batch), convert
        self._converted: dict[str, list[Any]] = {}
        self._faulty: set[str] = set()
        self._without: tuple[frozenset[str] | None, tuple[list[tuple[str, list[Any]]], bool]] = None, ([], False)

    def __iter__(self) -> Iterator[ColumnRow]:
        return (ColumnRow(self, place) for place in range(self._count))

    def values(self, name: str) -> list[Any]:
        """Return a column's values; KeyError for one that is not there."""
        values = self._converted.get(name)
        if values is None:
            values = self._converted[name] = self._convert(name, self.columns[name])
            if any(type(value) is EplRuntimeError for value in values):
                self._faulty.add(name)
        return values

    def without(self, skipped: frozenset[str]) -> tuple[list[tuple[str, list[Any]]], bool]:
        """Return names and values of the columns that are not skipped, and whether there are errors among the values."""
        if self._without[0] is not skipped:
            columns = [(name, self.values(name)) for name in self.columns if name not in skipped]
            self._without = skipped, (columns, any(name in self._faulty for name, _ in columns))
        return self._without[1]


def column_values(name: str, column: Any) -> list[Any]:
    """Return the values of a column of Parquet."""
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):  # a time beyond Python's, text that is not UTF-8: some rows are good
        return [_value(name, cell) for cell in column]


def _value(name: str, cell: Any) -> Any:
    try:
        return cell.as_py()
    except (ValueError, OverflowError, pa.ArrowException) as error:
        return EplRuntimeError(f"column '{name}' holds a value that cannot be read: {error}")


__all__ = ["ColumnRow", "ColumnRows", "column_values"]
