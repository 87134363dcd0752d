"""Arrow tables whose buffers are not what they say, into ``send_batch`` and ``Runtime.sql``: offsets and indices that point elsewhere,
changed bytes of a stream, dates beyond Python's.

Verdict: an EplError by name and no effect, or the rows; both tiers alike; the process goes on.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epl.errors import EplError
from runtime import Runtime

AROUND = pa.py_buffer(b"ab" + b"x" * 200)
"""Memory that a wrong offset reaches: without a check, a test fails and the process stays."""


def strings(offsets: list[int], width: Any = np.int32) -> Any:
    kind = pa.string() if width is np.int32 else pa.large_string()
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(np.array(offsets, width).tobytes()), AROUND.slice(0, 2)])


def lists(offsets: list[int]) -> Any:
    within = pa.array(range(100), pa.int32()).slice(0, 1)
    return pa.Array.from_buffers(pa.list_(pa.int32()), len(offsets) - 1, [None, pa.py_buffer(np.array(offsets, np.int32).tobytes())],
        children=[within])  # fmt: skip


def encoded(indices: list[int], dictionary: Any) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), dictionary, safe=False)


DAMAGED: dict[str, tuple[str, Callable[[], Any]]] = {
    "an offset beyond the data": ("string", lambda: strings([0, 50, 2])),
    "an offset below zero": ("string", lambda: strings([0, -1, 2])),
    "a large offset": ("string", lambda: strings([0, 50, 2], np.int64)),
    "in the middle of a slice": ("string", lambda: strings([0, 0, 50, 2]).slice(1)),
    "in the second chunk": ("string", lambda: pa.chunked_array([pa.array(["a"]), strings([0, 50, 2])])),
    "in a dictionary": ("string", lambda: encoded([0, 1], strings([0, 50, 2]))),
    "an index beyond the dictionary": ("string", lambda: encoded([0, 7], pa.array(["a"]))),
    "an index below zero": ("string", lambda: encoded([0, -1], pa.array(["a"]))),
    "elements of a list": ("int[]", lambda: lists([0, 50, 1])),
    "within a struct": ("java.util.Map", lambda: pa.StructArray.from_arrays([strings([0, 50, 2])], names=["a"])),
    "within a list": ("string[]", lambda: pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), strings([0, 50, 2]))),
}
FAR: dict[str, tuple[str, Callable[[], Any]]] = {
    f"{kind} of {declared}": (declared, lambda kind=kind, value=value: pa.array([0, value], kind))
    for kind, value in [(pa.timestamp("us", "UTC"), 2**62), (pa.timestamp("us"), -(2**62)), (pa.date32(), 2**31 - 1),
                        (pa.date64(), 2**62), (pa.time64("us"), 2**62), (pa.duration("s"), 2**62)]
    for declared in ("java.util.Date", "java.time.LocalDateTime", "java.time.LocalDate", "java.lang.Object")
}  # fmt: skip
QUERIES = [
    "select p from t", "select id from t where p is not null order by id",
    "select * from t match_recognize (order by id measures count(*) as c, last(A.p) as z pattern (A+) define A as A.id > -1) as m",
]  # fmt: skip


def tiers(declared: str) -> list[Runtime]:
    """Return a runtime per tier that runs the statements."""
    runtimes = []
    for tier in ("row", "auto", "batch"):
        runtime = Runtime(tier=tier)  # type: ignore[arg-type]
        try:
            runtime.deploy(f"create schema X(id int, p {declared}); @name('s') select id, p, count(*) as c from X#length(9)")
        except EplError:
            assert tier == "batch"
        else:
            runtimes.append(runtime)
    return runtimes


@pytest.mark.parametrize(("declared", "column"), [*DAMAGED.values(), *FAR.values()], ids=[*DAMAGED, *FAR])
def test_it_is_refused_and_has_no_effect(declared: str, column: Callable[[], Any]) -> None:
    damaged = column()
    table = pa.table({"id": pa.array(range(len(damaged)), pa.int32()), "p": damaged})
    good = pa.table({"id": pa.array([5], pa.int32()), "p": pa.nulls(1, damaged.type)})
    for runtime in tiers(declared):
        with pytest.raises(EplError, match=r"column 'p' cannot be read|cannot hold|beyond Python's"):
            runtime.send_batch("X", table)
        assert list(runtime.statement("s")) == []
        runtime.send_batch("X", good)
        assert [row["id"] for row in runtime.statement("s")] == [5]
        runtime.close()


@pytest.mark.parametrize("column", [column for _, column in DAMAGED.values()], ids=DAMAGED)
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_refuses_it(column: Callable[[], Any], query: str) -> None:
    damaged = column()
    table = pa.table({"id": range(len(damaged)), "p": damaged})
    with pytest.raises(EplError, match="column 'p' of 't' cannot be read"):
        Runtime.sql(query, {"t": table})
    assert Runtime.sql("select count(id) as c from t", {"t": table})["c"].to_pylist() == [len(damaged)]


ROWS = 12
MOMENTS = [datetime.datetime(2024, 1, 1, second=second) for second in range(ROWS)]
GOOD = pa.table({
    "id": pa.array(range(ROWS), pa.int32()), "k": [f"key{row % 3}" if row % 5 else None for row in range(ROWS)],
    "d": pa.array([f"d{row % 4}" for row in range(ROWS)]).dictionary_encode(), "v": [row * 0.5 for row in range(ROWS)],
    "b": [bool(row % 2) for row in range(ROWS)], "t": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
    "m": pa.array([Decimal(row) for row in range(ROWS)], pa.decimal128(10, 2)),
    "a": pa.array([[row] * (row % 3) for row in range(ROWS)], pa.list_(pa.int32())),
})  # fmt: skip
MODULE = """create schema X(id int, k string, d string, v double, b boolean, t java.util.Date, m bigdecimal, a int[]);
@name('s') select * from X#keepall; @name('g') select k, d, count(*) as c from X group by k, d"""


def stream() -> bytes:
    written = io.BytesIO()
    with pa.ipc.new_stream(written, GOOD.schema) as writer:
        writer.write_table(GOOD)
    return written.getvalue()


STREAM = stream()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=st.lists(st.tuples(st.integers(0, len(STREAM) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_changed_bytes_of_a_stream(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(STREAM)
    for place, byte in changes:
        damaged[place] = byte
    try:
        table = pa.ipc.open_stream(bytes(damaged)).read_all()
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return  # Arrow has seen it
    if table.num_rows > 1000:
        return  # nulls of a length that nothing contradicts
    outcomes = []
    for tier in ("row", "auto"):
        with Runtime(tier=tier) as runtime:  # type: ignore[arg-type]
            runtime.deploy(MODULE)
            try:
                runtime.send_batch("X", table)
            except EplError:
                assert list(runtime.statement("s")) == []
            outcomes.append(repr([[dict(row) for row in runtime.statement(name)] for name in "sg"]))
    assert outcomes[0] == outcomes[1]
    try:
        Runtime.sql("select k, d, v, b, t, m, a, id from t where k > 'a' or d > 'd' or a is not null", {"t": table})
    except EplError as error:
        assert str(error)
