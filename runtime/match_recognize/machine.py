"""The machine: runs a program over the rows of a partition.

A partial match: the step it waits at, the number of the row it began at, the path of rows taken, and the rows that
conditions look back at.
Every row is offered to all partial matches, oldest first, then to the steps where a match may begin. A partial match whose step does not
take the row is gone: rows of a
match follow one another. Partial matches are plain tuples and share their paths.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from epl.plan.patterns.match_recognize import Program
from runtime.match_recognize.ranking import Match, PathNode
from windows.event import Event

PartialMatch = tuple[int, int, PathNode, tuple[Event | None, ...]]
"""(step waited at, number of the first row, path, last row of each variable that conditions look back at)."""

History = tuple[Event | None, ...]
"""The rows before the current one in the partition, newest first, as many as prev looks back."""

RowTest = Callable[[Event, History], bool]
"""Whether a row may be taken, whatever the partial match."""

Truth = list[bool | None]
"""By variable: whether the current row satisfies its condition, as far as that is known."""

PathTest = Callable[[Event, History, tuple[Event | None, ...], PathNode | None], bool]
"""Whether a row may be taken by a partial match: row, history, rows looked back at, path."""


@attrs.frozen
class CompiledConditions:
    """The conditions, by variable: one of ``row`` and ``path`` or neither (any row will do). ``slots``: for each variable its place among
    the rows
    that path tests look back at, or None."""

    row: tuple[RowTest | None, ...]
    path: tuple[PathTest | None, ...]
    slots: tuple[int | None, ...]

    @property
    def width(self) -> int:
        return sum(slot is not None for slot in self.slots)


class Machine:
    """A program with its tests. Holds no state: partial matches are handed in and out.

    """

    def __init__(self, program: Program, tests: CompiledConditions) -> None:
        steps = program.steps
        self.row_tests = tuple(tests.row[s.variable] for s in steps)
        self.path_tests = tuple(tests.path[s.variable] for s in steps)
        self.variables = tuple(s.variable for s in steps)
        self.then = tuple(s.then for s in steps)
        self.accepts = tuple(s.accepts for s in steps)
        self.start = program.start
        self.slots = tuple(tests.slots[s.variable] for s in steps)
        self.nothing: tuple[Event | None, ...] = (None,) * tests.width
        self.variable_count = len(tests.row)
        self.looks_back = any(tests.path)
        self.move: Callable[[Sequence[PartialMatch], Event, int, list[Match]], list[PartialMatch]] = self._move
        """``advance`` and ``begin`` for a row without history; generated where that can be (``partial_matches``)."""

    def can_begin(self) -> Callable[[Event, History], bool] | None:
        """Return a test that says whether a match may begin at a row; None where any row may."""
        tests = []
        for step in self.start:
            test = self.row_tests[step]
            if test is None:
                return None
            if test not in tests:
                tests.append(test)
        if len(tests) == 1:
            return tests[0]
        return lambda event, history: any(test(event, history) for test in tests)

    def advance(
        self, partial_matches: Sequence[PartialMatch], event: Event, row: int, history: History, truth: Truth, matches: list[Match],
        died: list[tuple[int, PathNode]] | None = None,
    ) -> list[PartialMatch]:
        """Return the partial matches that go on after a row; matches that end with it are added to ``matches``.

        ``truth``: ``nothing_known`` before the first call for a row. ``died``: takes first row and path of the partial matches that did
        not take the row although a match could have ended with it.
        """
        after: list[PartialMatch] = []
        variables, row_tests, path_tests = self.variables, self.row_tests, self.path_tests
        holds: bool | None
        for step, began, path, looked_at in partial_matches:
            path_test = path_tests[step]
            if path_test is not None:
                holds = path_test(event, history, looked_at, path)
            else:
                variable = variables[step]
                holds = truth[variable]
                if holds is None:
                    row_test = row_tests[step]
                    holds = truth[variable] = row_test is None or row_test(event, history)
            if not holds:
                if died is not None and self.accepts[step]:
                    died.append((began, path))
                continue
            self._take(step, began, (path, event, step), looked_at, row, after, matches)
        return after

    def begin(
        self, event: Event, row: int, history: History, truth: Truth, after: list[PartialMatch], matches: list[Match],
        may_start: Callable[[], bool] | None = None,
    ) -> None:
        """Begin matches that begin with a row: those still going on are added to ``after``, as far as ``may_start`` lets them."""
        started: list[PartialMatch] = []
        for step in self.start:
            path_test = self.path_tests[step]
            if path_test is not None:
                if not path_test(event, history, self.nothing, None):
                    continue
            else:
                variable = self.variables[step]
                holds = truth[variable]
                if holds is None:
                    row_test = self.row_tests[step]
                    holds = truth[variable] = row_test is None or row_test(event, history)
                if not holds:
                    continue
            self._take(step, row, (None, event, step), self.nothing, row, started, matches)
        after += started if may_start is None else [s for s in started if may_start()]

    def _move(self, before: Sequence[PartialMatch], event: Event, row: int, ended: list[Match]) -> list[PartialMatch]:
        truth = self.nothing_known()
        after = self.advance(before, event, row, (), truth, ended) if before else []
        self.begin(event, row, (), truth, after, ended)
        return after

    def nothing_known(self) -> Truth:
        """Return what is known of a row's conditions before any is evaluated."""
        return [None] * self.variable_count

    def _take(
        self, step: int, began: int, path: PathNode, looked_at: tuple[Event | None, ...], row: int, after: list[PartialMatch],
        matches: list[Match],
    ) -> None:
        """Note that a step has taken a row: the match may be complete, and goes on at each step after it."""
        if self.accepts[step]:
            matches.append(Match(began, row, path))
        then = self.then[step]
        if then:
            slot = self.slots[step]
            if slot is not None:
                looked_at = (*looked_at[:slot], path[1], *looked_at[slot + 1 :])
            for target in then:
                after.append((target, began, path, looked_at))

    @staticmethod
    def earliest(partial_matches: list[PartialMatch]) -> list[PartialMatch]:
        """Return of the partial matches that wait at one step those that began first.

        None of the others can matter where every delivery is one row, all that overlaps the emitted match is discarded, and no condition
        looks back.
        """
        first: dict[int, int] = {}
        for step, began, _, _ in partial_matches:
            if began < first.setdefault(step, began):
                first[step] = began
        return [s for s in partial_matches if first[s[0]] == s[1]]


def variable_rows(path: PathNode | None, variables: Sequence[int], count: int) -> list[list[Event]]:
    """Return for each of ``count`` variables its rows, first to last; ``variables`` is the variable of each step."""
    by_variable: list[list[Any]] = [[] for _ in range(count)]
    node = path
    while node is not None:
        by_variable[variables[node[2]]].append(node[1])
        node = node[0]
    for rows in by_variable:
        rows.reverse()
    return by_variable
