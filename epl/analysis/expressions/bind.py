"""The door to expression analysis: ``bind`` and ``bind_in_clause``.

Rules are in the neighbours: operators, chains (names), calls, declared, constructs; each registers its kinds of nodes with ``binding``.
"""
from __future__ import annotations

import attrs

from epl.analysis.expressions import chains, constructs, operators
from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.printed_names import ScopeNames
from epl.analysis.expressions.scope import Scope
from epl.errors import EplValidationError
from epl.plan.expressions import TypedExpression
from epl.syntax.expressions import Expression
from epl.unparse import ExpressionNames, expression_text, quote_expression

MODULES = (operators, chains, constructs)


def bind_in_clause(expression: Expression, scope: Scope) -> TypedExpression:
    """Do as ``bind``, with refusals introduced as Esper does: ``Failed to validate select-clause expression 'a+b': …``.

    An aggregation where none may be is refused as in Esper only in an expression that is sound.
    """
    try:
        return bind(expression, scope)
    except StatementRefusal as refusal:
        if refusal.message == scope.aggregation_refusal and scope.aggregations is None and not scope.refuses_aggregations_first:
            bind_in_clause(expression, attrs.evolve(scope, aggregations=Collector(has_remove_stream=True)))
        raise
    except EplValidationError as refusal:
        raise introduce(refusal, expression, scope.clause, ScopeNames(scope)) from None


def introduce(refusal: EplValidationError, expression: Expression, clause: str, names: ExpressionNames | None = None) -> EplValidationError:
    """Return the refusal of an expression, with its clause and text in front."""
    message = f"Failed to validate {clause} expression {quote_expression(expression, names)}: {refusal.message}"
    return EplValidationError(message, span=refusal.span, text=refusal.text, hint=refusal.hint)


def column_name(expression: Expression, scope: Scope) -> str:
    """Return the name of a column without alias: the expression as Esper prints it."""
    return expression_text(expression, names=ScopeNames(scope))


__all__ = ["StatementRefusal", "bind", "bind_in_clause", "column_name", "introduce"]
