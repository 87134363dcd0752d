"""What several timers of one time give a statement with ``order by``: one delta, so that its rows are sorted as one."""
from __future__ import annotations

from collections.abc import Sequence

from runtime.operators.operator_context import OperatorContext
from windows.event import Event
from windows.protocol import Sink


class TimersTogether:
    """Downstream of several windows, such as those of groups, whose timers may be due at one time: passes the deltas of events on, and
    those of timers together, once all of them have run. ``name``: the statement's.
    """

    def __init__(self, child: Sink, context: OperatorContext) -> None:
        self.child = child
        self.name = context.name
        self._context = context
        self._loop = context.core
        self._new: list[Event] = []
        self._old: list[Event] = []
        self._withheld = False

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        after_timers = self._loop.after_timers
        if after_timers is None:
            self.child.update(new, old)
            return
        self._new += new
        self._old += old
        self._withheld = self._withheld or self._context.withholding
        after_timers[self] = None

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
