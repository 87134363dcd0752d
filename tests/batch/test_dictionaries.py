"""Columns with dictionaries far longer than their batches."""
from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from runtime import Runtime
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.tier import BatchTier

VALUES = [f"s{n}" for n in range(5000)]


@pytest.mark.parametrize("nulls", [False, True])
def test_only_what_rows_have_gets_a_code(nulls: bool) -> None:
    pool, chance = StringPool(), random.Random(4)
    dictionary = pa.array([*VALUES, None])
    met: set[str] = set()
    for _ in range(5):
        places = [None if nulls and chance.random() < 0.2 else chance.randrange(5001) for _ in range(300)]
        expected = [None if place in (None, 5000) else VALUES[place] for place in places]
        column = pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), dictionary)
        assert [pool.value(int(code)) for code in pool.encode(column)] == expected
        met.update(value for value in expected if value is not None)
    assert len(pool) == len(met) and set(pool.values) == met


def test_a_long_dictionary_is_not_compacted_at_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.batch.tier.tier.CODES_BEFORE", 1000)
    pools: list[StringPool] = []
    compact = BatchTier.compact

    def counted(self: BatchTier) -> None:
        before = self._pool
        compact(self)
        if self._pool is not before:
            pools.append(self._pool)

    monkeypatch.setattr(BatchTier, "compact", counted)
    dictionary, chance = pa.array(VALUES), random.Random(4)
    sums: dict[str, int] = {}
    with Runtime(tier="batch") as runtime:
        runtime.deploy("@public @buseventtype create schema T(k string, v int); @name('s') select k, sum(v) as s from T group by k")
        found: list[dict[str, object]] = []
        runtime.statement("s").add_batch_listener(lambda new, old, s, r: found.extend(new.to_pylist()))
        for _ in range(12):
            places = [chance.randrange(1500) for _ in range(200)]
            keys = pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), dictionary)
            table = pa.table({"k": keys, "v": pa.array([1] * 200, pa.int32())})
            found.clear()
            runtime.send_batch("T", table)
            for row, place in zip(found, places, strict=True):
                sums[VALUES[place]] = sums.get(VALUES[place], 0) + 1
                assert row == {"k": VALUES[place], "s": sums[VALUES[place]]}
    assert len(pools) <= 1


@pytest.mark.parametrize("compared", ["k > least", "k between least and 'x'", "k in ('a', least)", "k not between least and least"])
def test_strings_are_compared_with_a_variables_value_that_no_row_had(compared: str) -> None:
    """Its code must be in the order of strings of the batch that meets it first."""
    emitted: dict[str, list[Any]] = {"row": [], "batch": []}
    for tier, rows in emitted.items():
        with Runtime(tier=tier) as runtime:
            runtime.deploy("create schema T(k string); create variable string least = 'b'")
            statement = runtime.deploy(f"@name('s') select k, {compared} as c from T where ({compared}) or k = 'a'")["s"]
            statement.add_listener(lambda new, old, *_, rows=rows: rows.extend(new))
            for least in ("b", "bb", "d"):
                runtime.set_variables({"least": least})
                runtime.send_batch("T", pa.table({"k": ["a", "c"]}))
    assert emitted["batch"] == emitted["row"]
