"""AggregationPlan → accumulators. FACTORIES is explicit: function name → maker; a user's own aggregations are made by _user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import attrs

from epl import java
from epl.aggregations.user import PREFIX
from epl.attribute_text import name_attributes, once_a_class
from epl.generated_code import field_name
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Aggregated, StreamEvent, StreamProperty, TypedExpression
from epl.value_types import Scalar
from runtime.aggregation.criteria import BestEver, Ranked, SmallestOrLargest, key_maker
from runtime.aggregation.extremes import ExtremeEver, SlidingExtreme
from runtime.aggregation.generated_steps import AccumulatorSteps, HasSteps
from runtime.aggregation.linear import Ever, FirstOrLast, KeptEvents, Leaving, Nth, WindowOf
from runtime.aggregation.navigation import SortedList
from runtime.aggregation.numeric import (
    SUMS,
    Average,
    AverageBig,
    CountRows,
    CountValues,
    MeanDeviation,
    Median,
    StandardDeviation,
    SumBigDecimal,
)
from runtime.aggregation.rates import RateByClock, RateByTimestamp
from runtime.aggregation.sketch import CountMinSketch
from runtime.aggregation.user import UserAccumulator
from runtime.aggregation.wrappers import Distinct, EntryMoment, Filtered, OfMoment
from runtime.clock.periods import add_period
from runtime.expressions import Environment, compile_expression, compile_row, compile_scalar

Row = Any
"""An event; a tuple of events (None where there is none) for a join."""

Readers = Sequence[Any]
"""Objects with ``value()``, by slot: the values of one group's aggregations."""


@attrs.frozen
class Arguments:
    """A plan's expressions as functions of a row: ``value`` the first argument, ``values`` all, ``condition`` the filter (None without).
    ``moment``: which they are of, None where that makes no difference."""

    plan: AggregationPlan
    value: Callable[[Row], Any]
    values: Callable[[Row], Sequence[Any]]
    condition: Callable[[Row], Any] | None
    environment: Environment
    arity: int
    moment: EntryMoment | None = None

    def around(self, accumulator: Any) -> Any:
        """Return what the rows enter and leave: the accumulator with the plan's filter in front."""
        if self.condition is not None:
            accumulator = Filtered(accumulator, self.condition)
        return accumulator if self.moment is None else OfMoment(accumulator, self.moment)


@attrs.frozen
class Parts:
    """One aggregation of one group: ``reader`` has value(); ``kept`` (None: the reader itself) gets what enters and leaves."""

    reader: Any
    kept: Any


Shared = dict[Any, Any]
"""What aggregations of one group have in common, by what it depends on."""

Factory = Callable[[Arguments, Shared], Parts]


def _plain(make: Callable[[Arguments], Any]) -> Factory:
    """Return the factory of accumulators that are their own reader."""

    def build(arguments: Arguments, shared: Shared) -> Parts:
        accumulator = make(arguments)
        if arguments.plan.distinct:
            accumulator = Distinct(accumulator, arguments.value)
        accumulator = arguments.around(accumulator)
        return Parts(accumulator, accumulator)

    return build


def _count(a: Arguments) -> Callable[[], Any]:
    make = partial(CountValues, a.value) if a.plan.arguments else CountRows
    return (lambda: Growing(make())) if a.plan.ever else make


def _extreme(largest: bool) -> Callable[[Arguments], Callable[[], Any]]:
    return lambda a: partial(ExtremeEver if a.plan.ever else SlidingExtreme, a.value, largest)


PLAIN_MAKERS: Mapping[str, Callable[[Arguments], Callable[[], Any]]] = {
    "count": _count,
    "sum": lambda a: partial(SUMS[_kind(a)], a.value),
    "min": _extreme(largest=False),
    "max": _extreme(largest=True),
}
"""Of functions whose accumulators stand alone, what makes them, decided as far as the plan goes."""


def accumulator_maker(arguments: Arguments) -> Callable[[], Any] | None:
    """Return what makes the accumulator of a plan, being both what is read and what takes the rows; None where that is not all
    (``Factory``)."""
    plan = arguments.plan
    if plan.distinct or arguments.condition is not None or arguments.moment is not None:
        return None
    if plan.function == "avg" and _kind(arguments) not in ("BigDecimal", "BigInteger"):
        make_sum = partial(SUMS[_kind(arguments)], arguments.value)
        return lambda: Average(make_sum())
    make = PLAIN_MAKERS.get(plan.function)
    return None if make is None else make(arguments)


