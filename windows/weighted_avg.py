"""``weighted_avg(x, weight)``: the weighted average of a value."""
from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowRefused
from windows.derived import DOUBLE, DerivedValues, DerivedView, extra_values, row_event_type
from windows.event import Event
from windows.protocol import BuildContext
from windows.shape import FLOAT, compile_check
from windows.uni import is_number

__all__ = ["WeightedAvg", "WeightedAvgView"]


@attrs.frozen
class WeightedAvg(DerivedValues):
    """One row with Σ x·weight / Σ weight, NaN if the sum of the weights is zero; events with a null value are ignored.

    ::

        keepall#weighted_avg(x, w)   E1(10, 1)        E2(20, 3)
        new                          {average: 10}    {average: 17.5}
        old                          {average: NaN}   {average: 10}
    """

    names = ("weighted_avg",)
    reads_whole_events = False
    namespace = "stat"
    title = "weighted_avg"

    value: TypedExpression
    weight: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> WeightedAvg:
        if len(arguments) < 2 or not is_number(arguments[0]) or not is_number(arguments[1]):
            raise WindowRefused("weighted_avg view requires two expressions returning numeric values as parameters", whole=True)
        extras = extra_values(arguments[2:], event_type, ("average",))
        assert arguments[0].typed is not None and arguments[1].typed is not None
        return cls(extras, row_event_type("weighted_avg_view", [("average", DOUBLE)], extras), arguments[0].typed, arguments[1].typed)

    def build(self, context: BuildContext) -> WeightedAvgView:
        return WeightedAvgView(self, context)


class WeightedAvgView(DerivedView):
    """See WeightedAvg."""

    sums_shape = staticmethod(compile_check((FLOAT, FLOAT)))

    def __init__(self, config: WeightedAvg, context: BuildContext) -> None:
        super().__init__(config, context)
        self.value = context.evaluator(config.value)
        self.weight = context.evaluator(config.weight)
        self.products = self.weights = nan

    def enter(self, event: Event) -> None:
        value, weight = self.value(event), self.weight(event)
        if value is None or weight is None:
            return
        product, weight = float(value) * float(weight), float(weight)
        if self.products != self.products:
            self.products, self.weights = product, weight
        else:
            self.products += product
            self.weights += weight

    def leave(self, event: Event) -> None:
        value, weight = self.value(event), self.weight(event)
        if value is None or weight is None:
            return
        self.products -= float(value) * float(weight)
        self.weights -= float(weight)

    def numbers(self) -> tuple[Any, ...]:
        return (self.products / self.weights if self.weights else nan,)

    def sums(self) -> Any:
        return [self.products, self.weights]

    def restore_sums(self, state: Any) -> None:
        self.products, self.weights = state
