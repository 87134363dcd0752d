"""Nanoseconds an event of match_recognize alone, no runtime around it: ``python benchmarks/bench_row_recognition.py``."""
from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.match_recognize.row_harness import Matching, row
from windows.event import Event

PATTERN = "partition by k measures A.id as a, count(B.v) as n, C.id as c pattern (A B+ C) define "
CLAUSES = {
    "A B+ C selective (1 in 100 starts)": (PATTERN + "A as A.v = 1, B as B.v = 2, C as C.v = 3", 100),
    "A B+ C dense (1 in 4 starts)": (PATTERN + "A as A.v = 1, B as B.v = 2, C as C.v = 3", 4),
    "A B+ C looking back": (PATTERN + "A as A.v = 1, B as B.v > A.v, C as C.v > B[0].v", 100),
    "A B+ C with prev": (PATTERN + "A as A.v = 1, B as B.v > prev(B.v), C as C.v < prev(C.v)", 100),
}


class Nobody:
    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        pass


def measure(clause: str, values: int, count: int = 200_000) -> float:
    """ns an event."""
    chance = random.Random(1)
    keys = [f"k{n}" for n in range(50)]
    rows = [row(f"E{n}", chance.randint(1, values), chance.choice(keys)) for n in range(count)]
    running = Matching(clause, has_window=False)
    running.operator.child = Nobody()
    update = running.operator.update
    started = time.perf_counter()
    for event in rows:
        update((event,), ())
    return (time.perf_counter() - started) / count * 1e9


if __name__ == "__main__":
    for title, (clause, values) in CLAUSES.items():
        print(f"{title:40} {min(measure(clause, values) for _ in range(3)):8.0f} ns")
