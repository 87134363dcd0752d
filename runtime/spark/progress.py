"""What a job is doing: totals and the last steps, for people, for Prometheus."""
from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping

import attrs

from runtime.spark.feed import Feed, FeedStep, LogEntry

log = logging.getLogger("epl.spark")

KEPT = 100
"""How many steps are kept."""

LOG_EVERY = 10.0
"""Seconds between two lines in the log."""


@attrs.frozen
class StepProgress:
    """``step``, Spark's ``batch`` (None for a step of time alone); ``rows`` that came, ``fed`` to the engine, ``late`` and ``ahead`` left
    out; output rows ``out`` of the statements whose output is kept; ``time``: the engine's after the step; ``waiting`` rows; ``matches``
    of ``match_recognize`` (partial matches); ``faults``: exceptions in expressions that were left to the error handler; ``seconds`` it
    took."""

    step: int
    batch: int | None
    rows: int
    fed: int
    late: int
    ahead: int
    out: int
    time: int
    waiting: int
    matches: int
    faults: int
    seconds: float


class Progress:
    """``last``: the last steps, newest at the end. Totals count since the job was made."""

    def __init__(self) -> None:
        self.last: deque[StepProgress] = deque(maxlen=KEPT)
        self.steps = self.rows = self.fed = self.late = self.ahead = self.out = self.faults = 0
        self.seconds = 0.0
        self.state_bytes = 0
        self._state: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._partitions: dict[str, int] = {}
        self._logged_at = time.monotonic()

    def update_state(self, feed: Feed) -> None:
        """Note the job's state, before its first step as after any other."""
        buffer, runtime = feed.buffer, feed.runtime
        waiting = 0 if buffer is None else buffer.held
        self._state = {"engine_time": runtime.now, "rows_waiting": waiting, "matches_in_progress": runtime.matches_in_progress,
                       "subexpressions_in_progress": runtime.subexpressions_in_progress}
        self._stored = runtime.stored_rows
        self._partitions = runtime.context_partitions

    def note(self, number: int, feed: Feed, entry: LogEntry, step: FeedStep, seconds: float) -> None:
        """Note that a step has been done. ``number``: which one."""
        out = step.output_rows
        late, ahead = (0 if t is None else t.num_rows for t in (step.late, step.ahead))
        self.update_state(feed)
        now, waiting, matches, _ = self._state.values()
        rows = 0 if entry.rows is None else entry.rows.num_rows
        done = StepProgress(number, entry.batch, rows, step.rows, late, ahead, out, now, waiting, matches, step.faults, seconds)
        self.last.append(done)
        self.steps += 1
        self.rows, self.fed, self.late, self.ahead, self.out = (
            self.rows + rows, self.fed + step.rows, self.late + late, self.ahead + ahead, self.out + out,
        )
        self.seconds += seconds
        self.faults += step.faults
        if time.monotonic() - self._logged_at >= LOG_EVERY:
            self._logged_at = time.monotonic()
            log.info(
                "step %d: %d rows in %.2f s, engine time %d, %d rows wait, %d late and %d ahead so far",
                done.step, rows, seconds, done.time, waiting, self.late, self.ahead,
            )

    def prometheus(self) -> str:
        """Return the totals as Prometheus reads them."""
        counters = [
            ("steps", "steps done", self.steps), ("rows", "rows that came", self.rows), ("rows_fed", "rows sent to the engine", self.fed),
            ("rows_late", "rows dropped because they were late", self.late),
            ("rows_ahead", "rows dropped because they were too far ahead of time", self.ahead),
            ("rows_out", "rows that statements emitted", self.out),
            ("faults", "exceptions in expressions that were left to the error handler", self.faults),
            ("seconds", "seconds spent in steps", self.seconds),
        ]
        gauges = [
            ("engine_time", "engine time, in engine units", self._state.get("engine_time")),
            ("rows_waiting", "rows held for earlier ones", self._state.get("rows_waiting")),
            ("matches_in_progress", "states of match_recognize", self._state.get("matches_in_progress")),
            ("subexpressions_in_progress", "sub-expressions of patterns", self._state.get("subexpressions_in_progress")),
            ("state_bytes", "size of the last snapshot", self.state_bytes),
        ]
        metrics = [metric("counter", name, text, {"": value}) for name, text, value in counters]
        named = [("stored_rows", "rows of named windows and tables", self._stored),
                 ("context_partitions", "partitions of contexts", self._partitions)]
        by_name = [metric("gauge", name, text, {f'{{name="{each}"}}': count for each, count in sorted(counts.items())})
                   for name, text, counts in named if counts]
        return "".join([
            *metrics, *(metric("gauge", name, text, {"": value}) for name, text, value in gauges if value is not None), *by_name])

    def __repr__(self) -> str:
        return f"Progress({self.steps} steps, {self.rows} rows in, {self.out} out, {self.late} late, {self.faults} errors)"

    def of_batch(self, batch: int) -> StepProgress | None:
        """Return what a micro-batch came to, while it is among the last steps: for a StreamingQueryListener, by ``progress.batchId``."""
        return next((each for each in reversed(self.last) if each.batch == batch), None)


def metric(kind: str, name: str, text: str, values: Mapping[str, float]) -> str:
    """Return a metric as Prometheus reads it. ``kind``: counter or gauge; ``values``: by labels as written, ``{name="value"}`` or
    nothing."""
    full = f"epl_{name}_total" if kind == "counter" else f"epl_{name}"
    lines = [f"{full}{labels} {value}" for labels, value in values.items()]
    return "\n".join([f"# HELP {full} {text}", f"# TYPE {full} {kind}", *lines, ""])



__all__ = ["Progress", "StepProgress", "metric"]
