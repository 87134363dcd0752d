"""Enumeration methods: values as Esper 9.0.0 gives them, refusals in its words, and a naive reading beside each."""
from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.event_types import EventOf, EventType, Property
from epl.functions.library import builtin_functions
from epl.functions.registry import FIRST_ARGUMENT, LambdaShape
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOXED_BOOLEAN,
    BOXED_DOUBLE,
    BOXED_FLOAT,
    BOXED_INT,
    BOXED_LONG,
    BOXED_SHORT,
    INT,
    NULL,
    OBJECT,
    STRING,
    ArrayType,
    CollectionType,
    ValueType,
)
from windows.event import event_class

REGISTRY = builtin_functions()
INTS, TEXTS = CollectionType(BOXED_INT, "List"), CollectionType(STRING, "List")
NUMBERS = [None, 3, None, 1, 2, 1]
WORDS = ["bb", "a", "ccc", "dd", "a", "e"]
ABOVE_ONE = (BOXED_BOOLEAN, lambda v: None if v is None else v > 1)
LENGTH = (INT, lambda v: len(v))


def call(name: str, collection: ValueType, items: Any, *arguments: tuple[ValueType, Any]) -> tuple[str, Any]:
    """The result type and value; a Python function is a lambda."""
    spec = REGISTRY.enumeration[name.lower()]
    counts = tuple(a.__code__.co_argcount if callable(a) else 0 for _, a in arguments)
    mismatch = spec.mismatch([c or None for c in counts])
    if mismatch is not None:
        raise ValueError(mismatch)
    bound = spec.bind(collection, [t for t, _ in arguments])
    assert bound is not None
    return str(bound.type), spec.make(counts, *bound.constants)(items, *[a for _, a in arguments])


