"""match_recognize without the operators in front of it: the row goes straight to it, from no window or a time window."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.expressions.generated_steps import EmitSteps, GeneratedSteps, Place, PlacePrinter
from runtime.fused.delivery import delivered, delivery_scope
from runtime.match_recognize import RowRecognition
from runtime.match_recognize.shared import SharedRowRecognition
from runtime.result_set.shapes import Forward
from runtime.statements.select_statement import RunningSelect
from windows.chain import PassThrough
from windows.event import NO_EVENTS, Event
from windows.time_sliding import TimeView


def fuse_recognition(running: RunningSelect) -> None:
    """For a plan with match_recognize."""
    recognizer, view = running.recognizer, running.chain
    if not isinstance(recognizer, RowRecognition) or view.child is not recognizer or recognizer.iterate_only:
        return
    if isinstance(view, PassThrough):
        receiver = running.entry.receiver
        receiver.receive = recognizer.receive  # type: ignore[method-assign]
        if isinstance(recognizer, SharedRowRecognition) and recognizer.can_be_written:
            receiver.write = _writer(running, recognizer)
    elif type(view) is TimeView and not view.duration.calendar:
        running.entry.receiver.receive = _entering(view, recognizer)  # type: ignore[assignment]
        view.timer.callback = _leaving(view, recognizer)  # type: ignore[attr-defined]


def _writer(running: RunningSelect, recognizer: SharedRowRecognition) -> EmitSteps:
    """``recognizer.receive`` as text; where the rows of matches are what comes out, listeners are called with them."""
    context, told, scope = running.context, [], {"pending": running.context.core.pending}
    if recognizer.emits_one and _comes_out(running, recognizer):
        told = ["r = ComputedRow()", "r._event = None", "r._values = values", *delivered("r")]
        scope |= delivery_scope(context, recognizer.output_type)

    def write(place: Place, bindings: dict[str, Any], leave: str) -> GeneratedSteps:
        steps = recognizer.written(PlacePrinter(context.environment, place, bindings), told)
        before = [f"if pending or out.batch_listeners: {leave}"] if told else []
        return GeneratedSteps(before, steps.then, {**steps.scope, **scope})

    return write


def _comes_out(running: RunningSelect, recognizer: SharedRowRecognition) -> bool:
    """Whether listeners get the rows of matches as they are, and in one call."""
    plan, rows = running.plan.result_set, running.result_set
    assert plan is not None
    if type(rows) is not Forward or recognizer.child is not rows or running.inserter is not None or running.plan.delivery is not None:
        return False
    kept = plan.order_by or plan.limit is not None or plan.distinct or plan.unidirectional or plan.raw
    return plan.selector == "istream" and not kept and not recognizer.output_type.open and recognizer.output_type.kind != "variant"


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
