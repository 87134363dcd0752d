"""What the Python API refuses, with its words: values, listeners, times, closed runtimes, unknown properties."""
from __future__ import annotations

import datetime
import re
import traceback
from collections.abc import Callable
from typing import Any

import numpy
import pandas
import pyarrow as pa
import pytest

from runtime import EplDeploymentError, EplError, EplRuntimeError, EplWarning, Runtime, Settings

SETTINGS = [
    ({"time_unit": "ns"}, "Settings(time_unit='ns'): expected 'milliseconds' or 'microseconds'"),
    ({"time_unit": "microsecond"}, "expected 'milliseconds' or 'microseconds' (did you mean 'microseconds'?)"),
    ({"default_access": "x"}, "Settings(default_access='x'): expected 'public' or 'private'"),
    ({"max_states": "5"}, "Settings(max_states='5'): expected a whole number of at least 1, or None for no limit"),
    ({"max_states": 0}, "Settings(max_states=0): expected a whole number of at least 1, or None for no limit"),
    ({"max_states": True}, "Settings(max_states=True): expected a whole number"),
    ({"prioritized": 1}, "Settings(prioritized=1): expected True or False"),
    ({"time_zone": "Mars/Olympus"}, "expected a time zone of the IANA database such as 'Europe/Berlin'"),
    ({"math_context": (5, "SIDEWAYS")}, "expected (precision, rounding) with one of UP, DOWN,"),
    ({"default_stream_selector": "parts"}, "expected 'istream', 'rstream' or 'irstream'"),
    ({"imports": "java.util"}, "Settings(imports='java.util'): expected a sequence of names: write ('java.util',)"),
    ({"python_imports": [1]}, "Settings(python_imports=(1,)): expected a sequence of names"),
    ({"unknown_properties": "drop"}, "Settings(unknown_properties='drop'): expected 'ignore', 'warn' or 'refuse'"),
]


@pytest.mark.parametrize(("given", "message"), SETTINGS)
def test_settings_refuse_what_they_cannot_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Settings(**given)


def test_settings_take_lists_of_names() -> None:
    assert Settings(imports=["java.util"]).imports == ("java.util",)  # type: ignore[arg-type]


CHANGES: list[tuple[str, Callable[[Runtime], Any]]] = [
    ("deploy", lambda rt: rt.deploy("create schema B(x int)")), ("compile", lambda rt: rt.compile("create schema B(x int)")),
    ("send", lambda rt: rt.send("A", {"x": 1})), ("send an object", lambda rt: rt.send("A", (1,))),
    ("route", lambda rt: rt.route("A", {"x": 1})),
    ("send_batch", lambda rt: rt.send_batch("A", pa.table({"x": [1]}))), ("advance_time", lambda rt: rt.advance_time(1)),
    ("advance_time_span", lambda rt: rt.advance_time_span(1)), ("register", lambda rt: rt.register("B", {"x": int})),
    ("register_function", lambda rt: rt.register_function("f", abs)), ("declare_variable", lambda rt: rt.declare_variable("v", int)),
    ("set_variable", lambda rt: rt.set_variable("v", 1)), ("snapshot", lambda rt: rt.snapshot()), ("pages", lambda rt: rt.pages()),
]


@pytest.mark.parametrize("change", [call for _, call in CHANGES], ids=[name for name, _ in CHANGES])
def test_a_closed_runtime_refuses_what_would_change_it(change: Callable[[Runtime], Any]) -> None:
    with Runtime() as rt:
        rt.register("A", {"x": int})
    with pytest.raises(EplRuntimeError, match="The runtime is closed"):
        change(rt)
    rt.close()
    assert rt.now == 0 and rt.deployments == {} and "Runtime(" in repr(rt)


def test_closing_from_a_listener_ends_the_runtime() -> None:
    rt = Runtime()
    rt.deploy("create schema A(x int); @name('s') select x from A", listeners={"s": lambda *_: rt.close()})
    rt.send("A", {"x": 1})
    with pytest.raises(EplRuntimeError, match="The runtime is closed"):
        rt.send("A", {"x": 1})


