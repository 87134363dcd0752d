"""Operators: literals, arithmetic, text, comparison, logic. Rules and refusals are Esper 9.0.0's (suite expr, classes ExprCore*)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl import java
from epl.analysis.expressions.binding import StatementRefusal, bind, bind_node, bind_subquery
from epl.analysis.expressions.conversions import (
    PLAIN,
    arithmetic_type,
    cannot_coerce,
    comparison_type,
    convert,
    is_array,
    is_builtin,
    is_opaque,
    is_untyped_parameter,
    message_type,
    require_numeric,
    wrapper_name,
)
from epl.analysis.expressions.scope import Scope
from epl.errors import EplRuntimeError, EplUnsupportedError, EplValidationError
from epl.event_types import EventOf
from epl.functions.java_regex import UnsupportedPattern
from epl.functions.java_values import JavaException
from epl.functions.like import like_pattern
from epl.functions.patterns import java_pattern
from epl.plan import expressions as typed
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.stores.tables import TableValue
from epl.syntax import expressions as syntax
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOOLEAN,
    BOXED_BOOLEAN,
    BYTE,
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
    EnumType,
    MapType,
    Scalar,
    ValueType,
    is_boolean,
    is_null,
    is_numeric,
)

LITERAL_TYPES: dict[str, ValueType] = {
    "null": NULL, "boolean": BOOLEAN, "byte": BYTE, "int": INT, "long": LONG, "float": FLOAT, "double": DOUBLE, "string": STRING,
}


@bind_node.register
def bind_literal(node: syntax.Literal, scope: Scope) -> TypedExpression:
    value = java.to_float(node.value) if node.kind == "float" and isinstance(node.value, (int, float)) else node.value
    return Constant(type=LITERAL_TYPES[node.kind], value=value)


def truth(*operands: TypedExpression) -> Scalar:
    """Return boolean where no operand can be null, else Boolean."""
    return BOXED_BOOLEAN if any(o.type.nullable for o in operands) else BOOLEAN


# ------------------------------------------------------------------ arithmetic


@bind_node.register
def bind_unary(node: syntax.Unary, scope: Scope) -> TypedExpression:
    operand = bind(node.operand, scope)
    if node.operator == "not":
        if not is_boolean(operand.type):
            raise EplValidationError("Incorrect use of NOT clause, sub-expressions do not return boolean", span=node.span)
        return typed.Not(type=operand.type, operand=operand)
    if isinstance(operand, Constant) and isinstance(operand.type, Scalar) and is_numeric(operand.type):
        return Constant(type=operand.type, value=java.negate(operand.value, operand.type.kind))
    return arithmetic("*", Constant(type=INT, value=-1), operand, scope)  # so does Esper: -x of a float is a double


@bind_node.register
def bind_binary(node: syntax.Binary, scope: Scope) -> TypedExpression:
    left, right = bind(node.left, scope), bind(node.right, scope)
    if node.operator == "||":
        return concatenation(left, right)
    if node.operator in ("&", "|", "^"):
        return bitwise(node.operator, left, right)
    return arithmetic(node.operator, left, right, scope)


def arithmetic(operator: Any, left: TypedExpression, right: TypedExpression, scope: Scope) -> TypedExpression:
    """Return ``left operator right`` of two numbers, in the type that Esper computes in."""
    require_numeric(left)
    require_numeric(right)
    settings = scope.catalog.settings
    computed = arithmetic_type(left.type, right.type)
    if operator == "/" and computed != BIG_DECIMAL and not settings.integer_division:
        computed = DOUBLE
    may_be_null = left.type.nullable or right.type.nullable or computed in (BIG_DECIMAL, BIG_INTEGER)
    null_by_zero = operator == "/" and (settings.division_by_zero_returns_null or computed in (INT, LONG))
    return typed.Arithmetic(
        type=computed.boxed if may_be_null or null_by_zero else computed, operator=operator,
        left=convert(left, computed), right=convert(right, computed),
        zero_division_null=operator == "/" and settings.division_by_zero_returns_null,
        math_context=settings.math_context if operator == "/" else None,
    )


def bitwise(operator: Any, left: TypedExpression, right: TypedExpression) -> TypedExpression:
    for side in (left, right):
        if not is_numeric(side.type) and not is_boolean(side.type):
            raise EplValidationError(f"Invalid datatype for binary operator, {wrapper_name(side)} is not allowed")
    kinds = [side.type.kind for side in (left, right) if isinstance(side.type, Scalar)]
    if any(k in ("float", "double", "Number") for k in kinds):
        raise EplValidationError(f"Invalid type for bitwise {operator} operator")
    if kinds[0] != kinds[1]:
        raise EplValidationError(f"Bitwise expressions must be of the same type for bitwise {operator} operator")
    if kinds[0] in ("BigInteger", "BigDecimal"):
        raise StatementRefusal(f"Expected base numeric or boolean type for computation result but got type class java.math.{kinds[0]}")
    result = left.type if not left.type.nullable and not right.type.nullable else left.type.boxed
    return typed.Bitwise(type=result, operator=operator, left=left, right=right)


def concatenation(left: TypedExpression, right: TypedExpression) -> TypedExpression:
    """Bind a concatenation: ``a || b || c`` is one node; anything but text is refused, as by Esper."""
    for side in (left, right):
        if side.type != STRING:
            raise EplValidationError(f"Implicit conversion from datatype '{wrapper_name(side)}' to string is not allowed")
    parts = left.parts if isinstance(left, typed.Concatenation) else (left,)
    return typed.Concatenation(type=STRING, parts=(*parts, right))


# ------------------------------------------------------------------ comparison


@bind_node.register
def bind_logical(node: syntax.Logical, scope: Scope) -> TypedExpression:
    operands = tuple(bind(o, scope) for o in node.operands)
    if not all(is_boolean(o.type) for o in operands):
        raise EplValidationError(f"Incorrect use of {node.operator.upper()} clause, sub-expressions do not return boolean", span=node.span)
    return typed.Logic(type=truth(*operands), operator=node.operator, operands=operands)


@bind_node.register
def bind_comparison(node: syntax.Comparison, scope: Scope) -> TypedExpression:
    left, right = bind(node.left, scope), bind(node.right, scope)
    if node.operator in ("<", "<=", ">", ">="):
        return order(node.operator, left, right)
    return equality(left, right, negated=node.operator in ("!=", "is not"), null_safe=node.operator in ("is", "is not"))


def order(operator: Any, left: TypedExpression, right: TypedExpression) -> TypedExpression:
    if left.type == STRING and right.type == STRING:
        return typed.Order(type=truth(left, right), operator=operator, left=left, right=right)
    _require_ordered(left)
    _require_ordered(right)
    for side in (left, right):
        require_numeric(side)
    target = comparison_type(left.type, right.type)
    return typed.Order(type=truth(left, right), operator=operator, left=convert(left, target), right=convert(right, target))


def _require_ordered(side: TypedExpression) -> None:
    if is_null(side.type):
        raise EplValidationError("Null-type value is not allow for relational operator")
    if side.type != STRING:
        require_numeric(side)


def equality(left: TypedExpression, right: TypedExpression, *, negated: bool = False, null_safe: bool = False) -> TypedExpression:
    """Bind ``=``, ``!=``, ``is``, ``is not``; numbers are compared in their common type, with Java's ``equals``."""
    if not (is_untyped_parameter(left) or is_untyped_parameter(right) or equatable(left.type, right.type)):
        raise EplValidationError(_not_equatable(left, right), hint=_opaque_hint(left, right))
    return same_values(left, right, negated=negated, null_safe=null_safe)


