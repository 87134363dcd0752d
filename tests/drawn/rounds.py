#!/usr/bin/env python3
"""Draw programs over the whole language, ask Esper, compare: EPL_ORACLE=…/record.py python -m tests.drawn.rounds COUNT SEED

Prints each program that does not agree, those that Esper refuses by reason, and how many agree. A program ends before the first step at
which Esper itself fails (a NullPointerException and its like); what two recordings in another order answer differently is compared without
the order of rows, and is dropped where the rows differ, since the identity of objects decides it. ``--restart``: with a restore between
every two steps. ``--ways``: also in the ways of tests.drawn.ways, all or those named, with ``--cuts`` as the seed of what is cut where;
they are compared with the replay. ``--keep``: the recordings, for --recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.comparison import difference
from tests.drawn.language.programs import ALWAYS, LANGUAGE, program
from tests.drawn.record import mark_order, recorded, without_places
from tests.drawn.recorded import Program, is_refused, path_of, store, stored
from tests.drawn.table import pairs, ran, subjects_of
from tests.drawn.ways import WAYS, apart

FAULTS = re.compile(
    r"NullPointer|Cannot (invoke|read|load)|ClassCast|IndexOutOf|UnsupportedOperation|IllegalState|IllegalArgument|NumberFormat"
)
"""What Esper says where it is at fault while it runs."""
FAULTY_REFUSALS = re.compile(
    r"CompileException|Invalid sum type|[Uu]nexpected exception|streamsJoined|"
    r"Unknown variable or type|underlying get|ClassCast|cannot be cast|out of bounds|Could not initialize|"
    r"Not a .*-way join|already exists|Fatal exception|No codeblock parent|linear-access|has not been validated|"
    r"Unsupported type for relational|between 'group' and 'merge'|add duplicate class|Failed to deploy: null$"
)
"""And where it is at fault while it compiles."""
FAULTY_TEXT = re.compile(r"[<>]=? (any|some|all) \('")
"""What it computes wrongly wherever it stands (docs/compatibility.md)."""
AT_ONCE = 100
"""So many programs are recorded in one go."""
TIMES = 4
"""So often is recorded again what differs, and what is stored."""


def cut(trace: Program) -> Program:
    """The program up to the first step at which Esper fails."""
    for place, step in enumerate(trace["steps"]):
        if place and is_fault(step):
            return {**trace, "steps": trace["steps"][:place]}
    return trace


def is_fault(step: Mapping[str, Any]) -> bool:
    """Return whether Esper fails at the step, or emits a row that is null."""
    if any("error" in call or None in (*(call.get("new") or ()), *(call.get("old") or ())) for call in step.get("out", ())):
        return True
    if step["op"] == "compile_error":
        return bool(FAULTY_REFUSALS.search(step["message"]))
    words = step.get("exception", "")
    return bool(FAULTS.search(words) or FAULTY_REFUSALS.search(words) or FAULTY_TEXT.search(step.get("epl", "")))


def drawn_programs(count: int, seed: str, kind: str, *, rarest: bool = False) -> list[Program]:
    """Draw the programs. ``rarest``: of five times as many, those with the pairs of parts that are together least in the stored ones."""
    if not rarest:
        return [program(f"{kind} {seed} {place}") for place in range(count)]
    together = pairs(ran())

    def rarest_pair(each: Program) -> int:
        return min((together[pair] for pair in combinations(subjects_of(each), 2)), default=together.total())

    return sorted((program(f"{kind} {seed} {place}") for place in range(5 * count)), key=rarest_pair)[:count]


def round_of(count: int, seed: str, kind: str, *, rarest: bool = False) -> tuple[list[Program], Counter[str]]:
    """The programs that Esper runs or refuses, as recorded, and how many were dropped, by reason."""
    kept: list[Program] = []
    dropped: Counter[str] = Counter()
    programs = drawn_programs(count, seed, kind, rarest=rarest)
    for first in range(0, count, AT_ONCE):
        drawn = programs[first : first + AT_ONCE]
        for each in recorded(drawn):
            if each.get("error"):
                dropped["Esper does not end"] += 1
            else:
                kept.append(each)
    return without_faults(kept, dropped), dropped


def without_faults(programs: list[Program], dropped: Counter[str]) -> list[Program]:
    """Return the programs, each up to the first step at which Esper fails, but for those that it fails to compile."""
    kept = [cut(each) for each in programs if not is_fault(each["steps"][0])]
    dropped["Esper is at fault from the beginning"] += len(programs) - len(kept)
    return kept


def certain(programs: list[Program]) -> list[Program]:
    """Those that Esper answers alike each time; an order of two rows by identity is the same every second time."""
    for _ in range(TIMES):
        programs = decided(programs)
    return programs


def decided(programs: list[Program]) -> list[Program]:
    """Those that Esper answers alike in another order, their steps marked where only the order of rows differs."""
    twice = recorded([unanswered(each) for each in reversed(programs)])
    again = {each["name"]: cut(each) for each in twice if not each.get("error")}
    twins = [(each, again[each["name"]]) for each in programs if each["name"] in again]
    return [
        each
        for each, twin in twins
        if len(each["steps"]) <= len(twin["steps"]) and mark_order({**each}, {**twin, "steps": twin["steps"][: len(each["steps"])]})
    ]


def store_programs(programs: list[Program]) -> None:
    """Add the programs to those of tests/drawn/stored, in place of those of the same name."""
    known = {each["name"]: each for each in stored(LANGUAGE)} if path_of(LANGUAGE).exists() else {}
    known |= {each["name"]: each for each in programs}
    store(LANGUAGE, list(known.values()))


def unanswered(each: Program) -> Program:
    """The program without Esper's answers."""
    answers = ("out", "rows", "exception", "message")
    return {**each, "steps": [{k: v for k, v in step.items() if k not in answers} for step in each["steps"]]}


