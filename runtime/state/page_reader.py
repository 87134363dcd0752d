"""Pages back into state. A page may come from anywhere: it is read once, and only what is there is looked at."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.value_types import Scalar
from runtime.expressions.structs import default_value
from runtime.state.codec import KEYED, LONG, VAST, Decoder, as_list, as_map, unpack
from runtime.state.described_types import TypeTable
from runtime.state.pages import EVENTS_A_PAGE, KINDS
from runtime.state.seal import reading
from runtime.stores.by_partition import PartitionedTable
from runtime.stores.table import TableStore
from windows.event import Event, Extra, event_class, only_absent
from windows.protocol import Damaged
from windows.shape import ANYTHING, Check, of_type, scalars_fit


class PageReader:
    """Reads pages; each event is made once, those in it first. Raises EplRuntimeError, which names the page, for all that is not as the
    pages' writer leaves it."""

    def __init__(self, pages: Mapping[str, bytes]) -> None:
        self._pages = pages
        self._parts = _operator_pages(pages)
        self._read_keys: set[str] = set()
        self.table = TypeTable()
        self.tables: Mapping[EventType, TableStore | PartitionedTable] = {}
        """The stores of tables whose rows the pages may refer to; their own pages are read first."""
        self._events = EventReader(self)
        self._plain = Decoder(self._events.event)
        self._statement = Decoder(self._events.event, {KEYED: self._read_keyed, LONG: self._long})

    def body(self, key: str, kind: str) -> Any:
        """Return what a page holds. Raise EplRuntimeError for a page that is missing, and by name for a kind or version that is not
        known."""
        packed = self._pages.get(key)
        if packed is None:
            raise EplRuntimeError(f"the snapshot is damaged: page '{key}' is missing")
        if key in self._read_keys:  # or a small page would be read as often as a large one can name it
            raise EplRuntimeError(f"the snapshot is damaged: page '{key}' is referred to twice")
        self._read_keys.add(key)
        with reading(lambda _: f"page '{key}'"):
            return self._body(key, kind, packed)

    def statement(self, key: str, *, columns: bool) -> Any:
        """Return the state of a statement, as ``body`` gives it. ``columns``: it is held in columns, which have no integers beyond 64
        bits."""
        self._plain.vast = self._statement.vast = False
        state = self.body(key, "statement")
        if columns and (self._plain.vast or self._statement.vast):
            raise Damaged(f"a decimal of more than {VAST} digits where columns hold none")
        return state

    def _body(self, key: str, kind: str, packed: bytes) -> Any:
        decoder = self._statement if kind == "statement" else self._plain
        kind_of_page, version, body = as_list(decoder.decode(packed), 3)
        if kind_of_page not in KINDS:
            raise EplRuntimeError(f"the snapshot holds a page of unknown kind '{kind_of_page}'", hint="it was written by a newer version")
        if version != KINDS[kind_of_page]:
            raise EplRuntimeError(
                f"the snapshot holds a page of kind '{kind_of_page}' in version {version}; known here is version {KINDS[kind_of_page]}"
            )
        if kind_of_page != kind:
            raise EplRuntimeError(f"the snapshot is damaged: page '{key}' is of kind '{kind_of_page}', not '{kind}'")
        return body

    def _read_keyed(self, data: bytes) -> list[Any]:
        prefix, kind, _, keys = as_list(unpack(data), 4)
        if kind not in KINDS:
            raise EplRuntimeError(f"the snapshot holds pages of unknown kind '{kind}'", hint="it was written by a newer version")
        rows = [as_list(row, 3) for page in self._parts.get(prefix, ()) for row in as_list(self.body(page, kind))]
        if len(rows) != keys:
            raise EplRuntimeError(f"the snapshot is damaged: of {keys} keys, pages '{prefix}/…' hold {len(rows)}")
        rows.sort(key=lambda row: row[0])
        return [row[1:] for row in rows]

    def _long(self, data: bytes) -> list[Any]:
        prefix, pieces = as_list(unpack(data), 2)
        return [item for piece in pieces for item in as_list(self.body(f"{prefix}/{piece}", "piece"))]


