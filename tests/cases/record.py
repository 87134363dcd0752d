#!/usr/bin/env python3
"""Fill cases with what Esper does: EPL_ORACLE=…/record.py python tests/cases/record.py [FILE …]

A case says only what goes in (CONTRIBUTING.md, "Add a case"); the recorder that the environment variable EPL_ORACLE names (a
program that takes JSON files of traces and rewrites them with Esper's output) adds what comes out. Without FILE: every case file
beside this script. Files are written one step a line, so that a change reads well in a diff. Where Esper does not end, and the case did not
say so before, nothing is written.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def case_files() -> list[pathlib.Path]:
    return sorted(p for p in HERE.rglob("*.json") if p.name != "ledger.json")


def without_addresses(value: Any) -> Any:
    """The same without the column that Esper adds to rows inserted into a table: an object of its own, shown by its address."""
    if isinstance(value, dict):
        return {key: without_addresses(each) for key, each in value.items() if key != "internal-reserved"}
    return [without_addresses(each) for each in value] if isinstance(value, list) else value


def layout(cases: list[dict[str, Any]]) -> str:
    """The cases as JSON, one step a line; the folder and the file say which suite and class they belong to."""
    blocks = []
    for case in cases:
        head = {k: v for k, v in case.items() if k not in ("suite", "class", "steps", "listen")}
        steps = ",\n    ".join(json.dumps(without_addresses(step), ensure_ascii=False) for step in case["steps"])
        blocks.append("  " + json.dumps(head, ensure_ascii=False)[:-1] + ', "steps": [\n    ' + steps + "]}")
    return UUID.sub("…", "[\n" + ",\n".join(blocks) + "\n]\n")


def main(arguments: list[str]) -> int:
    oracle = os.environ.get("EPL_ORACLE")
    if not oracle:
        print("record.py: set EPL_ORACLE to a program that fills traces with Esper's output", file=sys.stderr)
        return 2
    files = [pathlib.Path(a).resolve() for a in arguments] or case_files()
    with tempfile.TemporaryDirectory() as folder:
        copies = [pathlib.Path(folder) / f"{number}.json" for number, _ in enumerate(files)]
        for source, copy in zip(files, copies):
            cases = json.loads(source.read_text(encoding="utf-8"))
            copy.write_text(json.dumps([{k: v for k, v in case.items() if k != "error"} for case in cases]), encoding="utf-8")
        done = subprocess.run([oracle, *map(str, copies)], check=False)
        if done.returncode:
            return done.returncode
        filled = {source: json.loads(copy.read_text(encoding="utf-8")) for source, copy in zip(files, copies)}
    failed = [
        f"{source.name}: {case['name']}: {case['error']}"
        for source, cases in filled.items()
        for case, before in zip(cases, json.loads(source.read_text(encoding="utf-8")))
        if case.get("error") and not before.get("error")
    ]
    if failed:
        print("record.py: nothing is written, record again\n" + "\n".join(failed), file=sys.stderr)
        return 1
    for source, cases in filled.items():
        source.write_text(layout(cases), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
