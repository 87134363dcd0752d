"""case, cast, instanceof, exists, arrays, structures, time: the nodes that are neither operators nor chains."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.expressions import calls
from epl.analysis.expressions.binding import bind, bind_node, bind_subquery
from epl.analysis.expressions.conversions import (
    common_type,
    convert,
    message_type_name,
    type_name,
    wrapper_name,
)
from epl.analysis.expressions.operators import same_values
from epl.analysis.expressions.paths import is_integer, stream_by_alias, stream_value
from epl.analysis.expressions.scope import Scope
from epl.analysis.names.remedies import property_type
from epl.analysis.names.type_names import resolve_type_name
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.functions.casts import date_cast_key
from epl.java_classes import is_java_class
from epl.plan import expressions as typed
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.stores.tables import TableValue
from epl.syntax import expressions as syntax
from epl.unparse import quote_expression
from epl.value_types import (
    BOOLEAN,
    BOXED_CHAR,
    BOXED_NAMES,
    DOUBLE,
    LONG,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    ArrayType,
    ClassType,
    Scalar,
    ValueType,
    is_boolean,
    is_null,
    is_numeric,
)

# ------------------------------------------------------------------ case


@bind_node.register
def bind_case(node: syntax.Case, scope: Scope) -> TypedExpression:
    operand = bind(node.operand, scope) if node.operand is not None else None
    conditions = [_condition(operand, bind(when, scope)) for when, _ in node.whens]
    values = [bind(then, scope) for _, then in node.whens]
    otherwise = bind(node.otherwise, scope) if node.otherwise is not None else None
    types = [v.type for v in (*values, *([otherwise] if otherwise is not None else []))]
    _check_structures(types, len(values))
    target = common_type(types)
    if is_null(target):
        raise EplValidationError("Null-type return value is not allowed", span=node.span)
    return typed.Conditional(
        type=target.boxed, pairs=tuple((c, convert(v, target)) for c, v in zip(conditions, values)),
        otherwise=convert(otherwise, target) if otherwise is not None else None)


def _check_structures(types: Sequence[ValueType], whens: int) -> None:
    """Refuse values that are mixed: if one is made by ``new { … }`` all must be; null is no such value (it comes of an else that is not
    written)."""
    structures = [isinstance(t, EventOf) and t.event_type.kind == "struct" for t in types]
    if not any(structures) or all(structures):
        return
    place = structures.index(False)
    where = f", check when-condition number {place}" if place < whens else ", check the else-condition"
    raise EplValidationError(
        "Case node 'when' expressions require that all results either return a single value or a Map-type (new-operator) value"
        + ("" if is_null(types[place]) else where)
    )


def _condition(operand: TypedExpression | None, when: TypedExpression) -> TypedExpression:
    if operand is None:
        if not is_boolean(when.type):
            raise EplValidationError("Case node 'when' expressions must return a boolean value")
        return when
    common_type([operand.type, when.type])
    return same_values(operand, when, null_safe=True)


# ------------------------------------------------------------------ cast, instanceof, typeof, exists


NO_CLASSES = (
    "number", "object", "null", "date", "calendar", "localdatetime", "localdate", "localtime", "zoneddatetime", "offsetdatetime",
    "LocalDateTime", "LocalDate", "LocalTime", "ZonedDateTime", "OffsetDateTime",
)
"""Names of types elsewhere in the language that cast and instanceof do not know (dates only with a dateformat)."""
CASTS = ("byte", "short", "int", "long", "float", "double", "BigInteger", "BigDecimal", "boolean", "char", "String")


INSTANCE_NAMES = ("byte", "short", "int", "long", "float", "double", "boolean", "char", "string")
"""Simple names that instanceof knows, in any case; other classes are named in full."""
INTERFACES = ("Comparable", "CharSequence")
"""Interfaces of java.lang that cast knows by their simple names."""


def resolve_class(written: syntax.TypeName, scope: Scope, function: str, verb: str) -> ValueType:
    """Return the type named in cast or instanceof; refuse unknown names as Esper does, event types that are not classes among them."""
    value_type = resolve_type_name(written, scope.catalog.event_types, enums=scope.catalog.enums)
    element = value_type
    while isinstance(element, ArrayType):
        element = element.element
    is_class = isinstance(element, EventOf) and element.event_type.kind == "bean"
    if function == "cast" and written.name in INTERFACES:
        value_type = ClassType(written.name)
    elif not is_class and (isinstance(element, EventOf) or (function == "instanceof" and not _is_loadable(written))):
        value_type = None
    if value_type is None or written.name in NO_CLASSES:
        message = f"Class as listed in {function} function by name '{written.name}' cannot be {verb}"
        raise EplValidationError(message, span=written.span, hint=property_type(written.name))
    return value_type


def _is_loadable(written: syntax.TypeName) -> bool:
    """Return whether instanceof looks for the class: one named in full, or by a primitive's name."""
    name = written.name
    return not written.dimensions and ("." in name or "$" in name or name.lower() in INSTANCE_NAMES)


