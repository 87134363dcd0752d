"""Methods that all values have, and those of numbers, booleans, characters, collections, maps and arrays; ``Objects``, ``Collections``,
``Arrays``."""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from epl.functions.java_numbers import CLASS_OF, compare, compare_floating
from epl.functions.java_values import (
    equality_key,
    java_equals,
    java_text,
    map_key,
    text_function,
    throw,
)
from epl.functions.overloads import ANY_ARRAY, ANY_COLLECTION, Overload, add_methods, add_statics, kind_is, overload
from epl.functions.registry import FunctionRegistry
from epl.java import converter
from epl.java_hash import hash_function, java_hash, list_hash
from epl.value_types import BOOLEAN, INT, OBJECT, ArrayType, CollectionType, EnumType, MapType, Scalar, ValueType

Table = dict[str, tuple[str, list[Overload]]]
_NUMBER_KINDS = ("byte", "short", "int", "long", "float", "double", "Number", "BigDecimal", "BigInteger")


def _equality(receiver: ValueType, other: ValueType) -> Callable[[Any, Any], bool]:
    """``equals``: an Integer never equals a Long, whatever their numbers."""
    if isinstance(receiver, Scalar) and isinstance(other, Scalar) and receiver.kind != other.kind:
        if OBJECT not in (receiver, other) and "Number" not in (receiver.kind, other.kind):
            return lambda _a, _b: False
    return java_equals


def _to_string(receiver: ValueType) -> Callable[[Any], str]:
    return text_function(receiver)


def _hash_code(receiver: ValueType) -> Callable[[Any], int]:
    return hash_function(receiver)


_COMMON: Table = {
    "equals": ("Whether the other is of the same class and equal.", [overload([OBJECT], "boolean", _equality, nulls=True, typed=True)]),
    "hashCode": ("Java's hash code.", [overload("", "int", _hash_code, typed=True)]),
    "toString": ("The text of the value.", [overload("", "String", _to_string, typed=True)]),
}


def _is_scalar(value_type: ValueType) -> bool:
    return isinstance(value_type, (Scalar, EnumType)) and value_type != Scalar("null")


def _narrowing(kind: str) -> Callable[[ValueType], Callable[[Any], Any]]:
    def make(receiver: ValueType) -> Callable[[Any], Any]:
        assert isinstance(receiver, Scalar)
        return converter(receiver.kind, kind)

    return make


_NUMBERS: Table = {
    f"{kind}Value": (f"The number as {kind}: cut off or wrapped where it does not fit.", [overload("", kind, _narrowing(kind), typed=True)])
    for kind in CLASS_OF
}
_FLOATING: Table = {
    "isNaN": ("Whether it is not a number.", [overload("", "boolean", math.isnan)]),
    "isInfinite": ("Whether it is an infinity.", [overload("", "boolean", math.isinf)]),
}


def _comparison(kind: str) -> Table:
    function = compare_floating if kind in ("float", "double") else compare
    if kind in ("byte", "short"):
        function = lambda a, b: a - b  # noqa: E731
    if kind == "char":
        function = lambda a, b: ord(a) - ord(b)  # noqa: E731
    return {"compareTo": ("Negative, 0 or positive.", [overload([Scalar(kind)], "int", function)])}


_BOOLEANS: Table = {"booleanValue": ("The boolean.", [overload("", "boolean", lambda v: v)])}
_CHARACTERS: Table = {"charValue": ("The character.", [overload("", "char", lambda v: v)])}

# ------------------------------------------------------------------ collections, arrays, maps


def _element(receiver: ValueType, *_: ValueType) -> ValueType:
    return receiver.element.boxed if isinstance(receiver, (CollectionType, ArrayType)) else OBJECT


def _item(items: list[Any], index: int) -> Any:
    """Null beyond the ends: Esper's own ``get`` of arrays and collections."""
    return items[index] if 0 <= index < len(items) else None


def _position(items: list[Any], value: Any) -> int:
    key = equality_key(value)
    return next((i for i, item in enumerate(items) if equality_key(item) == key), -1)


def _last_position(items: list[Any], value: Any) -> int:
    from_end = _position(items[::-1], value)
    return -1 if from_end < 0 else len(items) - 1 - from_end


