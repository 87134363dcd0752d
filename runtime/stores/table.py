"""The rows of a table: plain values, and accumulators that the statements with ``into table`` feed."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import attrs

from epl.attribute_text import name_attributes, name_class_attributes
from epl.errors import EplDeploymentError, EplRuntimeError
from epl.java import key_text
from epl.java_hash import bucket_numbers, hash_of_keys
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import StreamProperty
from epl.plan.join.lookups import NamedIndex
from epl.plan.stores.tables import IntoColumn, IntoTable, Table, TableColumn
from runtime.aggregation.factory import Arguments, Readers, Row, build_factory, compile_arguments
from runtime.aggregation.generated_steps import GroupSteps
from runtime.aggregation.grouped import Aggregator, key_from_state, key_to_state
from runtime.aggregation.keys import key_evaluator
from runtime.aggregation.state_shapes import key_shape, state_shape
from runtime.expressions import Environment
from runtime.stores.queried_rows import QueriedRows
from runtime.stores.table_rows import COPIED, GONE, STANDS, TableRow, TableRows, row_class
from windows.event import NO_EVENTS, Event
from windows.keys import bucket_order, values_of_key
from windows.paging import Paged
from windows.protocol import Damaged
from windows.shape import ANYTHING, ROW, compile_check, of_type, takes

Key = Any
"""Of a row: the key's value, a tuple of several, () where the table has no primary key."""


