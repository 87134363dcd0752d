"""What a statement offers to the generated function of an event type: its own steps as text."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import attrs

from epl.generated_code import field_name
from runtime.expressions import Environment
from runtime.expressions.printer import Printer

EVENT = re.compile(r"\be\b")
"""The event's name in a line. In a text's literal it makes an event that is not needed, and no harm."""
Place = Callable[[str], str]
"""A field of the event → the text of its value."""


@attrs.frozen
class GeneratedSteps:
    """Steps over an event ``e``, which need not be there where no line names it.

    ``before`` changes nothing and may end the function, ``then`` may raise. ``scope``: the objects that the lines name.
    """

    before: list[str]
    then: list[str]
    scope: dict[str, Any]


EmitSteps = Callable[[Place, dict[str, Any], str], GeneratedSteps]
"""write(place of a field, takes the objects that expressions name, the line that leaves the event to ``receive``) → the steps.

Only for a function of which the statement is the only receiver: the lines may call its listeners.
"""



class PlacePrinter(Printer):
    """Prints over an event ``e`` whose properties may be elsewhere: ``place`` says where."""

    def __init__(self, environment: Environment, place: Place | None = None, bindings: dict[str, Any] | None = None) -> None:
        super().__init__(environment, 1, bindings)
        self.place = place

    def property(self, stream: int, name: str) -> str:
        if self.place is not None and self.streams[stream] == "e":
            return self.place(field_name(name))
        return super().property(stream, name)


__all__ = ["EVENT", "EmitSteps", "GeneratedSteps", "Place", "PlacePrinter"]