def _contains(items: list[Any], value: Any) -> bool:
    return _position(items, value) >= 0


def _contains_all(items: list[Any], others: list[Any]) -> bool:
    return set(map(equality_key, others)) <= set(map(equality_key, items))


def _sub_list(items: list[Any], begin: int, end: int) -> list[Any]:
    if not 0 <= begin <= end <= len(items):
        raise throw("IndexOutOfBoundsException", f"fromIndex: {begin}, toIndex: {end}, size: {len(items)}")
    return items[begin:end]


def _lists_equal(left: list[Any], right: Any) -> bool:
    return isinstance(right, list) and equality_key(left) == equality_key(right)


_COLLECTIONS: Table = {
    "size": ("The number of elements.", [overload("", "int", len)]),
    "isEmpty": ("Whether there is no element.", [overload("", "boolean", lambda v: not v)]),
    "contains": ("Whether a value is among the elements.", [overload("Object", "boolean", _contains, nulls=True)]),
    "containsAll": ("Whether all of a collection are among the elements.", [overload("Collection", "boolean", _contains_all)]),
    "equals": ("Whether the other has equal elements in the same order.", [overload("Object", "boolean", _lists_equal, nulls=True)]),
    "hashCode": ("The hash code of the elements.", [overload("", "int", list_hash)]),
}
_LISTS: Table = {
    "get": ("The element at a position from 0; null beyond the end.", [overload([INT], _element, _item)]),
    "indexOf": ("The first position of a value; -1 if it is not there.", [overload("Object", "int", _position, nulls=True)]),
    "lastIndexOf": ("The last position of a value; -1 if it is not there.", [overload("Object", "int", _last_position, nulls=True)]),
    "subList": ("The elements from begin to before end.", [overload("int, int", lambda receiver, *_: receiver, _sub_list)]),
}
_ARRAYS: Table = {
    "size": ("The number of elements.", [overload("", "int", len)]),
    "get": ("The element at a position from 0; null beyond the end.", [overload([INT], _element, _item)]),
}


def _key_type(receiver: ValueType, *_: ValueType) -> ValueType:
    return CollectionType(receiver.key, "Set") if isinstance(receiver, MapType) else CollectionType(OBJECT, "Set")


def _value_type(receiver: ValueType, *_: ValueType) -> ValueType:
    return receiver.value.boxed if isinstance(receiver, MapType) else OBJECT


def _values_type(receiver: ValueType, *_: ValueType) -> ValueType:
    return CollectionType(_value_type(receiver))


def _lookup(mapping: dict[Any, Any], key: Any, default: Any = None) -> Any:
    return mapping.get(map_key(key), default)


def _has_key(mapping: dict[Any, Any], key: Any) -> bool:
    return map_key(key) in mapping


_MAPS: Table = {
    "size": ("The number of entries.", [overload("", "int", len)]),
    "isEmpty": ("Whether there is no entry.", [overload("", "boolean", lambda v: not v)]),
    "get": ("The value of a key; null without the key.", [overload([OBJECT], _value_type, _lookup, nulls=True)]),
    "getOrDefault": ("The value of a key, or a default.", [overload([OBJECT, OBJECT], _value_type, _lookup, nulls=True)]),
    "containsKey": ("Whether there is an entry for a key.", [overload("Object", "boolean", _has_key, nulls=True)]),
    "containsValue": ("Whether an entry has a value.",
        [overload("Object", "boolean", lambda m, v: _contains(list(m.values()), v), nulls=True)]),
    "keySet": ("The keys.", [overload([], _key_type, list)]),
    "values": ("The values.", [overload([], _values_type, lambda m: list(m.values()))]),
    "equals": ("Whether the other has equal entries.", [overload("Object", "boolean", java_equals, nulls=True)]),
    "hashCode": ("The hash code of the entries.", [overload("", "int", java_hash)]),
}


# ------------------------------------------------------------------ utility classes


def _hash_all(*values: Any) -> int:
    return list_hash(values)


def _list_type(*types: ValueType) -> ValueType:
    return CollectionType(types[0].boxed if types and len({t.boxed for t in types}) == 1 else OBJECT, "List")


def _largest(items: list[Any]) -> Any:
    if not items:
        raise throw("NoSuchElementException")
    return max(items)


