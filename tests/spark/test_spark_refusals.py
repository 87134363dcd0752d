"""What cannot run is refused before anything runs: sources that do not fit, columns of the wrong type, workers without the package."""

from __future__ import annotations

import datetime
import logging
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from epl.errors import EplError, EplRuntimeError, EplUnsupportedError
from epl.event_types import EventOf, EventType, Property
from epl.settings import Settings
from epl.value_types import ArrayType, MapType, Scalar, ValueType
from runtime import Runtime
from runtime.conversion.columns import may_hold
from runtime.spark import Job, probe, session, start, transform
from runtime.spark.probe import check_workers

pytestmark = pytest.mark.spark

R, Q = "create schema R(k string, v int); ", "create schema Q(k string); "
NOBODY = r"Source 'Rx': no statement reads an event type of that name \(did you mean 'R'\?\)"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.range(6).selectExpr("concat('k', id % 2) as k", "cast(id as int) as v", "id as ts", "cast(id as string) as t")


def streaming(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").load().selectExpr("concat('k', value % 2) as k", "cast(value as int) as v", "value as ts")


# ------------------------------------------------------------------ sources and the types that statements read


@pytest.mark.parametrize(
    ("epl", "names", "message"),
    [
        (R + "@name('s') select k from R", ["Rx"], NOBODY),
        (R + "@name('s') select k from R", ["R", "Rx"], NOBODY),
        ("@name('s') select k from R", ["Rx"], "Failed to resolve event type.*'R'"),
        (R + Q + "@name('s') select k from R; @name('q') select k from Q", ["Q"], "reads the event type 'R', which has no source"),
        (R + "insert into S select k from R; @name('s') select k from S", ["S"], "reads the event type 'R', which has no source"),
    ],
)
def test_a_source_that_nobody_reads_and_a_type_that_nobody_fills(
    spark: SparkSession, rows: DataFrame, epl: str, names: list[str], message: str
) -> None:
    with pytest.raises(EplError, match=message):
        transform(epl, dict.fromkeys(names, rows), "s")
    with pytest.raises(EplError, match=message):
        start(epl, dict.fromkeys(names, streaming(spark)))
    assert not spark.streams.active


@pytest.mark.parametrize(
    ("epl", "names"),
    [
        (R + Q + "@name('s') select k from R", ["R", "Q"]),  # Q only moves time
        (R + Q + "@name('s') select k from R; @name('q') select k from Q", ["R"]),  # 's' does not need Q
        (R + "insert into S select k from R; @name('s') select k from S", ["R"]),
        ("create schema P(k string); create schema R(v int) inherits P; @name('s') select k from P", ["R"]),  # events of a sub-type
        (R + "update istream R set k = 'x'; @name('s') select k from R", ["R"]),
    ],
)
def test_what_is_filled_by_statements_or_moves_time_is_let_through(rows: DataFrame, epl: str, names: list[str]) -> None:
    assert transform(epl, dict.fromkeys(names, rows), "s").columns == ["k"]


def test_a_runtime_may_be_fed_by_others_but_its_sources_are_read(spark: SparkSession) -> None:
    with Runtime() as runtime:
        runtime.deploy(R + Q + "@name('s') select k from R; @name('q') select k from Q")
        with pytest.raises(EplRuntimeError, match=NOBODY):
            start(runtime, {"Rx": streaming(spark)})
        with pytest.raises(EplRuntimeError):
            runtime.event_type("Rx")
        job = start(runtime, {"R": streaming(spark)})  # a listener may send events of Q
        assert repr(job).startswith("Job(status: running, step: ")
        job.stop()


def test_what_is_no_dataframe_of_sparks(rows: DataFrame) -> None:
    epl = R + "@name('s') select k from R"
    table = pa.table({"k": ["a"], "v": [1]})
    for data, message in (
        (table.to_pandas(), "Source 'R' is a pandas DataFrame, not a Spark DataFrame"), (table, "Source 'R' is a pyarrow Table"),
    ):
        for run in (lambda data=data: transform(epl, {"R": data}, "s"), lambda data=data: start(epl, {"R": data})):
            with pytest.raises(EplRuntimeError, match=message) as caught:
                run()
            assert "spark.createDataFrame" in str(caught.value)
    with pytest.raises(EplRuntimeError, match=r"Source 'R' is a pandas-on-Spark DataFrame, not a Spark DataFrame\n  hint: \.to_spark\(\)"):
        transform(epl, {"R": rows.pandas_api()}, "s")  # type: ignore[dict-item]
    with pytest.raises(TypeError, match=r"transform\(sources=<DataFrame>\): expected a mapping or None"):
        transform(epl, rows, "s")  # type: ignore[call-overload]


# ------------------------------------------------------------------ columns: the check of plans is the check of rows

KINDS = ("byte", "short", "int", "long", "BigInteger", "float", "double", "BigDecimal", "boolean", "String", "char", "ZonedDateTime",
         "LocalDateTime", "LocalDate", "LocalTime", "Object")
NESTED = EventType("N", "map", {"a": Property("a", Scalar("int"))})
TYPES: list[ValueType] = [
    *map(Scalar, KINDS), ArrayType(Scalar("int")), MapType(Scalar("String"), Scalar("int")), EventOf(NESTED),
    ArrayType(EventOf(NESTED)),
]
STAMP = datetime.datetime(2020, 1, 2, 3, 4, 5)
COLUMNS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [0, 1, -1]), (pa.int32(), [0, 7]), (pa.int64(), [0, 2**40]), (pa.float32(), [0.0, 0.5]), (pa.float64(), [1.0, 0.25]),
    (pa.decimal128(10, 2), [Decimal("1.50")]), (pa.decimal128(10, 0), [Decimal(1)]), (pa.bool_(), [True, False]),
    (pa.string(), ["a", "text", "1", "2020-01-02", "2020-01-02T03:04:05", "03:04:05"]), (pa.timestamp("us"), [STAMP]),
    (pa.timestamp("us", tz="UTC"), [STAMP]), (pa.date32(), [STAMP.date()]), (pa.time64("us"), [STAMP.time()]), (pa.binary(), [b"x"]),
    (pa.list_(pa.int32()), [[1], []]), (pa.list_(pa.string()), [["a"]]), (pa.map_(pa.string(), pa.int32()), [[("a", 1)]]),
    (pa.map_(pa.string(), pa.string()), [[("a", "b")], [("z", "b")]]), (pa.struct([("a", pa.int32())]), [{"a": 1}]),
    (pa.struct([("a", pa.string())]), [{"a": "b"}]), (pa.list_(pa.struct([("a", pa.int32())])), [[{"a": 1}]]),
]


