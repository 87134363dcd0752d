"""Measure preparing a statement, instantiating it once more and beginning a new group: microseconds, and bytes that stay.

    python -m benchmarks.instances
"""
from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from time import perf_counter
from typing import Any

from benchmarks.workloads import LISTENED, WORKLOADS
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import Statement, internal_output
from runtime.build import prepare

COUNT = 200
RUNS = 9
SCHEMA = "@public @buseventtype create schema T(k int, x int);\n"
GROUPS = {
    "`#groupwin(k)#length(2)`": "@name('s0') select * from T#groupwin(k)#length(2)",
    "`#groupwin(k)#time(10 sec)`": "@name('s0') select * from T#groupwin(k)#time(10 sec)",
    "`group by k`, one sum": "@name('s0') select k, sum(x) as s from T group by k",
    "`group by k` of `#time(10 sec)`, one sum": "@name('s0') select k, sum(x) as s from T#time(10 sec) group by k",
}


def cost(make: Callable[[], Any]) -> tuple[float, float]:
    """(microseconds of the best run, bytes that stay) of one call."""
    make()
    times = []
    for _ in range(RUNS):
        gc.collect()
        began = perf_counter()
        kept = [make() for _ in range(COUNT)]
        times.append((perf_counter() - began) / COUNT)
        del kept
    gc.collect()
    tracemalloc.start()
    kept = [make() for _ in range(COUNT)]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] / len(kept)
    tracemalloc.stop()
    return min(times) * 1e6, size


def of_statement(runtime: Runtime, statement: Statement) -> tuple[tuple[float, float], tuple[float, float]]:
    """Of preparing with the first instance, and of each instance after it."""
    output, engine = internal_output(statement), internal_engine(runtime)
    core, environment = engine.core, output.prepared.environment

    def first() -> Any:
        fresh = engine.deployer.environment(dict(environment.parameters))
        return prepare(statement.plan, core, output.number, fresh, output).instantiate()

    return cost(first), cost(output.prepared.instantiate)


def of_keys(epl: str) -> tuple[float, float, float]:
    """(microseconds of an event of a known key, of one of a new key, bytes of a new key)."""
    times: dict[str, list[float]] = {"known": [], "new": []}
    for _ in range(RUNS):
        with Runtime(start_time=0, tier="row") as runtime:
            runtime.deploy(SCHEMA + epl)
            for kind in ("new", "known"):
                events = [{"k": n, "x": 1} for n in range(COUNT * 10)]
                gc.collect()
                began = perf_counter()
                for event in events:
                    runtime.send("T", event)
                times[kind].append((perf_counter() - began) / len(events))
    with Runtime(start_time=0, tier="row") as runtime:
        runtime.deploy(SCHEMA + epl)
        runtime.send("T", {"k": -1, "x": 1})
        gc.collect()
        tracemalloc.start()
        for n in range(COUNT * 10):
            runtime.send("T", {"k": n, "x": 1})
        gc.collect()
        size = tracemalloc.get_traced_memory()[0] / (COUNT * 10)
        tracemalloc.stop()
    return min(times["known"]) * 1e6, min(times["new"]) * 1e6, size


def main() -> None:
    print("| statement | first instance, µs | bytes | each further one, µs | bytes |\n|---|---:|---:|---:|---:|")
    for name, workload in WORKLOADS.items():
        with Runtime(tier="row") as runtime:
            statement = next(s for s in runtime.deploy(workload.module()) if LISTENED.fullmatch(s.name))
            (prepared, held), (instance, size) = of_statement(runtime, statement)
        print(f"| {name} {workload.title} | {prepared:.0f} | {held:,.0f} | {instance:.1f} | {size:,.0f} |")
    print("\n| groups | event of a known key, µs | of a new key, µs | bytes per key, with its event |\n|---|---:|---:|---:|")
    for title, epl in GROUPS.items():
        known, new, size = of_keys(epl)
        print(f"| {title} | {known:.1f} | {new:.1f} | {size:,.0f} |")


if __name__ == "__main__":
    main()
