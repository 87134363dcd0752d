"""A query of WITH is run once, however often it is read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from runtime import Runtime
from runtime.dialects.execution import Execution
from tests.calls import calls

TABLE = pa.table({"n": [1, 2, 3]})


def chain(levels: int, body: str) -> str:
    parts = ", ".join(f"a{level + 1} AS ({body.format(level)})" for level in range(levels))
    return f"WITH a0 AS (SELECT n FROM t), {parts} SELECT count(*) AS c, max(n) AS m FROM a{levels}"


@pytest.mark.parametrize("body", [
    "SELECT x.n FROM a{0} x JOIN a{0} y ON x.n = y.n", "SELECT n FROM a{0} WHERE n IN (SELECT n FROM a{0})",
    "SELECT n FROM a{0} INTERSECT SELECT n FROM a{0}", "SELECT n FROM a{0} WHERE (SELECT max(n) FROM a{0}) >= 3",
    "SELECT max(n) AS n, n AS k FROM (SELECT x.n FROM a{0} x, a{0} y WHERE x.n = y.n) GROUP BY n",
])
def test_a_chain_of_queries_costs_its_length(body: str) -> None:
    with calls(most=2_000_000):
        rows = Runtime.sql(chain(25, body), {"t": TABLE}).to_pylist()
    assert rows == [{"c": 3, "m": 3}]


def test_each_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: Counter[int] = Counter()
    run = Execution._run

    def counted(execution: Execution, plan: Any) -> Any:
        runs[id(plan)] += 1
        return run(execution, plan)

    monkeypatch.setattr(Execution, "_run", counted)
    Runtime.sql("WITH w AS (SELECT n * 2 AS n FROM t) SELECT x.n FROM w x, w y, w z WHERE x.n = (SELECT max(n) FROM w)", {"t": TABLE})
    assert max(runs.values()) <= 3


def test_a_query_that_reads_the_rows_around_it_is_run_for_each() -> None:
    text = ("SELECT n, (WITH w AS (SELECT t.n + 1 AS k) SELECT sum(x.k + y.k) FROM w x, w y) AS s FROM t ORDER BY n")
    try:
        rows = Runtime.sql(text, {"t": TABLE}).to_pylist()
    except Exception as error:  # noqa: BLE001 - where such a query is refused there is nothing to keep
        assert "t.n" in str(error) or "cannot be resolved" in str(error) or "not supported" in str(error), error
        return
    assert [row["s"] for row in rows] == [4, 6, 8]
