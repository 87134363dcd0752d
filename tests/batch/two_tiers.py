"""One statement in the row tier and in the batch tier, with the same batches, and its state moved from one to the other."""
from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import internal_output
from runtime.batch.compiler.kernels import compile_kernel, interpret_kernel
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.build import build_run
from runtime.conversion.batch_order import unread_types
from runtime.conversion.columns import read_columns
from tests.batch.compiled_statements import compiled_once, declared
from windows.paging import plain

SCHEMA = "@public @buseventtype create schema T(k string, x double, n int, b boolean, m long, d Date)"
ARROW = pa.schema([
    ("k", pa.dictionary(pa.int32(), pa.string())), ("x", pa.float64()), ("n", pa.int32()), ("b", pa.bool_()), ("m", pa.int64()),
    ("d", pa.timestamp("us", tz="UTC")),
])
EMPTY = pa.table({f.name: pa.array([], f.type) for f in ARROW})

NUMBERS = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.5, -3.25, 0.1, 1e300, float("nan"), float("inf")]))
INTS = st.one_of(st.none(), st.sampled_from([0, 1, 2, 3, -5, 2**31 - 1, -(2**31)]))
LONGS = st.one_of(st.none(), st.sampled_from([0, 1, -7, 3, 9, 2**62, 2**63 - 1, -(2**62)]))
DATES = st.one_of(st.none(), st.integers(0, 10**9).map(lambda v: datetime.datetime.fromtimestamp(v, datetime.timezone.utc)))
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "ab", "c", "", None]), NUMBERS, INTS, st.sampled_from([True, False, None]), LONGS, DATES,
        st.integers(0, 3),
    ),
    max_size=25,
)
"""Rows of T; the last element is the time since the row before."""

END = 40
"""When time ends where states move."""

Batch = tuple[pa.Table, Any]
Outputs = tuple[list[Any], list[Any]]


def batches_of(rows: list[tuple[Any, ...]], cuts: list[int]) -> list[Batch]:
    """The rows in batches, with the time of each row."""
    times = np.cumsum([0, *(r[-1] for r in rows)])[1:].astype(np.int64)
    bounds = sorted({0, len(rows), *(c for c in cuts if c < len(rows))})
    columns = list(zip(*rows)) if rows else [()] * (len(ARROW) + 1)
    whole = pa.table([pa.array(c, f.type.value_type).dictionary_encode() if pa.types.is_dictionary(f.type) else pa.array(c, f.type)
                      for c, f in zip(columns, ARROW)], schema=ARROW)
    return [(whole.slice(a, b - a), times[a:b]) for a, b in zip(bounds, bounds[1:])]  # noqa: RUF007


class RowTier:
    """The statement in a runtime of its own; ``output`` is what its batch listener has heard."""

    def __init__(self, text: str, start: int = 0) -> None:
        self.runtime = Runtime(tier="row", start_time=start)
        self.runtime.deploy(declared(SCHEMA))
        self._listen(self.runtime.deploy(compiled_once(SCHEMA, text)[1], name="d")["s0"])

    def _listen(self, statement: Any) -> None:
        self.statement = statement
        self.output: Outputs = [], []
        statement.add_batch_listener(self._heard)

    def _heard(self, came: Any, went: Any, *_: Any) -> None:
        for part, found in zip(self.output, (came, went)):
            part.extend([] if found is None else found.to_pylist())

    def feed(self, batch: Batch) -> None:
        table, times = batch
        self.runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")

    def advance(self, until: int) -> None:
        self.runtime.advance_time_span(until)

    def state(self) -> Any:
        return plain(internal_output(self.statement).running.state())

    def restore(self, state: Any, *, through_bytes: bool = False) -> None:
        internal_output(self.statement).running.restore(state)
        if through_bytes:
            self.runtime = Runtime.restore(self.runtime.snapshot())
            self._listen(self.runtime.deployments["d"]["s0"])


