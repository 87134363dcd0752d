"""Lines of generated source."""
from __future__ import annotations

from collections.abc import Sequence


def indent_lines(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def under(head: str, lines: Sequence[str]) -> list[str]:
    """Return lines after a head; nothing where there are none."""
    return [head, *indent_lines(lines)] if lines else []


__all__ = ["indent_lines", "under"]
