"""A statement's plan → its run in the batch tier: the only factory."""
from __future__ import annotations

from epl.plan.expressions import Prior
from epl.plan.statements import BodyPlan, SelectPlan
from epl.plan.streams import stream_filter
from epl.plan.walk import plan_expressions
from runtime.batch.match_recognize.choice import pattern_kernel
from runtime.batch.match_recognize.run import MatchRun
from runtime.batch.refusals import NotCompilable, not_in_columns
from runtime.batch.runs.run import BatchRun, RunContext
from runtime.batch.select_statement.kernel import select_kernel
from runtime.batch.select_statement.run import SelectRun
from runtime.conversion.arrow import is_held_exactly


def build_run(plan: BodyPlan, surroundings: RunContext) -> BatchRun:
    """Return a fresh run; raise NotCompilable with the reason why the statement stays in the row tier."""
    if not isinstance(plan, SelectPlan):
        raise not_in_columns(type(plan).__name__.removesuffix("Plan"))
    if any(stream_filter(stream, not_in_columns).repeats for stream in plan.streams):
        raise not_in_columns("a filter that lists the same constant several times")
    if any(isinstance(node, Prior) for each in plan_expressions(plan.result_set, plan.where) for node in each.walk()):
        raise not_in_columns("prior")  # also of rows that are never emitted, as the remove stream without a window
    assert plan.output_type is not None
    for name, prop in plan.output_type.properties.items():
        if not is_held_exactly(prop.whole_type):
            raise NotCompilable(f"the column '{name}' of type {prop.type}: its values would not come out of an Arrow column as they were")
    if plan.row_recognition is not None:
        return MatchRun(pattern_kernel(plan), plan.output_type, surroundings)
    return SelectRun(select_kernel(plan), plan.output_type, surroundings)


__all__ = ["build_run"]
