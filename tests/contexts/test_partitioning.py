"""Statements of keyed contexts over several engines: together they give what one gives."""
from __future__ import annotations

import random
from typing import Any

import pytest

from epl.analysis.partitioning import SplitBy, Whole, partitioning_of
from runtime import Runtime

SCHEMA = "@public @buseventtype create schema Sale(customer string, shop string, amount int);\n"
CONTEXTS = [
    "create context C partition by customer from Sale",
    "create context C partition by customer from Sale(amount > 2)",
    "create context C partition by customer from Sale terminated by Sale(amount = 9)",
    "create context C partition by customer from Sale initiated by Sale(amount > 5) as s terminated after 3 sec",
]
STATEMENTS = [
    "select customer, sum(amount) as total, count(*) as n from Sale",
    "select irstream customer, amount, context.key1 as k from Sale#length(2)",
    "select customer, amount from Sale#time(2 sec) output last every 2 sec",
    "select customer, sum(amount) as total from Sale output snapshot every 1 sec",
    "select customer, max(amount) as top from Sale#length_batch(2)",
    "select * from Sale match_recognize (measures A.customer as c, B.amount as top pattern (A B) define B as B.amount > A.amount)",
]


def emitted(runtime: Runtime, steps: list[tuple[int, dict[str, Any]]]) -> list[list[str]]:
    rows: list[str] = []
    statement = next(s for d in runtime.deployments.values() for s in d if s.name == "s")

    def listen(new: Any, old: Any, *_: Any) -> None:
        rows.extend(str((side, dict(row))) for side, each in ((1, new), (-1, old)) for row in each or ())

    statement.add_listener(listen)
    result = []
    for at, event in steps:
        runtime.advance_time(at)
        if event:
            runtime.send("Sale", event)
        result.append(sorted(rows))
        rows.clear()
    return result


def run(text: str, steps: list[tuple[int, dict[str, Any]]]) -> list[list[str]]:
    runtime = Runtime()
    runtime.deploy(text)
    return emitted(runtime, steps)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_shards_together_are_one_engine(context: str, statement: str) -> None:
    text = f"{SCHEMA}{context}; @name('s') context C {statement}"
    plan = Runtime().compile(text)
    assert isinstance(partitioning_of(plan.statements, "s"), SplitBy)
    draw = random.Random(text)
    steps: list[tuple[int, dict[str, Any]]] = [
        (at * 300, {"customer": draw.choice("abcde"), "shop": draw.choice("xy"), "amount": draw.randrange(10)}) for at in range(1, 60)]
    shards = [run(text, [(at, event if event["customer"] in share else {}) for at, event in steps]) for share in ("ad", "be", "c")]
    assert [sorted(row for part in parts for row in part) for parts in zip(*shards)] == run(text, steps)


@pytest.mark.parametrize(("context", "statement", "reason"), [
    ("partition by customer from Sale", "select context.id as i from Sale", "context.id counts the partitions of all keys"),
    ("partition by customer from Sale", "select * from pattern [every a=Sale]", "only a select over one stream of events"),
    ("partition by customer from Sale terminated by pattern [Sale]", "select * from Sale", "a pattern that ends partitions"),
    ("coalesce by hash_code(customer) from Sale granularity 4", "select * from Sale", "only a context by keys"),
    ("group by amount < 3 as low from Sale", "select * from Sale", "only a context by keys"),
    ("start Sale end after 1 sec", "select * from Sale", "only a context by keys"),
    ("context X partition by customer from Sale, context Y partition by shop from Sale", "select * from Sale", "only a context by keys"),
])
def test_what_stays_in_one_engine(context: str, statement: str, reason: str) -> None:
    plan = Runtime().compile(f"{SCHEMA}create context C {context}; @name('s') context C {statement}")
    verdict = partitioning_of(plan.statements, "s")
    assert isinstance(verdict, Whole) and reason in verdict.reason
