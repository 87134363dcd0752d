"""A context as text that a person reads: one line a level, what begins and ends its partitions below it."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from epl.plan.context.contexts import (
    AfterCondition,
    CategoryLevel,
    Context,
    ContextCondition,
    ContextLevel,
    CrontabCondition,
    FilterCondition,
    HashLevel,
    KeyedItem,
    KeyedLevel,
    LifetimeLevel,
    PatternCondition,
)
from epl.plan.crontab import CronField
from epl.plan.expression_text import expression_text, plain
from epl.plan.expressions import Local, TypedExpression
from epl.plan.filter_specifications import FilterSpecification


def context_lines(context: Context, indent: str) -> Iterator[str]:
    """Yield the levels, outermost first."""
    for number, level in enumerate(context.levels):
        name = f" {level.name}" if context.is_nested else ""
        lines = _level(level)
        yield f"{indent}{'  ' * number}level{name}: {next(lines)}"
        yield from (f"{indent}{'  ' * number}  {line}" for line in lines)
    yield f"{indent}properties: {', '.join('.'.join(path) for path, _ in context.properties)}"


def _level(level: ContextLevel) -> Iterator[str]:
    if isinstance(level, KeyedLevel):
        yield "a partition for each key"
        yield from (f"key {_list(item.keys)} of {_item(item)}" for item in level.items)
        yield from (f"begins with {_item(item)}" for item in level.initiated_by)
        if level.terminated_by is not None:
            yield f"ends {condition_text(level.terminated_by)}"
    elif isinstance(level, HashLevel):
        yield f"{level.granularity} partitions" + (", all from the beginning" if level.preallocate else "")
        yield from (f"number {_text(entry.number)} of {specification_text(entry.filter)}" for entry in level.items)
    elif isinstance(level, CategoryLevel):
        yield f"a partition for each category of {level.event_type.name}"
        yield from (f"{label}: {_text(test)}" for label, test in zip(level.labels, level.tests))
    elif isinstance(level, LifetimeLevel):
        yield from _lifetime(level)


def _lifetime(level: LifetimeLevel) -> Iterator[str]:
    yield "partitions that may overlap" if level.overlapping else "one partition at a time"
    if level.now:
        yield "begins now"
    if level.start is not None:
        yield f"begins {condition_text(level.start)}"
    if level.distinct:
        yield f"while none lives with the same {_list(level.distinct)}"
    yield f"ends {condition_text(level.end)}"


def condition_text(condition: ContextCondition) -> str:
    """Return what begins or ends a partition, as it follows the word."""
    if isinstance(condition, FilterCondition):
        return f"with {specification_text(condition.filter)}{_alias_text(condition.tag)}"
    if isinstance(condition, PatternCondition):
        inclusive = ", whose events count" if condition.inclusive else ""
        operators = "; ".join(line.strip() for line in condition.pattern.dump().splitlines())
        return f"with a match of {operators}{_alias_text(condition.tag)}{inclusive}"
    if isinstance(condition, CrontabCondition):
        return "at " + " or at ".join(", ".join(map(_field, crontab.fields)) for crontab in condition.crontabs)
    return f"after {_text(condition.period)}" if isinstance(condition, AfterCondition) else "never"


def _field(field: CronField) -> str:
    return field.kind if field.value is None else _text(field.value)


def _alias_text(tag: str | None) -> str:
    return "" if tag is None else f" as {tag}"


def _item(item: KeyedItem) -> str:
    return specification_text(item.filter) + _alias_text(item.alias)


def specification_text(specification: FilterSpecification) -> str:
    """Return a filter's type, conditions and what is looked up, with the values of an entry as they are written."""
    parts = [f"{_text(each.expression)} {'is' if each.null_matches else '='} {_value(each.operand, specification)}, looked up"
             for each in specification.equal]
    if specification.listed is not None:
        items = ", ".join(_value(each, specification) for each in specification.listed.operands)
        parts.append(f"{_text(specification.listed.expression)} in ({items}), looked up")
    if specification.range is not None:
        ends = [(name, end) for name, end in (("from", specification.range.low), ("to", specification.range.high)) if end is not None]
        bounds = " ".join(f"{name} {_value(end, specification)}" for name, end in ends)
        parts.append(f"{_text(specification.range.expression)} {bounds}, looked up")
    parts += [_value(each, specification) for each in specification.conditions]
    return specification.event_type.name + (f" where {' and '.join(parts)}" if parts else "")


def _value(expression: TypedExpression, specification: FilterSpecification) -> str:
    """Return the expression with what an entry brings in its place."""
    if isinstance(expression, Local) and expression.number >= specification.first_local:
        return _text(specification.values[expression.number - specification.first_local])
    text = _text(expression)
    own = [node for node in expression.walk() if isinstance(node, Local) and not node.name and node.number >= specification.first_local]
    if not own:
        return text
    values = ", ".join(dict.fromkeys(_text(specification.values[node.number - specification.first_local]) for node in own))
    return f"{text} with {values}"


def _list(expressions: Sequence[TypedExpression]) -> str:
    return ", ".join(map(_text, expressions))


def _text(expression: TypedExpression) -> str:
    return expression_text(expression, [plain])


__all__ = ["condition_text", "context_lines", "specification_text"]
