"""The rows of one window, and the indexes over them."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Protocol

from epl.errors import EplDeploymentError, EplRuntimeError
from epl.generated_code import field_name
from epl.plan.expressions import StreamProperty
from epl.plan.join.lookups import IndexPlan, NamedIndex
from epl.plan.stores.on_statements import Offered
from runtime.aggregation.sorted_bag import SortedBag
from runtime.expressions import Environment
from runtime.expressions.compiled import define_function
from runtime.expressions.print_keys import is_plain_key, key_text
from runtime.expressions.printer import Printer
from runtime.stores.counting import active
from runtime.stores.restrictions import Restriction, index_restrictions
from runtime.stores.spatial_index import SpatialIndex, first_taken
from windows.buckets import is_sparse, put, take
from windows.event import NO_EVENTS, Event
from windows.paging import Long
from windows.shape import EVENT, takes

Rows = Iterable[Event]
KeyOf = Callable[[Event], Any]
"""The key of a row; of an index by hash and range, the pair of both keys."""


class StoreIndex(Protocol):
    """A row that is added twice is held once; one that is not held may be removed."""

    def update(self, new: Rows, old: Sequence[Event]) -> None: ...

    def clear(self) -> None: ...


NONE = (None,)


class HashIndex:
    """Rows by key, those of one key in order of arrival."""

    __slots__ = ("_key_of", "_buckets", "find")

    def __init__(self, key_of: KeyOf) -> None:
        self._key_of = key_of
        self._buckets: dict[Any, Any] = {}
        self.find: Callable[[Any], Rows | None] = self._buckets.get
        """The rows of a key, None where there are none."""

    def update(self, new: Rows, old: Sequence[Event]) -> None:
        buckets, key_of = self._buckets, self._key_of
        replaced = old[0] if len(old) == 1 and new else None
        # a changed row takes the place of its key's only row at once: no dict is made for the moment when both are there
        for row in new:
            key = key_of(row)
            bucket = buckets.get(key)
            if bucket is None:
                buckets[key] = (row,)
            elif replaced is not None and bucket.__class__ is tuple and bucket[0] is replaced:
                buckets[key] = (row,)
                old = NO_EVENTS
            elif bucket.__class__ is dict:
                bucket[row] = None
            else:
                buckets[key] = {bucket[0]: None, row: None}
        for row in old:
            key = key_of(row)
            bucket = buckets.get(key)
            if bucket.__class__ is not tuple:
                take(buckets, key, row)
            elif bucket[0] is row:  # so are most keys
                del buckets[key]

    def find_each(self, keys: Iterable[Any], null_safe: bool) -> Rows:
        """Return the rows of one key after the other; a key that was there before finds nothing more, and null only if ``null_safe``."""
        buckets = self._buckets
        return [row for key in dict.fromkeys(keys) if key is not None or null_safe for row in buckets.get(key, NO_EVENTS)]

    def clear(self) -> None:
        self._buckets.clear()


class UniqueIndex(HashIndex):
    """At most one row of a key: ``conflict`` is asked before rows come."""

    __slots__ = ()

    def conflict(self, new: Rows, old: Sequence[Event]) -> Event | None:
        """Return the first new row whose key another row has."""
        return first_taken(lambda key: self._buckets.get(key, NONE)[0], self._key_of, new, old)

    def update(self, new: Rows, old: Sequence[Event]) -> None:
        buckets, key_of = self._buckets, self._key_of
        for row in new:
            buckets[key_of(row)] = (row,)
        for row in old:
            take(buckets, key_of(row), row)


class SortedRows:
    """Rows by a key in ascending order, those of equal keys in order of arrival. Null is in no range, NaN only outside of one."""

    __slots__ = ("_buckets", "_keys", "_unordered")

    def __init__(self) -> None:
        self._buckets: dict[Any, Any] = {}
        self._keys = SortedBag()
        self._unordered: dict[Event, None] = {}

    def add(self, key: Any, row: Event) -> None:
        if key is None:
            return
        if key != key:
            self._unordered[row] = None
        elif put(self._buckets, key, row):
            self._keys.add(key)

    def remove(self, key: Any, row: Event) -> None:
        if key is None:
            return
        if key != key:
            self._unordered.pop(row, None)
        elif take(self._buckets, key, row):
            self._keys.remove(key)

    def __bool__(self) -> bool:
        return bool(self._buckets or self._unordered)

    def clear(self) -> None:
        self._buckets.clear()
        self._keys.clear()
        self._unordered.clear()

    def between(self, low: Any, high: Any, include_low: bool, include_high: bool) -> Rows:
        """Return the rows from ``low`` to ``high``, each included or not; None is not a bound."""
        if low != low or high != high:
            return NO_EVENTS
        buckets = self._buckets
        keys = self._keys.between(low, high, include_low=include_low, include_high=include_high)
        return [row for key in keys for row in buckets[key]]

    def outside(self, low: Any, high: Any, include_low: bool, include_high: bool) -> Rows:
        """Return the rows that are not from ``low`` to ``high``, each included or not, where ``low`` is not above ``high``."""
        if not low <= high or (low == high and not (include_low or include_high)):
            return [*self.between(None, None, True, True), *self._unordered]
        return [
            *self.between(None, low, True, not include_low), *self.between(high, None, not include_high, True), *self._unordered]


class SortedIndex(SortedRows):
    """Rows in the order of one key."""

    __slots__ = ("_key_of",)

    def __init__(self, key_of: KeyOf) -> None:
        super().__init__()
        self._key_of = key_of

    def update(self, new: Rows, old: Rows) -> None:
        key_of = self._key_of
        for row in new:
            self.add(key_of(row), row)
        for row in old:
            self.remove(key_of(row), row)


class HashedSortedIndex:
    """Rows by one key, those of one key in the order of another."""

    __slots__ = ("_keys_of", "_buckets", "find")

    def __init__(self, keys_of: KeyOf) -> None:
        self._keys_of = keys_of
        self._buckets: dict[Any, SortedRows] = {}
        self.find: Callable[[Any], SortedRows | None] = self._buckets.get
        """The rows of a hash key, None where there are none."""

    def update(self, new: Rows, old: Rows) -> None:
        buckets, keys_of = self._buckets, self._keys_of
        for row in new:
            hashed, key = keys_of(row)
            if key is not None:
                rows = buckets.get(hashed)
                if rows is None:
                    rows = buckets[hashed] = SortedRows()
                rows.add(key, row)
        for row in old:
            hashed, key = keys_of(row)
            rows = buckets.get(hashed)
            if rows is not None:
                rows.remove(key, row)
                if not rows:
                    del buckets[hashed]

    def clear(self) -> None:
        self._buckets.clear()


class Arrivals:
    """The rows' numbers in order of arrival: kept once they were asked for."""

    __slots__ = ("_numbers", "_next")

    def __init__(self) -> None:
        self._numbers: dict[Event, int] = {}
        self._next = 0

    def update(self, new: Rows, old: Rows) -> None:
        numbers = self._numbers
        for row in new:
            numbers.setdefault(row, self._next)
            self._next += 1
        for row in old:
            numbers.pop(row, None)

    def in_order(self, rows: Rows) -> Rows:
        return sorted(rows, key=self._numbers.__getitem__)


