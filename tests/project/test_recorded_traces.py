"""Over the recorded traces: a runtime restored between every two steps does exactly what one does that never stopped."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from tests.replay.columns import ColumnFeed
from tests.replay.player import replay_trace
from tests.replay.reading import read_traces, trace_files

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


NOT_COMPARED = ("tiers", "batch")
"""What of a step says how it was done."""

IN_COLUMNS = {"resultset": 103, "view": 17, "rowrecog": 10, "expr": 53, "event": 20}
"""How many traces of a suite at least have statements that all run in the batch tier. Most events of these suites have a BigDecimal
property: what selects them whole stays in the row tier, since an Arrow column does not keep a decimal's scale.
"""


def compared(trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [{k: v for k, v in step.items() if k not in NOT_COMPARED} for step in trace["steps"]]


@pytest.mark.traces
@pytest.mark.parametrize("suite", list(IN_COLUMNS))
def test_batch_tier_does_what_the_row_tier_does(traces: pathlib.Path, suite: str) -> None:
    pytest.importorskip("numba")
    differing = []
    in_columns = 0
    for path, _ in trace_files(traces / suite):
        for trace in counted(path):
            columns = replay_trace(trace, tier="batch", feed=ColumnFeed())
            if "row_tier" in columns:
                continue  # it says why
            cut = replay_trace(trace, tier="batch", feed=ColumnFeed(), cuts=7)
            if compared(cut) != compared(columns):
                differing.append(f"{trace['class']}/{trace['name']} cut at random")
            in_columns += any("batch" in (step.get("tiers") or {}).values() for step in columns["steps"])
            if compared(columns) != compared(replay_trace(trace)):
                differing.append(f"{trace['class']}/{trace['name']}")
    assert not differing
    assert in_columns >= IN_COLUMNS[suite]
