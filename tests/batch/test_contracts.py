"""Fields of plans that kernels say they handle: each has a statement that gives the same in columns as in rows, and other rows without."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import attrs
import pyarrow as pa
import pytest

from epl.analysis import partitioning
from epl.plan.aggregations import AggregationPlan
from epl.plan.assignments import VariableAssignment
from epl.plan.contracts import Contract, equals_default, field_default, plans_in
from epl.plan.explain import explain
from epl.plan.patterns.match_recognize import Operand, RowRecognitionPlan, Step
from epl.plan.result_set import LimitPlan, OrderKey, OutputPlan, ResultSetPlan
from epl.plan.statements import SelectPlan
from epl.plan.streams import FilterPlan, StreamPlan
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import internal_output
from runtime.batch import contracts
from runtime.batch.compiler.kernels import interpret_kernel
from runtime.batch.refusals import NotCompilable
from runtime.batch.rule_sets.kernel import rule
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.build import build_run
from runtime.fused import select_statement as fused
from tests.batch import row_pattern_statements, two_tiers
from tests.batch.row_pattern_statements import clause
from windows.time_batch import TimeBatch

Place = tuple[type, str]

DRAW = Random(11)
ROWS = [
    (DRAW.choice(["a", "b", "c", None]), DRAW.choice([0.5, 1.0, 2.5, 3.0, None]), DRAW.choice([0, 1, 2, 5]), DRAW.random() < 0.5,
     DRAW.randrange(9), None, DRAW.choice([0, 0, 1, 2, 5]))
    for _ in range(40)
]
PATTERN_ROWS = [(*row[:4], 1, DRAW.choice([0, 1, 3])) for row in ROWS]

SEVERAL = clause("A+ B", "A as A.n < 6, B as B.x > 1", "A[0].n as c, A[0].j as d", mode="all matches|")
"""Gives several rows at a time."""

SELECTS: Mapping[Place, str] = {
    (SelectPlan, "where"): "select k, n from T#length(3) where n > 1",
    (StreamPlan, "windows"): "select irstream k from T#length(2)",
    (FilterPlan, "conditions"): "select k from T(x > 1)",
    (FilterPlan, "key"): "select x from T(k = 'a')",
    (TimeBatch, "reference"): "select k from T#time_batch(7 msec, 3L)",
    (AggregationPlan, "distinct"): "select sum(distinct n) as s from T",
    (AggregationPlan, "filter"): "select sum(n, filter: b) as s from T",
    (AggregationPlan, "group_by"): "select k, count(*, group_by: b) as c from T",
    (AggregationPlan, "constants"): "select nth(n, 1) as f from T#length(3)",
    (AggregationPlan, "ever"): "select maxever(n) as f from T#length(2)",
    (ResultSetPlan, "forward"): "select * from T",
    (ResultSetPlan, "selector"): "select irstream k from T#length(2)",
    (ResultSetPlan, "distinct"): "select distinct k from T#length_batch(7)",
    (ResultSetPlan, "group_by"): "select k, n, count(*) as c from T group by k",
    (ResultSetPlan, "levels"): "select k, b, count(*) as c from T group by rollup(k, b)",
    (ResultSetPlan, "having"): "select k, count(*) as c from T group by k having count(*) > 3",
    (ResultSetPlan, "order_by"): "select k, n from T#length_batch(7) order by n",
    (ResultSetPlan, "limit"): "select k from T#length_batch(7) limit 3",
    (ResultSetPlan, "aggregations"): "select count(*) as c from T",
    (ResultSetPlan, "output"): "select k from T output last every 3 events",
    (OrderKey, "descending"): "select k, n from T#length_batch(7) order by n desc",
    (LimitPlan, "offset"): "select k from T#length_batch(7) limit 3 offset 2",
    (OutputPlan, "selector"): "select k from T output last every 3 events",
    (OutputPlan, "every"): "select k from T output every 3 events",
    (OutputPlan, "unit"): "select k from T output every 3 events",
    (OutputPlan, "after"): "select k from T output after 5 events",
    (OutputPlan, "after_unit"): "select k from T output after 5 events",
    (OutputPlan, "condition"): "select k from T output when count_insert >= 4",
}
RULES: Mapping[Place, str] = {
    (FilterPlan, "conditions"): SELECTS[FilterPlan, "conditions"],
    (FilterPlan, "key"): SELECTS[FilterPlan, "key"],
    (AggregationPlan, "filter"): SELECTS[AggregationPlan, "filter"],
    (ResultSetPlan, "forward"): SELECTS[ResultSetPlan, "forward"],
    (ResultSetPlan, "having"): "select k, count(*) as c from T having count(*) > 3",
    (ResultSetPlan, "aggregations"): SELECTS[ResultSetPlan, "aggregations"],
}
PATTERNS: Mapping[Place, str] = {
    (SelectPlan, "row_recognition"): clause("A B"),
    (StreamPlan, "windows"): clause("A B", "A as A.x > 0, B as B.n > A.n", over="T#length(2)"),
    (FilterPlan, "conditions"): clause("A B", over="T(x > 1)"),
    (FilterPlan, "key"): clause("A B", over="T(k = 'a')", by=""),
    (AggregationPlan, "filter"): clause("A+ B", "A as A.n > 0, B as B.n = 0", "sum(A.n, A.b) as c"),
    (ResultSetPlan, "forward"): clause("A B"),
    (ResultSetPlan, "distinct"): clause("A B", "B as B.x > A.x", "A.k as c").replace("select *", "select distinct c"),
    (ResultSetPlan, "having"): f"{clause('A B', measures='A.n as c')} having c > 1",
    (ResultSetPlan, "order_by"): f"{SEVERAL} order by c",
    (ResultSetPlan, "limit"): f"{SEVERAL} limit 1",
    (OrderKey, "descending"): f"{SEVERAL} order by c desc",
    (LimitPlan, "offset"): f"{SEVERAL} limit 1 offset 1",
    (RowRecognitionPlan, "partition_by"): clause("A B"),
    (RowRecognitionPlan, "aggregations"): clause("A+ B", "A as A.n > 0, B as B.n = 0", "sum(A.n) as c"),
    (RowRecognitionPlan, "all_matches"): clause("A B", "B as B.x > A.x", mode=f"{row_pattern_statements.ALL}|"),
    (RowRecognitionPlan, "skip"): clause("A B", mode=f"|{row_pattern_statements.NEXT}"),
    (RowRecognitionPlan, "interval"): clause("A B*", "B as B.x > A.x").replace(
        "pattern (A B*)", "pattern (A B*) interval 4 milliseconds"),
    (RowRecognitionPlan, "or_terminated"): clause("A B*", "B as B.x > A.x").replace(
        "pattern (A B*)", "pattern (A B*) interval 4 milliseconds or terminated"),
    (RowRecognitionPlan, "lookback"): clause("A B", "B as B.n > prev(B.n)"),
    (RowRecognitionPlan, "has_window"): clause("A B", "A as A.x > 0, B as B.n > A.n", over="T#length(2)"),
    (Step, "then"): clause("A B"),
    (Operand, "event_type"): clause("A+ B", "A as A.n > 0, B as B.n > A[0].n"),
    (Step, "accepts"): clause("A B"),
    (Step, "counted"): clause("A B* C", "B as B.n > 0, C as C.x > 0"),
    (Operand, "number"): clause("A B C", "C as C.n > B.n"),
}

NEVER_OTHER: Mapping[Place, str] = {
    (StreamPlan, "alias"): "names are resolved in the plan",
    (ResultSetPlan, "arity"): "one stream",
    (ResultSetPlan, "raw"): "of a group of statements (tests/batch/test_tiers.py): the selector is applied after the insert",
    (ResultSetPlan, "unbound"): "follows from the windows",
    (OutputPlan, "assignments"): "of variables, which output conditions are tested with (tests/batch/test_output_conditions.py)",
    (VariableAssignment, "variable"): "as above",
    (VariableAssignment, "property"): "as above",
    (VariableAssignment, "index"): "as above",
    (AggregationPlan, "ever"): "of rules and row patterns: nothing leaves",
    (AggregationPlan, "stream"): "the one stream, or the one group variable",
    (OutputPlan, "optimized"): "where it would, the output clause is refused",
}
"""Fields that make no difference by themselves in the statements of one contract, and why."""


def optional_fields(contract: Contract) -> Iterator[Place]:
    for kind, names in contract.fields.items():
        for field in attrs.fields(kind):
            if field.name in names and field.default is not attrs.NOTHING:
                yield kind, field.name


def without(plan: Any, place: Place) -> Any:
    """Return the plan with the field at its default in every part of the class."""
    kind, name = place
    changes: dict[str, Any] = {}
    for field in attrs.fields(type(plan)):
        value = getattr(plan, field.name)
        if plans_in(value) and "reference" not in field.metadata:
            changed = tuple(without(each, place) for each in value) if isinstance(value, tuple) else without(value, place)
            if changed != value:
                changes[field.name.lstrip("_")] = changed
        if isinstance(plan, kind) and field.name == name:
            changes[name] = field_default(field)
    return attrs.evolve(plan, **changes) if changes else plan


def in_rows(schema: str, text: str, batches: list[Any], place: Place | None) -> Any:
    """Return what the row tier emits; why it cannot run the plan without the field where that contradicts itself."""
    runtime = Runtime(tier="row")
    runtime.deploy(schema)
    module = runtime.compile(f"@name('s0') {text}")
    out: list[Any] = []
    try:
        if place is not None:
            statement = module.statements[0]
            module = attrs.evolve(module, statements=(attrs.evolve(statement, body=without(statement.body, place)),))
        deployed = runtime.deploy(module)["s0"]
        deployed.add_listener(lambda new, old, *_: out.append(([r.to_dict() for r in new], [r.to_dict() for r in old])))
        for table, times in batches:
            runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")
        runtime.advance_time_span(60)
    except (ValueError, TypeError, AttributeError, AssertionError, IndexError, KeyError) as error:
        return type(error)
    return out


def uses(plan: Any, place: Place) -> bool:
    """Return whether the field is not at its default somewhere in the plan."""
    for field in attrs.fields(type(plan)):
        value = getattr(plan, field.name)
        if isinstance(plan, place[0]) and field.name == place[1] and not equals_default(value, field_default(field)):
            return True
        if any(uses(part, place) for part in plans_in(value)):
            return True
    return False


def assert_same_in_a_rule_set(text: str, plan: SelectPlan, batches: list[Any]) -> None:
    """Hold a statement that is a rule of a rule set against rows."""
    outputs = []
    for tier in ("row", "batch"):
        runtime = Runtime(tier=tier)
        runtime.deploy(two_tiers.SCHEMA)
        statement = runtime.deploy(f"@name('s0') {text}")["s0"]
        out: list[Any] = []
        statement.add_batch_listener(lambda new, *_, out=out: out.extend([] if new is None else new.to_pylist()))  # type: ignore[misc]
        if tier == "batch":
            assert rule(plan, surroundings()).shape is not None
        for table, times in batches:
            runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")
        outputs.append(out)
    assert outputs[0] == outputs[1]


CASES = [
    *((contracts.SELECT, two_tiers, place, text) for place, text in SELECTS.items()),
    *((contracts.RULE, two_tiers, place, text) for place, text in RULES.items()),
    *((contracts.ROW_PATTERN, row_pattern_statements, place, text) for place, text in PATTERNS.items()),
]


@pytest.mark.parametrize(("contract", "frame", "place", "text"), CASES, ids=[f"{p[0].__name__}.{p[1]}" for _, _, p, _ in CASES])
def test_a_field_is_handled(contract: Contract, frame: Any, place: Place, text: str) -> None:
    selects = frame is two_tiers
    batches = two_tiers.batches_of(ROWS, [13]) if selects else row_pattern_statements.tables(PATTERN_ROWS, [13])
    runtime = Runtime(tier="row")
    runtime.deploy(frame.SCHEMA)
    plan = runtime.compile(f"@name('s0') {text}").statements[0].body
    assert uses(plan, place)
    assert contract.beyond(plan) is None
    if contract is contracts.RULE:
        assert_same_in_a_rule_set(text, plan, batches)
    elif selects:
        two_tiers.assert_same(text, batches, 60)
    else:
        rows, columns = frame.by_rows(text, batches, 60), frame.by_columns(text, batches, 60, fast=False)
        assert frame.plain(columns) == frame.plain(rows)
    whole = in_rows(frame.SCHEMA, text, batches, None)
    assert whole
    assert in_rows(frame.SCHEMA, text, batches, place) != whole


@pytest.mark.parametrize("contract", [contracts.SELECT, contracts.RULE, contracts.ROW_PATTERN], ids=["select", "rule", "row pattern"])
def test_each_field_has_a_witness(contract: Contract) -> None:
    shown = {place for of, _, place, _ in CASES if of is contract}
    assert set(optional_fields(contract)) - shown - NEVER_OTHER.keys() == set()


SHOWN = [(f, p, t) for _, f, p, t in CASES if p != (Operand, "event_type")]
"""All but what follows from the variable that an operand names."""


@pytest.mark.parametrize(("frame", "place", "text"), SHOWN, ids=[f"{p[0].__name__}.{p[1]}" for _, p, _ in SHOWN])
def test_explain_shows_a_field(frame: Any, place: Place, text: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(frame.SCHEMA)
    statement = runtime.compile(f"@name('s0') {text}").statements[0]
    try:
        other = attrs.evolve(statement, body=without(statement.body, place))
    except ValueError:
        return  # the plan contradicts itself without the field
    assert explain(other) != explain(statement)


def test_explain_shows_what_is_delivered_several_times() -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(two_tiers.SCHEMA)
    (statement,) = runtime.compile("select * from T(k in ('a', 'b', 'a'))").statements
    assert "delivered once for each constant that k equals" in explain(statement)


def fewer(contract: Contract, place: Place) -> Contract:
    """Return the contract without the field."""
    kind, name = place
    return attrs.evolve(contract, fields={**contract.fields, kind: contract.fields[kind] - {name}})


@pytest.mark.parametrize(("owner", "name", "engine"), [
    (contracts, "SELECT", lambda statement: build_run(statement.plan.body, surroundings())),
    (contracts, "RULE", lambda statement: rule(statement.plan.body, surroundings())),
    (fused.contracts, "SELECT", lambda statement: fused._fuse(internal_output(statement).running)),
    (partitioning.contract, "SELECT", lambda statement: partitioning.analyse_partitioning([statement.plan], statement.name)),
])
def test_engines_ask_their_contract(owner: Any, name: str, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(two_tiers.SCHEMA)
    statement = runtime.deploy("@name('s0') select * from T(x > 1)")["s0"]
    before = outcome(engine, statement)
    monkeypatch.setattr(owner, name, fewer(getattr(owner, name), (ResultSetPlan, "forward")))
    assert outcome(engine, statement) != before


def surroundings() -> RunContext:
    return RunContext(StringPool(), internal_engine(Runtime(tier="row")).deployer.environment({}), interpret_kernel)


def outcome(engine: Any, statement: Any) -> str:
    try:
        return type(engine(statement)).__name__
    except NotCompilable as error:
        return str(error)
