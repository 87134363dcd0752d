"""Traces spread over engines: what is spread, what is skipped and why, and that a difference is reported."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from runtime.cli import main
from tests.replay import spark_spread as spread_replay
from tests.replay.files import Job, replay_file
from tests.replay.player import replay_trace
from tests.replay.runs import Cutter
from tests.replay.spark_spread import ReplayedInput, SpreadReplay, counted, in_one_engine, replayed_input, spread_over
from tests.replay.trace_schema import settings_of

pytestmark = pytest.mark.spark

SCHEMA = {
    "A": {"kind": "bean", "props": {"k": "String", "v": "int", "color": "Color", "list": "int[]"}, "supertypes": ["Base"]},
    "Base": {"kind": "bean", "props": {"k": "String"}},
    "Color": {"kind": "enum", "class": "Color", "constants": ["RED"]},
}
MODULE = """
@name('window') select irstream k, sum(v) as s from A#time(3) group by k;
@name('rows') select k, v, color from A(v > 2);
@name('last') select k from A#length(2);
select count(*) as c from Base group by k;
@name('pattern') select * from A match_recognize (partition by k measures X.v as x, Y.v as y pattern (X Y) define Y as Y.v > X.v);
"""


def a(k: str | None, v: Any) -> dict[str, Any]:
    return {"op": "event", "type": "A", "props": {"k": k, "v": v, "color": None, "list": [v, 1]}}


EVENTS: list[dict[str, Any]] = []
for place in range(30):
    EVENTS.append(a("abc"[place % 3] if place % 7 else None, place % 5))
    if place % 4 == 0:
        EVENTS.append({"op": "time", "ms": 1000 + 500 * place})


def trace(*steps: dict[str, Any]) -> dict[str, Any]:
    """A trace with the output that this engine records."""
    return replay_trace({"id": "t", "start_time": 1000, "listen": "all", "schema": SCHEMA, "steps": list(steps)})


def verdicts(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["statement"]: each for each in found["distributed"]}


def deploy(text: str = MODULE, name: str = "d0") -> dict[str, Any]:
    return {"op": "deploy", "epl": text, "deployment": name}


def test_statements_that_can_be_split_give_what_one_engine_and_the_trace_give(spark: SparkSession) -> None:
    end = {"op": "time_span", "ms": 60_000}
    whole = trace(deploy(), *EVENTS, {"op": "iterate", "statement": "last"}, end, {"op": "undeploy_all"})
    found = verdicts(SpreadReplay(spark).replay(whole))
    assert set(found) == {"window", "rows", "last", "stmt-3", "pattern"}
    assert not found["last"]["partitionable"] and "agrees" not in found["last"]
    for name in ("window", "rows", "stmt-3", "pattern"):
        assert found[name]["agrees"] is True and found[name]["rows"] > 3, found[name]
        assert found[name]["recorded"] is True, found[name]


@pytest.mark.parametrize("statement", ["window", "stmt-3", "pattern"])
def test_micro_batches_cut_at_random_points_give_the_same(
    spark: SparkSession, folder: Callable[[str], Any], tmp_path: Path, statement: str
) -> None:
    cutter = Cutter(trace(deploy(), *EVENTS))
    run = next(cutter.runs())
    (chosen,) = [c for c in run.candidates if c.key[1] == statement]
    fed = replayed_input(run, chosen, cutter, settings_of(cutter.trace))
    expected, _ = in_one_engine(attrs.evolve(fed, until=run.events[-1][0]))
    stream = folder("in")
    table = fed.tables["A"]
    cuts = [0, *sorted(random.Random(statement).sample(range(1, table.num_rows), 2)), table.num_rows]
    stream.add(*[table.slice(begin, end - begin) for begin, end in pairwise(cuts)])
    spread = spread_over({"A": stream.frame()}, fed, 3)
    query = spread.writeStream.format("parquet").option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "at"))
    query.trigger(availableNow=True).start().awaitTermination()
    assert counted(spark.read.schema(spread.schema).parquet(str(tmp_path / "out")).toArrow()) == expected


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([deploy()], "it has no events"),
        ([deploy(), a("a", 3), deploy("@name('more') select * from A", "d1")], "a module is deployed while events come"),
        ([deploy("@name('one') select v + 1 as t from A"), a("a", 3), a("a", "wrong"), a("a", 0)], None),
        ([deploy("@name('one') select 10 % v as t from A"), a("a", 0)], "an expression raises"),
        ([deploy("@name('one') select * from A"), a("a", 3), {"op": "time", "ms": 0}], "time goes back"),
        ([deploy("create variable int x = 1; @name('one') select * from A"), a("a", 3), {"op": "faf", "epl": "select 1"}], "a step faf"),
        (
            [deploy("create schema O(o Object); @name('one') select * from O"), {"op": "event", "type": "O", "props": {"o": 1}}],
            "an event is not a row: property 'o' of type Object",
        ),
    ],
)
def test_what_is_left_out_is_told(spark: SparkSession, steps: list[dict[str, Any]], reason: str | None) -> None:
    entries = [e for e in SpreadReplay(spark).replay(trace(*steps))["distributed"] if e["partitionable"]]
    assert entries
    for entry in entries:
        if reason is None:
            assert entry["agrees"] is True and entry["recorded"] is True
        else:
            assert reason in entry["skipped"] and "agrees" not in entry


def test_runs_end_where_modules_go() -> None:
    first, second = deploy("@name('s') select * from A", "d0"), deploy("@name('s') select v from A", "d1")
    steps = [first, a("a", 1), {"op": "undeploy", "deployment": "d0"}, {"op": "time", "ms": 5000}, second, a("b", 2), a("b", 3)]
    runs = list(Cutter(trace(*steps)).runs())
    assert [(run.start, run.until, len(run.events), run.odd) for run in runs] == [(1000, 1000, 1, None), (5000, 5000, 2, None)]
    assert runs[1].candidates[0].recorded == [{"v": 2}, {"v": 3}]
    both = trace(first, second, a("a", 1), {"op": "undeploy", "deployment": "d0"}, a("b", 2))
    assert [run.odd for run in Cutter(both).runs()] == [None, "it begins where another one of its modules was undeployed"]


def test_deployments_need_no_names() -> None:
    listen = {"op": "add_listener", "statement": "s"}
    event = {**a("a", 1), "out": [{"statement": "s", "new": [{"v": 1}], "old": None}]}
    steps = [{"op": "deploy", "epl": "@name('s') select v from A"}, listen, event]
    (run,) = Cutter({"start_time": 0, "schema": SCHEMA, "steps": steps}).runs()
    (found,) = run.candidates
    assert found.whole and found.recorded == found.played == [{"v": 1}]


class Wrong(SpreadReplay):
    """Loses what one engine of several would give, as a wrong split does."""

    def _spread(self, fed: ReplayedInput) -> pa.Table:
        return super()._spread(fed).slice(1)


def test_a_difference_is_told(spark: SparkSession) -> None:
    (entry,) = Wrong(spark).replay(trace(deploy("@name('s') select v from A"), a("a", 1), a("b", 2)))["distributed"]
    assert entry["agrees"] is False and entry["rows"] == 2
    assert len(entry["only_one"]) == 1 and entry["only_spread"] == []


def test_the_option_goes_with_spark_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for more in ([], ["--spark", "--cuts", "1"], ["--spark", "--restart"]):
        assert main(["replay", str(tmp_path), "--distributed", *more]) == 2
        assert "--distributed: together with --spark" in capsys.readouterr().err


def test_a_file_counts_its_statements(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([trace(deploy("@name('s') select v from A; @name('l') select v from A#length(1)"), a("a", 1))]))
    outcome = replay_file(Job(path, None, spark=True, distributed=True))
    assert (outcome.replayed, outcome.broken, outcome.spread) == (1, (), (1, 1, 1))
    assert spread_replay.SHARDS == 3
