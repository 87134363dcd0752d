"""Engines in turns on the same segments of the events; their outputs must agree, the median of the repetitions is the figure."""
from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

import attrs

from benchmarks.engine import Engine, Measured, NotRun, Session, agree
from benchmarks.workloads import Workload

REPETITIONS = 3


class Disagreement(Exception):
    """Two engines put out different rows for the same events."""


@attrs.frozen
class Result:
    """One engine on one workload; ``note`` says why there are no ``runs``, or what a reader must know of them."""

    workload: Workload
    engine: str
    runs: tuple[Measured, ...] = ()
    note: str = ""

    @property
    def cpu(self) -> float:
        """ns an event, CPU time: the median of the runs."""
        return statistics.median(r.cpu_ns / r.events for r in self.runs)

    @property
    def process(self) -> float:
        """ns an event, CPU time of the whole process."""
        return statistics.median(r.process_ns / r.events for r in self.runs)

    @property
    def wall(self) -> float:
        """ns an event by the clock on the wall."""
        return statistics.median(r.wall_ns / r.events for r in self.runs)

    @property
    def spread(self) -> tuple[float, float]:
        """Least and most ns an event, CPU time."""
        found = [r.cpu_ns / r.events for r in self.runs]
        return min(found), max(found)


def measure(
    workload: Workload, engines: Mapping[str, Engine], events: int, warm_up: int, told: Callable[[str], None],
    repetitions: int = REPETITIONS,
) -> list[Result]:
    """``warm_up`` events in one segment, then ``repetitions`` segments of ``events`` each; engines take turns segment by segment.

    Raises Disagreement where two engines that run the workload put out different rows.
    """
    sessions: dict[str, Session] = {}
    results: dict[str, Result] = {}
    for name, engine in engines.items():
        try:
            sessions[name] = engine.open(workload)
        except NotRun as reason:
            results[name] = Result(workload, name, note=str(reason))
    bounds = [0, *(warm_up + events * number for number in range(repetitions + 1))]
    runs: dict[str, list[Measured]] = {name: [] for name in sessions}
    try:
        for first, last in zip(bounds, bounds[1:]):  # noqa: RUF007
            for name, session in sessions.items():
                told(f"{workload.name} {name} {first:,} to {last:,}")
                runs[name].append(session.run(first, last))
            check(workload, {name: done[-1] for name, done in runs.items()}, (first, last))
    finally:
        for session in sessions.values():
            session.close()
    results.update({name: Result(workload, name, tuple(done[1:]), sessions[name].note) for name, done in runs.items()})
    return [results[name] for name in engines]


def check(workload: Workload, measured: Mapping[str, Measured], segment: tuple[int, int]) -> None:
    """Raises Disagreement naming workload, engines, segment and what differs."""
    names: Sequence[str] = list(measured)
    for name in names[1:]:
        differs = agree(workload.columns, measured[names[0]], measured[name])
        if differs:
            raise Disagreement(f"{workload.name}, events {segment[0]:,} to {segment[1]:,}: {names[0]} and {name}: {differs}")


__all__ = ["REPETITIONS", "Disagreement", "Result", "check", "measure"]
