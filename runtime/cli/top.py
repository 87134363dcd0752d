"""``epl top URL|FILE``: a dashboard of a runtime or job that gives its metrics as Prometheus text."""

from __future__ import annotations

import argparse
import time
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import build_opener

from runtime.cli import UsageError
from runtime.live.dashboard import Reading, dashboard, missing, reading

LARGEST = 4 << 20
"""Bytes of text that are read."""
PATIENCE = 10
"""Seconds that an answer may take."""


def run(options: argparse.Namespace) -> int:
    """Print the dashboard until Ctrl-C, once with ``--once``; UsageError where the metrics cannot be read the first time."""
    now = _read(options.source)
    try:
        from rich.console import Console
        from rich.live import Live
    except ImportError:
        raise UsageError(missing()) from None
    console = Console()
    if options.once:
        console.print(dashboard(now, source=options.source))
        return 0
    before, at = now, time.monotonic()
    with Live(dashboard(now, source=options.source), console=console, screen=console.is_terminal, auto_refresh=False) as live:
        while True:
            time.sleep(options.interval)
            source = options.source
            try:
                now = _read(options.source)
            except UsageError as error:  # it may come back
                source = f"{options.source}: {error}"
            seconds, at = time.monotonic() - at, time.monotonic()
            live.update(dashboard(now, before, seconds, source), refresh=True)
            before = now


def _read(source: str) -> Reading:
    try:
        return reading(_text(source))
    except ImportError as error:
        raise UsageError(str(error)) from None
    except (ValueError, IndexError, KeyError) as error:
        raise UsageError(f"{source} gives no Prometheus text: {str(error)[:200]}") from None


def _file_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None


def _text(source: str) -> str:
    """Return the text at an address, or in a file. ``localhost:9000`` means ``http://localhost:9000/metrics``."""
    address = source
    if "://" not in source:
        if Path(source).exists():
            return _file_text(Path(source))
        if ":" not in source:
            raise UsageError(f"there is no file {source}; an address is written as http://host:port/metrics")
        address = f"http://{source}"
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise UsageError(f"{source!r} is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"an address begins with http:// or https://, not {source!r}")
    if parts.path in ("", "/"):
        address = f"{parts.scheme}://{parts.netloc}/metrics"
    try:
        with build_opener().open(address, timeout=PATIENCE) as answer:
            return bytes(answer.read(LARGEST)).decode("utf-8", "replace")
    except (URLError, OSError, HTTPException, ValueError) as error:  # ValueError: an address with signs that HTTP does not allow
        raise UsageError(f"cannot read {address}: {getattr(error, 'reason', error)}") from None


__all__ = ["run"]
