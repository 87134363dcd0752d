"""The clause as Flink and Alibaba run it, over rows in the order of their times."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from epl.dialects.plans import RecognitionPlan
from runtime.dialects.automaton import Automaton
from runtime.dialects.expressions import Queries
from runtime.dialects.frames import Frame, FrameCompiler
from runtime.dialects.recognition import milliseconds
from runtime.dialects.runs import ClauseConditions, PatternRun, Runs
from runtime.dialects.sorting import sort
from runtime.dialects.step_limit import STEPS_OF_A_STATE, StepLimit

Row = tuple[Any, ...]
OFFERS_OF_A_MATCH = 5
"""What a match counts as, beside a row that is offered to a partial match."""


class FlinkRecognition:
    """Runs a clause: one machine a partition; rows come in the order of time, then of the further keys, then as they arrived."""

    def __init__(self, plan: RecognitionPlan, queries: Queries) -> None:
        self.plan = plan
        self.queries = queries
        self.labels = list(plan.labels)
        self.automaton = Automaton(plan.pattern)
        self.conditions = ClauseConditions(plan.defines, FrameCompiler(queries, self.labels, contiguous=False))
        self.measures = FrameCompiler(queries, self.labels, contiguous=False)
        self.functions = [self.measures.compile_expression(measure) for measure in plan.measures]
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
        for row in ordered:
            time = 0 if plan.time is None else milliseconds(row[plan.time])
            key = tuple([row[place] for place in plan.partition])
            if plan.within is not None:
                for other in machines.values():
                    output.extend(self._end_matches(other, other.advance(time)))
            machine = machines.get(key)
            if machine is None:
                machine = machines[key] = Runs(self.automaton, self.conditions, plan.skip, plan.within)
            before = len(output)
            output.extend(self.row(machine.rows, match) for match in machine.process(row, time))
            limit.take(STEPS_OF_A_STATE * (len(machine.runs) + OFFERS_OF_A_MATCH * (len(output) - before)))
        for machine in machines.values():
            output.extend(self._end_matches(machine, machine.finish()))
        return output

    def _end_matches(self, machine: Runs, ended: Iterator[tuple[PatternRun, bool]]) -> Iterator[Row]:
        for run, is_match in ended:
            if is_match or self.plan.timeouts:
                yield self.row(machine.rows, run)

    def row(self, rows: Sequence[Row], run: PatternRun) -> Row:
        """Return the row of a match, or of one that the time has ended."""
        frame = Frame(rows)
        taken = run.variables_and_rows()
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
