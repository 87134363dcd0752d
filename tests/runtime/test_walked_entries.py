"""The order of filters that an index walks through, beside sorting them once."""
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from epl.java_hash import double_hash, in_hash_order
from runtime.event_loop.walked_entries import HashedEntries, WalkedEntries

VALUES = st.none() | st.integers(0, 60).map(float) | st.just(float("nan"))
STEPS = st.lists(st.tuples(VALUES, st.integers(0, 3)), max_size=120)


@given(STEPS)
def test_entries_are_walked_by_ascending_values_and_null_comes_last(steps: list[tuple[float | None, int]]) -> None:
    entries, kept = WalkedEntries(), []
    for number, (value, leaves) in enumerate(steps):
        entries.enter(value, number)
        kept.append((value, number))
        if not leaves:
            entries.leave(*kept.pop(number % len(kept)))
    expected = sorted(kept, key=lambda entry: (2, 0) if entry[0] is None else (1, 0) if entry[0] != entry[0] else (0, entry[0]))
    assert list(entries.find(None) or ()) == [number for _, number in expected]
    assert bool(entries) == bool(kept)


@given(STEPS)
def test_entries_are_walked_as_a_hash_map_iterates_their_values(steps: list[tuple[float | None, int]]) -> None:
    entries, most = HashedEntries(double_hash), 0
    by_value: dict[float | None, list[int]] = {}
    kept: list[tuple[float | None, int]] = []
    for number, (value, leaves) in enumerate(steps):
        value = 0.0 if value != value else value
        entries.enter(value, number)
        by_value.setdefault(value, []).append(number)
        kept.append((value, number))
        most = max(most, len(by_value))
        if not leaves:
            value, gone = kept.pop(number % len(kept))
            entries.leave(value, gone)
            by_value[value].remove(gone)
            if not by_value[value]:
                del by_value[value]
            most = most if by_value else 0
    values = list(by_value)
    order = in_hash_order([0 if value is None else double_hash(value) for value in values], most)
    assert list(entries.find(None) or ()) == [number for at in order for number in by_value[values[at]]]
