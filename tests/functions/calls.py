"""Evaluates calls written as text (``s.substring(1, 3)``, ``Math.max(i, l)``) by the registry alone: bind, make, call."""
from __future__ import annotations

import datetime
import json
import pathlib
import re
from decimal import Decimal
from typing import Any

from epl.functions.calendars import EPOCH
from epl.functions.java_values import OFFSET_ZERO, java_text
from epl.functions.library import builtin_functions
from epl.functions.registry import NOT_CONSTANT, TIME_PERIOD, Bound
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_BYTE,
    BOXED_CHAR,
    BOXED_DOUBLE,
    BOXED_FLOAT,
    BOXED_INT,
    BOXED_LONG,
    BOXED_SHORT,
    CALENDAR,
    DATE,
    DOUBLE,
    INT,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    LONG,
    NULL,
    OBJECT,
    STRING,
    ZONED_DATE_TIME,
    ArrayType,
    CollectionType,
    MapType,
    ValueType,
)

UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2024, 2, 29, 10, 11, 12, 345000)
REGISTRY = builtin_functions()
UNITS = {"sec": "second", "min": "minute", "msec": "millisecond"}

# The event that the recorded questions were asked with.
VALUES: dict[str, tuple[ValueType, Any]] = {
    "s": (STRING, "Hello World"), "s2": (STRING, None), "i": (BOXED_INT, 5), "ib": (BOXED_INT, None), "l": (BOXED_LONG, 7),
        "f": (BOXED_FLOAT, 1.5),
    "d": (BOXED_DOUBLE, 2.5), "b": (BOXED_BOOLEAN, True), "c": (BOXED_CHAR, "x"), "bd": (BIG_DECIMAL, Decimal("12.5")),
        "bi": (BIG_INTEGER, 12),
    "sh": (BOXED_SHORT, 3), "byt": (BOXED_BYTE, 2), "o": (OBJECT, "obj"), "dt": (DATE, MOMENT.replace(tzinfo=UTC)),
    "cal": (CALENDAR, MOMENT.replace(tzinfo=UTC)), "ldt": (LOCAL_DATE_TIME, MOMENT),
    "zdt": (ZONED_DATE_TIME, MOMENT.replace(tzinfo=OFFSET_ZERO)),
    "ld": (LOCAL_DATE, MOMENT.date()), "lt": (LOCAL_TIME, MOMENT.time()), "ia": (ArrayType(INT), [3, 1, 2]),
        "sa": (ArrayType(STRING), ["a", "b"]),
    "ls": (CollectionType(STRING, "List"), ["x", "y", "x"]), "li": (CollectionType(BOXED_INT, "List"), [3, 1, 2]),
    "m": (MapType(OBJECT, OBJECT), {"k": 1}), "db": (BOXED_DOUBLE, 4.5), "lb": (BOXED_LONG, 9), "t": (BOXED_LONG, 1709201472345),
}


class Refused(Exception):
    """No function takes these arguments."""


def evaluate(text: str, values: dict[str, tuple[ValueType, Any]] = VALUES) -> tuple[ValueType, Any]:
    """The type and value of a call, or chain of calls."""
    head = re.match(r"((?:[a-z]+\.)*[A-Z]\w*)\.(\w+)\(((?:[^()']|'[^']*')*)\)|(\w+)|", text)
    assert head is not None
    rest = text[head.end():]
    if head[1]:
        spec = REGISTRY.static.get((head[1], head[2]))
        if spec is None:
            raise Refused(text)
        current = _apply([spec], _arguments(head[3], values))
    else:
        current = values[head[4]]
    for name, written in re.findall(r"\.(\w+)\(((?:[^()']|'[^']*')*)\)", rest):
        methods = REGISTRY.methods.get(name) or REGISTRY.methods.get(name.lower(), [])
        current = _apply(methods, [(current[0], current[1], NOT_CONSTANT), *_arguments(written, values)])
    return current


def _apply(specs: list[Any], arguments: list[tuple[ValueType, Any, Any]]) -> tuple[ValueType, Any]:
    for spec in specs:
        bound: Bound | None = spec.bind([t for t, _, _ in arguments], [c for _, _, c in arguments])
        if bound is not None:
            given = [v for _, v, _ in arguments]
            if bound.null_propagates and None in given:
                return bound.type, None
            return bound.type, spec.make(*bound.constants)(*given)
    raise Refused(str([str(t) for t, _, _ in arguments]))


def _arguments(written: str, values: dict[str, tuple[ValueType, Any]]) -> list[tuple[ValueType, Any, Any]]:
    parts = [p.strip() for p in re.findall(r"(?:[^,']|'[^']*')+", written)]
    return [_argument(p, values) for p in parts]


def _argument(text: str, values: dict[str, tuple[ValueType, Any]]) -> tuple[ValueType, Any, Any]:
    if text in values:
        return (*values[text], NOT_CONSTANT)
    if text in REGISTRY.constants:
        return (*REGISTRY.constants[text], NOT_CONSTANT)
    period = re.findall(r"(\w+(?:\.\d+)?) (year|month|week|day|hour|min|sec|msec)s?\b", text) if not text.startswith("'") else []
    if period:
        return TIME_PERIOD, sum(((UNITS.get(u, u), values[n][1] if n in values else float(n)) for n, u in period), ()), NOT_CONSTANT
    for pattern, value_type, read in (
        (r"'(.*)'", STRING, str), (r"(-?\d+)L", LONG, int), (r"(-?\d+)", INT, int), (r"(-?[\d.]+(?:e-?\d+)?)", DOUBLE, float),
        (r"(true|false)", BOOLEAN, lambda t: t == "true"), (r"(null)", NULL, lambda _: None),
    ):
        found = re.fullmatch(pattern, text)
        if found:
            value = read(found[1])
            return value_type, value, value
    raise Refused(f"not understood: {text}")


def shown(value_type: ValueType, value: Any) -> Any:
    """The value as the recordings show it: Date and Calendar as ms, java.time as text, NaN and infinities as text."""
    if isinstance(value, list):
        return [shown(OBJECT, v) for v in value]
    if isinstance(value, datetime.datetime) and value_type in (DATE, CALENDAR):
        return (value - EPOCH) // datetime.timedelta(milliseconds=1)
    if isinstance(value, (datetime.date, datetime.time)):
        return java_text(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return java_text(value)
    return float(value) if isinstance(value, Decimal) else value


def recorded(name: str) -> list[Any]:
    """What Esper 9.0.0 said: lists of [call, type, value] (type ``error`` where it throws, ``refused`` where it refuses)."""
    found: list[Any] = json.loads((pathlib.Path(__file__).parent / "recorded" / f"{name}.json").read_text(encoding="utf-8"))
    return found
