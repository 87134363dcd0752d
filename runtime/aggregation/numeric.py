"""count, sum, avg, median, stddev, avedev: running values of numbers.

Each keeps to windows.protocol.Accumulator over rows (an event, or a tuple of events for a join). ``evaluate(row)`` gives the argument;
nulls count for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from math import nan, sqrt
from typing import Any, ClassVar

import attrs

from epl import java
from epl.attribute_text import name_attributes, once_a_class
from epl.errors import EplRuntimeError
from epl.plan.aggregations import AggregationPlan
from runtime.aggregation.generated_steps import AccumulatorSteps, HasSteps, has_numbers
from runtime.aggregation.sorted_bag import SortedBag
from runtime.expressions.source_lines import indent_lines
from windows.shape import COUNT, NUMBER, takes

Row = Any
Evaluate = Callable[[Row], Any]


def only_numbers(*values: Any) -> None:
    """Raise TypeError where a restored state has another value in place of a number."""
    for value in values:
        if not isinstance(value, (int, float, Decimal)):
            raise TypeError(f"a value of type {type(value).__name__} where a number is expected")


class CountRows(HasSteps):
    """``count(*)``."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def enter(self, row: Row) -> None:
        self.count += 1

    def leave(self, row: Row) -> None:
        if self.count:
            self.count -= 1

    def value(self) -> int:
        return self.count

    def steps(self, plan: AggregationPlan) -> AccumulatorSteps:
        return AccumulatorSteps(
            accumulator=self, enter=self._enter_lines, leave=self._leave_lines, value=self._value_text, counts_rows=type(self) is CountRows
        )

    @once_a_class
    def _enter_lines(self, a: str, v: str) -> Sequence[str]:
        return (f"{name_attributes(a, self).count} += 1",)

    @once_a_class
    def _leave_lines(self, a: str, v: str) -> Sequence[str]:
        count = f"{name_attributes(a, self).count}"
        return (f"if {count}: {count} -= 1",)

    @once_a_class
    def _value_text(self, a: str) -> str:
        return f"{name_attributes(a, self).count}"

    def clear(self) -> None:
        self.count = 0

    def state(self) -> Any:
        return self.count

    @takes(COUNT)
    def restore(self, state: Any) -> None:
        only_numbers(state)
        self.count = state


class CountValues(CountRows):
    """``count(x)``: values that are not null."""

    __slots__ = ("evaluate",)

    def __init__(self, evaluate: Evaluate) -> None:
        super().__init__()
        self.evaluate = evaluate

    def enter(self, row: Row) -> None:
        if self.evaluate(row) is not None:
            self.count += 1

    def leave(self, row: Row) -> None:
        if self.count and self.evaluate(row) is not None:
            self.count -= 1


BOUNDS = {"wrap_int": (-(1 << 31), (1 << 31) - 1), "wrap_long": (-(1 << 63), (1 << 63) - 1)}
"""The totals that need no narrowing."""


