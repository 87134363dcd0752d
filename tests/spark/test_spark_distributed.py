"""Statements spread over engines: what all of them emit together is what one emits."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from epl.errors import EplRuntimeError, EplUnsupportedError
from runtime import Runtime
from runtime.spark import transform
from runtime.spark.distributed_host.shards import PROVIDER, shard_ids

pytestmark = pytest.mark.spark

SHAPES = {
    "pattern": """@name('s') select * from T match_recognize (partition by k measures A.n as a, last(B.n) as b, C.k as k
        pattern (A B+ C) define B as B.v > prev(B.v), C as C.v < prev(C.v))""",
    "epl pattern": """@name('s') select a.k as k, a.n as n, b.n as m from pattern [every a=T(v > 7)
        -> (b=T(k=a.k, v < 3) and not T(k=a.k, v=5)) where timer:within(80 msec)]""",
    "absence": """@name('s') select a.k as k, a.n as n, current_timestamp() as at from pattern [every a=T(v > 7)
        -> (timer:interval(30 msec) and not T(k=a.k, v > 5))]""",
    "window": "@name('s') select k, sum(v) as s, count(*) as c from T#time(100 msec) group by k",
    "groupwin": "@name('s') select k, v, sum(v) as s from T#groupwin(k)#length(3) group by k",
    "first every": "@name('s') select k, sum(v) as s from T group by k output first every 50 milliseconds",
    "chain": """insert into U select k as name, v * 2 as w, n from T(v > 3);
        @name('s') select name, count(*) as c, max(n) as n from U#time(60 msec) group by name""",
    "filter": "@name('s') select k, v, current_timestamp() as at from T(v > 7)",
}
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("n", pa.int64()), ("ts", pa.int64())])
CHANCE = random.Random(3)
ROWS = [{"k": CHANCE.choice([*"abcdefg", None]), "v": CHANCE.randrange(10), "n": n, "ts": n * 5 // 2} for n in range(900)]


def in_one_engine(epl: str, until: int | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with Runtime() as runtime:
        runtime.deploy("create schema T(k string, v int, n long, ts long);" + epl)
        runtime.statement("s").add_listener(lambda new, old, s, r: found.extend(row.to_dict() for row in new))
        runtime.send_batch("T", pa.Table.from_pylist(ROWS, SCHEMA), time="ts", sequence="n")
        if until is not None:
            runtime.advance_time_span(until)
    return found


def alike(found: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, found))


def dicts(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict() for row in frame.collect()]


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_batch_dataframe_spread_gives_what_one_engine_gives(spark: SparkSession, name: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(CHANCE.sample(ROWS, len(ROWS)), SCHEMA)).repartition(3)
    spread = transform(SHAPES[name], {"T": frame}, "s", time="ts", sequence="n", distribute="always", shards=3)
    expected = in_one_engine(SHAPES[name])
    assert len(expected) > 20 and alike(dicts(spread)) == alike(expected)


def test_time_walks_to_the_end_in_all_engines(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA))
    end = ROWS[-1]["ts"] + 1000
    spread = transform(SHAPES["window"], {"T": frame}, "s", time="ts", sequence="n", distribute="always", shards=3, until=end)
    assert alike(dicts(spread)) == alike(in_one_engine(SHAPES["window"], end))


MakeFolder = Callable[[str], Any]


def pieces(size: int, seed: int) -> list[pa.Table]:
    chance = random.Random(seed)
    cut = [ROWS[at : at + size] for at in range(0, len(ROWS), size)]
    return [pa.Table.from_pylist(chance.sample(piece, len(piece)), SCHEMA) for piece in cut]


def run(frame: DataFrame, out: Path, checkpoint: Path) -> Any:
    query = frame.writeStream.format("parquet").option("path", str(out)).option("checkpointLocation", str(checkpoint))
    started = query.trigger(availableNow=True).start()
    started.awaitTermination()
    return started


def test_a_stateless_statement_over_a_stream_needs_no_state(spark: SparkSession, folder: MakeFolder, tmp_path: Path) -> None:
    frame = folder("in").add(*pieces(300, 2)).frame()
    spread = transform(SHAPES["filter"], {"T": frame}, "s", time="ts", sequence="n", distribute="always")
    query = run(spread, tmp_path / "out", tmp_path / "checkpoint")
    assert not query.lastProgress["stateOperators"]
    assert alike(dicts(spark.read.parquet(str(tmp_path / "out")))) == alike(in_one_engine(SHAPES["filter"]))


@pytest.mark.parametrize("name", ["pattern", "chain"])
def test_a_stream_spread_gives_what_one_engine_gives_over_a_restart(
    spark: SparkSession, folder: MakeFolder, tmp_path: Path, name: str
) -> None:
    stream = folder("in")
    tables = pieces(300, 1)
    for part in (tables[:2], tables[2:]):
        frame = stream.add(*part).frame()
        spread = transform(SHAPES[name], {"T": frame}, "s", time="ts", sequence="n", distribute="always", shards=2)
        query = run(spread, tmp_path / "out", tmp_path / "checkpoint")
    assert query.lastProgress is not None
    assert alike(dicts(spark.read.parquet(str(tmp_path / "out")))) == alike(in_one_engine(SHAPES[name]))


def test_a_checkpoint_of_another_task_is_refused(spark: SparkSession, folder: MakeFolder, tmp_path: Path) -> None:
    stream = folder("in").add(*pieces(900, 1))

    def go_on(epl: str, shards: int) -> None:
        frame = transform(epl, {"T": stream.frame()}, "s", time="ts", sequence="n", on_late="drop", shards=shards)
        run(frame, tmp_path / "out", tmp_path / "checkpoint")

    go_on(SHAPES["pattern"], 2)
    stream.add(*pieces(900, 2))
    with pytest.raises(StreamingQueryException, match="the checkpoint was made with 2 shards, and there are 3 now"):
        go_on(SHAPES["pattern"], 3)
    with pytest.raises(StreamingQueryException, match="the checkpoint was made with another module, statement, schema, time or sequence"):
        go_on(SHAPES["pattern"].replace("B.v > prev(B.v)", "B.v >= prev(B.v)"), 2)


def test_a_stream_that_cannot_be_split_runs_in_one_engine_with_late_rows_held(
    spark: SparkSession, folder: MakeFolder, tmp_path: Path
) -> None:
    epl = "@name('s') select n, sum(v) as s from T#length(4)"
    chance = random.Random(5)
    shuffled = sorted(ROWS, key=lambda row: row["ts"] + chance.random() * 100)
    tables = [pa.Table.from_pylist(shuffled[at : at + 300], SCHEMA) for at in (0, 300, 600)]
    frame = folder("in").add(*tables).frame()
    run(transform(epl, {"T": frame}, "s", time="ts", sequence="n", late=100), tmp_path / "out", tmp_path / "checkpoint")
    expected = [row for row, came in zip(in_one_engine(epl), ROWS) if came["ts"] < ROWS[-1]["ts"] - 100]
    assert alike(dicts(spark.read.parquet(str(tmp_path / "out")))) == alike(expected)


def test_rows_are_split_by_decimals(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA)).selectExpr("cast(v / 4 as decimal(10, 2)) as d", "n", "ts")
    spread = transform("@name('s') select d, n from T#unique(d)", {"T": frame}, "s", time="ts", distribute="always", shards=3)
    assert alike(dicts(spread)) == alike(dicts(frame.selectExpr("cast(d as decimal(38, 18)) as d", "n")))
    grouped = transform("@name('s') select d, count(*) as c from T group by d", {"T": frame}, "s", time="ts", distribute="always", shards=3)
    newest: dict[Any, int] = {}
    for row in dicts(grouped):
        newest[row["d"]] = max(row["c"], newest.get(row["d"], 0))
    assert newest == {row["d"]: row["count"] for row in dicts(frame.groupBy("d").count())}


