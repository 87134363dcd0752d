"""A runtime's state as pages: who writes them, and how events are stored once (``page_reader`` reads them).

Every page is msgpack of ``[kind, version, body]`` (docs/design/state.md has the bodies). An event gets a number when a page first refers to
it and is written to the event page of that number; it goes when no page refers to it any more.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any
from urllib.parse import quote

import msgpack

from runtime.state.codec import KEYED, LONG, Encoder, Parted
from runtime.state.described_types import TypeTable
from runtime.state.key_pages import ComparedPages, KeyedPages, LongPages
from runtime.state.runtime_state import RuntimeState
from runtime.statements.statement_output import StatementOutput
from runtime.stores.table_rows import STANDS, TableRow
from windows.event import Event, Extra
from windows.paging import Compared, Long, Marked, Paged

Written = dict[str, "bytes | None"]
"""Page key → bytes; None: the page is gone."""

KINDS: Mapping[str, int] = {
    "head": 1, "clock": 1, "variables": 1, "statement": 1, "events": 1, "piece": 1,
    "groups": 1, "reclaim": 1, "groupwin": 1, "unique": 1, "first": 1, "group rows": 1, "group events": 1, "last rows": 1,
    "partitions": 1, "held matches": 1, "table": 1, "context partitions": 1, "row patterns": 1,
}
"""The kinds of pages and the version of each that is written and read here."""

EVENTS_A_PAGE = 256


def statement_key(statement: StatementOutput, number: int) -> str:
    """Return the key of a statement's page; those of its parts begin with it."""
    return f"state/{quote(statement.deployment_id, safe='', errors='surrogatepass')}/{number}"


# ------------------------------------------------------------------ events


