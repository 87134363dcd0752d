"""Bytes of a runtime's snapshot after some events, and after ten times as many: what is kept for a restart, by workload."""
from __future__ import annotations

import attrs

from benchmarks.data import Data
from benchmarks.engines.row import RowSession
from benchmarks.workloads import WORKLOADS


@attrs.frozen
class Stored:
    """``sizes``: bytes after each number of events."""

    workload: str
    title: str
    sizes: dict[int, int]


def stored(name: str, events: int) -> Stored:
    """Run a workload in the row tier; return the sizes of its snapshots after ``events`` and ten times as many."""
    sizes: dict[int, int] = {}
    session = RowSession(WORKLOADS[name], Data(10 * events))
    for first, last in ((0, events), (events, 10 * events)):
        session.run(first, last)
        sizes[last] = len(session.runtime.snapshot())
    return Stored(name, WORKLOADS[name].title, sizes)
