"""A plan as text that a person reads: one line an operator, expressions as EPL."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan import expressions as typed
from epl.plan.contained import ContainedPlan
from epl.plan.context.context_text import context_lines, specification_text
from epl.plan.expression_text import PropertyText, constant_text, expression_text, of, plain
from epl.plan.join.historical import HistoricalPlan
from epl.plan.join.joins import JoinPlan
from epl.plan.join.lookups import LookupPlan, NamedIndex
from epl.plan.join.subqueries import SubqueryPlan
from epl.plan.patterns.match_recognize import Condition, Operand, RowPattern, RowRecognitionPlan
from epl.plan.statements import BodyPlan, CreateContextPlan, SelectPlan, StatementPlan, class_words
from epl.plan.stores.on_statements import MergeBranchPlan, OnWindowPlan
from epl.plan.stores.queries import QueryPlan, SelectQueryPlan, UpdateQueryPlan
from epl.plan.streams import FilterPlan, NamedWindow, SourcePlan, StorePlan
from epl.plan.windows import WindowConfig
from epl.value_types import ValueType

HIDDEN = {"context", "text", "fingerprint", "annotations", "output_type", "match_type", "groups", "conditions", "names"}
ONE = {"streams": "stream", "windows": "window", "aggregations": "aggregation", "branches": "branch", "assignments": "assignment",
       "subqueries": "subquery"}
"""Fields of several parts, and how each part is called."""

Streams = Sequence[PropertyText]


def explain(plan: StatementPlan, tier: str = "row", reason: str = "", partitioning: str = "") -> str:
    """Return the plan of one statement, an indented tree from the output back to the streams; how its rows may be partitioned over engines
    (nothing where ``partitioning`` is empty); in which tier it runs (nothing where ``tier`` is empty), and why.
    """
    spread = [f"  partitioning: {partitioning}"] if partitioning else ()
    runs = [f"  tier: {tier}{f' ({reason})' if reason else ''}"] if tier else ()
    return "\n".join([*_statement(plan), *spread, *runs])


def explain_query(plan: QueryPlan) -> str:
    """Return the plan of a query, as that of a statement."""
    body = plan.body
    output = body.output_type
    columns = "" if output is None else " → " + ", ".join(f"{p.name} {p.type}" for p in output.properties.values())
    within = () if plan.context is None else (f"  in the partitions of the context {plan.context.name}",)
    return "\n".join([f"{class_words(type(body).__name__)}{columns}", *within, *_fields(body, "  ", _streams_of_query(body))])


def _streams_of_query(body: BodyPlan) -> Streams:
    if isinstance(body, UpdateQueryPlan):
        return [of(body.store.name), of("initial")]
    if not isinstance(body, SelectQueryPlan) or len(body.streams) < 2:
        return [plain]
    return [of(stream.alias or stream.event_type.name) for stream in body.streams]


def _statement(plan: StatementPlan) -> Iterator[str]:
    output = plan.body.output_type
    columns = "" if output is None else " → " + ", ".join(f"{p.name} {p.type}" for p in output.properties.values())
    yield f"{plan.name}: {plan.kind}{columns}"
    if plan.context is not None:
        yield f"  of each partition of the context {plan.context.name}"
    if plan.priority:
        yield f"  priority {plan.priority}"
    if isinstance(plan.body, CreateContextPlan):
        yield from context_lines(plan.body.context, "  ")
    else:
        yield from _fields(plan.body, "  ", _streams(plan))


def _streams(plan: StatementPlan) -> Streams:
    """Return how properties are written: those of a single stream without prefix, those of several after the stream's name."""
    body = plan.body
    if isinstance(body, OnWindowPlan):
        trigger = body.trigger.alias or body.trigger.event_type.name
        return [of(body.match.store.name), of(trigger), of("initial")]
    if not isinstance(body, SelectPlan) or len(body.streams) < 2:
        return [plain]
    return [of(stream.alias or stream.event_type.name) for stream in body.streams]


def _fields(value: Any, indent: str, streams: Streams) -> Iterator[str]:
    for field in attrs.fields(type(value)):
        if field.name in HIDDEN:
            continue
        item = getattr(value, field.name)
        if item == field.default or item is None or item == () or item is False:
            continue
        if isinstance(item, tuple) and all(each is None for each in item):
            continue
        yield from _item_lines(field.name, item, indent, _part_streams(value, field.name, streams))
    if isinstance(value, RowRecognitionPlan):
        yield from _defines(value, indent)


def _part_streams(value: Any, field: str, streams: Streams) -> Streams:
    """Return what the numbers of streams stand for in a part of the plan."""
    if isinstance(value, RowRecognitionPlan) and field == "aggregations":
        return [of(variable) for variable in value.variables]
    if isinstance(value, SubqueryPlan):
        return [plain, *map(of, value.outer), lambda name: "the value"]
    if isinstance(value, MergeBranchPlan) and not value.matched:
        return streams[1:]
    if isinstance(value, ContainedPlan):
        return [plain, *(of(level.event_type.name) for level in value.levels)]
    return streams


