"""Statements with set clauses: on … set, update istream."""
from __future__ import annotations

import attrs

from epl.plan.assignments import PropertyAssignment, VariableAssignment
from epl.plan.expressions import TypedExpression
from epl.plan.statements import BodyPlan
from epl.plan.streams import StreamPlan


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
