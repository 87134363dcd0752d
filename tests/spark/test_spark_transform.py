"""Batch DataFrames in, DataFrames out."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from runtime import EplError, EplRuntimeError, EplSyntaxError, EplUnsupportedError, Runtime
from runtime.spark import transform

pytestmark = pytest.mark.spark

SUMS = "@name('s') select k as k, sum(v) as total from T#length(3) group by k"


def dicts(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """400 rows in 4 partitions, in no order of time."""
    return spark.range(0, 400, 1, 4).selectExpr("(id * 37) % 400 as ts", "concat('k', id % 3) as k", "cast(id as int) as v")


def test_it_equals_send_batch(rows: DataFrame) -> None:
    with Runtime() as runtime:
        runtime.register("T", {"ts": int, "k": str, "v": "int"})
        expected: list[dict[str, Any]] = []
        runtime.deploy(SUMS, listeners={"s": lambda new, old, s, r: expected.extend(n.to_dict() for n in new)})
        runtime.send_batch("T", rows.toArrow(), time="ts")
    result = transform(SUMS, {"T": rows}, "s", time="ts")
    assert result.dtypes == [("k", "string"), ("total", "int")]
    assert dicts(result) == expected and len(expected) >= 400
    assert dicts(rows.transform(transform(SUMS, statement="s", time="ts"))) == expected
    assert dicts(rows.transform(lambda frame: transform(SUMS, {"T": frame}, time="ts"))) == expected


def test_several_sources_are_merged_and_patterns_span_them(spark: SparkSession) -> None:
    epl = """
        insert into Both select 'a' as src, x as x from A;
        insert into Both select 'b' as src, x as x from B;
        @name('s') select * from Both match_recognize (
          measures a.x as ax, b.x as bx pattern (a b) define a as a.src = 'a', b as b.src = 'b')"""
    a = spark.createDataFrame([(n, n * 2) for n in range(50)], "x int, ts bigint")
    b = spark.createDataFrame([(n, n * 4 + 1) for n in range(25)], "x int, when bigint")
    found = dicts(transform(epl, {"A": a, "B": b}, "s", time={"A": "ts", "B": "when"}))
    assert found == [{"ax": 2 * n, "bx": n} for n in range(25)]


def test_rows_of_equal_time_keep_their_place_unless_there_is_a_sequence(spark: SparkSession) -> None:
    frame = spark.range(0, 100, 1, 4).selectExpr("id as i", "100 - id as n", "id div 50 as ts")
    for epl in ("@name('s') select i as i from T#length(3)", "@name('s') select i as i from T"):
        in_one: dict[str, Any] = {} if "#" in epl else {"distribute": "never"}
        assert [r["i"] for r in dicts(transform(epl, {"T": frame}, time="ts", **in_one))] == list(range(100))
        assert [r["i"] for r in dicts(transform(epl, {"T": frame}, **in_one))] == list(range(100)), "no time: in place"
        expected = [*range(49, -1, -1), *range(99, 49, -1)]
        assert [r["i"] for r in dicts(transform(epl, {"T": frame}, time="ts", sequence="n", **in_one))] == expected


ALL = """
    named_struct('i', 1, 's', 'x') as st, array(1, null) as ar, map('k', cast(1 as bigint)) as mp, cast(1.5 as decimal(10, 2)) as de,
    timestamp'2020-01-01 00:00:00.5+02:00' as ts, timestamp_ntz'2020-01-01 00:00:00.5' as nz, date'2020-02-29' as da, true as bo,
    cast(1 as tinyint) as by, cast(2 as smallint) as sh, 3 as it, cast(4 as bigint) as lo, cast(0.5 as float) as fl, 0.1d as db, 'é' as tx,
    array(named_struct('d', date'2020-01-01')) as es
