"""State of output all and last that a version wrote which made the rows as events came.

``python tests/runtime/test_stored_outputs.py FOLDER`` writes it, with the code of that folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from runtime import Runtime

STORED = Path(__file__).parent / "stored" / "outputs.bin"
SCHEMA = "create schema T(k string, x int); create variable int v = 3; "
STATEMENTS = {
    "all": "select k, x from T output all every 4 seconds",
    "last": "select irstream k, x from T#length(2) output last every 4 seconds",
    "having": "select k, x from T having x > 1 output all every 5 events",
    "ordered": "select k, x from T output all every 4 seconds order by x desc",
    "sum": "select sum(x) as s from T output last every 4 seconds order by s",
    "groups": "select k, sum(x) as s from T group by k output last every 4 seconds order by k",
    "all groups": "select irstream k, sum(x) as s from T#length(3) group by k output all every 4 seconds order by k",
    "events": "select k, x, sum(x) as s from T group by k output all every 4 seconds order by x",
    "rollup": "select k, sum(x) as s from T group by rollup(k) output last every 4 seconds order by k",
    "period": "select k, x from T output every v seconds",
}


def send(runtime: Runtime, first: int, last: int) -> None:
    for number in range(first, last):
        runtime.advance_time(number * 700)
        runtime.send("T", {"k": "abc"[number % 3], "x": number * 7 % 5})


def begun() -> Runtime:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA + "; ".join(f"@name('{name}') {text}" for name, text in STATEMENTS.items()))
    send(runtime, 0, 9)
    return runtime


def heard(runtime: Runtime) -> list[Any]:
    calls: list[Any] = []
    for name in STATEMENTS:
        runtime.statement(name).add_listener(
            lambda new, old, of, _: calls.append((of.name, [row.to_dict() for row in new], [row.to_dict() for row in old])))
    send(runtime, 9, 30)
    return sorted(calls, key=lambda call: str(call[0]))


def test_state_of_rows_that_were_made_at_once_goes_on() -> None:
    expected = heard(begun())
    assert {name for name, *_ in expected} == {*STATEMENTS}
    assert heard(Runtime.restore(STORED.read_bytes(), tier="row")) == expected
    assert heard(Runtime.restore(begun().snapshot(), tier="row")) == expected


if __name__ == "__main__":
    import runtime

    assert Path(runtime.__file__).is_relative_to(sys.argv[1]), f"{runtime.__file__} is not in {sys.argv[1]}"
    STORED.write_bytes(begun().snapshot())
