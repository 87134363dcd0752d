"""What `epl check` warns of in statements that are accepted."""
from __future__ import annotations

import pytest

from epl.analysis.statements.doubts import find_doubts
from epl.parse import parse_module
from runtime import Runtime
from runtime.api.runtime import internal_engine

SCHEMA = "create schema A(k string, v int, n int); create schema B(k string); create table T(k string primary key, c count(*)); "

DOUBTFUL = [
    ("select k from A where v = null", ["null: '= null' is null for every value, never true: write is null"]),
    ("select k from A(null != k)", ["null: '!= null' is null for every value, never true: write is not null"]),
    ("select (select k from B#lastevent where k <> null) as y from A", ["null: '!= null'"]),
    ('select "k", v from A', ['quotes: "k" is a text, not the property k: write k without quotes']),
    ('select k from A where "k" = \'x\' order by "v"', ["quotes: \"k\" is a text", "quotes: \"v\" is a text"]),
    ("select k from A#length(3) order by 2", ["constant: 'order by 2' sorts by a constant: write the column"]),
    ("select v from A#length(3) output all every 2 events limit 1", ["esper: output all with limit and without order by"]),
    ("select count(*) as c from A#length(3) output last at (*, *, *, *, *) limit 1", ["esper: output last with limit"]),
    ("select count(*) as c from A#length(3) output every 2 events order by v", ["esper: order by a property"]),
    ("select * from A#sort(2, v) match_recognize(measures X.v as x pattern (X Y*) interval 2 sec define Y as Y.n > 0)", ["esper: match_"]),
    ("select irstream * from pattern @SuppressOverlappingMatches [every a=A -> b=A]#length(1)", ["esper: a pattern with @Suppress"]),
    ("create table S(c count(*, boolean))", ["esper: a table's column count(*, boolean)"]),
    ("on B as b select and delete * from T where T.k = b.k", ["esper: on-select-and-delete of a table"]),
]
"""Statement and the beginnings of its warnings. What Esper fails at was asked of it."""

SOUND = [
    "select k from A where v is null and k is not null and v = 1", "select 'k' as x, \"other\" as y from A",
    "select k from A where k = \"k\"",
    "select k, v from A#length(3) output last every 2 events limit 1", "select count(*) as c from A#length(3) output all every 2 events",
    "select v from A#length(3) output all every 2 events order by v limit 1",
    "select count(*) as c from A#length(3) output last every 2 events order by v",
    "select count(*) as c from A#length(3) output every 2 events order by count(*)",
    "select * from A#length(2) match_recognize(measures X.v as x pattern (X Y*) interval 2 sec define Y as Y.n > 0)",
    "select * from pattern @SuppressOverlappingMatches [every a=A -> b=A]", "create table S(c count(int, boolean))",
    "on B as b delete from T where T.k = b.k",
]


def warnings_of(text: str) -> list[str]:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    catalog = internal_engine(runtime).catalog()
    runtime.deploy(text)
    return [f"{each.code}: {each.message}: {each.hint}" for each in find_doubts(parse_module(text).statements[0], catalog)]


@pytest.mark.parametrize(("text", "expected"), DOUBTFUL)
def test_doubtful_statements_are_warned_of(text: str, expected: list[str]) -> None:
    warned = warnings_of(text)
    assert len(warned) == len(expected) and all(map(str.startswith, warned, expected)), warned


@pytest.mark.parametrize("text", SOUND)
def test_sound_statements_are_not(text: str) -> None:
    assert warnings_of(text) == []
