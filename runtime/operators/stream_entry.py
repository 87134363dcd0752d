"""Where a stream's events enter a statement: filter index → contained-event selection → the first operator."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from typing import Any

from epl.plan.streams import EqualConstants, FilterPlan, StreamPlan, stream_filter
from runtime.event_loop.filter_index import FilterEntry, Receiver
from runtime.event_loop.receiver_order import Path, Places, filter_paths, leading_place
from runtime.expressions import Environment, compile_expression
from runtime.expressions.generated_steps import EmitSteps
from runtime.operators.contained_events import ContainedStage, Containment
from runtime.operators.operator_context import OperatorContext
from windows.event import NO_EVENTS, Event
from windows.protocol import RowReceiver

Receive = Callable[[Event], None]


class StreamReceiver:
    """The place where a stream's events enter: filter index → windows. ``receive(event)`` passes one on; ``write`` gives the
    same as text, where there is one.
    """

    __slots__ = ("name", "order", "paths", "drop", "receive", "write")

    def __init__(self, name: str, order: Places, paths: Sequence[Path], drop: bool, receive: Receive) -> None:
        self.name = name
        self.order = order
        self.paths = paths
        self.drop = drop
        self.receive = receive
        self.write: EmitSteps | None = None


class StreamEntry:
    """A stream's entry in the filter index, from ``start`` to ``close``; ``first`` receives its events.

    ``number``: of the stream in its statement. ``quiet``: as of ContainedStage; where not, the listener is called for the empty delta.
    Raise EplUnsupportedError for a stream over another source than a filter.
    """

    __slots__ = ("entry", "_context", "_filter")

    def __init__(
        self, stream: StreamPlan, context: OperatorContext, first: RowReceiver, *, number: int = 0,
        quiet: tuple[bool, bool] = (False, False)
    ) -> None:
        self._filter = stream_filter(stream)
        self._context = context
        if stream.contained is not None:
            first = ContainedStage(Containment(stream.contained, context.environment), first, quiet=quiet)
        update = first.update

        def receive(event: Event) -> None:
            update((event,), NO_EVENTS)

        self.entry = _entry(self._filter, number, context, receive)

    @property
    def receiver(self) -> Receiver:
        return self.entry.receiver

    def repeat(self) -> None:
        """Let the receiver take an event as often as the filter's in-lists hold it. Last: it wraps what receives events by then."""
        _repeat(self.receiver, self._filter, self._context.environment)

    def start(self) -> None:
        self._context.core.filters.add(self._filter.event_type, self.entry)

    def close(self) -> None:
        self._context.core.filters.remove(self._filter.event_type, self.entry)


class NoEntry:
    """In place of the entry of a stream that receives no events: a historical one."""

    def repeat(self) -> None:
        """Do nothing."""

    def start(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def _entry(plan: FilterPlan, stream: int, context: OperatorContext, receive: Receive) -> FilterEntry:
    """Return the receiver, the predicate of the filter's conditions and the values of its key."""
    order, paths = context.order(stream), filter_paths(plan) if context.statement.has_place else ()
    if len(paths) > 1:
        order = (order[0] + 1, *order[1:])
    elif not paths and order[0] % 2 == 0:
        order = (order[0], leading_place(plan.event_type), *order[2:])
    receiver = StreamReceiver(context.name, order, paths, context.drops, receive)
    test = context.conjunction(plan.conditions) if plan.conditions else None
    key, values = None, ()
    if plan.key is not None:
        key, values = plan.key.property, tuple(compile_expression(v, context.environment, 0)() for v in plan.key.values)
    return FilterEntry(receiver, test, key, values, plan.conditions, context.environment)


# ------------------------------------------------------------------ in-lists with the same constant several times


def _repeat(receiver: Receiver, plan: FilterPlan, environment: Environment) -> None:
    """Let the receiver take an event as often as its in-lists hold the event's values. Nothing changes where all of them differ.

    Every time after the first it is an event of its own, a copy: windows hold an event once.
    """
    lists = [(compile_expression(r.value, environment), counts) for r in plan.repeats if (counts := _counts(r, environment))]
    if not lists:
        return
    once = receiver.receive

    def receive(event: Event) -> None:
        times = math.prod(counts.get(value(event), 1) for value, counts in lists)
        for n in range(times):
            once(copy(event) if n else event)

    receiver.receive = receive  # type: ignore[method-assign]
    receiver.write = None


def _counts(listed: EqualConstants, environment: Environment) -> dict[Any, int]:
    """Constant → how often it is listed, of those that are more than once. 0.0 and -0.0 differ, as in Java."""
    values: list[Any] = []
    for item, spread in zip(listed.items, listed.spread):
        value = compile_expression(item, environment, 0)()
        values.extend(value or () if spread else (value,))
    times = Counter((value, str(value)) for value in values if isinstance(value, Hashable) and value is not None)
    return {value: n for (value, _), n in times.items() if n > 1}


__all__ = ["NoEntry", "Receive", "StreamEntry", "StreamReceiver"]
