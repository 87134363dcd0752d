"""Where the language refuses texts: the places in the source, and which of them some text reaches.

``python tests/project/refusal_sites.py`` prints the places that no text reaches; ``--write`` puts them into ``unreached_refusals.json``,
keeping the reasons that stand there.
"""

from __future__ import annotations

import ast
import json
import pathlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any
from unittest import mock

import attrs

from epl import errors
from epl.plan.windows import WindowRefused
from runtime import Runtime

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
TEXTS = pathlib.Path(__file__).with_name("refused_texts.json")
ACCEPTED = pathlib.Path(__file__).with_name("accepted_texts.json")
UNREACHED = pathlib.Path(__file__).with_name("unreached_refusals.json")
CODES = {
    "EplUnsupportedError": "unsupported", "EplValidationError": "validation", "StatementRefusal": "validation",
    "WindowRefused": "validation",
}
"""The errors that a text is refused with when it is deployed, and their codes."""
FOLDERS = ("epl", "windows", "runtime")
NOT_OF_TEXTS = ("runtime/spark", "runtime/batch", "runtime/cli", "epl/generated_code.py", "epl/errors.py")
"""What is refused there depends on where a statement runs, not on its text."""


@attrs.frozen
class Site:
    """A call that makes an error: the file, the function, the words that the message begins with, and the line (not part of its name)."""

    path: str
    function: str
    words: str
    code: str
    first_line: int = attrs.field(eq=False)
    last_line: int = attrs.field(eq=False)

    def __str__(self) -> str:
        return f"{self.code} {self.path}::{self.function}::{self.words}"


@cache
def sites() -> list[Site]:
    """Return all places of the source that make a refusal, in order."""
    listed: list[Site] = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            relative = path.relative_to(ROOT).as_posix()
            if not relative.startswith(NOT_OF_TEXTS):
                listed += _sites_of(relative, ast.parse(path.read_text(encoding="utf-8")), "")
    return listed


def _sites_of(path: str, tree: ast.AST, function: str) -> Iterator[Site]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield from _sites_of(path, node, node.name if isinstance(node, ast.FunctionDef) else function)
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CODES and node.args:
            yield Site(path, function, _words(node.args[0]), CODES[node.func.id], node.lineno, node.end_lineno or node.lineno)
        yield from _sites_of(path, node, function)


def _words(message: ast.expr) -> str:
    return ast.unparse(message).strip("f'\"")[:60]


@attrs.frozen
class Outcomes:
    """What all texts were refused with. ``errors``: by (what holds the text, the text), of each module, None where it runs; ``lines``:
    (file, line) of all calls that made an error."""

    errors: dict[tuple[str, str], list[errors.EplError | None]]
    lines: set[tuple[str, int]]


@cache
def outcomes() -> Outcomes:
    """Deploy the modules of all texts, one after another in a runtime of their own."""
    refused: dict[tuple[str, str], list[errors.EplError | None]] = {}
    lines: set[tuple[str, int]] = set()
    with _noting(lines), warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.EplWarning)
        for key, modules in all_texts():
            refused[key] = _deploy(modules)
    return Outcomes(refused, lines)


def _deploy(modules: list[str]) -> list[errors.EplError | None]:
    refused: list[errors.EplError | None] = []
    with Runtime() as runtime:
        for text in modules:
            try:
                run(runtime, text)
            except errors.EplError as error:
                error.__cause__ = error.__context__ = error.__traceback__ = None  # they hold the runtime
                refused.append(error)
            else:
                refused.append(None)
    return refused


CASE = "case"
QUERY = "query: "
"""What texts begin with that are fire-and-forget queries."""


def run(runtime: Runtime, text: str) -> None:
    """Deploy a module, or run a query."""
    if text.startswith(QUERY):
        runtime.query(text.removeprefix(QUERY))
    else:
        runtime.deploy(text)


@contextmanager
def _noting(lines: set[tuple[str, int]]) -> Iterator[None]:
    def noting(kind: type[Exception]) -> Any:
        made: Any = kind.__init__

        def note(self: Exception, *arguments: Any, **options: Any) -> None:
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename == errors.__file__:
                frame = frame.f_back
            if frame is not None:
                lines.add((frame.f_code.co_filename, frame.f_lineno))
            made(self, *arguments, **options)

        return mock.patch.object(kind, "__init__", note)

    with noting(errors.EplError), noting(WindowRefused):
        yield


def all_texts() -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Yield the modules of all cases that have a refusal (of which the key begins with CASE), and the texts beside this file."""
    for path in sorted(CASES.glob("*/*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            name = f"{path.parent.name}/{path.stem}/{case['name']}"
            if any(step["op"] == "compile_error" for step in case["steps"]):
                yield (CASE, name), [step["epl"] for step in case["steps"] if step["op"] in ("deploy", "compile_error")]
            if any(step["op"] == "faf" and "exception" in step for step in case["steps"]):
                modules = [f"{QUERY * (step['op'] == 'faf')}{step['epl']}" for step in case["steps"] if step["op"] in ("deploy", "faf")]
                yield ("queries of a case", name), modules
    for path in (TEXTS, ACCEPTED):
        listed = json.loads(path.read_text(encoding="utf-8"))
        yield from (((path.name, text["epl"]), [listed["schema"], text["epl"]]) for text in listed["texts"])


def unreached() -> list[Site]:
    """Return the places that no text reaches."""
    at = {(pathlib.Path(name).relative_to(ROOT).as_posix(), line) for name, line in outcomes().lines if name.startswith(str(ROOT))}
    return [s for s in sites() if not any((s.path, line) in at for line in range(s.first_line, s.last_line + 1))]


def main(arguments: list[str]) -> int:
    known: dict[str, str] = json.loads(UNREACHED.read_text(encoding="utf-8")) if UNREACHED.exists() else {}
    names = list(dict.fromkeys(map(str, unreached())))
    if "--write" in arguments:
        listed = {name: known.get(name, "no text yet") for name in names}
        UNREACHED.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    print("\n".join(name for name in names if name not in known))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
