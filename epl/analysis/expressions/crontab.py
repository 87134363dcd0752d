"""Crontabs: the parts as written → CrontabPlan."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.scope import Scope
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.crontab import CronField, CrontabPlan
from epl.plan.expressions import TypedExpression
from epl.syntax import Expression, NamedArgument, Wildcard
from epl.syntax.expressions import Chain, CronPart, Name
from epl.unparse import expression_text


def analyse_crontab(parts: Sequence[Expression], scope: Scope, *, most: int = 7, clause: str = "output limit") -> CrontabPlan:
    """Return the plan of 5 to ``most`` parts. Raise EplValidationError in Esper's words; only a part's own refusal has the ``clause`` in
    front."""
    if not 5 <= len(parts) <= most:
        raise EplValidationError(
            "Invalid schedule specification: Invalid number of crontab parameters, expecting between 5 and "
            f"{most} parameters, received {len(parts)}"
        )
    try:
        return CrontabPlan(tuple(_field(part, scope) for part in parts))
    except _PartRefusal as refusal:
        raise EplValidationError(
            f"Failed to validate {clause} expression '{refusal.message}", span=refusal.span) from refusal


def _field(part: Expression, scope: Scope) -> CronField:
    return attrs.evolve(_plain_field(part, scope), span=part.span)


def _plain_field(part: Expression, scope: Scope) -> CronField:
    if isinstance(part, Wildcard):
        return CronField("any")
    if isinstance(part, NamedArgument):  # low:high of two names is read as a named argument
        low = Chain((Name(part.name, span=part.span),), span=part.span)
        return CronField("range", _bind_part(low, scope), _bind_part(part.value, scope))
    if not isinstance(part, CronPart):
        return CronField("value", _bind_part(part, scope))
    if part.kind == "list":
        return CronField("list", items=tuple(_field(item, scope) for item in part.items))
    value = None if part.value is None else _bind_part(part.value, scope)
    high = None if part.high is None else _bind_part(part.high, scope)
    return CronField(part.kind, value, high)


def _bind_part(expression: Expression, scope: Scope) -> TypedExpression:
    try:
        bound = bind(expression, scope)
    except (EplUnsupportedError, StatementRefusal):
        raise
    except EplValidationError as refusal:
        raise _PartRefusal(f"{expression_text(expression)}': {refusal.message}", span=expression.span) from refusal
    return bound


class _PartRefusal(EplValidationError):
    """The refusal of a part, without what precedes the part's text."""


__all__ = ["analyse_crontab"]
