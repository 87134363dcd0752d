"""Hints for what users of Esper, Java and SQL write: each construct has its own, at its own place."""
from __future__ import annotations

import pytest

from epl import foreign_words
from epl.errors import EplError
from epl.value_types import find_type
from runtime import Runtime
from runtime.api.runtime import internal_engine

SEMICOLON = "begins another statement: write a semicolon between the two"
COMMENT = "a comment begins with // and ends with its line, or is between /* and */"
JAVA = "Java classes are not available: "
SCHEMA = (
    "declare the properties with create schema {0}(name type, …), here or in a module that is deployed first (epl check --with FILE), "
    "and write {0}"
)
CASES = {
    "create schema B(id string)\nselect * from A": ((2, 1), f"'select' {SEMICOLON}"),
    "select * from A\ncreate schema B(x int)": ((2, 1), f"'create' {SEMICOLON}"),
    "@name('a') select * from A\n@name('b') select * from A": ((2, 1), f"'@' {SEMICOLON}"),
    "select * from A where v > 1 insert into B select * from A": ((1, 29), f"'insert' {SEMICOLON}"),
    "select id, from A": ((1, 12), None),
    "-- prices\nselect * from A": ((1, 1), COMMENT),
    "select id -- don't": ((1, 17), COMMENT),
    "# don't\nselect id from A": ((1, 6), COMMENT),
    "select * from A; # all": ((1, 18), COMMENT),
    "select * from A where id == 'x'": ((1, 26), "equality is written with one sign: ="),
    "select * from A where v > 1 && v < 2": ((1, 30), "write and"),
    "select * from com.acme.Trade": ((1, 15), JAVA + SCHEMA.format("Trade")),
    "create schema B as com.acme.Trade": ((1, 20), JAVA + SCHEMA.format("Trade")),
    "create schema B(o com.acme.Trade)": ((1, 19), JAVA + SCHEMA.format("Trade")),
    "select * from Nothing": (
        (1, 15), "declare it with create schema, here or in a module that is deployed first, or Runtime.register",
    ),
    "select Pricing.compute(v) from A": (
        (1, 8),
        JAVA + "call a Python function as compute(…) after Runtime.register_function('compute', …), or, where 'Pricing' is a Python "
        "module or class, Settings(python_imports=('Pricing',)) and import Pricing",
    ),
    "select pricing(v) from A": (
        (1, 8),
        "Runtime.register_function('pricing', …) makes a Python function callable, register_aggregation a class that aggregates (on the "
        "command line, in a module of --setup)",
    ),
    "select java.lang.System.currentTimeMillis() from A": (
        (1, 8),
        "current_timestamp() is the engine's time in ms; the wall clock is not read, so that a replay gives what the first run gave",
    ),
}  # fmt: skip


