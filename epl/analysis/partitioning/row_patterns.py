"""match_recognize: local to what it is partitioned by."""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.partitioning.facts import NotPartitionable, StageCollector
from epl.analysis.partitioning.operators import CHANGING, leaves_in_order
from epl.analysis.partitioning.paths import Carrying, expression_path
from epl.analysis.partitioning.verdicts import Path
from epl.plan.expressions import Constant, Element, PropertyOf, StreamProperty, TypedExpression
from epl.plan.patterns.match_recognize import Alternation, Concatenation, Repetition, RowPattern, RowPatternVariable, RowRecognitionPlan
from epl.plan.windows import WindowConfig

CLAUSE = "match_recognize"


def row_recognition(plan: RowRecognitionPlan, configs: Sequence[WindowConfig], limited: bool, collector: StageCollector) -> None:
    """Add the stage of a row pattern. ``limited``: whether the number of partial matches is."""
    if not plan.partition_by:
        raise NotPartitionable(CLAUSE, "without partition by, rows of all keys make one match")
    if plan.iterate_only:
        raise NotPartitionable(CLAUSE, "with the hint iterate_only nothing is emitted that could be combined")
    if limited:
        raise NotPartitionable(CLAUSE, "the limit on partial matches (max_states) is one for all partitions")
    if plan.interval is not None:
        raise NotPartitionable("interval", "a match waits with those of other partitions that began at the same time")
    if plan.has_window and not leaves_in_order(configs):
        reason = "unless rows leave the window in the order in which they came, those of all partitions are matched again"
        raise NotPartitionable(CLAUSE, reason)
    if plan.has_window and any(isinstance(n, CHANGING) for e in plan.partition_by for n in e.walk()):
        raise NotPartitionable(f"{CLAUSE} partition by", "what it reads may have changed when a row leaves the window")
    collector.demand(f"{CLAUSE} partition by", plan.partition_by)
    carried = {name: path for name, m in zip(plan.output_type.names, plan.measures) if (path := measure_path(m, plan)) is not None}
    collector.add_stage(Carrying(carried))


def measure_path(measure: TypedExpression, plan: RowRecognitionPlan) -> Path | None:
    """Return the property of a row of the match that a measure is: the row of a variable that no match lacks."""
    required = _in_every_match(plan.pattern)
    if isinstance(measure, StreamProperty):
        return _aggregation_path(measure.name, plan, required)
    if not isinstance(measure, PropertyOf):
        return None
    before = _row(measure.operand, plan, required)
    if before is None:
        return None
    return (*before, measure.name)


def _row(operand: TypedExpression, plan: RowRecognitionPlan, required: frozenset[str]) -> Path | None:
    """Return the path from a row of the match to the operand: empty for ``A``, for ``B[0]`` where B takes several rows."""
    if isinstance(operand, PropertyOf):
        before = _row(operand.operand, plan, required)
        return None if before is None else (*before, operand.name)
    if isinstance(operand, Element):
        first = isinstance(operand.index, Constant) and operand.index.value == 0
        return _row(operand.operand, plan, required) if first else None
    if isinstance(operand, StreamProperty) and operand.name in required:
        return ()
    return None


def _aggregation_path(name: str, plan: RowRecognitionPlan, required: frozenset[str]) -> Path | None:
    """``first(B.k)``, ``last(B.k)``."""
    slots = [n for n in plan.match_type.names if n not in plan.variables]
    if name not in slots:
        return None
    aggregation = plan.aggregations[slots.index(name)]
    function = aggregation.plan
    if function.function not in ("firstever", "lastever") or function.filter is not None or len(function.arguments) != 1:
        return None
    return expression_path(function.arguments[0], aggregation.variable) if plan.variables[aggregation.variable] in required else None


def _in_every_match(pattern: RowPattern) -> frozenset[str]:
    """Return the variables that take a row in every match."""
    if isinstance(pattern, RowPatternVariable):
        return frozenset({pattern.name})
    if isinstance(pattern, Concatenation):
        return frozenset().union(*map(_in_every_match, pattern.items))
    if isinstance(pattern, Alternation):
        return frozenset.intersection(*map(_in_every_match, pattern.items))
    if isinstance(pattern, Repetition) and pattern.required:
        return _in_every_match(pattern.item)
    return frozenset()


__all__ = ["measure_path", "row_recognition"]
