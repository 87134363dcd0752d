"""The select clause at run time: ``build(plan, environment)`` makes the result set of a plan; ``expression_accumulators`` serves the expr
windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import attrs

from epl.plan.expressions import Aggregated, TypedExpression
from epl.plan.result_set import ResultSetPlan
from runtime.aggregation import GroupFactory
from runtime.expressions import Environment, compile_scalar
from runtime.result_set.output_rate.after import AfterStage
from runtime.result_set.output_rate.conditions import TimeContext
from runtime.result_set.output_rate.stage import OutputStage
from runtime.result_set.rollup import Rollup
from runtime.result_set.shapes import Forward, FullyAggregated, ResultSet, RowPerEvent, RowPerGroup, Unaggregated
from windows.protocol import Accumulator, Evaluate, State

SHAPES: Mapping[str, Callable[[ResultSetPlan, Environment], ResultSet]] = {
    "un-aggregated": Unaggregated,
    "fully aggregated": FullyAggregated,
    "aggregated": RowPerEvent,
    "grouped fully aggregated": RowPerGroup,
    "grouped aggregated": RowPerEvent,
    "rollup": Rollup,
}


def build(plan: ResultSetPlan, environment: Environment, state: State = None, context: TimeContext | None = None) -> ResultSet:
    """Return a fresh result set, or one that goes on where ``state`` was taken. Set its ``child`` before the first update.

    ``context`` gives timers to a plan whose output is limited; for ``output snapshot`` set ``contents`` too.
    """
    forwards = plan.forward is not None and plan.arity == 1 and plan.output_type.kind != "table"
    rstream_after = plan.output is not None and plan.output.only_after and plan.selector == "rstream" and not plan.raw
    if rstream_after:  # what counts is the insert stream's rows
        plan = environment.printed("both streams", (plan,), partial(attrs.evolve, plan, raw=True))
    plain = (plan.output is None or plan.output.only_after) and plan.shape == "un-aggregated" and forwards
    if plain and plan.having is None and not plan.order_by and plan.limit is None and not plan.distinct:
        result_set: ResultSet = Forward(plan, environment)
    else:
        result_set = SHAPES[plan.shape](plan, environment)
    if plan.output is not None:
        assert context is not None
        if plan.output.only_after:
            result_set = AfterStage(result_set, plan.output, context, removes_only=rstream_after)
        else:
            result_set = OutputStage(result_set, plan.output, context)
    if state is not None:
        result_set.restore(state)
    return result_set


def expression_accumulators(
    expression: TypedExpression, environment: Environment, names: Sequence[str] = ()
) -> tuple[Sequence[Accumulator], Evaluate]:
    """Return the aggregations in an expression over one stream, and evaluate(event, *values of names) that reads them."""
    by_slot = {n.slot: n.plan for n in expression.walk() if isinstance(n, Aggregated)}
    order = sorted(by_slot)
    group = GroupFactory([by_slot[slot] for slot in order], environment, 1)()
    places = {slot: place for place, slot in enumerate(order)}
    readers = [group.readers[places[slot]] if slot in places else None for slot in range(max(order, default=-1) + 1)]
    value = compile_scalar(expression, environment, 1, len(names))
    return group.kept, lambda event, *values: value(event, True, readers, *values)


__all__ = ["ResultSet", "build", "expression_accumulators"]
