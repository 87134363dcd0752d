"""How long it takes until a statement runs: parsing, planning, and the batch tier's kernels, cold (nothing in the cache folder) and warm.

``python -m benchmarks.compiling kernels`` deploys every workload in this process and prints the milliseconds of each.
"""
from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import attrs

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 100

SCHEMA = "create schema Trade(symbol string, price double, volume int);\n"
AGGREGATED = """@name('s0') select symbol, count(*) as trades, sum(price * volume) / sum(volume) as vwap, max(price) - min(price) as spread
from Trade(price > 10 and volume between 5 and 500)#time(30 sec)
where symbol like 'S%' group by symbol having count(*) > {number} order by symbol"""
TEXTS = {
    "a filter": "select * from Trade where price > {number}",
    "aggregation, 300 characters": AGGREGATED,
    "match_recognize, 350 characters": """select * from TemperatureSensorEvent#time(10 sec) match_recognize (partition by device
measures A.id as a_id, count(B.id) as count_b, first(B.id) as first_b, C.id as c_id, last(B.temp) as last_temp after match skip to next row
pattern (A B* C) define A as A.temp < 50, B as B.temp between 50 and 60 and B.temp > prev(B.temp), C as C.temp > {number})""",
    "pattern, 300 characters": """select a.id as id, b.price as price from pattern [every a=Trade(price > {number}, side = 'B')
-> ([2:4] c=Fill(id = a.id) until (b=Cancel(id = a.id) or timer:interval(10 sec))) where timer:within(1 min)]
where a.price < coalesce(b.price, 0) and not exists (select * from Halts#lastevent as h where h.symbol = a.symbol)""",
}
"""Each with a number that changes, so that no cache knows the text."""


@attrs.frozen
class Took:
    """Milliseconds: the first time in a process (or with an empty cache folder), and after that."""

    what: str
    first: float
    warm: float


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def in_this_process() -> list[Took]:
    """Parsing, and parsing with planning. In a fresh process the first figure holds what is made once (imports, the grammar)."""
    timings = []
    began = time.perf_counter()
    from epl.parse import parse_module
    from runtime import Runtime

    imported = (time.perf_counter() - began) * 1000
    timings.append(Took("import runtime", imported, 0.0))
    for name, text in TEXTS.items():
        parses = [_timed(lambda text=text, k=k: parse_module(text.replace("{number}", str(k)))) for k in range(ROUNDS)]  # type: ignore[misc]
        timings.append(Took(f"parse {name}", parses[0], statistics.median(parses[1:])))
    with Runtime() as runtime:
        runtime.deploy(SCHEMA)
        plans = [_timed(lambda k=k: runtime.compile(AGGREGATED.replace("{number}", str(k)))) for k in range(ROUNDS)]  # type: ignore[misc]
        timings.append(Took("parse and plan the aggregation", plans[0], statistics.median(plans[1:])))
    return timings


def kernels() -> dict[str, float]:
    """By workload the milliseconds of deploying it and of its first batch, behind a first statement that pays for what is made once."""
    from benchmarks.data import Data
    from benchmarks.engines.batch import BatchSession
    from benchmarks.workloads import WORKLOADS, Column, Workload

    data = Data(2_000)
    touched = Column("price", "touch")
    first = Workload("first", "", "@name('s0') select price from Trade(volume = 1)", (touched, touched))

    def start(workload: Workload) -> float:
        began = time.perf_counter()
        session = BatchSession(workload, data, 1_000, True, tier="batch")
        deployed = time.perf_counter() - began
        milliseconds = deployed * 1000 + session.run(0, 1_000).wall_ns / 1e6
        session.close()
        return milliseconds

    start(first)
    seconds = {}
    for name, workload in WORKLOADS.items():
        try:
            seconds[name] = start(workload)
        except Exception as error:  # noqa: BLE001 - the others continue; the message is printed
            print(f"{name} is skipped: {type(error).__name__}: {error}", file=sys.stderr)
    return seconds


def _kernels_in_a_process(cache: str) -> dict[str, float]:
    environment = {**os.environ, "EPL_CACHE_DIR": cache}
    command = [sys.executable, "-m", "benchmarks.compiling", "kernels"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environment)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def first_and_warm() -> list[Took]:
    """Everything, each in processes of its own."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.compiling", "texts"], capture_output=True, text=True, check=True, cwd=ROOT)
    texts = [Took(*each) for each in json.loads(done.stdout)]
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = _kernels_in_a_process(cache), _kernels_in_a_process(cache)
    return texts + [Took(f"{name}: deploy, first batch", cold[name], warm[name]) for name in cold if name in warm]


if __name__ == "__main__":
    print(json.dumps(kernels() if sys.argv[1] == "kernels" else [attrs.astuple(t) for t in in_this_process()]))

__all__ = ["Took", "first_and_warm"]