def same_values(left: TypedExpression, right: TypedExpression, *, negated: bool = False, null_safe: bool = False) -> TypedExpression:
    """Return the comparison of ``equality`` for values whose types were checked already."""
    left, right = (attrs.evolve(side, or_nulls=False) if isinstance(side, TableValue) else side for side in (left, right))
    if is_numeric(left.type) and is_numeric(right.type) and NUMBER not in (left.type, right.type):
        target = comparison_type(left.type, right.type)
        left, right = convert(left, target), convert(right, target)
    return typed.Equality(
        type=BOOLEAN if null_safe else truth(left, right), left=left, right=right, negated=negated, null_safe=null_safe,
        arrays=is_array(left.type) and is_array(right.type),
    )


def _not_equatable(left: TypedExpression, right: TypedExpression) -> str:
    if is_builtin(left.type) or is_builtin(right.type):
        return f"Implicit conversion from datatype '{wrapper_name(right)}' to '{wrapper_name(left)}' is not allowed"
    return f"Cannot convert datatype 'Object' to a value that fits both type '{wrapper_name(left)}' and type '{wrapper_name(right)}'"


def _opaque_hint(left: TypedExpression, right: TypedExpression) -> str | None:
    return f"cast it to {wrapper_name(left)}, or write the Object on the left" if is_opaque(right.type) else None


