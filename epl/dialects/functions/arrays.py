"""Functions of arrays and maps."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.errors import QueryFailed
from epl.dialects.functions.scalar import Kinds, ScalarFunction, element, is_kind, same, takes, wrong_argument
from epl.dialects.functions.sizes import check_count, join_texts, total_size
from epl.dialects.types import SqlType

MOST_ELEMENTS = 10_000
"""Elements of a sequence."""


def _extreme(pick: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    return lambda listed: None if not listed or None in listed else pick(listed)


def _of_one(kinds: Kinds) -> SqlType | None:
    return element(kinds[0]) if len(kinds) == 1 and kinds[0].name in ("array", "any") else None


def _element_at(container: Any, key: Any) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    if key == 0:
        raise wrong_argument("SQL array indices start at 1")
    place = key - 1 if key > 0 else len(container) + key
    return container[place] if 0 <= place < len(container) else None


def subscript(container: Any, key: Any) -> Any:
    """Return ``container[key]``, which has to be there."""
    if isinstance(container, dict):
        if key not in container:
            raise wrong_argument(f"Key not present in map: {key}")
        return container[key]
    if key == 0:
        raise wrong_argument("SQL array indices start at 1")
    if key < 0:
        raise wrong_argument(f"Array subscript is negative: {key}")
    if key > len(container):
        raise wrong_argument(f"Array subscript must be less than or equal to array length: {key} > {len(container)}")
    return container[key - 1]


def _element_at_rule(kinds: Kinds) -> SqlType | None:
    if len(kinds) != 2:
        return None
    if kinds[0].name == "map":
        value = kinds[0].arguments[1]
        return value if isinstance(value, SqlType) else k.ANY
    return element(kinds[0]) if kinds[0].name in ("array", "any") and is_kind(kinds[1], "integer") else None


def _join(listed: list[Any], between: str, missing: str | None = None) -> str:
    texts = [missing if each is None else v.varchar_text(each, k.VARCHAR) for each in listed]
    return join_texts(between, [text for text in texts if text is not None])


def _contains(listed: list[Any], value: Any) -> bool | None:
    return True if value in listed else None if None in listed else False


def _once(listed: list[Any]) -> list[Any]:
    first: dict[Any, Any] = {}
    for each in listed:
        first.setdefault(v.hashable(each), each)
    return list(first.values())


def _keys(listed: list[Any]) -> set[Any]:
    return {v.hashable(each) for each in listed}


def _intersect(left: list[Any], right: list[Any]) -> list[Any]:
    keys = _keys(right)
    return _once([each for each in left if v.hashable(each) in keys])


def _except(left: list[Any], right: list[Any]) -> list[Any]:
    keys = _keys(right)
    return _once([each for each in left if v.hashable(each) not in keys])


def sort_values(listed: list[Any]) -> list[Any]:
    """Return the elements in their order, nulls last."""
    return [*sorted(each for each in listed if each is not None), *(each for each in listed if each is None)]


def _slice(listed: list[Any], start: int, length: int) -> list[Any]:
    if length < 0:
        raise wrong_argument("length must be greater than or equal to 0")
    if start == 0:
        raise wrong_argument("SQL array indices start at 1")
    begin = start - 1 if start > 0 else len(listed) + start
    return listed[begin : begin + length] if begin >= 0 else []


def _sequence(start: Any, stop: Any, step: Any = None) -> list[Any]:
    if step is None:
        step = (1 if stop >= start else -1) if isinstance(start, int) else v.DAY if stop >= start else -v.DAY
    zero = step - step
    if step == zero:
        raise wrong_argument("step must not be zero")
    if (stop < start) == (step > zero) and stop != start:
        raise wrong_argument("sequence stop value should be greater than or equal to start value if step is greater than zero otherwise"
                             " stop should be less than or equal to start")  # fmt: skip
    listed = []
    while start <= stop if step > zero else start >= stop:
        listed.append(start)
        if len(listed) > MOST_ELEMENTS:
            raise wrong_argument("result of sequence function must not have more than 10000 entries")
        start = start + step
    return listed


def _sequence_rule(kinds: Kinds) -> SqlType | None:
    if not 2 <= len(kinds) <= 3:
        return None
    if all(is_kind(kind, "integer") for kind in kinds):
        return k.array(k.BIGINT)
    moments = all(is_kind(kind, "moment") for kind in kinds[:2])
    return k.array(kinds[0]) if moments and (len(kinds) == 2 or kinds[2].name == k.DAY_TIME.name) else None


def _map(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    if len(keys) != len(values):
        raise wrong_argument("Key and value arrays must be the same length")
    if None in keys:
        raise wrong_argument("map key cannot be null")
    seen: set[Any] = set()
    for key in keys:
        if v.hashable(key) in seen:
            raise wrong_argument(f"Duplicate map keys ({key}) are not allowed")
        seen.add(v.hashable(key))
    return dict(zip(map(v.hashable, keys), values))


def _map_rule(kinds: Kinds) -> SqlType | None:
    if not kinds:
        return SqlType("map", (k.UNKNOWN, k.UNKNOWN))
    both = len(kinds) == 2 and all(kind.name == "array" for kind in kinds)
    return SqlType("map", (element(kinds[0]), element(kinds[1]))) if both else None


def _of_map(place: int) -> Callable[[Kinds], SqlType | None]:
    def rule(kinds: Kinds) -> SqlType | None:
        if len(kinds) != 1 or kinds[0].name != "map":
            return None
        inner = kinds[0].arguments[place]
        return k.array(inner if isinstance(inner, SqlType) else k.ANY)

    return rule


def _two_arrays(result: SqlType | None = None) -> Callable[[Kinds], SqlType | None]:
    def rule(kinds: Kinds) -> SqlType | None:
        shared = same(kinds) if len(kinds) == 2 and all(kind.name == "array" for kind in kinds) else None
        return shared if result is None or shared is None else result

    return rule


def _overlap(left: list[Any], right: list[Any]) -> bool | None:
    keys = _keys(right)
    if any(each is not None and v.hashable(each) in keys for each in left):
        return True
    return None if left and right and (None in left or None in right) else False


def _flatten_rule(kinds: Kinds) -> SqlType | None:
    inner = element(kinds[0]) if len(kinds) == 1 and kinds[0].name == "array" else None
    return inner if inner is not None and inner.name == "array" else None


def _flatten(listed: list[Any]) -> list[Any]:
    check_count(sum(len(inner) for inner in listed if inner is not None))
    return [each for inner in listed if inner is not None for each in inner]


def _position(listed: list[Any], value: Any) -> int:
    return listed.index(value) + 1 if value in listed else 0


def _first_array(kinds: Kinds) -> SqlType | None:
    return kinds[0] if len(kinds) == 1 and kinds[0].name == "array" else None


def _repeat_rule(kinds: Kinds) -> SqlType | None:
    return k.array(kinds[0]) if len(kinds) == 2 and is_kind(kinds[1], "integer") else None


def _repeat(value: Any, count: Any) -> Any:
    if count is not None and count > MOST_ELEMENTS:
        raise QueryFailed("INVALID_FUNCTION_ARGUMENT", "count argument of repeat function must be less than or equal to 10000")
    if count is None:
        return None
    check_count(total_size(value) * max(0, count))
    return [value] * max(0, count)


ARRAYS: dict[str, ScalarFunction] = {
    "cardinality": ScalarFunction(takes(k.BIGINT, "array|map"), len),
    "array_max": ScalarFunction(_of_one, _extreme(max)),
    "array_min": ScalarFunction(_of_one, _extreme(min)),
    "array_first": ScalarFunction(_of_one, lambda listed: listed[0] if listed else None),
    "array_last": ScalarFunction(_of_one, lambda listed: listed[-1] if listed else None),
    "array_join": ScalarFunction(takes(k.VARCHAR, "array", "text", "text", least=2), _join),
    "element_at": ScalarFunction(_element_at_rule, _element_at),
    "contains": ScalarFunction(takes(k.BOOLEAN, "array", "*"), _contains),
    "array_sort": ScalarFunction(_first_array, sort_values),
    "array_distinct": ScalarFunction(_first_array, _once),
    "array_position": ScalarFunction(takes(k.BIGINT, "array", "*"), _position),
    "array_remove": ScalarFunction(takes(None, "array", "*"), lambda listed, value: [each for each in listed if each != value]),
    "array_union": ScalarFunction(_two_arrays(), lambda left, right: _once([*left, *right])),
    "array_intersect": ScalarFunction(_two_arrays(), _intersect),
    "array_except": ScalarFunction(_two_arrays(), _except),
    "arrays_overlap": ScalarFunction(_two_arrays(k.BOOLEAN), _overlap),
    "slice": ScalarFunction(takes(None, "array", "integer", "integer"), _slice),
    "trim_array": ScalarFunction(takes(None, "array", "integer"), lambda listed, count: listed[: len(listed) - count]),
    "sequence": ScalarFunction(_sequence_rule, _sequence),
    "repeat": ScalarFunction(_repeat_rule, _repeat, takes_null=True),
    "flatten": ScalarFunction(_flatten_rule, _flatten),
    "map": ScalarFunction(_map_rule, lambda keys=(), values=(): _map(keys, values)),
    "map_keys": ScalarFunction(_of_map(0), list),
    "map_values": ScalarFunction(_of_map(1), lambda value: list(value.values())),
}
"""Functions of arrays and maps by their names in lower case."""

__all__ = ["ARRAYS", "sort_values", "subscript"]
