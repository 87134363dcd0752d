"""Contexts in pictures: their levels, outermost first, and what begins and ends the partitions of each."""
from __future__ import annotations

from collections.abc import Iterator

from epl.event_types import EventType
from epl.plan.context.context_text import condition_text, specification_text
from epl.plan.context.contexts import (
    CategoryLevel,
    Context,
    ContextCondition,
    ContextLevel,
    FilterCondition,
    HashLevel,
    KeyedLevel,
    LifetimeLevel,
    NeverCondition,
    PatternCondition,
)
from epl.plan.expression_text import expression_text, plain
from epl.plan.streams import types_read
from runtime.explain.graph import Drawing
from runtime.explain.parts import draw_pattern, join_conditions
from runtime.explain.streams import DrawnSources


def draw_context(sources: DrawnSources, context: Context) -> str:
    """Draw a context; return its node, which the levels lead to."""
    drawing = sources.drawing
    properties = ", ".join(".".join(path) for path, _ in context.properties)
    node = drawing.node("context", context.name, "nested context" if context.is_nested else "context", f"properties {properties}",
                        name=context.name, properties=tuple(".".join(path) for path, _ in context.properties))
    before: str | None = None
    for level in context.levels:
        here = drawing.node("context", *_level_lines(level, nested=context.is_nested), level=level.name, kind_of_level=_kind(level))
        for event_type in dict.fromkeys(_types(level)):
            drawing.edge(sources.type(event_type), here)
        _conditions(drawing, sources, level, here)
        if before is not None:
            drawing.edge(before, here, label="in each partition")
        before = here
    if before is not None:
        drawing.edge(before, node, "control")
    return node


def _kind(level: ContextLevel) -> str:
    if isinstance(level, LifetimeLevel):
        return "overlapping" if level.overlapping else "non-overlapping"
    return {KeyedLevel: "keyed", HashLevel: "hash", CategoryLevel: "category"}.get(type(level), "context")


def _level_lines(level: ContextLevel, *, nested: bool) -> Iterator[str]:
    yield f"{level.name}: {_kind(level)}" if nested else _kind(level)
    if isinstance(level, KeyedLevel):
        yield "a partition for each key"
        yield from (f"{join_conditions(item.keys, [plain], ', ')} of {specification_text(item.filter)}" for item in level.items)
    elif isinstance(level, HashLevel):
        yield f"{level.granularity} partitions{', all from the beginning' if level.preallocate else ''}"
        yield from (f"{expression_text(item.number, [plain])} of {specification_text(item.filter)}" for item in level.items)
    elif isinstance(level, CategoryLevel):
        yield from (f"{label}: {expression_text(test, [plain])}" for label, test in zip(level.labels, level.tests))
    elif isinstance(level, LifetimeLevel):
        yield "partitions that may overlap" if level.overlapping else "one partition at a time"
        if level.now:
            yield "begins now"
        if level.distinct:
            yield f"distinct {join_conditions(level.distinct, [plain], ', ')}"


def _types(level: ContextLevel) -> Iterator[EventType]:
    """Yield the types of the events that are partitioned."""
    if isinstance(level, (KeyedLevel, HashLevel)):
        yield from (item.event_type for item in level.items)
    elif isinstance(level, CategoryLevel):
        yield level.event_type


def _conditions(drawing: Drawing, sources: DrawnSources, level: ContextLevel, here: str) -> None:
    """Draw what begins and ends partitions, each a node with an edge to the level."""
    if isinstance(level, KeyedLevel):
        for item in level.initiated_by:
            begin = drawing.node("filter", specification_text(item.filter))
            drawing.edge(sources.type(item.event_type), begin)
            drawing.edge(begin, here, "control", "begins")
        if level.terminated_by is not None:
            _condition(drawing, sources, level.terminated_by, here, "ends")
    elif isinstance(level, LifetimeLevel):
        if level.start is not None:
            _condition(drawing, sources, level.start, here, "begins")
        _condition(drawing, sources, level.end, here, "ends")


def _condition(drawing: Drawing, sources: DrawnSources, condition: ContextCondition, here: str, word: str) -> None:
    if isinstance(condition, NeverCondition):
        return
    if isinstance(condition, PatternCondition):
        node = drawing.node("pattern", "pattern", "whose events count" if condition.inclusive else "")
        _, root = draw_pattern(drawing, condition.pattern, f"pattern that {word} partitions")
        drawing.edge(root, node, "part")
    else:
        node = drawing.node("filter" if isinstance(condition, FilterCondition) else "observer", condition_text(condition))
    for event_type in dict.fromkeys(types_read(condition)):
        drawing.edge(sources.type(event_type), node)
    drawing.edge(node, here, "control", word)


__all__ = ["draw_context"]
