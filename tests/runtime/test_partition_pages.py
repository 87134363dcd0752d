"""Partial matches of match_recognize in pages by partition: what is written is as large as what changed, restores exactly in either tier,
and the form in which all partitions stood in one page is still read.

``python -m tests.runtime.test_partition_pages`` wrote the files of that form; the code that writes it is gone.
"""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import msgpack
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import EplRuntimeError, Runtime
from runtime.batch.match_recognize.state import PatternState
from runtime.state.codec import KEYED
from runtime.state.key_pages import KEYS_A_PAGE, ComparedPages
from runtime.state.seal import seal_payload, unseal_payload
from windows.paging import Compared

STORED = Path(__file__).parent / "stored" / "partitions_in_one_page.zip"
SCHEMA = "@public @buseventtype create schema E(k string, j int, d double, x int, at_time long);"
PATTERNS = {
    "layers": "E match_recognize (partition by k measures A.x as a, C.x as c pattern (A B* C) define B as B.x > 3, C as C.x < 2)",
    "strands": "E match_recognize (partition by k, j measures A.x as a, last(B.x) as b, C.x as c pattern (A B+ C) "
               "define B as B.x > A.x, C as C.x < A.x)",
    "numbers": "E match_recognize (partition by d measures A.x as a, B.x as b, C.x as c pattern (A B C) define B as B.x > 2)",
    "one": "E match_recognize (measures A.x as a, C.x as c pattern (A B* C) define A as A.x > 5, B as B.x > 3, C as C.x < 2)",
    "previous": "E match_recognize (partition by k measures A.x as a, B.x as b pattern (A B) define B as B.x > prev(B.x, 2))",
    "length": "E#length(5) match_recognize (partition by k measures A.x as a, C.x as c pattern (A B* C) define B as B.x > 3, C as C.x < 2)",
    "time": "E#time(8 sec) match_recognize (partition by k, j measures A.x as a, B.x as b pattern (A B) define B as B.x > prev(B.x))",
    "keepall": "E#keepall match_recognize (partition by k measures A.x as a, C.x as c pattern (A B+ C) "
               "define B as B.x > A.x, C as C.x < 2)",
    "interval": "E match_recognize (partition by k measures A.x as a, count(B.x) as n pattern (A B*) interval 6 sec define A as A.x > 5)",
    "looks back": "E match_recognize (partition by k measures A.x as a, count(B.x) as n pattern (A B*) interval 6 sec define A as A.x > 5, "
                  "B as B.x > A.x)",
    "all": "E match_recognize (partition by k measures A.x as a, B.x as b all matches pattern (A B?) interval 5 sec define A as A.x > 4)",
    "terminated": "E match_recognize (partition by k measures A.x as a, count(B.x) as n pattern (A B*) interval 6 sec or terminated "
                  "define A as A.x > 5, B as B.x > A.x)",
}
"""One statement a form of state: in seconds, where it has a period."""
TIERS = ("row", "batch")
ROW = st.tuples(
    st.sampled_from(["a", "b", "c", None]), st.sampled_from([0, 1, None]), st.sampled_from([0.0, -0.0, 1.5, math.nan, None]),
    st.integers(0, 9), st.integers(0, 3_000),
)


def deployed(names: list[str], tier: str) -> Runtime:
    runtime = Runtime(tier=tier)
    runtime.deploy(SCHEMA + "".join(f"@name('{name}') select * from {PATTERNS[name]};" for name in names))
    return runtime


def table(rows: list[Any], start: int) -> pa.Table:
    """Rows with the time since the row before as their last value."""
    times = []
    for *_, passed in rows:
        start += passed
        times.append(start)
    kinds = {"k": pa.string(), "j": pa.int32(), "d": pa.float64(), "x": pa.int32()}
    columns = {name: pa.array([row[place] for row in rows], kind) for place, (name, kind) in enumerate(kinds.items())}
    return pa.table({**columns, "at_time": pa.array(times, pa.int64())})


def fed(runtime: Runtime, batches: list[list[Any]], until: int) -> dict[str, list[Any]]:
    """What the statements emit while the batches come and time goes on to ``until`` after them, by name."""
    found: dict[str, list[Any]] = {}
    for deployment in runtime.deployments.values():
        for statement in deployment:
            if statement.name in PATTERNS:
                into = found.setdefault(statement.name, [])
                statement.add_batch_listener(lambda new, *_, into=into: into.extend([] if new is None else new.to_pylist()))
    for rows in batches:
        runtime.send_batch("E", table(rows, runtime.now), time="at_time")
    runtime.advance_time_span(runtime.now + until)
    return found


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=4, deadline=None)
@given(before=st.lists(st.lists(ROW, max_size=12), min_size=1, max_size=5), after=st.lists(ROW, max_size=12))
def test_a_base_and_its_changes_restore_exactly_in_either_tier(
    name: str, tier: str, before: list[list[Any]], after: list[Any]
) -> None:
    runtime = deployed([name], tier)
    base = runtime.pages()
    store, mark = base.apply_to({}), base.mark
    for rows in before:
        runtime.send_batch("E", table(rows, runtime.now), time="at_time")
        changes = runtime.pages(since=mark)
        store, mark = changes.apply_to(store), changes.mark
    assert Runtime.restore(store, tier=tier).snapshot() == runtime.snapshot()
    others = [Runtime.restore(store, tier=each) for each in TIERS]
    expected = fed(runtime, [after], 20_000)
    assert [fed(each, [after], 20_000) for each in others] == [expected, expected]


