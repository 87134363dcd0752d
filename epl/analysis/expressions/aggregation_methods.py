"""``sorted(price).floorEvent(10)``: a method of an aggregation that keeps events."""

from __future__ import annotations

import attrs

from epl.aggregations.methods import METHODS, AggregationMethod
from epl.analysis.expressions.binding import bind
from epl.analysis.expressions.conversions import type_name
from epl.analysis.expressions.rewriting import rewrite
from epl.analysis.expressions.scope import AggregationCollector, Scope, ScopeStream
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType
from epl.functions.sketches import TOP_VALUE
from epl.plan import expressions as typed
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Aggregated, TypedExpression
from epl.plan.stores.tables import TableColumn, TableValue
from epl.syntax import Lambda, Literal, Unary, Wildcard
from epl.syntax.expressions import Call
from epl.value_types import (
    BOXED_BOOLEAN,
    BOXED_INT,
    BOXED_LONG,
    NULL,
    OBJECT,
    STRING,
    ArrayType,
    CollectionType,
    MapType,
    ValueType,
    is_boolean,
)


def as_aggregation(value: TypedExpression) -> AggregationPlan | None:
    """Return the aggregation that the value is, of the statement or in a table; None for anything else."""
    column = as_table_column(value)
    if column is not None:
        return column.aggregation
    return value.plan if isinstance(value, Aggregated) else None


def is_sorted(value: TypedExpression) -> bool:
    """Return whether the value is what ``sorted`` keeps, of the statement or by the key of a table's row."""
    plan = as_aggregation(value) if isinstance(value, (Aggregated, TableValue)) else None
    return plan is not None and plan.function == "sorted"


def as_table_column(value: TypedExpression) -> TableColumn | None:
    """Return the column of a table that the value is, where it is an aggregation; None for anything else."""
    if isinstance(value, TableValue):
        return value.aggregation
    column: TableColumn | None = value.computed if isinstance(value, typed.StreamProperty) else None
    return column


def bind_aggregation_method(value: TypedExpression, call: Call, scope: Scope) -> TypedExpression | None:
    """Return the typed call; None where the value is not an aggregation that has a method of that name (enumeration methods come after
    these)."""
    if call.name == "reset":
        _refuse_reset(value)
    plan = as_aggregation(value)
    method = None if plan is None else METHODS.get(plan.function, {}).get(call.name.lower())
    if plan is None or method is None:
        return None
    if plan.function == "countminsketch":
        return _of_sketch(method, value, call, scope)
    of_event = scope
    column = as_table_column(value)
    if column is not None:
        assert column.event_type is not None
        of_event = attrs.evolve(scope, streams=(ScopeStream(None, column.event_type),))
    assert plan.stream is not None
    event_type = of_event.streams[plan.stream].event_type
    if plan.function == "window":
        return _of_window(method, value, call, event_type, of_event)
    if method.name in ("minBy", "maxBy", "sorted") and call.arguments:
        return None
    arguments = _arguments(method, plan, call, scope)
    result = _result(method, plan, event_type)
    return typed.AggregationMethodCall(type=result, operand=value, method=method.python, arguments=arguments)


def _refuse_reset(value: TypedExpression) -> None:
    """Refuse ``reset`` of an aggregation, or of all of a row, anywhere but in an assignment of a merge."""
    row = isinstance(value, typed.StreamEvent) and isinstance(value.type, EventOf) and value.type.event_type.kind == "table"
    if row or (isinstance(value, typed.StreamProperty) and value.computed is not None):
        raise EplValidationError("The table aggregation'reset' method is only available for the on-merge update action")


def _of_window(
    method: AggregationMethod, value: TypedExpression, call: Call, event_type: EventType, scope: Scope
) -> TypedExpression | None:
    plan = as_aggregation(value)
    assert plan is not None and plan.stream is not None
    result = _result(method, plan, event_type)
    arguments = call.arguments
    if not arguments or (len(arguments) == 1 and isinstance(arguments[0], Wildcard)):
        return typed.AggregationMethodCall(type=result, operand=value, method=method.python, arguments=())
    if method.name not in ("first", "last", "window") or len(arguments) > (1 if method.name == "window" else 2):
        raise EplValidationError("Invalid number of parameters", span=call.span)
    if len(arguments) == 2:
        return typed.AggregationMethodCall(
            type=result, operand=value, method=f"{method.python}_at", arguments=(_constant_index(method, call, scope),)
        )
    if isinstance(arguments[0], Lambda):
        raise EplUnsupportedError(
            f"The '{method.name}' method of an aggregation does not take a lambda", span=call.span, hint="firstOf, lastOf and where do"
        )
    event = scope.next_local
    written = bind(arguments[0], attrs.evolve(scope, next_local=event + 1, aggregations=_NoAggregations()))
    body = _over_event(written, plan.stream, event)
    function = typed.Function(type=body.type, parameters=(event,), body=body)
    selected = () if as_table_column(value) is not None else (written,)
    return typed.AggregationMethodCall(
        type=ArrayType(body.type) if method.name == "window" else body.type.boxed, operand=value, method=f"{method.python}_value",
        arguments=(function,), written=selected,
    )


