"""insert into X event-precedence(n): in which order inserted events are processed."""
from __future__ import annotations

from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.syntax import InsertInto
from epl.unparse import expression_text
from epl.value_types import Scalar


def bind_precedence(clause: InsertInto, target: EventType, catalog: Catalog) -> TypedExpression | None:
    """Return the precedence, evaluated on the inserted event; an int."""
    if clause.precedence is None:
        return None
    scope = Scope(catalog, (ScopeStream(None, target),), clause="event-precedence clause", allow_previous=False)
    try:
        bound = bind_in_clause(clause.precedence, scope)
    except StatementRefusal:
        raise
    except EplValidationError as error:
        raise EplValidationError(
            f"Failed to validate event-precedence considering only the output event type '{target.name}': {error.message} "
            "(NOTE: this validation only considers the result event itself and not incoming streams)",
            span=error.span,
        ) from error
    if not (isinstance(bound.type, Scalar) and bound.type.kind == "int"):
        raise EplValidationError(
            f"Event-precedence expected an expression returning an integer value but the expression '{expression_text(clause.precedence)}' "
            f"returns {bound.type.boxed}",
            span=clause.precedence.span,
        )
    return bound
