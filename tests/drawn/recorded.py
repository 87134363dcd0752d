"""Stored programs: what Esper 9.0.0 does with drawn programs, and what they cover."""

from __future__ import annotations

import gzip
import json
import pathlib
from collections import Counter
from typing import Any

from tests.drawn.drawing import PROGRAM, QUERIES

FOLDER = pathlib.Path(__file__).resolve().parent / "stored"
KNOWN_GAPS = FOLDER.parent / "known_gaps.json"

Program = dict[str, Any]


def path_of(feature: str) -> pathlib.Path:
    return FOLDER / f"{feature}.json.gz"


def stored(feature: str) -> list[Program]:
    """The feature's stored programs; those that Esper refuses have a ``compile_error`` in place of the deployment."""
    return [{"listen": "all", **program} for program in json.loads(gzip.decompress(path_of(feature).read_bytes()))]


def store(feature: str, programs: list[Program]) -> None:
    """Write the programs; the same programs give the same bytes."""
    text = json.dumps([{k: v for k, v in program.items() if k != "listen"} for program in programs], separators=(",", ":"))
    FOLDER.mkdir(exist_ok=True)
    path_of(feature).write_bytes(gzip.compress(text.encode(), mtime=0))


def known_gaps() -> dict[str, str]:
    """Name of a program (with " restarted" where only a replay with restarts differs) → why it does not agree yet."""
    gaps: dict[str, str] = json.loads(KNOWN_GAPS.read_text(encoding="utf-8"))
    return gaps


def is_refused(program: Program) -> bool:
    return bool(program["steps"][0]["op"] == "compile_error")


def emitting(program: Program) -> Counter[str]:
    """Statement → how many rows its listeners and its iterator got; also of all listeners together, and of queries."""
    rows: Counter[str] = Counter()
    for step in program["steps"]:
        for call in step.get("out", ()):
            count = len(call.get("new") or ()) + len(call.get("old") or ())
            rows[call["statement"]] += count
            rows[PROGRAM] += count
        if step["op"] == "faf":
            rows[QUERIES] += len(step.get("rows") or ())
        if step["op"] == "iterate":
            rows[step["statement"]] += len(step.get("rows") or ())
    return rows


def covered(program: Program) -> set[str]:
    """Lines of the census: what the program's statements that emit rows exercise."""
    rows = emitting(program)
    lines: set[str] = set()
    iterated = {step["statement"]: len(step.get("rows") or ()) for step in program["steps"] if step["op"] == "iterate"}
    for statement, bullets in program["bullets"].items():
        if not rows[statement]:
            continue
        lines.update(bullets)
        if "unidirectional" in bullets and statement in iterated:
            lines.add("iterator of unidirectional")
        if iterated.get(statement):
            lines.add("iterator")
            if "order by" in bullets:
                lines.add("ordered iterator")
            if "a row a group" in bullets:
                lines.add("grouped iterator")
    return lines


def census(programs: list[Program]) -> Counter[str]:
    """Line → in how many programs."""
    return Counter(line for program in programs for line in covered(program))
