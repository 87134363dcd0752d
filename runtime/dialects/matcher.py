"""Which match begins at a row: the first one in the order of preference.

Ways through the program are tried depth first, the preferred one first. A way that arrives where another one was before, with all that
conditions may ask for being equal, cannot do better and is given up; so time grows with the states that differ, not with the ways.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.dialects.expressions import Function
from runtime.dialects.frames import Frame, FrameCompiler, Marks
from runtime.dialects.program import DONE, END, JUMP, MATCH, SPLIT, START, PatternProgram
from runtime.dialects.visited import MOST_VISITS, Visited, visit_limit


class Matcher:
    """Finds matches in one partition after the other. ``conditions``: by the place of the variable; None: any row. ``times`` of a partition
    with ``within``: a match's rows are less than so many milliseconds after its first."""

    def __init__(
        self, program: PatternProgram, conditions: list[Function | None], compiler: FrameCompiler, *, within: int | None = None,
        most_visits: int = MOST_VISITS,
    ) -> None:  # fmt: skip
        self.program = program
        self.conditions = conditions
        self.compiler = compiler
        self.within = within
        self.most_visits = most_visits
        self.extend = compiler.extender()
        self.add = compiler.adder()
        self.is_plain = not compiler.looks_back and within is None
        self.hopeless: set[int] = set()
        self.condition_variables: list[bytearray] = []
        self.visits = 0
        """How many states the last search visited."""

    def begin(self, rows: Sequence[tuple[Any, ...]], times: Sequence[int] | None) -> None:
        """Go to another partition."""
        self.rows = rows
        self.times = times
        self.frame = Frame(rows)
        self.hopeless = set()
        self.condition_variables = [bytearray(len(rows)) for _ in self.conditions]

    def match(self, start: int, number: int) -> list[int] | None:
        """Return the instructions that took the rows of the match that begins at a row; None where there is none."""
        if self.is_plain:
            return self._match_plain(start)
        frame, program = self.frame, self.program
        operations, first, second = program.operations, program.first, program.second
        frame.start, frame.number = start, number
        frame.labels = []
        taken: list[int] = []
        looks_around = self.compiler.looks_around
        paths = [0]
        visited = Visited(visit_limit(len(self.rows) - start, len(operations), self.most_visits))
        pending: list[tuple[int, int, Marks, Marks]] = [(0, start, self.compiler.start_marks(), self.compiler.start_totals())]
        count = len(self.rows)
        while pending:
            pc, row, marks, totals = pending.pop()
            del taken[row - start :]
            del frame.labels[row - start :]
            if looks_around:
                del paths[row - start + 1 :]
            while True:
                operation = operations[pc]
                if operation == JUMP:
                    pc = first[pc]
                    continue
                if operation == DONE:
                    self.visits = visited.count
                    return taken
                if visited.visit(pc, row, marks, totals, paths[-1]):
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
                    accepted = self._test(pc, row, marks, totals)
                    if accepted is None:
                        break
                    marks, totals = accepted
                    taken.append(pc)
                    if looks_around:
                        paths.append(visited.path(paths[-1], frame.labels[-1]))
                    row += 1
                pc += 1
        self.visits = visited.count
        return None

    def _match_plain(self, start: int) -> list[int] | None:
        """Return the same where conditions read rows alone: what leads nowhere, leads nowhere from any first row, and each row is tested
        once."""
        operations, first, second = self.program.operations, self.program.first, self.program.second
        count, size = len(self.rows), len(operations)
        hopeless, visited, taken = self.hopeless, set[int](), list[int]()
        pending = [(0, start)]
        while pending:
            pc, row = pending.pop()
            del taken[row - start :]
            while True:
                operation = operations[pc]
                if operation == JUMP:
                    pc = first[pc]
                    continue
                if operation == DONE:
                    self.visits = len(visited)
                    return taken
                key = row * size + pc
                if key in visited or key in hopeless:
                    break
                visited.add(key)
                if operation == SPLIT:
                    pending.append((second[pc], row))
                    pc = first[pc]
                    continue
                if operation == MATCH:
                    if row >= count or not self._holds(first[pc], row):
                        break
                    taken.append(pc)
                    row += 1
                elif row != (0 if operation == START else count):
                    break
                pc += 1
        hopeless |= visited
        self.visits = len(visited)
        return None

    def _holds(self, place: int, row: int) -> bool:
        """Return whether a row satisfies a condition that reads rows alone."""
        known = self.condition_variables[place]
        if not known[row]:
            condition = self.conditions[place]
            self.frame.row = self.frame.start = row
            known[row] = 1 if condition is None or condition(self.frame) is True else 2
        return known[row] == 1

    def _test(self, pc: int, row: int, marks: Marks, totals: Marks) -> tuple[Marks, Marks] | None:
        """Return marks and totals with the row taken; None where its condition does not hold."""
        frame, place = self.frame, self.program.first[pc]
        if self.within is not None and self.times is not None and self.times[row] - self.times[frame.start] >= self.within:
            return None
        label = self.program.labels[place]
        condition = self.conditions[place]
        frame.row = row
        if self.extend is not None:
            marks = self.extend(frame, label, marks)
        frame.labels.append(label)
        if self.add is not None:
            totals = self.add(frame, label, totals)
        frame.marks, frame.totals, frame.end = marks, totals, row
        if condition is not None and condition(frame) is not True:
            return None
        return marks, totals


__all__ = ["MOST_VISITS", "Matcher"]
