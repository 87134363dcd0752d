"""What importing the packages loads: nothing that is not used."""
from __future__ import annotations

import ast
import pathlib
import subprocess
import sys

import pytest

import runtime

SLOW = ("pandas", "pyarrow", "numpy", "numba", "pyspark", "pyparsing", "IPython", "matplotlib")


def loaded(program: str) -> set[str]:
    """Return the names of the modules that are loaded after a program, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_importing_runtime_loads_no_engine() -> None:
    modules = loaded("import runtime")
    assert not modules.intersection(SLOW)
    assert not {name for name in modules if name.startswith(("epl.analysis", "epl.grammar", "runtime.event_loop", "runtime.batch"))}


def test_importing_an_error_or_the_version_loads_no_engine() -> None:
    assert "runtime.api.runtime" not in loaded("from runtime import EplError, Settings, __version__")


@pytest.mark.parametrize("program", [
    "from runtime import Runtime", "from runtime.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass",
])
def test_no_tables_before_they_are_used(program: str) -> None:
    assert not loaded(program).intersection({*SLOW} - {"pyparsing"})


def test_public_names_are_those_that_type_checkers_see() -> None:
    tree = ast.parse(pathlib.Path(runtime.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {(node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == {(module, name) for name, module in runtime._MODULE_OF.items() if name != "__version__"}
    assert sorted(runtime._MODULE_OF) == sorted(runtime.__all__)
    assert set(runtime.__all__) <= set(dir(runtime))


def test_names_that_are_not_there_are_refused_as_of_any_module() -> None:
    with pytest.raises(AttributeError, match=r"^module 'runtime' has no attribute 'Runtimes'$"):
        _ = runtime.Runtimes