class ColumnTier:
    """The statement as a run; ``output`` is what it has emitted. As in a runtime, columns that it does not read are null. ``beside``: whose
    events it shares the type with."""

    def __init__(self, text: str, start: int = 0, *, fast: bool = False, beside: RowTier | None = None) -> None:
        if beside is None:
            runtime, module = compiled_once(SCHEMA, text)
            plan = module.statements[0]
        else:
            runtime = beside.runtime
            plan = beside.statement.plan
        self.type = runtime.event_type("T")
        self.unread = unread_types(self.type, plan.reads.of(self.type))
        surroundings = RunContext(StringPool(), internal_engine(runtime).deployer.environment({}),
            compile_kernel if fast else interpret_kernel)
        self.run = build_run(plan.body, surroundings)
        self.output: Outputs = [], []
        self.causes: list[Any] = []
        self.now = start

    def feed(self, batch: Batch, until: int | None = None, *, jump: bool = False) -> None:
        table, times = batch
        self.now = until if until is not None else int(times[-1]) if len(times) else self.now
        with np.errstate(all="ignore"):
            made = self.run.feed(BatchIntake(self.type, read_columns(table, "T", self.unread)), times, self.now, jump=jump)
        for part, found in zip(self.output, (made.new, made.old)):
            part.extend([] if found is None else found.to_pylist())

    def advance(self, until: int) -> None:
        self.feed((EMPTY, np.zeros(0, np.int64)), until)

    def state(self) -> Any:
        return plain(self.run.state())

    def restore(self, state: Any) -> None:
        self.run.restore(state)


def unmoved(text: str, batches: list[Batch], until: int = END) -> tuple[RowTier, list[Any]]:
    """The row tier, fed; and what its iterator gave before time went on to ``until``."""
    tier = RowTier(text)
    for batch in batches:
        tier.feed(batch)
    contents = [row.to_dict() for row in tier.statement]
    tier.advance(until)
    return tier, contents


def moved(first: Any, second: Any, batches: list[Batch], at: int, **how: Any) -> list[Any]:
    """What the two emit, one after the other."""
    for batch in batches[:at]:
        first.feed(batch)
        first.state()  # may be asked for at any time
    second.restore(first.state(), **how)
    for batch in batches[at:]:
        second.feed(batch)
    second.advance(END)
    return shown(tuple(a + b for a, b in zip(first.output, second.output)))


def clock(batches: list[Batch], at: int) -> int:
    """The time when the first ``at`` batches have come."""
    return next((int(times[-1]) for _, times in reversed(batches[:at]) if len(times)), 0)


def assert_same(text: str, batches: list[Batch], until: int, *, fast: bool = False) -> None:
    """Both tiers emit the same; ``fast``: the kernel is compiled."""
    expected, found = RowTier(text), ColumnTier(text, fast=fast)
    for batch in batches:
        expected.feed(batch)
        found.feed(batch)
    expected.advance(until)
    found.advance(until)
    assert shown(found.output) == shown(expected.output)


def assert_state_moves(text: str, batches: list[Batch], at: int, expected: list[Any] | None = None) -> None:
    """From either tier into the other, and from a run into another, behind the first ``at`` batches. ``expected``: what the row tier emits
    until ``END``, if that is known."""
    expected = shown(unmoved(text, batches)[0].output) if expected is None else expected
    now = clock(batches, at)
    assert moved(RowTier(text), ColumnTier(text, now), batches, at) == expected
    assert moved(ColumnTier(text), RowTier(text, now), batches, at) == expected
    assert moved(ColumnTier(text), ColumnTier(text, now), batches, at) == expected


def same_in_both_tiers(statements: Sequence[str], examples: int) -> Callable[..., None]:
    """A test for a module to hold: any rows, cut anywhere, give what they give in the row tier, and so they do where the state moves."""

    @pytest.mark.parametrize("text", statements)
    @settings(max_examples=examples, deadline=None)
    @given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), at=st.integers(0, 4))
    def test(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
        batches = batches_of(rows, cuts)
        expected, _ = unmoved(text, batches)
        assert_state_moves(text, batches, at, shown(expected.output))
        found = ColumnTier(text)
        for batch in batches:
            found.feed(batch)
        for tier in (expected, found):
            tier.advance(100)
        assert shown(found.output) == shown(expected.output)

    return test


def assert_state_goes_through_a_snapshot(text: str, batches: list[Batch], at: int) -> None:
    """A run's state, as bytes, into a row tier that goes on with it."""
    expected = shown(unmoved(text, batches)[0].output)
    target = RowTier(text, clock(batches, at))
    assert moved(ColumnTier(text, beside=target), target, batches, at, through_bytes=True) == expected


def shown(output: Outputs) -> list[Any]:
    """NaN by name, and the sign of zero seen."""
    return [
        [{name: repr(value) if isinstance(value, float) else value for name, value in row.items()} for row in part] for part in output
    ]
