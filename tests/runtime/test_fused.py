"""Fused selects against the operators they stand for: same calls, same errors, same state, wherever something raises."""
from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.api.statement import internal_output

SCHEMA = "@public @buseventtype create schema T(k string, x int, n long, d double, f float, s string);\n"
WINDOWS = ["", "#length(1)", "#length(3)", "#time(3 sec)", "#time(1 month)"]
ROWS = [
    "select k, x + 1 as y, {w} as w from T{window}",
    "select * from T(x > 1){window}",
    "select count(*) as c, sum(x) as s, avg(n) as a, {w} as w from T{window}",
    "select sum(cast(s, int)) as s, count(d) as c, max(d) as m, min(x) as n from T{window}",
    "select k, sum(f) as s, avg(d) as a, count(cast(s, int)) as c from T{window}",
    "select k, count(*) as c, sum(x) as s, {w} as w from T{window} group by k",
    "select k, count(*) as c, sum(cast(s, int)) as s from T{window} group by k having count(*) > 1",
    "select d, sum(n) as s, max(x) as m from T{window} group by d",
    "select k, x, sum(d) as s from T{window} group by k, x having sum(d) is null or sum(d) > 1.0 or {w} is null",
    "select k, d, sum(x) as s, avg(f) as a from T{window} group by k",
    "select cast(s, int) as y, avg(x) as a from T{window} group by cast(s, int)",
    "select k, sum(x) as s, weigh(1) as w, count(*) + x as c from T{window}",
    "select countever(*) as c, countever(x) as e, prev(1, x) as p from T#length(2)",
    "insert into Out select k, sum(n) as s from T{window} group by k; @name('s1') select * from Out(s > 2)",
    "select k, sum(x) as s from T{window} group by k output last every 2 seconds",
    "select k, sum(cast(s, int)) as s from T{window} group by k output all every 2 seconds",
    "select k, count(*) as c, max(n) as m from T group by k having count(*) > 1 output last every 3 events",
    "select * from T{window} match_recognize (partition by k measures A.x as a, first(B.x) as f, last(B.x) as b, C.x as c pattern (A B+ C) "
    "define B as weigh(B.x) > prev(B.x), C as C.x < prev(C.x))",
    "select * from T{window} match_recognize (measures A.n as a, B.n as b, C.n as c pattern (A B C) "
    "define A as cast(A.s, int) = 1 or A.n = 0, B as B.n >= A.n, C as C.n > B.n)",
]
TOTALS = "create table Totals(k string primary key, s sum(int), c count(*), m avg(int));\n"
KEPT = "create window Kept#{kept} as (k string, x int, s string);\n"
STORES = [
    TOTALS + "@name('s0') into table Totals select sum(x) as s, count(*) as c, avg(cast(s, int)) as m from T{window} group by k;\n"
    "@name('s1') select Totals[k].s as s, Totals[k].m as m from T;\n"
    "@name('d') on T(n = 1) delete from Totals w where w.k is null or w.k = 'b'",
    "create table One(s sum(int), c countever(*));\n"
    "@name('s0') into table One select sum(cast(weigh(x), int)) as s, countever(*) as c from T{window};\n"
    "@name('s1') select One.s as s, One.c as c from T",
    KEPT + "@name('s0') on T t merge Kept w where w.k = t.k when matched and weigh(t.x) = 1 then delete "
    "when matched then update set x = w.x + t.x, s = t.s where cast(t.s, int) = 1 "
    "when not matched then insert select t.k as k, cast(weigh(t.x), int) as x, t.s as s;\n"
    "@name('s1') select irstream k, sum(x) as x from Kept group by k",
    KEPT + "insert into Kept select k, x, s from T;\n"
    "@name('s0') on T(n = 1) t update Kept w set x = w.x + 1, s = initial.k where w.x > t.x;\n"
    "@name('s1') on T(n = 0) t delete from Kept w where w.k = t.k or weigh(w.x) = cast(t.s, int)",
    "create table Held(k string primary key, x int, s string);\n@name('s0') on T t merge Held w where w.k = t.k "
    "when matched and t.x is null then delete when matched then update set x = w.x + cast(t.s, int), "
    "s = case when t.n = 1 then initial.k else w.s end "
    "when not matched and t.k is not null then insert select t.k as k, cast(weigh(t.x), int) as x, t.s as s;\n"
    "@name('s1') on T(n = 0) delete from Held w where w.x = 0",
]
LARGE = [0, 1, 2, -3, (1 << 31) - 1, -(1 << 31)]
EVENTS = st.fixed_dictionaries({
    "k": st.sampled_from(["a", "b", None]),
    "x": st.sampled_from([*LARGE, None]),
    "n": st.sampled_from([*LARGE, (1 << 63) - 1, None]),
    "d": st.sampled_from([0.0, -0.0, 1.5, 2.25, float("nan"), None]),
    "f": st.sampled_from([0.5, 3.0, None]),
    "s": st.sampled_from(["1", "2", "bad", None]),
})
STEPS = st.lists(st.one_of(EVENTS, EVENTS, st.integers(0, 3).map(lambda n: n * 500), st.sampled_from(["restore", "pages"])), max_size=25)


def weigh(x: int | None) -> int | None:
    """A user's function: it raises for one value."""
    if x == 2:
        raise ValueError("two")
    return x


def _leave(*statement: Any) -> None:
    """In place of what fuses a statement."""


