"""match_recognize in the row tier and as a run of columns, with the same batches."""
from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import internal_output
from runtime.batch.compiler.kernels import compile_kernel, interpret_kernel
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.build import build_run
from runtime.conversion.columns import read_columns
from tests.batch.compiled_statements import compiled_once, declared
from windows.paging import plain as unpaged

SCHEMA = "@public @buseventtype create schema T(k string, x double, n int, b boolean, ts long, j int)"
ARROW = pa.schema([
    ("k", pa.dictionary(pa.int32(), pa.string())), ("x", pa.float64()), ("n", pa.int32()), ("b", pa.bool_()), ("ts", pa.int64()),
    ("j", pa.int32()),
])
ALL, NEXT, HERE = "all matches", "after match skip to next row", "after match skip to current row"


def clause(pattern: str, define: str = "", measures: str = "", *, mode: str = "", over: str = "T", by: str = "k") -> str:
    names = [n for n in "ABCD" if n in pattern]
    grouped = {n for n in names if f"{n}+" in pattern or f"{n}*" in pattern or f"{n}{{" in pattern or (")+" in pattern and n in "AB")}
    columns = measures or ", ".join(f"{n}[0].j as {n}0, {n}.lastOf().j as {n}1, {n}.countOf() as {n}2" if n in grouped else f"{n}.j as {n}0"
                                    for n in names)
    rows, _, skip = mode.partition("|")
    return (
        f"select * from {over} match_recognize ({f'partition by {by}' if by else ''} measures {columns} {rows} {skip} "
        f"pattern ({pattern}) {f'define {define}' if define else ''})"
    )


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "a", "b", None]), st.sampled_from([None, 0.0, -0.0, 1.0, 2.0, 2.5, 3.0, 4.0, float("nan")]),
        st.sampled_from([None, 0, 1, 2]), st.sampled_from([True, True, False, None]), st.integers(0, 3), st.integers(0, 3),
    ),
    max_size=30,
)


def tables(rows: list[tuple[Any, ...]], cuts: list[int]) -> list[tuple[pa.Table, np.ndarray[Any, Any]]]:
    """The rows in batches, with the time of each row; ``j`` numbers the rows, ``ts`` may go back a little."""
    times = np.cumsum([0, *(r[-1] for r in rows)])[1:].astype(np.int64)
    full = [(*r[:4], int(times[j]) - r[4], j) for j, r in enumerate(rows)]
    bounds = sorted({0, len(rows), *(c for c in cuts if c < len(rows))})
    columns = list(zip(*full)) if full else [()] * len(ARROW)
    whole = pa.table([pa.array(c, f.type.value_type).dictionary_encode() if pa.types.is_dictionary(f.type) else pa.array(c, f.type)
                      for c, f in zip(columns, ARROW)], schema=ARROW)
    return [(whole.slice(a, b - a), times[a:b]) for a, b in zip(bounds, bounds[1:])]  # noqa: RUF007


def by_rows(text: str, batches: list[tuple[pa.Table, Any]], until: int) -> list[Any]:
    """What the row tier emits."""
    runtime = Runtime(tier="row")
    runtime.deploy(declared(SCHEMA))
    found: list[Any] = []
    statement = runtime.deploy(compiled_once(SCHEMA, text)[1])["s0"]
    statement.add_batch_listener(lambda new, *_: found.extend([] if new is None else new.to_pylist()))
    for table, times in batches:
        runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")
    runtime.advance_time_span(until)
    return found


def by_columns(text: str, batches: list[tuple[pa.Table, Any]], until: int, *, fast: bool) -> list[Any]:
    runtime, module = compiled_once(SCHEMA, text)
    plan = module.statements[0].body
    run = build_run(plan, RunContext(StringPool(), internal_engine(runtime).deployer.environment({}),
        compile_kernel if fast else interpret_kernel))
    found: list[Any] = []
    empty = pa.table({f.name: pa.array([], f.type) for f in ARROW})
    for table, times in [*batches, (empty, np.zeros(0, np.int64))]:
        end = int(times[-1]) if len(times) else until
        with np.errstate(all="ignore"):
            made = run.feed(BatchIntake(runtime.event_type("T"), read_columns(table, "T")), times, end, causes=True)
        if made.new is not None:
            assert made.new_causes is not None and len(made.new_causes.row) == len(made.new)
            found.extend(made.new.to_pylist())
    return found


def plain(rows: list[Any]) -> list[Any]:
    """NaN by name, and the sign of zero seen."""
    return [{name: repr(value) if isinstance(value, float) else value for name, value in row.items()} for row in rows]


def moved(text: str, batches: list[tuple[pa.Table, Any]], until: int, where: list[bool]) -> list[Any]:
    """What comes out where each batch goes to the row tier or to columns, with the state taken along."""
    found: list[Any] = []
    state: Any = None
    empty = pa.table({f.name: pa.array([], f.type) for f in ARROW})
    runtime = Runtime(tier="row")
    runtime.deploy(declared(SCHEMA))
    now = 0
    for (table, times), columns in zip([*batches, (empty, np.zeros(0, np.int64))], [*where, False]):
        runtime.advance_time_span(now)
        now = int(times[-1]) if len(times) else until
        deployment = runtime.deploy(compiled_once(SCHEMA, text)[1])
        statement = deployment["s0"]
        if columns:
            run = build_run(statement.plan.body, RunContext(StringPool(), internal_engine(runtime).deployer.environment({}),
                interpret_kernel))
            with np.errstate(all="ignore"):
                if state is not None:
                    run.restore(state)
                made = run.feed(BatchIntake(runtime.event_type("T"), read_columns(table, "T")), times, now)
            found.extend([] if made.new is None else made.new.to_pylist())
            state = unpaged(run.state())
        else:
            if state is not None:
                internal_output(statement).running.restore(state)
            statement.add_batch_listener(lambda new, *_: found.extend([] if new is None else new.to_pylist()))
            if len(times):
                runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")
            runtime.advance_time_span(now)
            state = unpaged(internal_output(statement).running.state())
        deployment.undeploy()
    return found
