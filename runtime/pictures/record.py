"""``record``: the statements of a runtime under recording while a ``with`` block runs."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from epl.event_types import EventType
from epl.plan.statements import SelectPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from runtime.event_loop.loop import EventLoop
from runtime.pictures.recording import Recording
from runtime.statements.statement_output import StatementOutput
from windows.event import Event


def record(
    chosen: list[StatementOutput], every: Iterable[StatementOutput], event_of: Callable[[str | EventType, Any], Event], core: EventLoop
) -> Recording:
    """Return a recording of the statements chosen; without any, of all selects and named windows of ``every``. ``event_of``: makes an event
    of what is sent."""
    return Recording(chosen or [each for each in every if isinstance(each.plan.body, (SelectPlan, CreateWindowPlan))], core, event_of)


__all__ = ["record"]
