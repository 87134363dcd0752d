"""Event types are fixed, and the class of their events is kept beside them for as long as it is needed."""
from __future__ import annotations

import copy
import gc
import pickle
import weakref

import attrs
import pytest

from epl.event_types import EventOf, EventType, Property
from epl.value_types import STRING
from windows.event import event_class


def declared() -> EventType:
    return EventType("T", "map", {"k": Property("k", STRING)})


@pytest.mark.parametrize("field", [f.name for f in attrs.fields(EventType)])
def test_an_event_type_does_not_change(field: str) -> None:
    event_type = declared()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(event_type, field, None)
    with pytest.raises(AttributeError):
        event_type.event_class = None  # type: ignore[attr-defined]


def test_types_that_name_one_another_are_completed_by_their_maker() -> None:
    event_type = declared()
    event_type.complete(properties={"next": Property("next", EventOf(event_type))}, is_bus=False)
    assert event_type.fragment("next") is event_type and not event_type.is_bus
    with pytest.raises(TypeError, match="'name' of an event type is fixed from the beginning"):
        event_type.complete(name="U")


def test_the_class_of_a_type_is_one_while_it_is_used() -> None:
    event_type = declared()
    event = event_class(event_type)("a")
    assert type(event) is event_class(event_type) and event.type is event_type
    gc.collect()
    assert type(event) is event_class(event_type)
    assert event_class(declared()) is not event_class(event_type)


def test_a_type_without_events_goes_with_its_class() -> None:
    event_type = declared()
    event_class(event_type)("a")
    gone = weakref.ref(event_type), weakref.ref(event_class(event_type))
    del event_type
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_types_are_copied_and_pickled_without_their_class() -> None:
    event_type = declared()
    event_type.complete(properties={"next": Property("next", EventOf(event_type))})
    event_class(event_type)
    for other in (pickle.loads(pickle.dumps(event_type)), copy.deepcopy(event_type)):
        assert other is not event_type and other.fragment("next") is other
        assert event_class(other) is not event_class(event_type)
