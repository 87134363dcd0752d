"""The order of statements that get an event after others: what is remembered of it is what would be found without it."""

from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from runtime.event_loop.filter_index import TypeIndex
from runtime.event_loop.handle_order import HandleOrder


@attrs.frozen
class Receiver:
    order: tuple[int, int, int, int]


STATEMENTS = st.integers(1, 40)
EVENTS = st.lists(st.lists(st.tuples(st.integers(0, 1), STATEMENTS), min_size=2, max_size=20, unique_by=lambda each: each[1]), max_size=12)


@given(EVENTS, st.lists(STATEMENTS, max_size=12))
def test_what_is_remembered_is_what_would_be_found(events: list[list[tuple[int, int]]], begun: list[int]) -> None:
    """Statements begin to follow between events, and the most handles at once grow with them."""
    remembering = HandleOrder((), prioritized=False)
    for place, event in enumerate(events):
        if place < len(begun):
            remembering.follow(begun[place])
        matched = sorted((Receiver((rank, 0, statement, 0)) for rank, statement in event), key=lambda each: each.order)
        fresh = HandleOrder((), prioritized=False)
        fresh.followers, fresh.of_events = set(remembering.followers), remembering.of_events
        expected = fresh.receivers(matched)
        assert [remembering.receivers(matched) for _ in range(2)] == [expected, expected]
        assert remembering.of_events == fresh.of_events
        assert sorted(expected, key=lambda each: each.order) == matched


def test_where_execution_is_prioritized_receivers_stay_in_their_places() -> None:
    order = HandleOrder((), prioritized=True)
    order.follow(1)
    order.follow(2)
    matched = [Receiver((1, 0, 1, 0)), Receiver((1, 0, 2, 0))]
    assert order.receivers(matched) == matched
    assert HandleOrder((), prioritized=False).receivers(matched) == matched  # nobody follows


def test_a_filter_that_comes_again_changes_no_generated_code() -> None:
    index = TypeIndex()
    assert [index.note_late((1, 0, 7, 0)) for _ in range(3)] == [True, False, False]
    assert not index.note_late((0, 0, 8, 0))  # it comes in its place
    assert index.late == {7}
