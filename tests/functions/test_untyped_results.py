"""Results of Python functions without type hints go wherever they are put; other values of type Object into Object only, as in Esper."""
from __future__ import annotations

import pytest

from epl.errors import EplValidationError
from runtime import Runtime

SCHEMA = """@public create schema T(v double, o Object); @public create schema Out(v double);
@public create variable double dv = 1.0; @public create table Tab(k string primary key, v double);"""
STATEMENTS = [
    "insert into Out select {0} as v from T", "on T set dv = {0}", "update istream T set v = {0}",
    "on T as t update Tab as w set v = {0} where w.k = 'a'", "insert into Tab select 'a' as k, {0} as v from T",
    "on T as t merge Tab as w where w.k = 'a' when not matched then insert select 'a' as k, {0} as v",
    "on T as t merge Tab as w where w.k = 'a' when not matched then insert into Out select {0} as v",
    "on T as t insert into Out select {0} as v where v > 0 insert into Other select o",
]


def runtime() -> Runtime:
    made = Runtime()
    made.register_function("twice", lambda value: value * 2)
    made.deploy(SCHEMA)
    return made


@pytest.mark.parametrize("text", STATEMENTS)
def test_result_without_a_hint_is_put_anywhere(text: str) -> None:
    runtime().deploy(text.format("twice(v)"))


@pytest.mark.parametrize("text", STATEMENTS)
def test_property_of_type_object_is_not(text: str) -> None:
    with pytest.raises(EplValidationError, match=r"type '?Object"):
        runtime().deploy(text.format("o"))


def test_result_without_a_hint_arrives() -> None:
    with runtime() as made:
        made.deploy("insert into Out select twice(v) as v from T; @name('s') select v from Out#keepall")
        made.send("T", {"v": 1.5, "o": None})
        assert [row["v"] for row in made.statement("s")] == [3.0]
