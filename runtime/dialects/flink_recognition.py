"""The clause as Flink and Alibaba run it, over rows in the order of their times."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from epl.dialects.errors import QueryFailed
from epl.dialects.plans import RecognitionPlan
from runtime.dialects.automaton import Automaton
from runtime.dialects.expressions import Queries
from runtime.dialects.frames import Frame, FrameCompiler
from runtime.dialects.recognition import milliseconds
from runtime.dialects.runs import Run, Runs
from runtime.dialects.sorting import sort
from runtime.dialects.step_limit import STEPS_OF_A_STATE, StepLimit

Row = tuple[Any, ...]
MOST_STEPS = 5_000_000
"""Rows that partial matches are offered, one after the other, in a short table."""
STEPS_OF_A_MATCH = 5
"""What a match counts as."""
STEPS_EACH = 100
"""Partial matches that each row of a long table may be offered to."""


class FlinkRecognition:
    """Runs a clause: one machine a partition; rows come in the order of time, then of the further keys, then as they arrived."""

    def __init__(self, plan: RecognitionPlan, queries: Queries) -> None:
        self.plan = plan
        self.queries = queries
        self.labels = list(plan.labels)
        self.measures = FrameCompiler(queries, self.labels, contiguous=False)
        self.functions = [self.measures.compiled(measure) for measure in plan.measures]
        self.extend = self.measures.extender()
        self.add = self.measures.adder()

    def rows(self, rows: Sequence[Row], limit: StepLimit) -> list[Row]:
        """Return the output rows in the order in which they are final. ``limit``: of the query."""
        plan = self.plan
        ordered = list(rows)
        if plan.order:
            sort(ordered, [(itemgetter(place), descending, nulls_first) for place, descending, nulls_first in plan.order])
        machines: dict[Any, Runs] = {}
        output: list[Row] = []
        steps, most = 0, max(MOST_STEPS, STEPS_EACH * len(ordered))
        for row in ordered:
            time = 0 if plan.time is None else milliseconds(row[plan.time])
            key = tuple([row[place] for place in plan.partition])
            if plan.within is not None:
                for other in machines.values():
                    output.extend(self._ended(other, other.advance(time)))
            machine = machines.get(key)
            if machine is None:
                machine = machines[key] = self._machine()
            before = len(output)
            output.extend(self.row(machine.rows, match) for match in machine.process(row, time))
            steps += len(machine.runs) + STEPS_OF_A_MATCH * (len(output) - before)
            if steps > most:
                words = f"the row pattern is ambiguous: {len(rows)} rows need more than {most} steps of partial matches"
                raise QueryFailed("EXCEEDED_PATTERN_LIMIT", words)
        limit.take(STEPS_OF_A_STATE * steps)
        for machine in machines.values():
            output.extend(self._ended(machine, machine.finish()))
        return output

    def _machine(self) -> Runs:
        plan = self.plan
        compiler = FrameCompiler(self.queries, self.labels, contiguous=False)
        conditions = {label: compiler.compiled(condition) for label, condition in plan.defines.items()}
        return Runs(Automaton(plan.pattern), conditions, compiler, plan.skip, plan.within)

    def _ended(self, machine: Runs, ended: Iterator[tuple[Run, bool]]) -> Iterator[Row]:
        for run, is_match in ended:
            if is_match or self.plan.timeouts:
                yield self.row(machine.rows, run)

    def row(self, rows: Sequence[Row], run: Run) -> Row:
        """Return the row of a match, or of one that the time has ended."""
        frame = Frame(rows)
        taken = run.taken()
        frame.start, frame.end = run.start, taken[-1][1]
        marks, totals = self.measures.start_marks(), self.measures.start_totals()
        for label, row in taken:
            frame.row = row
            if self.extend is not None:
                marks = self.extend(frame, label, marks)
            if self.add is not None:
                totals = self.add(frame, label, totals)
        frame.marks = frame.final_marks = marks
        frame.totals = frame.final_totals = totals
        source = rows[run.start]
        return (*(source[place] for place in self.plan.partition), *(function(frame) for function in self.functions))


__all__ = ["FlinkRecognition"]
