"""Windows against a slow reference that recomputes the contents from the full history, with random times, jumps, deletions and restarts."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.windows.harness import ManualClock, Statement, make_event, make_type
from windows.event import Event
from windows.paging import plain

TYPE = make_type()


@attrs.frozen
class Arrival:
    """An event with the time it came at."""

    event: Event
    at: int


History = list[Arrival]


def last(history: History, now: int) -> list[Event]:
    return [a.event for a in history[-3:]]


def recent(history: History, now: int) -> list[Event]:
    return [a.event for a in history if a.at > now - 2000]


def by_key(history: History, now: int) -> list[Event]:
    return list({a.event.get("k"): a.event for a in history}.values())


def first_by_key(history: History, now: int) -> list[Event]:
    return list({a.event.get("k"): a.event for a in reversed(history)}.values())


def everything(history: History, now: int) -> list[Event]:
    return [a.event for a in history]


def last_of_each_group(history: History, now: int) -> list[Event]:
    groups: dict[Any, list[Event]] = {}
    for arrival in history:
        groups.setdefault(arrival.event.get("k"), []).append(arrival.event)
    return [e for events in groups.values() for e in events[-2:]]


REFERENCES: dict[str, Callable[[History, int], list[Event]]] = {
    "length(3)": last, "time(2)": recent, "unique(k)": by_key, "firstunique(k)": first_by_key, "keepall": everything,
    "groupwin(k)#length(2)": last_of_each_group, "groupwin(k)#time(2)": recent, "expr(current_count<=3)": last,
    "expr(newest_timestamp-oldest_timestamp<1000000)": everything,
}

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("event"), st.sampled_from("abc"), st.integers(0, 3)),
        st.tuples(st.just("time"), st.sampled_from([0, 1, 500, 999, 1000, 2000, 5000]), st.booleans()),
        st.tuples(st.just("restart"), st.none(), st.none()),
    ),
    max_size=40,
)


@pytest.mark.parametrize("window", REFERENCES)
@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_contents_and_deltas_follow_from_the_history(window: str, steps: list[tuple[Any, ...]]) -> None:
    """The contents are the reference's, and the deltas emitted so far add up to them."""
    clock = ManualClock()
    statement = Statement(window, clock, TYPE)
    history: History = []
    held: set[Event] = set()
    for kind, first, second in steps:
        if kind == "event":
            event = make_event(TYPE, id=str(len(history)), k=first, v=second)
            history.append(Arrival(event, clock.now))
            statement.view.update((event,), ())
        elif kind == "time":
            (clock.span if second else clock.jump)(clock.now + first)
        else:
            kept = plain(statement.view.state())
            statement.view.close()
            statement = Statement(window, clock, TYPE)
            statement.view.restore(kept)
        for new, old in statement.take():
            held.update(new)
            held.difference_update(old)
        wanted = REFERENCES[window](history, clock.now)
        assert set(statement.view) == set(wanted) == held
        assert len(list(statement.view)) == len(wanted)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, size=st.integers(1, 4), descending=st.booleans())
def test_sort_keeps_the_first_by_order(steps: list[tuple[Any, ...]], size: int, descending: bool) -> None:
    """Of equal keys the newest stands first and the oldest leaves first."""
    statement = Statement(f"sort({size},v{' desc' if descending else ''})", ManualClock(), TYPE)
    history: list[Event] = []
    for kind, first, second in steps:
        if kind != "event":
            continue
        event = make_event(TYPE, id=str(len(history)), k=first, v=second)
        history.append(event)
        statement.view.update((event,), ())
        newest_first = history[::-1]
        order = sorted(newest_first, key=lambda e: e.get("v") * (-1 if descending else 1))
        assert list(statement.view) == order[:size]


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, size=st.integers(1, 4))
def test_batches_cut_the_history(steps: list[tuple[Any, ...]], size: int) -> None:
    """length_batch: what was released is the history cut in pieces of one size, and each piece leaves with the next."""
    statement = Statement(f"length_batch({size})", ManualClock(), TYPE)
    history: list[Event] = []
    for kind, first, second in steps:
        if kind == "event":
            history.append(make_event(TYPE, id=str(len(history)), k=first, v=second))
            statement.view.update(history[-1:], ())
            whole = len(history) // size
            pieces = [history[i * size : (i + 1) * size] for i in range(whole)]
            deltas = statement.take()
            assert deltas == ([(pieces[-1], pieces[-2] if whole > 1 else [])] if len(history) % size == 0 else [])
            assert list(statement.view) == history[whole * size :]


def test_removed_events_make_room_and_leave_once() -> None:
    """A parent's removals reach the window and its child by identity, and a window of one old event does not fill with removed ones."""
    statement = Statement("keepall", ManualClock(), TYPE)
    oldest = make_event(TYPE, id="oldest")
    statement.view.update((oldest,), ())
    for number in range(200):
        event = make_event(TYPE, id=str(number))
        statement.view.update((event,), ())
        statement.view.update((), (event,))
        statement.view.update((), (event,))
    assert list(statement.view) == [oldest]
    assert sum(len(old) for _, old in statement.take()) == 200
    assert len(statement.view.entries) < 100  # type: ignore[attr-defined]
