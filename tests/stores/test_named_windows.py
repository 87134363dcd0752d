"""Named windows: restores at any event, faults of consumers, visibility."""
from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplDeploymentError, EplUnsupportedError
from runtime import Runtime
from runtime.event_loop.routed_events import RoutedEvents
from runtime.event_loop.store_deltas import StoreDeltas
from tests.calls import calls

SCHEMA = "@public create schema Trade(id string, v int); @public create schema Drop(v int); "
MODULE = SCHEMA + """
@public create window W#length(3)#unique(v) as Trade;
insert into W select * from Trade;
@name('rows') select irstream id, v from W;
@name('sum') select sum(v) as s from W(v > 1);
@name('join') select a.id as x, b.id as y from W as a, W as b where a.v < b.v;
@name('query') select (select count(*) from W) as c, (select sum(v) from W) as s from Drop;
"""
READ = ("rows", "sum", "join", "query")


def _listen(runtime: Runtime, names: tuple[str, ...] = READ) -> list[Any]:
    calls: list[Any] = []
    for deployment in runtime.deployments.values():
        for statement in deployment:
            if statement.name in names:
                statement.add_listener(
                    lambda new, old, s, _: calls.append((s.name, [dict(row) for row in new], [dict(row) for row in old])))
    return calls


def _send(runtime: Runtime, number: int, v: int) -> None:
    if v < 0:
        runtime.send("Drop", {"v": v})
    else:
        runtime.send("Trade", {"id": f"o{number}", "v": v})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-1, 3), max_size=12), st.integers(0, 12))
def test_restored_at_any_event(values: list[int], cut: int) -> None:
    whole, other = Runtime(start_time=0), Runtime(start_time=0)
    whole.deploy(MODULE)
    other.deploy(MODULE)
    calls, others = _listen(whole), [_listen(other)]
    for number, v in enumerate(values):
        if number == cut:
            other = Runtime.restore(other.snapshot())
            others.append(_listen(other))
        _send(whole, number, v)
        _send(other, number, v)
    assert [call for part in others for call in part] == calls


@given(st.lists(st.integers(0, 3), max_size=12))
@settings(max_examples=25, deadline=None)
def test_a_late_consumer_continues_as_an_early_one(values: list[int]) -> None:
    early, late = Runtime(start_time=0), Runtime(start_time=0)
    window = SCHEMA + "@public create window W#length(2) as Trade; insert into W select * from Trade"
    consumer = "@name('rows') select irstream id, sum(v) as s from W group by v % 2; @name('join') select a.id as x from W as a, W as b"
    early.deploy(window)
    late.deploy(window)
    early.deploy(consumer)
    for number, v in enumerate(values):
        _send(early, number, v)
        _send(late, number, v)
    late.deploy(consumer)
    calls, others = _listen(early), _listen(late)
    for number, v in enumerate([1, 2, 1], 100):
        _send(early, number, v)
        _send(late, number, v)
    assert calls == others


def test_a_consumer_that_raises_harms_no_other() -> None:
    errors: list[str] = []
    runtime = Runtime(start_time=0, on_error=lambda error, statement, event: errors.append(statement))
    runtime.register_function("risky", _risky)
    runtime.deploy(SCHEMA + """create window W#length(2) as Trade; insert into W select * from Trade;
        @name('filter') select id from W(risky(v) > 0); @name('where') select id from W where risky(v) > 0;
        @name('rows') select irstream id from W; @name('query') select (select count(*) from W) as c from Drop""")
    calls = _listen(runtime, ("rows", "filter", "where", "query"))
    for number, v in enumerate((1, 0, 2, 3)):
        _send(runtime, number, v)
    _send(runtime, 9, -1)
    assert [new for name, new, old in calls if name == "rows"] == [[{"id": f"o{n}"}] for n in range(4)]
    for reading in ("filter", "where"):
        assert [new for name, new, old in calls if name == reading and new] == [[{"id": "o0"}], [{"id": "o2"}], [{"id": "o3"}]]
    assert calls[-1] == ("query", [{"c": 2}], [])
    assert set(errors) == {"filter", "where"}


def _risky(v: int) -> int:
    if v == 0:
        raise ValueError("zero")
    return v


def test_a_window_that_others_read_stays() -> None:
    runtime = Runtime(start_time=0)
    first = runtime.deploy(SCHEMA + "@public create window W#keepall as Trade")
    second = runtime.deploy("@name('s') select * from W")
    with pytest.raises(EplDeploymentError, match=r"Named window 'W' cannot be un-deployed as it is referenced by deployment 'd1'"):
        first.undeploy()
    second.undeploy()
    third = runtime.deploy("insert into W select * from Trade")
    with pytest.raises(EplDeploymentError, match=r"Named window 'W'|Event type 'Trade'"):
        first.undeploy()
    third.undeploy()
    first.undeploy()
    runtime.deploy(SCHEMA + "create window W#lastevent as Trade")


def test_a_module_is_refused_while_its_window_is_there() -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(SCHEMA)
    plan = runtime.compile("@public create window W#keepall as Trade")
    reader = Runtime(start_time=0)
    reader.deploy(SCHEMA)
    runtime.deploy(plan)
    with pytest.raises(EplDeploymentError, match="A named window by name 'W' has already been created"):
        runtime.deploy(plan)


