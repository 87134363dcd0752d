"""create context: runs what begins and ends partitions, as long as there are statements of the context."""
from __future__ import annotations

from collections.abc import Iterable

from epl.plan.statements import CreateContextPlan
from runtime.context.tree import ContextTree
from runtime.operators.operator_context import OperatorContext
from windows.event import NO_EVENTS, Event
from windows.protocol import State


class RunningCreateContext:
    """Has the tree of the context, which its statements find by the context."""

    def __init__(self, plan: CreateContextPlan, context: OperatorContext) -> None:
        self._contexts = context.core.contexts
        self._context = plan.context
        self._statement = context.statement
        self.tree = self._contexts[plan.context] = ContextTree(plan.context, context.statement)

    def start(self) -> None:
        """Begin the context, with its first statement."""
        self.tree.notify_listeners("created")

    def close(self) -> None:
        if self._contexts.get(self._context) is self.tree:
            del self._contexts[self._context]
            self.tree.notify_listeners("destroyed")
        self._statement.close()

    def iterate(self) -> Iterable[Event]:
        return NO_EVENTS

    def state(self) -> State:
        return self.tree.state()

    def restore(self, state: State) -> None:
        self.tree.restore(state)


__all__ = ["RunningCreateContext"]
