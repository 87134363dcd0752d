"""Names and literals that mean something to Python, in queries of the SQL dialects over tables: columns, variables of a row pattern,
measures, aliases, strings. Whole columns compute in generated code, in which no such name may stand.

Verdict: no text that is compiled holds the payload outside of a literal, nothing runs that it calls, and columns give what rows give.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from runtime.dialects.sql import run_query
from tests.dialects.test_columns import Counting

MARK = "Zq"
PAYLOADS = [
    "Zq'); open('{file}', 'w'); ('", 'Zq"""); open("{file}", "w"); ("""', "Zq\n    open('{file}', 'w')\n", "Zq\\'); open('{file}', 'w') #",
    "print(open('{file}', 'w'), Zq)", "Zq: 0, **open('{file}', 'w')", "{{Zq}}{{open('{file}', 'w')}}", "%(Zq)s%s{{}}",
    "Zq\x00", "Zq\u2028open('{file}', 'w')", "Zq]; open('{file}', 'w'); [", "lambda Zq", "Zq --", "Zq */ /*", "Zq ?", "ſZq", "Zq' || 'x",
]  # fmt: skip
TEMPLATES = {
    "a column": "select {n}, v from t where {n} > 1 and v >= 0 order by {n}",
    "an alias": "select {n}.v as {n} from t as {n} where {n}.v > 1",
    "a with query": "with {n} as (select v from t) select sum(v) as c from {n}",
    "a string": "select {s} as c, v from t where s <> {s} or s = {s}",
    "a group": "select {n}, count(*) as c, max(v) as m from t group by {n} having count(*) > 0",
}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts that are compiled meanwhile."""
    texts: list[str] = []
    compile_it = builtins.compile

    def watched(source: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(source, str):
            texts.append(source)
        return compile_it(source, *arguments, **options)

    monkeypatch.setattr(builtins, "compile", watched)
    yield texts


def outside_of_literals(text: str) -> list[str]:
    """The words of a text with the mark that are not within a literal."""
    tree = ast.parse(text)
    names = [value for node in ast.walk(tree) for field, value in ast.iter_fields(node)
             if isinstance(value, str) and not (isinstance(node, ast.Constant) and field == "value")]
    return [name for name in names if MARK in name]


def rows(text: str, table: pa.Table, columns: Any = None) -> list[Any]:
    """The names and rows of a query's result."""
    result = run_query(text, {"t": table}, by_columns=columns)
    return [result.schema.names, *sorted(map(repr, result.to_pylist()))]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_they_are_data_for_each_row(template: str, compiled: list[str], tmp_path: Path) -> None:
    file = tmp_path / "payload_ran"
    for payload in PAYLOADS:
        name = payload.format(file=file)
        table = pa.table({name: [1, 2, 2, 3], "v": [1, 2, 1, 3], "s": ["a", name, "b", None]})
        assert len(rows(template.format(n=quoted(name), s=literal(name)), table)) > 1
    assert not file.exists()
    assert [found for text in tuple(compiled) for found in outside_of_literals(text)] == []


def test_a_name_outside_of_a_literal_is_seen() -> None:
    assert outside_of_literals("a = 'Zq' + Zq") == ["Zq"]


@pytest.mark.slow
def test_they_are_data_for_whole_columns(compiled: list[str], tmp_path: Path) -> None:
    """One query with all of them, since a kernel takes seconds to compile."""
    pytest.importorskip("numba")
    file = tmp_path / "payload_ran"
    names = [payload.format(file=file) for payload in PAYLOADS]
    first, second, both = (quoted(f"{kind} {names[0]}") for kind in ("first", "second", "both"))
    measures = ", ".join(f"last({first}.{quoted(name)}) as {quoted('m' + name)}" for name in names)
    condition = " and ".join(f"{first}.{quoted(name)} >= 0" for name in names)
    strings = " and ".join(f"{second}.s <> {literal(name)}" for name in names)
    query = (f"select * from t match_recognize (partition by {quoted(names[1])} order by v measures {measures}, sum({both}.v) as c"
        f" pattern ({first} {second}*) subset {both} = ({first}, {second}) define {first} as {condition}, {second} as {strings}) as m")
    table = pa.table({**{name: [1, 2, 2, 1] for name in names}, "v": [1, 2, 3, 4], "s": ["a", "b", "c", "d"]})
    Counting.taken = 0
    assert rows(query, table, Counting) == rows(query, table)
    assert Counting.taken == 1
    assert not file.exists()
    assert [found for text in tuple(compiled) for found in outside_of_literals(text)] == []
