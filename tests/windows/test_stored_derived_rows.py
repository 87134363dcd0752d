"""State of derived rows of groups that was written when a row that leaves was made again, not kept, goes on.

``python -m tests.windows.test_stored_derived_rows`` writes it with the epl-spark on the path: with the revision before the rows were kept.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

from runtime import Runtime

STORED = Path(__file__).parent / "stored" / "derived_rows_of_groups.bin"
EPL = """create schema T(k string, x int);
@name('rows') select irstream k, datapoints, total from T#groupwin(k)#length(2)#uni(x);
@name('groups') select irstream k, count(*) as n, max(total) as m from T#groupwin(k)#length(2)#uni(x) group by k;
"""
EVENTS = [{"k": "ab"[n % 2 if n % 5 else 0], "x": n * 7 % 11} for n in range(24)]


def begun() -> Runtime:
    runtime = Runtime(tier="row")
    runtime.deploy(EPL)
    for event in EVENTS[:12]:
        runtime.send("T", event)
    return runtime


def heard(runtime: Runtime) -> list[Any]:
    calls: list[Any] = []
    for name in ("rows", "groups"):
        runtime.statement(name).add_listener(lambda new, old, of, _: calls.append((of.name, str(new), str(old))))
    for event in EVENTS[12:]:
        runtime.send("T", event)
    return calls + [str(list(runtime.statement(name))) for name in ("rows", "groups")]


def test_goes_on() -> None:
    expected = heard(begun())
    assert len(expected) == 26 and heard(Runtime.restore(STORED.read_bytes(), tier="row")) == expected


if __name__ == "__main__":
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_bytes(begun().snapshot())
