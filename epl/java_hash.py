"""Java's hash codes, the one place for them, and the order of a Java hash map.

Esper keeps groups and the events of ``unique`` in hash maps, so that their order is part of what a statement emits. ``hashCode`` is defined
by the values for numbers, texts, arrays, lists and dates; of enums, events and other objects it is an identity, which has no order here.
The rules of the number classes and collections are in their javadoc; those of dates are as Esper 9.0.0 answers ``x.hashCode()`` in Java 17.
"""
from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, DecimalTuple
from functools import lru_cache
from itertools import repeat
from typing import Any

from epl.java import wrap_int
from epl.value_types import ArrayType, CollectionType, Scalar, ValueType

Hash = Callable[[Any], int]
MASK = 0xFFFFFFFF
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
GREGORIAN_UTC = 577755
"""What a GregorianCalendar in zone UTC adds to its time."""

# ------------------------------------------------------------------ numbers and texts


@lru_cache(maxsize=65_536)
def string_hash(text: str) -> int:
    """Implement ``String.hashCode``.

    >>> string_hash("Hello World")
    -862545276
    """
    total = 0
    for unit in map(ord, text) if text.isascii() else utf16_units(text):
        total = (total * 31 + unit) & MASK
    return wrap_int(total)


def utf16_units(text: str) -> list[int]:
    """Return the UTF-16 code units that Java sees."""
    data = text.encode("utf-16-le", "surrogatepass")
    return list(struct.unpack(f"<{len(data) // 2}H", data))


def boolean_hash(value: bool) -> int:
    return 1231 if value else 1237


def long_hash(value: int) -> int:
    bits = value & 0xFFFFFFFFFFFFFFFF
    return wrap_int(bits ^ (bits >> 32))


def double_hash(value: float) -> int:
    return long_hash(0x7FF8000000000000 if value != value else struct.unpack("<q", struct.pack("<d", value))[0])


def float_hash(value: float) -> int:
    return 0x7FC00000 if value != value else int(struct.unpack("<i", struct.pack("<f", value))[0])