@bind_node.register
def bind_cast(node: syntax.Cast, scope: Scope) -> TypedExpression:
    value = bind(node.value, scope)
    if node.arguments:
        return bind_date_cast(node, value, scope)
    target = resolve_class(node.type_name, scope, "cast", "found")
    is_character = target.boxed == BOXED_CHAR and node.type_name.name.lower() != "char"
    if is_null(value.type) or (is_character and value.type.boxed != BOXED_CHAR):  # text is cast to char, but is not a Character
        return Constant(type=target.boxed, value=None)
    if isinstance(target, Scalar) and target.kind in CASTS:
        primitive = is_numeric(value.type) and not value.type.nullable and is_numeric(target) and target.kind in BOXED_NAMES
        return typed.Cast(type=Scalar(target.kind, primitive=primitive), operand=value)
    return typed.Cast(type=target, operand=value)


def bind_date_cast(node: syntax.Cast, value: TypedExpression, scope: Scope) -> TypedExpression:
    """Bind ``cast(text, date, dateformat: 'pattern')`` through the functions of dates."""
    for argument in node.arguments:
        if not isinstance(argument, syntax.NamedArgument) or argument.name.lower() != "dateformat":
            name = argument.name if isinstance(argument, syntax.NamedArgument) else ""
            raise EplValidationError(f"Unexpected named parameter '{name}', expecting any of the following: [dateformat]", span=node.span)
    target = resolve_type_name(node.type_name, scope.catalog.event_types)
    if target is None:
        raise EplValidationError(
            f"Class as listed in cast function by name '{node.type_name.name}' cannot be found", span=node.span,
            hint=property_type(node.type_name.name))
    try:
        spec = scope.catalog.functions.single_row[date_cast_key(target)]
    except ValueError as refusal:
        raise EplValidationError(str(refusal), span=node.span) from None
    format_argument = node.arguments[0]
    assert isinstance(format_argument, syntax.NamedArgument)
    operands = (value, bind(format_argument.value, scope))
    bound = calls.try_bind(spec, operands)
    assert bound is not None
    return typed.Invoke(
        type=bound.type, function=spec.key, arguments=operands, bound=bound.constants, null_propagates=bound.null_propagates)


@bind_node.register
def bind_instanceof(node: syntax.InstanceOf, scope: Scope) -> TypedExpression:
    value = bind(node.value, scope)
    targets = tuple(resolve_class(t, scope, "instanceof", "loaded") for t in node.type_names)
    return typed.TypeTest(type=BOOLEAN, operand=value, targets=targets)


@bind_node.register
def bind_typeof(node: syntax.TypeOf, scope: Scope) -> TypedExpression:
    operand = _stream_before_property(node.value, bind(node.value, scope), scope)
    if isinstance(operand, TableValue):
        operand = attrs.evolve(operand, or_nulls=False)
    return typed.TypeNameOf(type=STRING, operand=operand)


def _stream_before_property(node: syntax.Expression, value: TypedExpression, scope: Scope) -> TypedExpression:
    """Return the event of a stream whose alias is written alone, where a property of that name was taken for it."""
    name = node.links[0] if isinstance(node, syntax.Chain) and len(node.links) == 1 else None
    if not isinstance(name, syntax.Name) or not isinstance(value, (typed.StreamProperty, typed.DynamicProperty)):
        return value
    number = stream_by_alias(name.name, scope)
    return value if number is None else stream_value(number, scope)


@bind_node.register
def bind_exists(node: syntax.Exists, scope: Scope) -> TypedExpression:
    """Bind exists as Esper does: a declared property of a stream always exists. Below it what holds events exists where its owner is there,
    anything else where it was sent: an element whose index is in range, a key that the map has, a property of an event, dynamic or not.
    """
    value = bind(node.value, scope)
    if isinstance(value, (typed.StreamProperty, typed.StreamEvent)):
        return Constant(type=BOOLEAN, value=True)
    if isinstance(value, typed.DynamicProperty):
        return typed.DynamicExists(type=BOOLEAN, operand=value.operand, name=value.name, index=value.index, key=value.key)
    if isinstance(value, typed.PropertyOf):
        if isinstance(value.type, EventOf) or (isinstance(value.type, ArrayType) and isinstance(value.type.element, EventOf)):
            return _is_there(value.operand)
        return typed.DynamicExists(type=BOOLEAN, operand=value.operand, name=value.name)
    if isinstance(value, (typed.Element, typed.MapValue)):
        return _element_exists(value, scope)
    raise EplValidationError("Exists function requires an property value expression as the only parameter", span=node.span)


