"""What a join holds of one stream."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from epl.plan.expressions import StreamProperty
from epl.plan.join.historical import HistoricalPlan, historical_plan
from epl.plan.join.joins import JoinPlan
from epl.plan.join.lookups import IndexPlan, LookupPlan
from epl.plan.streams import StreamPlan, unique_properties
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_row
from runtime.historical.stream import HistoricalStream
from runtime.result_set.hash_order import ordering
from runtime.stores.indexes import IndexedRows
from runtime.stores.lookup import LookUp, compile_lookup
from windows.event import NO_EVENTS, Event
from windows.keys import freeze
from windows.protocol import State, View

Take = Callable[[int, Sequence[Event], Sequence[Event]], None]


class JoinedStream:
    """Downstream of a stream's windows: ``rows`` is what they retain, as far as the join has taken it in.

    ``keeps``: whether there is anything to look up (not so of a stream that drives alone). ``passes``: whether events are there while they
    are joined only, since there is no data window. ``in_order``: the rows as an iterator reads
    them: in the order of the index by which the stream is looked up, as Esper does.
    """

    def __init__(self, number: int, plan: StreamPlan, join: JoinPlan, environment: Environment, take: Take) -> None:
        self.number = number
        self.rows = IndexedRows()
        self._environment, self._arity = environment, len(join.kinds) + 1
        self.keeps = number not in join.unidirectional
        self.passes = not plan.retains
        self._take = take
        last = next((window for window in reversed(plan.windows) if not window.merges), None)
        self._current: dict[Any, Event] | None = None if last is None or last.retains else {}
        """The rows of a derived-value window by their values: it emits the values that leave as a row of its own."""
        self._has_first = last is not None and last.has_first_row and not plan.windows[0].groups
        self._ordered_by_arrival = len(plan.windows) == 1 and plan.windows[0].leaves_in_order and not plan.windows[0].is_batch
        index = join.iteration_index(number)
        self.in_order = _by_arrival if index is None else _by_index(index, unique_properties(plan), environment)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take a delta of the windows."""
        current = self._current
        if current is not None:
            old = [current.pop(freeze(row.values()), row) for row in old]
            current.update((freeze(row.values()), row) for row in new)
        self._take(self.number, new, old)

    def begin(self, window: View) -> None:
        """Take what the windows hold before any event: a first row, which stays for good as in Esper."""
        if self._has_first and self.keeps:
            self.rows.update(tuple(window), NO_EVENTS)

    def apply(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Let ``rows`` be what the windows retain after a delta."""
        if self.keeps:
            self.rows.update(new, old)

    def settle(self, new: Sequence[Event]) -> None:
        """Note that the new events of a delta have been joined."""
        if self.passes:
            self.rows.update(NO_EVENTS, new)

    def contents(self) -> Iterable[Event]:
        return self.in_order(self.rows)

    def look_up(self, plan: LookupPlan) -> LookUp:
        """Return the function that finds rows of the stream for rows of the others."""
        return compile_lookup(plan, self.rows, self._environment, self._arity)

    def state(self) -> State:
        """Return the state; None where the window has the same events in the same order."""
        return None if self._ordered_by_arrival or self.passes or not self.keeps else self.rows.state()

    def restore(self, state: State, window: View) -> None:
        if self._ordered_by_arrival:
            self.rows.update(tuple(window), NO_EVENTS)
        elif state is not None and self.keeps:
            self.rows.restore(state)
        if self._current is not None:
            changing = tuple(self.rows)[1:] if self._has_first else self.rows
            self._current = {freeze(row.values()): row for row in changing}


class JoinedCall:
    """A historical stream of a join: nothing enters or leaves it, its rows are asked for."""

    passes = False

    def begin(self, window: View) -> None:
        """Do nothing: there is no window."""

    def __init__(self, number: int, plan: HistoricalPlan, environment: Environment, arity: int) -> None:
        self.number = number
        self.historical = HistoricalStream(plan, environment, arity)
        self.look_up = self.historical.look_up
        self._nothing = (None,) * arity

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Do nothing: there are no windows."""

    def apply(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Do nothing: nothing enters or leaves."""

    def settle(self, new: Sequence[Event]) -> None:
        """Do nothing: there are no events."""

    def close(self) -> None:
        """Release what the look-ups hold."""
        self.historical.close()

    def contents(self) -> Iterable[Event]:
        """Return the rows of a call whose arguments read no other stream."""
        return self.historical.rows(self._nothing)

    def state(self) -> State:
        return None

    def restore(self, state: State, window: View) -> None:
        """Do nothing: what calls return is not kept."""


Joined = JoinedStream | JoinedCall


def build_stream(number: int, plan: StreamPlan, join: JoinPlan, environment: Environment, take: Take) -> Joined:
    """Return what a join holds of a stream, or how it asks for it."""
    historical = historical_plan(plan)
    if historical is not None:
        return JoinedCall(number, historical, environment, len(join.kinds) + 1)
    return JoinedStream(number, plan, join, environment, take)


def _by_arrival(rows: Iterable[Event]) -> Iterable[Event]:
    return rows


def _by_index(index: IndexPlan, unique: frozenset[str], environment: Environment) -> Callable[[Iterable[Event]], Iterable[Event]]:
    """rows → the same by the hash of their keys as in Java, of keys in one bucket the later first; of equal keys by the sorted key.

    Where the properties ``unique`` of the window are all looked up, Esper's index has these alone. There, and where there is a sorted key,
    the earlier of the keys in one bucket is first. Esper sorts by no key that it has hashed.
    """
    if not set(index.hash).isdisjoint(index.ranges):
        index = IndexPlan(hash=index.hash)
    own = tuple(key for key in index.hash if isinstance(key, StreamProperty) and key.name in unique)
    is_unique = bool(own) and len(own) == len(unique)
    if is_unique:
        index = IndexPlan(hash=own)
    hashed, ranges = compile_row(index.hash, environment), compile_row(index.ranges, environment)
    order = ordering([key.type for key in index.hash]) if index.hash else None
    single = len(index.hash) == 1
    earlier_first = is_unique or bool(index.ranges)

    def by_range(row: Event) -> Any:
        return tuple([(value is None, value) for value in ranges(row, True, ())])

    def in_ranges(rows: Iterable[Event]) -> Iterable[Event]:
        return sorted(rows, key=by_range) if index.ranges else rows

    def in_order(rows: Iterable[Event]) -> Iterable[Event]:
        if order is None:
            return in_ranges(rows)
        buckets: dict[Any, list[Event]] = {}
        for row in rows:
            values = hashed(row, True, ())
            buckets.setdefault(freeze(values[0]) if single else freeze(values), []).append(row)
        keys = list(buckets) if earlier_first else list(buckets)[::-1]
        return [row for place in order(keys) for row in in_ranges(buckets[keys[place]])]

    return in_order


__all__ = ["Joined", "JoinedCall", "JoinedStream", "build_stream"]
