#!/usr/bin/env python3
"""Draw programs and store what Esper does with them: EPL_ORACLE=…/record.py python -m tests.drawn.record FEATURE [--count N] [--draw N]

Each program is recorded twice: as it is, and with other strings, whose hash codes differ. Where the rows of a step come in another order,
the step says ``any_order``; a program whose rows differ is dropped, since hash codes decide what it emits. Dropped are also programs that
emit too little, and those where Esper fails (a NullPointerException). Of those that Esper refuses, one a message is kept. Of the rest, so
many are stored that every line of the census occurs often enough, and of the others those with the smallest seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.comparison import same, same_rows
from tests.drawn.drawing import OTHER_WORDS, PROGRAM, WORDS
from tests.drawn.programs import FEATURES, census_lines, program
from tests.drawn.recorded import Program, census, covered, emitting, is_refused, store

LEAST_ROWS = 4
WANTED = 12
"""In so many programs a line of the census is to occur, where enough are drawn."""
REFUSALS = 40
FAULTS = re.compile(
    "Cannot (invoke|read|load)|Compile?Exception|[Uu]nexpected exception|chedule callback|-way join|underlying get|Index properties|"
    "streamsJoined"
)
"""Refusals that are a fault of Esper's, not a rule of the language."""


def recorded(programs: list[Program]) -> list[Program]:
    """The programs with what Esper does, in order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "programs.json"
        path.write_text(json.dumps(programs), encoding="utf-8")
        subprocess.run([os.environ["EPL_ORACLE"], str(path)], check=True)
        recordings: list[Program] = json.loads(path.read_text(encoding="utf-8"))
        return recordings


def with_words(value: Any) -> Any:
    """A value of a recording with OTHER_WORDS, in WORDS."""
    if isinstance(value, str):
        for word, other in zip(WORDS, OTHER_WORDS):
            value = value.replace(other, word).replace(other.upper(), word.upper())
        return value
    if isinstance(value, list):
        return [with_words(each) for each in value]
    if isinstance(value, dict):
        return {name: with_words(each) for name, each in value.items()}
    return value


def fault(program: Program) -> str | None:
    """Why the program is of no use; None where it is of use."""
    if program.get("error"):
        return f"error: {program['error'][:80]}"
    if any("error" in call for step in program["steps"] for call in step.get("out", ())):
        return "a statement raises"
    for step in program["steps"][1:]:
        if step["op"] == "compile_error":
            return "a later deployment is refused: " + without_places(step["message"])
        if step["op"] in ("faf", "iterate") and "exception" in step:
            return f"{step['op']} is refused: " + without_places(step["exception"])
    rows = emitting(program)
    silent = [] if PROGRAM in program["bullets"] else [statement for statement in program["bullets"] if not rows[statement]]
    if silent or sum(rows.values()) < LEAST_ROWS or (PROGRAM in program["bullets"] and rows[PROGRAM] < LEAST_ROWS):
        return "emits too little"
    return None


def mark_order(program: Program, other: Program) -> bool:
    """Whether two recordings agree. Steps whose rows come in another order are marked ``any_order``."""
    for step, twin in zip(program["steps"], other["steps"], strict=True):
        order = agreement(step, twin)
        if order is None:
            return False
        if order == "any":
            step["any_order"] = True
    return True


def agreement(step: dict[str, Any], other: dict[str, Any]) -> str | None:
    """``same`` or ``any`` (order) where two recordings of a step agree, else None."""
    loose = False
    calls, other_calls = step.get("out", []), other.get("out", [])
    if [c["statement"] for c in calls] != [c["statement"] for c in other_calls] or bool(step.get("exception")) != bool(
        other.get("exception")
    ):
        return None
    pairs = [(call.get(side), twin.get(side)) for call, twin in zip(calls, other_calls) for side in ("new", "old")]
    for rows, other_rows in [*pairs, (step.get("rows"), other.get("rows"))]:
        if same(rows or [], with_words(other_rows or [])):
            continue
        if not same_rows(rows or [], with_words(other_rows or []), any_order=True):
            return None
        loose = True
    return "any" if loose else "same"


def chosen(programs: list[Program], lines: tuple[str, ...], count: int) -> list[Program]:
    """So many programs (more, if the census needs them), that every line occurs often."""
    cover = {each["name"]: covered(each) for each in programs}
    frequent = Counter(line for covers in cover.values() for line in covers)
    chosen: dict[str, Program] = {}
    reached: Counter[str] = Counter()
    for line in sorted(lines, key=lambda line: frequent[line]):
        with_line = [each for each in programs if line in cover[each["name"]]]
        while reached[line] < WANTED and (rest := [each for each in with_line if each["name"] not in chosen]):
            best = max(rest, key=lambda each: sum(reached[other] < WANTED for other in cover[each["name"]]))
            chosen[best["name"]] = best
            reached.update(cover[best["name"]])
    for each in programs:
        if len(chosen) >= count:
            break
        chosen.setdefault(each["name"], each)
    return [each for each in programs if each["name"] in chosen]


def without_places(message: str) -> str:
    """What is said, without names and numbers."""
    return re.sub(r"'[^']*'|\[.*\]|\d+", "…", message, flags=re.S)[:90]


def record(feature: str, seeds: range, count: int) -> None:
    """Draw, record, choose and store programs of a feature; print what was dropped and which lines of the census are seldom."""
    dropped: Counter[str] = Counter()
    refused: dict[str, Program] = {}
    ran: dict[int, Program] = {}
    for seed, recording in zip(seeds, recorded([program(feature, seed) for seed in seeds])):
        if is_refused(recording):
            message = recording["steps"][0]["message"]
            dropped["refused: " + without_places(message)] += 1
            if not FAULTS.search(message):
                refused.setdefault(without_places(message), {**recording, "steps": recording["steps"][:1]})
        elif why := fault(recording):
            dropped[why] += 1
        else:
            ran[seed] = recording
    kept = []
    for recording, other in zip(ran.values(), recorded([program(feature, seed, OTHER_WORDS) for seed in ran])):
        if mark_order(recording, other):
            kept.append(recording)
        else:
            dropped["rows depend on hash codes"] += 1
    lines = census_lines(feature)
    programs = chosen(kept, lines, count)
    store(feature, [*programs, *list(refused.values())[:REFUSALS]])
    for why, times in dropped.most_common():
        print(f"  {times:4} {why}")
    reached = census(programs)
    print(f"{feature}: {len(programs)} of {len(kept)} stored; seldom: { {line: reached[line] for line in lines if reached[line] < 10} }")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", nargs="*", default=list(FEATURES))
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--draw", type=int, default=600)
    arguments = parser.parse_args()
    if "EPL_ORACLE" not in os.environ:
        parser.error("set EPL_ORACLE to a program that fills traces with Esper's output")
    for feature in arguments.features:
        record(feature, range(arguments.draw), arguments.count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
