"""Columns with names that Spark reads as something else travel like any others, in both hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.spark import start, transform
from runtime.spark.sources import Sources, fetch, merge

pytestmark = pytest.mark.spark

ODD = pa.table({"k.x": ["a", "b", "a"], "a`b": [1, 2, 3], "ü %2E:": [1.5, 2.5, 3.5], "epl:type": [7, 8, 9], "ts": [1, 2, 3]})
EPL = "@name('s') select * from T#unique(`k.x`)"


def test_odd_names_reach_the_driver_and_filters_in_front_of_it(stream: Any) -> None:
    heard: list[Any] = []
    epl = "@name('s') select * from T(`k.x` = 'a', `epl:type` > 7)"
    job = start(epl, {"T": stream("in", ODD)}, time="ts", trigger="availableNow", listeners={"s": lambda new, *_: heard.extend(new)})
    job.await_termination()
    assert [dict(row) for row in heard] == ODD.to_pylist()[2:]


def test_odd_names_reach_the_engines_of_a_stream_and_of_a_batch(spark: SparkSession, stream: Any, tmp_path: Path) -> None:
    batch = transform(EPL, {"T": spark.createDataFrame(ODD)}, "s", time="ts", distribute="always", shards=2)
    assert sorted((row.asDict() for row in batch.collect()), key=lambda row: row["ts"]) == ODD.to_pylist()
    out: list[Any] = []
    spread = transform(EPL, {"T": stream("in", ODD)}, "s", time="ts", distribute="always", shards=2)
    writer = spread.writeStream.foreachBatch(lambda rows, _: out.extend(row.asDict() for row in rows.collect()))
    writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start().awaitTermination()
    assert sorted(out, key=lambda row: row["ts"]) == ODD.to_pylist()


def test_columns_that_differ_in_case_only_are_told_before_anything_runs(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.table({"a": [1], "A": ["x"], "ts": [1]}))
    with pytest.raises(EplRuntimeError, match=r"Event type 'T': Spark does not distinguish the columns 'a' and 'A'"):
        transform("@name('s') select a from T", {"T": frame}, "s", time="ts")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert transform("@name('s') select a, A from T", {"T": frame}, "s", time="ts").collect() == [(1, "x")]
    finally:
        spark.conf.set("spark.sql.caseSensitive", "false")


ROWS = pa.table({"n": [3, 1, None], "ts": [10, None, 30], "at": pa.array([5, 6, 7], pa.timestamp("us", "UTC"))})


@pytest.mark.parametrize("types, time", [
    ({"A": "n int, ts long"}, "ts"), ({"A": "n int"}, "ts"), ({"A": "n int, ts long"}, "at"), ({"A": "ts long"}, None), ({"A": ""}, None),
    ({"A": ""}, "ts"), ({"A": "n int, ts long", "B": "ts long"}, "ts"),
])
def test_what_does_not_travel_is_there_all_the_same(spark: SparkSession, types: dict[str, str], time: str | None) -> None:
    runtime = Runtime()
    for name, columns in types.items():
        runtime.deploy(f"@public @buseventtype create schema {name}({columns})")
    sources = Sources.of(tuple(runtime.event_type(name) for name in types), time, None)
    merged = merge({name: spark.createDataFrame(ROWS) for name in types}, sources, microseconds=False, number_rows=False)
    found, plain = fetch(merged, sources), merged.toArrow()
    assert found.schema.names == plain.schema.names and found.schema.types == plain.schema.types
    assert found.to_pylist() == plain.to_pylist() and found.num_rows == 3 * len(types)
