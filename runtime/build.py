"""Plan → prepared statement → its instances: the only factory. BUILDERS is explicit and complete: every plan class has a builder."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from epl.plan.join.historical import historical_plan
from epl.plan.statements import (
    BodyPlan,
    CreateContextPlan,
    CreateExpressionPlan,
    CreateSchemaPlan,
    CreateTablePlan,
    CreateVariablePlan,
    SelectPlan,
    SelectRowPlan,
    StatementPlan,
)
from epl.plan.stores.indexes import CreateIndexPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.stores.on_statements import OnDeletePlan, OnMergePlan, OnSelectPlan, OnSetPlan, OnUpdatePlan, UpdateIstreamPlan
from epl.plan.stores.splitting import OnSplitPlan
from runtime.context.create_context import RunningCreateContext
from runtime.context.partitioned import PreparedInContext
from runtime.event_loop.loop import EventLoop
from runtime.expressions import Environment
from runtime.fused import fuse, fuse_changes
from runtime.operators.operator_context import OperatorContext, StatementContext
from runtime.operators.partition_entry import PartitionEntry
from runtime.operators.stream_entry import StreamEntry
from runtime.operators.subquery import Subqueries
from runtime.statements.create_index import RunningCreateIndex
from runtime.statements.create_table import RunningCreateTable
from runtime.statements.create_variable import RunningCreateVariable
from runtime.statements.create_window import RunningCreateWindow
from runtime.statements.historical_select import RunningHistoricalSelect
from runtime.statements.join_statement import RunningJoin
from runtime.statements.on_merge import RunningOnMerge
from runtime.statements.on_set import RunningOnSet
from runtime.statements.on_split import RunningSplit
from runtime.statements.on_window import RunningOnDelete, RunningOnSelect, RunningOnUpdate, RunningOnWindow
from runtime.statements.running import NO_STATE, Declaration, Prepared, Running
from runtime.statements.select_statement import RunningSelect, SelectOperators
from runtime.statements.select_without_from import RunningSelectRow
from runtime.statements.update_istream import RunningUpdate
from runtime.statements.with_subqueries import WithSubqueries
from windows.protocol import RowReceiver, State


def _select(plan: SelectPlan, context: OperatorContext) -> Running:
    if len(plan.streams) == 1 and historical_plan(plan.streams[0]) is not None:
        return RunningHistoricalSelect(plan, context)
    running: SelectOperators
    if plan.join is None:
        running = RunningSelect(plan, context)
        if not plan.subqueries and isinstance(running.entry, (StreamEntry, PartitionEntry)):
            fuse(running)
    else:
        running = RunningJoin(plan, context)
    for stream in running.streams:
        stream.entry.repeat()
    return running


def _change(kind: Callable[[Any, OperatorContext], RunningOnWindow]) -> Callable[[Any, OperatorContext], Running]:
    def build(plan: Any, context: OperatorContext) -> Running:
        running = kind(plan, context)
        fuse_changes(running, plan)
        return running

    return build


def _declaration(plan: BodyPlan, context: OperatorContext) -> Running:
    return Declaration()


BUILDERS: Mapping[type[BodyPlan], Callable[[Any, OperatorContext], Running]] = {
    SelectPlan: _select,
    SelectRowPlan: RunningSelectRow,
    CreateContextPlan: RunningCreateContext,
    CreateSchemaPlan: _declaration,
    CreateExpressionPlan: _declaration,
    CreateIndexPlan: RunningCreateIndex,
    CreateTablePlan: RunningCreateTable,
    CreateVariablePlan: RunningCreateVariable,
    CreateWindowPlan: RunningCreateWindow,
    OnDeletePlan: _change(RunningOnDelete),
    OnMergePlan: _change(RunningOnMerge),
    OnSelectPlan: RunningOnSelect,
    OnUpdatePlan: _change(RunningOnUpdate),
    OnSetPlan: RunningOnSet,
    OnSplitPlan: RunningSplit,
    UpdateIstreamPlan: RunningUpdate,
}


class PreparedStatement:
    """A statement of which any number of instances run: one, or one for each partition of a context.

    What is compiled belongs to it: the first instance has it compiled, all others find it there.
    """

    __slots__ = ("context", "_build", "_body")

    def __init__(self, context: StatementContext) -> None:
        self.context = context
        self._body = context.plan.body
        self._build = BUILDERS[type(self._body)]

    @property
    def environment(self) -> Environment:
        """What the statement's expressions may touch."""
        return self.context.environment

    def instantiate(self, partition: int = 0, state: State = NO_STATE, properties: Mapping[str, Any] | None = None) -> Running:
        """Return the operators of one instance, in the state that another one had where it is given; ``start`` makes them take part.

        ``partition``: its number. ``properties``: of the context partition. Raise EplError where a parameter's value is refused; whatever
        is raised, no timer and no variable refers to the instance.
        """
        return self.instance(partition, state, properties)[0]

    def instance(self, partition: int, state: State, properties: Mapping[str, Any] | None) -> tuple[Running, OperatorContext]:
        """Do as ``instantiate``; return what the operators were built with too."""
        context = OperatorContext(self.context, partition, properties, restoring=state is not NO_STATE)
        try:
            running = self._operators(context)
            if context.restoring:
                running.restore(state)
                context.restoring = False
        except BaseException:
            context.abandon()
            raise
        return running, context

    def _operators(self, context: OperatorContext) -> Running:
        body = self._body
        if not body.subqueries:
            return _fill_select(self._build(body, context))
        subqueries = Subqueries(body.subqueries, context)
        statement = self._build(body, context)
        subqueries.open()
        return WithSubqueries(_fill_select(statement), subqueries)


def _fill_select(statement: Running) -> Running:
    """Let a select begin with the rows of the named windows that it reads; its conditions may ask its sub-queries, which are open."""
    if isinstance(statement, SelectOperators):
        statement.fill()
    return statement


def prepare(plan: StatementPlan, core: EventLoop, number: int, environment: Environment, output: RowReceiver) -> Prepared:
    """Return what makes a statement's instances. ``number``: the statement's; ``output``: takes what they emit."""
    prepared = PreparedStatement(StatementContext(core, plan, number, environment, output))
    return prepared if plan.context is None else PreparedInContext(prepared, plan.context)


__all__ = ["BUILDERS", "PreparedStatement", "prepare"]
