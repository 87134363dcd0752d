"""Streams through the driver host: equal to send, whatever the micro-batches; errors that say what is wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from runtime import EplRuntimeError, Runtime
from runtime.api.statement import internal_output
from runtime.spark import MicroBatchError, error_of, start
from runtime.spark.sources import Sources, merge

pytestmark = pytest.mark.spark

MODULE = """
create schema A(k string, v int);
create schema B(k string, v int);
insert into C select k as k, v as v from A;
insert into C select k as k, v as v from B;
@name('sliding') select irstream k as k, sum(v) as total from C#time(10) group by k;
@name('tumbling') select k as k, v as v from C#time_batch(7);
@name('pattern') select * from C match_recognize (
  partition by k measures a.v as av, last(b.v) as bv pattern (a b*) interval 5 seconds define a as a.v > 2, b as b.v <= a.v);
"""
NAMED = {"sliding", "tumbling", "pattern"}
MakeStream = Callable[..., DataFrame]
Heard = list[tuple[Any, ...]]


def listen(runtime: Runtime, module: str = MODULE) -> Heard:
    heard: Heard = []
    for statement in runtime.deploy(module):
        if statement.name in NAMED or statement.name == "s":
            statement.add_listener(
                lambda new, old, s, r: heard.append((r.now, s.name, [n.to_dict() for n in new], [o.to_dict() for o in old]))
            )
    return heard


CHANCE = random.Random(7)
ROWS = [(n * 400 // 7 * 7, n, CHANCE.choice("xy"), CHANCE.randrange(6), CHANCE.choice("AB")) for n in range(120)]
"""time, sequence, k, v, type; several rows share a time."""


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns: list[Any] = list(zip(*rows)) or [(), (), (), (), ()]
    return pa.table(
        {
            "n": pa.array(columns[1], pa.int64()),
            "v": pa.array(columns[3], pa.int32()),
            "unused": pa.array(columns[2], pa.string()),
            "k": pa.array(columns[2], pa.string()),
            "ts": pa.array(columns[0], pa.int64()),
        }
    )


def pieces(rows: list[tuple[Any, ...]], size: int, name: str) -> list[pa.Table]:
    """The rows of one type, cut every ``size`` rows of all types, shuffled within each piece."""
    found = []
    for at in range(0, len(rows), size):
        piece = [r for r in rows[at : at + size] if r[4] == name]
        found.append(table(random.Random(at).sample(piece, len(piece))))
    return found


@pytest.fixture(scope="module")
def expected() -> Heard:
    with Runtime() as runtime:
        heard = listen(runtime)
        for ts, _, k, v, name in ROWS:
            runtime.advance_time_span(ts)
            runtime.send(name, {"k": k, "v": v})
        assert {h[1] for h in heard} == NAMED
        return heard


@pytest.mark.parametrize("size", [120, 50, 9])
def test_any_micro_batches_of_several_types_equal_send(stream: MakeStream, expected: Heard, size: int, tmp_path: Any) -> None:
    with Runtime() as runtime:
        heard = listen(runtime)
        sources = {name: stream(name, *pieces(ROWS, size, name)) for name in "AB"}
        job = start(
            runtime, sources, time="ts", sequence="n", checkpoint=str(tmp_path / "c"), trigger="availableNow", query_name=f"cut {size}"
        )
        job.await_termination()
        assert job.streaming_query.name == f"cut {size}" and job.error is None
        assert heard == expected
        assert job.step == -(-120 // size) and job.progress.rows == 120
        metrics = [p["observedMetrics"]["epl"] for p in job.streaming_query.recentProgress if p["numInputRows"]]
        assert sum(m["rows"] for m in metrics) == 120 and max(m["newest"] for m in metrics) == ROWS[-1][0]


def test_only_the_columns_of_the_type_are_read(spark: SparkSession, tmp_path: Any) -> None:
    pyarrow.parquet.write_table(table(ROWS), tmp_path / "a.parquet")
    with Runtime() as runtime:
        listen(runtime)
        sources = Sources.of((runtime.event_type("A"),), "ts", None)
        merged = merge({"A": spark.read.parquet(str(tmp_path))}, sources, False, False)
        plan = merged._jdf.queryExecution().executedPlan().toString()
        assert "ReadSchema: struct<v:int,k:string,ts:bigint>" in plan


def test_an_unknown_type_is_registered_with_the_columns_of_its_stream(stream: MakeStream) -> None:
    with Runtime() as runtime:
        rows = table(ROWS[:5]).select(["n", "ts"])
        unmatched: list[Any] = []
        start(runtime, {"T": stream("T", rows, rows)}, time="ts", on_late="keep", trigger={"availableNow": True}).await_termination()
        assert runtime.event_type("T").names == ("n", "ts") and runtime.now == ROWS[4][0] and not unmatched


def test_a_refused_micro_batch_ends_the_query_with_our_code_and_changes_nothing(stream: MakeStream) -> None:
    with Runtime() as runtime:
        heard = listen(runtime, "create schema A(k string, v int); @name('s') select v as v from A")
        job = start(runtime, {"A": stream("A", table(ROWS[10:12]), table([*ROWS[12:14], *ROWS[:1]]))}, time="ts", trigger="availableNow")
        with pytest.raises(EplRuntimeError) as caught:
            job.await_termination()
        message = "[epl:runtime] micro-batch 1: "
        message += f"Event type 'A': 1 of 3 rows are late: row 2 is of 0 (1970-01-01T00:00:00Z), below the watermark {ROWS[11][0]} ("
        assert isinstance(caught.value.__cause__, StreamingQueryException) and message in str(caught.value.__cause__)
        error = error_of(job)
        assert error is caught.value and not isinstance(error, MicroBatchError)
        assert error.message in str(caught.value.__cause__)
        assert error.hint == "a larger bound (late=) waits for them; on_late='drop' leaves such rows out, 'side' keeps them apart"
        assert [new[0]["v"] for _, _, new, _ in heard] == [r[3] for r in ROWS[10:12]] and runtime.now == ROWS[11][0]


def test_late_rows_are_kept_when_asked_for(stream: MakeStream) -> None:
    with Runtime() as runtime:
        heard = listen(runtime, "create schema A(k string, v int); @name('s') select v as v from A")
        late = stream("A", table(ROWS[10:11]), table([*ROWS[12:13], *ROWS[:1]]))
        start(runtime, {"A": late}, time="ts", on_late="keep", trigger="availableNow").await_termination()
        assert [(at, new[0]["v"]) for at, _, new, _ in heard] == [(ROWS[n][0], ROWS[m][3]) for n, m in ((10, 10), (10, 0), (12, 12))]


def test_a_listener_that_fails_harms_neither_the_query_nor_the_others(stream: MakeStream) -> None:
    errors: list[str] = []
    with Runtime(on_error=lambda error, statement, event: errors.append(str(error))) as runtime:
        heard = listen(runtime, "create schema A(k string, v int); @name('s') select v as v from A")

        def fails(*_: Any) -> None:
            raise ValueError("listener")

        internal_output(runtime.statement("s")).listeners.insert(0, fails)
        start(runtime, {"A": stream("A", table(ROWS[:3]))}, time="ts", trigger="availableNow").await_termination()
        assert errors == ["listener"] * 3 and len(heard) == 3


def test_a_query_goes_on_with_the_same_runtime_and_checkpoint(folder: Callable[[str], Any], expected: Heard, tmp_path: Any) -> None:
    with Runtime() as runtime:
        heard = listen(runtime)
        streams = {name: folder(name) for name in "AB"}
        for half in (ROWS[:70], ROWS[70:]):
            sources = {name: streams[name].add(*pieces(half, 40, name)).frame() for name in "AB"}
            job = start(runtime, sources, time="ts", sequence="n", checkpoint=str(tmp_path / "c"), trigger="availableNow")
            job.await_termination()
        assert heard == expected


def test_micro_batches_come_once_and_in_order(spark: SparkSession) -> None:
    from runtime.spark.driver_host.job import Job
    from runtime.spark.driver_host.sinks import Keeping
    from runtime.spark.feed import Feed, FeedRules

    with Runtime() as runtime:
        heard = listen(runtime, "create schema A(k string, v int); @name('s') select v as v from A")
        sources = Sources.of((runtime.event_type("A"),), "ts", None)
        rows = spark.createDataFrame([("x", 1, 5)], "k string, v int, ts bigint")
        merged = merge({"A": rows}, sources, False, False).toArrow()
        host = Job(Feed(runtime, sources, FeedRules()), Keeping({}))
        host.process_batch(3, merged)
        for wrong in (3, 5):
            with pytest.raises(EplRuntimeError, match=f"micro-batch {wrong} came after 3: expected 4"):
                host.process_batch(wrong, merged)
        host.process_batch(4, merged)
        assert len(heard) == 2


def test_sources_that_cannot_feed_their_types_are_refused_at_once(spark: SparkSession, stream: MakeStream) -> None:
    with Runtime() as runtime:
        listen(runtime, "create schema A(k string, v int); @name('s') select v as v from A")
        rows = stream("A", table(ROWS[:1]))
        text_v = rows.drop("v").withColumnRenamed("unused", "v")
        for sources, options, message in (
            ({}, {"time": "ts"}, "There is no source"),
            ({"A": spark.range(1)}, {"time": "ts"}, "Source 'A' is not a streaming DataFrame"),
            ({"A": rows.drop("v")}, {"time": "ts"}, "Event type 'A': the source has no column 'v'"),
            ({"A": text_v}, {"time": "ts"}, "'v' is declared Integer and cannot hold a column of Spark type string"),
            ({"A": rows}, {"time": "nowhere"}, "Event type 'A': the source has no column 'nowhere'"),
            ({"A": rows}, {"time": "k"}, "Event type 'A': the time column 'k' is of Spark type string"),
            ({"A": rows}, {"time": {"B": "ts"}}, "Event type 'A' has no time column"),
            ({"A": rows}, {"time": "ts", "on_late": "lose"}, "on_late is one of refuse, drop, side, keep, not 'lose'"),
            ({"A": rows}, {"time": "ts", "on_late": "keep", "late": "5 seconds"}, "on_late='keep' is for rows that are not held"),
            ({"A": rows}, {"time": "ts", "late": "soon"}, "late is not a length of time: 'soon'"),
            ({"A": rows}, {"time": "ts", "late": -1}, "late is a length of time and cannot be negative"),
            ({"A": rows}, {"time": "ts", "clock": "sun"}, "clock is 'events' or 'system', not 'sun'"),
            ({"A": rows}, {"time": "ts", "outputs": ["s"]}, "files are kept in the checkpoint's folder"),
            ({"A": rows}, {"late": "5 seconds"}, "late and ahead need a time"),
        ):  # fmt: skip
            with pytest.raises(EplRuntimeError, match=message):
                start(runtime, sources, **options)  # type: ignore[arg-type]
        assert not spark.streams.active
