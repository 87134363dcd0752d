"""Select kernels against the row tier: the same rows in the same order, however the input is cut, compiled or as plain Python."""
from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.batch.available import is_available
from runtime.batch.build import build_run
from runtime.batch.intake import Intake
from runtime.batch.kernels import compiled, interpreted
from runtime.batch.refusals import NotCompilable
from runtime.batch.run import Surroundings
from runtime.batch.select_kernel import select_kernel
from runtime.batch.strings import StringPool
from runtime.columns import columns_of

SCHEMA = "@public @buseventtype create schema T(k string, x double, n int, b boolean, m long, d Date)"
ARROW = pa.schema([
    ("k", pa.dictionary(pa.int32(), pa.string())), ("x", pa.float64()), ("n", pa.int32()), ("b", pa.bool_()), ("m", pa.int64()),
    ("d", pa.timestamp("us", tz="UTC")),
])

STATEMENTS: list[str] = [
    "select k, x from T(x > 2)",
    "select * from T(k = 'a' or n in (1, 2))",
    "select k, x * 2 + n as v, n + n as w, m * m as q, -n as minus from T",
    "select x / n as v, n % 3 as r, x % 2.0 as f from T",
    "select case when x > n then x when b then 1.0 end as v, coalesce(x, n, 0) as c from T",
    "select max(x, 2.5) as hi, min(n, 1) as lo, x between 1 and 3 as inside, n not between 2 and 1 as out from T",
    "select x = 2 as e, x is null as u, n is not null as i, b is not x > 1 as p, not b as nb from T",
    "select k like 'a%' as l, k regexp '[ab]+' as r, k in ('a', 'c') as i, k < 'b' as lt, k || k = 'bb' as two from T",
    "select x > 1 and b as a, b or n > 2 as o from T(b is null or x > 0)",
    "select d as at, d as again from T(n > 0)",
    "select x * 0.0 as z, x * -0.0 as minus from T",
    "select case n when 1 then null when 2 then 'x' when 3 then k end as s, coalesce(k, 'y') as c from T",
    "select case when n > 1 then k end as g, count(*) as c from T group by case when n > 1 then k end",
    "select count(*) as c, sum(n) as s, sum(x) as t, avg(x) as a, count(x) as cx from T",
    "select irstream count(*) as c, max(x) as hi, min(n) as lo from T having count(*) > 2",
    "select k, sum(x) as t from T(n > 0)",
    "select irstream k, x from T#length(3)",
    "select avg(x) as a, max(x) as hi, min(n) as lo, count(*) as c from T#length(3)",
    "select irstream sum(x) as t, sum(n) as s, sum(m) as q from T(b)#length(2)",
    "select irstream k, n, sum(n, filter: b) as s, max(m) as hi from T#length(4) having sum(n) > 1",
    "select rstream * from T#time(5 msec)",
    "select irstream k, x * 2 as w from T(n > 0)#time(3 msec)",
    "select irstream avg(x) as a, count(k) as c, max(n) as hi, min(x) as lo from T#time(4 msec)",
    "select irstream k, count(*) as c from T#keepall",
]

NUMBERS = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.0, 2.5, -3.25, 1e300, float("nan"), float("inf")]))
INTS = st.one_of(st.none(), st.sampled_from([0, 1, 2, 3, -5, 2**31 - 1, -(2**31)]))
LONGS = st.one_of(st.none(), st.sampled_from([0, 1, -7, 2**62, 2**63 - 1]))
DATES = st.one_of(st.none(), st.integers(0, 10**9).map(lambda v: datetime.datetime.fromtimestamp(v, datetime.timezone.utc)))
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "ab", "c", "", None]), NUMBERS, INTS, st.sampled_from([True, False, None]), LONGS, DATES,
        st.integers(0, 3),
    ),
    max_size=25,
)


