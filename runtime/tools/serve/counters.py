"""What the server counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from runtime.tools.metrics import RuntimeMetrics
from runtime.tools.serve.engine import ServedEngine
from runtime.tools.serve.streams import OutputStreams
from runtime.tools.serve.tasks import Tasks


class Counters:
    """``registry`` has the metrics of one server. Labels are routes and event types that are declared: clients cannot add to them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("epl_http_requests", "requests answered", ["route", "status"], registry=self.registry)
        self.runs = Counter("epl_playground_runs", "runs of the playground, by what ended them", ["end"], registry=self.registry)
        self.run_seconds = Histogram("epl_playground_run_seconds", "seconds that runs took", registry=self.registry)

    def watch(self, engine: ServedEngine, streams: OutputStreams, tasks: Tasks) -> None:
        """Add the metrics of a runtime, of its clients and of what the server does by itself."""
        self.registry.register(RuntimeMetrics(engine.runtime))
        self.registry.register(_Counted(engine, streams, tasks))


class _Counted(Collector):
    """The counts of engine, streams and tasks."""

    def __init__(self, engine: ServedEngine, streams: OutputStreams, tasks: Tasks) -> None:
        self.engine, self.streams, self.tasks = engine, streams, tasks

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        events = CounterMetricFamily("epl_events", "events sent, by type", labels=["type"])
        for name, count in sorted(self.engine.events.copy().items()):
            events.add_metric([name], count)
        yield events
        yield CounterMetricFamily("epl_faults", "exceptions in expressions and listeners", value=self.engine.fault_count)
        yield GaugeMetricFamily("epl_stream_clients", "clients that listen", value=len(self.streams.clients))
        yield CounterMetricFamily("epl_stream_rows_dropped", "rows that slow clients have missed", value=self.streams.rows_dropped)
        failed = CounterMetricFamily("epl_task_failures", "steps of the clock and of saving the state that failed", labels=["task"])
        for name, count in sorted(self.tasks.failed_steps.items()):
            failed.add_metric([name], count)
        yield failed

    def describe(self) -> Iterator[CounterMetricFamily]:
        yield from ()


__all__ = ["Counters"]