def test_listeners_must_be_callable() -> None:
    with Runtime() as rt:
        statement = rt.deploy("create schema A(x int); @name('s') select x from A")["s"]
        message = re.escape("a listener is called with (new, old, statement, runtime); 'nope' is not callable")
        for attach in (statement.add_listener, statement.add_batch_listener):
            with pytest.raises(TypeError, match=message):
                attach("nope")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=re.escape("the listener of 't' is called with (new, old, statement, runtime); 'nope' is not")):
            rt.deploy("@name('t') select x from A", listeners={"t": "nope"})  # type: ignore[dict-item]
        assert [s.name for d in rt.deployments.values() for s in d if s.plan.is_named] == ["s"]
    with pytest.raises(TypeError, match=re.escape("on_error is called with (error, statement name, event); 3 is not callable")):
        Runtime(on_error=3)  # type: ignore[arg-type]


def test_all_listeners_are_removed_at_once() -> None:
    calls: list[str] = []
    with Runtime() as rt:
        statement = rt.deploy("create schema A(x int); @name('s') select x from A")["s"]
        for name in ("first", "second"):
            statement.add_listener(lambda *_, name=name: calls.append(name))
        statement.add_batch_listener(lambda *_: calls.append("batch"), causes=True)
        rt.send("A", {"x": 1})
        statement.remove_all_listeners()
        rt.send("A", {"x": 1})
        statement.add_listener(lambda *_: calls.append("third"))
        rt.send("A", {"x": 1})
    assert calls == ["first", "second", "batch", "third"]


# ------------------------------------------------------------------ times


@pytest.mark.parametrize("moment", [
    datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
    pandas.Timestamp("2024-01-01T00:00:00Z"), 1704067200000, numpy.int64(1704067200000), 1704067200000.0,
    numpy.datetime64("2024-01-01"), numpy.datetime64(1704067200, "s"), numpy.datetime64(1704067200000000000, "ns"),
    datetime.date(2024, 1, 1), "2024-01-01", "2024-01-01T00:00:00Z", "2024-01-01 01:00:00.000+01:00",
])
def test_time_is_taken_as_number_and_as_datetime(moment: Any) -> None:
    with Runtime(start_time=moment) as rt:
        assert rt.now == 1704067200000
        assert repr(rt) == "Runtime(now=1704067200000 (2024-01-01T00:00:00Z), 0 statements)"
    with Runtime() as rt:
        rt.advance_time(moment)
        assert rt.now == 1704067200000 and type(rt.now) is int
    with Runtime(settings=Settings(time_unit="microseconds")) as rt:
        rt.advance_time_span(datetime.datetime(2024, 1, 1, microsecond=7))
        assert rt.now == 1704067200000007


@pytest.mark.parametrize(("moment", "message"), [
    ("1.1.2024", "now: expected a datetime or a whole number of ms since 1970, not '1.1.2024'"), ("", "not ''"),
    ("2024", "not '2024'"), ("2024-13-01", "not"), (numpy.datetime64("NaT"), "not"), (1.5, "not 1.5"), (None, "not None"),
    (True, "not True"), (pandas.NaT, "not NaT"), (1 << 63, "now: 9223372036854775808 is beyond the range of engine time (62 bits)"),
    (float("inf"), "not inf"), (-(1 << 63) - 1, "beyond the range of engine time"),
])
def test_what_is_no_time_is_refused(moment: Any, message: str) -> None:
    with Runtime() as rt:
        for move in (rt.advance_time, rt.advance_time_span):
            with pytest.raises(EplRuntimeError, match=re.escape(message)):
                move(moment)
        assert rt.now == 0


# ------------------------------------------------------------------ unknown properties


NESTED = "create map schema Part(y int); create map schema A(x int, part Part, parts Part[]); @name('s') select x from A"
REFUSED = [
    ({"X": 1}, "Event type 'A' has no property 'X'"), ({"x": 1, "part": {"z": 1}}, "Event type 'Part' has no property 'z'"),
    ({"x": 1, "parts": [{"y": 1}, {"yy": 2}]}, "Event type 'Part' has no property 'yy'"),
]


