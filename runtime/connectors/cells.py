"""Values of event files → values of properties: text cells by the property's type, times as people and machines write them."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from epl.event_types import EventOf
from epl.value_types import ArrayType, CollectionType, MapType, Scalar, ValueType
from runtime.clock.instants import iso_instant

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)
WHOLE = re.compile(r"[+-]?[0-9]+")
INSTANTS = ("Date", "Calendar", "ZonedDateTime", "OffsetDateTime")


def milliseconds(value: Any) -> int | None:
    """Return a value of a time column in ms since 1970, rounded down: whole numbers are ms, ISO texts and dates are instants; None where it
    is none of them.

    >>> milliseconds("1970-01-01T00:00:01Z"), milliseconds("1000"), milliseconds(1000.0), milliseconds("soon")
    (1000, 1000, 1000, None)
    """
    if isinstance(value, str):
        if WHOLE.fullmatch(value.strip()):
            return _whole_or_none(value)
        value = iso_instant(value)
    if isinstance(value, datetime.datetime):
        return ((value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)) - EPOCH) // MILLISECOND
    if isinstance(value, datetime.date):
        return (datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.timezone.utc) - EPOCH) // MILLISECOND
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or value in (float("inf"), float("-inf")):
        return None
    return int(value)


def _whole_or_none(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:  # more digits than Python converts
        return None


def cell_value(cell: Any, declared: ValueType | None) -> Any:
    """Return the value of a text cell by the property's type; an empty cell is null.

    What is not understood stays text, and sending it says what is wrong.

    >>> cell_value("1.5", None), cell_value("", None)
    ('1.5', None)
    """
    if not isinstance(cell, str) or cell == "":
        return None if cell == "" else cell
    if isinstance(declared, (ArrayType, CollectionType, MapType, EventOf)) and cell[0] in "[{":
        return _parse_json(cell)
    parse = CELLS.get(declared.kind) if isinstance(declared, Scalar) else None
    if parse is None:
        return cell
    try:
        return parse(cell)
    except (ValueError, KeyError, InvalidOperation):
        return cell


def may_be_time(declared: ValueType) -> bool:
    """Return whether ``plain_value`` makes another value of some that properties of the type are given."""
    return isinstance(declared, Scalar) and (declared.kind == "long" or declared.kind in INSTANTS)


def plain_value(value: Any, declared: ValueType | None) -> Any:
    """Return a value of JSON or Parquet by the property's type: times as text, or as instants for a ``long``, are taken."""
    if isinstance(declared, Scalar) and isinstance(value, (str, datetime.datetime)):
        if declared.kind == "long":
            instant_ms = milliseconds(value) if not isinstance(value, str) or iso_instant(value) is not None else None
            return value if instant_ms is None else instant_ms
        if declared.kind in INSTANTS and isinstance(value, str):
            return iso_instant(value) or value
    return value


def _parse_json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _whole(text: str) -> int:
    if WHOLE.fullmatch(text.strip()) is None:
        raise ValueError
    return int(text)


def _long(text: str) -> int:
    number = milliseconds(text)
    if number is None:
        raise ValueError
    return number


def _number(text: str) -> float:
    if "_" in text:
        raise ValueError
    return float(text)


def _decimal(text: str) -> Decimal:
    if "_" in text:
        raise ValueError
    return Decimal(text.strip())


def _boolean(text: str) -> bool:
    return {"true": True, "false": False, "1": True, "0": False}[text.strip().lower()]


def _instant(text: str) -> Any:
    return int(text) if WHOLE.fullmatch(text.strip()) else iso_instant(text) or text


CELLS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("byte", "short", "int", "BigInteger"), _whole),
    "long": _long,
    **dict.fromkeys(("float", "double", "Number"), _number),
    "BigDecimal": _decimal,
    "boolean": _boolean,
    **dict.fromkeys(INSTANTS, _instant),
}

__all__ = ["CELLS", "INSTANTS", "cell_value", "may_be_time", "milliseconds", "plain_value"]
