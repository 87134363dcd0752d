"""Types of SQL values: their names, and which is common to two."""
from __future__ import annotations

from typing import TypeAlias

import attrs


@attrs.frozen
class SqlType:
    """``integer``, ``varchar(7)``, ``array(bigint)``, …"""

    name: str
    arguments: tuple[Argument, ...] = ()
    fields: tuple[str | None, ...] = attrs.field(default=(), eq=False)
    """Names of a row's fields; none of a row without names."""

    def __str__(self) -> str:
        if not self.arguments:
            return self.name
        if self.name == "row":
            names = [f'"{name}" ' if name is not None else "" for name in self.fields or (None,) * len(self.arguments)]
            return f"row({', '.join(f'{name}{kind}' for name, kind in zip(names, self.arguments))})"
        written = ",".join(str(argument) for argument in self.arguments)
        if self.name == "map":
            written = written.replace(",", ", ")
        if self.name.endswith(" with time zone"):
            return f"{self.name.removesuffix(' with time zone')}({written}) with time zone"
        return f"{self.name}({written})"


Argument: TypeAlias = SqlType | int

BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, VARCHAR, DATE, UNKNOWN, ANY = (
    SqlType(name) for name in ["boolean", "tinyint", "smallint", "integer", "bigint", "real", "double", "varchar", "date", "unknown", "any"]
)
"""``ANY``: of a column whose table is not known; everything may be done with it."""
TIMESTAMP = SqlType("timestamp", (3,))
DAY_TIME = SqlType("interval day to second")
YEAR_MONTH = SqlType("interval year to month")
SKETCH = SqlType("HyperLogLog")
INTEGERS = ("tinyint", "smallint", "integer", "bigint")
BITS = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64}
DIGITS = {"tinyint": 3, "smallint": 5, "integer": 10, "bigint": 19}
MAX_DIGITS = 38
ALIASES = {
    "int": "integer", "string": "varchar", "utf8": "varchar", "text": "varchar", "bool": "boolean", "float64": "double", "int8": "tinyint",
    "int16": "smallint", "int32": "integer", "int64": "bigint", "uint8": "smallint", "uint16": "integer", "uint32": "bigint",
    "uint64": "bigint", "numeric": "decimal", "dec": "decimal", "datetime": "timestamp", "timestamp_ltz": "timestamp",
    "timestamp with time zone": "timestamp", "timestamp with local time zone": "timestamp", "proctime": "timestamp", "rowtime": "timestamp",
}  # fmt: skip
KNOWN = (
    *INTEGERS, "boolean", "real", "double", "varchar", "char", "date", "timestamp", "decimal", "array", "map", "unknown", "any",
    "varbinary", "interval", "float", "row", "HyperLogLog",
)  # fmt: skip


def array(element: SqlType) -> SqlType:
    """Return the type of arrays of the element."""
    return SqlType("array", (element,))


def row(kinds: tuple[SqlType, ...], names: tuple[str | None, ...] = ()) -> SqlType:
    """Return the type of rows of these fields."""
    return SqlType("row", kinds, names)


def decimal(precision: int, scale: int) -> SqlType:
    """Return a decimal type; digits beyond the greatest precision are lost."""
    return SqlType("decimal", (min(precision, MAX_DIGITS), min(scale, MAX_DIGITS)))


def of_name(name: str, arguments: tuple[Argument, ...] = ()) -> SqlType | None:
    """Return the type of this name in any of the dialects; None where there is none."""
    lowered = ALIASES.get(name.lower(), name.lower())
    if lowered == "float":
        lowered = "real"
    if lowered not in KNOWN:
        return None
    if lowered == "timestamp":
        return SqlType(lowered, arguments or (3,))
    if lowered == "decimal":
        return SqlType(lowered, (*arguments, *(38, 0)[len(arguments) :]))
    if lowered == "varchar" and name.lower() != "varchar":
        arguments = ()
    if lowered in ("array", "map") and not arguments:
        arguments = (ANY,) if lowered == "array" else (ANY, ANY)
    return SqlType(lowered, arguments)


