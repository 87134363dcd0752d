"""Every public function and method refuses arguments of each wrong kind with words that name the parameter."""
from __future__ import annotations

import inspect
import io
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pandas
import pytest

import runtime.connectors
import runtime.spark
from epl.errors import EplError
from runtime import ContextAccess, Deployment, Runtime, Statement
from runtime.arguments import check_arguments, parameter_checks
from runtime.connectors import FileSource, RowSource

WRONG: list[Any] = [
    None, 3, 3.5, b"x", "x", [], {}, object(), pathlib.Path("/nowhere/gone"), io.StringIO("x"), pandas.DataFrame({"a": [1]}),
]  # fmt: skip
ONCE_AN_EVENT = {"Runtime.send", "Runtime.route", "Runtime.event_of", "Runtime.send_batch", "Runtime.advance_time",
                 "Runtime.register_window"}  # fmt: skip
"""What looks at its arguments itself: most of it runs once an event."""
BARE = re.compile(r"object is not|NoneType|unsupported operand|__\w+__|has no len|unhashable")
"""What Python says where nobody has looked at the argument."""
BY_HAND = {"Deployment.explain", "Runtime.record"}
"""What takes names of any kind."""


def members() -> Iterator[tuple[str, Callable[..., Any], Callable[[], Any]]]:
    """Yield each public method of the engine's classes: name, function, and what makes an object to call it on."""
    for kind, make in ((Runtime, running), (Statement, lambda: running().statement("s")), (Deployment, lambda: running().deployments["d"]),
                       (ContextAccess, lambda: running().contexts["C"])):
        for name in dir(make()):
            member = inspect.getattr_static(kind, name, None)
            function = getattr(member, "__func__", member)
            if name[0] != "_" and inspect.isfunction(function) and f"{kind.__name__}.{name}" not in BY_HAND:
                yield f"{kind.__name__}.{name}", function, lambda make=make, name=name: getattr(make(), name)


def classes() -> Iterator[tuple[str, Callable[..., Any], Callable[[], Any]]]:
    for module in (runtime, runtime.connectors, runtime.spark):
        for name in module.__all__:
            each = getattr(module, name)
            if inspect.isclass(each) and "__init__" in vars(each) and each.__module__.startswith("runtime") and not is_plain(each):
                yield name, each.__init__, lambda each=each: each


def is_plain(kind: type) -> bool:
    """Whether callers get it and do not write it."""
    return hasattr(kind, "__attrs_attrs__") or issubclass(kind, (BaseException, list)) or getattr(kind, "_is_protocol", False) or \
        kind in (Deployment, ContextAccess, Statement, runtime.spark.Job)


def running() -> Runtime:
    engine = Runtime()
    engine.deploy("create schema E(k string); create context C partition by k from E; @name('s') context C select k from E", name="d")
    return engine


DOORS = {name: (function, bound) for name, function, bound in (*members(), *classes())}
PLAIN: dict[str, Any] = {
    "EventType": Runtime().register("T", {"a": int}),
    "str": "t", "int": 1, "Any": {}, "Iterable": [], "Sequence": [], "Mapping": {}, "bytes": b"t", "Callable": print, "Collection": [],
}


def filler(parameter: inspect.Parameter) -> Any:
    """Return an argument of the right kind for what has no default."""
    return next((value for kind, value in PLAIN.items() if str(parameter.annotation).startswith(kind)), "t")


def parameters() -> list[tuple[str, str]]:
    return [
        (door, each.name) for door, (function, _) in DOORS.items() for each in inspect.signature(function).parameters.values()
        if each.name not in ("self", "cls") and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]


@pytest.mark.parametrize(("door", "parameter"), parameters())
def test_a_wrong_kind_works_or_is_refused_by_name(door: str, parameter: str) -> None:
    function, bound = DOORS[door]
    arguments = {
        each.name: filler(each) for each in inspect.signature(function).parameters.values()
        if each.default is each.empty and each.name not in ("self", "cls") and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }
    takes = parameter_checks(function).get(parameter)
    call: Callable[..., Any] | None = None
    for value in WRONG:
        call = call or bound()
        if takes is not None and not takes.fits(value) and door not in ONCE_AN_EVENT:
            with pytest.raises(TypeError, match=rf"\w+\({parameter}=.*\): expected "):
                call(**{**arguments, parameter: value})
            continue
        try:
            call(**{**arguments, parameter: value})
        except (TypeError, ValueError) as error:
            text = str(error)
            assert not BARE.search(text) or "expected" in text, (value, text)
            assert len(text) < 500
        except (EplError, KeyError, FileNotFoundError, RuntimeError, ImportError):
            pass
        else:
            call = None  # it did what it does: the next one gets a fresh object


def test_a_frame_is_not_written_out() -> None:
    with pytest.raises(TypeError, match=r"^sql\(tables=<DataFrame>\): expected a mapping: write {name: <DataFrame>}$"):
        Runtime.sql("select 1", pandas.DataFrame({"a": [1]}))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^sql\(tables=<Series>\): expected a mapping$"):
        Runtime.sql("select 1", pandas.Series([1]))  # type: ignore[arg-type]


def test_one_string_is_no_collection() -> None:
    with pytest.raises(TypeError, match=r"^register_enum\(constants='ab'\): expected a collection of str: write \['ab'\]$"):
        Runtime().register_enum("E", "ab")


@pytest.mark.parametrize("make", [lambda: FileSource(3), lambda: FileSource("a", rate="fast"), lambda: RowSource(5)])  # type: ignore[arg-type]
def test_sources_refuse_at_once(make: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"Source\(\w+=.*\): expected "):
        make()


def test_hints_say_what_is_taken() -> None:
    @check_arguments
    def door(flag: bool = False, number: int | None = None, names: tuple[str, ...] | None = None, often: float = 1.0) -> str:
        return "taken"

    assert door(True, 3, ("a",), 2) == door(number=None, often=2.5) == "taken"
    for wrong in ({"flag": 1}, {"number": True}, {"number": 1.0}, {"often": "1"}, {"often": True}, {"names": "a"}):
        (name, _), = wrong.items()
        with pytest.raises(TypeError, match=rf"^door\({name}=.*\): expected "):
            door(**wrong)  # type: ignore[arg-type]
