"""The output rows of a clause by the reference: matches one after the other, skips, rows per match, measures. Conditions and measures are
Python functions beside their texts; nothing is shared with the engine.

A future may be open: of rows that have not come, the conditions hold or not as the future says (``Future``), since a condition is nothing
but a function of rows. What is the same in all futures is decided.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from epl.dialects.syntax import tree as t
from tests.dialects.reference import Reference, Way

N, TS, K = range(3)
"""Columns: the row's number, its time, its value."""
STEPS = 20_000
MARK = "!"
Row = tuple[Any, ...]


class TooLong(Exception):
    """The reference needs more steps than a test has time for."""


class Failed(Exception):
    """A condition fails."""


@attrs.frozen
class Place:
    """What an expression sees: ``row``: at hand; ``way``: the variables of the rows of the match, that of ``row`` included; ``whole``: of
    the whole match."""

    rows: Sequence[Row]
    start: int
    row: int
    way: Way
    whole: Way
    number: int
    subset: frozenset[str]

    def value(self, place: int | None, column: int) -> Any:
        """Return a value of a row of the partition; None outside of it."""
        return None if place is None or not 0 <= place < len(self.rows) else self.rows[place][column]

    def of(self, label: str | None, *, final: bool = False) -> list[int]:
        """Return the rows of the match that have a variable, or any."""
        labels = self.subset if label == "U" else {label}
        way = self.whole if final else self.way
        return [self.start + step for step, each in enumerate(way) if label is None or each in labels]

    def first(self, label: str | None, offset: int = 0) -> int | None:
        """Return the first row of a variable, or a later one."""
        return next(iter(self.of(label)[offset:]), None)

    def last(self, label: str | None, offset: int = 0, *, final: bool = False) -> int | None:
        """Return the last row of a variable, or an earlier one."""
        return next(iter(self.of(label, final=final)[::-1][offset:]), None)

    def label(self, place: int | None) -> str | None:
        """Return the variable of a row of the match."""
        step = -1 if place is None else place - self.start
        return self.whole[step] if 0 <= step < len(self.whole) else None

    def near(self, place: int | None, shift: int) -> int | None:
        """Return a row of the partition before or after another."""
        return None if place is None else place + shift


Expression = Callable[[Place], Any]


@attrs.define
class Future:
    """What is not known yet: of the rows from ``come`` on the conditions hold or not by chance, the same one always alike."""

    come: int
    random: random.Random
    share: float
    said: dict[Any, bool] = attrs.field(factory=dict)

    def holds(self, key: Any) -> bool:
        """Return whether a condition holds."""
        return self.said.setdefault(key, self.random.random() < self.share)


@attrs.frozen
class Match:
    """A match, or a row without one (``way`` None), with what is emitted for it."""

    start: int
    way: Way | None
    rows: tuple[Row, ...]


@attrs.frozen(kw_only=True)
class Clause:
    """What a text says. ``pattern``: as ``marked`` returns it. ``skip``: past last, next, first, last; ``target``: its variables;
    ``per_match``: one, show, omit, unmatched."""

    pattern: t.SqlPattern
    conditions: dict[str, tuple[bool, Expression]]
    """With whether it reads its row alone."""
    measures: Sequence[Expression]
    skip: str
    target: frozenset[str]
    per_match: str
    subset: frozenset[str]
    within: int | None

    def matches(self, rows: Sequence[Row], future: Future | None = None) -> list[Match]:
        """Return what is found in rows after which nothing comes."""
        found: list[Match] = []
        here, number, covered = 0, 1, -1
        while here < len(rows):
            try:
                way = self._match(rows, here, number, future)
            except Failed:
                here += 1
                continue
            if way is None:
                if self.per_match == "unmatched" and here > covered:
                    found.append(Match(here, None, ((rows[here][TS], *[None] * len(self.measures), rows[here][N], rows[here][K]),)))
                here += 1
                continue
            found.append(Match(here, way, tuple(self._rows(rows, here, way, number))))
            number += 1
            covered = max(covered, here + len(way) - 1)
            here = self._following(here, way)
        return found

    def _match(self, rows: Sequence[Row], start: int, number: int, future: Future | None) -> Way | None:
        steps = 0

        def condition(label: str) -> Callable[[Sequence[Row], int, Way], bool]:
            reads_row, expression = self.conditions.get(label, (True, lambda place: True))

            def holds(rows: Sequence[Row], start: int, way: Way) -> bool:
                nonlocal steps
                steps += 1
                if steps > STEPS:
                    raise TooLong
                row = start + len(way) - 1
                if self.within is not None and rows[row][TS] - rows[start][TS] >= self.within:
                    return False
                if future is not None and row >= future.come and label in self.conditions:
                    return future.holds((label, row) if reads_row else (label, row, start, way))
                return expression(Place(rows, start, row, plain(way), plain(way), number, self.subset)) is True

            return holds

        tests = {label + mark: condition(label) for label in "ABCDE" for mark in ("", MARK)}
        return Reference(self.pattern, tests, rows).match(start)

    def _rows(self, rows: Sequence[Row], start: int, way: Way, number: int) -> list[Row]:
        hidden = {step for step, label in enumerate(way) if label.endswith(MARK)}
        way = plain(way)
        if not way:
            if self.per_match == "omit":
                return []
            values = [measure(Place(rows, start, start, (), (), number, self.subset)) for measure in self.measures]
            return [tuple(values) if self.per_match == "one" else (rows[start][TS], *values, rows[start][N], rows[start][K])]
        shown = [len(way) - 1] if self.per_match == "one" else [step for step in range(len(way)) if step not in hidden]
        output: list[Row] = []
        for step in shown:
            row = start + step
            place = Place(rows, start, row, way[: step + 1], way, number, self.subset)
            values = [measure(place) for measure in self.measures]
            output.append(tuple(values) if self.per_match == "one" else (rows[row][TS], *values, rows[row][N], rows[row][K]))
        return output

    def _following(self, start: int, way: Way) -> int:
        if not way or self.skip == "next":
            return start + 1
        if self.skip == "past last":
            return start + len(way)
        steps = [step for step, label in enumerate(plain(way)) if label in self.target]
        if not steps or (step := steps[0] if self.skip == "first" else steps[-1]) == 0:
            return start + 1  # an error, after which the search goes on
        return start + step


def marked(node: Any) -> Any:
    """Return a pattern in which the variables between ``{-`` and ``-}`` have a mark behind their names."""

    def renamed(each: Any, hides: bool) -> Any:
        if isinstance(each, tuple):
            return tuple(renamed(one, hides) for one in each)
        if isinstance(each, t.PatternVariable):
            name = attrs.evolve(each.name, canonical=each.name.canonical + MARK) if hides else each.name
            return attrs.evolve(each, name=name)
        if not isinstance(each, t.SqlPattern):
            return each
        hides = hides or isinstance(each, t.Exclusion)
        return attrs.evolve(each, **{field.name: renamed(getattr(each, field.name), hides) for field in attrs.fields(type(each))})

    return renamed(node, False)


def plain(way: Way) -> Way:
    """Return the variables without marks."""
    return tuple([label.rstrip(MARK) for label in way])


__all__ = ["TS", "Clause", "Expression", "Failed", "Future", "K", "Match", "N", "Place", "Row", "TooLong", "marked"]
