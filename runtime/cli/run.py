"""``epl run MODULE``: over a file of events, or as a pipeline of sources and sinks (docs/cli.md)."""
from __future__ import annotations

import argparse


def run(options: argparse.Namespace) -> int:
    """Return 0; 1 where the module is refused, a row is not an event of its type, or an expression raised."""
    if is_pipeline(options):
        from runtime.cli.run_pipeline import run_pipeline  # what it reads and writes with is loaded where it is used

        return run_pipeline(options)
    from runtime.cli.run_events import run_events

    return run_events(options)


def is_pipeline(options: argparse.Namespace) -> bool:
    """Return whether rows go through a pipeline: they come from a stream, go to sinks, or there is a state."""
    return bool(options.to or options.state or len(options.events) > 1 or any(each.startswith("kafka://") for each in options.events))
