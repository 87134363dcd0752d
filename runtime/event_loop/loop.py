"""The engine without its face: clock, schedule, filters, work queue, delivery.

One event: all filters are evaluated → it is delivered to each statement that matches → what they emit is delivered to listeners → events
routed meanwhile (insert into) are processed the same way, first come first served. Time works the same with timers in place of filters.
"""
from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.settings import Settings
from runtime.clock.schedule import Clock, Schedule, ScheduledTimer
from runtime.conversion.undeclared import build_check
from runtime.event_loop.cause import ProcessingPosition
from runtime.event_loop.delivery import Delivery, MatchStates, RowCounts
from runtime.event_loop.dispatch import dispatcher, intake
from runtime.event_loop.filter_index import FilterIndex, Receiver
from runtime.event_loop.handle_order import HandleOrder
from runtime.event_loop.receiver_order import Places
from runtime.event_loop.routed_events import Instant, RoutedEvents
from runtime.event_loop.store_deltas import INTO_WINDOW, StoreDeltas
from runtime.event_loop.stream_updates import EventUpdates
from windows.event import Event
from windows.paging import Paged

log = logging.getLogger("epl")

ErrorHandler = Callable[[BaseException, str, Event | None], None]
"""handler(error, statement name, event or None for a timer or a listener)."""


class AfterTimers(Protocol):
    """What gathers the deltas of several timers of a statement: a join, or windows whose rows are sorted."""

    name: str

    def release(self) -> object:
        """Process what was gathered."""


def log_error(error: BaseException, statement: str, event: Event | None) -> None:
    """Log an error, as the default handler: the event is lost to that statement alone, and the log says so."""
    while_ = "in a listener or at a timer" if event is None else f"while processing {event}"
    log.error("statement %r: %s, %s", statement, error, while_, exc_info=error)


class OrderedReceiver(Protocol):
    """What gets events for a statement: ``order`` holds its number. ``partition``: of the instance, where there are several."""

    @property
    def order(self) -> Places: ...


class EndOfInput(Protocol):
    """What has rows that wait. ``counts``: how many, and how many were dropped."""

    def counts(self) -> RowCounts: ...


PLAIN = (0, False)
"""The priority of what has none, and that it does not drop."""


class Receives(Protocol):
    """What takes events."""

    @property
    def name(self) -> str: ...

    def receive(self, event: Event) -> None: ...


class LoopMeasure(Protocol):
    """What an event loop that is measured offers to its statements."""

    def of(self, number: int) -> Any:
        """Return the counts of the statement of a number; its ``listener`` counts rows."""

    def forget(self, number: int) -> None: ...