class Sum(HasSteps):
    """``sum(x)`` of doubles, and base of the other sums. The last value that leaves takes all rounding errors with it."""

    __slots__ = ("evaluate", "total", "count")
    zero: Any = 0.0
    narrowing: ClassVar[str] = ""
    """What brings a total back into its type, as text that generated code knows."""

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate
        self.total = self.zero
        self.count = 0

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None:
            self.total += value
            self.count += 1

    def leave(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None:
            if self.count <= 1:
                self.clear()
            else:
                self.total -= value
                self.count -= 1

    def value(self) -> Any:
        return self.total if self.count else None

    def steps(self, plan: AggregationPlan) -> AccumulatorSteps | None:
        if not has_numbers(plan):
            return None
        return AccumulatorSteps(accumulator=self, enter=self._enter_lines, leave=self._leave_lines, value=self._value_text)

    @once_a_class
    def _enter_lines(self, a: str, v: str) -> Sequence[str]:
        return (*self._total_lines(a, "+", v), f"{name_attributes(a, self).count} += 1")

    @once_a_class
    def _leave_lines(self, a: str, v: str) -> Sequence[str]:
        own = name_attributes(a, self)
        subtracted = indent_lines([*self._total_lines(a, "-", v), f"{own.count} -= 1"])
        return (f"if {own.count} <= 1: {own.clear}()", "else:", *subtracted)

    @once_a_class
    def _value_text(self, a: str) -> str:
        own = name_attributes(a, self)
        return f"({own.total} if {own.count} else None)"

    def _total_lines(self, a: str, sign: str, v: str) -> list[str]:
        """Return the lines that bring a value into the total."""
        total, narrow = f"{name_attributes(a, self).total}", self.narrowing
        if narrow in BOUNDS:
            low, high = BOUNDS[narrow]
            fits = f"not t >> {high.bit_length()} or {low} <= t <= {high}"  # a shift is the fastest test of the range
            return [f"t = {total} {sign} {v}", f"{total} = t if {fits} else {narrow}(t)"]
        return [f"{total} = {narrow}({total} {sign} {v})" if narrow else f"{total} = {total} {sign} {v}"]

    def clear(self) -> None:
        self.total = self.zero
        self.count = 0

    def state(self) -> Any:
        return [self.total, self.count]

    @takes((NUMBER, COUNT))
    def restore(self, state: Any) -> None:
        self.total, self.count = state
        only_numbers(self.total, self.count)


class SumBigInteger(Sum):
    __slots__ = ()
    zero = 0


class _WrappedSum(Sum):
    """Sums in a Java type narrower than Python's: the total is brought back into it at every step."""

    __slots__ = ()
    zero: Any = 0
    narrow: Callable[[Any], Any]

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None:
            self.total = type(self).narrow(self.total + value)
            self.count += 1

    def leave(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None:
            if self.count <= 1:
                self.clear()
            else:
                self.total = type(self).narrow(self.total - value)
                self.count -= 1


class SumInt(_WrappedSum):
    __slots__ = ()
    narrow = staticmethod(java.wrap_int)
    narrowing = "wrap_int"


class SumLong(_WrappedSum):
    __slots__ = ()
    narrow = staticmethod(java.wrap_long)
    narrowing = "wrap_long"


class SumFloat(_WrappedSum):
    __slots__ = ()
    zero = 0.0
    narrow = staticmethod(java.to_float)
    narrowing = "to_float"


class SumBigDecimal(Sum):
    __slots__ = ()
    zero = Decimal(0)

    def steps(self, plan: AggregationPlan) -> None:
        """Return None: decimals may raise."""

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None:
            self.total = java.decimal_add(self.total, java.to_decimal(value))
            self.count += 1

    def leave(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None:
            if self.count <= 1:
                self.clear()
            else:
                self.total = java.decimal_subtract(self.total, java.to_decimal(value))
                self.count -= 1


SUMS: dict[str, type[Sum]] = {
    "byte": SumInt,
    "short": SumInt,
    "int": SumInt,
    "long": SumLong,
    "float": SumFloat,
    "double": Sum,
    "BigInteger": SumBigInteger,
    "BigDecimal": SumBigDecimal,
    "Number": Sum,
}
"""By the kind of the argument: the total wraps and rounds as the result type does."""


class Average(HasSteps):
    """``avg(x)`` of anything but big numbers: the sum in its own type (an int sum wraps), divided as doubles."""

    __slots__ = ("sum",)

    def __init__(self, total: Sum) -> None:
        self.sum = total

    def enter(self, row: Row) -> None:
        self.sum.enter(row)

    def leave(self, row: Row) -> None:
        self.sum.leave(row)

    def value(self) -> Any:
        return float(self.sum.total) / self.sum.count if self.sum.count else None

    def steps(self, plan: AggregationPlan) -> AccumulatorSteps | None:
        steps = self.sum.steps(plan)
        if steps is None:
            return None

        return attrs.evolve(steps, value=lambda a: self._value_text(a, type(self.sum) in (Sum, SumFloat)), reach=self._sum_text)

    @once_a_class
    def _value_text(self, a: str, floating: bool) -> str:
        own = name_attributes(a, self.sum)
        total = f"{own.total}" if floating else f"float({own.total})"
        return f"({total} / {own.count} if {own.count} else None)"

    @once_a_class
    def _sum_text(self, a: str) -> str:
        return f"{name_attributes(a, self).sum}"

    def clear(self) -> None:
        self.sum.clear()

    def state(self) -> Any:
        return self.sum.state()

    def restore(self, state: Any) -> None:
        self.sum.restore(state)


class AverageBig(Average):
    """``avg(x)`` of BigDecimal and BigInteger: exact; without a configured math context a quotient with endless digits gives zero, as
    Esper's does."""

    __slots__ = ("context",)

    def __init__(self, total: Sum, context: Any = None) -> None:
        super().__init__(total)
        self.context = context

    def value(self) -> Any:
        if not self.sum.count:
            return None
        try:
            return java.decimal_divide(self.sum.total, Decimal(self.sum.count), self.context)
        except EplRuntimeError:
            return Decimal(0)


class StandardDeviation:
    """``stddev(x)``: of a sample, by Welford's recurrence in both directions; null below two values."""

    __slots__ = ("evaluate", "mean", "squares", "count")

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate
        self.mean = self.squares = 0.0
        self.count = 0

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        value = float(value)
        self.count += 1
        if self.count == 1:
            self.mean, self.squares = value, 0.0
            return
        before = self.mean
        self.mean += (value - before) / self.count
        self.squares += (value - before) * (value - self.mean)

    def leave(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        if self.count <= 1:
            self.clear()
            return
        value = float(value)
        self.count -= 1
        before = self.mean
        self.mean -= (value - before) / self.count
        self.squares -= (value - before) * (value - self.mean)

    def value(self) -> float | None:
        if self.count < 2:
            return None
        variance = self.squares / (self.count - 1)
        return sqrt(variance) if variance >= 0 else float("nan")

    def clear(self) -> None:
        self.mean, self.squares, self.count = 0.0, 0.0, 0

    def state(self) -> Any:
        return [self.mean, self.squares, self.count]

    @takes((NUMBER, NUMBER, COUNT))
    def restore(self, state: Any) -> None:
        self.mean, self.squares, self.count = state
        only_numbers(*state)


def _countable(value: float) -> float:
    """Return the value as a key to count: all NaN are one value, also as a key of a dict."""
    return nan if value != value else value


class MeanDeviation:
    """``avedev(x)``: the mean distance from the mean; reading costs one step a different value."""

    __slots__ = ("evaluate", "counts", "total", "size")

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate
        self.counts: dict[float, int] = {}
        self.total = 0.0
        self.size = 0

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None:
            value = _countable(float(value))
            self.counts[value] = self.counts.get(value, 0) + 1
            self.total += value
            self.size += 1

    def leave(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        value = _countable(float(value))
        count = self.counts.get(value, 0)
        if count > 1:
            self.counts[value] = count - 1
        elif count == 1:
            del self.counts[value]
        else:
            return
        self.size -= 1
        self.total = self.total - value if self.size else 0.0

    def value(self) -> float | None:
        if not self.size:
            return None
        mean = self.total / self.size
        return sum(abs(v - mean) * n for v, n in self.counts.items()) / self.size

    def clear(self) -> None:
        self.counts = {}
        self.total, self.size = 0.0, 0

    def state(self) -> Any:
        return [[list(pair) for pair in self.counts.items()], self.total]

    @takes(([(NUMBER, COUNT)], NUMBER))
    def restore(self, state: Any) -> None:
        pairs, self.total = state
        self.counts = {_countable(value): count for value, count in pairs}
        only_numbers(self.total, *self.counts, *self.counts.values())
        self.size = sum(self.counts.values())


class Median:
    """``median(x)``: the middle value, or the mean of the two middle ones. NaN counts for nothing."""

    __slots__ = ("evaluate", "bag")

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate
        self.bag = SortedBag()

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None and value == value:
            self.bag.add(float(value))

    def leave(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None and value == value:
            self.bag.remove(float(value))

    def value(self) -> float | None:
        size = len(self.bag)
        if not size:
            return None
        upper: float = self.bag.at(size // 2)
        return upper if size % 2 else (self.bag.at(size // 2 - 1) + upper) / 2

    def clear(self) -> None:
        self.bag.clear()

    def state(self) -> Any:
        return list(self.bag)

    @takes([NUMBER])
    def restore(self, state: Any) -> None:
        only_numbers(*state)
        self.bag = SortedBag(state)
