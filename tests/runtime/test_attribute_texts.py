"""Generated text reads attributes that its objects have: it is printed from the attributes themselves."""
from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

import pytest

import runtime.aggregation
import runtime.event_loop
import runtime.fused
import runtime.match_recognize
import runtime.operators
import runtime.result_set
import windows
from epl.attribute_text import name_attributes, once_a_class
from runtime import Runtime
from runtime.aggregation.groups import AccumulatorGroup
from runtime.api.statement import internal_output
from runtime.clock.schedule import ScheduledTimer
from runtime.conversion.computed_rows import ComputedRow
from runtime.event_loop.filter_index import FilterEntry
from runtime.event_loop.prepared_filters import ActiveFilter
from runtime.match_recognize.partitions import LayeredPartition
from windows.event import Event
from windows.length import LengthView

SCHEMA = "@public @buseventtype create schema T(k string, x int, d double);\n"
STATEMENTS = [
    "select k, x + 1 as y from T",
    "select k, sum(x) as s, avg(d) as a, max(d) as m, min(x) as n, count(*) as c from T#length(3) group by k",
    "select sum(x) as s, count(x) as c, max(x) as m from T#time(3 sec)",
    "select k, sum(x) as s, maxever(d) as m, countever(x) as c from T group by k output last every 2 seconds",
    "select * from T match_recognize (partition by k measures A.x as a, B.x as b pattern (A B) define B as B.x > A.x)",
    "select * from T match_recognize (partition by k measures A.x as a, B.x as b pattern (A B) define B as B.x > prev(B.x))",
]


def generated(text: str) -> Iterator[FunctionType]:
    """The functions that one statement's events and timers go through."""
    with Runtime() as engine:
        running: Any = internal_output(engine.deploy(SCHEMA + "@name('s') " + text)["s"]).running
        engine.send("T", {"k": "a", "x": 1, "d": 1.0})
        timer = getattr(running.chain, "timer", None)
        core = running.context.core
        found = [running.entry.receiver.receive, *core.intakes.values(), *([] if timer is None else [timer.callback, timer.alone])]
        yield from (each for each in found if isinstance(each, FunctionType) and hasattr(each, "source"))


LOCALS = {
    "partition": LayeredPartition, "g": AccumulatorGroup, "gl": AccumulatorGroup, "r": ComputedRow, "timer": ScheduledTimer,
    "entry": FilterEntry, "active": ActiveFilter,
}
"""Classes of what generated functions hold in variables of their own."""


@pytest.mark.parametrize("text", STATEMENTS)
def test_objects_have_the_attributes_that_text_reads(text: str) -> None:
    functions = list(generated(text))
    assert functions
    read = 0
    for function in functions:
        for node in ast.walk(ast.parse(function.source)):  # type: ignore[attr-defined]
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                of = LOCALS.get(node.value.id, function.__globals__.get(node.value.id))
                assert of is None or hasattr(of, node.attr), ast.unparse(node)
                read += of is not None
    assert read > 2


def test_an_attribute_of_another_name_fails_when_text_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def renamed(self: LengthView, size: int, context: Any) -> None:
        super(LengthView, self).__init__(context)
        self.capacity = size  # type: ignore[attr-defined]

    monkeypatch.setattr(LengthView, "__init__", renamed)
    monkeypatch.setattr(LengthView, "_oldest_lines", once_a_class(LengthView._oldest_lines.__wrapped__))  # type: ignore[attr-defined]
    with Runtime() as engine, pytest.raises(AttributeError, match="'LengthView' object has no attribute 'size'"):
        engine.deploy(SCHEMA + "select x from T#length(2)")


def test_text_is_printed_once_a_class() -> None:
    printed = []

    class Window:
        def __init__(self) -> None:
            self.size = 1

        @once_a_class
        def text(self, name: str) -> str:
            printed.append(name)
            return f"{name_attributes(name, self).size}"

    class Other(Window):
        pass

    assert [Window().text("a"), Window().text("a"), Window().text("b"), Other().text("a")] == ["a.size", "a.size", "b.size", "a.size"]
    assert printed == ["a", "b", "a"]


PACKAGES = (
    runtime.fused, runtime.match_recognize, runtime.event_loop, runtime.aggregation, runtime.result_set, runtime.operators, windows,
)
"""Where functions are printed over objects of the engine."""
BUILT_IN = {name for each in (list, dict, set, deque, int, str, Event) for name in dir(each)}


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """A package with all that is in it."""
    for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield import_module(each.name)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_no_text_names_an_attribute_of_the_engine(package: ModuleType) -> None:
    """All texts of attributes are printed from the objects or their classes (``epl.attribute_text``)."""
    read = list(modules(package))
    assert read
    for module in read:
        tree = ast.parse(inspect.getsource(module))
        documents = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in documents]
        attributes = {name for text in texts for name in re.findall(r"(?:^|\w)\.([a-z_]\w*)", text)}
        assert attributes <= BUILT_IN, module.__name__
