"""What listeners of a context get."""
from __future__ import annotations

from collections.abc import Callable
from typing import Literal as Choice

import attrs

from runtime.context.selectors import ContextPartition

ContextChangeKind = Choice[
    "created", "destroyed", "activated", "deactivated", "statement_added", "statement_removed", "partition_started", "partition_ended"]


@attrs.frozen
class ContextChange:
    """``created``, ``destroyed``: the context is deployed, undeployed (``Contexts.add_listener``); ``activated``: it has its first
    statement; ``deactivated``: it has lost its last one. ``statement``: the name of one that was added or removed;
    ``partition``: one that begins, before its statements run, or has ended.

    As in Esper the partitions that are there from the beginning begin before the context is ``activated``; those that are there when it is
    ``deactivated`` are reported one by one of a nested context alone.
    """

    kind: ContextChangeKind
    context: str
    statement: str | None = None
    partition: ContextPartition | None = None


ContextListener = Callable[[ContextChange], object]

__all__ = ["ContextChange", "ContextChangeKind", "ContextListener"]
