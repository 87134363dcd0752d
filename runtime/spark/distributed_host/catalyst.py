"""Statements that Spark can say itself: a filter and columns as they came. Such a statement needs no engine, and no Python at all.

Only what is the same to the last bit on both sides is said: every condition of the filter (runtime.spark.pushdown), and columns whose Spark
type is that of the statement's. All else goes through an engine.
"""
from __future__ import annotations

from collections.abc import Sequence

import attrs
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from epl.event_types import EventType
from epl.plan.contracts import Contract
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import CreateSchemaPlan, SelectPlan, StatementPlan
from epl.plan.streams import FilterPlan, IndexKey, StreamPlan, only_stream, stream_filter
from runtime.clock.late_rows import LatePolicy
from runtime.spark.pushdown import NotPushable, SparkPredicate
from runtime.spark.schemas import spark_schema
from runtime.spark.sources import TIME, TYPE

READS = Contract.of({
    SelectPlan: "output_type streams result_set",
    StreamPlan: "source event_type alias",
    FilterPlan: "event_type conditions key",
    IndexKey: "property values",
    ResultSetPlan: "shape output_type columns arity forward unbound",
})  # fmt: skip


@attrs.frozen
class NativeSparkPlan:
    """A statement as Spark's own: which merged rows it takes, and its columns."""

    condition: Column
    columns: tuple[Column, ...]

    def __call__(self, merged: DataFrame) -> DataFrame:
        return merged.filter(self.condition).select(*self.columns)


def translate_statement(
    plan: StatementPlan, plans: Sequence[StatementPlan], types: Sequence[EventType], merged: spark.StructType, policy: LatePolicy
) -> NativeSparkPlan | None:
    """Return the statement in Spark's own terms, None where it cannot be said. ``plans``: all of the module; ``types`` of the sources."""
    body = plan.body
    alone = all(p is plan or isinstance(p.body, CreateSchemaPlan) for p in plans)
    if not alone or not isinstance(body, SelectPlan) or policy.ahead is not None or policy.on_late == "side":
        return None
    rows = body.result_set
    if READS.beyond(body) is not None or rows.shape != "un-aggregated":
        return None
    try:
        filter_plan = stream_filter(only_stream(body.streams, NotPushable), NotPushable)
        place = _place(filter_plan.event_type, types)
        said = SparkPredicate(place, merged, exact=True)
        condition = (F.col(f"`{TYPE}`") == place) & said.filter(filter_plan)
        columns = [_column(said, types[place], node, f) for node, f in zip(_values(rows), spark_schema(rows.output_type).fields)]
    except NotPushable:
        return None
    return NativeSparkPlan(_in_time(condition, types[place], policy) if TIME in merged.names else condition, tuple(columns))


def _place(event_type: EventType, types: Sequence[EventType]) -> int:
    """Return the number of the source whose events are of the type; NotPushable where none is, or where there are sub-types."""
    if any(t is not event_type and t.is_a(event_type) for t in types):
        raise NotPushable
    for number, source_type in enumerate(types):
        if source_type is event_type:
            return number
    raise NotPushable


def _values(rows: ResultSetPlan) -> Sequence[TypedExpression]:
    if rows.forward is None:
        return rows.columns
    return [StreamProperty(stream=0, name=p.name, type=p.type) for p in rows.output_type.properties.values()]


def _column(said: SparkPredicate, event_type: EventType, node: TypedExpression, field: spark.StructField) -> Column:
    """Return a property as it came; NotPushable for all that is computed, and where Spark's type is not the statement's."""
    if not isinstance(node, StreamProperty) or node.optional or said.form(node.name) != field.dataType:
        raise NotPushable
    if event_type.properties[node.name].indexed or event_type.properties[node.name].mapped:
        raise NotPushable
    return said.property(node.name, node.type).alias(field.name)


def _in_time(condition: Column, event_type: EventType, policy: LatePolicy) -> Column:
    """Rows without a time are late."""
    missing = F.col(f"`{TIME}`").isNull()
    if policy.on_late == "keep":
        return condition
    if policy.on_late == "drop":
        return condition & ~missing
    refusal = F.raise_error(F.lit(f"[epl:runtime] Event type '{event_type.name}': a row has no time (on_late='drop' omits it)"))
    checked = F.when(~F.coalesce(condition, F.lit(False)), F.lit(False)).when(missing, refusal.cast("boolean")).otherwise(F.lit(True))
    return condition & checked  # the plain condition in front is what Spark can ask of a file's row groups


__all__ = ["NativeSparkPlan", "translate_statement"]
