"""Columns that no statement reads cost nothing: they are not converted, not refused for their type, and missing where nobody looks."""
from __future__ import annotations

import datetime
from typing import Any

import pandas
import pyarrow as pa
import pytest

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.conversion import columns as conversion

SCHEMA = """@public @buseventtype
    create schema T(k string, p double, q double, moment java.time.LocalDateTime, ns int[], o java.lang.Object);"""
MOMENT = datetime.datetime(2024, 5, 1)
TABLE = pa.table({
    "k": ["a", "b", "a"], "p": [1.0, 2.0, 3.0], "q": [5.0, 6.0, 7.0], "moment": pa.array([MOMENT] * 3, pa.timestamp("us")),
    "ns": [[1], [2], []], "o": ["x", "y", None],
})
WRONG = TABLE.set_column(2, "q", pa.array(["no", "number", "here"])).set_column(4, "ns", pa.array([b"1"] * 3))
TIERS = ("row", "batch")


def rows_of(runtime: Runtime, statement: str = "s") -> list[Any]:
    rows: list[Any] = []
    runtime.statement(statement).add_batch_listener(lambda new, old, *_: rows.extend([] if new is None else new.to_pylist()))
    return rows


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    "table", [TABLE, WRONG, TABLE.to_pandas(), WRONG.to_pandas(), WRONG.to_batches()[0]],
    ids=["table", "odd table", "frame", "odd frame", "odd batch"])
def test_unread_columns_are_not_looked_at(tier: str, table: Any) -> None:
    runtime = Runtime(tier=tier)
    runtime.deploy(f"{SCHEMA} @name('s') select k, sum(p) as total from T#length(2) group by k")
    rows = rows_of(runtime)
    runtime.send_batch("T", table)
    assert rows == [{"k": "a", "total": 1.0}, {"k": "b", "total": 2.0}, {"k": "a", "total": 3.0}]


@pytest.mark.parametrize("tier", TIERS)
def test_columns_that_are_read_are_checked(tier: str) -> None:
    runtime = Runtime(tier=tier)
    runtime.deploy(f"{SCHEMA} @name('s') select max(q) as q from T#length(2)")
    with pytest.raises(EplRuntimeError, match="property 'q' is declared Double and cannot hold 'no'"):
        runtime.send_batch("T", WRONG)
    with pytest.raises(EplRuntimeError, match="the table has no column 'ns'"):
        runtime.send_batch("T", TABLE.drop_columns(["ns"]))
    with pytest.raises(EplRuntimeError, match="has no property 'z'"):
        runtime.send_batch("T", TABLE.append_column("z", TABLE["q"]))


def test_time_and_sequence_are_read() -> None:
    runtime = Runtime()
    runtime.deploy(f"{SCHEMA} @name('s') select k from T#length(2)")
    rows = rows_of(runtime)
    runtime.send_batch("T", TABLE.slice(0, 2).set_column(2, "q", pa.array([2, 1])), time="moment", sequence="q")
    assert [row["k"] for row in rows] == ["b", "a"]
    assert runtime.now == int(MOMENT.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)


def test_only_what_is_read_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[pa.DataType] = []
    original = conversion._python

    def python(column: Any) -> list[Any]:
        converted.append(column.type)
        return original(column)

    monkeypatch.setattr(conversion, "_python", python)
    runtime = Runtime(tier="row")
    runtime.deploy(f"{SCHEMA} @name('s') select sum(p) as total from T#length(2) group by k")
    runtime.send_batch("T", TABLE)
    assert converted == [pa.string(), pa.float64()]


@pytest.mark.parametrize("tier", ("row", "auto"))
def test_a_statement_that_comes_later_reads_what_comes_later(tier: str) -> None:
    runtime = Runtime(tier=tier)
    runtime.deploy(f"{SCHEMA} @name('s') select k from T#length(9)")
    runtime.send_batch("T", TABLE)
    runtime.deploy("@name('later') select sum(q) as q, count(*) as c from T#length(9)")
    rows = rows_of(runtime, "later")
    runtime.send_batch("T", TABLE)
    runtime = Runtime.restore(runtime.snapshot(), tier=tier)
    assert rows[-1] == {"q": 18.0, "c": 3}
    runtime.undeploy("d1")
    runtime.send_batch("T", WRONG)
    assert len(list(runtime.statement("s"))) == 9


def test_promoted_with_columns_of_before_and_after() -> None:
    """A window in columns has rows without and with a value of the property that a later statement reads."""
    runtime = Runtime(tier="batch")
    runtime.deploy(f"{SCHEMA} @name('s') select k, count(*) as c from T#length(5) group by k")
    runtime.send_batch("T", TABLE)
    runtime.deploy("@name('later') select irstream q from T#length(4)")
    rows = rows_of(runtime, "later")
    for _ in range(3):
        runtime.send_batch("T", TABLE)
    assert [row["q"] for row in rows] == [5.0, 6.0, 7.0] * 3
    restored = Runtime.restore(runtime.snapshot(), tier="row")
    assert [dict(row) for row in restored.statement("later")] == [{"q": q} for q in (7.0, 5.0, 6.0, 7.0)]
    assert {(row["k"], row["c"]) for row in restored.statement("s")} == {("a", 3), ("b", 2)}


def test_a_listener_deploys_a_statement_while_a_batch_is_under_way() -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(f"{SCHEMA} @name('s') select k from T")
    rows: list[Any] = []

    def deploy(new: Any, *_: Any) -> None:
        if new[0]["k"] == "b":
            runtime.deploy("@name('later') select q, p from T").statements[0].add_listener(lambda new, *_: rows.extend(map(dict, new)))

    runtime.statement("s").add_listener(deploy)
    runtime.send_batch("T", TABLE)
    assert rows == [{"q": 7.0, "p": 3.0}]


def test_a_statement_is_refused_whose_columns_of_the_batch_under_way_do_not_fit() -> None:
    failed: list[BaseException] = []
    runtime = Runtime(tier="row", on_error=lambda error, *_: failed.append(error))
    runtime.deploy(f"{SCHEMA} @name('s') select k from T")

    def deploy(new: Any, *_: Any) -> None:
        runtime.deploy("select q from T", name="later")

    runtime.statement("s").add_listener(deploy)
    runtime.send_batch("T", WRONG)
    assert "later" not in runtime.deployments
    assert "property 'q' is declared Double and cannot hold 'no'" in str(failed[0])


def test_a_recording_shows_whole_events() -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(f"{SCHEMA} @name('s') select k from T#length(2)")
    with runtime.record("s") as recording:
        runtime.send_batch("T", TABLE)
    assert "6.0" in str(recording.moments)


@pytest.mark.parametrize("frame", [False, True])
def test_unread_primitives_and_objects(frame: bool) -> None:
    runtime = Runtime()
    runtime.deploy("@public @buseventtype create schema P(a int, b int, c boolean); @name('s') select a from P#length(2)")
    table = pa.table({"a": [1, 2], "b": [b"x", None], "c": [1.5, None]})
    runtime.send_batch("P", table.to_pandas() if frame else table)
    restored = Runtime.restore(runtime.snapshot())
    assert [dict(row) for row in restored.statement("s")] == [{"a": 1}, {"a": 2}]
    odd = pandas.DataFrame({"a": [1], "b": [object()], "c": [object()]})
    restored.send_batch("P", odd)
