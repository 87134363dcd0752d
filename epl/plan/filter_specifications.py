"""Filters of which entries come and go with events: one specification a filter, a set of values an entry.

EPL patterns (``a=A -> b=B(id = a.id)``) and partitions of contexts start and stop filters while events are processed. What all entries of
such a filter share is decided once, here; an entry brings no more than its ``values``.
"""
from __future__ import annotations

import attrs

from epl.event_types import EventType
from epl.plan.expressions import Local, TypedExpression


@attrs.frozen(kw_only=True)
class EqualLookup:
    """``expression = operand``. ``null_matches``: ``expression is operand``."""

    expression: TypedExpression
    operand: TypedExpression
    null_matches: bool = False


@attrs.frozen(kw_only=True)
class ListLookup:
    """``expression in (operands)``: one entry under several values. An event is delivered once for each operand that equals it."""

    expression: TypedExpression
    operands: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class RangeLookup:
    """``low < expression < high``, either end included or not; None: no such end. Two ends may come in either order."""

    expression: TypedExpression
    low: TypedExpression | None = None
    high: TypedExpression | None = None
    include_low: bool = True
    include_high: bool = True

    @property
    def is_of_entry(self) -> bool:
        """Whether an entry brings one of the ends."""
        return any(isinstance(node, Local) for end in (self.low, self.high) if end is not None for node in end.walk())


@attrs.frozen(kw_only=True)
class WalkLookup:
    """A condition that Esper's index asks of one value after the other, such as ``x != low`` and ``x not between low and high``.

    Entries are in the order of what they bring, of a hash map of ``low`` or, ``ascending``, of the ends."""

    condition: TypedExpression
    low: TypedExpression
    high: TypedExpression | None = None
    ascending: bool = False
    null_matches: bool = True


@attrs.frozen(kw_only=True)
class FilterSpecification:
    """Which events of a type (and its sub-types) match an entry with ``values``: all that satisfy each lookup and ``conditions``, of which
    that of ``walked`` is one.

    ``values``: what an entry brings, over the streams and the context that it comes from. Operands and conditions read value number n as
    ``Local(number=first_local + n)``; the event itself is stream 0 and is in lookups' expressions and in conditions.
    """

    event_type: EventType
    values: tuple[TypedExpression, ...] = ()
    first_local: int = 0
    equal: tuple[EqualLookup, ...] = ()
    listed: ListLookup | None = None
    range: RangeLookup | None = None
    walked: WalkLookup | None = None
    conditions: tuple[TypedExpression, ...] = ()

    @property
    def goes_by_ends(self) -> bool:
        """Whether entries are in order of ends that they bring."""
        return self.walked is not None or (self.range is not None and self.range.is_of_entry)


__all__ = ["EqualLookup", "FilterSpecification", "ListLookup", "RangeLookup", "WalkLookup"]
