"""The state of patterns: pages that change with what changes, and a runtime restored between any two steps."""
from __future__ import annotations

from typing import Any

import pytest

from epl.errors import EplRuntimeError
from runtime import Runtime

SCHEMAS = "".join(f"@public @buseventtype create schema {name}(id string, v int);" for name in "ABC")


def deployed(pattern: str) -> Runtime:
    runtime = Runtime(tier="row")
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
    assert len(restored._core.schedule) == 3998


PATTERNS = (
    "every a=A -> b=B(id = a.id)", "every (a=A and b=B)", "every a=A or every b=B", "[2:] a=A until b=B", "every-distinct(a.v, 5 sec) a=A",
    "every a=A -> (timer:interval(5 sec) and not b=B)", "every timer:at(*/5, *, *, *, *)", "timer:schedule(iso: 'R3/PT2S')",
    "every (a=A -> b=B where timer:withinmax(5 sec, 2))", "every a=A while (a.v > 0)", "every a=A -[2]> b=B",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_damaged_state_is_refused(pattern: str) -> None:
    """Each value of the state, replaced by one that it cannot be: an error, or a runtime that goes on; nothing else is raised."""
    runtime = deployed(pattern)
    for step in range(3):
        runtime.send("A", {"id": f"i{step}", "v": step})
    running = runtime.statement("s").running
    state = running.state()
    places = list(_places(state["pattern"], ()))
    assert places
    for path in places:
        for wrong in (None, -1, "x", [], {}, 1 << 70):
            damaged = {**state, "pattern": _replaced(state["pattern"], path, wrong)}
            fresh = deployed(pattern)
            prepared = fresh.statement("s")
            try:
                prepared.running.restore(damaged)  # type: ignore[union-attr]
            except (EplRuntimeError, TypeError, ValueError, AttributeError, IndexError, KeyError):
                continue


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