@pytest.mark.parametrize("tier", ["row", "auto"])
def test_what_is_refused_at_planning_is_what_is_refused_of_rows(tier: str) -> None:
    """Each pair of column type and property type: planning lets it through exactly if some value of such a column is taken."""
    wrong = []
    for value_type in TYPES:
        event_type = EventType("T", "map", {"p": Property("p", value_type)})
        for arrow, values in COLUMNS:
            with Runtime(tier=tier) as runtime:
                runtime.register_type(event_type)
                runtime.deploy("select p from T")  # what no statement reads is not converted
                taken = any(_is_taken(runtime, pa.table({"p": pa.array([value], arrow)})) for value in values)
            if taken != may_hold(arrow, value_type) and not (arrow == pa.list_(pa.int32()) and taken):  # an empty list is one of anything
                wrong.append((str(value_type), str(arrow), taken))
    assert wrong == []


def _is_taken(runtime: Runtime, table: pa.Table) -> bool:
    try:
        runtime.send_batch("T", table)
    except EplError:
        return False
    return True


def test_text_for_numbers_is_refused_before_anything_runs(spark: SparkSession, rows: DataFrame) -> None:
    for kind, named in (("double", "Double"), ("float", "Float"), ("int", "Integer"), ("boolean", "Boolean")):
        message = f"Event type 'R': property 't' is declared {named} and cannot hold a column of Spark type string"
        with pytest.raises(EplRuntimeError, match=message):
            transform(f"create schema R(t {kind}); @name('s') select t from R#length(2)", {"R": rows}, "s")


def test_functions_say_what_they_return(rows: DataFrame, spark: SparkSession, tmp_path: Any) -> None:
    functions: dict[str, Callable[..., Any]] = {"hot": lambda v: v > 3}
    message = "statement '.*': column 'h' is what the function 'hot' returns, and nothing says which type that is"
    for epl in ("@name('s') select hot(v) as h from R", "insert into S select hot(v) as h from R; @name('s') select h from S"):
        with pytest.raises(EplUnsupportedError, match=message):
            transform(epl, {"R": rows}, "s", functions=functions)
        with pytest.raises(EplUnsupportedError, match=message):
            start(epl, {"R": streaming(spark)}, functions=functions, outputs=["s"], checkpoint=str(tmp_path / epl[:6]))
    cast = transform("@name('s') select cast(hot(v), boolean) as h from R", {"R": rows}, "s", functions=functions)
    assert cast.dtypes == [("h", "boolean")]


