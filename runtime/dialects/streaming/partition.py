"""What all machines of a partition have in common, and what a statement asks of them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from epl.dialects.errors import query_failure
from epl.dialects.plans import Plan
from runtime.dialects.limits import USUAL
from runtime.dialects.step_limit import StepLimit
from runtime.dialects.streaming.held_rows import StreamBuffer
from windows.shape import Check, Shape

Row = tuple[Any, ...]


class StreamStates(Protocol):
    """How many partial matches the runtime holds, in all statements, and their limit."""

    count: int

    def try_increase(self) -> bool:
        """Return whether one more may begin, which then counts."""


class StreamPartition:
    """The rows of one key: ``rows`` and their ``times`` (engine units; 0 without a time). ``held``: partial matches that count.

    ``failure``: the first error of an expression since it was last asked for; the rest was processed.
    """

    __slots__ = ("due", "failure", "held", "rows", "times", "turn")

    def __init__(self) -> None:
        self.rows: Any = StreamBuffer()
        self.times: Any = StreamBuffer()
        self.held = 0
        self.failure: Exception | None = None
        self.due: int | None = None
        """When the statement looks at it next."""
        self.turn = 0
        """Of those due at one time, those with smaller numbers come first."""

    def fail(self, error: Exception) -> None:
        """Note that an expression failed."""
        if self.failure is None:
            self.failure = query_failure(error)
            self.failure.__cause__ = None if self.failure is error else error


def admit(partition: StreamPartition, states: StreamStates, count: int) -> int:
    """Let so many partial matches of a partition count, as far as the limit goes; return how many do."""
    while partition.held < count and states.try_increase():
        partition.held += 1
    if partition.held > count:
        states.count -= partition.held - count
        partition.held = count
    return partition.held


class Recognizer(Protocol):
    """A compiled clause: it runs the machines of all partitions."""

    def partition(self) -> Any:
        """Return the machine of a new partition."""

    def process(self, partition: Any, row: Row, time: int) -> list[Row]:
        """Take one more row; return the output rows of matches that are final now."""

    def advance(self, partition: Any, now: int) -> list[Row]:
        """Move time: no row before ``now`` comes any more. Return the output rows of what is final by that."""

    def finish(self, partition: Any) -> list[Row]:
        """End the input: no row comes any more."""

    def deadline(self, partition: Any) -> int | None:
        """Return the time at which something is final without another row; None where there is no such time."""

    def is_idle(self, partition: Any) -> bool:
        """Return whether the partition is as a new one."""

    def state(self, partition: Any) -> Any:
        """Return what is kept, as plain values."""

    def shape(self, row: Check) -> Shape:
        """Return what a state must look like; ``row``: what a row must."""

    def restore(self, state: Any) -> Any:
        """Return the machine with that state, which has its shape. Raise ValueError where its parts contradict each other."""


class _NoQueries:
    """In place of what runs queries: over streams expressions have none."""

    def __init__(self) -> None:
        self.outers: list[Row] = []
        self.steps = StepLimit(USUAL)

    def rows(self, plan: Plan) -> Sequence[Row]:
        """Raise TypeError."""
        raise TypeError("a query where there is none")


NO_QUERIES = _NoQueries()

__all__ = ["NO_QUERIES", "Recognizer", "Row", "StreamPartition", "StreamStates", "admit"]
