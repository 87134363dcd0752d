"""What queries read: rows of named windows and of historical sources, as they are at the moment."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from epl.errors import EplDeploymentError
from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.historical import historical_of
from epl.plan.lookups import IndexPlan, LookupPlan
from epl.plan.queries import RowsPlan
from epl.plan.streams import NamedWindow, StreamPlan, store_of
from epl.plan.subqueries import SubqueryPlan, without_index
from runtime.aggregation.grouped import build_aggregator
from runtime.expressions import Environment, compile_predicate
from runtime.expressions.compiled import compile_row
from runtime.historical.stream import HistoricalStream
from runtime.operators.subquery_answers import Answer, answer_of
from runtime.stores.indexes import HashIndex, IndexedRows
from runtime.stores.lookup import LookUp, compile_lookup
from runtime.stores.named_window import NamedWindowStore
from windows.event import NO_EVENTS, Event

Test = Callable[..., bool]
Stores = Mapping[EventType, Any]


def store_in(stores: Stores, window: NamedWindow) -> NamedWindowStore:
    """Return the rows of a named window; raise EplDeploymentError where it has been undeployed."""
    store: NamedWindowStore | None = stores.get(window.event_type)
    if store is None:
        raise EplDeploymentError(
            f"A precondition is not satisfied: Named window '{window.name}' cannot be found", hint="prepare the query again")
    return store


def tests_of(conditions: Iterable[TypedExpression | None], environment: Environment, arity: int) -> list[Test]:
    """Return the conditions as functions of so many events."""
    return [compile_predicate(each, environment, arity) for each in conditions if each is not None]


def passing(rows: Iterable[Event], tests: Sequence[Test]) -> list[Event]:
    """Return the rows that pass all tests."""
    for test in tests:
        rows = [row for row in rows if test(row)]
    return list(rows)


class StreamRows:
    """The rows of a stream that a query is about. ``prepared``: the query is run more than once, so that an index is worth it."""

    def __init__(
        self, window: NamedWindow, conditions: Sequence[TypedExpression], plan: RowsPlan, stores: Stores, *, prepared: bool
    ) -> None:
        self._window, self._conditions, self._plan, self._stores = window, conditions, plan, stores
        self._prepared = prepared
        self._known: tuple[NamedWindowStore, int, LookUp] | None = None

    def rows(self, environment: Environment) -> list[Event]:
        """Return them in the order in which the window iterates; those that an index was created for, in its order."""
        store, plan = store_in(self._stores, self._window), self._plan
        find = self._look_up(store, plan.lookup, environment)
        if find is None:
            own = plan.lookup.applied if plan.where is None else (plan.where,)
            return passing(store, tests_of((*self._conditions, *own), environment, 1))
        rows = passing(find((None,)), tests_of((*self._conditions, plan.where), environment, 1))
        if store.in_order or len(rows) < 2 or plan.lookup.named is not None:
            return rows
        chosen = dict.fromkeys(rows)
        return [row for row in store if row in chosen]

    def _look_up(self, store: NamedWindowStore, plan: LookupPlan, environment: Environment) -> LookUp | None:
        """Return the function that looks rows up by an index; None where all rows are read."""
        if plan.index is None or store.batches:
            return None
        if plan.index.unique or plan.index.space:
            return _by_created(plan, plan.index, store, environment)
        queried, known = store.queried, self._known
        if known is not None and known[0] is store and known[1] == queried.generation:
            queried.touch(plan)
            return known[2]
        if not self._prepared and not queried.is_worth_it(plan):
            return None
        find = compile_lookup(plan, queried, environment, 1)
        self._known = store, queried.generation, find
        return find


def _by_created(plan: LookupPlan, index: IndexPlan, store: NamedWindowStore, environment: Environment) -> LookUp | None:
    """Return the look-up by an index that a statement has created and that may refuse rows; once the statement has gone, by a plain one."""
    if index in store.rows.indexes:
        return compile_lookup(plan, store.queried, environment, 1)
    if index.space:
        return None
    plain = environment.printed("not unique", (plan,), lambda: attrs.evolve(plan, index=attrs.evolve(index, unique=False), named=None))
    return compile_lookup(plain, store.queried, environment, 1)


def contents_of(stream: StreamPlan, stores: Stores, environment: Environment, arity: int) -> IndexedRows:
    """Return all rows of a stream, for look-ups: in the order in which the window iterates."""
    source = store_of(stream)
    if source is None:
        historical = historical_of(stream)
        assert historical is not None
        return HistoricalStream(historical, environment, arity).rows((None,) * arity)
    store = store_in(stores, source.window)
    if source.conditions:
        return IndexedRows(passing(store, tests_of(source.conditions, environment, 1)))
    return store.queried if store.in_order else IndexedRows(store)


class QueriedSubquery:
    """One sub-query of one run. ``answer`` reads the rows as they are when the query begins."""

    __slots__ = ("answer",)

    def __init__(self, plan: SubqueryPlan, stores: Stores, environment: Environment) -> None:
        rows = contents_of(plan.stream, stores, environment, 1)
        index = None if plan.lookup is None else plan.lookup.index
        if index is not None and (index.unique or index.space) and index not in rows.indexes:
            plan, index = environment.printed("without index", (plan,), lambda: without_index(plan)), None
        aggregator = None
        if plan.running:
            aggregator = build_aggregator(plan.aggregations, plan.group_by, environment, 1, unbound=False)
            aggregator.apply(passing(rows, tests_of((plan.where,), environment, 1)), NO_EVENTS)
        self.answer: Answer = answer_of(plan, rows, aggregator, environment)
        if plan.counts_null and index is not None:
            evaluated = environment.printed("without index", (plan,), lambda: without_index(plan))
            self.answer = _counting_null(plan, self.answer, answer_of(evaluated, rows, None, environment), rows, environment)


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


__all__ = ["QueriedSubquery", "Stores", "StreamRows", "contents_of", "store_in", "tests_of"]
