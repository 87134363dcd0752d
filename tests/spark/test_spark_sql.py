"""Queries in a SQL dialect over batch DataFrames give what they give in process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from runtime import EplError, EplUnsupportedError, EplValidationError, Runtime
from runtime.dialects.limits import QueryLimits
from runtime.spark import sql, table_queries

pytestmark = pytest.mark.spark

CLAUSE = "MATCH_RECOGNIZE (PARTITION BY k{more} ORDER BY ts MEASURES {measures} {rows} PATTERN (A B+) DEFINE B AS B.v > PREV(B.v)) AS m"
MEASURES = "FIRST(A.ts) AS first_ts, LAST(B.v) AS top, COUNT(*) AS n, MATCH_NUMBER() AS number, CLASSIFIER() AS label"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(3)
    count = 2000
    keys = [f"k{key}" if key else None for key in rng.integers(0, 20, count)]
    moments = pa.array(np.arange(count) * 1000, pa.timestamp("us"))
    return pa.table({"k": keys, "g": rng.integers(0, 3, count), "ts": moments, "v": rng.uniform(0, 10, count)})


@pytest.fixture(scope="module")
def frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    return spark.createDataFrame(table).repartition(3)


def rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t " + CLAUSE.format(more="", measures=MEASURES, rows=""),
        "SELECT * FROM t " + CLAUSE.format(more=", g", measures=MEASURES, rows="ALL ROWS PER MATCH"),
        "SELECT m.top * 2 AS double_top, k FROM t " + CLAUSE.format(more="", measures=MEASURES, rows="") + " WHERE m.n > 2",
        "SELECT k, count(*) AS c, max(top) AS t FROM t " + CLAUSE.format(more="", measures=MEASURES, rows="") + " GROUP BY k",
        "SELECT top FROM t " + CLAUSE.format(more="", measures=MEASURES, rows="") + " ORDER BY top DESC LIMIT 5",
        "SELECT * FROM (SELECT k, ts, v + 1 AS v FROM t WHERE g <> 1) " + CLAUSE.format(more="", measures=MEASURES, rows=""),
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(v) AS x PATTERN (A B+) DEFINE B AS v > PREV(v))",
        "SELECT count(*) AS n FROM t WHERE v < 0",
    ],
)
def test_it_equals_the_query_in_process(frame: DataFrame, table: pa.Table, text: str) -> None:
    result = sql(text, {"t": frame})
    expected = Runtime.sql(text, {"t": table})
    assert [name for name, _ in result.dtypes] == expected.schema.names
    assert rows(result.toArrow()) == rows(expected)
    assert expected.num_rows


def test_partitions_that_come_in_many_batches_are_kept_whole(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks run in this process's children: the number of rows that they gather is given with the task."""
    table = pa.table({"k": [1, 1, None, None, None, 2, 2], "v": [1, 2, 3, 4, 5, 6, 7]})
    monkeypatch.setattr(table_queries, "LEAST_ROWS", 3)
    schemas = {"t": table.schema}
    text = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY v MEASURES count(*) AS n PATTERN (A+) DEFINE A AS true)"
    task = table_queries.TableTask(text, "sql", schemas, "t", QueryLimits(), table_queries.PART, (0,))
    parts = list(task._gather_tables([table.slice(place, 1).to_batches()[0] for place in range(7)], table.schema))
    assert [part.column("k").to_pylist() for part in parts] == [[1, 1], [None, None, None], [2, 2]]


def test_flinks_dialect(spark: SparkSession, table: pa.Table, frame: DataFrame) -> None:
    text = (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY ts MEASURES FIRST(A.v) AS a, B.v AS b "
        "PATTERN (A+? B) WITHIN INTERVAL '1' SECOND DEFINE A AS A.v < 1, B AS B.v > 9)"
    )
    result = sql(text, {"t": frame}, dialect="flink").toArrow()
    assert rows(result) == rows(Runtime.sql(text, {"t": table}, dialect="flink")) and result.num_rows


def test_refusals(spark: SparkSession, frame: DataFrame) -> None:
    with pytest.raises(EplValidationError, match="Column 'nope' cannot be resolved") as caught:
        sql("SELECT nope FROM t", {"t": frame})
    assert caught.value.position == (1, 8)
    with pytest.raises(EplUnsupportedError, match=r"a query over several tables \(t, u\) is not spread over tasks"):
        sql("SELECT * FROM t JOIN u ON t.k = u.k", {"t": frame, "u": frame})
    stream: Any = spark.readStream.format("rate").load()
    with pytest.raises(EplUnsupportedError, match="Source 't' is a stream"):
        sql("SELECT * FROM t", {"t": stream})
    failing = sql("SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k MEASURES 1 / 0 AS x PATTERN (A) DEFINE A AS true)", {"t": frame})
    with pytest.raises(Exception, match=r"partition \d+: Division by zero\s+at line 1 column 60\s"):
        failing.collect()
    theta = sql("SELECT count(*) AS c FROM t a JOIN t b ON a.v + b.v < 0", {"t": frame}, max_steps=1)
    with pytest.raises(Exception, match="the query needs more than 800001 steps"):
        theta.collect()
    with pytest.raises(ValueError, match="max_rows=0: expected a whole number of at least 1"):
        sql("SELECT * FROM t", {"t": frame}, max_rows=0)
    with pytest.raises(EplError, match="there is no dialect"):
        sql("SELECT * FROM t", {"t": frame}, dialect="oracle")


def test_columns_that_are_not_read_are_not_scanned_and_may_have_any_type(spark: SparkSession, table: pa.Table) -> None:
    text = "SELECT k, top FROM t " + CLAUSE.format(more="", measures=MEASURES, rows="")
    frame = spark.createDataFrame(table).selectExpr("*", "parse_json('1') as of_variant", "map('a', 1) as of_map")
    result = sql(text, {"t": frame})
    assert rows(result.toArrow()) == rows(Runtime.sql(text, {"t": table}))
    with pytest.raises(EplError, match="column 'of_map' of 't'"):
        sql("SELECT of_map FROM t", {"t": frame})
