"""SortedBag against a sorted list."""
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.aggregation import sorted_bag
from runtime.aggregation.sorted_bag import SortedBag


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=200))
def test_equals_a_sorted_list(steps: list[tuple[bool, int]]) -> None:
    before, sorted_bag.LOAD = sorted_bag.LOAD, 4
    try:
        bag, plain = SortedBag(), []
        for add, value in steps:
            if add:
                bag.add(value)
                plain.append(value)
            else:
                assert bag.remove(value) == (value in plain)
                if value in plain:
                    plain.remove(value)
            plain.sort()
            assert list(bag) == plain and len(bag) == len(plain)
            assert list(bag.from_value(value)) == [v for v in plain if v >= value]
            assert list(bag.below(value)) == [v for v in reversed(plain) if v < value]
            assert [bag.at(i) for i in range(len(plain))] == plain
            if plain:
                assert (bag.first(), bag.last()) == (plain[0], plain[-1])
        assert list(SortedBag(plain)) == plain
    finally:
        sorted_bag.LOAD = before


@given(st.lists(st.integers(-3, 12)), st.none() | st.integers(-4, 13), st.none() | st.integers(-4, 13), st.booleans(), st.booleans())
def test_between(values: list[int], low: int | None, high: int | None, include_low: bool, include_high: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runtime.aggregation.sorted_bag.LOAD", 3)
        bag = SortedBag()
        for value in values:
            bag.add(value)
        above = [v for v in sorted(values) if low is None or v > low or (include_low and v == low)]
        within = [v for v in above if high is None or v < high or (include_high and v == high)]
        assert list(bag.between(low, high, include_low=include_low, include_high=include_high)) == within
