"""The hash functions of contexts: values of an event → the number of a partition. Esper 9.0.0 was asked for all of it.

Nulls among several values are omitted; of nothing but nulls the number is 0. Of a single null number consistent_hash_crc32 has none.
"""
from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

from epl.java import wrap_int
from epl.java_hash import hash_function, utf16_units
from epl.value_types import Scalar, ValueType

FORMATS = {"boolean": ">?", "byte": ">b", "short": ">h", "int": ">i", "long": ">q", "float": ">f", "double": ">d"}
"""How numbers and booleans are written: as Java's DataOutput does."""

Hash = Callable[..., "int | None"]


def partition_hash(function: str, types: Sequence[ValueType], granularity: int) -> Hash:
    """Return the function of values of these types that gives a number from 0 to below ``granularity``."""
    if function == "number":
        return lambda value: 0 if value is None else abs(int(value)) % granularity
    if function == "hash_code":
        return _of_hash_codes([hash_function(each) for each in types], granularity)
    return _of_bytes([_kind(each) for each in types], granularity)


def _kind(value_type: ValueType) -> str:
    assert isinstance(value_type, Scalar)
    return value_type.kind


def _of_hash_codes(hashes: Sequence[Callable[[Any], int]], granularity: int) -> Hash:
    """
    >>> from epl.value_types import STRING, INT
    >>> partition_hash("hash_code", (STRING,), 997)("abc"), partition_hash("hash_code", (STRING, INT), 997)("abc", 5)
    (642, 964)
    """
    if len(hashes) == 1:
        only = hashes[0]
        return lambda value: 0 if value is None else abs(only(value)) % granularity

    def number(*values: Any) -> int:
        total = 0
        for hash_code, value in zip(hashes, values):
            if value is not None:
                total = wrap_int(31 * total + hash_code(value))
        return abs(total) % granularity

    return number


def _of_bytes(kinds: Sequence[str], granularity: int) -> Hash:
    """
    >>> from epl.value_types import STRING, INT
    >>> partition_hash("consistent_hash_crc32", (STRING,), 997)("abc")
    331
    >>> partition_hash("consistent_hash_crc32", (STRING, INT), 997)("abc", 5)
    556
    """
    if len(kinds) == 1:
        return _of_one(kinds[0], granularity)
    writers = [_text if kind == "String" else struct.Struct(FORMATS[kind]).pack for kind in kinds]

    def number(*values: Any) -> int:
        return crc32(b"".join([write(value) for write, value in zip(writers, values) if value is not None])) % granularity

    return number


def _of_one(kind: str, granularity: int) -> Hash:
    if kind == "String":
        return lambda value: 0 if value is None else crc32(value.encode("utf-8", "replace")) % granularity
    write = struct.Struct(FORMATS[kind]).pack

    return lambda value: None if value is None else crc32(write(value)) % granularity


def _text(value: str) -> bytes:
    """Return a string as Java's DataOutput writes it: its length, and UTF-8 by UTF-16 units, with two bytes for the character 0."""
    data = b"".join(
        chr(unit).encode("utf-8", "surrogatepass") if unit else b"\xc0\x80" for unit in utf16_units(value))
    return struct.pack(">H", len(data)) + data


__all__ = ["partition_hash"]
