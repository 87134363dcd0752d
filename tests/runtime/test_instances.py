"""Instances of a prepared statement: nothing is compiled for the second, each has its own state, and takes over that of another."""
from __future__ import annotations

import gc
import tracemalloc
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from benchmarks.workloads import LISTENED, WORKLOADS
from epl import generated_code
from epl.errors import EplDeploymentError, EplError
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import Statement, internal_output
from runtime.build import PreparedStatement
from runtime.expressions.printer import Printer
from runtime.statements.running import NO_STATE
from tests.restarts.drawn_modules import KINDS, SCHEMA, Drawn, steps
from tests.restarts.sequences import take
from windows.paging import plain

EVENTS = "@public @buseventtype create schema T(k string, x int, d double);\n"
TEXTS = (
    "select * from T(x > 1 and d < 9)",
    "select k, x + 1 as y from T#length(2) where d > 0",
    "select prev(1, x) as p, prior(2, x) as q, prevcount(x) as c from T#length(3)",
    "select irstream x, prior(1, x) as p from T#time(2 sec) order by x",
    "select k, sum(x) as s, max(d) as m from T#length(3) group by k having sum(x) > 0",
    "select k, sum(x) as s, avg(d) as a from T#time(3 sec) group by k",
    "select sum(x) as s, count(*) as c, min(d) as m from T",
    "select sum(distinct x) as s, first(x) as f, window(x) as w from T#length(3)",
    "select k, sum(x) as s from T group by rollup(k, x)",
    "select k, sum(x) as s from T group by k output last every 2 sec",
    "select x from T output all every 2 events",
    "select * from T#unique(k)#length(2) retain-union",
    "select k, x from T#groupwin(k)#length(2)",
    "select k, x from T#groupwin(k)#time(2 sec)",
    "select * from T#expr(sum(x) < 9)",
    "select k, (select sum(x) from T#length(3)) as s, (select y.x from T#unique(k) as y where y.k = t.k) as y from T as t",
    "select k from T#length(4) as t where x in (select x from T#time(3 sec) as y where y.k = t.k)",
    "select (select k, count(*) as c from T#time(2 sec) group by k).take(9) as c, (select prior(1, x) from T#lastevent) as p from T",
    "select * from T match_recognize (partition by k measures A.x as a, last(B.x) as b pattern (A B+) define B as B.x > prev(B.x))",
    "select * from T#time(3 sec) match_recognize (measures A.x as a, count(B.x) as b pattern (A B*) define A as A.x > 1, B as B.x < A.x)",
)
STEPS: list[Any] = [
    *({"k": "ab"[n % 2], "x": n * 7 % 5, "d": n * 3 % 11 / 2} for n in range(12)), 1_000,
    *({"k": "cab"[n % 3], "x": n * 3 % 7, "d": n / 2} for n in range(12)), 4_500, {"k": "a", "x": 1, "d": 1.0}, 13_000,
]


class Seen:
    """A runtime with one statement, and the rows that its listeners get."""

    def __init__(self, text: str) -> None:
        self.runtime = Runtime(start_time=0, tier="row")
        self.statement = self.runtime.deploy(EVENTS + "@name('s0') " + text)["s0"]
        self.rows: list[Any] = []
        self.statement.add_listener(lambda new, old, *_: self.rows.append(([dict(r) for r in new], [dict(r) for r in old])))

    def feed(self, steps: list[Any]) -> None:
        for step in steps:
            if isinstance(step, int):
                self.runtime.advance_time_span(step)
            else:
                self.runtime.send("T", step)


def running(statement: Statement) -> Any:
    assert internal_output(statement).running is not None
    return internal_output(statement).running


def replaced(statement: Statement, state: Any) -> Any:
    """Let another instance run in place of the statement's."""
    running(statement).close()
    internal_output(statement).running = instance = internal_output(statement).prepared.instantiate(0, state)
    instance.start()
    return instance


@pytest.mark.parametrize("text", TEXTS)
def test_an_instance_does_what_a_deployed_statement_does(text: str) -> None:
    """One instance has seen other events before, one takes over half way: neither shows in the rows."""
    deployed, seen = Seen(text), Seen(text)
    deployed.feed(STEPS)
    seen.feed([{"k": "a", "x": 3, "d": 4.0}] * 3)
    replaced(seen.statement, NO_STATE)
    seen.rows.clear()
    half = len(STEPS) // 2
    seen.feed(STEPS[:half])
    replaced(seen.statement, plain(running(seen.statement).state()))
    seen.feed(STEPS[half:])
    assert seen.rows == deployed.rows
    assert deployed.rows, "the text emits rows"


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_is_compiled_for_the_second_instance(text: str) -> None:
    prepared = internal_output(Seen(text).statement).prepared
    prepared.instantiate(1)
    prepared.instantiate(2)  # what reads the instance's own cells is bound once more
    compiled = patch.object(generated_code, "compile_text", side_effect=AssertionError("compiled"))
    printed = patch.object(Printer, "value", side_effect=AssertionError("printed"))
    with compiled, printed:
        prepared.instantiate(3)