def _element_exists(value: typed.Element | typed.MapValue, scope: Scope) -> TypedExpression:
    """``exists(p[0])``, ``exists(p('k'))``; an element that is an event of a map or object array exists where the array's owner does."""
    at = value.index if isinstance(value, typed.Element) else value.key
    holder = value.operand
    if isinstance(holder, typed.StreamProperty):
        owner = stream_value(holder.stream, scope)
    elif isinstance(holder, typed.PropertyOf):
        owner = holder.operand
    else:
        return _is_there(value)
    if isinstance(value.type, EventOf) and value.type.event_type.kind in ("map", "objectarray"):
        return Constant(type=BOOLEAN, value=True) if isinstance(holder, typed.StreamProperty) else _is_there(owner)
    if not isinstance(at, Constant):
        return _is_there(value)
    if isinstance(value, typed.Element):
        return typed.DynamicExists(type=BOOLEAN, operand=owner, name=holder.name, index=at.value)
    return typed.DynamicExists(type=BOOLEAN, operand=owner, name=holder.name, key=at.value)


def _is_there(value: TypedExpression) -> TypedExpression:
    return typed.Equality(type=BOOLEAN, left=value, right=Constant(type=NULL, value=None), negated=True, null_safe=True)


# ------------------------------------------------------------------ arrays, structures


@bind_node.register
def bind_array_literal(node: syntax.ArrayLiteral, scope: Scope) -> TypedExpression:
    items = [bind(i, scope) for i in node.items]
    try:
        element = common_type([i.type for i in items])
    except EplValidationError:
        element = OBJECT
    if is_null(element):
        element = OBJECT
    return typed.NewArrayOf(type=ArrayType(element.boxed), items=tuple(convert(i, element, whole=True) for i in items))


@bind_node.register
def bind_new_array(node: syntax.NewArray, scope: Scope) -> TypedExpression:
    element = resolve_type_name(attrs.evolve(node.type_name, dimensions=0), scope.catalog.event_types, boxed=False)
    if element is None:
        raise EplValidationError(f"Failed to resolve type parameter '{node.type_name.name}'", span=node.span)
    if node.initializer is not None:
        dimensions = max(node.type_name.dimensions, len(node.sizes), 1)
        return _bind_initializer(node.initializer, _array_type(element, dimensions), scope)
    sizes = tuple(bind(s, scope) for s in node.sizes if s is not None)
    for size in sizes:
        if not (isinstance(size.type, Scalar) and size.type.kind in ("byte", "short", "int")):
            raise EplValidationError(
                f"New-keyword with an array-type result requires an Integer-typed dimension but received "
                f"type '{wrapper_name(size)}'",
                                     span=node.span)
    return typed.NewArraySized(type=_array_type(element, len(node.sizes)), sizes=sizes)


def _array_type(element: ValueType, dimensions: int) -> ValueType:
    for _ in range(dimensions):
        element = ArrayType(element)
    return element


def _bind_initializer(node: syntax.ArrayLiteral, target: ValueType, scope: Scope) -> TypedExpression:
    assert isinstance(target, ArrayType)
    items: list[TypedExpression] = []
    for written in node.items:
        if isinstance(target.element, ArrayType) and isinstance(written, syntax.ArrayLiteral):
            items.append(_bind_initializer(written, target.element, scope))
            continue
        item = bind(written, scope)
        if isinstance(target.element, ArrayType):
            raise EplValidationError(f"Two-dimensional array element does not allow element expression {quote_expression(written)}",
                span=node.span)
        items.append(_fit(item, target.element))
    return typed.NewArrayOf(type=target, items=tuple(items))


ARRAY_RANKS = ("byte", "short", "int", "long", "float", "double")
"""The numbers that widen in an array, narrowest first."""
NEVER_NULL = ("byte", "short", "long", "float", "double", "boolean")
"""The kinds whose boxed name is the primitive's in other case: Esper takes the one for the other, so that null is not an element."""


