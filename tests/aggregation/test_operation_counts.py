"""What an event costs does not grow with the window: counted in bytecode instructions, comparisons and values moved, not in time."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any

import pytest

from epl.value_types import DOUBLE
from runtime.aggregation.criteria import Ranked, SmallestOrLargest, key_maker
from runtime.aggregation.extremes import SlidingExtreme
from runtime.aggregation.linear import FirstOrLast, KeptEvents
from runtime.aggregation.navigation import SortedList
from runtime.aggregation.numeric import Median
from runtime.aggregation.sorted_bag import LOAD, SortedBag
from windows.event import Event

SIZES = (100, 10_000, 1_000_000)
EVENTS = 300


class Row(Event):
    """Stands for an event."""

    __slots__ = ("x",)

    def __init__(self, x: float) -> None:
        self.x = x


def instructions(work: Callable[[], None]) -> int:
    """How many bytecode instructions ``work`` takes."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def value_of(row: Row) -> float:
    return row.x


def event_of(row: Row) -> Row:
    return row


def ranked() -> Ranked:
    return Ranked(event_of, lambda row: (row.x,), key_maker([DOUBLE], [False]))  # type: ignore[arg-type, return-value]


def extreme(largest: bool, rows: list[Row]) -> tuple[Any, Callable[[], Any]]:
    made = SlidingExtreme(value_of, largest)
    made.restore([[row.x for row in rows], 0])
    return made, made.value


def median(rows: list[Row]) -> tuple[Any, Callable[[], Any]]:
    made = Median(value_of)
    made.restore([row.x for row in rows])
    return made, made.value


def by_criteria(read: Callable[[Ranked], Callable[[], Any]], rows: list[Row]) -> tuple[Any, Callable[[], Any]]:
    made = ranked()
    made.restore([[row, [row.x], 1] for row in rows])
    return made, read(made)


def linear(newest: bool, rows: list[Row]) -> tuple[Any, Callable[[], Any]]:
    made = KeptEvents(event_of)  # type: ignore[arg-type]
    made.restore([[row, 1] for row in rows])
    return made, FirstOrLast(made, None, None, newest).value


MAKERS: dict[str, Callable[[list[Row]], tuple[Any, Callable[[], Any]]]] = {
    "min": lambda rows: extreme(False, rows),
    "median": median,
    "maxby": lambda rows: by_criteria(lambda kept: SmallestOrLargest(kept, True).value, rows),
    "sorted": lambda rows: by_criteria(lambda kept: lambda: SortedList(kept).floor_event(0.5), rows),
    "first": lambda rows: linear(False, rows),
    "last": lambda rows: linear(True, rows),
}


@cache
def rows_of(size: int) -> list[Row]:
    draw = random.Random(size)
    return [Row(draw.random()) for _ in range(size + EVENTS)]


def cost(name: str, size: int) -> float:
    """Instructions an event of a sliding window of ``size`` rows: one row comes, the oldest leaves, the value is read."""
    rows = rows_of(size)
    accumulator, read = MAKERS[name](rows[:size])

    def slide() -> None:
        for number in range(EVENTS):
            accumulator.enter(rows[size + number])
            accumulator.leave(rows[number])
            read()

    slide_count = instructions(slide)
    return slide_count / EVENTS


@pytest.mark.parametrize("name", MAKERS)
def test_an_event_costs_at_most_log_n(name: str) -> None:
    small, medium, large = (cost(name, size) for size in SIZES)
    assert large <= 2_000
    assert medium <= small * math.log(SIZES[1]) / math.log(SIZES[0]) * 1.6 + 50, (small, medium, large)
    assert large <= small * math.log(SIZES[2]) / math.log(SIZES[0]) * 1.6 + 50, (small, medium, large)
    if name in ("first", "last"):
        assert large <= small * 1.1


class Compared(float):
    """Counts how often it is compared."""

    count = 0

    def __lt__(self, other: float) -> bool:
        Compared.count += 1
        return float.__lt__(self, other)


@pytest.mark.parametrize("size", SIZES)
def test_a_bag_compares_log_n_times_and_moves_one_block(size: int) -> None:
    draw = random.Random(size)
    values = [draw.random() for _ in range(size + EVENTS)]
    bag = SortedBag(values)
    bag.at(size // 2)
    Compared.count = 0
    for number in range(EVENTS):
        bag.add(Compared(draw.random()))
        assert bag.remove(Compared(values[number]))
    assert Compared.count <= 2 * EVENTS * 2 * (math.log2(size) + 3)
    assert max(map(len, bag.blocks)) <= 2 * LOAD
    assert len(bag.blocks) <= 1 + 2 * size / (LOAD // 2)
    assert list(bag)[size // 2] == bag.at(size // 2)
