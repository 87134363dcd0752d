"""Plain values ↔ bytes, nothing lost: big integers, Decimal, dates with their zones, tuples, NaN, lone surrogates, dict keys of any kind,
events by number.

msgpack with extension types; the numbers below are the format and never change their meaning. Decoding trusts nothing: a count is
compared with the bytes that are there before anything is allocated for it, and tuples and sets are nested ``MOST_NESTED`` deep at most.
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
from epl.reprs import brief
from windows.event import Event
from windows.paging import Compared, Long, Marked, Paged
from windows.protocol import Damaged

EVENT, BIG_INTEGER, DECIMAL, INSTANT, LOCAL_DATE_TIME, DATE, TIME, TUPLE, SET, ZONED, KEYED, LONG, FROZEN_SET = range(1, 14)
KIND_NAMES = (
    "event", "big integer", "decimal", "instant", "local date-time", "date", "time", "tuple", "set", "date-time with zone", "pages by key",
    "pieces of a list", "frozen set",
)

Parted = Paged | Long | Compared | Marked
"""State that goes to pages of its own."""

VAST = 10_000
"""Digits in front of the point; Python takes seconds for some ten millions of them."""

MOST_NESTED = 64
"""Tuples and sets within each other. Each is decoded by a call of its own, which takes some 50 kB of the C stack."""


class Encoder:
    """Encodes values; events are numbered on first sight and stored once in ``events``. Paged state becomes a list in its place."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._numbers: dict[int, int] = {}
        self._nested = 0

    def encode(self, value: Any) -> bytes:
        """Raise EplRuntimeError for values that cannot be kept: of unknown classes, or nested too deep."""
        try:
            packed: bytes = msgpack.packb(
                value, default=self._default, strict_types=True, use_bin_type=True, unicode_errors="surrogatepass"
            )
        except (ValueError, RecursionError) as error:  # msgpack's limits: nesting, 2**32 items or bytes
            raise EplRuntimeError(f"a value cannot be kept in a snapshot: {error}") from error
        return packed

    def inner(self, values: list[Any]) -> bytes:
        """Return the elements of a tuple or set."""
        if self._nested == MOST_NESTED:
            raise EplRuntimeError(f"a value cannot be kept in a snapshot: tuples or sets are nested more than {MOST_NESTED} deep")
        self._nested += 1
        try:
            return self.encode(values)
        finally:
            self._nested -= 1

    def _default(self, value: Any) -> Any:
        if isinstance(value, Event):
            return msgpack.ExtType(EVENT, self._number(value).to_bytes(8, "big"))
        if isinstance(value, (Paged, Long, Compared, Marked)):
            return self._part(value)
        encode = ENCODERS.get(type(value))
        if encode is None:
            for kind, encode_kind in ENCODERS.items():
                if isinstance(value, kind):
                    encode = encode_kind
                    break
        if encode is None:
            raise EplRuntimeError(
                f"a value of class {type(value).__module__}.{type(value).__qualname__} cannot be kept in a snapshot: {brief(value)}"
            )
        return encode(self, value)

    def _part(self, value: Parted) -> Any:
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
    tuple: lambda encoder, value: msgpack.ExtType(TUPLE, encoder.inner(list(value))),
    int: lambda encoder, value: msgpack.ExtType(BIG_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)),
    float: lambda encoder, value: float(value),
    Decimal: lambda encoder, value: msgpack.ExtType(DECIMAL, str(value).encode()),
    datetime.datetime: _datetime,
    datetime.date: lambda encoder, value: msgpack.ExtType(DATE, value.isoformat().encode()),
    datetime.time: lambda encoder, value: msgpack.ExtType(TIME, value.isoformat().encode()),
    frozenset: lambda encoder, value: msgpack.ExtType(FROZEN_SET, encoder.inner(list(value))),
    set: lambda encoder, value: msgpack.ExtType(SET, encoder.inner(list(value))),
    list: lambda encoder, value: list(value),
    dict: lambda encoder, value: dict(value),
    str: lambda encoder, value: str.__str__(value),
}


