"""The rows of a partition that something still needs; they keep their numbers when earlier ones are dropped."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload


class HeldRows(Sequence[Any]):
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


__all__ = ["HeldRows"]
