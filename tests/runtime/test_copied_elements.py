"""An event costs no copy of what is held: what it allocates does not grow with the rows of windows, tables, groups and sub-queries."""
from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from runtime import Runtime
from runtime.aggregation.factory import FACTORIES

FEW, MANY = 100, 6_000
ALLOWED = 30_000
"""Bytes: a list of MANY elements has 48,000; the block of a sorted structure that is split has fewer than these."""
SCHEMA = """create schema A(k string, n int, v double, t long); create schema B(k string, n int);
    create window W#keepall as (k string, n int); insert into W select k, n from A; create table T(k string primary key, n int);
    on A as a merge T as t where t.k = a.k when not matched then insert select a.k as k, a.n as n;"""
LISTS = ("window(*)", "window(n)", "sorted(n)", "sorted(n desc, k)")
AGGREGATIONS = [
    *LISTS, "first(*)", "last(n)", "first(n, 3)", "minby(n).n", "maxby(n).n", "minbyever(n).n", "median(v)", "stddev(v)", "avedev(v)",
    "min(n)", "max(n)", "sum(n)", "avg(n)", "count(distinct n)", "sum(distinct n)", "nth(n, 3)", "firstever(n)", "lastever(n)",
    "countever(n)",
    "maxever(n)", "rate(10)", "leaving()", "fmin(n, n > 3)", "sorted(n).firstEvent()", "sorted(n).floorKey(5)", "window(*).countEvents()",
]
WINDOWS = [
    "keepall", "length(5000)", "time(1 hour)", "unique(n)", "firstunique(n)", "sort(5000, n)", "rank(n, 5000, v)", "groupwin(k)#length(2)",
    "ext_timed(t, 1 hour)", "time_order(t, 1 hour)", "length_batch(1000000)", "time_batch(1 hour)", "firstlength(5000)",
    "time_accum(1 hour)", "expr(n > newest_event.n - 5000)", "timetolive(t + 100000000)",
]
STATEMENTS = {
    **{f"{each} of all": f"select {each} as x from A#keepall" for each in AGGREGATIONS},
    **{f"{each} of a group": f"select v, {each} as x from A#keepall group by v" for each in LISTS},
    **{f"{each} of rollup": f"select v, {each} as x from A#keepall group by rollup(v)" for each in LISTS},
    **{f"{each} of events": f"select n, {each} as x from A#keepall" for each in LISTS},
    **{f"{each} of a length window": f"select {each} as x from A#length(5000)" for each in LISTS},
    **{f"#{each}": f"select irstream n from A#{each}" for each in WINDOWS},
    "window into table":
        "create table X(w window(*) @type(A), s sorted(n) @type(A)); into table X select window(*) as w, sorted() as s from A",
    "prev": "select prev(1, n), prevtail(0, n), prevcount(n) from A#keepall", "prior": "select prior(3, n) from A#keepall",
    "join": "select a.n from A as a unidirectional, W as w where a.k = w.k and a.n = w.n",
    "sub-query by key": "select (select n from W as w where w.k = a.k) from A as a",
    "exists": "select exists (select * from W as w where w.k = a.k) from A as a",
    "aggregated sub-query": "select (select sum(n) from W) from A", "in a sub-query": "select n in (select n from W) from A",
    "sub-query over a stream": "select (select max(n) from A#keepall) from A",
    "table by key": "select T[k].n from A", "consumer": "select sum(n) from W",
    "window of consumer": "select window(*) from W",
    "on update": "on A as a update W as w set n = a.n where w.k = a.k and w.n = a.n",
    "on delete": "on A as a delete from W as w where w.k = a.k and w.n < a.n",
    "on select": "on A as a select w.n from W as w where w.k = a.k",
    "merge": "on A as a merge W as w where w.k = a.k and w.n = a.n when matched then update set n = a.n",
    "output last": "select sum(n) from A#keepall output last every 1000000 events",
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_an_event_copies_nothing_that_is_held(statement: str) -> None:
    few, many = _allocated(statement, FEW), _allocated(statement, MANY)
    assert many < ALLOWED, (few, many)


def test_every_aggregation_is_asked() -> None:
    asked = {"count in a table", "rate by timestamp", "countminsketch", "count"}  # in tables, or as others are
    names = " ".join(AGGREGATIONS)
    missing = {name for name in FACTORIES if name.split()[0] not in names and name not in asked}
    assert missing <= {"maxbyever", "minever", "fmax", "fmaxever", "fminever"}


@pytest.mark.parametrize("listed", LISTS)
def test_a_row_that_a_listener_has_does_not_change(listed: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA + f"@name('s') select {listed} as x from A#length(3)")
    for n in range(4):
        runtime.send("A", _event(n))
    rows: list[Any] = []
    runtime.statement("s").add_listener(lambda new, *_: rows.extend(new))
    for n in range(4, 9):
        runtime.send("A", _event(n))
    numbers = [[getattr(each, "n", each) if not isinstance(each, dict) else each["n"] for each in row["x"]] for row in rows]
    assert [sorted(each) for each in numbers] == [[n - 2, n - 1, n] for n in range(4, 9)]
    assert [len(row["x"]) for row in runtime.statement("s")] == [3]


def _event(n: int) -> dict[str, Any]:
    return {"k": str(n), "n": n, "v": 1.0, "t": n}


def _allocated(statement: str, rows: int) -> int:
    """Return the bytes that an event allocates at most meanwhile where so many rows are held: the least of some events, since now and
    then a table grows."""
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA + statement)
    for n in range(rows):
        runtime.send("A", _event(n))
    peaks = []
    tracemalloc.start(1)
    try:
        for n in range(rows, rows + 5):
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            runtime.send("A", _event(n))
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    return min(peaks)
