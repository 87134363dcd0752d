"""``max_stops`` in both tiers: the same calls go through, others are refused in the same words, and the clock is at the same stop."""
from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.available import is_available

pytestmark = pytest.mark.skipif(not is_available(), reason="numba is not installed")

SCHEMA = "@public @buseventtype create schema T(k string, x int); @public @buseventtype create schema U(y int);"
MODULES = [
    "@name('a') select irstream x from T#time(5 msec)",
    "@name('a') select count(*) as c from T output last every 3 msec",
    "@name('a') select irstream k, x from T#time_batch(4 msec)",
    "@name('a') select irstream x from T#time_length_batch(4 msec, 3)",
    "@name('a') select irstream x from T#time_accum(6 msec)",
    "@name('a') select k, sum(x) as s from T#time(9 msec) group by k output snapshot every 2 msec",
    "@name('a') select x from T#time(3 msec); @name('b') select count(*) as c from T output every 3 msec",
    "@name('a') select y from U#time(7 msec); @name('b') select irstream x from T#time(5 msec)",
    "@name('a') insert into H select x from T output every 2 msec; @name('b') select irstream x from H#time(3 msec)",
    "@name('a') select * from T match_recognize (measures A.x as x pattern (A B*) interval 4 msec)",
    "@name('a') select * from T#time(8 msec) match_recognize (measures A.x as x, B.x as y pattern (A B))",
]
BESIDE = "@name('b') select irstream y, prev(1, y) as p from U#time(6 msec)"
"""A statement that is in the row tier."""
EXAMPLES = 25 * (10 if os.environ.get("EPL_LONG") else 1)
CALLS = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.sampled_from("TU"), st.sampled_from("ab"), st.integers(0, 3), st.sampled_from([0, 0, 1, 1, 2, 9, 40])), max_size=8,
        ),
        st.sampled_from(["span", "span", "span", "jump"]), st.sampled_from([0, 1, 2, 3, 5, 9, 10**6]), st.sampled_from([None, None, 3, 30]),
    ),
    max_size=4,
)
"""(rows of T and U and the time since the row before, time mode, limit, how far to walk then)."""