def test_times_of_first_rows_whose_interval_is_over_restore_exactly() -> None:
    passed = [(0, 0), (0, 0), (0, 0), (6, 0), (0, 1), (6, 0), (0, 1763), (0, 1767), (0, 2471)]
    runtime = deployed(["interval"], "batch")
    runtime.send_batch("E", table([("a", 0, 0.0, x, time) for x, time in passed], runtime.now), time="at_time")
    assert Runtime.restore(runtime.snapshot(), tier="batch").snapshot() == runtime.snapshot()


@pytest.mark.parametrize(("tier", "count"), [("row", 100_000), ("batch", 10_000)])
def test_an_event_in_one_of_many_partitions_writes_the_pages_of_that_partition(tier: str, count: int) -> None:
    runtime = Runtime(tier=tier)
    runtime.deploy(
        "@public @buseventtype create schema E(k int, x int); @name('s') select * from E match_recognize (partition by k "
        "measures A.x as a, C.x as c pattern (A B+ C) define B as B.x > A.x, C as C.x < A.x)"
    )
    runtime.send_batch("E", pa.table({"k": pa.array(range(count), pa.int32()), "x": pa.array([5] * count, pa.int32())}))
    base = runtime.pages()
    assert sum("/0/" not in key and key.startswith("state/") for key in base.changed) >= count / KEYS_A_PAGE
    runtime.send_batch("E", pa.table({"k": pa.array([17], pa.int32()), "x": pa.array([6], pa.int32())}))
    changes = runtime.pages(since=base.mark)
    assert not changes.complete and not changes.removed
    assert len(changes.changed) == 3  # the statement's page, the partition's, and the event's
    assert sum(map(len, changes.changed.values())) < 8_000
    assert runtime.pages(since=changes.mark).changed == {}
    largest = max(map(len, base.changed.values()))
    assert largest < 20_000  # no page holds all partitions


@pytest.mark.parametrize("name", ["interval", "looks back", "terminated"])
@pytest.mark.parametrize("tier", TIERS)
def test_a_match_that_is_held_back_writes_no_page_of_the_others(name: str, tier: str) -> None:
    runtime = deployed([name], tier)
    count = 3_000
    keys = pa.array([f"k{number}" for number in range(count)])
    columns = {"j": pa.nulls(count, pa.int32()), "d": pa.nulls(count, pa.float64()), "x": pa.array([7] * count, pa.int32())}
    runtime.send_batch("E", pa.table({"k": keys, **columns, "at_time": pa.array([0] * count, pa.int64())}), time="at_time")
    mark = runtime.pages().mark
    runtime.send_batch("E", table([("k5", None, None, 9, 0)], 0), time="at_time")
    changes = runtime.pages(since=mark)
    assert len(changes.changed) <= 6 and sum(map(len, changes.changed.values())) < 30_000


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("kind", ["snapshot", "pages"])
def test_partitions_that_stand_in_one_page_go_on(kind: str, name: str, tier: str) -> None:
    with zipfile.ZipFile(STORED) as archive:
        for written_by in TIERS:
            folder = f"{written_by}/{name}/pages/"
            pages = {each.removeprefix(folder): archive.read(each) for each in archive.namelist() if each.startswith(folder)}
            stored: Any = archive.read(f"{written_by}/{name}/snapshot") if kind == "snapshot" else pages
            whole = begun(name, tier)
            expected = fed(whole, rows_after(), 20_000)
            assert expected[name]
            assert fed(Runtime.restore(stored, tier=tier), rows_after(), 20_000) == expected


def rows_of(seed: int) -> list[list[Any]]:
    draw = Random(seed)
    return [
        [
            (draw.choice(["a", "b", None]), draw.choice([0, None]), draw.choice([0.0, -0.0, math.nan]), draw.randrange(10),
             draw.randrange(900))
            for _ in range(15)
        ]
        for _ in range(4)
    ]


def rows_after() -> list[list[Any]]:
    return rows_of(2)


def begun(name: str, tier: str) -> Runtime:
    runtime = deployed([name], tier)
    fed(runtime, rows_of(1), 0)
    return runtime


