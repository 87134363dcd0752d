"""``epl run --metrics PORT``: a page of metrics while a module runs, for Prometheus and ``epl top``."""
from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from runtime.api.runtime import Runtime
from runtime.cli import UsageError
from runtime.extras import install


class MetricsPage:
    """Serves the metrics of one runtime after the other."""

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry

            from runtime.tools.metrics import RuntimeMetrics
        except ImportError:
            raise UsageError(f"--metrics needs prometheus-client: {install('top')}") from None
        self.registry = CollectorRegistry()
        self._collector = RuntimeMetrics
        self._shown: object = None

    def show(self, runtime: Runtime) -> None:
        """Measure a runtime, and serve its metrics in place of another one's."""
        runtime.measure()
        if self._shown is not None:
            self.registry.unregister(self._shown)  # type: ignore[arg-type]  # a collector, which mypy knows where it is made
        self._shown = self._collector(runtime)
        self.registry.register(self._shown)


@contextmanager
def metrics_page(options: argparse.Namespace) -> Iterator[MetricsPage | None]:
    """Serve a page at the address of ``--metrics`` in the block; None where there is no such option."""
    if options.metrics is None:
        yield None
        return
    host, _, port = options.metrics.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise UsageError(f"--metrics: a port or host:port is expected, not {options.metrics!r}")
    page = MetricsPage()
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(int(port), host or "127.0.0.1", page.registry)
    except OSError as error:
        raise UsageError(f"--metrics: cannot listen at {options.metrics}: {error.strerror or error}") from None
    try:
        yield page
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


__all__ = ["MetricsPage", "metrics_page"]
