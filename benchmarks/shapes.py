"""How much CPU time the kernel of each shape of statement takes to compile, with nothing in the cache folder, and to load from there.

``python -m benchmarks.shapes`` measures in this process and prints the seconds of each as JSON.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs

ROOT = Path(__file__).resolve().parent.parent
ROWS = 4_000
"""Enough for the first batch to be worth compiling."""

FIRST = "select price from Trade(volume = 1)"
PATTERN = "select * from Trade{window} match_recognize (partition by symbol measures {measures} {rest})"
WINDOW, LENGTH = "Trade#time(10 sec)", "Trade#length(100)"
SHAPES = {
    "filter": "select symbol, price from Trade(price > 990)",
    "sum of all": "select count(*) as c, sum(volume) as s from Trade",
    "length window": "select avg(price) as a, max(price) as m from Trade#length(1000)",
    "unique window": "select irstream symbol, sum(price) as s from Trade#unique(symbol)",
    "groups": f"select symbol, avg(price) as a, sum(volume) as s, count(*) as c from {WINDOW} group by symbol",
    "groups, remove stream, having": f"select irstream symbol, avg(price) as a, max(price) as m, count(*) as c from {WINDOW} "
    "group by symbol having count(*) > 1",
    "time_batch, many aggregations, order": "select irstream symbol, first(price) as f, last(price) as l, stddev(price) as d, "
    "min(price) as mi, max(price) as ma from Trade#time_batch(1 sec) group by symbol order by symbol limit 100",
    "output every": f"select irstream symbol, avg(price) as a, sum(volume) as s from {WINDOW} group by symbol output every 1 sec",
    "output all, remove stream": f"select irstream symbol, avg(price) as a, sum(volume) as s, count(*) as c from {WINDOW} group by symbol "
    "output all every 1 sec",
    "output all, groups and events": f"select irstream symbol, volume, sum(price) as a from {LENGTH} group by symbol "
    "output all every 1 sec",
    "output last": f"select irstream symbol, avg(price) as a, sum(volume) as s from {WINDOW} group by symbol output last every 1 sec",
    "output first": f"select irstream symbol, avg(price) as a, sum(volume) as s from {WINDOW} group by symbol having sum(volume) > 10 "
    "output first every 1 sec",
    "output snapshot": f"select symbol, avg(price) as a, sum(volume) as s from {WINDOW} group by symbol output snapshot every 1 sec",
    "aggregations with group_by": "select irstream symbol, volume, sum(price, group_by: symbol) as a, sum(price, group_by: volume) as b, "
    f"count(*, group_by: ()) as c from {LENGTH} group by symbol, volume",
    "aggregations with group_by, output every": "select irstream symbol, volume, sum(price, group_by: symbol) as a, "
    f"sum(price, group_by: volume) as b, count(*, group_by: ()) as c from {LENGTH} group by symbol, volume output every 1 sec",
    "rollup": "select symbol, volume, sum(price) as s from Trade group by rollup(symbol, volume)",
    "rollup, window": f"select irstream symbol, volume, sum(price) as s, count(*) as c from {WINDOW} group by rollup(symbol, volume)",
    "rollup, window, output every": f"select irstream symbol, volume, sum(price) as s, count(*) as c from {WINDOW} "
    "group by rollup(symbol, volume) output every 1 sec",
    "cube of two, window, output every": f"select irstream symbol, volume, sum(price) as s, avg(price) as c from {LENGTH} "
    "group by cube(symbol, volume) output every 1 sec",
    "cube of three, window": f"select irstream symbol, volume, sum(price) as s, max(price) as c from {WINDOW} "
    "group by cube(symbol, volume, price)",
    "cube of three, window, output every": f"select irstream symbol, volume, sum(price) as s, max(price) as c from {WINDOW} "
    "group by cube(symbol, volume, price) output every 1 sec",
    "row pattern A B+ C": PATTERN.format(window="", measures="A.price as ap, last(B.price) as bp, C.price as cp",
                                         rest="pattern (A B+ C) define A as A.price < 10, B as B.price > prev(B.price), C as C.price < 5"),
    "row pattern A B C D, window": PATTERN.format(
        window="#time(10 sec)", measures="A.volume as a, B.volume as b, C.volume as c, D.volume as d",
        rest="pattern (A B C D) define B as B.price > A.price, C as C.price > B.price, D as D.price > C.price"),
    "row pattern, all matches": PATTERN.format(
        window="", measures="A.price as ap, last(B.price) as bp all matches after match skip to next row",
        rest="pattern (A (B|C)+ D) define A as A.price < 100, B as B.price > prev(B.price), C as C.price < 10, D as D.price > 900"),
    "row pattern, interval": PATTERN.format(
        window="", measures="A.price as ap, last(B.price) as bp, count(B.price) as n",
        rest="pattern (A B*) interval 1 sec define A as A.price < 100, B as B.price > 100"),
    "row pattern, interval or terminated": PATTERN.format(
        window="", measures="A.price as ap, last(B.price) as bp, C.price as cp",
        rest="pattern (A B* C?) interval 1 sec or terminated define A as A.price < 100, B as B.price > 100, C as C.price > 990"),
}


@attrs.frozen
class Compiled:
    """CPU seconds of a shape's first batch, beyond what the second one takes."""

    shape: str
    cold: float
    kept: float


def in_this_process() -> dict[str, float]:
    """By shape; a first statement pays for what is made once a process."""
    _seconds(FIRST)
    return {shape: _seconds(text) for shape, text in SHAPES.items()}


def _seconds(text: str) -> float:
    from benchmarks.data import Data
    from runtime import Runtime

    took = []
    with Runtime(tier="batch") as runtime:
        runtime.deploy("@public @buseventtype create schema Trade(symbol string, price double, volume int)")
        runtime.deploy(f"@name('s0') {text}")
        runtime.statement("s0").add_batch_listener(lambda *_: None)
        for batch in Data(2 * ROWS).batches("trade", 0, 2 * ROWS, ROWS, True):
            began = time.process_time()
            runtime.send_batch("Trade", batch, time="ts")
            took.append(time.process_time() - began)
    return took[0] - took[1]


def measured() -> list[Compiled]:
    """All shapes, in one process with an empty folder and in one with what that has left there."""
    with tempfile.TemporaryDirectory() as cache:
        cold, kept = _in_a_process(cache), _in_a_process(cache)
    return [Compiled(shape, cold[shape], kept[shape]) for shape in cold]


def _in_a_process(cache: str) -> dict[str, float]:
    environment = {**os.environ, "EPL_CACHE_DIR": cache}
    command = [sys.executable, "-m", "benchmarks.shapes"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environment)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


if __name__ == "__main__":
    print(json.dumps(in_this_process()))

__all__ = ["SHAPES", "Compiled", "measured"]