def equatable(left: ValueType, right: ValueType) -> bool:
    """Return whether Esper compares values of these types: anything with an Object or Number on the left, and values of one kind."""
    if is_null(left) or is_null(right) or left == OBJECT or left.boxed == right.boxed:
        return True
    if is_numeric(left) and is_numeric(right):
        return right != NUMBER
    if isinstance(left, EventOf) and isinstance(right, EventOf):
        one, other = left.event_type, right.event_type
        return one.kind == other.kind or one.is_a(other) or other.is_a(one)
    if isinstance(left, EnumType) and isinstance(right, EnumType):
        return left.name == right.name
    if isinstance(left, ClassType):
        return not isinstance(right, Scalar) and not is_builtin(right)
    if isinstance(right, ClassType):
        return not isinstance(left, Scalar) and not is_builtin(left)
    return any(isinstance(left, kind) and isinstance(right, kind) for kind in (CollectionType, MapType))


# ------------------------------------------------------------------ ranges, membership


@bind_node.register
def bind_range_test(node: syntax.Between, scope: Scope) -> TypedExpression:
    operands = [bind(e, scope) for e in (node.value, node.low, node.high)]
    return _range(operands, node.negated, swap=True)


@bind_node.register
def bind_in_range(node: syntax.InRange, scope: Scope) -> TypedExpression:
    operands = [bind(e, scope) for e in (node.value, node.low, node.high)]
    return _range(operands, node.negated, swap=True, include_low=node.include_low, include_high=node.include_high)


def _range(operands: list[TypedExpression], negated: bool, **ends: bool) -> TypedExpression:
    if is_null(operands[0].type):
        raise EplValidationError("Null value not allowed in between-clause")
    known = [o for o in operands if not is_null(o.type)]
    if all(o.type == STRING for o in known):
        value, low, high = operands
    else:
        for operand in known:
            require_numeric(operand)
        target: ValueType = known[0].type.boxed
        for operand in known[1:]:
            target = comparison_type(target, operand.type)
        value, low, high = (convert(o, target) for o in operands)
    open_end = len(known) < len(operands)  # a literal null: false, negated or not
    return typed.Range(type=BOOLEAN, value=value, low=low, high=high, negated=negated and not open_end, **ends)


@bind_node.register
def bind_membership(node: syntax.In, scope: Scope) -> TypedExpression:
    if len(node.items) == 1 and isinstance(node.items[0], syntax.Subquery):
        member = bind_subquery(node.items[0], scope, "in", node.value)
        return typed.Not(type=member.type, operand=member) if node.negated else member
    value = bind(node.value, scope)
    items, spread = _items(value, [bind(i, scope) for i in node.items])
    target = _membership_type(value, items, spread)
    return typed.Membership(
        type=BOXED_BOOLEAN, value=convert(value, target, whole=True), spread=spread, sought=value.type,
        negated=node.negated,
        items=tuple(i if s else convert(i, target, whole=True) for i, s in zip(items, spread)),
    )


@bind_node.register
def bind_quantified(node: syntax.QuantifiedComparison, scope: Scope) -> TypedExpression:
    if len(node.operands) == 1 and isinstance(node.operands[0], syntax.Subquery):
        return bind_subquery(node.operands[0], scope, node.quantifier, node.left, node.operator)
    value = bind(node.left, scope)
    items, spread = _items(value, [bind(i, scope) for i in node.operands])
    if node.operator in ("<", "<=", ">", ">="):
        for side in (value, *(i for i, s in zip(items, spread) if not s)):
            if side.type != STRING and not is_null(side.type):
                require_numeric(side)
    target = _membership_type(value, items, spread)
    return typed.Quantified(
        type=BOXED_BOOLEAN, operator=node.operator, quantifier=node.quantifier, value=convert(value, target, whole=True),
        items=tuple(i if s else convert(i, target, whole=True) for i, s in zip(items, spread)), spread=spread,
    )


