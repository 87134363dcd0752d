"""Queries in a SQL dialect over batch DataFrames: ``runtime.spark.sql``.

    rows ─▶ by the clause's PARTITION BY ─▶ the query over whole partitions, a task each ─▶ rows
                                                      (─▶ what is left to do, in one task ─▶ rows)

A query that needs all rows at once runs in one task. The workers need epl-spark.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type

from epl.dialects.columns_read import columns_read
from epl.dialects.plans import Plan
from epl.errors import EplRuntimeError, EplUnsupportedError
from epl.texts import load_text
from runtime.arguments import check_arguments
from runtime.batch.dialects.queries import ColumnQueries
from runtime.dialects.limits import MOST_ROWS, MOST_STEPS, QueryLimits
from runtime.dialects.splitting import PARTS, Split, plan_tables, split
from runtime.dialects.sql import plan_query, run_plan
from runtime.dialects.tables import arrow_type, only_read
from runtime.spark.distributed_host.frames import errors_by_partition
from runtime.spark.probe import check_workers
from runtime.spark.sources import ZONE, check_frames

LEAST_ROWS = 200_000
"""Rows that a task gathers before it runs the query over the partitions that are whole."""
WHOLE, PART, REST = "whole", "part", "rest"


@check_arguments
def sql(
    text: str | PathLike[str], frames: Mapping[str, DataFrame], *, dialect: str = "sql", max_rows: int | None = MOST_ROWS,
    max_steps: int | None = MOST_STEPS,
) -> DataFrame:  # fmt: skip
    """Run a query in a SQL dialect over batch DataFrames, as ``Runtime.sql`` does over tables (docs/sql.md). Partitions of the clause are
    spread over tasks, rows come in no order, and nothing runs before rows of the result are asked for.

    Args:
        text: The query, over one of the DataFrames; or the path of its file.
        frames: DataFrames by the name of the table that they are.
        dialect: ``"sql"`` (SQL:2016 as Trino runs it), ``"flink"``, ``"alibaba"`` or ``"ydb"``.
        max_rows: As for ``Runtime.sql``, of the rows that a task has at a time.
        max_steps: As for ``Runtime.sql``, likewise.

    Returns:
        A DataFrame.

    Raises:
        EplError: The query is refused, reads several tables, or a DataFrame is a stream.
        ValueError: A limit is not a whole number of at least 1.

    Examples:
        ```python
        from runtime.spark import session, sql

        prices = session().createDataFrame([("A", 1, 5), ("A", 2, 9), ("B", 1, 7)], "symbol string, day int, price int")
        risen = sql('''
            select * from prices match_recognize (
              partition by symbol order by day measures B.price as price
              pattern (A B) define B as B.price > A.price)''', {"prices": prices})
        assert [tuple(row) for row in risen.collect()] == [("A", 9)]
        ```
    """
    text = load_text(text, "SQL text")
    limits = QueryLimits(max_rows, max_steps)
    check_frames(frames)
    for name, frame in frames.items():
        if frame.isStreaming:
            raise EplUnsupportedError(
                f"Source '{name}' is a stream: queries in a SQL dialect read batch DataFrames here", hint="read it with spark.read"
            )
    schemas = {name: _arrow_schema(frame) for name, frame in frames.items()}
    plan = plan_query(text, _empty(schemas), dialect)
    read = plan_tables(plan)
    if len(read) != 1:
        what = f"several tables ({', '.join(sorted(read))})" if read else "no table"
        raise EplUnsupportedError(
            f"a query over {what} is not spread over tasks", hint="join them in Spark first, or use Runtime.sql with frame.toArrow()"
        )
    name = next(iter(read))
    frame, schemas[name] = _only_read(plan, name, frames[name], schemas[name])
    plan = plan_query(text, _empty(schemas), dialect)  # as the workers see it
    check_workers(frame.sparkSession)
    halves = split(plan)
    if halves is None:
        return _map_frame(frame.repartition(1), TableTask(text, dialect, schemas, name, limits, WHOLE, ()), plan)
    keys = [F.col(f"`{frame.columns[place]}`") for place in halves.keys]
    parted = frame.repartition(*keys).sortWithinPartitions(*keys)
    part = _map_frame(parted, TableTask(text, dialect, schemas, name, limits, PART, halves.keys), halves.part)
    if halves.rest is None:
        return part
    return _map_frame(part.repartition(1), TableTask(text, dialect, schemas, name, limits, REST, ()), halves.rest)


def _arrow_schema(frame: DataFrame) -> pa.Schema:
    """Types that Arrow does not have are those of bytes, which SQL does not have here."""
    fields = []
    for field in frame.schema.fields:
        try:
            kind = to_arrow_type(field.dataType, **ZONE)
        except PySparkException:
            kind = pa.binary()
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def _only_read(plan: Plan, name: str, frame: DataFrame, schema: pa.Schema) -> tuple[DataFrame, pa.Schema]:
    """Return the frame and its schema with nulls for the columns that are not read, so that Spark does not scan them; QueryFailed for one
    that is read and has a type that SQL does not have."""
    read = columns_read(plan)
    only_read({name: schema.empty_table()}, read)
    places = range(len(schema)) if read is None else read.get(name, ())
    columns = [F.col(f"`{each}`") if place in places else F.lit(None).alias(each) for place, each in enumerate(frame.columns)]
    fields = [field if place in places else pa.field(field.name, pa.null()) for place, field in enumerate(schema)]
    return frame.select(*columns), pa.schema(fields)


def _map_frame(frame: DataFrame, task: TableTask, plan: Plan) -> DataFrame:
    return frame.mapInArrow(task, from_arrow_schema(_schema(plan)))


def _schema(plan: Plan) -> pa.Schema:
    """Return the types of a plan's columns, which Spark needs before there are values."""
    fields = []
    for place, column in enumerate(plan.columns):
        name = column.name if column.name is not None else f"_col{place}"
        try:
            kind = pa.string() if column.type.name == "unknown" else arrow_type(column.type, ())
        except (pa.ArrowInvalid, AssertionError):
            kind = pa.null()
        if pa.types.is_null(kind):
            raise EplRuntimeError(f"column {name} has no type that Spark knows: {column.type}", hint="cast it")
        fields.append(pa.field(name, kind))
    return pa.schema(fields)


