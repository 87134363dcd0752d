"""Contexts on Spark: a job selects their partitions by queries and iterators between micro-batches and counts them; transform splits their
statements over engines."""
from __future__ import annotations

import importlib.util
import pathlib
import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from runtime import PartitionsById, PartitionsByKey, Runtime
from runtime.spark import start, transform

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


SHARDED = """create schema A(k string, n int, ts long); create schema B(u string, m int, ts long);
{context}
@name('s') context C select x.k as k, x.n as n, y.m as m from A#length(2) as x, B#lastevent as y"""


@pytest.mark.parametrize("context", [
    "create context C partition by k from A, u from B;",
    "create context C coalesce by consistent_hash_crc32(k) from A, consistent_hash_crc32(u) from B granularity 5;",
    "create context C coalesce by hash_code(k, n) from A, hash_code(u, m) from B granularity 7;",
])
def test_statements_of_contexts_are_split_over_engines(spark: SparkSession, context: str) -> None:
    text = SHARDED.format(context=context)
    draw = random.Random(1)
    events = [(draw.choice("AB"), draw.choice(["ann", "bob", "cid", "Zoë", "日本", None]), draw.randrange(3), at) for at in range(120)]
    runtime = Runtime(start_time=0)
    statement = list(runtime.deploy(text))[-1]
    expected: Counter[Any] = Counter()
    statement.add_listener(lambda new, old, *_: expected.update(tuple(row.to_dict().values()) for row in new))
    for name, key, number, at in events:
        runtime.advance_time(at)
        runtime.send(name, {"k": key, "n": number, "ts": at} if name == "A" else {"u": key, "m": number, "ts": at})
    frames = {
        name: spark.createDataFrame([event[1:] for event in events if event[0] == name], f"{key} string, {number} int, ts long")
        for name, key, number in (("A", "k", "n"), ("B", "u", "m"))}  # fmt: skip
    rows = transform(text, frames, "s", time="ts", distribute="always", shards=3).collect()
    assert Counter(map(tuple, rows)) == expected and len(expected) > 5
