"""YDB's clause over rows that come one after the other: of each first row all states are followed; the longest match is final when none of
them is left."""
from __future__ import annotations

from typing import Any

import attrs

from epl.dialects.errors import QueryFailed
from epl.dialects.plans import RecognitionPlan
from runtime.dialects.frames import Frame, Marks
from runtime.dialects.matcher import MOST_VISITS
from runtime.dialects.program import MATCH
from runtime.dialects.streaming.held_rows import StreamBuffer
from runtime.dialects.streaming.partition import NO_QUERIES, Row, StreamPartition, StreamStates, admit
from runtime.dialects.streaming.stored import PLACE, check_range
from runtime.dialects.visited import EXCEEDED, LEAST_VISITS, is_exceeded
from runtime.dialects.ydb_recognition import Way, YdbRecognition
from windows.shape import Check, Shape, integer, optional

Ways = dict[tuple[int, Marks], Way]


@attrs.frozen
class Begun:
    """What begins at the row ``start``: the states that are reached, and the longest match so far."""

    start: int
    states: Ways
    best: Way | None


class YdbPartition(StreamPartition):
    """``begun``: by first row, ascending; ``after``: matches that begin before that row are not emitted."""

    __slots__ = ("after", "begun", "ended")

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[Begun] = []
        self.after = 0
        self.ended = False