class Growing(HasSteps):
    """Anything whose rows never leave."""

    __slots__ = ("inner", "enter", "value", "clear", "state", "restore")

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.enter, self.value, self.clear, self.state, self.restore = inner.enter, inner.value, inner.clear, inner.state, inner.restore

    def leave(self, row: Row) -> None:
        pass

    def steps(self, plan: AggregationPlan) -> AccumulatorSteps | None:
        if not isinstance(self.inner, CountRows):
            return None
        return attrs.evolve(self.inner.steps(plan), leave=lambda a, v: (), reach=self._inner_text)

    @once_a_class
    def _inner_text(self, a: str) -> str:
        return f"{name_attributes(a, self).inner}"


def _kind(a: Arguments) -> str:
    argument = a.plan.arguments[0].type
    return argument.kind if isinstance(argument, Scalar) else "double"


def _average(a: Arguments) -> Any:
    if _kind(a) not in ("BigDecimal", "BigInteger"):
        return Average(SUMS[_kind(a)](a.value))
    configured = a.environment.settings.math_context
    return AverageBig(SumBigDecimal(a.value), None if configured is None else java.math_context(*configured))


def _event_reader(a: Arguments) -> Callable[[Row], Any]:
    """Return the event of the plan's stream in a row."""
    if a.arity == 1:
        return lambda row: row
    stream = a.plan.stream
    return lambda row: row[stream]


def _share(arguments: Arguments, shared: Shared, key: Any, make: Callable[[], Any]) -> Any:
    """Return the object under ``key``, made once a group, with the plan's filter in front."""
    plan = arguments.plan
    key = (key, plan.stream, plan.filter, plan.group_by)
    if key not in shared:
        accumulator = make()
        shared[key] = accumulator, arguments.around(accumulator)
    return shared[key]


def _of_event(a: Arguments) -> Callable[[Any], Any] | None:
    """Return the value of the first argument for one kept event; None for the event itself."""
    if isinstance(a.plan.arguments[0], StreamEvent):
        return None
    if a.arity == 1:
        return a.value
    stream, arity = a.plan.stream, a.arity

    def evaluate(event: Any) -> Any:
        row: list[Any] = [None] * arity
        row[stream] = event  # type: ignore[index]
        return a.value(tuple(row))

    return evaluate


def _linear(newest: bool | None) -> Factory:
    """first (newest False), last (True), window (None)."""

    def build(a: Arguments, shared: Shared) -> Parts:
        kept, entered = _share(a, shared, "linear", lambda: KeptEvents(_event_reader(a)))
        if newest is None:
            return Parts(WindowOf(kept, _of_event(a)), entered)
        index = compile_expression(a.plan.arguments[1], a.environment, 0) if len(a.plan.arguments) > 1 else None
        return Parts(FirstOrLast(kept, _of_event(a), index, newest), entered)

    return build


def _key_maker(a: Arguments) -> Callable[[Sequence[Any]], Any]:
    return key_maker([e.type for e in a.plan.arguments], a.plan.descending, a.environment.settings.sort_using_collator)


def _criteria(last: bool | None) -> Factory:
    """minby (last False), maxby (True), sorted (None)."""

    def build(a: Arguments, shared: Shared) -> Parts:
        if a.plan.ever and last is not None:
            return _best_ever(last, forget_null=False)(a, shared)
        key = "ranked", a.plan.arguments, a.plan.descending
        ranked, entered = _share(a, shared, key, lambda: Ranked(_event_reader(a), a.values, _key_maker(a)))
        return Parts(SortedList(ranked) if last is None else SmallestOrLargest(ranked, last), entered)

    return build


def _best_ever(last: bool, forget_null: bool = True) -> Factory:
    return _plain(lambda a: BestEver(_event_reader(a), a.values, _key_maker(a), last, forget_null))


def _rate(a: Arguments) -> Any:
    environment = a.environment
    interval = add_period(0, a.plan.constants[0], lambda e: compile_expression(e, environment, 0)(), environment.settings)
    clock = environment.clock
    assert clock is not None
    return RateByClock(lambda: clock.now, interval, environment.settings.units_per_second)


