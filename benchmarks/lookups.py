"""Measure look-ups by key beside windows of 100 and of 1,000,000 rows, and queries on demand: docs/performance.md.

    python -m benchmarks.lookups

Each kind of look-up runs with keys that are drawn in two ways: ``few``, of 100 rows wherever they are, so that the processor's caches hold
what is read; ``all``, of all rows, so that each look-up reads memory that nothing has read for long. Beside them, in the same run and with
the same keys, a dict of as many rows is read. Sizes take turns; figures are medians of five.
"""
from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Any

from runtime import Runtime

SIZES = (100, 1_000_000)
COUNT = 10_000
RUNS = 5
FEW = 100

SCHEMA = """
create schema Trade(k string, n long, price double);
create schema Ask(k string, n long);
create schema Total(k string);
create window W#keepall as Trade;
insert into W select * from Trade;
create table T(k string primary key, price sum(double));
into table T select sum(price) as price from Trade group by k;
create index ByNumber on W(n btree);
"""
STATEMENTS = {
    "`on Ask select … where w.k = a.k`": "on Ask as a select w.price as x from W as w where w.k = a.k",
    "`on … where w.k = a.k and w.n = a.n`": "on Ask as a select w.price as x from W as w where w.k = a.k and w.n = a.n",
    "join, unidirectional": "select w.price as x from Ask as a unidirectional, W as w where w.k = a.k",
    "sub-query": "select (select w.price from W as w where w.k = a.k) as x from Ask as a",
    "`T[k].price` of a table": "select T[k].price as x from Ask",
}
PREPARED = "prepared query, `where k = ?`"
TEXT = "select price from W where k = '{}'"

Look = Callable[[Sequence[int]], None]


class Row:
    """A row of the dict that is read beside."""

    __slots__ = ("k", "n", "price")

    def __init__(self, number: int) -> None:
        self.k, self.n, self.price = f"key{number}", number, number / 64


class Filled:
    """A window and a table of so many rows, which came in random order, and what looks them up."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.runtime = Runtime(tier="row")
        self.runtime.deploy(SCHEMA)
        numbers = list(range(size))
        random.Random(1).shuffle(numbers)
        for number in numbers:
            self.runtime.send("Trade", {"k": f"key{number}", "n": number, "price": number / 64})
        self.rows = {row.k: row for row in map(Row, numbers)}
        self.query = self.runtime.prepare_query("select price from W where k = ?::string")
        self.few = random.Random(2).sample(range(size), FEW)
        self.total = 0.0

    def keys(self, few: bool, seed: int) -> list[int]:
        """Numbers of the rows that are looked up."""
        drawn = random.Random(seed)
        return [drawn.choice(self.few) if few else drawn.randrange(self.size) for _ in range(COUNT)]

    def add(self, new: Sequence[Any], old: Sequence[Any], *_: Any) -> None:
        for row in new:
            self.total += row.x

    def by_statement(self, events: Sequence[dict[str, Any]]) -> None:
        send = self.runtime.send
        for event in events:
            send("Ask", event)

    def by_query(self, events: Sequence[dict[str, Any]]) -> None:
        execute = self.query.execute
        for event in events:
            for row in execute([event["k"]]):
                self.total += row.price

    def by_dict(self, events: Sequence[dict[str, Any]]) -> None:
        rows = self.rows
        for event in events:
            self.total += rows[event["k"]].price


def timed(look: Callable[[Sequence[dict[str, Any]]], None], numbers: Sequence[int]) -> float:
    """Return the ns of a look-up; keys are new strings, as those of events are."""
    events = [{"k": f"key{number}", "n": number} for number in numbers]
    began = process_time()
    look(events)
    return (process_time() - began) / len(numbers) * 1e9


def measured(filled: Sequence[Filled], look: Callable[[Filled], Any]) -> dict[bool, list[float]]:
    """Few? → ns by size."""
    times: dict[tuple[bool, int], list[float]] = {}
    for run in range(RUNS):
        for few in (True, False):
            for each in filled:
                times.setdefault((few, each.size), []).append(timed(look(each), each.keys(few, run)))
    return {few: [median(times[few, each.size]) for each in filled] for few in (True, False)}


def line(title: str, times: dict[bool, list[float]]) -> str:
    cells = [f"{ns:,.0f}" for ns in (times[False][0], times[True][1], times[False][1])]
    ratios = [times[True][1] / times[True][0], times[False][1] / times[False][0]]
    return f"| {title} | {' | '.join(cells)} | {ratios[0]:.2f} | {ratios[1]:.2f} | {times[False][1] - times[False][0]:,.0f} |"


def once(query: Callable[[int], Any], count: int) -> float:
    """Return the median of the µs of a query."""
    times = []
    for number in random.Random(3).sample(range(SIZES[1]), count):
        began = process_time()
        query(number)
        times.append(process_time() - began)
    return median(times) * 1e6


def queries(filled: Filled) -> dict[str, float]:
    """µs of queries on demand beside a million rows."""
    runtime, top = filled.runtime, filled.size
    above = runtime.prepare_query("select price from W where n >= ?::long")
    scanned = runtime.prepare_query("select price from W where price >= ?::double")
    update = runtime.prepare_query("update W set price = ?::double where k = ?::string")
    same = TEXT.format("key5")
    runtime.query(same)
    return {
        "prepared, `where k = ?`": once(lambda number: filled.query.execute([f"key{number}"]), 2000),
        "prepared `update … where k = ?`": once(lambda number: update.execute([1.0, f"key{number}"]), 2000),
        "text, `where k = '…'`, each time another key": once(lambda number: runtime.query(TEXT.format(f"key{number}")), 300),
        "the same text again": once(lambda number: runtime.query(same), 300),
        "prepared, ten rows of a range by `create index … (n btree)`": once(lambda number: above.execute([top - 10]), 2000),
        "prepared, ten rows of a range without an index": once(lambda number: scanned.execute([(top - 10) / 64]), 5),
    }


def main() -> None:
    filled = [Filled(size) for size in SIZES]
    gc.collect()
    gc.freeze()
    print("| look-up | 10² rows, ns | 10⁶, few keys | 10⁶, all keys | few / 10² | all / 10² | more, ns |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for title, epl in STATEMENTS.items():
        deployments = [each.runtime.deploy(f"@name('s') {epl}", listeners={"s": each.add}) for each in filled]
        print(line(title, measured(filled, lambda each: each.by_statement)), flush=True)
        for each, deployment in zip(filled, deployments):
            each.runtime.undeploy(deployment.id)
    print(line(PREPARED, measured(filled, lambda each: each.by_query)), flush=True)
    print(line("a dict", measured(filled, lambda each: each.by_dict)), flush=True)
    print("\n| query beside 10⁶ rows | µs |\n|---|---:|")
    for title, micros in queries(filled[1]).items():
        print(f"| {title} | {micros:,.1f} |", flush=True)


if __name__ == "__main__":
    main()
