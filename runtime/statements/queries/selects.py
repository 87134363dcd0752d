"""select as a query: the rows that are there are one delta of a result set."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epl.plan.join.historical import historical_plan
from epl.plan.join.joins import DrivePlan, JoinPlan
from epl.plan.join.lookups import LookupPlan
from epl.plan.stores.queries import SelectQueryPlan
from runtime import result_set
from runtime.expressions import Environment
from runtime.historical.stream import HistoricalStream
from runtime.join.drive import JoinedRow, LookUp, compile_drive
from runtime.join.loops import compile_loops, step_chain
from runtime.statements.queries.rows import Stores, StreamRows, compile_tests, stream_rows, stream_source
from runtime.stores.indexes import IndexedRows
from runtime.stores.lookup import compile_lookup
from windows.event import NO_EVENTS, Event


class Collected:
    """What a result set emits."""

    def __init__(self) -> None:
        self.rows: Sequence[Event] = NO_EVENTS

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.rows = new


class SelectQuery:
    """Rows of one stream, of a join, or one row without any → where → result set. Nothing is kept from one run to the next."""

    def __init__(self, plan: SelectQueryPlan, *, prepared: bool) -> None:
        self._plan = plan
        source = stream_source(plan.streams[plan.looked_up]) if plan.streams else None
        self._first: StreamRows | None = None
        if source is not None and plan.rows is not None:
            self._first = StreamRows(*source, plan.rows, prepared=prepared)

    def run(self, environment: Environment, parts: Sequence[Stores]) -> Sequence[Event]:
        """Return the rows of the result. ``parts``: the named windows and tables; of partitions whose rows count together, those of
        each."""
        results = result_set.build(self._plan.result_set, environment)
        results.child = collected = Collected()
        rows = self._rows(environment, parts[0]) if len(parts) == 1 else [row for each in parts for row in self._rows(environment, each)]
        results.update(rows, NO_EVENTS)
        return collected.rows

    def _rows(self, environment: Environment, stores: Stores) -> Sequence[Any]:
        plan = self._plan
        if plan.join is not None:
            joined = QueriedJoin(plan, plan.join, stores, environment, self._first).rows()
            tests = compile_tests((plan.where,), environment, len(plan.streams))
            return [row for row in joined if all(test(*row) for test in tests)] if tests else joined
        if not plan.streams:
            return [None] if all(test() for test in compile_tests((plan.where,), environment, 0)) else NO_EVENTS
        if self._first is not None:
            return self._first.rows(environment, stores)
        assert plan.rows is not None
        conditions = plan.rows.lookup.applied if plan.rows.where is None else (plan.rows.where,)
        tests = compile_tests(conditions, environment, 1)
        return [row for row in stream_rows(plan.streams[0], stores, environment, 1) if all(test(row) for test in tests)]


class QueriedJoin:
    """The rows of a join in one run. ``first``: those of the stream that is looked up."""

    def __init__(
        self, plan: SelectQueryPlan, join: JoinPlan, stores: Stores, environment: Environment, first: StreamRows | None
    ) -> None:
        self._plan, self._join, self._stores, self._environment, self._first = plan, join, stores, environment, first
        self._arity = len(plan.streams)
        self._calls: dict[int, HistoricalStream] = {
            number: HistoricalStream(historical, environment, self._arity) for number, stream in enumerate(plan.streams)
            if (historical := historical_plan(stream)) is not None and stream_source(stream) is None
        }
        self._contents: dict[int, IndexedRows] = {}

    def rows(self) -> Sequence[JoinedRow]:
        """Return the rows; those of an outer join that several streams find once."""
        parts = [self._drive(drive) for drive in self._drives()]
        return parts[0] if len(parts) == 1 else tuple(dict.fromkeys(row for part in parts for row in part))

    def _drives(self) -> Sequence[DrivePlan]:
        """Return the streams that drive: all of an outer join. An inner one is driven by the stream whose rows are looked up,
        else by that with the most rows, as in Esper."""
        drives = self._join.drives
        if self._join.outer:
            return drives
        if self._first is not None:
            return [next(drive for drive in drives if drive.stream == self._plan.looked_up)]
        return [max(drives, key=lambda drive: len(self._stream_rows(drive.stream)))]

    def _drive(self, drive: DrivePlan) -> Sequence[JoinedRow]:
        chain = step_chain(drive)
        environment = self._environment
        if chain is None or self._calls:
            run = compile_drive(drive, self._join, self._look_up, environment)
        else:
            run = compile_loops(drive, chain, [self._stream_rows(number) for number in range(self._arity)], environment)
        if self._first is not None and drive.stream == self._plan.looked_up:
            return run(self._first.rows(environment, self._stores))
        return run(self._stream_rows(drive.stream))

    def _stream_rows(self, stream: int) -> IndexedRows:
        rows = self._contents.get(stream)
        if rows is None:
            call = self._calls.get(stream)
            if call is None:
                rows = stream_rows(self._plan.streams[stream], self._stores, self._environment, self._arity)
            else:
                rows = call.rows((None,) * self._arity)
            self._contents[stream] = rows
        return rows

    def _look_up(self, plan: LookupPlan) -> LookUp:
        call = self._calls.get(plan.sought)
        if call is not None:
            return call.look_up(plan)
        return compile_lookup(plan, self._stream_rows(plan.sought), self._environment, self._arity)


__all__ = ["SelectQuery"]