class Engine:
    """A runtime with one statement, and all that is seen of it."""

    def __init__(self, text: str, fused: bool) -> None:
        self._patch: Any = nullcontext() if fused else patch.multiple("runtime.build", fuse=_leave, fuse_changes=_leave)
        self.seen: list[Any] = []
        self.runtime = Runtime(on_error=self._failed)
        self.runtime.register_function("weigh", weigh)
        with self._patch:
            self.runtime.deploy(SCHEMA + (text if "@name('s0')" in text else "@name('s0') " + text))
        self._listen()

    def _failed(self, error: BaseException, statement: str, event: Any) -> None:
        self.seen.append(["error", type(error).__name__, str(error), statement, repr(event)])

    def _listen(self) -> None:
        for deployment in self.runtime.deployments.values():
            for statement in deployment:
                if statement.name in ("s0", "s1"):
                    statement.add_listener(self._heard)

    def _heard(self, new: Any, old: Any, statement: Any, runtime: Runtime) -> None:
        self.seen.append([statement.name, repr(new), repr(old), repr(runtime.cause)])

    def step(self, step: Any) -> None:
        if isinstance(step, dict):
            self.runtime.send("T", step)
        elif isinstance(step, int):
            self.runtime.advance_time(self.runtime.now + step)
        elif step == "pages":
            pages = self.runtime.pages().apply_to({})
            self.seen.append(sorted((key, value) for key, value in pages.items() if key != "head"))
        else:
            with self._patch:
                self.runtime = Runtime.restore(self.runtime.snapshot(), functions={"weigh": weigh}, on_error=self._failed)
            self._listen()
        for statement in (each for deployment in self.runtime.deployments.values() for each in deployment):
            try:
                self.seen.append([repr(row) for row in statement])
            except (ValueError, EplRuntimeError) as error:  # what a condition or column raises
                self.seen.append(repr(error))


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(ROWS), st.sampled_from(WINDOWS), st.booleans(), STEPS)
def test_fused_equals_the_operators(rows: str, window: str, weighs: bool, steps: list[Any]) -> None:
    text = rows.format(window=window, w="weigh(x)" if weighs and "count(*)" not in rows and "sum(d) is" not in rows else "1")
    fused, plain = Engine(text, fused=True), Engine(text, fused=False)
    for step in steps:
        fused.step(step)
        plain.step(step)
        assert fused.seen == plain.seen
    assert fused.runtime.snapshot() == plain.runtime.snapshot()


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(STORES), st.sampled_from(WINDOWS), st.sampled_from(["keepall", "unique(k)", "length(2)", "length_batch(2)"]), STEPS)
def test_fused_changes_equal_the_operators(text: str, window: str, kept: str, steps: list[Any]) -> None:
    text = text.replace("{window}", window).replace("{kept}", kept)
    fused, plain = Engine(text, fused=True), Engine(text, fused=False)
    for step in steps:
        fused.step(step)
        plain.step(step)
        assert fused.seen == plain.seen
    assert fused.runtime.snapshot() == plain.runtime.snapshot()


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(ROWS), st.sampled_from(WINDOWS), STEPS)
def test_inlining_can_be_switched_off(rows: str, window: str, steps: list[Any]) -> None:
    text = rows.format(window=window, w="1")
    inlined = Engine(text, fused=True)
    for step in steps:
        inlined.step(step)
    with patch("runtime.event_loop.lone_receiver.ENABLED", False):
        called = Engine(text, fused=True)
        for step in steps:
            called.step(step)
    assert inlined.seen == called.seen
    assert inlined.runtime.snapshot() == called.runtime.snapshot()


@pytest.mark.parametrize("enabled", [True, False])
def test_what_the_switch_inlines(enabled: bool) -> None:
    with patch("runtime.event_loop.lone_receiver.ENABLED", enabled), Runtime() as runtime:
        running: Any = internal_output(runtime.deploy(SCHEMA + "@name('s0') select sum(x) as s from T#time(3 sec)")["s0"]).running
        runtime.send("T", {"x": 1})
        (intake,) = running.context.core.intakes.values()
        assert ("times.append(now)" in intake.source, running.chain.timer.alone is not None) == (enabled, enabled)


@pytest.mark.parametrize("text", [r.format(window=w, w="1") for r in ROWS[:11] for w in WINDOWS])
def test_such_statements_are_fused(text: str) -> None:
    with Runtime() as runtime:
        deployment = runtime.deploy(SCHEMA + "@name('s0') " + text)
        running = internal_output(deployment["s0"]).running
        assert running.entry.receiver.receive.__name__ == "take"  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [
    "select irstream x from T#length(2)", "select x from T#length(2) order by x", "select distinct x from T#length(2)",
    "select sum(cast(weigh(x), int)) as s from T", "select stddev(x) as s from T", "select sum(distinct x) as s from T",
    "select sum(x, group_by:k) as s from T#length(3)", "select x from T#length_batch(2)",
    "select x from T limit 1", "select prior(1, x) as p from T", "select * from T match_recognize (measures A.x as x pattern (A))",
])
def test_others_are_left_to_the_operators(text: str) -> None:
    with Runtime() as runtime:
        runtime.register_function("weigh", weigh)
        running = internal_output(runtime.deploy(SCHEMA + "@name('s0') " + text)["s0"]).running
        assert running.entry.receiver.receive.__name__ != "take"  # type: ignore[union-attr]
