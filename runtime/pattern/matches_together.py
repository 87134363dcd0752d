"""What one event brings to a pattern's windows: one delta, for rows that are sorted or that see one another."""
from __future__ import annotations

from collections.abc import Sequence

from runtime.event_loop.delivery import Delivery
from runtime.operators.operator_context import OperatorContext
from windows.event import Event
from windows.protocol import Sink


class MatchesTogether(Delivery):
    """Downstream of the windows of a pattern, which take its matches one by one: passes on together what the matches of one event, or of
    timers due at one time, lead to."""

    def __init__(self, child: Sink, context: OperatorContext) -> None:
        self.child = child
        self.name = context.name
        self._context = context
        self._new: list[Event] = []
        self._old: list[Event] = []
        self._withheld = False

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self._new += new
        self._old += old
        self._withheld = self._withheld or self._context.withholding
        self._context.core.pending[self] = None

    def deliver(self) -> None:
        new, self._new = self._new, []
        old, self._old = self._old, []
        self._withheld, withheld = False, self._withheld
        outer = self._context.withholding
        self._context.withholding = outer or withheld
        try:
            self.child.update(new, old)
        finally:
            self._context.withholding = outer


__all__ = ["MatchesTogether"]