OF_OTHER_LANGUAGES = {
    "select top 5 * from A": "write limit 5 at the end",
    "select row_number() over (partition by id) from A": "the newest rows are #length(10), the largest #rank(key, 10, value desc)",
    "select lag(v) over (order by v) from A": "write prev(1, x) over a data window, or prior(1, x)",
    "select sum(v) over (partition by id) from A": "aggregations are over the rows of the data window: from Type#length(10)",
    "select v::int from A": "write cast(x, int)",
    "select * from (select * from A)": "name the inner select by insert into, and select from that stream",
    "with x as (select * from A) select * from x": "name the inner select by insert into, and select from that stream",
    "create view V as select * from A": "a view is a statement with insert into: insert into V select …",
    "create stream V as select * from A": "streams are declared by create schema; insert into declares those that it fills",
    "select * from A#time(10s)": "write sec",
    "select * from A#time(5 sek)": "write sec",
    "select * from A#tumbling(5 sec)": "intervals that follow one another are #time_batch(10 sec), numbers of rows #length_batch(10)",
    "select * from A#sliding(5 sec)": "the last seconds are #time(10 sec), the last rows #length(10)",
    "select * from A#window.time(5 sec)": "the window is written alone: #time(5 sec)",
    "select * from A where v > interval '10' second": "write 10 seconds, without interval and quotes",
    "select * from A#keepall as a join A#keepall as b using (id)": "write on a.id = b.id",
    "select * from A#keepall as a left join A#keepall as b on a.id = b.id": "write outer join",
    "select * from A where id ilike 'x%'": "write x.toLowerCase() like 'text'",
    "select * from A union select * from A": "a union is two statements that insert into one stream",
    "select * from A output all every timer:interval(1 min)": "an interval is written without timer: output every 1 min",
    "select * from pattern [every a=A] where timer:within(5 sec)":
        "the guard of a pattern is within its brackets: pattern [(every a=A -> b=B) where timer:within(5 sec)]",
    "select id, count(*) as c from A group by id where v > 3":
        "where comes before group by; a condition on aggregations is having count(*) > 3",
    "select id, count(*) as c from A group by id having c > 3":
        "having does not see the name 'c' of the select clause: write its expression",
    "context C @name('x') select * from A": "annotations come first: @name('x') context C select …",
    "from A select id": "select comes first: select … from …",
    "select * from A emit changes": "every select emits its changes; output every 10 sec emits at times",
    "select * from A where v in (select v from A)": "add a data window, such as #keepall or #lastevent",
    "select id.toUpper() from A": "write toUpperCase()",
    "select now() from A": "current_timestamp() is the engine's time in ms",
    "select UPPER(id) from A": "write x.toUpperCase()",
    "select if(v > 1, 1, 2) from A": "write case when … then … else … end",
    "select classifier() from A": "@Dialect('sql') before the statement reads match_recognize as SQL defines it, with this function",
    "create schema B(ts timestamp)": "write long (ms), java.util.Date, java.time.LocalDateTime or java.time.ZonedDateTime",
    "create schema B(ts varchar(20))": "a type has no length: write string",
    "create schema B(ts decimal(10, 2))": "a type has no length: write bigdecimal",
    "create schema B(a array<int>)": "write the type of the elements with brackets: int[]",
    "create table B(a varchar(20))": "a type has no length: write varchar",
}  # fmt: skip


@pytest.mark.parametrize("text", OF_OTHER_LANGUAGES)
def test_words_of_other_languages_have_their_own_hint(text: str) -> None:
    with Runtime() as runtime:
        runtime.deploy("create schema A(id string, v double)")
        with pytest.raises(EplError) as refusal:
            runtime.deploy(text)
    assert refusal.value.hint == OF_OTHER_LANGUAGES[text]


@pytest.mark.parametrize("table", [foreign_words.FUNCTIONS, foreign_words.TYPES, foreign_words.WINDOWS])
def test_no_word_of_other_languages_is_one_of_epl(table: dict[str, str]) -> None:
    with Runtime() as runtime:
        catalog = internal_engine(runtime).catalog()
    if table is foreign_words.WINDOWS:
        known = set(catalog.window_configs)
    elif table is foreign_words.TYPES:
        known = {name for name in table if find_type(name) is not None}
    else:
        known = {name.lower() for name in catalog.functions.single_row}
    assert not known & set(table)


@pytest.mark.parametrize("text", CASES)
def test_hint(text: str) -> None:
    with Runtime() as runtime:
        runtime.deploy("create schema A(id string, v double)")
        with pytest.raises(EplError) as refusal:
            runtime.deploy(text)
    assert (refusal.value.position, refusal.value.hint) == CASES[text]


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("create schema N(id string)", "Event type named 'N' has already been declared"),
        ("create variable int N = 1", "A variable by name 'N' has already been declared"),
        ("create expression N {1}", "Expression 'N' has already been declared"),
    ],
)
def test_a_name_that_is_taken_says_by_whom(declaration: str, message: str) -> None:
    with Runtime() as runtime:
        for where in ("declared at line 2 column 3", "declared by deployment 'first' at line 2 column 3"):
            text = f"\n  {declaration}"
            with pytest.raises(EplError) as refusal:
                runtime.deploy(f"{text}; {declaration}" if where.startswith("declared at") else declaration)
            assert (refusal.value.message, refusal.value.hint) == (message, where)
            if "first" not in runtime.deployments:
                runtime.deploy(text, name="first")


@pytest.mark.parametrize("text", ["select id from A group by id having id > avg(v)", "select id, win from A(v.x)"])
def test_every_refusal_of_the_analysis_has_a_position(text: str) -> None:
    with Runtime() as runtime:
        runtime.deploy("create schema A(id string, v double)")
        with pytest.raises(EplError) as refusal:
            runtime.deploy(text)
    assert refusal.value.position is not None
