"""Engines in turns on the same segments of the events; their outputs must agree; the median of the repetitions is the figure."""
from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

import attrs

from benchmarks.engine import Engine, Measured, NotRun, Session, agree
from benchmarks.workloads import Workload

REPETITIONS = 3


@attrs.frozen
class Result:
    """One engine on one workload; ``note`` says why there are no ``runs``, or what a reader must know of them."""

    workload: Workload
    engine: str
    runs: tuple[Measured, ...] = ()
    note: str = ""
    failed: bool = False

    @property
    def cpu(self) -> float:
        """ns per event, CPU time: the median of the runs."""
        return statistics.median(r.cpu_ns / r.events for r in self.runs)

    @property
    def process(self) -> float:
        """ns per event, CPU time of the whole process."""
        return statistics.median(r.process_ns / r.events for r in self.runs)

    @property
    def wall(self) -> float:
        """ns per event, wall-clock time."""
        return statistics.median(r.wall_ns / r.events for r in self.runs)

    @property
    def spread(self) -> tuple[float, float]:
        """Least and most ns per event, CPU time."""
        times = [r.cpu_ns / r.events for r in self.runs]
        return min(times), max(times)


def measure(
    workload: Workload, engines: Mapping[str, Engine], events: int, warm_up: int, report_progress: Callable[[str], None],
    repetitions: int = REPETITIONS,
) -> list[Result]:
    """``warm_up`` events in one segment, then ``repetitions`` segments of ``events`` each; engines take turns segment by segment.

    An engine that raises, or whose rows are not those of the first engine that runs the workload, has failed.
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
            failures = {}
            for name, done in runs.items():
                report_progress(f"{workload.name} {name} {first:,} to {last:,}")
                try:
                    done.append(sessions[name].run(first, last))
                except Exception as error:  # noqa: BLE001 - the others continue, the report has it, the command fails
                    failures[name] = f"FAILS: {type(error).__name__}: {error}"
            failures.update(differing(workload, {name: done[-1] for name, done in runs.items() if name not in failures}, (first, last)))
            results.update({name: Result(workload, name, note=why, failed=True) for name, why in failures.items()})
            runs = {name: done for name, done in runs.items() if name not in failures}
    finally:
        for session in sessions.values():
            session.close()
    results.update({name: Result(workload, name, tuple(done[1:]), sessions[name].note) for name, done in runs.items()})
    return [results[name] for name in engines]


def differing(workload: Workload, measured: Mapping[str, Measured], segment: tuple[int, int]) -> dict[str, str]:
    """The engines whose output is not that of the first one: what differs, by name."""
    differences = {}
    reference = next(iter(measured), "")
    for name, each in measured.items():
        differs = agree(workload.columns, measured[reference], each)
        if differs:
            differences[name] = f"DISAGREES with {reference} on the events {segment[0]:,} to {segment[1]:,}: {differs}"
    return differences


__all__ = ["REPETITIONS", "Result", "differing", "measure"]
