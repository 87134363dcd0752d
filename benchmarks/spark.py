"""``make bench-spark``, or ``python -m benchmarks.spark``: both modes on Spark, as ratios to reading the same files and doing nothing.

All queries run in one session and take turns, file by file: a file is a micro-batch of ``--rows`` rows. The time is Spark's own
``triggerExecution`` of that batch: the median, without the first ``WARM_UP`` (compiling). Queries that look for the same must find the same
number of rows.
"""
from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.data import Data
from benchmarks.machine import description, load
from runtime.spark import session, start, transform

WARM_UP = 3
OPTIONS = {
    "spark.sql.streaming.pollingDelay": "300ms", "spark.sql.streaming.numRecentProgressUpdates": "1000", "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Queries that wait must not take the time of those at work; nor must what is shown of them."""
SCHEMA = "symbol string, price double, volume int, ts long"
FILTER = "@name('s0') select symbol, price from Trade(price > 990)"
MATCH = """@name('s0') select * from Trade match_recognize (partition by symbol
measures A.price as ap, last(B.price) as bp, C.price as cp pattern (A B+ C)
define A as A.price < 10, B as B.price > prev(B.price), C as C.price < prev(C.price) and C.price < 5)"""
WINDOW = "@name('s0') select symbol, avg(price) as a, sum(volume) as s, count(*) as c from Trade#time({} sec) group by symbol"


@attrs.define
class Subject:
    """One query: ``begin`` takes the streaming DataFrame and a checkpoint folder, and gives the query and how many rows it has found.
    ``alike``: subjects that must find as many."""

    name: str
    begin: Callable[[DataFrame, str], Any]
    keys: int = 1000
    alike: str = ""
    goal: float | None = None
    query: Any = None
    rows: list[int] = attrs.field(factory=list)
    times: list[float] = attrs.field(factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.times[WARM_UP:])


def driver(epl: str) -> Callable[[DataFrame, str], Any]:
    """The driver host with a checkpoint, the output counted by a batch listener."""

    def begin(frame: DataFrame, folder: str) -> Any:
        count = [0]
        job = start(epl, {"Trade": frame}, time="ts", checkpoint=folder)
        job.statement("s0").add_batch_listener(lambda new, old, s, r: count.__setitem__(0, count[0] + (0 if new is None else new.num_rows)))
        return job.streaming_query, lambda: count[0]

    return begin


def spread(epl: str) -> Callable[[DataFrame, str], Any]:
    """The distributed host, the output counted behind it."""
    return lambda frame, folder: _counted(transform(epl, {"Trade": frame}, "s0", time="ts"), folder)


def _counted(frame: DataFrame, folder: str) -> Any:
    counted = [0]

    def count(batch: DataFrame, _: int) -> None:
        counted[0] += batch.count()

    query = frame.writeStream.foreachBatch(count).option("checkpointLocation", folder).start()
    return query, lambda: counted[0]


def nothing(frame: DataFrame, folder: str) -> Any:
    """Read, and no more."""
    return frame.writeStream.format("noop").option("checkpointLocation", folder).start(), lambda: 0


def by_hand(frame: DataFrame, folder: str) -> Any:
    """The same match as one writes it today: pandas with state, a loop over the rows of each key."""
    out, state = "symbol string, ap double, bp double, cp double", "last double, ap double, bp double, stage int"

    def match(key: Any, parts: Iterator[pd.DataFrame], group: Any) -> Iterator[pd.DataFrame]:
        last, ap, bp, stage = group.get if group.exists else (float("nan"), 0.0, 0.0, 0)
        rows = pd.concat(list(parts)).sort_values("ts")
        matches = []
        for price in rows["price"].tolist():
            if stage and price > last:
                stage, bp = 2, price
            elif stage == 2 and price < last and price < 5:
                matches.append((key[0], ap, bp, price))
                stage = 0
            elif price < 10:
                stage, ap = 1, price
            else:
                stage = 0
            last = price
        group.update((last, ap, bp, stage))
        yield pd.DataFrame(matches, columns=["symbol", "ap", "bp", "cp"])

    matched = frame.groupBy("symbol").applyInPandasWithState(match, out, state, "append", "NoTimeout")
    return _counted(matched, folder)


SUBJECTS = (
    Subject("read, nothing more", nothing),
    Subject("driver: filter 1 %", driver(FILTER), alike="filter", goal=0.5),
    Subject("driver: match_recognize, 1,000 keys", driver(MATCH), alike="match", goal=0.4),
    Subject("driver: #time(10 sec) group by", driver(WINDOW.format(10)), alike="window", goal=0.4),
    Subject("spread: filter 1 %", spread(FILTER), alike="filter"),
    Subject("spread: match_recognize, 1,000 keys", spread(MATCH), alike="match", goal=0.2),
    Subject("spread: #time(10 sec) group by", spread(WINDOW.format(10)), alike="window"),
    Subject("spread: #time(320 sec) group by, 10 MB a shard", spread(WINDOW.format(320)), goal=0.15),
    Subject("by hand: applyInPandasWithState, 1,000 keys", by_hand),
    Subject("driver: match_recognize, 100 keys", driver(MATCH), keys=100),
    Subject("driver: match_recognize, 100,000 keys", driver(MATCH), keys=100_000),
    Subject("spread: match_recognize, 100 keys", spread(MATCH), keys=100),
    Subject("spread: match_recognize, 100,000 keys", spread(MATCH), keys=100_000),
)


SIZES = (SUBJECTS[0], *(Subject(f"spread: #time({seconds} sec) group by", spread(WINDOW.format(seconds))) for seconds in (32, 320, 3200)))
"""1, 10 and 100 MB a shard: so many seconds of a thousand events each, 60 bytes an event, two shards. The last fills in seven batches."""


class Run:
    """The queries over folders of their own, into which the same files come."""

    def __init__(self, spark: SparkSession, folder: Path, subjects: Sequence[Subject], large: bool) -> None:
        self.folder, self.large = folder, large
        self.subjects = [attrs.evolve(s, rows=[], times=[]) for s in subjects]
        for number, subject in enumerate(self.subjects):
            source = folder / f"in{number}"
            source.mkdir()
            frame = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(source))
            subject.query = subject.begin(frame, str(folder / f"checkpoint{number}"))

    def feed(self, number: int, first: int, last: int) -> None:
        """The events ``first`` … ``last`` as one micro-batch to each query in turn."""
        written: dict[int, Path] = {}
        for place, subject in enumerate(self.subjects):
            if subject.keys not in written:
                written[subject.keys] = self._write(number, first, last, subject.keys)
            os.link(written[subject.keys], self.folder / f"in{place}" / f"{number:06}.parquet")
            query, row_count = subject.query
            query.processAllAvailable()
            done = [p for p in query.recentProgress if p["numInputRows"]]
            assert len(done) == number + 1 and done[-1]["numInputRows"] == last - first, (subject.name, len(done))
            subject.times.append(done[-1]["durationMs"]["triggerExecution"] / 1000)
            subject.rows.append(row_count())

    def _write(self, number: int, first: int, last: int, keys: int) -> Path:
        path = self.folder / f"{keys}-{number}.parquet"
        pq.write_table(pa.Table.from_batches(Data(last - first, keys, first).batches("trade", 0, last - first, last - first, False)), path)
        return path

    def check(self) -> None:
        """Those that look for the same have found as much; where there are enough rows, something."""
        for kind in {s.alike for s in self.subjects if s.alike}:
            counts = {s.name: s.rows[-1] for s in self.subjects if s.alike == kind}
            assert len(set(counts.values())) == 1 and (min(counts.values()) > 0 or not self.large), counts

    def stop(self) -> None:
        for subject in self.subjects:
            subject.query[0].stop()


