"""A job that dies at any moment goes on as if it had not: state, output, time, late rows, changed modules."""

from __future__ import annotations

import datetime
import itertools
import random
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from epl.errors import EplDeploymentError, EplRuntimeError, EplValidationError
from epl.settings import Settings
from runtime import Runtime
from runtime.clock.late_rows import LatePolicy
from runtime.spark.driver_host.checkpoint import JobCheckpoint, no_hook
from runtime.spark.driver_host.driver import JobModule, Setup, resume
from runtime.spark.driver_host.job import Job
from runtime.spark.driver_host.sinks import Keeping, ParquetSink
from runtime.spark.heartbeat import Beat, Heartbeat

pytestmark = pytest.mark.spark

MODULE = """
create schema T(k string, v int, n long, ts long);
insert into U select k, v, n from T(v >= 0);
@name('sums') select irstream k, sum(v) as s, count(*) as c from U#time(100 msec) group by k;
@name('rises') select * from U match_recognize (
  partition by k measures A.n as a, last(B.n) as b pattern (A B+ C) define B as B.v > A.v, C as C.v < A.v);
@name('ticks') select k, count(*) as c from U group by k output last every 250 milliseconds;
"""
NAMES = ("sums", "rises", "ticks")
CHANCE = random.Random(11)
ROWS = [{"k": CHANCE.choice("abc"), "v": CHANCE.randrange(10), "n": n, "ts": n * 7 // 2} for n in range(400)]
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("n", pa.int64()), ("ts", pa.int64())])


class Died(BaseException):
    """What a process that is killed does in these tests: nothing catches it."""


def made(
    folder: Any, module: str = MODULE, *, policy: LatePolicy = LatePolicy(), hook: Callable[[str], None] = no_hook,  # noqa: B008
    names: tuple[str, ...] = NAMES, forget: tuple[str, ...] = (), wall: Callable[[], int] = lambda: 0,
    listeners: dict[str, Any] | None = None, key: bytes | None = None,
) -> Job:
    """A job as ``start`` makes it, without a query of Spark: micro-batches are brought by hand."""
    keeping = Keeping({name: ParquetSink(f"{folder}/output/{name}", hook) for name in names}, f"{folder}/output", hook)
    frames: Any = {"T": None}
    setup = Setup(
        JobModule(module, frames, Settings(), {}, {}, "auto"), lambda _: policy, ("ts", "n"), {}, keeping,
        JobCheckpoint(f"{folder}/state", hook, key), forget, wall,
    )
    return resume(setup, listeners or {})


def merged(job: Job, rows: list[dict[str, Any]]) -> pa.Table:
    return job.feed.sources.merge_tables({"T": pa.Table.from_pylist(rows, SCHEMA)})


def cut(rows: list[dict[str, Any]], size: int) -> list[list[dict[str, Any]]]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def output(spark: SparkSession, job: Job) -> dict[tuple[str, str], list[Any]]:
    found = {}
    for name, stream in itertools.product(NAMES, ("new", "old")):
        sink = job._keeping.sinks[name]
        assert isinstance(sink, ParquetSink)
        files = sink._files[stream]
        tables = [pa.parquet.read_table(f"{files.root}/{each}") for each in files.names()]
        found[name, stream] = [row for table in tables for row in table.to_pylist()]
        assert job.output(name, stream).count() == len(found[name, stream])
    return found


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, tmp_path_factory: Any) -> dict[tuple[str, str], list[Any]]:
    job = made(tmp_path_factory.mktemp("whole"))
    for number, rows in enumerate(cut(ROWS, 400)):
        job.process_batch(number, merged(job, rows))
    found = output(spark, job)
    assert all(found[name, "new"] for name in NAMES) and found["sums", "old"]
    return found


POINTS = [f"{what}.{when}" for what in ("log", "sink", "snapshot") for when in ("before", "during", "rename", "after")]


@pytest.mark.parametrize("point", POINTS)
def test_a_job_that_dies_at_any_point_goes_on(spark: SparkSession, undisturbed: Any, tmp_path: Any, point: str) -> None:
    deaths = [2, 5, 11]
    seen = itertools.count()

    def hook(name: str) -> None:
        if name == point and alive and next(seen) in deaths:
            raise Died(point)

    alive = False
    died = 0
    job = made(tmp_path, hook=hook)
    alive = True
    batches = cut(ROWS, 23)
    done = 0
    while done < len(batches):
        try:
            job.process_batch(done, merged(job, batches[done]))
            if done % 2:
                job.snapshot()
            done += 1  # Spark hears of it
        except Died:
            died += 1
            alive = False
            job = made(tmp_path, hook=hook)
            alive = True
    assert died >= 2
    assert output(spark, job) == undisturbed


