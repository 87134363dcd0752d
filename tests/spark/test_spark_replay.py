"""Traces through micro-batches: each step gets what it caused, and what Spark cannot express is reported and sent by itself."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from runtime import Runtime
from runtime.spark.sources import SEQUENCE, Sources, merge
from tests.replay.files import Job, replay_file
from tests.replay.player import replay_trace
from tests.replay.spark_micro_batches import MicroBatches

pytestmark = pytest.mark.spark

MODULE = """
create schema A(k string, v int);
create schema B(k string, w double);
insert into C select k as k, v as v from A;
@name('sum') select irstream k as k, sum(v) as total from C#length(2) group by k;
@name('both') select k as k from A;
@name('wide') select w * 2 as twice from B;
@name('batch') select k as k from A#time_batch(1);
@name('fails') select 10 / v as t, Math.floorDiv(10, v) as d from A;
"""


def a(k: str | None, v: Any) -> dict[str, Any]:
    return {"op": "event", "type": "A", "props": {"k": k, "v": v}}


TRACE: dict[str, Any] = {
    "id": "t", "start_time": 0, "listen": "all",
    "steps": [
        {"op": "deploy", "epl": MODULE},
        a("x", 1), {"op": "event", "type": "B", "props": {"k": "x", "w": 1.5}}, a("y", 2), a(None, 0), a("x", "wrong"), a("x", 4),
        {"op": "time", "ms": 1000},
        a("z", 5),
        {"op": "iterate", "statement": "sum"},
        {"op": "event", "type": "Nothing", "props": {}}, a("z", 6),
    ],
}  # fmt: skip


class Counted(MicroBatches):
    """Remembers how many events each micro-batch had."""

    sizes: list[int]

    def send(self, runtime: Runtime, events: Any) -> None:
        self.sizes.append(len(events))
        super().send(runtime, events)


@pytest.fixture
def feed(spark: SparkSession) -> Counted:
    made = Counted(spark)
    made.sizes = []
    return made


def without_spark(trace: dict[str, Any]) -> dict[str, Any]:
    return {**trace, "steps": [{k: v for k, v in step.items() if k != "spark"} for step in trace["steps"]]}


def test_rows_that_spark_does_not_bring_cause_nothing(spark: SparkSession) -> None:
    """A filter that Spark evaluates drops rows: what the others cause belongs to their own events."""
    text = "create schema A(k string, v int); @name('few') select k, count(*) as c from A(v > 2)"
    trace = {**TRACE, "steps": [{"op": "deploy", "epl": text}, *(a("x", value) for value in (1, 3, 2, 4, 0, 5))]}
    replayed = replay_trace(trace, feed=MicroBatches(spark))
    assert without_spark(replayed) == replay_trace(trace)
    assert ["out" in step for step in replayed["steps"][1:]] == [False, True, False, True, False, True]


@pytest.mark.parametrize("restart", [False, True])
def test_every_step_gets_what_it_caused(feed: Counted, restart: bool) -> None:
    plain = replay_trace(TRACE, restart=restart)
    found = replay_trace(TRACE, restart=restart, feed=feed)
    assert without_spark(found) == plain
    assert feed.sizes == [5, 1, 1]
    assert [step.get("spark") for step in found["steps"]][1:5] == ["rows"] * 4
    assert found["steps"][5]["spark"].startswith("refused: Event type 'A': property 'v' is declared Integer")
    assert found["steps"][10]["spark"].startswith("refused: no bus event type named 'Nothing'")
    assert all(step["out"] for step in plain["steps"] if step["op"] == "event" and "exception" not in step)


TYPES = {
    "Bag": {"kind": "map", "props": {"any": "Object", "number": "Number"}},
    "Numbers": {"kind": "map", "props": {"big": "BigInteger", "dec": "BigDecimal", "f": "float", "c": "char"}},
    "Times": {"kind": "map", "props": {"day": "LocalDate", "time": "LocalTime", "at": "LocalDateTime", "z": "ZonedDateTime"}},
    "Deep": {"kind": "map", "props": {"in": "Within", "list": "int[]", "map": "Map<String,Integer>"}},
    "Within": {"kind": "map", "props": {"p": "short", "q": "Boolean"}},
    "Empty": {"kind": "map", "props": {}},
    "Cases": {"kind": "map", "props": {"p": "int", "P": "int"}},
}
EVENTS: list[tuple[str, dict[str, Any], str | None]] = [
    ("Bag", {"any": "text", "number": None}, None),
    ("Bag", {"any": 1, "number": None}, "property 'any' of type Object does not come back from a column of type string"),
    ("Bag", {"any": "text", "number": 1.5}, "property 'number' of type Number does not come back"),
    ("Bag", {"any": None, "more": 1}, "the property 'more' is not declared"),
    ("Numbers", {"big": 10**37, "dec": Decimal("1.250000000000000000"), "f": 0.1, "c": "x"}, None),
    ("Numbers", {"big": 10**38}, "column 'big' of Arrow type decimal128(38, 0) cannot hold"),
    ("Numbers", {"dec": Decimal("1.25")}, "property 'dec' of type BigDecimal does not come back"),
    ("Numbers", {"f": "NaN"}, None),
    ("Times", {"day": "2024-02-29", "time": "10:00:01.5", "at": "2024-02-29T10:00", "z": "2024-02-29T10:00:00Z"}, None),
    ("Times", {"z": "2024-02-29T10:00:00+02:00"}, "property 'z' of type ZonedDateTime does not come back"),
    ("Deep", {"in": {"p": 1, "q": None}, "list": [1, None], "map": {"a": 1, "b": None}}, None),
    ("Deep", {"in": {"p": 1, "extra": 2}}, "property 'in' of type Within does not come back"),
    ("Empty", {}, None),
    ("Cases", {"p": 1, "P": 2}, "Spark does not distinguish the columns 'p' and 'P'"),
]


def test_what_spark_cannot_express_is_told_and_sent_by_itself(feed: Counted) -> None:
    steps: list[dict[str, Any]] = [{"op": "deploy", "epl": ";".join(f"@name('{name}') select * from {name}" for name in TYPES)}]
    steps += [{"op": "event", "type": name, "props": props} for name, props, _ in EVENTS]
    trace = {"start_time": 0, "listen": "all", "schema": TYPES, "steps": steps}
    found = replay_trace(trace, feed=feed)
    assert without_spark(found) == replay_trace(trace)
    for step, (_, _, reason) in zip(found["steps"][1:], EVENTS):
        assert len(step["out"]) == 1
        if reason is None:
            assert step["spark"] == "rows"
        else:
            assert step["spark"].startswith("refused: ")
            assert reason in step["spark"]
    assert feed.sizes == [1, 1, 2, 1, 1]


def test_rows_stand_as_merge_has_them(spark: SparkSession) -> None:
    with Runtime() as runtime:
        types = (runtime.register("A", {"k": str, "v": int}), runtime.register("Empty", {}))
        tables = {
            "A": pa.table({"k": ["x", None], "v": [1, 2], SEQUENCE: [2, 0]}),
            "Empty": pa.table({SEQUENCE: [1]}),
        }
        sources = Sources.of(types, None, SEQUENCE)
        frames: dict[str, DataFrame] = {name: spark.createDataFrame(table) for name, table in tables.items()}
        merged = merge(frames, sources, microseconds=False, number_rows=False)
        made = spark.createDataFrame(sources.merge_tables(tables))
        assert made.columns == merged.columns
        assert made.schema.simpleString() == merged.schema.simpleString()
        assert sorted(map(str, made.collect())) == sorted(map(str, merged.collect()))
        assert sources.tables(made.toArrow())["A"].to_pydict() == tables["A"].to_pydict()


def test_a_file_counts_its_rows(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([TRACE, TRACE]))
    outcome = replay_file(Job(path, None, spark=True))
    assert (outcome.replayed, outcome.broken, outcome.rows, outcome.refused) == (2, (), 14, 4)
    assert outcome.traces[0]["steps"][1]["spark"] == "rows"
