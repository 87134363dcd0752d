"""The state of patterns: pages that change with what changes, and a runtime restored between any two steps."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import internal_output
from runtime.event_loop.loop import log_error
from windows.paging import plain
from windows.protocol import Damaged

SCHEMAS = "".join(f"@public @buseventtype create schema {name}(id string, v int);" for name in "ABC")


def deployed(pattern: str, on_error: Callable[..., Any] = log_error) -> Runtime:
    runtime = Runtime(tier="row", on_error=on_error)
    runtime.deploy(f"{SCHEMAS} @name('s') select * from pattern [{pattern}]")
    return runtime


def test_a_change_writes_few_pages_of_many_instances() -> None:
    runtime = deployed("every a=A -> b=B(id = a.id) where timer:within(1 hour)")
    for number in range(4000):
        runtime.send("A", {"id": f"i{number}", "v": number})
    first = runtime.pages()
    store, mark = first.apply_to({}), first.mark
    for step in range(5):
        runtime.send("A", {"id": f"new{step}", "v": 1})
        runtime.send("B", {"id": f"i{step}", "v": 1})
        changes = runtime.pages(since=mark)
        assert len(changes.apply_to({})) <= 12
        store, mark = changes.apply_to(store), changes.mark
    restored = Runtime.restore(store)
    assert restored.subexpressions_in_progress == runtime.subexpressions_in_progress == 4000
    rows: list[Any] = []
    restored.statement("s").add_listener(lambda new, *_: rows.extend(new))
    for id in ("i0", "i7", "new3"):
        restored.send("B", {"id": id, "v": 2})
    assert [dict(row)["a"]["id"] for row in rows] == ["i7", "new3"]
    assert len(internal_engine(restored).core.schedule) == 3998


PATTERNS = (
    "every a=A -> b=B(id = a.id)", "every (a=A and b=B)", "every a=A or every b=B", "[2:] a=A until b=B", "every-distinct(a.v, 5 sec) a=A",
    "every a=A -> (timer:interval(5 sec) and not b=B)", "every timer:at(*/5, *, *, *, *)", "timer:schedule(iso: 'R3/PT2S')",
    "every (a=A -> b=B where timer:withinmax(5 sec, 2))", "every a=A while (a.v > 0)", "every a=A -[2]> b=B",
)


WRONG = (None, -1, "x", [], {}, True, 1.5, 1 << 70)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_damaged_state_is_refused(pattern: str) -> None:
    """Each value of the state, replaced by one of another kind: texts, mappings, truth values and fractions are refused wherever they are;
    whatever is not refused is a state that goes on, and is written as it was read."""
    runtime = deployed(pattern)
    for step in range(3):
        runtime.send("A", {"id": f"i{step}", "v": step})
    state = internal_output(runtime.statement("s")).running.state()
    places = list(_places(state["pattern"], ()))
    assert len(places) > 2
    errors: list[BaseException] = []
    fresh = deployed(pattern, lambda error, *_: errors.append(error))
    statement = fresh.statement("s")
    internal_output(statement).running.close()
    for path in places:
        is_key = "distinct" in pattern and _is_key(path)
        for wrong in WRONG:
            damaged = {**state, "pattern": _replaced(state["pattern"], path, wrong)}
            again = internal_output(statement).prepared.instantiate()
            try:
                again.restore(damaged)
            except Damaged:
                continue
            assert is_key or not isinstance(wrong, (str, dict, bool, float)), (path, wrong)
            internal_output(statement).running = again
            again.start()
            assert repr(plain(again.state()["pattern"])) == repr(plain(damaged["pattern"])), (path, wrong)
            for kind, name in ((1, "A"), (2, "B")):
                fresh.send(name, {"id": "i1", "v": kind})
            fresh.advance_time_span(fresh.now + 20_000)
            again.state()
            again.close()
            assert errors == [], (path, wrong)


def _is_key(path: tuple[int, ...]) -> bool:
    """Return whether it is a value of a key of every-distinct."""
    return len(path) == 6


def _places(state: Any, path: tuple[int, ...]) -> Any:
    yield path
    if isinstance(state, list):
        for place, each in enumerate(state):
            yield from _places(each, (*path, place))


def _replaced(state: Any, path: tuple[int, ...], value: Any) -> Any:
    if not path:
        return value
    copy = list(state)
    copy[path[0]] = _replaced(copy[path[0]], path[1:], value)
    return copy
