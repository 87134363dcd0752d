"""Contexts in a Spark job: their partitions are selected by queries and iterators between micro-batches, and counted by the metrics."""
from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from runtime import PartitionsById, PartitionsByKey
from runtime.spark import start

pytestmark = pytest.mark.spark
SESSIONS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "sessions.py"
MODULE = """create schema T(k string, v int, ts long);
create context C partition by k from T;
context C create window W#keepall as T;
context C insert into W select * from T;
@name('s') context C select context.id as i, k, sum(v) as s from T#length(2)"""


def test_sessions_on_spark_are_those_in_process(spark: SparkSession) -> None:
    spec = importlib.util.spec_from_file_location("example_sessions", SESSIONS)
    assert spec is not None and spec.loader is not None
    sessions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sessions)
    shown = sessions.on_spark()
    assert shown == sessions.in_process()
    assert [row["user"] for row in shown["ended"]] == ["bob", "ann"] and shown["live"] and shown["of cid"]


def test_a_job_selects_and_counts_partitions(spark: SparkSession, stream: Any, tmp_path: pathlib.Path) -> None:
    rows = [{"k": "abc"[n % 3], "v": n, "ts": n} for n in range(9)]
    table = pa.Table.from_pylist(rows, pa.schema([("k", pa.string()), ("v", pa.int32()), ("ts", pa.int64())]))
    job = start(MODULE, {"T": stream("in", table)}, time="ts", checkpoint=str(tmp_path / "job"), trigger="availableNow")
    job.await_termination()
    assert '\nepl_context_partitions{name="C"} 3\n' in job.progress.prometheus()
    of_b = PartitionsByKey([["b"]])
    assert [row.v for row in job.query("select v from W order by v", partitions=of_b)] == [1, 4, 7]
    assert [(row.i, row.k, row.s) for row in job.iterate("s", partitions=PartitionsById([2, 0]))] == [(2, "c", 13), (0, "a", 9)]
    assert [row.k for row in job.iterate("s")] == ["a", "b", "c"]
    job.stop()
