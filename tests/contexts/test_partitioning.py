"""Statements of keyed and hash contexts over several engines: together they give what one gives."""
from __future__ import annotations

import random
import zlib
from functools import cache
from typing import Any

import pytest

from epl.analysis.partitioning import HashedKey, SplitBy, Whole, analyse_partitioning
from epl.functions.partition_hashes import partition_hash
from epl.plan.statements import ModulePlan
from runtime import Runtime, Settings

SCHEMA = """@public @buseventtype create schema Sale(customer string, shop string, amount int);
@public @buseventtype create schema Visit(who string, shop string, length int);
@public @buseventtype create schema Leave(customer string);
create schema Mark(owner string, amount int);
"""
ONE_TYPE = [
    "partition by customer from Sale",
    "partition by customer, shop from Sale",
    "partition by customer from Sale(amount > 2)",
    "partition by customer from Sale terminated by Sale(amount = 9)",
    "partition by customer from Sale terminated by pattern [a=Sale(amount > 7) -> Sale(amount < a.amount)]",
    "partition by customer from Sale initiated by Sale(amount > 5) as s terminated after 3 sec",
    "coalesce by consistent_hash_crc32(customer) from Sale granularity 3",
    "coalesce by hash_code(customer, shop) from Sale granularity 4",
    "context A partition by customer from Sale, context B start @now end after 5 sec",
    "context A partition by customer from Sale, context B initiated by Sale(amount > 3) as s terminated by Sale(amount < s.amount)",
    "context A partition by customer from Sale, context B partition by shop from Sale",
    "context A partition by customer from Sale, context B group by amount < 5 as low, group by amount > 3 as high from Sale",
    "context A group by amount < 5 as low, group by amount > 3 as high from Sale, context B partition by customer from Sale",
    "context A start @now end after 7 sec, context B partition by customer from Sale",
    "context A coalesce by hash_code(shop) from Sale granularity 2, context B partition by customer from Sale",
]
TWO_TYPES = [
    "partition by customer from Sale, who from Visit",
    "partition by customer from Sale, who from Visit, customer from Leave terminated by Leave",
    "partition by customer from Sale, who from Visit initiated by Sale(amount > 5) terminated by Visit(length > 6)",
    "partition by customer and shop from Sale, who and shop from Visit",
    "coalesce by hash_code(customer) from Sale, hash_code(who) from Visit granularity 3",
    "context A partition by customer from Sale, who from Visit, context B start Visit(length > 4) end after 4 sec",
]
OVER_ONE = [
    "select customer, sum(amount) as total, count(*) as n from Sale",
    "select irstream customer, amount from Sale#length(2)",
    "select customer, amount from Sale#time(2 sec) output last every 2 sec",
    "select sum(amount) as total from Sale output snapshot every 1 sec",
    "select customer, amount, prior(1, amount) as before from Sale order by amount",
    "select sum(amount) as total from Sale output when terminated",
    "select * from Sale match_recognize (measures A.customer as c, B.amount as top pattern (A B) define B as B.amount > A.amount)",
    "select a.customer as c, b.amount as n from pattern [a=Sale(amount > 4) -> b=Sale(amount > a.amount)]",
    "select a.amount as n from pattern [every a=Sale -> (timer:interval(2 sec) and not Sale(amount = 1))]",
]
OVER_TWO = [
    "select s.customer as c, s.amount as n, v.length as m from Sale#length(2) as s, Visit#lastevent as v where s.shop = v.shop",
    "select s.amount as n, v.length as m from Sale#lastevent as s full outer join Visit#time(2 sec) as v on s.shop = v.shop",
    "select amount, (select sum(length) from Visit#length(3)) as m from Sale",
    "select amount from Sale as s where exists (select * from Visit#lastevent as v where v.length < s.amount)",
    "select a.amount as n, b.length as m from pattern [every a=Sale -> b=Visit(length > 3)]",
]
MODULES = [
    ("create window W#length(3) as Sale; context C insert into W select * from Sale",
     "context C on Visit as v select w.customer as c, w.amount as n from W as w where w.amount > v.length"),
    ("create window W#keepall as Sale; context C insert into W select * from Sale; context C on Visit(length > 5) delete from W",
     "select customer, count(*) as n from W group by customer"),
    ("create table T(total sum(int)); context C into table T select sum(amount) as total from Sale",
     "context C select T.total as total, length from Visit"),
    ("create variable int latest = 0; context C on Sale set latest = amount", "context C select latest, length from Visit"),
    ("create table T(shop string primary key, n int)",
     "context C on Sale as s merge T as t where t.shop = s.shop when matched then update set n = t.n + s.amount "
     "when not matched then insert select shop, amount as n"),
]

