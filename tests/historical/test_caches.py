"""Caches by counted calls: what Esper 9.0.0 gave with the same methods configured with the same caches."""
from __future__ import annotations

import datetime
from typing import Any

import pytest

from runtime import EplRuntimeError, ExpiryCache, LruCache, Runtime

ROW = {"key": str, "call": int}
STATEMENT = "select t.k as k, l.call as c from Trade as t, method:lookup(t.k, t.n) as l"


class Counted:
    """A method that returns ``n`` rows, which say by which call they came; None gives no rows."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, key: str, n: int) -> Any:
        self.calls += 1
        return None if n is None else [{"key": key, "call": self.calls} for _ in range(n)]


def made(cache: Any, statement: str = STATEMENT) -> tuple[Runtime, Counted, list[Any]]:
    runtime, lookup, received = Runtime(), Counted(), []
    runtime.register("Trade", {"k": str, "n": int})
    runtime.register_method("lookup", lookup, row=ROW, cache=cache)
    for deployed in runtime.deploy(statement):
        deployed.add_listener(lambda new, old, s, r: received.extend(row["c"] for row in new))
    return runtime, lookup, received


def send(runtime: Runtime, *keys: str | None, n: int | None = 1) -> None:
    for key in keys:
        runtime.send("Trade", {"k": key, "n": n})


def test_without_a_cache_each_event_asks() -> None:
    runtime, lookup, received = made(None)
    send(runtime, "A", "A", "A")
    assert received == [1, 2, 3] and lookup.calls == 3


def test_the_least_recently_used_goes_first() -> None:
    runtime, _lookup, received = made(LruCache(2))
    send(runtime, "A", "A", "B", "A", "C", "A", "B", "C")
    assert received == [1, 1, 2, 1, 3, 1, 4, 5]
    send(runtime, "A", n=2)
    send(runtime, "B")
    assert received[8:] == [6, 6, 7]


def test_no_rows_are_a_result_too() -> None:
    runtime, lookup, received = made(LruCache(5))
    send(runtime, "A", "A", n=0)
    assert lookup.calls == 1
    send(runtime, "A", "A", n=None)
    assert lookup.calls == 2
    send(runtime, None, None, "A")
    assert received == [3, 3, 4]


@pytest.mark.parametrize(("age", "purge"), [("1 sec", "2 sec"), (1000, 10_000), (datetime.timedelta(seconds=1), None)])
def test_results_expire_by_engine_time(age: Any, purge: Any) -> None:
    runtime, _lookup, received = made(ExpiryCache(age, purge))
    for time in (0, 500, 1000, 1001, 1900, 3000):
        runtime.advance_time(time)
        send(runtime, "A")
    send(runtime, "B")
    runtime.advance_time(10_000)
    send(runtime, "A")
    assert received == [1, 1, 1, 2, 2, 3, 4, 5]


def test_age_counts_from_the_look_up_not_from_the_last_use() -> None:
    runtime, _, received = made(ExpiryCache("2 sec", "2 sec"))
    for time in (0, 1999, 2000, 2001, 2500, 4500):
        runtime.advance_time(time)
        send(runtime, "A")
    assert received == [1, 1, 1, 2, 2, 3]


def test_expired_results_are_purged_at_the_interval() -> None:
    from runtime.historical.cache import ExpiringResults

    class Clock:
        now = 0

    clock = Clock()
    results = ExpiringResults(clock, 100, 1000, 50)
    for n in range(40):
        results.put(n, n)
    clock.now = 999
    assert results.get(0) is None and len(results) == 40
    clock.now = 1000
    results.get(0)
    assert len(results) == 0
    for n in range(80):
        results.put(n, n)
    assert len(results) == 50 and results.get(29) is None and results.get(30) == 30


def test_each_stream_of_each_statement_has_its_own() -> None:
    runtime, lookup, received = made(LruCache(100), f"{STATEMENT}; {STATEMENT}")
    send(runtime, "A", "A")
    assert received == [1, 2, 1, 2]
    runtime, lookup, received = made(
        LruCache(100), "select l.call * 10 + m.call as c from Trade as t, method:lookup(t.k, 1) as l, method:lookup(t.k, 1) as m"
    )
    send(runtime, "A", "A")
    assert received == [12, 12] and lookup.calls == 2


def test_the_remove_stream_and_the_iterator_use_it() -> None:
    runtime, lookup, received = made(LruCache(10), STATEMENT.replace("Trade as", "Trade#length(1) as").replace("select", "select irstream"))
    statement = next(iter(runtime.deployments.values()))[0]
    send(runtime, "A", "B", "A", "A")
    assert received == [1, 2, 1, 1] and lookup.calls == 2
    assert [row["c"] for row in statement] == [row["c"] for row in statement] == [1] and lookup.calls == 2


def test_a_chain_alone_is_asked_once() -> None:
    runtime, lookup, _ = made(LruCache(10), "select m.call as c from method:lookup('a', 2) as l, method:lookup(l.key, 1) as m")
    statement = next(iter(runtime.deployments.values()))[0]
    assert [row["c"] for row in statement] == [2, 2] == [row["c"] for row in statement] and lookup.calls == 2


def test_one_iteration_asks_once_without_a_cache() -> None:
    runtime, lookup, _ = made(None, STATEMENT.replace("Trade as", "Trade#keepall as"))
    statement = next(iter(runtime.deployments.values()))[0]
    send(runtime, "A", "B", "A", "A")
    assert lookup.calls == 4
    assert [row["c"] for row in statement] == [5, 6, 5, 5] and lookup.calls == 6
    assert [row["c"] for row in statement] == [7, 8, 7, 7]


def test_arguments_that_are_lists_and_maps_are_keys() -> None:
    calls: list[Any] = []
    with Runtime() as runtime:
        runtime.register("T", {"items": list, "more": dict})
        runtime.register_method("sizes", lambda a, b: calls.append((a, b)) or [{"n": len(a) + len(b)}], row={"n": int}, cache=LruCache(9))
        statement = runtime.deploy("select m.n as n from T as t, method:sizes(t.items, t.more) as m")[0]
        received: list[int] = []
        statement.add_listener(lambda new, old, s, r: received.extend(row["n"] for row in new))
        for items in ([1, 2], [1, 2], [2, 1]):
            runtime.send("T", {"items": items, "more": {"a": 1}})
        assert received == [3, 3, 3] and len(calls) == 2


def test_a_restored_runtime_begins_with_empty_caches() -> None:
    runtime, lookup, _ = made(LruCache(10))
    send(runtime, "A", "A")
    restored = Runtime.restore(runtime.snapshot(), register=lambda r: r.register_method("lookup", lookup, row=ROW, cache=LruCache(10)))
    send(restored, "A", "A")
    assert lookup.calls == 2


@pytest.mark.parametrize("size", [0, -1, 1.5, True, None])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(ValueError, match="size of a cache is a whole number of at least 1"):
        LruCache(size)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("soon",), "max_age of a cache is not a length of time"), ((0,), "max_age and purge_interval of a cache are greater than 0"),
        (("1 sec", "0 sec"), "max_age and purge_interval of a cache are greater than 0"),
        ((1.5,), "max_age of a cache is a length of time"), (("1 sec", -1), "purge_interval of a cache is a length of time and cannot be"),
    ],
)
def test_a_length_of_time_that_is_none_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(EplRuntimeError, match=message):
        ExpiryCache(*arguments)