CASES: list[tuple[str, ValueType, Any, tuple[tuple[ValueType, Any], ...], str, Any]] = [
    ("countOf", INTS, NUMBERS, (ABOVE_ONE,), "Integer", 4),
    ("firstOf", INTS, NUMBERS, (ABOVE_ONE,), "Integer", None),
    ("lastOf", INTS, NUMBERS, (ABOVE_ONE,), "Integer", 2),
    ("anyOf", INTS, NUMBERS, ((BOXED_BOOLEAN, lambda v: None if v is None else v > 100),), "Boolean", False),
    ("allOf", INTS, NUMBERS, ((BOXED_BOOLEAN, lambda v, i: None if v is None else v > 0),), "Boolean", False),
    ("takeWhileLast", INTS, NUMBERS, (ABOVE_ONE,), "Collection<Integer>", []),
    ("takeWhileLast", INTS, NUMBERS, ((BOXED_BOOLEAN, lambda v, i: i < 2),), "Collection<Integer>", [2, 1]),
    ("takeWhile", INTS, [3, 1, 2], ((BOXED_BOOLEAN, lambda v: v is not None and v > 2),), "Collection<Integer>", [3]),
    ("where", INTS, [3, 1, 2], ((BOXED_BOOLEAN, lambda v, i, size: v > 1 and i < size - 1),), "Collection<Integer>", [3]),
    ("selectFrom", INTS, NUMBERS, ((BOXED_INT, lambda v: v),), "Collection<Integer>", [3, 1, 2, 1]),
    ("selectFrom", TEXTS, WORDS, (LENGTH,), "Collection<Integer>", [2, 1, 3, 2, 1, 1]),
    ("selectFrom", INTS, NUMBERS, ((NULL, lambda v: None),), "Collection", []),
    ("arrayOf", INTS, NUMBERS, (), "Integer[]", NUMBERS),
    ("arrayOf", INTS, NUMBERS, ((INT, lambda v, i: i),), "Integer[]", [0, 1, 2, 3, 4, 5]),
    ("mostFrequent", INTS, NUMBERS, (), "Integer", None),
    ("leastFrequent", INTS, NUMBERS, (), "Integer", 3),
    ("mostFrequent", TEXTS, WORDS, (LENGTH,), "Integer", 1),
    ("min", INTS, NUMBERS, (), "Integer", 1),
    ("max", INTS, NUMBERS, (), "Integer", 3),
    ("min", INTS, [None], (), "Integer", None),
    ("max", TEXTS, WORDS, (), "String", "e"),
    ("minBy", INTS, NUMBERS, ((BOXED_INT, lambda v: v),), "Integer", 1),
    ("minBy", INTS, NUMBERS, ((BOXED_INT, lambda v, i: i),), "Integer", None),
    ("maxBy", TEXTS, WORDS, (LENGTH,), "String", "ccc"),
    ("sumOf", INTS, NUMBERS, (), "Integer", 7),
    ("sumOf", INTS, [], (), "Integer", None),
    ("sumOf", INTS, [2**31 - 1] * 6, (), "Integer", -6),
    ("sumOf", INTS, NUMBERS, ((BOXED_LONG, lambda v, i, size: i),), "Long", 15),
    ("sumOf", CollectionType(BOXED_FLOAT), [1.5, 2.5], (), "Double", 4.0),
    ("sumOf", CollectionType(BOXED_SHORT), [1, 2], (), "Integer", 3),
    ("sumOf", CollectionType(BIG_INTEGER), [1, 2], (), "BigInteger", 3),
    ("sumOf", CollectionType(BIG_DECIMAL), [Decimal("1.10"), None, Decimal("2")], (), "BigDecimal", Decimal("3.10")),
    ("average", INTS, NUMBERS, (), "Double", 1.75),
    ("average", INTS, [None], (), "Double", None),
    ("average", CollectionType(BIG_DECIMAL), [Decimal(1), Decimal(2), Decimal(3)], (), "BigDecimal", Decimal(2)),
    ("average", CollectionType(BIG_INTEGER), [1, 1], (), "BigDecimal", Decimal(1)),
    ("average", TEXTS, WORDS, ((BIG_DECIMAL, lambda v: Decimal(len(v))),), "BigDecimal", Decimal(0)),
    ("aggregate", INTS, NUMBERS, ((INT, 0), (BOXED_INT, lambda r, v, i: r + i)), "Integer", 15),
    ("aggregate", INTS, NUMBERS, ((INT, 0), (BOXED_INT, lambda r, v, i, size: r + size)), "Integer", 36),
    ("aggregate", INTS, [], ((INT, 0), (BOXED_INT, lambda r, v: r + v)), "Integer", 0),
    ("take", INTS, NUMBERS, ((INT, 2),), "Collection<Integer>", [None, 3]),
    ("take", INTS, NUMBERS, ((INT, -1),), "Collection<Integer>", []),
    ("take", INTS, NUMBERS, ((BOXED_INT, None),), "Collection<Integer>", None),
    ("take", INTS, NUMBERS, ((BOXED_DOUBLE, 1.5),), "Collection<Integer>", [None]),
    ("takeLast", INTS, NUMBERS, ((INT, 2),), "Collection<Integer>", [2, 1]),
    ("takeLast", INTS, NUMBERS, ((INT, 0),), "Collection<Integer>", []),
    ("takeLast", INTS, NUMBERS, ((INT, 100),), "Collection<Integer>", NUMBERS),
    ("distinctOf", INTS, NUMBERS, (), "Collection<Integer>", [None, 3, 1, 2]),
    ("distinctOf", TEXTS, WORDS, (LENGTH,), "Collection<String>", ["bb", "a", "ccc"]),
    ("distinctOf", CollectionType(ArrayType(INT)), [[1, 2], [2], [1, 2]], (), "Collection<int[]>", [[1, 2], [2]]),
    ("groupBy", TEXTS, WORDS, (LENGTH,), "Map<Integer,Collection<String>>", {2: ["bb", "dd"], 1: ["a", "a", "e"], 3: ["ccc"]}),
    ("groupBy", INTS, NUMBERS, ((BOXED_INT, lambda v, i: v), (INT, lambda v, i: i)), "Map<Integer,Collection<Integer>>",
     {None: [0, 2], 3: [1], 1: [3, 5], 2: [4]}),
    ("toMap", INTS, NUMBERS, ((BOXED_INT, lambda v, i: v), (INT, lambda v, i: i)), "Map<Integer,Integer>", {None: 2, 1: 5, 2: 4, 3: 1}),
    ("orderBy", TEXTS, WORDS, (LENGTH,), "Collection<String>", ["a", "a", "e", "bb", "dd", "ccc"]),
    ("orderByDesc", TEXTS, WORDS, (LENGTH,), "Collection<String>", ["ccc", "bb", "dd", "a", "a", "e"]),
    ("orderBy", TEXTS, WORDS, ((INT, lambda v: 0),), "Collection<String>", WORDS),
    ("orderBy", INTS, [3, 1, 2], ((INT, lambda v, i, size: -i),), "Collection<Integer>", [2, 1, 3]),
    ("except", INTS, NUMBERS, ((INTS, [3]),), "Collection<Integer>", [None, None, 1, 2, 1]),
    ("except", INTS, NUMBERS, ((INTS, None),), "Collection<Integer>", NUMBERS),
    ("intersect", INTS, NUMBERS, ((INTS, [1, 2]),), "Collection<Integer>", [1, 2, 1]),
    ("intersect", INTS, NUMBERS, ((INTS, None),), "Collection<Integer>", NUMBERS),
    ("union", INTS, [1], ((ArrayType(INT), [7]),), "Collection<Integer>", [1, 7]),
    ("union", INTS, [1], ((INTS, None),), "Collection<Integer>", [1]),
    ("sequenceEqual", INTS, NUMBERS, ((INTS, list(NUMBERS)),), "Boolean", True),
    ("sequenceEqual", INTS, NUMBERS, ((INTS, None),), "Boolean", False),
    ("sequenceEqual", INTS, NUMBERS, ((INT, 1),), "Boolean", False),
    ("reverse", INTS, [1, 2], (), "Collection<Integer>", [2, 1]),
]


