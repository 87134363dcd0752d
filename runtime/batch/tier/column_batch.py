"""The part of a batch that goes to components in the batch tier: its types as one order."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from runtime.batch.storage.intake import BatchIntake
from runtime.batch.tier.chain import StreamInput
from runtime.batch.tier.listener_calls import RowOrigin
from runtime.conversion.batch_order import BatchOrder, TypeRows
from runtime.conversion.columns import Times
from windows.event import Event

if TYPE_CHECKING:
    from runtime.batch.tier.tier import BatchTier, StatementGroup


class ColumnBatch:
    """``parts``: those whose components take them by columns. All is checked here (EplRuntimeError; NotInBatchTier under ``tier="batch"``):
    no event has been processed then."""

    def __init__(self, tier: BatchTier, order: BatchOrder, units_per_second: int) -> None:
        self._tier = tier
        owners = {part: tier.find_component(part.event_type, part.columns.rows) for part in order.parts}
        intakes = {p: BatchIntake(p.event_type, p.columns, units_per_second) for p, owner in owners.items() if owner is not None}
        for intake in intakes.values():
            intake.check()
        self.parts = list(intakes)
        self._order = order
        inputs = {p: _input(intakes[p], order.times, order.places[p]) for p in self.parts}
        self._inputs: dict[StatementGroup, list[StreamInput]] = {}
        for part, owner in owners.items():
            if owner is not None:
                self._inputs.setdefault(owner, []).append(inputs[part])
        for owner, own_inputs in list(self._inputs.items()):
            if not tier.take(owner, own_inputs):
                del self._inputs[owner]
                self.parts = [p for p in self.parts if owners[p] is not owner]

    @property
    def left(self) -> list[TypeRows]:
        """The parts that the row tier needs: those that it does not take, and those that are read there, too."""
        return [part for part in self._order.parts if part not in self.parts or self._tier.is_read_apart(part.event_type)]

    @property
    def leaves_rows(self) -> bool:
        """Whether there are rows that the row tier needs."""
        return any(part.columns.rows for part in self.left)

    @contextmanager
    def beside(self, rows: Iterable[tuple[int, int, Event | None]]) -> Iterator[None]:
        """Let the row tier process rows of which some have been taken here."""
        taken = tuple(part.event_type for part in self.parts)
        self._tier.take_rows = {event for _, _, event in rows if event is not None and event.type in taken} if taken else ()
        try:
            yield
        finally:
            self._tier.take_rows = ()

    def feed(self, until: int, *, jump: bool) -> None:
        """Process the rows, then time up to ``until`` for all that the batch tier holds."""
        self._tier.row_of = self._order.row_of
        for component, inputs in self._inputs.items():
            self._tier.feed(component, inputs, self._order.times, until, jump=jump)
        self._tier.advance(until, jump=jump, but=list(self._inputs), times=self._order.times)
        self._tier.compact()


def _input(intake: BatchIntake, times: Times, places: Times | None) -> StreamInput:
    """Return the rows in order of their places. ``times``: by place."""
    if places is None:
        return StreamInput(intake, times, RowOrigin(None))
    if len(places) > 1 and not bool((places[1:] > places[:-1]).all()):
        order = np.argsort(places)
        intake, places = intake.select_rows(order), places[order]
    return StreamInput(intake, times[places], RowOrigin(places))


__all__ = ["ColumnBatch"]
