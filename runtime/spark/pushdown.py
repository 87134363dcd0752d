"""Filters that Spark evaluates upstream of the engine: rows that no statement reads are not sent to it.

What is pushed down is what every statement that reads a type asks of it, as far as Spark can say it; the engine looks again, so that it is
enough never to drop a row that a statement reads. A row that is dropped still advances time.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Literal

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from epl.event_types import EventType
from epl.plan.expressions import Constant, Convert, Equality, Logic, Membership, Order, Range, StreamProperty, TypedExpression
from epl.plan.join.historical import historical_plan
from epl.plan.statements import CreateSchemaPlan, SelectPlan, StatementPlan
from epl.plan.streams import FilterPlan, stream_filter
from epl.value_types import Scalar, ValueType
from runtime.expressions.structs import PRIMITIVE_DEFAULTS
from runtime.spark.sources import TIME, TYPE, merged_column

WHOLE = frozenset({"byte", "short", "int", "long"})
FORMS: dict[str, tuple[type[spark.DataType], ...]] = {
    **dict.fromkeys(WHOLE, (spark.IntegralType,)), "double": (spark.IntegralType, spark.FloatType, spark.DoubleType),
    "String": (spark.StringType,), "boolean": (spark.BooleanType,),
}
"""The columns that hold a kind's values as they are."""

Condition = Column | Literal[False] | None
"""Which rows are read: False none, None all of them."""
Wanted = Callable[[DataFrame], Condition]


class NotPushable(Exception):
    """Spark does not say it as the engine does."""


def read_condition(plans: Iterable[StatementPlan], types: Iterable[EventType]) -> Wanted:
    """Return the condition that leads from merged rows to those that any statement reads, as far as can be said."""
    plans, types = tuple(plans), tuple(types)

    def type_condition(merged: DataFrame) -> Condition:
        conditions = [_wanted(plans, t, SparkPredicate(place, merged.schema)) for place, t in enumerate(types)]
        if all(each is None for each in conditions):
            return None
        there = [(F.col(f"`{TYPE}`") == place, each) for place, each in enumerate(conditions)]
        parts = [one if each is None else one & each for one, each in there if each is not False]
        return _either(parts) if parts else False

    return type_condition


def narrow(merged: DataFrame, condition_of: Wanted) -> DataFrame:
    """Return the merged rows without what no statement reads; where rows have a time, that of all of them stays, and those that are not
    read have no type."""
    condition = condition_of(merged)
    if condition is None or condition is False:
        return merged
    if TIME not in merged.columns:
        return merged.filter(condition)
    kept = F.coalesce(condition, F.lit(False))
    columns = {name: F.col(f"`{name}`") for name in merged.columns}
    return merged.select(*[column if name == TIME else F.when(kept, column).alias(name) for name, column in columns.items()])


def take(merged: DataFrame, condition_of: Wanted, until: int | None = None) -> tuple[DataFrame, Callable[[], int | None]]:
    """Return the rows that are read; the newest time of all of them, once the rows have been fetched. ``until``: rows beyond that time do
    not count."""
    condition = condition_of(merged)
    time = F.col(f"`{TIME}`") if until is None else F.when(F.col(f"`{TIME}`") <= until, F.col(f"`{TIME}`"))
    if condition is None:
        return merged, lambda: None
    if condition is False:  # Spark would see that there is nothing to do, and observe nothing
        ends = merged.agg(F.max(time)) if TIME in merged.columns else None
        return merged.limit(0), lambda: None if ends is None else ends.collect()[0][0]
    if TIME not in merged.columns:
        return merged.filter(condition), lambda: None
    newest = Observation()
    rows = merged.observe(newest, F.max(time).alias("newest")).filter(condition)
    return rows, lambda: newest.get["newest"]


def _wanted(plans: tuple[StatementPlan, ...], event_type: EventType, said: SparkPredicate) -> Condition:
    conditions: list[Column] = []
    for plan in plans:
        body = plan.body
        if isinstance(body, CreateSchemaPlan):
            continue
        if not isinstance(body, SelectPlan):
            return None
        try:
            streams = [*body.streams, *(subquery.stream for subquery in body.subqueries)]
            filters = [stream_filter(stream, NotPushable) for stream in streams if historical_plan(stream) is None]
            conditions += [said.filter(each) for each in filters if event_type.is_a(each.event_type)]
        except NotPushable:
            return None
    return _either(conditions) if conditions else False


