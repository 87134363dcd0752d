"""Statements put together at random: whatever the pass lets through is split without a trace.

The same examples each time; ``EPL_LONG=1`` draws twenty times as many, others each time.
"""
from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from epl.analysis.partitioning import AnySplit, Whole, analyse_partitioning
from epl.errors import EplError
from epl.plan.statements import ModulePlan
from runtime import Runtime
from tests.partitioning.catalogue import SCHEMA
from tests.partitioning.shards import ROWS, Place, Row, by_key, events, run_plan

LONG = bool(os.environ.get("EPL_LONG"))
EXAMPLES = 150 * (20 if LONG else 1)

KEYS = st.sampled_from(["k", "k", "g", "k, g", "k, n", "n, g, k", "k, n % 2"])
LOCAL = st.sampled_from([
    "#time(5 msec)", "#time(5 msec)", "#keepall", "#time_order(ts, 5 msec)", "#timetolive(ts)", "#time_batch(4 msec, 0L)",
    "#firsttime(9 msec)",
])
SHARED = st.sampled_from([
    "#length(2)", "#length_batch(2)", "#time_accum(3 msec)", "#ext_timed(ts, 4 msec)", "#sort(2, x)", "#time_batch(4 msec)", "#lastevent",
    "#expr(current_count <= 2)", "#firstlength(2)", "#time_length_batch(4 msec, 2)",
])
KEYED = st.builds("#{}({})".format, st.sampled_from(["unique", "firstunique"]), KEYS)
GROUPED = st.builds("#groupwin({}){}{}".format, KEYS, st.one_of(LOCAL, SHARED, SHARED, KEYED), st.one_of(st.just(""), st.just(""), KEYED))
WINDOWS = st.one_of(
    st.just(""), st.just(""), LOCAL, LOCAL, LOCAL, KEYED, GROUPED, GROUPED, GROUPED, SHARED, st.builds("{}{}".format, LOCAL, KEYED),
    st.builds("{}{} retain-union".format, LOCAL, KEYED), st.builds("{}{}".format, LOCAL, LOCAL),
)
PLAIN = ["*", "k, g, x, n, ts", "k, g, x + 1 as x, n, ts", "k as k, n, g, coalesce(x, 0.0) as x, ts + 1 as ts"]
AGGREGATED = [
    "k, g, sum(x) as x, cast(count(*), int) as n, max(ts) as ts", "k, g, avg(x) as x, n, ts", "k, g, last(x) as x, n, max(ts) as ts",
    "k, max(g) as g, sum(x) as x, sum(n) as n, min(ts) as ts",
    "k, last(g) as g, median(x) as x, cast(countever(*), int) as n, min(ts) as ts",
    "k, first(g) as g, stddev(x) as x, maxby(x).n as n, max(ts) as ts",
    "k, firstever(g) as g, minever(x) as x, max(n) as n, min(ts) as ts",
    "k, g, rate(3) as x, n, ts", "k, g, sum(x, group_by: k) as x, n, ts",
]
OVER_A_WINDOW = ["k, prev(1, g) as g, x, n, ts", "k, g, x, cast(prevcount(n), int) as n, ts"]
LIMIT = st.sampled_from([
    "", "", "", "", " output first every 3 msec", " output first every 2 events", " output last every 3 msec", " limit 2",
])
PATTERNS = st.builds(
    "match_recognize (partition by {} measures A.k as k, {} as g, B.x as x, A.n as n, B.ts as ts {} pattern ({}) "
    "define B as B.x >= A.x)".format,
    KEYS, st.sampled_from(["A.g", "C.g"]), st.sampled_from(["", "all matches", "after match skip to next row"]),
    st.sampled_from(["A B C", "A B C?", "(A B | A C B)", "A C? B"]),
)


@st.composite
def selects(draw: st.DrawFn, stream: str) -> str:
    """From a stream with the properties of T; its rows have them too."""
    windows = draw(WINDOWS)
    source = f"{stream}{draw(st.sampled_from(['', '', '(n > 0)']))}{windows}"
    if draw(st.integers(0, 3)) == 0:
        return f"select * from {source} {draw(PATTERNS)}"
    streams = draw(st.sampled_from(["istream", "istream", "irstream", "rstream"]))
    distinct = draw(st.sampled_from(["", "", "", "distinct "]))
    start = f"select {streams} {distinct}"
    where = draw(st.sampled_from(["", "", "", " where n > 0", " where current_timestamp % 3 > 0", " where not istream() or n > 1"]))
    if draw(st.booleans()):
        having = draw(st.sampled_from(["", "", " having count(*) > 1"]))
        return f"{start}{draw(st.sampled_from(AGGREGATED))} from {source}{where} group by {draw(KEYS)}{having}{draw(LIMIT)}"
    columns = draw(st.sampled_from([*PLAIN, *PLAIN, *OVER_A_WINDOW] if "groupwin" in windows else PLAIN))
    return f"{start}{columns} from {source}{where}"


@st.composite
def modules(draw: st.DrawFn) -> str:
    """One statement, or some that feed it."""
    feeders = draw(st.integers(0, 2))
    if not feeders:
        return draw(selects("T"))
    made = ["insert into A " + draw(selects("T"))]
    if feeders == 2:
        target, source = draw(st.sampled_from([("A", "T"), ("B", "A"), ("B", "T")]))  # not from A into A: that would never end
        made.append(f"insert into {target} " + draw(selects(source)))
    last = "B" if made[-1].startswith("insert into B") else "A"
    return ";".join([*made, draw(selects(last))])


def plan_of(text: str) -> ModulePlan | None:
    try:
        return Runtime().compile(SCHEMA + text)
    except EplError:
        return None


@settings(
    max_examples=EXAMPLES, deadline=None, database=None, derandomize=not LONG,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(modules(), ROWS, st.integers(2, 4), st.integers(0, 9))
def test_accepted_is_right(text: str, rows: list[Row], engines: int, salt: int) -> None:
    plan = plan_of(text)
    if plan is None:
        event("no statement")
        return
    verdict = analyse_partitioning(plan.statements, plan.statements[-1])
    event(type(verdict).__name__)
    if isinstance(verdict, Whole):
        return
    place: Place = _anyhow(engines, salt) if isinstance(verdict, AnySplit) else by_key(verdict, engines, salt)
    whole, split = run_plan(plan, verdict.statements, list(events(rows, ("T",))), engines, place)
    assert split == whole, verdict.describe()


def _anyhow(engines: int, salt: int) -> Place:
    turn = iter(range(salt, 10**6, 7))
    return lambda name, sent: (next(turn) * 31 // 5) % engines


def test_the_draw_is_not_in_vain() -> None:
    """Splits and refusals come up among few modules."""
    seen: set[Any] = set()

    @settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @given(modules())
    def look(text: str) -> None:
        plan = plan_of(text)
        seen.add(None if plan is None else type(analyse_partitioning(plan.statements, plan.statements[-1])).__name__)

    look()
    assert {"SplitBy", "Whole"} <= seen
