"""Pages of contexts: a partition that no event has reached is not encoded again, and what pages restore goes on as the runtime does."""
from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.statements.select_statement import RunningSelect

TYPES = "@public @buseventtype create schema E(k string, v int); @public @buseventtype create schema X(k string, v int);\n"
STATEMENTS = {
    "windows": "context C select k, sum(v) as s, context.id as i from E#length(3)",
    "time": "context C select irstream k, v from E#time(3 sec)",
    "output": "context C select k, count(*) as n from E output last every 2 sec",
    "pattern": "context C select a.v as a, b.v as b from pattern [every a=E(v > 2) -> b=E(v < a.v)]",
    "matched": "context C select a, b from E match_recognize (measures A.v as a, B.v as b pattern (A B) define B as B.v > A.v)",
    "join": "context C select e.v as v, x.v as w from E#length(2) as e, X#lastevent as x",
    "subquery": "context C select k, (select sum(v) from X#length(2)) as s from E",
    "window": "context C create window W#length(2) as E; context C insert into W select * from E; "
              "@name('s') context C select sum(v) as s, count(*) as n from W; context C on X delete from W where W.v = X.v",
    "table": "context C create table T(n count(*), k string primary key); context C into table T select count(*) as n from E group by k; "
             "@name('s') context C select T[k].n as n from X",
    "variable": "context C create variable int seen = 0; context C on E set seen = seen + v; @name('s') context C select seen from X",
}
CONTEXTS = {
    "keyed": "partition by k from E, k from X terminated by X(v = 9)",
    "overlapping": "initiated by E(v = 0) as e terminated by X(v = 9 and k = e.k)",
    "nested": "context A partition by k from E, k from X, context B start E(v > 1) end after 5 sec",
}


def drawn(of: Random) -> tuple[str, Any]:
    if of.random() < 0.15:
        return "time", 1000
    return of.choice("EEX"), {"k": of.choice("abcd"), "v": of.randrange(10)}


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_changed_pages_restore_what_runs(context: str, statement: str) -> None:
    of = Random(f"{context} {statement}")
    runtime = Runtime(start_time=0, tier="row")
    runtime.deploy(TYPES + f"create context C {CONTEXTS[context]}; @name('s') {STATEMENTS[statement]}".replace(
        "@name('s') context C create", "context C create"))
    store: dict[str, bytes] = {}
    mark: str | None = None
    for _ in range(12):
        for _ in range(6):
            take(runtime, *drawn(of))
        pages = runtime.pages(mark)
        mark = pages.mark
        pages.apply_to(store)
        restored = Runtime.restore(dict(store), tier="row")
        assert rows(restored) == rows(runtime)
        assert restored.context_partitions == runtime.context_partitions
    calls: dict[str, list[Any]] = {"one": [], "other": []}
    for name, each in (("one", runtime), ("other", restored)):
        each.statement("s").add_listener(lambda new, old, *_, to=calls[name]: to.append(([dict(r) for r in new], [dict(r) for r in old])))
    for _ in range(30):
        step = drawn(of)
        take(runtime, *step)
        take(restored, *step)
    assert calls["one"] == calls["other"]


def take(runtime: Runtime, kind: str, value: Any) -> None:
    if kind == "time":
        runtime.advance_time(internal_engine(runtime).core.clock.now + value)
    else:
        runtime.send(kind, value)


def rows(runtime: Runtime) -> list[dict[str, Any]]:
    return [dict(row) for row in runtime.statement("s").rows()]


def test_partitions_that_no_event_reaches_are_not_encoded() -> None:
    runtime = Runtime(start_time=0, tier="row")
    runtime.deploy(TYPES + "create context C partition by k from E; @name('s') context C select k, sum(v) as s from E#length(3)")
    for n in range(2000):
        runtime.send("E", {"k": f"k{n}", "v": n})
    store = runtime.pages().apply_to({})
    mark = runtime.pages(None).mark
    runtime.send("E", {"k": "k7", "v": 1})
    with patch.object(RunningSelect, "state", autospec=True, side_effect=RunningSelect.state) as state:
        pages = runtime.pages(mark)
    assert state.call_count <= 128, "those of one page"
    assert len([page for page in pages.changed if "/k" in page]) == 1
    pages.apply_to(store)
    assert rows(Runtime.restore(store, tier="row")) == rows(runtime)
