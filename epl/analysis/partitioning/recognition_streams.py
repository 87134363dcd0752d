"""match_recognize of a SQL dialect: local to what it is partitioned by, where its rows come in the order of their times."""
from __future__ import annotations

from collections.abc import Callable, Iterable

from epl.analysis.partitioning.facts import NotPartitionable, StageCollector
from epl.analysis.partitioning.paths import Carrying
from epl.analysis.partitioning.verdicts import SplitBy, Whole
from epl.plan.expressions import StreamProperty
from epl.plan.patterns.recognition_streams import RecognitionStreamPlan
from epl.plan.statements import StatementPlan
from epl.plan.streams import FilterPlan
from epl.plan.walk import walk_plan

CLAUSE = "match_recognize"


def add_recognition(plan: RecognitionStreamPlan, limited: bool, collector: StageCollector) -> None:
    """Add the stage of a clause. ``limited``: whether the number of partial matches is."""
    clause, read = plan.clause, plan.input.event_type
    if isinstance(plan.input.source, RecognitionStreamPlan):
        raise NotPartitionable(CLAUSE, "over the rows of another clause it is not known to be local to a key")
    if not clause.partition:
        raise NotPartitionable(CLAUSE, "without PARTITION BY, rows of all keys make one match")
    if limited:
        raise NotPartitionable(CLAUSE, "the limit on partial matches (max_states) is one for all partitions")
    if clause.order and plan.order.depends_on_all_rows:
        raise NotPartitionable(CLAUSE, "how long its rows wait (@RowOrder, order_late) is said by the rows of all keys")
    names = [plan.properties[place] for place in clause.partition if place < len(plan.properties)]
    keys = [StreamProperty(stream=0, name=name, type=read.properties[name].whole_type) for name in names]
    if not keys:
        raise NotPartitionable(f"{CLAUSE} PARTITION BY", "none of its keys is a property of the rows as they came in")
    collector.demand(f"{CLAUSE} PARTITION BY", keys)
    collector.add_stage(Carrying({name: (name,) for name in names if name in _input_columns(plan)}))


def _input_columns(plan: RecognitionStreamPlan) -> set[str]:
    """Return the output columns that are columns of the input."""
    clause = plan.clause
    places = clause.shown if clause.dialect == "ydb" and clause.all_rows else clause.partition
    columns = clause.columns[len(clause.measures) :] if places is clause.shown else clause.columns
    return {
        column.name for column, place in zip(columns, places)
        if place < len(plan.properties) and column.name == plan.properties[place]
    }  # fmt: skip


def refuse_other_orders(
    verdict: SplitBy, plans: Iterable[StatementPlan], time_of: Callable[[str], str | None]
) -> SplitBy | Whole:
    """Return the verdict; that nothing is split where a clause orders its rows by another time than the one by which engines get them: then
    which rows are late depends on all of them. ``time_of``: the column of a source's times, by the name of its type."""
    for plan in plans:
        if plan.name in verdict.statements:
            for part in walk_plan(plan.body):
                if isinstance(part, RecognitionStreamPlan) and not _in_order(part, time_of):
                    reason = "its rows are not in the order of time= , so that which of them are late depends on all rows"
                    return Whole(verdict.statements, plan.name, f"{CLAUSE} ORDER BY", reason)
    return verdict


def _in_order(plan: RecognitionStreamPlan, time_of: Callable[[str], str | None]) -> bool:
    if not plan.clause.order:
        return True
    source, place = plan.input.source, plan.clause.order[0][0]
    return isinstance(source, FilterPlan) and place < len(plan.properties) and time_of(source.event_type.name) == plan.properties[place]


__all__ = ["add_recognition", "refuse_other_orders"]
