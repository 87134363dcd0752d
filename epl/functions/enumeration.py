"""Enumeration methods: ``collection.where(x => …)`` over events and values.

Rules that Esper has and one may not expect: a predicate that gives null passes (anyOf and allOf ask for true); ``selectFrom`` leaves null
results out;
sums, averages, min and max skip nulls and are null where nothing is left; ties go to the element that came first.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs

from epl.event_types import EventOf
from epl.functions import enumeration_evaluation as run
from epl.functions.footprints import AGGREGATE, NOTHING, Footprint, lambdas, mismatch, plain, shapes
from epl.functions.registry import FIRST_ARGUMENT, Bound, EnumerationSpec, FunctionRegistry
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOXED_BOOLEAN,
    BOXED_INT,
    DOUBLE,
    LONG,
    OBJECT,
    ArrayType,
    CollectionType,
    MapType,
    Scalar,
    ValueType,
    is_boolean,
    is_null,
    is_numeric,
)

PREDICATE, SELECTOR = lambdas("predicate"), lambdas("value-selector")
NOT_COMPARABLE = (EventOf, ArrayType, CollectionType, MapType)
Typing = Callable[[str, ValueType, Sequence[ValueType]], ValueType]
"""(method, element type, argument types) → result type; raises ValueError."""


def element_type(collection: ValueType) -> ValueType | None:
    """Return the boxed type of the elements, or None for what is not a collection."""
    return collection.element.boxed if isinstance(collection, (ArrayType, CollectionType)) else None


@attrs.frozen
class _Method:
    """``events``: whether the form without arguments takes events. ``constants`` of the bound call, from the same types as ``typing``."""

    name: str
    footprints: tuple[Footprint, ...]
    typing: Typing
    make: Callable[..., Callable[..., Any]]
    summary: str
    events: bool = True
    constants: Callable[[ValueType, Sequence[ValueType]], tuple[Any, ...]] = lambda _element, _arguments: ()

    def spec(self) -> EnumerationSpec:
        return EnumerationSpec(
            name=self.name, arguments=self.arguments, bind=self.bind, make=self.make, summary=self.summary,
            signature=" | ".join(_call_form(self.name, f) for f in self.footprints),
                mismatch=partial(mismatch, self.name, self.footprints),
        )

    def arguments(self, element: ValueType, count: int) -> Sequence[Any]:
        leading = (FIRST_ARGUMENT, element) if self.name == "aggregate" else (element,)
        return shapes(self.footprints, leading, count)

    def bind(self, collection: ValueType, arguments: Sequence[ValueType]) -> Bound | None:
        element = element_type(collection)
        if element is None:
            raise ValueError(
                f"Invalid input for built-in enumeration method '{self.name}', expecting collection of event-type or scalar values "
                "as input, "
                f"received {collection}"
            )
        if not arguments and not self.events and isinstance(element, EventOf):
            raise _wrong_input(self.name, 0, element)
        return Bound(self.typing(self.name, element, arguments), self.constants(element, arguments))


def _wrong_input(name: str, count: int, element: ValueType) -> ValueError:
    return ValueError(
        f"Invalid input for built-in enumeration method '{name}' and {count}-parameter footprint, expecting collection of values "
        f"(typically scalar "
        f"values) as input, received collection of events of type '{element}'"
    )


def _call_form(name: str, footprint: Footprint) -> str:
    def form(count: int) -> str:
        if not count:
            return "expression"
        names = ("result", "v", "i", "size") if name == "aggregate" else ("v", "i", "size")
        return f"({', '.join(names[:count])}) => …" if count > 1 else "v => …"

    return f"collection.{name}({', '.join(form(a.parameters) for a in footprint)})"


# ------------------------------------------------------------------ types


def _expectation(name: str, expected: str, received: ValueType, position: int = 0) -> ValueError:
    if is_null(received):
        detail = f"expected a non-null result for expression parameter {position} but received a null-typed expression"
    else:
        detail = f"expected a {expected}-type result for expression parameter {position} but received {received}"
    return ValueError(f"Failed to validate enumeration method '{name}', {detail}")


def _check_predicate(name: str, arguments: Sequence[ValueType]) -> None:
    if arguments and not is_boolean(arguments[0]):
        raise _expectation(name, "boolean", arguments[0])


def _check_count(name: str, arguments: Sequence[ValueType]) -> None:
    if not is_numeric(arguments[0]):
        raise _expectation(name, "number", arguments[0])


def _selector_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    """Return the type of the values that a method works on: a selector's results, or the elements."""
    value = arguments[0].boxed if arguments else element
    if is_null(value):
        raise ValueError("Null-type is not allowed")
    return value


