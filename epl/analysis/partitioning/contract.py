"""Which fields of a select's plan are known to be local to a key, or not (epl.plan.contracts); any other keeps its rows together."""
from __future__ import annotations

from epl.plan.aggregations import AggregationPlan
from epl.plan.contained import ContainedLevel, ContainedPlan
from epl.plan.contracts import Contract
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from epl.plan.result_set import GroupLevel, LimitPlan, OrderKey, OutputPlan, ReclaimGroups, ResultSetPlan, TerminatedOutput
from epl.plan.statements import DeliveryPlan, InsertPlan, SelectPlan
from epl.plan.streams import FilterPlan, IndexKey, StorePlan, StreamPlan

SELECT = Contract.of({
    SelectPlan: "output_type subqueries streams join result_set where row_recognition insert delivery",
    StreamPlan: "source event_type windows retain alias contained",
    FilterPlan: "event_type conditions key repeats partitioned",
    IndexKey: "property values",
    StorePlan: "window conditions shared",
    ContainedPlan: "source levels output_type forward columns selects",
    ContainedLevel: "expression event_type text wraps where",
    ResultSetPlan: "shape output_type columns arity forward selector raw distinct group_by levels having order_by limit aggregations "
                   "unbound unidirectional reclaim iterable_unbound output into",
    OrderKey: "expression descending",
    LimitPlan: "rows offset",
    GroupLevel: "keys columns having order_by",
    ReclaimGroups: "age frequency never",
    OutputPlan: "selector every unit after after_unit optimized crontab condition assignments terminated",
    TerminatedOutput: "condition assignments",
    AggregationPlan: "function arguments type distinct filter group_by stream descending constants ever",
    RowRecognitionPlan: "event_type match_type output_type variables groups pattern program conditions measures partition_by aggregations "
                        "all_matches skip interval or_terminated has_window iterate_only lookback",
    InsertPlan: "target stream same positions converts precedence nested by_place table whole",
    DeliveryPlan: "keys",
}, open=True)  # fmt: skip

__all__ = ["SELECT"]
