"""Columns → events of a type, every value checked."""
from __future__ import annotations

from typing import Any

import pyarrow as pa

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.reprs import brief
from epl.value_types import Scalar
from runtime.conversion.columns import Columns, WrongCell, property_values
from runtime.expressions.structs import PRIMITIVE_DEFAULTS
from windows.event import Event, event_class


def read_events(event_type: EventType, columns: Columns, units_per_second: int, *, made_here: bool = False) -> list[Event]:
    """Return the rows as events, every value checked; raise EplRuntimeError naming type, column, row and value. ``made_here``: by a
    statement, whose columns may be null whatever their type (those that a level of a rollup omits)."""
    create = event_class(event_type)
    values = [property_column(event_type, name, columns, units_per_second, made_here=made_here) for name in event_type.properties]
    return list(map(create, *values)) if values else [create() for _ in range(columns.rows)]


def property_column(event_type: EventType, name: str, columns: Columns, units_per_second: int, *, made_here: bool = False) -> list[Any]:
    """Return a property's values by row, null of a primitive type as its default unless ``made_here``; raise EplRuntimeError naming type,
    column, row and value."""
    value_type = event_type.properties[name].whole_type
    try:
        values = property_values(columns, name, value_type, units_per_second)
    except WrongCell as wrong:
        raise EplRuntimeError(
            f"Event type '{event_type.name}': property '{name}' is declared {value_type} and cannot hold {brief(wrong.value)} "
            f"({type(wrong.value).__name__}) of row {wrong.row}"
        ) from wrong
    except (pa.ArrowException, UnicodeError) as error:
        raise EplRuntimeError(f"Event type '{event_type.name}', column '{name}' cannot be read: {error}") from error
    except EplRuntimeError as error:
        raise EplRuntimeError(f"Event type '{event_type.name}', column '{name}': {error.message}", hint=error.hint) from error
    if isinstance(value_type, Scalar) and value_type.primitive and not made_here:
        default = PRIMITIVE_DEFAULTS[value_type.kind]
        return [default if v is None else v for v in values]
    return values


__all__ = ["property_column", "read_events"]
