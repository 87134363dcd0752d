"""What listeners of a context get."""
from __future__ import annotations

from collections.abc import Callable
from typing import Literal as Choice

import attrs

from runtime.context.selectors import ContextPartition


@attrs.frozen
class ContextChange:
    """``activated``: it has its first statement; ``deactivated``: it has lost its last one. ``statement``: the name of one that was added
    or removed; ``partition``: one that begins, before its statements run, or has ended."""

    kind: Choice["activated", "deactivated", "statement_added", "statement_removed", "partition_started", "partition_ended"]
    context: str
    statement: str | None = None
    partition: ContextPartition | None = None


ContextListener = Callable[[ContextChange], object]

__all__ = ["ContextChange", "ContextListener"]
