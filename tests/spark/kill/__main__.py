"""The long form: ``python -m tests.spark.kill`` (``make kill``). 2,000,000 events, 23 kills of the driver and its JVM, each of the named
points among them, then a job on Spark's workers with both killed. Prints a table; ends with 1 if a row is lost or doubled.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from pathlib import Path

from tests.spark.kill.harness import RUNNING, WORKER, Harness, Run, lines, plan
from tests.spark.kill.workload import DECLARED, MODULE, SPREAD, STREAMS, Difference, Events, difference, read, undisturbed


def driver_host(folder: Path, count: int, kills: list[str], seed: int) -> bool:
    events = Events(count, files=count // 5000, seed=seed)
    harness = Harness(folder, events, ["--until", str(events.end)], pace=0.05, seed=seed)
    print(f"driver host: {count:,} events in {events.files} files, {len(kills)} kills: {', '.join(kills)}", flush=True)
    run = harness.through(kills)
    _report(run)
    found = undisturbed(MODULE, events, STREAMS, until=events.end)
    put_out = folder / "job/output"
    return _compare({f"{name}, {stream}": difference(rows, read(put_out / name / stream)) for (name, stream), rows in found.items()})


def spread(folder: Path, count: int, seed: int, statement: str) -> bool:
    events = Events(count, files=40, seed=seed, late_ms=0)
    harness = Harness(folder, events, ["--host", "spread", "--files", "1", "--statement", statement], pace=0.2, seed=seed)
    print(f"\nengines in Spark's workers, {statement}: {count:,} events in {events.files} files, driver and workers killed", flush=True)
    run = harness.through([RUNNING, RUNNING, f"{WORKER}:5"])
    _report(run)
    print(f"{run.workers} Python workers killed, {run.failed} queries failed and were started again")
    found = undisturbed(DECLARED + SPREAD[statement], events, (("spread", "new"),), until=None)
    return _compare({"spread, new": difference(found["spread", "new"], read(folder / "counted"))})


def _report(run: Run) -> None:
    print("\n".join(lines(run)))
    back = [seconds for each in run.back.values() for seconds in each]
    if back:
        print(f"{run.starts} starts in {run.seconds:.0f} s; to the first new step: median {statistics.median(back):.1f} s", end="")
        print(f", of it start() {statistics.median(run.restore):.1f} s" if run.restore else "")


def _compare(differences: dict[str, Difference]) -> bool:
    print("| statement, stream | rows out | lost | doubled |\n|---|---|---|---|")
    for name, found in differences.items():
        print(f"| {name} | {found.rows:,} | {found.lost} | {found.doubled} |", flush=True)
    return all(not each.lost and not each.doubled for each in differences.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--random", type=int, default=5, help="kills at random times, besides one at each named point")
    parser.add_argument("--kills", help="these alone, in this order: log.rename:2,commit:1,random running", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="an empty folder to keep; otherwise a temporary one")
    parser.add_argument("--host", choices=("driver", "spread", "both"), default="both")
    asked = parser.parse_args()
    kills = asked.kills.split(",") if asked.kills else plan(asked.random, random.Random(asked.seed))
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        whole = True
        if asked.host != "spread":
            whole &= driver_host(folder / "driver", asked.events, kills, asked.seed)
        if asked.host != "driver":
            for statement in SPREAD:
                whole &= spread(folder / f"spread-{statement}", asked.events // 10, asked.seed, statement)
    print("nothing lost, nothing doubled" if whole else "ROWS LOST OR DOUBLED")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
