"""Math's functions in columns: the row tier's results to the last bit, at the ends of the types too."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.java_hash import string_hash
from runtime.batch.available import is_available
from runtime.batch.printing import java_hash
from runtime.batch.storage.arrays import CODES, ArrayField, Arrays
from runtime.batch.storage.strings import StringPool
from tests.batch.two_tiers import assert_same, batches_of

TEXT = (
    "select Math.abs(n) as a, Math.abs(m) as b, Math.abs(x) as c, Math.floor(x) as f, Math.ceil(x) as g, Math.sqrt(x) as h, "
    "Math.max(n, 3) as i, Math.min(m, 3L) as j, n in (1, n - 5, 3) as k, m not in (m * 2, 9L, null) as l from T"
)
DOUBLES = st.one_of(st.none(), st.floats(-1e15, 1e15), st.sampled_from([0.0, -0.0, -0.3, 2.5, float("nan"), float("inf"), -float("inf")]))
INTS = st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1), st.sampled_from([-(2**31), 0]))
LONGS = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.sampled_from([-(2**63), 0]))


@pytest.mark.parametrize("fast", [False, pytest.param(True, marks=pytest.mark.skipif(not is_available(), reason="numba is not installed"))])
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.tuples(DOUBLES, INTS, LONGS), max_size=12))
def test_results(fast: bool, rows: list[tuple[float | None, int | None, int | None]]) -> None:
    assert_same(TEXT, batches_of([(None, x, n, None, m, None, 0) for x, n, m in rows], []), 10, fast=fast)


def test_hashes_of_few_and_of_many_strings_are_java_s() -> None:
    """Few are hashed by Python, many by compiled code; strings of all planes."""
    values = [f"{'aé€😀'[n % 4]}{n}" for n in range(java_hash.FEW + 50)]
    pool, found = StringPool(), Arrays([ArrayField("h", np.int64, CODES)])
    for known, size in ((0, 3), (3, java_hash.FEW), (java_hash.FEW, len(values))):
        for value in values[known:size]:
            pool.code(value)
        java_hash.follow(found, "h", pool, known)
    assert found["h"][1 : len(values) + 1].tolist() == [string_hash(v) & 0xFFFFFFFF for v in values]
