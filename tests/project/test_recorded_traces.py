"""Over the recorded traces: a runtime restored between every two steps does exactly what one does that never stopped."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from runtime.replay import replay_trace
from runtime.replay_files import read_traces, trace_files

MOST_STEPS = 200
"""Longer traces take minutes with a restart at every step; ``conformance_floor.py --restart`` replays them all."""


def counted(path: pathlib.Path) -> list[dict[str, Any]]:
    return [t for t in read_traces(path) if not t.get("needs_java") and not t.get("uses_current_time") and len(t["steps"]) <= MOST_STEPS]


@pytest.mark.traces
@pytest.mark.parametrize("suite", ["seeds", "rowrecog", "view"])
def test_restart_at_every_step_changes_nothing(traces: pathlib.Path, suite: str) -> None:
    differing = []
    replayed = 0
    for path, _ in trace_files(traces / suite):
        for trace in counted(path):
            replayed += 1
            if replay_trace(trace, restart=True)["steps"] != replay_trace(trace)["steps"]:
                differing.append(f"{trace['class']}/{trace['name']}")
    assert replayed > 20
    assert not differing
