"""Hints for what users of Esper, Java and SQL write: each construct has its own, at its own place."""
from __future__ import annotations

import pytest

from epl.errors import EplError
from runtime import Runtime

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
    "select pricing(v) from A": ((1, 8), "Runtime.register_function('pricing', …) makes a Python function callable"),
    "select java.lang.System.currentTimeMillis() from A": (
        (1, 8),
        "current_timestamp() is the engine's time in ms; the wall clock is not read, so that a replay gives what the first run gave",
    ),
}  # fmt: skip


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
