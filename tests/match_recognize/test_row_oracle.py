"""The machine against a matcher that knows nothing of programs: every way to split the history, tried one after the other."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from epl.parse import parse_statement
from epl.syntax import RowAlternation, RowConcatenation, RowPattern, RowPermutation, RowRepetition, RowVariable, Select
from tests.match_recognize.row_harness import Matching, row, shown
from windows.paging import plain

Taken = tuple[tuple[str, int], ...]
"""(variable, row) pairs."""

VALUES = {"A": (1, 2), "B": (2, 3), "C": (1, 3)}
DEFINES = ", ".join(f"{name} as {name}.v in ({', '.join(map(str, values))})" for name, values in VALUES.items())
MOST_ROWS = 5


Way = tuple[Taken, int]
"""Rows taken, and the next row."""


def ways(pattern: RowPattern, rows: list[int], at: int) -> set[Way]:
    """All ways to match the pattern from row ``at`` on."""
    if isinstance(pattern, RowVariable):
        takes = at < len(rows) and rows[at] in VALUES[pattern.name]
        return {(((pattern.name, at),), at + 1)} if takes else set()
    if isinstance(pattern, RowConcatenation):
        return in_order(pattern.items, rows, at)
    if isinstance(pattern, RowAlternation):
        return {way for item in pattern.items for way in ways(item, rows, at)}
    if isinstance(pattern, RowPermutation):
        return {way for order in permutations(pattern.items) for way in in_order(order, rows, at)}
    assert isinstance(pattern, RowRepetition)
    return repeated(pattern, rows, at)


def behind(found: set[Way], item: RowPattern, rows: list[int]) -> set[Way]:
    return {(taken + more, end) for taken, at in found for more, end in ways(item, rows, at)}


def in_order(items: Sequence[RowPattern], rows: list[int], at: int) -> set[Way]:
    found: set[Way] = {((), at)}
    for item in items:
        found = behind(found, item, rows)
    return found


def repeated(pattern: RowRepetition, rows: list[int], at: int) -> set[Way]:
    item = pattern.item
    if pattern.low is None and pattern.high is None:
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[pattern.quantifier[0]]
    else:
        low, high = getattr(pattern.low, "value", 0), getattr(pattern.high, "value", None)
        item = RowRepetition(item, pattern.quantifier) if pattern.quantifier else item
    found = in_order([item] * low, rows, at)
    newest, times = found, low
    while newest and (high is None or times < high):
        newest = behind(newest, item, rows) - found
        found, times = found | newest, times + 1
    return found


def matches(pattern: RowPattern, rows: list[int]) -> set[Taken]:
    """Every different match of at least one row."""
    return {taken for at in range(len(rows)) for taken, _ in ways(pattern, rows, at) if taken}


variables = st.sampled_from(["A", "B", "C"])
quantified = st.tuples(variables, st.sampled_from(["", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{2,}"])).map("".join)


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(" ".join),
        st.lists(inner, min_size=2, max_size=2).map(lambda items: f"({' | '.join(items)})"),
        st.tuples(inner, st.sampled_from(["", "*", "+", "?"])).map(lambda part: f"({part[0]}){part[1]}"),
    )


patterns = st.recursive(quantified, larger, max_leaves=3)


def measured(pattern: str) -> str:
    return ", ".join(f"{name} as {name.lower()}" for name in "ABC" if name in pattern)


def defined(pattern: str) -> str:
    return ", ".join(f"{name} as {name}.v in ({', '.join(map(str, VALUES[name]))})" for name in "ABC" if name in pattern)


def as_rows(pattern: str, taken: Taken, groups: tuple[bool, ...], names: tuple[str, ...]) -> str:
    """The measures' text of a match: a group's ids, a single variable's last."""
    shown = {}
    for name, group in zip(names, groups):
        ids = [f"E{at}" for variable, at in taken if variable == name]
        shown[name.lower()] = (ids or None) if group else (ids[-1] if ids else None)
    return str({name.lower(): shown[name.lower()] for name in "ABC" if name in pattern})


@settings(max_examples=60, deadline=None)
@given(patterns, st.lists(st.integers(1, 3), min_size=1, max_size=MOST_ROWS))
@example("(A+)+ B", [1, 2, 2, 3])
@example("(A? B?)* C", [1, 2, 3, 3])
@example("(A | B)* (A A?)+", [2, 1, 2])
def test_all_matches_are_found(pattern: str, values: list[int]) -> None:
    clause = f"measures {measured(pattern)} all matches after match skip to current row pattern ({pattern}) define {defined(pattern)}"
    body = parse_statement(f"select * from T match_recognize ({clause})").body
    assert isinstance(body, Select) and body.match_recognize is not None
    running = Matching(clause)
    for number, value in enumerate(values):
        running.send(row(f"E{number}", value))
    plan = running.plan
    expected = {as_rows(pattern, taken, plan.groups, plan.variables) for taken in matches(body.match_recognize.pattern, values)}
    assert {str(found) for found in running.iterate()} == expected
    assert {str(shown(event)) for call in running.calls for event in call} == expected


@settings(max_examples=30, deadline=None)
@given(
    patterns, st.lists(st.integers(1, 3), min_size=1, max_size=MOST_ROWS),
    st.sampled_from(["past last row", "to next row", "to current row"])
)
def test_matches_told_are_matches_and_keep_to_the_skip_clause(pattern: str, values: list[int], skip: str) -> None:
    clause = f"measures {measured(pattern)} after match skip {skip} pattern ({pattern}) define {defined(pattern)}"
    running = Matching(clause)
    everything = Matching(clause.replace(" after match", " all matches after match").replace(skip, "to current row"))
    for number, value in enumerate(values):
        running.send(row(f"E{number}", value))
        everything.send(row(f"E{number}", value))
    possible = {str(found) for found in everything.iterate()}
    assert {str(found) for found in running.iterate()} <= possible


@settings(max_examples=30, deadline=None)
@given(patterns, st.lists(st.integers(1, 3), min_size=2, max_size=MOST_ROWS), st.data())
def test_going_on_after_a_restart(pattern: str, values: list[int], data: st.DataObject) -> None:
    clause = f"measures {measured(pattern)} pattern ({pattern}) define {defined(pattern)}"
    whole, parts = Matching(clause), Matching(clause)
    cut = data.draw(st.integers(0, len(values) - 1))
    for number, value in enumerate(values):
        event = row(f"E{number}", value)
        matches = whole.send(event)
        if number == cut:
            kept = plain(parts.operator.state())
            parts.rebuild(kept)
        assert parts.send(event) == matches
    assert parts.iterate() == whole.iterate()
