"""Rows of sources → events of the runtime."""
from __future__ import annotations

from typing import Literal

from epl.errors import EplRuntimeError
from runtime.connectors.feeds import Feed
from runtime.connectors.input import Input
from runtime.connectors.row_reader import RowReader
from runtime.replay.epl_online import At, Send

OnBad = Literal["refuse", "skip"]
OnLate = Literal["refuse", "skip", "keep"]


class Intake:
    """Processes the rows of a pipeline's sources one by one. ``skipped``: how many were not."""

    def __init__(self, on_bad: OnBad, on_late: OnLate) -> None:
        if on_bad not in ("refuse", "skip"):
            raise ValueError(f"on_bad: 'refuse' or 'skip' is expected, not {on_bad!r}")
        if on_late not in ("refuse", "skip", "keep"):
            raise ValueError(f"on_late: 'refuse', 'skip' or 'keep' is expected, not {on_late!r}")
        self._skips, self._on_late = on_bad == "skip", on_late
        self._readers: dict[str, RowReader] = {}
        self.skipped = 0

    def add(self, source: str, reader: RowReader) -> None:
        """Note what reads the rows of a source."""
        self._readers[source] = reader

    def process(self, feed: Feed, source: str, entry: Input) -> None:
        """Process one row; raise EplRuntimeError with its place for one that is refused."""
        try:
            time, event = self._read(source, entry)
            if self._skips:
                feed.check(event.type, event.values)
        except EplRuntimeError as error:
            if self._skips:
                self.skipped += 1
                return
            raise _placed(entry, error) from error
        if time is not None and time < feed.now and self._on_late != "keep":
            if self._on_late == "skip":
                self.skipped += 1
                return
            late = EplRuntimeError(f"its time {time} is before the runtime's, {feed.now}", hint="on_late='keep' or 'skip' goes on")
            raise _placed(entry, late)
        if time is not None and time > feed.now:
            feed.move(time)
        try:
            feed.send(event.type, event.values)
        except EplRuntimeError as error:
            raise _placed(entry, error) from error

    def _read(self, source: str, entry: Input) -> tuple[int | None, Send]:
        if isinstance(entry.row, EplRuntimeError):
            raise entry.row
        time, event = entry.time, None
        for instruction in self._readers[source].instructions(dict(entry.row), entry.is_text):
            if isinstance(instruction, Send):
                event = instruction
            elif isinstance(instruction, At):
                time = instruction.ms
        assert event is not None
        return time, event


def _placed(entry: Input, error: EplRuntimeError) -> EplRuntimeError:
    return EplRuntimeError(f"{entry.where}: {error.message}", hint=error.hint)


__all__ = ["Intake", "OnBad", "OnLate"]
