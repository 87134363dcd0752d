"""Which fields of plans the generated functions handle (epl.plan.contracts); other parts are their operators' own."""
from __future__ import annotations

from epl.plan.aggregations import AggregationPlan
from epl.plan.contracts import Contract
from epl.plan.patterns.match_recognize import Condition, GroupAggregation, Operand, Program, RowRecognitionPlan, Step
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import SelectPlan
from epl.plan.streams import StreamPlan

SELECT = Contract.of({
    SelectPlan: "output_type subqueries streams result_set insert delivery",
    StreamPlan: "source event_type windows retain alias",
    ResultSetPlan: "shape output_type columns arity forward selector raw group_by levels having order_by limit distinct aggregations "
                   "unbound reclaim iterable_unbound output into",
    AggregationPlan: "function arguments type distinct filter group_by stream descending constants ever",
}, open=True)  # fmt: skip
"""Of a select without match_recognize."""

ROW_PATTERN = Contract.of({
    SelectPlan: "output_type subqueries streams result_set row_recognition insert delivery",
    StreamPlan: "source event_type windows retain alias",
    RowRecognitionPlan: "event_type match_type output_type variables groups pattern program conditions measures partition_by aggregations "
                        "all_matches skip interval or_terminated has_window iterate_only lookback",
    Program: "steps start",
    Step: "variable label then accepts counted",
    Condition: "expression operands",
    Operand: "kind number event_type",
    GroupAggregation: "plan variable",
    ResultSetPlan: "shape output_type columns arity forward selector raw group_by levels having order_by limit distinct aggregations "
                   "unbound reclaim iterable_unbound output into",
}, open=True)  # fmt: skip
"""Of a select with match_recognize."""

__all__ = ["ROW_PATTERN", "SELECT"]
