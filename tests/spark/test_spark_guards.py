"""What a job and a spread query are guarded against: clocks that are wrong, two jobs over one folder, deaths in a row, other threads."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from epl.errors import EplRuntimeError
from runtime.spark import start, transform
from tests.spark.test_spark_errors import MODULE, NAMES, ROWS, feed, made, output, own

pytestmark = pytest.mark.spark

FILTERED = "@name('s') select k, v, count(*) as c from T(v > 5)#time(1 sec) group by k"
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("ts", pa.int64())])


def table(*rows: tuple[str, int, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row)) for row in rows], SCHEMA)


def test_rows_from_the_future_move_no_time_though_spark_leaves_them_out(stream: Any) -> None:
    source = stream("in", table(("a", 9, 100), ("b", 1, 99_999)), table(("a", 7, 101), ("b", 1, 1100)))
    job = start(FILTERED, {"T": source}, time="ts", late=10, ahead=1000, wall=lambda: 500, trigger="availableNow")
    job.await_termination()
    assert job.runtime.now == 1090 and job.progress.late == 0 and job.progress.fed == 2


def test_rows_from_the_future_move_no_time_in_a_spread_query(spark: SparkSession, stream: Any, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000_000
    hour = 3_600_000
    source = stream("in", table(("a", 9, now), ("b", 8, now + 9 * hour)), table(("a", 7, now + 1), ("c", 6, now + 2)))
    out = transform(FILTERED, {"T": source}, "s", time="ts", ahead="1 hour", distribute="always", shards=2, start_time=now - 1)
    query = out.writeStream.format("parquet").option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "c"))
    started = query.trigger(availableNow=True).start()
    started.awaitTermination()
    found = sorted((row["k"], row["v"], row["c"]) for row in spark.read.parquet(str(tmp_path / "out")).collect())
    assert found == [("a", 7, 2), ("a", 9, 1), ("c", 6, 1)]
    assert [p["observedMetrics"]["epl_engine"]["ahead"] for p in started.recentProgress] == [1, 0]


def test_nothing_of_a_batch_dataframe_is_ahead_of_time(spark: SparkSession) -> None:
    frame = spark.createDataFrame(table(("a", 9, 5_000_000_000_000), ("b", 8, 1)))
    out = transform("@name('s') select k, v from T#length(5)", {"T": frame}, "s", time="ts", ahead="1 hour", max_stops=10)
    assert [row["k"] for row in out.collect()] == ["b", "a"]


def test_the_job_that_was_started_last_alone_writes(tmp_path: Any) -> None:
    whole = made(tmp_path / "whole")
    feed(whole, 0, *ROWS)
    first = made(tmp_path / "one")
    feed(first, 0, *ROWS[:5])
    second = made(tmp_path / "one")
    with pytest.raises(EplRuntimeError, match=r"^micro-batch 1: what it led to could not be written: another job has been started over "):
        feed(first, 1, *ROWS[5:7])
    feed(second, 1, *ROWS[5:])
    assert output(second) == output(whole)


def test_deaths_in_a_row_do_not_make_the_log_longer_and_longer(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.spark.driver_host.job_steps.MOST_STEPS", 3)
    for number in range(5):
        feed(made(tmp_path), number, {"k": "a", "v": 1, "ts": number})
    assert sorted(each.name for each in (tmp_path / "state" / "snapshots").iterdir()) == ["000000000000.state", "000000000003.state"]


def test_output_is_read_in_any_thread_and_the_clock_starts_where_it_is_told(stream: Any, tmp_path: Path) -> None:
    source = stream("in", table(("a", 1, 2_000_000_000), ("b", 3, 2_000_000_001)))
    job = start(
        MODULE.replace("#time(10 msec)", "#time_batch(1 msec)"), {"T": source}, time="ts", checkpoint=str(tmp_path / "job"),
        outputs=NAMES, functions={"own": own}, trigger="availableNow", start_time=1_999_999_999,
    )
    assert job.runtime.now >= 1_999_999_999
    job.await_termination()
    found: list[Any] = []
    reader = threading.Thread(target=lambda: found.extend(job.output("own").collect()))
    reader.start()
    reader.join()
    assert sorted(row["w"] for row in found) == [10, 30]
    job.stop()
