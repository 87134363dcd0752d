"""A statement's plan → its run in the batch tier: the only factory."""
from __future__ import annotations

from epl.plan.statements import BodyPlan, SelectPlan
from runtime.batch.pattern_run import PatternRun
from runtime.batch.pattern_shapes import pattern_kernel
from runtime.batch.refusals import NotCompilable
from runtime.batch.run import Run, Surroundings
from runtime.batch.select_kernel import select_kernel
from runtime.batch.select_run import SelectRun


def build_run(plan: BodyPlan, surroundings: Surroundings) -> Run:
    """A fresh run; raises NotCompilable with the reason why the statement stays in the row tier."""
    if not isinstance(plan, SelectPlan):
        raise NotCompilable(f"{type(plan).__name__.removesuffix('Plan')} is not computed in columns")
    assert plan.output_type is not None
    if plan.row_recognition is not None:
        return PatternRun(pattern_kernel(plan), plan.output_type, surroundings)
    return SelectRun(select_kernel(plan), plan.output_type, surroundings)


__all__ = ["build_run"]
