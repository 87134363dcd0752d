"""How Esper makes two types one: names of types in its refusals, common types, Convert nodes."""
from __future__ import annotations

from collections.abc import Sequence

from epl import java
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType
from epl.plan.expressions import Constant, Convert, Parameter, TypedExpression
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    ArrayType,
    ClassType,
    CollectionType,
    MapType,
    Scalar,
    ValueType,
    is_null,
    is_numeric,
)

FULL_NAMES = {
    "Date": "java.util.Date", "Calendar": "java.util.Calendar", "BigInteger": "java.math.BigInteger", "BigDecimal": "java.math.BigDecimal",
    "LocalDateTime": "java.time.LocalDateTime", "LocalDate": "java.time.LocalDate", "LocalTime": "java.time.LocalTime",
    "ZonedDateTime": "java.time.ZonedDateTime", "OffsetDateTime": "java.time.OffsetDateTime",
}
"""Names in messages are full, but for java.lang."""

MAP_KINDS = ("map", "row")
EVENT_CLASSES = {"map": "java.util.Map<String,Object>", "row": "java.util.Map<String,Object>", "objectarray": "Object[]",
                 "table": "Object[]"}


def type_name(value_type: ValueType) -> str:
    """Return the type as Esper's messages print it: full class names outside java.lang."""
    match value_type:
        case Scalar() if value_type.kind in ("BigInteger", "BigDecimal"):
            return value_type.kind
        case Scalar():
            return FULL_NAMES.get(value_type.kind, str(value_type))
        case ArrayType(element=element):
            return f"{type_name(element)}[]"
        case CollectionType(element=element, kind=kind):
            full = f"java.util.{kind}" if "." not in kind else kind
            return full if element == OBJECT else f"{full}<{type_name(element)}>"
        case MapType(key=key, value=value):
            return "java.util.Map" if key == value == OBJECT else f"java.util.Map<{type_name(key)},{type_name(value)}>"
        case EventOf(event_type=event_type):
            return EVENT_CLASSES.get(event_type.kind, event_type.name)
    return str(value_type)


def message_type(expression: TypedExpression) -> ValueType:
    """Return the type that messages show: Esper boxes every expression but literals."""
    return expression.type if isinstance(expression, Constant) else expression.type.boxed


def message_type_name(expression: TypedExpression) -> str:
    return type_name(message_type(expression))


def wrapper_name(expression: TypedExpression) -> str:
    return type_name(expression.type.boxed)


# ------------------------------------------------------------------ common types

PLAIN = ("String", "boolean", "char")
_RANKS = {
    "byte": INT, "short": INT, "int": INT, "long": LONG, "float": FLOAT, "double": DOUBLE,
    "BigInteger": BIG_INTEGER, "BigDecimal": BIG_DECIMAL,
}


def arithmetic_type(left: ValueType, right: ValueType) -> Scalar:
    """Return the type that Esper computes in. A float with any other number is a double; BigInteger with a floating-point number is
    BigDecimal.

    Both operands are numeric. ``Number`` (sums of unknown) computes as double.
    """
    kinds = {_RANKS.get(t.kind, DOUBLE) for t in (left, right) if isinstance(t, Scalar)}
    if BIG_DECIMAL in kinds:
        return BIG_DECIMAL
    if BIG_INTEGER in kinds:
        return BIG_DECIMAL if kinds & {FLOAT, DOUBLE} else BIG_INTEGER
    if FLOAT in kinds or DOUBLE in kinds:
        return FLOAT if kinds == {FLOAT} else DOUBLE
    return LONG if LONG in kinds else INT


def comparison_type(left: ValueType, right: ValueType) -> Scalar:
    """Return the type as for arithmetic, but equal types stay."""
    if left.boxed == right.boxed and isinstance(left, Scalar):
        return left.boxed
    return arithmetic_type(left, right).boxed


def common_type(types: Sequence[ValueType]) -> ValueType:
    """Return the type of coalesce, case, min / max and arrays: equal types stay, numbers widen, nulls are passed over.

    Raises EplValidationError in Esper's words.
    """
    seen = [t for t in types if not is_null(t)]
    if not seen:
        return NULL
    first = seen[0]
    if all(t.boxed == first.boxed for t in seen):
        return first.boxed
    structures = [t.event_type for t in seen if isinstance(t, EventOf) and t.event_type.kind == "struct"]
    if len(structures) == len(seen):
        return EventOf(_merge_structures(structures))
    if isinstance(first, EventOf) and all(isinstance(t, EventOf) for t in seen):
        return _common_event_type([t for t in seen if isinstance(t, EventOf)])
    if isinstance(first, Scalar) and first.kind in PLAIN:
        raise EplValidationError(cannot_coerce(first, next(t for t in seen if t.boxed != first.boxed)))
    if isinstance(first, ArrayType):
        return _common_array(first, seen)
    if not all(map(is_builtin, seen)):
        return _common_class(seen)
    result: ValueType = first
    for other in seen[1:]:
        if not is_numeric(other):
            raise EplValidationError(
                f"Implicit conversion not allowed: Cannot coerce types {type_name(result.boxed)} and "
                f"{type_name(other.boxed)}")
        result = comparison_type(result, other)
    return result.boxed