STORED = Path(__file__).parent / "stored" / "checkpoint.zip"
"""A job's state folder behind step 9 of batches of 23 rows, its last snapshot behind step 7, as an earlier revision wrote it
(``python -m tests.spark.test_spark_job``).
"""


def test_a_checkpoint_written_by_an_earlier_revision_goes_on(spark: SparkSession, undisturbed: Any, tmp_path: Any) -> None:
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(tmp_path / "state")
    job = made(tmp_path)
    assert job.step == 9
    for number, rows in enumerate(cut(ROWS, 23)):
        if number >= 9:
            job.process_batch(number, merged(job, rows))
    assert job.step == len(cut(ROWS, 23))
    found = output(spark, job)
    for name, stream in found:
        rows = found[name, stream]
        assert rows == undisturbed[name, stream][len(undisturbed[name, stream]) - len(rows) :]
    assert all(found[name, "new"] for name in NAMES) and found["sums", "old"]


def write_checkpoint() -> None:
    with tempfile.TemporaryDirectory() as folder:
        job = made(folder)
        for number, rows in enumerate(cut(ROWS, 23)[:9]):
            job.process_batch(number, merged(job, rows))
            if number == 6:
                job.snapshot()
        STORED.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(STORED, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder, "state").rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(Path(folder, "state")))


@pytest.mark.parametrize("size", [1, 40, 150])
def test_any_cut_and_a_restart_behind_every_step_change_nothing(spark: SparkSession, undisturbed: Any, tmp_path: Any, size: int) -> None:
    rows = ROWS if size > 1 else ROWS[:15]
    job = made(tmp_path)
    for number, batch in enumerate(cut(rows, size)):
        job.process_batch(number, merged(job, batch))
        job = made(tmp_path)
        job.process_batch(number, merged(job, batch))  # Spark had not heard of it
        assert job.step == number + 1
    if rows is ROWS:
        assert output(spark, job) == undisturbed
    else:
        whole = made(tmp_path / "whole")
        whole.process_batch(0, merged(whole, rows))
        assert output(spark, job) == output(spark, whole)


def test_rows_in_any_order_within_the_bound_give_the_output_of_the_ordered_stream(spark: SparkSession, tmp_path: Any) -> None:
    bound = 60
    policy = LatePolicy(bound, "refuse")
    for seed in range(2):
        chance = random.Random(seed)
        shuffled = sorted(ROWS, key=lambda row: row["ts"] + chance.random() * bound)
        job = made(tmp_path / str(seed), policy=policy)
        at = number = 0
        while at < len(shuffled):
            size = chance.randrange(1, 60)
            job.process_batch(number, merged(job, shuffled[at : at + size]))
            at, number = at + size, number + 1
            if chance.random() < 0.2:
                job = made(tmp_path / str(seed), policy=policy)
        assert job.feed.buffer is not None and job.feed.buffer.held
        job.advance(ROWS[-1]["ts"])
        rest = made(tmp_path / f"{seed} whole")
        rest.process_batch(0, merged(rest, [r for r in ROWS if r["ts"] < ROWS[-1]["ts"]]))
        rest.advance(ROWS[-1]["ts"])
        assert output(spark, job) == output(spark, rest)


def test_late_rows_and_rows_from_the_future_are_left_out_and_kept_beside(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path, policy=LatePolicy(10, "side", ahead=1000), wall=lambda: 500)
    row = ROWS[0]
    job.process_batch(0, merged(job, [{**row, "ts": 100}, {**row, "ts": 95}, {**row, "ts": 99_999}, {**row, "ts": None, "n": -1}]))
    job.process_batch(1, merged(job, [{**row, "ts": 89, "n": -2}, {**row, "ts": 90}]))
    late, ahead = job.left_out("T"), job.left_out("T", "ahead")
    assert late is not None and ahead is not None
    assert [r["n"] for r in late.orderBy("n").collect()] == [-2, -1] and [r["ts"] for r in ahead.collect()] == [99_999]
    assert job.feed.buffer is not None
    counts = job.feed.buffer.counts
    assert (counts.rows, counts.late, counts.ahead) == (6, 2, 1)
    assert job.feed.buffer.newest == 100 and job.runtime.now == 90
    text = job.progress.prometheus()
    assert "epl_rows_late_total 2" in text and "epl_rows_ahead_total 1" in text and "epl_rows_waiting 3" in text


def test_too_many_waiting_rows_are_released_oldest_first(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path, policy=LatePolicy(1_000_000, "drop", max_buffered=50))
    job.process_batch(0, merged(job, ROWS[:200]))
    assert job.feed.buffer is not None and job.feed.buffer.held <= 50 and job.feed.buffer.counts.forced >= 150
    assert job.runtime.now == job.feed.buffer.watermark == ROWS[149]["ts"] + 1