def _items(value: TypedExpression, items: list[TypedExpression]) -> tuple[tuple[TypedExpression, ...], tuple[bool, ...]]:
    if is_null(value.type) or _is_spread(value.type):
        raise EplValidationError(
            "Collection or array comparison and null-type values are not allowed for the IN, ANY, SOME or "
            "ALL keywords")
    return tuple(items), tuple(_is_spread(i.type) for i in items)


def _is_spread(value_type: ValueType) -> bool:
    if isinstance(value_type, EventOf):
        return value_type.event_type.kind == "map"
    return isinstance(value_type, (ArrayType, CollectionType, MapType))


def _membership_type(value: TypedExpression, items: Sequence[TypedExpression], spread: Sequence[bool]) -> ValueType:
    """Return the type in which the value is compared; refuses items of other kinds in Esper's words.

    Collections, and arrays of Object, are not checked: their elements are compared as they are.
    """
    first = value.type
    compared: list[tuple[TypedExpression, ValueType]] = []
    for item, spreads in zip(items, spread):
        item_type = item.type.element if spreads and isinstance(item.type, ArrayType) else item.type
        is_checked = isinstance(item.type, ArrayType) and item_type != OBJECT if spreads else not is_untyped_parameter(item)
        if is_checked and not is_null(item_type):
            compared.append((item, item_type))
    if is_untyped_parameter(value):
        return OBJECT
    is_text = isinstance(first, Scalar) and first.kind in PLAIN
    of_classes = not is_text and not all(is_builtin(t) for t in (first, *(t for _, t in compared)))
    result: ValueType = first.boxed
    for item, item_type in compared:
        if of_classes:
            if is_builtin(item_type) and item_type.boxed != first.boxed:
                raise EplValidationError(cannot_coerce(first, item_type))
        elif is_numeric(result) and is_numeric(item_type):
            result = comparison_type(result, item_type)
        elif item_type.boxed != result:
            raise EplValidationError(_coercion_refusal(result, item, item_type))
    return OBJECT if of_classes else result


def _coercion_refusal(target: ValueType, item: TypedExpression, item_type: ValueType) -> str:
    if is_numeric(target):
        return f"Implicit conversion not allowed: Cannot coerce types {target.boxed} and {item_type.boxed}"
    return cannot_coerce(target, message_type(item) if item_type is item.type else item_type)


# ------------------------------------------------------------------ like, regexp


@bind_node.register
def bind_like(node: syntax.Like, scope: Scope) -> TypedExpression:
    value, pattern = bind(node.value, scope), bind(node.pattern, scope)
    escape = bind(node.escape, scope) if node.escape is not None else None
    _require_text_or_number("like", value)
    if pattern.type != STRING:
        raise EplValidationError("The 'like' operator requires a String-type pattern expression", span=node.span)
    if escape is not None and escape.type != STRING:
        raise EplValidationError("The 'like' operator escape parameter requires a character-type value", span=node.span)
    if isinstance(pattern, Constant) and pattern.value is not None:
        try:
            like_pattern(pattern.value)
        except EplRuntimeError as refusal:
            raise EplValidationError(refusal.message, span=node.span) from None
    return typed.LikeMatch(type=BOXED_BOOLEAN, value=value, pattern=pattern, escape=escape, negated=node.negated)


@bind_node.register
def bind_regexp(node: syntax.Regexp, scope: Scope) -> TypedExpression:
    value, pattern = bind(node.value, scope), bind(node.pattern, scope)
    _require_text_or_number("regexp", value)
    if pattern.type != STRING:
        raise EplValidationError("The regexp operator requires a String-type pattern expression", span=node.span)
    if isinstance(pattern, Constant):
        _check_pattern(pattern.value, node)
    return typed.RegexpMatch(type=BOXED_BOOLEAN, value=value, pattern=pattern, negated=node.negated)


def _check_pattern(pattern: str, node: syntax.Regexp) -> None:
    try:
        java_pattern(pattern)
    except UnsupportedPattern as unsupported:
        raise EplUnsupportedError(str(unsupported), span=node.span) from None
    except JavaException as refusal:
        problem = refusal.message.removeprefix("java.util.regex.PatternSyntaxException: ")
        raise EplValidationError(f"Failed to compile regex pattern '{pattern}': {problem}", span=node.span) from None


def _require_text_or_number(operator: str, value: TypedExpression) -> None:
    if value.type != STRING and (not is_numeric(value.type) or value.type == NUMBER):
        raise EplValidationError(f"The '{operator}' operator requires a String or numeric type left-hand expression")
