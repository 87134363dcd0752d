"""What output rate limiting keeps of the shapes without groups, and whatever the shape by the selectors default and snapshot."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from runtime.aggregation.factory import Row
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.result_set.output_rate.gathering import BufferBase
from runtime.result_set.projection import OutputRows
from runtime.result_set.rollup import Rollup
from runtime.result_set.rows_in_state import delta_out, restore_delta, restore_row
from runtime.result_set.shapes import Aggregating, FullyAggregated, ResultSet, RowPerGroup, Unaggregated
from windows.event import Event
from windows.failures import Failures, pair_keys
from windows.paging import Paged
from windows.protocol import State
from windows.shape import ANYTHING, BOOLEAN, COUNT, ROW, takes


class Deltas(BufferBase):
    """Default: all deltas, taken one by one at output. Until then the aggregations do not see them, as an iterator shows.

    A delta that raises then is not emitted; the others are, and the first failure is raised in the end. ``_kept``: places of deltas that
    are not emitted.
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

    def flush(self, force: bool) -> None:
        deltas, self._deltas = self._deltas, []
        kept, self._kept = self._kept, set()
        new_rows, old_rows, failures = OutputRows(), OutputRows(), Failures()
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

    @takes({"deltas": [([ROW], [ROW])], "kept": [COUNT]})
    def restore(self, state: State) -> None:
        self._deltas = [restore_delta(delta) for delta in state["deltas"]]
        self._kept = set(state["kept"])