FACTORIES: Mapping[str, Factory] = {
    **{function: _plain(lambda a: PLAIN_MAKERS[a.plan.function](a)()) for function in PLAIN_MAKERS},
    "count in a table": _plain(lambda a: CountRows()),
    "avg": _plain(_average),
    "median": _plain(lambda a: Median(a.value)),
    "stddev": _plain(lambda a: StandardDeviation(a.value)),
    "avedev": _plain(lambda a: MeanDeviation(a.value)),
    "first": _linear(newest=False),
    "last": _linear(newest=True),
    "window": _linear(newest=None),
    "firstever": _plain(lambda a: Ever(a.value, newest=False)),
    "lastever": _plain(lambda a: Ever(a.value, newest=True)),
    "nth": _plain(lambda a: Nth(a.value, a.plan.constants[0])),
    "leaving": _plain(lambda a: Leaving()),
    "rate": _plain(_rate),
    "rate by timestamp": _plain(lambda a: RateByTimestamp(a.values, a.plan.constants[0] if a.plan.constants else 1000)),
    "minby": _criteria(last=False),
    "maxby": _criteria(last=True),
    "sorted": _criteria(last=None),
    "minbyever": _best_ever(last=False),
    "maxbyever": _best_ever(last=True),
    "countminsketch": _plain(lambda a: CountMinSketch(a.value, a.plan.constants[0])),
}


def _user(a: Arguments) -> Any:
    aggregation = a.environment.functions.aggregations[a.plan.function.removeprefix(PREFIX)]()
    steps, result = a.plan.constants
    accumulator = UserAccumulator(aggregation, a.values, steps, result)
    return Growing(accumulator) if a.plan.ever else accumulator


_build_user = _plain(_user)


def build_factory(plan: AggregationPlan) -> Factory:
    """Return what makes the plan's accumulators: a built-in one, or a user's."""
    return _build_user if plan.function.startswith(PREFIX) else FACTORIES[plan.function]


# ------------------------------------------------------------------ rows → arguments


def row_function(
    expressions: Sequence[TypedExpression], environment: Environment, arity: int
) -> Callable[[Row, bool, Readers], tuple[Any, ...]]:
    """Return f(row, insert stream?, readers) → the expressions' values."""
    compiled = compile_row(expressions, environment, arity)
    if arity == 1:
        return compiled
    return lambda row, insert_stream, readers: compiled(*row, insert_stream, readers)


def scalar_function(expression: TypedExpression, environment: Environment, arity: int) -> Callable[[Row, bool, Readers], Any]:
    """Return f(row, insert stream?, readers) → one expression's value."""
    compiled = compile_scalar(expression, environment, arity)
    if arity == 1:
        return compiled
    return lambda row, insert_stream, readers: compiled(*row, insert_stream, readers)


def value_function(
    expression: TypedExpression, environment: Environment, arity: int, readers: Readers, moment: EntryMoment | None = None
) -> Callable[[Row], Any]:
    """Return f(row) → the expression's value; aggregations inside it are read from ``readers`` at that moment. ``moment``: it is of it."""
    if arity == 1 and isinstance(expression, StreamProperty):
        return attrgetter(field_name(expression.name))
    if arity == 1 and isinstance(expression, StreamEvent):
        return lambda row: row
    nested = any(isinstance(n, Aggregated) for n in expression.walk())
    if arity == 1 and not nested and moment is None:
        return compile_expression(expression, environment, 1)
    function = scalar_function(expression, environment, arity)
    if moment is not None:
        return lambda row: function(row, moment.entering, readers)
    return lambda row: function(row, True, readers)


def compile_arguments(plan: AggregationPlan, environment: Environment, arity: int, readers: Readers = ()) -> Arguments:
    """Return the plan's expressions, compiled. ``readers``: the group's, for an aggregation inside an aggregation."""
    moment = EntryMoment() if plan.of_moment else None
    values = row_function(plan.arguments, environment, arity) if plan.arguments else None
    return Arguments(
        plan,
        value_function(plan.arguments[0], environment, arity, readers, moment) if plan.arguments else _nothing,
        _nothing if values is None else (lambda row: values(row, moment is None or moment.entering, readers)),
        None if plan.filter is None else value_function(plan.filter, environment, arity, readers, moment),
        environment,
        arity,
        moment,
    )


def _nothing(row: Row) -> Any:
    return ()


def is_nested(plan: AggregationPlan) -> bool:
    """Return whether the plan's arguments hold aggregations themselves: ``max(sum(x))``."""
    return any(isinstance(n, Aggregated) for e in plan.expressions for n in e.walk())
