"""Cost of starting and stopping a filter, and of an event, with 10, 1,000 and 100,000 active: docs/design/filters.md.

    python benchmarks/filter_changes.py
"""
from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.filters.lookup import bind_filters
from epl.analysis.filters.specifications import filter_specification
from epl.parse import parse_expression
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.event_loop.prepared_filters import PreparedFilter
from runtime.expressions import Environment

SCHEMAS = """
    @public @buseventtype create schema Began(id string, k int, x double, y double);
    @public @buseventtype create schema Reading(id string, k int, x double);
"""
SIZES = (10, 1_000, 100_000)
RUNS = 25

Shape = tuple[str, Callable[[int, int], tuple[Any, ...]], Callable[[int, int], dict[str, Any]]]
SHAPES: Sequence[Shape] = (  # condition; values of entry n of so many; an event that one entry matches
    ("e.id = a.id", lambda n, size: (f"s{n}",), lambda n, size: {"id": f"s{n}", "k": 1, "x": 1.0}),
    ("e.id = a.id and e.k = a.k", lambda n, size: (f"s{n}", n % 7), lambda n, size: {"id": f"s{n}", "k": n % 7, "x": 1.0}),
    ("e.x = a.x", lambda n, size: (float(n),), lambda n, size: {"id": "", "k": 1, "x": float(n)}),
    ("e.x > a.x", lambda n, size: (float(n),), lambda n, size: {"id": "", "k": 1, "x": 0.5}),
    ("e.x between a.x and a.y", lambda n, size: (float(n), n + 0.9), lambda n, size: {"id": "", "k": 1, "x": n + 0.5}),
    ("e.k = a.k and e.x > a.x", lambda n, size: (n % (size // 5), float(n)), lambda n, size: {
        "id": "", "k": n % (size // 5), "x": n % (size // 5) + 0.5}),
)


class Target:
    """Takes events and does nothing with them."""

    def receive(self, event: Any) -> None:
        pass


def prepared(rt: Runtime, condition: str) -> PreparedFilter:
    event_type = rt.event_type("Reading")
    scope = Scope(internal_engine(rt).catalog(), (ScopeStream("e", event_type), ScopeStream("a", rt.event_type("Began"))), "filter")
    specification = filter_specification(event_type, bind_filters((parse_expression(condition),), scope))
    return internal_engine(rt).core.filters.prepare(specification, Environment(), "s", (0, 1, 0))


def measured(rt: Runtime, shape: Shape, size: int) -> tuple[float, float, float]:
    """Microseconds of an activation, a deactivation, an event: the best run of each."""
    condition, values, event = shape
    prepared_filter, target = prepared(rt, condition), Target()
    rows = [values(n, size) for n in range(size)]
    random.Random(1).shuffle(rows)
    active = [prepared_filter.activate(row, target) for row in rows]
    events = [event(n, size) for n in range(min(size, 2_000))]
    changed = random.Random(2).sample(range(size), min(size, 2_000))
    gc.collect()
    gc.freeze()  # full passes of the collector are not the filters' cost
    starts, stops, sends = [], [], []
    for _ in range(RUNS):
        some, again = [active[n] for n in changed], [rows[n] for n in changed]
        began = perf_counter()
        for each in some:
            each.deactivate()
        stopped = perf_counter()
        fresh = [prepared_filter.activate(row, target) for row in again]
        started = perf_counter()
        for n, each in zip(changed, fresh):
            active[n] = each
        sent = perf_counter()
        for each_event in events:
            rt.send("Reading", each_event)
        sends.append((perf_counter() - sent) / len(events))
        stops.append((stopped - began) / len(changed))
        starts.append((started - stopped) / len(changed))
    for each in active:
        each.deactivate()
    prepared_filter.close()
    return min(starts) * 1e6, min(stops) * 1e6, min(sends) * 1e6


def main() -> None:
    with Runtime(tier="row") as rt:
        rt.deploy(SCHEMAS)
        print("| filter | activate: 10 / 1,000 / 100,000 | deactivate | event |\n|---|---|---|---|")
        for shape in SHAPES:
            figures = zip(*(measured(rt, shape, size) for size in SIZES))
            print(f"| `{shape[0]}` | " + " | ".join(" / ".join(f"{figure:.2f}" for figure in each) for each in figures) + " |")


if __name__ == "__main__":
    main()
