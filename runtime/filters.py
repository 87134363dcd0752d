"""Which streams want an event: an index, so that a statement that does not want it costs nothing.

Each event type has a table per looked-up property (value → entries) and a list of entries without a key. An entry's remaining conditions
are one compiled predicate. Entries of super-types serve sub-types' events.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from epl.event_types import EventType
from epl.generated_code import field_name
from epl.plan.expressions import TypedExpression
from runtime.evaluate import Environment
from runtime.written import Write
from windows.event import Event


class Receiver(Protocol):
    """A stream of a running statement.

    ``order`` sorts receivers of one event: (−priority, statement number, stream number). ``drop``: the event goes no further. ``write``:
    see runtime.written; None where ``receive`` is called.
    """

    name: str
    order: tuple[int, int, int]
    drop: bool
    write: Write | None

    def receive(self, event: Event) -> None: ...


class Entry:
    """One stream's wish: ``test`` (None: no further condition) behind the key's ``values``.

    ``conditions``, those of ``test``, may be printed into the dispatch of the type instead.
    """

    __slots__ = ("receiver", "test", "key", "values", "conditions", "environment")

    def __init__(
        self, receiver: Receiver, test: Callable[[Event], bool] | None, key: str | None, values: tuple[Any, ...],
        conditions: Sequence[TypedExpression], environment: Environment,
    ) -> None:
        self.receiver = receiver
        self.test = test
        self.conditions = tuple(conditions)
        self.environment = environment
        self.key = field_name(key) if key is not None else None
        self.values = values


class TypeIndex:
    """The entries that ask for one event type by name."""

    __slots__ = ("always", "tables")

    def __init__(self) -> None:
        self.always: dict[Entry, None] = {}
        self.tables: dict[str, dict[Any, dict[Entry, None]]] = {}

    def add(self, entry: Entry) -> None:
        if entry.key is None:
            self.always[entry] = None
            return
        table = self.tables.setdefault(entry.key, {})
        for value in entry.values:
            if value is not None:
                table.setdefault(value, {})[entry] = None

    def remove(self, entry: Entry) -> None:
        if entry.key is None:
            self.always.pop(entry, None)
            return
        table = self.tables.get(entry.key, {})
        for value in entry.values:
            bucket = table.get(value)
            if bucket is not None and bucket.pop(entry, 0) is None and not bucket:
                del table[value]
        if not table:
            self.tables.pop(entry.key, None)


class FilterIndex:
    """All entries of a runtime."""

    def __init__(self, on_error: Callable[[BaseException, str, Event], None], on_change: Callable[[], None]) -> None:
        self._on_error = on_error
        self._on_change = on_change
        self._by_type: dict[EventType, TypeIndex] = {}

    def add(self, event_type: EventType, entry: Entry) -> None:
        index = self._by_type.get(event_type)
        if index is None:
            index = self._by_type[event_type] = TypeIndex()
        index.add(entry)
        self._on_change()

    def remove(self, event_type: EventType, entry: Entry) -> None:
        index = self._by_type.get(event_type)
        if index is not None:
            index.remove(entry)
            if not index.always and not index.tables:
                del self._by_type[event_type]
        self._on_change()

    def indexes(self, event_type: EventType) -> tuple[TypeIndex, ...]:
        """What holds the entries that events in the stream ``event_type`` may meet."""
        return tuple(self._by_type[t] for t in event_type.lineage() if t in self._by_type)

    def match(self, event: Event, event_type: EventType) -> list[Receiver]:
        """The receivers that want the event, in order, when it goes into the stream ``event_type``.

        All conditions are evaluated before any receiver is told. Where one fails, its statement does not get the event and the handler is
        told; the others are not harmed.
        """
        found: list[Receiver] = []
        for index in self.indexes(event_type):
            buckets = [index.always, *(table.get(getattr(event, field, None), {}) for field, table in index.tables.items())]
            for entry in (entry for bucket in buckets for entry in bucket):
                try:
                    wanted = entry.test is None or entry.test(event)
                except Exception as error:  # noqa: BLE001 - law 6
                    self._on_error(error, entry.receiver.name, event)
                    continue
                if wanted:
                    found.append(entry.receiver)
        found.sort(key=order_of)
        return found


def order_of(receiver: Receiver) -> tuple[int, int, int]:
    return receiver.order


__all__ = ["Entry", "FilterIndex", "Receiver", "TypeIndex", "order_of"]
