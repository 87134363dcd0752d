"""match_recognize without the operators in front of it: the row goes straight to it, from no window or a time window."""
from __future__ import annotations

from functools import partial
from typing import Any

from runtime.conversion.computed_rows import print_row_lines
from runtime.expressions.generated_steps import GeneratedSteps, Place, PlacePrinter
from runtime.match_recognize import RowRecognition
from runtime.match_recognize.shared import SharedRowRecognition
from runtime.operators.stream_entry import StreamReceiver
from runtime.result_set.shapes import Forward
from runtime.statements.select_statement import RunningSelect
from runtime.statements.statement_output import StatementOutput
from windows.chain import PassThrough
from windows.time_sliding import TimeView


def fuse_recognition(running: RunningSelect) -> None:
    """Fuse a plan with match_recognize."""
    recognizer, view = running.recognizer, running.chain
    if not isinstance(recognizer, RowRecognition) or view.child is not recognizer or recognizer.iterate_only:
        return
    if isinstance(view, PassThrough):
        receiver = running.receiver
        receiver.receive = recognizer.receive  # type: ignore[method-assign]
        if isinstance(receiver, StreamReceiver) and isinstance(recognizer, SharedRowRecognition) and recognizer.can_be_written:
            receiver.write = partial(_write_steps, running, recognizer)
    elif type(view) is TimeView and not view.duration.calendar:
        running.receiver.receive = view.one_entering(recognizer.receive)  # type: ignore[method-assign]
        view.timer.callback = view.one_expiring(recognizer.leave)  # type: ignore[attr-defined]


def _write_steps(
    running: RunningSelect, recognizer: SharedRowRecognition, place: Place, bindings: dict[str, Any], leave: str
) -> GeneratedSteps:
    """``recognizer.receive`` as text; where the rows of matches are what comes out, listeners are called with them
    (runtime.expressions.generated_steps.EmitSteps)."""
    context, on_match = running.context, list[str]()
    scope: dict[str, Any] = {"pending": context.core.pending}
    statement = context.output
    assert isinstance(statement, StatementOutput)
    if recognizer.emits_one and _comes_out(running, recognizer):
        on_match = [*print_row_lines("r", "values"), *statement.delivery_lines("r")]
        scope |= statement.delivery_scope(recognizer.output_type)
    steps = recognizer.written(PlacePrinter(context.environment, place, bindings), on_match)
    before = [f"if pending or {statement.delivery_guard()}: {leave}"] if on_match else []
    return GeneratedSteps(before, steps.then, {**steps.scope, **scope})


def _comes_out(running: RunningSelect, recognizer: SharedRowRecognition) -> bool:
    """Return whether listeners get the rows of matches as they are, and in one call."""
    plan, rows = running.plan.result_set, running.result_set
    assert plan is not None
    if type(rows) is not Forward or recognizer.child is not rows or running.inserter is not None or running.plan.delivery is not None:
        return False
    kept = plan.order_by or plan.limit is not None or plan.distinct or plan.unidirectional or plan.raw
    return plan.selector == "istream" and not kept and not recognizer.output_type.open and recognizer.output_type.kind != "variant"


__all__ = ["fuse_recognition"]
