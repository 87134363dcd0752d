"""Runtimes in the three tier settings against one another: the same output however events come, tiers move and snapshots are taken."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplRuntimeError, EplUnsupportedError
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.available import is_available
from runtime.batch.storage import strings as strings_module
from runtime.batch.tier import tier as tier_module

pytestmark = pytest.mark.skipif(not is_available(), reason="numba is not installed")

SCHEMA = "@public @buseventtype create schema T(k string, x double, n int); @public @buseventtype create schema U(k string, y long);"
MODULES = [
    "@name('a') select k, x from T(x > 1)",
    "@name('a') select irstream sum(x) as s, count(*) as c from T#length(2)",
    "@name('a') select irstream k, x from T#time(3 msec)",
    "@name('a') insert into Hot select k, x * 2 as y, n from T(x > 1); @name('b') select k, count(*) as c from Hot; "
    "@name('c') select irstream sum(y) as s from Hot#time(2 msec)",
    "@name('a') select k from T; @name('b') select sum(y) as s from U; @name('c') select rstream y from U#time(2 msec)",
    "@name('a') insert into V select * from T; @name('b') select irstream max(n) as hi from V#length(3)",
    "@name('a') select k from T(k = 'a'); @name('b') select k from T(k = 'b'); @name('c') select k, n from T(k = 'a' and n > 1)",
    "@name('a') insert into W select max(x) as hi from T#length(2); @name('b') select hi from W#keepall having hi > 1",
    "@name('a') select count(*) as c, sum(x) as s from T(k = 'a'); @name('b') select count(*) as c, sum(x) as s from T(k = 'b'); "
    "@name('c') select irstream x from T(k = 'b')#time(2 msec)",
    "@name('a') insert into R select 'one' as r, k from T(k = 'a' and n > 0); "
    "@name('b') insert into Q select 'two' as r, k from T(k = 'b' and n > 1); @name('c') select irstream r, k from R#time(2 msec)",
    "@name('a') select irstream x from T(k = 'a')#time(2 msec); @name('b') select irstream x from T(k = 'b')#time(3 msec); "
    "@name('c') select irstream n from T(k in ('a', 'b'))#length(2)",
]
ROW = st.tuples(
    st.sampled_from(["a", "b", None]), st.sampled_from([0.5, 1.5, 2.5, None]), st.sampled_from([1, 2, None]), st.integers(0, 2)
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("batch"), st.lists(ROW, max_size=6)), st.tuples(st.just("mixed"), st.lists(ROW, max_size=6)),
        st.tuples(st.just("send"), ROW), st.tuples(st.just("advance"), st.integers(0, 4)), st.tuples(st.just("span"), st.integers(0, 4)),
        st.tuples(st.just("restore"), st.none()),
    ),
    max_size=7,
)


class Player:
    """One runtime with batch listeners (and row listeners where asked for) on all statements, and what they heard."""

    def __init__(self, module: str, tier: str, *, row_listeners: bool) -> None:
        self.tier, self.row_listeners = tier, row_listeners
        self.heard: list[Any] = []
        self.calls: list[Any] = []
        self.runtime = Runtime(tier=tier)
        self.runtime.deploy(SCHEMA + module)
        self.listen()

    def listen(self) -> None:
        for deployment in self.runtime.deployments.values():
            for statement in deployment:
                if statement.name in "abc":
                    statement.add_batch_listener(self.hear, causes=self.row_listeners)
                    if self.row_listeners:
                        statement.add_listener(self.call)

    def hear(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        self.heard.append((statement.name, *(None if b is None else b.to_pylist() for b in (new, old))))

    def call(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        cause = runtime.cause
        self.calls.append((
            statement.name, [r.to_dict() for r in new], [r.to_dict() for r in old], cause.time, cause.place, cause.event_type, cause.row,
            cause.call,
        ))

    def play(self, steps: list[tuple[str, Any]]) -> None:
        for kind, what in steps:
            now = self.runtime.now
            if kind == "batch":
                self.runtime.send_batch("T", table(what, now), time="ts")
            elif kind == "mixed":
                half = len(what) // 2
                other = table(what[half:], now)
                other = pa.table({"k": other["k"], "y": other["n"].cast(pa.int64()), "ts": other["ts"]})
                self.runtime.send_batch({"T": table(what[:half], now), "U": other}, time="ts")
            elif kind == "send":
                self.runtime.send("T", {"k": what[0], "x": what[1], "n": what[2]})
            elif kind == "advance":
                self.runtime.advance_time(now + what)
            elif kind == "span":
                self.runtime.advance_time_span(now + what)
            else:
                self.runtime = Runtime.restore(self.runtime.snapshot(), tier=self.tier)
                self.listen()
            self.heard.append((kind, self.runtime.now, [[r.to_dict() for r in s] for d in self.runtime.deployments.values() for s in d]))


def table(rows: list[Any], now: int) -> pa.Table:
    times = []
    for row in rows:
        now += row[3]
        times.append(now)
    return pa.table({
        "k": pa.array([r[0] for r in rows], pa.string()), "x": pa.array([r[1] for r in rows], pa.float64()),
        "n": pa.array([r[2] for r in rows], pa.int32()), "ts": pa.array(times, pa.int64()),
    })


def test_timers_that_one_jump_runs_come_in_order_of_their_times() -> None:
    module = "@name('a') select rstream x from T(k = 'a')#time(2 msec); @name('b') select rstream x from T(k = 'b')#time(3 msec)"
    expected, found = (Player(module, tier, row_listeners=True) for tier in ("row", "batch"))
    for player in (expected, found):
        player.play([("batch", [("b", 0.5, 1, 0), ("b", 1.5, 1, 1), ("a", 2.5, 1, 1)]), ("advance", 2)])
    assert found.heard == expected.heard
    assert [call[0] for call in found.calls] == [call[0] for call in expected.calls] == ["b", "a"]


@pytest.mark.parametrize("module", MODULES)
@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_batch_tier_is_the_row_tier(module: str, steps: list[tuple[str, Any]]) -> None:
    expected, found = (Player(module, tier, row_listeners=True) for tier in ("row", "batch"))
    expected.play(steps)
    found.play(steps)
    assert found.heard == expected.heard
    assert found.calls == expected.calls
    assert {s.tier for d in found.runtime.deployments.values() for s in d if s.name in "abc"} == {"batch"}


@pytest.mark.parametrize("module", MODULES)
@settings(max_examples=25, deadline=None)
@given(steps=STEPS, rows=st.integers(1, 8), sends=st.integers(0, 2))
def test_components_move_as_they_like(module: str, steps: list[tuple[str, Any]], rows: int, sends: int) -> None:
    expected = Player(module, "row", row_listeners=False)
    expected.play(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tier_module, "ROWS_BEFORE", rows)
        patch.setattr(tier_module, "SENDS_BEFORE", sends)
        found = Player(module, "auto", row_listeners=False)
        found.play(steps)
    assert found.heard == expected.heard


def many(count: int) -> pa.Table:
    return table([("a", float(i % 3), i, 1) for i in range(count)], 0)


def test_auto_moves_with_rows_listeners_and_sends() -> None:
    runtime = Runtime()
    statement = runtime.deploy(SCHEMA + "@name('a') select irstream sum(n) as s from T#length(2)")["a"]
    assert statement.tier == "row" and "nothing has come in batches" in statement.explain()
    runtime.send_batch("T", many(100), time="ts")
    assert statement.tier == "row" and f"fewer than {tier_module.ROWS_BEFORE} rows" in statement.explain()
    rows = many(tier_module.ROWS_BEFORE)
    runtime.send_batch("T", rows.set_column(3, "ts", pa.array([1000] * rows.num_rows)), time="ts")
    assert statement.tier == "batch" and "tier: batch (compiled)" in statement.explain()
    listener = statement.add_listener(lambda *_: None)
    assert statement.tier == "row" and "has a row listener" in statement.explain()
    statement.remove_listener(listener)
    runtime.send_batch("T", rows.set_column(3, "ts", pa.array([2000] * rows.num_rows)), time="ts")
    assert statement.tier == "batch"
    for _ in range(tier_module.SENDS_BEFORE + 1):
        runtime.send("T", {"k": "a", "x": 1.0, "n": 3})
    assert statement.tier == "row" and [r.to_dict() for r in statement] == [{"s": 6}]


def test_statements_that_join_a_component_take_it_along() -> None:
    runtime = Runtime()
    first = runtime.deploy(SCHEMA + "@name('a') select count(*) as c from T")["a"]
    other = runtime.deploy("@name('z') select y from U")["z"]
    rows = many(tier_module.ROWS_BEFORE)
    runtime.send_batch("T", rows, time="ts")
    assert (first.tier, other.tier) == ("batch", "row")
    late = runtime.deploy("@name('b') select x from T#sort(3, x)")
    assert first.tier == "row" and "the window sort" in first.explain()
    late.undeploy()
    runtime.send_batch("T", rows.set_column(3, "ts", pa.array([90_000] * rows.num_rows)), time="ts")
    assert first.tier == "batch" and [r.to_dict() for r in first] == [{"c": 2 * tier_module.ROWS_BEFORE}]


def test_what_the_batch_tier_refuses() -> None:
    with Runtime(tier="batch") as runtime:
        runtime.deploy(SCHEMA)
        with pytest.raises(EplUnsupportedError, match=r"Not in the batch tier: statement 'a': .*the window sort"):
            runtime.deploy("@name('a') select x from T#sort(3, x)")
        assert len(runtime.deployments) == 1
        statement = runtime.deploy("@name('a') select count(*) as c from T(n > 0)")["a"]
        with pytest.raises(EplRuntimeError, match="property 'n' is declared Integer and cannot hold 4294967296"):
            runtime.send_batch("T", pa.table({"k": ["a"], "x": [1.0], "n": [2**32]}))
        assert [r.to_dict() for r in statement] == [{"c": 0}]


def test_columns_of_wider_types_are_looked_at() -> None:
    heard = []
    with Runtime(tier="batch") as runtime:
        statement = runtime.deploy(SCHEMA + "@name('a') select k, n, x from T")["a"]
        statement.add_batch_listener(lambda new, *_: heard.append(new.to_pylist()))
        runtime.send_batch("T", pa.table({"k": ["a"], "x": pa.array([2], pa.int32()), "n": pa.array([3], pa.int64())}))
    assert heard == [[{"k": "a", "n": 3, "x": 2.0}]]


def test_strings_that_are_not_held_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier_module, "CODES_BEFORE", 100)
    monkeypatch.setattr(tier_module, "BYTES_A_CODE", 10**6)
    heard: dict[str, list[Any]] = {"row": [], "batch": []}
    for tier, rows in heard.items():
        runtime = Runtime(tier=tier)
        module = "@name('a') select k, count(*) as c from T#length(3) group by k; @name('b') select k from T(k like 'k1%')"
        runtime.deploy(SCHEMA + module)
        for name in "ab":
            runtime.statement(name).add_batch_listener(lambda new, *_, rows=rows: rows.append(None if new is None else new.to_pylist()))
        for batch in range(20):
            keys = [f"k{(batch * 17 + n) // 2}" for n in range(30)]
            runtime.send_batch("T", pa.table({"k": keys, "x": [1.0] * 30, "n": pa.array([1] * 30, pa.int32())}))
            if internal_engine(runtime).batch_tier is not None:
                assert len(internal_engine(runtime).batch_tier._pool) < 200
    assert heard["batch"] == heard["row"]


def test_a_pool_of_strings_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strings_module, "LIMIT", 2)
    runtime = Runtime(tier="batch")
    runtime.deploy(SCHEMA + "@name('a') select k, count(*) as c from T group by k")
    rows = pa.table({"k": list("abcdef"), "x": [1.0] * 6, "n": pa.array([1] * 6, pa.int32())})
    with pytest.raises(EplUnsupportedError, match="Not in the batch tier: more than 3 different strings"):
        runtime.send_batch("T", rows)
    assert list(runtime.statement("a")) == []
    monkeypatch.setattr(tier_module, "ROWS_BEFORE", 1)
    with Runtime() as other:
        statement = other.deploy(SCHEMA + "@name('a') select k, count(*) as c from T group by k")["a"]
        heard: list[int] = []
        statement.add_batch_listener(lambda new, *_: heard.append(new.num_rows))
        other.send_batch("T", rows)
        assert statement.tier == "row" and heard == [6]


def test_prior_stays_in_the_row_tier_where_nothing_emits_it() -> None:
    with Runtime(tier="batch") as runtime:
        runtime.deploy("create schema P(n int)")
        with pytest.raises(EplUnsupportedError, match="prior"):
            runtime.deploy("select rstream n, prior(1, n) as p from P")
