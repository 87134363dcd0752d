"""A plan as text that a person reads: one line an operator, expressions in infix."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan import expressions as typed
from epl.plan.statements import FilterPlan, StatementPlan
from epl.value_types import ValueType

HIDDEN = {"text", "fingerprint", "annotations", "output_type"}


def explain(plan: StatementPlan, tier: str = "row", reason: str = "", split: str = "") -> str:
    """The plan of one statement, an indented tree from the output back to the streams; how its rows may be split over engines (nothing
    where ``split`` is empty); in which tier it runs, and why.
    """
    lines = [*_statement(plan), *([f"  split: {split}"] if split else ()), f"  tier: {tier}{f' ({reason})' if reason else ''}"]
    return "\n".join(lines)


def _statement(plan: StatementPlan) -> Iterator[str]:
    output = plan.body.output_type
    columns = "" if output is None else " → " + ", ".join(f"{p.name} {p.type}" for p in output.properties.values())
    yield f"{plan.name}: {plan.kind}{columns}"
    if plan.priority:
        yield f"  priority {plan.priority}"
    yield from _fields(plan.body, "  ")


def _fields(value: Any, indent: str) -> Iterator[str]:
    for field in attrs.fields(type(value)):
        if field.name in HIDDEN:
            continue
        item = getattr(value, field.name)
        if item == field.default or item is None or item == () or item is False:
            continue
        yield from _named(field.name, item, indent)


def _named(name: str, item: Any, indent: str) -> Iterator[str]:
    label = name.replace("_", " ")
    dump = getattr(item, "dump", None)
    if isinstance(item, FilterPlan):
        yield f"{indent}{label}: {_filter(item)}"
    elif callable(dump):
        yield f"{indent}{label}:"
        yield from (f"{indent}  {line}" for line in dump().splitlines())
    elif isinstance(item, typed.TypedExpression) or (not _is_plan(item) and not _is_plan_tuple(item)):
        yield f"{indent}{label}: {_text(item)}"
    elif isinstance(item, tuple):
        for number, element in enumerate(item):
            yield f"{indent}{label} {number}: {type(element).__name__}"
            yield from _fields(element, indent + "  ")
    else:
        yield f"{indent}{label}: {type(item).__name__}"
        yield from _fields(item, indent + "  ")


def _filter(plan: FilterPlan) -> str:
    conditions = [expression_text(c) for c in plan.conditions]
    if plan.key is not None:
        conditions.insert(0, f"look up {plan.key.property} in ({', '.join(map(expression_text, plan.key.values))})")
    return plan.event_type.name + (f" where {' and '.join(conditions)}" if conditions else "")


def _is_plan(item: Any) -> bool:
    return attrs.has(type(item)) and not isinstance(item, (typed.TypedExpression, EventType, ValueType))


def _is_plan_tuple(item: Any) -> bool:
    return isinstance(item, tuple) and bool(item) and all(_is_plan(i) for i in item)


def _text(item: Any) -> str:
    if isinstance(item, typed.TypedExpression):
        return expression_text(item)
    if isinstance(item, EventType):
        return item.name
    if isinstance(item, tuple):
        return ", ".join(map(_text, item))
    return str(item)


def expression_text(node: typed.TypedExpression) -> str:
    """A typed expression in infix; what has no infix form is a call of its name."""
    found = TEXTS.get(type(node))
    if found is not None:
        return found(node)
    inner = ", ".join(expression_text(c) for c in node.children())
    return f"{type(node).__name__.lower()}({inner})"


def _infix(node: Any) -> str:
    return f"({expression_text(node.left)} {node.operator} {expression_text(node.right)})"


EQUALITIES = {(False, False): "=", (False, True): "!=", (True, False): "is", (True, True): "is not"}
"""Operators by (null-safe, negated)."""

TEXTS: dict[type, Callable[[Any], str]] = {
    typed.Constant: lambda n: repr(n.value),
    typed.Parameter: lambda n: f"?{n.key}",
    typed.StreamProperty: lambda n: f"s{n.stream}.{n.name}",
    typed.StreamEvent: lambda n: f"s{n.stream}",
    typed.StreamEvents: lambda n: f"s{n.stream}[*]",
    typed.PropertyOf: lambda n: f"{expression_text(n.operand)}.{n.name}",
    typed.Element: lambda n: f"{expression_text(n.operand)}[{expression_text(n.index)}]",
    typed.VariableValue: lambda n: f"variable {n.name}",
    typed.Convert: lambda n: f"{n.type}({expression_text(n.operand)})",
    typed.Arithmetic: _infix,
    typed.Bitwise: _infix,
    typed.Order: _infix,
    typed.Equality: lambda n: f"({expression_text(n.left)} {EQUALITIES[n.null_safe, n.negated]} {expression_text(n.right)})",
    typed.Logic: lambda n: "(" + f" {n.operator} ".join(map(expression_text, n.operands)) + ")",
    typed.Not: lambda n: f"not {expression_text(n.operand)}",
    typed.Concatenation: lambda n: " || ".join(map(expression_text, n.parts)),
    typed.Invoke: lambda n: f"{n.function}({', '.join(map(expression_text, n.arguments))})",
    typed.Aggregated: lambda n: f"aggregation {n.slot}",
    typed.AggregationMethodCall: lambda n: f"aggregation {n.operand.slot}.{n.method}({', '.join(map(expression_text, n.arguments))})",
    typed.CurrentTime: lambda n: "current_timestamp",
    typed.Local: lambda n: str(n.name),
    typed.TimeSpan: lambda n: " ".join(f"{expression_text(e)} {u}" for u, e in n.parts),
}
