"""What an engine's driver is: ``prepare`` once, ``open`` a workload, then ``run`` one segment of the events after the other.

State goes on from segment to segment, so that what comes out of a segment is decided by the events alone, and all engines must agree.
"""
from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import attrs

from benchmarks.data import Data
from benchmarks.workloads import Column, Workload


class NotRun(Exception):
    """Why an engine cannot run a workload, or cannot run here."""


@attrs.frozen
class Measured:
    """One segment. ``cpu_ns``: CPU time of the work on events (for a JVM of the sending thread, for Python of the process); ``process_ns``:
    CPU time of the whole process, garbage collection and compilation in the background included. ``sums``: one a listener's column.
    """

    events: int
    cpu_ns: int
    process_ns: int
    wall_ns: int
    rows: int
    sums: tuple[float, ...]


@attrs.frozen
class Prepared:
    """What all drivers get: the events, a folder that holds them as raw columns (``Data.write``), rows a batch."""

    data: Data
    folder: Path
    batch_rows: int = 100_000


class Session(Protocol):
    """A workload that is running. ``note``: what a reader must know (e.g. which tier)."""

    note: str

    def run(self, first: int, last: int) -> Measured:
        """Process the events ``first`` … ``last`` - 1; nothing but that is timed."""

    def close(self) -> None: ...


class Engine(Protocol):
    name: str
    version: str

    def prepare(self, prepared: Prepared) -> None:
        """Raises NotRun where the engine is not to be had."""

    def open(self, workload: Workload) -> Session:
        """Compile and deploy. Raises NotRun where the statement does not exist there."""

    def close(self) -> None: ...


def timed(work: Callable[[], Any]) -> tuple[int, int, Any]:
    """(CPU ns of the process, wall ns, result)."""
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    result = work()
    return time.process_time_ns() - cpu, time.perf_counter_ns() - wall, result


def agree(columns: tuple[Column, ...], one: Measured, other: Measured) -> str | None:
    """None, or how two engines' outputs of the same segment differ."""
    if one.rows != other.rows:
        return f"{one.rows:,} rows against {other.rows:,} rows"
    for column, a, b in zip(columns, one.sums, other.sums):
        if abs(a - b) > (1e-9 * max(abs(a), abs(b)) if column.mode == "near" else 0):
            return f"sum of {column.name} {a!r} against {b!r}"
    return None


__all__ = ["Engine", "Measured", "NotRun", "Prepared", "Session", "agree", "timed"]
