"""Kinds of values (``epl.value_types.Scalar.kind``) that columns hold, and how."""
from __future__ import annotations

from typing import Any

import numpy as np

INTEGERS = ("byte", "short", "int", "long")
INSTANTS = ("Date", "Calendar", "ZonedDateTime", "OffsetDateTime", "LocalDateTime")
TEXTS = ("String",)
DTYPES: dict[str, Any] = {
    "byte": np.int32, "short": np.int32, "int": np.int32, "long": np.int64, "float": np.float32, "double": np.float64,
    "boolean": np.bool_, **dict.fromkeys(INSTANTS, np.int64), **dict.fromkeys(TEXTS, np.int32),
}
"""How columns of a kind are stored. Instants: µs since 1970 (LocalDateTime as if UTC); String: codes."""


__all__ = ["DTYPES", "INSTANTS", "INTEGERS", "TEXTS"]
