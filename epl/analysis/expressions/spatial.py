"""``point(…).inside(rectangle(…))``, ``rectangle(…).intersects(rectangle(…))``, and the index that a filter may name for it.

The index says how a filter is looked up, never what it lets through: it is checked as Esper does, and has no other effect.
"""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.conversions import convert, message_type_name
from epl.analysis.expressions.declared import find_declaration
from epl.analysis.expressions.scope import Scope
from epl.errors import EplValidationError
from epl.functions.spatial import METHODS, RECTANGLE, SpatialMethod
from epl.plan import expressions as typed
from epl.plan.expressions import Constant, TypedExpression
from epl.syntax import expressions as syntax
from epl.syntax.expressions import Call, Chain
from epl.value_types import BOXED_BOOLEAN, DOUBLE, NUMBER, is_null, is_numeric

INDEX_PARAMETERS = ("x", "y", "width", "height")


def spatial_method(links: Sequence[syntax.Link]) -> SpatialMethod | None:
    """Return the method that the first two links of a chain name."""
    if len(links) < 2 or not all(isinstance(link, Call) for link in links[:2]):
        return None
    names = tuple(getattr(link, "name", "") for link in links[:2])
    return next((m for m in METHODS if (m.function, m.method) == names), None)


def bind_spatial(method: SpatialMethod, node: Chain, scope: Scope) -> TypedExpression:
    """Bind the call of the first two links."""
    left, right = node.links[:2]
    assert isinstance(left, Call) and isinstance(right, Call)
    rectangle = _rectangle(right.arguments)
    if rectangle is None:
        raise EplValidationError(f"{method.key} requires a single rectangle as parameter", span=node.span)
    plain = [a for a in left.arguments if not isinstance(a, syntax.NamedArgument)]
    for named in left.arguments:
        if isinstance(named, syntax.NamedArgument):
            _check_index(method, named, rectangle, scope)
    arguments = (
        *_coordinates(plain, method.coordinates, ("left-hand-side method", "left-hand-side function"), method.function, scope),
        *_coordinates(rectangle.arguments, RECTANGLE, ("right-hand-side function",) * 2, "rectangle", scope),
    )
    return typed.Invoke(type=BOXED_BOOLEAN, function=method.key, arguments=arguments, null_propagates=True)


def _rectangle(arguments: Sequence[syntax.Expression]) -> Call | None:
    only = arguments[0] if len(arguments) == 1 else None
    links = only.links if isinstance(only, Chain) and only.root is None else ()
    call = links[0] if len(links) == 1 else None
    return call if isinstance(call, Call) and call.name == "rectangle" else None


def _coordinates(
    written: Sequence[syntax.Expression], count: int, places: tuple[str, str], name: str, scope: Scope
) -> list[TypedExpression]:
    if len(written) != count or any(isinstance(a, syntax.Wildcard) for a in written):
        raise EplValidationError(
            f"Failed to validate {places[0]} '{name}', expected {count} parameters but received {len(written)} parameters")
    return [_coordinate(a, at, f"Failed to validate {places[1]} '{name}'", scope) for at, a in enumerate(written)]


def _coordinate(written: syntax.Expression, at: int, refusal: str, scope: Scope) -> TypedExpression:
    value = bind(written, scope)
    if is_null(value.type):
        raise EplValidationError(
            f"{refusal}, expected a non-null result for expression parameter {at} but received a null-typed expression", span=written.span)
    if not is_numeric(value.type) or value.type == NUMBER:
        raise EplValidationError(
            f"{refusal}, expected a number-type result for expression parameter {at} but received {message_type_name(value)}",
            span=written.span)
    return as_coordinate(value)


def as_coordinate(value: TypedExpression) -> TypedExpression:
    """Return a number as the coordinate that it is."""
    return convert(value, DOUBLE.boxed if value.type.nullable else DOUBLE)


def _check_index(method: SpatialMethod, argument: syntax.NamedArgument, rectangle: Call, scope: Scope) -> None:
    """Check that ``filterindex: name`` names an expression that calls the index of the method."""
    span = argument.span
    if argument.name.lower() != "filterindex":
        raise EplValidationError(f"{method.function} does not accept '{argument.name}' as a named parameter", span=span)
    if not (scope.in_filter or scope.moved):
        raise EplValidationError("The 'filterindex' named parameter can only be used in in filter expressions", span=span)
    name = _only_name(argument.value)
    if name is None:
        raise EplValidationError("Named parameter 'filterindex' requires an expression name", span=span)
    declaration = find_declaration(name, scope)
    body = declaration.body if declaration is not None else None
    index = body.links[0] if isinstance(body, Chain) and body.root is None and len(body.links) == 1 else None
    if not isinstance(index, Call):
        raise EplValidationError("Named parameter 'filterindex' requires an index expression", span=span)
    if index.name not in {m.index for m in METHODS}:
        raise EplValidationError(f"Unrecognized advanced-type index '{index.name}'", span=span)
    if index.name != method.index:
        raise EplValidationError(f"Invalid index type '{index.name}', expected '{method.index}'", span=span)
    _check_index_parameters(name, index, scope)
    for coordinate in rectangle.arguments:
        bound = bind(coordinate, scope)
        if not isinstance(bound, (typed.StreamProperty, typed.PropertyOf)):
            shown_text = f"'{bound.value}' " if isinstance(bound, Constant) else ""
            raise StatementRefusal(
                f"Invalid filter-index lookup expression {shown_text}in respect to index '{name}': expected an event property name",
                span=coordinate.span)


def _only_name(expression: syntax.Expression) -> str | None:
    if not isinstance(expression, Chain) or expression.root is not None or len(expression.links) != 1:
        return None
    link = expression.links[0]
    if isinstance(link, syntax.Name) or (isinstance(link, Call) and not link.arguments):
        return link.name
    return None


def _check_index_parameters(name: str, index: Call, scope: Scope) -> None:
    if len(index.arguments) < len(INDEX_PARAMETERS):
        raise EplValidationError(
            f"Index of type '{index.name}' requires at least {len(INDEX_PARAMETERS)} parameters but received {len(index.arguments)}",
            span=index.span)
    for parameter, argument in zip(INDEX_PARAMETERS, index.arguments):
        value = bind(argument, scope)
        if isinstance(value, Constant) and parameter in ("width", "height") and not (value.value or 0) > 0:
            raise EplValidationError(
                f"Invalid value for index '{name}' parameter '{parameter}' received {float(value.value or 0)} and expected value>0",
                span=argument.span)
