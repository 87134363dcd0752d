"""How EPL comes into generated Python: by one module, and never as it is written."""
from __future__ import annotations

import ast
import math
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import epl
from epl.errors import EplUnsupportedError
from epl.generated_code import BUILTINS, class_name, compile_text, define_names, field_name, literal, local_name

ROOT = Path(epl.__file__).parent.parent
DOOR = "epl/generated_code.py"
RUNS_TEXT = {"exec", "eval", "compile", "execfile", "__import__"}
OTHER_LOADERS = {
    "epl/functions/user.py", "runtime/__init__.py", "runtime/cli/__init__.py", "runtime/cli/replay.py", "runtime/api/siblings.py",
    "runtime/tools/setup.py",
}
"""Imports by name: of what ``python_imports`` lists, of the public names, of the commands of ``epl``, of the player of traces in a
checkout, of the engine's own packages, of what ``--setup`` and ``epl serve --allow setup:`` list."""


PRINTING = (
    "epl.generated_code.", "epl.attribute_text.", "runtime.expressions.source_lines.", "runtime.expressions.generated_steps.",
    "runtime.expressions.printer.", "runtime.expressions.function_factory.", "windows.generated_steps.",
)  # fmt: skip


@cache
def _sources() -> list[tuple[str, ast.Module]]:
    files = [p for room in ("epl", "windows", "runtime") for p in sorted((ROOT / room).rglob("*.py"))]
    return [(p.relative_to(ROOT).as_posix(), ast.parse(p.read_text(encoding="utf-8"))) for p in files]


def test_one_module_runs_text() -> None:
    found = {
        (name, node.func.id) for name, tree in _sources() for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNS_TEXT
    }
    # numba wants a kernel in a module of its own; its text has passed the door's checks before
    assert found == {(file, call) for file in (DOOR, "runtime/batch/compiler/kernels.py") for call in ("exec", "compile")}
    assert "    compile_text(source)" in (ROOT / "runtime/batch/compiler/kernels.py").read_text(encoding="utf-8")


def test_few_modules_import_by_name() -> None:
    found = {
        name for name, tree in _sources() for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "exec_module", "load_module")
    }
    assert found == OTHER_LOADERS


def test_no_printer_writes_a_repr_into_generated_text() -> None:
    """``literal`` does; ``{value!r}`` in an f-string may write anything."""
    found = []
    printing = [(name, tree) for name, tree in _sources() if _prints(tree) and name != DOOR]
    assert len(printing) > 30
    for name, tree in printing:
        shown = {id(n) for f in ast.walk(tree) if _is_for_people(f) for n in ast.walk(f)}
        texts = [n for n in ast.walk(tree) if isinstance(n, ast.FormattedValue) and n.conversion == ord("r")]
        found += [(name, n.lineno) for n in texts if id(n) not in shown]
    assert found == []


def _prints(tree: ast.Module) -> bool:
    """Whether a module imports what text that is run is printed with."""
    imported = {f"{node.module}.{each.name}" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for each in node.names}
    return any(name.startswith(PRINTING) for name in imported)


def _is_for_people(node: ast.AST) -> bool:
    """Whether its texts are errors or a repr."""
    return isinstance(node, ast.Raise) or (isinstance(node, ast.FunctionDef) and node.name == "__repr__")


@given(st.text(), st.text())
def test_field_names_are_identifiers_that_stay_apart(name: str, other: str) -> None:
    made = field_name(name)
    assert made.isascii() and made.isidentifier() and unicodedata.normalize("NFKC", made) == made and not made.startswith("_")
    assert (field_name(other) == made) is (other == name)


@pytest.mark.parametrize("name", ["class", "None", "__class__", "__init__", "\ud800", "\0", "ſ", "s", "", "x_73", "f_s", "a b"])
def test_field_names_of_hostile_names(name: str) -> None:
    assert field_name(name).isidentifier() and field_name(name).isascii()


def test_names_that_python_folds_together_stay_apart() -> None:
    assert len({field_name(n) for n in ("ſ", "s", "\u212a", "K", "ﬁ", "fi", "ａ", "a")}) == 8


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner).map(tuple),
)


@given(VALUES)
def test_literals_are_read_as_the_value(value: object) -> None:
    text = literal(value)
    assert text.isascii() and "\n" not in text and "\0" not in text
    read = ast.literal_eval(text)
    assert read == value and repr(read) == repr(value)  # -0.0, True and 1


def test_literals_of_any_number_of_digits() -> None:
    assert eval(literal(10**100_000)) == 10**100_000
    assert eval(literal(-(10**100_000))) == -(10**100_000)


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), b"x", [1], {1: 2}])
def test_other_values_have_no_literal(value: object) -> None:
    with pytest.raises(TypeError, match="has no literal"):
        literal(value)


def test_locals_are_numbers() -> None:
    assert local_name(12) == "p_12"
    with pytest.raises(TypeError):
        local_name("x")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 70_000, "", "`", "class"])
def test_classes_may_have_their_names(name: str) -> None:
    assert type(class_name(name), (), {}).__name__ == class_name(name)


# ------------------------------------------------------------------ the second wall


@pytest.mark.parametrize("text", [
    "import os", "from os import system", "__import__('os')",
    "f = lambda: ().__class__.__base__.__subclasses__()", "f = lambda: f.__globals__",
    "(i for i in ()).gi_frame.f_back", "def f(e):\n    def g():\n        return e.__dict__\n    return g", "def f(__x): pass",
    "def f():\n    class X: pass", "f = lambda: __builtins__",
    "f = lambda e: '{0.__class__.__init__.__globals__}'.format(e)", "f = lambda e: '{e.__dict__}'.format_map(e)",
    "f = lambda e: e.__class__.mro()",
])
def test_ways_out_are_refused(text: str) -> None:
    with pytest.raises((EplUnsupportedError, ImportError), match=r"Generated code may not hold the name|__import__ not found"):
        define_names(text, {})


def test_characters_beyond_ascii_are_refused() -> None:
    with pytest.raises(EplUnsupportedError, match="Generated code may not hold characters beyond ASCII"):
        compile_text("ſ = 1")


@pytest.mark.parametrize("name", ["open", "eval", "exec", "compile", "getattr", "setattr", "vars", "type", "globals", "input"])
def test_builtins_that_lead_out_are_not_there(name: str) -> None:
    assert name not in BUILTINS
    with pytest.raises(NameError):
        define_names(f"def f(): return {name}", {})["f"]()


def test_nesting_beyond_python_is_refused_by_name() -> None:
    for text in (f"f = {'(' * 300}1{')' * 300}", f"f = {'-' * 100_000}1"):
        with pytest.raises(EplUnsupportedError, match="Expressions are nested too deeply"):
            compile_text(text)
