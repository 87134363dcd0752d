"""Where ``epl run`` sends events and time: into the runtime, or into Spark."""
from __future__ import annotations

import argparse

from epl.errors import EplRuntimeError
from runtime.api.runtime import Runtime
from runtime.cli import UsageError
from runtime.connectors.feeds import DirectFeed, Feed


def feed_of(options: argparse.Namespace, runtime: Runtime) -> Feed:
    """Return what the options say; UsageError without Java."""
    if not options.spark:
        return DirectFeed(runtime)
    if options.batches < 1:
        raise UsageError("--batches: at least 1")
    try:
        from runtime.cli.run_spark import SparkFeed

        return SparkFeed(runtime, options.batches)
    except EplRuntimeError as error:
        raise UsageError(f"--spark: {error}") from None


__all__ = ["feed_of"]