class _NoAggregations(AggregationCollector):
    """Of an expression over one event that an aggregation keeps."""

    def bind_call(self, call: Call, scope: Scope) -> TypedExpression:
        raise EplUnsupportedError("An aggregation within a method of an aggregation is not supported", span=call.span)


def _constant_index(method: AggregationMethod, call: Call, scope: Scope) -> TypedExpression:
    """Return the second argument of ``first(*, n)``."""
    if not isinstance(call.arguments[0], Wildcard):
        raise EplValidationError(f"The '{method.name}' method takes an index with the wildcard only: {method.name}(*, 1)", span=call.span)
    index = call.arguments[1]
    bound = bind(index, scope) if isinstance(index, (Literal, Unary)) else None
    if not isinstance(bound, typed.Constant) or type(bound.value) is not int:
        raise EplValidationError(
            f"The '{method.name}' aggregation function requires a constant index expression that returns an integer value", span=call.span
        )
    return bound


def _of_sketch(method: AggregationMethod, value: TypedExpression, call: Call, scope: Scope) -> TypedExpression:
    if len(call.arguments) != len(method.parameters):
        words = "a single parameter expression" if method.parameters else "a no parameter expressions"
        raise EplValidationError(f"Count-min-sketch aggregation function '{method.name}' requires {words}", span=call.span)
    arguments = tuple(bind(argument, scope) for argument in call.arguments)
    for argument in arguments:
        if argument.type not in (STRING, OBJECT, NULL):
            raise EplUnsupportedError(f"{method.name} takes a String, not {type_name(argument.type.boxed)}", span=call.span)
    result = BOXED_LONG if method.result == "long" else ArrayType(EventOf(TOP_VALUE))
    return typed.AggregationMethodCall(type=result, operand=value, method=method.python, arguments=arguments)


def _over_event(expression: TypedExpression, stream: int, number: int) -> TypedExpression:
    """Return the expression with the stream's event as the Function's parameter of that number."""

    def replace(node: TypedExpression) -> TypedExpression | None:
        if isinstance(node, typed.StreamEvent) and node.stream == stream:
            return typed.Local(type=node.type, number=number, name="")
        if isinstance(node, typed.StreamProperty) and node.stream == stream:
            event = typed.Local(type=OBJECT, number=number, name="")
            return typed.PropertyOf(type=node.type, operand=event, name=node.name)
        return None

    return rewrite(expression, replace)


def _key_type(plan: AggregationPlan) -> ValueType:
    keys = plan.arguments
    return keys[0].type.boxed if len(keys) == 1 else OBJECT


def _result(method: AggregationMethod, plan: AggregationPlan, event_type: EventType) -> ValueType:
    event = EventOf(event_type)
    results: dict[str, ValueType] = {"event": event, "events": ArrayType(event, raw=True), "boolean": BOXED_BOOLEAN, "int": BOXED_INT}
    if method.result == "key":
        return _key_type(plan)
    if method.result == "map":
        return MapType(_key_type(plan), CollectionType(event))
    return results[method.result]


def _arguments(method: AggregationMethod, plan: AggregationPlan, call: Call, scope: Scope) -> tuple[TypedExpression, ...]:
    if len(call.arguments) != len(method.parameters):
        raise EplValidationError(
            f"Parameters mismatch for aggregation method '{method.name}', the method requires {_requirement(method)}", span=call.span
        )
    bound = tuple(bind(argument, scope) for argument in call.arguments)
    for number, (kind, argument) in enumerate(zip(method.parameters, bound)):
        if kind == "flag" and not is_boolean(argument.type):
            raise EplValidationError(
                f"Failed to validate aggregation method '{method.name}', expected a boolean-type result for expression parameter {number} "
                f"but received {type_name(argument.type)}",
                span=call.span,
            )
        if kind == "key":
            _check_key(method, number, plan, argument, call)
    return bound


def _check_key(method: AggregationMethod, number: int, plan: AggregationPlan, argument: TypedExpression, call: Call) -> None:
    several = len(plan.arguments) > 1
    expected = "com.espertech.esper.common.client.util.HashableMultiKey" if several else type_name(_key_type(plan))
    if several or argument.type.boxed != _key_type(plan):
        raise EplValidationError(
            f"Method '{method.name}' for parameter {number} requires a key of type '{expected}' but receives "
            f"'{type_name(argument.type.boxed)}'",
            span=call.span,
        )


def _requirement(method: AggregationMethod) -> str:
    if not method.parameters:
        return "no parameters"
    if len(method.parameters) == 1:
        return "an expression providing the key value"
    return (
        "an expression providing the from-key value and an expression providing the from-inclusive flag and an expression providing the "
        "to-key value and an expression providing the to-inclusive flag"
    )


__all__ = ["as_aggregation", "bind_aggregation_method", "is_sorted"]
