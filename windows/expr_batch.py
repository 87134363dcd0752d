"""``expr_batch(condition[, include])``: a batch whenever a condition holds."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from epl.value_types import ValueType, is_boolean
from windows.batch import BatchView
from windows.event import Event
from windows.expiry import Expiry, builtin_types, expiry_argument
from windows.failures import Failures
from windows.protocol import BuildContext
from windows.shape import ANYTHING, BOOLEAN, DUE, TIME, takes

__all__ = ["ExprBatch", "ExprBatchView"]


@attrs.frozen
class ExprBatch(WindowConfig):
    """Collects events and emits them as one batch when ``condition`` is true for an arriving event. That event is the last of the batch, or
    (``include`` false) the first of the next one. Events that arrive with it, such as contained ones, follow it without being asked about.

    The condition is asked again at the next step of the clock after a variable that it reads was set.

    ::

        expr_batch(current_count >= 2)   E1    E2        E3
        contents                         1               3
        new                              -     E1 E2     -
        old                              -     -         -
    """

    names = ("expr_batch",)
    reads_whole_events = False
    title = "Expression-batch"
    is_batch = True
    evicts_by_arrival = False
    answers_previous = True

    condition: TypedExpression
    include: TypedExpression | None = None

    @classmethod
    def builtins(cls, event_type: EventType) -> Mapping[str, ValueType]:
        return builtin_types(event_type)

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> ExprBatch:
        if not 1 <= len(arguments) <= 2:
            raise WindowRefused("Expression-batch view requires a single expression as a parameter, or an expression and boolean flag")
        condition = expiry_argument(arguments[0])
        if len(arguments) == 1:
            return cls(condition)
        if not arguments[1].is_constant:
            raise WindowRefused(
                "Invalid view parameter expression 1 for Expression-batch view, event properties are not allowed within the expression"
            )
        include = arguments[1].typed
        if include is None or not is_boolean(include.type):
            raise WindowRefused("Expression-batch view requires a boolean flag as its second parameter")
        return cls(condition, include)

    def build(self, context: BuildContext) -> ExprBatchView:
        include = self.include is None or bool(context.constant(self.include))
        return ExprBatchView(self.condition, include, context)


class ExprBatchView(BatchView):
    """See ExprBatch. ``times``: the time of arrival of each event of the current batch."""

    def __init__(self, condition: TypedExpression, include: bool, context: BuildContext) -> None:
        super().__init__(context)
        self.include = include
        self.expiry = Expiry(condition, self, context)
        self.times: dict[Event, int] = {}
        self.now = context.now
        self.timer = context.timer(self.look_again)
        context.on_variable_change(condition, lambda: self.timer.set(self.now()))

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if old:
            self.expiry.leave([e for e in old if e in self.current])
            self.drop(old)
        failures = Failures()
        arriving = iter(new)
        for event in arriving:
            failures.attempt(self._take, event, arriving, failures)
        failures.settle()

    def _take(self, event: Event, arriving: Iterator[Event], failures: Failures) -> None:
        """Take an event; one that makes the condition true takes those that arrive with it along, for which it is not asked."""
        self._enter(event)
        if not self._due(event):
            return
        if self.include:
            self._enter_all(arriving, failures)
            self._release()
            return
        del self.current[event]
        try:
            self._release({event: None})
        finally:  # whatever raises downstream, the event begins the next batch
            self._enter_all((event, *arriving), failures)

    def _enter_all(self, events: Iterable[Event], failures: Failures) -> None:
        for event in events:
            failures.attempt(self._enter, event)

    def _enter(self, event: Event) -> None:
        self.current[event] = None
        self.times[event] = self.now()
        self.expiry.enter((event,))

    def _due(self, event: Event) -> bool:
        oldest = next(iter(self.current))
        newest = next(reversed(self.current))
        none_expired = 0
        return self.expiry.holds(
            event, len(self.current), none_expired, (newest, self.times[newest]), (oldest, self.times[oldest]),
        )

    def _release(self, following: dict[Event, None] | None = None) -> None:
        """Emit the batch. ``following``: the next one, if an event has begun it already."""
        self.times = {}
        self.expiry.clear()
        self.release_even_empty(following)

    def look_again(self) -> None:
        if self.current and self._due(next(reversed(self.current))):
            self._release()

    def drop(self, events: Sequence[Event]) -> None:
        super().drop(events)
        for event in events:
            self.times.pop(event, None)

    def state(self) -> Any:
        times = [self.times[e] for e in self.current]
        return {**super().state(), "include": self.include, "times": times, "aggregations": self.expiry.state(), "due": self.timer.due}

    @takes({"include": BOOLEAN, "times": [TIME], "aggregations": ANYTHING, "due": DUE})
    def restore(self, state: Any) -> None:
        super().restore(state)
        self.include = state["include"]
        self.times = dict(zip(self.current, state["times"], strict=True))
        self.expiry.restore(state["aggregations"])
        self.timer.cancel()
        if state["due"] is not None:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
