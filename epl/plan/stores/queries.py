"""Fire-and-forget queries: what they read of named windows, tables and historical sources, and what they change there."""
from __future__ import annotations

import attrs

from epl.event_types import EventType
from epl.plan.assignments import PropertyAssignment
from epl.plan.checks import check
from epl.plan.context.contexts import Context
from epl.plan.expressions import TypedExpression
from epl.plan.join.joins import JoinPlan
from epl.plan.join.lookups import LookupPlan
from epl.plan.join.subqueries import SubqueryPlan
from epl.plan.notebooks import ShownInNotebooks
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import BodyPlan, InsertPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow, StreamPlan
from epl.value_types import ValueType


@attrs.frozen(kw_only=True)
class RowsPlan:
    """Which rows a query is about: those that ``lookup`` finds and for which ``where`` holds, if it is not a part of the look-up.

    ``ranges``: the properties that ranges bound. Rows come in order of the first by which an on-statement has them sorted. ``equal``:
    those that are equal to something. Where an on-statement finds rows by some of them, they come in order of arrival.
    """

    lookup: LookupPlan
    where: TypedExpression | None = None
    ranges: tuple[str, ...] = ()
    equal: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class SelectQueryPlan(BodyPlan):
    """select …: the rows that the streams hold at the moment are one delta of the result set; without a stream there is one row.

    ``rows``: of the only stream, or of the stream ``looked_up`` of an inner join, whose conditions with constants an index may answer.
    ``join`` and ``where``: of several streams, or of none.
    """

    streams: tuple[StreamPlan, ...]
    rows: RowsPlan | None = None
    looked_up: int = 0
    join: JoinPlan | None = None
    where: TypedExpression | None = None
    result_set: ResultSetPlan

    def __attrs_post_init__(self) -> None:
        count = len(self.streams)
        check(self.rows is not None or count != 1, "a stream without its rows")
        check((self.join is not None) == (count > 1), f"a join of {count} streams")


@attrs.frozen(kw_only=True)
class NewRowPlan:
    """A row to be inserted: its columns as a row of ``row_type``, and how that fills one of the window's or table's."""

    row_type: EventType
    columns: tuple[TypedExpression, ...]
    insert: InsertPlan


@attrs.frozen(kw_only=True)
class InsertQueryPlan(BodyPlan):
    """insert into W values …, select …"""

    store: NamedWindow | Table
    new_rows: tuple[NewRowPlan, ...]


@attrs.frozen(kw_only=True)
class UpdateQueryPlan(BodyPlan):
    """update W set … where …: assignments read the row as it is by then, and the row as it was (stream 1)."""

    store: NamedWindow | Table
    rows: RowsPlan
    assignments: tuple[PropertyAssignment, ...]


@attrs.frozen(kw_only=True)
class DeleteQueryPlan(BodyPlan):
    """delete from W where …"""

    store: NamedWindow | Table
    rows: RowsPlan


@attrs.frozen(kw_only=True)
class QueryPlan(ShownInNotebooks):
    """A query, ready to be run any number of times. ``parameters``: keys and types of its substitution parameters. ``indexed``: those of
    its sub-queries in which null finds null alone, since an index answers that was created. ``context``: the one that it names, in each of
    whose partitions it is run."""

    body: BodyPlan
    text: str
    parameters: tuple[tuple[str | int, ValueType], ...] = ()
    indexed: tuple[SubqueryPlan, ...] = ()
    context: Context | None = None

    @property
    def changes(self) -> bool:
        """Whether it inserts, updates or deletes."""
        return not isinstance(self.body, SelectQueryPlan)


__all__ = [
    "DeleteQueryPlan", "InsertQueryPlan", "NewRowPlan", "QueryPlan", "RowsPlan", "SelectQueryPlan", "UpdateQueryPlan",
]
