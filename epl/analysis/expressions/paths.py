"""Property paths: the streams that they begin with, and names, indexes and keys that lead from one value to the next, declared or
dynamic."""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.expressions.binding import bind
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.errors import EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.plan import expressions as typed
from epl.plan.expressions import TypedExpression
from epl.syntax import expressions as syntax
from epl.syntax.expressions import Call, Index, Link, Name
from epl.unparse import expression_text
from epl.value_types import OBJECT, STRING, ArrayType, CollectionType, MapType, Scalar, ValueType

SMALL_INTEGERS = ("byte", "short", "int")


def declaring_streams(name: str, scope: Scope, links: Sequence[Link] = ()) -> list[int]:
    """Return numbers of the visible streams whose type declares the property, or the one that all names of ``links`` name, or of any type.
    In a sub-query those of its own; in that of a filter, if there are none, also those of the statement that it belongs to.
    """
    path = links or (Name(name),)
    candidates = [(n, s.event_type) for n, s in enumerate(scope.streams) if s.visible and not s.group]
    numbers = [n for n, event_type in candidates if event_type.any_type or declares(event_type, path)]
    own = [n for n in numbers if not scope.streams[n].outer]
    return own or (numbers if scope.in_filter else [])


def stream_by_alias(name: str, scope: Scope) -> int | None:
    return next((n for n, s in enumerate(scope.streams) if s.visible and s.alias == name), None)


def stream_by_name(name: str, scope: Scope) -> int | None:
    """Return the stream's number by alias, else by the event type's name."""
    number = stream_by_alias(name, scope)
    if number is not None:
        return number
    return next((n for n, s in enumerate(scope.streams) if s.visible and s.event_type.name == name), None)


def stream_with_property(name: str, scope: Scope) -> int | None:
    """Return the stream that ``name.property`` is of: as in Esper the first one whose alias or event type has the name."""
    def has_name(stream: ScopeStream) -> bool:
        return stream.alias == name or (stream.event_type.name == name and not stream.group and stream.event_type.kind != "table")

    number = next((n for n, stream in enumerate(scope.streams) if stream.visible and has_name(stream)), None)
    return stream_by_name(name, scope) if number is None else number


def stream_value(number: int, scope: Scope) -> TypedExpression:
    """Return a stream's event, or the list of a group variable's events."""
    stream = scope.streams[number]
    if stream.value is not None:
        return stream.value
    return typed.stream_events(number, stream.event_type) if stream.group else typed.stream_event(number, stream.event_type)


def read_property(operand: TypedExpression, prop: Property, scope: Scope) -> TypedExpression:
    """Return a declared property of an event; primitive only where the event is there for certain."""
    whole = _whole_type(prop)
    event_type = value_event_type(operand)
    if event_type is not None and event_type.kind == "variant" and prop.name not in event_type.properties:
        return typed.DynamicProperty(type=whole.boxed, operand=operand, name=prop.name)
    if isinstance(operand, typed.StreamEvent):
        optional = scope.streams[operand.stream].optional
        return typed.StreamProperty(
            type=whole.boxed if optional else whole, stream=operand.stream, name=prop.name, optional=optional, computed=prop.computed)
    return typed.PropertyOf(type=whole.boxed, operand=operand, name=prop.name)


def _whole_type(prop: Property) -> ValueType:
    """Return an indexed or mapped bean property's type is that of one element; events give all of them as a list or dict."""
    if prop.indexed:
        return ArrayType(prop.type.boxed)
    return MapType(STRING, prop.type.boxed) if prop.mapped else prop.type


def value_event_type(value: TypedExpression) -> EventType | None:
    return value.type.event_type if isinstance(value.type, EventOf) else None


def is_integer(value_type: ValueType) -> bool:
    return isinstance(value_type, Scalar) and value_type.kind in SMALL_INTEGERS


# ------------------------------------------------------------------ names with dots


def find_dotted_property(event_type: EventType, links: Sequence[Link], at: int) -> tuple[Property, int] | None:
    """Return the property that all names from ``at`` on are the name of (``source.ip``), up to a call or the end, and their number.

    Esper looks for it before it looks for a nested property. Of a part of the names it is not: ``source.ip.x`` and ``source.ip[0]`` need
    ``source\\.ip``.
    """
    names: list[str] = []
    for link in links[at:]:
        if isinstance(link, Call):
            break
        if not isinstance(link, Name) or link.optional:
            return None
        names.append(link.name)
    prop = event_type.property(".".join(names)) if len(names) > 1 else None
    return None if prop is None else (prop, len(names))


