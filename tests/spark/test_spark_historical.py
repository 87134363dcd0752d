"""Methods, databases and static tables in both modes on Spark: each engine asks them itself, and gives what one engine gives."""
from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from runtime import EplDeploymentError, EplRuntimeError, Runtime
from runtime.spark import start, transform

pytestmark = pytest.mark.spark

NAMES = pa.table({"code": [f"k{n}" for n in range(3)], "name": ["zero", "one", "two"]})
ENRICH = "@name('s') select t.k as k, d.name as name, t.v as v from T as t left outer join Names as d on t.k = d.code"


def dicts(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def by_v(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["v"], repr(row)))


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.range(0, 80, 1, 4).selectExpr("id as ts", "concat('k', id % 4) as k", "cast(id as int) as v")


def in_process(epl: str, rows: DataFrame, register: Callable[[Runtime], object]) -> list[dict[str, Any]]:
    received: list[dict[str, Any]] = []
    with Runtime() as runtime:
        runtime.register("T", {"ts": int, "k": str, "v": "int"})
        register(runtime)
        runtime.deploy(epl, listeners={"s": lambda new, old, s, r: received.extend(n.to_dict() for n in new)})
        runtime.send_batch("T", rows.toArrow(), time="ts")
    return received


def test_a_table_is_broadcast_to_all_engines(spark: SparkSession, rows: DataFrame) -> None:
    expected = in_process(ENRICH, rows, lambda runtime: runtime.register_table("Names", NAMES, keys="code"))
    assert len(expected) == 80 and {row["name"] for row in expected} == {"zero", "one", "two", None}
    for names in (NAMES, (NAMES, "code"), (NAMES.to_pandas(), ["code"]), spark.createDataFrame(NAMES.to_pandas())):
        assert by_v(dicts(transform(ENRICH, {"T": rows}, time="ts", tables={"Names": names}, distribute="always"))) == by_v(expected)
    assert by_v(dicts(rows.transform(transform(ENRICH, statement="s", tables={"Names": NAMES})))) == by_v(expected)


def test_an_enriched_stream_is_aggregated_by_its_key(rows: DataFrame) -> None:
    epl = """
        insert into Named select t.k as k, d.name as name, t.v as v from T as t, Names as d where t.k = d.code;
        @name('s') select k as k, name as name, sum(v) as v from Named#length_batch(20) group by k"""
    expected = in_process(epl, rows, lambda runtime: runtime.register_table("Names", NAMES))
    assert by_v(dicts(transform(epl, {"T": rows}, "s", time="ts", tables={"Names": NAMES}))) == by_v(expected) != []


def test_methods_and_databases_are_asked_in_the_workers(rows: DataFrame) -> None:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:")
        connection.execute("create table price(k text, p real)")
        connection.executemany("insert into price values (?, ?)", [("k0", 1.5), ("k1", 2.5), ("k1", 3.5)])
        connection.commit()
        return connection

    def register(runtime: Runtime) -> None:
        runtime.register_method("twice", lambda v: [{"w": v}, {"w": v * 2}], row={"w": int})
        runtime.register_database("prices", connect)

    epl = """@name('s') select t.v as v, m.w as w, p.p as p from T as t, method:twice(t.v) as m,
      sql:prices ['select p from price where k = ${t.k}' metadatasql 'select p from price'] as p"""
    expected = in_process(epl, rows, register)
    assert len(expected) == 120
    assert by_v(dicts(transform(epl, {"T": rows}, register=register, distribute="always"))) == by_v(expected)


def test_a_stream_is_enriched_in_both_modes(stream: Callable[..., DataFrame], tmp_path: Any) -> None:
    tables = [pa.table({"k": [f"k{n % 4}" for n in part], "v": pa.array(part, pa.int32())}) for part in (range(5), range(5, 12))]
    frame = stream("t", *tables)
    whole = pa.concat_tables(tables).to_pylist()
    names = dict(zip(*NAMES.to_pydict().values()))
    expected = [{"k": row["k"], "name": names.get(row["k"]), "v": row["v"]} for row in whole]

    enriched = transform(ENRICH, {"T": frame}, tables={"Names": NAMES})
    query = enriched.writeStream.format("memory").queryName("enriched").start()
    query.processAllAvailable()
    query.stop()
    assert by_v(dicts(frame.sparkSession.table("enriched"))) == by_v(expected)

    received: list[dict[str, Any]] = []
    job = start(
        ENRICH, {"T": frame}, tables={"Names": NAMES}, checkpoint=str(tmp_path / "job"),
        listeners={"s": lambda new, old, s, r: received.extend(n.to_dict() for n in new)},
    )
    job.process_all_available()
    job.stop()
    assert received == expected


def test_a_job_comes_back_with_its_tables(stream: Callable[..., DataFrame], folder: Callable[[str], Any], tmp_path: Any) -> None:
    epl = "@name('s') select d.name as name, count(*) as c from T#keepall as t, Names as d where t.k = d.code group by d.name"
    files = folder("t").add(pa.table({"k": ["k0", "k1"]}))

    def run(**options: Any) -> list[dict[str, Any]]:
        job = start(epl, {"T": files.frame()}, checkpoint=str(tmp_path / "job"), **options)
        job.process_all_available()
        rows = [row.to_dict() for row in job.iterate("s")]
        job.stop()
        return rows

    assert run(tables={"Names": NAMES}) == [{"name": "zero", "c": 1}, {"name": "one", "c": 1}]
    files.add(pa.table({"k": ["k1", "k9"]}))
    assert run(tables={"Names": NAMES}) == [{"name": "zero", "c": 1}, {"name": "one", "c": 2}]
    with pytest.raises(EplDeploymentError, match="the snapshot uses tables that are not given: Names"):
        run()


def test_a_runtime_of_the_callers_keeps_its_sources(folder: Callable[[str], Any], tmp_path: Any) -> None:
    files = folder("t").add(pa.table({"k": ["k0"], "v": pa.array([1], pa.int32())}))
    for count in (1, 2):
        with Runtime() as runtime:
            runtime.register("T", {"k": str, "v": "int"})
            runtime.register_table("Names", NAMES)
            runtime.deploy("@name('s') select d.name as name, t.v as v from T#keepall as t, Names as d where t.k = d.code")
            job = start(runtime, {"T": files.frame()}, checkpoint=str(tmp_path / "job"))
            job.process_all_available()
            assert len(list(job.iterate("s"))) == count
            job.stop()
        files.add(pa.table({"k": ["k1"], "v": pa.array([2], pa.int32())}))


def test_what_is_no_table_and_no_function_is_refused(rows: DataFrame) -> None:
    with pytest.raises(EplRuntimeError, match="Static table 'Names' cannot be built from dict"):
        transform(ENRICH, {"T": rows}, tables={"Names": {"code": ["k0"]}})
    with pytest.raises(EplRuntimeError, match="register is a function that takes a Runtime"):
        transform(ENRICH, {"T": rows}, register="Names")  # type: ignore[call-overload]
    with pytest.raises(EplDeploymentError, match="Static table 'Names' has no column 'nosuch'"):
        transform(ENRICH, {"T": rows}, tables={"Names": (NAMES, "nosuch")})
