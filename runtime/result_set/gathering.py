"""What output rate limiting keeps between two outputs: by selector (default, all, last, first, snapshot) and shape.

Learnt from recorded output of every combination. ``take`` takes a delta, ``put_out`` gives what has come together, ``skip`` takes a delta
that
``after`` keeps from being put out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from epl.plan.result_set import OutputPlan
from runtime.aggregation.factory import Row
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.result_set.group_rows import OneLevel, SearchedLevel
from runtime.result_set.grouped_first import FirstOfGroupEvents, FirstOfGroups
from runtime.result_set.hash_order import ordering
from runtime.result_set.projection import Batch
from runtime.result_set.rollup import Rollup
from runtime.result_set.rows_in_state import delta_in, delta_out, row_in
from runtime.result_set.shapes import Aggregating, FullyAggregated, ResultSet, RowPerEvent, RowPerGroup, Unaggregated
from windows.event import Event
from windows.failures import Failures, keyed
from windows.paging import Paged
from windows.protocol import State


class Gathers(Protocol):
    """What the output stage asks of whatever gathers."""

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        """Take a delta; whether the output condition is to count it."""
        ...

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None: ...

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        """Take a delta in of which nothing is to be put out, now or later."""
        ...

    @property
    def counts_failures(self) -> bool:
        """Whether the output condition is to count a delta for which ``take`` raised: it is in, but for its rows."""
        ...

    def put_out(self, force: bool) -> None: ...

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        """What the statement iterates over, given the window's contents."""
        ...

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class Gathering:
    """Base: works on the statement's result set."""

    counts_failures = True

    def __init__(self, inner: ResultSet) -> None:
        self.inner = inner

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        raise NotImplementedError

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.take(new, old)

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.apply(new, old)

    def put_out(self, force: bool) -> None:
        raise NotImplementedError

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        return contents

    def emit(self, new: Batch, old: Batch, force: bool) -> None:
        """Order, limit, tell the child."""
        self.inner.emit(self.inner.finish(new), self.inner.finish(old), force)

    def state(self) -> State:
        raise NotImplementedError

    def restore(self, state: State) -> None:
        raise NotImplementedError


class Deltas(Gathering):
    """Default: all deltas, taken one by one at output. Until then the aggregations do not see them, as an iterator shows.

    A delta that raises then is not put out; the others are, and the first failure is raised in the end. ``_kept``: places of deltas that
    are not put out.
    """

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._deltas: list[tuple[list[Row], list[Row]]] = []
        self._kept: set[int] = set()

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        self._deltas.append((list(new), list(old)))
        return True

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self._kept.add(len(self._deltas))
        self.take(new, old)

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        if isinstance(self.inner, (Aggregating, Rollup)):
            self.take(new, old)

    def put_out(self, force: bool) -> None:
        deltas, self._deltas = self._deltas, []
        kept, self._kept = self._kept, set()
        new_rows, old_rows, failures = Batch(), Batch(), Failures()
        for place, (new, old) in enumerate(deltas):
            if place in kept:
                failures.attempt(self.inner.apply, new, old)
            else:
                failures.attempt(collect_whole, self.inner, new, old, new_rows, old_rows)
        if not deltas and isinstance(self.inner, FullyAggregated):
            add_current(self.inner, new_rows, old_rows)
        if failures.first is None or new_rows.events or old_rows.events:
            failures.attempt(self.emit, new_rows, old_rows, force)
        failures.settle()

    def state(self) -> State:
        return {"deltas": [delta_out(delta) for delta in self._deltas], "kept": sorted(self._kept)}

    def restore(self, state: State) -> None:
        self._deltas = [delta_in(delta) for delta in state["deltas"]]
        self._kept = set(state["kept"])


def collect_whole(inner: ResultSet, new: Sequence[Row], old: Sequence[Row], new_rows: Batch, old_rows: Batch) -> None:
    """``collect``, but where it raises, no row of the delta is added."""
    mine = Batch(), Batch()
    inner.collect(new, old, *mine)
    new_rows.add(mine[0])
    old_rows.add(mine[1])


