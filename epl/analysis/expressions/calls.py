"""Calls: functions of the core (coalesce, min, max, prev, prior …), of the registry, methods of values, enumeration methods,
aggregations.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.conversions import MAP_KINDS, common_type, convert, require_numeric, type_name
from epl.analysis.expressions.paths import is_integer, stream_value
from epl.analysis.expressions.properties import Read, property_read
from epl.analysis.expressions.scope import Scope
from epl.errors import EplError, EplUnsupportedError, EplValidationError
from epl.event_types import EventOf
from epl.foreign_words import METHODS
from epl.functions.registry import FIRST_ARGUMENT, NOT_CONSTANT, TIME_PERIOD, Bound, EnumerationSpec, FunctionSpec, LambdaShape
from epl.java_classes import value_has_method
from epl.plan import expressions as typed
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.join.subqueries import as_rows, is_subquery_value
from epl.syntax import expressions as syntax
from epl.syntax.expressions import Call
from epl.unparse import expression_text, quote_expression
from epl.value_types import BOOLEAN, BOXED_BOOLEAN, INT, LONG, NULL, OBJECT, ArrayType, CollectionType, ValueType, is_numeric

# ------------------------------------------------------------------ arguments


def bind_argument(argument: syntax.Expression, scope: Scope, function: str) -> TypedExpression:
    """Bind an argument of a function or method: ``*`` and ``s.*`` are events."""
    if isinstance(argument, syntax.Lambda):
        raise EplValidationError(
            f"Unrecognized lambda-expression encountered as parameter to UDF or static method '{function}'", span=argument.span)
    if isinstance(argument, syntax.NamedArgument):
        raise EplValidationError("Named parameters are not allowed", span=argument.span)
    if isinstance(argument, syntax.Wildcard):
        return wildcard_event(scope, function)
    try:
        return bind(argument, scope)
    except StatementRefusal:
        raise
    except EplValidationError as refusal:
        raise introduce_refusal(f"Failed to validate method-chain parameter expression {quote_expression(argument)}", refusal) from None


def introduce_refusal(place: str, refusal: EplValidationError) -> EplValidationError:
    """Return the refusal, introduced by where it was met."""
    return EplValidationError(f"{place}: {refusal.message}", span=refusal.span, hint=refusal.hint)


def wildcard_event(scope: Scope, function: str) -> TypedExpression:
    visible = [n for n, s in enumerate(scope.streams) if s.visible and not s.outer]
    if len(visible) != 1:
        raise EplValidationError(
            f"Expression '{function}' only allows a wildcard parameter if there is a single stream available, please use a stream "
            "or tag name instead")
    return stream_value(visible[0], scope)


def try_bind(spec: FunctionSpec, arguments: Sequence[TypedExpression]) -> Bound | None:
    """Return what the function makes of these arguments; its refusals become validation errors."""
    try:
        types = [TIME_PERIOD if isinstance(a, typed.TimeSpan) else a.type for a in arguments]
        return spec.bind(types, [a.value if isinstance(a, Constant) else NOT_CONSTANT for a in arguments])
    except ValueError as refusal:
        raise EplValidationError(str(refusal)) from None


def _invoke(
    spec: FunctionSpec, bound: Bound, arguments: Sequence[TypedExpression], *, method: bool = False, once: bool = False
) -> TypedExpression:
    null_receiver = method and arguments[0].type.nullable
    return typed.Invoke(
        type=bound.type.boxed if null_receiver else bound.type, function=spec.key, arguments=tuple(arguments), bound=bound.constants,
        null_propagates=bound.null_propagates, null_receiver=null_receiver, once=once)


def invoke_static(spec: FunctionSpec, call: Call, scope: Scope) -> TypedExpression | None:
    """Bind ``Class.method(arguments)``; None where no overload takes these arguments. With constants alone it is called once
    (``udf_cache``)."""
    arguments = [bind_argument(a, scope, call.name) for a in call.arguments]
    bound = try_bind(spec, arguments)
    if bound is None:
        return None
    once = scope.catalog.settings.udf_cache and all(isinstance(a, Constant) or (isinstance(a, typed.Invoke) and a.once) for a in arguments)
    return _invoke(spec, bound, arguments, once=once)


def invoke_single_row(spec: FunctionSpec, call: Call, scope: Scope) -> TypedExpression:
    arguments = [bind_argument(a, scope, call.name) for a in call.arguments]
    bound = try_bind(spec, arguments)
    if bound is None:
        types = ", ".join(type_name(a.type) for a in arguments)
        raise EplValidationError(
            f"Could not find static method named '{call.name}' with matching parameter number and expected parameter type(s) "
            f"'{types}'", span=call.span)
    return _invoke(spec, bound, arguments)


def invoke_method(receiver: TypedExpression, call: Call, scope: Scope) -> TypedExpression | None:
    """Bind ``receiver.method(arguments)``; None where no method of that name takes them."""
    methods = scope.catalog.functions.methods
    specs = methods.get(call.name) or [s for s in methods.get(call.name.lower(), ()) if s.key.startswith("dt.")]
    if not specs:
        return None
    if isinstance(receiver, typed.Invoke) and receiver.function in LAST_OF_DATE_TIME and specs[0].key.startswith("dt."):
        raise EplValidationError(f"Invalid input for date-time method '{call.name}'", span=call.span)
    arguments = [receiver, *(bind_argument(a, scope, call.name) for a in call.arguments)]
    for spec in specs:
        bound = try_bind(spec, arguments)
        if bound is not None:
            return _invoke(spec, bound, arguments, method=True)
    return None


LAST_OF_DATE_TIME = ("dt.toDate", "dt.toCalendar", "dt.toMillisec")
"""Methods that end a chain of date-time methods; methods of the value itself may follow (``ts.toDate().getTime()``)."""


def unknown_method(value: TypedExpression, name: str, types: Sequence[ValueType], node: syntax.Expression) -> EplError:
    """Return the refusal of a method that the value does not have: in Esper's words, or as not supported where Java has it."""
    if value_has_method(value.type, name):
        return EplUnsupportedError(f"Java's method '{name}' of {type_name(value.type.boxed)} is not supported", span=node.span)
    return EplValidationError(_no_such_method(value, name, types), span=node.span, hint=METHODS.get(name))


