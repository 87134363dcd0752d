"""The conditions that a context adds to the filters of its statements, so that an event finds the partitions that it is for."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from epl.analysis.expressions.rewriting import rewrite
from epl.analysis.filters.specifications import filter_specification
from epl.catalog import Catalog
from epl.event_types import EventType
from epl.plan.context.contexts import CATEGORY, HASH, CategoryLevel, ContextLevel, HashItem, HashLevel, KeyedItem, KeyedLevel, full_path
from epl.plan.expressions import Conditional, Constant, ContextValue, Equality, StreamProperty, TypedExpression
from epl.plan.filter_specifications import FilterSpecification
from epl.value_types import BOOLEAN, BOXED_BOOLEAN, INT, ArrayType, ValueType


def filter_levels(event_type: EventType, catalog: Catalog) -> tuple[ContextLevel, ...]:
    """Return the levels of the statement's context as filters of an event type see them: those for the rows of one of its named windows
    are about the type that the window is declared with, and categories about any type, as in Esper. None without a context."""
    context = catalog.statement_context
    if context is None:
        return ()
    window = catalog.named_windows.get(event_type.name)
    own = window is not None and window.event_type is event_type and window.context is context
    return for_rows(context.levels, window.source if own and window is not None else None, event_type)


def _adapt_level(event_type: EventType, level: ContextLevel) -> ContextLevel:
    """Return the level; categories of another type by what the events have of its properties."""
    if not isinstance(level, CategoryLevel) or event_type.is_a(level.event_type):
        return level
    return attrs.evolve(level, event_type=event_type, tests=_read(level.tests, event_type, same_types=True))


def partition_filter(event_type: EventType, conditions: Sequence[TypedExpression], levels: Sequence[ContextLevel]) -> FilterSpecification:
    """Return the filter of one partition: of its statement's conditions and of those that the levels add."""
    return filter_specification(event_type, (*conditions, *partition_conditions(event_type, levels)))


def partition_conditions(event_type: EventType, levels: Sequence[ContextLevel]) -> tuple[TypedExpression, ...]:
    """Return the conditions on events of a type, which is stream 0; a type that a level does not list is in all of its partitions."""
    return tuple(condition for level in levels for condition in _of_level(event_type, level))


def _of_level(event_type: EventType, level: ContextLevel) -> Iterator[TypedExpression]:
    if isinstance(level, KeyedLevel):
        for item in level.items:
            if event_type.is_a(item.event_type):
                yield from item.conditions
                yield from key_conditions(item, level)
                return
    elif isinstance(level, HashLevel):
        for entry in level.items:
            if event_type.is_a(entry.event_type):
                yield from entry.conditions
                yield _same(entry.number, ContextValue(type=INT, path=full_path(level, HASH)))
                return
    elif isinstance(level, CategoryLevel) and event_type.is_a(level.event_type):
        yield _category(level)  # the filter of a category context has no effect, as in Esper


def key_conditions(item: KeyedItem, level: KeyedLevel) -> Iterator[TypedExpression]:
    """Yield the conditions under which an event has the keys of the partition."""
    for number, (key, key_type) in enumerate(zip(item.keys, level.key_types), 1):
        yield _same(key, ContextValue(type=key_type, path=full_path(level, f"key{number}")))


def _same(value: TypedExpression, own: TypedExpression) -> TypedExpression:
    return Equality(type=BOOLEAN, left=value, right=own, null_safe=True, arrays=isinstance(value.type, ArrayType))


def _category(level: CategoryLevel) -> TypedExpression:
    """Return the test of the partition's own label."""
    place = ContextValue(type=INT, path=full_path(level, CATEGORY))
    pairs = tuple(
        (Equality(type=BOOLEAN, left=place, right=Constant(type=INT, value=number), null_safe=True), test)
        for number, test in enumerate(level.tests))
    return Conditional(type=BOXED_BOOLEAN, pairs=pairs)


def lists(level: ContextLevel) -> tuple[EventType, ...] | None:
    """Return the event types of which a statement under the level needs one; None where any will do."""
    if isinstance(level, (KeyedLevel, HashLevel)):
        return tuple(item.event_type for item in level.items)
    return (level.event_type,) if isinstance(level, CategoryLevel) else None


def for_rows(levels: Sequence[ContextLevel], source: EventType | None, rows: EventType) -> tuple[ContextLevel, ...]:
    """Return the levels with their items about the rows of a named window, which are declared as events of ``source``; a key that the rows
    do not have is null. Without a source, of rows with columns of their own: as of any type that the levels do not list."""
    return tuple(_adapt_level(rows, level) if source is None else _level_for_rows(level, source, rows) for level in levels)


def _level_for_rows(level: ContextLevel, source: EventType, rows: EventType) -> ContextLevel:
    if isinstance(level, KeyedLevel):
        keyed = [item for item in level.items if item.event_type is source]
        return attrs.evolve(level, items=tuple(
            attrs.evolve(item, event_type=rows, conditions=_read(item.conditions, rows), keys=_read(item.keys, rows)) for item in keyed))
    if isinstance(level, HashLevel):
        hashed: list[HashItem] = [item for item in level.items if item.event_type is source]
        return attrs.evolve(level, items=tuple(
            attrs.evolve(item, event_type=rows, conditions=_read(item.conditions, rows), number=_read((item.number,), rows)[0])
            for item in hashed))
    if isinstance(level, CategoryLevel):
        return attrs.evolve(level, event_type=rows, tests=_read(level.tests, rows))
    return level


def _read(expressions: Sequence[TypedExpression], rows: EventType, *, same_types: bool = False) -> tuple[TypedExpression, ...]:
    """Return the expressions over rows, which may have fewer properties; with ``same_types`` those of other types are none."""

    def replace(node: TypedExpression) -> TypedExpression | None:
        if not isinstance(node, StreamProperty):
            return None
        known = rows.property(node.name)
        return _null(node.type) if known is None or (same_types and known.type != node.type) else None

    return tuple(rewrite(each, replace) for each in expressions)


def _null(value_type: ValueType) -> TypedExpression:
    return Constant(type=value_type.boxed, value=None)


__all__ = ["filter_levels", "for_rows", "key_conditions", "lists", "partition_conditions", "partition_filter"]
