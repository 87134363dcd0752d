"""What comes out of columns is what went in: where Arrow does not hold a type's values as they are, the statement stays in the row tier."""
from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pandas
import pyarrow as pa
import pytest

from epl.errors import EplUnsupportedError
from runtime import Runtime
from runtime.batch.available import is_available

pytestmark = pytest.mark.skipif(not is_available(), reason="numba is not installed")

EAST = datetime.timezone(datetime.timedelta(hours=2))
MIXED = [1, 2.5, "a", b"x", [1, "b"], {"a": 1}, True, None, Decimal("1.50"), 2**70]
EXACT: dict[str, list[Any]] = {
    "byte": [1, None], "short": [2], "int": [3], "long": [2**60], "float": [1.5], "double": [1, 2.5], "boolean": [True],
    "string": ["a", "é"], "char": ["a"], "BigInteger": [1, 2**70, -3],
    "java.time.LocalDateTime": [datetime.datetime(2020, 1, 1, 1, 2, 3, 456)],
    "java.time.LocalDate": [datetime.date(2020, 1, 1)], "java.time.LocalTime": [datetime.time(1, 2, 3, 4)], "Integer[]": [[1, None]],
    "int[primitive]": [[1, 2]], "string[]": [["a"]], "java.util.Map<String,Integer>": [{"a": 1}], "Plain": [{"a": 1, "b": "x"}],
    "Plain[]": [[{"a": 1, "b": "x"}]], "java.util.List<Integer>": [[1, 2]],
}
INEXACT: dict[str, list[Any]] = {
    "Object": MIXED, "Number": [1, 2.5, Decimal("1.50"), 2**70], "BigDecimal": [1, Decimal("1.50"), Decimal("1E+3"), Decimal("0.1000")],
    "Object[]": [[1, "a"]], "BigDecimal[]": [[Decimal("1.50")]], "java.util.List": [[1, "a"]], "java.util.Map": [{"a": 1}],
    "java.util.Map<String,Object>": [{"a": 1, "b": "x"}], "Loose": [{"o": 1}], "Loose[]": [[{"o": b"x"}]], "Nested": [{"i": {"o": 1.5}}],
}
ZONED: dict[str, list[Any]] = {
    kind: [datetime.datetime(2020, 1, 1, tzinfo=EAST)]
    for kind in ("java.time.ZonedDateTime", "java.time.OffsetDateTime", "java.util.Calendar")
}
INNER = (
    "create schema Plain(a int, b string); create schema Loose(o Object); create schema Nested(i Loose);"
)


def deployed(tier: Any, kind: str, columns: str = "id, p") -> Runtime:
    runtime = Runtime(tier=tier)
    runtime.deploy(f"{INNER} @public @buseventtype create schema X(id int, p {kind}); @name('s') select {columns} from X#length(2)")
    return runtime


def give(runtime: Runtime, values: list[Any], how: str) -> None:
    if how == "batch":
        runtime.send_batch("X", pandas.DataFrame({"id": range(len(values)), "p": pandas.Series(values, dtype=object)}))
        return
    for number, value in enumerate(values):
        runtime.send("X", {"id": number, "p": value})


def sent(runtime: Runtime, values: list[Any], how: str) -> list[list[str]]:
    """What row listeners, the iterator and a runtime restored in rows show."""
    heard: list[Any] = []
    runtime.statement("s").add_listener(lambda new, *_: heard.extend(new))
    give(runtime, values, how)
    restored = Runtime.restore(runtime.snapshot(), tier="row")
    return [[repr(row["p"]) for row in rows] for rows in (heard, runtime.statement("s"), restored.statement("s"))]


@pytest.mark.parametrize("how", ["send", "batch"])
@pytest.mark.parametrize("kind", EXACT)
def test_both_tiers_emit_the_same_values(kind: str, how: str) -> None:
    by_columns = deployed("batch", kind)
    assert by_columns.statement("s").tier == "batch"
    assert sent(by_columns, EXACT[kind], how) == sent(deployed("row", kind), EXACT[kind], how)


@pytest.mark.parametrize("columns", ["id, p", "*", "p as q"])
@pytest.mark.parametrize("kind", INEXACT)
def test_values_that_arrow_changes_stay_in_rows(kind: str, columns: str) -> None:
    with pytest.raises(EplUnsupportedError, match=r"the column '[pq]' of type .*: its values would not come out of an Arrow column"):
        deployed("batch", kind, columns)


@pytest.mark.parametrize("kind", INEXACT)
def test_auto_does_not_move_them(kind: str) -> None:
    """However many rows come: the iterator shows the values that were sent."""
    values = [INEXACT[kind][n % len(INEXACT[kind])] for n in range(12_000)]
    runtime = deployed("auto", kind)
    for _ in range(2):
        give(runtime, values, "batch")
    assert runtime.statement("s").tier == "row"
    by_rows = deployed("row", kind)
    give(by_rows, values[-2:], "batch")
    assert [repr(row["p"]) for row in runtime.statement("s")] == [repr(row["p"]) for row in by_rows.statement("s")]


def test_a_column_that_nobody_reads_is_no_hindrance() -> None:
    runtime = deployed("batch", "Object", "id")
    runtime.send_batch("X", pa.table({"id": pa.array([1, 2], pa.int32()), "p": [1, 2]}))
    assert [dict(row) for row in runtime.statement("s")] == [{"id": 1}, {"id": 2}]


@pytest.mark.parametrize("kind", ZONED)
def test_zones_are_left_to_rows(kind: str) -> None:
    with pytest.raises(EplUnsupportedError, match="Not in the batch tier"):
        sent(deployed("batch", kind), ZONED[kind], "batch")
    assert sent(deployed("auto", kind), ZONED[kind], "batch")[1] == [repr(ZONED[kind][0])]
