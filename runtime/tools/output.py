"""What tools show: as text in a terminal, as HTML in a notebook, always escaped there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

import attrs

from epl.reprs import safe_str
from runtime.conversion.rows import Rows, table_html
from runtime.replay.epl_online import output_text
from runtime.tools.session import MOST_CALLS, DeploymentResult, WatchedCall

MOST_SHOWN = 200
"""The number of calls that are shown."""
WIDEST = 60
"""Characters of a cell in a terminal."""


@attrs.frozen(repr=False)
class Shown:
    """Text, and the same as HTML."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def plain(text: str) -> Shown:
    return Shown(text, f"<pre>{escape(text)}</pre>")


def output(calls: Sequence[WatchedCall], events: int, notes: Iterable[str] = ()) -> Shown:
    """Return what statements emitted, by time, as EPL Online shows it; ``notes`` after it."""
    texts, cells = [], []
    for at, group in groupby(calls[:MOST_SHOWN], key=lambda call: call.at):
        at_once = list(group)
        text = output_text(at, ((call.statement, call.new, call.old) for call in at_once))
        texts.append(text)
        when = escape(text.splitlines()[0].removeprefix("At: "))
        cells += [f"<tr><td>{when}</td><td>{escape(call.statement)}</td><td>{_rows(call.new)}</td><td>{_rows(call.old)}</td></tr>"
                  for call in at_once]  # fmt: skip
    counted = f"{events} event{'s' if events != 1 else ''}"
    more = len(calls) - MOST_SHOWN
    if not calls:
        texts.append(f"{counted}, no output")
    elif more > 0:
        texts.append(f"… {more} more{' or more' if len(calls) >= MOST_CALLS else ''}")
    head = "<tr><th>time</th><th>statement</th><th>insert stream</th><th>remove stream</th></tr>"
    html = f"<table><thead>{head}</thead><tbody>{''.join(cells)}</tbody></table>" if calls else f"<i>{counted}, no output</i>"
    html += f"<p>{texts[-1]}</p>" if more > 0 else ""
    warnings = [f"warning: {note}" for note in notes]
    return Shown("\n".join([*texts, *warnings]), html + "".join(f"<p>{escape(warning)}</p>" for warning in warnings))


def _rows(rows: Sequence[Mapping[str, Any]]) -> str:
    return table_html(rows) if rows else ""


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> Shown:
    """Return rows as a table."""
    shown = list(rows)
    names = list(dict.fromkeys([*columns, *(name for row in shown for name in row)]))
    if not shown:
        return Shown("no rows", table_html([]))
    cells = [names, *([_cell(row.get(name)) for name in names] for row in shown[:MOST_SHOWN])]
    widths = [max(len(row[place]) for row in cells) for place in range(len(names))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    more = [f"… {len(shown) - MOST_SHOWN} more rows"] if len(shown) > MOST_SHOWN else []
    return Shown("\n".join([*lines, *more]), table_html(shown if isinstance(rows, Rows) else shown[:MOST_SHOWN]))


def _cell(value: Any) -> str:
    text = "(null)" if value is None else safe_str(value)
    text = "".join(character if character.isprintable() else "·" for character in text)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def show_deployment(result: DeploymentResult) -> Shown:
    """Return the statements that were deployed, and what happened to others."""
    deployment = result.deployment
    rows = [
        {"statement": s.name, "kind": s.plan.kind, "columns": ", ".join(f"{name} {kind}" for name, kind in s.properties.items())}
        for s in deployment
    ]
    notes = [f"deployed again, with empty state: {', '.join(result.again)}"] if result.again else []
    shown = table(rows) if rows else plain("nothing to deploy")
    extra = [*notes, *(f"warning: {note}" for note in result.notes)]
    return Shown("\n".join([shown.text, *extra]), shown.html + "".join(f"<p>{escape(each)}</p>" for each in extra))


__all__ = ["Shown", "output", "plain", "show_deployment", "table"]
