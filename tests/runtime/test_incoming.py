"""What may be sent, and what the refusals say."""
import dataclasses
import datetime
from decimal import Decimal

import pytest

from epl.errors import EplRuntimeError
from epl.event_types import EventOf, EventType, Property
from epl.value_types import BIG_DECIMAL, BOXED_DOUBLE, BOXED_FLOAT, BOXED_INT, DATE, INT, OBJECT, STRING, ArrayType, MapType, Scalar
from runtime.conversion.from_python import to_event


def make(kind="map", **types):
    return EventType("T", kind, {n: Property(n, t) for n, t in types.items()}, open=kind == "map")


def test_mapping_tuple_and_object_give_the_same_event():
    @dataclasses.dataclass
    class Trade:
        symbol: str
        price: float

    event_type = make("bean", symbol=STRING, price=BOXED_DOUBLE)
    for given in ({"symbol": "A", "price": 1.5}, ("A", 1.5), Trade("A", 1.5)):
        event = to_event(event_type, given)
        assert (event.get("symbol"), event.get("price")) == ("A", 1.5)


def test_numbers_are_widened_and_checked():
    event_type = make(i=BOXED_INT, d=BOXED_DOUBLE, f=BOXED_FLOAT, b=BIG_DECIMAL)
    event = to_event(event_type, {"i": 1, "d": 2, "f": 0.1, "b": 3})
    assert event.get("d") == 2.0 and isinstance(event.get("d"), float)
    assert event.get("f") != 0.1 and abs(event.get("f") - 0.1) < 1e-7
    assert event.get("b") == Decimal(3)


@pytest.mark.parametrize(
    "name, value", [("i", "x"), ("i", 1.5), ("i", True), ("i", 2**31), ("d", "1.0"), ("s", 5), ("a", "abc"), ("m", [1]), ("e", 7)]
)
def test_a_wrong_value_is_refused_by_type_and_property(name, value):
    inner = make(x=BOXED_INT)
    event_type = make(i=BOXED_INT, d=BOXED_DOUBLE, s=STRING, a=ArrayType(BOXED_INT), m=MapType(STRING, OBJECT), e=EventOf(inner))
    with pytest.raises(EplRuntimeError) as refused:
        to_event(event_type, {name: value})
    assert "Event type 'T'" in refused.value.message
    if name != "e":
        assert f"property '{name}'" in refused.value.message


def test_missing_properties_are_null_or_the_primitive_default():
    event = to_event(make("bean", s=STRING, i=INT, b=Scalar("boolean", True)), {})
    assert (event.get("s"), event.get("i"), event.get("b")) == (None, 0, False)


def test_undeclared_properties_are_kept_by_open_types_and_refused_by_closed_ones():
    assert to_event(make(a=BOXED_INT), {"a": 1, "z": 2}).get("z") == 2
    with pytest.raises(EplRuntimeError, match="no property 'prize'") as refused:
        to_event(make("objectarray", price=BOXED_INT), {"prize": 1})
    assert refused.value.hint == "did you mean 'price'?"


def test_json_text():
    event_type = make("json", a=BOXED_INT)
    assert to_event(event_type, '{"a": 5}').get("a") == 5
    with pytest.raises(EplRuntimeError, match="Failed to parse Json"):
        to_event(event_type, "{")


def test_dates_from_milliseconds_and_iso_text():
    event_type = make(d=DATE)
    expected = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    assert to_event(event_type, {"d": 1704067200000}).get("d") == expected
    assert to_event(event_type, {"d": "2024-01-01T00:00:00Z"}).get("d") == expected


def test_tuple_of_wrong_length():
    with pytest.raises(EplRuntimeError, match="has 1 properties, the event has 2"):
        to_event(make(a=BOXED_INT), (1, 2))