def _smallest(items: list[Any]) -> Any:
    if not items:
        raise throw("NoSuchElementException")
    return min(items)


def _as_double(kind: ValueType, other: ValueType) -> Callable[[Any, Any], bool]:
    return _equality(kind, other)


_OBJECTS: Table = {
    "equals": ("Whether both are null or equal.", [overload([OBJECT, OBJECT], "boolean", _as_double, nulls=True, typed=True)]),
    "hash": ("The hash code of several values.", [overload([OBJECT], "int", _hash_all, nulls=True, varargs=True)]),
    "hashCode": ("The hash code, 0 of null.", [overload([OBJECT], "int", java_hash, nulls=True)]),
    "isNull": ("Whether it is null.", [overload([OBJECT], "boolean", lambda v: v is None, nulls=True)]),
    "nonNull": ("Whether it is not null.", [overload([OBJECT], "boolean", lambda v: v is not None, nulls=True)]),
    "toString": ("The text; of null a default or the text null.", [
        overload([OBJECT], "String", _to_string, nulls=True, typed=True),
        overload("Object, String", "String", lambda v, default: default if v is None else java_text(v), nulls=True)]),
}
_COLLECTION_STATICS: Table = {
    "max": ("The largest element; null where there is none.", [overload([ANY_COLLECTION], OBJECT, _largest)]),
    "min": ("The smallest element; null where there is none.", [overload([ANY_COLLECTION], OBJECT, _smallest)]),
    "frequency": ("How often a value is among the elements.", [
        overload([ANY_COLLECTION, OBJECT], "int", lambda items, v: sum(java_equals(i, v) for i in items), nulls=True)]),
    "emptyList": ("A list without elements.", [overload([], CollectionType(OBJECT, "List"), list)]),
    "emptyMap": ("A map without entries.", [overload([], MapType(OBJECT, OBJECT), dict)]),
}
_ARRAY_STATICS: Table = {
    "asList": ("The list of an array's elements or of the arguments.", [
        overload([ANY_ARRAY], lambda a: CollectionType(a.element.boxed, "List"), list),
        overload([OBJECT], _list_type, lambda *v: list(v), nulls=True, varargs=True)]),
    "toString": ("The elements in brackets.", [overload([ANY_ARRAY], "String", _to_string, nulls=True, typed=True)]),
    "equals": ("Whether two arrays have equal elements.", [overload([ANY_ARRAY, ANY_ARRAY], "boolean", java_equals, nulls=True)]),
    "hashCode": ("The hash code of the elements.", [overload([ANY_ARRAY], "int", java_hash, nulls=True)]),
}


def _has_type(classes: type | tuple[type, ...], value_type: ValueType) -> bool:
    return isinstance(value_type, classes)


def _is_list(value_type: ValueType) -> bool:
    return isinstance(value_type, CollectionType) and value_type.kind != "Set"


def add_objects(registry: FunctionRegistry) -> None:
    """Add the methods of values that are not texts, and the utility classes of ``java.util``."""
    add_methods(registry, "Number", kind_is(*_NUMBER_KINDS), _NUMBERS)
    add_methods(registry, "Double", kind_is("float", "double"), _FLOATING)
    for kind in (*CLASS_OF, "char", "boolean"):
        add_methods(registry, CLASS_OF.get(kind, kind.capitalize()), kind_is(kind), _comparison(kind))
    add_methods(registry, "Boolean", kind_is(BOOLEAN.kind), _BOOLEANS)
    add_methods(registry, "Character", kind_is("char"), _CHARACTERS)
    add_methods(registry, "Map", partial(_has_type, MapType), _MAPS)
    add_methods(registry, "Collection", partial(_has_type, CollectionType), _COLLECTIONS)
    add_methods(registry, "List", _is_list, _LISTS)
    add_methods(registry, "Array", partial(_has_type, ArrayType), _ARRAYS)
    add_methods(registry, "Object", _is_scalar, _COMMON)
    add_statics(registry, "java.util", "Objects", _OBJECTS)
    add_statics(registry, "java.util", "Collections", _COLLECTION_STATICS)
    add_statics(registry, "java.util", "Arrays", _ARRAY_STATICS)


