"""Record what statements hold and emit, moment by moment, while events and time reach their runtime."""
from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from math import inf
from typing import TYPE_CHECKING, Any

import attrs

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.streams import NamedWindow, types_read
from epl.plan.walk import walk_plan
from runtime.conversion.rows import Rows, to_row
from runtime.event_loop.loop import EventLoop
from runtime.event_loop.observed import observing
from runtime.explain.labels import clean
from runtime.pictures.contents import Taken, statement_partials, statement_windows
from runtime.pictures.lanes import value_text
from runtime.pictures.tracks import Emitted, Held, Moment, Partial, Track
from runtime.statements.statement_output import StatementOutput
from windows.event import Event

if TYPE_CHECKING:
    import pathlib

log = logging.getLogger("epl")

MOST_MOMENTS = 10_000
"""A recording keeps no more: a picture could not show them, and recordings take memory."""


@attrs.define
class _Followed:
    """A statement under recording: what its windows held when they were looked at last, and which partial matches there were."""

    statement: StatementOutput
    track: Track
    held: dict[tuple[str, Event], Held] = attrs.Factory(dict)
    partials: dict[Taken, Partial] = attrs.Factory(dict)
    new: list[Any] = attrs.Factory(list)
    old: list[Any] = attrs.Factory(list)

    is_cut: bool = False

    def listener(self, new: Rows, old: Rows, statement: Any, runtime: Any) -> None:
        if not self.is_cut:
            self.new += new
            self.old += old