def test_what_stands_in_the_way_is_told(spark: SparkSession, stream: Callable[..., DataFrame]) -> None:
    frame = stream("in", pieces(900, 0)[0])
    with pytest.raises(EplUnsupportedError, match="statement 's' cannot be spread: not at all"):
        transform("@name('s') select sum(v) as s from T", {"T": frame}, "s", distribute="always")
    before = spark.conf.get(PROVIDER)
    spark.conf.unset(PROVIDER)
    spark.conf.set(PROVIDER, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    try:
        with pytest.raises(EplRuntimeError, match="the session uses another store"):
            transform(SHAPES["pattern"], {"T": frame}, "s", time="ts")
    finally:
        spark.conf.set(PROVIDER, before or "")


def test_shards_meet_evenly_in_the_partitions(spark: SparkSession) -> None:
    for count, partitions in ((8, 4), (5, 2), (1, 7), (12, 12)):
        ids = shard_ids(spark, count, partitions)
        assert len(set(ids)) == count
        rows = spark.createDataFrame([(i,) for i in ids], "id int").selectExpr(f"pmod(hash(id), {partitions}) as p").collect()
        held = [sum(row["p"] == place for row in rows) for place in range(partitions)]
        assert max(held) <= -(-count // partitions)


@pytest.mark.parametrize("late", [None, "100 milliseconds"])
def test_time_goes_on_without_rows(spark: SparkSession, folder: MakeFolder, tmp_path: Path, late: str | None) -> None:
    """Rows wait and windows expire in all shards while nothing comes, while the query runs; a restart goes on from there."""
    stream = folder("in").add(*pieces(900, 1))
    epl = SHAPES["window"]
    spread = transform(
        epl, {"T": stream.frame()}, "s", time="ts", sequence="n", late=late, distribute="always", shards=2, idle="1 second", heartbeat=0.5
    )
    checkpoint = tmp_path / "checkpoint"
    writer = spread.writeStream.format("parquet").option("path", str(tmp_path / "out")).option("checkpointLocation", str(checkpoint))
    expected = alike(in_one_engine(epl, until=ROWS[-1]["ts"] + 60_000))
    assert len(expected) > len(in_one_engine(epl))
    found: list[str] = []
    for _ in range(2):
        query = writer.trigger(processingTime="200 milliseconds").start()
        end = time.monotonic() + 60
        try:
            while found != expected and time.monotonic() < end and query.isActive:
                query.awaitTermination(1)
                found = alike(dicts(spark.read.schema(spread.schema).parquet(str(tmp_path / "out"))))
        finally:
            query.stop()
        assert query.exception() is None
        assert found == expected


def test_clocks_are_for_streams(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS[:1], SCHEMA))
    with pytest.raises(EplRuntimeError, match="are for streams: batch DataFrames end"):
        transform(SHAPES["window"], {"T": frame}, "s", time="ts", idle="1 second")
    with pytest.raises(EplRuntimeError, match="clock is 'events' or 'system', not 'wall'"):
        transform(SHAPES["window"], {"T": frame}, "s", time="ts", clock="wall")
    with pytest.raises(EplRuntimeError, match="heartbeat is a number of seconds, not 0"):
        transform(SHAPES["window"], {"T": frame}, "s", time="ts", clock="system", heartbeat=0)
