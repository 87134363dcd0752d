"""Partitions that end with the one around them: the order after a restart, and state of before it was kept.

``python tests/contexts/test_order_of_ends.py FOLDER`` writes that state, with the code of that folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from runtime import Runtime

STORED = Path(__file__).parent / "stored" / "nested.bin"
EPL = """create schema A(k string, x int); create schema Open(k string); create schema Close(k string);
create context Twice context Far initiated by Open as b terminated by Close(k = b.k), context Near partition by x from A;
@name('twice') context Twice select context.id as id, x from A output last when terminated;
create context Thrice context Far start Open end Close, context Amid initiated by A(x = 0) as a terminated after 1 day,
context Near partition by x from A;
@name('thrice') context Thrice select context.id as id, context.Amid.a.k as k, x from A output last when terminated;
create context Apart context Far initiated by A(x = 1) terminated by Close,
context Near initiated by distinct(a.k) A as a terminated by Open;
@name('apart') context Apart select context.id as id, x from A output last when terminated"""


def begun() -> Runtime:
    runtime = Runtime(tier="row")
    runtime.deploy(EPL)
    for name in ("p", "q"):
        runtime.send("Open", {"k": name})
        runtime.send("Close", {"k": name})
    runtime.send("Open", {"k": "r"})
    runtime.send("Open", {"k": "s"})
    for number in range(9):
        runtime.send("A", {"k": "abc"[number % 3], "x": number * 7 % 5})
    return runtime


def heard(runtime: Runtime) -> list[Any]:
    """The rows of what ends, of each statement in the order in which it emits them."""
    rows: list[Any] = []
    for name in ("twice", "thrice", "apart"):
        runtime.statement(name).add_listener(lambda new, old, of, _: rows.extend((of.name, row.to_dict()) for row in new))
    for number in range(9, 14):
        runtime.send("A", {"k": "abc"[number % 3], "x": number})
    for name in ("r", "s"):
        runtime.send("Close", {"k": name})
    return rows


def test_order_goes_on() -> None:
    expected = heard(begun())
    assert len(expected) > 20
    assert heard(Runtime.restore(begun().snapshot(), tier="row")) == expected


def test_state_of_before_ends_all() -> None:
    """The third statement has other partitions: versions of before remembered more distinct values."""

    def sorted_rows(rows: list[Any]) -> list[Any]:
        return sorted((row for row in rows if row[0] != "apart"), key=str)

    rows = heard(Runtime.restore(STORED.read_bytes(), tier="row"))
    assert sorted_rows(rows) == sorted_rows(heard(begun()))
    assert len(rows) > len(sorted_rows(rows))


if __name__ == "__main__":
    import runtime

    assert Path(runtime.__file__).is_relative_to(sys.argv[1]), f"{runtime.__file__} is not in {sys.argv[1]}"
    STORED.write_bytes(begun().snapshot())
