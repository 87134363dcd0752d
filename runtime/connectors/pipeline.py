"""``Pipeline``: sources → a runtime → sinks."""
from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event as Flag
from typing import Any
from uuid import uuid4

import attrs

from epl.durations import Duration, duration_units
from epl.errors import EplRuntimeError
from runtime.api.runtime import Runtime
from runtime.api.statement import Statement
from runtime.arguments import check_methods
from runtime.clock.instants import Instant, to_instant
from runtime.connectors.checkpoints import Checkpoint, CheckpointFolder
from runtime.connectors.feeds import DirectFeed, EventFeed
from runtime.connectors.input import Source
from runtime.connectors.intake import OnBad, OnLate, SourceIntake
from runtime.connectors.output import OutputRow, Sink, close_all, connector_error
from runtime.connectors.pacing import Pace
from runtime.conversion.rows import Rows

log = logging.getLogger("epl")

MOST_WAITING = 100_000
"""Rows for sinks that wait for a checkpoint: with more, the next checkpoint comes at once."""
IDLE = 0.2
"""Seconds that a source is waited for, before the next one is asked."""


@check_methods()
class Pipeline:
    """Reads sources, processes their rows in a runtime, and delivers what statements emit to sinks, in the thread that calls ``run``.

    Without ``state`` rows are delivered as they come, and sources note what is done (Kafka: offsets of the group) after that: after a crash
    some rows are processed again, by a runtime that begins without state. With ``state``, a checkpoint every ``every`` keeps the runtime's
    snapshot, the positions of the sources and the rows emitted since the one before, as one file that is replaced as a whole; then the rows
    are delivered. A restart goes on from it: each row of the sources has its effect on the state exactly once, and rows are delivered at
    least once, by sinks that know checkpoints (Kafka by transactions, databases, folders of files) exactly once (docs/connectors.md).

    Args:
        start: Makes the runtime where there is no state yet; or a runtime, without ``state`` alone.
        sources: What is read, in turn. Each has a name of its own.
        sinks: By statement name, a sink or several. None: listeners and queries of the runtime have all there is.
        state: The folder of the checkpoint.
        restore: Makes the runtime from a snapshot (default: ``Runtime.restore``); give functions again here.
        every: How long it is from one checkpoint to the next.
        label: What the state is of, such as a hash of the module: the state of another one is refused.
        on_bad: ``"refuse"``: a row that is not an event ends the pipeline with its place; ``"skip"``: it is counted in ``skipped``.
        on_late: ``"refuse"``, ``"skip"`` or ``"keep"``: a row whose time is before the runtime's; ``keep`` processes it now.
        until: The clock walks to this time, in ms or as a datetime, when all sources are at their end.
        snapshot_key: Seals checkpoints, as in ``Runtime.snapshot``; ``restore`` gets snapshots that were sealed with it.
        speed: Rows and timers are processed when they are due by the wall clock, so many times as fast; None: without waiting.
        feed: What sends events and moves time; a test's recorder, for example.
        append: Go on although a sink has rows of another state, such as one that was removed. By default that is refused: a state that
            begins would deliver the same rows again.

    Examples:
        >>> from runtime import Runtime
        >>> from runtime.connectors import Pipeline, RowSource, StreamSink
        >>> runtime = Runtime()
        >>> deployment = runtime.deploy("create schema A(x int); @name('doubled') select x * 2 as y from A")
        >>> pipeline = Pipeline(runtime, [RowSource([{"x": 1}, {"x": 2}, {"x": "?"}])], {"doubled": StreamSink()}, on_bad="skip")
        >>> pipeline.run()
        {"y": 2}
        {"y": 4}
        >>> pipeline.skipped, pipeline.first_skipped[0][:44]
        (1, "source 'rows': row 2: Event type 'A': proper")
        >>> pipeline.stop()  # it has ended
    """

    def __init__(
        self, start: Callable[[], Runtime] | Runtime, sources: Sequence[Source],
        sinks: Mapping[str, Sink | Sequence[Sink]] | None = None, *,
        state: str | Path | None = None, restore: Callable[[bytes], Runtime] | None = None, every: Duration = "10 seconds", label: str = "",
        on_bad: OnBad = "refuse", on_late: OnLate = "refuse", until: Instant | None = None, snapshot_key: bytes | None = None,
        speed: float | None = None, feed: Callable[[Runtime], EventFeed] = DirectFeed, append: bool = False,
    ) -> None:
        if state is not None and isinstance(start, Runtime):
            raise ValueError("with a state, the runtime comes from a function: after a restart it is restored instead")
        if len({source.name for source in sources}) < len(sources):
            raise ValueError("two sources have the same name")
        self._start, self._restore = start, restore or (lambda data: Runtime.restore(data, snapshot_key=snapshot_key))
        self._sources, self._label, self._key = list(sources), label, snapshot_key
        self._sinks = [(name, sink) for name, each in (sinks or {}).items() for sink in (each if isinstance(each, Sequence) else [each])]
        keys = [_key(name, sink) for name, sink in self._sinks]
        if len(set(keys)) < len(keys):
            raise ValueError("two sinks of one statement have the same name")
        self._folder = None if state is None else CheckpointFolder(Path(state), snapshot_key)
        self._seconds = duration_units("every", every, 1000) / 1000
        self._stop = Flag()
        self.intake = SourceIntake(on_bad, on_late, Pace(speed, sleep=self._stop.wait))
        self._until = None if until is None else to_instant("until", until, 1000)
        self._feed_of, self._appends = feed, append
        self._outbox: dict[str, list[OutputRow]] = {key: [] for key in keys}
        self._waiting = 0
        self._number, self._identity = 0, ""
        self._last: Checkpoint | None = None
        self.runtime: Runtime | None = start if isinstance(start, Runtime) else None

    @property
    def skipped(self) -> int:
        """The number of rows that were skipped, by ``on_bad`` and ``on_late``."""
        return self.intake.skipped.count

    @property
    def first_skipped(self) -> tuple[str, ...]:
        """Place and reason of the first ten rows that were skipped."""
        return tuple(self.intake.skipped.first)

    def stop(self) -> None:
        """Let ``run`` end after the rows that are being processed, with a checkpoint; from any thread, or a signal handler."""
        self._stop.set()

    def run(self) -> None:
        """Run until all sources are at their end, or ``stop`` is called; everything is delivered and closed when this returns.

        Raises:
            EplRuntimeError: A source or sink failed, a row was refused, or the state is damaged, in use, or of another label. The message
                names what failed; what was processed since the last checkpoint is processed again by the next start.
        """
        opened: list[Callable[[], object]] = []
        try:
            runtime = self._open(opened)
            self._drive(runtime)
        except BaseException:
            try:
                close_all(opened[::-1])
            except Exception as error:  # noqa: BLE001 - what ended the pipeline is raised
                log.error("while a pipeline was closed: %s", error)
            raise
        close_all(opened[::-1])

    # ------------------------------------------------------------------ beginning

    def _open(self, opened: list[Callable[[], object]]) -> Runtime:
        last = None
        if self._folder is not None:
            self._folder.acquire()
            opened.append(self._folder.release)
            last = self._folder.read()
            if last is not None and last.label != self._label:
                raise EplRuntimeError(
                    f"the state in {self._folder.folder} is of {last.label!r}, not of {self._label!r}",
                    hint="give another folder, or remove this one to begin without state",
                )
        runtime = self.runtime = self._runtime(last)
        self._number, self._identity = (0, uuid4().hex) if last is None else (last.number, last.identity)
        for name, sink in self._sinks:
            self._open_sink(runtime, name, sink, last, opened)
        for source in self._sources:
            position = None if last is None else last.positions.get(source.name)
            opened.append(source.close)
            with _naming(f"source '{source.name}'"):
                source.open(position)
                self.intake.add(source.name, source.reader(runtime), getattr(source, "times", None))
        if last is None:
            self._checkpoint(runtime)  # a restart begins where this one did
        return runtime

    def _runtime(self, last: Checkpoint | None) -> Runtime:
        if last is not None:
            return self._restore(last.snapshot)
        return self._start if isinstance(self._start, Runtime) else self._start()

    def _open_sink(self, runtime: Runtime, name: str, sink: Sink, last: Checkpoint | None, opened: list[Callable[[], object]]) -> None:
        try:
            statement = runtime.statement(name)
        except KeyError:
            there = ", ".join(sorted(s.name for d in runtime.deployments.values() for s in d))
            raise EplRuntimeError(f"sink '{sink.name}': no statement named '{name}'", hint=f"there are {there}") from None
        opened.append(sink.close)
        with _naming(_sink_name(name, sink)):
            delivered = sink.open(statement.event_type, None if self._folder is None else self._identity)
            self._check_holds(getattr(sink, "holds", None))
            rows = () if last is None else last.outbox.get(_key(name, sink), ())
            if last is not None and rows and (delivered is None or delivered < last.number):
                sink.deliver(rows, last.number)
        listener = statement.add_listener(self._listener(_key(name, sink), sink.stream))
        opened.append(lambda: statement.remove_listener(listener))

    def _check_holds(self, state: str | None) -> None:
        """Refuse a sink with rows of another state."""
        if self._folder is None or self._appends or state is None:
            return
        of = f" ({state[:8]}…)" if state else ""
        raise EplRuntimeError(
            f"it has rows of another state{of} than the one in {self._folder.folder}: rows would come twice",
            hint="give that state's folder again; or remove the rows; or append=True (--append) adds to them",
        )

    def _listener(self, key: str, stream: str) -> Callable[[Rows, Rows, Statement, Any], None]:
        waiting = self._outbox[key]

        def listen(new: Rows, old: Rows, statement: Statement, runtime: Any) -> None:
            for rows, is_new in ((new, True), (old, False)):
                if stream == "both" or (stream == "new") is is_new:
                    waiting.extend(OutputRow(statement.name, runtime.now, is_new, row.to_dict()) for row in rows)
            self._waiting = max(self._waiting, len(waiting))

        return listen

    # ------------------------------------------------------------------ running

    def _drive(self, runtime: Runtime) -> None:
        live, feed = list(self._sources), self._feed_of(runtime)
        due = time.monotonic() + self._seconds
        while live and not self._stop.is_set():
            before = len(live)
            live = [source for source in live if self._poll(feed, source, 0.0 if before > 1 else IDLE)]
            if self._folder is None:
                self._deliver(runtime)
            if time.monotonic() >= due or self._waiting >= MOST_WAITING:
                self._checkpoint(runtime)
                due = time.monotonic() + self._seconds
        if not live:
            if self._until is not None:
                feed.move(max(self._until, feed.now))
            feed.finish()
        self._checkpoint(runtime)
        if self._folder is not None and self._last is not None:
            self._folder.write(attrs.evolve(self._last, outbox={}))  # all of it is delivered, whether sinks know it or not

    def _poll(self, feed: EventFeed, source: Source, seconds: float) -> bool:
        """Process the next rows of a source; return whether there may be more."""
        with _naming(f"source '{source.name}'"):
            rows = source.poll(seconds)
        if rows is None:
            return False
        if not rows and not seconds:
            self._stop.wait(IDLE / 10)
        with _naming(f"source '{source.name}'"):
            for row in rows:
                self.intake.process(feed, source.name, row)
        return True

    def _take_rows(self) -> dict[str, list[OutputRow]]:
        taken = {key: list(rows) for key, rows in self._outbox.items()}
        for rows in self._outbox.values():
            rows.clear()
        self._waiting = 0
        return taken

    def _deliver(self, runtime: Runtime) -> None:
        if self._waiting:
            with runtime.lock:  # a system clock has a thread of its own
                taken = self._take_rows()
            self._deliver_rows(taken, None)

    def _deliver_rows(self, taken: Mapping[str, Sequence[OutputRow]], number: int | None) -> None:
        for name, sink in self._sinks:
            rows = taken[_key(name, sink)]
            if rows:
                with _naming(_sink_name(name, sink)):
                    sink.deliver(rows, number)

    def _checkpoint(self, runtime: Runtime) -> None:
        if self._folder is None:
            self._deliver(runtime)
        else:
            with runtime.lock:
                snapshot = runtime.snapshot(snapshot_key=self._key)
                taken = self._take_rows()
            positions = {source.name: source.position() for source in self._sources}
            self._last = Checkpoint(self._identity, self._number + 1, self._label, snapshot, positions, taken)
            self._folder.write(self._last)
            self._number += 1
            self._deliver_rows(taken, self._number)
        for source in self._sources:
            with _naming(f"source '{source.name}'"):
                source.committed()


def _key(statement: str, sink: Sink) -> str:
    return f"{statement} → {sink.name}"


def _sink_name(statement: str, sink: Sink) -> str:
    return f"sink '{sink.name}' of statement '{statement}'"


class _naming:
    """Names a source or sink in what it raises."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            raise connector_error(self._what, error) from error


__all__ = ["Pipeline"]
