"""The events that a run holds, by position: what windows and accumulators read when state is taken, and fill when it is restored."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.arrays import RING, Array, Arrays
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.registers import SELECT
from runtime.batch.storage.row_store import RowStore
from runtime.expressions import compile_expression
from windows.event import Event

Member = tuple[int, Event]
"""An event and its position."""


@attrs.define
class Ring:
    """``inputs`` are the properties that the kernel reads, whose columns are ``w0`` … on the ring where they are retained. ``counted``
    gives the positions of the events that aggregations count now, in the order in which they came; ``slots`` the groups they are in.
    ``since``: the first position of those that have left and are still to be read, if not ``head``; ``gone``: the events there, before a
    state is restored."""

    event_type: EventType
    inputs: Sequence[tuple[str, str]]
    arrays: Arrays
    registers: Array
    surroundings: RunContext
    store: RowStore | None = None
    counted: Callable[[Ring], Array] = lambda ring: ring.positions()
    slots: Callable[[Array], Array] | None = None
    since: Callable[[], int] | None = None
    gone: Sequence[Event] = ()
    _once: dict[str, Any] = attrs.field(factory=dict, alias="once")

    # ------------------------------------------------------------------ positions

    @property
    def head(self) -> int:
        return int(self.registers[SELECT["head"]])

    @property
    def tail(self) -> int:
        return int(self.registers[SELECT["tail"]])

    @property
    def low(self) -> int:
        """The first position that something is still to be read of."""
        return self.head if self.since is None else self.since()

    def kept(self) -> Array:
        """Return the positions of which something is still to be read, ascending."""
        return np.arange(self.low, self.tail)

    def positions(self) -> Array:
        """Return those in use, ascending."""
        return np.arange(self.head, self.tail)

    def at(self, name: str, positions: Array) -> Array:
        """Return the elements of a ring array."""
        values: Array = self.arrays[name][positions & (self.arrays.sizes[RING] - 1)]
        return values

    def put(self, name: str, positions: Array, values: Any) -> None:
        self.arrays[name][positions & (self.arrays.sizes[RING] - 1)] = values

    # ------------------------------------------------------------------ events

    def events(self, positions: Array) -> list[Event]:
        """Return the events there, as objects: the same one whenever it is asked for."""
        assert self.store is not None
        return self.store.events(self.at("w_row", positions))

    def evaluator(self, node: TypedExpression) -> Callable[[Event], Any]:
        """Return the expression as a function of an event."""
        return compile_expression(node, self.surroundings.environment, 1)

    def hold(self, events: Sequence[Event]) -> None:
        """Hold these events, after those that are gone, at the positions from 0 on, as the rows from 0 on; raise Declined where a column
        cannot hold them."""
        before, events = len(self.gone), [*self.gone, *events]
        assert self.store is not None
        environment, pool = self.surroundings.environment, self.surroundings.pool
        intake = BatchIntake.of(self.event_type, events, environment.settings.units_per_second)
        columns = [
            (f"w{n}", *intake.column(name, kind, pool)) for n, (name, kind) in enumerate(self.inputs) if f"w{n}" in self.arrays.arrays
        ]
        self.arrays.grow(RING, len(events) + 1)
        self.registers[SELECT["head"]], self.registers[SELECT["tail"]] = before, len(events)
        positions = np.arange(len(events))
        self.put("w_row", positions, positions)
        for name, values, valid in columns:
            self.put(name, positions, values)
            self.put(f"{name}v", positions, valid)
        self.store.add(0, intake)

    # ------------------------------------------------------------------ groups

    def members(self, slot: int) -> list[Member]:
        """Return the events that are counted in a group, in the order in which they came."""
        members: list[Member] = self.once("members", self._by_slot).get(slot, [])
        return members

    def _by_slot(self) -> dict[int, list[Member]]:
        positions = self.counted(self)
        slots = np.zeros(len(positions), np.int64) if self.slots is None else self.slots(positions)
        by_slot: dict[int, list[Member]] = {}
        for position, event, group in zip(positions.tolist(), self.events(positions), slots.tolist()):
            by_slot.setdefault(group, []).append((position, event))
        return by_slot

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what ``make`` gives, until a batch or a time has been taken."""
        if name not in self._once:
            self._once[name] = make()
        return self._once[name]

    def changed(self) -> None:
        """Note that a batch or a time has been taken: aggregations have changed, and events may have come or gone."""
        self._once.clear()


__all__ = ["Member", "Ring"]
