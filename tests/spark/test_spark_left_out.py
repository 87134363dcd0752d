"""Rows that ``transform`` leaves out, in the same DataFrame as the statement's: late ones, ones without a time, ones from the future."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from epl.errors import EplRuntimeError
from runtime.spark import transform

pytestmark = pytest.mark.spark

FAR = int(time.time() * 1000) + 1_000_000_000
A = pa.schema([("k", pa.string()), ("v", pa.int32()), ("ts", pa.int64())])
B = pa.schema([("k", pa.string()), ("made", pa.timestamp("us", tz="UTC")), ("ts", pa.int64())])
WINDOW = """create schema A(k string, v int); create schema B(k string, made java.util.Date);
    @name('s') select k, sum(v) as s from A#time(100 sec) group by k;
    @name('other') select * from B"""


def table(schema: pa.Schema, *rows: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row)) for row in rows], schema)


def written(frame: DataFrame, folder: Path) -> list[dict[str, Any]]:
    """All rows of a stream, nested ones as dicts."""
    out = str(folder / "out")
    query = frame.writeStream.format("parquet").option("path", out).option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()
    return [row.asDict(recursive=True) for row in frame.sparkSession.read.parquet(out).collect()]


def of_statement(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "left_out"} for row in rows if row["left_out"] is None]


def left_out(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [row for row in rows if row["left_out"] is not None]
    assert all(value is None for row in found for name, value in row.items() if name != "left_out")
    return [{name: value for name, value in row["left_out"].items() if value is not None} for row in found]


@pytest.mark.parametrize("shards", [1, 2])
def test_late_rows_of_a_stream_stand_beside_the_statements(
    spark: SparkSession, folder: Callable[[str], Any], tmp_path: Path, shards: int
) -> None:
    first = [table(A, ("a", 1, 1000), ("b", 2, 1005)), table(A, ("a", 3, 1020)), table(A, ("a", 4, 1001), ("b", 5, None), ("b", 6, FAR))]
    frame = folder("a").add(*first, table(A, ("a", 7, 1030), ("b", 8, 1031))).frame()
    result = transform(
        "create schema A(k string, v int); @name('s') select k, sum(v) as s from A#time(100 sec) group by k", {"A": frame}, "s",
        time="ts", late="10 milliseconds", on_late="side", ahead="1 hour", distribute="always", shards=shards,
    )
    assert result.schema["left_out"].dataType.simpleString() == "struct<why:string,A:struct<k:string,v:int,ts:bigint>>"
    rows = written(result, tmp_path)
    assert sorted(map(repr, of_statement(rows))) == sorted(map(repr, [{"k": "a", "s": 1}, {"k": "b", "s": 2}, {"k": "a", "s": 4}]))
    assert sorted(map(repr, left_out(rows))) == sorted(map(repr, [
        {"why": "late", "A": {"k": "a", "v": 4, "ts": 1001}}, {"why": "late", "A": {"k": "b", "v": 5, "ts": None}},
        {"why": "ahead", "A": {"k": "b", "v": 6, "ts": FAR}},
    ]))


def test_late_rows_of_several_types(spark: SparkSession, folder: Callable[[str], Any], tmp_path: Path) -> None:


    at = datetime.datetime(2026, 1, 2, 3, 4, 5)
    a = folder("a").add(table(A, ("a", 1, 1000)), table(A, ("a", 2, 1100)), table(A, ("a", 3, 900))).frame()
    b = folder("b").add(table(B, ("a", at, 1000)), table(B, ("a", at, 1100)), table(B, ("b", at, 800))).frame()
    result = transform(WINDOW, {"A": a, "B": b}, "s", time="ts", on_late="side", shards=2)
    rows = written(result, tmp_path)
    assert of_statement(rows) == [{"k": "a", "s": 1}, {"k": "a", "s": 3}]
    found = {row["why"] + next(n for n in row if n != "why"): row for row in left_out(rows)}
    assert found["lateA"]["A"] == {"k": "a", "v": 3, "ts": 900}
    assert found["lateB"]["B"]["ts"] == 800 and found["lateB"]["B"]["made"].replace(tzinfo=None) == at and len(found) == 2


@pytest.mark.parametrize("epl", ["@name('s') select k, v from A(v > 1)", "@name('s') select k, v + 0 as v from A(v > 1)"])
def test_statements_without_state_know_no_late_rows_but_those_without_a_time(
    spark: SparkSession, folder: Callable[[str], Any], tmp_path: Path, epl: str
) -> None:
    tables = [table(A, ("a", 2, 1000)), table(A, ("b", 3, 10), ("c", 4, None), ("d", 5, FAR), ("e", 1, None))]
    for number, (options, kept, beside) in enumerate([
        ({"on_late": "keep"}, "abcd", None),
        ({"on_late": "drop", "ahead": "1 hour"}, "ab", None),
        ({"on_late": "drop", "late": "1 second"}, "abd", None),
        ({"on_late": "side", "ahead": "1 hour"}, "ab", [("late", "c"), ("ahead", "d")]),
    ]):
        frame = folder(f"in{number}").add(*tables).frame()
        result = transform(epl, {"A": frame}, "s", time="ts", **options)
        rows = written(result, tmp_path / str(number))
        assert sorted(r["k"] for r in rows if r["k"] is not None) == list(kept)
        if beside is not None:
            assert {(r["why"], r["A"]["k"]) for r in left_out(rows)} >= set(beside)
    with pytest.raises(StreamingQueryException, match=r"late: row .* has no time|a row has no time"):
        written(transform(epl, {"A": folder("in").add(*tables).frame()}, "s", time="ts"), tmp_path / "refused")


def test_rows_without_a_time_in_batch_dataframes(spark: SparkSession) -> None:
    frame = spark.createDataFrame(table(A, ("a", 1, 1000), ("b", 5, None), ("a", 2, 900)))
    epl = "create schema A(k string, v int); @name('s') select k, sum(v) as s from A group by k"
    rows = [row.asDict(recursive=True) for row in transform(epl, {"A": frame}, time="ts", on_late="side", shards=1).collect()]
    assert of_statement(rows) == [{"k": "a", "s": 2}, {"k": "a", "s": 3}]
    assert left_out(rows) == [{"why": "late", "A": {"k": "b", "v": 5, "ts": None}}]


@pytest.mark.parametrize(
    ("epl", "name", "message"),
    [
        ("@name('s') select k as left_out from A", "A", "'left_out' with a field 'why', and the statement use the name 'left_out'"),
        ("@name('s') select k from why", "why", "'left_out' with a field 'why', and the sources use the name 'why'"),
    ],
)
def test_names_that_left_out_rows_need(spark: SparkSession, epl: str, name: str, message: str) -> None:
    with pytest.raises(EplRuntimeError, match=message):
        transform(epl, {name: spark.createDataFrame(table(A, ("a", 1, 1000)))}, "s", time="ts", on_late="side")
