"""Where a stream's events enter a statement: filter index → contained-event selection → the first operator."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.plan.statements import StreamPlan
from runtime.contained import ContainedStage, Containment
from runtime.context import StatementContext
from runtime.evaluate import compile_expression
from runtime.filters import Entry
from windows.event import NO_EVENTS, Event
from windows.protocol import Sink


class StreamReceiver:
    """The place where a stream's events enter: filter index → windows."""

    __slots__ = ("name", "order", "drop", "_update")

    def __init__(self, name: str, order: tuple[int, int, int], drop: bool, first: Sink) -> None:
        self.name = name
        self.order = order
        self.drop = drop
        self._update = first.update

    def receive(self, event: Event) -> None:
        self._update((event,), NO_EVENTS)


def entry_of(stream: StreamPlan, context: StatementContext, first: Sink, *, quiet: bool = False) -> Entry:
    """What the filter index keeps of a stream, ``first`` being told of its events.

    ``quiet``: an event that contains none is not told of at all (else it is an empty delta, as the listener is called then).
    """
    if stream.contained is not None:
        first = ContainedStage(Containment(stream.contained, context.environment), first, quiet=quiet)
    return Entry(StreamReceiver(context.name, context.order(0), context.drops, first), *_filter_parts(stream, context))


def _filter_parts(stream: StreamPlan, context: StatementContext) -> tuple[Callable[[Event], bool] | None, str | None, tuple[Any, ...]]:
    """What Entry wants: the predicate of the remaining conditions, the key's property, its values."""
    plan = stream.filter
    test = context.conjunction(plan.conditions) if plan.conditions else None
    if plan.key is None:
        return test, None, ()
    return test, plan.key.property, tuple(compile_expression(v, context.environment, 0)() for v in plan.key.values)


__all__ = ["StreamReceiver", "entry_of"]
