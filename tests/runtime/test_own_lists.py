"""What one listener does with its lists, no other listener sees."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from runtime import Runtime

STATEMENTS = [
    "select n from E",  # the row is made within the intake
    "select * from E",
    "select irstream n from E#length(2)",
    "select n, sum(n) as s from E#length(2)",
    "select irstream n from E#length_batch(2)",
    "select irstream n from E#time_batch(1 sec)",
    "select n from E for discrete_delivery",
    "select n from E output every 2 events",
]


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_listener_has_lists_of_its_own(statement: str, tier: str) -> None:
    if tier == "batch" and ("delivery" in statement or "output" in statement):
        pytest.skip("not in columns")
    heard: list[Any] = []
    expected: list[Any] = []
    for log, spoil in ((expected, False), (heard, True)):
        runtime = Runtime(tier=tier)
        runtime.deploy(f"create schema E(n int); @name('s') {statement}")
        for _ in range(2 if spoil else 0):
            runtime.statement("s").add_listener(_spoil)
        runtime.statement("s").add_listener(lambda new, old, *_, log=log: log.append(([dict(r) for r in new], [dict(r) for r in old])))
        for _ in range(2 if spoil else 0):
            runtime.statement("s").add_listener(_spoil)
        runtime.send("E", {"n": 1})
        runtime.send_batch("E", pa.table({"n": pa.array([2, 3, 4], pa.int32())}))
        runtime.advance_time_span(5000)
    assert heard == expected != []


def _spoil(new: Any, old: Any, *_: Any) -> None:
    for rows in (new, old):
        if rows:
            rows.append(rows[0])
            rows.reverse()
            rows.pop()
            del rows[:]


def test_listeners_are_removed_by_what_was_added() -> None:
    runtime = Runtime()
    runtime.deploy("create schema E(n int); @name('s') select n from E")
    heard: list[str] = []

    def first(*_: Any) -> None:
        heard.append("first")

    def second(*_: Any) -> None:
        heard.append("second")
        runtime.statement("s").remove_listener(second)

    for listener in (first, second, first):
        runtime.statement("s").add_listener(listener)
    runtime.send("E", {"n": 1})
    runtime.statement("s").remove_listener(first)
    runtime.send("E", {"n": 2})
    assert heard == ["first", "second", "first", "first"]
    with pytest.raises(ValueError):
        runtime.statement("s").remove_listener(second)