def add_current(inner: FullyAggregated, new_rows: Batch, old_rows: Batch) -> None:
    """The row of the aggregations as they are, where a stream has no row."""
    if inner.wants_new and not new_rows.events:
        inner.current(True, new_rows)
    if inner.wants_old and not old_rows.events:
        inner.current(False, old_rows)


class AllRows(Gathering):
    """all, of the shapes without groups: every row, made at once. Without a row, a fully aggregated select gives its current one."""

    keep_last = False

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._new, self._old = Batch(), Batch()

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        collect_whole(self.inner, new, old, self._new, self._old)
        if self.keep_last:
            self._new.keep_last()
            self._old.keep_last()
        return True

    def put_out(self, force: bool) -> None:
        new, self._new = self._new, Batch()
        old, self._old = self._old, Batch()
        if isinstance(self.inner, FullyAggregated):
            add_current(self.inner, new, old)
        self.emit(new, old, force)

    def state(self) -> State:
        return [self._new.state(), self._old.state()]

    def restore(self, state: State) -> None:
        self._new, self._old = (Batch.of(saved) for saved in state)


class LastRow(AllRows):
    """last, of a row per event: the last row of each stream."""

    keep_last = True


class LastFullyAggregated(Gathering):
    """last, fully aggregated: the aggregations as they are, and as they were before the first delta whose row before it meets having."""

    inner: FullyAggregated

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._before: Batch | None = None

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        failures = Failures()
        if self._before is None:
            self._before = Batch()
        if self.inner.wants_old and not self._before.events:
            failures.attempt(self.inner.current, False, self._before)
        failures.attempt(self.inner.apply, new, old)
        failures.settle()
        return True

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.take(new, old)

    def put_out(self, force: bool) -> None:
        before, self._before = self._before or Batch(), None
        new_rows = Batch()
        add_current(self.inner, new_rows, before)
        self.emit(new_rows, before, force)

    def state(self) -> State:
        return None if self._before is None else self._before.state()

    def restore(self, state: State) -> None:
        self._before = None if state is None else Batch.of(state)


class AllGroups(Gathering):
    """all, of a row per group: every group there ever was, touched or not, as it is and as it was before.

    ``searched``: of these, with having, Esper looks for the old row before each single event of a delta (``SearchedLevel``), as recorded
    of groups in ``all`` and of roll-ups in ``last``.
    """

    forget = False
    searched: type[ResultSet] = RowPerGroup

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        parts: Sequence[Any] = inner.levels if isinstance(inner, Rollup) else [inner]
        having = inner.plan.having is not None
        self._by_event = having and isinstance(inner, self.searched) and inner.wants_old and inner.plan.arity == 1
        level = SearchedLevel if self._by_event else OneLevel
        self.levels = [level(part.key, part.rows) for part in parts]

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        failures = Failures()
        if self._by_event:
            for row in new:
                self._take_rows((row,), (), failures)
            for row in old:
                self._take_rows((), (row,), failures)
        else:
            self._take_rows(new, old, failures)
        failures.settle()
        return True

    def _take_rows(self, new: Sequence[Row], old: Sequence[Row], failures: Failures) -> None:
        for level in self.levels:
            failures.attempt(level.touch, new, old, self.inner.wants_old)
        failures.attempt(self.inner.apply, new, old)

    def put_out(self, force: bool) -> None:
        new_rows, old_rows = Batch(), Batch()
        for level in self.levels:
            level.put_out(new_rows if self.inner.wants_new else None, old_rows if self.inner.wants_old else None)
            if self.forget:
                level.forget()
        self.emit(new_rows, old_rows, force)

    def state(self) -> State:
        return [level.state() for level in self.levels]

    def restore(self, state: State) -> None:
        for level, saved in zip(self.levels, state, strict=True):
            level.restore(saved)


class LastOfGroups(AllGroups):
    """last, of a row per group: the groups touched since the last output; with order by, groups that tie come in the order of hashing."""

    forget = True
    searched = Rollup

    def put_out(self, force: bool) -> None:
        if isinstance(self.inner, RowPerGroup) and self.inner.plan.order_by:
            (level,) = self.levels
            level.arrange(self.inner.in_order)
        super().put_out(force)


