"""What output rate limiting keeps of groups, by the selectors all and last; first has runtime.result_set.output_rate.first_of_groups."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.aggregation.factory import Row
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.result_set.hash_order import ordering
from runtime.result_set.output_rate.gathering import BufferBase
from runtime.result_set.output_rate.group_rows import OneLevel, SearchedLevel
from runtime.result_set.output_rate.rows import collect_whole
from runtime.result_set.projection import OutputRows
from runtime.result_set.rollup import Rollup
from runtime.result_set.rows_in_state import restore_row
from runtime.result_set.shapes import ResultSet, RowPerEvent, RowPerGroup
from windows.failures import Failures, pair_keys
from windows.paging import Paged
from windows.protocol import State
from windows.shape import ANYTHING, ROW, optional, takes


class AllGroups(BufferBase):
    """all, of a row per group: every group there ever was, touched or not, as it is and as it was before.

    ``searched``: of these, with having, Esper looks for the old row before each single event of a delta (``SearchedLevel``), as recorded
    of groups in ``all``, where they are not ordered, and of roll-ups in ``last``.
    """

    forget = False
    searched: type[ResultSet] = RowPerGroup

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        parts: Sequence[Any] = inner.levels if isinstance(inner, Rollup) else [inner]
        having = inner.plan.having is not None
        ordered = bool(inner.plan.order_by) and not isinstance(inner, Rollup)
        self._by_event = having and isinstance(inner, self.searched) and inner.needs_old and not ordered
        self._keeps_leaving = isinstance(inner, RowPerGroup) and inner.needs_old and not (self.forget or self._by_event)
        level = SearchedLevel if self._by_event else OneLevel
        by_new = not self.forget and isinstance(inner, RowPerGroup) and inner.plan.output is not None and inner.plan.output.optimized
        self.levels = [level(part.key, part.rows, by_new=by_new) for part in parts]

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
            if self._keeps_leaving:
                level.keep_leaving(self.inner.leaving_groups(), failures)
            failures.attempt(level.touch, new, old, self.inner.needs_old)
        failures.attempt(self.inner.apply, new, old)

    def flush(self, force: bool) -> None:
        new_rows, old_rows = OutputRows(), OutputRows()
        for level in self.levels:
            level.flush(new_rows if self.inner.needs_new else None, old_rows if self.inner.needs_old else None)
            if self.forget:
                level.forget()
        self.emit(new_rows, old_rows, force)

    def state(self) -> State:
        return [level.state() for level in self.levels]

    @takes([ANYTHING])
    def restore(self, state: State) -> None:
        for level, saved in zip(self.levels, state, strict=True):
            level.restore(saved)


class LastOfGroups(AllGroups):
    """last, of a row per group: the groups touched since the last output, in the order of hashing where the clause is not optimized."""

    forget = True
    searched = Rollup

    def flush(self, force: bool) -> None:
        output = self.inner.plan.output
        if isinstance(self.inner, RowPerGroup) and output is not None and not output.optimized:
            (level,) = self.levels
            level.arrange(self.inner.in_order)
        super().flush(force)


class LastOfGroupEvents(BufferBase):
    """last, grouped aggregated: each group's last row of each stream. As in Esper, both see what rows see that leave (istream() is
    false) where the clause is optimized.

    Of a stream of a delta Esper looks at no more rows once one does not meet having, as recorded.
    """

    inner: RowPerEvent

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._new: dict[Any, tuple[Row, OutputRows]] = {}
        self._old: dict[Any, tuple[Row, OutputRows]] = {}
        self._key = self.inner.statement_key
        output = inner.plan.output
        self._as_new = output is not None and not output.optimized

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        self.inner.apply(new, old)
        if self.inner.needs_old:
            self._keep(old, False, self._old)
        if self.inner.needs_new:
            self._keep(new, self._as_new, self._new)
        return True

    def _keep(self, rows: Sequence[Row], insert_stream: bool, kept: dict[Any, tuple[Row, OutputRows]]) -> None:
        for row in rows:
            batch = OutputRows()
            self.inner.rows((row,), insert_stream, batch)
            if not batch.events:
                return
            kept[self._key(row)] = row, batch

    def flush(self, force: bool) -> None:
        new_rows, old_rows = OutputRows(), OutputRows()
        for kept, batch in ((self._new, new_rows), (self._old, old_rows)):
            for _, one in kept.values():
                batch.add(one)
            kept.clear()
        self.emit(new_rows, old_rows, force)

    def state(self) -> State:
        return [[[row, batch.state()] for row, batch in kept.values()] for kept in (self._new, self._old)]

    @takes(([(ROW, ANYTHING)], [(ROW, ANYTHING)]))
    def restore(self, state: State) -> None:
        for kept, saved in zip((self._new, self._old), state, strict=True):
            kept.clear()
            for row, batch in saved:
                kept[self._key(restore_row(row))] = restore_row(row), OutputRows.of(batch)


class AllGroupEvents(BufferBase):
    """all, grouped aggregated: every row; after those of each delta, the last event of each group that a row has left (not so with order
    by,
    as recorded); in the end the last event of each group that was not touched."""

    inner: RowPerEvent

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._new, self._old = OutputRows(), OutputRows()
        self._last: dict[Any, Row] = {}
        self._touched: dict[Any, Row] = {}
        self._pages = Paged("group events", lambda: self._last, key_to_state, lambda key, row: [row, self._touched.get(key)])
        self._optimized = inner.plan.output is not None and inner.plan.output.optimized
        self._order = ordering([e.type for e in inner.plan.group_by])
        self._key = self.inner.statement_key

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        failures = Failures()
        for row, key in pair_keys(new, self._key, failures):
            self._pages.touch(key)
            self._last[key] = self._touched[key] = row
        failures.attempt(collect_whole, self.inner, new, old, self._new, self._old)
        failures.settle()
        if self._optimized:
            self._add_left(old)
        return True

    def _add_left(self, old: Sequence[Row]) -> None:
        """Add the last events of the groups that rows have left, in the order of a hash map."""
        left: dict[Any, Row] = {}
        for row in old:
            key = self._key(row)
            self._pages.touch(key)
            left[key] = self._last.setdefault(key, row)
            self._touched[key] = row
        keys = list(left)
        if self._order is not None and len(keys) > 1:
            keys = [keys[i] for i in self._order(keys)]
        if self.inner.needs_new:
            self.inner.rows([left[key] for key in keys], True, self._new)

    def flush(self, force: bool) -> None:
        new, self._new = self._new, OutputRows()
        old, self._old = self._old, OutputRows()
        if self.inner.needs_new:
            self.inner.rows([row for key, row in self._last.items() if key not in self._touched], True, new)
        for key in self._touched:
            self._pages.touch(key)
        self._touched.clear()
        self.emit(new, old, force)

    def state(self) -> State:
        return [self._new.state(), self._old.state(), self._pages]

    @takes((ANYTHING, ANYTHING, [(ANYTHING, (ROW, optional(ROW)))]))
    def restore(self, state: State) -> None:
        new, old, groups = state
        entries = [(key_from_state(values), *rows) for values, rows in groups]
        self._new, self._old = OutputRows.of(new), OutputRows.of(old)
        self._last = {key: restore_row(last) for key, last, _ in entries}
        self._touched = {key: restore_row(touched) for key, _, touched in entries if touched is not None}


__all__ = ["AllGroupEvents", "AllGroups", "LastOfGroupEvents", "LastOfGroups"]