@pytest.mark.parametrize(("name", "collection", "items", "arguments", "result_type", "result"), CASES)
def test_result(name: str, collection: ValueType, items: Any, arguments: tuple[tuple[ValueType, Any], ...], result_type: str,
    result: Any) -> None:
    assert call(name, collection, items, *arguments) == (result_type, result)
    assert call(name, collection, None, *arguments)[1] is None


REFUSALS: list[tuple[str, ValueType, tuple[tuple[ValueType, Any], ...], str]] = [
    ("where", INTS, (), "Parameters mismatch for enumeration method 'where', the method has multiple footprints accepting a lambda "
     "expression "
     "providing predicate, or a 2-parameter lambda expression providing (predicate, index), or a 3-parameter lambda expression providing "
     "(predicate, index, size), but receives no parameters"),
    ("where", INTS, ((INT, 1),), "Parameters mismatch for enumeration method 'where', the method requires a lambda expression "
     "providing predicate, "
     "but receives an (non-lambda) expression"),
    ("take", INTS, (), "Parameters mismatch for enumeration method 'take', the method requires an (non-lambda) expression providing count"),
    ("take", INTS, ((INT, lambda v: 1),),
        "Parameters mismatch for enumeration method 'take', the method requires an (non-lambda) expression "
     "providing count, but receives a lambda expression"),
    ("reverse", INTS, ((INT, 1),), "Parameters mismatch for enumeration method 'reverse', the method requires no parameters"),
    ("where", INTS, ((BOXED_BOOLEAN, lambda a, b, c, d: True),),
        "Parameters mismatch for enumeration method 'where', the method requires a lambda "
     "expression providing predicate, but receives a 4-parameter lambda expression"),
    ("where", INTS, ((BOXED_INT, lambda v: v),),
        "Failed to validate enumeration method 'where', expected a boolean-type result for expression "
     "parameter 0 but received Integer"),
    ("sumOf", INTS, ((NULL, lambda v: None),),
        "Failed to validate enumeration method 'sumOf', expected a non-null result for expression parameter 0 "
     "but received a null-typed expression"),
    ("average", INTS, ((STRING, lambda v: ""),),
        "Failed to validate enumeration method 'average', expected a number-type result for expression "
     "parameter 0 but received String"),
    ("take", INTS, ((STRING, "a"),),
        "Failed to validate enumeration method 'take', expected a number-type result for expression parameter 0 but "
     "received String"),
    ("sumOf", TEXTS, (), "Invalid input for built-in enumeration method 'sumOf' and 0-parameter footprint, expecting collection of "
     "numeric values as "
     "input, received java.util.Collection<String>"),
    ("min", INTS, ((NULL, lambda v: None),), "Null-type is not allowed"),
    ("aggregate", INTS, ((NULL, None), (INT, lambda r, v: 1)), "Initialization value is null-typed"),
    ("except", INTS, ((TEXTS, []),), "Enumeration method 'except' expects scalar type 'Integer' but receives event type 'String'"),
    ("union", INTS, ((INT, 1),), "Enumeration method 'union' requires an expression yielding a collection of values of type 'Integer' "
     "as input "
     "parameter"),
    ("countOf", STRING, (), "Invalid input for built-in enumeration method 'countOf', expecting collection of event-type or scalar "
     "values as input, "
     "received String"),
]


