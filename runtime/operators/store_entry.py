"""Where the rows of a named window enter a statement: what waits in the store → filter → the first operator."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from epl.plan.statements import SelectPlan
from epl.plan.streams import NamedWindow, StorePlan, StreamPlan, stream_store_plan
from runtime.operators.contained_events import ContainedStage, Containment
from runtime.operators.operator_context import OperatorContext
from runtime.operators.partition_entry import PartitionEntry
from runtime.operators.stream_entry import StreamEntry
from runtime.stores.by_partition import PartitionedWindow
from runtime.stores.named_window import NamedWindowStore
from windows.chain import ViewChain, build_chain
from windows.event import NO_EVENTS, Event
from windows.failures import Failures
from windows.protocol import RowReceiver, View
from windows.shape import NOTHING, takes


class StoreEntry:
    """A stream's part in a named window, from ``start`` to ``close``; ``first`` receives what enters and leaves. ``quiet``: as of
    ContainedStage. ``is_outside``: whether the named window is one of another context, whose rows cannot be iterated."""

    def __init__(
        self, stream: StreamPlan, context: OperatorContext, first: RowReceiver, *, number: int = 0,
        quiet: tuple[bool, bool] = (False, False)
    ) -> None:
        source = stream_store_plan(stream)
        assert source is not None
        self.name = context.name
        self.order = context.order(number)
        self.partition = context.partition
        self.store = find_store(context, source)
        self.is_outside = source.window.context is not None and source.window.context is not context.plan.context
        self.passes = filter_of_store(source, context)
        self._drops = context.drops
        self._update = first.update
        if stream.contained is not None:
            self._update = ContainedStage(Containment(stream.contained, context.environment), first, quiet=quiet).update_together

    def take(self, new: Sequence[Event], old: Sequence[Event]) -> bool:
        """Take a delta of the named window; return whether it goes no further (``@drop``)."""
        if self.passes is None:
            self._update(new, old)
            return self._drops
        failures = Failures()
        new, old = passing(new, self.passes, failures), passing(old, self.passes, failures)
        if new or old:
            self._update(new, old)
        failures.settle()
        return self._drops

    def fill(self) -> None:
        """Take the rows that are there; of a named window of another context none, as in Esper."""
        if self.is_outside:
            return
        rows = self.rows()
        if rows:
            self._update(rows, NO_EVENTS)

    def rows(self) -> list[Event]:
        """Return the rows that pass the filter now."""
        failures = Failures()
        rows = list(self.store) if self.passes is None else passing(self.store, self.passes, failures)
        failures.settle()
        return rows

    def repeat(self) -> None:
        """Do nothing: a filter over a named window gives a row once."""

    def start(self) -> None:
        self.store.add(self)

    def close(self) -> None:
        self.store.remove(self)


class StoreContents(View):
    """In place of data windows of a stream over a named window: the iterator reads the rows of that window, or what they contain."""

    def __init__(self, stream: StreamPlan, context: OperatorContext) -> None:
        source = stream_store_plan(stream)
        assert source is not None
        self._store = find_store(context, source)
        self._passes = filter_of_store(source, context)
        self._contained = None if stream.contained is None else Containment(stream.contained, context.environment)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.child.update(new, old)

    def __iter__(self) -> Iterator[Event]:
        rows = iter(self._store) if self._passes is None else filter(self._passes, self._store)
        contained = self._contained
        return rows if contained is None else (event for row in rows for event in contained.rows(row) or ())

    def state(self) -> Any:
        return None

    @takes(NOTHING)
    def restore(self, state: Any) -> None:
        """Do nothing: the rows are those of the named window."""


def stream_contents(stream: StreamPlan, context: OperatorContext) -> View:
    """Return the windows of a stream; of one over a named window, in place of data windows, the rows of that window."""
    if stream_store_plan(stream) is None:
        return build_chain(stream.windows, stream.retain, context)
    view = StoreContents(stream, context)
    return ViewChain([view, build_chain(stream.windows, stream.retain, context, removals=True)]) if stream.windows else view


def stream_entry(
    stream: StreamPlan, context: OperatorContext, first: RowReceiver, *, number: int = 0, quiet: tuple[bool, bool] = (False, False)
) -> StreamEntry | PartitionEntry | StoreEntry:
    """Return the entry of a stream that has events of its own."""
    if stream_store_plan(stream) is not None:
        return StoreEntry(stream, context, first, number=number, quiet=quiet)
    entry = StreamEntry if context.plan.context is None else PartitionEntry
    return entry(stream, context, first, number=number, quiet=quiet)


def fill(entry: object, context: OperatorContext, *, open_batch: bool = False, is_driving: bool = False) -> None:
    """Let a new statement, or a new partition of one, begin with the rows that are there. A partition that begins later than its statement
    emits rows for them, except those of joins; else nothing is emitted, but insert into inserts them and output rate limiting gathers them.

    ``open_batch``: take those of an open batch too, as sub-queries do in Esper; consumers get them when the batch is released.
    ``is_driving``: the stream is the only one of a join that has events of its own.
    """
    if not isinstance(entry, StoreEntry) or context.restoring or (entry.store.collects and not open_batch):
        return
    body = context.plan.body
    if isinstance(body, SelectPlan) and (is_driving or len(body.streams) == 1) and (context.statement.is_running or _is_counted(body)):
        entry.fill()
    else:
        context.withheld(entry.fill)


def _is_counted(body: SelectPlan) -> bool:
    """Return whether what a new statement begins with is inserted, or gathered by its output rate, though no listener gets it."""
    return body.insert is not None or (body.result_set.output is not None and not begins_unseen(body))


def begins_unseen(body: SelectPlan) -> bool:
    """Return whether what a new statement begins with counts as its first output, which no listener gets, and not for the output rate."""
    output, result = body.result_set.output, body.result_set
    if output is None or output.selector != "first" or output.after is not None or body.insert is not None or result.distinct:
        return False
    return len(body.streams) == 1 and result.shape in ("un-aggregated", "fully aggregated", "aggregated")


def find_store(context: OperatorContext, source: StorePlan) -> NamedWindowStore:
    """Return the rows of the named window, which an earlier statement has created."""
    return store_of_window(context, source.window)


def store_of_window(context: OperatorContext, window: NamedWindow) -> NamedWindowStore:
    """Return the rows of the named window: of one of a context those of the same partition, for a statement of another context those of
    all partitions."""
    if window.context is None:
        store: NamedWindowStore = context.core.stores[window.event_type]
        return store
    windows = partition_windows(context, window)
    if window.context is context.plan.context:
        return windows.partitions[context.partition]
    return windows  # type: ignore[return-value]  # has what consumers use


def partition_windows(context: OperatorContext, window: NamedWindow) -> PartitionedWindow:
    """Return the rows of a named window of a context, by partition."""
    stores = context.core.stores
    windows = stores.get(window.event_type)
    if windows is None:
        windows = stores[window.event_type] = PartitionedWindow(window)
    assert isinstance(windows, PartitionedWindow)
    return windows


def filter_of_store(source: StorePlan, context: OperatorContext) -> Callable[[Event], bool] | None:
    return context.conjunction(source.conditions) if source.conditions else None


def passing(rows: Iterable[Event], test: Callable[[Event], bool], failures: Failures) -> list[Event]:
    """Return the rows that pass; one for which the filter raises does not."""
    passed = []
    for row in rows:
        try:
            if test(row):
                passed.append(row)
        except Exception as error:  # noqa: BLE001 - raised by settle
            failures.note(error)
    return passed


__all__ = [
    "StoreContents",
    "StoreEntry",
    "begins_unseen",
    "fill",
    "find_store",
    "partition_windows",
    "store_of_window",
    "stream_contents",
    "stream_entry",
]