def test_a_refused_micro_batch_has_no_effect(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path, policy=LatePolicy(10))
    job.process_batch(0, merged(job, ROWS[:50]))
    before = job.state()
    with pytest.raises(EplRuntimeError, match=r"Event type 'T': 1 of 2 rows are late: row 1 is of 3 \(1970.*\), below the watermark"):
        job.process_batch(1, merged(job, [ROWS[60], ROWS[1]]))
    assert job.state() == before and job.step == 1


def test_numbers_of_micro_batches_that_do_not_fit_fail_loudly(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path)
    with pytest.raises(EplRuntimeError, match="Spark continues with micro-batch 3, and there is no state of the ones before it"):
        job.process_batch(3, merged(job, ROWS[:5]))
    job.process_batch(0, merged(job, ROWS[:5]))
    job.process_batch(1, merged(job, ROWS[5:9]))
    for wrong in (0, 3):
        with pytest.raises(EplRuntimeError, match=f"micro-batch {wrong} came after 1: expected 2"):
            job.process_batch(wrong, merged(job, ROWS[9:12]))


def test_a_changed_module_keeps_the_state_of_what_did_not_change(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path)
    job.process_batch(0, merged(job, ROWS[:100]))
    before = job.iterate("sums")
    more = MODULE.replace("@name('ticks')", "@name('most') select max(v) as m from U;\n@name('ticks')")
    changed = more.replace("#time(100 msec)", "#time(99 msec)")
    with pytest.raises(EplDeploymentError, match="statement 'sums' is not the one whose state was kept") as caught:
        made(tmp_path, changed)
    assert caught.value.hint is not None and "forget=['sums']" in caught.value.hint
    again = made(tmp_path)
    assert again.iterate("sums") == before, "a refused start has changed nothing"
    job = made(tmp_path, changed, forget=("sums",))
    assert job.step == 1 and job.iterate("sums") == [] and job.runtime.now == ROWS[99]["ts"]
    job.process_batch(1, merged(job, ROWS[100:]))
    undisturbed = made(tmp_path / "whole")
    undisturbed.process_batch(0, merged(undisturbed, ROWS))
    assert job.iterate("ticks") == undisturbed.iterate("ticks")
    rises = [sorted((r["a"], r["b"]) for r in each.output("rises").collect()) for each in (job, undisturbed)]
    assert rises[0] == rises[1]


def test_statements_come_and_go_while_the_job_runs(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path)
    job.process_batch(0, merged(job, ROWS[:100]))
    job.deploy("@name('later') select sum(v) as s from U", name="extra")
    job.process_batch(1, merged(job, ROWS[100:200]))
    asked = job.iterate("later")
    assert asked[0]["s"] == sum(r["v"] for r in ROWS[100:200])
    job = made(tmp_path)
    assert job.step == 3 and job.iterate("later") == asked
    changed = made(tmp_path, MODULE + "@name('new') select v from U;")
    assert changed.iterate("later") == asked and changed.dynamic == ["extra"]
    changed.undeploy("extra")
    gone = made(tmp_path, MODULE + "@name('new') select v from U;")
    with pytest.raises(EplRuntimeError, match="there are 0 statements named 'later'"):
        gone.iterate("later")
    with pytest.raises(EplValidationError, match="On-demand queries require tables or named windows"):
        gone.query("select * from U")


def test_time_goes_on_without_rows(tmp_path: Any, spark: SparkSession) -> None:
    heard: list[Any] = []
    job = made(tmp_path, listeners={"sums": lambda new, old, s, r: heard.append((r.now, len(new), len(old)))})
    job.process_batch(0, merged(job, ROWS[:3]))
    heard.clear()
    for nothing in ("soon", None, 1.5, True):
        with pytest.raises(EplRuntimeError, match="until: expected a datetime or a whole number of ms since 1970, not"):
            job.advance(nothing)  # type: ignore[arg-type]
    assert job.step == 1
    job.advance(datetime.datetime(1970, 1, 1, 0, 0, 1))
    assert [at for at, *_ in heard] == [100, 103, 107] and job.step == 2
    job = made(tmp_path)
    assert job.runtime.now == 1000 and job.step == 2


