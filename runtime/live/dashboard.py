"""Prometheus text of a runtime or a job as a dashboard for terminals (``epl top``), by rich."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from runtime.explain.labels import clean
from runtime.extras import install

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_ROWS = 40
"""Values with labels that a table shows: those with the largest numbers."""
Labels = tuple[tuple[str, str], ...]
Key = tuple[str, Labels]


@attrs.frozen
class Reading:
    """What a runtime said at one moment: values by name and labels. ``counters``: names of those that only grow."""

    values: Mapping[Key, float]
    counters: frozenset[str]
    texts: Mapping[str, str]


def missing() -> str:
    """Return the message where a package of ``epl top`` is missing."""
    return f"epl top needs rich and prometheus-client: {install('top')}"


def reading(text: str) -> Reading:
    """Parse Prometheus text; only metrics whose names begin with ``epl`` count. Raise ValueError for another text, ImportError without
    prometheus-client."""
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError as error:
        raise ImportError(missing()) from error
    values: dict[Key, float] = {}
    counters: set[str] = set()
    texts: dict[str, str] = {}
    for family in text_string_to_metric_families(text):
        if not family.name.startswith("epl"):
            continue
        texts[family.name] = family.documentation
        for sample in family.samples:
            if sample.name.endswith(("_created", "_bucket")):
                continue
            name = sample.name.removesuffix("_total")
            values[name, tuple(sorted(sample.labels.items()))] = sample.value
            texts.setdefault(name, family.documentation)
            if family.type == "counter":
                counters.add(name)
    return Reading(values, frozenset(counters), texts)


def rates(now: Reading, before: Reading | None, seconds: float) -> dict[Key, float]:
    """Return what each counter has grown a second; nothing for one that began again."""
    if before is None or seconds <= 0:
        return {}
    return {
        key: (value - before.values[key]) / seconds
        for key, value in now.values.items() if key[0] in now.counters and value >= before.values.get(key, float("inf"))
    }


def dashboard(now: Reading, before: Reading | None = None, seconds: float = 0.0, source: str = "") -> RenderableType:
    """Return what ``rich`` prints: totals with their rates, the statements that are measured, those that take most time first, then a table
    for each other metric with labels. Raise ImportError without rich."""
    try:
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text
    except ImportError as error:
        raise ImportError(missing()) from error
    growth = rates(now, before, seconds)
    parts: list[RenderableType] = [Text(clean(source), style="bold")] if source else []
    plain = [key for key in now.values if not key[1]]
    totals = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title, justify in (("metric", "left"), ("now", "right"), ("per second", "right"), ("", "left")):
        totals.add_column(title, justify=justify)  # type: ignore[arg-type]  # rich's own literal
    for key in plain:
        name = key[0].removeprefix("epl_")
        totals.add_row(Text(clean(name)), number_text(now.values[key]), _rate(growth.get(key)), Text(clean(now.texts.get(key[0], ""))))
    if plain:
        parts.append(totals)
    statements = {key[1][:2] for key in now.values if key[0] == "epl_statement_seconds"}
    if statements:
        parts.append(_statements(now, growth, statements))
    for name in dict.fromkeys(key[0] for key in now.values if key[1]):
        if not (name.startswith("epl_statement_") or name == "epl_window_rows") or not statements:
            parts.append(_by_label(now, growth, name))
    if not now.values:
        parts.append(Text("no metrics of an EPL runtime", style="italic"))
    return Group(*parts)


def _statements(now: Reading, growth: Mapping[Key, float], statements: set[Labels]) -> RenderableType:
    """Return a row for each measured statement. ``busy``: the share of the time between two looks that its operators took."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title="statements", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("statement", "deployment"):
        table.add_column(title)
    for title in ("events", "per second", "new rows", "old rows", "timers", "seconds", "busy", "in windows"):
        table.add_column(title, justify="right")

    def seconds(labels: Labels) -> tuple[float, float]:
        key = ("epl_statement_seconds", labels)
        return -growth.get(key, 0.0), -now.values[key]

    def value(name: str, labels: Labels) -> str:
        return number_text(now.values.get((name, labels), 0.0))

    for labels in sorted(statements, key=lambda each: (seconds(each), each))[:MOST_ROWS]:
        share = growth.get(("epl_statement_seconds", labels))
        named = dict(labels)
        table.add_row(
            Text(clean(named.get("statement", ""))), Text(clean(named.get("deployment", ""))), value("epl_statement_events", labels),
            _rate(growth.get(("epl_statement_events", labels))), value("epl_statement_rows", (*labels, ("stream", "new"))),
            value("epl_statement_rows", (*labels, ("stream", "old"))), value("epl_statement_timers", labels),
            number_text(round(now.values["epl_statement_seconds", labels], 3)), "" if share is None else f"{share:.1%}",
            value("epl_window_rows", labels))
    if len(statements) > MOST_ROWS:
        table.add_row(f"… {len(statements) - MOST_ROWS} more")
    return table


def _by_label(now: Reading, growth: Mapping[Key, float], name: str) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    keys = sorted((key for key in now.values if key[0] == name and key[1]), key=lambda key: (-now.values[key], key[1]))
    labels = list(dict.fromkeys(label for key in keys for label, _ in key[1]))
    table = Table(title=Text(clean(name.removeprefix("epl_"))), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for label in labels:
        table.add_column(Text(clean(label)))
    table.add_column("now", justify="right")
    if name in now.counters:
        table.add_column("per second", justify="right")
    for key in keys[:MOST_ROWS]:
        cells = [Text(clean(dict(key[1]).get(label, ""))) for label in labels]
        table.add_row(*cells, number_text(now.values[key]), *([_rate(growth.get(key))] if name in now.counters else []))
    if len(keys) > MOST_ROWS:
        table.add_row(f"… {len(keys) - MOST_ROWS} more")
    return table


def _rate(rate: float | None) -> str:
    return "" if rate is None else number_text(round(rate, 1))


def number_text(value: float) -> str:
    """
    >>> number_text(1234567.0), number_text(0.25), number_text(12.0)
    ('1,234,567', '0.25', '12')
    """
    return f"{int(value):,}" if value == value // 1 and abs(value) < 1e18 else f"{value:,.6g}"


__all__ = ["Reading", "dashboard", "number_text", "rates", "reading"]
