"""A statement that runs in the batch tier, as the runtime sees it."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from windows.event import Event
from windows.protocol import State

if TYPE_CHECKING:
    from runtime.batch.component import Node
    from runtime.batch.tier import BatchTier


class BatchRunning:
    """Stands behind a ``Statement`` in place of the row tier's operators; events reach its ``run`` by way of its component."""

    def __init__(self, tier: BatchTier, node: Node) -> None:
        self.tier, self.node, self.statement, self.run = tier, node, node.statement, node.run

    def start(self) -> None:
        """Its component has entered the filters."""

    def close(self) -> None:
        self.tier.forget(self.statement)

    def iterate(self) -> Iterable[Event]:
        """As the row tier gives it: its operators are made for the occasion."""
        made = self.tier.row_running(self.statement, self.state())
        try:
            return list(made.iterate())
        finally:
            made.close()

    def state(self) -> State:
        return self.run.state()

    def restore(self, state: State) -> None:
        self.run.restore(state)


__all__ = ["BatchRunning"]