def _fit(item: TypedExpression, element: ValueType) -> TypedExpression:
    """Return an item as the array's element: numbers may widen, nothing narrows."""
    if is_null(item.type):
        if isinstance(element, Scalar) and (element.primitive or element.kind in NEVER_NULL):
            raise EplValidationError(f"Array element type mismatch: Expecting type {element.kind} but received null")
        return item
    if element == OBJECT or item.type.boxed == element.boxed or (element == NUMBER and is_numeric(item.type)):
        return item
    kinds = [t.kind for t in (item.type, element) if isinstance(t, Scalar)]
    if len(kinds) == 2 and all(kind in ARRAY_RANKS for kind in kinds) and ARRAY_RANKS.index(kinds[0]) <= ARRAY_RANKS.index(kinds[1]):
        return convert(item, element.boxed)
    if len(kinds) == 2 and kinds[0] == "char" and kinds[1] in ARRAY_RANKS[2:]:
        raise EplUnsupportedError("A char as a number of an array is not supported")
    raise EplValidationError(
        f"Array element type mismatch: Expecting type {type_name(element)} but received type {message_type_name(item)}")


@bind_node.register
def bind_new_struct(node: syntax.NewStruct, scope: Scope) -> TypedExpression:
    columns: dict[str, TypedExpression] = {}
    for name, value in node.columns:
        if name in columns:
            raise EplValidationError(
                f"Failed to validate new-keyword property names, property '{name}' has already been "
                "declared", span=node.span)
        columns[name] = bind(value if value is not None else syntax.Chain(links=(syntax.Name(name=name),), span=node.span), scope)
    properties = {n: Property(n, v.type.boxed) for n, v in columns.items()}
    event_type = EventType(name=f"new{{{','.join(columns)}}}", kind="struct", properties=properties)
    return typed.NewStructOf(type=EventOf(event_type), event_type=event_type, values=tuple(columns.values()))


@bind_node.register
def bind_new_instance(node: syntax.NewInstance, scope: Scope) -> TypedExpression:
    name = node.type_name.name
    is_imported = any(i.rsplit(".", 1)[-1] in (name, "*") for i in scope.catalog.imports)
    if not (is_java_class(name) or is_imported or ("." in name and not name.startswith("java."))):
        raise EplValidationError(f"Failed to resolve type parameter '{name}'", span=node.span)
    raise EplUnsupportedError(f"new {name}(…) makes a Java object and is not supported", span=node.span)


# ------------------------------------------------------------------ parameters, time, the rest


@bind_node.register
def bind_parameter(node: syntax.SubstitutionParameter, scope: Scope) -> TypedExpression:
    """Bind a substitution parameter; without a type a parameter is an Object."""
    written = resolve_type_name(node.type_name, scope.catalog.event_types) if node.type_name is not None else OBJECT
    if written is None:
        assert node.type_name is not None
        raise EplValidationError(f"Invalid substitution parameter type '{node.type_name.name}'", span=node.span)
    key = node.name if node.name is not None else node.number
    assert key is not None, "epl.analysis.statements.substitution_parameters numbers a statement's parameters first"
    return typed.Parameter(type=written, key=key)


@bind_node.register
def bind_current_timestamp(node: syntax.CurrentTimestamp, scope: Scope) -> TypedExpression:
    return typed.CurrentTime(type=LONG)


@bind_node.register
def bind_time_period(node: syntax.TimePeriod, scope: Scope) -> TypedExpression:
    parts: list[tuple[str, TypedExpression]] = []
    for unit, written in node.parts:
        value = bind(written, scope)
        if not is_numeric(value.type) and not (value.type == OBJECT and isinstance(value, typed.Parameter)):
            raise EplValidationError("Time period expression requires a numeric parameter type", span=node.span)
        parts.append((unit, value))
    fractions = [v for _, v in parts if is_numeric(v.type) and not is_integer(v.type)]
    if fractions and any(unit in ("year", "month") for unit, _ in parts):
        raise EplValidationError(
            "Time period expressions with month or year component require integer values, received a "
            f"{type_name(fractions[0].type)} value", span=node.span)
    return typed.TimeSpan(type=DOUBLE.boxed, parts=tuple(parts))


@bind_node.register
def bind_subquery_value(node: syntax.Subquery, scope: Scope) -> TypedExpression:
    return bind_subquery(node, scope, "exists" if node.exists else "value")


@bind_node.register
def bind_lambda(node: syntax.Lambda, scope: Scope) -> TypedExpression:
    raise EplValidationError("Unrecognized lambda-expression encountered", span=node.span)


@bind_node.register
def bind_named_argument(node: syntax.NamedArgument, scope: Scope) -> TypedExpression:
    raise EplValidationError("Named parameters are not allowed", span=node.span)


