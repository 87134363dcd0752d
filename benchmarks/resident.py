"""What a process holds while events come: megabytes after each tenth of them, one process a figure. Where it grows, something leaks.

``python -m benchmarks.resident ENGINE WORKLOAD EVENTS`` prints the megabytes, then the tier. Events are made on the way in.
"""
from __future__ import annotations

import gc
import subprocess
import sys

import attrs

from benchmarks.data import Data
from benchmarks.engines.batch import BatchSession
from benchmarks.engines.row import RowSession
from benchmarks.memory import ROOT, resident
from benchmarks.workloads import WORKLOADS

TENTHS = 10
ROWS_AT_ONCE = {"batch": 100_000, "row": 10_000}
"""Events that are made beforehand: the process holds them while they run."""


@attrs.frozen
class Grown:
    """``megabytes``: after each tenth of the events; empty where the process failed, with its last words as the note."""

    workload: str
    engine: str
    events: int
    megabytes: tuple[int, ...]
    note: str = ""


def sizes(engine: str, name: str, events: int) -> tuple[list[int], str]:
    """(megabytes after each tenth, tier) of this process; call it once a process."""
    megabytes, chunk = [], min(ROWS_AT_ONCE[engine], events // TENTHS)
    workload, data = WORKLOADS[name], Data(chunk)
    session = RowSession(workload, data) if engine == "row" else BatchSession(workload, data, chunk, encoded=True)
    for first in range(0, events, chunk):
        session.data = Data(chunk, start=first)
        session.run(0, chunk)
        if (first + chunk) * TENTHS // events > len(megabytes):
            gc.collect()
            megabytes.append(resident() >> 20)
    return megabytes, session.note


def grown(engine: str, name: str, events: int) -> Grown:
    """Measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.resident", engine, name, str(events)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        return Grown(name, engine, events, (), f"FAILS: {done.stderr.strip().splitlines()[-1]}")
    megabytes, _, note = done.stdout.strip().partition(" ")
    return Grown(name, engine, events, tuple(map(int, megabytes.split(","))), note)


if __name__ == "__main__":
    found_sizes, ran = sizes(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(",".join(map(str, found_sizes)), ran)
