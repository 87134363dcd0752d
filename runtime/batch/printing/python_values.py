"""Values as Python has them, and as kernels keep them (``kinds.DTYPES``); words that are equal where keys are."""
from __future__ import annotations

import datetime
import struct
from typing import Any
from zoneinfo import ZoneInfo

from runtime.batch.printing.expressions import ScalarText
from runtime.batch.refusals import Declined
from runtime.batch.storage.kinds import INSTANTS, TEXTS
from runtime.batch.storage.strings import StringPool

EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)
UTC = ZoneInfo("UTC")
NAN_WORD = 0x7FF8000000000000


def to_python(value: Any, kind: str, pool: StringPool) -> Any:
    """Return what is kept of a value that is not null, as the row tier has it."""
    if kind in TEXTS:
        return pool.value(int(value))
    if kind in INSTANTS:
        zone = None if kind == "LocalDateTime" else UTC
        return (EPOCH + int(value) * MICROSECOND).replace(tzinfo=zone)
    return value.item() if hasattr(value, "item") else value


def from_python(value: Any, kind: str, pool: StringPool) -> Any:
    """Return what is kept of a value that is not null; raise Declined for an instant whose zone would be lost."""
    if kind in TEXTS:
        return pool.code(value)
    if kind in INSTANTS:
        if (value.utcoffset() or datetime.timedelta()) != datetime.timedelta() or (value.tzinfo is None) is not (kind == "LocalDateTime"):
            raise Declined(f"{value!r} is kept in another zone than UTC")
        return (value.replace(tzinfo=None) - EPOCH) // MICROSECOND
    return value


def word_text(text: ScalarText, kind: str) -> str:
    """Return the text of an int64 that distinguishes a value that is not null from all others of its kind; 0.0 and -0.0 have two, every NaN
    has one."""
    if kind in ("float", "double"):
        return f"double_word(np.float64({text.value}))"
    return f"np.int64(1 if {text.value} else 0)" if kind == "boolean" else f"np.int64({text.value})"


def encode_word(value: Any, kind: str, pool: StringPool) -> int:
    """Return the same for a Python value."""
    if kind in ("float", "double"):
        return NAN_WORD if value != value else int(struct.unpack("<q", struct.pack("<d", value))[0])
    return int(from_python(value, kind, pool))


def value_of_word(word: int, kind: str, pool: StringPool) -> Any:
    """Return the Python value that has the word."""
    if kind in ("float", "double"):
        return struct.unpack("<d", struct.pack("<q", word))[0]
    return bool(word) if kind == "boolean" else to_python(word, kind, pool)


__all__ = ["encode_word", "from_python", "to_python", "value_of_word", "word_text"]