class LastOfGroupEvents(Gathering):
    """last, grouped aggregated: each group's last row of each stream.

    Of a stream of a delta Esper looks at no more rows once one does not meet having, as recorded.
    """

    inner: RowPerEvent

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._new: dict[Any, tuple[Row, Batch]] = {}
        self._old: dict[Any, tuple[Row, Batch]] = {}
        self._key = self.inner.statement_key

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        self.inner.apply(new, old)
        if self.inner.wants_old:
            self._keep(old, False, self._old)
        if self.inner.wants_new:
            self._keep(new, True, self._new)
        return True

    def _keep(self, rows: Sequence[Row], insert_stream: bool, kept: dict[Any, tuple[Row, Batch]]) -> None:
        for row in rows:
            batch = Batch()
            self.inner.rows((row,), insert_stream, batch)
            if not batch.events:
                return
            kept[self._key(row)] = row, batch

    def put_out(self, force: bool) -> None:
        new_rows, old_rows = Batch(), Batch()
        for kept, batch in ((self._new, new_rows), (self._old, old_rows)):
            for _, one in kept.values():
                batch.add(one)
            kept.clear()
        self.emit(new_rows, old_rows, force)

    def state(self) -> State:
        return [[[row, batch.state()] for row, batch in kept.values()] for kept in (self._new, self._old)]

    def restore(self, state: State) -> None:
        for kept, saved in zip((self._new, self._old), state, strict=True):
            kept.clear()
            for row, batch in saved:
                kept[self._key(row_in(row))] = row_in(row), Batch.of(batch)


class AllGroupEvents(Gathering):
    """all, grouped aggregated: every row; after those of each delta, the last event of each group that a row has left (not so with order
    by,
    as recorded); in the end the last event of each group that was not touched."""

    inner: RowPerEvent

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._new, self._old = Batch(), Batch()
        self._last: dict[Any, Row] = {}
        self._touched: dict[Any, Row] = {}
        self._pages = Paged("group events", lambda: self._last, key_to_state, lambda key, row: [row, self._touched.get(key)])
        self._optimized = inner.plan.output is not None and inner.plan.output.optimized
        self._order = ordering([e.type for e in inner.plan.group_by])
        self._key = self.inner.statement_key

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        failures = Failures()
        for row, key in keyed(new, self._key, failures):
            self._pages.touch(key)
            self._last[key] = self._touched[key] = row
        failures.attempt(collect_whole, self.inner, new, old, self._new, self._old)
        failures.settle()
        if self._optimized:
            self._add_left(old)
        return True

    def _add_left(self, old: Sequence[Row]) -> None:
        """The last events of the groups that rows have left, in the order of a hash map."""
        left: dict[Any, Row] = {}
        for row in old:
            key = self._key(row)
            self._pages.touch(key)
            left[key] = self._last.setdefault(key, row)
            self._touched[key] = row
        keys = list(left)
        if self._order is not None and len(keys) > 1:
            keys = [keys[i] for i in self._order(keys)]
        if self.inner.wants_new:
            self.inner.rows([left[key] for key in keys], True, self._new)

    def put_out(self, force: bool) -> None:
        new, self._new = self._new, Batch()
        old, self._old = self._old, Batch()
        if self.inner.wants_new:
            self.inner.rows([row for key, row in self._last.items() if key not in self._touched], True, new)
        for key in self._touched:
            self._pages.touch(key)
        self._touched.clear()
        self.emit(new, old, force)

    def state(self) -> State:
        return [self._new.state(), self._old.state(), self._pages]

    def restore(self, state: State) -> None:
        new, old, groups = state
        entries = [(key_from_state(values), *rows) for values, rows in groups]
        self._new, self._old = Batch.of(new), Batch.of(old)
        self._last = {key: row_in(last) for key, last, _ in entries}
        self._touched = {key: row_in(touched) for key, _, touched in entries if touched is not None}


