"""Scalar functions: which types they take and give, and what they compute."""
from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import attrs

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.errors import QueryFailed
from epl.dialects.types import SqlType

Kinds = Sequence[SqlType]
Rule = Callable[[Kinds], "SqlType | None"]


@attrs.frozen
class Scalar:
    """``rule``: types of the arguments → type of the result, None where the function does not take them. ``takes_null``: it is called
    with nulls; else a null argument gives null."""

    rule: Rule
    compute: Callable[..., Any]
    takes_null: bool = False


def _element(kind: SqlType) -> SqlType:
    first = kind.arguments[0] if kind.arguments else k.ANY
    return first if isinstance(first, SqlType) else k.ANY


def _is(kind: SqlType, *tests: str) -> bool:
    if kind.name in ("any", "unknown"):
        return True
    return any(
        (test == "number" and k.is_number(kind)) or (test == "text" and k.is_text(kind)) or (test == "integer" and kind.name in k.INTEGERS)
        or (test == "moment" and kind.name in ("date", "timestamp")) or test == kind.name
        for test in tests
    )  # fmt: skip


def takes(result: SqlType | None, *tests: str, least: int | None = None) -> Rule:
    """Return a rule: arguments that pass the tests give ``result`` (None: the type of the first one). ``least``: so many need be there;
    ``…`` as the last test: the one before may repeat."""

    def rule(kinds: Kinds) -> SqlType | None:
        listed = list(tests)
        if listed and listed[-1] == "…":
            listed = [*listed[:-1], *([listed[-2]] * max(0, len(kinds) - len(listed) + 1))]
        if not (len(listed) if least is None else least) <= len(kinds) <= len(listed):
            return None
        for kind, test in zip(kinds, listed):
            if test != "*" and not _is(kind, *test.split("|")):
                return None
        return kinds[0] if result is None else result

    return rule


def _same(kinds: Kinds) -> SqlType | None:
    if not kinds:
        return None
    shared: SqlType | None = kinds[0]
    for kind in kinds[1:]:
        shared = None if shared is None else k.common(shared, kind)
    return shared


def _concat_rule(kinds: Kinds) -> SqlType | None:
    if len(kinds) >= 2 and all(_is(kind, "text") for kind in kinds):
        return k.VARCHAR
    if kinds and all(kind.name == "array" for kind in kinds):
        return _same(kinds)
    return None


def _concat(*parts: Any) -> Any:
    return [each for part in parts for each in part] if isinstance(parts[0], list) else "".join(parts)


def _element_rule(kinds: Kinds) -> SqlType | None:
    if len(kinds) == 1 and kinds[0].name == "array":
        return _element(kinds[0])
    return None


def _extreme(pick: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    return lambda listed: None if not listed or None in listed else pick(listed)


def _element_at(container: Any, key: Any) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    if key == 0:
        raise QueryFailed("INVALID_FUNCTION_ARGUMENT", "SQL array indices start at 1")
    place = key - 1 if key > 0 else len(container) + key
    return container[place] if 0 <= place < len(container) else None


def _element_at_rule(kinds: Kinds) -> SqlType | None:
    if len(kinds) != 2:
        return None
    if kinds[0].name == "map":
        value = kinds[0].arguments[1]
        return value if isinstance(value, SqlType) else k.ANY
    return _element(kinds[0]) if kinds[0].name in ("array", "any") else None


def _join(listed: list[Any], between: str, missing: str | None = None) -> str:
    texts = [missing if each is None else v.text_of(each, k.VARCHAR) for each in listed]
    return between.join(text for text in texts if text is not None)


def _substring(text: str, start: int, length: int | None = None) -> str:
    if start == 0 or (start < 0 and -start > len(text)):
        return ""
    begin = start - 1 if start > 0 else len(text) + start
    return text[begin:] if length is None else text[begin : begin + max(0, length)]


def _round(value: Any, digits: int = 0) -> Any:
    if isinstance(value, int):
        return value if digits >= 0 else int(Decimal(value).scaleb(digits).to_integral_value(ROUND_HALF_UP).scaleb(-digits))
    if isinstance(value, Decimal):
        return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP).quantize(value)
    if math.isnan(value) or math.isinf(value):
        return value
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _whole(pick: Callable[[Any], int]) -> Callable[[Any], Any]:
    def compute(value: Any) -> Any:
        if isinstance(value, float):
            return value if math.isnan(value) or math.isinf(value) else float(pick(value))
        return Decimal(pick(value)) if isinstance(value, Decimal) else value

    return compute


