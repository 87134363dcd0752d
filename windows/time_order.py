"""``time_order(timestamp, period)`` and ``timetolive(timestamp)``: events sorted by their own time, which leave by the clock."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import Locality, WindowArgument, WindowConfig, WindowRefused
from epl.value_types import is_numeric
from windows.event import NO_EVENTS, Event
from windows.failures import Failures, pair_keys
from windows.keys import may_change
from windows.parameters import Duration, duration_argument, is_literal, is_scalar
from windows.protocol import BuildContext, View
from windows.shape import ANYTHING, DUE, EVENT, TIME, takes

__all__ = ["TimeOrder", "TimeOrderView", "TimeToLive"]


@attrs.frozen
class TimeOrder(WindowConfig):
    """Orders events by ``timestamp``. Each expires when engine time is ``period`` after its timestamp; one that arrives later expires at
    once.

    ::

        time_order(ts, 10 sec)   t=20: E1(ts=20)   t=21: E2(ts=15)   t=25    t=30   E3(ts=4)
        contents                 1                 2 1               1
        new                      E1                E2                -       -      E3
        old                      -                 -                 E2      E1     E3
    """

    names = ("time_order",)
    passes_nothing = True
    reads_whole_events = False
    namespace = "ext"
    title = "Time-Order"
    answers_previous = True

    timestamp: TypedExpression
    period: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> TimeOrder:
        message = (
            "Time-Order view requires the expression supplying timestamp values, and a numeric or time period parameter for interval size"
        )
        if len(arguments) != 2 or arguments[0].typed is None or not is_numeric(arguments[0].typed.type):
            raise WindowRefused(message, whole=True)
        return cls(arguments[0].typed, duration_argument(arguments[1], 1, cls.title, message, whole=True))

    @property
    def locality(self) -> Locality:
        return Locality()

    def build(self, context: BuildContext) -> TimeOrderView:
        return TimeOrderView(self.timestamp, Duration(context, self.period), context)


@attrs.frozen
class TimeToLive(WindowConfig):
    """Orders events by ``timestamp``. Each expires when engine time reaches its timestamp; one that arrives later expires at once.

    ::

        timetolive(ts)    t=0: E1(ts=9)   E2(ts=5)   t=5   t=9
        contents          1               2 1        1
        new               E1              E2         -     -
        old               -               -          E2    E1
    """

    names = ("timetolive",)
    passes_nothing = True
    reads_whole_events = False
    namespace = "ext"
    title = "Time-To-Live"
    answers_previous = True

    timestamp: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> TimeToLive:
        message = "Time-To-Live view requires a single expression supplying long-type timestamp values as a parameter"
        if len(arguments) != 1 or arguments[0].typed is None or not is_scalar(arguments[0].typed.type, "long") or is_literal(arguments[0]):
            raise WindowRefused(message, whole=True)
        return cls(arguments[0].typed)

    @property
    def locality(self) -> Locality:
        return Locality()

    def build(self, context: BuildContext) -> TimeOrderView:
        return TimeOrderView(self.timestamp, None, context)


class TimeOrderView(View):
    """See TimeOrder and TimeToLive (no duration).

    ``buckets``: events by timestamp, in order of arrival; ``order``: a heap of the timestamps (some of them of buckets that are gone);
    ``times``: the timestamp of each event held, where it may be another one when the event leaves (it reads the clock, a variable).
    prev counts in the order of timestamps, earliest first.
    """

    may_refuse = True

    def __init__(self, timestamp: TypedExpression, duration: Duration | None, context: BuildContext) -> None:
        self.timestamp = context.evaluator(timestamp)
        self.duration = duration
        self.now = context.now
        self.buckets: dict[int, dict[Event, None]] = {}
        self.order: list[int] = []
        self.times: dict[Event, int] | None = {} if may_change((timestamp,)) else None
        self.size = 0
        self._sorted: list[Event] | None = None
        self.timer = context.timer(self.expire)
        context.publish_random_access(self)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._in_order())

    def _in_order(self) -> list[Event]:
        if self._sorted is None:
            self._sorted = [event for at in sorted(self.buckets) for event in self.buckets[at]]
        return self._sorted

    def _limit(self) -> int:
        return self.now() if self.duration is None else self.duration.before(self.now())

    def _earliest(self) -> int | None:
        while self.order and self.order[0] not in self.buckets:
            heappop(self.order)
        return self.order[0] if self.order else None

    def _schedule(self) -> None:
        earliest = self._earliest()
        if earliest is None:
            self.timer.cancel()
            return
        due = earliest if self.duration is None else self.duration.after(earliest)
        if self.timer.due != due:
            self.timer.set(due)

    def drop(self, events: Sequence[Event]) -> list[Event]:
        gone = []
        for event in events:
            at = self._time_held(event)
            bucket = None if at is None else self.buckets.get(at)
            if at is not None and bucket is not None and event in bucket:
                del bucket[event]
                self._forget((event,))
                self.size -= 1
                gone.append(event)
                if not bucket:
                    del self.buckets[at]
        return gone

    def _forget(self, events: Iterable[Event]) -> None:
        if self.times is not None:
            for event in events:
                self.times.pop(event, None)

    def _time_held(self, event: Event) -> int | None:
        """Return the timestamp under which an event that leaves is held, searched for where it cannot be computed any more."""
        if self.times is not None:
            return self.times.get(event)
        try:
            return int(self.timestamp(event) or 0)
        except Exception:  # noqa: BLE001 - reported when the event came; it may be held all the same
            return next((at for at, bucket in self.buckets.items() if event in bucket), 0)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        failures = Failures()
        self._sorted = None
        gone = self.drop(old) if old else []
        limit = self._limit()
        let_in = []
        for event, timestamp in pair_keys(new, self.timestamp, failures):
            at = int(timestamp or 0)
            let_in.append(event)
            if at <= limit:
                gone.append(event)
                continue
            bucket = self.buckets.get(at)
            if bucket is None:
                bucket = self.buckets[at] = {}
                heappush(self.order, at)
            bucket[event] = None
            if self.times is not None:
                self.times[event] = at
            self.size += 1
        self._schedule()
        if let_in or gone:
            failures.attempt(self.child.update, let_in, gone)
        failures.settle()

    def expire(self) -> None:
        """Evict, as the timer asks, what is due."""
        limit = self._limit()
        gone: list[Event] = []
        while (earliest := self._earliest()) is not None and earliest <= limit:
            gone.extend(self.buckets.pop(earliest))
        self._forget(gone)
        self.size -= len(gone)
        self._sorted = None
        self._schedule()
        if gone:
            self.child.update(NO_EVENTS, gone)

    def previous(self, event: Event, index: int) -> Event | None:
        return self._in_order()[index] if 0 <= index < self.size else None

    def from_tail(self, event: Event, index: int) -> Event | None:
        return self._in_order()[-1 - index] if 0 <= index < self.size else None

    def count(self, event: Event, insert_stream: bool) -> int | None:
        return self.size if insert_stream else None

    def window(self, event: Event) -> Iterable[Event] | None:
        return islice(self._in_order(), None) if self.size else None

    def state(self) -> Any:
        duration = None if self.duration is None else self.duration.state()
        return {"events": [[at, list(bucket)] for at, bucket in self.buckets.items()], "duration": duration, "due": self.timer.due}

    @takes({"events": [(TIME, [EVENT])], "duration": ANYTHING, "due": DUE})
    def restore(self, state: Any) -> None:
        if self.duration is not None:
            self.duration.restore(state["duration"])
        self.buckets = {at: dict.fromkeys(events) for at, events in state["events"]}
        if self.times is not None:
            self.times = {event: at for at, events in self.buckets.items() for event in events}
        self.order = list(self.buckets)
        heapify(self.order)
        self.size = sum(map(len, self.buckets.values()))
        self._sorted = None
        self.timer.cancel()
        if state["due"] is not None:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
