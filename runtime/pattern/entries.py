"""Where a stream's events enter a statement, whatever its source: a filter, a named window, a pattern, or match_recognize of a dialect."""
from __future__ import annotations

from epl.plan.patterns.pattern import stream_pattern
from epl.plan.patterns.recognition_streams import stream_recognition
from epl.plan.streams import StreamPlan
from runtime.operators.operator_context import OperatorContext
from runtime.operators.partition_entry import PartitionEntry
from runtime.operators.stateful_entry import StatefulEntry
from runtime.operators.store_entry import StoreEntry, stream_entry
from runtime.operators.stream_entry import StreamEntry
from runtime.pattern.observed import build_machine
from windows.protocol import RowReceiver, State


class PatternEntry(StatefulEntry):
    """The matches of a pattern as events of a stream, from ``start`` to ``close``."""

    kept_as = "pattern"

    def __init__(self, stream: StreamPlan, context: OperatorContext, first: RowReceiver, *, number: int = 0) -> None:
        source = stream_pattern(stream)
        assert source is not None
        self.machine = build_machine(source, context, first, stream=number)

    def start(self) -> None:
        self.machine.open()

    def close(self) -> None:
        self.machine.close()

    def state(self) -> State:
        return self.machine.state()

    def restore(self, state: State) -> None:
        self.machine.restore(state)


def build_entry(
    stream: StreamPlan, context: OperatorContext, first: RowReceiver, *, number: int = 0, quiet: tuple[bool, bool] = (False, False)
) -> StreamEntry | PartitionEntry | StoreEntry | StatefulEntry:
    """Return the entry of a stream that has events of its own."""
    if stream_pattern(stream) is not None:
        return PatternEntry(stream, context, first, number=number)
    if stream_recognition(stream) is not None:
        from runtime.operators.recognition_entry import RecognitionEntry  # the dialects are loaded where a statement needs them

        return RecognitionEntry(stream, context, first, number=number)
    return stream_entry(stream, context, first, number=number, quiet=quiet)


__all__ = ["PatternEntry", "build_entry"]
