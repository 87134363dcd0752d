"""Static functions called with constants alone: once a statement (udf_cache, as Esper's default), or each time."""
from __future__ import annotations

from typing import Any

import pytest

from epl.settings import Settings
from runtime import Runtime


def run(select: str, **settings: Any) -> list[tuple[Any, ...]]:
    runtime = Runtime(settings=Settings(python_imports=("random",), **settings))
    rows: list[tuple[Any, ...]] = []
    runtime.deploy(f"import random; create schema T(x int); @name('s0') select {select} from T",
                   listeners={"s0": lambda new, *_: rows.extend(tuple(r.values()) for r in new)})
    for x in range(3):
        runtime.send("T", {"x": x})
    return rows


@pytest.mark.parametrize("call", ["Math.random()", "Math.max(Math.random(), 0.5)", "random.random()"])
def test_constants_alone_are_asked_once(call: str) -> None:
    assert len(set(run(f"{call} as a"))) == 1
    assert len(set(run(f"{call} as a", udf_cache=False))) > 1 or "max" in call


def test_each_place_has_its_own() -> None:
    first, second = run("Math.random() as a, Math.random() as b")[0]
    assert first != second


def test_what_reads_the_event_is_asked_each_time() -> None:
    assert run("Math.max(x, 1) as a") == [(1,), (1,), (2,)]


def test_a_call_that_raises_is_made_again() -> None:
    errors: list[str] = []
    runtime = Runtime(settings=Settings(python_imports=("random",)), on_error=lambda error, *_: errors.append(str(error)))
    runtime.deploy("import random; create schema T(x int); @name('s0') select random.randrange(0) as a from T", listeners={"s0": print})
    runtime.send("T", {"x": 1})
    runtime.send("T", {"x": 1})
    assert len(errors) == 2


def test_a_function_without_class_is_asked_each_time() -> None:
    calls: list[int] = []
    runtime = Runtime()
    runtime.register_function("count_up", lambda: calls.append(1) or len(calls))
    runtime.deploy("create schema T(x int); @name('s0') select count_up() as a from T", listeners={"s0": lambda *_: None})
    for x in range(3):
        runtime.send("T", {"x": x})
    assert len(calls) == 3
