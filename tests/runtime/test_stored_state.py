"""State that an earlier revision wrote is still read: snapshots and pages of both tiers go on as if they had never been written.

``python -m tests.runtime.test_stored_state`` writes the files again; do so only where the version of the format rises, since what they are
for is to be older than the code.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import pytest

from runtime import Runtime
from runtime.state.seal import VERSION

STORED = Path(__file__).parent / "stored" / f"version_{VERSION}.zip"
MODULE = """
create schema Trade(symbol string, price double, volume long, note string);
create schema Large() inherits Trade;
create variable long least = 2;
@name('rises') select * from Trade#time(20 sec) match_recognize (partition by symbol measures A.price as a, last(B.price) as b
  pattern (A B+ C) define B as B.price > prev(B.price), C as C.price < prev(C.price));
@name('sums') select irstream symbol, sum(volume) as s, avg(price) as p from Trade#length(7) group by symbol;
@name('last') select symbol, count(*) as c from Trade#time(9 sec) group by symbol output last every 4 seconds;
@name('groups') select irstream symbol, prev(1, price) as before from Trade#groupwin(symbol)#length(3);
@name('sorted') select irstream * from Trade(volume > least)#sort(4, price desc, symbol);
@name('batches') select rstream symbol, max(price) as m from Trade#time_batch(5 sec) group by symbol;
@name('rollup') select symbol, note, sum(price) as s from Trade#unique(symbol, note) group by rollup(symbol, note);
insert into Big select * from Trade(volume > 6);
@name('big') select symbol, prior(2, price) as p from Big#keepall;
"""
"""Most kinds of state: partial matches, windows by length, time, key and order, groups, what an output clause holds back, prev, prior."""

KINDS = ("snapshot", "pages")
TIERS = ("row", "auto")


def events() -> list[tuple[int, dict[str, Any]]]:
    """(time in ms, event) of 240 events; the first half comes before the state is written."""
    draw = Random(20)

    def event() -> dict[str, Any]:
        symbol, price, volume = draw.choice("XYZ"), draw.randrange(1, 40) / 4, draw.randrange(9)
        return {"symbol": symbol, "price": price, "volume": volume, "note": draw.choice(["", "é", None])}

    return [(n * 250, event()) for n in range(240)]


def fed(runtime: Runtime, part: list[tuple[int, dict[str, Any]]]) -> list[Any]:
    """What all listeners get while the events come."""
    calls: list[Any] = []

    def listener(new: Any, old: Any, statement: Any, runtime: Any) -> None:
        calls.append((statement.name, runtime.now, [dict(row) for row in new or ()], [dict(row) for row in old or ()]))

    for deployment in runtime.deployments.values():
        for statement in deployment:
            if statement.name in NAMES:
                statement.add_listener(listener)
    for time, event in part:
        runtime.advance_time_span(time)
        runtime.send("Trade", event)
    runtime.advance_time_span(part[-1][0] + 30_000)
    return calls


NAMES = ("rises", "sums", "last", "groups", "sorted", "batches", "rollup", "big")


def begun(tier: str) -> Runtime:
    runtime = Runtime(tier=tier)
    runtime.deploy(MODULE)
    for time, event in events()[:120]:
        runtime.advance_time_span(time)
        runtime.send("Trade", event)
    return runtime


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("kind", KINDS)
def test_state_written_by_an_earlier_revision_goes_on(kind: str, tier: str) -> None:
    with zipfile.ZipFile(STORED) as archive:
        folder = f"{tier}/pages/"
        pages = {name.removeprefix(folder): archive.read(name) for name in archive.namelist() if name.startswith(folder)}
        stored: Any = archive.read(f"{tier}/snapshot") if kind == "snapshot" else pages
    assert stored
    restored, whole = Runtime.restore(stored, tier=tier), begun(tier)
    for name in NAMES:
        assert [dict(row) for row in statement(restored, name)] == [dict(row) for row in statement(whole, name)], name
    expected = fed(whole, events()[120:])
    assert {name for name, *_ in expected} == set(NAMES)
    assert fed(restored, events()[120:]) == expected


def statement(runtime: Runtime, name: str) -> Any:
    return next(each for deployment in runtime.deployments.values() for each in deployment if each.name == name)


def write() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for tier in TIERS:
            runtime = begun(tier)
            archive.writestr(f"{tier}/snapshot", runtime.snapshot())
            for name, page in runtime.pages().apply_to({}).items():
                archive.writestr(f"{tier}/pages/{name}", page)
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_bytes(data.getvalue())


if __name__ == "__main__":
    write()
