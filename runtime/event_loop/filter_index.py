"""Which streams an event matches: an index, so that statements that it does not match cost nothing.

Each event type has a table per looked-up property (value → entries) and a list of entries without a key. An entry's remaining conditions
are one compiled predicate. Entries of super-types serve sub-types' events. Entries of statements are generated code
(runtime.event_loop.dispatch); those that come and go with events are data in tables of their own (runtime.event_loop.prepared_filters).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from epl.event_types import EventType
from epl.generated_code import field_name
from epl.plan.expressions import TypedExpression
from epl.plan.filter_specifications import FilterSpecification
from runtime.event_loop.filter_tables import FilterTable
from runtime.event_loop.handle_order import HandleOrder
from runtime.event_loop.prepared_filters import ActiveFilter, PreparedFilter, StartedEntries, Unless, make_table, table_key
from runtime.event_loop.receiver_order import Path, Placed, Places, arrange
from runtime.expressions import Environment
from runtime.expressions.generated_steps import EmitSteps
from windows.event import Event


class Receiver(Protocol):
    """A stream of a running statement.

    ``order`` sorts receivers of one event, as in runtime.event_loop.receiver_order. ``drop``: the event goes no further. ``write``:
    see runtime.expressions.generated_steps; None where ``receive`` is called. ``paths``: of the filter, where it decides about the place.
    """

    name: str
    order: Places
    paths: Sequence[Path]
    drop: bool
    write: EmitSteps | None

    def receive(self, event: Event) -> None: ...


class FilterEntry:
    """One stream's filter: ``test`` (None: no further condition) after the key's ``values``.

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

    __slots__ = ("always", "tables", "active", "sharing", "placed", "is_arranged", "late")

    def __init__(self) -> None:
        self.always: dict[FilterEntry, None] = {}
        self.tables: dict[str, dict[Any, dict[FilterEntry, None]]] = {}
        self.active: dict[Any, FilterTable] = {}
        """Tables of filters that come and go with events, by what is looked up."""
        self.sharing: dict[FilterEntry, None] = {}
        """The entries whose receivers have places by the paths of their filters."""
        self.placed: dict[Placed, None] = {}
        """The places of filters that contexts start and stop."""
        self.is_arranged = True
        self.late: set[int] = set()
        """The statements of receivers that have come after others (of an odd rank); they stay, since filters of patterns come and go."""

    def note_late(self, order: Places) -> bool:
        """Note the place of a receiver; return whether generated code has to change, which arranges those of several statements."""
        if not order[0] & 1 or order[2] in self.late:
            return False
        self.late.add(order[2])
        return True

    def active_tables(self) -> list[FilterTable]:
        """Return the tables in the order in which they look entries up: as they came, but one whose filters have all the conditions of
        another one's, and more, before that, as in Esper; so filters without conditions come last."""
        ordered: list[FilterTable] = []
        for table in self.active.values():
            place = next((n for n, other in enumerate(ordered) if other.parts < table.parts), len(ordered))
            ordered.insert(place, table)
        return ordered

    def add(self, entry: FilterEntry) -> bool:
        """Add an entry; return whether generated code has to change: it reads tables, so that values may come and go."""
        if entry.receiver.paths:
            self.sharing[entry] = None
            self.is_arranged = False
        if entry.key is None:
            self.always[entry] = None
            return True
        is_new = entry.key not in self.tables
        table = self.tables.setdefault(entry.key, {})
        for value in entry.values:
            if value is not None:
                table.setdefault(value, {})[entry] = None
        return is_new

    def remove(self, entry: FilterEntry) -> bool:
        """Remove an entry; return whether generated code has to change."""
        if self.sharing.pop(entry, 0) is None:
            self.is_arranged = False
        if entry.key is None:
            self.always.pop(entry, None)
            return True
        table = self.tables.get(entry.key, {})
        for value in entry.values:
            bucket = table.get(value)
            if bucket is not None and bucket.pop(entry, 0) is None and not bucket:
                del table[value]
        if not table:
            self.tables.pop(entry.key, None)
        return not table