class YdbRecognizer(YdbRecognition):
    """Runs a clause of dialect ``ydb``."""

    def __init__(self, plan: RecognitionPlan, states: StreamStates, within: int | None, most_visits: int = MOST_VISITS) -> None:
        super().__init__(plan, NO_QUERIES, most_visits)
        self.states = states

    def partition(self) -> YdbPartition:
        """Return the machine of a new partition."""
        return YdbPartition()

    def process(self, partition: YdbPartition, row: Row, time: int) -> list[Row]:
        """Take one more row. Where a condition fails the row is as if it had not come."""
        partition.ended = False
        partition.rows.append(row)
        place = len(partition.rows) - 1
        output: list[Row] = []
        try:
            begun, final = self._move_all(partition, place)
        except Exception as error:  # noqa: BLE001 - law 6
            partition.rows.pop()
            partition.fail(error)
            if is_exceeded(error):
                partition.begun = []
                self._settle(partition)
            return output
        partition.begun = begun
        self._emit(partition, final, output)
        self._settle(partition)
        return output

    def _move_all(self, partition: YdbPartition, place: int) -> tuple[list[Begun], list[Begun]]:
        """Return what goes on with a row, and what is final, in the order in which it is."""
        states: Ways = {}
        best = self._reach(states, 0, self.compiler.start_marks(), self.no_way)
        new = Begun(place, states, best)
        going_on: list[Begun] = []
        final = [] if states else [new]
        frame = Frame(partition.rows)
        everything = (*partition.begun, *([new] if states else []))
        most = min(self.most_visits, LEAST_VISITS)
        if sum(len(each.states) for each in everything) > most:
            raise QueryFailed(EXCEEDED, f"the row pattern is ambiguous: one row needs more than {most} steps")
        for each in everything:
            moved = self._move(frame, each, place)
            (going_on if moved.states else final).append(moved)
        return going_on, final

    def _move(self, frame: Frame, begun: Begun, place: int) -> Begun:
        following: Ways = {}
        ended: Way | None = None
        frame.start = begun.start
        for (pc, marks), way in begun.states.items():
            variable = self.program.first[pc]
            condition = self.conditions[variable]
            frame.row = frame.end = place
            frame.marks = marks
            if condition is None or condition(frame) is True:
                longer = marks if self.extend is None else self.extend(frame, self.labels[variable], marks)
                ended = self._better(ended, self._reach(following, pc + 1, longer, self.longer(way, pc)))
        return Begun(begun.start, following, begun.best if ended is None else ended)

    def _emit(self, partition: YdbPartition, final: list[Begun], output: list[Row]) -> None:
        past_last = self.plan.skip.kind == "past last"
        for begun in final:
            if begun.best is None or (past_last and begun.start < partition.after):
                continue
            partition.after = max(partition.after, begun.start + len(begun.best))
            try:
                output.extend(list(self._show_rows(partition.rows, begun.start, tuple(begun.best))))
            except Exception as error:  # noqa: BLE001 - law 6
                partition.fail(error)
        if past_last:
            partition.begun = [begun for begun in partition.begun if begun.start >= partition.after]

    def _settle(self, partition: YdbPartition) -> None:
        allowed = admit(partition, self.states, len(partition.begun))
        if allowed < len(partition.begun):
            partition.begun = partition.begun[:allowed]
        partition.rows.drop(partition.begun[0].start if partition.begun else len(partition.rows))

    def advance(self, partition: YdbPartition, now: int) -> list[Row]:
        """Time decides nothing."""
        return []

    def finish(self, partition: YdbPartition) -> list[Row]:
        """End the input: no row comes any more, and what has a match keeps it."""
        partition.ended = True
        final, partition.begun = partition.begun, []
        output: list[Row] = []
        self._emit(partition, final, output)
        self._settle(partition)
        return output

    def deadline(self, partition: YdbPartition) -> int | None:
        """Return None: time decides nothing."""
        return None

    def is_idle(self, partition: YdbPartition) -> bool:
        """Return whether nothing has begun."""
        return not partition.begun

    # state

    def state(self, partition: YdbPartition) -> Any:
        """Return the rows, and of each first row the states with the way that leads to each, and the longest match."""
        begun = [
            [each.start, [[pc, list(way)] for (pc, _), way in each.states.items()], None if each.best is None else list(each.best)]
            for each in partition.begun
        ]
        return [[list(row) for row in partition.rows], partition.rows.base, partition.after, begun]

    def shape(self, row: Check) -> Shape:
        """Return what ``state`` looks like."""
        step = integer("an instruction", 0, len(self.program.operations) - 1)
        return [row], PLACE, PLACE, [(PLACE, [(step, [step])], optional([step]))]

    def restore(self, state: Any) -> YdbPartition:
        """Return the machine; what conditions ask for is computed again from the rows."""
        rows, base, after, begun = state
        end, before = base + len(rows), base - 1
        for start, ways, best in begun:
            check_range("the first row of a match", before + 1, start, end - 1)
            before = start
            self._check(ways, best, end - start)
        partition = YdbPartition()
        partition.rows = StreamBuffer([tuple(row) for row in rows], base)
        partition.after = after
        frame = Frame(partition.rows)
        for start, ways, best in begun:
            states = {(pc, self._marks(frame, start, way)): self._way(way) for pc, way in ways}
            partition.begun.append(Begun(start, states, None if best is None else self._way(best)))
        partition.held = len(partition.begun)
        self.states.count += partition.held
        return partition

    def _check(self, ways: list[Any], best: list[int] | None, count: int) -> None:
        """Raise ValueError where a way has not taken ``count`` rows, or the longest match more, by instructions that take rows."""
        taking = [pc for pc, _ in ways] + [pc for _, way in ways for pc in way] + (best or [])
        if any(len(way) != count for _, way in ways) or len(best or ()) > count or any(
                self.program.operations[pc] != MATCH for pc in taking):
            raise ValueError("a way that has not taken the rows")

    def _way(self, instructions: list[int]) -> Way:
        way = self.no_way
        for pc in instructions:
            way = self.longer(way, pc)
        return way

    def _marks(self, frame: Frame, start: int, way: list[int]) -> Marks:
        marks = self.compiler.start_marks()
        for step, pc in enumerate(way):
            frame.row = start + step
            if self.extend is not None:
                marks = self.extend(frame, self.labels[self.program.first[pc]], marks)
        return marks


__all__ = ["YdbPartition", "YdbRecognizer"]
