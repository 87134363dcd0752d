"""Rows of sources → events of the runtime."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from epl.errors import EplRuntimeError
from runtime.clock.instants import to_instant
from runtime.connectors.feeds import EventFeed
from runtime.connectors.input import Input
from runtime.connectors.pacing import Pace, Timetable
from runtime.connectors.row_reader import RowReader
from runtime.replay.epl_online import At, Instruction, Send

OnBad = Literal["refuse", "skip"]
OnLate = Literal["refuse", "skip", "keep"]

LONGEST = 500
"""Characters of a reason that are kept."""


MOST_SHOWN = 10
"""Rows whose reasons are kept."""


class Skipped:
    """Rows that were skipped. ``count``: how many; ``first``: place and reason of the first ten."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, place: str, reason: str) -> None:
        """Count a row."""
        self.count += 1
        if len(self.first) < MOST_SHOWN:
            self.first.append(f"{place}: {reason if len(reason) <= LONGEST else reason[:LONGEST] + '…'}")


class SourceIntake:
    """Processes the rows of a pipeline's sources one by one. ``skipped``: those that were not."""

    def __init__(self, on_bad: OnBad, on_late: OnLate, pace: Pace) -> None:
        if on_bad not in ("refuse", "skip"):
            raise ValueError(f"on_bad: 'refuse' or 'skip' is expected, not {on_bad!r}")
        if on_late not in ("refuse", "skip", "keep"):
            raise ValueError(f"on_late: 'refuse', 'skip' or 'keep' is expected, not {on_late!r}")
        self._skips, self._on_late = on_bad == "skip", on_late
        self._pace = pace
        self._readers: dict[str, RowReader] = {}
        self._times: dict[str, Timetable | None] = {}
        self.skipped = Skipped()

    def add(self, source: str, reader: RowReader, times: Timetable | None) -> None:
        """Note what reads the rows of a source, and when they happen where the rows do not say it."""
        self._readers[source], self._times[source] = reader, times

    def process(self, feed: EventFeed, source: str, entry: Input) -> None:
        """Process one row; raise EplRuntimeError with its place for one that is refused."""
        try:
            time, event = self._read(source, entry)
            if self._skips:
                check_values(feed, event)
        except EplRuntimeError as error:
            if self._skips:
                self.skipped.add(f"source '{source}': {entry.where}", error.message)
                return
            raise _locate_error(entry, error) from error
        if time is not None and time < feed.now and self._on_late != "keep":
            late = f"its time {time} is before the runtime's, {feed.now}"
            if self._on_late == "skip":
                self.skipped.add(f"source '{source}': {entry.where}", late)
                return
            raise _locate_error(entry, EplRuntimeError(late, hint="on_late='keep' or 'skip' goes on"))
        if time is not None and (time > feed.now or (self._pace.waits and time == feed.now)):
            self._pace.move(feed, time)
        try:
            feed.send(event.type, event.values)
        except EplRuntimeError as error:
            raise _locate_error(entry, error) from error

    def _read(self, source: str, entry: Input) -> tuple[int | None, Send]:
        if isinstance(entry.row, EplRuntimeError):
            raise entry.row
        time, event = None if entry.time is None else to_instant("its time", entry.time, 1000), None
        instructions: Iterable[Instruction] = self._readers[source].instructions(entry.row, entry.is_text)
        times = self._times[source]
        for instruction in instructions if times is None else times.add_times(instructions):
            if isinstance(instruction, Send):
                event = instruction
            elif isinstance(instruction, At):
                time = instruction.ms
        assert event is not None
        return time, event


def check_values(feed: EventFeed, event: Send) -> None:
    """Raise EplRuntimeError where the values are no event of the type, whatever it is that they make Python raise."""
    try:
        feed.check(event.type, event.values)
    except EplRuntimeError:
        raise
    except Exception as error:
        raise EplRuntimeError(f"the row is no event: {type(error).__name__}: {error}") from error


def _locate_error(entry: Input, error: EplRuntimeError) -> EplRuntimeError:
    return EplRuntimeError(f"{entry.where}: {error.message}", hint=error.hint)


__all__ = ["OnBad", "OnLate", "Skipped", "SourceIntake", "check_values"]
