"""Arguments of public functions of a wrong kind are refused at the door: texts, selectors of partitions, listeners."""

from __future__ import annotations

import functools
import inspect
import io
import pathlib
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any
from unittest.mock import MagicMock

import pyarrow as pa
import pytest

import epl.parse
import runtime.spark
from epl.errors import EplError
from epl.formatting import format_module
from runtime import (
    AllPartitions,
    NestedPartitions,
    PartitionsByCategory,
    PartitionsByHash,
    PartitionsById,
    PartitionsByKey,
    PartitionsWhere,
    Runtime,
)
from runtime.connectors import Pipeline

# ------------------------------------------------------------------ texts

SELECT = "@name('s') select 1 as one from pattern [every timer:interval(1 sec)]"
QUERY = "select 1 as one"
NOBODY: Any = object()
"""In place of a job: the argument is refused before it is used."""

DOORS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "Runtime.deploy": (lambda text: Runtime().deploy(text), SELECT),
    "Runtime.compile": (lambda text: Runtime().compile(text), SELECT),
    "Runtime.query": (lambda text: Runtime().query(text), QUERY),
    "Runtime.prepare_query": (lambda text: Runtime().prepare_query(text), QUERY),
    "Runtime.compile_query": (lambda text: Runtime().compile_query(text), QUERY),
    "Runtime.sql": (lambda text: Runtime.sql(text, {"t": pa.table({"a": [1]})}), "select a from t"),
    "parse_module": (epl.parse.parse_module, SELECT),
    "parse_statement": (epl.parse.parse_statement, SELECT),
    "parse_query": (epl.parse.parse_query, QUERY),
    "parse_expression": (epl.parse.parse_expression, "1 + 1"),
    "format_module": (format_module, SELECT),
    "Job.deploy": (lambda text: runtime.spark.Job.deploy(NOBODY, text), ""),
    "Job.query": (lambda text: runtime.spark.Job.query(NOBODY, text), ""),
    "start": (lambda text: runtime.spark.start(text, {}), ""),
    "transform": (lambda text: runtime.spark.transform(text, {}), ""),
    "sql": (lambda text: runtime.spark.sql(text, {}), ""),
}
"""Functions that take EPL or SQL, and a text that each accepts; empty: not without Spark."""
NAMES = {"text", "epl", "module", "query"}
"""What parameters are called that are texts."""
OF_OTHER_KINDS = {"Runtime.compile_query": {"module"}, "Runtime.catalog": {"module"}}
"""Those that are names."""
WRONG = [
    None, b"select 1", bytearray(b"x"), ["select 1"], ("select 1",), 3, 1.5, True, {"a": 1}, io.StringIO("select 1"), object(), str,
    Runtime(),
]  # fmt: skip


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for kind in (Runtime, runtime.spark.Job):
        yield from ((f"{kind.__name__}.{name}", getattr(kind, name)) for name in dir(kind)
                    if name[0] != "_" and inspect.isfunction(getattr(kind, name)))
    yield from ((name, getattr(runtime.spark, name)) for name in runtime.spark.__all__ if inspect.isfunction(getattr(runtime.spark, name)))
    yield from ((name, getattr(epl.parse, name)) for name in dir(epl.parse) if name.startswith("parse_"))
    yield "format_module", format_module


def test_all_doors_are_listed() -> None:
    taking = {
        name for name, function in public_functions() for parameter in inspect.signature(function).parameters.values()
        if parameter.name in NAMES - OF_OTHER_KINDS.get(name, set()) and str(parameter.annotation).startswith("str")
    }
    assert taking == DOORS.keys()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
def test_what_is_no_text_is_refused(door: str, value: Any) -> None:
    if door == "start" and isinstance(value, Runtime):
        return
    with pytest.raises(TypeError, match=r"(EPL|SQL) text is expected, or a pathlib.Path to its file.*, not ") as error:
        DOORS[door][0](value)
    assert ("None" if value is None else type(value).__name__) in str(error.value)


@pytest.mark.parametrize("door", DOORS)
def test_a_path_is_read(door: str, tmp_path: pathlib.Path) -> None:
    call, text = DOORS[door]
    with pytest.raises(FileNotFoundError, match=r"gone\.epl"):
        call(tmp_path / "gone.epl")
    with pytest.raises(IsADirectoryError):
        call(tmp_path)
    (tmp_path / "latin.epl").write_bytes("select 'é'".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.epl: not UTF-8 at offset 8"):
        call(tmp_path / "latin.epl")
    if text:
        (tmp_path / "good.epl").write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert type(call(tmp_path / "good.epl")) is type(call(text))


def test_what_a_file_holds_is_deployed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "rules.epl").write_text("create schema A(x int);\n@name('s') select x, 'é' as e from A", encoding="utf-8")
    engine = Runtime()
    assert [statement.name for statement in engine.deploy(tmp_path / "rules.epl", name="d")][1] == "s"
    assert Runtime.restore(engine.snapshot()).statement("s").name == "s"
    (tmp_path / "wrong.epl").write_text("select *\nfrom Nope")
    with pytest.raises(EplError) as error:
        engine.deploy(tmp_path / "wrong.epl")
    assert error.value.position == (2, 6)