def _comparison_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    value = _selector_type(name, element, arguments)
    if isinstance(value, NOT_COMPARABLE):
        raise ValueError(f"Failed to validate enumeration method '{name}', values of type {value} cannot be compared")
    return value


def _number(name: str, element: ValueType, arguments: Sequence[ValueType]) -> Scalar:
    if arguments:
        if not is_numeric(arguments[0]):
            raise _expectation(name, "number", arguments[0])
        value = arguments[0].boxed
    else:
        value = element
        if not is_numeric(element):
            raise ValueError(
                f"Invalid input for built-in enumeration method '{name}' and 0-parameter footprint, expecting collection of "
                "numeric values as input, "
                f"received java.util.Collection<{element}>"
            )
    assert isinstance(value, Scalar)
    return value


def _sum_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    kind = _number(name, element, arguments).kind
    return {"BigDecimal": BIG_DECIMAL, "BigInteger": BIG_INTEGER, "long": LONG.boxed, "byte": BOXED_INT, "short": BOXED_INT,
        "int": BOXED_INT}.get(
        kind, DOUBLE.boxed)


def _average_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    return BIG_DECIMAL if _number(name, element, arguments).kind in ("BigDecimal", "BigInteger") else DOUBLE.boxed


def _same(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    return CollectionType(element)


def _filter_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    _check_predicate(name, arguments)
    return CollectionType(element)


def _one_filtered(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    _check_predicate(name, arguments)
    return element


def _test_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    _check_predicate(name, arguments)
    return BOXED_BOOLEAN


def _count_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    _check_predicate(name, arguments)
    return BOXED_INT


def _take_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    _check_count(name, arguments)
    return CollectionType(element)


def _element_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    _comparison_type(name, element, arguments)
    return element


def _order_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    _comparison_type(name, element, arguments)
    return CollectionType(element)


def _or_object(value: ValueType) -> ValueType:
    return OBJECT if is_null(value) else value.boxed


def _select_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    return CollectionType(_or_object(arguments[0]))


def _array_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    return ArrayType(_selector_type(name, element, arguments))


def _group_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    value = _or_object(arguments[1]) if len(arguments) > 1 else element
    return MapType(_or_object(arguments[0]), CollectionType(value))


def _map_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    return MapType(_or_object(arguments[0]), _or_object(arguments[1]))


def _aggregate_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    seed, body = arguments[0].boxed, arguments[1].boxed
    if is_null(seed):
        raise ValueError("Initialization value is null-typed")
    if not is_null(body) and body != seed and seed != OBJECT:
        raise ValueError(
            f"Failed to validate enumeration method '{name}', expected a result of the initialization value's type {seed} "
            f"but received {body}")
    return seed


def _argument_error(name: str, what: str, element: ValueType) -> ValueError:
    return ValueError(
        f"Enumeration method '{name}' requires an expression yielding a collection of {what} of type '{element}' as input parameter")


def _set_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    other = element_type(arguments[0])
    if isinstance(element, EventOf):
        if other is None or not isinstance(other, EventOf):
            raise _argument_error(name, "events", element)
        if not other.event_type.is_a(element.event_type):
            raise ValueError(f"Enumeration method '{name}' expects event type '{element}' but receives event type '{other}'")
    elif other is None or isinstance(other, EventOf):
        raise _argument_error(name, "values", element)
    elif other != element and OBJECT not in (element, other):
        raise ValueError(f"Enumeration method '{name}' expects scalar type '{element}' but receives event type '{other}'")
    return CollectionType(element)


def _sequence_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    if isinstance(element, EventOf):
        raise _wrong_input(name, 1, element)
    return BOXED_BOOLEAN


# ------------------------------------------------------------------ the methods


def _sum_kind(element: ValueType, arguments: Sequence[ValueType]) -> tuple[Any, ...]:
    kind = _sum_type("sumOf", element, arguments)
    return (kind.kind,) if isinstance(kind, Scalar) else ()


def _average_kind(math_context: tuple[int, str] | None, element: ValueType, arguments: Sequence[ValueType]) -> tuple[Any, ...]:
    return (_number("average", element, arguments).kind, math_context)


def _methods(math_context: tuple[int, str] | None) -> list[_Method]:
    return [*_selecting(), *_numeric(math_context), *_comparing(), *_combining(), *_mapping()]


def _selecting() -> list[_Method]:
    return [
        _Method("where", PREDICATE, _filter_type, run.where, "The elements for which the predicate is not false."),
        _Method("anyOf", PREDICATE, _test_type, run.any_of, "Whether the predicate is true for an element; false of an empty collection."),
        _Method("allOf", PREDICATE, _test_type, run.all_of,
        "Whether the predicate is true for every element; true of an empty collection."),
        _Method("countOf", (*NOTHING, *PREDICATE), _count_type, run.count_of,
            "The number of elements, or of those for which the predicate is not false."),
        _Method("firstOf", (*NOTHING, *PREDICATE), _one_filtered, run.first_of,
            "The first element, or the first for which the predicate is not false."),
        _Method("lastOf", (*NOTHING, *PREDICATE), _one_filtered, run.last_of,
            "The last element, or the last for which the predicate is not false."),
        _Method("take", plain("count"), _take_type, run.take, "The first n elements."),
        _Method("takeLast", plain("count"), _take_type, run.take_last, "The last n elements."),
        _Method("takeWhile", PREDICATE, _filter_type, run.take_while, "The elements before the first for which the predicate is false."),
        _Method("takeWhileLast", PREDICATE, _filter_type, run.take_while_last,
                "The elements after the last for which the predicate is false; the index counts from the end."),
    ]


def _numeric(math_context: tuple[int, str] | None) -> list[_Method]:
    forms = (*NOTHING, *SELECTOR)
    return [
        _Method("sumOf", forms, _sum_type, run.sum_of, "The sum of what is not null: int, long, double, BigInteger or BigDecimal.", False,
            _sum_kind),
        _Method("average", forms, _average_type, run.average, "The average of what is not null: double or BigDecimal.", False,
                partial(_average_kind, math_context)),
        _Method("aggregate", AGGREGATE, _aggregate_type, run.aggregate,
            "The state after all elements: it begins with the first argument and the lambda gives the next."),
    ]


def _comparing() -> list[_Method]:
    forms = (*NOTHING, *SELECTOR)
    return [
        _Method("min", forms, _comparison_type, run.minimum, "The smallest value that is not null.", False),
        _Method("max", forms, _comparison_type, run.maximum, "The largest value that is not null.", False),
        _Method("minBy", SELECTOR, _element_type, run.min_by, "The first element with the smallest value."),
        _Method("maxBy", SELECTOR, _element_type, run.max_by, "The first element with the largest value."),
        _Method("orderBy", forms, _order_type, run.order_by, "The elements by ascending value, equal ones in their order; nulls first.",
            False),
        _Method("orderByDesc", forms, _order_type, run.order_by_descending,
            "The elements by descending value, equal ones in their order; nulls last.", False),
        _Method("mostFrequent", forms, _selector_type, run.most_frequent, "The value that occurs most often; the first of several.", False),
        _Method("leastFrequent", forms, _selector_type, run.least_frequent, "The value that occurs least often; the first of several.",
        False),
    ]


def _combining() -> list[_Method]:
    other = plain("collection")
    return [
        _Method("except", other, _set_type, run.except_, "The elements that are not in the other collection."),
        _Method("intersect", other, _set_type, run.intersect, "The elements that are in the other collection too."),
        _Method("union", other, _set_type, run.union, "The elements, followed by those of the other collection."),
        _Method("sequenceEqual", plain("sequence"), _sequence_type, run.sequence_equal,
            "Whether the other collection has equal values in the same order."),
        _Method("reverse", NOTHING, _same, run.reverse, "The elements from the last to the first."),
    ]


def _mapping() -> list[_Method]:
    groups = (*lambdas("key-selector"), *lambdas("key-selector", "value-selector"))
    return [
        _Method("selectFrom", SELECTOR, _select_type, run.select_from, "The lambda's results that are not null."),
        _Method("arrayOf", (*NOTHING, *SELECTOR), _array_type, run.array_of, "The values, or the lambda's results, as an array.", False),
        _Method("distinctOf", (*NOTHING, *SELECTOR), _distinct_type, run.distinct_of, "The first element of each value.", False),
        _Method("groupBy", groups, _group_type, run.group_by, "A map from each key to its elements, or to the second lambda's results."),
        _Method("toMap", lambdas("key-selector", "value-selector"), _map_type, run.to_map,
            "A map from keys to values; the last of equal keys wins."),
    ]


def _distinct_type(name: str, element: ValueType, arguments: Sequence[ValueType]) -> ValueType:
    return CollectionType(element)




def add_enumeration(registry: FunctionRegistry, math_context: tuple[int, str] | None = None) -> None:
    """Add all enumeration methods; ``math_context`` (precision, rounding) is for averages of big numbers."""
    for method in _methods(math_context):
        registry.add_enumeration(method.spec())
