"""A statement that is deployed over filled named windows goes on as one that was there before: all kinds of windows and selects."""
from __future__ import annotations

import random
from typing import Any

import pytest

from runtime import Runtime

SCHEMA = "@public create schema A(id string, n int); @public create schema B(id string, n int); @public create schema D(id string); "
WINDOWS = (
    "keepall", "length(3)", "time(4)", "unique(id)", "firstunique(id)", "lastevent", "firstevent", "sort(3, n)", "rank(id, 2, n)",
    "time_accum(3)", "timetolive(current_timestamp() + 2000 * n)", "time_order(current_timestamp() + 100 * n, 3 sec)", "firstlength(4)",
    "groupwin(id)#length(2)", "length(4)#unique(id)", "expr(current_count < 4)", "groupwin(id)#time(3)",
)
BATCHES = ("length_batch(50)", "time_batch(1 hour)", "expr_batch(current_count > 50)")
"""None of them releases a batch here: what an early consumer has got is nothing."""

CONSUMERS = (
    "select id, n from W",
    "select irstream id, n from W(n > 1) where n < 5",
    "select irstream sum(n) as s, count(*) as c, max(n) as m from W",
    "select irstream id, sum(n) as s from W group by id",
    "select id, sum(n) as s from W where (select count(*) from W as x) >= 0 group by id having count(*) > 1",
    "select id, sum(n) as s, (select count(*) from V) as c from W(n > coalesce((select max(v.n) from V as v where v.n > 9), 1))",
    "select W.id as id, V.n as n from W, V where W.id = V.id",
    "select sum(W.n) as s, count(*) as c from W, V where W.id = V.id",
    "select W.id as id, V.n as n from V left outer join W on W.id = V.id",
    "select W.id as id, V.n as n from W full outer join V on W.id = V.id",
    "select count(*) as c, sum(b.n) as s from W as a, W as b where a.n < b.n",
    "select v.n as v, a.n as a, b.n as b from V as v left outer join W as a on a.id = v.id left outer join W as b on b.n = v.n",
    "select average from W#uni(n)",
    "select size from W(n > 0)#size",
)

OUTER = (
    "V left outer join W on W.id = V.id", "W left outer join V on W.id = V.id", "W full outer join V on W.id = V.id",
    "V right outer join W on W.id = V.id and W.n = V.n", "V left outer join W on W.n = V.n left outer join W as a on a.id = V.id",
)


def _module(window: str, other: str) -> str:
    return SCHEMA + f"""@public create window W#{window} as A; insert into W select * from A;
        @public create window V#{other} as B; insert into V select * from B;
        on D delete from W where W.id = D.id"""


def _do(runtime: Runtime, kind: str, key: str, n: int) -> None:
    if kind == "T":
        runtime.advance_time(runtime.now + 500 * (1 + n))
    else:
        runtime.send(kind, {"id": key} if kind == "D" else {"id": key, "n": n})


def _watched(runtime: Runtime) -> list[Any]:
    calls: list[Any] = []
    deployment = runtime.deploy(";".join(f"@name('s{number}') {text}" for number, text in enumerate(CONSUMERS)))
    for statement in deployment:
        statement.add_listener(lambda new, old, s, _: calls.append((s.name, _sorted(new), _sorted(old))))
    return calls


def _sorted(rows: Any) -> list[Any]:
    return sorted((dict(row) for row in rows), key=repr)


def _iterated(runtime: Runtime) -> list[Any]:
    return [(s.name, _sorted(s)) for dep in runtime.deployments.values() for s in dep if s.name.startswith("s") and s.name[1:].isdigit()]


def _steps(draw: random.Random) -> list[tuple[str, str, int]]:
    return [(draw.choice("AAABBDT"), draw.choice("xyz"), draw.randrange(7)) for _ in range(12)]


@pytest.mark.parametrize("window", (*WINDOWS, *BATCHES))
@pytest.mark.parametrize("other", ["keepall", "unique(id)"])
def test_a_late_consumer_goes_on_as_an_early_one(window: str, other: str) -> None:
    draw = random.Random(f"{window} {other}")
    early, late = Runtime(start_time=0), Runtime(start_time=0)
    early.deploy(_module(window, other))
    late.deploy(_module(window, other))
    expected = _watched(early)
    for step in _steps(draw):
        _do(early, *step)
        _do(late, *step)
    expected.clear()
    calls = _watched(late)
    assert _iterated(late) == _iterated(early)
    for step in _steps(draw):
        _do(early, *step)
        _do(late, *step)
        assert calls == expected, step
        assert _iterated(late) == _iterated(early), step


@pytest.mark.parametrize("window", ("keepall", "unique(id)", "time(4)"))
@pytest.mark.parametrize("joined", OUTER)
@pytest.mark.parametrize("output", ("", "output every 2 sec", "output last every 2 events", "output snapshot every 2 sec"))
def test_each_row_of_a_late_outer_join_counts_once(window: str, joined: str, output: str) -> None:
    """In Esper an early one counts otherwise: a row without a match stays in its aggregations when the match comes."""
    draw, runtime = random.Random(f"{window} {joined}"), Runtime(start_time=0)
    runtime.deploy(_module(window, "keepall"))
    for step in _steps(draw):
        _do(runtime, *step)
    (rows,) = runtime.deploy(f"select V.n as n, W.n as m from {joined}")
    (sums,) = runtime.deploy(f"select count(*) as c, sum(V.n) as n, sum(W.n) as m from {joined} {output}")
    held = [dict(row) for row in rows]
    assert [dict(row) for row in sums] == [{"c": len(held), **{name: _sum(held, name) for name in ("n", "m")}}]


def _sum(rows: list[dict[str, Any]], name: str) -> int | None:
    values = [row[name] for row in rows if row[name] is not None]
    return sum(values) if values else None


@pytest.mark.parametrize("rate", ["", " output every 2 events"])
@pytest.mark.parametrize("context", ["", "context C "])
def test_insert_into_inserts_what_it_begins_with(context: str, rate: str) -> None:
    runtime = Runtime()
    runtime.deploy(
        SCHEMA + "create window W#keepall as A; insert into W select * from A; create schema Out(id string, n int);"
        "create context C start @now end after 1 hour; @name('s') select * from Out")
    rows: list[tuple[str, int]] = []
    runtime.statement("s").add_listener(lambda new, *_: rows.extend((row["id"], row["n"]) for row in new))
    for number, key in enumerate("ab"):
        runtime.send("A", {"id": key, "n": number})
    runtime.deploy(f"{context}insert into Out select id, n from W{rate}")
    assert rows == [("a", 0), ("b", 1)]