def _operator_pages(pages: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return the pages of each keyed operator, by the prefix before their number."""
    parts: dict[str, list[str]] = {}
    for key in pages:
        prefix, _, number = key.rpartition("/")
        if number.isdigit():
            parts.setdefault(prefix, []).append(key)
    return parts


TABLE_ROW = 5
"""Parts of the row of a table: those of an event, and where it is."""

Checks = tuple[Callable[[Sequence[Any]], bool], list[Check], list[tuple[int, Check]]]
"""Of an event's values: whether those of scalar types fit; the check of each, which says what is wrong; those of other types, by place."""


class EventReader:
    """Events by number. An event whose properties hold events is read again once they have been made, so that a chain of events, however
    long, takes no more of the stack than one."""

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader
        self._events: dict[int, Event] = {}
        self._rows: dict[int, dict[int, bytes]] = {}
        self._missing: list[int] = []
        self._checks: dict[type[Event], Checks] = {}
        self._decoder = Decoder(self._inner)

    def event(self, number: int) -> Event:
        """Return the event; raise EplRuntimeError for one that is not there, does not fit its type, or is a part of itself."""
        event = self._events.get(number)
        if event is None:
            event = self._build_event(number)
            if event is None:
                return self._innermost_first(number)
            self._events[number] = event
        return event

    def _innermost_first(self, number: int) -> Event:
        open_, stack = set[int](), [number]
        while stack:
            at = stack[-1]
            if at in self._events:
                stack.pop()
                continue
            event = self._build_event(at)
            if event is None:
                open_.add(at)
                circle = open_.intersection(self._missing)
                if circle:
                    raise EplRuntimeError(f"the snapshot is damaged: event {min(circle)} is a part of itself")
                stack += self._missing
            else:
                self._events[at] = event
                open_.discard(at)
                stack.pop()
        return self._events[number]

    def _inner(self, number: int) -> Event | None:
        """Return an event in an event; where it has not been made yet, that is noted."""
        event = self._events.get(number)
        if event is None:
            self._missing.append(number)
        return event

    def _build_event(self, number: int) -> Event | None:
        """Return the event, or None where ``_missing`` ones have to be made first."""
        self._missing = []
        try:
            row = as_list(self._decoder.decode(self._row(number)))
            if self._missing:
                return None
            return self._row_of_table(*row) if len(row) == TABLE_ROW else self._event(*as_list(row, 4))
        except Exception:
            with reading(lambda _: f"event {number}"):  # here, not around it: entering it takes as long as making an event
                raise

    def _row_of_table(self, reference: Any, values: Any, extra: Any, origin: Any, where: Any) -> Event:
        event = self._event(reference, values, extra, origin)
        table = self._reader.tables.get(event.type)
        if table is None:
            raise Damaged("its table is not there")
        partition, key, standing = as_list(where, 3)
        if partition is not None and type(partition) is not int:
            raise Damaged("the number of its partition is not a number")
        return table.partition_store(partition).restore_row(key, standing, event)

    def _event(self, reference: Any, values: Any, extra: Any, origin: Any) -> Event:
        event_type = self._reader.table.event_type(reference)
        of = event_class(event_type)
        before = self._reader.table.before.get(reference)
        expected = len(of.fields) if before is None else before[0]
        if len(as_list(values)) != expected:
            raise Damaged(f"it has {len(values)} values, not {expected}")
        if before is not None:
            absent = [default_value(prop.whole_type) for prop in event_type.properties.values()]
            values = [default if place is None else values[place] for place, default in zip(before[1], absent)]
        fit, checks, nested = self._checks.get(of) or self._type_checks(of)
        for place, check in nested if fit(values) else enumerate(checks):
            if values[place] is not None:
                check(values[place])
        event = of(*values)
        if isinstance(extra, list):
            event.extra = _absence(of.type, *as_list(extra, 2))
        elif extra is not None:
            event.extra = as_map(extra)
        if origin is not None:
            if not isinstance(origin, Event):
                raise Damaged("its origin is not an event")
            event.origin = origin
        return event

    def _type_checks(self, of: type[Event]) -> Checks:
        types = [each.whole_type for each in of.type.properties.values()]
        checks = [of_type(each) for each in types]
        nested = [(n, check) for n, check in enumerate(checks) if check is not ANYTHING and not isinstance(types[n], Scalar)]
        of_type_checks = self._checks[of] = scalars_fit(types), checks, nested
        return of_type_checks

    def _row(self, number: int) -> bytes:
        page = number // EVENTS_A_PAGE
        if page not in self._rows:
            self._rows[page] = as_map(self._reader.body(f"events/{page}", "events"))
        packed = self._rows[page].get(number)
        if not isinstance(packed, bytes):
            raise EplRuntimeError(f"the snapshot is damaged: event {number} is missing")
        return packed


def _absence(event_type: EventType, undeclared: Any, absent: Any) -> Extra:
    """Return what a map event holds that lacks declared properties."""
    names = as_list(absent)
    if not all(isinstance(name, str) and name in event_type.properties for name in names):
        raise Damaged("it lacks properties that its type does not declare")
    return Extra(as_map(undeclared), frozenset(names)) if undeclared else only_absent(frozenset(names))


def split_pages(payload: bytes) -> dict[str, bytes]:
    """Return the pages of a snapshot that is one piece."""
    with reading("the list of pages"):
        return {_key(key): page for key, page in (as_list(pair, 2) for pair in as_list(unpack(payload)))}


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise Damaged(f"the key of a page is a value of type {type(key).__name__}")
    return key


__all__ = ["PageReader", "split_pages"]
