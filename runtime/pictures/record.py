"""``record``: the statements of a runtime under recording while a ``with`` block runs."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from epl.event_types import EventType
from epl.plan.statements import SelectPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from runtime.event_loop.loop import EventLoop
from runtime.pictures.recording import Recording
from runtime.statements.statement import Statement
from windows.event import Event


class Recorded(Protocol):
    """What a recording asks of a runtime."""

    @property
    def deployments(self) -> Mapping[str, Iterable[Statement]]: ...

    def statement(self, name: str) -> Statement: ...


def record(
    runtime: Recorded, event_of: Callable[[str | EventType, Any], Event], core: EventLoop, statements: Sequence[str | Statement]
) -> Recording:
    """Return a recording of the statements, by name or themselves; without any, of all selects and named windows of the runtime. Raise
    KeyError for a name that no statement has. ``event_of``: makes an event of what is sent."""
    chosen = [runtime.statement(each) if isinstance(each, str) else each for each in statements]
    if not chosen:
        every = (statement for deployment in runtime.deployments.values() for statement in deployment)
        chosen = [statement for statement in every if isinstance(statement.plan.body, (SelectPlan, CreateWindowPlan))]
    return Recording(chosen, core, event_of)


__all__ = ["record"]
