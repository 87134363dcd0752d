"""``rank(unique keys, n, sort keys)``: the first n, by sort order, of the last events of each key."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from windows.event import Event
from windows.failures import Failures, pair_keys
from windows.keys import Key, key_evaluator
from windows.parameters import constant_refused, integer_argument, is_literal, size_value
from windows.protocol import BuildContext, Damaged, View
from windows.shape import COUNT, EVENT, takes
from windows.sort import sort_keys
from windows.sort_order import SortedEvents, SortKey, sort_key

__all__ = ["Rank", "RankView"]


@attrs.frozen
class Rank(WindowConfig):
    """Retains at most one event per key and at most ``n`` events, by sort order. A new event always replaces the one of its key.

    ::

        rank(k, 2, v)   E1(a,5)   E2(b,3)   E3(a,9)   E4(c,1)   E5(d,7)
        contents        1         2 1       2 3       4 2       4 2
        new             E1        E2        E3        E4        E5
        old             -         -         E1        E3        E5
    """

    names = ("rank",)
    passes_nothing = True
    reads_whole_events = False
    namespace = "ext"
    title = "rank"
    answers_previous = True

    keys: tuple[TypedExpression, ...]
    size: TypedExpression
    order: tuple[SortKey, ...]

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Rank:
        if len(arguments) < 3:
            raise WindowRefused(
                "rank view requires a list of expressions providing unique keys, a numeric size parameter and a list of expressions "
                "providing sort keys", whole=True,
            )
        at = next((i for i, a in enumerate(arguments) if is_literal(a)), None)
        if at is None:
            raise WindowRefused("Failed to find constant value for the numeric size parameter", whole=True)
        if at == 0:
            message = "Failed to find unique value expressions that are expected to occur before the numeric size parameter"
            raise WindowRefused(message, whole=True)
        if at == len(arguments) - 1:
            raise WindowRefused("Failed to find sort key expressions after the numeric size parameter", whole=True)
        size = integer_argument(arguments[at], at, cls.title, "rank view requires a single integer-type parameter", whole=True)
        for index, argument in enumerate(arguments):
            if index != at and is_literal(argument):
                raise constant_refused(index, cls.title)
        keys = tuple(a.typed for a in arguments[:at] if a.typed is not None)
        return cls(keys, size, sort_keys(arguments, at + 1, cls.title))

    def build(self, context: BuildContext) -> RankView:
        return RankView(self.keys, size_value(context, self.size, self.names[0]), self.order, context)


class RankView(View):
    """See Rank. ``by_key``: the event of each key that is in; ``key_of``: the key of each such event."""

    may_refuse = True

    def __init__(self, keys: Sequence[TypedExpression], size: int, order: Sequence[SortKey], context: BuildContext) -> None:
        self.size = size
        self.unique = key_evaluator(keys, context)
        self.order = sort_key(order, context)
        self.sorted = SortedEvents(newest_first=False)
        self.by_key: dict[Key, Event] = {}
        self.key_of: dict[Event, Key] = {}
        context.publish_random_access(self.sorted)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.sorted)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        failures = Failures()
        gone: list[Event] = []
        let_in = []
        for event, (key, order) in pair_keys(new, lambda e: (self.unique(e), self.order(e)), failures):
            before = self.by_key.get(key)
            if before is not None:
                self._take_out(before)
                gone.append(before)
            self.by_key[key] = event
            self.key_of[event] = key
            self.sorted.add(order, event)
            let_in.append(event)
        for event in old:
            if event in self.key_of:
                self._take_out(event)
                gone.append(event)
        while len(self.sorted) > self.size:
            worst = self.sorted.pop_worst()
            del self.by_key[self.key_of.pop(worst)]
            gone.append(worst)
        if let_in or gone:
            failures.attempt(self.child.update, let_in, gone)
        failures.settle()

    def _take_out(self, event: Event) -> None:
        del self.by_key[self.key_of.pop(event)]
        if not self.sorted.take_out(event, self.order):
            self.sorted.search_out(event)

    def state(self) -> Any:
        return {"size": self.size, "events": list(self.sorted)}

    @takes({"size": COUNT, "events": [EVENT]})
    def restore(self, state: Any) -> None:
        self.size, events = state["size"], state["events"]
        by_key = {self.unique(e): e for e in events}
        if len(by_key) != len(events):
            raise Damaged("two events of one key are in a window that keeps one a key")
        self.sorted.refill(events, self.order)
        self.by_key = by_key
        self.key_of = {e: key for key, e in self.by_key.items()}
