"""This engine, one event at a time: dicts through ``Runtime.send``, a listener on the rows."""
from __future__ import annotations

import gc
from typing import Any

from benchmarks.data import Data
from benchmarks.engine import Measured, Prepared, timed
from benchmarks.workloads import LISTENED, Column, Workload
from runtime import Runtime


class Tally:
    """A listener that reads two properties of every row, counts and adds up."""

    def __init__(self, columns: tuple[Column, Column]) -> None:
        self.rows = 0
        self.sums: list[float] = [0, 0]
        self.one, self.two = (c.name for c in columns)
        adds = tuple(c.mode != "touch" for c in columns)
        self.listen = self._ids if columns[0].mode == "id" else self._both if adds[0] else self._second

    def _both(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        one, two, sums = self.one, self.two, self.sums
        self.rows += len(new)
        for row in new:
            a, b = row[one], row[two]
            if a is not None:
                sums[0] += a
            if b is not None:
                sums[1] += b

    def _second(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        one, two, sums = self.one, self.two, self.sums
        self.rows += len(new)
        for row in new:
            row[one]
            b = row[two]
            if b is not None:
                sums[1] += b

    def _ids(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        one, two, sums = self.one, self.two, self.sums
        self.rows += len(new)
        for row in new:
            sums[0] += int(row[one][1:])
            sums[1] += int(row[two][1:])


class RowSession:
    note = ""

    def __init__(self, workload: Workload, data: Data) -> None:
        self.workload, self.data = workload, data
        self.runtime = Runtime(tier="row")
        self.tally = Tally(workload.columns)
        for statement in self.runtime.deploy(workload.module()):
            if LISTENED.fullmatch(statement.name):
                statement.add_listener(self.tally.listen)

    def run(self, first: int, last: int) -> Measured:
        events = self.data.dicts(self.workload.layout, first, last)
        times = self.data.ts[first:last].tolist()
        types = self.workload.event_types
        send = self._moving if self.workload.moves else self._send if len(types) == 1 else self._in_turns
        tally = self.tally
        tally.rows, tally.sums[:] = 0, (0, 0)
        gc.collect()
        gc.freeze()  # the events were made beforehand: no collection need look at them
        cpu, wall, _ = timed(lambda: send(events, times))
        gc.unfreeze()
        return Measured(last - first, cpu, cpu, wall, tally.rows, tuple(tally.sums))

    def _in_turns(self, events: list[dict[str, Any]], times: list[int]) -> None:
        send, types = self.runtime.send, self.workload.event_types
        for time, event in zip(times, events):
            send(types[time - 1 & 1], event)

    def _send(self, events: list[dict[str, Any]], times: list[int]) -> None:
        send, name = self.runtime.send, self.workload.event_type
        for event in events:
            send(name, event)

    def _moving(self, events: list[dict[str, Any]], times: list[int]) -> None:
        send, advance, name = self.runtime.send, self.runtime.advance_time, self.workload.event_type
        for time, event in zip(times, events):
            advance(time)
            send(name, event)

    def close(self) -> None:
        self.runtime.undeploy_all()


class Row:
    name = "row"
    version = ""

    def prepare(self, prepared: Prepared) -> None:
        self.data = prepared.data

    def open(self, workload: Workload) -> RowSession:
        return RowSession(workload, self.data)

    def close(self) -> None:
        pass


__all__ = ["Row", "RowSession", "Tally"]
