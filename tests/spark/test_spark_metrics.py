"""What jobs and queries report of each micro-batch: rows, output, time, state, dropped rows, partial matches."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row, SparkSession

from runtime.spark import Metrics, start, transform
from runtime.spark.distributed_host.packing import REPORTED
from runtime.spark.progress import metric

pytestmark = pytest.mark.spark

MODULE = """create schema T(k string, v int, ts long);
@name('s') select * from T match_recognize (partition by k measures A.v as a, B.v as b pattern (A B) define B as B.v > A.v)"""
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("ts", pa.int64())])
BATCHES = [[("a", 1, 100), ("b", 1, 101), ("c", 1, 102)], [("a", 2, 110), ("d", 5, 111)], [("a", 9, 1), ("b", 0, 120)]]
"""Behind the first, three matches are in progress; then that of a ends and one of d begins; a row is late, and b begins again."""


def tables() -> list[pa.Table]:
    return [pa.Table.from_pylist([dict(zip(SCHEMA.names, row)) for row in rows], SCHEMA) for rows in BATCHES]


def test_a_job_reports_the_rows_of_named_windows_and_tables(spark: SparkSession, stream: Any, tmp_path: Path) -> None:
    module = """create schema T(k string, v int, ts long); create window W#keepall as T; insert into W select * from T;
        create table C(k string primary key, c count(*)); into table C select count(*) as c from T group by k;
        select * from pattern [every a=T(v < 2) -> T(k=a.k, v=99)]"""
    job = start(
        module, {"T": stream("in", *tables())}, time="ts", on_late="drop", checkpoint=str(tmp_path / "job"), trigger="availableNow")
    job.await_termination()
    text = job.progress.prometheus()
    assert "\nepl_subexpressions_in_progress 4\n" in text
    assert '\nepl_stored_rows{name="W"} 6\n' in text and '\nepl_stored_rows{name="C"} 4\n' in text
    job.stop()


@pytest.mark.parametrize("tier", ["row", "batch"])
def test_a_job_tells_of_each_micro_batch(spark: SparkSession, stream: Any, tmp_path: Path, tier: str) -> None:
    job = start(
        MODULE, {"T": stream("in", *tables())}, time="ts", on_late="drop", checkpoint=str(tmp_path / "job"), outputs=["s"], tier=tier,
        trigger="availableNow",
    )
    job.await_termination()
    steps = [(p.batch, p.rows, p.fed, p.late, p.out, p.time, p.matches, p.faults) for p in job.progress.last]
    assert steps == [(0, 3, 3, 0, 0, 102, 3, 0), (1, 2, 2, 0, 1, 111, 3, 0), (2, 2, 1, 1, 0, 120, 3, 0)]
    assert job.progress.of_batch(1) is job.progress.last[1] and job.progress.of_batch(9) is None
    text = job.progress.prometheus()
    for line in ("epl_rows_total 7", "epl_rows_out_total 1", "epl_rows_late_total 1", "epl_matches_in_progress 3", "epl_engine_time 120"):
        assert f"\n{line}\n" in text
    job.stop()
    assert job.progress.state_bytes > 0


def test_a_spread_query_tells_by_an_observed_metric_and_as_prometheus_text(spark: SparkSession, stream: Any, tmp_path: Path) -> None:
    metrics = Metrics()
    spark.streams.addListener(metrics)
    try:
        out = transform(MODULE, {"T": stream("in", *tables())}, "s", time="ts", on_late="drop", distribute="always", shards=2)
        query = out.writeStream.format("parquet").option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "c"))
        started = query.queryName('the "spread" one').trigger(availableNow=True).start()
        started.awaitTermination()
        found = [p["observedMetrics"]["epl_engine"].asDict() for p in started.recentProgress]
        shown = [tuple(each[name] for name in ("fed", "late", "out", "time", "matches", "waiting", "faults")) for each in found]
        assert shown == [(3, 0, 0, 102, 3, 0, 0), (2, 0, 1, 111, 3, 0, 0), (1, 1, 0, 120, 3, 0, 0)]
        assert all(each["state"] > 0 for each in found)
        wanted = 'epl_matches_in_progress{query="the \\"spread\\" one"} 3\n'
        until = time.monotonic() + 30
        while "epl_rows_fed_total" not in metrics.prometheus() or 'one"} 6\n' not in metrics.prometheus():
            assert time.monotonic() < until, metrics.prometheus()
            time.sleep(0.1)
        text = metrics.prometheus()
        assert wanted in text and text.count("# TYPE epl_matches_in_progress gauge") == 1
        for name, value in (("rows", 7), ("rows_late", 1), ("rows_out", 1), ("steps", 3)):
            assert f'epl_{name}_total{{query="the \\"spread\\" one"}} {value}\n' in text
    finally:
        spark.streams.removeListener(metrics)
    assert [row.asDict() for row in spark.read.parquet(str(tmp_path / "out")).collect()] == [{"a": 1, "b": 2}]


def test_a_metric_has_one_head_and_a_line_for_each_label() -> None:
    assert metric("gauge", "x", "what", {'{q="a"}': 1, '{q="b"}': 2.5}) == (
        '# HELP epl_x what\n# TYPE epl_x gauge\nepl_x{q="a"} 1\nepl_x{q="b"} 2.5\n'
    )


def progress(shards: int | None, **gauges: int) -> Any:
    """What a listener hears of a micro-batch in which so many shards had a step, None for none of them."""
    values = dict.fromkeys(REPORTED) if shards is None else {**dict.fromkeys(REPORTED, 0), "shards": shards, **gauges}
    observed = {"epl_engine": Row(**values), "epl": Row(rows=0)}
    return SimpleNamespace(progress=SimpleNamespace(name="q", id="0", batchDuration=1, observedMetrics=observed))


def test_shards_that_have_nothing_to_do_do_not_make_the_others_vanish() -> None:
    metrics = Metrics()
    for event in (progress(2, matches=5, time=100), progress(None), progress(1, matches=2, time=200, out=3)):
        metrics.onQueryProgress(event)
    text = metrics.prometheus()
    for line in ('epl_matches_in_progress{query="q"} 5', 'epl_engine_time{query="q"} 100', 'epl_rows_out_total{query="q"} 3'):
        assert f"\n{line}\n" in text
    metrics.onQueryProgress(progress(2, matches=1, time=300))
    assert '\nepl_matches_in_progress{query="q"} 1\n' in metrics.prometheus()


def test_a_job_that_comes_back_tells_at_once_how_it_stands(stream: Any, tmp_path: Path) -> None:
    source = stream("in", *tables())
    for _ in range(2):
        job = start(MODULE, {"T": source}, time="ts", on_late="drop", checkpoint=str(tmp_path / "job"), trigger="availableNow")
        job.await_termination()
        text = job.progress.prometheus()
        assert "\nepl_engine_time 120\n" in text and "\nepl_matches_in_progress 3\n" in text and "\nepl_rows_waiting 0\n" in text
        job.stop()
    assert "\nepl_steps_total 0\n" in text