class First(Gathering):
    """first, of the shapes without groups: the first delta that gives rows is put out at once, the rest until the condition fires is taken
    silently."""

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._done = False

    @property
    def counts_failures(self) -> bool:  # type: ignore[override]
        return self._done

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        if self._done:
            self.inner.apply(new, old)
            return True
        new_rows, old_rows = Batch(), Batch()
        self.inner.collect(new, old, new_rows, old_rows)
        if new_rows.events or old_rows.events:
            self._done = True
            self.emit(new_rows, old_rows, False)
        return self._done

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.apply(new, old)

    def put_out(self, force: bool) -> None:
        self._done = False

    def state(self) -> State:
        return self._done

    def restore(self, state: State) -> None:
        self._done = state


class Snapshot(Gathering):
    """snapshot: what the statement's iterator gives. Of groups of an unbound stream, it keeps the last row of each."""

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        grouped = inner.plan.unbound and isinstance(inner, (RowPerGroup, Rollup))
        self._key: Callable[[Row], Any] | None = inner.key if grouped else None  # type: ignore[attr-defined]
        self._rows: dict[Any, Row] = {}
        self._pages = Paged("last rows", lambda: self._rows, key_to_state, lambda key, row: row)

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        failures = Failures()
        if self._key is not None:
            for row, key in keyed(new, self._key, failures):
                self._pages.touch(key)
                self._rows[key] = row
        failures.attempt(self.inner.apply, new, old)
        failures.settle()
        return True

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.take(new, old)

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        return contents if self._key is None else self._rows.values()

    def put_out(self, force: bool) -> None:
        failures = Failures()
        rows = self._rows_now(list(self.contents(self.inner.contents())), failures)
        if rows or failures.first is None:
            failures.attempt(self.inner.emit, rows, (), force)
        failures.settle()

    def _rows_now(self, contents: Sequence[Row], failures: Failures) -> list[Event]:
        """The rows, but for those that raise."""
        try:
            return self.inner.iterate(contents)
        except Exception as error:  # noqa: BLE001 - raised by settle
            failures.note(error)
        sound = [row for row in contents if failures.attempt(self.inner.iterate, (row,))]
        return self.inner.iterate(sound) if len(sound) < len(contents) else []

    def state(self) -> State:
        return self._pages

    def restore(self, state: State) -> None:
        self._rows = {key_from_state(values): row_in(row) for values, row in state}


GATHERINGS: Mapping[tuple[str, type[ResultSet]], Callable[..., Gathering]] = {
    ("all", Unaggregated): AllRows,
    ("all", FullyAggregated): AllRows,
    ("all", RowPerEvent): AllRows,
    ("all", RowPerGroup): AllGroups,
    ("all", Rollup): AllGroups,
    ("last", Unaggregated): LastRow,
    ("last", FullyAggregated): LastFullyAggregated,
    ("last", RowPerEvent): LastRow,
    ("last", RowPerGroup): LastOfGroups,
    ("last", Rollup): LastOfGroups,
    ("first", Unaggregated): First,
    ("first", FullyAggregated): First,
    ("first", RowPerEvent): First,
}
"""The selectors that depend on the shape, where rows have no groups or are groups; rows of events with groups are below."""


def build_gathering(plan: OutputPlan, inner: ResultSet, context: Any) -> Gathers:
    """What gathers for a selector and a result set."""
    if plan.selector == "default":
        return Deltas(inner)
    if plan.selector == "snapshot":
        return Snapshot(inner)
    grouped_events = isinstance(inner, RowPerEvent) and inner.plan.shape == "grouped aggregated"
    if grouped_events and plan.selector == "first":
        return FirstOfGroupEvents(inner, plan, context)
    if grouped_events:
        return AllGroupEvents(inner) if plan.selector == "all" else LastOfGroupEvents(inner)
    if plan.selector == "first" and isinstance(inner, (RowPerGroup, Rollup)):
        return FirstOfGroups(inner, plan, context)
    return GATHERINGS[plan.selector, type(inner)](inner)
