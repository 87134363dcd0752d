"""Rows take property expressions, as ``EventBean.get`` does, and say which properties there are."""
from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from runtime import Runtime
from runtime.conversion.property_paths import NoProperty, parse_steps
from runtime.conversion.rows import Row

TYPES = """create schema Leaf(x int, names string[]); create schema Inr(x int, leaf Leaf, m java.util.Map);
    @public @buseventtype create schema T(inr Inr, leaves Leaf[], ns int[], m java.util.Map, `a.b` int, a Leaf, none Inr, o Object);
    create variant schema V as *;"""
LEAVES = [{"x": 4, "names": ["p", "q"]}, {"x": 5, "names": None}]
EVENT = {
    "inr": {"x": 1, "leaf": {"x": 2, "names": ["n"]}, "m": {"k": 3}}, "leaves": LEAVES, "ns": [6, 7],
    "m": {"k": 8, "two words": 9, "d": {"e": 10}, "l": [11]}, "a.b": 12, "a": {"x": 13, "names": []}, "none": None, "o": {"p": 14},
}
VALUES = {
    "inr.x": 1, "inr.leaf.x": 2, "inr.leaf.names[0]": "n", "inr.m('k')": 3, "leaves[0].x": 4, "leaves[1].x": 5,
    "leaves[0].names[1]": "q", "leaves[1].names[0]": None, "leaves[2].x": None, "ns[0]": 6, "ns[1]": 7, "ns[2]": None, "m('k')": 8,
    'm("two words")': 9, "m.k": 8, "m('none')": None, "m.d.e": 10, "m.l[0]": 11, "a.b": 12, "a.x": 13, "a\\.b": 12, "none.x": None,
    "none.leaf.x": None, "none.z": None, "o.p": 14, "z?": None, "inr.z?": None, "inr?.x": 1, "z?.x.y": None,
}  # fmt: skip
WRONG = [
    "z", "inr.z", "inr.leaf.z", "leaves.x", "ns.x", "inr[0]", "m[0]", "ns('k')", "inr.x.y", "leaves[0]x", "leaves[-1]", "leaves[x]",
    "", ".", "inr.", ".inr", "inr..x", "m('k", "m(k)", "inr .x", "x y", "ns[99999999999]", "[0]", "('k')", "?",
]
STATEMENTS = {
    "filter": "@name('s') select * from T", "window": "@name('s') select * from T#length(2)",
    "columns": "@name('s') select inr, leaves, ns, m, `a.b`, a, none, o from T",
    "computed": "@name('s') select inr, leaves, ns, m, `a.b`, a, none, o, 1 as one from T#length(2)",
    "variant": "insert into V select * from T; @name('s') select * from V",
}


def row_of(statement: str, tier: Any = "auto") -> Row:
    rows: list[Row] = []
    runtime = Runtime(tier=tier)
    runtime.deploy(TYPES + statement, listeners={"s": lambda new, *_: rows.extend(new)})
    runtime.send("T", copy.deepcopy(EVENT))
    return rows[0]


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_values(statement: str) -> None:
    row = row_of(statement)
    assert {name: row[name] for name in VALUES} == VALUES
    assert {name: row.get(name, "?") for name in VALUES} == VALUES
    assert row["inr.leaf"] == {"x": 2, "names": ["n"]} and isinstance(row["inr.leaf"], Row) and row["leaves[0]"]["x"] == 4


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_names_that_there_are_not(statement: str) -> None:
    row = row_of(statement)
    for name in WRONG:
        with pytest.raises(KeyError) as refused:
            row[name]
        assert refused.value.args == (name,) and name not in row and row.get(name, "?") == "?"
    for other in (5, None, (1, 2)):
        with pytest.raises(KeyError):
            row[other]  # type: ignore[index]


def test_the_error_says_which_there_are() -> None:
    row = row_of(STATEMENTS["filter"])
    for name, message in (
        ("inrr", "row of type 'T' has no property 'inrr'; it has inr, leaves, ns, m, a.b, a, none, o; did you mean 'inr'?"),
        ("inr.leef", "row of type 'Inr' has no property 'inr.leef'; it has x, leaf, m; did you mean 'leaf'?"),
    ):
        with pytest.raises(KeyError) as refused:
            row[name]
        assert str(refused.value) == message
        assert str(pickle.loads(pickle.dumps(refused.value))) == message
        assert isinstance(refused.value, NoProperty)


def test_the_content_of_a_row_is_that_of_its_columns() -> None:
    row = row_of(STATEMENTS["columns"])
    assert list(row) == ["inr", "leaves", "ns", "m", "a.b", "a", "none", "o"] and row == EVENT and len(row) == 8


def test_undeclared_properties() -> None:
    runtime = Runtime()
    runtime.deploy("@public @buseventtype create schema O(x int); @name('s') select * from O#lastevent")
    runtime.send("O", {"x": 1, "late": {"y": [2]}})
    row = runtime.statement("s").rows()[0]
    assert row["late.y[0]"] == 2 and row["late"] == {"y": [2]} and row["later?"] is None
    with pytest.raises(KeyError, match="it has x, late; did you mean 'late'"):
        row["lat"]


@pytest.mark.parametrize(
    "expression", ["a" * 100_000, "a." * 50_000, "a[0]" * 20_000, "(" * 100_000, "\\" * 99_999, "a['" * 30_000],
    ids=["name", "names", "places", "brackets", "escapes", "keys"])
def test_long_names_end(expression: str) -> None:
    parse_steps(expression)
    assert row_of(STATEMENTS["filter"]).get(expression, 1) == 1
