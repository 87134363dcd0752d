"""What the runtime is processing: the row of a batch, or the timer, that causes a listener's call (``Runtime.cause``)."""

from __future__ import annotations

from collections.abc import Callable

import attrs

RowOf = Callable[[int], tuple[str, int]]
"""A row's place in the order of its batch → (name of its event type, its row in that type's table)."""


@attrs.frozen
class Cause:
    """Why listeners are called, what routed events (insert into) and listeners' own sends lead to included.

    ``call``: number of the listener call, from 1, one sequence over all statements since the runtime was made or restored; in an error
    handler, of the last call before. ``time``: engine time. ``place``: the row's place in the order in which its batch is processed, from
    0; 0 for everything that is not a batch, and None for timers. ``event_type``, ``row``: the row's type and its row, from 0, in the table
    that was given for the type; both None outside ``send_batch``.
    """

    call: int
    time: int
    place: int | None
    event_type: str | None = None
    row: int | None = None

    @property
    def is_timer(self) -> bool:
        return self.place is None


class ProcessingPosition:
    """Where a runtime is: kept up by the engine at the price of an assignment a row, made into a ``Cause`` on request."""

    __slots__ = ("calls", "place", "row_of", "time")

    def __init__(self) -> None:
        self.calls = 0
        self.place: int | None = 0
        self.row_of: RowOf | None = None
        self.time: int | None = None
        """Engine time of the call, where that is not the clock's: the batch tier's listeners are called at the end of the batch."""

    def cause(self, now: int) -> Cause:
        """Return the cause at engine time ``now``."""
        time = now if self.time is None else self.time
        if self.place is None or self.row_of is None:
            return Cause(self.calls, time, self.place)
        return Cause(self.calls, time, self.place, *self.row_of(self.place))


__all__ = ["Cause", "ProcessingPosition", "RowOf"]