def _no_such_method(value: TypedExpression, name: str, types: Sequence[ValueType]) -> str:
    if isinstance(value.type, (ArrayType, CollectionType)) and isinstance(value.type.element, EventOf):
        return f"Could not find event property or method named '{name}' in collection of events of type '{value.type.element}'"
    taking = "taking no parameters" if not types else (
        f"with matching parameter number and expected parameter type(s) '{', '.join(map(type_name, types))}'")
    shown = "java.util.Map" if isinstance(value.type, EventOf) and value.type.event_type.kind in MAP_KINDS else type_name(value.type.boxed)
    return (
        f"Failed to resolve method '{name}': Could not find enumeration method, date-time method, instance method or property "
        f"named '{name}' "
            f"in class '{shown}' {taking}")


# ------------------------------------------------------------------ enumeration methods


def bind_enumeration_call(spec: EnumerationSpec, collection: TypedExpression, call: Call, scope: Scope) -> TypedExpression:
    """Bind ``collection.where(x => …)``."""
    assert isinstance(collection.type, (ArrayType, CollectionType))
    mismatch = spec.mismatch([len(a.parameters) if isinstance(a, syntax.Lambda) else None for a in call.arguments])
    if mismatch is not None:
        raise EplValidationError(mismatch, span=call.span)
    try:
        shapes = spec.arguments(collection.type.element, len(call.arguments))
        arguments: list[TypedExpression] = []
        for argument, shape in zip(call.arguments, shapes, strict=True):
            arguments.append(_enumeration_argument(argument, _with_first(shape, arguments), call.name, len(arguments), scope))
        bound = spec.bind(collection.type, [a.type for a in arguments])
    except ValueError as refusal:
        raise EplValidationError(str(refusal), span=call.span) from None
    if bound is None:
        raise EplValidationError(f"Parameters mismatch for enumeration method '{call.name}'", span=call.span)
    counts = tuple(len(a.parameters) if isinstance(a, typed.Function) else 0 for a in arguments)
    return typed.Invoke(
        type=bound.type, function=f"enum.{spec.name}", arguments=(collection, *arguments), bound=(counts, *bound.constants),
        null_propagates=bound.null_propagates)


def collection_items(collection: TypedExpression) -> TypedExpression:
    """Return what an enumeration method reads of a collection: of ``{a, b}`` the items that are not null, as in Esper."""
    return typed.ItemsOf(type=collection.type, operand=collection) if isinstance(collection, typed.NewArrayOf) else collection


def _with_first(shape: LambdaShape | None, arguments: Sequence[TypedExpression]) -> LambdaShape | None:
    """Return the shape with the type of the first argument where it asks for that."""
    if shape is None or not arguments:
        return shape
    return LambdaShape(tuple(arguments[0].type.boxed if p == FIRST_ARGUMENT else p for p in shape.parameters))


OF_TWO = ("intersect", "except", "union")
"""The methods that compare with a second collection: a sub-query stands for all of its rows there."""


