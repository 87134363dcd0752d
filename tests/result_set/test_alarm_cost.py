"""output first with groups: what an alarm costs does not depend on how many groups there are, counted in calls."""
from __future__ import annotations

import gc
import sys
from typing import Any

from runtime import Runtime

EPL = "@name('s0') select k, max(v) as m from T group by k having max(v) > 10 output first every 1 min"


def calls(groups: int) -> tuple[int, int]:
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
        count = 0

        def count_call(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        gc.disable()  # a collection calls back for what other tests have left
        sys.setprofile(count_call)
        try:
            runtime.send("T", {"k": groups - 1, "v": value})
        finally:
            sys.setprofile(None)
            gc.enable()
        counted.append(count)
    assert len(rows) == 2
    return counted[0], counted[1]


def test_an_alarm_costs_the_same_with_any_number_of_groups() -> None:
    assert calls(10) == calls(1_000) == calls(20_000)
