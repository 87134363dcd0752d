"""Declared expressions: ``expression name { x => … }`` is put in place of its call, ``expression name alias for { … }`` in place of its
name.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import attrs

from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan import expressions as typed
from epl.plan.expressions import TypedExpression
from epl.syntax import Declaration
from epl.syntax import expressions as syntax
from epl.unparse import quote_expression


def find_declaration(name: str, scope: Scope) -> Declaration | None:
    """Return the declaration of that name: the statement's own, else the catalog's."""
    own = next((d for d in reversed(scope.declarations) if d.name == name), None)
    return own if own is not None else scope.catalog.declarations.get(name)


def find_alias(name: str, scope: Scope) -> Declaration | None:
    declaration = find_declaration(name, scope)
    return declaration if declaration is not None and declaration.alias else None


LARGEST_EXPANSION = 10_000
"""How many calls of declared expressions a clause may have, those within their bodies counted each time that the body is put in place."""


LARGEST_COPY = 64
"""How many operations an argument may have that is put in place of each use of its parameter."""
LARGEST_EXPRESSION = 20_000
"""How many operations a declared expression may have, those of its arguments counted at each use."""


def _expanding(declaration: Declaration, scope: Scope) -> Scope:
    if declaration.name in scope.expanding:
        raise EplValidationError(f"Expression '{declaration.name}' is recursive", span=declaration.span)
    scope.expansions[0] += 1
    if not any(own is declaration for own in scope.declarations):
        scope.catalog.expanded.add(declaration.name)
    if scope.expansions[0] > LARGEST_EXPANSION:
        raise EplUnsupportedError(
            f"more than {LARGEST_EXPANSION} calls of declared expressions in one clause, those within their bodies counted, "
            "are not supported", span=declaration.span)
    return attrs.evolve(scope, expanding=(*scope.expanding, declaration.name))


def bind_alias(declaration: Declaration, scope: Scope) -> TypedExpression:
    """Return the alias's body, resolved where its name occurs."""
    assert declaration.body is not None
    return bind(declaration.body, _expanding(declaration, scope))


def _parameters_hint(declaration: Declaration) -> str | None:
    if not declaration.listed:
        return None
    return f"parameters stand within the braces: expression {declaration.name} {{ ({', '.join(declaration.listed)}) => … }}"


def bind_declared(declaration: Declaration, call: syntax.Call, scope: Scope) -> TypedExpression:
    """Bind a call of a declared expression: its body, in which parameters stand for the arguments and nothing else is visible."""
    if declaration.alias and not call.arguments:
        return bind_alias(declaration, scope)
    if declaration.alias:
        raise EplValidationError(f"Expression '{declaration.name} is an expression-alias and does not allow parameters", span=call.span)
    if declaration.dialect is not None or declaration.body is None:
        raise EplUnsupportedError(f"scripts are not supported: {declaration.name}", span=call.span)
    if len(declaration.parameters) != len(call.arguments):
        raise EplValidationError(
            f"Parameter count mismatches for declared expression '{declaration.name}', expected {len(declaration.parameters)} parameters "
            f"but received {len(call.arguments)} parameters", span=call.span, hint=_parameters_hint(declaration))
    values = [_argument(a, scope, declaration.name) for a in call.arguments]
    inner = _body_scope(declaration, values, _expanding(declaration, scope))
    try:
        return _bind_body(declaration, declaration.body, values, inner)
    except StatementRefusal:
        raise
    except EplValidationError as refusal:
        raise EplValidationError(
            f"Failed to validate expression declaration '{declaration.name}': "
            f"Failed to validate declared expression body expression {quote_expression(declaration.body)}: "
            f"{refusal.message}", span=declaration.body.span) from None


def _bind_body(
    declaration: Declaration, body: syntax.Expression, values: Sequence[TypedExpression], scope: Scope
) -> TypedExpression:
    """Bind the body. Large arguments are evaluated once, under a name each; small ones are put in place of their parameters."""
    large = [name for name, value in zip(declaration.parameters, values) if _is_larger(value, LARGEST_COPY)]
    if large:
        applied = _function_call(body, large, dict(zip(declaration.parameters, values)), scope)
        if applied is not None:
            return applied
    expression = bind(body, scope)
    if large and _is_larger(expression, LARGEST_EXPRESSION):
        raise EplUnsupportedError(
            f"expression '{declaration.name}' of more than {LARGEST_EXPRESSION} operations, those of its arguments counted at each use, is "
            "not supported", span=declaration.span)
    return expression


def _function_call(
    body: syntax.Expression, large: Sequence[str], values: dict[str, TypedExpression], scope: Scope
) -> TypedExpression | None:
    """Return the body as a function of its large arguments; None where it reads them beside the row: in aggregations, prev."""
    hidden = attrs.evolve(
        scope, substitutions=tuple((name, value) for name, value in scope.substitutions if name not in large), aggregations=None,
        allow_previous=False)
    inner = hidden.with_locals(*((name, values[name].type) for name in large))
    try:
        bound = bind(body, inner)
    except EplValidationError:
        return None
    numbers = tuple(range(hidden.next_local, inner.next_local))
    if not any(isinstance(node, typed.Local) and node.number in numbers for node in bound.walk()):
        return bound
    function = typed.Function(type=bound.type, parameters=numbers, body=bound)
    return typed.Applied(type=bound.type, function=function, arguments=tuple(values[name] for name in large))


def _is_larger(expression: TypedExpression, most: int) -> bool:
    """Return whether an expression has more than so many operations; no more than these are counted."""
    return sum(1 for _ in islice(_operations(expression), most + 1)) > most


def _operations(expression: TypedExpression) -> Iterator[TypedExpression]:
    """Yield the operations of an expression, those of its aggregations included."""
    for node in expression.walk():
        yield node
        if isinstance(node, typed.Aggregated):
            for each in node.plan.expressions:
                yield from _operations(each)


def _argument(argument: syntax.Expression, scope: Scope, name: str) -> TypedExpression:
    if isinstance(argument, syntax.Wildcard):
        visible = [n for n, s in enumerate(scope.streams) if s.visible and not s.outer]
        if len(visible) != 1:
            raise EplValidationError(
                f"Expression '{name}' only allows a wildcard parameter if there is a single stream available, please use a stream "
                "or tag name instead")
        return typed.stream_event(visible[0], scope.streams[visible[0]].event_type)
    return bind(argument, scope)


def _body_scope(declaration: Declaration, values: list[TypedExpression], scope: Scope) -> Scope:
    """Streams keep their numbers; those passed as events are visible under the parameter's name, the rest is hidden."""
    names: dict[int, str] = {}
    for name, value in zip(declaration.parameters, values):
        if isinstance(value, typed.StreamEvent):
            names.setdefault(value.stream, name)
    streams: list[ScopeStream] = [
        attrs.evolve(s, alias=names.get(n), visible=n in names, outer=False) for n, s in enumerate(scope.streams)
    ]
    return attrs.evolve(
        scope, streams=tuple(streams), unqualified=True, locals=(), substitutions=tuple(zip(declaration.parameters, values)))
