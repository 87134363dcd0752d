"""``Runtime.sql``: a query in a SQL dialect over tables."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import runtime
from epl.errors import EplError, EplRuntimeError, EplUnsupportedError, EplValidationError
from runtime import Runtime
from runtime.cli import main
from tests.calls import calls

PRICES = pa.table({"symbol": ["A"] * 6 + ["B"] * 3, "ts": [1, 2, 3, 4, 5, 6, 1, 2, 3], "price": [10, 8, 7, 9, 12, 11, 5, 6, 7]})
V_SHAPE = """
    SELECT * FROM prices MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY ts
        MEASURES STRT.price AS start_price, LAST(DOWN.price) AS bottom, LAST(UP.price) AS top
        PATTERN (STRT DOWN+ UP+)
        DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))
"""


def rows(text: str, **tables: Any) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in Runtime.sql(text, tables).columns]
    return list(zip(*columns))


def test_a_table_in_a_table_out() -> None:
    result = Runtime.sql(V_SHAPE, {"prices": PRICES})
    assert result.schema.names == ["symbol", "start_price", "bottom", "top"]
    assert result.to_pylist() == [{"symbol": "A", "start_price": 10, "bottom": 7, "top": 12}]
    assert runtime.sql(V_SHAPE, {"prices": PRICES}).equals(result)


def test_pandas_and_polars_frames_are_tables() -> None:
    expected = Runtime.sql(V_SHAPE, {"prices": PRICES}).to_pylist()
    assert Runtime.sql(V_SHAPE, {"prices": PRICES.to_pandas()}).to_pylist() == expected
    polars = pytest.importorskip("polars")
    assert Runtime.sql(V_SHAPE, {"prices": polars.from_arrow(PRICES)}).to_pylist() == expected
    with pytest.raises(EplRuntimeError, match="a table is an Arrow table, or a pandas or Polars frame, not list"):
        Runtime.sql("SELECT * FROM t", {"t": [1]})


def test_nulls_times_and_decimals_keep_their_types() -> None:
    frame = pd.DataFrame({"t": pd.to_datetime(["2024-01-01 10:00:00.5", None]), "x": [1.5, None]})
    result = Runtime.sql("SELECT t, x, x * 2 AS y, t + INTERVAL '1' DAY AS u, CAST(x AS decimal(5,2)) AS d FROM f", {"f": frame})
    assert result.schema.field("t").type == pa.timestamp("us")
    assert result.schema.field("d").type == pa.decimal128(5, 2)
    assert [str(value) for value in result.column("u").to_pylist()] == ["2024-01-02 10:00:00.500000", "None"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT symbol, count(*), sum(price) FROM p GROUP BY symbol ORDER BY 2 DESC", [("A", 6, 57), ("B", 3, 18)]),
        ("SELECT symbol FROM p GROUP BY symbol HAVING max(price) > 10", [("A",)]),
        ("SELECT DISTINCT symbol FROM p WHERE price BETWEEN 7 AND 9 ORDER BY symbol DESC LIMIT 1", [("B",)]),
        ("SELECT a.price, b.price FROM p a JOIN p b ON a.ts = b.ts AND a.symbol < b.symbol WHERE a.ts < 3", [(10, 5), (8, 6)]),
        ("WITH q(x) AS (SELECT price FROM p WHERE symbol = 'B') SELECT x + 1 FROM q UNION ALL VALUES 0", [(6,), (7,), (8,), (0,)]),
        ("SELECT CASE WHEN price > 6 THEN 'high' ELSE 'low' END FROM p WHERE symbol = 'B'", [("low",), ("low",), ("high",)]),
        ("SELECT 7 / 2, 7 / 2e0, -7 % 3, 'a' || 'b', coalesce(null, 2), 1 IN (2, null)", [(3, 3.5, -1, "ab", 2, None)]),
        ("SELECT m.n FROM (SELECT n FROM p MATCH_RECOGNIZE (ORDER BY ts MEASURES MATCH_NUMBER() AS n PATTERN (A) DEFINE A AS true)) "
         "MATCH_RECOGNIZE (ORDER BY n MEASURES count(*) AS n PATTERN (A+) DEFINE A AS true) AS m", [(9,)]),
    ],
)  # fmt: skip
def test_the_clause_is_a_table_among_others(text: str, expected: list[tuple[Any, ...]]) -> None:
    assert rows(text, p=PRICES) == expected


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("SELECT nope FROM p", (1, 8), "Column 'nope' cannot be resolved"),
        ("SELECT * FROM q", (1, 15), "Table 'q' does not exist"),
        ("SELECT price FROM p GROUP BY symbol", (1, 8), "'price' must be an aggregate expression or appear in GROUP BY clause"),
        ("SELECT * FROM p WHERE price", (1, 23), "WHERE clause must evaluate to a boolean: actual type bigint"),
        ("SELECT 1\nFROM p MATCH_RECOGNIZE (MEASURES Z.price AS x PATTERN (A) DEFINE A AS true)", (2, 34), "Column 'z.price' cannot be"),
        ("SELECT * FROM p MATCH_RECOGNIZE (MEASURES 1 AS x PATTERN (A) DEFINE B AS true)", (1, 69), "defined variable: B is not a primary"),
        ("SELECT * FROM p MATCH_RECOGNIZE (MEASURES 1 AS x PATTERN (A) DEFINE A AS 1)", (1, 74), "Expression defining a label must be"),
        ("SELECT * FROM p MATCH_RECOGNIZE (PATTERN (A))", (1, 45), "mismatched input ')'. Expecting: 'DEFINE'"),
    ],
)
def test_refusals_have_trinos_words_and_a_position(text: str, place: tuple[int, int], words: str) -> None:
    with pytest.raises(EplValidationError) as caught:
        Runtime.sql(text, {"p": PRICES})
    assert caught.value.position == place
    assert caught.value.message.startswith(words)
    assert "^" in str(caught.value)


def test_windows_are_refused_by_name() -> None:
    over = "(ROWS BETWEEN CURRENT ROW AND 5 FOLLOWING PATTERN (A+) DEFINE A AS true)"
    with pytest.raises(EplUnsupportedError, match="row pattern recognition in windows is not supported"):
        Runtime.sql(f"SELECT count(price) OVER {over} FROM p", {"p": PRICES})
    with pytest.raises(EplUnsupportedError, match="window functions are not supported"):
        Runtime.sql("SELECT sum(price) OVER (ORDER BY ts) FROM p", {"p": PRICES})


def test_within_is_less_than_the_interval() -> None:
    table = pa.table({"t": pa.array([0, 1000, 2000, 5000], pa.timestamp("ms")), "x": [1, 2, 3, 4]})
    clause = "ORDER BY t MEASURES A.x AS a, B.x AS b PATTERN (A B) WITHIN INTERVAL '3' SECOND DEFINE A AS true"
    text = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    assert rows(text, t=table) == [(1, 2)]
    with pytest.raises(EplValidationError, match="WITHIN needs ORDER BY with a time as its first key"):
        rows(text.replace("ORDER BY t", "ORDER BY x"), t=table)
    for span in ("'0' SECOND", "-'1' SECOND", "'-1' SECOND", "'-1 00:00:01' DAY TO SECOND"):
        with pytest.raises(EplValidationError, match="WITHIN needs an interval of more than zero"):
            rows(text.replace("'3' SECOND", span), t=table)


def test_within_of_flink_refuses_a_minus_before_the_text_alone() -> None:
    """As Flink 2.2.0: what is negative or zero within the text sets no limit."""
    table = pa.table({"t": pa.array([0, 1000], pa.timestamp("ms")), "x": [1, 2]})
    clause = "ORDER BY t MEASURES A.x AS a, B.x AS b PATTERN (A B) WITHIN INTERVAL {} DEFINE A AS A.x > 0"
    text = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    with pytest.raises(EplValidationError, match="Interval must be non-negative '1'"):
        Runtime.sql(text.format("-'1' SECOND"), {"t": table}, dialect="flink")
    for span, matches in (("'-1' SECOND", 1), ("'0' SECOND", 1), ("'1' SECOND", 0)):
        assert Runtime.sql(text.format(span), {"t": table}, dialect="flink").num_rows == matches


def test_times_finer_than_microseconds_are_refused() -> None:
    """They would lose their order in silence."""
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES LAST(A.x) AS x PATTERN (A+) DEFINE A AS A.x > 0)"
    table = pa.table({"t": pa.array([1000, 1500], pa.timestamp("ns")), "x": [1, 2]})
    with pytest.raises(EplRuntimeError, match=r"timestamp\[ns\] has values finer than a microsecond"):
        rows(text, t=table)
    assert rows(text, t=pa.table({"t": pa.array([1000, 2000], pa.timestamp("ns")), "x": [1, 2]})) == [(2,)]


@pytest.mark.parametrize("skip", ["TO FIRST A", "TO LAST B"])
def test_skips_that_go_nowhere_fail(skip: str) -> None:
    text = f"SELECT * FROM p MATCH_RECOGNIZE (MEASURES 1 AS x AFTER MATCH SKIP {skip} PATTERN (A B?) DEFINE B AS false)"
    with pytest.raises(EplRuntimeError, match="AFTER MATCH SKIP failed"):
        rows(text, p=PRICES)


@pytest.mark.parametrize("pattern", ["(A*)*", "(A*)* B", "((A | B)+)+ C", "(A?){20} A{20} C", "(A | A | A)* C"])
def test_ambiguous_patterns_over_rows_alone_take_no_longer(pattern: str) -> None:
    table = pa.table({"x": list(range(300))})
    names = sorted({sign for sign in pattern if sign in "ABC"})
    define = f"{names[-1]} AS x = {298 if len(names) > 1 else 'x'}"
    with calls(most=1_000_000):
        rows(f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES count(*) AS n PATTERN ({pattern}) DEFINE {define})", t=table)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(A | B)* C", "the row pattern is ambiguous: one match needs more than"),
        ("PERMUTE(A, B, A, B, A, B, A, B, A, B)", "PERMUTE of 10 parts has more than"),
        ("A{1000000}", "the row pattern needs more than 100000 instructions"),
    ],
)
def test_patterns_that_explode_end_in_an_error(pattern: str, words: str) -> None:
    table = pa.table({"x": [2**k for k in range(40)]})
    text = (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES count(*) AS n "
        f"PATTERN ({pattern} C) DEFINE C AS sum(A.x) = -1 AND array_agg(CLASSIFIER()) = ARRAY['C'])"
    )
    from runtime.dialects.sql import run_query

    with pytest.raises(EplError, match=words):
        run_query(text, {"t": table}, most_visits=100_000)


@pytest.mark.parametrize(
    ("before", "after", "times"), [("(", ")", 500), ("1 + ", "", 5000), ("- ", "", 3000), ("(SELECT ", ")", 300), ("NOT ", "", 5000)]
)
def test_texts_that_are_nested_too_deeply_are_refused(before: str, after: str, times: int) -> None:
    with pytest.raises(EplError, match="statement is too large"):
        Runtime.sql(f"SELECT {before * times}1{after * times}", {})


def test_unknown_dialects_are_refused() -> None:
    with pytest.raises(EplRuntimeError, match="there is no dialect 'oracle'"):
        Runtime.sql("SELECT 1", {}, dialect="oracle")


def test_replay_writes_actual_beside_each_case(tmp_path: pathlib.Path) -> None:
    table = {"columns": ["x"], "types": ["integer"], "rows": [[1], [2]]}
    cases = [
        {"id": "a", "dialect": "sql", "tables": {"t": table}, "sql": "SELECT x AS y FROM t", "expect": {"rows": []}},
        {"id": "b", "dialect": "sql", "tables": {"t": table}, "sql": "SELECT\n nope FROM t", "expect": {"error": {}}},
        {"id": "c", "dialect": "sql", "tables": {}, "sql": "SELECT a FROM elsewhere", "expect": {"ok": True}},
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    assert main(["replay", str(tmp_path / "in"), "--out", str(tmp_path / "out")]) == 0
    written = json.loads((tmp_path / "out" / "cases.json").read_text(encoding="utf-8"))
    assert [case["id"] for case in written] == ["a", "b", "c"]
    assert written[0]["actual"] == {"columns": ["y"], "rows": [[1], [2]]}
    assert written[1]["actual"]["error"] == {"code": "COLUMN_NOT_FOUND", "message": "line 2:2: Column 'nope' cannot be resolved"}
    assert written[2]["actual"]["ok"] is True
