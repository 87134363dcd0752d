"""Clauses over whole columns give what they give row by row."""

from __future__ import annotations

import datetime
import decimal
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from epl.errors import EplError
from runtime.batch.dialects import matching, running
from runtime.batch.dialects.queries import ColumnQueries
from runtime.dialects.sql import run_query
from tests.dialects import draw


class Counting(ColumnQueries):
    """Counts the queries that were run over columns."""

    taken = 0

    def __init__(self, tables: Any) -> None:
        super().__init__(tables, least_rows=0)

    def table(self, plan: Any, limits: Any) -> Any:
        table = super().table(plan, limits)
        Counting.taken += table is not None
        return table


def both(text: str, table: pa.Table) -> tuple[Any, Any]:
    results: list[Any] = []
    for columns in (None, Counting):
        try:
            result = run_query(text, {"t": table}, by_columns=columns)
            results.append((result.schema, sorted(map(repr, result.to_pylist()))))
        except EplError as error:
            results.append(error.message)
    return results[0], results[1]


def test_drawn_queries_give_the_same_by_rows_and_by_columns() -> None:
    Counting.taken = 0
    for seed in range(600):
        text, rows = draw.draw(seed)
        columns = [pa.array(column, pa.int32()) for column in zip(*rows)]
        expected, given = both(text, pa.table(columns, names=draw.COLUMNS))
        assert given == expected, (seed, text, rows)
    assert Counting.taken > 40


CONDITIONS = (
    "x > PREV(x)", "x >= A.x", "d < A.d + 1 AND x <> 2", "t - A.t < INTERVAL '5' SECOND", "x <= FIRST(x)", "s = A.s", "y < LAST(B.y)",
    "{o}.x < PREV({o}.x, 2)", "NEXT(x) IS NULL", "x + y > 3", "x * 2 - y <> 1", "d > 0.5 OR y IS NULL", "s = 'b'", "s > PREV(s)",
    "s <> 'zz' AND NOT x = 2", "x BETWEEN 1 AND 3", "x IN (1, y)", "t > TIMESTAMP '2024-01-01 00:00:05'",
    "t - PREV(t) < INTERVAL '3' SECOND", "ABS(d - PREV(d)) < 0.4", "d / x > 0.2", "f", "f IS NULL", "y IS DISTINCT FROM 2",
    "t < PREV(t) + INTERVAL '2' SECOND", "x % 2 = 0", "s LIKE 'a%'", "lower(s) = 'b'", "COALESCE(y, 1) > PREV(x)",
    "CASE WHEN f THEN x > 1 WHEN y = 1 THEN x > d ELSE y < 3 END", "date_diff('second', PREV(t), t) < 1", "s IS NOT DISTINCT FROM PREV(s)",
    "d IS DISTINCT FROM PREV(d)", "m >= PREV(m)", "m * 2 > 3.5 OR m < 0.3", "m + 1 > q", "m - x < 1", "d > A.d * 1.1", "m > x", "m > d",
    "t - FIRST(t) < INTERVAL '3' SECOND", "s = FIRST(s)", "s <> A.s", "x < LAST(x, 1)", "y >= LAST(y, 1) OR x > 1", "CLASSIFIER() = 'B'",
    "x - FIRST(x) <= 1", "y - A.x > -2", "m > A.m", "10 / (x - 1) > 2", "x + 1 > round(d)", "u = PREV(u) OR u > DATE '2024-01-01'",
    "u < PREV(u) + INTERVAL '1' DAY", "d + COALESCE(y, x) > 2", "s || s > 'aa'", "x > 9 / (x - 2)",
    "COUNT(*) <= 3", "SUM(x) < 6", "5 >= SUM(x * 2)", "COUNT(y) < 2 OR x = 1", "SUM(x) <= 4 * x", "COUNT(y) <> 2", "SUM(y) < 5",
    "x >= FIRST({o}.x)", "FIRST(A.d) IS NULL OR d < FIRST(A.d)", "s >= FIRST(A.s)", "COUNT({o}.*) < 3", "d < 2 * AVG(d)",
    "CASE WHEN x <> 2 THEN 4 / (x - 2) > 1 END",
)  # fmt: skip
MEASURES = (
    "FIRST(x)", "LAST(s)", "LAST({v}.d, 1)", "FINAL FIRST({v}.t)", "PREV(x)", "NEXT({v}.s, 1)", "CLASSIFIER()", "MATCH_NUMBER()",
    "count(*)", "count({v}.y)", "sum({v}.x)", "avg(y)", "LAST(x) - FIRST(x)", "LAST(t) - FIRST(t)", "CLASSIFIER({v})", "RUNNING sum(y)",
    "FINAL LAST(f)", "LAST({v}.d) / 2", "'a'", "PREV(CLASSIFIER())", "FIRST({v}.x) IS NULL", "x > y", "FINAL count({v}.*)", "LAST(q)",
    "max({v}.x)", "min(s)", "avg({v}.d)", "sum(d)", "RUNNING max(d)", "FINAL min({v}.t)", "count_if({v}.x > 1)", "array_agg({v}.x)",
    "CASE WHEN x > 1 THEN s ELSE 'none' END", "upper(s)", "round(d, 1)", "date_diff('millisecond', FIRST(t), t)", "max(m)", "sum({v}.m)",
    "avg(m)", "min_by(x, d)", "s || CLASSIFIER()", "count(DISTINCT x)", "max(f)", "sum(x) + max(y)", "6 / (x - 1)", "max({v}.u)", "m * 2",
    "FINAL LAST(m) - FIRST(m)", "avg(x) > 1.5", "stddev(d)", "COALESCE(LAST({v}.s), 'no')", "LAST({v}.m, 1) + 1", "listagg(s, '-')",
    "sum({v}.y * {v}.x)", "max({v}.d + {v}.x)", "u", "min(u)", "CAST(m AS double)", "m / 3", "CLASSIFIER() || 'x'", "FINAL avg(y)",
    "RUNNING sum({v}.d)", "max(CASE WHEN {v}.x > 1 THEN {v}.y END)", "substr(s, x)", "LAST(x) % 2 = 0", "sum(q)", "max(q) > 0.5",
)  # fmt: skip
PATTERNS = (
    "A B+ C", "A B* C?", "(A | B)+ C", "A+ B+", "A B C", "A{2,3} B", "^A B*", "A+? B", "(A B)+", "{- A -} B+ C", "A B? $",
    "PERMUTE(A, B)",
)  # fmt: skip


