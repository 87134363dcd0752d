"""``time(period)``: the events of the last stretch of time."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from epl.attribute_text import name_attributes, once_a_class
from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import Locality, WindowArgument, WindowConfig
from windows.event import NO_EVENTS, Event
from windows.generated_steps import WindowSteps
from windows.parameters import Duration, only_duration
from windows.protocol import BuildContext
from windows.shape import ANYTHING, DUE, takes
from windows.sliding import TimedView

__all__ = ["Time", "TimeView"]


@attrs.frozen
class Time(WindowConfig):
    """Retains the events of the last ``period``. An event expires when engine time reaches its arrival plus ``period``.

    Events leave in order of arrival: one that came at an earlier clock (a clock may be set back) waits for those before it.

    ::

        time(10 sec)   t=0: E1   t=3: E2   t=10   t=13
        contents       1         1 2       2
        new            E1        E2        -      -
        old            -         -         E1     E2
    """

    names = ("time",)
    passes_nothing = True
    reads_whole_events = False
    title = "Time"
    named_refusals = True
    answers_previous = True
    leaves_in_order = True
    evicts_by_arrival = False

    period: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Time:
        message = "Time view requires a single numeric or time period parameter"
        return cls(only_duration(arguments, cls.title, message))

    @property
    def locality(self) -> Locality:
        return Locality()

    def build(self, context: BuildContext) -> TimeView:
        return TimeView(Duration(context, self.period), context)


class TimeView(TimedView):
    """See Time. Notes each event's time of arrival; the timer is due when the oldest is to leave."""

    def __init__(self, duration: Duration, context: BuildContext) -> None:
        super().__init__(context)
        self.duration = duration
        self.now = context.now
        self.timer = context.timer(self.expire)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone = self.remove(old) if old else old
        if new:
            now = self.now()
            if not self.times:
                self.begin_window(now)
            for event in new:
                self.add_timed(event, now)
        if new or gone:
            self.child.update(new, gone)

    def begin_window(self, now: int) -> deque[int]:
        """Set the timer for the first event, which comes now, into the empty window; return ``times``."""
        self.timer.set(self.duration.after(now))
        return self.begin_times()

    def expire(self) -> None:
        """Evict, as the timer asks, what is due, and set the timer for the next."""
        gone = self.evict(self.duration.before(self.now()))
        if self.times:
            self.timer.set(self.duration.after(self.times[0]))
        if gone:
            self.child.update(NO_EVENTS, gone)

    # ------------------------------------------------------------------ in generated functions

    def steps(self) -> WindowSteps:
        expire = None if self.duration.calendar else self._expire_lines
        return WindowSteps(guards=self.rare_text(), enter=self._enter_lines, expire=expire)

    def objects(self) -> dict[str, Any]:
        return {"view": self, "timer": self.timer, "duration": self.duration}

    @once_a_class
    def _enter_lines(self, time: str) -> Sequence[str]:
        view = name_attributes("view", self)
        return (
            f"now = {time}", f"times = {view.times}", f"if not times: times = {view.begin_window}(now)", f"{view.entries}.append(e)",
            "times.append(now)",
        )

    def _expire_lines(self, conditions: Sequence[str], time: str, leave: str) -> tuple[Sequence[str], Sequence[str]]:
        times, length, oldest, popped, scheduled = self._expire_text()
        due = (
            times, length, f"limit = {time} - length", f"if {' or '.join(conditions)} or not times or times[0] > limit: {leave}",
            "next_time = times[1] if len(times) > 1 else None", f"if next_time is not None and next_time <= limit: {leave}", oldest,
        )
        return due, ("times.popleft()", popped, scheduled)

    @once_a_class
    def _expire_text(self) -> tuple[str, ...]:
        """Return the lines of ``_expire_lines`` that read the window."""
        view, timer, duration = name_attributes("view", self), name_attributes("timer", self.timer), name_attributes("duration",
            self.duration)
        return (
            f"times = {view.times}", f"length = {duration.length}", f"o = {view.entries}[0]", f"{view.entries}.popleft()",
            f"if next_time is not None: {timer.set}(next_time + length)",
        )

    def one_entering(self, receive: Callable[[Event], None]) -> Callable[[Event], None]:
        """Return ``update`` with one event, for a child that takes it by ``receive``."""
        now = self.now

        def take(event: Event) -> None:
            if self.members is not None or self.removed:
                self.update((event,), NO_EVENTS)
                return
            time, times = now(), self.times
            if not times:
                times = self.begin_window(time)
            self.entries.append(event)
            times.append(time)
            receive(event)

        return take

    def one_expiring(self, leave: Callable[[Event], None]) -> Callable[[], None]:
        """Return ``expire`` for a child that lets one event go by ``leave``; not for periods of the calendar."""
        timer, now, duration = self.timer, self.now, self.duration

        def expire() -> None:
            """Evict the event that is due; where several are due they leave together."""
            times, limit = self.times, now() - duration.length
            rare = self.members is not None or self.removed or not times
            if rare or times[0] > limit or (len(times) > 1 and times[1] <= limit):
                self.expire()
                return
            times.popleft()
            event = self.entries.popleft()
            if times:
                timer.set(times[0] + duration.length)
            leave(event)

        return expire

    def state(self) -> Any:
        return {"events": super().state(), "duration": self.duration.state(), "due": self.timer.due}

    @takes({"events": ANYTHING, "duration": ANYTHING, "due": DUE})
    def restore(self, state: Any) -> None:
        super().restore(state["events"])
        self.duration.restore(state["duration"])
        if state["due"] is not None:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
