"""The rows of one window, and the indexes over them."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from windows.event import Event
from windows.paging import Long
from windows.shape import EVENT, takes


class IndexedRows:
    """Rows in order of arrival, each once. Indexes are shared by all who ask for equal ones."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[Event] = ()) -> None:
        self._rows: dict[Event, None] = dict.fromkeys(rows)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Add the rows ``new``, then remove the rows ``old``; those that are not held are ignored."""
        rows = self._rows
        for row in new:
            rows[row] = None
        for row in old:
            rows.pop(row, None)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    def state(self) -> Any:
        """Return the rows; indexes are built again from them."""
        return Long(self._rows)

    @takes([EVENT])
    def restore(self, state: Any) -> None:
        self._rows = dict.fromkeys(state)


__all__ = ["IndexedRows"]
