"""One order for all that keep keys in a hash map: windows, groups, tables. What Esper does: tests/cases/windows/hash_order.json."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epl.java_hash import hash_of_keys, stable_hash
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    CALENDAR,
    DATE,
    DOUBLE,
    INT,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    LONG,
    OBJECT,
    STRING,
    ArrayType,
    ValueType,
)
from runtime.result_set.hash_order import ordering
from windows.keys import bucket_order, freeze

MOMENTS = st.datetimes(timezones=st.just(datetime.timezone.utc))
VALUES: list[tuple[ValueType, st.SearchStrategy[Any]]] = [
    (INT, st.integers(-(2**31), 2**31 - 1)), (LONG, st.integers(-(2**63), 2**63 - 1)), (DOUBLE, st.floats()), (STRING, st.text()),
    (BIG_INTEGER, st.integers()), (BIG_DECIMAL, st.decimals(allow_nan=False, allow_infinity=False)), (DATE, MOMENTS), (CALENDAR, MOMENTS),
    (LOCAL_DATE, st.dates()), (LOCAL_DATE_TIME, st.datetimes()), (ArrayType(INT), st.lists(st.integers(-9, 9))),
]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_windows_and_groups_have_one_order(data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=3))
    types = [value_type for value_type, _ in parts]
    row = st.tuples(*(st.none() | values for _, values in parts))
    frozen = {freeze(each if len(parts) > 1 else each[0]): each for each in data.draw(st.lists(row, max_size=40))}
    order = ordering(types)
    assert order is not None
    keys: Sequence[Any] = list(frozen)
    of_groups = [keys[position] for position in order(keys)]
    assert of_groups == list(bucket_order({key: key for key in keys}, hash_of_keys(types), len(keys)))


@pytest.mark.parametrize("number", range(len(VALUES)))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_stands_for_a_value_in_a_key_has_its_hash(data: st.DataObject, number: int) -> None:
    value_type, values = VALUES[number]
    value = data.draw(values)
    function = stable_hash(value_type)
    assert function is not None
    assert function(value) == function(freeze(value))
    assert -(2**31) <= function(value) < 2**31


def test_objects_without_a_hash_of_their_own_have_no_order() -> None:
    assert ordering([OBJECT]) is None
    assert ordering([INT, OBJECT]) is None
