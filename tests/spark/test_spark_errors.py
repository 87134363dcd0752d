"""An error in the engine says where it happened, ends the job, and loses nothing: text, state, output behind a restart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from epl.errors import EplRuntimeError, EplValidationError
from epl.settings import Settings
from runtime import Runtime
from runtime.api.faults import StatementFault
from runtime.clock.late_rows import LatePolicy
from runtime.spark import start
from runtime.spark.driver_host.checkpoint import JobCheckpoint, no_hook
from runtime.spark.driver_host.driver import JobModule, Setup, resume
from runtime.spark.driver_host.job import Job, MicroBatchError
from runtime.spark.driver_host.sinks import Keeping, ParquetSink

pytestmark = pytest.mark.spark

MODULE = """create schema T(k string, v int, ts long);
@name('own')
select k, own(v) as w from T;
@name('rest') select k, 7 % v as r from T(v != 2);
@name('sums') select irstream k, sum(v) as s from T#time(10 msec) group by k;
"""
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("ts", pa.int64())])
ROWS = [{"k": "ab"[n % 2], "v": n + 1, "ts": 4 * n} for n in range(12)]
NAMES = ("own", "rest", "sums")


def own(v: int) -> int:
    return 10 * v


def failing_at(wrong: int) -> Callable[[int], int]:
    def function(v: int) -> int:
        if v == wrong:
            raise LookupError(f"there is no {v}")
        return 10 * v

    return function


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), SCHEMA)


def made(
    folder: Any, function: Callable[..., Any] = own, *, module: str | Runtime = MODULE, lenient: bool = False, listeners: Any = None,
    policy: LatePolicy = LatePolicy(), hook: Callable[[str], None] = no_hook, tier: str = "auto",  # noqa: B008
) -> Job:
    keeping = Keeping({name: ParquetSink(f"{folder}/output/{name}", hook) for name in NAMES}, f"{folder}/output", hook)
    frames: Any = {"T": None}
    functions = {"own": function}
    setup = Setup(
        JobModule(module, frames, Settings(), functions, {}, tier), lambda _: policy, ("ts", None), {}, keeping,
        JobCheckpoint(f"{folder}/state", hook), (), lambda: 0, lenient,
    )
    return resume(setup, listeners or {})


def feed(job: Job, number: int, *rows: dict[str, Any]) -> None:
    job.process_batch(number, job.feed.sources.merge_tables({"T": table(*rows)}))


def output(job: Job) -> dict[tuple[str, str], list[Any]]:
    found = {}
    for name in NAMES:
        sink = job._keeping.sinks[name]
        assert isinstance(sink, ParquetSink)
        for stream, files in sink._files.items():
            found[name, stream] = [r for each in files.names() for r in pa.parquet.read_table(f"{files.root}/{each}").to_pylist()]
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: Any) -> dict[tuple[str, str], list[Any]]:
    job = made(tmp_path_factory.mktemp("whole"))
    feed(job, 0, *ROWS)
    return output(job)


@pytest.mark.parametrize("tier", ["auto", "row"])
def test_a_function_that_raises_is_told_with_all_that_is_known_and_nothing_is_lost(tmp_path: Any, undisturbed: Any, tier: str) -> None:
    job = made(tmp_path, failing_at(6), tier=tier)
    feed(job, 0, *ROWS[:4])
    with pytest.raises(StatementFault) as caught:
        feed(job, 1, *ROWS[4:8])
    fault = caught.value
    assert fault.message == (
        "micro-batch 1: statement 'own' (line 3 column 11, own(v)): LookupError: there is no 6; "
        "while processing T(k='b', v=6, ts=20) at engine time 20"
    )
    assert isinstance(fault.__cause__, LookupError) and fault.position == (3, 11) and job.error is fault
    assert (fault.statement, fault.time, fault.event.get("v")) == ("own", 20, 6)
    assert job.step == 1
    for use in (lambda: job.iterate("sums"), job.state, job.snapshot, lambda: feed(job, 1, *ROWS[4:8]), lambda: job.advance(99)):
        with pytest.raises(EplRuntimeError, match="there is no 6"):
            use()
    again = made(tmp_path, tier=tier)
    assert again.step == 1 and again.runtime.now == ROWS[3]["ts"]
    feed(again, 1, *ROWS[4:8])
    feed(again, 2, *ROWS[8:])
    assert output(again) == undisturbed


def test_arithmetic_that_raises_names_the_operator(tmp_path: Any, undisturbed: Any) -> None:
    job = made(tmp_path)
    with pytest.raises(StatementFault, match=r"statement 'rest' \(line 4 column 25, 7 % v\): / by zero; while processing T\(k='a', v=0"):
        feed(job, 0, *ROWS[:4], {"k": "a", "v": 0, "ts": 13})
    again = made(tmp_path)
    feed(again, 0, *ROWS)
    assert output(again) == undisturbed


def test_with_several_places_all_are_named_and_a_filter_is_one(tmp_path: Any) -> None:
    start_of = "create schema T(k string, v int, ts long);\n@name('own') select own(v) as w from T(own(v) > 0);\n"
    module = start_of + MODULE.partition("from T;\n")[2]
    with pytest.raises(StatementFault, match=r"\(line 2 column 21 or line 2 column 40, own\(v\)\): LookupError: there is no 1; .*v=1"):
        feed(made(tmp_path, failing_at(1), module=module), 0, *ROWS)


def test_left_to_the_handler_the_event_is_lost_to_its_statement_and_a_restart_goes_the_same_way(tmp_path: Any, undisturbed: Any) -> None:
    job = made(tmp_path, failing_at(6), lenient=True)
    feed(job, 0, *ROWS)
    expected = {**undisturbed, ("own", "new"): [r for r in undisturbed["own", "new"] if r["w"] != 60]}
    assert output(job) == expected and job.progress.faults == 1
    again = made(tmp_path, failing_at(6))  # what was logged was lived with
    assert again.step == 1 and output(again) == expected


UPDATES = MODULE + """create schema V(k string, vs int[]);
@name('u') update istream T set k = 'a' where k = 'a' and own(v) > 0;
insert into V select k, {1, 2} as vs from T(v > 9);
@name('place') update istream V set vs[1 + 1] = 5 where k = 'a';
"""


@pytest.mark.parametrize("tier", ["auto", "row"])
def test_an_update_that_raises_loses_its_event_as_the_sender_would(tmp_path: Any, undisturbed: Any, tier: str) -> None:
    job = made(tmp_path, failing_at(5), module=UPDATES, lenient=True, tier=tier)
    rows = [row for row in ROWS if row["v"] != 5]
    feed(job, 0, *ROWS)
    assert output(job)["own", "new"] == [{"k": row["k"], "w": 10 * row["v"]} for row in rows]
    assert job.progress.faults == 2 and job.halted is None  # the place of the array is another one
    feed(job, 1, {"k": "a", "v": 1, "ts": 100})
    assert output(job)["own", "new"][-1] == {"k": "a", "w": 10}
    again = made(tmp_path, module=UPDATES, tier=tier)
    assert again.step == 2 and output(again) == output(job)
    with pytest.raises(StatementFault, match=r"statement 'u' .*LookupError: there is no 5"):
        feed(made(tmp_path / "stop", failing_at(5), module=UPDATES, tier=tier), 0, *ROWS)


def test_a_listener_that_raises_ends_nothing_but_what_it_sends_may(tmp_path: Any) -> None:
    heard: list[Any] = []

    def listener(new: Any, old: Any, statement: Any, runtime: Runtime) -> None:
        heard.append(len(new))
        if len(heard) == 3:
            raise ValueError("mine")

    job = made(tmp_path / "one", listeners={"own": listener})
    feed(job, 0, *ROWS)
    assert len(heard) == len(ROWS) and job.error is None and job.halted is None

    def sender(new: Any, old: Any, statement: Any, runtime: Runtime) -> None:
        if new[0]["w"] == 30:
            runtime.send("T", {"k": "x", "v": 66, "ts": 0})

    job = made(tmp_path / "two", failing_at(66), listeners={"own": sender})
    with pytest.raises(StatementFault, match="there is no 66; while processing T\\(k='x', v=66"):
        feed(job, 0, *ROWS)


def test_a_timer_that_raises_is_told_as_one(tmp_path: Any) -> None:
    module = MODULE.replace("select k, own(v) as w from T", "select irstream k, v, own(v) as w from T#time(5 msec)")
    module = module.replace("own(v) as w", "own(last(v)) as w")
    message = r"^moving time to 100: statement 'own' \(line 3 .*ZeroDivisionError: .*while processing a timer at engine time 5\n"

    def function(v: int) -> int:
        return 1 // (v or 0)

    job = made(tmp_path, function, module=module)
    with pytest.raises(StatementFault, match=message):
        feed(job, 0, ROWS[0])
        job.advance(100)
    assert made(tmp_path, function, module=module).runtime.now == 0


def test_output_that_cannot_be_written_is_written_by_the_next_start(tmp_path: Any, undisturbed: Any) -> None:
    full: list[str] = []

    def hook(name: str) -> None:
        if name in full:
            raise OSError("no space left")

    for point in ("log.before", "log.rename", "sink.before", "sink.rename"):
        folder = tmp_path / point
        job = made(folder, hook=hook)
        feed(job, 0, *ROWS[:5])
        full.append(point)
        with pytest.raises(EplRuntimeError, match=r"^micro-batch 1: what it led to could not be written: OSError: no space left"):
            feed(job, 1, *ROWS[5:])
        full.clear()
        assert isinstance(job.error, EplRuntimeError)
        with pytest.raises(EplRuntimeError, match="no space left"):
            job.snapshot()
        with pytest.raises(EplRuntimeError, match="no space left"):
            feed(job, 1, *ROWS[5:])
        again = made(folder)
        feed(again, 1, *ROWS[5:])
        assert again.step == 2 and output(again) == undisturbed


def test_a_runtime_that_was_left_half_way_is_not_taken_again(tmp_path: Any) -> None:
    def fresh(function: Callable[..., Any]) -> Runtime:
        runtime = Runtime()
        runtime.register_function("own", function)
        runtime.deploy(MODULE)
        return runtime

    broken = fresh(failing_at(2))
    job = made(tmp_path, module=broken)
    with pytest.raises(StatementFault):
        feed(job, 0, *ROWS[:4])
    with pytest.raises(EplRuntimeError, match=r"an error left the runtime in the middle of a step: .*there is no 2"):
        made(tmp_path, module=broken)
    again = made(tmp_path, module=fresh(own))
    feed(again, 0, *ROWS)
    assert again.step == 1


def test_a_refused_deployment_leaves_the_job_as_it_is(tmp_path: Any, undisturbed: Any) -> None:
    job = made(tmp_path)
    feed(job, 0, *ROWS[:4])
    with pytest.raises(EplValidationError):
        job.deploy("select nothing from T")
    assert job.error is None and job.halted is None and job.step == 1
    feed(job, 1, *ROWS[4:])
    assert output(job) == undisturbed


def test_late_rows_are_shown(tmp_path: Any) -> None:
    job = made(tmp_path, policy=LatePolicy(5))
    feed(job, 0, ROWS[9])
    message = (
        r"^micro-batch 1: Event type 'T': 1 of 2 rows are late: row 1 is of 0 \(1970-01-01T00:00:00Z\), "
        r"below the watermark 31 \(1970-01-01T00:00:00.031Z\): \{'k': 'a', 'v': 1, 'ts': 0\}\n"
    )
    with pytest.raises(EplRuntimeError, match=message):
        feed(job, 1, ROWS[10], ROWS[0])
    assert job.halted is None and job.error is None


MakeStream = Callable[..., DataFrame]


def test_sparks_query_ends_with_the_error_and_goes_on_once_it_is_mended(
    spark: SparkSession, stream: MakeStream, tmp_path: Any, undisturbed: Any
) -> None:
    frame = stream("in", table(*ROWS[:4]), table(*ROWS[4:8]), table(*ROWS[8:]))

    def job(function: Callable[..., Any], **more: Any) -> Job:
        return start(
            MODULE, {"T": frame}, time="ts", checkpoint=str(tmp_path / "job"), outputs=NAMES, functions={"own": function},
            trigger="availableNow", **more,
        )

    first = job(failing_at(6))
    with pytest.raises(StatementFault, match=r"^micro-batch 1: statement 'own'"):
        first.await_termination()
    with pytest.raises(StreamingQueryException, match=r"\[epl:runtime\] micro-batch 1: statement 'own' \(line 3 column 11, own\(v\)\)"):
        first.streaming_query.awaitTermination()
    first.stop()
    second = job(own)
    second.await_termination()
    assert {n: sorted(map(repr, rows)) for n, rows in output(second).items()} == {
        n: sorted(map(repr, rows)) for n, rows in undisturbed.items()}
    assert issubclass(MicroBatchError, EplRuntimeError)
    second.stop()
    with pytest.raises(EplRuntimeError, match="on_error is one of stop, handler, not 'ignore'"):
        job(own, on_error="ignore")
