"""EPL that nobody writes by accident: it runs, or it is refused by an EplError; columns may have any name."""
from __future__ import annotations

import copy
import pickle
from html import escape
from typing import Any

import pytest

from epl.errors import EplError, EplSyntaxError, EplValidationError
from epl.parse import parse_module
from runtime import Runtime

X = "create schema X(a string, b int); "
MANY = 100_000

REFUSED = {
    "whole number": (f"select {'9' * MANY} as c from X", f'For input string: "{"9" * 100}…"'),
    "negative number": (f"select -{'9' * MANY} as c from X", f'For input string: "{"9" * 100}…"'),
    "length": (f"select * from X#length({'9' * MANY})", "For input string"),
    "index": (f"select a[{'9' * MANY}] from X", "For input string"),
    "limit": (f"select * from X#length(2) order by b limit {'9' * MANY}", "For input string"),
    "annotation": (f"@Priority({'9' * MANY}) select * from X", "For input string"),
    "regexp": (f"select a regexp '{'(' * 3_000}{')' * 3_000}' as c from X", "nested this deeply"),
    "regexp without end": (f"select a regexp '{'(' * 3_000}' as c from X", "nested this deeply"),
    "classes of characters": (f"select a regexp '{'[a&&' * 3_000}' as c from X", "nested this deeply"),
    "array": (f"create schema Z(a int{'[]' * 2_000})", "more than 255 dimensions"),
    "half a character": ("select '\ud800' as c from X", "half of a surrogate pair is not a character"),
    "half a character in a name": ("select b as `c\udfff` from X", "half of a surrogate pair is not a character"),
    "half a character in a comment": ("select b from X // \ud800", "half of a surrogate pair is not a character"),
    "half a character, escaped": ("select 'x\\ud800' as c from X", "half of a surrogate pair is not a character"),
    "half a character in an annotation": ("@name('\\udc00') select a from X", "half of a surrogate pair is not a character"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("tier", ["row", "batch"])
def test_refused_by_name(name: str, tier: Any) -> None:
    text, words = REFUSED[name]
    with Runtime(tier=tier) as runtime, pytest.raises(EplError) as refusal:
        runtime.deploy(X + text)
    assert words in refusal.value.message
    shown = str(refusal.value)
    shown.encode()  # it can be printed
    refusal.value._repr_html_().encode()


def test_both_halves_are_one_character() -> None:
    (statement,) = parse_module("select '\\ud83d\\ude00' as c from X").statements
    assert "'😀'" in repr(statement)


def test_a_number_with_zeros_in_front_is_read() -> None:
    with Runtime() as runtime:
        runtime.deploy(f"{X} @name('s') select {'0' * 10_000}7 as c from X#length(1)")
        runtime.send("X", {"a": "x", "b": 1})
        assert [dict(r) for r in runtime.statement("s")] == [{"c": 7}]


@pytest.mark.parametrize("text", [
    "\0", "select\0 a from X", "select 'a\0b' as c from X", "@name('\0') select a from X", "create schema `\0`(a int)",
])
@pytest.mark.parametrize("tier", ["row", "batch"])
def test_nul_is_refused_or_taken(text: str, tier: Any) -> None:
    with Runtime(tier=tier) as runtime:
        try:
            runtime.deploy(X + text)
        except (EplSyntaxError, EplValidationError) as refusal:
            assert "Incorrect syntax" in refusal.message or "control characters" in refusal.message
        else:
            runtime.send("X", {"a": "x", "b": 1})
            Runtime.restore(runtime.snapshot()).close()


# ------------------------------------------------------------------ names that mean something to Python, as columns

SPECIAL = [
    "__classcell__", "__bool__", "__del__", "__slots__", "__init__", "__class__", "__getattr__", "__getattribute__", "__len__", "__iter__",
    "__hash__", "__eq__", "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__init_subclass__", "__new__",
    "__call__", "__reduce__", "__reduce_ex__", "__getitem__", "__contains__", "__repr__", "__str__", "__array__", "__arrow_c_stream__",
    "__abstractmethods__", "__orig_bases__", "__match_args__", "__getstate__", "__copy__", "__deepcopy__", "__private", "mro", "_event",
    "_values", "event", "get", "type", "fields", "make", "computed_row", "readers", "extra", "origin", "keys", "items", "_repr_html_",
    "to_dict", "_abc_impl", "self", "class", "None", "\0", " ", "", "ſ", "s", "'", "\\",
]


@pytest.mark.parametrize("name", SPECIAL)
def test_a_column_may_have_any_name(name: str) -> None:
    """As a property, an alias, of a row and of an event; rows stay what they are."""
    quoted = f"`{name}`"
    rows: list[Any] = []
    errors: list[BaseException] = []
    with Runtime(on_error=lambda error, *_: errors.append(error)) as runtime:
        runtime.deploy(
            f"create schema X({quoted} int, plain string); create schema Whole(one X, {quoted} int); "
            f"@name('forward') select * from X; @name('column') select {quoted}, plain as other from X; "
            f"@name('alias') select plain as {quoted}, count(*) as n from X; @name('struct') select new {{ {quoted} = 1 }} as z from X; "
            f"@name('nested') select one.{quoted} as deep, * from Whole"
        )
        for statement in ("forward", "column", "alias", "struct", "nested"):
            runtime.statement(statement).add_listener(lambda new, old, statement, runtime: rows.extend(new))
        runtime.send("X", {name: 7, "plain": "x"})
        runtime.send("Whole", {"one": {name: 8, "plain": "y"}, name: 9})
        forward, column, alias, struct, nested = rows
        assert (forward[name], column[name], alias[name], nested["deep"], nested[name]) == (7, 7, "x", 8, 9)
        assert struct["z"] == {name: 1} and nested["one"] == {name: 8, "plain": "y"}
        for row in rows:
            assert bool(row) and len(row) == len(dict(row)) and row == dict(row)
            assert copy.deepcopy(row) == pickle.loads(pickle.dumps(row)) == row
            assert type(row).__name__ and repr(row) == repr(dict(row)) and row._repr_html_().startswith("<table>") and row.to_json()
            assert not hasattr(row, "nothing")
        Runtime.restore(runtime.snapshot()).close()
        runtime.statement("forward").to_arrow()
    assert errors == []


def test_names_are_text_where_notebooks_show_them() -> None:
    """Rows, statements, runtimes and errors as HTML."""
    names = ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'><svg/onload=alert(1)>")
    for name in names:
        runtime = Runtime()
        runtime.deploy(
            f"create schema `{name}`(`{name}` string); @name({name!a}) select `{name}` from `{name}`#keepall", name=f"{name} deployed")
        runtime.send(name, {name: name})
        statement = runtime.statement(name)
        with pytest.raises(EplError) as refusal:
            runtime.deploy(f"select `{name}` from `{name}` where `{name}{name}`")
        shown = (
            runtime._repr_html_(), statement._repr_html_(), statement.rows()._repr_html_(), statement.rows()[0]._repr_html_(),
            refusal.value._repr_html_(),
        )
        for html in shown:
            assert escape(name) in html and name not in html
