"""Runs in a heap come in the order of their first rows; among equal ones the heap decides, as in Flink."""

from __future__ import annotations

import random

import attrs
import pytest

from runtime.dialects.run_queue import RunQueue


@attrs.frozen
class Begun:
    start: int
    name: str = ""


def queue(*starts: int) -> RunQueue[Begun]:
    return RunQueue(Begun(start, chr(97 + place)) for place, start in enumerate(starts))


def names(runs: object) -> str:
    return "".join(run.name for run in runs)  # type: ignore[attr-defined]


def is_heap(runs: RunQueue[Begun]) -> bool:
    return all(runs[(place - 1) // 2].start <= runs[place].start for place in range(1, len(runs)))


@pytest.mark.parametrize("seed", range(40))
def test_runs_are_polled_by_their_first_rows(seed: int) -> None:
    drawn = random.Random(seed)
    starts = [drawn.randint(0, 5) for _ in range(drawn.randint(0, 20))]
    runs = queue(*starts)
    assert is_heap(runs) and sorted(run.start for run in runs) == sorted(starts)
    limit = drawn.randint(0, 5)
    runs.keep(lambda run: run.start >= limit)
    assert is_heap(runs)
    assert [run.start for run in runs.drain()] == sorted(start for start in starts if start >= limit)
    assert not runs


def test_equal_runs_stay_in_their_order_in_the_list_and_are_polled_in_the_heaps() -> None:
    assert names(queue(7, 7, 7, 7)) == "abcd"
    assert names(queue(7, 7, 7, 7).drain()) == "adcb"


def test_a_run_rises_above_later_ones_and_sinks_below_earlier_ones() -> None:
    runs = queue(5, 6, 7, 1)
    assert names(runs) == "dacb"
    assert runs.poll().name == "d"
    assert names(runs) == "abc"


def test_what_is_kept_is_a_list_in_its_order_and_a_heap() -> None:
    runs = queue(1, 2, 3, 4, 2)
    runs.keep(lambda run: run.start > 1)
    assert names(runs) == "bedc"
    before = list(runs)
    runs.keep(lambda run: True)
    assert list(runs) == before
