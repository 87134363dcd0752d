"""What queries read: rows of named windows and of historical sources, as they are at the moment."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import attrs

from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventType
from epl.generated_code import field_name
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.join.historical import historical_plan, table_stream_plan
from epl.plan.join.lookups import IndexPlan, LookupPlan
from epl.plan.join.subqueries import SubqueryPlan, without_index
from epl.plan.stores.queries import RowsPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow, StreamPlan, stream_store_plan
from runtime.aggregation.grouped import build_aggregator
from runtime.expressions import Environment, compile_predicate
from runtime.expressions.compiled import compile_row
from runtime.historical.stream import HistoricalStream
from runtime.operators.subquery_answers import Answer, build_answer
from runtime.stores.by_partition import PartitionedTable, PartitionedWindow
from runtime.stores.indexes import HashIndex, IndexedRows
from runtime.stores.lookup import LookUp, compile_lookup
from runtime.stores.named_window import NamedWindowStore
from runtime.stores.table import TableStore
from windows.event import NO_EVENTS, Event

Test = Callable[..., bool]
Store = NamedWindowStore | TableStore


class Stores:
    """The named windows and tables that are there, as they are at any time; of those of a context the ones of the partition
    ``number``."""

    def __init__(self, windows: Mapping[EventType, Any], tables: Mapping[Any, Any], number: int | None = None) -> None:
        self._windows, self._tables = windows, tables
        self.number = number

    def of(self, number: int) -> Stores:
        """Return them as a partition has them."""
        return Stores(self._windows, self._tables, number)

    def any(self, declared: NamedWindow | Table) -> Any:
        """Return the rows, or those of all partitions; raise EplDeploymentError where they have been undeployed."""
        is_table = isinstance(declared, Table)
        store = self._tables.get(declared) if is_table else self._windows.get(declared.event_type)
        if store is None:
            raise EplDeploymentError(
                f"A precondition is not satisfied: {'Table' if is_table else 'Named window'} '{declared.name}' cannot be found",
                hint="prepare the query again")
        return store

    def __getitem__(self, declared: NamedWindow | Table) -> Store:
        """Return the rows; raise EplDeploymentError where they have been undeployed, EplRuntimeError where a partition has none."""
        store = self.any(declared)
        if isinstance(store, (PartitionedWindow, PartitionedTable)):
            own = None if self.number is None else store.partitions.get(self.number)
            if own is None:
                raise EplRuntimeError(f"'{declared.name}' is of a context: it has rows in partitions of the context alone")
            return own
        rows: Store = store
        return rows


def compile_tests(conditions: Iterable[TypedExpression | None], environment: Environment, arity: int) -> list[Test]:
    """Return the conditions as functions of so many events."""
    return [compile_predicate(each, environment, arity) for each in conditions if each is not None]


def passing(rows: Iterable[Event], tests: Sequence[Test]) -> list[Event]:
    """Return the rows that pass all tests."""
    for test in tests:
        rows = [row for row in rows if test(row)]
    return list(rows)


class StreamRows:
    """The rows of a stream that a query is about. ``prepared``: the query is run more than once, so that an index is worth it."""

    def __init__(self, store: NamedWindow | Table, conditions: Sequence[TypedExpression], plan: RowsPlan, *, prepared: bool) -> None:
        self._store, self._conditions, self._plan = store, conditions, plan
        self._prepared = prepared
        self._known: tuple[Store, int, LookUp] | None = None
        self._key = _places_of_key(store, plan.lookup) if isinstance(store, Table) else None

    def rows(self, environment: Environment, stores: Stores) -> list[Event]:
        """Return them in the order in which the window or table iterates; those that an index was created for, in its order."""
        store, plan = stores[self._store], self._plan
        find = self._look_up(store, plan.lookup, environment)
        arrived = store.rows.offers_equal(plan.equal)
        order = None if arrived else self._order(store)
        if find is None:
            own = plan.lookup.applied if plan.where is None else (plan.where,)
            rows = passing(store.rows if arrived or order is not None else store, compile_tests((*self._conditions, *own), environment, 1))
        else:
            rows = passing(find((None,)), compile_tests((*self._conditions, plan.where), environment, 1))
            if order is None and not arrived and plan.lookup.named is None and _is_whole(store):
                return list(store.order_rows(rows))
        return rows if order is None else sorted(rows, key=order)

    def _order(self, store: Store) -> Callable[[Event], Any] | None:
        """Return what gives the value by which the rows are sorted, of those that have arrived in order; None where they are not."""
        name = next((name for name in self._plan.ranges if store.rows.offers(name)), None)
        if name is None:
            return None
        value_of = attrgetter(field_name(name))
        return lambda row: ((value := value_of(row)) != value, value)

    def _look_up(self, store: Store, plan: LookupPlan, environment: Environment) -> LookUp | None:
        """Return the function that looks rows up by an index; None where all rows are read."""
        if plan.index is None or not (plan.named is not None or _is_whole(store) or plan.index in store.rows.indexes):
            return None
        if self._key is not None:
            assert isinstance(store, TableStore)
            return _by_primary_key(plan, self._key, store, environment)
        if plan.index.unique or plan.index.space:
            return _by_created(plan, plan.index, store, environment)
        queried, known = store.queried, self._known
        if known is not None and known[0] is store and known[1] == queried.generation:
            queried.touch(plan)
            return known[2]
        if not self._prepared and not queried.is_worth_it(plan):
            return None
        find = compile_lookup(plan, queried, environment, 1)
        if self._store.context is not None:  # each partition has rows and indexes of its own: nothing refers to those that have ended
            return find
        self._known = store, queried.generation, find
        return find


def _is_whole(store: Store) -> bool:
    """Return whether the indexes have the rows that the window or table iterates."""
    return not (isinstance(store, NamedWindowStore) and store.batches)


def _places_of_key(table: Table, plan: LookupPlan) -> list[int] | None:
    """Return where the values of the primary key are among those that are looked up; None where one is missing."""
    if plan.index is None or plan.index.ranges or plan.listed or plan.others:
        return None
    names = [key.name if isinstance(key, StreamProperty) else None for key in plan.index.hash]
    keys = [column.name for column in table.keys]
    return [names.index(key) for key in keys] if keys and sorted(keys) == sorted(map(str, names)) else None


def _by_primary_key(plan: LookupPlan, places: Sequence[int], store: TableStore, environment: Environment) -> LookUp:
    """Return the look-up in the table's own rows by key."""
    values_of, tests = compile_row(plan.keys, environment, 1), compile_tests(plan.conditions, environment, 1)
    null_safe = plan.null_safe

    def look_up(partial: Sequence[Event | None]) -> Iterable[Event]:
        values = values_of(None, True, None)
        if any(value is None and not safe for value, safe in zip(values, null_safe)):
            return ()
        row = store.find([values[place] for place in places])
        return passing(() if row is None else (row,), tests)

    return look_up


