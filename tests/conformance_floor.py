#!/usr/bin/env python3
"""Replay the recorded traces and hold the counts against tests/conformance_floor.json: no suite may fall below its floor.

The floor is a strict ledger of what was reached: a suite that has risen above it prints a reminder to raise it (``--raise`` writes
what was measured). What people reported (suite ``public``) agrees, or stands in tests/conformance_differences.json with the reason why it
differs on purpose. The traces and compare.py beside them are found through EPL_TRACES.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
FLOOR = HERE / "conformance_floor.json"
DIFFERENCES = HERE / "conformance_differences.json"
LISTED = "public"
"""The suite whose differences are listed one by one."""
README = HERE.parent / "README.md"
BEGIN = "<!-- conformance: made by python tests/conformance_floor.py --table -->"
END = "<!-- end of conformance -->"
COUNTED = ("passed", "refused", "worded", "same_names")
MARGIN = 3
"""A suite that passes so many traces more than its floor is worth a new floor."""


def measure(traces: pathlib.Path, jobs: int, without: str, restart: bool) -> dict[str, Any]:
    """compare.py's counts by suite, and ``seconds`` of the replay."""
    compare = traces.parent / "compare.py"
    if not compare.is_file():
        raise SystemExit(f"conformance_floor.py: {compare} is not there")
    with tempfile.TemporaryDirectory() as folder:
        actual = pathlib.Path(folder) / "actual"
        counts = pathlib.Path(folder) / "counts.json"
        started = time.monotonic()
        command = [sys.executable, "-m", "runtime.cli", "replay", str(traces), "--out", str(actual), "--jobs", str(jobs)]
        subprocess.run([*command, "--restart"] if restart else command, check=False, cwd=HERE.parent)
        seconds = time.monotonic() - started
        arguments = ["--json", str(counts), "--failing", "100000", *(["--without", without] if without else [])]
        command = [sys.executable, str(compare), str(traces), str(actual), *arguments]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        lines = done.stdout.splitlines()
        print("\n".join(line for line in lines if not line.startswith("FAIL ")))
        failing = [line.split()[1] for line in lines if line.startswith("FAIL ")]
        return {**json.loads(counts.read_text(encoding="utf-8")), "failing": failing, "seconds": round(seconds, 1)}


def judge(floor: dict[str, dict[str, int]], suites: dict[str, dict[str, int]]) -> tuple[list[str], list[str]]:
    """(what fell below the floor, what has risen above it)."""
    fallen, risen = [], []
    for suite, counts in sorted(suites.items()):
        least = floor.get(suite, {})
        for name in COUNTED:
            if counts[name] < least.get(name, 0):
                fallen.append(f"{suite}: {name} {counts[name]} is below the floor of {least[name]}")
        if counts["passed"] >= least.get("passed", 0) + MARGIN:
            risen.append(
                f"{suite}: {counts['passed']} passed, floor {least.get('passed', 0)}: raise it (python tests/conformance_floor.py --raise)"
            )
    return fallen + [f"{suite}: was not replayed" for suite in floor.keys() - suites.keys()], risen


def unlisted(differences: dict[str, str], failing: list[str]) -> list[str]:
    """What is wrong with the list of differences: one that is not in it, one that is in it and agrees."""
    differing = {trace.partition("/")[2] for trace in failing if trace.startswith(f"{LISTED}/")}
    return [
        *(f"{LISTED}: {trace} differs, and {DIFFERENCES.name} says no reason" for trace in sorted(differing - differences.keys())),
        *(f"{LISTED}: {trace} agrees: take it out of {DIFFERENCES.name}" for trace in sorted(differences.keys() - differing)),
    ]


SUITES = {
    "seeds": "the manual's chapters on row patterns and basic concepts",
    "rowrecog": "`match_recognize`",
    "view": "data windows and derived-value windows",
    "expr": "expressions, functions, filters, date-time and enumeration methods",
    "resultset": "select clause, group by, aggregation, having, order by, output rates",
    "event": "event types and properties",
    "epl": "insert into, variables, schemas; joins, sub-queries, contained events, spatial",
    "client": "deployment, compilation, runtime API",
    "infra": "named windows and tables",
    "pattern": "EPL patterns",
    "context": "contexts",
    "public": "situations that people reported or asked about",
    "fresh": "what programs drawn at random, where features meet, found to differ",
}


def table(traces: pathlib.Path, jobs: int) -> str:
    """The README's table: a row a suite."""
    counts = measure(traces, jobs, "", False)["suites"]
    lines = ["| suite | what it exercises | traces that agree |", "|---|---|---|"]
    for suite, what in SUITES.items():
        lines.append(f"| {suite} | {what} | {_share(counts.get(suite))} |")
    return "\n".join(lines)


def _share(counts: dict[str, int] | None) -> str:
    if not counts or not counts["total"]:
        return "–"
    return f"{counts['passed']} of {counts['total']} ({counts['passed'] / counts['total']:.0%})"


def write_table(made: str) -> None:
    """Put the table between its marks in the README."""
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--without", default="", help="as compare.py's: leave out traces that use these features")
    parser.add_argument("--restart", action="store_true", help="snapshot and restore between every two steps: the same floor holds")
    parser.add_argument("--raise", dest="raise_floor", action="store_true", help="write what was measured as the new floor")
    parser.add_argument("--table", action="store_true", help="write the README's table instead")
    options = parser.parse_args()
    named = os.environ.get("EPL_TRACES")
    if not named:
        raise SystemExit("conformance_floor.py: set EPL_TRACES to the folder of recorded traces")
    traces = pathlib.Path(named).resolve()
    if options.table:
        write_table(table(traces, options.jobs))
        return 0
    measured = measure(traces, options.jobs, options.without, options.restart)
    suites = measured["suites"]
    if options.raise_floor:
        FLOOR.write_text(json.dumps({s: {n: c[n] for n in COUNTED} for s, c in sorted(suites.items())}, indent=1) + "\n", encoding="utf-8")
        return 0
    fallen, risen = judge(json.loads(FLOOR.read_text(encoding="utf-8")), suites)
    if not options.without:
        fallen += unlisted(json.loads(DIFFERENCES.read_text(encoding="utf-8")), measured["failing"])
    for line in risen:
        print(f"reminder: {line}")
    for line in fallen:
        print(f"FALLEN {line}")
    print(f"conformance: {measured['total']['passed']} of {measured['total']['total']} traces pass, replay {measured['seconds']} s")
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
