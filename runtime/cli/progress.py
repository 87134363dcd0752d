"""A progress bar on standard error: shown after a second, where standard error is a terminal (or where it is asked for)."""

from __future__ import annotations

import sys
import time
from types import TracebackType

WIDTH = 30
PATIENCE = 1.0
INTERVAL = 0.2


class ProgressLine:
    """``with ProgressLine("events", total, show) as p: p.advance()``; ``total`` in whatever weights are (bytes, files).

    ``show``: None asks whether standard error is a terminal.
    """

    def __init__(self, unit: str, total: int | None, show: bool | None) -> None:
        self.unit = unit
        self.total = total
        self.shown = sys.stderr.isatty() if show is None else show
        self.done = 0
        self.weighed = 0
        self._started = time.monotonic()
        self._next = self._started + (0.0 if show else PATIENCE)
        self._printed = False

    def advance(self, count: int = 1, weight: int = 1) -> None:
        self.done += count
        self.weighed += weight
        if self.shown and time.monotonic() >= self._next:
            self._print()

    def _print(self) -> None:
        self._next = time.monotonic() + INTERVAL
        self._printed = True
        seconds = max(time.monotonic() - self._started, 1e-9)
        text = f"{self.done:,} {self.unit}  {self.done / seconds:,.0f}/s"
        if self.total:
            share = min(1.0, self.weighed / self.total)
            full = round(share * WIDTH)
            text = f"[{'#' * full}{'.' * (WIDTH - full)}] {share:4.0%}  {text}"
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._printed or (self.shown and time.monotonic() >= self._next):
            self._print()
            sys.stderr.write("\n")
