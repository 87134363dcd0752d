"""What waits costs nothing: calls are counted, not timed; and what has ended leaves nothing behind."""
from __future__ import annotations

from typing import Any

import pytest

from runtime import Runtime
from runtime.api.runtime import internal_engine
from tests.calls import calls_of

SCHEMAS = "".join(f"@public @buseventtype create schema {name}(id string, v int);" for name in "ABC")

WAITING = {
    "a filter": "every a=A -> b=B(id = a.id)",
    "a filter over a range": "every a=A -> b=B(id = a.id, v > a.v)",
    "a filter with a time limit": "every a=A -> (b=B(id = a.id) where timer:within(1 hour))",
    "absence": "every a=A -> (timer:interval(1 hour) and not B(id = a.id))",
    "either": "every a=A -> (b=B(id = a.id) or c=C(id = a.id))",
    "a repetition": "every a=A -> ([2] b=B(id = a.id))",
    "a limit": "every a=A -[1000000]> b=B(id = a.id)",
    "discarding": "@DiscardPartialsOnMatch [every a=A -> b=B(id = a.id) -> c=C(id = a.id)]",
    "discarding what two have come to": "@DiscardPartialsOnMatch [every a=A -> (b=B(id = a.id) and c=C(id = a.id))]",
}


def running(pattern: str, opened: int) -> tuple[Runtime, list[Any]]:
    """A runtime with so many instances that wait, each for its own id."""
    runtime = Runtime(tier="row")
    rows: list[Any] = []
    source = pattern if pattern.startswith("@") else f"[{pattern}]"
    runtime.deploy(f"{SCHEMAS} @name('s') select * from pattern {source}", listeners={"s": lambda new, *_: rows.extend(new)})
    for number in range(opened):
        runtime.send("A", {"id": f"i{number}", "v": 1})
    return runtime, rows


def cost(pattern: str, opened: int) -> list[int]:
    """Of events that match an instance, of one that matches none, and of one that opens an instance; once without counting."""
    runtime, _ = running(pattern, opened)
    costs = []
    for last in (opened // 2, opened // 3):
        costs = [calls_of(lambda name=name, id=id: runtime.send(name, {"id": id, "v": 2}))
                 for name, id in (("B", f"i{last}"), ("C", f"i{last}"), ("B", "nobody"), ("A", "new"))]
    return costs


@pytest.mark.parametrize("pattern", WAITING.values(), ids=WAITING)
def test_an_event_costs_the_same_whatever_waits(pattern: str) -> None:
    few, many = cost(pattern, 30), cost(pattern, 5000)
    for one, other in zip(few, many, strict=True):
        assert other <= one + 24  # steps of a binary search, of a heap


def entries(runtime: Runtime) -> int:
    """How many filters are active."""
    places: set[int] = set()
    for name in "ABC":
        for index in internal_engine(runtime).core.filters.indexes(runtime.event_type(name)):
            for table in index.active.values():
                places.update(id(entry) for entry in _all(table))
    return len(places)


def _all(table: Any) -> list[Any]:
    found: list[Any] = []
    for slot in getattr(type(table), "__slots__", ()) or vars(table):
        _collect(getattr(table, slot, None), found)
    return found


def _collect(value: Any, found: list[Any]) -> None:
    if type(value).__name__ in ("ActiveFilter", "ListedFilter"):
        found.append(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            _collect(key, found)
            _collect(each, found)
    elif isinstance(value, (list, tuple, set)):
        for each in value:
            _collect(each, found)


@pytest.mark.parametrize("pattern", [WAITING[name] for name in ("a filter", "a filter with a time limit", "absence", "either")])
def test_what_ends_leaves_no_filter_and_no_timer(pattern: str) -> None:
    runtime, _ = running(pattern, 0)
    before = entries(runtime), len(internal_engine(runtime).core.schedule)
    for number in range(50):
        runtime.send("A", {"id": f"i{number}", "v": 1})
    assert entries(runtime) >= before[0] + 50
    for number in range(50):
        runtime.send("B", {"id": f"i{number}", "v": 2})
    assert (entries(runtime), len(internal_engine(runtime).core.schedule)) == before


def test_undeployment_takes_everything_out() -> None:
    runtime, _ = running("every a=A -> (b=B(id = a.id) where timer:within(1 hour))", 20)
    deployment = next(iter(runtime.deployments))
    runtime.undeploy(deployment)
    assert len(internal_engine(runtime).core.schedule) == 0
    assert not internal_engine(runtime).core.filters._by_type
    assert runtime.subexpressions_in_progress == 0


# ------------------------------------------------------------------ faults


def test_an_expression_that_raises_harms_its_own_instance_only() -> None:
    errors: list[str] = []
    rows: list[Any] = []
    runtime = Runtime(tier="row", on_error=lambda error, *_: errors.append(str(error)))

    def risky(value: int) -> int:
        if value == 2:
            raise ValueError("no twos")
        return value

    runtime.register_function("risky", risky)
    pattern = "every a=A -> (b=B while (risky(b.v) > 0))"
    runtime.deploy(f"{SCHEMAS} @name('s') select a.id as a, b.id as b from pattern [{pattern}]",
                   listeners={"s": lambda new, *_: rows.extend(new)})
    for name, id, value in (("A", "a1", 1), ("B", "b1", 2), ("A", "a2", 1), ("B", "b2", 3)):
        runtime.send(name, {"id": id, "v": value})
    assert [dict(row) for row in rows] == [{"a": "a2", "b": "b2"}]
    assert any("no twos" in error for error in errors)


def test_an_interval_that_raises_ends_its_instance() -> None:
    errors: list[str] = []
    rows: list[Any] = []
    runtime = Runtime(tier="row", on_error=lambda error, *_: errors.append(str(error)))
    runtime.deploy(f"{SCHEMAS} @name('s') select a.id as a from pattern [every a=A -> timer:interval(a.v)]",
                   listeners={"s": lambda new, *_: rows.extend(new)})
    runtime.send("A", {"id": "a1", "v": None})
    runtime.send("A", {"id": "a2", "v": 1})
    runtime.advance_time(1000)
    assert [dict(row) for row in rows] == [{"a": "a2"}]
    assert errors


def test_explain_prints_the_program() -> None:
    runtime, _ = running("every a=A -> (b=B(id = a.id, v > 1) where timer:within(10 sec))", 0)
    text = runtime.statement("s").explain()
    assert "every" in text and "a=A" in text and "b=B where" in text and "found by id" in text and "within" in text
