"""The dialect of YDB: the examples of its manual, and what else it is known to do."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from epl.errors import EplUnsupportedError, EplValidationError
from runtime import Runtime

CLICKS = pa.table({"ts": [100, 200, 300], "button": [1, 2, 3]})
DEFINES = "DEFINE B1 AS B1.button = 1, B2 AS B2.button = 2, B3 AS B3.button = 3"
TIMES = "MEASURES FIRST(B1.ts) AS first_ts, FIRST(B2.ts) AS mid_ts, LAST(B3.ts) AS last_ts"


def run(clause: str, table: pa.Table) -> list[tuple[Any, ...]]:
    result = Runtime.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause}) AS m", {"t": table}, dialect="ydb")
    return list(zip(*[column.to_pylist() for column in result.columns]))


def test_measures_are_of_the_whole_match() -> None:
    table = pa.table({"ts": [100, 200, 300, 400], "button": [1, 1, 2, 3], "device_id": [3, 3, 2, 1], "zone_id": [0, 1, 0, 1]})
    clause = f"""ORDER BY CAST(ts AS Timestamp) MEASURES AGGREGATE_LIST(B1.zone_id * 10 + B1.device_id) AS ids,
        COUNT(DISTINCT B1.zone_id) AS count_zones, LAST(B3.ts) - FIRST(B1.ts) AS time_diff, 42 AS meaning_of_life
        PATTERN (B1+ B2 B3) {DEFINES}"""
    assert run(clause, table) == [([3, 13], 2, 300, 42)]


def test_excluded_rows_are_of_the_match_and_not_shown() -> None:
    one = f"ORDER BY CAST(ts AS Timestamp) {TIMES} ONE ROW PER MATCH PATTERN (B1 {{- B2 -}} B3) {DEFINES}"
    assert run(one, CLICKS) == [(100, 200, 300)]
    every = one.replace("ONE ROW", "ALL ROWS")
    assert run(every, CLICKS) == [(100, 200, 300, 100, 1), (100, 200, 300, 300, 3)]


def test_partitions_by_expressions_and_their_names() -> None:
    table = pa.table({"k": [1, 2, 3, 4], "v": [1, 1, 2, 2]})
    clause = "PARTITION BY k % 2 AS odd ORDER BY k MEASURES COUNT(A.v) AS n PATTERN (A+) DEFINE A AS A.v > 0"
    assert run(clause, table) == [(1, 2), (0, 2)]


@pytest.mark.parametrize("pattern", ["A B_OR_C* C", "A B_OR_C*? C"])
def test_the_longest_match_is_preferred_however_it_is_written(pattern: str) -> None:
    table = pa.table({"time": [0, 100, 200, 300, 400, 500], "name": ["A", "B", "C", "B", "C", "B"]})
    clause = f"""ORDER BY time MEASURES FIRST(A.time) AS a, LAST(B_OR_C.time) AS b, LAST(C.time) AS c PATTERN ({pattern})
        DEFINE A AS A.name = 'A', B_OR_C AS B_OR_C.name = 'B' OR B_OR_C.name = "C", C AS C.name = 'C'"""
    assert run(clause, table) == [(0, 300, 400)]


def test_last_of_the_own_variable_is_of_the_rows_before() -> None:
    table = pa.table({"id": [1, 2, 3, 4], "user": ["x", "x", "y", "y"]})
    clause = """ORDER BY id MEASURES FIRST(A.id) AS f, LAST(A.id) AS l PATTERN (A+)
        DEFINE A AS LAST(A.user) IS NULL OR LAST(A.user) = A.user"""
    assert run(clause, table) == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("PATTERN (A) DEFINE A AS 123", "DEFINE expression must be a predicate"),
        ("PATTERN (A) DEFINE B AS TRUE", "B is defined, but not mentioned in the PATTERN"),
        ("AFTER MATCH SKIP TO FIRST Z PATTERN (A) DEFINE A AS TRUE", "Unknown pattern variable in AFTER MATCH SKIP TO FIRST"),
        ("PATTERN (A) SUBSET U = (A) DEFINE A AS TRUE", "SUBSET is not implemented yet"),
        ("PATTERN (A B) DEFINE A AS TRUE, B AS B.ts > A.ts", "Row pattern navigation function is required"),
        ("MEASURES FIRST(A.ts, 1) AS x PATTERN (A) DEFINE A AS TRUE", "FIRST takes one argument"),
        ("MEASURES CLASSIFIER() AS x PATTERN (A) DEFINE A AS TRUE", "Unknown builtin: CLASSIFIER"),
        ("PATTERN (A) DEFINE A AS COUNT(A.ts) > 1", "Aggregate function count is not allowed in DEFINE"),
        ("PATTERN (PERMUTE(A, B, C, D, E, F, G)) DEFINE A AS TRUE", "Too many items in permute"),
    ],
)
def test_refusals(clause: str, words: str) -> None:
    with pytest.raises(EplValidationError, match=words):
        run(clause, CLICKS)


def test_skips_to_a_variable_are_not_supported() -> None:
    with pytest.raises(EplUnsupportedError, match="AFTER MATCH SKIP TO LAST is not implemented yet"):
        run("MEASURES 1 AS x AFTER MATCH SKIP TO LAST A PATTERN (A) DEFINE A AS TRUE", CLICKS)
