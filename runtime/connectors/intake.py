"""Rows of sources → events of the runtime."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from epl.errors import EplRuntimeError
from runtime.connectors.feeds import Feed
from runtime.connectors.input import Input
from runtime.connectors.pacing import Pace, Timetable
from runtime.connectors.row_reader import RowReader
from runtime.replay.epl_online import At, Instruction, Send

OnBad = Literal["refuse", "skip"]
OnLate = Literal["refuse", "skip", "keep"]


class Intake:
    """Processes the rows of a pipeline's sources one by one. ``skipped``: how many were not."""

    def __init__(self, on_bad: OnBad, on_late: OnLate, pace: Pace) -> None:
        if on_bad not in ("refuse", "skip"):
            raise ValueError(f"on_bad: 'refuse' or 'skip' is expected, not {on_bad!r}")
        if on_late not in ("refuse", "skip", "keep"):
            raise ValueError(f"on_late: 'refuse', 'skip' or 'keep' is expected, not {on_late!r}")
        self._skips, self._on_late = on_bad == "skip", on_late
        self._pace = pace
        self._readers: dict[str, RowReader] = {}
        self._times: dict[str, Timetable | None] = {}
        self.skipped = 0

    def add(self, source: str, reader: RowReader, times: Timetable | None) -> None:
        """Note what reads the rows of a source, and when they happen where the rows do not say it."""
        self._readers[source], self._times[source] = reader, times

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
        if time is not None and (time > feed.now or (self._pace.waits and time == feed.now)):
            self._pace.move(feed, time)
        try:
            feed.send(event.type, event.values)
        except EplRuntimeError as error:
            raise _placed(entry, error) from error

    def _read(self, source: str, entry: Input) -> tuple[int | None, Send]:
        if isinstance(entry.row, EplRuntimeError):
            raise entry.row
        time, event = entry.time, None
        instructions: Iterable[Instruction] = self._readers[source].instructions(dict(entry.row), entry.is_text)
        times = self._times[source]
        for instruction in instructions if times is None else times.timed(instructions):
            if isinstance(instruction, Send):
                event = instruction
            elif isinstance(instruction, At):
                time = instruction.ms
        assert event is not None
        return time, event


def _placed(entry: Input, error: EplRuntimeError) -> EplRuntimeError:
    return EplRuntimeError(f"{entry.where}: {error.message}", hint=error.hint)


__all__ = ["Intake", "OnBad", "OnLate"]