class FilterIndex:
    """All entries of a runtime. ``on_change(event_type)``: generated code for events of the type and its sub-types is out of date."""

    def __init__(
        self, on_error: Callable[[BaseException, str, Event], None], on_change: Callable[[EventType], None], handles: HandleOrder
    ) -> None:
        self.handles = handles
        self._on_error = on_error
        self._on_change = on_change
        self._by_type: dict[EventType, TypeIndex] = {}
        self._started = StartedEntries()

    def add(self, event_type: EventType, entry: FilterEntry) -> None:
        index = self._index(event_type)
        is_late = index.note_late(entry.receiver.order)
        if index.add(entry) or entry.receiver.paths or is_late:
            self._on_change(event_type)

    def remove(self, event_type: EventType, entry: FilterEntry) -> None:
        index = self._by_type.get(event_type)
        if index is None:
            return
        if index.remove(entry):
            self._forget_empty(event_type, index)
            self._on_change(event_type)
        elif entry.receiver.paths:
            self._on_change(event_type)

    def prepare(
        self, specification: FilterSpecification, environment: Environment, name: str, order: Places | Placed, *, drop: bool = False,
        unless: Unless | None = None,
    ) -> PreparedFilter:
        """Prepare a filter of the statement ``name`` whose entries will come and go; ``close`` it when the statement ends. ``unless``: of
        one that looks nothing up."""
        event_type, key = specification.event_type, table_key(specification, unless)
        index = self._index(event_type)
        table = index.active.get(key)
        if table is None:
            table = index.active[key] = make_table(specification, unless)
            self._on_change(event_type)
        table.users += 1
        used = table
        if index.note_late(order.own_order if isinstance(order, Placed) else order):
            self._on_change(event_type)

        def close() -> None:
            used.users -= 1
            if not used.users:
                del index.active[key]
                self._forget_empty(event_type, index)
                self._on_change(event_type)

        return PreparedFilter(specification, environment, name, order, drop=drop, table=used, close=close, started=self._started)

    def place(self, event_type: EventType, order: Places, paths: Sequence[Path], turn: int, *, is_late: bool) -> Placed:
        """Return the place of filters that a context starts and stops; ``close`` it when they are closed."""
        index = self._index(event_type)

        def close() -> None:
            index.placed.pop(placed, None)
            note_change()
            self._forget_empty(event_type, index)

        def note_change() -> None:
            index.is_arranged = False
            if index.sharing:
                self._on_change(event_type)

        placed = Placed(order, paths, turn, lambda: self._arrange(event_type, index), close, is_late=is_late)
        index.placed[placed] = None
        note_change()
        return placed

    def _arrange(self, event_type: EventType, index: TypeIndex) -> None:
        if not index.is_arranged:
            arrange([*(entry.receiver for entry in index.sharing), *index.placed], event_type)
            index.is_arranged = True

    def run_action(self, action: Callable[[], object], *, counts: bool = True) -> list[ActiveFilter]:
        """Do it; return the entries of prepared filters that it has started, in order. Where it is a part of another such action they
        count as started by that one too if ``counts`` is true."""
        outer, self._started.entries = self._started.entries, []
        try:
            action()
        finally:
            entries, self._started.entries = self._started.entries or [], outer
        if outer is not None and counts:
            outer += entries
        return entries

    def _index(self, event_type: EventType) -> TypeIndex:
        index = self._by_type.get(event_type)
        if index is None:
            index = self._by_type[event_type] = TypeIndex()
        return index

    def _forget_empty(self, event_type: EventType, index: TypeIndex) -> None:
        if not (index.always or index.tables or index.active or index.placed):
            self._by_type.pop(event_type, None)

    def indexes(self, event_type: EventType) -> tuple[TypeIndex, ...]:
        """Return what holds the entries that events in the stream ``event_type`` may meet, the receivers in their places."""
        types = [t for t in event_type.lineage() if t in self._by_type]
        for each in types:
            self._arrange(each, self._by_type[each])
        return tuple(self._by_type[t] for t in types)

    def match(self, event: Event, event_type: EventType) -> list[Receiver]:
        """Return the receivers that match the event, in order, when it goes into the stream ``event_type``.

        All conditions are evaluated before any receiver gets the event. Where one fails, its statement does not get the event and the
        handler is called; the others are not harmed.
        """
        receivers: list[Receiver] = []
        for index in self.indexes(event_type):
            buckets = [index.always, *(table.get(getattr(event, field, None), {}) for field, table in index.tables.items())]
            for entry in (entry for bucket in buckets for entry in bucket):
                try:
                    passes = entry.test is None or entry.test(event)
                except Exception as error:  # noqa: BLE001 - law 6
                    self._on_error(error, entry.receiver.name, event)
                    continue
                if passes:
                    receivers.append(entry.receiver)
            for active in [active for table in index.active_tables() for active in table.find(event) or ()]:
                test = active.prepared.test
                try:
                    passes = test is None or test(event, *active.values)
                except Exception as error:  # noqa: BLE001 - law 6
                    self._on_error(error, active.name, event)
                    continue
                if passes:
                    receivers.append(active)
        receivers.sort(key=receiver_places)
        return self.handles.receivers(receivers) if len(receivers) > 1 else receivers


def receiver_places(receiver: Receiver) -> Places:
    return receiver.order


__all__ = ["FilterEntry", "FilterIndex", "Receiver", "TypeIndex", "receiver_places"]
