"""Jobs that die by SIGKILL, with Spark's JVM and with its Python workers, lose nothing and double nothing.

A driver dies at three points here, at five with ``EPL_LONG=1``; of the statements that are spread one is killed, all with ``EPL_LONG=1``.
At length: ``make kill``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.spark.kill.harness import WORKER, Harness
from tests.spark.kill.processes import PROC
from tests.spark.kill.workload import DECLARED, MODULE, SPREAD, STREAMS, Difference, Events, difference, put, read, undisturbed

pytestmark = [pytest.mark.spark, pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="processes are found in /proc")]
LONG = bool(os.environ.get("EPL_LONG"))
KILLS = ["snapshot.rename:2", "log.during:2", "commit:1", *(["query:1", "sink.rename:3"] if LONG else [])]
"""Each costs a start of Spark. Where a query and a sink are interrupted by an error the tests of jobs and of queries say."""


def test_a_driver_killed_at_snapshot_log_and_commit_goes_on(tmp_path: Path) -> None:
    events = Events(150_000 if LONG else 80_000, files=30 if LONG else 20)
    harness = Harness(tmp_path, events, ["--until", str(events.end)], pace=0.05)
    run = harness.through(KILLS)
    assert [death.point for death in run.deaths] == [kill.partition(":")[0] for kill in KILLS]
    assert run.deaths[2].again, "it comes before Spark knows"
    assert run.starts == len(KILLS) + 1
    for (name, stream), expected in undisturbed(MODULE, events, STREAMS, until=events.end).items():
        assert difference(expected, read(tmp_path / "job/output" / name / stream)) == Difference(expected.num_rows, 0, 0), (name, stream)


@pytest.mark.parametrize("statement", list(SPREAD) if LONG else [next(iter(SPREAD))])
def test_python_workers_that_are_killed_are_made_up_for(tmp_path: Path, statement: str) -> None:
    events = Events(40_000 if LONG else 24_000, files=20 if LONG else 12, late_ms=0)
    harness = Harness(tmp_path, events, ["--host", "spread", "--files", "1", "--statement", statement], pace=0.2)
    run = harness.through([f"{WORKER}:3"])
    assert run.workers == 3 and not run.failed and harness.came.put == events.files
    expected = undisturbed(DECLARED + SPREAD[statement], events, (("spread", "new"),), until=None)["spread", "new"]
    assert difference(expected, read(tmp_path / "counted")) == Difference(expected.num_rows, 0, 0)


def test_lost_and_doubled_rows_are_counted(tmp_path: Path) -> None:
    rows = Events(1000, files=1).table()
    put(tmp_path, 0, rows.slice(3))
    put(tmp_path, 1, rows.slice(990))
    assert difference(rows, read(tmp_path)) == Difference(1007, 3, 10)
    assert difference(rows, rows.slice(0, 999)) == Difference(999, 1, 0)
