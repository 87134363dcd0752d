"""Count what each statement does: events, timers, rows, and the time that they take. An event loop that is not measured pays nothing for
it: the methods that count are attributes of the one that is."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

import attrs

from epl.event_types import EventType
from runtime.event_loop.filter_index import Receiver
from runtime.event_loop.loop import EventLoop
from windows.event import Event


@attrs.define
class StatementCounts:
    """Of one statement: events and changes of named windows that reached it, timers that ran, rows of its insert and remove stream, and
    the nanoseconds that its operators took. Filters and listeners are not part of them."""

    events: int = 0
    timers: int = 0
    new_rows: int = 0
    old_rows: int = 0
    nanoseconds: int = 0

    def listener(self, new: Sequence[Any], old: Sequence[Any], statement: Any, runtime: Any) -> None:
        """Count the rows of a listener call."""
        self.new_rows += len(new)
        self.old_rows += len(old)


class Measured:
    """The counts of an event loop's statements, by their numbers, from the moment it is made."""

    def __init__(self, core: EventLoop, event_of: Callable[[str | EventType, Any], Event]) -> None:
        self.counts: dict[int, StatementCounts] = {}
        self._core = core
        core.measured = self
        self._replace(event_of)
        core.forget_generated()

    def of(self, number: int) -> StatementCounts:
        """Return the counts of the statement of a number."""
        counts = self.counts.get(number)
        if counts is None:
            counts = self.counts[number] = StatementCounts()
        return counts

    def forget(self, number: int) -> None:
        """Forget a statement that is undeployed."""
        self.counts.pop(number, None)

    def _replace(self, event_of: Callable[[str | EventType, Any], Event]) -> None:
        core: Any = self._core
        run_due, run_all, deliver_deltas = core.run_due, core._run_all, core.store_deltas.deliver

        def make_intake(sent_as: str | EventType, event_type: EventType) -> Callable[[dict[str, Any]], None]:
            """Intakes that are generated for a type call its receivers themselves."""
            def take(values: dict[str, Any]) -> None:
                core.process(event_of(sent_as, values))

            core.intakes[sent_as] = take
            return take

        def measure_timers(now: int) -> None:
            first = core.schedule.heap[0][3]
            if first is None or first.alone is None:
                run_due(now)
                return
            alone, first.alone = first.alone, None  # it would run by itself, past what counts
            try:
                run_due(now)
            finally:
                first.alone = alone

        def measure_deltas() -> Sequence[Any]:
            deltas = core.store_deltas
            deltas._waiting = {_Consumer(consumer, self.of(consumer.order[2])): delta for consumer, delta in deltas._waiting.items()}
            return [timed.consumer for timed in deliver_deltas()]

        core.make_intake, core._process_one, core.deliver = make_intake, core.match_and_deliver, self._deliver
        core.deliver_one = self._deliver_one
        core.run_due, core.store_deltas.deliver = measure_timers, measure_deltas
        core._run_all = lambda due: run_all([_Timer(timer, self.of(timer.order[0])) for timer in due])

    def _deliver(self, receivers: list[Receiver], event: Event) -> None:
        """See ``EventLoop.deliver``."""
        core = self._core
        if core.changed_statements is not None:
            core.note_receivers(receivers)
        for receiver in receivers:
            self._deliver_one(receiver, event)
            if receiver.drop:
                break
        core.flush()

    def _deliver_one(self, receiver: Any, event: Event) -> None:
        """See ``EventLoop.deliver_one``."""
        counts = self.of(receiver.order[2])
        counts.events += getattr(receiver, "carries", 1)
        begun = perf_counter_ns()
        try:
            receiver.receive(event)
        except Exception as error:  # noqa: BLE001 - law 6: one statement's fault harms no other; the handler is called
            self._core.on_error(error, receiver.name, event)
        finally:
            counts.nanoseconds += perf_counter_ns() - begun


class _Timer:
    """A due timer whose call is counted."""

    def __init__(self, timer: Any, counts: StatementCounts) -> None:
        self.order, self.owner = timer.order, timer.owner
        self._callback, self._counts = timer.callback, counts

    def callback(self) -> None:
        self._counts.timers += 1
        begun = perf_counter_ns()
        try:
            self._callback()
        finally:
            self._counts.nanoseconds += perf_counter_ns() - begun


class _Consumer:
    """A consumer of a named window whose call is counted."""

    def __init__(self, consumer: Any, counts: StatementCounts) -> None:
        self.consumer, self._counts = consumer, counts
        self.name, self.order, self.store = consumer.name, consumer.order, consumer.store

    def take(self, new: Sequence[Event], old: Sequence[Event]) -> bool:
        self._counts.events += len(new) + len(old)
        begun = perf_counter_ns()
        try:
            return bool(self.consumer.take(new, old))
        finally:
            self._counts.nanoseconds += perf_counter_ns() - begun


__all__ = ["Measured", "StatementCounts"]
