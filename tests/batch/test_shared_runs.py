"""Statements that get rows together against each that gets every row by itself, and against the row tier."""
from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.generated_code import field_name
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.compiler.kernels import interpret_kernel
from runtime.batch.rule_sets.shared_runs import RuleSetMember, SharedRuns
from runtime.batch.runs.run import BatchOutput, Causes, RunContext
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.parted import Parted
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.build import build_run
from runtime.conversion.columns import read_columns

SCHEMA = "@public @buseventtype create schema T(k string, n int, x double)"
KEYS, NUMBERS = ["a", "b", "c", "d"], [1, 2, 3]
SHAPES = [
    "select count(*) as c, sum(x) as s from T(k = '{k}')",
    "select irstream n, x from T(k = '{k}' and x > {d})#length(2)",
    "select rstream k, n from T(k in ('{k}', '{j}'))#time(4 msec)",
    "select irstream max(x) as m, count(*) as c from T(n = {i})#time(3 msec)",
    "select irstream k, count(*) as c from T(n in ({i}, 9))#keepall",
    "select k, n from T(k = '{k}' and n > {i})",
    "select k, x * {d} as v from T(x > {d})",
    "select count(*) as c from T",
]
STATEMENTS = st.lists(
    st.tuples(
        st.sampled_from(SHAPES),
        st.fixed_dictionaries({"k": st.sampled_from(KEYS), "j": st.sampled_from(["y", "z"]), "i": st.sampled_from(NUMBERS),
                               "d": st.sampled_from(["0.5", "1.5"])}),
    ).map(lambda pair: pair[0].format(**pair[1])),
    min_size=1, max_size=12,
)
ROWS = st.lists(
    st.tuples(st.sampled_from([*KEYS, None, "z"]), st.sampled_from([*NUMBERS, None, 9]), st.sampled_from([0.5, 1.0, 2.0, None]),
              st.integers(0, 3)),
    max_size=20,
)


def batches_of(rows: list[tuple[Any, ...]], cuts: list[int]) -> list[tuple[pa.Table, np.ndarray[Any, Any], int]]:
    """(rows, times, until), at the end one without rows."""
    times = np.cumsum([0, *(r[-1] for r in rows)])[1:].astype(np.int64)
    bounds = sorted({0, len(rows), *(c for c in cuts if c < len(rows))})
    found = []
    for low, high in [*zip(bounds, bounds[1:]), (len(rows), len(rows))]:  # noqa: RUF007
        columns = list(zip(*rows[low:high])) or [(), (), ()]
        kinds = (pa.string(), pa.int32(), pa.float64())
        table = pa.table([pa.array(c, t) for c, t in zip(columns, kinds)], names=["k", "n", "x"])
        found.append((table, times[low:high], int(times[high - 1]) if high > low else 100))
    return found


def members_of(texts: list[str]) -> tuple[Runtime, list[RuleSetMember]]:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    module = runtime.compile("\n".join(f"@name('q{i}') {t};" for i, t in enumerate(texts)))
    surroundings = RunContext(StringPool(), internal_engine(runtime).deployer.environment({}), interpret_kernel)
    return runtime, [RuleSetMember(s.body, build_run(s.body, surroundings), surroundings) for s in module.statements]


def emitted(output: BatchOutput) -> Any:
    """An output as plain values: rows, and by row its cause and which rows came together."""
    deltas = np.concatenate([np.zeros(0), *(c.delta for c in (output.new_causes, output.old_causes) if c is not None)])
    steps = np.unique(deltas)

    def part(batch: pa.RecordBatch | None, causes: Causes | None) -> Any:
        if batch is None:
            return None
        assert causes is not None
        together = np.searchsorted(steps, causes.delta)
        return batch.to_pylist(), causes.row.tolist(), causes.timer.tolist(), causes.time.tolist(), together.tolist()

    return part(output.new, output.new_causes), part(output.old, output.old_causes)


@settings(max_examples=60, deadline=None)
@given(texts=STATEMENTS, rows=ROWS, cuts=st.lists(st.integers(1, 19), max_size=3))
def test_same_as_each_by_itself(texts: list[str], rows: list[Any], cuts: list[int]) -> None:
    runtime, members = members_of(texts)
    _, alone = members_of(texts)
    shared = SharedRuns(members)
    for table, times, until in batches_of(rows, cuts):
        intake = BatchIntake(runtime.event_type("T"), read_columns(table, "T"))
        shared.prepare(intake)
        found = shared.feed(intake, times, until, causes=True)
        expected = [m.run.feed(intake, times, until, causes=True) for m in alone]
        assert [emitted(o) for o in found] == [emitted(o) for o in expected]
        dues = [due for m in alone if (due := m.run.next_due()) is not None]
        assert shared.next_due() == min(dues, default=None)
    for one, other in zip(members, alone):
        assert one.run.next_due() == other.run.next_due()
        assert one.run.state()["result_set"] == other.run.state()["result_set"]


