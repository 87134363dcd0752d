"""Parts of drawn programs that are not compared, since there Esper 9.0.0 is at fault or its order is that of object identities.

``omissions.json`` names for each such program why, and in which steps what part differs: ``differs``, or ``order``, where the rows of each
call are the same in another order. All other parts are compared, and a part that is named must differ just so: an entry that is wrong, or
has become so, fails. ``python -m tests.drawn.omissions WHY PROGRAM …`` writes entries.
"""
from __future__ import annotations

import json
import sys
from typing import Any

from tests.comparison import step_differences
from tests.drawn.recorded import FOLDER, Program
from tests.replay.player import replay_trace

OMISSIONS = FOLDER.parent / "omissions.json"

Parts = dict[str, dict[str, list[int]]]


def omissions() -> dict[str, dict[str, Any]]:
    """Name of a program → why, and the parts that are not compared."""
    read: dict[str, dict[str, Any]] = json.loads(OMISSIONS.read_text(encoding="utf-8"))
    return read


def differing_parts(program: Program, *, restart: bool = False) -> Parts:
    """Return what differs from Esper: "differs" or "order" → part → numbers of steps."""
    actual = replay_trace(program, restart=restart)["steps"]
    found: Parts = {}
    for number, (want, got) in enumerate(zip(program["steps"], actual, strict=True)):
        in_any_order = {part for part, _ in step_differences({**want, "any_order": True}, got)}
        for part, _ in step_differences(want, got):
            found.setdefault("differs" if part in in_any_order else "order", {}).setdefault(part, []).append(number)
    return found


def parts_of(entry: dict[str, Any]) -> Parts:
    return {kind: parts for kind, parts in entry.items() if kind != "why"}


def store(entries: dict[str, dict[str, Any]]) -> None:
    """Write them, one a line."""
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in entries.items())
    OMISSIONS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    from tests.drawn.test_drawn import PROGRAMS

    why, *names = arguments
    entries = omissions() if OMISSIONS.exists() else {}
    for name in names:
        entries[name] = {"why": why, **differing_parts(PROGRAMS[name])}
        print(name, entries[name])
    place = {name: number for number, name in enumerate(PROGRAMS)}
    store(dict(sorted(entries.items(), key=lambda entry: place[entry[0]])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