def test_an_idle_rule_moves_time_by_the_wall_clock(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path, policy=LatePolicy(10, "drop"))
    beats = Heartbeat(job, Beat(1.0, 50))
    beats.beat(0)
    job.process_batch(0, merged(job, ROWS[:10]))
    newest = ROWS[9]["ts"]
    beats.beat(1000)  # rows have come: the wall clock is read
    beats.beat(1049)
    assert job.runtime.now == newest - 10 and job.step == 1
    beats.beat(1050)
    assert job.runtime.now == newest + 50 - 10 and job.step == 2 and job.feed.buffer is not None and not job.feed.buffer.held
    beats.beat(1060)
    assert job.step == 2, "nothing is due"
    beats.beat(1500)
    assert job.step == 3 and job.iterate("sums") == []


def test_the_system_clock_moves_time_as_far_behind_as_rows_may_be(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path, policy=LatePolicy(10, "drop"))
    job.process_batch(0, merged(job, ROWS[:10]))
    beats = Heartbeat(job, Beat(1.0, None))
    beats.beat(1010)
    assert job.runtime.now == 1000 and job.iterate("sums") == []
    beats.beat(900)
    assert job.runtime.now == 1000


def test_damaged_checkpoints_are_told(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path)
    for number, batch in enumerate(cut(ROWS, 100)):
        job.process_batch(number, merged(job, batch))
    log = tmp_path / "state" / "log"
    (log / "000000000002.entry").write_bytes(b"EPLC\x01????half")
    with pytest.raises(EplRuntimeError, match=r"the input log in .* cannot be read: 000000000002\.entry is not an epl-spark snapshot"):
        made(tmp_path)
    (log / "000000000002.entry").unlink()
    with pytest.raises(EplRuntimeError, match="has no entry 2, but 3"):
        made(tmp_path)
    for each in (tmp_path / "state" / "snapshots").iterdir():
        each.write_bytes(b"EPL")
    with pytest.raises(EplRuntimeError, match=r"no snapshot in .* can be read: 000000000000\.state is "):
        made(tmp_path)


def test_a_sealed_checkpoint_needs_its_key(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path, key=b"secret")
    job.process_batch(0, merged(job, ROWS[:100]))
    for other, message in ((None, "is sealed with a key that is not given"), (b"other", "is not sealed with this snapshot_key")):
        with pytest.raises(EplRuntimeError, match=rf"no snapshot in .* can be read: 000000000000\.state {message}"):
            made(tmp_path, key=other)
    log = tmp_path / "state" / "log"
    again = made(tmp_path, key=b"secret")
    assert again.step == 1
    again.process_batch(1, merged(again, ROWS[100:200]))
    (log / "000000000002.entry").write_bytes((log / "000000000001.entry").read_bytes())
    with pytest.raises(EplRuntimeError, match=r"the input log in .* cannot be read: 000000000002\.entry is not sealed with this"):
        made(tmp_path, key=b"secret")


def test_what_a_job_keeps_is_bounded(tmp_path: Any, spark: SparkSession) -> None:
    job = made(tmp_path)
    for number, row in enumerate(ROWS[:210]):
        job.process_batch(number, merged(job, [row]))
    state = tmp_path / "state"
    assert len(list((state / "snapshots").iterdir())) == 2 and len(list((state / "log").iterdir())) <= 210
    job.snapshot()
    job.process_batch(210, merged(job, ROWS[210:]))
    job.snapshot()
    assert [each.name for each in (state / "log").iterdir()] == ["000000000211.entry"] and made(tmp_path).step == 211


def test_a_runtime_of_the_user_gets_the_state_back(tmp_path: Any, spark: SparkSession) -> None:
    def over(runtime: Runtime) -> Job:
        frames: Any = {"T": None}
        setup = Setup(
            JobModule(runtime, frames, Settings(), {}, {}, "auto"), lambda _: LatePolicy(), ("ts", "n"), {}, Keeping({}),
            JobCheckpoint(f"{tmp_path}/state"), (), lambda: 0,
        )
        return resume(setup, {})

    with_function = MODULE + "@name('own') select twice(v) as w from U#length(2);"

    def fresh() -> Runtime:
        made = Runtime()
        made.register_function("twice", lambda v: 2 * v)
        made.deploy(with_function)
        return made

    first = fresh()
    job = over(first)
    job.process_batch(0, merged(job, ROWS[:100]))
    asked = job.iterate("sums")
    same = over(first)
    assert same.iterate("sums") == asked and same.step == 1
    other = fresh()
    again = over(other)
    assert again.iterate("own") == job.iterate("own") != []
    assert again.iterate("sums") == asked and other.now == ROWS[99]["ts"]
    again.process_batch(1, merged(again, ROWS[100:]))
    whole = Runtime()
    whole.deploy(MODULE)
    whole.send_batch("T", pa.Table.from_pylist(ROWS, SCHEMA), time="ts", sequence="n")
    assert again.iterate("sums") == list(whole.statement("sums"))


if __name__ == "__main__":
    write_checkpoint()
