"""Every public name has a docstring with its arguments and an example, and is on a page of docs/api/."""

from __future__ import annotations

import inspect
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

import epl.formatting
import epl.parse
import epl.unparse
import runtime
import runtime.connectors
import runtime.spark
from runtime.api.queries import PreparedQuery, QueryRows
from runtime.live.row_stream import RowStream
from runtime.spark.driver_host.job_steps import JobSteps

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "api").glob("*.md"))}
INTERNAL = {JobSteps}
"""Base classes whose members are not for applications."""
NOT_FOR_APPLICATIONS = {
    "EplError": {"within", "public"}, "LruCache": {"build"}, "ExpiryCache": {"build"}, "Settings": {"units_per_second"},
    "DeltaSink": {"begin", "check_new", "write", "files"},
    **{name: {"open", "reader", "poll", "position", "committed", "deliver", "close"} for name in runtime.connectors.__all__},
    **{name: {"title", "fits", "chosen", "selects"} for name in runtime.__all__ if name.startswith(("Partition", "Nested", "All"))},
}
"""Members that other packages of epl-spark call."""

CONNECTORS = ("Pipeline", "DatabaseSink", "FileSink", "FileSource", "KafkaSink", "KafkaSource", "RowSource", "StreamSink")
"""Of their methods a pipeline calls those of the protocols; ``Pipeline`` has two for applications."""

PUBLIC: dict[str, Any] = {
    **{f"runtime.{name}": getattr(runtime, name) for name in runtime.__all__ if name != "__version__"},
    "runtime.api.queries.QueryRows": QueryRows, "runtime.api.queries.PreparedQuery": PreparedQuery,
    "runtime.live.row_stream.RowStream": RowStream,
    **{f"runtime.spark.{name}": getattr(runtime.spark, name) for name in runtime.spark.__all__},
    **{f"runtime.connectors.{name}": getattr(runtime.connectors, name) for name in CONNECTORS},
    **{f"epl.parse.{name}": getattr(epl.parse, name) for name in ("parse_module", "parse_statement", "parse_query", "parse_expression")},
    "epl.unparse.unparse": epl.unparse.unparse, "epl.formatting.format_module": epl.formatting.format_module,
}


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, its own and those of bases of this project that are for applications."""
    hidden: set[str] = set().union(*(NOT_FOR_APPLICATIONS.get(base.__name__, set()) for base in cls.__mro__))
    seen: set[str] = set()
    for base in cls.__mro__:
        if base in INTERNAL or base.__module__.partition(".")[0] not in ("epl", "runtime"):
            continue
        for name, member in vars(base).items():
            function = getattr(member, "__func__", member)
            is_member = inspect.isfunction(function) or isinstance(member, property)
            if is_member and not name.startswith(("_", "onQuery")) and name not in hidden | seen:
                seen.add(name)
                yield name, function


def undocumented(function: Any) -> list[str]:
    """Return the parameters that a docstring does not explain, or ``docstring`` where there is none."""
    text = inspect.getdoc(function)
    if not text:
        return ["docstring"]
    if isinstance(function, property):
        return []
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    return [name for name in names if not re.search(rf"^ +{name}: \S", text, re.MULTILINE)]


def examples(text: str) -> str:
    """Return the examples in a docstring, or the Python blocks of a page."""
    return "\n".join([*re.findall(r"^ *(?:>>>|\.\.\.) (.*)", text, re.MULTILINE), *re.findall(r"```python\n(.*?)```", text, re.DOTALL)])


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_is_documented(name: str) -> None:
    value = PUBLIC[name]
    text = inspect.getdoc(value) or ""
    assert examples(text), "an example is missing"
    documented = [text, *(inspect.getdoc(function) or "" for _, function in members(value))] if inspect.isclass(value) else [text]
    bare = [each for each in documented if re.search("^>>>", each, re.MULTILINE)]
    assert bare == [], "an example is below the line Examples: and indented, as the pages need it"
    if not inspect.isclass(value):
        assert undocumented(value) == []
        return
    assert {member: missing for member, function in members(value) if (missing := undocumented(function))} == {}
    bases = [inspect.getdoc(base) or "" for base in value.__mro__ if base.__module__.startswith(("epl", "runtime"))]
    shown = [*bases, *(inspect.getdoc(function) or "" for _, function in members(value)), PAGES[ROOT / "docs" / "api" / "runtime.md"]]
    code = "\n".join(map(examples, shown))
    assert [member for member, _ in members(value) if not re.search(rf"\b{member}\b", code)] == [], "members that no example has"


def test_public_names_are_on_pages() -> None:
    names = [name for text in PAGES.values() for name in re.findall(r"^::: (\S+)", text, re.MULTILINE)]
    assert sorted(names) == sorted(PUBLIC)


def test_page_of_runtime_has_its_members() -> None:
    listed = re.search(r"::: runtime\.Runtime\n.*?inherited_members: \[(.*?)\]", PAGES[ROOT / "docs" / "api" / "runtime.md"], re.DOTALL)
    assert listed is not None
    own = {name for name in vars(runtime.Runtime) if not name.startswith("_")}
    assert {name for name, _ in members(runtime.Runtime)} - own == set(listed.group(1).split(", "))


def test_help_separates_internal_methods() -> None:
    for cls in (runtime.spark.Job,):
        internal = {name for base in INTERNAL & set(cls.__mro__) for name in vars(base) if not name.startswith("_")}
        assert internal
        assert internal & {name for name in vars(cls) if not name.startswith("_")} <= {"event_type", "cause", "undeploy"}


def test_missing_explanations_are_found() -> None:
    def function(a: int, b: int) -> None:
        """Do it.

        Args:
            a: The first.
        """

    assert undocumented(function) == ["b"]
    assert undocumented(lambda: 0) == ["docstring"]
