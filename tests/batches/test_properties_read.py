"""Which properties a statement reads: listed for each kind of use, and by a census in which all others are null in recorded cases: twenty
a file that have events (``EPL_LONG=1``: all)."""
from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import pytest

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.expressions.structs import default_value
from tests.comparison import difference
from tests.replay.player import TracePlayer
from tests.test_cases import CASES, KNOWN_GAPS
from windows.event import Event, event_class

SCHEMA = """create schema N(x int, y int); create schema T(k string, p double, q double, n N, ns N[], ts long);
    create schema U(k string, u int);"""
WHOLE = "k p q n ns ts"


@pytest.mark.parametrize("statement, expected", [
    ("select k from T", "k"),
    ("select avg(p) as m from T group by k", "k p"),
    ("select count(*) as c from T(q > 1)#length(3)", "q"),
    ("select k from T#sort(3, q desc)", "k q"),
    ("select k from T#ext_timed(ts, 3)", "k ts"),
    ("select k from T#unique(n.x)", "k n"),
    ("select k from T#groupwin(q)#length(2)", "k q"),
    ("select k from T#length(9) having p > max(q) order by ts", "k p q ts"),
    ("select k, prev(1, p) as b, prior(2, q) as c from T#length(9)", "k p q"),
    ("select k from T output first every 3 events", "k"),
    ("select n.x as x from T", "n"),
    ("select ns.firstOf().x as x from T", "ns"),
    ("select ns.where(e => e.x > 1).countOf() as c from T", "ns"),
    ("select * from T", WHOLE),
    ("select *, p * 2 as w from T", WHOLE),
    ("select t as e from T as t", WHOLE),
    ("select t.* from T as t", WHOLE),
    ("select window(*) as w from T#length(3)", WHOLE),
    ("select last(*).p as w from T#length(3)", WHOLE),
    ("select typeof(t) as w from T as t", WHOLE),
    ("insert into S select k from T", "k"),
    ("insert into S select * from T", WHOLE),
    ("select count(*) as c from T#size(*)", WHOLE),
    ("select T.p as p from T#length(2), U#length(2) where T.k = U.k", "k p"),
    ("select * from T#length(2), U#length(2) where T.k = U.k", WHOLE),
    ("select a.p as p from pattern [every a=T(q > 1) -> b=U(k = a.k)]", "k p q"),
    ("select * from pattern [every a=T -> b=U]", WHOLE),
    ("select a from pattern [every a=T -> b=U]", WHOLE),
    ("select u from U where exists (select * from T#length(2) as t where t.k = U.k and t.p > 1)", WHOLE),
    ("select (select p from T#lastevent) as p from U", "p"),
    ("select 1 as one from U", ""),
    ("select * from T match_recognize (partition by k measures A.p as p, last(B.q) as q pattern (A B+) define B as B.q > A.q)", "k p q"),
    ("select * from T match_recognize (measures A as a pattern (A))", WHOLE),
    ("select x from T[ns]", WHOLE),
    ("on T set v = p", "p"),
    ("on T as t delete from W where W.k = t.k", "k"),
    ("on T as t select W.u as u from W where W.k = t.k", "k"),
    ("on T as t select * from W where W.k = t.k", WHOLE),
    ("on T as t merge W where W.k = t.k when matched then update set u = 1 when not matched then insert select k, 1 as u", "k"),
    ("on T as t update W set u = 1 where W.k = t.k", "k"),
    ("on T insert into A1 select k where p > 1 insert into B1 select q", WHOLE),
    ("update istream T set p = 1", WHOLE),
    ("context C select q from T", "k q"),
    ("create context D initiated by T as t terminated after 1 min", WHOLE),
    ("create context D partition by k from T", "k"),
])
def test_what_is_read(statement: str, expected: str) -> None:
    runtime = Runtime()
    runtime.deploy(f"{SCHEMA} create variable double v; create window W#keepall as U; create context C partition by k from T")
    plan = runtime.deploy(statement)[0].plan
    assert {*plan.reads.of(runtime.event_type("T"))} == {*expected.split()}


def test_super_types_and_sub_types() -> None:
    runtime = Runtime()
    runtime.deploy("create schema Base(b int, c int); create schema Sub(d int) inherits Base; create schema Other(b int)")
    named, whole = (runtime.deploy(text)[0].plan.reads for text in ("select b from Base", "select * from Base"))
    below = runtime.deploy("select c, d from Sub")[0].plan.reads
    base, sub, other = map(runtime.event_type, ("Base", "Sub", "Other"))
    assert [{*reads.of(base)} for reads in (named, whole, below)] == [{"b"}, {"b", "c"}, set()]
    assert [{*reads.of(sub)} for reads in (named, whole, below)] == [{"b"}, {"b", "c", "d"}, {"c", "d"}]
    assert not any(reads.of(other) for reads in (named, whole, below))


# ------------------------------------------------------------------ the census


def without_unread(runtime: Runtime, event: Event) -> Event:
    """The event, with null (of primitive types: their default) in all properties that no statement reads."""
    read = {name for plan in internal_engine(runtime).plans() for name in plan.reads.of(event.type)}
    values = [event.get(name) if name in read else default_value(prop.whole_type) for name, prop in event.type.properties.items()]
    pruned = event_class(event.type)(*values)
    if event.extra is not None:
        pruned.extra = event.extra
    return pruned


MOST = 1_000_000 if os.environ.get("EPL_LONG") else 20
"""Cases of a file, which are variants of one clause: so many, evenly spread over it."""


def chosen() -> dict[str, list[str]]:
    """Subject → keys of its cases."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for key, case in CASES.items():
        if key not in KNOWN_GAPS and any(step["op"] == "event" for step in case["steps"]):
            files["/".join(key.split("/")[:2])].append(key)
    subjects: defaultdict[str, list[str]] = defaultdict(list)
    for file, keys in files.items():
        subjects[file.split("/")[0]] += keys[:: -(-len(keys) // MOST)]
    return subjects


CHOSEN = chosen()


@pytest.mark.parametrize("subject", sorted(CHOSEN))
def test_what_no_statement_reads_changes_nothing(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pruned = 0

    def send(at: TracePlayer, step: Any, done: Any) -> None:
        nonlocal pruned
        event = at.runtime.event_of(*at._given(step))
        fewer = without_unread(at.runtime, event)
        pruned += any(event.get(name) != fewer.get(name) for name in event.type.properties)
        at.runtime.send(event.type, fewer)

    monkeypatch.setitem(TracePlayer.ACTIONS, "event", send)
    differing = {}
    for key in CHOSEN[subject]:
        why = difference(CASES[key])
        if why is not None:
            differing[key] = why[:300]
    assert not differing
    print(f"{subject}: {pruned} events had properties that no statement reads")
