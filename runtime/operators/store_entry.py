"""Where the rows of a named window enter a statement: what waits in the store → filter → the first operator."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from epl.plan.streams import StorePlan, StreamPlan, store_of
from runtime.operators.operator_context import OperatorContext
from runtime.operators.stream_entry import NoEntry, StreamEntry
from runtime.stores.named_window import NamedWindowStore
from windows.event import NO_EVENTS, Event
from windows.failures import Failures
from windows.protocol import Sink, View
from windows.shape import NOTHING, takes


class StoreEntry:
    """A stream's part in a named window, from ``start`` to ``close``; ``first`` receives what enters and leaves."""

    def __init__(self, stream: StreamPlan, context: OperatorContext, first: Sink, *, number: int = 0) -> None:
        source = store_of(stream)
        assert source is not None
        self.name = context.name
        self.order = context.order(number)
        self.store = store_in(context, source)
        self.passes = filter_of_store(source, context)
        self._first = first

    def take(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take a delta of the named window."""
        if self.passes is None:
            self._first.update(new, old)
            return
        failures = Failures()
        new, old = passing(new, self.passes, failures), passing(old, self.passes, failures)
        if new or old:
            self._first.update(new, old)
        failures.settle()

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
    """In place of data windows of a stream over a named window: the iterator reads the rows of that window."""

    def __init__(self, stream: StreamPlan, context: OperatorContext) -> None:
        source = store_of(stream)
        assert source is not None
        self._store = store_in(context, source)
        self._passes = filter_of_store(source, context)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.child.update(new, old)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._store) if self._passes is None else filter(self._passes, self._store)

    def state(self) -> Any:
        return None

    @takes(NOTHING)
    def restore(self, state: Any) -> None:
        """Do nothing: the rows are those of the named window."""


def stream_entry(
    stream: StreamPlan, context: OperatorContext, first: Sink, *, number: int = 0, quiet: bool = False
) -> StreamEntry | StoreEntry:
    """Return the entry of a stream that has events of its own."""
    if store_of(stream) is not None:
        return StoreEntry(stream, context, first, number=number)
    return StreamEntry(stream, context, first, number=number, quiet=quiet)


def fill(entry: StreamEntry | StoreEntry | NoEntry, first: Sink, context: OperatorContext) -> None:
    """Let a new statement begin with the rows that are there; it emits nothing for them."""
    if isinstance(entry, StoreEntry) and not context.restoring:
        rows = entry.rows()
        if rows:
            context.withhold(first, rows, NO_EVENTS)


def store_in(context: OperatorContext, source: StorePlan) -> NamedWindowStore:
    """Return the rows of the named window, which an earlier statement has created."""
    store: NamedWindowStore = context.core.stores[source.window.event_type]
    return store


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


__all__ = ["StoreContents", "StoreEntry", "fill", "store_in", "stream_entry"]
