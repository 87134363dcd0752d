"""Results as Markdown tables, and into the sections of docs/performance.md that hold them."""
from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.compiling import Took
from benchmarks.memory import Held
from benchmarks.resident import Grown
from benchmarks.scaling import AXES, Curve
from benchmarks.shapes import Compiled
from benchmarks.snapshots import Stored
from benchmarks.throughput import Result

GOALS = {"batch": 0, "row": 1}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that is readable as text."""
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(cells, widths))) + " |"

    rule = "|" + "|".join("-" * (w + 2) if k == 0 else "-" * (w + 1) + ":" for k, w in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def by_workload(results: Sequence[Result]) -> dict[str, dict[str, Result]]:
    results_by_engine: dict[str, dict[str, Result]] = {}
    for result in results:
        results_by_engine.setdefault(result.workload.name, {})[result.engine] = result
    return results_by_engine


# ------------------------------------------------------------------ throughput


def throughput(results: Sequence[Result]) -> str:
    """CPU time, wall time, ratios to Esper, notes."""
    measured = by_workload(results)
    engines = list(dict.fromkeys(r.engine for r in results))
    parts = ["ns per event, CPU time (Esper: of the sending thread):", _figures(measured, engines, "cpu")]
    if "esper" in engines:
        parts += ["Esper's CPU time / this engine's (in brackets: the goal):", _ratios(measured, engines, "cpu")]
        parts += ["Esper's CPU time, garbage collection and compilation in the background included / this engine's:"]
        parts += [_ratios(measured, engines, "process")]
    parts += ["ns per event, wall-clock time:", _figures(measured, engines, "wall"), "Notes:", _notes(results)]
    return "\n\n".join(parts)


def _figures(measured: dict[str, dict[str, Result]], engines: Sequence[str], what: str) -> str:
    rows = []
    for name, by_engine in measured.items():
        some = next((r for r in by_engine.values() if r.runs), None)
        rows_per_event = number(some.runs[0].rows / some.runs[0].events) if some else "-"
        title = next(iter(by_engine.values())).workload.title
        rows.append([f"{name} {title}", rows_per_event, *(_figure(by_engine.get(e), what) for e in engines)])
    return table(["workload", "rows / event", *engines], rows)


def _figure(result: Result | None, what: str) -> str:
    return number(getattr(result, what)) if result is not None and result.runs else "-"


def _ratios(measured: dict[str, dict[str, Result]], engines: Sequence[str], what: str) -> str:
    others = [e for e in engines if e != "esper"]
    rows = []
    for name, by_engine in measured.items():
        esper = by_engine.get("esper")
        cells = []
        for engine in others:
            result = by_engine.get(engine)
            if esper is None or not esper.runs or result is None or not result.runs:
                cells.append("-")
                continue
            goal = result.workload.goals[GOALS[engine]] if engine in GOALS and what == "cpu" else None
            cells.append(number(getattr(esper, what) / getattr(result, what)) + (f" ({goal:g})" if goal is not None else ""))
        rows.append([name, *cells])
    return table(["workload", *others], rows)


def _notes(results: Sequence[Result]) -> str:
    by_note: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if result.note:
            by_note.setdefault((result.engine, result.note), []).append(result.workload.name)
    lines = [f"- {engine}, {', '.join(names)}: {note}" for (engine, note), names in by_note.items()]
    lines += [
        f"- {r.workload.name} {r.engine}: from {number(r.spread[0])} to {number(r.spread[1])} ns CPU"
        for r in results if r.runs and r.spread[1] > 1.3 * r.spread[0]
    ]
    return "\n".join(lines or ["- none"])


# ------------------------------------------------------------------ the other parts


def memory(results: Sequence[Held]) -> str:
    """Bytes an event by statement and engine."""
    engines = list(dict.fromkeys(h.engine for h in results))
    sizes = {(h.statement, h.engine): f"{h.bytes_per_event:,.0f}" for h in results if h.bytes_per_event is not None}
    rows = [[s, *(sizes.get((s, e), "-") for e in engines)] for s in dict.fromkeys(h.statement for h in results)]
    notes = sorted({f"{h.engine}: {h.note}" for h in results if h.note})
    return f"Bytes per retained event:\n\n{table(['statement', *engines], rows)}\n\n{'; '.join(notes)}."


def resident(results: Sequence[Grown]) -> str:
    """Megabytes after each tenth of the events."""
    rows = [[g.workload, g.engine, f"{g.events:,}", *(f"{m:,}" for m in g.megabytes), g.note] for g in results]
    head = ["workload", "engine", "events", *map(str, range(1, 11)), ""]
    return "Megabytes of the process after each tenth of the events:\n\n" + table(head, rows)


def snapshots(results: Sequence[Stored]) -> str:
    """Bytes of snapshots after two numbers of events."""
    rows = [[s.workload, s.title, *(f"{size:,}" for size in s.sizes.values())] for s in results]
    head = ["workload", "statement", *(f"{events:,} events" for events in results[0].sizes)]
    return "Bytes of a snapshot in the row tier:\n\n" + table(head, rows)


def scaling(curves: Sequence[Curve]) -> str:
    """Slopes, and the points behind them."""
    parts = []
    for axis in AXES:
        some = [c for c in curves if c.axis.name == axis.name]
        if not some:
            continue
        rows = []
        for curve in some:
            points = dict(curve.points)
            rows.append([curve.engine, *(number(points[s]) if s in points else "-" for s in axis.sizes), f"{curve.slope:.2f}"])
        parts.append(f"By {axis.title}:\n\n" + table(["ns/event CPU", *(f"{s:,}" for s in axis.sizes), "slope"], rows))
    return "\n\n".join(parts)


def compiling(results: Sequence[Took]) -> str:
    """Milliseconds, first and warm."""
    rows = [[t.what, number(t.first), number(t.warm) if t.warm else "-"] for t in results]
    return "Milliseconds:\n\n" + table(["what", "first / cold", "warm"], rows)


def shapes(results: Sequence[Compiled]) -> str:
    """CPU seconds, cold and kept, the slowest first."""
    rows = [[c.shape, f"{c.cold:.2f}", f"{c.kept:.2f}"] for c in sorted(results, key=lambda c: -c.cold)]
    return "CPU seconds:\n\n" + table(["shape", "cold", "from the cache folder"], rows)


# ------------------------------------------------------------------ the document


def replaced(document: str, part: str, text: str) -> str:
    """The document with what stands between ``<!-- part -->`` and ``<!-- /part -->`` replaced; raises ValueError where they are missing."""
    begin, end = f"<!-- {part} -->", f"<!-- /{part} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"the document has no section {begin} … {end}")
    return pattern.sub(lambda _: f"{begin}\n{text}\n{end}", document)


__all__ = ["by_workload", "compiling", "memory", "number", "replaced", "resident", "scaling", "shapes", "snapshots", "table", "throughput"]
