"""How many drawn programs have each part of the language, and how many of them agree: the table of docs/compatibility.md.

``python -m tests.drawn.table --write`` writes it again; with ``--pairs`` it prints how many programs have two parts together, the rarest
first.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

from tests.drawn.language.programs import LANGUAGE
from tests.drawn.omissions import omissions
from tests.drawn.programs import FEATURES
from tests.drawn.recorded import Program, is_refused, known_gaps, stored

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"
BEGIN, END = "| part of the language | programs |", "\n\n"
SUBJECTS = {
    "data windows, one on a stream": r"#(?!uni|size|linest|correl|weighted|groupwin)\w+|data window",
    "several windows on a stream, `#groupwin`": r"several windows|#groupwin|group window",
    "derived-value views": r"#(uni|size|linest|correl|weighted_avg)|derived window",
    "`prev`, `prior`": r"prev|prior",
    "aggregation, `having`": r"aggregat|having|one row for all",
    "`group by`": r"group by|grouped|a row a group",
    "`rollup`, `cube`, `grouping sets`": r"rollup",
    "output rates": r"output (?!clause of)|when terminated|after a time|and when terminated",
    "`order by`, `limit`": r"order by|limit|ordered",
    "`distinct`": r"distinct|query distinct",
    "remove stream: `irstream`, `rstream`": r"remove stream|rstream",
    "joins of two streams": r"two streams|join of 2|self join|inner join|cartesian",
    "joins of three and more": r"(three|four|five) streams|join of [34]",
    "outer joins": r"(left|right|full) outer|outer join",
    "`unidirectional`": r"unidirectional",
    "sub-queries": r"sub-quer|correlated|scalar|^in |^exists|^(any|all|some) ",
    "patterns": r"pattern|guard|every-distinct|match-until|event before or after",
    "`match_recognize`": r"match_recognize|row pattern",
    "named windows and their consumers": r"named window|create window|consumer|window (insert|of|as|column)",
    "tables": r"table",
    "`on … select`, `update`, `delete`, `set`": r"on.(select|update|delete|set)|select and delete",
    "`on … merge`": r"merge|matched",
    "split streams": r"split|several branches",
    "`insert into`": r"insert into|several writers|several statements",
    "`update istream`": r"update istream",
    "indexes": r"index",
    "queries": r"query",
    "keyed contexts": r"^keyed|context partition",
    "category and hash contexts": r"^category|^hash|context (group|coalesce)",
    "contexts that begin and end": r"initiated|overlapping|start and end|context start|terminated|starts with|ends with",
    "nested contexts": r"^nested",
    "contained events": r"contained",
    "variants, sub-types": r"variant|sub-type",
    "declared expressions, enumeration methods": r"declared expression|created expression|enumeration|method's",
    "variables": r"variable|on set",
}
"""Part of the language → what the bullets of programs with it match."""


def rows() -> list[str]:
    """The lines of the table."""
    programs, gaps, parts = ran(), known_gaps(), omissions()

    def line(subject: str, of: list[Program]) -> str:
        names = [each["name"] for each in of]
        apart, open_ = sum(name in parts for name in names), sum(name in gaps for name in names)
        return f"| {subject} | {len(names)} | {len(names) - apart - open_} | {apart} | {open_} |"

    made = [f"{BEGIN} agree | … but for parts where Esper is at fault | do not agree |", "|---|---:|---:|---:|---:|"]
    made += [line(subject, [each for each in programs if subject in subjects_of(each)]) for subject in SUBJECTS]
    return [*made, line("all", programs)]


def ran() -> list[Program]:
    """The stored programs that Esper does not refuse."""
    return [each for feature in (*FEATURES, LANGUAGE) for each in stored(feature) if not is_refused(each)]


def subjects_of(each: Program) -> list[str]:
    """The parts of the language that the program's statements exercise, in the table's order."""
    bullets = {bullet for bullets in each["bullets"].values() for bullet in bullets}
    return [subject for subject, pattern in SUBJECTS.items() if any(re.search(pattern, bullet) for bullet in bullets)]


def pairs(programs: list[Program]) -> Counter[tuple[str, str]]:
    """Two parts of the language → in how many of the programs both are; also those that are nowhere together."""
    counts = Counter(dict.fromkeys(combinations(SUBJECTS, 2), 0))
    for each in programs:
        counts.update(combinations(subjects_of(each), 2))
    return counts


def written() -> str:
    """The table as the page has it."""
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(BEGIN)
    return text[start : text.index(END, start)]


def main() -> None:
    if "--write" in sys.argv:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(text.replace(written(), "\n".join(rows())), encoding="utf-8")
    elif "--pairs" in sys.argv:
        for (one, other), count in reversed(pairs(ran()).most_common()):
            print(f"{count:5} {one} and {other}")
    else:
        print("\n".join(rows()))


if __name__ == "__main__":
    main()
