"""Patterns that explode over streams end as they do over tables: in a result, or in few errors that say so, soon; then the partition goes
on with the next row."""

from __future__ import annotations

from typing import Any

import pytest

from runtime import Runtime
from tests.calls import calls
from tests.dialects.test_exploding import query

FEW_STEPS, FEW_RUNS = 5_000, 300
TELLING = {
    "aggregates": "B AS count(B.id) >= 0, A AS sum(A.v) >= 0, C AS C.v = 77",
    "lists": "B AS array_agg(CLASSIFIER()) IS NOT NULL, C AS C.v = 77",
    "variables": "A AS PREV(CLASSIFIER()) IS NULL OR true, B AS PREV(CLASSIFIER(), 2) <> 'C' OR true, C AS C.v = 77",
    "rows that come": "A AS NEXT(A.v) >= 0 OR sum(A.v) >= 0, B AS count(B.id) >= 0, C AS C.v = 77",
}
EXCLUDING = "A AS A.v < 3, B AS B.v >= 3 AND B.v < 70, C AS C.v = 77"


class Streamed:
    """A clause over a stream: ``errors`` of its statement, ``counts`` of matches, one a row."""

    def __init__(self, pattern: str, defines: str, dialect: str = "sql", skip: str = "SKIP PAST LAST ROW", more: str = "") -> None:
        self.errors: list[str] = []
        self.ids: list[Any] = []
        self.runtime = Runtime(tier="row", on_error=lambda error, *_: self.errors.append(str(error)))
        measure = "LAST(C.id)" if "C" in pattern else "LAST(A.id)"
        self.runtime.deploy(
            f"create schema T(id int, v int, ts long); @Dialect('{dialect}') @name('s') select m.* from T match_recognize (ORDER BY ts "
            f"MEASURES {measure} AS x AFTER MATCH {skip} PATTERN ({pattern}) {more} DEFINE {defines}) as m")
        self.listen()
        self.place = 0

    def listen(self) -> None:
        self.runtime.statement("s").add_listener(lambda new, *_: self.ids.extend(row["x"] for row in new))

    def send(self, *values: int) -> Streamed:
        for value in values:
            self.runtime.send("T", {"id": self.place, "v": value, "ts": self.place})
            self.place += 1
        return self

    def restore(self) -> None:
        self.runtime = Runtime.restore(self.runtime.snapshot(), tier="row", on_error=lambda error, *_: self.errors.append(str(error)))
        self.listen()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.dialects.visited.LEAST_VISITS", FEW_STEPS)
    monkeypatch.setattr("runtime.dialects.streaming.ydb_partition.LEAST_VISITS", FEW_STEPS)
    monkeypatch.setattr("runtime.dialects.runs.MOST_RUNS", FEW_RUNS)


@pytest.mark.parametrize("defines", TELLING.values(), ids=TELLING)
@pytest.mark.parametrize("restores", [False, True])
@pytest.mark.usefixtures("few")
def test_a_search_of_sql_has_one_budget(defines: str, restores: bool) -> None:
    with calls(most=3_000_000):
        streamed = Streamed("(A | B)* C", defines)
        for _ in range(30):
            streamed.send(*range(5))
            if restores and streamed.place % 50 == 0:
                streamed.restore()
        streamed.runtime.end_of_input()
    assert 1 <= len(streamed.errors) <= 150 // 8, len(streamed.errors)
    assert all("the row pattern is ambiguous: one match needs more than" in error for error in streamed.errors)
    assert not streamed.ids


@pytest.mark.usefixtures("few")
def test_a_time_that_ends_many_searches_costs_one_budget() -> None:
    streamed = Streamed("(A | B)* C", TELLING["aggregates"], more="WITHIN INTERVAL '1' SECOND")
    streamed.send(*[1] * 200)
    before = len(streamed.errors)
    with calls(most=3_000_000):
        streamed.runtime.advance_time_span(10_000)
    assert len(streamed.errors) - before <= 2


@pytest.mark.parametrize(("dialect", "pattern", "skip", "defines"), [
    ("sql", "(A | B)* C", "SKIP PAST LAST ROW", TELLING["aggregates"]),
    ("flink", "A*? B*? D*? C", "SKIP TO NEXT ROW", "C AS C.v = 77"),
    ("alibaba", "A {- X* -} B {- Y* -} D {- Z* -} C", "NO SKIP", "C AS C.v = 77"),
    ("ydb", "(A | B)* D* C", "SKIP PAST LAST ROW",
     "A AS A.v = LAST(B.v) OR LAST(B.v) IS NULL OR true, B AS FIRST(A.v) IS NULL OR true, C AS C.v = 77"),
])
@pytest.mark.usefixtures("few")
def test_after_the_error_the_partition_goes_on_with_the_next_row(dialect: str, pattern: str, skip: str, defines: str) -> None:
    streamed = Streamed(pattern, defines, dialect, skip)
    for number in (1, 2):
        with calls(most=3_000_000):
            while len(streamed.errors) < number and streamed.place < 2_000:
                streamed.send(1)
                if dialect == "sql" and streamed.place % 50 == 0:
                    streamed.runtime.end_of_input()
        assert len(streamed.errors) == number and "the row pattern is ambiguous" in streamed.errors[-1]
    streamed.send(1, 1, 1, 77)
    streamed.runtime.end_of_input()
    assert len(streamed.errors) == 2 and streamed.place - 1 in streamed.ids


@pytest.mark.parametrize("dialect", ["sql", "ydb"])
@pytest.mark.parametrize("pattern", ["(A | B)+ C", "((A+ B*)+)+ C", "(A | B | A B)* C", "(A? B?){0,30} C"])
@pytest.mark.usefixtures("few")
def test_patterns_that_a_table_takes_a_stream_takes(dialect: str, pattern: str) -> None:
    streamed = Streamed(pattern, EXCLUDING, dialect)
    streamed.send(*([1, 2, 5, 1, 9] * 60), 77)
    streamed.runtime.end_of_input()
    assert not streamed.errors and streamed.ids == [300]


def test_tables_say_the_same() -> None:
    message = query("(A | B)* C", TELLING["aggregates"].replace("77", "1000"), rows=60)
    assert "the row pattern is ambiguous: one match needs more than 500000 steps" in message
