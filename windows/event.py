"""Events: one generated class with slots an event type, identity by object.

A property ``price`` is the attribute ``f_price`` (``epl.event_types.field_name``): the fastest access CPython has, and the same for
every type, so that a plan over a super-type reads sub-types' events as they are.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

from epl.event_types import EventType
from epl.generated_code import class_name, define_names, field_name
from epl.reprs import safe_repr


class Extra(dict[str, Any]):
    """What a map event holds besides the values of its declared properties: undeclared ones, and in ``absent`` which declared ones were
    not sent. They read as null; only ``exists(x?)`` distinguishes them from a null that was sent. Never changed: events share it.
    """

    __slots__ = ("absent",)

    def __init__(self, undeclared: Mapping[str, Any], absent: frozenset[str]) -> None:
        super().__init__(undeclared)
        self.absent = absent

    def without(self, present: Iterable[str]) -> Extra:
        """Return the same with fewer absent properties."""
        return Extra(self, self.absent.difference(present))


@lru_cache(maxsize=1024)
def only_absent(absent: frozenset[str]) -> Extra:
    """Return the extra of events that lack these declared properties and have no undeclared ones; one object, so that events stay small."""
    return Extra({}, absent)


class Event:
    """Base of all events. Never compared by value: the same object is the same event.

    ``extra``: undeclared properties of an open type (a dict; ``Extra`` where declared ones were not sent), None elsewhere. ``origin``: the
    event in a variant stream, None elsewhere.
    """

    if TYPE_CHECKING:
        __slots__ = ("extra", "origin")  # of the classes that are made for open and for variant types; the others take no assignment
    else:
        __slots__ = ()
    type: ClassVar[EventType]
    fields: ClassVar[tuple[str, ...]]
    readers: ClassVar[dict[str, Callable[[Event], Any]]] = {}
    """Property name → what reads it off an event, where reading is all there is to it (not so in variant streams)."""
    extra: dict[str, Any] | None = None
    origin: Event | None = None

    def __init__(self, *values: Any) -> None:
        raise TypeError("events are made by the class of their type: event_class(event_type)(*values)")

    def get(self, name: str) -> Any:
        """Return the value of a property by name; undeclared ones come from ``extra``; None where there is none. A name is that alone: keys
        of mapped properties come here, which may have dots. Property expressions are read of rows."""
        read = self.readers.get(name)
        if read is not None:
            return read(self)
        return None if self.extra is None else self.extra.get(name)

    def has(self, name: str) -> bool:
        """Return whether the event has that property, declared or not; a map event lacks declared ones that were not sent."""
        extra = self.extra
        if extra is None:
            return name in self.type.properties
        if name in self.type.properties:
            return extra.__class__ is not Extra or name not in extra.absent
        return name in extra

    def copied(self) -> Event:
        """Return a new event of the same type with the same values."""
        raise NotImplementedError

    def values(self) -> tuple[Any, ...]:
        """Return the declared properties' values in the type's order."""
        return tuple([getattr(self, f) for f in self.fields])

    def replaced(self, changes: dict[str, Any]) -> Event:
        """Return a new event of the same type with some properties changed."""
        copy = self.copied()
        for name, value in changes.items():
            setattr(copy, field_name(name), value)
        if isinstance(self.extra, Extra):
            copy.extra = self.extra.without(changes)
        return copy

    def __repr__(self) -> str:
        inner = ", ".join(f"{n}={safe_repr(v)}" for n, v in zip(self.type.names, self.values()))
        return f"{self.type.name}({inner})"


class VariantEvent(Event):
    """An event of any member type in a variant stream: the stream's own properties, and after them all of ``origin``'s."""

    __slots__ = ()

    def get(self, name: str) -> Any:
        return None if self.origin is None else self.origin.get(name)

    def has(self, name: str) -> bool:
        return self.origin is not None and self.origin.has(name)


def as_variant(event: Event, variant: EventType) -> Event:
    """Return the event as a row of the variant stream."""
    wrapper = event_class(variant)(*[event.get(n) for n in variant.names])
    wrapper.origin = event.origin or event
    return wrapper


def event_class(event_type: EventType) -> type[Event]:
    """Return the class of a type's events, one for all runtimes. ``event_class(t)(v1, v2, …)``: values in the type's order."""
    known = _CLASSES.get(event_type)
    return known if known is not None else _CLASSES.setdefault(event_type, _make_class(event_type))


_CLASSES: WeakValueDictionary[EventType, type[Event]] = WeakValueDictionary()
"""By event type, as long as there are events or generated code of the class: a class refers to its type."""


def _make_class(event_type: EventType) -> type[Event]:
    fields = tuple(field_name(n) for n in event_type.names)
    variant = event_type.kind == "variant"
    slots = (*fields, *(("extra",) if event_type.open else ()), *(("origin",) if variant else ()))
    lines = [f"def fill(self{''.join(f', {f}' for f in fields)}):"]
    lines += [f"    self.{f} = {f}" for f in fields]
    lines += ["    self.extra = None"] if event_type.open else []
    lines += ["    self.origin = None"] if variant else []
    lines += ["    pass"] if not slots else []
    fill = define_names("\n".join(lines), {})["fill"]
    copied = [f"r.{f} = self.{f}" for f in fields] + (["r.extra = self.extra"] if event_type.open else [])
    copied += ["r.origin = None"] if variant else []
    copy = define_names("\n    ".join(["def copied(self):", "r = new(self.__class__)", *copied, "return r"]),
        {"new": object.__new__})["copied"]
    readers = {} if variant else {n: attrgetter(f) for n, f in zip(event_type.names, fields)}
    body = {"__slots__": slots, "__init__": fill, "copied": copy, "type": event_type, "fields": fields, "readers": readers}
    event_class: type[Event] = type(class_name(event_type.name), (VariantEvent if variant else Event,), body)
    return event_class


def only_events(values: Iterable[Any]) -> None:
    """Raise TypeError where a restored state has another value in place of an event."""
    for kind in set(map(type, values)):
        if not issubclass(kind, Event):
            raise TypeError(f"a value of type {kind.__name__} where an event is expected")


Events = Sequence[Event]
NO_EVENTS: tuple[Event, ...] = ()
