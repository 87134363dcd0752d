"""Events as Arrow columns: ``arrow_schema(event_type)`` and ``to_batch(events, event_type)``. The way in is runtime.columns.

One event type has one Arrow schema, whatever the events hold, so that batches can be put together:

============================  =============================================================
byte short int long           int8 int16 int32 int64
float double                  float32 float64
boolean / String, char, enum  bool / string
BigDecimal                    decimal128(38, 18), as in Spark: decimals after the 18th are rounded (half even), 10^20 and more is refused
BigInteger                    decimal128(38, 0): 10^38 and more is refused
Date, Calendar, ZonedDateTime, OffsetDateTime   timestamp[us, UTC]: the instant is kept, the offset is not
LocalDateTime / LocalDate / LocalTime           timestamp[us] / date32 / time64[us]
arrays, List, Collection, Set list of the element's type
Map                           map; keys are never null
event                         struct of its declared properties (undeclared properties of open types are omitted)
Object, Number, other classes, events of a variant or of a type that holds itself    string: text as it is, anything else as JSON
null                          null
============================  =============================================================
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from operator import attrgetter
from typing import Any

import attrs
import pyarrow as pa

from epl.errors import EplRuntimeError
from epl.event_types import EventOf, EventType
from epl.generated_code import field_name
from epl.reprs import brief
from epl.value_types import ArrayType, CollectionType, EnumType, MapType, Scalar, ValueType
from windows.event import Event, event_class

Encode = Callable[[Any], Any]
"""One value that is not None → what pyarrow takes for the column's type. Raises ValueError for a value that the column cannot hold."""

INSTANT = pa.timestamp("us", tz="UTC")
DECIMAL = pa.decimal128(38, 18)
BIG_INTEGER = pa.decimal128(38, 0)

SCALARS: dict[str, pa.DataType] = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "String": pa.string(),
    "char": pa.string(),
    "BigDecimal": DECIMAL,
    "BigInteger": BIG_INTEGER,
    "Date": INSTANT,
    "Calendar": INSTANT,
    "ZonedDateTime": INSTANT,
    "OffsetDateTime": INSTANT,
    "LocalDateTime": pa.timestamp("us"),
    "LocalDate": pa.date32(),
    "LocalTime": pa.time64("us"),
    "null": pa.null(),
}


# ------------------------------------------------------------------ types


def value_arrow_type(value_type: ValueType, inside: tuple[EventType, ...] = ()) -> pa.DataType:
    """Return the Arrow type of a value type. ``inside``: the event types that are being described, so that one that holds itself ends as
    text."""
    if isinstance(value_type, Scalar):
        return SCALARS.get(value_type.kind, pa.string())
    if isinstance(value_type, (ArrayType, CollectionType)):
        return pa.list_(value_arrow_type(value_type.element, inside))
    if isinstance(value_type, MapType):
        return pa.map_(value_arrow_type(value_type.key, inside), value_arrow_type(value_type.value, inside))
    if isinstance(value_type, EventOf) and _is_struct(value_type.event_type, inside):
        return pa.struct(_fields(value_type.event_type, inside))
    return pa.string()


def is_held_exactly(value_type: ValueType) -> bool:
    """Return whether a value comes back from its Arrow column as it was: neither as text (Object) nor with another scale (BigDecimal)."""
    if isinstance(value_type, Scalar):
        return value_type.kind in SCALARS and value_type.kind != "BigDecimal"
    if isinstance(value_type, EnumType):
        return True  # the constant's name
    if isinstance(value_type, (ArrayType, CollectionType)):
        return is_held_exactly(value_type.element)
    if isinstance(value_type, MapType):
        return is_held_exactly(value_type.key) and is_held_exactly(value_type.value)
    return isinstance(value_type, EventOf) and _is_held_exactly(value_type.event_type, ())


def _is_held_exactly(event_type: EventType, inside: tuple[EventType, ...]) -> bool:
    if not _is_struct(event_type, inside):
        return False
    types = [p.whole_type for p in event_type.properties.values()]
    inside = (*inside, event_type)
    return all(_is_held_exactly(t.event_type, inside) if isinstance(t, EventOf) else is_held_exactly(t) for t in types)


def arrow_schema(event_type: EventType) -> pa.Schema:
    """Return the Arrow schema of a type's events: a column a declared property, in order; all may be null."""
    return pa.schema(_fields(event_type, ()))


def _fields(event_type: EventType, inside: tuple[EventType, ...]) -> list[pa.Field[Any]]:
    return [pa.field(p.name, value_arrow_type(p.whole_type, (*inside, event_type))) for p in event_type.properties.values()]


def _is_struct(event_type: EventType, inside: tuple[EventType, ...]) -> bool:
    return bool(event_type.properties) and not event_type.any_type and not any(event_type is t for t in inside)


# ------------------------------------------------------------------ values


def to_batch(events: Sequence[Event], event_type: EventType) -> pa.RecordBatch:
    """Return events of the type (or its sub-types) as one record batch; raise EplRuntimeError naming type, property, row and value."""
    of = event_class(event_type)
    encoder: _Encoder | None = of.__dict__.get("arrow_encoder")
    if encoder is None:
        encoder = _Encoder.of(event_type)
        of.arrow_encoder = encoder  # type: ignore[attr-defined]
    return encoder.encode(events)


def together(batches: Sequence[pa.RecordBatch | None], events: Sequence[Event], event_type: EventType) -> pa.RecordBatch | None:
    """Record batches, and events after them, as one record batch; None where there is nothing. Raises EplRuntimeError as to_batch does."""
    parts = [b for b in batches if b is not None]
    if events:
        parts.append(to_batch(events, event_type))
    if len(parts) < 2:
        return parts[0] if parts else None
    columns = [pa.chunked_array(_alike([b.column(n) for b in parts])).combine_chunks() for n in range(parts[0].num_columns)]
    return pa.RecordBatch.from_arrays(columns, names=parts[0].schema.names)


