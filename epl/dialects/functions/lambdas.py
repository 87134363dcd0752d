"""Functions that take a lambda: ``transform(a, x -> x + 1)``."""
from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any, Protocol

from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.functions.scalar import element
from epl.dialects.functions.sizes import check_size
from epl.dialects.syntax import tree as t
from epl.dialects.types import SqlType


class LambdaTyping(Protocol):
    """What types the arguments: epl.dialects.expression_types.Typing."""

    def typed(self, node: t.SqlExpression) -> y.Typed: ...

    def convert_to_type(self, typed: y.Typed, target: SqlType) -> y.Typed: ...

    def type_lambda(self, node: t.SqlExpression, kinds: list[SqlType]) -> y.LambdaOf | None: ...


Handler = Callable[["LambdaTyping", tuple[t.SqlExpression, ...]], "y.Typed | None"]


def call(typing: LambdaTyping, node: t.Call) -> y.Typed | None:
    """Return the typed call of a function with lambdas; None where there is none of this name with such arguments."""
    handler = HANDLERS.get(node.name)
    return None if handler is None else handler(typing, node.arguments)


def _array(typing: LambdaTyping, node: t.SqlExpression) -> tuple[y.Typed, SqlType] | None:
    if isinstance(node, t.Lambda):
        return None
    typed = typing.typed(node)
    return (typed, element(typed.type)) if typed.type.name == "array" else None


def _over_array(result: Callable[[y.Typed, y.LambdaOf], SqlType], compute: Callable[..., Any], *, tests: bool = False) -> Handler:
    """Return a function of an array and a lambda over its elements; ``tests``: the lambda is a condition."""

    def handler(typing: LambdaTyping, arguments: tuple[t.SqlExpression, ...]) -> y.Typed | None:
        array = _array(typing, arguments[0]) if len(arguments) == 2 else None
        function = None if array is None else typing.type_lambda(arguments[1], [array[1]])
        if array is None or function is None or (tests and function.type.name not in ("boolean", "unknown", "any")):
            return None
        return y.Apply(result(array[0], function), compute, (array[0], function))

    return handler


def _reduce(typing: LambdaTyping, arguments: tuple[t.SqlExpression, ...]) -> y.Typed | None:
    array = _array(typing, arguments[0]) if len(arguments) == 4 else None
    if array is None:
        return None
    start = typing.typed(arguments[1])
    step = typing.type_lambda(arguments[2], [start.type, array[1]])
    if step is not None and step.type != start.type:
        start = typing.convert_to_type(start, step.type)
        step = typing.type_lambda(arguments[2], [start.type, array[1]])
    end = typing.type_lambda(arguments[3], [start.type])
    if step is None or end is None:
        return None

    def compute(listed: Any, state: Any, add: Any, result: Any) -> Any:
        if listed is None:
            return None
        for each in listed:
            state = add(state, each)
        return result(state)

    return y.Apply(end.type, compute, (array[0], start, step, end), takes_null=True)


def _zip_with(typing: LambdaTyping, arguments: tuple[t.SqlExpression, ...]) -> y.Typed | None:
    arrays = [_array(typing, each) for each in arguments[:2]]
    if len(arguments) != 3 or arrays[0] is None or arrays[1] is None:
        return None
    function = typing.type_lambda(arguments[2], [arrays[0][1], arrays[1][1]])
    if function is None:
        return None

    def compute(left: list[Any], right: list[Any], pair: Any) -> list[Any]:
        count = max(len(left), len(right))
        pairs = zip(*([*each, *[None] * (count - len(each))] for each in (left, right)))
        return check_size(pair(a, b) for a, b in pairs)

    return y.Apply(k.array(function.type), compute, (arrays[0][0], arrays[1][0], function))


def _array_sort(typing: LambdaTyping, arguments: tuple[t.SqlExpression, ...]) -> y.Typed | None:
    array = _array(typing, arguments[0]) if len(arguments) == 2 else None
    function = None if array is None else typing.type_lambda(arguments[1], [array[1], array[1]])
    if array is None or function is None:
        return None
    return y.Apply(array[0].type, lambda listed, order: sorted(listed, key=cmp_to_key(order)), (array[0], function))


def _over_map(result: Callable[[SqlType, y.LambdaOf], SqlType], compute: Callable[..., Any]) -> Handler:
    def handler(typing: LambdaTyping, arguments: tuple[t.SqlExpression, ...]) -> y.Typed | None:
        if len(arguments) != 2 or isinstance(arguments[0], t.Lambda):
            return None
        typed = typing.typed(arguments[0])
        kinds = [each for each in typed.type.arguments if isinstance(each, SqlType)]
        function = typing.type_lambda(arguments[1], kinds) if typed.type.name == "map" else None
        return None if function is None else y.Apply(result(typed.type, function), compute, (typed, function))

    return handler


def _any_of(results: list[bool | None]) -> bool | None:
    return True if True in results else None if None in results else False


def _all_of(results: list[bool | None]) -> bool | None:
    return False if False in results else None if None in results else True


def _none_of(results: list[bool | None]) -> bool | None:
    known = _any_of(results)
    return None if known is None else not known


def _matches(pick: Callable[[list[bool | None]], bool | None]) -> Handler:
    return _over_array(lambda array, function: k.BOOLEAN, lambda listed, test: pick([test(each) for each in listed]), tests=True)


HANDLERS: dict[str, Handler] = {
    "transform": _over_array(lambda array, function: k.array(function.type), lambda listed,
    change: check_size(change(each) for each in listed)),
    "filter": _over_array(
        lambda array, function: array.type, lambda listed, test: [each for each in listed if test(each) is True], tests=True
    ),
    "any_match": _matches(_any_of), "all_match": _matches(_all_of), "none_match": _matches(_none_of),
    "reduce": _reduce, "zip_with": _zip_with, "array_sort": _array_sort,
    "map_filter": _over_map(lambda kind, function: kind, lambda value, test: {a: b for a, b in value.items() if test(a, b) is True}),
    "transform_values": _over_map(
        lambda kind, function: SqlType("map", (kind.arguments[0], function.type)),
        lambda value, change: dict(zip(value, check_size(change(a, b) for a, b in value.items()))),
    ),
    "transform_keys": _over_map(
        lambda kind, function: SqlType("map", (function.type, kind.arguments[1])),
        lambda value, change: {change(a, b): b for a, b in value.items()},
    ),
}  # fmt: skip
"""Functions by their names in lower case."""

__all__ = ["call"]