def _by_created(plan: LookupPlan, index: IndexPlan, store: Store, environment: Environment) -> LookUp | None:
    """Return the look-up by an index that a statement has created and that may refuse rows; once the statement has gone, by a plain one."""
    if index in store.rows.indexes:
        return compile_lookup(plan, store.queried, environment, 1)
    if index.space:
        return None
    plain = environment.printed("not unique", (plan,), lambda: attrs.evolve(plan, index=attrs.evolve(index, unique=False), named=None))
    return compile_lookup(plain, store.queried, environment, 1)


def stream_rows(stream: StreamPlan, stores: Stores, environment: Environment, arity: int) -> IndexedRows:
    """Return all rows of a stream, for look-ups: in the order in which the window iterates."""
    source = stream_source(stream)
    if source is None:
        historical = historical_plan(stream)
        assert historical is not None
        return HistoricalStream(historical, environment, arity).rows((None,) * arity)
    store = stores[source[0]]
    if source[1]:
        return IndexedRows(passing(store, compile_tests(source[1], environment, 1)))
    return store.queried if isinstance(store, TableStore) or store.in_order else IndexedRows(store)


def stream_source(stream: StreamPlan) -> tuple[NamedWindow | Table, Sequence[TypedExpression]] | None:
    """Return the named window or table that the stream reads, and its filter; None for any other source."""
    window, table = stream_store_plan(stream), table_stream_plan(stream)
    if window is not None:
        return window.window, window.conditions
    return None if table is None else (table.table, table.conditions)


class QueriedSubquery:
    """One sub-query of one run. ``answer`` reads the rows as they are when the query begins. ``counts_null``: whether rows for which where
    is null count, as they do where no index was created."""

    __slots__ = ("answer",)

    def __init__(self, plan: SubqueryPlan, stores: Stores, environment: Environment, *, counts_null: bool) -> None:
        rows = stream_rows(plan.stream, stores, environment, 1)
        index = None if plan.lookup is None else plan.lookup.index
        if index is not None and (index.unique or index.space) and index not in rows.indexes:
            plan, index = environment.printed("without index", (plan,), lambda: without_index(plan)), None
        aggregator = None
        if plan.running:
            aggregator = build_aggregator(plan.aggregations, plan.group_by, environment, 1, unbound=False)
            aggregator.apply(passing(rows, compile_tests((plan.where,), environment, 1)), NO_EVENTS)
        self.answer: Answer = build_answer(plan, rows, aggregator, environment)
        if counts_null and plan.counts_null and index is not None:
            evaluated = environment.printed("without index", (plan,), lambda: without_index(plan))
            self.answer = _counting_null(plan, self.answer, build_answer(evaluated, rows, None, environment), rows, environment)


def _counting_null(plan: SubqueryPlan, by_index: Answer, evaluated: Answer, rows: IndexedRows, environment: Environment) -> Answer:
    """Return the answer by an index, but where a key is null: in a query, unlike in a statement, rows for which where is null count."""
    lookup = plan.lookup
    assert lookup is not None and lookup.index is not None
    keys = (*lookup.index.hash, *lookup.index.ranges)
    if lookup.index.space or _has_null(rows, lookup.index, keys, environment):
        return evaluated
    ends = (end for bounds in lookup.bounds for end in (bounds.low, bounds.high) if end is not None)
    values_of = compile_row((*lookup.keys, *ends), environment, plan.arity)
    compared = 0 if plan.use in ("value", "rows") else 1

    def answer(*arguments: Any) -> Any:
        values = values_of(None, *arguments[compared:], True, None)
        return evaluated(*arguments) if None in values else by_index(*arguments)

    return answer


def _has_null(rows: IndexedRows, plan: IndexPlan, keys: Sequence[TypedExpression], environment: Environment) -> bool:
    """Return whether a key of some row is null."""
    if len(keys) == len(plan.hash) == 1:
        index = rows.index(plan, environment)
        return isinstance(index, HashIndex) and bool(index.find(None))
    values_of = compile_row(keys, environment, 1)
    return any(None in values_of(row, True, None) for row in rows)


__all__ = ["QueriedSubquery", "Store", "Stores", "StreamRows", "compile_tests", "stream_rows", "stream_source"]
