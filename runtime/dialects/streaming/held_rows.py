"""The rows of a partition that something still needs; they keep their numbers when earlier ones are dropped."""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, overload


class StreamBuffer(Sequence[Any]):
    """``base``: the number of the first row held; ``ended``: no row follows the last one. The length counts dropped rows too."""

    __slots__ = ("base", "ended", "items")

    def __init__(self, items: Sequence[Any] = (), base: int = 0) -> None:
        self.items = list(items)
        self.base = base
        self.ended = False

    def __len__(self) -> int:
        return self.base + len(self.items)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        assert isinstance(place, int)
        return self.items[place - self.base]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def append(self, row: Any) -> None:
        """Add a row."""
        self.items.append(row)

    def pop(self) -> None:
        """Take the last row back."""
        self.items.pop()

    def drop(self, before: int) -> None:
        """Drop the rows with lower numbers."""
        if before > self.base:
            del self.items[: before - self.base]
            self.base = before


class ScatteredRows(Sequence[Any]):
    """Rows of which those between may be dropped. ``items``: by their numbers; ``size``: of all that have come, which is the length."""

    __slots__ = ("items", "size")

    def __init__(self, items: dict[int, Any] | None = None, size: int = 0) -> None:
        self.items: dict[int, Any] = {} if items is None else items
        self.size = size

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        assert isinstance(place, int)
        return self.items[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items.values())

    def append(self, row: Any) -> None:
        """Add a row."""
        self.items[self.size] = row
        self.size += 1

    def pop(self) -> None:
        """Take the last row back."""
        self.size -= 1
        del self.items[self.size]

    def keep(self, numbers: Set[int]) -> None:
        """Drop all rows but those with these numbers."""
        self.items = {number: row for number, row in self.items.items() if number in numbers}


__all__ = ["ScatteredRows", "StreamBuffer"]
