"""Which fields of plans the kernels of the batch tier handle (epl.plan.contracts)."""
from __future__ import annotations

from collections.abc import Mapping

from epl.plan.aggregations import AggregationPlan
from epl.plan.assignments import VariableAssignment
from epl.plan.contracts import Contract
from epl.plan.patterns.match_recognize import Condition, GroupAggregation, Operand, Program, RowRecognitionPlan, Step
from epl.plan.result_set import GroupLevel, LimitPlan, OrderKey, OutputPlan, ResultSetPlan
from epl.plan.statements import SelectPlan
from epl.plan.streams import FilterPlan, IndexKey, StreamPlan
from windows.ext_timed import ExtTimed
from windows.first_events import FirstLength
from windows.keepall import KeepAll
from windows.length import Length
from windows.length_batch import LengthBatch
from windows.single_event import FirstEvent, LastEvent
from windows.time_accum import TimeAccum
from windows.time_batch import TimeBatch
from windows.time_length_batch import TimeLengthBatch
from windows.time_sliding import Time
from windows.unique import FirstUnique, Unique

FILTERS: Mapping[type, str] = {FilterPlan: "event_type conditions key", IndexKey: "property values"}
SLIDING: Mapping[type, str] = {
    StreamPlan: "source event_type windows alias", Length: "size", KeepAll: "", Time: "period", ExtTimed: "timestamp period",
}  # fmt: skip
WINDOWS: Mapping[type, str] = {
    **SLIDING, TimeAccum: "period", LastEvent: "", FirstEvent: "", FirstLength: "size", LengthBatch: "size", TimeBatch: "period reference",
    TimeLengthBatch: "period size", Unique: "keys", FirstUnique: "keys",
}  # fmt: skip
FINISH: Mapping[type, str] = {OrderKey: "expression descending", LimitPlan: "rows offset"}

SELECT = Contract.of(FILTERS, WINDOWS, FINISH, {
    SelectPlan: "output_type streams result_set where",
    AggregationPlan: "function arguments type distinct filter group_by stream constants ever",
    ResultSetPlan: "shape output_type columns arity forward selector raw distinct group_by levels having order_by limit aggregations "
                   "unbound output",
    GroupLevel: "keys columns having order_by",
    OutputPlan: "selector every unit after after_unit optimized condition assignments",
    VariableAssignment: "kind value variable property index",
})  # fmt: skip
"""Of a select without match_recognize."""

RULE = Contract.of(FILTERS, {
    SelectPlan: "output_type streams result_set",
    StreamPlan: "source event_type alias",
    AggregationPlan: "function arguments type filter stream ever",
    ResultSetPlan: "shape output_type columns arity forward having aggregations unbound",
})  # fmt: skip
"""Of a select in a rule set."""

ROW_PATTERN = Contract.of(FILTERS, SLIDING, FINISH, {
    SelectPlan: "output_type streams result_set row_recognition",
    AggregationPlan: "function arguments type filter stream ever",
    ResultSetPlan: "shape output_type columns arity forward distinct having order_by limit unbound",
    RowRecognitionPlan: "event_type match_type output_type variables groups pattern program conditions measures partition_by aggregations "
                        "all_matches skip interval or_terminated has_window lookback",
    Program: "steps start",
    Step: "variable label then accepts counted",
    Condition: "expression operands",
    Operand: "kind number event_type",
    GroupAggregation: "plan variable",
})  # fmt: skip
"""Of a select with match_recognize."""

__all__ = ["ROW_PATTERN", "RULE", "SELECT"]
