"""match_recognize without the operators in front of it: the row goes straight to it, from no window or a time window."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from runtime.match_recognize import RowRecognition
from windows.chain import PassThrough
from windows.event import NO_EVENTS, Event
from windows.time_sliding import TimeView

if TYPE_CHECKING:
    from runtime.build import RunningSelect


def fuse_recognition(running: RunningSelect) -> None:
    """For a plan with match_recognize."""
    recognizer, view = running.recognizer, running.chain
    if not isinstance(recognizer, RowRecognition) or view.child is not recognizer or recognizer.iterate_only:
        return
    if isinstance(view, PassThrough):
        running.entry.receiver.receive = recognizer.receive  # type: ignore[method-assign]
    elif type(view) is TimeView and not view.duration.calendar:
        running.entry.receiver.receive = _entering(view, recognizer)  # type: ignore[assignment]
        view.timer.callback = _leaving(view, recognizer)  # type: ignore[attr-defined]


def _entering(view: TimeView, recognizer: RowRecognition) -> Callable[[Event], None]:
    careful, now, timer, duration, receive = view.update, view.now, view.timer, view.duration, recognizer.receive

    def take(event: Event) -> None:
        if view.members is not None or view.removed:
            careful((event,), NO_EVENTS)
            return
        time, times = now(), view.times
        if not times:
            timer.set(duration.after(time))
        view.entries.append(event)
        times.append(time)
        receive(event)

    return take


def _leaving(view: TimeView, recognizer: RowRecognition) -> Callable[[], None]:
    careful, now, timer, duration, leave = view.expire, view.now, view.timer, view.duration, recognizer.leave

    def expire() -> None:
        """One event is due, as a rule; where there are more they go together."""
        times, limit = view.times, now() - duration.length
        if view.members is not None or view.removed or not times or times[0] > limit or (len(times) > 1 and times[1] <= limit):
            careful()
            return
        times.popleft()
        event = view.entries.popleft()
        if times:
            timer.set(times[0] + duration.length)
        leave(event)

    return expire


__all__ = ["fuse_recognition"]
