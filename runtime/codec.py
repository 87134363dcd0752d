"""Plain values ↔ bytes, nothing lost: big integers, Decimal, dates with their zones, tuples, NaN, dict keys of any kind, events by number.

msgpack with extension types; the numbers below are the format and never change their meaning.
"""
from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import msgpack

from epl.errors import EplRuntimeError
from epl.functions.java_values import OFFSET_ZERO
from windows.event import Event
from windows.paging import Long, Paged

EVENT, BIG_INTEGER, DECIMAL, INSTANT, LOCAL_DATE_TIME, DATE, TIME, TUPLE, SET, ZONED, KEYED, LONG = range(1, 13)


class Encoder:
    """Encodes values; events are numbered on first sight and stored once in ``events``. Paged state becomes a list in its place."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._numbers: dict[int, int] = {}

    def encode(self, value: Any) -> bytes:
        packed: bytes = msgpack.packb(value, default=self._default, strict_types=True, use_bin_type=True)
        return packed

    def _default(self, value: Any) -> Any:
        if isinstance(value, Event):
            return msgpack.ExtType(EVENT, self._number(value).to_bytes(8, "big"))
        if isinstance(value, (Paged, Long)):
            return self._part(value)
        encode = ENCODERS.get(type(value))
        if encode is None:
            for kind, found in ENCODERS.items():
                if isinstance(value, kind):
                    encode = found
                    break
        if encode is None:
            raise EplRuntimeError(
                f"a value of class {type(value).__module__}.{type(value).__qualname__} cannot be kept in a snapshot: {value!r}"
            )
        return encode(self, value)

    def _part(self, value: Paged | Long) -> Any:
        return list(value)

    def _number(self, event: Event) -> int:
        number = self._numbers.get(id(event))
        if number is None:
            number = self._numbers[id(event)] = len(self.events)
            self.events.append(event)
        return number


def _datetime(encoder: Encoder, value: datetime.datetime) -> Any:
    if value.tzinfo is None:
        return msgpack.ExtType(LOCAL_DATE_TIME, value.isoformat().encode())
    if isinstance(value.tzinfo, ZoneInfo):
        local = value.replace(tzinfo=None).isoformat()
        return msgpack.ExtType(ZONED, f"{local}|{value.fold}|{value.tzinfo.key}".encode())
    if value.tzinfo is OFFSET_ZERO:
        return msgpack.ExtType(ZONED, f"{value.replace(tzinfo=None).isoformat()}|{value.fold}|Z".encode())
    return msgpack.ExtType(INSTANT, value.isoformat().encode())


ENCODERS: dict[type, Callable[[Encoder, Any], Any]] = {
    tuple: lambda encoder, value: msgpack.ExtType(TUPLE, encoder.encode(list(value))),
    int: lambda encoder, value: msgpack.ExtType(BIG_INTEGER, int.__repr__(value).encode()),
    float: lambda encoder, value: float(value),
    Decimal: lambda encoder, value: msgpack.ExtType(DECIMAL, str(value).encode()),
    datetime.datetime: _datetime,
    datetime.date: lambda encoder, value: msgpack.ExtType(DATE, value.isoformat().encode()),
    datetime.time: lambda encoder, value: msgpack.ExtType(TIME, value.isoformat().encode()),
    frozenset: lambda encoder, value: msgpack.ExtType(SET, encoder.encode(list(value))),
    set: lambda encoder, value: msgpack.ExtType(SET, encoder.encode(list(value))),
    list: lambda encoder, value: list(value),
    dict: lambda encoder, value: dict(value),
    str: lambda encoder, value: str.__str__(value),
}


class Decoder:
    """Decodes what an Encoder wrote; ``event(number)`` gives the events, ``parts`` by kind (KEYED, LONG) what stands in other pages."""

    def __init__(self, event: Callable[[int], Event], parts: dict[int, Callable[[bytes], Any]] | None = None) -> None:
        self._event = event
        self._decoders: dict[int, Callable[[bytes], Any]] = {
            EVENT: lambda data: event(int.from_bytes(data, "big")),
            BIG_INTEGER: lambda data: int(data),
            DECIMAL: lambda data: Decimal(data.decode()),
            INSTANT: lambda data: datetime.datetime.fromisoformat(data.decode()),
            LOCAL_DATE_TIME: lambda data: datetime.datetime.fromisoformat(data.decode()),
            DATE: lambda data: datetime.date.fromisoformat(data.decode()),
            TIME: lambda data: datetime.time.fromisoformat(data.decode()),
            TUPLE: lambda data: tuple(self.decode(data)),
            SET: lambda data: set(self.decode(data)),
            ZONED: _zoned,
            **(parts or {}),
        }

    def decode(self, data: bytes) -> Any:
        return msgpack.unpackb(data, ext_hook=self._extension, strict_map_key=False, raw=False)

    def _extension(self, code: int, data: bytes) -> Any:
        decode = self._decoders.get(code)
        if decode is None:
            raise EplRuntimeError(f"the snapshot holds a value of unknown kind {code}", hint="it was written by a newer version")
        return decode(data)


def _zoned(data: bytes) -> datetime.datetime:
    local, fold, zone = data.decode().split("|")
    return datetime.datetime.fromisoformat(local).replace(tzinfo=OFFSET_ZERO if zone == "Z" else ZoneInfo(zone), fold=int(fold))
