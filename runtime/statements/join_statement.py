"""A select over a join."""
from __future__ import annotations

from collections.abc import Iterable

from epl.errors import EplRuntimeError
from epl.plan.statements import SelectPlan
from runtime.join.contents import JoinedStream
from runtime.join.entries import SharedEntries
from runtime.join.join import JoinOperator
from runtime.operators.operator_context import OperatorContext
from runtime.operators.store_entry import fill
from runtime.statements.select_statement import SelectOperators
from windows.event import Event
from windows.protocol import State
from windows.shape import ANYTHING, row_check, rows_are, takes


class RunningJoin(SelectOperators):
    """streams → join → where → result set → insert into → listeners."""

    def __init__(self, plan: SelectPlan, context: OperatorContext) -> None:
        super().__init__(plan, context)
        self.join = JoinOperator(plan, context)
        self.join.child = self.connect()  # type: ignore[assignment]  # rows are tuples from here on
        for stream, joined in zip(self.streams, self.join.streams):
            stream.chain.child = stream.through_prior(joined)
        if self.join.reads_one_window:
            self._read_windows()
        if not context.restoring:
            for stream, joined in zip(self.streams, self.join.streams):
                joined.begin(stream.chain)
        self._shared = SharedEntries(plan.streams, [stream.entry for stream in self.streams], self.join, context)

    def _read_windows(self) -> None:
        """Let the iterator read the window of the stream beside a historical one: that is what Esper iterates."""
        for stream, joined in zip(self.streams, self.join.streams):
            if isinstance(joined, JoinedStream):
                joined.contents = stream.chain.__iter__  # type: ignore[method-assign]

    def fill(self) -> None:
        """Begin with the rows that the named windows make together: they count in aggregations, and not for the output rate. What the only
        stream beside tables and calls brings to a partition that begins later is a delta as any other."""
        if self.context.statement.is_running and self.join.is_beside_calls:
            for stream in self.streams:
                fill(stream.entry, self.context, is_driving=True)
            return
        rows = self.join.begin(super().fill)
        if self.where is not None:
            rows = tuple(self.where.contents(rows))  # type: ignore[arg-type]
        if rows:
            self.result_set.apply(rows, ())

    def start(self) -> None:
        super().start()
        self._shared.start()

    def close(self) -> None:
        self._shared.close()
        self.join.close()
        super().close()

    def rows(self) -> Iterable[Event]:
        return iter(self.join)  # type: ignore[return-value]

    def iterate(self) -> Iterable[Event]:
        if not self.join.can_iterate:
            raise EplRuntimeError("Iteration over a unidirectional join is not supported")
        return super().iterate()

    def state(self) -> State:
        return {
            "streams": [stream.state() for stream in self.streams],
            "join": self.join.state(),
            "result_set": self.result_set.state(),
        }

    @takes({"streams": [{"windows": ANYTHING, "prior": ANYTHING}], "join": ANYTHING, "result_set": ANYTHING})
    def restore(self, state: State) -> None:
        for stream, saved in zip(self.streams, state["streams"], strict=True):
            stream.restore(saved)
        self.join.restore(state["join"], [stream.chain for stream in self.streams])
        with rows_are(row_check([stream.plan.event_type for stream in self.streams], self.join.plan.optional)):
            self.result_set.restore(state["result_set"])


__all__ = ["RunningJoin"]
