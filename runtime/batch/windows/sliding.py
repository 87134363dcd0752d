"""Windows that events leave one by one, in order of arrival: the positions from ``head`` to ``tail``."""
from __future__ import annotations

import numpy as np

from epl.plan.expressions import TypedExpression
from runtime.batch.printing.expressions import ScalarPrinter, column_kind
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import Declined, NotCompilable
from runtime.batch.runs.ring import Ring
from runtime.batch.runs.run import RunContext
from runtime.batch.runs.timer_bounds import Timers
from runtime.batch.storage.arrays import ONE, RING, ArrayField, Arrays
from runtime.batch.storage.kinds import INTEGERS
from runtime.batch.windows.base import NEVER, RowPrinter, Take, Window, read_duration
from windows.ext_timed import ExtTimed
from windows.first_events import FirstLength
from windows.keepall import KeepAll
from windows.length import Length
from windows.paging import Long
from windows.protocol import State
from windows.shape import COUNT, DUE, EVENT, INTEGER, TIME, optional, takes
from windows.single_event import FirstEvent, LastEvent
from windows.time_accum import TimeAccum
from windows.time_sliding import Time


class KeepAllWindow(Window):
    config: KeepAll

    def state(self, ring: Ring) -> State:
        return Long(ring.events(ring.positions()))

    @takes([EVENT])
    def restore(self, ring: Ring, state: State) -> None:
        ring.hold(list(state))


class LengthWindow(Window):
    config: Length

    def fields(self) -> list[ArrayField]:
        return [ArrayField("size", np.int64, ONE)]

    def start(self, state: Arrays, surroundings: RunContext) -> None:
        state["size"][0] = surroundings.value(self.config.size)

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        take(code)
        code.add("oa = head")
        with code.block("if tail - head > size[0]"):
            code.add("head += 1")
        code.add("ob = head")

    def state(self, ring: Ring) -> State:
        return {"size": int(ring.arrays["size"][0]), "events": Long(ring.events(ring.positions()))}

    @takes({"size": COUNT, "events": [EVENT]})
    def restore(self, ring: Ring, state: State) -> None:
        ring.hold(list(state["events"]))
        ring.arrays["size"][0] = state["size"]


class PeriodWindow(Window):
    """Events of the last ``size`` units of time. ``w_time``: the time that each event counts from."""

    config: Time | ExtTimed

    def fields(self) -> list[ArrayField]:
        return [ArrayField("size", np.int64, ONE), ArrayField("w_time", np.int64, RING)]

    def start(self, state: Arrays, surroundings: RunContext) -> None:
        state["size"][0] = surroundings.period(self.config.period)
        if state["size"][0] <= 0:
            raise NotCompilable("a time window of no length")


class TimeWindow(PeriodWindow):
    """``w_time``: when each event came."""

    config: Time

    @property
    def due(self) -> str:
        return f"(w_time[head & mask] + size[0]) if head < tail else {NEVER}"

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        take(code)
        code.add("w_time[na & mask] = now")

    def expire(self, code: Code) -> None:
        code.add("oa = head")
        with code.block("while head < tail and w_time[head & mask] + size[0] <= now"):
            code.add("head += 1")
        code.add("ob = head", "na = tail", "nb = tail")

    def next_due(self, ring: Ring) -> int | None:
        if ring.head == ring.tail:
            return None
        return int(ring.at("w_time", ring.positions()[:1])[0] + ring.arrays["size"][0])

    def timers(self, ring: Ring) -> Timers:
        return Timers("each", int(ring.arrays["size"][0]), ring.tail - ring.head)

    def state(self, ring: Ring) -> State:
        return {"events": events_with_times(ring), "duration": int(ring.arrays["size"][0]), "due": self.next_due(ring)}

    @takes({"events": [(optional(EVENT), TIME)], "duration": INTEGER, "due": DUE})
    def restore(self, ring: Ring, state: State) -> None:
        hold_timed(ring, state["events"])
        ring.arrays["size"][0] = read_duration(state)
        if state["due"] != self.next_due(ring):
            raise Declined("a time window whose clock was set back")


class ExtTimedWindow(PeriodWindow):
    """``w_time``: each event's own time."""

    config: ExtTimed

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        take(code)
        code.add(f"at = {own_time(self.config.timestamp, printer(code))}", "w_time[na & mask] = at", "oa = head")
        code.add("edge = long_subtract(at, size[0] - 1)")
        with code.block("while head < tail and w_time[head & mask] < edge"):
            code.add("head += 1")
        code.add("ob = head")

    def state(self, ring: Ring) -> State:
        return {"duration": int(ring.arrays["size"][0]), "events": events_with_times(ring)}

    @takes({"events": [(optional(EVENT), TIME)], "duration": INTEGER})
    def restore(self, ring: Ring, state: State) -> None:
        hold_timed(ring, state["events"])
        ring.arrays["size"][0] = read_duration(state)


class LastEventWindow(Window):
    config: LastEvent

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        take(code)
        code.add("oa = head", "head = na", "ob = head")

    def state(self, ring: Ring) -> State:
        return next(iter(ring.events(ring.positions())), None)

    @takes(optional(EVENT))
    def restore(self, ring: Ring, state: State) -> None:
        ring.hold([] if state is None else [state])


class FirstEventWindow(Window):
    config: FirstEvent

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        with code.block("if head < tail"):
            code.add("i += 1", "continue")
        take(code)

    def state(self, ring: Ring) -> State:
        return next(iter(ring.events(ring.positions())), None)

    @takes(optional(EVENT))
    def restore(self, ring: Ring, state: State) -> None:
        ring.hold([] if state is None else [state])


class FirstLengthWindow(LengthWindow):
    config: FirstLength  # type: ignore[assignment]  # a size all the same

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        with code.block("if tail - head >= size[0]"):
            code.add("i += 1", "continue")
        take(code)

    def state(self, ring: Ring) -> State:
        return {"size": int(ring.arrays["size"][0]), "events": ring.events(ring.positions())}


class TimeAccumWindow(TimeWindow):
    """``w_time`` of the last event says when all leave."""

    lets_all_go = True
    config: TimeAccum  # type: ignore[assignment]  # a period all the same

    @property
    def due(self) -> str:
        return f"(w_time[(tail - 1) & mask] + size[0]) if head < tail else {NEVER}"

    def expire(self, code: Code) -> None:
        code.add("oa = head", "head = tail", "ob = head", "na = tail", "nb = tail")

    def next_due(self, ring: Ring) -> int | None:
        if ring.head == ring.tail:
            return None
        return int(ring.at("w_time", ring.positions()[-1:])[0] + ring.arrays["size"][0])


def own_time(timestamp: TypedExpression, printer: ScalarPrinter) -> str:
    """Return the text of an event's own time: null counts as 0."""
    if column_kind(timestamp.type) not in INTEGERS:
        raise NotCompilable("a timestamp that is not an integer")
    text = printer.value(timestamp)
    return f"np.int64({text.value})" if text.valid is None else f"np.int64({text.value} if {text.valid} else 0)"


def events_with_times(ring: Ring) -> State:
    """Return ``[event, time]`` in order."""
    positions = ring.positions()
    return Long([event, time] for event, time in zip(ring.events(positions), ring.at("w_time", positions).tolist()))


def hold_timed(ring: Ring, entries: State) -> None:
    entries = list(entries)
    if any(event is None for event, _ in entries):
        raise Declined("a window from whose middle events were removed")
    ring.hold([event for event, _ in entries])
    ring.put("w_time", ring.positions(), np.array([time for _, time in entries], np.int64))