def find_dotted_step(value: TypedExpression, links: Sequence[Link], at: int) -> tuple[Property, int] | None:
    """Return what ``find_dotted_property`` finds in the event that ``value`` is. Of an event that was computed Esper reads name by name."""
    event_type = value_event_type(value)
    return None if event_type is None or not _is_path(value) else find_dotted_property(event_type, links, at)


def _is_path(value: TypedExpression) -> bool:
    if isinstance(value, typed.PropertyOf) or (isinstance(value, typed.Element) and isinstance(value.index, typed.Constant)):
        return _is_path(value.operand)
    return isinstance(value, (typed.StreamEvent, typed.StreamEvents, typed.StreamProperty, typed.Local, typed.ContextValue))


def declares(event_type: EventType, links: Sequence[Link], at: int = 0) -> bool:
    """Return whether a path begins with a property of the type: the name at ``at``, or that and those after it as one name."""
    name = getattr(links[at], "name", "")
    return event_type.property(name) is not None or find_dotted_property(event_type, links, at) is not None


# ------------------------------------------------------------------ dynamic properties


def literal_key(link: Link) -> int | str | None:
    """Return the literal index or key of ``x[0]``, ``x(0)``, ``x('k')``; None where it is computed or there is not just one."""
    arguments = link.arguments if isinstance(link, (Call, Index)) else ()
    if len(arguments) == 1 and isinstance(arguments[0], syntax.Literal) and isinstance(arguments[0].value, (int, str)):
        return arguments[0].value
    return None


def is_dynamic_property(links: Sequence[Link], at: int) -> bool:
    """Return whether a dynamic property is written at ``at``: ``x?``, ``x('k')?``, ``x[0]?``."""
    link = links[at]
    if isinstance(link, (Name, Call)) and link.optional:
        return True
    after = links[at + 1] if at + 1 < len(links) else None
    return isinstance(link, Name) and isinstance(after, Index) and after.optional


def dynamic_step(operand: TypedExpression, links: Sequence[Link], at: int) -> tuple[TypedExpression, int]:
    """Return one dynamic property read from ``operand``; and the number of links it takes."""
    link = links[at]
    after = links[at + 1] if at + 1 < len(links) else None
    if isinstance(link, Call):
        return _dynamic(operand, link.name, literal_key(link)), 1
    assert isinstance(link, Name)
    if isinstance(after, Index):
        return _dynamic(operand, link.name, literal_key(after)), 2
    return _dynamic(operand, link.name, None), 1


def _dynamic(operand: TypedExpression, name: str, at: int | str | None) -> TypedExpression:
    return typed.DynamicProperty(
        type=OBJECT, operand=operand, name=name, index=at if isinstance(at, int) else None, key=at if isinstance(at, str) else None)


# ------------------------------------------------------------------ indexes and keys


def at_index(operand: TypedExpression, link: Index, scope: Scope, name: str | None) -> TypedExpression:
    """Return ``operand[index]``; ``name`` is the property's, for refusals, where the operand is a top-level property."""
    shown = f"event type '{operand.type}'" if isinstance(operand.type, EventOf) else str(operand.type)
    place = f"for property '{name}'" if name is not None else f"for operation on type {shown}"
    if not isinstance(operand.type, ArrayType):
        raise EplValidationError(
            f"Invalid array operation for property '{name}'" if name else f"Could not perform array operation on type {shown}")
    if len(link.arguments) != 1:
        raise EplValidationError(
            "Incorrect number of index expressions for array operation, expected a single expression returning an integer value "
            f"but received {len(link.arguments)} expressions {place}")
    index = bind(link.arguments[0], scope)
    if not is_integer(index.type):
        raise EplValidationError(
            "Incorrect index expression for array operation, expected an expression returning an integer value "
            f"but the expression '{expression_text(link.arguments[0])}' returns '{index.type.boxed}' {place}")
    return typed.Element(type=operand.type.element.boxed, operand=operand, index=index)


def bind_key_access(operand: TypedExpression, argument: syntax.Expression, scope: Scope) -> TypedExpression | None:
    """Return ``p(0)``, ``p('k')`` on an array or map; None where the value takes no such key."""
    key = bind(argument, scope)
    if isinstance(operand.type, ArrayType) and is_integer(key.type):
        return typed.Element(type=operand.type.element.boxed, operand=operand, index=key)
    if isinstance(operand.type, MapType) and key.type == STRING:
        return typed.MapValue(type=operand.type.value.boxed, operand=operand, key=key)
    return None


def is_iterable(value_type: ValueType) -> bool:
    """Return whether enumeration methods apply."""
    return isinstance(value_type, (ArrayType, CollectionType))
