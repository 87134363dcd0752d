"""What the event loop knows of a statement's output, and of the match_recognize states that all statements share."""
from __future__ import annotations

import logging
from collections.abc import Callable

log = logging.getLogger("epl")


class Delivery:
    """What a statement has emitted and not delivered yet. Implemented by runtime.statements.statement.Statement."""

    name: str

    def deliver(self) -> None:
        raise NotImplementedError


class MatchStates:
    """How many states of one kind the runtime holds, of match_recognize or sub-expressions of patterns: their limit and metric."""

    __slots__ = ("count", "limit", "prevent_start", "on_limit")

    def __init__(self, limit: int | None, prevent_start: bool, kind: str = "match_recognize states") -> None:
        self.count = 0
        self.limit = limit
        self.prevent_start = prevent_start
        self.on_limit: Callable[[int], None] = lambda limit: log.warning("%s have reached the limit of %d", kind, limit)

    def try_increase(self) -> bool:
        """Return whether one more state may be made."""
        if self.limit is not None and self.count >= self.limit:
            self.on_limit(self.limit)
            if self.prevent_start:
                return False
        self.count += 1
        return True


__all__ = ["Delivery", "MatchStates"]