def _mod(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return v.arithmetic("%", k.BIGINT, "sql")(left, right)
    return v.arithmetic("%", k.DOUBLE, "sql")(left, right)


def _sqrt(value: Any) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _sign(value: Any) -> Any:
    return type(value)((value > 0) - (value < 0))


def _part(name: str) -> Callable[[Any], Any]:
    def compute(moment: Any) -> Any:
        if name == "quarter":
            return (moment.month + 2) // 3
        if name in ("dow", "day_of_week"):
            return moment.isoweekday()
        if name in ("doy", "day_of_year"):
            return moment.timetuple().tm_yday
        if name == "week":
            return moment.isocalendar()[1]
        if name == "millisecond":
            return moment.microsecond // 1000
        return getattr(moment, name, 0)

    return compute


def _date_trunc(unit: str, moment: Any) -> Any:
    lowered = unit.lower()
    names = ["year", "month", "day", "hour", "minute", "second"]
    if lowered not in names:
        raise QueryFailed("INVALID_FUNCTION_ARGUMENT", f"'{unit}' is not a valid TIMESTAMP field")
    firsts = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "microsecond": 0}
    later = [*names[names.index(lowered) + 1 :], "microsecond"]
    return moment.replace(**{name: firsts[name] for name in later if hasattr(moment, name)})