@pytest.mark.parametrize("name", ["rules.epl", "./rules/a.sql", r"C:\rules\a.EPL", " a.txt\n"])
@pytest.mark.parametrize("door", [door for door, (_, text) in DOORS.items() if text and door != "parse_expression"])
def test_a_name_of_a_file_gets_a_hint(door: str, name: str) -> None:
    with pytest.raises(EplError) as error:
        DOORS[door][0](name)
    assert error.value.hint == f"'{name.strip()}' looks like the name of a file: pass pathlib.Path({name.strip()!r})"


@pytest.mark.parametrize("text", ["selec", "select a.epl", "rules epl", "rules.", "a" * 2000 + ".epl"])
def test_other_texts_get_no_such_hint(text: str) -> None:
    with pytest.raises(EplError) as error:
        Runtime().deploy(text)
    assert "name of a file" not in str(error.value.hint)


def test_a_pipeline_begins_with_a_runtime() -> None:
    for start in (SELECT, None, 3):
        with pytest.raises(TypeError, match=r"Pipeline\(start=.*\): expected a function without arguments or Runtime"):
            Pipeline(start, [], {})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Pipeline\(start=<function>\): expected a function without arguments"):
        Pipeline(lambda name: Runtime(), [], {})  # type: ignore[arg-type, misc]


# ------------------------------------------------------------------ selectors

IDS: list[tuple[Any, tuple[int, ...]]] = [
    (0, (0,)), (7, (7,)), ([], ()), ([1, 0, 1], (1, 0)), ({3}, (3,)), (range(2), (0, 1)), (iter([4]), (4,)), (None, ()),
    (pa.array([5]).to_numpy(), (5,)), (pa.array([5]).to_numpy()[0], (5,)),
]  # fmt: skip
KEYS: list[tuple[Any, tuple[tuple[Any, ...], ...]]] = [
    ("c1", (("c1",),)), ("", (("",),)), (0, ((0,),)), (False, ((False,),)), (1.5, ((1.5,),)), ("ab", (("ab",),)), (b"ab", ((b"ab",),)),
    (["c1", "c2"], (("c1",), ("c2",))), (("c1",), (("c1",),)), ([["c1"], ["c2"]], (("c1",), ("c2",))), ([("a", 1)], (("a", 1),)),
    ([[None]], ((None,),)), ([None], ((None,),)), ([], ()), ({"c1"}, (("c1",),)), ({("a", 1)}, (("a", 1),)), (["a", "a"], (("a",),)),
]  # fmt: skip
LABELS: list[tuple[Any, tuple[str, ...]]] = [
    ("small", ("small",)), ("", ("",)), (["a", "b"], ("a", "b")), ({"a"}, ("a",)), (("a",), ("a",)), ([], ()), (None, ()),
]  # fmt: skip


@pytest.mark.parametrize(("values", "expected"), IDS)
def test_a_number_is_one_id(values: Any, expected: tuple[int, ...]) -> None:
    values = list(values) if isinstance(values, Iterator) else values
    assert (PartitionsById(values).ids, PartitionsByHash(values).hashes) == (expected, expected)


@pytest.mark.parametrize(("values", "expected"), KEYS)
def test_a_value_is_one_key(values: Any, expected: tuple[tuple[Any, ...], ...]) -> None:
    assert PartitionsByKey(values).keys == expected


@pytest.mark.parametrize(("values", "expected"), LABELS)
def test_a_string_is_one_label(values: Any, expected: tuple[str, ...]) -> None:
    assert PartitionsByCategory(values).labels == expected


NO_NUMBERS = ["0", "01", b"0", 1.0, True, [0.0], ["0"], [None], [[0]], {0: 1}, object(), AllPartitions(), print]
NO_LABELS = [0, b"a", True, [0], [None], [["a"]], {"a": 1}, object(), AllPartitions(), print]
NO_KEYS = [None, {"a": 1}, [{"a": 1}], [{"a"}], print, [len]]
NO_PATHS = [
    None, 0, "a", b"a", [0], ["a"], [None], [AllPartitions()], AllPartitions(), [["a"]], [[AllPartitions(), None]], {AllPartitions(): 1},
    [{AllPartitions()}], print,
]  # fmt: skip
NO_TESTS = [None, 0, "a", [print], lambda: True, lambda a, b: True, AllPartitions()]


@pytest.mark.parametrize(("selector", "values"), [
    *((selector, value) for selector in (PartitionsById, PartitionsByHash) for value in NO_NUMBERS),
    *((PartitionsByCategory, value) for value in NO_LABELS), *((PartitionsByKey, value) for value in NO_KEYS),
    *((NestedPartitions, value) for value in NO_PATHS), *((PartitionsWhere, value) for value in NO_TESTS),
])  # fmt: skip
def test_selectors_of_another_kind_are_refused(selector: Callable[[Any], Any], values: Any) -> None:
    with pytest.raises(TypeError, match=selector.__name__):  # type: ignore[attr-defined]
        selector(values)


