"""Columns of a database cursor → value types: from what the driver describes, else from values."""
from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Mapping, Sequence
from typing import Any

from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOXED_BOOLEAN,
    BOXED_DOUBLE,
    BOXED_LONG,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    OBJECT,
    STRING,
    ZONED_DATE_TIME,
    ValueType,
)

NAMED: Mapping[str, ValueType] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "INT", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "LONG"), BOXED_LONG),
    **dict.fromkeys(("HUGEINT", "UBIGINT"), BIG_INTEGER), **dict.fromkeys(("DOUBLE", "DOUBLE PRECISION", "FLOAT", "REAL"), BOXED_DOUBLE),
    **dict.fromkeys(("DECIMAL", "NUMERIC"), BIG_DECIMAL), **dict.fromkeys(("BOOLEAN", "BOOL"), BOXED_BOOLEAN),
    **dict.fromkeys(("VARCHAR", "CHAR", "TEXT", "STRING"), STRING), "DATE": LOCAL_DATE, "TIME": LOCAL_TIME, "TIMESTAMP": LOCAL_DATE_TIME,
    **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"), ZONED_DATE_TIME),
}
"""Type codes that are names of SQL types, as DuckDB and others describe columns."""

CLASSES: Mapping[type, ValueType] = {
    bool: BOXED_BOOLEAN, int: BOXED_LONG, float: BOXED_DOUBLE, str: STRING, decimal.Decimal: BIG_DECIMAL, datetime.date: LOCAL_DATE,
    datetime.time: LOCAL_TIME,
}


def type_from_code(code: Any) -> ValueType:
    """Return the type of a column from its type code (PEP 249 leaves to drivers what that is); Object where it says nothing.

    >>> type_from_code("DECIMAL(18,3)"), type_from_code("varchar(20)"), type_from_code(None), type_from_code(float)
    (Scalar(kind='BigDecimal', primitive=False), Scalar(kind='String', primitive=False), Scalar(kind='Object', primitive=False), \
Scalar(kind='double', primitive=False))
    """
    if isinstance(code, type):
        return _of_class(code)
    if code is None or isinstance(code, int):
        return OBJECT
    name = re.sub(r"\(.*?\)", "", str(code)).strip().upper()
    return NAMED.get(name, OBJECT)


def infer_type(values: Sequence[Any]) -> ValueType:
    """Return the type that all values have that are not null; a whole number among fractions is a fraction.

    >>> infer_type([None, 1, 2.5]).kind, infer_type([1, "x"]).kind, infer_type([None]).kind
    ('double', 'Object', 'Object')
    """
    kinds = {_of_value(value) for value in values if value is not None}
    if kinds == {BOXED_LONG, BOXED_DOUBLE}:
        return BOXED_DOUBLE
    return kinds.pop() if len(kinds) == 1 else OBJECT


def _of_value(value: Any) -> ValueType:
    if isinstance(value, datetime.datetime):
        return LOCAL_DATE_TIME if value.tzinfo is None else ZONED_DATE_TIME
    return _of_class(type(value))


def _of_class(kind: type) -> ValueType:
    return LOCAL_DATE_TIME if kind is datetime.datetime else CLASSES.get(kind, OBJECT)


__all__ = ["infer_type", "type_from_code"]
