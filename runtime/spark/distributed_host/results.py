"""The rows of the DataFrame that ``transform`` gives: a statement's insert stream, with the rows that were dropped.

With ``on_late="side"`` there is one more column, null in the statement's rows. In rows of their own, where all others are null, it holds

    left_out  struct<why: string, A: struct<…>, B: struct<…>>

``why``: ``late`` or ``ahead``; the row itself is in the column of its event type, with time and sequence where they are not properties.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_type

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from runtime.spark.feed import FeedStep
from runtime.spark.schemas import arrow_for_spark, spark_schema
from runtime.spark.sources import ZONE, Sources

LEFT_OUT, WHY = "left_out", "why"


@attrs.frozen
class Result:
    """``schema`` of the rows in Arrow's types; ``beside``: whether rows that are dropped are among them."""

    schema: pa.Schema
    beside: bool

    def tables(self, step: FeedStep, sources: Sources) -> Iterator[pa.Table]:
        """Yield what a step gave."""
        for output in step.outputs.values():
            if output.new is not None:
                rows = pa.Table.from_batches([output.new])
                if self.beside:
                    rows = rows.append_column(LEFT_OUT, pa.nulls(rows.num_rows, self.schema.field(LEFT_OUT).type))
                yield rows.cast(self.schema)
        if self.beside:
            for why, left in (("late", step.late), ("ahead", step.ahead)):
                if left is not None:
                    yield from self._late_rows(why, sources.tables(left))

    def _late_rows(self, why: str, tables: dict[str, pa.Table]) -> Iterator[pa.Table]:
        kind: Any = self.schema.field(LEFT_OUT).type
        for name, rows in tables.items():
            if not rows.num_rows:
                continue
            count = rows.num_rows
            fields = [kind.field(n) for n in range(kind.num_fields)]
            parts = {field.name: pa.nulls(count, field.type) for field in fields}
            parts[WHY] = pa.repeat(pa.scalar(why), count)
            struct = kind.field(name).type
            parts[name] = rows.cast(pa.schema([struct.field(n) for n in range(struct.num_fields)])).to_struct_array().combine_chunks()
            column = pa.StructArray.from_arrays([parts[f.name] for f in fields], fields=fields)
            yield pa.table([*(pa.nulls(count, f.type) for f in self.schema if f.name != LEFT_OUT), column], schema=self.schema)


def plan_result(event_type: EventType, sources: Sources, merged: spark.StructType, *, beside: bool) -> tuple[spark.StructType, Result]:
    """Return the Spark schema of the rows, and how they are made. ``merged``: the schema of the merged DataFrame. Raise EplRuntimeError
    where the statement or the sources already use the names that left-out rows need."""
    schema, arrow = spark_schema(event_type), arrow_for_spark(event_type)
    if not beside:
        return schema, Result(arrow, beside)
    for what, name, names in (("the statement", LEFT_OUT, schema.names), ("the sources", WHY, [t.name for t in sources.types])):
        if name in [each.lower() for each in names]:
            raise EplRuntimeError(
                f"on_late='side' puts left-out rows into a column '{LEFT_OUT}' with a field '{WHY}', and {what} use the name '{name}'",
                hint="choose another name, or on_late='drop'",
            )
    fields = [spark.StructField(WHY, spark.StringType())]
    for position, each in enumerate(sources.types):
        columns = sources.columns(position)
        fields.append(spark.StructField(
            each.name, spark.StructType([spark.StructField(name, merged[column].dataType) for name, column in columns.items()])
        ))
    kind = spark.StructType(fields)
    return spark.StructType([*schema.fields, spark.StructField(LEFT_OUT, kind)]), Result(
        arrow.append(pa.field(LEFT_OUT, to_arrow_type(kind, **ZONE))), beside
    )


__all__ = ["LEFT_OUT", "Result", "plan_result"]
