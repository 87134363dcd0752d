"""A job that is started again with other rules for late rows, other columns or a fixed function; time that goes on without rows."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from epl.errors import EplRuntimeError
from epl.settings import Settings
from runtime.clock.late_rows import LatePolicy
from runtime.spark.driver_host.checkpoint import JobCheckpoint
from runtime.spark.driver_host.driver import JobModule, Setup, resume
from runtime.spark.driver_host.job import Job
from runtime.spark.driver_host.sinks import Keeping, ParquetSink
from runtime.spark.heartbeat import Beat, Heartbeat

pytestmark = pytest.mark.spark

MODULE = """create schema T(k string, v int, ts long);
@name('all') select k, v, ts, current_timestamp() as at from T;
@name('sums') select k, sum(v) as s from T#time(10 msec) group by k;
@name('big') select k from T(f(v) > 5);
"""
TICKS = "create schema T(k string, v int, n long, ts long); @name('all') select count(*) as c from T output every 10 msec;"
NAMES = ("all", "sums", "big")
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("n", pa.int64()), ("ts", pa.int64())])
ROWS = [{"k": "ab"[n % 2], "v": n, "n": n, "ts": 10 * n} for n in range(12)]


def same(v: int) -> int:
    return v


def nothing(v: int) -> int:
    return 0


def made(
    folder: Any, *, policy: LatePolicy = LatePolicy(), choice: Any = ("ts", None), options: Any = None, module: str = MODULE,  # noqa: B008
    function: Callable[[int], int] = same, wall: Callable[[], int] = lambda: 0, tier: str = "auto",
) -> Job:
    """As ``start`` makes it, with steps by hand."""
    keeping = Keeping({name: ParquetSink(f"{folder}/output/{name}") for name in NAMES if f"'{name}'" in module}, f"{folder}/output")
    frames: Any = {"T": None}
    module_of = JobModule(module, frames, Settings(), {"f": function}, {}, tier)
    return resume(Setup(module_of, lambda _: policy, choice, options or {}, keeping, JobCheckpoint(f"{folder}/state"), (), wall), {})


def feed(job: Job, number: int, *rows: dict[str, Any], newest: int | None = None) -> None:
    merged = job.feed.sources.merge_tables({"T": pa.Table.from_pylist(list(rows), SCHEMA)})
    job.process_batch(number, merged, newest)


def output(job: Job, name: str = "all") -> list[Any]:
    sink = job._keeping.sinks[name]
    assert isinstance(sink, ParquetSink)
    files = sink._files["new"]
    return [row for each in files.names() for row in pa.parquet.read_table(f"{files.root}/{each}").to_pylist()]


def test_another_bound_for_late_rows_changes_nothing_that_was_put_out(tmp_path: Any) -> None:
    """The log behind the last snapshot is of steps whose output stands in files: it means what it meant."""
    job = made(tmp_path)
    for number in range(3):
        feed(job, number, *ROWS[2 * number : 2 * number + 2])
    seen = output(job)
    with pytest.raises(EplRuntimeError, match="1 of 1 rows are late"):
        feed(job, 3, ROWS[3])
    job = made(tmp_path, policy=LatePolicy(1000))
    assert output(job) == seen and job.runtime.now == 50
    with pytest.raises(EplRuntimeError, match="below the watermark 50 "):
        feed(job, 3, ROWS[4])
    feed(job, 3, *reversed(ROWS[6:]))
    job.advance(10_000)
    assert [row["ts"] for row in output(job)] == [row["ts"] for row in ROWS]
    job = made(tmp_path, policy=LatePolicy(5, "drop"))
    assert [row["ts"] for row in output(job)] == [row["ts"] for row in ROWS]


def test_the_log_is_read_with_the_columns_that_it_has(tmp_path: Any) -> None:
    job = made(tmp_path)
    feed(job, 0, *ROWS[:4])
    job = made(tmp_path, choice=("ts", "n"))
    feed(job, 1, *ROWS[4:])
    assert [row["ts"] for row in output(job)] == [row["ts"] for row in ROWS]


def test_a_step_that_puts_out_nothing_any_more_takes_back_what_it_wrote(tmp_path: Any) -> None:
    job = made(tmp_path)
    feed(job, 0, *ROWS[:10])
    assert len(output(job, "big")) == 4
    job = made(tmp_path, function=nothing)
    assert output(job, "big") == [] and len(output(job)) == 10
    feed(job, 1, *ROWS[10:])
    assert output(job, "big") == [] and len(output(job)) == 12


def test_rows_that_nobody_wants_say_that_it_is_not_quiet(tmp_path: Any) -> None:
    job = made(tmp_path, module=TICKS, policy=LatePolicy(10))
    beats = Heartbeat(job, Beat(1.0, 50))
    feed(job, 0, *ROWS[:2])
    beats.beat(1000)
    for number in range(1, 20):  # Spark leaves them out, and reports their time
        feed(job, number, newest=10 + 20 * number)
        beats.beat(1000 + 20 * number)
    assert job.runtime.now == 10 + 20 * 19 - 10
    beats.beat(1380 + 49)
    assert job.runtime.now == 380


def test_a_row_that_waits_for_later_times_makes_no_steps_meanwhile(tmp_path: Any) -> None:
    job = made(tmp_path, policy=LatePolicy(1000))
    feed(job, 0, ROWS[0], {"k": "a", "v": 1, "n": 9, "ts": 900})
    beats = Heartbeat(job, Beat(1.0, 50))
    beats.beat(0)
    steps = []
    for wall in range(100, 2000, 100):
        beats.beat(wall)
        steps.append(job.step)
    assert [row["ts"] for row in output(job)] == [0, 900]
    assert len(set(steps)) <= 4, "one for each row, and one for each that leaves the window"
    assert steps[0] == steps[7] < steps[-1], "none while the second row waits"


def test_idle_time_goes_on_from_where_it_stood_after_a_restart_and_after_late_rows(tmp_path: Any) -> None:
    job = made(tmp_path, module=TICKS, policy=LatePolicy(10, "drop"))
    feed(job, 0, ROWS[1])
    beats = Heartbeat(job, Beat(1.0, 50))
    beats.beat(1000)
    beats.beat(2000)
    assert job.runtime.now == 10 + 1000 - 10
    feed(job, 1, ROWS[0])  # late by now
    beats.beat(2010)
    beats.beat(2110)
    assert job.runtime.now == 1000 + 100
    job = made(tmp_path, module=TICKS, policy=LatePolicy(10, "drop"))
    beats = Heartbeat(job, Beat(1.0, 50))
    beats.beat(5000)
    beats.beat(5100)
    assert job.runtime.now == 1100 + 100


def test_idle_time_without_a_time_column_goes_on_once(tmp_path: Any) -> None:
    job = made(tmp_path, module=TICKS, choice=(None, None))
    feed(job, 0, ROWS[0])
    beats = Heartbeat(job, Beat(1.0, 50))
    for wall in range(1000, 1301, 50):
        beats.beat(wall)
    assert job.runtime.now == 300


def test_rows_without_a_time_come_at_the_system_clock(tmp_path: Any) -> None:
    clock = [5_000_000_000]
    job = made(tmp_path, choice=(None, None), options={"at_wall": True}, wall=lambda: clock[0])
    assert job.runtime.now == clock[0]
    for number in range(3):
        clock[0] += 7
        feed(job, number, ROWS[number])
    beats = Heartbeat(job, Beat(1.0, None))
    beats.beat(clock[0] + 2)  # nothing is due
    assert job.step == 3
    assert [row["at"] % 100 for row in output(job)] == [7, 14, 21] and len(job.iterate("sums")) == 2
    beats.beat(clock[0] + 10)
    assert job.iterate("sums") == []
    again = made(tmp_path, choice=(None, None), options={"at_wall": True}, wall=lambda: clock[0])
    assert again.runtime.now == job.runtime.now and output(again) == output(job)


@pytest.mark.parametrize("mode", ["span", "jump"])
def test_a_gap_that_the_watermark_walks_is_bounded_or_jumped_like_any_other(tmp_path: Any, mode: str) -> None:
    ticks = "create schema T(k string, v int, ts long); @name('all') select count(*) as c from T output every 1 msec;"
    options = {"time_mode": mode, "max_stops": 100}
    job = made(tmp_path, module=ticks, policy=LatePolicy(10), options=options, tier="row")
    feed(job, 0, *ROWS[:3])
    if mode == "jump":
        feed(job, 1, {"k": "a", "v": 1, "n": 1, "ts": 20_000})
        assert job.runtime.now == 19_990 and len(output(job)) < 30
    else:
        with pytest.raises(EplRuntimeError, match="more than 100 timers are due on the way"):
            feed(job, 1, {"k": "a", "v": 1, "n": 1, "ts": 20_000})


def test_parameters_that_the_log_cannot_hold_are_refused_and_the_job_goes_on(tmp_path: Any) -> None:
    job = made(tmp_path)
    with pytest.raises(EplRuntimeError, match="'more': TypeError"):
        job.deploy("@name('more') select * from T(v > ?)", name="more", parameters={1: Decimal(1)})
    feed(job, 0, *ROWS)
    assert len(output(job)) == 12 and job.step == 1


def test_idle_and_the_system_clock_exclude_one_another() -> None:
    with pytest.raises(EplRuntimeError, match="idle is for clock='events'"):
        Beat.of("system", "1 second", 1.0, 1000)
