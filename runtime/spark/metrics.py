"""What the engines of ``transform`` report of each micro-batch: as Spark's observed metric ``epl_engine``, and as Prometheus text."""
from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryListener

from runtime.spark.distributed_host.packing import REPORTED
from runtime.spark.progress import metric

OBSERVED, CAME = "epl_engine", "epl"
"""The observed metrics of engines, and of the rows in front of them (runtime.spark.sources.observed)."""

CAME_IN = {
    "steps": ("steps", "micro-batches"), "rows": ("rows", "rows that came"), "seconds": ("seconds", "seconds that micro-batches took"),
}
COUNTERS = {
    "fed": ("rows_fed", "rows sent to engines"), "late": ("rows_late", "rows dropped because they were late"),
    "ahead": ("rows_ahead", "rows dropped because they were too far ahead of time"), "out": ("rows_out", "rows emitted"),
    "faults": ("faults", "exceptions in expressions that were left to the error handler"),
}
NOTHING = {"shards": 0}
GAUGES = {
    "matches": ("matches_in_progress", "states of match_recognize"),
    "subexpressions": ("subexpressions_in_progress", "sub-expressions of patterns"),
    "waiting": ("rows_waiting", "rows held for earlier ones"),
    "state": ("state_bytes", "size of the engines' states"), "time": ("engine_time", "engine time, in engine units"),
}


def with_totals(blobs: DataFrame) -> DataFrame:
    """Return what shards emit, observed: sums over all of them, and the lowest of their times."""
    totals = [F.sum(F.col(name)).alias(name) for name in REPORTED if name != "time"]
    return blobs.observe(OBSERVED, *totals, F.min(F.col("time")).alias("time"))


class Metrics(StreamingQueryListener):
    """The queries of ``transform`` as Prometheus text.

    Totals count since the listener was added; a micro-batch that Spark repeats counts again. Gauges are those of the last micro-batch in
    which all shards that ever had a step had one.

    Examples:
        ```python
        from runtime.spark import Metrics, session

        metrics = Metrics()
        session().streams.addListener(metrics)
        text = metrics.prometheus()                 # serve it by HTTP
        session().streams.removeListener(metrics)
        ```
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[str, Counter[str]] = {}
        self._last: dict[str, dict[str, Any]] = {}

    def onQueryStarted(self, event: Any) -> None:
        """Do nothing: nothing is known yet."""

    def onQueryIdle(self, event: Any) -> None:
        """Do nothing: nothing has changed."""

    def onQueryTerminated(self, event: Any) -> None:
        """Do nothing: what was known stays."""

    def onQueryProgress(self, event: Any) -> None:
        progress = event.progress
        observed = progress.observedMetrics
        if OBSERVED not in observed:
            return
        name = progress.name or str(progress.id)
        engine = {key: value or 0 for key, value in observed[OBSERVED].asDict().items()}
        with self._lock:
            totals = self._totals.setdefault(name, Counter())
            totals["steps"] += 1
            totals["seconds"] += progress.batchDuration / 1000
            if CAME in observed:
                totals["rows"] += observed[CAME]["rows"]
            for key in COUNTERS:
                totals[key] += engine[key]
            if engine["shards"] and engine["shards"] >= self._last.get(name, NOTHING)["shards"]:
                self._last[name] = engine  # shards whose timers found nothing to do are silent, and still there

    def prometheus(self) -> str:
        """Return the totals and gauges of all queries as Prometheus text."""
        with self._lock:
            labels = {name: f'{{query="{_quote(name)}"}}' for name in self._totals}
            counted = [
                metric("counter", to, text, {labels[n]: totals[key] for n, totals in self._totals.items()})
                for key, (to, text) in {**CAME_IN, **COUNTERS}.items()
            ]
            return "".join(counted) + "".join(
                metric("gauge", to, text, {labels[n]: last[key] for n, last in self._last.items()}) for key, (to, text) in GAUGES.items()
            )


def _quote(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"')


__all__ = ["Metrics", "with_totals"]