def big_integer_hash(value: int) -> int:
    magnitude, total = abs(value), 0
    for place in range((magnitude.bit_length() + 31) // 32 - 1, -1, -1):
        total = (31 * total + ((magnitude >> (32 * place)) & MASK)) & MASK
    return wrap_int(-total if value < 0 else total)


def decimal_hash(value: Decimal | DecimalTuple) -> int:
    """Implement ``BigDecimal.hashCode``, also of what stands for a value in a key."""
    sign, digits, exponent = value.as_tuple() if isinstance(value, Decimal) else value
    magnitude, scale = int("".join(map(str, digits))), -int(exponent)
    if magnitude < 2**63:
        word = wrap_int(31 * (magnitude >> 32) + (magnitude & MASK))
        return wrap_int(31 * (-word if sign else word) + scale)
    return wrap_int(31 * big_integer_hash(-magnitude if sign else magnitude) + scale)


# ------------------------------------------------------------------ dates


def date_hash(value: datetime.datetime) -> int:
    """Implement ``java.util.Date.hashCode``."""
    return long_hash((value - EPOCH) // datetime.timedelta(milliseconds=1))


def calendar_hash(value: datetime.datetime) -> int:
    """Implement ``Calendar.hashCode`` of a GregorianCalendar in zone UTC."""
    return date_hash(value) ^ GREGORIAN_UTC


def local_date_hash(value: datetime.date) -> int:
    return wrap_int((value.year & 0xFFFFF800) ^ ((value.year << 11) + (value.month << 6) + value.day))


def local_time_hash(value: datetime.time | datetime.datetime) -> int:
    return long_hash(((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000_000 + value.microsecond * 1000)


def local_date_time_hash(value: datetime.datetime) -> int:
    return local_date_hash(value) ^ local_time_hash(value)


def offset_date_time_hash(value: datetime.datetime) -> int:
    return local_date_time_hash(value) ^ _offset_seconds(value)


def hash_zoned_date_time(value: datetime.datetime) -> int:
    """Implement ``ZonedDateTime.hashCode``: the zone's is that of its name, or the offset's where it has none."""
    name = "UTC" if value.tzinfo is datetime.timezone.utc else getattr(value.tzinfo, "key", None)
    zone = (_offset_seconds(value) if name is None else string_hash(name)) & MASK
    return wrap_int(offset_date_time_hash(value) ^ ((zone << 3) | (zone >> 29)))


def _offset_seconds(value: datetime.datetime) -> int:
    return int((value.utcoffset() or datetime.timedelta()).total_seconds())


# ------------------------------------------------------------------ by value, by type


def java_hash(value: Any) -> int:
    """Implement ``hashCode`` by the value alone; integers count as int where they fit, else as long, aware times as zoned ones."""
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(2**31) <= value < 2**31 else long_hash(value)
    if isinstance(value, (list, tuple)):
        return list_hash(value)
    if isinstance(value, dict):
        return wrap_int(sum(java_hash(k) ^ java_hash(v) for k, v in value.items()))
    for kind, function in _BY_CLASS.items():
        if isinstance(value, kind):
            return function(value)
    return wrap_int(hash(value))


def list_hash(values: Iterable[Any]) -> int:
    """Implement ``List.hashCode`` and ``Arrays.hashCode``, by the values alone."""
    return _combine(1, values, repeat(java_hash))


def _combine(start: int, values: Iterable[Any], hashes: Iterable[Hash]) -> int:
    result = start
    for value, function in zip(values, hashes):
        result = (31 * result + (0 if value is None else function(value))) & MASK
    return wrap_int(result)


def _moment_hash(value: datetime.datetime) -> int:
    return local_date_time_hash(value) if value.tzinfo is None else hash_zoned_date_time(value)


_BY_CLASS: dict[type, Hash] = {
    bool: boolean_hash, str: string_hash, float: double_hash, Decimal: decimal_hash, datetime.datetime: _moment_hash,
    datetime.date: local_date_hash, datetime.time: local_time_hash,
}

_BY_KIND: dict[str, Hash] = {
    "boolean": boolean_hash, "byte": wrap_int, "short": wrap_int, "int": wrap_int, "long": long_hash, "float": float_hash,
    "double": double_hash, "char": ord, "String": string_hash, "BigInteger": big_integer_hash, "BigDecimal": decimal_hash,
    "Date": date_hash, "Calendar": calendar_hash, "LocalDate": local_date_hash, "LocalTime": local_time_hash,
    "LocalDateTime": local_date_time_hash, "OffsetDateTime": offset_date_time_hash, "ZonedDateTime": hash_zoned_date_time,
}


def hash_function(value_type: ValueType) -> Hash:
    """Return ``hashCode`` for values of that static type; by the value alone where the type does not say it."""
    return _BY_KIND.get(value_type.kind, java_hash) if isinstance(value_type, Scalar) else java_hash


def stable_hash(value_type: ValueType) -> Hash | None:
    """Return ``hashCode`` of a type's values but null; None where Java's is not a function of the value, or is not known by the type."""
    if isinstance(value_type, (ArrayType, CollectionType)):
        element = stable_hash(value_type.element)
        return None if element is None else lambda values: _combine(1, values, repeat(element))
    return _BY_KIND.get(value_type.kind) if isinstance(value_type, Scalar) else None


def hash_of_keys(types: Sequence[ValueType]) -> Hash | None:
    """Return the hash of a key of these types, a tuple where there are several; None where ``stable_hash`` gives none of one of them."""
    hashes = [stable_hash(each) for each in types]
    known = [each for each in hashes if each is not None]
    if not known or len(known) < len(hashes):
        return None
    if len(known) == 1:
        only = known[0]
        return lambda key: 0 if key is None else only(key)
    return lambda key: _combine(0, key, known)


# ------------------------------------------------------------------ the order of a hash map


def in_hash_order(hashes: Iterable[int], peak: int) -> list[int]:
    """Return the positions of the entries with these hashes, which arrived in this order, as a HashMap iterates them that held at most
    ``peak`` at once: buckets in ascending order, within a bucket in order of arrival.

    >>> keys = ["zeta", "B", "Hello", "A"]; [keys[i] for i in in_hash_order(map(string_hash, keys), 4)]
    ['zeta', 'A', 'B', 'Hello']
    """
    buckets = bucket_numbers(hashes, peak)
    return sorted(range(len(buckets)), key=buckets.__getitem__)


def bucket_numbers(hashes: Iterable[int], peak: int) -> list[int]:
    """Return the bucket of each entry in a HashMap that held at most ``peak`` at once."""
    capacity = 16
    while peak > capacity * 3 // 4:
        capacity *= 2
    return [spread_hash(value) & (capacity - 1) for value in hashes]


def spread_hash(value: int) -> int:
    """Return what HashMap takes of a hash: its upper half mixed into the lower one, as an unsigned number."""
    value &= MASK
    return value ^ (value >> 16)