class TableStore:
    """A table's rows by key, in the order in which they came to be. ``deployment``: who created it.

    ``changed``: called before each change, once the table's own statement runs.
    """

    def __init__(self, table: Table, environment: Environment, deployment: str) -> None:
        self.table = table
        self.deployment = deployment
        self.partition: int | None = None
        """The number of the partition of the table's context."""
        self.by_key: dict[Key, TableRow] = {}
        self.pages = Paged("table", lambda: self.by_key, key_to_state, self._row_state)
        self.changed: Callable[[], None] = _nothing
        self._key_places = [place for place, column in enumerate(table.columns) if column.is_key]
        types = [column.type for column in table.keys]
        self._key: Callable[..., Key] = key_evaluator(types, lambda *parts: parts) if types else lambda: ()
        self._hash = hash_of_keys(types)
        self._peak = 0
        self._makers = [_maker(column, environment) for column in table.columns]
        self._row_class = row_class(table, self._new_part, self.where_is)
        self._fields = self._row_class.fields
        self._key_fields = [self._fields[place] for place in self._key_places]
        self._rows: TableRows | None = None
        self._queried: QueriedRows | None = None
        self.merged: Counter[str] = Counter()
        """Columns that merges update, with the number of the merges."""
        self._check_key = key_shape(types) if types else compile_check(ANYTHING)
        self._check_row = compile_check(tuple(_shape(column) for column in table.columns))

    # ------------------------------------------------------------------ rows

    def _new_part(self, place: int) -> Any:
        make = self._makers[place]
        return None if make is None else make()

    def _new(self) -> TableRow:
        parts = [self._new_part(place) for place in range(len(self._makers))]
        return self._row_class([p and p.reader for p in parts], [p and p.kept for p in parts])

    def new_results(self) -> Readers:
        """Return what a row without counted events is read by, at the columns' positions."""
        return self._new().results

    def _new_row(self, key: Key) -> TableRow:
        row = self._new()
        if key != ():
            for name, value in zip(self._key_fields, values_of_key(key, len(self._key_fields))):
                setattr(row, name, value)
        return row

    def ensure_row(self, key: Key) -> TableRow:
        """Return the row of the key, a new one where there is none, to be changed."""
        self.changed()
        self.pages.touch(key)
        row = self.by_key.get(key)
        if row is None:
            row = self._new_row(key)
            if self._rows is not None and self._rows.restricted:
                self._rows.check((row,), NO_EVENTS)
            self._add(key, row)
            if self._rows is not None:
                self._rows.update((row,), NO_EVENTS)
        return row

    def _add(self, key: Key, row: TableRow) -> None:
        self.by_key[key] = row
        self._peak = max(self._peak, len(self.by_key))

    def row_count(self) -> int:
        """Return how many rows there are."""
        return len(self.by_key)

    def build_row(self, event: Event) -> TableRow:
        """Return a new row, which is not in the table yet, with the values of an event of the table's plain type."""
        row = self._new()
        for name, value in zip(row.plain, event.values()):
            setattr(row, name, value)
        return row

    def row_key(self, row: Event) -> Key:
        """Return the key of a row."""
        return self._key(*[getattr(row, name) for name in self._key_fields])

    def insert(self, event: Event) -> None:
        """Insert a row. Raise EplRuntimeError where there is one of its key."""
        self.change((self.build_row(event),), NO_EVENTS)

    def check(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Raise EplRuntimeError where two rows would have one key, or an index that was created refuses one."""
        self._keys(new, old)

    def _keys(self, new: Sequence[Event], old: Sequence[Event]) -> tuple[dict[Key, Any], set[Key]]:
        """Return what enters by its keys, and the keys of what leaves."""
        by_key, leaving = self.by_key, {self.row_key(row) for row in old}
        entering: dict[Key, Any] = {}
        for row in new:
            key = self.row_key(row)
            if key in entering or (key in by_key and key not in leaving):
                raise self._violation(key)
            entering[key] = row
        if self._rows is not None and self._rows.restricted:
            self._rows.check(new, old)
        return entering, leaving

    def change(self, new: Sequence[Event], old: Sequence[Event], *, silent: bool = False) -> None:
        """Let rows enter and others leave. Raise EplRuntimeError, and change nothing, where two rows would have one key, or an index that
        was created refuses one."""
        if not (new or old):
            return
        by_key = self.by_key
        entering, leaving = self._keys(new, old)
        self.changed()
        for key in leaving:
            if key not in entering:
                self.pages.forget(key)
                del by_key[key]
        for key, row in entering.items():
            self.pages.touch(key)
            self._add(key, row)
        if self._rows is not None:
            self._rows.update(new, old)

    def _violation(self, key: Key) -> EplRuntimeError:
        if not self._key_places:
            return EplRuntimeError(f"Unique index violation, table '{self.table.name}' is a declared to hold a single un-keyed row")
        shown = key_text(values_of_key(key, len(self._key_places)))
        return EplRuntimeError(f"Unique index violation, index '{self.table.name}' is a unique index and key '{shown}' already exists")

    @property
    def rows(self) -> TableRows:
        """The rows, with the indexes that look-ups ask for; kept from the first time that they are asked for."""
        if self._rows is None:
            self._rows = TableRows(tuple(self.by_key.values()), self.__iter__, self.order_rows)
        return self._rows

    def create_index(self, named: NamedIndex, environment: Environment) -> None:
        """Keep an index until ``rows.drop``; see IndexedRows.create. Merges may not update columns of a unique one, as in Esper."""
        if named.plan.unique and any(isinstance(key, StreamProperty) and key.name in self.merged for key in named.plan.hash):
            raise EplDeploymentError(
                "Failed to deploy: Create-index adds a unique key on columns that are updated by one or more on-merge statements")
        self.rows.create(named, environment)

    @property
    def queried(self) -> QueriedRows:
        """The rows, for queries."""
        if self._queried is None:
            self._queried = QueriedRows(self.rows)
        return self._queried

    def order_rows(self, rows: Sequence[Event]) -> Sequence[Event]:
        """Return some of the rows in the order in which the table is iterated."""
        if len(rows) < 2:
            return rows
        buckets = bucket_numbers([self._hash_of_key(self.row_key(row)) for row in rows], self._peak)
        by_bucket = dict(zip(buckets, rows))
        if len(by_bucket) == len(rows):
            return [by_bucket[bucket] for bucket in sorted(buckets)]
        members = set(rows)  # those of one bucket are in the order of the table
        return [row for row in self if row in members]

    def find(self, key: Sequence[Any]) -> Event | None:
        """Return the row with these values of the primary key."""
        return self.by_key.get(self._key(*key))

    def __iter__(self) -> Iterator[Event]:
        """The rows as a Java hash map has them, where its order is known."""
        return iter([row for _, row in self.in_order()])

    def in_order(self) -> Iterable[tuple[Key, TableRow]]:
        """Return keys and rows in that order."""
        return bucket_order({key: (key, row) for key, row in self.by_key.items()}, self._hash_of_key, self._peak)

    def _hash_of_key(self, key: Key) -> int:
        return 0 if self._hash is None or key == () else self._hash(key)

    # ------------------------------------------------------------------ what expressions ask

    def value(self, column: int, *key: Any) -> Any:
        """Return a column's value in the row of the key; null where there is none."""
        row = self.by_key.get(self._key(*key))
        return None if row is None else getattr(row, self._fields[column])

    def call(self, column: int, method: str, key: Sequence[Any], arguments: Sequence[Any]) -> Any:
        """Return what a method of the aggregation gives; null where there is no row."""
        row = self.by_key.get(self._key(*key))
        return None if row is None else getattr(row.results[column], method)(*arguments)

    def whole(self, *key: Any) -> Event:
        """Return the row of the key as an event; its columns are null where there is none."""
        row = self.by_key.get(self._key(*key))
        return self._row_class.frozen(*[None] * len(self._fields)) if row is None else row.as_event()

    def row(self, *key: Any) -> Event | None:
        """Return the row of the key as an event; null where there is none."""
        row = self.by_key.get(self._key(*key))
        return None if row is None else row.as_event()

    def keys(self) -> list[Any]:
        """Return the keys of all rows: a value each, or a list of several."""
        several = len(self._key_places)
        parts = [values_of_key(key, several) for key, _ in self.in_order()]
        return [each[0] for each in parts] if several == 1 else [list(each) for each in parts]

    # ------------------------------------------------------------------ state

    def _row_state(self, key: Key, row: TableRow) -> Any:
        return [getattr(row, name) if kept is None else kept.state() for name, kept in zip(self._fields, row.kept)]

    def where_is(self, row: TableRow) -> Any:
        """Return where a state finds the row again: the partition's number, the key, and whether it is the table's row of that key, has its
        accumulators, or is gone."""
        key = self.row_key(row) if self._key_places else ()
        there = self.by_key.get(key)
        standing = GONE if there is None or there.kept is not row.kept else STANDS if there is row else COPIED
        return [self.partition, key_to_state(key), standing]

    def restore_row(self, saved: Any, standing: Any, values: Event) -> TableRow:
        """Return the row that ``where_is`` was asked about. Raise Damaged for a standing that there is not."""
        if type(standing) is not int or not 0 <= standing <= COPIED:
            raise Damaged("a row of a table stands in another way")
        if self._key_places:
            self._check_key(saved)
        row = self.by_key.get(key_from_state(saved) if self._key_places else ()) if standing else None
        if row is None:
            return self._row_class.of_event(values)
        return row if standing == STANDS else row.with_values(values)

    def partition_store(self, partition: Any) -> TableStore:
        """Return the rows of all: without a context there is one store."""
        return self

    def state(self) -> Any:
        return [self.pages, self._peak]

    def restore(self, state: Any) -> None:
        pairs, peak = state
        self.pages.forget_all()
        self.by_key.clear()
        for saved, values in pairs:
            if self._key_places:
                self._check_key(saved)
            self._check_row(values)
            key = key_from_state(saved) if self._key_places else ()
            row = self.by_key[key] = self._new_row(key)
            for name, kept, value in zip(self._fields, row.kept, values):
                if kept is None:
                    setattr(row, name, value)
                else:
                    kept.restore(value)
        self._peak = peak
        if self._rows is not None:
            self._rows.restore(list(self.by_key.values()))


def table_store(table: Table, environment: Environment) -> TableStore:
    """Return the rows of the table, which an earlier statement has created."""
    store = environment.tables[table]
    assert isinstance(store, TableStore)
    return store


def events_of(rows: Sequence[Event]) -> Sequence[Event]:
    """Return what listeners get of rows: those of a table as they are now."""
    return [row.as_event() if isinstance(row, TableRow) else row for row in rows] if rows and isinstance(rows[0], TableRow) else rows


def _nothing() -> None:
    """Do nothing, in place of a call."""


def _shape(column: TableColumn) -> Any:
    return of_type(column.type) if column.aggregation is None else state_shape(column.aggregation)


def _maker(column: TableColumn, environment: Environment) -> Callable[[], Any] | None:
    """Return what makes the parts of a new row's aggregation: it takes events, or the writers' values as a tuple."""
    plan = column.aggregation
    if plan is None:
        return None
    build = build_factory(plan)
    arguments = (
        compile_arguments(plan, environment, 1) if column.event_type is not None
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
        self._leaving = [(each.position, *_feed(each, into, environment, arity, leaving=True)) for each in into.columns]
        self._is_plain = not any(_may_fail_uncounted(each.plan) or each.plan.of_moment for each in into.columns)
        self._rows_leave = rows_leave
        self.failed: dict[Row, list[int]] = {}

    def enter(self, row: Row) -> None:
        try:
            target = self._store.ensure_row(self.key(row))
        except Exception:
            self._note(row, list(range(len(self._feeds))))
            raise
        kept = target.kept
        failure, failed = None, []
        for place, (position, value, condition) in enumerate(self._feeds):
            try:
                if condition is None or condition(row):
                    kept[position].enter(value(row))
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
        target = self._store.ensure_row(self.key(row))
        failure = None
        for place, (position, value, condition) in enumerate(self._leaving):
            try:
                if place not in failed and (condition is None or condition(row)):
                    target.kept[position].leave(value(row))
            except Exception as error:  # noqa: BLE001 - the first one is raised below
                failure = failure or error
        if failure is not None:
            raise failure

    def countable_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        every = len(self._feeds)
        return [row for row in rows if len(self.failed.get(row, ())) < every] if self.failed else rows

    def readers(self, row: Row) -> Readers:
        return self.group_readers(self.key(row))

    def group_readers(self, key: Key) -> Readers:
        """Return the aggregations of the table's row; all null where there is none."""
        target = self._store.by_key.get(key)
        if target is None:
            return self._absent
        results = target.results
        return [results[position] for position in self._slots]

    def steps(self) -> GroupSteps | None:
        """Return the steps over a row that is there: a new one, or a row that something raised for, is left to the operators."""
        if not self._is_plain:
            return None
        results = self._store.new_results()
        return attrs.evolve(self._steps_text(tuple(self._slots)), blank=[results[position] for position in self._slots])

    def objects(self) -> dict[str, Any]:
        store = self._store
        return {"into": self, "table": store, "group_of": store.by_key.get, "pages": store.pages, "key_of": self.key}

    def _steps_text(self, positions: Sequence[int]) -> GroupSteps:
        """Return the text of its steps, without its objects."""
        into, table, pages = name_attributes("into", self), name_attributes("table", self._store), name_attributes("pages",
            self._store.pages)
        g, gl = name_class_attributes("g", TableRow), name_class_attributes("gl", TableRow)

        def change(key: str) -> tuple[str, ...]:
            return f"{table.changed}()", f"if {pages.touched} is not None: {pages.touched}[{key}] = None"

        def read(row: TableRow) -> str:
            return f"({''.join(f'{row.results}[{position}], ' for position in positions)})"

        return GroupSteps(
            guard=f"{into.failed}", blank=(), keyed=True, find=lambda key, group: f"{group} = group_of({key})",
            uncounted={"g": "g is None", "gl": "gl is None"}, enter=change("k"), leave=change("kl"), entered=read(g), left=read(gl))

    def clear(self) -> None:
        raise EplRuntimeError("aggregations in a table are not cleared")

    def state(self) -> Any:
        return [[row, places] for row, places in self.failed.items()]

    @takes([(ROW, ANYTHING)])
    def restore(self, state: Any) -> None:
        self.failed = {tuple(row) if isinstance(row, list) else row: list(places) for row, places in state}


def _may_fail_uncounted(plan: AggregationPlan) -> bool:
    """Return whether an aggregation evaluates an argument, that may raise, of which it does not read the value: it counts rows."""
    return plan.function == "count" and not all(isinstance(argument, StreamProperty) for argument in plan.arguments)


def _feed(
    each: IntoColumn, into: IntoTable, environment: Environment, arity: int, *, leaving: bool = False
) -> tuple[Callable[[Row], Any], Any]:
    """Return what the table's accumulator gets of a row, and which rows it gets. ``leaving``: of a row that leaves."""
    arguments = compile_arguments(each.plan, environment, arity)
    if leaving and arguments.moment is not None:
        arguments.moment.entering = False
    column = into.table.columns[each.position]
    if column.event_type is None:
        return arguments.values, arguments.condition
    stream = each.plan.stream
    return (lambda row: row) if arity == 1 else (lambda row: row[stream]), arguments.condition


__all__ = ["TableAggregator", "TableStore", "events_of", "table_store"]
