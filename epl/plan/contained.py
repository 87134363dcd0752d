"""Contained-event selection: one event in, the events it contains out."""
from __future__ import annotations

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression


@attrs.frozen
class ContainedLevel:
    """One ``[…]``: ``expression`` gives an event or several, over the outer event and those of the levels before it (streams 0, 1, …).

    ``event_type``: what they are. ``wraps``: values become events of it (``@type``). ``where`` sees the level's own event too. ``text``:
    the expression as written, for errors.
    """

    expression: TypedExpression
    event_type: EventType
    text: str
    wraps: bool = False
    where: TypedExpression | None = None


@attrs.frozen
class ContainedPlan:
    """``output_type``'s events are those of stream ``forward`` (the last level's where nothing is selected), or rows of ``columns`` over
    all streams.

    ``selects``: a select clause is written, so that a null collection is an error and an empty one gives nothing.
    """

    source: EventType
    levels: tuple[ContainedLevel, ...]
    output_type: EventType
    forward: int | None = None
    columns: tuple[TypedExpression, ...] = ()
    selects: bool = False