def _alike(chunks: list[Any]) -> list[Any]:
    """Return columns without dictionaries: those of several batches differ."""
    return [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in chunks]


@attrs.frozen
class _Encoder:
    """What to_batch needs of a type, worked out once: it is kept on the type's event class."""

    name: str
    schema: pa.Schema
    columns: tuple[tuple[Callable[[Event], Any], Encode | None], ...]

    @classmethod
    def of(cls, event_type: EventType) -> _Encoder:
        columns = tuple((_getter(event_type, p.name), _encode(p.whole_type, (event_type,))) for p in event_type.properties.values())
        return cls(event_type.name, arrow_schema(event_type), columns)

    def encode(self, events: Sequence[Event]) -> pa.RecordBatch:
        if not self.columns:
            rows: Any = pa.array([{}] * len(events), pa.struct([]))
            return pa.RecordBatch.from_struct_array(rows)
        arrays = [self._array(field, [get(e) for e in events], encode) for field, (get, encode) in zip(self.schema, self.columns)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _array(self, field: pa.Field[Any], values: list[Any], encode: Encode | None) -> pa.Array[Any]:
        encoded = values if encode is None else [None if v is None else self._one(field, row, v, encode) for row, v in enumerate(values)]
        try:
            array: pa.Array[Any] = pa.array(encoded, field.type)
            return array
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:  # also texts that are not UTF-8
            raise EplRuntimeError(f"{self._column(field)} cannot hold its values: {error}") from error

    def _one(self, field: pa.Field[Any], row: int, value: Any, encode: Encode) -> Any:
        try:
            return encode(value)
        except Exception as error:
            raise EplRuntimeError(
                f"{self._column(field)} cannot hold {brief(value)} of row {row}", hint="cast it to string in the select clause"
            ) from error

    def _column(self, field: pa.Field[Any]) -> str:
        return f"Event type '{self.name}': column '{field.name}' of Arrow type {field.type}"


def to_arrow_column(values: Sequence[Any], value_type: ValueType) -> pa.Array[Any]:
    """Return values of a property as a column of its Arrow type; raise ValueError, ArrowException or OverflowError where it cannot hold
    one."""
    encode = _encode(value_type, ())
    encoded = values if encode is None else [None if v is None else encode(v) for v in values]
    array: pa.Array[Any] = pa.array(encoded, value_arrow_type(value_type))
    return array


def _getter(event_type: EventType, name: str) -> Callable[[Event], Any]:
    if event_type.kind == "variant":
        return lambda event: event.get(name)
    return attrgetter(field_name(name))


def _encode(value_type: ValueType, inside: tuple[EventType, ...]) -> Encode | None:
    """Return the encoder of a value type, None where pyarrow takes the values as they are."""
    if isinstance(value_type, Scalar):
        return ENCODERS.get(value_type.kind) if value_type.kind in SCALARS else as_text
    if isinstance(value_type, (ArrayType, CollectionType)):
        element = _encode(value_type.element, inside)
        return None if element is None else lambda values: [None if v is None else element(v) for v in values]
    if isinstance(value_type, MapType):
        return _encode_map(value_type, inside)
    if isinstance(value_type, EventOf) and _is_struct(value_type.event_type, inside):
        return _encode_event(value_type.event_type, inside)
    return as_text


def _encode_map(value_type: MapType, inside: tuple[EventType, ...]) -> Encode:
    key = _encode(value_type.key, inside) or _same
    value = _encode(value_type.value, inside) or _same
    return lambda pairs: [(key(k), None if v is None else value(v)) for k, v in pairs.items()]


def _encode_event(event_type: EventType, inside: tuple[EventType, ...]) -> Encode:
    parts = [(p.name, _encode(p.whole_type, (*inside, event_type)) or _same) for p in event_type.properties.values()]

    def encode(event: Any) -> dict[str, Any]:
        values = [(name, event.get(name), part) for name, part in parts]
        return {name: None if value is None else part(value) for name, value, part in values}

    return encode


def _same(value: Any) -> Any:
    return value


WIDE = Context(prec=120)
LAST_DECIMAL = Decimal(1).scaleb(-18)


def _decimal(value: Any) -> Decimal:
    number = value if isinstance(value, Decimal) else Decimal(value)
    if not number.is_finite() or abs(number) >= Decimal("1e20"):
        raise ValueError(value)
    exponent = number.as_tuple().exponent
    return number.quantize(LAST_DECIMAL, ROUND_HALF_EVEN, WIDE) if isinstance(exponent, int) and exponent < -18 else number


def _big_integer(value: Any) -> Decimal:
    if abs(value) >= 10**38:
        raise ValueError(value)
    return Decimal(value)


def as_text(value: Any) -> str:
    """Return a value of any kind as text: text as it is, anything else as JSON (events as objects; decimals, dates and bytes as text)."""
    if isinstance(value, (str, Decimal, datetime.datetime, datetime.date, datetime.time, bytes)):
        return _leaf(value)
    return json.dumps(_plain(value), ensure_ascii=False)


def _leaf(value: Any) -> str:
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Event):
        return {name: _plain(value.get(name)) for name in (*value.type.properties, *(value.extra or ()))}
    if isinstance(value, Mapping):
        return {k if isinstance(k, str) else as_text(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(v) for v in value]
    return _leaf(value)


ENCODERS: dict[str, Encode] = {"BigDecimal": _decimal, "BigInteger": _big_integer}
