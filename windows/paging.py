"""State that is kept in pages: what an operator puts into its ``state()`` where that grows with keys or with events.

A ``Paged`` stands for a dictionary of an operator: its entries are written to pages by key hash. A caller that needs only what has
changed since it looked last begins to note which keys change; until then an operator pays one comparison with None a change. ``Long``
marks a list of events that may be long: it is written to pages of some hundred items, of which those that are the same as last time are
not written again. ``Compared`` marks the keys of an operator that does not note which of them change. A caller that reads state finds a
list in the place of each.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Compared", "Key", "Long", "Marked", "Paged", "plain"]

Key = Hashable


class Paged:
    """The state of a keyed operator: ``[key, state]`` of each key, in the order of its dictionary.

    ``kind`` names what is kept (docs/design/state.md). ``entries()`` gives the operator's dictionary, ``values(key)`` a key as plain
    values, ``entry(key, value)`` the plain state of one key. It is read when it is written: until then nothing may change (``plain``).

    ``touched``: None until someone asks for changes; then the operator sets ``touched[key] = None`` whenever it changes what it keeps of a
    key, and calls ``forget(key)`` when it discards a key, ``forget_all()`` when it discards all.
    """

    __slots__ = ("kind", "entries", "values", "entry", "touched", "forgotten", "emptied")

    def __init__(
        self, kind: str, entries: Callable[[], Mapping[Any, Any]], values: Callable[[Any], Any], entry: Callable[[Any, Any], Any]
    ) -> None:
        self.kind = kind
        self.entries = entries
        self.values = values
        self.entry = entry
        self.touched: dict[Key, None] | None = None
        self.forgotten: set[Key] = set()
        self.emptied = False

    def note(self) -> None:
        """Note changes from now on, and forget those before."""
        self.touched, self.forgotten, self.emptied = {}, set(), False

    def touch(self, key: Key) -> None:
        """Note that what is kept of the key changes: for places where that is rare."""
        if self.touched is not None:
            self.touched[key] = None

    def forget(self, key: Key) -> None:
        """Note that the key is discarded; where it comes back it is the last one."""
        if self.touched is not None:
            self.touched.pop(key, None)
            self.forgotten.add(key)

    def forget_all(self) -> None:
        """Note that all keys are discarded."""
        if self.touched is not None:
            self.touched, self.forgotten, self.emptied = {}, set(), True

    def __iter__(self) -> Iterator[list[Any]]:
        values, entry = self.values, self.entry
        for key, value in self.entries().items():
            yield [values(key), entry(key, value)]


class Long(list[Any]):
    """A list of events, or of small lists that begin with one, in the order in which they came."""

    __slots__ = ()


class Compared(list[Any]):
    """``[key, state]`` of each key, in order, of an operator that does not note what changes: the keys are written to pages as those of a
    ``Paged`` of this ``kind``, and are compared with those of last time."""

    __slots__ = ("kind",)

    def __init__(self, kind: str, rows: Iterable[list[Any]]) -> None:
        super().__init__(rows)
        self.kind = kind


class Marked:
    """As ``Compared``, of an operator that makes a row only where one is read: ``marks`` are equal where rows are, and need none.

    ``row(place)`` returns ``[key, state]`` of the mark at that place, None where nothing is kept there. It is read when it is written:
    until then nothing may change.
    """

    __slots__ = ("kind", "marks", "row")

    def __init__(self, kind: str, marks: Sequence[bytes], row: Callable[[int], list[Any] | None]) -> None:
        self.kind = kind
        self.marks = marks
        self.row = row

    def __iter__(self) -> Iterator[list[Any]]:
        for place, mark in enumerate(self.marks):
            row = self.row(place) if mark else None
            if row is not None:
                yield row


SINGLE = frozenset({type(None), bool, int, float, str, bytes})
"""Values with nothing inside; most of a large state are."""


def plain(state: Any) -> Any:
    """Return a state with lists in place of all that is paged, to be kept while its operator goes on."""
    if isinstance(state, (Paged, Marked, list)):
        return [item if type(item) in SINGLE else plain(item) for item in state]
    if isinstance(state, tuple):
        return tuple([item if type(item) in SINGLE else plain(item) for item in state])
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    return state
