"""Queries of a job: at the boundary of micro-batches, and those that change something once, in order, whenever the job dies."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from epl.errors import EplRuntimeError, EplValidationError
from epl.settings import Settings
from runtime import Runtime
from runtime.clock.late_rows import LatePolicy
from runtime.spark import start
from runtime.spark.driver_host.checkpoint import JobCheckpoint, no_hook
from runtime.spark.driver_host.driver import JobModule, Setup, resume
from runtime.spark.driver_host.job import Job
from runtime.spark.driver_host.sinks import Keeping, ParquetSink

pytestmark = pytest.mark.spark

MODULE = """
create schema T(k string, v int, ts long);
create window W#unique(k) as (k string, v int);
insert into W select k, v from T;
@name('changes') select irstream k, v from W;
"""
ROWS = [{"k": "abc"[n % 3], "v": n, "ts": n} for n in range(60)]
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("ts", pa.int64())])
QUERIES: dict[int, tuple[str, dict[str, Any]]] = {
    1: ("insert into W values (?:k:string, 1000), ('y', 2000)", {"k": "x"}),
    2: ("update W set v = v + 10000 where k = ?:k:string", {"k": "a"}),
    4: ("delete from W where v > 1000", {}),
}
"""By the number of the micro-batch after which they run."""


class Died(BaseException):
    """What a process that is killed does in these tests: nothing catches it."""


def made(folder: Any, hook: Callable[[str], None] = no_hook, *, fill: Any = None, module: Any = MODULE, lenient: bool = False) -> Job:
    keeping = Keeping({"changes": ParquetSink(f"{folder}/output/changes", hook)}, f"{folder}/output", hook)
    frames: Any = {"T": None}
    setup = Setup(
        JobModule(module, frames, Settings(), {"raising": raising}, {}, "auto"), lambda _: LatePolicy(), ("ts", None), {}, keeping,
        JobCheckpoint(f"{folder}/state", hook), (), lambda: 0, lenient, fill=fill or {})
    return resume(setup, {})


def raising(value: int) -> int:
    if value < 0:
        raise ValueError("negative")
    return value


def written(job: Job) -> list[Any]:
    """The output, in order, both streams."""
    sink = job._keeping.sinks["changes"]
    assert isinstance(sink, ParquetSink)
    return [[pa.parquet.read_table(f"{files.root}/{name}").to_pylist() for name in files.names()] for files in sink._files.values()]


def run(folder: Any, hook: Callable[[str], None] = no_hook) -> Job:
    """A job that goes on where the folder has come to, and does what is left. A query is repeated by the caller only where the job does
    not know of it: its step is not in the log."""
    job = made(folder, hook)
    while True:
        batch = -1 if job.last is None else job.last
        done = job.step - (batch + 1) - sum(1 for number in QUERIES if number < batch)
        if batch in QUERIES and not done:
            job.query(*QUERIES[batch])
        if batch == 5:
            return job
        rows = ROWS[(batch + 1) * 10 : (batch + 2) * 10]
        job.process_batch(batch + 1, job.feed.sources.merge_tables({"T": pa.Table.from_pylist(rows, SCHEMA)}))


def test_changes_happen_once_and_in_order_whenever_the_job_dies(tmp_path: Path) -> None:
    undisturbed = run(tmp_path / "undisturbed")
    expected = written(undisturbed), undisturbed.query("select * from W")
    assert any(row["v"] == 1000 for stream in expected[0] for file in stream for row in file)
    points = ["log.before", "log.during", "log.rename", "log.after", "sink.before", "sink.rename", "sink.after"]
    for point in points:
        for time in range(2, 9, 2):
            folder, count = tmp_path / f"{point}{time}", 0

            def die(at: str, point: str = point, time: int = time) -> None:
                nonlocal count
                count += at == point
                if at == point and count == time:
                    raise Died

            with pytest.raises(Died):
                run(folder, die)
            job = run(folder)
            assert (written(job), job.query("select * from W")) == expected, (point, time)


def test_a_restart_has_what_queries_changed(tmp_path: Path) -> None:
    job = made(tmp_path)
    job.query("insert into W values ('x', 1)")
    assert made(tmp_path).query("select v from W where k = 'x'") == [{"v": 1}]
    job = made(tmp_path)
    job.query("update W set v = 2")
    job.snapshot()
    assert made(tmp_path).query("select v from W") == [{"v": 2}]


def test_queries_that_read_are_no_steps(tmp_path: Path) -> None:
    job = made(tmp_path)
    before = job.step
    assert job.query("select count(*) as n from W where v > ?::int", [5]) == [{"n": 0}]
    assert job.step == before


def test_refused_queries_are_no_steps_and_change_nothing(tmp_path: Path) -> None:
    job = made(tmp_path)
    job.query("insert into W values ('x', -1)")
    before = job.step
    with pytest.raises(EplValidationError, match="Failed to resolve event type"):
        job.query("delete from Nothing")
    with pytest.raises(EplRuntimeError, match="negative"):
        job.query("update W set v = 1 where raising(v) > 0")
    with pytest.raises(EplRuntimeError, match="cannot hold"):
        job.query("update W set v = ?::int", ["text"])
    assert job.step == before and job.halted is None and job.query("select v from W") == [{"v": -1}]
    job.query("delete from W")
    assert made(tmp_path).query("select * from W") == []


def test_a_consumer_that_raises_ends_the_job_in_front_of_the_query(tmp_path: Path) -> None:
    module = MODULE + "@name('fails') select raising(v) as r from W;"
    job = made(tmp_path, module=module)
    job.query("insert into W values ('x', 1)")
    with pytest.raises(EplRuntimeError, match="negative"):
        job.query("insert into W values ('y', -1)")
    assert job.halted is not None
    with pytest.raises(EplRuntimeError, match="its state here cannot be used"):
        job.query("select * from W")
    assert made(tmp_path, module=module).query("select k from W") == [{"k": "x"}]


def test_parameters_of_every_kind_are_logged(tmp_path: Path) -> None:
    module = "create schema T(k string, ts long); create window W#keepall as (d BigDecimal, t LocalDateTime, k string); " \
             "insert into W(k) select k from T; @name('changes') select * from W;"
    values = {"d": Decimal("1.50"), "t": datetime.datetime(2026, 1, 2, 3), "k": "ü"}
    job = made(tmp_path, module=module)
    job.query("insert into W values (?:d:BigDecimal, ?:t:LocalDateTime, ?:k:string)", values)
    assert made(tmp_path, module=module).query("select * from W") == [values]
    with pytest.raises(EplRuntimeError):
        made(tmp_path, module=module).query("insert into W(k) values (?:k:string)", {"k": object()})


def test_a_listener_runs_no_change(tmp_path: Path) -> None:
    job = made(tmp_path)
    seen: list[Any] = []

    def listen(new: Any, old: Any, statement: Any, runtime: Runtime) -> None:
        seen.append(job.query("select count(*) as n from W")[0].n)
        with pytest.raises(EplRuntimeError, match="A listener cannot run a query that changes something"):
            job.query("delete from W")

    job.statement("changes").add_listener(listen)
    job.query("insert into W values ('x', 1)")
    assert seen == [1]


@pytest.mark.parametrize("form", ["arrow", "pandas", "spark"])
def test_a_window_begins_with_a_frame_and_is_read_as_one(spark: SparkSession, tmp_path: Path, form: str) -> None:
    table = pa.table({"k": ["p", "q"], "v": pa.array([1, None], pa.int32())})
    frame: Any = table if form == "arrow" else table.to_pandas()
    if form == "spark":
        frame = spark.createDataFrame([("p", 1), ("q", None)], "k string, v int")
    job = made(tmp_path, fill={"W": frame})
    assert written(job) == [[], []] and job.query("select * from W") == table.to_pylist()
    again = made(tmp_path, fill={"W": frame})
    assert again.query("select count(*) as n from W") == [{"n": 2}]
    assert again.fill("W", pandas.DataFrame({"k": ["r"], "v": [3]})) == 1
    last = made(tmp_path)
    assert last.query("select k, v from W where k = 'r'") == [{"k": "r", "v": 3}]
    last._session = spark
    assert sorted(map(tuple, last.window("W").collect())) == [("p", 1), ("q", None), ("r", 3)]


def test_a_running_job_is_queried_and_changed(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    pa.parquet.write_table(pa.Table.from_pylist(ROWS[:30], SCHEMA), source / "0.parquet")
    frame = spark.readStream.schema("k string, v int, ts long").parquet(str(source))
    fill = {"W": pa.table({"k": ["z"], "v": pa.array([-1], pa.int32())})}
    job = start(MODULE, {"T": frame}, time="ts", checkpoint=str(tmp_path / "job"), outputs=["changes"], fill=fill)
    try:
        job.process_all_available()
        rows = job.query("select k, v from W order by k")
        assert [tuple(row.values()) for row in rows] == [("a", 27), ("b", 28), ("c", 29), ("z", -1)]
        job.query("update W set v = 0 where k = 'z'")
        assert {"k": "z", "v": 0} in [row.asDict() for row in job.output("changes").collect()]
        assert job.window("W").where("v = 0").count() == 1
    finally:
        job.stop()
