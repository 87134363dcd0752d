"""Every function over values of every type: what fails is said in words of SQL, and no value is printed as Python prints it."""
from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from epl.dialects import types as k
from epl.dialects.aggregates import AGGREGATES
from epl.dialects.functions.registry import SCALARS
from epl.dialects.scopes import SqlColumn
from epl.dialects.types import SqlType
from epl.dialects.values import Months
from epl.errors import EplError
from runtime.dialects.sql import run_rows

PYTHON = re.compile(
    r"decimal\.|InvalidOperation|unhashable|math domain|fsum|math range|Errno|NoneType|'(int|str|float|list|dict|tuple|bytes|Decimal)' |"
    r"object|Could not convert|could not convert|Python|argument must|not supported between|timedelta|datetime\.|Decimal\(|b'|codec|<class|"
    r"expected (at|str|int)|chr\(\)|quantize|iterable|__"
)
"""Words of Python's exceptions, and values as Python prints them."""
VALUES: dict[str, tuple[SqlType, list[Any]]] = {
    "i": (k.INTEGER, [0, -1, 2**31 - 1]), "b": (k.BIGINT, [0, -(2**63), 2**63 - 1]), "d": (k.DOUBLE, [0.0, float("nan"), -1e300]),
    "e": (k.DOUBLE, [float("inf"), float("-inf"), 0.5]), "x": (k.decimal(38, 2), [Decimal("0.00"), Decimal("-1.50"), Decimal(9) * 10**35]),
    "s": (k.VARCHAR, ["", "abc", "["]),
    "t": (k.TIMESTAMP, [datetime.datetime(1, 1, 1), datetime.datetime(2024, 2, 29), datetime.datetime.max]),
    "y": (k.DATE, [datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date.max]), "o": (k.BOOLEAN, [True, False, True]),
    "a": (k.array(k.INTEGER), [[], [1, None], [1, 1]]), "r": (k.array(k.array(k.INTEGER)), [[], [[1]], [[1], [1]]]),
    "p": (k.DAY_TIME, [datetime.timedelta(0), datetime.timedelta(-1), datetime.timedelta.max]),
    "m": (k.YEAR_MONTH, [Months(0), Months(-1), Months(2**31)]),
    "v": (SqlType("varbinary"), [b"", b"abc", b"\xff"]),
}  # fmt: skip
TABLE = (tuple(SqlColumn(name, kind) for name, (kind, _) in VALUES.items()), list(zip(*(values for _, values in VALUES.values()))))
CASTS = (
    "integer", "double", "real", "decimal(10,2)", "varchar", "varchar(2)", "boolean", "date", "timestamp", "array(varchar)",
    "array(integer)",
)  # fmt: skip


def arguments(several: bool) -> Iterator[str]:
    """Lists of one, two and three arguments."""
    yield ""
    yield from VALUES
    yield from (f"{one}, {other}" for one, other in itertools.product("idxstab" if several else "idst", repeat=2))
    yield from (f"{one}, {one}, {one}" for one in VALUES)
    yield from ("s, i, i", "s, s, i", "a, i, i", "'day', i, t", "'day', t, t", "i, i, i, i")


def fails_in_words(text: str) -> None:
    """Run a query; what it refuses or fails of must not be said in Python's words."""
    try:
        _, rows = run_rows(text, {"t": TABLE})
    except EplError as error:
        assert not PYTHON.search(error.message), (text, error.message)
        return
    written = [value for row in rows for value in row if isinstance(value, str)]
    assert not any(PYTHON.search(value) for value in written), (text, written)


@pytest.mark.parametrize("name", sorted(SCALARS))
def test_functions(name: str) -> None:
    for listed in arguments(several=True):
        fails_in_words(f"SELECT {name}({listed}) FROM t")


@pytest.mark.parametrize("name", sorted(AGGREGATES))
def test_aggregates(name: str) -> None:
    for listed in arguments(several=False):
        fails_in_words(f"SELECT {name}({listed}) FROM t")
        fails_in_words(f"SELECT {name}(DISTINCT {listed}) FROM t")


@pytest.mark.parametrize("name", VALUES)
def test_casts_and_operators(name: str) -> None:
    for target in CASTS:
        fails_in_words(f"SELECT CAST({name} AS {target}) FROM t")
        fails_in_words(f"SELECT CAST(ARRAY[{name}] AS array({target})) FROM t")
    for other, sign in itertools.product(VALUES, ("+", "-", "*", "/", "%", "||", "<", "=", "IN (1) AND 1 =")):
        fails_in_words(f"SELECT {name} {sign} {other} FROM t")
    for text in (f"-{name}", f"{name} BETWEEN {name} AND {name}", f"MAP(ARRAY[{name}], ARRAY[1])", f"ROW({name})", f"{name} LIKE {name}"):
        fails_in_words(f"SELECT {text} FROM t")
    for text in (f"DISTINCT {name}", f"{name}, count(*)"):
        fails_in_words(f"SELECT {text} FROM t GROUP BY {name} ORDER BY {name}")


@pytest.mark.parametrize("text", ["x", "", "1e5", "1:2", "--1", "1.2.3", "∞"])
@pytest.mark.parametrize("unit", ["SECOND", "DAY TO SECOND", "MONTH", "YEAR TO MONTH"])
def test_intervals(text: str, unit: str) -> None:
    fails_in_words(f"SELECT INTERVAL '{text}' {unit} FROM t")
