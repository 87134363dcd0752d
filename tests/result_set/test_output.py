"""Output rate limiting: recorded sequences of every selector and shape, and restarts that change nothing."""
from __future__ import annotations

from typing import Any

import pytest

from epl.errors import EplUnsupportedError, EplValidationError
from runtime import Runtime

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


@pytest.mark.parametrize("clause", ["when terminated", "every 1 second and when terminated"])
def test_what_is_not_there_yet_is_refused(clause: str) -> None:
    with pytest.raises(EplUnsupportedError):
        Runtime().deploy(SCHEMA + f"select k from T output {clause}")


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
