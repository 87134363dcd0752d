"""Runtime.cause: the row or timer behind each call of a listener, and the number of the call."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from runtime import EplRuntimeError, Runtime
from runtime.event_loop.cause import Cause

MODULE = """
create schema A(k string, v int, ts long);
create schema B(k string, v int, ts long);
insert into C select k as k, v as v from A;
insert into C select k as k, v as v from B;
@name('each') select k as k from C;
@name('batched') select k as k from C#time_batch(10);
"""


def table(*rows: tuple[str, int, int]) -> pa.Table:
    return pa.table({"k": [r[0] for r in rows], "v": pa.array([r[1] for r in rows], pa.int32()), "ts": [r[2] for r in rows]})


def heard(runtime: Runtime, module: str = MODULE, names: tuple[str, ...] = ("each", "batched")) -> list[tuple[str, list[str], Cause]]:
    """Deploys; gives the list of (statement, keys of the new rows, cause), a listener call each."""
    calls: list[tuple[str, list[str], Cause]] = []
    deployment = runtime.deploy(module)
    for name in names:
        deployment[name].add_listener(lambda new, old, s, r: calls.append((s.name, [row["k"] for row in new], r.cause)))
    return calls


def test_rows_and_timers_of_a_batch() -> None:
    with Runtime() as runtime:
        calls = heard(runtime)
        runtime.send_batch("A", table(("a", 1, 0), ("b", 2, 3), ("c", 3, 12_000), ("d", 4, 25_000)), time="ts")
        assert calls == [
            ("each", ["a"], Cause(1, 0, 0, "A", 0)),
            ("each", ["b"], Cause(2, 3, 1, "A", 1)),
            ("batched", ["a", "b"], Cause(3, 10_000, None)),
            ("each", ["c"], Cause(4, 12_000, 2, "A", 2)),
            ("batched", ["c"], Cause(5, 20_000, None)),
            ("each", ["d"], Cause(6, 25_000, 3, "A", 3)),
        ]
        assert [cause.is_timer for _, _, cause in calls] == [False, False, True, False, True, False]


def test_rows_are_those_of_the_tables_that_were_given() -> None:
    with Runtime() as runtime:
        calls = heard(runtime, names=("each",))
        runtime.send_batch({"A": table(("a", 1, 5), ("b", 2, 1)), "B": table(("c", 3, 3), ("d", 4, 2))}, time="ts")
        assert [(keys, c.place, c.event_type, c.row) for _, keys, c in calls] == [
            (["b"], 0, "A", 1),
            (["d"], 1, "B", 1),
            (["c"], 2, "B", 0),
            (["a"], 3, "A", 0),
        ]


def test_outside_of_a_batch() -> None:
    with Runtime() as runtime:
        calls = heard(runtime)
        runtime.send_batch("A", table(("a", 1, 0), ("b", 2, 0)))
        runtime.send("A", {"k": "c", "v": 1, "ts": 0})
        runtime.advance_time(10_000)
        runtime.send("A", {"k": "d", "v": 1, "ts": 0})
        assert [(c.place, c.event_type, c.row) for _, _, c in calls[2:]] == [(0, None, None), (None, None, None), (0, None, None)]
        assert [c.call for _, _, c in calls] == [1, 2, 3, 4, 5]


def test_what_a_listener_does_has_the_cause_of_its_call() -> None:
    with Runtime() as runtime:
        more = "@name('first') select k as k from A(v = 1); @name('late') select k as k from B;"
        calls = heard(runtime, MODULE + more, ("late", "batched"))

        def go_on(new: Any, old: Any, statement: Any, inner: Runtime) -> None:
            inner.send("B", {"k": "sent", "v": 0, "ts": 0})
            inner.send_batch("B", table(("x", 0, 0), ("y", 0, 0)))
            inner.advance_time(10_000)

        runtime.statement("first").add_listener(go_on)
        runtime.send_batch("A", table(("a", 0, 0), ("b", 1, 0), ("c", 0, 0)))
        assert {(c.place, c.event_type, c.row) for _, _, c in calls} == {(1, "A", 1)}
        assert [name for name, _, _ in calls] == ["late", "late", "late", "batched"]


def test_each_part_of_a_grouped_delivery_has_its_number() -> None:
    module = "create schema A(k string, v int, ts long); @name('g') select k as k from A#time_batch(10) for grouped_delivery(k)"
    with Runtime() as runtime:
        calls = heard(runtime, module, ("g",))
        runtime.send_batch("A", table(("a", 0, 0), ("b", 0, 0), ("a", 0, 0)))
        runtime.advance_time(10_000)
        assert [(keys, c.call) for _, keys, c in calls] == [(["a", "a"], 1), (["b"], 2)]


def test_an_error_handler_knows_the_row() -> None:
    places: list[int | None] = []
    runtime = Runtime(on_error=lambda error, statement, event: places.append(runtime.cause.place))
    with runtime:
        runtime.register_function("fail", _fail)
        runtime.deploy("create schema A(k string, v int, ts long); @name('s') select fail(v) as k from A")
        runtime.statement("s").add_listener(lambda *_: None)
        runtime.send_batch("A", table(("a", 0, 0), ("b", 1, 0), ("c", 2, 0)))
    assert places == [1]


def test_a_batch_that_breaks_off_leaves_no_cause_behind() -> None:
    with Runtime() as runtime:
        runtime.deploy(MODULE)
        with pytest.raises(EplRuntimeError):
            runtime.send_batch("A", table(("a", 0, 0), ("b", 0, 10**9)), time="ts", max_stops=0)
        assert (runtime.cause.place, runtime.cause.event_type) == (0, None)


def _fail(value: int) -> str:
    if value == 1:
        raise ValueError("one")
    return str(value)
