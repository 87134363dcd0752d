"""What the expr windows share: the built-in names of their expression, and its evaluation."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from epl.event_types import EventOf, EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowRefused
from epl.value_types import BOXED_INT, BOXED_LONG, OBJECT, ValueType, is_boolean
from windows.event import Event
from windows.failures import Failures
from windows.protocol import BuildContext
from windows.shape import ANYTHING, COUNT, EVENT, takes

__all__ = ["BUILTINS", "Expiry", "builtin_types", "expiry_argument"]

COUNTED = object()

BUILTINS = ("current_count", "expired_count", "newest_event", "oldest_event", "newest_timestamp", "oldest_timestamp", "view_reference")


def builtin_types(event_type: EventType) -> Mapping[str, ValueType]:
    """Return the built-in names and their types; timestamps are the engine's time at an event's arrival."""
    event = EventOf(event_type)
    return dict(zip(BUILTINS, (BOXED_INT, BOXED_INT, event, event, BOXED_LONG, BOXED_LONG, OBJECT)))


def expiry_argument(argument: WindowArgument) -> TypedExpression:
    """Return the boolean expression."""
    typed = argument.typed
    if typed is None or not is_boolean(typed.type):
        received = "null" if typed is None else typed.type
        message = f"Invalid return value for expiry expression, expected a boolean return value but received {received}"
        raise WindowRefused(message, whole=True)
    return typed


class Expiry:
    """The expression of one window, its aggregations over the window's events, and where they occur."""

    def __init__(self, expression: TypedExpression, view: Any, context: BuildContext) -> None:
        self.accumulators, self.evaluate = context.accumulators(expression, BUILTINS)
        self.view = view
        self.failed: dict[tuple[int, Event], None] = {}
        """Events that an aggregation (its place) does not count, since its argument raised."""

    def enter(self, events: Sequence[Event]) -> None:
        """Take an event; an aggregation whose argument raises does not count the event; the first failure is raised in the end."""
        failures = Failures()
        for place, accumulator in enumerate(self.accumulators):
            for event in events:
                if not failures.attempt(accumulator.enter, event):
                    self.failed[place, event] = None
        failures.settle()

    def leave(self, events: Sequence[Event]) -> None:
        failures = Failures()
        for place, accumulator in enumerate(self.accumulators):
            for event in events:
                if self.failed.pop((place, event), COUNTED) is COUNTED:
                    failures.attempt(accumulator.leave, event)
        failures.settle()

    def clear(self) -> None:
        self.failed.clear()
        for accumulator in self.accumulators:
            accumulator.clear()

    def holds(self, event: Event, count: int, expired: int, newest: tuple[Event, int], oldest: tuple[Event, int]) -> bool:
        """Return the expression's value for ``event``; newest and oldest with their times of arrival. Null is false."""
        value = self.evaluate(event, count, expired, newest[0], oldest[0], newest[1], oldest[1], self.view)
        return value is True

    def state(self) -> Any:
        failed = [[place, event] for place, event in self.failed]
        return {"values": [accumulator.state() for accumulator in self.accumulators], "failed": failed}

    @takes({"values": [ANYTHING], "failed": [(COUNT, EVENT)]})
    def restore(self, state: Any) -> None:
        for accumulator, kept in zip(self.accumulators, state["values"], strict=True):
            accumulator.restore(kept)
        self.failed = dict.fromkeys(state["failed"])
