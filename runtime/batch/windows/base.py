"""Data windows in a kernel: how the positions of the ring move, and which of them a delta brings in and evicts."""
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ClassVar

import attrs
import numpy as np

from epl.plan.windows import WindowConfig
from runtime.batch.printing.expressions import ScalarPrinter
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import Declined
from runtime.batch.runs.ring import Ring
from runtime.batch.runs.run import RunContext
from runtime.batch.runs.timer_bounds import Timers
from runtime.batch.storage.arrays import RING, Array, ArrayField, Arrays
from runtime.batch.storage.registers import RING_FULL
from runtime.batch.storage.strings import StringPool
from runtime.clock.instants import FARTHEST
from windows.protocol import State

NEVER = 2**63 - 1
"""Due where nothing is."""

Take = Callable[[Code], None]
"""Prints how the row at ``i`` becomes the row ``r``, ``continue`` where it fails the filter, and is put at position ``tail``: the new event
of the delta."""

RowPrinter = Callable[[Code], ScalarPrinter]
"""A printer of expressions on the row ``r``."""


@attrs.define
class Window:
    """Prints the choice of the next delta into the kernel's loop: new events at the positions ``na`` … ``nb``, old ones at ``oa`` …
    ``ob``, engine time ``now``, ``timer`` whether a timer brought it; ``continue`` where a row brings none. All four are at 0 before.
    """

    config: WindowConfig
    low: str = "head"
    """A text: the first position that something is still to be read of."""

    in_order: ClassVar[bool] = True
    """Whether events leave in the order in which they came."""
    lets_all_go: ClassVar[bool] = False
    """Whether its timer or an event empties it, of what an iterator gives until the delta is taken."""

    # ------------------------------------------------------------------ what is printed

    @property
    def released(self) -> str:
        """A text: after the last position that has come out of the window."""
        return "tail"

    @property
    def contents(self) -> tuple[str, str] | None:
        """Texts: the positions that an iterator gives, in its order; None where they are not side by side."""
        return ("head", "tail") if self.in_order else None

    @property
    def most(self) -> str:
        """A text: how many events an iterator gives."""
        low, high = self.contents or ("head", "tail")
        return f"{high} - {low}"

    def sort_contents(self) -> None:
        """Be ready to ``print_contents``; raises NotCompilable."""
        raise NotImplementedError

    def print_contents(self, code: Code) -> AbstractContextManager[None]:
        """Print, for each position ``q`` that an iterator gives, where they are not side by side."""
        raise NotImplementedError

    @property
    def due(self) -> str | None:
        """A text: when the window's timer is due, NEVER where it is not; None for a window without timers."""
        return None

    def fields(self) -> list[ArrayField]:
        """Return its arrays beside ``w_row``."""
        return []

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        """Print the row at ``i``."""
        take(code)

    def expire(self, code: Code) -> None:
        """Print the timer, at ``now``."""
        raise NotImplementedError

    def advance(self, code: Code, take: Take, printer: RowPrinter) -> None:
        """Print the next delta: a timer's if one is due before the next row, else the row's; ``break`` at the end of the batch."""
        if self.due is None:
            self._next_row(code, take, printer)
            return
        code.add("reach = times[i] if i < n else until", f"due = {self.due}")
        with code.block("if due <= reach"):
            code.add("now = reach if jump else due", "timer = True")
            self.expire(code)
        with code.block("else"):
            self._next_row(code, take, printer)

    def _next_row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        with code.block("if i >= n"):
            code.add("break")
        with code.block(f"if tail - {self.low} > mask"):
            code.add(f"status = {RING_FULL}", "break")
        code.add("now = times[i]", "timer = False")
        self.row(code, take, printer)

    # ------------------------------------------------------------------ what the host does

    def start(self, state: Arrays, surroundings: RunContext) -> None:
        """Put the window's parameters into a fresh state; raises NotCompilable."""

    def follow(self, state: Arrays, pool: StringPool) -> None:
        """Note that strings have come."""

    def next_due(self, ring: Ring) -> int | None:
        """Return when its timer is due."""
        return None

    def timers(self, ring: Ring) -> Timers | None:
        """Return what may be due; None for a window without timers."""
        return None

    def held(self, ring: Ring) -> Array:
        """Return the positions of the events that the window holds, in its order."""
        return ring.positions()

    def end(self, ring: Ring) -> int:
        """Return the position after the last one that has come out of the window."""
        return ring.tail

    def size(self, ring: Ring) -> int:
        """Return how many events it holds."""
        return ring.tail - ring.head

    def counted(self, ring: Ring) -> Array:
        """Return the positions of the events that have come out of the window as new and not yet as old, in the order in which they
        came."""
        return self.held(ring)

    def oldest(self, ring: Ring) -> int | None:
        """Return the number of a row before which none is held; None where there is none."""
        return None if ring.head == ring.tail else int(ring.at("w_row", np.array([ring.head]))[0])

    def grow(self, ring: Ring) -> None:
        """Make space for twice as many positions."""
        ring.arrays.grow(RING, 2 * ring.arrays.sizes[RING], ring.low, ring.tail)

    def state(self, ring: Ring) -> State:
        """Return the state as the window's view in the row tier gives it."""
        raise NotImplementedError

    def restore(self, ring: Ring, state: State) -> None:
        """Restore the window. Raise Declined where columns cannot hold the events."""
        raise NotImplementedError


def read_duration(state: State) -> int:
    """Return the length of time that a window's state brings. Raise Declined where it is none: a kernel would never get past its timer."""
    if state["duration"] <= 0:
        raise Declined("a time window of no length")
    return int(min(state["duration"], FARTHEST))
