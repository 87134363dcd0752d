"""Folders of traces: replay in several processes with a time limit a trace, write."""

from __future__ import annotations

import signal
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import FrameType
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from tests.replay.corpus import is_case, replay_case
from tests.replay.neighbours import with_neighbours
from tests.replay.player import Feed, replay_trace
from tests.replay.reading import read_traces, write_traces


class TraceTimeout(BaseException):
    """A trace took too long. Not an Exception, so that no handler inside the engine takes it for a statement's fault."""


@attrs.frozen
class Job:
    """One file to replay."""

    source: Path
    target: Path | None
    restart: bool = False
    tier: str | None = None
    limit: float = 60.0
    spark: bool = False
    cuts: int | None = None
    distributed: bool = False


@attrs.frozen
class Outcome:
    """What came of one file: traces replayed, those that broke off (name, text), and the traces themselves where no target was given.

    ``rows``, ``refused``: how many events went through Spark, and how many had to be sent by themselves. ``spread``: how many statements
    can be split, were spread over engines, and agreed with one.
    """

    source: Path
    replayed: int
    broken: tuple[tuple[str, str], ...]
    traces: tuple[dict[str, Any], ...] = ()
    rows: int = 0
    refused: int = 0
    spread: tuple[int, int, int] = (0, 0, 0)


def with_limit(seconds: float, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run ``work``, raising TraceTimeout when it takes longer; without a limit where the platform has no alarms."""
    if not hasattr(signal, "setitimer"):
        return work()

    def expired(number: int, frame: FrameType | None) -> None:
        raise TraceTimeout(f"the trace did not end in {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def replay_file(job: Job) -> Outcome:
    """Replay every trace of a file. A trace that breaks off is written with its text as ``error`` and no steps; a file that cannot be read
    or written is one of its ``broken``."""
    try:
        return _replay_file(job)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        return Outcome(job.source, 0, ((str(job.source), getattr(error, "strerror", None) or str(error)),))


def _replay_file(job: Job) -> Outcome:
    recorded = [trace if is_case(trace) else with_neighbours(trace, job.source.parent) for trace in read_traces(job.source)]
    replay = _spread() if job.distributed else _in_one_engine(job)
    done: list[dict[str, Any]] = []
    broken: list[tuple[str, str]] = []
    for trace in recorded:
        play = replay_case if is_case(trace) else replay
        try:
            done.append(with_limit(job.limit, lambda: play(trace)))  # noqa: B023 - called at once
        except (Exception, TraceTimeout) as error:  # noqa: BLE001 - one trace must not stop the run; the text is reported
            text = f"{type(error).__name__}: {error}"
            broken.append((str(trace.get("id", trace.get("name"))), text))
            done.append({**trace, "actual": {"error": {"message": text}}} if is_case(trace) else {**trace, "steps": [], "error": text})
    if job.target is not None:
        write_traces(job.target, done)
    ways = [step["spark"] == "rows" for trace in done for step in trace.get("steps", ()) if "spark" in step]
    traces = () if job.target is not None else tuple(done)
    reports = [each for trace in done for each in trace.get("distributed", ())]
    spread = sum(t["partitionable"] for t in reports), sum("agrees" in t for t in reports), sum(t.get("agrees", False) for t in reports)
    return Outcome(job.source, len(done), tuple(broken), traces, sum(ways), len(ways) - sum(ways), spread)


Replay = Callable[[dict[str, Any]], dict[str, Any]]


def _in_one_engine(job: Job) -> Replay:
    feed = micro_batches() if job.spark else columns() if job.tier == "batch" else None
    return lambda trace: replay_trace(trace, restart=job.restart, tier=job.tier, feed=feed, cuts=job.cuts)


def _spread() -> Replay:
    """Spread over several engines, on the Spark session of this process."""
    from runtime.spark.sessions import background_session  # brings Spark, which no other way of replaying needs
    from tests.replay.spark_spread import SpreadReplay

    return SpreadReplay(background_session("epl replay")).replay


def micro_batches() -> Feed:
    """Return micro-batches on the Spark session of this process, which is made the first time. Raise EplRuntimeError where there is no
    Java."""
    from runtime.spark.sessions import background_session  # brings Spark, which no other way of replaying needs
    from tests.replay.spark_micro_batches import MicroBatches

    return MicroBatches(background_session("epl replay"))


def columns() -> Feed:
    """Return batches of columns."""
    from tests.replay.columns import ColumnFeed  # brings Arrow, which the row tier does without

    return ColumnFeed()


def replay_files(jobs: list[Job], processes: int) -> Iterator[Outcome]:
    """Yield outcomes as they come, the largest files first; in this process when there is one process only."""
    ordered = sorted(jobs, key=lambda job: -_size(job.source))
    if processes <= 1:
        yield from map(replay_file, ordered)
        return
    with ProcessPoolExecutor(processes) as pool:
        futures = {pool.submit(replay_file, job): job for job in ordered}
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:
                raise EplRuntimeError(
                    f"a process that replays traces has ended by itself, at or before {futures[future].source.name}",
                    hint="it may have needed too much memory; --jobs 1 shows where",
                ) from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # a link to nowhere: reading it says so
        return 0