Step = tuple[int, str, dict[str, Any]]


@cache
def compiled(text: str) -> ModulePlan:
    return Runtime().compile(SCHEMA + text)


def steps_of(text: str, types: tuple[str, ...]) -> list[Step]:
    draw = random.Random(text)
    steps: list[Step] = []
    for number in range(1, 200):
        name = draw.choice(types)
        who, shop = draw.choice(["a", "b", "c", "d", "e", None]), draw.choice("xy")
        events: dict[str, dict[str, Any]] = {
            "Sale": {"customer": who, "shop": shop, "amount": draw.randrange(10)}, "Leave": {"customer": who},
            "Visit": {"who": who, "shop": shop, "length": draw.randrange(10)}}
        steps.append((number * 300, name, events[name]))
    return steps


def types_of(context: str) -> tuple[str, ...]:
    return ("Sale", "Visit", "Leave") if "Leave" in context else ("Sale", "Visit")


def place(verdict: SplitBy, name: str, event: dict[str, Any]) -> int:
    """Which of three engines an event goes to."""
    values = [
        partition_hash(key.function, key.types, key.granularity)(*[event[path[0]] for path in key.paths])
        if isinstance(key, HashedKey) else event[key[0]]
        for key in verdict.keys.get(name, ())]  # fmt: skip
    return zlib.crc32(repr(values).encode()) % 3


def emitted(plan: ModulePlan, steps: list[tuple[int, str, dict[str, Any]]]) -> list[list[str]]:
    runtime, rows = Runtime(), list[str]()
    statement = next(s for s in runtime.deploy(plan) if s.name == "s")

    def listen(new: Any, old: Any, *_: Any) -> None:
        rows.extend(str((side, dict(row))) for side, each in ((1, new), (-1, old)) for row in each or ())

    statement.add_listener(listen)
    result = []
    for at, name, event in steps:
        runtime.advance_time(at)
        if event:
            runtime.send(name, event)
        result.append(sorted(rows))
        rows.clear()
    return result


def check(text: str, types: tuple[str, ...]) -> None:
    """Hold three engines against one; something has to be emitted. What is due when a partition ends at a time runs by the partitions'
    numbers, which several engines do not have in common."""
    plan = compiled(text)
    verdict = analyse_partitioning(plan.statements, "s")
    context, _, statement = text.partition("@name('s')")
    if " after " in context and " sec" in statement:
        assert isinstance(verdict, Whole)
        assert verdict.reason == "where a partition ends at a time, what else is due then runs by the partitions' numbers"
        return
    if "initiated by Sale(amount > 3)" in context and ("order by" in statement or "pattern [" in statement):
        assert isinstance(verdict, Whole)
        assert verdict.reason.startswith("where partitions overlap, their numbers decide")
        return
    assert isinstance(verdict, SplitBy), verdict.describe()
    steps = steps_of(text, types)
    whole = emitted(plan, steps)
    places = [place(verdict, name, event) for _, name, event in steps]
    assert len(set(places)) > 1
    shards = [
        emitted(plan, [(at, name, event if shard == own else {}) for (at, name, event), own in zip(steps, places)]) for shard in range(3)]
    assert [sorted(row for part in parts for row in part) for parts in zip(*shards)] == whole
    assert any(whole)


@pytest.mark.parametrize("statement", OVER_ONE)
@pytest.mark.parametrize("context", ONE_TYPE + TWO_TYPES)
def test_shards_together_are_one_engine(context: str, statement: str) -> None:
    if "terminated" in statement and not any(word in context for word in ("terminated", "end ")):
        context += " terminated after 4 sec" if context.startswith("partition") else ", context Z start @now end after 4 sec"
        context = context if context.startswith(("partition", "context")) else f"context Y {context}"
    check(f"create context C {context}; @name('s') context C {statement}", types_of(context))


@pytest.mark.parametrize("statement", OVER_TWO)
@pytest.mark.parametrize("context", TWO_TYPES)
def test_joins_sub_queries_and_patterns_of_several_types(context: str, statement: str) -> None:
    check(f"create context C {context}; @name('s') context C {statement}", types_of(context))


@pytest.mark.parametrize(("context", "before", "statement"), [
    (context, *module) for context in TWO_TYPES[:5] for module in MODULES
    if "coalesce" not in context or "group by" not in module[1]  # groups by customer are not local to a hash number
])
def test_what_statements_of_a_context_share(context: str, before: str, statement: str) -> None:
    text = f"create context C {context}; context C {before}; @name('s') {statement}"
    check(text, types_of(context))


