"""What Spark is asked to leave out is never wanted; what it may leave out it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from runtime import Runtime
from runtime.spark import start, transform
from runtime.spark.pushdown import read_condition, take
from runtime.spark.sources import Sources, merge, merged_column

pytestmark = pytest.mark.spark

NAN = float("nan")
ROWS: list[dict[str, Any]] = [
    {"k": k, "v": v, "p": p, "d": d, "b": b, "ts": n}
    for n, (k, v, p, d, b) in enumerate(
        (k, v, p, d, b)
        for k in ("a", "b", None) for v in (0, 5, None) for p in (0, 7, None) for d in (1.5, -0.0, NAN, None) for b in (True, None)
    )
]
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("p", pa.int32()), ("d", pa.float64()), ("b", pa.bool_()), ("ts", pa.int64())])
FILTERS = {
    "v > 3": True, "v >= 3 and d < 2": True, "k = 'a'": True, "k in ('a', 'c')": True, "d > 1": True, "not (d > 1)": False, "p < 3": True,
    "p = 0": True, "b": False, "b = true": True, "v between 2 and 6": True, "v in [2:6]": True,
    "v between 6 and 2": False, "v > d": True, "v is null": False,
    "k != 'a'": False, "v > 3 or k = 'b'": True,
    "v > 3 or k like 'b%'": False, "v > 3 and k like 'b%'": True, "ts = 5L": True,
    "ts > 50": True, "3 < v": True, "d = 0": False, "d <= 0": True, "d >= d": True, "1 = 2": False, "v = 5 and 1 = 2": True,
    "k in ('a', 'a')": True, "k in ('a', 'a') and v in (5, 5)": True,
}
"""Conditions, and whether any of it is pushed down."""


def arrived(runtime: Runtime, frame: DataFrame, **columns: str) -> tuple[list[int], int | None]:
    sources = Sources.of((runtime.event_type("T"),), columns.get("time"), None)
    merged = merge({"T": frame}, sources, False, False)
    plans = [s.plan for d in runtime.deployments.values() for s in d]
    rows, newest = take(merged, read_condition(plans, sources.types))
    places = [row[merged_column(0, "ts")] for row in rows.collect()]
    return sorted(places), newest()


@pytest.mark.parametrize("condition", list(FILTERS))
def test_no_wanted_row_is_left_out(spark: SparkSession, condition: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA))
    found: list[int] = []
    with Runtime() as runtime:
        runtime.deploy(
            "@public @buseventtype create schema T(k string, v int, p int, d double, b boolean, ts long);"
            f"@name('s') select ts from T({condition})"
        )
        runtime.statement("s").add_listener(lambda new, old, s, r: found.extend(row["ts"] for row in new))
        runtime.send_batch("T", pa.Table.from_pylist(ROWS, SCHEMA), time="ts")
        came, newest = arrived(runtime, frame, time="ts")
    assert set(found) <= set(came), condition
    assert (len(came) < len(ROWS)) is FILTERS[condition], condition
    assert newest == (ROWS[-1]["ts"] if FILTERS[condition] else None)


SAID = {
    "v > 3", "v >= 3 and d < 2", "k = 'a'", "k in ('a', 'c')", "d > 1", "p < 3", "p = 0", "b = true", "v > d", "v > 3 or k = 'b'",
    "ts = 5L", "ts > 50", "3 < v", "d <= 0", "d >= d", "v between 2 and 6", "v in [2:6]",
}
"""Conditions that Spark says to the last bit."""
DECLARED = "create schema T(k string, v int, p int, d double, b boolean, ts long);"


def has_python(frame: DataFrame) -> bool:
    """Whether Spark's plan goes through Python."""
    return "MapInArrow" in frame._jdf.queryExecution().toString()  # type: ignore[operator]


@pytest.mark.parametrize("condition", list(FILTERS))
def test_filters_in_sparks_own_terms_take_what_the_engine_takes(spark: SparkSession, condition: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA))
    expected: list[Any] = []
    with Runtime() as runtime:
        runtime.deploy("@public @buseventtype " + DECLARED + f"@name('s') select ts as n, d, k from T({condition})")
        runtime.statement("s").add_listener(lambda new, old, s, r: expected.extend((row["n"], row["d"], row["k"]) for row in new))
        runtime.send_batch("T", pa.Table.from_pylist(ROWS, SCHEMA), time="ts")
    epl = DECLARED + f"@name('s') select ts as n, d, k from T({condition})"
    said = transform(epl, {"T": frame}, time="ts")
    through = transform(epl, {"T": frame}, time="ts", distribute="never")
    assert has_python(through) and has_python(said) is (condition not in SAID), condition
    for result in (said, through):
        assert sorted(map(repr, map(tuple, result.collect()))) == sorted(map(repr, expected)), condition


def test_files_are_asked_for_the_rows_of_a_filter_alone(spark: SparkSession, tmp_path: Any) -> None:
    spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA)).write.parquet(str(tmp_path / "rows"))
    found = transform("select k, v from T(v > 3)", {"T": spark.read.parquet(str(tmp_path / "rows"))}, time="ts")
    plan = found._jdf.queryExecution().executedPlan().toString()  # type: ignore[operator]
    assert "GreaterThan(v,3)" in plan.partition("PushedFilters: [")[2].partition("]")[0], plan


