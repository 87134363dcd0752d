"""Statements that events trigger: on … set, update istream, on … delete, select, update and merge of a named window."""
from __future__ import annotations

from typing import Literal as Choice

import attrs

from epl.event_types import EventType
from epl.plan.assignments import PropertyAssignment, VariableAssignment
from epl.plan.expressions import TypedExpression
from epl.plan.join.lookups import LookupPlan
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import BodyPlan, InsertPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow, StreamPlan


@attrs.frozen
class OnSetPlan(BodyPlan):
    """on T set …: ``outputs`` are the columns of ``output_type``, read after all assignments."""

    stream: StreamPlan
    assignments: tuple[VariableAssignment, ...]
    outputs: tuple[TypedExpression, ...]


@attrs.frozen
class UpdateIstreamPlan(BodyPlan):
    """update istream T set … where …: a copy of the event takes its place before any other statement sees it."""

    stream: StreamPlan
    assignments: tuple[PropertyAssignment, ...]
    where: TypedExpression | None


Offered = str | frozenset[str]
"""What an on-statement has an index over: one property, by which it is sorted, or some that are equal to something."""


@attrs.frozen(kw_only=True)
class MatchPlan:
    """Which rows of a window or table (stream 0) an event (stream 1) concerns: those that ``lookup`` finds and for which ``where`` holds,
    if it is not a part of the look-up. ``offered``: what an index of a named window is over that queries may use, too."""

    store: NamedWindow | Table
    lookup: LookupPlan
    where: TypedExpression | None = None
    offered: Offered | None = None


@attrs.frozen(kw_only=True)
class OnWindowPlan(BodyPlan):
    """What the statements that events trigger on a named window or table have in common."""

    trigger: StreamPlan
    match: MatchPlan


@attrs.frozen(kw_only=True)
class OnDeletePlan(OnWindowPlan):
    """on T delete from W where … ``silent``: listeners of the window itself are not notified."""

    silent: bool = False


@attrs.frozen(kw_only=True)
class OnSelectPlan(OnWindowPlan):
    """on T select … from W where …: rows of the window and the event, through ``result_set``. ``delete``: the rows leave the window."""

    result_set: ResultSetPlan
    insert: InsertPlan | None = None
    delete: bool = False


@attrs.frozen(kw_only=True)
class OnUpdatePlan(OnWindowPlan):
    """on T update W set … where …: assignments read the row as it is by then, the event, and the row as it was (stream 2)."""

    assignments: tuple[PropertyAssignment, ...]


@attrs.frozen(kw_only=True)
class MergeActionPlan:
    """What a branch does where ``where`` holds: insert a row of ``columns`` (or the event of stream ``forward``), update or delete the row.

    Expressions read the row as it is by then, the event, and the row as it was (streams 0, 1 and 2); those of branches for what is not
    matched, and those of an insert ``of_event`` (into the window itself), read the event alone, as stream 0.
    """

    kind: Choice["insert", "update", "delete"]
    where: TypedExpression | None = None
    insert: InsertPlan | None = None
    row_type: EventType | None = None
    columns: tuple[TypedExpression, ...] = ()
    of_event: bool = False
    forward: int | None = None
    assignments: tuple[PropertyAssignment, ...] = ()


@attrs.frozen(kw_only=True)
class MergeBranchPlan:
    """``matched``: whether it is for rows that are there, or for events without one."""

    matched: bool
    condition: TypedExpression | None
    actions: tuple[MergeActionPlan, ...]


@attrs.frozen(kw_only=True)
class OnMergePlan(OnWindowPlan):
    """on T merge W …: the first branch that holds for a row, or for an event without one, acts. ``always``: the only branch is for every
    event, whether there are rows or not."""

    branches: tuple[MergeBranchPlan, ...]
    always: bool = False
