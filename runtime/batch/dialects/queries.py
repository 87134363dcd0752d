"""Plans over tables of columns: what is run on whole columns, and what is left to the rows."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from epl.dialects import plans
from epl.dialects import typed as y
from epl.dialects.plans import Plan
from epl.plan.contracts import Contract
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.clause import ClauseColumns, as_declared
from runtime.batch.dialects.conditions import vector
from runtime.batch.dialects.matching import is_loaded
from runtime.batch.dialects.vectors import NotColumnar, Vector
from runtime.dialects.limits import QueryLimits
from runtime.dialects.tables import read_rows, to_sql_type

HANDLED = Contract.of({
    plans.SqlTablePlan: "columns name",
    plans.RenamedPlan: "columns input",
    plans.SqlSelectPlan: "columns input where keys aggregates having projections distinct order offset limit",
    plans.RecognitionPlan: "columns dialect input computed partition order measures all_rows empties shows_order shown pattern labels "
                           "defines skip within timeouts time",
    plans.SkipTo: "kind labels name",
}, open=True)  # fmt: skip
LEAST_ROWS, LEAST_ROWS_ONCE_LOADED = 20_000, 200
"""Tables with fewer rows are run row by row, which begins at once: numba alone takes longer to load."""
PLAIN = frozenset({"boolean", "tinyint", "smallint", "integer", "bigint", "double", "varchar", "date", "timestamp", "decimal"})
"""Types whose columns a select shows as they are in the table."""


class ColumnQueries:
    """Runs what it can of a query over whole columns. ``tables``: by their names in the catalog."""

    def __init__(self, tables: Mapping[str, pa.Table], least_rows: int | None = None) -> None:
        self.tables = tables
        self.least_rows = least_rows if least_rows is not None else LEAST_ROWS_ONCE_LOADED if is_loaded() else LEAST_ROWS

    def table(self, plan: Plan, limits: QueryLimits) -> pa.Table | None:
        """Return the result of a whole query; None where it is to be run row by row."""
        try:
            HANDLED.require(plan, NotColumnar)
            return _rename_columns(plan, self._table(plan, limits)) if _computes(plan) else None
        except (NotColumnar, pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None

    def rows(self, plan: plans.RecognitionPlan, limits: QueryLimits) -> Sequence[tuple[Any, ...]] | None:
        """Return the rows of a clause; None where it is to be run row by row."""
        table = self.table(plan, limits)
        return None if table is None else read_rows(table)

    def _table(self, plan: Plan, limits: QueryLimits) -> pa.Table:
        match plan:
            case plans.SqlTablePlan():
                table = self.tables[plan.name]
                if table.num_rows < self.least_rows:
                    raise NotColumnar("a small table")
                return table
            case plans.RenamedPlan():
                return self._table(plan.input, limits)
            case plans.RecognitionPlan():
                return ClauseColumns(plan, self._table(plan.input, limits), limits).result()
            case plans.SqlSelectPlan():
                return self._select(plan, limits)
            case _:
                raise NotColumnar(type(plan).__name__)

    def _select(self, plan: plans.SqlSelectPlan, limits: QueryLimits) -> pa.Table:
        """Return a select that filters and projects."""
        if plan.input is None or plan.keys is not None or plan.having is not None or plan.distinct or plan.order:
            raise NotColumnar("a select that does more")
        table = self._table(plan.input, limits)

        def leaf(typed: y.Typed) -> Vector:
            if not isinstance(typed, y.ColumnValue):
                raise NotColumnar(type(typed).__name__)
            column = table.column(typed.index)
            return x.read_vector(column, to_sql_type(column.type))

        if plan.where is not None:
            values, nulls = x.broadcast(vector(plan.where, leaf), table.num_rows)
            table = table.filter(pa.array(values.astype(bool) if nulls is None else values.astype(bool) & ~nulls))
        columns = []
        for typed in plan.projections:
            if isinstance(typed, y.ColumnValue):
                columns.append(table.column(typed.index))
            else:
                columns.append(x.write_arrow(vector(typed, leaf), typed.type, table.num_rows))
        taken = pa.Table.from_arrays(columns, names=[str(place) for place in range(len(columns))])
        return taken.slice(plan.offset or 0, plan.limit)


def _computes(plan: Plan) -> bool:
    """Return whether a query has a clause, or filters or computes plain columns; what only shows a table is left to the rows."""
    filters = False
    shown = all(column.type.name in PLAIN for column in plan.columns)
    while not isinstance(plan, plans.RecognitionPlan):
        if isinstance(plan, plans.SqlSelectPlan):
            filters = filters or plan.where is not None or not all(isinstance(each, y.ColumnValue) for each in plan.projections)
        inner = getattr(plan, "input", None)
        if inner is None:
            return filters and shown
        plan = inner
    return True


def _rename_columns(plan: Plan, table: pa.Table) -> pa.Table:
    """Return the table with the plan's names and types."""
    names = [column.name if column.name is not None else f"_col{place}" for place, column in enumerate(plan.columns)]
    columns = [as_declared(column, declared.type) for column, declared in zip(table.columns, plan.columns)]
    return pa.Table.from_arrays(columns, names=names)


__all__ = ["ColumnQueries"]
