"""A running statement or job in a notebook, while it runs: an anywidget that shows the latest rows and how many there were."""
from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from runtime.explain.labels import clean
from runtime.extras import MissingPackage, install

log = logging.getLogger("epl")

SHOWN, EVERY = 20, 0.25
"""Rows that are shown, and seconds between two updates of the notebook at least."""

SCRIPT = """
function render({ model, el }) {
  const cell = "text-align:left;padding:0 12px 0 0";
  const draw = () => {
    el.replaceChildren();
    const add = (parent, tag, text, style) => {
      const node = document.createElement(tag);
      if (text !== undefined) node.textContent = text;
      if (style) node.style.cssText = style;
      parent.appendChild(node);
      return node;
    };
    add(el, "b", model.get("name"));
    const facts = Object.entries(model.get("facts")).map(([name, value]) => name + " " + value).join(" · ");
    add(el, "p", facts, "opacity:.75;font-size:90%;margin:2px 0").setAttribute("role", "status");
    const table = add(el, "table", undefined, "font-variant-numeric:tabular-nums;border-collapse:collapse");
    table.setAttribute("aria-label", "latest rows of " + model.get("name"));
    const head = add(add(table, "thead"), "tr");
    for (const name of model.get("columns").length ? ["time", "", ...model.get("columns")] : []) add(head, "th", name, cell).scope = "col";
    const body = add(table, "tbody");
    for (const row of model.get("rows")) {
      const line = add(body, "tr", undefined, row[1] === "-" ? "color:#a04000" : "");
      for (const text of row) add(line, "td", text, cell);
    }
    if (!model.get("is_open")) add(el, "i", "closed");
  };
  draw();
  for (const name of ["facts", "rows", "columns", "is_open"]) model.on("change:" + name, draw);
}
export default { render };
"""


class Live(Protocol):
    """What a view asks of a statement."""

    name: str

    @property
    def properties(self) -> dict[str, str]: ...

    def add_listener(self, listener: Any) -> Any: ...

    def remove_listener(self, listener: Any) -> None: ...


class LiveView:
    """Feeds a widget: ``widget`` is what the notebook shows, ``close()`` ends it.

    The widget gets the latest 20 rows at most every quarter of a second; each row costs the statement what a listener costs.
    """

    def __init__(self, statement: Live, time_text: Callable[[], str], *, shown: int = SHOWN, every: float = EVERY) -> None:
        self.statement = statement
        self.new = self.old = 0
        self._time_text = time_text
        self._rows: deque[list[str]] = deque(maxlen=shown)
        self._every = every
        self._lock = threading.Lock()
        self._due: threading.Timer | None = None
        self.widget = build_widget(statement.name, list(statement.properties))
        self._push()
        statement.add_listener(self._take)

    def _take(self, new: Iterable[Mapping[str, Any]], old: Iterable[Mapping[str, Any]], statement: Any, runtime: Any) -> None:
        time = self._time_text()
        with self._lock:
            for sign, rows in (("+", new), ("-", old)):
                for row in rows:
                    self._rows.appendleft([time, sign, *(cell_text(row.get(name)) for name in statement.properties)])
                    self.new += sign == "+"
                    self.old += sign == "-"
            if self._due is None:
                self._due = threading.Timer(self._every, self._push_later)
                self._due.daemon = True
                self._due.start()

    def _push(self) -> None:
        with self._lock:
            self._due = None
            rows = [list(row) for row in self._rows]
            facts = {"rows": f"{self.new:,} in, {self.old:,} out", "engine time": self._time_text()}
        self.widget.rows, self.widget.facts = rows, facts

    def _push_later(self) -> None:
        try:
            self._push()
        except Exception as error:  # the next row tries again
            log.error("a live view of statement %r does not show its rows: %s: %s", self.statement.name, type(error).__name__, error,
                      exc_info=error)

    def flush(self) -> None:
        """Show what has come up to now."""
        if self._due is not None:
            self._due.cancel()
        self._push()

    def close(self) -> None:
        """Stop listening; the notebook keeps the last rows."""
        self.statement.remove_listener(self._take)
        self.flush()
        self.widget.is_open = False

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)


def cell_text(value: Any) -> str:
    return clean("" if value is None else str(value))


def build_widget(name: str, columns: list[str]) -> Any:
    """Return a widget that shows rows of these columns, each with its time and sign; raise ImportError without anywidget."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise MissingPackage(f"live views need anywidget: {install('live')}") from error

    class Widget(anywidget.AnyWidget):
        """What the browser gets: texts only, which it shows as texts."""

        _esm = SCRIPT
        name = traitlets.Unicode().tag(sync=True)
        columns: Any = traitlets.List().tag(sync=True)
        rows: Any = traitlets.List().tag(sync=True)
        facts: Any = traitlets.Dict().tag(sync=True)
        is_open = traitlets.Bool(True).tag(sync=True)

    return Widget(name=clean(name), columns=[clean(each) for each in columns])


__all__ = ["LiveView", "build_widget", "cell_text"]
