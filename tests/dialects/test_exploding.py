"""Patterns that explode end in a result or in an error that says so, soon and in little memory."""

from __future__ import annotations

import datetime
import random
import re
import tracemalloc
from typing import Any

import pyarrow as pa
import pytest

from epl.errors import EplError
from runtime import Runtime
from runtime.dialects.frames import FrameCompiler
from runtime.dialects.visited import LEAST_VISITS, MOST_VISITS, Visited, is_long, visit_limit
from runtime.dialects.ydb_recognition import Way

LETTERS = "A, B, C, D, E, F, G"


def table(count: int) -> pa.Table:
    start = datetime.datetime(2024, 1, 1)
    return pa.table({
        "id": list(range(count)), "v": [place * 7 % 13 for place in range(count)],
        "ts": [start + datetime.timedelta(seconds=place) for place in range(count)],
    })  # fmt: skip


def query(pattern: str, defines: str, dialect: str = "sql", skip: str = "SKIP PAST LAST ROW", rows: int = 300, **limits: int) -> Any:
    """Return the number of matches, or the error's message."""
    text = (f"SELECT count(*) AS n FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(A.id) AS x AFTER MATCH {skip} PATTERN ({pattern}) "
            f"DEFINE {defines})")  # fmt: skip
    try:
        return Runtime.sql(text, {"t": table(rows)}, dialect=dialect, **limits).to_pylist()[0]["n"]
    except EplError as error:
        return error.message


@pytest.mark.parametrize(
    "pattern",
    ["(A*)*", "((A+)+)+ B", "(A | A)* B", "(A | B | A B)* C", "(A?){200}", "(A* B*)* C", "((A | B)* (B | A)*)* C", "(A{0,30}){30} B",
     " ".join(["A*"] * 20) + " B", "(" * 150 + "A" + ")*" * 150, f"PERMUTE({LETTERS})", "(^ | $ | ())* A", "A " * 500],
    ids=lambda pattern: pattern[:20],
)  # fmt: skip
def test_ambiguous_patterns_over_rows_alone_end_in_a_result(pattern: str) -> None:
    defined = {letter for letter in "ABC" if letter in pattern.replace("PERMUTE", "")}
    assert isinstance(query(pattern, ", ".join(f"{letter} AS {letter}.v < 100" for letter in sorted(defined))), int)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("A{1000000}", "needs more than 100000 instructions"), ("(A{1000}){1000}", "needs more than 100000 instructions"),
        ("A{0,2147483647} B", "needs more than 100000 instructions"), (f"PERMUTE({LETTERS}, H, I, J)", "PERMUTE of 10 parts"),
        ("(" * 5000 + "A" + ")*" * 5000, "levels of nesting"), (" | ".join(["A"] * 50_000), "needs more than 100000 instructions"),
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_patterns_that_are_too_large_are_refused(pattern: str, words: str) -> None:
    assert words in query(pattern, "A AS true", rows=5)


@pytest.mark.parametrize(
    "defines",
    ["B AS count(B.id) >= 0, A AS sum(A.v) >= 0, C AS false", "B AS array_agg(CLASSIFIER()) IS NOT NULL, C AS false",
     "A AS PREV(CLASSIFIER()) IS NULL OR true, B AS PREV(CLASSIFIER(), 2) <> 'C' OR true, C AS false"],
)  # fmt: skip
def test_conditions_that_tell_ways_apart_end_in_an_error_in_little_memory(monkeypatch: pytest.MonkeyPatch, defines: str) -> None:
    monkeypatch.setattr("runtime.dialects.visited.LEAST_VISITS", 20_000)
    tracemalloc.start()
    try:
        message = query("(A | B)* C", defines, rows=800)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert re.fullmatch(r"the row pattern is ambiguous: one match needs more than 2\d{4} steps; .*", message), message
    assert most < 40e6


def test_few_rows_need_few_steps() -> None:
    message = query("(A | B)* C", "B AS count(B.id) >= 0, A AS sum(A.v) >= 0, C AS false", rows=1500)
    assert f"one match needs more than {LEAST_VISITS} steps" in message


@pytest.mark.parametrize(
    ("dialect", "pattern", "skip", "words"),
    [
        ("flink", "A*? B*? C*? D", "SKIP TO NEXT ROW", "more than 20000 partial matches at once"),
        ("alibaba", "A {- X* -} B {- Y* -} C {- Z* -} D", "NO SKIP", "more than 20000 partial matches at once"),
        ("flink", "A{2147483647}", "SKIP TO NEXT ROW", "needs more than 10000 states"),
    ],
)
def test_runs_that_explode_end_in_an_error(dialect: str, pattern: str, skip: str, words: str) -> None:
    last = "D AS D.v > 100" if "D" in pattern else "A AS A.v >= 0"
    assert words in query(pattern, last, dialect, skip, rows=500)


