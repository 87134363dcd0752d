"""A statement that runs in the batch tier, as the runtime sees it."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from windows.event import Event
from windows.protocol import State

if TYPE_CHECKING:
    from runtime.batch.tier.chain import PipelineNode
    from runtime.statements.running import Running
    from runtime.statements.statement_output import StatementOutput


class BatchRunning:
    """What a ``Statement`` runs in place of the row tier's operators; events reach its ``run`` by way of its component.

    ``forget(statement)`` says that it is undeployed; ``row_running(statement, state)`` gives the row tier's operators in that state.
    """

    def __init__(
        self, node: PipelineNode, forget: Callable[[StatementOutput], None], row_running: Callable[[StatementOutput, State], Running]
    ) -> None:
        self.node, self.statement, self.run = node, node.statement, node.run
        self._forget, self._row_running = forget, row_running

    def start(self) -> None:
        """Note that its component has entered the filters."""

    def close(self) -> None:
        self._forget(self.statement)

    def iterate(self) -> Iterable[Event]:
        """Iterate as the row tier gives it: its operators are made for the occasion."""
        running = self._row_running(self.statement, self.state())
        try:
            return list(running.iterate())
        finally:
            running.close()

    def state(self) -> State:
        return self.run.state()

    def restore(self, state: State) -> None:
        self.run.restore(state)


__all__ = ["BatchRunning"]
