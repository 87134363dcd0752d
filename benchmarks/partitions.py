"""Measure partitions of a context: CPU per event by their number, beside a bare dict; memory per partition; memory after sessions have
come and gone.

    python -m benchmarks.partitions [--partitions 100,10000,100000,1000000] [--events 200000] [--sessions 1000000]

Events come in turns (each key after the other) and at random. The bare loop looks the same keys up in a dict and adds to an object with
slots: what the processor's caches miss there, it misses in any engine. Each number of partitions is a process of its own.
"""
from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tracemalloc
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

from benchmarks.workloads import BY_SYMBOL
from runtime import Runtime

SCHEMA = "@public @buseventtype create schema Trade(symbol string, price double, volume int, ts long);\n"
SESSIONS = """@public @buseventtype create schema Login(user string);
@public @buseventtype create schema Logout(user string);
@public @buseventtype create schema Click(user string, n int);
create context Session initiated by Login as login terminated by Logout(user = login.user);
@name('s0') context Session select context.login.user as user, sum(n) as total from Click(user = context.login.user)"""
REPETITIONS = 3
LIVE = 100
"""Sessions at a time."""


class Total:
    """What the bare loop adds to."""

    __slots__ = ("volume",)

    def __init__(self) -> None:
        self.volume = 0


def resident() -> int:
    """Return the process's bytes in memory (Linux)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS")


def engine(text: str) -> Runtime:
    """Return a runtime with a listener that does nothing."""
    runtime = Runtime(start_time=0)
    statement = next(s for s in runtime.deploy(text) if s.name == "s0")
    statement.add_listener(lambda new, old, *_: None)
    return runtime


def costs(count: int, events: int) -> None:
    """Print a row of the table: microseconds of CPU an event, and bytes a partition."""
    before = resident()
    runtime = engine(SCHEMA + BY_SYMBOL)
    names = [f"S{n}" for n in range(count)]
    began = process_time()
    for name in names:
        runtime.send("Trade", {"symbol": name, "price": 1.0, "volume": 1, "ts": 1})
    beginning = (process_time() - began) / count * 1e6
    size = (resident() - before) / count
    bare = {name: Total() for name in names}
    cells = []
    for order in ("in turns", "at random"):
        draw = Random(1)
        picks = [n % count if order == "in turns" else draw.randrange(count) for n in range(events)]
        ours, theirs = [], []
        for _ in range(REPETITIONS):
            sent: list[dict[str, Any]] = [{"symbol": f"S{pick}", "price": 1.0, "volume": 3, "ts": 1} for pick in picks]
            gc.collect()
            began = process_time()
            for event in sent:
                runtime.send("Trade", event)
            ours.append((process_time() - began) / events * 1e6)
            began = process_time()
            for event in sent:
                bare[event["symbol"]].volume += event["volume"]
            theirs.append((process_time() - began) / events * 1e6)
        cells += [f"{min(ours):.2f}", f"{min(theirs):.2f}"]
    print(f"| {count:,} | {' | '.join(cells)} | {beginning:.0f} | {size:,.0f} |", flush=True)


def sessions(count: int) -> None:
    """Print what memory holds while sessions come and go: each is begun, gets two events and is ended. The last twentieth is traced."""
    runtime = engine(SESSIONS)

    def run(first: int, last: int) -> None:
        for n in range(first, last):
            runtime.send("Login", {"user": f"u{n}"})
            runtime.send("Click", {"user": f"u{n}", "n": 1})
            runtime.send("Click", {"user": f"u{n}", "n": 2})
            if n >= LIVE:
                runtime.send("Logout", {"user": f"u{n - LIVE}"})

    steps = [count * part // 10 for part in range(11)]
    for first, last in zip(steps, steps[1:]):  # noqa: RUF007
        run(first, last)
        gc.collect()
        print(f"{last:,} sessions, {sum(runtime.context_partitions.values())} alive: {resident() / 1e6:.1f} MB resident", flush=True)
    tracemalloc.start(1)
    run(count, count + 2 * LIVE)  # all that are alive are traced
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    run(count + 2 * LIVE, count + count // 20)
    gc.collect()
    print(f"{count // 20:,} more, traced: {(tracemalloc.get_traced_memory()[0] - before) / 1000:.1f} kB more of Python's objects")
    tracemalloc.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", default="100,10000,100000,1000000")
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--sessions", type=int, default=1_000_000)
    arguments = parser.parse_args()
    counts = [int(each) for each in arguments.partitions.split(",") if each]
    if len(counts) == 1 and not arguments.sessions:
        costs(counts[0], arguments.events)
        return 0
    print("| partitions | µs, keys in turns | bare dict | µs, keys at random | bare dict | µs to begin one | bytes of one |")
    print("|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for count in counts:
        options = ["--partitions", str(count), "--events", str(arguments.events), "--sessions=0"]
        subprocess.run([sys.executable, "-m", "benchmarks.partitions", *options], check=True)
    if arguments.sessions:
        sessions(arguments.sessions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
