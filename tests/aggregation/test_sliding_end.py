"""The end of a multiset, in turn or out of turn, is that of a sorted list."""
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from epl.zeros import sort_value
from runtime.aggregation.sliding_end import SlidingEnd

VALUES = st.one_of(st.integers(-4, 4).map(float), st.sampled_from([-0.0, 0.5, float("inf")]))
OUT_OF_TURN = st.sampled_from([0, 0, 0, 0, 3, 99])
"""Mostly the oldest leaves; 99: a value that is not there."""


@given(st.lists(st.one_of(VALUES.map(sort_value), OUT_OF_TURN.map(lambda place: (place,)))), st.booleans())
def test_as_a_sorted_list(steps: list[object], largest: bool) -> None:
    made, there = SlidingEnd(largest), list[object]()
    for step in steps:
        if not isinstance(step, tuple):
            made.add(step)
            there.append(step)
        elif step[0] == 99:
            made.remove(77.0)
        elif step[0] < len(there):
            made.remove(there.pop(step[0]))
        expected = sorted(there)
        assert [repr(v) for v in made] == [repr(v) for v in expected] and len(made) == len(expected)
        assert repr(made.end()) == repr((expected[-1] if largest else expected[0]) if expected else None)


@given(st.lists(VALUES.map(sort_value), min_size=1), st.booleans())
def test_restored_and_emptied_it_goes_on_in_turn(values: list[object], largest: bool) -> None:
    made = SlidingEnd(largest)
    made.put(values)
    assert not made.ends and sorted(map(repr, made)) == sorted(map(repr, values))
    for value in values:
        made.remove(value)
    made.add(1.0)
    assert made.end() == 1.0 == made.ends[0] and len(made) == 1
    made.clear()
    assert made.end() is None and not len(made)
