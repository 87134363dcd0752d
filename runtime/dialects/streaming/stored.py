"""What the saved state of a partition must look like: a snapshot may come from anywhere, and what it holds is indexed and computed with."""
from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from epl.dialects import types as k
from epl.dialects.types import SqlType
from windows.shape import ANYTHING, Check, class_check, integer

PLACE = integer("the number of a row", 0, 1 << 62)
CLASSES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(k.INTEGERS, (int,)), "boolean": (bool,), "double": (float, int), "real": (float, int), "decimal": (Decimal, int),
    "varchar": (str,), "char": (str,), "timestamp": (datetime.datetime,), "date": (datetime.date,),
}
"""Of the values of a type; a value of every other type may be anything."""


def of_sql_type(kind: SqlType) -> Check:
    """Accept a value of the type, or null."""
    classes = CLASSES.get(kind.name)
    return ANYTHING if classes is None else class_check(f"a value of type {kind}", *classes, type(None))


def check_held(rows: Sequence[Any], times: Sequence[Any], base: int) -> int:
    """Return the number after that of the last row. Raise ValueError where rows have no times."""
    if len(times) != len(rows):
        raise ValueError(f"{len(rows)} rows with {len(times)} times")
    return base + len(rows)


def check_range(what: str, least: int, value: int, most: int) -> None:
    """Raise ValueError for a number that is not in a range, ends included."""
    if not least <= value <= most:
        raise ValueError(f"{what} is {value}, not from {least} to {most}")


__all__ = ["PLACE", "check_held", "check_range", "of_sql_type"]
