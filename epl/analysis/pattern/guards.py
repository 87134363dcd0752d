"""Guards: ``where timer:within(…)``, ``where timer:withinmax(…)``, ``while (…)``."""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.paths import is_integer
from epl.analysis.pattern.parameters import object_text
from epl.analysis.pattern.tags import Tags
from epl.errors import EplValidationError
from epl.plan.expressions import TypedExpression
from epl.plan.patterns.pattern import PatternNode, WhileNode, WithinNode
from epl.syntax import Wildcard
from epl.syntax.expressions import CronPart
from epl.syntax.patterns import Guard
from epl.value_types import is_boolean, is_numeric

ONE_PERIOD = "Timer-within guard requires a single numeric or time period parameter"
PERIOD_AND_COUNT = (
    "Timer-within-or-max-count guard requires two parameters: numeric or time period parameter and an integer-value expression parameter"
)
ONE_CONDITION = "Expression pattern guard requires a single expression as a parameter returning a true or false (boolean) value"


def analyse_guard(guard: Guard, item: PatternNode, tags: Tags) -> PatternNode:
    """Return the guard over the item."""
    scope = tags.scope("pattern guard")
    known = guard.namespace or "", guard.name.lower() if guard.namespace is None else guard.name
    if known not in (("timer", "within"), ("timer", "withinmax"), ("", "while")):
        raise EplValidationError(
            f"Failed to resolve pattern guard '{object_text(guard)}': Pattern guard name '{guard.name}' is not a known pattern object name",
            span=guard.span)
    if any(isinstance(argument, (Wildcard, CronPart)) for argument in guard.arguments):
        raise _guard_refusal(guard, ONE_PERIOD if known[1] == "within" else PERIOD_AND_COUNT)
    arguments = [bind_in_clause(argument, scope) for argument in guard.arguments]
    if known[1] == "while":
        if len(arguments) != 1 or not is_boolean(arguments[0].type):
            raise _guard_refusal(guard, ONE_CONDITION)
        return WhileNode(item=item, condition=arguments[0])
    if known[1] == "within":
        if len(arguments) != 1 or not _is_period(arguments):
            raise _guard_refusal(guard, ONE_PERIOD)
        return WithinNode(item=item, period=arguments[0])
    if len(arguments) != 2 or not _is_period(arguments) or not is_integer(arguments[1].type):
        raise _guard_refusal(guard, PERIOD_AND_COUNT)
    return WithinNode(item=item, period=arguments[0], most=arguments[1])


def _is_period(arguments: Sequence[TypedExpression]) -> bool:
    return is_numeric(arguments[0].type)


def _guard_refusal(guard: Guard, message: str) -> EplValidationError:
    return EplValidationError(f"Invalid parameter for pattern guard '{object_text(guard)}': {message}", span=guard.span)


__all__ = ["analyse_guard"]
