"""``repr`` of values that come from outside: it never raises, whatever they hold."""
from __future__ import annotations

from typing import Any

MOST_SHOWN = 200
PAIRS: dict[type, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}


def safe_repr(value: Any) -> str:
    """Return ``repr(value)``; an integer of more digits than Python writes (``sys.set_int_max_str_digits``) in hexadecimal, also within
    lists and mappings; the class in place of a value whose own ``__repr__`` raises.

    >>> safe_repr([1, "a"]), safe_repr([16**5000])[:10]
    ("[1, 'a']", '[0x1000000')
    """
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  whatever the value's own class raises: it is looked at below
        return _closely(value)


def safe_str(value: Any) -> str:
    """Return ``str(value)``, in the same way."""
    return value if isinstance(value, str) else safe_repr(value) if isinstance(value, (int, *PAIRS, dict)) else _str(value)


def _str(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001  as above
        return _closely(value)


def _closely(value: Any) -> str:
    if isinstance(value, int):
        return hex(value)
    try:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{safe_repr(k)}: {safe_repr(v)}" for k, v in value.items()) + "}"
        brackets = PAIRS.get(type(value))
        if brackets is not None:
            return brackets[0] + ", ".join(map(safe_repr, value)) + brackets[1]
    except RecursionError:  # very deep, or within itself
        pass
    return f"<{type(value).__name__}>"


def brief(value: Any) -> str:
    """Return ``safe_repr(value)`` for a message: at most 200 characters of it."""
    text = safe_repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


__all__ = ["brief", "safe_repr", "safe_str"]