def test_what_spark_says_itself(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA))
    yes = ["select * from T", "select k, k as again from T(v = 1)", "select istream * from T where p > 1"]
    no = ["select v + 1 as w from T", "select distinct k from T", "select count(*) as c from T", "select * from T#length(2)",
          "select k from T output every 2 events", "select * from T(v in (1, p + 1))", "select k from T order by k"]
    for text in (*yes, *no):
        assert has_python(transform(DECLARED + text, {"T": frame})) is (text in no), text
    wide = transform("create schema T(k string, v long); select k, v from T", {"T": frame})
    assert has_python(wide) and wide.dtypes == [("k", "string"), ("v", "bigint")], "a column that is not the property's"
    two = transform(DECLARED + "insert into U select k as j from T(v > 3); @name('s') select * from U", {"T": frame}, "s")
    assert has_python(two), "a statement that reads what another one makes"


def test_what_spark_compares_otherwise(spark: SparkSession) -> None:
    """A collation takes more strings as equal; beside a float a whole number is a float to Spark."""
    collated = spark.sql("select * from values ('a', 1), ('A', 2) as t(k, v)").selectExpr("k collate UTF8_LCASE as k", "v")
    for text in ("select v from T(k = 'a')", "select v from T(k in ('a', 'b'))", "select v from T(k = 'a' and v < 3)"):
        result = transform("create schema T(k string, v int);" + text, {"T": collated})
        assert has_python(result) and [row.v for row in result.collect()] == [1], text
    floats = spark.sql("select cast(16777216 as float) as d, 1 as v")
    for condition, found in (("d < 16777217", [1]), ("d >= 16777217", []), ("d > 16777215", [1])):
        result = transform(f"create schema T(d double, v int); select v from T({condition})", {"T": floats})
        assert [row.v for row in result.collect()] == found, condition


def test_unwanted_rows_of_stateful_statements_tell_the_time_alone(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA))
    epl = DECLARED + "@name('s') select k, count(*) as c from T(v = 5)#time(20 msec) group by k output snapshot every 10 msec"
    whole = [tuple(row) for row in transform(epl, {"T": frame}, time="ts", sequence="ts", distribute="never").collect()]
    expected: list[Any] = []
    with Runtime() as runtime:
        runtime.deploy("@public @buseventtype " + epl)
        runtime.statement("s").add_listener(lambda new, old, s, r: expected.extend((row["k"], row["c"]) for row in new))
        runtime.send_batch("T", pa.Table.from_pylist(ROWS, SCHEMA), time="ts")
    assert len(expected) > 5 and whole == expected


def test_primitive_properties_have_their_default_where_the_column_has_null(spark: SparkSession) -> None:
    import dataclasses

    @dataclasses.dataclass
    class T:
        v: int
        ts: int

    frame = spark.createDataFrame([(None, 0), (3, 1), (9, 2)], "v int, ts bigint")
    with Runtime() as runtime:
        runtime.register("T", T)
        runtime.deploy("@name('s') select ts from T(v < 5)")
        assert arrived(runtime, frame, time="ts") == (([0, 1], 2) if runtime.event_type("T").properties["v"].type.primitive else ([1], 2))  # type: ignore[union-attr]


def test_several_statements_want_what_any_of_them_wants(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA))
    with Runtime() as runtime:
        runtime.deploy("@public @buseventtype create schema T(k string, v int, p int, d double, b boolean, ts long)")
        assert arrived(runtime, frame)[0] == [], "nobody reads it"
        runtime.deploy("@name('a') select * from T(v > 3)")
        some = arrived(runtime, frame)[0]
        runtime.deploy("@name('b') select * from T(k = 'a')")
        more = arrived(runtime, frame)[0]
        runtime.deploy("@name('c') select count(*) from T")
        assert set(some) < set(more) and arrived(runtime, frame)[0] == [r["ts"] for r in ROWS]


def test_rows_that_nobody_wants_move_time(spark: SparkSession, stream: Callable[..., DataFrame]) -> None:
    heard: list[Any] = []
    rows = [{"k": "a", "v": 1, "n": n, "ts": ts} for n, ts in enumerate((1000, 1500))] + [{"k": "z", "v": 0, "n": 3, "ts": 90_000}]
    schema = pa.schema([("k", pa.string()), ("v", pa.int32()), ("n", pa.int64()), ("ts", pa.int64())])
    tables = [pa.Table.from_pylist(part, schema) for part in (rows[:2], rows[2:])]
    with Runtime() as runtime:
        schema_of_t = "@public @buseventtype create schema T(k string, v int, n long, ts long);"
        runtime.deploy(schema_of_t + "@name('s') select rstream n from T(v = 1)#time(10)")
        runtime.statement("s").add_listener(lambda new, old, s, r: heard.append((r.now, [row["n"] for row in new])))
        job = start(runtime, {"T": stream("T", *tables)}, time="ts", sequence="n", trigger="availableNow")
        job.await_termination()
        assert runtime.now == 90_000 and job.progress.rows == 2
    assert heard == [(11_000, [0]), (11_500, [1])]
