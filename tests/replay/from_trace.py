"""The JSON of traces as values that the engine takes."""

from __future__ import annotations

from typing import Any

from epl.value_types import INTEGRAL_KINDS, MapType, Scalar, ValueType


def from_text(value: Any, declared: ValueType) -> Any:
    """Return a preconfigured value: numbers and booleans may be given as text."""
    if not isinstance(value, str) or not isinstance(declared, Scalar):
        return value
    if declared.kind in INTEGRAL_KINDS:
        return int(value)
    if declared.kind in ("float", "double"):
        return float(value)
    return value == "true" if declared.kind == "boolean" else value


def from_json(value: Any, declared: ValueType | None) -> Any:
    """Return a trace's value as the engine takes it: keys of maps of numbers are numbers again. Everything else the engine converts
    itself."""
    if (
        isinstance(value, dict)
        and isinstance(declared, MapType)
        and isinstance(declared.key, Scalar)
        and declared.key.kind in ("int", "long", "short", "byte")
    ):
        return {None if k == "null" else int(k): v for k, v in value.items()}
    return value