class Played:
    """What was heard of a runtime."""

    def __init__(self, tier: str, text: str, *, listens: bool = False) -> None:
        self.runtime = Runtime(tier=tier)
        self.runtime.deploy(SCHEMA + text)
        self.heard: list[Any] = []
        for statement in self.runtime.deployments["d0"]:
            if statement.name in ("a", "b"):
                statement.add_batch_listener(self._hear)
                if listens:
                    statement.add_listener(self._call)

    def _hear(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        self.heard.append((statement.name, *(None if b is None else b.to_pylist() for b in (new, old))))

    def _call(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        self.heard.append(("call", statement.name, [r.to_dict() for r in new], [r.to_dict() for r in old], runtime.cause.time))

    def send(self, rows: list[Any], mode: str, limit: int) -> None:
        self._tried(lambda: self.runtime.send_batch(tables(rows, self.runtime.now), time="ts", time_mode=mode, max_stops=limit))

    def walk(self, by: int, limit: int) -> None:
        self._tried(lambda: self.runtime.advance_time_span(self.runtime.now + by, max_stops=limit))

    def _tried(self, call: Any) -> None:
        try:
            call()
        except EplRuntimeError as error:
            self.heard.append(error.message)
        contents = [[row.to_dict() for row in s] for s in self.runtime.deployments["d0"]]
        self.heard.append((self.runtime.now, self.runtime.next_scheduled_time, contents))


def tables(rows: list[Any], now: int) -> dict[str, pa.Table]:
    found: dict[str, list[Any]] = {"T": [], "U": []}
    for kind, k, x, after in rows:
        now += after
        found[kind].append((k, x, now))
    k, x, ts = ([r[n] for r in found["T"]] for n in range(3))
    y, at = ([r[n] for r in found["U"]] for n in (1, 2))
    return {
        "T": pa.table({"k": pa.array(k, pa.string()), "x": pa.array(x, pa.int32()), "ts": pa.array(ts, pa.int64())}),
        "U": pa.table({"y": pa.array(y, pa.int32()), "ts": pa.array(at, pa.int64())}),
    }


def assert_same(first: Played, second: Played, calls: Any) -> None:
    for rows, mode, limit, by in calls:
        for each in (first, second):
            each.send(rows, mode, limit)
            if by is not None:
                each.walk(by, limit)
        assert second.heard == first.heard


@pytest.mark.parametrize("text", MODULES)
@settings(max_examples=EXAMPLES, deadline=None)
@given(calls=CALLS)
def test_both_tiers_count(text: str, calls: Any) -> None:
    assert_same(Played("row", text), Played("batch", text), calls)


@pytest.mark.parametrize("text", MODULES[:4])
@settings(max_examples=EXAMPLES, deadline=None)
@given(calls=CALLS)
def test_beside_statements_of_the_row_tier(text: str, calls: Any) -> None:
    """Under ``auto``, with one component in either tier."""
    first, second = Played("row", f"{text}; {BESIDE}"), Played("auto", f"{text}; {BESIDE}")
    internal_engine(second.runtime).columnar()
    tier = internal_engine(second.runtime).batch_tier
    assert tier is not None
    tier._refresh()
    tier.promote(next(c for c in tier._components.values() if c.statements[0].name == "a"))
    assert second.runtime.statement("a").tier == "batch" and second.runtime.statement("b").tier == "row"
    assert_same(first, second, calls)


@settings(max_examples=EXAMPLES, deadline=None)
@given(calls=CALLS)
def test_row_listeners_get_the_same_calls(calls: Any) -> None:
    text = f"{MODULES[0]}; @name('b') select count(*) as c from T output last every 3 msec"
    first, second = Played("row", text, listens=True), Played("batch", text, listens=True)
    for rows, mode, limit, by in calls:
        for each in (first, second):
            each.send(rows, mode, limit)
            if by is not None:
                each.walk(by, limit)
    heard = [[h for h in each.heard if isinstance(h, str) or h[0] == "call"] for each in (first, second)]
    assert heard[1] == heard[0]


def test_a_refused_gap_leaves_the_statement_in_its_tier() -> None:
    played = Played("batch", "@name('a') select x from T output every 10 msec")
    played.send([("T", "a", 1, 0)], "span", 20)
    with pytest.raises(EplRuntimeError, match="more than 20 timers are due on the way, the clock is at 200"):
        played.runtime.send_batch(tables([("T", "a", 2, 10_000)], 0), time="ts", max_stops=20)
    assert played.runtime.now == 200 and played.runtime.statement("a").tier == "batch"
    with pytest.raises(EplRuntimeError, match="more than 5 timers are due on the way, the clock is at 250"):
        played.runtime.advance_time_span(1000, max_stops=5)
    played.runtime.advance_time_span(1000, max_stops=75)
    assert played.runtime.now == 1000


def test_time_goes_on_with_rows_that_nobody_reads() -> None:
    first, second = (Played(tier, "@name('a') select irstream x from T#time(5 msec)") for tier in ("row", "batch"))
    for each in (first, second):
        each.send([("T", "a", 1, 0)], "span", 10)
        each.runtime.send_batch("U", tables([("U", "a", 1, 50)], 0)["U"], time="ts")
    assert second.heard == first.heard
    assert second.heard[-1] == ("a", None, [{"x": 1}])


def test_wide_gaps_alone_do_not_move_a_statement() -> None:
    """A day's events and a night without any: the window holds fewer times than the limit."""
    played = Played("batch", "@name('a') select irstream x from T#time(5 msec)")
    moved: list[Any] = []
    tier = internal_engine(played.runtime).batch_tier
    assert tier is not None
    tier.demote = moved.append  # type: ignore[method-assign]
    played.send([("T", "a", n, 1) for n in range(100)] + [("T", "a", 1, 10_000)], "span", 20)
    assert not moved and played.runtime.now == 10_100
