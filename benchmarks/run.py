"""What an event costs: ``make bench``, or ``python benchmarks/run.py [NAME …] [--events N]``.

Every figure is the best of several runs of one thread, in nanoseconds an event through ``Runtime.send`` (dicts in, a listener that
counts the rows), or in milliseconds for parse + compile.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from typing import Any

from runtime import Runtime

SCHEMA = "create schema Trade(symbol string, price double, volume int);\n"
SYMBOLS = [f"S{number}" for number in range(100)]
ROUNDS = 3
STEP_MS = 10


def trades(count: int) -> list[dict[str, Any]]:
    """Random walks of 100 symbols, the same ones every time."""
    chance = random.Random(1)
    prices = dict.fromkeys(SYMBOLS, 100.0)
    found = []
    for _ in range(count):
        symbol = chance.choice(SYMBOLS)
        prices[symbol] = max(1.0, prices[symbol] + chance.gauss(0, 5))
        found.append({"symbol": symbol, "price": prices[symbol], "volume": chance.randrange(1000)})
    return found


def send_all(epl: str, events: Sequence[dict[str, Any]], moving: bool) -> tuple[float, int]:
    """(ns an event, rows that listeners got). ``moving``: the clock walks STEP_MS before each event."""
    rows = 0

    def count(new: Sequence[object], old: Sequence[object], statement: object, runtime: object) -> None:
        nonlocal rows
        rows += len(new)

    best = float("inf")
    for _ in range(ROUNDS):
        rows = 0
        with Runtime() as runtime:
            for statement in runtime.deploy(SCHEMA + epl):
                if statement.name.startswith("s0"):
                    statement.add_listener(count)
            best = min(best, _timed(runtime, events, moving))
    return best, rows


def _timed(runtime: Runtime, events: Sequence[dict[str, Any]], moving: bool) -> float:
    send, advance = runtime.send, runtime.advance_time_span
    started = time.perf_counter_ns()
    if moving:
        for number, event in enumerate(events):
            advance(number * STEP_MS)
            send("Trade", event)
    else:
        for event in events:
            send("Trade", event)
    return (time.perf_counter_ns() - started) / len(events)


SELECTIVE = """partition by symbol measures A.price as a, last(B.price) as b, C.price as c pattern (A B+ C)
define A as A.price < 60, B as B.price > prev(B.price), C as C.price < prev(C.price)"""
RISING = """partition by symbol measures A.price as a, D.price as d pattern (A B C D)
define B as B.price > A.price, C as C.price > B.price, D as D.price > C.price"""

WORKLOADS: dict[str, tuple[str, bool]] = {
    "no statement": ("", False),
    "filter that takes 1 %": ("@name('s0') select symbol, price from Trade(symbol = 'S7')", False),
    "filter that takes all": ("@name('s0') select symbol, price from Trade(price > 0)", False),
    "count, sum": ("@name('s0') select count(*) as n, sum(volume) as v from Trade", False),
    "#time(10 sec) grouped": ("@name('s0') select symbol, count(*) as n, avg(price) as a from Trade#time(10 sec) group by symbol", True),
    "#length(1000) avg, max": ("@name('s0') select avg(price) as a, max(price) as m from Trade#length(1000)", False),
    "match_recognize A B+ C": (f"@name('s0') select * from Trade match_recognize ({SELECTIVE})", False),
    "match_recognize A B C D on #time(10 sec)": (f"@name('s0') select * from Trade#time(10 sec) match_recognize ({RISING})", True),
}

STATEMENT = """@name('s0') select symbol, count(*) as trades, sum(price * volume) / sum(volume) as vwap, max(price) - min(price) as spread
from Trade(price > 10 and volume between 5 and 500)#time(30 sec)
where symbol like 'S%' group by symbol having count(*) > 3 order by symbol"""
"""About 300 characters."""


def filter_index(events: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """ns an event with 1,000 statements that each want one symbol above a price, and with one that wants every event."""
    many = "".join(f"@name('s0_{i}') select symbol from Trade(symbol = 'S{i}' and price > 500);\n" for i in range(1000))
    return send_all(many, events, False)[0], send_all("@name('s0') select symbol from Trade", events, False)[0]


def compile_ms() -> tuple[float, float]:
    """(first time, warm) ms of parse + compile of STATEMENT with a literal that changes, so that no cache knows the text."""
    with Runtime() as runtime:
        runtime.deploy(SCHEMA)
        times = []
        for number in range(20):
            started = time.perf_counter()
            runtime.compile(STATEMENT.replace("> 3", f"> {number}"))
            times.append((time.perf_counter() - started) * 1000)
    return times[0], min(times[1:])


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="workloads whose name contains one of these (default: all)")
    parser.add_argument("--events", type=int, default=50_000)
    options = parser.parse_args(arguments)

    def wanted(name: str) -> bool:
        return not options.names or any(part in name for part in options.names)

    events = trades(options.events)
    print(f"{len(events):,} events, Python {sys.version.split()[0]}")
    for name, (epl, moving) in WORKLOADS.items():
        if wanted(name):
            nanoseconds, rows = send_all(epl, events, moving)
            print(f"{name:42} {nanoseconds:9,.0f} ns/event  {rows:9,} rows")
    if wanted("filter index"):
        many, one = filter_index(events)
        print(f"{'filter index, 1,000 statements':42} {many:9,.0f} ns/event  {many / one:.2f} x the one statement that wants all")
    if wanted("parse + compile"):
        first, warm = compile_ms()
        print(f"{'parse + compile':42} {warm:9.1f} ms warm, {first:.1f} ms the first time, {len(STATEMENT)} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
