"""Aggregations written in Python: how a call of one types. ``runtime.register_aggregation("spread", Spread)`` → ``select spread(price)``.

    class Spread:
        def __init__(self): self.clear()
        def enter(self, price: float) -> None: ...     # a row comes; hints give the arguments' types
        def leave(self, price: float) -> None: ...     # the row leaves the window, with the values it came with
        def value(self) -> float | None: ...           # the hint gives the result's type
        def clear(self) -> None: ...                   # as if no row had ever come
        def state(self): ...                           # plain data for a snapshot
        def restore(self, state) -> None: ...          # that data back
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from epl.aggregations.functions import AggregationCall, AggregationSpec, whole_event
from epl.errors import EplValidationError
from epl.functions.registry import NOT_CONSTANT
from epl.functions.user import function_spec, hint_type, result_step
from epl.plan.aggregations import AggregationPlan

METHODS = ("enter", "leave", "value", "clear", "state", "restore")
PREFIX = "user."
"""In front of the name, the key of the accumulators."""


def aggregation_spec(name: str, factory: Callable[[], Any]) -> AggregationSpec:
    """Return the specification of a class (or anything that makes objects with its methods) under an EPL name.

    Raises TypeError naming the methods that it lacks.
    """
    aggregation = factory()
    lacking = [method for method in METHODS if not callable(getattr(aggregation, method, None))]
    if lacking:
        raise TypeError(f"the aggregation '{name}' lacks the methods {', '.join(lacking)}")
    entering = function_spec(name, aggregation.enter)
    result = hint_type(typing.get_type_hints(aggregation.value).get("return", object))

    def bind(call: AggregationCall) -> AggregationPlan:
        arguments = [whole_event(call) if a is None else a for a in call.arguments]
        bound = entering.bind([a.type for a in arguments], [NOT_CONSTANT] * len(arguments))
        if bound is None:
            types = ", ".join(str(a.type) for a in arguments)
            raise EplValidationError(
                f"Failed to resolve aggregation function '{call.name}': "
                f"its arguments are {inspect.signature(aggregation.enter)}, not ({types})"
            )
        return call.plan(PREFIX + name.lower(), arguments, result, constants=(bound.constants[0], result_step(result)))

    return AggregationSpec(name.lower(), bind, (inspect.getdoc(factory) or "").split("\n")[0])


__all__ = ["PREFIX", "aggregation_spec"]
