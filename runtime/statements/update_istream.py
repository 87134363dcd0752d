"""update istream T set … where …: one statement's part in the chain of updates (runtime.event_loop.stream_updates)."""
from __future__ import annotations

from epl.plan.stores.on_statements import UpdateIstreamPlan
from epl.plan.streams import stream_filter
from runtime.expressions import compile_predicate
from runtime.operators.changes import compile_changes
from runtime.operators.operator_context import OperatorContext
from runtime.statements.on_event import Stateless
from windows.event import Event


class RunningUpdate(Stateless):
    """A changed copy takes the event's place; listeners get it with the event as it was."""

    def __init__(self, plan: UpdateIstreamPlan, context: OperatorContext) -> None:
        super().__init__(context)
        self._type = stream_filter(plan.stream).event_type
        self._where = None if plan.where is None else compile_predicate(plan.where, context.environment, 1)
        self._changed = compile_changes(plan.assignments, self._type, context.environment, 1, in_turn=False)
        self._drops = context.plan.drop
        self._order = (context.plan.priority, context.order(0)[2])

    def apply(self, event: Event) -> Event | None:
        """Return the event that statements see; what is raised goes to the sender of the event, who loses it, as in Esper. Where no caller
        waits (in a step of a job) the error handler gets it."""
        try:
            return self._update(event)
        except Exception as error:
            core = self.context.core
            if core.has_sender:
                raise
            core.on_error(error, self.context.name, event)
            return None

    def _update(self, event: Event) -> Event | None:
        if self._where is not None and not self._where(event):
            return event
        if self._drops:
            return None
        changed = self._changed(event)
        self.context.output.update((changed,), (event,))
        return changed

    def start(self) -> None:
        self.context.core.updates.add(self._order, self._type, self.apply)

    def close(self) -> None:
        self.context.core.updates.remove(self._order)
        super().close()


__all__ = ["RunningUpdate"]