@pytest.mark.parametrize(("name", "collection", "arguments", "message"), REFUSALS)
def test_refusal(name: str, collection: ValueType, arguments: tuple[tuple[ValueType, Any], ...], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        call(name, collection, [], *arguments)
    assert str(refusal.value) == message


# ------------------------------------------------------------------ events

BASE = EventType("P", "map", {"id": Property("id", STRING), "n": Property("n", BOXED_INT)})
MAKE = event_class(BASE)
EVENTS = CollectionType(EventOf(BASE))


def test_a_null_predicate_passes_events() -> None:
    events = [MAKE("a", 3), MAKE("b", 1), MAKE("c", None)]
    assert call("where", EVENTS, events, (BOXED_BOOLEAN, lambda e: None if e.f_n is None else e.f_n > 1)) == (
        "Collection<P>", [events[0], events[2]])


def test_events_are_compared_by_content_in_set_operations() -> None:
    left, right = [MAKE("a", 3), MAKE("b", 1)], [MAKE("a", 3)]
    assert call("except", EVENTS, left, (EVENTS, right))[1] == left[1:]
    assert call("intersect", EVENTS, left, (EVENTS, right))[1] == left[:1]


def test_a_collection_of_a_sub_type_may_be_united() -> None:
    sub = EventType("S", "map", dict(BASE.properties), supertypes=(BASE,))
    assert call("union", EVENTS, [], (ArrayType(EventOf(sub)), []))[0] == "Collection<P>"
    with pytest.raises(ValueError, match="expects event type 'S' but receives event type 'P'"):
        call("union", CollectionType(EventOf(sub)), [], (EVENTS, []))


@pytest.mark.parametrize("name", ["sumOf", "average", "min", "max", "orderBy", "mostFrequent", "distinctOf", "arrayOf"])
def test_events_need_a_lambda(name: str) -> None:
    with pytest.raises(ValueError, match=f"^Invalid input for built-in enumeration method '{name}' and 0-parameter footprint, "
     f"expecting collection "
                                         "of values .* received collection of events of type 'P'$"):
        call(name, EVENTS, [])


def test_what_lambdas_receive() -> None:
    aggregate, where = REGISTRY.enumeration["aggregate"], REGISTRY.enumeration["where"]
    assert list(aggregate.arguments(STRING, 2)) == [None, LambdaShape((FIRST_ARGUMENT, STRING, INT, INT))]
    assert list(where.arguments(STRING, 1)) == [LambdaShape((STRING, INT, INT))]
    assert list(REGISTRY.enumeration["take"].arguments(STRING, 1)) == [None]


# ------------------------------------------------------------------ against naive readings

ITEMS = st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=8)


@given(ITEMS, ITEMS)
def test_sets_are_naive(left: list[int | None], right: list[int | None]) -> None:
    assert call("except", INTS, left, (INTS, right))[1] == [x for x in left if x not in right]
    assert call("intersect", INTS, left, (INTS, right))[1] == ([x for x in left if x in right] if right else left)
    assert call("union", INTS, left, (INTS, right))[1] == left + right
    assert call("sequenceEqual", INTS, left, (INTS, right))[1] is (left == right)


@given(ITEMS)
def test_frequencies_and_groups_are_naive(items: list[int | None]) -> None:
    most, least = call("mostFrequent", INTS, items)[1], call("leastFrequent", INTS, items)[1]
    if items:
        assert items.count(most) == max(map(items.count, items)) and items.count(least) == min(map(items.count, items))
    groups = call("groupBy", INTS, items, (BOXED_INT, lambda v: v))[1]
    assert {k: len(v) for k, v in groups.items()} == {k: items.count(k) for k in items}


@given(st.lists(st.integers(-9, 9), max_size=8))
def test_order_is_stable_both_ways(items: list[int]) -> None:
    half = (INT, lambda v: v // 2)
    assert call("orderBy", INTS, items, half)[1] == sorted(items, key=lambda v: v // 2)
    assert call("orderByDesc", INTS, items, half)[1] == sorted(items, key=lambda v: -(v // 2))


def test_object_collections_compare_by_class() -> None:
    assert call("distinctOf", CollectionType(OBJECT), [1, True, 1.0, "1", 1])[1] == [1, True, 1.0, "1"]
