"""Rows of values that no event holds yet: what fused statements hand to listeners. The event is made where somebody asks for it."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from epl.event_types import EventType
from epl.value_types import Scalar
from runtime.evaluate.compiled import code_of
from runtime.rows import Row, visible
from windows.event import Event, event_class

OPEN_KINDS = ("Object", "Number")
"""Scalar kinds whose values may be events."""
GET = """
def get(self, name):
    return {value}
"""


class ComputedRow(Row):
    """``_values``: in the type's order. ``_event`` is None until it is asked for. Of a type that is closed and no variant stream."""

    __slots__ = ("_values",)
    _event: Event | None  # type: ignore[assignment]
    _made: Callable[..., Event]
    """Set on the classes of types, with the type's names."""
    _names: tuple[str, ...]

    @property
    def event(self) -> Event:
        if self._event is None:
            self._event = type(self)._made(*self._values)
        return self._event

    def __iter__(self) -> Iterator[str]:
        return iter(type(self)._names)

    def __len__(self) -> int:
        return len(type(self)._names)


def computed_row_class(event_type: EventType) -> type[ComputedRow]:
    """The class of rows of a type, made once a type: looking a value up costs no more than the place of its name."""
    event = event_class(event_type)
    found = event.__dict__.get("computed_row")
    if found is None:
        found = _generate(event_type)
        event.computed_row = found  # type: ignore[attr-defined]
    made: type[ComputedRow] = found
    return made


def _generate(event_type: EventType) -> type[ComputedRow]:
    shown = all(isinstance(p.type, Scalar) and p.type.kind not in OPEN_KINDS for p in event_type.properties.values())
    value = "self._values[places[name]]"
    scope: dict[str, Any] = {"places": {name: n for n, name in enumerate(event_type.names)}, "visible": visible}
    exec(code_of(GET.format(value=value if shown else f"visible({value})")), scope)  # noqa: S102
    body = {"__slots__": (), "__getitem__": scope["get"], "_made": event_class(event_type), "_names": event_type.names}
    return type(event_type.name, (ComputedRow,), body)


__all__ = ["ComputedRow", "computed_row_class"]
