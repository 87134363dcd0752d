"""What the event loop knows of a statement's output, and of the match_recognize states that all statements share."""
from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import attrs

log = logging.getLogger("epl")


class Delivery:
    """What a statement has emitted and not delivered yet. Implemented by runtime.statements.statement_output.StatementOutput.

    ``ends_turn``: whether it waits only until the instance of the statement has had the event by all of its entries.
    """

    name: str
    ends_turn = False

    def deliver(self) -> None:
        raise NotImplementedError


@attrs.frozen
class Condition:
    """A limit that was reached; ``Runtime.on_condition`` is called with it.

    Attributes:
        kind: ``"subexpressions"`` (``max_subexpressions``), ``"statement subexpressions"`` (``max_statement_subexpressions``), ``"followed
            by"`` (``-[n]>``), ``"match_recognize states"`` (``max_states``), or, with ``on_late="side"``, ``"late row"`` and
            ``"row ahead"`` (``order_late``, ``order_ahead``).
        limit: The limit.
        statement: The statement whose event reached it; None if that is not known.
        counts: The number of sub-expressions of each statement.
        event: The event that is dropped; None where none is.

    Examples:
        >>> Condition("match_recognize states", 1000).limit
        1000
    """

    kind: str
    limit: int
    statement: str | None = None
    counts: Mapping[str, int] = attrs.field(factory=dict)
    event: Any = None


ConditionHandler = Callable[[Condition], object]


def log_condition(condition: Condition) -> None:
    """Log it, unless it is that of a ``-[n]>``, which is there to be reached, or of an event, which is logged with what it is behind."""
    if condition.kind != "followed by" and condition.event is None:
        log.warning("%s have reached the limit of %d", condition.kind, condition.limit)


@attrs.define
class RowCounts:
    """The rows of ``match_recognize`` of SQL dialects in one statement.

    Attributes:
        waiting: How many wait for earlier ones now.
        late: How many came later than those that had been processed, or without a time.
        ahead: How many were dropped since their time was too far beyond the engine's.
        forced: How many were processed before their time since too many waited.

    Examples:
        >>> RowCounts(late=2).late
        2
    """

    waiting: int = 0
    late: int = 0
    ahead: int = 0
    forced: int = 0

    def __add__(self, other: RowCounts) -> RowCounts:
        return RowCounts(*(one + two for one, two in zip(attrs.astuple(self), attrs.astuple(other), strict=True)))


class MatchStates:
    """How many states of one kind the runtime holds, of match_recognize or sub-expressions of patterns: their limit and metric."""

    __slots__ = ("count", "kind", "limit", "on_condition", "parts", "prevent_start", "statement_limit")

    def __init__(
        self, limit: int | None, prevent_start: bool, kind: str = "match_recognize states", statement_limit: int | None = None
    ) -> None:
        self.count = 0
        self.kind = kind
        self.limit = limit
        self.prevent_start = prevent_start
        self.statement_limit = statement_limit
        self.on_condition: ConditionHandler = log_condition
        self.parts: dict[StatementStates, None] = {}

    def try_increase(self) -> bool:
        """Return whether one more state may be made."""
        if self.limit is not None and self.count >= self.limit:
            self.on_condition(Condition(self.kind, self.limit))
            if self.prevent_start:
                return False
        self.count += 1
        return True

    def of_statement(self, name: str) -> StatementStates:
        """Return what counts those of one source of a statement, until ``close``."""
        part = StatementStates(self, name)
        self.parts[part] = None
        return part

    def by_statement(self) -> dict[str, int]:
        """Return how many each statement holds that holds any."""
        counts: dict[str, int] = {}
        for part in self.parts:
            if part.count:
                counts[part.name] = counts.get(part.name, 0) + part.count
        return counts


class StatementStates:
    """Those of one source of a statement, which are among ``all``."""

    __slots__ = ("all", "count", "name")

    def __init__(self, states: MatchStates, name: str) -> None:
        self.all = states
        self.name = name
        self.count = 0

    def try_increase(self) -> bool:
        """Return whether one more may begin, which then counts."""
        states = self.all
        if states.limit is not None and states.count >= states.limit:
            states.on_condition(Condition(states.kind, states.limit, self.name, states.by_statement()))
            if states.prevent_start:
                return False
        if states.statement_limit is not None and self.count >= states.statement_limit:
            states.on_condition(Condition(f"statement {states.kind}", states.statement_limit, self.name, {self.name: self.count}))
            if states.prevent_start:
                return False
        self.add(1)
        return True

    def add(self, number: int) -> None:
        self.count += number
        self.all.count += number

    def close(self) -> None:
        self.all.parts.pop(self, None)


__all__ = ["Condition", "ConditionHandler", "Delivery", "MatchStates", "RowCounts", "StatementStates", "log_condition"]
