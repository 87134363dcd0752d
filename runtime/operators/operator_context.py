"""What the operators of one instance of a statement get while they are built: timers, evaluators, accumulators, the way out."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import attrs

from epl.collation import collation_key
from epl.plan.assignments import VariableAssignment
from epl.plan.context.contexts import Context, HashLevel, LifetimeLevel
from epl.plan.expressions import Constant, Logic, TypedExpression, VariableValue
from epl.plan.filter_specifications import FilterSpecification
from epl.plan.kept import once_per_plan
from epl.plan.patterns.pattern import PatternPlan
from epl.plan.statements import BodyPlan, CreateContextPlan, DeliveryPlan, StatementPlan
from epl.plan.stores.tables import Table, TableKeys, TableValue
from epl.plan.streams import NamedWindow, types_read
from epl.plan.walk import walk_plan
from epl.value_types import BOXED_BOOLEAN
from runtime.clock.periods import add_period
from runtime.clock.schedule import Order, ScheduledTimer
from runtime.event_loop.delivery import MatchStates
from runtime.event_loop.loop import EventLoop
from runtime.event_loop.prepared_filters import PreparedFilter, Target, Unless
from runtime.event_loop.receiver_order import Placed, Places
from runtime.expressions import Environment, compile_expression, compile_predicate
from runtime.expressions.environment import expression_nodes
from runtime.operators.ended_partitions import BeginAgain, InTurn, Redeliveries, Redelivery, Turn
from runtime.operators.grouped_delivery import divider
from runtime.operators.partition_filters import PartitionFilters
from runtime.result_set import expression_accumulators
from runtime.stores.by_partition import OfPartition, has_partitions
from windows.event import Event
from windows.protocol import Accumulator, Evaluate, RandomAccess, RowReceiver

SHARED = (NamedWindow, Table, VariableAssignment)
"""Parts of plans of statements that share what one event may change; variables are read by expressions."""
AFTER_WINDOWS = 1_000_000
"""More than the timers of a statement's windows."""
AFTER_OUTPUT = 2 * AFTER_WINDOWS


class StatementContext:
    """What all instances of one statement have in common. ``environment``: what its expressions may touch, with all that is compiled of
    them."""

    __slots__ = (
        "begins_again", "core", "environment", "filters", "follows", "has_patterns", "has_place", "is_running", "number", "output", "plan",
        "redeliveries", "_has_cells", "_has_stores", "_own_tests",
    )

    def __init__(self, core: EventLoop, plan: StatementPlan, number: int, environment: Environment, output: RowReceiver) -> None:
        self.core = core
        self.plan = plan
        self.number = number
        self.environment = environment
        self.output = output
        if core.settings.prioritized:
            core.priorities[number] = (-plan.priority, plan.drop)
        is_context = isinstance(plan.body, CreateContextPlan)
        shares, orders, has_turns = _statement_kinds(plan.body)
        self.follows = has_turns or (orders and (shares or _ends_or_overlaps(plan.context)))
        """Whether the statement gets an event after those that one stream of theirs delivers it to."""
        if self.follows or (isinstance(plan.body, CreateContextPlan) and plan.body.context.is_nested):
            core.handles.follow(number)
        self.has_place = shares and not self.follows
        """Whether the filter decides when the statement gets an event, since it shares rows or variables with others."""
        self._has_cells = environment.has_own_variables(plan.body)
        self._has_stores = plan.context is not None and has_partitions((*environment.variables.values(), *environment.tables.values()))
        self._has_cells = self._has_cells or self._has_stores
        self.filters: PartitionFilters | None = None
        """What the partitions' entries have in common; None without a context."""
        self.redeliveries: Redeliveries | None = None
        """How an event that ends a partition which matches it too is delivered again to all others that do, as Esper does where partitions
        overlap or one begins as soon as another has ended; None elsewhere."""
        self.is_running = False
        """Whether the statement of a context has started: partitions that begin from now on are no part of its deployment."""
        self.has_patterns = False
        """Whether that may start and stop filters of other partitions, before their turn with the event comes."""
        self.begins_again = False
        """Whether an event that ends a partition may begin the next one: in Esper it does if a statement of the partition matches it."""
        self._own_tests: dict[int, bool] = {}
        if plan.context is not None or is_context:
            drop = plan.drop and core.settings.prioritized
            self.filters = PartitionFilters(core, environment, plan.name, drop=drop)
        if plan.context is not None:
            lifetimes = [level for level in plan.context.levels if isinstance(level, LifetimeLevel)]
            if any(level.overlapping or level.start is None for level in lifetimes):
                self.redeliveries = Redeliveries(core, number, plan.context, copies=not self.follows)
                self.has_patterns = any(isinstance(part, PatternPlan) for part in walk_plan(plan.body))
            self.begins_again = bool(lifetimes)

    def environment_of_instance(self, context: Mapping[str, Any] | None) -> Environment:
        """Return what the expressions of a new instance may touch: the statement's, where they read nothing that is the instance's own."""
        if not self._has_cells:
            return self.environment
        environment = self.environment.of_instance(context)
        if self._has_stores and context is not None:
            number = context["id"]
            environment.variables = OfPartition(environment.variables, number)
            environment.tables = OfPartition(environment.tables, number)
        return environment

    def has_own_test(self, specification: FilterSpecification) -> bool:
        """Return whether what the filter evaluates reads what each partition has of its own: then its filters are not shared."""
        known = self._own_tests.get(id(specification))
        if known is None:
            known = self._own_tests[id(specification)] = self.environment.has_own(specification.conditions)
        return known

    def close(self) -> None:
        """End the statement's use of filters, its partitions having been closed."""
        if self.filters is not None:
            self.filters.close()


