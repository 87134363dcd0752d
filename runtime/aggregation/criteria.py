"""sorted, minby, maxby and their …ever forms: events in the order of sort criteria."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from epl.collation import collation_key
from epl.value_types import STRING, Scalar, ValueType, is_numeric
from epl.zeros import sort_value
from runtime.aggregation.sorted_bag import SortedBag
from windows.event import Event, only_events
from windows.shape import ANYTHING, COUNT, EVENT, optional, takes

Row = Any
Key = Any
MakeKey = Callable[[Sequence[Any]], Key]
WHOLE = ("byte", "short", "int", "long", "String", "char", "boolean")
"""Types of which each value equals itself alone."""
NULL_KEY = (0,)
NAN_KEY = (2,)


class Descending:
    """A value that sorts the other way round, for types that cannot be negated."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Descending) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


def key_part(value_type: ValueType, descending: bool, collated: bool = False) -> Callable[[Any], Any]:
    """Return the function value → something that sorts as Esper sorts it: ascending nulls first, -0.0 before 0.0 and NaN last; descending
    the other way round. ``collated``: texts sort as a collator has them.
    """
    if collated and value_type == STRING:
        if descending:
            return lambda v: NAN_KEY if v is None else (1, Descending(collation_key(v)))
        return lambda v: NULL_KEY if v is None else (1, collation_key(v))
    if not descending:
        if isinstance(value_type, Scalar) and value_type.kind in WHOLE:
            return lambda v: NULL_KEY if v is None else (1, v)
        return lambda v: NULL_KEY if v is None else ((1, v or sort_value(v)) if v == v else NAN_KEY)
    if is_numeric(value_type):
        return lambda v: NAN_KEY if v is None else ((1, -v or sort_value(-v)) if v == v else NULL_KEY)
    return lambda v: NAN_KEY if v is None else (1, Descending(v))


def key_maker(types: Sequence[ValueType], descending: Sequence[bool], collated: bool = False) -> MakeKey:
    """Return the function values of the criteria → sort key."""
    parts = [key_part(t, d, collated) for t, d in zip(types, descending)]
    if len(parts) == 1:
        only = parts[0]
        return lambda values: only(values[0])
    return lambda values: tuple([part(v) for part, v in zip(parts, values)])


class Ranked:
    """The events of one stream of a group by sort key, then order of arrival; shared by sorted, minby and maxby of the same criteria."""

    __slots__ = ("event_of", "criteria", "make_key", "bag", "entries", "by_number", "next_number")

    def __init__(self, event_of: Callable[[Row], Event | None], criteria: Callable[[Row], Sequence[Any]], make_key: MakeKey) -> None:
        self.event_of = event_of
        self.criteria = criteria
        self.make_key = make_key
        self.clear()

    def enter(self, row: Row) -> None:
        event = self.event_of(row)
        if event is None:
            return
        entry = self.entries.get(id(event))
        if entry is not None:
            entry[2] += 1
            return
        values = tuple(self.criteria(row))
        number = self.next_number
        self.next_number += 1
        key = self.make_key(values)
        self.entries[id(event)] = [key, number, 1, event, values]
        self.by_number[number] = self.entries[id(event)]
        self.bag.add((key, number))

    def leave(self, row: Row) -> None:
        event = self.event_of(row)
        entry = self.entries.get(id(event))
        if entry is None:
            return
        entry[2] -= 1
        if not entry[2]:
            del self.entries[id(event)], self.by_number[entry[1]]
            self.bag.remove((entry[0], entry[1]))

    def smallest(self) -> Event | None:
        """Return, of the smallest key, the event that came first."""
        return self._event(self.bag.first()) if self.bag else None

    def largest(self) -> Event | None:
        """Return, of the largest key, the event that came first."""
        if not self.bag:
            return None
        return self._event(next(self.bag.from_value((self.bag.last()[0],))))

    def events(self) -> Iterator[Event]:
        return (self._event(pair) for pair in self.bag)

    def _event(self, pair: Any) -> Event:
        event: Event = self.by_number[pair[1]][3]
        return event

    def clear(self) -> None:
        self.bag = SortedBag()
        self.entries: dict[int, list[Any]] = {}
        self.by_number: dict[int, list[Any]] = {}
        self.next_number = 0

    def state(self) -> Any:
        ordered = [self.by_number[number] for number in sorted(self.by_number)]
        return [[entry[3], list(entry[4]), entry[2]] for entry in ordered]

    @takes([(EVENT, [ANYTHING], COUNT)])
    def restore(self, state: Any) -> None:
        self.clear()
        for event, values, count in state:
            number = self.next_number
            self.next_number += 1
            key = self.make_key(values)
            self.entries[id(event)] = self.by_number[number] = [key, number, count, event, tuple(values)]
        only_events(entry[3] for entry in self.entries.values())
        self.bag = SortedBag((entry[0], number) for number, entry in self.by_number.items())


class SmallestOrLargest:
    """``minby(k)``, ``maxby(k)``: among equals the event that came first."""

    __slots__ = ("ranked", "last")

    def __init__(self, ranked: Ranked, last: bool) -> None:
        self.ranked = ranked
        self.last = last

    def value(self) -> Event | None:
        return self.ranked.largest() if self.last else self.ranked.smallest()


class BestEver:
    """``minbyever(k)``, ``maxbyever(k)``, and minby and maxby of a stream that nothing leaves.

    ``forget_null``: an event whose only criterion is null gives way to whatever comes next, as Esper's …ever functions do.
    """

    __slots__ = ("event_of", "criteria", "make_key", "last", "forget_null", "key", "values", "event")

    def __init__(
        self,
        event_of: Callable[[Row], Event | None],
        criteria: Callable[[Row], Sequence[Any]],
        make_key: MakeKey,
        last: bool,
        forget_null: bool,
    ) -> None:
        self.event_of = event_of
        self.criteria = criteria
        self.make_key = make_key
        self.last = last
        self.forget_null = forget_null
        self.event: Event | None = None
        self.values: tuple[Any, ...] = ()
        self.key: Key = None

    def enter(self, row: Row) -> None:
        event = self.event_of(row)
        if event is None:
            return
        values = tuple(self.criteria(row))
        key = self.make_key(values)
        if self.event is not None and not (self.forget_null and self.values == (None,)):
            better = self.key < key if self.last else key < self.key
            if not better:
                return
        self.event, self.values, self.key = event, values, key

    def leave(self, row: Row) -> None:
        pass

    def value(self) -> Event | None:
        return self.event

    def clear(self) -> None:
        self.event, self.values, self.key = None, (), None

    def state(self) -> Any:
        return [self.event, list(self.values)]

    @takes((optional(EVENT), [ANYTHING]))
    def restore(self, state: Any) -> None:
        self.event, values = state
        self.values = tuple(values)
        self.key = self.make_key(self.values) if self.event is not None else None
