"""What a picture of a recording shows, by lane: bars and marks with their rows, before anything is drawn."""
from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any
from typing import Literal as Choice

import attrs

from runtime.explain.labels import clean
from runtime.pictures.tracks import Emitted, Moment, Partial, Recorded, Track

LONGEST, MOST_ROWS, MOST_COLUMNS = 22, 8, 3
"""Characters of a text in a column, rows of the insert or the remove stream shown at one moment, columns a moment by time."""


@attrs.frozen
class Bar:
    """``row``: in the lane, from 0. ``ends``: None where it goes on beyond the picture."""

    row: int
    begins: int
    ends: int | None
    text: str = ""
    outcome: str = ""


@attrs.frozen
class Mark:
    """Something at one place: an event, a row emitted, a step of a partial match."""

    row: int
    place: int
    text: str
    sign: Choice["event", "insert", "remove", "step"]
    colour: int = 0
    outcome: str = ""
    full: str = ""
    """All of a text that is shortened."""


@attrs.frozen
class Lane:
    kind: Choice["events", "window", "partials", "rows"]
    title: str
    bars: tuple[Bar, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def rows(self) -> int:
        return max((row + 1 for row in (*(bar.row for bar in self.bars), *(mark.row for mark in self.marks))), default=1)


def build_lanes(recording: Recorded) -> list[Lane]:
    """Return the lanes, from the top: events by type, then for each statement its windows, partial matches and rows."""
    types = list(dict.fromkeys(moment.type for moment in recording.moments if moment.event is not None))
    lanes = [_events(name, number, recording.moments) for number, name in enumerate(types)]
    several = len(recording.tracks) > 1
    for track in recording.tracks:
        prefix = f"{track.name}: " if several else ""
        lanes += [_window(f"{prefix}{window}", track, window) for window in track.windows]
        if track.partials:
            lanes.append(_partials(f"{prefix}partial matches", track.partials))
        for stream, sign in (("insert", 2), ("remove", 1)):
            rows = [row for row in track.emitted if row.stream == stream]
            if rows:
                lanes.append(_rows(f"{prefix}{stream} stream", rows, sign))
    return lanes


def _events(name: str, number: int, moments: Sequence[Moment]) -> Lane:
    marks = [Mark(0, m.place, _short(f"{m.event}: {_values(v for _, v in m.values)}"), "event", number) for m in moments if m.type == name]
    return Lane("events", name, marks=tuple(marks))


def _window(title: str, track: Track, window: str) -> Lane:
    bars: list[Bar] = []
    free: list[int | None] = []
    for held in track.held:
        if held.window != window:
            continue
        row = next((row for row, until in enumerate(free) if until is not None and until <= held.enters), len(free))
        free[row:row + 1] = [held.leaves]
        bars.append(Bar(row, held.enters, held.leaves, held.label))
    return Lane("window", title, bars=tuple(bars))


def _partials(title: str, partials: Sequence[Partial]) -> Lane:
    bars, marks = [], []
    free: list[int | None] = []
    for partial in partials:
        row = next((row for row, until in enumerate(free) if until is not None and until < partial.begins), len(free))
        free[row:row + 1] = [partial.ends]
        bars.append(Bar(row, partial.begins, partial.ends, outcome=partial.outcome))
        by_place: dict[int, list[str]] = {}
        for place, variable, label in partial.steps:
            by_place.setdefault(place, []).append(f"{variable}={label}")
        marks += [Mark(row, place, _short(" ".join(texts)), "step", outcome=partial.outcome) for place, texts in by_place.items()]
    return Lane("partials", title, bars=tuple(bars), marks=tuple(marks))


def _rows(title: str, rows: Sequence[Emitted], colour: int) -> Lane:
    marks: list[Mark] = []
    counts: dict[int, int] = {}
    for emitted in rows:
        row = counts[emitted.place] = counts.get(emitted.place, -1) + 1
        if row < MOST_ROWS:
            full = ", ".join(f"{name}={value_text(value)}" for name, value in emitted.values)
            marks.append(Mark(row, emitted.place, _short(_values(v for _, v in emitted.values)), emitted.stream, colour, full=full))
    return Lane("rows", title, marks=tuple(
        attrs.evolve(mark, text=f"… and {counts[mark.place] - MOST_ROWS + 2} rows")
        if mark.row == MOST_ROWS - 1 and counts[mark.place] >= MOST_ROWS else mark for mark in marks))


def _values(values: Iterable[Any]) -> str:
    return ", ".join(map(value_text, values))


def value_text(value: Any) -> str:
    """
    >>> value_text(None), value_text(1.50), value_text("a")
    ('null', '1.5', 'a')
    """
    return "null" if value is None else str(value)


def _short(text: str) -> str:
    return clean(text, LONGEST)


class Places:
    """Where moments are, from left to right."""

    def __init__(self, moments: Sequence[Moment], axis: str, units_per_second: int) -> None:
        if axis not in ("auto", "time", "steps"):
            raise ValueError(f"axis is 'auto', 'time' or 'steps', not {axis!r}")
        self.moments = moments
        self.units = units_per_second
        self.by_time = axis == "time" or (axis == "auto" and self._spread())
        xs = [self.x(moment.place) for moment in moments] or [0.0]
        room = (max(xs) - min(xs)) / max(len(moments) - 1, 1) if self.by_time else 1.0
        self.left, self.right = min(xs) - (room * 0.3 or 1.0), max(xs) + (room or 1.0)

    def _spread(self) -> bool:
        """Return whether moments have times of their own, not too near one another for their texts."""
        times = [moment.time for moment in self.moments]
        gaps = [after - before for before, after in pairwise(times)]
        return len(gaps) > 0 and min(gaps) > 0 and max(gaps) <= 3 * min(gaps)

    def x(self, place: int) -> float:
        if not self.by_time:
            return float(place)
        return float(self.moments[min(place, len(self.moments) - 1)].time)

    @property
    def columns(self) -> int:
        """How many columns of text the picture needs room for: by time as many as the smallest step fits in, up to a limit."""
        if not self.by_time or len(self.moments) < 2:
            return max(1, len(self.moments))
        times = [moment.time for moment in self.moments]
        step = min((after - before for before, after in pairwise(times) if after > before), default=1)
        return min(round((self.right - self.left) / step + 0.5), MOST_COLUMNS * len(self.moments))

    @property
    def ticks(self) -> list[int]:
        """A place for each time, by time; each place, by steps."""
        if not self.by_time:
            return [moment.place for moment in self.moments]
        return list({moment.time: moment.place for moment in self.moments}.values())

    def label(self, place: int) -> str:
        """Return the time of a place, nothing where it is that of the place before."""
        time = self.moments[place].time
        if not self.by_time and place and self.moments[place - 1].time == time:
            return ""
        return self.place_time(place)

    def place_time(self, place: int) -> str:
        """Return the time of a place."""
        return time_text(self.moments[place].time, self.units, whole=all(moment.time % self.units == 0 for moment in self.moments))


def time_text(time: int, units_per_second: int, *, whole: bool = False) -> str:
    """Return engine time as text; ``whole``: in seconds.

    >>> time_text(1500, 1000), time_text(12_000, 1000, whole=True), time_text(978_336_000_250, 1000)
    ('1,500 ms', '12 s', '08:00:00.250')
    """
    if abs(time) >= 10_000_000 * units_per_second:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=time * 1000 // units_per_second)
        return moment.strftime("%H:%M:%S") + ("" if whole else f".{moment.microsecond // 1000:03}")
    if whole:
        return f"{time // units_per_second:,} s"
    return f"{time:,} {'ms' if units_per_second == 1000 else 'µs'}"


__all__ = ["Bar", "Lane", "Mark", "Places", "build_lanes", "time_text"]
