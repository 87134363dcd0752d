"""When limited output is emitted: the protocol of conditions, and ``output when``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from epl.attribute_text import name_attributes
from epl.plan.expressions import TypedExpression
from epl.plan.result_set import OUTPUT_NAMES, OutputPlan
from epl.plan.statements import StatementPlan
from runtime.expressions import Environment, compile_scalar
from runtime.expressions.generated_steps import GeneratedSteps
from runtime.stores.assignments import Assignments
from windows.protocol import State, Timer
from windows.shape import ANYTHING, COUNT, DUE, TIME, takes


class TimeContext(Protocol):
    """What the stage asks of its statement; windows.protocol.BuildContext has it."""

    environment: Environment

    @property
    def plan(self) -> StatementPlan: ...

    def now(self) -> int: ...

    def timer(self, callback: Callable[[], None]) -> Timer: ...

    def last_timer(self, callback: Callable[[], None]) -> Timer: ...

    def add_time(self, start: int, period: TypedExpression, times: int = 1) -> int: ...

    def constant(self, expression: TypedExpression) -> Any: ...

    def on_variable_change(self, expression: TypedExpression, callback: Callable[[], None]) -> None: ...

    def on_end(self, action: Callable[[], None]) -> None: ...


class OutputCondition:
    """When to emit. ``fire`` is called then; ``add`` reports the rows that came in."""

    def add(self, new: int, old: int) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Cancel timers."""

    def steps(self) -> GeneratedSteps:
        """Return the steps of ``add`` of one event that comes in."""
        return GeneratedSteps([], [f"{name_attributes('condition', self).add}(1, 0)"], self.objects())

    def objects(self) -> dict[str, Any]:
        """Return its own objects that its steps name."""
        return {"condition": self}

    def state(self) -> State:
        raise NotImplementedError

    def restore(self, state: State) -> None:
        raise NotImplementedError


class LastRate:
    """A rate that may be null: then the last one that was not holds, and 0 where there was none."""

    __slots__ = ("read", "last")

    def __init__(self, read: Callable[[], int | None]) -> None:
        self.read = read
        self.last = 0

    def __call__(self) -> int:
        rate = self.read()
        if rate is not None:
            self.last = rate
        return self.last


class Trigger:
    """The condition of ``output when`` with what it counts; ``then`` makes its assignments."""

    def __init__(self, plan: OutputPlan, context: TimeContext) -> None:
        assert plan.condition is not None
        environment = context.environment
        self._condition = over_counts(plan.condition, environment)
        self._assign: Assignments | None = None
        if plan.assignments:
            self._assign = Assignments(plan.assignments, environment, lambda e: over_counts(e, environment))

    def is_met(self, counts: OutputCounts) -> bool:
        return self._condition(*counts.values()) is True

    def then(self, counts: OutputCounts) -> None:
        if self._assign is not None:
            self._assign(*counts.values())


def over_counts(expression: TypedExpression, environment: Environment) -> Callable[..., Any]:
    """f(*values of OUTPUT_NAMES) → the expression's value."""
    function = compile_scalar(expression, environment, 0, len(OUTPUT_NAMES))
    return lambda *values: function(True, (), *values)


class OutputCounts:
    """Rows in and out since the last output and in all, and when that was (at first: ``now``): the values of OUTPUT_NAMES."""

    __slots__ = ("new", "new_total", "old", "old_total", "last")

    def __init__(self, now: int) -> None:
        self.new = self.new_total = self.old = self.old_total = 0
        self.last = now

    def add(self, new: int, old: int) -> None:
        self.new += new
        self.new_total += new
        self.old += old
        self.old_total += old

    def flush(self, now: int) -> None:
        self.new = self.old = 0
        self.last = now

    def values(self) -> tuple[int, ...]:
        return self.new, self.new_total, self.old, self.old_total, self.last

    @takes((COUNT, COUNT, COUNT, COUNT, TIME))
    def restore(self, values: Any) -> None:
        self.new, self.new_total, self.old, self.old_total, self.last = values


class When(OutputCondition):
    """Whenever rows have come and the condition is true: rows are emitted (listeners are called without any where there are none, as in
    Esper), then the variables are set.

    A variable that it reads is set elsewhere: with the condition true its own assignments are made at once, and what is there is emitted
    when the clock next moves.
    """

    def __init__(self, plan: OutputPlan, context: TimeContext, fire: Callable[[bool], None]) -> None:
        assert plan.condition is not None
        self._trigger = Trigger(plan, context)
        self._context = context
        self._fire = fire
        self._counts = OutputCounts(context.now())
        self._timer = context.timer(self._due)
        self._scheduled: int | None = None
        self._assigning = False
        context.on_variable_change(plan.condition, self._variable_set)

    def add(self, new: int, old: int) -> None:
        self._counts.add(new, old)
        if self._trigger.is_met(self._counts):
            self._fire(True)
            self._then()
            self._counts.flush(self._context.now())

    def _then(self) -> None:
        self._assigning = True
        try:
            self._trigger.then(self._counts)
        finally:
            self._assigning = False

    def _variable_set(self) -> None:
        if self._assigning or self._scheduled is not None or not self._trigger.is_met(self._counts):
            return
        self._scheduled = self._context.now()
        self._then()
        self._timer.set(self._scheduled)

    def _due(self) -> None:
        self._scheduled = None
        self._fire(True)
        self._counts.flush(self._context.now())

    def close(self) -> None:
        self._timer.cancel()

    def state(self) -> State:
        return [list(self._counts.values()), self._scheduled]

    @takes((ANYTHING, DUE))
    def restore(self, state: State) -> None:
        counts, self._scheduled = state
        self._counts.restore(counts)
        if self._scheduled is not None:
            self._timer.set(self._scheduled)


__all__ = ["LastRate", "OutputCondition", "OutputCounts", "TimeContext", "Trigger", "When", "over_counts"]