class SparkPredicate:
    """Conditions over the properties of a type in merged rows, as Spark's: true wherever the engine's are true, and perhaps elsewhere;
    ``exact``: nowhere else."""

    def __init__(self, place: int, merged: spark.StructType, *, exact: bool = False) -> None:
        self._place, self._merged, self._exactly = place, merged, exact

    def form(self, name: str) -> spark.DataType | None:
        """Return the Spark type of a property's column, None where there is none."""
        column = merged_column(self._place, name)
        return self._merged[column].dataType if column in self._merged.names else None

    def filter(self, plan: FilterPlan) -> Column:
        """Return what of a filter's conditions can be said; NotPushable where that is none of them."""
        if self._exactly and plan.repeats:
            raise NotPushable
        said = []
        if plan.key is not None:
            values = [v.value for v in plan.key.values if isinstance(v, Constant)]
            splits = isinstance(self._comparison_form(plan.key.property), (spark.StringType, spark.IntegralType, spark.BooleanType))
            if len(values) != len(plan.key.values) or not splits:
                if self._exactly:
                    raise NotPushable
            else:
                said.append(self.property(plan.key.property, plan.event_type.properties[plan.key.property].type).isin(values))
        return self._all_said(plan.conditions, said)

    def condition(self, node: TypedExpression) -> Column:
        if isinstance(node, Logic):
            return self._logic(node)
        if isinstance(node, Order):
            return self._order(node.operator, node.left, node.right)
        if isinstance(node, Range) and node.include_low and node.include_high and not node.negated and _ascends(node):
            return self._order(">=", node.value, node.low) & self._order("<=", node.value, node.high)
        if isinstance(node, Equality) and not node.negated and not node.null_safe and not node.arrays:
            if isinstance(_bare(node.left), Constant) and isinstance(_bare(node.right), Constant):
                raise NotPushable
            return self._exact(node.left) == self._exact(node.right)
        if isinstance(node, Membership) and not node.negated and not any(node.spread):
            return self._exact(node.value).isin([self._exact(item) for item in node.items])
        raise NotPushable

    def _logic(self, node: Logic) -> Column:
        if node.operator == "or":
            return _either([self.condition(operand) for operand in node.operands])
        return self._all_said(node.operands, [])

    def _all_said(self, conditions: Iterable[TypedExpression], said: list[Column]) -> Column:
        """``said`` and those of the conditions that can be said; NotPushable where that is none, or exactly not all."""
        for condition in conditions:
            try:
                said.append(self.condition(condition))
            except NotPushable:
                if self._exactly:
                    raise
        if self._exactly:
            said.append(F.lit(True))
        if not said:
            raise NotPushable
        return reduce(lambda one, other: one & other, said)

    def _order(self, operator: str, left: TypedExpression, right: TypedExpression) -> Column:
        """Numbers. Spark has NaN above all others, where nothing is true of Java's: if in doubt such rows are sent."""
        if isinstance(_bare(left), Constant) and isinstance(_bare(right), Constant):
            raise NotPushable
        one, other = self._value(left, WHOLE | {"double"}), self._value(right, WHOLE | {"double"})
        said = {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[operator]
        for node, value in ((left, one), (right, other)):
            if isinstance(_bare(node), StreamProperty) and _kind(_bare(node)) == "double":
                nan = F.isnan(value.cast("double"))
                said = said & ~nan if self._exactly else said | nan
        return said

    def _exact(self, node: TypedExpression) -> Column:
        """Return what is equal here and there alike."""
        return self._value(node, WHOLE | {"String", "boolean"})

    def _value(self, node: TypedExpression, kinds: frozenset[str]) -> Column:
        inner = _bare(node)
        kind = _kind(inner)
        if kind not in kinds:
            raise NotPushable
        if isinstance(inner, Constant) and inner.value is not None:
            return F.lit(inner.value)
        if isinstance(inner, StreamProperty) and not inner.optional and isinstance(self._comparison_form(inner.name), FORMS[kind]):
            return self.property(inner.name, inner.type)
        raise NotPushable

    def _comparison_form(self, name: str) -> spark.DataType | None:
        """Do as ``form``; None too where values are not compared as they are: a collation takes more of them as equal."""
        form = self.form(name)
        return None if self._exactly and isinstance(form, spark.StringType) and form != spark.StringType() else form

    def property(self, name: str, value_type: ValueType) -> Column:
        """Return the column of a property; a primitive one has its type's default where the column has null. Doubles are compared as such,
        whatever the column's type: Spark takes a whole number as a float beside a float."""
        column = F.col(f"`{merged_column(self._place, name)}`")
        if isinstance(value_type, Scalar) and value_type.kind == "double" and not isinstance(self.form(name), spark.DoubleType):
            column = column.cast("double")
        if isinstance(value_type, Scalar) and value_type.primitive:
            return F.coalesce(column, F.lit(PRIMITIVE_DEFAULTS[value_type.kind]))
        return column


def _ascends(node: Range) -> bool:
    """Return whether the bounds are in order: EPL swaps those that descend."""
    low, high = _bare(node.low), _bare(node.high)
    numbers = all(isinstance(each, Constant) and isinstance(each.value, (int, float)) for each in (low, high))
    return not node.swap or (numbers and low.value <= high.value)  # type: ignore[attr-defined]


def _either(columns: list[Column]) -> Column:
    return reduce(lambda one, other: one | other, columns)


def _bare(node: TypedExpression) -> TypedExpression:
    """Look through conversions of whole numbers to wider ones and to double, which Spark makes the same way."""
    while isinstance(node, Convert) and _kind(node) in ("int", "long", "double") and _kind(node.operand) in WHOLE:
        node = node.operand
    return node


def _kind(node: TypedExpression) -> str:
    return node.type.kind if isinstance(node.type, Scalar) else ""


__all__ = ["NotPushable", "SparkPredicate", "Wanted", "narrow", "read_condition", "take"]
