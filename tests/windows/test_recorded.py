"""Every window against what Esper 9.0.0 did: random events, times and deletions, recorded (``recorded.json``).

``emitted``: the deltas of ``select irstream *`` as lists of ids; with ``deletes`` the window is a named window's and the deltas are those
of a consumer. ``contents``: what an iterator sees after the step. Rows of derived-value windows are objects.
"""
from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.windows.harness import ManualClock, Statement, make_event, make_type
from windows.event import Event
from windows.paging import plain

CASES = json.loads((Path(__file__).parent / "recorded.json").read_text())
UNORDERED = ("retain-union",)
"""Several windows side by side: Esper leaves the order of what leaves together (and of a union's contents) to hashing."""


def shown(event: Event) -> Any:
    """An event by its id, a row of a derived-value window as an object."""
    if event.type.name == "T":
        return event.get("id")
    return {n: "NaN" if isinstance(v, float) and math.isnan(v) else v for n, v in zip(event.type.names, event.values())}


def deltas_of(statement: Statement, case: dict[str, Any]) -> list[Any]:
    deltas = [[[shown(e) for e in new], [shown(e) for e in old]] for new, old in statement.take()]
    return [d for d in deltas if d[0] or d[1] or not case["deletes"]]


def several(case: dict[str, Any]) -> bool:
    names = [w.partition("(")[0] for w in case["window"].removeprefix("groupwin").split("#")]
    return len(names) > 1


def comparable(deltas: list[Any], case: dict[str, Any]) -> list[Any]:
    return [[new, sorted(old, key=str)] for new, old in deltas] if several(case) else deltas


class Replay:
    """One case, step by step; a consumer's index of a named window finds what was inserted and has not been emitted as old; what waits for
    a batch it finds where the batch window is the only window."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        self.type = make_type()
        self.clock = ManualClock()
        self.statement = Statement(case["window"], self.clock, self.type, {"vi": 4, "vj": 2})
        self.indexed: dict[str, Event] = {}

    def step(self, step: dict[str, Any]) -> None:
        inserted = None
        if "time" in step:
            self.clock.jump(step["time"])
        elif "span" in step:
            self.clock.span(step["span"])
        elif "delete" in step:
            found = self.indexed.get(step["delete"])
            if found is not None:
                self.statement.view.update((), (found,))
        else:
            inserted = make_event(self.type, **step["event"])
            self.statement.view.update((inserted,), ())
        released = "batch" in self.case["window"] and "#" in self.case["window"]  # such rows are looked up once they are released
        for new, old in self.statement.deltas:
            for event in old:
                self.indexed.pop(event.get("id"), None)
            if released:
                self.indexed.update((event.get("id"), event) for event in new)
        if inserted is not None and not released:
            self.indexed[inserted.get("id")] = inserted

    def check(self, number: int, step: dict[str, Any]) -> None:
        emitted = deltas_of(self.statement, self.case)
        assert comparable(emitted, self.case) == comparable(step.get("emitted", []), self.case), (number, step)
        if "contents" in step:
            contents = [shown(e) for e in self.statement.view]
            if self.case["window"].endswith(UNORDERED):
                assert sorted(contents, key=str) == sorted(step["contents"], key=str), (number, step)
            else:
                assert contents == step["contents"], (number, step)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["window"] + (" deletes" if c["deletes"] else ""))
def test_as_recorded(case: dict[str, Any]) -> None:
    replay = Replay(case)
    for number, step in enumerate(case["steps"]):
        replay.step(step)
        replay.check(number, step)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["window"] + (" deletes" if c["deletes"] else ""))
def test_as_recorded_with_a_restart_before_every_step(case: dict[str, Any]) -> None:
    """State goes into a fresh view before every step; timers are set again; nothing changes."""
    replay = Replay(case)
    for number, step in enumerate(case["steps"]):
        kept = plain(replay.statement.view.state())
        replay.statement.view.close()
        replay.statement = Statement(case["window"], replay.clock, replay.type, {"vi": 4, "vj": 2})
        replay.statement.view.restore(kept)
        replay.step(step)
        replay.check(number, step)
