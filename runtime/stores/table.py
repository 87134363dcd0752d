"""The rows of a table: plain values, and accumulators that the statements with ``into table`` feed."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from epl.errors import EplRuntimeError
from epl.plan.tables import IntoColumn, IntoTable, Table, TableColumn
from runtime.aggregation.factory import Arguments, Readers, Row, arguments_of, factory_of
from runtime.aggregation.grouped import Aggregator, key_from_state, key_to_state
from runtime.aggregation.keys import key_of
from runtime.aggregation.state_shapes import key_shape, state_shape
from runtime.expressions import Environment
from windows.event import Event, event_class
from windows.keys import bucket_order, hash_of_keys, values_of_key
from windows.paging import Paged
from windows.shape import ANYTHING, ROW, compiled, of_type, takes

Key = Any
"""Of a row: the key's value, a tuple of several, () where the table has no primary key."""


class TableRow:
    """By position of the column: ``readers`` have ``value()``, ``kept`` take what enters and leaves; both None for plain columns, which
    are in ``values``."""

    __slots__ = ("values", "readers", "kept")

    def __init__(self, values: list[Any], readers: list[Any], kept: list[Any]) -> None:
        self.values = values
        self.readers = readers
        self.kept = kept

    def all_values(self) -> list[Any]:
        """Return the value of each column now."""
        return [value if reader is None else reader.value() for value, reader in zip(self.values, self.readers)]


class TableStore:
    """A table's rows by key, in the order in which they came to be. ``deployment``: who created it.

    ``changed``: called before each change, once the table's own statement runs.
    """

    def __init__(self, table: Table, environment: Environment, deployment: str) -> None:
        self.table = table
        self.deployment = deployment
        self.rows: dict[Key, TableRow] = {}
        self.pages = Paged("table", lambda: self.rows, key_to_state, self._row_state)
        self.changed: Callable[[], None] = _nothing
        self._key_places = [place for place, column in enumerate(table.columns) if column.is_key]
        types = [column.type for column in table.keys]
        self._key: Callable[..., Key] = key_of(types, lambda *parts: parts) if types else lambda: ()
        self._hash = hash_of_keys(types)
        self._peak = 0
        self._makers = [_maker(column, environment) for column in table.columns]
        self._event = event_class(table.row_type)
        self._check_key = key_shape(types) if types else compiled(ANYTHING)
        self._check_row = compiled(tuple(_shape(column) for column in table.columns))

    # ------------------------------------------------------------------ rows

    def _new(self, key: Key) -> TableRow:
        parts = [None if make is None else make() for make in self._makers]
        row = TableRow([None] * len(parts), [p and p.reader for p in parts], [p and p.kept for p in parts])
        if key != ():
            for place, value in zip(self._key_places, values_of_key(key, len(self._key_places))):
                row.values[place] = value
        return row

    def row_for(self, key: Key) -> TableRow:
        """Return the row of the key, a new one where there is none, to be changed."""
        self.changed()
        self.pages.touch(key)
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = self._new(key)
            self._peak = max(self._peak, len(self.rows))
        return row

    def in_order(self) -> Iterable[tuple[Key, TableRow]]:
        """Return the rows as a Java hash map has them, where its order is known."""
        return bucket_order({key: (key, row) for key, row in self.rows.items()}, self._hash_of_key, self._peak)

    def _hash_of_key(self, key: Key) -> int:
        return 0 if self._hash is None or key == () else self._hash(key)

    def event(self, row: TableRow) -> Event:
        """Return the row as it is now."""
        return self._event(*row.all_values())

    # ------------------------------------------------------------------ what expressions ask

    def value(self, column: int, *key: Any) -> Any:
        """Return a column's value in the row of the key; null where there is none."""
        row = self.rows.get(self._key(*key))
        if row is None:
            return None
        reader = row.readers[column]
        return row.values[column] if reader is None else reader.value()

    def call(self, column: int, method: str, key: Sequence[Any], arguments: Sequence[Any]) -> Any:
        """Return what a method of the aggregation gives; null where there is no row."""
        row = self.rows.get(self._key(*key))
        return None if row is None else getattr(row.readers[column], method)(*arguments)

    def whole(self, *key: Any) -> Event:
        """Return the row of the key as an event; its columns are null where there is none."""
        row = self.rows.get(self._key(*key))
        return self._event(*[None] * len(self.table.columns)) if row is None else self.event(row)

    def keys(self) -> list[Any]:
        """Return the keys of all rows: a value each, or a list of several."""
        several = len(self._key_places)
        parts = [values_of_key(key, several) for key, _ in self.in_order()]
        return [each[0] for each in parts] if several == 1 else [list(each) for each in parts]

    # ------------------------------------------------------------------ state

    def _row_state(self, key: Key, row: TableRow) -> Any:
        return [value if kept is None else kept.state() for value, kept in zip(row.values, row.kept)]

    def state(self) -> Any:
        return [self.pages, self._peak]

    def restore(self, state: Any) -> None:
        pairs, peak = state
        self.pages.forget_all()
        self.rows.clear()
        for saved, values in pairs:
            if self._key_places:
                self._check_key(saved)
            self._check_row(values)
            key = key_from_state(saved) if self._key_places else ()
            row = self.rows[key] = self._new(key)
            for place, value in enumerate(values):
                kept = row.kept[place]
                if kept is None:
                    row.values[place] = value
                else:
                    kept.restore(value)
        self._peak = peak


