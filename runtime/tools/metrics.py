"""A runtime's metrics for prometheus-client::

    from prometheus_client import REGISTRY, start_http_server
    REGISTRY.register(RuntimeMetrics(runtime))
    start_http_server(9000)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from runtime.api.counts import StatementMetrics
from runtime.api.runtime import Runtime

ORDERED = {
    "late": "rows of match_recognize that came too late", "ahead": "rows of match_recognize that were too far ahead of the clock",
    "forced": "rows of match_recognize that were processed early since too many waited",
}
"""Counters by statement, ``epl_rows_…_total``."""


COUNTED = (
    ("events", "events that passed filters", "events"), ("timers", "timers that have run", "timers"),
    ("seconds", "time that operators took", "seconds"),
)
"""Counters by statement: name, meaning, field."""


class RuntimeMetrics(Collector):
    """Reads the runtime when Prometheus asks; events pay nothing for it. Metrics have the names that jobs on Spark use.

    After ``Runtime.measure()`` there are metrics of each statement too: ``epl_statement_…`` and ``epl_window_rows``.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def collect(self) -> Iterator[Metric]:
        runtime = self.runtime
        with runtime.lock:
            deployments = runtime.deployments
            statements = sum(len(deployment.statements) for deployment in deployments.values())
            plain = [
                ("engine_time", "engine time, in engine units", runtime.now),
                ("deployments", "modules that are deployed", len(deployments)),
                ("statements", "statements that are deployed", statements),
                ("matches_in_progress", "states of match_recognize", runtime.matches_in_progress),
                ("subexpressions_in_progress", "sub-expressions of patterns that wait", runtime.subexpressions_in_progress),
            ]
            ordered = runtime.ordered_rows
            by_name = [
                ("stored_rows", "rows of named windows and tables", runtime.stored_rows),
                ("context_partitions", "partitions of contexts", runtime.context_partitions),
            ]
        for name, text, value in plain:
            yield GaugeMetricFamily(f"epl_{name}", text, value=value)
        for name, text, counts in by_name:
            family = GaugeMetricFamily(f"epl_{name}", text, labels=["name"])
            for each, count in sorted(counts.items()):
                family.add_metric([each], count)
            yield family
        for counter, text in ORDERED.items():
            counted = CounterMetricFamily(f"epl_rows_{counter}", text, labels=["name"])
            for each, rows in sorted(ordered.items()):
                counted.add_metric([each], getattr(rows, counter))
            yield counted
        waiting = GaugeMetricFamily("epl_rows_waiting", "rows of match_recognize that wait for earlier ones", labels=["name"])
        for each, rows in sorted(ordered.items()):
            waiting.add_metric([each], rows.waiting)
        yield waiting
        measured = runtime.metrics
        if measured:
            yield from _of_statements(measured)

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Say nothing ahead: registering asks no runtime."""
        yield from ()


def _of_statements(measured: Sequence[StatementMetrics]) -> Iterator[Metric]:
    labels = ["deployment", "statement"]
    for name, text, field in COUNTED:
        counter = CounterMetricFamily(f"epl_statement_{name}", text, labels=labels)
        for each in measured:
            counter.add_metric([each.deployment, each.statement], getattr(each, field))
        yield counter
    rows = CounterMetricFamily("epl_statement_rows", "rows emitted", labels=[*labels, "stream"])
    windows = GaugeMetricFamily("epl_window_rows", "events in data windows", labels=labels)
    for each in measured:
        rows.add_metric([each.deployment, each.statement, "new"], each.new_rows)
        rows.add_metric([each.deployment, each.statement, "old"], each.old_rows)
        windows.add_metric([each.deployment, each.statement], each.window_rows)
    yield rows
    yield windows


__all__ = ["RuntimeMetrics"]
