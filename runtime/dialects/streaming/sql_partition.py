"""SQL:2016 over rows that come one after the other: the search for the preferred match is suspended where it needs a row that has not come.

Ways through the pattern are tried in the order of preference, as over a table. A way that would take the next row waits for it, and with it
all that are less preferred; those that are more preferred have led nowhere. So a match is known at the first row that decides it. Matches
are emitted in the order of their first rows: the search for the next one begins when the one before is decided.

What is kept is the rows from the first one of the search on (and those that PREV may read); the search itself is a function of them, and
is done again after a restore.
"""
from __future__ import annotations

from typing import Any

from epl.dialects.errors import QueryFailed
from epl.dialects.plans import RecognitionPlan
from runtime.dialects.frames import Frame, Marks
from runtime.dialects.program import DONE, END, JUMP, MATCH, SPLIT, START, compile_pattern
from runtime.dialects.recognition import RowWriter, next_start
from runtime.dialects.streaming.held_rows import StreamBuffer
from runtime.dialects.streaming.partition import NO_QUERIES, Row, StreamPartition, StreamStates
from runtime.dialects.streaming.stored import PLACE, check_held, check_range
from runtime.dialects.streaming.waiting import StreamFrameCompiler, Waiting, looks_behind, numbers_matches
from runtime.dialects.visited import MOST_OF_A_PARTITION, MOST_VISITS, Visited, is_exceeded, too_many, visit_limit
from windows.shape import BOOLEAN, INTEGER, Check, Shape, integer, optional

Way = tuple[int, int, Marks, Marks]
"""Instruction, row, marks and totals: where a way goes on."""


class Search:
    """The search for the match that begins at a row. ``pending``: the ways still to be tried, the preferred one last. ``taken``: the
    instructions that took the rows of the way that is tried, ``paths`` the numbers of its variables, where they matter. ``done``: it has
    led to a match. ``tried``: how many states were visited, in this call, to learn whether ways that wait may lead to one."""

    __slots__ = ("done", "frame", "paths", "pending", "taken", "tried", "visited")

    def __init__(self, rows: StreamBuffer, start: int, number: int, marks: Marks, totals: Marks) -> None:
        self.frame = Frame(rows)
        self.frame.start, self.frame.number = start, number
        self.taken: list[int] = []
        self.paths = [0]
        self.tried = 0
        self.visited = Visited(0)
        self.pending: list[Way] = [(0, start, marks, totals)]
        self.done = False

    @property
    def spent(self) -> int:
        """How many states it has visited."""
        return len(self.visited.states) + self.visited.spent + self.tried


class SqlPartition(StreamPartition):
    """``here``: the first row of the search; ``number``: of the match that it finds; ``last``: the last row that a match had. ``search``:
    None until a row asks for it. ``now``: no row before that time comes any more. ``hopeless``: by row the instructions that lead nowhere,
    whatever the first row is; empty where conditions depend on that."""

    __slots__ = ("here", "hopeless", "last", "now", "number", "search")

    def __init__(self) -> None:
        super().__init__()
        self.here, self.number, self.last = 0, 1, -1
        self.hopeless: dict[int, set[int]] = {}
        self.search: Search | None = None
        self.now: int | None = None