def measured(spark: SparkSession, subjects: Sequence[Subject], rows: int, batches: int) -> list[Subject]:
    with tempfile.TemporaryDirectory(prefix="epl-bench-") as name:
        run = Run(spark, Path(name), subjects, rows * batches >= 100_000)
        for number in range(WARM_UP + batches):
            run.feed(number, number * rows, (number + 1) * rows)
        run.check()
        run.stop()
        return run.subjects


def table(subjects: Sequence[Subject], rows: int, latency: bool) -> str:
    """Ratios to the first one: throughput, or time for small batches."""
    base = subjects[0].median
    title = "time / bare query's" if latency else "throughput / reading's"
    lines = [f"| query | s per batch | rows/s | {title} | goal |", "|---|---:|---:|---:|---:|"]
    for each in subjects:
        ratio = each.median / base if latency else base / each.median
        goal = "" if each.goal is None or latency else f"{each.goal:.2f}"
        lines.append(f"| {each.name} | {each.median:.2f} | {rows / each.median:,.0f} | {ratio:.2f} | {goal} |")
    return "\n".join(lines)


def sizes(subjects: Sequence[Subject]) -> str:
    """Every batch, since those with a snapshot stand out."""
    lines = ["| query | median, s | mean, s | each batch, s |", "|---|---:|---:|---|"]
    for each in subjects:
        times = each.times[WARM_UP:]
        lines.append(f"| {each.name} | {each.median:.2f} | {statistics.fmean(times):.2f} | {', '.join(f'{t:.1f}' for t in times)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000, help="rows a micro-batch (default 500,000)")
    parser.add_argument("--batches", type=int, default=5, help=f"micro-batches that count, behind {WARM_UP} (default 5)")
    parser.add_argument("--sizes", action="store_true", help="instead: what a batch costs with 1, 10 and 100 MB of state a shard")
    parser.add_argument("--only", default="", help="subjects whose names hold this text; the bare query is always there")
    options = parser.parse_args()
    chosen = [s for s in SUBJECTS if s is SUBJECTS[0] or options.only in s.name]
    spark = session("epl-bench", options=OPTIONS)
    spark.sparkContext.setLogLevel("OFF")
    before = load()
    if options.sizes:
        print(f"{sizes(measured(spark, SIZES, options.rows, options.batches))}\n\nLoad {before} before, {load()} after.")
        spark.stop()
        return 0
    large = measured(spark, chosen, options.rows, options.batches)
    small = measured(spark, [s for s in chosen if s.keys == 1000], 100, options.batches)
    print(f"{description([f'Spark {spark.version}, local[2]'])}. Load {before} before, {load()} after.\n")
    print(f"{options.rows:,} rows a micro-batch, median of {options.batches}:\n\n{table(large, options.rows, False)}\n")
    print(f"100 rows a micro-batch:\n\n{table(small, 100, True)}")
    spark.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
