"""Plans in notebooks: as text, and as what ``show_as`` registers (runtime draws a picture)."""
from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

Drawing = Callable[[Any], str]
"""Returns HTML for a plan, or nothing for a plan of another kind."""

_drawings: list[Drawing] = []


def show_as(drawing: Drawing) -> None:
    """Have plans show this below their text, in all notebooks of the process; once, however often it is called."""
    if drawing not in _drawings:
        _drawings.append(drawing)


class ShownInNotebooks:
    """The base of plans: a notebook shows their text and their picture."""

    __slots__ = ()

    def explained(self) -> str:
        """Return the plan as text, as ``explain()`` of a statement does."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        text = f"<pre style='white-space:pre-wrap'>{escape(self.explained())}</pre>"
        return "".join([text, *(drawing(self) for drawing in _drawings)])


__all__ = ["Drawing", "ShownInNotebooks", "show_as"]