def test_keys_of_damaged_pages_are_refused() -> None:
    runtime = begun("layers", "row")
    pages = runtime.pages().apply_to({})
    page = next(key for key in pages if "/k0/" in key)
    kind, version, rows = msgpack.unpackb(unseal_payload(pages[page], f"page '{page}'"), strict_map_key=False)
    for changed, message in (
        ([rows[0], [rows[-1][0] + 1, *rows[0][1:]], *rows[2:]], "two partitions have one key"),
        ([[0, [7], rows[0][2]], *rows[1:]], "a value of type int where a value of type String is expected"),
        ([[0, [], rows[0][2]], *rows[1:]], "a list of 0 where a list of 1 is expected"),
    ):
        damaged = {**pages, page: seal_payload(msgpack.packb([kind, version, changed]), f"page '{page}'")}
        for tier in TIERS:
            with pytest.raises(EplRuntimeError) as caught:
                Runtime.restore(damaged, tier=tier)
            assert message in caught.value.message


@settings(max_examples=60, deadline=None)
@given(st.lists(st.permutations(range(8)).flatmap(lambda order: st.lists(st.booleans(), min_size=8, max_size=8).map(
    lambda kept: [each for each, keep in zip(order, kept) if keep])), max_size=8), st.randoms(use_true_random=False))
def test_compared_pages_are_the_rows_in_their_order(moments: list[list[int]], random: Random) -> None:
    pages, stored = ComparedPages("partitions"), {}
    for keys in moments:
        rows = Compared("partitions", [[[key], [random.randrange(3)]] for key in keys])
        for page in pages.changed(rows, msgpack.packb):
            stored[page] = pages.pages.rows(page)
        pages.release()
        assert [row[1:] for row in sorted(row for page in stored.values() for row in page)] == rows
        assert pages.changed(rows, msgpack.packb) == set()


def test_keys_are_an_extension_in_the_page_of_the_statement() -> None:
    pages = begun("interval", "row").pages().apply_to({})
    key = next(each for each in pages if each.startswith("state/") and b"match_recognize" in pages[each])
    recognizer = msgpack.unpackb(unseal_payload(pages[key], f"page '{key}'"), strict_map_key=False)[2]["match_recognize"]
    assert set(recognizer) == {"row", "partitions", "numbers", "taken", "twice", "histories", "interval"}
    assert recognizer["partitions"].code == recognizer["interval"]["waiting"].code == KEYED


def write() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for tier in TIERS:
            for name in PATTERNS:
                runtime = begun(name, tier)
                archive.writestr(f"{tier}/{name}/snapshot", runtime.snapshot())
                for key, page in runtime.pages().apply_to({}).items():
                    archive.writestr(f"{tier}/{name}/pages/{key}", page)
    STORED.write_bytes(data.getvalue())


if __name__ == "__main__":
    write()


@pytest.mark.parametrize("tiers", [(first, second) for first in TIERS for second in TIERS], ids="-".join)
def test_matches_found_with_one_row_are_all_emitted_when_their_partial_match_ends(tiers: tuple[str, str]) -> None:
    """In columns they have one sequence number."""
    text = SCHEMA + (
        "@name('s') select * from E match_recognize (measures A.x as a, last(B.x) as b after match skip to next row pattern (A B+) "
        "interval 60 sec or terminated define B as B.x > prev(B.x))"
    )
    for restart in range(6):
        runtime = Runtime(tier=tiers[0])
        runtime.deploy(text)
        calls: list[Any] = []
        for n, x in enumerate([1, 2, 7, 8, 6]):
            if n == restart:
                runtime = Runtime.restore(runtime.snapshot(), tier=tiers[1])
            if n in (0, restart):
                runtime.statement("s").add_batch_listener(lambda new, *_, calls=calls: calls.extend(new.to_pylist()))
            runtime.send("E", {"k": "k", "j": 0, "d": 0.0, "x": x, "at_time": 0})
        assert calls == [{"a": 1, "b": 8}, {"a": 2, "b": 8}, {"a": 7, "b": 8}], restart


def test_only_partitions_that_changed_are_made_in_columns() -> None:
    runtime = Runtime(tier="batch")
    runtime.deploy(SCHEMA + f"@name('s') select * from {PATTERNS['strands']}")
    keys = [(str(n % 20), n // 20, 0.0, 5, 0) for n in range(2_000)]
    runtime.send_batch("E", table(keys, runtime.now), time="at_time")
    base = runtime.pages()
    runtime.send_batch("E", table([("7", 3, 0.0, 9, 0)], runtime.now), time="at_time")
    with patch.object(PatternState, "_partial_matches", autospec=True, side_effect=PatternState._partial_matches) as partial_matches, \
            patch.object(PatternState, "_layers", autospec=True, side_effect=PatternState._layers) as layers:
        changes = runtime.pages(since=base.mark)
    assert 1 <= partial_matches.call_count + layers.call_count <= 4 * KEYS_A_PAGE
    assert Runtime.restore(changes.apply_to(base.apply_to({})), tier="batch").snapshot() == runtime.snapshot()
