"""Nothing of a partition stays when it has ended: filters, their entries, timers, objects; nor of one that could not begin."""
from __future__ import annotations

import gc
from typing import Any

import pytest

from runtime import Runtime, Settings
from runtime.api.runtime import internal_engine
from runtime.event_loop.filter_tables import EntryList, HashedRanges, HashTable

TYPES = "create schema E(k string, v int); create schema X(k string, v int);\n"


def entries(table: Any) -> int:
    """Return how many entries a table of filters has."""
    if isinstance(table, EntryList):
        return len(table._entries)
    if isinstance(table, HashedRanges):
        return sum(len(bucket) for ranges in table._ranges.values() for bucket in ranges._buckets.values())
    return sum(map(len, (table._buckets if isinstance(table, HashTable) else table._ranges._buckets).values()))


def kept(runtime: Runtime) -> tuple[int, int, int]:
    """(prepared filters, their entries, timers) of a runtime."""
    tables = [table for index in internal_engine(runtime).core.filters._by_type.values() for table in index.active.values()]
    return sum(table.users for table in tables), sum(map(entries, tables)), len(internal_engine(runtime).core.schedule)


def test_an_instance_that_fails_while_it_starts_leaves_nothing() -> None:
    errors: list[str] = []
    runtime = Runtime(start_time=0, on_error=lambda error, name, event: errors.append(str(error)))
    runtime.deploy(TYPES + """create context C initiated by E as e terminated by X(k = e.k);
        @name('s') context C select * from E(v > 0)#time_batch(1 sec, 'start_eager') as a, X(v = cast(context.e.k, int))#length(2) as b""")
    runtime.send("E", {"k": "1", "v": 1})
    runtime.send("X", {"k": "1", "v": 1})
    before = kept(runtime)
    runtime.send("E", {"k": "b", "v": 1})
    assert len(errors) == 1 and "b" in errors[0]
    runtime.send("X", {"k": "b", "v": 1})
    assert kept(runtime) == before


@pytest.mark.parametrize("end", ["X(v > 0 or e.v > v)", "pattern [a=X(v > 0 or e.v > v) or timer:interval(9)]", "after 5 sec"])
@pytest.mark.parametrize("start", ["initiated by E as e terminated by", "start E as e end"])
def test_conditions_that_have_come_true_leave_no_filters(start: str, end: str) -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(TYPES + f"create context C {start} {end}; @name('s') context C select * from X#time(2)")
    before = kept(runtime)
    for turn in range(1, 4):
        for v in (1, 2):
            runtime.send("E", {"k": "a", "v": v})
        runtime.send("X", {"k": "a", "v": 1})
        runtime.advance_time(turn * 10_000)
        assert kept(runtime)[1:] == before[1:]
    assert kept(runtime)[0] <= before[0] + 2, "those of the statement and of the end are shared"


@pytest.mark.parametrize("start", ["E", "pattern [e=E] @inclusive"])
def test_a_lifetime_that_a_limit_prevents_begins_later(start: str) -> None:
    errors: list[str] = []
    runtime = Runtime(settings=Settings(max_partitions=1), on_error=lambda error, name, event: errors.append(str(error)))
    runtime.deploy(TYPES + f"""create context C context K partition by k from X, k from E, context L start {start} end X(v = 0);
        @name('s') context C select k, v from E#keepall""")
    for k in "ab":
        runtime.send("X", {"k": k, "v": 1})
    for k in "abb":
        runtime.send("E", {"k": k, "v": 1})
    assert [(row.k, row.v) for row in runtime.statement("s").rows()] == [("a", 1)] and len(errors) == 2
    runtime.send("X", {"k": "a", "v": 0})
    runtime.send("E", {"k": "b", "v": 2})
    assert [(row.k, row.v) for row in runtime.statement("s").rows()] == [("b", 2)] and len(errors) == 2


@pytest.mark.parametrize("statement", [
    "select sum(v) as s from X(k = context.e.k)", "select irstream k, v from X(k = context.e.k)#time(30) output snapshot when terminated",
    "select a.v as a from pattern [every a=X(k = context.e.k) -> timer:interval(9)]", "create window W#keepall as E",
    "select (select sum(v) from E#length(2)) as s from X(k = context.e.k)", "create variable int n = 0"])
@pytest.mark.parametrize("context", [
    "initiated by E as e terminated by X(k = e.k, v = 0)", "initiated by distinct(e.k) E as e terminated after 1 sec",
    "context K partition by k from E, k from X terminated by X(v = 0), context L initiated by E as e terminated by X(v = 0)"])
def test_sessions_that_came_and_went_leave_nothing(context: str, statement: str) -> None:
    runtime = Runtime(start_time=0, tier="row")
    statement = statement if "context K" not in context else statement.replace("context.e.k", "context.L.e.k")
    runtime.deploy(TYPES + f"create context C {context}; @name('s') context C {statement}; @name('t') context C select v from X")

    def sessions(first: int, last: int) -> tuple[int, tuple[int, int, int]]:
        for n in range(first, last):
            for event_type, v in (("E", 1), ("X", 1), ("X", 0)):
                runtime.send(event_type, {"k": f"u{n}", "v": v})
            runtime.advance_time(n * 2_000)
        runtime.advance_time(last * 2_000 + 60_000)
        gc.collect()
        return len(gc.get_objects()), kept(runtime)

    objects, before = sessions(0, 40)
    after, now = sessions(100, 340)
    assert now == before and runtime.context_partitions == {"C": 0}
    assert after - objects < 40, "less than one a session"
