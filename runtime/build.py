"""Plan → running statement: the only factory. BUILDERS is explicit and complete: every plan class has a builder."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from epl.plan.on_statements import OnSetPlan, UpdateIstreamPlan
from epl.plan.splitting import OnSplitPlan
from epl.plan.statements import (
    BodyPlan,
    CreateExpressionPlan,
    CreateSchemaPlan,
    CreateVariablePlan,
    SelectPlan,
    SelectRowPlan,
    StatementPlan,
)
from runtime.fused import fuse
from runtime.operators.operator_context import OperatorContext
from runtime.operators.stream_entry import repeat
from runtime.statements.create_variable import RunningCreateVariable
from runtime.statements.on_set import RunningOnSet
from runtime.statements.on_split import RunningSplit
from runtime.statements.running import Declaration, Running
from runtime.statements.select_statement import RunningSelect
from runtime.statements.select_without_from import RunningSelectRow
from runtime.statements.update_istream import RunningUpdate


def _select(plan: SelectPlan, context: OperatorContext) -> Running:
    running = RunningSelect(plan, context)
    fuse(running)
    # Last: it wraps what receives events, which fusing replaces.
    repeat(running.entry.receiver, plan.streams[0].filter, context.environment)
    return running


def _declaration(plan: BodyPlan, context: OperatorContext) -> Running:
    return Declaration()


BUILDERS: Mapping[type[BodyPlan], Callable[[Any, OperatorContext], Running]] = {
    SelectPlan: _select,
    SelectRowPlan: RunningSelectRow,
    CreateSchemaPlan: _declaration,
    CreateExpressionPlan: _declaration,
    CreateVariablePlan: RunningCreateVariable,
    OnSetPlan: RunningOnSet,
    OnSplitPlan: RunningSplit,
    UpdateIstreamPlan: RunningUpdate,
}


def build(plan: StatementPlan, context: OperatorContext) -> Running:
    """A fresh running statement; ``start`` makes it take part."""
    return BUILDERS[type(plan.body)](plan.body, context)


__all__ = ["BUILDERS", "build"]
