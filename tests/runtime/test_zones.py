"""A ZonedDateTime's zone is an offset alone or has a name; both survive texts and snapshots."""
from __future__ import annotations

import pytest

from runtime import Runtime

TEXTS = [
    "2024-02-29T13:45:30Z", "2024-02-29T13:45:30Z[UTC]", "2024-02-29T13:45:30+02:00", "2024-02-29T13:45:30+01:00[Europe/Paris]",
    "2024-02-29T13:45:30Z[GMT]",
]
EPL = """
insert into Z select java.time.ZonedDateTime.parse(text) as z from T;
@name('s0') select z.toString() as shown, z.plus(1 day).toString() as later from Z#keepall;
"""


@pytest.mark.parametrize("text", TEXTS)
def test_the_zone_is_kept(text: str) -> None:
    runtime = Runtime()
    runtime.register("T", {"text": str})
    runtime.deploy(EPL, name="zones")
    runtime.send("T", {"text": text})
    restored = Runtime.restore(runtime.snapshot())
    for one in (runtime, restored):
        assert [row.to_dict() for row in one.deployments["zones"]["s0"]] == [{"shown": text, "later": text.replace("02-29", "03-01")}]


def test_plus_zero_is_z() -> None:
    runtime = Runtime()
    rows: list[str] = []
    runtime.deploy("create schema T(s string); @name('s0') select cast(s, zoneddatetime, dateformat: 'iso').toString() as t from T",
                   listeners={"s0": lambda new, *_: rows.append(new[0]["t"])})
    runtime.send("T", {"s": "2024-02-29T13:45:30+00:00"})
    assert rows == ["2024-02-29T13:45:30Z"]
