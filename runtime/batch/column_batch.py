"""The part of a batch that goes to components in the batch tier: its types as one sequence."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from runtime.batch.calls import Source
from runtime.batch.component import Input
from runtime.batch.intake import Intake
from runtime.batches import Part
from runtime.columns import Times

if TYPE_CHECKING:
    from runtime.batch.tier import BatchTier, Component


class ColumnBatch:
    """``parts``: those whose components take them by columns. All is checked here (EplRuntimeError; NotInBatchTier under ``tier="batch"``):
    no event has been processed then."""

    def __init__(self, tier: BatchTier, parts: list[Part], now: int, units_per_second: int) -> None:
        self._tier = tier
        owners = {part: tier.component_for(part.event_type, part.columns.rows) for part in parts}
        intakes = {p: Intake(p.event_type, p.columns, units_per_second) for p, owner in owners.items() if owner is not None}
        for intake in intakes.values():
            intake.check()
        self.parts = list(intakes)
        self.times, places = _sequence(self.parts, now)
        inputs = {p: _input(intakes[p], np.maximum(_times(p, now), now), places[p]) for p in self.parts}
        self._inputs: dict[Component, list[Input]] = {}
        for part, owner in owners.items():
            if owner is not None:
                self._inputs.setdefault(owner, []).append(inputs[part])
        for owner, given in list(self._inputs.items()):
            if not tier.take(owner, given):
                del self._inputs[owner]
                self.parts = [p for p in self.parts if owners[p] is not owner]
        self._places = {p.event_type.name: places[p] for p in self.parts}

    def row_of(self, place: int) -> tuple[str, int]:
        """Which row stands at a place of the sequence."""
        for name, places in self._places.items():
            found = np.flatnonzero(places == place)
            if len(found):
                return name, int(found[0])
        raise LookupError(f"no row at place {place}")

    def feed(self, until: int, *, jump: bool) -> None:
        """The rows, then time up to ``until`` for all that the batch tier holds."""
        self._tier.row_of = self.row_of
        for component, inputs in self._inputs.items():
            self._tier.feed(component, inputs, self.times, until, jump=jump)
        self._tier.advance(until, jump=jump, but=list(self._inputs))


def _times(part: Part, now: int) -> Times:
    return np.full(part.columns.rows, now, np.int64) if part.times is None else part.times


def _sequence(parts: list[Part], now: int) -> tuple[Times, dict[Part, Times]]:
    """The times of all rows in order of (time, sequence, type, row), none below ``now``; the place of each row, by part."""
    if not parts:
        return np.zeros(0, np.int64), {}
    times = np.concatenate([_times(p, now) for p in parts])
    if len(parts) == 1 and parts[0].is_ordered():
        order = np.arange(len(times))
    elif any(p.sequence is not None for p in parts):
        numbers = [s for p in parts for s in (p.sequence if p.sequence is not None else [0] * p.columns.rows)]
        keys = list(zip(times.tolist(), numbers))
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    else:
        order = np.argsort(times, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    bounds = np.cumsum([0, *(p.columns.rows for p in parts)])
    return np.maximum(times[order], now), {p: places[low:high] for p, low, high in zip(parts, bounds, bounds[1:])}


def _input(intake: Intake, times: Times, places: Times) -> Input:
    """The rows in order of their places."""
    if len(places) < 2 or bool((places[1:] > places[:-1]).all()):
        return Input(intake, times, Source(places))
    order = np.argsort(places)
    return Input(intake.selected(order), times[order], Source(places[order]))


__all__ = ["ColumnBatch"]