def test_a_scalar_selects_rows() -> None:
    engine = Runtime()
    engine.deploy("""
        create schema E(k string, v int);
        create context C partition by k from E;
        create context G group v > 9 as large, group v < 10 as small from E;
        @name('c') context C select k, v from E#keepall;
        @name('g') context G select k, v from E#keepall""")
    for number in range(3):
        engine.send("E", {"k": f"c{number}", "v": 5 * number})
    assert [row.v for row in engine.statement("c").rows(PartitionsByKey("c1"))] == [5]
    assert [row.v for row in engine.statement("c").rows(PartitionsByKey(["c2", "c0"]))] == [0, 10]
    assert [row.v for row in engine.statement("c").rows(PartitionsById(0))] == [0]
    assert [row.v for row in engine.statement("g").rows(PartitionsByCategory("small"))] == [0, 5]


# ------------------------------------------------------------------ listeners


class Bound:
    def right(self, new: Any, old: Any, statement: Any, engine: Any) -> None:
        """Take what a listener takes."""

    def wrong(self, new: Any, old: Any) -> None:
        """Take less."""

    def __call__(self, new: Any, old: Any, statement: Any, engine: Any) -> None:
        """Take what a listener takes."""


RIGHT: list[Callable[..., Any]] = [
    print, lambda *all_of_it: None, lambda new, old, statement, engine: None, lambda new, old, statement, engine, more=1: None,
    Bound().right, Bound(), functools.partial(lambda name, new, old, statement, engine: None, "n"), MagicMock(), max, dict,
]  # fmt: skip
WRONG_LISTENERS: list[Any] = [
    None, "print", 3, [print], object(), lambda: None, lambda new: None, lambda new, old: None, lambda new, old, statement: None,
    lambda a, b, c, d, e: None, Bound().wrong, Bound, lambda new, old, statement, engine, *, more: None,
    functools.partial(lambda new, old, statement, engine: None, "n"), len,
]  # fmt: skip


def running() -> Runtime:
    engine = Runtime()
    engine.deploy("create schema E(k string); create context C partition by k from E; @name('s') select k from E")
    return engine


ADDING: dict[str, Callable[[Any], Any]] = {
    "add_listener": lambda listener: running().statement("s").add_listener(listener),
    "add_batch_listener": lambda listener: running().statement("s").add_batch_listener(listener),
    "deploy": lambda listener: running().deploy("@name('t') select k from E", listeners={"t": listener}),
    "start": lambda listener: runtime.spark.start("select * from E", {}, listeners={"s": listener}),
}
OTHERS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "context": (lambda listener: running().contexts["C"].add_listener(listener), 1),
    "contexts": (lambda listener: running().contexts.add_listener(listener), 1),
    "on_condition": (lambda listener: setattr(running(), "on_condition", listener), 1),
    "on_error": (lambda listener: Runtime(on_error=listener), 3),
    "restore": (lambda listener: Runtime.restore(Runtime().snapshot(), on_error=listener), 3),
}
OF_ANY_NUMBER: list[Any] = [lambda: None, lambda a: None, lambda a, b: None, lambda a, b, c: None, lambda a, b, c, d: None]


@pytest.mark.parametrize("door", ADDING)
@pytest.mark.parametrize("listener", WRONG_LISTENERS)
def test_listeners_that_cannot_be_called_so_are_refused(door: str, listener: Any) -> None:
    with pytest.raises(TypeError, match=r"is called with \(new, old, statement, runtime\); .* (takes \(|is not callable)"):
        ADDING[door](listener)


@pytest.mark.parametrize("door", [door for door in ADDING if door != "start"])
@pytest.mark.parametrize("listener", RIGHT, ids=[f"{number}" for number in range(len(RIGHT))])
def test_listeners_that_can_be_called_are_added(door: str, listener: Any) -> None:
    ADDING[door](listener)


@pytest.mark.parametrize("door", OTHERS)
def test_handlers_take_what_they_are_called_with(door: str) -> None:
    add, number = OTHERS[door]
    for taken, handler in enumerate(OF_ANY_NUMBER):
        if taken == number:
            add(handler)
        else:
            with pytest.raises(TypeError, match=r"is called with \(.*\); .* takes \("):
                add(handler)
    add(print)
    for other in (3, "print", [print]):
        with pytest.raises(TypeError, match="is not callable"):
            add(other)


@pytest.mark.parametrize("listeners", [[print], print, "s", (("s", print),)])
def test_listeners_are_a_mapping(listeners: Any) -> None:
    with pytest.raises(TypeError, match=r"deploy\(listeners=.*\): expected a mapping or None"):
        Runtime().deploy(SELECT, listeners=listeners)
    assert Runtime().deploy(SELECT, listeners=MappingProxyType({"s": print})).id == "d0"


def test_nothing_is_deployed_with_a_wrong_listener() -> None:
    engine = Runtime()
    with pytest.raises(TypeError, match=r"the listener of 's' is called with .* takes \(new, old\)"):
        engine.deploy(SELECT, listeners={"s": lambda new, old: None})
    assert engine.deployments == {}
