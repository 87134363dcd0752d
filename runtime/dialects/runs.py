"""Runs of an automaton over the rows of one partition, as they come: what is complete, what is discarded, what the time of WITHIN ends."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.dialects.errors import QueryFailed
from epl.dialects.plans import SkipTo
from epl.dialects.typed import Typed
from runtime.dialects.automaton import PROCEED, STOP, TAKE, Automaton, State
from runtime.dialects.expressions import Function
from runtime.dialects.frames import Frame, FrameCompiler, Marks, is_of_row
from runtime.dialects.run_queue import RunQueue

MOST_RUNS = 20_000
"""Runs that are alive in one partition."""
NO_ROW = -1
Way = tuple[str, str, State, bool]
"""Kind of an edge, variable that a row is taken as, state that it leads to, whether the match is complete by it."""
Ways = tuple[list[Way], bool]


@attrs.define(eq=False)  # not frozen, as runs: they are made for each row, and never changed
class RunStep:
    """The last row that a run has taken, and what it took before."""

    label: str
    row: int
    before: RunStep | None


@attrs.define(eq=False)
class PatternRun:
    """``start``: the first row; ``NO_ROW``: the run that waits for one. ``last``: what it has taken; runs that branch share it."""

    state: State
    start: int
    last: RunStep | None
    marks: Marks
    totals: Marks

    def variables_and_rows(self) -> list[tuple[str, int]]:
        """Return the variables and rows, in their order."""
        listed, step = [], self.last
        while step is not None:
            listed.append((step.label, step.row))
            step = step.before
        return listed[::-1]

    def longer(self, state: State, label: str, row: int, marks: Marks, totals: Marks) -> PatternRun:
        """Return the run with one more row."""
        return PatternRun(state, row if self.last is None else self.start, RunStep(label, row, self.last), marks, totals)


def rows_in_runs(runs: Iterable[PatternRun]) -> set[int]:
    """Return the rows that runs have taken; what they share is looked at once."""
    rows: set[int] = set()
    seen: set[int] = set()
    for run in runs:
        step = run.last
        while step is not None and id(step) not in seen:
            seen.add(id(step))
            rows.add(step.row)
            step = step.before
    return rows


class ClauseConditions:
    """The conditions of a clause, by variable."""

    def __init__(self, defines: Mapping[str, Typed], compiler: FrameCompiler) -> None:
        self.compiler = compiler
        self.functions: dict[str, Function] = {label: compiler.compile_condition(label, each) for label, each in defines.items()}
        self.of_match = frozenset(label for label, each in defines.items() if not is_of_row(each, label))
        """Variables whose conditions depend on more than the row that is tested."""


class Runs:
    """The machine of one partition. ``conditions`` and ``automaton`` are those of all partitions."""

    def __init__(self, automaton: Automaton, conditions: ClauseConditions, skip: SkipTo, within: int | None) -> None:
        compiler = conditions.compiler
        self.automaton = automaton
        self.conditions = conditions.functions
        self.of_match = conditions.of_match
        self.skip = skip
        self.within = within
        self.extend = compiler.extender()
        self.add = compiler.adder()
        self.looks_around = compiler.looks_around
        self.waiting = PatternRun(automaton.start, NO_ROW, None, compiler.start_marks(), compiler.start_totals())
        self.runs: RunQueue[PatternRun] = RunQueue()
        self.complete: RunQueue[PatternRun] = RunQueue()
        self.rows: list[Any] = []
        self.times: list[int] = []
        self.frame = Frame(self.rows)
        self._held: dict[str, bool] = {}
        """Which conditions the row satisfies after what the run at hand has."""
        self._held_by_all: dict[str, bool] = {}
        """Which ones it satisfies whatever a run has."""
        self._ways_of_all: dict[State, Ways] = {}

    def process(self, row: Any, time: int) -> Iterator[PatternRun]:
        """Take one more row and yield the matches that are final now."""
        self.rows.append(row)
        self.times.append(time)
        place = len(self.rows) - 1
        alive: RunQueue[PatternRun] = RunQueue()
        matches: RunQueue[PatternRun] = RunQueue()
        self._held_by_all, self._ways_of_all = {}, {}
        for run in [*self.runs, self.waiting]:
            for each in self._next(run, place, matches):
                alive.offer(each)
        if len(alive) > MOST_RUNS:
            raise QueryFailed("EXCEEDED_PATTERN_LIMIT", f"the row pattern is ambiguous: more than {MOST_RUNS} partial matches at once")
        self.runs = alive
        for match in matches:
            self.complete.offer(match)
        yield from self._final()

    def advance(self, time: int) -> Iterator[tuple[PatternRun, bool]]:
        """End the runs whose time is over; yield the matches that are final by that (True) and what had begun (False)."""
        if self.within is None:
            return
        over = [run for run in self.runs if time - self.times[run.start] >= self.within]
        if not over:
            return
        limit = time - self.within
        self.runs = RunQueue(run for run in self.runs if self.times[run.start] > limit)
        for run in over:
            if run.state.pending:
                self.complete.offer(run)
            else:
                yield run, False
        for match in self._final():
            yield match, True

    def finish(self) -> Iterator[tuple[PatternRun, bool]]:
        """End the input: no row follows, and all time is over."""
        dead = [run for run in self.runs if not run.state.pending]
        pending = [run for run in self.runs if run.state.pending]
        timed = self.within is not None
        self.runs = RunQueue()
        for run in pending:
            self.complete.offer(run)
        for run in dead:
            if timed:
                yield run, False
        for match in self._final():
            yield match, True

    # one row

    def _next(self, run: PatternRun, place: int, matches: RunQueue[PatternRun]) -> list[PatternRun]:
        """Return the runs that go on from one, none where it is stopped; add to the matches what is complete."""
        going_on: list[PatternRun] = []
        ways, is_final = self._ways(run, place)
        if is_final and run.last is not None:
            matches.offer(run)
        stopped = False
        for kind, label, target, completes in ways:
            if kind == TAKE:
                marks, totals = self._marks_and_totals(run, label, place)
                longer = run.longer(target, label, place, marks, totals)
                if completes:
                    matches.offer(longer)
                if not target.is_final:
                    going_on.append(longer)
            elif run.last is not None:
                if kind == STOP:
                    stopped = True
                else:
                    going_on.append(run if target is run.state else PatternRun(target, run.start, run.last, run.marks, run.totals))
        return [] if stopped else going_on

    def _ways(self, run: PatternRun, place: int) -> Ways:
        """Return the ways that the row may go, and whether the end is reached without it: the same for all runs in a state, unless a
        condition depends on what a run has taken."""
        state = run.state
        known = self._ways_of_all.get(state)
        if known is None:
            self._held = {}
            edges, is_final = self._edges(run, place)
            known = [
                (kind, source.label or "", target, kind == TAKE and self._leads_to_final(target, run, place))
                for kind, source, target in edges
            ], is_final
            if self.of_match.isdisjoint(self.automaton.condition_variables(state)):
                self._ways_of_all[state] = known
        return known

    def _edges(self, run: PatternRun, place: int) -> tuple[list[tuple[str, State, State]], bool]:
        """Return the edges that the row may go along, through states that are proceeded to; and whether the end is reached without it."""
        stack, seen = [run.state], {id(run.state)}
        listed: list[tuple[str, State, State]] = []
        is_final = False
        while stack:
            state = stack.pop()
            for edge in state.edges:
                if not self._pass_guards(edge.guards, run, place):
                    continue
                if edge.kind != PROCEED:
                    listed.append((edge.kind, state, edge.target))
                elif edge.target.is_final:
                    is_final = is_final or state.waits
                elif id(edge.target) not in seen:
                    seen.add(id(edge.target))
                    stack.append(edge.target)
        return listed, is_final

    def _leads_to_final(self, state: State, run: PatternRun, place: int) -> bool:
        stack, seen = [state], {id(state)}
        while stack:
            here = stack.pop()
            if here.is_final:
                return True
            if here.waits:
                continue
            for edge in here.edges:
                if edge.kind == PROCEED and id(edge.target) not in seen and self._pass_guards(edge.guards, run, place):
                    seen.add(id(edge.target))
                    stack.append(edge.target)
        return False

    def _pass_guards(self, guards: Sequence[tuple[str, bool]], run: PatternRun, place: int) -> bool:
        return all(self._holds(label, run, place) is positive for label, positive in guards)

    def _holds(self, label: str, run: PatternRun, place: int) -> bool:
        """Return whether the row can be of the variable, after what the run has."""
        condition = self.conditions.get(label)
        if condition is None:
            return True
        held = self._held if label in self.of_match else self._held_by_all
        known = held.get(label)
        if known is None:
            marks, totals = self._marks_and_totals(run, label, place)
            frame = self.frame
            frame.row = frame.end = place
            frame.start = place if run.last is None else run.start
            if self.looks_around:
                frame.labels = [*(each for each, _ in run.variables_and_rows()), label]
            frame.marks, frame.totals = marks, totals
            known = held[label] = condition(frame) is True
        return known

    def _marks_and_totals(self, run: PatternRun, label: str, place: int) -> tuple[Marks, Marks]:
        frame = self.frame
        frame.row = place
        marks = run.marks if self.extend is None else self.extend(frame, label, run.marks)
        totals = run.totals if self.add is None else self.add(frame, label, run.totals)
        return marks, totals

    # matches

    def _final(self) -> Iterator[PatternRun]:
        """Yield the complete matches before whose first row no run has begun, and discard what they overlap."""
        if self.skip.kind == "none":
            yield from self.complete.drain()
            return
        while self.complete and (not self.runs or self.complete[0].start <= self.runs[0].start):
            match = self.complete.poll()
            limit = self._limit(match)
            self._discard_old(limit)
            yield match

    def _discard_old(self, limit: int) -> None:
        self.runs.keep(lambda run: run.start >= limit)
        self.complete.keep(lambda run: run.start >= limit)

    def _limit(self, match: PatternRun) -> int:
        """Return the row before which nothing may begin after a match."""
        skip = self.skip
        if skip.kind == "past last":
            return (match.start if match.last is None else match.last.row) + 1
        if skip.kind == "next":
            return match.start + 1
        rows = [row for label, row in match.variables_and_rows() if label in skip.labels]
        if not rows:
            message = f"FlinkRuntimeException: Could not skip to {skip.name}. No such element in the found match"
            raise QueryFailed("SKIP_FAILED", message)
        row = rows[0] if skip.kind == "first" else rows[-1]
        if row == match.start:
            raise QueryFailed("SKIP_FAILED", "FlinkRuntimeException: Could not skip to first element of a match.")
        return row


__all__ = ["TAKE", "ClauseConditions", "PatternRun", "Runs", "rows_in_runs"]
