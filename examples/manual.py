"""The row patterns of the match_recognize manual, one after the other: ``python examples/manual.py``.

Each statement looks at readings of a temperature sensor. Misprints of the old manual are corrected (docs/compatibility.md
lists them), so that every statement runs and gives the manual's table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from runtime import Runtime

SCHEMA = "create schema TemperatureSensorEvent(id string, device int, temp double)"


@dataclasses.dataclass(frozen=True)
class Example:
    """``rows``: (id, device, temp), one per second from 1000 ms, or (ms, id, device, temp).

    ``until``: time advances to it at the end.
    """

    name: str
    about: str
    clauses: str
    rows: tuple[tuple[Any, ...], ...]
    window: str = ""
    until: int = 0

    @property
    def epl(self) -> str:
        return f"""{SCHEMA};
@name('matches') select * from TemperatureSensorEvent{self.window}
match_recognize (
  partition by device
  {self.clauses}
);"""

    def events(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(ms, event) in order."""
        for number, row in enumerate(self.rows, 1):
            ms, event_id, device, temp = row if len(row) == 4 else (number * 1000, *row)
            yield ms, {"id": event_id, "device": device, "temp": temp}


EXAMPLES = (
    Example(
        "two in a row",
        "a temperature at least 10 degrees away from the one before, on the same device",
        """measures A.id as a_id, B.id as b_id, A.temp as a_temp, B.temp as b_temp
  pattern (A B)
  define B as Math.abs(B.temp - A.temp) >= 10""",
        (("E1", 1, 50), ("E2", 1, 55), ("E3", 1, 60), ("E4", 1, 70), ("E5", 1, 85), ("E6", 1, 85), ("E7", 2, 100)),
    ),
    Example(
        "alternation",
        "50 or more, followed by either 45 or less or by a jump of at least 10 degrees",
        """measures A.id as a_id, B.id as b_id, C.id as c_id
  pattern (A (B | C))
  define A as A.temp >= 50, B as B.temp <= 45, C as Math.abs(C.temp - A.temp) >= 10""",
        (("E1", 1, 50), ("E2", 1, 45), ("E3", 1, 46), ("E4", 1, 48), ("E5", 1, 50), ("E6", 1, 60)),
    ),
    Example(
        "optional and reluctant",
        "A is taken only where it must be",
        """measures A.id as a_id, B.id as b_id
  pattern (A?? B?)
  define A as A.temp >= 100, B as B.temp >= 105""",
        (("E1", 1, 99), ("E2", 2, 106), ("E3", 1, 100)),
    ),
    Example(
        "groups by index",
        "one or more of 100 and above, then one or more above the first of them",
        """measures first(A.id) as first_a, last(A.id) as last_a, B[0].id as b0_id, B[1].id as b1_id
  pattern (A+ B+)
  define A as A.temp >= 100, B as B.temp > A[0].temp""",
        (("E1", 1, 99), ("E2", 1, 100), ("E3", 1, 100), ("E4", 1, 101), ("E5", 1, 102)),
        window="#keepall",
    ),
    Example(
        "zero or more",
        "below 50, any number between 50 and 60, above 60",
        """measures A.id as a_id, count(B.id) as count_b, C.id as c_id
  pattern (A B* C)
  define A as A.temp < 50, B as B.temp between 50 and 60, C as C.temp > 60""",
        (("E1", 1, 55), ("E2", 1, 52), ("E3", 1, 49), ("E4", 1, 51), ("E5", 1, 55), ("E6", 1, 61)),
    ),
    Example(
        "optional steps",
        "below 50, perhaps above 50, perhaps below 50, above 55",
        """measures A.id as a_id, B.id as b_id, C.id as c_id, D.id as d_id
  pattern (A B? C? D)
  define A as A.temp < 50, B as B.temp > 50, C as C.temp < 50, D as D.temp > 55""",
        (("E1", 1, 44), ("E2", 1, 49), ("E3", 1, 51), ("E4", 1, 49), ("E5", 1, 56), ("E6", 1, 61)),
    ),
    Example(
        "previous rows",
        "above 100 now and two rows ago",
        """measures A.id as a_id
  pattern (A)
  define A as A.temp > 100 and prev(A.temp, 2) > 100""",
        (("E1", 1, 98), ("E2", 1, 101), ("E3", 1, 101), ("E4", 1, 99), ("E5", 1, 101)),
    ),
    Example(
        "within a window",
        "four rising temperatures within 10 seconds: an event that expires discards its partial matches",
        """measures A.id as a_id, B.id as b_id, C.id as c_id, D.id as d_id
  pattern (A B C D)
  define B as B.temp > A.temp, C as C.temp > B.temp, D as D.temp > C.temp""",
        (
            (1000, "E1", 1, 80), (2000, "E2", 1, 81), (3000, "E3", 1, 82), (4000, "E4", 1, 81), (7000, "E5", 1, 82), (9000, "E6", 1, 83),
            (13000, "E7", 1, 84), (15000, "E8", 1, 84), (20000, "E9", 1, 85), (21000, "E10", 1, 86), (26000, "E11", 1, 87),
        ),
        window=".win:time(10 sec)",
    ),
    Example(
        "interval",
        "the first above 100, with all that follow above 100 within 5 seconds",
        """measures A.id as a_id, count(B.id) as count_b, first(B.id) as first_b, last(B.id) as last_b
  pattern (A B*)
  interval 5 seconds
  define A as A.temp > 100, B as B.temp > 100""",
        (("E1", 1, 98), ("E2", 1, 101), ("E3", 1, 102), ("E4", 1, 104), ("E5", 1, 104)),
        until=7000,
    ),
)  # fmt: skip


def matches(example: Example) -> list[tuple[int, dict[str, Any]]]:
    """Return (ms, match) for every match that the statement emits."""
    rows: list[tuple[int, dict[str, Any]]] = []
    with Runtime() as runtime:
        statement = runtime.deploy(example.epl)["matches"]
        statement.add_listener(lambda new, old, statement, runtime: rows.extend((runtime.now, row.to_dict()) for row in new))
        for ms, event in example.events():
            runtime.advance_time_span(ms)
            runtime.send("TemperatureSensorEvent", event)
        if example.until:
            runtime.advance_time_span(example.until)
    return rows


def main() -> None:
    for example in EXAMPLES:
        print(f"# {example.name}: {example.about}")
        for ms, match in matches(example):
            print(f"{ms:6} ms  {match}")


if __name__ == "__main__":
    main()
