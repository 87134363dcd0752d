"""Accumulators whose steps are printed into a fused function: how each class enters, leaves and reads a value, as text.

The text works on the accumulator's own slots, so that state, restore and the un-fused path see the same thing. None of the steps can raise
for values of the argument's type, hence everything is checked before the first of them is done.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from epl.plan.result_set import AggregationPlan
from runtime.aggregation.extremes import Extreme, ExtremeEver
from runtime.aggregation.factory import Growing
from runtime.aggregation.numeric import Average, CountRows, CountValues, Sum, SumBigInteger, SumFloat, SumInt, SumLong

Step = Callable[[str, str], list[str]]
"""(name of the accumulator, name of a value that is not null) → lines."""


@attrs.frozen
class Inline:
    """How one accumulator is printed. ``inner``: the attribute of what the aggregation reads that holds the accumulator, empty for itself.

    ``counts_rows``: it takes no value. ``value``: name → the text of the aggregation's value.
    """

    enter: Step
    leave: Step
    value: Callable[[str], str]
    inner: str = ""
    counts_rows: bool = False


def _sum_step(sign: str, narrow: str) -> Callable[[str, str], list[str]]:
    """The lines that bring a value into a total of a Java type."""
    if narrow in BOUNDS:
        low, high = BOUNDS[narrow]
        fits = f"not t >> {high.bit_length()} or {low} <= t <= {high}"  # a shift tells fastest that it is not negative and in range
        return lambda a, v: [f"t = {a}.total {sign} {v}", f"{a}.total = t if {fits} else {narrow}(t)"]
    if narrow:
        return lambda a, v: [f"{a}.total = {narrow}({a}.total {sign} {v})"]
    return lambda a, v: [f"{a}.total = {a}.total {sign} {v}"]


BOUNDS = {"wrap_int": (-(1 << 31), (1 << 31) - 1), "wrap_long": (-(1 << 63), (1 << 63) - 1)}


def _sum(narrow: str, value: Callable[[str], str], inner: str = "") -> Inline:
    add, subtract = _sum_step("+", narrow), _sum_step("-", narrow)
    return Inline(
        lambda a, v: [*add(a, v), f"{a}.count += 1"],
        lambda a, v: [f"if {a}.count <= 1: {a}.clear()", "else:", *(f"    {line}" for line in subtract(a, v)), f"    {a}.count -= 1"],
        value, inner,
    )


NARROWS: dict[type, str] = {Sum: "", SumBigInteger: "", SumInt: "wrap_int", SumLong: "wrap_long", SumFloat: "to_float"}
"""Sums whose steps cannot fail, with what brings a total back into its type."""
FLOATS = (Sum, SumFloat)


def _count(counts_rows: bool, inner: str = "") -> Inline:
    leave: Step = (lambda a, v: []) if inner else (lambda a, v: [f"if {a}.count: {a}.count -= 1"])
    return Inline(lambda a, v: [f"{a}.count += 1"], leave, lambda a: f"{a}.count", inner, counts_rows)


def _extreme(floating: bool) -> Inline:
    """What is held tells the zeros of ``floating`` numbers apart, and has no ``ends`` where values have left out of turn."""
    if not floating:
        return Inline(
            lambda a, v: [f"{a}.held.add({v})"], lambda a, v: [f"{a}.held.remove({v})"],
            lambda a: f"({a}.held.ends[0] if {a}.held.ends else {a}.value())",
        )
    return Inline(
        lambda a, v: [f"if {v} == {v}: {a}.held.add({v} or ordered({v}))", f"else: {a}.nans += 1"],
        lambda a, v: [f"if {v} == {v}: {a}.held.remove({v} or ordered({v}))", f"elif {a}.nans: {a}.nans -= 1"],
        lambda a: f"({a}.held.ends[0] or {a}.value() if {a}.held.ends and not {a}.nans else {a}.value())",
    )


def _extreme_ever(largest: bool, floating: bool) -> Inline:
    """As ExtremeEver.enter has it."""
    better = "{v} > m" if largest else "{v} < m"
    if floating:
        nan = "{v} != {v}" if largest else "m != m"
        better = f"{nan} or {better} or not {{v}} and not m and copysign(1.0, {{v}}) {'>' if largest else '<'} 0"
    return Inline(
        lambda a, v: [f"m = {a}.found", f"if m is None or {better.format(v=v)}: {a}.found = {v}"], lambda a, v: [], lambda a: f"{a}.found"
    )


def inline_of(plan: AggregationPlan, reader: Any) -> Inline | None:
    """How what reads an aggregation is printed; None where it is called, since its steps may fail or are long."""
    if plan.distinct or plan.filter is not None or plan.group_by is not None:
        return None
    kind = type(reader)
    if kind is Growing:
        inner = type(reader.inner)
        return _count(inner is CountRows, "inner") if inner in (CountRows, CountValues) else None
    if kind in (CountRows, CountValues):
        return _count(kind is CountRows)
    if kind is Average and type(reader.sum) in NARROWS and _has_numbers(plan):
        total = "{a}.total" if type(reader.sum) in FLOATS else "float({a}.total)"
        return _sum(NARROWS[type(reader.sum)], lambda a: f"({total.format(a=a)} / {a}.count if {a}.count else None)", "sum")
    if kind in NARROWS and _has_numbers(plan):
        return _sum(NARROWS[kind], lambda a: f"({a}.total if {a}.count else None)")
    if kind is Extreme and _has_numbers(plan):
        return _extreme(_is_floating(plan))
    if kind is ExtremeEver and _has_numbers(plan):
        return _extreme_ever(reader.largest, _is_floating(plan))
    return None


def _has_numbers(plan: AggregationPlan) -> bool:
    """Whether the argument is of a type whose values always compare and add."""
    return getattr(plan.arguments[0].type, "kind", None) in ("byte", "short", "int", "long", "float", "double")


def _is_floating(plan: AggregationPlan) -> bool:
    return getattr(plan.arguments[0].type, "kind", None) in ("float", "double")


__all__ = ["Inline", "inline_of"]
