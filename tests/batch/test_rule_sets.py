"""Rule sets against the row tier: many statements that differ in constants give what each gives alone, however the input is cut."""
from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.available import is_available
from runtime.batch.compiler.kernels import compile_kernel, interpret_kernel
from runtime.batch.refusals import NotCompilable
from runtime.batch.rule_sets.kernel import rule
from runtime.batch.rule_sets.run import RuleSet, RuleSetRun, rule_sets
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.build import build_run
from runtime.conversion.columns import read_columns

SCHEMA = (
    "@public @buseventtype create schema T(k string, x double, n int, b boolean, m long, f float, p int);"
    "@public create variable int least = 2"
)
ARROW = pa.schema([
    ("k", pa.dictionary(pa.int32(), pa.string())), ("x", pa.float64()), ("n", pa.int32()), ("b", pa.bool_()), ("m", pa.int64()),
    ("f", pa.float32()), ("p", pa.int32()),
])

SHAPES = [
    "select * from T(k = '{s}' and x > {d})",
    "select x, k from T(k in ('{s}', '{t}') and n between {i} and {j})",
    "select k, '{t}' as tag, x * {d} as v, n + {i} as w, current_timestamp as at from T(k = '{s}')",
    "select k, n from T(n = {i})",
    "select k, n from T(n in ({i}, {j}) and x <= {d})",
    "select m from T(m = {l} and k != '{s}')",
    "select k from T(b = {b})",
    "select k, x from T(x > {d})",
    "select k, x from T({d} >= x and b)",
    "select k, n from T(n < {i})",
    "select k, m from T(m >= {l} or m is null)",
    "select m from T(m <= {l})",
    "select f from T(f > {d}f)",
    "select k from T(x * n > {d})",
    "select k, x from T(x < {d} + {e} * 2.5)",
    "select k from T(x between {d} and {e} and n > {i}) where k != '{s}' having b",
    "select k from T(x = {d} or k = '{s}')",
    "select k from T(x between {d} and {e})",
    "select k, k like 'a%' as l from T where n > {i} and k < '{s}'",
    "select k, n from T(n > least and x > {d})",
    "select k, n + least as v from T(k = '{s}') having n > {i}",
    "select count(*) as c, sum(n) as s, avg(x) as a from T(k = '{s}' and n > {i})",
    "select k, '{t}' as tag, max(x) as hi, sum(n, filter: b and n > {i}) as s from T(k in ('{s}', '{t}')) having count(*) > 1",
    "select sum(m) as s, count(x) as c from T(x > {d})",
    "select case when x > {d} then k else '{t}' end as c, b and n > {i} as both from T(k = '{s}' and b is not null)",
]

STRINGS = st.sampled_from(["a", "b", "ab", "c", "", "never", "late"])
INTS = st.sampled_from([0, 1, 2, 3, -5, 7, 2**31 - 1, 1 - 2**31])
DOUBLES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.5, -3.25, 1e300])
LONGS = st.sampled_from([0, 1, -7, 2**62, 2**63 - 1, 1 - 2**63])
CONSTANTS = st.fixed_dictionaries({
    "s": STRINGS, "t": STRINGS, "i": INTS, "j": INTS, "d": DOUBLES.map(repr), "e": DOUBLES.map(repr), "l": LONGS.map(lambda v: f"{v}L"),
    "b": st.sampled_from(["true", "false"]),
})
STATEMENTS = st.lists(st.tuples(st.sampled_from(SHAPES), CONSTANTS), min_size=1, max_size=14)


def written(shape: str, **constants: Any) -> str:
    """The shape with constants that differ: a filter that lists the same one twice is not a rule."""
    if constants["s"] == constants["t"]:
        constants["t"] = "other"
    if constants["i"] == constants["j"]:
        constants["j"] = 9
    return shape.format(**constants)


def nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values)


ROW = st.tuples(
    nullable(STRINGS.filter(lambda s: s not in ("late", "never"))), nullable(DOUBLES | st.sampled_from([float("nan"), float("inf")])),
    nullable(INTS), nullable(st.booleans()), nullable(LONGS), nullable(st.sampled_from([0.0, 1.0, 2.5, -3.25, float("nan")])),
    nullable(INTS), st.integers(0, 3),
)
LATE_ROW = st.tuples(STRINGS, *(st.just(v) for v in (2.5, 2, True, 1, 1.0, 1)), st.integers(0, 3))


