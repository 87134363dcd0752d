"""What derived-value windows share: a row of values computed from the events that come and go, and extra properties of the last event."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType, Property
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig
from epl.value_types import BOXED_DOUBLE, BOXED_LONG, ValueType
from windows.event import NO_EVENTS, Event, event_class
from windows.failures import Failures
from windows.protocol import BuildContext, View
from windows.shape import ANYTHING, EVENT, Check, compile_check, of_type, optional, takes

__all__ = ["DOUBLE", "LONG", "DerivedValues", "DerivedView", "ExtraColumn", "extra_values", "row_event_type"]

DOUBLE, LONG = BOXED_DOUBLE, BOXED_LONG


@attrs.frozen
class ExtraColumn:
    """An extra property of the row: the value of an expression for the last event that came."""

    name: str
    value: TypedExpression


@attrs.frozen
class DerivedValues(WindowConfig):
    """Base of derived-value windows. ``row_type`` is the type of its rows: the numbers, then the extra properties."""

    is_data_window = False
    retains = False

    extras: tuple[ExtraColumn, ...]
    row_type: EventType

    def output_type(self, event_type: EventType) -> EventType:
        return self.row_type


def extra_values(arguments: Sequence[WindowArgument], event_type: EventType, taken: Sequence[str]) -> tuple[ExtraColumn, ...]:
    """Return the extra properties that parameters name: each under its text, ``*`` all of the event's; a name that is taken is omitted."""
    extras: dict[str, ExtraColumn] = {}
    for argument in arguments:
        if argument.typed is None:
            named = [(p.name, StreamProperty(type=p.type, stream=0, name=p.name)) for p in event_type.properties.values()]
        else:
            named = [(argument.text, argument.typed)]  # type: ignore[list-item]
        for name, value in named:
            if name not in taken:
                extras.setdefault(name, ExtraColumn(name, value))
    return tuple(extras.values())


def row_event_type(name: str, numbers: Sequence[tuple[str, ValueType]], extras: Sequence[ExtraColumn]) -> EventType:
    """Return the type of a derived-value window's rows."""
    properties = {n: Property(n, t) for n, t in numbers}
    properties.update((e.name, Property(e.name, e.value.type.boxed)) for e in extras)
    return EventType(name, "map", properties, is_bus=False)


class DerivedView(View):
    """Base of their views: one row, emitted at each delta together with the row before it.

    Subclasses keep sums: ``enter``, ``leave``, ``numbers`` (in the order of the type), ``state`` and ``restore`` of the sums.
    ``removals``: whether events leave again (not without a data window in front). ``replaces``: whether the row before leaves when the
    next comes (not in windows that keep it, WindowConfig.keeps_replaced).
    """

    removals = True
    replaces = True
    sums_shape: Check = ANYTHING
    """What ``sums`` gives."""

    def __init__(self, config: DerivedValues, context: BuildContext) -> None:
        self.make = event_class(config.row_type)
        self.values = [context.evaluator(e.value) for e in config.extras]
        self.last: list[Any] = [None] * len(self.values)
        self.emitted: Event | None = None
        """The row that was emitted last: the same one leaves when the next comes."""
        self.failed: dict[Event, None] = {}
        """Events that do not count, since their values raised: they are not taken off when they leave."""

    def enter(self, event: Event) -> None:
        raise NotImplementedError

    def leave(self, event: Event) -> None:
        raise NotImplementedError

    def numbers(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def sums(self) -> Any:
        raise NotImplementedError

    def restore_sums(self, state: Any) -> None:
        raise NotImplementedError

    def row(self) -> Event:
        return self.make(*self.numbers(), *self.last)

    def __iter__(self) -> Iterator[Event]:
        return iter((self.row(),))

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        before = self.emitted or self.row()
        self.take(new, old)
        self.emit(before)

    def emit(self, before: Event) -> None:
        """Emit the row in place of the one before."""
        self.emitted = self.row()
        self.child.update((self.emitted,), (before,) if self.replaces else ())

    def end_partition(self) -> None:
        if self.emitted is not None and self.replaces:
            self.child.update(NO_EVENTS, (self.emitted,))

    def take(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Bring the sums up to date; an event whose values raise does not count, and nothing is emitted."""
        failures = Failures()
        for event in new:
            if not failures.attempt(self.enter, event) and self.removals:
                self.failed[event] = None
        if new and self.values:
            failures.attempt(self.take_values, new[-1])
        for event in old:
            if event in self.failed:
                del self.failed[event]
            else:
                failures.attempt(self.leave, event)
        failures.settle()

    def take_values(self, event: Event) -> None:
        """Make the extra properties this event's; where one raises, all stay as they are."""
        self.last = [value(event) for value in self.values]

    def state(self) -> Any:
        return {"sums": self.sums(), "last": self.last, "failed": list(self.failed), "emitted": self.emitted}

    @takes({"sums": ANYTHING, "last": [ANYTHING], "failed": [EVENT]})
    def restore(self, state: Any) -> None:
        type(self).sums_shape(state["sums"])
        self.restore_sums(state["sums"])
        properties = list(self.make.type.properties.values())[len(self.make.fields) - len(self.values) :]
        compile_check(tuple(of_type(each.type) for each in properties))(state["last"])
        self.last = list(state["last"])
        self.failed = dict.fromkeys(state["failed"])
        self.emitted = state.get("emitted")
        optional(EVENT)(self.emitted)