def test_what_is_not_supported_yet_is_refused_by_name() -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(SCHEMA + "@public create window W#keepall as Trade")
    texts = (
        "create window X#keepall#uni(v) as Trade", "on Trade as t merge W as w when matched and w.v then delete",
    )
    for text in texts:
        with pytest.raises(EplUnsupportedError, match="not supported"):
            runtime.deploy(text)


def test_explain_names_the_window() -> None:
    runtime = Runtime(start_time=0)
    statement = list(runtime.deploy(SCHEMA + "create window W#keepall as Trade; select * from W(v > 1)"))[-1]
    text = statement.explain()
    assert "named window: W where v > 1" in text
    assert "partitioning: any (each row is independent)" in text


ON = SCHEMA + """@public create schema Raise(id string, plus int); @public create schema Ask(least int);
@public create window W#keepall as Trade;
insert into W select * from Trade;
on Drop as d delete from W where W.v > d.v;
on Raise as r update W set v = v + r.plus where W.id = r.id;
@name('asked') on Ask select id, v from W where v >= least;
@name('deltas') select irstream id, v from W;
@name('sum') select sum(v) as s from W;
"""
STEPS = st.one_of(
    st.tuples(st.just("Trade"), st.sampled_from("abc"), st.integers(0, 5)), st.tuples(st.just("Drop"), st.just(""), st.integers(0, 8)),
    st.tuples(st.just("Raise"), st.sampled_from("abc"), st.integers(1, 3)), st.tuples(st.just("Ask"), st.just(""), st.integers(0, 6)))


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, max_size=25), st.integers(0, 25))
def test_on_statements_do_what_a_list_does(steps: list[tuple[str, str, int]], cut: int) -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(ON)
    calls = _listen(runtime, ("asked", "deltas"))
    rows: list[tuple[str, int]] = []
    seen: list[tuple[str, int]] = []
    for place, (kind, key, number) in enumerate(steps):
        if place == cut:
            runtime = Runtime.restore(runtime.snapshot())
            calls = _listen(runtime, ("asked", "deltas"))
        calls.clear()
        values = {"Trade": {"id": key, "v": number}, "Drop": {"v": number}, "Raise": {"id": key, "plus": number}, "Ask": {"least": number}}
        runtime.send(kind, values[kind])
        if kind == "Trade":
            rows.append((key, number))
        elif kind == "Drop":
            rows = [row for row in rows if row[1] <= number]
        elif kind == "Raise":
            rows = [row for row in rows if row[0] != key] + [(i, v + number) for i, v in rows if i == key]
        for name, new, old in calls:
            if name == "asked":
                assert sorted((row["id"], row["v"]) for row in new) == sorted(row for row in rows if row[1] >= number)
            else:
                for row in old:
                    seen.remove((row["id"], row["v"]))
                seen += [(row["id"], row["v"]) for row in new]
        statements = {s.name: s for d in runtime.deployments.values() for s in d}
        assert [(row["id"], row["v"]) for row in statements["deltas"].rows()] == rows
        assert sorted(seen) == sorted(rows)
        assert [row["s"] for row in statements["sum"].rows()] == [sum(v for _, v in rows) if rows else None]


@pytest.mark.parametrize("action", [
    "on Ask delete from W where risky(v) > 0", "on Ask update W set v = cast(risky(v), int)",
    "on Ask select and delete risky(v) as r from W",
    "on Ask merge W when matched and risky(v) > 0 then delete", "on Ask merge W when matched then update set v = cast(risky(v), int)",
    "on Ask merge W as w when matched then insert into Out select risky(v) as r then insert select 'z' as id, 1 as v then delete"])
def test_an_action_that_raises_changes_nothing(action: str) -> None:
    errors: list[str] = []
    runtime = Runtime(start_time=0, on_error=lambda error, statement, event: errors.append(statement))
    runtime.register_function("risky", _risky)
    runtime.deploy(SCHEMA + f"""create schema Ask(least int); @name('w') create window W#keepall as Trade;
        insert into W select * from Trade; @name('action') {action}; @name('deltas') select irstream id, v from W;
        @name('sum') select sum(v) as s from W; @name('keyed') on Ask select W.id as i from W where v = least""")
    for number, v in enumerate((1, 0, 2)):
        _send(runtime, number, v)
    calls = _listen(runtime, ("deltas", "keyed"))
    runtime.send("Ask", {"least": 2})
    statements = {s.name: s for d in runtime.deployments.values() for s in d}
    assert errors == ["action"]
    assert calls == [("keyed", [{"i": "o2"}], [])]
    assert [row["v"] for row in statements["w"].rows()] == [1, 0, 2]
    assert statements["sum"].rows()[0]["s"] == 3


def test_steps_of_one_event_take_time_in_proportion() -> None:
    """An event that changes a window in many steps: copied at each, the rows took minutes."""
    taken: list[Any] = []

    class Stream:
        name, order, store = "s", (0, 1, 0), None

        def take(self, new: Any, old: Any) -> bool:
            taken.append((new, old))
            return False

    consumer: Any = Stream()
    queue: deque[Any] = deque()
    deltas = StoreDeltas(queue, lambda *_: None, RoutedEvents(100))
    rows: list[Any] = list(range(60_000))
    with calls(most=20 * len(rows)):
        for row in rows:
            deltas.add([consumer], (row,), (-row,))
        deltas.deliver()
    assert taken == [(tuple(rows), tuple(-row for row in rows))] and len(queue) == 1
