"""What row recognition keeps of the rows of one key."""
from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from runtime.match_recognize.lattice import Layers
from runtime.match_recognize.machine import History, PartialMatch

FEW_LAYERS = 16


class States(Protocol):
    """How many partial matches the runtime holds, in all statements, and their limit."""

    count: int = 0
    limit: int | None = None
    prevent_start: bool = False

    def try_increase(self) -> bool:
        """Return whether one more may begin."""


class Partition:
    """Partial matches among the rows of one key, oldest first, and the rows that prev looks back at."""

    __slots__ = ("key", "partial_matches", "history")

    def __init__(self, key: Any, history: History) -> None:
        self.key = key
        self.partial_matches: list[PartialMatch] = []
        self.history = history


class LayeredPartition(Partition):
    """``latest``: what ``generated`` keeps of each step, None where nothing is going on; ``horizon``: matches that began there or before
    are discarded; ``taken_last``: steps that took the last row and go on.

    ``ended``: a match has ended in this delivery; ``broken``: layers of this delivery that nothing leads on from.
    """

    __slots__ = ("latest", "layers", "horizon", "most", "held", "ended", "broken")

    def __init__(self, key: Any, history: History) -> None:
        super().__init__(key, history)
        self.latest: tuple[int, ...] | None = None
        self.layers: Layers = deque()
        self.horizon = 0
        self.most = FEW_LAYERS
        self.held = 0
        self.ended = False
        self.broken: list[Layers] = []


__all__ = ["FEW_LAYERS", "LayeredPartition", "Partition", "States"]
