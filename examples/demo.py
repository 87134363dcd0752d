"""Run the manual's row patterns over a file of readings, on Spark and in process, and compare the output.

``make demo``, or ``python examples/demo.py [--rows N] [--batches N] [--in-process]``: writes N readings of temperature sensors as
Parquet files, runs the nine row patterns of manual.py over them in Spark micro-batches (matches span several), prints the number of
matches of each statement and the first one, and compares them with the same events sent one by one to a Runtime.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from manual import EXAMPLES, SCHEMA

from runtime import Rows, Runtime, Statement
from runtime.spark import session, start

EVENT_TYPE = "TemperatureSensorEvent"
DEVICES = 50
START_MS = 1_700_000_000_000
COLUMNS = pyarrow.schema([("id", pyarrow.string()), ("device", pyarrow.int32()), ("temp", pyarrow.float64()), ("ts", pyarrow.int64())])

Match = tuple[str, int, tuple[tuple[str, Any], ...]]
"""Statement, time, columns."""


def module() -> str:
    """Return all statements of the manual as one module, each under its own name."""
    statements = [example.epl.replace(f"{SCHEMA};\n", "").replace("'matches'", f"'{example.name}'") for example in EXAMPLES]
    return "\n".join([SCHEMA + ";", *statements])


def make_files(folder: Path, rows: int, files: int) -> list[Path]:
    """Write readings of DEVICES sensors, random walks around 75 degrees, ordered by time, as ``files`` files."""
    chance = random.Random(2011)
    temps = [75.0] * DEVICES
    readings: list[dict[str, Any]] = []
    for number in range(rows):
        device = chance.randrange(DEVICES)
        temps[device] = round(min(125.0, max(25.0, temps[device] + chance.gauss((75 - temps[device]) / 10, 12))), 1)
        readings.append({"id": f"E{number}", "device": device, "temp": temps[device], "ts": START_MS + number * 20})
    paths = []
    size = -(-rows // files)
    for number in range(files):
        path = folder / f"readings-{number:03}.parquet"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(readings[number * size : (number + 1) * size], COLUMNS), path)
        os.utime(path, (number, number))  # Spark takes files in order of their modification times
        paths.append(path)
    return paths


class Collector:
    """A listener that collects every match with its time."""

    def __init__(self) -> None:
        self.matches: list[Match] = []

    def __call__(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        self.matches.extend((statement.name, runtime.now, tuple(row.items())) for row in new)

    def listen_to(self, runtime: Runtime) -> None:
        for statement in runtime.deploy(module()):
            if statement.name in NAMES:
                statement.add_listener(self)


NAMES = frozenset(example.name for example in EXAMPLES)


def run_in_process(paths: list[Path]) -> list[Match]:
    """Send every event by itself, advancing time to each of them."""
    collector = Collector()
    with Runtime(start_time=START_MS) as runtime:
        collector.listen_to(runtime)
        for path in paths:
            for event in pyarrow.parquet.read_table(path).to_pylist():
                runtime.advance_time_span(event.pop("ts"))
                runtime.send(EVENT_TYPE, event)
    return collector.matches


def report(title: str, matches: list[Match], seconds: float, rows: int) -> None:
    print(f"\n{title}: {len(matches):,} matches in {rows:,} events, {seconds:.1f} s")
    by_statement = collections.defaultdict(list)
    for name, ms, columns in matches:
        by_statement[name].append((ms, dict(columns)))
    for example in EXAMPLES:
        matches_of_example = by_statement[example.name]
        first = f"first at +{matches_of_example[0][0] - START_MS} ms: {matches_of_example[0][1]}" if matches_of_example else ""
        print(f"  {example.name:22} {len(matches_of_example):7,}  {first}")


def run_on_spark(folder: Path) -> tuple[list[Match], int]:
    """Run the module over a streaming DataFrame, one file per micro-batch; return (matches, micro-batches)."""
    spark = session("epl-spark demo")
    spark.sparkContext.setLogLevel("ERROR")
    collector = Collector()
    with Runtime(start_time=START_MS) as runtime:
        collector.listen_to(runtime)
        schema = "id string, device int, temp double, ts long"
        readings = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
        job = start(runtime, {EVENT_TYPE: readings}, time="ts", trigger="availableNow")
        job.await_termination()
        batches = len({progress["batchId"] for progress in job.streaming_query.recentProgress if progress["numInputRows"]})
    return collector.matches, batches


def spanning(matches: list[Match], rows: int, batches: int) -> int:
    """Return how many matches have rows of several micro-batches; their string columns are ids of rows."""
    size = -(-rows // batches)
    return sum(
        len({int(value[1:]) // size for _, value in columns if isinstance(value, str)}) > 1
        for _, _, columns in matches
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--in-process", action="store_true", help="without Spark")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="epl-demo-") as name:
        folder = Path(name)
        paths = make_files(folder, options.rows, options.batches)
        print(f"{options.rows:,} readings of {DEVICES} sensors in {len(paths)} Parquet files")
        started = time.monotonic()
        expected = run_in_process(paths)
        report("in process, one send an event", expected, time.monotonic() - started, options.rows)
        if options.in_process:
            return 0
        started = time.monotonic()
        matches, batches = run_on_spark(folder)
        report(f"on Spark, {batches} micro-batches", matches, time.monotonic() - started, options.rows)
    print(f"\n{spanning(matches, options.rows, options.batches):,} matches span micro-batches")
    same = matches == expected
    print("the output is the same, match for match" if same else "THE OUTPUT DIFFERS")
    return 0 if same and batches >= min(10, options.batches) else 1


if __name__ == "__main__":
    sys.exit(main())
