"""Split-stream: on T insert into A select … where … insert into B …."""
from __future__ import annotations

import attrs

from epl.event_types import EventType
from epl.plan.contained import ContainedPlan
from epl.plan.expressions import TypedExpression
from epl.plan.statements import BodyPlan, InsertPlan
from epl.plan.streams import StreamPlan


@attrs.frozen
class SplitBranchPlan:
    """One insert into. Its events are the triggering one or those that it contains; those for which ``where`` holds are inserted: whole
    (no ``columns``), or rows of ``row_type``.
    """

    insert: InsertPlan
    row_type: EventType
    columns: tuple[TypedExpression, ...] | None
    where: TypedExpression | None = None
    contained: ContainedPlan | None = None


@attrs.frozen
class OnSplitPlan(BodyPlan):
    """The branches in order; ``all``: each that applies, else only the first. An event that no branch takes is the statement's own
    output, where it has no context.
    """

    stream: StreamPlan
    branches: tuple[SplitBranchPlan, ...]
    all: bool = False
