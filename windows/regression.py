"""``linest(x, y)`` and ``correl(x, y)``: linear regression and correlation of two values."""
from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowRefused
from windows.derived import DOUBLE, LONG, DerivedValues, DerivedView, extra_values, row_event_type
from windows.event import Event
from windows.protocol import BuildContext
from windows.shape import COUNT, FLOAT, compile_check
from windows.uni import is_number

__all__ = ["Correl", "CorrelView", "Linest", "LinestView"]

NUMBERS = (
    ("slope", DOUBLE), ("YIntercept", DOUBLE), ("XAverage", DOUBLE), ("XStandardDeviationPop", DOUBLE), ("XStandardDeviationSample",
    DOUBLE),
    ("XSum", DOUBLE), ("XVariance", DOUBLE), ("YAverage", DOUBLE), ("YStandardDeviationPop", DOUBLE), ("YStandardDeviationSample", DOUBLE),
    ("YSum", DOUBLE), ("YVariance", DOUBLE), ("dataPoints", LONG), ("n", LONG), ("sumX", DOUBLE), ("sumXSq", DOUBLE), ("sumXY", DOUBLE),
    ("sumY", DOUBLE), ("sumYSq", DOUBLE),
)


def _pair(arguments: Sequence[WindowArgument], title: str) -> tuple[TypedExpression, TypedExpression]:
    if len(arguments) < 2 or not is_number(arguments[0]) or not is_number(arguments[1]):
        raise WindowRefused(f"{title} view requires two expressions providing x and y values as properties", whole=True)
    assert arguments[0].typed is not None and arguments[1].typed is not None
    return arguments[0].typed, arguments[1].typed


@attrs.frozen
class Linest(DerivedValues):
    """One row of regression statistics; events with a null value are ignored.

    ::

        keepall#linest(x, y)   E1(1, 10)        E2(2, 20)
        new                    {slope: NaN …}   {slope: 10, YIntercept: 0 …}
        old                    {n: 0 …}         {slope: NaN …}
    """

    names = ("linest",)
    reads_whole_events = False
    namespace = "stat"
    title = "Regression"

    x: TypedExpression
    y: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Linest:
        pair = _pair(arguments, cls.title)
        extras = extra_values(arguments[2:], event_type, [n for n, _ in NUMBERS])
        return cls(extras, row_event_type("linest_view", NUMBERS, extras), *pair)

    def build(self, context: BuildContext) -> LinestView:
        return LinestView(self, context)


@attrs.frozen
class Correl(DerivedValues):
    """One row with the correlation of two values; events with a null value are ignored.

    ::

        keepall#correl(x, y)   E1(1, 10)            E2(2, 20)
        new                    {correlation: NaN}   {correlation: 1}
        old                    {correlation: NaN}   {correlation: NaN}
    """

    names = ("correl",)
    reads_whole_events = False
    namespace = "stat"
    title = "Correlation"

    x: TypedExpression
    y: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Correl:
        pair = _pair(arguments, cls.title)
        extras = extra_values(arguments[2:], event_type, ("correlation",))
        return cls(extras, row_event_type("correl_view", [("correlation", DOUBLE)], extras), *pair)

    def build(self, context: BuildContext) -> CorrelView:
        return CorrelView(self, context)


class PairView(DerivedView):
    """Base of the two: the sums of x, y, their squares and their product."""

    sums_shape = staticmethod(compile_check((COUNT, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT)))

    def __init__(self, config: Linest | Correl, context: BuildContext) -> None:
        super().__init__(config, context)
        self.x = context.evaluator(config.x)
        self.y = context.evaluator(config.y)
        self.clear()

    def clear(self) -> None:
        self.restore_sums((0, 0.0, 0.0, 0.0, 0.0, 0.0))

    def enter(self, event: Event) -> None:
        x, y = self.x(event), self.y(event)
        if x is None or y is None:
            return
        x, y = float(x), float(y)
        self.n += 1
        self.sum_x += x
        self.sum_xx += x * x
        self.sum_xy += x * y
        self.sum_y += y
        self.sum_yy += y * y

    def leave(self, event: Event) -> None:
        x, y = self.x(event), self.y(event)
        if x is None or y is None:
            return
        if self.n <= 1:
            self.clear()
            return
        x, y = float(x), float(y)
        self.n -= 1
        self.sum_x -= x
        self.sum_xx -= x * x
        self.sum_xy -= x * y
        self.sum_y -= y
        self.sum_yy -= y * y

    def spreads(self) -> tuple[float, float, float]:
        """Return Σ(x-x̄)², Σ(y-ȳ)², Σ(x-x̄)(y-ȳ)."""
        n = self.n
        return (
            self.sum_xx - self.sum_x * self.sum_x / n, self.sum_yy - self.sum_y * self.sum_y / n, self.sum_xy - self.sum_x * self.sum_y / n,
        )

    def sums(self) -> Any:
        return [self.n, self.sum_x, self.sum_xx, self.sum_xy, self.sum_y, self.sum_yy]

    def restore_sums(self, state: Any) -> None:
        self.n, self.sum_x, self.sum_xx, self.sum_xy, self.sum_y, self.sum_yy = state


class LinestView(PairView):
    """See Linest."""

    def numbers(self) -> tuple[Any, ...]:
        n = self.n
        sums = (self.sum_x, self.sum_xx, self.sum_xy, self.sum_y, self.sum_yy)
        if n == 0:
            return (nan, nan, nan, nan, nan, self.sum_x, nan, nan, nan, nan, self.sum_y, nan, 0, 0, *sums)
        spread_x, spread_y, spread_xy = self.spreads()
        slope = spread_xy / spread_x if n > 1 and spread_x != 0 else nan
        average_x, average_y = self.sum_x / n, self.sum_y / n
        return (
            slope, average_y - slope * self.sum_x / n, *_spread(average_x, spread_x, self.sum_x, n), *_spread(average_y, spread_y,
            self.sum_y, n), n, n, *sums,
        )


def _spread(average: float, spread: float, total: float, n: int) -> tuple[float, ...]:
    variance = spread / (n - 1) if n > 1 else nan
    return average, _root(spread / n), _root(variance), total, variance


class CorrelView(PairView):
    """See Correl."""

    def numbers(self) -> tuple[Any, ...]:
        if self.n < 2:
            return (nan,)
        spread_x, spread_y, spread_xy = self.spreads()
        square = spread_x * spread_y
        if square <= 0:
            return (nan,)
        return (spread_xy / sqrt(square),)


def _root(value: float) -> float:
    return sqrt(value) if value >= 0 else nan
