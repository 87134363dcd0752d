"""The order in which Esper emits groups: that of a Java HashMap of their keys.

Learnt from recorded output: buckets in ascending order, within a bucket in order of arrival. Keys whose Java hash is an object's identity
have no
order there; they keep that of arrival here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, DecimalTuple
from functools import lru_cache
from typing import Any, TypeVar

from epl.value_types import ArrayType, CollectionType, Scalar, ValueType

Key = TypeVar("Key")
Hash = Callable[[Any], int]
MASK = 0xFFFFFFFF


@lru_cache(maxsize=65_536)
def hash_string(value: str) -> int:
    """Implement ``String.hashCode`` over UTF-16 units."""
    result = 0
    units = value if value.isascii() else _units(value)
    for unit in units:
        result = (31 * result + (ord(unit) if isinstance(unit, str) else unit)) & MASK
    return result


def _units(value: str) -> Sequence[int]:
    encoded = value.encode("utf-16-le", "surrogatepass")
    return struct.unpack(f"<{len(encoded) // 2}H", encoded)


def hash_int(value: int) -> int:
    return value & MASK


def hash_long(value: int) -> int:
    return (value ^ (value >> 32)) & MASK


def hash_double(value: float) -> int:
    bits = struct.unpack("<q", struct.pack("<d", value))[0] if value == value else 0x7FF8000000000000
    return hash_long(bits)


def hash_float(value: float) -> int:
    if value != value:
        return 0x7FC00000
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits & MASK


def hash_boolean(value: bool) -> int:
    return 1231 if value else 1237


def hash_big_integer(value: int) -> int:
    magnitude, result = abs(value), 0
    words = (magnitude.bit_length() + 31) // 32
    for i in range(words - 1, -1, -1):
        result = (31 * result + ((magnitude >> (32 * i)) & MASK)) & MASK
    return (-result if value < 0 else result) & MASK


def hash_big_decimal(value: Decimal | DecimalTuple) -> int:
    """Return the hash of values whose unscaled digits fit a long, and of others; also of those that a key has in their place."""
    sign, digits, exponent = value.as_tuple() if isinstance(value, Decimal) else value
    magnitude = int("".join(map(str, digits)))
    scale = -int(exponent)
    if magnitude <= 0x7FFFFFFFFFFFFFFF:
        folded = (31 * (magnitude >> 32) + (magnitude & MASK)) & MASK
        return (31 * (-folded if sign else folded) + scale) & MASK
    return (31 * hash_big_integer(-magnitude if sign else magnitude) + scale) & MASK


HASHES: dict[str, Hash] = {
    "boolean": hash_boolean,
    "byte": hash_int,
    "short": hash_int,
    "int": hash_int,
    "long": hash_long,
    "float": hash_float,
    "double": hash_double,
    "char": lambda value: ord(value),
    "String": hash_string,
    "BigInteger": hash_big_integer,
    "BigDecimal": hash_big_decimal,
}


def hash_of(value_type: ValueType) -> Hash | None:
    """Return ``hashCode`` of a type's values, null included; None where Java's is not a function of the value."""
    if isinstance(value_type, (ArrayType, CollectionType)):
        inner = hash_of(value_type.element)
        return None if inner is None else lambda value: 0 if value is None else hash_sequence(value, [inner] * len(value))
    if not isinstance(value_type, Scalar) or value_type.kind not in HASHES:
        return None
    known = HASHES[value_type.kind]
    return lambda value: 0 if value is None else known(value)


def hash_sequence(values: Iterable[Any], hashes: Sequence[Hash], start: int = 1) -> int:
    """Implement ``Arrays.hashCode``."""
    result = start
    for value, function in zip(values, hashes):
        result = (31 * result + function(value)) & MASK
    return result


def hash_key(values: Sequence[Any], hashes: Sequence[Hash]) -> int:
    """Return the hash of a key of several values: as a sequence that starts with the first one's hash."""
    return hash_sequence(values[1:], hashes[1:], hashes[0](values[0]))


def ordering(types: Sequence[ValueType]) -> Callable[[Sequence[Key]], list[int]] | None:
    """Return keys in order of arrival → their positions in the order of a HashMap; None where the order of arrival is kept.

    >>> from epl.value_types import STRING
    >>> order = ordering([STRING]); keys = ["zeta", "B", "Hello", "A"]
    >>> [keys[i] for i in order(keys)]
    ['zeta', 'A', 'B', 'Hello']
    """
    hashes = [hash_of(t) for t in types]
    known = [h for h in hashes if h is not None]
    if len(known) < len(hashes):
        return None
    if len(known) == 1:
        only = known[0]
        return lambda keys: _positions(keys, only)
    return lambda keys: _positions(keys, lambda key: hash_key(key, known))


def _positions(keys: Sequence[Any], function: Hash) -> list[int]:
    count = len(keys)
    if count == 1:
        return [0]
    size = 16
    while count > size * 3 // 4:
        size *= 2
    mask = size - 1
    buckets = []
    for key in keys:
        value = function(key)
        buckets.append((value ^ (value >> 16)) & mask)
    return sorted(range(count), key=buckets.__getitem__)
