"""A statement of a context: an instance for each partition."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from epl.analysis.context.statements import check_categories
from epl.plan.context.contexts import Context
from epl.plan.expressions import SubqueryValue
from epl.plan.statements import BodyPlan, SelectPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from runtime.context.selectors import select
from runtime.context.tree import ContextTree
from runtime.expressions import Environment
from runtime.operators.operator_context import OperatorContext, StatementContext
from runtime.operators.store_entry import partition_windows
from runtime.statements.running import NO_STATE, Running
from windows.event import Event
from windows.paging import Paged
from windows.protocol import Damaged, State
from windows.shape import ANYTHING, COUNT, takes


class Instances(Protocol):
    """What makes the instance of one partition: runtime.build.PreparedStatement."""

    context: StatementContext

    @property
    def environment(self) -> Environment: ...

    def instance(self, partition: int, state: State, properties: Mapping[str, Any] | None) -> tuple[Running, OperatorContext]: ...


def _computes_last(body: BodyPlan) -> bool:
    """Return whether the rows of an event are computed once all streams of the statement have it: those of joins, and those that are
    sorted, where no output clause counts the deltas. A where clause that asks a sub-query is evaluated before."""
    if not isinstance(body, SelectPlan) or body.join is not None:
        return isinstance(body, SelectPlan)
    asks = body.where is not None and any(isinstance(node, SubqueryValue) for node in body.where.walk())
    return bool(body.result_set.order_by) and body.result_set.output is None and not asks


class PreparedInContext:
    """What makes the statement: runtime.statements.running.Prepared."""

    def __init__(self, instances: Instances, context: Context) -> None:
        self._instances = instances
        self._context = context

    @property
    def environment(self) -> Environment:
        return self._instances.environment

    def instantiate(self, partition: int = 0, state: State = NO_STATE, properties: Mapping[str, Any] | None = None) -> Running:
        check_categories(self._context)
        statement = self._instances.context
        tree: ContextTree = statement.core.contexts[self._context]
        if isinstance(statement.plan.body, CreateWindowPlan):
            partition_windows(OperatorContext(statement),
                statement.plan.body.window)  # other statements may ask for it before a partition begins
        running = RunningInContext(self._instances, tree)
        if state is not NO_STATE:
            running.restore(state)
        return running


class RunningInContext:
    """The instances of a statement, by the number of their partition, in the order in which the partitions began."""

    def __init__(self, prepared: Instances, tree: ContextTree) -> None:
        self._prepared = prepared
        self._tree = tree
        self._core = prepared.context.core
        self.name = prepared.context.plan.name
        self.computes_last = _computes_last(prepared.context.plan.body)
        self.instances: dict[int, tuple[Running, OperatorContext]] = {}
        self._starting = False
        self._restored: set[int] = set()
        self.pages = Paged(
            "context partitions", lambda: self.instances, lambda partition: partition, lambda partition, instance: instance[0].state())

    @property
    def number(self) -> int:
        return self._prepared.context.number

    def start(self) -> None:
        self._core.partition_pages[self._prepared.context.number] = self.pages
        self._starting = True
        try:
            self._tree.add(self)
        finally:
            self._starting = False
        self._prepared.context.is_running = True

    def begin(self, number: int, properties: Mapping[str, Any]) -> None:
        """Run an instance for a partition. What is raised while the statement starts is the deployer's."""
        self._core.note_changed(self._prepared.context.number, number)
        if number in self._restored:
            self._restored.remove(number)
            self._set_turn(number)
            self.instances[number][0].start()
            return
        try:
            instance = self.instances[number] = self._prepared.instance(number, NO_STATE, properties)
            self._set_turn(number)
            instance[0].start()
        except Exception as error:  # law 6: the other statements of the partition are not harmed
            if self._starting:
                raise
            begun = self.instances.pop(number, None)
            if begun is not None:
                self._safely(begun[0].close)
                begun[1].abandon()
            self._core.on_error(error, self.name, None)

    def _set_turn(self, number: int) -> None:
        self.instances[number][1].turn = self._tree.turn(self.number, number)

    def end(self, number: int) -> None:
        """Let an instance emit what it emits at the end of its partition, and close it."""
        instance = self.instances.pop(number, None)
        if instance is None:
            return
        if self._core.changed_statements is not None:
            self._core.changed_statements.add(self._prepared.context.number)
            self.pages.forget(number)
        running, context = instance
        ended = self._core.schedule.ended
        if ended is not None:
            ended.add((self._prepared.context.number, number))
        for action in context.at_end:
            self._safely(action)
        self._safely(running.close)

    def _safely(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - law 6
            self._core.on_error(error, self.name, None)

    def close(self) -> None:
        self._core.partition_pages.pop(self._prepared.context.number, None)
        for running, _ in self.instances.values():
            running.close()
        self.instances.clear()
        self._tree.remove(self)
        self._prepared.context.close()

    def iterate(self) -> Iterable[Event]:
        return self.iterate_partitions(self._tree.in_order())

    def select(self, selector: Any) -> list[Event]:
        """Return the rows of the partitions that a PartitionSelector selects."""
        return self.iterate_partitions(select(selector, self._tree.context, self._tree.in_order()))

    def iterate_partitions(self, numbers: Iterable[int]) -> list[Event]:
        """Return the rows of these partitions."""
        instances = self.instances
        return [row for number in numbers if number in instances for row in instances[number][0].iterate()]

    def state(self) -> State:
        return self.pages

    @takes([(COUNT, ANYTHING)])
    def restore(self, state: State) -> None:
        for number, each in state:
            branch = self._tree.partitions.get(number)
            if branch is None or number in self.instances:
                raise Damaged(f"a state of a partition {number} that is not there")
            self.instances[number] = self._prepared.instance(number, each, branch.properties)
        self._restored = set(self.instances)


__all__ = ["Instances", "PreparedInContext", "RunningInContext"]
