"""countMinSketch: approximate counts of texts in bounded memory. Its settings, and how large a sketch they make."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs

from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventType, Property
from epl.value_types import BOXED_LONG, OBJECT

STRING_AGENT = "com.espertech.esper.common.client.util.CountMinSketchAgentStringUTF16Forge"
"""The only agent: what is counted are strings."""

MOST_COUNTERS = 1 << 28
"""Of one sketch; what Java makes of more does not fit its memory either."""

TOP_VALUE = EventType("CountMinSketchTopK", "struct", {
    "frequency": Property("frequency", BOXED_LONG), "value": Property("value", OBJECT),
}, is_bus=False)
"""What countMinSketchTopk gives several of."""


@attrs.frozen
class SketchSettings:
    """``epsOfTotalCount``: by how much of all counts an estimate may be too high, with probability ``confidence``; ``topk``: how many of
    the most frequent values are remembered, 0 for none. ``seed`` is accepted and changes nothing, as in Esper: texts are hashed by a fixed
    function.
    """

    epsOfTotalCount: float = 0.0001
    confidence: float = 0.99
    seed: int = 1234567
    topk: int = 0

    @property
    def width(self) -> int:
        """Counters for each hash function."""
        return math.ceil(2 / self.epsOfTotalCount)

    @property
    def depth(self) -> int:
        """Hash functions."""
        return math.ceil(-math.log(1 - self.confidence) / math.log(2))


TYPES: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "epsOfTotalCount": ("Double", (int, float)), "confidence": ("Double", (int, float)), "seed": ("Integer", (int,)),
    "topk": ("Integer", (int,)), "agent": ("String", (str,)),
}
"""By setting: the type that a refusal names, and what is accepted."""


def sketch_settings(written: Mapping[str, tuple[Any, str]]) -> SketchSettings:
    """Return the settings of a JSON object, given as name → value and the name of its type; raise EplValidationError in Esper's words."""
    by_lower = {name.lower(): name for name in TYPES}
    settings: dict[str, Any] = {}
    for name, (value, shown_type) in written.items():
        known = by_lower.get(name.lower())
        if known is None:
            raise EplValidationError(f"Unrecognized parameter '{name}'", hint=f"the parameters are {', '.join(TYPES)}")
        expected, classes = TYPES[known]
        if value is not None and (type(value) not in classes or shown_type == "Long"):
            raise EplValidationError(f"Property '{name}' expects an {expected} but receives a value of type {shown_type}")
        if known == "agent":
            _check_agent(value)
        elif value is not None:
            settings[known] = value
    complete = SketchSettings(**settings)
    _check_size(complete)
    return complete


def _check_agent(name: str | None) -> None:
    if name is not None and name != STRING_AGENT:
        raise EplValidationError(
            f"Failed to instantiate agent provider: Could not load class by name '{name}', please check imports",
            hint="omit it: strings are counted",
        )


def _check_size(settings: SketchSettings) -> None:
    """Refuse what Esper fails on when the first value comes."""
    possible = settings.epsOfTotalCount > 0 and settings.confidence < 1
    depth, width = (settings.depth, settings.width) if possible else (0, 0)
    if depth < 1 or depth * width > MOST_COUNTERS:
        raise EplUnsupportedError(
            f"A sketch with epsOfTotalCount {settings.epsOfTotalCount} and confidence {settings.confidence} is not supported",
            hint="epsOfTotalCount is a small part of 1 (0.0001), confidence a large one (0.99)",
        )


__all__ = ["STRING_AGENT", "TOP_VALUE", "SketchSettings", "sketch_settings"]
