"""Flink's and Alibaba's clause over rows that come one after the other: their automaton moves row by row in any case. What is kept is the
rows that a run has; those between, which contiguity lets a run ignore, are dropped."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from epl.dialects.errors import QueryFailed
from epl.dialects.plans import RecognitionPlan
from runtime.dialects.automaton import Automaton, State
from runtime.dialects.flink_recognition import FlinkRecognition
from runtime.dialects.frames import Frame
from runtime.dialects.run_queue import RunQueue
from runtime.dialects.runs import PatternRun, Runs, rows_in_runs
from runtime.dialects.streaming.held_rows import ScatteredRows
from runtime.dialects.streaming.partition import NO_QUERIES, Row, StreamPartition, StreamStates, admit
from runtime.dialects.streaming.stored import PLACE, check_range
from runtime.dialects.visited import is_exceeded
from windows.shape import INTEGER, Check, Shape, class_check, integer

FEW_ROWS = 16
"""So many rows are not looked through for those that are no longer needed."""


class FlinkPartition(StreamPartition):
    """``runs``: the machine over the rows; ``now``: no row before that time comes any more. ``most``: with more rows, those that no run has
    are dropped."""

    __slots__ = ("ended", "most", "now", "runs")

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self.rows, self.times = ScatteredRows(), ScatteredRows()
        self.most = FEW_ROWS
        self.now: int | None = None
        self.ended = False
        self.place(runs)

    def place(self, runs: Runs) -> None:
        """Let a machine run over the rows."""
        self.runs = runs
        runs.rows, runs.times = self.rows, self.times
        runs.frame = Frame(self.rows)

    def drop(self) -> None:
        """Drop the rows that no run has."""
        runs = self.runs
        needed = rows_in_runs((*runs.runs, *runs.complete))
        self.rows.keep(needed)
        self.times.keep(needed)
        self.most = 2 * len(needed) + FEW_ROWS


class FlinkRecognizer:
    """Runs a clause of the dialects ``flink`` and ``alibaba``. ``within``: in engine units."""

    def __init__(self, plan: RecognitionPlan, states: StreamStates, within: int | None) -> None:
        self.plan = plan
        self.states = states
        self.within = within
        self.writer = FlinkRecognition(plan, NO_QUERIES)
        self.automaton = self.writer.automaton
        self.numbered = number_states(self.automaton)
        self.numbers = {id(state): number for number, state in enumerate(self.numbered)}

    def partition(self) -> FlinkPartition:
        """Return the machine of a new partition."""
        return FlinkPartition(self._runs())

    def _runs(self) -> Runs:
        return Runs(self.automaton, self.writer.conditions, self.plan.skip, self.within)

    def process(self, partition: FlinkPartition, row: Row, time: int) -> list[Row]:
        """Take one more row. Where a condition fails the row is as if it had not come."""
        runs = partition.runs
        if partition.ended:
            partition.ended, partition.now = False, None
        count = len(partition.rows)
        output: list[Row] = []
        try:
            self._write(partition, ((run, True) for run in runs.process(row, time)), output)
        except Exception as error:  # noqa: BLE001 - law 6
            if not isinstance(error, QueryFailed) or error.sql_code != "SKIP_FAILED":
                for rows in (partition.rows, partition.times):
                    while len(rows) > count:
                        rows.pop()
            if is_exceeded(error):
                runs.runs, runs.complete = RunQueue(), RunQueue()
            partition.fail(error)
        self._settle(partition)
        return output

    def advance(self, partition: FlinkPartition, now: int) -> list[Row]:
        """Move time: no row before ``now`` comes any more."""
        partition.now = now
        output: list[Row] = []
        try:
            self._write(partition, partition.runs.advance(now), output)
        except QueryFailed as error:
            partition.fail(error)
        self._settle(partition)
        return output

    def finish(self, partition: FlinkPartition) -> list[Row]:
        """End the input: no row comes any more."""
        partition.ended = True
        output: list[Row] = []
        try:
            self._write(partition, partition.runs.finish(), output)
        except QueryFailed as error:
            partition.fail(error)
        partition.runs.complete = RunQueue()
        self._settle(partition)
        return output

    def _write(self, partition: FlinkPartition, ended: Iterator[tuple[PatternRun, bool]], output: list[Row]) -> None:
        """Add the rows of matches, and of runs that time has ended. Where a measure fails there is no row."""
        for run, is_match in ended:
            if is_match or self.plan.timeouts:
                try:
                    output.append(self.writer.row(partition.rows, run))
                except Exception as error:  # noqa: BLE001 - law 6
                    partition.fail(error)

    def _settle(self, partition: FlinkPartition) -> None:
        """Count the runs (those beyond the limit, the newest ones, do not begin), and drop the rows that none has, some at once."""
        runs = partition.runs
        allowed = admit(partition, self.states, len(runs.runs))
        if allowed < len(runs.runs):
            runs.runs = RunQueue(sorted(runs.runs, key=lambda run: run.start)[:allowed])
        if len(partition.rows.items) > partition.most:
            partition.drop()

    def deadline(self, partition: FlinkPartition) -> int | None:
        """Return when the first run ends by WITHIN."""
        if self.within is None or not partition.runs.runs:
            return None
        return int(min(partition.times[run.start] for run in partition.runs.runs)) + self.within

    def is_idle(self, partition: FlinkPartition) -> bool:
        """Return whether there is no run."""
        return not partition.runs.runs and not partition.runs.complete

    # state

    def state(self, partition: FlinkPartition) -> Any:
        """Return the rows with their numbers and times, and of each run its state and what it has taken."""
        runs = partition.runs
        partition.drop()
        rows = [[number, time, list(partition.rows[number])] for number, time in partition.times.items.items()]
        return [rows, len(partition.rows), *(list(map(self._write_run, each)) for each in (runs.runs, runs.complete))]

    def _write_run(self, run: PatternRun) -> list[Any]:
        taken = run.variables_and_rows()
        return [self.numbers[id(run.state)], [label for label, _ in taken], [row for _, row in taken]]

    def shape(self, row: Check) -> Shape:
        """Return what ``state`` looks like."""
        run = (integer("the number of a state", 0, len(self.numbered) - 1), [class_check("a variable", str)], [PLACE])
        return [(PLACE, INTEGER, row)], PLACE, [run], [run]

    def restore(self, state: Any) -> FlinkPartition:
        """Return the machine; what conditions ask for is computed again from the rows."""
        rows, count, runs, complete = state
        numbers = [number for number, _, _ in rows]
        if numbers != sorted(set(numbers)):
            raise ValueError("rows that are not in order")
        check_range("the number of the last row", -1, max(numbers, default=-1), count - 1)
        for _, labels, taken in (*runs, *complete):
            self._check(labels, taken, set(numbers))
        partition = self.partition()
        partition.rows = ScatteredRows({number: tuple(row) for number, _, row in rows}, count)
        partition.times = ScatteredRows({number: time for number, time, _ in rows}, count)
        partition.place(partition.runs)
        partition.runs.runs = RunQueue(self._read(partition, *run) for run in runs)
        partition.runs.complete = RunQueue(self._read(partition, *run) for run in complete)
        partition.held = len(runs)
        self.states.count += len(runs)
        return partition

    def _check(self, labels: list[str], taken: list[int], numbers: set[int]) -> None:
        """Raise ValueError where a run has not taken rows that are held, one after another, each as a variable."""
        if not taken or len(taken) != len(labels) or not set(labels) <= set(self.plan.labels):
            raise ValueError("a run without rows or variables")
        if not numbers.issuperset(taken) or taken != sorted(set(taken)):
            raise ValueError("a run has not taken rows one after another")

    def _read(self, partition: FlinkPartition, number: int, labels: list[str], rows: list[int]) -> PatternRun:
        runs = partition.runs
        run = attrs.evolve(runs.waiting, state=self.numbered[number])
        marks, totals = run.marks, run.totals
        for label, row in zip(labels, rows, strict=True):
            runs.frame.row = row
            marks = marks if runs.extend is None else runs.extend(runs.frame, label, marks)
            totals = totals if runs.add is None else runs.add(runs.frame, label, totals)
            run = run.longer(run.state, label, row, marks, totals)
        return run


def number_states(automaton: Automaton) -> list[State]:
    """Return the states in the order in which they are reached, which is the same whenever the pattern is compiled."""
    states, seen = [automaton.start], {id(automaton.start)}
    for state in states:
        for edge in state.edges:
            if id(edge.target) not in seen:
                seen.add(id(edge.target))
                states.append(edge.target)
    return states


__all__ = ["FlinkPartition", "FlinkRecognizer"]