class EventPages:
    """Events by number. An event is held by the pages that refer to it, and by held events that it is a property of."""

    def __init__(self, table: TypeTable) -> None:
        self._table = table
        self._numbers: dict[Event, int] = {}
        self._pages: dict[int, dict[int, Event]] = {}
        self._holders: dict[int, int] = {}
        self._held: dict[str | int, set[int]] = {}
        self._next = 0
        self._new: deque[int] = deque()
        self._loose: set[int] = set()
        self._rows: dict[int, bytes] = {}
        """The rows of tables, as they were written: what they are changes while they are held."""
        self._garbage: dict[int, int] = {}

    def number(self, event: Event) -> int:
        """Return the event's number, a new one at first sight."""
        number = self._numbers.get(event)
        if number is None:
            number = self._numbers[event] = self._next
            self._next += 1
            self._pages.setdefault(number // EVENTS_A_PAGE, {})[number] = event
            self._holders[number] = 0
            self._new.append(number)
        return number

    def hold(self, holder: str | int, numbers: set[int]) -> None:
        """Note that a page, or an event, refers to these events now and to no others."""
        before = self._held.pop(holder, set())
        if numbers:
            self._held[holder] = numbers
        for number in numbers - before:
            self._holders[number] += 1
        for number in before - numbers:
            self._holders[number] -= 1
            self._loose.add(number)

    def changed(self, encoder: PageEncoder) -> Written:
        """Return the event pages that have to be written, once all other pages have been. A page is written when events join it, and when
        more than half of what was written to it is held no more."""
        rows: dict[int, bytes] = {}
        for number, before in [*self._rows.items()]:
            packed, inner = encoder.row(self._event(number))
            if packed != before:
                rows[number] = self._rows[number] = packed
                self.hold(number, inner)
        while self._new:
            number = self._new.popleft()
            event = self._event(number)
            rows[number], inner = encoder.row(event)
            self.hold(number, inner)
            if isinstance(event, TableRow):
                self._rows[number] = rows[number]
        dirty = {number // EVENTS_A_PAGE for number in rows}
        gone = self._drop()
        written: Written = {}
        for page in dirty | gone:
            living = self._pages.get(page)
            if not living:
                self._pages.pop(page, None)
                self._garbage.pop(page, None)
                written[f"events/{page}"] = None
            elif page in dirty or self._garbage[page] > len(living):
                self._garbage[page] = 0
                body = {n: rows[n] if n in rows else encoder.row(event)[0] for n, event in living.items()}
                written[f"events/{page}"] = encoder.plain_page("events", body)
        return written

    def _event(self, number: int) -> Event:
        return self._pages[number // EVENTS_A_PAGE][number]

    def _drop(self) -> set[int]:
        """Forget the events that nothing holds; their pages."""
        pages: set[int] = set()
        while self._loose:
            number = self._loose.pop()
            if self._holders.get(number) != 0:
                continue
            page = number // EVENTS_A_PAGE
            event = self._pages[page].pop(number)
            del self._numbers[event], self._holders[number]
            self._rows.pop(number, None)
            self.hold(number, set())
            self._garbage[page] = self._garbage.get(page, 0) + 1
            pages.add(page)
        return pages


class PageEncoder(Encoder):
    """Encodes pages; ``refers`` collects the events of the current one, ``part`` takes what goes to pages of its own."""

    def __init__(self, events: EventPages, table: TypeTable) -> None:
        super().__init__()
        self._events = events
        self._table = table
        self._refers: set[int] = set()
        self._take: Callable[[Parted], Any] | None = None

    def page(self, key: str, kind: str, body: Any, take: Callable[[Parted], Any] | None = None) -> bytes:
        """Return one page; the events it refers to are held by it."""
        self._refers, self._take = set(), take
        packed = self.encode([kind, KINDS[kind], body])
        self._take = None
        self._events.hold(key, self._refers)
        return packed

    def plain_page(self, kind: str, body: Any) -> bytes:
        """Return a page that refers to no event."""
        return self.encode([kind, KINDS[kind], body])

    def apart(self, value: Any) -> bytes:
        """Return a value, whose events the current page does not refer to."""
        refers, self._refers = self._refers, set()
        packed = self.encode(value)
        self._refers = refers
        return packed

    def row(self, event: Event) -> tuple[bytes, set[int]]:
        """Return an event: type reference, values, undeclared values (with the names of absent ones where there are any), origin, of a
        table's row also where it is; and the events in it."""
        self._refers = set()
        if isinstance(event, TableRow):
            partition, key, standing = event.where()
            values = [None] * len(event.fields) if standing == STANDS else list(event.values())
            return self.encode([self._table.reference(event.type), values, None, None, [partition, key, standing]]), self._refers
        extra: Any = event.extra
        if isinstance(extra, Extra):
            extra = [dict(extra), sorted(extra.absent)]
        packed = self.encode([self._table.reference(event.type), list(event.values()), extra, event.origin])
        return packed, self._refers

    def _number(self, event: Event) -> int:
        number = self._events.number(event)
        self._refers.add(number)
        return number

    def _part(self, value: Parted) -> Any:
        return list(value) if self._take is None else self._take(value)


# ------------------------------------------------------------------ statements


class StatementPages:
    """The pages of one statement: its own, and those of its keyed operators and long lists."""

    def __init__(self, key: str, statement: StatementOutput, encoder: PageEncoder, *, notes: bool) -> None:
        self.key = key
        self._statement = statement
        self._encoder = encoder
        self._notes = notes
        self._keyed: dict[int, tuple[int, KeyedPages]] = {}
        self._compared: list[ComparedPages] = []
        self._compared_count = 0
        self._long: list[LongPages] = []
        self._long_count = 0
        self._todo: list[Callable[[], Written]] = []
        self._digest = b""

    def written(self) -> Written:
        """Return the pages that have changed since the last call; at first all."""
        running = self._statement.running
        self._todo, self._long_count, self._compared_count = [], 0, 0
        packed = self._encoder.page(self.key, "statement", running.state(), self._take)
        written: Written = {}
        digest = blake2b(packed, digest_size=16).digest()
        if digest != self._digest:
            self._digest = digest
            written[self.key] = packed
        for more in self._todo:
            written.update(more())
        return written

    def _take(self, value: Parted) -> Any:
        if isinstance(value, Paged):
            return self._take_keyed(value)
        return self._take_compared(value) if isinstance(value, (Compared, Marked)) else self._take_long(value)

    def _take_keyed(self, paged: Paged) -> Any:
        known = self._keyed.get(id(paged))
        if known is None:
            number, pages = known = len(self._keyed), KeyedPages(paged, notes=self._notes)
            self._keyed[id(paged)] = known
            changed = {page for page, keys in enumerate(pages.pages) if keys}
        else:
            number, pages = known
            changed = pages.changed()
        self._todo.append(lambda: self._write_keyed(f"{self.key}/k{number}", pages, changed))
        return msgpack.ExtType(KEYED, msgpack.packb([f"{self.key}/k{number}", paged.kind, len(pages.pages), pages.count]))

    def _take_compared(self, rows: Compared | Marked) -> Any:
        number = self._compared_count
        self._compared_count += 1
        if number == len(self._compared):
            self._compared.append(ComparedPages(rows.kind))
        compared, prefix = self._compared[number], f"{self.key}/c{number}"
        pages, changed = compared.pages, compared.changed(rows, self._encoder.apart)

        def written() -> Written:
            written_pages = self._write_keyed(prefix, pages, changed)
            compared.release()
            return written_pages

        self._todo.append(written)
        return msgpack.ExtType(KEYED, msgpack.packb([prefix, rows.kind, len(pages.pages), pages.count]))

    def _write_keyed(self, prefix: str, pages: KeyedPages, changed: set[int]) -> Written:
        written: Written = {}
        for page in sorted(changed):
            rows = pages.rows(page)
            packed = self._encoder.page(f"{prefix}/{page}", pages.paged.kind, rows)
            written[f"{prefix}/{page}"] = packed if rows else None
        return written

    def _take_long(self, items: Long) -> Any:
        number = self._long_count
        self._long_count += 1
        if number == len(self._long):
            self._long.append(LongPages())
        pages = self._long[number]
        changed, gone = pages.changed(items)
        prefix = f"{self.key}/l{number}"
        if changed or gone:
            self._todo.append(lambda: self._long_pages(prefix, pages, changed, gone))
        if not pages.pieces:
            return list(items)
        return msgpack.ExtType(LONG, msgpack.packb([prefix, [piece for piece, _ in pages.pieces]]))

    def _long_pages(self, prefix: str, pages: LongPages, changed: set[int], gone: set[int]) -> Written:
        pieces = dict(pages.pieces)
        written: Written = {f"{prefix}/{n}": self._encoder.page(f"{prefix}/{n}", "piece", pieces[n]) for n in sorted(changed)}
        for number in sorted(gone):
            self._encoder.page(f"{prefix}/{number}", "piece", [])
            written[f"{prefix}/{number}"] = None
        return written


class StatePages:
    """All pages of a runtime, then those that have changed. ``notes``: whether changes will be asked for."""

    def __init__(self, state: RuntimeState, *, notes: bool) -> None:
        self._state = state
        table = TypeTable()
        table.add_registered(state.types)
        self._events = EventPages(table)
        self._encoder = PageEncoder(self._events, table)
        self._statements: dict[int, StatementPages] = {}
        for deployment in state.deployments.values():
            for number, statement in enumerate(deployment):
                table.add_statement(statement, deployment.id, number)
                key = statement_key(statement, number)
                self._statements[statement.number] = StatementPages(key, statement, self._encoder, notes=notes)
        self._variables = b""
        if notes:
            state.core.changed_statements = set()

    def all(self) -> Written:
        """Return every page, but for head and clock."""
        written: Written = {}
        for pages in self._statements.values():
            written.update(pages.written())
        return self._finish(written)

    def changed(self) -> Written:
        """Return the pages of the statements that changed since the last call, and what depends on them."""
        written: Written = {}
        core = self._state.core
        changed, core.changed_statements = core.changed_statements or (), set()
        for number in sorted(changed):
            if number in self._statements:
                written.update(self._statements[number].written())
        return self._finish(written)

    def _finish(self, written: Written) -> Written:
        values = {name: cell.value for name, cell in self._state.variables.keyed().items()}
        variables = self._encoder.page("variables", "variables", values)
        if variables != self._variables:
            self._variables = written["variables"] = variables
        written.update(self._events.changed(self._encoder))
        return written


def all_pages(state: RuntimeState, bodies: Mapping[str, Callable[[], Any]]) -> Iterator[tuple[str, bytes]]:
    """Yield every page of a runtime, by its key."""
    for key in ("head", "clock"):
        yield key, Encoder().encode([key, KINDS[key], bodies[key]()])
    for key, packed in StatePages(state, notes=False).all().items():
        if packed is not None:
            yield key, packed


__all__ = ["EVENTS_A_PAGE", "KINDS", "StatePages", "Written", "all_pages", "statement_key"]