LAST = 9
"""After the places of entries that partitions have by what they look up."""
NOTHING_LOOKED_UP = 2


def filter_place(specification: FilterSpecification) -> int:
    """Return the place of a filter's entries among those of one event: what is looked up by equality comes first, then by ranges."""
    if specification.equal or specification.listed is not None:
        return 0
    return NOTHING_LOOKED_UP if specification.range is None else 1


@once_per_plan
def _statement_kinds(body: BodyPlan) -> tuple[bool, bool, bool]:
    """(whether the statement reads rows or variables that others may change, whether it orders rows, whether several of its streams or
    parts may take one event)."""
    parts, kinds = list(walk_plan(body)), {type(node) for node in expression_nodes(body)}
    shares = any(isinstance(part, SHARED) for part in parts) or not kinds.isdisjoint((TableValue, TableKeys, VariableValue))
    orders = any(getattr(part, "order_by", None) for part in parts)
    has_turns = not isinstance(body, CreateContextPlan) and (_meets_itself(body) or any(isinstance(part, PatternPlan) for part in parts))
    return shares, orders, has_turns


def _ends_or_overlaps(context: Context | None) -> bool:
    """Return whether an event may reach several partitions of a context, or end one."""
    levels = () if context is None else context.levels
    return any(not isinstance(level, HashLevel) and getattr(level, "terminated_by", level) is not None for level in levels)


def _meets_itself(body: BodyPlan) -> bool:
    """Return whether one event may come by several streams of the statement: those of a self join, or one and a sub-query over its type."""
    own = [each for field in attrs.fields(type(body)) if field.name != "subqueries" for each in types_read(getattr(body, field.name))]
    asked = [each for subquery in body.subqueries for each in types_read(subquery)]
    return any(one.is_a(other) or other.is_a(one) for one, other in [*combinations(own, 2), *product(own, asked)])


