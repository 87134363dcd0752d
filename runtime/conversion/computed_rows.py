"""Rows of values that no event holds yet: what fused statements hand to listeners. The event is made where someone asks for it."""
from __future__ import annotations

from operator import itemgetter
from typing import Any

from epl.attribute_text import name_class_attributes
from epl.event_types import EventType
from epl.generated_code import class_name, define_names
from epl.value_types import Scalar
from runtime.conversion.property_paths import property_of
from runtime.conversion.rows import Row, may_be_attribute, visible
from windows.event import Event, event_class

OPEN_KINDS = ("Object", "Number")
"""Scalar kinds whose values may be events."""
GET = """
def get(self, name):
    try:
        place = places[name]
    except KeyError:
        return visible(property_of(self.event, name))
    return {value}
"""


class ComputedRow(Row):
    """``_values``: in the type's order. ``_event`` is None until it is asked for. Of a type that is closed and no variant stream.

    The classes of types have their properties as attributes: a ``__getattr__`` would make every look-up slower.
    """

    __slots__ = ("_event", "_values")
    _event: Event | None
    _values: tuple[Any, ...]


def build_row_class(event_type: EventType) -> type[ComputedRow]:
    """Return the class of rows of a type, made once a type: looking a value up costs no more than the place of its name."""
    event = event_class(event_type)
    row_class = event.__dict__.get("computed_row")
    if row_class is None:
        row_class = _generate(event_type)
        event.computed_row = row_class  # type: ignore[attr-defined]
    typed: type[ComputedRow] = row_class
    return typed


def print_row_lines(row: str, values: str) -> list[str]:
    """Return source lines, over ``ComputedRow``, that put the row of the values (the text of a tuple) into a variable."""
    own = name_class_attributes(row, ComputedRow)
    return [f"{row} = ComputedRow()", f"{own._event} = None", f"{own._values} = {values}"]


def _generate(event_type: EventType) -> type[ComputedRow]:
    names, make = event_type.names, event_class(event_type)
    shown = all(isinstance(p.type, Scalar) and p.type.kind not in OPEN_KINDS for p in event_type.properties.values())
    value = "self._values[place]"
    scope = {"places": {name: n for n, name in enumerate(names)}, "property_of": property_of, "visible": visible}
    get = define_names(GET.format(value=value if shown else f"visible({value})"), scope)["get"]

    def event(self: ComputedRow) -> Event:
        if self._event is None:
            self._event = make(*self._values)
        return self._event

    body = {
        "__slots__": (), "__getitem__": get, "__iter__": lambda self: iter(names), "__len__": lambda self: len(names),
        "event": property(event),
    }
    attributes = {name: property(itemgetter(name)) for name in names if may_be_attribute(name) and not hasattr(ComputedRow, name)}
    return type(class_name(event_type.name), (ComputedRow,), {**attributes, **body})


__all__ = ["ComputedRow", "build_row_class"]
