"""A clause over the columns of a table: conditions as bytes, matches, measures as columns."""
from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from epl.dialects.syntax import tree as t
from epl.dialects.types import SqlType
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.clause_rows import ClauseRows
from runtime.batch.dialects.definitions import ConditionColumns
from runtime.batch.dialects.matching import TableMatches, find_matches
from runtime.batch.dialects.measured_rows import measured_rows
from runtime.batch.dialects.measures import MeasureColumns
from runtime.batch.dialects.partitions import arrange_partitions
from runtime.batch.dialects.vectors import NotColumnar
from runtime.dialects.tables import SIMPLE, arrow_type, in_microseconds


class ClauseColumns(ClauseRows):
    """Runs one clause of SQL:2016. Raises NotColumnar where something is to be done row by row."""

    def result(self) -> pa.Table:
        """Return the output columns."""
        plan, count = self.plan, self.table.num_rows
        if plan.all_rows and _may_be_empty(plan.pattern):
            raise NotColumnar("empty matches with all rows shown")
        self.layout = arrange_partitions(plan, self.column, count)
        conditions = ConditionColumns(self).conditions()
        times = None
        if plan.within is not None:
            assert plan.time is not None
            first = self.sort_column(plan.time)
            if first.nulls is not None:
                raise NotColumnar("a time that is null")
            times = first.values // 1000
        matches = find_matches(self.program, conditions, count, self.layout.bounds, times, plan.within, plan.skip, self.limits)
        return self._all_rows(matches) if plan.all_rows else self._one_row(matches)

    # rows

    def _one_row(self, matches: TableMatches) -> pa.Table:
        measured = MeasureColumns(self, matches, None)
        first = self.layout.order[matches.starts]
        columns = [self.table.column(place).take(x.places(first)) for place in self.plan.partition]
        return self._table([*columns, *self._measures(matches, measured)])

    def _all_rows(self, matches: TableMatches) -> pa.Table:
        shown = ~np.array(self.program.excluded, bool)[matches.steps] if len(matches.steps) else np.zeros(0, bool)
        measured = MeasureColumns(self, matches, np.flatnonzero(shown))
        source = x.places(self.layout.order[measured.rows])
        plan = self.plan
        before = [*plan.partition, *((place for place, _, _ in plan.order) if plan.shows_order else ())]
        columns = [self.table.column(place).take(source) for place in before]
        columns += self._measures(matches, measured)
        return self._table([*columns, *(self.table.column(place).take(source) for place in plan.shown)])

    def _measures(self, matches: TableMatches, measured: MeasureColumns) -> list[Any]:
        """Return the measures; those that are not computed over columns, over the rows of matches."""
        columns: dict[int, Any] = {}
        others = []
        for number, measure in enumerate(self.plan.measures):
            try:
                columns[number] = measured.column(measure)
            except NotColumnar:
                others.append(number)
        if others:
            columns.update(zip(others, measured_rows(self, matches, others), strict=True))
        return [columns[number] for number in range(len(self.plan.measures))]

    def _table(self, columns: list[Any]) -> pa.Table:
        names = [column.name if column.name is not None else f"_col{place}" for place, column in enumerate(self.plan.columns)]
        return pa.Table.from_arrays(columns, names=names)


def as_declared(column: Any, kind: SqlType) -> Any:
    """Return a column of the type that the rows' values would have: times without a zone, in UTC."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = in_microseconds(column).cast(pa.timestamp("us"))
    elif pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = in_microseconds(column)
    target = arrow_type(kind, ()) if kind.name in SIMPLE or kind.name in ("timestamp", "decimal") else column.type
    return column if column.type == target else column.cast(target, safe=kind.name != "timestamp")


def _may_be_empty(pattern: t.SqlPattern) -> bool:
    """Return whether a pattern may take no row."""
    match pattern:
        case t.PatternVariable():
            return False
        case t.PatternGroup() | t.Exclusion():
            return _may_be_empty(pattern.pattern)
        case t.Sequence():
            return all(_may_be_empty(part) for part in pattern.parts)
        case t.Permutation():
            return all(_may_be_empty(part) for part in pattern.parts)
        case t.PatternAlternation():
            return any(_may_be_empty(part) for part in pattern.choices)
        case t.QuantifiedPattern():
            return pattern.least == 0 or _may_be_empty(pattern.pattern)
        case _:
            return True


__all__ = ["ClauseColumns", "as_declared"]
