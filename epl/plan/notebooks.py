"""Plans in notebooks, as what ``register_drawing`` registers shows them (runtime: text and picture)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

Drawing = Callable[[Any], str]
"""Returns HTML for a plan, or nothing for a plan of another kind."""

_drawings: list[Drawing] = []


def register_drawing(drawing: Drawing) -> None:
    """Have plans show this below their text, in all notebooks of the process; once, however often it is called."""
    if drawing not in _drawings:
        _drawings.append(drawing)


class ShownInNotebooks:
    """The base of plans."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return "".join(drawing(self) for drawing in _drawings) or None


__all__ = ["Drawing", "ShownInNotebooks", "register_drawing"]
