"""Every value survives the snapshot format."""
import datetime
import math
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.errors import EplRuntimeError
from epl.event_types import EventType, Property
from epl.value_types import BOXED_INT
from runtime.state.codec import Decoder, Encoder
from windows.event import event_class

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.decimals(allow_nan=False, allow_infinity=False),
    st.datetimes(), st.datetimes(timezones=st.just(datetime.timezone.utc)), st.dates(), st.times(),
)
keys = st.one_of(scalars, st.tuples(scalars, scalars))
values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner), st.tuples(inner, inner), st.dictionaries(keys, inner, max_size=3)), max_leaves=12
)


def through(value):
    encoder = Encoder()
    return Decoder(lambda number: encoder.events[number]).decode(encoder.encode(value))


@given(values)
def test_round_trip(value):
    back = through(value)
    assert back == value and type(back) is type(value)


def test_special_numbers():
    assert math.isnan(through(float("nan"))) and through(float("-inf")) == float("-inf")
    assert math.copysign(1, through(-0.0)) == -1
    assert through(2**80) == 2**80 and through(-(2**63)) == -(2**63)
    assert str(through(Decimal("1.500"))) == "1.500"


def test_zones():
    moment = datetime.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))
    back = through(moment)
    assert back == moment and back.tzinfo.key == "Europe/Berlin" and back.fold == 1


def test_an_event_held_twice_is_one_event():
    event = event_class(EventType("T", "map", {"a": Property("a", BOXED_INT)}))(1)
    encoder = Encoder()
    data = encoder.encode([event, {"k": (event,)}])
    assert len(encoder.events) == 1
    first, second = Decoder(lambda number: encoder.events[number]).decode(data)
    assert first is event and second["k"][0] is event


def test_what_cannot_be_kept_is_named():
    class Strange:
        pass

    with pytest.raises(EplRuntimeError, match="Strange"):
        Encoder().encode([Strange()])


def test_unknown_kinds_refuse_by_number():
    import msgpack

    with pytest.raises(EplRuntimeError, match="unknown kind 99"):
        Decoder(lambda number: None).decode(msgpack.packb(msgpack.ExtType(99, b"")))
