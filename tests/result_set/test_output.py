"""Output rate limiting: recorded sequences of every selector and shape, and restarts that change nothing."""
from __future__ import annotations

from typing import Any

import pytest

from epl.errors import EplUnsupportedError, EplValidationError
from runtime import Runtime
from runtime.result_set.output_rate.first_of_groups import VariableTimePoll

SCHEMA = "@public @buseventtype create schema T(k string, v int); @name('s0') "
EVENTS = [("A", 1), ("B", 2), ("A", 3), ("C", 4), ("A", 5), ("B", 6)]

Calls = list[tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]]


def calls_of(select: str, *, restart: bool = False, times: tuple[int, ...] = ()) -> Calls:
    """The listener calls for EVENTS (one every 100 ms from 100 on), then for the times; with a restart between any two steps."""
    found: Calls = []

    def listener(new: Any, old: Any, *_: Any) -> None:
        found.append(([tuple(row.values()) for row in new], [tuple(row.values()) for row in old]))

    runtime = Runtime()
    runtime.deploy(SCHEMA + select, listeners={"s0": listener})
    steps: list[Any] = [(100 * (n + 1), e) for n, e in enumerate(EVENTS)] + [(time, None) for time in times]
    for time, event in steps:
        if restart:
            blob = runtime.snapshot()
            runtime = Runtime.restore(blob)
            runtime.statement("s0").add_listener(listener)
        runtime.advance_time(time)
        if event is not None:
            runtime.send("T", {"k": event[0], "v": event[1]})
    return found


RECORDED: dict[str, Calls] = {
    "irstream k, v from T#length(3) output every 3 events": [
        ([("A", 1), ("B", 2), ("A", 3)], []), ([("C", 4), ("A", 5), ("B", 6)], [("A", 1), ("B", 2), ("A", 3)])],
    "irstream k, v from T#length(3) output last every 3 events": [([("A", 3)], []), ([("B", 6)], [("A", 3)])],
    "irstream k, v from T#length(3) output first every 3 events": [([("A", 1)], []), ([("C", 4)], [("A", 1)])],
    "irstream k, v from T#length(3) output snapshot every 3 events": [
        ([("A", 1), ("B", 2), ("A", 3)], []), ([("C", 4), ("A", 5), ("B", 6)], [])],
    "irstream count(*), sum(v) from T#length(3) output every 3 events": [
        ([(1, 1), (2, 3), (3, 6)], [(0, None), (1, 1), (2, 3)]), ([(3, 9), (3, 12), (3, 15)], [(3, 6), (3, 9), (3, 12)])],
    "irstream count(*), sum(v) from T#length(3) output last every 3 events": [([(3, 6)], [(0, None)]), ([(3, 15)], [(3, 6)])],
    "irstream count(*), sum(v) from T#length(3) output first every 3 events": [([(1, 1)], [(0, None)]), ([(3, 9)], [(3, 6)])],
    "irstream k, sum(v) from T#length(3) output last every 3 events": [([("A", 6)], []), ([("B", 15)], [("A", 15)])],
    "irstream k, sum(v) from T#length(3) group by k output every 3 events": [
        ([("A", 1), ("B", 2), ("A", 4)], [("A", None), ("B", None), ("A", 1)]),
        (
            [("A", 3), ("C", 4), ("A", 8), ("B", None), ("A", 5), ("B", 6)],
            [("A", 4), ("C", None), ("A", 3), ("B", 2), ("A", 8), ("B", None)]
        )],
    "irstream k, sum(v) from T#length(3) group by k output all every 3 events": [
        ([("A", 4), ("B", 2)], [("A", None), ("B", None)]), ([("A", 5), ("B", 6), ("C", 4)], [("A", 4), ("B", 2), ("C", None)])],
    "irstream k, sum(v) from T#length(3) group by k output last every 3 events": [
        ([("A", 4), ("B", 2)], [("A", None), ("B", None)]), ([("C", 4), ("A", 5), ("B", 6)], [("C", None), ("A", 4), ("B", 2)])],
    "irstream k, sum(v) from T#length(3) group by k output first every 3 events": [
        ([("A", 1)], [("A", None)]), ([("B", 2)], [("B", None)]), ([("C", 4)], [("C", None)])],
    "irstream k, v, sum(v) from T#length(3) group by k output all every 3 events": [
        ([("A", 1, 1), ("B", 2, 2), ("A", 3, 4)], []),
        ([("C", 4, 4), ("A", 3, 3), ("A", 5, 8), ("B", 2, None), ("B", 6, 6), ("A", 5, 5)], [("A", 1, 3), ("B", 2, None), ("A", 3, 5)])],
    "irstream k, v, sum(v) from T#length(3) group by k output last every 3 events": [
        ([("A", 3, 4), ("B", 2, 2)], []), ([("C", 4, 4), ("A", 5, 8), ("B", 6, 6)], [("A", 3, 5), ("B", 2, None)])],
    "k, v from T#length(3) output after 2 events every 3 events": [([("A", 3), ("C", 4), ("A", 5)], [])],
    "k, sum(v) from T group by k output snapshot every 3 events": [([("A", 4), ("B", 2)], []), ([("A", 9), ("B", 8), ("C", 4)], [])],
}


@pytest.mark.parametrize("select", RECORDED)
def test_recorded(select: str) -> None:
    assert calls_of(f"select {select}") == RECORDED[select]


@pytest.mark.parametrize("select", RECORDED)
def test_a_restart_changes_nothing(select: str) -> None:
    assert calls_of(f"select {select}", restart=True) == RECORDED[select]


