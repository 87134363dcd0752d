"""update istream of a class whose properties are Java primitives: a null leaves them as they are (asked of java.util.Date)."""
from __future__ import annotations

from typing import Any

import pytest

from tests.replay.player import replay_trace

SCHEMA = {"Reading": {"kind": "bean", "class": "acme.Reading", "props": {"sensor": "String", "level": "int", "most": "Integer"}}}


def replayed(assigned: str) -> list[dict[str, Any]]:
    steps = [
        {"op": "deploy", "epl": "create variable Integer missing"},
        {"op": "deploy", "epl": f"update istream Reading set {assigned}"},
        {"op": "deploy", "epl": "@name('s0') select level, most from Reading"},
        {"op": "event", "type": "Reading", "props": {"sensor": "a", "level": 5, "most": 9}},
    ]
    trace = {"name": "update", "schema": SCHEMA, "listen": "all", "start_time": 0, "config": {}, "steps": steps}
    done: list[dict[str, Any]] = replay_trace(trace)["steps"]
    return done


@pytest.mark.parametrize("assigned, expected", [
    ("level = missing", {"level": 5, "most": 9}),
    ("level = cast(null, int), most = 1", {"level": 5, "most": 1}),
    ("most = missing", {"level": 5, "most": None}),
    ("most = null", {"level": 5, "most": None}),
    ("level = most + 1", {"level": 10, "most": 9}),
])
def test_a_null_leaves_a_primitive_as_it_is(assigned: str, expected: dict[str, Any]) -> None:
    [*_, event] = replayed(assigned)
    assert [call["new"] for call in event["out"] if call["statement"] == "s0"] == [[expected]]


def test_the_null_literal_is_refused() -> None:
    step = replayed("level = null")[1]
    assert "of null type to event property 'level' typed as 'int', nullable type mismatch" in str(step)
