"""The catalogue: compiled shapes against the row tier, whatever the constants, the data, the cuts, and whenever a snapshot is restored.

Fifteen examples a shape, others each time. ``EPL_LONG=1`` draws 350 a shape, and 3,000 statements that are put together at random.
"""
from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from epl.errors import EplError
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.available import is_available
from runtime.batch.compiler.kernels import compile_kernel, interpret_kernel
from runtime.batch.refusals import NotInBatchTier
from tests.batch.drawn_statements import drawn_statement
from tests.batch.two_tiers import ROWS

pytestmark = pytest.mark.skipif(not is_available(), reason="numba is not installed")

SCHEMA = (
    "@public @buseventtype create schema T(k string, x double, n int, b boolean, m long, d Date);"
    "@public @buseventtype create schema U(k string, y double);"
)
WINDOWS = ["", "#length({w})", "#time({t} msec)", "#length_batch({w})", "#ext_timed(m, {t} msec)"]
SHAPES = [
    "select k, x from T(x > {a})",
    "select * from T(k = '{s}' or n in (1, {w}))",
    "select k, x * {a} + n as v, n * {w} as w, m - {w} as q from T",
    "select x / {a} as v, n % 3 as r, x % {a} as f from T",
    "select case when x > {a} then x when b then 1.0 end as v, coalesce(x, n, {a}) as c from T",
    "select x between {a} and 3 as inside, n not between {w} and 1 as out, x = {a} as e, x is null as u from T",
    "select k like '{s}%' as l, k in ('{s}', 'c') as i, k < '{s}' as lt, k || k = '{s}{s}' as two from T",
    "select d as at, max(x, {a}) as hi from T(n > 0)",
    "select count(*) as c, sum(n) as s, sum(x) as t, avg(x) as a, count(x) as cx from T(x > {a})",
    "select irstream count(*) as c, max(x) as hi, min(n) as lo from T having count(*) > {w}",
    "select k, sum(x) as t from T(n > {w})",
    "select k, sum(x) as s, count(*) as c from T group by k",
    "select irstream n, sum(x) as s from T group by n having sum(x) > {a}",
    "select irstream k, n, x, count(*) as c from T(x > {a}) group by k, n",
    *(f"select irstream k, x, n from T(x > {{a}}){w}" for w in WINDOWS[1:]),
    *(f"select irstream avg(x) as a, sum(n) as s, count(*) as c, max(x) as hi from T{w}" for w in WINDOWS[1:]),
    *(f"select irstream k, x, sum(m) as s from T{w} having count(*) > {{w}}" for w in WINDOWS[1:3]),
    *(f"select k, avg(x) as a, sum(n) as s, count(*) as c from T{w} group by k" for w in WINDOWS[1:]),
    *(f"select irstream k, n, min(x) as lo, max(n) as hi from T{w} group by k, n" for w in WINDOWS[1:3]),
    *(f"select irstream k, x, sum(x) as s from T{w} group by k" for w in WINDOWS[1:3]),
    "select irstream k, count(*) as c from T(x > {a})#keepall",
    *(f"select irstream first(x) as f, last(n) as l, stddev(x) as d from T{w}" for w in WINDOWS[1:4]),
    "select irstream count(distinct k) as c from T#length({w})",
    "select irstream k, x from T#time_batch({t} msec)",
    "select k, sum(x) as s from T#time_batch({t} msec) group by k",
    "select irstream k, x from T#unique(k)",
    "select irstream k, n from T#time_length_batch({t} msec, {w})",
    "select irstream k, n from T#length({w}) where x > {a}",
    "select rstream * from T#time({t} msec)",
    "select k, sum(n) as s from T group by k output last every {w} events",
    "select k, sum(n) as s from T group by k output last every {t} msec",
    "select k, sum(x) as s from T group by k having sum(x) > {a} output first every {t} msec",
    "select sum(x) as s from T output last every {t} msec",
    "select k, count(*) as c from T#time({t} msec) group by k output snapshot every 3 msec",
    "select k, x from T#length_batch({w}) order by x desc, k",
    "select irstream distinct k, b from T#time_batch({t} msec) order by k limit {w}",
    "select k, sum(n) as s from T#length(4) group by k output every {w} events order by sum(n), k",
    "select irstream k, x, sum(n) as s from T#time({t} msec) group by k output every {t} msec",
    "select irstream k, sum(x) as s from T#length_batch({w}) where n > {a} group by k",
    "select k, n, sum(x) as s from T#length(3) group by rollup(k, n)",
    "select irstream k, sum(n) as s from T#unique(n) group by k output all every {t} msec",
    "select k, x, sum(n) as s from T#time({t} msec) group by k output all every {w} events",
    "select sum(n) as s from T#keepall output after {w} events last every 2 events",
    "select k, x from T#unique(k) output snapshot every {t} msec",
    "select k, sum(x, group_by: b) as s, sum(n) as n from T#length(4) group by k",
    "select k, n from T match_recognize (partition by k measures A.k as k, B.n as n pattern (A B) define B as B.x > A.x)",
    "select * from T match_recognize (partition by k measures A.x as ax, last(B.x) as bx, C.x as cx pattern (A B+ C) "
    "define A as A.x < {a}, B as B.x > prev(B.x), C as C.x < prev(C.x))",
    "select * from T match_recognize (measures A.n as an, count(B.n) as c, C.n as cn pattern (A B* C) define B as B.x > {a}, C as C.b)",
    "select * from T#time({t} msec) match_recognize (partition by k measures A.n as a, B.n as b pattern (A B) define B as B.x > A.x)",
    "select * from T match_recognize (measures A.n as a, B.n as b after match skip to next row pattern (A B?) define A as A.x > {a})",
]
MODULES = [
    *(f"@name('a') {text}" for text in SHAPES),
    *(
        f"@name('a') insert into Hot select k, x * {{a}} as y, n from T(x > {{a}}); @name('b') {text}" for text in (
            "select k, y from Hot(n > {w})", "select irstream sum(y) as s from Hot#time({t} msec)",
            "select k, count(*) as c from Hot#length({w}) group by k",
        )
    ),
    "@name('a') insert into Sums select k, sum(x) as s from T group by k; @name('b') select irstream max(s) as hi from Sums#length({w})",
    "@name('a') select k, n from T(k = '{s}'); @name('b') select k, n from T(k = 'b'); @name('c') select k, n from T(k = 'ab')",
    "@name('a') select count(*) as c from T(x > {a}); @name('b') select count(*) as c from T(x > 1.0); @name('c') select k from T(x > 2)",
    "@name('a') select k, y from U(y > {a}); @name('b') select sum(x) as s from T#time({t} msec)",
    "@name('a') select irstream y from U#time({t} msec); @name('b') select k, avg(y) as a from U#length({w}) group by k",
]
assert len(MODULES) >= 60, len(MODULES)
EXAMPLES = 350 if os.environ.get("EPL_LONG") else 15

