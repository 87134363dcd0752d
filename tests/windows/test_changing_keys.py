"""A key that reads the clock or a variable is the one that the event came with: when it leaves, and after a restore."""
from __future__ import annotations

from typing import Any

import pytest

from runtime import Runtime

MODULE = """create variable int v = 0; create schema A(id string, n int); create schema B(id string);
create window W#{window} as A; insert into W select * from A; on B delete from W where W.id = B.id;
@name('rows') select irstream id, count(*) as c from W; @name('held') select id from W"""
WINDOWS = (
    "timetolive(current_timestamp() + n)", "time_order(current_timestamp() + n, 9 sec)", "groupwin(current_timestamp())#length(2)",
    "groupwin(v)#keepall", "groupwin(v)#unique(id)", "groupwin(id, v)#time(9)", "groupwin(current_timestamp() / 1000)#length(2)#unique(id)",
    "keepall#timetolive(current_timestamp() + n)", "timetolive(current_timestamp() + n + v)#length(9)",
)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("restart", [False, True])
def test_a_deleted_row_leaves_once(window: str, restart: bool) -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(MODULE.format(window=window))
    runtime.send("A", {"id": "a", "n": 3000})
    runtime.advance_time(400)
    runtime.send("A", {"id": "b", "n": 5000})
    runtime.set_variable("v", 7)
    runtime.advance_time(500)
    if restart:
        runtime = Runtime.restore(runtime.snapshot())
    gone: list[Any] = []
    runtime.statement("rows").add_listener(lambda new, old, *_: gone.extend(old))
    runtime.send("B", {"id": "a"})
    assert [dict(row) for row in gone] == [{"id": "a", "c": 1}]
    assert [row["id"] for row in runtime.statement("held")] == ["b"]
    runtime.advance_time(4000)
    runtime.send("B", {"id": "b"})
    runtime.advance_time(30_000)
    assert [row["id"] for row in gone] == ["a", "b"]
    assert list(runtime.statement("held")) == []
