"""Sub-queries: a stream's rows, and what is asked of them."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from typing import Literal as Choice

import attrs

from epl.event_types import EventOf, EventType, Property
from epl.plan.aggregations import AggregationPlan
from epl.plan.checks import check
from epl.plan.expressions import Aggregated, Constant, Equality, SubqueryValue, TypedExpression
from epl.plan.join.lookups import LookupPlan
from epl.plan.streams import StreamPlan
from epl.plan.walk import plan_expressions
from epl.value_types import BOOLEAN, ArrayType, CollectionType, ValueType

Use = Choice["value", "rows", "exists", "in", "any", "all"]


@attrs.frozen(kw_only=True)
class SubqueryPlan:
    """A sub-query. Its expressions read its own row as stream 0 and the events of the statement that it belongs to as streams 1, 2, …:
    ``outer``, by the names of their streams.

    ``use``: the value of the only row (null where there are several), all rows for an enumeration method, whether there are rows, or a
    comparison with each row by ``operator``. ``columns``: named ``names``. Several are an event of ``row_type``, and so are all rows with
    aggregations; None where there is no such event.

    ``where`` is looked up by ``lookup``, which with ``counts_null`` also finds rows for which it is null. Without it the ``aggregations``
    are kept up to date as rows come and go, ``where`` being evaluated for each; else they are computed over the rows found. ``membership``
    finds the rows whose column equals the value that ``in`` and its equals compare, which is the property ``value`` of one stream more.
    ``group_by``: keys over the row; columns and having read them as Local nodes of their numbers.
    """

    use: Use
    stream: StreamPlan
    columns: tuple[TypedExpression, ...]
    names: tuple[str, ...]
    row_type: EventType | None = None
    outer: tuple[str, ...] = ()
    where: TypedExpression | None = None
    lookup: LookupPlan | None = None
    having: TypedExpression | None = None
    aggregations: tuple[AggregationPlan, ...] = ()
    group_by: tuple[TypedExpression, ...] = ()
    operator: str = "="
    membership: LookupPlan | None = None

    def __attrs_post_init__(self) -> None:
        check(self.columns != (), "a sub-query without a column")
        check(len(self.names) == len(self.columns), "columns of a sub-query without names")
        is_row = self.has_several_columns or (self.aggregated and self.use == "rows")
        check((self.row_type is not None) == is_row, "a row of a sub-query without its type")
        check(self.aggregated or not self.running, "a sub-query that neither looks rows up nor keeps aggregations")
        read = {stream for e in (*self.columns, self.where, self.having) if e is not None for stream in e.streams}
        check(all(stream <= len(self.outer) for stream in read), f"streams {sorted(read)} of a sub-query over {len(self.outer)} others")

    @property
    def arity(self) -> int:
        """The number of streams that its expressions read."""
        return 1 + len(self.outer)

    @property
    def aggregated(self) -> bool:
        return bool(self.aggregations or self.group_by)

    @property
    def running(self) -> bool:
        """Whether aggregations are kept up to date."""
        return self.lookup is None

    @property
    def counts_null(self) -> bool:
        """Whether rows for which where is null count, as in Esper."""
        return not self.aggregated and self.use != "exists"

    @property
    def has_several_columns(self) -> bool:
        return len(self.columns) > 1

    @property
    def keeps_rows(self) -> bool:
        """Whether rows are looked up; running aggregations need none."""
        return not self.running


def value_type(plan: SubqueryPlan) -> ValueType:
    """Return the type of the only row's value."""
    return EventOf(plan.row_type) if plan.row_type is not None else plan.columns[0].type.boxed


def row_type(names: Sequence[str], columns: Sequence[TypedExpression]) -> EventType:
    """Return a new type, of rows with these columns."""
    properties = {name: Property(name, column.type.boxed) for name, column in zip(names, columns)}
    return EventType(name=f"subselect{{{','.join(names)}}}", kind="struct", properties=properties)


@lru_cache(maxsize=256)
def comparison_type(value: ValueType) -> EventType:
    """Return the type of events that hold a value to be compared."""
    return EventType(name="compared", kind="struct", properties={"value": Property("value", value)})


def not_false(condition: TypedExpression) -> TypedExpression:
    """Return the condition that holds where this one is true or null."""
    return Equality(
        type=BOOLEAN, left=condition, right=Constant(type=BOOLEAN, value=False), negated=True, null_safe=True)


def without_index(plan: SubqueryPlan) -> SubqueryPlan:
    """Return the same sub-query, whose where clause is evaluated on all rows."""
    assert plan.lookup is not None
    conditions = tuple(map(not_false, plan.lookup.applied)) if plan.counts_null else plan.lookup.applied
    return attrs.evolve(
        plan, membership=None, lookup=LookupPlan(sought=0, conditions=conditions, applied=plan.lookup.applied))


def as_rows(node: SubqueryValue, *, array: bool = False) -> SubqueryValue:
    """Return the same sub-query, giving all of its rows."""
    plan: SubqueryPlan = node.plan
    event_type = row_type(plan.names, plan.columns) if plan.aggregated and plan.row_type is None else plan.row_type
    plan = attrs.evolve(plan, use="rows", row_type=event_type)
    element = value_type(plan)
    return attrs.evolve(node, plan=plan, type=ArrayType(element) if array else CollectionType(element))


def as_event(node: SubqueryValue) -> SubqueryValue:
    """Return the same sub-query, giving the only row for which where is true: a column of events holds none for which it is null."""
    plan: SubqueryPlan = node.plan
    if plan.lookup is None or plan.where is None or plan.aggregated:
        return node
    return attrs.evolve(node, plan=attrs.evolve(plan, lookup=attrs.evolve(plan.lookup, conditions=(plan.where,))))


def is_subquery_value(node: TypedExpression) -> bool:
    """Return whether the expression as a whole is a sub-query that gives one row's value."""
    return isinstance(node, SubqueryValue) and node.plan.use == "value"


def plan_subqueries(*plans: Any) -> Iterator[SubqueryPlan]:
    """Return the sub-queries of all expressions in the plans, as often as they occur."""
    return (node.plan for e in plan_expressions(*plans) for node in e.walk() if isinstance(node, SubqueryValue))


def every_node(*plans: Any) -> Iterator[TypedExpression]:
    """Yield every node of the expressions in plans, those of aggregations and of sub-queries among them."""
    for expression in plan_expressions(*plans):
        for node in expression.walk():
            yield node
            if isinstance(node, (Aggregated, SubqueryValue)):
                yield from every_node(node.plan)


def distinct_subqueries(*plans: Any) -> tuple[SubqueryPlan, ...]:
    """Return the sub-queries of all expressions in the plans, in order, equal ones once."""
    subqueries: list[SubqueryPlan] = []
    for plan in plan_subqueries(*plans):
        if plan not in subqueries:
            subqueries.append(plan)
    return tuple(subqueries)


__all__ = [
    "SubqueryPlan",
    "Use",
    "as_rows",
    "comparison_type",
    "distinct_subqueries",
    "every_node",
    "is_subquery_value",
    "not_false",
    "plan_subqueries",
    "row_type",
    "value_type",
    "without_index",
]
