"""output first with groups: what an alarm costs does not depend on how many groups there are, counted in calls."""
from __future__ import annotations

from typing import Any

from runtime import Runtime
from tests.calls import calls_of

EPL = "@name('s0') select k, max(v) as m from T group by k having max(v) > 10 output first every 1 min"


def alarm_calls(groups: int) -> tuple[int, int]:
    """Function calls, Python's and built-in ones, of an alarm and of the damped event behind it."""
    runtime = Runtime()
    runtime.register("T", {"k": int, "v": float})
    rows: list[Any] = []
    runtime.deploy(EPL, listeners={"s0": lambda new, *_: rows.extend(new)})
    for key in range(groups):
        runtime.send("T", {"k": key, "v": 1.0})
    runtime.send("T", {"k": 0, "v": 20.0})
    counted = []
    for value in (20.0, 21.0):
        counted.append(calls_of(lambda value=value: runtime.send("T", {"k": groups - 1, "v": value})))
    assert len(rows) == 2
    return counted[0], counted[1]


def test_an_alarm_costs_the_same_with_any_number_of_groups() -> None:
    assert alarm_calls(10) == alarm_calls(1_000) == alarm_calls(20_000)
