"""What passes without a restore passes with one after each step: statements that restores have failed or forgotten."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from runtime import Runtime

Steps = list[tuple[str, dict[str, Any]]]

CONTAINED = """create schema L(p double, k string); create schema O(k string, ls L[]); create schema A(id string);
create window W#length(2) as O; insert into W select * from O; @name('s') """
LINES: Steps = [
    ("O", {"k": "a", "ls": [{"p": 10.0, "k": "x"}, {"p": 20.0, "k": "y"}]}), ("A", {"id": "x"}),
    ("O", {"k": "b", "ls": [{"p": 1.0, "k": "x"}]}), ("A", {"id": "x"}),
    ("O", {"k": "a", "ls": [{"p": 10.0, "k": "x"}, {"p": 10.0, "k": "x"}]}), ("A", {"id": "y"}),
    ("O", {"k": "c", "ls": []}), ("A", {"id": "x"}),
]
OF_CONTEXT = """create schema A(id string, n int); create schema B(id string, n int); create context C partition by id from A;
context C create window W#keepall as A; context C insert into W select * from A; create window V#keepall as B;
insert into V select * from B; @name('s') """
KEYS: Steps = [(kind, {"id": key, "n": n}) for kind, key, n in (
    ("A", "x", 1), ("B", "x", 2), ("A", "y", 4), ("B", "y", 1), ("A", "x", 3), ("B", "x", 1), ("B", "z", 0), ("A", "y", 1), ("B", "y", 9))]
ARRAYS = "create schema A(k int[], l string, t long[][]); @name('s') select x.l as l from pattern "
DISTINCT: Steps = [("A", {"k": k, "l": key, "t": [k, []]}) for k, key in (
    ([1, 2], "a"), ([1], "a"), ([1, 2], "b"), (None, "a"), ([], "c"), ([1], "b"), ([2, 1], "a"), ([], "b"), (None, "b"))]

SUBQUERIES_OF_LINES = (
    "(select sum(p) from W[ls])", "(select max(p) from W[ls] where p > 5)",
    "(select sum(p) from O[ls]#length(2))", "(select sum(p) from O[ls]#lastevent)", "(select window(p) from W[ls])",
    "(select sum(p) as s from W[ls] group by k).countOf()", "(select sum(average) from O[ls]#groupwin(k)#uni(p))",
    "(select sum(p) from O[select O.k as kk, p from ls]#length(3))", "exists (select * from W[ls] where p < 5)",
)
READERS = (
    "select sum(n) as s from W", "select id, n from W(n > 1)",
    "select V.id as i, W.n as n from W, V where W.id = V.id", "select count(*) as c from V left outer join W on W.id = V.id",
    "select average as c from W#uni(n)", "select prior(1, n) as p from W",
    "select id, count(*) as c from W group by id output last every 1 sec", "context C select (select sum(n) from W) as s from A",
    "select window(n) as w from W", "select b.id as c from B as b unidirectional, W",
)
PATTERNS = (
    "[every-distinct(x.k) x=A]", "[every-distinct(x.k, x.l) x=A]", "[every-distinct(x.l, x.t) x=A]", "[every-distinct(x.t, 1 sec) x=A]",
    "[every-distinct(x.k, 1 sec) x=A]", "[every-distinct(x.l) x=A]", "[every (y=A -> every-distinct(x.k) x=A(l = 'b'))]",
)
CASES: Mapping[str, tuple[str, Steps]] = {
    **{text: (f"{CONTAINED}select {text} as v from A as a", LINES) for text in SUBQUERIES_OF_LINES},
    **{text: (OF_CONTEXT + text, KEYS) for text in READERS},
    **{text: (ARRAYS + text, DISTINCT) for text in PATTERNS},
}


def _run(module: str, steps: Steps, again: Callable[[Runtime], Runtime]) -> list[Any]:
    calls: list[Any] = []
    runtime = Runtime(start_time=0)
    runtime.deploy(module)
    for kind, event in steps:
        runtime = again(runtime)
        statement = runtime.statement("s")
        listener = statement.add_listener(lambda new, old, *_: calls.append(([dict(row) for row in new], [dict(row) for row in old])))
        runtime.send(kind, event)
        runtime.advance_time(runtime.now + 400)
        statement.remove_listener(listener)
    return calls


@pytest.mark.parametrize("text", CASES)
def test_restored_after_each_step(text: str) -> None:
    module, steps = CASES[text]
    expected = _run(module, steps, lambda runtime: runtime)
    assert expected
    assert _run(module, steps, lambda runtime: Runtime.restore(runtime.snapshot())) == expected