def _common_array(first: ArrayType, types: Sequence[ValueType]) -> ValueType:
    """Return an array of objects for arrays of several kinds of them; no other value goes with an array, nor do arrays of primitive
    values."""
    other = next((t for t in types if t.boxed != first.boxed and not (_holds_objects(first) and _holds_objects(t))), None)
    if other is not None:
        raise EplValidationError(cannot_coerce(first, other))
    return ArrayType(OBJECT)


def _holds_objects(array: ValueType) -> bool:
    return isinstance(array, ArrayType) and not (isinstance(array.element, Scalar) and array.element != array.element.boxed)


def _common_class(types: Sequence[ValueType]) -> ValueType:
    """Object for values of which some are of classes: text, truth values and numbers must then be of the first one's type."""
    other = next((t for t in types if is_builtin(t) and t.boxed != types[0].boxed), None)
    if other is not None:
        raise EplValidationError(cannot_coerce(types[0], other))
    return OBJECT


def cannot_coerce(first: ValueType, other: ValueType) -> str:
    """Return Esper's sentence about a value of another kind than the first; it says Boolean for char, and boxes the other but beside
    text."""
    shown_first = "Boolean" if isinstance(first, Scalar) and first.kind in ("boolean", "char") else type_name(first)
    return f"Implicit conversion not allowed: Cannot coerce to {shown_first} type {type_name(other if first == STRING else other.boxed)}"


def _merge_structures(structures: Sequence[EventType]) -> EventType:
    """Return the type of structures made by ``new { … }``: of columns of the same names and types; a null takes the type of the first."""
    first = structures[0]
    for number, other in enumerate(structures[1:], 1):
        place = f"case-when number {number}"
        refusal = f"Incompatible case-when return types by new-operator in {place}: Type by name '{place.capitalize()}'"
        if len(other.names) != len(first.names):
            raise EplValidationError(
                f"{refusal} expects {len(first.names)} properties but receives {len(other.names)} properties"
            )
        for name, prop in other.properties.items():
            expected = first.property(name)
            if expected is None:
                raise EplValidationError(f"{refusal} in property '{name}' property name not found in target")
            if is_null(expected.type) and not is_null(prop.type):
                raise EplValidationError(f"{refusal} in property '{name}' expects a null-value but receives '{type_name(prop.type)}'")
            if not is_null(prop.type) and prop.type.boxed != expected.type.boxed:
                raise EplValidationError(
                    f"{refusal} in property '{name}' expected {type_name(expected.type.boxed)} but receives {type_name(prop.type.boxed)}"
                )
    return first


def _common_event_type(types: Sequence[EventOf]) -> ValueType:
    for candidate in types[0].event_type.lineage():
        if all(t.event_type.is_a(candidate) for t in types):
            return EventOf(candidate)
    if all(t.event_type.kind == "map" for t in types):
        raise EplUnsupportedError(f"Events of the types {types[0]} and {types[-1]} as one value are not supported")
    raise EplValidationError(
        f"Implicit conversion not allowed: Cannot coerce to {types[0]} type "
        f"{next(t for t in types if t.event_type is not types[0].event_type)}")


def convert(expression: TypedExpression, target: ValueType, *, whole: bool = False) -> TypedExpression:
    """Return ``expression`` as ``target``: itself where the kinds are equal, folded where it is constant, else under a Convert node that
    keeps nullability.

    ``whole``: a float or double becomes a big number by its whole part only, as Esper has it in lists and arrays.
    """
    source = expression.type
    if not isinstance(target, Scalar) or not is_numeric(target):
        return expression
    if is_null(source):
        return Constant(type=target.boxed, value=None)
    if not isinstance(source, Scalar) or source.kind == target.kind or target.kind == "Number":
        return expression
    result_type = Scalar(target.kind, primitive=source.primitive and target.kind not in ("BigInteger", "BigDecimal"))
    if whole and source.kind in ("float", "double") and target.kind == "BigDecimal":
        expression = convert(expression, LONG)
        source = LONG
    if isinstance(expression, Constant):
        value = None if expression.value is None else java.converter(source.kind, target.kind)(expression.value)
        return Constant(type=result_type, value=value, written=expression.written or source)
    return Convert(type=result_type, operand=expression)


def require_numeric(expression: TypedExpression) -> None:
    """Refuse anything but numbers, in Esper's words; an untyped parameter passes."""
    if (not is_numeric(expression.type) or expression.type == NUMBER) and not is_untyped_parameter(expression):
        raise EplValidationError(f"Implicit conversion from datatype '{wrapper_name(expression)}' to numeric is not allowed")


def is_untyped_parameter(expression: TypedExpression) -> bool:
    return isinstance(expression, Parameter) and expression.type == OBJECT


def is_builtin(value_type: ValueType) -> bool:
    """Return whether values are text, truth values or numbers of a known kind, or arrays of these; all else is of a class to Esper."""
    if isinstance(value_type, ArrayType):
        return is_builtin(value_type.element)
    return isinstance(value_type, Scalar) and value_type != NUMBER and (is_numeric(value_type) or value_type.kind in PLAIN)


def is_array(value_type: ValueType) -> bool:
    return isinstance(value_type, ArrayType)


def is_opaque(value_type: ValueType) -> bool:
    """Return whether the type is Object or a class known by name only, whose values may be anything."""
    return value_type == OBJECT or isinstance(value_type, ClassType)