def show(each: Program, why: str) -> None:
    """Print a program that differs."""
    lines = [line for line in each["steps"][0]["epl"].split(";\n") if line not in ALWAYS]
    lines += [f"step {place}: {step['epl']}" for place, step in enumerate(each["steps"]) if place and step["op"] == "deploy"]
    print(f"--- {each['name']}\n" + "\n".join(f"  {line}" for line in lines) + f"\n  {why[:900]}", flush=True)


def differing_ways(programs: list[Program], ways: list[str], seed: int) -> int:
    """Print the programs that differ from their replays in other ways of running; return how many times one does."""
    ran = [each for each in programs if not is_refused(each)]
    differing = 0
    for way in ways:
        for each in ran:
            if (why := apart(each, way, seed)) is not None:
                differing += 1
                show(each, why)
        print(f"{len(ran)} programs in the way '{way}'", flush=True)
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("seed")
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--rare", action="store_true", help="with what people write seldom")
    parser.add_argument("--rarest", action="store_true", help="those of five times as many whose pairs of parts are stored least")
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--ways", nargs="*", choices=WAYS, metavar="WAY", help=f"of {', '.join(WAYS)}; all of them where none is named")
    parser.add_argument("--cuts", type=int, default=1, metavar="SEED", help="where batches are cut, when runtimes are restored")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    parser.add_argument("--recorded", type=Path, metavar="FILE")
    parser.add_argument("--store", action="store_true", help="add what Esper answers in one way to the stored programs")
    arguments = parser.parse_args()
    dropped = Counter[str]()
    kind = "-".join(word for word in ("rare", "dense") if getattr(arguments, word)) or "plain"
    if arguments.recorded:
        kept = without_faults(json.loads(arguments.recorded.read_text(encoding="utf-8")), dropped)
    else:
        kept, dropped = round_of(arguments.count, arguments.seed, kind, rarest=arguments.rarest)
        if arguments.keep:
            arguments.keep.write_text(json.dumps(kept), encoding="utf-8")
    if arguments.store:
        store_programs(certain(kept))
    refusals = Counter(without_places(each["steps"][0]["message"]) for each in kept if is_refused(each))
    suspects = [each for each in kept if difference(each, restart=arguments.restart) is not None]
    if "EPL_ORACLE" in os.environ and (ran := [each for each in suspects if not is_refused(each)]):
        sure = {each["name"] for each in certain(ran)}
        dropped["identity decides"] += len(ran) - len(sure)
        kept = [each for each in kept if each not in ran or each["name"] in sure]
        suspects = [each for each in suspects if each in kept]
    differing = Counter[str]()
    for each in suspects:
        if (why := difference(each, restart=arguments.restart)) is not None:
            differing["refusals" if is_refused(each) else "programs"] += 1
            show(each, why)
    if arguments.ways is not None:
        differing["ways"] = differing_ways(kept, arguments.ways or [*WAYS], arguments.cuts)
    for why, times in refusals.most_common():
        print(f"  {times:4} refused: {why}")
    for why, times in dropped.most_common():
        print(f"  {times:4} dropped: {why}")
    ran = len(kept) - refusals.total()
    print(
        f"{ran - differing['programs']} of {ran} programs agree; {refusals.total() - differing['refusals']} of {refusals.total()} refusals"
    )
    return min(1, differing.total())


if __name__ == "__main__":
    sys.exit(main())