def _empty(schemas: Mapping[str, pa.Schema]) -> dict[str, pa.Table]:
    return {name: schema.empty_table() for name, schema in schemas.items()}


@attrs.frozen
class TableTask:
    """What one task does: the query, or a part of it, over the rows that it has. ``keys``: places of columns; rows with equal ones come one
    after the other, and belong together."""

    text: str
    dialect: str
    schemas: dict[str, pa.Schema]
    table: str
    limits: QueryLimits
    stage: str
    keys: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return errors_by_partition(self._output(batches))

    def _output(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        whole = plan_query(self.text, _empty(self.schemas), self.dialect)
        plan, name, schema = whole, self.table, self.schemas[self.table]
        halves = split(whole)
        if self.stage != WHOLE:
            assert halves is not None
            plan, name, schema = self._half(halves)
        for rows in self._gather_tables(batches, schema):
            result = run_plan(plan, {name: rows}, text=self.text, by_columns=ColumnQueries, limits=self.limits)
            yield from result.cast(_schema(plan)).to_batches()

    def _half(self, halves: Split) -> tuple[Plan, str, pa.Schema]:
        if self.stage == PART:
            return halves.part, self.table, self.schemas[self.table]
        assert halves.rest is not None
        return halves.rest, PARTS, _schema(halves.part)

    def _gather_tables(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield tables of whole partitions; without keys one table of all rows, also if there are none."""
        held: list[pa.RecordBatch] = []
        count = 0
        for batch in batches:
            held.append(batch)
            count += batch.num_rows
            if self.keys and count >= LEAST_ROWS:
                rows = pa.Table.from_batches(held)
                cut = _last_change(rows, self.keys)
                if cut:
                    yield rows.slice(0, cut)
                    held = rows.slice(cut).to_batches()
                    count -= cut
        if held or not self.keys:
            yield pa.Table.from_batches(held, schema=held[0].schema if held else schema)


def _last_change(rows: pa.Table, keys: tuple[int, ...]) -> int:
    """Return the first row of the last partition."""
    first = 0
    for place in keys:
        encoded = rows.column(place).combine_chunks().dictionary_encode("encode")
        codes = encoded.indices
        changed = pc.not_equal(codes[1:], codes[:-1])
        places: Any = pc.indices_nonzero(changed)
        if len(places):
            first = max(first, places[-1].as_py() + 1)
    return first


__all__ = ["sql"]