CONSTANTS = st.fixed_dictionaries({
    "a": st.sampled_from(["0.5", "1.0", "2.5", "-3.25"]), "w": st.integers(1, 4), "t": st.integers(1, 5),
    "s": st.sampled_from(["a", "b", "zz"]),
})


class Heard:
    """What the batch listeners of one runtime have heard."""

    def __init__(self, text: str, tier: str, compile: Any = compile_kernel) -> None:
        self.tier, self.compile = tier, compile
        self.calls: list[Any] = []
        self.runtime = Runtime(tier=tier)
        if internal_engine(self.runtime).batch_tier is not None:
            internal_engine(self.runtime).batch_tier.compile = self.compile
        self.runtime.deploy(SCHEMA + text)
        self._listen()

    def _listen(self) -> None:
        for statement in self.runtime.deployments["d0"]:
            if statement.name in ("a", "b", "c"):
                statement.add_batch_listener(self._hear)

    def _hear(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        self.calls.append((statement.name, *(None if b is None else [shown(r) for r in b.to_pylist()] for b in (new, old))))

    def send(self, batches: dict[str, pa.Table]) -> None:
        self.runtime.send_batch(batches, time="ts")
        self.calls.append([[shown(row.to_dict()) for row in statement] for statement in self.runtime.deployments["d0"]])

    def restore(self) -> None:
        before = self.runtime
        self.runtime = Runtime.restore(before.snapshot(), tier=self.tier)
        if internal_engine(self.runtime).batch_tier is not None:
            internal_engine(self.runtime).batch_tier.compile = self.compile
        self._listen()


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """NaN by name, and the sign of zero seen."""
    return {name: repr(value) if isinstance(value, float) else value for name, value in row.items()}


def tables(rows: list[tuple[Any, ...]], now: int) -> dict[str, pa.Table]:
    """The rows as events of T and, those with b, as events of U too; each at its time."""
    times, others = [], []
    for row in rows:
        now += row[-1]
        times.append(now)
        if row[3]:
            others.append((row[0], row[1], now))
    columns = list(zip(*rows)) if rows else [()] * 7
    kinds = (pa.string(), pa.float64(), pa.int32(), pa.bool_(), pa.int64(), pa.timestamp("us", tz="UTC"))
    first = pa.table({name: pa.array(c, kind) for name, c, kind in zip("kxnbmd", columns, kinds)})
    second = [pa.array([r[n] for r in others], kind) for n, kind in enumerate((pa.string(), pa.float64(), pa.int64()))]
    return {
        "T": first.append_column("ts", pa.array(times, pa.int64())).set_column(0, "k", first["k"].dictionary_encode()),
        "U": pa.table(dict(zip(("k", "y", "ts"), second))),
    }


@pytest.mark.parametrize("module", MODULES)
@settings(max_examples=EXAMPLES, deadline=None)
@given(constants=CONSTANTS, rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), restored=st.integers(-4, 3))
def test_compiled_shape(module: str, constants: dict[str, Any], rows: list[Any], cuts: list[int], restored: int) -> None:
    assert_same(module.format(**constants), rows, cuts, restored)


@settings(max_examples=3_000 if os.environ.get("EPL_LONG") else 60, deadline=None)
@given(of=st.randoms(use_true_random=False), rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), restored=st.integers(-4, 3))
def test_drawn_statement(of: Any, rows: list[Any], cuts: list[int], restored: int) -> None:
    text = f"@name('a') {drawn_statement(of)}"
    try:
        Heard(text, "batch", interpret_kernel)
    except (EplError, NotInBatchTier):
        reject()
    assert_same(text, rows, cuts, restored, interpret_kernel)


def assert_same(text: str, rows: list[Any], cuts: list[int], restored: int, compile: Any = compile_kernel) -> None:
    """Both tiers tell the same; a snapshot of the batch tier is restored in front of a batch."""
    expected, found = Heard(text, "row", compile), Heard(text, "batch", compile)
    bounds = sorted({0, len(rows), *(c for c in cuts if c < len(rows))})
    for number, (low, high) in enumerate(zip(bounds, bounds[1:])):  # noqa: RUF007
        batch = tables(rows[low:high], expected.runtime.now)
        if number == restored:
            found.restore()
        expected.send(batch)
        found.send(batch)
    for heard in (expected, found):
        heard.runtime.advance_time_span(heard.runtime.now + 20)
    assert found.calls == expected.calls