def _enumeration_argument(
    argument: syntax.Expression, shape: LambdaShape | None, method: str, position: int, scope: Scope,
) -> TypedExpression:
    if not isinstance(argument, syntax.Lambda):
        value = bind(argument, scope)
        if method.lower() not in OF_TWO:
            return value
        if isinstance(argument, syntax.ArrayLiteral):
            return collection_items(value)
        return as_rows(value) if isinstance(value, typed.SubqueryValue) and is_subquery_value(value) else value
    if shape is None or len(argument.parameters) > len(shape.parameters):
        raise EplValidationError(
            f"Parameters mismatch for enumeration method '{method}', the method does not take a "
            f"{len(argument.parameters)}-parameter lambda here",
            span=argument.span)
    declared = {local.name for local in scope.locals} | dict(scope.substitutions).keys() | {s.alias for s in scope.streams if s.visible}
    for name in argument.parameters:
        if name in declared:
            raise EplValidationError(
                f"Failed to validate enumeration method '{method}', the lambda-parameter name '{name}' has already been declared "
                "in this context",
                span=argument.span)
    inner = scope.with_locals(*zip(argument.parameters, shape.parameters))
    try:
        body = bind(argument.body, inner)
    except StatementRefusal:
        raise
    except EplValidationError as refusal:
        raise introduce_refusal(
            f"Failed to validate enumeration method '{method}' parameter {position}: "
            f"Failed to validate declared expression body expression {quote_expression(argument.body)}", refusal) from None
    return typed.Function(type=body.type, parameters=tuple(range(scope.next_local, inner.next_local)), body=body)


# ------------------------------------------------------------------ aggregations


def aggregate(call: Call, scope: Scope) -> TypedExpression:
    if scope.aggregations is None:
        if call.name.lower() in GROUPING_FUNCTIONS:
            raise _grouping_refusal(call, scope)
        raise StatementRefusal(scope.aggregation_refusal, span=call.span)
    return scope.aggregations.bind_call(call, scope)


GROUPING_FUNCTIONS = ("grouping", "grouping_id")


def _grouping_refusal(call: Call, scope: Scope) -> EplValidationError:
    """Esper checks group-by expressions without naming the clause."""
    message = (
        f"The {call.name.lower()} function requires the group-by clause to specify rollup, cube or grouping sets, and may only be used "
        "in the select-clause, having-clause or order-by-clause"
    )
    kind = StatementRefusal if scope.clause == "group-by-clause" else EplValidationError
    return kind(message, span=call.span)


# ------------------------------------------------------------------ functions of the core


def _coalesce(call: Call, scope: Scope) -> TypedExpression | None:
    if any(isinstance(a, syntax.NamedArgument) for a in call.arguments):
        raise EplValidationError("Named parameters are not allowed", span=call.span)
    if len(call.arguments) < 2:
        return None
    operands = [bind(a, scope) for a in call.arguments]
    target = common_type([o.type for o in operands])
    narrower = next((o.type for o in operands if o.type not in (target, NULL)), None)
    if target in (OBJECT, ArrayType(OBJECT)) and narrower is not None:
        raise EplValidationError(f"Implicit conversion from datatype '{target}' to {type_name(narrower.boxed)} is not allowed")
    return typed.Coalesce(type=target, operands=tuple(convert(o, target) for o in operands))


def _extreme(call: Call, scope: Scope) -> TypedExpression | None:
    """min and max of one row: two or more plain arguments; one argument is the aggregation."""
    plain = [a for a in call.arguments if not isinstance(a, syntax.NamedArgument)]
    if len(plain) < 2 or len(plain) != len(call.arguments) or call.distinct or isinstance(plain[0], syntax.Wildcard):
        return None
    operands = [bind(a, scope) for a in plain]
    for operand in operands:
        require_numeric(operand)
    target = common_type([o.type for o in operands])
    result_type = target if any(o.type.nullable for o in operands) else next((o.type for o in operands if o.type.boxed == target), target)
    return typed.Extreme(
        type=result_type, function="min" if call.name.lower() == "min" else "max", operands=tuple(convert(o, target) for o in operands))


