"""How the cost of an event grows with the window, the number of keys, and the number of statements."""
from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from benchmarks.data import KEYS, Data
from benchmarks.engine import Engine, Prepared
from benchmarks.throughput import measure
from benchmarks.workloads import WORKLOADS, Workload, filters, joined, sliding

MOST_EVENTS = 100_000
REPETITIONS = 2
"""A point of a curve is measured with that many events at most, that many times."""
STATEMENTS_OF_ESPER = 1_000
"""Esper compiles some tens of statements a second: its curve ends here."""
SUMS = "@name('s0') select symbol, sum(volume) as s from Trade group by symbol"


@attrs.frozen
class Axis:
    """``workload(size)``; ``keys(size)``: symbols in the data; ``fill(size)``: events that come first, so that state has its size."""

    name: str
    title: str
    sizes: tuple[int, ...]
    workload: Callable[[int], Workload]
    keys: Callable[[int], int]
    fill: Callable[[int], int]


AXES = (
    Axis(
        "window", "rows in the window: avg, max on #length", (100, 1_000, 10_000, 100_000, 1_000_000),
        lambda size: attrs.evolve(WORKLOADS["W4"], name=f"#length({size})", epl=sliding(size)), lambda size: KEYS, lambda size: size,
    ),
    Axis(
        "join", "rows in each of two joined windows: as many keys, one match an event", (100, 1_000, 10_000, 100_000, 1_000_000),
        lambda size: attrs.evolve(WORKLOADS["W8"], name=f"join of #length({size})", epl=joined(size)), lambda size: size,
        lambda size: 2 * size,
    ),
    Axis(
        "keys", "keys: sum by symbol", (100, 1_000, 10_000, 100_000, 1_000_000),
        lambda size: attrs.evolve(WORKLOADS["W10"], name=f"{size} keys", epl=SUMS, moves=False), lambda size: size, lambda size: size,
    ),
    Axis(
        "partitions", "keys: match_recognize A B+ C by symbol", (100, 1_000, 10_000, 100_000, 1_000_000),
        lambda size: attrs.evolve(WORKLOADS["W5all"], name=f"{size} partitions"), lambda size: size, lambda size: size,
    ),
    Axis(
        "statements", "statements: filters of one shape", (1, 10, 100, 1_000, 10_000),
        lambda size: attrs.evolve(WORKLOADS["W7"], name=f"{size} statements", epl=filters(size, KEYS, 990)), lambda size: KEYS,
        lambda size: 0,
    ),
)


@attrs.frozen
class Curve:
    """ns an event, CPU time, by size."""

    axis: Axis
    engine: str
    points: tuple[tuple[int, float], ...]

    @property
    def slope(self) -> float:
        """Of the line through the points, both axes logarithmic: 0 is constant cost, 1 is cost in proportion to the size."""
        xs = [math.log10(size) for size, _ in self.points]
        ys = [math.log10(cost) for _, cost in self.points]
        x, y = sum(xs) / len(xs), sum(ys) / len(ys)
        spread = sum((v - x) ** 2 for v in xs)
        return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / spread if spread else 0.0


def curves(engines: Mapping[str, Engine], events: int, report_progress: Callable[[str], None]) -> Iterator[Curve]:
    """Every axis, with sizes up to ``events`` (statements: up to a twentieth of that)."""
    for axis in AXES:
        limit = events // 20 if axis.name == "statements" else events
        sizes = [size for size in axis.sizes if size <= limit]
        yield from _axis(axis, engines, min(events, MOST_EVENTS), sizes, report_progress)


def _axis(
    axis: Axis, engines: Mapping[str, Engine], events: int, sizes: Sequence[int], report_progress: Callable[[str], None],
) -> Iterator[Curve]:
    points: dict[str, list[tuple[int, float]]] = {name: [] for name in engines}
    for size in sizes:
        some = dict(engines)
        if axis.name == "statements" and size > STATEMENTS_OF_ESPER:
            some.pop("esper", None)
        warm_up = max(axis.fill(size), events)
        with prepared(some, Data(warm_up + REPETITIONS * events, axis.keys(size))):
            for result in measure(axis.workload(size), some, events, warm_up, report_progress, REPETITIONS):
                if result.runs:
                    points[result.engine].append((size, result.cpu))
    return (Curve(axis, name, tuple(curve)) for name, curve in points.items() if curve)


@contextmanager
def prepared(engines: Mapping[str, Engine], data: Data, batch_rows: int = 100_000) -> Iterator[None]:
    """The engines with other events."""
    with tempfile.TemporaryDirectory() as folder:
        data.write(Path(folder))
        for engine in engines.values():
            engine.prepare(Prepared(data, Path(folder), batch_rows))
        yield


__all__ = ["AXES", "Axis", "Curve", "curves", "prepared"]