def tables(rows: list[tuple[Any, ...]], cuts: list[int]) -> list[tuple[pa.Table, np.ndarray[Any, Any]]]:
    """The rows in batches, with the time of each row."""
    times = np.cumsum([0, *(r[-1] for r in rows)])[1:].astype(np.int64)
    bounds = sorted({0, len(rows), *(c for c in cuts if c < len(rows))})
    columns = list(zip(*rows)) if rows else [()] * (len(ARROW) + 1)
    whole = pa.table([pa.array(c, f.type.value_type).dictionary_encode() if pa.types.is_dictionary(f.type) else pa.array(c, f.type)
                      for c, f in zip(columns, ARROW)], schema=ARROW)
    return [(whole.slice(a, b - a), times[a:b]) for a, b in zip(bounds, bounds[1:])]  # noqa: RUF007


def by_rows(text: str, batches: list[tuple[pa.Table, Any]], until: int) -> tuple[list[Any], list[Any]]:
    """What the row tier puts out."""
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    new: list[Any] = []
    old: list[Any] = []

    def listen(came: Any, went: Any, *_: Any) -> None:
        for part, found in ((new, came), (old, went)):
            part.extend([] if found is None else found.to_pylist())

    runtime.deploy(f"@name('s0') {text}")["s0"].add_batch_listener(listen)
    for table, times in batches:
        runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")
    runtime.advance_time_span(until)
    return new, old


def by_columns(text: str, batches: list[tuple[pa.Table, Any]], until: int, *, fast: bool) -> tuple[list[Any], list[Any]]:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    plan = runtime.compile(f"@name('s0') {text}").statements[0].body
    run = build_run(plan, Surroundings(StringPool(), runtime._environment({}), compiled if fast else interpreted))
    new: list[Any] = []
    old: list[Any] = []
    empty = pa.table({f.name: pa.array([], f.type) for f in ARROW})
    for table, times in [*batches, (empty, np.zeros(0, np.int64))]:
        end = int(times[-1]) if len(times) else until
        with np.errstate(all="ignore"):
            made = run.feed(Intake(runtime.event_type("T"), columns_of(table, "T")), times, end)
        for part, found in ((new, made.new), (old, made.old)):
            part.extend([] if found is None else found.to_pylist())
    return new, old


def plain(rows: list[Any]) -> list[Any]:
    """NaN by name, and the sign of zero seen."""
    return [{name: repr(value) if isinstance(value, float) else value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3))
def test_plain_source(text: str, rows: list[Any], cuts: list[int]) -> None:
    batches = tables(rows, cuts)
    expected = by_rows(text, batches, 100)
    found = by_columns(text, batches, 100, fast=False)
    assert [plain(part) for part in found] == [plain(part) for part in expected]


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [STATEMENTS[i] for i in (2, 7, 19, 22)])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(7)
    rows = [
        (rng.choice(["a", "b", "ab", "c"]), *(None if rng.random() < 0.1 else v for v in (
            float(rng.integers(-3, 9)), int(rng.integers(-3, 9)), bool(rng.integers(0, 2)), int(rng.integers(0, 2**40)))), None,
         int(rng.integers(0, 3)))
        for _ in range(2_000)
    ]
    batches = tables(rows, [1, 700, 701])
    expected = by_rows(text, batches, 10_000)
    found = by_columns(text, batches, 10_000, fast=True)
    assert [plain(part) for part in found] == [plain(part) for part in expected]
    assert list(tmp_path.glob("epl_*.py"))


@pytest.mark.parametrize(("text", "reason"), [
    ("select distinct k from T", "distinct, order by or limit"),
    ("select n % n as r from T", "a remainder of integers by a value that may be zero"),
    ("select k, sum(x) as s from T group by rollup(k)", "the shape rollup"),
    ("select * from T#sort(3, x)", "the window sort"),
    ("select sum(x) as s from T#time(1 month)", "a window of months or years"),
])
def test_what_stays_in_the_row_tier(text: str, reason: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    with pytest.raises(NotCompilable, match=reason):
        select_kernel(runtime.compile(f"@name('s0') {text}").statements[0].body)  # type: ignore[arg-type]
