"""The rows of a rollup in a kernel: one for each group of each level that a delta touches."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from runtime.batch.printing.source_code import Code
from runtime.batch.result_set.events import SelectEvents
from runtime.batch.result_set.groups import REGISTERS
from runtime.batch.result_set.levels import MADE, GroupingLevel
from runtime.batch.result_set.shapes import ResultSetPrinter


class LevelRows(ResultSetPrinter):
    """One level's part of what ``outer`` prints. ``g_at``: the slot of the only event, of an unbound stream."""

    masked = True

    def __init__(self, of: SelectEvents, level: GroupingLevel, outer: ResultSetPrinter) -> None:
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
        groups = self.level.groups
        if groups is None:
            return
        words = groups.event_words(code, self.of.at("na", code, ring=ring))

        def part(inner: Code) -> None:
            groups.look_up(inner, words)
            inner.add("g_at = g")

        self._call(code, part)

    def admit(self, code: Code) -> None:
        groups = self.level.groups
        if groups is not None:
            words = groups.event_words(code, self.of.at("r", code, ring=False))
            self._call(code, lambda inner: groups.hold(inner, words))

    def touch(self, code: Code) -> None:
        if self.of.leaves:
            self._call(code, self.touch_groups)

    def put(self, code: Code, new: bool) -> None:
        """Print a row that goes out; ``flag``: the stream, so that the rows of both are emitted by one function."""
        def part(inner: Code) -> None:
            rows = Code()
            with self.touched(rows):
                self.emit(rows, "q", new)
            inner.add(*(re.sub(r"(o_flag\[o\]) = \w+$", r"\1 = flag", line) for line in rows.lines))

        code.add(f"flag = {new is not self.of.swaps}")
        self._call(code, part)

    def print_counting(self, code: Code) -> None:
        if self.level.groups is None:
            code.add("g = 0")
        self._call(code, self.apply)

    def _call(self, code: Code, part: Callable[[Code], None]) -> None:
        """Print what the part prints as a function."""
        inner = Code()
        self.level.print(inner, part)
        if inner.lines:
            self.outer.functions.call(code, inner.lines, ("out", *map(self.level.text, REGISTERS.names)), map(self.level.text, MADE))

    def look(self, code: Code) -> None:
        """Print ``g_at``: the group of the event at ``q``, of a window."""
        if self.level.groups is not None and self.of.leaves:
            code.add(self.level.text("g_at = np.int64(w_g[q & mask])"))


__all__ = ["LevelRows"]
