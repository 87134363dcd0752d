"""The cost of an event of a statement with sub-queries: in proportion to the rows found, whatever their windows hold."""
from __future__ import annotations

import pytest

from runtime import Runtime
from runtime.api.statement import internal_output
from runtime.stores.counting import counting

SCHEMAS = "create schema O(k integer, w long, n integer);\ncreate schema I(k integer, x integer, y integer);\n"
SUBQUERIES = {
    "value by key": "(select y from I#keepall as i where i.k = o.k)",
    "value by a wider key": "(select y from I#keepall as i where i.k = o.w)",
    "exists by two keys": "exists (select * from I#keepall as i where i.k = o.k and i.x = o.n)",
    "exists by key and range": "exists (select * from I#keepall as i where i.k = o.k and i.x >= o.n)",
    "not exists": "not exists (select * from I#keepall as i where i.k = o.n)",
    "exists of any": "exists (select * from I#keepall)",
    "in, all rows": "o.k in (select x from I#keepall)",
    "not in, all rows": "o.n not in (select x from I#keepall)",
    "in, by key": "o.n in (select y from I#keepall as i where i.k = o.k)",
    "equal any": "o.k = any (select x from I#keepall)",
    "value of all rows": "(select y from I#keepall)",
    "aggregation of all rows": "(select sum(y) from I#keepall)",
    "aggregation by key": "(select sum(y) from I#keepall as i where i.k = o.k)",
    "range": "(select count(*) from I#keepall as i where i.k between o.k and o.w)",
    "rows by key": "(select y from I#keepall as i where i.k = o.k).take(3)",
}


def operations(subquery: str, size: int) -> int:
    with counting() as counts, Runtime(tier="row") as runtime:
        rows: list[object] = []
        runtime.deploy(f"{SCHEMAS}@name('s') select {subquery} as v from O as o", listeners={"s": lambda new, *_: rows.extend(new)})
        for number in range(size):
            runtime.send("I", {"k": number, "x": number, "y": 1})
        counts.reset()
        runtime.send("O", {"k": 7, "w": 7, "n": -1})
        assert len(rows) == 1
        return counts.operations


@pytest.mark.parametrize("name", sorted(SUBQUERIES))
def test_an_event_costs_as_much_as_it_finds(name: str) -> None:
    assert operations(SUBQUERIES[name], 400) == operations(SUBQUERIES[name], 40) <= 6


def test_equal_streams_share_windows_and_indexes() -> None:
    """Rows are kept once for all sub-queries of equal streams."""
    with Runtime(tier="row") as runtime:
        runtime.deploy(
            f"{SCHEMAS}@name('s') select (select y from I#keepall as i where i.k = o.k) as a, "
            "(select x from I#keepall as i where i.k = o.k) as b, exists (select * from I#keepall as i where i.k = o.k) as c from O as o")
        statement = next(s for d in runtime.deployments.values() for s in d if s.name == "s")
        for number in range(5):
            runtime.send("I", {"k": number, "x": number, "y": 1})
        (stream,) = internal_output(statement).running.state()["subqueries"]["streams"]
        assert len(list(stream["windows"])) == 5
        assert stream["rows"] is None, "what the window holds is not stored again"
