"""The two zeros of doubles, distinguished as Java's ``Double.compareTo`` and ``Double.equals`` do: -0.0 is less than 0.0.

Python's compare as equal, so what sorts or looks up doubles holds ``sort_value(x)`` in place of x, and gives ``plain`` of it back.
"""
from __future__ import annotations

from math import copysign
from typing import Any


class NegativeZero(float):
    """-0.0 among plain numbers: less than 0.0, greater than what is below it, and equal to itself alone."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:  # float has one of its own
        return self is not other

    def __lt__(self, other: Any) -> Any:
        return self is not other and float.__le__(self, other)

    def __ge__(self, other: Any) -> Any:
        return self is other or float.__gt__(self, other)

    def __hash__(self) -> int:
        return id(type(self))


NEGATIVE_ZERO = NegativeZero("-0.0")


def sort_value(value: Any) -> Any:
    """Return what sorts in the value's place: itself, unless it is -0.0. ``x or sort_value(x)`` asks only where x may be zero.

    >>> sorted([sort_value(x) for x in (0.0, 1.0, -0.0, -1.0)])
    [-1.0, -0.0, 0.0, 1.0]
    """
    return NEGATIVE_ZERO if isinstance(value, float) and value == 0 and copysign(1.0, value) < 0 else value


def plain(value: Any) -> Any:
    """Return what ``sort_value`` was given."""
    return -0.0 if value is NEGATIVE_ZERO else value


__all__ = ["NEGATIVE_ZERO", "NegativeZero", "plain", "sort_value"]
