"""Steps that stand in the intake of an event type: where they do, what listeners get, and that a second statement changes no output."""
from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.conversion.computed_rows import ComputedRow
from runtime.conversion.rows import NO_ROWS, Row

SCHEMA = "@public @buseventtype create schema T(k string, x int);\n"
TEXTS = [
    "select k, x + 1 as y from T(x > 1)",
    "select k, sum(x) as y from T#time(2 sec) group by k",
    "select k, sum(x) as y from T#length(2) group by k",
    "select * from T#length(2)",
    "select sum(x) as y from T having sum(x) > 3",
    "select t as t, x as y from T as t",
    "select * from T match_recognize (partition by k measures A.x as a,"
    " last(B.x) as y, count(B.x) as n pattern (A B+) define B as B.x > 0)",
]
EVENTS = [{"k": k, "x": x} for k, x in zip("aabbaba", (1, 2, 3, None, 2, 5, 1))]


def intake_of(runtime: Runtime) -> str:
    source: str = internal_engine(runtime).core.intakes["T"].source  # type: ignore[attr-defined]
    return source


def calls_of(text: str, beside: str = "") -> tuple[list[Any], str]:
    """What the listener of ``text`` hears, and the text of the intake."""
    heard: list[Any] = []
    with Runtime() as runtime:
        deployment = runtime.deploy(SCHEMA + f"@name('s0') {text};\n{beside}")
        deployment["s0"].add_listener(lambda new, old, *_: heard.append((repr(new), repr(old))))
        for n, event in enumerate(EVENTS):
            runtime.advance_time(700 * n)
            runtime.send("T", event)
        runtime.advance_time(10_000)
        return heard, intake_of(runtime)


@pytest.mark.parametrize("text", TEXTS)
def test_a_lone_statement_stands_in_the_intake_and_puts_out_the_same(text: str) -> None:
    alone, source = calls_of(text)
    beside, other = calls_of(text, "@name('other') select x from T#keepall;")
    assert "listener(rows, NO_ROWS" in source and "listener(rows, NO_ROWS" not in other
    assert alone == beside and alone


def test_an_event_is_made_only_where_the_steps_name_it() -> None:
    assert "e = new(cls)" not in calls_of(TEXTS[0])[1]
    assert "e = new(cls)" in calls_of(TEXTS[1])[1]


def test_computed_rows_are_rows() -> None:
    rows: list[Any] = []
    with Runtime() as runtime:
        text = SCHEMA + "@name('s0') select x + 1 as y, k as event, k as _made, t as t, x as k from T as t"
        runtime.deploy(text, listeners={"s0": lambda new, *_: rows.extend(new)})
        runtime.send("T", {"k": "a", "x": 1})
    row = rows[0]
    content = {"y": 2, "event": "a", "_made": "a", "t": {"k": "a", "x": 1}, "k": 1}
    assert isinstance(row, ComputedRow) and isinstance(row["t"], Row)
    assert row == content and dict(row) == content and list(row) == list(content) and len(row) == 5 and repr(row) == repr(content)
    assert row.y == 2 and row["event"] == "a" and row.k == 1 and "y" in row and "z" not in row and row.get("z", 7) == 7
    assert row.event is row.event and row.event.get("y") == 2 and row.to_dict() == content
    assert pickle.loads(pickle.dumps(row["t"])) == content["t"] and copy.copy(row) == content
    with pytest.raises(KeyError, match="z"):
        row["z"]
    with pytest.raises(AttributeError, match="z"):
        getattr(row, "z")  # noqa: B009


def test_the_list_of_no_rows_refuses_to_grow() -> None:
    for change in (lambda: NO_ROWS.append(1), lambda: NO_ROWS.extend([1]), lambda: NO_ROWS.insert(0, 1)):  # type: ignore[arg-type, list-item]
        with pytest.raises(TypeError, match="make a list of your own"):
            change()
    with pytest.raises(TypeError):
        NO_ROWS[:] = [1]  # type: ignore[call-overload]
    assert NO_ROWS == [] and repr(NO_ROWS) == "[]" and NO_ROWS[:] == []


def test_listeners_that_fail_send_and_go() -> None:
    heard: list[Any] = []
    errors: list[Any] = []

    def failing(new: Any, *_: Any) -> None:
        raise ValueError(new[0]["y"])

    def sending(new: Any, old: Any, statement: Any, runtime: Runtime) -> None:
        heard.append(new[0]["y"])
        if new[0]["y"] < 3:
            statement.remove_listener(sending)
            runtime.send("T", {"k": "a", "x": 10})
            runtime.route("T", {"k": "a", "x": 20})
            statement.add_listener(sending)

    with Runtime(on_error=lambda error, statement, event: errors.append((str(error), statement, event))) as runtime:
        statement = runtime.deploy(SCHEMA + "@name('s0') select sum(x) as y, 1 / (count(*) - 2) as z from T")["s0"]
        statement.add_listener(failing)
        statement.add_listener(sending)
        statement.add_listener(lambda new, *_: heard.append(("last", new[0]["y"], runtime.cause.call)))
        runtime.send("T", {"k": "a", "x": 1})
    assert heard == [1, ("last", 11, 2), ("last", 1, 2), ("last", 31, 3), 31]
    assert [error for error in errors if error[1] == "s0"] == errors and [e[0] for e in errors] == ["1", "11", "31"]


def test_batch_listeners_and_late_statements_take_the_other_way() -> None:
    heard: list[Any] = []
    with Runtime(tier="row") as runtime:
        deployment = runtime.deploy(SCHEMA + "@name('s0') select k, sum(x) as y from T group by k")
        deployment["s0"].add_listener(lambda new, *_: heard.append([row.y for row in new]))
        runtime.send("T", {"k": "a", "x": 1})
        deployment["s0"].add_batch_listener(lambda new, *_: heard.append(new.to_pylist()))
        runtime.send("T", {"k": "a", "x": 2})
        runtime.deploy("@name('s1') select x from T", listeners={"s1": lambda new, *_: heard.append(new[0].x)})
        runtime.send("T", {"k": "b", "x": 5})
    assert heard == [[1], [3], [{"k": "a", "y": 3}], [5], 5, [{"k": "b", "y": 5}]]
