"""``expr(condition)``: the newest events as long as a condition holds."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from epl.value_types import ValueType
from windows.event import NO_EVENTS, Event
from windows.expiry import Expiry, builtin_types, expiry_argument
from windows.failures import Failures
from windows.protocol import BuildContext
from windows.shape import ANYTHING, DUE, EVENT, optional, takes
from windows.sliding import TimedView

__all__ = ["Expr", "ExprView"]


@attrs.frozen
class Expr(WindowConfig):
    """Retains events while ``condition`` is true. It is evaluated for the oldest event whenever an event enters or is removed; while it is
    false, the oldest event is evicted.

    Properties in the condition are the oldest event's. It is asked again at the next step of the clock after a variable that it reads
    was set.

    ::

        expr(current_count <= 2)   E1    E2     E3
        contents                   1     1 2    2 3
        new                        E1    E2     E3
        old                        -     -      E1
    """

    names = ("expr",)
    passes_nothing = True
    reads_whole_events = False
    title = "Expression"
    answers_previous = True
    withholds = True

    condition: TypedExpression

    @classmethod
    def builtins(cls, event_type: EventType) -> Mapping[str, ValueType]:
        return builtin_types(event_type)

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Expr:
        if len(arguments) != 1:
            raise WindowRefused("Expression view requires a single expression as a parameter")
        return cls(expiry_argument(arguments[0]))

    def build(self, context: BuildContext) -> ExprView:
        return ExprView(self.condition, context)


class ExprView(TimedView):
    """See Expr. Notes each event's time of arrival.

    Where the condition raises, all events stay and nothing is emitted. Where it raises for the same oldest event again, that event leaves,
    so that it does not keep the window from ever letting go: ``doubtful`` is the event for which it raised last.
    """

    def __init__(self, condition: TypedExpression, context: BuildContext) -> None:
        super().__init__(context)
        self.expiry = Expiry(condition, self, context)
        self.doubtful: Event | None = None
        self.withhold = context.withhold
        self.now = context.now
        self.timer = context.timer(self.look_again)
        context.on_variable_change(condition, lambda: self.timer.set(self.now()))

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone: list[Event] = []
        if old:
            gone = self.remove(old)
        if new:
            now = self.now()
            for event in new:
                self.add_timed(event, now)
        self._emit(new, gone)

    def _emit(self, new: Sequence[Event], gone: list[Event]) -> None:
        """Evict what expires and emit the delta; where the condition raises, nothing is evicted or emitted."""
        failures = Failures()
        if failures.attempt(self._enter_and_expire, new, gone):
            if new or gone:
                self.child.update(new, gone)
            return
        if new or gone:
            failures.attempt(self.withhold, self.child, new, gone)
        failures.settle()

    def _enter_and_expire(self, new: Sequence[Event], gone: list[Event]) -> None:
        failures = Failures()
        failures.attempt(self.expiry.leave, gone)
        failures.attempt(self.expiry.enter, new)
        failures.settle()
        self._expire(gone)

    def look_again(self) -> None:
        self._emit(NO_EVENTS, [])

    def _expire(self, gone: list[Event]) -> None:
        """Let the oldest events go while the condition does not hold; adds them to ``gone``; what was deleted is not expired."""
        expiry, deleted = self.expiry, len(gone)
        newest = self._newest()
        while newest is not None and len(self):
            self.drop_removed()
            oldest = self.entries[0], self.times[0]
            try:
                if expiry.holds(oldest[0], len(self), len(gone) - deleted, newest, oldest):
                    break
            except Exception:
                if oldest[0] is not self.doubtful:
                    self.doubtful = oldest[0]
                    raise
                self.doubtful = None
            gone.append(self.pop_oldest())
            expiry.leave(gone[-1:])

    def _newest(self) -> tuple[Event, int] | None:
        for event, time in zip(reversed(self.entries), reversed(self.times)):
            if event not in self.removed:
                return event, time
        return None

    def state(self) -> Any:
        return {"events": super().state(), "aggregations": self.expiry.state(), "due": self.timer.due, "doubtful": self.doubtful}

    @takes({"events": ANYTHING, "aggregations": ANYTHING, "due": DUE, "doubtful": optional(EVENT)})
    def restore(self, state: Any) -> None:
        super().restore(state["events"])
        self.expiry.restore(state["aggregations"])
        self.doubtful = state["doubtful"]
        self.timer.cancel()
        if state["due"] is not None:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
