"""min and max: of what is there, and of all that ever was. In Java's order: NaN is greater than every other number, -0.0 less than 0.0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

from epl.attribute_text import name_attributes, once_a_class
from epl.plan.aggregations import AggregationPlan
from epl.zeros import plain, sort_value
from runtime.aggregation.generated_steps import AccumulatorSteps, HasSteps, has_numbers, is_floating
from runtime.aggregation.sliding_end import SlidingEnd
from windows.shape import ANYTHING, COUNT, takes

Row = Any
Evaluate = Callable[[Row], Any]
NAN = float("nan")


class SlidingExtreme(HasSteps):
    """``min(x)`` or ``max(x)`` while rows leave; O(1) an event where they leave in their order, else O(log n)."""

    __slots__ = ("evaluate", "largest", "held", "nans")

    def __init__(self, evaluate: Evaluate, largest: bool) -> None:
        self.evaluate = evaluate
        self.largest = largest
        self.held = SlidingEnd(largest)
        self.nans = 0

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        if value == value:
            self.held.add(value or sort_value(value))
        else:
            self.nans += 1

    def leave(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        if value == value:
            self.held.remove(value or sort_value(value))
        elif self.nans:
            self.nans -= 1

    def value(self) -> Any:
        if self.nans and (self.largest or not self.held):
            return NAN
        return plain(self.held.end())

    def steps(self, plan: AggregationPlan) -> AccumulatorSteps | None:
        """Return the steps; ``ends`` is empty where values have left in another order."""
        if not has_numbers(plan):
            return None
        floating = is_floating(plan)
        return AccumulatorSteps(
            accumulator=self, enter=lambda a, v: self._enter_lines(a, v, floating), leave=lambda a, v: self._leave_lines(a, v, floating),
            value=lambda a: self._value_text(a, floating),
        )

    @once_a_class
    def _enter_lines(self, a: str, v: str, floating: bool) -> Sequence[str]:
        """Return lines that add a value. Of floating numbers, the key distinguishes the zeros, and NaN is counted next to it."""
        own = name_attributes(a, self)
        if not floating:
            return (f"{own.held.add}({v})",)
        return f"if {v} == {v}: {own.held.add}({v} or sort_value({v}))", f"else: {own.nans} += 1"

    @once_a_class
    def _leave_lines(self, a: str, v: str, floating: bool) -> Sequence[str]:
        own = name_attributes(a, self)
        if not floating:
            return (f"{own.held.remove}({v})",)
        return f"if {v} == {v}: {own.held.remove}({v} or sort_value({v}))", f"elif {own.nans}: {own.nans} -= 1"

    @once_a_class
    def _value_text(self, a: str, floating: bool) -> str:
        own = name_attributes(a, self)
        if not floating:
            return f"({own.held.ends}[0] if {own.held.ends} else {own.value}())"
        return f"({own.held.ends}[0] or {own.value}() if {own.held.ends} and not {own.nans} else {own.value}())"

    def clear(self) -> None:
        self.held.clear()
        self.nans = 0

    def state(self) -> Any:
        return [[plain(value) for value in self.held], self.nans]

    @takes(([ANYTHING], COUNT))
    def restore(self, state: Any) -> None:
        values, self.nans = state
        self.held.put(map(sort_value, values))


class ExtremeEver(HasSteps):
    """``minever(x)``, ``maxever(x)``, and min and max of a stream that nothing leaves."""

    __slots__ = ("evaluate", "largest", "extreme")

    def __init__(self, evaluate: Evaluate, largest: bool) -> None:
        self.evaluate = evaluate
        self.largest = largest
        self.extreme: Any = None

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        extreme = self.extreme
        if (
            extreme is None or (value != value if self.largest else extreme != extreme)
            or (value > extreme if self.largest else value < extreme)
            or (not value and value == 0 == extreme and (copysign(1.0, value) > 0) == self.largest)
        ):
            self.extreme = value

    def leave(self, row: Row) -> None:
        pass

    def value(self) -> Any:
        return self.extreme

    def steps(self, plan: AggregationPlan) -> AccumulatorSteps | None:
        if not has_numbers(plan):
            return None
        floating, largest = is_floating(plan), self.largest
        return AccumulatorSteps(
            accumulator=self, enter=lambda a, v: self._enter_lines(a, v, largest, floating), leave=lambda a, v: (), value=self._value_text
        )

    @once_a_class
    def _enter_lines(self, a: str, v: str, largest: bool, floating: bool) -> Sequence[str]:
        sign = ">" if largest else "<"
        extreme, better = f"{name_attributes(a, self).extreme}", f"{v} {sign} m"
        if floating:
            nan = f"{v} != {v}" if largest else "m != m"
            better = f"{nan} or {better} or not {v} and not m and copysign(1.0, {v}) {sign} 0"
        return f"m = {extreme}", f"if m is None or {better}: {extreme} = {v}"

    @once_a_class
    def _value_text(self, a: str) -> str:
        return f"{name_attributes(a, self).extreme}"

    def clear(self) -> None:
        self.extreme = None

    def state(self) -> Any:
        return self.extreme

    def restore(self, state: Any) -> None:
        self.extreme = state
