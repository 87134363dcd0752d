"""The rows that a clause reads, in partitions and sorted, as columns."""
from __future__ import annotations

import numpy as np
import pyarrow as pa

from epl.dialects.plans import RecognitionPlan
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.partitions import PartitionLayout
from runtime.batch.dialects.vectors import NotColumnar, Vector
from runtime.dialects.limits import QueryLimits
from runtime.dialects.program import PatternProgram, compile_pattern
from runtime.dialects.tables import to_sql_type


class ClauseRows:
    """What conditions and measures of one clause of SQL:2016 are computed over. ``layout``: the order of the rows, once it is known. Raises
    NotColumnar where something is to be done row by row."""

    layout: PartitionLayout

    def __init__(self, plan: RecognitionPlan, table: pa.Table, limits: QueryLimits) -> None:
        if plan.dialect != "sql" or plan.computed or plan.empties == "unmatched" or plan.timeouts:
            raise NotColumnar("a clause of this kind")
        self.plan = plan
        self.table = table
        self.limits = limits
        self.labels = list(plan.labels)
        self.program: PatternProgram = compile_pattern(plan.pattern, self.labels)
        self._columns: dict[int, Vector] = {}
        self._sorted: dict[int, Vector] = {}

    def column(self, place: int) -> Vector:
        """Return a column of the table."""
        known = self._columns.get(place)
        if known is None:
            column = self.table.column(place)
            known = self._columns[place] = x.read_vector(column, to_sql_type(column.type))
        return known

    def sort_column(self, place: int) -> Vector:
        """Return a column, its rows in partitions."""
        known = self._sorted.get(place)
        if known is None:
            column, order = self.column(place), self.layout.order
            nulls = None if column.nulls is None else column.nulls[order]
            known = self._sorted[place] = Vector(column.kind, column.values[order], nulls, column.words)
        return known

    def shift_column(self, place: int, shift: int) -> Vector:
        column, count = self.sort_column(place), self.layout.count
        if not shift:
            return column
        values, nulls = np.empty_like(column.values), np.zeros(count, bool)
        if abs(shift) >= count:
            return Vector(column.kind, np.zeros_like(column.values), np.ones(count, bool), column.words)
        here, there = (slice(-shift, None), slice(None, shift)) if shift < 0 else (slice(None, -shift), slice(shift, None))
        values[here] = column.values[there]
        edge = slice(None, -shift) if shift < 0 else slice(count - shift, None)
        values[edge] = 0
        if column.nulls is not None:
            nulls[here] = column.nulls[there]
        for step in range(abs(shift)):
            edges = self.layout.bounds[:-1] + step if shift < 0 else self.layout.bounds[1:] - 1 - step
            inside = (edges < self.layout.bounds[1:]) if shift < 0 else (edges >= self.layout.bounds[:-1])
            nulls[edges[inside]] = True
        return Vector(column.kind, values, nulls, column.words)


__all__ = ["ClauseRows"]
