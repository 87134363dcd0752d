"""``sort(n, keys)``: the first n events by sort order."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from windows.event import Event
from windows.failures import Failures, pair_keys
from windows.parameters import constant_refused, integer_argument, is_literal, size_value
from windows.protocol import BuildContext, View
from windows.shape import COUNT, EVENT, takes
from windows.sort_order import SortedEvents, SortKey, sort_key

__all__ = ["Sort", "SortView", "sort_keys"]


@attrs.frozen
class Sort(WindowConfig):
    """Retains the first ``n`` events by sort order; an event beyond the last enters and is evicted in the same delta.

    ::

        sort(2, v)    E1(5)   E2(3)   E3(4)    E4(9)
        contents      1       2 1     2 3      2 3
        new           E1      E2      E3       E4
        old           -       -       E1       E4
    """

    names = ("sort",)
    passes_nothing = True
    reads_whole_events = False
    namespace = "ext"
    title = "sort"
    answers_previous = True

    size: TypedExpression
    keys: tuple[SortKey, ...]

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Sort:
        if len(arguments) < 2:
            raise WindowRefused("sort window requires a numeric size parameter and a list of expressions providing sort keys", whole=True)
        if not arguments[0].is_constant:
            message = "Invalid view parameter expression 0 for sort view, event properties are not allowed within the expression"
            raise WindowRefused(message, whole=True)
        size = integer_argument(arguments[0], 0, cls.title, "sort view requires a single integer-type parameter", whole=True)
        return cls(size, sort_keys(arguments, 1, "sort window"))

    def build(self, context: BuildContext) -> SortView:
        return SortView(size_value(context, self.size, self.names[0]), self.keys, context)


def sort_keys(arguments: Sequence[WindowArgument], start: int, title: str) -> tuple[SortKey, ...]:
    """Return the sort keys from argument number ``start`` on."""
    for index, argument in enumerate(arguments[start:], start):
        if is_literal(argument):
            raise constant_refused(index, title)
    return tuple(SortKey(a.typed, bool(a.descending)) for a in arguments[start:] if a.typed is not None)


class SortView(View):
    """See Sort."""

    may_refuse = True

    def __init__(self, size: int, keys: Sequence[SortKey], context: BuildContext) -> None:
        self.size = size
        self.key = sort_key(keys, context)
        self.sorted = SortedEvents(newest_first=True)
        context.publish_random_access(self.sorted)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.sorted)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        failures = Failures()
        gone = [e for e in old if self.sorted.take_out(e, self.key)]
        let_in = []
        for event, key in pair_keys(new, self.key, failures):
            self.sorted.add(key, event)
            let_in.append(event)
        while len(self.sorted) > self.size:
            gone.append(self.sorted.pop_worst())
        if let_in or gone:
            failures.attempt(self.child.update, let_in, gone)
        failures.settle()

    def state(self) -> Any:
        return {"size": self.size, "events": list(self.sorted)}

    @takes({"size": COUNT, "events": [EVENT]})
    def restore(self, state: Any) -> None:
        self.size, events = state["size"], state["events"]
        self.sorted.refill(events, self.key)
