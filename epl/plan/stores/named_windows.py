"""create window: the plan."""
from __future__ import annotations

import attrs

from epl.plan.expressions import TypedExpression
from epl.plan.statements import BodyPlan
from epl.plan.streams import NamedWindow, StreamPlan


@attrs.frozen(kw_only=True)
class FillPlan:
    """The rows that a window begins with: those of ``source`` for which ``where`` holds, as rows of ``columns`` (empty: of all)."""

    source: NamedWindow
    columns: tuple[TypedExpression, ...] = ()
    where: TypedExpression | None = None


@attrs.frozen(kw_only=True)
class CreateWindowPlan(BodyPlan):
    """``stream``: the events inserted into the window, through its data windows."""

    window: NamedWindow
    stream: StreamPlan
    fill: FillPlan | None = None


__all__ = ["CreateWindowPlan", "FillPlan"]
