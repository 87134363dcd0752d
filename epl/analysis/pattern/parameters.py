"""Parameters of observers and guards: bound, and as Esper prints them in refusals."""
from __future__ import annotations

from collections.abc import Iterable

from epl.analysis.expressions.bind import StatementRefusal, bind, introduce
from epl.analysis.expressions.scope import Scope
from epl.errors import EplValidationError
from epl.plan.expressions import TypedExpression
from epl.syntax import Expression, NamedArgument, Wildcard
from epl.syntax.expressions import CronPart
from epl.syntax.patterns import Guard, Observer
from epl.unparse import expression_text, unparse


def object_text(written: Observer | Guard) -> str:
    """Return the text of the observer or guard that a refusal quotes."""
    if isinstance(written, Guard) and written.namespace is None:
        return unparse(written)
    call = f"{written.namespace}:{written.name}({','.join(expression_text(each) for each in written.arguments)})"
    return f"{unparse(written.item)} where {call}" if isinstance(written, Guard) else call


def bind_parameters(arguments: Iterable[Expression], scope: Scope) -> list[TypedExpression]:
    """Return the values of the arguments that have one: those of named ones, none of ``*`` and parts of crontabs. What is wrong with any of
    them is refused before their number and types."""
    return [_bind_parameter(each, scope) for each in arguments if not isinstance(each, (Wildcard, CronPart))]


def _bind_parameter(argument: Expression, scope: Scope) -> TypedExpression:
    try:
        return bind(argument.value if isinstance(argument, NamedArgument) else argument, scope)
    except StatementRefusal:
        raise
    except EplValidationError as refusal:
        raise introduce(refusal, argument, scope.clause) from refusal


__all__ = ["bind_parameters", "object_text"]
