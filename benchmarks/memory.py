"""Bytes per retained event: what a process grows by while a window fills, one process a figure
(Esper: what the Java heap grows by).

``python -m benchmarks.memory ENGINE STATEMENT EVENTS`` prints the bytes an event and the tier. The events (symbol, price, volume, ts) are
made on the way in, so that only what the engine keeps remains.
"""
from __future__ import annotations

import gc
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import attrs

from benchmarks.data import Data
from benchmarks.engine import Prepared
from benchmarks.engines.esper import Esper
from benchmarks.workloads import WORKLOADS, Column, Workload

STATEMENTS: dict[str, str] = {
    "window of whole events": "@name('s0') select * from Trade#length({events})",
    "window, avg and max": "@name('s0') select avg(price) as a, max(price) as m from Trade#length({events})",
    "window, two columns by symbol": "@name('s0') select symbol, sum(price) as m from Trade#length({events}) group by symbol",
    "match_recognize A B+ C by symbol": WORKLOADS["W5all"].epl.replace("from Trade", "from Trade#length({events})"),
}
ROOT = Path(__file__).resolve().parent.parent
PARTS = 8
"""The first eighth of the events is there before the first look, so that what is made once is not counted."""


@attrs.frozen
class Held:
    statement: str
    engine: str
    bytes_per_event: float | None
    note: str = ""


def resident() -> int:
    """Bytes of this process in memory; where the system does not tell, the most there ever were."""
    status = Path("/proc/self/statm")
    if status.is_file():
        return int(status.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def workload(statement: str, events: int) -> Workload:
    touched = Column("price", "touch")
    return Workload(statement, statement, STATEMENTS[statement].format(events=events), (touched, touched))


def python_engine(engine: str, statement: str, events: int) -> tuple[float, str]:
    """(bytes an event, tier) of this process; call it once a process."""
    from benchmarks.engines.batch import tiers
    from benchmarks.workloads import LISTENED
    from runtime import Runtime

    chosen, part = workload(statement, events), -(-events // PARTS)
    runtime = Runtime(tier="row" if engine == "row" else "auto")
    (running,) = (s for s in runtime.deploy(chosen.module()) if LISTENED.fullmatch(s.name))

    def feed(first: int, last: int) -> None:
        data = Data(last - first, start=first)  # columns that nobody else holds
        if engine == "row":
            for event in data.dicts("trade", 0, data.count):
                runtime.send("Trade", event)
        else:
            for batch in data.batches("trade", 0, data.count, part, encoded=True):
                runtime.send_batch("Trade", batch)

    feed(0, part)
    gc.collect()
    before = resident()
    for first in range(part, events, part):
        feed(first, min(first + part, events))
    gc.collect()
    return (resident() - before) / (events - part), tiers([running])


def of_esper(engine: Esper, statement: str, events: int) -> float:
    """What the Java heap grows by, each time after collection."""
    data, part = Data(events), -(-events // PARTS)
    with tempfile.TemporaryDirectory() as folder:
        data.write(Path(folder))
        engine.prepare(Prepared(data, Path(folder)))
        engine.open(WORKLOADS["W1"]).close()  # the first compilation leaves garbage that goes late
        session = engine.open(workload(statement, events))
        session.run(0, part)
        before = session.heap()
        for first in range(part, events, part):
            session.run(first, min(first + part, events))
        per_event = (session.heap() - before) / (events - part)
        session.close()
    return per_event


def held(engine: str, statement: str, events: int, esper: Esper | None) -> Held:
    """A process that fails leaves its last words as the note."""
    if engine == "esper":
        assert esper is not None
        return Held(statement, engine, of_esper(esper, statement, events), "Java heap")
    command = [sys.executable, "-m", "benchmarks.memory", engine, statement, str(events)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        return Held(statement, engine, None, f"FAILS: {done.stderr.strip().splitlines()[-1]}")
    size, _, tier = done.stdout.strip().partition(" ")
    return Held(statement, engine, float(size), tier)


if __name__ == "__main__":
    print(*python_engine(sys.argv[1], sys.argv[2], int(sys.argv[3])))
