"""Rows of an unbound stream that are held until output is due."""
from __future__ import annotations

from runtime.batch.runs.ring import Ring
from runtime.batch.windows.base import Window
from windows.protocol import State


class HeldRowsWindow(Window):
    """No window, but a ring as windows have: rows go when they are emitted."""

    def state(self, ring: Ring) -> State:
        return None

    def restore(self, ring: Ring, state: State) -> None:
        """Do nothing: the output clause restores them."""


__all__ = ["HeldRowsWindow"]
