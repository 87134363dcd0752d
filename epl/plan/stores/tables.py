"""Tables: rows by primary key, of columns that hold a value or an aggregation, and what reads and writes them."""
from __future__ import annotations

import attrs

from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.checks import check
from epl.plan.expressions import TypedExpression
from epl.plan.walk import REFERENCE
from epl.value_types import ValueType


@attrs.frozen(kw_only=True)
class TableColumn:
    """``type``: of its value. ``aggregation``: of the rows that writers count, over the columns of ``takes`` or events of ``event_type``;
    None for a plain value. ``takes``: the types of the values that each writer gives (an aggregation of events takes the event itself).
    ``text``: the aggregation as declared. ``place``: among the table's columns.
    """

    name: str
    type: ValueType
    is_key: bool = False
    aggregation: AggregationPlan | None = None
    takes: tuple[ValueType, ...] = ()
    event_type: EventType | None = None
    filtered: bool = False
    text: str = ""
    place: int = 0

    def __attrs_post_init__(self) -> None:
        check(not (self.is_key and self.aggregation is not None), f"the key '{self.name}' is an aggregation")


@attrs.frozen(eq=False)
class Table:
    """A table, equal only to itself. ``event_type``: of its rows, a property for each column, in order. ``plain_type``: of what is
    inserted, a property for each column that is not an aggregation. ``context``: the Context of which each partition has such a table.
    """

    name: str
    columns: tuple[TableColumn, ...]
    event_type: EventType
    plain_type: EventType
    context: object | None = attrs.field(default=None, metadata=REFERENCE)

    @property
    def keys(self) -> tuple[TableColumn, ...]:
        """The columns of the primary key; none: the table has one row."""
        return tuple(column for column in self.columns if column.is_key)

    def position(self, name: str) -> int | None:
        """Return the column's place, None where there is no column of the name."""
        return next((place for place, column in enumerate(self.columns) if column.name == name), None)


@attrs.frozen
class IntoColumn:
    """``plan`` gives what the table's column ``position`` counts; ``slot``: where the writer's own expressions read it."""

    position: int
    slot: int
    plan: AggregationPlan


@attrs.frozen
class IntoTable:
    """``into table``: a statement's aggregations are kept in the rows of a table, found by its group-by keys."""

    table: Table
    columns: tuple[IntoColumn, ...]


@attrs.frozen(kw_only=True)
class TableValue(TypedExpression):
    """``T[keys].column``: null where there is no such row. ``column`` None: the whole row; where there is none, null, or with ``or_nulls``
    a row of nulls.
    """

    table: Table = attrs.field(repr=False)
    keys: tuple[TypedExpression, ...] = ()
    column: int | None = None
    or_nulls: bool = True

    @property
    def aggregation(self) -> TableColumn | None:
        """The column where it is an aggregation."""
        column = None if self.column is None else self.table.columns[self.column]
        return None if column is None or column.aggregation is None else column


@attrs.frozen(kw_only=True)
class TableKeys(TypedExpression):
    """``T.keys()``: the keys of all rows, a value each or an array of several."""

    table: Table = attrs.field(repr=False)


__all__ = ["IntoColumn", "IntoTable", "Table", "TableColumn", "TableKeys", "TableValue"]
