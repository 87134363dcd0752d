"""Statements of contexts against what they mean: one engine for each key, a plain list of the sessions that live; restored anywhere."""
from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from runtime import Runtime, Settings

TYPES = "create schema E(k string, v int); create schema S(u string, n int); create schema X(u string); create schema V(u string, v int);"

KEYED = {
    "rows": "select irstream v from E#length(2)",
    "sum": "select irstream sum(v) as s, count(*) as c from E#time(3 sec)",
    "groups": "select irstream v % 3 as g, count(*) as c from E#length(3) group by v % 3",
    "output": "select v from E output last every 2 events",
    "at times": "select sum(v) as s from E#keepall output snapshot every 2 sec",
    "pattern": "select a.v as x, b.v as y from pattern [every a=E(v > 2) -> b=E(v < a.v)]",
    "match": "select * from E match_recognize (measures A.v as x, last(B.v) as y pattern (A B+ C) "
             "define B as B.v > prev(B.v), C as C.v < 2)",
    "sub-query": "select v, (select max(v) from E#length(2)) as m from E",
    "self join": "select a.v as x, b.v as y from E#length(2) as a, E#lastevent as b",
}
AFTER_THE_STATEMENT = Settings(self_subselect_preeval=False)
"""A sub-query gets the event that begins its partition after the statement, as in Esper: here it gets all events so."""

Step = tuple[str, Any]
keyed_steps = st.lists(st.one_of(
    st.tuples(st.just("event"), st.tuples(st.sampled_from("abc"), st.integers(0, 5))),
    st.tuples(st.just("time"), st.integers(1, 4)),
    st.tuples(st.just("restart"), st.none()),
), max_size=20)


def rows_of(rows: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


class Engine:
    """A runtime with one statement ``s``, that can be restored where it is; ``calls``: what its listener got since the last ``take``."""

    def __init__(self, module: str) -> None:
        self.calls: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = []
        self.runtime = Runtime(settings=AFTER_THE_STATEMENT)
        self.runtime.deploy(module)
        self._listen()

    def _listen(self) -> None:
        self.runtime.statement("s").add_listener(
            lambda new, old, statement, runtime: self.calls.append((rows_of(new), rows_of(old))))

    def restart(self) -> None:
        self.runtime = Runtime.restore(self.runtime.snapshot())
        self._listen()

    def take(self) -> list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
        calls, self.calls = self.calls, []
        return calls


@pytest.mark.parametrize("name", KEYED)
@settings(max_examples=25, deadline=None)
@given(steps=keyed_steps)
def test_keyed_is_one_engine_for_each_key(name: str, steps: list[Step]) -> None:
    """What a key's partition emits, and what its iterator gives, is what an engine of its own does with the events of the key."""
    whole = Engine(f"{TYPES} create context C partition by k from E; @name('s') context C {KEYED[name]}")
    engines: dict[str, Engine] = {}
    now = 0
    for kind, value in steps:
        if kind == "restart":
            whole.restart()
            continue
        if kind == "time":
            now += value * 1000
            whole.runtime.advance_time_span(now)
            emitted: list[Any] = []
            for engine in engines.values():
                engine.runtime.advance_time_span(now)
                emitted += engine.take()
            _same_rows(whole.take(), emitted)
        else:
            key, number = value
            if key not in engines:
                engines[key] = Engine(f"{TYPES} @name('s') {KEYED[name]}")
                engines[key].runtime.advance_time(now)
            whole.runtime.send("E", {"k": key, "v": number})
            engines[key].runtime.send("E", {"k": key, "v": number})
            assert whole.take() == engines[key].take()
        assert rows_of(whole.runtime.statement("s")) == [
            row for engine in engines.values() for row in rows_of(engine.runtime.statement("s"))]


def _same_rows(calls: list[Any], expected: list[Any]) -> None:
    """Timers of several partitions that are due at once may share a call."""
    def ordered(side: int, of: list[Any]) -> list[str]:
        return sorted(str(row) for call in of for row in call[side])

    assert ordered(0, calls) == ordered(0, expected) and ordered(1, calls) == ordered(1, expected)


session_steps = st.lists(st.one_of(
    st.tuples(st.just("begin"), st.tuples(st.sampled_from("ab"), st.integers(0, 9))),
    st.tuples(st.just("end"), st.sampled_from("ab")),
    st.tuples(st.just("value"), st.tuples(st.sampled_from("abc"), st.integers(0, 5))),
    st.tuples(st.just("time"), st.integers(1, 4)),
    st.tuples(st.just("restart"), st.none()),
), max_size=25)


@settings(max_examples=60, deadline=None)
@given(steps=session_steps)
def test_sessions_are_a_list_of_those_that_live(steps: list[Step]) -> None:
    """Overlapping partitions: each begins with its event, sees the values of its user, and ends by an event or after six seconds."""
    engine = Engine(f"""{TYPES}
        create context C initiated by S as s terminated by pattern [X(u = s.u) or timer:interval(6 sec)];
        @name('s') context C select context.id as i, context.s.n as n, sum(v) as t from V(u = context.s.u);
        context C create table T(u string, t sum(int), c count(*));
        context C into table T select sum(v) as t, count(*) as c from V(u = context.s.u)""")
    live: dict[int, dict[str, Any]] = {}
    begun = now = 0
    for kind, value in steps:
        runtime = engine.runtime
        if kind == "restart":
            engine.restart()
        elif kind == "begin":
            user, number = value
            live[begun] = {"u": user, "n": number, "until": now + 6000, "values": []}
            begun += 1
            runtime.send("S", {"u": user, "n": number})
            assert engine.take() == []
        elif kind == "end":
            live = {i: session for i, session in live.items() if session["u"] != value}
            runtime.send("X", {"u": value})
            assert engine.take() == []
        elif kind == "time":
            now += value * 1000
            live = {i: session for i, session in live.items() if session["until"] > now}
            runtime.advance_time_span(now)
            assert engine.take() == []
        else:
            user, number = value
            expected = []
            for i, session in live.items():
                if session["u"] == user:
                    session["values"].append(number)
                    expected.append({"i": i, "n": session["n"], "t": sum(session["values"])})
            runtime.send("V", {"u": user, "v": number})
            assert sorted((str(row) for new, _ in engine.take() for row in new)) == sorted(map(str, expected))
        runtime = engine.runtime
        assert runtime.contexts["C"].ids() == list(live)
        sums = {i: sum(session["values"]) for i, session in live.items() if session["values"]}
        assert {row.i: row.t for row in runtime.query("context C select context.id as i, t from T") if row.t is not None} == sums
        assert (runtime.query("select sum(c) as c from T")[0].c or 0) == sum(len(session["values"]) for session in live.values())
