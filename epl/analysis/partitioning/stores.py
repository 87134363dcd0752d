"""Named windows and tables: rows that several statements share are local to a key where all who write and who read them go by it.

The rows of a store are a stream of their own: those who insert fill it, those who look rows up meet them by an equality.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from epl.analysis.partitioning.facts import Demand, Facts, Meeting, NotPartitionable, RowFeed, StageCollector, Way
from epl.analysis.partitioning.meetings import JoinedRows, equalities, places
from epl.analysis.partitioning.operators import insertion, windows
from epl.analysis.partitioning.paths import Carrying, carry_columns, expression_path, may_be_key, trace_path
from epl.event_types import EventType
from epl.plan.assignments import PropertyAssignment
from epl.plan.join.historical import table_stream_plan
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import CreateTablePlan, InsertPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.stores.on_statements import MergeActionPlan, OnMergePlan, OnSelectPlan, OnUpdatePlan, OnWindowPlan
from epl.plan.stores.tables import IntoTable, Table, TableValue
from epl.plan.streams import NamedWindow, StreamPlan, stream_store_plan
from epl.plan.walk import plan_expressions

Store = NamedWindow | Table


def store_row_type(stream: StreamPlan) -> EventType | None:
    """Return the type of the rows of the named window or table that the stream reads; None where it reads events."""
    source, stored = stream_store_plan(stream), table_stream_plan(stream)
    if source is not None:
        return source.window.event_type
    return None if stored is None else stored.table.event_type


def insert_target(insert: InsertPlan) -> EventType:
    """Return the type of which inserted events are: of a table's rows where they become such."""
    return insert.target if insert.table is None else insert.table.event_type


def describe_store(store: Store) -> str:
    """Return what a store is called in a reason."""
    return f"the {'table' if isinstance(store, Table) else 'named window'} '{store.name}'"


# ------------------------------------------------------------------ create


def create_window(statement: str, plan: CreateWindowPlan) -> Facts:
    """Require local data windows; which rows there are is up to those who insert and change them."""
    if plan.fill is not None:
        raise NotPartitionable(describe_store(plan.window), "it begins with the rows of another one")
    collector = StageCollector(statement)
    windows(plan.stream, collector)
    return Facts(statement, plan.window.event_type, tuple(collector.demands), stateful=True, stored=True)


def create_table(statement: str, plan: CreateTablePlan) -> Facts:
    """Rows of equal keys are one row."""
    table = plan.table
    paths = tuple((column.name,) for column in table.keys if may_be_key(column.type))
    if not paths:
        raise NotPartitionable(describe_store(table), "no key of it keeps its rows apart")
    return Facts(statement, table.event_type, (Demand(statement, "the primary key", paths),), stateful=True, stored=True)


def into_table(into: IntoTable, plan: ResultSetPlan, collector: StageCollector) -> RowFeed:
    """Return how the groups of a select become rows of the table, found by the group's keys. ``collector``: in front of the groups."""
    if plan.levels:
        raise NotPartitionable("into table", "rows of totals go over rows of several keys")
    if isinstance(collector, JoinedRows):
        raise NotPartitionable("into table", "of a join it is not known to be local to a key")
    paths = ((column.name, expression_path(key)) for column, key in zip(into.table.keys, plan.group_by))
    names = {name: path for name, path in paths if path is not None}
    return RowFeed(into.table.event_type, (*collector.stages, Carrying(names)))


# ------------------------------------------------------------------ rows that meet


def accesses(
    statement: str, sides: Sequence[StageCollector], reads: Sequence[EventType], streams: Sequence[StreamPlan], *plans: object
) -> Iterator[Facts]:
    """Yield the facts of ``T[key].column`` in a select over ``streams``: the row that asks meets the row of its key."""
    for side, read, stream in zip(sides, reads, streams):
        for node in _values(stream.source):
            yield from _access(statement, node, [(0, StageCollector(side.statement), read)])
    for node in _values(*plans):
        yield from _access(statement, node, [(number, side, read) for number, (side, read) in enumerate(zip(sides, reads))])