def _item_lines(name: str, item: Any, indent: str, streams: Streams) -> Iterator[str]:
    label = item.title.partition(" ")[2] if isinstance(item, SourcePlan) else name.replace("_", " ")
    dump = getattr(item, "dump", None)
    if isinstance(item, FilterPlan):
        yield f"{indent}{label}: {_filter(item, streams)}"
        for repeated in item.repeats:
            yield f"{indent}  delivered once for each constant that {expression_text(repeated.value, streams)} equals"
        if item.partitioned is not None:
            yield f"{indent}  of a partition: {specification_text(item.partitioned)}"
    elif isinstance(item, StorePlan):
        tests = " and ".join(expression_text(condition, streams[:1]) for condition in item.conditions)
        yield f"{indent}{label}: {item.window.name}{f' where {tests}' if tests else ''}"
        if item.shared:
            yield f"{indent}  its rows are read as they are in the window"
    elif isinstance(item, NamedIndex):
        yield f"{indent}{label}: {item.name} on {item.store.name}, {item.plan.title}"
    elif isinstance(item, NamedWindow):
        yield f"{indent}{label}: {item.name}"
    elif isinstance(item, JoinPlan):
        yield f"{indent}{label}: {', '.join(item.kinds)}"
        yield from (f"{indent}  {line}" for line in item.lines(streams))
    elif isinstance(item, (LookupPlan, HistoricalPlan)):
        yield f"{indent}{label}: {item.text(streams)}"
    elif callable(dump):
        yield f"{indent}{label}:"
        yield from (f"{indent}  {line}" for line in dump().splitlines())
    elif not _is_plan(item) and not _is_plan_tuple(item):
        yield f"{indent}{label}: {_text(item, streams)}"
    elif isinstance(item, tuple):
        for number, element in enumerate(item):
            yield f"{indent}{ONE.get(label, label)} {number}:{_kind(element, ONE.get(label, label))}"
            yield from _fields(element, indent + "  ", streams)
    else:
        yield f"{indent}{label}:{_kind(item, label)}"
        yield from _fields(item, indent + "  ", streams)


def _kind(item: Any, label: str) -> str:
    """Return what a part is, where its label does not say so."""
    if isinstance(item, WindowConfig):
        return f" #{item.names[0]}" if item.names else ""
    words = class_words(type(item).__name__)
    return "" if words.lower() in label or label in words.lower() else f" {words}"


def _filter(plan: FilterPlan, streams: Streams) -> str:
    conditions = [expression_text(c, streams) for c in plan.conditions]
    if plan.key is not None:
        conditions.insert(0, f"look up {plan.key.property} in ({', '.join(expression_text(v, streams) for v in plan.key.values)})")
    return plan.event_type.name + (f" where {' and '.join(conditions)}" if conditions else "")


def _defines(plan: RowRecognitionPlan, indent: str) -> Iterator[str]:
    """Yield what each variable takes."""
    several = [name for name, group in zip(plan.variables, plan.groups) if group]
    if several:
        yield f"{indent}variables of several rows: {', '.join(several)}"
    for name, condition in zip(plan.variables, plan.conditions):
        yield f"{indent}define {name}: {'any row' if condition is None else condition_text(condition, plan)}"


def condition_text(condition: Condition, plan: RowRecognitionPlan) -> str:
    """Return what a define asks of a row."""
    return expression_text(condition.expression, [_operand(each, plan) for each in condition.operands])


def _operand(operand: Operand, plan: RowRecognitionPlan) -> PropertyText:
    """Return how a define writes the properties of what it reads."""
    if operand.kind == "variable":
        return of(plan.variables[operand.number])
    if operand.kind == "previous":
        return lambda name: f"prev({name or '*'}, {operand.number})"
    return plain


def _is_plan(item: Any) -> bool:
    return attrs.has(type(item)) and not isinstance(item, (typed.TypedExpression, EventType, ValueType, RowPattern))


def _is_plan_tuple(item: Any) -> bool:
    return isinstance(item, tuple) and bool(item) and any(_is_plan(i) for i in item)


def _text(item: Any, streams: Streams) -> str:
    if isinstance(item, typed.TypedExpression):
        return expression_text(item, streams)
    if isinstance(item, EventType):
        return item.name
    if isinstance(item, tuple):
        return ", ".join(_text(each, streams) for each in item)
    if isinstance(item, bool):
        return "yes" if item else "no"
    return "nothing" if item is None else constant_text(item) if isinstance(item, float) else str(item)


__all__ = ["condition_text", "explain", "explain_query", "expression_text"]
