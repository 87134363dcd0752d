"""Data windows in a kernel: how the positions of the ring move, and which of them a delta brings in and lets go."""
from __future__ import annotations

from collections.abc import Callable

import attrs

from epl.plan.windows import WindowConfig
from runtime.batch.arrays import Array, Arrays, Field
from runtime.batch.code import Code
from runtime.batch.ring import Ring
from runtime.batch.run import Surroundings
from windows.protocol import State

NEVER = 2**63 - 1
"""Due where nothing is."""

Take = Callable[[Code], None]


@attrs.define
class Window:
    """Prints the choice of the next delta into the kernel's loop: new events at the positions ``na`` … ``nb``, old ones at ``oa`` …
    ``ob``, engine time ``now``, ``timer`` whether a timer brought it; ``continue`` where a row brings none. All four stand at 0 before.
    """

    config: WindowConfig

    # ------------------------------------------------------------------ what is printed

    @property
    def due(self) -> str | None:
        """A text: when the window's timer is due, NEVER where it is not; None for a window without timers."""
        return None

    def fields(self) -> list[Field]:
        """Its arrays beside ``w_row``."""
        return []

    def row(self, code: Code, take: Take) -> None:
        """The row at ``i``: ``take`` prints how it is filtered (``continue`` if it fails) and put at position ``tail``, which becomes the
        delta's new event."""
        take(code)

    def expire(self, code: Code) -> None:
        """The timer, at ``now``."""
        raise NotImplementedError

    def advance(self, code: Code, take: Take) -> None:
        """The next delta: a timer's if one is due before the next row, else the row's; ``break`` at the end of the batch."""
        if self.due is None:
            self._next_row(code, take)
            return
        code.add("reach = times[i] if i < n else until", f"due = {self.due}")
        with code.block("if due <= reach"):
            code.add("now = reach if jump else due", "timer = True")
            self.expire(code)
        with code.block("else"):
            self._next_row(code, take)

    def _next_row(self, code: Code, take: Take) -> None:
        with code.block("if i >= n"):
            code.add("break")
        with code.block("if tail - head > mask"):
            code.add("status = 2", "break")
        code.add("now = times[i]", "timer = False")
        self.row(code, take)

    # ------------------------------------------------------------------ what the host does

    def start(self, state: Arrays, surroundings: Surroundings) -> None:
        """Put the window's parameters into a fresh state; raises NotCompilable."""

    def next_due(self, ring: Ring) -> int | None:
        """When its timer is due."""
        return None

    def counted(self, ring: Ring) -> Array:
        """The positions of the events that have come out of the window as new and not yet as old, in the order in which they came."""
        return ring.positions()

    def state(self, ring: Ring) -> State:
        """As the window's view in the row tier gives it."""
        raise NotImplementedError

    def restore(self, ring: Ring, state: State) -> None:
        """Raises Declined where columns cannot hold the events."""
        raise NotImplementedError
