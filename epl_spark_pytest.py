"""epl-spark's pytest plugin: collects ``NAME.test.json``, ``NAME.test.yaml`` and scripts ``NAME.test.txt`` beside ``NAME.epl``.

Every pytest in an environment with epl-spark loads it, in projects that have nothing to do with EPL, too. So it imports pytest alone,
leaves files that are not of cases to others, and loads the engine (``runtime``, ``windows``, ``epl``) when a case runs. It reads the names
of cases by itself; what is wrong with a file is reported by the engine's reader, by a test that fails.
"""
from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from runtime.tools.rule_tests.pytest_plugin import CollectedCases

SUFFIXES = (".test.json", ".test.yaml", ".test.yml", ".test.txt")
PACKAGES = ("epl", "windows", "runtime")
"""The engine's, lowest first."""
LARGEST = 16 << 20
"""Longest file of cases, bytes."""
ALL_CASES = "all cases"
"""The name of the one test of a file whose cases' names cannot be read."""
MODULE = re.compile(r"""^(?:module|"module"|'module')[ \t]*:[ \t]*(\[[^]]*]|.*(?:\n[ \t]*-.*)*)""", re.MULTILINE)
CASES = re.compile(r"""^(?:cases|"cases"|'cases')[ \t]*:""", re.MULTILINE)


# ------------------------------------------------------------------ hooks


@pytest.hookimpl(tryfirst=True)
def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the ini option, and keep pytest from rewriting the asserts of the engine.

    pytest rewrites all packages of a distribution that has a plugin: here some 550 modules, seconds at the first import, and at each one
    where bytecode is not written.
    """
    text = "folders in which each *.test.json, *.test.yaml and *.test.txt is a file of EPL cases"
    parser.addini("epl_cases", text, type="paths", default=[])
    marked = getattr(pluginmanager.rewrite_hook, "_must_rewrite", None)  # there is no public way to take a mark back
    if isinstance(marked, set):
        marked.difference_update(PACKAGES)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect files of cases: ``NAME.epl`` or the modules that they name are beside them, or ``epl_cases`` names a folder around them."""
    if not file_path.name.endswith(SUFFIXES):
        return None
    chosen = any(folder in file_path.parents for folder in parent.config.getini("epl_cases"))
    return RuleFile.from_parent(parent, path=file_path) if chosen or has_module(file_path) else None


# ------------------------------------------------------------------ what is read without the engine


def stem_of(path: Path) -> str:
    """Return the name of a file of cases without its suffix."""
    return next(path.name.removesuffix(suffix) for suffix in SUFFIXES if path.name.endswith(suffix))


def has_module(path: Path) -> bool:
    """Return whether ``NAME.epl`` is beside a file, or the file has cases and names a module that is there."""
    if (path.parent / f"{stem_of(path)}.epl").is_file():
        return True
    text = None if path.suffix == ".txt" else _text(path)
    return text is not None and any((path.parent / name).is_file() for name in _modules(path, text))


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8") if path.stat().st_size <= LARGEST else None
    except (OSError, UnicodeDecodeError):
        return None


def _modules(path: Path, text: str) -> list[str]:
    """Return the modules that a file with cases names; of YAML, and of JSON with a fault, those at the beginning of a line."""
    if path.suffix == ".json":
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            text = re.sub(r"^[\s{]+", "", text, flags=re.MULTILINE)
        else:
            if not isinstance(data, dict) or not isinstance(data.get("cases"), list):
                return []
            named = data.get("module")
            return [name for name in (named if isinstance(named, list) else [named]) if isinstance(name, str)]
    entry = MODULE.search(text)
    if entry is None or not CASES.search(text):
        return []
    return re.findall(r"""[^\s\[\],"'#]+""", entry[1])


def case_names(path: Path) -> list[str] | None:
    """Return the names of a file's cases; None where the file cannot be read."""
    if path.suffix == ".txt":
        return [stem_of(path)]
    text = _text(path)
    if text is None:
        return None
    try:
        data = json.loads(text) if path.suffix == ".json" else _yaml(text)
    except (ValueError, RecursionError):
        return None
    cases = data.get("cases") if isinstance(data, dict) else data
    if not isinstance(cases, list):
        return None
    names = [case["name"] for case in cases if isinstance(case, dict) and isinstance(case.get("name"), str)]
    return names if len(set(names)) == len(cases) else None


def _yaml(text: str) -> Any:
    """Read YAML; raise ValueError."""
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ModuleNotFoundError as error:
        raise ValueError from error
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ValueError from error


# ------------------------------------------------------------------ tests


class RuleFile(pytest.File):
    """One file of cases."""

    _cases: CollectedCases | None = None

    def collect(self) -> Iterator[pytest.Item]:
        names = case_names(self.path)
        for name in [ALL_CASES] if names is None else names:
            yield RuleItem.from_parent(self, name=name, case=None if names is None else name)

    def failure(self, case: str | None) -> str | None:
        """Run a case, or all; return what fails."""
        if self._cases is None:
            hidden = hidden_package()
            if hidden is not None:
                return hidden
            from runtime.tools.rule_tests.pytest_plugin import CollectedCases

            self._cases = CollectedCases(self.path)
        return self._cases.failure(case)


class RuleItem(pytest.Item):
    """One case. ``case``: its name; None: all cases of the file."""

    def __init__(self, *, case: str | None, **options: Any) -> None:
        super().__init__(**options)
        self._case = case

    def runtest(self) -> None:
        assert isinstance(self.parent, RuleFile)
        failure = self.parent.failure(self._case)
        if failure is not None:
            raise RuleFailure(failure)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RuleFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


class RuleFailure(Exception):
    """The output of a case is not what it expects, or the case cannot run."""


def hidden_package() -> str | None:
    """Return the sentence about a package of the engine that a module of the project hides; None where nothing is hidden."""
    folder = Path(__file__).resolve().parent
    for package in PACKAGES:
        where = _file_of(package)
        if where is None or where.resolve().parent != folder / package:
            return (
                f"epl-spark's package '{package}' cannot be imported: {where or 'a module without a file'} hides it: rename that, or run "
                "the cases by 'epl test' and turn this plugin off by '-p no:epl_rules' (docs/troubleshooting.md)")
    return None


def _file_of(package: str) -> Path | None:
    """Return the file that a package is, or would be, imported from."""
    module = sys.modules.get(package)
    if module is not None:
        file, folders = getattr(module, "__file__", None), getattr(module, "__path__", ())
    else:
        spec = importlib.util.find_spec(package)
        if spec is None:
            return None
        file, folders = spec.origin, spec.submodule_search_locations or ()
    folder = next(iter(folders), None)
    return Path(file) if file else None if folder is None else Path(folder) / "__init__.py"
