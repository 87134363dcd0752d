"""What one statement needs of a split, and what it carries on to the streams that it fills."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from epl.analysis.partitioning.paths import Carrying, carry_columns, key_paths, trace_key, trace_path
from epl.analysis.partitioning.verdicts import Key, key_text
from epl.event_types import EventType
from epl.plan.expression_text import expression_text
from epl.plan.expressions import TypedExpression


@attrs.frozen
class Demand:
    """``operator`` of ``statement`` keeps state for each value of ``keys``: rows that are equal in all of them have to meet. So a split by
    any of ``paths`` will do, which are those of the keys that are properties of the rows that the statement reads.
    """

    statement: str
    operator: str
    paths: tuple[Key, ...]

    def requirement(self) -> str:
        return f"{self.operator} of statement '{self.statement}' allows a split by {' or '.join(map(key_text, self.paths))}"


@attrs.frozen
class RowFeed:
    """Rows that go on to ``target``; ``stages`` lead from them back to the rows that the statement reads. ``joined``: to those of one of
    several streams, so that a property of the target is of one of them.
    """

    target: EventType
    stages: tuple[Carrying, ...]
    joined: bool = False

    def back(self, key: Key) -> Key | None:
        return trace_key(self.stages, key)


Way = tuple[Key, ...]
"""A property of each of several streams: rows that have the same value in them meet."""


@attrs.frozen
class Meeting:
    """Rows of the types ``reads`` meet in ``operator``: they are to be split by one of ``ways``.

    ``lasting``: of which of them the operator's rows always have an event; ``feeds``: where those rows go on to, by the way of each.
    """

    statement: str
    operator: str
    reads: tuple[EventType, ...]
    ways: tuple[Way, ...]
    lasting: tuple[int, ...] = ()
    feeds: tuple[RowFeed, ...] = ()

    def requirement(self, keys: Iterable[Key]) -> str:
        return f"{self.operator} of statement '{self.statement}' allows a split by {' or '.join(map(key_text, keys))}"


@attrs.frozen
class Facts:
    """``reads``: the type whose events come in, None where none do; a statement that reads several streams has facts of each.
    ``changes``: properties that are given other values. ``meetings``: of rows of several streams, in the facts of the first. ``stored``:
    the rows are those of a named window or table, of which none come in from outside.
    """

    statement: str
    reads: EventType | None = None
    demands: tuple[Demand, ...] = ()
    feeds: tuple[RowFeed, ...] = ()
    changes: frozenset[str] = frozenset()
    stateful: bool = False
    meetings: tuple[Meeting, ...] = ()
    stored: bool = False


class NotPartitionable(Exception):
    """A statement whose rows have to stay together: which of its operators asks for that, and why."""

    def __init__(self, operator: str, reason: str) -> None:
        super().__init__(f"{operator}: {reason}")
        self.operator = operator
        self.reason = reason


class StageCollector:
    """Goes along a statement's operators; ``stages`` lead from the rows after the last one back to those that come in."""

    def __init__(self, statement: str) -> None:
        self.statement = statement
        self.stages: tuple[Carrying, ...] = ()
        self.demands: list[Demand] = []
        self.stateful = False

    def add_stage(self, stage: Carrying) -> None:
        self.stages = (*self.stages, stage)

    def add_columns(self, row_type: EventType, columns: Sequence[TypedExpression]) -> None:
        """Note that rows of ``row_type`` with these columns follow."""
        self.add_stage(carry_columns(row_type, columns))

    def demand(self, operator: str, keys: Iterable[TypedExpression]) -> None:
        """Note that the operator is local to its ``keys``, expressions over the rows in front of it; raise Stays where none of them will
        do."""
        keys = tuple(keys)
        self.stateful = True
        sources = (trace_path(self.stages, p) for p in key_paths(keys))
        paths = tuple(dict.fromkeys(p for p in sources if p is not None))
        if not paths:
            texts = ", ".join(expression_text(k) for k in keys)
            raise NotPartitionable(operator, f"no key of its own ({texts}) is a property of the rows as they came in")
        self.demands.append(Demand(self.statement, operator, paths))


__all__ = ["Demand", "Facts", "Meeting", "NotPartitionable", "RowFeed", "StageCollector", "Way"]
