"""``sort_using_collator``: pairs as ``java.text.Collator`` (US, JDK 17) compared them, rows as Esper 9.0.0 gave them with the setting."""
from __future__ import annotations

import json
import pathlib
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.collation import collation_key
from runtime import Runtime, Settings

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded_collator.json").read_text(encoding="utf-8"))
TEXTS = ["b", "B", "á", "a", "A", "c d", "cd", "c-d", "Z", "z", None, "a", "é"]
IN_ORDER = [None, "a", "a", "A", "á", "b", "B", "cd", "c d", "c-d", "é", "z", "Z"]
SCHEMA = "create schema T(id int, s string)"


def _collated(tier: str = "auto") -> Runtime:
    runtime = Runtime(settings=Settings(sort_using_collator=True), tier=tier)
    runtime.deploy(SCHEMA)
    return runtime


def _send(runtime: Runtime, texts: list[str | None] = TEXTS) -> None:
    for number, text in enumerate(texts):
        runtime.send("T", {"id": number, "s": text})


def _rows(runtime: Runtime, name: str = "s0") -> list[Any]:
    return [dict(row) for row in runtime.statement(name)]


def test_pairs_compare_as_in_java() -> None:
    wrong = []
    for one, other, answer in RECORDED:
        mine = collation_key(one), collation_key(other)
        if (mine[0] > mine[1]) - (mine[0] < mine[1]) != answer:
            wrong.append((one, other, answer))
    assert len(RECORDED) >= 400 and wrong == []


@given(st.text())
def test_every_text_has_a_place(text: str) -> None:
    key = collation_key(text)
    assert key.count(0) == 2 and (collation_key("zz") < collation_key("ж" + text))


@pytest.mark.parametrize(("query", "column", "expected"), [
    ("select s from T#keepall order by s", "s", IN_ORDER),
    ("select s from T#keepall order by s desc", "s", [*reversed(IN_ORDER)]),
    ("select s, count(*) as c from T#keepall group by s order by s", "s", [None, *IN_ORDER[2:]]),
    ("select id from T#keepall order by s, id desc", "id", [10, 11, 3, 4, 2, 0, 1, 6, 5, 7, 12, 9, 8]),
    ("select id from T#sort(4, s asc)", "id", [10, 11, 3, 4]),
    ("select id from T#sort(4, s desc)", "id", [8, 9, 12, 7]),
    ("select id from T#rank(id, 4, s asc)", "id", [10, 3, 11, 4]),
    ("select sorted(s).selectFrom(x => x.id) as c from T#keepall", "c", [[10, 3, 11, 4, 2, 0, 1, 6, 5, 7, 12, 9, 8]]),
    ("select maxby(s).s as c from T#keepall", "c", ["Z"]),
    ("select maxbyever(s).s as c from T", "c", ["Z"]),
    ("select max(s) as c from T#keepall", "c", ["é"]),
    ("select min(s) as c from T#keepall", "c", ["A"]),
    ("select s > 'b' as c from T(s = 'Z')#keepall", "c", [False]),
])
def test_where_the_collator_sorts(query: str, column: str, expected: list[Any]) -> None:
    runtime = _collated()
    runtime.deploy(f"@name('s0') {query}")
    _send(runtime)
    assert [row[column] for row in _rows(runtime)] == expected


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize(("direction", "expected"), [("asc", IN_ORDER), ("desc", [*reversed(IN_ORDER)])])
def test_batches_in_order(tier: str, direction: str, expected: list[str | None]) -> None:
    found: list[Any] = []
    runtime = _collated(tier)
    runtime.deploy(f"@name('s0') select s from T#length_batch({len(TEXTS)}) order by s {direction}",
        listeners={"s0": lambda new, *_: found.extend(row["s"] for row in new or ())})
    runtime.send_batch("T", pa.table({"id": pa.array(range(len(TEXTS)), pa.int32()), "s": TEXTS}))
    assert found == expected


def test_a_snapshot_keeps_the_order() -> None:
    runtime = _collated()
    runtime.deploy("@name('s0') select id from T#sort(4, s asc); @name('s1') select sorted(s).selectFrom(x => x.id) as c from T#keepall")
    _send(runtime, TEXTS[:6])
    again = Runtime.restore(runtime.snapshot())
    for each in (runtime, again):
        each.send("T", {"id": 20, "s": "Á"})
    assert _rows(again) == _rows(runtime) == [{"id": 3}, {"id": 4}, {"id": 2}, {"id": 20}]
    assert _rows(again, "s1") == _rows(runtime, "s1")
