"""A named window at run time: its rows, the indexes over them, and who consumes what enters and leaves it."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from epl.errors import EplRuntimeError
from epl.plan.expressions import TypedExpression
from epl.plan.join.lookups import NamedIndex
from epl.plan.streams import NamedWindow
from runtime.event_loop.store_deltas import Consumer, StoreDeltas
from runtime.expressions import Environment
from runtime.stores.indexes import IndexedRows
from runtime.stores.queried_rows import QueriedRows
from windows.event import NO_EVENTS, Event
from windows.protocol import RowReceiver, View


class NamedWindowStore:
    """Downstream of the data windows ``chain``, which determine what is held and in which order it is iterated.

    ``rows``: the same rows, with the indexes that look-ups ask for. ``output`` gets every delta, then it waits for the consumers.
    ``changing``: called before other statements change rows. ``batches``: whether a data window releases rows in batches. ``collects``:
    whether it is the only one, so that the rows of the open batch can be looked up, too. ``steady``: whether none evicts rows because
    others come. ``unique``: expressions of which the windows hold one row for each combination of values. ``in_order``: whether they are
    iterated in the order in which they have arrived. ``queried``: the rows, for queries.
    """

    def __init__(
        self, window: NamedWindow, chain: View, output: RowReceiver, deltas: StoreDeltas, changing: Callable[[], None], *, batches: bool,
        collects: bool, steady: bool, in_order: bool, unique: Sequence[TypedExpression] = (),
    ) -> None:
        self.window = window
        self.rows = IndexedRows()
        self.queried = QueriedRows(self.rows)
        self.in_order = in_order
        self._chain = chain
        self._output = output
        self._deltas = deltas
        self._consumers: dict[Consumer, None] = {}
        self._filling = self._silent = False
        self._changing = changing
        self.batches = batches
        self.collects = collects
        self._steady = steady
        self._unique = frozenset(unique)
        self._entering = False
        self._refused: tuple[EplRuntimeError, Sequence[Event]] | None = None
        chain.child = self

    # ------------------------------------------------------------------ rows

    def change(self, new: Sequence[Event], old: Sequence[Event], *, silent: bool = False) -> None:
        """Let rows enter, and others leave: through the data windows, which may evict more of them. ``silent``: consumers alone get it.

        Without rows, listeners are called all the same, as in Esper; not where rows are released in batches.
        """
        if not (new or old):
            if not self.batches:
                self._output.update(NO_EVENTS, NO_EVENTS)
            return
        if self._consumers and new:
            self._deltas.changing(self.window.event_type.name, len(new))
        self._changing()
        if not silent:
            if self.batches or self.rows.restricted:
                self.enter(new, old)
            else:
                self._chain.update(new, old)
            return
        self._silent = True
        try:
            self.enter(new, old)
        finally:
            self._silent = False

    def create_index(self, named: NamedIndex, environment: Environment) -> None:
        """Keep an index until ``rows.drop``; see IndexedRows.create."""
        self.rows.create(named, environment, is_unique=bool(self._unique) and self._unique == frozenset(named.plan.hash))

    def check(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Raise EplRuntimeError where an index refuses the rows before anything changes; see ``enter``."""
        if new and self.rows.restricted and (self._steady or old):
            self.rows.check(new, old)

    def enter(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Pass a delta to the data windows. Rows that wait in a lone batch window can be looked up already.

        Raise EplRuntimeError where an index refuses a row: then the rows do not enter, and what they would replace stays. Rows that take
        the place of others are refused before the windows say what they evict.
        """
        if self.rows.restricted and new:
            if not (self._steady or old):
                self._enter_or_leave(new)
                return
            self.rows.check(new, old)
        if self.collects:
            self.rows.update(new, old)
        self._chain.update(new, old)

    def _enter_or_leave(self, new: Sequence[Event]) -> None:
        """Pass rows to windows that evict others by them. Those that an index refuses leave again; what they have evicted has gone."""
        self._entering = True
        try:
            self._chain.update(new, NO_EVENTS)
            if self._refused is not None:
                self._chain.update(NO_EVENTS, new)
        finally:
            refused, self._refused, self._entering = self._refused, None, False
        if refused is not None:
            error, evicted = refused
            if evicted:
                self.update(NO_EVENTS, evicted)
            raise error

    def fill(self, rows: Sequence[Event]) -> None:
        """Begin with these rows; no listener and no consumer gets them."""
        self._filling = True
        try:
            self.enter(rows, NO_EVENTS)
        finally:
            self._filling = False

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take a delta of the data windows."""
        if self._refused is not None:
            return
        if self._entering and new:
            try:
                self.rows.check(new, old)
            except EplRuntimeError as error:
                self._refused = error, old
                return
        self.rows.update(NO_EVENTS if self.collects else new, old)
        if self._filling:
            return
        if not self._silent:
            self._output.update(new, old)
        if self._consumers and (new or old):  # as in Esper, a batch that is forced without rows is the window's own
            self._deltas.add(self._consumers, new, old)

    def order_rows(self, rows: Sequence[Event]) -> Sequence[Event]:
        """Return some of the rows, which are in order of arrival, in the order of the data windows."""
        if self.in_order or len(rows) < 2:
            return rows
        chosen = dict.fromkeys(rows)
        return [row for row in self if row in chosen]

    def row_count(self) -> int:
        """Return how many rows there are."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Event]:
        """The rows in the order of the data windows."""
        return iter(self._chain)

    # ------------------------------------------------------------------ consumers

    def add(self, consumer: Consumer) -> None:
        self._consumers[consumer] = None

    def remove(self, consumer: Consumer) -> None:
        self._consumers.pop(consumer, None)
        self._deltas.forget(consumer)


__all__ = ["NamedWindowStore"]
