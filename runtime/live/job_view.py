"""A job on Spark in a notebook, while it runs: what it says of itself after each step, and the latest rows of statements."""
from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from runtime.live.view import EVERY, SHOWN, build_widget, cell_text

log = logging.getLogger("epl")

COLUMNS = ("statement", "row")


class LiveStatement(Protocol):
    """What a view asks of a statement."""

    name: str

    def add_batch_listener(self, listener: Any) -> Any: ...

    def remove_batch_listener(self, listener: Any) -> None: ...


class LiveJobView:
    """Feeds a widget: ``widget`` is what the notebook shows, ``close()`` ends it. ``facts``: what the job says of itself,
    its ``status`` and ``engine time`` among them.

    A thread of its own looks at the job's counts every half a second, so that a step costs nothing more; the rows come as Arrow, a call for
    each step, so that statements stay in their tier. It ends when the job does.
    """

    def __init__(
        self, statements: Sequence[LiveStatement], facts: Callable[[], dict[str, str]], *, shown: int = SHOWN, every: float = 2 * EVERY
    ) -> None:
        self.statements = tuple(statements)
        self._facts = facts
        self._rows: deque[list[str]] = deque(maxlen=shown)
        self._shown = shown
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.widget = build_widget("Job", list(COLUMNS) if self.statements else [])
        for statement in self.statements:
            statement.add_batch_listener(self._take)
        self.flush()
        self._thread = threading.Thread(target=self._watch, args=(every,), name="epl live view", daemon=True)
        self._thread.start()

    def _take(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        time = self._facts()["engine time"]
        with self._lock:
            for sign, table in (("+", new), ("-", old)):
                if table is None:
                    continue
                for row in table.slice(max(0, table.num_rows - self._shown)).to_pylist():
                    text = ", ".join(f"{name}={'null' if value is None else value}" for name, value in row.items())
                    self._rows.appendleft([time, sign, cell_text(statement.name), cell_text(text)])

    def _watch(self, every: float) -> None:
        while not self._closed.wait(every):
            try:
                over = self._facts()["status"] in ("stopped", "failed")
                self.flush()
            except Exception as error:  # the notebook says that what it shows is old
                log.error("a live view ends: %s: %s", type(error).__name__, error, exc_info=error)
                self._end(error)
                return
            if over:
                self.close()

    def _end(self, error: Exception) -> None:
        """Stop watching a job that cannot be asked any more; what is shown stays, with the reason."""
        self._closed.set()
        for statement in self.statements:
            statement.remove_batch_listener(self._take)
        self.widget.facts = {**self.widget.facts, "error": cell_text(f"{type(error).__name__}: {error}")}
        self.widget.is_open = False

    def flush(self) -> None:
        """Show what has come up to now."""
        with self._lock:
            rows = [list(row) for row in self._rows]
        facts = {name: cell_text(value) for name, value in self._facts().items()}
        if facts != self.widget.facts:
            self.widget.facts = facts
        if rows != self.widget.rows:
            self.widget.rows = rows

    def close(self) -> None:
        """Stop watching; the notebook keeps what it shows."""
        if self._closed.is_set():
            return
        self._closed.set()
        for statement in self.statements:
            statement.remove_batch_listener(self._take)
        self.flush()
        self.widget.is_open = False

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)


__all__ = ["LiveJobView"]