def drawn_table(chance: random.Random, count: int) -> pa.Table:
    def some(*values: Any) -> list[Any]:
        return [chance.choice(values) for _ in range(count)]

    start = datetime.datetime(2024, 1, 1)
    moments = [start + datetime.timedelta(seconds=place // 2) for place in range(count)]
    return pa.table({
        "g": pa.array(some("p", "q", None), pa.string()), "i": pa.array(range(count), pa.int64()),
        "t": pa.array(moments, pa.timestamp("ms")),
        "x": pa.array(some(1, 2, 3), pa.int32()), "y": pa.array(some(0, 1, 4, None), pa.int64()),
        "d": pa.array(some(0.25, 0.5, 1.5, None), pa.float64()), "s": pa.array(some("a", "b", "c", None), pa.string()),
        "f": pa.array(some(True, False, None), pa.bool_()), "q": pa.array(some(1, None), pa.decimal128(4, 1)),
        "m": pa.array(some(decimal.Decimal("0.25"), decimal.Decimal("-1.50"), decimal.Decimal("2.00"), None), pa.decimal128(9, 2)),
        "u": pa.array(some(start.date(), datetime.date(2024, 1, 2), None), pa.date32()),
    })  # fmt: skip


@pytest.mark.parametrize("compiled", [True, False])
def test_columns_of_all_types_give_the_same(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr(matching, "_loop", lambda: None)
        monkeypatch.setattr(running, "_loop", lambda: None)
    Counting.taken = 0
    for seed in range(300 if compiled else 50):
        chance = random.Random(seed)
        table = drawn_table(chance, chance.randint(1, 40))
        pattern = chance.choice(PATTERNS)
        labels = [label for label in "ABC" if label in pattern]
        measures = ", ".join(
            f"{chance.choice(MEASURES).format(v=chance.choice(labels))} AS m{place}" for place in range(chance.randint(1, 4))
        )
        defines = ", ".join(f"{label} AS {chance.choice(CONDITIONS).format(o=label)}" for label in labels if chance.random() < 0.8)
        skip = chance.choice(("", "AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP TO LAST B"))
        within = chance.choice(("", "", "WITHIN INTERVAL '4' SECOND"))
        key = chance.choice(("PARTITION BY g ", "PARTITION BY g, x ", "PARTITION BY m ", ""))
        order = "t, i" if within else chance.choice(("i", "i DESC", "y NULLS FIRST, i", "s DESC, i", "d, i DESC", "m, i"))
        rows = chance.choice(("", "ALL ROWS PER MATCH"))
        text = (
            f"SELECT * FROM t MATCH_RECOGNIZE ({key}ORDER BY {order} MEASURES {measures} {rows} {skip} PATTERN ({pattern}) {within} "
            f"DEFINE {defines or 'A AS true'})"
        )
        expected, given = both(text, table)
        assert given == expected, (seed, text, table.to_pylist())
    assert Counting.taken > (180 if compiled else 25)


def test_selects_around_the_clause_are_columns_too() -> None:
    count = 5000
    table = pa.table({"i": np.arange(count), "x": np.arange(count) % 7})
    clause = "MATCH_RECOGNIZE (ORDER BY i MEASURES FIRST(i) AS a, LAST(x) AS b PATTERN (A B+) DEFINE B AS x > PREV(x))"
    for text in (
        f"SELECT b, a + 1 AS c FROM (SELECT i, x FROM t WHERE x <> 3) {clause} WHERE b > 5",
        f"SELECT m.b, m.a FROM t {clause} AS m LIMIT 10",
    ):
        Counting.taken = 0
        expected, given = both(text, table)
        assert given == expected
        assert Counting.taken == 1


SELECTED = (
    "x", "s", "d", "t", "f", "q", "x + y", "x * 2 - y", "d / 2", "x > y", "s = 'b'", "d IS NULL", "t + INTERVAL '2' SECOND", "x % 2",
    "d / x", "y / (x - 1)", "'a'", "CAST(x AS double)", "upper(s)", "coalesce(y, 7)", "x IN (1, y)", "NULL", "abs(d)", "i - x",
    "sum(x)", "case when x > 1 then s end",
)  # fmt: skip
WHERE = ("", *(f" WHERE {each}" for each in (
    "x > 1", "s >= 'b' OR y IS NULL", "f", "NOT f", "d BETWEEN 0.3 AND 1", "y IN (1, 4)", "t > TIMESTAMP '2024-01-01 00:00:05'",
    "10 / (x - 2) > 1", "s LIKE 'a%'", "x = y AND d > 0.2", "q = 1", "NULL", "s > 'a' AND s < 'c'",
)))  # fmt: skip


def test_selects_without_a_clause_give_the_same() -> None:
    Counting.taken = 0
    for seed in range(300):
        chance = random.Random(seed)
        table = drawn_table(chance, chance.choice((0, 1, 7, 40)))
        shown = ", ".join(f"{chance.choice(SELECTED)} AS c{place}" for place in range(chance.randint(1, 3)))
        inner = chance.choice(("t", "(SELECT * FROM t WHERE x < 3) AS u", "(SELECT i + 1 AS i, x, y, d, s, f, t, q FROM t LIMIT 9) AS u"))
        end = chance.choice(("", "", " LIMIT 3", " OFFSET 2", " ORDER BY 1"))
        text = f"SELECT {shown} FROM {inner}{chance.choice(WHERE)}{end}"
        expected, given = both(text, table)
        assert given == expected, (seed, text, table.to_pylist())
    assert Counting.taken > 100, Counting.taken
    for condition in ("d > 0.2 AND x < 2.5", "d > CAST('x' AS double)", "d > CAST(NULL AS double)"):
        text = f"SELECT *, x + 1 AS z FROM t WHERE {condition}"
        expected, given = both(text, table)
        assert given == expected, text


@pytest.mark.parametrize("pattern", ["(A*)* C", "((A | B)+)+ C", "(A?){5} C", "A+ C"])
def test_room_for_matches_grows(pattern: str) -> None:
    """Matches that overlap have more rows than the table; ways that are tried later are kept on a stack that grows."""
    table = pa.table({"i": np.arange(600)})
    text = (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY i MEASURES FIRST(i) AS a, count(*) AS n AFTER MATCH SKIP TO NEXT ROW "
        f"PATTERN ({pattern}) DEFINE A AS i < 599, C AS i = 599)"
    )
    expected, given = both(text, table)
    assert given == expected


def test_what_may_fail_is_left_to_the_rows() -> None:
    """A row that no attempt reaches does not fail."""
    table = pa.table({"i": [1, 2, 3], "x": [1, 1, 0]})
    clause = "ORDER BY i MEASURES count(*) AS n PATTERN (^A B) DEFINE A AS x = 1, B AS 5 / x = 5"
    assert both(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", table)[1][1] == ["{'n': 2}"]