def _access(statement: str, node: TableValue, asking: Sequence[tuple[int, StageCollector, EventType]]) -> Iterator[Facts]:
    table = node.table
    for number, side, read in asking:
        sources = ((trace_path(side.stages, expression_path(key, number)), column) for key, column in zip(node.keys, table.keys))
        ways = tuple((path, (column.name,)) for path, column in sources if path is not None and may_be_key(column.type))
        if ways:
            yield from _meeting(statement, describe_store(table), (read, table.event_type), ways)
            return
    raise NotPartitionable(describe_store(table), "no key by which it is read is a property of the rows as they came in")


def _values(*plans: object) -> Iterable[TableValue]:
    return dict.fromkeys(node for e in plan_expressions(*plans) for node in e.walk() if isinstance(node, TableValue))


def _meeting(statement: str, operator: str, reads: tuple[EventType, EventType], ways: tuple[Way, ...]) -> Iterator[Facts]:
    """Yield facts of two streams whose rows meet by one of the ways."""
    meeting = Meeting(statement, operator, reads, ways)
    for side, read in enumerate(reads):
        paths = tuple(dict.fromkeys(way[side] for way in ways))
        yield Facts(statement, read, (Demand(statement, operator, paths),), stateful=True, meetings=() if side else (meeting,))


# ------------------------------------------------------------------ on-statements


def on_store(statement: str, plan: OnWindowPlan, trigger: StageCollector, read: EventType) -> list[Facts]:
    """Return the facts of an on-statement: the event has to meet all rows that it concerns."""
    operator, store = f"on … {plan.__class__.__name__[2:-4].lower()}", plan.match.store
    sides = [StageCollector(statement), trigger]
    pairs = [(one, other) for left, right in equalities(plan.match.lookup.applied)
             for one in places(left, sides) for other in places(right, sides)]  # fmt: skip
    turned = [*pairs, *((other, one) for one, other in pairs)]
    ways = tuple(dict.fromkeys((event[1], row[1]) for row, event in turned if row[0] == 0 and event[0] == 1))
    feeds: list[RowFeed] = []
    changes: frozenset[str] = frozenset()
    if isinstance(plan, OnMergePlan):
        actions = [(action, branch.matched) for branch in plan.branches for action in branch.actions]
        feeds = [_action_feed(action, matched, trigger) for action, matched in actions if action.insert is not None]
        changes = frozenset(each.property for action, _ in actions for each in action.assignments)
        if plan.always:  # it inserts, whatever rows there are
            return [Facts(statement, read, tuple(trigger.demands), tuple(feeds), stateful=trigger.stateful)]
    elif isinstance(plan, OnUpdatePlan):
        changes = frozenset(each.property for each in plan.assignments)
    elif isinstance(plan, OnSelectPlan) and plan.insert is not None:
        stages = (carry_columns(plan.result_set.output_type, plan.result_set.columns, 1), insertion(plan.insert,
            plan.result_set.output_type))
        feeds = [RowFeed(insert_target(plan.insert), (*trigger.stages, *stages))]
    if not ways:
        raise NotPartitionable(operator,
            f"no condition says that a property of the event equals one of the rows of {describe_store(store)}")
    if any(each.kind == "call" for part in _assigning(plan) for each in part):
        raise NotPartitionable(operator, "what its calls change is not known")
    of_trigger, of_rows = _meeting(statement, operator, (read, store.event_type), ways)
    own = Facts(statement, read, (*trigger.demands, *of_trigger.demands), tuple(feeds), stateful=True, meetings=of_trigger.meetings)
    return [own, Facts(statement, store.event_type, of_rows.demands, changes=changes, stateful=True)]


def _assigning(plan: OnWindowPlan) -> Iterator[Sequence[PropertyAssignment]]:
    if isinstance(plan, OnUpdatePlan):
        yield plan.assignments
    if isinstance(plan, OnMergePlan):
        yield from (action.assignments for branch in plan.branches for action in branch.actions)


def _action_feed(action: MergeActionPlan, matched: bool, trigger: StageCollector) -> RowFeed:
    """Return where a row that an action inserts goes on to: what it carries of the event."""
    assert action.insert is not None and action.row_type is not None
    event = 1 if matched and not action.of_event else 0
    if action.forward is not None:
        row = Carrying() if action.forward == event else Carrying({})
    else:
        row = carry_columns(action.row_type, action.columns, event)
    return RowFeed(insert_target(action.insert), (*trigger.stages, row, insertion(action.insert, action.row_type)))


__all__ = ["accesses", "create_table", "create_window", "describe_store", "insert_target", "into_table", "on_store", "store_row_type"]