def collect_whole(inner: ResultSet, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
    """Do as ``collect``, but where it raises, no row of the delta is added."""
    mine = OutputRows(), OutputRows()
    inner.collect(new, old, *mine)
    new_rows.add(mine[0])
    old_rows.add(mine[1])


def add_current(inner: FullyAggregated, new_rows: OutputRows, old_rows: OutputRows, *, as_old: bool = True) -> None:
    """Add the row of the aggregations as they are, where a stream has no row; ``as_old``: to the remove stream, too."""
    if inner.needs_new and not new_rows.events:
        inner.current(True, new_rows)
    if as_old and inner.needs_old and not old_rows.events:
        inner.current(False, old_rows)


class AllRows(BufferBase):
    """all, of the shapes without groups: every row, made at once. Without a row, a fully aggregated select gives its current one.

    ``skips``: whether what comes before ``after`` is dropped, as it is where the deltas are gathered that no aggregation reads.
    """

    keep_last = False
    skips = False

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._new, self._old = OutputRows(), OutputRows()

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        collect_whole(self.inner, new, old, self._new, self._old)
        if self.keep_last:
            self._new.keep_last()
            self._old.keep_last()
        return True

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        if not self.skips:
            self.take(new, old)

    def flush(self, force: bool) -> None:
        new, self._new = self._new, OutputRows()
        old, self._old = self._old, OutputRows()
        if isinstance(self.inner, FullyAggregated):
            add_current(self.inner, new, old, as_old=self.repeats_old)
        self.emit(new, old, force)

    def state(self) -> State:
        return [self._new.state(), self._old.state()]

    @takes((ANYTHING, ANYTHING))
    def restore(self, state: State) -> None:
        self._new, self._old = (OutputRows.of(saved) for saved in state)


class LastRow(AllRows):
    """last, of a row per event: the last row of each stream."""

    keep_last = True

    def restore(self, state: State) -> None:
        """Restore the rows; without them, what a version kept that took a statement of a context for fully aggregated."""
        super().restore(state if _has_rows(state) else [_NO_ROWS, state or _NO_ROWS])


class Unlimited(BufferBase):
    """Base of last where aggregations have no groups: its only row of each stream is emitted whatever ``limit`` says, as in Esper."""

    def emit(self, new: OutputRows, old: OutputRows, force: bool) -> None:
        """Pass the rows on."""
        self.inner.emit(new.events, old.events, force)


class LastAggregatedRow(Unlimited, LastRow):
    """last, of a row per event with aggregations."""


class DelayedRows(AllRows):
    """all, of rows without aggregations that may change until output, which are made then. As in Esper having tests them as they come, and
    again at output."""

    inner: Unaggregated

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._late: tuple[list[Row], list[Row]] = ([], [])

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        passing = self.inner.passing(new, True), self.inner.passing(old, False)
        for late, rows in zip(self._late, passing):
            late += rows
            if self.keep_last:
                del late[:-1]
        return True

    def flush(self, force: bool) -> None:
        late, self._late = self._late, ([], [])
        force = force or (self.calls_for_omitted and bool(late[0] or late[1]))
        failures = Failures()
        try:
            collect_whole(self.inner, *late, self._new, self._old)
        except Exception:  # noqa: BLE001 - raised again, by the row that it is of
            for new in late[0]:
                failures.attempt(collect_whole, self.inner, (new,), (), self._new, self._old)
            for old in late[1]:
                failures.attempt(collect_whole, self.inner, (), (old,), self._new, self._old)
        if self.keep_last:
            self._new.keep_last()
            self._old.keep_last()
        if failures.first is None or self._new.events or self._old.events:
            failures.attempt(super().flush, force)
        failures.settle()

    def state(self) -> State:
        return {"rows": delta_out(self._late), "made": super().state()}

    def restore(self, state: State) -> None:
        if isinstance(state, dict):
            self._restore(state)
        else:  # of a version that made rows at once
            super().restore(state)

    @takes({"rows": ([ROW], [ROW]), "made": ANYTHING})
    def _restore(self, state: State) -> None:
        self._late = restore_delta(state["rows"])
        super().restore(state["made"])


class LastLateRow(DelayedRows):
    """last, of rows without aggregations: the last row of each stream."""

    keep_last = True


class LastFullyAggregated(Unlimited):
    """last, fully aggregated: the aggregations as they are, and as they were before the first delta whose row before it meets having."""

    inner: FullyAggregated

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._before: OutputRows | None = None

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        failures = Failures()
        if self._before is None:
            self._before = OutputRows()
        if self.inner.needs_old and not self._before.events:
            failures.attempt(self.inner.current, False, self._before)
        failures.attempt(self.inner.apply, new, old)
        failures.settle()
        return True

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.take(new, old)

    def flush(self, force: bool) -> None:
        before, self._before = self._before or OutputRows(), None
        new_rows = OutputRows()
        add_current(self.inner, new_rows, before, as_old=self.repeats_old)
        self.emit(new_rows, before, force)

    def state(self) -> State:
        return None if self._before is None else self._before.state()

    def restore(self, state: State) -> None:
        """Restore the aggregations before; the old row, of a version that took a statement of a context for one of a row per event."""
        before = state[1] if _has_rows(state) else state
        self._before = None if before is None else OutputRows.of(before)


_NO_ROWS: State = [[], []]


def _has_rows(state: State) -> bool:
    """Return whether the state is that of AllRows: new rows and old ones, each with their keys."""
    return state is not None and all(isinstance(rows, (list, tuple)) and list(map(type, rows)) == [list, list] for rows in state)


class Withheld:
    """all and last, where they are not optimized (``order by``, the hint): what ``gathers`` is to get waits until output, so that neither
    aggregations nor an iterator know of it before."""

    counts_failures = True

    def __init__(self, gathers: BufferBase) -> None:
        self.gathers = gathers
        self._deltas: list[tuple[list[Row], list[Row]]] = []
        self._others: dict[int, str] = {}
        """By the place of a delta that is not just taken: "skip" or "keep"."""

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        self._deltas.append((list(new), list(old)))
        return True

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self._others[len(self._deltas)] = "skip"
        self.take(new, old)

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self._others[len(self._deltas)] = "keep"
        self.take(new, old)

    def flush(self, force: bool) -> None:
        deltas, self._deltas = self._deltas, []
        others, self._others = self._others, {}
        failures = Failures()
        self.gathers.repeats_old = not deltas
        for place, (new, old) in enumerate(deltas):
            failures.attempt(getattr(self.gathers, others.get(place, "take")), new, old)
        failures.attempt(self.gathers.flush, force)
        failures.settle()

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        return self.gathers.contents(contents)

    def state(self) -> State:
        places = {name: sorted(place for place, other in self._others.items() if other == name) for name in ("skip", "keep")}
        return {"deltas": [delta_out(delta) for delta in self._deltas], **places, "gathered": self.gathers.state()}

    def restore(self, state: State) -> None:
        if isinstance(state, dict) and "gathered" in state:
            self._restore(state)
        else:  # of a version that gathered at once
            self.gathers.restore(state)

    @takes({"deltas": [([ROW], [ROW])], "skip": [COUNT], "keep": [COUNT], "gathered": ANYTHING})
    def _restore(self, state: State) -> None:
        self._deltas = [restore_delta(delta) for delta in state["deltas"]]
        self._others = {place: name for name in ("skip", "keep") for place in state[name]}
        self.gathers.restore(state["gathered"])


class First(BufferBase):
    """first, of the shapes without groups: the first delta that gives rows, which ``limit`` leaves, is emitted at once, the rest until the
    condition fires is taken silently. As in Esper, what ``select rstream`` does not select is no first output, but inserted with one."""

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        self._done = self._kept = False
        self._only_old = inner.plan.selector == "rstream" and not isinstance(inner, FullyAggregated)

    @property
    def counts_failures(self) -> bool:  # type: ignore[override]
        return self._done

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self._kept = True
        self.inner.apply(new, old)

    def begin(self) -> None:
        """Take what was kept for the first output, where it would have been one; Esper does not see it where a row of an event has
        aggregations or a having clause."""
        kept, self._kept = self._kept, False
        if kept and isinstance(self.inner, FullyAggregated):
            rows = OutputRows()
            self.inner.current(True, rows)
            self._done = bool(rows.events)
        elif kept and isinstance(self.inner, Unaggregated):
            self._done = self.inner.plan.having is None

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        if self._done:
            self.inner.apply(new, old)
            return True
        new_rows, old_rows = OutputRows(), OutputRows()
        self.inner.collect(new, old, new_rows, old_rows)
        new_events, old_events = self.inner.finish(new_rows), self.inner.finish(old_rows)
        if old_events or (new_events and not self._only_old):
            self._done = True
            self.inner.emit(new_events, old_events, False)
        return self._done

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.apply(new, old)

    def flush(self, force: bool) -> None:
        self._done = False

    def state(self) -> State:
        return self._done

    @takes(BOOLEAN)
    def restore(self, state: State) -> None:
        self._done = state


class Snapshot(BufferBase):
    """snapshot: what the statement's iterator gives, which is nothing of a unidirectional join. Of groups of an unbound stream, it keeps
    the last row of each, until the group is reclaimed. As in Esper, the row that comes first is kept before that, so that its group may be
    dropped as well, and others of its delta afterwards.
    """

    def __init__(self, inner: ResultSet) -> None:
        super().__init__(inner)
        grouped = inner.plan.unbound and isinstance(inner, (RowPerGroup, Rollup))
        self._key: Callable[[Row], Any] | None = inner.key if grouped else None  # type: ignore[attr-defined]
        self._rows: dict[Any, Row] = {}
        self._pages = Paged("last rows", lambda: self._rows, key_to_state, lambda key, row: row)
        if grouped:
            inner.forgetting(self._forget)

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        failures = Failures()
        pairs = () if self._key is None else pair_keys(new, self._key, failures)
        self._keep(pairs[:1])
        failures.attempt(self.inner.apply, new, old)
        self._keep(pairs[1:])
        failures.settle()
        return True

    def _keep(self, pairs: Sequence[tuple[Row, Any]]) -> None:
        for row, key in pairs:
            self._pages.touch(key)
            self._rows[key] = row

    def _forget(self, key: Any) -> None:
        if key in self._rows:
            self._pages.forget(key)
            del self._rows[key]

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.take(new, old)

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        return contents if self._key is None else self._rows.values()

    def flush(self, force: bool) -> None:
        failures = Failures()
        rows = [] if self.inner.plan.unidirectional else self._rows_now(list(self.contents(self.inner.contents())), failures)
        if rows or failures.first is None:
            failures.attempt(self.inner.emit, rows, (), force)
        failures.settle()

    def _rows_now(self, contents: Sequence[Row], failures: Failures) -> list[Event]:
        """Return the rows, but for those that raise."""
        try:
            return self.inner.iterate(contents)
        except Exception as error:  # noqa: BLE001 - raised by settle
            failures.note(error)
        sound = [row for row in contents if failures.attempt(self.inner.iterate, (row,))]
        return self.inner.iterate(sound) if len(sound) < len(contents) else []

    def state(self) -> State:
        return self._pages

    @takes([(ANYTHING, ROW)])
    def restore(self, state: State) -> None:
        self._rows = {key_from_state(values): restore_row(row) for values, row in state}


__all__ = [
    "AllRows",
    "DelayedRows",
    "Deltas",
    "First",
    "LastAggregatedRow",
    "LastFullyAggregated",
    "LastLateRow",
    "LastRow",
    "Snapshot",
    "Withheld",
    "add_current",
    "collect_whole",
]
