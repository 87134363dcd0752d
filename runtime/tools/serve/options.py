"""What the one who starts the server decides."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import attrs

MEBIBYTE = 1 << 20


@attrs.frozen
class ServeLimits:
    """Limits of what a client may ask for. Sizes are in bytes, times in seconds. ``run_*``: of one run of the playground."""

    body: int = 16 * MEBIBYTE
    """Of a request."""
    body_seconds: float = 30.0
    """Until a request's body must be complete."""
    text: int = MEBIBYTE
    """Of EPL text, and of a run's script."""
    waiting: int = 64
    """Requests that wait for the runtime, and runs that wait for a process."""
    query_rows: int = 10_000
    """Rows in an answer."""
    run_seconds: float = 5.0
    run_memory: int = 512 * MEBIBYTE
    run_events: int = 10_000
    run_rows: int = 5_000
    run_output: int = 8 * MEBIBYTE
    runs: int = 2
    """Runs at one time."""
    streams: int = 100
    """Clients that listen at one time."""
    buffer_messages: int = 10_000
    """Listener calls of one statement that are kept for its clients."""
    buffer_bytes: int = 8 * MEBIBYTE
    """Likewise."""


@attrs.frozen
class Allowed:
    """The means that EPL text may use beyond the language. ``imports``: Python modules that it may import (``Settings.python_imports``).
    ``setup``: Python modules whose ``register(runtime)`` registers functions, methods, databases and tables with each new runtime."""

    imports: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class ServeOptions:
    """``token``: what requests must carry, None where the server listens on loopback only. ``names``: host names of the server beyond
    ``host`` and those of loopback. ``modules``: files that are deployed at the start. ``state``: the folder of snapshots. ``measure``:
    count what each statement does. ``unknown``: what becomes of properties that an event's type does not declare."""

    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = None
    names: tuple[str, ...] = ()
    playground: bool = True
    rules: bool = True
    modules: tuple[Path, ...] = ()
    clock: Literal["external", "system"] = "external"
    start_time: int = 0
    state: Path | None = None
    snapshot_seconds: float = 60.0
    certificate: Path | None = None
    key: Path | None = None
    allowed: Allowed = attrs.field(factory=Allowed)
    limits: ServeLimits = attrs.field(factory=ServeLimits)
    measure: bool = False
    unknown: Literal["ignore", "warn", "refuse"] = "warn"


__all__ = ["MEBIBYTE", "Allowed", "ServeLimits", "ServeOptions"]
