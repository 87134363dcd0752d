"""``unique(keys)`` and ``firstunique(keys)``: the last, or the first, event of each key."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.java_hash import hash_of_keys
from epl.plan.expressions import TypedExpression
from epl.plan.windows import Locality, WindowArgument, WindowConfig
from windows.event import Event
from windows.failures import Failures, pair_keys
from windows.keys import Key, bucket_order, key_evaluator, key_of_values, values_of_key
from windows.paging import Paged
from windows.parameters import key_arguments
from windows.protocol import BuildContext, View
from windows.shape import ANYTHING, EVENT, takes

__all__ = ["FirstUnique", "FirstUniqueView", "Unique", "UniqueView"]


@attrs.frozen
class Unique(WindowConfig):
    """Retains the last event of each key; a new event evicts the previous one of its key.

    ::

        unique(k)     E1(a)   E2(b)   E3(a)     delete E2
        contents      1       1 2     3 2       3
        new           E1      E2      E3        -
        old           -       -       E1        E2
    """

    names = ("unique",)
    passes_nothing = True
    reads_whole_events = False
    is_unique = True
    namespace = "std"
    title = "unique"

    keys: tuple[TypedExpression, ...]

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Unique:
        message = "unique view requires a one or more expressions providing unique values as parameters"
        return cls(key_arguments(arguments, cls.title, message))

    @property
    def locality(self) -> Locality:
        return Locality(self.keys)

    def build(self, context: BuildContext) -> UniqueView:
        return UniqueView(self.keys, context)


@attrs.frozen
class FirstUnique(WindowConfig):
    """Retains the first event of each key; later events of the key are ignored until it is deleted.

    ::

        firstunique(k)   E1(a)   E2(b)   E3(a)   delete E1   E4(a)
        contents         1       1 2     1 2     2           2 4
        new              E1      E2      -       -           E4
        old              -       -       -       E1          -
    """

    names = ("firstunique",)
    reads_whole_events = False
    is_unique = True
    namespace = "std"
    title = "firstunique"
    is_selective = True

    keys: tuple[TypedExpression, ...]

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> FirstUnique:
        message = "firstunique view requires a one or more expressions provinding unique values as parameters"
        return cls(key_arguments(arguments, cls.title, message))

    @property
    def locality(self) -> Locality:
        return Locality(self.keys)

    def build(self, context: BuildContext) -> FirstUniqueView:
        return FirstUniqueView(self.keys, context)


class KeyedView(View):
    """Base of the two: ``events`` by key, ``peak`` the most keys ever held (it determines the order of iteration, see windows.keys)."""

    may_refuse = True

    def __init__(self, keys: tuple[TypedExpression, ...], context: BuildContext) -> None:
        self.key = key_evaluator(keys, context)
        self.key_types = [k.type for k in keys]
        self.hash_of = hash_of_keys(self.key_types)
        self.events: dict[Key, Event] = {}
        self.pages = Paged("unique", lambda: self.events, lambda key: values_of_key(key, len(keys)), lambda key, event: event)
        self.peak = 0

    def __iter__(self) -> Iterator[Event]:
        return iter(bucket_order(self.events, self.hash_of, self.peak))

    def drop(self, events: Sequence[Event]) -> list[Event]:
        gone = []
        for event in events:
            key = self._key_held(event)
            if self.events.get(key) is event:
                del self.events[key]
                self.pages.forget(key)
                gone.append(event)
        return gone

    def _key_held(self, event: Event) -> Key:
        """Return the key under which an event that leaves is held, searched for where it cannot be computed any more."""
        try:
            return self.key(event)
        except Exception:  # noqa: BLE001 - reported when the event came; it may be held all the same, under an earlier key
            return next((key for key, held in self.events.items() if held is event), None)

    def state(self) -> Any:
        return {"events": self.pages, "peak": self.peak}

    @takes({"events": [(ANYTHING, EVENT)], "peak": ANYTHING})
    def restore(self, state: Any) -> None:
        types = self.key_types
        self.events = {key_of_values(values, types) if types else event: event for values, event in state["events"]}
        self.peak = _check_peak(state["peak"])


def _check_peak(value: Any) -> int:
    """Raise ValueError for what no window can have held: the order of iteration takes steps by it."""
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError("a number of keys is expected")
    return value


class UniqueView(KeyedView):
    """See Unique."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        events, failures = self.events, Failures()
        gone = []
        let_in = []
        for event, key in pair_keys(new, self.key, failures):
            before = events.get(key)
            if before is not None:
                gone.append(before)
            events[key] = event
            self.pages.touch(key)
            let_in.append(event)
        if len(events) > self.peak:  # before those leave that an update replaces
            self.peak = len(events)
        if old:
            gone += self.drop(old)
        if let_in or gone:
            failures.attempt(self.child.update, let_in, gone)
        failures.settle()


class FirstUniqueView(KeyedView):
    """See FirstUnique."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        events, failures = self.events, Failures()
        gone = self.drop(old) if old else old
        let_in = []
        for event, key in pair_keys(new, self.key, failures):
            if key not in events:
                events[key] = event
                self.pages.touch(key)
                let_in.append(event)
        if len(events) > self.peak:
            self.peak = len(events)
        if let_in or gone:
            failures.attempt(self.child.update, let_in, gone)
        failures.settle()
