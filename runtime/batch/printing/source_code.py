"""Source lines with their indentation."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Code:
    """Lines of a function that is being printed."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self._depth = depth

    def add(self, *lines: str) -> None:
        self.lines += [f"{'    ' * self._depth}{line}" for line in lines]

    append = add
    """So that code that appends to a list of lines may write here."""

    def extend(self, lines: Iterable[str]) -> None:
        self.add(*lines)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Print ``head:`` and what is added inside; ``pass`` where that is nothing."""
        self.add(f"{head}:")
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.add("pass")
        self._depth -= 1

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"