def batches_of(rows: list[tuple[Any, ...]], cuts: list[int], *, plain: bool = False) -> list[tuple[pa.Table, np.ndarray[Any, Any]]]:
    """The rows in batches, each with its own dictionary, with the time of each row."""
    times = np.cumsum([0, *(r[-1] for r in rows)])[1:].astype(np.int64)
    bounds = sorted({0, len(rows), *(c for c in cuts if c < len(rows))})
    found = []
    for low, high in zip(bounds, bounds[1:]):  # noqa: RUF007
        columns = list(zip(*rows[low:high]))
        arrays = [pa.array(c, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for c, f in zip(columns, ARROW)]
        if not plain:
            arrays[0] = arrays[0].dictionary_encode()
        found.append((pa.table(arrays, names=ARROW.names), times[low:high]))
    return found


def by_rows(texts: list[str], batches: list[Any]) -> list[list[list[Any]]]:
    """By statement and batch: the rows that the row tier gives the batch listeners."""
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    found: list[list[list[Any]]] = [[[] for _ in batches] for _ in texts]
    now = 0

    def listener(number: int) -> Any:
        def listen(new: Any, old: Any, *_: Any) -> None:
            assert old is None
            found[number][now].extend(new.to_pylist())

        return listen

    deployment = runtime.deploy("\n".join(f"@name('q{i}') {t};" for i, t in enumerate(texts)))
    for number in range(len(texts)):
        deployment[f"q{number}"].add_batch_listener(listener(number))
    for now, (table, times) in enumerate(batches):  # noqa: B007 - the listeners read it
        runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")
    return found


def sets_of(texts: list[str], fast: bool) -> tuple[Runtime, list[tuple[RuleSet, RuleSetRun]]]:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    module = runtime.compile("\n".join(f"@name('q{i}') {t};" for i, t in enumerate(texts)))
    surroundings = RunContext(StringPool(), internal_engine(runtime).deployer.environment({}), compile_kernel if fast else interpret_kernel)
    sets = rule_sets([(s.body, surroundings) for s in module.statements])
    return runtime, [(each, each.run([build_run(module.statements[n].body, surroundings) for n in each.numbers])) for each in sets]


def by_sets(texts: list[str], batches: list[Any], *, fast: bool = False) -> tuple[list[list[list[Any]]], int]:
    """The same by rule sets, and how many sets there are. Each statement stands twice, so that each is in a set."""
    runtime, sets = sets_of([t for t in texts for _ in range(2)], fast)
    assert sorted(n for s, _ in sets for n in s.numbers) == list(range(2 * len(texts)))
    found: list[list[list[Any]]] = [[[] for _ in batches] for _ in range(2 * len(texts))]
    runs = [(s.numbers, run) for s, run in sets]
    for now, (table, times) in enumerate(batches):
        intake = BatchIntake(runtime.event_type("T"), read_columns(table, "T"))
        for numbers, run in runs:
            with np.errstate(all="ignore"):
                outputs = run.feed(intake, times, int(times[-1]), causes=True)
            assert len(outputs) == len(numbers)
            for number, output in zip(numbers, outputs):
                assert output.old is None
                if output.new is not None:
                    found[number][now].extend(output.new.to_pylist())
                    causes = output.new_causes
                    assert causes is not None and len(causes.row) == output.new.num_rows
                    assert (np.diff(causes.row) > 0).all() and (np.diff(causes.delta) > 0).all()
                    assert (causes.time == times[causes.row]).all() and not causes.timer.any()
    assert plain(found[::2]) == plain(found[1::2])
    return found[::2], len(sets)


def plain(value: Any) -> Any:
    """NaN by name, and the sign of zero seen."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return repr(value) if isinstance(value, float) else value


@settings(max_examples=40, deadline=None)
@given(
    statements=STATEMENTS, rows=st.lists(ROW, min_size=1, max_size=16), late=st.lists(LATE_ROW, max_size=3),
    cuts=st.lists(st.integers(1, 15), max_size=3), strings=st.booleans(),
)
def test_same_as_row_tier(statements: Any, rows: Any, late: Any, cuts: Any, strings: bool) -> None:
    texts = [written(shape, **constants) for shape, constants in statements]
    batches = batches_of(rows + late, cuts, plain=strings)
    expected = by_rows(texts, batches)
    found, _ = by_sets(texts, batches)
    assert plain(found) == plain(expected)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
def test_compiled(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(5)
    names = ["a", "b", "ab", "c", "", "d", "e"]
    texts = [
        written(SHAPES[shape], s=rng.choice(names), t=rng.choice(names), i=int(rng.integers(-3, 9)), j=int(rng.integers(-3, 9)),
                d=float(rng.integers(-6, 18)) / 2 + 0.25, l=f"{rng.integers(0, 5)}L", e=3.25, b="true")
        for shape in (0, 2, 4, 7, 16, 17, 21, 22) for _ in range(15)
    ]
    def row() -> tuple[Any, ...]:
        values = (
            str(rng.choice(names)), float(rng.integers(-6, 18)) / 4, int(rng.integers(-3, 9)), bool(rng.integers(0, 2)),
            int(rng.integers(0, 5)), 1.0, 1,
        )
        return (*(None if rng.random() < 0.1 else v for v in values), int(rng.integers(0, 3)))

    rows = [row() for _ in range(1_500)]
    batches = batches_of(rows, [1, 700, 701])
    expected = by_rows(texts, batches)
    found, sets = by_sets(texts, batches, fast=True)
    assert plain(found) == plain(expected)
    assert sets == 8


def test_variables_are_read_before_each_batch() -> None:
    runtime, sets = sets_of(["select n from T(n > least and x > 0)", "select n from T(n > least and x > 1)"], False)
    [(_, run)] = sets
    found = []
    for least in (2, 0):
        runtime.set_variable("least", least)
        [(table, times)] = batches_of([("a", 1.0, 1, None, None, None, 1, 0), ("a", 2.0, 3, None, None, None, 1, 0)], [])
        outputs = run.feed(BatchIntake(runtime.event_type("T"), read_columns(table, "T")), times, 0)
        found.append([None if o.new is None else o.new.column(0).to_pylist() for o in outputs])
    assert found == [[[3], [3]], [[1, 3], [3]]]


def test_more_matches_than_the_room_that_was_made() -> None:
    texts = [f"select n from T(n > {i % 3 - 5})" for i in range(300)]
    _, sets = sets_of(texts, True) if is_available() else sets_of(texts, False)
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    batches = batches_of([("a", 1.0, i % 7, None, None, None, 1, 0) for i in range(200)], [])
    [(_, run)] = sets
    outputs = run.feed(BatchIntake(runtime.event_type("T"), read_columns(batches[0][0], "T")), batches[0][1], 0)
    assert [o.new.column(0).to_pylist() for o in outputs if o.new is not None] == [[i % 7 for i in range(200)]] * 300
    assert run.next_due() is None and run.memory() > 0


def test_sets_are_by_shape() -> None:
    texts = [
        "select * from T(k = 'a')", "select n from T(n > 1)", "select * from T(k in ('b', 'c'))", "select n from T(n > 7)",
        "select n from T(n < 7)", "select count(*) from T", "select sum(n) from T", "select * from T#length(3)",
    ]
    _, sets = sets_of(texts, False)
    assert [s.numbers for s, _ in sets] == [(0, 2), (1, 3)]


@pytest.mark.parametrize(("text", "reason"), [
    ("select * from T#length(2)", "a window"),
    ("select k, count(*) from T group by k", "group by"),
    ("select count(distinct k) from T", "an aggregation with distinct"),
    ("select rstream n from T", "the remove stream"),
    ("select distinct n from T", "select distinct"),
    ("select n from T output last every 2 events", "an output clause"),
    ("insert into U select n from T", "insert into"),
    ("create variable int v2 = 1", "is not a rule"),
])
def test_what_is_no_rule(text: str, reason: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    plan = runtime.compile(f"@name('s0') {text}").statements[0].body
    with pytest.raises(NotCompilable, match=reason):
        rule(plan, RunContext(StringPool(), internal_engine(runtime).deployer.environment({}), interpret_kernel))
