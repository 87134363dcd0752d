"""Listeners that send events: deep, and too deep."""
from __future__ import annotations

from typing import Any

from epl.errors import EplRuntimeError
from runtime import Runtime


def deepest(limit: int, how: str) -> tuple[int, list[BaseException]]:
    """(the deepest event that arrives, what the error handler hears) where each event's listener puts in the next."""
    errors: list[BaseException] = []
    arrived: list[int] = []
    runtime = Runtime(on_error=lambda error, *_: errors.append(error))
    runtime.register("T", {"n": int})

    def listener(new: Any, *_: Any) -> None:
        n = new[0]["n"]
        arrived.append(n)
        if n < limit:
            getattr(runtime, how)("T", {"n": n + 1})

    runtime.deploy("@name('s0') select n from T", listeners={"s0": listener})
    runtime.send("T", {"n": 0})
    before = len(arrived)
    runtime.send("T", {"n": limit})
    assert len(arrived) == before + 1
    return max(arrived[:before]), errors


def test_some_depth_is_fine() -> None:
    assert deepest(60, "send") == (60, [])


def test_too_deep_is_told_clearly() -> None:
    depth, errors = deepest(5_000, "send")
    assert 60 < depth < 5_000
    assert errors and all(isinstance(e, EplRuntimeError) and isinstance(e.__cause__, RecursionError) for e in errors)
    assert "recursion limit" in str(errors[0]) and "route" in str(errors[0].hint)  # type: ignore[attr-defined]


def test_route_has_no_limit() -> None:
    assert deepest(5_000, "route") == (5_000, [])