class OperatorContext:
    """Implements windows.protocol.BuildContext for one instance of a statement: that of a context partition, or the only one.

    ``partition``: its number, 0 where there is one only. ``context``: the partition's properties. ``restoring``: whether the operators get
    the state of others as soon as they are built, until they have it. ``late``: whether its entries get an event after those of
    statements, as what begins and ends partitions of nested contexts does. ``turn``: of its entries, in a context.
    """

    __slots__ = (
        "at_end", "core", "environment", "late", "output", "partition", "properties", "restoring", "statement", "stream", "turn",
        "withholding", "_own", "_timers_made", "_watched",
    )

    def __init__(
        self, statement: StatementContext, partition: int = 0, context: Mapping[str, Any] | None = None, *, restoring: bool = False,
        late: bool = False,
    ) -> None:
        self.statement = statement
        self.late = late
        self.turn = 0
        self.core = statement.core
        self.properties: Mapping[str, Any] = {} if context is None else context
        self.at_end: Sequence[Callable[[], None]] = ()
        """What is called when the partition ends, before the operators are closed."""
        self._own: Sequence[PreparedFilter] = ()
        self.environment = statement.environment_of_instance(context)
        self.output = statement.output
        self.partition = partition
        self.restoring = restoring
        self._timers_made = 0
        self.stream = 0
        """The stream whose windows are being built: prev of this stream reads what they publish."""
        self.withholding = False
        """Whether what comes now is taken in and not emitted (``withhold``)."""
        self._watched: list[tuple[Any, Callable[[], None]]] | None = None

    @property
    def plan(self) -> StatementPlan:
        return self.statement.plan

    @property
    def name(self) -> str:
        return self.statement.plan.name

    def after_end(self) -> BeginAgain | Redelivery | None:
        """Return what gets an event that ends the partition, in place of an entry whose turn comes later; None where nothing does."""
        statement = self.statement
        if statement.redeliveries is not None:
            return Redelivery(statement.redeliveries, self.partition)
        context = statement.plan.context
        return BeginAgain(self.core, context) if statement.begins_again and context is not None else None

    def turn_among_patterns(self) -> Turn | None:
        """Return the partition's turn where filters of a pattern may change before it comes; None elsewhere."""
        statement = self.statement
        return Turn(statement.redeliveries, self.partition) if statement.redeliveries is not None and statement.has_patterns else None

    def in_turn(self, target: Target) -> Target:
        """Return what gets the events of an entry of the partition for the target."""
        turn = self.turn_among_patterns()
        return target if turn is None else InTurn(turn, target)

    # ------------------------------------------------------------------ BuildContext

    @property
    def text_key(self) -> Callable[[str], Any] | None:
        return collation_key if self.core.settings.sort_using_collator else None

    def now(self) -> int:
        return self.core.clock.now

    def timer(self, callback: Callable[[], None], *, of_group: bool = False) -> ScheduledTimer:
        number = self._timers_made
        self._timers_made = number + 1
        if of_group:
            number += AFTER_OUTPUT
        return ScheduledTimer(self.core.schedule, (self.statement.number, self.partition, number), self.name, callback)

    def last_timer(self, callback: Callable[[], None]) -> ScheduledTimer:
        """Return a timer for output: of those due at once, it runs after the timers of windows, those of sub-queries among them."""
        timer = self.timer(callback)
        statement, partition, number = timer.order
        return ScheduledTimer(self.core.schedule, (statement, partition, number + AFTER_WINDOWS), self.name, callback)

    def orders_of_pattern(self) -> tuple[Order, Order]:
        """Return the orders of the timers of a pattern: of ``timer:schedule``, which run before those of windows, and of all others, which
        run after the output."""
        statement, partition, number = self.timer(lambda: None).order
        return (statement, partition, number - AFTER_OUTPUT), (statement, partition, number + AFTER_OUTPUT)

    def evaluator(self, expression: TypedExpression) -> Evaluate:
        return compile_expression(expression, self.environment, 1)

    def constant(self, expression: TypedExpression) -> Any:
        if isinstance(expression, Constant):
            return expression.value
        return compile_expression(expression, self.environment, 0)()

    def add_time(self, start: int, period: TypedExpression, times: int = 1) -> int:
        if start == 0 and times == 1:
            length = self.environment.restrict(period).shared("length", (period,), lambda: self._constant_length(period))
            if length is not None:
                return length
        return add_period(start, period, self.constant, self.core.settings, times)

    def _constant_length(self, period: TypedExpression) -> int | None:
        """Return the time that a period ends if it begins at 0; None where variables give it."""
        if any(isinstance(node, VariableValue) for node in period.walk()):
            return None
        return add_period(0, period, self.constant, self.core.settings)

    def accumulators(self, expression: TypedExpression, names: Sequence[str] = ()) -> tuple[Sequence[Accumulator], Evaluate]:
        return expression_accumulators(expression, self.environment, names)

    def on_variable_change(self, expression: TypedExpression, callback: Callable[[], None]) -> None:
        def on_change() -> None:
            self.note_changed()
            callback()

        if self._watched is None:
            self._watched = []
        for name in {n.name for n in expression.walk() if isinstance(n, VariableValue)}:
            cell = self.environment.variables[name]
            cell.watchers.append(on_change)  # type: ignore[attr-defined]
            self._watched.append((cell, on_change))

    def withhold(self, sink: RowReceiver, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.withheld(lambda: sink.update(new, old))

    def withheld(self, action: Callable[[], None]) -> None:
        """Do it with all that comes of it taken in and not emitted."""
        outer, self.withholding = self.withholding, True
        try:
            action()
        finally:
            self.withholding = outer

    def publish_random_access(self, access: RandomAccess) -> None:
        if self.environment is not self.statement.environment:  # else no expression asks
            self.environment.random_access[self.stream] = access

    @property
    def match_states(self) -> MatchStates:
        return self.core.match_states

    def note_changed(self) -> None:
        """Note that the instance's state changes, though another statement has got the event."""
        self.core.note_changed(self.statement.number, self.partition)

    # ------------------------------------------------------------------ partitions of a context

    def on_end(self, action: Callable[[], None]) -> None:
        """Call it when the partition ends, as long as the operators still run."""
        self.at_end = (*self.at_end, action)

    def prepare(
        self, specification: FilterSpecification, stream: int, *, last: bool = False, unless: Unless | None = None
    ) -> PreparedFilter:
        """Return the filter of a stream of which each partition has an entry. ``last``: its entries get an event after all others.
        ``unless``: of a filter that is not shared, as long as it looks nothing up.

        An event that ends a partition is seen by its statements only where their entries come before that of the end, as in Esper.
        """
        statement = self.statement
        assert statement.filters is not None
        order = self._order_of_entries(specification, stream, last=last)
        if filter_place(specification) != NOTHING_LOOKED_UP:
            unless = None
        if unless is None and not statement.has_own_test(specification):
            return statement.filters.prepared(specification, order)
        own = self.core.filters.prepare(specification, self.environment, self.name, order, drop=self.drops, unless=unless)
        self._own = (*self._own, own)
        return own

    def _order_of_entries(self, specification: FilterSpecification, stream: int, *, last: bool) -> Places | Placed:
        """Order entries by the filter's path, as plain statements that share rows; what comes after those by what is looked up."""
        filters = self.statement.filters
        assert filters is not None
        rank, _, number, stream = self.order(stream)
        comes_after = rank % 2
        categories = filters.categories(specification, self.properties)
        paths = filters.paths(specification, categories)
        if (self.late or not comes_after) and len(paths) == 1:
            place = NOTHING_LOOKED_UP if self.late and not paths[0] else 0
            return filters.place_filters(specification, categories, (rank, place, number, stream), self.turn, is_late=self.late)
        looked_up = LAST if last else 0 if self.late or stream < 0 else filter_place(specification)
        return rank + 1 - comes_after, looked_up, number, stream

    def place_of_pattern(self, specification: FilterSpecification, stream: int) -> Places | Placed:
        """Return the order of the filters of a pattern: of one that begins or ends partitions by the path."""
        return self.order(stream) if self.statement.filters is None or self.statement.follows else self._order_of_entries(
            specification, stream, last=False)

    def values(self, prepared: PreparedFilter) -> tuple[Any, ...]:
        """Return the values that this partition's entry of a filter brings."""
        statement = self.statement
        assert statement.filters is not None
        return prepared.values_of() if prepared in self._own else statement.filters.values(prepared, self.properties)

    # ------------------------------------------------------------------ for the builders

    def order(self, stream: int) -> Places:
        """Return the order of this statement's stream among the receivers of one event: by priority; then those statements last, as in
        Esper, of which several streams may receive it."""
        priority = self.plan.priority if self.core.settings.prioritized else 0
        return (2 * -priority + (self.statement.follows or self.late), 0, self.statement.number, stream)

    @property
    def drops(self) -> bool:
        """Whether an event that this statement gets goes no further (``@drop``, where execution is prioritized)."""
        return self.plan.drop and self.core.settings.prioritized

    def conjunction(self, conditions: Sequence[TypedExpression]) -> Callable[[Event], bool]:
        """Return one predicate for conditions that must all hold."""
        condition = conditions[0]
        if len(conditions) > 1:
            condition = self.environment.printed(
                "conjunction", tuple(conditions), lambda: Logic(operator="and", operands=tuple(conditions), type=BOXED_BOOLEAN)
            )
        return compile_predicate(condition, self.environment, 1)

    def divide_output(self, plan: DeliveryPlan | None) -> None:
        """Divide the output for grouped_delivery and discrete_delivery: the statement's listeners are called once a part of what it
        emits."""
        if plan is not None:
            self.output.divide = divider(plan, self.environment)  # type: ignore[attr-defined]

    def close(self) -> None:
        """Watch no variables and have no filters any more. Timers are cancelled by the operators that have them."""
        for cell, callback in self._watched or ():
            cell.watchers.remove(callback)
        self._watched = None
        for prepared in self._own:
            prepared.close()
        self._own = ()

    def abandon(self) -> None:
        """Close, operators having been built in part: their timers are looked for."""
        self.core.schedule.discard_instance(self.statement.number, self.partition)
        self.close()