@pytest.mark.parametrize("restart", [False, True])
def test_time_counts_from_the_first_event(restart: bool) -> None:
    got = calls_of("select count(*) from T output last every 1 second", restart=restart, times=(1099, 1100, 2000, 4200))
    assert got == [([(6,)], []), ([(6,)], [])]


def test_time_without_rows_calls_all_the_same() -> None:
    got = calls_of("select k from T output every 1 second", times=(1100, 2100))
    assert got == [([(k,) for k, _ in EVENTS], []), ([], [])]


@pytest.mark.parametrize("clause, calls", [("when terminated", 0), ("every 1 second and when terminated", 1)])
def test_without_a_context_the_end_never_comes(clause: str, calls: int) -> None:
    assert len(calls_of(f"select k from T output {clause}", times=(1100,))) == calls


def test_an_unknown_variable_is_refused() -> None:
    with pytest.raises(EplValidationError, match="Variable named 'n' has not been declared"):
        Runtime().deploy(SCHEMA + "select k from T output every n events")


@pytest.mark.parametrize(("period", "end", "next_due"), [
    ("1 msec", 10**15, 10**15 + 1), ("7 seconds", 10**15, 10**15 + 7000 - (10**15 - 5) % 7000), ("2 months", 10**12, None),
])
def test_a_jump_over_many_periods_runs_the_timer_once(period: str, end: int, next_due: int | None) -> None:
    heard: list[int] = []
    with Runtime(tier="row") as runtime:
        runtime.deploy(f"@public @buseventtype create schema T(v int); @name('s') select v from T output every {period}")
        runtime.statement("s").add_listener(lambda new, old, s, r: heard.append(r.now))
        runtime.advance_time(5)
        runtime.send("T", {"v": 1})
        runtime.advance_time(end)
        assert heard == [end]
        if next_due is not None:
            runtime.send("T", {"v": 2})
            runtime.advance_time(next_due - 1)
            assert heard == [end]
            runtime.advance_time(next_due)
            assert heard == [end, next_due]


ORDERS = ["n", "n desc, k", "coalesce(n, 5)", "n + sum(v)", "k || 'x'", "o", "prior(1, n)", "case when n is null then 1 else 2 end"]


@pytest.mark.parametrize("tier", ["row", "auto"])
@pytest.mark.parametrize("output", ["", "first ", "last ", "all ", "snapshot "])
@pytest.mark.parametrize("order", ORDERS)
def test_rows_that_stem_from_no_event_are_ordered_as_if_its_properties_were_null(order: str, output: str, tier: Any) -> None:
    """Nothing then distinguishes the rows: they stay in order."""
    found: list[tuple[Calls, list[Any]]] = []
    for clause in ("", f" order by {order}"):
        calls: Calls = []
        errors: list[Exception] = []
        runtime = Runtime(tier=tier, on_error=lambda error, *_, errors=errors: errors.append(error))  # type: ignore[misc]
        select = f"irstream sum(v) as s, count(*) as c from U#length(2) output {output}every 3 events{clause}"
        deployment = runtime.deploy(f"create schema U(k string, v int, n int, o Object); @name('s0') select {select}")
        deployment["s0"].add_listener(
            lambda new, old, *_, calls=calls: calls.append(([tuple(r.values()) for r in new], [tuple(r.values()) for r in old]))
        )
        for v in (5, 1, 4, 2, 3, 9):  # after an output: until the next one, an order by withholds what has come from the iterator
            runtime.send("U", {"k": "k", "v": v, "n": -v, "o": v})
        assert not errors
        found.append((calls, [dict(row) for row in runtime.statement("s0")]))
    assert found[0] == found[1]
    assert found[0][0]


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize("window", ["", "#length(2)", "#time(1 sec)", "#length_batch(2)"])
@pytest.mark.parametrize("output", ["", " output every 2 events", " output last every 2 events", " output all every 3 events"])
@pytest.mark.parametrize("own", ["sum(v, group_by: k)", "count(*, group_by: ())", "max(v, group_by: g)"])
def test_an_aggregation_with_groups_of_its_own_is_the_same_alone(own: str, output: str, window: str, tier: Any) -> None:
    found = []
    for others in ("", ", count(*)"):
        rows: list[Any] = []
        runtime = Runtime(tier=tier)
        select = f"select irstream k, g, {own} as own{others} from U{window} group by k, g"
        text = f"create schema U(k string, g int, v int); @name('s0') {select}"
        try:
            runtime.deploy(text + output)
        except EplUnsupportedError:
            assert tier == "batch"
            return
        runtime.statement("s0").add_listener(
            lambda new, old, *_, rows=rows: rows.append([[(r["k"], r["g"], r["own"]) for r in side] for side in (new, old)])
        )
        for n, (k, g) in enumerate([("a", 0), ("a", 1), ("b", 0), ("a", 0), ("b", 1), ("a", 1), ("a", 0)]):
            runtime.advance_time(300 * n)
            runtime.send("U", {"k": k, "g": g, "v": n + 1})
        found.append((rows, [(r["k"], r["g"], r["own"]) for r in runtime.statement("s0")]))
    assert found[0] == found[1]
    assert any(row[2] for call in found[0][0] for side in call for row in side)


def test_a_group_of_output_first_that_was_stored_with_a_due_time_waits_for_it() -> None:
    now = [1500]
    poll = VariableTimePoll(lambda: now[0], lambda start: start + 1000)
    poll.restore(2000)
    assert poll.state() == 2000
    assert not poll.is_met(1, 0)
    now[0] = 2000
    assert poll.is_met(1, 0)
    assert poll.state() == [2000]
    now[0] = 2999
    again = VariableTimePoll(lambda: now[0], lambda start: start + 1000)
    again.restore(poll.state())
    assert not again.is_met(1, 0)
