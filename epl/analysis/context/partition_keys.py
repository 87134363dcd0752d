"""``partition by`` and ``coalesce by``: the event types listed, and what of their events names the partition."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from epl.analysis.context.conditions import Declaring, Tagged, analyse_condition, refuse_subqueries
from epl.analysis.expressions import calls
from epl.analysis.expressions.bind import bind, bind_in_clause
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.filters.partitions import partition_conditions
from epl.analysis.filters.specifications import filter_specification
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType
from epl.plan.context.contexts import CategoryLevel, ContextCondition, ContextLevel, HashItem, HashLevel, KeyedItem, KeyedLevel
from epl.plan.expressions import Element, HashNumber, MapValue, PropertyOf, StreamEvent, StreamProperty, TypedExpression
from epl.syntax import ContextCondition as Written
from epl.syntax import Expression, HashContext, KeyedContext, Literal, Wildcard
from epl.syntax import HashItem as WrittenHash
from epl.syntax import KeyedItem as WrittenItem
from epl.syntax.expressions import Call, Chain, Name
from epl.unparse import expression_text
from epl.value_types import INT, ArrayType, Scalar, ValueType, is_null, is_numeric

# ------------------------------------------------------------------ partition by


def analyse_keyed(spec: KeyedContext, name: str, where: Declaring) -> tuple[KeyedLevel, Tagged]:
    """Return the level, and its properties: keys, events that begin it, events that end it."""
    items = tuple(_item(written, where) for written in spec.items)
    _check_items(spec, items, where)
    key_types = tuple(key.type.boxed for key in items[0].keys)
    after = where
    for item in items:
        after = _declare_event(item, after, spec)
    initiated = []
    for written in spec.initiated_by:
        item = _plan_initiation(written, items, spec, where)
        after = _declare_event(item, after, spec)
        initiated.append(item)
    level = KeyedLevel(name=name, prefix=where.prefix, items=items, key_types=key_types, initiated_by=tuple(initiated))
    end: ContextCondition | None = None
    end_tags: Tagged = ()
    if spec.terminated_by is not None:
        end, end_tags, _ = analyse_condition(
            spec.terminated_by, attrs.evolve(after, outer=(*where.outer, _by_keys_alone(level))), is_end=True)
    keys = tuple((f"key{number}", key_type) for number, key_type in enumerate(key_types, 1))
    begun = tuple((item.alias, EventOf(item.event_type)) for item in (*items, *initiated) if item.alias is not None)
    return attrs.evolve(level, terminated_by=end), (*keys, *begun, *end_tags)


def _by_keys_alone(level: KeyedLevel) -> KeyedLevel:
    """Return the level as the filters of its own end see it: an event with the keys ends the partition whether its item takes it or not."""
    return attrs.evolve(level, items=tuple(attrs.evolve(item, conditions=()) for item in level.items))


def _item(written: WrittenItem, where: Declaring) -> KeyedItem:
    event_type = where.event_type(written.source, "Partition criteria may not include named windows")
    conditions = where.conditions(written.source.filters, ScopeStream(written.alias, event_type))
    keys = tuple(_key(each, event_type, where) for each in written.keys)
    return _plan_item(event_type, conditions, keys, written.alias, where)


def _plan_item(
    event_type: EventType, conditions: Sequence[TypedExpression], keys: tuple[TypedExpression, ...], alias: str | None, where: Declaring
) -> KeyedItem:
    added = partition_conditions(event_type, where.outer)
    return KeyedItem(
        event_type=event_type, filter=filter_specification(event_type, (*conditions, *added)), conditions=tuple(conditions), keys=keys,
        alias=alias)


def _key(written: Expression, event_type: EventType, where: Declaring) -> TypedExpression:
    """Return a property, at any depth: nothing is computed."""
    not_there = EplValidationError(
        f"For context '{where.context}' property name '{expression_text(written)}' not found on type {event_type.name}", span=written.span)
    scope = Scope(attrs.evolve(where.catalog, variables={}), (ScopeStream(None, event_type),), allow_previous=False)
    if not isinstance(written, Chain) or not _is_path(written):
        raise not_there
    try:
        key = bind(written, scope)
    except EplValidationError as refusal:
        raise not_there from refusal
    if not all(isinstance(node, (StreamProperty, StreamEvent, PropertyOf, Element, MapValue)) for node in _path(key)):
        raise not_there
    return key


def _is_path(written: Chain) -> bool:
    links = [link for link in written.links if isinstance(link, Call)]
    return written.root is None and all(len(link.arguments) == 1 and isinstance(link.arguments[0], Literal) for link in links)


def _path(key: TypedExpression) -> list[TypedExpression]:
    """Return the nodes from a property down to the event, without indexes and keys."""
    nodes = [key]
    while isinstance(nodes[-1], (PropertyOf, Element, MapValue)):
        nodes.append(nodes[-1].operand)
    return nodes


def _check_items(spec: KeyedContext, items: tuple[KeyedItem, ...], where: Declaring) -> None:
    context, first = where.context, items[0]
    for number, item in enumerate(items):
        written = spec.items[number]
        for other in items[:number]:
            _check_types(other.event_type, item.event_type, context, written)
        if len(item.keys) != len(first.keys):
            raise EplValidationError(
                f"For context '{context}' expected the same number of property names for each event type, found {len(first.keys)} "
                f"properties for event type '{first.event_type.name}' and {len(item.keys)} properties for event type "
                f"'{item.event_type.name}'", span=written.span)
        for place, (one, key) in enumerate(zip(first.keys, item.keys)):
            if one.type.boxed != key.type.boxed:
                raise EplValidationError(
                    f"For context '{context}' for context '{context}' found mismatch of property types, property "
                    f"'{expression_text(spec.items[0].keys[place])}' of type '{one.type.boxed}' compared to property "
                    f"'{expression_text(written.keys[place])}' of type '{key.type.boxed}'", span=written.span)


def _check_types(other: EventType, event_type: EventType, context: str, written: WrittenItem) -> None:
    message = f"For context '{context}' the event type '{event_type.name}' is listed twice"
    if other is event_type:
        raise EplValidationError(message, span=written.span)
    if event_type.is_a(other) or other.is_a(event_type):
        raise EplValidationError(
            f"{message}: Event type '{event_type.name}' is a subtype or supertype of event type '{other.name}'", span=written.span)


def _declare_event(item: KeyedItem, where: Declaring, spec: KeyedContext) -> Declaring:
    """Return what is seen with the event that begins a partition; its name has to be new."""
    if item.alias is not None and item.alias in where.assigned:
        before = next(stream for stream in where.known if stream.alias == item.alias)
        raise EplValidationError(f"Name '{item.alias}' already used for type '{before.event_type.name}'", span=spec.span)
    return where.with_event(item.alias, item.event_type)


def _plan_initiation(written: Written, items: tuple[KeyedItem, ...], spec: KeyedContext, where: Declaring) -> KeyedItem:
    source = written.filter
    assert source is not None
    event_type = where.event_type(source)
    item = next((each for each in items if each.event_type is event_type), None)
    if item is None:
        raise EplValidationError(
            f"Segmented context '{where.context}' requires that all of the event types that are listed in the initialized-by also appear "
            f"in the partition-by, type '{event_type.name}' is not one of the types listed in partition-by", span=written.span)
    if written.tag is not None and any(each.alias is not None for each in items):
        raise EplValidationError(
            f"Segmented context '{where.context}' requires that either partition-by or initialized-by assign stream names, but not both",
            span=written.span)
    conditions = where.conditions(source.filters, ScopeStream(written.tag, event_type))
    return _plan_item(event_type, conditions, item.keys, written.tag, where)


# ------------------------------------------------------------------ coalesce by


def analyse_hash(spec: HashContext, name: str, where: Declaring) -> HashLevel:
    """Return the level; it has no properties of its own."""
    granularity = _granularity(spec)
    if spec.preallocate:
        _check_preallocated(granularity, spec.granularity, where)
    items = tuple(_hash_item(written, granularity, where) for written in spec.items)
    return HashLevel(name=name, prefix=where.prefix, items=items, granularity=granularity, preallocate=spec.preallocate)


MOST_PREALLOCATED = 100_000
"""Partitions of a context that begin at once: some seconds and 300 MB."""
JAVA_NUMBERS = {"double": "Double", "float": "Float", "long": "Long"}


def _granularity(spec: HashContext) -> int:
    written = spec.granularity
    assert isinstance(written, Literal)
    value = written.value
    if written.kind != "int" or not isinstance(value, int):
        raise EplValidationError(
            f"Granularity provided must be an int-type number, received class java.lang.{JAVA_NUMBERS.get(written.kind, 'Double')} instead",
            span=written.span)
    if value < 1:
        raise EplUnsupportedError("A granularity of 0 is not supported", span=written.span, hint="write the number of partitions")
    return value


def initial_branches(levels: Iterable[ContextLevel]) -> int:
    """Return how many branches levels, each within the one before it, begin at once."""
    count = 1
    for level in levels:
        if isinstance(level, CategoryLevel):
            count *= len(level.labels)
        elif isinstance(level, HashLevel) and level.preallocate:
            count *= level.granularity
    return count


def _check_preallocated(granularity: int, written: Expression | None, where: Declaring) -> None:
    """Refuse a level whose partitions are more than may begin at once, those of each branch of the levels around it."""
    count = granularity * initial_branches(where.outer)
    if count > MOST_PREALLOCATED:
        raise EplUnsupportedError(
            f"{count} partitions that are preallocated are not supported", span=None if written is None else written.span,
            hint=f"at most {MOST_PREALLOCATED}; without preallocate a partition begins with its first event")


def _hash_item(written: WrittenHash, granularity: int, where: Declaring) -> HashItem:
    event_type = where.event_type(written.source)
    conditions = where.conditions(written.source.filters, ScopeStream(None, event_type))
    added = partition_conditions(event_type, where.outer)
    return HashItem(
        event_type=event_type, filter=filter_specification(event_type, (*conditions, *added)), conditions=conditions,
        number=_number(written.function, event_type, granularity, where))


def _number(function: Expression, event_type: EventType, granularity: int, where: Declaring) -> TypedExpression:
    assert isinstance(function, Chain)
    first = function.links[0]
    assert isinstance(first, (Name, Call))
    scope = Scope(
        where.catalog, (ScopeStream(None, event_type),), clause="context declaration", declarations=where.declarations,
        allow_previous=False)
    name = first.name.lower()
    own = where.catalog.functions.single_row.get(first.name)
    is_known = name in ("hash_code", "consistent_hash_crc32") or own is not None
    if len(function.links) > 1 or not is_known or not isinstance(first, Call):
        raise EplValidationError(
            f"For context '{where.context}' expected a hash function that is any of {{consistent_hash_crc32, hash_code}} or a plug-in "
            f"single-row function or script but received '{first.name}'", span=function.span)
    if not first.arguments:
        raise EplValidationError(
            f"For context '{where.context}' expected one or more parameters to the hash function, but found no parameter list",
            span=function.span)
    if own is not None and name not in ("hash_code", "consistent_hash_crc32"):
        return _own_number(calls.invoke_single_row(own, first, scope), granularity, function)
    arguments = tuple(_argument(each, scope, name) for each in first.arguments)
    if name == "hash_code":
        return HashNumber(type=INT, function="hash_code", arguments=arguments, granularity=granularity)
    return HashNumber(type=INT, function="consistent_hash_crc32", arguments=arguments, granularity=granularity)


def _own_number(value: TypedExpression, granularity: int, function: Expression) -> TypedExpression:
    if not is_numeric(value.type):
        raise EplUnsupportedError(f"A hash function that returns {value.type} is not supported", span=function.span)
    return HashNumber(type=INT, function="number", arguments=(value,), granularity=granularity)


SERIALIZED = ("boolean", "byte", "short", "int", "long", "float", "double", "String")
"""Kinds of values of which consistent_hash_crc32 is known: for others Esper has Java serialize the object."""


def _argument(written: Expression, scope: Scope, function: str) -> TypedExpression:
    if isinstance(written, Wildcard):
        raise EplUnsupportedError(f"{function}(*) is not supported", span=written.span, hint="name the properties")
    refuse_subqueries(written)
    value = bind_in_clause(written, scope)
    if is_null(value.type):
        raise EplValidationError("Expression returns a null-type value", span=written.span)
    if not _is_hashed(value.type, function):
        raise EplUnsupportedError(f"{function} of a value of type {value.type} is not supported", span=written.span)
    return value


def _is_hashed(value_type: ValueType, function: str) -> bool:
    if function == "consistent_hash_crc32":
        return isinstance(value_type, Scalar) and value_type.kind in SERIALIZED
    return not isinstance(value_type, (ArrayType, EventOf))


__all__ = ["analyse_hash", "analyse_keyed"]