@pytest.mark.parametrize("kind", dict.fromkeys(KINDS), ids=lambda kind: kind.__name__)
def test_statements_of_every_kind_go_on_as_other_instances(kind: Any) -> None:
    ran = 0
    for number in range(6):
        of = Random(f"{kind.__name__} {number}")
        text, happens = SCHEMA + kind(Drawn(of)), steps(of, 30)
        try:
            expected = _calls(text, happens, frozenset())
        except EplError:
            continue
        assert _calls(text, happens, frozenset([10, 20])) == expected, text
        ran += 1
    assert ran


def _calls(text: str, happens: list[Any], replacing: frozenset[int]) -> list[str]:
    """What listeners get; before the steps of these numbers all statements go on as other instances, but those in contexts: the partitions
    of a context end with its last statement."""
    runtime = Runtime(tier="row", on_error=lambda error, statement, event: calls.append(type(error).__name__))
    calls: list[str] = []
    statements = [s for s in runtime.deploy(text) if s.plan.body.output_type is not None]
    for statement in statements:
        name = statement.name
        statement.add_listener(lambda new, old, *_, name=name: calls.append(f"{name} {list(new)} {list(old)}"))
    for number, step in enumerate(happens):
        if number in replacing:
            for statement in (s for s in statements if s.plan.context is None):
                replaced(statement, plain(running(statement).state()))
        take(runtime, step)
    return calls


@pytest.mark.parametrize("name", WORKLOADS)
def test_an_instance_is_small(name: str) -> None:
    """Twice what benchmarks/instances.py measures; before, statements shared nothing and an instance had 7 to 33 KB."""
    with Runtime(tier="row") as runtime:
        statement = next(s for s in runtime.deploy(WORKLOADS[name].module()) if LISTENED.fullmatch(s.name))
        prepared, count = internal_output(statement).prepared, 50
        kept = [prepared.instantiate(1)]
        gc.collect()
        tracemalloc.start()
        kept += [prepared.instantiate(n) for n in range(2, 2 + count)]
        size = tracemalloc.get_traced_memory()[0] / count
        tracemalloc.stop()
    assert size < 12_000


def test_a_refused_instance_leaves_no_timer() -> None:
    with Runtime(start_time=0, tier="row") as runtime:
        runtime.deploy(EVENTS + "create variable int size = 2;")
        statement = runtime.deploy("@name('s0') select * from T#time_batch(1 sec, 'START_EAGER')#length(size) retain-union")["s0"]
        timers = len(internal_engine(runtime).core.schedule)
        runtime.set_variable("size", 0)
        with pytest.raises(EplDeploymentError, match="length view requires a positive integer for size but received 0"):
            internal_output(statement).prepared.instantiate(1)
        assert len(internal_engine(runtime).core.schedule) == timers


@pytest.mark.parametrize("pages", [False, True], ids=["snapshot", "pages"])
def test_restoring_builds_each_instance_once_with_its_state(pages: bool) -> None:
    """The size that the state has counts, whatever its variable holds by now; a new group is refused the value again."""
    with Runtime(start_time=0, tier="row") as runtime:
        runtime.deploy(EVENTS + "create variable int size = 2; @name('one') select x from T#length(size);"
                       "@name('many') select k, x from T#groupwin(k)#length(size); create schema U(x int)")
        for x in range(3):
            runtime.send("T", {"k": "a", "x": x, "d": 1.0})
        runtime.set_variable("size", 0)
        stored: Any = runtime.pages().apply_to({}) if pages else runtime.snapshot()
    with patch.object(PreparedStatement, "instantiate", autospec=True, side_effect=PreparedStatement.instantiate) as instantiate:
        errors: list[str] = []
        restored = Runtime.restore(stored, tier="row", on_error=lambda error, *_: errors.append(str(error)))
    assert instantiate.call_count == sum(map(len, restored.deployments.values()))
    assert all("state" in call.kwargs for call in instantiate.call_args_list)
    assert [row["x"] for row in restored.statement("one")] == [row["x"] for row in restored.statement("many")] == [1, 2]
    restored.send("T", {"k": "b", "x": 9, "d": 1.0})
    assert [row["x"] for row in restored.statement("one")] == [2, 9]
    assert ["received 0" in error for error in errors] == [True]
