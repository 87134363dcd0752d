"""What a recording holds: plain data along moments. A moment is an event, or a time at which something changed."""
from __future__ import annotations

from typing import Any, Protocol
from typing import Literal as Choice

import attrs


@attrs.frozen
class Moment:
    """``place``: its number. ``time``: engine time. ``event``: the number of its event among all, from 1; None where timers ran. ``type``
    and ``values``: of the event."""

    place: int
    time: int
    event: int | None = None
    type: str = ""
    values: tuple[tuple[str, Any], ...] = ()


@attrs.define
class Held:
    """An event in a window, from the place ``enters`` until ``leaves`` (None: still there). ``label``: the event's number, or its values
    where it is a row that a window has computed."""

    window: str
    label: str
    enters: int
    leaves: int | None = None


@attrs.define
class Partial:
    """A partial match, from the place at which its first event was taken. ``steps``: (place, variable or tag, event's label). ``outcome``
    at ``ends``: a match, given up, or open where it goes on at the end of the recording."""

    kind: Choice["row pattern", "pattern"]
    steps: list[tuple[int, str, str]]
    ends: int | None = None
    outcome: Choice["open", "match", "given up"] = "open"

    @property
    def begins(self) -> int:
        return self.steps[0][0]


@attrs.frozen
class Emitted:
    """A row of the insert stream, or of the remove stream."""

    place: int
    stream: Choice["insert", "remove"]
    values: tuple[tuple[str, Any], ...]


@attrs.define
class Track:
    """What was seen of one statement."""

    name: str
    text: str
    held: list[Held] = attrs.Factory(list)
    partials: list[Partial] = attrs.Factory(list)
    emitted: list[Emitted] = attrs.Factory(list)

    @property
    def windows(self) -> list[str]:
        """The windows, in the order in which events entered them first."""
        return list(dict.fromkeys(each.window for each in self.held))


class Recorded(Protocol):
    """What pictures draw of a recording."""

    @property
    def moments(self) -> list[Moment]: ...

    @property
    def tracks(self) -> list[Track]: ...

    @property
    def units_per_second(self) -> int: ...


__all__ = ["Emitted", "Held", "Moment", "Partial", "Recorded", "Track"]