@settings(max_examples=25, deadline=None)
@given(texts=STATEMENTS, rows=ROWS, cuts=st.lists(st.integers(1, 19), max_size=3))
def test_same_as_row_tier(texts: list[str], rows: list[Any], cuts: list[int]) -> None:
    batches = batches_of(rows, cuts)
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    deployment = runtime.deploy("\n".join(f"@name('q{i}') {t};" for i, t in enumerate(texts)))
    expected: list[list[Any]] = [[] for _ in texts]
    for number, into in enumerate(expected):
        deployment[f"q{number}"].add_batch_listener(
            lambda new, old, *_, into=into: into.append([None if b is None else b.to_pylist() for b in (new, old)])
        )
    _, members = members_of(texts)
    shared = SharedRuns(members)
    found: list[list[Any]] = [[] for _ in texts]
    for table, times, until in batches:
        if len(times):
            runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")
        else:
            runtime.advance_time_span(until)
        for into, output in zip(found, shared.feed(BatchIntake(runtime.event_type("T"), read_columns(table, "T")), times, until)):
            if output.new is not None or output.old is not None:
                into.append([None if b is None else b.to_pylist() for b in (output.new, output.old)])
    assert found == expected


def test_jumps_give_every_row_to_every_statement() -> None:
    texts = [f"select irstream n from T(k = '{k}')#time(2 msec)" for k in "ab"]
    rows = [("a", 1, 1.0, 0), ("b", 2, 1.0, 1), ("z", 3, 1.0, 4), ("a", 4, 1.0, 1)]
    runtime, members = members_of(texts)
    _, alone = members_of(texts)
    shared = SharedRuns(members)
    for table, times, until in batches_of(rows, [2]):
        intake = BatchIntake(runtime.event_type("T"), read_columns(table, "T"))
        found = shared.feed(intake, times, until, jump=True, causes=True)
        assert [emitted(o) for o in found] == [emitted(m.run.feed(intake, times, until, jump=True, causes=True)) for m in alone]


def test_parts_that_stay_get_their_own_rows() -> None:
    runtime, _ = members_of([])
    table = pa.table({"k": pa.array([f"s{i}" for i in range(40)]), "n": pa.array(range(40), pa.int32()), "x": pa.array([1.0] * 40)})
    parted = Parted(BatchIntake(runtime.event_type("T"), read_columns(table, "T")), np.arange(39, -1, -1))
    first, second = parted.part(0, 8), parted.part(8, 40)
    pool = StringPool()
    places = range(39, 31, -1)

    def seen() -> Any:
        numbers = [getattr(e, field_name("n")) for e in first.events([1, 2])]
        return first.arrow("k").to_pylist(), first.column("n", "int", pool)[0].tolist(), numbers

    assert seen() == ([f"s{i}" for i in places], list(places), [38, 37])
    assert parted.is_held()
    event = first.events([1])[0]
    del second
    gc.collect()
    assert not parted.is_held()
    assert seen() == ([f"s{i}" for i in places], list(places), [38, 37])
    assert first.events([1])[0] is event
    assert first.take_rows(np.array([3])).arrow("n").to_pylist() == [36]


@pytest.mark.parametrize(("texts", "sets", "keyed", "each"), [
    (["select * from T(k = 'a')", "select * from T(k = 'b')", "select count(*) as c from T(k = 'a')"], 1, 0, 1),
    (["select count(*) as c from T(k = 'a')", "select k from T(k = 'b')#length(2)", "select count(*) as c from T(n = 2)"], 0, 1, 1),
])
def test_what_is_shared(texts: list[str], sets: int, keyed: int, each: int) -> None:
    shared = SharedRuns(members_of(texts)[1])
    assert (len(shared._sets), len(shared._keyed), len(shared._each)) == (sets, keyed, each)


def test_parts_are_whole_batches_to_whoever_joins_them() -> None:
    runtime, _ = members_of([])
    table = pa.table({"k": pa.array(["a", "b", "c"]), "n": pa.array([1, 2, 3], pa.int32()), "x": pa.array([1.0, 2.0, 3.0])})
    parted = Parted(BatchIntake(runtime.event_type("T"), read_columns(table, "T")), np.array([2, 0, 1]))
    first, second = parted.part(0, 1), parted.part(1, 3)
    event = second.events([1])[0]
    joined = BatchIntake.join_batches([first, second])
    assert joined.arrow("k").to_pylist() == ["c", "a", "b"]
    assert joined.events([2])[0] is event


def test_state_of_rules_is_that_of_their_runs() -> None:
    """Taken, restored and shared again at any time."""
    texts = [f"select count(*) as c, sum(x) as s from T(k = '{k}')" for k in "abc"]
    runtime, members = members_of(texts)
    [(table, times, _), _] = batches_of([("a", 1, 1.5, 0), ("b", 1, 2.0, 0), ("a", 1, 4.0, 0)], [])
    intake = BatchIntake(runtime.event_type("T"), read_columns(table, "T"))

    def last(shared: SharedRuns) -> list[Any]:
        return [None if o.new is None else o.new.to_pylist()[-1] for o in shared.feed(intake, times, 0)]

    assert last(SharedRuns(members)) == [{"c": 2, "s": 5.5}, {"c": 1, "s": 2.0}, None]
    assert last(SharedRuns(members)) == [{"c": 4, "s": 11.0}, {"c": 2, "s": 4.0}, None]
    _, others = members_of(texts)
    shared = SharedRuns(others)
    for one, other in zip(members, others):
        other.run.restore(one.run.state())
    assert last(shared) == [{"c": 6, "s": 16.5}, {"c": 3, "s": 6.0}, None]
    alone = [m.run.feed(intake, times, 0).new for m in others]
    assert [None if new is None else new.to_pylist()[-1] for new in alone] == [{"c": 8, "s": 22.0}, {"c": 4, "s": 8.0}, None]
