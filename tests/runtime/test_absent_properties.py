"""Declared properties that were not sent with a map event: they read as null, ``exists(x?)`` is false, wherever the event goes."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime import Runtime
from runtime.conversion.from_python import to_event
from windows.event import Event, only_absent

NAMES = ("a", "b", "c")
SCHEMA = "create map schema T(a int, b int, c int);"
EXISTS = ", ".join(f"exists({name}?) as {name}" for name in (*NAMES, "z"))

values = st.dictionaries(st.sampled_from((*NAMES, "z")), st.none() | st.integers(0, 9))


def deployed(text: str) -> tuple[Runtime, list[dict[str, Any]]]:
    runtime, rows = Runtime(), []
    runtime.deploy(SCHEMA + text, listeners={"s": lambda new, old, statement, runtime: rows.extend(dict(row) for row in new)})
    return runtime, rows


@given(values)
def test_exists_is_whether_the_map_has_the_key(sent: dict[str, int | None]) -> None:
    runtime, rows = deployed(f"@name('s') select {EXISTS} from T")
    runtime.send("T", sent)
    assert rows == [{name: name in sent for name in (*NAMES, "z")}]


@given(values, values)
def test_restored_events_know_what_was_not_sent(first: dict[str, int | None], second: dict[str, int | None]) -> None:
    runtime, _ = deployed(f"@name('s') select irstream {EXISTS} from T#length(1)")
    runtime.send("T", first)
    restored = Runtime.restore(runtime.snapshot())
    left: list[dict[str, Any]] = []
    restored.statement("s").add_listener(lambda new, old, statement, runtime: left.extend(dict(row) for row in old))
    restored.send("T", second)
    assert left == [{name: name in first for name in (*NAMES, "z")}]


def test_what_is_set_is_there() -> None:
    runtime, rows = deployed(f"update istream T set b = 5 where a is null; @name('s') select {EXISTS}, b as v from T")
    runtime.send("T", {"c": 1})
    assert rows == [{"a": False, "b": True, "c": True, "z": False, "v": 5}]


def test_rows_show_absent_properties_as_null() -> None:
    runtime, rows = deployed("@name('s') select * from T")
    runtime.send("T", {"b": 1})
    assert rows == [{"a": None, "b": 1, "c": None}]


def test_events_that_lack_the_same_share_what_says_so() -> None:
    """An event that lacks properties takes no more memory than one that has them all."""
    runtime = Runtime()
    runtime.deploy(SCHEMA)
    event_type = runtime.event_type("T")
    first, second = to_event(event_type, {"a": 1}), to_event(event_type, {"a": 2})
    assert first.extra is second.extra is only_absent(frozenset("bc"))


@pytest.mark.parametrize("kind", ["objectarray", "json"])
def test_other_kinds_have_all_declared_properties(kind: str) -> None:
    runtime, rows = Runtime(), []
    runtime.deploy(
        f"create {kind} schema T(a int, b int); @name('s') select exists(a?) as a, exists(b?) as b from T",
        listeners={"s": lambda new, old, statement, runtime: rows.extend(dict(row) for row in new)},
    )
    runtime.send("T", {"a": 1})
    assert rows == [{"a": True, "b": True}]


def test_an_event_without_the_key_is_no_other_event() -> None:
    event: Event = to_event(Runtime().register("M", {"a": int, "b": int}), {"a": 1})
    assert (event.has("a"), event.has("b"), event.has("c"), event.get("b")) == (True, False, False, None)