@pytest.mark.parametrize(("event", "message"), REFUSED)
def test_unknown_properties_are_refused_where_settings_say_so(event: dict[str, Any], message: str) -> None:
    rows: list[Any] = []
    with Runtime(settings=Settings(unknown_properties="refuse")) as rt:
        rt.deploy(NESTED, listeners={"s": lambda new, *_: rows.extend(new)})
        for send in (rt.send, rt.route, rt.event_of):
            with pytest.raises(EplRuntimeError, match=re.escape(message)):
                send("A", event)
        rt.send("A", {"x": 1, "part": {"y": 1}, "parts": [{"y": 1}]})
        rt.send("A", {})
    assert rows == [{"x": 1}, {"x": None}]
    with Runtime() as rt:
        rt.deploy(NESTED)
        rt.send("A", event)


@pytest.mark.parametrize(("event", "message"), [
    ({"X": 1}, "A has no property 'X'"), ({"x": 1, "part": {"z": 1}}, "Part has no property 'z'"),
    ({"x": 1, "parts": [{"y": 1}, {"yy": 2}]}, "Part has no property 'yy' (did you mean 'y'?)"),
])  # fmt: skip
def test_unknown_properties_are_warned_of_once_where_settings_say_so(event: dict[str, Any], message: str) -> None:
    rows: list[Any] = []
    with Runtime(settings=Settings(unknown_properties="warn")) as rt:
        rt.deploy(NESTED, listeners={"s": lambda new, *_: rows.extend(new)})
        with pytest.warns(EplWarning, match=re.escape(message)) as caught:
            for _ in range(3):
                rt.send("A", event)
            rt.send("A", (1, None, None))
        assert [(str(each.message), each.filename) for each in caught] == [(message, __file__)]
    assert len(rows) == 4


def test_each_way_of_sending_is_warned_of_at_its_caller() -> None:
    for way in ("send", "route", "event_of"):
        with Runtime(settings=Settings(unknown_properties="warn")) as rt:
            rt.deploy("create json schema J(price double)")
            with pytest.warns(EplWarning, match="J has no property 'prize'") as caught:
                getattr(rt, way)("J", '{"prize": 1}')
            assert [each.filename for each in caught] == [__file__]


def test_unknown_members_of_json_are_refused_too() -> None:
    with Runtime(settings=Settings(unknown_properties="refuse")) as rt:
        rt.deploy("create json schema J(price double)")
        rt.send("J", '{"price": 1}')
        with pytest.raises(EplRuntimeError, match="did you mean 'price'"):
            rt.send("J", '{"prize": 1}')


def test_send_batch_is_typed() -> None:
    with Runtime() as rt:
        rt.register("A", {"x": int})
        with pytest.raises(TypeError, match="tiem"):
            rt.send_batch("A", pa.table({"x": [1]}), tiem="x")  # type: ignore[call-arg]


def test_a_type_is_replaced_where_no_deployment_uses_it() -> None:
    with Runtime() as rt:
        first = rt.register("A", {"x": int})
        assert rt.register("A", {"x": int}) is first
        with pytest.raises(EplDeploymentError, match="has already been declared"):
            rt.register("A", {"x": str})
        rt.send("A", {"x": 1})
        rt.register("A", {"x": str}, replace=True)
        rt.send("A", {"x": "one"})
        deployment = rt.deploy("@name('s') select x from A")
        with pytest.raises(EplDeploymentError, match="cannot be replaced as it is referenced by deployment 'd0'"):
            rt.register("A", {"x": float}, replace=True)
        deployment.undeploy()
        rt.register("A", {"x": float}, replace=True)


def test_a_refused_module_shows_no_frames_of_the_engine() -> None:
    with Runtime() as rt:
        for refuse in (rt.deploy, rt.compile):
            for text in ("selct 1", "select x from Nothing", "create schema A(x int); select y from A"):
                with pytest.raises(EplError) as caught:
                    refuse(text)
                frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
                assert frames == ["test_a_refused_module_shows_no_frames_of_the_engine", "call"]
