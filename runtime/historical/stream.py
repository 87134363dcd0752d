"""A historical stream of one statement: the rows that its call gives for a row of the other streams, or those of a table."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from sys import maxsize
from typing import Any

from epl.plan.join.historical import HistoricalPlan, MethodPlan, SqlPlan, StoredTablePlan, TablePlan
from epl.plan.join.lookups import LookupPlan
from runtime.expressions import Environment, compile_expression
from runtime.historical.cache import Cache, CacheConfig, LruResults
from runtime.stores.indexes import IndexedRows, LentRows
from runtime.stores.lookup import LookUp, compile_lookup
from runtime.stores.table import table_store
from windows.event import Event
from windows.keys import freeze

PartialRow = Sequence["Event | None"]
"""An event (or None) of each stream of the statement; those that the arguments read are there."""


class CallResult:
    """The rows that one call gave, with the look-ups among them. ``kept``: whether they may be asked for again."""

    __slots__ = ("kept", "look_ups", "rows")

    def __init__(self, rows: IndexedRows, *, kept: bool) -> None:
        self.rows, self.kept = rows, kept
        self.look_ups: dict[int, LookUp] = {}


class HistoricalStream:
    """Rows of a method, a query, a static table or a table, in a statement of ``arity`` streams.

    Results are kept by arguments in the source's cache, if it has one; during ``one_iteration`` equal arguments are asked once in any case.
    """

    def __init__(self, plan: HistoricalPlan, environment: Environment, arity: int) -> None:
        self.plan = plan
        self._environment, self._arity = environment, arity
        self._arguments = [compile_expression(argument, environment, arity) for argument in plan.arguments]
        self._call, config = _source(plan, environment)
        clock = environment.clock
        assert clock is not None
        self._cache: Cache | None = None if config is None else config.build(clock, environment.settings.units_per_second)
        self._iteration: Cache | None = None
        self._look_ups = 0
        self._shared: LentRows | None = None
        if isinstance(plan, StoredTablePlan):
            self._shared = LentRows(table_store(plan.table, environment).rows)
        self._releases: list[Callable[[], None]] = []

    def rows(self, partial: PartialRow) -> IndexedRows:
        """Return the rows for a partial row, in the order in which the call gave them. Raise EplRuntimeError where the call fails."""
        return self._result(partial).rows

    def look_up(self, plan: LookupPlan) -> LookUp:
        """Return the function that finds, among the rows for a partial row, those that satisfy conditions. Rows that may be asked for again
        are indexed."""
        number = self._look_ups = self._look_ups + 1
        environment, arity, result_of = self._environment, self._arity, self._result
        if isinstance(self.plan, TablePlan):
            return self._look_up_in_table(plan)
        if self._shared is not None:
            return compile_lookup(plan, self._shared, environment, arity)
        every_row = environment.shared(
            "every row", (plan,), lambda: LookupPlan(sought=plan.sought, conditions=plan.applied, applied=plan.applied)
        )

        def look_up(partial: PartialRow) -> Any:
            result = result_of(partial)
            find = result.look_ups.get(number)
            if find is None:
                find = compile_lookup(plan if result.kept else every_row, result.rows, environment, arity)
                result.look_ups[number] = find
            return find(partial)

        return look_up

    def _look_up_in_table(self, plan: LookupPlan) -> LookUp:
        """Return the look-up among the rows that the table has at the time: ``refresh_table`` gives it others."""
        table, environment, arity = _static_table(self.plan, self._environment), self._environment, self._arity
        rows = table.rows
        lent = LentRows(rows)
        find = compile_lookup(plan, lent, environment, arity)

        def look_up(partial: PartialRow) -> Any:
            nonlocal rows, lent, find
            if table.rows is not rows:
                rows = table.rows
                lent = LentRows(rows)
                find = compile_lookup(plan, lent, environment, arity)
            return find(partial)

        self._releases.append(lambda: lent.close())
        return look_up

    @property
    def is_table(self) -> bool:
        """Whether the rows are those of a table of ``create table``."""
        return self._shared is not None

    def close(self) -> None:
        """Release the indexes of a table, which other statements may go on using."""
        if self._shared is not None:
            self._shared.close()
        releases, self._releases = self._releases, []
        for release in releases:
            release()

    @contextmanager
    def one_iteration(self) -> Iterator[None]:
        """Ask once for equal arguments, whether the source has a cache or not."""
        outer = self._iteration
        if outer is None:
            self._iteration = LruResults(maxsize)
        try:
            yield
        finally:
            self._iteration = outer

    def _result(self, partial: PartialRow) -> CallResult:
        arguments = [evaluate(*partial) for evaluate in self._arguments]
        cache = self._cache if self._cache is not None else self._iteration
        if cache is None:
            return CallResult(self._call(arguments), kept=False)
        key = tuple(map(freeze, arguments))
        result: CallResult | None = cache.get(key)
        if result is None:
            result = CallResult(self._call(arguments), kept=True)
            cache.put(key, result)
        return result


def _source(plan: HistoricalPlan, environment: Environment) -> tuple[Callable[[Sequence[Any]], IndexedRows], CacheConfig | None]:
    """Return what answers, and how it is cached."""
    sources, units = environment.historical, environment.settings.units_per_second
    if isinstance(plan, MethodPlan):
        method = sources.methods[plan.name]
        call = method.caller(plan.row_type, plan.steps, units)
        return lambda arguments: IndexedRows(call(arguments)), method.cache
    if isinstance(plan, SqlPlan):
        database = sources.databases[plan.database]
        query = database.caller(plan, units)
        return lambda arguments: IndexedRows(query(arguments)), database.cache
    if isinstance(plan, StoredTablePlan):
        store = table_store(plan.table, environment)
        return lambda _: store.rows, None
    table = _static_table(plan, environment)
    return lambda _: table.rows, None


def _static_table(plan: HistoricalPlan, environment: Environment) -> Any:
    """Return the static table of a plan (runtime.historical.static_table)."""
    assert isinstance(plan, TablePlan)
    return environment.historical.tables[plan.name]


__all__ = ["HistoricalStream", "PartialRow"]