def _previous(call: Call, scope: Scope) -> TypedExpression | None:
    """prev, prevtail: ``(index, value)``, ``(value, constant index)`` or ``(value)``; prevcount, prevwindow: ``(value)``."""
    kind = {"prev": "previous", "prevtail": "tail", "prevcount": "count", "prevwindow": "window"}[call.name.lower()]
    if not scope.allow_previous:
        raise EplValidationError("Previous function cannot be used in this context", span=call.span)
    arguments = list(call.arguments)
    if not 1 <= len(arguments) <= (2 if kind in ("previous", "tail") else 1) or any(isinstance(a, syntax.Wildcard) for a in arguments):
        return None
    if len(arguments) == 2 and _is_constant(arguments[1], scope) and not _is_constant(arguments[0], scope):
        arguments.reverse()
    value = bind(arguments[-1], scope)
    index: TypedExpression | None = None
    if kind in ("previous", "tail"):
        index = bind(arguments[0], scope) if len(arguments) == 2 else Constant(type=INT, value=1 if kind == "previous" else 0)
        if not is_integer(index.type) and index.type.boxed != LONG.boxed:
            if is_numeric(index.type):
                raise EplUnsupportedError("prev with an index that is not a whole number is not supported", span=call.span)
            raise EplValidationError("Previous function requires an integer index parameter or expression", span=call.span)
    looked_at = _row_read(value, call)
    result = LONG.boxed if kind == "count" else ArrayType(value.type.boxed) if kind == "window" else value.type.boxed
    if kind == "count":
        return typed.Previous(type=result, kind="count", stream=looked_at.stream, index=None, value=None, counted=looked_at.path)
    return typed.Previous(type=result, kind=kind, stream=looked_at.stream, index=index, value=value)  # type: ignore[arg-type]


def _prior(call: Call, scope: Scope) -> TypedExpression | None:
    if not scope.allow_previous:
        raise EplValidationError("Prior function cannot be used in this context", span=call.span)
    if len(call.arguments) != 2:
        return None
    if not isinstance(call.arguments[1], (syntax.Chain, syntax.StreamWildcard)):
        raise EplValidationError(
            "Unknown single-row function, expression declaration, script or aggregation function named 'prior' could not be "
            "resolved", span=call.span)
    index = bind(call.arguments[0], scope)
    if not isinstance(index, Constant) or not is_integer(index.type):
        raise EplValidationError(
            "Prior function requires a constant-value integer-typed index expression as the first "
            "parameter", span=call.span)
    if index.value is not None and index.value < 0:
        raise StatementRefusal("Failed to deploy: Minimum buffer size is 1", span=call.span)
    value = bind_argument(call.arguments[1], scope, call.name)
    stream = _row_read(value, call).stream
    return typed.Prior(
        type=value.type.boxed, stream=stream, index=index.value, value=value, newest=scope.streams[stream].over_window)


def _is_constant(argument: syntax.Expression, scope: Scope) -> bool:
    return isinstance(argument, syntax.Literal)


def _row_read(value: TypedExpression, call: Call) -> Read:
    """Return what prev or prior looks back on: Esper takes a property of one stream, or the event itself."""
    path = property_read(value)
    if path is None or len(value.streams) != 1:
        raise EplValidationError("Previous function requires an event property as parameter", span=call.span)
    return path


def _istream(call: Call, scope: Scope) -> TypedExpression | None:
    if call.arguments:
        raise EplValidationError("The istream function does not take parameters", span=call.span)
    return typed.IsInsertStream(type=BOOLEAN)


def _event_of_stream(argument: syntax.Expression, scope: Scope, call: Call) -> TypedExpression:
    """Bind what is compared by identity: the event of a stream, by the stream's name, not one that a property or a function returns."""
    event = None if isinstance(argument, (syntax.Wildcard, syntax.Lambda)) else bind(argument, scope)
    if isinstance(event, (typed.StreamEvent, typed.Local)) and isinstance(event.type, EventOf):
        return event
    raise EplValidationError(
        f"event_identity_equals requires a parameter that resolves to an event but received '{expression_text(argument)}'",
        span=call.span, hint="name two streams; tags of a pattern are properties once the pattern has matched")


def _event_identity(call: Call, scope: Scope) -> TypedExpression | None:
    if len(call.arguments) != 2:
        raise EplValidationError("event_identity_equalsrequires two parameters", span=call.span)
    sides = [_event_of_stream(a, scope, call) for a in call.arguments]
    left, right = (s.type.event_type for s in sides if isinstance(s.type, EventOf))
    if left is not right:
        raise EplValidationError(
            f"event_identity_equals received two different event types as parameter, type '{left.name}' is not the same as type "
            f"'{right.name}'",
            span=call.span)
    return typed.SameEvent(type=BOXED_BOOLEAN, left=sides[0], right=sides[1])


def _refuse_unsupported(call: Call, scope: Scope) -> TypedExpression | None:
    raise EplUnsupportedError(f"{call.name} gives a Java object and is not supported", span=call.span)


BUILT_IN: dict[str, Callable[[Call, Scope], TypedExpression | None]] = {
    "coalesce": _coalesce, "min": _extreme, "max": _extreme, "prev": _previous, "prevtail": _previous, "prevcount": _previous,
    "prevwindow": _previous, "prior": _prior, "istream": _istream, "event_identity_equals": _event_identity,
    "current_evaluation_context": _refuse_unsupported,
}
"""Functions that the grammar of EPL itself knows, by name in lower case; None: not this function after all."""

