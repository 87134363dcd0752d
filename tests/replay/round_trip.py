"""Whether an event comes back from a table as it was: replays send through tables only what does."""
from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from epl.errors import EplError
from runtime.conversion.columns import read_columns
from runtime.conversion.from_columns import read_events
from windows.event import Event


def changed_property(event: Event, table: Any, units_per_second: int) -> str | None:
    """Return what does not come back from a table (pyarrow) that holds the event alone, None where everything does."""
    if not event.type.properties:
        return None
    try:
        (back,) = read_events(event.type, read_columns(table, event.type.name), units_per_second)
    except EplError as error:
        return error.message
    for prop, value, read_back in zip(event.type.properties.values(), event.values(), back.values()):
        if not same_value(value, read_back):
            column = table.schema.field(prop.name).type
            return f"property '{prop.name}' of type {prop.whole_type} does not come back from a column of type {column}"
    return None


def same_value(value: Any, back: Any) -> bool:
    """Return whether a value came back as it was: same kind, same value; decimals with the same scale too, which EPL's equality sees.

    >>> same_value(1, 1.0), same_value([1, None], [1, None]), same_value(float("nan"), float("nan"))
    (False, True, True)
    >>> same_value(Decimal("1.0"), Decimal("1.00"))
    False
    """
    if type(value) is not type(back):
        return False
    if isinstance(value, Event):
        return not value.extra and _all_same(value.values(), back.values())
    if isinstance(value, Mapping):
        return _all_same(list(value), list(back)) and _all_same(list(value.values()), list(back.values()))
    if isinstance(value, (list, tuple)):
        return _all_same(value, back)
    if isinstance(value, Decimal):
        return bool(value.as_tuple() == back.as_tuple())
    if isinstance(value, datetime.datetime) and value.utcoffset() != back.utcoffset():
        return False
    return bool(value == back) or (isinstance(value, float) and value != value and back != back)


def _all_same(values: Sequence[Any], back: Sequence[Any]) -> bool:
    return len(values) == len(back) and all(map(same_value, values, back))


__all__ = ["changed_property", "same_value"]
