"""The clause over a table: partitions, matches one after the other, output rows."""
from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from epl.dialects.errors import QueryFailed
from epl.dialects.plans import RecognitionPlan, SkipTo
from epl.dialects.values import EPOCH
from runtime.dialects.expressions import ExpressionCompiler, Queries
from runtime.dialects.frames import Frame, FrameCompiler
from runtime.dialects.matcher import Matcher
from runtime.dialects.program import PatternProgram, compile_pattern
from runtime.dialects.row_limit import RowLimit, array_places
from runtime.dialects.sorting import sort
from runtime.dialects.step_limit import STEPS_OF_A_STATE, StepLimit

Row = tuple[Any, ...]
MILLISECOND = datetime.timedelta(milliseconds=1)


def milliseconds(moment: Any) -> int:
    """Return a time as milliseconds since 1970."""
    if isinstance(moment, datetime.datetime):
        return (moment - EPOCH) // MILLISECOND
    if isinstance(moment, datetime.date):
        return (datetime.datetime(moment.year, moment.month, moment.day) - EPOCH) // MILLISECOND
    return int(moment or 0)


class Recognition:
    """Runs a clause by SQL:2016 over rows that are all there."""

    def __init__(self, plan: RecognitionPlan, queries: Queries, most_visits: int) -> None:
        self.plan = plan
        self.labels = list(plan.labels)
        self.program: PatternProgram = compile_pattern(plan.pattern, self.labels)
        conditions = FrameCompiler(queries, self.labels)
        functions = [conditions.compile_expression(plan.defines[label]) if label in plan.defines else None for label in self.labels]
        self.matcher = Matcher(self.program, functions, conditions, within=plan.within, most_visits=most_visits)
        self.writer = RowWriter(plan, self.program, FrameCompiler(queries, self.labels))

    def rows(self, rows: Sequence[Row], limit: RowLimit, steps: StepLimit) -> list[Row]:
        """Return the output rows over the input's rows."""
        output: list[Row] = []
        plan = self.plan
        arrays = array_places(plan, len(plan.partition) + (len(plan.order) if plan.all_rows and plan.shows_order else 0))
        for partition in partitions(plan, rows):
            limit.extend(output, self._partition(partition, steps), arrays)
        return output

    def _partition(self, rows: list[Row], steps: StepLimit) -> Iterator[Row]:
        plan, matcher, writer = self.plan, self.matcher, self.writer
        times = None if plan.within is None or plan.time is None else [milliseconds(row[plan.time]) for row in rows]
        matcher.begin(rows, times)
        here, number, last_matched = 0, 1, -1
        while here < len(rows):
            taken = matcher.match(here, number)
            steps.take(STEPS_OF_A_STATE * matcher.visits)
            if taken is None:
                if plan.all_rows and plan.empties == "unmatched" and here > last_matched:
                    yield writer.row_without_match(rows, here)
                here += 1
                continue
            frame = writer.frame(rows, here, number, taken)
            number += 1
            if not taken:
                if not plan.all_rows or plan.empties != "omit":
                    yield writer.empty(frame)
                here += 1
                continue
            yield from writer.match_rows(frame, taken)
            last_matched = max(last_matched, frame.end)
            here = next_start(plan.skip, frame)


