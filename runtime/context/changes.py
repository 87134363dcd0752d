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
    """What listeners of a context get.

    As in Esper, the partitions that exist from the beginning begin before the context is ``activated``; those that exist when it is
    ``deactivated`` are reported one by one only for a nested context.

    Attributes:
        kind: ``created``, ``destroyed``: the context is deployed or undeployed (``runtime.contexts.add_listener``); ``activated``,
            ``deactivated``: it got its first statement, or lost its last one; ``statement_added``, ``statement_removed``;
            ``partition_started``, before its statements run, and ``partition_ended``.
        context: The context's name.
        statement: The name of the statement that was added or removed.
        partition: The partition that begins or has ended.

    Examples:
        >>> ContextChange("created", "PerUser")
        ContextChange(kind='created', context='PerUser', statement=None, partition=None)
    """

    kind: ContextChangeKind
    context: str
    statement: str | None = None
    partition: ContextPartition | None = None


ContextListener = Callable[[ContextChange], object]

__all__ = ["ContextChange", "ContextChangeKind", "ContextListener"]