def build_index(plan: IndexPlan, environment: Environment) -> StoreIndex:
    """Return an empty index; its key is compiled once a statement."""
    if plan.space:
        return SpatialIndex(plan, environment)
    key_of = environment.printed("index key", (plan,), lambda: _key_function(plan))
    if not plan.hash:
        return SortedIndex(key_of)
    return HashedSortedIndex(key_of) if plan.ranges else UniqueIndex(key_of) if plan.unique else HashIndex(key_of)


def _key_function(plan: IndexPlan) -> KeyOf:
    if not plan.ranges and all(isinstance(key, StreamProperty) and is_plain_key(key) for key in plan.hash):
        return attrgetter(*(field_name(key.name) for key in plan.hash if isinstance(key, StreamProperty)))
    printer = Printer(Environment(), 1)
    texts = [key_text(plan.hash, printer)] if plan.hash else []
    texts += [printer.value(key) for key in plan.ranges]
    return define_function(f"def evaluate(e0):\n    return {', '.join(texts)}\n", printer.bindings)


class IndexedRows:
    """Rows in order of arrival, each once, and the indexes over them. Equal indexes are one, for all who ask; the last to release it drops
    it."""

    __slots__ = ("_rows", "_indexes", "_users", "_arrivals", "_restrictions", "_offers", "counts", "restricted")

    def __init__(self, rows: Rows = ()) -> None:
        self._rows: dict[Event, None] = dict.fromkeys(rows)
        self._indexes: dict[IndexPlan, StoreIndex] = {}
        self._users: dict[IndexPlan, int] = {}
        self._offers: Counter[Offered] = Counter()
        self._arrivals: Arrivals | None = None
        self._restrictions: dict[NamedIndex, list[Restriction]] = {}
        self.restricted = False
        """Whether an index may refuse rows."""
        self.counts = active()
        """Where rows that are read are counted, for tests; None elsewhere."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Add the rows ``new``, then remove the rows ``old``; those that are not held are ignored."""
        rows = self._rows
        for row in new:
            rows[row] = None
        if old:
            for row in old:
                rows.pop(row, None)
            count = len(rows)
            if not count & (count - 1) and is_sparse(rows):  # as is_sparse does, without a call
                self._rows = dict(rows)
        for index in self._indexes.values():
            index.update(new, old)
        if self._arrivals is not None:
            self._arrivals.update(new, old)

    def in_order(self, rows: Rows) -> Rows:
        """Return some of the rows in the order in which all are read: that in which they have arrived."""
        if self._arrivals is None:
            self._arrivals = Arrivals()
            self._arrivals.update(self._rows, ())
        return self._arrivals.in_order(rows)

    def index(self, plan: IndexPlan, environment: Environment) -> StoreIndex:
        """Return the index, built now if no one has asked for it before."""
        index = self._indexes.get(plan)
        if index is None:
            index = self._indexes[plan] = build_index(plan, environment)
            index.update(self._rows, ())
        self._users[plan] = self._users.get(plan, 0) + 1
        return index

    def find_index(self, plan: IndexPlan) -> StoreIndex:
        """Return an index that was asked for and is not released."""
        return self._indexes[plan]

    def release(self, plan: IndexPlan) -> None:
        """Release the index, which the caller does not need any more."""
        self._users[plan] -= 1
        if not self._users[plan]:
            del self._users[plan], self._indexes[plan]

    # ------------------------------------------------------------------ orders in which queries give rows

    def offer(self, index: Offered) -> None:
        """Let queries that bound the property give rows in its order, those that compare the properties in order of arrival, until
        ``withdraw``."""
        self._offers[index] += 1

    def withdraw(self, index: Offered) -> None:
        self._offers[index] -= 1
        if not self._offers[index]:
            del self._offers[index]

    def offers(self, name: str) -> bool:
        """Return whether queries that bound the property give rows in its order."""
        return name in self._offers

    def offers_equal(self, names: frozenset[str]) -> bool:
        """Return whether queries that compare the properties give rows in order of arrival."""
        return any(isinstance(index, frozenset) and index <= names for index in self._offers)

    # ------------------------------------------------------------------ indexes that were created

    def create(self, named: NamedIndex, environment: Environment, *, is_unique: bool = False) -> None:
        """Keep an index until ``drop``. Raise EplDeploymentError, and keep nothing, where the rows are not as it asks.

        ``is_unique``: each row's key is its own in any case, whatever rows come.
        """
        if is_unique:
            self.index(named.plan, environment)
            return
        try:
            restrictions = index_restrictions(named, build_index(named.plan, environment), environment)
            for restriction in restrictions:
                restriction(self._rows, ())
        except EplRuntimeError as error:
            raise EplDeploymentError(f"Failed to deploy: {error.message}") from None
        restrictions = index_restrictions(named, self.index(named.plan, environment), environment)
        if restrictions:
            self._restrictions[named] = restrictions
            self.restricted = True

    def drop(self, named: NamedIndex) -> None:
        self._restrictions.pop(named, None)
        self.restricted = bool(self._restrictions)
        self.release(named.plan)

    def check(self, new: Rows, old: Sequence[Event]) -> None:
        """Raise EplRuntimeError where an index refuses one of the rows ``new``, which come as the rows ``old`` leave."""
        for restrictions in self._restrictions.values():
            for restriction in restrictions:
                restriction(new, old)

    @property
    def indexes(self) -> tuple[IndexPlan, ...]:
        """Return the indexes that are kept."""
        return tuple(self._indexes)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._rows) if self.counts is None else self.counts.read(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    def clear(self) -> None:
        self._replace({})

    def state(self) -> Any:
        """Return the rows; indexes are built again from them."""
        return Long(self._rows)

    @takes([EVENT])
    def restore(self, state: Any) -> None:
        self._replace(dict.fromkeys(state))

    def _replace(self, rows: dict[Event, None]) -> None:
        self._rows, self._arrivals = rows, None
        for index in self._indexes.values():
            index.clear()
            index.update(rows, ())


class LentRows(IndexedRows):
    """The rows of another statement, with its indexes; ``close`` releases those that were asked for."""

    __slots__ = ("_lender", "_asked")

    def __init__(self, lender: IndexedRows) -> None:
        super().__init__()
        self.counts = lender.counts
        self._lender = lender
        self._asked: list[IndexPlan] = []

    def index(self, plan: IndexPlan, environment: Environment) -> StoreIndex:
        self._asked.append(plan)
        return self._lender.index(plan, environment)

    def in_order(self, rows: Rows) -> Rows:
        return self._lender.in_order(rows)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._lender)

    def __len__(self) -> int:
        return len(self._lender)

    def __contains__(self, row: object) -> bool:
        return row in self._lender

    @property
    def asked(self) -> list[StoreIndex]:
        """The indexes that were asked for, in that order."""
        return [self._lender.find_index(plan) for plan in self._asked]

    def close(self) -> None:
        while self._asked:
            self._lender.release(self._asked.pop())


class WindowRows(LentRows):
    """The rows of a named window with its indexes: read in the order of its data windows."""

    __slots__ = ("_window", "_sorts")

    def __init__(self, lender: IndexedRows, window: Iterable[Event], *, by_arrival: bool) -> None:
        super().__init__(lender)
        self._window, self._sorts = window, not by_arrival

    def __iter__(self) -> Iterator[Event]:
        rows = iter(self._window)
        return rows if self.counts is None else self.counts.read(rows)

    def in_order(self, rows: Rows) -> Rows:
        if not self._sorts:
            return super().in_order(rows)
        chosen = dict.fromkeys(rows)
        return chosen if len(chosen) < 2 else [row for row in self._window if row in chosen]


__all__ = ["HashIndex", "HashedSortedIndex", "IndexedRows", "LentRows", "SortedIndex", "SortedRows", "StoreIndex", "UniqueIndex",
    "WindowRows"]