def _nothing() -> None:
    """In place of a call."""


def _shape(column: TableColumn) -> Any:
    return of_type(column.type) if column.aggregation is None else state_shape(column.aggregation)


def _maker(column: TableColumn, environment: Environment) -> Callable[[], Any] | None:
    """Return what makes the parts of a new row's aggregation: it takes events, or the writers' values as a tuple."""
    plan = column.aggregation
    if plan is None:
        return None
    build = factory_of(plan)
    arguments = (
        arguments_of(plan, environment, 1) if column.event_type is not None
        else Arguments(plan, itemgetter(0), lambda values: values, None, environment, 1)
    )
    return lambda: build(arguments, {})


# ------------------------------------------------------------------ into table


class Absent:
    """In place of the aggregations of a row that is not there: everything asked of them is null."""

    def value(self) -> None:
        return None

    def __getattr__(self, method: str) -> Callable[..., None]:
        return lambda *arguments: None


class TableAggregator(Aggregator):
    """The aggregations of a statement that are kept in the rows of a table. Rows of the table stay when the last row has left.

    ``key``: of the table's row for one of the statement. ``failed``: of rows for which something raised the places of the columns that
    do not count them, so that they do not leave there either.
    """

    def __init__(
        self, into: IntoTable, store: TableStore, key: Callable[[Row], Key], environment: Environment, arity: int, *, rows_leave: bool
    ) -> None:
        slots = len(into.columns)
        self._store = store
        self.key = key
        self._feeds = [(each.position, *_feed(each, into, environment, arity)) for each in into.columns]
        self._slots: list[int] = [next(each.position for each in into.columns if each.slot == slot) for slot in range(slots)]
        self._absent: Readers = [Absent()] * slots
        self._rows_leave = rows_leave
        self.failed: dict[Row, list[int]] = {}

    def enter(self, row: Row) -> None:
        try:
            target = self._store.row_for(self.key(row))
        except Exception:
            self._note(row, list(range(len(self._feeds))))
            raise
        failure, failed = None, []
        for place, (position, value, condition) in enumerate(self._feeds):
            try:
                if condition is None or condition(row):
                    target.kept[position].enter(value(row))
            except Exception as error:  # noqa: BLE001 - the first one is raised below
                failure = failure or error
                failed.append(place)
        if failure is not None:
            self._note(row, failed)
            raise failure

    def _note(self, row: Row, failed: list[int]) -> None:
        if self._rows_leave:
            self.failed[row] = failed

    def leave(self, row: Row) -> None:
        failed = self.failed.pop(row, ()) if self.failed else ()
        if len(failed) == len(self._feeds):
            return
        target = self._store.row_for(self.key(row))
        failure = None
        for place, (position, value, condition) in enumerate(self._feeds):
            try:
                if place not in failed and (condition is None or condition(row)):
                    target.kept[position].leave(value(row))
            except Exception as error:  # noqa: BLE001 - the first one is raised below
                failure = failure or error
        if failure is not None:
            raise failure

    def counted(self, rows: Sequence[Row]) -> Sequence[Row]:
        every = len(self._feeds)
        return [row for row in rows if len(self.failed.get(row, ())) < every] if self.failed else rows

    def readers(self, row: Row) -> Readers:
        return self.readers_of(self.key(row))

    def readers_of(self, key: Key) -> Readers:
        """Return the aggregations of the table's row; all null where there is none."""
        target = self._store.rows.get(key)
        return self._absent if target is None else [target.readers[position] for position in self._slots]

    def clear(self) -> None:
        raise EplRuntimeError("aggregations in a table are not cleared")

    def state(self) -> Any:
        return [[row, places] for row, places in self.failed.items()]

    @takes([(ROW, ANYTHING)])
    def restore(self, state: Any) -> None:
        self.failed = {tuple(row) if isinstance(row, list) else row: list(places) for row, places in state}


def _feed(each: IntoColumn, into: IntoTable, environment: Environment, arity: int) -> tuple[Callable[[Row], Any], Any]:
    """Return what the table's accumulator gets of a row, and which rows it gets."""
    arguments = arguments_of(each.plan, environment, arity)
    column = into.table.columns[each.position]
    if column.event_type is None:
        return arguments.values, arguments.condition
    stream = each.plan.stream
    return (lambda row: row) if arity == 1 else (lambda row: row[stream]), arguments.condition


__all__ = ["TableAggregator", "TableRow", "TableStore"]
