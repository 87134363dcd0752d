"""What the server counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from runtime.tools.metrics import RuntimeMetrics
from runtime.tools.serve.engine import Engine
from runtime.tools.serve.streams import Streams


class Counters:
    """``registry`` has the metrics of one server. Labels are routes and event types that are declared: clients cannot add to them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("epl_http_requests", "requests answered", ["route", "status"], registry=self.registry)
        self.runs = Counter("epl_playground_runs", "runs of the playground, by what ended them", ["end"], registry=self.registry)
        self.run_seconds = Histogram("epl_playground_run_seconds", "seconds that runs took", registry=self.registry)

    def watch(self, engine: Engine, streams: Streams) -> None:
        """Add the metrics of a runtime and of its clients."""
        self.registry.register(RuntimeMetrics(engine.runtime))
        self.registry.register(_Counted(engine, streams))


class _Counted(Collector):
    """What engine and streams count themselves."""

    def __init__(self, engine: Engine, streams: Streams) -> None:
        self.engine, self.streams = engine, streams

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        events = CounterMetricFamily("epl_events", "events sent, by type", labels=["type"])
        for name, count in sorted(self.engine.events.copy().items()):
            events.add_metric([name], count)
        yield events
        yield CounterMetricFamily("epl_faults", "exceptions in expressions and listeners", value=self.engine.fault_count)
        yield GaugeMetricFamily("epl_stream_clients", "clients that listen", value=len(self.streams.clients))
        yield CounterMetricFamily("epl_stream_rows_dropped", "rows that slow clients have missed", value=self.streams.rows_dropped)

    def describe(self) -> Iterator[CounterMetricFamily]:
        yield from ()


__all__ = ["Counters"]
