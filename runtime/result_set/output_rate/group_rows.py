"""What output all and last keep of the groups of a level between two outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from epl.attribute_text import name_attributes
from runtime.aggregation.factory import Row
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.expressions.generated_steps import GeneratedSteps
from runtime.result_set.projection import OutputRows
from runtime.result_set.rows_in_state import restore_row
from windows.failures import Failures, pair_keys
from windows.paging import Paged
from windows.protocol import State

AddRows = Callable[[Any, bool, OutputRows], None]


class OneLevel:
    """The groups of a level: key → last row, and the row put into the remove stream as it was before the first touch.

    A group that had no row then (having) gets none, whatever it has had since. ``by_new``: rows that leave are not kept as a group's last
    row; a group that rows only left (the first row of a derived-value view does) is in the remove stream alone, once.
    """

    def __init__(self, key: Callable[[Row], Any], rows: AddRows, *, by_new: bool = False) -> None:
        self.key = key
        self.add_rows = rows
        self.by_new = by_new
        self.rows: dict[Any, Row] = {}
        self.before: dict[Any, OutputRows] = {}
        self.touched: set[Any] = set()
        self._arranged: list[tuple[Any, Row]] | None = None
        self.pages = Paged("group rows", self._groups, key_to_state, self._entry)

    def steps(self) -> GeneratedSteps:
        """Return the steps of ``touch`` with one event ``e`` of the key ``k``, for an output that does not want the rows as they were
        before."""
        level, pages = name_attributes("level", self), name_attributes("level_pages", self.pages)
        noted = [f"{level.rows}[k] = e", f"{level.touched.add}(k)", f"if {pages.touched} is not None: {pages.touched}[k] = None"]
        return GeneratedSteps([], noted, self.objects())

    def objects(self) -> dict[str, Any]:
        """Return its own objects that its steps name."""
        return {"level": self, "level_pages": self.pages}

    def touch(self, new: Sequence[Row], old: Sequence[Row], needs_old: bool) -> None:
        """Note the groups of a delta that is about to be applied."""
        failures = Failures()
        for row, key in pair_keys(new, self.key, failures):
            self._touch(key, row, True, needs_old, failures)
            self.rows[key] = row
        for row, key in pair_keys(old, self.key, failures):
            self._touch(key, row, False, needs_old, failures)
            if not self.by_new:
                self.rows[key] = row
        failures.settle()

    def _touch(self, key: Any, row: Row, entered: bool, needs_old: bool, failures: Failures) -> None:
        """Keep what the group was like before its first touch; by the row that touches it, if it had none, which sees what it sees anyway:
        istream() is true if it has entered."""
        if needs_old and key not in self.before:
            batch = OutputRows()
            before = self._previous_row(key)
            failures.attempt(self.add_rows, ((key, row if before is None else before),), entered and before is None, batch)
            self._keep(key, batch)
        self.touched.add(key)
        self.pages.touch(key)

    def keep_leaving(self, keys: Sequence[Any], failures: Failures) -> None:
        """Keep what groups were like, of those that have been touched by no row yet, which the next row that comes discards."""
        for key in keys:
            if key in self.rows and key not in self.before:
                batch = OutputRows()
                failures.attempt(self.add_rows, ((key, self.rows[key]),), False, batch)
                self._keep(key, batch)
                self.pages.touch(key)

    def _previous_row(self, key: Any) -> Row | None:
        """Return the row that stands for a group before it is touched, None where none does."""
        return self.rows.get(key)

    def _keep(self, key: Any, batch: OutputRows) -> None:
        self.before[key] = batch

    def arrange(self, in_order: Callable[[list[tuple[Any, Row]]], list[tuple[Any, Row]]]) -> None:
        """Put the groups into another order, for the insert stream."""
        self._arranged = in_order(list(self.rows.items()))

    def _groups(self) -> Mapping[Any, Row | None]:
        """Return the groups, and those that rows only left."""
        return self.rows if self.before.keys() <= self.rows.keys() else {**dict.fromkeys(self.before), **self.rows}

    def flush(self, new_rows: OutputRows | None, old_rows: OutputRows | None) -> None:
        """Add the rows of all noted groups; a group that was not touched has not changed."""
        self._add(new_rows, old_rows)
        if self.pages.touched is not None:
            self.pages.touched.update(dict.fromkeys(self.touched))
        self.before.clear()
        self.touched.clear()

    def _add(self, new_rows: OutputRows | None, old_rows: OutputRows | None) -> None:
        arranged, self._arranged = self._arranged, None
        if new_rows is not None:
            self.add_rows(self.rows.items() if arranged is None else arranged, True, new_rows)
        if old_rows is not None:
            for key, row in self._groups().items():
                if key in self.before:
                    old_rows.add(self.before[key])
                elif key not in self.touched:
                    self.add_rows(((key, row),), False, old_rows)

    def forget(self) -> None:
        """Discard all groups."""
        self.pages.forget_all()
        self.rows.clear()

    def _entry(self, key: Any, row: Row | None) -> State:
        before = self.before.get(key)
        return [row, None if before is None else before.state(), key in self.touched]

    def state(self) -> State:
        return self.pages

    def restore(self, state: State) -> None:
        entries = list(state)
        self.rows, self.before, self.touched = {}, {}, set()
        for values, (saved, before, touched, *more) in entries:
            key = key_from_state(values)
            if saved is not None:
                self.rows[key] = restore_row(saved)
            if touched:
                self.touched.add(key)
            if before is not None:
                self.before[key] = OutputRows.of(before)
            if more:
                self._restore_more(key, more)

    def _restore_more(self, key: Any, more: Sequence[Any]) -> None:
        raise ValueError("the state of groups holds more than this output clause keeps")


class SearchedLevel(OneLevel):
    """With having: a group's old row is the first that it had before an event that touches it; ``touch`` takes one event.

    The groups that have a row when a period begins (``standing``) come first, in the order of all groups; then the others, in the order in
    which they got their row.
    """

    def __init__(self, key: Callable[[Row], Any], rows: AddRows, *, by_new: bool = False) -> None:
        super().__init__(key, rows, by_new=by_new)
        self.standing: set[Any] = set()
        self._places: dict[Any, int] = {}

    def _previous_row(self, key: Any) -> Row | None:
        return self.rows.get(key) if key in self.standing else None

    def _keep(self, key: Any, batch: OutputRows) -> None:
        if batch.events:
            self.before[key] = batch
            self._places[key] = len(self._places)

    def _add(self, new_rows: OutputRows | None, old_rows: OutputRows | None) -> None:
        for key, row in self.rows.items():
            if key in self.standing and old_rows is not None:
                if key in self.before:
                    old_rows.add(self.before[key])
                else:
                    self.add_rows(((key, row),), False, old_rows)
        if old_rows is not None:
            for key in sorted(self.before.keys() - self.standing, key=self._places.__getitem__):
                old_rows.add(self.before[key])
        self._places.clear()
        for key, row in self.rows.items():
            batch = OutputRows()
            self.add_rows(((key, row),), True, batch)
            (self.standing.add if batch.events else self.standing.discard)(key)
            if new_rows is not None:
                new_rows.add(batch)

    def forget(self) -> None:
        super().forget()
        self.standing.clear()

    def _entry(self, key: Any, row: Row | None) -> State:
        return [*super()._entry(key, row), key in self.standing, self._places.get(key)]

    def restore(self, state: State) -> None:
        self.standing, self._places = set(), {}
        super().restore(state)

    def _restore_more(self, key: Any, more: Sequence[Any]) -> None:
        stands, place = more
        if stands:
            self.standing.add(key)
        if place is not None:
            self._places[key] = place
