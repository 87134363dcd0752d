"""The clause as YDB runs it: of the matches that begin at a row the longest one, however its quantifiers are written."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import Any

import attrs

from epl.dialects.errors import QueryFailed
from epl.dialects.plans import RecognitionPlan
from runtime.dialects.expressions import Queries
from runtime.dialects.frames import Frame, FrameCompiler, Marks
from runtime.dialects.limits import USUAL
from runtime.dialects.program import DONE, JUMP, MATCH, compile_pattern
from runtime.dialects.recognition import partitions
from runtime.dialects.row_limit import RowLimit, array_places
from runtime.dialects.step_limit import STEPS_OF_A_STATE, StepLimit
from runtime.dialects.visited import MOST_OF_A_PARTITION
from runtime.dialects.ydb_lengths import longest_of_all

Row = tuple[Any, ...]


@attrs.frozen(eq=False)
class Way:
    """The instructions that took the rows of a match so far; iterating gives them. Ways that branch share what is ``before``. ``masks``: by
    variable, a bit for each of its rows."""

    pc: int
    before: Way | None
    length: int
    masks: tuple[int, ...]

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        taken, way = [], self
        while way.before is not None:
            taken.append(way.pc)
            way = way.before
        return reversed(taken)

    def precedes(self, other: Way) -> bool:
        """Return whether the rows of the first variable that differs come earlier here, or end earlier."""
        for mine, theirs in zip(self.masks, other.masks):
            if mine != theirs:
                first = (mine ^ theirs) & -(mine ^ theirs)
                return theirs > first if mine & first else mine < first
        return True


Match = tuple[int, int, Callable[[], tuple[int, ...]]]
"""The row at which it is final, its first row, what gives the instructions that took its rows."""


class YdbRecognition:
    """Runs a clause over rows that are all there."""

    def __init__(self, plan: RecognitionPlan, queries: Queries, most_visits: int) -> None:
        self.plan = plan
        self.most_visits = most_visits
        self.labels = list(plan.labels)
        self.program = compile_pattern(plan.pattern, self.labels)
        self.compiler = FrameCompiler(queries, self.labels)
        self.conditions = [self.compiler.compile_expression(plan.defines[label]) if label in plan.defines
            else None for label in self.labels]
        self.extend = self.compiler.extender()
        self.measures = FrameCompiler(queries, self.labels)
        self.functions = [self.measures.compile_expression(measure) for measure in plan.measures]
        self.no_way = Way(-1, None, 0, (0,) * len(self.labels))
        self.spent = 0
        self.steps = StepLimit(USUAL)
        """Of the query whose rows are searched."""
        self._reached: dict[int, tuple[list[int], bool]] = {}

    def rows(self, rows: Sequence[Row], limit: RowLimit, steps: StepLimit) -> list[Row]:
        """Return the output rows, those of each partition in the order in which its matches are final."""
        self.steps = steps
        output: list[Row] = []
        arrays = array_places(self.plan, 0 if self.plan.all_rows else len(self.plan.partition))
        for partition in partitions(self.plan, rows):
            self.spent = 0
            after = 0
            for _, start, way_of in sorted(self._matches(partition), key=itemgetter(0, 1)):
                if self.plan.skip.kind == "past last" and start < after:
                    continue
                way = way_of()
                after = max(after, start + len(way))
                limit.extend(output, self._show_rows(partition, start, way), arrays)
        return output

    def _matches(self, rows: list[Row]) -> list[Match]:
        """Return the longest match of each row. The way to one is sought where it is shown, if its length is known before."""
        if not self.compiler.looks_back:
            with suppress(ArithmeticError, ValueError, TypeError, QueryFailed):  # of a row that no match may come to
                matches = longest_of_all(rows, self.program, self.conditions, self.reachable_instructions)
                return [(final, start, partial(self._sought, rows, start, start + length)) for final, start, length in matches]
        listed = [(start, self._longest(rows, start, len(rows))) for start in range(len(rows))]
        return [(final, start, partial(tuple, way)) for start, (final, way) in listed if way is not None]

    def _sought(self, rows: list[Row], start: int, end: int) -> tuple[int, ...]:
        _, way = self._longest(rows, start, end)
        assert way is not None
        return tuple(way)

    def _longest(self, rows: list[Row], start: int, end: int) -> tuple[int, Way | None]:
        """Return the row at which the longest match that begins at a row and is in those before ``end`` is final, and the way to it; of
        several, the one whose rows come first by the names of the variables."""
        frame = Frame(rows)
        frame.start = start
        states: dict[tuple[int, Marks], Way] = {}
        best = self._reach(states, 0, self.compiler.start_marks(), self.no_way)
        row = start
        visits = 0
        while states and row < end:
            following: dict[tuple[int, Marks], Way] = {}
            ended: Way | None = None
            for (pc, marks), way in states.items():
                visits += 1
                place = self.program.first[pc]
                condition = self.conditions[place]
                frame.row = frame.end = row
                frame.marks = marks
                if condition is None or condition(frame) is True:
                    longer = marks if self.extend is None else self.extend(frame, self.labels[place], marks)
                    ended = self._better(ended, self._reach(following, pc + 1, longer, self.longer(way, pc)))
            self._check_steps(visits)
            best = best if ended is None else ended
            states = following
            row += 1
        self.spent += visits
        self.steps.take(STEPS_OF_A_STATE * visits)
        return end if states else row - 1, best

    def _reach(self, states: dict[tuple[int, Marks], Way], pc: int, marks: Marks, way: Way) -> Way | None:
        """Add the states that a way arrives at; return it where the pattern may end."""
        reached, may_end = self.reachable_instructions(pc)
        for here in reached:
            kept = self._better(states.get((here, marks)), way)
            assert kept is not None
            states[here, marks] = kept
        return way if may_end else None

    def reachable_instructions(self, pc: int) -> tuple[list[int], bool]:
        """Return the instructions that take a row and are reached from one without a row, and whether the end of the pattern is."""
        known = self._reached.get(pc)
        if known is not None:
            return known
        listed, may_end = [], False
        stack, seen = [pc], {pc}
        while stack:
            here = stack.pop()
            operation = self.program.operations[here]
            if operation == DONE:
                may_end = True
            elif operation == MATCH:
                listed.append(here)
            else:
                targets = [self.program.first[here]] if operation == JUMP else [self.program.first[here], self.program.second[here]]
                for target in targets:
                    if target not in seen:
                        seen.add(target)
                        stack.append(target)
        self._reached[pc] = listed, may_end
        return listed, may_end

    def _better(self, one: Way | None, other: Way | None) -> Way | None:
        if one is None or other is None:
            return other if one is None else one
        return one if one.precedes(other) else other

    def longer(self, way: Way, pc: int) -> Way:
        """Return the way with one more row."""
        place, masks = self.program.first[pc], way.masks
        return Way(pc, way, way.length + 1, (*masks[:place], masks[place] | 1 << way.length, *masks[place + 1 :]))

    def _check_steps(self, visits: int) -> None:
        if visits > self.most_visits:
            message = f"the row pattern is ambiguous: one match needs more than {self.most_visits} steps"
            raise QueryFailed("EXCEEDED_PATTERN_LIMIT", message)
        if self.spent + visits > MOST_OF_A_PARTITION * self.most_visits:
            message = f"the row pattern is ambiguous: one partition needs more than {MOST_OF_A_PARTITION * self.most_visits} steps"
            raise QueryFailed("EXCEEDED_PATTERN_LIMIT", message)

    def _show_rows(self, rows: Sequence[Row], start: int, way: tuple[int, ...]) -> Iterator[Row]:
        """Measures are of the whole match, also where every row is shown."""
        frame = Frame(rows)
        frame.start, frame.end = start, start + len(way) - 1
        frame.labels = [self.labels[self.program.first[pc]] for pc in way]
        marks, totals = self.measures.start_marks(), self.measures.start_totals()
        extend, add = self.measures.extender(), self.measures.adder()
        for step, label in enumerate(frame.labels):
            frame.row = start + step
            marks = marks if extend is None else extend(frame, label, marks)
            totals = totals if add is None else add(frame, label, totals)
        frame.row = frame.end
        frame.marks = frame.final_marks = marks
        frame.totals = frame.final_totals = totals
        values = [function(frame) for function in self.functions]
        if not self.plan.all_rows:
            yield (*(rows[start][place] for place in self.plan.partition), *values)
            return
        for step, pc in enumerate(way):
            if not self.program.excluded[pc]:
                yield (*values, *(rows[start + step][place] for place in self.plan.shown))


__all__ = ["YdbRecognition"]
