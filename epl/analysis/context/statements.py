"""What a context asks of the statements that name it."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.filters.partitions import lists
from epl.catalog import Catalog
from epl.errors import EplDeploymentError, EplValidationError
from epl.event_types import EventType
from epl.plan.context.contexts import CategoryLevel, Context
from epl.plan.expressions import Constant, Equality, Logic, Not, TypedExpression
from epl.plan.statements import BodyPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.streams import types_read
from epl.spans import Span
from epl.syntax import CreateWindow, Statement


def context_named(statement: Statement, catalog: Catalog) -> Context | None:
    """Return the context that a statement names; None where it names none."""
    if statement.context is None:
        return None
    context = catalog.contexts.get(statement.context)
    if context is None:
        raise EplValidationError(f"Context by name '{statement.context}' could not be found", span=statement.body.span or statement.span)
    return context


def check_types(statement: Statement, body: BodyPlan, context: Context, catalog: Catalog) -> None:
    """Refuse a statement none of whose event types the context lists."""
    if isinstance(body, CreateWindowPlan):
        assert isinstance(statement.body, CreateWindow)
        _check_window(statement.body, body, context)
        return
    windows = {id(w.event_type): w.source for w in catalog.named_windows.values() if w.context is context and w.source is not None}
    own_first = (*types_read(attrs.evolve(body, subqueries=())), *types_read(body.subqueries))
    read = [windows.get(id(one), one) for one in own_first]
    check_read(read, context, statement.body.span)


def check_read(read: Sequence[EventType], context: Context, span: Span | None) -> None:
    """Refuse a statement that reads these types if the context lists none of them."""
    _check(read, context, span, exact=False)


def check_categories(context: Context) -> None:
    """Refuse a category that no event can be in: when a statement is deployed, as Esper does, not when it is compiled."""
    for level in context.levels:
        for label, test in zip(level.labels, level.tests) if isinstance(level, CategoryLevel) else ():
            if _is_never_true(test):
                raise EplDeploymentError(
                    f"Category context '{context.name}' for category '{label}' has evaluated to a condition that cannot become true")


def _is_never_true(condition: TypedExpression) -> bool:
    """Return whether constants alone decide that it is not true."""
    if isinstance(condition, Constant):
        return condition.value is not True
    if isinstance(condition, Not):
        return isinstance(condition.operand, Constant) and condition.operand.value is not False
    if isinstance(condition, Logic):
        return (any if condition.operator == "and" else all)(map(_is_never_true, condition.operands))
    if isinstance(condition, Equality) and isinstance(condition.left, Constant) and isinstance(condition.right, Constant):
        left, right = condition.left.value, condition.right.value
        known = condition.null_safe or (left is not None and right is not None)
        return not known or (left == right) is condition.negated
    return False


def _check_window(written: CreateWindow, body: CreateWindowPlan, context: Context) -> None:
    source = body.window.source
    if source is None and any(not isinstance(level, CategoryLevel) and lists(level) is not None for level in context.levels):
        raise EplValidationError(
            f"Segmented context '{context.name}' requires that named windows are associated to an existing event type and that the event "
            "type is listed among the partitions defined by the create-context statement", span=written.span)
    if source is not None:
        _check([source], context, written.span, exact=True)


def _check(read: Sequence[EventType], context: Context, span: Span | None, *, exact: bool) -> None:
    """``exact``: an event of a sub-type is none of the type."""
    for level in context.levels:
        listed = lists(level)
        if listed is None or not read:
            continue
        if any(one is other or (not exact and one.is_a(other)) for one in read for other in listed):
            continue
        if isinstance(level, CategoryLevel):
            raise EplValidationError(
                f"Category context '{context.name}' requires that any of the events types that are listed in the category context also "
                "appear in any of the filter expressions of the statement", span=span)
        raise EplValidationError(
            f"Segmented context '{context.name}' requires that any of the event types that are listed in the segmented context also appear "
            f"in any of the filter expressions of the statement, type '{read[0].name}' is not one of the types listed", span=span)


__all__ = ["check_categories", "check_read", "check_types", "context_named"]