@pytest.mark.parametrize("columns", [
    "context.key1 as owner, sum(amount) as amount from Sale", "customer as owner, amount from Sale#length(2)",
    "a.customer as owner, b.amount as amount from pattern [every a=Sale -> b=Sale(amount > 3)]",
    "o as owner, n as amount from Sale match_recognize (measures A.customer as o, B.amount as n pattern (A B) define B as B.amount > 2)",
])
def test_keys_are_carried_by_insert_into(columns: str) -> None:
    check(f"""create context C partition by customer from Sale, who from Visit;
        context C insert into Mark select {columns};
        @name('s') select owner, sum(amount) as total from Mark group by owner""", ("Sale", "Visit"))


def test_hash_numbers_are_carried_by_insert_into() -> None:
    check("""create context C coalesce by hash_code(customer) from Sale granularity 3;
        create context D coalesce by hash_code(owner) from Mark granularity 3;
        context C insert into Mark select customer as owner, amount from Sale#length(2);
        @name('s') context D select owner, sum(amount) as total from Mark""", ("Sale",))


@pytest.mark.parametrize(("context", "statement", "reason"), [
    ("partition by customer from Sale", "select context.id as i from Sale", "context.id counts the partitions of all keys"),
    ("partition by customer from Sale", "select * from pattern [every a=Sale -> b=Visit]", "so that all of its partitions get"),
    ("partition by customer from Sale", "select * from Sale#lastevent as s, Visit#lastevent as v", "no key of Visit"),
    ("partition by customer from Sale terminated by Leave", "select * from Sale", "Leave, which has no key, ends partitions"),
    ("partition by customer from Sale terminated by pattern [Leave]", "select * from Sale", "Leave, which has no key, ends partitions"),
    ("coalesce by hash_code(customer) from Sale granularity 4 preallocate", "select count(*) as n from Sale output snapshot every 1 sec",
     "its preallocated partitions emit without events"),
    ("group by amount < 3 as low from Sale", "select * from Sale", "categories have events of all keys"),
    ("start Sale end after 1 sec", "select * from Sale", "whatever their keys"),
    ("initiated by Sale terminated after 1 sec", "select * from Sale", "whatever their keys"),
    ("context X start Leave end after 1 sec, context Y partition by customer from Sale", "select * from Sale",
     "events of all keys begin and end the partitions of 'X'"),
    ("context X coalesce by hash_code(shop) from Sale granularity 2, context Z start @now end after 1 sec, "
     "context Y partition by customer from Sale", "select * from Sale", "'Z', which is around, begins with events of all keys"),
    ("context X partition by customer from Sale, context Y start Leave end after 1 sec", "select * from Sale", "no key of Leave"),
])
def test_what_stays_in_one_engine(context: str, statement: str, reason: str) -> None:
    plan = compiled(f"create context C {context}; @name('s') context C {statement}")
    verdict = analyse_partitioning(plan.statements, "s")
    assert isinstance(verdict, Whole) and reason in verdict.reason
    assert "the context 'C'" in verdict.operator and verdict.statement == "s"


def test_preallocated_partitions_that_wait_for_events_are_split() -> None:
    check("""create context C coalesce by consistent_hash_crc32(customer) from Sale granularity 4 preallocate;
        @name('s') context C select irstream customer, sum(amount) as total from Sale#length(3)""", ("Sale",))


@pytest.mark.parametrize(("before", "statement", "operator"), [
    ("create window W#keepall as Sale", "context C select (select count(*) from W) as n from Sale", "the named window 'W'"),
    ("create variable int v = 0", "context C on Sale set v = amount", "on … set"),
    ("create variable int v = 0; on Leave set v = v + 1", "context C select v from Sale", "the variable v"),
    ("create table T(customer string primary key, n count(*))",
     "context C into table T select count(*) as n from Sale group by customer", "the table 'T'"),
])
def test_what_is_shared_with_all_partitions_stays_in_one_engine(before: str, statement: str, operator: str) -> None:
    plan = compiled(f"create context C partition by customer from Sale; {before}; @name('s') {statement}")
    verdict = analyse_partitioning(plan.statements, "s")
    assert isinstance(verdict, Whole) and verdict.operator == operator


def test_limits_of_all_partitions_keep_them_in_one_engine() -> None:
    plan = compiled("create context C partition by customer from Sale; @name('s') context C select * from Sale")
    verdict = analyse_partitioning(plan.statements, "s", settings=Settings(max_partitions=3))
    assert isinstance(verdict, Whole) and "max_partitions" in verdict.reason
