"""A pattern that runs: its operators, the instance at the root, and what instances ask of the statement."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from epl.errors import EplDeploymentError, EplError, EplValidationError
from epl.plan.contained import ContainedPlan
from epl.plan.crontab import CrontabPlan
from epl.plan.expressions import Constant, TimeSpan, TypedExpression
from epl.plan.filter_specifications import FilterSpecification
from epl.plan.patterns import pattern as plan
from epl.plan.patterns.pattern import PatternNode, PatternPlan
from epl.plan.walk import plan_expressions
from epl.settings import Settings
from runtime.clock.crontab import Crontab
from runtime.clock.periods import add_months, period_span
from runtime.clock.schedule import ScheduledTimer
from runtime.event_loop.delivery import Delivery
from runtime.event_loop.prepared_filters import ActiveFilter, PreparedFilter, Target
from runtime.expressions import compile_expression
from runtime.operators.contained_events import Containment
from runtime.operators.ended_partitions import InTurn
from runtime.operators.operator_context import OperatorContext
from runtime.pattern.instances import Instance, Match, Parent, items, number, part
from windows.event import NO_EVENTS, Event, event_class
from windows.keys import key_of_values
from windows.protocol import Damaged, RowReceiver, State
from windows.shape import Check, of_event


class Operator:
    """A node of the pattern, compiled for one running statement. ``places``: what it and those below it fill of a match."""

    is_not = False

    def __init__(self, node: PatternNode, machine: PatternMachine) -> None:
        self.machine = machine
        self.places = node.places()

    def instance(self, parent: Parent, match: Match) -> Instance:
        """Return a new instance, which does nothing until it is started."""
        raise NotImplementedError

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> Instance:
        """Return an instance in a state that one had. Filters and timers take part when the machine starts."""
        raise NotImplementedError

    def open(self) -> None:
        """Take part: prepare what instances activate."""

    def close(self) -> None:
        """Undo ``open``; there are no instances any more."""


Build = Callable[["PatternMachine", PatternNode, "PatternNode | None"], Operator]
"""The operator of a node, from the node above it."""


class FilterThatWaits(Protocol):
    """An instance of a filter that matches an event and may have to leave it to others."""

    active: Any

    def take(self, event: Event) -> None: ...


class PatternMachine(Parent, Delivery):
    """Runs from ``start`` to ``close``; ``first`` receives the matches as rows. ``build``: makes the operators.

    ``sequence`` numbers filters and timers in the order in which they were started, so that they are started in that order again when a
    state is restored.
    """

    def __init__(self, source: PatternPlan, context: OperatorContext, first: RowReceiver, build: Build, *, stream: int = 0) -> None:
        self.plan = source
        self._build = build
        self.name = context.name
        self.settings: Settings = context.core.settings
        self.atoms: list[Operator] = []
        """Those that prepare filters."""
        self.collects = any(isinstance(node, plan.FilterNode) and node.consume for node in source.root.nodes())
        """Whether filters wait with events until all have had them: the events are consumed."""
        self._context = context
        self._core = context.core
        self.partition = context.partition
        self.turn = context.turn
        self._turn = context.turn_among_patterns()
        self._instead: Target | None = self._turn
        """What gets an event that a filter has matched which has stopped meanwhile."""
        self.subexpressions = context.core.subexpressions.of_statement(context.name)
        self._sink = first
        self._stream = stream
        self._offers: list[tuple[int, FilterThatWaits, Event]] = []
        self._first_order, self._order = context.orders_of_pattern()
        self._arity = len(source.tags) + 1
        self._no_match: Match = (None,) * len(source.tags)
        self._row = event_class(source.row_type)
        self._checks: tuple[Check, ...] = tuple(of_event(tag.event_type) for tag in source.tags)
        self._sequence = 0
        self._resuming: list[tuple[int, Callable[[], None]]] = []
        self._root: Instance | None = None
        self._starting = False
        self._is_restored = False
        self._operator = self.operator(source.root)

    # ------------------------------------------------------------------ what operators are built from

    def operator(self, node: PatternNode, above: PatternNode | None = None) -> Operator:
        """Return the operator of a node; some depend on what is ``above``, which is None at the root."""
        return self._build(self, node, above)

    def prepare(self, specification: FilterSpecification) -> PreparedFilter:
        context = self._context
        return self._core.filters.prepare(
            specification, context.environment, self.name, context.place_of_pattern(specification, self._stream), drop=context.drops)

    def containment(self, contained: ContainedPlan) -> Containment:
        return Containment(contained, self._context.environment)

    def of_match(self, expression: TypedExpression) -> Callable[[Match], Any]:
        """Return value(match) of an expression over tags."""
        compiled = compile_expression(expression, self._context.environment, self._arity)
        return lambda match: compiled(None, *match)

    def constant(self, expression: TypedExpression) -> Callable[[], Any]:
        """Return value() of an expression over variables."""
        return compile_expression(expression, self._context.environment, 0)

    def keys(self, expressions: Sequence[TypedExpression]) -> tuple[Callable[[Match], Any], Callable[[Sequence[Any]], Any]]:
        """Return key(match), and the key of its values as they were stored."""
        parts = [self.of_match(expression) for expression in expressions]
        types = [expression.type for expression in expressions]

        def stored(values: Sequence[Any]) -> Any:
            try:
                return key_of_values(part(values, len(types)), types)
            except TypeError as error:
                raise Damaged(str(error)) from error

        return lambda match: key_of_values([value(match) for value in parts], types), stored

    def span(self, period: TypedExpression) -> Callable[[Match], tuple[int, int]]:
        """Return span(match) → months and engine units of a period."""
        if all(isinstance(node, (Constant, TimeSpan)) for node in period.walk()):
            whole = period_span(period, self._context.constant, self.settings)
            return lambda match: whole
        written = [each for _, each in period.parts] if isinstance(period, TimeSpan) else [period]
        values = {id(each): self.of_match(each) for each in written}
        return lambda match: period_span(period, lambda each: values[id(each)](match), self.settings)

    def period(self, period: TypedExpression) -> Callable[[int, Match], int]:
        """Return due(start, match): the time that a period ends which begins at ``start``."""
        span = self.span(period)

        def due(start: int, match: Match) -> int:
            months, units = span(match)
            return (add_months(start, months, self.settings) if months else start) + units

        return due

    def crontab(self, node: plan.CrontabNode) -> Callable[[Match], Crontab]:
        crontab: CrontabPlan = node.crontab
        if all(isinstance(node, Constant) for each in plan_expressions(crontab) for node in each.walk()):
            try:
                whole = Crontab(crontab, self._context.constant, self.settings)
            except EplDeploymentError as refusal:
                raise EplValidationError(_refusal_text(refusal.message, node.text), span=refusal.span) from refusal
            return lambda match: whole
        values: dict[int, Callable[[Match], Any]] = {}

        def read_constant(match: Match) -> Callable[[TypedExpression], Any]:
            def constant(expression: TypedExpression) -> Any:
                known = values.get(id(expression))
                if known is None:
                    known = values[id(expression)] = self.of_match(expression)
                return known(match)

            return constant

        return lambda match: Crontab(crontab, read_constant(match), self.settings)

    # ------------------------------------------------------------------ what instances ask

    def now(self) -> int:
        return self._core.clock.now

    def next_sequence(self) -> int:
        self._sequence = number = self._sequence + 1
        return number

    def timer(self, callback: Callable[[], None], *, first: bool = False) -> ScheduledTimer:
        """Return a timer; of those due at one time the one that was set first runs first. ``first``: before the timers of windows."""
        return ScheduledTimer(self._core.schedule, self._first_order if first else self._order, self.name, callback)

    def start(self, child: Instance) -> None:
        """Start an instance; where an expression raises it fails, and the error is reported."""
        try:
            child.start()
        except Exception as error:
            if self._starting:  # as in Esper: what cannot begin is not deployed
                if isinstance(error, EplDeploymentError):
                    raise
                raise EplDeploymentError(f"Failed to deploy: {error.message if isinstance(error, EplError) else error}") from error
            self._core.on_error(error, self.name, None)
            child.quit()
            child.parent.take_failure(child)

    def attempt(self, test: Callable[[Match], Any], match: Match) -> bool | None:
        """Return whether a condition holds, None where it is null; where it raises it does not, and the error is reported."""
        try:
            value = test(match)
            return value if value is None else value is True
        except Exception as error:  # noqa: BLE001 - law 6
            self._core.on_error(error, self.name, None)
            return False

    def filter_target(self, instance: Target) -> Target:
        """Return what gets the events of a filter that starts."""
        if self._turn is None:
            return instance
        self._turn.note_change()
        return InTurn(self._turn, instance)

    def note_stop(self, entry: ActiveFilter) -> None:
        """Note that the entry of a filter has stopped."""
        if self._instead is not None:
            entry.target = self._instead
        if self._turn is not None:
            self._turn.note_change()

    def offer(self, level: int, instance: FilterThatWaits, event: Event) -> None:
        """Take note of an event that a filter of the level matches, until all filters have had it."""
        self._offers.append((level, instance, event))
        self._core.pending[self] = None

    def _consume(self) -> None:
        """Let those filters of the highest level have the events that they match."""
        offers, self._offers = self._offers, []
        highest = max((level for level, _, _ in offers), default=0)
        for level, instance, event in offers:
            if level == highest and instance.active is not None:
                try:
                    instance.take(event)
                except Exception as error:  # noqa: BLE001 - law 6: the others have it all the same
                    self._core.on_error(error, self.name, event)

    # ------------------------------------------------------------------ the root

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if ended:
            self._root = None
        if self._starting:  # as in Esper: what is true from the beginning is not a match
            return
        row = self._row(*[match[place] for place in self.plan.row])
        try:
            self._sink.update((row,), NO_EVENTS)
        except Exception as error:  # noqa: BLE001 - law 6: what follows the pattern does not interrupt it
            self._core.on_error(error, self.name, row)

    def take_failure(self, child: Instance) -> None:
        self._root = None

    def deliver(self) -> None:
        """Let the filters that wait with the event have it."""
        if self._offers:
            self._consume()

    @property
    def root(self) -> Instance | None:
        """What waits now; None where the pattern has ended."""
        return self._root

    # ------------------------------------------------------------------ life

    def open(self, *, at_once: bool = False) -> None:
        """Take part from now on. ``at_once``: what is true from the beginning is a match, as in partitions of contexts. Raise
        EplDeploymentError where an expression raises before anything waits."""
        for atom in self.atoms:
            atom.open()
        if self._is_restored:
            for _, resume in sorted(self._resuming, key=lambda each: each[0]):
                resume()
            self._resuming.clear()
            return
        self._root = root = self._operator.instance(self, self._no_match)
        self._starting = self._context.plan.context is None and not at_once
        try:
            self.start(root)
        finally:
            self._starting = False

    def close(self) -> None:
        self._instead = self._context.after_end()
        if self._root is not None:
            self._root.quit()
            self._root = None
        for atom in self.atoms:
            atom.close()
        self.subexpressions.close()

    # ------------------------------------------------------------------ state

    def instance_state(self, instance: Instance) -> State:
        return instance.state()

    def state(self) -> State:
        return [self._sequence, None if self._root is None else self._root.state()]

    def restore(self, state: State) -> None:
        sequence, root = part(state, 2)
        self._sequence = number(sequence)
        self._root = None if root is None else self.restore_instance(self._operator, self, self._no_match, root)
        self._is_restored = True

    def restore_instance(self, operator: Operator, parent: Parent, match: Match, state: State) -> Instance:
        """Return an instance with the state of another one."""
        return operator.restore_instance(parent, match, state)

    def restore_if_any(self, operator: Operator, parent: Parent, match: Match, state: State) -> Instance | None:
        return None if state is None else self.restore_instance(operator, parent, match, state)

    def resume(self, sequence: int, action: Callable[[], None]) -> None:
        """Do it when the machine starts, in the order of the sequence."""
        self._resuming.append((sequence, action))

    def check_match(self, events: Any) -> Match:
        """Return a match of a state; raise Damaged for what is none."""
        match = []
        for place, each in enumerate(part(events, len(self._no_match))):
            if isinstance(each, (list, tuple)) and self.plan.tags[place].repeated:
                each = self.check_array(each, place)
            elif each is not None:
                if not isinstance(each, Event):
                    raise Damaged(f"a value of type {type(each).__name__} where an event is expected")
                self._checks[place](each)
            match.append(each)
        return tuple(match)

    def check_array(self, events: Any, place: int) -> tuple[Event, ...]:
        """Return the events of a repeated tag; raise Damaged for what is none."""
        for event in items(events):
            self._checks[place](event)
        return tuple(events)


def _refusal_text(message: str, observer: str) -> str:
    """Return what Esper says of a crontab of constants in a pattern, which it looks at before it deploys: elsewhere it does when it
    deploys."""
    for deployed, compiled in (
        ("Failed to deploy: Invalid schedule specification: Invalid combination",
         f"Invalid parameter for pattern observer '{observer}': Error computing crontab schedule specification: Invalid combination"),
        ("Failed to deploy: Failed expression evaluation in crontab timer-at for parameter ",
         "Tmer-at observer invalid parameter in expression "),
        ("Failed to deploy: Invalid schedule specification: ", "Unexpected error compiling statement: "),
        ("Failed to deploy: Invalid value", "Unexpected error compiling statement: Invalid value"),
    ):
        if message.startswith(deployed):
            return compiled + message[len(deployed):]
    return message


__all__ = ["PatternMachine"]
