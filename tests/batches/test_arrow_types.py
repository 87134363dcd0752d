"""Value types ↔ Arrow types: schemas, values, nulls, and there and back again."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplRuntimeError
from epl.event_types import EventOf, EventType, Property
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOXED_BOOLEAN,
    BOXED_BYTE,
    BOXED_CHAR,
    BOXED_DOUBLE,
    BOXED_FLOAT,
    BOXED_INT,
    BOXED_LONG,
    BOXED_SHORT,
    CALENDAR,
    DATE,
    INT,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    ZONED_DATE_TIME,
    ArrayType,
    ClassType,
    CollectionType,
    EnumType,
    MapType,
    ValueType,
)
from runtime.conversion.arrow import arrow_schema, to_batch, value_arrow_type
from runtime.conversion.columns import read_columns
from runtime.conversion.from_columns import read_events
from runtime.conversion.from_python import to_event
from windows.event import Event, event_class

UTC = datetime.timezone.utc
INNER = EventType("Inner", "map", {"x": Property("x", BOXED_INT), "y": Property("y", STRING)})


def a_type(value_type: ValueType, **options: Any) -> EventType:
    return EventType("T", "map", {"v": Property("v", value_type, **options)})


def there_and_back(event_type: EventType, values: list[Any]) -> list[Any]:
    made = event_class(event_type)
    batch = to_batch([made(v) for v in values], event_type)
    assert batch.schema == arrow_schema(event_type)
    return [event.get("v") for event in read_events(event_type, read_columns(batch, "T"), 1000)]


SAMPLES: list[tuple[ValueType, pa.DataType, list[Any]]] = [
    (BOXED_BYTE, pa.int8(), [1, -128, 127]),
    (BOXED_SHORT, pa.int16(), [1, -(2**15)]),
    (BOXED_INT, pa.int32(), [1, -(2**31), 2**31 - 1]),
    (BOXED_LONG, pa.int64(), [2**63 - 1, -(2**63)]),
    (BIG_INTEGER, pa.decimal128(38, 0), [10**38 - 1, -5]),
    (BOXED_FLOAT, pa.float32(), [0.5, -1.25]),
    (BOXED_DOUBLE, pa.float64(), [0.1, -1e300, math.inf]),
    (BIG_DECIMAL, pa.decimal128(38, 18), [Decimal("1.5"), Decimal("-0.000000000000000001")]),
    (BOXED_BOOLEAN, pa.bool_(), [True, False]),
    (STRING, pa.string(), ["", "é", "a\0b"]),
    (BOXED_CHAR, pa.string(), ["x"]),
    (EnumType("Colour", ("RED",)), pa.string(), ["RED"]),
    (DATE, pa.timestamp("us", tz="UTC"), [datetime.datetime(2020, 1, 2, 3, 4, 5, 6, UTC)]),
    (ZONED_DATE_TIME, pa.timestamp("us", tz="UTC"), [datetime.datetime(1960, 1, 2, tzinfo=UTC)]),
    (LOCAL_DATE_TIME, pa.timestamp("us"), [datetime.datetime(2020, 1, 2, 3)]),
    (LOCAL_DATE, pa.date32(), [datetime.date(2020, 2, 29)]),
    (LOCAL_TIME, pa.time64("us"), [datetime.time(23, 59, 59, 999)]),
    (ArrayType(BOXED_INT), pa.list_(pa.int32()), [[1, None, 3], []]),
    (CollectionType(STRING, "Set"), pa.list_(pa.string()), [["a"]]),
    (MapType(STRING, BOXED_LONG), pa.map_(pa.string(), pa.int64()), [{"a": 1, "b": None}, {}]),
    (ArrayType(MapType(STRING, BIG_DECIMAL)), pa.list_(pa.map_(pa.string(), pa.decimal128(38, 18))), [[{"a": Decimal("2.5")}, None]]),
    (OBJECT, pa.string(), ["text"]),
    (NULL, pa.null(), [None]),
]


@pytest.mark.parametrize(("value_type", "arrow", "values"), SAMPLES, ids=lambda v: str(v) if isinstance(v, ValueType) else "")
def test_each_type_has_its_arrow_type_and_comes_back(value_type: ValueType, arrow: pa.DataType, values: list[Any]) -> None:
    assert value_arrow_type(value_type) == arrow
    assert there_and_back(a_type(value_type), [*values, None]) == [*values, None]


def test_nan_is_a_value_and_not_null() -> None:
    found = there_and_back(a_type(BOXED_DOUBLE), [math.nan, None])
    assert math.isnan(found[0]) and found[1] is None


def test_an_instant_keeps_its_instant_and_is_seen_in_utc() -> None:
    east = datetime.timezone(datetime.timedelta(hours=2))
    found = there_and_back(a_type(CALENDAR), [datetime.datetime(2020, 1, 2, 1, tzinfo=east)])
    assert found[0].isoformat() == "2020-01-01T23:00:00+00:00"


def test_decimals_are_rounded_behind_the_18th_and_refused_when_too_large() -> None:
    third = Decimal("0.3333333333333333333333333333333333")
    assert there_and_back(a_type(BIG_DECIMAL), [third]) == [Decimal("0.333333333333333333")]
    with pytest.raises(EplRuntimeError, match=r"column 'v' of Arrow type decimal128\(38, 18\) cannot hold Decimal\('1E\+20'\) of row 1"):
        there_and_back(a_type(BIG_DECIMAL), [third, Decimal("1e20")])
    with pytest.raises(EplRuntimeError, match=r"cannot hold 1000"):
        there_and_back(a_type(BIG_INTEGER), [10**38])


def test_an_event_is_a_struct() -> None:
    outer = a_type(EventOf(INNER))
    inner = event_class(INNER)(1, None)
    batch = to_batch([event_class(outer)(inner), event_class(outer)(None)], outer)
    assert batch.schema.field("v").type == pa.struct([("x", pa.int32()), ("y", pa.string())])
    assert batch.column(0).to_pylist() == [{"x": 1, "y": None}, None]
    back = read_events(outer, read_columns(batch, "T"), 1000)
    assert isinstance(back[0].get("v"), Event) and back[0].get("v").get("x") == 1 and back[1].get("v") is None


def test_object_columns_are_text_or_json() -> None:
    event = event_class(INNER)(1, "a")
    values = ["text", 1, 1.5, True, Decimal("1.50"), [1, "a", None], {"k": event}, datetime.date(2020, 1, 2), b"\x01\x02"]
    expected = ["text", "1", "1.5", "true", "1.50", '[1, "a", null]', '{"k": {"x": 1, "y": "a"}}', "2020-01-02", "0102"]
    for value_type in (OBJECT, NUMBER, ClassType("java.net.URI")):
        batch = to_batch([event_class(a_type(value_type))(v) for v in values], a_type(value_type))
        assert batch.column(0).to_pylist() == expected


def test_a_type_that_holds_itself_ends_as_text() -> None:
    properties: dict[str, Property] = {"id": Property("id", BOXED_INT)}
    node = EventType("Node", "map", properties)
    properties["next"] = Property("next", EventOf(node))
    made = event_class(node)
    assert arrow_schema(node).field("next").type == pa.string()
    assert to_batch([made(1, made(2, None))], node).column("next").to_pylist() == ['{"id": 2, "next": null}']


def test_indexed_and_mapped_properties_are_lists_and_maps() -> None:
    assert arrow_schema(a_type(BOXED_INT, indexed=True)).field("v").type == pa.list_(pa.int32())
    assert arrow_schema(a_type(BOXED_INT, mapped=True)).field("v").type == pa.map_(pa.string(), pa.int32())


def test_events_of_a_sub_type_and_of_variants() -> None:
    base = a_type(BOXED_INT)
    sub = EventType("S", "map", {"w": Property("w", STRING), **base.properties}, (base,))
    assert to_batch([event_class(sub)("a", 7)], base).to_pylist() == [{"v": 7}]
    variant = EventType("V", "variant", {"v": Property("v", OBJECT)}, members=(base, INNER))
    assert to_batch([event_class(base)(7), event_class(INNER)(1, "a")], variant).to_pylist() == [{"v": "7"}, {"v": None}]


def test_a_type_without_properties_has_rows_all_the_same() -> None:
    empty = EventType("E", "map", {})
    assert to_batch([event_class(empty)()] * 3, empty).num_rows == 3


def test_primitives_take_nulls_as_send_does() -> None:
    table = pa.table({"v": pa.array([None, 3], pa.int32())})
    events = read_events(a_type(INT), read_columns(table, "T"), 1000)
    assert [e.get("v") for e in events] == [0, 3] == [to_event(a_type(INT), {"v": v}).get("v") for v in (None, 3)]


COLUMNS = st.sampled_from(
    [
        (BOXED_INT, st.integers(-(2**31), 2**31 - 1)),
        (BOXED_LONG, st.integers(-(2**63), 2**63 - 1)),
        (BOXED_DOUBLE, st.floats(allow_nan=False)),
        (STRING, st.text()),
        (BOXED_BOOLEAN, st.booleans()),
        (BIG_DECIMAL, st.decimals(-(10**15), 10**15, allow_nan=False, places=9)),
        (ZONED_DATE_TIME, st.datetimes(timezones=st.just(UTC))),
        (LOCAL_DATE_TIME, st.datetimes()),
        (LOCAL_DATE, st.dates()),
        (LOCAL_TIME, st.times()),
        (ArrayType(BOXED_LONG), st.lists(st.none() | st.integers(-5, 5), max_size=3)),
        (MapType(STRING, ArrayType(STRING)), st.dictionaries(st.text(), st.none() | st.lists(st.text()), max_size=3)),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_values_come_back(data: st.DataObject) -> None:
    value_type, values = data.draw(COLUMNS)
    column = data.draw(st.lists(st.none() | values, max_size=6))
    assert there_and_back(a_type(value_type), column) == column
