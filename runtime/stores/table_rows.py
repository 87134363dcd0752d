"""The rows of tables as events: columns that hold a value are attributes, those of aggregations read the accumulators."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import attrs

from epl.generated_code import class_name, field_name
from epl.plan.stores.tables import Table
from runtime.stores.indexes import IndexedRows
from windows.event import Event, event_class

GONE, STANDS, COPIED = 0, 1, 2
"""What a row is that a statement holds: not in the table any more, the one of its key, or one that this was copied from."""


class TableRow(Event):
    """A row, whose aggregations change while it is there. By position of the column: ``results`` have ``value()``, ``kept`` take what
    enters and leaves; both None for a column that holds a value.
    """

    __slots__ = ("results", "kept")
    plain: tuple[str, ...]
    """The attributes that hold values."""
    new_part: Callable[[int], Any]
    """What makes the accumulator of a column."""
    frozen: type[Event]
    """The class of events with what the columns are at a time."""
    find: Callable[[TableRow], Any]
    """See ``where``."""

    def __init__(self, results: list[Any], kept: list[Any]) -> None:
        self.results = results
        self.kept = kept
        for name in self.plain:
            setattr(self, name, None)

    def copied(self) -> Event:
        """Return a row with the same values, and the same accumulators."""
        row: TableRow = object.__new__(self.__class__)
        row.results, row.kept = self.results, self.kept
        for name in self.plain:
            setattr(row, name, getattr(self, name))
        return row

    def reset(self, places: Sequence[int]) -> None:
        """Let the aggregations begin again; rows that this one was copied from keep theirs."""
        self.results, self.kept = list(self.results), list(self.kept)
        for place in places:
            part = self.new_part(place)
            self.results[place], self.kept[place] = part.reader, part.kept

    def where(self) -> Any:
        """Return where a state finds the row again: ``TableStore.where_is``."""
        return self.find(self)

    @classmethod
    def of_event(cls, event: Event) -> TableRow:
        """Return a row that is not in the table, with the values of an event of the table's type."""
        row: TableRow = object.__new__(cls)
        values = event.values()
        row.results, row.kept = [Value(value) for value in values], []
        for name, value in zip(cls.fields, values):
            if name in cls.plain:
                setattr(row, name, value)
        return row

    def with_values(self, event: Event) -> TableRow:
        """Return a row with the accumulators of this one and the other values of an event."""
        row: TableRow = object.__new__(self.__class__)
        row.results, row.kept = self.results, self.kept
        for name in self.plain:
            setattr(row, name, getattr(event, name))
        return row

    def as_event(self) -> Event:
        """Return the row as it is now."""
        return self.frozen(*self.values())


@attrs.frozen
class Value:
    """What a column of a row that is gone was at last, in place of its accumulator."""

    last: Any

    def value(self) -> Any:
        return self.last


def row_class(table: Table, new_part: Callable[[int], Any], find: Callable[[TableRow], Any]) -> type[TableRow]:
    """Return the class of a table's rows."""
    fields = tuple(field_name(column.name) for column in table.columns)
    computed = {f: _reader(place) for place, (f, column) in enumerate(zip(fields, table.columns)) if column.aggregation is not None}
    plain = tuple(f for f in fields if f not in computed)
    body = {
        "__slots__": plain, "type": table.event_type, "fields": fields, "plain": plain, "frozen": event_class(table.event_type),
        "new_part": staticmethod(new_part), "find": staticmethod(find),
        "readers": {column.name: attrgetter(f) for f, column in zip(fields, table.columns)}, **computed,
    }
    rows: type[TableRow] = type(class_name(table.name), (TableRow,), body)
    return rows


def _reader(place: int) -> property:
    return property(lambda row: row.results[place].value())


class TableRows(IndexedRows):
    """The rows with the indexes that look-ups ask for; a scan reads them in the order of the table."""

    __slots__ = ("_every", "_ordered")

    def __init__(
        self, rows: Sequence[Event], every: Callable[[], Iterator[Event]], ordered: Callable[[Sequence[Event]], Sequence[Event]]
    ) -> None:
        super().__init__(rows)
        self._every = every
        self._ordered = ordered

    def __iter__(self) -> Iterator[Event]:
        rows = self._every()
        return rows if self.counts is None else self.counts.read(rows)

    def in_order(self, rows: Iterable[Event]) -> Iterable[Event]:
        """Return some of the rows in the order of the table."""
        return self._ordered(tuple(rows))


__all__ = ["COPIED", "GONE", "STANDS", "TableRow", "TableRows", "row_class"]
