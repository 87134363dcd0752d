"""The rows of a rollup in a kernel: one for each group of each level that a delta touches."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from runtime.batch.code import Code
from runtime.batch.levels import Level
from runtime.batch.result_sets import ResultSet
from runtime.batch.select_events import SelectEvents


class LevelRows(ResultSet):
    """One level's part of what ``outer`` prints. ``g_at``: the slot of the only event, of an unbound stream."""

    masked = True

    def __init__(self, of: SelectEvents, level: Level, outer: ResultSet) -> None:
        super().__init__(of)
        self.level, self.outer = level, outer
        self.delayed = True

    def streams(self) -> tuple[bool, ...]:
        return self.outer.streams()

    def place(self, code: Code, new: bool) -> None:
        self.outer.place(code, new)

    def cause(self, code: Code) -> None:
        self.outer.cause(code)

    @contextmanager
    def events(self, code: Code, low: str, high: str) -> Iterator[None]:
        with super().events(code, low, high):
            if not self.of.leaves and self.level.groups is not None:
                code.add("g = g_at")
            yield

    @contextmanager
    def touched(self, code: Code) -> Iterator[None]:
        with super().touched(code):
            if not self.of.leaves:
                code.add("g = g_at")
            yield

    # ------------------------------------------------------------------ what is printed

    def find(self, code: Code, ring: bool) -> None:
        def part(inner: Code) -> None:
            super(LevelRows, self).find(inner, ring)
            if self.level.groups is not None:
                inner.add("g_at = g")

        self.level.print(code, part)

    def touch(self, code: Code) -> None:
        if self.of.leaves:
            self.level.print(code, self.touch_groups)

    def put(self, code: Code, new: bool) -> None:
        def part(inner: Code) -> None:
            with self.touched(inner):
                self.emit(inner, "q", new)

        self.level.print(code, part)

    def count_in(self, code: Code) -> None:
        if self.level.groups is None:
            code.add("g = 0")
        self.level.print(code, self.apply)

    def look(self, code: Code) -> None:
        """``g_at``: the group of the event at ``q``, of a window."""
        if self.level.groups is not None and self.of.leaves:
            code.add(self.level.text("g_at = np.int64(w_g[q & mask])"))


__all__ = ["LevelRows"]
