"""Split-stream at run time."""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.stores.splitting import OnSplitPlan, SplitBranchPlan
from runtime.expressions import compile_predicate
from runtime.expressions.compiled import compile_row
from runtime.operators.contained_events import Containment
from runtime.operators.insert_into import converter, insert_route
from runtime.operators.operator_context import OperatorContext
from runtime.statements.on_event import OnEvent
from windows.event import NO_EVENTS, Event, event_class


class RunningSplit(OnEvent):
    """Hands each event to its branches; what none of them takes goes to the statement's listeners, but not in a context, as in Esper."""

    def __init__(self, plan: OnSplitPlan, context: OperatorContext) -> None:
        super().__init__(plan.stream, context, self)
        self._plan = plan
        self._branches = [_Branch(branch, context) for branch in plan.branches]
        self._has_output = context.plan.context is None

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        for event in new:
            if not self._split(event) and self._has_output:
                self.context.output.update((event,), NO_EVENTS)

    def _split(self, event: Event) -> bool:
        """Return whether a branch has taken the event."""
        taken = False
        for branch in self._branches:
            if branch.take(event):
                taken = True
                if not self._plan.all:
                    break
        return taken


class _Branch:
    def __init__(self, plan: SplitBranchPlan, context: OperatorContext) -> None:
        environment = context.environment
        self._contained = None if plan.contained is None else Containment(plan.contained, environment)
        self._where = None if plan.where is None else compile_predicate(plan.where, environment, 1)
        self._row = None if plan.columns is None else compile_row(plan.columns, environment, 1)
        self._made = event_class(plan.row_type)
        self._convert = converter(plan.insert)
        self._route = insert_route(plan.insert, context)

    def take(self, event: Event) -> bool:
        """Insert what the branch selects of the event; whether that was anything."""
        rows = [event] if self._contained is None else self._contained.rows(event) or []
        if self._where is not None:
            rows = [item for item in rows if self._where(item)]
        for item in rows:
            row = item if self._row is None else self._made(*self._row(item, True, None))
            self._route(self._convert(row))
        return bool(rows)


__all__ = ["RunningSplit"]
