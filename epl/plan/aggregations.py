"""Aggregations: functions over the rows that a statement or a table keeps."""
from __future__ import annotations

from typing import Any

import attrs

from epl.plan.checks import check
from epl.plan.expressions import IsInsertStream, Previous, Prior, TypedExpression
from epl.value_types import ValueType


@attrs.frozen(kw_only=True)
class AggregationPlan:
    """One aggregation: which function over which values.

    ``function`` is the canonical name (key of the accumulator factories); ``arguments`` are evaluated on each row that enters or leaves;
    ``type`` is the value's type. ``distinct``: each value counts once. ``filter``: only rows for which it is true. ``group_by``: the
    aggregation's own groups (an empty tuple: all rows), None for those of the statement. ``stream``: the stream that an access
    aggregation keeps events of. ``descending``: the directions of sort criteria. ``constants``: parameters that are fixed at deploy
    (an index, a number of milliseconds). ``ever``: rows never leave (an unbound stream, or an …ever function).
    """

    function: str
    arguments: tuple[TypedExpression, ...]
    type: ValueType
    distinct: bool = False
    filter: TypedExpression | None = None
    group_by: tuple[TypedExpression, ...] | None = None
    stream: int | None = None
    descending: tuple[bool, ...] = ()
    constants: tuple[Any, ...] = ()
    ever: bool = False

    def __attrs_post_init__(self) -> None:
        directions = len(self.descending)
        check(directions in (0, len(self.arguments)), f"{directions} directions for {len(self.arguments)} sort criteria")

    @property
    def expressions(self) -> tuple[TypedExpression, ...]:
        """Everything that is evaluated on a row."""
        return (*self.arguments, *((self.filter,) if self.filter is not None else ()), *(self.group_by or ()))

    @property
    def of_moment(self) -> bool:
        """Whether what is evaluated on a row is something else when the row leaves than when it entered, for nothing it holds has changed:
        prev, and prior of a named window, are null then, istream() is false."""
        return any(
            isinstance(node, (IsInsertStream, Previous)) or (isinstance(node, Prior) and node.newest)
            for expression in (*self.arguments, *((self.filter,) if self.filter is not None else ())) for node in expression.walk())


__all__ = ["AggregationPlan"]