def is_number(kind: SqlType) -> bool:
    """Return whether values are numbers."""
    return kind.name in INTEGERS or kind.name in ("decimal", "double", "real", "any")


def is_text(kind: SqlType) -> bool:
    """Return whether values are texts."""
    return kind.name in ("varchar", "char", "any")


def is_orderable(kind: SqlType) -> bool:
    """Return whether values have an order."""
    if kind.name in ("array", "row"):
        return all(is_orderable(each) for each in kind.arguments if isinstance(each, SqlType))
    return kind.name not in ("HyperLogLog", "map")


def is_comparable(kind: SqlType) -> bool:
    """Return whether values can be held to be equal."""
    return kind.name != "HyperLogLog"


def as_decimal(kind: SqlType) -> SqlType:
    """Return the decimal type that has all values of an exact number type."""
    return decimal(DIGITS[kind.name], 0) if kind.name in DIGITS else kind


def precision_and_scale(kind: SqlType) -> tuple[int, int]:
    """Return precision and scale of an exact number type."""
    precision, scale = as_decimal(kind).arguments
    assert isinstance(precision, int) and isinstance(scale, int)
    return precision, scale


def common(left: SqlType, right: SqlType) -> SqlType | None:
    """Return the type that both values can be brought to; None where there is none.

    >>> str(common(INTEGER, decimal(3, 1))), common(INTEGER, VARCHAR)
    ('decimal(11,1)', None)
    """
    if left == right or right.name == "unknown":
        return left
    if left.name == "unknown":
        return right
    if "any" in (left.name, right.name):
        return ANY
    if is_number(left) and is_number(right):
        return _common_number(left, right)
    if is_text(left) and is_text(right):
        if left.arguments and right.arguments and left.name == right.name:
            longest = max(a for a in (*left.arguments, *right.arguments) if isinstance(a, int))
            return SqlType("varchar", (longest,))
        return VARCHAR
    if {left.name, right.name} <= {"date", "timestamp"}:
        return max((left, right), key=lambda kind: (kind.name, kind.arguments and str(kind.arguments[0])))
    if left.name == right.name == "array":
        element = common(_element(left), _element(right))
        return None if element is None else array(element)
    if left.name == right.name in ("row", "map") and len(left.arguments) == len(right.arguments):
        return _common_parts(left, right)
    return None


def _common_parts(left: SqlType, right: SqlType) -> SqlType | None:
    parts: list[Argument] = []
    for mine, other in zip(left.arguments, right.arguments):
        assert isinstance(mine, SqlType) and isinstance(other, SqlType)
        shared = common(mine, other)
        if shared is None:
            return None
        parts.append(shared)
    return SqlType(left.name, tuple(parts), left.fields if left.fields == right.fields else ())


def _element(kind: SqlType) -> SqlType:
    element = kind.arguments[0]
    assert isinstance(element, SqlType)
    return element


def _common_number(left: SqlType, right: SqlType) -> SqlType:
    names = {left.name, right.name}
    if "double" in names:
        return DOUBLE
    if "real" in names:
        return REAL
    if "decimal" not in names:
        return max(left, right, key=lambda kind: BITS[kind.name])
    (p1, s1), (p2, s2) = precision_and_scale(left), precision_and_scale(right)
    scale = max(s1, s2)
    return decimal(max(p1 - s1, p2 - s2) + scale, scale)


__all__ = [
    "ANY",
    "BIGINT",
    "BITS",
    "BOOLEAN",
    "DATE",
    "DAY_TIME",
    "DOUBLE",
    "INTEGER",
    "INTEGERS",
    "REAL",
    "SKETCH",
    "SMALLINT",
    "TIMESTAMP",
    "TINYINT",
    "UNKNOWN",
    "VARCHAR",
    "YEAR_MONTH",
    "Argument",
    "SqlType",
    "array",
    "as_decimal",
    "common",
    "decimal",
    "is_comparable",
    "is_number",
    "is_orderable",
    "is_text",
    "of_name",
    "precision_and_scale",
    "row",
]  # fmt: skip