def test_a_table_of_matches_of_all_rows_with_all_rows_ends_in_an_error() -> None:
    assert query("A {- X* -} B", "A AS A.v >= 0", "alibaba", "NO SKIP", rows=100, max_steps=300_000) == 100 * 99 // 2
    message = query("A {- X* -} B", "A AS A.v >= 0", "alibaba", "NO SKIP", rows=200, max_steps=300_000)
    assert message.startswith("the query needs more than 340000 steps")


@pytest.mark.parametrize(
    ("dialect", "pattern", "defines", "calls"),
    [
        ("flink", "A+ B+ C+ D", "A AS A.v >= 0, B AS v >= 0, C AS C.v >= 0, D AS D.v > 100", 3 * 200),
        ("alibaba", "A {- X*? -} B C+ D", "A AS A.v >= 0, B AS v + B.v >= 0, C AS C.v > 5, D AS D.v > 100", 4 * 200),
        ("flink", "A+ B+ D", "A AS A.v >= 0, B AS B.v >= FIRST(A.v) - 100, D AS D.v > 100", 200 * 201 // 2 + 2 * 200),
    ],
)
def test_a_condition_of_the_row_alone_is_evaluated_once_a_row(
    dialect: str, pattern: str, defines: str, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0
    compiled = FrameCompiler.compile_condition

    def counted(self: FrameCompiler, label: str, typed: Any) -> Any:
        condition = compiled(self, label, typed)

        def counting(frame: Any) -> Any:
            nonlocal made
            made += 1
            return condition(frame)

        return counting

    monkeypatch.setattr(FrameCompiler, "compile_condition", counted)
    assert query(pattern, defines, dialect, "SKIP TO NEXT ROW", rows=200) == 0
    assert 200 < made <= calls


def test_all_matches_of_a_partition_may_need_so_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    defines = "A AS A.v >= 0, B AS B.v >= 0, C AS C.v > 100 AND FIRST(A.v) >= 0"
    assert query("A (A | B)* C", defines, "ydb") == 0
    monkeypatch.setattr("runtime.dialects.ydb_recognition.MOST_OF_A_PARTITION", 0.01)
    assert "one partition needs more than" in query("A (A | B)* C", defines, "ydb")


@pytest.mark.parametrize("seed", range(300))
def test_ways_are_compared_by_the_rows_of_their_variables(seed: int) -> None:
    drawn = random.Random(seed)
    variables, rows = drawn.randint(1, 3), drawn.randint(0, 7)
    one, other = ([[] for _ in range(variables)] for _ in range(2))  # type: ignore[var-annotated]
    for listed in (one, other):
        for row in range(rows):
            drawn.choice(listed).append(row)
    ways = [Way(0, None, rows, tuple(sum(1 << row for row in each) for each in listed)) for listed in (one, other)]
    assert ways[0].precedes(ways[1]) == (one <= other)


def test_a_long_partition_may_be_searched_through() -> None:
    assert visit_limit(10, 5) == LEAST_VISITS
    assert visit_limit(100_000, 10) == 4_000_000
    assert visit_limit(10_000_000, 10) == MOST_VISITS
    assert query("A+ B", "A AS A.v >= FIRST(A.v) - 100, B AS B.id = 39999", rows=40_000) == 1


def test_states_are_equal_where_marks_totals_and_paths_are() -> None:
    visited = Visited(100)
    once, again = (1, 2), tuple(range(1, 3))
    assert not visited.visit(1, 2, once, (5,), 0) and visited.visit(1, 2, again, (5,), 0)
    assert not visited.visit(1, 2, once, (6,), 0) and not visited.visit(1, 2, once, (5,), 1)
    long = tuple(range(20))
    assert not visited.visit(1, 2, once, (long,), 0) and visited.visit(1, 2, once, (tuple(range(20)),), 0)
    assert not visited.visit(1, 2, once, ([1],), 0) and visited.visit(1, 2, once, ([1],), 0)
    assert all(not is_long(key) for key in visited.states)
    path = visited.path(visited.path(0, "A"), "B")
    assert visited.path(visited.path(0, "A"), "B") == path != visited.path(visited.path(0, "B"), "B")