class EventLoop:
    """Shared by all statements of a runtime; used under its lock only."""

    def __init__(
        self, settings: Settings, start_time: int, on_error: ErrorHandler = log_error, on_listener_error: ErrorHandler | None = None
    ) -> None:
        self.settings = settings
        self.clock = Clock(start_time)
        self.schedule = Schedule()
        self.partition_pages: dict[int, Paged] = {}
        """The instances of statements of contexts, by the number of the statement: they note which of them may have changed."""
        self.handles = HandleOrder(self.partition_pages, prioritized=settings.prioritized)
        self.filters = FilterIndex(on_error, self.forget_generated_code, self.handles)
        self.updates = EventUpdates(self.forget_generated)
        self.on_error = on_error
        self.on_listener_error = on_listener_error or on_error
        """Called with what listeners raise: their faults are not the engine's."""
        self.has_sender = True
        """Whether a caller waits for what becomes of an event."""
        self.begun = 0
        """How many batches have begun to have effects: whether one that was refused had any."""
        self.records_causes = False
        """Whether a batch listener needs causes: the batch tier numbers its calls then."""
        self.is_observed = False
        """Whether anything looks at its events (runtime.event_loop.observed)."""
        self.match_states = MatchStates(settings.max_states, settings.max_states_prevent_start)
        self.subexpressions = MatchStates(
            settings.max_subexpressions, settings.max_subexpressions_prevent_start, "subexpressions", settings.max_statement_subexpressions)
        self.queue: deque[tuple[Any, EventType | None, int]] = deque()
        """Routed events, their streams and precedence; without a stream: named windows have changed."""
        self.routed = RoutedEvents(settings.max_routed)
        self.instant = Instant(settings.max_routed)
        self.store_deltas = StoreDeltas(self.queue, on_error, self.routed)
        self.stores: dict[EventType, Any] = {}
        """The rows of named windows (runtime.stores.named_window), by their event types."""
        self.contexts: dict[Any, Any] = {}
        """The contexts (runtime.context.tree), by what declares them."""
        self.context_listeners: Sequence[Callable[[Any], object]] = ()
        """Called when one is created or destroyed."""
        self.statements: list[int] = []
        """The numbers of the deployed statements, ascending."""
        self.priorities: dict[int, tuple[int, bool]] = {}
        """(-priority, whether what it gets goes no further) of statements, by number, where execution is prioritized."""
        self.pending: dict[Delivery, None] = {}
        """What has something to deliver once all statements have had the event."""
        self._ends_turns = False
        self.dispatchers: dict[EventType, Callable[[Event], None]] = {}
        self.intakes: dict[str | EventType, Callable[[dict[str, Any]], None]] = {}
        """What takes a user's dict, by the type as sent. Both are generated (runtime.event_loop.dispatch)."""
        self.check_names = build_check(settings.unknown_properties)
        """What is done with undeclared properties of events from outside."""
        self._intake_types: dict[str | EventType, EventType] = {}
        self.span_stops = 0
        self.busy = False
        self.changed_statements: set[int] | None = None
        """Numbers of the statements that may have changed since changed pages were last asked for; None until they are."""
        self.position = ProcessingPosition()
        self.at_end_of_input: dict[EndOfInput, tuple[int, str, Callable[[], None]]] = {}
        """What emits, when the input has ended, what waits for rows that do not come: by its owner the number and name of the statement,
        and what is called."""
        self.measured: LoopMeasure | None = None
        """What counts by statement (runtime.event_loop.measured)."""
        self.after_timers: dict[AfterTimers, None] | None = None
        """While timers run: what is to be released when all that are due have run."""

    def forget_statement(self, number: int) -> None:
        """Forget a statement that is undeployed."""
        self.statements.remove(number)
        self.priorities.pop(number, None)
        self.handles.followers.discard(number)

    # ------------------------------------------------------------------ events

    def process(self, event: Event) -> None:
        """Process one event from outside, with all that follows from it."""
        outer, self.busy = self.busy, True
        try:
            if self.updates.active:
                self._update_and_process(event)
            else:
                self._process_one(event, event.type)
            self.work()
        finally:
            self.busy = outer

    def _update_and_process(self, event: Event) -> None:
        """Process the event as update istream statements change it; their listeners are notified even where no other statement gets it."""
        updated = self.updates.apply(event, event.type)
        if updated is not None:
            self._process_one(updated, updated.type)
        self.flush()

    def _process_one(self, event: Event, stream_type: EventType) -> None:
        dispatch = self.dispatchers.get(stream_type)
        if dispatch is None:
            dispatch = self.dispatchers[stream_type] = dispatcher(self._names(), self.filters.indexes(stream_type), stream_type)
        dispatch(event)

    def make_intake(self, sent_as: str | EventType, event_type: EventType) -> Callable[[dict[str, Any]], None]:
        """Generate what takes a user's dict as an event of the type, which is named so or given itself."""
        take = self.intakes[sent_as] = intake(
            self._names(), self.filters.indexes(event_type), event_type,
            check=self.check_names, updated=self.updates.active,
        )
        self._intake_types[sent_as] = event_type
        return take

    def _names(self) -> dict[str, Any]:
        """Return what generated code may use (runtime.event_loop.dispatch)."""
        return {
            "core": self, "pending": self.pending, "queue": self.queue, "flush": self.flush, "work": self.work, "deliver": self.deliver,
            "deliver_alone": self.deliver_alone, "match_and_deliver": self.match_and_deliver, "process_again": self.process_again,
            "note_receivers": self.note_receivers, "on_error": self.on_error,
        }

    def deliver(self, receivers: list[Receiver], event: Event) -> None:
        """Deliver the event to the receivers, then flush."""
        if self.changed_statements is not None:
            self.note_receivers(receivers)
        for receiver in receivers:
            try:
                receiver.receive(event)
            except Exception as error:  # noqa: BLE001 - law 6: one statement's fault harms no other; the handler is called
                self.on_error(error, receiver.name, event)
            if receiver.drop:
                break
        self.flush()

    def note_changed(self, statement: int, partition: int | None) -> None:
        """Note that the state of a statement may change; of one of a context that of a partition, of all where None is given."""
        if self.changed_statements is None:
            return
        self.changed_statements.add(statement)
        pages = self.partition_pages.get(statement)
        if pages is not None and pages.touched is not None:
            pages.touched.update(dict.fromkeys(pages.entries()) if partition is None else {partition: None})

    def note_receivers(self, receivers: Sequence[OrderedReceiver]) -> None:
        """Note that the statements of receivers may change."""
        if self.changed_statements is None:
            return
        self.changed_statements.update([receiver.order[2] for receiver in receivers])
        if self.partition_pages:
            for receiver in receivers:
                if receiver.order[2] in self.partition_pages:
                    self.note_changed(receiver.order[2], getattr(receiver, "partition", None))

    def match_and_deliver(self, event: Event, stream_type: EventType) -> None:
        """Process an event of which a condition has failed: asked entry by entry, so that this harms its own statement only."""
        receivers = self.filters.match(event, stream_type)
        if receivers:
            self.deliver(receivers, event)

    def process_again(self, event: Event) -> None:
        """Process an event of which a condition has failed."""
        outer, self.busy = self.busy, True
        try:
            self.match_and_deliver(event, event.type)
            self.work()
        finally:
            self.busy = outer

    def settle(self) -> None:
        """Deliver and process what waits; nothing while an event is processed, which does it in the end."""
        if self.busy or not (self.pending or self.queue):
            return
        self.busy = True
        try:
            self.flush()
            self.work()
        finally:
            self.busy = False

    def deliver_alone(self, receiver: Receiver, event: Event) -> None:
        """Process an event that only one receiver matches."""
        outer, self.busy = self.busy, True
        try:
            self.deliver([receiver], event)
            self.work()
        finally:
            self.busy = outer

    def forget_generated(self) -> None:
        """Discard all generated code; each function is generated again when the next event needs it."""
        self.dispatchers.clear()
        self.intakes.clear()
        self._intake_types.clear()

    def forget_generated_code(self, event_type: EventType) -> None:
        """Discard the code that was generated for events of the type and of its sub-types."""
        for each in [each for each in self.dispatchers if each.is_a(event_type)]:
            del self.dispatchers[each]
        for sent_as in [sent_as for sent_as, each in self._intake_types.items() if each.is_a(event_type)]:
            del self.intakes[sent_as], self._intake_types[sent_as]

    def deliver_to_statements(self, event: Event, numbers: set[int]) -> None:
        """Deliver to the receivers of the statements of these numbers; the flush follows with that of the others."""
        for receiver in self.filters.match(event, event.type):
            if receiver.order[2] in numbers:
                self.deliver_one(receiver, event)

    def deliver_one(self, receiver: Receives, event: Event) -> None:
        """Deliver to one receiver; the flush follows."""
        try:
            receiver.receive(event)
        except Exception as error:  # noqa: BLE001 - law 6
            self.on_error(error, receiver.name, event)

    def route(self, event: Event, stream_type: EventType, precedence: int = 0, statement: str | None = None) -> None:
        """Process an event that a statement or listener emits when the current one is done, those of higher precedence first.

        ``stream_type``: the stream it goes into, its own type or (insert into a variant stream or super-type) another one. ``statement``:
        which emits it; the error handler is called with it where the event is beyond ``max_routed``. A listener gets the error itself.
        """
        if not self.routed.take(event, statement):
            if self.routed.is_exhausted:
                self._drop_waiting(str(statement))
            return
        if self.updates.active:
            updated = self.updates.apply(event, stream_type)
            if updated is None:
                return
            event = updated
        queue = self.queue
        place = len(queue)
        while place and queue[place - 1][2] < precedence:
            place -= 1
        queue.insert(place, (event, stream_type, precedence))

    def _drop_waiting(self, statement: str) -> None:
        """Drop the events that wait; what windows have to deliver stays."""
        kept = [entry for entry in self.queue if entry[1] is None]
        if len(kept) < len(self.queue):
            self.routed.drop(len(self.queue) - len(kept), statement)
            self.queue.clear()
            self.queue.extend(kept)

    @property
    def waiting(self) -> int:
        """How many routed events wait."""
        return len(self.queue)

    def work(self) -> None:
        """Process what has been routed, first come first served."""
        queue, routed = self.queue, self.routed
        outer = routed.begin()
        begun = False
        try:
            while queue:
                event, stream_type, precedence = queue.popleft()
                if stream_type is None and not begun and queue and queue[0][2] >= INTO_WINDOW:
                    queue[0], (event, stream_type, _) = (event, stream_type, precedence), queue[0]
                if stream_type is None:
                    self._deliver_deltas()
                else:
                    self._process_one(event, stream_type)
                begun = True
        finally:
            routed.end(outer)
        if (routed.refused or routed.unchanged) and not outer:
            for error, statement, event in routed.faults():
                self.on_error(error, statement, event)

    def _deliver_deltas(self) -> None:
        """Deliver them, then those that on-statements triggered by named windows cause meanwhile; listeners get all in one call."""
        queue = self.queue
        while True:
            consumers = self.store_deltas.deliver()
            if self.changed_statements is not None:
                self.note_receivers(consumers)
            if not queue or queue[0][1] is not None:
                break
            queue.popleft()
        self.flush()

    # ------------------------------------------------------------------ time

    def advance(self, now: int) -> None:
        """Jump: set the clock, then run each due timer once."""
        self.clock.now = now
        heap = self.schedule.heap
        if heap and heap[0][0] <= now:
            self.run_due(now)

    def run_due(self, now: int) -> None:
        """Run the timers that are due, each once; there is an entry that is due."""
        schedule = self.schedule
        alone = None if self.pending else schedule.take_only(now)
        due: Sequence[ScheduledTimer] = schedule.take_due(now) if alone is None else ()
        outer, self.busy, at = self.busy, True, self.position
        place = at.place
        if not outer:
            at.place = None
        if self.changed_statements is not None:
            for each in due if alone is None else (alone,):
                self.note_changed(each.order[0], each.order[1])
        try:
            if alone is not None:  # most often so
                try:
                    alone.alone()  # type: ignore[misc]  # take_only gives those that have it
                except Exception as error:  # noqa: BLE001 - law 6
                    self.on_error(error, str(alone.owner), None)
            if due:
                self._run_all(due)
            if self.pending:
                self.flush()
            if self.queue:
                self.work()
        finally:
            self.busy = outer
            at.place = place

    def _run_all(self, due: Sequence[ScheduledTimer]) -> None:
        """Run the timers, then release what joins have gathered of them."""
        if len(due) > 1:
            due = self.handles.timers(due)
        if self.priorities:
            due = self._prioritize(due)
        outer, self.after_timers = self.after_timers, {}
        schedule = self.schedule
        around, schedule.ended = schedule.ended, set()
        ended = schedule.ended
        try:
            for each in due:
                if ended and each.order[:2] in ended:
                    continue
                try:
                    each.callback()
                except Exception as error:  # noqa: BLE001 - law 6
                    self.on_error(error, str(each.owner), None)
        finally:
            gathered, self.after_timers = self.after_timers, outer
            schedule.ended = around
        for join in gathered:
            try:
                join.release()
            except Exception as error:  # noqa: BLE001 - law 6
                self.on_error(error, join.name, None)

    def _prioritize(self, due: Sequence[ScheduledTimer]) -> Sequence[ScheduledTimer]:
        """Return the timers by priority, up to those of the first statement with ``@drop``: the others are lost, as in Esper."""
        ordered = sorted(due, key=lambda timer: self.priorities.get(timer.order[0], PLAIN)[0])
        last = next((timer.order[0] for timer in ordered if self.priorities.get(timer.order[0], PLAIN)[1]), None)
        if last is None:
            return ordered
        end = max(place for place, timer in enumerate(ordered, 1) if timer.order[0] == last)
        return [timer for place, timer in enumerate(ordered, 1) if place <= end]

    def end_input(self) -> None:
        """Emit what waits for a row or a time that does not come, with all that follows from it."""
        outer, self.busy = self.busy, True
        try:
            for number, name, finish in tuple(self.at_end_of_input.values()):
                if self.changed_statements is not None:
                    self.changed_statements.add(number)
                try:
                    finish()
                except Exception as error:  # noqa: BLE001 - law 6
                    self.on_error(error, name, None)
                self.flush()
                self.work()
        finally:
            self.busy = outer

    def advance_span(self, target: int, resolution: int | None = None, max_stops: int | None = None) -> None:
        """Walk: stop at every due time on the way (at multiples of ``resolution`` from now where one is given).

        ``max_stops``: EplRuntimeError where there are more of them on the way; the clock is then at the last. ``span_stops`` counts all
        of them.
        """
        if resolution is not None and resolution > 0:
            self._walk(target, resolution)
            return
        stops = 0
        while True:
            nearest = self.schedule.nearest()
            if nearest is None or nearest >= target:
                break
            if stops == max_stops:
                raise EplRuntimeError(
                    f"Time cannot move by span to {target}: more than {max_stops} timers are due on the way, "
                    f"the clock is at {self.clock.now}"
                )
            now = max(nearest, self.clock.now)
            if not self.instant.stop(now):
                self._drop_due(now)
                continue
            self.advance(now)
            stops += 1
        self.span_stops += stops
        self.advance(target)

    def _drop_due(self, now: int) -> None:
        """Cancel the timers that are due again at an instant at which time has stopped too often; one error for each statement."""
        timers = Counter(str(timer.owner) for timer in self.schedule.take_due(now))
        for owner, number in timers.items():
            self.on_error(self.instant.error(number), owner, None)

    def _walk(self, target: int, resolution: int) -> None:
        while self.clock.now < target:
            nearest = self.schedule.nearest()
            if nearest is None:
                break
            steps = max(1, -(-(nearest - self.clock.now) // resolution))
            self.advance(min(self.clock.now + steps * resolution, target))
        if self.clock.now < target:
            self.advance(target)

    # ------------------------------------------------------------------ delivery

    def end_turns(self) -> None:
        """Deliver what has waited only until its instance had the event: that is to come once more. What waits so until the flush is then
        delivered before what statements have emitted."""
        self._ends_turns = True
        for delivery in [each for each in self.pending if each.ends_turn]:
            del self.pending[delivery]
            try:
                delivery.deliver()
            except Exception as error:  # noqa: BLE001 - as below
                self.on_error(error, delivery.name, None)

    def flush(self) -> None:
        """Deliver; what listeners send meanwhile is delivered by their own sends."""
        pending = self.pending
        while pending:
            if len(pending) == 1:  # most often so
                delivery, _ = pending.popitem()
                try:
                    delivery.deliver()
                except Exception as error:  # noqa: BLE001 - as below
                    self.on_error(error, delivery.name, None)
                continue
            if self._ends_turns:
                self.end_turns()
                self._ends_turns = False
            waiting = tuple(pending)
            pending.clear()
            for delivery in waiting:
                try:
                    delivery.deliver()
                except Exception as error:  # noqa: BLE001 - law 6: an expression of grouped delivery harms no other statement
                    self.on_error(error, delivery.name, None)
