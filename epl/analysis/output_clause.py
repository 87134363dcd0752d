"""output: when rows are put out, and which."""

from __future__ import annotations

from collections.abc import Container

from epl.analysis.binding import StatementRefusal, bind
from epl.analysis.scope import Scope
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.expressions import TypedExpression
from epl.plan.result_set import OutputPlan
from epl.syntax import Expression, Output
from epl.value_types import is_numeric

PREFIX = "Failed to validate the output rate limiting clause: "


def analyse_output(output: Output | None, catalog: Catalog, *, ordered: bool = False, hints: Container[str] = ()) -> OutputPlan | None:
    """The plan of an output clause; None without one. Raises EplUnsupportedError for ``at``, ``when`` and the terminated forms.

    ``ordered``: an order by stands behind it; ``hints``: names of the statement's hints, in lower case.
    """
    if output is None:
        return None
    for found, named in (
        (output.kind == "at", "at"),
        (output.kind == "when", "when"),
        (output.kind == "terminated" or output.and_terminated, "when terminated"),
    ):
        if found:
            raise EplUnsupportedError(f"'output {named}' is not supported yet", span=output.span)
    scope = Scope(catalog, clause="output-rate-limiting")
    every = None if output.rate is None else _bound(output.rate, scope)
    after = None if output.after is None else _bound(output.after, scope)
    if ordered and "enable_outputlimit_opt" in hints:
        raise StatementRefusal("The ENABLE_OUTPUTLIMIT_OPT hint is not supported with order-by", span=output.span)
    unit = output.unit if every is not None else None
    optimized = not ordered and "disable_outputlimit_opt" not in hints
    return OutputPlan(output.selector or "default", every, unit, after, output.after_unit, optimized)


def _bound(expression: Expression, scope: Scope) -> TypedExpression:
    """A number, a variable that holds one, or a time period."""
    try:
        bound = bind(expression, scope)
    except EplUnsupportedError:
        raise
    except EplValidationError as refusal:
        name = getattr(getattr(expression, "links", [None])[0], "name", None)
        message = f"Variable named '{name}' has not been declared" if name is not None else refusal.message
        raise StatementRefusal(PREFIX + message, span=expression.span) from refusal
    if not is_numeric(bound.type):
        raise StatementRefusal(PREFIX + "The number or time period must be numeric", span=expression.span)
    return bound