class Decoder:
    """Decodes what an Encoder wrote; ``event(number)`` gives the events, ``parts`` by kind (KEYED, LONG) what is in other pages.

    Bytes of another origin make ``decode`` raise Damaged, or whatever the classes of the values raise (``seal.reading``).
    """

    def __init__(self, event: Callable[[int], Event | None], parts: dict[int, Callable[[bytes], Any]] | None = None) -> None:
        self._nested = 0
        self.vast = False
        """Whether a decimal has been decoded that takes for ever to become an integer."""
        self._decoders: dict[int, Callable[[bytes], Any]] = {
            EVENT: lambda data: event(int.from_bytes(_of_length(data, 8), "big")),
            BIG_INTEGER: lambda data: int.from_bytes(data, "big", signed=True),
            DECIMAL: self._decimal,
            INSTANT: lambda data: datetime.datetime.fromisoformat(data.decode()),
            LOCAL_DATE_TIME: lambda data: datetime.datetime.fromisoformat(data.decode()),
            DATE: lambda data: datetime.date.fromisoformat(data.decode()),
            TIME: lambda data: datetime.time.fromisoformat(data.decode()),
            TUPLE: lambda data: tuple(self._inner(data)),
            SET: lambda data: set(self._inner(data)),
            FROZEN_SET: lambda data: frozenset(self._inner(data)),
            ZONED: _zone_moment,
            **(parts or {}),
        }

    def decode(self, data: bytes) -> Any:
        """Return the value."""
        return unpack(data, self._extension)

    def _inner(self, data: bytes) -> list[Any]:
        if self._nested == MOST_NESTED:
            raise Damaged(f"tuples or sets are nested more than {MOST_NESTED} deep")
        self._nested += 1
        try:
            return as_list(self.decode(data))
        finally:
            self._nested -= 1

    def _decimal(self, data: bytes) -> Decimal:
        value = Decimal(data.decode())
        self.vast = self.vast or (value.is_finite() and value.adjusted() > VAST)
        return value

    def _extension(self, code: int, data: bytes) -> Any:
        decode = self._decoders.get(code)
        if decode is None:
            if 1 <= code <= len(KIND_NAMES):
                raise Damaged(f"a value of kind '{KIND_NAMES[code - 1]}' where none can be")
            raise EplRuntimeError(f"the snapshot holds a value of unknown kind {code}", hint="it was written by a newer version")
        return decode(data)


def unpack(data: bytes, extension: Callable[[int, bytes], Any] = msgpack.ExtType) -> Any:
    """Return the one value of msgpack bytes. Counts that are larger than what follows are found before anything is allocated: the unpacker
    would allocate space for all that nested headers announce. Raise what msgpack raises, and TypeError for maps whose keys cannot be
    hashed."""
    if len(data) > SMALL:
        whole = msgpack.Unpacker(max_buffer_size=len(data))
        whole.feed(data)
        whole.skip()
    return msgpack.unpackb(data, ext_hook=extension, strict_map_key=False, raw=False, unicode_errors="surrogatepass")


SMALL = 1024
"""Bytes whose counts, each no larger than this, cannot announce much."""


def as_list(value: Any, length: int | None = None) -> list[Any]:
    """Return the value, if it is a list, of that length where one is given. Raise Damaged."""
    if type(value) is not list or (length is not None and len(value) != length):
        expected = "a list" if length is None else f"a list of {length}"
        actual = f"a list of {len(value)}" if type(value) is list else f"a value of type {type(value).__name__}"
        raise Damaged(f"{actual} where {expected} is expected")
    return value


def as_map(value: Any) -> dict[Any, Any]:
    """Return the value, if it is a map. Raise Damaged."""
    if type(value) is not dict:
        raise Damaged(f"a value of type {type(value).__name__} where a map is expected")
    return value


def _of_length(data: bytes, length: int) -> bytes:
    if len(data) != length:
        raise Damaged(f"{len(data)} bytes where {length} are expected")
    return data


def _zone_moment(data: bytes) -> datetime.datetime:
    local, fold, zone = data.decode().split("|")
    try:
        tz = OFFSET_ZERO if zone == "Z" else ZoneInfo(zone)
    except (KeyError, OSError) as error:  # OSError: the name of a folder
        raise Damaged(f"there is no time zone {brief(zone)}") from error
    return datetime.datetime.fromisoformat(local).replace(tzinfo=tz, fold=int(fold))
