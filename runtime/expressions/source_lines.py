"""Lines of generated source."""
from __future__ import annotations

from collections.abc import Sequence


def indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def under(head: str, lines: Sequence[str]) -> list[str]:
    """Return lines after a head; nothing where there are none."""
    return [head, *indented(lines)] if lines else []


__all__ = ["indented", "under"]
