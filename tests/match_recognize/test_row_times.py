"""Intervals: the times at which rows came are known as long as matches may begin with them, and no longer."""
from __future__ import annotations

import random

import pytest

from runtime import Runtime
from runtime.api.statement import internal_output

SCHEMA = "create schema Step(place int, size int); "


@pytest.mark.parametrize("condition", ["B.size > A.size", "B.size > 95"])  # partial matches, and layers that matches share
def test_rows_of_a_window_may_begin_matches_again_after_hundreds_of_others(condition: str) -> None:
    chance, failures = random.Random(7), []
    runtime = Runtime(on_error=lambda *failure: failures.append(failure))
    runtime.deploy(SCHEMA + (
        "@name('s') select * from Step#unique(place) match_recognize (measures A.place as a, B.place as b pattern (A B) "
        f"interval 10 seconds define B as {condition})"
    ))
    found: list[int] = []
    for time in range(2000):
        runtime.advance_time(time)
        runtime.send("Step", {"place": chance.randrange(400), "size": chance.randrange(100)})
        if time % 500 == 499:
            runtime = Runtime.restore(runtime.snapshot(), on_error=lambda *failure: failures.append(failure))
            runtime.statement("s").add_listener(lambda new, old, *_: found.extend(row["a"] for row in new))
    runtime.advance_time(20_000)
    assert found and not failures


@pytest.mark.parametrize("window", ["", "#length(3)"])
@pytest.mark.parametrize("condition", ["B.size > A.size", "B.size > 95"])
def test_times_of_rows_that_begin_nothing_are_forgotten(window: str, condition: str) -> None:
    runtime = Runtime()
    runtime.deploy(SCHEMA + (
        f"@name('s') select * from Step{window} match_recognize (measures A.place as a pattern (A B) interval 1 seconds "
        f"define B as {condition})"
    ))
    for number in range(2000):
        runtime.send("Step", {"place": number, "size": -number})
    running = internal_output(runtime.statement("s")).running
    assert running is not None
    kept = running.state()["match_recognize"]["interval"]["began"]
    assert len(kept) < 250
