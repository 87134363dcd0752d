"""``bind``: from an expression as written to a typed one. Each kind of node has its function, registered beside its relatives."""
from __future__ import annotations

from functools import singledispatch
from typing import Any
from typing import Literal as Choice

from epl.analysis.expressions.scope import Scope
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.expressions import TypedExpression
from epl.syntax.expressions import Expression


class StatementRefusal(EplValidationError):
    """A refusal that Esper gives for the statement as a whole: no clause precedes it."""


class SubqueryRefusal(StatementRefusal):
    """A refusal of a sub-query by itself, which Esper plans before the clauses that it occurs in."""


@singledispatch
def bind_node(expression: Any, scope: Scope) -> TypedExpression:
    """Return the typed expression of one node; modules register a function for each kind of node."""
    raise EplUnsupportedError(
        f"an expression of kind {type(expression).__name__} is not supported "
        "here", span=getattr(expression, "span", None))


SubqueryUse = Choice["value", "rows", "exists", "in", "any", "all"]
"""What is asked of the rows of a sub-query."""


@singledispatch
def bind_subquery(
    subquery: Any, scope: Scope, use: SubqueryUse, compared: Expression | None = None, operator: str = "="
) -> TypedExpression:
    """Return the typed expression of a sub-query (epl.analysis.clauses.subqueries registers it). ``compared``: what ``in``, any and all
    compare with its rows by ``operator``.
    """
    raise EplUnsupportedError("sub-queries are not supported here", span=getattr(subquery, "span", None))


def bind(expression: Expression, scope: Scope) -> TypedExpression:
    """Resolve names and types, and make Java's rules explicit.

    Raises EplValidationError in Esper's words without the clause; its span is that of the innermost expression refused.
    """
    try:
        return bind_node(expression, scope)
    except EplValidationError as error:
        if error.span is None:
            error.span = expression.span
        raise