class RowWriter:
    """Makes the output rows of matches. ``measures``: compiles them; nothing else has been compiled with it."""

    def __init__(self, plan: RecognitionPlan, program: PatternProgram, measures: FrameCompiler) -> None:
        self.plan = plan
        self.program = program
        self.labels = program.labels
        self.measures = measures
        self.functions = [self.measures.compile_expression(measure) for measure in plan.measures]
        self.extend = self.measures.extender()
        self.add = self.measures.adder()

    def frame(self, rows: Sequence[Row], start: int, number: int, taken: list[int]) -> Frame:
        """Return a match. ``taken``: the instructions that took its rows."""
        frame = Frame(rows)
        frame.start, frame.number = start, number
        frame.end = start + len(taken) - 1
        frame.labels = [self.labels[self.program.first[pc]] for pc in taken]
        frame.row = frame.end
        return frame

    def row_without_match(self, rows: Sequence[Row], row: int) -> Row:
        """Return the row of one that is in no match."""
        return self._row_with_measures(rows, row, [None] * len(self.functions))

    def empty(self, frame: Frame) -> Row:
        """Return the row of an empty match."""
        frame.marks = frame.final_marks = self.measures.start_marks()
        frame.totals = frame.final_totals = self.measures.start_totals()
        values = [function(frame) for function in self.functions]
        return self._row_with_measures(frame.rows, frame.start, values) if self.plan.all_rows else self._one(frame, frame.start, values)

    def match_rows(self, frame: Frame, taken: list[int]) -> Iterator[Row]:
        """Yield the rows of a match that has rows."""
        steps = list(self._walk(frame))
        frame.final_marks, frame.final_totals = steps[-1]
        if not self.plan.all_rows:
            frame.row = frame.end
            frame.marks, frame.totals = steps[-1]
            yield self._one(frame, frame.start, [function(frame) for function in self.functions])
            return
        for step, pc in enumerate(taken):
            if not self.program.excluded[pc]:
                frame.row = frame.start + step
                frame.marks, frame.totals = steps[step]
                yield self._row_with_measures(frame.rows, frame.row, [function(frame) for function in self.functions])

    def _walk(self, frame: Frame) -> Iterator[tuple[Any, Any]]:
        """Yield marks and totals as of each row."""
        marks, totals = self.measures.start_marks(), self.measures.start_totals()
        for step, label in enumerate(frame.labels):
            frame.row = frame.start + step
            if self.extend is not None:
                marks = self.extend(frame, label, marks)
            if self.add is not None:
                totals = self.add(frame, label, totals)
            yield marks, totals

    def _one(self, frame: Frame, row: int, values: list[Any]) -> Row:
        source = frame.rows[row]
        return (*(source[place] for place in self.plan.partition), *values)

    def _row_with_measures(self, rows: Sequence[Row], row: int, values: list[Any]) -> Row:
        plan, source = self.plan, rows[row]
        order = [source[place] for place, _, _ in plan.order] if plan.shows_order else []
        return (*(source[place] for place in plan.partition), *order, *values, *(source[place] for place in plan.shown))


def partitions(plan: RecognitionPlan, rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each partition in their order; partitions in the order of their first rows."""
    grouped: dict[Any, list[Row]] = {}
    for row in rows:
        grouped.setdefault(tuple([row[place] for place in plan.partition]), []).append(row)
    listed = list(grouped.values())
    if plan.order:
        keys = [(itemgetter(place), descending, nulls_first) for place, descending, nulls_first in plan.order]
        for partition in listed:
            sort(partition, keys)
    return listed


def with_computed(plan: RecognitionPlan, rows: Sequence[Row], queries: Queries) -> Sequence[Row]:
    """Return the input's rows with the keys that are expressions."""
    if not plan.computed:
        return rows
    compiler = ExpressionCompiler(queries)
    functions = [compiler.compile_expression(each) for each in plan.computed]
    return [(*row, *(function(row) for function in functions)) for row in rows]


def next_start(skip: SkipTo, frame: Frame) -> int:
    """Return the row at which the next attempt begins after a match that has rows."""
    if skip.kind == "past last":
        return frame.end + 1
    if skip.kind == "next":
        return frame.start + 1
    steps = [step for step, label in enumerate(frame.labels) if label in skip.labels]
    if not steps:
        raise QueryFailed("GENERIC_USER_ERROR", "AFTER MATCH SKIP failed: pattern variable is not present in match")
    step = steps[0] if skip.kind == "first" else steps[-1]
    if step == 0:
        raise QueryFailed("GENERIC_USER_ERROR", "AFTER MATCH SKIP failed: cannot skip to first row of match")
    return frame.start + step


__all__ = ["Recognition", "RowWriter", "milliseconds", "next_start", "partitions", "with_computed"]
