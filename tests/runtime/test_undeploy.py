"""Undeploying frees at once what a deployment held, whatever its timers were set to, and nothing grows by deploying again."""
from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from epl.generated_code import compile_text
from runtime import Runtime
from runtime.api.deployment import Deployment
from runtime.api.runtime import internal_engine
from runtime.api.statement import Statement
from runtime.batch.available import is_available
from runtime.clock.schedule import FEW, ScheduledTimer
from windows.event import Event
from windows.protocol import View

SCHEMA = "@public @buseventtype create schema E(k string, v double, n long, b boolean);"
COLUMNS = [
    "@name('s') select k, sum(v) as s from E(n > 1)#time(400 days) group by k",
    "@name('s') select * from E#length(50)",
    "@name('s') select irstream k, v from E#unique(k)",
    "@name('s') select count(*) as c from E#time_batch(400 days)",
    "@name('s') select k, max(v) as m from E group by k output last every 400 days",
    "@name('s') select distinct k from E output snapshot every 400 days order by k limit 3",
    "@name('s') select * from E match_recognize (partition by k measures A.n as a, B.n as b pattern (A B) interval 400 days "
    "define B as B.v < 0)",
    "insert into F select k, v as w from E; @name('s') select k, avg(w) as a from F#time(400 days) group by k",
]
"""What both tiers run."""
ROWS = [
    *COLUMNS,
    "@name('s') select prev(1, v) as p, prior(2, n) as q from E#time(400 days)",
    "@name('s') select sum(v) as s from E#time_accum(400 days)",
    "@name('s') select sum(v) as s from E#groupwin(k)#time(400 days)",
    "@name('s') select k from E#time_order(n, 400 days)",
    "@name('s') select k from E#expr(oldest_timestamp > newest_timestamp - 1000000)",
    "@name('s') select k from E#firsttime(400 days)",
    "@name('s') select k, n from E#time_length_batch(400 days, 100)",
    "@name('s') select k, sum(v) as s from E group by k output first every 400 days",
    "@name('s') select sum(v) as s from E output when count_insert > 1000 then set waited = true",
    "@name('s') select * from E match_recognize (partition by k measures A.n as a, B.n as b pattern (A B) define B as B.v < A.v)",
    "create schema G(k string); on E insert into G select k where b insert into G select 'x' as k where not b; "
    "@name('s') select k from G#time(400 days)",
    "on E set waited = b; @name('s') select waited from E#time(400 days)",
    "@hint('reclaim_group_aged=31536000') @name('s') select k, sum(v) as s from E group by k",
]
HELD = (Event, View, Statement, Deployment, ScheduledTimer)


@pytest.fixture(autouse=True)
def frozen() -> None:
    """Objects that were there before are neither looked through nor counted."""
    gc.collect()
    gc.freeze()


def cycle(runtime: Runtime, text: str, tier: str, times: int) -> None:
    for _ in range(times):
        deployment = runtime.deploy(text)
        deployment["s"].add_batch_listener(lambda *_: None) if tier == "batch" else deployment["s"].add_listener(lambda *_: None)
        events = [{"k": f"key {n % 3}", "v": float(n), "n": n, "b": n % 2 == 0} for n in range(8)]
        if tier == "batch":
            runtime.send_batch("E", pa.Table.from_pylist(events))
        for event in events[:2]:
            runtime.send("E", event)
        runtime.advance_time(runtime.now + 10)
        deployment.undeploy()


def alive(kinds: tuple[type, ...] = (object,)) -> Counter[str]:
    gc.collect()
    return Counter(str(type(each)) for each in gc.get_objects() if isinstance(each, kinds))


def fresh(tier: Any) -> Runtime:
    runtime = Runtime(tier=tier)
    runtime.deploy(SCHEMA + ("create variable boolean waited = false;" if tier == "row" else ""))
    return runtime


CASES = [("row", text) for text in ROWS] + [("batch", text) for text in COLUMNS]


@pytest.mark.parametrize(("tier", "text"), CASES)
def test_nothing_stays(tier: str, text: str) -> None:
    """Neither events nor operators nor timers, though these were due in 400 days."""
    if tier == "batch" and not is_available():
        pytest.skip("numba is not installed")
    runtime = fresh(tier)
    before = alive(HELD)
    cycle(runtime, text, tier, 1)
    assert alive(HELD) - before == Counter()
    assert len(internal_engine(runtime).core.schedule) == 0 and runtime.next_scheduled_time is None
    assert not runtime.deployments.keys() - {next(iter(runtime.deployments))}


@pytest.mark.parametrize("tier", ["row", "batch"])
def test_nothing_grows(tier: str) -> None:
    """Deployed again and again, with the caches of texts filled: no more objects than before."""
    if tier == "batch" and not is_available():
        pytest.skip("numba is not installed")
    runtime, texts = fresh(tier), ROWS if tier == "row" else COLUMNS
    for text in texts:
        cycle(runtime, text, tier, 2)
    before, compiled = alive(), compile_text.cache_info().misses
    for text in texts:
        cycle(runtime, text, tier, 5)
    assert compile_text.cache_info().misses == compiled, "functions are generated with the same text again"
    more = alive() - before
    assert sum(more.values()) < FEW + len(texts), more.most_common(5)
