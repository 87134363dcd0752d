"""create window: data windows, and the store of their rows."""
from __future__ import annotations

from collections.abc import Iterable

from epl.plan.stores.named_windows import CreateWindowPlan, FillPlan
from epl.plan.windows import unique_key
from runtime.expressions import compile_predicate
from runtime.expressions.compiled import compile_row
from runtime.operators.operator_context import OperatorContext
from runtime.operators.store_entry import partition_windows, store_of_window, stream_entry
from runtime.stores.by_partition import PartitionedWindow
from runtime.stores.named_window import NamedWindowStore
from windows.chain import build_chain
from windows.event import NO_EVENTS, Event, event_class
from windows.protocol import State
from windows.shape import ANYTHING, takes


class Entering:
    """In front of the data windows: the store takes what is inserted first."""

    def __init__(self, store: NamedWindowStore) -> None:
        self.update = store.enter


class RunningCreateWindow:
    """Events inserted into the window → data windows → store → listeners, consumers. The iterator gives the rows."""

    def __init__(self, plan: CreateWindowPlan, context: OperatorContext) -> None:
        self._context = context
        self._type = plan.window.event_type
        stream = plan.stream
        self._chain = build_chain(stream.windows, stream.retain, context)
        self._stores = context.core.stores
        batches = any(window.is_batch for window in stream.windows)
        collects = batches and len(stream.windows) == 1
        self._in_order = len(stream.windows) == 1 and stream.windows[0].leaves_in_order and not collects
        self.store = NamedWindowStore(
            plan.window, self._chain, context.output, context.core.store_deltas, self._note_change, batches=batches, collects=collects,
            steady=batches or not any(window.evicts_by_arrival for window in stream.windows),
            unique=unique_key(stream.windows) if stream.retain != "union" else (), in_order=self._in_order)
        self._entry = stream_entry(stream, context, Entering(self.store))
        if plan.fill is not None and not context.restoring:
            self.store.fill(self._first_rows(plan.fill))
        window, number = plan.window, context.partition
        if window.context is None:
            self._stores[self._type] = self.store
        else:
            partition_windows(context, window).enter(number, self.store)

    def _first_rows(self, plan: FillPlan) -> list[Event]:
        environment = self._context.environment
        rows: Iterable[Event] = store_of_window(self._context, plan.source)
        if plan.where is not None:
            rows = filter(compile_predicate(plan.where, environment, 1), rows)
        new = event_class(self._type)
        if not plan.columns:
            names = self._type.names
            return [new(*[row.get(name) for name in names]) for row in rows]
        values = compile_row(plan.columns, environment, 1)
        return [new(*values(row, True, None)) for row in rows]

    def _note_change(self) -> None:
        self._context.note_changed()

    def start(self) -> None:
        self._entry.start()

    def close(self) -> None:
        self._entry.close()
        self._chain.close()
        self._context.close()
        held = self._stores.get(self._type)
        if held is self.store:
            del self._stores[self._type]
        elif isinstance(held, PartitionedWindow):
            held.leave(self._context.partition, self.store)

    def iterate(self) -> Iterable[Event]:
        return self.store

    def state(self) -> State:
        return {"windows": self._chain.state(), "rows": None if self._in_order else self.store.rows.state()}

    @takes({"windows": ANYTHING, "rows": ANYTHING})
    def restore(self, state: State) -> None:
        self._chain.restore(state["windows"])
        if state["rows"] is None:
            self.store.rows.update(tuple(self._chain), NO_EVENTS)
        else:
            self.store.rows.restore(state["rows"])
            if self.store.batches and not self.store.collects:  # a former version had there what waits for its batch, too
                self.store.rows.update(NO_EVENTS, tuple(self._chain))


__all__ = ["RunningCreateWindow"]