"""


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_columns_of_every_type_come_back_in_any_time_zone(spark: SparkSession, zone: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = spark.sql(f"select {ALL}")
        empty = [f"nullif({name}, {name}) as {name}" for name in frame.columns if name != "mp"]
        nulls = frame.selectExpr(*empty, "cast(null as map<string,bigint>) as mp")
        both = frame.unionByName(nulls)
        result = transform("@name('s') select * from T", {"T": both}, time="ts", on_late="keep")
        assert [t for t in result.dtypes if t[0] != "de"] == [t for t in frame.dtypes if t[0] != "de"]
        assert result.schema["de"].dataType.simpleString() == "decimal(38,18)"
        found, expected = (sorted(dicts(f), key=lambda row: row["it"] is None) for f in (result, both))
        assert found == expected and found[1]["st"] is None
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_engine_time_of_timestamps_knows_no_session_time_zone(spark: SparkSession, zone: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = spark.sql("select timestamp'2020-03-08 02:30:00.0019+00:00' as a, timestamp_ntz'2020-03-08 02:30:00.0019' as b")
        at = datetime.datetime(2020, 3, 8, 2, 30, 0, 1000, datetime.timezone.utc)
        for column in ("a", "b"):
            result = dicts(transform("@name('s') select current_timestamp() as t from T", {"T": frame}, time=column))
            assert result == [{"t": int(at.timestamp() * 1000)}]
        declared = "create schema T(a long, b long); @name('s') select a, b from T"
        assert dicts(transform(declared, {"T": frame})) == [{"a": int(at.timestamp() * 1000)} | {"b": int(at.timestamp() * 1000)}]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_values_that_spark_has_no_type_for(spark: SparkSession) -> None:
    epl = """create schema T(o Object, b BigInteger, t LocalTime, d BigDecimal);
        @name('s') select o, b, t, d from T"""
    frame = spark.sql("select 'text' as o, cast(7 as decimal(20, 0)) as b, '10:20:30.5' as t, 2.50 as d")
    result = transform(epl, {"T": frame})
    assert result.dtypes == [("o", "string"), ("b", "decimal(38,0)"), ("t", "string"), ("d", "decimal(38,18)")]
    assert dicts(result) == [{"o": "text", "b": Decimal(7), "t": "10:20:30.500000", "d": Decimal("2.5")}]


def test_the_clock_starts_at_the_first_row_and_walks_on_to_until(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1_700_000_000_000,), (1_700_000_000_500,)], "ts bigint")
    epl = "@name('s') select count(*) as c from T#time_batch(1 sec)"
    assert dicts(transform(epl, {"T": frame}, time="ts")) == []
    end = datetime.datetime(2023, 11, 14, 22, 13, 21, tzinfo=datetime.timezone.utc)
    for until in (1_700_000_001_000, end, end.replace(tzinfo=None), end.astimezone(datetime.timezone(datetime.timedelta(hours=2)))):
        assert dicts(transform(epl, {"T": frame}, time="ts", until=until)) == [{"c": 2}]


def test_functions_and_the_choice_of_statement(rows: DataFrame) -> None:
    def half(value: int) -> float:
        return value / 2

    epl = "@name('first') select half(v) as h from T(v = 5); @name('second') select v from T(v < 3)"
    assert dicts(transform(epl, {"T": rows}, "first", time="ts", functions={"half": half})) == [{"h": 2.5}]
    assert sorted(r["v"] for r in dicts(transform(epl, {"T": rows}, "second", functions={"half": half}))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("epl", "options", "error", "message"),
    [
        ("select from T", {}, EplSyntaxError, "Incorrect syntax near"),
        ("@name('s') select nothing from T", {}, EplError, "nothing"),
        ("@name('s') select v from T", {"statement": "t"}, EplRuntimeError, "no statement named 't'; there are s"),
        ("@name('a') select v from T; @name('b') select v from T", {}, EplRuntimeError, "2 statements have output: a, b"),
        ("@name('s') select v from T", {"time": "nowhere"}, EplRuntimeError, "the source has no column 'nowhere'"),
        ("create schema T(w int); @name('s') select w from T", {}, EplRuntimeError, "Event type 'T': the source has no column 'w'"),
        ("@name('s') select v from T", {"on_late": "lose"}, EplRuntimeError, "on_late is one of refuse, drop, side, keep, not 'lose'"),
        ("@name('s') select v from T", {"distribute": "so"}, EplRuntimeError, "distribute is one of auto, always, never, not 'so'"),
        ("@name('s') select v from T", {"shards": 0}, EplRuntimeError, "shards is a number of engines, not 0"),
        (
            "@name('s') select v from T#length(5)", {"distribute": "always"}, EplUnsupportedError,
            "statement 's' cannot be spread: not at all: the window #length of statement 's'",
        ),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(
    rows: DataFrame, epl: str, options: dict[str, Any], error: type[EplError], message: str
) -> None:
    with pytest.raises(error, match=message):
        transform(epl, {"T": rows}, **options)


def test_the_type_of_a_single_frame_must_be_clear(rows: DataFrame) -> None:
    epl = "insert into U select v as v from T; @name('s') select v as v from U(v < 2)"
    assert sorted(r["v"] for r in dicts(rows.transform(transform(epl, statement="s")))) == [0, 1]
    two = "@name('a') select v from T; @name('s') select v from U"
    with pytest.raises(EplRuntimeError, match="The module reads 2 event types: T, U"):
        transform(two, statement="s")


def test_a_fault_in_a_row_fails_the_job_and_names_it(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 5), (2**40, 6)], "v bigint, ts bigint")
    result = transform("create schema T(v int); @name('s') select v from T", {"T": frame}, time="ts")
    with pytest.raises(PySparkException, match=r"property 'v' is declared Integer and cannot hold 1099511627776 \(int\) of row \d"):
        result.collect()


def test_no_rows_no_output(spark: SparkSession) -> None:
    assert dicts(transform(SUMS, {"T": spark.sql("select 1L as ts, 'a' as k, 1 as v").limit(0)}, time="ts", until=5)) == []


def test_a_stream_and_a_batch_do_not_go_together(spark: SparkSession, rows: DataFrame) -> None:
    stream = spark.readStream.format("rate").load()
    with pytest.raises(EplRuntimeError, match="Source 'U' is not a streaming DataFrame"):
        transform("select * from T; @name('s') select * from U", {"T": stream, "U": rows}, "s")


def test_arrow_schema_of_an_empty_result(rows: DataFrame) -> None:
    result = transform("@name('s') select v from T(v < 0)", {"T": rows}).toArrow()
    assert result.schema.field("v").type == pa.int32() and result.num_rows == 0
