"""``uni(x[, extra properties])``: count, sum, average and spread of one value."""
from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowRefused
from epl.value_types import is_numeric
from windows.derived import DOUBLE, LONG, DerivedValues, DerivedView, extra_values, row_event_type
from windows.event import Event
from windows.protocol import BuildContext
from windows.shape import COUNT, FLOAT, compile_check

__all__ = ["Uni", "UniView", "is_number"]

NUMBERS = (("datapoints", LONG), ("total", DOUBLE), ("stddev", DOUBLE), ("stddevpa", DOUBLE), ("variance", DOUBLE), ("average", DOUBLE))


def is_number(argument: WindowArgument) -> bool:
    return argument.typed is not None and is_numeric(argument.typed.type)


@attrs.frozen
class Uni(DerivedValues):
    """One row of univariate statistics; nulls are ignored. The sample standard deviation and variance are NaN for fewer than two events.

    ::

        length(2)#uni(x)   E1(x=1)                      E2(x=2)
        new                {datapoints: 1, total: 1}    {datapoints: 2, total: 3, average: 1.5}
        old                {datapoints: 0, total: 0}    {datapoints: 1, total: 1}
    """

    names = ("uni",)
    reads_whole_events = False
    namespace = "stat"
    title = "uni"

    value: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Uni:
        if not arguments or not is_number(arguments[0]):
            raise WindowRefused("uni view require a single expression returning a numeric value as a parameter", whole=True)
        extras = extra_values(arguments[1:], event_type, [n for n, _ in NUMBERS])
        assert arguments[0].typed is not None
        return cls(extras, row_event_type("uni_view", NUMBERS, extras), arguments[0].typed)

    def build(self, context: BuildContext) -> UniView:
        return UniView(self, context)


class UniView(DerivedView):
    """See Uni."""

    sums_shape = staticmethod(compile_check((COUNT, FLOAT, FLOAT)))

    def __init__(self, config: Uni, context: BuildContext) -> None:
        super().__init__(config, context)
        self.value = context.evaluator(config.value)
        self.restore_sums((0, 0.0, 0.0))

    def enter(self, event: Event) -> None:
        value = self.value(event)
        if value is not None:
            value = float(value)
            self.count += 1
            self.total += value
            self.squares += value * value

    def leave(self, event: Event) -> None:
        value = self.value(event)
        if value is None:
            return
        if self.count <= 1:
            self.restore_sums((0, 0.0, 0.0))
            return
        value = float(value)
        self.count -= 1
        self.total -= value
        self.squares -= value * value

    def numbers(self) -> tuple[Any, ...]:
        count, total = self.count, self.total
        if count == 0:
            return 0, total, nan, nan, nan, nan
        spread = self.squares - total * total / count
        variance = spread / (count - 1) if count > 1 else nan
        return count, total, _root(variance), _root(spread / count), variance, total / count

    def sums(self) -> Any:
        return [self.count, self.total, self.squares]

    def restore_sums(self, state: Any) -> None:
        self.count, self.total, self.squares = state


def _root(value: float) -> float:
    return sqrt(value) if value >= 0 else nan