def _date_diff(unit: str, start: Any, end: Any) -> Any:
    lowered = unit.lower()
    seconds = {"millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
    if lowered in seconds:
        return int((end - start) / datetime.timedelta(seconds=seconds[lowered]))
    months = (end.year - start.year) * 12 + end.month - start.month
    if months > 0 and v.add_months(start, months) > end:
        months -= 1
    elif months < 0 and v.add_months(start, months) < end:
        months += 1
    return {"month": months, "quarter": int(months / 3), "year": int(months / 12)}[lowered]



def _unix(moment: Any) -> float:
    return float((moment - v.EPOCH).total_seconds())


def _from_unix(seconds: Any) -> datetime.datetime:
    return v.EPOCH + datetime.timedelta(seconds=float(seconds))


def _to_timestamp_ltz(value: Any, precision: int = 3) -> datetime.datetime:
    return v.EPOCH + datetime.timedelta(milliseconds=value if precision == 3 else value * 1000)


def _position(text: str, part: str) -> int:
    return text.find(part) + 1


def _split(text: str, between: str) -> list[str]:
    return text.split(between)



def _contains(listed: list[Any], value: Any) -> bool | None:
    return True if value in listed else None if None in listed else False


def _double(compute: Callable[[float], float]) -> Callable[[Any], float]:
    """Outside of a function's domain it is NaN; beyond the doubles it is infinite."""

    def computed(value: Any) -> float:
        try:
            return compute(float(value))
        except ValueError:
            return -math.inf if value == 0 else math.nan
        except OverflowError:
            return math.inf

    return computed


def _decimal_rule(change: Callable[[int, int], SqlType]) -> Rule:
    """A function that changes the digits of decimals, and no other number's type."""

    def rule(kinds: Kinds) -> SqlType | None:
        if not kinds or not _is(kinds[0], "number") or (len(kinds) > 1 and not _is(kinds[1], "integer")):
            return None
        return change(*k.scale_of(kinds[0])) if kinds[0].name == "decimal" else kinds[0]

    return rule


def _only_one(rule: Rule) -> Rule:
    return lambda kinds: rule(kinds) if len(kinds) == 1 else None


_WHOLE = _only_one(_decimal_rule(lambda precision, scale: k.decimal(precision - scale + min(scale, 1), 0)))
_MATH = {
    name: Scalar(takes(k.DOUBLE, "number"), _double(compute))
    for name, compute in {
        "sqrt": _sqrt, "exp": math.exp, "ln": math.log, "log10": math.log10, "log2": math.log2, "sin": math.sin, "cos": math.cos,
        "tan": math.tan, "cbrt": lambda value: math.copysign(abs(value) ** (1 / 3), value),
    }.items()
}  # fmt: skip
_PARTS = {
    name: Scalar(takes(k.BIGINT, "moment"), _part(name))
    for name in ("year", "quarter", "month", "week", "day", "day_of_week", "dow", "day_of_year", "doy", "hour", "minute", "second",
                 "millisecond")
}  # fmt: skip
SCALARS: dict[str, Scalar] = {
    "lower": Scalar(takes(None, "text"), str.lower),
    "upper": Scalar(takes(None, "text"), str.upper),
    "length": Scalar(takes(k.BIGINT, "text"), len),
    "char_length": Scalar(takes(k.BIGINT, "text"), len),
    "trim": Scalar(takes(None, "text"), lambda text: text.strip(" ")),
    "ltrim": Scalar(takes(None, "text"), lambda text: text.lstrip(" ")),
    "rtrim": Scalar(takes(None, "text"), lambda text: text.rstrip(" ")),
    "reverse": Scalar(takes(None, "text"), lambda text: text[::-1]),
    "replace": Scalar(takes(k.VARCHAR, "text", "text", "text", least=2), lambda text, old, new="": text.replace(old, new)),
    "substr": Scalar(takes(k.VARCHAR, "text", "integer", "integer", least=2), _substring),
    "substring": Scalar(takes(k.VARCHAR, "text", "integer", "integer", least=2), _substring),
    "strpos": Scalar(takes(k.BIGINT, "text", "text"), _position),
    "starts_with": Scalar(takes(k.BOOLEAN, "text", "text"), str.startswith),
    "split": Scalar(takes(k.array(k.VARCHAR), "text", "text"), _split),
    "concat": Scalar(_concat_rule, _concat),
    "abs": Scalar(takes(None, "number"), abs),
    "sign": Scalar(_only_one(_decimal_rule(lambda precision, scale: k.decimal(1, 0))), _sign),
    "mod": Scalar(takes(None, "number", "number"), _mod),
    "round": Scalar(_decimal_rule(lambda precision, scale: k.decimal(precision + 1, scale)), _round),
    "floor": Scalar(_WHOLE, _whole(math.floor)),
    "ceil": Scalar(_WHOLE, _whole(math.ceil)),
    "ceiling": Scalar(_WHOLE, _whole(math.ceil)),
    "power": Scalar(takes(k.DOUBLE, "number", "number"), lambda base, power: float(base) ** float(power)),
    "pow": Scalar(takes(k.DOUBLE, "number", "number"), lambda base, power: float(base) ** float(power)),
    "greatest": Scalar(_same, lambda *listed: max(listed)),
    "least": Scalar(_same, lambda *listed: min(listed)),
    "cardinality": Scalar(takes(k.BIGINT, "array|map"), len),
    "array_max": Scalar(_element_rule, _extreme(max)),
    "array_min": Scalar(_element_rule, _extreme(min)),
    "array_join": Scalar(takes(k.VARCHAR, "array", "text", "text", least=2), _join),
    "element_at": Scalar(_element_at_rule, _element_at),
    "contains": Scalar(takes(k.BOOLEAN, "array", "*"), _contains),
    "date_trunc": Scalar(lambda kinds: kinds[1] if len(kinds) == 2 and _is(kinds[1], "moment") else None, _date_trunc),
    "date_diff": Scalar(takes(k.BIGINT, "text", "moment", "moment"), _date_diff),
    "timestampdiff": Scalar(takes(k.INTEGER, "text", "moment", "moment"), _date_diff),
    "to_unixtime": Scalar(takes(k.DOUBLE, "moment"), _unix),
    "from_unixtime": Scalar(takes(k.TIMESTAMP, "number"), _from_unix),
    "to_timestamp_ltz": Scalar(takes(k.TIMESTAMP, "number", "integer", least=1), _to_timestamp_ltz),
    "to_timestamp": Scalar(takes(k.TIMESTAMP, "text"), v.instant_of),
    **_MATH,
    **_PARTS,
}
"""Functions of all dialects by their names in lower case."""

__all__ = ["SCALARS", "Scalar", "takes"]
