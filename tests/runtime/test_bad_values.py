"""Any value for any type, by any way in: taken, or refused with an EplError and without effect; what was taken can be read, printed,
written as JSON and Arrow, and restored.
"""
from __future__ import annotations

import contextlib
import datetime
import decimal
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from runtime import EplError, Runtime


class Raises:
    """Every method that an engine may ask for raises."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError(f"no {name}")

    def __index__(self) -> int:
        raise RuntimeError("index")

    def __float__(self) -> float:
        raise RuntimeError("float")

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("iter")

    def __repr__(self) -> str:
        raise RuntimeError("repr")


class OddMapping(dict):  # type: ignore[type-arg]
    def __getitem__(self, key: Any) -> Any:
        raise RuntimeError("item")


class Whole(int):
    pass


class Text(str):
    pass


def nested(levels: int, inside: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = inside(value)
    return value


endless: list[Any] = []
endless.append(endless)
INDIA = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
VALUES: list[Any] = [
    True, 0, -1, 2**31, 2**63, -2**63 - 1, 10**400, 10**5000, 1.5, -0.0, math.nan, math.inf, "", "a", "\ud800", "\x00", "NaN", "true",
    b"abc", bytearray(b"x"), 1j, decimal.Decimal("1.5"), decimal.Decimal("NaN"), decimal.Decimal("sNaN"), decimal.Decimal("Infinity"),
    decimal.Decimal("1E+999999"),
    (), (1, 2), [None], ["a"], [[1]], {}, {"a": 1}, {1: 2}, {None: 1}, {(1, 2): 3}, {1, 2}, range(3),
    object(), int, len, Ellipsis, Raises(), OddMapping(p=1), Whole(5), Text("s"), endless,
    nested(5000, lambda v: [v]), nested(5000, lambda v: {"a": v}),
    datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 5, tzinfo=INDIA), datetime.datetime.max, datetime.date(2020, 1, 1),
    datetime.time(1, 2), datetime.timedelta(1), np.int8(1), np.uint64(2**64 - 1), np.float32(1.5), np.float64("nan"), np.bool_(True),
    np.str_("np"), np.datetime64("2020-01-01"), np.datetime64("NaT"), np.array([1, 2]), np.array(3), pd.NaT, pd.NA,
    pd.Timestamp("2020-01-01", tz="Asia/Kolkata"), pd.Timestamp.max, pd.Series([1]), pa.scalar(1), pa.array([1, 2]),
]
TYPES = [
    "string", "int", "long", "double", "float", "boolean", "byte", "char", "BigDecimal", "BigInteger", "java.util.Date",
    "java.time.LocalDate", "java.time.LocalDateTime", "java.time.ZonedDateTime", "java.time.LocalTime", "Object", "int[]", "string[]",
    "java.util.Map", "java.util.List<String>", "InnerT", "InnerT[]",
]
WAYS: dict[str, Callable[[Runtime, Any], None]] = {
    "send": lambda rt, value: rt.send("X", {"id": 2, "p": value}),
    "tuple": lambda rt, value: rt.send("X", (2, value)),
    "route": lambda rt, value: rt.route("X", {"id": 2, "p": value}),
    "object": lambda rt, value: rt.send("X", types.SimpleNamespace(id=2, p=value)),
}


def read_all(rt: Runtime) -> list[str]:
    """Everything that can be asked of the rows, but for pictures; what it raises is an EplError."""
    rows = list(rt.statement("s"))
    texts = [repr(row) for row in rows]
    for statement in (rt.statement("s"), rt.statement("t")):
        list(statement)
        for ask in (statement.to_arrow, lambda s=statement: [row.to_json() for row in s]):
            with contextlib.suppress(EplError):
                ask()
    return texts


@pytest.mark.parametrize("declared", TYPES)
def test_any_value_is_taken_or_refused(declared: str) -> None:
    plan = Runtime(tier="row").compile(
        f"create schema InnerT(a int, b string); create schema X(id int, p {declared});"
        "@name('s') select id, p from X#length(5); @name('t') select irstream p, count(p) as c from X#keepall group by p"
    )
    for number, value in enumerate(VALUES):
        faults: list[BaseException] = []
        rt = Runtime(tier="row", on_error=lambda error, *_, faults=faults: faults.append(error))
        rt.deploy(plan)
        rt.send("X", {"id": 1})
        before = read_all(rt)
        for way, enter in WAYS.items():
            try:
                enter(rt, value)
            except EplError as error:
                assert not isinstance(value, Raises) or "Raises" in str(error), (number, way)
                assert read_all(rt) == before, (number, way)
            else:
                before = read_all(rt)
        for name in "st":
            rt.statement(name)._repr_html_()
        try:
            blob = rt.snapshot()
        except EplError:
            continue
        restored = Runtime.restore(blob)
        assert read_all(restored) == before, number
        assert all(isinstance(fault, EplError) for fault in faults), (number, faults)


EVENTS: list[Any] = [
    None, 5, "x", b"x", [], (1, 2, 3), Raises(), OddMapping(id=1, p=2), object(), {"id": object()}, iter(()), np.array([1]),
]


@pytest.mark.parametrize("name", ["X", "Nothing", None, 5, ["X"], object()], ids=["X", "unknown", "None", "5", "list", "object"])
def test_any_event_of_any_type_is_taken_or_refused(name: Any) -> None:
    with Runtime() as rt:
        rt.deploy("create schema X(id int, p string); @name('s') select * from X#keepall")
        for event in EVENTS:
            for enter in (rt.send, rt.route, rt.event_of):
                try:
                    enter(name, event)
                except EplError as error:
                    assert str(error)
        assert all(row["id"] in (1, None) for row in rt.statement("s"))


TABLES: dict[str, Any] = {
    "an index beyond the dictionary": lambda: pa.table({"id": pa.array([1], pa.int32()), "p": pa.DictionaryArray.from_arrays(
        pa.array([7], pa.int32()), pa.array(["a"]), safe=False)}),
    "a text that is not UTF-8": lambda: pa.table({"id": pa.array([1], pa.int32()), "p": pa.StringArray.from_buffers(
        1, pa.py_buffer(np.array([0, 2], np.int32).tobytes()), pa.py_buffer(b"\xff\xfe"))}),
    "no table": lambda: 5,
    "values that raise": lambda: pd.DataFrame({"id": pd.Series([Raises()], dtype=object), "p": ["a"]}),
}


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_that_cannot_be_read_is_refused(table: Callable[[], Any], tier: str) -> None:
    with Runtime(tier=tier) as rt:
        rt.deploy("create schema X(id int, p string); @name('s') select id, p, count(*) as c from X#length(5) group by p")
        with pytest.raises(EplError):
            rt.send_batch("X", table())
        assert list(rt.statement("s")) == []


@pytest.mark.parametrize(("options", "message"), [
    ({"time": 5}, "time is the name of a column, or one by event type, not 5"),
    ({"sequence": ["a"]}, "sequence is the name of a column, or one by event type, not ['a']"),
    ({"max_stops": "9"}, "max_stops is a number of timers, not '9'"),
    ({"time": "ts"}, "the time column 'ts' cannot be read"),
])
def test_send_batch_checks_its_options(options: dict[str, Any], message: str) -> None:
    with Runtime() as rt:
        rt.deploy("create schema X(id int)")
        table = pa.table({"id": pa.array([1], pa.int32()), "ts": pa.array([2**64 - 1], pa.uint64())})
        with pytest.raises(EplError) as caught:
            rt.send_batch("X", table if "ts" in options.values() else table.select(["id"]), **options)
        assert message in str(caught.value)
