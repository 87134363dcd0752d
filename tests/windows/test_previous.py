"""prev, prevtail, prevcount, prevwindow and prior, as recorded from Esper 9.0.0 (``recorded_previous.json``)."""
from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.windows.harness import ManualClock, Statement, make_event, make_type
from windows.event import Event
from windows.prior import PriorBuffer

CASES = json.loads((Path(__file__).parent / "recorded_previous.json").read_text())


def name_of(event: Event | None) -> Any:
    return None if event is None else event.get("id")


class Reader:
    """Reads everything that can be asked of each row, at the moment the row is emitted."""

    def __init__(self, window: str) -> None:
        self.clock = ManualClock()
        self.type = make_type()
        self.statement = Statement(window, self.clock, self.type)
        self.prior = PriorBuffer(2)
        self.prior.child = self
        self.statement.view.child = self.prior
        self.emitted: list[list[Any]] = []

    def row(self, event: Event, inserted: bool) -> dict[str, Any]:
        access = self.statement.access()
        row = {"id": name_of(event), "r1": name_of(self.prior.prior(event, 1)), "r2": name_of(self.prior.prior(event, 2))}
        if inserted:
            row |= {f"p{i}": name_of(access.previous(event, i)) for i in range(3)}
            row |= {"t0": name_of(access.from_tail(event, 0)), "t1": name_of(access.from_tail(event, 1)), "c": access.count(event, True)}
            window = access.window(event)
            row["w"] = None if window is None else [name_of(e) for e in window]
        return {k: v for k, v in row.items() if v is not None}

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.emitted.append([[self.row(e, True) for e in new], [self.row(e, False) for e in old]])

    def take(self) -> list[Any]:
        rows = [[r for new, _ in self.emitted for r in new], [r for _, old in self.emitted for r in old]]
        self.emitted = []
        return rows


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["window"])
def test_previous_and_prior(case: dict[str, Any]) -> None:
    reader = Reader(case["window"])
    for number, step in enumerate(case["steps"]):
        if "time" in step:
            reader.clock.jump(step["time"])
        elif "span" in step:
            reader.clock.span(step["span"])
        else:
            reader.statement.view.update((make_event(reader.type, **step["event"]),), ())
        emitted = step.get("emitted", [])
        wanted = [[r for new, _ in emitted for r in new], [r for _, old in emitted for r in old]]
        assert reader.take() == wanted, (number, step)
        if "contents" in step:
            assert [reader.row(e, True) for e in reader.statement.view] == step["contents"], (number, step)
