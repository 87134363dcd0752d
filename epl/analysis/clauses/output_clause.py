"""output: when rows are emitted, and which."""

from __future__ import annotations

from collections.abc import Container

import attrs

from epl.analysis.clauses.assignments import analyse_assignment
from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.context_values import ContextRefusal
from epl.analysis.expressions.crontab import analyse_crontab
from epl.analysis.expressions.scope import Scope
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.assignments import VariableAssignment
from epl.plan.crontab import CrontabPlan
from epl.plan.expressions import Constant, TimeSpan, TypedExpression, VariableValue
from epl.plan.result_set import OUTPUT_NAMES, OutputPlan, TerminatedOutput
from epl.spans import Span
from epl.syntax import Assignment, Expression, Output
from epl.syntax.expressions import Chain
from epl.unparse import expression_text
from epl.value_types import INT, LONG, SHORT, is_boolean, is_numeric

PREFIX = "Failed to validate the output rate limiting clause: "
NO_AGGREGATION = "Aggregation functions may not be used within the output limit clause"


def _refuse_order(hints: Container[str], span: Span | None) -> None:
    if "enable_outputlimit_opt" in hints:
        raise StatementRefusal("The ENABLE_OUTPUTLIMIT_OPT hint is not supported with order-by", span=span)


def analyse_output(
    output: Output | None, catalog: Catalog, *, ordered: bool = False, limited: bool = False, hints: Container[str] = ()
) -> OutputPlan | None:
    """Return the plan of an output clause; None without one.

    ``ordered``, ``limited``: an order by, a limit follows it; ``hints``: names of the statement's hints, in lower case.
    """
    if output is None:
        if ordered or limited:
            _refuse_order(hints, None)
        return None
    scope = Scope(catalog, clause="output-rate-limiting", aggregation_refusal=NO_AGGREGATION)
    every = None if output.rate is None else _bind_rate(output.rate, scope)
    after = None if output.after is None else _bind_rate(output.after, scope)
    if ordered or limited:
        _refuse_order(hints, output.span)
    unit = output.unit if every is not None else None
    _check_rate(every, unit, output)
    requested = catalog.settings.output_limit_opt or "enable_outputlimit_opt" in hints
    optimized = requested and not ordered and "disable_outputlimit_opt" not in hints
    plan = OutputPlan(
        selector=output.selector or "default", every=every, unit=unit, after=after, after_unit=output.after_unit, optimized=optimized
    )
    if output.kind == "at":
        plan = attrs.evolve(plan, crontab=_crontab(output, scope))
    if output.kind == "when":
        plan = attrs.evolve(plan, condition=_condition(output.condition, scope), assignments=_assignments(output.assignments, scope))
    plan = attrs.evolve(plan, terminated=_analyse_termination(output, scope))
    return plan if plan.has_rate else _without_rate(plan)


def _without_rate(plan: OutputPlan) -> OutputPlan | None:
    """Return what is left of a clause without a rate: ``output snapshot`` alone limits nothing, as recorded."""
    return None if plan.after is None else attrs.evolve(plan, selector="default")


def _check_rate(every: TypedExpression | None, unit: str | None, output: Output) -> None:
    """Refuse a rate that never comes due, as far as it is constant."""
    if unit == "events":
        if isinstance(every, Constant) and every.value is not None and every.value < 1:
            raise StatementRefusal(
                f"{PREFIX}Limiting output by event count requires an event count of at least 1 or a variable name", span=output.span)
        if isinstance(every, VariableValue) and every.type.boxed not in (INT.boxed, LONG.boxed, SHORT.boxed):
            raise StatementRefusal(f"{PREFIX}Variable named '{every.name}' must be type integer, long or short", span=output.span)
    elif isinstance(every, TimeSpan) and all(isinstance(value, Constant) and (value.value or 0) <= 0 for _, value in every.parts):
        raise StatementRefusal("Invalid time period expression returns a zero or negative time interval", span=output.span)


def _analyse_termination(output: Output, scope: Scope) -> TerminatedOutput | None:
    """Analyse ``when terminated [and …] [then set …]``, alone or after another time."""
    if output.kind != "terminated" and not output.and_terminated:
        return None
    own = output.kind == "terminated"
    written = output.condition if own else output.terminated_condition
    if not own and output.kind != "when" and (written is not None or output.terminated_assignments):
        raise StatementRefusal("A terminated-and expression must be used with the OUTPUT WHEN clause", span=output.span)
    return TerminatedOutput(
        condition=_condition(written, scope, "The terminated-and expression"),
        assignments=_assignments(output.assignments if own else output.terminated_assignments, scope))


def _crontab(output: Output, scope: Scope) -> CrontabPlan:
    try:
        return analyse_crontab(output.crontab, scope)
    except (EplUnsupportedError, StatementRefusal):
        raise
    except EplValidationError as refusal:
        raise StatementRefusal(PREFIX + refusal.message, span=refusal.span or output.span) from refusal


# ------------------------------------------------------------------ when … then set …


def _with_counts(scope: Scope) -> Scope:
    """Return the scope with what the condition counts."""
    return scope.with_locals(*((name, LONG if name == "last_output_timestamp" else INT) for name in OUTPUT_NAMES))


def _condition(
    condition: Expression | None, scope: Scope, title: str = "The when-trigger expression in the OUTPUT WHEN clause"
) -> TypedExpression | None:
    if condition is None:
        return None
    try:
        bound = bind(condition, _with_counts(scope))
    except (EplUnsupportedError, ContextRefusal):
        raise
    except EplValidationError as refusal:
        message = f"Failed to validate output limit expression '{expression_text(condition)}': {refusal.message}"
        raise StatementRefusal(message, span=refusal.span) from refusal
    if not is_boolean(bound.type):
        raise StatementRefusal(f"{title} must return a boolean-type value", span=condition.span)
    return bound


def _assignments(written: tuple[Assignment, ...], scope: Scope) -> tuple[VariableAssignment, ...]:
    inner = attrs.evolve(_with_counts(scope), clause="update assignment", allow_previous=False)
    assignments = []
    for number, assignment in enumerate(written):
        try:
            assignments.append(analyse_assignment(assignment, number, inner))
        except StatementRefusal as refusal:
            if not refusal.message.startswith("Failed to validate assignment expression"):
                raise
            raise StatementRefusal(PREFIX + refusal.message, span=refusal.span) from refusal
    return tuple(assignments)


# ------------------------------------------------------------------ every


def _bind_rate(expression: Expression, scope: Scope) -> TypedExpression:
    """Return a number, a variable that holds one, or a time period."""
    try:
        bound = bind(expression, scope)
    except EplUnsupportedError:
        raise
    except ContextRefusal as refusal:
        if not isinstance(expression, Chain):
            raise
        raise StatementRefusal(PREFIX + refusal.message, span=expression.span) from refusal
    except EplValidationError as refusal:
        name = getattr(getattr(expression, "links", [None])[0], "name", None)
        message = f"Variable named '{name}' has not been declared" if name is not None else refusal.message
        raise StatementRefusal(PREFIX + message, span=expression.span) from refusal
    if not is_numeric(bound.type):
        raise StatementRefusal(PREFIX + "The number or time period must be numeric", span=expression.span)
    return bound


__all__ = ["analyse_output"]
