"""Several deltas of a statement as one, so that its rows are sorted as one, or see one another."""
from __future__ import annotations

from collections.abc import Sequence

from runtime.event_loop.delivery import Delivery
from runtime.operators.operator_context import OperatorContext
from windows.event import Event
from windows.protocol import RowReceiver


class DeltasTogether:
    """Gathers deltas for ``child``. ``name``: the statement's."""

    def __init__(self, child: RowReceiver, context: OperatorContext) -> None:
        self.child = child
        self.name = context.name
        self._context = context
        self._new: list[Event] = []
        self._old: list[Event] = []
        self._withheld = False

    def gather(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self._new += new
        self._old += old
        self._withheld = self._withheld or self._context.withholding

    def release(self) -> None:
        """Pass on what has been gathered."""
        new, self._new = self._new, []
        old, self._old = self._old, []
        self._withheld, withheld = False, self._withheld
        outer = self._context.withholding
        self._context.withholding = outer or withheld
        try:
            self.child.update(new, old)
        finally:
            self._context.withholding = outer


class TimersTogether(DeltasTogether):
    """Downstream of several windows, such as those of groups, whose timers may be due at one time: passes the deltas of events on, and
    those of timers together, once all of them have run."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        after_timers = self._context.core.after_timers
        if after_timers is None:
            self.child.update(new, old)
            return
        self.gather(new, old)
        after_timers[self] = None


class MatchesTogether(DeltasTogether, Delivery):
    """Downstream of the windows of a pattern, which take its matches one by one: passes on together what the matches of one event, or of
    timers due at one time, lead to."""

    ends_turn = True

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.gather(new, old)
        self._context.core.pending[self] = None

    def deliver(self) -> None:
        self.release()


__all__ = ["MatchesTogether", "TimersTogether"]