def test_a_column_that_changed_its_type_is_refused_at_start_whether_rows_wait_or_not(
    spark: SparkSession, stream: Callable[..., DataFrame], tmp_path: Any
) -> None:
    table = pa.table({"k": ["a", "b"], "v": pa.array([1, 2], pa.int32()), "ts": pa.array([1000, 2000], pa.int64())})
    frame = stream("in", table)
    epl = R + "@name('s') select k, v from R"
    for late in (None, "10 seconds"):
        options: dict[str, Any] = {"time": "ts", "late": late, "checkpoint": str(tmp_path / f"job {late}"), "trigger": "availableNow"}
        start(epl, {"R": frame}, **options).await_termination()
        wider = frame.selectExpr("k", "cast(v as bigint) as v", "ts")
        message = "Event type 'R': the column 'v' of the source is bigint, and was int when the checkpoint was made"
        with pytest.raises(EplRuntimeError, match=message):
            start(epl, {"R": wider}, **options)
        with pytest.raises(EplRuntimeError, match=message):
            start(epl + ";", {"R": wider}, **options)
        job = start(epl, {"R": wider.selectExpr("k", "cast(v as int) as v", "ts")}, **options)
        job.await_termination()
        job.stop()


# ------------------------------------------------------------------ what a job says


def test_rows_that_wait_at_the_end_are_reported_and_advance_releases_them(
    stream: Callable[..., DataFrame], tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    at = 1_704_067_200_000
    table = pa.table({"k": ["a", "b"], "v": pa.array([1, 2], pa.int32()), "ts": pa.array([at, at + 1000], pa.int64())})
    found: list[str] = []
    job = start(
        R + "@name('s') select k, v from R", {"R": stream("in", table)}, time="ts", late="5 seconds", on_late="side",
        checkpoint=str(tmp_path / "job"), listeners={"s": lambda new, *_: found.extend(row["k"] for row in new)}, trigger="availableNow",
    )
    with caplog.at_level(logging.WARNING, "epl.spark"):
        job.await_termination()
    assert found == [] and "the query has ended, and 2 rows wait for earlier ones" in caplog.text
    assert f"job.advance({at + 1001}) releases them" in caplog.text
    job.advance(at + 1001)
    assert found == ["a", "b"]
    nothing = job.left_out("R")
    assert nothing.dtypes == [("k", "string"), ("v", "int"), ("ts", "bigint")] and nothing.count() == 0
    assert job.left_out("R", "ahead").count() == 0
    misspelt = r"There is no source 'Rr' \(did you mean 'R'\?\)"
    for name, why, message in (("Rr", "late", misspelt), ("R", "soon", "why is 'late' or 'ahead'")):
        with pytest.raises(EplRuntimeError, match=message):
            job.left_out(name, why)
    assert f"status: stopped, step: 2, engine time: {at + 1001} (2024-01-01T00:00:01.001Z), sources: R" in repr(job)
    shown = job._repr_html_()
    assert "<tr><th>status</th><td>stopped</td></tr>" in shown and "<tr><td>s</td><td></td><td>1</td></tr>" in shown
    job.stop()


def test_until_is_for_batch_dataframes(spark: SparkSession) -> None:
    with pytest.raises(EplRuntimeError, match="until is for batch DataFrames: a stream has no end"):
        transform(R + "@name('s') select sum(v) as s from R", {"R": streaming(spark)}, "s", time="ts", until=5)


def test_times_that_are_none_are_refused_at_once(spark: SparkSession, rows: DataFrame) -> None:
    text = R + "@name('s') select sum(v) as s from R"
    for name in ("start_time", "until"):
        with pytest.raises(EplRuntimeError, match=f"{name}: expected a datetime or a whole number of ms since 1970, not '1.1.2024'"):
            transform(text, {"R": rows}, "s", time="ts", **{name: "1.1.2024"})  # type: ignore[call-overload]
    with pytest.raises(EplRuntimeError, match="start_time: expected a datetime or a whole number of µs since 1970, not 'soon'"):
        start(text, {"R": streaming(spark)}, time="ts", start_time="soon", settings=Settings(time_unit="microseconds"))  # type: ignore[arg-type]


def test_a_job_begins_at_a_datetime(spark: SparkSession) -> None:
    began = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    job = start(R + "@name('s') select sum(v) as s from R", {"R": streaming(spark)}, time="ts", start_time=began)
    try:
        assert job.runtime.now == 1_704_067_200_000
    finally:
        job.stop()


def test_a_query_of_spark_is_named_after_its_module_or_statement(spark: SparkSession) -> None:
    def begun(text: str, **options: Any) -> Job:
        jobs.append(start(text, {"R": streaming(spark)}, **options))
        return jobs[-1]

    jobs: list[Job] = []
    named = "module shop.rules; " + R + "@name('few') select k from R;"
    try:
        texts = (named, named, R + "select v from R; @name('s') select k from R", R + "select v from R")
        names = [begun(text).streaming_query.name for text in texts]
        assert names == ["shop.rules", None, "s", None]  # no two active queries have one name
        assert begun(named, query_name="mine").streaming_query.name == "mine"
    finally:
        for job in jobs:
            job.stop()


# ------------------------------------------------------------------ sessions and workers


def test_options_for_a_running_session_are_set_or_refused_by_name(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    assert session(cores=2, options={"spark.sql.shuffle.partitions": "7"}) is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "7"
    mixed = {"spark.sql.shuffle.partitions": "9", "own.word": "x", "spark.jars.packages": "a:b:1", "spark.sql.warehouse.dir": "/nowhere"}
    with pytest.raises(EplRuntimeError, match=r"spark.jars.packages is not set, not a:b:1, spark.sql.warehouse.dir is .*, not /nowhere"):
        session(options=mixed)
    assert spark.conf.get("spark.sql.shuffle.partitions") == "7" and spark.conf.get("own.word", None) is None
    with pytest.raises(EplRuntimeError, match=r"spark.master is local\[2\], not local\[5\]"):
        session(cores=5)
    session(options={"spark.sql.shuffle.partitions": before or "2"})


def test_few_rows_make_few_engines_whatever_the_shuffle_partitions(spark: SparkSession, rows: DataFrame) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "50")
    try:
        epl = "@name('s') select k, sum(v) as s from R group by k"
        spread = transform(epl, {"R": rows}, "s", time="ts")
        assert spread.rdd.getNumPartitions() <= 2
        assert sorted(tuple(row) for row in spread.collect()) == [("k0", 0), ("k0", 2), ("k0", 6), ("k1", 1), ("k1", 4), ("k1", 9)]
        assert transform(epl, {"R": rows}, "s", time="ts", shards=5).rdd.getNumPartitions() == 5
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.fixture
def unasked(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The session's context, as if no worker had been asked."""
    monkeypatch.setattr(probe, "_asked", set())
    monkeypatch.setattr(spark.sparkContext, "pythonExec", spark.sparkContext.pythonExec)
    return spark.sparkContext


def script(path: Any, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo 2.7", rf"python is Python 2\.7, and the driver runs {sys.version_info[0]}\.{sys.version_info[1]}"),
        ("exit 3", r"python does not run \(Command .* returned non-zero exit status 3"),
        (f'exec {sys.executable} -S "$@"', r"cannot import epl-spark \(ModuleNotFoundError: No module named|fails: "),
    ],
)
def test_workers_that_cannot_run_statements_are_named_with_the_cure(
    spark: SparkSession, unasked: Any, rows: DataFrame, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    unasked.pythonExec = script(tmp_path / "python", text)
    monkeypatch.setenv("PYSPARK_PYTHON", unasked.pythonExec)
    with pytest.raises(EplRuntimeError, match=f"^Spark's Python workers cannot run statements: .*{message}") as caught:
        transform("@name('s') select k, sum(v) as s from R group by k", {"R": rows}, "s")
    assert "PYSPARK_PYTHON" in str(caught.value) and len(str(caught.value).splitlines()) == 2
    transform("@name('s') select k from R(v > 1)", {"R": rows}, "s")  # Spark says this itself: no worker is needed


def test_workers_of_another_version_of_the_package(spark: SparkSession, unasked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert probe.digest() == probe.digest() != ""
    monkeypatch.setattr(probe, "digest", lambda: "other")
    with pytest.raises(EplRuntimeError, match="has another version of epl-spark than the driver"):
        check_workers(spark)


def test_where_nobody_chose_workers_get_the_drivers_python_and_are_asked_once(
    spark: SparkSession, unasked: Any, rows: DataFrame, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    unasked.pythonExec = script(tmp_path / "python", "echo 2.7")
    check_workers(spark)
    assert unasked.pythonExec == sys.executable
    monkeypatch.setattr(probe, "_ask", None)
    check_workers(spark)
    assert transform("@name('s') select count(*) as c from R", {"R": rows}, "s").count() == 6
