"""Joins: what their on clauses may say."""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.expressions import bind_in_clause
from epl.analysis.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.syntax import Expression, From
from epl.unparse import expression_text


def check_on_clauses(from_: From, streams: Sequence[ScopeStream], catalog: Catalog) -> None:
    """Each pair of an outer join's on clause compares a property of the joined stream with one of a stream before it; refuses in Esper's
    words.
    """
    scope = Scope(catalog, tuple(streams), clause="on-clause join")
    for joined, join in enumerate(from_.joins, 1):
        for left, right in join.on:
            try:
                _check_pair(joined, _property(left, right, left, scope), _property(left, right, right, scope), left)
            except EplValidationError as error:
                raise EplValidationError(
                    f"Failed to validate outer-join expression: {error.message}", span=error.span, hint=error.hint
                ) from error


def _property(left: Expression, right: Expression, side: Expression, scope: Scope) -> TypedExpression:
    try:
        return bind_in_clause(side, scope)
    except EplValidationError as error:
        cause = error.message.split("': ", 1)[-1]
        whole = f"{expression_text(left)}={expression_text(right)}"
        raise EplValidationError(
            f"Failed to validate on-clause join expression '{whole}': {cause}", span=error.span, hint=error.hint
        ) from error


def _check_pair(joined: int, left: TypedExpression, right: TypedExpression, where: Expression) -> None:
    sides = [side for side in (left, right) if isinstance(side, StreamProperty)]
    numbers = {side.stream for side in sides}
    later = next((side for side in sides if side.stream > joined), None)
    if later is not None:
        raise EplValidationError(
            f"Outer join ON-clause invalid scope for property '{later.name}', expecting the current or a prior stream scope",
            span=where.span
        )
    if len(numbers) == 1:
        raise EplValidationError("Outer join ON-clause cannot refer to properties of the same stream", span=where.span)
    if joined not in numbers:
        raise EplValidationError(
            f"Outer join ON-clause must refer to at least one property of the joined stream for stream {joined}", span=where.span
        )
