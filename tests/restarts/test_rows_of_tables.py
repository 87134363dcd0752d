"""Statements that hold rows of tables between events, for an output rate: the rows go on changing, after a restart as before."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.api.runtime import Runtime
from tests.replay.player import replay_trace

SCHEMA = "create schema T(k string, v int); create schema A(k string, n int); create schema D(k string); "
TABLES = {
    "aggregations": "create table W(k string primary key, total sum(int), held window(*) @type(T));"
    "into table W select sum(v) as total, window(*) as held from T#keepall group by k;",
    "without a key": "create table W(total sum(int), k lastever(string)); into table W select sum(v) as total, lastever(k) as k from T;",
    "values": "create table W(k string primary key, total int);"
    "on T as e merge W as w where w.k = e.k when matched then update set total = w.total + e.v "
    "when not matched then insert select k, v as total;",
    "both": "create table W(k string primary key, total sum(int), seen int); into table W select sum(v) as total from T group by k;"
    "on T(v > 5) as e update W as w set seen = e.v where w.k = e.k;",
}
SELECTS = (
    "select b.n as n, a.total as t from W as a, A#length(2) as b where a.k = b.k output last every 2 sec",
    "select b.n as n, a.total as t from W as a, A#length(2) as b where a.k = b.k output every 2 sec",
    "select b.n as n, a.* from W as a, A#length(2) as b where a.k = b.k output all every 2 sec",
    "select a as w from W as a, A#length(2) as b where a.k = b.k output last every 2 sec",
    "select b.n as n, a.total as t, count(*) as c from W as a, A#keepall as b where a.k = b.k group by b.n output all every 2 sec",
    "select b.n as n, a.total as t from A#length(2) as b left outer join W as a on a.k = b.k output every 3 events",
)
HAPPENS: tuple[Any, ...] = (
    ("T", {"k": "a", "v": 1}), ("T", {"k": "b", "v": 9}), ("A", {"k": "a", "n": 5}), ("A", {"k": "b", "n": 6}), ("D", {"k": "a"}),
    ("T", {"k": "a", "v": 7}), ("T", {"k": "b", "v": 8}), 3000, ("A", {"k": "a", "n": 7}), ("T", {"k": "a", "v": 2}), ("D", {"k": "b"}),
    4000, ("T", {"k": "b", "v": 6}), ("A", {"k": "b", "n": 8}), ("T", {"k": "b", "v": 3}), 7000,
)


def module(table: str, select: str) -> str:
    delete = "" if table == "without a key" else "on D as e delete from W as w where w.k = e.k;"
    return f"{SCHEMA}{TABLES[table]}{delete}@name('s') {select}"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("select", SELECTS)
def test_rows_that_wait_are_the_table_s(table: str, select: str) -> None:
    steps = [{"op": "deploy", "epl": module(table, select)}]
    steps += [{"op": "time", "ms": h} if isinstance(h, int) else {"op": "event", "type": h[0], "props": h[1]} for h in HAPPENS]
    trace = {"name": "rows", "listen": "all", "steps": steps}
    plain = replay_trace(trace)["steps"]
    assert any(call.get("new") for step in plain for call in step.get("out", ()))
    assert replay_trace(trace, restart=True)["steps"] == plain


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("select", SELECTS)
def test_pages_follow_what_the_rows_are(table: str, select: str) -> None:
    """Pages written again and again are as good as a snapshot: a row that was written while it stood is written again when it is gone."""
    for cut in range(3, len(HAPPENS)):
        runtime = Runtime()
        runtime.deploy(module(table, select))
        mark, store = None, dict[str, bytes]()
        for happening in HAPPENS[:cut]:
            happen(runtime, happening)
            pages = runtime.pages(since=mark)
            mark, store = pages.mark, pages.apply_to(store)
        restored = Runtime.restore(store)
        assert rest(restored, cut) == rest(runtime, cut)


def happen(runtime: Runtime, happening: Any) -> None:
    if isinstance(happening, int):
        runtime.advance_time(happening)
    else:
        runtime.send(*happening)


def rest(runtime: Runtime, cut: int) -> list[Any]:
    """What the statement emits from there on."""
    heard: list[Any] = []
    runtime.statement("s").add_listener(lambda new, old, statement, runtime: heard.append(([dict(r) for r in new], [dict(r) for r in old])))
    for happening in HAPPENS[cut:]:
        happen(runtime, happening)
    return heard


def test_rows_of_a_partition_s_table() -> None:
    text = f"""{SCHEMA} create context C partition by k from T, k from A;
        context C create table W(k string primary key, total sum(int));
        context C into table W select sum(v) as total from T group by k;
        @name('s') context C select b.n as n, a.total as t from W as a, A#length(2) as b where a.k = b.k output last every 2 sec"""
    steps: list[dict[str, Any]] = [{"op": "deploy", "epl": text}]
    for happening in HAPPENS:
        if isinstance(happening, int):
            steps.append({"op": "time", "ms": happening})
        elif happening[0] != "D":
            steps.append({"op": "event", "type": happening[0], "props": happening[1]})
    trace = {"name": "rows", "listen": "all", "steps": steps}
    assert replay_trace(trace, restart=True)["steps"] == replay_trace(trace)["steps"]
