"""Traces of statements that were compiled from object models have their names between apostrophes, with apostrophes in them."""
from __future__ import annotations

from tests.replay.player import replay_trace


def test_a_name_with_quotes_is_replayed() -> None:
    name = "every A(k='x')"
    steps = [
        {"op": "deploy", "epl": "create schema A(k string)"},
        {"op": "deploy", "epl": f"@name('{name}') select * from A(k=\"x\")", "statements": [{"name": name}]},
        {"op": "event", "type": "A", "props": {"k": "x"}},
    ]
    done = replay_trace({"name": "names", "schema": {}, "listen": "all", "start_time": 0, "config": {}, "steps": steps})["steps"]
    assert [call["statement"] for call in done[2]["out"]] == [name]