class Recording:
    """What happened to some statements of a runtime between ``with`` and its end: data first, pictures of it on demand.

    ``moments``: events and times, in order; ``tracks``: one for each statement (runtime.pictures.tracks). Each moment reads all that the
    statements hold, so record small examples, not production. At most ``most_moments`` (10,000) are kept, and no more once ``most_rows``
    rows of windows have been read; ``is_cut`` says that there was more.
    """

    def __init__(self, statements: Sequence[StatementOutput], core: EventLoop, event_of: Callable[[str | EventType, Any], Event]) -> None:
        self.moments: list[Moment] = []
        self.tracks = [Track(statement.name, statement.plan.text) for statement in statements]
        self.is_cut = False
        self.most_moments = MOST_MOMENTS
        self.most_rows: float = inf
        self._rows_read = 0
        self.units_per_second = core.settings.units_per_second
        self._core = core
        self._event_of = event_of
        self._followed = [_Followed(statement, track) for statement, track in zip(statements, self.tracks)]
        self._types = {each for statement in statements for each in _types_read(statement)}
        self._numbers: dict[Event, int] = {}
        self._places: dict[int, int] = {}
        """The places of events, by their numbers."""
        self._events = 0
        self._stack = ExitStack()

    # ------------------------------------------------------------------ recording

    def __enter__(self) -> Recording:
        for followed in self._followed:
            followed.statement.listen(followed.listener)
            self._stack.callback(self._forget, followed)
        if any(each.statement.tier == "batch" for each in self._followed):
            self._stack.close()
            raise EplRuntimeError("A statement of the batch tier cannot be recorded", hint="use a Runtime with tier='row' or 'auto'")
        self._stack.enter_context(observing(self._core, self, self._event_of))
        self._look(None)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _forget(self, followed: _Followed) -> None:
        with suppress(ValueError), followed.statement.host.lock:  # remove_all_listeners was called meanwhile
            followed.statement.detach(followed.listener)

    def note_processed(self, event: Event, stream_type: EventType) -> None:
        """Take note of an event that all statements have had."""
        if any(stream_type.is_a(each) for each in self._types):
            self._look(event)
        else:
            self._look(None)

    def timers_ran(self) -> None:
        """Take note of what timers have changed."""
        self._look(None)

    def _look(self, event: Event | None) -> None:
        if self.is_cut:
            return
        try:
            self._note(event)
        except Exception as error:
            log.error("the recording ends: %s", error, exc_info=error)
            self._cut()

    def _cut(self) -> None:
        """Keep what there is and take no more."""
        self.is_cut = True
        for followed in self._followed:
            followed.is_cut = True

    def _note(self, event: Event | None) -> None:
        if len(self.moments) >= self.most_moments or self._rows_read > self.most_rows:
            self._cut()
            return
        place = len(self.moments)
        number = None
        if event is not None:
            self._events += 1
            number = self._numbers[event] = self._events
            self._places[number] = place
        changed = [self._note_changes(followed, place, event) for followed in self._followed]
        if event is not None:
            self.moments.append(Moment(place, self._core.clock.now, number, event.type.name, tuple(to_row(event).items())))
        elif any(changed):
            self.moments.append(Moment(place, self._core.clock.now))

    def _note_changes(self, followed: _Followed, place: int, event: Event | None) -> bool:
        """Compare with what was there before; return whether anything has changed."""
        windows = self._look_at_windows(followed, place)
        new, followed.new = followed.new, []
        old, followed.old = followed.old, []
        partials = self._look_at_partials(followed, place, event, matches=len(new))
        rows = followed.track.emitted
        rows += [Emitted(place, "insert", tuple(row.items())) for row in new]
        rows += [Emitted(place, "remove", tuple(row.items())) for row in old]
        return windows or partials or bool(new or old)

    def _look_at_windows(self, followed: _Followed, place: int) -> bool:
        now = {(window, event): None for window, events in statement_windows(followed.statement) for event in events}
        self._rows_read += len(now)
        left = [key for key in followed.held if key not in now]
        entered = [key for key in now if key not in followed.held]
        for key in left:
            followed.held.pop(key).leaves = place
        for window, event in entered:
            held = followed.held[window, event] = Held(window, self._label(event), place)
            followed.track.held.append(held)
        return bool(left or entered)

    def _label(self, event: Event) -> str:
        """Return the event's number, or the values of a row that a window has computed."""
        number = self._numbers.get(event)
        return str(number) if number is not None else ", ".join(value_text(value) for value in to_row(event).values())

    # ------------------------------------------------------------------ partial matches

    def _look_at_partials(self, followed: _Followed, place: int, event: Event | None, *, matches: int) -> bool:
        """Follow partial matches: each goes on as the one that it is the longest continuation of. Of those that are no more, as many have
        become matches as rows came out, those that began first; the others were given up."""
        before, after = followed.partials, [self._in_order(taken) for taken in statement_partials(followed.statement)]
        followed.partials = {}
        unclaimed = dict(before)
        for taken in sorted(set(after), key=self._key):
            whole = set(taken)
            earlier = max((each for each in unclaimed if set(each) <= whole), key=len, default=None)
            partial = unclaimed.pop(earlier) if earlier is not None else self._begin_partial(followed, taken)
            known = {(variable, label) for _, variable, label in partial.steps}
            for variable, each in taken:
                if (variable, self._label(each)) not in known:
                    partial.steps.append((place if each is event else self._event_place(each, place), variable, self._label(each)))
            followed.partials[taken] = partial
        for taken in sorted(unclaimed, key=self._key):
            partial = unclaimed[taken]
            partial.ends = place
            partial.outcome = "match" if matches > 0 else "given up"
            matches -= 1
        return followed.partials.keys() != before.keys()

    def _begin_partial(self, followed: _Followed, taken: Taken) -> Partial:
        kind: Any = "pattern" if getattr(followed.statement.plan.body, "row_recognition", None) is None else "row pattern"
        partial = Partial(kind, [])
        followed.track.partials.append(partial)
        return partial

    def _in_order(self, taken: Taken) -> Taken:
        return tuple(sorted(taken, key=lambda each: self._numbers.get(each[1], 0)))

    def _key(self, taken: Taken) -> tuple[int, ...]:
        return tuple(self._numbers.get(event, 0) for _, event in taken)

    def _event_place(self, event: Event, place: int) -> int:
        return self._places.get(self._numbers.get(event, 0), place)

    # ------------------------------------------------------------------ what was recorded

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"moments": [_texts(each) for each in self.moments], "tracks": [_texts(each) for each in self.tracks]}

    def plot(self, *, axis: str = "auto", title: str | None = None, width: float | None = None) -> Any:
        """Return a matplotlib figure (runtime.pictures.timeline): ``axis="time"`` has a scale of engine time, ``"steps"`` a column for each
        moment; ``"auto"`` chooses."""
        from runtime.pictures.timeline import timeline

        return timeline(self, axis=axis, title=title, width=width)

    def save(self, path: str | pathlib.Path, *, axis: str = "auto", title: str | None = None, width: float | None = None) -> None:
        """Write the picture, as the name ends: .svg, .png or .pdf. The same recording gives the same SVG."""
        from runtime.pictures.timeline import save

        save(self.plot(axis=axis, title=title, width=width), path)

    def chart(self) -> Any:
        """Return an Altair chart: as ``plot``, with values of events and rows under the pointer, to zoom and scroll in a notebook."""
        from runtime.pictures.chart import chart

        return chart(self)

    def _repr_html_(self) -> str:
        from runtime.explain.notebook_html import scroll_html
        from runtime.pictures.timeline import svg_text

        return scroll_html(svg_text(self.plot()), f"Timeline of {', '.join(clean(track.name) for track in self.tracks)}")

    def __repr__(self) -> str:
        rows = sum(len(track.emitted) for track in self.tracks)
        return f"Recording({', '.join(track.name for track in self.tracks)}: {len(self.moments)} moments, {rows} rows)"


def _types_read(statement: StatementOutput) -> list[EventType]:
    body = statement.plan.body
    windows = [part.event_type for part in walk_plan(body) if isinstance(part, NamedWindow)]
    return [*types_read(body), *([] if isinstance(body, CreateWindowPlan) else windows)]


def _texts(record: Any) -> Any:
    """Return a record of tracks as plain values: those of events as text where JSON has no such value."""
    if attrs.has(type(record)):
        return {field.name: _texts(getattr(record, field.name)) for field in attrs.fields(type(record))}
    if isinstance(record, (list, tuple)):
        return [_texts(each) for each in record]
    return record if record is None or isinstance(record, (bool, int, float, str)) else str(record)


__all__ = ["Recording"]