class SqlRecognizer:
    """Runs a clause of dialect ``sql``. ``within``: in engine units."""

    def __init__(self, plan: RecognitionPlan, states: StreamStates, within: int | None, most_visits: int = MOST_VISITS) -> None:
        self.plan = plan
        self.states = states
        self.within = within
        self.most_visits = most_visits
        self.labels = list(plan.labels)
        self.program = compile_pattern(plan.pattern, self.labels)
        self.compiler = StreamFrameCompiler(NO_QUERIES, self.labels)
        self.conditions = [self.compiler.condition(plan.defines[label]) if label in plan.defines else None for label in self.labels]
        self.extend, self.add = self.compiler.extender(), self.compiler.adder()
        self.start_marks, self.start_totals = self.compiler.start_marks(), self.compiler.start_totals()
        self.writer = RowWriter(plan, self.program, StreamFrameCompiler(NO_QUERIES, self.labels))
        self.is_plain = not self.compiler.looks_back and within is None
        self.shows_unmatched = plan.all_rows and plan.empties == "unmatched"
        self.behind = looks_behind(plan)
        self.keeps_partitions = bool(self.behind) or numbers_matches(plan) or START in self.program.operations

    def partition(self) -> SqlPartition:
        """Return the machine of a new partition."""
        return SqlPartition()

    def process(self, partition: SqlPartition, row: Row, time: int) -> list[Row]:
        """Take one more row."""
        if partition.rows.ended:
            self._begin_again(partition)
        partition.rows.append(row)
        partition.times.append(time)
        return self._continue_search(partition)

    def advance(self, partition: SqlPartition, now: int) -> list[Row]:
        """Move time: no row before ``now`` comes any more."""
        partition.now = now
        return self._continue_search(partition)

    def finish(self, partition: SqlPartition) -> list[Row]:
        """End the input: no row comes any more."""
        partition.rows.ended = True
        return self._continue_search(partition)

    def deadline(self, partition: SqlPartition) -> int | None:
        """Return when no row can be of the match any more that is searched."""
        if self.within is None or partition.here >= len(partition.rows):
            return None
        due = int(partition.times[partition.here]) + self.within
        return due if partition.now is None or due > partition.now else None

    def is_idle(self, partition: SqlPartition) -> bool:
        """Return whether nothing is kept that a new partition would not have."""
        return not self.keeps_partitions and partition.here >= len(partition.rows)

    def _begin_again(self, partition: SqlPartition) -> None:
        """After the end of the input comes another one."""
        partition.rows, partition.times = StreamBuffer(), StreamBuffer()
        partition.here, partition.number, partition.last, partition.now = 0, 1, -1, None
        partition.hopeless.clear()

    # the search

    def _continue_search(self, partition: SqlPartition) -> list[Row]:
        """Search as far as the rows go; return the output rows of what is decided."""
        output: list[Row] = []
        begun, spent, most = partition.here, 0, MOST_OF_A_PARTITION * self.most_visits
        while partition.here < len(partition.rows):
            search = partition.search
            if search is None:
                if not self._begin(partition):
                    partition.here += 1
                    continue
                search = partition.search
            assert search is not None
            try:
                if not self._decide(partition, search):
                    break
                if self.is_plain and not search.done:
                    for pc, row, *_ in search.visited.states:
                        partition.hopeless.setdefault(row, set()).add(pc)
                self._emit(partition, search, output)
                spent += search.spent
                if spent > most:
                    raise too_many(most, "partition")
            except Waiting:
                break
            except Exception as error:  # noqa: BLE001 - law 6: the match that begins here is given up, all others are not
                partition.fail(error)
                partition.here = len(partition.rows) if is_exceeded(error) else partition.here + 1
            self._end(partition)
        if partition.hopeless:
            for row in range(begun, partition.here):
                partition.hopeless.pop(row, None)
        self._drop(partition)
        return output

    def _begin(self, partition: SqlPartition) -> bool:
        """Begin the search at the row that is next; return whether the limit on partial matches allows it."""
        if not partition.held:
            if not self.states.try_increase():
                return False
            partition.held = 1
        partition.search = Search(partition.rows, partition.here, partition.number, self.start_marks, self.start_totals)
        return True

    def _end(self, partition: SqlPartition) -> None:
        partition.search = None
        self.states.count -= partition.held
        partition.held = 0

    def _drop(self, partition: SqlPartition) -> None:
        before = partition.here - self.behind
        partition.rows.drop(before)
        partition.times.drop(before)

    def _decide(self, partition: SqlPartition, search: Search) -> bool:
        """Go on with the search; return whether it is over: ``done``, or without a match."""
        if search.done:
            return True
        operations, first, second = self.program.operations, self.program.first, self.program.second
        rows, frame, pending, start = partition.rows, search.frame, search.pending, search.frame.start
        hopeless = partition.hopeless
        count = len(rows)
        visited, paths, looks_around = search.visited, search.paths, self.compiler.looks_around
        search.tried = 0
        visited.limit = visit_limit(count - start, len(operations), self.most_visits)
        is_last = rows.ended or self._is_expired(partition, start)
        while pending:
            way = pending.pop()
            pc, row, marks, totals = way
            del search.taken[row - start :]
            del frame.labels[row - start :]
            if looks_around:
                del paths[row - start + 1 :]
            while True:
                operation = operations[pc]
                if operation == JUMP:
                    pc = first[pc]
                    continue
                if operation == DONE:
                    search.done = True
                    return True
                if row >= count and ((operation == MATCH and not is_last) or (operation == END and not rows.ended)):
                    if not self.program.leads_on[pc]:
                        break
                    pending.append((pc, row, marks, totals))
                    return False
                if (row in hopeless and pc in hopeless[row]) or visited.visit(pc, row, marks, totals, paths[-1]):
                    break
                if operation == SPLIT:
                    pending.append((second[pc], row, marks, totals))
                    pc = first[pc]
                    continue
                if operation in (START, END):
                    if row != (0 if operation == START else count):
                        break
                elif row >= count:
                    break
                else:
                    try:
                        accepted = self._test(partition, frame, pc, row, marks, totals)
                    except Waiting:
                        if not self._may_reach_match(partition, search, pc, row):
                            break
                        visited.forget(pc, row, marks, totals, paths[-1])
                        pending.append((pc, row, marks, totals))
                        raise
                    if accepted is None:
                        break
                    marks, totals = accepted
                    search.taken.append(pc)
                    if looks_around:
                        paths.append(visited.path(paths[-1], frame.labels[-1]))
                    row += 1
                pc += 1
        return True

    def _may_reach_match(self, partition: SqlPartition, search: Search, pc: int, row: int) -> bool:
        """Return whether a way may come to a match that takes a row of which its condition knows too little; where it cannot, nothing has
        to be waited for."""
        frame = search.frame
        trial = Search(partition.rows, frame.start, frame.number, frame.marks, frame.totals)
        trial.pending = [(pc + 1, row + 1, frame.marks, frame.totals)]
        trial.taken, trial.frame.labels = [*search.taken, pc], list(frame.labels)
        trial.paths = [0] * (len(trial.taken) + 1)
        try:
            leads_on = not self._decide(partition, trial) or trial.done
        except Exception as error:  # what else fails there fails when the way comes there
            if is_exceeded(error):
                raise
            leads_on = True
        search.tried += trial.spent
        if search.tried > search.visited.limit:
            raise too_many(search.visited.limit)
        return leads_on

    def _is_expired(self, partition: SqlPartition, start: int) -> bool:
        """Return whether time alone says that no further row is of a match that begins there."""
        return self.within is not None and partition.now is not None and partition.now - partition.times[start] >= self.within

    def _test(
        self, partition: SqlPartition, frame: Frame, pc: int, row: int, marks: Marks, totals: Marks
    ) -> tuple[Marks, Marks] | None:
        """Return marks and totals with the row taken; None where its condition does not hold."""
        if self.within is not None and partition.times[row] - partition.times[frame.start] >= self.within:
            return None
        place = self.program.first[pc]
        label, condition = self.labels[place], self.conditions[place]
        frame.row = row
        if self.extend is not None:
            marks = self.extend(frame, label, marks)
        frame.labels.append(label)
        if self.add is not None:
            totals = self.add(frame, label, totals)
        frame.marks, frame.totals, frame.end = marks, totals, row
        if condition is not None and condition(frame) is not True:
            del frame.labels[row - frame.start :]
            return None
        return marks, totals

    # what is decided

    def _emit(self, partition: SqlPartition, search: Search, output: list[Row]) -> None:
        """Add the output rows of what a search has led to, and go on to the next row. Raise Waiting where a measure needs a row that has
        not come."""
        here, plan = partition.here, self.plan
        if not search.done:
            if self.shows_unmatched and here > partition.last:
                output.append(self.writer.row_without_match(partition.rows, here))
            partition.here += 1
            return
        frame = self.writer.frame(partition.rows, here, partition.number, search.taken)
        if not search.taken:
            rows = [] if plan.all_rows and plan.empties == "omit" else [self.writer.empty(frame)]
            following = here + 1
        else:
            rows = list(self.writer.match_rows(frame, search.taken))
        output.extend(rows)
        partition.number += 1
        if search.taken:
            partition.last = max(partition.last, frame.end)
            following = self._following(partition, frame)
        partition.here = following

    def _following(self, partition: SqlPartition, frame: Frame) -> int:
        try:
            return next_start(self.plan.skip, frame)
        except QueryFailed as error:
            partition.fail(error)
            return frame.start + 1

    # state

    def state(self, partition: SqlPartition) -> Any:
        """Return rows with their times, and where the search is."""
        rows = [list(row) for row in partition.rows]
        return [
            rows, list(partition.times), partition.rows.base, partition.here, partition.number, partition.last, partition.now,
            partition.rows.ended,
        ]  # fmt: skip

    def shape(self, row: Check) -> Shape:
        """Return what ``state`` looks like."""
        return [row], [INTEGER], PLACE, PLACE, PLACE, integer("a row, or -1", -1, 1 << 62), optional(INTEGER), BOOLEAN

    def restore(self, state: Any) -> SqlPartition:
        """Return the machine; its search is done again with the next row, or when its time has come."""
        rows, times, base, here, number, last, now, ended = state
        end = check_held(rows, times, base)
        check_range("the row that is next", base if base == 0 else base + self.behind, here, end)
        check_range("the last row of a match", -1, last, end - 1)
        partition = SqlPartition()
        partition.rows, partition.times = StreamBuffer([tuple(row) for row in rows], base), StreamBuffer(times, base)
        partition.here, partition.number, partition.last, partition.now = here, number, last, now
        partition.rows.ended = ended
        if here < len(partition.rows):
            partition.held = 1
            self.states.count += 1
        return partition


__all__ = ["SqlPartition", "SqlRecognizer"]
